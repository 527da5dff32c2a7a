"""A student's files: which ones may be notebooks, their names and times."""

import os
from datetime import UTC, datetime
from pathlib import Path, PurePath
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.grading.submission import UnreadableError, read_regular
from pytree_course.texts import printable

LeftOut = list[tuple[Path, str]]
"""Files that are not graded, by their paths in the class's folder, each with the reason."""

MOST_DEEP = 5
MOST_ENTRIES = 10_000
MOST_LEFT_OUT = 20
A_LINK = "it is a link, and links are not followed"
_TOO_DEEP = (
    f"more than {MOST_DEEP} folders deep nothing is read: put notebooks nearer to the student"
)
_TOO_MUCH = f"it holds more than {MOST_ENTRIES:,} files: not all are read, so leave only notebooks"

NBGRADER_TIMESTAMP = "timestamp.txt"
NO_TIME = "its time is not a time of any calendar, so it counts as 1 January 1970"
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

_LATEST = datetime(9000, 1, 1, tzinfo=UTC)  # any zone can still show it
_TIMESTAMP_BYTES = 1_000
_CHECKPOINTS = ".ipynb_checkpoints"


def joined(*remarks: str | None) -> str:
    """Return those remarks that say something as one text."""
    return "; ".join(filter(None, remarks))


def printable_path(path: PurePath) -> Path:
    """Return a path with printable names; it may not lead to the file any more."""
    return Path(*map(printable, path.parts))


def find_notebooks(folder: Path) -> tuple[list[Path], LeftOut]:
    """Find everything that has a notebook's name, even a link or FIFO; and say what is not read."""
    found: list[Path] = []
    left_out: LeftOut = []
    entries = 0

    def cannot_open(error: OSError) -> None:
        left_out.append((Path(error.filename), cannot_be_opened(error)))

    for name, folders, files in os.walk(folder, onerror=cannot_open):
        here = Path(name)
        inside = [here / each for each in (*folders, *files)]
        notebooks = [each for each in inside if each.name.endswith(".ipynb")]
        found += notebooks
        if here == folder:
            links = (each for each in inside if each.is_symlink() and each not in notebooks)
            left_out += [(each, A_LINK) for each in links]
        folders[:] = [each for each in folders if not each.endswith((".ipynb", _CHECKPOINTS))]
        if len(here.relative_to(folder).parts) == MOST_DEEP - 1:
            left_out += [(here / each, _TOO_DEEP) for each in folders]
            folders.clear()
        entries += len(inside)
        if entries > MOST_ENTRIES:
            left_out.append((folder, _TOO_MUCH))
            break
    return sorted(found), left_out


def cannot_be_opened(error: OSError) -> str:
    """Say why a folder cannot be looked into, and what to do."""
    why = error.strerror or type(error).__name__
    return f"it cannot be opened ({why}): `chmod -R u+rX` on it gives you the right to read it"


def shortened(left_out: LeftOut, folder: Path) -> LeftOut:
    """Return the first of the files left out of a student's folder, and how many more there are."""
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
