"""The one border for untrusted data: what passes it can be compared, stored and shown."""

import math
from typing import Any

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
