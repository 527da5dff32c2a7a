"""Runs of a class's answers, and of the author's answers that they are judged by."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Any

from pytree_course.checking.expected import ExpectedExercise
from pytree_course.classroom.pool import Pool
from pytree_course.course import LessonFiles
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.grade import failed_exercises
from pytree_course.grading.kernel_course import KernelCourse, RunSettings
from pytree_course.grading.lesson import (
    GradedLesson,
    forget_authors_runs,
    run_authors_answers,
)


@dataclass(frozen=True)
class SubmissionRun:
    """How a submission's answers ran, by exercise, and the seconds that all took."""

    exercises: dict[str, ExerciseRun]
    seconds: float


def run_submission(
    answers: dict[str, str], blank: str, course: KernelCourse, settings: RunSettings
) -> SubmissionRun:
    """Run a submission's answers in `blank`, the exercise notebook as it was handed out."""
    start = time.perf_counter()
    runs = run_answers(answers, blank, course, settings)
    return SubmissionRun(runs, time.perf_counter() - start)


def run_authors(
    files: LessonFiles, digest: str, seed: int, exercise: str, right: ExpectedExercise | None
) -> ExpectedExercise:
    """Run the right answer to an exercise; or all wrong ones, given what the right one yields."""
    try:
        return run_authors_answers(files, digest, seed, exercise, right)
    finally:
        if right is not None:
            forget_authors_runs()  # wrong answers are many; right ones share much that is compiled


@dataclass(eq=False)
class Run:
    """Answers that run once, however many students handed them in."""

    lesson: GradedLesson
    answers: dict[str, str]
    future: Future[SubmissionRun] = field(default_factory=Future)  # pending until it has its turn
    failed: list[str] | None = None  # exercises; not known before the right answers have been run


class Runs:
    """All runs of one grading, and those of the author's answers that they are judged by.

    The author's right answers to a lesson run once, and the wrong ones to each exercise that
    somebody failed: all of them in the pool `authors`.
    """

    def __init__(self, pool: Pool, authors: Pool, in_sandbox: bool) -> None:
        self._pool = pool
        self._authors = authors
        self._in_sandbox = in_sandbox
        self._alike: dict[tuple[GradedLesson, str], Run] = {}
        self._waiting: deque[Run] = deque()
        self._begun: list[Run] = []
        self._of_authors: dict[tuple[GradedLesson, str, bool], Future[ExpectedExercise]] = {}

    def add(self, lesson: GradedLesson, digest: str, answers: dict[str, str]) -> Run:
        """Have answers with this digest run when there is room in the pool; equal ones run once."""
        if (lesson, digest) not in self._alike:
            self._alike[lesson, digest] = Run(lesson, answers)
            self._waiting.append(self._alike[lesson, digest])
            self._fill_pool()
        return self._alike[lesson, digest]

    def finished(self) -> Iterator[Run]:
        """Yield each run as soon as it can be judged, or never can be; no more can be added."""
        self._alike.clear()  # what they reported may be large: nothing keeps it once it is judged
        while self._begun or self._waiting:
            self._fill_pool()
            unfinished: set[Future[Any]] = set()
            for run in [*self._begun]:
                try:
                    needed = self._needed(run)
                except Exception as error:  # what it reported is untrusted
                    run.future, needed = Future(), []
                    run.future.set_exception(error)  # so it cannot be judged
                unfinished.update(needed)
                if not needed:
                    self._begun.remove(run)
                    yield run
            wait(unfinished, return_when=FIRST_COMPLETED)

    def _fill_pool(self) -> None:
        """Submit no more than keeps the pool busy, so that the author's answers wait for few."""
        room = self._pool.at_once - sum(not run.future.done() for run in self._begun)
        for _ in range(min(room, len(self._waiting))):
            run = self._waiting[0]
            lesson = run.lesson
            settings = RunSettings(lesson.seed, self._in_sandbox)
            run.future = self._pool.executor.submit(
                run_submission, run.answers, lesson.blank, lesson.kernel_course, settings
            )
            self._waiting.popleft()
            self._begun.append(run)

    def _needed(self, run: Run) -> list[Future[Any]]:
        """Return what is not done of all that a run is judged by."""
        unfinished = self._unfinished_of_author(run.lesson, run.lesson.points, explained=False)
        if not run.future.done():
            return [*unfinished, run.future]
        if unfinished:
            return unfinished
        if run.failed is None:
            run.failed = failed_exercises(run.lesson, run.future.result().exercises)
        return self._unfinished_of_author(run.lesson, run.failed, explained=True)

    def _unfinished_of_author(
        self, lesson: GradedLesson, exercises: Iterable[str], *, explained: bool
    ) -> list[Future[Any]]:
        """Have the author's answers run once; return what is not done. The lesson keeps what is.

        These are the right answers to these exercises; or the wrong ones, where `explained`.
        """
        unfinished = []
        for name in exercises:
            if lesson.has(name, explained=explained):
                continue
            key = lesson, name, explained
            if key not in self._of_authors:
                files = LessonFiles(lesson.files.root, lesson.files.stem)
                right = lesson.right(name) if explained else None
                self._of_authors[key] = self._authors.executor.submit(
                    run_authors, files, lesson.digest, lesson.seed, name, right
                )
            if self._of_authors[key].done():
                lesson.keep(self._of_authors[key].result(), explained=explained)
            else:
                unfinished.append(self._of_authors[key])
        return unfinished
