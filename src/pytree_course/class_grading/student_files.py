"""Collect the files in a student's folder, and say when they were handed in."""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.grading.submission import UnreadableError, read_regular
from pytree_course.texts import printable

NBGRADER_TIMESTAMP = "timestamp.txt"
LEFT_BEHIND = (".", "__MACOSX", "__pycache__")
"""How names of files and folders begin that a system or an editor left behind."""
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

NOT_OURS = "no exercise notebook of this course: their names end with _exercises.ipynb"
A_LINK = "it is a link, and links are not followed"
NO_TIME = "its time is not a time of any calendar, so it counts as 1 January 1970"
NO_STAMP = f"its {NBGRADER_TIMESTAMP} cannot be read, so the time of the file counts"
UNKNOWN_ZONE = "its time zone, {zone}, is unknown here: its time counts as one of this computer's"

_MAX_NAMED = 3


class LeftOut(NamedTuple):
    """A file that is not graded, and why."""

    student: str  # "" where it is nobody's
    file: str  # its path in the student's folder, or in the class's
    why: str


@dataclass(frozen=True)
class StudentFile:
    """A file that a student handed in. It has not been read yet."""

    student: str
    file: Path
    name: str  # its path in the student's folder
    handed_in: datetime
    order: int = 0  # in a download, whose files all have one time: a later one's is higher
    remark: str = ""  # for the teacher and the student


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
        merged.append(LeftOut(student, named_briefly(names), why))
    return merged


def named_briefly(names: Sequence[str]) -> str:
    """Return the first names in a row, and the number of the others."""
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def is_called_notebook(name: str) -> bool:
    """Say whether a name is one that notebooks have, perhaps with something behind it."""
    return ".ipynb" in name.casefold()


def is_zip(path: PurePath) -> bool:
    """Say whether a file is called as zips are."""
    return path.suffix.lower() == ".zip"


def files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file in a folder, with the reason where it is not to be read."""
    troubles: list[OSError] = []
    for name, folders, files in os.walk(folder, onerror=troubles.append):
        folders[:] = [entry for entry in sorted(folders) if not entry.startswith(LEFT_BEHIND)]
        for file in sorted(Path(name, entry) for entry in (*files, *folders)):
            if file.is_symlink():  # perhaps to another student's work, or out of the folder
                yield file, A_LINK
            elif not file.is_dir() and not file.name.startswith((*LEFT_BEHIND, NBGRADER_TIMESTAMP)):
                yield file, ""
    for error in troubles:
        why = error.strerror or type(error).__name__
        advice = "`chmod -R u+rX` on it gives you the right to read it"
        yield Path(error.filename), f"it cannot be opened ({why}): {advice}"


def handed_in(file: Path) -> tuple[datetime, str]:
    """Return when a file was handed in, and a remark if that cannot be said for certain.

    That is the time that nbgrader wrote beside it, or else when it was last changed.
    """
    stamp = file.with_name(NBGRADER_TIMESTAMP)
    remark = ""
    if os.path.lexists(stamp):
        try:
            return _nbgraders_time(read_regular(stamp, 1_000).decode("utf-8-sig").strip())
        except (UnreadableError, ValueError, OverflowError):
            remark = NO_STAMP
    try:
        return datetime.fromtimestamp(file.lstat().st_mtime, UTC).astimezone(), remark
    except (ValueError, OverflowError, OSError):
        return EARLIEST, joined(remark, NO_TIME)


def _nbgraders_time(text: str) -> tuple[datetime, str]:
    clock, _, zone = text.rpartition(" ")
    if zone.startswith(("+", "-")):
        return datetime.fromisoformat(clock + zone).astimezone(), ""
    moment = datetime.fromisoformat(clock)
    try:
        return moment.replace(tzinfo=ZoneInfo(zone)).astimezone(), ""
    except ZoneInfoNotFoundError:  # such as EDT, or CST, which is several
        return moment.astimezone(), UNKNOWN_ZONE.format(zone=zone)
