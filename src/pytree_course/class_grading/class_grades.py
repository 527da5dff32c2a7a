"""The grades of a class: the attempt that counts, by student and lesson."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from msgspec import structs

from pytree_course.class_grading.attempt import (
    Attempt,
    VerdictRow,
    add_points,
    counting_attempts,
    in_words,
)
from pytree_course.class_grading.changes import Counting, MarkChange, mark_changes
from pytree_course.class_grading.corrections import Correction, apply_corrections
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.gradebook import Gradebook, Memory
from pytree_course.class_grading.roster import Student, find_missing, find_students, group_key
from pytree_course.class_grading.student_files import LeftOut
from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.texts import join_remarks

NOT_HANDED_IN = "not handed in"
NOT_READ = "handed in, but not read"
NOT_YET_GRADED = "handed in, but not graded yet"
ON_PUBLIC_CASES = (
    "graded on the public cases only, whose results every learner can look up: an answer that just "
    "repeats them is correct, too"
)


@dataclass(frozen=True)
class ClassGrades:
    """The grades of a class as they stand."""

    students: list[Student]  # everyone on the roster or in the folder, sorted
    lessons: list[BuiltLesson]  # the lessons with attempts, in order; their cases are public
    counting: dict[tuple[str, str], Attempt]  # the attempts that count, by student and lesson
    memory: Memory = field(default_factory=Memory)  # the gradebook's: roster, deadlines, files
    waiting: frozenset[tuple[str, str]] = frozenset()  # student, lesson: handed in, not yet graded
    changes: Sequence[MarkChange] = ()  # since the last report
    missing: Mapping[str, str] = field(default_factory=dict)
    """The students on the roster whom nobody who handed in matches, each with whom it may be."""
    prompts: dict[str, dict[str, str]] = field(default_factory=dict)  # by lesson and exercise

    @classmethod
    def combine(
        cls, course: Course, gradebook: Gradebook, folder: ClassFolder | None = None
    ) -> "ClassGrades":
        """Combine the gradebook and what it remembers with what the class has handed in now."""
        memory = gradebook.memory()
        attempts = gradebook.attempts()
        students = find_students(memory.submitters, memory.roster)
        counting = _counting(attempts, memory.corrections, students)
        notebooks = folder.notebooks if folder else []
        handed_in = {(notebook.student, notebook.lesson) for notebook in notebooks}
        lessons = _lessons(course, counting, memory.left_out)
        return cls(
            students=students,
            lessons=lessons,
            counting=_in_words(counting, lessons),
            memory=memory,
            waiting=frozenset(handed_in - counting.keys()),
            changes=_changes_since_report(memory, attempts, students, counting),
            missing=find_missing(memory.roster, memory.submitters.values()),
            prompts={each.lesson: course.lesson(each.lesson).read_prompts() for each in lessons},
        )

    def label(self, student_id: str) -> str:
        """Return a student's name in tables, by id."""
        labels = {student.id: student.label for student in self.students}
        return labels.get(student_id, student_id)

    @property
    def outdated_corrections(self) -> list[tuple[Student, BuiltLesson, VerdictRow]]:
        """The rows with the teacher's points for an earlier answer, if the check gives others."""
        return [
            (student, lesson, row)
            for student, lesson, attempt in self.all_attempts()
            for row in attempt.rows
            if row.teacher
            and not row.teacher.is_for_this_answer
            and row.teacher.points_by_check != row.points
        ]

    def attempt(self, student: Student, lesson: BuiltLesson) -> Attempt | None:
        """Return the attempt that counts, if there is one."""
        return self.counting.get((student.id, lesson.lesson))

    def explain_missing(self, student: Student, lesson: BuiltLesson) -> str:
        """Say why there is no attempt."""
        if any((each, lesson.lesson) in self.waiting for each in (student.id, student.group_id)):
            return NOT_YET_GRADED
        return NOT_READ if self.files_left_out(student) else NOT_HANDED_IN

    def files_left_out(self, student: Student) -> list[LeftOut]:
        """Return the files of a student, and of the student's group, that are not graded."""
        ids = {student.id, student.group_id} - {""}
        return [left_out for left_out in self.memory.left_out if left_out.student in ids]

    def late_by(self, attempt: Attempt) -> timedelta | None:
        """Return how late an attempt was, in whole seconds; None if not late, or unknown."""
        due = self.memory.due.get(attempt.lesson)
        # A download only has its own time.
        if due is None or attempt.handed_in <= due or attempt.system:
            return None
        return timedelta(seconds=int((attempt.handed_in - due).total_seconds()))

    @property
    def lessons_on_public_cases(self) -> list[str]:
        """The lessons with attempts that were graded on the public cases only."""
        attempts = (attempt for _, _, attempt in self.all_attempts())
        return sorted({attempt.lesson for attempt in attempts if attempt.on_public_cases})

    def all_attempts(self) -> Iterator[tuple[Student, BuiltLesson, Attempt]]:
        """Yield every attempt that counts."""
        for student in self.students:
            for lesson in self.lessons:
                if attempt := self.attempt(student, lesson):
                    yield student, lesson, attempt

    def points(self, student: Student) -> float:
        """Return a student's points in all lessons together."""
        attempts = (self.attempt(student, lesson) for lesson in self.lessons)
        return add_points(attempt.points for attempt in attempts if attempt)

    def has_attempt(self, student: Student) -> bool:
        """Return whether something of a student counts."""
        return any(self.attempt(student, lesson) for lesson in self.lessons)

    @property
    def all_points(self) -> int:
        """The highest possible points in all lessons together."""
        return sum(lesson.points for lesson in self.lessons)


def _counting(
    attempts: Iterable[Attempt], corrections: Iterable[Correction], students: Iterable[Student]
) -> Counting:
    """Return the attempts that count for each student, with the teacher's corrections applied."""
    by_answer = {correction.key: correction for correction in corrections}
    handed_in = {
        pair: apply_corrections(attempt, by_answer)
        for pair, attempt in counting_attempts(attempts).items()
    }
    return handed_in | _attempts_of_members(handed_in, students)


def _attempts_of_members(handed_in: Counting, students: Iterable[Student]) -> Counting:
    """Return the attempts that count for members of groups that handed in.

    Work under a group's name counts for its members who handed in nothing of their own.
    """
    of_groups: dict[str, dict[str, Attempt]] = defaultdict(dict)  # by name and lesson
    for attempt in handed_in.values():
        of_groups[_name_key(attempt)][attempt.lesson] = attempt
    of_members = {}
    for student in students:
        key = group_key(student.group)
        for lesson, groups in of_groups[key].items() if key else ():
            attempt, how = groups, "handed in for"
            own = handed_in.get((student.id, lesson))
            if own and _name_key(own) != key:
                attempt, how = own, "handed in alone, not with"
            remark = join_remarks(attempt.reason, f"{how} the group {student.group}")
            of_members[student.id, lesson] = structs.replace(attempt, reason=remark)
    return of_members


def _name_key(attempt: Attempt) -> str:
    """Return the name that an attempt was handed in under, as groups' names are compared."""
    return group_key(attempt.name or attempt.student)


def _changes_since_report(
    memory: Memory, attempts: Sequence[Attempt], students: Iterable[Student], counting: Counting
) -> list[MarkChange]:
    """Return the changed marks of the students, among whom a group is none."""
    then = find_students(memory.submitters, memory.reported_roster)
    reported = _counting(attempts[: memory.reported_attempts], memory.reported_corrections, then)
    ids = {student.id for student in students}
    return [change for change in mark_changes(reported, counting) if change.student in ids]


def _in_words(counting: Counting, lessons: Iterable[BuiltLesson]) -> dict[tuple[str, str], Attempt]:
    """Add sentences to the rows of these lessons: explanations as the lessons word them now."""
    by_stem = {lesson.lesson: lesson for lesson in lessons}
    return {
        pair: structs.replace(
            attempt, rows=[_row_in_words(row, by_stem[attempt.lesson]) for row in attempt.rows]
        )
        for pair, attempt in counting.items()
        if attempt.lesson in by_stem
    }


def _row_in_words(row: VerdictRow, lesson: BuiltLesson) -> VerdictRow:
    explanations = {}
    if (row.misconceptions or row.lines) and row.exercise in lesson.exercises:
        explanations = lesson.expected(row.exercise).explanations
    return in_words(row, explanations)


def _lessons(
    course: Course,
    attempts: Mapping[tuple[str, str], Attempt],
    left_out: Sequence[LeftOut],
) -> list[BuiltLesson]:
    """Return the lessons with attempts; if only files that are left out came in, all lessons."""
    stems = {lesson for _, lesson in attempts}
    if not attempts and left_out:
        stems = {files.stem for files in course.lessons()}
    return [BuiltLesson.read(files.expected) for files in course.lessons() if files.stem in stems]
