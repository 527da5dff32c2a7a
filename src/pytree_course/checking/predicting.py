"""Judge predicted lines: every wrong one at once, each with its own reason."""

from collections.abc import Collection, Iterator, Sequence

from pytree_course.checking import words
from pytree_course.checking.comparison import compare
from pytree_course.checking.expected import ExpectedExercise, Misconception
from pytree_course.checking.reported import NO_DICT, Outcome
from pytree_course.checking.verdicts import Verdict, VerdictKind, WrongLine
from pytree_course.observations import Observation
from pytree_course.texts import truncate

LONGEST_PREDICTION = 40  # characters
LARGEST_NUMBER = 10**12


def judge_lines(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: tuple[int, ...]
) -> Verdict:
    """Judge an exercise that asks for predictions, in which the lines `failed` are wrong."""
    got = [outcome.observation for outcome in outcomes]
    cases, passed = len(got), len(got) - len(failed)
    explained = _explained(expected, got, failed)
    reasons: tuple[str, ...] = ()
    lines: tuple[WrongLine, ...] = ()
    if all(each.get("value") == NO_DICT for each in got):
        reasons = (words.NO_DICT.format(variable=expected.answers[0]),)
    else:
        lines = tuple(_wrong_lines(expected, got, failed, explained))
    return Verdict(
        expected.name,
        VerdictKind.INCORRECT,
        expected.points,
        words.SOME_LINES.format(passed=passed, cases=cases),
        passed,
        cases,
        misconceptions=tuple({each.name: each for each in explained.values()}.values()),
        reasons=reasons,
        lines=lines,
        failed=failed,
    )


def _explained(
    expected: ExpectedExercise, got: Sequence[Observation], failed: Collection[int]
) -> dict[int, Misconception]:
    """Return for each wrong line the misconception that predicts the same for it, if any does.

    Of several, one that says the same for most of its lines comes first, the more lines the better:
    it is the simplest belief that explains them. Then comes the one that is about fewest lines.
    """
    alike = {
        each.name: [
            case
            for case, wrong in each.observations.items()
            if case in failed and not compare(wrong, got[case])
        ]
        for each in expected.misconceptions
    }

    def rank(misconception: Misconception) -> tuple[int, int]:
        lines, same = len(misconception.observations), len(alike[misconception.name])
        return -same if 2 * same > lines else 0, lines

    ranked = sorted(expected.misconceptions, key=rank)
    return {
        case: next(each for each in ranked if case in alike[each.name])
        for case in failed
        if any(case in cases for cases in alike.values())
    }


def _wrong_lines(
    expected: ExpectedExercise,
    got: Sequence[Observation],
    failed: Sequence[int],
    explained: dict[int, Misconception],
) -> Iterator[WrongLine]:
    names = list(expected.lines)
    first: dict[str, str] = {}  # the line that a misconception was explained at
    for case in failed:
        name, text = names[case], expected.lines[names[case]]
        misconception = explained.get(case)
        belief = "" if misconception is None else misconception.name
        if misconception is None:
            wrong = _what_is_wrong(expected, case, got[case])
        elif first.setdefault(belief, name) == name:
            wrong = misconception.explanation
        else:
            wrong = words.AS_ABOVE.format(name=first[belief])
        yield WrongLine(name, text, _said(got[case]), wrong, belief)


def _what_is_wrong(expected: ExpectedExercise, case: int, got: Observation) -> str:
    if got["kind"] == "not attempted":
        return words.NOT_PREDICTED
    number, texts = _allowed(expected)
    # Untrusted: what it calls an int may hold anything.
    is_number = got["kind"] == "number" and type(got["value"]) is int and got["type"] == "int"
    is_text = got["kind"] == "string" and got["value"] in texts
    if not (is_text or (is_number and number)):
        kinds = [words.WHOLE_NUMBER] * number
        kinds += [words.THE_TEXT.format(word=word) for word in texts]
        said = f"neither {' nor '.join(kinds)}" if len(kinds) > 1 else f"not {kinds[0]}"
        return words.NOT_ALLOWED.format(kinds=said)
    right = expected.observations[case]
    if is_number and right["kind"] == "number":
        return words.TOO_HIGH if got["value"] > right["value"] else words.TOO_LOW
    return words.NOT_THIS


def _allowed(expected: ExpectedExercise) -> tuple[bool, list[str]]:
    """Say whether a prediction may be a whole number, and which texts it may be."""
    seen = list(expected.observations)
    seen += [wrong for each in expected.misconceptions for wrong in each.observations.values()]
    texts = sorted({each["value"] for each in seen if each["kind"] == "string"})
    return any(each["kind"] == "number" for each in seen), texts


def _said(got: Observation) -> str:
    match got["kind"]:
        case "not attempted":
            return ""
        case "number" if type(got["value"]) is int and abs(got["value"]) > LARGEST_NUMBER:
            said = "a very large number"
        case "number":
            said = str(got["value"])
        case "string":
            said = repr(got["value"])
        case _:
            said = words.describe(got)
    return truncate(said, LONGEST_PREDICTION)
