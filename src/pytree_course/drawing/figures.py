"""Matplotlib plots that fit the page: as inline SVG, in its colours, with a text for the blind."""

import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from html import escape
from typing import Any

import matplotlib as mpl
from cycler import cycler
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK = "#010203"  # no plot's own colour: it stands for the colour of the page's text
STYLE: Any = {
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": cycler(
        color=["#2f80d0", "#c2500c", "#3d8b40", "#9a5bd0"],
        linestyle=["-", "--", ":", "-."],
    ),
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "figure.constrained_layout.use": True,
    "font.size": 11,
    "lines.linewidth": 2,
    "svg.fonttype": "none",
    "svg.hashsalt": "pytree-course",
    "xtick.color": INK,
    "ytick.color": INK,
}


@contextmanager
def figure(alt: str, size: tuple[float, float] = (7.0, 2.8)) -> Iterator[Axes]:
    """Show what is plotted on the axes that this hands out.

    Parameters
    ----------
    alt
        What there is to see, for those who do not see it.
    size
        Width and height in inches.

    Examples
    --------
    >>> with figure("A line that rises") as axes:  # doctest: +SKIP
    ...     axes.plot([1, 2, 3])
    """
    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=size)
        yield drawn.subplots()
        html = _html(drawn, alt)
    display({"text/html": html, "text/plain": alt}, raw=True)


def plot(draw: Callable[[Axes], None], alt: str, size: tuple[float, float] = (7.0, 2.8)) -> str:
    """Return a plot as HTML, for a page that is no notebook.

    Parameters
    ----------
    draw
        Draws on the axes that it is given.
    alt, size
        As for `figure`.
    """
    with mpl.rc_context(STYLE):
        drawn = Figure(figsize=size)
        draw(drawn.subplots())
        return _html(drawn, alt)


def _html(drawn: Figure, alt: str) -> str:
    text = io.StringIO()
    drawn.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(text.getvalue(), alt)


def _inline(picture: str, alt: str) -> str:
    """Make an SVG file part of a page: its colours, no name twice, a text instead of it."""
    picture = picture[picture.index("<svg") :].replace(INK, "currentColor")
    named = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", picture))
    # Two figures on a page must not share names: these are of this picture alone.
    prefix = f"f{sha256(picture.encode()).hexdigest()[:8]}-"
    picture = re.sub(
        r' id="([^"]+)"',
        lambda found: f' id="{prefix}{found[1]}"' if found[1] in named else "",
        picture,
    )
    picture = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}", picture)
    label = f'<svg role="img" aria-label="{escape(alt)}" style="max-width:100%;height:auto" '
    return picture.replace("<svg ", label, 1).strip()
