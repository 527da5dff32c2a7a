"""The pages of a class: one for each student, and for the teacher a report and all answers."""

import hashlib
import re
import unicodedata
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path, PurePath
from statistics import median
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from msgspec import structs

from pytree_course.class_grading.attempt import Attempt, AttemptState, Basis, VerdictRow
from pytree_course.class_grading.class_grades import ON_PUBLIC_CASES, ClassGrades
from pytree_course.class_grading.corrections import COLUMNS
from pytree_course.class_grading.roster import Student
from pytree_course.judging.expected import BuiltLesson, ExerciseFacts
from pytree_course.judging.feedback import (
    FEEDBACK_TEMPLATES,
    LOOKS,
    VerdictLook,
    backticks_to_code,
)
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.observing.observations import Raised
from pytree_course.reports import class_statistics
from pytree_course.reports.class_statistics import TimesInClass
from pytree_course.texts import printable_lines, truncate, write_files

GENERATOR_TAG = '<meta name="generator" content="pytree-course">'

MAX_CODE = 6_000  # characters of an answer that are shown
MAX_BRIEF = 140  # characters of a remark that is also shown in full

_STATIC = Path(__file__).parent / "static"
_NO_VERDICT = VerdictLook("–", "Not graded", "dotted", "currentColor")
_ORDER_OF_ANSWERS: dict[VerdictKind | None, int] = {
    VerdictKind.CORRECT: 1,
    VerdictKind.NOT_ATTEMPTED: 2,
}
"""On the page of all answers; answers with any other verdict come first."""


def write_pages(grades: ClassGrades, into: Path, times: TimesInClass) -> list[str]:
    """Write `report.html`, `answers.html` and a page for each student in `students/`.

    `answers.html` is the teacher's: all answers, each with fields for points and a comment, which
    the page saves as one file for `grade --corrections`.

    Returns
    -------
    list of str
        A message for each page that could not be written.
    """
    folder = into / "students"
    names = choose_page_names([student.id for student in grades.students])
    pages = {
        folder / names[student.id]: partial(render_student, grades, student)
        for student in grades.students
    }
    _remove_earlier_pages(folder, set(names.values()))
    pages[into / "answers.html"] = partial(_render_answers, grades, names)
    pages[into / "report.html"] = partial(_render_report, grades, names, times)
    return write_files(pages)


def _remove_earlier_pages(folder: Path, names: Set[str]) -> None:
    """Remove pages of an earlier run, in which a student had another name; keep all other files."""
    for file in folder.glob("*.html"):
        with suppress(OSError):
            if file.name not in names and GENERATOR_TAG in file.read_text("utf-8", "replace"):
                file.unlink()


def choose_page_names(student_ids: Sequence[str]) -> dict[str, str]:
    """Choose the file name of each student's page; no two differ only in case.

    A safe id is the name. Any other id is made safe, and ends with a tilde and a digest of the id.
    """
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


def render_student(grades: ClassGrades, student: Student) -> str:
    """Render a student's page: it shows no other student, and no expected result."""
    return render("reports/student.html", grades=grades, student=student, views=_view_exercises)


@dataclass(frozen=True)
class GivenAnswer:
    """An answer, and the students for whom it counts: one, or the members of a group."""

    attempt: Attempt
    row: VerdictRow
    students: list[Student]

    @property
    def code(self) -> str | None:
        """The answer; None if the student left the starter unchanged."""
        return self.attempt.answers.get(self.row.exercise)

    @property
    def result(self) -> tuple[object, ...]:
        """Equal for answers with equal wrong results on equal cases, and for identical answers."""
        if self.row.results and self.row.basis:
            return self.row.basis.seed, self.row.results
        return self.attempt.state, self.row.kind, self.code


def _render_answers(grades: ClassGrades, names: dict[str, str]) -> str:
    """Render the teacher's page of all answers, by exercise, the wrong ones first."""
    given: dict[tuple[str, str], dict[str, GivenAnswer]] = defaultdict(dict)
    for student, lesson, attempt in grades.all_attempts():
        for row in attempt.rows:
            answer = GivenAnswer(attempt, row, [])
            answers = given[lesson.lesson, row.exercise]
            answers.setdefault(attempt.student, answer).students.append(student)
    groups = {exercise: _group_by_result(answers.values()) for exercise, answers in given.items()}
    return _render_with_script(
        "answers", "corrections.js", grades=grades, groups=groups, names=names, columns=COLUMNS
    )


def _group_by_result(answers: Iterable[GivenAnswer]) -> list[list[GivenAnswer]]:
    """Group answers to an exercise with the same result: wrong ones first, then large groups."""
    groups = defaultdict(list)
    for answer in answers:
        groups[answer.result].append(answer)
    return sorted(
        groups.values(),
        key=lambda group: (_ORDER_OF_ANSWERS.get(group[0].row.kind, 0), -len(group)),
    )


def _render_report(grades: ClassGrades, names: dict[str, str], times: TimesInClass) -> str:
    """Render the teacher's report on the class."""
    exercise_counts = class_statistics.count_exercises(grades, times)
    by_lesson = groupby(exercise_counts, lambda counts: counts.lesson.lesson)
    student_counts = class_statistics.count_students(grades)
    points = [counts.points for counts in student_counts if counts.lessons_read]
    attempts = list(grades.all_attempts())
    with_attempts = {student.id for student, _, _ in attempts}
    with_waiting = {student_id for student_id, _ in grades.waiting}
    return _render_with_script(
        "report",
        "sorting.js",
        grades=grades,
        names=names,
        on_public_cases=ON_PUBLIC_CASES,
        student_counts=student_counts,
        points=points,
        histogram=class_statistics.count_by_points(points, grades.all_points),
        graded_at=max((attempt.graded_at for _, _, attempt in attempts), default=None),
        handed_in=len(with_attempts | with_waiting),
        lessons=[list(counts) for _, counts in by_lesson],
        misconceptions=class_statistics.find_misconceptions(grades),
        clusters=class_statistics.find_clusters(grades),
        odd=_find_oddities(grades),
        late=[
            (student, lesson, attempt)
            for student, lesson, attempt in attempts
            if grades.late_by(attempt)
        ],
        corrected=[
            (student, lesson, row)
            for student, lesson, attempt in attempts
            for row in attempt.rows
            if row.teacher
        ],
    )


def _render_with_script(page: str, script_file: str, **values: Any) -> str:
    """Render a page whose security policy allows this script only: no script in an answer runs."""
    script = (_STATIC / script_file).read_text("utf-8")
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return render(f"reports/{page}.html", **values, script=Markup(script), script_digest=digest)


def _find_oddities(grades: ClassGrades) -> list[tuple[str, str, str]]:
    """Return a student's id, the lesson or file, and a remark for each oddity."""
    oddities = []
    for student, lesson, attempt in class_statistics.find_ungraded(grades):
        again = " The next run tries again." if attempt.state is AttemptState.FAILED else ""
        reason = f"not graded: {with_full_stop(attempt.reason)}{again}"
        oddities.append((student.id, lesson.lesson, reason))
    for student_id, file, why in grades.memory.left_out:
        oddities.append((student_id, file, f"not read: {with_full_stop(why)}"))
    # A group's work, of which each member's remark tells, is the least odd.
    for student, lesson, attempt in sorted(grades.all_attempts(), key=lambda each: each[0].group):
        if attempt.state is AttemptState.GRADED and attempt.reason:
            oddities.append((student.id, lesson.lesson, with_full_stop(attempt.reason)))
    return oddities


def _view_exercises(lesson: BuiltLesson, attempt: Attempt) -> Iterator[dict[str, Any]]:
    """Yield the values that a student's page shows of each exercise."""
    for row in attempt.rows:
        exercise = lesson.exercises.get(row.exercise)  # None if it has been withdrawn
        got = row.failure.got if row.failure else None
        if isinstance(got, Raised):
            # The strings that an error's message has to mention belong to the expected result.
            got = structs.replace(got, mentions={})
        yield {
            "anchor": f"{lesson.lesson}-{row.exercise}",
            "title": exercise.title if exercise else row.exercise,
            "row": row,
            "answer": attempt.answers.get(row.exercise),  # None if the student left it unchanged
            "got": got,
            "reread": _titles_to_reread(lesson, exercise, row) if exercise else [],
        }


def _titles_to_reread(lesson: BuiltLesson, exercise: ExerciseFacts, row: VerdictRow) -> list[str]:
    """Return the titles of the sections on the answer's misconceptions, else the exercise's."""
    if row.kind == VerdictKind.CORRECT:
        return []
    slugs = [
        misconception.section
        for misconception in lesson.expected(row.exercise).misconceptions
        if misconception.name in row.misconceptions
    ]
    different_slugs = dict.fromkeys(slugs or [exercise.section])
    return [lesson.sections[slug].title for slug in different_slugs if slug in lesson.sections]


def sentence(text: str) -> Markup:
    """Write a sentence or two as HTML, with text between backticks as code."""
    return backticks_to_code(printable_lines(text))


def _markdown(text: str) -> Markup:
    """Render the Markdown of a course's author as HTML."""
    return Markup(MarkdownIt("commonmark", {"html": False}).render(text))


def with_full_stop(text: str) -> str:
    """Append a full stop, unless the text ends with one or with another mark."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def last_basis(attempt: Attempt) -> Basis | None:
    """Return what the last of an attempt's verdicts was made with."""
    bases = [row.basis for row in attempt.rows if row.basis]
    return max(bases, key=lambda basis: basis.graded_at, default=None)


def file_name(attempt: Attempt) -> str:
    """Return the student's name for the notebook."""
    return PurePath(attempt.file).name


render = FEEDBACK_TEMPLATES.extended(
    {
        "sentence": sentence,
        "markdown": _markdown,
        "brief": lambda text: truncate(text, MAX_BRIEF),
        "median": lambda values: f"{median(values):g}",
        "excerpt": lambda text: text[:MAX_CODE],
        "ended": with_full_stop,
        "moment": lambda time: f"{time.day} {time:%B %Y, %H:%M}",
        # The path is replaced by the name because the teacher's folders are private.
        "remark": lambda attempt: attempt.reason.replace(attempt.file, file_name(attempt)),
        "file_name": file_name,
        "last_basis": last_basis,
        "look": lambda row: LOOKS[row.kind] if row.kind else _NO_VERDICT,
    }
).render
