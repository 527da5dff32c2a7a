"""Collect the files in a student's folder: which may be notebooks, and when they were handed in."""

import os
import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.grading.submission import UnreadableError, read_regular
from pytree_course.texts import printable

NBGRADER_TIMESTAMP = "timestamp.txt"
MOST_ENTRIES = 10_000
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

NOT_OURS = "no exercise notebook of this course"
A_LINK = "it is a link, and links are not followed"
A_HARD_LINK = (
    "it is a hard link, so it may be somebody else's file. If a backup or another program "
    "linked the files, copy the whole folder with `cp -rp`, and grade the copy"
)
NO_TIME = "its time is not a time of any calendar, so it counts as 1 January 1970"
NO_STAMP = f"its {NBGRADER_TIMESTAMP} cannot be read, so the time of the file counts"
UNKNOWN_ZONE = "its time zone, {zone}, is unknown here: its time counts as one of this computer's"
TOO_MUCH = f"it holds more than {MOST_ENTRIES:,} files: not all are read, so leave only notebooks"

_LATEST = datetime(9000, 1, 1, tzinfo=UTC)  # any zone can still show it
_MOST_NAMED = 3
_LEFT_BEHIND = (".", "__MACOSX", "__pycache__", NBGRADER_TIMESTAMP)  # no work of a student's
_NOTEBOOK = re.compile(rb'[\xef\xbb\xbf\xff\xfe\s]*\{\s*"(cells|metadata|nbformat)')


class LeftOut(NamedTuple):
    """A file that is not graded, and why."""

    student: str  # "" where it is nobody's
    file: str  # its path in the student's folder, or in the class's
    why: str


@dataclass(frozen=True)
class StudentFile:
    """A file that a student handed in and that may be a notebook. It has not been read yet."""

    student: str
    path: Path
    name: str  # its path in the student's folder
    handed_in: datetime
    order: int = 0  # in a download, whose files all have one time: a later one's is higher
    remark: str = ""  # for the teacher


def shown_path(path: PurePath) -> str:
    """Return a path as it is shown and compared: printable, and in one form.

    macOS stores letters and accents apart, other systems as one.
    """
    return unicodedata.normalize("NFC", "/".join(map(printable, path.parts)))


def joined(*remarks: str) -> str:
    """Return those remarks that say something as one text."""
    return "; ".join(filter(None, remarks))


def grouped(left_out: Iterable[LeftOut]) -> list[LeftOut]:
    """Merge the files of a student that are left out for the same reason."""
    files = defaultdict(list)
    for student, file, why in left_out:
        files[student, why].append(file)
    merged = []
    for (student, why), names in files.items():
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        merged.append(LeftOut(student, ", ".join(names[:_MOST_NAMED]) + more, why))
    return merged


def is_left_behind(name: str) -> bool:
    """Say whether a system, an editor or nbgrader left a file or folder of this name behind."""
    return name.startswith(_LEFT_BEHIND)


def may_be_notebook(name: str, beginning: bytes) -> bool:
    """Say whether a file is worth reading, by its name or by its first bytes, also in UTF-16."""
    return ".ipynb" in name.lower() or bool(_NOTEBOOK.match(beginning.replace(b"\0", b"")))


def is_zip(path: PurePath) -> bool:
    """Say whether a file is called as zips are."""
    return path.suffix.lower() == ".zip"


def files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file in a folder, with the reason where it is not to be read."""
    troubles: list[OSError] = []
    entries = 0
    for name, folders, files in os.walk(folder, onerror=troubles.append):
        here = Path(name)
        entries += len(folders) + len(files)
        if entries > MOST_ENTRIES:
            yield folder, TOO_MUCH
            break
        folders[:] = [each for each in sorted(folders) if not is_left_behind(each)]
        files += [each for each in folders if os.path.islink(here / each)]
        for file in sorted(here / each for each in files if not is_left_behind(each)):
            yield file, why_not(file)
    for error in troubles:
        yield Path(error.filename), cannot_be_opened(error)


def why_not(file: Path) -> str:
    """Say why a file is not to be read, without opening what may be a trap."""
    status = file.lstat()
    if stat.S_ISLNK(status.st_mode):  # it may lead to another student's work, or out of the folder
        return A_LINK
    if not stat.S_ISREG(status.st_mode):
        return "it is neither a folder nor a file"
    try:
        with file.open("rb") as opened:
            beginning = opened.read(200)
    except OSError as error:
        return cannot_be_opened(error)
    if not (is_zip(file) or may_be_notebook(file.name, beginning)):
        return NOT_OURS
    return A_HARD_LINK if status.st_nlink > 1 else ""


def cannot_be_opened(error: OSError) -> str:
    """Say why a folder or file cannot be opened, and what to do."""
    why = error.strerror or type(error).__name__
    return f"it cannot be opened ({why}): `chmod -R u+rX` on it gives you the right to read it"


def file_time(file: Path) -> tuple[datetime, str]:
    """Return when a file was last changed, in local time, and a remark if that cannot be said."""
    try:
        return _in_calendar(datetime.fromtimestamp(file.lstat().st_mtime, UTC)), ""
    except (ValueError, OverflowError, OSError):
        return EARLIEST, NO_TIME


def nbgraders_time(file: Path) -> tuple[datetime, str]:
    """Return the time that nbgrader wrote beside a file, or else the file's own; and a remark."""
    stamp = file.with_name(NBGRADER_TIMESTAMP)
    if not os.path.lexists(stamp):
        return file_time(file)
    remark = ""
    try:
        clock, _, zone = read_regular(stamp, 1_000).decode("utf-8-sig").strip().rpartition(" ")
        try:
            written = f"{clock}{zone if zone.startswith(('+', '-')) else ''}"
            moment = datetime.fromisoformat(written)
            moment = moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(zone))
        except ZoneInfoNotFoundError:
            if not zone.isalpha():
                raise ValueError(f"{zone} is no time zone") from None
            remark = UNKNOWN_ZONE.format(zone=zone)  # such as EDT, or CST, which is several
        return _in_calendar(moment), remark
    except (UnreadableError, ValueError, OverflowError):
        moment, remark = file_time(file)
        return moment, joined(NO_STAMP, remark)


def _in_calendar(moment: datetime) -> datetime:
    """Return a moment in local time; a ValueError says that no calendar has it."""
    moment = moment.astimezone()
    if not EARLIEST <= moment <= _LATEST:
        raise ValueError(f"{moment} is in no calendar")
    return moment
