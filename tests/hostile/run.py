"""Run the command `grade`, and see what it uses up while it runs and leaves when it has ended."""

import ctypes
import re
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

LONGEST = 3_600  # seconds: whoever reaches them has hung the class
_LOOK_SECONDS = 0.5
_ENDING_SECONDS = 30  # what was told to end has so long, on a busy machine
_SET_CHILD_SUBREAPER = 36  # of prctl


@dataclass(frozen=True)
class Run:
    """How the command went."""

    returncode: int
    stdout: str
    stderr: str
    peak_memory: int  # bytes, of its largest process outside of the sandbox
    left_processes: list[str]  # command lines of what still lived when it had ended
    left_files: list[str]  # in its temporary folder

    @property
    def said(self) -> str:
        """All that it printed, as one line."""
        return " ".join(f"{self.stdout} {self.stderr}".split())


def run_watched(command: Sequence[str], variables: Mapping[str, str], temporary: Path) -> Run:
    """Run the command with a temporary folder of its own; processes that it leaves are ended."""
    temporary.mkdir()
    before = _processes()
    # What the command leaves becomes a child of this process, whoever its parent was.
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        process = subprocess.Popen(
            command,
            env={**variables, "TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        memory = _PeakMemory(process.pid)
        stdout, stderr = process.communicate(timeout=LONGEST)
        memory.stop()
        _, left = psutil.wait_procs(_processes() - before, timeout=_ENDING_SECONDS)
    finally:
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
        for each in _processes() - before:
            with suppress(psutil.Error):
                each.kill()
    files = [str(each.relative_to(temporary)) for each in temporary.rglob("*")]
    return Run(process.returncode, stdout, stderr, memory.peak, [*map(str, left)], files)


def _processes() -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True))


class _PeakMemory:
    """A thread that looks at the most memory that a process or one of its pool ever had."""

    def __init__(self, pid: int) -> None:
        self.peak = 0
        self._pid = pid
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stopped.wait(_LOOK_SECONDS):
            with suppress(psutil.Error, OSError):
                # The pool's processes are its children; the sandboxes are the children of those.
                pids = [self._pid, *(each.pid for each in psutil.Process(self._pid).children())]
                self.peak = max(self.peak, *map(_peak, pids))


def _peak(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) * 1024 if found else 0
