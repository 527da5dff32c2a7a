"""Slides of a lesson: which cells share one."""

import math
from collections.abc import Sequence

from pytree_course.course import check_id, ours_id
from pytree_course.sources.exercises import WRITE
from pytree_course.sources.predictions import PREDICTION
from pytree_course.sources.source_cells import SourceCell

SLIDE_LINES = 20  # what fits on a slide, in lines of code
MARKDOWN_LINE = 75  # characters
OUTPUT_LINES = {"print": 2, "draw": 8, "figure": 8, "pair": 12}
OUTPUT_LINES |= {"explore": 14, "count_traces": 16}
"""About how many lines the output of a call takes."""


def slide_types(cells: Sequence[SourceCell]) -> dict[str, str]:
    """Return the slide types of a lesson's cells by cell id; other cells stay on the same slide.

    A section starts a slide. A prediction starts one below it, so that nothing gives its answer
    away; the answer is uncovered by one more step. A slide that would get too tall goes on below.
    """
    types = {}
    filled = 0.0
    for cell in cells:
        lines = _lines(cell)
        if cell.heading:
            types[cell.id], filled = "slide", 0.0
        elif cell.source.startswith((PREDICTION, WRITE)):
            types[cell.id], filled = "subslide", 0.0
        elif "prediction" in cell.metadata:
            types[cell.id] = "fragment"
        elif cell.is_exercise:
            types[check_id(cell.metadata["exercise"])] = "skip"
            types[ours_id(cell.metadata["exercise"])] = "fragment"
        elif filled + lines > SLIDE_LINES:
            types[cell.id], filled = "subslide", 0.0
        filled += lines
    return types


def _lines(cell: SourceCell) -> float:
    """Estimate how tall a cell and its output are."""
    if cell.kind == "markdown":
        return sum(0.5 + math.ceil(len(line) / MARKDOWN_LINE) for line in cell.source.splitlines())
    output = sum(lines for name, lines in OUTPUT_LINES.items() if f"{name}(" in cell.source)
    return len(cell.source.splitlines()) + 1 + output
