"""Attempts as the gradebook has them: what they add up to, and the words of their rows."""

import pytest
from msgspec.structs import replace

from pytree_course.class_grading.attempt import (
    add_points,
    counting_attempts,
    in_words,
    verdict_row,
    with_reason_of,
)
from pytree_course.judging.verdicts import Finding, Verdict, VerdictKind, WrongLine
from tests.made_grades import BASIS, made_attempt, made_row

FOUND = Finding("summary", [0], {"sentence": "It is one too many."})
LINE = WrongLine("B", "`[1]`", "2", "belief", {}, "nodes")


def test_points_seconds_and_public_cases_are_those_of_all_rows():
    rows = [made_row("count", "correct", seconds=0.5), made_row("paths", "incorrect", seconds=1)]
    attempt = made_attempt("ada", [*rows, made_row("gone", None, basis=None, seconds=0)])
    assert (attempt.points, attempt.seconds, attempt.on_public_cases) == (2, 1.5, False)
    public = replace(rows[0], basis=replace(BASIS, on_public_cases=True))
    assert replace(attempt, rows=[*attempt.rows, public]).on_public_cases
    for points, total in ([0.5, 0.5, 1.0], "2"), ([0.5, 1], "1.5"), ([], "0"):
        assert str(add_points(points)) == total
    assert replace(BASIS, decided_by="sha256:0123456789").check_version == "01234567"


def test_of_a_students_attempts_at_a_lesson_the_one_recorded_last_counts():
    first, other, last = (made_attempt(name, [], file=name) for name in ("ada", "bob", "ada"))
    last = replace(last, file="last")
    assert [*counting_attempts([first, other, last]).values()] == [last, other]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({}, "It is incorrect."),
        ({"findings": [FOUND]}, "It is one too many."),
        ({"findings": [FOUND], "misconceptions": ["none", "gone"]}, "You count None."),
        ({"misconceptions": ["none"], "lines": [LINE]}, "Line B: You count nodes. Mind"),
    ],
)
def test_a_row_is_explained_by_lines_or_beliefs_or_what_is_certain_and_remarks(values, said):
    row = made_row("count", "incorrect", remarks=["Mind the cell."], **values)
    words = in_words(row, {"nodes": "You count nodes.", "none": "You count None."})
    assert words.explanation.startswith(said)
    assert words.explanation.endswith(" Mind the cell.")
    assert bool(words.lines) == ("lines" in values)
    assert all(line.data["explanation"] for line in words.lines)


def test_a_verdict_is_stored_without_what_was_expected_and_notes_beside_wrong_answers():
    note = "two cells have answers"
    verdict = Verdict(
        "count", VerdictKind.INCORRECT, 2, "1 of 3 cases passed: expected 3", 1, 3, "1 of 3",
        findings=(FOUND,), lines=(LINE,), failed=(1, 2), note=note,
    )  # fmt: skip
    row = verdict_row(verdict)
    assert (row.points, row.exercise_points, row.passed, row.cases) == (0, 2, 1, 3)
    assert (row.explanation, row.remarks) == ("1 of 3.", ["Note: two cells have answers."])
    assert (row.findings, row.lines[0].name) == ([FOUND], "B")
    right = verdict_row(Verdict("count", VerdictKind.CORRECT, 2, "all 3 cases passed", note=note))
    assert (right.points, right.remarks) == (2, [])
    other = replace(right, exercise="paths", points=1, basis=BASIS)
    assert with_reason_of(other, row) == replace(
        row, exercise="paths", points=1, basis=BASIS, remarks=[]
    )
