"""Find and read what a class handed in, as a folder or a zip, in any layout teachers have."""

import os
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import NoReturn

from pytree_course.class_grading.archive import HAS_PASSWORD, Unpacked, unpack
from pytree_course.class_grading.downloads import (
    CANVAS,
    DownloadName,
    Submitter,
    classroom_account,
    download_names,
)
from pytree_course.class_grading.reading import Notebook, read_class
from pytree_course.class_grading.roster import RosterEntry
from pytree_course.class_grading.student_files import (
    A_LINK,
    Collector,
    LeftOut,
    StudentFile,
    group_by_reason,
    is_called_notebook,
    is_zip,
    shown_path,
)
from pytree_course.course import Course, CourseError
from pytree_course.grading.notebook_file import UnreadableError
from pytree_course.rendering import render

UNPACKED = "submissions"
"""The folder beside the gradebook that zips are unpacked into."""

NBGRADER_FOLDER = "submitted"
_IN_NO_FOLDER = "it is in no student's folder"
_IN_A_FOLDER = (
    "Put a student's notebooks into a folder with the student's name, and name the folder that it "
    "is in."
)


@dataclass(frozen=True)
class ClassFolder:
    """What a class handed in."""

    submitters: dict[str, Submitter] = field(default_factory=dict)  # by id: all who have a file
    notebooks: list[Notebook] = field(default_factory=list)  # that count, one for each lesson
    left_out: list[LeftOut] = field(default_factory=list)  # files that are not graded
    doubts: list[str] = field(default_factory=list)  # warnings for the teacher, in sentences


def read_handed_in(
    path: Path, course: Course, into: Path, pool: Executor, roster: Sequence[RosterEntry] = ()
) -> ClassFolder:
    """Find every student, read every notebook, and choose those that count.

    The folder or zip holds `<student>/…`, or nbgrader's `submitted/<student>/<assignment>/…`, or a
    download from a learning platform. Neither the files' names nor folders in a student's folder
    matter. Notebooks are read in the pool. Zips are unpacked into `into`, the gradebook's folder.
    """
    unpack_into = into / UNPACKED
    opened = _open(path, course, unpack_into)
    folder = _students_folder(opened.folder)
    _refuse_grades_inside(folder, into)
    entries = list(_entries(folder, roster))
    submitters = _submitters(entries)
    collector = Collector(unpack_into, pool)
    collected = [
        file
        for entry, download in entries
        for file in collector.collect(entry, download, opened.problems)
    ]
    files = [file for file in collected if isinstance(file, StudentFile)]
    left_out = _not_unpacked(opened.problems, folder)
    left_out += [file for file in collected if isinstance(file, LeftOut)]
    if not submitters:
        _refuse_without_students(path, folder, course, left_out)
    notebooks, not_read = read_class(files, course, pool)
    doubts = _doubts(folder, submitters.values(), notebooks)
    if not opened.is_utf8:
        doubts.insert(0, f"The names in {path} are not in UTF-8: check how they were read.")
    all_left_out = group_by_reason([*left_out, *not_read])
    return ClassFolder(submitters, notebooks, all_left_out, doubts)


# ---- where the students are


def _open(path: Path, course: Course, unpack_into: Path) -> Unpacked:
    """Return the class's folder, unpacked if it is a zip."""
    if path.is_dir():
        return Unpacked(path, {}, is_utf8=True)
    if not path.is_file():
        raise CourseError(
            f"{path} is not there. Name the folder that holds a folder for each student, or what "
            "you downloaded from Canvas, Moodle or Brightspace."
        )
    if is_called_notebook(path.name):
        raise CourseError(f"{path} is one notebook. {_IN_A_FOLDER}")
    try:
        unpacked = unpack(path, unpack_into)
    except UnreadableError as error:
        advice = "Download it again, or unpack it yourself and name the folder."
        raise CourseError(f"{error}. {advice}") from error
    if unpacked.problems and {*unpacked.problems.values()} == {HAS_PASSWORD}:
        raise CourseError(f"{path} has a password: unpack it yourself and name the folder.")
    stems = tuple(lesson.stem for lesson in course.lessons())
    return unpacked._replace(folder=_below_wrappers(unpacked.folder, stems))


def _refuse_grades_inside(folder: Path, into: Path) -> None:
    """Refuse to write into the class's folder, before a zip in it is unpacked there."""
    parent = folder.resolve()
    if into.resolve().is_relative_to(parent):
        raise CourseError(
            f"{into} is inside {parent}, where every folder counts as a student's, and so would "
            "the folder of the grades: name a folder elsewhere."
        )


def _not_unpacked(problems: dict[Path, str], folder: Path) -> list[LeftOut]:
    """Return the files of the class's zip of which not even the name could be unpacked.

    The others are found in the folder, and the `Collector` gives their problems.
    """
    return [
        LeftOut("", shown_path(file.relative_to(folder)), problem)
        for file, problem in problems.items()
        if file.is_relative_to(folder) and not os.path.lexists(file)
    ]


def _below_wrappers(folder: Path, stems: tuple[str, ...]) -> Path:
    """Go down in an unpacked zip while it holds one folder alone that only wraps the class."""
    while True:
        entries = list(folder.iterdir())
        if len(entries) != 1 or not _is_wrapper(entries[0], stems):
            return folder
        folder = entries[0]


def _is_wrapper(entry: Path, stems: tuple[str, ...]) -> bool:
    """Return whether what is alone in a zip is a folder around the students' folders.

    Else it is a student's own, which holds files, or nothing but nbgrader's folders of assignments,
    or it is nbgrader's folder of all students. A student may be called like a lesson.
    """
    is_known = entry.name == NBGRADER_FOLDER or bool(download_names([entry.name]))
    if is_known or not entry.is_dir():
        return False
    inside = [path for path in entry.iterdir() if not download_names([path.name])]
    if any(path.is_file() and not is_zip(path) for path in inside):
        return False
    holds_assignments = bool(inside) and all(path.name.startswith(stems) for path in inside)
    return not holds_assignments


def _students_folder(folder: Path) -> Path:
    """Return the folder of the students' folders: in nbgrader's layout, `submitted`.

    A student may be called `submitted`, too: then students' notebooks lie directly in their
    folders, which nbgrader never does.
    """
    submitted = folder / NBGRADER_FOLDER
    if submitted.is_symlink() or any(folder.glob("*/*.ipynb")):
        return folder
    holds_submissions = any(file.is_file() for file in submitted.glob("*/*/*"))
    return submitted if holds_submissions else folder


# ---- which student each file belongs to


def _entries(folder: Path, roster: Sequence[RosterEntry]) -> Iterator[tuple[Path, DownloadName]]:
    """Yield each entry of the class's folder with its student, whose id is "" if unknown."""
    try:
        paths = [path for path in folder.iterdir() if not path.name.startswith(("_", "."))]
    except OSError as error:
        raise CourseError(f"{folder} cannot be opened ({error.strerror}).") from error
    names = {path: shown_path(PurePath(path.name)) for path in paths}
    downloads = download_names(
        set(names.values()), [entry.canvas_id for entry in roster if entry.canvas_id]
    )
    accounts = [entry.account for entry in roster if entry.account]
    zips = [path for path, name in names.items() if is_zip(path) and name not in downloads]
    has_folders = any(path.is_dir() for path in paths)
    is_zip_per_student = len(zips) > 1 and not has_folders
    same_names: dict[str, int] = defaultdict(int)
    # Of names that are shown alike, the one that is shown as it is comes first.
    for path in sorted(paths, key=lambda path: (names[path], path.name != names[path], path)):
        name = names[path]
        if path.is_symlink():
            yield path, DownloadName(Submitter(""), problem=A_LINK)
        elif name in downloads:
            yield path, downloads[name]
        elif path.is_dir() or (is_zip(path) and is_zip_per_student):
            student = name if path.is_dir() else shown_path(PurePath(path.stem))
            same_names[student] += 1
            if same_names[student] > 1:
                student = f"{student} ({same_names[student]})"
            student = classroom_account(student, folder.name, accounts) or student
            yield path, DownloadName(Submitter(student))
        elif is_zip(path) or is_called_notebook(name):  # other files may be the teacher's
            yield path, DownloadName(Submitter(""), problem=_IN_NO_FOLDER)


def _submitters(entries: Iterable[tuple[Path, DownloadName]]) -> dict[str, Submitter]:
    """Return the students that are known, by id, sorted."""
    submitters = {download.submitter.id: download.submitter for _, download in entries}
    return {student_id: submitters[student_id] for student_id in sorted(submitters) if student_id}


# ---- warnings and refusals


def _doubts(
    folder: Path,
    submitters: Iterable[Submitter],
    notebooks: Iterable[Notebook],
) -> list[str]:
    """Warn of folders that may hold a whole class, and of students who may be one person."""
    similar_ids = defaultdict(list)
    namesakes = defaultdict(list)  # by the download's system and the name in it
    for submitter in submitters:
        name = re.sub(r" \(\d+\)$", "", unicodedata.normalize("NFKC", submitter.id))
        simplified_id = name.casefold().rstrip(". ")
        similar_ids[simplified_id].append(submitter.id)
        if full_name := _name_in_download(submitter):
            namesakes[submitter.system, full_name].append(submitter.id)
    places = {}  # the folders of a student's notebooks for a lesson, if there are several
    for notebook in notebooks:
        folders = {PurePath(name).parent for name in notebook.candidates}
        if len(folders) > 1:
            places[notebook.student, notebook.lesson] = folders
    doubts = render(
        "class_grading/doubts.txt",
        folder=folder,
        places=places,
        similar_ids=[ids for ids in similar_ids.values() if len(ids) > 1],
        namesakes={name: ids for name, ids in namesakes.items() if len(ids) > 1},
        canvas=CANVAS,
    )
    return doubts.splitlines()


def _name_in_download(submitter: Submitter) -> str:
    """Return the name that a download gives a student, without a number; "" if there is none."""
    if not submitter.system:
        return ""
    if submitter.system == CANVAS:
        return submitter.name
    return re.sub(r"_[\d-]+$", "", submitter.id)  # such a number is added to tell namesakes apart


def _refuse_without_students(
    path: Path, folder: Path, course: Course, left_out: Sequence[LeftOut]
) -> NoReturn:
    if any(file.reason == _IN_NO_FOLDER for file in left_out):
        advice = _IN_A_FOLDER
        if path.is_dir():
            above = folder.absolute().parent
            advice = f"If it is a student's own, name the folder that it is in: {above}"
        raise CourseError(f"{path} holds notebooks, and no student's folder. {advice}")
    examples = group_by_reason(left_out)[:5]
    reasons = "".join(f"\nLeft out: {file}: {reason}" for _, file, reason in examples)
    raise CourseError(
        f"{folder} holds no student's folder. It should look like "
        f"{folder / 'ada' / course.lessons()[0].exercises.name}, or be what you downloaded from "
        f"Canvas, Moodle or Brightspace.{reasons}"
    )
