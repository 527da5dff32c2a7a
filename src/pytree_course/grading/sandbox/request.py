"""The sandbox interface: a launch request in, a running sandbox out."""

import contextlib
import json
import os
import select
import signal
import socket
import struct
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytree_course.grading.sandbox.bounds import Group  # which no sandbox needs to load

CALL = struct.Struct("<iII")
"""A message on the channel of a sandbox: a call's number, and the lower halves of two arguments."""

READY, FAILED = -1, -2  # instead of a call's number: the kernel is ready; an error's text follows

_MOST_REPORTED = 10_000 * CALL.size
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

    pid: int  # the process with which all of its processes end
    process: int  # the same one, as an open file (a pidfd)
    channel: socket.socket  # on which its supervisor reports calls; it does not block
    let_go: Callable[[], object]  # releases what belongs to it, once that process has ended
    group: "Group | None"  # what bounds and counts it, where there are groups

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self.process >= 0 and not self._has_ended_within(0)

    def reported_calls(self) -> list[tuple[int, int, int]]:
        """Return the calls that its supervisor has reported since the last time this was asked."""
        try:
            received = self.channel.recv(_MOST_REPORTED)
        except BlockingIOError:
            return []
        return [*CALL.iter_unpack(received)]

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
            if self.group is not None:
                self.group.close()

    def _has_ended_within(self, milliseconds: int) -> bool:
        end = select.poll()
        end.register(self.process, select.POLLIN)
        return bool(end.poll(milliseconds))
