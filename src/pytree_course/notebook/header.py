"""The header of an exercise notebook: points, minutes left and the next step."""

from IPython.display import display

from pytree_course.learner.standings import hours, standing
from pytree_course.notebook.checks import Checks, ExerciseCheck
from pytree_course.rendering import Feedback, render


def show_progress(check: Checks) -> None:
    """Show how far the learner is, and keep it up to date as checks pass.

    From then on, wrong answers come with buttons for hints and, when it is due, the solution.
    """
    if check.is_graded:
        return
    # An output that is shown anew, and no widget: ipywidgets would take most of the set-up cell.
    shown = display(header(check), display_id=True)
    # A solution notebook is nobody's own work.
    if check.progress.file is None:
        return
    check.presenter = show_with_buttons
    if shown is not None:  # there is a notebook that it is shown in
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


def show_with_buttons(shown: Feedback, exercise: ExerciseCheck) -> None:
    """Show feedback, and below it buttons for what help there is."""
    display(shown)
    # Once the verdict is there: ipywidgets, which the buttons need, takes longer than the check.
    from pytree_course.notebook.help_buttons import Help

    if (buttons := Help(exercise)).children:
        display(buttons)
