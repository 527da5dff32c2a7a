"""Inputs for cases: small trees that each differ from a plain dict in one feature."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from pytree_course.checking.cases import Point, random_model, random_words


@jax.tree_util.register_dataclass
@dataclass
class Duo:
    """A node of a registered class, with two children."""

    left: Any
    right: Any


class _Drawn(NamedTuple):
    """What a small tree is made of."""

    first: str
    second: str  # in the order of the alphabet
    one: Any
    other: Any
    rng: np.random.Generator


FEATURES: dict[str, Callable[[_Drawn], Any]] = {
    "plain": lambda it: {it.first: it.one, it.second: it.other},
    "one leaf": lambda it: {it.first: it.one},
    "bare leaf": lambda it: it.one,
    "no leaves": lambda it: [{}, (), [], None][it.rng.integers(4)],
    "list": lambda it: [it.one, it.other],
    "tuple": lambda it: (it.one, it.other),
    "namedtuple": lambda it: Point(it.one, it.other),
    "registered class": lambda it: Duo(it.one, it.other),
    "OrderedDict": lambda it: OrderedDict({it.second: it.one, it.first: it.other}),
    "unsorted keys": lambda it: {it.second: it.one, it.first: it.other},
    "int keys": lambda it: {
        10 + int(it.rng.integers(90)): it.one,
        int(it.rng.integers(10)): it.other,
    },
    "None": lambda it: {it.first: it.one, it.second: None},
    "empty container": lambda it: {it.first: it.one, it.second: [(), [], {}][it.rng.integers(3)]},
    "dict in a dict": lambda it: {it.first: {it.second: it.one}, it.second: it.other},
    "dict in a list": lambda it: [{it.first: it.one}, {it.first: it.other}],
    "namedtuple below the top": lambda it: {it.first: Point(it.one, it.other)},
    "registered class below the top": lambda it: {it.first: Duo(it.one, it.other)},
    "repeated leaf": lambda it: {it.first: it.one, it.second: it.one},
}
"""Small trees, by what each has that the plain one has not."""


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
    return FEATURES[feature](_Drawn(first, second, leaf(), leaf(), rng))


def _with_edge(rng: np.random.Generator, leaf: Callable[[], Any], edge: Any) -> Any:
    """Draw a plain tree with this leaf, at random its first or its second."""
    first, second = sorted(random_words(rng, 2))
    if rng.random() < 0.5:
        return {first: edge, second: leaf()}
    return {first: leaf(), second: edge}
