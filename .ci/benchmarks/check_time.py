"""How long a check takes beyond the learner's own code: python .ci/benchmarks/check_time.py

A check's time is that of a whole `check.NAME(NAME)` as a notebook runs it, verdict, pictures and
buttons included, less the time inside the calls of the learner's answer in the same run. Making the
cases counts as the check's. It is processor time: on a busy machine too, it is the check's own.

Every exercise has a process of its own, as a notebook has a kernel: there the right answer is
checked first, when files are read and templates compiled, and then again and again. Then some wrong
answers are checked twice. The one with the slowest second check is timed as the right one was, in
another fresh process.

Numbers of lessons choose among them.
"""

import argparse
import contextlib
import functools
import io
import multiprocessing
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from IPython.core.interactiveshell import InteractiveShell

from class_time import described_machine
from pytree_course.cases.case import Case, Check
from pytree_course.course import PROGRESS_VARIABLE, Course
from pytree_course.notebook.checks import Checks
from pytree_course.sources.exercises import Answer, Exercise
from pytree_course.sources.lesson_sources import LessonSources, read_sources

REPEATS = 9
MAX_WRONG = 8  # wrong answers of an exercise, or a few more
PATIENCE = 600  # seconds for all answers of an exercise
TARGET = 30  # milliseconds, of the median


@functools.cache
def sources_of(root: Path, stem: str) -> LessonSources:
    """Read a lesson's sources; processes that are forked later have read them."""
    return read_sources(Course(root).lesson(stem))


class OwnCode:
    """Measures how long the calls of a learner's answer take, in seconds of the processor."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def within(self, check: Check) -> Check:
        """Return a check whose cases are measured when they are called."""

        def measured(*answers: Any, rng: np.random.Generator) -> Iterator[Case]:
            for case in check(*answers, rng=rng):
                case.call = self._measured(case.call)
                yield case

        return measured

    def _measured(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*inputs: Any) -> Any:
            start = time.process_time()
            try:
                return call(*inputs)
            finally:
                self.seconds += time.process_time() - start

        return called


def check_once(shell: InteractiveShell, exercise: Exercise) -> float:
    """Run an exercise's check cell; return milliseconds beyond the answer's own code."""
    check: Checks = shell.user_ns["check"]
    checker, own = getattr(check, exercise.name), OwnCode()
    checker._check = own.within(checker._check)
    start = time.process_time()
    checker(*(shell.user_ns[name] for name in exercise.answers))
    return 1000 * (time.process_time() - start - own.seconds)


def check_repeatedly(
    root: Path, stem: str, name: str, answers: dict[str, int]
) -> dict[str, list[float]]:
    """Check an exercise's answers, one after the other, each as often as `answers` says.

    Called in a process of its own. "" is the right answer; others are misconceptions' names.
    """
    os.chdir(root / "exercises")
    os.environ[PROGRESS_VARIABLE] = str(root)
    exercise = sources_of(root, stem).exercises[name]
    by_name: dict[str, Answer] = {each.name: each for each in exercise.misconceptions}
    shell, times = InteractiveShell.instance(), {}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        shell.run_cell(exercise.setup).raise_error()
        for answer, count in answers.items():
            source = by_name[answer].source if answer else exercise.solution.source
            shell.run_cell(source).raise_error()
            times[answer] = [check_once(shell, exercise) for _ in range(count)]
    return times


def measure(root: Path, stem: str, exercise: Exercise, repeats: int) -> dict[str, Any]:
    """Return what was measured of an exercise, in milliseconds."""
    every = max(1, len(exercise.misconceptions) // MAX_WRONG)
    wrong = {each.name: 2 for each in exercise.misconceptions[::every]}
    times = _in_a_fresh_process(root, stem, exercise.name, {"": 1 + repeats} | wrong)
    slowest = max(wrong, key=lambda name: times[name][1])
    times |= _in_a_fresh_process(root, stem, exercise.name, {slowest: 1 + repeats})

    def measured(name: str) -> dict[str, float]:
        first, *others = times[name]
        return {"first": round(first, 1), "median": round(statistics.median(others), 1)}

    return {
        "lesson": stem,
        "exercise": exercise.name,
        "right": measured(""),
        "wrong": {"name": slowest} | measured(slowest),
    }


def _in_a_fresh_process(*arguments: Any) -> dict[str, list[float]]:
    """Call `check_repeatedly` in a process that has imported everything, and computed nothing."""
    # JAX has not started yet, so that it can be forked.
    can_fork = "fork" in multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("fork" if can_fork else "spawn")
    with ProcessPoolExecutor(1, context) as process:
        return process.submit(check_repeatedly, *arguments).result(PATIENCE)


def markdown(results: list[dict[str, Any]]) -> str:
    """Return a table of results in Markdown: a row for each lesson, and its slowest exercises."""
    lines = [
        "| milliseconds | right, first | right, then | wrong, first | wrong, then | slowest |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for lesson in dict.fromkeys(each["lesson"] for each in results):
        ours = [each for each in results if each["lesson"] == lesson]
        middles = [
            f"{statistics.median(each[kind][when] for each in ours):.0f}"
            for kind in ("right", "wrong")
            for when in ("first", "median")
        ]
        slowest = max(ours, key=_median)
        last = f"{_median(slowest):.0f}, `{slowest['exercise']}`"
        lines.append(f"| {' | '.join([lesson, *middles, last])} |")
    return "\n".join(lines)


def _median(result: dict[str, Any]) -> float:
    return max(float(result[kind]["median"]) for kind in ("right", "wrong"))


def main() -> None:
    """Measure, and print a row for each exercise and a table of the lessons."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("lessons", nargs="*", help="such as 1; all, if none is named")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="of each answer's check")
    wanted = parser.parse_args()
    course, results = Course.of_notebook(), []
    machine = described_machine(course.root)
    lessons = [course.lesson_named(each) for each in wanted.lessons] or course.lessons()
    print(f"{'milliseconds beyond the own code':<34} right: first median   wrong: first median")
    with tempfile.TemporaryDirectory() as folder:
        # A copy, so that nothing is added to a learner's progress.
        root = Path(folder) / "course"
        for part in ("sources", "checks", "solutions"):
            shutil.copytree(course.root / part, root / part)
        (root / "exercises").mkdir()
        for files in lessons:
            for exercise in sources_of(root, files.stem).exercises.values():
                result = measure(root, files.stem, exercise, wanted.repeats)
                right, wrong = result["right"], result["wrong"]
                print(
                    f"{files.stem:<16} {exercise.name:<22}"
                    f"{right['first']:8.1f} {right['median']:6.1f}"
                    f"{wrong['first']:15.1f} {wrong['median']:6.1f}  {wrong['name']}",
                    flush=True,
                )
                results.append(result)
    print(f"\n{machine}\n\n{markdown(results)}\n\nThe target is {TARGET} ms.")


if __name__ == "__main__":
    main()
