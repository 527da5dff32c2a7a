"""A watch over what all processes of a sandbox use together, from a thread of its own."""

import itertools
import os
import re
import threading

from pytree_course.grading import limits
from pytree_course.grading.cell_run import OF_THE_MACHINE
from pytree_course.grading.process_tree import of_threads, processes, read
from pytree_course.grading.sandbox.request import Sandbox
from pytree_course.grading.sandbox.sockets import SandboxSockets

# Only these rows: others, such as a process's name, can be chosen by a learner.
_COUNTED_IN_FULL = re.compile(r"^(?:RssAnon|RssShmem|VmPTE|VmSwap):\s+(\d+) kB$", re.MULTILINE)
_TABLES = re.compile(r"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_USUAL_SOCKET_BYTES = 212_992  # what Linux gives a socket where nothing else is set
_MOST_MAPPINGS = 65_536  # of one process: the operating system's own bound


class UsageWatch:
    """A thread that ends a sandbox whose processes together use up more than they may.

    The operating system limits each process; this looks at the sum. Processor time is not watched
    here: each cell has a budget of it.
    """

    def __init__(self, sandbox: Sandbox, inside: SandboxSockets) -> None:
        """Prepare to watch a sandbox, by its open folders: those in memory, and its /proc."""
        self.exceeded = ""  # what was used up, in words
        self._sandbox = sandbox
        self._inside = inside
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="usage", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        # If it could be made to fail and nothing happened, the limit could be switched off.
        try:
            while not self.exceeded and not self._stopped.wait(limits.WATCH_SECONDS):
                if not self._sandbox.is_alive():
                    return
                self.exceeded = self._look()
        except Exception:
            self.exceeded = OF_THE_MACHINE if self._sandbox.is_alive() else ""
        if self.exceeded:
            self._sandbox.kill()

    def _look(self) -> str:
        """Measure once; return what is used up."""
        proc = self._inside.proc
        pids = processes(proc)
        folders = [os.fstatvfs(folder) for folder in self._inside.folders]
        files = sum(folder.f_files - folder.f_ffree for folder in folders)
        if files > limits.FILES:
            return "files"
        sockets = _sockets(f"{proc}/1")
        if sockets > limits.SOCKETS:
            return "sockets"
        if _has_too_many_mappings(proc, pids):
            return "mappings"
        if self._sandbox.group is not None:
            return ""  # it bounds the memory itself
        written = sum((folder.f_blocks - folder.f_bfree) * folder.f_frsize for folder in folders)
        written += sockets * _socket_bytes()
        each = [f"{proc}/{pid}" for pid in pids]
        if written + sum(map(_at_most, each)) <= limits.MEMORY:
            return ""
        # Pages that a process shares with those it forked were counted for each of them.
        return "memory" if written + sum(map(_proportional, each)) > limits.MEMORY else ""


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
