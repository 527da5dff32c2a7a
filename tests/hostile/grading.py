"""Grade the corpus as a teacher would: one class, one call of the command `grade`."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytree_course.class_grading.attempt import Attempt, VerdictRow, counting
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.course import Course
from pytree_course.reports.pages import page_names
from pytree_course.texts import printable
from tests.conftest import ROOT
from tests.hostile.case import COUNT, LESSON, Case
from tests.hostile.run import Run, run_watched
from tests.hostile.secrets_kept import VICTIM, WITH_KEYRING, Secrets
from tests.hostile.students import Student, hand_in, honest, seated


@dataclass(frozen=True)
class GradedCorpus:
    """The class after its grading."""

    into: Path
    done: Run
    students: list[Student]  # of the cases
    honest: list[Student]
    attempts: dict[tuple[str, str], Attempt]  # by student and lesson
    secrets: Secrets

    def student_of(self, case: Case) -> Student:
        return next(student for student in self.students if case in student.cases)

    def attempt(self, student: Student) -> Attempt | None:
        return self.attempts.get((printable(student.name), student.lesson))

    def row(self, student: Student, exercise: str) -> VerdictRow:
        attempt = self.attempt(student)
        assert attempt is not None, f"{student.name} has no attempt: {self.done.stderr[-2000:]}"
        return next(row for row in attempt.rows if row.exercise == exercise)

    def texts_about(self, student: Student) -> dict[str, str]:
        """Return all that the grading wrote of one student."""
        names = page_names({name for name, _ in self.attempts})
        page = self.into / "students" / names.get(printable(student.name), "none.html")
        texts = {"its attempt": repr(self.attempt(student))}
        return texts | ({page.name: page.read_text(encoding="utf-8")} if page.exists() else {})

    def texts_about_all(self) -> dict[str, str]:
        """Return all that the grading wrote of the class."""
        files = [*self.into.glob("*.html"), *self.into.glob("*.csv"), *self.into.glob("*.xml")]
        texts = {file.name: file.read_text(encoding="utf-8") for file in files}
        return texts | {"its output": self.done.stdout + self.done.stderr}


def grade_corpus(cases: Sequence[Case], folder: Path) -> GradedCorpus:
    """Have these cases handed in, with honest students beside, and graded."""
    course = Course(folder / "course")
    for name in ("checks", "exercises", "solutions", "sources"):
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, course.root / name, ignore=unwanted)
    students = seated(course, cases)
    canaries = honest(course, students)
    secrets, into = Secrets(), folder / "grades"
    victims = {"count_leaves": f"# {secrets['submission']}\n{COUNT}"}
    victim = Student(VICTIM, LESSON, [Case("victim", "", victims)])
    for student in (*students, *canaries, victim):
        hand_in(course, student, folder / "class" / student.name)
    variables = secrets.lay_out(course.root, folder / "home", into)
    command = [sys.executable, "-c", WITH_KEYRING, "-m", "pytree_course", "grade"]
    done = run_watched(
        [*command, str(folder / "class"), "--into", str(into)],
        {**os.environ, **variables, "PYTREE_COURSE": str(course.root), "COLUMNS": "200"},
        folder / "tmp",
    )
    # A folder in it may be deeper than Python can remove, or closed to who made it.
    for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        subprocess.run([*command, str(folder / "class")], check=True)
    attempts = {}
    if (into / "gradebook.sqlite").exists():
        with Gradebook(into / "gradebook.sqlite") as gradebook:
            attempts = counting(gradebook.attempts())
    return GradedCorpus(into, done, students, canaries, attempts, secrets)
