"""The pages of a class: one for each student to read, and a report for the teacher."""

from contextlib import suppress
from functools import partial
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any

from pytree_course.class_grading.attempt import Attempt, VerdictRow
from pytree_course.class_grading.class_grades import (
    NOT_YET_GRADED,
    ON_PUBLIC_CASES,
    ClassGrades,
    Student,
)
from pytree_course.judging.expected import Expected
from pytree_course.judging.feedback import LOOKS, VerdictLook
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.reports.class_statistics import (
    corrected_rows,
    count_exercises,
    held_misconceptions,
    histogram,
    not_graded,
    points_of_students,
)
from pytree_course.reports.clusters import find_clusters
from pytree_course.reports.csv_tables import write_each
from pytree_course.reports.page_texts import Pictures, page_names, render
from pytree_course.reports.time_in_class import Spent

REPORT = "report.html"
STUDENTS = "students"
GENERATOR = '<meta name="generator" content="pytree-course">'

_NO_VERDICT = VerdictLook("–", "Not graded", "dotted", "currentColor")


def write_pages(grades: ClassGrades, into: Path, spent: Spent | None = None) -> list[str]:
    """Write `report.html`, and `students/` with a page for each student.

    Returns
    -------
    list of str
        What could not be written, in words; everything else is.
    """
    names = page_names(student.id for student in grades.students)
    _remove_earlier(into / STUDENTS, {*names.values()})
    pages = {
        into / STUDENTS / names[student.id]: partial(_student_page, grades, student)
        for student in grades.students
    }
    links = {student: f"{STUDENTS}/{name}" for student, name in names.items()}
    return write_each({**pages, into / REPORT: partial(_report, grades, links, spent)})


def _remove_earlier(folder: Path, names: set[str]) -> None:
    """Remove the pages of an earlier run, in which a student may have had another name."""
    for file in folder.glob("*.html"):
        with suppress(OSError):
            if file.name not in names and GENERATOR in file.read_text("utf-8", "replace"):
                file.unlink()


def _student_page(grades: ClassGrades, student: Student) -> str:
    """Write a student's page: it shows no other student, and nothing that was expected."""
    return render(
        "reports/student.html",
        student=student,
        points=grades.points(student),
        all_points=grades.all_points,
        lessons=[_lesson_view(grades, student, lesson) for lesson in grades.lessons],
        svg=Pictures(),
    )


def _report(grades: ClassGrades, links: dict[str, str], spent: Spent | None) -> str:
    counts = count_exercises(grades, spent)
    points = points_of_students(grades)
    attempts = list(grades.all_attempts())
    return render(
        "reports/report.html",
        grades=grades,
        links=links,
        svg=Pictures(),
        on_public_cases=ON_PUBLIC_CASES,
        points=points,
        histogram=histogram(points, grades.all_points),
        graded_at=max((attempt.graded_at for _, _, attempt in attempts), default=None),
        handed_in=len({each.id for each, _, _ in attempts} | {each for each, _ in grades.waiting}),
        lessons=[list(group) for _, group in groupby(counts, lambda each: each.lesson.lesson)],
        held=held_misconceptions(grades),
        clusters=find_clusters(grades),
        not_graded=not_graded(grades),
        corrected=corrected_rows(grades),
    )


def _lesson_view(grades: ClassGrades, student: Student, lesson: Expected) -> dict[str, Any]:
    attempt = grades.attempt(student, lesson)
    return {
        "lesson": lesson,
        "attempt": attempt,
        "is_waiting": grades.missing(student, lesson) == NOT_YET_GRADED,
        "late_by": grades.late_by(attempt) if attempt else None,
        "reason": _reason(attempt) if attempt else "",
        "exercises": [_exercise_view(lesson, attempt, row) for row in attempt.rows]
        if attempt
        else [],
    }


def _reason(attempt: Attempt) -> str:
    """Return what is remarked of an attempt; the teacher's folders are private."""
    return attempt.reason.replace(attempt.file, PurePath(attempt.file).name)


def _exercise_view(lesson: Expected, attempt: Attempt, row: VerdictRow) -> dict[str, Any]:
    exercise = lesson.exercises.get(row.exercise)
    got = None
    if row.failure is not None:
        # What an error's message had to mention belongs to what was expected.
        got = {name: value for name, value in row.failure.got.items() if name != "mentions"}
        got |= {"mentions": {}} if got["kind"] == "raised" else {}
    sections = []
    if exercise is not None and row.kind != VerdictKind.CORRECT:
        held = [each for each in exercise.misconceptions if each.name in row.misconceptions]
        sections = [each.section for each in held] or [exercise.section]
    known = [each for each in dict.fromkeys(sections) if each in lesson.sections]
    return {
        "anchor": f"{lesson.lesson}-{row.exercise}",
        "title": exercise.title if exercise else row.exercise,
        "row": row,
        "look": LOOKS.get(row.kind, _NO_VERDICT),  # type: ignore[call-overload]
        "answer": attempt.answers.get(row.exercise),  # None where the student did not work
        "got": got,
        "reread": [lesson.sections[each].title for each in known],
    }
