"""Matplotlib plots that fit the page: as inline SVG, in its colours, with a text alternative."""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.0, 2.8)  # inches
STYLE = Path(__file__).with_name("course.mplstyle")
STAND_IN = "#010203"  # in that style, for the colour of the page's text


@contextmanager
def figure(alt: str, size: tuple[float, float] = SIZE) -> Iterator["Axes"]:
    """Show a plot, drawn on the axes that it yields, `size` inches wide and high.

    `alt` is its text alternative.

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

    with mpl.rc_context(mpl.rc_params_from_file(STYLE, use_default_template=False)):
        plot = Figure(figsize=size)
        yield plot.subplots()
        html = as_html(plot, alt)
    display({"text/html": html, "text/plain": alt}, raw=True)


def as_html(plot: "Figure", alt: str) -> str:
    """Write a plot as inline SVG, in the page's colour, with unique ids and a text alternative."""
    file = io.StringIO()
    plot.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    svg = file.getvalue()
    svg = svg[svg.index("<svg") :].replace(STAND_IN, "currentColor")
    referenced = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", svg))
    # Two figures on a page must not share ids: these belong to this picture alone.
    prefix = f"f{sha256(svg.encode()).hexdigest()[:8]}-"

    def unique_id(match: re.Match[str]) -> str:
        return f' id="{prefix}{match[1]}"' if match[1] in referenced else ""

    svg = re.sub(r' id="([^"]+)"', unique_id, svg)
    svg = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}", svg)
    label = f'<svg role="img" aria-label="{escape(alt)}" style="max-width:100%;height:auto" '
    return svg.replace("<svg ", label, 1).strip()
