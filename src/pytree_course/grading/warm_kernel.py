"""Kernels that a warm server forks: they start in a tenth of the time that fresh ones take."""

import atexit
import contextlib
import os
import re
import secrets
import select
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.sandbox import sandbox_user, serving, variables
from pytree_course.grading.sandbox_provisioner import COURSE_INSIDE
from pytree_course.grading.sandbox_request import READY, SandboxRequest
from pytree_course.grading.sandbox_sockets import SandboxSockets
from pytree_course.grading.system_calls import filter_instructions, keyctl_number

_PID = re.compile(r"^Pid:\s*(\d+)$", re.MULTILINE)
_LAST_WORDS_SECONDS = 1.0
_ENDING_MILLISECONDS = 10_000


class WarmServerError(RuntimeError):
    """The warm server could not start, has ended, or could not make a sandbox."""


class WarmServer:
    """The server's process, in a view of its own; it ends with this object or this process."""

    def __init__(self) -> None:
        """Start it, and do not wait: what is asked for before it is ready waits in its socket."""
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                serving([sys.executable, "-m", "pytree_course.grading.warm_server"], COURSE_INSIDE),
                env={"PATH": os.environ.get("PATH", os.defpath)},
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

    def fork(self, request: SandboxRequest) -> int:
        """Return a sandbox, as the descriptor of its first process, once its kernel listens."""
        ours, theirs = socket.socketpair()
        process: list[int] = []
        with ours:
            ours.settimeout(limits.START_SECONDS)
            try:
                with theirs:
                    socket.send_fds(self._requests, [b"\0"], [theirs.fileno()])
                ours.sendall(request.to_bytes())
                ours.shutdown(socket.SHUT_WR)
                said, process, _, _ = socket.recv_fds(ours, 1, 1)
                with ours.makefile("rb") as rest:
                    said += rest.read()
                if process and said[1:] == READY:
                    return process.pop()
            except OSError as error:
                raise WarmServerError(self._trouble(str(error))) from error
            finally:
                for descriptor in process:
                    os.close(descriptor)
        raise WarmServerError(self._trouble(said.decode(errors="replace")))

    def close(self) -> None:
        """End it, and with it all kernels that it has forked."""
        self._requests.close()
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()

    def _trouble(self, said: str) -> str:
        """Return what was said of a failure, here or by a server that has ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS_SECONDS)
        if self._process.returncode is not None and self._process.stderr is not None:
            said += f" {self._process.stderr.read().decode(errors='replace')}"
        return said.strip("\0 \n")


class _ServerOfThisProcess:
    """The one server of this process, from when it is first wanted; none after it has failed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._server: WarmServer | None = None
        self._has_failed = False

    def started(self) -> WarmServer | None:
        with self._lock:
            if self._server is None and not self._has_failed:
                self._server = WarmServer()
                atexit.register(self._server.close)
            return self._server

    def give_up(self, error: WarmServerError) -> None:
        """Say once why kernels start slowly from now on; nbval's own output is not shown."""
        with self._lock:
            if self._server is not None:
                atexit.unregister(self._server.close)
                self._server.close()
                print(f"Kernels start one by one, slowly: {error}", file=sys.__stderr__)
            self._server, self._has_failed = None, True


_of_this_process = _ServerOfThisProcess()


def start_warm_server() -> None:
    """Have this process's warm server start, without waiting for it."""
    _of_this_process.started()


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
        request = SandboxRequest(
            sandbox_user(),
            keyctl_number(),
            filter_instructions().hex(),
            variables(
                {**environment, COURSE_VARIABLE: COURSE_INSIDE, "IPYTHONDIR": "/tmp/ipython"}
            ),
            connection,
            COURSE_INSIDE,
            {
                file.relative_to(course).as_posix(): file.read_text(encoding="utf-8")
                for file in course.rglob("*")
                if file.is_file()
            },
        )
        server = _of_this_process.started()
        if server is None:
            raise WarmServerError("it has failed before")
        try:
            self._process = server.fork(request)
        except WarmServerError as error:
            _of_this_process.give_up(error)
            raise
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
            self._process = -1

    def _has_ended_within(self, milliseconds: int) -> bool:
        end = select.poll()
        end.register(self._process, select.POLLIN)
        return bool(end.poll(milliseconds))
