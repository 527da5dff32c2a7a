"""The map of the course: its lessons, how far you are, and your badges."""

from pytree_course.checking.badges import badges
from pytree_course.checking.expected import ExpectedFile
from pytree_course.checking.feedback import Feedback
from pytree_course.checking.progress import Progress, standing
from pytree_course.course import Course
from pytree_course.widgets.html import render


def course_map() -> Feedback:
    """Show the lessons that are here, the learner's progress in each, and the badges."""
    course = Course.find()
    progress = Progress.load(course.progress_file)
    files = course.lessons()
    expected = [ExpectedFile(each.expected).without_observations() for each in files]
    lessons = [(lesson, standing(lesson, progress)) for lesson in expected]
    links = [(course.link(each.notebook), course.link(each.exercises)) for each in files]
    medals = badges(expected, progress)
    lines = [f"{lesson.title}: {now}" for lesson, now in lessons]
    for badge in medals:
        word = "earned" if badge.earned else "to earn"
        lines.append(f"{badge.symbol} {badge.name} ({word}): {badge.how}")
    # No widget: only in plain HTML does JupyterLab see to it that links open notebooks.
    return Feedback(
        render("start_page.html", lessons=lessons, links=links, badges=medals), "\n".join(lines)
    )
