"""The pages of a class: one for each student to read, and a report for the teacher."""

from itertools import groupby
from pathlib import Path, PurePath
from typing import Any

from pytree_course.checking.expected import Expected
from pytree_course.checking.feedback import LOOKS, VerdictLook
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.classroom.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.classroom.class_grades import NOT_YET_GRADED, ClassGrades, Student
from pytree_course.reports.class_plots import (
    MOST_MISCONCEPTIONS,
    misconceptions_plot,
    pass_plot,
    points_plot,
    time_plot,
)
from pytree_course.reports.class_statistics import (
    count_exercises,
    find_extremes,
    graded,
    held_misconceptions,
    held_reasons,
    not_graded,
    points_of_students,
)
from pytree_course.reports.clusters import find_clusters
from pytree_course.reports.page_texts import page_names, templates

REPORT = "report.html"
STUDENTS = "students"
MOST_CLUSTERS = 20
MOST_REASONS = 20
GENERATOR = '<meta name="generator" content="pytree-course">'

_NO_VERDICT = VerdictLook("–", "Not graded", "dotted", "currentColor")


def write_pages(grades: ClassGrades, into: Path) -> None:
    """Write `report.html`, and `students/` with a page for each student."""
    environment = templates()
    names = page_names(student.id for student in grades.students)
    (into / STUDENTS).mkdir(parents=True, exist_ok=True)
    for file in (into / STUDENTS).glob("*.html"):
        # Of an earlier run, in which a student may have had another name.
        if file.name not in names.values() and GENERATOR in file.read_text("utf-8", "replace"):
            file.unlink()
    page = environment.get_template("student.html")
    for student in grades.students:
        text = page.render(student_view(grades, student))
        (into / STUDENTS / names[student.id]).write_text(text, encoding="utf-8", newline="\n")
    links = {student: f"{STUDENTS}/{name}" for student, name in names.items()}
    text = environment.get_template(REPORT).render(report_view(grades), links=links)
    (into / REPORT).write_text(text, encoding="utf-8", newline="\n")


def student_view(grades: ClassGrades, student: Student) -> dict[str, Any]:
    """Return what a student's page shows: no other student, and nothing that was expected."""
    return {
        "student": student,
        "points": grades.points(student),
        "all_points": grades.all_points,
        "lessons": [_lesson_view(grades, student, lesson) for lesson in grades.lessons],
    }


def report_view(grades: ClassGrades) -> dict[str, Any]:
    """Return what the class report shows."""
    counts = count_exercises(grades)
    points = points_of_students(grades)
    held = held_misconceptions(grades)
    return {
        "grades": grades,
        "points": sorted(points),
        "points_plot": points_plot(points, grades.all_points) if points else "",
        "graded_at": max((each.graded_at for _, _, each in grades.all_attempts()), default=None),
        "handed_in": len(
            {student.id for student, _, _ in grades.all_attempts()}
            | {student for student, _ in grades.waiting}
        ),
        "lessons": [list(group) for _, group in groupby(counts, lambda each: each.lesson.lesson)],
        "pass_plot": pass_plot,
        "time_plot": time_plot,
        "held": held,
        "misconceptions_plot": misconceptions_plot(held) if held else "",
        "most_misconceptions": MOST_MISCONCEPTIONS,
        "reasons": held_reasons(grades),
        "most_reasons": MOST_REASONS,
        "clusters": find_clusters(grades),
        "most_clusters": MOST_CLUSTERS,
        "seeds": _several_seeds(grades),
        "extremes": find_extremes(counts),
        "not_graded": not_graded(grades),
    }


def _lesson_view(grades: ClassGrades, student: Student, lesson: Expected) -> dict[str, Any]:
    attempt = grades.attempt(student, lesson)
    problem = _problem(attempt, grades.missing(student, lesson))
    view: dict[str, Any] = {"lesson": lesson, "attempt": attempt, "problem": problem}
    if attempt is not None:
        view["late_by"] = grades.late_by(attempt)
        view["exercises"] = [_exercise_view(lesson, attempt, row) for row in attempt.rows]
    return view


def _problem(attempt: Attempt | None, missing: str) -> str:
    """Say why there is no grade; nothing where there is one."""
    if attempt is None and missing == NOT_YET_GRADED:
        return "Your notebook has not been graded yet."
    if attempt is None:
        return "Nothing was handed in."
    match attempt.state:
        case AttemptState.GRADED:
            return ""
        case AttemptState.UNREADABLE:
            # The teacher's folders are private.
            reason = attempt.reason.replace(attempt.file, PurePath(attempt.file).name)
            return f"Your notebook could not be read: {reason}"
        case AttemptState.FAILED:
            return "Grading failed, through no fault of yours. It will be tried again."


def _exercise_view(lesson: Expected, attempt: Attempt, row: VerdictRow) -> dict[str, Any]:
    exercise = lesson.exercises.get(row.exercise)
    got = None
    if row.failure is not None:
        # What an error's message had to mention belongs to what was expected.
        got = {name: value for name, value in row.failure["got"].items() if name != "mentions"}
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
        "reread": [lesson.sections[each] for each in known],
    }


def _several_seeds(grades: ClassGrades) -> bool:
    """Say whether some of a lesson's notebooks ran on other cases than the rest."""
    seeds = {(lesson.lesson, attempt.seed) for _, lesson, attempt in graded(grades)}
    return len(seeds) > len({lesson for lesson, _ in seeds})
