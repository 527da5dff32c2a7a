"""Find and read what a class handed in, in a folder or a zip, in any layout teachers have."""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath
from typing import NoReturn

from pytree_course.class_grading.archive import Unpacked, unpack
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
    collect_files,
    group_by_reason,
    is_called_notebook,
    is_zip,
    shown_path,
)
from pytree_course.course import Course, CourseError
from pytree_course.rendering import render

UNPACKED = "submissions"
"""The folder beside the gradebook that zips are unpacked into."""

NBGRADER_FOLDER = "submitted"
_NOBODYS = "it is in no student's folder"


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
    unpack_into = into / UNPACKED
    opened = _open(path, course, unpack_into)
    folder = _students_folder(opened.folder)
    _refuse_grades_inside(folder, into)
    entries = list(_entries(folder, [entry.canvas_id for entry in roster if entry.canvas_id]))
    submitters = {download.submitter.id: download.submitter for _, download in entries}
    submitters.pop("", None)
    files: list[StudentFile] = []
    left_out = _not_unpacked(opened.problems, folder)
    for entry, download in entries:
        for collected in collect_files(entry, download, unpack_into, opened.problems):
            if isinstance(collected, LeftOut):
                left_out.append(collected)
            else:
                files.append(collected)
    if not submitters:
        _refuse_without_students(folder, course, left_out)
    notebooks, not_read = read_class(files, course, pool)
    submitters = dict(sorted(submitters.items()))
    doubts = _doubts(folder, submitters.values(), notebooks)
    if not opened.is_utf8:
        doubts.insert(0, f"The names in {path} are not in UTF-8: look at how they were read.")
    all_left_out = group_by_reason([*left_out, *not_read])
    return ClassFolder(folder, submitters, notebooks, all_left_out, doubts)


# ---- where the students are


def _open(path: Path, course: Course, unpack_into: Path) -> Unpacked:
    """Return the class's folder; a zip is unpacked."""
    if path.is_dir():
        return Unpacked(path, {}, is_utf8=True)
    if not path.is_file():
        raise CourseError(
            f"{path} is not there. Name the folder that holds a folder for each student, or what "
            "you downloaded from Canvas, Moodle or Brightspace."
        )
    unpacked = unpack(path, unpack_into)
    stems = tuple(lesson.stem for lesson in course.lessons())
    return unpacked._replace(folder=_top(unpacked.folder, stems))


def _refuse_grades_inside(folder: Path, into: Path) -> None:
    """Refuse to write into the class's folder, before a zip in it is unpacked there."""
    parent = folder.resolve()
    if into.resolve().is_relative_to(parent):
        raise CourseError(
            f"{into} is inside of {parent}, where every folder is a student's: name a "
            "folder elsewhere; otherwise the folder of the grades looks like a student's."
        )


def _not_unpacked(problems: dict[Path, str], folder: Path) -> list[LeftOut]:
    """Return the files of the class's zip of which not even the name could be unpacked."""
    return [
        LeftOut("", shown_path(file.relative_to(folder)), problem)
        for file, problem in problems.items()
        if file.is_relative_to(folder) and not os.path.lexists(file)
    ]


def _top(folder: Path, stems: tuple[str, ...]) -> Path:
    """Go down in an unpacked zip while everything is in one folder that is no student's."""
    while True:
        entries = list(folder.iterdir())
        if (
            len(entries) != 1
            or not entries[0].is_dir()
            or _is_students_or_nbgraders(entries[0], stems)
        ):
            return folder
        folder = entries[0]


def _is_students_or_nbgraders(folder: Path, stems: tuple[str, ...]) -> bool:
    """Say whether a folder that is alone in a zip is a student's, or nbgrader's of all students.

    A student's folder holds files, or nbgrader's folders of assignments and nothing else: a student
    may have a lesson's name.
    """
    if folder.name == NBGRADER_FOLDER or download_names([folder.name]):
        return True
    inside = [entry for entry in folder.iterdir() if not download_names([entry.name])]
    if any(entry.is_file() and not is_zip(entry) for entry in inside):
        return True
    return bool(inside) and all(entry.name.startswith(stems) for entry in inside)


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


# ---- what is doubtful


def _doubts(
    folder: Path, submitters: Iterable[Submitter], notebooks: Iterable[Notebook]
) -> list[str]:
    """Warn of folders that may hold a whole class, and of students who may be one person."""
    similar_ids, same_names, places = defaultdict(list), defaultdict(list), {}
    for submitter in submitters:
        simplified = unicodedata.normalize("NFKC", submitter.id).casefold().rstrip(". ")
        similar_ids[simplified].append(submitter.id)
        name = submitter.name
        if submitter.system != CANVAS:
            name = re.sub(r"_[\d-]+$", "", submitter.id)
        if submitter.system and name:
            same_names[submitter.system, name].append(submitter.id)
    for notebook in notebooks:
        folders = {PurePath(name).parent for name in notebook.candidates}
        if len(folders) > 1:
            places[notebook.student, notebook.lesson] = folders
    doubts = render(
        "class_grading/doubts.txt",
        folder=folder,
        places=places,
        similar_ids=[ids for ids in similar_ids.values() if len(ids) > 1],
        same_names={name: ids for name, ids in same_names.items() if len(ids) > 1},
        canvas=CANVAS,
    )
    return doubts.splitlines()


def _refuse_without_students(folder: Path, course: Course, left_out: Sequence[LeftOut]) -> NoReturn:
    if any(file.reason == _NOBODYS for file in left_out):
        raise CourseError(
            f"{folder} holds notebooks, and no student's folder. If it is a student's own, "
            f"name the folder that it is in: {folder.absolute().parent}"
        )
    first = group_by_reason(left_out)[:5]
    reasons = "".join(f"\nLeft out: {file}: {reason}" for _, file, reason in first)
    raise CourseError(
        f"{folder} holds no student's folder. It should look like "
        f"{folder / 'ada' / course.lessons()[0].exercises.name}, or be what you downloaded from "
        f"Canvas, Moodle or Brightspace.{reasons}"
    )


def refuse_due(folder: ClassFolder, due: datetime | None) -> None:
    """Refuse to ask a download what it does not say."""
    systems = sorted({submitter.system for submitter in folder.submitters.values()} - {""})
    if due and systems:
        raise CourseError(
            f"A download from {' or '.join(systems)} does not say for certain when work was handed "
            "in: leave --due out. What was late is marked there."
        )
