"""Every topic, correction and misconception is shown by a cell that the course's table names."""

import json
import re

import nbformat
import pytest

from pytree_course.authoring.building import build
from pytree_course.authoring.teaching_plans import PAGE as PLANS
from pytree_course.authoring.teaching_plans import plans
from pytree_course.authoring.traceability import (
    PAGE,
    TOPICS_FILE,
    find_wrong_marks,
    read_marks,
    read_topics,
    table,
)
from pytree_course.course import Course
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.source_cells import AuthorMistakesError
from tests.conftest import ROOT, edit

COURSE = Course(ROOT)
STEMS = ["01_leaves", "02_tree_map", "03_custom_nodes", "04_aux_data", "05_mlp"]


# The course's own


def test_topics_have_no_gap_and_name_where_they_come_from_and_a_lesson_that_shows_them():
    topics = read_topics(ROOT)
    for topic in topics.values():
        assert re.fullmatch(r"[CM]\d+|T-(S00[0-4]|L[1-5])-[a-z0-9-]+", topic.id)
        assert topic.what
        assert topic.lesson in STEMS, topic.id
    assert {name for name in topics if name[0] in "CM"} == {
        *(f"C{number}" for number in range(1, 41)),
        *(f"M{number}" for number in range(1, 26)),
    }
    assert {name[:6] for name in topics if name.startswith("T-S")} == {
        f"T-S00{number}" for number in range(5)
    }


def test_every_topic_is_shown_by_a_cell_and_a_misconception_by_a_wrong_answer_too():
    shown_by = {name: set() for name in read_topics(ROOT)}
    for marks in read_marks(COURSE).values():
        for mark in marks:
            shown_by[mark.topic].add(mark.kind)
    for name, kinds in shown_by.items():
        assert kinds, name  # a topic may be shown by an exercise alone
        assert name[0] not in "CM" or "lesson" in kinds, name
        assert name[0] != "M" or "misconception" in kinds, name


def test_the_table_is_what_the_sources_make():
    assert (ROOT / PAGE).read_text(encoding="utf-8") == table(COURSE), (
        "docs/traceability.md is stale. Run: python3 course.py build"
    )


def test_every_cell_that_is_named_is_in_its_notebook():
    # Learners work in the exercise notebooks; the blank ones are as they were built.
    built = {file: file for files in COURSE.lessons() for file in files.notebooks()}
    built |= {files.exercises: files.blank for files in COURSE.lessons()}
    ids = {
        (notebook.relative_to(ROOT).as_posix(), cell.id)
        for notebook, file in built.items()
        for cell in nbformat.read(file, as_version=4).cells
    }
    marks = read_marks(COURSE)
    assert marks.keys() == {*STEMS}
    for mark in (mark for each in marks.values() for mark in each):
        assert (mark.notebook, mark.cell_id) in ids, mark


# A small course

TOPICS = """\
C1 = { what = "Six | leaves", lesson = "01_mini" }
M1 = { what = "Elements are leaves", lesson = "01_mini" }
T-L1-leaves = { what = "Leaves", lesson = "01_mini" }
T-L2-map = { what = "Map", lesson = "02_more" }
"""


@pytest.fixture
def marked(mini):
    """Return the small course, its topics marked where they are shown."""
    (mini.root / TOPICS_FILE).write_text(TOPICS, encoding="utf-8")
    edit(mini.sources / "lesson.md", ":prediction: C", ":prediction: C\n:covers: [C1, M1]")
    exercise, wrong = "exercise: count_leaves", 'misconception="elements"'
    edit(mini.sources / "exercises.md", exercise, f"{exercise}\ncovers: [T-L1-leaves]")
    edit(mini.sources / "answers.py", wrong, f'{wrong} covers="M1 C1"')
    return mini


def test_the_table_links_to_cells_exercises_and_wrong_answers(marked):
    rows = [line for line in table(Course(marked.root)).splitlines() if re.match(r"\| [CMT]", line)]
    lesson = (
        "[01_mini#leaves-are-not-elements-4]"
        "(../notebooks/01_mini.ipynb#cell-id=leaves-are-not-elements-4)"
    )
    cell = "../exercises/01_mini_exercises.ipynb#cell-id=count_leaves-answer"
    assert rows == [
        rf"| C1 | Six \| leaves | {lesson}, [count_leaves · elements]({cell}) |",
        f"| M1 | Elements are leaves | {lesson}, [count_leaves · elements]({cell}) |",
        f"| T-L1-leaves | Leaves | [count_leaves]({cell}) |",
        "| T-L2-map | Map | to come: 02_more |",
    ]
    # A lesson that is not whole yet has to show nothing.
    for part in (marked.notebook, marked.sources / "answers.py"):
        kept = part.read_bytes()
        part.unlink()
        assert read_marks(Course(marked.root)) == {}
        assert "| C1 | Six \\| leaves | to come: 01_mini |" in table(Course(marked.root))
        part.write_bytes(kept)


def test_wrong_marks_stop_the_build_and_are_named_all_of_them_without_a_list_of_topics(marked):
    wrong = [
        ("lesson.md", "[C1, M1]", "[C1, M2]"),
        ("exercises.md", "[T-L1-leaves]", "[T-L1-leafs]"),
        ("answers.py", '"M1 C1"', '"M1 C2"'),
    ]
    for file, old, new in wrong:
        edit(marked.sources / file, old, new)
    before = marked.notebook.read_bytes()
    with pytest.raises(AuthorMistakesError) as caught:
        build(marked)
    assert marked.notebook.read_bytes() == before
    mistakes = {mistake.file.name: mistake for mistake in caught.value.mistakes}
    assert len(caught.value.mistakes) == len(mistakes) == len(wrong)
    for file, _, new in wrong:
        topic = new.strip('[]"').split()[-1]
        assert f"there is no {topic!r}" in mistakes[file].message
        lines = (marked.sources / file).read_text(encoding="utf-8").splitlines()
        assert any(new in line for line in lines[: mistakes[file].line][-10:])
    (marked.root / TOPICS_FILE).unlink()
    assert len(find_wrong_marks(read_sources(marked))) == 5
    assert table(Course(marked.root)) == ""


def test_build_writes_the_table_and_the_plans_and_no_mark_where_learners_see_it(
    marked, course, course_py
):
    assert course_py("build", "1").returncode == 0
    assert (course.root / PAGE).read_text(encoding="utf-8") == table(course)
    assert (course.root / PLANS).read_text(encoding="utf-8") == plans(course)
    for file in (marked.notebook, marked.exercises, marked.solutions, marked.expected):
        assert "covers" not in json.dumps(json.loads(file.read_text(encoding="utf-8")))
