"""Collect a student's files and when they were handed in; zips are unpacked."""

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
_MAX_YEAR = 9000  # the gradebook holds years of four digits

NOT_OURS = "no exercise notebook of this course: their names end with _exercises.ipynb"
A_LINK = "it is a link, and links are not followed"
NO_TIME = "its time cannot be right, so it counts as 1 January 1970"
NO_STAMP = f"its {NBGRADER_TIMESTAMP} cannot be read, so the time of the file counts"
UNKNOWN_ZONE = "its time zone, {zone}, is unknown here: its time counts as one of this computer's"
ZIP_IN_ZIP = "it is a zip in a zip: unpack it"

_MAX_NAMED = 3  # files in a list
_MAX_STAMP_BYTES = 1_000


class LeftOut(NamedTuple):
    """A file that is not graded, and why."""

    student: str  # "" if it is no student's
    file: str  # its path in the student's folder, or in the class's
    reason: str


@dataclass(frozen=True)
class StudentFile:
    """A file that a student handed in. It has not been read yet."""

    student: str
    file: Path
    name: str  # its path in the student's folder
    handed_in: datetime
    order: int = 0  # of files in a download, which all have the same time: the later, the higher
    remark: str = ""  # for the teacher and the student
    handed_in_as: str = ""  # the name that a download gives it, or the folder or zip it is in


def shown_path(path: PurePath) -> str:
    """Return a path for display and comparison: printable, with composed letters.

    macOS stores letters and their accents apart, other systems as one character.
    """
    return unicodedata.normalize("NFC", "/".join(map(printable, path.parts)))


def join_remarks(*remarks: str) -> str:
    """Join the remarks that are not empty."""
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
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def is_called_notebook(name: str) -> bool:
    """Return whether a name is a notebook's, even if a browser appended ".txt" or ".json"."""
    return ".ipynb" in name.casefold()


def is_zip(path: PurePath) -> bool:
    """Return whether a file has a zip's name."""
    return path.suffix.lower() == ".zip"


def collect_files(
    entry: Path, download: DownloadName, unpack_into: Path, problems: Mapping[Path, str]
) -> Iterator[StudentFile | LeftOut]:
    """Yield the files of an entry: a student's folder, or one file; zips are unpacked.

    `problems` says which files could not be unpacked from the class's zip, and why.
    """
    if download.problem:
        yield LeftOut(download.submitter.id, shown_path(PurePath(entry.name)), download.problem)
        return
    files = [(entry, "")] if entry.is_file() else _files_below(entry)
    for file, trouble in files:
        path = PurePath(file.name) if file == entry else file.relative_to(entry)
        name = shown_path(path)
        reason = trouble or problems.get(file, "")
        if reason:
            yield LeftOut(download.submitter.id, name, reason)
        elif is_zip(file):
            yield from _files_in_zip(file, name, download, unpack_into)
        else:
            yield _student_file(file, name, download, timed_by=file)


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
            yield _student_file(file, inner_name, download, timed_by=archive)


def _student_file(file: Path, name: str, download: DownloadName, timed_by: Path) -> StudentFile:
    """Return a file with the time at which `timed_by`, itself or its zip, was handed in."""
    moment, time_remark = _handed_in(timed_by)
    remark = join_remarks(download.remark, time_remark)
    return StudentFile(
        download.submitter.id, file, name, moment, download.order, remark, download.name
    )


def _files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file in a folder, with the reason if it must not be read."""
    errors: list[OSError] = []
    ignored = (*LEFT_BEHIND, NBGRADER_TIMESTAMP)
    for parent, folders, files in os.walk(folder, onerror=errors.append):
        folders[:] = [name for name in sorted(folders) if not name.startswith(LEFT_BEHIND)]
        for path in sorted(Path(parent, name) for name in (*files, *folders)):
            # A link, even to a folder, may lead to another student's work, or out of the folder.
            if path.is_symlink():
                yield path, A_LINK
            elif not path.is_dir() and not path.name.startswith(ignored):
                yield path, ""
    for error in errors:
        message = error.strerror or type(error).__name__
        advice = "`chmod -R u+rX` on it gives you the right to read it"
        yield Path(error.filename), f"it cannot be opened ({message}): {advice}"


def _handed_in(file: Path) -> tuple[datetime, str]:
    """Return when a file was handed in, and a remark if that is uncertain.

    The time is what nbgrader wrote beside the file, or else when the file was last changed.
    """
    stamp = file.with_name(NBGRADER_TIMESTAMP)
    remark = ""
    if os.path.lexists(stamp):
        try:
            text = read_regular(stamp, _MAX_STAMP_BYTES).decode("utf-8-sig")
            return _nbgraders_time(text.strip())
        except (UnreadableError, ValueError, OverflowError):
            remark = NO_STAMP
    try:
        return _to_local(datetime.fromtimestamp(file.lstat().st_mtime, UTC)), remark
    except (ValueError, OverflowError, OSError):
        return _EARLIEST, join_remarks(remark, NO_TIME)


def _nbgraders_time(text: str) -> tuple[datetime, str]:
    """Parse a date, a time, and a zone as an offset or by its name; return a remark as well."""
    clock, _, zone = text.rpartition(" ")
    if zone.startswith(("+", "-")):
        return _to_local(datetime.fromisoformat(clock + zone)), ""
    moment = datetime.fromisoformat(clock)
    try:
        return _to_local(moment.replace(tzinfo=ZoneInfo(zone))), ""
    except ZoneInfoNotFoundError:  # such as EDT, or CST, which is several
        return _to_local(moment), UNKNOWN_ZONE.format(zone=zone)


def _to_local(moment: datetime) -> datetime:
    """Convert a time to this computer's zone; raise ValueError if its year is implausible."""
    local = moment.astimezone()
    if not _EARLIEST.year <= local.year <= _MAX_YEAR:
        raise ValueError("an implausible year")
    return local
