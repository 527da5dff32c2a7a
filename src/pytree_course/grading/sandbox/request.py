"""What is asked of either door, and what comes of it: a sandbox in which a kernel starts."""

import contextlib
import json
import os
import select
import signal
import socket
from collections.abc import Callable
from dataclasses import asdict, dataclass

READY = b"\1"  # after the byte that comes with the sandbox's process; anything else is an error

_ENDING_MILLISECONDS = 10_000


@dataclass(frozen=True)
class SandboxRequest:
    """What the grading process asks for; of a warm server, only the sandbox itself reads it.

    Attributes
    ----------
    user
        Who its processes are for the outside.
    call_filter
        The filter of system calls, in hexadecimal: libseccomp cannot be loaded inside.
    variables
        All of its environment variables.
    files
        Texts to be seen, read-only, by place; by one of them its kernel is reached.
    """

    user: int
    call_filter: str
    variables: dict[str, str]
    files: dict[str, str]

    def to_bytes(self) -> bytes:
        """Return it as it is sent."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def received(cls, channel: socket.socket) -> "SandboxRequest":
        """Read it from a channel until nothing more comes."""
        with channel.makefile("rb") as file:
            return cls(**json.load(file))


@dataclass
class Sandbox:
    """A sandbox that runs, seen from outside.

    Attributes
    ----------
    pid
        The process with which all of its processes end.
    process
        The same one, as an open file.
    let_go
        Called once that process was ended.
    """

    pid: int
    process: int
    let_go: Callable[[], object]

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self.process >= 0 and not self._has_ended_within(0)

    def kill(self) -> None:
        """End all that runs in it, which takes a moment."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.process, signal.SIGKILL)

    def end(self) -> None:
        """End it for good."""
        if self.process >= 0:
            self.kill()
            self._has_ended_within(_ENDING_MILLISECONDS)
            self.let_go()
            os.close(self.process)
            self.process = -1

    def _has_ended_within(self, milliseconds: int) -> bool:
        end = select.poll()
        end.register(self.process, select.POLLIN)
        return bool(end.poll(milliseconds))
