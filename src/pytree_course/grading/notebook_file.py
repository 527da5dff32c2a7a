"""Read an untrusted notebook's file, and what is in its cells."""

import json
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pytree_course.course import CourseError
from pytree_course.grading.limits import NOTEBOOK_BYTES, NOTEBOOK_ENTRIES

_OTHER_FILES = {stat.S_IFLNK: "a link", stat.S_IFDIR: "a folder", stat.S_IFIFO: "a FIFO"}
_NO_JSON = {
    r"(?m)^<{7} ": "it holds Git's conflict marks (<<<<<<<): choose between the two versions that "
    "Git could not merge, and save it again",
    r"^\s*<(?i:!doctype|html)": "it is a web page: download the notebook itself",
}
"""By a pattern in a text: why it is not JSON, and what to do."""


class UnreadableError(CourseError):
    """A file that was handed in cannot be read: its path, and for the teacher, why, as a clause."""

    def __str__(self) -> str:
        return self.about(self.args[0])

    def about(self, name: object) -> str:
        """Return the message about the file under another name."""
        return f"{name} {self.args[1]}"


class NotOpenedError(UnreadableError):
    """The teacher's computer cannot open a file, which may be a good one."""


def read_regular(file: Path, max_bytes: int) -> bytes:
    """Read a regular file; an UnreadableError says why it cannot be read.

    A link may lead to another student's work, a FIFO waits forever, a device may never end.
    """
    try:
        status = file.lstat()
        file_type = stat.S_IFMT(status.st_mode)
        if file_type != stat.S_IFREG:
            kind = _OTHER_FILES.get(file_type, "a device or a socket")
            raise UnreadableError(file, f"is {kind}, not a file: hand in the notebook itself")
        if status.st_size > max_bytes:
            raise UnreadableError(
                file, f"is larger than {max_bytes / 1e6:g} MB: clear the outputs of its cells"
            )
        return file.read_bytes()
    except FileNotFoundError:
        raise UnreadableError(file, "does not exist") from None
    except OSError as error:
        raise NotOpenedError(
            file, f"cannot be read ({error.strerror}): see that you have the right to read it"
        ) from error


def read_notebook(file: Path) -> dict[str, Any]:
    """Read a notebook as JSON; an UnreadableError says why it cannot be read."""
    content = read_regular(file, NOTEBOOK_BYTES)
    text = content.decode(json.detect_encoding(content), "replace")
    if not text.strip():
        raise UnreadableError(file, "is empty")
    if sum(map(text.count, ",[{")) > NOTEBOOK_ENTRIES:
        raise UnreadableError(
            file, f"has more than {NOTEBOOK_ENTRIES:,} entries: clear the outputs of its cells"
        )
    try:
        # Integers stay strings: none matters, and Python refuses to parse thousands of digits.
        # `raw_decode` ignores what follows: a program may not have cut off a longer old version.
        notebook, _ = json.JSONDecoder(parse_int=str).raw_decode(text.lstrip())
    except ValueError as error:
        reason = _why_no_json(text, error)
        raise UnreadableError(file, f"is not a notebook: {reason}") from error
    except RecursionError:
        raise UnreadableError(file, "is not a notebook: it is nested too deep") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise UnreadableError(
            file, "is not a notebook: it has no cells. Save it in format 4.5 or later"
        )
    return notebook


def _why_no_json(text: str, error: ValueError) -> str:
    for pattern, reason in _NO_JSON.items():
        if re.search(pattern, text):
            return reason
    return f"it is cut off or damaged; hand in one that JupyterLab opens ({error})"


def marks_of(cell: dict[str, Any]) -> Iterator[str]:
    """Yield the ids of a cell: its own, Colab's, nbgrader's."""
    for path in (("id",), ("metadata", "id"), ("metadata", "nbgrader", "grade_id")):
        if mark := string_at(cell, *path):
            yield mark


def string_at(value: object, *path: str) -> str:
    """Return the string at a path in untrusted JSON; "" if there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def source_of(cell: dict[str, Any]) -> str:
    """Return a cell's source, which may be stored as lines."""
    source = cell.get("source", "")
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    # A lone surrogate is valid in JSON, but has no UTF-8 encoding.
    return text.encode("utf-8", "replace").decode("utf-8")
