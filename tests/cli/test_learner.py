"""The learners' commands: where they lead, and what they say."""

import os
import shutil
import subprocess
import sys

import pytest
from jupyter_core.paths import jupyter_path

from pytree_course.cli.app import console
from tests.made_submissions import RIGHT
from tests.needs import missing


def test_progress_says_what_it_could_not_read(course_py, course, monkeypatch):
    monkeypatch.setattr(console, "width", 1000)
    course.progress_file.write_text('{"lesson": "01_mini"\n', encoding="utf-8")
    assert f"1 line of {course.progress_file} could not be read." in course_py("progress").stdout
    course.progress_file.unlink()
    course.progress_file.mkdir()
    assert f"{course.progress_file} could not be read: " in course_py("progress").stdout


def test_answers_that_check_finds_right_are_progress_once(course_py, notebook, course):
    notebook.answer("count_leaves", RIGHT["count_leaves"]).save()
    course_py("check", "exercises/01_mini_exercises.ipynb")
    shown = course_py("progress").stdout
    assert "1 of 2 exercises, 1 of 3 points" in shown
    assert "First leaf (earned)" in shown
    before = course.progress_file.read_bytes()
    course_py("check", "1")
    assert course.progress_file.read_bytes() == before


@pytest.fixture
def ran(monkeypatch):
    """Return the programs that commands start, of which none runs."""
    programs = []
    run = "pytree_course.cli.learner.run_in_course"
    monkeypatch.setattr(run, lambda program, _: programs.append(program) or 3)
    return programs


@pytest.mark.slow
def test_lab_warns_of_a_home_folder_that_is_read_only(course, tmp_path):
    if shutil.which("bwrap") is None:
        missing("bubblewrap, which makes a folder read-only")
    sandbox = ["bwrap", "--dev-bind", "/", "/", "--ro-bind", str(tmp_path), str(tmp_path)]
    line = [*sandbox, sys.executable, "-m", "pytree_course", "lab", "--version"]
    home = {**os.environ, "HOME": str(tmp_path), "PYTREE_COURSE": str(course.root)}
    done = subprocess.run(line, env=home, capture_output=True, text=True, check=True)
    assert f"Your home folder {tmp_path} cannot be written" in done.stderr
    assert "HOME=FOLDER" in done.stderr


def test_lab_opens_the_lesson_to_go_on_with_with_the_courses_kernel(
    course_py, course, ran, monkeypatch
):
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")  # as Jupyter decides if root owns it
    assert not jupyter_path()[0].startswith(sys.prefix)
    assert course_py("lab", "--no-browser").returncode == 3
    assert jupyter_path()[0].startswith(sys.prefix)
    ((*_, module, root, page, option),) = ran
    assert (module, option) == ("jupyterlab", "--no-browser")
    assert root == f"--ServerApp.root_dir={course.root}"
    assert page == "--LabApp.default_url=/lab/tree/notebooks/01_mini.ipynb"


@pytest.mark.parametrize(
    ("cores", "asked", "processes", "chosen"),
    [(8, ["--fast"], "2", ["-m", "not slow"]), (2, ["--all"], "3", ["--all"]), (8, [], "4", [])],
)
def test_test_runs_an_authors_tests_and_a_learners_lessons(
    course_py, course, ran, monkeypatch, cores, asked, processes, chosen
):
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    course_py("test", *asked, "-k", "leaf")
    (course.root / "tests").mkdir()
    assert course_py("test", *asked, "-k", "leaf").returncode == 3
    learners, authors = (program[program.index("--numprocesses") + 1 :] for program in ran)
    assert authors[0] == learners[0] == processes
    assert authors[1:] == ["--no-loadscope-reorder", *chosen, "-p", "no:nbval", "-k", "leaf"]
    assert {"--nbval-lax", "testpaths=notebooks"} < {*learners}
    assert learners[-2:] == ["-k", "leaf"]


def test_reset_hands_out_a_fresh_notebook_and_names_the_one_that_is_kept(
    course_py, mini, notebook, monkeypatch
):
    monkeypatch.setattr(console, "width", 1000)
    assert "is kept as" not in course_py("reset", "1").stdout
    for number in (1, 2):
        notebook.answer("count_leaves", f"mine = {number}").save()
        said = course_py("reset", "1").stdout
        kept = mini.exercises.with_name(f"01_mini_exercises.kept-{number}.ipynb")
        assert f"Your notebook is kept as {kept}" in said
        assert f"mine = {number}" in kept.read_text("utf-8")
        assert mini.exercises.read_bytes() == mini.blank.read_bytes()
