"""The header of an exercise notebook: points, minutes left and the next step."""

from IPython.display import display

from pytree_course.learner.standings import hours, standing
from pytree_course.notebook.checks import Checks
from pytree_course.rendering import Feedback, render


def show_progress(check: Checks) -> None:
    """Show how far the learner is, and keep it up to date as checks pass."""
    if check.is_graded:
        return
    # An output that is shown anew, and no widget: ipywidgets would take most of the set-up cell.
    shown = display(header(check), display_id=True)
    # A solution notebook is nobody's own work, and without a notebook nothing was shown.
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
