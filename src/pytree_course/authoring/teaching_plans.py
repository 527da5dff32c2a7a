"""Generate the teaching plans: the course in one session, and in one session for each lesson."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pytree_course.course import Course
from pytree_course.rendering import render
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import LessonSources, Section, read_sources
from pytree_course.texts import hours

PAGE = "docs/plans.md"
SESSION_MINUTES = 90  # of the one session
AROUND_MINUTES = 5  # at the beginning of a session, and again at its end


class Step(NamedTuple):
    """A step of a session: sections that the teacher shows, or an exercise that everyone does."""

    lesson: LessonSources
    minutes: int
    sections: Sequence[Section] = ()
    exercise: Exercise | None = None


def plans(course: Course) -> str:
    """Return the page of teaching plans for all lessons."""
    lessons = [read_sources(files) for files in course.lessons_and_pages() if files.has_exercises]
    page = render(
        "authoring/teaching_plans.md",
        lessons=lessons,
        alone=sum(
            lesson.layers.core_with_everything + _minutes(_core_exercises(lesson))
            for lesson in lessons
        ),
        session_minutes=SESSION_MINUTES,
        around=AROUND_MINUTES,
        hours=hours,
        one_session=_one_session(lessons),
        session_of={
            lesson.files.stem: [*_in_class(lesson, _core_exercises(lesson))] for lesson in lessons
        },
    )
    return page.rstrip() + "\n"


def _core_exercises(lesson: LessonSources) -> list[Exercise]:
    return [exercise for exercise in lesson.graded.values() if exercise.core]


def _in_class(lesson: LessonSources, exercises: Sequence[Exercise]) -> Iterator[Step]:
    """Yield the steps of a lesson's core, with each exercise after the section it is about."""
    to_show: list[Section] = []
    for section in lesson.layers.core:
        to_show.append(section)
        about_section = [exercise for exercise in exercises if exercise.section == section.slug]
        if about_section:
            yield Step(lesson, _minutes(to_show), to_show)
            yield from _exercise_steps(lesson, about_section)
            to_show = []
    if to_show:
        yield Step(lesson, _minutes(to_show), to_show)
    core_slugs = {section.slug for section in lesson.layers.core}
    yield from _exercise_steps(
        lesson, [exercise for exercise in exercises if exercise.section not in core_slugs]
    )


def _exercise_steps(lesson: LessonSources, exercises: Sequence[Exercise]) -> list[Step]:
    return [Step(lesson, exercise.minutes, exercise=exercise) for exercise in exercises]


def _one_session(lessons: Sequence[LessonSources]) -> list[Step]:
    """Plan as many whole cores as fit, each with its shortest exercise; then add exercises."""
    free_minutes = SESSION_MINUTES - 2 * AROUND_MINUTES
    chosen: list[tuple[LessonSources, list[Exercise]]] = []
    for lesson in lessons:
        shortest = sorted(_core_exercises(lesson), key=lambda exercise: exercise.minutes)[:1]
        minutes = lesson.layers.core_minutes + _minutes(shortest)
        if minutes > free_minutes:
            break
        chosen.append((lesson, shortest))
        free_minutes -= minutes
    steps: list[Step] = []
    for lesson, exercises in chosen:
        for exercise in _core_exercises(lesson):
            if exercise not in exercises and exercise.minutes <= free_minutes:
                exercises.append(exercise)
                free_minutes -= exercise.minutes
        in_order = [exercise for exercise in _core_exercises(lesson) if exercise in exercises]
        steps += _in_class(lesson, in_order)
    return steps


def _minutes(parts: Sequence[Section | Exercise]) -> int:
    return sum(part.minutes for part in parts)
