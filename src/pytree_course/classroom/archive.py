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
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytree_course.classroom.downloads import is_download
from pytree_course.classroom.student_files import NBGRADER_TIMESTAMP, LeftOut
from pytree_course.course import CourseError
from pytree_course.grading.limits import NOTEBOOK_BYTES

NBGRADER_FOLDER = "submitted"
NO_NOTEBOOK = "it is no notebook"
MOST_ENTRIES = 50_000
MOST_BYTES = 2_000_000_000

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
    names = {info: _safe_name(info) for info in zipped.infolist()}
    collisions = _collisions(names)
    for info, name in names.items():
        file = folder / name
        if any(part.startswith((".", "__MACOSX")) for part in name.parts):
            continue  # what systems and editors leave behind
        why = ""
        if not collisions.isdisjoint(_folded(each) for each in (name, *name.parents)):
            why = "another name in the zip would be the same on some systems: rename one of them"
        elif _is_wanted(info.filename) and info.file_size > NOTEBOOK_BYTES:
            why = f"it is larger than {NOTEBOOK_BYTES / 1e6:g} MB: clear its cells' outputs"
        else:
            try:
                # Also a folder without notebooks is a student's.
                (file if info.is_dir() else file.parent).mkdir(parents=True, exist_ok=True)
                if _is_wanted(info.filename):
                    file.write_bytes(zipped.read(info))  # a link's is where it leads to
                    if info.date_time[0] > 1980:  # where the format's calendar begins: no time
                        os.utime(file, (time.mktime((*info.date_time, 0, 0, -1)),) * 2)
                elif file.suffix.lower() == ".zip":
                    why = "it is a zip in the zip: take it out, and grade it by itself"
                elif is_download(file.name) and not info.is_dir():
                    why = NO_NOTEBOOK
            except Exception as error:  # a damaged or encrypted entry, a name too long, and so on
                if isinstance(error, OSError) and error.errno in _NO_ROOM:
                    raise
                why = f"it cannot be unpacked: {getattr(error, 'strerror', None) or error}"
        if why:
            yield Path(name), why


def _safe_name(info: ZipInfo) -> PurePosixPath:
    """Return a name that leads out of no folder, and that any system can write."""
    parts = (_NOT_IN_NAMES.sub("_", part).rstrip(". ") for part in _name(info).split("/"))
    return PurePosixPath(*(unicodedata.normalize("NFC", part) for part in parts if part))


def _name(info: ZipInfo) -> str:
    name = info.filename
    if not info.flag_bits & 0x800:
        # Most programs write UTF-8, but few say so; otherwise it is code page 437.
        with suppress(UnicodeError):
            name = name.encode("cp437").decode("utf-8")
    return name.replace("\\", "/")


def _collisions(names: dict[ZipInfo, PurePosixPath]) -> set[str]:
    """Return the folded names that more than one name became: two students would be one."""
    original = defaultdict(set)
    for at, (info, name) in enumerate(names.items()):
        parts = [part for part in _name(info).split("/") if part.rstrip(". ")]
        for depth in range(1, len(parts) + 1):
            is_file = depth == len(parts) and not info.is_dir()
            place = PurePosixPath(*name.parts[:depth])
            original[_folded(place)].add((*parts[:depth], at if is_file else None))
    return {folded for folded, origins in original.items() if len(origins) > 1}


def _folded(name: PurePosixPath) -> str:
    return unicodedata.normalize("NFC", name.as_posix().casefold())


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
