"""Find what a class handed in, in every layout that teachers have; a zip is unpacked first."""

import re
import stat
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NoReturn

from pytree_course.classroom.archive import NBGRADER_FOLDER, NO_NOTEBOOK, unpack
from pytree_course.classroom.downloads import (
    CANVAS,
    MOODLE,
    DownloadName,
    Submitter,
    download_names,
)
from pytree_course.classroom.roster import RosterEntry, match
from pytree_course.classroom.student_files import (
    A_LINK,
    EARLIEST,
    NO_TIME,
    LeftOut,
    cannot_be_opened,
    file_time,
    find_notebooks,
    nbgraders_time,
    printable_path,
    shortened,
)
from pytree_course.course import Course, CourseError, LessonFiles
from pytree_course.printable import printable

UNPACKED = "submissions"
"""The folder beside the gradebook that zips are unpacked into."""

A_HARD_LINK = (
    "it is a hard link, so it may be somebody else's file. If a backup or another program "
    "linked the files, copy the whole folder with `cp -rp`, and grade the copy"
)
_SAME_NAME = "its name is shown like another one's here, so it is nobody's: rename one of them"


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
    is_nbgraders: bool = False

    @property
    def students(self) -> list[str]:
        """The ids of all that have a folder."""
        return [each.id for each in self.submitters]

    def doubts(self) -> list[str]:
        """Say where a student may be the whole class, and two students may be one."""
        places, alike, of_one_name = defaultdict(set), defaultdict(list), defaultdict(list)
        for each in self.notebooks:
            if not self.is_nbgraders:
                places[each.student, each.lesson].add(each.file.parent)
        for who in self.submitters:
            alike[unicodedata.normalize("NFKC", who.id).casefold().rstrip(". ")].append(who.id)
            name = who.name if who.system == CANVAS else re.sub(r"_\d+$", "", who.id)
            if who.system and name:
                of_one_name[who.system, name].append(who.id)
        doubts = [
            f"{student} has {lesson} in {len(folders)} folders. If each of these folders is one "
            f"student's, name {self.path / student} instead."
            for (student, lesson), folders in places.items()
            if len(folders) > 1
        ]
        for ids in alike.values():
            if len(ids) > 1:
                doubts.append(
                    f"{' and '.join(ids)} are graded as {len(ids)} students, though their names "
                    "differ only in capitals, in dots or blanks at the end, or in how letters are "
                    "stored."
                )
        for (system, name), ids in of_one_name.items():
            if len(ids) > 1:
                line = f" A line `LOGIN;{ids[0]}` for each in --roster decides whose login it is."
                doubts.append(
                    f"{' and '.join(ids)} are {len(ids)} students of one name, {name}: {system}'s "
                    f"numbers tell them apart.{line if system == MOODLE else ''}"
                )
        return doubts

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
                f"{self.path} has nothing of {', '.join(unknown)}. The names of its students look "
                f"like {' or '.join(examples)}."
            )
        return sorted(set().union(*(ids[name] for name in names)))


def read_handed_in(
    folder: Path, course: Course, into: Path, roster: Sequence[RosterEntry] | None = None
) -> ClassFolder:
    """Find every student and every notebook, in a folder or in a zip."""
    ids = [entry.canvas_id for entry in roster or () if entry.canvas_id]
    if not folder.is_file():
        return read_class_folder(folder, course, canvas_ids=ids)
    unpacked, left_out = unpack(folder, into / UNPACKED, [each.stem for each in course.lessons()])
    return read_class_folder(unpacked, course, left_out, ids)


def read_class_folder(
    folder: Path,
    course: Course,
    left_out: LeftOut | None = None,
    canvas_ids: Sequence[str] = (),
) -> ClassFolder:
    """Find every student and every notebook in a folder.

    The folder holds `<student>/<lesson>.ipynb`, or nbgrader's
    `submitted/<student>/<assignment>/<notebook>.ipynb`, or what Canvas or Moodle made. What comes
    after the lesson's name, as in `01_leaves_exercises (1).ipynb` or `01_leaves-2.ipynb`, does not
    matter.
    """
    if not folder.is_dir():
        raise CourseError(
            f"{folder} is not there. Name the folder that holds a folder for each student, or what "
            "you downloaded from Canvas or Moodle."
        )
    lessons = course.lessons()
    stems = [files.stem for files in lessons]
    if _holds_nbgraders(folder):
        folder = folder / NBGRADER_FOLDER
    is_nbgraders = folder.resolve().name == NBGRADER_FOLDER
    try:
        entries = [(printable(entry.name), entry) for entry in sorted(folder.iterdir())]
    except OSError as error:
        raise CourseError(f"{folder}: {cannot_be_opened(error)}.") from error
    times_of_name = Counter(name for name, _ in entries)
    downloads = download_names(times_of_name, canvas_ids)
    # All files of a download have the time at which it was made, or nearly; the attachments'
    # numbers say which of a student's files came later.
    times = [file_time(entry) or EARLIEST for name, entry in entries if name in downloads]
    order = sorted(downloads, key=lambda name: (downloads[name].attachment, name))
    moments = {name: max(times) + timedelta(microseconds=at) for at, name in enumerate(order)}
    submitters: dict[str, Submitter] = {}
    notebooks: list[SubmittedNotebook] = []
    ignored = left_out or []
    for name, entry in entries:
        download = downloads.get(name, DownloadName(Submitter(name)))
        who = download.submitter
        if times_of_name[name] > 1:
            ignored.append((Path(name), _SAME_NAME))
            continue
        is_folder = entry.is_dir() and not entry.is_symlink()
        if is_folder and not download.problem:
            if name.startswith((".", "_")):
                continue
            submitters[who.id] = who
        files, problems = _files(entry, download, is_folder)
        for file, names in files:
            lesson = next((stem for stem in stems for each in names if each.startswith(stem)), "")
            why = _problem(file, names, download)
            if not why and not lesson:
                why = f"its name begins with none of {', '.join(stems)}"
            if why:
                problems.append((file, why))
                continue
            submitters[who.id] = who
            moment = moments[name] if download.rest else file_time(file)
            if is_nbgraders and len(names) > 1:
                moment = nbgraders_time(file) or moment
            remarks = [download.remark, "" if moment else NO_TIME]
            remark = "; ".join(filter(None, remarks))
            moment = moment or EARLIEST
            notebooks.append(SubmittedNotebook(who.id, lesson, file, moment, remark))
        ignored += [
            (printable_path(file.relative_to(folder)), why)
            for file, why in shortened(problems, entry)
        ]
    if not submitters:
        _refuse_without_students(folder, lessons, ignored)
    everybody = [submitters[each] for each in sorted(submitters)]
    return ClassFolder(folder, everybody, notebooks, ignored, is_nbgraders)


def _refuse_without_students(
    folder: Path, lessons: Sequence[LessonFiles], ignored: LeftOut
) -> NoReturn:
    stems = tuple(files.stem for files in lessons)
    if any(file.stem.startswith(stems) for file in folder.glob("*.ipynb")):
        raise CourseError(
            f"{folder} holds notebooks, and no student's folder. If it is a student's own, "
            f"name the folder that it is in: {folder.absolute().parent}"
        )
    reasons = "".join(f"\nLeft out: {file}: {why}" for file, why in ignored[:5])
    raise CourseError(
        f"{folder} holds no student's folder. It should look like "
        f"{folder / 'ada' / lessons[0].exercises.name}, or be what you downloaded from "
        f"Canvas or Moodle.{reasons}"
    )


def _holds_nbgraders(folder: Path) -> bool:
    """Say whether nbgrader's folder `submitted` is in it, and no student who is called so."""
    submitted = folder / NBGRADER_FOLDER
    if folder.resolve().name == NBGRADER_FOLDER or submitted.is_symlink():
        return False
    return any(submitted.glob("*/*/*.ipynb")) and not any(folder.glob("*/*.ipynb"))


def _files(
    entry: Path, download: DownloadName, is_folder: bool
) -> tuple[list[tuple[Path, tuple[str, ...]]], LeftOut]:
    """Return what may be notebooks, each with the names that may say its lesson; and the rest."""
    if is_folder and not download.problem:
        found, problems = find_notebooks(entry)
        inner = [(file, printable_path(file.relative_to(entry)).parts) for file in found]
        return inner, problems
    is_meant = entry.is_symlink() or download.rest or entry.suffix == ".ipynb"
    if is_meant or download.problem:
        return [(entry, (download.rest,))], []
    return [], [] if entry.is_file() else [(entry, "it is neither a folder nor a file")]


def _problem(file: Path, names: Sequence[str], download: DownloadName) -> str:
    """Say why a file is no student's notebook; nothing where it is."""
    status = file.lstat()
    if stat.S_ISLNK(status.st_mode):  # it may lead to another student's work, or out of the folder
        return A_LINK
    if download.problem:
        return download.problem
    if not names[-1]:
        return "it is in no student's folder"
    if not names[-1].endswith(".ipynb"):
        return NO_NOTEBOOK
    if len(names) > 2:
        return "it is too deep: put it into the student's folder"
    return A_HARD_LINK if stat.S_ISREG(status.st_mode) and status.st_nlink > 1 else ""


def refuse_mistakes(folder: ClassFolder, into: Path, due: datetime | None) -> None:
    """Refuse to put the grades among the students, and to ask a download what it does not say."""
    parent = folder.path.resolve()
    if into.resolve().is_relative_to(parent):
        raise CourseError(
            f"{into} is inside of {parent}, where every folder is a student's: name a "
            "folder elsewhere; otherwise the folder of the grades looks like a student's."
        )
    systems = {each.system for each in folder.submitters} - {""}
    if due and systems:
        where = "is marked by Canvas" if CANVAS in systems else "is in Moodle's table"
        raise CourseError(
            f"A download from {' or '.join(sorted(systems))} does not say when work was handed in: "
            f"leave --due out. What was late {where}."
        )
