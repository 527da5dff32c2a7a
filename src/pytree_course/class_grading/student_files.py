"""Collect a student's files and when they were handed in; zips are unpacked."""

import os
import time
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.class_grading.archive import LEFT_BEHIND, TOO_DEEP, unpack
from pytree_course.class_grading.downloads import DownloadName
from pytree_course.course import CourseError
from pytree_course.grading.limits import (
    FOLDERS_DEEP,
    NOTEBOOK_BYTES,
    READING_SECONDS,
    STUDENTS_BYTES,
    STUDENTS_ENTRIES,
    STUDENTS_READING_SECONDS,
)
from pytree_course.grading.submission import UnreadableError, check_regular, read_regular
from pytree_course.released_files import FILES, FOLDERS
from pytree_course.texts import cut_middle, printable

NBGRADER_TIMESTAMP = "timestamp.txt"
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_YEAR = 9000  # the gradebook holds years of four digits

A_LINK = "it is a link, and links are not followed"
NO_TIME = "its time cannot be right, so it counts as 1 January 1970"
NO_STAMP = f"its {NBGRADER_TIMESTAMP} cannot be read, so the time of the file counts"
UNKNOWN_ZONE = "its time zone, {zone}, is unknown here: its time counts as one of this computer's"
ZIP_IN_ZIP = "it is a zip in a zip: unpack it"
TOO_LONG = f"it takes more than {READING_SECONDS:g} seconds, or too much memory, to read"
NOT_READ_IN_TIME = (
    f"it was not read, because the student's other files took {STUDENTS_READING_SECONDS:g} seconds "
    "to read: leave only notebooks"
)
TOO_MANY = (
    f"it and what follows was not read, because a student's work has at most {STUDENTS_ENTRIES:,} "
    "files and folders: leave only notebooks"
)
TOO_MUCH = (
    f"it was not read, because a student's files have at most {STUDENTS_BYTES / 1e6:g} MB together:"
    " leave only notebooks"
)

_ARCHIVE = "an archive that is not opened: unpack it, or ask for a zip"
_KINDS = {
    "a PDF, not a notebook": (".pdf",),
    "a Word document, not a notebook": (".doc", ".docx"),
    "a picture, not a notebook": (".gif", ".heic", ".jpeg", ".jpg", ".png", ".webp"),
    "a Python file, not a notebook": (".py",),
    "a web page, not a notebook": (".htm", ".html"),
    _ARCHIVE: (".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz", ".zst"),
}
_MAX_NAMED = 3  # files in a list
_MAX_NAME = 200  # characters of a path in a list
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
    clone: Path | None = None  # the folder of the Git repository that it lies in
    is_courses_own: bool = False  # whether it lies where a copy of the course has a file


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
    return ", ".join(cut_middle(name, _MAX_NAME) for name in names[:_MAX_NAMED]) + more


def describe_kind(name: str) -> str:
    """Say what a file is that is no notebook, by its name."""
    suffix = PurePath(name).suffix.casefold()
    kind = next((kind for kind, suffixes in _KINDS.items() if suffix in suffixes), "")
    return f"it is {kind or 'not a notebook'}"


def is_called_notebook(name: str) -> bool:
    """Return whether a name is a notebook's, even if a browser appended ".txt" or ".json"."""
    return ".ipynb" in name.casefold()


def is_zip(path: PurePath) -> bool:
    """Return whether a file has a zip's name."""
    return path.suffix.lower() == ".zip"


@dataclass
class _Allowance:
    """The remaining bounds of what one student hands in."""

    entries: int = STUDENTS_ENTRIES
    size: int = STUDENTS_BYTES
    seconds: float = STUDENTS_READING_SECONDS  # to unpack zips


@dataclass(frozen=True)
class _Found:
    """A file or folder of a student, not opened yet."""

    path: Path
    depth: int = 0  # in how many folders
    reason: str = ""  # why it must not be read
    course: Path | None = None  # the copy of the course that it lies in
    clone: Path | None = None  # the Git repository

    @property
    def is_courses_own(self) -> bool:
        """Whether a copy of the course has such a file."""
        if self.course is None:
            return False
        name = self.path.relative_to(self.course).as_posix()
        folders = ("checks/", "colab/", "notebooks/", *(f"{folder}/" for folder in FOLDERS))
        exercises = name.startswith("exercises/") and name.endswith("_exercises.ipynb")
        return name in FILES or name.startswith(folders) or exercises


@dataclass
class Collector:
    """Collects the files of a class, each student's within the same bounds.

    `problems` says which files could not be unpacked from the class's zip, and why.
    """

    unpack_into: Path
    pool: Executor
    problems: Mapping[Path, str]
    _allowances: dict[str, _Allowance] = field(default_factory=lambda: defaultdict(_Allowance))

    def collect(self, entry: Path, download: DownloadName) -> Iterator[StudentFile | LeftOut]:
        """Yield the files of an entry: a student's folder, or one file; zips are unpacked."""
        student, name = download.submitter.id, shown_path(PurePath(entry.name))
        if download.problem:
            yield LeftOut(student, name, download.problem)
            return
        try:
            yield from self._collect(entry, download)
        except CourseError:
            raise
        except Exception as error:  # what nobody thought of costs this student only
            reason = f"it cannot be looked through ({type(error).__name__}: {error})"
            yield LeftOut(student, name, reason)

    def _collect(self, entry: Path, download: DownloadName) -> Iterator[StudentFile | LeftOut]:
        allowance = self._allowances[download.submitter.id]
        is_folder = entry.is_dir()
        found = [*_find_below(entry, allowance)] if is_folder else [_Found(entry)]
        for each in sorted(found, key=_reading_order):
            path = each.path.relative_to(entry) if is_folder else PurePath(entry.name)
            each = replace(each, reason=each.reason or self.problems.get(each.path, ""))
            if is_zip(path) and not each.reason:
                yield from self._unpack(each.path, shown_path(path), download, allowance)
            else:
                yield _take(each, shown_path(path), download, allowance, timed_by=each.path)

    def _unpack(
        self, archive: Path, name: str, download: DownloadName, allowance: _Allowance
    ) -> Iterator[StudentFile | LeftOut]:
        """Yield the files of a student's zip."""
        student, start = download.submitter.id, time.monotonic()
        if allowance.seconds < 0:
            yield LeftOut(student, name, NOT_READ_IN_TIME)
            return
        try:
            check_regular(archive, STUDENTS_BYTES, advice="leave only notebooks in it")
            limits = allowance.size, allowance.entries
            unpacked = self.pool.submit(unpack, archive, self.unpack_into, *limits).result()
        except (UnreadableError, BrokenProcessPool) as error:
            is_read = isinstance(error, UnreadableError)
            reason = str(error).replace(str(archive), "it") if is_read else TOO_LONG
            yield LeftOut(student, name, reason)
            return
        finally:
            allowance.seconds -= time.monotonic() - start
        found = [*_find_below(unpacked.folder, allowance)]
        lost = unpacked.problems.keys() - {each.path for each in found}
        for each in [*sorted(found, key=_reading_order), *map(_Found, sorted(lost))]:
            inner_name = f"{name}/{shown_path(each.path.relative_to(unpacked.folder))}"
            in_zip = ZIP_IN_ZIP if is_zip(each.path) else ""
            reason = each.reason or unpacked.problems.get(each.path, in_zip)
            each = replace(each, reason=reason)
            yield _take(each, inner_name, download, allowance, timed_by=archive)


def _take(
    found: _Found, name: str, download: DownloadName, allowance: _Allowance, timed_by: Path
) -> StudentFile | LeftOut:
    """Return a file with the time at which `timed_by`, itself or its zip, was handed in."""
    reason = found.reason or _why_not_read(found.path, allowance)
    if reason:
        return LeftOut(download.submitter.id, name, reason)
    moment, time_remark = _handed_in(timed_by)
    return StudentFile(
        download.submitter.id,
        found.path,
        name,
        moment,
        download.order,
        join_remarks(download.remark, time_remark),
        found.clone,
        found.is_courses_own,
    )


def _reading_order(found: _Found) -> tuple[bool, bool]:
    """Return a sort key: notebooks come first, then zips."""
    return not is_called_notebook(found.path.name), not is_zip(found.path)


def _find_below(folder: Path, allowance: _Allowance) -> Iterator[_Found]:
    """Yield each file in a folder, level by level; other files of a copy of the course are not.

    A link, even to a folder, may lead to another student's work, or out of the folder.
    """
    ignored = (*LEFT_BEHIND, NBGRADER_TIMESTAMP)
    folders = deque([_Found(folder)])
    while folders:
        parent = folders.popleft()
        try:
            with os.scandir(parent.path) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            yield replace(parent, reason=_why_not_opened(error))
            continue
        names = {entry.name for entry in entries}
        parent = replace(
            parent,
            depth=parent.depth + 1,
            course=parent.path if {"course.py", "checks"} <= names else parent.course,
            clone=parent.path if ".git" in names else parent.clone,
        )
        for entry in entries:
            if entry.name.startswith(ignored):
                continue
            found = replace(parent, path=parent.path / entry.name)
            if allowance.entries == 0:
                yield replace(found, reason=TOO_MANY)
                return
            allowance.entries -= 1
            if entry.is_symlink():
                yield replace(found, reason=A_LINK)
            elif not entry.is_dir(follow_symlinks=False):
                if not found.is_courses_own or is_called_notebook(entry.name):
                    yield found
            elif found.depth == FOLDERS_DEEP:
                yield replace(found, reason=TOO_DEEP)
            else:
                folders.append(found)


def _why_not_read(file: Path, allowance: _Allowance) -> str:
    """Say why a file is not to be read, after the student's others; return "" if it is."""
    try:
        size = file.lstat().st_size
    except OSError as error:
        return _why_not_opened(error)
    allowance.size -= size if size <= NOTEBOOK_BYTES else 0  # a larger one will be refused
    return TOO_MUCH if allowance.size < 0 else ""


def _why_not_opened(error: OSError) -> str:
    is_right = isinstance(error, PermissionError)
    advice = ": `chmod -R u+rX` on it gives you the right to read it" if is_right else ""
    return f"it cannot be opened ({error.strerror or type(error).__name__}){advice}"


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
        return to_local(datetime.fromtimestamp(file.lstat().st_mtime, UTC)), remark
    except (ValueError, OverflowError, OSError):
        return _EARLIEST, join_remarks(remark, NO_TIME)


def _nbgraders_time(text: str) -> tuple[datetime, str]:
    """Parse a date, a time, and a zone as an offset or by its name; return a remark as well."""
    clock, _, zone = text.rpartition(" ")
    if zone.startswith(("+", "-")):
        return to_local(datetime.fromisoformat(clock + zone)), ""
    moment = datetime.fromisoformat(clock)
    try:
        return to_local(moment.replace(tzinfo=ZoneInfo(zone))), ""
    except ZoneInfoNotFoundError:  # such as EDT, or CST, which is several
        return to_local(moment), UNKNOWN_ZONE.format(zone=zone)


def to_local(moment: datetime) -> datetime:
    """Convert a time to this computer's zone; raise ValueError if its year is implausible."""
    local = moment.astimezone()
    if not _EARLIEST.year <= local.year <= _MAX_YEAR:
        raise ValueError("an implausible year")
    return local
