"""Slides of a lesson: which cells share one, and the preprocessor for nbconvert."""

import math
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from pytree_course.built import hides_outputs, show_outputs
from pytree_course.course import check_id, ours_id
from pytree_course.sources.exercises import WRITE
from pytree_course.sources.lesson_sources import PREDICTION
from pytree_course.sources.source_cells import SourceCell
from pytree_course.sources.source_texts import with_open_answer

SLIDE_LINES = 20  # what fits on a slide, in lines of code
MARKDOWN_LINE = 75  # characters
DEEPER_TAG = "deeper"
"""Tag of all cells of "Going deeper": a deck of the core alone leaves them out."""

OUTPUT_LINES = {"print": 2, "draw": 8, "figure": 8, "pair": 12}
OUTPUT_LINES |= {"explore": 14, "count_traces": 16}
"""About how many lines the output of a call takes."""


def slide_types(cells: list[SourceCell]) -> dict[str, str]:
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
        elif "exercise" in cell.metadata:
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


class ShowAnswers(Preprocessor):
    """Put the answers of predictions in their place, and leave out the widgets that ask for them.

    A slide uncovers an answer by one more step; nothing on it can be clicked.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Change a notebook that is about to be presented."""
        nb.cells = [cell for cell in nb.cells if not cell.get("id", "").endswith("-predict")]
        for cell in nb.cells:
            if hides_outputs(cell):
                show_outputs(cell)
            elif cell.cell_type == "markdown":
                cell.source = with_open_answer(cell.source)
        return nb, resources
