"""Read an untrusted file: only a regular one, no link, FIFO or device, and never too much."""

import os
import stat
from pathlib import Path

from pytree_course.course import CourseError

# Windows has neither, and no FIFOs in folders.
_OPEN_NO_TRAP = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class UnreadableError(CourseError):
    """A file that was handed in cannot be read; the message tells a teacher why."""


def read_regular(file: Path, most_bytes: int) -> bytes:
    """Read a regular file; an UnreadableError says why that cannot be done.

    A link may lead to somebody else's work, a FIFO waits for ever, a device may never end, and
    some do something when they are only opened.
    """
    try:
        _require_regular(file, os.lstat(file))
        with open(file, "rb", opener=_open) as opened:
            # It may have been replaced since.
            size = _require_regular(file, os.fstat(opened.fileno()))
            content = opened.read(most_bytes + 1) if size <= most_bytes else b""
    except FileNotFoundError:
        raise UnreadableError(f"{file} does not exist") from None
    except OSError as error:
        raise UnreadableError(
            f"{file} cannot be read ({error.strerror}): see that you have the right to read it"
        ) from error
    if max(size, len(content)) > most_bytes:
        raise UnreadableError(
            f"{file} is larger than {most_bytes / 1e6:g} MB: clear the outputs of its cells"
        )
    return content


def _open(file: str, flags: int) -> int:
    return os.open(file, flags | _OPEN_NO_TRAP)


def _require_regular(file: Path, status: os.stat_result) -> int:
    """Return a file's size; refuse what is no regular file."""
    mode = status.st_mode
    if stat.S_ISREG(mode):
        return status.st_size
    kinds = {stat.S_ISLNK: "a link", stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a FIFO"}
    kind = next((name for is_kind, name in kinds.items() if is_kind(mode)), "a device or a socket")
    raise UnreadableError(f"{file} is {kind}, and no file: ask for the notebook itself")
