"""The one border for untrusted data: what passes it is what its type says.

Two kinds of data come in by it: what a learner's kernel reports, and what a gradebook holds, which
may have been damaged or edited.
"""

import math
from dataclasses import is_dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from pytree_course.observations import (
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
    """
    inner = get_args(kind)
    if kind == Observation:
        return validate(data)
    if isinstance(kind, UnionType):  # with None
        return None if data is None else read_as(inner[0], data)
    if get_origin(kind) is list:
        return [read_as(inner[0], each) for each in _list(data, _MAX_ITEMS)]
    if get_origin(kind) is dict:
        return {_whole_text(name): read_as(inner[1], each) for name, each in _dict(data).items()}
    if isinstance(kind, type) and is_dataclass(kind):
        entries, fields = _dict(data), _fields(kind)
        if entries.keys() != fields.keys():
            raise ValueError("not the fields that are stored")
        return kind(**{name: read_as(fields[name], entries[name]) for name in fields})
    if issubclass(kind, StrEnum):
        return kind(data)
    return _PLAIN[kind](data)


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
        if not isinstance(data, dict):
            raise ValueError("not an observation")
        match data.get("kind"):
            case "none":
                return {"kind": "none", "leaf": True} if "leaf" in data else {"kind": "none"}
            case "star" | "not attempted":
                return {"kind": data["kind"]}
            case "node":
                return self.node(data, depth)
            case "treedef":
                return {"kind": "treedef", "tree": self.observation(data.get("tree"), depth + 1)}
            case "container leaf":
                items = [self.observation(each, depth + 1) for each in _list(data.get("items"))]
                return {"kind": "container leaf", **_texts(data, "type"), "items": items}
            case "array":
                values = _list(data.get("values"))
                self.elements += len(values)
                if self.elements > MAX_ELEMENTS:
                    raise ValueError("more numbers than are ever observed")
                array = {"kind": "array", **_texts(data, "library", "dtype"), "shape": _shape(data)}
                return {**array, "values": list(map(_value, values))}
            case "shape" | "tracer":
                return {"kind": data["kind"], **_texts(data, "dtype"), "shape": _shape(data)}
            case "number":
                return {
                    "kind": "number",
                    **_texts(data, "type"),
                    "value": _value(data.get("value")),
                }
            case "string":
                return {"kind": "string", **_texts(data, "type", "value")}
            case "key":
                return {"kind": "key", **_texts(data, "type", "text")}
            case "object":
                named = [entry for entry in ("why", "name") if entry in data]
                return {"kind": "object", **_texts(data, "type", *named)}
            case "unbounded":
                return {"kind": "unbounded", **_texts(data, "why")}
            case "raised":
                return _raised(data)
        raise ValueError("not an observation")

    def node(self, data: dict[str, Any], depth: int) -> Observation:
        node: Observation = {"kind": "node", **_texts(data, "type")}
        node |= {entry: True for entry in ("namedtuple", "custom") if data.get(entry) is True}
        aux = data.get("aux")
        node["aux"] = None if aux is None else self.observation(aux, depth + 1)
        node["children"] = children = []
        for child in _list(data.get("children")):
            if not (isinstance(child, list) and len(child) == 2):
                raise ValueError("a child is a key's text and an observation")
            children.append([_text(child[0]), self.observation(child[1], depth + 1)])
        return node


_fields = cache(get_type_hints)


def _dict(data: object) -> dict[str, Any]:
    if not isinstance(data, dict) or len(data) > _MAX_ITEMS:
        raise ValueError("no entries, or more than any that are made")
    return data


def _whole_text(data: object) -> str:
    """Return a text as it is, for it may be code; half a character, which JSON can hold, is "?"."""
    if not isinstance(data, str) or len(data) > _MAX_TEXT:
        raise ValueError("not a text, or a longer one than any that is made")
    return data.encode("utf-8", "replace").decode("utf-8")


def _count(data: object) -> int:
    if type(data) is not int or not 0 <= data < _MAX_NUMBER:
        raise ValueError("not a count")
    return data


def _measure(data: object) -> float:
    if type(data) not in (int, float) or not 0 <= data < _MAX_NUMBER:  # type: ignore[operator]
        raise ValueError("not a measure")
    return float(data)  # type: ignore[arg-type]


def _flag(data: object) -> bool:
    if not isinstance(data, bool):
        raise ValueError("neither true nor false")
    return data


def _time(data: object) -> datetime:
    time = datetime.fromisoformat(_text(data))
    if time.tzinfo is None or not 1970 <= time.year <= 9000:  # others cannot be compared or shown
        raise ValueError("not a time with its zone")
    return time


_PLAIN = {str: _whole_text, int: _count, float: _measure, bool: _flag, datetime: _time}


def _text(data: object) -> str:
    if not isinstance(data, str):
        raise ValueError("not a text")
    return writable(data)


def _texts(data: dict[str, Any], *entries: str) -> dict[str, str]:
    return {entry: _text(data.get(entry)) for entry in entries}


def _list(data: object, most: int | None = None) -> list[Any]:
    if not isinstance(data, list) or (most is not None and len(data) > most):
        raise ValueError("not a list, or a longer one than any that is made")
    return data


def _shape(data: dict[str, Any]) -> list[int]:
    shape = _list(data.get("shape"), _MAX_LENGTH)
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


def _raised(data: dict[str, Any]) -> Observation:
    mentions = data.get("mentions")
    if not isinstance(mentions, dict) or len(mentions) > _MAX_LENGTH:
        raise ValueError("not the texts that a message may mention")
    return {
        "kind": "raised",
        **_texts(data, "type"),
        "bases": [_text(base) for base in _list(data.get("bases"), _MAX_LENGTH)],
        "mentions": {_text(text): is_there is True for text, is_there in mentions.items()},
        **_texts(data, "message"),
    }
