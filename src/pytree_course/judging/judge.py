"""From outcomes to a verdict: the decision, made the same way in a notebook and in grading."""

import json
from collections.abc import Collection, Sequence

import msgspec

from pytree_course.judging import words
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.judging.findings import Finding
from pytree_course.judging.predicted_lines import judge_lines
from pytree_course.judging.verdicts import Failure, Verdict, VerdictKind
from pytree_course.observing.comparison import compare, skeleton
from pytree_course.observing.observations import NotAttempted, Observation, Raised
from pytree_course.running.outcomes import Outcome


def judge(expected: ExpectedExercise, outcomes: Sequence[Outcome]) -> Verdict:
    """Compare the outcomes with what is expected; a ValueError says that some are missing."""
    cases = len(expected.observations)
    differences = {}
    for case, (right, outcome) in enumerate(zip(expected.observations, outcomes, strict=True)):
        if difference := compare(right, outcome.observation):
            differences[case] = difference
    name, points, passed = expected.name, expected.points, cases - len(differences)
    if not differences:
        reason = (words.ALL_LINES if expected.lines else words.ALL_PASSED).format(cases=cases)
        return Verdict(name, VerdictKind.CORRECT, points, reason, passed, cases)
    if not passed and all(isinstance(each.observation, NotAttempted) for each in outcomes):
        return without_outcomes(expected, VerdictKind.NOT_ATTEMPTED, words.NOT_ATTEMPTED)
    if expected.lines:
        return judge_lines(expected, outcomes, tuple(differences))

    misconceptions = _misconceptions(expected, outcomes, differences.keys())
    findings: Sequence[Finding] = ()
    if not misconceptions:
        # Right answers, and most wrong ones, do without these modules.
        from pytree_course.judging.reasons import general_findings

        findings = general_findings(expected, outcomes, differences.keys())
    speaks_of = [*misconceptions[0].observations] if misconceptions else [*differences]
    if findings:
        speaks_of = findings[0].holds
    case = _shown(outcomes, speaks_of)
    right, outcome, difference = expected.observations[case], outcomes[case], differences[case]
    kind, reason = VerdictKind.INCORRECT, words.some_passed(passed, cases, difference)
    if isinstance(outcome.observation, Raised) and not isinstance(right, Raised):
        kind, reason = VerdictKind.ERROR, words.RAISED.format(type=outcome.observation.type)
    failure = Failure(
        case=case,
        inputs=outcome.inputs,
        written=outcome.written,
        expected=right,
        got=outcome.observation,
        difference=difference,
        printed=outcome.printed,
        line=outcome.line,
        note=outcome.note,
    )
    return Verdict(
        name,
        kind,
        points,
        reason,
        passed,
        cases,
        failure,
        misconceptions,
        tuple(findings),
        failed=tuple(differences),
    )


def _shown(outcomes: Sequence[Outcome], cases: Sequence[int]) -> int:
    """Return the smallest of the cases that did what most of them did: results, or errors.

    min keeps the first of equals, and check scripts put the simplest cases first.
    """
    raised = [case for case in cases if isinstance(outcomes[case].observation, Raised)]
    mostly = raised if 2 * len(raised) > len(cases) else set(cases).difference(raised)
    return min(sorted(mostly), key=lambda case: _size(outcomes[case]))


def _size(outcome: Outcome) -> int:
    return len(json.dumps(msgspec.to_builtins(outcome.inputs)))


def without_outcomes(expected: ExpectedExercise, kind: VerdictKind, reason: str) -> Verdict:
    """Return the verdict of an exercise that yielded no outcomes, with the reason why."""
    return Verdict(expected.name, kind, expected.points, reason, cases=len(expected.observations))


def _misconceptions(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: Collection[int]
) -> tuple[Misconception, ...]:
    """Return the misconceptions that explain every case that failed, or none.

    A misconception is held when its wrong answer yields the same in all the cases in which it
    differs from the right answer. Where every case raises, the messages have to be alike too: an
    error that comes before all else is the same for many mistakes. One that explains all failures
    is returned alone, and none where two do. Failing that, as few of those held as leave no case
    unexplained: one that is about a single case, or about errors only, is the last to be taken.
    """
    all_raise = every_case_raises([outcome.observation for outcome in outcomes])
    held = [
        misconception
        for misconception in expected.misconceptions
        if misconception.observations
        and not any(
            rules_out(observation, outcomes[case].observation, all_raise)
            for case, observation in misconception.observations.items()
        )
    ]
    exact = [each for each in held if each.observations.keys() == failed]
    if len(exact) > 1:  # one that raises any exception fits where another has the very type
        closest = [each for each in exact if _has_the_types(each, outcomes)]
        return tuple(closest) if len(closest) == 1 else ()
    if exact:
        return tuple(exact)
    chosen: list[Misconception] = []
    left = set(failed)
    for each in sorted(held, key=lambda each: (_is_weak(each), -len(each.observations))):
        if left & each.observations.keys():
            chosen.append(each)
            left -= each.observations.keys()
    return () if left else tuple(chosen)


def every_case_raises(observed: Sequence[Observation]) -> bool:
    """Say whether every case raises, so that messages have to be alike too."""
    return all(isinstance(observation, Raised) for observation in observed)


def rules_out(wrong: Observation, got: Observation, all_raise: bool) -> bool:
    """Say whether a result rules a misconception out that yields `wrong` in the same case."""
    return compare(wrong, got) is not None or (all_raise and not _raised_alike(wrong, got))


def _is_weak(misconception: Misconception) -> bool:
    seen = misconception.observations.values()
    return len(seen) == 1 or all(isinstance(each, Raised) for each in seen)


def _has_the_types(misconception: Misconception, outcomes: Sequence[Outcome]) -> bool:
    """Say whether a misconception raises what was raised, and no more general type."""
    pairs = [
        (wrong, outcomes[case].observation) for case, wrong in misconception.observations.items()
    ]
    return all(
        not isinstance(wrong, Raised) or (isinstance(got, Raised) and wrong.type == got.type)
        for wrong, got in pairs
    )


def _raised_alike(wrong: Observation, got: Observation) -> bool:
    if isinstance(wrong, Raised) and isinstance(got, Raised):
        return wrong.type == got.type and wrong.message == skeleton(got.message)
    return False
