"""The tables of a class, as CSV: plain ones, and what Canvas and Moodle import."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import ClassGrades, Student
from pytree_course.class_grading.downloads import CANVAS, MOODLE
from pytree_course.course import write_file
from pytree_course.rendering import render
from pytree_course.reports.csv_escaping import plain_text, to_csv
from pytree_course.reports.junit import class_junit

Cells = list[str | int]


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
    lines: list[dict[str, str | int]] = []
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
                    "cases": _cases(attempt),
                    "handed_in": _handed_in(student, attempt),
                    "late_hours": _late_hours(grades, attempt) if attempt else "",
                    "seconds": f"{attempt.seconds:.1f}" if attempt else "",
                    "reason": attempt.reason if attempt else "",
                }
            )
    return _with_headings(lines)


def exercises_csv(grades: ClassGrades) -> str:
    """Return a line for each student, lesson and exercise."""
    lines: list[dict[str, str | int]] = [
        {
            "student": student.id,
            "lesson": lesson.lesson,
            "exercise": row.exercise,
            "verdict": row.kind,
            "points": row.points,
            "of": row.exercise_points,
            "points_by_check": row.teacher.points_by_check if row.teacher else row.points,
            "corrected": _corrected(row),
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


def _corrected(row: VerdictRow) -> str:
    """Say whether a teacher corrected the row, and whether for the answer as it is now."""
    if row.teacher is None:
        return "no"
    return "yes" if row.teacher.on_this_answer else "for an earlier answer"


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


def _cases(attempt: Attempt | None) -> str:
    if attempt is None or attempt.state is not AttemptState.GRADED:
        return ""
    return "public" if attempt.on_public_cases else "fresh"


def _handed_in(student: Student, attempt: Attempt | None) -> str:
    """Return when, or nothing where a download does not say it."""
    if attempt is None or student.system:
        return ""
    return attempt.handed_in.isoformat(timespec="seconds")


def _late_hours(grades: ClassGrades, attempt: Attempt) -> str:
    late = grades.late_by(attempt)
    return "" if late is None else f"{late.total_seconds() / 3600:.1f}"


def _with_headings(lines: list[dict[str, str | int]]) -> str:
    return to_csv([*map(list, lines[:1]), *(list(line.values()) for line in lines)])
