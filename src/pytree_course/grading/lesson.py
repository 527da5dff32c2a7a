"""All that grading needs of one lesson, made once for many submissions."""

import secrets
from dataclasses import dataclass

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
    expected
        What the right answers yield on them.
    blank
        The exercise notebook as it was handed out.
    starters
        Source of each answer cell in it, by exercise.
    runtime
        What a learner's kernel needs of the lesson.
    """

    seed: int
    expected: Expected
    blank: str
    starters: dict[str, str]
    runtime: CheckRuntime

    @classmethod
    def prepare(cls, files: LessonFiles, seed: int | None = None) -> "GradedLesson":
        """Draw fresh cases, and run the right answers on them.

        Learners have no right answers: without the folder `sources`, the cases are the public ones.

        Parameters
        ----------
        files
            The lesson.
        seed
            Draws the cases; a fresh one when not given.
        """
        if files.sources.exists():
            seed = secrets.randbits(32) if seed is None else seed
            expected = expect(read_sources(files), seed)
        else:
            seed, expected = PUBLIC_SEED, Expected.read(files.expected)
        blank = files.read_blank()
        cells = {cell.id: cell.source for cell in nbformat.reads(blank, as_version=4).cells}
        starters = {name: cells[answer_id(name)] for name in expected.exercises}
        return cls(seed, expected, blank, starters, CheckRuntime.of(files))
