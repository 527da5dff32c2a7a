"""Traces against calls, as a small inline SVG."""

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from pytree_course.drawing.labels import counted
from pytree_course.drawing.vector import FONT, INK, LEAF, MARK
from pytree_course.widgets.trace_log import CallOutcome

LEFT, RIGHT, TOP, BOTTOM = 34, 14, 12, 34
HEIGHT = 72
STEP = 26  # between calls, while they are few
WIDEST = 420
NARROWEST = 160

Totals = Sequence[tuple[int, CallOutcome, int]]
"""For each call its number, its outcome, and how many traces there were after it."""


def trace_plot(totals: Totals) -> str:
    """Draw how the number of traces grew with the calls.

    Parameters
    ----------
    totals
        The calls to draw, oldest first.

    Returns
    -------
    str
        An ``<svg role="img">`` that says in words what it shows.
    """
    step = min(STEP, WIDEST / max(len(totals), 1))
    width = max(round(step * len(totals)), NARROWEST)
    most = max([total for _, _, total in totals], default=0)
    picture = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "role": "img",
            "aria-label": described(totals),
            "width": str(LEFT + width + RIGHT),
            "height": str(TOP + HEIGHT + BOTTOM),
            "viewBox": f"0 0 {LEFT + width + RIGHT} {TOP + HEIGHT + BOTTOM}",
            "color": f"var(--jp-content-font-color1, {INK})",
            "font-family": FONT,
            "font-size": "11",
            "text-anchor": "middle",
            "style": "max-width:100%;height:auto",
        },
    )
    SubElement(picture, "title").text = described(totals)
    ground = TOP + HEIGHT
    frame = {"fill": "none", "stroke": INK, "stroke-opacity": ".5"}
    SubElement(picture, "path", {"d": f"M{LEFT} {TOP - 4}V{ground}H{LEFT + width}", **frame})
    _words(picture, "calls →", LEFT + width // 2, ground + 30)
    _words(picture, "traces", LEFT - 12, TOP + HEIGHT // 2, turned=True)
    _words(picture, "0", LEFT - 10, ground + 4)
    if most:
        _words(picture, str(most), LEFT - 10, TOP + 4)
    places = []
    for index, (number, outcome, total) in enumerate(totals):
        x = round(LEFT + (index + 0.5) * step, 1)
        y = round(ground - HEIGHT * total / max(most, 1), 1)
        places.append((number, outcome, x, y))
    if places:
        first = totals[0][2] - (totals[0][1] == "traced")
        line = f"M{LEFT} {round(ground - HEIGHT * first / max(most, 1), 1)}"
        line += "".join(f"H{x}V{y}" for _, _, x, y in places)
        SubElement(
            picture, "path", {"d": line, "fill": "none", "stroke": LEAF, "stroke-width": "2"}
        )
        shown = max(1, round(24 / step))  # a number below each call would not fit
        for index, (number, outcome, x, y) in enumerate(places):
            _mark(picture, outcome, x, y)
            if (len(places) - 1 - index) % shown == 0:
                _words(picture, str(number), x, ground + 15)
    return ElementTree.tostring(picture, encoding="unicode")


def described(totals: Totals) -> str:
    """Say in words what the plot shows."""
    if not totals:
        return "No calls yet."
    traces = counted(totals[-1][2], "trace", "traces")
    words = f"Traces against calls: {traces} after {counted(totals[-1][0], 'call', 'calls')}"
    for outcome in ("traced", "raised"):
        numbers = [str(number) for number, its, _ in totals if its == outcome]
        if numbers:
            words += (
                f"; {outcome} in {'calls' if len(numbers) > 1 else 'call'} {', '.join(numbers)}"
            )
    return words + "."


def _mark(picture: Element, outcome: CallOutcome, x: float, y: float) -> None:
    place = {"cx": str(x), "cy": str(y), "r": "4.5"}
    match outcome:
        case "traced":
            SubElement(picture, "circle", {**place, "fill": LEAF})
        case "cached":
            # Filled with the page, so that the line does not shine through.
            paint = {"fill": "var(--jp-layout-color0, Canvas)", "stroke": LEAF}
            SubElement(picture, "circle", {**place, **paint, "stroke-width": "2"})
        case _:
            cross = f"M{x - 5} {y - 5}l10 10m0 -10l-10 10"
            SubElement(picture, "path", {"d": cross, "stroke": MARK, "stroke-width": "2.5"})


def _words(picture: Element, words: str, x: float, y: float, *, turned: bool = False) -> None:
    attributes = {"x": str(x), "y": str(y), "fill": INK, "fill-opacity": ".8"}
    if turned:
        attributes["transform"] = f"rotate(-90 {x} {y}) translate(0 -10)"
    SubElement(picture, "text", attributes).text = words
