"""A sandboxed kernel: start it, connect to its sockets, watch it, end it."""

import contextlib
import os
import socket
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.budget import ProcessTree
from pytree_course.grading.sandbox.bounds import UsageWatch
from pytree_course.grading.sandbox.policy import COURSE_INSIDE, FOLDERS_IN_MEMORY
from pytree_course.grading.sandbox.request import Sandbox
from pytree_course.grading.sandbox.server_process import door, kernel_request, new_connection
from pytree_course.grading.sandbox.system_calls import PROCESS_CALLS, number_of

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


class SandboxedKernel:
    """A running kernel in a sandbox of its own."""

    def __init__(self, course: Path, environment: Mapping[str, str]) -> None:
        """Start one that sees the files of a folder as the course."""
        self._connection = new_connection()
        self._sockets = SandboxSockets(self._connection["ip"])
        files = {
            f"{COURSE_INSIDE}/{file.relative_to(course).as_posix()}": file.read_text("utf-8")
            for file in course.rglob("*")
            if file.is_file()
        }
        inside = {**environment, COURSE_VARIABLE: COURSE_INSIDE, "IPYTHONDIR": "/tmp/ipython"}
        self._sandbox = door.make_sandbox(kernel_request(self._connection, inside, files))
        self._watch: UsageWatch | None = None
        try:
            ports = [self._connection[name] for name in port_names]
            self._sockets.open(self._sandbox, ports, limits.START_SECONDS)
            self._watch = UsageWatch(self._sandbox, self._sockets.proc, self._sockets.folders)
        except BaseException:
            self.end()
            raise
        group = self._sandbox.group
        self.processes = ProcessTree(
            self._sockets.proc, counted=group.seconds if group else None, began=self._began
        )

    def client(self) -> BlockingKernelClient:
        """Return a client, not yet connected."""
        client = BlockingKernelClient()
        connection: Any = {**self._connection, "ip": self._sockets.outside}
        client.load_connection_info(connection)
        return client

    def connected(self) -> None:
        """Make its sockets unreachable by name; called once the client is connected."""
        self._sockets.leave()

    @property
    def exceeded(self) -> str:
        """What its processes together used too much of, in words; or ""."""
        return self._watch.exceeded if self._watch else ""

    def settle(self) -> None:
        """Stop its processes, and look a last time at what they use up."""
        if self._watch:
            self._watch.settle()

    def _began(self) -> bool:
        calls = set(map(number_of, PROCESS_CALLS))
        return any(number in calls for number, _, _ in self._sandbox.reported_calls())

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self._sandbox.is_alive()

    def end(self) -> None:
        """End it at once, with all processes of its sandbox."""
        if self._watch:
            self._watch.stop()
        self._sandbox.end()
        self._sockets.close()
