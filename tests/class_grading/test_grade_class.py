"""Grading a class: every submission ends with a row, is run once, and nothing is lost."""

import csv
import sqlite3
import subprocess
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from itertools import cycle

import psutil
import pytest

from pytree_course.authoring.building import build
from pytree_course.class_grading import grade_class as class_grading
from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.grade_class import GradingOptions
from pytree_course.class_grading.pool import dask_cluster
from pytree_course.course import CourseError
from pytree_course.grading.cell_run import CellEnd, CellRun
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.grading.grade import judge_submission
from tests.conftest import edit, put
from tests.made_grades import NOON, made_attempt
from tests.made_submissions import ELEMENTS, EXERCISES, NODES, RIGHT

pytestmark = pytest.mark.slow


def test_every_student_of_a_mixed_class_has_a_row(made):
    made.hand_in("ada", RIGHT)
    made.hand_in("bob", ELEMENTS)
    made.hand_in("cyd", {})
    made.hand_in("dan", RIGHT | {"count_leaves": "import os; os._exit(1)"})
    made.hand_in("eve", {}).write_bytes(b"\xff{")
    made.hand_in("hal", {}, "homework.py").write_text("count_leaves = len")
    (made.folder / "fay").mkdir()
    roster = made.folder.parent / "class.csv"
    roster.write_text("student,name\nada,Ada Lovelace\ngus,\n")
    done = made.run("--roster", str(roster), "--due", "2020-01-01")
    assert done.returncode == 0, done.stderr
    assert "01_mini_exercises.ipynb is not a notebook" in done.stdout
    assert "4 graded, 0 had not changed, 1 could not be graded." in done.stdout
    with (made.into / "grades.csv").open(encoding="utf-8", newline="") as opened:
        rows = {row["student"]: row for row in csv.DictReader(opened)}
    assert {student: (row["points"], row["state"]) for student, row in rows.items()} == {
        "ada": ("3", "graded"),
        "bob": ("0", "graded"),
        "cyd": ("0", "graded"),
        "dan": ("2", "graded"),
        "eve": ("0", "unreadable"),
        "fay": ("0", "not handed in"),
        "gus": ("0", "not handed in"),
        "hal": ("", "handed in, but not read"),
    }
    assert (rows["ada"]["name"], rows["ada"]["on_list"]) == ("Ada Lovelace", "yes")
    assert float(rows["ada"]["late_hours"]) > 0
    assert rows["bob"]["on_list"] == "no"
    assert rows["hal"]["left_out"].startswith("homework.py: it is a Python file, not a notebook")
    assert "Left out: hal/homework.py: it is a Python file, not a notebook" in done.stderr
    kinds = {attempt.student: [row.kind for row in attempt.rows] for attempt in made.attempts()}
    assert kinds["dan"] == ["crashed", "correct"]
    assert {file.stem for file in (made.into / "students").iterdir()} >= {"ada", "bob", "fay"}


def test_errors_that_name_an_address_in_memory_are_equal_results(quick):
    for student, address in ("ada", "0x7f01"), ("bob", "0x7f02"):
        message = f"<object object at {address}>"
        code = f"def count_leaves(tree):\n    raise ValueError({message!r})"
        quick.hand_in(student, {"count_leaves": code})
    quick.grade()
    first, second = (attempt.rows[0] for attempt in quick.attempts())
    assert first.failure.got.message != second.failure.got.message
    assert first.results == second.results is not None


def test_graded_work_runs_again_only_if_forced_on_the_same_cases(quick, monkeypatch):
    quick.hand_in("ada", RIGHT)
    quick.hand_in("bob", ELEMENTS)
    assert quick.grade().graded == 2
    with monkeypatch.context() as patch:  # nor are the author's answers
        patch.setattr("pytree_course.sources.authors_answers.run_solution", _fails)
        again = quick.grade()
    assert (again.graded, again.unchanged) == (0, 2)
    quick.hand_in("bob", NODES)
    third = quick.grade()
    assert (third.graded, third.unchanged) == (1, 1)
    quick.hand_in("bob", ELEMENTS)  # as before: it counts again, and is not run again
    assert quick.grade().unchanged == 2
    attempts = [each for each in quick.attempts() if each.student == "bob"]
    assert [each.answers for each in attempts] == [ELEMENTS, NODES, ELEMENTS]
    assert quick.points()["bob"] == 0
    assert quick.grade(GradingOptions(in_sandbox=False, force=True)).graded == 2
    assert len(quick.attempts()) == 6  # attempts are added, and never replaced
    assert len(quick.seeds()) == 1
    assert quick.grade(GradingOptions(lessons=["02_other"])).graded == 0


def test_latecomers_get_the_classs_cases(quick):
    quick.hand_in("ada", RIGHT)
    quick.hand_in("bob", ELEMENTS)
    quick.grade()
    class_folder = quick.folder
    quick.folder = class_folder.with_name("late")
    quick.hand_in("cyd", RIGHT)
    assert quick.grade().graded == 1
    assert len(quick.seeds()) == 1
    assert quick.points() == {"ada": 3, "bob": 0, "cyd": 3}


def test_equal_answers_run_once_and_each_student_has_an_attempt(quick):
    for student in ("ada", "bob", "cyd"):
        quick.hand_in(student, RIGHT)
    quick.hand_in("dan", ELEMENTS)
    assert quick.grade().graded == 4
    assert len(quick.ran) == 2
    assert quick.points() == {"ada": 3, "bob": 3, "cyd": 3, "dan": 0}
    assert len(quick.seeds()) == 1


def test_only_a_changed_exercise_runs_again_and_changed_marks_are_told(quick):
    fails_for_one = f"{RIGHT['count_leaves']} * (not isinstance(tree, int))"
    quick.hand_in("ada", RIGHT | {"count_leaves": fails_for_one})
    quick.hand_in("bob", ELEMENTS)
    assert "Changed mark" not in quick.run_here().stdout
    case = "    yield Case(as_int(answer), {})\n"
    edit(quick.course.lesson("01_mini").check_script, case, f"{case}{case.replace('{}', '1')}")
    build(quick.course.lesson("01_mini"))
    quick.ran.clear()
    quick.folder = quick.folder.with_name("late")
    quick.hand_in("cyd", {})  # what the others handed in is in the gradebook
    said = quick.run_here().stdout
    changed = (
        "Changed mark: ada, 01_mini: 3 → 2 (the exercise or its check was changed): "
        "count_leaves was correct, is incorrect"
    )
    assert changed in " ".join(said.split())
    assert "<b>3 → 2</b>" in (quick.into / "report.html").read_text()
    assert quick.ran == [["count_leaves"], ["count_leaves"], []]
    assert quick.points() == {"ada": 2, "bob": 0, "cyd": 0}
    assert len(quick.seeds()) == 1
    assert "Changed mark" not in quick.run_here().stdout  # it has been told


def test_a_run_that_others_may_have_spoilt_runs_again_alone(quick, monkeypatch):
    """Whatever others do to a run (its kernel ends, it finds no memory), its marks are its own."""
    run_it = class_grading.run_answers
    spoilt = cycle([SHORT, DIED, None])
    runs = []

    def run(answers, *rest):
        runs.append(answers)
        how = next(spoilt) if len(runs) <= 5 else None
        if how is None and len(runs) <= 5:
            raise BrokenProcessPool
        found = run_it(answers, *rest)
        return found if how is None else dict.fromkeys(found, how)

    monkeypatch.setattr(class_grading, "run_answers", run)
    for number, student in enumerate(("ada", "bob", "cyd", "dan", "eve")):
        quick.hand_in(student, {**RIGHT, "count_leaves": f"{RIGHT['count_leaves']}\n# {number}"})
    summary = quick.grade()
    assert (summary.graded, summary.failed) == (5, [])
    assert [*quick.points().values()] == [3] * 5
    assert sorted(map(str, runs[5:])) == sorted(map(str, runs[:5]))
    quick.hand_in("fay", RIGHT)  # where it runs alone, it is settled at once
    monkeypatch.setattr(class_grading, "run_answers", lambda ran, *_: dict.fromkeys(ran, DIED))
    assert quick.grade().graded == 1
    assert quick.points()["fay"] == 0


SHORT = ExerciseRun(CellRun(error=("OSError", "[Errno 28] No space left on device")), CellRun())
DIED = ExerciseRun(CellRun(CellEnd.KERNEL_ENDED), CellRun())


def _fails(*_):
    raise OSError("no space left on device")


def _is_full(*_):
    raise MemoryError


def _judge_or_fail(lesson, right, submission, runs):
    if submission.answers != RIGHT:
        _fails()
    return judge_submission(lesson, right, submission, runs)


@pytest.mark.parametrize(
    ("what", "fails", "costs", "said"),
    [
        ("grade_class.run_answers", _fails, ["ada", "bob"], "no space left on device. If this"),
        ("grade_class.run_answers", _is_full, ["ada", "bob"], "grade it again with `--jobs 1`"),
        ("graded_rows.judge_submission", _judge_or_fail, ["ada"], "look at the notebook yourself"),
    ],
)
def test_a_failed_run_costs_nobody_else_and_is_tried_again(
    quick, monkeypatch, what, fails, costs, said
):
    quick.hand_in("ada", ELEMENTS)
    quick.hand_in("bob", RIGHT)
    with monkeypatch.context() as patch:
        patch.setattr(f"pytree_course.class_grading.{what}", fails)
        summary = quick.grade()
    assert (summary.graded, len(summary.failed)) == (2 - len(costs), len(costs))
    failed = [each for each in quick.attempts() if each.state is AttemptState.FAILED]
    assert [each.student for each in failed] == costs
    assert said in failed[0].reason
    assert quick.grade().graded == len(costs)
    assert quick.points() == {"ada": 0, "bob": 3}


def test_if_the_courses_own_answers_do_not_run_no_student_is_marked(quick, monkeypatch):
    quick.hand_in("ada", RIGHT)
    monkeypatch.setattr("pytree_course.sources.authors_answers.run_solution", _fails)
    with pytest.raises(CourseError, match="own answers to 01_mini cannot run here: no space"):
        quick.grade()
    assert quick.attempts() == []


def handed_in(day, code="1", **values):
    """Make ada's attempt of a day of March."""
    answers = {"count_leaves": code} if code else {}
    values = {"handed_in": NOON.replace(day=day), "file": f"{day}", "reason": "torn"} | values
    return made_attempt("ada", [], "01_mini", answers=answers, **values)


UNREADABLE, FAILED = ({"state": state} for state in (AttemptState.UNREADABLE, AttemptState.FAILED))


@pytest.mark.parametrize(
    ("attempt", "earlier", "why"),
    [
        (handed_in(3), handed_in(2, "2"), ""),
        (handed_in(2), handed_in(2, "2"), ""),
        (handed_in(1), handed_in(2, "2"), class_grading.OLDER),
        (handed_in(1), handed_in(2, "2", **FAILED), class_grading.OLDER),
        (handed_in(1, file="2"), handed_in(2, "2"), ""),  # it replaces that file
        (handed_in(1), handed_in(2), ""),
        (handed_in(1), handed_in(2, "", **UNREADABLE), ""),
        (handed_in(1, ""), handed_in(2, "", **UNREADABLE), class_grading.OLDER),
        (handed_in(3, ""), handed_in(2), class_grading.NO_ANSWERS),
        (handed_in(3, "", **UNREADABLE), handed_in(2), "torn"),
        (handed_in(3, "", **FAILED), handed_in(2), ""),
        (handed_in(2, "", **FAILED), handed_in(2), "torn"),
        (handed_in(1, "", **FAILED), handed_in(2, "", **FAILED), ""),
    ],
)
def test_a_newer_notebook_with_answers_counts_and_otherwise_it_is_said_why(attempt, earlier, why):
    said = class_grading._why_earlier_counts(attempt, earlier)
    assert said.partition("; the notebook")[0] == why.partition("; the notebook")[0]
    assert bool(said) == said.endswith("the notebook that was graded before counts")


def test_files_that_do_not_count_are_remembered_until_they_are_read(quick):
    def remembered():
        with quick.gradebook() as gradebook:
            return [(file.student, file.file) for file in gradebook.memory().left_out]

    quick.hand_in("ada", RIGHT)
    put(quick.folder / "hal" / "essay.pdf")
    put(quick.folder / "hal" / "scratch.ipynb", '{"cells": []}')
    quick.grade()
    quick.hand_in("ada", {})
    quick.grade()
    assert quick.points() == {"ada": 3}
    files = [("hal", "scratch.ipynb"), ("hal", "essay.pdf"), ("ada", EXERCISES)]
    assert remembered() == files
    first, quick.folder = quick.folder, quick.folder.with_name("late")
    quick.hand_in("bob", ELEMENTS)
    quick.grade()
    assert remembered() == files
    quick.folder = first
    quick.hand_in("hal", RIGHT, "scratch.ipynb")
    quick.hand_in("ada", RIGHT)
    quick.grade()
    assert remembered() == [("hal", "essay.pdf")]


def count_attempts(file):
    """Return how many attempts a gradebook holds that another process is writing."""
    with (
        suppress(sqlite3.OperationalError),  # it is not made yet
        closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as database,
    ):
        return database.execute("SELECT count(*) FROM attempt").fetchone()[0]
    return 0


def test_killed_and_started_again_it_goes_on_and_loses_nothing(made, tmp_path):
    go = tmp_path / "go"
    waits = f"import os, time\nwhile not os.path.exists({str(go)!r}):\n    time.sleep(0.01)\n"
    for number in range(4):
        code = f"{waits if number == 2 else ''}n = {number}\n{RIGHT['count_leaves']}"
        made.hand_in(f"student{number}", RIGHT | {"count_leaves": code})
    process = subprocess.Popen(
        made.command("--unsandboxed"),
        env=made.variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while count_attempts(made.into / "gradebook.sqlite") < 2:
        assert process.poll() is None
        time.sleep(0.05)
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert not psutil.wait_procs(started, timeout=300)[1]
    before = made.attempts()
    go.touch()
    done = made.run("--unsandboxed")
    assert "2 graded, 2 had not changed, 0 could not" in done.stdout, done.stdout + done.stderr
    after = made.attempts()
    assert [attempt.student for attempt in after] == [f"student{number}" for number in range(4)]
    assert after[:2] == before
    assert set(made.points().values()) == {3}


def test_a_dask_cluster_grades_a_class(made):
    distributed = pytest.importorskip("distributed")
    made.hand_in("ada", RIGHT)
    made.hand_in("bob", ELEMENTS)
    with distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster:
        done = made.run_here("--unsandboxed", "--dask", cluster.scheduler_address)
    assert done.returncode == 0, done.stderr
    assert made.points() == {"ada": 3, "bob": 0}


def test_a_cluster_that_does_not_answer_is_said(monkeypatch):
    monkeypatch.setattr("pytree_course.class_grading.pool._CONNECT_SECONDS", 0.5)
    with pytest.raises(CourseError, match="No Dask scheduler answers"):
        dask_cluster("tcp://127.0.0.1:9").__enter__()
