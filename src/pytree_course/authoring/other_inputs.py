"""Inputs near those of the cases, such as the check never draws: edges, mixtures, nesting."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jax
import numpy as np

EDGES: tuple[Any, ...] = (
    *(0, 1, -1, 1000, True, False, 0.0, 2.5, float("nan"), float("inf"), "", "a/b"),
    *(None, (), [], {}, [1, 2], (1, 2), {"b": 1, "a": 2}),
    *(np.zeros((0,), np.float32), np.zeros((2, 2), np.float32), np.array([np.nan, 1], np.float32)),
    *(np.float64(0.1), np.array([1, 2]), np.array([True, False])),
)
"""What is rarely thought of; not every prompt allows each."""


def near(known: list[tuple[Any, ...]], rng: np.random.Generator) -> Iterator[tuple[int, Any]]:
    """Yield the number of a case and inputs for it, without end, each with one small change."""
    while True:
        case = int(rng.integers(len(known)))
        inputs = list(deepcopy(known[case]))
        if not inputs:
            continue
        place = int(rng.integers(len(inputs)))
        others = known[int(rng.integers(len(known)))]
        other = deepcopy(others[place]) if place < len(others) else inputs[place]
        inputs[place] = _changed(inputs[place], other, rng)
        yield case, tuple(inputs)


def _changed(tree: Any, other: Any, rng: np.random.Generator) -> Any:
    """Change one thing in a tree, perhaps to something from another tree."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda node: node is None)
    chance = rng.random()
    if chance < 0.1 or not leaves:
        return other
    if chance < 0.3 and isinstance(tree, dict):
        return _with_other_keys(tree, other, rng)
    if chance < 0.4 and isinstance(tree, (list, tuple)) and type(tree) in (list, tuple):
        return type(tree)([*tree, other] if rng.random() < 0.5 else [*tree[1:]])
    others = [*jax.tree.leaves(other), leaves[0], tree, other]
    new = EDGES[rng.integers(len(EDGES))] if chance < 0.7 else others[rng.integers(len(others))]
    leaves[rng.integers(len(leaves))] = new
    return jax.tree.unflatten(structure, leaves)


def _with_other_keys(tree: dict[Any, Any], other: Any, rng: np.random.Generator) -> Any:
    """Rename a key, drop an entry, or add one."""
    changed = dict(tree)
    key = list(changed)[rng.integers(len(changed))] if changed else "x"
    keys = [*(other if isinstance(other, dict) else ()), "extra", 7, (key, 1), f"{key}0"]
    new = keys[rng.integers(len(keys))]
    match rng.integers(3):
        case 0 if changed:
            changed[new] = changed.pop(key)
        case 1 if changed:
            del changed[key]
        case _:
            changed[new] = next(iter(changed.values()), 1)
    return changed
