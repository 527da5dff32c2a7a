"""The warm server, from outside: its process, which one process starts, and requests to it."""

import atexit
import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_client.connect import port_names

from pytree_course.grading import limits
from pytree_course.grading.sandbox import description
from pytree_course.grading.sandbox.bubblewrap import own_variables, serving
from pytree_course.grading.sandbox.request import READY, Sandbox, SandboxRequest
from pytree_course.grading.sandbox.system_calls import filter_instructions

_LAST_WORDS_SECONDS = 1.0
_PID = re.compile(r"^Pid:\s*(-?\d+)$", re.MULTILINE)


class WarmServerError(RuntimeError):
    """The warm server could not start, has ended, or could not make a sandbox."""


def new_connection() -> dict[str, Any]:
    """Return connection information that no other kernel has."""
    return {
        "transport": "ipc",  # no network reaches into the sandbox
        "ip": f"/tmp/kernel-{secrets.token_hex(8)}",
        "key": secrets.token_hex(32),
        "signature_scheme": "hmac-sha256",
        **{name: number for number, name in enumerate(port_names, start=1)},
    }


def kernel_request(
    connection: Mapping[str, str | int], environment: Mapping[str, str], files: Mapping[str, str]
) -> SandboxRequest:
    """Return the request for a sandbox of this process, in which a kernel is to run."""
    return SandboxRequest(
        description.sandbox_user(),
        filter_instructions().hex(),
        description.variables(environment),
        {**files, description.CONNECTION_FILE: json.dumps(connection)},
    )


def ask(requests: socket.socket, request: SandboxRequest) -> Sandbox:
    """Ask a server for a sandbox; a WarmServerError says what it said instead."""
    process: list[int] = []
    channel, theirs = socket.socketpair()
    their_end, lifeline = os.pipe()
    try:
        with channel, theirs:
            channel.settimeout(limits.START_SECONDS)
            try:
                socket.send_fds(requests, [b"\0"], [theirs.fileno(), their_end])
            finally:
                os.close(their_end)
                theirs.close()
            channel.sendall(request.to_bytes())
            channel.shutdown(socket.SHUT_WR)
            said, process, _, _ = socket.recv_fds(channel, 1, 1)
            with channel.makefile("rb") as rest:
                said += rest.read()
        if process and said[1:] == READY:
            return Sandbox(_pid(process[0]), process[0], partial(os.close, lifeline))
    except OSError as error:
        said = str(error).encode()
    for descriptor in (*process, lifeline):
        os.close(descriptor)
    raise WarmServerError(said.decode(errors="replace").strip("\0 \n"))


class WarmServer:
    """The server's process, in a view of its own; it ends with this object or this process.

    Attributes
    ----------
    requests
        What it is asked by; other processes may have it too.
    """

    def __init__(self) -> None:
        """Start it, and do not wait: what is asked for before it is ready waits in its socket.

        The thread that does this has to be there as long as the server.
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
        """Wait until one sandbox was made, or raise a WarmServerError that says why it was not."""
        try:
            ask(self.requests, kernel_request(new_connection(), {}, {})).end()
        except WarmServerError as error:
            raise WarmServerError(f"{error} {self.last_words()}".strip()) from error

    def last_words(self) -> str:
        """Return what it said when it ended; nothing, where it still runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_WORDS_SECONDS)
        if self._process.returncode is None or self._process.stderr is None:
            return ""
        return self._process.stderr.read().decode(errors="replace").strip()

    def close(self) -> None:
        """End it, and with it all kernels that it has forked."""
        self.requests.close()
        self._process.kill()
        self._process.wait()
        if self._process.stderr is not None:
            self._process.stderr.close()


class ServerOfThisProcess:
    """The one server that this process asks for sandboxes, until that server fails.

    It is the server that this process was given, or else its own, started when first wanted.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._own: WarmServer | None = None
        self._has_failed = False

    def use(self, requests: socket.socket) -> None:
        """Ask another process's server."""
        self._requests = requests

    def ask(self, request: SandboxRequest) -> Sandbox:
        """Ask for a sandbox. Who fails once is not asked again, which is said, once."""
        with self._lock:
            if self._has_failed:
                raise WarmServerError("it has failed before")
            if self._requests is None:
                self._own = WarmServer()
                atexit.register(self._own.close)
                self._requests = self._own.requests
            requests = self._requests
        try:
            return ask(requests, request)
        except WarmServerError as error:
            self._give_up(error)
            raise

    def _give_up(self, error: WarmServerError) -> None:
        with self._lock:
            if self._has_failed:
                return
            words = [str(error)]
            if self._own is not None:
                words.append(self._own.last_words())
                atexit.unregister(self._own.close)
                self._own.close()
            say_slow(" ".join(filter(None, words)))
            self._requests, self._own, self._has_failed = None, None, True


def say_slow(why: str) -> None:
    """Say why kernels start slowly from now on; nbval's own output is not shown."""
    print(f"Kernels start one by one, slowly: {why}", file=sys.__stderr__)


def _pid(process: int) -> int:
    """Return the number that an open process has here."""
    described = Path(f"/proc/self/fdinfo/{process}").read_text(encoding="ascii")
    return int(_PID.findall(described)[0])


server_of_this_process = ServerOfThisProcess()
