"""The way into a sandbox from outside: its kernel's sockets, which lie in its own memory."""

import contextlib
import os
import socket
import time
from collections.abc import Iterable

import psutil

from pytree_course.grading.sandbox.policy import FOLDERS_IN_MEMORY
from pytree_course.grading.sandbox.request import Sandbox

_POLL_SECONDS = 0.02


class SandboxSockets:
    """Folders of a sandbox, kept open from outside, so that no folder has to be shared with it."""

    def __init__(self, inside: str) -> None:
        """Take the beginning of the sockets' names, which no other sandbox's kernel has."""
        self._name = os.path.basename(inside)
        self.folders: list[int] = []  # in its memory, as file descriptors, once it is open
        self._proc: int | None = None
        self._way: int | None = None

    @property
    def outside(self) -> str:
        """The beginning of the sockets' names, as this process sees them, until `leave`."""
        return f"/proc/self/fd/{self._way}/{self._name}"

    @property
    def proc(self) -> str:
        """The sandbox's own /proc, which has its processes and no others."""
        return f"/proc/self/fd/{self._proc}"

    def open(self, sandbox: Sandbox, ports: Iterable[int], timeout: float) -> None:
        """Wait until all sockets of a sandbox's kernel listen; or raise a TimeoutError."""
        deadline = time.monotonic() + timeout
        process = psutil.Process(sandbox.pid)
        while time.monotonic() < deadline and sandbox.is_alive():
            # bubblewrap's first process stays outside of the sandbox that it makes. Until a view is
            # made, these are folders of the outside, and have no such sockets.
            for pid in (sandbox.pid, *(child.pid for child in process.children())):
                with contextlib.suppress(OSError):
                    self._open_view_of(pid)
                    for port in ports:
                        with socket.socket(socket.AF_UNIX) as trial:
                            trial.connect(f"{self.outside}-{port}")  # or it does not listen yet
                    return
                self.close()
            time.sleep(_POLL_SECONDS)
        raise TimeoutError("the sandbox's kernel opened no sockets")

    def leave(self) -> None:
        """Make the sockets' names lead nowhere.

        A connection that is lost is made anew by its name, and the kernel could have put a link to
        a socket of the outside in the place of its own.
        """
        if self._way is not None:
            os.close(self._way)
            self._way = None

    def close(self) -> None:
        """Close the sandbox's folders: their memory is free once its processes have ended too."""
        self.leave()
        if self._proc is not None:
            os.close(self._proc)
            self._proc = None
        while self.folders:
            os.close(self.folders.pop())

    def _open_view_of(self, pid: int) -> None:
        for place in FOLDERS_IN_MEMORY:
            self.folders.append(_opened(f"/proc/{pid}/root{place}"))
        self._proc = _opened(f"/proc/{pid}/root/proc")
        self._way = os.dup(self.folders[0])


def _opened(folder: str) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
