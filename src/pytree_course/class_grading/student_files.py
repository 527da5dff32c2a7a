"""The notebooks that students handed in: found in their folders, with their times, and read."""

import os
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytree_course.class_grading.attempt import digest
from pytree_course.grading.limits import NOTEBOOKS, READING_SECONDS
from pytree_course.grading.submission import (
    Submission,
    UnreadableError,
    find_answers,
    read_notebook,
    read_regular,
)
from pytree_course.texts import printable

LeftOut = list[tuple[Path, str]]
"""Files that are not graded, by their paths in the class's folder, each with the reason."""

NBGRADER_FOLDER = "submitted"
NBGRADER_TIMESTAMP = "timestamp.txt"
MOST_DEEP = 5
MOST_ENTRIES = 10_000
MOST_LEFT_OUT = 20
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)

A_LINK = "it is a link, and links are not followed"
NO_NOTEBOOK = "it is no notebook"
NO_TIME = "its time is not a time of any calendar, so it counts as 1 January 1970"
OVER_READING_BUDGET = (
    f"the student's notebooks for this lesson are more than {NOTEBOOKS}, or take more than "
    f"{READING_SECONDS:g} seconds to read: leave only the one that counts"
)
_NO_ANSWER_CELLS = (
    "the notebook has none of the answer cells: it belongs to another lesson, or something changed "
    "the ids of its cells"
)
_TOO_DEEP = (
    f"more than {MOST_DEEP} folders deep nothing is read: put notebooks nearer to the student"
)
_TOO_MUCH = f"it holds more than {MOST_ENTRIES:,} files: not all are read, so leave only notebooks"

_LATEST = datetime(9000, 1, 1, tzinfo=UTC)  # any zone can still show it
_TIMESTAMP_BYTES = 1_000
_CHECKPOINTS = ".ipynb_checkpoints"


def joined(*remarks: str | None) -> str:
    """Return those remarks that say something as one text."""
    return "; ".join(filter(None, remarks))


def printable_path(path: PurePath) -> Path:
    """Return a path with printable names; it may not lead to the file any more."""
    return Path(*map(printable, path.parts))


def find_notebooks(folder: Path) -> tuple[list[Path], LeftOut]:
    """Find everything that has a notebook's name, even a link or FIFO; and say what is not read."""
    notebooks: list[Path] = []
    left_out: LeftOut = []
    entries = 0

    def cannot_open(error: OSError) -> None:
        left_out.append((Path(error.filename), cannot_be_opened(error)))

    for name, folders, files in os.walk(folder, onerror=cannot_open):
        here = Path(name)
        inside = [here / each for each in (*folders, *files)]
        in_folder = [each for each in inside if each.name.endswith(".ipynb")]
        notebooks += in_folder
        if here == folder:
            links = (each for each in inside if each.is_symlink() and each not in in_folder)
            left_out += [(each, A_LINK) for each in links]
        folders[:] = [each for each in folders if not each.endswith((".ipynb", _CHECKPOINTS))]
        if len(here.relative_to(folder).parts) == MOST_DEEP - 1:
            left_out += [(here / each, _TOO_DEEP) for each in folders]
            folders.clear()
        entries += len(inside)
        if entries > MOST_ENTRIES:
            left_out.append((folder, _TOO_MUCH))
            break
    return sorted(notebooks), left_out


def cannot_be_opened(error: OSError) -> str:
    """Say why a folder cannot be looked into, and what to do."""
    why = error.strerror or type(error).__name__
    return f"it cannot be opened ({why}): `chmod -R u+rX` on it gives you the right to read it"


def shortened(left_out: LeftOut, folder: Path) -> LeftOut:
    """Return the first of the files left out of a student's folder, and how many more there are."""
    if len(left_out) <= MOST_LEFT_OUT:
        return left_out
    more = f"{len(left_out) - MOST_LEFT_OUT:,} more files in it are left out too"
    return [*left_out[:MOST_LEFT_OUT], (folder, more)]


def file_time(file: Path) -> datetime | None:
    """Return when a file was last changed, in local time; None where that is in no calendar."""
    try:
        return _in_calendar(datetime.fromtimestamp(file.lstat().st_mtime, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def nbgraders_time(file: Path) -> datetime | None:
    """Return what nbgrader wrote beside a notebook; None where it is not what nbgrader writes."""
    try:
        text = read_regular(file.parent / NBGRADER_TIMESTAMP, _TIMESTAMP_BYTES).decode("utf-8")
        moment, _, zone = text.strip().rpartition(" ")
        return _in_calendar(datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone)))
    except (UnreadableError, ValueError, OverflowError, OSError, ZoneInfoNotFoundError):
        return None


def _in_calendar(moment: datetime) -> datetime | None:
    return moment.astimezone() if EARLIEST <= moment <= _LATEST else None


@dataclass(frozen=True)
class SubmittedNotebook:
    """A notebook that a student handed in, when, and for which lesson."""

    student: str
    lesson: str
    file: Path
    handed_in: datetime
    remark: str = ""  # for the teacher


@dataclass(frozen=True)
class ReadNotebook:
    """A notebook that was handed in, and what is in it."""

    notebook: SubmittedNotebook
    submission: Submission = field(default_factory=Submission)
    problem: str = ""  # why the file cannot be read

    @property
    def is_last_to_read(self) -> bool:
        """Whether it counts, and no older notebook of the student for the lesson."""
        return bool(self.problem) or self.submission.has_answer_cells

    @property
    def digest(self) -> str:
        """A digest of the answers."""
        return digest(self.submission.answers)

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.notebook.student, self.notebook.lesson, self.digest


def newest_first(notebooks: Iterable[SubmittedNotebook]) -> list[list[SubmittedNotebook]]:
    """Group notebooks by student and lesson, the newest of each first."""
    groups = defaultdict(list)
    for each in sorted(notebooks, key=lambda each: (each.handed_in, each.file), reverse=True):
        groups[each.student, each.lesson].append(each)
    return list(groups.values())


def read_newest(of_one: Sequence[SubmittedNotebook], starters: dict[str, str]) -> ReadNotebook:
    """Read a student's notebooks for a lesson, the newest first, until one has answer cells.

    Return the one that counts: that one, or the first that cannot be read, or else the newest. All
    of them together have a budget: of what is beyond it, nothing is read.
    """
    reads: list[ReadNotebook] = []
    ends = time.process_time() + READING_SECONDS
    for notebook in of_one:
        if len(reads) == NOTEBOOKS or time.process_time() > ends:
            reads = [ReadNotebook(of_one[0], problem=OVER_READING_BUDGET)]
        else:
            reads.append(_read(notebook, starters))
        if reads[-1].is_last_to_read:
            break
    read = reads[-1] if reads[-1].is_last_to_read else reads[0]
    which = ""
    if len(of_one) > 1:
        last = "the last" if read.notebook is of_one[0] else "the last with answer cells"
        name = printable(read.notebook.file.name)
        which = f"of {len(of_one)} notebooks, {last} counts: {name}"
    cells = "" if read.is_last_to_read else _NO_ANSWER_CELLS
    remark = joined(read.notebook.remark, which, cells)
    return replace(read, notebook=replace(read.notebook, remark=remark))


def _read(notebook: SubmittedNotebook, starters: dict[str, str]) -> ReadNotebook:
    try:
        return ReadNotebook(notebook, find_answers(read_notebook(notebook.file), starters))
    except UnreadableError as error:
        return ReadNotebook(notebook, problem=str(error))
