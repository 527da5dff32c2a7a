"""The observation format: a tagged union of types, its limits, and traversal.

In JSON, an observation is an array: the tag of its type, and the values of its fields in order.
"""

import re
import sys
from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta, Struct

MAX_NODES = 20_000
MAX_NODES_TO_DRAW = 40_000  # 10,000 leaves, with the nodes above them, are drawn in half a second
MAX_ELEMENTS = 20_000
MAX_DEPTH = 100
MAX_CHARACTERS = 10_000
MAX_INT_BITS = 4_096
MAX_AXES = 64  # of an array: NumPy's own limit
MAX_BASES = 64  # of an exception's type
MAX_MENTIONS = 64  # of a message

Path = tuple[str, ...]
"""The path from a tree's root to a node or leaf: the strings of its key path entries."""

Text = Annotated[str, Meta(max_length=MAX_CHARACTERS)]
Shape = Annotated[tuple[Annotated[int, Meta(ge=0, le=2**63 - 1)], ...], Meta(max_length=MAX_AXES)]
Finite = Annotated[float, Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Real = bool | int | Finite | Text
"""A number in JSON: "nan", "inf" and "-inf" are strings, as are the elements of string arrays."""

# Not tuple[Real, Real]: beside a tuple of fixed length in a union, msgspec 0.22 reads the other
# types' limits from the wrong place in memory.
Scalar = Real | Annotated[tuple[Real, ...], Meta(min_length=2, max_length=2)]
"""A complex number is a pair."""


class Observed(Struct, frozen=True, gc=False, tag_field="kind", array_like=True):
    """The base of all observations."""


class Node(Observed, frozen=True, tag="node", kw_only=True):
    """A container or custom node, with its children in JAX's order, each with its key."""

    type: Text
    aux: "Observation | None"
    is_namedtuple: bool = False
    is_custom: bool = False
    children: tuple[tuple[Text, "Observation"], ...]

    @property
    def keys(self) -> list[str]:
        """The keys of the children."""
        return [key for key, _ in self.children]


class NoneValue(Observed, frozen=True, tag="none"):
    """`None`: a node without children, unless `is_leaf` made it a leaf."""

    is_leaf: bool = False


class Array(Observed, frozen=True, tag="array"):
    """An array; in an observation to be drawn, it has no values."""

    library: Text
    dtype: Text
    shape: Shape
    values: Annotated[tuple[Scalar, ...], Meta(max_length=MAX_ELEMENTS)]


class Number(Observed, frozen=True, tag="number"):
    """A number of Python or a NumPy scalar."""

    type: Text
    value: Scalar


class String(Observed, frozen=True, tag="string"):
    """A string or bytes."""

    type: Text
    value: Text


class Treedef(Observed, frozen=True, tag="treedef"):
    """A PyTreeDef: its tree has a `Star` for each leaf."""

    tree: "Observation"


class Star(Observed, frozen=True, tag="star"):
    """A leaf of a PyTreeDef."""


class Tracer(Observed, frozen=True, tag="tracer"):
    """A tracer that left its trace."""

    dtype: Text
    shape: Shape


class ShapeStruct(Observed, frozen=True, tag="shape"):
    """A ShapeDtypeStruct."""

    dtype: Text
    shape: Shape


class KeyEntry(Observed, frozen=True, tag="key"):
    """An entry of a key path, such as a DictKey."""

    type: Text
    text: Text


class ContainerLeaf(Observed, frozen=True, tag="container leaf"):
    """A container that JAX takes for one leaf, such as a set or a subclass of dict."""

    type: Text
    items: tuple["Observation", ...]


class Object(Observed, frozen=True, tag="object"):
    """Any other leaf; or a value that could not be observed, and why."""

    type: Text
    name: Text = ""  # of a function or class
    why: Text = ""
    has_failed: bool = False  # observing it raised


class Unbounded(Observed, frozen=True, tag="unbounded"):
    """A value that contains itself or exceeds a limit."""

    why: Text


class Raised(Observed, frozen=True, tag="raised"):
    """An exception, by its type, and by which strings its message mentions."""

    type: Text
    bases: Annotated[tuple[Text, ...], Meta(max_length=MAX_BASES)]
    mentions: Annotated[dict[Text, bool], Meta(max_length=MAX_MENTIONS)]
    message: Text


class NotAttempted(Observed, frozen=True, tag="not attempted"):
    """The `...` of a starter, or a NotImplementedError."""


Observation = (
    Node
    | NoneValue
    | Array
    | Number
    | String
    | Treedef
    | Star
    | Tracer
    | ShapeStruct
    | KeyEntry
    | ContainerLeaf
    | Object
    | Unbounded
    | Raised
    | NotAttempted
)

LEAF_NONE = NoneValue(is_leaf=True)

NOT_A_DICT = "not a dict"
"""The value observed in every case of an exercise that asks for a dict of predictions, if the
answer is not a dict."""

# A lone surrogate cannot be encoded as UTF-8. XML, some databases and terminals reject or obey the
# other characters.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def make_writable(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return at most `limit` characters of a string, with unwritable characters escaped."""
    text = text[:limit]
    if text.isprintable():  # a shortcut for nearly all strings
        return text
    return _UNWRITABLE.sub(_escape, text)[:limit]


def is_writable(text: str) -> bool:
    """Return whether a string has no character that `make_writable` escapes."""
    return text.isprintable() or _UNWRITABLE.search(text) is None


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def all_parts(observation: Observation) -> Iterator[tuple[Path, Observation]]:
    """Yield an observation and all below it, each with its path, in JAX's order."""
    waiting: list[tuple[Path, Observation]] = [((), observation)]
    while waiting:
        path, part = waiting.pop()
        yield path, part
        if isinstance(part, Node):
            waiting += [((*path, key), child) for key, child in reversed(part.children)]


def all_leaves(observation: Observation) -> Iterator[tuple[Path, Observation]]:
    """Yield the leaves, each with its path, in JAX's order."""
    for path, part in all_parts(observation):
        if not isinstance(part, (Node, NoneValue)) or part == LEAF_NONE:
            yield path, part


def count_leaves(observation: Observation) -> int:
    """Count the leaves of a tree."""
    return sum(1 for _ in all_leaves(observation))


def integer(observation: Observation) -> int | None:
    """Return the value of an observed integer, or None for any other observation."""
    if isinstance(observation, Number) and type(observation.value) is int:
        return observation.value
    return None
