"""Observe any value: describe it as typed data, the way JAX flattens it.

Checks, pictures and grading all work on an `Observation` and never on the value itself. So a
result can leave the learner's kernel as data, be compared in another process, and be drawn there.
"""

import math
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, PyTreeDef, SequenceKey

from pytree_course.observing import observations as obs

_CONTAINERS: tuple[type[Any], ...] = (list, tuple, set, frozenset, deque)
_BUILT_IN = (dict, list, tuple, OrderedDict, defaultdict, type(None))
_KEY_TYPES = (DictKey, SequenceKey, GetAttrKey, FlattenedIndexKey)

IsLeaf = Callable[[Any], bool] | None
"""The `is_leaf` of JAX's functions. It is not asked about metadata, nor about a leaf's items."""


class _TooLargeError(Exception):
    """The value exceeds a limit, and is not observed."""


def observe(value: object, *, values: bool = True, is_leaf: IsLeaf = None) -> obs.Observation:
    """Describe a value the way JAX flattens it: equal values have equal observations.

    The walk follows JAX's own registry, one level at a time. It is bounded: a value that contains
    itself, or that is too large to compare, becomes `Unbounded`. An object that raises while it is
    observed becomes an `Object` that says so.

    A picture does not need the numbers in arrays: without `values` they are left out, and arrays of
    any size are observed, and larger trees. `is_leaf` is that of JAX's functions.
    """
    try:
        return _Walk(values).observe(value, 0, is_leaf)
    except _TooLargeError as limit:
        return obs.Unbounded(why=str(limit))


def observe_raised(error: BaseException, mentions: Iterable[str] = ()) -> obs.Raised:
    """Describe an exception by its type and by which of the strings `mentions` it mentions."""
    try:
        message = obs.make_writable(str(error))
    except BaseException as broken:
        message = f"(its message cannot be shown: {type(broken).__name__})"
    bases = [_name(base) for base in type(error).__mro__ if base is not object]
    return obs.Raised(
        type=_name(type(error)),
        bases=tuple(bases[: obs.MAX_BASES]),
        mentions={text: text in message for text in mentions},
        message=message,
    )


@dataclass(frozen=True)
class Level:
    """A node as JAX's registry sees it, one level deep."""

    type: type
    children: list[tuple[str, Any]]  # with their keys' texts
    aux: Any

    @property
    def is_custom(self) -> bool:
        """Whether it has flatten and unflatten functions, and aux_data, of its own."""
        return not (self.type in _BUILT_IN or is_namedtuple(self.type))


def flatten_one_level(value: object) -> Level | None:
    """Flatten a value one level deep, as JAX's registry does; return None for a leaf."""
    if jax.tree_util.all_leaves([value]):
        return None  # as most values are; flattening one takes five times as long
    # JAX asks `is_leaf` about the root first. Identity would not do: a list may hold itself.
    answers = iter([False])
    children, treedef = jax.tree.flatten_with_path(value, is_leaf=lambda _: next(answers, True))
    data: tuple[type, Any] | None = treedef.node_data()  # type: ignore[attr-defined]
    if data is None:
        return None
    named = [(jax.tree_util.keystr(path), child) for path, child in children]
    return Level(data[0], named, data[1])


def is_namedtuple(node_type: type) -> bool:
    """Whether a type is a namedtuple, which JAX flattens without being told."""
    return issubclass(node_type, tuple) and hasattr(node_type, "_fields")


class _Walk:
    """One traversal of one value; counts nodes and array elements."""

    def __init__(self, values: bool) -> None:
        self.values = values
        self.max_nodes = obs.MAX_NODES if values else obs.MAX_NODES_TO_DRAW
        self.nodes = 0
        self.elements = 0
        self.open: set[int] = set()  # ids of the containers we are inside of

    def observe(self, value: object, depth: int, is_leaf: IsLeaf = None) -> obs.Observation:
        self.count_node(depth)
        if value is None:
            return obs.NoneValue(is_leaf=is_leaf is not None and bool(is_leaf(None)))
        if value is Ellipsis:
            return obs.NotAttempted()
        if id(value) in self.open:
            raise _TooLargeError("it contains itself")
        self.open.add(id(value))
        try:
            return self.node_or_leaf(value, depth, is_leaf)
        except _TooLargeError:
            raise
        except Exception as error:
            # For example a dict whose keys cannot be sorted, or a flatten function with a mistake.
            why = f"looking into it raised {_name(type(error))}"
            return obs.Object(type=_name(type(value)), why=obs.make_writable(why), has_failed=True)
        finally:
            self.open.discard(id(value))

    def count_node(self, depth: int) -> None:
        self.nodes += 1
        if self.nodes > self.max_nodes:
            raise _TooLargeError(f"it has more than {self.max_nodes:,} nodes and leaves")
        if depth > obs.MAX_DEPTH:
            raise _TooLargeError(f"it is nested more than {obs.MAX_DEPTH} levels deep")

    def node_or_leaf(self, value: object, depth: int, is_leaf: IsLeaf) -> obs.Observation:
        if isinstance(value, PyTreeDef):
            return obs.Treedef(tree=self.treedef(value, depth + 1))
        if isinstance(value, (list, tuple, dict)) and len(value) > self.max_nodes:
            # Not even its keys are looked at.
            raise _TooLargeError(f"it has more than {self.max_nodes:,} nodes and leaves")
        if is_leaf is not None and is_leaf(value):
            return self.leaf(value, depth)
        level = flatten_one_level(value)
        return self.node(value, level, depth, is_leaf) if level else self.leaf(value, depth)

    def node(self, value: Any, level: Level, depth: int, is_leaf: IsLeaf) -> obs.Node:
        aux = None
        if level.type is defaultdict:
            aux = self.observe(value.default_factory, depth + 1)
        elif level.is_custom:
            # A static object is its own aux_data.
            observe_aux = self.leaf if level.aux is value else self.observe
            aux = observe_aux(level.aux, depth + 1)
        children = [
            (obs.make_writable(key), self.observe(child, depth + 1, is_leaf))
            for key, child in level.children
        ]
        return obs.Node(
            type=_name(level.type),
            aux=aux,
            is_namedtuple=is_namedtuple(level.type),
            is_custom=level.is_custom,
            children=tuple(children),
        )

    def treedef(self, treedef: PyTreeDef, depth: int) -> obs.Observation:
        self.count_node(depth)
        node_data = treedef.node_data()
        if node_data is None:
            return obs.Star()
        node_type, data = node_data
        if node_type is type(None):
            return obs.NoneValue()
        children, aux = treedef.children(), None
        if node_type in (dict, OrderedDict):
            keys = [f"[{key!r}]" for key in data]
        elif node_type is defaultdict:
            default_factory, dict_keys = data
            keys = [f"[{key!r}]" for key in dict_keys]
            aux = self.observe(default_factory, depth + 1)
        elif is_namedtuple(node_type):
            keys = [f".{name}" for name in node_type._fields]
        else:
            keys = [f"[{index}]" for index in range(len(children))]
            if node_type not in (list, tuple):
                aux = self.observe(data, depth + 1)
        below = [self.treedef(child, depth + 1) for child in children]
        pairs = tuple(zip(map(obs.make_writable, keys), below, strict=True))
        return obs.Node(type=_name(node_type), aux=aux, children=pairs)

    def leaf(self, value: object, depth: int) -> obs.Observation:
        name = _name(type(value))
        if type(value) in (bool, int, float, complex):
            return obs.Number(type=name, value=_scalar(value))
        if isinstance(value, jax.core.Tracer):
            return obs.Tracer(dtype=_dtype(value), shape=_shape(value))
        if isinstance(value, (jax.Array, np.ndarray)):
            return self.array(value)
        if isinstance(value, (np.bool_, np.number)):
            return obs.Number(type=f"numpy.{name}", value=_scalar(value.item()))
        if isinstance(value, (str, bytes)):
            return self.string(value)
        if isinstance(value, jax.ShapeDtypeStruct):
            return obs.ShapeStruct(dtype=_dtype(value), shape=_shape(value))
        if isinstance(value, _KEY_TYPES):
            return obs.KeyEntry(type=name, text=obs.make_writable(str(value)))
        items = _items(value)
        if items is not None:
            observed = [self.observe(item, depth + 1) for item in items]
            if isinstance(value, (set, frozenset)):
                observed.sort(key=repr)
            return obs.ContainerLeaf(type=name, items=tuple(observed))
        defined_name = getattr(value, "__name__", None) if callable(value) else None
        if type(defined_name) is not str:
            defined_name = ""
        return obs.Object(type=name, name=obs.make_writable(defined_name))

    def string(self, value: str | bytes) -> obs.String:
        if len(value) > obs.MAX_CHARACTERS:
            raise _TooLargeError(f"it holds a text of more than {obs.MAX_CHARACTERS:,} characters")
        text = value if isinstance(value, str) else value.decode("latin-1")
        return obs.String(type=_name(type(value)), value=obs.make_writable(text))

    def array(self, array: jax.Array | np.ndarray) -> obs.Array | obs.Object:
        library = "jax" if isinstance(array, jax.Array) else "numpy"
        dtype, shape = _dtype(array), _shape(array)
        if not self.values:
            return obs.Array(library=library, dtype=dtype, shape=shape, values=())
        self.elements += array.size
        if self.elements > obs.MAX_ELEMENTS:
            raise _TooLargeError(f"its arrays hold more than {obs.MAX_ELEMENTS:,} numbers")
        if isinstance(array, jax.Array) and array.is_deleted():
            return obs.Object(type="Array", why="its buffer was donated or deleted")
        if isinstance(array, jax.Array) and jnp.issubdtype(array.dtype, jax.dtypes.prng_key):
            array = jax.random.key_data(array)
        plain = np.asarray(array)
        if plain.dtype.kind in "OV" and not jnp.issubdtype(plain.dtype, np.number):
            return obs.Object(type="ndarray", why=obs.make_writable(f"it has dtype {dtype}"))
        values = tuple([_scalar(element) for element in _elements(plain)])
        return obs.Array(library=library, dtype=dtype, shape=shape, values=values)


_name_of_type = type.__dict__["__name__"].__get__  # a metaclass may have another one


def _name(kind: type) -> str:
    return obs.make_writable(_name_of_type(kind))


def _items(value: object) -> list[Any] | None:
    """Return the items of a container that JAX takes for one leaf, or None for anything else."""
    if isinstance(value, dict):
        return sorted(dict.items(value), key=lambda item: repr(item[0]))
    for container in _CONTAINERS:
        if isinstance(value, container):
            return list(container.__iter__(value))  # a subclass may have another way to its items
    return None


@cache  # NumPy takes longer to write a dtype than to hand out the numbers
def _dtype_name(dtype: Any) -> str:
    return obs.make_writable(str(dtype))


def _dtype(value: Any) -> str:
    return _dtype_name(value.dtype)


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(map(int, value.shape))


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


def _scalar(value: Any) -> obs.Scalar:
    """Return a number of Python, or an element of an array, as JSON can hold it."""
    if isinstance(value, complex):
        return _real(value.real), _real(value.imag)
    return _real(value)


def _real(value: Any) -> obs.Real:
    if isinstance(value, int) and value.bit_length() > obs.MAX_INT_BITS:
        raise _TooLargeError(f"it holds an integer of more than {obs.MAX_INT_BITS:,} bits")
    if isinstance(value, str):
        return obs.make_writable(value)
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return value
