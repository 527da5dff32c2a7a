"""The map of the course: both ways through it, how far you are, and your badges."""

from dataclasses import dataclass
from datetime import datetime

from pytree_course.checking.badges import badges
from pytree_course.checking.expected import Expected
from pytree_course.checking.feedback import Feedback
from pytree_course.checking.progress import Progress
from pytree_course.checking.standings import Standing, Way, hours, standing
from pytree_course.course import GOING_DEEPER, Course, LessonFiles
from pytree_course.rendering import render

AS_BUILT = "This is how everybody begins. Run this cell to see your own progress."
AS_OF = "Your progress on {time}. Run this cell again to see what has come since."

RULE = (
    "The minutes are the author’s estimate. The course cannot see what you read. A section counts "
    "as read when you have made its last prediction, or solved an exercise about it. In the core, "
    "all sections above it count as read, too. A section without a prediction counts together "
    "with the next section that has one."
)
"""How the time left is reckoned, in a learner's words; `unread_sections` does it."""


@dataclass(frozen=True)
class LessonOnMap:
    """A lesson, how far the learner is in it, and the links into it; "" where none leads there."""

    title: str
    now: Standing
    link: str
    deeper: str
    exercises: str
    next: str  # to the next exercise


def course_map() -> Feedback:
    """Show the lessons that are here, the learner's progress in each, and the badges."""
    course = Course.find()
    progress = Progress.load(course.progress_file)
    # What is shown stays in the notebook, where it is read again when more has been done.
    state = AS_BUILT
    if course.progress_file is not None:
        state = AS_OF.format(time=f"{datetime.now():%d %B, %H:%M}".lstrip("0"))
    files = course.lessons()
    expected = [Expected.read(each.expected) for each in files]
    lessons = [
        _on_map(course, each, lesson, progress)
        for each, lesson in zip(files, expected, strict=True)
    ]
    core = Way.together([lesson.now.core for lesson in lessons])
    everything = Way.together([lesson.now.everything for lesson in lessons])
    medals = badges(expected, progress)
    lines = [state]
    lines += [f"{lesson.title}: {lesson.now}" for lesson in lessons]
    if core.exercises:
        lines.append(f"The core of all lessons: {core}")
    lines.append(f"Everything: {everything}")
    for badge in medals:
        word = "earned" if badge.earned else "to earn"
        lines.append(f"{badge.symbol} {badge.name} ({word}): {badge.how}")
    # No widget: only in plain HTML does JupyterLab see to it that links open notebooks.
    shown = render(
        "widgets/start_page.html",
        hours=hours,
        state=state,
        lessons=lessons,
        core=core,
        everything=everything,
        rule=RULE,
        badges=medals,
    )
    return Feedback(shown, "\n".join(lines))


def _on_map(
    course: Course, files: LessonFiles, lesson: Expected, progress: Progress
) -> LessonOnMap:
    has_deeper = any(section.deeper for section in lesson.sections.values())
    now = standing(lesson, progress)
    return LessonOnMap(
        title=lesson.title,
        now=now,
        link=course.link(files.notebook),
        deeper=course.link(files.notebook, GOING_DEEPER) if has_deeper else "",
        exercises=course.link(files.exercises),
        next=course.link(files.exercises, now.next.title) if now.next else "",
    )
