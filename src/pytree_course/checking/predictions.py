"""Cases of the exercises that ask what lines of code do: one for each line, one for all of them."""

import operator
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from pytree_course.checking.cases import Case

MOST_SHOWN = 30  # characters of a prediction
MOST_NUMBER = 10**9  # Python refuses to write very long numbers
NO_WORDS: Mapping[str, int] = {}


def prediction_cases(
    predictions: Any,
    notes: Mapping[str, str],
    right: Callable[[str], int | str],
    rng: np.random.Generator,
    *,
    words: Mapping[str, int] = NO_WORDS,
    too_large: str = "",
    too_small: str = "",
    wrong_word: str = "",
    variable: str = "predictions",
    weights_below: int = 100,
) -> Iterator[Case]:
    """Judge the prediction for each line in words, so that feedback gives no right answer away.

    "right" is the same for everyone. The last case yields a weighted sum of all predictions, which
    comes up only when all of them are right.

    Parameters
    ----------
    predictions
        The learner's: a dict of line to prediction. `...` stands for a line not attempted.
    notes
        What the learner is told of each line, without a full stop.
    right
        Returns the right prediction of a line.
    words
        Texts that a prediction can be, and the number of each in the weighted sum.
    too_large, too_small
        What to say of a wrong number. Without these, no prediction is a number.
    wrong_word
        What to say where the prediction is a word and should not be, or the other way round.
    variable
        What the learner's dict is called.
    weights_below
        The weights of the sum are drawn from 1 up to this number.
    """
    kinds = (["a whole number"] if too_large else []) + [f'the text "{word}"' for word in words]
    neither = f"neither {' nor '.join(kinds)}" if len(kinds) > 1 else f"not {kinds[0]}"

    def read(name: str) -> Any:
        prediction = predictions[name]
        if isinstance(prediction, str):
            word = prediction.strip().lower()
            return word if word in words else None
        try:
            return operator.index(prediction) if too_large else None
        except TypeError:
            return None

    def judge(name: str) -> Any:
        if not isinstance(predictions, dict):
            return f"{variable} is not a dict"
        if predictions.get(name, ...) is ...:
            return ...
        predicted, wanted = read(name), right(name)
        if predicted is None:
            return neither
        if predicted == wanted:
            return "right"
        if isinstance(predicted, str) or isinstance(wanted, str):
            return wrong_word
        return too_large if predicted > wanted else too_small

    def total(weights: list[int]) -> Any:
        verdicts = [judge(name) for name in notes]
        if any(verdict != "right" for verdict in verdicts):
            return ... if all(verdict is ... for verdict in verdicts) else "not all lines are right"
        values = [read(name) for name in notes]
        numbers = [words.get(value, value) for value in values]
        return sum(weight * number for weight, number in zip(weights, numbers, strict=True))

    for name, note in notes.items():
        yield Case(partial(judge, name), note=f"{note}{_said(predictions, name)}.")
    yield Case(partial(total, rng.integers(1, weights_below, len(notes)).tolist()))


def _said(predictions: Any, name: str) -> str:
    """Write a prediction, where it is surely harmless to print."""
    value = predictions.get(name, ...) if isinstance(predictions, dict) else ...
    if isinstance(value, np.integer):
        value = value.item()
    if type(value) not in (bool, int, float, str, type(None)):
        return ""
    if type(value) is int and abs(value) > MOST_NUMBER:
        return "; you said a very large number"
    text = repr(value)
    return f"; you said {text if len(text) < MOST_SHOWN else 'something long'}"
