"""Unpack the zip that a class's work came in: notebooks only, each in its place, within bounds."""

import hashlib
import os
import re
import shutil
import stat
import time
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from lzma import LZMAError
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytree_course.classroom.downloads import download_names, is_download
from pytree_course.course import CourseError
from pytree_course.grading.limits import NOTEBOOK_BYTES

NO_NOTEBOOK = "it is no notebook"
MOST_ENTRIES = 50_000
MOST_BYTES = 2_000_000_000
_MOST_PARTS, _MOST_PART_BYTES = 12, 255

_BESIDE_NOTEBOOKS = "timestamp.txt"  # nbgrader's
_NOT_IN_NAMES = re.compile(r'[<>:"|?*\x00-\x1f\x7f-\x9f]')  # Windows allows none of these
_BAD_DATA = (BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError, RuntimeError)

LeftOut = list[tuple[Path, str]]
"""Files, each with the reason."""


def unpack(archive: Path, into: Path, stems: Sequence[str]) -> tuple[Path, LeftOut]:
    """Unpack the notebooks of a zip into a folder of its own in `into`.

    The same zip always goes to the same folder, and what was unpacked before is not removed.

    Returns
    -------
    folder
        The folder that holds what the class handed in; it may lie some folders deep.
    left_out
        What was not unpacked.
    """
    try:
        with archive.open("rb") as opened, ZipFile(opened) as zipped:
            entries = [_Entry(info, _parts(info)) for info in zipped.infolist()]
            _refuse_too_much(archive, entries)
            opened.seek(0)
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
            folder = into / f"{archive.stem}-{digest[:8]}"
            folder.mkdir(parents=True, exist_ok=True)
            left_out = list(_unpack_each(zipped, entries, folder))
    except _BAD_DATA as error:
        raise CourseError(
            f"{archive} is neither a folder nor a zip that can be read ({error}). Download it "
            "again, or unpack it yourself and name the folder."
        ) from error
    except OSError as error:
        raise CourseError(
            f"{archive} cannot be unpacked into {into} ({error}). See that the file is there, that "
            "there is room, and that you may write there."
        ) from error
    return _top(folder, stems), left_out


@dataclass(frozen=True)
class _Entry:
    """A file or a folder in a zip, and where it would go."""

    info: ZipInfo
    parts: list[str]

    @property
    def is_wanted(self) -> bool:
        if self.info.is_dir() or not self.parts:
            return False
        return self.parts[-1].lower().endswith(".ipynb") or self.parts[-1] == _BESIDE_NOTEBOOKS

    @property
    def is_litter(self) -> bool:
        """Whether it is what systems and editors leave behind."""
        return not self.parts or any(
            part == "__MACOSX" or (part.startswith(".") and part != "..") for part in self.parts
        )

    def problem(self) -> str:
        """Say why it is not unpacked; nothing where it may be."""
        kind = stat.S_IFMT(self.info.external_attr >> 16)
        if ".." in self.parts or self.info.filename.startswith(("/", "\\")):
            return "its name leads out of the zip"
        if len(self.parts) > _MOST_PARTS:
            return "it is too deep: put it into the student's folder"
        if any(len(part.encode()) > _MOST_PART_BYTES for part in self.parts):
            return "its name is too long"
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            return "it is a link or a device, and those are not followed"
        if self.is_wanted and self.info.flag_bits & 1:
            return "it is encrypted: ask for it without a password"
        if self.is_wanted and self.info.file_size > NOTEBOOK_BYTES:
            return f"it is larger than {NOTEBOOK_BYTES // 1_000_000} MB"
        return ""


def _parts(info: ZipInfo) -> list[str]:
    """Return the parts of a name, as any system can write them."""
    name = unicodedata.normalize("NFC", _decoded(info)).replace("\\", "/")
    parts = (
        part if part == ".." else _NOT_IN_NAMES.sub("_", part).rstrip(". ")
        for part in name.split("/")
    )
    return [part for part in parts if part]


def _decoded(info: ZipInfo) -> str:
    """Return a name: most programs write UTF-8, but few say so; Canvas's does not."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename  # code page 437, as the format has it


def _refuse_too_much(archive: Path, entries: list[_Entry]) -> None:
    size = sum(entry.info.file_size for entry in entries if entry.is_wanted)
    if len(entries) > MOST_ENTRIES or size > MOST_BYTES:
        raise CourseError(
            f"{archive} holds {len(entries):,} files, {size / 1e9:.1f} GB of notebooks. No more "
            f"than {MOST_ENTRIES:,} files and {MOST_BYTES / 1e9:.1f} GB are unpacked here. Look at "
            "it; if it is what a class handed in, unpack it yourself and name the folder."
        )


def _unpack_each(
    zipped: ZipFile, entries: list[_Entry], folder: Path
) -> Iterator[tuple[Path, str]]:
    """Unpack what is wanted, and yield the name of what is not, with the reason."""
    seen = set()
    for entry in entries:
        name = Path(*entry.parts)
        if entry.is_litter:
            continue
        if problem := entry.problem():
            yield name, problem
            continue
        file = folder / name
        try:
            # Also a folder without notebooks is a student's.
            (file if entry.info.is_dir() else file.parent).mkdir(parents=True, exist_ok=True)
            if not entry.is_wanted:
                if is_download(file.name) and not entry.info.is_dir():
                    yield name, NO_NOTEBOOK
                continue
            if str(name).casefold() in seen:  # not all systems tell A from a
                raise FileExistsError
            seen.add(str(name).casefold())
            with zipped.open(entry.info) as source, file.open("wb") as target:
                shutil.copyfileobj(source, target)  # never more than its header says
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            yield name, "another file in the zip has this name"
            continue
        except _BAD_DATA as error:
            file.unlink(missing_ok=True)
            yield name, f"it cannot be unpacked: {error}"
            continue
        if moment := _moment(entry.info):
            os.utime(file, (moment, moment))


def _moment(info: ZipInfo) -> float | None:
    """Return the time of an entry, which is local time; None where it has none."""
    if info.date_time[0] <= 1980:  # where the format's calendar begins: it means nothing
        return None
    try:
        return time.mktime((*info.date_time, 0, 0, -1))
    except (ValueError, OverflowError):
        return None


def _top(folder: Path, stems: Sequence[str]) -> Path:
    """Go down while all is in one folder that is no student's."""
    while True:
        entries = list(folder.iterdir())
        if len(entries) != 1 or not entries[0].is_dir() or is_download(entries[0].name):
            return folder
        names = [entry.name for entry in entries[0].iterdir()]
        # A student's folder holds notebooks, or nbgrader's folders of assignments.
        is_students = any(
            name.endswith(".ipynb") or name.startswith(tuple(stems))
            for name in {*names} - {*download_names(names)}
        )
        if is_students or entries[0].name == "submitted":
            return folder
        folder = entries[0]
