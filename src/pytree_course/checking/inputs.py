"""The vocabulary of inputs: small trees that differ from a plain dict in one feature each."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from pytree_course.checking.cases import Point, random_model, random_words

FEATURES = (
    "plain",  # a dict of two leaves, its keys in sorted order
    "one leaf",
    "bare leaf",
    "no leaves",
    "list",
    "tuple",
    "namedtuple",
    "registered class",
    "OrderedDict",
    "unsorted keys",
    "int keys",
    "None",
    "empty container",
    "dict in a dict",
    "dict in a list",
    "namedtuple below the top",
    "registered class below the top",
    "repeated leaf",
)
"""What a small tree of `varied_trees` has that the plain one has not."""


@jax.tree_util.register_dataclass
@dataclass
class Duo:
    """A node of a registered class, with two children."""

    left: Any
    right: Any


def shuffled(rng: np.random.Generator, things: Iterable[Any]) -> list[Any]:
    """Return things in an order that `rng` decides."""
    things = list(things)
    return [things[place] for place in rng.permutation(len(things))]


def varied_trees(
    rng: np.random.Generator,
    leaf: Callable[[], Any],
    *,
    edges: Iterable[Any] = (),
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
        Leaves at the edge of what is allowed, such as nan: each stands in a plain tree of its own.
    without
        Those of `FEATURES` that the exercise's prompt does not allow, or that show nothing there.
    rich
        How many rich trees there are at least; there are two more at most.
    """
    without = set(without)
    if unknown := without.difference(FEATURES):
        raise ValueError(f"no features of trees: {', '.join(sorted(unknown))}")
    trees = [_tree_with(rng, leaf, name) for name in FEATURES if name not in without]
    trees += [_with_edge(rng, leaf, edge) for edge in edges]
    parts: list[Callable[[], Any]] = []
    if "namedtuple below the top" not in without:
        parts.append(lambda: Point(leaf(), leaf()))
    if "registered class below the top" not in without:
        parts.append(lambda: Duo(leaf(), [leaf()]))
    trees += [random_model(rng, leaf, *parts) for _ in range(rich + int(rng.integers(3)))]
    return shuffled(rng, trees)


def _tree_with(rng: np.random.Generator, leaf: Callable[[], Any], feature: str) -> Any:
    """Draw a small tree that has one feature alone."""
    first, second = sorted(random_words(rng, 2))
    one, other = leaf(), leaf()
    match feature:
        case "one leaf":
            return {first: one}
        case "bare leaf":
            return one
        case "no leaves":
            return [{}, (), [], None][rng.integers(4)]
        case "list":
            return [one, other]
        case "tuple":
            return (one, other)
        case "namedtuple":
            return Point(one, other)
        case "registered class":
            return Duo(one, other)
        case "OrderedDict":
            return OrderedDict({second: one, first: other})
        case "unsorted keys":
            return {second: one, first: other}
        case "int keys":
            return {10 + int(rng.integers(90)): one, int(rng.integers(10)): other}
        case "None":
            return {first: one, second: None}
        case "empty container":
            return {first: one, second: [(), [], {}][rng.integers(3)]}
        case "dict in a dict":
            return {first: {second: one}, second: other}
        case "dict in a list":
            return [{first: one}, {first: other}]
        case "namedtuple below the top":
            return {first: Point(one, other)}
        case "registered class below the top":
            return {first: Duo(one, other)}
        case "repeated leaf":
            return {first: one, second: one}
    return {first: one, second: other}


def _with_edge(rng: np.random.Generator, leaf: Callable[[], Any], edge: Any) -> Any:
    """Draw a plain tree in which one leaf is given, now the first, now the second."""
    first, second = sorted(random_words(rng, 2))
    if rng.random() < 0.5:
        return {first: edge, second: leaf()}
    return {first: leaf(), second: edge}
