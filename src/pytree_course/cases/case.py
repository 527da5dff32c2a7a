"""Cases, also of predictions, and the loading of check scripts."""

import importlib.util
import operator
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pytree_course.course import CourseError
from pytree_course.observing.observations import NOT_A_DICT

Check = Callable[..., Iterator["Case"]]
"""A generator function: it takes the answers and `rng`, and yields cases."""


class Case:
    """A call of the answer, or of a function that uses it, with the inputs to call it with.

    The learner sees the inputs and the note, which adds what pictures of the inputs do not show.
    The message of an expected exception must contain the strings in `mentions`. If the case is a
    prediction, `predicted` is the name of the line and the note is its text.

    If the check composes the result, such as `{"traces": 3, "kept": False}`, `if_wrong` tells the
    learner what its wrong entries mean, in sentences. The key of a sentence is an entry's name,
    alone or followed by the mistake, which is "too high", "too low" or the wrong value: "traces",
    "traces too high", "kept False". Without a name it is for any entry; "" is for any mistake.
    The narrowest sentence is shown.
    """

    def __init__(
        self,
        call: Callable[..., Any],
        *inputs: Any,
        mentions: tuple[str, ...] = (),
        note: str = "",
        predicted: str = "",
        if_wrong: Mapping[str, str] | None = None,
    ) -> None:
        self.call = call
        self.inputs = inputs
        self.mentions = mentions
        self.note = note
        self.predicted = predicted
        self.if_wrong = dict(if_wrong or {})


def check(function: Check) -> Check:
    """Mark a generator function of a check script as the check of the exercise with its name."""
    function.__dict__["is_check"] = True
    return function


def load_checks(script: Path) -> dict[str, Check]:
    """Run a check script; return its checks by the names of their exercises."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    if spec is None or spec.loader is None or not script.exists():
        raise CourseError(f"{script} is missing: fetch the course again.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[script.stem] = module
    spec.loader.exec_module(module)
    return {name: member for name, member in vars(module).items() if hasattr(member, "is_check")}


def prediction_cases(predictions: Any, lines: Mapping[str, str]) -> Iterator[Case]:
    """Yield a case for each line; only the author's answer holds the right predictions.

    Parameters
    ----------
    predictions
        The learner's predictions by line; `...` if a line is not attempted.
    lines
        The text of each line by its name: code between backticks, or words.
    """
    for name, text in lines.items():
        yield Case(partial(_normalised_prediction, predictions, name), note=text, predicted=name)


def _normalised_prediction(predictions: Any, name: str) -> Any:
    """Return the prediction for a line, normalised: lower case, Python's int."""
    if not isinstance(predictions, dict):
        return NOT_A_DICT
    prediction = predictions.get(name, ...)
    if isinstance(prediction, str):
        return prediction.strip().lower()
    try:
        return operator.index(prediction)  # integers of NumPy and JAX too
    except TypeError:
        return prediction
