"""The learner's progress in notebooks: the header of exercises, and the map of the course."""

from datetime import UTC, datetime

from IPython.display import display

from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.learner.standings import (
    CoreMinutes,
    badges,
    describe_beyond_core,
    format_minutes,
    lesson_to_go_on_with,
    standing,
)
from pytree_course.notebook.checks import Checks
from pytree_course.rendering import Feedback, render

AS_BUILT = "This is how everybody begins. Run this cell to see your own progress."
AS_OF = "Your progress on {time}. Run this again to see what has come since."


def show_progress(check: Checks) -> None:
    """Show the header: how far the learner is, updated whenever a check passes."""
    if not check.is_own_work:
        return
    # An updated output, not a widget: ipywidgets would take most of the set-up cell's time.
    output = display(check.standing("progress"), display_id=True)
    # Without a notebook, nothing was shown.
    if check.progress.file is not None and output is not None:
        check.progress.watchers.append(lambda: output.update(check.standing("progress")))


def course_map() -> Feedback:
    """Show the lessons that are here, the learner's progress in each, and the badges."""
    from pytree_course.learner.review import due_questions  # not above: the header does not need it

    course = Course.of_notebook()
    progress = Progress.load(course.progress_file)
    # The output stays in the notebook, where it may be read after more has been solved.
    state = AS_BUILT
    if course.progress_file is not None:
        state = AS_OF.format(time=f"{datetime.now():%d %B, %H:%M}".lstrip("0"))
    files = course.lessons()
    expected = [BuiltLesson.read(lesson.expected) for lesson in files]
    lessons = [(lesson, standing(lesson, progress)) for lesson in expected]
    titles = {lesson.lesson: lesson.title for lesson in expected}
    following = lesson_to_go_on_with(course)
    # Not a widget: JupyterLab resolves links to notebooks only in plain HTML.
    values = {
        "format_minutes": format_minutes,
        "describe_beyond_core": describe_beyond_core,
        "state": state,
        "progress": progress,
        "lessons": list(zip(files, lessons, strict=True)),
        "going_on": following and (titles[following.stem], course.link(following.notebook)),
        "link": course.link,
        "core": CoreMinutes.together([now.core_minutes for _, now in lessons]),
        "all_beyond": describe_beyond_core([now for _, now in lessons]),
        "badges": badges(expected, progress),
        "due": len(due_questions(expected, progress, datetime.now(UTC))),
        "review": course.link(course.lesson("review").notebook),
    }
    page, text = (render(f"notebook/start_page.{kind}", **values) for kind in ("html", "txt"))
    return Feedback(page, text)
