"""The cache key of a jitted call, taken apart so that what changed can be named."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from pytree_course.drawing.labels import summary
from pytree_course.observations import Path
from pytree_course.registry import flatten_one_level
from pytree_course.texts import shorten
from pytree_course.widgets.value_texts import written

MOST_NODES = 2_000  # with leaves; any difference beyond them is named as one change


@dataclass(frozen=True)
class NodePart:
    """A node's part of the key: its type, its keys and its metadata."""

    words: str
    type: type
    keys: tuple[str, ...]
    aux: Any  # None unless the node is a custom one
    aux_text: str  # written at the time of the call: aux_data may be changed in place later


@dataclass(frozen=True)
class LeafPart:
    """A leaf's part of the key: what a tracer would know of it; its value only if it is static."""

    words = "a leaf"
    type: type
    dtype: str = ""  # empty where JAX cannot trace such a leaf at all
    shape: tuple[int, ...] = ()
    weak: bool = False
    value: Any = None  # None for an array
    text: str = ""

    @property
    def array_type(self) -> str:
        """The type that a tracer of it has, such as `weak f32[2]`."""
        seen = {"kind": "array", "library": "jax", "dtype": self.dtype, "shape": self.shape}
        return f"{'weak ' if self.weak else ''}{summary(seen)}"


@dataclass
class Changes:
    """The differences between two keys, in words, topmost first."""

    in_key: list[str]
    of_values: list[str]  # of leaves: a part of the key only where they are static

    @property
    def distance(self) -> tuple[int, int]:
        """How far apart the keys are; to be compared with other distances."""
        return len(self.in_key), len(self.of_values)


class CacheKey:
    """The key of one call, made of its arguments by their names."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.structure = jax.tree.structure(dict(arguments))
        self.parts: dict[Path, NodePart | LeafPart] = {}
        waiting: list[tuple[Path, Any]] = [
            ((name,), value) for name, value in reversed(list(arguments.items()))
        ]
        while waiting and len(self.parts) < MOST_NODES:
            path, value = waiting.pop()
            level = flatten_one_level(value)
            if level is None:
                self.parts[path] = _leaf_part(value)
                continue
            words = "None" if value is None else f"a {level.type.__name__}"
            aux, text = (level.aux, written(level.aux)) if level.is_custom else (None, "")
            self.parts[path] = NodePart(words, level.type, level.keys, aux, text)
            waiting += reversed([((*path, key), child) for key, child in level.children])

    def changes_since(self, old: "CacheKey") -> Changes:
        """Name what changed since an earlier call."""
        changes = Changes([], [])
        changed: set[Path] = set()
        for path, part in self.parts.items():
            if any(path[:length] in changed for length in range(1, len(path))):
                continue  # below a change
            where, before = shorten("".join(path), 60), old.parts.get(path)
            if words := _node_change(where, before, part):
                changes.in_key.append(words)
                changed.add(path)
            elif isinstance(part, NodePart) and isinstance(before, NodePart):
                changes.in_key += _aux_change(where, before, part)
            elif isinstance(part, LeafPart) and isinstance(before, LeafPart):
                words = _type_change(where, before, part)
                changes.in_key += [words] if words else []
                changes.of_values += [] if words else _value_change(where, before, part)
        if not changes.in_key and _equal(self.structure, old.structure) is False:
            changes.in_key.append("the structure, somewhere deep in the tree")
        return changes

    def aux_read_otherwise(self, old: "CacheKey") -> str:
        """Name metadata that is equal to what it was for JAX, but does not read the same."""
        for path, part in self.parts.items():
            match part, old.parts.get(path):
                case NodePart(), NodePart() as before if part.aux_text != before.aux_text:
                    return f"{_aux_of(part, ''.join(path))}: {before.aux_text} → {part.aux_text}"
        return ""

    def cannot_be_compared_with(self, old: "CacheKey") -> bool:
        """Whether comparing the structures raises, as it does with arrays in aux_data."""
        return _equal(self.structure, old.structure) is None

    def untraceable(self) -> tuple[str, str] | None:
        """Return the path and the type of the first leaf that JAX cannot trace."""
        for path, part in self.parts.items():
            if isinstance(part, LeafPart) and not part.dtype:
                return "".join(path), part.type.__name__
        return None


def named(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a call's arguments by the names of the function's parameters."""
    try:
        return dict(inspect.signature(function).bind(*arguments, **keywords).arguments)
    except (TypeError, ValueError):
        numbered = {f"argument {place}": value for place, value in enumerate(arguments, 1)}
        return numbered | dict(keywords)


def _leaf_part(value: Any) -> LeafPart:
    try:
        seen = jax.typeof(value)
        dtype, shape = str(seen.dtype), tuple(seen.shape)
    except Exception:
        return LeafPart(type(value), value=value, text=written(value))
    weak = bool(getattr(seen, "weak_type", False))
    is_number = isinstance(value, (bool, int, float, complex))
    known = (value, written(value)) if is_number else ()
    return LeafPart(type(value), dtype, shape, weak, *known)


def _node_change(where: str, before: NodePart | LeafPart | None, part: NodePart | LeafPart) -> str:
    """Name a change with which everything below has changed too, or nothing."""
    if before is None:
        return f"{where} is new"
    if isinstance(part, LeafPart) or isinstance(before, LeafPart):
        return "" if part.words == before.words else f"{where}: {before.words} → {part.words}"
    if part.type is not before.type and part.words == before.words:
        return f"{where}: {part.words} of another class of that name"
    if part.type is not before.type:
        return f"type of {where}: {before.words} → {part.words}"
    if part.keys != before.keys and issubclass(part.type, dict):
        return f"keys of {where}: {_listed(before.keys)} → {_listed(part.keys)}"
    if part.keys != before.keys:
        return f"number of children of {where}: {len(before.keys)} → {len(part.keys)}"
    return ""


def _aux_change(where: str, before: NodePart, part: NodePart) -> list[str]:
    is_equal = _equal(part.aux, before.aux)
    if is_equal or (is_equal is None and part.aux_text == before.aux_text):
        return []  # or arrays: JAX has told the calls apart without comparing them
    return [f"{_aux_of(part, where)}: {_from_to(before.aux_text, part.aux_text)}"]


def _type_change(where: str, before: LeafPart, part: LeafPart) -> str:
    if bool(part.dtype) != bool(before.dtype):
        return f"type of {where}: {before.type.__name__} → {part.type.__name__}"
    if part.shape != before.shape and part.dtype == before.dtype:
        return f"shape of {where}: {list(before.shape)} → {list(part.shape)}"
    if part.array_type == before.array_type:
        return ""
    what = "weak type" if part.dtype == before.dtype else "dtype"
    if part.shape != before.shape:
        what = "shape and dtype"
    return f"{what} of {where}: {before.array_type} → {part.array_type}"


def _value_change(where: str, before: LeafPart, part: LeafPart) -> list[str]:
    if part.value is None or before.value is None:
        return []  # an array: its values are no part of the key
    if part.type is before.type and _equal(part.value, before.value):
        return []
    return [f"value of {where}: {_from_to(before.text, part.text)}"]


def _aux_of(part: NodePart, where: str) -> str:
    return f"aux_data of {shorten(where, 60)} ({part.type.__name__})"


def _from_to(before: str, after: str) -> str:
    if before == after:
        return f"another {after}, not equal to the earlier one"
    return f"{before} → {after}"


def _equal(one: Any, other: Any) -> bool | None:
    """Compare as JAX does: identity, else ``==``; None if that raises."""
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:
        return None


def _listed(keys: tuple[str, ...]) -> str:
    return shorten(", ".join(key[1:-1] for key in keys) or "none", 40)
