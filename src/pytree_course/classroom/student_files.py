"""A student's files: which may be notebooks, what they are called, when they were handed in."""

import os
from collections import deque
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path, PurePath
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.grading.regular_file import UnreadableError, read_regular
from pytree_course.printable import printable

LeftOut = list[tuple[Path, str]]
"""Files that are not graded, named as in the class's folder, each with the reason."""

MOST_DEEP = 5
MOST_ENTRIES = 10_000
MOST_LEFT_OUT = 20
A_LINK = "it is a link, and links are not followed"

NBGRADER_TIMESTAMP = "timestamp.txt"
NO_TIME = "its time is not a time of any calendar, so it counts as 1 January 1970"
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

_LATEST = datetime(9000, 1, 1, tzinfo=UTC)  # any zone can still show it
_TIMESTAMP_BYTES = 1_000
_CHECKPOINTS = ".ipynb_checkpoints"


def printable_path(path: PurePath) -> Path:
    """Return a path with printable names; it may not lead to the file any more."""
    return Path(*map(printable, path.parts))


def find_notebooks(folder: Path) -> tuple[list[Path], LeftOut]:
    """Find all that is called like a notebook in a folder that may be a trap.

    Returns
    -------
    found
        Sorted. They may be folders, FIFOs, links or anything else.
    left_out
        What was not looked into.
    """
    found: list[Path] = []
    left_out: LeftOut = []
    folders, entries, is_too_deep = deque([(folder, 1)]), 0, False
    while folders:
        here, depth = folders.popleft()
        try:
            with os.scandir(here) as inside:
                some = [*islice(inside, MOST_ENTRIES - entries)]
                is_too_much = next(inside, None) is not None
        except OSError as error:
            left_out.append((here, cannot_be_opened(error)))
            continue
        entries += len(some)
        for entry in some:
            file = here / entry.name
            if entry.name.endswith(".ipynb"):
                found.append(file)
            elif entry.is_symlink():
                if depth == 1:
                    left_out.append((file, A_LINK))
            elif entry.is_dir(follow_symlinks=False) and entry.name != _CHECKPOINTS:
                if depth < MOST_DEEP:
                    folders.append((file, depth + 1))
                else:
                    is_too_deep = True
        if is_too_much:
            why = f"it holds more than {MOST_ENTRIES:,} files, and the course did not read the rest"
            left_out.append((folder, f"{why}: leave only the notebooks in it"))
            break
    if is_too_deep:
        why = f"the course did not read what is more than {MOST_DEEP} folders deep in it"
        left_out.append((folder, f"{why}: put notebooks into the student's folder"))
    return sorted(found), left_out


def cannot_be_opened(error: OSError) -> str:
    """Say why a folder cannot be looked into, and what to do."""
    why = error.strerror or type(error).__name__
    return f"it cannot be opened ({why}): `chmod -R u+rX` on it gives you the right to read it"


def shortened(left_out: LeftOut, folder: Path) -> LeftOut:
    """Leave off most of what one student's folder has too much of, and say how much that is."""
    if len(left_out) <= MOST_LEFT_OUT:
        return left_out
    more = f"{len(left_out) - MOST_LEFT_OUT:,} more files in it are left out too"
    return [*left_out[:MOST_LEFT_OUT], (folder, more)]


def file_time(file: Path) -> datetime | None:
    """Return when a file was last changed, in local time; None where that is in no calendar."""
    try:
        return _in_calendar(datetime.fromtimestamp(file.lstat().st_mtime, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def nbgraders_time(file: Path) -> datetime | None:
    """Return what nbgrader wrote beside a notebook; None where it is not what nbgrader writes."""
    try:
        text = read_regular(file.parent / NBGRADER_TIMESTAMP, _TIMESTAMP_BYTES).decode("utf-8")
        moment, _, zone = text.strip().rpartition(" ")
        return _in_calendar(datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)))
    except (UnreadableError, ValueError, OverflowError, OSError, ZoneInfoNotFoundError):
        return None


def _in_calendar(moment: datetime) -> datetime | None:
    return moment.astimezone() if EARLIEST <= moment <= _LATEST else None
