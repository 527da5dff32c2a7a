"""What makes an exercise notebook an nbgrader assignment: its cells' marks, and how checks fail.

nbgrader gives a check's points unless the check cell raises an error or writes on standard error.
Every kernel loads this module (see `pytree_course.ipython`), so it imports nothing large.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import Any

VARIABLE = "NBGRADER_EXECUTION"
"""Environment variable that nbgrader sets where it runs a notebook: "autograde" or "validate"."""


class NotCorrectError(Exception):
    """A check's verdict is not "correct": nbgrader is to give no points."""

    def _render_traceback_(self) -> list[str]:
        """Let IPython show one line: what happened is in the feedback above it."""
        return [f"{type(self).__name__}: {self}"]


def is_running() -> bool:
    """Say whether it is nbgrader that runs this notebook."""
    return VARIABLE in os.environ


def marks(
    grade_id: str, *, points: int | None = None, learners: bool = False
) -> dict[str, dict[str, Any]]:
    """Return the metadata that tell nbgrader what a cell is for: only check cells have points.

    nbgrader restores every cell that is not the learners' as it was handed out.
    """
    of_check = {} if points is None else {"points": points}
    return {
        "nbgrader": {
            "schema_version": 3,
            "grade_id": grade_id,
            "grade": points is not None,
            "solution": learners,
            "locked": not learners,
            "task": False,
            **of_check,
        }
    }


@contextlib.contextmanager
def stderr_on_stdout() -> Iterator[None]:
    """Show on standard output what goes to standard error: a warning must not cost points."""
    stderr: Any = sys.stderr
    # Logging handlers keep the stream that they found, so the stream itself is redirected.
    stderr.write = sys.stdout.write
    # Libraries in C write to the file descriptor.
    kept = os.dup(2)
    os.dup2(1, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        del stderr.write
