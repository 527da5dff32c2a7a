"""What the grades of a class say about its exercises: counts, and who is behind them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.verdicts import VerdictKind
from pytree_course.classroom.class_grades import ClassGrades, Student
from pytree_course.classroom.gradebook import Attempt, AttemptState, ExerciseRow

_ERRORS = {VerdictKind.ERROR, VerdictKind.TIMED_OUT, VerdictKind.CRASHED}


@dataclass(frozen=True)
class ExerciseCounts:
    """How the class did in an exercise.

    Attributes
    ----------
    lesson
        The lesson that it belongs to.
    correct, wrong, errors, not_attempted
        How many students. An error is also what timed out or crashed.
    seconds
        What the answers of those who tried took, the shortest first.
    """

    lesson: Expected
    exercise: ExpectedExercise
    correct: int = 0
    wrong: int = 0
    errors: int = 0
    not_attempted: int = 0
    seconds: list[float] = field(default_factory=list)

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
        """What the answers typically took; 0 when nobody tried."""
        return median(self.seconds) if self.seconds else 0.0


@dataclass(frozen=True)
class HeldMisconception:
    """A misconception that somebody in the class holds.

    Attributes
    ----------
    name, explanation
        The author's; no explanation where the author has withdrawn it since.
    students
        Who holds it.
    """

    lesson: Expected
    exercise: str
    name: str
    explanation: str
    students: list[Student]

    @property
    def words(self) -> str:
        """Its name, to be read."""
        return self.name.replace("_", " ")


@dataclass(frozen=True)
class Cluster:
    """Students with equal wrong results that no misconception explains.

    Attributes
    ----------
    sample
        The verdict on one of them.
    answer
        The source of that one's answer, the shortest of all.
    """

    lesson: Expected
    exercise: str
    students: list[Student]
    sample: ExerciseRow
    answer: str


@dataclass(frozen=True)
class Extremes:
    """Exercises that tell nothing apart, because they went the same way for everybody.

    Attributes
    ----------
    all_passed, nobody_passed
        Of those who tried, and somebody did.
    nobody_tried
        Left alone by all.
    """

    all_passed: list[ExerciseCounts]
    nobody_passed: list[ExerciseCounts]
    nobody_tried: list[ExerciseCounts]


def count_exercises(grades: ClassGrades) -> list[ExerciseCounts]:
    """Count verdicts by exercise, in the order of the course; what was not graded is left out."""
    rows: dict[tuple[str, str], list[ExerciseRow]] = defaultdict(list)
    for _, lesson, _, row in graded_rows(grades):
        rows[lesson.lesson, row.exercise].append(row)
    return [
        _counts(lesson, exercise, rows[lesson.lesson, name])
        for lesson in grades.lessons
        for name, exercise in lesson.exercises.items()
    ]


def held_misconceptions(grades: ClassGrades) -> list[HeldMisconception]:
    """Find the misconceptions that the class holds, those of most students first."""
    held: dict[tuple[str, str, str], list[Student]] = defaultdict(list)
    for student, lesson, _, row in graded_rows(grades):
        for name in row.misconceptions:
            held[lesson.lesson, row.exercise, name].append(student)
    lessons = {lesson.lesson: lesson for lesson in grades.lessons}
    found = [
        HeldMisconception(
            lessons[stem], exercise, name, _explanation(lessons[stem], exercise, name), students
        )
        for (stem, exercise, name), students in held.items()
    ]
    order = _order(grades)
    return sorted(
        found,
        key=lambda each: (
            -len(each.students),
            order.get((each.lesson.lesson, each.exercise), 0),
            each.name,
        ),
    )


def find_clusters(grades: ClassGrades) -> list[Cluster]:
    """Find equal wrong results without a misconception, those of most students first.

    Results can be compared only where they come from the same cases, that is, from one seed.
    """
    alike: dict[tuple[str, str, int, str], list[tuple[Student, Attempt, ExerciseRow]]]
    alike = defaultdict(list)
    lessons = {lesson.lesson: lesson for lesson in grades.lessons}
    for student, lesson, attempt, row in graded_rows(grades):
        if row.results is not None and not row.misconceptions:
            key = lesson.lesson, row.exercise, attempt.seed, row.results
            alike[key].append((student, attempt, row))
    clusters = []
    for (stem, exercise, _, _), members in alike.items():
        if len(members) < 2:
            continue
        answers = [(attempt.answers.get(exercise, ""), row) for _, attempt, row in members]
        answer, sample = min(answers, key=lambda each: len(each[0]))
        students = [student for student, _, _ in members]
        clusters.append(Cluster(lessons[stem], exercise, students, sample, answer))
    order = _order(grades)
    return sorted(
        clusters,
        key=lambda each: (-len(each.students), order.get((each.lesson.lesson, each.exercise), 0)),
    )


def find_extremes(counts: Iterable[ExerciseCounts]) -> Extremes:
    """Find the exercises that all or nobody passed among those who tried."""
    counts = list(counts)
    tried = [each for each in counts if each.tried]
    return Extremes(
        all_passed=[each for each in tried if each.correct == each.tried],
        nobody_passed=[each for each in tried if not each.correct],
        nobody_tried=[each for each in counts if each.all and not each.tried],
    )


def points_of_students(grades: ClassGrades) -> list[int]:
    """Return the points of everybody who handed in anything that could be graded."""
    students = {student.id: student for student, _, _ in graded(grades)}
    return [grades.points(student) for student in students.values()]


def graded(grades: ClassGrades) -> Iterator[tuple[Student, Expected, Attempt]]:
    """Yield every attempt that counts and was graded."""
    for student, lesson, attempt in grades.handed_in():
        if attempt.state is AttemptState.GRADED:
            yield student, lesson, attempt


def not_graded(grades: ClassGrades) -> list[tuple[Student, Expected, Attempt]]:
    """Return every attempt that counts and could not be graded."""
    return [each for each in grades.handed_in() if each[2].state is not AttemptState.GRADED]


def graded_rows(
    grades: ClassGrades,
) -> Iterator[tuple[Student, Expected, Attempt, ExerciseRow]]:
    """Yield every verdict that counts."""
    for student, lesson, attempt in graded(grades):
        for row in attempt.rows:
            yield student, lesson, attempt, row


def _counts(
    lesson: Expected, exercise: ExpectedExercise, rows: Sequence[ExerciseRow]
) -> ExerciseCounts:
    kinds = [row.kind for row in rows]
    return ExerciseCounts(
        lesson,
        exercise,
        correct=kinds.count(VerdictKind.CORRECT),
        wrong=kinds.count(VerdictKind.INCORRECT),
        errors=sum(kind in _ERRORS for kind in kinds),
        not_attempted=kinds.count(VerdictKind.NOT_ATTEMPTED),
        seconds=sorted(row.seconds for row in rows if row.kind != VerdictKind.NOT_ATTEMPTED),
    )


def _explanation(lesson: Expected, exercise: str, name: str) -> str:
    if exercise not in lesson.exercises:
        return ""
    misconceptions = lesson.exercises[exercise].misconceptions
    return next((each.explanation for each in misconceptions if each.name == name), "")


def _order(grades: ClassGrades) -> dict[tuple[str, str], int]:
    names = [(lesson.lesson, name) for lesson in grades.lessons for name in lesson.exercises]
    return {name: place for place, name in enumerate(names)}
