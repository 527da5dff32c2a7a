"""The warm server, from outside: its process, which one process starts, and requests to it."""

import atexit
import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pytree_course.grading import limits
from pytree_course.grading.sandbox.bubblewrap import OWN_VARIABLES, serving
from pytree_course.grading.sandbox.description import sandbox_user, variables
from pytree_course.grading.sandbox.request import READY, Sandbox, SandboxRequest
from pytree_course.grading.sandbox.system_calls import filter_instructions, keyctl_number

_LAST_WORDS_SECONDS = 1.0
_PID = re.compile(r"^Pid:\s*(-?\d+)$", re.MULTILINE)


class WarmServerError(RuntimeError):
    """The warm server could not start, has ended, or could not make a sandbox."""


def request_for(
    environment: dict[str, str], connection: dict[str, str | int], files: dict[str, str]
) -> SandboxRequest:
    """Return the request for a sandbox of this process, with files in the place of the course."""
    return SandboxRequest(
        sandbox_user(),
        keyctl_number(),
        filter_instructions().hex(),
        variables(environment),
        connection,
        files,
    )


def ask(requests: socket.socket, request: SandboxRequest) -> Sandbox:
    """Ask a server for a sandbox; a WarmServerError says what it said instead."""
    return _answer(_begin_to_ask(requests, request))


@dataclass
class _Asked:
    """A request that is under way."""

    channel: socket.socket
    lifeline: int


def _begin_to_ask(requests: socket.socket, request: SandboxRequest) -> _Asked:
    ours, theirs = socket.socketpair()
    their_end, lifeline = os.pipe()
    ours.settimeout(limits.START_SECONDS)
    try:
        with theirs:
            socket.send_fds(requests, [b"\0"], [theirs.fileno(), their_end])
        ours.sendall(request.to_bytes())
        ours.shutdown(socket.SHUT_WR)
    except OSError as error:
        ours.close()
        os.close(lifeline)
        raise WarmServerError(str(error)) from error
    finally:
        os.close(their_end)
    return _Asked(ours, lifeline)


def _answer(asked: _Asked) -> Sandbox:
    process: list[int] = []
    said = b""
    with asked.channel as channel:
        try:
            said, process, _, _ = socket.recv_fds(channel, 1, 1)
            with channel.makefile("rb") as rest:
                said += rest.read()
            if process and said[1:] == READY:
                return Sandbox(_pid(process[0]), process.pop(), partial(os.close, asked.lifeline))
        except OSError as error:
            said = str(error).encode()
        for descriptor in (*process, asked.lifeline):
            os.close(descriptor)
    raise WarmServerError(said.decode(errors="replace").strip("\0 \n"))


def _pid(process: int) -> int:
    """Return the number that an open process has here."""
    described = Path(f"/proc/self/fdinfo/{process}").read_text(encoding="ascii")
    return int(_PID.findall(described)[0])


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
                env=OWN_VARIABLES,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        # Its first sandbox is a trial: it has all walls, and ends before anything runs in it.
        self._trial: _Asked | None = None
        with contextlib.suppress(WarmServerError):  # `require_sandbox` says it
            self._trial = _begin_to_ask(self.requests, request_for({}, {}, {}))

    def require_sandbox(self) -> None:
        """Wait for the trial; a WarmServerError says why there can be no sandbox."""
        trial, self._trial = self._trial, None
        try:
            if trial is None:
                raise WarmServerError
            sandbox = _answer(trial)
        except WarmServerError as error:
            raise WarmServerError(f"{error} {self.last_words()}".strip()) from error
        sandbox.end()

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
        if self._trial is not None:
            self._trial.channel.close()
            os.close(self._trial.lifeline)
            self._trial = None
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


server_of_this_process = ServerOfThisProcess()
