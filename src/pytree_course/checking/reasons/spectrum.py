"""Reason by spectrum: what all failing cases have, and no passing case."""

from collections.abc import Sequence

from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.checking.words import ERROR_EXPECTED, UNSORTED
from pytree_course.texts import counted

FEWEST = 2  # failing cases, and passing ones
MANY = 3  # failing cases that it takes to speak of unsorted keys

TOO_COMMON = {
    "a bare leaf instead of a container",
    "inputs whose structures differ",
    UNSORTED,
    "a tuple",
    "a list",
    "one child only",
    "a JAX array",
    "a NumPy array or scalar",
    "a Python number as a leaf",
    "a text as a leaf",
    "a root that is no dict",
    "a leaf that is false for Python (0, an empty text)",
}
"""Features that often stand for something else that the same cases have."""

WEAK = {
    "an array with two axes or more",
    "a dict below the top",
    "a list below the top",
    "a Python number as a leaf",
    ERROR_EXPECTED,
}
"""Features that many cases have, or that are said already: they speak where nothing else does."""


def spectrum_reason(cases: Sequence[Evidence], *, is_alone: bool) -> str:
    """Return a sentence on the one feature that all failing cases have and no passing one has."""
    failing = [case for case in cases if case.failed]
    passing = [case for case in cases if not case.failed]
    feature = _one_feature(failing, passing)
    if not feature or (feature in WEAK and not is_alone):
        return ""
    cases_fail = counted(len(failing), "case", "cases")
    return (
        f"The {cases_fail} that fail have one thing in common, which none of the {len(passing)} "
        f"cases that pass has: {feature}."
    )


def only_here(some: Sequence[Evidence], cases: Sequence[Evidence]) -> str:
    """End a sentence on some of the failing cases with the one feature that only they have."""
    numbers = {case.number for case in some}
    others = [case for case in cases if case.number not in numbers]
    feature = "" if all(not case.failed for case in others) else _one_feature(some, others)
    has_one = feature and feature not in WEAK
    return f". These cases, and no others, have this: {feature}." if has_one else "."


def written_order(cases: Sequence[Evidence]) -> str:
    """End a clause on things in another order, where no dict with unsorted keys goes right."""
    failing = [case for case in cases if case.failed]
    wrong = sum(UNSORTED in case.features for case in failing)
    right = sum(UNSORTED in case.features for case in cases) - wrong
    if right or wrong < MANY or 2 * wrong < len(failing) or len(cases) < 2 * len(failing):
        return ""
    return (
        f", for every dict whose keys were not written in sorted order ({wrong} cases): JAX goes "
        "through a dict in the order of its sorted keys"
    )


def _one_feature(some: Sequence[Evidence], others: Sequence[Evidence]) -> str:
    if len(some) < FEWEST or len(others) < FEWEST:
        return ""
    common = set.intersection(*(set(case.features) for case in some))
    shared = common.difference(*(case.features for case in others)) - TOO_COMMON
    return shared.pop() if len(shared) == 1 else ""
