"""Guards around answers: accept NumPy's types, refuse cyclic trees, recognise a single program."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.observing.observations import MAX_DEPTH
from pytree_course.observing.observe import flatten_one_level


def as_int(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an answer: convert an integer scalar of NumPy or JAX that it returns to an int."""

    def call(*inputs: Any) -> Any:
        result = answer(*inputs)
        is_scalar = isinstance(result, (np.integer, np.ndarray, jax.Array)) and result.ndim == 0
        if is_scalar and jnp.issubdtype(result.dtype, np.integer):
            return int(result)
        return result

    return _with_parameters_of(answer, call)


def as_jax(result: Any) -> Any:
    """Convert NumPy arrays and scalars to JAX arrays, where both are right; refuse cyclic trees."""

    def convert(leaf: Any) -> Any:
        return jax.device_put(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf

    return jax.tree.map(convert, acyclic(result))


def returning_jax(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an answer: convert its result with `as_jax`."""
    return _with_parameters_of(answer, lambda *inputs: as_jax(answer(*inputs)))


def making(cls: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a class: pass each object that it makes through `acyclic`."""
    return _with_parameters_of(cls, lambda *fields: acyclic(cls(*fields)))


def _with_parameters_of(answer: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Return the call with the answer's parameters, which feedback names."""
    # Not functools.wraps: it raises if an answer's `__name__` is not a string.
    call.__wrapped__ = answer  # type: ignore[attr-defined]
    return call


def is_one_program(function: Callable[..., Any], *inputs: Any) -> bool:
    """Return whether a call traces to one jitted function, apart from conversions of its inputs."""
    names = [equation.primitive.name for equation in jax.make_jaxpr(function)(*inputs).eqns]
    programs = [name for name in names if name not in ("convert_element_type", "device_put")]
    return programs in (["jit"], ["pjit"])  # the name depends on the version of JAX


class CyclicTreeError(Exception):
    """A node contains itself, so JAX would flatten it forever."""


def acyclic(tree: Any) -> Any:
    """Return the tree; raise CyclicTreeError if a node contains itself or is nested too deep.

    A check calls this on a tree that an answer made, before JAX sees it: infinite recursion in
    flatten overflows the C stack, which kills CPython 3.11.
    """
    _reject_cycles(tree, ())
    return tree


def _reject_cycles(tree: Any, ancestors: tuple[int, ...]) -> None:
    """Raise CyclicTreeError if a tree leads back to one of its ancestors, given by their ids."""
    # The depth counts too: a flatten function that makes new nodes repeats no id.
    if id(tree) in ancestors or len(ancestors) > MAX_DEPTH:
        name = type(tree).__name__
        raise CyclicTreeError(
            f"a {name} contains itself: its flatten function, or a list that objects share, gives "
            "JAX the same node again and again"
        )
    try:
        level = flatten_one_level(tree)
    except Exception:
        return  # a flatten function with another mistake: JAX names it
    for _, child in level.children if level else ():  # a leaf has no level
        _reject_cycles(child, (*ancestors, id(tree)))
