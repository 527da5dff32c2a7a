"""Draw inputs for cases: names, arrays, random trees, and trees with one feature each."""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from pytree_course.cases.input_features import FEATURES, Drawn, Duo, Point, named

WORDS = ("dense", "embed", "gate", "head", "key", "norm", "query", "scale", "table", "value")

VALUES: dict[str, np.ndarray[Any, Any]] = {
    name: feature.array for name, feature in FEATURES.items() if feature.array is not None
}
"""Arrays, by the feature that each has and a plain one has not."""


def random_tree(rng: np.random.Generator, depth: int = 3) -> Any:
    """Draw a tree of dicts, lists, tuples, OrderedDicts and namedtuples, at most `depth` levels.

    Its leaves are small ints and floats; some children are None, some containers are empty.
    """
    children = [_random_child(rng, depth - 1) for _ in range(rng.integers(2, 4))]
    names = [f"{letter}" for letter in rng.permutation(list("abcdwxyz"))[: len(children)]]
    items = dict(zip(names, children, strict=True))
    containers = [children, tuple(children), OrderedDict(items), Point(*children[:2]), items]
    return containers[rng.integers(5)]


def random_words(rng: np.random.Generator, count: int) -> list[str]:
    """Draw `count` different names, ten at most; only by luck are they in sorted order."""
    return [WORDS[place] for place in rng.permutation(len(WORDS))[:count]]


def random_model(
    rng: np.random.Generator, leaf: Callable[[], Any], *parts: Callable[[], Any]
) -> dict[str, Any]:
    """Draw a tree like a model's parameters: three named parts, made by `leaf` and `parts`."""
    kinds = (
        leaf,
        lambda: {"w": leaf(), "b": leaf()},
        lambda: [leaf(), {"w": leaf()}],
        lambda: (leaf(), None),
        *parts,
    )
    return {name: kinds[rng.integers(len(kinds))]() for name in random_words(rng, 3)}


def _random_child(rng: np.random.Generator, depth: int) -> Any:
    kind = rng.random()
    if depth > 0 and kind < 0.45:
        return random_tree(rng, depth)
    if kind < 0.55:
        return None
    if kind < 0.62:
        return [(), [], {}][rng.integers(3)]
    if kind < 0.8:
        return float(rng.integers(1, 20)) / 2
    return int(rng.integers(1, 100))


# `jnp.asarray` compiles a program for each new shape and dtype, and `jax.device_put` does not.
# Answers that compute cost compilations, too: so nearly all arrays have one of two shapes.
def vector(rng: np.random.Generator, dtype: Any = np.float32) -> jax.Array:
    """Draw two small whole numbers."""
    return jax.device_put(rng.integers(1, 10, 2).astype(dtype))


def matrix(rng: np.random.Generator) -> jax.Array:
    """Draw two rows of two small whole numbers."""
    return jax.device_put(rng.integers(1, 10, (2, 2)).astype(np.float32))


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
        Those features and groups that the exercise's prompt does not allow, or that
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
