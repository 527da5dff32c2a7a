"""Explain wrongly predicted lines: all of them at once, each with its own reason."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytree_course.judging import matching, words
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.judging.verdicts import Finding, Verdict, WrongLine
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare
from pytree_course.observing.words import describe
from pytree_course.texts import truncate

MAX_PREDICTION = 40  # characters
MAX_NUMBER = 10**12


def add_wrong_lines(
    verdict: Verdict, expected: ExpectedExercise, observed: Sequence[obs.Observation]
) -> Verdict:
    """Add the wrong lines, each with its reason, to the verdict on an exercise with predictions."""
    if all(isinstance(got, obs.String) and got.value == obs.NOT_A_DICT for got in observed):
        data = {"variable": expected.answers[0]}
        return replace(verdict, findings=(Finding("no dict", [*verdict.failed], data),))
    explained = matching.match_lines(expected.misconceptions, observed, verdict.failed)
    misconceptions = {misconception.name: misconception for misconception in explained.values()}
    lines = _wrong_lines(expected, observed, verdict.failed, explained)
    return replace(
        verdict,
        misconceptions=tuple(misconceptions.values()),
        lines=tuple(words.explained_line(line, expected.explanations) for line in lines),
    )


def _wrong_lines(
    expected: ExpectedExercise,
    observed: Sequence[obs.Observation],
    failed: Sequence[int],
    explained: dict[int, Misconception],
) -> Iterator[WrongLine]:
    names = list(expected.lines)
    first_lines: dict[str, str] = {}  # by misconception, the line that explains it
    for case in failed:
        name, got = names[case], observed[case]
        misconception = explained.get(case)
        if misconception is None:
            belief = ""
            why, data = _reason(expected, case, got)
        else:
            belief = misconception.name
            first_line = first_lines.setdefault(belief, name)
            if first_line == name:
                why, data = "belief", {}
            else:
                others = " ".join(_other_beliefs(expected, case, got))
                why, data = "as above", {"line": first_line, "others": others}
        yield WrongLine(name, expected.lines[name], _prediction_text(got), why, data, belief)


def _other_beliefs(expected: ExpectedExercise, case: int, got: obs.Observation) -> list[str]:
    """Return the names of misconceptions that concern only this line and predict this."""
    return [
        misconception.name
        for misconception in expected.misconceptions
        if [*misconception.observations] == [case]
        and not compare(misconception.observations[case], got)
    ]


def _reason(
    expected: ExpectedExercise, case: int, got: obs.Observation
) -> tuple[str, dict[str, str]]:
    """Return a key of `words.WRONG_LINES`, and its data, if no misconception explains a line."""
    if isinstance(got, obs.NotAttempted):
        return "not predicted", {}
    right, number = obs.integer(expected.observations[case]), obs.integer(got)
    takes_numbers, strings = _allowed_kinds(expected)
    is_allowed_string = isinstance(got, obs.String) and got.value in strings
    is_allowed_number = takes_numbers and number is not None
    if not is_allowed_string and not is_allowed_number:
        kinds = [words.THE_TEXT.format(word=string) for string in strings]
        if takes_numbers:
            kinds.insert(0, words.WHOLE_NUMBER)
        neither = f"neither {' nor '.join(kinds)}" if len(kinds) > 1 else f"not {kinds[0]}"
        return "not allowed", {"kinds": neither}
    if right is None or number is None:
        return "not this", {}
    return "too high" if number > right else "too low", {}


def _allowed_kinds(expected: ExpectedExercise) -> tuple[bool, list[str]]:
    """Return whether a prediction may be an integer, and which strings it may be."""
    possible = list(expected.observations)
    for misconception in expected.misconceptions:
        possible += misconception.observations.values()
    takes_numbers = any(isinstance(prediction, obs.Number) for prediction in possible)
    strings = {prediction.value for prediction in possible if isinstance(prediction, obs.String)}
    return takes_numbers, sorted(strings)


def _prediction_text(got: obs.Observation) -> str:
    """Write a prediction, shortened; "" if there is none."""
    match got:
        case obs.NotAttempted():
            text = ""
        case obs.Number(value=int(number)) if abs(number) > MAX_NUMBER:
            text = "a very large number"
        case obs.Number(value=value):
            text = str(value)
        case obs.String(value=value):
            text = repr(value)
        case _:
            text = describe(got)
    return truncate(text, MAX_PREDICTION)
