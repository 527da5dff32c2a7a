"""The tables of a class, as CSV: plain ones, and what Canvas and Moodle import."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from pytree_course.classroom.attempt import Attempt
from pytree_course.classroom.class_grades import ClassGrades, Student
from pytree_course.classroom.downloads import CANVAS, MOODLE
from pytree_course.reports.junit import class_junit


def write_tables(grades: ClassGrades, folder: Path) -> None:
    """Write every table, and the JUnit XML, into a folder."""
    texts = {
        "grades.csv": grades_csv(grades),
        "exercises.csv": exercises_csv(grades),
        "canvas.csv": canvas_csv(grades),
        "moodle.csv": moodle_csv(grades),
        "junit.xml": class_junit(grades),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")


def grades_csv(grades: ClassGrades) -> str:
    """Return a line for each student and lesson."""
    lines: list[dict[str, object]] = []
    for student in grades.students:
        for lesson in grades.lessons:
            attempt = grades.attempt(student, lesson)
            lines.append(
                {
                    "student": student.id,
                    "name": student.name,
                    "on_list": "yes" if student.is_expected else "no",
                    "lesson": lesson.lesson,
                    "points": attempt.points if attempt else 0,
                    "of": lesson.points,
                    "state": attempt.state if attempt else grades.missing(student, lesson),
                    "handed_in": _handed_in(student, attempt),
                    "late_hours": _late_hours(grades, attempt) if attempt else "",
                    "seconds": f"{attempt.seconds:.1f}" if attempt else "",
                    "reason": attempt.reason if attempt else "",
                }
            )
    return _with_headings(lines)


def exercises_csv(grades: ClassGrades) -> str:
    """Return a line for each student, lesson and exercise."""
    lines: list[dict[str, object]] = [
        {
            "student": student.id,
            "lesson": lesson.lesson,
            "exercise": row.exercise,
            "verdict": row.kind,
            "points": row.points,
            "of": row.exercise_points,
            "passed": row.passed,
            "cases": row.cases,
            "seconds": f"{row.seconds:.2f}",
            "misconceptions": " ".join(row.misconceptions),
            "feedback": row.explanation,
        }
        for student, lesson, attempt in grades.all_attempts()
        for row in attempt.rows
    ]
    return _with_headings(lines)


def canvas_csv(grades: ClassGrades) -> str:
    """Return what Canvas imports under Grades.

    Canvas looks for a student by its own ID, then by the SIS login ID, then by the whole name
    (`lib/gradebook_importer.rb` in instructure/canvas-lms). Who has neither of the first is left
    out: Canvas would take another student of that name, or ask. An empty cell leaves a grade as it
    is in Canvas: so it is where nothing was handed in.
    """
    titles = [lesson.title for lesson in grades.lessons]
    rows: list[list[object]] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", *[""] * 4, *(lesson.points for lesson in grades.lessons)],
    ]
    for student in grades.students:
        if student.canvas_id or student.login:
            name = student.name or student.id
            points = _points(grades, student)
            rows.append([name, student.canvas_id, "", student.login, "", *points])
    return _csv(rows)


def moodle_csv(grades: ClassGrades) -> str:
    """Return what Moodle imports under Grades, CSV file: map `username` to the user's username.

    Who has no known username is left out: one that Moodle does not find stops the import.
    """
    rows: list[list[object]] = [["username", *(lesson.title for lesson in grades.lessons)]]
    rows += [
        [student.login, *_points(grades, student)] for student in grades.students if student.login
    ]
    return _csv(rows)


def not_imported(grades: ClassGrades) -> list[str]:
    """Say of whom Canvas or Moodle, that the work came from, can import no points, and why."""
    said = []
    moodles = [each for each in grades.students if each.system == MOODLE and not each.login]
    if moodles:
        said.append(
            f"Not in moodle.csv, for Moodle's downloads do not say usernames: {_names(moodles)}. "
            "With --roster, name a CSV file with the first line `student,name`, then the username "
            "and the name of each, once, and grade again: nothing is run twice."
        )
    canvas = [each for each in grades.students if each.system == CANVAS and not each.canvas_id]
    if canvas:
        said.append(
            f"Not in canvas.csv, for Canvas did not say who it is: {_names(canvas)}. Turn "
            "anonymous grading off there, download again, and grade that into another folder."
        )
    return said


def _names(students: list[Student]) -> str:
    return ", ".join(student.label for student in students)


def _points(grades: ClassGrades, student: Student) -> list[int | str]:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return [attempt.points if attempt else "" for attempt in attempts]


def _handed_in(student: Student, attempt: Attempt | None) -> str:
    """Return when, or nothing where a download does not say it."""
    if attempt is None or student.system:
        return ""
    return attempt.handed_in.isoformat(timespec="seconds")


def _late_hours(grades: ClassGrades, attempt: Attempt) -> str:
    late = grades.late_by(attempt)
    return "" if late is None else f"{late.total_seconds() / 3600:.1f}"


def _with_headings(lines: list[dict[str, object]]) -> str:
    return _csv([*map(list, lines[:1]), *(list(line.values()) for line in lines)])


def _csv(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: object) -> object:
    """Escape an untrusted text that a spreadsheet would take for a formula."""
    is_formula = isinstance(cell, str) and cell.lstrip()[:1] in ("=", "+", "-", "@")
    return f"'{cell}" if is_formula else cell
