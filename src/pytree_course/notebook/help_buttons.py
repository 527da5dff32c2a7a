"""Buttons below a wrong answer's feedback: hints, and the solution when it is due."""

import ipywidgets

from pytree_course.notebook.base import Play, button
from pytree_course.notebook.checks import ExerciseCheck
from pytree_course.rendering import Feedback


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
