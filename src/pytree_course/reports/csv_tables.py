"""A class's grades as CSV: plain, for Canvas, for Moodle.

Every CSV is safe to open in a spreadsheet: no field can be read as a formula.
"""

import csv
import io
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import NOT_HANDED_IN, ClassGrades
from pytree_course.class_grading.downloads import CANVAS, MOODLE
from pytree_course.class_grading.roster import Student
from pytree_course.judging.expected import BuiltLesson
from pytree_course.rendering import render
from pytree_course.texts import printable, write_files

Row = list[str | float]
RowByHeading = dict[str, str | float]

_FORMULA_START = re.compile(r'(^|;)(?=[\s"]*[=+@-])')


def write_tables(grades: ClassGrades, folder: Path) -> list[str]:
    """Write all tables; return a message for each file that was not written."""
    tables = {
        "grades.csv": grades_csv,
        "exercises.csv": exercises_csv,
        "canvas.csv": canvas_csv,
        "moodle.csv": moodle_csv,
    }
    return write_files({folder / name: partial(make, grades) for name, make in tables.items()})


def grades_csv(grades: ClassGrades) -> str:
    """Return a line for each student and lesson."""
    rows = []
    for student in grades.students:
        rows += [_make_grade_row(grades, student, lesson) for lesson in grades.lessons]
    return _to_csv_with_headings(rows)


def _make_grade_row(grades: ClassGrades, student: Student, lesson: BuiltLesson) -> RowByHeading:
    left_out = [f"{file}: {why}" for _, file, why in grades.files_left_out(student)]
    state = grades.explain_missing(student, lesson)
    grade: RowByHeading = {
        "student": student.id,
        "name": student.name,
        "on_list": "yes" if student.is_expected else "no",
        "lesson": lesson.lesson,
        "points": 0 if state == NOT_HANDED_IN else "",
        "of": lesson.points,
        "state": state,
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
    grade["points"] = "" if attempt.state is AttemptState.FAILED else attempt.points
    grade["state"] = attempt.state
    grade["seconds"] = f"{attempt.seconds:.1f}"
    grade["reason"] = attempt.reason
    if attempt.state is AttemptState.GRADED:
        grade["cases"] = "public" if attempt.on_public_cases else "fresh"
    if not attempt.system:  # a download does not contain the time
        grade["handed_in"] = attempt.handed_in.isoformat(timespec="seconds")
    late_by = grades.late_by(attempt)
    if late_by is not None:
        grade["late_hours"] = f"{late_by.total_seconds() / 3600:.1f}"
    return grade


def exercises_csv(grades: ClassGrades) -> str:
    """Return a line for each student, lesson and exercise."""
    return _to_csv_with_headings(
        [
            _make_exercise_row(student, attempt, row)
            for student, _, attempt in grades.all_attempts()
            for row in attempt.rows
        ]
    )


def _make_exercise_row(student: Student, attempt: Attempt, row: VerdictRow) -> RowByHeading:
    points_by_check, corrected, comment = row.points, "no", ""
    if row.teacher:
        points_by_check, comment = row.teacher.points_by_check, row.teacher.comment
        corrected = "yes" if row.teacher.is_for_this_answer else "for an earlier answer"
    return {
        "student": student.id,
        "lesson": attempt.lesson,
        "exercise": row.exercise,
        "verdict": row.kind or attempt.state,
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


def _to_csv_with_headings(rows: list[RowByHeading]) -> str:
    headings = [list(row) for row in rows[:1]]
    return to_csv([*headings, *(list(row.values()) for row in rows)])


def canvas_csv(grades: ClassGrades) -> str:
    """Return the table that Canvas imports under Grades.

    Canvas looks for a student by its own ID, then by the SIS login ID, then by the full name
    (`lib/gradebook_importer.rb` in instructure/canvas-lms). A student with neither ID nor login is
    left out, because Canvas might take another student of the same name. An empty cell leaves the
    grade in Canvas unchanged; a cell is empty if nothing was handed in, or if grading failed
    through no fault of the student.
    """
    columns = _find_canvas_columns(grades)
    titles = [columns.get(lesson.lesson, lesson.title) for lesson in grades.lessons]
    rows: list[Row] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", *[""] * 4, *(lesson.points for lesson in grades.lessons)],
    ]
    for student in grades.students:
        if student.canvas_id or student.login:
            names = [student.name or student.id, student.canvas_id, "", student.login, ""]
            rows.append([*names, *_points_by_lesson(grades, student)])
    return to_csv(rows)


def _find_canvas_columns(grades: ClassGrades) -> dict[str, str]:
    """Find the one column of Canvas's export that is a lesson's, by lesson.

    Its name has the lesson's title, or the lesson's number and no other.
    """
    found = {}
    for lesson in grades.lessons:
        fitting = [
            column for column in grades.memory.canvas_columns if _is_of_lesson(column, lesson)
        ]
        if len(fitting) == 1:
            found[lesson.lesson] = fitting[0]
    return found


def _is_of_lesson(column: str, lesson: BuiltLesson) -> bool:
    name, _, _ = column.rpartition(" (")  # Canvas's id follows
    number, _, _ = lesson.lesson.partition("_")
    numbers = [digits.lstrip("0") for digits in re.findall(r"\d+", name)]
    return lesson.title.casefold() in name.casefold() or numbers == [number.lstrip("0")]


def moodle_csv(grades: ClassGrades) -> str:
    """Return the table that Moodle imports under Grades, CSV file.

    In Moodle, map `username` to the user's username. Students whose username is unknown are left
    out: an unknown username stops the import. An empty cell removes the grade that Moodle has
    (`grade/import/csv/classes/load_data.php`), so a cell is empty only if nothing was handed in;
    students with an attempt whose grading failed are left out.
    """
    rows: list[Row] = [["username", *(lesson.title for lesson in grades.lessons)]]
    for student in grades.students:
        if student.login and not _has_failed_attempt(grades, student):
            rows.append([student.login, *_points_by_lesson(grades, student)])
    return to_csv(rows)


def _has_failed_attempt(grades: ClassGrades, student: Student) -> bool:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return any(attempt and attempt.state is AttemptState.FAILED for attempt in attempts)


def explain_import_gaps(grades: ClassGrades) -> list[str]:
    """Explain whom and which columns the tables for Canvas and Moodle lack: a sentence each."""
    students = grades.students
    from_moodle = [student for student in students if student.system == MOODLE]
    from_canvas = [student for student in students if student.system == CANVAS]
    text = render(
        "reports/import_gaps.txt",
        without_username=[student for student in from_moodle if not student.login],
        failed=[student for student in students if _has_failed_attempt(grades, student)],
        unknown=[
            lesson.title
            for lesson in grades.lessons
            if grades.memory.canvas_columns and lesson.lesson not in _find_canvas_columns(grades)
        ],
        anonymous=[student for student in from_canvas if not student.canvas_id],
    )
    return text.splitlines()


def _points_by_lesson(grades: ClassGrades, student: Student) -> Row:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return [
        "" if attempt is None or attempt.state is AttemptState.FAILED else attempt.points
        for attempt in attempts
    ]


def to_csv(rows: Sequence[Sequence[str | float]]) -> str:
    """Return rows as CSV: all fields are quoted; each string is on one line and not a formula."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    for row in rows:
        writer.writerow([plain_text(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


def plain_text(text: str) -> str:
    """Return an untrusted string as one printable line that spreadsheets do not run as a formula.

    Against "CSV injection", OWASP advises to insert an apostrophe before each `=`, `+`, `-` or `@`
    that may begin a cell: at the beginning, and after a semicolon, the separator of spreadsheets
    in many countries. Tabs and line ends become spaces.
    """
    line = printable(" ".join(text.replace("\t", " ").splitlines()))
    return _FORMULA_START.sub(r"\1'", line)
