"""Badges: small rewards that a learner's progress earns. They never count for the grade."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytree_course.judging.expected import Expected
from pytree_course.learner.progress import Progress
from pytree_course.learner.standings import standing

LESSONS_AT_LEAST = 5
"""A copy with fewer lessons does not give the last badge away."""
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
    """Return all badges of a course with these lessons, earned or not."""
    exercises = [
        (exercise, progress.of(lesson.lesson, exercise.name))
        for lesson in lessons
        for exercise in lesson.exercises.values()
    ]
    solved = [(exercise, done) for exercise, done in exercises if done.correct]
    silent_bug = any(exercise.silent_bug for exercise, _ in solved)
    three_stars = any(exercise.stars == 3 for exercise, _ in solved)
    without_help = sum(not done.hints and not done.saw_solution for _, done in solved)
    standings = [standing(lesson, progress) for lesson in lessons]
    whole_lessons = sum(not now.everything.todo for now in standings)
    cores = sum(now.core_is_done for now in standings)
    enough_predictions = len(progress.predictions) >= MANY_PREDICTIONS
    alone = f"solve {MANY_WITHOUT_HINT} exercises without a hint"
    in_all = max(LESSONS_AT_LEAST, len(lessons))
    in_all_cores = max(LESSONS_AT_LEAST, sum(now.core.exercises > 0 for now in standings))
    all_cores = f"solve the core exercises of all {in_all_cores} lessons"
    all_lessons = f"solve all exercises of all {in_all} lessons"
    return [
        Badge("❦", "First leaf", "solve an exercise", bool(solved)),
        Badge("◇", "Fortune teller", f"make {MANY_PREDICTIONS} predictions", enough_predictions),
        Badge("⚑", "Bug hunter", "catch a silent bug: solve an exercise about one", silent_bug),
        Badge("◆", "On my own", alone, without_help >= MANY_WITHOUT_HINT),
        Badge("★", "Three stars", "solve an exercise of three stars", three_stars),
        Badge("◉", "First core", "solve the core exercises of a lesson", cores > 0),
        Badge("❁", "The core", all_cores, cores == in_all_cores),
        Badge("✓", "Whole lesson", "solve all exercises of a lesson", whole_lessons > 0),
        Badge("♛", "Evergreen", all_lessons, whole_lessons == in_all),
    ]
