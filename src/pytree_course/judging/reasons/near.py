"""The one misconception that explains most failing cases, and contradicts no case."""

from collections.abc import Sequence

from pytree_course.judging.expected import Misconception
from pytree_course.judging.findings import Finding
from pytree_course.judging.judge import every_case_raises, rules_out
from pytree_course.judging.reasons.evidence import Evidence

SHARE = 0.75  # of the failing cases, that it explains
FEWEST = 3  # such cases


def near_misconception(
    cases: Sequence[Evidence], misconceptions: Sequence[Misconception]
) -> list[Finding]:
    """Return a finding on the one misconception that is near; where two are equally near, none.

    It yields the same wherever it differs from the right answer, so that its explanation is true
    of these cases; only, the learner's answer fails in others too.
    """
    observed = [case.got for case in cases]
    all_raise = every_case_raises(observed)
    failing = {case.number for case in cases if case.failed}
    near: dict[int, list[Finding]] = {}
    for each in misconceptions:
        wrong, holds = each.observations, [*each.observations]
        is_held = not any(rules_out(wrong[case], observed[case], all_raise) for case in wrong)
        if (
            is_held
            and len(wrong) >= max(FEWEST, SHARE * len(failing))
            and failing.issuperset(wrong)
        ):
            data = {"misconception": each.name, "explanation": each.explanation}
            others = sorted(failing.difference(holds))
            near.setdefault(len(holds), []).append(Finding("near", "result", holds, others, data))
    best = near[max(near)] if near else []
    return best if len(best) == 1 else []
