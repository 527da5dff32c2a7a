"""From outcomes to a verdict: the decision, made the same way in a notebook and in grading."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from pytree_course.checking.comparison import Difference, compare
from pytree_course.checking.expected import ExpectedExercise, Misconception
from pytree_course.checking.outcomes import Line, Outcome
from pytree_course.trees import Observation


class VerdictKind(StrEnum):
    """How an exercise ended."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_ATTEMPTED = "not attempted"
    ERROR = "error"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Failure:
    """The smallest case that failed.

    Attributes
    ----------
    case
        Its number, from 0.
    inputs, written
        The case's inputs, observed and as Python writes them.
    difference
        Where what came out first parts from what is expected.
    """

    case: int
    inputs: list[Observation]
    written: list[str]
    expected: Observation
    got: Observation
    difference: Difference
    printed: str
    line: Line | None
    note: str


@dataclass(frozen=True)
class Verdict:
    """The judgement of one exercise.

    Attributes
    ----------
    exercise
        The exercise's name.
    points
        Points earned, all or none, of `exercise_points`.
    passed, cases
        How many cases passed, of how many.
    reason
        One sentence for a table.
    """

    exercise: str
    kind: VerdictKind
    points: int
    exercise_points: int
    reason: str
    passed: int = 0
    cases: int = 0
    failure: Failure | None = None
    misconceptions: tuple[Misconception, ...] = ()


def judge(expected: ExpectedExercise, outcomes: Sequence[Outcome]) -> Verdict:
    """Compare what came out of every case with what is expected.

    Parameters
    ----------
    expected
        The right answer's observations, on the same cases as `outcomes`.
    outcomes
        What came out, one for each case.

    Raises
    ------
    ValueError
        When there are not as many outcomes as cases.
    """
    if len(outcomes) != len(expected.observations):
        raise ValueError(f"{len(outcomes)} outcomes for {len(expected.observations)} cases")
    failures = []
    for case, (wanted, outcome) in enumerate(zip(expected.observations, outcomes, strict=True)):
        if difference := compare(wanted, outcome.observation):
            failures.append((case, outcome, difference))
    passed, cases = len(outcomes) - len(failures), len(outcomes)
    if not failures:
        reason = f"all {cases} cases passed"
        return _verdict(expected, VerdictKind.CORRECT, reason, passed=passed, cases=cases)
    if all(outcome.observation["kind"] == "not attempted" for _, outcome, _ in failures) and (
        passed == 0
    ):
        return _verdict(expected, VerdictKind.NOT_ATTEMPTED, "not attempted yet", cases=cases)

    # min keeps the first of equals, and check scripts put the simplest cases first.
    case, outcome, difference = min(failures, key=lambda failed: _size(failed[1].inputs))
    wanted = expected.observations[case]
    raised = outcome.observation["kind"] == "raised" and wanted["kind"] != "raised"
    reason = f"{passed} of {cases} cases passed: {_clause(difference)}"
    if raised:
        reason = f"your code raised {outcome.observation['type']}"
    failure = Failure(
        case=case,
        inputs=outcome.inputs,
        written=outcome.written,
        expected=wanted,
        got=outcome.observation,
        difference=difference,
        printed=outcome.printed,
        line=outcome.line,
        note=outcome.note,
    )
    kind = VerdictKind.ERROR if raised else VerdictKind.INCORRECT
    return _verdict(
        expected,
        kind,
        reason,
        passed=passed,
        cases=cases,
        failure=failure,
        misconceptions=find_misconceptions(expected, outcomes),
    )


def without_outcomes(expected: ExpectedExercise, kind: VerdictKind, reason: str) -> Verdict:
    """Return the verdict of an exercise that yielded no outcomes, with the reason why."""
    return _verdict(expected, kind, reason, cases=len(expected.observations))


def find_misconceptions(
    expected: ExpectedExercise, outcomes: Sequence[Outcome]
) -> tuple[Misconception, ...]:
    """Return the misconceptions that explain every case that failed, or none.

    A misconception is held when its wrong answer yields the same in all the cases in which it
    differs from the right answer. One that explains all failures is returned alone; failing that,
    all that are held, if together they leave no failure unexplained.
    """
    failed = {
        case
        for case, (right, outcome) in enumerate(zip(expected.observations, outcomes, strict=True))
        if compare(right, outcome.observation)
    }
    held = tuple(
        misconception
        for misconception in expected.misconceptions
        if all(
            not compare(observation, outcomes[case].observation)
            for case, observation in misconception.observations.items()
        )
    )
    for misconception in held:
        if misconception.observations.keys() == failed:
            return (misconception,)
    explained = {case for misconception in held for case in misconception.observations}
    return held if explained == failed else ()


def _verdict(
    expected: ExpectedExercise,
    kind: VerdictKind,
    reason: str,
    *,
    passed: int = 0,
    cases: int = 0,
    failure: Failure | None = None,
    misconceptions: tuple[Misconception, ...] = (),
) -> Verdict:
    return Verdict(
        exercise=expected.name,
        kind=kind,
        points=expected.points if kind is VerdictKind.CORRECT else 0,
        exercise_points=expected.points,
        reason=reason,
        passed=passed,
        cases=cases,
        failure=failure,
        misconceptions=misconceptions,
    )


def _size(inputs: list[Observation]) -> int:
    return len(json.dumps(inputs))


def _clause(difference: Difference) -> str:
    where = f"at {''.join(difference.path)}, " if difference.path else ""
    return where + difference.reason
