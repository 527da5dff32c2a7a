"""What the board tells a teacher: beliefs in the room, stuck learners, the plan, a question."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pytree_course.board.session import Learner, Room
from pytree_course.judging.expected import Belief, BuiltLesson, Misconception
from pytree_course.learner.questions import Question

NOW = timedelta(minutes=10)
"""The age up to which a check counts as current."""

CaseKey = tuple[str, str]
"""An exercise, and the number of one of its cases."""

STUCK_AFTER = 3  # tries with the same reasons
WELCOME = 5  # minutes at the beginning of a session, as in docs/plans.md


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


def going_round(room: Room, expected: BuiltLesson, now: datetime) -> list[Reason]:
    """Return the misconceptions that the latest checks show, the most common first."""
    places: dict[str, list[Place]] = defaultdict(list)
    for exercise in expected.exercises:
        holders: dict[str, list[Learner]] = defaultdict(list)
        for learner in room.learners.values():
            work = learner.work[expected.lesson, exercise]
            if work.time and work.time > now - NOW:
                for name in work.held:
                    holders[name].append(learner)
        # The file of an exercise is read only if somebody holds something.
        for misconception in expected.expected(exercise).misconceptions if holders else ():
            name = misconception.name
            if name in holders:
                about = Belief(expected.lesson, exercise, name)
                places[name].append(Place(about, misconception, holders[name]))
    reasons = [
        Reason(name, sorted(shown, key=lambda place: -len(place.learners)))
        for name, shown in places.items()
    ]
    return sorted(reasons, key=lambda reason: -reason.learners)


def stuck(room: Room, expected: BuiltLesson, now: datetime) -> Iterator[tuple[Learner, str, int]]:
    """Yield each learner whose last tries of an exercise failed alike, and how many did."""
    for learner in room.learners.values():
        for exercise in expected.exercises:
            work = learner.work[expected.lesson, exercise]
            is_now = work.time is not None and work.time > now - NOW
            if is_now and not work.is_solved and work.alike >= STUCK_AFTER:
                yield learner, exercise, work.alike


def solved_and_tried(
    learners: Iterable[Learner], expected: BuiltLesson, exercise: str
) -> tuple[int, int]:
    """Return how many learners have solved an exercise, and how many have only tried it."""
    work = [each.work[expected.lesson, exercise] for each in learners]
    solved = sum(each.is_solved for each in work)
    return solved, sum(each.tries > 0 for each in work if not each.is_solved)


def planned(expected: BuiltLesson) -> dict[str, int]:
    """Return by which minute of its session each core exercise should be done."""
    minute = WELCOME
    plan = {}
    for slug, section in expected.sections.items():
        if not section.deeper:
            minute += section.minutes
            for exercise in expected.graded.values():
                if exercise.core and exercise.section == slug:
                    minute += exercise.minutes
                    plan[exercise.name] = minute
    return plan


def proposed(
    room: Room, reasons: Sequence[Reason], questions: Iterable[Question], known: Collection[CaseKey]
) -> Question | None:
    """Return the question that divides the class best, by current misconceptions and solutions.

    That is the one on which two learners drawn at random are most likely to disagree; where nobody
    would, the one that most learners get wrong, with most options. Learners have read feedback on
    the known cases, or voted on them: one is asked about only if there is no other.
    """
    held = {place.about: len(place.learners) for reason in reasons for place in reason.places}
    solved = {
        exercise: sum(each.work[lesson, exercise].is_solved for each in room.learners.values())
        for lesson, exercise, _ in held
    }

    def rank(question: Question) -> tuple[int, ...]:
        lesson, exercise, _ = question.about
        wrong = [
            sum(held.get(Belief(lesson, exercise, each.name), 0) for each in beliefs)
            for beliefs in question.beliefs.values()
        ]
        counts = [solved[exercise], *wrong]
        different = sum(counts) ** 2 - sum(count**2 for count in counts)
        is_new = (exercise, question.case) not in known
        return is_new, different, sum(wrong), len(question.options)

    asked = [each for each in questions if each.about.exercise in solved]
    return max((each for each in asked if rank(each)[2]), key=rank, default=None)
