"""Read the files of a class, know their lessons, and choose the notebooks that count."""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath

from pytree_course.class_grading.attempt import digest
from pytree_course.class_grading.student_files import (
    NOT_OURS,
    LeftOut,
    StudentFile,
    is_called_notebook,
    joined,
    named_briefly,
)
from pytree_course.course import Course
from pytree_course.grading.limits import READING_SECONDS, STUDENTS_READING_SECONDS
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
NOT_READ_EITHER = (
    f"it is not read, for the student's other files take {STUDENTS_READING_SECONDS:g} seconds to "
    "read: leave only notebooks"
)
_EQUAL_TIMES = ", by its name, for its time is another one's too"
_COPY = re.compile(r"(\.kept)?[-(](\d{1,9})\)?$")
"""What `course.py reset`, a browser, and Canvas write behind a name: .kept-1, (1) and -1."""


@dataclass(frozen=True)
class Notebook(StudentFile):
    """A file that was read."""

    lesson: str = ""  # "" where it is of none
    submission: Submission = field(default_factory=Submission)
    problem: str = ""  # why it is not graded
    among: tuple[str, ...] = ()  # of one that counts: the names of all that might

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
    return {files.stem: files.read_starters() for files in course.lessons()}


def read_class(
    files: Iterable[StudentFile], course: Course, pool: Executor
) -> tuple[list[Notebook], list[LeftOut]]:
    """Read what a class handed in: the notebooks that count, and the files that are not graded."""
    # In the pool, whose process starts before anybody's time counts.
    starters = pool.submit(handed_out, course).result()
    notebooks: list[Notebook] = []
    left_out: list[LeftOut] = []
    by_student = defaultdict(list)
    for file in files:
        by_student[file.student].append(file)
    for own in by_student.values():
        read = sorted(_read_each(own, starters, pool), key=_order, reverse=True)
        lessons = sorted({notebook.lesson for notebook in read} - {""})
        counting = [
            choose([notebook for notebook in read if notebook.lesson == lesson])
            for lesson in lessons
        ]
        files_that_count = {notebook.file for notebook in counting}
        notebooks += counting
        left_out += [
            LeftOut(notebook.student, notebook.name, notebook.problem)
            for notebook in read
            if notebook.problem and notebook.file not in files_that_count
        ]
    return notebooks, left_out


def _order(file: StudentFile) -> tuple[object, ...]:
    """Sort files by time; at one time by their names, those that `reset` kept first."""
    copy = _COPY.search(PurePath(file.name).stem)
    is_kept, number = (copy[1] is not None, int(copy[2])) if copy else (False, 0)
    return file.order, file.handed_in, not is_kept, number, file.name


def _read_each(
    files: Iterable[StudentFile], starters: HandedOut, pool: Executor
) -> Iterator[Notebook]:
    """Read a student's files within a time, those that are called as notebooks first."""
    end = time.monotonic() + STUDENTS_READING_SECONDS
    in_order = sorted(files, key=_order, reverse=True)
    for file in sorted(in_order, key=lambda unread: not is_called_notebook(unread.name)):
        if time.monotonic() > end:
            yield Notebook(**vars(file), problem=NOT_READ_EITHER)
        else:
            yield _read_apart(file, starters, pool)


def _read_apart(file: StudentFile, starters: HandedOut, pool: Executor) -> Notebook:
    """Read a file in another process, which ends where it takes too long.

    Where the contents cannot be read, the name is all that may say whose lesson it is.
    """
    name = PurePath(file.name).name
    try:
        lesson, submission = pool.submit(read_file, file.file, starters).result()
        problem = "" if lesson else NOT_OURS
        return Notebook(**vars(file), lesson=lesson, submission=submission, problem=problem)
    except UnreadableError as error:
        if not is_called_notebook(name):
            return Notebook(**vars(file), problem=NOT_OURS)
        problem = str(error).replace(str(file.file), name)
    except BrokenProcessPool:
        problem = TOO_LONG
    except Exception as error:  # whatever is in one file costs that file only
        problem = f"it cannot be read ({type(error).__name__}: {error})"
    lesson = next((stem for stem in starters if stem in name.casefold()), "")
    return Notebook(**vars(file), lesson=lesson, problem=problem)


def read_file(file: Path, starters: HandedOut) -> tuple[str, Submission]:
    """Read a file: which lesson it is, or "", and the answers in it."""
    notebook = read_notebook(file)
    lesson = known_lesson(notebook, starters)
    return (lesson, find_answers(notebook, starters[lesson])) if lesson else ("", Submission())


def choose(notebooks: Sequence[Notebook]) -> Notebook:
    """Choose which of a student's notebooks for a lesson counts: the newest that has answers.

    They are given the newest first.
    """
    readable = [notebook for notebook in notebooks if not notebook.problem]
    answered = [notebook for notebook in readable if notebook.submission.answers]
    candidates = answered or (readable or notebooks)[:1]
    among = tuple(notebook.name for notebook in candidates)
    return replace(candidates[0], remark=_remark(candidates), among=among)


def _remark(candidates: Sequence[Notebook]) -> str:
    """Say what is unusual about a notebook that counts, and about where its answers stand."""
    newest, *others = candidates
    which = ""
    if others:
        moment = newest.order, newest.handed_in
        by_name = (
            _EQUAL_TIMES
            if moment in [(notebook.order, notebook.handed_in) for notebook in others]
            else ""
        )
        name = PurePath(newest.name).name
        which = f"of {len(candidates)} notebooks, the last counts: {name}{by_name}"
    exercises = defaultdict(list)  # by the note on their answers
    for exercise, note in newest.submission.notes.items():
        if exercise in newest.submission.answers:
            exercises[note].append(exercise)
    notes = (f"{named_briefly(names)}: {note}" for note, names in exercises.items())
    return joined(newest.remark, which, *notes)
