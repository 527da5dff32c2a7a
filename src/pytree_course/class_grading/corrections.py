"""A teacher's corrections: points and comments beside verdicts."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from msgspec import Struct, structs

from pytree_course.class_grading.attempt import AppliedCorrection, Attempt, add_points, digest
from pytree_course.class_grading.downloads import Submitter
from pytree_course.class_grading.roster import RosterEntry, match_groups, match_roster, read_csv
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


@dataclass(frozen=True)
class HandedIn:
    """What corrections may be about: everything that a class has ever handed in."""

    submitters: Mapping[str, Submitter]  # by id
    notebooks: Collection[tuple[str, str]]  # student and lesson
    roster: Sequence[RosterEntry]

    @cached_property
    def students(self) -> dict[str, set[str]]:
        """The submitters' ids that each id or name may stand for.

        Students choose their names, so an id stands for its student even if it is another's name.
        A member of a group who handed in nothing stands for the submitter under the group's name.
        The set is empty for any other id of the roster that handed in nothing.
        """
        entries = match_roster(self.roster, self.submitters.values())
        by_id: dict[str, set[str]] = {entry.student: set() for entry in self.roster}
        by_name: dict[str, set[str]] = {}
        for submitter in self.submitters.values():
            entry = entries.get(submitter.id, RosterEntry(submitter.id))
            for student_id in (submitter.id, entry.student):
                by_id.setdefault(student_id, set()).add(submitter.id)
            for name in (submitter.name, entry.name):
                by_name.setdefault(name, set()).add(submitter.id)
        for student_id, group_id in self._groups.items():
            if not by_id.get(student_id):
                by_id[student_id] = {group_id}
        return by_name | by_id

    @cached_property
    def _groups(self) -> dict[str, str]:
        """The submitter under the name of each student's group, by the student's id."""
        entries = match_roster(self.roster, self.submitters.values())
        groups = match_groups(self.roster, self.submitters.values())
        all_entries = {entry.student: entry for entry in self.roster} | entries
        return {
            student: groups[entry.group]
            for student, entry in all_entries.items()
            if entry.group in groups
        }

    def submitter(self, name: str, lesson: str) -> str:
        """Return who handed in a lesson for the student of this name: the student, or a group."""
        student = self.only_student(name)
        group = self._groups.get(student, "")
        for submitter in (student, group):
            if (submitter, lesson) in self.notebooks:
                return submitter
        raise CourseError(f"nothing that {name} handed in for {lesson} was graded")

    def only_student(self, name: str) -> str:
        """Return the id of the one student whom a name or an id stands for."""
        if name not in self.students:
            raise CourseError(f"no student is called {name!r}")
        namesakes = self.students[name]
        if not namesakes:
            raise CourseError(f"nothing that {name} handed in was graded")
        if len(namesakes) > 1:
            raise CourseError(f"several students are called {name!r}")
        (student,) = namesakes
        return student


def read_corrections(file: Path, course: Course, handed_in: HandedIn) -> list[Correction]:
    """Read a teacher's corrections from a CSV file with the columns `COLUMNS`.

    A student may be named as the folder or as on the roster, a lesson by its number. A line without
    points is a comment only; one without either takes an earlier correction back.

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
            correction = _read_correction(row, course, handed_in)
            if correction.key in corrections:
                raise CourseError("an earlier line is about the same answer: leave one of them")
            corrections[correction.key] = correction
        except CourseError as error:
            mistakes.append(f"line {number}: {error}")
    if mistakes:
        raise CourseError("\n".join([f"{file} cannot be used:", *mistakes]))
    return list(corrections.values())


def _read_correction(row: Mapping[str, str], course: Course, handed_in: HandedIn) -> Correction:
    """Read a line of the file; a CourseError says why it cannot be used."""
    lesson = course.lesson_named(row["lesson"])
    student = handed_in.submitter(row["student"], lesson.stem)
    exercises = BuiltLesson.read(lesson.expected).graded
    if row["exercise"] not in exercises:
        raise CourseError(f"{lesson.stem} has no exercise {row['exercise']!r}")
    points = _read_points(row["points"], exercises[row["exercise"]].points)
    return Correction(student, lesson.stem, row["exercise"], points, row["comment"])


def _read_points(text: str, max_points: int) -> float | None:
    if not text:
        return None
    is_number = re.fullmatch(r"\d{1,4}([.,][05])?", text)  # Excel writes a comma in many countries
    points = float(text.replace(",", ".")) if is_number else -1.0
    if not 0 <= points <= max_points:
        raise CourseError(f"points are whole or half ones, from 0 to {max_points}, or left out")
    return add_points([points])


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
