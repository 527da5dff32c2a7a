"""Kernels that a warm server forks: they start in a tenth of the time that fresh ones take."""

import contextlib
import os
import re
import secrets
import select
import signal
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import warm_process
from pytree_course.grading.sandbox import COURSE_INSIDE
from pytree_course.grading.sandbox_sockets import SandboxSockets
from pytree_course.grading.warm_process import request_for

_PID = re.compile(r"^Pid:\s*(\d+)$", re.MULTILINE)
_ENDING_MILLISECONDS = 10_000


class WarmKernel:
    """A running kernel in a sandbox that the warm server has forked.

    Attributes
    ----------
    pid
        The sandbox's first process, as this process sees it.
    sockets
        The way to its sockets.
    """

    def __init__(self, course: Path, environment: dict[str, str]) -> None:
        """Start one that sees a folder as the course; a WarmServerError says that none can."""
        self.sockets = SandboxSockets()
        connection: Any = {
            "transport": "ipc",
            "ip": self.sockets.inside,
            "key": secrets.token_hex(32),
            "signature_scheme": "hmac-sha256",
            **{name: number for number, name in enumerate(port_names, start=1)},
        }
        files = {
            file.relative_to(course).as_posix(): file.read_text(encoding="utf-8")
            for file in course.rglob("*")
            if file.is_file()
        }
        inside = {**environment, COURSE_VARIABLE: COURSE_INSIDE, "IPYTHONDIR": "/tmp/ipython"}
        sandbox = warm_process.server_of_this_process.ask(request_for(inside, connection, files))
        self._process, self._lifeline = sandbox.process, sandbox.lifeline
        described = Path(f"/proc/self/fdinfo/{self._process}").read_text(encoding="ascii")
        self.pid = int(_PID.findall(described)[0])
        self.sockets.open_view_of(self.pid)
        self._connection = connection

    def client(self) -> BlockingKernelClient:
        """Return a client, not yet connected."""
        client = BlockingKernelClient()
        client.load_connection_info(self._connection)
        client.ip = self.sockets.outside
        return client

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self._process >= 0 and not self._has_ended_within(0)

    def end(self) -> None:
        """End it at once, with all processes of its sandbox."""
        if self._process >= 0:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
            self._has_ended_within(_ENDING_MILLISECONDS)
            os.close(self._process)
            os.close(self._lifeline)
            self._process = -1

    def _has_ended_within(self, milliseconds: int) -> bool:
        end = select.poll()
        end.register(self._process, select.POLLIN)
        return bool(end.poll(milliseconds))
