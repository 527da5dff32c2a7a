"""Draw values or observations side by side, as SVG and as text."""

from collections.abc import Sequence

from pytree_course.drawing.items import text
from pytree_course.drawing.vector import svg
from pytree_course.observing.observations import Observation
from pytree_course.rendering import Feedback, render
from pytree_course.texts import shorten


def draw(*values: object, titles: Sequence[str] = ()) -> Feedback:
    """Draw any values as JAX sees them, side by side, under their titles.

    Examples
    --------
    >>> draw({"w": 1.5, "b": None})
    dict
    ├─ ['b']  None  (no leaf)
    └─ ['w']  1.5
    """
    from pytree_course.observing.observe import (
        observe,  # pages, of what others observed, do without JAX
    )

    return side_by_side([observe(value, values=False) for value in values], titles)


def side_by_side(trees: Sequence[Observation], titles: Sequence[str]) -> Feedback:
    """Draw one figure for each tree; a wide one scrolls by itself, with the keyboard too."""
    names = [shorten(title, 120) for title in titles] + [""] * len(trees)  # some have no title
    titled = list(zip(names, trees, strict=False))
    headed = [(f"{title}:\n" if title else "") + text(tree) for title, tree in titled]
    html = render("drawing/picture.html", svgs=[(title, svg(tree)) for title, tree in titled])
    return Feedback(html, "\n\n".join(headed))
