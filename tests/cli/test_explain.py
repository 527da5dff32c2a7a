"""`explain` closes the loop: from what a class's gradebook holds unexplained to a misconception."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.authoring.building import build
from pytree_course.sources.changes import CELL_MARK, misconception_cell, split_cells
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import edit
from tests.made_submissions import ELEMENTS, RIGHT

TWICE = "def count_leaves(tree):\n    return 2 * len(jax.tree.leaves(tree))"
FOUR = "def count_leaves(tree):\n    return 4"


@pytest.fixture
def unexplained(quick):
    """Return a graded class, in which two share a wrong answer that nothing explains."""
    for student, answers in {
        "ada": RIGHT,
        "bob": ELEMENTS,
        "cyd": {"count_leaves": TWICE},
        "dan": {"count_leaves": f"# %% my own\n{TWICE}"},
        "eve": {"count_leaves": FOUR},
    }.items():
        quick.hand_in(student, answers)
    quick.grade()
    return quick


def test_the_most_common_wrong_result_comes_first_with_a_case(unexplained, course_py):
    shown = course_py("explain", unexplained.into)
    assert shown.returncode == 0
    assert shown.stdout.startswith("2 wrong results of 3 students")
    assert "\n1. count_leaves · 2 students · incorrect\ncyd, dan\n" in shown.stdout
    assert "\n2. count_leaves · 1 student · incorrect\neve\n" in shown.stdout
    assert f'"""Say what is believed, and what JAX does."""\n{TWICE}\n' in shown.stdout
    first, _ = re.findall(r"^The smallest case that failed: (.*)", shown.stdout, re.MULTILINE)
    assert first not in ("{}", "[]", "()", "None")  # twice the number is right without leaves
    again = course_py("explain", unexplained.into / "gradebook.sqlite")
    assert again.stdout == shown.stdout


def test_the_suggested_cell_becomes_a_misconception_that_explains_it(unexplained, course_py):
    shown = course_py("explain", unexplained.into).stdout
    cell = shown[shown.index("# %% exercise") : shown.index("\n2. count_leaves")]
    file = unexplained.course.lesson("01_mini").sources / "answers.py"
    following = '# %% exercise="first_leaf" variant="loop"'
    edit(file, following, f"{cell.replace('name_it', 'twice')}\n\n\n{following}")
    sources = read_sources(unexplained.course.lesson("01_mini"))
    added = sources.exercises["count_leaves"].misconceptions[-1]
    assert (added.name, added.source) == ("twice", TWICE)
    build(unexplained.course.lesson("01_mini"))
    unexplained.grade()
    shown = course_py("explain", unexplained.into).stdout
    assert "eve" in shown
    assert "cyd" not in shown


def test_without_a_gradebook_explain_refuses_and_makes_none(course_py, tmp_path):
    shown = course_py("explain", tmp_path)
    assert shown.returncode == 2
    assert "does not exist" in shown.stderr
    assert not (tmp_path / "gradebook.sqlite").exists()


LINES = st.one_of(
    st.sampled_from(["# %%", "# %% x", '# %% exercise="y"', " # %%", "#%%", "# %time x"]),
    st.sampled_from(['"""', "x = 1", "# a\x0cb = 1", "y = '\u2028'", "", "    # In[ ]"]),
)


@given(st.lists(LINES))
def test_an_answer_with_odd_lines_stays_one_cell(lines):
    lines = ["first = 0", *lines, "last = 0"]
    text = misconception_cell("count", "\n".join(lines))
    ((number, said, source),) = split_cells(text)
    assert (number, said) == (1, {"exercise": "count", "misconception": "name_it"})
    _, *kept = source.split("\n")
    assert [line.replace("#:", "#", 1) for line in kept] == lines
    assert [line for line in kept if "#:" in line] == [
        line.replace("#", "#:") for line in lines if CELL_MARK.match(line)
    ]
