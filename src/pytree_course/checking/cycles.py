"""Nodes that contain themselves: found before JAX flattens them, which would have no end."""

from collections.abc import Callable
from typing import Any

from pytree_course.observations import MAX_DEPTH
from pytree_course.trees import flatten_one_level


class CyclicTreeError(Exception):
    """A node contains itself, so that JAX would flatten it without an end."""


def acyclic(tree: Any) -> Any:
    """Return a tree, or raise a CyclicTreeError where a node contains itself.

    A check calls this on what an answer made, before JAX sees it: in CPython 3.11, a flatten that
    has no end leaves a process in which hardly a call is possible, or ends it.
    """
    _look_into(tree, ())
    return tree


def making(cls: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes objects as a class does, each of them `acyclic`."""
    return lambda *fields: acyclic(cls(*fields))


def _look_into(value: Any, within: tuple[int, ...]) -> None:
    if id(value) in within or len(within) > MAX_DEPTH:
        name = type(value).__name__
        raise CyclicTreeError(
            f"a {name} contains itself: its flatten function, or a list that objects share, gives "
            "JAX the same node again and again"
        )
    try:
        level = flatten_one_level(value)
    except Exception:
        return  # a flatten function with another mistake: JAX says which
    if level is not None:
        for _, child in level.children:
            _look_into(child, (*within, id(value)))
