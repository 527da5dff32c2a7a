"""Find what a class handed in, in every layout that teachers have; a zip is unpacked first."""

import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.classroom.archive import (
    NBGRADER_FOLDER,
    NBGRADER_TIMESTAMP,
    NO_NOTEBOOK,
    LeftOut,
    unpack,
)
from pytree_course.classroom.downloads import CANVAS, DownloadName, Submitter, download_names
from pytree_course.classroom.roster import RosterEntry, match
from pytree_course.course import Course, CourseError

UNPACKED = "submissions"
"""The folder beside the gradebook that zips are unpacked into."""


@dataclass(frozen=True)
class SubmittedNotebook:
    """A notebook that a student handed in, when, and for which lesson."""

    student: str
    lesson: str
    file: Path
    handed_in: datetime
    remark: str = ""  # for the teacher


@dataclass(frozen=True)
class ClassFolder:
    """What a class handed in."""

    path: Path  # the folder of the students' folders
    submitters: list[Submitter]  # all that have a folder, also an empty one
    notebooks: list[SubmittedNotebook]  # of several for one lesson, all
    ignored: LeftOut  # notebooks of no lesson or no student, links: as called in that folder

    @property
    def students(self) -> list[str]:
        """The ids of all that have a folder."""
        return [each.id for each in self.submitters]

    def doubts(self) -> list[str]:
        """Say where what is taken for a student may be the whole class."""
        places = defaultdict(set)
        for each in self.notebooks:
            if not (each.file.parent / NBGRADER_TIMESTAMP).exists():
                places[each.student, each.lesson].add(each.file.parent)
        return [
            f"{student} has {lesson} in {len(folders)} folders. If those are the students', "
            f"name {self.path / student} instead."
            for (student, lesson), folders in places.items()
            if len(folders) > 1
        ]

    def chosen(self, names: Sequence[str], roster: Sequence[RosterEntry] | None) -> list[str]:
        """Return the ids of the students that a teacher names, by whatever they are called."""
        entries = match(roster or (), self.submitters)
        ids = defaultdict(set)
        for each in self.submitters:
            entry = entries.get(each.id, RosterEntry(each.id))
            for name in (each.id, each.name, entry.student, entry.name):
                ids[name].add(each.id)
        unknown = sorted({*names} - {*ids})
        if unknown:
            examples = [each.name or each.id for each in self.submitters[:2]]
            raise CourseError(
                f"{self.path} has nothing of {', '.join(unknown)}. Its students are called as "
                f"{' or '.join(examples)}."
            )
        return sorted(set().union(*(ids[name] for name in names)))


def read_handed_in(folder: Path, course: Course, into: Path) -> ClassFolder:
    """Find every student and every notebook, in a folder or in a zip."""
    if not folder.is_file():
        return read_class_folder(folder, course)
    unpacked, left_out = unpack(folder, into / UNPACKED, [each.stem for each in course.lessons()])
    return read_class_folder(unpacked, course, left_out)


def read_class_folder(folder: Path, course: Course, left_out: LeftOut | None = None) -> ClassFolder:
    """Find every student and every notebook in a folder.

    The folder holds `<student>/<lesson>.ipynb`, or nbgrader's
    `submitted/<student>/<assignment>/<notebook>.ipynb`, or what Canvas or Moodle made. What comes
    after the lesson's name, as in `01_leaves-2.ipynb` or `01_leaves (1).ipynb`, is a further try.
    """
    if not folder.is_dir():
        raise CourseError(
            f"{folder} is not there. Name the folder that holds a folder for each student, or what "
            "you downloaded from Canvas or Moodle."
        )
    if (folder / NBGRADER_FOLDER).is_dir():
        folder = folder / NBGRADER_FOLDER
    stems = [files.stem for files in course.lessons()]
    entries = [(_text(entry.name), entry) for entry in sorted(folder.iterdir())]
    downloads = download_names(name for name, _ in entries)
    # All files of a download have the time at which it was made, or nearly; the attachments'
    # numbers say which of a student's files came later.
    times = [_handed_in(entry) for name, entry in entries if name in downloads]
    order = sorted(downloads, key=lambda name: (downloads[name].attachment, name))
    moments = {name: max(times) + timedelta(microseconds=at) for at, name in enumerate(order)}
    submitters: dict[str, Submitter] = {}
    notebooks, ignored = [], left_out or []
    for name, entry in entries:
        download = downloads.get(name, DownloadName(Submitter(name)))
        who = download.submitter
        if entry.is_dir() and not entry.is_symlink() and not download.problem:
            if name.startswith((".", "_")):
                continue
            submitters[who.id] = who
        for file, names in _files(entry, download):
            lesson = next((stem for stem in stems for each in names if each.startswith(stem)), "")
            why = _problem(file, names, download)
            if not why and not lesson:
                why = f"its name begins with none of {', '.join(stems)}"
            if why:
                ignored.append((file.relative_to(folder), why))
            else:
                submitters[who.id] = who
                moment = moments[name] if download.rest else _handed_in(file)
                notebooks.append(SubmittedNotebook(who.id, lesson, file, moment, download.remark))
    if not submitters:
        if any(file.stem.startswith(tuple(stems)) for file in folder.glob("*.ipynb")):
            raise CourseError(
                f"{folder} holds notebooks, and no student's folder. If it is a student's own, "
                f"name the folder that it is in: {folder.absolute().parent}"
            )
        reasons = "".join(f"\nLeft out: {file}: {why}" for file, why in ignored[:5])
        raise CourseError(
            f"{folder} holds no student's folder. It should look like "
            f"{folder / 'ada' / (stems[0] + '.ipynb')}, or be what you downloaded from "
            f"Canvas or Moodle.{reasons}"
        )
    return ClassFolder(
        folder, [submitters[each] for each in sorted(submitters)], notebooks, ignored
    )


def _files(entry: Path, download: DownloadName) -> list[tuple[Path, tuple[str, ...]]]:
    """Return what may be notebooks, each with the names that may say its lesson."""
    if entry.is_symlink() or entry.is_file() or download.problem:
        is_meant = entry.is_symlink() or download.rest or entry.suffix == ".ipynb"
        return [(entry, (download.rest,))] if is_meant or download.problem else []
    found = sorted(entry.rglob("*.ipynb"))  # follows no links to folders
    inner = [(file, file.relative_to(entry).parts) for file in found]
    return [(file, names) for file, names in inner if ".ipynb_checkpoints" not in names]


def _problem(file: Path, names: Sequence[str], download: DownloadName) -> str:
    """Say why a file is no student's notebook; nothing where it is."""
    if file.is_symlink():  # it may lead to another student's work, or out of the folder
        return "it is a link, and links are not followed"
    if download.problem:
        return download.problem
    if not names[-1]:
        return "it is in no student's folder"
    if not names[-1].endswith(".ipynb"):
        return NO_NOTEBOOK
    return "it is too deep: put it into the student's folder" if len(names) > 2 else ""


def refuse_mistakes(folder: ClassFolder, into: Path, due: datetime | None) -> None:
    """Refuse to put the grades among the students, and to ask a download what it does not say."""
    parent = folder.path.resolve()
    if into.resolve().is_relative_to(parent):
        raise CourseError(
            f"{into} is inside of {parent}, where every folder is a student's: name a "
            "folder elsewhere, so that the grades are not taken for a student."
        )
    systems = {each.system for each in folder.submitters} - {""}
    if due and systems:
        where = (
            "is noted where Canvas marks it" if CANVAS in systems else "stands in Moodle's table"
        )
        raise CourseError(
            f"A download from {' or '.join(sorted(systems))} does not say when work was handed in: "
            f"leave --due out. What was late {where}."
        )


def _text(name: str) -> str:
    """Return a file's name as text: names that are not UTF-8 have no place in a gradebook."""
    return os.fsencode(name).decode("utf-8", "replace")


def _handed_in(file: Path) -> datetime:
    """Return when a file was handed in, in local time with its offset."""
    stamp = file.parent / NBGRADER_TIMESTAMP
    if stamp.is_file() and not stamp.is_symlink():
        text = stamp.read_text(encoding="utf-8", errors="replace")
        moment, _, zone = text.strip().rpartition(" ")
        try:
            return datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)).astimezone()
        except (ValueError, ZoneInfoNotFoundError):
            pass  # not what nbgrader writes: the file's own time is the next best
    return datetime.fromtimestamp(file.lstat().st_mtime).astimezone()
