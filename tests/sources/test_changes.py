"""Most wrong answers are written as a change of another answer, in the notation of a diff."""

import pytest

from pytree_course.sources.changes import ChangeError, apply_change
from pytree_course.sources.lesson_sources import read_sources
from pytree_course.sources.source_cells import AuthorMistakesError
from tests.conftest import edit

ANSWER = """\
def count(tree):
    if tree is None:
        return 0

    total = 0
    for item in tree:
        total += count(item)
    return total"""


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        ("-    total = 0\n+    total = 1", "total = 0", "total = 1"),
        ("-    return total", "\n    return total", ""),
        (" def count(tree):\n+    tree = [tree]", "(tree):\n", "(tree):\n    tree = [tree]\n"),
        ("     total = 0\n-    for item in tree:", "\n    for item in tree:", ""),
        ("         return 0\n\n-    total = 0", "\n    total = 0", ""),
        ("-    total = 0\n+\n+    total = 0", "    total = 0", "\n    total = 0"),
    ],
)
def test_lines_after_a_minus_are_replaced_by_those_after_a_plus(change, old, new):
    assert ANSWER.count(old) == 1
    assert apply_change(ANSWER, change) == ANSWER.replace(old, new)


def test_three_dots_stand_between_two_places():
    change = "-    total = 0\n+    total = 1\n...\n-    return total\n+    return total - 1"
    expected = ANSWER.replace("total = 0", "total = 1") + " - 1"
    assert apply_change(ANSWER, change) == expected


def test_the_second_place_is_looked_for_below_the_first():
    answer = "a = 1\nb = 2\na = 1"
    assert apply_change(answer, "-b = 2\n+b = 3\n...\n-a = 1") == "a = 1\nb = 3"


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        ("-    total = 2\n+    total = 1", 0, "do not occur"),
        ("-    total = 0\n...\n-    total = 0", 2, "do not occur"),
        ("-    total = 0\n+    total = 1\nreturn", 2, "begin this line with"),
        ("+    total = 1", 0, "where these lines belong"),
        ("     total = 0", 0, "nothing is changed"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_at_its_line(change, line, message):
    with pytest.raises(ChangeError, match=message) as refused:
        apply_change(ANSWER, change)
    assert refused.value.line == line


def test_lines_that_occur_twice_are_refused():
    with pytest.raises(ChangeError, match="more than once"):
        apply_change("a = 1\na = 1", "-a = 1")


CELL = """\
# %% exercise="count_leaves" misconception="one_more" changes="{base}"
\"""You count one leaf too many.\"""
-    return jax.tree.structure(tree).num_leaves
+    return jax.tree.structure(tree).num_leaves + 1


"""
FIRST = '# %% exercise="count_leaves" misconception="elements"'


def test_a_misconception_may_be_a_change_of_a_variant(unbuilt):
    edit(unbuilt.sources / "answers.py", FIRST, CELL.format(base="structure") + FIRST)
    wrong = read_sources(unbuilt).exercises["count_leaves"].misconceptions[0]
    assert wrong.explanation == "You count one leaf too many."
    assert wrong.source.endswith("tree):\n    return jax.tree.structure(tree).num_leaves + 1")


def test_a_change_of_a_change_is_not_changed_again(unbuilt):
    cells = [CELL.format(base="structure")]
    for number, base, name in ((1, "one_more", "two_more"), (2, "two_more", "three_more")):
        returned = "    return jax.tree.structure(tree).num_leaves"
        change = f"-{returned} + {number}\n+{returned} + {number + 1}"
        mark = f'# %% exercise="count_leaves" misconception="{name}" changes="{base}"'
        cells.append(f'{mark}\n"""You count too many leaves."""\n{change}\n\n\n')
    edit(unbuilt.sources / "answers.py", FIRST, "".join([*cells, FIRST]))
    with pytest.raises(AuthorMistakesError, match="'two_more' is a change of a change"):
        read_sources(unbuilt)


@pytest.mark.parametrize(
    ("base", "message"), [("solution", "do not occur"), ("nobody", "no answer above is called")]
)
def test_what_does_not_fit_is_a_mistake_with_file_and_line(unbuilt, base, message):
    answers = unbuilt.sources / "answers.py"
    edit(answers, FIRST, CELL.format(base=base) + FIRST)
    with pytest.raises(AuthorMistakesError, match=message) as refused:
        read_sources(unbuilt)
    [mistake] = refused.value.mistakes
    first_line = CELL.splitlines()[2]
    assert answers.read_text(encoding="utf-8").splitlines()[mistake.line - 1] == first_line
