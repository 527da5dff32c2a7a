"""Read the files of a class, know their lessons, and choose the notebooks that count."""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import PurePath

from pytree_course.class_grading.attempt import digest
from pytree_course.class_grading.student_files import (
    NOT_OURS,
    LeftOut,
    StudentFile,
    is_called_notebook,
    join_remarks,
    list_briefly,
)
from pytree_course.course import Course
from pytree_course.grading.limits import READING_SECONDS, STUDENTS_READING_SECONDS
from pytree_course.grading.submission import (
    Submission,
    UnreadableError,
    read_submission_of_any_lesson,
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


@dataclass(frozen=True, kw_only=True)
class Notebook(StudentFile):
    """A file whose lesson is known: by its contents, or by its name if these cannot be read."""

    lesson: str
    submission: Submission
    problem: str  # why it cannot be read; "" if it can
    candidates: tuple[str, ...] = ()  # of one that counts: the names of all that might

    @property
    def digest(self) -> str:
        """A digest of the answers."""
        return digest(self.submission.answers)

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.student, self.lesson, self.digest


def read_class(
    files: Iterable[StudentFile], course: Course, pool: Executor
) -> tuple[list[Notebook], list[LeftOut]]:
    """Read what a class handed in: the notebooks that count, and the files that are not graded."""
    handed_out = {lesson.stem: lesson.read_starters() for lesson in course.lessons()}
    files_by_student = defaultdict(list)
    for file in files:
        files_by_student[file.student].append(file)
    all_counting: list[Notebook] = []
    left_out: list[LeftOut] = []
    for students_files in files_by_student.values():
        by_lesson = defaultdict(list)
        for result in _read_files(students_files, handed_out, pool):
            if isinstance(result, LeftOut):
                left_out.append(result)
            else:
                by_lesson[result.lesson].append(result)
        for _, notebooks in sorted(by_lesson.items()):
            counting = choose_notebook(sorted(notebooks, key=_recency, reverse=True))
            all_counting.append(counting)
            left_out += [
                LeftOut(notebook.student, notebook.name, notebook.problem)
                for notebook in notebooks
                if notebook.problem and notebook.file != counting.file
            ]
    return all_counting, left_out


def _recency(file: StudentFile) -> tuple[object, ...]:
    """Sort files by time; at one time by their names, those that `reset` kept first."""
    copy = _COPY.search(PurePath(file.name).stem)
    is_kept = copy is not None and copy[1] is not None
    number = int(copy[2]) if copy else 0
    return file.order, file.handed_in, not is_kept, number, file.name


def _read_files(
    files: Iterable[StudentFile], handed_out: HandedOut, pool: Executor
) -> Iterator[Notebook | LeftOut]:
    """Read a student's files within a time, those that are called as notebooks first."""
    end = time.monotonic() + STUDENTS_READING_SECONDS
    newest_first = sorted(files, key=_recency, reverse=True)
    for file in sorted(newest_first, key=lambda file: not is_called_notebook(file.name)):
        if time.monotonic() > end:
            yield LeftOut(file.student, file.name, NOT_READ_EITHER)
        else:
            yield _read_apart(file, handed_out, pool)


def _read_apart(file: StudentFile, handed_out: HandedOut, pool: Executor) -> Notebook | LeftOut:
    """Read a file in another process, which ends where it takes too long."""
    name = PurePath(file.name).name
    lesson, submission, problem = None, Submission(), ""
    try:
        reading = pool.submit(read_submission_of_any_lesson, file.file, handed_out)
        lesson, submission = reading.result()
    except UnreadableError as error:
        if is_called_notebook(name):
            problem = str(error).replace(str(file.file), name)
    except BrokenProcessPool:
        problem = TOO_LONG
    except Exception as error:  # whatever is in one file costs that file only
        problem = f"it cannot be read ({type(error).__name__}: {error})"
    if problem:  # then the name is all that may say whose lesson it is
        lesson = next((stem for stem in handed_out if stem in name.casefold()), None)
    if lesson is None:
        return LeftOut(file.student, file.name, problem or NOT_OURS)
    return Notebook(**vars(file), lesson=lesson, submission=submission, problem=problem)


def choose_notebook(notebooks: Sequence[Notebook]) -> Notebook:
    """Choose which of a student's notebooks for a lesson counts; they are given newest first.

    That is the newest one that has answers, or else that can be read, or else of all.
    """
    readable = [notebook for notebook in notebooks if not notebook.problem]
    answered = [notebook for notebook in readable if notebook.submission.answers]
    if answered:
        candidates = answered
    elif readable:
        candidates = readable[:1]
    else:
        candidates = [notebooks[0]]
    names = tuple(notebook.name for notebook in candidates)
    return replace(candidates[0], remark=_remark(candidates), candidates=names)


def _remark(candidates: Sequence[Notebook]) -> str:
    """Say what is unusual about a notebook that counts, and about where its answers stand."""
    newest, *others = candidates
    choice = ""
    if others:
        name = PurePath(newest.name).name
        choice = f"of {len(candidates)} notebooks, the last counts: {name}"
        times = [(notebook.order, notebook.handed_in) for notebook in others]
        if (newest.order, newest.handed_in) in times:
            choice += _EQUAL_TIMES
    exercises = defaultdict(list)  # by the note on their answers
    for exercise, note in newest.submission.notes.items():
        if exercise in newest.submission.answers:
            exercises[note].append(exercise)
    notes = [f"{list_briefly(names)}: {note}" for note, names in exercises.items()]
    return join_remarks(newest.remark, choice, *notes)
