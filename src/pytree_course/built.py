"""What a built notebook says about itself, and what follows from it."""

import hashlib
import json

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from pytree_course.layout import Course

METADATA_KEY = "pytree_course"
"""Notebook metadata entry: digests of the sources and of the outputs it was built with."""

HIDDEN_OUTPUTS = "outputs"
"""Entry of a cell's own metadata of that name: the outputs that answer a prediction.

They are kept out of the learner's sight until the cell is run; nbval compares them all the same.
"""


def hide_outputs(cell: NotebookNode) -> None:
    """Move a cell's outputs where nobody sees them."""
    cell.metadata[METADATA_KEY] = {HIDDEN_OUTPUTS: cell.outputs}
    cell.outputs, cell.execution_count = [], None


def show_outputs(cell: NotebookNode) -> None:
    """Put a cell's hidden outputs back to their place."""
    cell.outputs = cell.metadata[METADATA_KEY][HIDDEN_OUTPUTS]
    cell.execution_count = 1


def hides_outputs(cell: NotebookNode) -> bool:
    """Say whether a cell has outputs that are, or are to be, hidden."""
    return METADATA_KEY in cell.metadata


def outputs_digest(notebook: NotebookNode) -> str:
    """Return a digest of all outputs of a notebook, the hidden ones included."""
    outputs = [
        cell.metadata[METADATA_KEY] if hides_outputs(cell) else cell.outputs
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    text = json.dumps(outputs, sort_keys=True, ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def trust_built_notebooks(course: Course) -> None:
    """Let JupyterLab show the pictures of built notebooks before their cells are run.

    JupyterLab shows HTML only from notebooks that it trusts. The course's own, as long as their
    outputs are the ones they were built with, are signed here.
    """
    notary = NotebookNotary()
    for files in course.lessons():
        for file in (files.notebook, files.solutions):
            if not file.exists():
                continue
            notebook = nbformat.read(file, as_version=4)
            built_with = notebook.metadata.get(METADATA_KEY, {}).get("outputs")
            if built_with == outputs_digest(notebook) and not notary.check_signature(notebook):
                notary.sign(notebook)
