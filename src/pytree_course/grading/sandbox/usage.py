"""A watch over what the processes of a sandbox use together, which ends it in time."""

import os
import re
import threading
from collections.abc import Sequence

from pytree_course.grading import limits
from pytree_course.grading.budget import of_threads, processes, read
from pytree_course.grading.exercise_run import OF_THE_MACHINE
from pytree_course.grading.sandbox.request import Sandbox

# Only these rows: others, such as a process's name, can be chosen by a learner.
_COUNTED_IN_FULL = re.compile(r"^(?:RssAnon|RssShmem|VmPTE|VmSwap):\s+(\d+) kB$", re.MULTILINE)
_TABLES = re.compile(r"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_USUAL_SOCKET_BYTES = 212_992  # what Linux gives a socket where nothing else is set


class UsageWatch:
    """A thread that ends a sandbox whose processes together use up more than they may.

    The operating system limits each process; this looks at the sum. Processor time is not watched
    here: each cell has a budget of it.
    """

    def __init__(self, sandbox: Sandbox, proc: str, folders: Sequence[int]) -> None:
        """Watch a sandbox, by its own /proc and its open folders in memory."""
        self.exceeded = ""  # what was used too much of, in words, so that the sandbox was ended
        self._sandbox, self._proc, self._folders = sandbox, proc, folders
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="usage", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(limits.WATCH_SECONDS) and self._sandbox.is_alive():
            self.exceeded = self._look()
            if self.exceeded:
                self._sandbox.kill()
                return

    def _look(self) -> str:
        # If it could be made to fail and nothing happened, the limit could be switched off.
        try:
            return used_up(self._proc, self._folders)
        except Exception:
            return OF_THE_MACHINE if self._sandbox.is_alive() else ""


def used_up(proc: str, folders: Sequence[int]) -> str:
    """Return what the processes of a sandbox use too much of, in one word; "" where nothing.

    They are given by the sandbox's own /proc and its open folders in memory.
    """
    sizes = [os.fstatvfs(folder) for folder in folders]
    if sum(size.f_files - size.f_ffree for size in sizes) > limits.FILES:
        return "files"
    summary = read(f"{proc}/1/net/sockstat").split()
    sockets = int(summary[2]) if summary else 0  # "sockets: used 12"
    if sockets > limits.SOCKETS:
        return "sockets"
    written = sum((size.f_blocks - size.f_bfree) * size.f_frsize for size in sizes)
    written += sockets * _socket_bytes()
    pids = processes(proc)
    for in_full in (True, False):
        if written + sum(_memory(f"{proc}/{pid}", in_full) for pid in pids) <= limits.MEMORY:
            return ""
    return "memory"


def _memory(process: str, in_full: bool) -> int:
    """Return the memory of a process; page tables are memory too.

    Pages that it shares with those it forked count in full, or else divided by how many share
    them, which takes longer to find out.
    """
    status = _of_memory(process, "status", "\nVmPTE:")
    if in_full:
        return _kilobytes(_COUNTED_IN_FULL, status)
    shares = _of_memory(process, "smaps_rollup", "\nPss_Anon:")
    return _kilobytes(_TABLES, status) + _kilobytes(_SHARES, shares)


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


def _socket_bytes() -> int:
    """Return how much may wait in one socket: no code inside can change that."""
    # Older Linuxes tell it to the machine's own network only, and a container has another.
    told = read("/proc/sys/net/core/wmem_default")
    # The last message may be as long as all before it.
    return 2 * (int(told) if told else _USUAL_SOCKET_BYTES)
