"""How one cell ran, by the messages that its kernel sent meanwhile."""

import errno
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytree_course.observing.observations import Raised, writable
from pytree_course.running.outcomes import OUTCOMES_MIME, Outcome, read_report

READ_MESSAGES = ("error", "display_data", "execute_result")
"""The types of the messages that `CellRun.take` reads."""

OF_THE_MACHINE = "of the machine"
"""What a sandbox used too much of if its use could not be measured."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_SHORTAGES = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.ENOSPC)
_RAN_SHORT = re.compile(
    rf"\[Errno ({'|'.join(map(str, _SHORTAGES))})\]|out of pty devices|can't start new thread"
)
_LONGEST_NAME = 200
_LONGEST_MESSAGE = 2_000


@dataclass
class CellRun:
    """How one cell ran."""

    outcomes: list[Outcome] | None = None  # of a check cell that sent one valid report
    reports: int = 0
    error: tuple[str, str] | None = None  # type and message of the exception that ended it
    timed_out: bool = False
    flooded: bool = False  # it sent more than is received
    has_bulk: bool = False  # it sent a message too long to be read
    died: bool = False  # its kernel ended, or sent what is no message
    used_up: str = ""  # what the kernel's processes used too much of, so that it was ended
    seconds: float = 0.0

    @property
    def is_silent(self) -> bool:
        """Whether nothing came of it: its kernel ended, or had no memory left to report."""
        reported = self.outcomes is not None or self.error is not None or self.has_bulk
        return not (reported or self.is_over)

    @property
    def is_over(self) -> bool:
        """Whether it used up its budget; its kernel was ended then."""
        return self.timed_out or self.flooded

    @property
    def is_out_of_memory(self) -> bool:
        """Whether it met a MemoryError: its kernel may be unfit for the cells after it."""
        return any(kind == "MemoryError" for kind, _ in self._errors())

    @property
    def ran_short(self) -> bool:
        """Whether it met an error for lack of some resource of the machine."""
        return any(_RAN_SHORT.search(message) for _, message in self._errors())

    def _errors(self) -> Iterator[tuple[str, str]]:
        """Yield type and message of each exception that was reported."""
        if self.error is not None:
            yield self.error
        for outcome in self.outcomes or ():
            if isinstance(outcome.observation, Raised):
                yield outcome.observation.type, outcome.observation.message

    def take(self, kind: str, content: dict[str, Any]) -> None:
        """Take what grading needs from a message of the cell."""
        if kind == "error":
            name, message = (str(content[entry]) for entry in ("ename", "evalue"))
            message = _ANSI.sub("", message[: 2 * _LONGEST_MESSAGE])
            self.error = writable(name, _LONGEST_NAME), writable(message, _LONGEST_MESSAGE)
        elif OUTCOMES_MIME in content["data"]:
            # A check reports once. Where something else reports too, neither is believed.
            self.reports += 1
            is_first = self.reports == 1
            self.outcomes = _outcomes(content["data"][OUTCOMES_MIME]) if is_first else None


def _outcomes(data: Any) -> list[Outcome] | None:
    """Read a check's report; return None if it is forged: the data is untrusted."""
    try:
        return read_report(data)
    except ValueError:
        return None
