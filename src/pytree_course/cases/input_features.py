"""Input features in one table: each feature's name, words, maker and detector.

A feature is something that a case can have and a plain dict of two arrays has not.
"""

import re
from collections import Counter, OrderedDict, namedtuple
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.observing.registry import Level, is_namedtuple

TINY = 1e-4

Point = namedtuple("Point", ["x", "y"])

_CONTAINERS = (list, tuple, dict, set, frozenset)


@jax.tree_util.register_dataclass
@dataclass
class Duo:
    """A node of a registered class, with two children."""

    left: Any
    right: Any


class Drawn(NamedTuple):
    """The parts that a small tree is made of."""

    first: str
    second: str  # after the first in alphabetical order
    one: Any
    other: Any
    leaf: Callable[[], Any]
    rng: np.random.Generator


class InputNode(NamedTuple):
    """A node of an input."""

    value: Any
    level: Level
    within: tuple[type, ...]  # the types of the nodes around it, outermost first

    def is_in(self, kind: type) -> bool:
        """Say whether the node right above has this type."""
        return self.within[-1:] == (kind,)

    @property
    def is_namedtuple(self) -> bool:
        """Whether it is a namedtuple that JAX flattens without being told."""
        return is_namedtuple(self.level.type) and not self.level.is_custom

    @property
    def keys(self) -> list[Any]:
        """The keys of a dict; of another node, none."""
        return list(self.value) if isinstance(self.value, dict) else []

    @property
    def has_only_strings(self) -> bool:
        """Whether all keys of a dict are strings."""
        return all(isinstance(key, str) for key in self.keys)

    def has_key(self, pattern: str) -> bool:
        """Say whether a key of a dict matches a regular expression."""
        return any(re.search(pattern, str(key)) for key in self.keys)


class Input(NamedTuple):
    """A whole input."""

    root: Any
    keys: set[tuple[type, str]]  # of its dicts
    numbers: set[tuple[type, Any]]
    has_repeated_leaf: bool  # an array that occurs twice, as the same object


@dataclass(frozen=True)
class Feature:
    """A feature: its words, how to make a tree or an array with it, and how to detect it."""

    group: str  # a key of `FEATURE_GROUPS`
    words: str
    tree: Callable[[Drawn], Any] | None = None
    array: np.ndarray | None = None
    in_node: Callable[[InputNode], bool] | None = None
    in_leaf: Callable[[Any], bool] | None = None
    in_input: Callable[[Input], bool] | None = None


def _array(leaf: Any) -> Any:
    """Return a leaf if it is an array or a scalar of NumPy, and no typed key."""
    is_array = isinstance(leaf, (jax.Array, np.ndarray, np.generic)) and not _is_key(leaf)
    return leaf if is_array else None


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _floats(leaf: Any) -> np.ndarray:
    """Return the floats of a leaf; of another leaf, none."""
    is_float = isinstance(leaf, float)
    if is_float or (_array(leaf) is not None and jnp.issubdtype(leaf.dtype, jnp.floating)):
        return np.asarray(leaf, np.float64)
    return np.zeros(0)


def _is_custom(node: InputNode) -> bool:
    return node.level.is_custom


def _is_dict_in(kind: type) -> Callable[[InputNode], bool]:
    return lambda node: type(node.value) is dict and node.is_in(kind)


def _is_plain_number(leaf: Any) -> bool:
    return isinstance(leaf, (int, float)) and not isinstance(leaf, (bool, np.generic))


def _is_falsy(leaf: Any) -> bool:
    is_plain = isinstance(leaf, (int, float, str)) and not isinstance(leaf, bool)
    return is_plain and not leaf


def _is_other(leaf: Any) -> bool:
    known = (bool, int, float, str, *_CONTAINERS, jax.ShapeDtypeStruct)
    is_array = isinstance(leaf, (jax.Array, np.ndarray, np.generic))
    return not (is_array or isinstance(leaf, known) or callable(leaf))


def _has_twice(things: Iterable[Any]) -> bool:
    return any(count > 1 for count in Counter(things).values())


def _have_paths_of_one_text(given: Input) -> bool:
    paths = jax.tree.leaves_with_path(given.root)
    return _has_twice(jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in paths)


# A table: the name, the group, the words, the maker, and the detector of each feature.
# fmt: off
FEATURES: dict[str, Feature] = {
    "one leaf": Feature("nodes", "one child only",
        lambda it: {it.first: it.one},
        in_node=lambda node: len(node.level.children) == 1 and not node.within),
    "bare leaf": Feature("nodes", "a bare leaf instead of a container", lambda it: it.one),
    "no leaves": Feature("nodes", "no leaves", lambda it: [{}, (), [], None][it.rng.integers(4)]),
    "list": Feature("nodes", "a list",
        lambda it: [it.one, it.other],
        in_node=lambda node: node.level.type is list and not node.within),
    "tuple": Feature("nodes", "a tuple",
        lambda it: (it.one, it.other), in_node=lambda node: node.level.type is tuple),
    "namedtuple": Feature("nodes", "a namedtuple",
        lambda it: Point(it.one, it.other),
        in_node=lambda node: node.is_namedtuple and not node.within),
    "registered class": Feature("nodes", "a node of a registered class",
        lambda it: Duo(it.one, it.other),
        in_node=lambda node: _is_custom(node) and not node.within),
    "OrderedDict": Feature("nodes", "an OrderedDict or defaultdict",
        lambda it: OrderedDict({it.second: it.one, it.first: it.other}),
        in_node=lambda node: isinstance(node.value, dict) and type(node.value) is not dict),
    "unsorted keys": Feature("keys", "keys that are not sorted",
        lambda it: {it.second: it.one, it.first: it.other},
        in_node=lambda node: node.has_only_strings and node.keys != sorted(node.keys)),
    "int keys": Feature("keys", "keys that are not texts",
        lambda it: {10 + int(it.rng.integers(90)): it.one, int(it.rng.integers(10)): it.other},
        in_node=lambda node: not node.has_only_strings),
    "slashed keys": Feature("keys", "keys with a `/` in them",
        lambda it: {f"{it.first}/{it.second}": it.one, f"/{it.second}": it.other},
        in_node=lambda node: node.has_key("/")),
    "punctuated keys": Feature("keys", "keys with punctuation in them",
        lambda it: {
            f"{it.second}.{it.first}": it.one, f"['{it.first}']": it.other, "1_0": it.leaf()},
        in_node=lambda node: node.has_key(r"[.\[\]'\" ]|[0-9]_[0-9]")),
    "falsy keys": Feature("keys", "a key that is false for Python (0, an empty text)",
        lambda it: {it.first: {0: it.one}, it.second: {"": it.other}},
        in_node=lambda node: not all(node.keys)),
    "keys of one text": Feature("keys", "two keys that print alike",
        lambda it: {it.first: {1: it.one}, it.second: {"1": it.other}},
        in_input=lambda given: _has_twice(text for _, text in given.keys)),
    "paths of one text": Feature("keys", "two leaves whose paths print alike",
        lambda it: {it.first: {it.second: it.one}, f"{it.first}/{it.second}": it.other},
        in_input=_have_paths_of_one_text),
    "pattern keys": Feature("keys", "a key with signs that mean something in a regular expression",
        lambda it: {f"{it.first}|{it.second}": it.one, f"({it.second}+": it.other},
        in_node=lambda node: node.has_key(r"[*+?|^$()\\]")),
    "None": Feature("nodes", "a `None`",
        lambda it: {it.first: it.one, it.second: None}, in_node=lambda node: node.value is None),
    "empty container": Feature("nodes", "an empty container",
        lambda it: {it.first: it.one, it.second: [(), [], {}][it.rng.integers(3)]},
        in_node=lambda node: node.value is not None and not node.level.children),
    "dict in a dict": Feature("depth", "a dict in a dict",
        lambda it: {it.first: {it.second: it.one}, it.second: it.other}, in_node=_is_dict_in(dict)),
    "dict in a list": Feature("depth", "a dict in a list",
        lambda it: [{it.first: it.one}, {it.first: it.other}], in_node=_is_dict_in(list)),
    "dict in a tuple": Feature("depth", "a dict in a tuple",
        lambda it: ({it.first: it.one}, {it.first: it.other}), in_node=_is_dict_in(tuple)),
    "namedtuple in a list": Feature("depth", "a namedtuple in a list",
        lambda it: [Point(it.one, it.other)],
        in_node=lambda node: node.is_namedtuple and node.is_in(list)),
    "class in itself": Feature("depth", "a node of a class inside a node of the same class",
        lambda it: Duo(Duo(it.one, it.other), it.leaf()),
        in_node=lambda node: _is_custom(node) and node.level.type in node.within),
    "more than ten items": Feature("depth", "more than ten items",
        lambda it: [it.leaf() for _ in range(12)],
        in_node=lambda node: len(node.level.children) > 10),
    "namedtuple below the top": Feature("depth", "a namedtuple below the top",
        lambda it: {it.first: Point(it.one, it.other)},
        in_node=lambda node: node.is_namedtuple and bool(node.within)),
    "registered class below the top": Feature("depth", "a node of a registered class below the top",
        lambda it: {it.first: Duo(it.one, it.other)},
        in_node=lambda node: _is_custom(node) and bool(node.within)),
    "repeated leaf": Feature("nodes", "a leaf that occurs twice (the same object)",
        lambda it: {it.first: it.one, it.second: it.one},
        in_input=lambda given: given.has_repeated_leaf),
    "nan": Feature("values", "nan",
        array=np.array([np.nan, 2], np.float32),
        in_leaf=lambda leaf: bool(np.isnan(_floats(leaf)).any())),
    "infinity": Feature("values", "an infinite number",
        array=np.array([np.inf, -np.inf], np.float32),
        in_leaf=lambda leaf: bool(np.isinf(_floats(leaf)).any())),
    "tiny number": Feature("values", "a number that is nearly zero",
        array=np.array([3e-5, -2e-6], np.float32),
        in_leaf=lambda leaf: bool(((_floats(leaf) != 0) & (abs(_floats(leaf)) <= TINY)).any())),
    "no elements": Feature("values", "an array without elements",
        array=np.zeros(0, np.float32),
        in_leaf=lambda leaf: _array(leaf) is not None and leaf.ndim > 0 and leaf.size == 0),
    "0-d array": Feature("values", "a 0-d array",
        array=np.array(1.5, np.float32),
        in_leaf=lambda leaf: _array(leaf) is not None and leaf.ndim == 0),
    "float16": Feature("values", "float16",
        array=np.array([1.5, 2], np.float16),
        in_leaf=lambda leaf: _array(leaf) is not None and leaf.dtype == np.float16),
    "bfloat16": Feature("values", "bfloat16",
        array=np.array([1.5, 2], jnp.bfloat16),
        in_leaf=lambda leaf: _array(leaf) is not None and leaf.dtype == jnp.bfloat16),
    "equal numbers": Feature("values", "equal numbers of different types",
        in_input=lambda given: _has_twice(number for _, number in given.numbers)),
    "default field": Feature("classes", "a field with a default"),
    "read-only properties": Feature("classes", "read-only properties"),
    "values from a caller": Feature("classes",
        "arrays and strange values that a caller gives to the constructor"),
    "values from JAX": Feature("classes", "what JAX gives to the constructor in place of arrays"),
    "after a trace": Feature("second looks", "a use after a trace"),
    "changed later": Feature("second looks", "a tree that its caller changes after the call"),
    "same object": Feature("second looks", "the question whether a result is a new object"),
    "file there": Feature("outside", "a file that was there already"),
    "other dtypes": Feature("outside", "a file of other dtypes"),
    "other keys": Feature("outside", "another kind of random keys"),
}
# fmt: on
"""By name; a check's trees are drawn in this order."""

UNLISTED: dict[str, Callable[[Any], bool]] = {
    "a typed key": _is_key,
    "a `True` or `False` as a leaf": lambda leaf: isinstance(leaf, bool),
    "a negative number": lambda leaf: _is_plain_number(leaf) and float("-inf") < leaf < 0,
    "a text as a leaf": lambda leaf: isinstance(leaf, str) and not isinstance(leaf, np.generic),
    "a container that is a leaf": lambda leaf: isinstance(leaf, _CONTAINERS),
    "a ShapeDtypeStruct": lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct),
    "a leaf that is no array, number or text": _is_other,
    "a leaf that is false for Python (0, an empty text)": _is_falsy,
}
"""Features of leaves that no exercise has to show, by their words."""

FEATURE_GROUPS: dict[str, dict[str, str]] = {
    group: {name: each.words for name, each in FEATURES.items() if each.group == group}
    for group in ("nodes", "keys", "depth", "values", "classes", "second looks", "outside")
}
"""The words for features, by group and name."""


def named(features: Iterable[str]) -> list[str]:
    """Return names of features. A group stands for its names, "trees" for three groups."""
    trees = [*FEATURE_GROUPS["nodes"], *FEATURE_GROUPS["keys"], *FEATURE_GROUPS["depth"]]
    groups = {**FEATURE_GROUPS, "trees": trees}
    names = [name for each in features for name in groups.get(each, [each])]
    if unknown := set(names) - FEATURES.keys():
        raise ValueError(f"no input features: {', '.join(sorted(unknown))}")
    return names
