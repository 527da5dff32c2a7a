"""The explorer without a browser: what it shows, and what it says when it cannot."""

import html
import re
from xml.etree import ElementTree

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course import explore
from pytree_course.notebook.explorer import EXAMPLE, MOST_ROWS, PRESETS, look_into
from pytree_course.observing.observations import MAX_NODES_TO_DRAW

leaves = st.none() | st.integers() | st.text(max_size=5)
trees = st.recursive(
    leaves,
    lambda children: (
        st.lists(children, max_size=20)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=4), children, max_size=4)
    ),
    max_leaves=60,
)


class Unflattenable:
    """A custom node whose flatten function has a mistake."""


def fail(value):
    raise RuntimeError(f"no children in {value!r}")


jax.tree_util.register_pytree_node(Unflattenable, fail, lambda aux, children: Unflattenable())


def rows(html):
    return [int(place) for place in re.findall(r'<tr data-leaf="(\d+)"', html)]


def alert(explorer):
    found = re.search(r'role="alert".*?</div>', explorer.view.value)
    return re.sub("<.*?>", "", found[0]) if found else ""


def explorer_parts(explorer):
    return [type(part).__name__ for part in explorer.children]


def typed(explorer, expression):
    explorer.expression.value = expression
    return explorer


@given(trees, st.sampled_from(list(PRESETS)))
def test_leaves_paths_and_counts_are_those_of_jax(tree, is_leaf):
    seen = look_into(tree, "tree", False, is_leaf)
    flat, structure = jax.tree.flatten_with_path(tree, is_leaf=eval(PRESETS[is_leaf]))
    paths = [path for _, path, _ in seen.rows()]
    assert (seen.leaves, seen.nodes) == (structure.num_leaves, structure.num_nodes)
    assert len(paths) == min(len(flat), MOST_ROWS)
    for path, (keys, _) in zip(paths, flat, strict=False):
        whole = jax.tree_util.keystr(keys)
        assert path == whole or "…" in path or "\\" in path


@given(trees)
def test_every_place_is_drawn_or_folded_once(tree):
    html = explore([tree]).static.html
    picture = ElementTree.fromstring(re.search(r"<svg.*</svg>", html)[0])
    drawn = [
        int(g.get("data-leaf"))
        for g in picture.iter()
        if g.tag.endswith("}g") and g.get("data-leaf")
    ]
    assert len(drawn) == len(set(drawn))
    assert set(drawn) <= set(range(len(jax.tree.leaves(tree))))


def test_is_leaf_changes_picture_and_list():
    explorer = explore({"a": [1, None], "b": (2, 3)}, choose_is_leaf=True)
    counts = []
    for name in PRESETS:
        explorer.is_leaf.value = name
        counts.append(len(rows(explorer.view.value)))
    assert counts == [3, 4, 3, 2, 3]
    explorer.is_leaf.value = "None is a leaf"
    assert "one leaf" in explorer.view.value
    assert "is_leaf=lambda x: x is None" in explorer.view.value


def test_the_choice_of_is_leaf_is_shown_where_a_lesson_has_taught_it():
    assert explorer_parts(explore([1])) == ["HBox", "HTML"]
    assert explorer_parts(explore([1], choose_is_leaf=True)) == ["HBox", "ToggleButtons", "HTML"]


def test_a_string_is_an_expression_and_anything_else_is_itself():
    assert "the tree you passed" in explore(None).static.text
    assert explore().expression.value == EXAMPLE
    assert rows(explore("[1, 2]").view.value) == [0, 1]


def test_an_empty_field_brings_back_what_was_passed():
    explorer = typed(explore([1, 2, 3]), "[]")
    assert "No leaves" in explorer.view.value
    assert "the tree you passed" in typed(explorer, "").view.value


def test_show_evaluates_again(monkeypatch):
    import __main__

    monkeypatch.setattr(__main__, "changing_tree", [1], raising=False)
    explorer = explore("changing_tree")
    monkeypatch.setattr(__main__, "changing_tree", [1, 2, 3])
    explorer.show.click()
    assert rows(explorer.view.value) == [0, 1, 2]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("[1, 2", "SyntaxError"),
        ("x = 3", "Leave out the ="),
        ("import jax", "an expression only"),
        ("no_such_name", "run the cell that makes no_such_name"),
        ("{1: 'a', 'b': 2}", "cannot sort the keys"),
        ("[{'in': {1: 'a', 'b': 2}}]", "at [0]['in']"),
        ("[][3]", "nothing at this place"),
        ("exit()", "SystemExit"),
        ("1 / 0", "ZeroDivisionError"),
        ("(lambda a: (a.append(a), a))([])[1]", "it contains itself"),
        (f"[0] * {MAX_NODES_TO_DRAW + 1}", "more than 40,000"),
        ("'x' * 20_000", "10,000 characters"),
    ],
)
def test_errors_say_what_to_do_and_the_last_picture_stays(expression, words):
    explorer = typed(explore([1, 2, 3]), expression)
    said = html.unescape(alert(explorer))
    assert words in said or words[0].upper() + words[1:] in said
    assert rows(explorer.view.value) == [0, 1, 2]
    assert explorer.expression.value == expression
    assert alert(typed(explorer, "[1]")) == ""


def test_a_mistake_in_a_flatten_function_is_told():
    explorer = explore([Unflattenable()])
    assert "RuntimeError" in alert(explorer)
    assert "0x" not in alert(explorer)
    assert "Unflattenable" in explorer.static.text


def test_an_error_first_is_shown_in_the_static_form_too():
    explorer = explore("[1,")
    assert "SyntaxError" in explorer.static.html
    assert "SyntaxError" in explorer.static.text


@pytest.mark.parametrize(
    ("count", "more"), [(0, ""), (40, ""), (41, "1 more leaf"), (10_000, "9,960 more leaves")]
)
def test_long_lists_are_folded(count, more):
    html = explore([0] * count).view.value
    assert len(rows(html)) == min(count, MOST_ROWS)
    assert more in html
    assert len(html) < 60_000
