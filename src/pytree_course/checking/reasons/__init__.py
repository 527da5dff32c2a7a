"""General reasons for a wrong answer, where no misconception explains it."""

from collections.abc import Container, Sequence

from pytree_course.checking.expected import ExpectedExercise
from pytree_course.checking.reasons.differences import difference_reason, one_difference
from pytree_course.checking.reasons.errors import error_reason
from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.checking.reasons.last_resort import last_reason, where_wrong
from pytree_course.checking.reasons.nearest import nearest_misconception
from pytree_course.checking.reasons.spectrum import spectrum_reason
from pytree_course.checking.reported import Outcome

MOST = 2
"""Sentences: more are not read."""

MUCH_LIKE = "Most of your results fit this mistake, so look whether you made it: {}"


def general_reasons(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: Container[int]
) -> tuple[str, ...]:
    """Return what can be said of an answer that fails in some cases, in two sentences at most.

    They speak of kinds, features and counts, and never of what was expected in a case: what
    grading draws afresh stays secret.
    """
    features = expected.features or [[] for _ in outcomes]
    cases = [
        Evidence(
            number=number,
            features=frozenset(features[number]),
            inputs=outcome.inputs,
            expected=expected.observations[number],
            got=outcome.observation,
            failed=number in failed,
            changed=outcome.changed,
            line=outcome.line,
        )
        for number, outcome in enumerate(outcomes)
    ]
    difference, error = difference_reason(cases), error_reason(cases)
    errors = sum(case.failed and case.raised for case in cases)
    is_mostly_errors = 2 * errors >= sum(case.failed for case in cases)
    found = [error, difference] if is_mostly_errors else [difference, error]
    said = [reason for reason in found if reason]
    said += filter(None, [spectrum_reason(cases, is_alone=not said)])
    if not said and (nearest := nearest_misconception(cases, expected.misconceptions)):
        return (MUCH_LIKE.format(nearest.explanation),)
    if not difference and len(said) < MOST and not is_mostly_errors:
        said.insert(0, one_difference(cases) or last_reason(cases))
    if len(said) < MOST and not error:
        said += filter(None, [where_wrong(cases, " ".join(said))])
    return tuple(said[:MOST])
