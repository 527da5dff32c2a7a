"""What the board tells a teacher: beliefs in the room, stuck learners, the plan, a question."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pytree_course.board.session import Learner, Room, Work
from pytree_course.judging.expected import Belief, BuiltLesson, Misconception
from pytree_course.learner.questions import Question

MAX_AGE = timedelta(minutes=10)
"""The age up to which a check counts as current."""

CaseKey = tuple[str, str]
"""An exercise, and the number of one of its cases."""

MIN_EQUAL_FAILURES = 3  # of a learner who is stuck
WELCOME_MINUTES = 5  # at the beginning of a session, as in docs/plans.md


@dataclass(frozen=True)
class Place:
    """An exercise in which learners hold a misconception now."""

    about: Belief
    misconception: Misconception
    learners: Sequence[Learner]


@dataclass(frozen=True)
class Reason:
    """A misconception that learners hold now, in one exercise or in several of one lesson."""

    name: str
    places: Sequence[Place]  # that of most learners first

    @property
    def learners(self) -> int:
        """How many learners hold it; a learner who does so in several exercises counts once."""
        return len({learner.name for place in self.places for learner in place.learners})


def is_current(work: Work, now: datetime) -> bool:
    """Return whether a learner has checked an exercise in the last minutes."""
    return work.last_checked is not None and work.last_checked > now - MAX_AGE


def current_reasons(room: Room, lesson: BuiltLesson, now: datetime) -> list[Reason]:
    """Return the misconceptions that the latest checks show, the most common first."""
    places: dict[str, list[Place]] = defaultdict(list)
    for exercise in lesson.exercises:
        holders: dict[str, list[Learner]] = defaultdict(list)
        for learner in room.learners.values():
            work = learner.work[lesson.lesson, exercise]
            if is_current(work, now):
                for name in work.misconceptions:
                    holders[name].append(learner)
        if not holders:
            continue  # the file of the exercise need not be read
        for misconception in lesson.expected(exercise).misconceptions:
            name = misconception.name
            if name in holders:
                about = Belief(lesson.lesson, exercise, name)
                places[name].append(Place(about, misconception, holders[name]))
    reasons = [
        Reason(name, sorted(places[name], key=lambda place: -len(place.learners)))
        for name in places
    ]
    return sorted(reasons, key=lambda reason: -reason.learners)


def stuck_learners(
    room: Room, lesson: BuiltLesson, now: datetime
) -> Iterator[tuple[Learner, str, int]]:
    """Yield each learner who fails an exercise again and again alike, and how often in a row."""
    for learner in room.learners.values():
        for exercise in lesson.exercises:
            work = learner.work[lesson.lesson, exercise]
            is_stuck = work.equal_failures >= MIN_EQUAL_FAILURES and not work.is_solved
            if is_stuck and is_current(work, now):
                yield learner, exercise, work.equal_failures


def count_solved_and_trying(
    learners: Iterable[Learner], lesson: BuiltLesson, exercise: str
) -> tuple[int, int]:
    """Return how many learners have solved an exercise, and how many have only tried it."""
    works = [learner.work[lesson.lesson, exercise] for learner in learners]
    solved = sum(work.is_solved for work in works)
    trying = sum(work.failures > 0 and not work.is_solved for work in works)
    return solved, trying


def planned_minutes(lesson: BuiltLesson) -> dict[str, int]:
    """Return by which minute of its session each core exercise should be done."""
    minute = WELCOME_MINUTES
    plan = {}
    for slug, section in lesson.sections.items():
        if section.deeper:
            continue
        minute += section.minutes
        for exercise in lesson.graded.values():
            if exercise.core and exercise.section == slug:
                minute += exercise.minutes
                plan[exercise.name] = minute
    return plan


def propose_question(
    room: Room,
    reasons: Sequence[Reason],
    questions: Iterable[Question],
    known_cases: Collection[CaseKey],
) -> Question | None:
    """Return the question that divides the class best, by current misconceptions and solutions.

    That is the one on which two learners drawn at random are most likely to disagree; where nobody
    would, the one that most learners get wrong, with most options. Learners have read feedback on
    the known cases, or voted on them: such a case is asked about only if there is no other.
    """
    places = [place for reason in reasons for place in reason.places]
    holders = {place.about: len(place.learners) for place in places}
    solvers = {}  # of the exercises in which a misconception shows
    for lesson, exercise, _ in holders:
        works = [learner.work[lesson, exercise] for learner in room.learners.values()]
        solvers[exercise] = sum(work.is_solved for work in works)

    best_question, best_rank = None, None
    for question in questions:
        lesson, exercise, _ = question.about
        if exercise not in solvers:
            continue
        wrong_counts = []  # of the learners who would choose each wrong option
        for misconceptions in question.beliefs.values():
            names = [misconception.name for misconception in misconceptions]
            beliefs = [Belief(lesson, exercise, name) for name in names]
            wrong_counts.append(sum(holders.get(belief, 0) for belief in beliefs))
        wrong = sum(wrong_counts)
        if not wrong:
            continue
        is_new = (exercise, question.case) not in known_cases
        disagreeing_pairs = _count_disagreeing_pairs([solvers[exercise], *wrong_counts])
        rank = (is_new, disagreeing_pairs, wrong, len(question.options))
        if best_rank is None or rank > best_rank:
            best_question, best_rank = question, rank
    return best_question


def _count_disagreeing_pairs(counts: Sequence[int]) -> int:
    """Return how many ordered pairs of learners are of two groups, of the sizes `counts`."""
    return sum(counts) ** 2 - sum(count**2 for count in counts)
