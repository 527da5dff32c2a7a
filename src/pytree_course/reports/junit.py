"""Grades as JUnit XML, for programs that read test results."""

from dataclasses import dataclass

from pytree_course.checking.feedback import feedback
from pytree_course.classroom.class_grades import ClassGrades
from pytree_course.grading.grade import Grade
from pytree_course.rendering import render
from pytree_course.texts import truncate

LONGEST_TEXT = 20_000


@dataclass(frozen=True)
class Test:
    """The verdict on an exercise, as a test case."""

    exercise: str
    kind: str
    message: str
    feedback: str = ""
    seconds: float | None = None


@dataclass(frozen=True)
class Suite:
    """The verdicts on a notebook, as a test suite."""

    name: str
    tests: list[Test]
    seconds: float | None = None


def notebook_junit(grade: Grade) -> str:
    """Return a notebook's grade: an exercise is a test case."""
    tests = [
        Test(each.exercise, each.kind, _short(each.reason), _short(feedback(each).text))
        for each in grade.verdicts
    ]
    return render("reports/junit.xml", suites=[Suite(grade.lesson, tests)]) + "\n"


def class_junit(grades: ClassGrades) -> str:
    """Return a class's grades: a student's lesson is a test suite, an exercise a test case."""
    suites = []
    for student, lesson, attempt in grades.all_attempts():
        tests = [
            Test(row.exercise, row.kind, _short(row.explanation), seconds=row.seconds)
            for row in attempt.rows
        ]
        suites.append(Suite(f"{student.id}.{lesson.lesson}", tests, attempt.seconds))
    return render("reports/junit.xml", suites=suites) + "\n"


def _short(text: str) -> str:
    return truncate(text, LONGEST_TEXT)
