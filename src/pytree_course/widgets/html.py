"""The frame and the templates of what is shown, in one style with the checks' feedback."""

from dataclasses import dataclass
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined


@dataclass(frozen=True)
class Look:
    """Symbol, line style and colour of a frame: colour never says anything alone."""

    symbol: str
    border: str
    colour: str


LOOKS = {
    "good": Look("✓", "solid", "var(--jp-info-color1, #0288d1)"),
    "bad": Look("✗", "dashed", "var(--jp-warn-color1, #d9730d)"),
}


def render(template: str, **values: object) -> str:
    """Fill a template; everything put into HTML is escaped."""
    return _templates().get_template(template).render(values)


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("pytree_course.widgets"),
        autoescape=lambda name: name is not None and name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
