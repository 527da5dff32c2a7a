"""A kernel in a sandbox, through either door: it is started, watched and ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.process_tree import ProcessTree
from pytree_course.grading.sandbox.policy import COURSE_INSIDE
from pytree_course.grading.sandbox.server_process import door, kernel_request, new_connection
from pytree_course.grading.sandbox.sockets import SandboxSockets
from pytree_course.grading.sandbox.system_calls import PROCESS_CALLS, number_of
from pytree_course.grading.sandbox.usage import UsageWatch


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
        self._watch = UsageWatch(self._sandbox, self._sockets)
        try:
            ports = [self._connection[name] for name in port_names]
            self._sockets.open(self._sandbox, ports, limits.START_SECONDS)
            self._watch.start()
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
        """Make its sockets unreachable from now on; called once the client is connected."""
        self._sockets.leave()

    @property
    def exceeded(self) -> str:
        """What its processes together used too much of, in words, so that it was ended; or ""."""
        group = self._sandbox.group
        return self._watch.exceeded or (group.exceeded() if group else "")

    def _began(self) -> bool:
        calls = set(map(number_of, PROCESS_CALLS))
        return any(number in calls for number, _, _ in self._sandbox.reported_calls())

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self._sandbox.is_alive()

    def end(self) -> None:
        """End it at once, with all processes of its sandbox."""
        self._watch.stop()
        self._sandbox.end()
        self._sockets.close()
