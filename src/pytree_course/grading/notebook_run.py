"""Run a notebook with nbval, in a fresh kernel, and collect the outcomes that its checks report.

nbval collects the cells and drives the kernel. What passes and fails for nbval does not matter:
the outcomes are judged elsewhere, by `pytree_course.checking`.
"""

import contextlib
import io
import os
import re
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbFile

from pytree_course.checking.outcomes import OUTCOMES_MIME, SEED_VARIABLE, Outcome
from pytree_course.grading import limits
from pytree_course.grading.kernel_course import KernelCourse
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.grading.private_folder import private_folder

_NBVAL_OPTIONS = (
    *("--disable-plugin-autoload", "-p", "nbval.plugin", "-p", "no:cacheprovider"),
    *("--quiet", "--tb", "line", "--noconftest", "-c", os.devnull),
    *("--color", "no", "--capture", "no"),
)
_LONGEST_COMPLAINT = 1_000  # characters of nbval's own words, where it fails

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ONE_AT_A_TIME = threading.Lock()  # pytest and the standard output belong to a whole process


@dataclass
class CellRun:
    """How one cell ran."""

    outcomes: list[Outcome] | None = None  # of a check cell that came to its end
    error: tuple[str, str] | None = None  # type and message of the exception that ended it
    timed_out: bool = False
    flooded: bool = False  # it came to its end, but there was too much output to receive
    seconds: float = 0.0

    @property
    def is_silent(self) -> bool:
        """Whether its kernel ended, or had no memory left to report what went wrong."""
        return self.outcomes is None and self.error is None and not self.timed_out

    @property
    def disturbs(self) -> bool:
        """Whether its kernel may be unfit for the cells after it."""
        errors = [self.error[0]] if self.error else []
        errors += [str(outcome.observation.get("type")) for outcome in self.outcomes or ()]
        return self.timed_out or self.flooded or "MemoryError" in errors


@dataclass
class NotebookRun:
    """How the cells of a notebook ran, by cell id."""

    cells: dict[str, CellRun] = field(default_factory=dict)
    kernel_died: bool = False  # before all cells had their turn

    def cell(self, cell_id: str) -> CellRun:
        """Return how a cell ran; one that is not there did not run."""
        return self.cells.get(cell_id, CellRun())


@dataclass(frozen=True)
class RunSettings:
    """How to run a notebook: the seed of its cases, where, and the seconds that a cell may take."""

    seed: int
    in_sandbox: bool
    cell_timeout: float = limits.CELL_SECONDS


def run_notebook(
    notebook: NotebookNode, course: KernelCourse, settings: RunSettings
) -> NotebookRun:
    """Run a notebook's code cells in order, in a fresh kernel; a failed cell does not stop it.

    A RuntimeError says that it could not be run at all, which is not the notebook's fault.
    """
    collected = NotebookRun()
    with private_folder() as folder, _ONE_AT_A_TIME:
        course.write(folder / "course")
        file = folder / "submission.ipynb"
        file.write_text(nbformat.writes(notebook), encoding="utf-8")
        variables = {SEED_VARIABLE: str(settings.seed)}
        new_kernel = partial(
            WatchedKernel, folder, folder / "course", variables, settings.in_sandbox
        )
        limit = f"--nbval-cell-timeout={settings.cell_timeout}"
        arguments = ["--rootdir", str(folder), limit, str(file)]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            plugins = [_Collector(collected, new_kernel)]
            status = pytest.main([*_NBVAL_OPTIONS, *arguments], plugins=plugins)
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not collected.cells:
        raise RuntimeError(f"nbval could not run it: {output.getvalue()[-_LONGEST_COMPLAINT:]}")
    return collected


class _NotebookFile(IPyNbFile):
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

    def __init__(self, collected: NotebookRun, new_kernel: Callable[[], WatchedKernel]) -> None:
        self.collected = collected
        self.new_kernel = new_kernel

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        file = _NotebookFile.from_parent(parent, path=file_path)
        file.new_kernel = self.new_kernel
        return file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: Any) -> Generator[None, object, object]:
        run = self.collected.cells[item.cell.id] = CellRun()
        kernel = item.parent.kernel
        if not kernel.is_alive():
            self.collected.kernel_died = True
            pytest.skip("the kernel is gone")
        item.options["check"] = False
        item.parent.timed_out = False
        kernel.interrupted = False
        start = time.perf_counter()
        try:
            return (yield)
        finally:
            run.seconds = time.perf_counter() - start
            run.timed_out = item.parent.timed_out and kernel.interrupted
            run.flooded = item.parent.timed_out and not kernel.interrupted
            self.collected.kernel_died |= not kernel.is_alive()
            for output in item.test_outputs or ():
                if output.output_type == "error":
                    run.error = (str(output.ename), _ANSI.sub("", str(output.evalue)))
                elif OUTCOMES_MIME in output.get("data", {}):
                    run.outcomes = _outcomes(output.data[OUTCOMES_MIME])


def _outcomes(data: Any) -> list[Outcome] | None:
    """Read what a check reported; None when it is forged: the data is untrusted."""
    try:
        return [Outcome.from_json(each) for each in data] if isinstance(data, list) else None
    except ValueError:
        return None
