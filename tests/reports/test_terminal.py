"""What grading prints: legible in a narrow terminal too."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.changes import MarkChange, VerdictChange
from pytree_course.class_grading.grade_class import Summary
from pytree_course.class_grading.roster import Student
from pytree_course.reports.terminal import show_class
from tests.made_grades import made_attempt, made_grades, made_row
from tests.reports.test_csv_tables import hidden

ADA = Student("12345", "lovelaceada", login="ada.lovelace@example.org")


@pytest.mark.parametrize("columns", [60, 200])
def test_the_terminal_names_changes_ungraded_work_and_the_report(columns, tmp_path):
    row = made_row("count", "correct")
    lost = made_attempt("12345", [row], state=AttemptState.UNREADABLE, reason="it is empty")
    verdict = VerdictChange("count", "error", "correct", "the check changed")
    change = MarkChange("12345", "01_leaves", 0, 2, "the check changed", [verdict])
    summary = Summary(graded=5, unchanged=2)
    grades = replace(made_grades([lost], students=[ADA]), changes=[change])
    lines = printed(show_class, summary, grades, tmp_path, width=columns).splitlines()
    assert max(map(len, lines)) <= columns
    words = " ".join(" ".join(lines).split())
    changed = "01_leaves: 0 → 2 (the check changed): count was error, is correct"
    assert f"Changed mark: lovelaceada (ada.lovelace@example.org), {changed}" in words
    assert "lovelaceada (ada.lovelace@example.org): 01_made, unreadable: it is empty" in words
    assert "5 graded, 2 had not changed, 1 could not be graded. Changed mark:" in words
    assert "The class report:" in words
    assert "report.html" in "".join(lines)


HOSTILE = "\x1b]0;title\x07\x1b[2J\r\nada: 99\u202e\u2066\ud800[red]"


def nothing_raw(text):
    """Say whether a text has line ends of its own, and nothing else that a terminal acts on."""
    return not hidden(text.replace("\n", ""))


def printed(show, *arguments, width=2000):
    stream = io.StringIO()
    show(*arguments, Console(file=stream, width=width))
    return stream.getvalue()


def test_nothing_that_was_handed_in_can_speak_to_the_terminal(tmp_path):
    row = made_row("count", "correct")
    student = Student(HOSTILE, HOSTILE, login=HOSTILE, is_expected=False)
    values = {"state": AttemptState.UNREADABLE, "reason": HOSTILE, "file": HOSTILE}
    attempt = made_attempt(HOSTILE, [row], **values)
    change = MarkChange(HOSTILE, "01_made", None, 2, HOSTILE)
    summary = Summary(failed=[(HOSTILE, "02_made", HOSTILE)])
    grades = replace(made_grades([attempt], students=[student]), changes=[change])
    shown = printed(show_class, summary, grades, tmp_path / HOSTILE)
    assert nothing_raw(shown)
    assert r"\x1b]0;title\x07\x1b[2J\r\nada: 99\u202e\u2066\ud800[red]" in shown
    assert not [line for line in shown.splitlines() if line.startswith("ada: 99")]
