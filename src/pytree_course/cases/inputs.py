"""Draw inputs for cases: small trees that each differ from a plain dict in one feature."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pytree_course.cases.case import Point, random_model, random_words
from pytree_course.cases.vocabulary import FEATURES, Drawn, Duo, named

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
