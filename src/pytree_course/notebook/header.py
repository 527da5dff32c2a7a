"""The header of an exercise notebook: points, minutes left and the next step."""

from IPython.display import display

from pytree_course.learner.standings import hours, standing
from pytree_course.notebook.checks import Checks
from pytree_course.rendering import Feedback, render


def show_progress(check: Checks) -> None:
    """Show how far the learner is, and update it whenever a check passes."""
    if not check.is_own_work or check.is_graded:
        return
    # An updated output, not a widget: ipywidgets would take most of the set-up cell's time.
    shown = display(header(check), display_id=True)
    # Without a notebook, nothing was shown.
    if check.progress.file is not None and shown is not None:
        check.progress.watchers.append(lambda: shown.update(header(check)))


def header(check: Checks) -> Feedback:
    """Return the present progress, as the set-up cell shows it."""
    now = standing(check.expected, check.progress)
    following = check.next_lesson() if now.core_is_done or now.next is None else None
    shown = render(
        "notebook/progress.html",
        hours=hours,
        now=now,
        check=check,
        following=following,
    )
    return Feedback(shown, str(now))
