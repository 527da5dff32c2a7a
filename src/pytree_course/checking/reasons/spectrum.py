"""Reason by spectrum: what all failing cases have, and no passing case."""

from collections.abc import Sequence

from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.drawing.labels import counted

FEWEST = 2  # failing cases, and passing ones

TOO_COMMON = {
    "a bare leaf instead of a container",
    "inputs whose structures differ",
    "keys that are not sorted",
    "a tuple",
    "a list",
    "one child only",
    "a JAX array",
    "a NumPy array or scalar",
    "a Python number as a leaf",
    "a text as a leaf",
    "a root that is no dict",
}
"""Features that often stand for something else that the same cases have."""


def spectrum_reason(cases: Sequence[Evidence]) -> str:
    """Return a sentence on the one feature that all failing cases have and no passing one has."""
    failing = [case for case in cases if case.failed]
    passing = [case for case in cases if not case.failed]
    if len(failing) < FEWEST or len(passing) < FEWEST:
        return ""
    shared = shared_features(failing, passing) - TOO_COMMON
    if len(shared) != 1:
        return ""
    cases_fail = counted(len(failing), "case", "cases")
    return (
        f"The {cases_fail} that fail have one thing in common, and none of the {len(passing)} that "
        f"pass has it: {shared.pop()}."
    )


def shared_features(some: Sequence[Evidence], others: Sequence[Evidence]) -> set[str]:
    """Return the features that all of some cases have, and none of the others."""
    common = set.intersection(*(set(case.features) for case in some))
    return common.difference(*(case.features for case in others))
