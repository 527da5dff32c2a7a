"""A class's grades as CSV (plain, for Canvas, for Moodle) and as JUnit XML.

Every CSV is safe to open in a spreadsheet: no field can be read as a formula.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.class_grades import ClassGrades, Student
from pytree_course.class_grading.downloads import CANVAS, MOODLE
from pytree_course.judging.expected import BuiltLesson
from pytree_course.rendering import TEMPLATES
from pytree_course.texts import JOINERS, printable, truncate, write_file

Cells = list[str | int]
Row = dict[str, str | int]  # by heading
render = TEMPLATES.extended({"short": partial(truncate, limit=20_000)}).render

MAX_FIELD = 2_000  # a spreadsheet breaks one of more than 32,767 characters in two

_SIGNS = "=+@-＝＋＠－﹦﹢﹫﹣⁼⁺⁻₌₊₋−"
_CELL_ENDS = re.compile(r"([;\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029])")
_FORMULA = re.compile(rf'[\s"{JOINERS}]*[{re.escape(_SIGNS)}]')
_CORRECTED = {None: "no", True: "yes", False: "for an earlier answer"}
"""By whether the teacher corrected the answer as it is now; None without a correction."""


def write_tables(grades: ClassGrades, folder: Path) -> list[str]:
    """Write every table, and the JUnit XML; return, in words, what could not be written."""
    tables = {
        "grades.csv": grades_csv,
        "exercises.csv": exercises_csv,
        "canvas.csv": canvas_csv,
        "moodle.csv": moodle_csv,
        "junit.xml": class_junit,
    }
    return write_each({folder / name: partial(make, grades) for name, make in tables.items()})


def write_each(texts: Mapping[Path, Callable[[], str]]) -> list[str]:
    """Make and write each file atomically; return a sentence for each that could not be written."""
    trouble = []
    for file, make in texts.items():
        try:
            write_file(file, make())
        except OSError as error:
            trouble.append(f"{file}: {error.strerror or error}")
        except Exception as error:  # a bug that one class's data reveals costs one file
            trouble.append(f"{file}: {type(error).__name__}: {error}")
    return trouble


def grades_csv(grades: ClassGrades) -> str:
    """Return a line for each student and lesson."""
    lines: list[Row] = [
        {
            "student": student.id,
            "name": student.name,
            "on_list": "yes" if student.is_expected else "no",
            "lesson": lesson.lesson,
            **_grade(grades, student, lesson),
            "left_out": "; ".join(
                f"{file}: {why}" for _, file, why in grades.files_left_out(student)
            ),
        }
        for student in grades.students
        for lesson in grades.lessons
    ]
    return _with_headings(lines)


def _grade(grades: ClassGrades, student: Student, lesson: BuiltLesson) -> Row:
    attempt = grades.attempt(student, lesson)
    grade: Row = {
        "points": attempt.points if attempt else 0,
        "of": lesson.points,
        "state": attempt.state if attempt else grades.missing(student, lesson),
        **dict.fromkeys(("cases", "handed_in", "late_hours", "seconds", "reason"), ""),
    }
    if attempt:
        if attempt.state is AttemptState.GRADED:
            grade["cases"] = "public" if attempt.on_public_cases else "fresh"
        if not student.system:  # a download does not say when
            grade["handed_in"] = attempt.handed_in.isoformat(timespec="seconds")
        if (late := grades.late_by(attempt)) is not None:
            grade["late_hours"] = f"{late.total_seconds() / 3600:.1f}"
        grade |= {"seconds": f"{attempt.seconds:.1f}", "reason": attempt.reason}
    return grade


def exercises_csv(grades: ClassGrades) -> str:
    """Return a line for each student, lesson and exercise."""
    lines: list[Row] = [
        {
            "student": student.id,
            "lesson": lesson.lesson,
            "exercise": row.exercise,
            "verdict": row.kind,
            "points": row.points,
            "of": row.exercise_points,
            "points_by_check": row.teacher.points_by_check if row.teacher else row.points,
            "corrected": _CORRECTED[row.teacher.on_this_answer if row.teacher else None],
            "teachers_comment": row.teacher.comment if row.teacher else "",
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

    Canvas looks for a student by its own ID, then by the SIS login ID, then by the full name
    (`lib/gradebook_importer.rb` in instructure/canvas-lms). A student with neither ID nor login is
    left out, because Canvas might take another student of the same name. Without an ID the login
    has to match exactly: see `_import_login`. An empty cell leaves the grade in Canvas unchanged;
    it stands where nothing was handed in, and where grading failed through no fault of the
    student. A row whose name contains "Points Possible" would be
    read as the points that can be had.
    """
    titles = [lesson.title for lesson in grades.lessons]
    rows: list[Cells] = [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *titles],
        ["    Points Possible", *[""] * 4, *(lesson.points for lesson in grades.lessons)],
    ]
    for student in grades.students:
        login = student.login if student.canvas_id else _import_login(student)
        if student.canvas_id or login:
            name = (student.name or student.id).replace("Points Possible", "Points possible")
            rows.append([name, student.canvas_id, "", login, "", *_points(grades, student)])
    return to_csv(rows)


def moodle_csv(grades: ClassGrades) -> str:
    """Return what Moodle imports under Grades, CSV file: map `username` to the user's username.

    Students whose username is unknown are left out: an unknown username stops Moodle's import. An
    empty cell removes the grade that Moodle has (`grade/import/csv/classes/load_data.php`). It
    stands where nothing was handed in; who has an attempt whose grading failed is left out.
    """
    rows: list[Cells] = [["username", *(lesson.title for lesson in grades.lessons)]]
    for student in grades.students:
        login = _import_login(student)
        if login and not _has_failed(grades, student):
            rows.append([login, *_points(grades, student)])
    return to_csv(rows)


def _has_failed(grades: ClassGrades, student: Student) -> bool:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return any(each is not None and each.state is AttemptState.FAILED for each in attempts)


def _import_login(student: Student) -> str:
    """Return the login as an LMS has to find it; "" if it must not be written.

    A login that a spreadsheet takes for a formula would match nobody once it is escaped.
    """
    return student.login if plain_text(student.login) == student.login else ""


def about_imports(grades: ClassGrades) -> list[str]:
    """Say whom Canvas or Moodle cannot import, and why."""
    students = grades.students
    said = render(
        "reports/about_imports.txt",
        nameless=[each for each in students if each.system == MOODLE and not each.login],
        failed=[each for each in students if _has_failed(grades, each)],
        anonymous=[each for each in students if each.system == CANVAS and not each.canvas_id],
        odd=[each for each in students if plain_text(each.login) != each.login],
    )
    return said.splitlines()


def _points(grades: ClassGrades, student: Student) -> list[int | str]:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return [
        "" if attempt is None or attempt.state is AttemptState.FAILED else attempt.points
        for attempt in attempts
    ]


def _with_headings(lines: list[Row]) -> str:
    return to_csv([*map(list, lines[:1]), *(list(line.values()) for line in lines)])


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
    """Escape an untrusted text, so that every spreadsheet takes it for text.

    The result is one printable line, shortened if need be. As OWASP advises against "CSV
    injection", an apostrophe is put wherever a cell could begin with `=`, `+`, `-` or `@`, blanks
    and quotes before the sign left aside. Full-width and other forms of these signs count too:
    spreadsheets in East Asia read them as the plain ones. A cell begins with the field. It also
    begins after a semicolon, where spreadsheets in many countries split instead of at commas, and
    after a tab or a line end, which become blanks here.
    """
    return "".join(map(_part, _CELL_ENDS.split(truncate(text, MAX_FIELD))))


def _part(part: str) -> str:
    if _CELL_ENDS.fullmatch(part):
        return ";" if part == ";" else " "
    shown = printable(part)
    return f"'{shown}" if _FORMULA.match(shown) else shown
