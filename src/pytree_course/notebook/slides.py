"""The nbconvert preprocessor that prepares a lesson for slides."""

from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from pytree_course.built import PREDICT_ENDING, hides_outputs, show_outputs
from pytree_course.sources.predictions import with_open_answer


class ShowAnswers(Preprocessor):
    """Restore the answers of predictions, and remove the widgets that ask for them.

    On slides, an answer is a fragment of its own; nothing can be clicked.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook to present."""
        nb.cells = [cell for cell in nb.cells if not cell.get("id", "").endswith(PREDICT_ENDING)]
        for cell in nb.cells:
            if hides_outputs(cell):
                show_outputs(cell)
            elif cell.cell_type == "markdown":
                cell.source = with_open_answer(cell.source)
        return nb, resources
