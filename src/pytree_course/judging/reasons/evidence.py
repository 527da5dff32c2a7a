"""What is known of each case when a reason is looked for."""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.findings import Finding
from pytree_course.observing.observations import Observation, Raised
from pytree_course.running.outcomes import Line, Outcome


@dataclass(frozen=True)
class Evidence:
    """One case: what it has, what was expected, and what came."""

    number: int
    features: frozenset[str]  # from the author's run
    summary: dict[str, str] | None  # what wrong entries mean; None where the result is the answer's
    inputs: Sequence[Observation]
    expected: Observation
    got: Observation
    failed: bool
    line: Line | None

    @property
    def raised(self) -> bool:
        """Whether the call raised."""
        return isinstance(self.got, Raised)

    @property
    def should_raise(self) -> bool:
        """Whether the call should raise."""
        return isinstance(self.expected, Raised)


def evidence(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: Container[int]
) -> list[Evidence]:
    """Return what is known of each case."""
    features = expected.features or [[] for _ in outcomes]
    summaries = expected.summaries or [None for _ in outcomes]
    return [
        Evidence(
            number=number,
            features=frozenset(features[number]),
            summary=summaries[number],
            inputs=outcome.inputs,
            expected=expected.observations[number],
            got=outcome.observation,
            failed=number in failed,
            line=outcome.line,
        )
        for number, outcome in enumerate(outcomes)
    ]


def finding(kind: str, subject: str, failing: Sequence[Evidence], **data: str) -> Finding:
    """Make a finding that is true of all cases that fail."""
    return Finding(kind, subject, [case.number for case in failing], [], data)
