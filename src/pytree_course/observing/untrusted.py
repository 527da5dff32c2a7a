"""The one border for untrusted data: what passes it is what its type says.

Two kinds of data cross it: what a learner's kernel reports, and what a gradebook holds, which may
have been damaged or edited.
"""

import math
from collections.abc import Callable
from dataclasses import is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pytree_course.observing.observations import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_ELEMENTS,
    MAX_INT_BITS,
    MAX_NODES,
    Observation,
    writable,
)

_MAX_LENGTH = 64  # of a shape, of a list of base classes or mentioned texts
_DEEPEST = MAX_DEPTH + 2
_MAX_ITEMS = 1_000  # of a list or dict in a record
_MAX_TEXT = 1_000_000  # characters of a text in a record
_MAX_NUMBER = 2**53  # what every program can count and plot


def read_as(kind: Any, data: object) -> Any:
    """Return untrusted JSON as a value of a type, or raise ValueError.

    Parameters
    ----------
    kind
        A dataclass, whose every field has to be there; or what its fields may be: an observation,
        text, number, time, enumeration, a list or a dict of these, or None instead of one of these.
        `Annotated` gives the largest number, the longest list or the longest text: a longer text is
        cut off, and made writable.
    """
    inner = get_args(kind)
    if kind == Observation:
        return validate(data)
    if get_origin(kind) is Annotated:
        return _bounded(inner[0], inner[1], data)
    if isinstance(kind, UnionType):  # with None
        return None if data is None else read_as(inner[0], data)
    if get_origin(kind) is list:
        return [read_as(inner[0], each) for each in _list(data, _MAX_ITEMS)]
    if get_origin(kind) is dict:
        return {_whole_text(name): read_as(inner[1], each) for name, each in _dict(data).items()}
    if isinstance(kind, type) and is_dataclass(kind):
        entries, fields = _dict(data), _fields(kind)
        if entries.keys() != fields.keys():
            raise ValueError(f"not the fields of {kind.__name__}")
        return kind(**{name: read_as(fields[name], entries[name]) for name in fields})
    if issubclass(kind, StrEnum):
        return kind(data)
    if kind is str:
        return _whole_text(data)
    return _time(data) if kind is datetime else _plain(kind, data)


def _bounded(kind: Any, most: int, data: object) -> Any:
    if kind is str:
        return _text(data, most)
    value = read_as(kind, data)
    if (value if kind is int else len(value)) > most:
        raise ValueError("larger than any that is made")
    return value


def validate(data: object) -> Observation:
    """Return untrusted data as an observation to compare and draw, or raise ValueError.

    Only the entries that an observation may have are taken over. It is bounded as `observe` bounds
    what it makes, and its texts are writable.
    """
    return _Reader().observation(data, 0)


class _Reader:
    """Reads one observation, counting what it has seen."""

    def __init__(self) -> None:
        self.nodes = 0
        self.elements = 0

    def observation(self, data: object, depth: int) -> Observation:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > _DEEPEST:
            raise ValueError("a larger observation than any that is made")
        # What came may not be hashable: its kind is looked for in a list.
        if not isinstance(data, dict) or data.get("kind") not in list(_ENTRIES):
            raise ValueError("not an observation")
        kind = data["kind"]
        entries = {name: read(data.get(name)) for name, read in _ENTRIES[kind].items()}
        seen: Observation = {"kind": kind, **entries}
        match kind:
            case "none" if "leaf" in data:
                seen["leaf"] = True
            case "object":
                seen |= {entry: _text(data[entry]) for entry in ("why", "name") if entry in data}
            case "array":
                seen["values"] = self.values(data.get("values"))
            case "treedef":
                seen["tree"] = self.observation(data.get("tree"), depth + 1)
            case "container leaf":
                items = _list(data.get("items"))
                seen["items"] = [self.observation(each, depth + 1) for each in items]
            case "node":
                seen |= self.node(data, depth)
        return seen

    def values(self, data: object) -> list[Any]:
        values = _list(data)
        self.elements += len(values)
        if self.elements > MAX_ELEMENTS:
            raise ValueError("more numbers than are ever observed")
        return list(map(_value, values))

    def node(self, data: dict[str, Any], depth: int) -> Observation:
        node: Observation = {
            entry: True for entry in ("namedtuple", "custom") if data.get(entry) is True
        }
        aux = data.get("aux")
        node["aux"] = None if aux is None else self.observation(aux, depth + 1)
        node["children"] = children = []
        for child in _list(data.get("children")):
            if not (isinstance(child, list) and len(child) == 2):
                raise ValueError("a child is a key's text and an observation")
            children.append([_text(child[0]), self.observation(child[1], depth + 1)])
        return node


_fields = cache(partial(get_type_hints, include_extras=True))


def _dict(data: object) -> dict[str, Any]:
    if not isinstance(data, dict) or len(data) > _MAX_ITEMS:
        raise ValueError("no entries, or more than any that are made")
    return data


def _whole_text(data: object) -> str:
    """Return a text as it is, for it may be code; half a character, which JSON can hold, is "?"."""
    if not isinstance(data, str) or len(data) > _MAX_TEXT:
        raise ValueError("not a text, or a longer one than any that is made")
    return data.encode("utf-8", "replace").decode("utf-8")


def _plain(kind: type, data: object) -> Any:
    """Return a flag, a count or a measure."""
    if kind is float and type(data) is int and data < _MAX_NUMBER:
        data = float(data)
    if type(data) is not kind or not 0 <= data < _MAX_NUMBER:  # type: ignore[operator]
        raise ValueError(f"not a {kind.__name__} as any is stored")
    return data


def _time(data: object) -> datetime:
    time = datetime.fromisoformat(_text(data))
    if time.tzinfo is None or not 1970 <= time.year <= 9000:  # others cannot be compared or shown
        raise ValueError("not a time with its zone")
    return time


def _text(data: object, most: int = MAX_CHARACTERS) -> str:
    if not isinstance(data, str):
        raise ValueError("not a text")
    return writable(data, most)


def _list(data: object, most: float = math.inf) -> list[Any]:
    if not isinstance(data, list) or len(data) > most:
        raise ValueError("not a list, or a longer one than any that is made")
    return data


def _shape(data: object) -> list[int]:
    shape = _list(data, _MAX_LENGTH)
    if not all(type(length) is int and 0 <= length < 2**63 for length in shape):
        raise ValueError("a shape is a list of lengths")
    return shape


def _value(data: object, in_pair: bool = False) -> Any:
    """Return a number as JSON holds it; a complex one is a pair."""
    if isinstance(data, str):
        return writable(data)
    if isinstance(data, bool):
        return data
    if isinstance(data, int) and data.bit_length() <= MAX_INT_BITS:
        return data
    if isinstance(data, float) and math.isfinite(data):
        return data
    if isinstance(data, list) and len(data) == 2 and not in_pair:
        return [_value(each, in_pair=True) for each in data]
    raise ValueError("not a number")


def _bases(data: object) -> list[str]:
    return list(map(_text, _list(data, _MAX_LENGTH)))


def _mentions(data: object) -> dict[str, bool]:
    if not isinstance(data, dict) or len(data) > _MAX_LENGTH:
        raise ValueError("not the texts that a message may mention")
    return {_text(text): is_there is True for text, is_there in data.items()}


_ENTRIES: dict[str, dict[str, Callable[[object], Any]]] = {
    "none": {},
    "star": {},
    "not attempted": {},
    "treedef": {},
    "node": {"type": _text},
    "container leaf": {"type": _text},
    "object": {"type": _text},
    "array": {"library": _text, "dtype": _text, "shape": _shape},
    "shape": {"dtype": _text, "shape": _shape},
    "tracer": {"dtype": _text, "shape": _shape},
    "number": {"type": _text, "value": _value},
    "string": {"type": _text, "value": _text},
    "key": {"type": _text, "text": _text},
    "unbounded": {"why": _text},
    "raised": {"type": _text, "bases": _bases, "mentions": _mentions, "message": _text},
}
"""The entries of an observation by its kind; `_Reader` reads what is nested or may be missing."""
