"""Whatever grading a submission raises, it has a row; the class goes on."""

import os

import pytest

from pytree_course.class_grading import grade_class as class_grading
from pytree_course.class_grading.attempt import AttemptState
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.limits import ANSWER_CHARACTERS
from tests.lesson_reads import CLASS
from tests.made_submissions import RIGHT

pytestmark = [pytest.mark.slow, pytest.mark.reads(*CLASS)]


def test_an_answer_that_is_too_long_is_not_run_and_said(quick):
    quick.hand_in("eve", RIGHT | {"count_leaves": "#" * (ANSWER_CHARACTERS + 1)})
    quick.grade()
    (eve,) = quick.attempts()
    assert [row.kind for row in eve.rows] == ["not attempted", "correct"]
    assert "holds 100,001 characters, more than the 100,000 that may run" in eve.rows[0].explanation
    assert eve.answers.keys() == {"first_leaf"}


def test_the_terminal_gets_no_escapes_and_no_path_of_a_student(quick, monkeypatch, capsys):
    quick.hand_in("eve\x1b[2J\nada", RIGHT).write_text("\x1b[2J")
    quick.hand_in("ada", {}, "\x1b[2Jessay.ipynb")
    quick.hand_in(os.fsdecode(b"j\xfcrgen"), RIGHT).write_text("\x1b[2J")
    assert quick.run_here(monkeypatch, "--unsandboxed") == 0
    said = capsys.readouterr()
    assert "\x1b[2J" not in said.out + said.err
    assert "eve\\x1b[2J\\nada" in said.out
    assert "j\\udcfcrgen" in said.out
    assert "Left out: ada/\\x1b[2Jessay.ipynb: its name begins with none of" in said.err


def test_what_raises_in_judging_costs_its_submission_only(quick, monkeypatch):
    quick.hand_in("ada", {"count_leaves": "count_leaves = None"})
    quick.hand_in("bob", RIGHT)

    def judge_or_raise(lesson, submission, runs):
        if submission.answers["count_leaves"] == "count_leaves = None":
            raise RecursionError("too deep")
        return judge_submission(lesson, submission, runs)

    monkeypatch.setattr(class_grading, "judge_submission", judge_or_raise)
    summary = quick.grade()
    assert (summary.graded, len(summary.failed)) == (1, 1)
    ada, bob = quick.attempts()
    assert (ada.state, ada.points) == (AttemptState.FAILED, 0)
    assert "If this happens again, look at the notebook yourself" in ada.reason
    assert (bob.state, bob.points) == (AttemptState.GRADED, 3)
