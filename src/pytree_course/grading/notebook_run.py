"""Run a notebook with nbval, in a kernel of its own, and collect what its checks report.

nbval collects the cells and drives the kernel. What passes and fails for nbval does not matter:
the outcomes that the check cells report are judged elsewhere, by `pytree_course.checking`.
"""

import contextlib
import io
import os
import re
import tempfile
import threading
import time
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbval.plugin import IPyNbFile

from pytree_course.checking.outcomes import OUTCOMES_MIME, SEED_VARIABLE, Outcome
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.grading.runtime import CheckRuntime

CELL_TIMEOUT = 30.0  # seconds
MOST_REPORTED = 1_000  # characters of nbval's own words, where it fails

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_ONE_AT_A_TIME = threading.Lock()  # pytest and the standard output belong to a whole process


@dataclass
class CellRun:
    """How one cell ran.

    Attributes
    ----------
    outcomes
        What its check reported, if it is a check cell that came to its end.
    error
        Type and message of the exception that ended it.
    flooded
        Whether it came to its end, but its output did not: there was too much of it.
    """

    outcomes: list[Outcome] | None = None
    error: tuple[str, str] | None = None
    timed_out: bool = False
    flooded: bool = False
    seconds: float = 0.0


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


@dataclass(frozen=True)
class RunSettings:
    """How to run a notebook.

    Attributes
    ----------
    seed
        The checks' cases are drawn from it.
    in_sandbox
        Whether the kernel runs in the sandbox. Only one's own work may do without.
    cell_timeout
        Seconds that a cell may take.
    """

    seed: int
    in_sandbox: bool
    cell_timeout: float = CELL_TIMEOUT


def run_notebook(
    notebook: NotebookNode, runtime: CheckRuntime, settings: RunSettings
) -> NotebookRun:
    """Run a notebook's code cells in order, in a fresh kernel.

    A cell that fails does not stop the ones after it. A kernel that dies is noticed at once.

    Parameters
    ----------
    notebook
        The notebook; it is written to a temporary folder and runs there.
    runtime
        What the kernel finds of the course.
    settings
        The cases' seed, the sandbox and the time.

    Raises
    ------
    RuntimeError
        When it could not be run at all, which is not the notebook's fault.
    """
    collected = NotebookRun()
    with tempfile.TemporaryDirectory(prefix="pytree-course-") as name, _ONE_AT_A_TIME:
        folder = Path(name)
        runtime.write(folder / "course")
        file = folder / "submission.ipynb"
        file.write_text(nbformat.writes(notebook), encoding="utf-8")
        arguments = [
            *("--disable-plugin-autoload", "-p", "nbval.plugin", "-p", "no:cacheprovider"),
            *(
                "--quiet",
                "--tb",
                "line",
                "--noconftest",
                "-c",
                os.devnull,
                "--rootdir",
                name,
                "--color",
                "no",
            ),
            *("--capture", "no", f"--nbval-cell-timeout={settings.cell_timeout}", str(file)),
        ]
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            collector = _Collector(collected, folder / "course", settings)
            status = pytest.main(arguments, plugins=[collector])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) or not collected.cells:
        raise RuntimeError(f"nbval could not run it: {output.getvalue()[-MOST_REPORTED:]}")
    return collected


class _NotebookFile(IPyNbFile):
    """nbval's notebook, run in a watched kernel; it compares no outputs."""

    course: Path
    settings: RunSettings

    def setup(self) -> None:
        self.compare_outputs = False
        self.kernel = WatchedKernel(
            cwd=self.path.parent,
            course=self.course,
            environment={SEED_VARIABLE: str(self.settings.seed)},
            in_sandbox=self.settings.in_sandbox,
        )

    def teardown(self) -> None:
        if self.kernel is not None:
            self.kernel.stop()


class _Collector:
    """The pytest plugin that hands the notebook to nbval and keeps what its cells yield."""

    def __init__(self, collected: NotebookRun, course: Path, settings: RunSettings) -> None:
        self.collected = collected
        self.course = course
        self.settings = settings

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> Any:
        if file_path.suffix != ".ipynb":
            return None
        file = _NotebookFile.from_parent(parent, path=file_path)
        file.course = self.course
        file.settings = self.settings
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
    """Read what a check reported; None when it is not what a check reports."""
    if not isinstance(data, list):
        return None
    try:
        return [Outcome.from_json(each) for each in data]
    except ValueError:
        return None
