"""Grades as files for other programs: CSV, plain and for Canvas and Moodle, and JUnit XML."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from pytree_course.checking.feedback import feedback
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.checking.words import explanation
from pytree_course.classroom.class_grades import ClassGrades, Student
from pytree_course.classroom.gradebook import Attempt
from pytree_course.grading.grade import Grade


def to_json(grade: Grade) -> str:
    """Return a grade as JSON text."""
    rows: list[dict[str, Any]] = [
        {
            "exercise": verdict.exercise,
            "verdict": str(verdict.kind),
            "points": verdict.points,
            "exercise_points": verdict.exercise_points,
            "cases_passed": verdict.passed,
            "cases": verdict.cases,
            "misconceptions": [misconception.name for misconception in verdict.misconceptions],
            "feedback": explanation(verdict, grade.notes),
        }
        for verdict in grade.verdicts
    ]
    data = {
        "lesson": grade.lesson,
        "notebook": str(grade.notebook),
        "seed": grade.seed,
        "points": grade.points,
        "all_points": grade.all_points,
        "all_correct": grade.all_correct,
        "exercises": rows,
    }
    return json.dumps(data, indent=2, ensure_ascii=False)


def to_junit(grade: Grade) -> str:
    """Return a grade as JUnit XML: an exercise is a test case."""
    failed = [verdict for verdict in grade.verdicts if verdict.kind is not VerdictKind.CORRECT]
    skipped = [verdict for verdict in failed if verdict.kind is VerdictKind.NOT_ATTEMPTED]
    suite = ElementTree.Element(
        "testsuite",
        name=grade.lesson,
        tests=str(len(grade.verdicts)),
        failures=str(len(failed) - len(skipped)),
        skipped=str(len(skipped)),
        errors="0",
    )
    for verdict in grade.verdicts:
        case = ElementTree.SubElement(
            suite, "testcase", classname=grade.lesson, name=verdict.exercise
        )
        if verdict in skipped:
            ElementTree.SubElement(case, "skipped", message=xml_text(verdict.reason))
        elif verdict in failed:
            message = f"{verdict.kind}: {verdict.reason}"
            failure = ElementTree.SubElement(case, "failure", message=xml_text(message))
            failure.text = xml_text(feedback(verdict).text)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def write_exports(grades: ClassGrades, folder: Path) -> None:
    """Write every format into a folder."""
    texts = {
        "grades.csv": grades_csv(grades),
        "exercises.csv": exercises_csv(grades),
        "canvas.csv": canvas_csv(grades),
        "moodle.csv": moodle_csv(grades),
        "junit.xml": junit_xml(grades),
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
                    "handed_in": attempt.handed_in.isoformat(timespec="seconds") if attempt else "",
                    "late_hours": _late_hours(grades, attempt) if attempt else "",
                    "seconds": f"{attempt.seconds:.1f}" if attempt else "",
                    "reason": attempt.reason if attempt else "",
                }
            )
    return _with_header(lines)


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
        for student, lesson, attempt in grades.handed_in()
        for row in attempt.rows
    ]
    return _with_header(lines)


def canvas_csv(grades: ClassGrades) -> str:
    """Return what Canvas imports under Grades: the folders' names are the SIS login IDs.

    An empty cell leaves a grade as it is in Canvas; who handed nothing in gets one.
    """
    lessons = [lesson.title for lesson in grades.lessons]
    rows: list[list[object]] = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]]
    rows[0] += lessons
    rows.append(["    Points Possible", "", "", "", ""])
    rows[1] += [lesson.points for lesson in grades.lessons]
    for student in grades.students:
        rows.append([student.name or student.id, "", "", student.id, ""])
        rows[-1] += _points(grades, student)
    return _csv(rows)


def moodle_csv(grades: ClassGrades) -> str:
    """Return what Moodle imports under Grades, CSV file: map `username` to the user's username."""
    lessons = [lesson.title for lesson in grades.lessons]
    rows: list[list[object]] = [["username", *lessons]]
    rows += [[student.id, *_points(grades, student)] for student in grades.students]
    return _csv(rows)


def junit_xml(grades: ClassGrades) -> str:
    """Return JUnit XML: a student's lesson is a test suite, an exercise a test case."""
    root = ElementTree.Element("testsuites")
    for student, lesson, attempt in grades.handed_in():
        kinds = [row.kind for row in attempt.rows]
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=xml_text(f"{student.id}.{lesson.lesson}"),
            tests=str(len(kinds)),
            failures=str(len(kinds) - kinds.count("correct") - kinds.count("not attempted")),
            skipped=str(kinds.count("not attempted")),
            errors="0",
            time=f"{attempt.seconds:.3f}",
        )
        for row in attempt.rows:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=xml_text(f"{student.id}.{lesson.lesson}"),
                name=row.exercise,
                time=f"{row.seconds:.3f}",
            )
            if row.kind != "correct":
                tag = "skipped" if row.kind == "not attempted" else "failure"
                message = xml_text(f"{row.kind}: {row.explanation}")
                ElementTree.SubElement(case, tag, message=message)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def xml_text(text: str) -> str:
    """Replace the characters that XML cannot hold at all, such as NUL."""
    return "".join(
        character if character in "\t\n" or ord(character) >= 32 else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


def _points(grades: ClassGrades, student: Student) -> list[int | str]:
    attempts = (grades.attempt(student, lesson) for lesson in grades.lessons)
    return [attempt.points if attempt else "" for attempt in attempts]


def _late_hours(grades: ClassGrades, attempt: Attempt) -> str:
    late = grades.late_by(attempt)
    return "" if late is None else f"{late.total_seconds() / 3600:.1f}"


def _with_header(lines: list[dict[str, object]]) -> str:
    return _csv([*map(list, lines[:1]), *(list(line.values()) for line in lines)])


def _csv(rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([_harmless(cell) for cell in row] for row in rows)
    return text.getvalue()


def _harmless(cell: object) -> object:
    """Keep a spreadsheet from taking a text for a formula: it could have been written to harm."""
    is_formula = isinstance(cell, str) and cell.lstrip()[:1] in ("=", "+", "-", "@")
    return f"'{cell}" if is_formula else cell
