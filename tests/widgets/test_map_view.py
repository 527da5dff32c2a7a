"""What the map view promises: it shows what `jax.tree.map` does, and nothing else."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pytree_course
from pytree_course.notebook.map_view import MOST_CALLS, IsLeaf, MapView, map_and_watch
from tests.test_trees import Scaled, values

SVG = "{http://www.w3.org/2000/svg}"


def pair(function: Callable[..., Any], *trees: Any, is_leaf: IsLeaf | None = None) -> MapView:
    """Return the view that `pair` shows."""
    return map_and_watch(function, trees, is_leaf)


@st.composite
def several_alike(draw):
    """A tree, and others like it, in which leaves may have become trees."""
    first = draw(values)
    leaves, treedef = jax.tree.flatten(first)
    others = []
    for _ in range(draw(st.integers(0, 2))):
        changed = [draw(values) if draw(st.integers(0, 9)) == 0 else leaf for leaf in leaves]
        others.append(draw(st.sampled_from([treedef.unflatten(changed)] * 4 + [draw(values)])))
    return [first, *others]


def part_at(tree: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        pairs, _ = jax.tree.flatten_with_path(tree, is_leaf=lambda part, of=tree: part is not of)
        tree = {jax.tree_util.keystr(keys): child for keys, child in pairs}[key]
    return tree


@given(several_alike(), st.sampled_from([None, lambda part: type(part) is tuple]))
def test_it_works_and_calls_exactly_as_tree_map_and_a_mismatch_is_where_it_says(trees, is_leaf):
    calls: list[Any] = []
    expected: list[Any] = []
    view = pair(lambda *given: calls.append(given) or repr(given), *trees, is_leaf=is_leaf)
    try:
        jax.tree.map(lambda *given: expected.append(given) or 0, *trees, is_leaf=is_leaf)
        works = True
    except Exception:  # whatever makes JAX refuse the trees
        works = False
    assert view.works == works
    assert repr(calls) == repr(expected)
    assert len(view.calls) == len(calls)
    if works:
        paths, _ = jax.tree.flatten_with_path(trees[0], is_leaf=is_leaf)
        assert ["".join(call.path) for call in view.shown_calls] == [
            jax.tree_util.keystr(path) for path, _ in paths[:MOST_CALLS]
        ]
    else:
        assert view.mismatch is not None
        there = trees[0], trees[view.mismatch.position]
        first, other = (part_at(tree, view.mismatch.path) for tree in there)
        top = jax.tree.structure(first, is_leaf=lambda part: part is not first)
        with pytest.raises(ValueError):
            top.flatten_up_to(other)


def rows(view: MapView) -> list[str]:
    return [line for line in view.static.text.splitlines() if line.startswith("#")]


def page(view: MapView) -> ElementTree.Element:
    return ElementTree.fromstring(view.static.html)


def numbers(picture: ElementTree.Element) -> dict[str, str]:
    """Return the number on each box that has one, by its path."""
    return {
        group.findtext(f"{SVG}title", ""): badge.findtext(f"{SVG}text", "")
        for group in picture.iter(f"{SVG}g")
        for badge in group.findall(f"{SVG}g[@class='pytree-badge']")
    }


# What is shown


def test_partners_have_the_same_number_in_all_trees_the_result_and_the_table():
    view = pair(lambda x, y: x + y, {"a": 1, "b": [2]}, {"b": [20], "a": 10})
    assert rows(view) == ["#1  ['a']     f(1, 10) → 11", "#2  ['b'][0]  f(2, 20) → 22"]
    pictures = list(page(view).iter(f"{SVG}svg"))
    assert [numbers(picture) for picture in pictures] == [{"['a']": "1", "['b'][0]": "2"}] * 3
    table = page(view).find(".//table")
    assert [row.get("data-pair") for row in table.iter("tr")] == [None, "1", "2"]
    assert [row.get("tabindex") for row in table.iter("tr")] == [None, "0", "0"]


def test_a_prefix_match_is_marked_and_none_in_a_later_tree_is_given_as_it_is():
    view = pair(lambda x, y: len(y), {"a": 1}, {"a": [10, 20]})
    assert rows(view) == ["#1  ['a']  f(1, [10, 20]) → 2"]
    assert "├─ [0]  10" in view.static.text
    assert "list  (given whole; #1)" in view.static.text
    assert "f gets the whole subtree of the other tree" in view.static.text
    parts = [g for g in page(view).iter(f"{SVG}g") if g.get("data-pair") == "1"]
    assert len(parts) == 1 + 3 + 1  # the leaf; the list and both of its leaves; the result
    view = pair(lambda x, y: y is None, {"a": 1}, {"a": None})
    assert rows(view) == ["#1  ['a']  f(1, None) → True"]
    assert "None  (given as it is; #1)" in view.static.text


@pytest.mark.parametrize(
    ("first", "other", "reason"),
    [
        ([1], (1,), "tree 1 has list of 1, and tree 2 has tuple of 1"),
        (None, 1, "tree 1 has None, and tree 2 has a leaf"),
        ({"a": 1}, {"b": 1}, "tree 1 has dict of 1: 'a', and tree 2 has dict of 1: 'b'"),
        (
            OrderedDict(a=1, b=2),
            OrderedDict(b=2, a=1),
            "tree 1 has OrderedDict of 2: 'a', 'b', and tree 2 has OrderedDict of 2: 'b', 'a'",
        ),
        (
            Scaled(1, 2),
            Scaled(1, 3),
            "tree 1 has Scaled of 1, aux_data 2, and tree 2 has Scaled of 1, aux_data 3",
        ),
    ],
)
def test_the_reason_of_a_mismatch(first, other, reason):
    view = pair(lambda *parts: 0, {"x": [0, first]}, {"x": [0, other]})
    assert view.mismatch is not None
    assert view.mismatch.path == ("['x']", "[1]")
    assert reason in view.sentences[1]
    assert view.static.text.count("◀ mismatch") == 2


def test_the_mismatch_of_a_third_tree_is_marked_in_all():
    text = pair(lambda *parts: 0, [1, (2,)], [1, (2,)], [1, [2]]).static.text
    assert text.count("◀ mismatch") == 2 and text.count("◀ here") == 1
    assert "the structure of tree 3 does not match" in text


def test_a_function_that_raises_is_shown_at_its_leaf():
    view = pair(lambda x: 1 // x, {"a": 1, "b": [0, 2]})
    assert not view.works
    assert rows(view)[-1].startswith("#2  ['b'][0]  f(0) → ✗ ZeroDivisionError")
    assert "[0]  0  (#2)  ◀ f raised" in view.static.text
    assert "1 leaf was not reached." in view.static.text
    late = pair(lambda x: 1 // (90 - x), list(range(100)))
    assert late.failed_call.path == ("[90]",)
    assert "◀ f raised" in late.static.text


def test_trees_that_cannot_be_flattened_are_said_so():
    view = pair(lambda x: x, {1: 0, "a": 0})
    assert not view.works and view.mismatch is None
    assert "looking into the trees raised" in view.static.text
    with pytest.raises(TypeError, match="at least one tree"):
        pytree_course.pair(lambda: 0)


def test_a_large_tree_is_folded():
    view = pair(lambda x, y: x, list(range(10_000)), list(range(10_000)))
    assert len(rows(view)) == MOST_CALLS
    assert "… and 9,976 more calls" in view.static.text
    assert len(view.static.html) < 100_000
