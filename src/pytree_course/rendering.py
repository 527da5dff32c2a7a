"""Find and fill the course's templates; `Feedback` is what a notebook shows of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from pytree_course.texts import counted, printable, printable_lines

PACKAGE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Feedback:
    """What a notebook shows, in two forms: Jupyter takes the HTML, all else the text."""

    html: str
    text: str

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/html": self.html, "text/plain": self.text}

    def __repr__(self) -> str:
        return self.text


def visible(value: object) -> object:
    """Make a string printable line by line, escaping what HTML cannot hold or would hide."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return printable_lines(value)


class Templates:
    """All templates, with the filters and global names that one room's templates use."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment

    def render(self, template: str, **values: object) -> str:
        """Fill a template, such as `reports/student.html`, which is in `reports/templates`.

        Most values are untrusted. HTML templates escape them; all templates escape characters that
        are hidden or reorder others. The line end at the end of a template's file is left off.
        """
        return self.environment.get_template(template).render(values).removesuffix("\n")

    def extended(self, filters: Mapping[str, Callable[..., Any]], **names: object) -> "Templates":
        """Return the same templates with more filters and global names, and leave these as is."""
        environment = self.environment.overlay()
        environment.filters = {**self.environment.filters, **filters}
        environment.globals = {**self.environment.globals, **names}
        return Templates(environment)


TEMPLATES = Templates(
    Environment(
        loader=PrefixLoader(
            {
                folder.parent.name: FileSystemLoader(folder)
                for folder in sorted(PACKAGE.glob("*/templates"))
            }
        ),
        autoescape=select_autoescape(),
        finalize=visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
).extended({"counted": counted, "printable": printable})
"""With filters for plain text; rooms that need more extend it, each for itself."""

render = TEMPLATES.render
