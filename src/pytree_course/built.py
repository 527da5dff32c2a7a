"""The metadata of built notebooks: digests of their sources and outputs, and their release."""

import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytree_course.course import LessonFiles

if TYPE_CHECKING:  # it is read where nothing is installed yet
    from nbformat import NotebookNode

METADATA_KEY = "pytree_course"
"""Entry of the metadata of notebooks and cells; the names below are entries of it."""

SOURCES, OUTPUTS = "sources", "outputs"
"""In a built notebook: digests of its sources, and of the outputs that it was built with.

In a cell: the outputs that answer a prediction. They are hidden until the cell is run.
"""

RELEASE, EXERCISES = "release", "exercises"
"""In a released exercise notebook: the release's stamp, and the digest of its blank cells."""

RUN_CELL = re.compile(r"[^\s'\"<>()]*ipykernel_\d+[\\/]\d+\.py")
"""The file name that IPython gives a cell in an error's message; there is no such file."""

FOLDER = re.compile(r"(?<![\w.:/\\\])])(?:[A-Za-z]:)?[\\/](?:[^\s:'\"<>()\\/]+[\\/])+")
"""The absolute path of a folder in a message, but not the path of a web address."""

ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")

MEANT_TO_FAIL = "raises-exception"
"""The tag of a lesson's cell that shows an error."""

_STAMP = re.compile(r"[\w.]{1,40}\+[0-9a-f]{12}")


def hides_outputs(cell: "NotebookNode") -> bool:
    """Say whether a cell has outputs that are, or are to be, hidden."""
    return METADATA_KEY in cell.metadata


def hide_outputs(cell: "NotebookNode") -> None:
    """Move a cell's outputs into its metadata."""
    cell.metadata[METADATA_KEY] = {OUTPUTS: cell.outputs}
    cell.outputs, cell.execution_count = [], None


def show_outputs(cell: "NotebookNode") -> None:
    """Put a cell's hidden outputs back in their place."""
    cell.outputs = cell.metadata[METADATA_KEY][OUTPUTS]
    cell.execution_count = 1


def without_this_machine(message: str) -> str:
    """Take out of an error's message what differs by machine and run: folders and addresses."""
    message = RUN_CELL.sub("this cell", message)
    return ADDRESS.sub("0x…", FOLDER.sub("…/", message))


def brief_traceback(name: str, message: str) -> list[str]:
    """Return what is shown of an error that a lesson raises on purpose: the error itself."""
    return [f"{name}: {without_this_machine(message)}"]


def is_meant_to_fail(source: str, folder: Path) -> bool:
    """Say whether a notebook of a folder has a cell with this source that is meant to raise."""
    notebooks = (json.loads(file.read_text(encoding="utf-8")) for file in folder.glob("*.ipynb"))
    return any(
        "".join(cell["source"]) == source and MEANT_TO_FAIL in cell["metadata"].get("tags", ())
        for notebook in notebooks
        for cell in notebook["cells"]
    )


def outputs_digest(notebook: "NotebookNode") -> str:
    """Return a digest of all outputs of a notebook, hidden or not."""
    outputs = [
        cell.metadata[METADATA_KEY] if hides_outputs(cell) else cell.outputs
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    text = json.dumps(outputs, sort_keys=True, ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def cells_digest(notebook: Any) -> str:
    """Return a digest of a blank exercise notebook's cells, without their metadata."""
    cells = [[cell["id"], cell["cell_type"], "".join(cell["source"])] for cell in notebook["cells"]]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()


def stamp_of(notebook: Any) -> str | None:
    """Return the stamp of the release that an untrusted notebook, as JSON, came with."""
    stamp = _entry(notebook, RELEASE)
    return stamp if stamp is not None and _STAMP.fullmatch(stamp) else None


def other_version(notebook: Any, files: LessonFiles) -> str | None:
    """Tell a teacher that an untrusted notebook came with other exercises than the present ones.

    Returns
    -------
    str or None
        None when the exercises are the same, or when the notebook does not say.
    """
    stamp, digest = stamp_of(notebook), _entry(notebook, EXERCISES)
    if stamp is None or digest in (None, cells_digest(json.loads(files.read_blank()))):
        return None
    return f"handed out from another version of the exercises ({stamp})"


def _entry(notebook: Any, name: str) -> str | None:
    try:
        entry = notebook["metadata"][METADATA_KEY][name]
    except (KeyError, TypeError, IndexError):
        return None
    return entry if isinstance(entry, str) else None
