"""Run `jax.tree.map` on several trees, record its calls, and find what stopped it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax

from pytree_course.notebook.value_texts import LEAF, brief, error_line, node_words
from pytree_course.observing.observations import Observation, Path, all_parts
from pytree_course.observing.observe import observe

IsLeaf = Callable[[Any], bool]


@dataclass(frozen=True)
class Call:
    """One call of the mapped function."""

    number: int
    path: Path
    arguments: list[str]
    given_whole: list[bool]  # for each argument: is it a node, with everything below it?
    result: str = ""
    raised: bool = False


@dataclass(frozen=True)
class Mismatch:
    """Where a tree first differs from the first tree, and how."""

    path: Path
    position: int  # of the other tree, counted from 0
    node: str  # what the first tree has there, in words
    partner: str  # what the other tree has


@dataclass
class Pairing:
    """What happened: a result, or else a mismatch, a call that raised, or another error."""

    trees: list[Observation]
    calls: list[Call] = field(default_factory=list)
    leaves: int = 0
    result: Observation | None = None
    mismatch: Mismatch | None = None
    failed_call: Call | None = None
    error: str = ""


def map_and_watch(
    function: Callable[..., Any], trees: Sequence[Any], is_leaf: IsLeaf | None = None
) -> Pairing:
    """Run ``jax.tree.map(function, *trees, is_leaf=is_leaf)`` once and note what it does."""
    # Before the calls: the function may change what it is given.
    pairing = Pairing([observe(tree, values=False) for tree in trees])
    try:
        leaves, _ = jax.tree.flatten_with_path(trees[0], is_leaf=is_leaf)
        pairing.leaves = len(leaves)
        watched = partial(_call_and_note, function, pairing)
        mapped = jax.tree.map_with_path(watched, *trees, is_leaf=is_leaf)
    except Exception as error:
        pairing.error = error_line(error)
        if not pairing.calls:
            pairing.mismatch = _first_mismatch(trees, is_leaf)
    else:
        pairing.result = observe(mapped, values=False)
    return pairing


def _call_and_note(
    function: Callable[..., Any], pairing: Pairing, keys: Sequence[Any], *arguments: Any
) -> Any:
    """Call the function for the next leaf, and note the call."""
    path = tuple(jax.tree_util.keystr((key,)) for key in keys)
    # Before the call: the function may change what it is given.
    are_nodes = [not jax.tree_util.all_leaves([argument]) for argument in arguments]
    call = Call(len(pairing.calls) + 1, path, list(map(brief, arguments)), are_nodes)
    pairing.calls.append(call)
    try:
        result = function(*arguments)
    except Exception as error:
        pairing.failed_call = replace(call, result=error_line(error), raised=True)
        pairing.calls[-1] = pairing.failed_call
        raise
    pairing.calls[-1] = replace(call, result=brief(result))
    return result


def _first_mismatch(trees: Sequence[Any], is_leaf: IsLeaf | None) -> Mismatch | None:
    """Find the first place at which JAX cannot follow the first tree in another one."""
    first = observe(trees[0], values=False, is_leaf=is_leaf)
    for position, tree in enumerate(trees[1:], 1):
        partners = dict(all_parts(observe(tree, values=False)))
        for path, seen in all_parts(first):
            node = node_words(seen)
            partner = node_words(partners[path]) if path in partners else "nothing"
            # Where the first tree has a leaf, anything may stand in the other one.
            if node != partner and (node != LEAF or path not in partners):
                return Mismatch(path, position, node, partner)
    return None
