"""Unpack a zip of a class's or a student's work, within bounds."""

import errno
import hashlib
import os
import time
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytree_course.course import CourseError
from pytree_course.grading.limits import FOLDERS_DEEP, NOTEBOOK_BYTES
from pytree_course.grading.notebook_file import UnreadableError

MAX_ZIPPED_BYTES = 5_000_000_000  # in a class's zip
LEFT_BEHIND = (".", "__MACOSX", "__pycache__")
"""How the names of files and folders begin that systems and editors leave behind."""

HAS_PASSWORD = "it has a password: hand it in without one"

_YEAR_OF_NO_TIME = 1980  # the first of the format's calendar: programs write it for want of a time
_IS_ENCRYPTED = 0x1  # in an entry's flags
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EROFS}
_DEEPEST = FOLDERS_DEEP + 10  # what is deeper in the class's folder is refused where it is found
_NAME_LENGTH = 50  # at most 200 bytes: systems allow 255


class Unpacked(NamedTuple):
    """The result of unpacking a zip."""

    folder: Path
    problems: dict[Path, str]  # why a file could not be unpacked
    is_utf8: bool  # whether the file names are; if not, they were read as Windows writes them


def unpack(
    archive: Path, into: Path, max_bytes: int = MAX_ZIPPED_BYTES, max_entries: int | None = None
) -> Unpacked:
    """Unpack a zip into a folder in `into`; of files too large for notebooks, only the names.

    The same zip is always unpacked into the same folder, and nothing in it is removed. An
    UnreadableError says that the file is not a zip, or holds too much; a CourseError, that `into`
    cannot be written.
    """
    try:
        with archive.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        zipped, is_utf8 = _open(archive)
    except OSError as error:
        raise UnreadableError(
            archive, f"cannot be opened ({error.strerror}): see that you have the right to read it"
        ) from error
    except (BadZipFile, ValueError, NotImplementedError) as error:
        raise UnreadableError(
            archive, f"is neither a folder nor a zip that can be read ({error})"
        ) from error
    with zipped:
        paths = {info: _inner_path(info) for info in zipped.infolist()}
        entries = {info: path for info, path in paths.items() if path}
        size = sum(info.file_size for info in entries if info.file_size <= NOTEBOOK_BYTES)
        if size > max_bytes or (max_entries is not None and len(entries) > max_entries):
            raise UnreadableError(
                archive,
                f"holds {len(entries):,} files, {size / 1e6:,.0f} MB, which is too much to "
                "unpack: leave only notebooks in it",
            )
        try:
            folder = into / f"{archive.stem[:_NAME_LENGTH]}-{digest[:8]}"
            folder.mkdir(parents=True, exist_ok=True)
            problems = {}
            for info, path in entries.items():
                if problem := _unpack_entry(zipped, info, folder, path):
                    problems[folder / path] = problem
        except OSError as error:
            raise CourseError(
                f"{archive} cannot be unpacked into {into} ({error}). Check that there is room, "
                "and that you may write there."
            ) from error
    return Unpacked(folder, problems, is_utf8)


def _open(archive: Path) -> tuple[ZipFile, bool]:
    """Open a zip, and return whether its names are in UTF-8, which few programs declare.

    Windows' Explorer writes other names.
    """
    try:
        return ZipFile(archive, metadata_encoding="utf-8"), True
    except UnicodeDecodeError:
        return ZipFile(archive), False


def _inner_path(info: ZipInfo) -> str:
    """Return the path of an entry, which cannot lead out of the folder; "" if it is ignored."""
    parts = info.filename.replace("\\", "/").split("/")
    parts = [part for part in parts if part not in ("", ".", "..")]
    return "" if any(part.startswith(LEFT_BEHIND) for part in parts) else "/".join(parts)


def _unpack_entry(zipped: ZipFile, info: ZipInfo, folder: Path, path: str) -> str:
    """Unpack an entry, a link as a text file of its target; return why that failed, or ""."""
    file, parts = folder / path, path.split("/")
    try:
        if len(parts) > _DEEPEST:
            folder.joinpath(*parts[:_DEEPEST]).mkdir(parents=True, exist_ok=True)
            return ""
        if info.is_dir():  # an empty folder, too, makes a student known
            file.mkdir(parents=True, exist_ok=True)
            return ""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()  # so that the file is listed even if its contents are not unpacked
        if info.flag_bits & _IS_ENCRYPTED:
            return HAS_PASSWORD
        if info.file_size > NOTEBOOK_BYTES:
            return f"it is larger than {NOTEBOOK_BYTES / 1e6:g} MB: clear its cells' outputs"
        file.write_bytes(zipped.read(info))
        if info.date_time[0] > _YEAR_OF_NO_TIME:
            seconds = time.mktime((*info.date_time, 0, 0, -1))
            os.utime(file, (seconds, seconds))
    except Exception as error:  # a damaged entry, a name too long, and so on
        if isinstance(error, OSError) and error.errno in _NO_ROOM:
            raise
        return f"it cannot be unpacked: {getattr(error, 'strerror', None) or error}"
    return ""
