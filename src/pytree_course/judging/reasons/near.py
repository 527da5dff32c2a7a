"""The misconception that yields the same in nearly all failing cases, and fails in few others."""

from collections.abc import Sequence

from pytree_course.judging.expected import Misconception
from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.evidence import Evidence
from pytree_course.observing.comparison import compare, skeleton
from pytree_course.observing.observations import Observation, Raised

SHARE = 0.75  # of the cases that either fails, in which both yield the same
FEWEST = 3  # such cases


def near_misconception(
    cases: Sequence[Evidence], misconceptions: Sequence[Misconception]
) -> list[Finding]:
    """Return a finding on the one misconception that is near; where two are equally near, none."""
    failing = {case.number for case in cases if case.failed}
    near: dict[float, list[Finding]] = {}
    for each in misconceptions:
        alike = [n for n, seen in each.observations.items() if _are_alike(seen, cases[n])]
        alike = [number for number in alike if number in failing]
        share = len(alike) / len(failing | each.observations.keys())
        if share >= SHARE and len(alike) >= FEWEST:
            data = {"misconception": each.name, "explanation": each.explanation}
            others = sorted(failing.difference(alike))
            near.setdefault(share, []).append(Finding("near", "result", alike, others, data))
    best = near[max(near)] if near else []
    return best if len(best) == 1 else []


def _are_alike(wrong: Observation, case: Evidence) -> bool:
    if isinstance(wrong, Raised) and isinstance(case.got, Raised):
        return wrong.message == skeleton(case.got.message)
    return not compare(wrong, case.got)
