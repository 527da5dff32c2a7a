"""Collect a student's files, unpacked where they are in zips, with the times of handing in."""

import os
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.class_grading.archive import LEFT_BEHIND, MAX_BYTES_OF_STUDENT, unpack
from pytree_course.class_grading.downloads import DownloadName
from pytree_course.grading.submission import UnreadableError, read_regular
from pytree_course.texts import printable

NBGRADER_TIMESTAMP = "timestamp.txt"
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_YEAR = 9000  # of a time that the gradebook can hold

NOT_OURS = "no exercise notebook of this course: their names end with _exercises.ipynb"
A_LINK = "it is a link, and links are not followed"
NO_TIME = "its time cannot be right, so it counts as 1 January 1970"
NO_STAMP = f"its {NBGRADER_TIMESTAMP} cannot be read, so the time of the file counts"
UNKNOWN_ZONE = "its time zone, {zone}, is unknown here: its time counts as one of this computer's"
ZIP_IN_ZIP = "it is a zip in a zip: unpack it"

_MAX_NAMED = 3


class LeftOut(NamedTuple):
    """A file that is not graded, and why."""

    student: str  # "" where it is nobody's
    file: str  # its path in the student's folder, or in the class's
    reason: str


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


def join_remarks(*remarks: str) -> str:
    """Return those remarks that say something as one text."""
    return "; ".join(filter(None, remarks))


def group_by_reason(left_out: Iterable[LeftOut]) -> list[LeftOut]:
    """Merge the files of a student that are left out for the same reason."""
    files = defaultdict(list)
    for student, file, reason in left_out:
        files[student, reason].append(file)
    merged = []
    for (student, reason), names in files.items():
        merged.append(LeftOut(student, list_briefly(names), reason))
    return merged


def list_briefly(names: Sequence[str]) -> str:
    """Return the first names in a row, and the number of the others."""
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def is_called_notebook(name: str) -> bool:
    """Say whether a name is one that notebooks have, perhaps with something behind it."""
    return ".ipynb" in name.casefold()


def is_zip(path: PurePath) -> bool:
    """Say whether a file is called as zips are."""
    return path.suffix.lower() == ".zip"


def collect_files(
    entry: Path, download: DownloadName, unpack_into: Path, problems: Mapping[Path, str]
) -> Iterator[StudentFile | LeftOut]:
    """Yield the files in a student's folder, or the one of a download; zips are unpacked.

    `problems` says which files could not be unpacked from the class's zip, and why.
    """
    if download.problem:
        yield LeftOut(download.submitter.id, shown_path(PurePath(entry.name)), download.problem)
        return
    files = [(entry, "")] if entry.is_file() else _files_below(entry)
    for file, reason in files:
        path = PurePath(file.name) if file == entry else file.relative_to(entry)
        name = shown_path(path)
        reason = reason or problems.get(file, "")
        if reason:
            yield LeftOut(download.submitter.id, name, reason)
        elif is_zip(file):
            yield from _files_in_zip(file, name, download, unpack_into)
        else:
            yield _student_file(file, name, download, handed_in_as=file)


def _files_in_zip(
    archive: Path, name: str, download: DownloadName, unpack_into: Path
) -> Iterator[StudentFile | LeftOut]:
    student = download.submitter.id
    try:
        unpacked = unpack(archive, unpack_into, MAX_BYTES_OF_STUDENT)
    except UnreadableError as error:
        yield LeftOut(student, name, str(error).replace(str(archive), "it"))
        return
    for file, reason in _files_below(unpacked.folder):
        inner_name = f"{name}/{shown_path(file.relative_to(unpacked.folder))}"
        reason = unpacked.problems.get(file, reason)
        if is_zip(file) and not reason:
            reason = ZIP_IN_ZIP
        if reason:
            yield LeftOut(student, inner_name, reason)
        else:
            yield _student_file(file, inner_name, download, handed_in_as=archive)


def _student_file(file: Path, name: str, download: DownloadName, handed_in_as: Path) -> StudentFile:
    moment, remark = _handed_in(handed_in_as)
    remark = join_remarks(download.remark, remark)
    return StudentFile(download.submitter.id, file, name, moment, download.order, remark)


def _files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file in a folder, with the reason where it is not to be read."""
    troubles: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=troubles.append):
        folders[:] = [name for name in sorted(folders) if not name.startswith(LEFT_BEHIND)]
        for file in sorted(Path(parent, name) for name in (*files, *folders)):
            if file.is_symlink():  # perhaps to another student's work, or out of the folder
                yield file, A_LINK
            elif not file.is_dir() and not file.name.startswith((*LEFT_BEHIND, NBGRADER_TIMESTAMP)):
                yield file, ""
    for error in troubles:
        message = error.strerror or type(error).__name__
        advice = "`chmod -R u+rX` on it gives you the right to read it"
        yield Path(error.filename), f"it cannot be opened ({message}): {advice}"


def _handed_in(file: Path) -> tuple[datetime, str]:
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
        return _plausible(datetime.fromtimestamp(file.lstat().st_mtime, UTC)), remark
    except (ValueError, OverflowError, OSError):
        return _EARLIEST, join_remarks(remark, NO_TIME)


def _nbgraders_time(text: str) -> tuple[datetime, str]:
    clock, _, zone = text.rpartition(" ")
    if zone.startswith(("+", "-")):
        return _plausible(datetime.fromisoformat(clock + zone)), ""
    moment = datetime.fromisoformat(clock)
    try:
        return _plausible(moment.replace(tzinfo=ZoneInfo(zone))), ""
    except ZoneInfoNotFoundError:  # such as EDT, or CST, which is several
        return _plausible(moment), UNKNOWN_ZONE.format(zone=zone)


def _plausible(moment: datetime) -> datetime:
    """Return a time in this computer's zone; raise ValueError if the gradebook cannot hold it."""
    local = moment.astimezone()
    if not _EARLIEST.year <= local.year <= _MAX_YEAR:
        raise ValueError("a time that nobody handed in at")
    return local
