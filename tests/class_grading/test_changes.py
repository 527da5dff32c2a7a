"""What a teacher is told of a mark that differs since the last report."""

from msgspec.structs import replace

from pytree_course.class_grading.attempt import AppliedCorrection
from pytree_course.class_grading.changes import A_CORRECTION, ANOTHER_HAND_IN, mark_changes
from tests.made_grades import made_attempt, made_row

WRONG = made_row("count", "incorrect")
HALF = replace(WRONG, points=0.5, teacher=AppliedCorrection("", 0, True))
SAM = ("sam", "01_made")


def test_leaving_a_group_loses_its_correction_and_says_why():
    group, alone = made_attempt("team", [HALF]), made_attempt("sam", [WRONG])
    (change,) = mark_changes({SAM: group}, {SAM: alone})
    assert (change.before, change.after, change.reason) == (0.5, 0, ANOTHER_HAND_IN)


def test_points_of_the_teacher_and_of_the_check_are_told_apart():
    attempt = made_attempt("sam", [WRONG])
    commented = replace(WRONG, teacher=AppliedCorrection("Nice.", 0, True))
    assert not [*mark_changes({SAM: attempt}, {SAM: replace(attempt, rows=[commented])})]
    (change,) = mark_changes(
        {SAM: replace(attempt, rows=[commented])}, {SAM: replace(attempt, rows=[HALF])}
    )
    (verdict,) = change.verdicts
    assert (verdict.before, verdict.after) == ("0 by the check", "0.5 by the teacher")
    assert change.reason == A_CORRECTION
