"""Run a notebook with nbval, in a kernel of its own, and collect what its checks report.

nbval collects the cells and drives the kernel. What passes and fails for nbval does not matter:
the outcomes that the check cells report are judged elsewhere, by `pytree_course.checking`.
"""

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbval.kernel import CURRENT_ENV_KERNEL_NAME, RunningKernel, start_new_kernel
from nbval.plugin import IPyNbFile

from pytree_course.checking.notebook import OUTCOMES_MIME, SEED_VARIABLE
from pytree_course.checking.running import Outcome
from pytree_course.layout import COURSE_VARIABLE, Course

CELL_TIMEOUT = 30.0  # seconds
STARTUP_TIMEOUT = 60.0  # seconds
ALIVE_CHECK = 0.5  # seconds between two looks at whether the kernel still lives

_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass
class CellRun:
    """How one cell ran.

    Attributes
    ----------
    outcomes
        What its check reported, if it is a check cell that came to its end.
    error
        Type and message of the exception that ended it.
    """

    outcomes: list[Outcome] | None = None
    error: tuple[str, str] | None = None
    timed_out: bool = False


@dataclass
class NotebookRun:
    """How the cells of a notebook ran, by cell id.

    Attributes
    ----------
    kernel_died
        Whether the kernel was gone before all cells had their turn.
    """

    cells: dict[str, CellRun] = field(default_factory=dict)
    kernel_died: bool = False

    def cell(self, cell_id: str) -> CellRun:
        """Return how a cell ran; one that is not there did not run."""
        return self.cells.get(cell_id, CellRun())


def run_notebook(
    notebook: NotebookNode, course: Course, seed: int, cell_timeout: float = CELL_TIMEOUT
) -> NotebookRun:
    """Run a notebook's code cells in order, in a fresh kernel, on the cases of a seed.

    A cell that fails does not stop the ones after it. A kernel that dies is noticed at once.

    Parameters
    ----------
    notebook
        The notebook; it is written to a temporary folder and runs there.
    course
        Where the kernel finds the check scripts.
    seed
        The checks' cases are drawn from it.
    cell_timeout
        Seconds that a cell may take.
    """
    collected = NotebookRun()
    with tempfile.TemporaryDirectory(prefix="pytree-course-") as folder:
        file = Path(folder) / "submission.ipynb"
        file.write_text(nbformat.writes(notebook), encoding="utf-8")
        environment = {
            **os.environ,
            COURSE_VARIABLE: str(course.root),
            SEED_VARIABLE: str(seed),
            "IPYTHONDIR": str(Path(folder) / "ipython"),  # nobody's personal start-up files
        }
        arguments = [
            *("--disable-plugin-autoload", "-p", "nbval.plugin", "-p", "no:cacheprovider"),
            *("--noconftest", "-c", os.devnull, "--rootdir", folder, "--color", "no"),
            *(f"--nbval-cell-timeout={cell_timeout}", str(file)),
        ]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = pytest.main(arguments, plugins=[_Collector(collected, environment)])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise RuntimeError(f"nbval could not run the notebook:\n{output.getvalue()}")
    return collected


class _WatchedKernel(RunningKernel):
    """nbval's kernel, with an environment of our choice, and watched: its death ends the wait."""

    def __init__(self, cwd: str, environment: dict[str, str]) -> None:
        with open(os.devnull, "w") as nowhere:
            self.km, self.kc = start_new_kernel(
                startup_timeout=STARTUP_TIMEOUT,
                kernel_name=CURRENT_ENV_KERNEL_NAME,
                stderr=nowhere,
                cwd=cwd,
                env=environment,
            )
        self._ensure_iopub_up()

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        waited = 0.0
        while True:
            left = ALIVE_CHECK if timeout is None else min(ALIVE_CHECK, timeout - waited)
            try:
                return super().get_message(stream, timeout=max(left, 0.0))
            except Empty:
                waited += ALIVE_CHECK
                if not self.is_alive():
                    raise KernelDiedError from None
                if timeout is not None and waited >= timeout:
                    raise


class KernelDiedError(RuntimeError):
    """The kernel's process ended."""


class _NotebookFile(IPyNbFile):
    """nbval's notebook, run in a watched kernel; it compares no outputs."""

    environment: dict[str, str]

    def setup(self) -> None:
        self.compare_outputs = False
        self.kernel = _WatchedKernel(str(self.path.parent), self.environment)


class _Collector:
    """The pytest plugin that hands the notebook to nbval and keeps what its cells yield."""

    def __init__(self, collected: NotebookRun, environment: dict[str, str]) -> None:
        self.collected = collected
        self.environment = environment

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        if file_path.suffix != ".ipynb":
            return None
        file = _NotebookFile.from_parent(parent, path=file_path)
        file.environment = self.environment
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
        try:
            return (yield)
        finally:
            run.timed_out = item.parent.timed_out
            self.collected.kernel_died |= not kernel.is_alive()
            for output in item.test_outputs or ():
                if output.output_type == "error":
                    run.error = (str(output.ename), _ANSI.sub("", str(output.evalue)))
                elif OUTCOMES_MIME in output.get("data", {}):
                    run.outcomes = _outcomes(output.data[OUTCOMES_MIME])


def _outcomes(data: Any) -> list[Outcome] | None:
    """Read what a check reported; None when it is not what a check reports."""
    try:
        return [Outcome.from_json(each) for each in _items(data)]
    except ValueError:
        return None


def _items(data: Any) -> Iterator[Any]:
    if not isinstance(data, list):
        raise ValueError("not a list of outcomes")
    yield from data
