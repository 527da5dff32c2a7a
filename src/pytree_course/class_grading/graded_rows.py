"""Turn the runs of a submission's answers into rows, with the results behind wrong answers.

The gradebook keeps these results for appeals, and to find reasons later without another run.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version

import msgspec
from msgspec import structs, to_builtins

from pytree_course.class_grading.attempt import (
    Attempt,
    Basis,
    VerdictRow,
    current_environment,
    digest,
    verdict_row,
    with_reason_of,
)
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.lesson_to_grade import LessonToGrade, RightResults
from pytree_course.grading.submission import Submission
from pytree_course.judging.expected import BuiltLesson
from pytree_course.judging.judge import judge
from pytree_course.observing.comparison import without_message
from pytree_course.observing.observations import Observation
from pytree_course.running.outcomes import read_report, report
from pytree_course.texts import text_digest

COURSE_VERSION = version("pytree-course")
Results = dict[str, str]
"""Texts of results as JSON, by the keys that rows have."""


def grade_rows(
    attempt: Attempt,
    exercises: Collection[str],
    runs: Mapping[str, ExerciseRun],
    lesson: LessonToGrade,
    right_results: RightResults,
) -> tuple[dict[str, VerdictRow], Results]:
    """Judge these exercises of an attempt by their runs; one without a run has no answer.

    Return the rows by exercise, and the results of wrong answers.
    """
    submission = Submission(attempt.answers, attempt.notes, attempt.python)
    rows: dict[str, VerdictRow] = {}
    results: Results = {}
    for verdict in judge_submission(lesson, right_results, submission, runs):
        name = verdict.exercise
        if name not in exercises:
            continue
        row = verdict_row(verdict)
        row = structs.replace(row, basis=current_basis(lesson, name))
        if run := runs.get(name):
            row = structs.replace(row, seconds=run.seconds)
            if verdict.failed:
                row = _add_results(row, run, right_results[name].observations, results)
                row = structs.replace(row, reasons=lesson.stored.reasons[name])
        rows[name] = row
    return rows, results


def current_basis(lesson: LessonToGrade, exercise: str) -> Basis:
    """Return what a verdict on an exercise is made with now."""
    return Basis(
        graded_at=datetime.now().astimezone(),
        course=COURSE_VERSION,
        environment=current_environment(),
        decided_by=lesson.stored.deciding[exercise],
        seed=lesson.seed,
        on_public_cases=lesson.on_public_cases,
    )


def is_current(basis: Basis | None, lesson: LessonToGrade, exercise: str) -> bool:
    """Return whether grading the same answer again could give no other verdict.

    Fresh cases are better than public ones, if the lesson has them now.
    """
    return (
        basis is not None
        and basis.environment == current_environment()
        and basis.decided_by == lesson.stored.deciding[exercise]
        and (lesson.on_public_cases or basis.seed == lesson.seed)
    )


def explain_again(
    row: VerdictRow, stored: BuiltLesson, read_results: Callable[[str], str]
) -> VerdictRow:
    """Return a row with its reason by the lesson's misconceptions as they are now."""
    reasons = stored.reasons.get(row.exercise, row.reasons)
    if not row.public_outcomes or row.reasons == reasons:
        return row
    outcomes = read_report(read_results(row.public_outcomes))
    verdict = judge(stored.expected(row.exercise), outcomes)
    if verdict.failed:
        row = with_reason_of(row, verdict_row(verdict))
    return structs.replace(row, reasons=reasons)


def _add_results(
    row: VerdictRow, run: ExerciseRun, expected: Sequence[Observation], results: Results
) -> VerdictRow:
    """Put the results of a wrong answer into `results`, and their keys into its row."""
    outcomes = run.check.outcomes or []
    public_outcomes = run.public_check.outcomes if run.public_check else None
    if row.basis and row.basis.on_public_cases:
        public_outcomes = outcomes
    without_messages = [without_message(outcome.observation) for outcome in outcomes]
    return structs.replace(
        row,
        results=digest(to_builtins(without_messages)),
        outcomes=_keep(report(outcomes), results),
        public_outcomes=_keep(report(public_outcomes), results) if public_outcomes else "",
        expected=_keep(msgspec.json.encode(expected).decode(), results),
    )


def _keep(text: str, results: Results) -> str:
    """Put a text into the results, and return its key."""
    key = text_digest(text)
    results[key] = text
    return key
