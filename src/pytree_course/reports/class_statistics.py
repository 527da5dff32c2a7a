"""Statistics of a class: verdicts, time, who needs help, misconceptions, unexplained results."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from math import ceil, log2
from pathlib import Path

from pytree_course.board.session import Log
from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow
from pytree_course.class_grading.class_grades import NOT_HANDED_IN, ClassGrades
from pytree_course.class_grading.roster import Student
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

Answers = list[tuple[Student, Attempt, VerdictRow]]
"""The graded answers to an exercise."""


@dataclass
class TimeInClass:
    """The time that one learner spent on one exercise, up to the first right answer."""

    minutes: float = 0.0
    checks: int = 0
    is_solved: bool = False


TimesInClass = dict[tuple[str, str], list[TimeInClass]]
"""The time of each learner who checked an exercise in class, by lesson and exercise."""


@dataclass(frozen=True)
class ExerciseCounts:
    """The number of students with each verdict on an exercise."""

    lesson: BuiltLesson
    exercise: ExerciseFacts
    correct: int
    wrong: int
    errors: int  # or timed out, or crashed
    not_attempted: int
    seconds: list[float]  # run time of each tried answer, sorted
    in_class: list[TimeInClass]  # for each learner who checked it in class

    @property
    def graded(self) -> int:
        """The number of graded notebooks."""
        return self.tried + self.not_attempted

    @property
    def tried(self) -> int:
        """The number of students who worked in the answer cell."""
        return self.correct + self.wrong + self.errors

    @property
    def pass_rate(self) -> float:
        """The share of graded notebooks with a correct answer."""
        return self.correct / self.graded if self.graded else 0.0


class Need(IntEnum):
    """How urgently a student needs help: the lowest first. `report.html` words them by number."""

    FAILED = 0  # more wrong answers than right ones
    BLANK = 1
    NOTHING_READ = 2
    LITTLE_TRIED = 3  # fewer than half of the exercises
    NONE = 4


@dataclass(frozen=True)
class StudentCounts:
    """The number of exercises in all lessons that a student got right, got wrong or left out."""

    student: Student
    right: int  # or given points by the teacher
    wrong: int
    untried: int  # including those of missing lessons
    points: float
    lessons_read: int
    missing: dict[str, str]  # why a lesson was not read, by lesson
    blank: list[str]  # the lessons without any answer, beside others
    misplaced: int  # wrong answers in cells that do not count

    @property
    def why_nothing_read(self) -> str:
        """Why no lesson of this student was read."""
        # A reason that begins with "handed in" says more than "not handed in".
        return min(self.missing.values(), default=NOT_HANDED_IN)

    @property
    def need(self) -> Need:
        """How urgently the student needs help."""
        if self.lessons_read == 0:
            return Need.NOTHING_READ
        if self.wrong > self.right:
            return Need.FAILED
        if self.right == 0:
            return Need.BLANK
        if self.right + self.wrong < self.untried:
            return Need.LITTLE_TRIED
        return Need.NONE


@dataclass(frozen=True)
class HeldMisconception:
    """A misconception, the exercises whose answers show it, and the students who hold it.

    Exercises share a misconception by giving it the same name.
    """

    name: str
    explanations: dict[str, str]  # by exercise title; the exercise of most students first
    students: list[Student]
    tried: set[str]  # the ids of all students who tried at least one of these exercises


@dataclass(frozen=True)
class Cluster:
    """A group of students with equal wrong results that no misconception explains."""

    lesson: str
    exercise: ExerciseFacts
    students: list[Student]
    sample: VerdictRow  # the verdict on the shortest answer
    code: str  # that answer; it is a student's, so read it before you run it

    @property
    def cell(self) -> str:
        """The answer as a cell of answers.py that still needs a name and an explanation."""
        # Imported late because it loads Jupytext, which nothing else here needs.
        from pytree_course.sources.changes import misconception_cell

        return misconception_cell(self.exercise.name, self.code)


def read_times(file: Path) -> TimesInClass:
    """Read a session's log; the time before a check counts for the exercise that it checks."""
    # `Log` would create the file.
    entries = Log(file).entries() if file.exists() else []
    if not entries:
        raise CourseError(f"{file} holds no class. Name the file that `classroom` wrote to.")
    times: dict[tuple[str, str], dict[str, TimeInClass]] = defaultdict(
        lambda: defaultdict(TimeInClass)
    )
    last_entry_times: dict[str, datetime] = {}  # by learner, whose first entry is joining
    for entry in entries:
        if entry.kind == "checked":
            time = times[entry.data["lesson"], entry.data["exercise"]][entry.learner_id]
            gap = entry.time - last_entry_times[entry.learner_id]
            if not time.is_solved:
                time.checks += 1
                time.is_solved = entry.data["is_right"]
                if gap <= MAX_GAP:
                    time.minutes += gap.total_seconds() / 60
        last_entry_times[entry.learner_id] = entry.time
    return {exercise: list(by_learner.values()) for exercise, by_learner in times.items()}


def count_exercises(grades: ClassGrades, times: TimesInClass) -> list[ExerciseCounts]:
    """Count the verdicts on each exercise, in the order of the course; skip ungraded notebooks."""
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


def count_students(grades: ClassGrades) -> list[StudentCounts]:
    """Count each student's exercises; the students who need help most come first."""
    counts = [_count_student(grades, student) for student in grades.students]
    return sorted(counts, key=lambda count: (count.need, -count.wrong, count.right))


def _count_student(grades: ClassGrades, student: Student) -> StudentCounts:
    rows: list[VerdictRow] = []
    missing, blank = {}, []
    missing_exercises = 0
    for lesson in grades.lessons:
        attempt = grades.attempt(student, lesson)
        if attempt and attempt.state is AttemptState.GRADED:
            rows += attempt.rows
            if all(row.kind == VerdictKind.NOT_ATTEMPTED for row in attempt.rows):
                blank.append(lesson.lesson)
        else:
            missing_exercises += len(lesson.graded)
            why = _NOT_GRADED[attempt.state] if attempt else grades.explain_missing(student, lesson)
            missing[lesson.lesson] = why
    tried = [row for row in rows if row.kind != VerdictKind.NOT_ATTEMPTED]
    wrong = [row for row in tried if not row.points]
    lessons_read = len(grades.lessons) - len(missing)
    return StudentCounts(
        student,
        right=len(tried) - len(wrong),
        wrong=len(wrong),
        untried=len(rows) - len(tried) + missing_exercises,
        points=grades.points(student),
        lessons_read=lessons_read,
        missing=missing,
        blank=blank if len(blank) < lessons_read else [],
        misplaced=sum(LATER_CELL in row.explanation for row in wrong),
    )


def find_misconceptions(grades: ClassGrades) -> list[HeldMisconception]:
    """Find the misconceptions that the class holds; those of most students and exercises first."""
    by_name: dict[str, list[HeldMisconception]] = defaultdict(list)  # one for each exercise
    for lesson, exercise, answers in _by_exercise(grades):
        tried = {student.id for student, _, row in answers if row.kind != VerdictKind.NOT_ATTEMPTED}
        for misconception in lesson.expected(exercise.name).misconceptions:
            name, explanations = misconception.name, {exercise.title: misconception.explanation}
            students = [student for student, _, row in answers if name in row.misconceptions]
            if students:
                by_name[name].append(HeldMisconception(name, explanations, students, tried))
    misconceptions = [_combine(by_name[name]) for name in sorted(by_name)]
    return sorted(
        misconceptions,
        key=lambda misconception: (-len(misconception.students), -len(misconception.explanations)),
    )


def _combine(in_exercises: Sequence[HeldMisconception]) -> HeldMisconception:
    """Combine a misconception's students and explanations of several exercises."""
    explanations: dict[str, str] = {}
    for misconception in sorted(in_exercises, key=lambda held: -len(held.students)):
        explanations.update(misconception.explanations)
    students: dict[str, Student] = {}
    tried: set[str] = set()
    for misconception in in_exercises:
        students.update({student.id: student for student in misconception.students})
        tried |= misconception.tried
    return HeldMisconception(in_exercises[0].name, explanations, list(students.values()), tried)


def count_by_points(points: Sequence[float], all_points: int) -> list[tuple[str, int]]:
    """Count students in each range of points; Sturges' rule decides the number of ranges.

    H. A. Sturges, The choice of a class interval, Journal of the American Statistical Association
    21 (1926): 1 + log2(n) intervals show the shape of n values.
    """
    intervals = 1 + ceil(log2(max(1, len(points))))
    width = ceil((all_points + 1) / intervals)
    step = 0.5 if any(value % 1 for value in points) else 1
    counts = []
    for first in range(0, all_points + 1, width):
        last = min(first + width - step, all_points)
        points_range = f"{first}" if first == last else f"{first}–{last}"
        counts.append((points_range, sum(first <= value <= last for value in points)))
    return counts


def find_ungraded(grades: ClassGrades) -> list[tuple[Student, BuiltLesson, Attempt]]:
    """Return every attempt that counts but could not be graded."""
    return [
        (student, lesson, attempt)
        for student, lesson, attempt in grades.all_attempts()
        if attempt.state is not AttemptState.GRADED
    ]


def find_clusters(grades: ClassGrades, min_students: int = 2) -> list[Cluster]:
    """Find equal wrong results of several students that no misconception explains.

    The largest clusters come first. Results can only be compared if they come from the same cases,
    that is, from one seed.
    """
    clusters = []
    for lesson, exercise, answers in _by_exercise(grades):
        equal_answers: dict[tuple[int, str], Answers] = defaultdict(list)
        for student, attempt, row in answers:
            if row.basis and row.results is not None and not row.misconceptions:
                equal_answers[row.basis.seed, row.results].append((student, attempt, row))
        for members in equal_answers.values():
            if len(members) >= min_students:
                clusters.append(_make_cluster(lesson, exercise, members))
    return sorted(clusters, key=lambda cluster: -len(cluster.students))


def _make_cluster(lesson: BuiltLesson, exercise: ExerciseFacts, members: Answers) -> Cluster:
    codes = [(attempt.answers.get(exercise.name, ""), row) for _, attempt, row in members]
    code, sample = min(codes, key=lambda answer: len(answer[0]))
    return Cluster(lesson.lesson, exercise, [student for student, _, _ in members], sample, code)


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
