"""Detect the features that a case's inputs have."""

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from pytree_course.cases.case import Case
from pytree_course.cases.input_features import FEATURES, UNLISTED, Input, InputNode, named
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
    """Return the names of those listed features that a case has."""
    names = _features_in(case).union(named(case.shows))
    return {
        name for name, feature in FEATURES.items() if name in names or feature.words in case.tags
    }


def _features_in(case: Case) -> set[str]:
    """Return names of listed features, and the words of features that the table does not list.

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
