"""How long a check takes beyond the learner's own code: python benchmarks/check_time.py

A check's time is that of a whole `check.NAME(NAME)` as a notebook runs it, verdict and pictures
included, less the time that the answer itself takes on the same cases. Every exercise is timed with
its right answer and with each misconception, the first run (files read, templates compiled) apart.
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
TARGET = 0.1  # seconds


def seconds(function: Callable[[], Any]) -> float:
    """Time one call, without what it prints."""
    with contextlib.redirect_stdout(io.StringIO()):
        start = time.perf_counter()
        with contextlib.suppress(Exception):
            function()
        return time.perf_counter() - start


def answers_of(sources: LessonSources, answer: Answer, names: list[str]) -> list[Any]:
    """Run the set-up cell and an answer, and return what the check is given."""
    namespace: dict[str, Any] = {}
    exec(sources.setup, namespace)
    exec(answer.source, namespace)
    return [namespace[name] for name in names]


def run_cases(check: Check, given: list[Any]) -> None:
    """Run an answer on a check's cases, and nothing else."""
    for case in check(*given, rng=np.random.default_rng(PUBLIC_SEED)):
        with contextlib.suppress(Exception):
            case.call(*case.inputs)


def times(sources: LessonSources, exercise: Exercise, answer: Answer) -> tuple[float, ...]:
    """Return an answer's own time, the check's beyond it, and that of the first check."""
    given = answers_of(sources, answer, exercise.answers)
    check = sources.files.checks()[exercise.name]
    checker = getattr(Checks(sources.files.stem), exercise.name)
    first = seconds(partial(checker, *given))
    whole = statistics.median(seconds(partial(checker, *given)) for _ in range(REPEATS))
    own = statistics.median(seconds(partial(run_cases, check, given)) for _ in range(REPEATS))
    return own, whole - own, first - own


def main() -> None:
    """Print a table: exercise, answer, the answer's own time, the check's beyond it."""
    table = Table("Exercise", "Answer", "own code, ms", "check beyond it, ms", "first time, ms")
    slowest = slowest_first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        # A copy, so that nobody's progress is added to.
        root = Path(folder) / "course"
        for part in ("sources", "checks", "solutions"):
            shutil.copytree(Course.find().root / part, root / part)
        os.chdir(root)
        for files in Course(root).lessons():
            sources = read_sources(files)
            for exercise in sources.exercises.values():
                for answer in (exercise.solution, *exercise.misconceptions):
                    measured = times(sources, exercise, answer)
                    slowest = max(slowest, measured[1])
                    slowest_first = max(slowest_first, measured[2])
                    row = (f"{1000 * each:.1f}" for each in measured)
                    table.add_row(exercise.name, answer.name, *row)
        os.chdir("/")
    console = Console()
    console.print(table)
    console.print(
        f"Slowest: {1000 * slowest:.1f} ms beyond the answer's own code, "
        f"{1000 * slowest_first:.1f} ms the first time; the target is {1000 * TARGET:.0f} ms."
    )


if __name__ == "__main__":
    main()
