"""Read the files of a class, identify their lessons, and choose the notebooks that count."""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from pytree_course.class_grading.student_files import (
    TOO_LONG,
    LeftOut,
    StudentFile,
    is_called_notebook,
    list_briefly,
)
from pytree_course.class_grading.times import commit_time
from pytree_course.course import Course
from pytree_course.grading.limits import STUDENTS_READING_SECONDS
from pytree_course.grading.notebook_file import NotOpenedError, UnreadableError
from pytree_course.grading.submission import (
    NoExercisesError,
    Submission,
    read_submission_of_any_lesson,
)
from pytree_course.texts import join_remarks

HandedOut = dict[str, dict[str, str]]
"""The exercises' starters, by lesson and by exercise."""

NOT_READ_IN_TIME = (
    f"it was not read, because the student's other files took {STUDENTS_READING_SECONDS:g} seconds "
    "to read: leave only notebooks"
)
NO_COMMIT = "it is not as it was committed, so the time of the file counts"
# `course.py reset`, browsers and Canvas append this to a copy's name: .kept-1, (1) and -1.
_COPY = re.compile(r"(\.kept)?[-(](\d{1,9})\)?$")

_KINDS = {
    "a PDF, not a notebook": ".pdf",
    "a Python file, not a notebook": ".py",
    "a Word document, not a notebook": ".doc .docx",
    "a picture, not a notebook": ".gif .heic .jpeg .jpg .png",
    "a web page, not a notebook": ".htm .html",
    "an archive that is not opened: unpack it, or ask for a zip": ".7z .gz .rar .tar .tgz .xz",
}


@dataclass(frozen=True, kw_only=True)
class Notebook(StudentFile):
    """A file whose lesson is known: by its contents, or by its name if these cannot be read."""

    lesson: str
    submission: Submission
    problem: str  # why it cannot be read; "" if it can
    is_failure: bool = False  # whether `problem` may be this computer's: then it is no mark
    candidates: tuple[str, ...] = ()  # if it counts, the names of all that could have counted


def read_class(
    files: Iterable[StudentFile], course: Course, pool: Executor
) -> tuple[list[Notebook], list[LeftOut]]:
    """Read a class's files; return the notebooks that count, and the files that are not graded."""
    handed_out = {lesson.stem: lesson.read_starters() for lesson in course.lessons()}
    files_by_student = defaultdict(list)
    for file in files:
        files_by_student[file.student].append(file)
    notebooks_by_lesson = defaultdict(list)
    left_out: list[LeftOut] = []
    for student, students_files in files_by_student.items():
        for result in _read_files(students_files, handed_out, pool):
            if isinstance(result, LeftOut):
                left_out.append(result)
            else:
                notebooks_by_lesson[student, result.lesson].append(result)
    all_counting = []
    for _, notebooks in sorted(notebooks_by_lesson.items()):
        counting = _choose_notebook(notebooks)
        all_counting.append(counting)
        for notebook in notebooks:
            if notebook.problem and notebook.file != counting.file:
                left_out.append(LeftOut(notebook.student, notebook.name, notebook.problem))
    return all_counting, left_out


def _recency(file: StudentFile) -> tuple[object, ...]:
    """Return a sort key: the time; if equal, copies that `reset` kept first, then by name."""
    copy = _COPY.search(PurePath(file.name).stem)
    is_kept = copy is not None and copy[1] is not None
    number = int(copy[2]) if copy else 0
    return file.order, file.handed_in, not is_kept, number, file.name


def _read_files(
    files: Iterable[StudentFile], handed_out: HandedOut, pool: Executor
) -> Iterator[Notebook | LeftOut]:
    """Read a student's files until the time is up; start with files named like notebooks."""
    deadline = time.monotonic() + STUDENTS_READING_SECONDS
    newest_first = sorted(files, key=_recency, reverse=True)
    for file in sorted(newest_first, key=lambda file: not is_called_notebook(file.name)):
        if time.monotonic() > deadline:
            yield LeftOut(file.student, file.name, NOT_READ_IN_TIME)
        elif result := _read_file(file, handed_out, pool):
            yield result


def _read_file(
    file: StudentFile, handed_out: HandedOut, pool: Executor
) -> Notebook | LeftOut | None:
    """Read a file in a process of the pool, which is ended if that takes too long.

    In a copy of the course, notebooks without answers are not handed in: return None.
    """
    name = PurePath(file.name).name
    lesson, submission, problem, is_failure = None, Submission(), "", False
    try:
        future = pool.submit(read_submission_of_any_lesson, file.file, handed_out)
        lesson, submission = future.result()
    except NoExercisesError as error:
        return None if file.is_courses_own else LeftOut(file.student, file.name, error.about("it"))
    except UnreadableError as error:
        is_failure = isinstance(error, NotOpenedError)
        problem = error.about(name)
        if not is_failure and not is_called_notebook(name):
            problem = _describe_kind(name)
    except BrokenProcessPool:
        problem, is_failure = TOO_LONG, True
    except Exception as error:  # a file that breaks the reader must not end the grading
        problem, is_failure = f"it cannot be read ({type(error).__name__}: {error})", True
    if problem and is_called_notebook(name):  # then only the name may tell which lesson it is
        lesson = next((stem for stem in handed_out if stem in name.casefold()), None)
    if lesson is None:
        return LeftOut(file.student, file.name, problem)
    if file.is_courses_own and not problem and not submission.answers:
        return None
    if file.clone and submission.answers:
        file = _timed_by_commit(file, file.clone, pool)
    return Notebook(
        **vars(file), lesson=lesson, submission=submission, problem=problem, is_failure=is_failure
    )


def _describe_kind(name: str) -> str:
    """Say what a file is that is no notebook, by its name."""
    suffix = PurePath(name).suffix.casefold()
    kinds = (kind for kind, suffixes in _KINDS.items() if suffix in suffixes.split())
    return f"it is {next(kinds, 'not a notebook')}"


def _timed_by_commit(file: StudentFile, clone: Path, pool: Executor) -> StudentFile:
    """Return a file with the time of its commit, if that can be found."""
    try:
        return replace(file, handed_in=pool.submit(commit_time, clone, file.file).result())
    except Exception:  # the repository is a student's, too
        return replace(file, remark=join_remarks(file.remark, NO_COMMIT))


def _choose_notebook(notebooks: Sequence[Notebook]) -> Notebook:
    """Choose which of a student's notebooks for a lesson counts.

    It is the newest one with answers, or that this computer could not open; without any, the newest
    that can be read, or the newest.
    """
    newest_first = sorted(notebooks, key=_recency, reverse=True)
    candidates = [each for each in newest_first if each.submission.answers or each.is_failure]
    if not candidates:
        readable = [notebook for notebook in newest_first if not notebook.problem]
        candidates = [readable[0] if readable else newest_first[0]]
    chosen = candidates[0]
    remark = join_remarks(chosen.remark, _explain_choice(candidates), *_answer_notes(chosen))
    names = tuple(notebook.name for notebook in candidates)
    return replace(chosen, remark=remark, candidates=names)


def _explain_choice(candidates: Sequence[Notebook]) -> str:
    """Say that the first of several notebooks counts; return "" if there is only one."""
    chosen, *others = candidates
    if not others:
        return ""
    first, *rest = map(_name_and_time, candidates)
    choice = f"of {len(candidates)} notebooks, the last counts: {first}, not {list_briefly(rest)}"
    times = [(notebook.order, notebook.handed_in) for notebook in others]
    if (chosen.order, chosen.handed_in) in times:
        choice += ", chosen by its name, because another one has the same time"
    return choice


def _name_and_time(notebook: Notebook) -> str:
    """Return a notebook's path, and its time unless a download's order tells which is the last."""
    time_of_it = "" if notebook.order else f" ({notebook.handed_in:%d %b %Y, %H:%M})"
    return f"{notebook.name}{time_of_it}"


def _answer_notes(notebook: Notebook) -> list[str]:
    """Return the reader's notes on the answers, each with the exercises that it is about."""
    exercises_by_note = defaultdict(list)
    for exercise, note in notebook.submission.notes.items():
        if exercise in notebook.submission.answers:
            exercises_by_note[note].append(exercise)
    return [f"{list_briefly(names)}: {note}" for note, names in exercises_by_note.items()]
