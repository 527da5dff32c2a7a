"""Features of a case: what its inputs have that a plain dict of two arrays has not."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.cases.case import Case
from pytree_course.cases.inputs import VOCABULARY, named
from pytree_course.observing.registry import Level, flatten_one_level

MOST_PARTS = 2_000  # of an input that are looked at
LONGEST_NOTE = 90
NOTE = "the note "

_CONTAINERS = (list, tuple, dict, set, frozenset)
_WORDS = {name: words for group in VOCABULARY.values() for name, words in group.items()}
_SIGNS = {
    "slashed keys": re.compile("/"),
    "punctuated keys": re.compile(r"[.\[\]'\" ]|[0-9]_[0-9]"),
    "pattern keys": re.compile(r"[*+?|^$()\\]"),
}
_TINY = 1e-4


def features_of(case: Case) -> list[str]:
    """Return the features of a case in words, as noun phrases; its tags are among them."""
    found = {_WORDS.get(name, name) for name in _found_in(case)}
    if 0 < len(case.note) <= LONGEST_NOTE:
        found.add(f"{NOTE}“{case.note}”")
    return sorted(found)


def shown_by(case: Case) -> set[str]:
    """Return the names of those features of the vocabulary that a case has."""
    found = _found_in(case).union(named(case.shows))
    return {name for name, words in _WORDS.items() if name in found or words in case.tags}


def _found_in(case: Case) -> set[str]:
    """Return names of the vocabulary, and the words of features that have none.

    They are read from the live inputs, in the author's process: an observation has lost the order
    of a dict's keys, and which leaves are one object.
    """
    found = {*case.tags, *case.shows}
    for place, given in enumerate(case.inputs):
        if place > 0 and isinstance(given, (str, int, float)):
            continue  # an argument beside a tree, such as a path's text
        try:
            found.update(_of_input(given))
        except Exception:  # an input that breaks flattening on purpose, as some lessons make
            found.add("a node that cannot be flattened")
    if case.inputs and not isinstance(case.inputs[0], str):
        found.update(_of_root(case.inputs[0]))
    return found


def _of_root(root: Any) -> Iterator[str]:
    level = _level(root)
    if level is None:
        if root is not None and not callable(root):
            yield "bare leaf"
    elif not jax.tree.leaves(root):
        yield "no leaves"


def _of_input(root: Any) -> Iterator[str]:
    seen: dict[int, Any] = {}
    keys: set[tuple[type, str]] = set()
    numbers: set[tuple[type, Any]] = set()
    waiting: list[tuple[Any, tuple[type, ...]]] = [(root, ())]
    looked_at = 0
    while waiting and looked_at < MOST_PARTS:
        value, within = waiting.pop()
        looked_at += 1
        level = _level(value)
        if level is None:
            yield from _of_leaf(value)
            if id(value) in seen and isinstance(value, (jax.Array, np.ndarray)):
                yield "repeated leaf"
            seen[id(value)] = value
            if isinstance(value, (int, float, np.number)) and not isinstance(value, bool):
                numbers.add((type(value), value))
        else:
            yield from _of_node(value, level, within)
            if isinstance(value, dict):
                keys |= {(type(key), str(key)) for key in value}
            waiting += [(child, (*within, level.type)) for _, child in level.children]
    if _has_twice(text for _, text in keys):
        yield "keys of one text"
    if _has_twice(number for _, number in numbers):
        yield "equal numbers"
    paths = jax.tree.leaves_with_path(root)
    if _has_twice(jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in paths):
        yield "paths of one text"


def _has_twice(things: Iterable[Any]) -> bool:
    return any(count > 1 for count in Counter(things).values())


def _level(value: Any) -> Level | None:
    if isinstance(value, (str, int, float, np.ndarray, jax.Array)):
        return None
    return flatten_one_level(value)


def _of_node(value: Any, level: Level, within: tuple[type, ...]) -> Iterator[str]:
    if value is None:
        yield "None"
        return
    below = " below the top" if within else ""
    if level.is_custom:
        yield f"registered class{below}"
        if level.type in within:
            yield "class in itself"
    elif issubclass(level.type, tuple) and level.type is not tuple:
        yield f"namedtuple{below}"
        if list in within[-1:]:
            yield "namedtuple in a list"
    elif issubclass(level.type, dict):
        yield from _of_dict(value, within)
    elif level.type is tuple:
        yield "tuple"
    elif level.type is list and not within:
        yield "list"
    if not level.children:
        yield "empty container"
    elif len(level.children) == 1 and not within:
        yield "one leaf"
    elif len(level.children) > 10:
        yield "more than ten items"


def _of_dict(value: dict[Any, Any], within: tuple[type, ...]) -> Iterator[str]:
    if type(value) is not dict:
        yield "OrderedDict"
    elif within and within[-1] in (dict, list, tuple):
        yield f"dict in a {within[-1].__name__}"
    keys = list(value)
    if not all(isinstance(key, str) for key in keys):
        yield "int keys"
    elif keys != sorted(keys):
        yield "unsorted keys"
    if not all(keys):
        yield "falsy keys"
    for name, signs in _SIGNS.items():
        if any(signs.search(str(key)) for key in keys):
            yield name


def _of_leaf(leaf: Any) -> Iterator[str]:
    if isinstance(leaf, (jax.Array, np.ndarray, np.generic)):
        yield from _of_array(leaf)
    elif isinstance(leaf, bool):
        yield "a `True` or `False` as a leaf"
    elif isinstance(leaf, (int, float)):
        if float("-inf") < leaf < 0:
            yield "a negative number"
        if isinstance(leaf, float):
            yield from _of_numbers(np.asarray(leaf))
    elif isinstance(leaf, str):
        yield "a text as a leaf"
    elif isinstance(leaf, _CONTAINERS):
        yield "a container that is a leaf"
    elif isinstance(leaf, jax.ShapeDtypeStruct):
        yield "a ShapeDtypeStruct"
    elif not callable(leaf):
        yield "a leaf that is no array, number or text"
    if isinstance(leaf, (int, float, str)) and not (leaf or isinstance(leaf, bool)):
        yield "a leaf that is false for Python (0, an empty text)"


def _of_array(leaf: Any) -> Iterator[str]:
    if isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        yield "a typed key"
        return
    if leaf.ndim == 0:
        yield "0-d array"
    elif leaf.size == 0:
        yield "no elements"
    if leaf.dtype in (np.float16, jnp.bfloat16):
        yield leaf.dtype.name
    if jnp.issubdtype(leaf.dtype, jnp.floating):
        yield from _of_numbers(np.asarray(leaf, np.float64))


def _of_numbers(numbers: Any) -> Iterator[str]:
    if np.isnan(numbers).any():
        yield "nan"
    if np.isinf(numbers).any():
        yield "infinity"
    if ((numbers != 0) & (abs(numbers) <= _TINY)).any():
        yield "tiny number"
