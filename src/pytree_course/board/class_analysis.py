"""Live class analytics: current misconceptions, stuck learners, the plan and the next question."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from pytree_course.board.session import CaseKey, Learner, Room
from pytree_course.judging.expected import Belief, BuiltLesson, Misconception
from pytree_course.learner.questions import Question

MIN_EQUAL_FAILURES = 3  # of a learner who is stuck
WELCOME_MINUTES = 5  # at the beginning of a session, as in docs/plans.md


class Holder(NamedTuple):
    """A learner whose latest check of an exercise shows a misconception."""

    name: str
    last_checked: datetime


class ExerciseHolders(NamedTuple):
    """The learners who hold a misconception in one exercise."""

    belief: Belief
    misconception: Misconception
    learners: Sequence[Holder]  # the one who checked last first


class HeldMisconception(NamedTuple):
    """A misconception that learners hold, in one exercise or in several of one lesson."""

    name: str
    by_exercise: Sequence[ExerciseHolders]  # the exercise with most learners first

    @property
    def learner_count(self) -> int:
        """How many learners hold it; a learner who does so in several exercises counts once."""
        return len({learner.name for holders in self.by_exercise for learner in holders.learners})


class StuckLearner(NamedTuple):
    """A learner whose last checks of an exercise failed with the same misconceptions."""

    name: str
    exercise: str
    equal_failures: int
    last_checked: datetime


def find_current_misconceptions(room: Room, lesson: BuiltLesson) -> list[HeldMisconception]:
    """Return the misconceptions that the latest checks show, the most common first.

    A check stays a learner's latest one, however long ago it was: in a quiet class, too, the
    board shows where learners stand.
    """
    by_name: dict[str, list[ExerciseHolders]] = defaultdict(list)
    for exercise in lesson.exercises:
        learners: dict[str, list[Holder]] = defaultdict(list)  # by misconception
        for learner in room.learners.values():
            work = learner.work[lesson.lesson, exercise]
            for name in work.misconceptions:
                learners[name].append(Holder(learner.name, work.last_checked))
        for holders in learners.values():
            holders.sort(key=lambda holder: holder.last_checked, reverse=True)
        for misconception in lesson.expected(exercise).misconceptions:
            name = misconception.name
            if name in learners:
                belief = Belief(lesson.lesson, exercise, name)
                by_name[name].append(ExerciseHolders(belief, misconception, learners[name]))
    held = []
    for name, by_exercise in by_name.items():
        by_exercise.sort(key=lambda holders: -len(holders.learners))
        held.append(HeldMisconception(name, by_exercise))
    return sorted(held, key=lambda misconception: -misconception.learner_count)


def find_stuck_learners(room: Room, lesson: BuiltLesson) -> list[StuckLearner]:
    """Return the learners who are stuck, with the exercises, the latest check first."""
    stuck = []
    for learner in room.learners.values():
        for exercise in lesson.exercises:
            work = learner.work[lesson.lesson, exercise]
            if work.equal_failures >= MIN_EQUAL_FAILURES and not work.is_solved:
                failures = work.equal_failures
                stuck.append(StuckLearner(learner.name, exercise, failures, work.last_checked))
    return sorted(stuck, key=lambda learner: learner.last_checked, reverse=True)


def count_solved_and_trying(
    learners: Iterable[Learner], lesson: str, exercise: str
) -> tuple[int, int]:
    """Return how many learners have solved an exercise, and how many have only tried it."""
    works = [learner.work[lesson, exercise] for learner in learners]
    solved = sum(work.is_solved for work in works)
    trying = sum(work.failures > 0 and not work.is_solved for work in works)
    return solved, trying


def plan_minutes(lesson: BuiltLesson) -> dict[str, int]:
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
    misconceptions: Iterable[HeldMisconception],
    questions: Iterable[Question],
    known_cases: Collection[CaseKey],
) -> Question | None:
    """Return the question on which two learners drawn at random would most likely disagree.

    This is an estimate from current misconceptions and solutions. If nobody would disagree, prefer
    the question that most learners get wrong, then the one with most options. Learners have read
    feedback on the known cases, or voted on them: such a case is a last resort.
    """
    holder_counts = Counter[Belief]()
    solver_counts = {}  # by exercise, if a misconception shows in it
    for misconception in misconceptions:
        for belief, _, learners in misconception.by_exercise:
            holder_counts[belief] = len(learners)
            solver_counts[belief.exercise], _ = count_solved_and_trying(
                room.learners.values(), belief.lesson, belief.exercise
            )

    best_question, best_rank = None, None
    for question in questions:
        wrong_counts = _count_wrong_choices(question, holder_counts)
        wrong = sum(wrong_counts)
        if wrong == 0:
            continue
        exercise = question.about.exercise
        is_new = CaseKey(exercise, question.case) not in known_cases
        counts = [solver_counts[exercise], *wrong_counts]  # learners, by their likely choice
        disagreeing_pairs = sum(counts) ** 2 - sum(count**2 for count in counts)
        rank = (is_new, disagreeing_pairs, wrong, len(question.options))
        if best_rank is None or rank > best_rank:
            best_question, best_rank = question, rank
    return best_question


def _count_wrong_choices(question: Question, holder_counts: Counter[Belief]) -> list[int]:
    """Return how many learners would choose each wrong option.

    A learner with two misconceptions counts for both.
    """
    lesson, exercise, _ = question.about
    counts = []
    for misconceptions in question.misconceptions.values():
        beliefs = [Belief(lesson, exercise, misconception.name) for misconception in misconceptions]
        counts.append(sum(holder_counts[belief] for belief in beliefs))
    return counts
