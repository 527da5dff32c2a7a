"""What was handed in, whatever became of it: its lesson is known, and its answers are found."""

import json

import pytest

from pytree_course.built import answer_id, check_id, other_answer_id
from pytree_course.grading.notebook_file import UnreadableError, read_notebook
from pytree_course.grading.submission import (
    NoExercisesError,
    find_answers,
    read_submission_of_any_lesson,
    recognize_lesson,
)

STARTERS = {
    "count": "def count(tree):\n    raise NotImplementedError",
    "norms": "def norm(tree):\n    ...\n\ndef norms(trees):\n    ...",
}
COUNT = STARTERS["count"]
RIGHT = "def count(tree):\n    return len(jax.tree.leaves(tree))"
LINES = RIGHT.splitlines()
OTHER_TRY = "count = len"


def cell(source, cell_id="9f3a11", kind="code"):
    return {"cell_type": kind, "id": cell_id, "source": source}


def own(source, kind="code"):
    """Return the answer cell of `count`."""
    return cell(source, answer_id("count"), kind)


def saved_by_colab(**metadata):
    """Return the answer cell of `count` in format 4.0, which has no ids but in the metadata."""
    return {"cell_type": "code", "metadata": metadata, "source": RIGHT}


FOUND = {  # the answer that counts, and the remark on it
    "in its cell": ([own(RIGHT)], RIGHT, ""),
    "with our id, from Colab": ([saved_by_colab(id=answer_id("count"))], RIGHT, ""),
    "with nbgrader's name, from Colab": (
        [saved_by_colab(id="Xy1", nbgrader={"grade_id": answer_id("count")})],
        RIGHT,
        "",
    ),
    "in its cell, and something else below": (
        [own(RIGHT), cell(OTHER_TRY)],
        RIGHT,
        "a cell below that",
    ),
    "not there": ([cell("count(3)")], None, "the answer cell is not in the notebook"),
    "as handed out": ([own(COUNT)], None, ""),
    "as handed out, without an id": ([cell(COUNT)], None, ""),
    "as handed out, and explained": ([cell(RIGHT, kind="markdown"), own(COUNT)], None, ""),
    "in a new cell": ([own(COUNT), cell(RIGHT)], RIGHT, "cell is as it was handed out; another"),
    "deleted, and written again": ([cell(OTHER_TRY), cell(RIGHT)], RIGHT, "is not in the notebook"),
    "above a copy as handed out": (
        [own(RIGHT), own(COUNT)],
        RIGHT,
        "there 2 times; the last changed one counts",
    ),
    "split, or copied to try it out": (
        [own(OTHER_TRY), own("count(0)")],
        f"{OTHER_TRY}\ncount(0)",
        "there 2 times; the last 2 changed ones count",
    ),
    "written whole twice": ([own(OTHER_TRY), own(RIGHT)], RIGHT, "there 2 times; the last changed"),
    "emptied": ([own("\n")], None, ""),
    "emptied, and in a new cell": ([own(""), cell(RIGHT)], RIGHT, "is empty; another"),
    "M pressed by mistake": ([own(RIGHT, "markdown")], RIGHT, "is a Markdown cell; it counts as"),
    "an old try, now raw": ([own(OTHER_TRY, "raw"), cell(RIGHT)], RIGHT, "is a raw cell; another"),
    "too long": ([own(RIGHT + "#" * 100_001)], None, "more than the 100,000 that may run"),
    "in lines, and what is no line": (
        [own([f"{line}\n" for line in LINES] + [7])],
        f"{RIGHT}\n",
        "",
    ),
    "with half a character": ([own(RIGHT + "#\ud800")], f"{RIGHT}#?", ""),
    "beside what is no cell": ([None, {"cell_type": ["code"]}, own(RIGHT)], RIGHT, ""),
}


@pytest.mark.parametrize(("cells", "answer", "note"), FOUND.values(), ids=FOUND)
def test_an_answer_is_in_its_cell_or_in_the_last_that_defines_its_names(cells, answer, note):
    submission = find_answers({"cells": cells}, {"count": COUNT})
    assert submission.answers.get("count") == answer
    assert (note in submission.notes["count"]) if note else not submission.notes


def test_a_cell_counts_that_defines_all_names():
    half, whole = (
        cell("norm = sum"),
        cell("norm = sum\ndef norms(trees): return [*map(norm, trees)]"),
    )
    found = find_answers({"cells": [whole, half]}, STARTERS)
    assert found.answers == {"norms": whole["source"]}


HANDED_OUT = {
    "01": STARTERS,
    "02": {name: f"def {name}(tree): ..." for name in ("scale", "zero", "clip", "mask", "stack")},
}
SCALE = cell("scale = 1")
LESSONS = {
    "ids of answer cells": ([own(""), SCALE], "01"),
    "ids of check cells": ([cell("", check_id("clip")), cell(RIGHT)], "02"),
    "Colab's ids": ([{"metadata": {"id": answer_id("clip")}}, cell(RIGHT)], "02"),
    "nbgrader's": ([{"metadata": {"nbgrader": {"grade_id": answer_id("clip")}}}], "02"),
    "most of the cells": (
        [own(""), cell("", answer_id("norms")), cell("", answer_id("clip"))],
        "01",
    ),
    "names": ([SCALE, cell("clip = max\nmask = min")], "02"),
}
OTHER = "a notebook without answer cells of this course"
NO_LESSON = {
    "a name of a lesson's, as in other notebooks": ([SCALE], OTHER),
    "names of two lessons": (
        [cell(RIGHT), cell("norm = 0\nnorms = 0\nscale = 0\nmask = 0")],
        OTHER,
    ),
    "the solutions": (
        [own(RIGHT), cell(RIGHT, other_answer_id("count", 1))],
        "the course's solutions for 01",
    ),
    "the lesson": (
        [cell('check = Checks("01")'), cell("", "walk-ours")],
        "the lesson itself, not its exercises: hand in 01_exercises.ipynb",
    ),
}


@pytest.mark.parametrize(("cells", "lesson"), LESSONS.values(), ids=LESSONS)
def test_a_lesson_is_known_by_its_cells(cells, lesson):
    assert recognize_lesson({"cells": cells}, HANDED_OUT) == (lesson, "")


@pytest.mark.parametrize(("cells", "why"), NO_LESSON.values(), ids=NO_LESSON)
def test_a_notebook_without_exercises_is_called_what_it_is(tmp_path, cells, why):
    file = tmp_path / "01_exercises.ipynb"
    file.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    with pytest.raises(NoExercisesError, match=f"is .*{why}"):
        read_submission_of_any_lesson(file, HANDED_OUT)


@pytest.mark.parametrize(
    ("version", "python"),
    [("3.13.1", "3.13"), ("3.14.0rc1", "3.14"), ("3.1234", ""), (["3.13"], ""), ("x3.13", "")],
)
def test_a_notebook_names_the_python_it_was_made_with(version, python):
    notebook = {"cells": [own(RIGHT)], "metadata": {"language_info": {"version": version}}}
    assert find_answers(notebook, STARTERS).python == python


GREETING = 'def count(tree):\n    return "Grüße"'
TEXT = json.dumps({"cells": [own(GREETING)]}, ensure_ascii=False, indent=1)
READ = {
    "UTF-8": TEXT.encode(),
    "with a byte-order mark": TEXT.encode("utf-8-sig"),
    "PowerShell's UTF-16": TEXT.encode("utf-16"),
    "with the end of a longer, older version": f"{TEXT}\n{TEXT[-40:]}".encode(),
}


@pytest.mark.parametrize("content", READ.values(), ids=READ)
def test_a_notebook_is_read_in_every_encoding(tmp_path, content):
    file = tmp_path / "Copy of 01 (1).ipynb.txt"
    file.write_bytes(content)
    assert find_answers(read_notebook(file), STARTERS).answers == {"count": GREETING}


CONFLICT = '{"cells": [\n<<<<<<< HEAD\n "a"\n=======\n "b"\n>>>>>>> theirs\n]}'
UNREADABLE = {
    "": "is empty",
    CONFLICT: r"Git's conflict marks .* choose between",
    "\n\n<!DOCTYPE html>\n<html>": "it is a web page: download the notebook itself",
    TEXT[:-9]: r"is cut off or damaged; hand in one that JupyterLab opens \(.*column",
    '{"worksheets": []}': "it has no cells",
}


@pytest.mark.parametrize(("text", "why"), UNREADABLE.items(), ids=UNREADABLE.values())
def test_why_a_file_is_no_notebook_is_said_with_what_to_do(tmp_path, text, why):
    (tmp_path / "x.ipynb").write_text(text, encoding="utf-8")
    with pytest.raises(UnreadableError, match=why):
        read_notebook(tmp_path / "x.ipynb")
