"""Exercises that ask for predictions: each line is judged in words, then all together."""

import numpy as np
import pytest

from pytree_course.checking import prediction_cases
from pytree_course.checking.outcomes import run_check

RIGHT = {"A": 2, "B": 0, "C": "error"}
NOTES = {name: f"Line {name}" for name in RIGHT}


def outcomes(predictions, seed=0):
    def check(predictions, rng):
        return prediction_cases(
            predictions,
            NOTES,
            RIGHT.__getitem__,
            rng,
            words={"error": 0},
            too_large="too many",
            too_small="too few",
            wrong_word="not what happens",
        )

    return run_check(check, [predictions], seed)


def said(predictions):
    return [outcome.observation.get("value") for outcome in outcomes(predictions)]


def test_all_right_yields_a_number_that_follows_from_the_predictions_and_the_seed():
    *lines, total = said({"A": np.int64(2), "B": False, "C": " Error "})
    assert lines == ["right"] * 3
    weights = np.random.default_rng(0).integers(1, 100, 3).tolist()
    assert total == 2 * weights[0]
    assert outcomes(RIGHT, seed=1)[-1].observation["value"] != total


@pytest.mark.parametrize(
    ("prediction", "verdict"),
    [
        (3, "too many"),
        (-1, "too few"),
        ("error", "not what happens"),
        (2.0, 'neither a whole number nor the text "error"'),
        ("2", 'neither a whole number nor the text "error"'),
    ],
)
def test_a_wrong_prediction_is_judged_without_the_right_one(prediction, verdict):
    assert said({**RIGHT, "A": prediction}) == [
        verdict,
        "right",
        "right",
        "not all lines are right",
    ]


def test_lines_without_a_prediction_are_not_attempted():
    kinds = [outcome.observation["kind"] for outcome in outcomes({"A": ..., "C": "error"})]
    assert kinds == ["not attempted", "not attempted", "string", "string"]
    assert outcomes({})[-1].observation["kind"] == "not attempted"
    assert said(None) == ["predictions is not a dict"] * 3 + ["not all lines are right"]


@pytest.mark.parametrize(
    ("prediction", "note"),
    [
        (3, "Line A; you said 3."),
        ("two", "Line A; you said 'two'."),
        ("x" * 99, "Line A; you said something long."),
        (10**5000, "Line A; you said a very large number."),
        ([1], "Line A."),
    ],
    ids=["number", "text", "long text", "long number", "list"],
)
def test_a_note_repeats_what_is_harmless_to_print(prediction, note):
    assert outcomes({"A": prediction})[0].note == note
