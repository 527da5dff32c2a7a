"""A teacher's corrections: points and comments beside verdicts."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct, structs

from pytree_course.class_grading.attempt import AppliedCorrection, Attempt, add_points, digest
from pytree_course.class_grading.csv_files import read_csv
from pytree_course.class_grading.roster import Student, find_student
from pytree_course.course import Course, CourseError
from pytree_course.judging.expected import BuiltLesson
from pytree_course.observing.reading import Points
from pytree_course.texts import counted

COLUMNS = ("student", "lesson", "exercise", "points", "comment")

CorrectionKey = tuple[str, str, str]
"""A student's id, a lesson's stem, an exercise's name."""


class Correction(Struct, frozen=True, forbid_unknown_fields=True):
    """A teacher's points and comment for one student's answer."""

    student: str
    lesson: str
    exercise: str
    points: Points | None  # instead of the check's; None: those stay
    comment: str
    answer: str = ""  # a digest of the answer that it is for

    @property
    def key(self) -> CorrectionKey:
        """The student, the lesson and the exercise that it is about."""
        return self.student, self.lesson, self.exercise

    @property
    def is_taken_back(self) -> bool:
        """Whether it only takes an earlier correction back."""
        return self.points is None and not self.comment

    @property
    def words(self) -> str:
        """The points and the comment, for the teacher."""
        if self.is_taken_back:
            return "taken back"
        points = "" if self.points is None else counted(self.points, "point", "points")
        comment = f"“{self.comment}”" if self.comment else ""
        return ", ".join(filter(None, [points, comment]))


def read_corrections(
    file: Path, course: Course, students: Sequence[Student], handed_in: Collection[tuple[str, str]]
) -> list[Correction]:
    """Read a teacher's corrections from a CSV file with the columns `COLUMNS`.

    A student may be named as the folder or as on the roster, a lesson by its number. A line without
    points is a comment only; one without either takes an earlier correction back. `handed_in` has
    the submitter and the lesson of everything that the class ever handed in.

    Raises
    ------
    CourseError
        When lines do not fit an answer that was handed in: it says for each of them why.
    """
    names, rows = read_csv(file, ", ".join(COLUMNS))
    if not set(COLUMNS) <= set(names):
        raise CourseError(f"{file} needs a first line `{','.join(COLUMNS)}`, then a line for each.")
    corrections: dict[CorrectionKey, Correction] = {}
    mistakes = []
    for number, row in rows.items():
        try:
            correction = _read_correction(row, course, students, handed_in)
            if correction.key in corrections:
                raise CourseError("an earlier line is about the same answer: leave one of them")
            corrections[correction.key] = correction
        except CourseError as error:
            mistakes.append(f"line {number}: {error}")
    if mistakes:
        raise CourseError("\n".join([f"{file} cannot be used:", *mistakes]))
    return list(corrections.values())


def _read_correction(
    row: Mapping[str, str],
    course: Course,
    students: Sequence[Student],
    handed_in: Collection[tuple[str, str]],
) -> Correction:
    """Read a line of the file; a CourseError says why it cannot be used."""
    lesson = course.lesson_named(row["lesson"])
    submitters = {submitter for submitter, stem in handed_in if stem == lesson.stem}
    submitter = row["student"]
    if submitter not in submitters:  # it is a name, or a member's whose group handed in
        student = find_student(submitter, students)
        submitter = student.id if student.id in submitters else student.group_id
    if submitter not in submitters:
        raise CourseError(f"nothing that {row['student']} handed in for {lesson.stem} was graded")
    exercises = BuiltLesson.read(lesson.expected).graded
    if row["exercise"] not in exercises:
        raise CourseError(f"{lesson.stem} has no exercise {row['exercise']!r}")
    points = _read_points(row["points"], exercises[row["exercise"]].points)
    return Correction(submitter, lesson.stem, row["exercise"], points, row["comment"])


def _read_points(text: str, max_points: int) -> float | None:
    if not text:
        return None
    is_number = re.fullmatch(r"\d{1,4}([.,][05])?", text)  # Excel writes a comma in many countries
    points = float(text.replace(",", ".")) if is_number else None
    if points is None or points > max_points:
        raise CourseError(f"points are whole or half ones, from 0 to {max_points}, or left out")
    return add_points([points])  # whole ones as an `int`


def add_corrections(
    given: Iterable[Correction],
    earlier: Iterable[Correction],
    attempts: Mapping[tuple[str, str], Attempt],
) -> tuple[list[Correction], list[str]]:
    """Add corrections to the earlier ones; return all of them, and sentences on the replaced ones.

    A new correction is for the answer that counts now. One that equals an earlier correction, as
    when the same file is given again, stays for the answer that it was made for.
    """
    corrections = {correction.key: correction for correction in earlier}
    replaced = []
    for correction in given:
        old = corrections.pop(correction.key, None)
        if old is not None and structs.replace(old, answer="") == correction:
            corrections[correction.key] = old
            continue
        if old is not None:
            where = ", ".join(correction.key)
            replaced.append(f"Replaced: {where}: {old.words}; now {correction.words}")
        if not correction.is_taken_back:
            answer = _answer_digest(attempts.get(correction.key[:2]), correction.exercise)
            corrections[correction.key] = structs.replace(correction, answer=answer)
    return list(corrections.values()), replaced


def apply_corrections(attempt: Attempt, corrections: Mapping[CorrectionKey, Correction]) -> Attempt:
    """Return an attempt with the teacher's corrections applied."""
    rows = []
    for row in attempt.rows:
        correction = corrections.get((attempt.student, attempt.lesson, row.exercise))
        if correction is None:
            rows.append(row)
            continue
        points = row.points if correction.points is None else correction.points
        applied = AppliedCorrection(
            comment=correction.comment,
            points_by_check=row.points,
            is_for_this_answer=correction.answer == _answer_digest(attempt, row.exercise),
        )
        rows.append(structs.replace(row, points=points, teacher=applied))
    return structs.replace(attempt, rows=rows)


def _answer_digest(attempt: Attempt | None, exercise: str) -> str:
    """Return a digest of an answer, also of one that is missing or could not be read."""
    return digest(attempt.answers.get(exercise) if attempt else None)
