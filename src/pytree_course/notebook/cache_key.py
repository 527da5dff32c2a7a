"""The cache key of a jitted call, written in words so that what changed can be named."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from pytree_course.drawing.labels import summary
from pytree_course.notebook.value_texts import node_words, written
from pytree_course.observing.observations import Array, Path, all_parts
from pytree_course.observing.observe import observe
from pytree_course.texts import shorten


class CacheKey:
    """What JAX compares of one call, made of its arguments by their names."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.structure: Any = jax.tree.structure(dict(arguments))
        self.parts: dict[Path, str] = {}
        """What each node and leaf is, as it was at the time of the call, topmost first."""
        self.values: dict[Path, str] = {}
        """What JAX compares where an argument is static."""
        for name, argument in arguments.items():
            for path, seen in all_parts(observe(argument, values=False)):
                self.parts[name, *path] = node_words(seen)
            for keys, leaf in jax.tree.leaves_with_path(argument):
                path = (name, *(jax.tree_util.keystr((key,)) for key in keys))
                self.parts[path] = _type_words(leaf)
                if not isinstance(leaf, (jax.Array, np.ndarray)):
                    self.values[path] = written(leaf)

    def equals(self, old: "CacheKey") -> bool:
        """Whether the structures are equal for JAX, with all metadata."""
        try:
            return self.structure == old.structure
        except Exception:  # as == does for arrays in metadata
            return False

    def changes_since(self, old: "CacheKey") -> list[str]:
        """Name the nodes and leaves that are not what they were, topmost first."""
        return _changes(self.parts, old.parts)

    def values_changed_since(self, old: "CacheKey") -> list[str]:
        """Name the leaves of the same type with another value: of the key only if static."""
        same = {
            path: each
            for path, each in self.values.items()
            if self.parts[path] == old.parts.get(path)
        }
        return _changes(same, old.values)


def named(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a call's arguments by the names of the function's parameters."""
    try:
        return dict(inspect.signature(function).bind(*arguments, **keywords).arguments)
    except (TypeError, ValueError):
        numbered = {f"argument {place}": value for place, value in enumerate(arguments, 1)}
        return numbered | dict(keywords)


def _changes(now: Mapping[Path, str], before: Mapping[Path, str]) -> list[str]:
    return [
        f"{shorten(''.join(path), 60)}: {before.get(path, 'nothing')} → {words}"
        for path, words in now.items()
        # What is new inside of a node is named with the node.
        if words != before.get(path, words if len(path) > 1 else None)
    ]


def _type_words(leaf: Any) -> str:
    """Write what a tracer of a leaf knows, such as `weak f32[2]`; else the type's name."""
    try:
        seen = jax.typeof(leaf)
    except TypeError:
        return type(leaf).__name__
    array = Array(library="jax", dtype=str(seen.dtype), shape=seen.shape, values=())
    return f"{'weak ' if getattr(seen, 'weak_type', False) else ''}{summary(array)}"
