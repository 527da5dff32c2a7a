"""A sandboxed kernel: start it, connect to its sockets, watch its memory, end it."""

import os
import re
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.sandbox.doors import door, kernel_request
from pytree_course.grading.sandbox.policy import COURSE_INSIDE, TMP, WRITABLE_FOLDERS

_POLL_SECONDS = 0.02
# Each process has a part of the pages that it shares with others. Files on disk do not count.
_MEMORY_ROW = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)


class SandboxedKernel:
    """A running kernel in a sandbox of its own.

    No folder is shared with the sandbox: its sockets, memory and processes are reached through its
    folders, which are opened from outside.
    """

    def __init__(self, course: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Start one that sees the texts of `course` as the course's files, by their paths."""
        self.is_over_memory = False  # whether it was ended for that
        files = {f"{COURSE_INSIDE}/{name}": text for name, text in course.items()}
        variables = dict(environment)
        variables[COURSE_VARIABLE] = COURSE_INSIDE
        variables["IPYTHONDIR"] = f"{TMP}/ipython"
        connection, request = kernel_request(variables, files)
        with ExitStack() as cleanup:
            self.sandbox = door.make_sandbox(request)
            cleanup.callback(self.sandbox.end)
            root = f"/proc/{self.sandbox.pid}/root"
            self._folders = [_open(f"{root}{folder}", cleanup) for folder in WRITABLE_FOLDERS]
            # The sandbox's own /proc lists only its processes.
            proc = _open(f"{root}/proc", cleanup)
            self._proc = f"/proc/self/fd/{proc}"
            self._until_connected = cleanup.enter_context(ExitStack())
            socket_folder = _open(f"{root}{TMP}", self._until_connected)
            # The "ip" of an ipc connection is a path, to which its client appends the ports.
            name = os.path.basename(connection["ip"])
            self.connection: Any = dict(connection)
            self.connection["ip"] = f"/proc/self/fd/{socket_folder}/{name}"
            self._wait_for_sockets()
            self._stopped = threading.Event()
            watch = threading.Thread(target=self._watch_memory, name="memory watch", daemon=True)
            watch.start()
            cleanup.callback(watch.join)
            cleanup.callback(self._stopped.set)  # callbacks run in reverse order
            self._cleanup = cleanup.pop_all()

    def on_connected(self) -> None:
        """Close the path to its sockets.

        ZeroMQ would reconnect by path, and the kernel could have replaced its socket with a link to
        one outside of the sandbox.
        """
        self._until_connected.close()

    def processor_seconds(self) -> float:
        """Return the processor time of all its processes so far."""
        ticks = 0
        for process in self._processes():
            # The program's name, in parentheses, may contain any character. Of the fields after it
            # these are utime, stime, cutime and cstime: children that have ended are included.
            _, _, text = _read(f"{process}/stat").rpartition(")")
            ticks += sum(map(int, text.split()[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def is_alive(self) -> bool:
        """Return whether it still runs."""
        return self.sandbox.is_alive()

    def end(self) -> None:
        """End it at once, with all processes of its sandbox, and close what was opened."""
        self._cleanup.close()

    def _wait_for_sockets(self) -> None:
        """Wait until all its sockets listen."""
        deadline = time.monotonic() + limits.START_SECONDS
        while time.monotonic() < deadline and self.is_alive():
            with suppress(OSError):  # a socket that does not listen yet
                for port in port_names:
                    with socket.socket(socket.AF_UNIX) as trial:
                        trial.connect(f"{self.connection['ip']}-{self.connection[port]}")
                return
            time.sleep(_POLL_SECONDS)
        raise TimeoutError("the sandbox's kernel opened no sockets")

    def _watch_memory(self) -> None:
        """End the sandbox when it uses too much memory, or when its use cannot be measured.

        The operating system limits each process; this limits their sum.
        """
        with suppress(Exception):
            while not self._stopped.wait(limits.WATCH_SECONDS):
                if self._used_memory() > limits.MEMORY:
                    self.is_over_memory = True
                    break
        self.sandbox.kill()  # if `_stopped` is set, too: then it is about to be ended anyway

    def _used_memory(self) -> int:
        """Return the bytes that the sandbox's processes and folders in memory use together."""
        sizes = [os.fstatvfs(folder) for folder in self._folders]
        in_files = sum((size.f_blocks - size.f_bfree) * size.f_frsize for size in sizes)
        return in_files + sum(map(_process_memory, self._processes()))

    def _processes(self) -> list[str]:
        """Return the folders of all its processes; none once the sandbox has ended."""
        return [f"{self._proc}/{name}" for name in _list(self._proc) if name.isdigit()]


def _process_memory(process: str) -> int:
    """Return the bytes of memory that a process uses."""
    for thread in _list(f"{process}/task"):
        # The first thread may have ended before the others: its file is empty then.
        if rows := _MEMORY_ROW.findall(_read(f"{process}/task/{thread}/smaps_rollup")):
            return 1024 * sum(map(int, rows))
    return 0


def _list(folder: str) -> list[str]:
    """List a folder of /proc; return nothing if its process has ended."""
    try:
        return os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return []


def _read(path: str) -> str:
    """Read a file of /proc; return "" if its process has ended."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _open(folder: str, cleanup: ExitStack) -> int:
    """Open a folder; it is closed with the stack."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    cleanup.callback(os.close, file)
    return file
