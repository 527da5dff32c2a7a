"""The sentences around verdicts: in a notebook, in a gradebook, without what is secret there."""

from dataclasses import replace

import pytest

from pytree_course.judging import words
from pytree_course.judging.expected import Misconception
from pytree_course.judging.verdicts import Finding, Verdict, VerdictKind, WrongLine
from pytree_course.observing.comparison import Difference

WRONG = Verdict(
    "count", VerdictKind.INCORRECT, 2, "1 of 3: expected 2", score="1 of 3", title="Count"
)
HELD = Misconception("none", "You count `None`.", "", {})
HIGH, ALSO_HIGH = (WrongLine(name, "", "", "too high", {}) for name in "AB")
BELIEF = WrongLine("C", "", "", "belief", {"explanation": "It is no leaf."}, "none")
ABOVE = WrongLine("D", "", "", "as above", {"line": "C", "also": ""}, "none")
ERROR = Finding("error", [0], {"raised": "KeyError", "meaning": "no", "number": "2", "line": "x"})


@pytest.mark.parametrize(
    ("changes", "explained"),
    [
        ({}, "1 of 3: expected 2."),
        ({"reason": "did you rename it?"}, "Did you rename it?"),
        ({"findings": (ERROR,), "misconceptions": (HELD,)}, "You count `None`."),
        ({"findings": (ERROR,)}, "Line 2, `x`, raises KeyError: no."),
        ({"findings": (Finding("error", []),)}, "Using your result raises : ."),  # damaged
        ({"findings": (Finding("a kind that is gone", []),)}, "1 of 3: expected 2."),
        ({"lines": (HIGH, BELIEF, ALSO_HIGH)}, "Lines A, B: Too high. Line C: It is no leaf."),
        ({"lines": (BELIEF, ABOVE), "misconceptions": (HELD,)}, "Lines C, D: It is no leaf."),
        ({"lines": (WrongLine("A", "", "", "gone", {}),)}, "Line A: "),
        (
            {"reason": "no module", "error_type": "ModuleNotFoundError"},
            f"No module. {words.MISSING_IN_GRADING['ModuleNotFoundError']}",
        ),
    ],
)
def test_a_gradebook_says_why_in_a_sentence_or_two(changes, explained):
    verdict = replace(WRONG, **changes)
    assert words.explain_verdict(verdict) == explained
    assert words.explain_verdict(replace(verdict, note=verdict.reason)) == explained
    noted = words.explain_verdict(replace(verdict, note="the cell is raw"))
    assert noted == f"{explained} Note: the cell is raw."


def test_a_student_is_not_told_what_was_expected():
    assert words.reason_sentence(WRONG, reveal=False) == "1 of 3."
    timed_out = replace(WRONG, kind=VerdictKind.TIMED_OUT, reason="it took too long")
    assert words.reason_sentence(timed_out, reveal=False) == "It took too long."


@pytest.mark.parametrize(
    ("kind", "points", "line"),
    [
        (VerdictKind.CORRECT, 1, "Count · 1 point · it is"),
        (VerdictKind.CORRECT, 0, "Count · practice · it is"),
        (VerdictKind.INCORRECT, 2, "Count · 1 of 3"),
        (VerdictKind.NOT_ATTEMPTED, 2, "Count · 2 points"),
        (VerdictKind.CRASHED, 2, "Count · it is"),
    ],
)
def test_a_headline_says_how_it_went(kind, points, line):
    verdict = replace(WRONG, kind=kind, exercise_points=points, reason="it is")
    assert words.headline(verdict) == line


@pytest.mark.parametrize(
    ("kind", "hints", "is_due", "said"),
    [
        (VerdictKind.NOT_ATTEMPTED, 0, True, [words.WRITE_ANSWER, words.FIRST_HINT]),
        (VerdictKind.INCORRECT, 1, True, [words.NEXT_HINT]),
        (VerdictKind.INCORRECT, 0, True, [words.SEE_SOLUTION]),
        (VerdictKind.ERROR, 0, False, [words.HINTS_AGAIN]),
    ],
)
def test_the_next_step_is_advised(kind, hints, is_due, said):
    advised = words.advice(kind, "count", hints, is_due)
    assert advised == [sentence.format(name="count") for sentence in said]


def test_a_score_counts_cases_or_lines():
    assert words.describe_score(3, 3, of_lines=False) == "all 3 cases passed"
    assert words.describe_score(2, 3, of_lines=True) == "2 of 3 lines right"
    difference = Difference(("['a']", "[1]"), "value", 3, 4)
    assert words.describe_failure("1 of 3", difference) == "1 of 3: at ['a'][1], expected 3, not 4"
    at_root = Difference((), "text", "a", "b")
    assert words.describe_failure("1 of 3", at_root) == "1 of 3: expected 'a', not 'b'"
