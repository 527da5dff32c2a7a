"""Grading: whatever became of the notebook, the score is what its answers deserve."""

import subprocess
import sys
import tempfile

import pytest

from pytree_course.cli.check_script import main
from pytree_course.course import Course
from pytree_course.grading import limits
from pytree_course.grading.budget import SubmissionTime
from pytree_course.grading.exercise_run import _run_together, run_answers
from pytree_course.grading.grade import grade_notebook, judge_submission
from pytree_course.grading.lesson_to_grade import find_right_results, make_run_settings, read_lesson
from pytree_course.grading.submission import Submission
from pytree_course.running.outcomes import CHECKS_VARIABLE, PUBLIC_SEED
from tests.conftest import put
from tests.made_submissions import RIGHT

pytestmark = pytest.mark.slow

RIGHT_COUNT, RIGHT_FIRST = RIGHT["count_leaves"], RIGHT["first_leaf"]
SEED = 5


def kinds(grade):
    return {verdict.exercise: str(verdict.kind) for verdict in grade.verdicts}


@pytest.fixture(scope="module")
def lesson(built_course):
    return read_lesson(Course(built_course).lesson("01_mini"), SEED)


def verdicts(lesson, seconds=limits.EXERCISE_SECONDS, **answers):
    """Run answers, and return the verdicts by exercise."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "EXERCISE_SECONDS", seconds)
        right = find_right_results(lesson)
        runs = run_answers(answers, make_run_settings(lesson, right, in_sandbox=False))
    found = judge_submission(lesson, right, Submission(answers), runs)
    return {verdict.exercise: verdict for verdict in found}


def test_the_notebook_as_handed_out_is_not_attempted(mini, notebook):
    grade = grade_notebook(notebook.save(), mini)
    assert kinds(grade) == {"count_leaves": "not attempted", "first_leaf": "not attempted"}
    assert (grade.points, grade.all_points, grade.is_all_correct) == (0, 3, False)


def test_right_answers_earn_all_points_on_cases_never_seen(mini, notebook):
    notebook.answer("count_leaves", RIGHT_COUNT).answer("first_leaf", RIGHT_FIRST)
    first, second = (grade_notebook(notebook.save(), mini) for _ in range(2))
    assert first.is_all_correct
    assert second.is_all_correct
    assert len({first.seed, second.seed, PUBLIC_SEED}) == 3


# Each is an answer to count_leaves, beside one to first_leaf.
@pytest.mark.parametrize(
    ("count", "count_reason", "first", "first_reason"),
    [
        ("def count_leaves(tree) return 1", "SyntaxError", "1 / 0", "ZeroDivisionError"),
        ("count_leaves = None", "TypeError", "", "does not define `first_leaf`"),
        ("def count_leaves(tree):\n    %nonsense", "UsageError", "raise KeyError", "KeyError"),
    ],
)
def test_an_answer_that_raises_is_an_error_of_its_own_exercise(
    lesson, count, count_reason, first, first_reason
):
    found = verdicts(lesson, count_leaves=count, first_leaf=first)
    assert [str(verdict.kind) for verdict in found.values()] == ["error", "error"]
    assert count_reason in found["count_leaves"].reason
    assert first_reason in found["first_leaf"].reason


def test_an_endless_loop_costs_its_own_exercise_only_and_runs_once(lesson, tmp_path):
    ran = tmp_path / "ran"
    code = f"print('x', file=open({str(ran)!r}, 'a'), flush=True)\n"
    code += "def count_leaves(tree):\n    while True: pass"
    found = verdicts(lesson, seconds=4, count_leaves=code, first_leaf=RIGHT_FIRST)
    assert ran.read_text() == "x\n"
    assert str(found["count_leaves"].kind) == "timed out"
    assert "loop" in found["count_leaves"].reason
    assert str(found["first_leaf"].kind) == "correct"


def test_an_answer_that_sleeps_is_ended_and_may_be_the_victim_of_others(lesson, monkeypatch):
    monkeypatch.setattr(limits, "EXERCISE_SECONDS", 4)
    settings = make_run_settings(lesson, find_right_results(lesson), in_sandbox=False)
    answers = {"count_leaves": "import time; time.sleep(600)", "first_leaf": RIGHT_FIRST}
    runs = run_answers(answers, settings)
    assert [run.is_doubtful for run in runs.values()] == [True, False]
    found = judge_submission(lesson, find_right_results(lesson), Submission(answers), runs)
    assert "waited for too long" in found[0].reason
    assert found[1].points == found[1].exercise_points


def test_when_a_submission_has_used_up_its_time_the_rest_is_not_run(lesson, monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "SUBMISSION_SECONDS", 3)
    ran = tmp_path / "ran"
    first = f"open({str(ran)!r}, 'w')\n{RIGHT_FIRST}"
    found = verdicts(lesson, seconds=4, count_leaves="while True: pass", first_leaf=first)
    assert [str(verdict.kind) for verdict in found.values()] == ["timed out", "timed out"]
    assert "the exercises before it used up the time" in found["first_leaf"].reason
    assert not ran.exists()


def test_an_answer_may_use_an_earlier_one_though_another_does_not_end(lesson):
    helped = RIGHT_FIRST + "\nassert right_count([0]) == 1"
    right = RIGHT_COUNT + "\nright_count = count_leaves"
    assert verdicts(lesson, count_leaves=right, first_leaf=helped)["first_leaf"].points
    settings = make_run_settings(lesson, find_right_results(lesson), in_sandbox=False)
    later = _run_together(
        {"first_leaf": helped}, {"count_leaves": right}, settings, SubmissionTime()
    )
    assert later["first_leaf"].check.outcomes
    assert "count_leaves" not in later


@pytest.mark.parametrize("later", [RIGHT_FIRST, "size = None", "import os; os._exit(1)"])
def test_a_wrong_answer_has_the_reason_of_its_own_check_whatever_runs_after_it(lesson, later):
    code = "def size(tree):\n    return len(tree)\ndef count_leaves(tree):\n    return size(tree)"
    verdict = verdicts(lesson, count_leaves=code, first_leaf=later)["count_leaves"]
    assert [each.name for each in verdict.misconceptions] == ["elements"]
    assert verdict.cases == len(lesson.stored.expected("count_leaves").observations)


RIGHT_RESULT, ELEMENTS, NODES = (
    *("len(jax.tree.leaves(tree))", "len(tree)", "jax.tree.structure(tree).num_nodes"),
)


@pytest.mark.parametrize(
    ("fresh", "public", "points", "reason"),
    [
        (RIGHT_RESULT, ELEMENTS, 1, []),
        (ELEMENTS, NODES, 0, ["nodes"]),
        (ELEMENTS, RIGHT_RESULT, 0, []),
        (ELEMENTS, "__import__('os')._exit(1)", 0, []),
    ],
)
def test_results_on_the_public_cases_choose_the_reason_and_change_no_mark(
    lesson, fresh, public, points, reason
):
    is_public = f"{CHECKS_VARIABLE}.seed_of_grading == {PUBLIC_SEED}"
    code = f"def count_leaves(tree):\n    return {public} if {is_public} else {fresh}"
    verdict = verdicts(lesson, count_leaves=code)["count_leaves"]
    assert (verdict.points, [each.name for each in verdict.misconceptions]) == (points, reason)
    assert bool(verdict.failure) == (points == 0)


def test_a_long_temporary_folder_will_do_and_nothing_in_it_is_looked_at(
    mini, notebook, tmp_path, monkeypatch
):
    folder = tmp_path / ("long" * 25)  # longer than a socket's path may be
    beside = put(folder / "conftest.py", "raise SystemExit")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    grade = grade_notebook(notebook.answer("count_leaves", RIGHT_COUNT).save(), mini)
    assert kinds(grade)["count_leaves"] == "correct"
    assert [*folder.iterdir()] == [beside]


def run_check_script(mini, *arguments):
    command = [sys.executable, str(mini.check_script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_check_script_runs_on_its_own(mini, notebook, monkeypatch, capsys):
    done = run_check_script(mini, notebook.answer("count_leaves", RIGHT_COUNT).save())
    assert done.returncode == 1
    assert "1 of 3 points" in done.stdout
    assert "This is the notebook as it was saved on 20" in done.stdout
    notebook.answer("first_leaf", RIGHT_FIRST)
    command = ["check", str(notebook.save())]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main(str(mini.check_script))
    assert ended.value.code == 0
    assert "3 of 3 points, 2 of 2 exercises correct" in capsys.readouterr().out
