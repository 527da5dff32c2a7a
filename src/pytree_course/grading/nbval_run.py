"""Run a notebook with nbval, in a fresh kernel.

nbval reads the notebook and makes a pytest item of each code cell; pytest sets up the notebook,
runs its items in order, and tears it down. Which cells run, and what follows from it, is decided by
a `Plan`; they run in a `WatchedKernel`, for nbval's own kernel has no budget and no sandbox. nbval
compares no outputs, and comments in an answer, such as "# NBVAL_SKIP", mean nothing to it.
"""

import contextlib
import io
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import nbval.plugin
import pytest

from pytree_course.grading.budget import SubmissionTime
from pytree_course.grading.cell_run import CellRun, RunSettings
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.running.outcomes import SEED_VARIABLE

# pytest's own plugins that no notebook needs. Two of them start a full garbage collection after
# every notebook, which takes a third of a second where JAX is loaded.
_UNUSED_PLUGINS = (
    *("unraisableexception", "threadexception", "cacheprovider", "logging", "warnings"),
    *("faulthandler", "assertion", "doctest", "unittest", "junitxml", "monkeypatch", "tmpdir"),
    *("recwarn", "subtests", "stepwise", "setuponly", "setupplan", "pastebin"),
)
_PYTEST_OPTIONS = (
    "--disable-plugin-autoload",
    *(option for name in _UNUSED_PLUGINS for option in ("-p", f"no:{name}")),
    *("--quiet", "--tb=line", "--noconftest", "--color=no", "--capture=no", "-c", os.devnull),
)
_MAX_OUTPUT = 1_000  # characters of nbval's output that are shown if it fails

_ONE_AT_A_TIME = threading.Lock()  # pytest and the standard output are one for a whole process


class Plan(Protocol):
    """Decides which cells of a notebook run in a kernel; it is asked in their order."""

    def runs(self, cell: str) -> bool:
        """Whether to run the cell with this id."""

    def starts_budget(self, cell: str) -> bool:
        """Whether this cell and those after it have a budget of their own."""

    def record(self, cell: str, run: CellRun) -> None:
        """Take note of how a cell ran."""


def run_notebook(
    notebook: dict[str, Any], plan: Plan, settings: RunSettings, time: SubmissionTime
) -> None:
    """Run a notebook's code cells in order, in a fresh kernel; a failed cell does not stop it.

    `time` counts for all budgets. A RuntimeError says that the notebook could not be run at all,
    which is not the learner's fault.
    """
    temporary = TemporaryDirectory(prefix="pytree-course-grading-", ignore_cleanup_errors=True)
    with temporary as folder, _ONE_AT_A_TIME:
        file = Path(folder) / "submission.ipynb"
        # A lone surrogate is valid in JSON and in a Python string, but has no UTF-8 encoding.
        file.write_bytes(json.dumps(notebook, ensure_ascii=False).encode("utf-8", "replace"))
        collector = _Collector(plan, settings, time)
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            # Without --confcutdir, pytest lists the parent folder too.
            roots = ("--rootdir", folder, "--confcutdir", folder)
            status = pytest.main([*_PYTEST_OPTIONS, *roots, str(file)], [nbval.plugin, collector])
    if status is not pytest.ExitCode.OK:
        raise RuntimeError(f"nbval could not run it: {output.getvalue()[-_MAX_OUTPUT:]}")


class _Collector:
    """The pytest plugin that hands the notebook to nbval."""

    def __init__(self, plan: Plan, settings: RunSettings, time: SubmissionTime) -> None:
        self._plan = plan
        self._settings = settings
        self._time = time

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        file = _NotebookFile.from_parent(parent, path=file_path)
        file.plan, file.settings, file.time = self._plan, self._settings, self._time
        return file


class _NotebookFile(nbval.plugin.IPyNbFile):
    """nbval's notebook, in a watched kernel."""

    plan: Plan
    settings: RunSettings
    time: SubmissionTime

    def collect(self) -> Iterator[Any]:
        for item in super().collect():
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
        kernel, plan = self.parent.kernel, self.parent.plan
        if not plan.runs(self.cell.id):
            return
        if plan.starts_budget(self.cell.id):
            kernel.start_exercise()
        plan.record(self.cell.id, kernel.run_cell(self.cell.source))
