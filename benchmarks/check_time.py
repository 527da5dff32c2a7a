"""How long a check takes beyond the learner's own code: python benchmarks/check_time.py

A check's time is that of a whole `check.NAME(NAME)` as a notebook runs it, verdict and pictures
included, less the time that the answer itself takes on the same cases. Every exercise is timed with
its right answer and with each misconception; the table shows the slowest of them. In the first run
files are read and templates compiled.
"""

import contextlib
import io
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from pytree_course import Checks
from pytree_course.authoring.sources import Answer, Exercise, LessonSources, read_sources
from pytree_course.checking.cases import Check
from pytree_course.checking.outcomes import PUBLIC_SEED
from pytree_course.course import Course

REPEATS = 20
TARGET = 100  # milliseconds


def milliseconds(function: Callable[[], Any]) -> float:
    """Time one call, without what it prints."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
        start = time.perf_counter()
        function()
    return 1000 * (time.perf_counter() - start)


def answers_of(sources: LessonSources, answer: Answer, names: list[str]) -> list[Any]:
    """Run the set-up cell and an answer, and return what the check is given."""
    namespace: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):  # the set-up cell shows the progress
        exec(sources.setup, namespace)
        exec(answer.source, namespace)
    return [namespace[name] for name in names]


def run_cases(check: Check, given: list[Any]) -> None:
    """Run an answer on a check's cases, and nothing else."""
    for case in check(*given, rng=np.random.default_rng(PUBLIC_SEED)):
        with contextlib.suppress(Exception):
            case.call(*case.inputs)


def times(sources: LessonSources, exercise: Exercise, answer: Answer) -> tuple[float, float]:
    """Return a check's median and first time, beyond the answer's own."""
    given = answers_of(sources, answer, exercise.answers)
    check = sources.files.checks()[exercise.name]
    checker = getattr(Checks(sources.files.stem), exercise.name)
    first = milliseconds(partial(checker, *given))
    whole = statistics.median(milliseconds(partial(checker, *given)) for _ in range(REPEATS))
    own = statistics.median(milliseconds(partial(run_cases, check, given)) for _ in range(REPEATS))
    return whole - own, first - own


def main() -> None:
    """Print a table of all exercises."""
    table = Table("Exercise", "median, ms", "first, ms", title="Beyond the answer's own code")
    progress = Console(stderr=True).status("")
    with tempfile.TemporaryDirectory() as folder, progress as status:
        # A copy, so that nothing is added to a learner's progress.
        root = Path(folder) / "course"
        for part in ("sources", "checks", "solutions"):
            shutil.copytree(Course.find().root / part, root / part)
        os.chdir(root)
        for files in Course(root).lessons():
            sources = read_sources(files)
            for exercise in sources.exercises.values():
                status.update(f"{files.stem}: {exercise.name}")
                answers = (exercise.solution, *exercise.misconceptions)
                medians, firsts = zip(
                    *(times(sources, exercise, each) for each in answers), strict=True
                )
                table.add_row(exercise.name, f"{max(medians):.1f}", f"{max(firsts):.1f}")
        os.chdir("/")
    Console().print(table)
    print(f"The target is {TARGET} ms.")


if __name__ == "__main__":
    main()
