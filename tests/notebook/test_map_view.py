"""What the map view promises: it shows what `jax.tree.map` does, and nothing else."""

from collections.abc import Callable
from typing import Any

import jax
import pytest

import pytree_course
from pytree_course.notebook.map_view import IsLeaf, MapView, map_and_watch
from tests.observing.test_observe import Scaled


def pair(function: Callable[..., Any], *trees: Any, is_leaf: IsLeaf | None = None) -> MapView:
    """Return the view that `pair` shows."""
    return map_and_watch(function, trees, is_leaf)


@pytest.mark.parametrize(
    ("trees", "is_leaf"),
    [
        ([{"a": 1, "b": [2, None]}, {"b": [20, "given as it is"], "a": (10, 11)}], None),
        ([(1, [2, (3, 4)]), (1, [2, 5])], lambda part: type(part) is tuple and 3 in part),
        ([[1, 2], [1, 2, 3]], None),
        ([list(range(100))] * 2, None),
    ],
)
def test_it_calls_as_often_and_with_the_same_arguments_as_tree_map(trees, is_leaf):
    calls, expected = [], []
    view = pair(lambda *given: calls.append(given) or 0, *trees, is_leaf=is_leaf)
    try:
        jax.tree.map(lambda *given: expected.append(given) or 0, *trees, is_leaf=is_leaf)
    except ValueError:
        assert not view.works
    assert calls == expected
    assert len(view.calls) == len(calls)
    assert len(view.static.html) < 100_000


@pytest.mark.parametrize(
    ("first", "other", "reason"),
    [
        ([1], (1,), "tree 1 has list of 1, and tree 2 has tuple of 1"),
        (None, 1, "tree 1 has None, and tree 2 has a leaf"),
        ({"a": 1}, {"b": 1}, "tree 1 has dict of 1: 'a', and tree 2 has dict of 1: 'b'"),
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


def test_trees_that_cannot_be_flattened_are_said_so():
    view = pair(lambda x: x, {1: 0, "a": 0})
    assert not view.works and view.mismatch is None
    assert "looking into the trees raised" in view.static.text
    with pytest.raises(TypeError, match="at least one tree"):
        pytree_course.pair(lambda: 0)
