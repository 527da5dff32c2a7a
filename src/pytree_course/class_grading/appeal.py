"""An appeal: show what decided a mark, from the gradebook alone, and grade the answer again."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from pytree_course.class_grading.attempt import Attempt, Basis, VerdictRow
from pytree_course.class_grading.graded_rows import current_basis, grade_rows
from pytree_course.course import Course, CourseError
from pytree_course.grading.exercise_run import run_answers
from pytree_course.grading.lesson_to_grade import (
    find_right_results,
    make_run_settings,
    read_lesson,
)
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Observation
from pytree_course.observing.reading import read_json
from pytree_course.running.outcomes import Outcome, read_report


@dataclass(frozen=True)
class DecidingCase:
    """A case that an answer failed, with the right result."""

    number: int  # from 1
    outcome: Outcome
    expected: Observation


@dataclass(frozen=True)
class Grading:
    """One grading of an answer: its row, and the cases that decided."""

    row: VerdictRow
    basis: Basis
    cases: int
    failed: list[DecidingCase]  # none if there were no results, or all were right

    def agrees_with(self, other: "Grading") -> bool:
        """Return whether both give the same verdict, for the same cases."""
        failed, other_failed = ([case.number for case in each.failed] for each in (self, other))
        return (self.row.kind, self.cases, failed) == (other.row.kind, other.cases, other_failed)


def recorded_grading(
    attempt: Attempt, exercise: str, read_results: Callable[[str], str]
) -> Grading:
    """Return how an answer was graded; `read_results` is the gradebook's.

    Raises
    ------
    CourseError
        When there is no verdict on such an answer.
    """
    for row in attempt.rows:
        if row.exercise == exercise and row.basis:
            return _grading(row, row.basis, read_results)
    graded = ", ".join(row.exercise for row in attempt.rows if row.basis) or "nothing"
    raise CourseError(f"No verdict on {exercise!r} is recorded. Graded were: {graded}.")


def grade_again(
    course: Course,
    attempt: Attempt,
    then: Grading,
    pools: tuple[Executor, Executor],
    *,
    in_sandbox: bool,
) -> Grading:
    """Grade an answer again, with all others of its submission, on the cases that it had then.

    The pools are those for submissions and for the author's answers. Raise a CourseError if the
    lesson has no such exercise any more.
    """
    exercise = then.row.exercise
    lesson = read_lesson(course.lesson(attempt.lesson), then.basis.seed)
    if exercise not in lesson.stored.graded:
        raise CourseError(f"{attempt.lesson} has no exercise {exercise} any more.")
    pool, authors_pool = pools
    right_results = authors_pool.submit(find_right_results, lesson).result()
    settings = make_run_settings(lesson, right_results, in_sandbox=in_sandbox)
    runs = pool.submit(run_answers, attempt.answers, settings).result()
    rows, results = grade_rows(attempt, [exercise], runs, lesson, right_results)
    return _grading(rows[exercise], current_basis(lesson, exercise), results.__getitem__)


def find_differences(then: Grading, now: Grading) -> list[tuple[str, str, str]]:
    """Return what differs of that which a verdict is made with: its name, then, and now."""
    before, after = _versions(then.basis), _versions(now.basis)
    return [
        (name, before.get(name, "none"), version)
        for name, version in after.items()
        if before.get(name) != version
    ]


def _versions(basis: Basis) -> dict[str, str]:
    """Return the versions of everything that a verdict is made with, by name."""
    versions = dict(part.split(" ", 1) for part in basis.environment.split(", "))
    return {"course": basis.course, "exercise and check": basis.check_version, **versions}


def _grading(row: VerdictRow, basis: Basis, read_results: Callable[[str], str]) -> Grading:
    """Return a grading with the failed cases, from the results that its row names."""
    if not row.outcomes:  # a right answer, or one that did not come to results
        return Grading(row, basis, row.cases, [])
    outcomes = read_report(read_results(row.outcomes))
    expected = read_json(list[Observation], read_results(row.expected))
    return Grading(row, basis, len(expected), list(_deciding_cases(outcomes, expected)))


def _deciding_cases(
    outcomes: Sequence[Outcome], expected: Sequence[Observation]
) -> Iterator[DecidingCase]:
    for number, (outcome, right) in enumerate(zip(outcomes, expected, strict=True), start=1):
        if compare(right, outcome.observation):
            yield DecidingCase(number, outcome, right)
