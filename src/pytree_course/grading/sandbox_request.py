"""What a grading process asks its warm server for, and how it is told that a kernel is ready."""

import json
import socket
from dataclasses import asdict, dataclass

READY = b"\1"  # after the byte that comes with the sandbox's process; anything else is an error


@dataclass(frozen=True)
class SandboxRequest:
    """What the grading process asks for; only the sandbox itself reads it.

    Attributes
    ----------
    user
        Who its processes are for the outside.
    keyctl, call_filter
        The number of this system call, and the filter of all, in hexadecimal: libseccomp, which
        knows them, cannot be loaded inside.
    variables
        All of its environment variables.
    connection
        The connection information of its kernel.
    folder
        Where it sees the files.
    files
        Texts to be seen there, read-only, by path.
    """

    user: int
    keyctl: int
    call_filter: str
    variables: dict[str, str]
    connection: dict[str, str | int]
    folder: str
    files: dict[str, str]

    def to_bytes(self) -> bytes:
        """Return it as it is sent."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def received(cls, channel: socket.socket) -> "SandboxRequest":
        """Read it from a channel until nothing more comes."""
        with channel.makefile("rb") as file:
            return cls(**json.load(file))
