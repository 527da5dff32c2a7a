"""Run a check's cases on answers, and record the outcome of each."""

import contextlib
import io
import traceback
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from reprlib import recursive_repr
from typing import Any

import numpy as np

from pytree_course.cases.case import Case, Check
from pytree_course.jax_configuration import defined_settings
from pytree_course.observing.observations import NotAttempted, Observation, make_writable
from pytree_course.observing.observe import observe, observe_raised
from pytree_course.running import outcomes
from pytree_course.running.outcomes import Line, Outcome
from pytree_course.texts import truncate

MAX_PRINTED_LINES = 10


class CaseInterrupted(KeyboardInterrupt):  # not an Exception, which code might catch
    """The learner stopped the kernel while the case with these inputs was running."""

    def __init__(self, written: Sequence[str]) -> None:
        super().__init__("interrupted while the check was running")
        self.written = written


def run_check(check: Check, answers: Sequence[Any], seed: int) -> list[Outcome]:
    """Run all cases of a check on the answers of a cell; return their outcomes in order.

    The same seed gives the same cases, whatever the answers are. An answer that returns `...` or
    raises NotImplementedError is "not attempted".
    """
    return [outcome for _, outcome in run_cases(check, answers, seed)]


def run_cases(check: Check, answers: Sequence[Any], seed: int) -> Iterator[tuple[Case, Outcome]]:
    """Run a check as `run_check` does; yield each case with its outcome."""
    with defined_settings():
        for case in check(*answers, rng=np.random.default_rng(seed)):
            yield case, run_case(case)


def run_case(case: Case) -> Outcome:
    """Run one case; record its inputs, its result, the output, and the learner's line that raised.

    Raises
    ------
    CaseInterrupted
        When the learner stops the kernel.
    """
    # Observed before the call: an answer may change its inputs.
    inputs = tuple([observe(value) for value in case.inputs])
    limit = outcomes.MAX_WRITTEN
    written = tuple(
        [make_writable(truncate(stable_repr(value), limit), limit) for value in case.inputs]
    )
    printed = io.StringIO()
    line = None
    try:
        with contextlib.redirect_stdout(printed):
            observation: Observation = observe(case.call(*case.inputs))
    except KeyboardInterrupt as interrupt:
        raise CaseInterrupted(written) from interrupt
    except NotImplementedError:
        observation = NotAttempted()
    except BaseException as error:  # SystemExit comes from the answer, too
        observation = observe_raised(error, case.mentions)
        line = _find_learners_line(error)
    shown = make_writable(_first_lines(printed.getvalue()), outcomes.MAX_SHOWN)
    return Outcome(inputs, written, observation, shown, line, case.note, case.predicted)


def _first_lines(printed: str) -> str:
    lines = printed[: outcomes.MAX_PRINTED].splitlines()
    more = len(printed.splitlines()) - MAX_PRINTED_LINES
    if more > 0:
        return "\n".join([*lines[:MAX_PRINTED_LINES], f"… {more:,} more lines"])
    return "\n".join(lines) + ("…" if len(printed) > outcomes.MAX_PRINTED else "")


def _find_learners_line(error: BaseException) -> Line | None:
    """Return the last line of a notebook's cell that an exception passed through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "ipykernel_" in frame.filename:
            text = make_writable(frame.line or "", outcomes.MAX_LINE)
            return Line(min(frame.lineno or 0, outcomes.MAX_LINES), text)
    return None


@recursive_repr()
def stable_repr(value: Any) -> str:
    """Return `repr(value)` in the form of Python 3.12 and later, on earlier versions too."""
    kind = type(value)  # exactly: a subclass has its own `__repr__`
    if kind is OrderedDict:
        return f"OrderedDict({stable_repr(dict(value))})"
    if kind is dict:
        return f"{{{', '.join(f'{key!r}: {stable_repr(item)}' for key, item in value.items())}}}"
    if kind is list:
        return f"[{', '.join(map(stable_repr, value))}]"
    if kind is tuple:
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(stable_repr, value))}{comma})"
    return repr(value)
