"""Draw inputs for cases, and detect the features of the vocabulary in a case's inputs."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from pytree_course.cases.case import Case, Point, random_model, random_words
from pytree_course.cases.vocabulary import FEATURES, UNLISTED, Drawn, Duo, Input, InputNode, named
from pytree_course.observing.registry import flatten_one_level
from pytree_course.observing.words import NOTE

MOST_PARTS = 2_000  # of an input that are examined
LONGEST_NOTE = 90


def features_of(case: Case) -> list[str]:
    """Return the features of a case in words, as noun phrases; its tags are among them."""
    names = _features_in(case)
    words = {FEATURES[name].words if name in FEATURES else name for name in names}
    if 0 < len(case.note) <= LONGEST_NOTE:
        words.add(f"{NOTE}“{case.note}”")
    return sorted(words)


def shown_by(case: Case) -> set[str]:
    """Return the names of those features of the vocabulary that a case has."""
    names = _features_in(case).union(named(case.shows))
    return {
        name for name, feature in FEATURES.items() if name in names or feature.words in case.tags
    }


def _features_in(case: Case) -> set[str]:
    """Return names of the vocabulary, and the words of features that it does not list.

    They are read from the live inputs, in the author's process: an observation has lost the order
    of a dict's keys, and which leaves are one object.
    """
    names = {*case.tags, *case.shows}
    for place, given in enumerate(case.inputs):
        if place > 0 and isinstance(given, (str, int, float)):
            continue  # an argument beside a tree, such as a path's text
        try:
            names.update(_features_of_input(given))
        except Exception:  # an input that breaks flattening on purpose, as some lessons make
            names.add("a node that cannot be flattened")
    if case.inputs and not isinstance(case.inputs[0], str):
        names.update(_features_of_root(case.inputs[0]))
    return names


def _features_of_root(root: Any) -> Iterator[str]:
    if _is_plain_leaf(root) or flatten_one_level(root) is None:
        if root is not None and not callable(root):
            yield "bare leaf"
    elif not jax.tree.leaves(root):
        yield "no leaves"


def _features_of_input(root: Any) -> Iterator[str]:
    leaves: dict[int, Any] = {}
    keys: set[tuple[type, str]] = set()
    numbers: set[tuple[type, Any]] = set()
    has_repeated_leaf = False
    waiting: list[tuple[Any, tuple[type, ...]]] = [(root, ())]
    examined = 0
    while waiting and examined < MOST_PARTS:
        value, within = waiting.pop()
        examined += 1
        level = None if _is_plain_leaf(value) else flatten_one_level(value)
        if level is not None:
            node = InputNode(value, level, within)
            yield from (
                name for name, each in FEATURES.items() if each.in_node and each.in_node(node)
            )
            keys |= {(type(key), str(key)) for key in node.keys}
            waiting += [(child, (*within, level.type)) for _, child in level.children]
            continue
        yield from (name for name, each in FEATURES.items() if each.in_leaf and each.in_leaf(value))
        yield from (words for words, is_in in UNLISTED.items() if is_in(value))
        is_array = isinstance(value, (jax.Array, np.ndarray))
        has_repeated_leaf |= is_array and id(value) in leaves
        leaves[id(value)] = value
        if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
            numbers.add((type(value), value))
    given = Input(root, keys, numbers, has_repeated_leaf)
    yield from (name for name, each in FEATURES.items() if each.in_input and each.in_input(given))


def _is_plain_leaf(value: Any) -> bool:
    return isinstance(value, (str, int, float, np.ndarray, jax.Array))


VALUES: dict[str, np.ndarray[Any, Any]] = {
    name: feature.array for name, feature in FEATURES.items() if feature.array is not None
}
"""Arrays, by the feature that each has and a plain one has not."""


def shuffled(rng: np.random.Generator, things: Iterable[Any]) -> list[Any]:
    """Return things in an order that `rng` decides."""
    things = list(things)
    return [things[place] for place in rng.permutation(len(things))]


def varied_trees(
    rng: np.random.Generator,
    leaf: Callable[[], Any],
    *,
    edges: Iterable[Any] = (),
    values: Callable[[Any], Any] | None = None,
    without: Iterable[str] = (),
    rich: int = 2,
) -> list[Any]:
    """Draw small trees with one feature each, and some larger ones with several.

    Keys, values, the order of the trees and how many of them are rich come from `rng`.

    Parameters
    ----------
    rng
        Where everything comes from.
    leaf
        Draws a leaf.
    edges
        Leaves at the edge of what is allowed: each stands in a plain tree of its own.
    values
        Makes a leaf of an array that has one of the features in `VALUES`; each stands in a plain
        tree of its own. Without it, there are none.
    without
        Those names and groups of the vocabulary that the exercise's prompt does not allow, or that
        show nothing there.
    rich
        How many rich trees there are at least; there are two more at most.
    """
    left_out = set(named(without))
    trees = [_tree_with(rng, leaf, lambda it: {it.first: it.one, it.second: it.other})]
    trees += [
        _tree_with(rng, leaf, feature.tree)
        for name, feature in FEATURES.items()
        if feature.tree is not None and name not in left_out
    ]
    trees += [_with_edge(rng, leaf, edge) for edge in edges]
    if values is not None:
        trees += [
            _with_edge(rng, leaf, values((array * rng.integers(1, 10)).astype(array.dtype)))
            for name, array in VALUES.items()
            if name not in left_out
        ]
    parts: list[Callable[[], Any]] = []
    if "namedtuple below the top" not in left_out:
        parts.append(lambda: Point(leaf(), leaf()))
    if "registered class below the top" not in left_out:
        parts.append(lambda: Duo(leaf(), [leaf()]))
    trees += [random_model(rng, leaf, *parts) for _ in range(rich + int(rng.integers(3)))]
    return shuffled(rng, trees)


def _tree_with(
    rng: np.random.Generator, leaf: Callable[[], Any], make: Callable[[Drawn], Any]
) -> Any:
    """Draw a small tree."""
    first, second = sorted(random_words(rng, 2))
    return make(Drawn(first, second, leaf(), leaf(), leaf, rng))


def _with_edge(rng: np.random.Generator, leaf: Callable[[], Any], edge: Any) -> Any:
    """Draw a plain tree with this leaf, at random its first or its second."""
    first, second = sorted(random_words(rng, 2))
    if rng.random() < 0.5:
        return {first: edge, second: leaf()}
    return {first: leaf(), second: edge}
