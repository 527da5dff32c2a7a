"""Run a notebook with nbval, in a fresh kernel, and collect the outcomes that its checks report.

nbval collects the cells and drives the kernel. What passes and fails for nbval does not matter:
the outcomes are judged elsewhere, by `pytree_course.judging`.
"""

import contextlib
import io
import json
import os
import threading
from collections.abc import Callable, Collection, Generator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbval.plugin
import pytest

from pytree_course.built import answer_id, check_id
from pytree_course.grading.budget import SubmissionBudget
from pytree_course.grading.exercise_run import CellRun, RunSettings, again_id
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.running.outcomes import CHECKS_VARIABLE, PUBLIC_SEED, SEED_VARIABLE

# pytest's own plugins that no notebook needs. Two of them start a full garbage collection after
# every notebook, which takes a third of a second where JAX is loaded.
_UNUSED_PLUGINS = (
    *("unraisableexception", "threadexception", "cacheprovider", "logging", "warnings"),
    *("faulthandler", "assertion", "doctest", "unittest", "junitxml", "monkeypatch", "tmpdir"),
    *("recwarn", "subtests", "stepwise", "setuponly", "setupplan", "pastebin"),
)
_NBVAL_OPTIONS = (
    "--disable-plugin-autoload",
    *(option for name in _UNUSED_PLUGINS for option in ("-p", f"no:{name}")),
    *("--quiet", "--tb=line", "--noconftest", "--color=no", "--capture=no", "-c", os.devnull),
)
_ON_PUBLIC_CASES = f"{CHECKS_VARIABLE}.seed_of_grading = {PUBLIC_SEED}\n"
_MAX_COMPLAINT = 1_000  # characters of nbval's own words, where it fails

_ONE_AT_A_TIME = threading.Lock()  # pytest and the standard output belong to a whole process


def run_notebook(
    notebook: dict[str, Any],
    exercises: Collection[str],
    settings: RunSettings,
    budget: SubmissionBudget,
) -> dict[str, CellRun]:
    """Run a notebook's code cells in order, in a fresh kernel; a failed cell does not stop it.

    After the last cell, wrong answers run once more with their checks, on the public cases: nothing
    that happens then changes a mark.

    Return how each cell ran, by its id. A kernel that is unfit for more cells is ended, and the
    other cells are not run. `exercises` are those with an answer of the learner's. A RuntimeError
    says that the notebook could not be run at all, which is not the learner's fault.
    """
    private = TemporaryDirectory(prefix="pytree-course-grading-", ignore_cleanup_errors=True)
    with private as folder_name, _ONE_AT_A_TIME:
        folder = Path(folder_name)
        file = folder / "submission.ipynb"
        # A lone surrogate is valid in JSON and in a Python string, but has no UTF-8 encoding.
        file.write_bytes(json.dumps(notebook, ensure_ascii=False).encode("utf-8", "replace"))
        variables = {SEED_VARIABLE: str(settings.seed)}
        new_kernel = partial(
            WatchedKernel, folder, settings.course, variables, settings.in_sandbox, budget
        )
        collector = _Collector(exercises, settings, budget, new_kernel)
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            # Without --confcutdir, pytest lists the parent folder too.
            roots = ("--rootdir", str(folder), "--confcutdir", str(folder))
            status = pytest.main([*_NBVAL_OPTIONS, *roots, str(file)], [nbval.plugin, collector])
    passed_or_failed = status in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    if not passed_or_failed or not collector.cells:
        raise RuntimeError(f"nbval could not run it: {output.getvalue()[-_MAX_COMPLAINT:]}")
    if collector.set_up_failed:
        raise RuntimeError("the notebook's set-up cells did not finish")
    return collector.cells


class _NotebookFile(nbval.plugin.IPyNbFile):
    """nbval's notebook, run in a watched kernel; it compares no outputs."""

    new_kernel: Callable[[], WatchedKernel]

    def setup(self) -> None:
        self.compare_outputs = False
        self.kernel = self.new_kernel()

    def teardown(self) -> None:
        if self.kernel is not None:
            self.kernel.stop()


class _Collector:
    """The pytest plugin that hands the notebook to nbval and collects how its cells run."""

    def __init__(
        self,
        exercises: Collection[str],
        settings: RunSettings,
        budget: SubmissionBudget,
        new_kernel: Callable[[], WatchedKernel],
    ) -> None:
        self._settings = settings
        self._new_kernel = new_kernel
        self._budget = budget
        self.cells: dict[str, CellRun] = {}
        self._sources: dict[str, str] = {}
        self.set_up_failed = False
        self._exercises = {answer_id(exercise): exercise for exercise in exercises}
        self._checks = set(map(check_id, exercises))
        self._answers_began = False  # from then on, all that runs may be the learner's
        self._has_ended = False

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        file = _NotebookFile.from_parent(parent, path=file_path)
        file.new_kernel = self._new_kernel
        return file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, object, object]:
        kernel = item.parent.kernel
        cell_id = item.cell.id
        if self._has_ended:
            pytest.skip("the kernel has ended")
        if cell_id in self._exercises:
            self._answers_began = True
            self._budget.start_exercise(self._exercises[cell_id])
        kernel.charges_submission = self._answers_began
        item.options.clear()  # nbval reads them from comments, such as "# NBVAL_SKIP" in an answer
        if not kernel.is_alive():
            kernel.last_run = CellRun(died=True)
            self._collect(cell_id, item.cell.source, kernel)
            pytest.skip("the kernel ended after the last cell")
        try:
            return (yield)
        finally:
            self._collect(cell_id, item.cell.source, kernel)

    def _collect(self, cell_id: str, source: str, kernel: WatchedKernel) -> None:
        run = self.cells[cell_id] = kernel.last_run
        self._sources[cell_id] = source
        is_unfit = run.is_out_of_memory or (cell_id in self._checks and run.is_silent)
        if run.is_over or run.died or is_unfit:
            self._has_ended = True
            self.set_up_failed = not self._answers_began
            kernel.stop()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: Any, nextitem: Any) -> None:
        if nextitem is None:
            self._run_wrong_answers_again(item.parent.kernel)

    def _run_wrong_answers_again(self, kernel: WatchedKernel) -> None:
        wrong = []
        for answer, exercise in self._exercises.items():
            run = self.cells.get(check_id(exercise))
            if run is not None and self._settings.is_wrong(exercise, run):
                run.is_wrong = True
                wrong.append((answer, exercise))
        for answer, exercise in wrong:
            check = check_id(exercise)
            self._budget.start_exercise(exercise)
            # The answer too: a later one may have defined a function of the same name. If it ends
            # the kernel, its run stands for the check's, which `run_answers` then does not repeat.
            for source in (self._sources[answer], _ON_PUBLIC_CASES + self._sources[check]):
                if not kernel.is_alive():
                    return
                self.cells[again_id(check)] = kernel.run_cell(source)
