"""Grades as JUnit XML, for programs that read test results."""

from functools import partial

from pytree_course.class_grading.class_grades import ClassGrades
from pytree_course.rendering import TEMPLATES
from pytree_course.texts import truncate

render = TEMPLATES.extended({"short": partial(truncate, limit=20_000)}).render


def class_junit(grades: ClassGrades) -> str:
    """Return a class's grades: a student's lesson is a test suite, an exercise a test case."""
    suites = []
    for student, lesson, attempt in grades.all_attempts():
        tests = [(row.exercise, row.kind, row.explanation, row.seconds) for row in attempt.rows]
        suites.append((f"{student.id}.{lesson.lesson}", tests, attempt.seconds))
    return render("reports/junit.xml", suites=suites) + "\n"
