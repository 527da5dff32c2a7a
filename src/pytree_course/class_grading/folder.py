"""Find and read what a class handed in, in a folder or a zip, in any layout teachers have."""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath
from typing import NoReturn

from pytree_course.class_grading.archive import MAX_BYTES_OF_STUDENT, unpack
from pytree_course.class_grading.downloads import (
    CANVAS,
    DownloadName,
    Submitter,
    download_names,
)
from pytree_course.class_grading.reading import Notebook, read_class
from pytree_course.class_grading.roster import RosterEntry
from pytree_course.class_grading.student_files import (
    A_LINK,
    LeftOut,
    StudentFile,
    files_below,
    grouped,
    handed_in,
    is_called_notebook,
    is_zip,
    joined,
    shown_path,
)
from pytree_course.course import Course, CourseError
from pytree_course.grading.submission import UnreadableError
from pytree_course.rendering import render

UNPACKED = "submissions"
"""The folder beside the gradebook that zips are unpacked into."""

NBGRADER_FOLDER = "submitted"
_NOBODYS = "it is in no student's folder"
_ZIP_IN_ZIP = "it is a zip in a zip: unpack it"


@dataclass(frozen=True)
class ClassFolder:
    """What a class handed in."""

    path: Path  # the folder of the students' folders
    submitters: dict[str, Submitter] = field(default_factory=dict)  # by id, all that have a file
    notebooks: list[Notebook] = field(default_factory=list)  # the one that counts for each lesson
    left_out: list[LeftOut] = field(default_factory=list)  # files that are not graded
    doubts: list[str] = field(default_factory=list)  # for the teacher, each a sentence or two


def read_handed_in(
    path: Path, course: Course, into: Path, pool: Executor, roster: Sequence[RosterEntry] = ()
) -> ClassFolder:
    """Find every student, read every notebook, and choose those that count.

    The folder or zip holds `<student>/…`, or nbgrader's `submitted/<student>/<assignment>/…`, or
    what a learning platform made. Neither the files' names nor folders in a student's folder
    matter. Notebooks are read in the pool. Zips are unpacked into a folder in `into`.
    """
    doubts = []
    folder, troubles = path, dict[Path, str]()
    if path.is_file():
        folder, troubles, is_utf8 = unpack(path, into / UNPACKED)
        folder = _top(folder, tuple(files.stem for files in course.lessons()))
        if not is_utf8:
            doubts.append(f"The names in {path} are not in UTF-8: look at how they were read.")
    elif not path.is_dir():
        raise CourseError(
            f"{path} is not there. Name the folder that holds a folder for each student, or what "
            "you downloaded from Canvas, Moodle or Brightspace."
        )
    folder = _students_folder(folder)
    # Before a zip in it is unpacked there, whose folder would be a student's next time.
    if into.resolve().is_relative_to(parent := folder.resolve()):
        raise CourseError(
            f"{into} is inside of {parent}, where every folder is a student's: name a "
            "folder elsewhere; otherwise the folder of the grades looks like a student's."
        )
    entries = list(_entries(folder, [entry.canvas_id for entry in roster if entry.canvas_id]))
    submitters = {download.submitter.id: download.submitter for _, download in entries}
    submitters.pop("", None)
    files: list[StudentFile] = []
    left_out = [
        LeftOut("", shown_path(file.relative_to(folder)), why)
        for file, why in troubles.items()
        if file.is_relative_to(folder) and not os.path.lexists(file)
    ]
    for entry, download in entries:
        student = download.submitter.id
        for original, file, name, why in _files(entry, download.problem, into, troubles):
            if why:
                left_out.append(LeftOut(student, name, why))
                continue
            moment, remark = handed_in(original)
            remark = joined(download.remark, remark)
            files.append(StudentFile(student, file, name, moment, download.order, remark))
    if not submitters:
        _refuse_without_students(folder, course, left_out)
    notebooks, not_read = read_class(files, course, pool)
    submitters = dict(sorted(submitters.items()))
    doubts += _doubts(folder, submitters.values(), notebooks)
    return ClassFolder(folder, submitters, notebooks, grouped([*left_out, *not_read]), doubts)


# ---- where the students are


def _top(folder: Path, stems: tuple[str, ...]) -> Path:
    """Go down in an unpacked zip while everything is in one folder that is no student's."""
    while True:
        entries = list(folder.iterdir())
        if len(entries) != 1 or not entries[0].is_dir() or download_names([entries[0].name]):
            return folder
        inside = [entry for entry in entries[0].iterdir() if not download_names([entry.name])]
        # A student's folder holds files, or nbgrader's folders of assignments and nothing else:
        # a student may have a lesson's name.
        if (
            entries[0].name == NBGRADER_FOLDER
            or any(entry.is_file() and not is_zip(entry) for entry in inside)
            or (inside and all(entry.name.startswith(stems) for entry in inside))
        ):
            return folder
        folder = entries[0]


def _students_folder(folder: Path) -> Path:
    """Return the folder of the students' folders: nbgrader's is in that of its course."""
    submitted = folder / NBGRADER_FOLDER
    # A student, too, may be called so.
    is_student = submitted.is_symlink() or any(folder.glob("*/*.ipynb"))
    is_nbgraders = any(file.is_file() for file in submitted.glob("*/*/*"))
    return submitted if is_nbgraders and not is_student else folder


# ---- whose each file is


def _entries(folder: Path, canvas_ids: Sequence[str]) -> Iterator[tuple[Path, DownloadName]]:
    """Yield what is in the class's folder with whose it is; "" is the id where that is unknown."""
    try:
        paths = [path for path in sorted(folder.iterdir()) if not path.name.startswith(("_", "."))]
    except OSError as error:
        raise CourseError(f"{folder} cannot be opened ({error.strerror}).") from error
    names = {path: shown_path(PurePath(path.name)) for path in paths}
    downloads = download_names({*names.values()}, canvas_ids)
    zips = [path for path, name in names.items() if is_zip(path) and name not in downloads]
    has_a_zip_each = len(zips) > 1 and not any(path.is_dir() for path in paths)
    for path, name in names.items():
        if path.is_symlink():
            yield path, DownloadName(Submitter(""), problem=A_LINK)
        elif name in downloads:
            yield path, downloads[name]
        elif path.is_dir():
            yield path, DownloadName(Submitter(name))
        elif is_zip(path) and has_a_zip_each:
            yield path, DownloadName(Submitter(shown_path(PurePath(path.stem))))
        elif is_zip(path) or is_called_notebook(name):  # other files may be the teacher's
            yield path, DownloadName(Submitter(""), problem=_NOBODYS)


def _files(
    entry: Path, problem: str, into: Path, troubles: Mapping[Path, str]
) -> Iterator[tuple[Path, Path, str, str]]:
    """Yield the files in a student's folder, or the one of a download; zips are unpacked.

    Each is given as it was handed in, perhaps in a zip, and as it can be read; with its name in the
    folder, and with why it is not to be read.
    """
    for file, why in [(entry, problem)] if problem or entry.is_file() else files_below(entry):
        name = shown_path(file.relative_to(entry) if file != entry else PurePath(file.name))
        why = why or troubles.get(file, "")
        if why or not is_zip(file):
            yield file, file, name, why
            continue
        try:
            folder, inner_troubles, _ = unpack(file, into / UNPACKED, MAX_BYTES_OF_STUDENT)
        except UnreadableError as error:
            yield file, file, name, str(error).replace(str(file), "it")
            continue
        for inner, why in files_below(folder):
            why = inner_troubles.get(inner, why) or (_ZIP_IN_ZIP if is_zip(inner) else "")
            yield file, inner, f"{name}/{shown_path(inner.relative_to(folder))}", why


# ---- what is doubtful


def _doubts(
    folder: Path, submitters: Iterable[Submitter], notebooks: Iterable[Notebook]
) -> list[str]:
    """Warn of folders that may hold a whole class, and of students who may be one person."""
    alike, of_one_name = defaultdict(list), defaultdict(list)
    for who in submitters:
        alike[unicodedata.normalize("NFKC", who.id).casefold().rstrip(". ")].append(who.id)
        name = who.name if who.system == CANVAS else re.sub(r"_[\d-]+$", "", who.id)
        if who.system and name:
            of_one_name[who.system, name].append(who.id)
    places = {
        (notebook.student, notebook.lesson): {PurePath(name).parent for name in notebook.among}
        for notebook in notebooks
    }
    doubts = render(
        "class_grading/doubts.txt",
        folder=folder,
        places={place: folders for place, folders in places.items() if len(folders) > 1},
        alike=[ids for ids in alike.values() if len(ids) > 1],
        of_one_name={who: ids for who, ids in of_one_name.items() if len(ids) > 1},
        canvas=CANVAS,
    )
    return doubts.splitlines()


def _refuse_without_students(folder: Path, course: Course, left_out: Sequence[LeftOut]) -> NoReturn:
    if any(why == _NOBODYS for _, _, why in left_out):
        raise CourseError(
            f"{folder} holds notebooks, and no student's folder. If it is a student's own, "
            f"name the folder that it is in: {folder.absolute().parent}"
        )
    reasons = "".join(f"\nLeft out: {file}: {why}" for _, file, why in grouped(left_out)[:5])
    raise CourseError(
        f"{folder} holds no student's folder. It should look like "
        f"{folder / 'ada' / course.lessons()[0].exercises.name}, or be what you downloaded from "
        f"Canvas, Moodle or Brightspace.{reasons}"
    )


def refuse_due(folder: ClassFolder, due: datetime | None) -> None:
    """Refuse to ask a download what it does not say."""
    systems = sorted({who.system for who in folder.submitters.values()} - {""})
    if due and systems:
        raise CourseError(
            f"A download from {' or '.join(systems)} does not say for certain when work was handed "
            "in: leave --due out. What was late is marked there."
        )
