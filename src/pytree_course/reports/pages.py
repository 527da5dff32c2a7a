"""The pages of a class: one for each student, and for the teacher a report and the answers."""

import hashlib
import re
import unicodedata
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path, PurePath
from statistics import median
from typing import Any

from markupsafe import Markup
from msgspec import structs

from pytree_course import drawing
from pytree_course.class_grading.attempt import Attempt, VerdictRow
from pytree_course.class_grading.class_grades import ON_PUBLIC_CASES, ClassGrades, Student
from pytree_course.class_grading.corrections import COLUMNS
from pytree_course.judging.expected import BuiltLesson, ExerciseFacts
from pytree_course.judging.feedback import (
    FEEDBACK_TEMPLATES,
    LOOKS,
    VerdictLook,
    backticks_to_code,
)
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.observing.observations import Observation, Raised, all_parts
from pytree_course.reports import class_statistics
from pytree_course.reports.csv_tables import write_each
from pytree_course.texts import printable_lines, shorten

STUDENTS = "students"
ANSWERS = "answers"
GENERATOR = '<meta name="generator" content="pytree-course">'

MOST_LINES = 120
MOST_CHARACTERS = 6_000
MOST_IN_A_SENTENCE = 2_000
MOST_IN_A_NAME = 120
MOST_IN_PICTURES = 2_000_000  # characters, on one page
MOST_PARTS = 200_000  # nodes and leaves that are looked at for them, which takes a few seconds

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Windows takes these for a device, whatever comes after the dot; a web server one for the folder.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|index", re.IGNORECASE)
_NO_VERDICT = VerdictLook("–", "Not graded", "dotted", "currentColor")
_SCRIPT = Markup((Path(__file__).parent / "static" / "corrections.js").read_text("utf-8"))
_SCRIPT_DIGEST = b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
"""The page's policy names the one script that runs in it: whatever is in an answer does not."""


def write_pages(
    grades: ClassGrades, into: Path, spent: class_statistics.Spent | None = None
) -> list[str]:
    """Write `report.html`, `students/` with a page each, and `answers/` with one per exercise.

    The pages in `answers` are the teacher's: all answers to one exercise, each with a place for
    points and a comment, which the page gives back as lines for `grade --corrections`.

    Returns
    -------
    list of str
        What could not be written, in words; everything else is.
    """
    names = page_names(student.id for student in grades.students)
    pages = {
        into / STUDENTS / names[student.id]: partial(_student_page, grades, student)
        for student in grades.students
    }
    for lesson in grades.lessons:
        for exercise in lesson.graded.values():
            page = partial(_answers_page, grades, lesson, exercise, names)
            pages[into / ANSWERS / answers_name(lesson, exercise)] = page
    # In an earlier run, a student may have had another name.
    for folder in (STUDENTS, ANSWERS):
        for file in (into / folder).glob("*.html"):
            with suppress(OSError):
                if file not in pages and GENERATOR in file.read_text("utf-8", "replace"):
                    file.unlink()
    return write_each({**pages, into / "report.html": partial(_report, grades, names, spent)})


def _student_page(grades: ClassGrades, student: Student) -> str:
    """Write a student's page: it shows no other student, and nothing that was expected."""
    return render(
        "reports/student.html", grades=grades, student=student, views=_views, svg=Pictures()
    )


def answers_name(lesson: BuiltLesson, exercise: ExerciseFacts) -> str:
    """Return the file name of the page with all answers to an exercise."""
    return f"{lesson.lesson}-{exercise.name}.html"


def _answers_page(
    grades: ClassGrades, lesson: BuiltLesson, exercise: ExerciseFacts, names: dict[str, str]
) -> str:
    """Write the teacher's page of all answers to one exercise."""
    return render(
        "reports/answers.html",
        lesson=lesson,
        exercise=exercise,
        answers=[
            (student, row, attempt.answers.get(exercise.name))
            for student, graded_lesson, attempt in grades.all_attempts()
            for row in attempt.rows
            if graded_lesson is lesson and row.exercise == exercise.name
        ],
        names=names,
        columns=COLUMNS,
        script=_SCRIPT,
        script_digest=_SCRIPT_DIGEST,
    )


def _report(
    grades: ClassGrades, names: dict[str, str], spent: class_statistics.Spent | None
) -> str:
    counts = class_statistics.count_exercises(grades, spent)
    points = class_statistics.points_of_students(grades)
    attempts = list(grades.all_attempts())
    return render(
        "reports/report.html",
        grades=grades,
        names=names,
        svg=Pictures(),
        on_public_cases=ON_PUBLIC_CASES,
        points=points,
        histogram=class_statistics.histogram(points, grades.all_points),
        graded_at=max((attempt.graded_at for _, _, attempt in attempts), default=None),
        handed_in=len({each.id for each, _, _ in attempts} | {each for each, _ in grades.waiting}),
        lessons=[list(group) for _, group in groupby(counts, lambda each: each.lesson.lesson)],
        held=class_statistics.held_misconceptions(grades),
        clusters=class_statistics.find_clusters(grades),
        not_graded=class_statistics.not_graded(grades),
        corrected=[
            (student, lesson, row)
            for student, lesson, attempt in attempts
            for row in attempt.rows
            if row.teacher
        ],
        answers_name=answers_name,
    )


def _views(lesson: BuiltLesson, attempt: Attempt) -> Iterator[dict[str, Any]]:
    """Yield what a student's page shows of each exercise."""
    for row in attempt.rows:
        exercise = lesson.exercises.get(row.exercise)
        got = row.failure and row.failure.got
        if isinstance(got, Raised):
            # What an error's message had to mention belongs to what was expected.
            got = structs.replace(got, mentions={})
        sections = []
        if exercise is not None and row.kind != VerdictKind.CORRECT:
            authored = lesson.expected(row.exercise).misconceptions
            held = [each for each in authored if each.name in row.misconceptions]
            sections = [each.section for each in held] or [exercise.section]
        known = [each for each in dict.fromkeys(sections) if each in lesson.sections]
        yield {
            "anchor": f"{lesson.lesson}-{row.exercise}",
            "title": exercise.title if exercise else row.exercise,
            "row": row,
            "answer": attempt.answers.get(row.exercise),  # None where the student did not work
            "got": got,
            "reread": [lesson.sections[each].title for each in known],
        }


def page_names(students: Iterable[str]) -> dict[str, str]:
    """Choose the file name of each student's page; no two are equal, even where case is ignored.

    A plain name stays as it is; any other ends with a tilde, which no plain name has, and a digest.
    """
    students = list(students)
    times = Counter(student.casefold() for student in students)
    names = {}
    for student in students:
        is_plain = _PLAIN_NAME.fullmatch(student) and not _RESERVED.fullmatch(student)
        if is_plain and times[student.casefold()] == 1:
            names[student] = f"{student}.html"
            continue
        letters = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode()
        readable = re.sub(r"[^A-Za-z0-9]+", "-", letters)[:40].strip("-") or "student"
        digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()
        names[student] = f"{readable}~{digest[:16]}.html"
    return names


def excerpt(text: str) -> str:
    """Shorten a text of any length to what fits a page."""
    return "\n".join(text[:MOST_CHARACTERS].split("\n")[:MOST_LINES])


def sentence(text: str) -> Markup:
    """Write a text of a sentence or two, what is between backticks as code."""
    if len(text) > MOST_IN_A_SENTENCE:
        text = f"{text[:MOST_IN_A_SENTENCE]}… (shortened)"
    return backticks_to_code(printable_lines(text))


def moment(at: datetime) -> str:
    """Write a date and time of day."""
    return f"{at.day} {at:%B %Y, %H:%M}"


def remark(attempt: Attempt) -> str:
    """Return what is remarked of an attempt; the teacher's folders are private."""
    return attempt.reason.replace(attempt.file, PurePath(attempt.file).name)


def file_name(attempt: Attempt) -> str:
    """Return what the student called the notebook."""
    return shorten(PurePath(attempt.file).name, MOST_IN_A_NAME)


def look(row: VerdictRow) -> VerdictLook:
    """Return the look of a verdict, or of a row that was not graded."""
    return LOOKS.get(row.kind, _NO_VERDICT)  # type: ignore[call-overload]


render = FEEDBACK_TEMPLATES.extended(
    {
        "sentence": sentence,
        "shortened": lambda text: shorten(text, MOST_IN_A_NAME),
        "median": lambda values: f"{median(values):g}",
        "excerpt": excerpt,
        "moment": moment,
        "remark": remark,
        "file_name": file_name,
        "look": look,
    }
).render


class Pictures:
    """Draws the pictures of one page; those that are too many are a sentence each."""

    def __init__(self) -> None:
        self._room = MOST_IN_PICTURES
        self._parts = MOST_PARTS

    def __call__(self, seen: Observation) -> str:
        """Return an observation as inline SVG."""
        if self._room <= 0 or self._parts <= 0:
            return "This picture is left out: there are too many pictures on this page."
        self._parts -= sum(1 for _ in all_parts(seen))
        picture = Markup(drawing.svg(seen))
        self._room -= len(picture)
        return picture
