"""The sandbox interface: a launch request in, a running sandbox out."""

import contextlib
import json
import os
import select
import signal
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass

READY = b"+"
"""What a new sandbox says on its channel; anything else is the text of an error."""

_ENDING_MILLISECONDS = 10_000


@dataclass(frozen=True)
class SandboxRequest:
    """A launch request. The warm server does not read it; the new sandbox does."""

    user: int  # id of its processes, as the outside sees it
    call_filter: str  # of system calls, in hexadecimal: libseccomp cannot be loaded inside
    variables: dict[str, str]  # all environment variables inside
    files: dict[str, str]  # texts of read-only files, by path; one is the kernel's connection file

    def to_bytes(self) -> bytes:
        """Return it as it is sent."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def received(cls, channel: socket.socket) -> "SandboxRequest":
        """Read a request from a channel up to its end."""
        with channel.makefile("rb") as file:
            return cls(**json.load(file))


@dataclass
class Sandbox:
    """A running sandbox, seen from outside."""

    pid: int  # the first process, with which all others end
    process: int  # the same one, as an open file (a pidfd)
    channel: socket.socket  # the sandbox ends when this end of it is closed
    let_go: Callable[[], object]  # releases what belongs to it, once that process has ended

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self.process >= 0 and not self._has_ended_within(0)

    def kill(self) -> None:
        """Begin to end all of its processes."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)

    def end(self) -> None:
        """End all of its processes, and wait until they have ended."""
        if self.process >= 0:
            self.kill()
            self._has_ended_within(_ENDING_MILLISECONDS)
            self.channel.close()
            self.let_go()
            os.close(self.process)
            self.process = -1

    def _has_ended_within(self, milliseconds: int) -> bool:
        end = select.poll()
        end.register(self.process, select.POLLIN)
        return bool(end.poll(milliseconds))
