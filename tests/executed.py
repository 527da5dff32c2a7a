"""Notebooks that are run as their reader runs them: where they lie, in a kernel of their own."""

from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def outputs_of(file: Path, variables: Mapping[str, str], *more: str) -> dict[str, str]:
    """Run a notebook, and more cells; return each code cell's output as text and HTML, by id."""
    notebook = nbformat.read(file, as_version=4)
    for number, code in enumerate(more):
        notebook.cells.append(nbformat.v4.new_code_cell(code, id=f"more-{number}"))
    where = {"metadata": {"path": str(file.parent)}}
    NotebookClient(notebook, resources=where, allow_errors=True).execute(env=dict(variables))
    return {
        cell.id: "\n".join(
            part
            for output in cell.outputs
            for part in (
                *(output.get("text", ""), *output.get("traceback", ())),
                *(output.get("data", {}).get(kind, "") for kind in ("text/plain", "text/html")),
            )
        )
        for cell in notebook.cells
        if cell.cell_type == "code"
    }
