"""Run a notebook with nbval, in a fresh kernel.

nbval reads the notebook and makes a pytest item of each code cell; pytest sets up the notebook,
runs its items in order, and tears it down. What an item does is up to the caller. Its kernel is a
`WatchedKernel`, for nbval's own has no budget and no sandbox. nbval compares no outputs, and
comments in an answer, such as "# NBVAL_SKIP", mean nothing to it.
"""

import contextlib
import io
import json
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import nbval.plugin
import pytest

from pytree_course.grading.budget import SubmissionTime
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.grading.lesson_to_grade import RunSettings
from pytree_course.running.outcomes import SEED_VARIABLE

_PYTEST_OPTIONS = (
    "--disable-plugin-autoload",
    # These two search for garbage after every notebook: a third of a second where JAX is loaded.
    *("-p", "no:unraisableexception", "-p", "no:threadexception"),
    *("-p", "no:cacheprovider", "-p", "no:logging", "-p", "no:warnings", "-p", "no:assertion"),
    *("--quiet", "--tb=line", "--noconftest", "--color=no", "--capture=no", "-c", os.devnull),
)
_MAX_OUTPUT = 1_000  # characters of nbval's output that are shown if it fails

_ONE_AT_A_TIME = threading.Lock()  # pytest and the standard output are one for a whole process


def run_notebook(
    notebook: dict[str, Any],
    run_cell: Callable[[WatchedKernel, Any], None],
    settings: RunSettings,
    time: SubmissionTime,
) -> None:
    """Call `run_cell` with a fresh kernel and each of a notebook's code cells, in order.

    `time` counts for all budgets. A RuntimeError says that the notebook could not be run at all,
    which is not the learner's fault.
    """
    temporary = TemporaryDirectory(prefix="pytree-course-grading-", ignore_cleanup_errors=True)
    with temporary as folder, _ONE_AT_A_TIME:
        file = Path(folder) / "submission.ipynb"
        file.write_text(json.dumps(notebook), encoding="utf-8")

        def collect(file_path: Path, parent: pytest.Collector) -> Any:
            found = _Notebook.from_parent(parent, path=file_path)
            found.run_cell, found.settings, found.time = run_cell, settings, time
            return found

        plugins = [nbval.plugin, SimpleNamespace(pytest_collect_file=collect)]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            # Without --confcutdir, pytest lists the parent folder too.
            roots = ("--rootdir", folder, "--confcutdir", folder)
            status = pytest.main([*_PYTEST_OPTIONS, *roots, str(file)], plugins)
    if status is not pytest.ExitCode.OK:
        raise RuntimeError(f"nbval could not run it: {output.getvalue()[-_MAX_OUTPUT:]}")


class _Notebook(nbval.plugin.IPyNbFile):
    """nbval's notebook, in a watched kernel."""

    run_cell: Callable[[WatchedKernel, Any], None]
    settings: RunSettings
    time: SubmissionTime

    def collect(self) -> Iterator[Any]:
        for item in super().collect():
            # Without nbval's options, which it takes from comments and tags in the cell.
            yield _Cell.from_parent(
                self, name=item.name, cell_num=item.cell_num, cell=item.cell, options={}
            )

    def setup(self) -> None:
        self.kernel = WatchedKernel(
            self.path.parent,
            self.settings.course,
            {SEED_VARIABLE: str(self.settings.seed)},
            self.settings.in_sandbox,
            self.time,
        )

    def teardown(self) -> None:
        if self.kernel is not None:
            self.kernel.stop()


class _Cell(nbval.plugin.IPyNbCell):
    """nbval's code cell; whatever its code does, pytest has run it."""

    def runtest(self) -> None:
        self.parent.run_cell(self.parent.kernel, self.cell)
