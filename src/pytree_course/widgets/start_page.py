"""The map of the course: its lessons, how far you are, and your badges."""

from collections.abc import Sequence
from html import escape

from pytree_course.checking.badges import Badge, badges
from pytree_course.checking.expected import Expected
from pytree_course.checking.feedback import Feedback
from pytree_course.checking.progress import Progress
from pytree_course.checking.standing import standing
from pytree_course.course import Course
from pytree_course.widgets.header import progress_html


def course_map() -> Feedback:
    """Show the lessons that are here, the learner's progress in each, and the badges."""
    course = Course.find()
    lessons = [Expected.read(files.expected) for files in course.lessons()]
    progress = Progress.load(course.progress_file)
    # No widget: only in plain HTML does JupyterLab see to it that links open notebooks.
    return Feedback(_map_html(lessons, progress), _map_text(lessons, progress))


def _map_text(lessons: Sequence[Expected], progress: Progress) -> str:
    lines = [f"{lesson.title}: {standing(lesson, progress)}" for lesson in lessons]
    lines += [
        f"{badge.symbol} {badge.name} ({_word(badge)}): {badge.how}"
        for badge in badges(lessons, progress)
    ]
    return "\n".join(lines)


def _map_html(lessons: Sequence[Expected], progress: Progress) -> str:
    cards = "".join(_lesson_html(lesson, progress) for lesson in lessons)
    medals = "".join(map(_badge_html, badges(lessons, progress)))
    return (
        '<div style="max-width:60em;line-height:1.5">'
        f'<ol style="list-style:none;margin:0;padding:0">{cards}</ol>'
        '<p style="margin:14px 0 4px"><b>Badges</b></p>'
        '<ul style="list-style:none;margin:0;padding:0;display:grid;gap:8px;'
        f'grid-template-columns:repeat(auto-fill,minmax(13em,1fr))">{medals}</ul></div>'
    )


def _lesson_html(lesson: Expected, progress: Progress) -> str:
    bar = progress_html(standing(lesson, progress))
    return (
        '<li style="border:1px solid var(--jp-border-color1, #8884);border-radius:6px;'
        'padding:10px 16px;margin:0 0 10px">'
        f"<b>{escape(lesson.title)}</b><br>"
        f'<a href="{lesson.lesson}.ipynb">Open the lesson</a> · '
        f'<a href="../exercises/{lesson.lesson}.ipynb">Open its exercises</a>{bar}</li>'
    )


def _badge_html(badge: Badge) -> str:
    line = "solid 2px var(--jp-brand-color1, #1976d2)" if badge.earned else "dashed 1px #888"
    return (
        f'<li style="border:{line};border-radius:6px;padding:6px 12px">'
        f'<span aria-hidden="true">{badge.symbol}</span> <b>{escape(badge.name)}</b> '
        f"({_word(badge)})<br>{escape(badge.how)}</li>"
    )


def _word(badge: Badge) -> str:
    return "earned" if badge.earned else "to earn"
