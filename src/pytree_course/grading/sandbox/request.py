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
"""What a new sandbox sends on its channel; anything else is the text of an error."""

_MAX_ENDING_MILLISECONDS = 10_000


@dataclass(frozen=True)
class SandboxRequest:
    """A launch request. The warm server does not read it; the new sandbox does."""

    user: int  # the user id of its processes, as the outside sees it
    call_filter: str  # seccomp instructions in hexadecimal: libseccomp cannot be loaded inside
    variables: dict[str, str]  # added to the default environment variables, or overriding them
    files: dict[str, str]  # texts of read-only files, by path

    def to_bytes(self) -> bytes:
        """Encode it for the channel."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def receive(cls, channel: socket.socket) -> "SandboxRequest":
        """Read a request from a channel up to its end."""
        with channel.makefile("rb") as file:
            return cls(**json.load(file))


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
        with contextlib.suppress(ProcessLookupError):
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
