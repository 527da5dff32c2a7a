"""Unpack the zip that a class's work came in: notebooks only, each in its place, within bounds."""

import errno
import hashlib
import os
import re
import time
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from lzma import LZMAError
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytree_course.classroom.downloads import is_download
from pytree_course.classroom.student_files import NBGRADER_TIMESTAMP, LeftOut
from pytree_course.course import CourseError
from pytree_course.grading.limits import NOTEBOOK_BYTES

NBGRADER_FOLDER = "submitted"
NO_NOTEBOOK = "it is no notebook"
MOST_ENTRIES = 50_000
MOST_BYTES = 2_000_000_000
MOST_DEEP = 20

_NOT_IN_NAMES = re.compile(r'[<>:"|?*\x00-\x1f\x7f-\x9f]')  # Windows allows none of these
_BAD_DATA = (
    *(BadZipFile, zlib.error, LZMAError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError, OverflowError),
)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


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
            _refuse_too_much(archive, zipped.infolist())
            opened.seek(0)
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
            folder = into / f"{archive.stem}-{digest[:8]}"
            folder.mkdir(parents=True, exist_ok=True)
            left_out = list(_unpack_each(zipped, folder))
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


def _refuse_too_much(archive: Path, entries: list[ZipInfo]) -> None:
    sizes = (info.file_size for info in entries if _is_wanted(info.filename))
    size = sum(each for each in sizes if each <= NOTEBOOK_BYTES)  # larger ones are left out
    if len(entries) > MOST_ENTRIES or size > MOST_BYTES:
        raise CourseError(
            f"{archive} holds {len(entries):,} files, {size / 1e9:.1f} GB of notebooks. No more "
            f"than {MOST_ENTRIES:,} files and {MOST_BYTES / 1e9:.1f} GB are unpacked here. Look at "
            "it; if it is what a class handed in, unpack it yourself and name the folder."
        )


def _is_wanted(name: str) -> bool:
    return name.lower().endswith((".ipynb", NBGRADER_TIMESTAMP))


def _unpack_each(zipped: ZipFile, folder: Path) -> Iterator[tuple[Path, str]]:
    """Unpack what is wanted, and yield the name of what is not, with the reason."""
    written: set[tuple[int, int]] = set()
    for info in zipped.infolist():
        parts = _parts(info)
        name, file = Path(*parts), folder.joinpath(*parts)
        if any(part.startswith((".", "__MACOSX")) for part in parts):
            continue  # what systems and editors leave behind
        if any(len(part.encode()) > 255 for part in parts):
            yield name, "its name is too long"
            continue
        if len(parts) > MOST_DEEP:
            yield Path(*parts[:3], "…", parts[-1]), "it is too deep: put it nearer to the top"
            continue
        if _is_wanted(info.filename) and info.file_size > NOTEBOOK_BYTES:
            yield name, f"it is larger than {NOTEBOOK_BYTES / 1e6:g} MB: clear its cells' outputs"
            continue
        try:
            # Also a folder without notebooks is a student's.
            (file if info.is_dir() else file.parent).mkdir(parents=True, exist_ok=True)
            if _is_wanted(info.filename):
                _write(zipped, info, file, written)
                if info.date_time[0] > 1980:  # where the format's calendar begins: no time
                    os.utime(file, (time.mktime((*info.date_time, 0, 0, -1)),) * 2)
            elif file.suffix.lower() == ".zip":
                yield name, "it is a zip in the zip: take it out, and grade it by itself"
            elif is_download(file.name) and not info.is_dir():
                yield name, NO_NOTEBOOK
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            yield name, "another file in the zip has this name"
        except _BAD_DATA as error:
            yield name, f"it cannot be unpacked: {error}"
        except OSError as error:
            if error.errno in _NO_ROOM:
                raise
            yield name, f"it cannot be unpacked: {error.strerror}"


def _write(zipped: ZipFile, info: ZipInfo, file: Path, written: set[tuple[int, int]]) -> None:
    """Write one file, unless it is one that was written: not all systems tell A from a."""
    # A link becomes a file too, with the place that it leads to in it. As long as its header says,
    # and no longer:
    content = zipped.read(info)
    with file.open("ab") as target:
        status = os.fstat(target.fileno())
        place = status.st_dev, status.st_ino
        if place in written:
            raise FileExistsError
        written.add(place)
        target.truncate(0)  # an earlier unpacking may have left some
        target.write(content)


def _parts(info: ZipInfo) -> list[str]:
    """Return the parts of a name: none leads out of the folder, and any system can write them."""
    name = info.filename
    if not info.flag_bits & 0x800:
        # Most programs write UTF-8, but few say so; otherwise it is code page 437.
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    name = unicodedata.normalize("NFC", name).replace("\\", "/")
    parts = (_NOT_IN_NAMES.sub("_", part).rstrip(". ") for part in name.split("/"))
    return [part for part in parts if part]


def _top(folder: Path, stems: Sequence[str]) -> Path:
    """Go down while all is in one folder that is no student's."""
    while True:
        entries = list(folder.iterdir())
        if len(entries) != 1 or not entries[0].is_dir() or is_download(entries[0].name):
            return folder
        inside = [each for each in entries[0].iterdir() if not is_download(each.name)]
        assignments = [each for each in inside if each.is_dir()]
        # A student's folder holds notebooks, or nbgrader's folders of assignments and no others:
        # a student may be called as a lesson.
        if (
            entries[0].name == NBGRADER_FOLDER
            or any(each.name.endswith(".ipynb") for each in inside)
            or (assignments and all(each.name.startswith(tuple(stems)) for each in assignments))
        ):
            return folder
        folder = entries[0]
