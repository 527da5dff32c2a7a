"""Matplotlib plots that fit the page: as inline SVG, in its colours, with a text alternative."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

from cycler import cycler

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.0, 2.8)  # inches
STAND_IN = "#010203"  # no plot's own colour: it stands for the colour of the page's text
STYLE: Any = {
    "text.color": STAND_IN,
    "axes.edgecolor": STAND_IN,
    "axes.labelcolor": STAND_IN,
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
    "xtick.color": STAND_IN,
    "ytick.color": STAND_IN,
}


@contextmanager
def figure(alt: str, size: tuple[float, float] = SIZE) -> Iterator["Axes"]:
    """Show what is plotted on these axes, of a size in inches; `alt` is the text alternative.

    Examples
    --------
    >>> with figure("A line that rises") as axes:  # doctest: +SKIP
    ...     axes.plot([1, 2, 3])
    """
    # Not before there is something to plot: it takes a third of a second, and a lesson that plots
    # in its middle imports this module in its first cell.
    import matplotlib as mpl
    from IPython.display import display
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        plotted = Figure(figsize=size)
        yield plotted.subplots()
        html = as_html(plotted, alt)
    display({"text/html": html, "text/plain": alt}, raw=True)


def as_html(plotted: "Figure", alt: str) -> str:
    """Write a plot as inline SVG, in the page's colour, with unique ids and a text alternative."""
    file = io.StringIO()
    plotted.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    picture = file.getvalue()
    picture = picture[picture.index("<svg") :].replace(STAND_IN, "currentColor")
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
