"""Run a notebook with nbval, in a fresh kernel, and collect the outcomes that its checks report.

nbval collects the cells and drives the kernel. Whether a cell passes for nbval does not matter: the
outcomes are judged elsewhere, by `pytree_course.judging`.
"""

import contextlib
import io
import json
import os
import threading
from collections.abc import Collection, Generator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbval.plugin
import pytest

from pytree_course.built import answer_id, check_id
from pytree_course.grading.budget import SubmissionTime
from pytree_course.grading.cell_run import CellEnd, CellRun, RunSettings, again_id
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.running.outcomes import CHECKS_VARIABLE, PUBLIC_SEED, SEED_VARIABLE

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
_ON_PUBLIC_CASES = f"{CHECKS_VARIABLE}.seed_of_grading = {PUBLIC_SEED}\n"
_MAX_OUTPUT = 1_000  # characters of nbval's output that are shown if it fails

_ONE_AT_A_TIME = threading.Lock()  # pytest and the standard output are one for a whole process


def run_notebook(
    notebook: dict[str, Any],
    exercises: Collection[str],
    settings: RunSettings,
    time: SubmissionTime,
) -> dict[str, CellRun]:
    """Run a notebook's code cells in order, in a fresh kernel; a failed cell does not stop it.

    Each of `exercises` has a budget of its own; `time` counts for all of them. After the last cell,
    those with a wrong answer run once more with their checks, on the public cases, and share one
    budget: nothing that happens then changes a mark.

    Return how each cell ran, by its id. A kernel that is unfit for more cells is ended, and the
    other cells are not run. A RuntimeError says that the notebook could not be run at all, which is
    not the learner's fault.
    """
    temporary = TemporaryDirectory(prefix="pytree-course-grading-", ignore_cleanup_errors=True)
    with temporary as folder, _ONE_AT_A_TIME:
        file = Path(folder) / "submission.ipynb"
        # A lone surrogate is valid in JSON and in a Python string, but has no UTF-8 encoding.
        file.write_bytes(json.dumps(notebook, ensure_ascii=False).encode("utf-8", "replace"))
        collector = _Collector(exercises, settings, time)
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            # Without --confcutdir, pytest lists the parent folder too.
            roots = ("--rootdir", folder, "--confcutdir", folder)
            status = pytest.main([*_PYTEST_OPTIONS, *roots, str(file)], [nbval.plugin, collector])
    has_run = status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if not has_run or not collector.cells:
        raise RuntimeError(f"nbval could not run it: {output.getvalue()[-_MAX_OUTPUT:]}")
    return collector.cells


class _NotebookFile(nbval.plugin.IPyNbFile):
    """nbval's notebook, run in a watched kernel; it compares no outputs."""

    settings: RunSettings
    time: SubmissionTime

    def setup(self) -> None:
        self.compare_outputs = False
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


class _Collector:
    """The pytest plugin that hands the notebook to nbval and collects how its cells run."""

    def __init__(
        self, exercises: Collection[str], settings: RunSettings, time: SubmissionTime
    ) -> None:
        self._settings = settings
        self._time = time
        self.cells: dict[str, CellRun] = {}
        self._sources: dict[str, str] = {}  # of the cells that have run
        self._exercises = exercises
        self._answers = {answer_id(exercise) for exercise in exercises}
        self._checks = {check_id(exercise) for exercise in exercises}
        self._has_ended = False

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        file = _NotebookFile.from_parent(parent, path=file_path)
        file.settings, file.time = self._settings, self._time
        return file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, object, object]:
        if self._has_ended:
            pytest.skip("the kernel has ended")
        kernel, cell = item.parent.kernel, item.cell
        if cell.id in self._answers:
            kernel.start_exercise()
        item.options.clear()  # nbval reads them from comments, such as "# NBVAL_SKIP" in an answer
        try:
            return (yield)
        finally:
            self.cells[cell.id] = kernel.last_run
            self._sources[cell.id] = cell.source
            if not self._leaves_kernel_fit(cell.id):
                self._has_ended = True
                kernel.stop()

    def _leaves_kernel_fit(self, cell_id: str) -> bool:
        """Return whether the kernel may run more cells after this one."""
        run = self.cells[cell_id]
        if run.end is not CellEnd.FINISHED or run.has_memory_error:
            return False
        return run.has_result or cell_id not in self._checks

    @pytest.hookimpl(tryfirst=True)  # before pytest calls the notebook's `teardown`
    def pytest_runtest_teardown(self, item: Any, nextitem: Any) -> None:
        if nextitem is None:  # after the last cell
            self._run_wrong_answers_again(item.parent.kernel)

    def _run_wrong_answers_again(self, kernel: WatchedKernel) -> None:
        """Run wrong answers with their checks on the public cases, while the kernel lives."""
        kernel.start_exercise()
        for exercise in self._exercises:
            check_run = self.cells.get(check_id(exercise), CellRun())
            if not self._settings.is_wrong(exercise, check_run):
                continue
            answer = self._sources[answer_id(exercise)]
            check = self._sources[check_id(exercise)]
            # The answer runs too: a later one may have defined a function of the same name. If it
            # ends the kernel, its run is kept as the check's, and `run_answers` repeats neither.
            for source in (answer, _ON_PUBLIC_CASES + check):
                if not kernel.is_alive():
                    return
                self.cells[again_id(exercise)] = kernel.run_cell(source)
