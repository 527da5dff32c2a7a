"""Grading a class: every submission ends with a row, is run once, and nothing is lost."""

import csv
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures.process import BrokenProcessPool
from itertools import cycle
from zipfile import ZipFile

import psutil
import pytest

from pytree_course.authoring.building import build
from pytree_course.class_grading import grade_class as class_grading
from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.class_grades import ClassGrades
from pytree_course.class_grading.grade_class import GradingOptions
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.class_grading.pool import dask_cluster
from pytree_course.course import CourseError
from pytree_course.grading.cell_run import CellEnd, CellRun
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.grading.grade import judge_submission
from pytree_course.reports.csv_tables import write_tables
from pytree_course.reports.pages import write_pages
from tests.conftest import ROOT, edit
from tests.made_submissions import ELEMENTS, NODES, RIGHT

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
    assert kinds == {
        "ada": ["correct", "correct"],
        "bob": ["incorrect", "not attempted"],
        "cyd": ["not attempted", "not attempted"],
        "dan": ["crashed", "correct"],
        "eve": [None, None],
    }
    bob, dan = (attempt.rows[0] for attempt in made.attempts() if attempt.student in ("bob", "dan"))
    assert bob.misconceptions == ["elements"]
    assert "terminated its Python" in dan.explanation
    for name in ("report.html", "grades.csv", "exercises.csv", "canvas.csv"):
        assert (made.into / name).stat().st_size > 0
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


def test_latecomers_get_the_classs_cases_and_new_cases_regrade_everyone(quick):
    quick.hand_in("ada", RIGHT)
    quick.hand_in("bob", ELEMENTS)
    quick.grade()
    class_folder = quick.folder
    quick.folder = class_folder.with_name("late")
    quick.hand_in("cyd", RIGHT)
    assert quick.grade().graded == 1
    assert len(quick.seeds()) == 1
    with quick.gradebook() as gradebook:
        gradebook.draw_seed("01_mini")
    assert quick.grade().graded == 3  # the others' answers are in the gradebook
    assert len(quick.seeds()) == 2
    assert quick.points() == {"ada": 3, "bob": 0, "cyd": 3}


@pytest.mark.parametrize(
    ("newer", "why"), [(b"\xff{", "is not a notebook"), (None, "it has no answers")]
)
def test_a_newer_notebook_without_answers_takes_no_mark_and_is_said(quick, newer, why):
    quick.hand_in("ada", RIGHT)
    quick.grade()
    file = quick.hand_in("ada", {})
    if newer:
        file.write_bytes(newer)
    quick.grade()
    assert quick.points() == {"ada": 3}
    with quick.gradebook() as gradebook:
        (left_out,) = gradebook.memory().left_out
    assert why in left_out.reason
    assert "graded before counts" in left_out.reason


def test_a_file_that_replaces_a_graded_one_counts_however_old(quick):
    quick.hand_in("ada", ELEMENTS)
    quick.grade()
    os.utime(quick.hand_in("ada", RIGHT), (1, 1))
    quick.grade()
    assert quick.points() == {"ada": 3}


def test_a_deadline_is_remembered_and_a_lost_mark_told(quick):
    roster = quick.folder.parent / "class.csv"
    roster.write_text("student,name,group\nada,,team\nbob,,team\n")
    quick.hand_in("team", RIGHT)
    quick.run_here("--roster", str(roster), "--due", "2020-01-01")
    quick.run_here()  # both are remembered
    assert (quick.into / "grades.csv").read_text().count(',"graded","fresh",') == 2
    with quick.gradebook() as gradebook:
        assert [*gradebook.memory().due] == ["01_mini"]
    roster.write_text("student,name\nada,\nbob,\n")
    said = quick.run_here("--roster", str(roster)).stdout
    assert "Changed mark: bob, 01_mini: 3 → none (nothing that was" in " ".join(said.split())


def test_a_lesson_that_is_not_built_is_refused_with_the_command(quick):
    quick.hand_in("ada", RIGHT)
    edit(quick.course.lesson("01_mini").sources / "answers.py", "You count", "You are counting")
    refused = quick.run_here()
    assert refused.returncode == 2
    assert "Nothing was graded. The sources of 01_mini have changed" in refused.stderr
    assert "python3 course.py build 01_mini" in refused.stderr


def test_another_wording_is_on_every_page_and_nothing_runs(quick, monkeypatch):
    quick.hand_in("bob", ELEMENTS)
    quick.run_here()
    edit(quick.course.lesson("01_mini").sources / "answers.py", "You count", "You are counting")
    build(quick.course.lesson("01_mini"))
    monkeypatch.setattr(class_grading, "run_answers", _fails)
    assert quick.run_here().returncode == 0
    assert "You are counting" in (quick.into / "students" / "bob.html").read_text()
    assert len(quick.attempts()) == 1


def test_equal_answers_run_once_and_each_student_has_an_attempt(quick):
    for student in ("ada", "bob", "cyd"):
        quick.hand_in(student, RIGHT)
    quick.hand_in("dan", ELEMENTS)
    assert quick.grade().graded == 4
    assert len(quick.ran) == 2
    assert quick.points() == {"ada": 3, "bob": 3, "cyd": 3, "dan": 0}
    assert len(quick.seeds()) == 1


def test_public_cases_have_to_be_accepted_and_are_shown_everywhere(made):
    made.hand_in("ada", RIGHT)
    sources = made.course.lesson("01_mini").sources
    away = sources.rename(sources.with_name("away"))
    refused = made.run_here("--unsandboxed")
    assert refused.returncode == 2
    assert "Nothing was graded. There is no sources/01_mini here" in refused.stderr
    assert refused.stderr.rstrip().endswith("accept it with --public-cases.")
    assert not made.into.exists()
    done = made.run_here("--unsandboxed", "--public-cases")
    assert done.returncode == 0
    _, first, *_, last = done.stderr.strip().splitlines()  # the sandbox comes first
    assert "graded on the public cases only" in first
    assert last.startswith("01_mini: graded on the public cases only")
    assert "01_mini: graded on the public cases only" in (made.into / "report.html").read_text()
    page = (made.into / "students" / "ada.html").read_text()
    assert "Graded on the cases that your own check uses, too." in page
    assert '"graded","public",' in (made.into / "grades.csv").read_text()
    (attempt,) = made.attempts()
    assert attempt.on_public_cases
    away.rename(sources)
    assert made.grade().graded == 1  # now there are fresh cases
    assert [each.on_public_cases for each in made.attempts()] == [True, False]


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


def _judge_or_fail(lesson, right, submission, runs):
    if submission.answers != RIGHT:
        _fails()
    return judge_submission(lesson, right, submission, runs)


@pytest.mark.parametrize(
    ("what", "fails", "costs"),
    [
        ("pytree_course.class_grading.grade_class.run_answers", _fails, ["ada", "bob"]),
        ("pytree_course.class_grading.graded_rows.judge_submission", _judge_or_fail, ["ada"]),
    ],
)
def test_a_failed_run_costs_nobody_else_and_is_tried_again(quick, monkeypatch, what, fails, costs):
    quick.hand_in("ada", ELEMENTS)
    quick.hand_in("bob", RIGHT)
    with monkeypatch.context() as patch:
        patch.setattr(what, fails)
        summary = quick.grade()
    assert (summary.graded, len(summary.failed)) == (2 - len(costs), len(costs))
    failed = [each for each in quick.attempts() if each.state is AttemptState.FAILED]
    assert [each.student for each in failed] == costs
    assert "no space" in failed[0].reason
    assert "If this happens again, look at the notebook yourself" in failed[0].reason
    assert quick.grade().graded == len(costs)
    assert quick.points() == {"ada": 0, "bob": 3}


def test_if_the_courses_own_answers_do_not_run_no_student_is_marked(quick, monkeypatch):
    quick.hand_in("ada", RIGHT)
    monkeypatch.setattr("pytree_course.sources.authors_answers.run_solution", _fails)
    with pytest.raises(CourseError, match="own answers to 01_mini cannot run here: no space"):
        quick.grade()
    assert quick.attempts() == []


def wait_for_attempts(made, process, fewest):
    deadline = time.monotonic() + 600
    while time.monotonic() < deadline:
        if (made.into / "gradebook.sqlite").exists():
            try:
                if len(made.attempts()) >= fewest:
                    return
            except (CourseError, sqlite3.OperationalError):
                pass  # the tables are being made
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.05)
    raise AssertionError("it graded too few in time")


def test_killed_and_started_again_it_goes_on_and_loses_nothing(made):
    for number in range(4):
        made.hand_in(
            f"student{number}", RIGHT | {"count_leaves": f"n = {number}\n{RIGHT['count_leaves']}"}
        )
    process = subprocess.Popen(
        made.command("--unsandboxed"),
        env=made.variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_attempts(made, process, 1)
    started = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert not psutil.wait_procs(started, timeout=300)[1]
    before = {attempt.student: attempt for attempt in made.attempts()}
    assert 1 <= len(before) < 4
    done = made.run("--unsandboxed")
    assert done.returncode == 0
    assert f"{4 - len(before)} graded, {len(before)} had not changed" in done.stdout, (
        done.stdout + done.stderr
    )
    after = made.attempts()
    assert Counter(attempt.student for attempt in after) == {f"student{n}": 1 for n in range(4)}
    assert [before.get(attempt.student, attempt) for attempt in after] == after
    assert set(made.points().values()) == {3}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "apt install bubblewrap"),
        (("--unsandboxed", "--lesson", "9"), "9"),
        (("--unsandboxed", "--roster", "none.csv"), "none.csv"),
    ],
)
def test_without_bubblewrap_or_with_wrong_options_nothing_is_written(
    made, tmp_path, monkeypatch, arguments, said
):
    made.hand_in("ada", RIGHT)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = made.run_here(*arguments)
    assert refused.returncode == 2
    assert "Nothing was graded. " in refused.stderr
    assert said in refused.stderr
    assert not made.into.exists()


def test_grades_into_an_unfit_folder_are_refused(made):
    made.hand_in("ada", RIGHT)
    made.into.write_text("my notes")
    refused = made.run_here("--unsandboxed")
    assert refused.returncode == 2
    assert made.into.read_text() == "my notes"
    assert "cannot be used" in refused.stderr
    made.into = made.folder / "grades"
    made.hand_in("bob", RIGHT)
    with ZipFile(made.folder / "bob" / "work.zip", "w") as zipped:  # would be unpacked there
        zipped.writestr("work.ipynb", "{}")
    refused = made.run_here("--unsandboxed")
    assert refused.returncode == 2
    assert "name a folder elsewhere" in refused.stderr
    assert not made.into.exists()


def test_an_unwritable_gradebook_stops_grading_and_keeps_its_attempts(made, monkeypatch):
    made.hand_in("ada", {})
    made.hand_in("bob", {})
    record = Gradebook.record

    def record_one(gradebook, attempt, results):
        record(gradebook, attempt, results)
        gradebook._database.execute("PRAGMA query_only = ON")  # as where the disk is read-only

    monkeypatch.setattr(Gradebook, "record", record_one)
    stopped = made.run_here("--unsandboxed")
    assert stopped.returncode == 2
    assert "Grading stopped. " in stopped.stderr
    assert "What is in it is kept." in stopped.stderr
    assert len(made.attempts()) == 1


def test_an_unwritable_page_costs_no_grade_and_no_other_page(made):
    made.hand_in("ada", {})
    made.hand_in("bob", {})
    for name in ("grades.csv", "students/ada.html"):  # it may as well be open in a spreadsheet
        (made.into / name).mkdir(parents=True)
    done = made.run_here("--unsandboxed")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "The grades are in the gradebook" in said
    assert "grades.csv: Is a directory" in said
    assert "ada.html: Is a directory" in said
    assert made.points() == {"ada": 0, "bob": 0}
    written = {file.name for file in made.into.rglob("*") if file.is_file()}
    assert {"bob.html", "report.html", "exercises.csv", "canvas.csv"} <= written
    assert not [*made.into.rglob("*.part")]


def test_work_not_yet_graded_is_not_called_missing(made):
    made.hand_in("ada", {})
    made.grade()
    made.hand_in("bob", {})
    (made.folder / "cyd").mkdir()
    folder = made.read()
    with made.gradebook() as gradebook:
        gradebook.remember(submitters=folder.submitters)
        grades = ClassGrades.combine(made.course, gradebook, folder)
    assert write_tables(grades, made.into) + write_pages(grades, made.into, {}) == []
    assert (
        '"bob","","yes","01_mini","","3","handed in, but not graded yet"'
        in (made.into / "grades.csv").read_text()
    )
    assert "– not handed in" in (made.into / "report.html").read_text()
    assert "has not been graded yet" in (made.into / "students" / "bob.html").read_text()


# ---- a cluster


@pytest.fixture
def dask(tmp_path):
    """Start a Dask scheduler and two workers, each a process of its own."""
    pytest.importorskip("distributed")
    processes = []

    def start(program, *arguments):
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli." + program, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
            stderr=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        processes.append(process)
        return process

    connection = tmp_path / "scheduler.json"
    options = ["--scheduler-file", str(connection), "--no-dashboard"]
    start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *options)
    alone = ["--nthreads", "1", "--no-nanny", "--local-directory", str(tmp_path)]
    workers = [start("dask_worker", *options, *alone) for _ in range(2)]
    from distributed import Client

    with Client(scheduler_file=str(connection), timeout="300s") as client:
        client.wait_for_workers(2, timeout=300)
        address = client.scheduler.address
    yield address, workers
    for process in processes:
        process.kill()
        process.wait()


def test_on_a_dask_cluster_a_killed_worker_costs_no_submission(made, dask):
    address, workers = dask
    for number in range(5):
        made.hand_in(f"student{number}", {"count_leaves": f"n = {number}\n{RIGHT['count_leaves']}"})
    process = subprocess.Popen(
        made.command("--dask", address), env=made.variables, stdout=subprocess.PIPE, text=True
    )
    wait_for_attempts(made, process, 2)
    workers[0].kill()
    output, _ = process.communicate(timeout=900)
    assert process.returncode == 0
    assert "5 graded, 0 had not changed, 0 could not be graded" in output
    attempts = made.attempts()
    assert Counter(attempt.student for attempt in attempts) == {f"student{n}": 1 for n in range(5)}
    assert {attempt.points for attempt in attempts} == {1}


def test_a_cluster_that_does_not_answer_is_said(monkeypatch):
    monkeypatch.setattr("pytree_course.class_grading.pool._CONNECT_SECONDS", 0.5)
    with pytest.raises(CourseError, match="No Dask scheduler answers"):
        dask_cluster("tcp://127.0.0.1:9").__enter__()
