"""Pictures of values in notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import Any

from pytree_course import trees
from pytree_course.drawing.labels import shorten
from pytree_course.drawing.plain import text
from pytree_course.drawing.vector import svg
from pytree_course.trees import Observation, Path


@dataclass(frozen=True)
class Picture:
    """Trees side by side, as a notebook shows them."""

    observations: Sequence[Observation]
    titles: Sequence[str] = ()  # there may be fewer
    marked: Path | None = None  # in all of them

    def html(self) -> str:
        """Return one figure per tree; a wide one scrolls by itself, with the keyboard too."""
        figures = []
        for observation, title in self._titled():
            name = escape(shorten(title, 120))
            caption = ""
            if title:
                style = "margin:0 0 6px;font-weight:600"
                caption = f'<figcaption style="{style}">{name}</figcaption>'
            figures.append(
                f'<figure role="group" tabindex="0" aria-label="{name or "Tree picture"}" '
                'style="margin:0;max-width:100%;overflow-x:auto">'
                f"{caption}{svg(observation, marked=self.marked)}</figure>"
            )
        style = "display:flex;flex-wrap:wrap;gap:12px 32px;align-items:flex-start"
        return f'<div style="{style}">{"".join(figures)}</div>'

    def text(self) -> str:
        """Return the trees as text, one under the other."""
        parts = []
        for observation, title in self._titled():
            heading = f"{shorten(title, 120)}:\n" if title else ""
            parts.append(heading + text(observation, marked=self.marked))
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text()}

    def _titled(self) -> list[tuple[Observation, str]]:
        titles = self.titles[: len(self.observations)]
        return list(zip_longest(self.observations, titles, fillvalue=""))  # type: ignore[arg-type]


def draw(*values: object, titles: Sequence[str] = ()) -> Picture:
    """Draw any values as JAX sees them, side by side, under their titles.

    Examples
    --------
    >>> draw({"w": 1.5, "b": None})
    dict
    ├─ ['b']  None  (no leaf)
    └─ ['w']  1.5
    """
    return Picture([trees.observe(value, values=False) for value in values], titles)
