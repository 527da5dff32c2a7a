"""Judge predicted lines: every wrong one at once, each with its own reason."""

from collections.abc import Collection, Iterator, Sequence

from pytree_course.judging import words
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.judging.findings import Finding
from pytree_course.judging.verdicts import Verdict, VerdictKind, WrongLine
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import NO_DICT, NotAttempted, Number, Observation, String
from pytree_course.observing.words import describe
from pytree_course.running.outcomes import Outcome
from pytree_course.texts import truncate

LONGEST_PREDICTION = 40  # characters
LARGEST_NUMBER = 10**12
FEWEST = 3  # lines that are off by the same


def judge_lines(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: tuple[int, ...]
) -> Verdict:
    """Judge an exercise that asks for predictions, in which the lines `failed` are wrong."""
    got = [outcome.observation for outcome in outcomes]
    cases, passed = len(got), len(got) - len(failed)
    explained = _explained(expected, got, failed)
    findings: tuple[Finding, ...] = ()
    lines: tuple[WrongLine, ...] = ()
    if all(isinstance(each, String) and each.value == NO_DICT for each in got):
        data = {"variable": expected.answers[0]}
        findings = (Finding("no dict", "argument", [*failed], [], data),)
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
        findings=findings,
        lines=lines,
        failed=failed,
    )


def _explained(
    expected: ExpectedExercise, got: Sequence[Observation], failed: Collection[int]
) -> dict[int, Misconception]:
    """Return for each wrong line the misconception that predicts the same for it, if one does.

    Of several, one comes first that says the same for most of its lines, the more lines the
    better: it is the simplest belief that explains them. Then comes one that is about this line
    alone. Where two fit equally, neither is blamed.
    """
    alike = {
        each.name: {
            case
            for case, wrong in each.observations.items()
            if case in failed and not compare(wrong, got[case])
        }
        for each in expected.misconceptions
    }

    def fit(each: Misconception) -> tuple[int, int]:
        lines, same = len(each.observations), len(alike[each.name])
        return (2 if 1 < lines < 2 * same else 1 if lines == 1 else 0), same

    explained = {}
    for case in failed:
        fitting = [each for each in expected.misconceptions if case in alike[each.name]]
        chosen = [each for each in fitting if fit(each) == max(map(fit, fitting))]
        if len(chosen) == 1:
            explained[case] = chosen[0]
    beliefs = {each.name for each in explained.values()}
    if len(beliefs) > 1 and len(failed) >= FEWEST and _is_one_slip(expected, got, failed):
        return {}  # one slip in all lines, such as one too low, is no case for several beliefs
    return explained


def _is_one_slip(
    expected: ExpectedExercise, got: Sequence[Observation], failed: Collection[int]
) -> bool:
    """Say whether all wrong lines are off by the same."""
    pairs = [(_int(expected.observations[case]), _int(got[case])) for case in failed]
    known = [said - right for right, said in pairs if right is not None and said is not None]
    return len(known) == len(pairs) and len(set(known)) == 1


def _wrong_lines(
    expected: ExpectedExercise,
    got: Sequence[Observation],
    failed: Sequence[int],
    explained: dict[int, Misconception],
) -> Iterator[WrongLine]:
    names = list(expected.lines)
    first: dict[str, str] = {}  # the line that a misconception was explained at
    for case in failed:
        name, text, said = names[case], expected.lines[names[case]], _said(got[case])
        misconception = explained.get(case)
        if misconception is None:
            why, data = _what_is_wrong(expected, case, got[case])
            yield WrongLine(name, text, said, why, data)
            continue
        belief = misconception.name
        if first.setdefault(belief, name) == name:
            why, data = "belief", {"explanation": misconception.explanation}
        else:
            why, data = "as above", {"line": first[belief]}
        yield WrongLine(name, text, said, why, data, belief)


def _what_is_wrong(
    expected: ExpectedExercise, case: int, got: Observation
) -> tuple[str, dict[str, str]]:
    if isinstance(got, NotAttempted):
        return "not predicted", {}
    number, texts = _allowed(expected)
    is_text = isinstance(got, String) and got.value in texts
    if not (is_text or (_int(got) is not None and number)):
        kinds = [words.WHOLE_NUMBER] * number
        kinds += [words.THE_TEXT.format(word=word) for word in texts]
        return "not allowed", {
            "kinds": f"neither {' nor '.join(kinds)}" if len(kinds) > 1 else f"not {kinds[0]}"
        }
    return _way(expected.observations[case], got), {}


def _way(right: Observation, got: Observation) -> str:
    right_number, number = _int(right), _int(got)
    if right_number is None or number is None:
        return "not this"
    return "too high" if number > right_number else "too low"


def _int(observation: Observation) -> int | None:
    """Return the integer that was observed, if it is one: an untrusted "int" may hold anything."""
    if isinstance(observation, Number) and observation.type == "int":
        return observation.value if type(observation.value) is int else None
    return None


def _allowed(expected: ExpectedExercise) -> tuple[bool, list[str]]:
    """Say whether a prediction may be a whole number, and which texts it may be."""
    seen = list(expected.observations)
    seen += [wrong for each in expected.misconceptions for wrong in each.observations.values()]
    texts = sorted({each.value for each in seen if isinstance(each, String)})
    return any(isinstance(each, Number) for each in seen), texts


def _said(got: Observation) -> str:
    match got:
        case NotAttempted():
            return ""
        case Number(value=int(number)) if abs(number) > LARGEST_NUMBER:
            said = "a very large number"
        case Number(value=value):
            said = str(value)
        case String(value=text):
            said = repr(text)
        case _:
            said = describe(got)
    return truncate(said, LONGEST_PREDICTION)
