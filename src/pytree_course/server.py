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
    """Let Jupyter show the pictures of built notebooks before their cells are run.

    Jupyter shows stored HTML only in signed notebooks. A signature covers a notebook's contents, so
    exactly the copies of these are trusted, wherever they are. The server logs an exception raised
    here, and starts all the same.
    """
    os.environ[SERVERS_PYTHON] = sys.executable  # Terminals and kernels inherit it.
    course = Course.installed()
    if course is None:
        raise FileNotFoundError("the course is installed without its notebooks")
    notary = serverapp.contents_manager.notary
    for folder in ("notebooks", "solutions", "checks/expected"):  # the last has the exercises
        for file in sorted((course.root / folder).rglob("*.ipynb")):
            notebook = nbformat.read(file, as_version=4)
            # In an editable installation, somebody may have edited them.
            built_with = notebook.metadata.get(METADATA_KEY, {}).get(OUTPUTS)
            if built_with == outputs_digest(notebook):
                notary.sign(notebook)
