"""What grading prints: legible in a narrow terminal too."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.changes import MarkChange, VerdictChange
from pytree_course.class_grading.grade_class import Summary
from pytree_course.class_grading.roster import Student
from pytree_course.grading.grade import Grade
from pytree_course.judging.verdicts import Verdict, VerdictKind, WrongLine
from pytree_course.reports.terminal import show_class, show_grade
from pytree_course.running.outcomes import PUBLIC_SEED
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


@pytest.mark.parametrize(("seed", "cases"), [(PUBLIC_SEED, "the public"), (7, "fresh")])
def test_a_grade_says_each_verdict_its_reason_and_the_points(seed, cases):
    line = WrongLine("B", "`[1]`", "2", "belief", {"explanation": "It is one."}, "one")
    verdicts = [
        Verdict(
            "count",
            VerdictKind.CORRECT,
            2,
            "all 3 cases passed",
            title="Count them",
            note="two cells",
        ),
        Verdict("paths", VerdictKind.ERROR, 2, "your code raised ValueError", title="Paths"),
        Verdict("third", VerdictKind.NOT_ATTEMPTED, 1, "not attempted yet", title="Third"),
        Verdict("lines", VerdictKind.INCORRECT, 1, "", lines=(line,), failed=(0,), title="Lines"),
    ]
    grade = Grade("01_made", "Made", Path("my\x1b.ipynb"), seed, verdicts)
    shown = printed(show_grade, grade)
    assert shown.startswith("Made\nmy\\x1b.ipynb\n")
    words = " ".join(shown.split())
    for said in (
        *("Count them 2/2 ✓ Correct", "Paths 0/2 ! Error", "Third 0/1 ○ Not attempted"),
        "Count them: All 3 cases passed. Note: two cells.",
        *("Paths: Your code raised ValueError.", "It is one."),
    ):
        assert said in words
    assert "Third:" not in words
    assert words.endswith(f"2 of 6 points, 1 of 4 exercises correct, on {cases} cases.")


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
