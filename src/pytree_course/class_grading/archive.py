"""Unpack a zip of a class's or a student's work within bounds: what may be a notebook."""

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytree_course.class_grading.student_files import (
    NBGRADER_TIMESTAMP,
    is_left_behind,
    is_zip,
    may_be_notebook,
)
from pytree_course.course import CourseError
from pytree_course.grading.limits import NOTEBOOK_BYTES
from pytree_course.grading.submission import UnreadableError

MOST_ZIPPED = 50_000
MOST_ZIPPED_BYTES = 2_000_000_000
MOST_BYTES_OF_STUDENT = 200_000_000


class Unpacked(NamedTuple):
    """What became of a zip."""

    folder: Path
    troubles: dict[Path, str]  # by what could not be unpacked: why
    is_utf8: bool  # its names; if not, they were read as Windows writes them


def unpack(archive: Path, into: Path, most_bytes: int = MOST_ZIPPED_BYTES) -> Unpacked:
    """Unpack what may be a notebook into a folder in `into`; of other files, only the names.

    The same zip always goes to the same folder, and what was unpacked before is not removed. An
    UnreadableError says that it is no zip, or a bomb; a CourseError, that `into` cannot be written.
    """
    try:
        with archive.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        zipped, is_utf8 = _open(archive)
        with zipped:
            wanted = {info for info in zipped.infolist()[:MOST_ZIPPED] if _is_wanted(zipped, info)}
            _refuse_too_much(archive, zipped.infolist(), wanted, most_bytes)
            folder = into / f"{archive.stem}-{digest[:8]}"
            folder.mkdir(parents=True, exist_ok=True)
            troubles = dict(_unpack_each(zipped, wanted, folder))
    except OSError as error:
        raise CourseError(
            f"{archive} cannot be unpacked into {into} ({error}). Check that the file is there, "
            "that there is room, and that you may write there."
        ) from error
    except (BadZipFile, ValueError, RuntimeError, NotImplementedError) as error:
        raise UnreadableError(
            f"{archive} is neither a folder nor a zip that can be read ({error}). Download it "
            "again, or unpack it yourself and name the folder."
        ) from error
    return Unpacked(folder, troubles, is_utf8)


def _refuse_too_much(
    archive: Path, entries: Sequence[ZipInfo], wanted: set[ZipInfo], most_bytes: int
) -> None:
    size = sum(info.file_size for info in wanted)
    if len(entries) > MOST_ZIPPED or size > most_bytes:
        raise UnreadableError(
            f"{archive} holds {len(entries):,} files, {size / 1e9:.1f} GB of notebooks. No more "
            f"than {MOST_ZIPPED:,} files and {most_bytes / 1e9:.1f} GB are unpacked here. Look at "
            "it; if it is what was handed in, unpack it yourself and name the folder."
        )


def _open(archive: Path) -> tuple[ZipFile, bool]:
    """Open a zip whose names may be in UTF-8 without saying so, or as Windows' Explorer writes."""
    try:
        return ZipFile(archive, metadata_encoding="utf-8"), True
    except UnicodeDecodeError:
        return ZipFile(archive), False


def _is_wanted(zipped: ZipFile, info: ZipInfo) -> bool:
    file = Path(info.filename)
    if info.is_dir() or is_zip(file) or file.name == NBGRADER_TIMESTAMP:
        return not info.is_dir()
    try:
        with zipped.open(info) as opened:
            return may_be_notebook(file.name, opened.read(200))
    except Exception:  # it is damaged or encrypted: unpacking it says so
        return True


def _unpack_each(zipped: ZipFile, wanted: set[ZipInfo], folder: Path) -> Iterator[tuple[Path, str]]:
    """Unpack the entries, and yield what cannot be unpacked, with the reason."""
    for info in zipped.infolist():
        parts = info.filename.replace("\\", "/").split("/")
        parts = [part for part in parts if part not in ("", ".", "..")]
        if any(is_left_behind(part) and part != NBGRADER_TIMESTAMP for part in parts):
            continue
        file = folder.joinpath(*parts)
        is_too_large = info in wanted and info.file_size > NOTEBOOK_BYTES
        try:
            _unpack_one(zipped, info, file, is_wanted=info in wanted and not is_too_large)
        except Exception as error:  # a damaged or encrypted entry, a name too long, and so on
            yield file, f"it cannot be unpacked: {getattr(error, 'strerror', None) or error}"
        if is_too_large:
            yield file, f"it is larger than {NOTEBOOK_BYTES / 1e6:g} MB: clear its cells' outputs"


def _unpack_one(zipped: ZipFile, info: ZipInfo, file: Path, *, is_wanted: bool) -> None:
    """Unpack an entry; a link becomes a file that says where it leads."""
    if info.is_dir():  # a student whose folder is empty is a student all the same
        file.mkdir(parents=True, exist_ok=True)
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"")  # there as a name, whatever becomes of the rest
    if is_wanted:
        file.write_bytes(zipped.read(info))
    if info.date_time[0] > 1980:  # where the format's calendar begins: no time
        os.utime(file, (time.mktime((*info.date_time, 0, 0, -1)),) * 2)
