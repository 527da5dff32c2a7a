"""Make exercise notebooks valid nbgrader assignments: cell metadata, and failing check cells.

nbgrader gives a check's points unless the check cell raises an error or writes on standard error.
Every kernel loads this module (see `pytree_course.ipython`), so it imports nothing large.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

EXECUTION_VARIABLE = "NBGRADER_EXECUTION"
"""Environment variable that nbgrader sets when it runs a notebook: "autograde" or "validate"."""


class NotCorrectError(Exception):
    """Raised by a check in nbgrader, which then gives no points: the verdict is not "correct"."""

    def _render_traceback_(self) -> list[str]:
        """Make IPython show one line; the feedback above it has the details."""
        return [f"{type(self).__name__}: {self}"]


def is_running() -> bool:
    """Return whether nbgrader runs this notebook."""
    return EXECUTION_VARIABLE in os.environ


def marks(
    grade_id: str, *, points: int | None = None, is_answer: bool = False
) -> dict[str, dict[str, Any]]:
    """Return a cell's nbgrader metadata: only check cells have points.

    nbgrader restores every cell that is not the learner's to its original source.
    """
    metadata: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": grade_id,
        "grade": points is not None,
        "solution": is_answer,
        "locked": not is_answer,
        "task": False,
    }
    if points is not None:
        metadata["points"] = points
    return {"nbgrader": metadata}


@contextlib.contextmanager
def redirect_stderr_to_stdout() -> Iterator[None]:
    """Redirect standard error to standard output: a warning must not cost points."""
    stderr: Any = sys.stderr
    # Logging handlers hold a reference to the stream, so its method is replaced, not the stream.
    stderr.write = sys.stdout.write
    # Libraries in C write to the file descriptor.
    stderr_copy = os.dup(2)
    os.dup2(1, 2)
    try:
        yield
    finally:
        os.dup2(stderr_copy, 2)
        os.close(stderr_copy)
        del stderr.write  # which uncovers the class's method
