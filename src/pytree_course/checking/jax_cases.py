"""What cases with JAX arrays share: small arrays to draw, and results whose library is free."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


# Each new shape or dtype costs a compilation, so nearly all arrays have one of two shapes.
def vector(rng: np.random.Generator, dtype: Any = np.float32) -> jax.Array:
    """Draw two small whole numbers."""
    return jnp.asarray(rng.integers(1, 10, 2).astype(dtype))


def matrix(rng: np.random.Generator) -> jax.Array:
    """Draw two rows of two small whole numbers."""
    return jnp.asarray(rng.integers(1, 10, (2, 2)).astype(np.float32))


def as_jax(result: Any) -> Any:
    """Let NumPy's arrays and scalars count as JAX's, where it does not matter which they are."""

    def convert(leaf: Any) -> Any:
        return jnp.asarray(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf

    return jax.tree.map(convert, result)


def returning_jax(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Let an answer's result count `as_jax`."""
    return lambda *inputs: as_jax(answer(*inputs))


def is_one_program(function: Callable[..., Any], *inputs: Any) -> bool:
    """Say whether a call is one jitted program, with nothing before or after it."""
    jaxpr = jax.make_jaxpr(function)(*inputs)
    # Another version of JAX may have another name for it.
    return [equation.primitive.name in ("jit", "pjit") for equation in jaxpr.eqns] == [True]
