"""A student's files: what is untrusted costs its own student only, and opens nothing else."""

import ctypes
import os
import sys
import zipfile

import pytest

from pytree_course.class_grading import student_files
from pytree_course.class_grading.student_files import (
    A_LINK,
    NO_FILE,
    OTHER_REASONS,
    LeftOut,
    group_by_reason,
)
from tests.conftest import put
from tests.made_submissions import EXERCISES, WORKED_IN, found, left_out, read_class


def test_a_copied_course_hands_in_only_notebooks_with_answers(folder, course):
    copy, blank = folder / "ada" / "pytree-course", course.lesson("01_mini").read_blank()
    put(copy / "notes" / "mine.ipynb", WORKED_IN)
    put(copy / "notes" / "essay.pdf")
    for place in ("exercises", "checks/expected", "colab/exercises"):
        put(copy / place / EXERCISES, blank)
    put(copy / "notebooks" / "01_mini.ipynb", course.lesson("01_mini").notebook.read_text())
    for name in ("README.md", "course.py", "src/pytree_course/a.py", ".venv/x.ipynb", ".git/HEAD"):
        put(copy / name)
    put(folder / "bob" / EXERCISES, blank)  # alone, it is handed in
    read = read_class(folder, course)
    assert found(read) == [("ada", "01_mini", "mine.ipynb"), ("bob", "01_mini", EXERCISES)]
    assert left_out(read) == {"ada/pytree-course/notes/essay.pdf": "it is a PDF, not a notebook"}
    assert read.doubts == []


def test_links_hidden_files_and_pipes_are_not_opened(folder, course):
    bobs = folder / "bob"
    put(bobs / ".ipynb_checkpoints" / EXERCISES, WORKED_IN)
    put(folder / ".git" / EXERCISES, WORKED_IN)
    put(bobs / "._x.ipynb", "\0\5")
    put(bobs / "timestamp.txt", "nbgrader's")
    (bobs / EXERCISES).symlink_to(put(folder.parent / "secret.ipynb", WORKED_IN))
    (bobs / "week 2").symlink_to(folder.parent)
    (folder / "eve").symlink_to(bobs)
    (folder / "submitted").symlink_to(folder)
    for name in (EXERCISES, "OLD.IPYNB.txt", "class.csv"):  # the last may be the teacher's own
        put(folder / name, WORKED_IN)
    if hasattr(os, "mkfifo"):
        os.mkfifo(bobs / "fifo.ipynb")
        os.mkfifo(bobs / "a.zip")
    read = read_class(folder, course)
    assert ([*read.submitters], read.notebooks) == (["bob"], [])
    said = left_out(read)
    assert said.pop("bob/fifo.ipynb, a.zip", NO_FILE) == NO_FILE
    assert said == {
        f"/{EXERCISES}, OLD.IPYNB.txt": "it is in no student's folder",
        f"bob/{EXERCISES}, week 2": A_LINK,
        "/eve, submitted": A_LINK,
    }


def in_deep_folders(file):
    put(file.parent.joinpath(*["deep"] * 60, EXERCISES), WORKED_IN)


def zeros(file):
    for number in range(3):
        with zipfile.ZipFile(file.with_name(f"{number}.zip"), "w", zipfile.ZIP_DEFLATED) as zipped:
            for part in range(4):
                zipped.writestr(f"{number}{part}", bytes(29_000_000))


def empty_entries(file):
    with zipfile.ZipFile(file, "w") as zipped:
        for number in range(2_001):
            zipped.writestr(f"{number}.ipynb", "")


@pytest.mark.parametrize(
    ("make", "why"),
    {
        in_deep_folders: "folders nested 50 deep",
        zeros: "1.zip, 2.zip: it holds 4 files, 116 MB, which is too much to unpack",
        empty_entries: "it holds 2,001 files, 0 MB, which is too much",
    }.items(),
)
def test_too_much_in_a_zip_costs_only_its_student(folder, course, make, why):
    for student in ("ada", "bob", "cyd"):
        put(folder / student / EXERCISES, WORKED_IN)
    make(folder / "bob" / "work.zip")
    read = read_class(folder, course)
    assert [student for student, *_ in found(read)] == ["ada", "bob", "cyd"]
    assert {each.student for each in read.left_out} == {"bob"}
    assert why in " ".join(f"{each.file}: {each.reason}" for each in read.left_out)


def test_what_nobody_thought_of_costs_its_student_only(folder, course, monkeypatch):
    for student in ("ada", "bob"):
        put(folder / student / EXERCISES, WORKED_IN)

    def find(entry, allowance, find=student_files._find_below):
        return find(entry, allowance) if entry.name == "ada" else 1 / 0

    monkeypatch.setattr(student_files, "_find_below", find)
    read = read_class(folder, course)
    assert [student for student, *_ in found(read)] == ["ada"]
    why = "it cannot be looked through (ZeroDivisionError: division by zero)"
    assert left_out(read) == {"bob/bob": why}


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
    for student in ("ada", "bob", "cyd"):
        put(folder / student / EXERCISES, WORKED_IN)
    (folder / "ada" / EXERCISES).chmod(0)
    (folder / "bob").chmod(0)
    read = read_class(folder, course)
    (folder / "bob").chmod(0o700)
    assert [*read.submitters] == ["ada", "bob", "cyd"]
    reasons = {each.student: each.problem for each in read.notebooks}
    assert {each.student: each.is_failure for each in read.notebooks} == {"ada": True, "cyd": False}
    reasons |= {student: why for student, _, why in read.left_out}
    assert reasons.pop("cyd") == ""
    assert [*reasons] == ["ada", "bob"]
    assert all("the right to read it" in why for why in reasons.values())


def test_many_files_and_many_reasons_are_said_briefly():
    pictures = [LeftOut("ada", f"{number}.png", "a picture") for number in range(4)]
    assert group_by_reason(pictures[:3]) == [("ada", "0.png, 1.png, 2.png", "a picture")]
    assert group_by_reason(pictures) == [("ada", "0.png, 1.png, 2.png and 1 more", "a picture")]
    torn = [LeftOut("bob", f"{number}.zip", f"torn at {number}") for number in range(12)]
    *ten, rest = group_by_reason(torn)
    assert ten == torn[:10]
    assert rest == ("bob", "10.zip, 11.zip", OTHER_REASONS)
