"""Run `jax.tree.map` on several trees, record its calls, and find what stopped it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import jax

from pytree_course.observations import Observation, Path
from pytree_course.registry import Level, flatten_one_level
from pytree_course.texts import shorten
from pytree_course.trees import observe
from pytree_course.widgets.value_texts import brief, error_line

MOST_CALLS = 24  # are kept to be shown; all are counted

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
    reason: str


@dataclass
class Pairing:
    """What happened: a result, or else a mismatch, a call that raised, or another error."""

    trees: list[Observation]
    calls: list[Call] = field(default_factory=list)
    count: int = 0
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
        if not pairing.count:
            pairing.mismatch = _first_mismatch(trees, is_leaf)
    else:
        pairing.result = observe(mapped, values=False)
    return pairing


def _call_and_note(
    function: Callable[..., Any], pairing: Pairing, keys: Sequence[Any], *arguments: Any
) -> Any:
    """Call the function for the next leaf, and note the call."""
    path = tuple(jax.tree_util.keystr((key,)) for key in keys)
    pairing.count += 1
    # Before the call: the function may change what it is given.
    call = _noted(pairing.count, path, arguments) if pairing.count <= MOST_CALLS else None
    try:
        result = function(*arguments)
    except Exception as error:
        call = call or _noted(pairing.count, path, arguments)
        pairing.failed_call = replace(call, result=error_line(error), raised=True)
        pairing.calls.append(pairing.failed_call)
        raise
    if call is not None:
        pairing.calls.append(replace(call, result=brief(result)))
    return result


def _noted(number: int, path: Path, arguments: Sequence[Any]) -> Call:
    are_nodes = [flatten_one_level(argument) is not None for argument in arguments]
    return Call(number, path, list(map(brief, arguments)), are_nodes)


def _first_mismatch(trees: Sequence[Any], is_leaf: IsLeaf | None) -> Mismatch | None:
    """Find the first place at which JAX cannot follow the first tree in another one."""
    try:
        found = (_mismatch(trees, position, is_leaf) for position in range(1, len(trees)))
        return next(filter(None, found), None)
    except Exception:
        return None  # looking into a tree raised, or is_leaf did: the error itself is shown


def _mismatch(trees: Sequence[Any], position: int, is_leaf: IsLeaf | None) -> Mismatch | None:
    waiting: list[tuple[Path, Any, Any]] = [((), trees[0], trees[position])]
    while waiting:
        path, node, partner = waiting.pop()
        if is_leaf is not None and is_leaf(node):
            continue
        level = flatten_one_level(node)
        if level is None:
            continue
        try:
            partners = level.treedef.flatten_up_to(partner)
        except ValueError:
            return Mismatch(path, position, _reason(level, flatten_one_level(partner)))
        pairs = zip(level.children, partners, strict=True)
        waiting += reversed([((*path, key), child, its) for (key, child), its in pairs])
    return None


def _reason(node: Level, partner: Level | None) -> str:
    """Say how two nodes differ, `node` being in the first tree."""
    if partner is None or node.type is not partner.type:
        return (
            f"here the first tree has {_described(node)}, and this tree has {_described(partner)}"
        )
    if issubclass(node.type, dict) and node.keys != partner.keys:
        missing = [key for key in node.keys if key not in partner.keys]
        added = [key for key in partner.keys if key not in node.keys]
        if not missing and not added:
            return (
                "the keys are the same, but in another order, and for this type the order matters"
            )
        lists = {"only the first tree has": missing, "only this tree has": added}
        parts = [f"{who} {_listed(keys)}" for who, keys in lists.items() if keys]
        return f"the keys differ: {' and '.join(parts)}"
    if len(node.children) != len(partner.children):
        counts = f"{len(node.children)} in the first tree, {len(partner.children)} in this tree"
        return f"the numbers of children differ: {counts}"
    return (
        f"the metadata of {node.type.__name__} differs: {brief(node.aux)} in the first tree, "
        f"{brief(partner.aux)} in this tree"
    )


def _listed(keys: list[str]) -> str:
    shown = ", ".join(shorten(key, 24) for key in keys[:4])
    return shown + (f" and {len(keys) - 4} more" if len(keys) > 4 else "")


def _described(level: Level | None) -> str:
    if level is None:
        return "a leaf"
    if level.type is type(None):
        return "None, a node without children"
    return f"a node of type {level.type.__name__}"
