"""What a class handed in: found in every layout that teachers have."""

import ctypes
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pytree_course.class_grading.folder import A_HARD_LINK, read_class_folder
from pytree_course.class_grading.student_files import NO_TIME
from pytree_course.course import CourseError
from pytree_course.grading.submission import UnreadableError, read_notebook
from tests.conftest import put


def found(folder, course):
    read = read_class_folder(folder, course)
    return [(each.student, each.lesson, each.file.name) for each in read.notebooks]


def students(read):
    return [each.id for each in read.submitters]


def test_a_folder_for_each_student_with_a_notebook_for_each_lesson(folder, course):
    put(folder / "ada" / "01_mini_exercises.ipynb")
    put(folder / "bob" / "01_mini_exercises.ipynb")
    (folder / "cyd").mkdir()
    assert students(read_class_folder(folder, course)) == ["ada", "bob", "cyd"]
    assert found(folder, course) == [
        ("ada", "01_mini", "01_mini_exercises.ipynb"),
        ("bob", "01_mini", "01_mini_exercises.ipynb"),
    ]


NOT_STAMPS = [
    *("", "soon", "2026-11-21 12:30 Atlantis/Capital", "2026-11-21 12:30 ../UTC"),
    *("0001-01-01 00:00:00 Asia/Tokyo", "9999-12-31 23:59:59 America/New_York"),
    "2026-11-21 12:30:00" + " " * 100_000 + "UTC",
]
HANDED_IN = {
    "2026-11-21 12:30:00.123456 UTC\n": datetime(2026, 11, 21, 12, 30, 0, 123456, tzinfo=UTC)
}
HANDED_IN |= dict.fromkeys(NOT_STAMPS, datetime.fromtimestamp(1_000_000, tz=UTC))


@pytest.mark.parametrize(("stamp", "time"), HANDED_IN.items())
def test_nbgraders_time_counts_or_if_it_cannot_be_read_the_files_own(folder, course, stamp, time):
    assignment = folder / "submitted" / "ada" / "01_mini"
    file = put(assignment / "01_mini_exercises.ipynb")
    put(assignment / "timestamp.txt", stamp)
    os.utime(file, (1_000_000, 1_000_000))
    (submitted,) = read_class_folder(folder, course).notebooks
    assert (submitted.student, submitted.lesson) == ("ada", "01_mini")
    assert submitted.handed_in == time


def test_further_tries_and_renamed_copies_belong_to_their_lesson(folder, course):
    names = [
        "01_mini.ipynb",
        "01_mini_exercises (1).ipynb",
        "01_mini_exercises-2.ipynb",
        "01_mini_exercises-Copy1.ipynb",
        "01_mini_exercises.ipynb",
    ]
    for name in names:
        put(folder / "ada" / name)
    assert [name for _, _, name in found(folder, course)] == names


def test_what_belongs_to_no_lesson_is_left_out_and_said(folder, course):
    put(folder / "ada" / "essay.ipynb")
    put(folder / "ada" / ".ipynb_checkpoints" / "01_mini-checkpoint.ipynb")
    put(folder / ".git" / "01_mini_exercises.ipynb")
    secret = put(folder.parent / "secret.ipynb")
    (folder / "ada" / "01_mini_exercises.ipynb").symlink_to(secret)
    (folder / "eve").symlink_to(folder / "ada")
    (folder / "submitted").symlink_to(folder)
    (folder / "ada" / "week 2").symlink_to(folder.parent)
    put(folder / "01_mini_exercises.ipynb")
    put(folder / "ada" / "week 1" / "mine" / "01_mini_exercises.ipynb")
    read = read_class_folder(folder, course)
    assert (students(read), read.notebooks) == (["ada"], [])
    ignored = {file.as_posix(): why.split(",")[0].split(":")[0] for file, why in read.ignored}
    assert ignored == {
        "01_mini_exercises.ipynb": "it is in no student's folder",
        "ada/01_mini_exercises.ipynb": "it is a link",
        "ada/essay.ipynb": "its name begins with none of 01_mini",
        "ada/week 1/mine/01_mini_exercises.ipynb": "it is too deep",
        "ada/week 2": "it is a link",
        "eve": "it is a link",
        "submitted": "it is a link",
    }


def test_the_folder_above_the_classs_is_doubted_and_a_students_own_refused(folder, course):
    for student in ("ada", "bob"):
        put(folder / "handed-in" / student / "01_mini_exercises.ipynb")
    (doubt,) = read_class_folder(folder, course).doubts()
    assert doubt.startswith("handed-in has 01_mini in 2 folders.")
    assert f"name {folder / 'handed-in'} instead" in doubt
    assert read_class_folder(folder / "handed-in", course).doubts() == []
    with pytest.raises(CourseError, match=r"name the folder that it is in: .*handed-in$"):
        read_class_folder(folder / "handed-in" / "ada", course)


def test_names_that_no_file_or_terminal_takes_become_texts_that_stay_different(folder, course):
    names = [b"j\xfcrgen", b"j\xf6rgen", b"eve\x1b[2J", b"eve\nada", b"ada\xe2\x80\xaegrade"]
    for name in names:
        put(folder / os.fsdecode(name) / "01_mini_exercises.ipynb")
        put(folder / os.fsdecode(name) / "es\x1bsay.ipynb")
    read = read_class_folder(folder, course)
    assert students(read) == [
        *("ada\\u202egrade", "eve\\nada", "eve\\x1b[2J", "j\\udcf6rgen", "j\\udcfcrgen")
    ]
    assert len(read.notebooks) == len(names)
    shown = [str(file) for file, _ in read.ignored]
    assert len(shown) == len(names)
    assert all(text.isprintable() for text in shown)


def test_what_differs_in_capitals_or_in_unicodes_forms_only_is_two_students_and_said(
    folder, course
):
    for name in ("Zoe\u0308", "zo\xeb.", "ada"):
        put(folder / name / "01_mini_exercises.ipynb")
    read = read_class_folder(folder, course)
    assert students(read) == ["Zoe\u0308", "ada", "zo\xeb."]
    (doubt,) = read.doubts()
    assert doubt.startswith("Zoe\u0308 and zo\xeb. are graded as 2 students")


def test_folders_whose_names_are_shown_alike_are_nobodys_and_said(folder, course):
    for name in ("eve\x1b", "eve\\x1b", "ada"):
        put(folder / name / "01_mini_exercises.ipynb")
    read = read_class_folder(folder, course)
    assert students(read) == ["ada"]
    said = "another name here is shown the same way, so it is nobody's: rename one of them"
    assert [why for _, why in read.ignored] == [said] * 2


@pytest.mark.parametrize("name", ["submitted", "01_mini"])
@pytest.mark.parametrize("place", ["01_mini_exercises.ipynb", "week 1/01_mini_exercises.ipynb"])
def test_a_student_may_be_called_as_nbgraders_folder_or_as_a_lesson(folder, course, name, place):
    for student in ("ada", name):
        put(folder / student / place)
    assert [student for student, *_ in found(folder, course)] == sorted(["ada", name])


def test_a_student_of_nbgraders_may_be_called_as_its_folder_and_have_two_assignments(
    folder, course
):
    put(folder / "source" / "01_mini" / "01_mini_exercises.ipynb")
    for assignment in ("submitted/ada/leaves", "submitted/ada/again", "submitted/submitted/leaves"):
        put(folder / assignment / "01_mini_exercises.ipynb")
        put(folder / assignment / "timestamp.txt", "2026-11-21 12:30:00 UTC")
    assert read_class_folder(folder, course).doubts() == []
    for named in (folder, folder / "submitted"):
        assert [who for who, *_ in found(named, course)] == ["ada", "ada", "submitted"]


TRAPS = [os.mkfifo, Path.mkdir] if hasattr(os, "mkfifo") else []


@pytest.mark.parametrize("make", TRAPS)
def test_what_is_no_regular_file_is_not_opened(folder, course, make):
    notebook = put(folder / "submitted" / "ada" / "01_mini" / "01_mini_exercises.ipynb")
    os.utime(notebook, (1_000_000, 1_000_000))
    make(notebook.parent / "timestamp.txt")
    make(notebook.parent / "01_mini_exercises-2.ipynb")
    make(folder / "submitted" / "eve")
    read = read_class_folder(folder, course)
    assert min(each.handed_in.timestamp() for each in read.notebooks) == 1_000_000
    with pytest.raises(UnreadableError, match="ask for the notebook itself"):
        read_notebook(notebook.parent / "01_mini_exercises-2.ipynb")
    is_folder = make is Path.mkdir
    assert students(read) == (["ada", "eve"] if is_folder else ["ada"])
    assert read.ignored == (
        [] if is_folder else [(Path("eve"), "it is neither a folder nor a file")]
    )


def test_a_hard_link_is_left_out_and_what_to_do_is_said(folder, course):
    put(folder / "ada" / "01_mini_exercises.ipynb")
    files = [Path(student, "01_mini_exercises.ipynb") for student in ("ada", "eve")]
    (folder / "eve").mkdir()
    (folder / files[1]).hardlink_to(folder / files[0])
    read = read_class_folder(folder, course)
    assert students(read) == ["ada", "eve"]
    assert read.ignored == [(file, A_HARD_LINK) for file in files]
    copied = folder.parent / "copy"
    subprocess.run(["cp", "-rp", folder, copied], check=True)
    assert len(found(copied, course)) == 2


def test_deep_folders_and_many_files_cost_their_student_only(folder, course):
    put(folder / "ada" / "01_mini_exercises.ipynb")
    deep = folder / "eve"
    deep.mkdir()
    here = os.open(deep, os.O_RDONLY)
    for _ in range(1_100):  # deeper than any path can say
        os.mkdir("down", dir_fd=here)
        inner = os.open("down", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)
    for number in range(30):
        put(folder / "fay" / f"essay-{number}.ipynb")
    try:
        read = read_class_folder(folder, course)
    finally:
        subprocess.run(["rm", "-r", folder / "eve"], check=True)  # Python cannot
    assert students(read) == ["ada", "eve", "fay"]
    assert [each.student for each in read.notebooks] == ["ada"]
    said = {file.as_posix(): why for file, why in read.ignored}
    assert "put notebooks nearer" in said["eve/down/down/down/down/down"]
    assert said["fay"] == "10 more files in it are left out too"


@pytest.fixture
def without_roots_rights():
    """Take the right to open everything from this thread, where it is root's."""
    if sys.platform != "linux":
        pytest.skip("it is tried on Linux")
    libc, header = ctypes.CDLL(None, use_errno=True), (ctypes.c_uint32 * 2)(0x20080522, 0)
    has = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, has) == 0
    # The effective ones, without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
    assert libc.capset(header, (ctypes.c_uint32 * 6)(has[0] & ~0b110, *has[1:])) == 0
    yield
    assert libc.capset(header, has) == 0


@pytest.mark.usefixtures("without_roots_rights")
def test_what_may_not_be_opened_costs_its_student_only(folder, course):
    for student in ("ada", "bob"):
        put(folder / student / "01_mini_exercises.ipynb")
    (folder / "ada" / "01_mini_exercises.ipynb").chmod(0)
    (folder / "bob").chmod(0)
    read = read_class_folder(folder, course)
    (folder / "bob").chmod(0o700)
    with pytest.raises(UnreadableError, match="see that you have the right"):
        read_notebook(folder / "ada" / "01_mini_exercises.ipynb")
    assert students(read) == ["ada", "bob"]
    assert [each.student for each in read.notebooks] == ["ada"]
    ((file, why),) = read.ignored
    assert file == Path("bob")
    assert "chmod -R u+rX" in why


@pytest.mark.parametrize("seconds", [-1, 253_402_300_799, 2**63 - 1])
def test_a_files_time_outside_of_any_calendar_is_said_and_costs_nothing(folder, course, seconds):
    file = put(folder / "ada" / "01_mini_exercises.ipynb")
    try:
        os.utime(file, (seconds, seconds))
    except (OSError, OverflowError):
        pytest.skip("no file here can have this time")
    (submitted,) = read_class_folder(folder, course).notebooks
    in_calendar = 0 <= file.stat().st_mtime < 2.2e11  # a disk may have changed it
    assert in_calendar or submitted.remark == NO_TIME
    assert in_calendar or submitted.handed_in.timestamp() == 0


def test_a_folder_without_students_is_refused_with_an_example(folder, course):
    with pytest.raises(CourseError, match="is not there"):
        read_class_folder(folder, course)
    folder.mkdir()
    with pytest.raises(CourseError, match=r"ada/01_mini_exercises\.ipynb"):
        read_class_folder(folder, course)
