"""What a teacher is told of a mark that differs since the last report."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from pytree_course.class_grading.attempt import AppliedCorrection, AttemptState
from pytree_course.class_grading.changes import (
    A_CORRECTION,
    AGAIN,
    ANOTHER_CHECK,
    ANOTHER_ENVIRONMENT,
    ANOTHER_HAND_IN,
    NEW_ANSWERS,
    NEW_CASES,
    NOTHING_COUNTS,
    mark_changes,
)
from tests.made_grades import BASIS, NOON, made_attempt, made_row

WRONG, RIGHT = made_row("count", "incorrect"), made_row("count", "correct")
HALF = replace(WRONG, points=0.5, teacher=AppliedCorrection("", 0, True))
SAM = ("sam", "01_made")
LATER = {"graded_at": NOON + timedelta(hours=1)}


def changed(before, after):
    """Return the changes of sam's mark between two attempts."""
    return [*mark_changes({SAM: before}, {SAM: after} if after else {})]


def test_leaving_a_group_loses_its_correction_and_says_why():
    (change,) = changed(made_attempt("team", [HALF]), made_attempt("sam", [WRONG]))
    assert (change.before, change.after, change.reason) == (0.5, 0, ANOTHER_HAND_IN)


def test_points_of_the_teacher_and_of_the_check_are_told_apart():
    attempt = made_attempt("sam", [WRONG])
    commented = replace(attempt, rows=[replace(WRONG, teacher=AppliedCorrection("Nice.", 0, True))])
    assert changed(attempt, commented) == []
    (change,) = changed(commented, replace(attempt, rows=[HALF]))
    (verdict,) = change.verdicts
    assert (verdict.before, verdict.after) == ("0 by the check", "0.5 by the teacher")
    assert change.reason == A_CORRECTION


@pytest.mark.parametrize(
    ("of_basis", "reason"),
    [
        ({"decided_by": "another", "seed": 8}, ANOTHER_CHECK),
        ({"seed": 8, "environment": "python 4"}, NEW_CASES),
        ({"environment": "python 4"}, ANOTHER_ENVIRONMENT.format(environment="python")),
        (LATER, AGAIN),
    ],
)
def test_another_verdict_on_the_same_answer_is_told_with_the_reason(of_basis, reason):
    for now in (RIGHT, made_row("count", "error")):
        after = made_attempt("sam", [replace(now, basis=replace(BASIS, **of_basis))])
        (change,) = changed(made_attempt("sam", [WRONG]), after)
        (verdict,) = change.verdicts
        assert (change.before, change.after, change.reason) == (0, now.points, reason)
        assert (verdict.before, verdict.after, verdict.reason) == ("incorrect", now.kind, reason)
    only_the_reason = replace(made_row("count", "error"), basis=WRONG.basis)
    assert changed(made_attempt("sam", [WRONG]), made_attempt("sam", [only_the_reason])) == []


def test_new_answers_and_another_state_are_told_only_if_the_mark_differs():
    before = made_attempt("sam", [WRONG])
    new = {"answers": {"count": "new"}}
    again = made_attempt("sam", [replace(RIGHT, basis=replace(BASIS, **LATER))], **new)
    (change,) = changed(before, again)
    assert (change.before, change.after, change.reason) == (0, 2, NEW_ANSWERS)
    error = replace(made_row("count", "error"), basis=replace(BASIS, **LATER))
    assert changed(before, made_attempt("sam", [error], **new)) == []
    failed = made_attempt("sam", [replace(WRONG, kind=None)], state=AttemptState.FAILED)
    (change,) = changed(failed, made_attempt("sam", [RIGHT]))
    assert (change.before, change.after, change.reason) == (None, 2, "failed before, now graded")
    (change,) = changed(before, None)
    assert (change.before, change.after, change.reason) == (0, None, NOTHING_COUNTS)
