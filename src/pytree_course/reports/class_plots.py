"""The plots of a class report, each as HTML with a text alternative."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from pytree_course.drawing.figures import INK, plot
from pytree_course.reports.class_statistics import ExerciseCounts, HeldMisconception
from pytree_course.texts import counted, shorten

WIDTH = 9.2  # inches: as wide as the page's text
BAR = 0.36  # inches for a bar with the gap to the next
MOST_MISCONCEPTIONS = 15
LONGEST_NAME = 50
MOST_BARS = 26  # of a histogram; with more points to be had, a bar stands for several

_BLUE = "#2f80d0"
# White words can be read on all of these. The hatches tell them apart without colour.
_PARTS = (
    ("correct", "correct", "#2e7d32", "", "none"),
    ("wrong", "wrong", "#b4480a", "///", "#d98953"),
    ("errors", "error", "#9c2740", "xxx", "#cf6f83"),
    ("not_attempted", "not attempted", "#6b7280", "...", "#b6bcc6"),
)
"""Of a bar: the field of `ExerciseCounts`, word, colour, hatch, the hatch's colour."""


def points_plot(points: Sequence[int], all_points: int) -> Markup:
    """Draw how many students have how many points."""
    width = max(1, -(-(all_points + 1) // MOST_BARS))
    middle = median(points)

    def draw(axes: Axes) -> None:
        edges = [at - 0.5 for at in range(0, all_points + width + 1, width)]
        histogram: Any = axes.hist(points, edges, rwidth=0.86, color=_BLUE)
        heights, _, drawn = histogram
        axes.bar_label(drawn, [f"{height:.0f}" if height else "" for height in heights], padding=2)
        above = axes.get_xaxis_transform()
        axes.plot([middle], [0.97], "v", color=INK, markersize=7, transform=above)
        axes.annotate(
            f"median {middle:g}", (middle, 0.97), (7, 0), above,
            textcoords="offset points", va="center",
        )  # fmt: skip
        axes.set_ylim(0, 1.3 * max(heights))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        axes.set(xlabel=f"points, of {all_points}", ylabel="students")

    alt = (
        f"Histogram of the points of {counted(len(points), 'student', 'students')}: "
        f"from {min(points)} to {max(points)} of {all_points}, the median is {middle:g}."
    )
    return Markup(plot(draw, alt, (WIDTH, 2.7)))


def pass_plot(counts: Sequence[ExerciseCounts]) -> Markup:
    """Draw how the exercises of a lesson went, as stacked bars; nothing if none was graded."""
    if not any(each.all for each in counts):
        return Markup()
    most = max(each.all for each in counts)

    def draw(axes: Axes) -> None:
        places = range(len(counts))
        left = [0] * len(counts)
        for field, word, colour, hatch, lines in _PARTS:
            widths = [getattr(each, field) for each in counts]
            drawn = axes.barh(
                places, widths, left=left, height=0.74, color=colour, edgecolor=lines,
                hatch=hatch, linewidth=0, label=word,
            )  # fmt: skip
            labels = [str(width) if width > 0.025 * most else "" for width in widths]
            for text in axes.bar_label(drawn, labels, label_type="center", color="white"):
                text.set_fontweight("bold")
                text.set_fontsize(10)
                if text.get_text():
                    text.set_bbox({"facecolor": colour, "edgecolor": "none", "pad": 1})
            left = [before + width for before, width in zip(left, widths, strict=True)]
        for place, each in zip(places, counts, strict=True):
            axes.annotate(
                f"{each.pass_rate:.0%}", (each.all, place), (6, 0), textcoords="offset points",
                va="center", fontweight="bold",
            )  # fmt: skip
        _one_bar_a_line(axes, [each.exercise.name for each in counts])
        axes.set_xlim(0, 1.08 * most)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("students; at the end of a bar, how many of them passed")
        axes.figure.legend(loc="outside upper left", ncols=len(_PARTS), frameon=False)

    best, worst = (choose(counts, key=lambda each: each.pass_rate) for choose in (max, min))
    alt = (
        f"Stacked bars for {counted(len(counts), 'exercise', 'exercises')}: correct, wrong, "
        f"error, not attempted. Most pass {best.exercise.name} ({best.pass_rate:.0%}), fewest "
        f"{worst.exercise.name} ({worst.pass_rate:.0%})."
    )
    return Markup(plot(draw, alt, (WIDTH, 1.1 + BAR * len(counts))))


def misconceptions_plot(held: Sequence[HeldMisconception]) -> Markup:
    """Draw which misconceptions the class holds, by how many."""
    shown = held[:MOST_MISCONCEPTIONS]

    def draw(axes: Axes) -> None:
        numbers = [len(each.students) for each in shown]
        drawn = axes.barh(range(len(shown)), numbers, height=0.7, color=_BLUE)
        axes.bar_label(drawn, padding=4, fontweight="bold")
        _one_bar_a_line(axes, [f"{each.words}  ·  {each.exercise}" for each in shown])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(0, 1.08 * max(numbers))
        axes.set_xlabel("students")

    first = shown[0]
    alt = (
        f"Bars for the {counted(len(shown), 'misconception', 'misconceptions')} held by "
        f"most. First: {shorten(first.words, LONGEST_NAME)}, in {first.exercise}, held by "
        f"{counted(len(first.students), 'student', 'students')}."
    )
    return Markup(plot(draw, alt, (WIDTH, 0.8 + BAR * len(shown))))


def _one_bar_a_line(axes: Axes, names: Sequence[str]) -> None:
    # A long name would leave no room for the bars, and a dollar sign begins a formula.
    shown = [shorten(name, LONGEST_NAME).replace("$", r"\$") for name in names]
    axes.set_yticks(range(len(names)), shown)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
