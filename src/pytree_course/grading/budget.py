"""The budget that the cells of an exercise share: time, messages and bytes; and the clocks."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pytree_course.grading import limits
from pytree_course.grading.cell_run import CellEnd

_COUNTING_SECONDS = 0.25  # at least, between two looks at the kernel's processes
_NANOSECONDS = 1e9
_WAITING_WEIGHT = 2  # an answer that waited too long runs again, with nothing beside it


class OverBudgetError(Exception):
    """Cells used more than their budget, or than what is left of their submission's."""

    def __init__(self, end: CellEnd) -> None:
        super().__init__(end)
        self.end = end


class _Usage(Protocol):
    """The time that the processes of a kernel have used so far."""

    def processor_seconds(self) -> Mapping[str, float]: ...
    def queue_seconds(self) -> Mapping[str, float]: ...


@dataclass
class SubmissionTime:
    """The time that the cells of a submission have been charged, in all of its kernels."""

    seconds: float = 0.0

    @property
    def is_over(self) -> bool:
        """Whether nothing more of it may run."""
        return self.seconds > limits.SUBMISSION_SECONDS


class Budget:
    """The time, messages and bytes that some cells of a running kernel may use together.

    They are charged their processor time, but at most the time on the clock, however many
    processors they use; and all other time on the clock, such as sleep, twice. While they wait for
    a processor, or for this thread, which reads their messages, they are charged nothing: a machine
    that is busy with other things costs no points.
    """

    def __init__(self, usage: _Usage, max_seconds: float, submission: SubmissionTime) -> None:
        """Start now."""
        self.computed = 0.0  # seconds, as last counted
        self.waited = 0.0  # for anything but a processor
        self._max_seconds = max_seconds
        self._submission = submission
        self._usage = usage
        self._processor_seconds = usage.processor_seconds()
        self._queue_seconds: Mapping[str, float] = {}
        self._own_seconds = read_own_seconds()
        self._counted_at = time.monotonic()
        self._messages = 0
        self._bytes = 0

    @property
    def seconds(self) -> float:
        """The time that was used, as last counted."""
        return self.computed + self.waited

    def charge_message(self, size: int) -> None:
        """Count a message of so many bytes; raise OverBudgetError if that is too much."""
        self._messages += 1
        self._bytes += size
        if self._messages > limits.EXERCISE_MESSAGES or self._bytes > limits.EXERCISE_BYTES:
            raise OverBudgetError(CellEnd.FLOODED)

    def count_time_if_due(self) -> None:
        """Count all time of a running cell unless it was counted a moment ago."""
        elapsed = time.monotonic() - self._counted_at
        if elapsed < _COUNTING_SECONDS:
            return
        computed_before = self.computed
        queue_seconds, own_seconds = self._usage.queue_seconds(), read_own_seconds()
        not_theirs = max(_increases(self._queue_seconds, queue_seconds), default=0.0)
        not_theirs += own_seconds - self._own_seconds
        self._queue_seconds, self._own_seconds = queue_seconds, own_seconds
        self.count_processor_time()
        # The time of a process for which no other one waited is lost. It counts as waiting.
        waited = max(0.0, elapsed - not_theirs - (self.computed - computed_before))
        self.waited += waited
        self._charge(_WAITING_WEIGHT * waited)

    def count_processor_time(self) -> None:
        """Count the processor time since the last count; raise an exception if it is too much."""
        now = time.monotonic()
        processor_seconds = self._usage.processor_seconds()
        used = sum(_increases(self._processor_seconds, processor_seconds))
        computed = min(used, now - self._counted_at)
        self._processor_seconds = processor_seconds
        self._counted_at = now
        self.computed += computed
        self._charge(computed)

    def _charge(self, seconds: float) -> None:
        self._submission.seconds += seconds
        if self.computed + _WAITING_WEIGHT * self.waited > self._max_seconds:
            has_waited = self.waited > self.computed
            raise OverBudgetError(CellEnd.WAITED if has_waited else CellEnd.TIMED_OUT)
        if self._submission.is_over:
            raise OverBudgetError(CellEnd.NO_TIME_LEFT)


def _increases(before: Mapping[str, float], now: Mapping[str, float]) -> list[float]:
    """Return by how much each number has grown, if it has."""
    return [max(0.0, number - before.get(name, 0.0)) for name, number in now.items()]


# --- processes, as the folders of a /proc show them; one that has ended is empty


def list_folder(folder: str) -> list[str]:
    """List a folder of /proc; return nothing if its process has ended."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return []


def read_file(path: str) -> str:
    """Read a file of /proc; return "" if its process has ended."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def read_own_seconds() -> float:
    """Return how long the calling thread has run, or was ready to run without a processor."""
    numbers = read_file("/proc/thread-self/schedstat").split()
    if not numbers:  # elsewhere than on Linux
        return time.thread_time()
    return (int(numbers[0]) + int(numbers[1])) / _NANOSECONDS


def read_queue_seconds(processes: Iterable[str]) -> dict[str, float]:
    """Return how long each thread of processes was ready to run without a processor.

    Return nothing on other systems, and where Linux does not count it.
    """
    threads = (f"{each}/task/{name}" for each in processes for name in list_folder(f"{each}/task"))
    numbers = {thread: read_file(f"{thread}/schedstat").split() for thread in threads}
    return {thread: int(each[1]) / _NANOSECONDS for thread, each in numbers.items() if each}
