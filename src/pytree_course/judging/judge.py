"""Turn outcomes into a verdict; shared by the notebook's check and the grader."""

from collections.abc import Sequence
from dataclasses import replace

from pytree_course.judging import matching, words
from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.findings import find
from pytree_course.judging.predicted_lines import explain_lines
from pytree_course.judging.shown_case import failure_to_show
from pytree_course.judging.verdicts import Finding, Verdict, VerdictKind
from pytree_course.observing.comparison import Difference, compare
from pytree_course.observing.observations import NotAttempted, Raised
from pytree_course.running.outcomes import Outcome


def judge(expected: ExpectedExercise, outcomes: Sequence[Outcome]) -> Verdict:
    """Compare outcomes with what is expected, and explain a failure.

    Raises
    ------
    ValueError
        If there are not as many outcomes as are expected.
    """
    differences = {}
    for case, (right, outcome) in enumerate(zip(expected.observations, outcomes, strict=True)):
        if difference := compare(right, outcome.observation):
            differences[case] = difference
    if differences and all(isinstance(each.observation, NotAttempted) for each in outcomes):
        return without_outcomes(expected, VerdictKind.NOT_ATTEMPTED, words.NOT_ATTEMPTED)

    cases, passed = len(outcomes), len(outcomes) - len(differences)
    verdict = Verdict(
        expected.name,
        VerdictKind.INCORRECT if differences else VerdictKind.CORRECT,
        expected.points,
        words.score(passed, cases, lines=bool(expected.lines)),
        passed,
        cases,
        failed=tuple(differences),
    )
    if differences and expected.lines:
        verdict = explain_lines(verdict, expected, [each.observation for each in outcomes])
    elif differences:
        verdict = _explain(verdict, expected, outcomes, differences)
    return verdict


def without_outcomes(expected: ExpectedExercise, kind: VerdictKind, reason: str) -> Verdict:
    """Return the verdict of an exercise that yielded no outcomes, with the reason why."""
    return Verdict(expected.name, kind, expected.points, reason, cases=len(expected.observations))


def _explain(
    verdict: Verdict,
    expected: ExpectedExercise,
    outcomes: Sequence[Outcome],
    differences: dict[int, Difference],
) -> Verdict:
    """Add misconceptions or findings to a verdict, and the failing case to be shown."""
    observed = [outcome.observation for outcome in outcomes]
    held = matching.held_by(observed, expected.misconceptions)
    misconceptions = matching.explaining(held, observed, differences.keys())
    findings: list[Finding] = []
    if not misconceptions:
        findings = find(expected, outcomes, held, differences.keys())
    speaks_of: Sequence[int] = findings[0].holds if findings else [*differences]
    if misconceptions:
        speaks_of = [*misconceptions[0].observations]
    failure = failure_to_show(expected, outcomes, differences, speaks_of)
    kind, reason = verdict.kind, words.some_passed(verdict.reason, failure.difference)
    if isinstance(failure.got, Raised) and not isinstance(failure.expected, Raised):
        kind, reason = VerdictKind.ERROR, words.RAISED.format(type=failure.got.type)
    return replace(
        verdict,
        kind=kind,
        reason=reason,
        failure=failure,
        misconceptions=misconceptions,
        findings=tuple(findings),
    )
