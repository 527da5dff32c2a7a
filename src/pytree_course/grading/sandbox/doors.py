"""The two doors into a sandbox: a fork of the warm server, or a fresh process."""

import atexit
import json
import os
import re
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_client.connect import port_names

from pytree_course.grading import limits
from pytree_course.grading.sandbox import policy
from pytree_course.grading.sandbox.request import READY, Sandbox, SandboxRequest
from pytree_course.grading.sandbox.system_calls import filter_instructions

_PID = re.compile(r"^Pid:\s*(-?\d+)$", re.MULTILINE)


class SandboxError(RuntimeError):
    """A sandbox could not be made; the message says what its processes reported."""


def kernel_request(
    environment: Mapping[str, str], files: Mapping[str, str]
) -> tuple[dict[str, Any], SandboxRequest]:
    """Return connection information that no other kernel has, and a request for its sandbox."""
    connection: dict[str, Any] = {
        "transport": "ipc",  # no network reaches into the sandbox
        "ip": f"{policy.TMP}/kernel-{secrets.token_hex(8)}",
        "key": secrets.token_hex(32),
        "signature_scheme": "hmac-sha256",
        **{name: number for number, name in enumerate(port_names, start=1)},
    }
    all_files = dict(files)
    all_files[policy.HOSTS_FILE] = policy.HOSTS
    all_files[policy.CONNECTION_FILE] = json.dumps(connection)
    return connection, SandboxRequest(
        user=policy.sandbox_user(),
        call_filter=filter_instructions().hex(),
        variables=policy.variables(environment),
        files=all_files,
    )


class WarmServer:
    """The server's process, in a view of its own; it ends with this object or this process.

    It is asked by the socket `requests`, which other processes may have too.
    """

    def __init__(self) -> None:
        """Start it without waiting: requests that come before it is ready wait in its socket.

        The thread that does this has to live as long as the server.
        """
        self.requests, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far_end:
            self._process = _start("warm_server", far_end)

    def make_sandbox(self, request: SandboxRequest) -> Sandbox:
        """Have it make a sandbox; where it cannot, end it."""
        try:
            return fork_sandbox(self.requests, request)
        except SandboxError as error:
            raise SandboxError(f"{error}\n{_end_process(self._process)}".strip()) from error

    def close(self) -> None:
        """End it, and with it all kernels that it has forked."""
        self.requests.close()
        _end_process(self._process)


def fork_sandbox(requests: socket.socket, request: SandboxRequest) -> Sandbox:
    """Have a warm server fork a sandbox."""
    channel, far_end = socket.socketpair()
    with far_end:
        try:
            socket.send_fds(requests, [b"\0"], [far_end.fileno()])
        except OSError as error:
            channel.close()
            raise SandboxError(str(error)) from error
    return _ready_sandbox(channel, request, lambda: None)


def fresh_sandbox(request: SandboxRequest) -> Sandbox:
    """Make a sandbox of a fresh process; it ends with the thread that called this."""
    channel, far_end = socket.socketpair()
    with far_end:
        process = _start("enter", far_end, *policy.kernel_command(policy.CONNECTION_FILE))
    try:
        return _ready_sandbox(channel, request, partial(_end_process, process))
    except SandboxError as error:
        raise SandboxError(f"{error}\n{_end_process(process)}".strip()) from error


def _start(module: str, standard_input: socket.socket, *arguments: str) -> subprocess.Popen[bytes]:
    """Run a module of this package in the view that sandboxes are made in."""
    command = [sys.executable, "-m", f"{__package__}.{module}", *arguments]
    return subprocess.Popen(
        policy.in_view(command),
        env={"PATH": os.environ.get("PATH", os.defpath)},  # code inside can read it in /proc
        stdin=standard_input.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _end_process(process: subprocess.Popen[bytes]) -> str:
    """End a process; return what it wrote to its standard error."""
    if process.returncode is not None:  # it was ended before
        return ""
    process.kill()
    _, written = process.communicate()
    return written.decode(errors="replace")


def _ready_sandbox(
    channel: socket.socket, request: SandboxRequest, release: Callable[[], object]
) -> Sandbox:
    """Send a new sandbox its request, and return it once it is ready.

    It first sends a pidfd of itself, then `READY`; or else the text of an error.
    """
    with ExitStack() as on_failure:
        on_failure.enter_context(channel)
        try:
            channel.settimeout(limits.START_SECONDS)
            answer, pidfds, _, _ = socket.recv_fds(channel, 1, 1)
            if pidfds:
                on_failure.callback(os.close, pidfds[0])
                channel.sendall(request.to_bytes())
                channel.shutdown(socket.SHUT_WR)
                answer = channel.recv(1)
            if answer != READY:
                with channel.makefile("rb") as rest:
                    raise SandboxError((answer + rest.read()).decode(errors="replace").strip())
            information = Path(f"/proc/self/fdinfo/{pidfds[0]}").read_text(encoding="ascii")
        except TimeoutError as error:
            seconds = f"{limits.START_SECONDS:g} seconds"
            raise SandboxError(f"It did not start within {seconds}.") from error
        except OSError as error:
            raise SandboxError(str(error)) from error
        on_failure.pop_all()
        pid = int(_PID.findall(information)[0])  # its number in this process namespace
        return Sandbox(pid, pidfds[0], channel, release)


class Door:
    """How this process makes sandboxes, chosen once.

    It is given to this process, or else chosen when the first sandbox is needed: a warm server of
    this process's own, or fresh processes if that one cannot make a sandbox.
    """

    def __init__(self) -> None:
        self._make: Callable[[SandboxRequest], Sandbox] | None = None

    def choose(self, requests: socket.socket | None) -> None:
        """Ask this server from now on; without one, make each sandbox of a fresh process."""
        self._make = fresh_sandbox if requests is None else partial(fork_sandbox, requests)

    def make_sandbox(self, request: SandboxRequest) -> Sandbox:
        """Make a sandbox; once the warm server fails, this one and all later ones are fresh."""
        if self._make is None:
            server = WarmServer()
            atexit.register(server.close)
            self._make = server.make_sandbox
        if self._make is not fresh_sandbox:
            try:
                return self._make(request)
            except SandboxError as error:
                say_slow(error)
                self._make = fresh_sandbox
        return fresh_sandbox(request)


def say_slow(error: SandboxError) -> None:
    """Print on the terminal why kernels start slowly from now on, despite nbval's redirection."""
    print(f"Kernels start one by one, slowly: {error}", file=sys.__stderr__)


door = Door()
