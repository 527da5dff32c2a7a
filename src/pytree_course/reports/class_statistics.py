"""Statistics of a class: verdicts, who needs help, misconceptions, unexplained wrong results."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from math import ceil, log2

from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import NOT_HANDED_IN, ClassGrades, Student
from pytree_course.grading.submission import LATER_CELL
from pytree_course.judging.expected import BuiltLesson, ExerciseFacts
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.reports.time_in_class import TimeInClass, TimesInClass

_ERRORS = {VerdictKind.ERROR, VerdictKind.TIMED_OUT, VerdictKind.CRASHED}
_NOT_GRADED = {
    AttemptState.UNREADABLE: "handed in, but unreadable",
    AttemptState.FAILED: "handed in, but grading failed",
}

Answers = list[tuple[Student, Attempt, VerdictRow]]
"""The graded answers to an exercise."""


@dataclass(frozen=True)
class ExerciseCounts:
    """How many students had which verdict on an exercise."""

    lesson: BuiltLesson
    exercise: ExerciseFacts
    correct: int
    wrong: int
    errors: int  # or timed out, or crashed
    not_attempted: int
    seconds: list[float]  # of the answers of those who tried, sorted
    in_class: list[TimeInClass]  # of those who checked it there

    @property
    def graded(self) -> int:
        """How many notebooks could be graded."""
        return self.tried + self.not_attempted

    @property
    def tried(self) -> int:
        """How many students worked in the answer cell."""
        return self.correct + self.wrong + self.errors

    @property
    def pass_rate(self) -> float:
        """The part of the graded notebooks in which the answer is correct."""
        return self.correct / self.graded if self.graded else 0.0


class Need(IntEnum):
    """How urgently a student needs help: the lowest first."""

    FAILED = 0  # more wrong answers than right ones
    BLANK = 1
    NOTHING_READ = 2
    LITTLE = 3  # tried: fewer than half of the exercises
    NONE = 4


@dataclass(frozen=True)
class Standing:
    """A student's work in all lessons: how it went, by numbers of exercises."""

    student: Student
    right: int  # or given points by the teacher
    wrong: int
    untried: int  # also those of a lesson of which nothing was read
    points: int
    why_nothing: str  # was read; empty if something was
    missing: dict[str, str]  # by lesson of which nothing was read: why
    beside: int  # answers in cells that do not count

    @property
    def need(self) -> Need:
        """How urgently the student needs help."""
        if self.why_nothing:
            return Need.NOTHING_READ
        if self.wrong > self.right:
            return Need.FAILED
        if not self.right:
            return Need.BLANK
        return Need.LITTLE if self.right + self.wrong < self.untried else Need.NONE


@dataclass(frozen=True)
class HeldMisconception:
    """A misconception, the exercises in which it showed, and the students who hold it.

    Exercises share a misconception by giving it the same name.
    """

    name: str
    explanations: dict[str, str]  # by the exercise's title, that of most students first
    students: list[Student]
    tried: int  # how many students tried one of these exercises

    @property
    def sentence(self) -> str:
        """What most of its students are told."""
        return next(iter(self.explanations.values()))


@dataclass(frozen=True)
class Cluster:
    """Students with equal wrong results that no misconception explains."""

    lesson: str
    exercise: ExerciseFacts
    students: list[Student]
    sample: VerdictRow  # the verdict on the shortest answer
    code: str  # that answer: it is a student's, so read it before it is run

    @property
    def cell(self) -> str:
        """The answer as a cell of answers.py, in which a name and an explanation are missing."""
        # It loads Jupytext, which no other answer needs.
        from pytree_course.sources.changes import misconception_cell

        return misconception_cell(self.exercise.name, self.code)


def count_exercises(grades: ClassGrades, times: TimesInClass) -> list[ExerciseCounts]:
    """Count verdicts by exercise, in the order of the course; what was not graded is left out."""
    counts = []
    for lesson, exercise, answers in _by_exercise(grades):
        rows = [row for _, _, row in answers]
        kinds = [row.kind for row in rows]
        seconds = [row.seconds for row in rows if row.kind != VerdictKind.NOT_ATTEMPTED]
        counts.append(
            ExerciseCounts(
                lesson,
                exercise,
                correct=kinds.count(VerdictKind.CORRECT),
                wrong=kinds.count(VerdictKind.INCORRECT),
                errors=sum(kind in _ERRORS for kind in kinds),
                not_attempted=kinds.count(VerdictKind.NOT_ATTEMPTED),
                seconds=sorted(seconds),
                in_class=times.get((lesson.lesson, exercise.name), []),
            )
        )
    return counts


def standings(grades: ClassGrades) -> list[Standing]:
    """Return the standing of each student, those who need help most first."""
    unsorted = [_standing(grades, student) for student in grades.students]
    return sorted(unsorted, key=lambda standing: (standing.need, -standing.wrong, standing.right))


def _standing(grades: ClassGrades, student: Student) -> Standing:
    rows: list[VerdictRow] = []
    missing = {}
    missing_exercises = 0
    for lesson in grades.lessons:
        attempt = grades.attempt(student, lesson)
        if attempt and attempt.state is AttemptState.GRADED:
            rows += attempt.rows
        else:
            missing_exercises += len(lesson.graded)
            why = _NOT_GRADED[attempt.state] if attempt else grades.missing(student, lesson)
            missing[lesson.lesson] = why
    why_nothing = ""
    if len(missing) == len(grades.lessons):
        # What begins with "handed in" says more than "not handed in".
        why_nothing = min(missing.values(), default=NOT_HANDED_IN)
    tried = [row for row in rows if row.kind != VerdictKind.NOT_ATTEMPTED]
    wrong = [row for row in tried if not row.points]
    return Standing(
        student,
        right=len(tried) - len(wrong),
        wrong=len(wrong),
        untried=len(rows) - len(tried) + missing_exercises,
        points=grades.points(student),
        why_nothing=why_nothing,
        missing=missing,
        beside=sum(LATER_CELL in row.explanation for row in wrong),
    )


def held_misconceptions(grades: ClassGrades) -> list[HeldMisconception]:
    """Find the misconceptions that the class holds, those of most students and exercises first."""
    # By misconception: each showing, as the exercise's title and the student; and who tried one of
    # these exercises.
    showings: dict[str, list[tuple[str, Student]]] = defaultdict(list)
    triers: dict[str, set[str]] = defaultdict(set)
    explanations = {}
    for lesson, exercise, answers in _by_exercise(grades):
        tried = {student.id for student, _, row in answers if row.kind != VerdictKind.NOT_ATTEMPTED}
        for misconception in lesson.expected(exercise.name).misconceptions:
            name = misconception.name
            explanations[name, exercise.title] = misconception.explanation
            for student, _, row in answers:
                if name in row.misconceptions:
                    showings[name].append((exercise.title, student))
                    triers[name] |= tried
    misconceptions = []
    for name in sorted(showings):
        titles = Counter(title for title, _ in showings[name])
        told = {title: explanations[name, title] for title, _ in titles.most_common()}
        students = {student.id: student for _, student in showings[name]}
        misconceptions.append(
            HeldMisconception(name, told, list(students.values()), len(triers[name]))
        )
    return sorted(
        misconceptions,
        key=lambda misconception: (-len(misconception.students), -len(misconception.explanations)),
    )


def histogram(points: Sequence[int], all_points: int) -> list[tuple[str, int]]:
    """Count students by ranges of points: as many as Sturges' rule gives, or one a point.

    H. A. Sturges, The choice of a class interval, Journal of the American Statistical Association
    21 (1926): 1 + log2(n) intervals show the shape of n values.
    """
    intervals = 1 + ceil(log2(max(1, len(points))))
    width = ceil((all_points + 1) / intervals)
    counts = []
    for first in range(0, all_points + 1, width):
        last = min(first + width - 1, all_points)
        name = f"{first}" if first == last else f"{first}–{last}"
        counts.append((name, sum(first <= value <= last for value in points)))
    return counts


def not_graded(grades: ClassGrades) -> list[tuple[Student, BuiltLesson, Attempt]]:
    """Return every attempt that counts and could not be graded."""
    return [
        (student, lesson, attempt)
        for student, lesson, attempt in grades.all_attempts()
        if attempt.state is not AttemptState.GRADED
    ]


def find_clusters(grades: ClassGrades, min_students: int = 2) -> list[Cluster]:
    """Find equal wrong results of several students that no misconception explains.

    Those of most students come first. Results can be compared only where they come from the same
    cases, that is, from one seed.
    """
    clusters = []
    for lesson, exercise, answers in _by_exercise(grades):
        alike = defaultdict(list)
        for student, attempt, row in answers:
            if row.results is not None and not row.misconceptions:
                code = attempt.answers.get(exercise.name, "")
                alike[attempt.seed, row.results].append((len(code), code, row, student))
        for members in alike.values():
            if len(members) >= min_students:
                students = [student for *_, student in members]
                _, code, row, _ = min(members, key=lambda member: member[0])
                clusters.append(Cluster(lesson.lesson, exercise, students, row, code))
    return sorted(clusters, key=lambda cluster: -len(cluster.students))


def _by_exercise(grades: ClassGrades) -> Iterator[tuple[BuiltLesson, ExerciseFacts, Answers]]:
    """Yield the graded answers to each exercise, in the order of the course."""
    for lesson in grades.lessons:
        answers: dict[str, Answers] = defaultdict(list)
        for student in grades.students:
            attempt = grades.attempt(student, lesson)
            if attempt and attempt.state is AttemptState.GRADED:
                for row in attempt.rows:
                    answers[row.exercise].append((student, attempt, row))
        for name, exercise in lesson.graded.items():
            yield lesson, exercise, answers[name]
