"""Collect a student's files and when they were handed in; zips are unpacked."""

import os
import stat
import unicodedata
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path, PurePath
from typing import NamedTuple

from pytree_course.class_grading.archive import LEFT_BEHIND, unpack
from pytree_course.class_grading.downloads import DownloadName
from pytree_course.class_grading.times import NBGRADER_TIMESTAMP, handed_in
from pytree_course.course import CourseError
from pytree_course.grading.limits import (
    FOLDERS_DEEP,
    NOTEBOOK_BYTES,
    READING_SECONDS,
    STUDENTS_BYTES,
    STUDENTS_ENTRIES,
)
from pytree_course.grading.notebook_file import UnreadableError
from pytree_course.released_files import FILES, FOLDERS
from pytree_course.texts import cut_middle, join_remarks, printable

A_LINK = "it is a link, and links are not followed"
NO_FILE = "it is a FIFO, a device or a socket, not a file"
OTHER_REASONS = "it cannot be read, for another reason"
ZIP_IN_ZIP = "it is a zip in a zip: unpack it"
TOO_LONG = f"it takes more than {READING_SECONDS:g} seconds, or too much memory, to read"
TOO_MUCH = (
    f"it is more than a student's work has, {STUDENTS_ENTRIES:,} files and folders, "
    f"{STUDENTS_BYTES / 1e6:g} MB and folders nested {FOLDERS_DEEP} deep: leave only notebooks"
)

_COURSES_OWN = (*FILES, *FOLDERS, "checks/", "colab/", "exercises/0", "notebooks/")
"""How the paths of files begin that a copy of the course has."""

_MAX_NAMED = 3  # files in a list
_MAX_REASONS = 10  # for one student
_MAX_NAME = 200  # characters of a path in a list


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
    handed_in_as: str = ""  # the name that a download gives it, or the folder or zip it is in


def shown_path(path: PurePath) -> str:
    """Return a path for display and comparison: printable, with composed letters.

    macOS stores letters and their accents apart, other systems as one character.
    """
    return unicodedata.normalize("NFC", PurePath(*map(printable, path.parts)).as_posix())


def group_by_reason(left_out: Iterable[LeftOut]) -> list[LeftOut]:
    """Merge the files of a student that are left out for the same reason.

    A student with very many reasons, as broken zips have, is given the first of them.
    """
    files = defaultdict(list)
    reasons = defaultdict(set)
    for student, file, reason in left_out:
        reasons[student].add(reason)
        is_one_more = len(reasons[student]) > _MAX_REASONS
        files[student, OTHER_REASONS if is_one_more else reason].append(file)
    return [
        LeftOut(student, list_briefly(names), reason) for (student, reason), names in files.items()
    ]


def list_briefly(names: Sequence[str]) -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(cut_middle(name, _MAX_NAME) for name in names[:_MAX_NAMED]) + more


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


@dataclass(frozen=True)
class _Found:
    """A file or folder that was found, and not opened yet."""

    path: Path
    depth: int = 0  # in how many folders
    reason: str = ""  # why it must not be read
    course: Path | None = None  # the copy of the course that it lies in
    clone: Path | None = None  # the Git repository

    @property
    def is_courses_own(self) -> bool:
        """Whether a copy of the course has such a file."""
        course = self.course or self.path
        return self.path.relative_to(course).as_posix().startswith(_COURSES_OWN)


@dataclass
class Collector:
    """Collects the files of a class, each student's within the same bounds."""

    unpack_into: Path
    pool: Executor
    allowances: dict[str, _Allowance] = field(default_factory=lambda: defaultdict(_Allowance))

    def collect(
        self, entry: Path, download: DownloadName, problems: Mapping[Path, str]
    ) -> Iterator[StudentFile | LeftOut]:
        """Yield the files of an entry: a student's folder, or one file; zips are unpacked.

        `problems` says which files could not be unpacked from the class's zip, and why.
        """
        student, name = download.submitter.id, shown_path(PurePath(entry.name))
        if download.problem:
            yield LeftOut(student, name, download.problem)
            return
        try:
            yield from self._collect(entry, download, problems)
        except CourseError:
            raise
        except Exception as error:  # what nobody thought of costs this student only
            reason = f"it cannot be looked through ({type(error).__name__}: {error})"
            yield LeftOut(student, name, reason)

    def _collect(
        self,
        entry: Path,
        download: DownloadName,
        problems: Mapping[Path, str],
        archive: Path | None = None,
        archive_name: str = "",
    ) -> Iterator[StudentFile | LeftOut]:
        """Yield the files of an entry, or of a student's unpacked `archive`."""
        student = download.submitter.id
        allowance = self.allowances[student]
        files = [*_find_below(entry, allowance)] if entry.is_dir() else [_Found(entry)]
        for found in sorted(files, key=_reading_order):
            file = found.path
            name = file.name if file == entry else file.relative_to(entry)
            name = shown_path(PurePath(archive_name, name))
            reason = found.reason or problems.get(file, "") or _why_not_opened(file, allowance)
            if archive and is_zip(file):
                reason = reason or ZIP_IN_ZIP
            if reason:
                yield LeftOut(student, name, reason)
            elif is_zip(file):
                yield from self._collect_zipped(file, name, download)
            else:
                moment, time_remark = handed_in(archive or file)
                remark = join_remarks(download.remark, time_remark)
                place = found.clone, found.is_courses_own, download.name
                yield StudentFile(student, file, name, moment, download.order, remark, *place)

    def _collect_zipped(
        self, archive: Path, name: str, download: DownloadName
    ) -> Iterator[StudentFile | LeftOut]:
        """Yield the files of a student's zip, which a process of the pool unpacks."""
        student = download.submitter.id
        allowance = self.allowances[student]
        try:
            limits = allowance.size, allowance.entries
            unpacked = self.pool.submit(unpack, archive, self.unpack_into, *limits).result()
        except UnreadableError as error:
            yield LeftOut(student, name, error.about("it"))
            return
        except BrokenProcessPool:
            yield LeftOut(student, name, TOO_LONG)
            return
        yield from self._collect(unpacked.folder, download, unpacked.problems, archive, name)
        for file, problem in unpacked.problems.items():
            if not os.path.lexists(file):
                inner_name = shown_path(PurePath(name, file.relative_to(unpacked.folder)))
                yield LeftOut(student, inner_name, problem)


def _reading_order(found: _Found) -> tuple[bool, bool]:
    """Return a sort key: notebooks come first, then zips."""
    return not is_called_notebook(found.path.name), not is_zip(found.path)


def _find_below(folder: Path, allowance: _Allowance) -> Iterator[_Found]:
    """Yield each file in a folder, level by level, except the other files of a course's copy.

    A link, even to a folder, may lead to another student's work, or out of the folder.
    """
    ignored = (*LEFT_BEHIND, NBGRADER_TIMESTAMP)
    folders = deque([_Found(folder)])
    while folders:
        parent = folders.popleft()
        try:
            names = sorted(os.listdir(parent.path))
        except OSError as error:
            yield replace(parent, reason=_why_not_read(error))
            continue
        inside = replace(
            parent,
            depth=parent.depth + 1,
            course=parent.path if {"course.py", "checks"} <= {*names} else parent.course,
            clone=parent.path if ".git" in names else parent.clone,
        )
        for name in names:
            if name.startswith(ignored):
                continue
            found = replace(inside, path=parent.path / name)
            if allowance.entries == 0:
                yield replace(found, reason=TOO_MUCH)
                return
            allowance.entries -= 1
            if os.path.islink(found.path) or not os.path.isdir(found.path):
                if is_called_notebook(name) or not found.is_courses_own:
                    yield found
            elif found.depth == FOLDERS_DEEP:
                yield replace(found, reason=TOO_MUCH)
            else:
                folders.append(found)


def _why_not_opened(file: Path, allowance: _Allowance) -> str:
    """Say why a file is not opened, after the student's other files; return "" if it may be."""
    try:
        status = file.lstat()
    except OSError as error:
        return _why_not_read(error)
    if stat.S_ISLNK(status.st_mode):
        return A_LINK
    if not stat.S_ISREG(status.st_mode):
        return NO_FILE
    if is_zip(file) or status.st_size <= NOTEBOOK_BYTES:  # larger notebooks are refused later
        if status.st_size > allowance.size:
            return TOO_MUCH
        allowance.size -= status.st_size
    return ""


def _why_not_read(error: OSError) -> str:
    is_right = isinstance(error, PermissionError)
    advice = ": `chmod -R u+rX` on it gives you the right to read it" if is_right else ""
    return f"it cannot be opened ({error.strerror or type(error).__name__}){advice}"
