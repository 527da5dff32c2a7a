"""Prepare to grade a lesson: its cases, the right results on them, and what answers run with."""

from dataclasses import dataclass, replace
from pathlib import Path

from pytree_course.course import CourseError, LessonFiles
from pytree_course.grading.cell_run import CellRun
from pytree_course.judging.expected import BuiltLesson, ExpectedExercise
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Observation
from pytree_course.running.outcomes import PUBLIC_SEED

RightResults = dict[str, ExpectedExercise]
"""The results of a lesson's right answers on the cases of a grading, by exercise."""


@dataclass(frozen=True)
class LessonToGrade:
    """A lesson that is to be graded: all that is known before any answer runs."""

    files: LessonFiles
    stored: BuiltLesson  # with the misconceptions' results on the public cases
    on_public_cases: bool  # where there are no sources, whose right answers would run on fresh ones
    seed: int  # of the cases


def read_lesson(files: LessonFiles, seed: int) -> LessonToGrade:
    """Prepare to grade a lesson: on fresh cases if its sources are there, else on the public ones.

    A learner's copy of the course has no sources. Raise a CourseError if the sources have changed
    since the lesson was built: then the reasons of wrong answers are not known.
    """
    stored = BuiltLesson.read(files.expected)
    has_sources = files.sources.exists()
    if has_sources and stored.sources != files.exercises_digest():
        raise CourseError(
            f"The sources of {files.stem} have changed since it was built. Run first: "
            f"python3 course.py build {files.stem}"
        )
    return LessonToGrade(
        files=files,
        stored=stored,
        on_public_cases=not has_sources,
        seed=seed if has_sources else PUBLIC_SEED,
    )


def find_right_results(lesson: LessonToGrade) -> RightResults:
    """Return the right answers' results: stored ones, or on fresh cases by running them here."""
    if lesson.on_public_cases:
        return {name: lesson.stored.expected(name) for name in lesson.stored.graded}
    # Imported late: these load JAX, which a process that only judges a class does not need.
    from pytree_course.sources import authors_answers
    from pytree_course.sources.lesson_sources import read_sources

    sources = read_sources(lesson.files)
    return {
        name: authors_answers.run_solution(sources, exercise, lesson.seed)
        for name, exercise in sources.graded.items()
    }


@dataclass(frozen=True)
class RunSettings:
    """The settings that answers to a lesson run with: data that can be sent to another machine."""

    blank: str  # the exercise notebook, as it was handed out
    course: dict[str, str]  # the files that a kernel sees as the course, by their paths in it
    seed: int  # of the cases
    in_sandbox: bool
    right: dict[str, list[Observation]]  # the right results of exercises to explain, if wrong

    def is_wrong(self, exercise: str, check: CellRun) -> bool:
        """Say whether a check's results are known to be wrong: the public cases tell why."""
        right, outcomes = self.right.get(exercise), check.outcomes
        if right is None or outcomes is None or len(right) != len(outcomes):
            return False
        return any(map(compare, right, [outcome.observation for outcome in outcomes]))


def make_run_settings(
    lesson: LessonToGrade, right_results: RightResults, *, in_sandbox: bool
) -> RunSettings:
    """Return the settings that answers to a lesson run with."""
    # With the right observations, a run knows which answers are wrong: they run again on the public
    # cases, for their reasons, unless those are the graded ones.
    to_explain = {} if lesson.on_public_cases else right_results
    return RunSettings(
        blank=lesson.files.read_blank(),
        course=_make_course_files(lesson),
        seed=lesson.seed,
        in_sandbox=in_sandbox,
        right={name: expected.observations for name, expected in to_explain.items()},
    )


def _make_course_files(lesson: LessonToGrade) -> dict[str, str]:
    """Return the files that kernels see, by path: the check script, and what it needs of a lesson.

    No hint, no answer of a prediction, and no digest of one solution, to try guesses on.
    """
    graded = lesson.stored.graded.items()
    exercises = {name: replace(exercise, hints=[]) for name, exercise in graded}
    bare = replace(lesson.stored, exercises=exercises, predictions={}, deciding={}, reasons={})
    kernel_files = LessonFiles(Path(), lesson.files.stem)
    check_script = lesson.files.check_script.read_text(encoding="utf-8")
    return {
        kernel_files.check_script.as_posix(): check_script,
        kernel_files.expected.as_posix(): bare.to_text(),
    }
