"""What a check script is written with: cases, checks, trees and arrays drawn at random."""

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.checking.cycles import acyclic

Check = Callable[..., Iterator["Case"]]
"""A generator function: it takes the answers and `rng`, and yields cases."""

Point = namedtuple("Point", ["x", "y"])

WORDS = ("dense", "embed", "gate", "head", "key", "norm", "query", "scale", "table", "value")


class Case:
    """A call of the answer, or of a function that uses it, with the inputs to call it with.

    The learner is shown the inputs, and a note on what their pictures do not show. The message of
    an expected exception must contain the texts in `mentions`. `tags` name features of the case
    that its inputs do not show, such as "under jit" or "second call": reasons speak of them. Where
    the case is a prediction, `predicted` is the name of the line and the note is its text.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        *inputs: Any,
        mentions: tuple[str, ...] = (),
        note: str = "",
        tags: tuple[str, ...] = (),
        predicted: str = "",
    ) -> None:
        self.call = call
        self.inputs = inputs
        self.mentions = mentions
        self.note = note
        self.tags = tags
        self.predicted = predicted


def check(function: Check) -> Check:
    """Mark a generator function of a check script as the check of the exercise of its name."""
    function.__dict__["is_check"] = True
    return function


def as_int(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Let integer scalars of NumPy and JAX, which an answer returns, count as Python's own int."""

    def counted(*inputs: Any) -> Any:
        result = answer(*inputs)
        is_scalar = isinstance(result, (np.integer, np.ndarray, jax.Array)) and result.ndim == 0
        if is_scalar and jnp.issubdtype(result.dtype, np.integer):
            return int(result)
        return result

    return _named_like(answer, counted)


def random_tree(rng: np.random.Generator, depth: int = 3) -> Any:
    """Draw a tree of dicts, lists, tuples, OrderedDicts and namedtuples, at most `depth` levels.

    Its leaves are small ints and floats; some children are None, some containers are empty.
    """
    children = [_random_child(rng, depth - 1) for _ in range(rng.integers(2, 4))]
    names = [f"{letter}" for letter in rng.permutation(list("abcdwxyz"))[: len(children)]]
    named = dict(zip(names, children, strict=True))
    containers = [children, tuple(children), OrderedDict(named), Point(*children[:2]), named]
    return containers[rng.integers(5)]


def random_words(rng: np.random.Generator, count: int) -> list[str]:
    """Draw `count` different names, ten at most; only by luck are they in sorted order."""
    return [str(word) for word in rng.permutation(WORDS)[:count]]


def random_model(
    rng: np.random.Generator, leaf: Callable[[], Any], *parts: Callable[[], Any]
) -> dict[str, Any]:
    """Draw a tree like a model's parameters: three named parts, made by `leaf` and `parts`."""
    kinds = (
        leaf,
        lambda: {"w": leaf(), "b": leaf()},
        lambda: [leaf(), {"w": leaf()}],
        lambda: (leaf(), None),
        *parts,
    )
    return {name: kinds[rng.integers(len(kinds))]() for name in random_words(rng, 3)}


def _random_child(rng: np.random.Generator, depth: int) -> Any:
    kind = rng.random()
    if depth > 0 and kind < 0.45:
        return random_tree(rng, depth)
    if kind < 0.55:
        return None
    if kind < 0.62:
        return [(), [], {}][rng.integers(3)]
    if kind < 0.8:
        return float(rng.integers(1, 20)) / 2
    return int(rng.integers(1, 100))


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

    return jax.tree.map(convert, acyclic(result))


def returning_jax(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Let an answer's result count `as_jax`."""
    return _named_like(answer, lambda *inputs: as_jax(answer(*inputs)))


def _named_like(answer: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Give a call the answer's parameters: feedback names them."""
    call.__wrapped__ = answer  # type: ignore[attr-defined]  # no more of what may be anything
    return call


def is_one_program(function: Callable[..., Any], *inputs: Any) -> bool:
    """Say whether a call is one jitted program, with nothing before or after it."""
    jaxpr = jax.make_jaxpr(function)(*inputs)
    # Another version of JAX may have another name for it.
    return [equation.primitive.name in ("jit", "pjit") for equation in jaxpr.eqns] == [True]
