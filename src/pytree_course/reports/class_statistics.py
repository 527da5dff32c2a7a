"""Statistics of a class: verdicts, misconceptions, unexplained wrong results, time in class."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from math import ceil, log2
from pathlib import Path

from pytree_course.board.session import Log
from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import NOT_HANDED_IN, ClassGrades, Student
from pytree_course.course import CourseError
from pytree_course.grading.submission import LATER_CELL
from pytree_course.judging.expected import BuiltLesson, ExerciseFacts
from pytree_course.judging.verdicts import VerdictKind

_ERRORS = {VerdictKind.ERROR, VerdictKind.TIMED_OUT, VerdictKind.CRASHED}
_NOT_GRADED = {
    AttemptState.UNREADABLE: "handed in, but unreadable",
    AttemptState.FAILED: "handed in, but grading failed",
}
MAX_GAP = timedelta(minutes=15)  # after a longer one, the learner was doing something else

Spent = dict[tuple[str, str], list["TimeInClass"]]  # by lesson and exercise


@dataclass
class TimeInClass:
    """What one learner spent on one exercise, up to the first right answer."""

    minutes: float = 0.0
    checks: int = 0
    is_solved: bool = False


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
    explanations: dict[str, str]
    """By the exercise's title, that of most students first; "" where the author withdrew it."""
    students: list[Student]
    tried: int  # how many students tried one of these exercises

    @property
    def sentence(self) -> str:
        """What most of its students are told; its name where no explanation is left."""
        return next(filter(None, self.explanations.values()), self.name.replace("_", " "))


@dataclass(frozen=True)
class Cluster:
    """Students with equal wrong results that no misconception explains."""

    lesson: str
    exercise: str
    title: str  # of the exercise
    students: list[Student]
    sample: VerdictRow  # the verdict on the shortest answer
    code: str  # that answer: it is a student's, so read it before it is run

    @property
    def cell(self) -> str:
        """The answer as a cell of answers.py, in which a name and an explanation are missing."""
        # It loads Jupytext, which no other answer needs.
        from pytree_course.sources.changes import misconception_cell

        return misconception_cell(self.exercise, self.code)


def count_exercises(grades: ClassGrades, spent: Spent | None = None) -> list[ExerciseCounts]:
    """Count verdicts by exercise, in the order of the course; what was not graded is left out."""
    counts = []
    for lesson, name, verdicts in _by_exercise(grades):
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


def standings(grades: ClassGrades) -> list[Standing]:
    """Return the standing of each student, those who need help most first."""
    found = [_standing(grades, student) for student in grades.students]
    return sorted(found, key=lambda each: (each.need, -each.wrong, each.right))


def _standing(grades: ClassGrades, student: Student) -> Standing:
    rows: list[VerdictRow] = []
    missing, not_there = {}, 0
    for lesson in grades.lessons:
        attempt = grades.attempt(student, lesson)
        if attempt and attempt.state is AttemptState.GRADED:
            rows += attempt.rows
            continue
        not_there += len(lesson.graded)
        why = _NOT_GRADED[attempt.state] if attempt else grades.missing(student, lesson)
        missing[lesson.lesson] = why
    tried = [row for row in rows if row.kind != VerdictKind.NOT_ATTEMPTED]
    wrong = [row for row in tried if not row.points]
    return Standing(
        student,
        right=len(tried) - len(wrong),
        wrong=len(wrong),
        untried=len(rows) - len(tried) + not_there,
        points=grades.points(student),
        # What begins with "handed in" says more than "not handed in".
        why_nothing=min(missing.values(), default=NOT_HANDED_IN)
        if len(missing) == len(grades.lessons)
        else "",
        missing=missing,
        beside=sum(LATER_CELL in row.explanation for row in wrong),
    )


def held_misconceptions(grades: ClassGrades) -> list[HeldMisconception]:
    """Find the misconceptions that the class holds, those of most students and exercises first."""
    triers: dict[str, set[str]] = defaultdict(set)
    holders: dict[str, dict[str, Student]] = defaultdict(dict)
    places: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for lesson, name, verdicts in _by_exercise(grades):
        exercise = lesson.exercises.get(name)
        authored = lesson.expected(name).misconceptions if exercise else []
        known = {misconception.name: misconception.explanation for misconception in authored}
        tried = {who.id for who, _, row in verdicts if row.kind != VerdictKind.NOT_ATTEMPTED}
        for student, _, row in verdicts:
            for held in row.misconceptions:
                triers[held] |= tried
                holders[held][student.id] = student
                title = exercise.title if exercise else name
                places[held][title].append(known.get(held, ""))
    found = [
        HeldMisconception(
            name,
            {title: said[0] for title, said in _most_first(places[name])},
            list(holders[name].values()),
            len(triers[name]),
        )
        for name in sorted(holders)
    ]
    return sorted(found, key=lambda held: (-len(held.students), -len(held.explanations)))


def _most_first(places: Mapping[str, list[str]]) -> list[tuple[str, list[str]]]:
    return sorted(places.items(), key=lambda place: -len(place[1]))


def histogram(points: Sequence[int], all_points: int) -> list[tuple[str, int]]:
    """Count students by ranges of points: as many as Sturges' rule gives, or one a point.

    H. A. Sturges, The choice of a class interval, Journal of the American Statistical Association
    21 (1926): 1 + log2(n) intervals show the shape of n values.
    """
    intervals = 1 + ceil(log2(max(1, len(points))))
    width = ceil((all_points + 1) / intervals)
    counted = []
    for first in range(0, all_points + 1, width):
        last = min(first + width - 1, all_points)
        name = f"{first}" if first == last else f"{first}–{last}"
        counted.append((name, sum(first <= value <= last for value in points)))
    return counted


def not_graded(grades: ClassGrades) -> list[tuple[Student, BuiltLesson, Attempt]]:
    """Return every attempt that counts and could not be graded."""
    return [each for each in grades.all_attempts() if each[2].state is not AttemptState.GRADED]


Verdicts = list[tuple[Student, Attempt, VerdictRow]]


def _by_exercise(grades: ClassGrades) -> Iterator[tuple[BuiltLesson, str, Verdicts]]:
    """Yield the verdicts on each exercise, in the order of the course."""
    for lesson in grades.lessons:
        verdicts: dict[str, Verdicts] = {exercise: [] for exercise in lesson.graded}
        for student in grades.students:
            attempt = grades.attempt(student, lesson)
            if attempt and attempt.state is AttemptState.GRADED:
                for row in attempt.rows:
                    verdicts.setdefault(row.exercise, []).append((student, attempt, row))
        for exercise, of_exercise in verdicts.items():
            yield lesson, exercise, of_exercise


def find_clusters(grades: ClassGrades, fewest: int = 2) -> list[Cluster]:
    """Find equal wrong results of `fewest` students or more that no misconception explains.

    Those of most students come first. Results can be compared only where they come from the same
    cases, that is, from one seed.
    """
    clusters = []
    for lesson, exercise, verdicts in _by_exercise(grades):
        title = lesson.exercises[exercise].title if exercise in lesson.exercises else exercise
        alike = defaultdict(list)
        for student, attempt, row in verdicts:
            if row.results is not None and not row.misconceptions:
                answer = attempt.answers.get(exercise, "")
                alike[attempt.seed, row.results].append((student, row, answer))
        for members in alike.values():
            if len(members) >= fewest:
                students = [student for student, _, _ in members]
                _, row, code = min(members, key=lambda member: len(member[-1]))
                clusters.append(Cluster(lesson.lesson, exercise, title, students, row, code))
    return sorted(clusters, key=lambda each: -len(each.students))


def spent_in_class(file: Path) -> Spent:
    """Read a session's log; the time before a check counts for the exercise that it checks."""
    events = Log(file).events() if file.exists() else []
    if not events:
        raise CourseError(f"{file} holds no class. Name the file that `classroom` wrote to.")
    spent: dict[tuple[str, str], dict[str, TimeInClass]] = defaultdict(
        lambda: defaultdict(TimeInClass)
    )
    before: dict[str, datetime] = {}
    for event in events:
        if event.what == "checked":
            time = spent[event.data["lesson"], event.data["exercise"]][event.who]
            gap = event.time - before[event.who]
            if not time.is_solved:
                time.minutes += gap.total_seconds() / 60 if gap <= MAX_GAP else 0
                time.checks += 1
                time.is_solved = event.data["is_right"]
        before[event.who] = event.time
    return {place: [*by_learner.values()] for place, by_learner in spent.items()}
