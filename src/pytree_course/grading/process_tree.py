"""What the processes of a kernel use: processor time; and whether one of them wants more of it.

Linux tells a process's children at once; elsewhere, all processes of the machine are looked
through.
"""

import functools
import os
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from pytree_course.grading import limits

_RUNNABLE = "R"


class ProcessTree:
    """A process and all that it started, looked at from outside."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._known: tuple[int, ...] = (pid,)
        self._counted: dict[tuple[int, float], float] = {}  # time seen so far, by process
        self._used = 0.0

    def used(self) -> float:
        """Return the processor time used so far by the processes that the last look found."""
        return self._count(self._known)

    def look(self) -> tuple[float, bool]:
        """Return the processor time used so far, and whether anything now waits for a processor.

        A thread that could run but is kept waiting tells a busy machine from code that sleeps.
        Only Linux tells it; elsewhere nothing is said to wait, or to sleep.
        """
        self._known = (self._pid, *descendants(self._pid))
        return self._count(self._known), any(map(_is_runnable, self._known))

    def _count(self, pids: Iterable[int]) -> float:
        for pid in pids:
            found = _processor_time(pid)
            if found is None:
                continue  # it has ended
            # A number is given to another process once its own has ended.
            process = pid, found.started
            self._used += max(0.0, found.seconds - self._counted.get(process, 0.0))
            self._counted[process] = found.seconds
        return self._used


def descendants(pid: int) -> list[int]:
    """Return all processes that a process started, and those that they started."""
    if not _tells_children():
        try:
            return [child.pid for child in psutil.Process(pid).children(recursive=True)]
        except psutil.Error:
            return []
    found, generation = [], _children(pid)
    for _ in range(limits.PROCESSES):  # they may fork as fast as we look
        found += generation
        generation = [child for each in generation for child in _children(each)]
    return found


@functools.cache
def _tells_children() -> bool:
    thread = threading.get_native_id()
    return psutil.LINUX and Path(f"/proc/{os.getpid()}/task/{thread}/children").exists()


def _children(pid: int) -> list[int]:
    """Return what the threads of a process started; nothing if it has ended."""
    return [int(child) for file in _of_threads(pid, "children") for child in file.split()]


@dataclass(frozen=True)
class _ProcessorTime:
    started: float
    seconds: float


def _processor_time(pid: int) -> _ProcessorTime | None:
    """Return what a process, and its children that ended, used; None if it has ended itself."""
    if psutil.LINUX:
        try:
            fields = _fields(_read(f"/proc/{pid}/stat"))
        except OSError:
            return None
        return _ProcessorTime(float(fields[19]), sum(map(int, fields[11:15])) / _ticks())
    try:
        process = psutil.Process(pid)
        times = process.cpu_times()
    except psutil.Error:
        return None
    used = times.user + times.system
    used += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
    return _ProcessorTime(process.create_time(), used)


@functools.cache
def _ticks() -> int:
    return os.sysconf("SC_CLK_TCK")


def _is_runnable(pid: int) -> bool:
    if not psutil.LINUX:
        return True
    return any(_fields(file)[0] == _RUNNABLE for file in _of_threads(pid, "stat"))


def _of_threads(pid: int, name: str) -> Iterable[str]:
    """Read a file of each thread of a process."""
    threads = f"/proc/{pid}/task"
    try:
        numbers = os.listdir(threads)
    except OSError:
        return
    for number in numbers:
        try:
            yield _read(f"{threads}/{number}/{name}")
        except OSError:
            continue  # it has ended


def _fields(stat: str) -> list[str]:
    """Return the fields after a program's name, which may hold any character."""
    return stat.rpartition(")")[2].split()


def _read(path: str) -> str:
    """Read a file of /proc, in a tenth of the time that a file object takes."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        content = os.read(file, 4096)
        while more := os.read(file, 4096):
            content += more
        return content.decode(errors="replace")
    finally:
        os.close(file)
