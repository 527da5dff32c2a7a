"""A sandboxed kernel: start it, connect to its sockets, watch it, end it."""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.budget import ProcessTree
from pytree_course.grading.sandbox.doors import door, kernel_request
from pytree_course.grading.sandbox.policy import COURSE_INSIDE, FOLDERS_IN_MEMORY, TMP
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
        connection, request = kernel_request(inside, files)
        with ExitStack() as cleanup:
            self.sandbox = door.make_sandbox(request)
            cleanup.callback(self.sandbox.end)
            root = f"/proc/{self.sandbox.pid}/root"
            folders = [_opened(f"{root}{place}", cleanup) for place in FOLDERS_IN_MEMORY]
            # The sandbox's own /proc lists only its processes.
            self.proc = f"/proc/self/fd/{_opened(f'{root}/proc', cleanup)}"
            self._socket_folder_open = cleanup.enter_context(ExitStack())  # until `on_connected`
            socket_folder = _opened(f"{root}{TMP}", self._socket_folder_open)
            # The "ip" of an ipc connection is a path, to which its client adds the ports.
            sockets = f"/proc/self/fd/{socket_folder}/{os.path.basename(connection['ip'])}"
            self.connection: Any = {**connection, "ip": sockets}
            self._wait_for_sockets()
            self._watch = UsageWatch(self.sandbox, self.proc, folders)
            cleanup.callback(self._watch.stop)
            self._cleanup = cleanup.pop_all()
        self.processes = ProcessTree(self.proc)

    def _wait_for_sockets(self) -> None:
        """Wait until all its sockets listen."""
        deadline = time.monotonic() + limits.START_SECONDS
        while time.monotonic() < deadline and self.is_alive():
            with suppress(OSError):  # one of them does not listen yet
                for port in port_names:
                    with socket.socket(socket.AF_UNIX) as trial:
                        trial.connect(f"{self.connection['ip']}-{self.connection[port]}")
                return
            time.sleep(_POLL_SECONDS)
        raise TimeoutError("the sandbox's kernel opened no sockets")

    def on_connected(self) -> None:
        """Make its sockets unreachable by path.

        ZeroMQ reconnects by path, and by then the kernel could have replaced its socket with a link
        to one outside the sandbox.
        """
        self._socket_folder_open.close()

    @property
    def exceeded(self) -> str:
        """What its processes together used too much of, in words; or ""."""
        return self._watch.exceeded

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self.sandbox.is_alive()

    def end(self) -> None:
        """End it at once, with all processes of its sandbox."""
        self._cleanup.close()


def _opened(folder: str, until: ExitStack) -> int:
    """Open a folder until a stack is closed."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    until.callback(os.close, file)
    return file
