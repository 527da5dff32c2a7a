"""Find what a class handed in, in every layout that teachers have; a zip is unpacked first."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.classroom.archive import NO_NOTEBOOK, LeftOut, unpack
from pytree_course.classroom.downloads import CANVAS, DownloadName, Submitter, download_names
from pytree_course.classroom.roster import Roster
from pytree_course.course import Course, CourseError

UNPACKED = "submissions"
"""The folder beside the gradebook that zips are unpacked into."""

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

    def chosen(self, names: Sequence[str], roster: Roster | None) -> list[str]:
        """Return the ids of the students that a teacher names, by whatever they are called."""
        entries = roster.match(self.submitters) if roster else {}
        ids: dict[str, set[str]] = {}
        for each in self.submitters:
            called = {each.id, each.name}
            if entry := entries.get(each.id):
                called |= {entry.student, entry.name}
            for name in called:
                ids.setdefault(name, set()).add(each.id)
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
    stems = [files.stem for files in course.lessons()]
    unpacked, left_out = unpack(folder, into / UNPACKED, stems)
    return read_class_folder(unpacked, course, left_out)


def read_class_folder(
    folder: Path, course: Course, left_out: Iterable[tuple[Path, str]] = ()
) -> ClassFolder:
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
    if (folder / _NBGRADER_FOLDER).is_dir():
        folder = folder / _NBGRADER_FOLDER
    found = _Found([files.stem for files in course.lessons()], left_out)
    entries = [(_text(entry.name), entry) for entry in sorted(folder.iterdir())]
    downloads = download_names(name for name, _ in entries)
    # All files of a download have the time at which it was made, or nearly; the attachments'
    # numbers say which of a student's files came later.
    in_order = sorted(downloads, key=lambda name: (downloads[name].attachment, name))
    order = {name: timedelta(microseconds=place) for place, name in enumerate(in_order)}
    times = [_handed_in(entry) for name, entry in entries if name in downloads and entry.is_file()]
    for name, entry in entries:
        download = downloads.get(name)
        if entry.is_symlink():
            # It may lead to another student's work, or out of the folder.
            if entry.is_dir() or entry.suffix == ".ipynb":
                found.ignored.append((entry, _IS_LINK))
        elif download and download.problem:
            found.ignored.append((entry, download.problem))
        elif entry.is_dir():
            if not name.startswith((".", "_")):
                found.add_folder(entry, download.submitter if download else Submitter(name))
        elif download and download.rest and entry.is_file():
            found.add_download(entry, download, max(times) + order[name])
        elif entry.suffix == ".ipynb":
            found.ignored.append((entry, "it is in no student's folder"))
    if not found.submitters:
        ignored = _below(folder, found.ignored)
        reasons = "".join(f"\nLeft out: {file}: {why}" for file, why in ignored[:5])
        raise CourseError(
            f"{folder} holds no student's folder. It should look like "
            f"{folder / 'ada' / (found.stems[0] + '.ipynb')}, or be what you downloaded from "
            f"Canvas or Moodle.{reasons}"
        )
    submitters = [found.submitters[student] for student in sorted(found.submitters)]
    return ClassFolder(folder, submitters, found.notebooks, _below(folder, found.ignored))


class _Found:
    """What is found in a class's folder."""

    def __init__(self, stems: list[str], ignored: Iterable[tuple[Path, str]]) -> None:
        self.stems = stems
        self.submitters: dict[str, Submitter] = {}
        self.notebooks: list[SubmittedNotebook] = []
        self.ignored = [*ignored]

    def add_folder(self, folder: Path, submitter: Submitter) -> None:
        """Add a student's folder."""
        self.submitters[submitter.id] = submitter
        self.ignored += [
            (file, "it is too deep: put it into the student's folder")
            for file in sorted(folder.glob("*/*/**/*.ipynb"))
            if _CHECKPOINTS not in file.parts
        ]
        for file in _notebooks(folder):
            names = (file.stem, *(part.name for part in file.relative_to(folder).parents))
            lesson = self._lesson(*names)
            if file.is_symlink():
                self.ignored.append((file, _IS_LINK))
            elif lesson is None:
                self._belongs_to_none(file)
            else:
                self.notebooks.append(
                    SubmittedNotebook(submitter.id, lesson, file, _handed_in(file))
                )

    def add_download(self, file: Path, download: DownloadName, handed_in: datetime) -> None:
        """Add a file whose name says whose it is."""
        lesson = self._lesson(download.rest)
        if not download.rest.endswith(".ipynb"):
            self.ignored.append((file, NO_NOTEBOOK))
        elif lesson is None:
            self._belongs_to_none(file)
        else:
            self.submitters[download.submitter.id] = download.submitter
            self.notebooks.append(
                SubmittedNotebook(download.submitter.id, lesson, file, handed_in, download.remark)
            )

    def _lesson(self, *names: str) -> str | None:
        return next(
            (stem for stem in self.stems if any(name.startswith(stem) for name in names)), None
        )

    def _belongs_to_none(self, file: Path) -> None:
        self.ignored.append((file, f"its name begins with none of {', '.join(self.stems)}"))


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


def _below(folder: Path, files: LeftOut) -> LeftOut:
    return [
        (file.relative_to(folder) if file.is_relative_to(folder) else file, why)
        for file, why in files
    ]


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
