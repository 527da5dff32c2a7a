"""The plots of docs/performance.md: SVG that is the same whenever the figures are."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pytree_course.course import write_file
from pytree_course.drawing.figures import STYLE, as_html

IMAGES = "docs/images"
DARK = "#1f2328"
# Shown as an image, it cannot know the page's colours: it brings its own background.
BACKGROUND = '<rect width="100%" height="100%" fill="#ffffff"/>'


def write_plot_of_engines(root: Path, medians: dict[str, dict[str, float]]) -> str:
    """Draw the seconds of each engine as bars, a group for each lesson."""
    lessons = sorted({lesson for times in medians.values() for lesson in times})

    def draw(axes: Axes) -> None:
        height = 0.8 / len(lessons)
        for at, lesson in enumerate(lessons):
            places = [row + at * height for row in range(len(medians))]
            times = [of_engine.get(lesson, 0.0) for of_engine in medians.values()]
            bars = axes.barh(places, times, height, label=f"lesson {int(lesson[:2])}")
            axes.bar_label(bars, fmt=lambda seconds: f" {seconds:.0f}", fontsize=8)
        middle = (len(lessons) - 1) * height / 2
        axes.set_yticks([row + middle for row in range(len(medians))], [*medians])
        axes.invert_yaxis()
        axes.set_xlabel("seconds")
        axes.legend(frameon=False)

    said = "; ".join(
        f"{engine} {', '.join(f'{seconds:.0f}' for seconds in times.values())}"
        for engine, times in medians.items()
    )
    alt = f"Bars: seconds by engine, for {', '.join(lessons)}: {said}"
    return write_plot(root, "class_engines", alt, draw, (7.0, 0.7 + 0.6 * len(medians)))


def write_plots_of_sizes(root: Path, runs: list[dict[str, Any]]) -> str:
    """Draw seconds, and memory, against the size of a class."""
    runs = sorted(runs, key=lambda run: run["submissions"])
    sizes = [run["submissions"] for run in runs]

    def draw_seconds(axes: Axes) -> None:
        axes.plot(sizes, [run["seconds"] for run in runs], marker="o", label="graded")
        axes.plot(sizes, [run["again"] for run in runs], marker="s", label="again, nothing changed")
        axes.set(xlabel="submissions", ylabel="seconds", xlim=(0, None), ylim=(0, None))
        axes.legend(frameon=False)

    def draw_memory(axes: Axes) -> None:
        for of, label in {"whole": "all", "grader": "the grader", "sandboxes": "sandboxes"}.items():
            axes.plot(sizes, [run["memory"][of] for run in runs], marker="o", label=label)
        axes.set(xlabel="submissions", ylabel="MB at most", xlim=(0, None), ylim=(0, None))
        axes.legend(frameon=False)

    seconds = ", ".join(f"{run['submissions']}: {run['seconds']:.0f}" for run in runs)
    memory = ", ".join(f"{run['submissions']}: {run['memory']['whole']:.0f}" for run in runs)
    return "\n\n".join(
        [
            write_plot(root, "class_seconds", f"Seconds by submissions: {seconds}", draw_seconds),
            write_plot(root, "class_memory", f"Most MB by submissions: {memory}", draw_memory),
        ]
    )


def write_plot(
    root: Path,
    name: str,
    alt: str,
    draw: Callable[[Axes], None],
    size: tuple[float, float] = (7.0, 2.8),
) -> str:
    """Write a plot as a file, and return the Markdown that shows it."""
    with mpl.rc_context(mpl.rc_params_from_file(STYLE, use_default_template=False)):
        plotted = Figure(figsize=size)
        draw(plotted.subplots())
        picture = as_html(plotted, alt).replace("currentColor", DARK)
    start = picture.index(">") + 1
    write_file(root / IMAGES / f"{name}.svg", picture[:start] + BACKGROUND + picture[start:] + "\n")
    return f"![{alt}](images/{name}.svg)"
