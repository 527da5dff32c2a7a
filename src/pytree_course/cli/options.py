"""Arguments and options that several commands share, and how they are read."""

from datetime import datetime, time
from typing import Annotated

import typer

from pytree_course.course import Course, CourseError, LessonFiles

Lesson = Annotated[
    str, typer.Argument(metavar="LESSON", help="Which lesson: 1, leaves or 01_leaves.")
]


def lesson_with_exercises(name: str) -> LessonFiles:
    """Return the lesson that is meant; a page without exercises is refused."""
    files = Course.around().lesson_named(name)
    if not files.has_exercises:
        raise CourseError(f"{files.stem} has no exercises.")
    return files


def last_moment(text: str) -> datetime:
    """Return the deadline in local time; a date alone means the end of that day."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise CourseError(
            f"--due {text} is no time: write 2026-11-30, or 2026-11-30 23:59."
        ) from error
    if len(text) <= len("2026-11-30"):
        moment = datetime.combine(moment, time.max)
    return moment.astimezone()
