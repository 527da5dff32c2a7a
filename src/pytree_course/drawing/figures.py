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

    with mpl.rc_context(mpl.rc_params_from_file(STYLE, use_default_template=False)):
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
        lambda match: f' id="{prefix}{match[1]}"' if match[1] in named else "",
        picture,
    )
    picture = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}", picture)
    label = f'<svg role="img" aria-label="{escape(alt)}" style="max-width:100%;height:auto" '
    return picture.replace("<svg ", label, 1).strip()
