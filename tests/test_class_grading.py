"""Grading a class: every submission ends with a row, is run once, and nothing is lost."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytree_course.classroom.class_grading import GradingOptions, grade_class
from pytree_course.classroom.folder import read_class_folder
from pytree_course.classroom.gradebook import AttemptState, Gradebook, counting
from pytree_course.classroom.pool import dask_cluster, local_processes, run_all
from pytree_course.course import CourseError
from tests.conftest import ROOT, ExerciseNotebook

RIGHT = {
    "count_leaves": "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))",
    "first_leaf": (
        "def first_leaf(tree):\n    for leaf in jax.tree.leaves(tree):\n        return leaf\n"
        "    raise ValueError('no leaves')"
    ),
}
ELEMENTS = {"count_leaves": "def count_leaves(tree):\n    return len(tree)"}
NODES = {"count_leaves": "def count_leaves(tree):\n    return jax.tree.structure(tree).num_nodes"}

OWN_WORK = GradingOptions(in_sandbox=False)  # what these tests hand in is theirs


class MadeClass:
    """A folder that students hand in to, and the gradebook that it is graded into."""

    def __init__(self, course, tmp_path):
        self.course = course
        self.folder = tmp_path / "class"
        self.into = tmp_path / "grades"

    def hand_in(self, student, answers, name="01_mini.ipynb"):
        file = self.folder / student / name
        file.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.course.lesson("01_mini").blank, file)
        notebook = ExerciseNotebook(file)
        for exercise, code in answers.items():
            notebook.answer(exercise, code)
        return notebook.save()

    @property
    def gradebook(self):
        return Gradebook(self.into / "gradebook.sqlite")

    def grade(self, options=OWN_WORK, new_executor=lambda: ThreadPoolExecutor(1)):
        folder = read_class_folder(self.folder, self.course)
        return grade_class(self.course, folder, self.gradebook, options, new_executor)

    def points(self, best=False):
        attempts = counting(self.gradebook.attempts(), best)
        return {student: attempt.points for (student, _), attempt in attempts.items()}

    def command(self, *arguments):
        return [
            *(sys.executable, "-m", "pytree_course", "grade", str(self.folder)),
            *("--into", str(self.into), "--jobs", "1", *arguments),
        ]

    @property
    def variables(self):
        return {**os.environ, "PYTREE_COURSE": str(self.course.root), "COLUMNS": "200"}

    def run(self, *arguments, **variables):
        return subprocess.run(
            self.command(*arguments),
            env=self.variables | variables,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def made(course, tmp_path):
    return MadeClass(course, tmp_path)


def test_a_class_of_all_kinds_is_graded_in_the_sandbox_and_every_student_has_a_row(made):
    made.hand_in("ada", RIGHT)
    made.hand_in("bob", ELEMENTS)
    made.hand_in("cyd", {})
    made.hand_in("dan", {"count_leaves": "import os; os._exit(1)", **RIGHT} | ELEMENTS)
    made.hand_in("eve", {}).write_bytes(b"\xff{")
    (made.folder / "fay").mkdir()
    roster = made.folder.parent / "class.csv"
    roster.write_text("student,name\nada,Ada Lovelace\ngus,\n")
    done = made.run("--roster", str(roster), "--due", "2020-01-01")
    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "Ada Lovelace (ada)" in done.stdout
    assert rows["Ada"].split()[3] == "3"
    assert "late by" in rows["Ada"]
    assert rows["bob"].split()[1] == "0"
    assert "not on the list of the class" in rows["bob"]
    assert rows["dan"].split()[1] == "2"
    assert "unreadable" in rows["eve"]
    assert "not handed in" in rows["fay"]
    assert "not handed in" in rows["gus"]
    kinds = {
        attempt.student: [row.kind for row in attempt.rows] for attempt in made.gradebook.attempts()
    }
    assert kinds == {
        "ada": ["correct", "correct"],
        "bob": ["incorrect", "not attempted"],
        "cyd": ["not attempted", "not attempted"],
        "dan": ["incorrect", "correct"],
        "eve": ["unreadable", "unreadable"],
    }
    (bob,) = made.gradebook.attempts(student="bob")
    assert bob.rows[0].misconceptions == ["elements"]
    for name in ("report.html", "grades.csv", "exercises.csv", "canvas.csv", "junit.xml"):
        assert (made.into / name).stat().st_size > 0
    assert {file.stem for file in (made.into / "students").iterdir()} >= {"ada", "bob", "fay"}


def test_the_gradebook_keeps_nothing_that_was_expected_in_a_fresh_case(made):
    made.hand_in("bob", {"count_leaves": "def count_leaves(tree):\n    return -1"})
    made.grade()
    (bob,) = made.gradebook.attempts()
    row = bob.rows[0]
    assert set(row.failure) == {"case", "inputs", "written", "got", "printed", "line", "note"}
    assert row.explanation == "0 of 6 cases passed."


def test_errors_that_name_an_address_in_memory_are_equal_results(made):
    code = "def count_leaves(tree):\n    raise ValueError(object())"
    for student in ("ada", "bob"):
        made.hand_in(student, {"count_leaves": f"name = {student!r}\n{code}"})
    made.grade()
    first, second = (attempt.rows[0] for attempt in made.gradebook.attempts())
    assert first.failure["got"]["message"] != second.failure["got"]["message"]
    assert first.results == second.results is not None


def test_what_has_not_changed_is_not_run_again_unless_forced(made):
    made.hand_in("ada", RIGHT)
    made.hand_in("bob", ELEMENTS)
    assert made.grade().graded == 2
    again = made.grade()
    assert (again.graded, again.unchanged) == (0, 2)
    made.hand_in("bob", NODES)
    third = made.grade()
    assert (third.graded, third.unchanged) == (1, 1)
    assert made.grade(GradingOptions(in_sandbox=False, force=True)).graded == 2
    only = GradingOptions(in_sandbox=False, force=True, students=["bob"])
    assert made.grade(only).graded == 1
    assert made.grade(GradingOptions(lessons=["02_other"])).graded == 0


def test_where_nothing_is_new_the_authors_answers_are_not_run_either(made, monkeypatch):
    made.hand_in("ada", RIGHT)
    made.grade()
    monkeypatch.setattr("pytree_course.grading.lesson.expect_exercise", _fails)
    assert made.grade().unchanged == 1


def test_an_earlier_attempt_is_kept_and_the_last_or_the_best_counts(made):
    made.hand_in("ada", RIGHT)
    made.grade()
    made.hand_in("ada", ELEMENTS)
    made.grade()
    assert made.points() == {"ada": 0}
    assert made.points(best=True) == {"ada": 3}


def change_the_check(made):
    """Count None as a leaf from now on, as a teacher would who changed their mind."""
    files = made.course.lesson("01_mini")
    exercises = files.sources / "exercises.md"
    text = exercises.read_text()
    exercises.write_text(
        text.replace(
            "jax.tree.leaves(tree))", "jax.tree.leaves(tree, is_leaf=lambda x: x is None))"
        )
    )


def test_a_changed_exercise_regrades_and_says_whose_verdict_changed_and_why(made):
    made.hand_in("ada", RIGHT)
    made.hand_in("bob", ELEMENTS)
    made.grade()
    change_the_check(made)
    summary = made.grade()
    assert summary.graded == 2
    (change,) = summary.changes
    assert (change.student, change.exercise) == ("ada", "count_leaves")
    assert (change.before, change.after) == ("correct", "incorrect")
    assert "changed" in change.why
    assert made.points() == {"ada": 2, "bob": 0}


def test_where_the_best_attempt_counts_earlier_ones_are_regraded_too(made):
    made.hand_in("ada", RIGHT)
    made.grade()
    made.hand_in("ada", ELEMENTS)
    made.grade()
    change_the_check(made)
    best = GradingOptions(in_sandbox=False, best=True)
    assert made.grade(best).graded == 2
    assert made.points(best=True) == {"ada": 2}


def test_a_submission_that_cannot_be_run_is_said_and_tried_again(made, monkeypatch):
    made.hand_in("ada", RIGHT)
    with monkeypatch.context() as patch:
        patch.setattr("pytree_course.classroom.class_grading.run_answers", _fails)
        summary = made.grade()
    assert (summary.graded, len(summary.failed)) == (0, 1)
    assert "no space" in summary.failed[0][1]
    (attempt,) = made.gradebook.attempts()
    assert attempt.state is AttemptState.FAILED
    assert made.grade().graded == 1
    assert made.points() == {"ada": 3}


def _fails(*_):
    raise OSError("no space left on device")


def wait_for_attempts(made, process, fewest):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        if (made.into / "gradebook.sqlite").exists():
            try:
                if len(made.gradebook.attempts()) >= fewest:
                    return
            except (CourseError, sqlite3.OperationalError):
                pass  # the tables are being made
        assert process.poll() is None, "it ended before it could be killed"
        time.sleep(0.05)
    raise AssertionError("it graded too few in time")


def processes_of(made):
    """Return the processes that have this test's temporary folder in their environment."""
    wanted = f"TMPDIR={made.into.parent}\0".encode()
    return [each.parent.name for each in Path("/proc").glob("[0-9]*/environ") if _has(each, wanted)]


def _has(environment, wanted):
    try:
        return wanted in environment.read_bytes() + b"\0"
    except OSError:  # it ended meanwhile
        return False


def test_killed_and_started_again_it_goes_on_and_loses_nothing(made):
    for number in range(6):
        made.hand_in(
            f"student{number}", RIGHT | {"count_leaves": f"n = {number}\n{RIGHT['count_leaves']}"}
        )
    process = subprocess.Popen(
        made.command("--unsandboxed"),
        env={**made.variables, "TMPDIR": str(made.into.parent)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_attempts(made, process, 2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    if Path("/proc").exists():
        deadline = time.monotonic() + 30
        while processes_of(made) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not processes_of(made), "processes outlive the grading that started them"
    before = {attempt.student: attempt for attempt in made.gradebook.attempts()}
    assert 2 <= len(before) < 6
    done = made.run("--unsandboxed")
    assert f"{6 - len(before)} graded, {len(before)} had not changed" in done.stdout, done.stderr
    after = made.gradebook.attempts()
    assert Counter(attempt.student for attempt in after) == {f"student{n}": 1 for n in range(6)}
    assert [before.get(attempt.student, attempt) for attempt in after] == after
    assert len({attempt.seed for attempt in after}) == 1
    assert set(made.points().values()) == {3}


def test_without_bubblewrap_grading_is_refused_and_nothing_is_written(made, tmp_path):
    made.hand_in("ada", RIGHT)
    empty = tmp_path / "bin"
    empty.mkdir()
    done = made.run(PATH=str(empty))
    assert done.returncode == 2
    assert "apt install bubblewrap" in done.stderr
    assert not made.into.exists()


@pytest.mark.parametrize(
    "arguments", [("--lesson", "9"), ("--roster", "none.csv"), ("--student", "eve")]
)
def test_a_wrong_option_is_refused_with_a_reason(made, arguments):
    made.hand_in("ada", RIGHT)
    done = made.run(*arguments, "--unsandboxed")
    assert done.returncode == 2
    assert arguments[1] in done.stderr
    assert "Traceback" not in done.stderr
    assert not made.into.exists()


def test_a_folder_that_the_grades_cannot_go_to_is_refused_with_a_reason(made):
    made.hand_in("ada", RIGHT)
    made.into.write_text("my notes")
    done = made.run("--unsandboxed")
    assert (done.returncode, made.into.read_text()) == (2, "my notes")
    assert "cannot be made" in done.stderr
    made.into = made.folder / "grades"
    done = made.run("--unsandboxed")
    assert done.returncode == 2
    assert "name a folder elsewhere" in done.stderr
    assert not made.into.exists()
    assert "Traceback" not in done.stderr


def test_tables_that_cannot_be_written_cost_no_grade(made):
    made.hand_in("ada", {})
    (made.into / "grades.csv").mkdir(parents=True)  # it may as well be open in a spreadsheet
    done = made.run("--unsandboxed")
    assert done.returncode == 2
    assert "The grades are in the gradebook" in done.stderr
    assert "Traceback" not in done.stderr
    assert made.points() == {"ada": 0}


def test_who_was_not_asked_for_is_not_said_to_have_handed_nothing_in(made):
    for student in ("ada", "bob"):
        made.hand_in(student, {})
    (made.folder / "cyd").mkdir()
    done = made.run("--unsandboxed", "--student", "ada")
    rows = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "handed in, but not graded yet" in rows["bob"]
    assert rows["cyd"].split() == ["cyd", "–", "not", "handed", "in"]
    assert (
        'bob,,yes,01_mini,0,3,"handed in, but not graded yet"'
        in (made.into / "grades.csv").read_text()
    )
    assert "has not been graded yet" in (made.into / "students" / "bob.html").read_text()


def test_a_notebook_without_answer_cells_is_said_and_one_without_ids_is_graded(made):
    for student in ("old", "saved_again", "other"):
        file = made.hand_in(student, RIGHT)
        notebook = json.loads(file.read_text())
        for number, cell in enumerate(notebook["cells"]):
            del cell["id"]  # format 4.4 has none
            if student == "saved_again":
                cell["id"] = f"new-{number}"
            if student == "other":
                cell["metadata"] = {}
        file.write_text(json.dumps(notebook))
    made.hand_in("zoe", {}).write_text("")
    made.grade()
    assert made.points() == {"old": 3, "saved_again": 3, "other": 0, "zoe": 0}
    reasons = {attempt.student: attempt.reason for attempt in made.gradebook.attempts()}
    assert reasons["old"] == ""
    assert "none of the answer cells" in reasons["other"]
    assert reasons["zoe"].endswith("is empty")


# ---- engines


def square(number):
    if number == 3 and "PYTREE_COURSE_TEST_DIES" in os.environ:
        os._exit(1)
    if number == 4:
        raise ValueError("four")
    return number**2


def test_a_pools_process_that_dies_costs_its_own_task_only(monkeypatch):
    monkeypatch.setenv("PYTREE_COURSE_TEST_DIES", "1")
    results = dict(run_all(local_processes(2), square, range(6)))
    assert {task: result for task, result in results.items() if task not in (3, 4)} == {
        0: 0,
        1: 1,
        2: 4,
        5: 25,
    }
    assert str(results[4]) == "four"
    assert isinstance(results[3], Exception)


@pytest.fixture
def dask(tmp_path):
    """Start a Dask scheduler and two workers, each a process of its own."""
    pytest.importorskip("distributed")
    processes = []

    def start(program, *arguments):
        command = [sys.executable, "-m", "distributed.cli." + program, *arguments]
        variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        processes.append(
            subprocess.Popen(
                command,
                cwd=tmp_path,
                env=variables,
                stderr=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
        )
        return processes[-1]

    connection = tmp_path / "scheduler.json"
    options = ["--scheduler-file", str(connection), "--no-dashboard"]
    start("dask_scheduler", "--host", "127.0.0.1", "--port", "0", *options)
    workers = [
        start(
            "dask_worker",
            *options,
            "--nthreads",
            "1",
            "--no-nanny",
            "--local-directory",
            str(tmp_path),
        )
        for _ in range(2)
    ]
    from distributed import Client

    with Client(scheduler_file=str(connection), timeout="60s") as client:
        client.wait_for_workers(2, timeout=60)
        address = client.scheduler.address
    yield address, workers
    for process in processes:
        process.kill()
        process.wait()


def test_on_a_dask_cluster_a_killed_worker_costs_no_submission(made, dask):
    address, workers = dask
    for number in range(8):
        made.hand_in(f"student{number}", {"count_leaves": f"n = {number}\n{RIGHT['count_leaves']}"})
    process = subprocess.Popen(
        made.command("--dask", address), env=made.variables, stdout=subprocess.PIPE, text=True
    )
    wait_for_attempts(made, process, 2)
    workers[0].kill()
    output, _ = process.communicate(timeout=180)
    assert process.returncode == 0
    assert "8 graded, 0 had not changed, 0 could not be graded" in output
    attempts = made.gradebook.attempts()
    assert Counter(attempt.student for attempt in attempts) == {f"student{n}": 1 for n in range(8)}
    assert {attempt.points for attempt in attempts} == {1}


def test_a_cluster_that_does_not_answer_is_said():
    with pytest.raises(CourseError, match="No Dask scheduler answers"):
        dask_cluster("tcp://127.0.0.1:9").__enter__()
