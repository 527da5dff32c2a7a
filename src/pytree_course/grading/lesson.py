"""A lesson prepared for grading: seed, starters and expected observations."""

import json
import secrets
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytree_course.course import LessonFiles, answer_id
from pytree_course.grading.exercise_run import KernelCourse
from pytree_course.judging.expected import BuiltLesson, ExpectedExercise, Misconception
from pytree_course.observing.observations import Observation
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources.source_cells import exercises_digest

if TYPE_CHECKING:  # the process that only judges what other ones ran does without
    from pytree_course.sources.beliefs import Beliefs
    from pytree_course.sources.lesson_sources import LessonSources


class AuthorsLesson(NamedTuple):
    """A lesson as the process that runs its author's answers knows it."""

    root: Path
    stem: str
    digest: str  # of the exercises
    seed: int  # of the cases


@cache
def right_results(lesson: AuthorsLesson, exercise: str) -> ExpectedExercise:
    """Run the right answer to an exercise, once in this process."""
    from pytree_course.sources import authors_answers

    sources = _read_once(lesson)
    return authors_answers.expect_exercise(sources, sources.exercises[exercise], lesson.seed)


def held_misconceptions(
    lesson: AuthorsLesson, exercise: str, observed: list[Observation]
) -> list[Misconception]:
    """Return the misconceptions that may explain wrong results; they run as far as need be."""
    return _beliefs(lesson, exercise).held(observed)


@cache
def _beliefs(lesson: AuthorsLesson, exercise: str) -> "Beliefs":
    from pytree_course.sources.beliefs import Beliefs

    return Beliefs(_read_once(lesson), right_results(lesson, exercise), lesson.seed)


@cache
def _read_once(lesson: AuthorsLesson) -> "LessonSources":
    from pytree_course.sources.lesson_sources import read_sources

    return read_sources(LessonFiles(lesson.root, lesson.stem))


class GradedLesson:
    """A lesson, ready to grade submissions on the cases of one seed, by default a fresh one.

    A learner's copy of the course has no folder `sources`, so no right answers: there, the cases
    are the public ones, whatever the seed. The author's answers run only when they are needed.
    """

    def __init__(
        self,
        files: LessonFiles,
        seed: int | None = None,
        pool: Executor | None = None,
    ) -> None:
        """Take a lesson's files; the author's answers run in the pool, or in this process."""
        self.files = files
        self._pool = pool
        self._begun: set[str] = set()  # exercises whose right answer runs, or has run
        self._right: dict[str, ExpectedExercise] = {}
        stored = BuiltLesson.read(files.expected)
        self.title, self.digest = stored.title, stored.sources  # of exercises and their checks
        self.points = {name: each.points for name, each in stored.graded.items()}
        self.on_public_cases = not files.sources.exists()
        self._stored = stored
        if self.on_public_cases:
            self.seed = PUBLIC_SEED
        else:
            self.seed = secrets.randbits(32) if seed is None else seed
            # Reading the sources takes long; what was built from the same sources will do.
            self.digest = exercises_digest(files)
            if self.digest != stored.sources:
                sources = _read_once(self._authors)
                self.title = sources.title
                self.points = {name: each.points for name, each in sources.graded.items()}
        self.blank = files.read_blank()  # the exercise notebook's text, as it was handed out
        cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(self.blank)["cells"]}
        self.starters = {name: cells[answer_id(name)] for name in self.points}
        self.kernel_course = KernelCourse.of(files, stored)

    def begin(self, exercises: Iterable[str]) -> None:
        """Let the pool run the right answers to exercises, while submissions run beside them."""
        for exercise in exercises:
            if self._pool and exercise not in self._begun and not self.on_public_cases:
                self._begun.add(exercise)
                self._pool.submit(right_results, self._authors, exercise)

    def right(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields; misconceptions may be missing."""
        if self.on_public_cases:
            return self._stored.expected(exercise)
        if exercise not in self._right:
            self._right[exercise] = self._call(right_results, exercise)
        return self._right[exercise]

    def explained(self, exercise: str, observed: list[Observation]) -> ExpectedExercise:
        """Return what the right answer yields, with the misconceptions to judge results by."""
        right = self.right(exercise)
        if self.on_public_cases:
            return right
        held = self._call(held_misconceptions, exercise, observed)
        return replace(right, misconceptions=held)

    def _call(self, function: Callable[..., Any], *inputs: Any) -> Any:
        if self._pool is None:
            return function(self._authors, *inputs)
        return self._pool.submit(function, self._authors, *inputs).result()

    @property
    def _authors(self) -> AuthorsLesson:
        return AuthorsLesson(self.files.root, self.files.stem, self.digest, self.seed)
