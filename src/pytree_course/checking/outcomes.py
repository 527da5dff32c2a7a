"""Run a check's cases on answers: the outcome of a case is what was observed."""

import contextlib
import io
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytree_course.checking.cases import Case, Check
from pytree_course.checking.untrusted import validate
from pytree_course.checking.written import written
from pytree_course.trees import Observation, observe, observe_raised, writable

PUBLIC_SEED = 0
"""The seed of the cases that every learner sees; grading draws another one each time."""

SEED_VARIABLE = "PYTREE_COURSE_SEED"
"""Environment variable that grading sets: checks then only report their outcomes on that seed."""

OUTCOMES_MIME = "application/vnd.pytree-course.outcomes+json"
"""MIME type of the outcomes that a check reports to grading."""

MAX_PRINTED = 2_000  # characters of what an answer prints in one case
MAX_PRINTED_LINES = 10
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


class CaseInterrupted(KeyboardInterrupt):  # it is no error
    """The learner stopped the kernel while the case with these inputs was running."""

    def __init__(self, written: list[str]) -> None:
        super().__init__("interrupted while the check was running")
        self.written = written


def run_check(check: Check, answers: Sequence[Any], seed: int) -> list[Outcome]:
    """Run all cases of a check on what an answer cell defined; return their outcomes in order.

    The same seed gives the same cases, whatever the answers are. An answer that returns `...` or
    raises NotImplementedError is "not attempted".
    """
    return list(outcomes_of(check, answers, seed))


def outcomes_of(check: Check, answers: Sequence[Any], seed: int) -> Iterator[Outcome]:
    """Run the cases of a check, as `run_check` does, but each only when it is asked for."""
    return map(_run_case, check(*answers, rng=np.random.default_rng(seed)))


def _run_case(case: Case) -> Outcome:
    # Observed before the call: an answer may change its inputs.
    inputs = [observe(given) for given in case.inputs]
    inputs_written = [written(given, MAX_WRITTEN) for given in case.inputs]
    printed = io.StringIO()
    line = None
    try:
        with contextlib.redirect_stdout(printed):
            observation = observe(case.call(*case.inputs))
    except KeyboardInterrupt as interrupt:
        raise CaseInterrupted(inputs_written) from interrupt
    except NotImplementedError:
        observation = {"kind": "not attempted"}
    except (Exception, SystemExit) as error:
        observation = observe_raised(error, case.mentions)
        line = _learners_line(error)
    shown = _first_lines(printed.getvalue())
    changed = [observe(given) for given in case.inputs] != inputs
    return Outcome(
        inputs, inputs_written, observation, shown, line, case.note, changed, case.predicted
    )


def _first_lines(printed: str) -> str:
    lines = printed[:MAX_PRINTED].splitlines()
    more = len(printed.splitlines()) - MAX_PRINTED_LINES
    if more > 0:
        return "\n".join([*lines[:MAX_PRINTED_LINES], f"… {more:,} more lines"])
    return "\n".join(lines) + ("…" if len(printed) > MAX_PRINTED else "")


def _learners_line(error: BaseException) -> Line | None:
    """Return the last line of a notebook's cell that an exception passed through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "ipykernel_" in frame.filename:
            return Line(frame.lineno or 0, frame.line or "")
    return None


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
