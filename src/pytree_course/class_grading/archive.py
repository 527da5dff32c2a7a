"""Unpack the zip of a class's work within bounds: each notebook in its place, the rest said."""

import hashlib
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile, ZipInfo

from pytree_course.class_grading.downloads import is_download
from pytree_course.class_grading.student_files import (
    NBGRADER_FOLDER,
    NBGRADER_TIMESTAMP,
    NO_NOTEBOOK,
    LeftOut,
    printable_path,
)
from pytree_course.course import CourseError
from pytree_course.grading.limits import NOTEBOOK_BYTES

MOST_ZIPPED = 50_000
MOST_ZIPPED_BYTES = 2_000_000_000


def unpack(archive: Path, into: Path, stems: Sequence[str]) -> tuple[Path, LeftOut]:
    """Unpack the notebooks of a zip into a folder of its own in `into`.

    The same zip always goes to the same folder, and what was unpacked before is not removed.
    Return the folder of what the class handed in, which may lie some folders deep, and what was
    left out.
    """
    try:
        with archive.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        with ZipFile(archive, metadata_encoding="utf-8") as zipped:
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


def _refuse_too_much(archive: Path, entries: list[ZipInfo]) -> None:
    size = sum(info.file_size for info in entries if _is_wanted(info.filename))
    if len(entries) > MOST_ZIPPED or size > MOST_ZIPPED_BYTES:
        raise CourseError(
            f"{archive} holds {len(entries):,} files, {size / 1e9:.1f} GB of notebooks. No more "
            f"than {MOST_ZIPPED:,} files and {MOST_ZIPPED_BYTES / 1e9:.1f} GB are unpacked here. "
            "Look at it; if it is what a class handed in, unpack it yourself and name the folder."
        )


def _is_wanted(name: str) -> bool:
    return name.lower().endswith((".ipynb", NBGRADER_TIMESTAMP))


def _unpack_each(zipped: ZipFile, folder: Path) -> Iterator[tuple[Path, str]]:
    """Unpack what is wanted, and yield the path of what is left out, with the reason."""
    for info in zipped.infolist():
        parts = info.filename.replace("\\", "/").split("/")
        name = Path(*(part for part in parts if part not in ("", ".", "..")))
        if any(part.startswith((".", "__MACOSX")) for part in name.parts):
            continue  # what systems and editors leave behind
        why = ""
        if _is_wanted(info.filename) and info.file_size > NOTEBOOK_BYTES:
            why = f"it is larger than {NOTEBOOK_BYTES / 1e6:g} MB: clear its cells' outputs"
        else:
            try:
                why = _unpack_one(zipped, info, folder / name)
            except Exception as error:  # a damaged or encrypted entry, a name too long, and so on
                why = f"it cannot be unpacked: {getattr(error, 'strerror', None) or error}"
        if why:
            yield printable_path(name), why


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
