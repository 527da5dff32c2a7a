"""The course is found from where a notebook or a command runs; links lead from there."""

import shutil

import pytest

from pytree_course.course import Course, CourseError, LessonFiles
from tests.conftest import ROOT, put


def test_the_course_is_above_the_folder_or_where_a_variable_says(tmp_path, monkeypatch):
    root = tmp_path / "course"
    put(root / "checks" / "check_01_a.py", "")
    (root / "exercises").mkdir()
    monkeypatch.chdir(root / "exercises")
    assert Course.above() == Course.above(root) == Course.of_notebook() == Course(root)
    with pytest.raises(CourseError, match=r"no folder above .* has a folder `checks`. Go to the"):
        Course.above(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert Course.of_notebook() == Course(ROOT, is_elsewhere=True)
    assert Course.of_notebook().progress_file == tmp_path / "progress.jsonl"
    assert Course.of_notebook().link(ROOT / "notebooks" / "x.ipynb") == ""
    monkeypatch.setenv("PYTREE_COURSE", str(root))
    assert Course.above(ROOT) == Course(root)
    monkeypatch.setenv("PYTREE_COURSE", str(tmp_path))  # no other course is guessed
    with pytest.raises(CourseError):
        Course.of_notebook()
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    with pytest.raises(CourseError, match="Set PYTREE_COURSE to the course's folder in the kernel"):
        Course.above()


def test_progress_and_a_class_belong_to_a_learner(monkeypatch, tmp_path):
    course = Course(ROOT)
    assert course.progress_file == ROOT / "progress.jsonl"
    assert course.joined_file == ROOT / "joined.json"
    monkeypatch.setenv("PYTREE_COURSE_PROGRESS", str(tmp_path))
    assert course.progress_file == tmp_path / "progress.jsonl"
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert course.progress_file and course.joined_file is None
    monkeypatch.setenv("PYTREE_COURSE_NOBODY", "1")
    assert course.progress_file is course.joined_file is None


def test_a_link_leads_from_the_folder_of_the_notebook_to_a_section(monkeypatch):
    course, notebook = Course(ROOT), ROOT / "notebooks" / "01_leaves.ipynb"
    monkeypatch.chdir(ROOT / "exercises")
    assert course.link(notebook) == "../notebooks/01_leaves.ipynb"
    assert course.link(notebook, "Key paths") == "../notebooks/01_leaves.ipynb#Key-paths"
    deeper = ROOT / "notebooks" / "deeper"
    assert course.link(notebook, start=deeper) == "../../notebooks/01_leaves.ipynb"
    assert course.link(notebook, start=ROOT) == "notebooks/01_leaves.ipynb"
    assert course.link(notebook, start=ROOT.parent) == "../notebooks/01_leaves.ipynb"
    monkeypatch.setenv("PYTREE_COURSE_LINKS", "https://a")
    assert course.link(notebook, "Key paths") == "https://a/notebooks/01_leaves.ipynb"


@pytest.mark.parametrize("name", ["1", "01", "leaves", "01_leaves"])
def test_a_lesson_has_short_names(name):
    assert Course(ROOT).lesson_named(name).stem == "01_leaves"
    for unknown in ("", "0", "leave"):
        with pytest.raises(CourseError, match=f"no lesson '{unknown}'.*: 00_start_here, 01_leaves"):
            Course(ROOT).lesson_named(unknown)


def test_a_lessons_files(course):
    files, page = course.lesson("01_mini"), LessonFiles(course.root, "start")
    assert (files.has_exercises, page.has_exercises) == (True, False)
    assert [file.name for file in files.notebooks()] == [
        *("01_mini.ipynb", "counting-without-a-list.ipynb", "none-is-no-leaf.ipynb"),
    ]
    places = [files.deeper("none-is-no-leaf"), files.solutions, files.blank, files.expected]
    assert all(file.exists() for file in places)
    assert files.exercises.parent == course.root / "exercises"
    assert files.read_prompts()["count_leaves"] == "Prompt."
    assert [*files.read_starters()] == [*files.read_prompts()] == ["count_leaves", "first_leaf"]
    assert files.read_starters()["first_leaf"].startswith("def first_leaf(tree):\n")
    assert [each.stem for each in course.lessons()] == ["01_mini"]
    with pytest.raises(CourseError, match="is missing: fetch"):
        page.read_blank()
    put(page.sources / "exercises.md")  # before it has a check
    assert page.has_exercises
    shutil.rmtree(files.sources)  # a learner's copy
    assert files.has_exercises
