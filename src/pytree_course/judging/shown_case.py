"""Choose the failing case that a verdict shows."""

import json
from collections.abc import Mapping, Sequence

import msgspec

from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.verdicts import Failure
from pytree_course.observing.comparison import Difference
from pytree_course.observing.observations import Raised
from pytree_course.running.outcomes import Outcome


def failure_to_show(
    expected: ExpectedExercise,
    outcomes: Sequence[Outcome],
    differences: Mapping[int, Difference],
    cases: Sequence[int],
) -> Failure:
    """Return the smallest of the cases that did what most of them did: results, or errors.

    Cases that expect an error explain less, and come last. min keeps the first of equals, and
    check scripts put the simplest cases first.
    """
    raised = [case for case in cases if isinstance(outcomes[case].observation, Raised)]
    mostly = raised if 2 * len(raised) > len(cases) else set(cases).difference(raised)
    telling = {case for case in mostly if not isinstance(expected.observations[case], Raised)}
    inputs = {case: json.dumps(msgspec.to_builtins(outcomes[case].inputs)) for case in mostly}
    case = min(sorted(telling or mostly), key=lambda case: len(inputs[case]))
    outcome = outcomes[case]
    return Failure(
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
