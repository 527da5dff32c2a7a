"""The building blocks of check scripts: cases, random trees and arrays, guards for answers."""

import operator
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.observing.observations import MAX_DEPTH, NO_DICT
from pytree_course.observing.registry import flatten_one_level

Check = Callable[..., Iterator["Case"]]
"""A generator function: it takes the answers and `rng`, and yields cases."""

Point = namedtuple("Point", ["x", "y"])

WORDS = ("dense", "embed", "gate", "head", "key", "norm", "query", "scale", "table", "value")


class Case:
    """A call of the answer, or of a function that uses it, with the inputs to call it with.

    The learner is shown the inputs, and a note on what their pictures do not show. The message of
    an expected exception must contain the texts in `mentions`. `tags` name features of the case
    that its inputs do not show, such as "under jit" or "second call": reasons speak of them. So do
    `shows`, which are names of the vocabulary of inputs. Where the case is a prediction,
    `predicted` is the name of the line and the note is its text.

    Where the result is not the answer's own, but a summary that the check made of it, `if_wrong`
    says to the learner what its wrong entries mean: sentences by "traces", "traces too high",
    "traces too low", "equal False"; without a name where the summary has no entries, "" for all
    that is left.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        *inputs: Any,
        mentions: tuple[str, ...] = (),
        note: str = "",
        tags: tuple[str, ...] = (),
        shows: tuple[str, ...] = (),
        predicted: str = "",
        if_wrong: Mapping[str, str] | None = None,
    ) -> None:
        self.call = call
        self.inputs = inputs
        self.mentions = mentions
        self.note = note
        self.tags = tags
        self.shows = shows
        self.predicted = predicted
        self.if_wrong = dict(if_wrong or {})


def check(
    function: Check | None = None,
    *,
    without: Mapping[str, str] | None = None,
    in_order: bool = False,
) -> Any:
    """Mark a generator function of a check script as the check of the exercise of its name.

    `without` says in a word why it has no cases with a feature, or a group of features, of the
    vocabulary of inputs. `in_order` says that results of cases depend on the cases before, so that
    grading runs all of them, in order.
    """
    if function is None:
        return partial(check, without=without, in_order=in_order)
    function.__dict__.update(is_check=True, without=without or {}, in_order=in_order)
    return function


def as_int(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an answer so that integer scalars of NumPy and JAX count as Python's own int."""

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


# `jnp.asarray` compiles a program for each new shape and dtype, and `jax.device_put` does not.
# Answers that compute cost compilations, too: so nearly all arrays have one of two shapes.
def vector(rng: np.random.Generator, dtype: Any = np.float32) -> jax.Array:
    """Draw two small whole numbers."""
    return jax.device_put(rng.integers(1, 10, 2).astype(dtype))


def matrix(rng: np.random.Generator) -> jax.Array:
    """Draw two rows of two small whole numbers."""
    return jax.device_put(rng.integers(1, 10, (2, 2)).astype(np.float32))


def as_jax(result: Any) -> Any:
    """Let NumPy's arrays and scalars count as JAX's, where it does not matter which they are."""

    def convert(leaf: Any) -> Any:
        return jax.device_put(leaf) if isinstance(leaf, (np.ndarray, np.generic)) else leaf

    return jax.tree.map(convert, acyclic(result))


def returning_jax(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an answer so that its result counts `as_jax`."""
    return _named_like(answer, lambda *inputs: as_jax(answer(*inputs)))


def _named_like(answer: Callable[..., Any], call: Callable[..., Any]) -> Callable[..., Any]:
    """Give a call the answer's parameters: feedback names them."""
    call.__wrapped__ = answer  # type: ignore[attr-defined]  # an answer may be anything: no more of it
    return call


def is_one_program(function: Callable[..., Any], *inputs: Any) -> bool:
    """Say whether a call is one jitted program; its inputs may be converted, and no more."""
    names = [each.primitive.name for each in jax.make_jaxpr(function)(*inputs).eqns]
    # Another version of JAX may have another name for it.
    return [each in ("jit", "pjit") for each in names if each != "convert_element_type"] == [True]


class CyclicTreeError(Exception):
    """A node contains itself, so that JAX would flatten it without an end."""


def acyclic(tree: Any, within: tuple[int, ...] = ()) -> Any:
    """Return a tree, or raise a CyclicTreeError where a node contains itself.

    A check calls this on what an answer made, before JAX sees it: in CPython 3.11, a flatten that
    has no end leaves a process in which hardly a call is possible, or ends it. `within` has the
    ids of the nodes around it.
    """
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
    return _named_like(cls, lambda *fields: acyclic(cls(*fields)))


def prediction_cases(predictions: Any, lines: Mapping[str, str]) -> Iterator[Case]:
    """Yield a case for each line; only the author's answer holds the right predictions.

    Parameters
    ----------
    predictions
        The learner's: a dict of line to prediction. `...` stands for a line not attempted.
    lines
        The text of each line by its name: code between backticks, or words.
    """
    for name, text in lines.items():
        yield Case(partial(_predicted, predictions, name), note=text, predicted=name)


def _predicted(predictions: Any, name: str) -> Any:
    """Return the prediction for a line, in the one form that equal predictions have."""
    if not isinstance(predictions, dict):
        return NO_DICT
    prediction = predictions.get(name, ...)
    if isinstance(prediction, str):
        return prediction.strip().lower()
    try:
        return operator.index(prediction)  # integers of NumPy and JAX too
    except TypeError:
        return prediction
