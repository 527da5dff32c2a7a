"""Bound what the processes of a sandbox use together, by a cgroup or by looking at them.

Where Linux lets this user create a cgroup (version 2), it bounds the memory and the number of
processes, and counts the processor time. Files, sockets and mappings are always looked at.
"""

import contextlib
import functools
import itertools
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from pytree_course.grading import limits
from pytree_course.grading.budget import of_threads, processes, read
from pytree_course.grading.exercise_run import OF_THE_MACHINE
from pytree_course.grading.sandbox.request import Sandbox

# Only these rows: others, such as a process's name, can be chosen by a learner.
_COUNTED_IN_FULL = re.compile(r"^(?:RssAnon|RssShmem|VmPTE|VmSwap):\s+(\d+) kB$", re.MULTILINE)
_TABLES = re.compile(r"^VmPTE:\s+(\d+) kB$", re.MULTILINE)
_SHARES = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)
_USUAL_SOCKET_BYTES = 212_992  # what Linux gives a socket where nothing else is set
_MOST_MAPPINGS = 65_536  # of one process: the operating system's own bound

_ROOT = Path("/sys/fs/cgroup")
_PREFIX = "pytree-course-"
_NEEDED = {"memory", "pids"}  # controllers; processor time is counted without one
_ENDING_SECONDS = 10.0
_numbers = itertools.count()


class Group:
    """A new group: Linux bounds the memory and processes of all in it, and counts their time.

    The memory is that of processes that share it, of files, and what Linux itself keeps for them;
    the time, that of processes too that have ended and that no other one waited for.
    """

    def __init__(self, above: Path) -> None:
        """Make it in another one."""
        self._folder = above / f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        self._folder.mkdir()
        self.members = self._folder / "cgroup.procs"  # who writes 0 into it becomes a member
        bounds = {"memory.max": limits.MEMORY, "memory.oom.group": 1, "pids.max": limits.PROCESSES}
        if (self._folder / "memory.swap.max").exists():  # not where Linux does not count it
            bounds["memory.swap.max"] = 0
        try:
            for name, value in bounds.items():
                (self._folder / name).write_text(str(value), encoding="ascii")
        except OSError:
            self.close()
            raise

    def add(self, pid: int) -> None:
        """Make a process a member, and all that it starts from now on."""
        self.members.write_text(str(pid), encoding="ascii")

    def exceeded(self) -> str:
        """Return "memory" where more was wanted than there is, for which Linux ended all of it."""
        return "memory" if self._number("memory.events", "oom") else ""

    def seconds(self) -> float:
        """Return the processor time of all members so far."""
        return self._number("cpu.stat", "usage_usec") / 1e6

    def _number(self, file: str, name: str) -> int:
        rows = dict(line.split() for line in read(f"{self._folder}/{file}").splitlines())
        return int(rows.get(name, 0))  # nothing, once the group has been closed

    def close(self) -> None:
        """End all members, and remove it once they have ended."""
        if self._folder.exists():
            (self._folder / "cgroup.kill").write_text("1", encoding="ascii")
            deadline = time.monotonic() + _ENDING_SECONDS
            while "populated 1" in read(f"{self._folder}/cgroup.events"):
                if time.monotonic() > deadline:
                    return  # it is swept later
                time.sleep(0.005)
            self._folder.rmdir()


def new_group() -> Group | None:
    """Make a group for a sandbox; None where this user may not."""
    above = folder_of_groups()
    return None if above is None else Group(above)


@functools.cache
def folder_of_groups() -> Path | None:
    """Return the nearest group, from this process's own upwards, in which groups can be made.

    Its groups need the controllers; where version 1 has these, there are none.
    """
    own = _ROOT / read("/proc/self/cgroup").partition("0::/")[2].strip()
    for folder in (own, *own.parents):
        controllers = read(f"{folder}/cgroup.subtree_control").split()
        if {*controllers} >= _NEEDED and _works(folder):
            return folder
    return None


def _works(above: Path) -> bool:
    """Try it, and remove what killed gradings left."""
    for left in above.glob(f"{_PREFIX}*"):
        if not Path("/proc", left.name.split("-")[2]).exists():
            with contextlib.suppress(OSError):  # the sandbox of one just killed is about to end
                left.rmdir()
    try:
        group = Group(above)
        with subprocess.Popen(["sleep", "60"]) as trial:
            try:
                group.add(trial.pid)
            finally:
                trial.kill()
        group.close()
    except OSError:
        return False
    return True


class UsageWatch:
    """A thread that ends a sandbox whose processes together use up more than they may.

    The operating system limits each process; this looks at the sum. Processor time is not watched
    here: each cell has a budget of it.
    """

    def __init__(self, sandbox: Sandbox, proc: str, folders: Sequence[int]) -> None:
        """Prepare to watch a sandbox, by its own /proc and its open folders in memory."""
        self._exceeded = ""
        self._sandbox, self._proc, self._folders = sandbox, proc, folders
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="usage", daemon=True)
        self._thread.start()

    @property
    def exceeded(self) -> str:
        """What was used too much of, in words, so that the sandbox was ended; or ""."""
        group = self._sandbox.group
        return self._exceeded or (group.exceeded() if group else "")

    def settle(self) -> None:
        """Look a last time, with all processes stopped: on a busy machine they delay every look."""
        with contextlib.suppress(OSError):  # then the look takes longer
            _stop_processes(self._proc)
        self.stop()
        if not self._exceeded and (used := self._look()) != OF_THE_MACHINE:  # it ends in any case
            self._exceeded = used

    def stop(self) -> None:
        """Watch no longer."""
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(limits.WATCH_SECONDS) and self._sandbox.is_alive():
            self._exceeded = self._look()
            if self._exceeded:
                self._sandbox.kill()
                return

    def _look(self) -> str:
        # If it could be made to fail and nothing happened, the limit could be switched off.
        try:
            return used_up(self._proc, self._folders, self._sandbox.group is not None)
        except Exception:
            return OF_THE_MACHINE if self._sandbox.is_alive() else ""


def _stop_processes(proc: str) -> None:
    """Stop all processes of a sandbox. Its supervisor is one of them, so none begins meanwhile."""
    stopped: set[int] = set()
    while running := {*processes(proc)} - stopped:
        for pid in running:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                folder = os.open(f"{proc}/{pid}", os.O_RDONLY | os.O_DIRECTORY)
                try:
                    signal.pidfd_send_signal(folder, signal.SIGSTOP)
                finally:
                    os.close(folder)
        stopped |= running


def used_up(proc: str, folders: Sequence[int], has_group: bool) -> str:
    """Return what the processes of a sandbox use too much of, in one word; "" where nothing.

    They are given by the sandbox's own /proc and its open folders in memory. A group bounds their
    memory itself.
    """
    pids = processes(proc)
    sizes = [os.fstatvfs(folder) for folder in folders]
    if sum(size.f_files - size.f_ffree for size in sizes) > limits.FILES:
        return "files"
    summary = read(f"{proc}/1/net/sockstat").split()
    sockets = int(summary[2]) if summary else 0  # "sockets: used 12"
    if sockets > limits.SOCKETS:
        return "sockets"
    if _has_too_many_mappings(proc, pids):
        return "mappings"
    if has_group:
        return ""
    written = sum((size.f_blocks - size.f_bfree) * size.f_frsize for size in sizes)
    written += sockets * _socket_bytes()
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


def _has_too_many_mappings(proc: str, pids: list[int]) -> bool:
    """Say whether all processes have too many: each costs memory of the operating system's kernel.

    They are counted only where there could be too many, and no further: it takes long.
    """
    if len(pids) * _MOST_MAPPINGS <= limits.MAPPINGS:
        return False
    counts = (_of_memory(f"{proc}/{pid}", "maps", "\n").count("\n") for pid in pids)
    return any(total > limits.MAPPINGS for total in itertools.accumulate(counts))


def _socket_bytes() -> int:
    """Return how much may wait in one socket: no code inside can change that."""
    # Older Linuxes tell it to the machine's own network only, and a container has another.
    told = read("/proc/sys/net/core/wmem_default")
    # The last message may be as long as all before it.
    return 2 * (int(told) if told else _USUAL_SOCKET_BYTES)
