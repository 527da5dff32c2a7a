"""Read the notebooks of a class, know their lessons, and choose those that count."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath

from pytree_course.class_grading.attempt import digest
from pytree_course.class_grading.student_files import NOT_OURS, LeftOut, StudentFile, joined
from pytree_course.course import Course
from pytree_course.grading.limits import NOTEBOOKS, READING_SECONDS
from pytree_course.grading.submission import (
    Submission,
    UnreadableError,
    find_answers,
    known_lesson,
    read_notebook,
)

HandedOut = dict[str, dict[str, str]]
"""The starters that were handed out: by lesson, and by exercise."""

TOO_LONG = f"it takes more than {READING_SECONDS:g} seconds, or too much memory, to read"
NOT_READ_EITHER = "it is not read, for another file of this student takes too long to read"
TOO_MANY = f"the student handed in more than {NOTEBOOKS} notebooks: only the newest are read"
_NO_ANSWER_CELLS = "the notebook has none of the answer cells"
_EQUAL_TIMES = ", by its name, for its time is another one's too"
_COPY = re.compile(r"(\.kept)?[-(](\d{1,9})\)?$")
"""What `course.py reset`, a browser, and Canvas write behind a name: .kept-1, (1) and -1."""


@dataclass(frozen=True)
class Contents:
    """What is in a file that was handed in."""

    lesson: str = ""  # "" where it is of none
    submission: Submission = field(default_factory=Submission)
    problem: str = ""  # why it cannot be read


@dataclass(frozen=True)
class Notebook:
    """The notebook that counts of a student, for a lesson."""

    student: str
    lesson: str
    file: Path
    handed_in: datetime
    remark: str = ""  # for the teacher and the student
    submission: Submission = field(default_factory=Submission)
    problem: str = ""  # why it cannot be read
    among: tuple[str, ...] = ()  # the names of all that might count

    @property
    def digest(self) -> str:
        """A digest of the answers."""
        return digest(self.submission.answers)

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.student, self.lesson, self.digest


def handed_out(course: Course) -> HandedOut:
    """Return the starters of a course, as they stand in its blank notebooks."""
    starters: HandedOut = defaultdict(dict)
    for files in course.lessons():
        for cell in json.loads(files.read_blank())["cells"]:
            if cell["id"].endswith("-answer"):
                starters[files.stem][cell["id"].removesuffix("-answer")] = "".join(cell["source"])
    return dict(starters)


def read_class(
    files: Iterable[StudentFile], starters: HandedOut, pool: Executor
) -> tuple[list[Notebook], list[LeftOut]]:
    """Read what a class handed in: the notebooks that count, and the files that are not graded."""
    notebooks: list[Notebook] = []
    left_out: list[LeftOut] = []
    by_student, by_lesson = defaultdict(list), defaultdict(list)
    for file in files:
        by_student[file.student].append(file)
    for own in by_student.values():
        for file, contents in _read_newest_first(own, starters, pool):
            if contents.lesson:
                by_lesson[file.student, contents.lesson].append((file, contents))
            else:
                left_out.append(LeftOut(file.student, file.name, contents.problem or NOT_OURS))
    for opened in by_lesson.values():
        notebook, unreadable = choose(opened)
        notebooks.append(notebook)
        left_out += unreadable
    return notebooks, left_out


Opened = tuple[StudentFile, Contents]


def _read_newest_first(
    files: Iterable[StudentFile], starters: HandedOut, pool: Executor
) -> list[Opened]:
    """Read a student's files; one that takes too long is the last."""
    opened: list[Opened] = []
    problem = ""
    for number, file in enumerate(sorted(files, key=_order, reverse=True)):
        problem = problem or (TOO_MANY if number >= NOTEBOOKS else "")
        contents = Contents(problem=problem) if problem else _read_apart(file, starters, pool)
        problem = NOT_READ_EITHER if contents.problem == TOO_LONG else problem
        opened.append((file, contents))
    return opened


def _order(file: StudentFile) -> tuple[object, ...]:
    """Sort files by time; at one time by their names, those that `reset` kept first."""
    copy = _COPY.search(PurePath(file.name).stem)
    is_kept, number = (copy[1] is not None, int(copy[2])) if copy else (False, 0)
    return file.order, file.handed_in, not is_kept, number, file.name


def _read_apart(file: StudentFile, starters: HandedOut, pool: Executor) -> Contents:
    """Read a file in another process, which ends where it takes too long.

    Where the contents cannot be read, the name is all that may say whose lesson it is.
    """
    name = PurePath(file.name).name
    lesson = next((stem for stem in starters if stem in name.casefold()), "")
    try:
        return pool.submit(read_file, file.path, starters).result()
    except UnreadableError as error:
        problem = str(error).replace(str(file.path), name)
    except BrokenProcessPool:
        problem = TOO_LONG
    except Exception as error:  # whatever is in one file costs that file only
        problem = f"it cannot be read ({type(error).__name__}: {error})"
    return Contents(lesson, problem=problem)


def read_file(file: Path, starters: HandedOut) -> Contents:
    """Read a file: which lesson it is, and the answers in it."""
    notebook = read_notebook(file)
    lesson = known_lesson(notebook, starters)
    return Contents(lesson, find_answers(notebook, starters[lesson])) if lesson else Contents()


def choose(opened: Sequence[Opened]) -> tuple[Notebook, list[LeftOut]]:
    """Choose which of a student's notebooks for a lesson counts: the newest that has answers.

    They are given the newest first. Those that cannot be read are left out if one can.
    """
    readable = [each for each in opened if not each[1].problem]
    answered = [each for each in readable if each[1].submission.answers]
    candidates = answered or (readable or opened)[:1]
    file, contents = candidates[0]
    unreadable = [
        LeftOut(other.student, other.name, found.problem)
        for other, found in opened
        if found.problem and other is not file
    ]
    notebook = Notebook(
        file.student,
        contents.lesson,
        file.path,
        file.handed_in,
        _remark(file, contents.submission, [other for other, _ in candidates]),
        contents.submission,
        contents.problem,
        tuple(other.name for other, _ in candidates),
    )
    return notebook, unreadable


def _remark(file: StudentFile, submission: Submission, candidates: Sequence[StudentFile]) -> str:
    """Say what is unusual about a notebook that counts, and about where its answers stand."""
    which = ""
    if len(candidates) > 1:
        moments = [(other.order, other.handed_in) for other in candidates]
        by_name = _EQUAL_TIMES if moments.count(moments[0]) > 1 else ""
        name = PurePath(file.name).name
        which = f"of {len(candidates)} notebooks, the last counts: {name}{by_name}"
    cells = "" if submission.has_answer_cells else _NO_ANSWER_CELLS
    notes = [
        f"{exercise}: {note}"
        for exercise, note in submission.notes.items()
        if exercise in submission.answers
    ]
    return joined(file.remark, which, cells, *notes)
