"""Cases of the exercises that ask what lines of code do: a case yields one line's prediction."""

import operator
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from pytree_course.checking.cases import Case
from pytree_course.checking.reported import NO_DICT


def prediction_cases(predictions: Any, lines: Mapping[str, str]) -> Iterator[Case]:
    """Yield a case for each line; what is right is known from the author's answer alone.

    Parameters
    ----------
    predictions
        The learner's: a dict of line to prediction. `...` stands for a line not attempted.
    lines
        The text of each line by its name: code between backticks, or words.
    """
    for name, text in lines.items():
        yield Case(partial(_predicted, predictions, name), note=text, predicted=name)


def _predicted(predictions: Any, name: str) -> Any:
    """Return the prediction for a line, in the one form that equal predictions have."""
    if not isinstance(predictions, dict):
        return NO_DICT
    prediction = predictions.get(name, ...)
    if isinstance(prediction, str):
        return prediction.strip().lower()
    try:
        return operator.index(prediction)  # integers of NumPy and JAX too
    except TypeError:
        return prediction
