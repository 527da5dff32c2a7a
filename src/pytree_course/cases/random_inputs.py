"""Draw inputs for cases: names, arrays, random trees, and small trees of every kind."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

WORDS = ("dense", "embed", "gate", "head", "key", "norm", "query", "scale", "table", "value")

Point = namedtuple("Point", ["x", "y"])


@jax.tree_util.register_dataclass
@dataclass
class Duo:
    """A node of a registered class, with two children."""

    left: Any
    right: Any


def random_tree(rng: np.random.Generator, depth: int = 3) -> Any:
    """Draw a tree of dicts, lists, tuples, OrderedDicts and namedtuples, at most `depth` levels.

    Its leaves are small ints and floats; some children are None, some containers are empty.
    """
    children = [_random_child(rng, depth - 1) for _ in range(rng.integers(2, 4))]
    names = [str(letter) for letter in rng.permutation(list("abcdwxyz"))[: len(children)]]
    items = dict(zip(names, children, strict=True))
    containers = [children, tuple(children), OrderedDict(items), Point(*children[:2]), items]
    return containers[rng.integers(5)]


def random_words(rng: np.random.Generator, count: int) -> list[str]:
    """Draw `count` different names, at most ten, in random order."""
    return [WORDS[index] for index in rng.permutation(len(WORDS))[:count]]


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
    chance = rng.random()
    if depth > 0 and chance < 0.45:
        return random_tree(rng, depth)
    if chance < 0.55:
        return None
    if chance < 0.62:
        return [(), [], {}][rng.integers(3)]
    if chance < 0.8:
        return float(rng.integers(1, 20)) / 2
    return int(rng.integers(1, 100))


# `jnp.asarray` compiles a program for each new shape and dtype, `jax.device_put` does not. Answers
# that compute need compilations too, so nearly all arrays have one of two shapes.
def vector(rng: np.random.Generator, dtype: Any = np.float32) -> jax.Array:
    """Draw two small whole numbers."""
    return jax.device_put(rng.integers(1, 10, 2).astype(dtype))


def matrix(rng: np.random.Generator) -> jax.Array:
    """Draw two rows of two small whole numbers."""
    return jax.device_put(rng.integers(1, 10, (2, 2)).astype(np.float32))


def shuffled(rng: np.random.Generator, things: Iterable[Any]) -> list[Any]:
    """Return things in random order."""
    things = list(things)
    return [things[index] for index in rng.permutation(len(things))]


def small_trees(
    rng: np.random.Generator, leaf: Callable[[], Any], edges: Iterable[Any] = ()
) -> list[Any]:
    """Draw small trees, one for each kind of node and some nested ones, in random order.

    Parameters
    ----------
    rng
        Draws keys and the order.
    leaf
        Draws a leaf.
    edges
        Edge cases of leaves; each gets a plain tree of its own.
    """
    a, b = sorted(random_words(rng, 2))
    empty: list[Any] = [(), [], {}]
    trees = [
        leaf(),
        [empty[rng.integers(3)]],
        {b: leaf(), a: leaf()},
        [leaf(), leaf()],
        (leaf(), leaf()),
        Point(leaf(), leaf()),
        Duo(leaf(), leaf()),
        OrderedDict({b: leaf(), a: leaf()}),
        {a: leaf(), b: None},
        {a: {b: leaf()}, b: leaf()},
        [{a: leaf()}, {a: leaf()}],
        {a: Point(leaf(), leaf()), b: empty[rng.integers(3)]},
    ]
    for edge in edges:
        first, second = shuffled(rng, [edge, leaf()])
        trees.append({a: first, b: second})
    return shuffled(rng, trees)
