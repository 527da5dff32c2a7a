"""Unpack the zip that a class's work came in: its notebooks only, within bounds."""

import hashlib
import os
import re
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
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
_MOST_DEEP = 20  # folders: a student's may lie in some of the system's

# Windows allows none of these in a name, nor at its end; so no name leads upwards either.
_NOT_IN_NAMES = re.compile(r'[<>:"|?*\x00-\x1f\x7f-\x9f]|[. ]+$')


def unpack(archive: Path, into: Path, stems: Sequence[str]) -> tuple[Path, LeftOut]:
    """Unpack the notebooks of a zip into a folder of its own in `into`.

    The same zip always goes to the same folder, and what was unpacked before is not removed.
    Return the folder of what the class handed in, which may lie some folders deep, and what was
    left out.
    """
    try:
        with archive.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        with _open(archive) as zipped:
            _refuse_too_much(archive, zipped.infolist())
            folder = into / f"{archive.stem}-{digest[:8]}"
            folder.mkdir(parents=True, exist_ok=True)
            left_out = list(_unpack_each(zipped, folder))
    except OSError as error:
        raise CourseError(
            f"{archive} cannot be unpacked into {into} ({error}). Check that the file is there, "
            "that there is room, and that you may write there."
        ) from error
    except (BadZipFile, ValueError, RuntimeError, NotImplementedError) as error:
        raise CourseError(
            f"{archive} is neither a folder nor a zip that can be read ({error}). Download it "
            "again, or unpack it yourself and name the folder."
        ) from error
    return _top(folder, tuple(stems)), left_out


def _open(archive: Path) -> ZipFile:
    try:
        # Most programs write names in UTF-8, but few say so.
        return ZipFile(archive, metadata_encoding="utf-8")
    except UnicodeDecodeError:
        return ZipFile(archive)


def _refuse_too_much(archive: Path, entries: list[ZipInfo]) -> None:
    size = sum(info.file_size for info in entries if _is_wanted(info.filename))
    if len(entries) > MOST_ENTRIES or size > MOST_BYTES:
        raise CourseError(
            f"{archive} holds {len(entries):,} files, {size / 1e9:.1f} GB of notebooks. No more "
            f"than {MOST_ENTRIES:,} files and {MOST_BYTES / 1e9:.1f} GB are unpacked here. Look at "
            "it; if it is what a class handed in, unpack it yourself and name the folder."
        )


def _is_wanted(name: str) -> bool:
    return name.lower().endswith((".ipynb", NBGRADER_TIMESTAMP))


def _unpack_each(zipped: ZipFile, folder: Path) -> Iterator[tuple[Path, str]]:
    """Unpack what is wanted, and yield the path of what is left out, with the reason."""
    entries = []
    for info in zipped.infolist():
        path = _path(info)
        if len(path.parts) <= _MOST_DEEP:
            entries.append((info, path))
        else:
            yield (
                Path(*path.parts[:_MOST_DEEP]),
                f"more than {_MOST_DEEP} folders deep nothing is read",
            )
    spellings = defaultdict(set)
    for _, path in entries:
        for place in (path, *path.parents):
            spellings[_folded(place)].add(place)
    for info, path in entries:
        name = Path(unicodedata.normalize("NFC", str(path)))
        if any(part.startswith((".", "__MACOSX")) for part in name.parts):
            continue  # what systems and editors leave behind
        if any(len(spellings[_folded(place)]) > 1 for place in (path, *path.parents)):
            why = "another name in the zip would be the same on some systems: rename one of them"
        elif _is_wanted(info.filename) and info.file_size > NOTEBOOK_BYTES:
            why = f"it is larger than {NOTEBOOK_BYTES / 1e6:g} MB: clear its cells' outputs"
        else:
            try:
                why = _unpack_one(zipped, info, folder / name)
            except Exception as error:  # a damaged or encrypted entry, a name too long, and so on
                why = f"it cannot be unpacked: {getattr(error, 'strerror', None) or error}"
        if why:
            yield name, why


def _unpack_one(zipped: ZipFile, info: ZipInfo, file: Path) -> str:
    """Unpack an entry, or say why not; a link becomes a file that says where it leads."""
    # A student whose folder holds no notebook is a student all the same.
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


def _path(info: ZipInfo) -> PurePosixPath:
    """Return an entry's path; what would not be part of a name on every system is escaped."""
    parts = info.filename.replace("\\", "/").split("/")
    return PurePosixPath(*(_NOT_IN_NAMES.sub(_escaped, part) for part in parts if part))


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{ord(character):02x}" for character in found[0])


def _folded(path: PurePosixPath) -> str:
    """Return a text that is equal for paths that are the same on some systems."""
    return unicodedata.normalize("NFC", str(path).casefold())


def _top(folder: Path, stems: tuple[str, ...]) -> Path:
    """Go down while everything is in one folder that is no student's."""
    while True:
        entries = list(folder.iterdir())
        if len(entries) != 1 or not entries[0].is_dir() or is_download(entries[0].name):
            return folder
        inside = [each.name for each in entries[0].iterdir() if not is_download(each.name)]
        # A student's folder holds notebooks, or nbgrader's folders of assignments and nothing
        # else: a student may have a lesson's name.
        if (
            entries[0].name == NBGRADER_FOLDER
            or any(name.endswith(".ipynb") for name in inside)
            or (inside and all(name.startswith(stems) for name in inside))
        ):
            return folder
        folder = entries[0]
