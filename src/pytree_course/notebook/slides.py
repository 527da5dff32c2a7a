"""The preprocessor by which `jupyter nbconvert --to slides` presents a lesson."""

from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from pytree_course.built import hides_outputs, show_outputs
from pytree_course.sources.source_cells import with_open_answer


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
