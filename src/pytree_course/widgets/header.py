"""The header of an exercise notebook, and hints at the press of a button."""

from collections.abc import Callable
from html import escape

import ipywidgets
from IPython.display import display

from pytree_course.checking.checks import Checks, ExerciseCheck
from pytree_course.checking.feedback import Feedback
from pytree_course.checking.progress import Progress
from pytree_course.checking.standing import Standing, standing
from pytree_course.widgets.base import Play


def show_progress(check: Checks) -> None:
    """Show how far the learner is, and keep it up to date as checks pass.

    From then on, wrong answers come with buttons for hints and, when it is due, the solution.

    Parameters
    ----------
    check
        The lesson's checks.
    """
    if check.is_graded:
        return
    if check.progress.file is not None:  # a solution notebook is nobody's own work
        check.present_with(show_with_buttons)
    display(Header(check))


class Header(Play):
    """Points, exercises, minutes left and the next step."""

    def __init__(self, check: Checks) -> None:
        self._check = check
        self._bar = ipywidgets.HTML()
        super().__init__([self._bar])
        check.progress.watchers.append(self.update)
        self.update()

    def update(self) -> None:
        """Show the present progress."""
        self._bar.value = progress_html(standing(self._check.expected, self._check.progress))

    def static_html(self) -> str:
        """Return the header of somebody who has not begun."""
        return progress_html(standing(self._check.expected, Progress.load(None)))

    def static_text(self) -> str:
        """Return the header of somebody who has not begun, as one line."""
        return str(standing(self._check.expected, Progress.load(None)))


def progress_html(now: Standing) -> str:
    """Return a progress bar with its facts in words."""
    percent = round(100 * now.points / now.all_points) if now.all_points else 0
    words = f"{now.solved} of {now.exercises} exercises · {now.points} of {now.all_points} points"
    if now.todo:
        step = now.todo[0]
        words += f" · about {now.minutes_left} minutes left"
        advice = f"Next: <b>{escape(step.title)}</b> ({'★' * step.stars}, {step.minutes} minutes)"
    else:
        advice = "<b>All done.</b> Well done!"
    return f"""\
<div role="group" aria-label="Your progress" style="max-width:60em;line-height:1.6">
<div role="progressbar" aria-label="Points" aria-valuemin="0" aria-valuemax="{now.all_points}"
 aria-valuenow="{now.points}" style="height:8px;border-radius:4px;
 border:1px solid var(--jp-border-color0, #8888);overflow:hidden">
<div style="width:{percent}%;height:100%;background:var(--jp-brand-color1, #1976d2)"></div></div>
<div>{words}</div><div>{advice}</div></div>"""


def show_with_buttons(shown: Feedback, exercise: ExerciseCheck) -> None:
    """Show feedback, and below it buttons for what help there is."""
    display(shown)
    buttons = Help(exercise)
    if buttons.children:
        display(buttons)


class Help(Play):
    """Buttons that open the next hint, and the solution when it is due."""

    def __init__(self, exercise: ExerciseCheck) -> None:
        self._exercise = exercise
        self._shown = ipywidgets.HTML()
        self._hint = _button(self._show_hint)
        self._solution = _button(self._show_solution)
        super().__init__()
        self._update()

    def _show_hint(self) -> None:
        self._shown.value = self._exercise.next_hint().html
        self._update()

    def _show_solution(self) -> None:
        self._shown.value = self._exercise.solution_if_due().html

    def _update(self) -> None:
        left = self._exercise.hints_left
        self._hint.description = f"Hint ({left} left)" if left else "Show the hints again"
        self._solution.description = "Show a solution"
        solved = self._exercise.is_solved
        buttons = [] if solved else [self._hint]
        if self._exercise.solution_is_due:
            buttons.append(self._solution)
        self.children = [ipywidgets.HBox(buttons), self._shown] if buttons else []

    def static_html(self) -> str:
        """Return nothing: the feedback above says how to ask for help in code."""
        return ""

    def static_text(self) -> str:
        """Return nothing: the feedback above says how to ask for help in code."""
        return ""


def _button(action: Callable[[], None]) -> ipywidgets.Button:
    button = ipywidgets.Button(layout={"width": "auto"})
    button.on_click(lambda _: action())
    return button
