"""The commands of course.py, as they are typed."""

import io
import os
import shutil
import subprocess
import sys
from datetime import datetime

import pytest
from jupyter_core.paths import jupyter_path

from pytree_course.cli.app import console, parse_deadline
from pytree_course.course import CourseError
from tests.conftest import edit
from tests.made_submissions import RIGHT
from tests.needs import missing


def test_a_lesson_has_several_names_and_unknown_ones_are_refused(course):
    names = ("1", "01", "mini", "01_mini")
    assert {course.lesson_named(name).stem for name in names} == {"01_mini"}
    with pytest.raises(CourseError, match=r"no lesson '7'\. The lessons here: 01_mini"):
        course.lesson_named("7")


def test_progress_says_what_it_could_not_read(course_py, course, monkeypatch):
    monkeypatch.setattr(console, "width", 1000)
    course.progress_file.write_text('{"lesson": "01_mini"\n', encoding="utf-8")
    assert f"1 line of {course.progress_file} could not be read." in course_py("progress").stdout
    course.progress_file.unlink()
    course.progress_file.mkdir()
    assert f"{course.progress_file} could not be read: " in course_py("progress").stdout


def test_a_narrow_terminal_shows_names_and_verdicts_whole(course_py, notebook, monkeypatch):
    removed = "def count_leaves(tree):\n    return len(jax.tree_map(lambda leaf: leaf, tree))"
    notebook.answer("count_leaves", removed).save()
    monkeypatch.setattr(console, "width", 60)
    shown = course_py("check", "1").stdout
    for words in ("Count the leaves", "○ Not attempted", "0 of 3 points, 0 of 2 exercises correct"):
        assert words in shown
    assert "…" not in shown


def test_answers_that_check_finds_right_are_progress_once(course_py, notebook, course):
    notebook.answer("count_leaves", RIGHT["count_leaves"]).save()
    course_py("check", "exercises/01_mini_exercises.ipynb")
    shown = course_py("progress").stdout
    assert "1 of 2 exercises, 1 of 3 points" in shown
    assert "First leaf (earned)" in shown
    before = course.progress_file.read_bytes()
    course_py("check", "1")
    assert course.progress_file.read_bytes() == before


def test_mistakes_and_missing_files_are_named_without_a_traceback(course_py, mini):
    def told(*command):
        done = course_py(*command)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        return done.stderr

    edit(mini.sources / "exercises.md", 'hints: ["one', 'hint: ["one')
    mistake = told("build", "1")
    assert "`hint`" in mistake
    assert "exercises.md:" in mistake
    mini.expected.unlink()
    mini.blank.unlink()
    for command in (["progress"], ["check", "1"], ["reset", "1"]):
        assert "is missing" in told(*command)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_ticks_shows_the_words(course_py, course, monkeypatch, encoding):
    def shown(*arguments):
        streams = {"stdout": io.BytesIO(), "stderr": io.BytesIO()}
        for name, raw in streams.items():
            monkeypatch.setattr(sys, name, io.TextIOWrapper(raw, encoding=encoding))
        course_py(*arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return "".join(raw.getvalue().decode(encoding) for raw in streams.values())

    assert "(to earn)" in shown("progress")
    assert "there is no lesson" in shown("check", "nœud").lower()
    assert "is fresh" in shown("reset", "1")
    assert "course.py" in shown("--help")


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


def test_a_deadline_is_a_time_or_the_end_of_a_day():
    assert parse_deadline("2026-11-30") == datetime(2026, 11, 30, 23, 59, 59, 999_999).astimezone()
    for noon in ("2026-11-30 12:00", "2026-11-30T12:00:00"):
        assert parse_deadline(noon) == datetime(2026, 11, 30, 12).astimezone()
    for invalid in ("30.11.2026", "tomorrow", ""):
        with pytest.raises(CourseError, match="write 2026-11-30, or 2026-11-30 23:59"):
            parse_deadline(invalid)


def test_lab_starts_the_courses_kernel_in_an_environment_of_roots(course_py, monkeypatch):
    monkeypatch.setattr("pytree_course.cli.learner.run_in_course", lambda *_: 0)
    monkeypatch.setenv("JUPYTER_PREFER_ENV_PATH", "0")  # as Jupyter decides if root owns it
    assert not jupyter_path()[0].startswith(sys.prefix)
    course_py("lab")
    assert jupyter_path()[0].startswith(sys.prefix)
