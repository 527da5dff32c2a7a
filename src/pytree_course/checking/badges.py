"""Badges: small rewards that a learner's progress earns. They never count for the grade."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytree_course.checking.expected import Expected
from pytree_course.checking.progress import Progress

LESSONS_IN_ALL = 5
MANY_PREDICTIONS = 10
MANY_WITHOUT_HINT = 5


@dataclass(frozen=True)
class Badge:
    """A reward, earned or still to be earned."""

    symbol: str
    name: str
    how: str
    earned: bool


def badges(lessons: Sequence[Expected], progress: Progress) -> list[Badge]:
    """Return all badges, with what has been earned so far.

    Parameters
    ----------
    lessons
        The lessons that are here.
    progress
        What the learner did.
    """
    exercises = [
        (exercise, progress.of(lesson.lesson, exercise.name))
        for lesson in lessons
        for exercise in lesson.exercises.values()
    ]
    solved = [(exercise, done) for exercise, done in exercises if done.correct]
    without_hint = [done for _, done in solved if not done.hints and not done.saw_solution]
    whole_lessons = [
        lesson
        for lesson in lessons
        if all(progress.of(lesson.lesson, name).correct for name in lesson.exercises)
    ]
    return [
        Badge("❦", "First leaf", "solve an exercise", bool(solved)),
        Badge(
            "⟐",
            "Fortune teller",
            f"make {MANY_PREDICTIONS} predictions",
            len(progress.predictions) >= MANY_PREDICTIONS,
        ),
        Badge(
            "⚑",
            "Bug hunter",
            "catch a silent bug: solve an exercise about one",
            any(exercise.silent_bug for exercise, _ in solved),
        ),
        Badge(
            "◆",
            "On my own",
            f"solve {MANY_WITHOUT_HINT} exercises without a hint",
            len(without_hint) >= MANY_WITHOUT_HINT,
        ),
        Badge(
            "★",
            "Three stars",
            "solve an exercise of three stars",
            any(exercise.stars == 3 for exercise, _ in solved),
        ),
        Badge("✓", "Whole lesson", "solve all exercises of a lesson", bool(whole_lessons)),
        Badge(
            "♛",
            "Evergreen",
            f"solve all exercises of all {LESSONS_IN_ALL} lessons",
            len(whole_lessons) == LESSONS_IN_ALL,
        ),
    ]
