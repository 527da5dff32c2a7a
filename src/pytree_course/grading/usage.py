"""Resource usage of a kernel: processor time, memory, mappings, sockets and files.

All of it is looked at from outside. Where Linux keeps a group (`cgroup`), that counts the time and
bounds the memory instead.
"""

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterable, Sequence

import psutil

from pytree_course.grading import limits

_ALL_THE_TIME = float("inf")
# Only these rows: others, such as a process's name, can be chosen by a learner.
_COUNTED_IN_FULL = re.compile(r"^(?:RssAnon|RssShmem|VmPTE|VmSwap):\s+(\d+) kB$", re.MULTILINE)
_TABLES = re.compile(r"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_USUAL_SOCKET_BYTES = 212_992  # what Linux gives a socket where nothing else is set
_MOST_MAPPINGS = 65_536  # of one process: the operating system's own bound


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


def used_up(proc: str, folders: Sequence[int], has_group: bool) -> str:
    """Return what the processes of a sandbox use too much of, in one word; "" where nothing.

    They are given by the sandbox's own /proc and its open folders in memory. A group bounds their
    memory itself.
    """
    pids = processes(proc)
    sizes = [os.fstatvfs(folder) for folder in folders]
    if sum(size.f_files - size.f_ffree for size in sizes) > limits.FILES:
        return "files"
    sockets = _sockets(f"{proc}/1")
    if sockets > limits.SOCKETS:
        return "sockets"
    if _has_too_many_mappings(proc, pids):
        return "mappings"
    if has_group:
        return ""
    written = sum((size.f_blocks - size.f_bfree) * size.f_frsize for size in sizes)
    written += sockets * _socket_bytes()
    paths = [f"{proc}/{pid}" for pid in pids]
    if written + sum(map(_at_most, paths)) <= limits.MEMORY:
        return ""
    # Pages that a process shares with those it forked were counted for each of them.
    return "memory" if written + sum(map(_proportional, paths)) > limits.MEMORY else ""


def _at_most(process: str) -> int:
    """Return the memory of a process, what it shares counted in full; page tables are memory."""
    return _kilobytes(_COUNTED_IN_FULL, _of_memory(process, "status", "\nVmPTE:"))


def _proportional(process: str) -> int:
    """Return the memory of a process, what it shares divided by how many share it."""
    tables = _kilobytes(_TABLES, _of_memory(process, "status", "\nVmPTE:"))
    return tables + _kilobytes(_SHARES, _of_memory(process, "smaps_rollup", "\nPss_Anon:"))


def _of_memory(process: str, name: str, row: str) -> str:
    """Read a file about the memory of a process from a thread that still has it, or return "".

    The first thread may have ended long before the others: its own files lack the row then.
    """
    own = read(f"{process}/{name}")
    if row in own:
        return own
    return next((text for _, text in of_threads(process, name) if row in text), "")


def _kilobytes(rows: re.Pattern[str], text: str) -> int:
    """Add the sizes in some rows of a table of /proc, in bytes."""
    return sum(map(int, rows.findall(text))) * 1024


def _has_too_many_mappings(proc: str, pids: list[int]) -> bool:
    """Say whether all processes have too many: each costs memory of the operating system's kernel.

    They are counted only where there could be too many, and no further: it takes long.
    """
    if len(pids) * _MOST_MAPPINGS <= limits.MAPPINGS:
        return False
    counts = (_of_memory(f"{proc}/{pid}", "maps", "\n").count("\n") for pid in pids)
    return any(total > limits.MAPPINGS for total in itertools.accumulate(counts))


def _sockets(process: str) -> int:
    """Return how many sockets there are in the network of a process."""
    summary = read(f"{process}/net/sockstat").split()
    return int(summary[2]) if summary else 0  # "sockets: used 12"


def _socket_bytes() -> int:
    """Return how much may wait in one socket: no code inside can change that."""
    # Older Linuxes tell it to the machine's own network only, and a container has another.
    told = read("/proc/sys/net/core/wmem_default")
    # The last message may be as long as all before it.
    return 2 * (int(told) if told else _USUAL_SOCKET_BYTES)


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
