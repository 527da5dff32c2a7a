"""Find what a class handed in, in a folder for each student; read the list of the class."""

import csv
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.course import Course, CourseError

_NBGRADER_FOLDER = "submitted"
_NBGRADER_TIMESTAMP = "timestamp.txt"
_CHECKPOINTS = ".ipynb_checkpoints"
_IS_LINK = "it is a link, and links are not followed"


@dataclass(frozen=True)
class SubmittedNotebook:
    """A notebook that a student handed in, when, and for which lesson."""

    student: str
    lesson: str
    file: Path
    handed_in: datetime


@dataclass(frozen=True)
class ClassFolder:
    """What a class handed in."""

    path: Path  # the folder of the students' folders
    students: list[str]  # all that have a folder, also an empty one
    notebooks: list[SubmittedNotebook]  # of several for one lesson, all
    ignored: list[tuple[Path, str]]  # notebooks of no lesson or no student, links: with the reason


def read_class_folder(folder: Path, course: Course) -> ClassFolder:
    """Find every student and every notebook.

    The folder holds `<student>/<lesson>.ipynb`, or nbgrader's
    `submitted/<student>/<assignment>/<notebook>.ipynb`. What comes after the lesson's name, as in
    `01_leaves-2.ipynb` or `01_leaves (1).ipynb`, is a further try at it.
    """
    if not folder.is_dir():
        raise CourseError(
            f"{folder} is not a folder. Name the one that holds a folder for each student."
        )
    if (folder / _NBGRADER_FOLDER).is_dir():
        folder = folder / _NBGRADER_FOLDER
    stems = [files.stem for files in course.lessons()]
    students = sorted(
        entry
        for entry in folder.iterdir()
        # A link may lead to another student's work, or out of the folder.
        if entry.is_dir() and not entry.is_symlink() and not entry.name.startswith((".", "_"))
    )
    if not students:
        raise CourseError(
            f"{folder} holds no student's folder. It should look like "
            f"{folder / 'ada' / (stems[0] + '.ipynb')}"
        )
    ignored = [(file, "it is in no student's folder") for file in sorted(folder.glob("*.ipynb"))]
    links = sorted(entry for entry in folder.iterdir() if entry.is_symlink() and entry.is_dir())
    ignored += [(link, _IS_LINK) for link in links]
    notebooks = []
    for student in students:
        ignored += [
            (file, "it is too deep: put it into the student's folder")
            for file in sorted(student.glob("*/*/**/*.ipynb"))
            if _CHECKPOINTS not in file.parts
        ]
        for file in _notebooks(student):
            names = (file.stem, *(part.name for part in file.relative_to(student).parents))
            lessons = [stem for stem in stems if any(name.startswith(stem) for name in names)]
            if file.is_symlink():
                ignored.append((file, _IS_LINK))
            elif not lessons:
                ignored.append((file, f"its name begins with none of {', '.join(stems)}"))
            else:
                notebooks.append(
                    SubmittedNotebook(_text(student.name), lessons[0], file, _handed_in(file))
                )
    return ClassFolder(folder, [_text(student.name) for student in students], notebooks, ignored)


def refuse_mistakes(folder: ClassFolder, into: Path, students: Sequence[str]) -> None:
    """Refuse to grade students without a folder, and to put the grades among the students."""
    unknown = sorted({*students} - {*folder.students})
    if unknown:
        raise CourseError(
            f"{folder.path} has no folder of {', '.join(unknown)}. A student is called what the "
            f"folder is called, as {' or '.join(folder.students[:2])}."
        )
    parent = folder.path.resolve()
    if into.resolve().is_relative_to(parent):
        raise CourseError(
            f"{into} is inside of {parent}, where every folder is a student's: name a "
            "folder elsewhere, so that the grades are not taken for a student."
        )


def read_roster(file: Path) -> dict[str, str]:
    """Return the students' names, which may be empty, by what their folders are called."""
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(
            f"{file} cannot be read: {error}. Name a CSV file with the columns student and name."
        ) from error
    if not rows or "student" not in rows[0]:
        raise CourseError(f"{file} needs a first line `student,name`, then a line per student.")
    return {
        row["student"].strip(): (row.get("name") or "").strip() for row in rows if row["student"]
    }


def _text(name: str) -> str:
    """Return a file's name as text: names that are not UTF-8 have no place in a gradebook."""
    return os.fsencode(name).decode("utf-8", "replace")


def _notebooks(student: Path) -> list[Path]:
    files = sorted(student.glob("*.ipynb")) + sorted(student.glob("*/*.ipynb"))
    return [
        file for file in files if _CHECKPOINTS not in file.parts and not file.parent.is_symlink()
    ]


def _handed_in(file: Path) -> datetime:
    """Return when a file was handed in, in local time with its offset."""
    stamp = file.parent / _NBGRADER_TIMESTAMP
    if stamp.is_file() and not stamp.is_symlink():
        text = stamp.read_text(encoding="utf-8", errors="replace")
        moment, _, zone = text.strip().rpartition(" ")
        try:
            return datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)).astimezone()
        except (ValueError, ZoneInfoNotFoundError):
            pass  # not what nbgrader writes: the file's own time is the next best
    return datetime.fromtimestamp(file.lstat().st_mtime).astimezone()
