"""Time budgets of a submission and its cells, and the account of a kernel's processor time."""

import functools
import math
import os
import time
from collections.abc import Callable, Collection, Iterable

import psutil

from pytree_course.grading import limits

_LOOK_SECONDS = 0.25  # between two looks at the kernel's processes
_ALL_THE_TIME = float("inf")


class ProcessTree:
    """All processes of a kernel, looked at from outside.

    The time of a process that has ended is added to that of the process that waited for it, but is
    lost if nobody did, as when a process ignores that its children end. So waiting is not told for
    a time in which a process began or ended: the clock counts then.
    """

    def __init__(self, proc: str, numbers: Callable[[], list[int]] | None = None) -> None:
        """Take all processes that a /proc has, as a sandbox's own; or those of some numbers."""
        self._proc = proc
        self._numbers = numbers or functools.partial(processes, proc)
        self._known: list[int] = []
        self._waited: dict[str, float] = {}  # by thread

    @classmethod
    def below(cls, pid: int) -> "ProcessTree":
        """Return a process and all that it starts."""
        return cls("/proc", lambda: [pid, *_descendants(pid)])

    def used(self) -> float:
        """Return the processor time used until now by the processes that the last look found."""
        return sum(map(self._processor_time, self._known))

    def look(self) -> tuple[float, float]:
        """Return the processor time used so far, and how long threads waited since the last look.

        A thread waits that could run but has no processor. Only Linux tells it; elsewhere threads
        are taken to have waited all the time.
        """
        before, self._known = self._known, self._numbers()
        waited = self._newly_waited()
        if before not in ([], self._known):
            waited = 0.0
        return self.used(), waited

    def _processor_time(self, pid: int) -> float:
        """Return what a process, and its children that ended, used; nothing if it has ended."""
        if psutil.LINUX:
            # The fields after the program's name, which may hold any character.
            fields = read(f"{self._proc}/{pid}/stat").rpartition(")")[2].split()
            return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        try:
            times = psutil.Process(pid).cpu_times()
        except psutil.Error:
            return 0.0
        children = (getattr(times, f"children_{kind}", 0.0) for kind in ("user", "system"))
        return float(times.user + times.system + sum(children))

    def _newly_waited(self) -> float:
        if not _tells_waiting():
            return _ALL_THE_TIME
        before, self._waited = (
            self._waited,
            {
                thread: int(text.split()[1]) / 1e9  # since it began
                for pid in self._known
                for thread, text in of_threads(f"{self._proc}/{pid}", "schedstat")
            },
        )
        return sum(
            max(0.0, now - before.get(process, 0.0)) for process, now in self._waited.items()
        )


def processes(proc: str) -> list[int]:
    """Return the numbers of all processes that a /proc has; none once its sandbox has ended."""
    return [int(name) for name in _names(proc) if name.isdigit()]


def of_threads(process: str, name: str) -> Iterable[tuple[str, str]]:
    """Read a file of each thread of a process that has not ended."""
    for thread in _names(f"{process}/task"):
        if text := read(f"{process}/task/{thread}/{name}"):
            yield thread, text


def _names(folder: str) -> list[str]:
    """List a folder of /proc; nothing once it is gone."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return []


def read(path: str) -> str:
    """Read a file of /proc, in a tenth of the time that a file object takes; "" once it is gone."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return ""
    try:
        parts = iter(lambda: os.read(file, 4096), b"")
        return b"".join(parts).decode(errors="replace")
    except ProcessLookupError:
        return ""
    finally:
        os.close(file)


def _descendants(pid: int) -> list[int]:
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.Error:
        return []


@functools.cache
def _tells_waiting() -> bool:
    """Say whether this machine's kernel counts how long threads wait; few were built without."""
    return read("/proc/self/schedstat").split() not in ([], ["0", "0", "0"])


class OverTimeError(Exception):
    """A cell took more time than it has."""


class OverOutputError(Exception):
    """A cell sent more than is received."""


class LostOutputError(Exception):
    """A cell has ended, but messages of it are lost, perhaps because of what ran beside it."""


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
        self._patience = self._late = math.inf
        self._messages = 0
        self._bytes = 0
        self._own_memory = psutil.Process()
        self._memory = self._own_memory.memory_info().rss + limits.RECEIVED_MEMORY

    def end_within(self, seconds: float) -> None:
        """Note that the cell has ended, and wait this long for each message still to come."""
        if not self.look():
            # Most cells end before the first look is due, and a look takes longer than they do.
            self._count(self._processes.used(), waited=0.0)
        self._patience = seconds
        self._late = self.seconds + seconds

    def charge(self, size: int) -> None:
        """Count a message of so many bytes."""
        self._messages += 1
        self._bytes += size
        self._late = self.seconds + self._patience
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
            raise OverTimeError if self._patience == math.inf else LostOutputError
        return True

    def expect_message(self) -> None:
        """Raise LostOutputError if no message came, up to the last look, for too long."""
        if self.seconds > self._late:
            raise LostOutputError

    def _count(self, processor: float, waited: float) -> None:
        """Add the usage since the last call."""
        now = time.monotonic()
        passed, self._looked = now - self._looked, now
        used, self._processor = processor - self._processor, processor
        self.seconds += min(passed, max(used, passed - waited))
