"""A Jupyter Server extension: trust the course's notebooks, and point terminals at its Python."""

import os
import sys
from typing import Any

import nbformat

from pytree_course.built import METADATA_KEY, OUTPUTS, outputs_digest
from pytree_course.course import Course
from pytree_course.launcher import SERVERS_PYTHON


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(serverapp: Any) -> None:
    """Tell terminals the server's Python, and sign the built notebooks.

    Jupyter shows stored HTML, such as the pictures of cells that have not been run, only in signed
    notebooks. A signature covers a notebook's contents, so that exactly the copies of these are
    trusted, wherever they are. If this raises an exception, the server logs it and starts.
    """
    os.environ[SERVERS_PYTHON] = sys.executable  # terminals and kernels inherit it
    course = Course.installed()
    if course is None:
        raise FileNotFoundError("the course is installed without its notebooks")
    notary = serverapp.contents_manager.notary
    for folder in ("notebooks", "solutions", "checks/expected"):  # the last has the blank exercises
        for file in sorted((course.root / folder).rglob("*.ipynb")):
            notebook = nbformat.read(file, as_version=4)
            digest = notebook.metadata.get(METADATA_KEY, {}).get(OUTPUTS)
            # They differ if somebody has edited the notebook, in an editable installation.
            if digest == outputs_digest(notebook):
                notary.sign(notebook)
