"""What grading needs of one lesson, made once for many submissions."""

import json
import secrets
import warnings
from copy import copy
from functools import lru_cache
from pathlib import Path

from pytree_course.authoring.authors_answers import expect_exercise, with_misconceptions
from pytree_course.authoring.sources import LessonSources, read_sources
from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.outcomes import PUBLIC_SEED
from pytree_course.course import LessonFiles, answer_id
from pytree_course.grading.kernel_course import KernelCourse


class GradedLesson:
    """A lesson, ready to grade submissions on the cases of one seed, a fresh one if not given.

    A learner's copy of the course has no folder `sources`, so no right answers: there, the cases
    are the public ones, whatever the seed. The author's answers run only when they are needed.

    Attributes
    ----------
    digest
        Of the exercises and their checks.
    blank
        The text of the exercise notebook as it was handed out.
    starters
        Source of each answer cell in it, by exercise.
    """

    def __init__(self, files: LessonFiles, seed: int | None = None) -> None:
        self.files = files
        self._sources = read_sources(files) if files.sources.exists() else None
        self._right: dict[str, ExpectedExercise] = {}
        self._explained: dict[str, ExpectedExercise] = {}
        if self._sources is not None:
            self.seed = secrets.randbits(32) if seed is None else seed
            self.title, self.digest = self._sources.title, self._sources.exercises_digest
            self.points = {name: each.points for name, each in self._sources.exercises.items()}
        else:
            stored = Expected.read(files.expected)
            self.seed = PUBLIC_SEED
            self.title, self.digest = stored.title, stored.sources
            self.points = {name: each.points for name, each in stored.exercises.items()}
            self._right = self._explained = stored.exercises
        self.blank = files.read_blank()
        cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(self.blank)["cells"]}
        self.starters = {name: cells[answer_id(name)] for name in self.points}
        self.kernel_course = KernelCourse.of(files)

    def on_cases_of(self, seed: int) -> "GradedLesson":
        """Return the same lesson on the cases of another seed."""
        if self._sources is None:
            return self
        other = copy(self)
        other.seed, other._right, other._explained = seed, {}, {}
        return other

    def has(self, exercise: str, *, explained: bool) -> bool:
        """Say whether the right answer has been run; or, with `explained`, all others too."""
        return exercise in (self._explained if explained else self._right)

    def keep(self, expected: ExpectedExercise, *, explained: bool) -> None:
        """Keep what answers yielded that were run elsewhere."""
        (self._explained if explained else self._right)[expected.name] = expected

    def right(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields; misconceptions may be missing."""
        if exercise not in self._right and self._sources is not None:
            self._right[exercise] = expect_exercise(
                self._sources, self._sources.exercises[exercise], self.seed
            )
        return self._right[exercise]

    def explained(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer and every misconception yield."""
        if exercise not in self._explained and self._sources is not None:
            self._explained[exercise] = with_misconceptions(
                self.right(exercise), self._sources, self.seed
            )
        return self._explained[exercise]


def run_authors_answers(
    files: LessonFiles, digest: str, seed: int, exercise: str, right: ExpectedExercise | None
) -> ExpectedExercise:
    """Run the right answer to an exercise; or all wrong ones, given what the right one yields.

    The lesson is read once for each digest of its exercises.
    """
    sources = _sources_once(files.root, files.stem, digest)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # wrong answers may well raise some
        if right is None:
            return expect_exercise(sources, sources.exercises[exercise], seed)
        return with_misconceptions(right, sources, seed)


@lru_cache(maxsize=8)
def _sources_once(root: Path, stem: str, digest: str) -> LessonSources:
    return read_sources(LessonFiles(root, stem))
