"""What all processes of a sandbox use up together, looked at on a clock of its own."""

import contextlib
import os
import threading
from collections.abc import Sequence
from pathlib import Path

import psutil

from pytree_course.grading import limits
from pytree_course.grading.process_tree import descendants


class UsageWatch:
    """A thread that ends a sandbox whose processes together use up more than they may.

    The limits of the operating system are those of one process; this looks at the sum. Processor
    time is the budget's of each cell.

    Attributes
    ----------
    exceeded
        What was used up, in words; empty as long as nothing was.
    """

    def __init__(self, sandbox: int, folders: Sequence[int]) -> None:
        """Prepare to watch a sandbox: its process, and its open folders, which are in memory."""
        self.exceeded = ""
        self._sandbox = psutil.Process(sandbox)
        self._folders = folders
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
        while not self._stopped.wait(limits.WATCH_SECONDS):
            if not self._sandbox.is_running():
                return
            self.exceeded = self._look()
            if self.exceeded:
                with contextlib.suppress(psutil.NoSuchProcess):
                    self._sandbox.kill()
                return

    def _look(self) -> str:
        """Measure once; return what is used up."""
        started = descendants(self._sandbox.pid)
        processes = [self._sandbox.pid, *started]
        folders = [os.fstatvfs(folder) for folder in self._folders]
        files = sum(folder.f_files - folder.f_ffree for folder in folders)
        written = sum((folder.f_blocks - folder.f_bfree) * folder.f_frsize for folder in folders)
        memory = written + sum(map(_at_most, processes))
        if memory > limits.MEMORY:
            # Pages that a process shares with those it forked were counted for each of them.
            memory = written + sum(map(_proportional, processes))
        sockets = _sockets(started[0]) if started else 0
        if memory > limits.MEMORY:
            return "memory"
        if files > limits.FILES:
            return "files"
        if sockets > limits.SOCKETS:
            return "sockets"
        return ""


def _at_most(pid: int) -> int:
    """Return the memory of a process, what it shares counted in full; page tables are memory."""
    try:
        status = _kilobytes(Path(f"/proc/{pid}/status"))
    except OSError:
        return 0  # it has ended
    return sum(status.get(name, 0) for name in ("RssAnon", "RssShmem", "VmPTE", "VmSwap"))


def _proportional(pid: int) -> int:
    """Return the memory of a process, what it shares divided by how many share it."""
    try:
        pages = _kilobytes(Path(f"/proc/{pid}/smaps_rollup"))
        tables = _kilobytes(Path(f"/proc/{pid}/status")).get("VmPTE", 0)
    except OSError:
        return 0
    return tables + sum(pages.get(name, 0) for name in ("Pss_Anon", "Pss_Shmem", "SwapPss"))


def _kilobytes(file: Path) -> dict[str, int]:
    """Read the sizes in a table of /proc, in bytes."""
    rows = (line.split() for line in file.read_text(errors="replace").splitlines())
    return {row[0].rstrip(":"): int(row[1]) * 1024 for row in rows if row[-1:] == ["kB"]}


def _sockets(pid: int) -> int:
    """Return how many sockets there are in the network of a process."""
    try:
        summary = Path(f"/proc/{pid}/net/sockstat").read_text(encoding="utf-8")
    except OSError:
        return 0
    return int(summary.split()[2])  # "sockets: used 12"
