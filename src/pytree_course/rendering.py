"""All templates of the course: how they are found and filled; and what a notebook shows of it."""

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from pytree_course.printable import printable, printable_lines
from pytree_course.texts import counted

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


def render(template: str, **values: object) -> str:
    """Fill a template, such as `reports/student.html`, which is in `reports/templates`.

    Most values are untrusted. In HTML they are escaped; in every text, characters that are hidden
    or reorder others are written out. The line end with which a template's file ends is left off.
    """
    return TEMPLATES.get_template(template).render(values).removesuffix("\n")


def visible(value: object) -> object:
    """Make a text printable line by line, with escapes for what HTML cannot hold or would hide."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return printable_lines(value)


TEMPLATES = Environment(
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
"""A room adds the filters and globals that its templates need."""
TEMPLATES.filters |= {"counted": counted, "printable": printable}
