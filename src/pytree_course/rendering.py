"""Render the course's templates; `Feedback` is a rendered pair of HTML and text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from pytree_course.texts import counted, printable, printable_lines

_PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Feedback:
    """Output of a cell in two forms: HTML for Jupyter, text for everything else."""

    html: str
    text: str

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def escape_hidden(value: object) -> object:
    """Escape characters that HTML forbids or hides; leave other values and markup unchanged."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return printable_lines(value)


class Templates:
    """All templates, with the filters and global names that one room needs."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def render(self, template: str, **values: object) -> str:
        """Render a template; `reports/student.html`, for example, is in `reports/templates`.

        Most values are untrusted. HTML templates escape them; all templates escape invisible and
        bidirectional control characters. The file's final line end is left out.
        """
        return self.environment.get_template(template).render(values).removesuffix("\n")

    def extended(self, filters: Mapping[str, Callable[..., Any]], **names: object) -> "Templates":
        """Return the same templates with more filters and global names; `self` is unchanged."""
        environment = self.environment.overlay()
        environment.filters = {**self.environment.filters, **filters}
        environment.globals = {**self.environment.globals, **names}
        return Templates(environment)


TEMPLATES = Templates(
    Environment(
        loader=PrefixLoader(
            {
                folder.parent.name: FileSystemLoader(folder)
                for folder in sorted(_PACKAGE.glob("*/templates"))
            }
        ),
        autoescape=select_autoescape(),
        finalize=escape_hidden,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
).extended({"counted": counted, "printable": printable})
"""The base that rooms extend with their own filters."""

render = TEMPLATES.render
