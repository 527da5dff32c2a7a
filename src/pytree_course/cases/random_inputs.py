"""Draw inputs for cases: names, arrays, random trees, and small trees of every kind."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

WORDS = ("dense", "embed", "gate", "head", "key", "norm", "query", "scale", "table", "value")

Point = namedtuple("Point", ["x", "y"])


@jax.tree_util.register_dataclass
@dataclass
class Duo:
    """A node of a registered class, with two children."""

    left: Any
    right: Any


TREES: dict[str, Callable[..., Any]] = {
    "one leaf": lambda a, b, x, y, *_: {a: x},
    "bare leaf": lambda a, b, x, y, *_: x,
    "no leaves": lambda a, b, x, y, leaf, rng: [{}, (), [], None][rng.integers(4)],
    "list": lambda a, b, x, y, *_: [x, y],
    "tuple": lambda a, b, x, y, *_: (x, y),
    "namedtuple": lambda a, b, x, y, *_: Point(x, y),
    "registered class": lambda a, b, x, y, *_: Duo(x, y),
    "OrderedDict": lambda a, b, x, y, *_: OrderedDict({b: x, a: y}),
    "unsorted keys": lambda a, b, x, y, *_: {b: x, a: y},
    "int keys": lambda a, b, x, y, leaf, rng: {
        10 + int(rng.integers(90)): x,
        int(rng.integers(10)): y,
    },
    "slashed keys": lambda a, b, x, y, *_: {f"{a}/{b}": x, f"/{b}": y},
    "punctuated keys": lambda a, b, x, y, leaf, rng: {f"{b}.{a}": x, f"['{a}']": y, "1_0": leaf()},
    "falsy keys": lambda a, b, x, y, *_: {a: {0: x}, b: {"": y}},
    "keys of one text": lambda a, b, x, y, *_: {a: {1: x}, b: {"1": y}},
    "paths of one text": lambda a, b, x, y, *_: {a: {b: x}, f"{a}/{b}": y},
    "pattern keys": lambda a, b, x, y, *_: {f"{a}|{b}": x, f"({b}+": y},
    "None": lambda a, b, x, y, *_: {a: x, b: None},
    "empty container": lambda a, b, x, y, leaf, rng: {a: x, b: [(), [], {}][rng.integers(3)]},
    "dict in a dict": lambda a, b, x, y, *_: {a: {b: x}, b: y},
    "dict in a list": lambda a, b, x, y, *_: [{a: x}, {a: y}],
    "dict in a tuple": lambda a, b, x, y, *_: ({a: x}, {a: y}),
    "namedtuple in a list": lambda a, b, x, y, *_: [Point(x, y)],
    "class in itself": lambda a, b, x, y, leaf, rng: Duo(Duo(x, y), leaf()),
    "more than ten items": lambda a, b, x, y, leaf, rng: [leaf() for _ in range(12)],
    "namedtuple below the top": lambda a, b, x, y, *_: {a: Point(x, y)},
    "registered class below the top": lambda a, b, x, y, *_: {a: Duo(x, y)},
    "repeated leaf": lambda a, b, x, y, *_: {a: x, b: x},
}
"""How small trees are made, by name; a check's trees are drawn in this order.

Each takes two keys in alphabetical order, two leaves, the function that draws leaves, and `rng`.
"""

VALUES: dict[str, np.ndarray[Any, Any]] = {
    "nan": np.array([np.nan, 2], np.float32),
    "infinity": np.array([np.inf, -np.inf], np.float32),
    "tiny number": np.array([3e-5, -2e-6], np.float32),
    "no elements": np.zeros(0, np.float32),
    "0-d array": np.array(1.5, np.float32),
    "float16": np.array([1.5, 2], np.float16),
    "bfloat16": np.array([1.5, 2], jnp.bfloat16),
}
"""Arrays that answers may trip over, by name."""

GROUPS: dict[str, Iterable[str]] = {
    "trees": TREES,
    "keys": (
        "unsorted keys",
        "int keys",
        "slashed keys",
        "punctuated keys",
        "falsy keys",
        "keys of one text",
        "paths of one text",
        "pattern keys",
    ),
}
"""Names that a check may leave out together."""


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
    """Draw small trees, each of one kind, and some larger ones.

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
        Makes a leaf of an array in `VALUES`; each stands in a plain tree of its own. Without it,
        there are none.
    without
        Names in `TREES`, `VALUES` and `GROUPS` that the exercise's prompt does not allow, or that
        show nothing there.
    rich
        How many rich trees there are at least; there are two more at most.
    """
    left_out = {name for given in without for name in GROUPS.get(given, [given])}
    if unknown := left_out - TREES.keys() - VALUES.keys():
        raise ValueError(f"no small trees or values: {', '.join(sorted(unknown))}")
    trees = [_small_tree(rng, leaf, lambda a, b, x, y, *_: {a: x, b: y})]
    trees += [_small_tree(rng, leaf, make) for name, make in TREES.items() if name not in left_out]
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


def _small_tree(rng: np.random.Generator, leaf: Callable[[], Any], make: Callable[..., Any]) -> Any:
    first, second = sorted(random_words(rng, 2))
    return make(first, second, leaf(), leaf(), leaf, rng)


def _with_edge(rng: np.random.Generator, leaf: Callable[[], Any], edge: Any) -> Any:
    """Draw a plain tree with this leaf, at random its first or its second."""
    first, second = sorted(random_words(rng, 2))
    if rng.random() < 0.5:
        return {first: edge, second: leaf()}
    return {first: leaf(), second: edge}
