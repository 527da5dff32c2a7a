"""Time budgets of a submission and its exercises; limits on what a cell sends."""

import time
from collections.abc import Collection

import psutil

from pytree_course.grading import limits
from pytree_course.grading.usage import ProcessTree

_LOOK_SECONDS = 0.25  # between two looks at the kernel's processes


class OverTimeError(Exception):
    """A cell took more time than it has."""


class OverOutputError(Exception):
    """A cell sent more than is received."""


class SubmissionBudget:
    """The time of one submission: all of its exercises share it, and so do their repeats.

    An exercise has `limits.EXERCISE_SECONDS`, or less, so that each one still to come keeps
    `limits.SHORTEST_SECONDS`. Of many exercises each keeps less than that, but more than a right
    answer takes, so that the first one always has all of its time.
    """

    def __init__(self, exercises: Collection[str]) -> None:
        self._left = limits.SUBMISSION_SECONDS
        self._ends = time.monotonic() + limits.WALL_SECONDS
        self._to_come = set(exercises)
        others = max(1, len(exercises) - 1)
        self._shortest = min(
            limits.SHORTEST_SECONDS, (self._left - limits.EXERCISE_SECONDS) / others
        )
        self.start_exercise("")

    def start_exercise(self, exercise: str) -> None:
        """Give an exercise its share, for its answer cell and its check cell together."""
        self._to_come.discard(exercise)
        others, now = len(self._to_come), time.monotonic()
        left = self._left - others * self._shortest
        self.seconds = max(0.0, min(limits.EXERCISE_SECONDS, left))
        self.ends = now + (self._ends - now) / (others + 1)

    def spend(self, seconds: float) -> None:
        """Deduct a cell's time, up to its share: an overrun costs no other exercise."""
        taken = min(seconds, self.seconds)
        self._left -= taken
        self.seconds -= taken


class CellBudget:
    """What one cell of a running kernel may use up.

    Its time is that on the clock less what its threads waited for a processor. It is at least the
    processor time of the kernel's processes, since the waits of many threads can add up to more
    than the time on the clock; and at most that on the clock, however many processors they use. So
    a machine that is busy with other things costs a cell nothing but the time between the last look
    and its end. Only the deadline by the clock on the wall, which is far off, counts waiting too.
    """

    def __init__(self, processes: ProcessTree, seconds: float, ends: float) -> None:
        self.seconds = 0.0
        self._ends = ends
        self._processes = processes
        self._most = seconds
        self._looked = time.monotonic()
        self._processor = processes.used()
        self._has_ended = False
        self._messages = 0
        self._bytes = 0
        self._own_memory = psutil.Process()
        self._memory = self._own_memory.memory_info().rss + limits.RECEIVED_MEMORY

    def end_within(self, seconds: float) -> None:
        """Note that the cell has ended, and wait this long for the rest of its messages."""
        if not self.look():
            # Most cells end before the first look is due, and a look takes longer than they do.
            self._count(self._processes.used(), waited=0.0)
        self._most = min(self._most, self.seconds + seconds)
        self._has_ended = True

    def charge(self, size: int) -> None:
        """Count a message of so many bytes."""
        self._messages += 1
        self._bytes += size
        if self._messages > limits.CELL_MESSAGES or self._bytes > limits.CELL_BYTES:
            raise OverOutputError

    def look(self) -> bool:
        """Update the usage; return False if the last look was too recent."""
        if time.monotonic() - self._looked < _LOOK_SECONDS:
            return False
        self._count(*self._processes.look())
        if self._own_memory.memory_info().rss > self._memory:
            raise OverOutputError  # a message that never ends is in our memory before we see it
        if self.seconds > self._most or self._looked > self._ends:
            # What has not come from a cell that has ended is lost: it sent too much.
            raise OverOutputError if self._has_ended else OverTimeError
        return True

    def _count(self, processor: float, waited: float) -> None:
        """Add the usage since the last call."""
        now = time.monotonic()
        passed, self._looked = now - self._looked, now
        used, self._processor = processor - self._processor, processor
        self.seconds += min(passed, max(used, passed - waited))
