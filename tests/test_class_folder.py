"""What a class handed in: found in every layout that teachers have."""

import os
from datetime import UTC, datetime

import pytest

from pytree_course.classroom.folder import read_class_folder
from pytree_course.course import CourseError


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "class"


def put(file, text="{}"):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def found(folder, course):
    read = read_class_folder(folder, course)
    return [(each.student, each.lesson, each.file.name) for each in read.notebooks]


def test_a_folder_for_each_student_with_a_notebook_for_each_lesson(folder, course):
    put(folder / "ada" / "01_mini.ipynb")
    put(folder / "bob" / "01_mini.ipynb")
    (folder / "cyd").mkdir()
    assert read_class_folder(folder, course).students == ["ada", "bob", "cyd"]
    assert found(folder, course) == [
        ("ada", "01_mini", "01_mini.ipynb"),
        ("bob", "01_mini", "01_mini.ipynb"),
    ]


def test_nbgraders_folder_and_its_time_of_handing_in(folder, course):
    assignment = folder / "submitted" / "ada" / "01_mini"
    put(assignment / "01_mini.ipynb")
    put(assignment / "timestamp.txt", "2026-11-21 12:30:00.123456 UTC\n")
    (submitted,) = read_class_folder(folder, course).notebooks
    assert (submitted.student, submitted.lesson) == ("ada", "01_mini")
    assert submitted.handed_in == datetime(2026, 11, 21, 12, 30, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize("stamp", ["", "soon", "2026-11-21 12:30 Atlantis/Capital"])
def test_without_a_readable_timestamp_the_files_own_time_counts(folder, course, stamp):
    file = put(folder / "ada" / "01_mini.ipynb")
    put(folder / "ada" / "timestamp.txt", stamp)
    os.utime(file, (1_000_000, 1_000_000))
    (submitted,) = read_class_folder(folder, course).notebooks
    assert submitted.handed_in == datetime.fromtimestamp(1_000_000, tz=UTC)


def test_further_tries_and_renamed_copies_belong_to_their_lesson(folder, course):
    names = ["01_mini (1).ipynb", "01_mini-2.ipynb", "01_mini.ipynb"]
    for name in names:
        put(folder / "ada" / name)
    assert [name for _, _, name in found(folder, course)] == names


def test_what_belongs_to_no_lesson_is_left_out_and_said(folder, course):
    put(folder / "ada" / "essay.ipynb")
    put(folder / "ada" / ".ipynb_checkpoints" / "01_mini-checkpoint.ipynb")
    put(folder / ".git" / "01_mini.ipynb")
    secret = put(folder.parent / "secret.ipynb")
    (folder / "ada" / "01_mini.ipynb").symlink_to(secret)
    (folder / "eve").symlink_to(folder / "ada")
    put(folder / "01_mini.ipynb")
    put(folder / "ada" / "week 1" / "mine" / "01_mini.ipynb")
    read = read_class_folder(folder, course)
    assert (read.students, read.notebooks) == (["ada"], [])
    ignored = {file.as_posix(): why.split(",")[0].split(":")[0] for file, why in read.ignored}
    assert ignored == {
        "01_mini.ipynb": "it is in no student's folder",
        "ada/01_mini.ipynb": "it is a link",
        "ada/essay.ipynb": "its name begins with none of 01_mini",
        "ada/week 1/mine/01_mini.ipynb": "it is too deep",
        "eve": "it is a link",
    }


def test_the_folder_above_the_classs_is_doubted_and_a_students_own_refused(folder, course):
    for student in ("ada", "bob"):
        put(folder / "handed-in" / student / "01_mini.ipynb")
    (doubt,) = read_class_folder(folder, course).doubts()
    assert doubt.startswith("handed-in has 01_mini in 2 folders.")
    assert f"name {folder / 'handed-in'} instead" in doubt
    assert read_class_folder(folder / "handed-in", course).doubts() == []
    with pytest.raises(CourseError, match=r"name the folder that it is in: .*handed-in$"):
        read_class_folder(folder / "handed-in" / "ada", course)


def test_two_assignments_of_nbgraders_are_not_doubted(folder, course):
    for assignment in ("leaves", "leaves-again"):
        put(folder / "submitted" / "ada" / assignment / "01_mini.ipynb")
        put(folder / "submitted" / "ada" / assignment / "timestamp.txt", "2026-11-21 12:30:00 UTC")
    assert read_class_folder(folder, course).doubts() == []


def test_a_name_that_is_not_utf_8_becomes_text(folder, course):
    put(folder / os.fsdecode(b"j\xfcrgen") / "01_mini.ipynb")
    put(folder / os.fsdecode(b"j\xf6rgen") / "01_mini-2.ipynb")
    assert read_class_folder(folder, course).students == ["j�rgen"]
    assert len(found(folder, course)) == 2  # nothing is lost


def test_a_folder_without_students_is_refused_with_an_example(folder, course):
    with pytest.raises(CourseError, match="is not there"):
        read_class_folder(folder, course)
    folder.mkdir()
    with pytest.raises(CourseError, match=r"ada/01_mini\.ipynb"):
        read_class_folder(folder, course)
