"""A teacher's corrections: points and comments beside verdicts."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from pytree_course.class_grading.attempt import Attempt, TeachersWord, VerdictRow, digest
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.roster import RosterEntry, match_roster, read_csv
from pytree_course.course import Course, CourseError
from pytree_course.judging.expected import BuiltLesson
from pytree_course.observing.reading import Count
from pytree_course.texts import counted

COLUMNS = ("student", "lesson", "exercise", "points", "comment")

TAKEN_BACK = "taken back"

Place = tuple[str, str, str]
"""A student's id, a lesson's stem, an exercise's name."""


class Correction(Struct, frozen=True, forbid_unknown_fields=True):
    """A teacher's points and comment for one student's answer."""

    student: str
    lesson: str
    exercise: str
    points: Count | None  # instead of the check's; None leaves these as they are
    comment: str
    answer: str = ""  # a digest of the answer that it was made for

    @property
    def place(self) -> Place:
        """What it is about."""
        return self.student, self.lesson, self.exercise

    @property
    def words(self) -> str:
        """The points and the comment; neither takes an earlier correction back."""
        points = [] if self.points is None else [counted(self.points, "point", "points")]
        comment = [f"“{self.comment}”"] if self.comment else []
        return ", ".join([*points, *comment]) or TAKEN_BACK


def read_corrections(
    file: Path, course: Course, folder: ClassFolder, roster: Sequence[RosterEntry]
) -> list[Correction]:
    """Read a teacher's corrections: a CSV file with the columns of `COLUMNS`.

    A student may be called by the folder's name, or by any name on the list of the class, a lesson
    by its number. A line without points is a comment only; one with neither takes an earlier
    correction back.

    Raises
    ------
    CourseError
        When lines fit no answer that was handed in: it names each of them, with what is wrong.
    """
    names, rows = read_csv(file, ", ".join(COLUMNS))
    if not {*COLUMNS} <= {*names}:
        raise CourseError(f"{file} needs a first line `{','.join(COLUMNS)}`, then a line for each.")
    corrections: dict[Place, Correction] = {}
    mistakes = []
    students = _students(folder, roster)
    for number, row in rows.items():
        try:
            correction = _correction(row, course, folder, students)
            if correction.place in corrections:
                raise CourseError("an earlier line is about the same answer: leave one of them")
            corrections[correction.place] = correction
        except CourseError as error:
            mistakes.append(f"line {number}: {error}")
    if mistakes:
        raise CourseError("\n".join([f"{file} cannot be used:", *mistakes]))
    return list(corrections.values())


def _students(folder: ClassFolder, roster: Sequence[RosterEntry]) -> dict[str, set[str]]:
    """Return whom each id means; or each name, where it is nobody's id, as students choose them."""
    entries = match_roster(roster, folder.submitters.values())
    by_name = defaultdict(set)
    by_id: dict[str, set[str]] = defaultdict(set, {entry.student: set() for entry in roster})
    for submitter in folder.submitters.values():
        entry = entries.get(submitter.id, RosterEntry(submitter.id))
        for student_id in (submitter.id, entry.student):
            by_id[student_id].add(submitter.id)
        for name in (submitter.name, entry.name):
            by_name[name].add(submitter.id)
    students = dict(by_name)
    students.update(by_id)
    return students


def _correction(
    row: Mapping[str, str], course: Course, folder: ClassFolder, students: Mapping[str, set[str]]
) -> Correction:
    name = row["student"]
    if name not in students:
        raise CourseError(f"no student is called {name!r}")
    namesakes = students[name]
    if not namesakes:
        raise CourseError(f"{name} handed in nothing")
    if len(namesakes) > 1:
        raise CourseError(f"several students are called {name!r}")
    (student,) = namesakes
    lesson = course.lesson_named(row["lesson"])
    handed_in = [(notebook.student, notebook.lesson) for notebook in folder.notebooks]
    if (student, lesson.stem) not in handed_in:
        raise CourseError(f"{student} handed in nothing for {lesson.stem}")
    exercises = BuiltLesson.read(lesson.expected).graded
    if row["exercise"] not in exercises:
        raise CourseError(f"{lesson.stem} has no exercise {row['exercise']!r}")
    max_points = exercises[row["exercise"]].points
    allowed: dict[str, int | None] = {str(points): points for points in range(max_points + 1)}
    allowed[""] = None
    if row["points"] not in allowed:
        raise CourseError(f"points are a whole number from 0 to {max_points}, or left out")
    points = allowed[row["points"]]
    return Correction(student, lesson.stem, row["exercise"], points, row["comment"])


def add_corrections(
    given: Iterable[Correction],
    earlier: Mapping[Place, Correction],
    attempts: Mapping[tuple[str, str], Attempt],
) -> tuple[list[Correction], list[str]]:
    """Add corrections to the earlier ones; return all of them, and say what they replace.

    A correction is for the answer that counts now. A line that stands there unchanged was made for
    the answer of that time.
    """
    corrections, replaced = dict(earlier), []
    for correction in given:
        old = corrections.pop(correction.place, None)
        if old is not None and structs.replace(old, answer="") == correction:
            corrections[correction.place] = old
            continue
        if old is not None:
            where = ", ".join(correction.place)
            replaced.append(f"Replaced: {where}: {old.words}; now {correction.words}")
        if correction.words != TAKEN_BACK:
            answer = _answer(attempts.get(correction.place[:2]), correction.exercise)
            corrections[correction.place] = structs.replace(correction, answer=answer)
    return list(corrections.values()), replaced


def apply_corrections(attempt: Attempt, corrections: Mapping[Place, Correction]) -> Attempt:
    """Return an attempt with the teacher's corrections applied."""

    def row_with(row: VerdictRow) -> VerdictRow:
        correction = corrections.get((attempt.student, attempt.lesson, row.exercise))
        if correction is None:
            return row
        is_for_this_answer = correction.answer == _answer(attempt, row.exercise)
        word = TeachersWord(correction.comment, row.points, is_for_this_answer)
        points = row.points if correction.points is None else correction.points
        return structs.replace(row, points=points, teacher=word)

    return structs.replace(attempt, rows=list(map(row_with, attempt.rows)))


def _answer(attempt: Attempt | None, exercise: str) -> str:
    """Return a digest of an answer, also of one that is missing or could not be read."""
    return digest(attempt.answers.get(exercise) if attempt else None)
