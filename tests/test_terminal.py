"""What grading a class prints: legible in a narrow terminal too."""

import io
from datetime import timedelta

import pytest
from rich.console import Console

from pytree_course.classroom.attempt import AttemptState
from pytree_course.classroom.class_grades import Student
from pytree_course.classroom.class_grading import Summary
from pytree_course.classroom.verdict_changes import VerdictChange
from pytree_course.reports.terminal import show_class
from tests.made_grades import NOON, made_attempt, made_grades, made_lesson, made_row

ADA = Student("12345", "lovelaceada", login="ada.lovelace@example.org")


@pytest.mark.parametrize("columns", [60, 200])
def test_a_class_with_five_lessons_has_names_points_and_notes_whole(columns, tmp_path):
    stems = ["01_leaves", "02_tree_map", "03_custom_nodes", "04_aux_data", "05_mlp"]
    row = made_row("count", "correct")
    attempts = [made_attempt("12345", [row], lesson=stem) for stem in stems]
    attempts[1] = made_attempt(
        *("12345", [row], "02_tree_map"), state=AttemptState.UNREADABLE, reason="it is empty"
    )
    change = VerdictChange("12345", "01_leaves", "count", "error", "correct", "the check changed")
    printed = io.StringIO()
    show_class(
        Summary(graded=5, changes=[change]),
        made_grades(attempts, [*map(made_lesson, stems)], [ADA], NOON - timedelta(hours=1)),
        tmp_path,
        Console(file=printed, width=columns),
    )
    lines = printed.getvalue().splitlines()
    assert max(map(len, lines)) <= columns
    assert "…" not in printed.getvalue()
    words = " ".join(" ".join(lines).split())
    assert ("05_mlp of 4" if columns == 200 else "01 02 03 04 05") in words
    assert "lovelaceada (ada.lovelace@example.org): 01_leaves: late by 1:00:00; 02_tree" in words
    assert "02_tree_map, unreadable: it is empty" in words
    assert "5 graded, 0 had not changed, 1 could not be graded." in words
    assert "12345, 01_leaves, count: error, now correct: the check changed" in words
