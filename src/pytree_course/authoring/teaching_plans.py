"""Generate the teaching plans: the course in one session, and in one session for each lesson."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytree_course.course import Course
from pytree_course.rendering import render
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import LessonSources, Section, read_sources

PAGE = "docs/plans.md"
"""The built page."""

SESSION = 90  # minutes of the one session
AROUND = 5  # minutes at the beginning of a session, and as many at its end
FREE = SESSION - 2 * AROUND


class Step(NamedTuple):
    """A step of a session: sections that the teacher shows, or an exercise that everyone does."""

    lesson: LessonSources
    minutes: int
    sections: Sequence[Section] = ()
    exercise: Exercise | None = None


def plans(course: Course) -> str:
    """Return the page of teaching plans for all lessons with a core; "" if there is none."""
    read = [read_sources(files) for files in course.lessons() if files.has_all_sources]
    lessons = [lesson for lesson in read if lesson.layers.ending and lesson.layers.core_minutes]
    if not lessons:
        return ""
    page = render(
        "authoring/teaching_plans.md",
        lessons=lessons,
        alone=sum(
            lesson.layers.core_with_everything + _minutes(_core(lesson)) for lesson in lessons
        ),
        session_minutes=SESSION,
        around=AROUND,
        hours=hours,
        one_session=_one_session(lessons),
        session_of={lesson.files.stem: [*_in_class(lesson, _core(lesson))] for lesson in lessons},
    )
    return page.rstrip() + "\n"


def _core(lesson: LessonSources) -> list[Exercise]:
    return [exercise for exercise in lesson.graded.values() if exercise.core]


def _in_class(lesson: LessonSources, exercises: Sequence[Exercise]) -> Iterator[Step]:
    """Yield the core's steps, with each exercise after the section that it is about."""
    shown: list[Section] = []
    left = list(exercises)
    for section in lesson.layers.core:
        shown.append(section)
        now = [exercise for exercise in left if exercise.section == section.slug]
        if now:
            yield Step(lesson, _minutes(shown), shown)
            yield from (Step(lesson, exercise.minutes, exercise=exercise) for exercise in now)
            shown, left = [], [exercise for exercise in left if exercise not in now]
    if shown:
        yield Step(lesson, _minutes(shown), shown)
    yield from (Step(lesson, exercise.minutes, exercise=exercise) for exercise in left)


def _one_session(lessons: Sequence[LessonSources]) -> list[Step]:
    """Plan as many whole cores as fit, each with one exercise; then add exercises."""
    free = FREE
    chosen: list[tuple[LessonSources, list[Exercise]]] = []
    for lesson in lessons:
        shortest = sorted(_core(lesson), key=lambda exercise: exercise.minutes)[:1]
        minutes = lesson.layers.core_minutes + _minutes(shortest)
        if minutes > free:
            break
        chosen.append((lesson, shortest))
        free -= minutes
    for lesson, exercises in chosen:
        for exercise in _core(lesson):
            if exercise not in exercises and exercise.minutes <= free:
                exercises.append(exercise)
                free -= exercise.minutes
    return [
        step
        for lesson, exercises in chosen
        for step in _in_class(lesson, [one for one in _core(lesson) if one in exercises])
    ]


def _minutes(parts: Sequence[Section | Exercise]) -> int:
    return sum(part.minutes for part in parts)


def hours(minutes: int) -> str:
    """Write minutes as a plan does: `25 min`, `1 h 25 min`, `2 h`."""
    whole, rest = divmod(minutes, 60)
    parts = [f"{whole} h"] if whole else []
    return " ".join(parts + ([f"{rest} min"] if rest or not whole else []))
