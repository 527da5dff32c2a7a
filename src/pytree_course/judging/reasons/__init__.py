"""General findings on a wrong answer, where no misconception explains it.

A rule speaks where what it says holds in every case that fails, and in none that passes.
"""

from collections.abc import Container, Sequence

from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.errors import error_findings
from pytree_course.judging.reasons.evidence import evidence
from pytree_course.judging.reasons.near import near_misconception
from pytree_course.judging.reasons.results import result_findings
from pytree_course.judging.reasons.shared import shared_feature
from pytree_course.judging.reasons.summaries import summary_findings
from pytree_course.observing.observations import NotAttempted
from pytree_course.running.outcomes import Outcome

MOST = 2
"""Findings: more are not read."""


def general_findings(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: Container[int]
) -> list[Finding]:
    """Return what can be said of an answer that fails in some cases: mostly one thing, or none."""
    cases = evidence(expected, outcomes, failed)
    failing = [case for case in cases if case.failed]
    if any(isinstance(case.got, NotAttempted) for case in failing):
        return []
    found = near_misconception(cases, expected.misconceptions) or summary_findings(cases)
    if found and found[0].kind == "near":
        return found
    if not found:
        errors = sum(case.raised for case in failing)
        rules = error_findings if 2 * errors > len(failing) else result_findings
        found = rules(cases)[:1]
    return (found + shared_feature(cases))[:MOST]
