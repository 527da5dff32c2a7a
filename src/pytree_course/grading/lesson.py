"""All that grading needs of one lesson, made once for many submissions."""

import secrets

import nbformat

from pytree_course.authoring.authors_answers import expect_exercise, with_misconceptions
from pytree_course.authoring.sources import read_sources
from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.outcomes import PUBLIC_SEED
from pytree_course.course import LessonFiles, answer_id
from pytree_course.grading.runtime import CheckRuntime


class GradedLesson:
    """A lesson, ready to grade submissions on the cases of one seed.

    Learners have no right answers: without the folder `sources`, the cases are the public ones.
    Where there are right answers, each runs when it is needed first, and so do wrong ones.

    Parameters
    ----------
    files
        The lesson.
    seed
        Draws the cases; a fresh one when not given.

    Attributes
    ----------
    title
        What the lesson is called.
    seed
        What the cases are drawn from; `PUBLIC_SEED` where this copy has no right answers.
    checks
        Digest of the exercises and checks.
    points
        Points of each exercise.
    blank
        The exercise notebook as it was handed out.
    starters
        Source of each answer cell in it, by exercise.
    runtime
        What a learner's kernel needs of the lesson.
    """

    def __init__(self, files: LessonFiles, seed: int | None = None) -> None:
        self._sources = read_sources(files) if files.sources.exists() else None
        self._right: dict[str, ExpectedExercise] = {}
        self._explained: dict[str, ExpectedExercise] = {}
        if self._sources is not None:
            self.seed = secrets.randbits(32) if seed is None else seed
            self.title, self.checks = self._sources.title, self._sources.exercises_digest
            self.points = {name: each.points for name, each in self._sources.exercises.items()}
        else:
            stored = Expected.read(files.expected)
            self.seed = PUBLIC_SEED
            self.title, self.checks = stored.title, stored.sources
            self.points = {name: each.points for name, each in stored.exercises.items()}
            self._right = self._explained = stored.exercises
        self.blank = files.read_blank()
        cells = {cell.id: cell.source for cell in nbformat.reads(self.blank, as_version=4).cells}
        self.starters = {name: cells[answer_id(name)] for name in self.points}
        self.runtime = CheckRuntime.of(files)

    def right(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields; here, misconceptions may be missing."""
        if exercise not in self._right and self._sources is not None:
            self._right[exercise] = expect_exercise(
                self._sources, self._sources.exercises[exercise], self.seed
            )
        return self._right[exercise]

    def explained(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields, and what every misconception does."""
        if exercise not in self._explained and self._sources is not None:
            self._explained[exercise] = with_misconceptions(
                self.right(exercise), self._sources, self.seed
            )
        return self._explained[exercise]
