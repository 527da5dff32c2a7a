"""What counts for a class: the students, the lessons, and one attempt for each of both."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from pytree_course.checking.expected import Expected
from pytree_course.classroom.folder import ClassFolder
from pytree_course.classroom.gradebook import Attempt, Gradebook, counting
from pytree_course.course import Course

NOT_HANDED_IN = "not handed in"
NOT_YET_GRADED = "handed in, but not graded yet"


@dataclass(frozen=True)
class Student:
    """A student.

    Attributes
    ----------
    id
        What the folder is called.
    name
        From the list of the class; empty when there is none.
    is_expected
        Whether the list of the class has this student; True when there is no list.
    """

    id: str
    name: str = ""
    is_expected: bool = True

    @property
    def label(self) -> str:
        """How to call the student in a table."""
        return f"{self.name} ({self.id})" if self.name else self.id


@dataclass(frozen=True)
class ClassGrades:
    """The grades of a class as they stand.

    Attributes
    ----------
    students
        All of the list and of the folder, sorted.
    lessons
        The lessons that anybody handed in, in order; their observations are the public ones.
    counting
        The attempt that counts, by student and lesson.
    due
        When work had to be handed in, if the teacher says so.
    waiting
        Students, each with a lesson, whose notebooks have never been graded: only some were asked
        for.
    """

    students: list[Student]
    lessons: list[Expected]
    counting: dict[tuple[str, str], Attempt]
    due: datetime | None = None
    waiting: frozenset[tuple[str, str]] = frozenset()

    @classmethod
    def of(
        cls,
        course: Course,
        folder: ClassFolder,
        gradebook: Gradebook,
        roster: dict[str, str] | None,
        due: datetime | None,
        *,
        best: bool,
    ) -> "ClassGrades":
        """Put together what is in the gradebook, in the folder and on the list of the class."""
        attempts = counting(gradebook.attempts(), best)
        handed_in = {lesson for _, lesson in attempts}
        lessons = [
            Expected.read(files.expected) for files in course.lessons() if files.stem in handed_in
        ]
        students = enrolled([*folder.students, *(student for student, _ in attempts)], roster)
        waiting = {(each.student, each.lesson) for each in folder.notebooks} - {*attempts}
        return cls(students, lessons, attempts, due, frozenset(waiting))

    def attempt(self, student: Student, lesson: Expected) -> Attempt | None:
        """Return what counts, or None when nothing was handed in."""
        return self.counting.get((student.id, lesson.lesson))

    def missing(self, student: Student, lesson: Expected) -> str:
        """Say why there is no attempt."""
        is_waiting = (student.id, lesson.lesson) in self.waiting
        return NOT_YET_GRADED if is_waiting else NOT_HANDED_IN

    def late_by(self, attempt: Attempt) -> timedelta | None:
        """Return by how much an attempt was late; None when it was in time."""
        if self.due is None or attempt.handed_in <= self.due:
            return None
        return attempt.handed_in - self.due

    def handed_in(self) -> Iterator[tuple[Student, Expected, Attempt]]:
        """Yield every attempt that counts."""
        for student in self.students:
            for lesson in self.lessons:
                if attempt := self.attempt(student, lesson):
                    yield student, lesson, attempt

    def points(self, student: Student) -> int:
        """Return a student's points in all lessons together."""
        attempts = (self.attempt(student, lesson) for lesson in self.lessons)
        return sum(attempt.points for attempt in attempts if attempt)

    @property
    def all_points(self) -> int:
        """Points to be had in all lessons together."""
        return sum(lesson.points for lesson in self.lessons)


def enrolled(folders: list[str], roster: dict[str, str] | None) -> list[Student]:
    """Put together who is in the class: who has a folder, and who is on the list."""
    if roster is None:
        return [Student(folder) for folder in sorted(set(folders))]
    everyone = sorted({*folders, *roster})
    return [Student(each, roster.get(each, ""), each in roster) for each in everyone]
