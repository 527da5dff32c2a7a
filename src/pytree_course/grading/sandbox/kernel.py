"""A sandboxed kernel: start it, connect to its sockets, watch it, end it."""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.budget import ProcessTree
from pytree_course.grading.sandbox.doors import door, kernel_request
from pytree_course.grading.sandbox.policy import COURSE_INSIDE, FOLDERS_IN_MEMORY
from pytree_course.grading.sandbox.usage import UsageWatch

_POLL_SECONDS = 0.02


class SandboxedKernel:
    """A running kernel in a sandbox of its own.

    The sandbox's folders are kept open from outside, so that none has to be shared with it.
    """

    def __init__(self, course: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Start one that sees texts as the course's files, by their paths."""
        files = {f"{COURSE_INSIDE}/{name}": text for name, text in course.items()}
        inside = {**environment, COURSE_VARIABLE: COURSE_INSIDE, "IPYTHONDIR": "/tmp/ipython"}
        self._connection, request = kernel_request(inside, files)
        with ExitStack() as at_end:
            self.sandbox = door.make_sandbox(request)
            at_end.callback(self.sandbox.end)
            folders = self._open_view(at_end)
            self._watch = UsageWatch(self.sandbox, self.proc, folders)
            at_end.callback(self._watch.stop)
            self._at_end = at_end.pop_all()
        self.processes = ProcessTree(self.proc)

    def _open_view(self, at_end: ExitStack) -> list[int]:
        """Open its folders in memory and its own /proc; wait until all its sockets listen."""
        root = f"/proc/{self.sandbox.pid}/root"
        folders = [_opened(f"{root}{place}", at_end) for place in FOLDERS_IN_MEMORY]
        # It has the sandbox's processes and no others.
        self.proc = f"/proc/self/fd/{_opened(f'{root}/proc', at_end)}"
        self._way = at_end.enter_context(ExitStack())
        way = _opened(f"{root}{FOLDERS_IN_MEMORY[0]}", self._way)
        self._sockets = f"/proc/self/fd/{way}/{os.path.basename(self._connection['ip'])}"
        deadline = time.monotonic() + limits.START_SECONDS
        while time.monotonic() < deadline and self.is_alive():
            with suppress(OSError):  # one of them does not listen yet
                for port in port_names:
                    with socket.socket(socket.AF_UNIX) as trial:
                        trial.connect(f"{self._sockets}-{self._connection[port]}")
                return folders
            time.sleep(_POLL_SECONDS)
        raise TimeoutError("the sandbox's kernel opened no sockets")

    def client(self) -> BlockingKernelClient:
        """Return a client, not yet connected."""
        client = BlockingKernelClient()
        connection: Any = {**self._connection, "ip": self._sockets}
        client.load_connection_info(connection)
        return client

    def connected(self) -> None:
        """Make its sockets unreachable by name; called once the client is connected.

        A connection that is lost is made anew by its name, and the kernel could have put a link to
        a socket of the outside in the place of its own.
        """
        self._way.close()

    @property
    def exceeded(self) -> str:
        """What its processes together used too much of, in words; or ""."""
        return self._watch.exceeded

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self.sandbox.is_alive()

    def end(self) -> None:
        """End it at once, with all processes of its sandbox."""
        self._at_end.close()


def _opened(folder: str, until: ExitStack) -> int:
    """Open a folder until a stack is closed."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    until.callback(os.close, file)
    return file
