"""The pages of a class: one for each student, and for the teacher a report and the answers."""

from base64 import b64encode
from contextlib import suppress
from functools import partial
from hashlib import sha256
from itertools import groupby
from pathlib import Path, PurePath
from typing import Any

from markupsafe import Markup
from msgspec import structs

from pytree_course.class_grading.attempt import Attempt, VerdictRow
from pytree_course.class_grading.class_grades import (
    NOT_YET_GRADED,
    ON_PUBLIC_CASES,
    ClassGrades,
    Student,
)
from pytree_course.class_grading.corrections import COLUMNS
from pytree_course.judging.expected import BuiltLesson, ExerciseFacts
from pytree_course.judging.feedback import LOOKS, VerdictLook
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.observing.observations import Raised
from pytree_course.reports.class_statistics import (
    Spent,
    corrected_rows,
    count_exercises,
    find_clusters,
    held_misconceptions,
    histogram,
    not_graded,
    points_of_students,
)
from pytree_course.reports.csv_tables import write_each
from pytree_course.reports.page_texts import Pictures, page_names, render

REPORT = "report.html"
STUDENTS = "students"
ANSWERS = "answers"
GENERATOR = '<meta name="generator" content="pytree-course">'

_NO_VERDICT = VerdictLook("–", "Not graded", "dotted", "currentColor")
_SCRIPT = Markup((Path(__file__).parent / "static" / "corrections.js").read_text("utf-8"))
_SCRIPT_DIGEST = b64encode(sha256(_SCRIPT.encode()).digest()).decode()
"""The page's policy names the one script that runs in it: whatever is in an answer does not."""


def write_pages(grades: ClassGrades, into: Path, spent: Spent | None = None) -> list[str]:
    """Write `report.html`, `students/` with a page each, and `answers/` with one per exercise.

    The pages in `answers` are the teacher's: all answers to one exercise, each with a place for
    points and a comment, which the page gives back as lines for `grade --corrections`.

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
    answered = [
        (lesson, exercise) for lesson in grades.lessons for exercise in lesson.graded.values()
    ]
    _remove_earlier(into / ANSWERS, {_answers_name(*place) for place in answered})
    pages |= {
        into / ANSWERS / _answers_name(lesson, exercise): partial(
            _answers_page, grades, lesson, exercise, names
        )
        for lesson, exercise in answered
    }
    links = {student: f"{STUDENTS}/{name}" for student, name in names.items()}
    return write_each({**pages, into / REPORT: partial(_report, grades, links, names, spent)})


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


def _answers_name(lesson: BuiltLesson, exercise: ExerciseFacts) -> str:
    return f"{lesson.lesson}-{exercise.name}.html"


def _answers_page(
    grades: ClassGrades, lesson: BuiltLesson, exercise: ExerciseFacts, names: dict[str, str]
) -> str:
    """Write the teacher's page of all answers to one exercise."""
    answers = []
    for student in grades.students:
        if attempt := grades.attempt(student, lesson):
            rows = [row for row in attempt.rows if row.exercise == exercise.name]
            answers += [(student, row, attempt.answers.get(exercise.name)) for row in rows]
    return render(
        "reports/answers.html",
        lesson=lesson,
        exercise=exercise,
        answers=answers,
        look=_look,
        names=names,
        columns=COLUMNS,
        script=_SCRIPT,
        script_digest=_SCRIPT_DIGEST,
    )


def _report(
    grades: ClassGrades, links: dict[str, str], names: dict[str, str], spent: Spent | None
) -> str:
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
        verdicts=[(lesson, _verdict_table(grades, lesson, names)) for lesson in grades.lessons],
        answers_name=_answers_name,
    )


def _verdict_table(
    grades: ClassGrades, lesson: BuiltLesson, names: dict[str, str]
) -> list[tuple[Student, list[tuple[str, VerdictLook]]]]:
    """Return every student with an attempt, with link and look of each of their verdicts."""
    table = []
    for student in grades.students:
        if attempt := grades.attempt(student, lesson):
            looks = {row.exercise: _look(row) for row in attempt.rows}
            cells = []
            for exercise in lesson.graded.values():
                link = f"{ANSWERS}/{_answers_name(lesson, exercise)}#{names[student.id]}"
                is_there = exercise.name in looks
                cells.append((link if is_there else "", looks.get(exercise.name, _NO_VERDICT)))
            table.append((student, cells))
    return table


def _look(row: VerdictRow) -> VerdictLook:
    return LOOKS.get(row.kind, _NO_VERDICT)  # type: ignore[call-overload]


def _lesson_view(grades: ClassGrades, student: Student, lesson: BuiltLesson) -> dict[str, Any]:
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


def _exercise_view(lesson: BuiltLesson, attempt: Attempt, row: VerdictRow) -> dict[str, Any]:
    exercise = lesson.exercises.get(row.exercise)
    got = None
    if row.failure is not None:
        # What an error's message had to mention belongs to what was expected.
        got = row.failure.got
        got = structs.replace(got, mentions={}) if isinstance(got, Raised) else got
    sections = []
    if exercise is not None and row.kind != VerdictKind.CORRECT:
        authored = lesson.expected(row.exercise).misconceptions
        held = [each for each in authored if each.name in row.misconceptions]
        sections = [each.section for each in held] or [exercise.section]
    known = [each for each in dict.fromkeys(sections) if each in lesson.sections]
    return {
        "anchor": f"{lesson.lesson}-{row.exercise}",
        "title": exercise.title if exercise else row.exercise,
        "row": row,
        "look": _look(row),
        "answer": attempt.answers.get(row.exercise),  # None where the student did not work
        "got": got,
        "reread": [lesson.sections[each].title for each in known],
    }
