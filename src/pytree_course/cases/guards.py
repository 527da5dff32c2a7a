"""Guards around answers: results of other types that count as right, and cyclic trees."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.observing.observations import MAX_DEPTH
from pytree_course.observing.observe import flatten_one_level


def as_int(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an answer so that integer scalars of NumPy and JAX count as Python's own int."""

    def call(*inputs: Any) -> Any:
        result = answer(*inputs)
        is_scalar = isinstance(result, (np.integer, np.ndarray, jax.Array)) and result.ndim == 0
        if is_scalar and jnp.issubdtype(result.dtype, np.integer):
            return int(result)
        return result

    return _with_parameters_of(answer, call)


def as_jax(result: Any) -> Any:
    """Let NumPy's arrays and scalars count as JAX's, where it does not matter which they are."""

    def convert(leaf: Any) -> Any:
        return jax.device_put(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf

    return jax.tree.map(convert, acyclic(result))


def returning_jax(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an answer so that its result counts `as_jax`."""
    return _with_parameters_of(answer, lambda *inputs: as_jax(answer(*inputs)))


def _with_parameters_of(answer: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Give a call the answer's parameters: feedback names them."""
    call.__wrapped__ = answer  # type: ignore[attr-defined]  # no more: an answer may be any object
    return call


def is_one_program(function: Callable[..., Any], *inputs: Any) -> bool:
    """Say whether a call is one jitted program; its inputs may be converted, and no more."""
    names = [equation.primitive.name for equation in jax.make_jaxpr(function)(*inputs).eqns]
    programs = [name for name in names if name not in ("convert_element_type", "device_put")]
    return programs in (["jit"], ["pjit"])  # the name depends on the version of JAX


class CyclicTreeError(Exception):
    """A node contains itself, so that JAX would flatten it without an end."""


def acyclic(tree: Any, within: tuple[int, ...] = ()) -> Any:
    """Return a tree, or raise a CyclicTreeError where a node contains itself.

    A check calls this on what an answer made, before JAX sees it: an endless flatten exhausts the C
    stack, which in CPython 3.11 breaks the process or ends it. `within` has the ids of the nodes
    around it.
    """
    # The depth counts too: a flatten function that makes new nodes repeats no id.
    if id(tree) in within or len(within) > MAX_DEPTH:
        name = type(tree).__name__
        raise CyclicTreeError(
            f"a {name} contains itself: its flatten function, or a list that objects share, gives "
            "JAX the same node again and again"
        )
    try:
        level = flatten_one_level(tree)
    except Exception:
        return tree  # a flatten function with another mistake: JAX says which
    for _, child in level.children if level else ():
        acyclic(child, (*within, id(tree)))
    return tree


def making(cls: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that makes objects as a class does, each of them `acyclic`."""
    return _with_parameters_of(cls, lambda *fields: acyclic(cls(*fields)))
