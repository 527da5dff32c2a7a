"""Find the submissions of a class in a folder or a zip, in any layout teachers have."""

import re
import stat
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NoReturn

from pytree_course.class_grading.archive import unpack
from pytree_course.class_grading.downloads import (
    CANVAS,
    MOODLE,
    DownloadName,
    Submitter,
    download_names,
)
from pytree_course.class_grading.roster import RosterEntry
from pytree_course.class_grading.student_files import (
    A_LINK,
    EARLIEST,
    NBGRADER_FOLDER,
    NO_NOTEBOOK,
    NO_TIME,
    LeftOut,
    SubmittedNotebook,
    cannot_be_opened,
    file_time,
    find_notebooks,
    joined,
    nbgraders_time,
    printable_path,
    shortened,
)
from pytree_course.course import Course, CourseError, LessonFiles
from pytree_course.rendering import render
from pytree_course.texts import printable

UNPACKED = "submissions"
"""The folder beside the gradebook that zips are unpacked into."""

A_HARD_LINK = (
    "it is a hard link, so it may be somebody else's file. If a backup or another program "
    "linked the files, copy the whole folder with `cp -rp`, and grade the copy"
)
_SAME_NAME = "another name here is shown the same way, so it is nobody's: rename one of them"


@dataclass(frozen=True)
class ClassFolder:
    """The submissions of a class."""

    path: Path  # the folder of the students' folders
    submitters: list[Submitter]  # all that have a folder, also an empty one
    notebooks: list[SubmittedNotebook]  # all, also where there are several for one lesson
    ignored: LeftOut  # notebooks of no lesson or no student, and links
    is_nbgraders: bool = False

    def doubts(self) -> list[str]:
        """Warn of folders that may hold a whole class, and of students who may be one person."""
        places, alike, of_one_name = defaultdict(set), defaultdict(list), defaultdict(list)
        for notebook in self.notebooks:
            if not self.is_nbgraders:
                places[notebook.student, notebook.lesson].add(notebook.file.parent)
        for who in self.submitters:
            alike[unicodedata.normalize("NFKC", who.id).casefold().rstrip(". ")].append(who.id)
            name = who.name if who.system == CANVAS else re.sub(r"_\d+$", "", who.id)
            if who.system and name:
                of_one_name[who.system, name].append(who.id)
        doubts = render(
            "class_grading/doubts.txt",
            folder=self.path,
            places={place: folders for place, folders in places.items() if len(folders) > 1},
            alike=[ids for ids in alike.values() if len(ids) > 1],
            of_one_name={who: ids for who, ids in of_one_name.items() if len(ids) > 1},
            moodle=MOODLE,
        )
        return doubts.splitlines()


def read_handed_in(
    path: Path, course: Course, into: Path, roster: Sequence[RosterEntry] = ()
) -> ClassFolder:
    """Find every student and every notebook, in a folder or in a zip."""
    stems = [files.stem for files in course.lessons()]
    folder, left_out = unpack(path, into / UNPACKED, stems) if path.is_file() else (path, [])
    canvas_ids = [entry.canvas_id for entry in roster if entry.canvas_id]
    return read_class_folder(folder, course, left_out, canvas_ids)


def read_class_folder(
    folder: Path, course: Course, left_out: LeftOut | None = None, canvas_ids: Sequence[str] = ()
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
    submitted = folder / NBGRADER_FOLDER
    is_nbgraders = folder.resolve().name == NBGRADER_FOLDER
    # A student, too, may be called so.
    if not (is_nbgraders or submitted.is_symlink() or any(folder.glob("*/*.ipynb"))):
        is_nbgraders = any(submitted.glob("*/*/*.ipynb"))
        folder = submitted if is_nbgraders else folder
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
        files: list[Path] = []
        problems: LeftOut = []
        if entry.is_dir() and not entry.is_symlink() and not download.problem:
            if name.startswith((".", "_")):
                continue
            submitters[who.id] = who
            files, problems = find_notebooks(entry)
        elif download.rest or download.problem or entry.is_symlink() or entry.suffix == ".ipynb":
            files = [entry]
        elif not entry.is_file():
            problems = [(entry, "it is neither a folder nor a file")]
        for file in files:
            # The lesson's name is the file's, or that of nbgrader's folder of the assignment.
            inner = printable_path(file.relative_to(entry)).parts or (download.rest,)
            if why := _problem(file, inner, download, stems):
                problems.append((file, why))
                continue
            submitters[who.id] = who
            lesson = next(stem for stem in stems for part in inner if part.startswith(stem))
            moment = moments[name] if download.rest else file_time(file)
            if is_nbgraders and len(inner) > 1:
                moment = nbgraders_time(file) or moment
            remark = joined(download.remark, "" if moment else NO_TIME)
            notebooks.append(SubmittedNotebook(who.id, lesson, file, moment or EARLIEST, remark))
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


def _problem(file: Path, inner: Sequence[str], download: DownloadName, stems: Sequence[str]) -> str:
    """Say why a file is not graded; nothing where it is. `inner` is its path in the folder."""
    status = file.lstat()
    if stat.S_ISLNK(status.st_mode):  # it may lead to another student's work, or out of the folder
        return A_LINK
    if download.problem:
        return download.problem
    if not inner[-1]:
        return "it is in no student's folder"
    if not inner[-1].endswith(".ipynb"):
        return NO_NOTEBOOK
    if len(inner) > 2:
        return "it is too deep: put it into the student's folder"
    if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
        return A_HARD_LINK
    is_of_lesson = any(part.startswith(tuple(stems)) for part in inner)
    return "" if is_of_lesson else f"its name begins with none of {', '.join(stems)}"


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
