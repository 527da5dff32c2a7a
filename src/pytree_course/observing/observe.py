"""The one walker: what any value looks like to JAX, as plain JSON.

Checks, pictures and grading all work on an `Observation` and never on the value itself. So a
result can leave the learner's kernel as data, be compared in another process, and be drawn there.
"""

import math
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey

from pytree_course.observing.observations import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_INT_BITS,
    MAX_NODES,
    MAX_NODES_TO_DRAW,
    Observation,
    writable,
)
from pytree_course.observing.registry import Level, flatten_one_level, is_namedtuple

_CONTAINERS: tuple[type[Any], ...] = (list, tuple, set, frozenset, deque)
_KEY_TYPES = (DictKey, SequenceKey, GetAttrKey, FlattenedIndexKey)


class _TooLargeError(Exception):
    """The value exceeds a limit: no observation of it is made."""


def observe(
    value: object, *, values: bool = True, is_leaf: Callable[[Any], bool] | None = None
) -> Observation:
    """Describe a value as plain JSON, the way JAX sees it: equal values have equal observations.

    The walk follows JAX's own registry, one level at a time. It is bounded: a value that contains
    itself, or that is too large to compare, becomes one observation of kind "unbounded". An object
    that raises when it is looked into becomes one of kind "object" that says so.

    A picture does not need the numbers in arrays: without `values` they are left out, and arrays of
    any size are observed, and larger trees. `is_leaf` is that of JAX's functions.
    """
    try:
        return _Walk(values, is_leaf).observe(value, depth=0)
    except _TooLargeError as limit:
        return {"kind": "unbounded", "why": str(limit)}


def observe_raised(error: BaseException, mentions: Iterable[str] = ()) -> Observation:
    """Describe an exception by its type and by which of the texts `mentions` its message has."""
    try:
        message = writable(str(error))
    except BaseException as broken:
        message = f"(its message cannot be shown: {type(broken).__name__})"
    return {
        "kind": "raised",
        "type": type(error).__name__,
        "bases": [base.__name__ for base in type(error).__mro__ if base is not object],
        "mentions": {text: text in message for text in mentions},
        "message": message,
    }


class _Walk:
    """One walk over one value, counting what it has seen."""

    def __init__(self, values: bool, is_leaf: Callable[[Any], bool] | None) -> None:
        self.values = values
        self.most = MAX_NODES if values else MAX_NODES_TO_DRAW
        self.is_leaf = is_leaf
        self.nodes = 0
        self.elements = 0
        self.open: set[int] = set()  # ids of the containers we are inside of

    def observe(self, value: object, depth: int) -> Observation:
        self.count_node(depth)
        if value is None:
            return {"kind": "none", "leaf": True} if self.stops_at(None) else {"kind": "none"}
        if value is Ellipsis:
            return {"kind": "not attempted"}
        if id(value) in self.open:
            raise _TooLargeError("it contains itself")
        self.open.add(id(value))
        try:
            return self.node_or_leaf(value, depth)
        except _TooLargeError:
            raise
        except Exception as error:
            # For example a dict whose keys cannot be sorted, or a flatten function with a mistake.
            why = f"looking into it raised {type(error).__name__}"
            name = type(value).__name__
            return {"kind": "object", "type": name, "why": why, "failed": True}
        finally:
            self.open.discard(id(value))

    def count_node(self, depth: int) -> None:
        self.nodes += 1
        if self.nodes > self.most:
            raise _TooLargeError(f"it has more than {self.most:,} nodes and leaves")
        if depth > MAX_DEPTH:
            raise _TooLargeError(f"it is nested more than {MAX_DEPTH} levels deep")

    def stops_at(self, value: object) -> bool:
        return self.is_leaf is not None and bool(self.is_leaf(value))

    def aside(self, value: object, depth: int) -> Observation:
        """Observe what is no part of the tree: metadata, and what a leaf holds."""
        is_leaf, self.is_leaf = self.is_leaf, None
        try:
            return self.observe(value, depth)
        finally:
            self.is_leaf = is_leaf

    def node_or_leaf(self, value: object, depth: int) -> Observation:
        if isinstance(value, PyTreeDef):
            return {"kind": "treedef", "tree": self.treedef(value, depth + 1)}
        if isinstance(value, (list, tuple, dict)) and len(value) > self.most:
            # Not even its keys are looked at.
            raise _TooLargeError(f"it has more than {self.most:,} nodes and leaves")
        if self.stops_at(value):
            return self.leaf(value, depth)
        level = flatten_one_level(value)
        return self.node(value, level, depth) if level else self.leaf(value, depth)

    def node(self, value: Any, level: Level, depth: int) -> Observation:
        observation: Observation = {"kind": "node", "type": level.type.__name__, "aux": None}
        if is_namedtuple(level.type):
            observation["namedtuple"] = True
        elif level.type is defaultdict:
            observation["aux"] = self.aside(value.default_factory, depth + 1)
        elif level.is_custom:
            observation["custom"] = True
            # A static object is its own aux_data.
            observe_aux = self.leaf if level.aux is value else self.aside
            observation["aux"] = observe_aux(level.aux, depth + 1)
        observation["children"] = [
            [key, self.observe(child, depth + 1)] for key, child in level.children
        ]
        return observation

    def treedef(self, treedef: PyTreeDef, depth: int) -> Observation:
        self.count_node(depth)
        if (data := treedef.node_data()) is None:
            return {"kind": "star"}
        node_type, aux = data
        if node_type is type(None):
            return {"kind": "none"}
        children = treedef.children()
        observation: Observation = {"kind": "node", "type": node_type.__name__, "aux": None}
        if node_type is defaultdict:
            factory, aux = aux
            observation["aux"] = self.observe(factory, depth + 1)
        if node_type in (dict, OrderedDict, defaultdict):
            keys = [f"[{key!r}]" for key in aux]
        elif is_namedtuple(node_type):
            keys = [f".{name}" for name in node_type._fields]
        else:
            keys = [f"[{index}]" for index in range(len(children))]
            if node_type not in (list, tuple):
                observation["aux"] = self.observe(aux, depth + 1)
        observation["children"] = [
            [key, self.treedef(child, depth + 1)] for key, child in zip(keys, children, strict=True)
        ]
        return observation

    def leaf(self, value: object, depth: int) -> Observation:
        name = type(value).__name__
        if type(value) in (bool, int, float, complex):
            return {"kind": "number", "type": name, "value": _number(value)}
        if isinstance(value, jax.core.Tracer):
            return {"kind": "tracer", **_dtype_and_shape(value)}
        if isinstance(value, (jax.Array, np.ndarray)):
            return self.array(value)
        if isinstance(value, (np.bool_, np.number)):
            return {"kind": "number", "type": f"numpy.{name}", "value": _number(value.item())}
        if isinstance(value, (str, bytes)):
            return self.string(value)
        if isinstance(value, jax.ShapeDtypeStruct):
            return {"kind": "shape", **_dtype_and_shape(value)}
        if isinstance(value, _KEY_TYPES):
            return {"kind": "key", "type": name, "text": str(value)}
        items = _items(value)
        if items is not None:
            observed = [self.aside(item, depth + 1) for item in items]
            if isinstance(value, (set, frozenset)):
                observed.sort(key=repr)
            return {"kind": "container leaf", "type": name, "items": observed}
        own_name = getattr(value, "__name__", None) if callable(value) else None
        if type(own_name) is str:
            return {"kind": "object", "type": name, "name": own_name[:MAX_CHARACTERS]}
        return {"kind": "object", "type": name}

    def string(self, value: str | bytes) -> Observation:
        if len(value) > MAX_CHARACTERS:
            raise _TooLargeError(f"it holds a text of more than {MAX_CHARACTERS:,} characters")
        text = value if isinstance(value, str) else value.decode("latin-1")
        return {"kind": "string", "type": type(value).__name__, "value": writable(text)}

    def array(self, array: jax.Array | np.ndarray) -> Observation:
        library = "jax" if isinstance(array, jax.Array) else "numpy"
        observation = {"kind": "array", "library": library, **_dtype_and_shape(array), "values": []}
        if not self.values:
            return observation
        self.elements += array.size
        if self.elements > MAX_ELEMENTS:
            raise _TooLargeError(f"its arrays hold more than {MAX_ELEMENTS:,} numbers")
        if isinstance(array, jax.Array) and array.is_deleted():
            return {"kind": "object", "type": "Array", "why": "its buffer was donated or deleted"}
        if isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        plain = np.asarray(array)
        if plain.dtype.kind in "OV" and not jnp.issubdtype(plain.dtype, np.number):
            why = f"it has dtype {observation['dtype']}"
            return {"kind": "object", "type": "ndarray", "why": why}
        return {**observation, "values": [_number(element) for element in _elements(plain)]}


def _items(value: object) -> list[Any] | None:
    """Return the items of a container that JAX takes for one leaf, or None for anything else."""
    if isinstance(value, dict):
        return sorted(dict.items(value), key=lambda item: repr(item[0]))
    for container in _CONTAINERS:
        if isinstance(value, container):
            return list(container.__iter__(value))  # a subclass may have another way to its items
    return None


_dtype_text = cache(str)  # NumPy takes longer to write a dtype than to hand out the numbers


def _dtype_and_shape(value: Any) -> dict[str, Any]:
    return {"dtype": _dtype_text(value.dtype), "shape": [int(length) for length in value.shape]}


def _elements(array: np.ndarray) -> Iterable[Any]:
    """Return an array's elements, row by row, as the shortest Python numbers that mean the same."""
    flat = array.ravel()
    if flat.dtype.kind in "SMm":
        return flat.astype(str).tolist()
    if flat.dtype.kind in "biucU" or (flat.dtype.kind == "f" and flat.dtype.itemsize == 8):
        return flat.tolist()
    if jnp.issubdtype(flat.dtype, np.integer):  # int4 and its like
        return flat.astype(np.int64).tolist()
    # float32 0.1 is written 0.1 and not 0.10000000149: short, and the same on every machine.
    return [float(str(element)) for element in flat.astype(np.float32)]


def _number(value: Any) -> Any:
    """Return a Python number as JSON can hold it."""
    if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
        raise _TooLargeError(f"it holds an integer of more than {MAX_INT_BITS:,} bits")
    if isinstance(value, complex):
        return [_number(value.real), _number(value.imag)]
    if isinstance(value, str):
        return writable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
