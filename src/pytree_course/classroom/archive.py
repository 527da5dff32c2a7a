"""Unpack the zip that a class's work came in: its notebooks only, within bounds."""

import errno
import hashlib
import os
import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
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

Parts = list[tuple[str, str]]

_NOT_IN_NAMES = re.compile(r'[<>:"|?*\x00-\x1f\x7f-\x9f]')  # Windows allows none of these
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
    except OSError as error:
        raise CourseError(
            f"{archive} cannot be unpacked into {into} ({error}). See that the file is there, that "
            "there is room, and that you may write there."
        ) from error
    except (BadZipFile, ValueError, RuntimeError, NotImplementedError) as error:
        raise CourseError(
            f"{archive} is neither a folder nor a zip that can be read ({error}). Download it "
            "again, or unpack it yourself and name the folder."
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
    entries = [(info, _parts(info)) for info in zipped.infolist()]
    originals: dict[str, set[object]] = defaultdict(set)
    for info, parts in entries:
        for place in _places(parts):
            is_file = len(place) == len(parts) and not info.is_dir()
            originals[_folded(place)].add(info if is_file else tuple(raw for raw, _ in place))
    for info, parts in entries:
        name = Path(*(safe for _, safe in parts))
        if any(part.startswith((".", "__MACOSX")) for part in name.parts):
            continue  # what systems and editors leave behind
        if any(len(originals[_folded(place)]) > 1 for place in _places(parts)):
            why = "another name in the zip would be the same on some systems: rename one of them"
        elif _is_wanted(info.filename) and info.file_size > NOTEBOOK_BYTES:
            why = f"it is larger than {NOTEBOOK_BYTES / 1e6:g} MB: clear its cells' outputs"
        else:
            try:
                why = _unpack_one(zipped, info, folder / name)
            except Exception as error:  # a damaged or encrypted entry, a name too long, and so on
                if isinstance(error, OSError) and error.errno in _NO_ROOM:
                    raise
                why = f"it cannot be unpacked: {getattr(error, 'strerror', None) or error}"
        if why:
            yield name, why


def _unpack_one(zipped: ZipFile, info: ZipInfo, file: Path) -> str:
    """Unpack an entry, or say why not; a link becomes a file that says where it leads."""
    # Also a folder without notebooks is a student's.
    (file if info.is_dir() else file.parent).mkdir(parents=True, exist_ok=True)
    if _is_wanted(info.filename):
        file.write_bytes(zipped.read(info))
        if info.date_time[0] > 1980:  # where the format's calendar begins: no time
            os.utime(file, (time.mktime((*info.date_time, 0, 0, -1)),) * 2)
    elif file.suffix.lower() == ".zip":
        return "it is a zip in the zip: take it out, and grade it by itself"
    elif is_download(file.name) and not info.is_dir():
        return NO_NOTEBOOK
    return ""


def _parts(info: ZipInfo) -> Parts:
    """Return the parts of a name as they are, and so that any system takes them for a name."""
    name = info.filename
    if not info.flag_bits & 0x800:
        # Most programs write UTF-8, but few say so; otherwise it is code page 437.
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    raw = name.replace("\\", "/").split("/")
    safe = [unicodedata.normalize("NFC", _NOT_IN_NAMES.sub("_", each)).rstrip(". ") for each in raw]
    return [parts for parts in zip(raw, safe, strict=True) if parts[1]]  # not "..", nor "/"


def _places(parts: Parts) -> Iterator[Parts]:
    """Yield all folders that an entry is in, and the entry."""
    return (parts[:depth] for depth in range(1, len(parts) + 1))


def _folded(place: Parts) -> str:
    """Return what the names of two students may not share."""
    return unicodedata.normalize("NFC", "/".join(safe for _, safe in place).casefold())


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
