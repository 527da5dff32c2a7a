"""Grade the corpus as a teacher would: one class, one call of the command `grade`."""

import ctypes
import json
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from pytree_course.class_grading.attempt import Attempt, VerdictRow, counting_attempts
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.course import Course
from pytree_course.reports.pages import choose_page_names
from pytree_course.texts import printable
from tests.conftest import ROOT, ExerciseNotebook, put
from tests.hostile.case import COUNT, LESSON, RIGHT, Case

VICTIM = "p-victim"
"""The student whose work is not to be read by others."""

HONEST = ("0-honest", "m-honest", "zz-honest")
"""Students with right answers: the first, one in the middle and the last of the class."""

_PLACES = ("environment", "home", "solutions", "sources", "submission", "grades")
_LONGEST = 3_600  # seconds
_ENDING_SECONDS = 60  # what was told to end has so long, on a busy machine
_SET_CHILD_SUBREAPER = 36  # of prctl


@dataclass
class Student:
    """One folder of the class: the cases that are handed in there, and right answers beside."""

    name: str
    cases: list[Case] = field(default_factory=list)

    @property
    def answers(self) -> dict[str, str]:
        """Code of all cases, by exercise."""
        return {name: code for case in self.cases for name, code in case.answers.items()}

    @property
    def beside(self) -> list[str]:
        """The exercises that are answered rightly."""
        alone = self.cases and not self.cases[0].is_local
        wanted = self.cases[0].earns if alone else RIGHT
        return [name for name in wanted if name not in self.answers]


@dataclass(frozen=True)
class GradedCorpus:
    """The class after its grading."""

    into: Path
    done: subprocess.CompletedProcess[str]
    students: list[Student]  # of the cases
    attempts: dict[tuple[str, str], Attempt]  # by student and lesson
    secrets: dict[str, str]  # by the place where no answer may reach them
    left_processes: list[str]  # what still lived when the command had ended
    left_files: list[str]  # in its temporary folder

    def student_of(self, case: Case) -> Student:
        return next(student for student in self.students if case in student.cases)

    def attempt(self, student: Student) -> Attempt | None:
        return self.attempts.get((printable(student.name), LESSON))

    def lost(self, student: Student) -> dict[str, str]:
        """Return the right answers of a student without all of their points, and why."""
        attempt = self.attempt(student)
        rows = {row.exercise: row for row in attempt.rows} if attempt else {}
        asked = {name: rows.get(name, VerdictRow(name, None, 0, 1)) for name in student.beside}
        return {
            name: row.explanation or str(row.kind)
            for name, row in asked.items()
            if row.points < row.exercise_points
        }

    def told_secrets(self) -> Iterator[str]:
        """Yield what secret is in which of the texts that the grading wrote."""
        kinds = (".html", ".csv", ".xml")
        files = [*self.into.glob("*"), *(self.into / "students").glob("*")]
        texts = {file.stem: file.read_text("utf-8") for file in files if file.suffix in kinds}
        texts |= {f"what {name} did": repr(attempt) for (name, _), attempt in self.attempts.items()}
        texts["the output"] = self.done.stdout + self.done.stderr
        page = Path(choose_page_names([*{name for name, _ in self.attempts}])[VICTIM])
        for own in (page.stem, f"what {VICTIM} did", "answers"):  # the last is the teacher's own
            texts.pop(own)
        for name, text in texts.items():
            for place, secret in self.secrets.items():
                if secret in text:
                    yield f"the secret of {place} is in {name}"


def grade_corpus(cases: Sequence[Case], folder: Path) -> GradedCorpus:
    """Have these cases handed in, with honest students beside, and graded."""
    course = Course(folder / "course")
    for name in ("checks", "exercises", "solutions", "sources"):
        shutil.copytree(ROOT / name, course.root / name)
    students = [*_seated(cases)]
    # Attacks look for how a secret begins.
    kept = {place: f"PTC-SECRET-{secrets.token_hex(12)}" for place in _PLACES}
    work = {"count_leaves": f"# {kept['submission']}\n{COUNT}"}
    victim = Student(VICTIM, [Case("victim", "", work)])
    for student in (*students, *map(Student, HONEST), victim):
        _hand_in(course, student, folder / "class" / student.name)
    into = folder / "grades"
    put(folder / "home" / ".ssh" / "id_ed25519", kept["home"])
    put(into / "notes.txt", kept["grades"])
    put(course.root / "sources" / "notes.txt", kept["sources"])
    put(course.root / "solutions" / "notes.ipynb", kept["solutions"])
    variables = {"HOME": str(folder / "home"), "TEACHERS_TOKEN": kept["environment"]}
    variables |= {"PYTREE_COURSE": str(course.root), "COLUMNS": "200"}
    variables |= {"TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir()
    command = [sys.executable, "-m", "pytree_course", "grade", str(folder / "class"), "--into"]
    done, left = _run([*command, str(into)], {**os.environ, **variables})
    files = [str(file.relative_to(folder / "tmp")) for file in (folder / "tmp").rglob("*")]
    shutil.rmtree(folder / "class")
    attempts = {}
    if (into / "gradebook.sqlite").exists():
        with Gradebook(into / "gradebook.sqlite") as gradebook:
            attempts = counting_attempts(gradebook.attempts())
    return GradedCorpus(into, done, students, attempts, kept, left, files)


def _seated(cases: Iterable[Case]) -> Iterator[Student]:
    """Give every case a student: local cases of a family share one while exercises are free."""
    together: dict[str, list[Student]] = {}
    for case in cases:
        if not case.is_local:
            yield Student(case.student or case.id, [case])
            continue
        shared = together.setdefault(case.family, [])
        free = (student for student in shared if not student.answers.keys() & case.answers.keys())
        student = next(free, None)
        if student is None:
            shared.append(student := Student(f"{case.family}-together-{len(shared)}"))
        student.cases.append(case)
    for shared in together.values():
        yield from shared


def _hand_in(course: Course, student: Student, folder: Path) -> None:
    """Make a student's folder."""
    folder.mkdir(parents=True)
    lesson = course.lesson(LESSON)

    def written(answers: Mapping[str, str]) -> str:
        notebook = ExerciseNotebook(lesson.blank)
        for exercise, code in answers.items():
            notebook.answer(exercise, code)
        return json.dumps(notebook.content)

    if student.cases and student.cases[0].make is not None:
        student.cases[0].make(folder, written)
    else:
        right = {name: RIGHT[name] for name in student.beside}
        put(folder / lesson.exercises.name, written({**student.answers, **right}))


def _run(
    command: Sequence[str], variables: Mapping[str, str]
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run the command; return too what processes it left, which are ended."""

    def processes() -> set[psutil.Process]:
        return set(psutil.Process().children(recursive=True))

    before = processes()
    # What the command leaves becomes a child of this process, whoever its parent was.
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        done = subprocess.run(
            command,
            env=dict(variables),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LONGEST,
            check=False,
        )
        _, left = psutil.wait_procs(processes() - before, timeout=_ENDING_SECONDS)
    finally:
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    for process in left:
        process.kill()
    return done, [*map(str, left)]
