"""Exercises that ask for predictions: all wrong lines are named, and no right answer is told."""

from pathlib import Path

import numpy as np
import pytest

from pytree_course.cases import prediction_cases
from pytree_course.judging.feedback import feedback
from pytree_course.judging.judge import judge
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.judging.words import explain_line, explain_verdict, finding_sentences, headline
from pytree_course.running.run_cases import run_check
from tests.judging.test_findings import expected_of
from tests.stored import assert_as_stored

RIGHT = {"A": 2, "B": 0, "C": "error", "D": 77}
LINES = {"A": "`[1, None, 2]`", "B": "the second", "C": "`{1: 2}`", "D": "the fourth"}
NEITHER = 'This is neither a whole number nor the text "error".'
BELIEFS = [
    ("none_is_a_leaf", "none_is_a_leaf explained.", RIGHT | {"A": 3}),
    ("one_more", "one_more explained.", RIGHT | {"A": 3, "B": 1, "D": 78}),
    ("only_d", "only_d explained.", RIGHT | {"D": 78}),
    ("all_keys_work", "all_keys_work explained.", RIGHT | {"C": 1}),
]


def check(predictions, rng):
    return prediction_cases(predictions, LINES)


def outcomes(predictions):
    return run_check(check, [predictions], seed=0)


def expected():
    facts = {"name": "predict", "answers": ["guesses"], "functions": False}
    lines = {outcome.predicted: outcome.note for outcome in outcomes(RIGHT)}
    return expected_of(check, RIGHT, BELIEFS, lines=lines, **facts)


def judged(predictions):
    return judge(expected(), outcomes(predictions))


def wrong(**changes):
    """Return by line what is said to be wrong with it."""
    return {line.name: explain_line(line) for line in judged(RIGHT | changes).lines}


def test_right_predictions_are_correct_and_none_at_all_are_not_attempted():
    verdict = judged({"A": np.int64(2), "B": False, "C": " Error ", "D": 77})
    assert (verdict.kind, verdict.reason) == (VerdictKind.CORRECT, "all 4 lines right")
    for nothing in ({}, dict.fromkeys("ABCD", ...)):
        assert judged(nothing).kind is VerdictKind.NOT_ATTEMPTED


@pytest.mark.parametrize("no_dict", [None, [2, 0, "error", 77], print])
def test_what_is_no_dict_is_said_once(no_dict):
    verdict = judged(no_dict)
    assert (verdict.kind, verdict.lines) == (VerdictKind.INCORRECT, ())
    assert finding_sentences(verdict.findings)[0].startswith("`guesses` should be a dict")
    assert headline(verdict) == "Exercise predict · 0 of 4 lines right"
    assert explain_verdict(verdict) == finding_sentences(verdict.findings)[0]


@pytest.mark.parametrize(
    ("line", "prediction", "reason"),
    [
        ("A", 9, "Too high."),
        ("A", -1, "Too low."),
        ("A", "error", "This is not right."),
        ("A", 2.0, NEITHER),
        ("A", "2", NEITHER),
        ("A", np.ones(2), NEITHER),
        ("A", ..., "Not predicted yet."),
    ],
)
def test_a_wrong_prediction_without_a_misconception_has_a_reason(line, prediction, reason):
    assert wrong(**{line: prediction}) == {line: reason}


def test_where_no_number_is_asked_for_a_number_is_not_allowed():
    lines = {"A": "`[1]`", "B": "`[]`"}

    def asks_for_words(predictions, rng):
        return prediction_cases(predictions, lines)

    right = {"A": "list", "B": "error"}
    wanted = expected_of(asks_for_words, right, lines=lines, functions=False)
    [wrong] = judge(wanted, run_check(asks_for_words, [right | {"A": 1}], seed=0)).lines
    assert explain_line(wrong) == 'This is neither the text "error" nor the text "list".'


ALSO_A = "The reason is the same as for line A."
ALSO_A_OR_D = f"{ALSO_A} Or: only_d explained."  # a belief about this line alone


@pytest.mark.parametrize(
    ("predicted", "said"),
    [
        ({"A": 3}, {"A": "none_is_a_leaf explained."}),
        (
            {"A": 3, "C": 1},
            {"A": "none_is_a_leaf explained.", "C": "all_keys_work explained."},
        ),
        # One that explains more lines, or most of its own, comes first and is explained once.
        ({"A": 3, "B": 1, "D": 78}, {"A": "one_more explained.", "B": ALSO_A, "D": ALSO_A_OR_D}),
        ({"A": 3, "B": 1}, {"A": "one_more explained.", "B": ALSO_A}),
        ({"B": 1}, {"B": "one_more explained."}),  # better than nothing
        ({"D": 78}, {"D": "only_d explained."}),
    ],
)
def test_a_wrong_line_is_explained_by_the_belief_that_says_the_same(predicted, said):
    assert wrong(**predicted) == said


def test_all_wrong_lines_are_named():
    verdict = judged(RIGHT | {"A": 3, "B": 5, "C": 1})
    assert [line.name for line in verdict.lines] == ["A", "B", "C"]
    assert [each.name for each in verdict.misconceptions] == ["none_is_a_leaf", "all_keys_work"]
    assert (verdict.failed, headline(verdict)) == (
        (0, 1, 2),
        "Exercise predict · 1 of 4 lines right",
    )


def test_feedback_shows_the_lines_and_nothing_of_what_is_right():
    shown = feedback(judged(RIGHT | {"A": 3, "C": 1, "D": 5}))
    for form in (
        shown.html,
        shown.text,
        explain_verdict(judged(RIGHT | {"D": 5})),
    ):
        assert "77" not in form
        assert "xpected" not in form
        assert "error" not in form
    for ending, form in (("html", shown.html), ("txt", shown.text)):
        assert_as_stored(Path(__file__).parent / "feedback" / f"lines.{ending}", form)


def test_what_a_learner_predicts_is_only_text():
    shown = feedback(judged(RIGHT | {"A": "<script>" + "x" * 999}))
    assert "<script>" not in shown.html
    assert len(shown.text) < 600
    assert feedback(judged(RIGHT | {"A": 10**1000})).text.count("very large") == 1
