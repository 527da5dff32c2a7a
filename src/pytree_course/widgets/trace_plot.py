"""Traces against calls, as a small inline SVG."""

from collections.abc import Sequence

from pytree_course.drawing.colours import LEAF, MARK
from pytree_course.drawing.vector import FONT
from pytree_course.rendering import render
from pytree_course.texts import counted
from pytree_course.widgets.trace_log import CallOutcome

LEFT, RIGHT, TOP, BOTTOM = 34, 14, 12, 34
HEIGHT = 72
STEP = 26  # between calls, while they are few
WIDEST = 420
NARROWEST = 160

Totals = Sequence[tuple[int, CallOutcome, int]]
"""For each call its number, its outcome, and how many traces there were after it."""


def trace_plot(totals: Totals) -> str:
    """Draw how the number of traces grew with the calls, oldest first, as an ``<svg>``."""
    step = min(STEP, WIDEST / max(len(totals), 1))
    width = max(round(step * len(totals)), NARROWEST)
    most = max([total for _, _, total in totals], default=0)
    ground = TOP + HEIGHT

    def height_of(total: int) -> float:
        return round(ground - HEIGHT * total / max(most, 1), 1)

    every = max(1, round(24 / step))  # a number below each call would not fit
    calls = []
    for index, (number, outcome, total) in enumerate(totals):
        is_numbered = (len(totals) - 1 - index) % every == 0
        x = round(LEFT + (index + 0.5) * step, 1)
        calls.append((number if is_numbered else None, outcome, x, height_of(total)))
    return render(
        "widgets/trace_plot.html",
        words=_described(totals),
        width=LEFT + width + RIGHT,
        height=ground + BOTTOM,
        left=LEFT,
        right=LEFT + width,
        top=TOP,
        ground=ground,
        most=most,
        start=height_of(totals[0][2] - (totals[0][1] == "traced")) if totals else ground,
        calls=calls,
        font=FONT,
        line=LEAF,
        cross=MARK,
    )


def _described(totals: Totals) -> str:
    """Say in words what the plot shows."""
    if not totals:
        return "No calls yet."
    traces = counted(totals[-1][2], "trace", "traces")
    words = f"Traces against calls: {traces} after {counted(totals[-1][0], 'call', 'calls')}"
    for outcome in ("traced", "raised"):
        numbers = [str(number) for number, its, _ in totals if its == outcome]
        if numbers:
            calls = "calls" if len(numbers) > 1 else "call"
            words += f"; {outcome} in {calls} {', '.join(numbers)}"
    return words + "."
