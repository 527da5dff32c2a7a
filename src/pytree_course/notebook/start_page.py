"""The map of the course: both ways through it, how far you are, and your badges."""

from datetime import UTC, datetime

from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.learner.review import due
from pytree_course.learner.standings import Way, badges, hours, standing
from pytree_course.rendering import Feedback, render

AS_BUILT = "This is how everybody begins. Run this cell to see your own progress."
AS_OF = "Your progress on {time}. Run this again to see what has come since."


def course_map() -> Feedback:
    """Show the lessons that are here, the learner's progress in each, and the badges."""
    course = Course.find()
    progress = Progress.load(course.progress_file)
    # What is shown stays in the notebook, where it is read again when more has been done.
    state = AS_BUILT
    if course.progress_file is not None:
        state = AS_OF.format(time=f"{datetime.now():%d %B, %H:%M}".lstrip("0"))
    files = course.lessons()
    expected = [BuiltLesson.read(each.expected) for each in files]
    lessons = [(lesson, standing(lesson, progress)) for lesson in expected]
    # No widget: only in plain HTML does JupyterLab see to it that links open notebooks.
    values = {
        "hours": hours,
        "state": state,
        "progress": progress,
        "lessons": list(zip(files, lessons, strict=True)),
        "link": course.link,
        "core": Way.together([now.core for _, now in lessons]),
        "everything": Way.together([now.everything for _, now in lessons]),
        "badges": badges(expected, progress),
        "due": len(due(expected, progress, datetime.now(UTC))),
        "review": course.link(course.lesson("review").notebook),
    }
    page, text = (render(f"notebook/start_page.{kind}", **values) for kind in ("html", "txt"))
    return Feedback(page, text)
