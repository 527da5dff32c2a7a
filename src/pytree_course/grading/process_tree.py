"""The processor time that a kernel's processes use, and how long they are kept waiting for it."""

import functools
import os
from collections.abc import Callable, Iterable

import psutil

_ALL_THE_TIME = float("inf")


class ProcessTree:
    """All processes of a kernel, looked at from outside.

    The time of a process that has ended is added to that of the process that waited for it, but is
    lost if nobody did, as when a process ignores that its children end. So waiting is not told for
    a time in which a process began or ended: the clock counts then.
    """

    def __init__(
        self,
        proc: str,
        numbers: Callable[[], list[int]] | None = None,
        counted: Callable[[], float] | None = None,
        began: Callable[[], bool] = lambda: False,
    ) -> None:
        """Take all processes that a /proc has, as a sandbox's own; or those of some numbers.

        Where the system itself counts the processor time of all, `counted` returns it; otherwise
        `began` tells whether a process has begun, even for a moment, since it was last asked.
        """
        self._proc = proc
        self._numbers = numbers or functools.partial(processes, proc)
        self._counted = counted
        self._began = began
        self._known: list[int] = []
        self._waited: dict[str, float] = {}  # by thread

    @classmethod
    def below(cls, pid: int) -> "ProcessTree":
        """Return a process and all that it starts."""
        return cls("/proc", lambda: [pid, *_descendants(pid)])

    def used(self) -> float:
        """Return the processor time used until now by the processes that the last look found."""
        return self._sum() if self._counted is None else self._counted()

    def look(self) -> tuple[float, float]:
        """Return the processor time used so far, and how long threads waited since the last look.

        A thread waits that could run but has no processor. Only Linux tells it; elsewhere threads
        are taken to have waited all the time.
        """
        before, self._known = self._known, self._numbers()
        waited = self._newly_waited()
        if self._counted is None and (self._began() or before not in ([], self._known)):
            waited = 0.0
        return self.used(), waited

    def _sum(self) -> float:
        return sum(map(self._processor_time, self._known))

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
        return sum(max(0.0, now - before.get(each, 0.0)) for each, now in self._waited.items())


def processes(proc: str) -> list[int]:
    """Return the numbers of all processes that a /proc has; none once its sandbox has ended."""
    try:
        return [int(name) for name in os.listdir(proc) if name.isdigit()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def of_threads(process: str, name: str) -> Iterable[tuple[str, str]]:
    """Read a file of each thread of a process that has not ended."""
    try:
        threads = os.listdir(f"{process}/task")
    except (FileNotFoundError, ProcessLookupError):
        return
    for thread in threads:
        if text := read(f"{process}/task/{thread}/{name}"):
            yield thread, text


def read(path: str) -> str:
    """Read a file of /proc, in a tenth of the time that a file object takes; "" once it is gone."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return ""
    try:
        content = os.read(file, 4096)
        while more := os.read(file, 4096):
            content += more
        return content.decode(errors="replace")
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
