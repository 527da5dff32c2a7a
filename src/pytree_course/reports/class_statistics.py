"""Statistics of a class: verdicts by exercise, misconceptions held."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import ClassGrades, Student
from pytree_course.judging.expected import Expected, ExpectedExercise
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.reports.time_in_class import Spent, Work

MOST_RANGES = 20
_ERRORS = {VerdictKind.ERROR, VerdictKind.TIMED_OUT, VerdictKind.CRASHED}


@dataclass(frozen=True)
class ExerciseCounts:
    """How many students had which verdict on an exercise."""

    lesson: Expected
    exercise: ExpectedExercise
    correct: int
    wrong: int
    errors: int  # or timed out, or crashed
    not_attempted: int
    seconds: list[float]  # of the answers of those who tried, sorted
    in_class: list[Work]  # of those who checked it there

    @property
    def all(self) -> int:
        """How many notebooks could be graded."""
        return self.tried + self.not_attempted

    @property
    def tried(self) -> int:
        """How many students worked in the answer cell."""
        return self.correct + self.wrong + self.errors

    @property
    def pass_rate(self) -> float:
        """The part of the graded notebooks in which the answer is correct."""
        return self.correct / self.all if self.all else 0.0

    @property
    def median_seconds(self) -> float:
        """What the answers typically took; 0 when there was none."""
        return median(self.seconds) if self.seconds else 0.0


@dataclass(frozen=True)
class HeldMisconception:
    """A misconception, and the students who hold it."""

    exercise: str
    name: str
    explanation: str  # empty where the author has withdrawn it since
    students: list[Student]

    @property
    def words(self) -> str:
        """Its name, to be read."""
        return self.name.replace("_", " ")


def count_exercises(grades: ClassGrades, spent: Spent | None = None) -> list[ExerciseCounts]:
    """Count verdicts by exercise, in the order of the course; what was not graded is left out."""
    counts = []
    for lesson, name, verdicts in by_exercise(grades):
        if name not in lesson.exercises:
            continue  # the author has withdrawn it
        rows = [row for _, _, row in verdicts]
        kinds = [row.kind for row in rows]
        counts.append(
            ExerciseCounts(
                lesson,
                lesson.exercises[name],
                correct=kinds.count(VerdictKind.CORRECT),
                wrong=kinds.count(VerdictKind.INCORRECT),
                errors=sum(kind in _ERRORS for kind in kinds),
                not_attempted=kinds.count(VerdictKind.NOT_ATTEMPTED),
                seconds=sorted(r.seconds for r in rows if r.kind != VerdictKind.NOT_ATTEMPTED),
                in_class=(spent or {}).get((lesson.lesson, name), []),
            )
        )
    return counts


def held_misconceptions(grades: ClassGrades) -> list[HeldMisconception]:
    """Find the misconceptions that the class holds, those of most students first."""
    held = []
    for lesson, exercise, verdicts in by_exercise(grades):
        students = defaultdict(list)
        for student, _, row in verdicts:
            for name in row.misconceptions:
                students[name].append(student)
        known = lesson.exercises[exercise].misconceptions if exercise in lesson.exercises else []
        explanations = {misconception.name: misconception.explanation for misconception in known}
        for name in sorted(students):
            explanation = explanations.get(name, "")
            held.append(HeldMisconception(exercise, name, explanation, students[name]))
    return sorted(held, key=lambda each: -len(each.students))


def points_of_students(grades: ClassGrades) -> list[int]:
    """Return the points of each student of whom something could be graded."""
    students = {student.id: student for student, _, _ in graded(grades)}
    return [grades.points(student) for student in students.values()]


def histogram(points: Sequence[int], all_points: int) -> list[tuple[str, int]]:
    """Count students by ranges of points: a range is one number where these are few."""
    width = all_points // MOST_RANGES + 1
    counted = []
    for first in range(0, all_points + 1, width):
        last = min(first + width - 1, all_points)
        name = f"{first}" if first == last else f"{first}–{last}"
        counted.append((name, sum(first <= each <= last for each in points)))
    return counted


def graded(grades: ClassGrades) -> list[tuple[Student, Expected, Attempt]]:
    """Return every attempt that counts and was graded."""
    return [each for each in grades.all_attempts() if each[2].state is AttemptState.GRADED]


def not_graded(grades: ClassGrades) -> list[tuple[Student, Expected, Attempt]]:
    """Return every attempt that counts and could not be graded."""
    return [each for each in grades.all_attempts() if each[2].state is not AttemptState.GRADED]


def corrected_rows(grades: ClassGrades) -> list[tuple[Student, Expected, VerdictRow]]:
    """Return every verdict that the teacher put something beside."""
    return [
        (student, lesson, row)
        for student, lesson, attempt in grades.all_attempts()
        for row in attempt.rows
        if row.teacher
    ]


def by_exercise(
    grades: ClassGrades,
) -> Iterator[tuple[Expected, str, list[tuple[Student, Attempt, VerdictRow]]]]:
    """Yield the verdicts on each exercise, in the order of the course."""
    attempts = graded(grades)
    for lesson in grades.lessons:
        verdicts: dict[str, list[tuple[Student, Attempt, VerdictRow]]]
        verdicts = {exercise: [] for exercise in lesson.graded}
        for student, graded_lesson, attempt in attempts:
            for row in attempt.rows if graded_lesson is lesson else ():
                verdicts.setdefault(row.exercise, []).append((student, attempt, row))
        for exercise, found in verdicts.items():
            yield lesson, exercise, found
