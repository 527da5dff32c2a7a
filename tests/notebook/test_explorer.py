"""The explorer without a browser: what it shows, and what it says when it cannot."""

import html
import re

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course import explore
from pytree_course.notebook.explorer import MAX_ROWS, PRESETS, flatten
from pytree_course.observing.observations import MAX_NODES_TO_DRAW
from tests.observing.test_observe import values


def rows(html):
    return [int(place) for place in re.findall(r'<tr data-leaf="(\d+)"', html)]


def alert(explorer):
    found = re.search(r'role="alert".*?</div>', explorer.view.value)
    return re.sub("<.*?>", "", found[0]) if found else ""


def typed(explorer, expression):
    explorer.expression.value = expression
    return explorer


@given(values, st.sampled_from(list(PRESETS)))
def test_leaves_paths_and_counts_are_those_of_jax(tree, is_leaf):
    seen = flatten(tree, is_leaf, "tree", is_code=False)
    flat, structure = jax.tree.flatten_with_path(tree, is_leaf=eval(PRESETS[is_leaf]))
    paths = [path for _, path, _ in seen.rows()]
    assert (seen.leaves, seen.nodes) == (structure.num_leaves, structure.num_nodes)
    assert len(paths) == min(len(flat), MAX_ROWS)
    for path, (keys, _) in zip(paths, flat, strict=False):
        whole = jax.tree_util.keystr(keys)
        assert path == whole or "…" in path or "\\" in path


def test_is_leaf_changes_picture_and_list_where_a_lesson_has_taught_it():
    assert explore([1]).is_leaf not in explore([1]).children
    explorer = explore({"a": [1, None], "b": (2, 3)}, choose_is_leaf=True)
    assert explorer.is_leaf in explorer.children
    counts = []
    for name in PRESETS:
        explorer.is_leaf.value = name
        counts.append(len(rows(explorer.view.value)))
    assert counts == [3, 4, 3, 2, 3]
    explorer.is_leaf.value = "None is a leaf"
    assert "one leaf" in explorer.view.value
    assert "is_leaf=lambda x: x is None" in explorer.view.value


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("[1, 2", "SyntaxError"),
        ("x = 3", "Leave out the ="),
        ("no_such_name", "run the cell that makes no_such_name"),
        ("{1: 'a', 'b': 2}", "cannot sort the keys"),
        ("(lambda a: (a.append(a), a))([])[1]", "it contains itself"),
        (f"[0] * {MAX_NODES_TO_DRAW + 1}", "more than 40,000"),
    ],
)
def test_errors_say_what_to_do_and_the_last_picture_stays(expression, words):
    explorer = typed(explore([1, 2, 3]), expression)
    said = html.unescape(alert(explorer))
    assert words in said or words[0].upper() + words[1:] in said
    assert rows(explorer.view.value) == [0, 1, 2]
    assert explorer.expression.value == expression
    assert alert(typed(explorer, "[1]")) == ""
