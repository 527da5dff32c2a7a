"""From outcomes to a verdict: the decision, made the same way in a notebook and in grading."""

import json
from collections.abc import Collection, Sequence

from pytree_course.checking import words
from pytree_course.checking.comparison import compare, skeleton
from pytree_course.checking.expected import ExpectedExercise, Misconception
from pytree_course.checking.predicting import judge_lines
from pytree_course.checking.reported import Outcome
from pytree_course.checking.verdicts import Failure, Verdict, VerdictKind
from pytree_course.observations import Observation


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
    if not passed and all(each.observation["kind"] == "not attempted" for each in outcomes):
        return without_outcomes(expected, VerdictKind.NOT_ATTEMPTED, words.NOT_ATTEMPTED)
    if expected.lines:
        return judge_lines(expected, outcomes, tuple(differences))

    # What most failing cases did is what the feedback speaks of, and what is shown. min keeps the
    # first of equals, and check scripts put the simplest cases first.
    raised = [case for case in differences if outcomes[case].observation["kind"] == "raised"]
    mostly = raised if 2 * len(raised) > len(differences) else differences.keys() - raised
    case = min(sorted(mostly), key=lambda case: len(json.dumps(outcomes[case].inputs)))
    right, outcome, difference = expected.observations[case], outcomes[case], differences[case]
    kind, reason = VerdictKind.INCORRECT, words.some_passed(passed, cases, difference)
    if outcome.observation["kind"] == "raised" and right["kind"] != "raised":
        kind, reason = VerdictKind.ERROR, words.RAISED.format(type=outcome.observation["type"])
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
    misconceptions = _misconceptions(expected, outcomes, differences.keys())
    reasons: tuple[str, ...] = ()
    if not misconceptions:
        # Right answers, and most wrong ones, do without these dozen modules.
        from pytree_course.checking.reasons import general_reasons

        reasons = general_reasons(expected, outcomes, differences.keys())
    failed = tuple(differences)
    return Verdict(
        name, kind, points, reason, passed, cases, failure, misconceptions, reasons, failed=failed
    )


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
    is returned alone; failing that, all that are held, if together they leave none unexplained.
    """
    all_raise = all(outcome.observation["kind"] == "raised" for outcome in outcomes)
    held = tuple(
        misconception
        for misconception in expected.misconceptions
        if not any(
            compare(observation, outcomes[case].observation)
            or (all_raise and not _raised_alike(observation, outcomes[case].observation))
            for case, observation in misconception.observations.items()
        )
    )
    for misconception in held:
        if misconception.observations.keys() == failed:
            return (misconception,)
    explained = {case for misconception in held for case in misconception.observations}
    return held if explained == failed else ()


def _raised_alike(wrong: Observation, got: Observation) -> bool:
    return bool(wrong["type"] == got["type"] and wrong["message"] == skeleton(got["message"]))
