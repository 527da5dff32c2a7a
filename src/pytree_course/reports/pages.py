"""The pages of a class: one for each student, and for the teacher a report and all answers."""

import hashlib
import re
import unicodedata
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Set
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import groupby
from pathlib import Path, PurePath
from statistics import median
from typing import Any

from markupsafe import Markup
from msgspec import structs

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
from pytree_course.observing.observations import Raised
from pytree_course.reports import class_statistics
from pytree_course.reports.time_in_class import TimesInClass
from pytree_course.texts import printable_lines, truncate, write_files

STUDENTS = "students"
GENERATOR = '<meta name="generator" content="pytree-course">'

MAX_CODE = 6_000  # characters of an answer that are shown
MAX_BRIEF = 140  # characters of a remark that is also shown in full

_STATIC = Path(__file__).parent / "static"
_NO_VERDICT = VerdictLook("–", "Not graded", "dotted", "currentColor")
_AFTER_WRONG: dict[str, int] = {VerdictKind.CORRECT: 1, VerdictKind.NOT_ATTEMPTED: 2}
"""Where answers with these verdicts stand on the page of all answers: all others come first."""


def write_pages(grades: ClassGrades, into: Path, times: TimesInClass) -> list[str]:
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
    _remove_earlier_pages(into / STUDENTS, set(names.values()))
    pages[into / "answers.html"] = partial(_answers_page, grades, names)
    pages[into / "report.html"] = partial(_report, grades, names, times)
    return write_files(pages)


def _remove_earlier_pages(folder: Path, names: Set[str]) -> None:
    """Remove pages of an earlier run, in which a student had another name; keep all other files."""
    for file in folder.glob("*.html"):
        with suppress(OSError):
            if file.name not in names and GENERATOR in file.read_text("utf-8", "replace"):
                file.unlink()


def page_names(student_ids: Iterable[str]) -> dict[str, str]:
    """Choose the file name of each student's page; no two are equal, even where case is ignored.

    An id that is a safe name stays as it is. Any other is made one, and ends with a tilde and a
    digest of the id.
    """
    student_ids = list(student_ids)
    ignoring_case = Counter(student_id.casefold() for student_id in student_ids)
    names = {}
    for student_id in student_ids:
        letters = unicodedata.normalize("NFKD", student_id).encode("ascii", "ignore").decode()
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", letters)[:100].strip(".-")
        if name != student_id or ignoring_case[student_id.casefold()] > 1:
            digest = hashlib.sha256(student_id.encode()).hexdigest()
            name = f"{name or 'student'}~{digest[:16]}"
        names[student_id] = f"{name}.html"
    return names


def _student_page(grades: ClassGrades, student: Student) -> str:
    """Write a student's page: it shows no other student, and nothing that was expected."""
    return render("reports/student.html", grades=grades, student=student, views=_views)


def _answers_page(grades: ClassGrades, names: dict[str, str]) -> str:
    """Write the teacher's page of all answers, by exercise, the wrong ones first."""
    answers = defaultdict(list)
    for student, lesson, attempt in grades.all_attempts():
        for row in attempt.rows:
            code = attempt.answers.get(row.exercise)
            answers[lesson.lesson, row.exercise].append((student, row, code))
    for answers_to_exercise in answers.values():
        answers_to_exercise.sort(key=lambda answer: _AFTER_WRONG.get(answer[1].kind, 0))
    script = (_STATIC / "corrections.js").read_text("utf-8")
    return _with_script(
        "answers", script, grades=grades, answers=answers, names=names, columns=COLUMNS
    )


def _report(grades: ClassGrades, names: dict[str, str], times: TimesInClass) -> str:
    """Write the teacher's report on the class."""
    counts = class_statistics.count_exercises(grades, times)
    standings = class_statistics.standings(grades)
    points = [standing.points for standing in standings if not standing.why_nothing]
    attempts = list(grades.all_attempts())
    with_attempts = {student.id for student, _, _ in attempts}
    with_waiting = {student_id for student_id, _ in grades.waiting}
    script = (_STATIC / "sorting.js").read_text("utf-8")
    return _with_script(
        "report",
        script,
        grades=grades,
        names=names,
        labels={student.id: student.label for student in grades.students},
        on_public_cases=ON_PUBLIC_CASES,
        standings=standings,
        points=points,
        histogram=class_statistics.histogram(points, grades.all_points),
        graded_at=max((attempt.graded_at for _, _, attempt in attempts), default=None),
        handed_in=len(with_attempts | with_waiting),
        lessons=[list(group) for _, group in groupby(counts, lambda count: count.lesson.lesson)],
        misconceptions=class_statistics.held_misconceptions(grades),
        clusters=class_statistics.find_clusters(grades),
        odd=_odd(grades),
        late=[attempt for attempt in attempts if grades.late_by(attempt[2])],
        corrected=[
            (student, lesson, row)
            for student, lesson, attempt in attempts
            for row in attempt.rows
            if row.teacher
        ],
    )


def _with_script(page: str, script: str, **values: Any) -> str:
    """Render a page whose policy names the one script in it: no script in an answer can run."""
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(f"reports/{page}.html", **values, script=Markup(script), script_digest=digest)


def _odd(grades: ClassGrades) -> list[tuple[str, str, str]]:
    """Return what was odd: a student's id, the lesson or file, and a remark."""
    odd = []
    for student, lesson, attempt in class_statistics.not_graded(grades):
        again = " The next run tries again." if attempt.state is AttemptState.FAILED else ""
        odd.append((student.id, lesson.lesson, f"not graded: {ended(attempt.reason)}{again}"))
    for student_id, file, why in grades.left_out:
        odd.append((student_id, file, f"not read: {ended(why)}"))
    for student, lesson, attempt in grades.all_attempts():
        if attempt.state is AttemptState.GRADED and attempt.reason:
            odd.append((student.id, lesson.lesson, ended(attempt.reason)))
    return odd


def _views(lesson: BuiltLesson, attempt: Attempt) -> Iterator[dict[str, Any]]:
    """Yield what a student's page shows of each exercise."""
    for row in attempt.rows:
        exercise = lesson.exercises.get(row.exercise)
        got = row.failure.got if row.failure else None
        if isinstance(got, Raised):
            # What an error's message had to mention belongs to what was expected.
            got = structs.replace(got, mentions={})
        sections = []
        if exercise is not None and row.kind != VerdictKind.CORRECT:
            authored = lesson.expected(row.exercise).misconceptions
            held = [known for known in authored if known.name in row.misconceptions]
            sections = [misconception.section for misconception in held] or [exercise.section]
        yield {
            "anchor": f"{lesson.lesson}-{row.exercise}",
            "title": exercise.title if exercise else row.exercise,
            "row": row,
            "answer": attempt.answers.get(row.exercise),  # None where the student did not work
            "got": got,
            "reread": [
                lesson.sections[section].title
                for section in dict.fromkeys(sections)
                if section in lesson.sections
            ],
        }


def sentence(text: str) -> Markup:
    """Write a text of a sentence or two, what is between backticks as code."""
    return backticks_to_code(printable_lines(text))


def ended(text: str) -> str:
    """Return a text with a full stop, unless it ends with one or with another mark."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def moment(time: datetime) -> str:
    """Write a date and time of day."""
    return f"{time.day} {time:%B %Y, %H:%M}"


def remark(attempt: Attempt) -> str:
    """Return what is remarked of an attempt; the teacher's folders are private."""
    return attempt.reason.replace(attempt.file, PurePath(attempt.file).name)


def file_name(attempt: Attempt) -> str:
    """Return what the student called the notebook."""
    return PurePath(attempt.file).name


def look(row: VerdictRow) -> VerdictLook:
    """Return the look of a verdict, or of a row that was not graded."""
    return LOOKS.get(row.kind, _NO_VERDICT)  # type: ignore[call-overload]


render = FEEDBACK_TEMPLATES.extended(
    {
        "sentence": sentence,
        "brief": lambda text: truncate(text, MAX_BRIEF),
        "median": lambda values: f"{median(values):g}",
        "excerpt": lambda text: text[:MAX_CODE],
        "ended": ended,
        "moment": moment,
        "remark": remark,
        "file_name": file_name,
        "look": look,
    }
).render
