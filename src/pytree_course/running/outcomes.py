"""Outcomes: what a check reports of each case, and how grading reads such a report."""

from dataclasses import dataclass
from typing import Annotated, Any

from pytree_course.observing.observations import Observation
from pytree_course.observing.untrusted import read_as

PUBLIC_SEED = 0
"""The seed of the cases that every learner sees; grading draws another one each time."""

SEED_VARIABLE = "PYTREE_COURSE_SEED"
"""Environment variable that grading sets: checks then only report their outcomes on that seed."""

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

    number: Annotated[int, MAX_LINES]
    text: Annotated[str, MAX_LINE]


@dataclass(frozen=True)
class Outcome:
    """What one case yielded."""

    inputs: Annotated[list[Observation], MAX_INPUTS]  # before the call
    written: list[Annotated[str, MAX_WRITTEN]]  # the inputs as Python writes them, shortened
    observation: Observation  # of what the call returned or raised
    printed: Annotated[str, MAX_PRINTED] = ""
    line: Line | None = None  # the learner's line that raised
    note: Annotated[str, MAX_PRINTED] = ""
    predicted: Annotated[str, MAX_PRINTED] = ""  # the line's name, where this is a prediction

    def to_json(self) -> dict[str, Any]:
        """Return what `from_json` reads; the observations are not copied."""
        line = None if self.line is None else vars(self.line)
        return {**vars(self), "line": line}

    @classmethod
    def from_json(cls, data: object) -> "Outcome":
        """Read an outcome from untrusted JSON; a ValueError says that it is none."""
        outcome: Outcome = read_as(cls, data)
        if len(outcome.inputs) != len(outcome.written):
            raise ValueError("not the inputs of an outcome")
        return outcome
