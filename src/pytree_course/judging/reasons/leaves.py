"""Findings on the wrong leaves of results: one rule that makes all of them from the right ones."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

import numpy as np

from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.evidence import Evidence, finding
from pytree_course.judging.reasons.places import Place, places
from pytree_course.observing.comparison import COARSE_RELATIVE_TOLERANCE, compare
from pytree_course.observing.observations import Array, Node, Number, Observation, Scalar, all_parts

Numbers = np.ndarray


def leaf_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield what is wrong in the same way with all wrong leaves of all wrong results."""
    walked = [list(places(case.expected, case.got)) for case in wrong]
    differing = [place for each in walked for place in each if place.differs]
    if any(isinstance(place.expected, Node) for place in differing):
        return
    whole = all(not place.path for place in differing)
    every = all(place.differs for each in walked for place in each)
    which = which_results(cases, wrong) if whole else "every" if every else "some"
    data = {"which": which}
    subject = "result" if whole else "leaf"
    if not whole and (place := _as_in_input(wrong, walked)) is not None:
        data["argument"] = str(place)
        yield finding("leaf given back", subject, wrong, **data)
    pairs = [(place.expected, place.got) for place in differing]
    if types := _other_type(pairs):
        yield finding("type", subject, wrong, **data, **types)
    elif rule := _number_rule(pairs):
        yield finding(rule, subject, wrong, **data)


def which_results(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Say whether a finding on wrong results speaks of all results."""
    return "all" if len(cases) == len(wrong) else "wrong"


def _as_in_input(wrong: Sequence[Evidence], walked: Sequence[Sequence[Place]]) -> int | None:
    """Return the place of the argument in which every wrong leaf stands at the same path."""
    for at in range(min(len(case.inputs) for case in wrong)):
        inputs = [dict(all_parts(case.inputs[at])) for case in wrong]
        pairs = [
            (given.get(place.path), place.got)
            for given, around in zip(inputs, walked, strict=True)
            for place in around
            if place.differs
        ]
        if all(leaf is not None and not compare(leaf, got) for leaf, got in pairs):
            return at
    return None


def _other_type(pairs: Sequence[tuple[Observation, Observation]]) -> dict[str, str]:
    """Return what two types are called, where numbers are equal and differ only in these."""
    named = set()
    for right, got in pairs:
        one, other = numbers(right), numbers(got)
        if one is None or other is None or not _same(one, other, COARSE_RELATIVE_TOLERANCE):
            return {}
        named.add(tuple(_type_names(right, got)))
    if len(named) != 1 or len(set(*named)) == 1:
        return {}
    ((expected, came),) = named
    return {"expected": expected, "got": came}


def _type_names(right: Observation, got: Observation) -> list[str]:
    if isinstance(right, Array) and isinstance(got, Array):
        libraries = {"jax": "JAX array", "numpy": "NumPy array"}
        both = [right, got]
        names = [libraries.get(each.library, "array") for each in both]
        if names[0] == names[1]:
            return [f"array of {each.dtype}" for each in both]
        if right.dtype == got.dtype:
            return names
        return [f"{name} of {each.dtype}" for name, each in zip(names, both, strict=True)]
    return list(map(_type_name, (right, got)))


def _type_name(observation: Observation) -> str:
    match observation:
        case Array(dtype=dtype):
            return f"array of {dtype}"
        case Number(type=name):
            return f"Python {name}"
    return ""


def numbers(observation: Observation) -> Numbers | None:
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


_RULES: dict[str, Callable[[Numbers, Numbers], bool]] = {
    "axes": lambda right, wrong: (
        right.ndim > 1 and (_same(right.T, wrong) or _same(np.moveaxis(right, 0, -1), wrong))
    ),
    "axis too many": lambda right, wrong: _flat(right, wrong) and wrong.ndim > right.ndim,
    "axis too few": lambda right, wrong: _flat(right, wrong) and wrong.ndim < right.ndim,
    "shape": _flat,
    "nan": lambda right, wrong: bool(np.isnan(wrong).any() and not np.isnan(right).any()),
    "infinite": lambda right, wrong: bool(np.isinf(wrong).any() and not np.isinf(right).any()),
}


def _number_rule(pairs: Sequence[tuple[Observation, Observation]]) -> str:
    found = [(numbers(right), numbers(got)) for right, got in pairs]
    known = [(right, got) for right, got in found if right is not None and got is not None]
    if len(known) == len(found):
        for name, rule in _RULES.items():
            if all(rule(right, got) for right, got in known):
                return name
    return ""
