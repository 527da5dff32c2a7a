"""What grading needs of one lesson, made once for many submissions."""

import json
import secrets
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytree_course.authoring.source_texts import exercises_digest
from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.reported import PUBLIC_SEED
from pytree_course.course import LessonFiles, answer_id
from pytree_course.grading.kernel_course import KernelCourse

if TYPE_CHECKING:  # the process that only judges what other ones ran does without
    from pytree_course.authoring.sources import LessonSources


class GradedLesson:
    """A lesson, ready to grade submissions on the cases of one seed, by default a fresh one.

    A learner's copy of the course has no folder `sources`, so no right answers: there, the cases
    are the public ones, whatever the seed. The author's answers run only when they are needed.
    """

    def __init__(self, files: LessonFiles, seed: int | None = None) -> None:
        self.files = files
        self._right: dict[str, ExpectedExercise] = {}
        self._explained: dict[str, ExpectedExercise] = {}
        stored = Expected.read(files.expected)
        self.title, self.digest = stored.title, stored.sources  # of exercises and their checks
        self.points = {name: each.points for name, each in stored.exercises.items()}
        self.on_public_cases = not files.sources.exists()
        if self.on_public_cases:
            self.seed = PUBLIC_SEED
            self._right = self._explained = stored.exercises
        else:
            self.seed = secrets.randbits(32) if seed is None else seed
            # Reading the sources takes long; what was built from the same sources will do.
            self.digest = exercises_digest(files)
            if self.digest != stored.sources:
                sources = _read_once(files.root, files.stem, self.digest)
                self.title = sources.title
                self.points = {name: each.points for name, each in sources.exercises.items()}
        self.blank = files.read_blank()  # the exercise notebook's text, as it was handed out
        cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(self.blank)["cells"]}
        self.starters = {name: cells[answer_id(name)] for name in self.points}
        self.kernel_course = KernelCourse.of(files)

    def has(self, exercise: str, *, explained: bool) -> bool:
        """Say whether the right answer has been run; with `explained`, the wrong ones too."""
        return exercise in (self._explained if explained else self._right)

    def keep(self, expected: ExpectedExercise, *, explained: bool) -> None:
        """Keep what the author's answers yielded in another process."""
        (self._explained if explained else self._right)[expected.name] = expected

    def right(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields; misconceptions may be missing."""
        if exercise not in self._right:
            self._right[exercise] = run_authors_answers(
                self.files, self.digest, self.seed, exercise
            )
        return self._right[exercise]

    def explained(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer and every misconception yield."""
        if exercise not in self._explained:
            self._explained[exercise] = run_authors_answers(
                self.files, self.digest, self.seed, exercise, self.right(exercise)
            )
        return self._explained[exercise]


def run_authors_answers(
    files: LessonFiles,
    digest: str,
    seed: int,
    exercise: str,
    right: ExpectedExercise | None = None,
) -> ExpectedExercise:
    """Run the right answer to an exercise; or all wrong ones, given what the right one yields.

    The lesson is read once for each digest of its exercises.
    """
    from pytree_course.authoring import authors_answers

    sources = _read_once(files.root, files.stem, digest)
    if right is None:
        return authors_answers.expect_exercise(sources, sources.exercises[exercise], seed)
    return authors_answers.with_misconceptions(right, sources, seed)


def forget_authors_runs() -> None:
    """Free the memory that the author's answers took in this process."""
    from pytree_course.authoring.authors_answers import forget_runs

    forget_runs()


@lru_cache(maxsize=8)
def _read_once(root: Path, stem: str, digest: str) -> "LessonSources":
    from pytree_course.authoring.sources import read_sources

    return read_sources(LessonFiles(root, stem))
