"""A class's grades as CSV (plain, for Canvas, for Moodle) and as JUnit XML.

Every CSV is safe to open in a spreadsheet: no field can be read as a formula.
"""

import csv
import io
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytree_course.class_grading.attempt import AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import ClassGrades, Student
from pytree_course.class_grading.downloads import CANVAS, MOODLE
from pytree_course.judging.expected import BuiltLesson
from pytree_course.rendering import render
from pytree_course.texts import printable, write_files

Cells = list[str | int]
Row = dict[str, str | int]  # by heading

_FORMULA_BEGINS = re.compile(r'(^|;)(?=[\s"]*[=+@-])')


def write_tables(grades: ClassGrades, folder: Path) -> list[str]:
    """Write every table, and the JUnit XML; return, in words, what could not be written."""
    tables = {
        "grades.csv": grades_csv,
        "exercises.csv": exercises_csv,
        "canvas.csv": canvas_csv,
        "moodle.csv": moodle_csv,
        "junit.xml": class_junit,
    }
    return write_files({folder / name: partial(make, grades) for name, make in tables.items()})


def grades_csv(grades: ClassGrades) -> str:
    """Return a line for each student and lesson."""
    return _with_headings(
        [
            _grade(grades, student, lesson)
            for student in grades.students
            for lesson in grades.lessons
        ]
    )


def _grade(grades: ClassGrades, student: Student, lesson: BuiltLesson) -> Row:
    left_out = [f"{file}: {why}" for _, file, why in grades.files_left_out(student)]
    grade: Row = {
        "student": student.id,
        "name": student.name,
        "on_list": "yes" if student.is_expected else "no",
        "lesson": lesson.lesson,
        "points": 0,
        "of": lesson.points,
        "state": grades.missing(student, lesson),
        "cases": "",
        "handed_in": "",
        "late_hours": "",
        "seconds": "",
        "reason": "",
        "left_out": "; ".join(left_out),
    }
    attempt = grades.attempt(student, lesson)
    if attempt is None:
        return grade
    grade["points"] = attempt.points
    grade["state"] = attempt.state
    grade["seconds"] = f"{attempt.seconds:.1f}"
    grade["reason"] = attempt.reason
    if attempt.state is AttemptState.GRADED:
        grade["cases"] = "public" if attempt.on_public_cases else "fresh"
    if not student.system:  # a download does not say when
        grade["handed_in"] = attempt.handed_in.isoformat(timespec="seconds")
    late_by = grades.late_by(attempt)
    if late_by is not None:
        grade["late_hours"] = f"{late_by.total_seconds() / 3600:.1f}"
    return grade


def exercises_csv(grades: ClassGrades) -> str:
    """Return a line for each student, lesson and exercise."""
    return _with_headings(
        [
            _exercise(student, lesson, row)
            for student, lesson, attempt in grades.all_attempts()
            for row in attempt.rows
        ]
    )


def _exercise(student: Student, lesson: BuiltLesson, row: VerdictRow) -> Row:
    points_by_check, corrected, comment = row.points, "no", ""
    if row.teacher:
        points_by_check, comment = row.teacher.points_by_check, row.teacher.comment
        corrected = "yes" if row.teacher.on_this_answer else "for an earlier answer"
    return {
        "student": student.id,
        "lesson": lesson.lesson,
        "exercise": row.exercise,
        "verdict": row.kind,
        "points": row.points,
        "of": row.exercise_points,
        "points_by_check": points_by_check,
        "corrected": corrected,
        "teachers_comment": comment,
        "passed": row.passed,
        "cases": row.cases,
        "seconds": f"{row.seconds:.2f}",
        "misconceptions": " ".join(row.misconceptions),
        "feedback": row.explanation,
    }


def _with_headings(rows: list[Row]) -> str:
    if not rows:
        return ""
    headings = list(rows[0])
    return to_csv([headings, *(list(row.values()) for row in rows)])


def canvas_csv(grades: ClassGrades) -> str:
    """Return what Canvas imports under Grades.

    Canvas looks for a student by its own ID, then by the SIS login ID, then by the full name
    (`lib/gradebook_importer.rb` in instructure/canvas-lms). A student with neither ID nor login is
    left out, because Canvas might take another student of the same name. An empty cell leaves the
    grade in Canvas unchanged; it stands where nothing was handed in, and where grading failed
    through no fault of the student.
    """
    titles = [lesson.title for lesson in grades.lessons]
    rows: list[Cells] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", *[""] * 4, *(lesson.points for lesson in grades.lessons)],
    ]
    for student in grades.students:
        if student.canvas_id or student.login:
            names = [student.name or student.id, student.canvas_id, "", student.login, ""]
            rows.append([*names, *_points(grades, student)])
    return to_csv(rows)


def moodle_csv(grades: ClassGrades) -> str:
    """Return what Moodle imports under Grades, CSV file: map `username` to the user's username.

    Students whose username is unknown are left out: an unknown username stops Moodle's import. An
    empty cell removes the grade that Moodle has (`grade/import/csv/classes/load_data.php`). It
    stands where nothing was handed in; students with an attempt whose grading failed are left out.
    """
    rows: list[Cells] = [["username", *(lesson.title for lesson in grades.lessons)]]
    for student in grades.students:
        if student.login and not _has_failed(grades, student):
            rows.append([student.login, *_points(grades, student)])
    return to_csv(rows)


def _has_failed(grades: ClassGrades, student: Student) -> bool:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return any(attempt and attempt.state is AttemptState.FAILED for attempt in attempts)


def about_imports(grades: ClassGrades) -> list[str]:
    """Say whom Canvas or Moodle cannot import, and why."""
    students = grades.students
    text = render(
        "reports/about_imports.txt",
        without_username=[
            student for student in students if student.system == MOODLE and not student.login
        ],
        failed=[student for student in students if _has_failed(grades, student)],
        anonymous=[
            student for student in students if student.system == CANVAS and not student.canvas_id
        ],
    )
    return text.splitlines()


def _points(grades: ClassGrades, student: Student) -> list[int | str]:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return [
        "" if attempt is None or attempt.state is AttemptState.FAILED else attempt.points
        for attempt in attempts
    ]


def class_junit(grades: ClassGrades) -> str:
    """Return a class's grades: a student's lesson is a test suite, an exercise a test case."""
    return render("reports/junit.xml", attempts=grades.all_attempts()) + "\n"


def to_csv(rows: Sequence[Sequence[str | int]]) -> str:
    """Return rows as CSV: every field is quoted, and a text is on one line and no formula."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    for row in rows:
        writer.writerow([cell if isinstance(cell, int) else plain_text(cell) for cell in row])
    return text.getvalue()


def plain_text(text: str) -> str:
    """Return an untrusted text as one printable line that no spreadsheet takes for a formula.

    As OWASP advises against "CSV injection", an apostrophe is put wherever a cell could begin with
    `=`, `+`, `-` or `@`: at the beginning, and after a semicolon, where spreadsheets in many
    countries split instead of at commas. Tabs and line ends become blanks.
    """
    line = printable(" ".join(text.replace("\t", " ").splitlines()))
    return _FORMULA_BEGINS.sub(r"\1'", line)
