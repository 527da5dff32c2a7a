"""Features of a case: what its inputs have that a plain dict of two arrays has not."""

from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.checking.cases import Case
from pytree_course.checking.words import UNSORTED
from pytree_course.registry import Level, flatten_one_level

MOST_PARTS = 2_000  # of an input that are looked at
LONGEST_NOTE = 90

_CONTAINERS = (list, tuple, dict, set, frozenset)


def features_of(case: Case) -> list[str]:
    """Name the features of a case, as noun phrases; its tags are among them.

    They are read from the live inputs, in the author's process: an observation has lost the order
    of a dict's keys, and which leaves are one object.
    """
    found = set(case.tags)
    if 0 < len(case.note) <= LONGEST_NOTE:
        found.add(f"the note “{case.note}”")
    for place, given in enumerate(case.inputs):
        if place > 0 and isinstance(given, (str, int, float)):
            continue  # an argument beside a tree, such as a path's text
        try:
            found.update(_of_input(given))
        except Exception:  # an input that breaks flattening on purpose, as some lessons make
            found.add("a node that cannot be flattened")
    if case.inputs and not isinstance(case.inputs[0], str):
        found.update(_of_root(case.inputs[0]))
    if len(case.inputs) > 1 and _are_trees(case.inputs) and _differ_in_structure(case.inputs):
        found.add("inputs whose structures differ")
    return sorted(found)


def _are_trees(inputs: Iterable[Any]) -> bool:
    return all(not jax.tree_util.all_leaves([given]) for given in inputs)


def _differ_in_structure(inputs: Iterable[Any]) -> bool:
    try:
        return len({jax.tree.structure(given) for given in inputs}) > 1
    except Exception:
        return False


def _of_root(root: Any) -> Iterator[str]:
    level = _level(root)
    if level is None:
        if root is not None and not callable(root):
            yield "a bare leaf instead of a container"
    elif level.type is not dict and level.type is not type(None):
        yield "a root that is no dict"
    if level is not None and not jax.tree.leaves(root):
        yield "no leaves"


def _of_input(root: Any) -> Iterator[str]:
    seen: dict[int, Any] = {}
    waiting: list[tuple[Any, int]] = [(root, 0)]
    looked_at = 0
    while waiting and looked_at < MOST_PARTS:
        value, depth = waiting.pop()
        looked_at += 1
        level = _level(value)
        if level is None:
            yield from _of_leaf(value)
            if id(value) in seen and isinstance(value, (jax.Array, np.ndarray)):
                yield "a leaf that occurs twice (the same object)"
            seen[id(value)] = value
        else:
            yield from _of_node(value, level, depth)
            waiting += [(child, depth + 1) for _, child in level.children]


def _level(value: Any) -> Level | None:
    if isinstance(value, (str, int, float, np.ndarray, jax.Array)):
        return None
    return flatten_one_level(value)


def _of_node(value: Any, level: Level, depth: int) -> Iterator[str]:
    if value is None:
        yield "a `None`"
        return
    below = " below the top" if depth else ""
    if level.is_custom:
        yield f"a node of a registered class{below}"
    elif issubclass(level.type, tuple) and level.type is not tuple:
        yield f"a namedtuple{below}"
    elif issubclass(level.type, dict):
        if level.type is not dict:
            yield "an OrderedDict or defaultdict"
        elif depth:
            yield "a dict below the top"
        keys = list(value)
        if not all(isinstance(key, str) for key in keys):
            yield "keys that are not texts"
        elif keys != sorted(keys):
            yield UNSORTED
        if any(set(str(key)) & set("/.[]'\" ") for key in keys):
            yield "keys with punctuation in them"
    elif level.type is tuple:
        yield "a tuple"
    elif level.type is list:
        yield "a list below the top" if depth else "a list"
    if not level.children:
        yield "an empty container"
    elif len(level.children) == 1 and not depth:
        yield "one child only"


def _of_leaf(leaf: Any) -> Iterator[str]:
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        yield from _of_array(leaf)
    elif isinstance(leaf, bool):
        yield "a `True` or `False` as a leaf"
    elif isinstance(leaf, (int, float)):
        yield "a Python number as a leaf"
        if leaf == 0:
            yield "a leaf that is false for Python (0, an empty text)"
        if leaf != leaf:
            yield "nan"
        elif leaf in (float("inf"), float("-inf")):
            yield "an infinite number"
        elif leaf < 0:
            yield "a negative number"
    elif isinstance(leaf, str):
        yield "a text as a leaf"
        if not leaf:
            yield "a leaf that is false for Python (0, an empty text)"
    elif isinstance(leaf, _CONTAINERS):
        yield "a container that is a leaf"
    elif isinstance(leaf, jax.ShapeDtypeStruct):
        yield "a ShapeDtypeStruct"
    elif not callable(leaf):
        yield "a leaf that is no array, number or text"


def _of_array(leaf: Any) -> Iterator[str]:
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        yield "a typed key"
        return
    yield "a JAX array" if isinstance(leaf, jax.Array) else "a NumPy array or scalar"
    if leaf.ndim == 0:
        yield "a 0-d array"
    elif leaf.size == 0:
        yield "an array without elements"
    elif leaf.ndim > 1:
        yield "an array with two axes or more"
    if leaf.dtype.itemsize == 2 and jnp.issubdtype(leaf.dtype, jnp.floating):
        yield "half precision"
    elif jnp.issubdtype(leaf.dtype, jnp.integer):
        yield "an array of integers"
    elif leaf.dtype == bool:
        yield "an array of bools"
    if jnp.issubdtype(leaf.dtype, jnp.floating):
        numbers = np.asarray(leaf, np.float64)
        if np.isnan(numbers).any():
            yield "nan"
        if np.isinf(numbers).any():
            yield "an infinite number"
