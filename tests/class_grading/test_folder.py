"""Where the students are in what a class handed in, and what is doubted or refused."""

import os

import pytest

from pytree_course.class_grading.folder import read_handed_in
from pytree_course.course import CourseError
from tests.conftest import put
from tests.made_submissions import EXERCISES, SAME_PROCESS, WORKED_IN, found, read_class


@pytest.fixture
def class_folder(folder, course):
    """Return a function that reads the class's folder, or another one."""
    return lambda path=folder: read_class(path, course)


def test_a_folder_for_each_student_with_a_notebook_for_each_lesson(folder, class_folder):
    put(folder / "ada" / EXERCISES, WORKED_IN)
    put(folder / "bob" / "week 1" / "mine" / EXERCISES, WORKED_IN)
    (folder / "cyd").mkdir()
    read = class_folder()
    assert [*read.submitters] == ["ada", "bob", "cyd"]
    assert found(read) == [("ada", "01_mini", EXERCISES), ("bob", "01_mini", EXERCISES)]
    assert (read.left_out, read.doubts) == ([], [])


def test_nbgraders_folder_submitted_is_found_also_beside_a_student_called_submitted(
    folder, class_folder
):
    put(folder / "source" / "01_mini" / EXERCISES, WORKED_IN)
    put(folder / "submitted" / "ada" / "leaves" / EXERCISES, WORKED_IN)
    put(folder / "submitted" / "submitted" / "leaves" / EXERCISES, WORKED_IN)
    for named in (folder, folder / "submitted"):
        assert [student for student, *_ in found(class_folder(named))] == ["ada", "submitted"]
    put(folder / "bob" / EXERCISES, WORKED_IN)  # now it is a student's, as is one of a lesson
    put(folder / "01_mini" / "week 1" / EXERCISES, WORKED_IN)
    students = {student for student, *_ in found(class_folder())}
    assert students == {"01_mini", "bob", "source", "submitted"}


def test_the_wrong_folder_is_doubted_or_refused_with_advice(folder, course, class_folder):
    for student in ("ada", "bob"):
        put(folder / "handed-in" / student / EXERCISES, WORKED_IN)
    (doubt,) = class_folder().doubts
    assert doubt.startswith("handed-in has 01_mini in 2 folders.")
    assert f"name {folder / 'handed-in'} instead" in doubt
    assert class_folder(folder / "handed-in").doubts == []
    with pytest.raises(CourseError, match=r"class/grades is inside .*: name a folder elsewhere"):
        read_handed_in(folder, course, folder / "grades", SAME_PROCESS)
    with pytest.raises(CourseError, match=r"name the folder that it is in: .*handed-in$"):
        class_folder(folder / "handed-in" / "ada")
    (folder / "empty").mkdir()
    for wrong, said in (
        ("empty", r"ada/01_mini_exercises\.ipynb"),
        ("none", "is not there"),
        (f"handed-in/ada/{EXERCISES}", r"is one notebook\. Put a student's notebooks"),
    ):
        with pytest.raises(CourseError, match=said):
            class_folder(folder / wrong)


def test_names_are_composed_and_escaped_and_similar_ones_doubted(folder, class_folder):
    names = [
        b"j\xfcrgen",
        b"eve\x1b[2J",
        b"ada\xe2\x80\xaegrade",
        "Zoe\u0308".encode(),
        b"Zo\xc3\xab",
    ]
    for name in names:
        put(folder / os.fsdecode(name) / f"Zoe\u0308 {EXERCISES}", WORKED_IN)
    read = class_folder()
    escaped = ["Zo\xeb", "Zo\xeb (2)", "ada\\u202egrade", "eve\\x1b[2J", "j\\udcfcrgen"]
    assert [*read.submitters] == escaped
    assert {notebook.name for notebook in read.notebooks} == {f"Zo\xeb {EXERCISES}"}
    (doubt,) = read.doubts
    assert doubt.startswith("Zo\xeb and Zo\xeb (2) are graded as 2 students")
