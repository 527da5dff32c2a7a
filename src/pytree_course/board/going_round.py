"""What goes round in a class: the misconceptions held now, who is stuck, what to ask about."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from msgspec import structs

from pytree_course.board.room import Learner, Room
from pytree_course.course import LessonFiles
from pytree_course.judging.expected import Belief, BuiltLesson, Misconception
from pytree_course.judging.feedback import feedback
from pytree_course.judging.judge import judge
from pytree_course.learner.questions import Question
from pytree_course.rendering import Feedback
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.running.run_cases import run_check

NOW = timedelta(minutes=10)
"""What a check showed longer ago goes round no more."""

STUCK_AFTER = 3  # tries with the same reasons
WELCOME = 5  # minutes at the beginning of a session, as in docs/plans.md


@dataclass(frozen=True)
class Reason:
    """A misconception, and who holds it now."""

    about: Belief
    misconception: Misconception
    learners: Sequence[Learner]


def going_round(room: Room, expected: BuiltLesson, now: datetime) -> list[Reason]:
    """Return the misconceptions of a lesson that last checks show, those of most learners first."""
    holders: dict[tuple[str, str], list[Learner]] = defaultdict(list)
    for learner in room.learners.values():
        for exercise in expected.exercises:
            work = learner.at(expected.lesson, exercise)
            if work.time and work.time > now - NOW:
                for name in work.held:
                    holders[exercise, name].append(learner)
    reasons = [
        Reason(Belief(expected.lesson, *key), each, holders[key])
        for exercise in expected.exercises
        if any(exercise == named for named, _ in holders)
        for each in expected.expected(exercise).misconceptions
        if (key := (exercise, each.name)) in holders
    ]
    return sorted(reasons, key=lambda each: -len(each.learners))


def stuck(room: Room, expected: BuiltLesson, now: datetime) -> Iterator[tuple[Learner, str, int]]:
    """Yield who goes on trying an exercise without a new result: with how many tries."""
    for learner in room.learners.values():
        for exercise in expected.exercises:
            work = learner.at(expected.lesson, exercise)
            is_now = work.time is not None and work.time > now - NOW
            if is_now and not work.is_solved and work.alike >= STUCK_AFTER:
                yield learner, exercise, work.alike


def planned(expected: BuiltLesson) -> dict[str, int]:
    """Return by which minute of its session each core exercise should be done."""
    minute = WELCOME
    plan = {}
    for slug, section in expected.sections.items():
        if not section.deeper:
            minute += section.minutes
            for exercise in expected.exercises.values():
                if exercise.core and exercise.section == slug:
                    minute += exercise.minutes
                    plan[exercise.name] = minute
    return plan


def parts_best(
    room: Room, reasons: Sequence[Reason], questions: Sequence[Question]
) -> Question | None:
    """Return the question that parts the class best, by what goes round and what is solved.

    That is the one for which two learners, drawn by lot, choose most often different options.
    """
    held = {each.about: len(each.learners) for each in reasons}

    def different(question: Question) -> int:
        lesson, exercise, _ = question.about
        right = sum(each.at(lesson, exercise).is_solved for each in room.learners.values())
        choices = Counter({question.answer: right})
        for option, belief in question.beliefs.items():
            choices[option] += held.get(Belief(lesson, exercise, belief.name), 0)
        return choices.total() ** 2 - sum(count**2 for count in choices.values())

    best = max(questions, key=different, default=None)
    return best if best and different(best) else None


def shown_to(files: LessonFiles, expected: BuiltLesson, about: Belief) -> Feedback:
    """Return the feedback of whoever holds a misconception: the smallest case, and why.

    The check runs without an answer, for its inputs; what comes out is known.
    """
    facts = expected.expected(about.exercise)
    [held] = [each for each in facts.misconceptions if each.name == about.name]
    ran = run_check(files.checks()[about.exercise], [_not_there] * len(facts.answers), PUBLIC_SEED)
    outcomes = [
        structs.replace(outcome, observation=held.observations.get(case, facts.observations[case]))
        for case, outcome in enumerate(ran)
    ]
    verdict = replace(judge(facts, outcomes), misconceptions=(held,), findings=())
    section = f"{expected.title}, {expected.sections[held.section].title}"
    return feedback(verdict, section=section)


def _not_there(*_: object) -> None:
    raise NotImplementedError
