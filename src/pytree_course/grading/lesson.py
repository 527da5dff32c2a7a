"""What grading needs of one lesson, made once for many submissions."""

import json
import secrets
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from pytree_course.course import LessonFiles, answer_id
from pytree_course.grading.kernel_course import KernelCourse
from pytree_course.judging.expected import Expected, ExpectedExercise
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.sources.source_texts import exercises_digest

if TYPE_CHECKING:  # the process that only judges what other ones ran does without
    from pytree_course.sources.lesson_sources import LessonSources


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
    from pytree_course.sources import authors_answers

    sources = _read_once(files.root, files.stem, digest)
    if right is None:
        return authors_answers.expect_exercise(sources, sources.exercises[exercise], seed)
    explained = authors_answers.with_misconceptions(right, sources, seed)
    authors_answers.forget_runs()  # wrong answers are many; right ones share much that is compiled
    return explained


class GradedLesson:
    """A lesson, ready to grade submissions on the cases of one seed, by default a fresh one.

    A learner's copy of the course has no folder `sources`, so no right answers: there, the cases
    are the public ones, whatever the seed. The author's answers run only when they are needed.
    """

    def __init__(
        self,
        files: LessonFiles,
        seed: int | None = None,
        run: Callable[..., ExpectedExercise] = run_authors_answers,
    ) -> None:
        """Take a lesson's files; `run` is called as `run_authors_answers` is, and does the same."""
        self.files = files
        self._run = run
        self._right: dict[str, ExpectedExercise] = {}
        self._explained: dict[str, ExpectedExercise] = {}
        stored = Expected.read(files.expected)
        self.title, self.digest = stored.title, stored.sources  # of exercises and their checks
        self.points = {name: each.points for name, each in stored.graded.items()}
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
                self.points = {name: each.points for name, each in sources.graded.items()}
        self.blank = files.read_blank()  # the exercise notebook's text, as it was handed out
        cells = {cell["id"]: "".join(cell["source"]) for cell in json.loads(self.blank)["cells"]}
        self.starters = {name: cells[answer_id(name)] for name in self.points}
        self.kernel_course = KernelCourse.of(files)

    def right(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields; misconceptions may be missing."""
        if exercise not in self._right:
            self._right[exercise] = self._run(self.files, self.digest, self.seed, exercise)
        return self._right[exercise]

    def explained(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer and every misconception yield."""
        if exercise not in self._explained:
            self._explained[exercise] = self._run(
                self.files, self.digest, self.seed, exercise, self.right(exercise)
            )
        return self._explained[exercise]


@lru_cache(maxsize=8)
def _read_once(root: Path, stem: str, digest: str) -> "LessonSources":
    from pytree_course.sources.lesson_sources import read_sources

    return read_sources(LessonFiles(root, stem))
