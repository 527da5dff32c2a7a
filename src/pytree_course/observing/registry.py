"""How JAX's registry of node types flattens a value, one level deep."""

from collections import OrderedDict, defaultdict
from dataclasses import dataclass
from typing import Any

import jax

_BUILT_IN = (dict, list, tuple, OrderedDict, defaultdict, type(None))


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
    asked = iter([False])
    children, treedef = jax.tree.flatten_with_path(value, is_leaf=lambda _: next(asked, True))
    data: tuple[type, Any] | None = treedef.node_data()  # type: ignore[attr-defined]
    if data is None:
        return None
    named = [(jax.tree_util.keystr(path), child) for path, child in children]
    return Level(data[0], named, data[1])


def is_namedtuple(node_type: type) -> bool:
    """Whether a type is a namedtuple, which JAX flattens without being told."""
    return issubclass(node_type, tuple) and hasattr(node_type, "_fields")
