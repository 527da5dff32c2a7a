"""Findings on the wrong leaves of results: one rule that makes all of them from the right ones."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

import numpy as np

from pytree_course.judging.evidence import Evidence, Place, finding, places
from pytree_course.judging.verdicts import Finding
from pytree_course.observing.comparison import COARSE_RELATIVE_TOLERANCE, compare
from pytree_course.observing.observations import Array, Node, Number, Observation, Scalar, all_parts

Numbers = np.ndarray


def leaf_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield the mistakes that all wrong leaves of all wrong results have in common."""
    walked = [list(places(case.expected, case.got)) for case in wrong]
    differing = [[place for place in leaves if place.differs] for leaves in walked]
    wrong_leaves = [place for leaves in differing for place in leaves]
    # Nodes may also differ in their metadata alone.
    if not all(differing) or any(isinstance(place.expected, Node) for place in wrong_leaves):
        return
    which = "every" if differing == walked else "some"
    is_whole = not any(place.path for place in wrong_leaves)
    if is_whole:
        which = which_results(cases, wrong)
    elif (index := _argument_with(wrong, differing)) is not None:
        yield finding("leaf given back", wrong, which=which, argument=str(index))
    pairs = [(place.expected, place.got) for place in wrong_leaves]
    if types := _other_type(pairs):
        yield finding("type", wrong, which=which, **types)
    elif rule := _number_rule(pairs):
        yield finding(rule, wrong, which=which)


def which_results(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return whether a finding on wrong results speaks of all results."""
    return "all" if len(cases) == len(wrong) else "wrong"


def _argument_with(wrong: Sequence[Evidence], differing: Sequence[Sequence[Place]]) -> int | None:
    """Return the index of the argument that has every wrong leaf at the same path."""
    for index in range(min(len(case.inputs) for case in wrong)):
        inputs = [dict(all_parts(case.inputs[index])) for case in wrong]
        pairs = [
            (given.get(place.path), place.got)
            for given, leaves in zip(inputs, differing, strict=True)
            for place in leaves
        ]
        if all(leaf is not None and not compare(leaf, got) for leaf, got in pairs):
            return index
    return None


def _other_type(pairs: Sequence[tuple[Observation, Observation]]) -> dict[str, str]:
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


def _type_names(right: Observation, got: Observation) -> list[str]:
    if not (isinstance(right, Array) and isinstance(got, Array)):
        return [_type_name(right), _type_name(got)]
    libraries = {"jax": "JAX array", "numpy": "NumPy array"}
    names = [libraries.get(array.library, "array") for array in (right, got)]
    if names[0] == names[1]:
        return [_type_name(right), _type_name(got)]
    if right.dtype == got.dtype:
        return names
    return [f"{name} of {array.dtype}" for name, array in zip(names, (right, got), strict=True)]


def _type_name(observation: Observation) -> str:
    match observation:
        case Array(dtype=dtype):
            return f"array of {dtype}"
        case Number(type=name):
            return f"Python {name}"
    return ""


def _numbers(observation: Observation) -> Numbers | None:
    """Return the numbers of an array or a number in its shape, or None where there are none."""
    values: Sequence[Scalar]
    match observation:
        case Number(value=value):
            values, shape = [value], ()
        case Array(values=values, shape=shape):
            pass
        case _:
            return None
    plain = [float(value) for value in values if _is_plain(value)]
    if not len(plain) == len(values) == math.prod(shape):
        return None
    return np.array(plain, np.float64).reshape(shape)


def _is_plain(value: Scalar) -> TypeGuard[bool | int | float | str]:
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


def _number_rule(pairs: Sequence[tuple[Observation, Observation]]) -> str:
    numbers = [(_numbers(right), _numbers(got)) for right, got in pairs]
    known = [(right, got) for right, got in numbers if right is not None and got is not None]
    if len(known) == len(numbers):
        for kind, rule in RULES.items():
            if all(rule(right, got) for right, got in known):
                return kind
    return ""
