"""The pages of a class: one for each student, and for the teacher a report and all answers."""

import hashlib
import re
import unicodedata
from base64 import b64encode
from collections import Counter, defaultdict
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
from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import ON_PUBLIC_CASES, ClassGrades, Student
from pytree_course.class_grading.corrections import COLUMNS
from pytree_course.judging.expected import BuiltLesson
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
from pytree_course.texts import printable_lines, shorten, truncate

STUDENTS = "students"
ANSWERS = "answers.html"
GENERATOR = '<meta name="generator" content="pytree-course">'

MAX_CHARACTERS = 6_000
MAX_IN_A_SENTENCE = 2_000
MAX_IN_A_NAME = 120
MAX_IN_BRIEF = 140
MAX_IN_PICTURES = 2_000_000  # characters, on one page
MAX_PARTS = 200_000  # nodes and leaves that are looked at for them, which takes a few seconds

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
# Windows takes these for a device, whatever comes after the dot; a web server one for the folder.
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|index", re.IGNORECASE)
_NO_VERDICT = VerdictLook("–", "Not graded", "dotted", "currentColor")
_SCRIPTS = {
    page: Markup((Path(__file__).parent / "static" / name).read_text("utf-8"))
    for page, name in (("report", "sorting.js"), ("answers", "corrections.js"))
}


def write_pages(
    grades: ClassGrades, into: Path, spent: class_statistics.Spent | None = None
) -> list[str]:
    """Write `report.html`, `answers.html` and a page for each student in `students/`.

    `answers.html` is the teacher's: all answers, each with a place for points and a comment, which
    the page gives back as one file for `grade --corrections`.

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
    # In an earlier run, a student may have had another name.
    for file in (into / STUDENTS).glob("*.html"):
        with suppress(OSError):
            if file not in pages and GENERATOR in file.read_text("utf-8", "replace"):
                file.unlink()
    pages[into / ANSWERS] = partial(_answers_page, grades, names)
    return write_each({**pages, into / "report.html": partial(_report, grades, names, spent)})


def _student_page(grades: ClassGrades, student: Student) -> str:
    """Write a student's page: it shows no other student, and nothing that was expected."""
    return render(
        "reports/student.html", grades=grades, student=student, views=_views, svg=Pictures()
    )


def _answers_page(grades: ClassGrades, names: dict[str, str]) -> str:
    """Write the teacher's page of all answers, by exercise, the wrong ones first."""
    answers = defaultdict(list)
    for student, lesson, attempt in grades.all_attempts():
        for row in attempt.rows:
            answer = attempt.answers.get(row.exercise)
            answers[lesson.lesson, row.exercise].append((student, row, answer))
    last: list[str] = [VerdictKind.CORRECT, VerdictKind.NOT_ATTEMPTED]
    for given in answers.values():
        given.sort(key=lambda each: last.index(each[1].kind) if each[1].kind in last else -1)
    return _with_script("answers", grades=grades, answers=answers, names=names, columns=COLUMNS)


def _with_script(page: str, **values: Any) -> str:
    """Render a page whose policy names the one script in it: no script in an answer can run."""
    script = _SCRIPTS[page]
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(f"reports/{page}.html", **values, script=script, script_digest=digest)


def _report(
    grades: ClassGrades, names: dict[str, str], spent: class_statistics.Spent | None
) -> str:
    counts = class_statistics.count_exercises(grades, spent)
    standings = class_statistics.standings(grades)
    points = [each.points for each in standings if not each.why_nothing]
    attempts = list(grades.all_attempts())
    return _with_script(
        "report",
        grades=grades,
        names=names,
        labels={student.id: student.label for student in grades.students},
        svg=Pictures(),
        on_public_cases=ON_PUBLIC_CASES,
        standings=standings,
        points=points,
        histogram=class_statistics.histogram(points, grades.all_points),
        graded_at=max((attempt.graded_at for _, _, attempt in attempts), default=None),
        handed_in=len({each.id for each, _, _ in attempts} | {each for each, _ in grades.waiting}),
        lessons=[list(group) for _, group in groupby(counts, lambda each: each.lesson.lesson)],
        held=class_statistics.held_misconceptions(grades),
        clusters=class_statistics.find_clusters(grades),
        odd=list(_odd(grades)),
        late=[(who, lesson, by) for who, lesson, each in attempts if (by := grades.late_by(each))],
        corrected=[
            (student, lesson, row)
            for student, lesson, attempt in attempts
            for row in attempt.rows
            if row.teacher
        ],
    )


def _odd(grades: ClassGrades) -> Iterator[tuple[str, str, str]]:
    """Yield what is odd in what was handed in: a student's id, the lesson or file, a remark."""
    remarks = []
    for student, lesson, attempt in grades.all_attempts():
        again = " The next run tries again." if attempt.state is AttemptState.FAILED else ""
        if attempt.state is not AttemptState.GRADED:
            yield student.id, lesson.lesson, f"not graded: {ended(attempt.reason)}{again}"
        elif attempt.reason:
            remarks.append((student.id, lesson.lesson, ended(attempt.reason)))
    for student_id, file, why in grades.left_out:
        yield student_id, file, f"not read: {ended(why)}"
    yield from remarks


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


def sentence(text: str) -> Markup:
    """Write a text of a sentence or two, what is between backticks as code."""
    if len(text) > MAX_IN_A_SENTENCE:
        text = f"{text[:MAX_IN_A_SENTENCE]}… (shortened)"
    return backticks_to_code(printable_lines(text))


def ended(text: str) -> str:
    """Return a text with a full stop, unless it ends with one or with another mark."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def moment(at: datetime) -> str:
    """Write a date and time of day."""
    return f"{at.day} {at:%B %Y, %H:%M}"


def remark(attempt: Attempt) -> str:
    """Return what is remarked of an attempt; the teacher's folders are private."""
    return attempt.reason.replace(attempt.file, PurePath(attempt.file).name)


def file_name(attempt: Attempt) -> str:
    """Return what the student called the notebook."""
    return shorten(PurePath(attempt.file).name, MAX_IN_A_NAME)


def look(row: VerdictRow) -> VerdictLook:
    """Return the look of a verdict, or of a row that was not graded."""
    return LOOKS.get(row.kind, _NO_VERDICT)  # type: ignore[call-overload]


render = FEEDBACK_TEMPLATES.extended(
    {
        "sentence": sentence,
        "shortened": lambda text: shorten(text, MAX_IN_A_NAME),
        "brief": lambda text: truncate(text, MAX_IN_BRIEF),
        "median": lambda values: f"{median(values):g}",
        "excerpt": lambda text: text[:MAX_CHARACTERS],
        "ended": ended,
        "moment": moment,
        "remark": remark,
        "file_name": file_name,
        "look": look,
    }
).render


class Pictures:
    """Draws the pictures of one page; those that are too many are a sentence each."""

    def __init__(self) -> None:
        self._room = MAX_IN_PICTURES
        self._parts = MAX_PARTS

    def __call__(self, seen: Observation) -> str:
        """Return an observation as inline SVG."""
        if self._room <= 0 or self._parts <= 0:
            return "This picture is left out: there are too many pictures on this page."
        self._parts -= sum(1 for _ in all_parts(seen))
        picture = Markup(drawing.svg(seen))
        self._room -= len(picture)
        return picture
