"""The header of an exercise notebook, and hints at the press of a button."""

from IPython.display import display

from pytree_course.checking.checks import Checks, ExerciseCheck
from pytree_course.checking.feedback import Feedback
from pytree_course.checking.progress import Progress, standing
from pytree_course.widgets.base import Play, button
from pytree_course.widgets.controls import can_be_pressed, ipywidgets
from pytree_course.widgets.html import render


def show_progress(check: Checks) -> None:
    """Show how far the learner is, and keep it up to date as checks pass.

    From then on, wrong answers come with buttons for hints and, when it is due, the solution.
    """
    if check.is_graded:
        return
    # A solution notebook is nobody's own work.
    if check.progress.file is not None and can_be_pressed:
        check.present_with(show_with_buttons)
    display(Header(check))


class Header(Play):
    """Points, exercises, minutes left and the next step."""

    def __init__(self, check: Checks) -> None:
        self._check = check
        self._bar = ipywidgets.HTML()
        # Below a live view, of a learner who has not begun: a stored notebook has nobody's.
        progress = Progress.load(None) if can_be_pressed else check.progress
        static = standing(check.expected, progress)
        super().__init__([self._bar], Feedback(render("progress.html", now=static), str(static)))
        check.progress.watchers.append(self.update)
        self.update()

    def update(self) -> None:
        """Show the present progress."""
        now = standing(self._check.expected, self._check.progress)
        self._bar.value = render("progress.html", now=now)


def show_with_buttons(shown: Feedback, exercise: ExerciseCheck) -> None:
    """Show feedback, and below it buttons for what help there is."""
    display(shown)
    buttons = Help(exercise)
    if buttons.children:
        display(buttons)


class Help(Play):
    """Buttons that open the next hint, and the solution when it is due.

    They have no static form: the feedback above says how to ask for help in code.
    """

    def __init__(self, exercise: ExerciseCheck) -> None:
        self._exercise = exercise
        self._shown = ipywidgets.HTML()
        self._hint = button("", self._show_hint)
        self._solution = button("Show a solution", self._show_solution)
        super().__init__([], Feedback("", ""))
        self._update()

    def _show_hint(self) -> None:
        self._shown.value = self._exercise.next_hint().html
        self._update()

    def _show_solution(self) -> None:
        self._shown.value = self._exercise.solution_if_due().html

    def _update(self) -> None:
        left = self._exercise.hints_left
        self._hint.description = f"Hint ({left} left)" if left else "Show the hints again"
        buttons = [] if self._exercise.is_solved else [self._hint]
        if self._exercise.solution_is_due:
            buttons.append(self._solution)
        self.children = [ipywidgets.HBox(buttons), self._shown] if buttons else []
