"""A sandboxed kernel: start it, connect to its sockets, watch it, end it."""

import os
import socket
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.budget import ProcessTree
from pytree_course.grading.sandbox.bounds import UsageWatch
from pytree_course.grading.sandbox.policy import COURSE_INSIDE, FOLDERS_IN_MEMORY
from pytree_course.grading.sandbox.server_process import door, kernel_request
from pytree_course.grading.sandbox.system_calls import PROCESS_CALLS, number_of

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
        group = self.sandbox.group
        self.processes = ProcessTree(
            self.proc, counted=group.seconds if group else None, began=self.has_begun_process
        )

    def _open_view(self, at_end: ExitStack) -> list[int]:
        """Open its folders in memory and its own /proc, once all its sockets listen."""
        name = os.path.basename(self._connection["ip"])  # no other sandbox's kernel has it
        deadline = time.monotonic() + limits.START_SECONDS
        process = psutil.Process(self.sandbox.pid)
        while time.monotonic() < deadline and self.is_alive():
            # bubblewrap's first process stays outside of the sandbox that it makes. Until a view is
            # made, these are folders of the outside, and have no such sockets.
            for pid in (process.pid, *(child.pid for child in process.children())):
                with suppress(OSError), ExitStack() as opened, ExitStack() as way:
                    folders = [
                        _opened(f"/proc/{pid}/root{place}", opened) for place in FOLDERS_IN_MEMORY
                    ]
                    # It has the sandbox's processes and no others.
                    self.proc = f"/proc/self/fd/{_opened(f'/proc/{pid}/root/proc', opened)}"
                    way.callback(os.close, same := os.dup(folders[0]))
                    self._sockets = f"/proc/self/fd/{same}/{name}"
                    for port in port_names:
                        with socket.socket(socket.AF_UNIX) as trial:
                            # It does not listen yet, where this fails.
                            trial.connect(f"{self._sockets}-{self._connection[port]}")
                    # Their memory is free once its processes have ended, too.
                    at_end.callback(opened.pop_all().close)
                    self._way = way.pop_all()
                    at_end.callback(self._way.close)
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

    def settle(self) -> None:
        """Stop its processes, and look a last time at what they use up."""
        self._watch.settle()

    def has_begun_process(self) -> bool:
        """Say whether a process has begun in it since this was last asked."""
        calls = set(map(number_of, PROCESS_CALLS))
        return any(number in calls for number, _, _ in self.sandbox.reported_calls())

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
