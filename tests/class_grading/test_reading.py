"""Which of a student's files are notebooks, of which lesson, and which of them counts."""

import os
from concurrent.futures.process import BrokenProcessPool
from datetime import datetime
from types import SimpleNamespace

import pytest

from pytree_course.class_grading import reading
from pytree_course.class_grading.student_files import TOO_LONG
from tests.conftest import put
from tests.made_submissions import EXERCISES, WORKED_IN, found, left_out, read_class

MARKS = "<<<<<<< HEAD\n" + WORKED_IN


@pytest.mark.parametrize(
    ("name", "data"),
    {
        "Copy of 01_mini_exercises.ipynb": WORKED_IN.encode(),
        "ADA Lovelace - homework.IPYNB": WORKED_IN.encode(),
        "01_mini_exercises.ipynb.txt": WORKED_IN.encode(),
        "homework.json": f"\n {WORKED_IN}".encode("utf-8-sig"),
        "homework": WORKED_IN.encode("utf-16"),
    }.items(),
)
def test_a_notebook_is_read_whatever_it_is_called(folder, course, name, data):
    put(folder / "ada" / name).write_bytes(data)
    read = read_class(folder, course)
    assert found(read) == [("ada", "01_mini", name)]
    assert read.left_out == []


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("essay.PDF", "%PDF", "it is a PDF, not a notebook"),
        ("data.json", '{"rows": []}', "it is not a notebook"),
        ("work.tar.gz", "\x1f", "it is an archive that is not opened: unpack it, or ask for a zip"),
        ("scratch.ipynb", '{"cells": []}', "it is a notebook without answer cells of this course"),
        ("homework.ipynb", "{", "homework.ipynb is not a notebook: "),
        ("homework.ipynb", MARKS, "homework.ipynb is not a notebook: it holds Git's conflict"),
        ("homework.zip", "no zip", "it is neither a folder nor a zip that can be read"),
    ],
)
def test_a_file_that_is_not_read_is_its_students_with_the_reason(folder, course, name, text, why):
    put(folder / "ada" / "week 1" / name, text)
    read = read_class(folder, course)
    assert [*read.submitters] == ["ada"]
    ((where, said),) = left_out(read).items()
    assert where == f"ada/week 1/{name}"
    assert said.startswith(why)


def test_an_unreadable_notebook_is_placed_by_its_name_and_gives_way_to_a_readable_one(
    folder, course
):
    put(folder / "ada" / EXERCISES, "{")
    (notebook,) = read_class(folder, course).notebooks
    assert notebook.lesson == "01_mini"
    assert notebook.problem.startswith(f"{EXERCISES} is not a notebook")
    for older in (WORKED_IN, course.lesson("01_mini").read_blank()):
        put(folder / "ada" / "older.ipynb", older)
        os.utime(folder / "ada" / "older.ipynb", (1_000_000, 1_000_000))
        read = read_class(folder, course)
        assert read.notebooks[0].problem == ""
        assert [*left_out(read)] == [f"ada/{EXERCISES}"]


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        ([EXERCISES, "01_mini_exercises.kept-1.ipynb"], EXERCISES),
        ([EXERCISES, "01_mini_exercises (1).ipynb"], "01_mini_exercises (1).ipynb"),
        (["01_mini (9).ipynb", "01_mini (10).ipynb"], "01_mini (10).ipynb"),
        ([EXERCISES, "01_mini_exercises-2.ipynb"], "01_mini_exercises-2.ipynb"),
    ],
)
def test_the_newest_notebook_counts_and_names_decide_equal_times(folder, course, names, counts):
    early, late = (datetime(2026, 11, day, 18, 40).timestamp() for day in (27, 28))
    for name in names:
        os.utime(put(folder / "ada" / name, WORKED_IN), (early, early))
    (notebook,) = read_class(folder, course).notebooks
    assert notebook.remark.startswith(f"of 2 notebooks, the last counts: {counts} (27 Nov 2026, ")
    assert notebook.remark.endswith(", chosen by its name, because another one has the same time")
    for newest, other in (names, names[::-1]):
        os.utime(folder / "ada" / newest, (late, late))
        (notebook,) = read_class(folder, course).notebooks
        assert notebook.remark == (
            f"of 2 notebooks, the last counts: {newest} (28 Nov 2026, 18:40), "
            f"not {other} (27 Nov 2026, 18:40)"
        )
        os.utime(folder / "ada" / newest, (early, early))


def test_a_blank_copy_does_not_count_and_moved_answers_are_remarked(folder, course):
    blank = course.lesson("01_mini").read_blank()
    put(folder / "ada" / "01_mini (1).ipynb", blank)
    cell = '{"cell_type": "code", "source": "count_leaves = len"}'
    worked_in = blank.replace('"cells": [', f'"cells": [{cell},')
    os.utime(put(folder / "ada" / EXERCISES, worked_in), (1_000_000, 1_000_000))
    (notebook,) = read_class(folder, course).notebooks
    assert notebook.file.name == EXERCISES
    assert notebook.remark.startswith("count_leaves: the answer cell is as it was handed out; ")


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (BrokenProcessPool(), TOO_LONG),  # its process was ended
        (ZeroDivisionError("odd"), "it cannot be read (ZeroDivisionError: odd)"),
    ],
)
def test_a_file_that_breaks_its_reader_costs_only_its_student(
    folder, course, monkeypatch, error, why
):
    def read_or_fail(file, handed_out, read=reading.read_submission_of_any_lesson):
        if "odd" in file.name:
            raise error
        return read(file, handed_out)

    for name in ("ada/a.ipynb", "eve/01_mini_odd.ipynb", "fay/c.ipynb"):
        put(folder / name, WORKED_IN)
    monkeypatch.setattr(reading, "read_submission_of_any_lesson", read_or_fail)
    read = read_class(folder, course)
    problems = {each.student: (each.problem, each.is_failure) for each in read.notebooks}
    assert problems == {"ada": ("", False), "eve": (why, True), "fay": ("", False)}


def test_a_students_notebooks_are_read_first_and_for_limited_time(folder, course, monkeypatch):
    for name in ("a.txt", EXERCISES, "z.txt"):
        put(folder / "ada" / name, WORKED_IN)
    clock = SimpleNamespace(monotonic=iter([0, 0, 21, 21]).__next__)
    monkeypatch.setattr(reading, "time", clock)
    read = read_class(folder, course)
    assert found(read) == [("ada", "01_mini", EXERCISES)]
    assert left_out(read) == {"ada/z.txt, a.txt": reading.NOT_READ_IN_TIME}
