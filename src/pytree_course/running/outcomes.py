"""Outcomes: a check's report on each case, and the limits within which grading accepts it."""

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from pytree_course.observing.observations import Observation, is_writable
from pytree_course.observing.reading import read_json

PUBLIC_SEED = 0
"""The seed of the cases that every learner sees; each gradebook draws others."""

SEED_BITS = 32

SEED_VARIABLE = "PYTREE_COURSE_SEED"
"""Environment variable set by grading: checks then only report their outcomes on this seed."""

CHECKS_VARIABLE = "_pytree_course_checks"
"""The variable of a kernel that holds a lesson's checks: a name that no answer rebinds."""

OUTCOMES_MIME = "application/vnd.pytree-course.outcomes+json"
"""MIME type of the outcomes that a check reports to grading."""

MAX_PRINTED = 2_000  # characters that an answer prints in one case
MAX_SHOWN = MAX_PRINTED + 50  # characters of it, with the count of the lines left out
MAX_WRITTEN = 200  # characters of an input as Python writes it
MAX_INPUTS = 50  # of one case
MAX_OUTCOMES = 1_000  # of one check
MAX_LINE = 1_000  # characters of a line of code
MAX_LINES = 1_000_000  # of an answer cell

Shown = Annotated[str, Meta(max_length=MAX_SHOWN)]


class Line(Struct, frozen=True):
    """A line of the learner's code: its number within the cell, from 1, and its text."""

    number: Annotated[int, Meta(ge=0, le=MAX_LINES)]
    text: Annotated[str, Meta(max_length=MAX_LINE)]


class Outcome(Struct, frozen=True):
    """The result of one case; its strings are writable."""

    inputs: Annotated[tuple[Observation, ...], Meta(max_length=MAX_INPUTS)]  # before the call
    written: tuple[Annotated[str, Meta(max_length=MAX_WRITTEN)], ...]  # the inputs, shortened
    observation: Observation  # of the call's result or exception
    printed: Shown = ""
    line: Line | None = None  # the learner's line that raised
    note: Shown = ""
    predicted: Shown = ""  # the line's name, if this is a prediction

    def __post_init__(self) -> None:
        texts = (*self.written, self.printed, self.note, self.predicted)
        if not all(map(is_writable, texts)) or (self.line and not is_writable(self.line.text)):
            raise ValueError("a string with unwritable characters")
        if len(self.inputs) != len(self.written):
            raise ValueError("not every input is written")


def report(outcomes: list[Outcome]) -> str:
    """Return outcomes as JSON text for `read_report`.

    As a string, it passes unparsed through Jupyter's messages, whose JSON libraries are slower.
    """
    return msgspec.json.encode(outcomes).decode()


def read_report(text: object) -> list[Outcome]:
    """Read a check's report from untrusted JSON text, or raise ValueError."""
    if not isinstance(text, str):
        raise ValueError("a report that is not a string")
    kind = Annotated[list[Outcome], Meta(max_length=MAX_OUTCOMES)]
    outcomes: list[Outcome] = read_json(kind, text)
    return outcomes
