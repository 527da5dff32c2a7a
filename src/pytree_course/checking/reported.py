"""Outcomes as they are reported: what each case yielded, read from untrusted JSON in grading."""

from dataclasses import dataclass
from typing import Any

from pytree_course.checking.untrusted import validate
from pytree_course.observations import Observation, writable

PUBLIC_SEED = 0
"""The seed of the cases that every learner sees; grading draws another one each time."""

SEED_VARIABLE = "PYTREE_COURSE_SEED"
"""Environment variable that grading sets: checks then only report their outcomes on that seed."""

NO_DICT = "not a dict"
"""What every case yields where predictions are asked for, and are no dict."""

OUTCOMES_MIME = "application/vnd.pytree-course.outcomes+json"
"""MIME type of the outcomes that a check reports to grading."""

MAX_PRINTED = 2_000  # characters of what an answer prints in one case
MAX_WRITTEN = 200  # characters of an input as Python writes it
MAX_INPUTS = 50  # of one case
MAX_OUTCOMES = 1_000  # of one check
MAX_LINE = 1_000  # characters of a line of code
MAX_LINES = 1_000_000  # of an answer cell


@dataclass(frozen=True)
class Line:
    """A line of the learner's code: its number within the cell, from 1, and its text."""

    number: int
    text: str


@dataclass(frozen=True)
class Outcome:
    """What one case yielded."""

    inputs: list[Observation]  # before the call
    written: list[str]  # the inputs as Python writes them, shortened
    observation: Observation  # of what the call returned or raised
    printed: str = ""
    line: Line | None = None  # the learner's line that raised
    note: str = ""
    changed: bool = False  # whether the call changed its inputs
    predicted: str = ""  # the name of the line, where this is a prediction

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` reads; the observations are not copied."""
        line = None if self.line is None else vars(self.line)
        return {**vars(self), "line": line}

    @classmethod
    def from_json(cls, data: Any) -> "Outcome":
        """Read an outcome from untrusted JSON; a ValueError says that it is none."""
        try:
            inputs, written = data["inputs"], data["written"]
            if not (isinstance(inputs, list) and len(inputs) == len(written) <= MAX_INPUTS):
                raise ValueError("not the inputs of an outcome")
            return cls(
                inputs=[validate(observation) for observation in inputs],
                written=[_text(text, MAX_WRITTEN) for text in written],
                observation=validate(data["observation"]),
                printed=_text(data["printed"], MAX_PRINTED),
                line=_line(data["line"]),
                note=_text(data["note"], MAX_PRINTED),
                changed=data["changed"] is True,
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError("not the outcome of a case") from error


def _text(data: Any, most: int) -> str:
    if not isinstance(data, str):
        raise ValueError("not a text of an outcome")
    return writable(data, most)


def _line(data: Any) -> Line | None:
    if data is None:
        return None
    number, text = data["number"], data["text"]
    if type(number) is not int or not 0 <= number <= MAX_LINES:
        raise ValueError("not the line of an outcome")
    return Line(number, _text(text, MAX_LINE))
