"""A real nbgrader, in an environment of its own, gives the points that the course gives."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from pytree_course.course import Course
from pytree_course.grading.grade import grade_notebook
from pytree_course.nbgrader import EXECUTION_VARIABLE
from tests.conftest import ExerciseNotebook
from tests.environments import RUNNING, made, run
from tests.made_submissions import ELEMENTS, RIGHT

pytestmark = pytest.mark.slow

ASSIGNMENT = "leaves"
CONFIG = """
c = get_config()
c.ClearSolutions.enabled = False
c.OverwriteCells.add_missing_cells = True
"""  # as docs/teaching.md says
NOISY = '''\
import logging, os, sys, warnings
logging.basicConfig()
def count_leaves(tree):
    """Right, and loud about it."""
    warnings.warn("hm")
    logging.warning("hm")
    print("hm", file=sys.stderr)
    os.write(2, b"hm")
    return len(jax.tree.leaves(tree))
'''
NEARLY = "def first_leaf(tree):\n    return jax.tree.leaves(tree)[0]"

SUBMISSIONS = {
    "right": RIGHT,
    "wrong": ELEMENTS,  # the other exercise is left blank
    "noisy": {"count_leaves": NOISY, "first_leaf": NEARLY},
    "broken": {"count_leaves": "def count_leaves(tree) return", "first_leaf": "first_leaf = 3"},
    "deleted": {"count_leaves": RIGHT["count_leaves"]},  # and its check cell deleted
}


def answered(notebook: Path, target: Path, answers: dict[str, str]) -> ExerciseNotebook:
    target.parent.mkdir(parents=True)
    copy = ExerciseNotebook(Path(shutil.copy(notebook, target)))
    for exercise, code in answers.items():
        copy.answer(exercise, code)
    return copy


@pytest.fixture(scope="module")
def graded(built_course, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nbgrader")
    python = made("nbgrader", RUNNING, "nbgrader")
    kernel = (sys.executable, "-m", "ipykernel", "install", "--prefix", python.parents[1])
    run(*kernel, "--name", "python3", "--env", "PYTREE_COURSE", built_course)
    nbgrader = python.with_name("nbgrader")
    (folder / "nbgrader_config.py").write_text(CONFIG, encoding="utf-8")
    source = folder / "source" / ASSIGNMENT / "01_mini_exercises.ipynb"
    source.parent.mkdir(parents=True)
    shutil.copy(built_course / "checks/expected/01_mini.ipynb", source)
    run(nbgrader, "generate_assignment", ASSIGNMENT, "--create", cwd=folder)
    released = folder / "release" / ASSIGNMENT / source.name

    for student, answers in SUBMISSIONS.items():
        # It makes no difference which of the two a learner worked in.
        handed_out = released if student == "right" else lesson_of(built_course).blank
        target = folder / "submitted" / student / ASSIGNMENT / source.name
        submission = answered(handed_out, target, answers)
        if student == "deleted":
            submission.cells.remove(submission.cell("count_leaves-check"))
        submission.save()
    run(nbgrader, "autograde", ASSIGNMENT, "--create", cwd=folder)
    run(nbgrader, "export", cwd=folder)
    return folder


def lesson_of(root):
    return Course(root).lesson("01_mini")


def test_nbgrader_releases_the_courses_notebook_and_keeps_no_progress(graded, built_course):
    assert not (built_course / "progress.jsonl").exists()
    released = nbformat.read(
        graded / "release" / ASSIGNMENT / "01_mini_exercises.ipynb", as_version=4
    )
    ours = nbformat.read(lesson_of(built_course).blank, as_version=4)
    assert [cell.source for cell in released.cells] == [cell.source for cell in ours.cells]


@pytest.mark.parametrize("student", SUBMISSIONS)
def test_nbgraders_points_are_ours(graded, built_course, student):
    with open(graded / "grades.csv", encoding="utf-8") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    submitted = graded / "submitted" / student / ASSIGNMENT / "01_mini_exercises.ipynb"
    ours = grade_notebook(submitted, lesson_of(built_course))
    assert float(rows[student]["score"]) == ours.points
    assert float(rows[student]["max_score"]) == ours.all_points
    assert ours.points == {"right": 3, "noisy": 1, "deleted": 1}.get(student, 0)


def test_nbgraders_notebook_has_the_feedback_and_one_line_of_error(graded):
    file = graded / "autograded" / "wrong" / ASSIGNMENT / "01_mini_exercises.ipynb"
    cells = {cell.id: cell for cell in nbformat.read(file, as_version=4).cells}
    feedback, error = cells["count_leaves-check"].outputs
    assert "You counted the container's" in feedback.data["text/plain"]
    assert error.ename == "NotCorrectError"
    assert "cases passed" in error.evalue
    assert len(error.traceback) == 1


def test_a_kernel_without_the_course_says_what_to_set(tmp_path):
    code = "from pytree_course.course import Course; Course.of_notebook()"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, EXECUTION_VARIABLE: "autograde"},
        capture_output=True,
        text=True,
    )
    assert "Set PYTREE_COURSE to the course's folder" in done.stderr
