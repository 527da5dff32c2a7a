"""Explain wrongly predicted lines: all of them at once, each with its own reason."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from msgspec import structs

from pytree_course.judging import matching, words
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.judging.verdicts import Finding, Verdict, WrongLine
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare
from pytree_course.observing.words import describe
from pytree_course.texts import truncate

MAX_PREDICTION = 40  # characters
MAX_NUMBER = 10**12
FEWEST = 3  # lines that are off by the same


def explain_lines(
    verdict: Verdict, expected: ExpectedExercise, observed: Sequence[obs.Observation]
) -> Verdict:
    """Add the wrong lines, each with its reason, to the verdict on an exercise with predictions."""
    if all(isinstance(got, obs.String) and got.value == obs.NO_DICT for got in observed):
        data = {"variable": expected.answers[0]}
        return replace(verdict, findings=(Finding("no dict", [*verdict.failed], data),))
    explained = matching.by_line(expected.misconceptions, observed, verdict.failed)
    names = {misconception.name for misconception in explained.values()}
    if len(names) > 1 and _is_one_slip(expected, observed, verdict.failed):
        explained = {}
    return replace(
        verdict,
        misconceptions=tuple({each.name: each for each in explained.values()}.values()),
        lines=tuple(_wrong_lines(expected, observed, verdict.failed, explained)),
    )


def _is_one_slip(
    expected: ExpectedExercise, observed: Sequence[obs.Observation], failed: Sequence[int]
) -> bool:
    """Return whether several wrong lines are all off by the same number, such as one too low.

    That is one slip, and no case for several misconceptions.
    """
    pairs = [(expected.observations[case], observed[case]) for case in failed]
    numbers = [(obs.integer(right), obs.integer(got)) for right, got in pairs]
    offsets = [got - right for right, got in numbers if right is not None and got is not None]
    return len(failed) == len(offsets) >= FEWEST and len(set(offsets)) == 1


def _wrong_lines(
    expected: ExpectedExercise,
    observed: Sequence[obs.Observation],
    failed: Sequence[int],
    explained: dict[int, Misconception],
) -> Iterator[WrongLine]:
    names = list(expected.lines)
    first: dict[str, str] = {}  # by misconception, the line that explains it
    for case in failed:
        name, got = names[case], observed[case]
        line = WrongLine(name, expected.lines[name], _in_words(got), *_reason(expected, case, got))
        if misconception := explained.get(case):
            why, data = "as above", {"line": first.setdefault(misconception.name, name)}
            if data["line"] == name:
                why, data = "belief", {"explanation": misconception.explanation}
            else:
                data["also"] = "".join(
                    f" Or: {each.explanation}"
                    for each in expected.misconceptions
                    if [*each.observations] == [case] and not compare(each.observations[case], got)
                )
            line = structs.replace(line, why=why, data=data, misconception=misconception.name)
        yield line


def _reason(
    expected: ExpectedExercise, case: int, got: obs.Observation
) -> tuple[str, dict[str, str]]:
    """Return a key of `words.WRONG_LINES`, and its data, for a line without misconception."""
    right, number = obs.integer(expected.observations[case]), obs.integer(got)
    takes_numbers, texts = _kinds(expected)
    is_text = isinstance(got, obs.String) and got.value in texts
    if isinstance(got, obs.NotAttempted):
        return "not predicted", {}
    if not is_text and (number is None or not takes_numbers):
        kinds = [words.WHOLE_NUMBER] * takes_numbers
        kinds += [words.THE_TEXT.format(word=text) for text in texts]
        neither = f"neither {' nor '.join(kinds)}" if len(kinds) > 1 else f"not {kinds[0]}"
        return "not allowed", {"kinds": neither}
    if right is None or number is None:
        return "not this", {}
    return "too high" if number > right else "too low", {}


def _kinds(expected: ExpectedExercise) -> tuple[bool, list[str]]:
    """Return whether a prediction may be an integer, and which strings it may be."""
    possible = list(expected.observations)
    for misconception in expected.misconceptions:
        possible += misconception.observations.values()
    texts = sorted({each.value for each in possible if isinstance(each, obs.String)})
    return any(isinstance(each, obs.Number) for each in possible), texts


def _in_words(got: obs.Observation) -> str:
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
