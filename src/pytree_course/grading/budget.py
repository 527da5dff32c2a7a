"""The budget that the cells of an exercise share: time, messages and bytes."""

import time
from collections.abc import Callable

from pytree_course.grading import limits

_COUNTING_SECONDS = 0.25  # at least, between two looks at the kernel's processes


class OverTimeError(Exception):
    """Cells took more time than their budget."""


class OverOutputError(Exception):
    """Cells sent more messages or bytes than their budget."""


class Budget:
    """The time, messages and bytes that some cells of a running kernel may use together.

    Their time is the processor time of all of the kernel's processes, and at most the time on the
    clock, however many processors they use: a machine that is busy with other things costs them
    nothing. Only the deadline by the clock, which is far off, ends cells that wait.
    """

    def __init__(self, processor_seconds: Callable[[], float], max_seconds: float) -> None:
        """Start now; `processor_seconds` returns the kernel's processor time so far."""
        self.seconds = 0.0  # used, as last counted
        self._max_seconds = max_seconds
        self._processor_seconds = processor_seconds
        self._last_processor_seconds = processor_seconds()
        self._counted_at = time.monotonic()
        self._deadline = self._counted_at + limits.WALL_SECONDS
        self._messages = 0
        self._bytes = 0

    def charge_message(self, size: int) -> None:
        """Count a message of so many bytes; raise OverOutputError if that is too much."""
        self._messages += 1
        self._bytes += size
        if self._messages > limits.EXERCISE_MESSAGES or self._bytes > limits.EXERCISE_BYTES:
            raise OverOutputError

    def count_time_if_due(self) -> None:
        """Count the time unless it was counted a moment ago."""
        if time.monotonic() - self._counted_at >= _COUNTING_SECONDS:
            self.count_time()

    def count_time(self) -> None:
        """Count the time used since the last count; raise OverTimeError if it is too much."""
        now = time.monotonic()
        processor_seconds = self._processor_seconds()
        # The time of a process that ended is lost if no process waited for it: it may decrease.
        used = max(0.0, processor_seconds - self._last_processor_seconds)
        self.seconds += min(used, now - self._counted_at)
        self._counted_at = now
        self._last_processor_seconds = processor_seconds
        if self.seconds > self._max_seconds or now > self._deadline:
            raise OverTimeError
