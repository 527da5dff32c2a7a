"""Findings on the wrong leaves of results: one rule that makes all of them from the right ones."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from pytree_course.judging.verdicts import Evidence, Finding, finding
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import COARSE_RELATIVE_TOLERANCE, compare

Numbers = np.ndarray


@dataclass(frozen=True)
class LeafPair:
    """Two leaves, or two subtrees of different kinds, at the same path of two results."""

    path: obs.Path
    expected: obs.Observation
    got: obs.Observation
    differs: bool


def leaf_pairs(
    expected: obs.Observation, got: obs.Observation, path: obs.Path = ()
) -> Iterator[LeafPair]:
    """Walk two observations together, down to leaves and to where they are of different kinds."""
    if isinstance(expected, obs.Node) and isinstance(got, obs.Node) and _are_alike(expected, got):
        for (key, child), (_, got_child) in zip(expected.children, got.children, strict=True):
            yield from leaf_pairs(child, got_child, (*path, key))
    else:
        yield LeafPair(path, expected, got, compare(expected, got) is not None)


def _are_alike(expected: obs.Node, got: obs.Node) -> bool:
    keys, got_keys = ([key for key, _ in node.children] for node in (expected, got))
    return expected.type == got.type and keys == got_keys


def leaf_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield the mistakes that all wrong leaves of all wrong results have in common."""
    walked = [list(leaf_pairs(case.expected, case.got)) for case in wrong]
    differing = [[pair for pair in leaves if pair.differs] for leaves in walked]
    wrong_leaves = [pair for leaves in differing for pair in leaves]
    # Nodes may also differ in their metadata alone.
    if not all(differing) or any(isinstance(pair.expected, obs.Node) for pair in wrong_leaves):
        return
    which = "every" if differing == walked else "some"
    is_whole = not any(pair.path for pair in wrong_leaves)
    if is_whole:
        which = which_results(cases, wrong)
    elif (index := _argument_with(wrong, differing)) is not None:
        yield finding("leaf given back", wrong, which=which, argument=str(index))
    pairs = [(pair.expected, pair.got) for pair in wrong_leaves]
    if types := _other_type(pairs):
        yield finding("type", wrong, which=which, **types)
    elif rule := _number_rule(pairs):
        yield finding(rule, wrong, which=which)


def which_results(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return whether a finding on wrong results speaks of all results."""
    return "all" if len(cases) == len(wrong) else "wrong"


def _argument_with(
    wrong: Sequence[Evidence], differing: Sequence[Sequence[LeafPair]]
) -> int | None:
    """Return the index of the argument that has every wrong leaf at the same path."""
    for index in range(min(len(case.inputs) for case in wrong)):
        inputs = [dict(obs.all_parts(case.inputs[index])) for case in wrong]
        pairs = [
            (given.get(pair.path), pair.got)
            for given, leaves in zip(inputs, differing, strict=True)
            for pair in leaves
        ]
        if all(leaf is not None and not compare(leaf, got) for leaf, got in pairs):
            return index
    return None


def _other_type(pairs: Sequence[tuple[obs.Observation, obs.Observation]]) -> dict[str, str]:
    """Return the names of two types, where numbers are equal and differ only in these."""
    names = set()
    for right, got in pairs:
        one, other = _numbers(right), _numbers(got)
        if one is None or other is None or not _same(one, other, COARSE_RELATIVE_TOLERANCE):
            return {}
        names.add(tuple(_type_names(right, got)))
    if len(names) != 1 or len(set(*names)) == 1:
        return {}
    ((expected, came),) = names
    return {"expected": expected, "got": came}


def _type_names(right: obs.Observation, got: obs.Observation) -> list[str]:
    if isinstance(right, obs.Array) and isinstance(got, obs.Array) and right.library != got.library:
        libraries = {"jax": "JAX array", "numpy": "NumPy array"}
        names = [libraries.get(array.library, "array") for array in (right, got)]
        if right.dtype == got.dtype:
            return names
        return [f"{name} of {array.dtype}" for name, array in zip(names, (right, got), strict=True)]
    return [_type_name(right), _type_name(got)]


def _type_name(observation: obs.Observation) -> str:
    match observation:
        case obs.Array(dtype=dtype):
            return f"array of {dtype}"
        case obs.Number(type=name):
            return f"Python {name}"
    return ""


def _numbers(observation: obs.Observation) -> Numbers | None:
    """Return the numbers of an array or a number in its shape, or None where there are none."""
    values: Sequence[obs.Scalar]
    match observation:
        case obs.Number(value=value):
            values, shape = [value], ()
        case obs.Array(values=values, shape=shape):
            pass
        case _:
            return None
    plain = [float(value) for value in values if _is_plain(value)]
    if not len(plain) == len(values) == math.prod(shape):
        return None
    return np.array(plain, np.float64).reshape(shape)


def _is_plain(value: obs.Scalar) -> TypeGuard[bool | int | float | str]:
    if isinstance(value, str):
        return value in ("nan", "inf", "-inf")
    return isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 2**53)


def _same(one: Numbers, other: Numbers, tolerance: float = 1e-5) -> bool:
    return one.shape == other.shape and np.allclose(
        one, other, rtol=tolerance, atol=1e-6, equal_nan=True
    )


def _flat(right: Numbers, wrong: Numbers) -> bool:
    return right.shape != wrong.shape and _same(right.ravel(), wrong.ravel())


RULES: dict[str, Callable[[Numbers, Numbers], bool]] = {
    "axes": lambda right, wrong: (
        right.ndim > 1 and (_same(right.T, wrong) or _same(np.moveaxis(right, 0, -1), wrong))
    ),
    "axis too many": lambda right, wrong: _flat(right, wrong) and wrong.ndim > right.ndim,
    "axis too few": lambda right, wrong: _flat(right, wrong) and wrong.ndim < right.ndim,
    "shape": _flat,
    "nan": lambda right, wrong: bool(np.isnan(wrong).any() and not np.isnan(right).any()),
    "infinite": lambda right, wrong: bool(np.isinf(wrong).any() and not np.isinf(right).any()),
}
"""How right numbers and wrong ones are related, by kind of finding; the first that fits speaks."""


def _number_rule(pairs: Sequence[tuple[obs.Observation, obs.Observation]]) -> str:
    numbers = [(_numbers(right), _numbers(got)) for right, got in pairs]
    known = [(right, got) for right, got in numbers if right is not None and got is not None]
    if len(known) == len(numbers):
        for kind, rule in RULES.items():
            if all(rule(right, got) for right, got in known):
                return kind
    return ""
