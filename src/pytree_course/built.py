"""The format of built notebooks: ids of cells, hidden outputs, digests of sources and outputs."""

import hashlib
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # this module is imported where nothing is installed yet
    from nbformat import NotebookNode

METADATA_KEY = "pytree_course"
"""The course's entry in the metadata of notebooks and cells, with the entries below."""

SOURCES, OUTPUTS = "sources", "outputs"
"""In a built notebook: digests of its sources and of its outputs.

In a cell: outputs that answer a prediction, hidden until the cell is run.
"""

ANSWER_ENDING, CHECK_ENDING, PREDICT_ENDING = "-answer", "-check", "-predict"
"""The ends of the ids of answer cells, of check cells, and of cells that ask a prediction."""

OUR_ENDING = "-ours"
"""The end of the ids of a lesson's cells with the course's own version of an exercise."""

_CELL_FILE = re.compile(r"[^\s'\"<>()]*ipykernel_\d+[\\/]\d+\.py")
"""The name of the non-existent file that IPython gives a cell in an error's message."""

_FOLDER_PATH = re.compile(r"(?<![\w.:/\\\])])(?:[A-Za-z]:)?[\\/](?:[^\s:'\"<>()\\/]+[\\/])+")
"""The absolute path of a folder in a message, but not the path of a URL."""

_MEMORY_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")

MEANT_TO_FAIL = "raises-exception"
"""The tag of a cell in a lesson that raises an error on purpose."""


def answer_id(exercise: str) -> str:
    """Return the id of an exercise's answer cell."""
    return f"{exercise}{ANSWER_ENDING}"


def check_id(exercise: str) -> str:
    """Return the id of an exercise's check cell."""
    return f"{exercise}{CHECK_ENDING}"


def our_version_id(exercise: str) -> str:
    """Return the id of the cell in a lesson with the course's own version of an exercise."""
    return f"{exercise}{OUR_ENDING}"


def other_answer_id(exercise: str, number: int) -> str:
    """Return the id of the cell in the solutions with another right answer, numbered from 1."""
    return f"{exercise}-other-{number}"


def hides_outputs(cell: "NotebookNode") -> bool:
    """Return whether a cell's outputs are hidden."""
    return METADATA_KEY in cell.metadata


def hide_outputs(cell: "NotebookNode") -> None:
    """Move a cell's outputs into its metadata."""
    cell.metadata[METADATA_KEY] = {OUTPUTS: cell.outputs}
    cell.outputs, cell.execution_count = [], None


def show_outputs(cell: "NotebookNode") -> None:
    """Restore a cell's hidden outputs."""
    cell.outputs = cell.metadata[METADATA_KEY][OUTPUTS]
    cell.execution_count = 1


def strip_machine_details(message: str) -> str:
    """Replace the folders and memory addresses in an error's message, which vary between runs."""
    message = _CELL_FILE.sub("this cell", message)
    message = _FOLDER_PATH.sub("…/", message)
    return _MEMORY_ADDRESS.sub("0x…", message)


def brief_traceback(name: str, message: str) -> list[str]:
    """Return the traceback to show for an error that a lesson raises on purpose: one line."""
    return [f"{name}: {strip_machine_details(message)}"]


def is_meant_to_fail(source: str, folder: Path) -> bool:
    """Return whether a notebook in this folder has a cell with this source that has to fail."""
    notebooks = (json.loads(file.read_text(encoding="utf-8")) for file in folder.rglob("*.ipynb"))
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


def leave_out_grammars() -> None:
    """Keep jsonschema, which nbformat imports, from building a parser for international URLs.

    Building it takes over a second, and no notebook needs it. It is installed with JupyterLab;
    jsonschema works without it.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault("rfc3987_syntax", None)  # makes importing it fail
