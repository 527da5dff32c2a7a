"""Make a sandbox by one of two doors: a fork of the warm server, or a fresh process."""

import atexit
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytree_course.grading import limits
from pytree_course.grading.sandbox import policy
from pytree_course.grading.sandbox.enter import READY, SandboxRequest

_MAX_ENDING_MILLISECONDS = 10_000
_PID = re.compile(r"^Pid:\s*(-?\d+)$", re.MULTILINE)


class SandboxError(RuntimeError):
    """A sandbox could not be made; the message holds what its processes reported."""


@dataclass
class Sandbox:
    """A running sandbox, seen from outside."""

    pid: int  # of its first process, with which all others end
    pidfd: int  # an open file for that process; -1 after `end`
    channel: socket.socket  # the sandbox ends when this end is closed
    release: Callable[[], object]  # called when that process has ended

    def is_alive(self) -> bool:
        """Return whether it still runs."""
        return self.pidfd >= 0 and not self._has_ended_within(0)

    def kill(self) -> None:
        """Kill all of its processes, without waiting."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)

    def end(self) -> None:
        """Kill all of its processes, and wait until they have ended."""
        if self.pidfd >= 0:
            self.kill()
            self._has_ended_within(_MAX_ENDING_MILLISECONDS)
            self.channel.close()
            self.release()
            os.close(self.pidfd)
            self.pidfd = -1

    def _has_ended_within(self, milliseconds: int) -> bool:
        ended = select.poll()
        ended.register(self.pidfd, select.POLLIN)
        return bool(ended.poll(milliseconds))


class Door:
    """How a process makes sandboxes: by a warm server, or each from a fresh process.

    The *warm server* is a process that forks sandboxes in a view of its own: one that this starts
    with its first sandbox, or another process's, see `use_server`. If it fails, each sandbox starts
    from a fresh process from then on.
    """

    def __init__(self) -> None:
        self.is_chosen = False  # True from the first sandbox on, or from `use_server`
        self.requests: socket.socket | None = None  # if chosen: to a server; None: fresh processes
        self._server: subprocess.Popen[bytes] | None = None  # if this has started it

    def make_sandbox(self, request: SandboxRequest) -> Sandbox:
        """Make a sandbox.

        Call this in a thread that outlives the server: bubblewrap ends with the one it starts in.
        """
        if not self.is_chosen:
            self.is_chosen = True
            # Requests wait in this socket until the server is ready.
            self.requests, far_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with far_end:
                self._server = _start("warm_server", far_end)
        if self.requests is None:
            return fresh_sandbox(request)
        try:
            return _fork_sandbox(self.requests, request)
        except SandboxError as error:
            output = self.close()  # its kernels end, too, if this has started it
            sandbox = fresh_sandbox(request)
            # A grading redirects `sys.stderr`.
            message = f"Kernels start one by one, slowly: {error}\n{output}".strip()
            print(message, file=sys.__stderr__)
            return sandbox

    def close(self) -> str:
        """End the server that this has started, with its kernels; return its standard error."""
        if self.requests is not None:
            self.requests.close()
            self.requests = None
        return "" if self._server is None else _end_process(self._server)


def _fork_sandbox(requests: socket.socket, request: SandboxRequest) -> Sandbox:
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
    """Make a sandbox from a fresh process; it ends with the thread that called this."""
    channel, far_end = socket.socketpair()
    with far_end:
        process = _start("enter", far_end, *policy.kernel_command(policy.CONNECTION_FILE))
    try:
        return _ready_sandbox(channel, request, partial(_end_process, process))
    except SandboxError as error:
        output = _end_process(process)
        raise SandboxError(f"{error}\n{output}".strip()) from error


def _start(module: str, standard_input: socket.socket, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a module of this package in the view that sandboxes are made in."""
    command = [sys.executable, "-m", f"{__package__}.{module}", *arguments]
    return subprocess.Popen(
        policy.bwrap_command(command),
        # Nothing else: code inside can read it in /proc.
        env={"PATH": os.environ.get("PATH", os.defpath)},
        stdin=standard_input.fileno(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _end_process(process: subprocess.Popen[bytes]) -> str:
    """End a process; return its standard error, or "" if it was ended before."""
    if process.returncode is not None:
        return ""
    process.kill()
    _, output = process.communicate()
    return output.decode(errors="replace")


def _ready_sandbox(
    channel: socket.socket, request: SandboxRequest, release: Callable[[], object]
) -> Sandbox:
    """Send a new sandbox its request, and return the sandbox once it is ready.

    The sandbox sends a pidfd of itself, then, when it has read the request, `READY`. If it fails,
    it sends the text of an error instead of either.
    """
    with ExitStack() as on_failure:
        on_failure.enter_context(channel)
        try:
            channel.settimeout(limits.START_SECONDS)
            first_byte, pidfds, _, _ = socket.recv_fds(channel, 1, 1)
            if not pidfds:
                raise _reported_error(first_byte, channel)
            (pidfd,) = pidfds
            on_failure.callback(os.close, pidfd)
            channel.sendall(request.to_bytes())
            channel.shutdown(socket.SHUT_WR)
            first_byte = channel.recv(1)
            if first_byte != READY:
                raise _reported_error(first_byte, channel)
            pid = _read_pid(pidfd)
        except TimeoutError as error:
            message = f"It did not start within {limits.START_SECONDS:g} seconds."
            raise SandboxError(message) from error
        except OSError as error:
            raise SandboxError(str(error)) from error
        on_failure.pop_all()
        return Sandbox(pid, pidfd, channel, release)


def _reported_error(first_byte: bytes, channel: socket.socket) -> SandboxError:
    """Return the error whose text a sandbox sends, from its first byte on."""
    with channel.makefile("rb") as rest:
        text = first_byte + rest.read()
    return SandboxError(text.decode(errors="replace").strip())


def _read_pid(pidfd: int) -> int:
    """Return the number that a process has in the process namespace of this one."""
    information = Path(f"/proc/self/fdinfo/{pidfd}").read_text(encoding="ascii")
    return int(_PID.findall(information)[0])


door = Door()
"""That of this process."""
atexit.register(door.close)


def use_server(requests: socket.socket | None) -> None:
    """Make this process's sandboxes with another process's server, or fresh if None."""
    door.is_chosen, door.requests = True, requests
