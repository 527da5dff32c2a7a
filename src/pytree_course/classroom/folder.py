"""Find what a class handed in: one folder for each student."""

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.course import Course, CourseError

NBGRADER_FOLDER = "submitted"
NBGRADER_TIMESTAMP = "timestamp.txt"
CHECKPOINTS = ".ipynb_checkpoints"

_IS_LINK = "it is a link, and links are not followed"


@dataclass(frozen=True)
class HandedIn:
    """A notebook that a student handed in.

    Attributes
    ----------
    lesson
        The stem of the lesson that it belongs to.
    at
        When it was handed in: what nbgrader wrote down, or when the file was last changed.
    """

    student: str
    lesson: str
    file: Path
    at: datetime


@dataclass(frozen=True)
class ClassFolder:
    """All that is in the folder of a class.

    Attributes
    ----------
    students
        Every student who has a folder, also an empty one.
    notebooks
        What they handed in; of several notebooks for one lesson, all.
    ignored
        Notebooks that belong to no lesson or to nobody, and links, with the reason.
    """

    students: list[str]
    notebooks: list[HandedIn]
    ignored: list[tuple[Path, str]]


def students_folder(folder: Path) -> Path:
    """Return where the students' folders are: nbgrader has them in a folder `submitted`."""
    nbgraders = folder / NBGRADER_FOLDER
    return nbgraders if nbgraders.is_dir() else folder


def read_class_folder(folder: Path, course: Course) -> ClassFolder:
    """Find every student and every notebook.

    Parameters
    ----------
    folder
        Holds `<student>/<lesson>.ipynb`, or nbgrader's
        `submitted/<student>/<assignment>/<notebook>.ipynb`. What comes after the lesson's name, as
        in `01_leaves-2.ipynb` or `01_leaves (1).ipynb`, is a further try at it.
    course
        Knows the lessons.

    Raises
    ------
    CourseError
        When there is no student's folder in it.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder} is not a folder.")
    folder = students_folder(folder)
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
    notebooks = []
    ignored = [(file, "it is in no student's folder") for file in sorted(folder.glob("*.ipynb"))]
    ignored += [
        (entry, _IS_LINK)
        for entry in sorted(folder.iterdir())
        if entry.is_symlink() and entry.is_dir()
    ]
    for student in students:
        ignored += [
            (file, "it is too deep: put it into the student's folder")
            for file in sorted(student.glob("*/*/**/*.ipynb"))
            if CHECKPOINTS not in file.parts
        ]
        for file in _notebooks(student):
            names = (file.stem, *(part.name for part in file.relative_to(student).parents))
            lesson = next(
                (stem for stem in stems if any(name.startswith(stem) for name in names)), None
            )
            if file.is_symlink():
                ignored.append((file, _IS_LINK))
            elif lesson is None:
                ignored.append((file, f"its name begins with none of {', '.join(stems)}"))
            else:
                notebooks.append(HandedIn(_text(student.name), lesson, file, _handed_in_at(file)))
    return ClassFolder([_text(student.name) for student in students], notebooks, ignored)


def refuse_mistakes(
    folder: Path, into: Path, students: Sequence[str], handed_in: ClassFolder
) -> None:
    """Refuse what would grade nobody, or put the grades among the students."""
    unknown = sorted({*students} - {*handed_in.students})
    if unknown:
        raise CourseError(
            f"{folder} has no folder of {', '.join(unknown)}. A student is called what the "
            f"folder is called, as {' or '.join(handed_in.students[:2])}."
        )
    parent = students_folder(folder).resolve()
    if into.resolve().is_relative_to(parent):
        raise CourseError(
            f"{into} is inside of {parent}, where every folder is a student's: name a "
            "folder elsewhere, so that nobody takes the grades for a student."
        )


def read_roster(file: Path) -> dict[str, str]:
    """Read the list of a class: a CSV file with a column `student`, and perhaps one `name`.

    Returns
    -------
    dict
        The students' names, by what their folders are called.

    Raises
    ------
    CourseError
        When it is not such a file.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CourseError(f"{file} cannot be read: {error}") from error
    if not rows or "student" not in rows[0]:
        raise CourseError(f"{file} needs a first line `student,name`, then a line per student.")
    return {
        row["student"].strip(): (row.get("name") or "").strip() for row in rows if row["student"]
    }


def _text(name: str) -> str:
    """Return a file's name as text: names that are not UTF-8 have no place in a gradebook."""
    return os.fsencode(name).decode("utf-8", "replace")


def _notebooks(student: Path) -> Iterator[Path]:
    for file in sorted(student.glob("*.ipynb")) + sorted(student.glob("*/*.ipynb")):
        if CHECKPOINTS not in file.parts and not file.parent.is_symlink():
            yield file


def _handed_in_at(file: Path) -> datetime:
    """Return when a file was handed in, in local time with its offset."""
    stamp = file.parent / NBGRADER_TIMESTAMP
    if stamp.is_file() and not stamp.is_symlink():
        moment, _, zone = (
            stamp.read_text(encoding="utf-8", errors="replace").strip().rpartition(" ")
        )
        try:
            return datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)).astimezone()
        except (ValueError, ZoneInfoNotFoundError):
            pass  # not what nbgrader writes: the file's own time is the next best
    return datetime.fromtimestamp(file.lstat().st_mtime).astimezone()
