"""What widgets share: a static form, a frame, short texts; and the buttons under a check."""

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets
import jax
import numpy as np

from pytree_course.drawing.picture import LEAF
from pytree_course.judging.feedback import VerdictLook
from pytree_course.observing.observations import Array
from pytree_course.observing.observe import observe
from pytree_course.observing.words import expression, first_numbers, summary
from pytree_course.rendering import Feedback
from pytree_course.texts import shorten

if TYPE_CHECKING:  # checks import this module only when they show buttons
    from pytree_course.notebook.checks import ExerciseCheck

MAX_VALUE = 40  # characters
MAX_ERROR = 160
MAX_NUMBERS = 4  # of an array
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

BORDER = "1px solid var(--jp-border-color1, #8884)"
EDGE = f"4px solid {LEAF}"  # the left side; in feedback it has the colour of the verdict

FRAMES = {
    "good": VerdictLook("✓", "works", "solid", "var(--jp-info-color1, #0288d1)"),
    "bad": VerdictLook("✗", "fails", "dashed", "var(--jp-warn-color1, #d9730d)"),
}

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
"""MIME type of a live widget, which shows nothing without its kernel."""


class Play(ipywidgets.VBox):
    """A widget with a static form of its first state, which needs neither kernel nor script.

    Stored notebooks, print, slides and terminals show the static form. It must be reproducible
    byte for byte: tests compare stored notebooks with a new run.
    """

    def __init__(
        self, children: Sequence[ipywidgets.Widget], static: Feedback, **traits: Any
    ) -> None:
        self.static = static
        super().__init__(children, **traits)

    # Otherwise IPython would call that of ipywidgets 7, which has no static form.
    _ipython_display_ = None

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = self.static._repr_mimebundle_()
        if self.comm is None:
            return bundle
        view = {"version_major": 2, "version_minor": 0, "model_id": self.comm.comm_id}
        return bundle | {WIDGET_MIME: view}

    def __repr__(self) -> str:
        return self.static.text


def frame_layout() -> ipywidgets.Layout:
    """Return the layout that draws the same frame as the static form has."""
    return ipywidgets.Layout(
        border_top=BORDER,
        border_right=BORDER,
        border_bottom=BORDER,
        border_left=EDGE,
        padding="8px 14px",
        margin="2px 0",
    )


def make_button(label: str, action: Callable[[], object], tooltip: str = "") -> ipywidgets.Button:
    """Make a button as wide as its label."""
    widget = ipywidgets.Button(description=label, tooltip=tooltip, layout={"width": "auto"})
    widget.on_click(lambda _: action())
    return widget


# --- short, reproducible texts for values and errors: no addresses, rounded floats


def describe(value: Any) -> str:
    """Describe a value, with its numbers if they are few."""
    if isinstance(value, (jax.Array, np.ndarray)) and not isinstance(value, jax.core.Tracer):
        return _describe_array(value)
    if isinstance(value, float):
        return str(value) if value.is_integer() else f"{value:.5g}"
    return shorten(expression(observe(value, values=False)), MAX_VALUE)


def repr_text(value: Any) -> str:
    """Return the `repr` of metadata, or a description if that contains an address."""
    if isinstance(value, (jax.Array, np.ndarray)):
        return describe(value)
    text = " ".join(repr(value).split())
    if _ADDRESS.search(text):
        text = expression(observe(value, values=False))
    return shorten(text, MAX_VALUE)


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align rows of cells: each column is as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def remove_addresses(text: str) -> str:
    """Remove memory addresses, which differ in each run."""
    return _ADDRESS.sub("", text)


def function_name(function: object) -> str:
    """Return a function's name, or "f" for a lambda and other nameless callables."""
    name = getattr(function, "__name__", None)
    return shorten(name, MAX_VALUE) if isinstance(name, str) and name.isidentifier() else "f"


def error_words(error: BaseException) -> str:
    """Return an error's type and message, as in the last line of a traceback."""
    message = error.msg if isinstance(error, SyntaxError) else str(error).strip()
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def error_line(error: BaseException) -> str:
    """Return an error's type and the first line of its message."""
    return shorten(error_words(error).partition("\n")[0], MAX_ERROR)


def _describe_array(array: Any) -> str:
    observed = observe(array, values=array.size <= MAX_NUMBERS)
    if not isinstance(observed, Array) or not observed.values:
        return summary(observed)
    # The last digits of a float depend on the machine.
    rounded = [
        float(f"{item:.4g}") if isinstance(item, float) else item for item in observed.values
    ]
    numbers = first_numbers(rounded)
    if array.ndim > 0:
        numbers = f"[{numbers}]"
    return f"{summary(observed)} {numbers}"


# --- help with an exercise


class Help(Play):
    """Buttons under a check's feedback: the next hint, and the solution when it is due.

    They have no static form: the feedback says how to ask for help in code.
    """

    def __init__(self, exercise: "ExerciseCheck") -> None:
        self._exercise = exercise
        self._shown = ipywidgets.HTML()
        self._buttons = ipywidgets.HBox()  # the same one throughout: its button keeps the focus
        self._hint = make_button("", self._show_hint)
        self._solution = make_button("Show a solution", self._show_solution)
        super().__init__([], Feedback("", ""))
        self.add_class("pytree-help")  # by which `jupyter/lab_extension.js` keeps it in sight
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
        if self._exercise.is_solution_due:
            buttons.append(self._solution)
        self._buttons.children = buttons
        self.children = [self._buttons, self._shown] if buttons else []
