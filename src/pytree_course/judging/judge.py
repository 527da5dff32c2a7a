"""Turn outcomes into a verdict; shared by the notebook's check and the grader."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import msgspec

from pytree_course.judging import matching, words
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.judging.findings import find
from pytree_course.judging.predicted_lines import add_wrong_lines
from pytree_course.judging.verdicts import Failure, Verdict, VerdictKind
from pytree_course.observing.comparison import Difference, compare
from pytree_course.observing.observations import NotAttempted, Raised
from pytree_course.running.outcomes import Outcome

MAX_TIMES_LARGER = 3
"""How much larger than the smallest case another one may be that shows a misconception better."""


def judge(expected: ExpectedExercise, outcomes: Sequence[Outcome]) -> Verdict:
    """Compare outcomes with the expected results, and explain a failure.

    Raises
    ------
    ValueError
        If there are more or fewer outcomes than expected results.
    """
    differences = {}
    for case, (right, outcome) in enumerate(zip(expected.observations, outcomes, strict=True)):
        if difference := compare(right, outcome.observation):
            differences[case] = difference
    observed = [outcome.observation for outcome in outcomes]
    if differences and all(isinstance(observation, NotAttempted) for observation in observed):
        return without_outcomes(expected, VerdictKind.NOT_ATTEMPTED, words.NOT_ATTEMPTED)

    cases, passed = len(outcomes), len(outcomes) - len(differences)
    score = words.describe_score(passed, cases, of_lines=bool(expected.lines))
    verdict = Verdict(
        expected.name,
        VerdictKind.INCORRECT if differences else VerdictKind.CORRECT,
        expected.points,
        reason=score,
        passed=passed,
        cases=cases,
        score=score,
        failed=tuple(differences),
        title=expected.title,
    )
    if not differences:
        return verdict
    if expected.lines:
        return add_wrong_lines(verdict, expected, observed)
    return _explain(verdict, expected, outcomes, differences)


def without_outcomes(
    expected: ExpectedExercise, kind: VerdictKind, reason: str, error_type: str | None = None
) -> Verdict:
    """Return the verdict on an answer without outcomes, with the reason and the answer's error."""
    cases = len(expected.observations)
    return Verdict(
        expected.name,
        kind,
        expected.points,
        reason,
        cases=cases,
        error_type=error_type,
        title=expected.title,
    )


def _explain(
    verdict: Verdict,
    expected: ExpectedExercise,
    outcomes: Sequence[Outcome],
    differences: Mapping[int, Difference],
) -> Verdict:
    """Add misconceptions or findings to a verdict, and the failing case to be shown."""
    observed = [outcome.observation for outcome in outcomes]
    misconceptions = matching.find_explaining(expected.misconceptions, observed, differences.keys())
    findings = [] if misconceptions else find(expected, outcomes, verdict.failed)
    best = misconceptions[0] if misconceptions else None
    explained_cases: Collection[int] = verdict.failed
    if best:
        explained_cases = best.observations.keys()
    elif findings:
        explained_cases = findings[0].holds
    case = _choose_case(expected, outcomes, explained_cases, best)
    outcome = outcomes[case]
    failure = Failure(
        case=case,
        inputs=outcome.inputs,
        written=outcome.written,
        expected=expected.observations[case],
        got=outcome.observation,
        difference=differences[case],
        printed=outcome.printed,
        line=outcome.line,
        note=outcome.note,
    )
    if isinstance(failure.got, Raised) and not isinstance(failure.expected, Raised):
        kind, error_type = VerdictKind.ERROR, failure.got.type
        reason = words.ANSWER_RAISED.format(type=error_type)
    else:
        kind, error_type = VerdictKind.INCORRECT, None
        reason = words.describe_failure(verdict.score, failure.difference)
    return replace(
        verdict,
        kind=kind,
        reason=reason,
        error_type=error_type,
        failure=failure,
        misconceptions=misconceptions,
        findings=tuple(findings),
    )


def _choose_case(
    expected: ExpectedExercise,
    outcomes: Sequence[Outcome],
    cases: Collection[int],
    misconception: Misconception | None,
) -> int:
    """Return the case to show: of the small ones, the one that shows the misconception best.

    That is the one with most of the names that the explanation quotes, and then the one with the
    result of fewest other misconceptions.
    """
    sizes = {
        case: len(json.dumps(msgspec.to_builtins(outcomes[case].inputs)))
        for case in _find_typical(expected, outcomes, cases)
    }
    limit = MAX_TIMES_LARGER * min(sizes.values())
    small = [case for case, size in sizes.items() if size <= limit]
    if misconception is None:
        return min(small, key=lambda case: (sizes[case], case))  # the simplest cases come first
    quoted = [_words(quote) for quote in re.findall("`([^`]+)`", misconception.explanation)]

    def rank(case: int) -> tuple[int, ...]:
        given = _words(" ".join(outcomes[case].written))
        named = sum(bool(quote) and quote <= given for quote in quoted)
        wrong = misconception.observations[case]
        same = sum(wrong == other.observations.get(case) for other in expected.misconceptions)
        return -named, same, sizes[case], case

    return min(small, key=rank)


def _find_typical(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], cases: Collection[int]
) -> set[int]:
    """Return the cases in which an answer raises an error if it does in most, else the others.

    Cases that expect an error explain less: they are left out unless all do.
    """
    raising = {case for case in cases if isinstance(outcomes[case].observation, Raised)}
    typical = raising if 2 * len(raising) > len(cases) else set(cases) - raising
    expecting_error = {case for case in typical if isinstance(expected.observations[case], Raised)}
    return typical - expecting_error or typical


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))
