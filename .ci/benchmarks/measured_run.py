"""Run commands and measure them: seconds, processor time, memory of the whole tree of processes.

Whatever a command starts is a descendant of this process, even where it detaches itself: Linux
hands orphans to their "subreaper", which this process makes itself. So nothing is left unmeasured,
and nothing is left behind.
"""

import ctypes
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

FALLBACK = "Kernels start one by one"
"""What `grade` says when the warm server of kernels cannot be used."""

_PR_SET_CHILD_SUBREAPER = 36  # of linux/prctl.h
_SAMPLE_SECONDS = 0.5
_GRACE_SECONDS = 3.0


class CommandFailedError(RuntimeError):
    """A command that is measured failed: its time says nothing."""


@dataclass(frozen=True)
class Command:
    """A command; `fails` are the exit statuses, beside 0, that are no failure."""

    line: Sequence[object]  # its parts, not yet as text
    cwd: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    fails: tuple[int, ...] = ()


@dataclass
class Memory:
    """The most memory in use at once, in MB; what processes share is counted once.

    In the sandboxes is what runs in another pid namespace than this process.
    """

    whole: float = 0.0
    grader: float = 0.0
    sandboxes: float = 0.0
    sandboxed: int = 0  # processes in sandboxes
    unseen: int = 0  # processes that this user may not look at


@dataclass
class Measured:
    """What commands took together."""

    seconds: float
    cpu_seconds: float
    memory: Memory | None = None
    left_behind: list[str] = field(default_factory=list)  # processes that it did not end
    complaints: list[str] = field(default_factory=list)  # that it fell back


def adopt_orphans() -> None:
    """Become the parent of whatever our descendants leave behind."""
    if sys.platform != "linux":
        raise SystemExit("This measures whole trees of processes, which needs Linux.")
    if ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot become a subreaper")


def measure(
    commands: Sequence[Command], *, at_once: int = 1, with_memory: bool = False
) -> Measured:
    """Run commands, so many at once, and return what they took until the last one ended."""
    memory = MemoryWatch() if with_memory else None
    before, start = _cpu_seconds(), time.perf_counter()
    if memory:
        memory.start()
    pool = ThreadPoolExecutor(at_once)
    try:
        said = "\n".join(pool.map(_run, commands))
        seconds = time.perf_counter() - start
        _await_descendants()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        peak = memory.stop() if memory else None
        left_behind = _end_descendants()
        pool.shutdown()
    complaints = [line for line in said.splitlines() if FALLBACK in line]
    return Measured(seconds, _cpu_seconds() - before, peak, left_behind, complaints)


def _run(command: Command) -> str:
    done = subprocess.run(
        [str(part) for part in command.line],
        cwd=command.cwd,
        env={**os.environ, **command.variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    if done.returncode not in (0, *command.fails):
        line = " ".join(str(part) for part in command.line)
        raise CommandFailedError(f"{line}\nended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _await_descendants() -> None:
    """Give what a command left behind some time to end."""
    deadline = time.monotonic() + _GRACE_SECONDS
    while _descendants() and time.monotonic() < deadline:
        time.sleep(0.02)


def _end_descendants() -> list[str]:
    """End what still runs of our descendants, and return their names."""
    names = []
    while descendants := _descendants():
        for each in descendants:
            with suppress(psutil.NoSuchProcess):
                names.append(each.name())
                each.kill()
        time.sleep(0.02)
    return names


def _descendants() -> list[psutil.Process]:
    """Return our living descendants; dead ones that came to us as orphans are buried."""
    living = []
    for each in psutil.Process().children(recursive=True):
        try:
            if each.status() != psutil.STATUS_ZOMBIE:
                living.append(each)
            elif each.ppid() == os.getpid():
                os.waitpid(each.pid, os.WNOHANG)
        except (psutil.NoSuchProcess, ChildProcessError):
            continue
    return living


class MemoryWatch:
    """Looks, on a clock, at what memory our descendants use."""

    def __init__(self) -> None:
        self._peak = Memory()
        self._own = os.readlink("/proc/self/ns/pid")
        self._ended = threading.Event()
        self._pool = ThreadPoolExecutor(1)

    def start(self) -> None:
        self._watching = self._pool.submit(self._watch)

    def stop(self) -> Memory:
        """Return the most that was in use at once."""
        self._ended.set()
        self._pool.shutdown()
        return self._watching.result()

    def _watch(self) -> Memory:
        while not self._ended.wait(_SAMPLE_SECONDS):
            self._look()
        return self._peak

    def _look(self) -> None:
        now = Memory()
        for process in psutil.Process().children(recursive=True):
            try:
                is_outside = os.readlink(f"/proc/{process.pid}/ns/pid") == self._own
                size = proportional_megabytes(process.pid)
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            except PermissionError:
                now.unseen += 1
                continue
            now.whole += size
            if is_outside:
                now.grader += size
            else:
                now.sandboxes += size
                now.sandboxed += 1
        for name, value in vars(now).items():
            setattr(self._peak, name, max(value, getattr(self._peak, name)))


def proportional_megabytes(pid: int) -> float:
    """Return a process's proportional share of memory."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 1024
    return 0.0  # it is ending


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for everything, what the engines keep in temporary folders included."""
    folder = Path(tempfile.mkdtemp(prefix="benchmark-"))
    folder.chmod(0o755)  # the sandbox's user has to pass
    temporary = folder / "tmp"
    temporary.mkdir()
    os.environ["TMPDIR"] = str(temporary)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
