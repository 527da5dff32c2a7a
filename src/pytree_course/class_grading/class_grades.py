"""The grades of a class: the attempt that counts, by student and lesson."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pytree_course.class_grading.attempt import Attempt, counting_attempts
from pytree_course.class_grading.corrections import apply_corrections
from pytree_course.class_grading.downloads import Submitter
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.class_grading.roster import RosterEntry, match_roster
from pytree_course.class_grading.student_files import LeftOut
from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson

NOT_HANDED_IN = "not handed in"
NOT_READ = "handed in, but not read"
NOT_YET_GRADED = "handed in, but not graded yet"
ON_PUBLIC_CASES = (
    "graded on the public cases only, whose results every learner can look up: an answer that just "
    "repeats them is correct, too"
)


@dataclass(frozen=True)
class Student(Submitter):
    """A student, who has a folder or is on the list of the class."""

    is_expected: bool = True  # on the list of the class, if there is a list
    login: str = ""  # in Canvas, or Moodle's username; empty where it is not known

    @property
    def label(self) -> str:
        """How to call the student in a table."""
        return f"{self.name} ({self.login or self.id})" if self.name else self.id


@dataclass(frozen=True)
class ClassGrades:
    """The grades of a class as they stand."""

    students: list[Student]  # all on the list or in the folder, sorted
    lessons: list[BuiltLesson]  # those with attempts, in order; their cases are the public ones
    counting: dict[tuple[str, str], Attempt]  # the one that counts, by student and lesson
    due: datetime | None = None
    waiting: frozenset[tuple[str, str]] = frozenset()  # student, lesson: handed in, not yet graded
    left_out: Sequence[LeftOut] = ()  # files that are not graded, and why

    @classmethod
    def combine(
        cls,
        course: Course,
        folder: ClassFolder,
        gradebook: Gradebook,
        roster: Sequence[RosterEntry] | None,
        due: datetime | None,
    ) -> "ClassGrades":
        """Combine the gradebook, the class's folder and the list of the class."""
        all_attempts = gradebook.attempts()
        corrections = gradebook.corrections()
        attempts = {
            place: apply_corrections(attempt, corrections)
            for place, attempt in counting_attempts(all_attempts).items()
        }
        submitters = {attempt.student: attempt.submitter for attempt in all_attempts}
        submitters.update(folder.submitters)
        handed_in = {(notebook.student, notebook.lesson) for notebook in folder.notebooks}
        return cls(
            students=_students(submitters, roster),
            lessons=_lessons(course, folder, attempts),
            counting=attempts,
            due=due,
            waiting=frozenset(handed_in - attempts.keys()),
            left_out=folder.left_out,
        )

    def attempt(self, student: Student, lesson: BuiltLesson) -> Attempt | None:
        """Return the attempt that counts; None when there is none."""
        return self.counting.get((student.id, lesson.lesson))

    def missing(self, student: Student, lesson: BuiltLesson) -> str:
        """Say why there is no attempt."""
        if (student.id, lesson.lesson) in self.waiting:
            return NOT_YET_GRADED
        return NOT_READ if self.files_left_out(student) else NOT_HANDED_IN

    def files_left_out(self, student: Student) -> list[LeftOut]:
        """Return a student's files that are not graded."""
        return [left_out for left_out in self.left_out if left_out.student == student.id]

    def late_by(self, attempt: Attempt) -> timedelta | None:
        """Return how late an attempt was, to the second; None where it was not, or is unknown."""
        # Of an attempt from a download, only the download's time is known.
        if self.due is None or attempt.handed_in <= self.due or attempt.system:
            return None
        return timedelta(seconds=int((attempt.handed_in - self.due).total_seconds()))

    @property
    def on_public_cases(self) -> list[str]:
        """The lessons of which an attempt counts that was graded on the public cases only."""
        attempts = (attempt for _, _, attempt in self.all_attempts())
        return sorted({attempt.lesson for attempt in attempts if attempt.on_public_cases})

    def all_attempts(self) -> Iterator[tuple[Student, BuiltLesson, Attempt]]:
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


def _lessons(
    course: Course, folder: ClassFolder, attempts: Mapping[tuple[str, str], Attempt]
) -> list[BuiltLesson]:
    """Return the lessons with attempts; all, if nothing but files that are left out came in."""
    stems = {lesson for _, lesson in attempts}
    if not attempts and folder.left_out:
        stems = {files.stem for files in course.lessons()}
    return [BuiltLesson.read(files.expected) for files in course.lessons() if files.stem in stems]


def _students(
    submitters: Mapping[str, Submitter], roster: Sequence[RosterEntry] | None
) -> list[Student]:
    """Return all who handed in or are on the list of the class, sorted."""
    entries = match_roster(roster or (), submitters.values())
    missing = {*(roster or ())} - {*entries.values()}
    students = [
        _student(submitter, entries.get(submitter.id), is_expected=roster is None)
        for submitter in submitters.values()
    ]
    students += [
        _student(Submitter(entry.student), entry, is_expected=True)
        for entry in missing
        if entry.student not in submitters
    ]
    students.sort(key=lambda student: student.id)
    if any(student.system for student in students):  # of a download, the ids may be numbers
        students.sort(key=lambda student: student.name or student.id)
    return students


def _student(submitter: Submitter, entry: RosterEntry | None, *, is_expected: bool) -> Student:
    """Combine what a folder or a download, and the list of the class, say of a student."""
    name, canvas_id = submitter.name, submitter.canvas_id
    login = "" if submitter.system else submitter.id
    if entry is not None:
        name = entry.name or name
        canvas_id = canvas_id or entry.canvas_id
        login = entry.student
        is_expected = True
    return Student(submitter.id, name, submitter.system, canvas_id, is_expected, login)
