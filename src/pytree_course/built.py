"""What a built notebook says about itself, and what follows from it."""

import hashlib
import json
import re
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary

from pytree_course.course import Course, LessonFiles

METADATA_KEY = "pytree_course"
"""Notebook metadata entry: digests of the sources and of the outputs it was built with."""

HIDDEN_OUTPUTS = "outputs"
"""Entry of a cell's own metadata of that name: the outputs that answer a prediction.

They are kept out of the learner's sight until the cell is run; nbval compares them all the same.
"""


RELEASE, EXERCISES = "release", "exercises"
"""Entries of a handed out notebook's metadata: the bundle's stamp, the digest of its exercises."""

_STAMP = re.compile(r"[\w.]{1,40}\+[0-9a-f]{12}")


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


def stamp_of(notebook: Any) -> str | None:
    """Return the stamp of the bundle that a notebook was handed out in.

    Parameters
    ----------
    notebook
        A notebook as JSON, which nobody vouches for.

    Returns
    -------
    str or None
        None when the notebook has no stamp, or none that a release could have written.
    """
    stamp = _handed_out(notebook, RELEASE)
    return stamp if stamp is not None and _STAMP.fullmatch(stamp) else None


def other_version(notebook: Any, files: LessonFiles) -> str | None:
    """Say that a notebook was handed out with other exercises than the lesson's present ones.

    Parameters
    ----------
    notebook
        A notebook as JSON, which nobody vouches for.
    files
        The lesson.

    Returns
    -------
    str or None
        A sentence for a teacher; None when the exercises are the same, or when the notebook does
        not say what it was handed out with.
    """
    stamp, digest = stamp_of(notebook), _handed_out(notebook, EXERCISES)
    present = exercises_digest(json.loads(files.read_blank()))
    if stamp is None or digest is None or digest == present:
        return None
    return f"handed out from another version of the exercises ({stamp})"


def exercises_digest(notebook: Any) -> str:
    """Return a digest of what a blank exercise notebook says: its cells, not its metadata."""
    cells = [[cell["id"], cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def _handed_out(notebook: Any, entry: str) -> str | None:
    try:
        said = notebook["metadata"][METADATA_KEY][entry]
    except (KeyError, TypeError, IndexError):
        return None
    return said if isinstance(said, str) else None
