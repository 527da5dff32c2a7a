"""Start the warm server, request sandboxes, and fall back to bubblewrap."""

import atexit
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_client.connect import port_names

from pytree_course.grading import limits
from pytree_course.grading.sandbox import policy
from pytree_course.grading.sandbox.bounds import new_group
from pytree_course.grading.sandbox.bubblewrap import make_sandbox, own_variables, serving
from pytree_course.grading.sandbox.request import CALL, READY, Sandbox, SandboxRequest
from pytree_course.grading.sandbox.system_calls import filter_instructions

_PID = re.compile(r"^Pid:\s*(-?\d+)$", re.MULTILINE)


class WarmServerError(RuntimeError):
    """The warm server could not start, has ended, or could not make a sandbox."""


def kernel_request(
    environment: Mapping[str, str], files: Mapping[str, str]
) -> tuple[dict[str, Any], SandboxRequest]:
    """Return connection information that no other kernel has, and a request for its sandbox."""
    connection: dict[str, Any] = {
        "transport": "ipc",  # no network reaches into the sandbox
        "ip": f"/tmp/kernel-{secrets.token_hex(8)}",
        "key": secrets.token_hex(32),
        "signature_scheme": "hmac-sha256",
        **{name: number for number, name in enumerate(port_names, start=1)},
    }
    return connection, SandboxRequest(
        policy.sandbox_user(),
        filter_instructions().hex(),
        policy.variables(environment),
        {**files, policy.CONNECTION_FILE: json.dumps(connection)},
    )


def ask(requests: socket.socket, request: SandboxRequest) -> Sandbox:
    """Ask a server for a sandbox; a WarmServerError has what it said instead."""
    with ExitStack() as undone:
        channel, theirs = socket.socketpair()
        undone.enter_context(channel)
        if (group := new_group()) is not None:
            undone.callback(group.close)
        try:
            channel.settimeout(limits.START_SECONDS)
            with theirs:
                socket.send_fds(requests, [b"\0"], [theirs.fileno()])
            _, process, _, _ = socket.recv_fds(channel, 1, 1)
            if process:
                undone.callback(os.close, process[0])
                about = Path(f"/proc/self/fdinfo/{process[0]}").read_text(encoding="ascii")
                pid = int(_PID.findall(about)[0])  # the number that it has here
                if group is not None:
                    group.add(pid)  # before it knows what to run
                channel.sendall(request.to_bytes())
                channel.shutdown(socket.SHUT_WR)
            number = 0
            while number >= 0 and (received := channel.recv(CALL.size)):
                number, _, _ = CALL.unpack(received)
            if number == READY:
                channel.setblocking(False)
                undone.pop_all()
                return Sandbox(pid, process[0], channel, lambda: None, group)
            with channel.makefile("rb") as rest:
                said = rest.read().decode(errors="replace")
        except OSError as error:
            said = str(error)
    raise WarmServerError(said.strip())


class WarmServer:
    """The server's process, in a view of its own; it ends with this object or this process.

    It is asked by the socket `requests`, which other processes may have too.
    """

    def __init__(self) -> None:
        """Start it without waiting: requests that come before it is ready wait in its socket.

        The thread that does this has to live as long as the server.
        """
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                serving([sys.executable, "-m", "pytree_course.grading.sandbox.warm_server"]),
                env=own_variables(),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )

    def require_sandbox(self) -> None:
        """Wait until it has made one sandbox."""
        _, request = kernel_request({}, {})
        self.make_sandbox(request).end()

    def make_sandbox(self, request: SandboxRequest) -> Sandbox:
        """Have it make a sandbox; where it cannot, end it.

        The WarmServerError has what it said, there and on its standard error.
        """
        try:
            return ask(self.requests, request)
        except WarmServerError as error:
            self._process.kill()
            _, words = self._process.communicate()
            raise WarmServerError(f"{error} {words.decode(errors='replace')}".strip()) from error

    def close(self) -> None:
        """End it, and with it all kernels that it has forked."""
        self.requests.close()
        with self._process:
            self._process.kill()


class Door:
    """How this process launches sandboxes, chosen once.

    It is given to this process, or else chosen when the first sandbox is wanted: a warm server of
    this process's own, or bubblewrap where that one cannot make a sandbox.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._make: Callable[[SandboxRequest], Sandbox] | None = None

    def choose(self, requests: socket.socket | None) -> None:
        """Ask this server from now on; without one, have bubblewrap make each sandbox."""
        self._make = make_sandbox if requests is None else partial(ask, requests)

    def make_sandbox(self, request: SandboxRequest) -> Sandbox:
        """Make a sandbox; once the warm server fails, bubblewrap makes this and all later ones."""
        if os.environ.get(policy.ENGINE_VARIABLE) == "fresh":
            return make_sandbox(request)
        with self._lock:
            try:
                if self._make is None:
                    server = WarmServer()
                    atexit.register(server.close)
                    server.require_sandbox()
                    self._make = server.make_sandbox
                return self._make(request)
            except WarmServerError as error:
                say_slow(error)
                self._make = make_sandbox
        return make_sandbox(request)


def say_slow(why: WarmServerError) -> None:
    """Say on the terminal why kernels start slowly from now on, despite nbval's redirection."""
    print(f"Kernels start one by one, slowly: {why}", file=sys.__stderr__)


door = Door()
