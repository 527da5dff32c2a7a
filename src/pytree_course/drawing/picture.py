"""`draw`: pictures of values in notebooks, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from pytree_course.drawing.plain import text
from pytree_course.drawing.vector import svg
from pytree_course.observations import Observation, Path
from pytree_course.rendering import render
from pytree_course.texts import shorten


@dataclass(frozen=True)
class Picture:
    """Trees side by side, as a notebook shows them."""

    observations: Sequence[Observation]
    titles: Sequence[str] = ()  # there may be fewer
    marked: Path | None = None  # in all of them

    def html(self) -> str:
        """Return one figure per tree; a wide one scrolls by itself, with the keyboard too."""
        svgs = [(title, svg(seen, marked=self.marked)) for title, seen in self._titled()]
        return render("drawing/picture.html", svgs=svgs)

    def text(self) -> str:
        """Return the trees as text, one under the other."""
        headed = [(f"{title}:\n" if title else "", seen) for title, seen in self._titled()]
        return "\n\n".join(head + text(seen, marked=self.marked) for head, seen in headed)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text()}

    def _titled(self) -> Iterator[tuple[str, Observation]]:
        titles = chain((shorten(title, 120) for title in self.titles), repeat(""))
        return zip(titles, self.observations, strict=False)


def draw(*values: object, titles: Sequence[str] = ()) -> Picture:
    """Draw any values as JAX sees them, side by side, under their titles.

    Examples
    --------
    >>> draw({"w": 1.5, "b": None})
    dict
    ├─ ['b']  None  (no leaf)
    └─ ['w']  1.5
    """
    from pytree_course.trees import observe  # pages, of what others observed, do without JAX

    return Picture([observe(value, values=False) for value in values], titles)
