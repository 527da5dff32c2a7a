"""How a cell ran, by the messages of its kernel."""

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from pytree_course.observing.observations import Raised, make_writable
from pytree_course.running.outcomes import OUTCOMES_MIME, Outcome, read_report

READ_MESSAGES = ("error", "display_data", "execute_result")
"""The types of the messages that `CellRun.record_message` reads."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_SHORTAGES = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.ENOSPC)
_RAN_SHORT = re.compile(
    rf"\[Errno ({'|'.join(map(str, _SHORTAGES))})\]|out of pty devices|can't start new thread"
)
_MAX_NAME = 200
_MAX_MESSAGE = 2_000


class CellEnd(Enum):
    """How a cell ended; all but the first end its kernel too."""

    FINISHED = auto()  # it may have raised an exception
    TIMED_OUT = auto()
    WAITED = auto()  # it timed out, and spent most of the time without computing
    NO_TIME_LEFT = auto()  # of its submission, so it did not run, or not to its end
    FLOODED = auto()  # it sent more than is received
    OVER_MEMORY = auto()  # all processes of its kernel together used more than they may
    OVER_PROCESSES = auto()
    KERNEL_ENDED = auto()  # or sent what is no message, or the kernel had ended before


@dataclass
class CellRun:
    """How one cell ran."""

    end: CellEnd = CellEnd.FINISHED
    error: tuple[str, str] | None = None  # type and message of the exception that ended it
    outcomes: list[Outcome] | None = None  # of a check cell that sent one valid report
    reports: int = 0
    has_long_message: bool = False  # it sent a message too long to be read
    seconds: float = 0.0

    @property
    def has_result(self) -> bool:
        """Whether a check had any result: if not, its kernel may have had no memory to report."""
        return self.outcomes is not None or self.error is not None or self.has_long_message

    @property
    def has_memory_error(self) -> bool:
        """Whether it met a MemoryError: its kernel may be unfit for the cells after it."""
        return any(kind == "MemoryError" for kind, _ in self._errors())

    @property
    def is_fit(self) -> bool:
        """Whether its kernel may run more cells."""
        return self.end is CellEnd.FINISHED and not self.has_memory_error

    @property
    def has_resource_error(self) -> bool:
        """Whether it met an error for lack of some resource of the machine."""
        return any(_RAN_SHORT.search(message) for _, message in self._errors())

    def _errors(self) -> Iterator[tuple[str, str]]:
        """Yield type and message of each exception that was reported."""
        if self.error is not None:
            yield self.error
        for outcome in self.outcomes or ():
            if isinstance(outcome.observation, Raised):
                yield outcome.observation.type, outcome.observation.message

    def record_message(self, kind: str, content: dict[str, Any]) -> None:
        """Record the parts of a cell's message that grading needs."""
        if kind == "error":
            name, message = (str(content[entry]) for entry in ("ename", "evalue"))
            message = _ANSI.sub("", message[: 2 * _MAX_MESSAGE])
            self.error = make_writable(name, _MAX_NAME), make_writable(message, _MAX_MESSAGE)
        elif OUTCOMES_MIME in content["data"]:
            # A check reports once. Where something else reports too, neither is believed.
            self.reports += 1
            try:
                report = content["data"][OUTCOMES_MIME]
                self.outcomes = read_report(report) if self.reports == 1 else None
            except ValueError:  # it is forged
                self.outcomes = None
