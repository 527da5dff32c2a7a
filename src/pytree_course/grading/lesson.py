"""All that grading needs of one lesson, made once for many submissions."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import nbformat

from pytree_course.authoring.reference import expect
from pytree_course.authoring.rendering import answer_id
from pytree_course.authoring.sources import read_sources
from pytree_course.checking.expected import Expected
from pytree_course.checking.running import PUBLIC_SEED
from pytree_course.grading.runtime import CheckRuntime
from pytree_course.layout import LessonFiles


@dataclass(frozen=True)
class GradedLesson:
    """A lesson, ready to grade submissions on the cases of one seed.

    Attributes
    ----------
    seed
        What the cases are drawn from; `PUBLIC_SEED` where this copy has no right answers.
    checks
        Digest of its exercises and checks.
    points
        Points of each exercise.
    blank
        The exercise notebook as it was handed out.
    starters
        Source of each answer cell in it, by exercise.
    runtime
        What a learner's kernel needs of the lesson.
    """

    seed: int
    checks: str
    points: dict[str, int]
    blank: str
    starters: dict[str, str]
    runtime: CheckRuntime
    _run_answers: Callable[[], Expected]

    @cached_property
    def expected(self) -> Expected:
        """What the right answers yield on the cases; they run when this is asked for first."""
        return self._run_answers()

    @classmethod
    def prepare(cls, files: LessonFiles, seed: int | None = None) -> "GradedLesson":
        """Choose fresh cases.

        Learners have no right answers: without the folder `sources`, the cases are the public ones.

        Parameters
        ----------
        files
            The lesson.
        seed
            Draws the cases; a fresh one when not given.
        """
        run_answers: Callable[[], Expected]
        if files.sources.exists():
            seed = secrets.randbits(32) if seed is None else seed
            sources = read_sources(files)
            checks = sources.exercises_digest
            points = {name: exercise.points for name, exercise in sources.exercises.items()}
            run_answers = partial(expect, sources, seed)
        else:
            stored = Expected.read(files.expected)
            seed, checks = PUBLIC_SEED, stored.sources
            points = {name: exercise.points for name, exercise in stored.exercises.items()}
            run_answers = partial(Expected.read, files.expected)
        blank = files.read_blank()
        cells = {cell.id: cell.source for cell in nbformat.reads(blank, as_version=4).cells}
        return cls(
            seed=seed,
            checks=checks,
            points=points,
            blank=blank,
            starters={name: cells[answer_id(name)] for name in points},
            runtime=CheckRuntime.of(files),
            _run_answers=run_answers,
        )
