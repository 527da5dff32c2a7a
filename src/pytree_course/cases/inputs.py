"""Inputs for cases: small trees that each differ from a plain dict in one feature."""

import tomllib
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.cases.case import Point, random_model, random_words

VOCABULARY: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8")
)
"""The features that a case can have: by group, their names and the words for them."""


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
    leaf: Callable[[], Any]
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
    "slashed keys": lambda it: {f"{it.first}/{it.second}": it.one, f"/{it.second}": it.other},
    "punctuated keys": lambda it: {
        f"{it.second}.{it.first}": it.one,
        f"['{it.first}']": it.other,
        "1_0": it.leaf(),
    },
    "falsy keys": lambda it: {it.first: {0: it.one}, it.second: {"": it.other}},
    "keys of one text": lambda it: {it.first: {1: it.one}, it.second: {"1": it.other}},
    "paths of one text": lambda it: {
        it.first: {it.second: it.one},
        f"{it.first}/{it.second}": it.other,
    },
    "pattern keys": lambda it: {f"{it.first}|{it.second}": it.one, f"({it.second}+": it.other},
    "None": lambda it: {it.first: it.one, it.second: None},
    "empty container": lambda it: {it.first: it.one, it.second: [(), [], {}][it.rng.integers(3)]},
    "dict in a dict": lambda it: {it.first: {it.second: it.one}, it.second: it.other},
    "dict in a list": lambda it: [{it.first: it.one}, {it.first: it.other}],
    "dict in a tuple": lambda it: ({it.first: it.one}, {it.first: it.other}),
    "namedtuple in a list": lambda it: [Point(it.one, it.other)],
    "class in itself": lambda it: Duo(Duo(it.one, it.other), it.leaf()),
    "more than ten items": lambda it: [it.leaf() for _ in range(12)],
    "namedtuple below the top": lambda it: {it.first: Point(it.one, it.other)},
    "registered class below the top": lambda it: {it.first: Duo(it.one, it.other)},
    "repeated leaf": lambda it: {it.first: it.one, it.second: it.one},
}
"""Small trees, by what each has that the plain one has not."""

VALUES: dict[str, np.ndarray[Any, Any]] = {
    "nan": np.array([np.nan, 2], np.float32),
    "infinity": np.array([np.inf, -np.inf], np.float32),
    "tiny number": np.array([3e-5, -2e-6], np.float32),
    "no elements": np.zeros(0, np.float32),
    "0-d array": np.array(1.5, np.float32),
    "float16": np.array([1.5, 2], np.float16),
    "bfloat16": np.array([1.5, 2], jnp.bfloat16),
}
"""Arrays, by what each has that a plain one has not."""


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
    trees = [_tree_with(rng, leaf, name) for name in FEATURES if name not in left_out]
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


def named(features: Iterable[str]) -> list[str]:
    """Return names of the vocabulary. A group stands for its names, "trees" for three groups."""
    trees = [*VOCABULARY["nodes"], *VOCABULARY["keys"], *VOCABULARY["depth"]]
    groups = {**VOCABULARY, "trees": trees}
    names = [name for each in features for name in groups.get(each, [each])]
    known = {name for group in VOCABULARY.values() for name in group}
    if unknown := set(names) - known:
        raise ValueError(f"no features in the vocabulary: {', '.join(sorted(unknown))}")
    return names


def _tree_with(rng: np.random.Generator, leaf: Callable[[], Any], feature: str) -> Any:
    """Draw a small tree that has one feature alone."""
    first, second = sorted(random_words(rng, 2))
    return FEATURES[feature](_Drawn(first, second, leaf(), leaf(), leaf, rng))


def _with_edge(rng: np.random.Generator, leaf: Callable[[], Any], edge: Any) -> Any:
    """Draw a plain tree with this leaf, at random its first or its second."""
    first, second = sorted(random_words(rng, 2))
    if rng.random() < 0.5:
        return {first: edge, second: leaf()}
    return {first: leaf(), second: edge}
