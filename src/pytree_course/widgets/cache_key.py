"""The cache key of a jitted call, taken apart so that what changed can be named."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax

from pytree_course.drawing.labels import summary
from pytree_course.observations import Path
from pytree_course.registry import flatten_one_level
from pytree_course.texts import shorten
from pytree_course.widgets.value_texts import written

MOST_NODES = 2_000  # and leaves: what comes later is counted as one change


@dataclass(frozen=True)
class NodePart:
    """A node's part of the key: its type, its keys and its metadata."""

    type: type
    keys: tuple[str, ...]
    aux: Any  # a custom node's; of others None
    aux_text: str  # as it read at the time: aux_data may be changed in place

    @property
    def words(self) -> str:
        """What it is, in words."""
        return "None" if self.type is type(None) else f"a {self.type.__name__}"


@dataclass(frozen=True)
class LeafPart:
    """A leaf's part of the key: what a tracer would know of it. The value is no part, usually."""

    type: type
    dtype: str = ""  # empty where JAX cannot trace such a leaf at all
    shape: tuple[int, ...] = ()
    weak: bool = False
    value: Any = None  # of what is no array
    text: str = ""
    words: ClassVar[str] = "a leaf"


@dataclass(frozen=True)
class KeyChange:
    """One difference between two keys."""

    words: str
    of_value: bool = False
    is_whole: bool = False  # whether everything below has changed with it


class CacheKey:
    """The key of one call, made of its arguments by their names."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.treedefs = {name: jax.tree.structure(value) for name, value in arguments.items()}
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
            aux, text = (level.aux, written(level.aux)) if level.is_custom else (None, "")
            self.parts[path] = NodePart(level.type, level.keys, aux, text)
            waiting += reversed([((*path, key), child) for key, child in level.children])

    def changes_since(self, old: "CacheKey") -> list[KeyChange]:
        """Name what changed, topmost first; changes of values last."""
        changes: list[KeyChange] = []
        changed: set[Path] = set()
        for path, part in self.parts.items():
            if any(path[:length] in changed for length in range(1, len(path))):
                continue  # below a change
            change = _change(shorten("".join(path), 60), old.parts.get(path), part)
            if change is not None:
                changes.append(change)
                if change.is_whole:
                    changed.add(path)
        if all(change.of_value for change in changes) and False in self._equal_structures(old):
            changes.append(KeyChange("the structure, somewhere deep in the tree"))
        return sorted(changes, key=lambda change: change.of_value)

    def aux_read_otherwise(self, old: "CacheKey") -> str:
        """Name metadata that is equal to what it was for JAX, but does not read the same."""
        for path, part in self.parts.items():
            match part, old.parts.get(path):
                case NodePart(), NodePart() as before if part.aux_text != before.aux_text:
                    return f"{_aux_of(part, ''.join(path))}: {before.aux_text} → {part.aux_text}"
        return ""

    def cannot_be_compared_with(self, old: "CacheKey") -> bool:
        """Whether comparing the structures raises, as it does with arrays in aux_data."""
        return None in self._equal_structures(old)

    def untraceable(self) -> tuple[str, str] | None:
        """Return place and type of the first leaf that JAX cannot trace."""
        for path, part in self.parts.items():
            if isinstance(part, LeafPart) and not part.dtype:
                return "".join(path), part.type.__name__
        return None

    def _equal_structures(self, old: "CacheKey") -> list[bool | None]:
        return [_equal(treedef, old.treedefs.get(name)) for name, treedef in self.treedefs.items()]


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


def _change(
    where: str, before: NodePart | LeafPart | None, part: NodePart | LeafPart
) -> KeyChange | None:
    if before is None:
        return KeyChange(f"{where} is new", is_whole=True)
    if isinstance(part, LeafPart) and isinstance(before, LeafPart):
        return _leaf_change(where, before, part)
    if isinstance(part, LeafPart) or isinstance(before, LeafPart):
        return KeyChange(f"{where}: {before.words} → {part.words}", is_whole=True)
    return _node_change(where, before, part)


def _leaf_change(where: str, before: LeafPart, part: LeafPart) -> KeyChange | None:
    if bool(part.dtype) != bool(before.dtype):
        return KeyChange(f"type of {where}: {before.type.__name__} → {part.type.__name__}")
    if part.shape != before.shape and part.dtype == before.dtype:
        return KeyChange(f"shape of {where}: {list(before.shape)} → {list(part.shape)}")
    if part.shape != before.shape:
        return KeyChange(f"shape and dtype of {where}: {_type(before)} → {_type(part)}")
    if part.dtype != before.dtype:
        return KeyChange(f"dtype of {where}: {_type(before)} → {_type(part)}")
    if part.weak != before.weak:
        return KeyChange(f"weak type of {where}: {_type(before)} → {_type(part)}")
    if part.type is before.type and _equal(part.value, before.value):
        return None
    if part.value is None or before.value is None:
        return None  # an array: its values are no part of the key
    return KeyChange(f"value of {where}: {_from_to(before.text, part.text)}", of_value=True)


def _node_change(where: str, before: NodePart, part: NodePart) -> KeyChange | None:
    if part.type is not before.type and part.type.__name__ == before.type.__name__:
        return KeyChange(f"{where}: {part.words} of another class of that name", is_whole=True)
    if part.type is not before.type:
        return KeyChange(f"type of {where}: {before.words} → {part.words}", is_whole=True)
    if part.keys != before.keys and issubclass(part.type, dict):
        keys = f"{_listed(before.keys)} → {_listed(part.keys)}"
        return KeyChange(f"keys of {where}: {keys}", is_whole=True)
    if part.keys != before.keys:
        count = f"{len(before.keys)} → {len(part.keys)}"
        return KeyChange(f"number of children of {where}: {count}", is_whole=True)
    is_equal = _equal(part.aux, before.aux)
    if is_equal or (is_equal is None and part.aux_text == before.aux_text):
        return None  # or arrays: JAX has told the calls apart without comparing them
    return KeyChange(f"{_aux_of(part, where)}: {_from_to(before.aux_text, part.aux_text)}")


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


def _type(part: LeafPart) -> str:
    seen = {"kind": "array", "library": "jax", "dtype": part.dtype, "shape": part.shape}
    return f"{'weak ' if part.weak else ''}{summary(seen)}"


def _listed(keys: tuple[str, ...]) -> str:
    return shorten(", ".join(key[1:-1] for key in keys) or "none", 40)
