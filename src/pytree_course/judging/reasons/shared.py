"""What all failing cases have, and no passing case, as pairs of cases show that differ in it."""

from collections.abc import Sequence

from pytree_course.cases.inputs import NOTE
from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.evidence import Evidence, finding

FEWEST_PAIRS = 3  # of cases that differ in the feature alone
FEWEST = 2  # cases that fail

COMPANIONS = {"one child only", "a bare leaf instead of a container", "a tuple", "a list"}
"""Features that come with others: they are never blamed, and a pair of cases may differ in them."""


def shared_feature(cases: Sequence[Evidence]) -> list[Finding]:
    """Return a finding on the one feature that tells the failing cases from the passing ones."""
    failing = [case for case in cases if case.failed]
    passing = [case for case in cases if not case.failed]
    if len(failing) < FEWEST:
        return []
    common = frozenset.intersection(*(case.features for case in failing)) - COMPANIONS
    shared = common.difference(*(case.features for case in passing))
    # A note says what the check does: it is the same for all cases of a kind.
    if len(shared) != 1 or any(feature.startswith(NOTE) for feature in shared):
        return []
    pairs = sum(
        one.features - shared - COMPANIONS == other.features - COMPANIONS
        for one in failing
        for other in passing
    )
    if pairs < FEWEST_PAIRS:
        return []
    return [finding("shared", "argument", failing, feature=next(iter(shared)))]
