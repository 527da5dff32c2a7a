"""The base of all widgets, a live view with a static form; and the buttons under a check."""

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import ipywidgets

from pytree_course.drawing.picture import LEAF
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES, VerdictLook, render
from pytree_course.rendering import Feedback

if TYPE_CHECKING:  # checks import this module only when they show buttons
    from pytree_course.notebook.checks import ExerciseCheck

BORDER = "1px solid var(--jp-border-color1, #8884)"
EDGE = f"4px solid {LEAF}"  # the left side; in feedback it has the colour of the verdict

FRAMES = {
    "good": VerdictLook("✓", "works", "solid", "var(--jp-info-color1, #0288d1)"),
    "bad": VerdictLook("✗", "fails", "dashed", "var(--jp-warn-color1, #d9730d)"),
}


def block(name: str, linking: str = "", *, framed: bool, **values: object) -> str:
    """Render a template inside an element with its own style rules.

    The rules are the style sheet's macro of the same name, where § stands for the element, and
    `linking`. A live widget draws its frame around its controls as well, and needs none here.
    """
    inner = render(f"notebook/{name}.html", **values)
    sheet = FEEDBACK_TEMPLATES.environment.get_template("notebook/styles.css").module
    own_style = getattr(sheet, name, str)
    style = f"{sheet.block()}{own_style()}{linking}"  # type: ignore[attr-defined]
    unique = "pt-" + hashlib.sha256((inner + style).encode()).hexdigest()[:8]
    # Doubling the class outranks the notebook's own rules for tables and code.
    rules = style.replace("§", f".{unique}.{unique}").strip()
    edges = f"border:{BORDER};border-left:{EDGE}" if framed else ""
    return render("notebook/block.html", unique=unique, edges=edges, rules=rules, inner=inner)


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
    sides = {f"border_{side}": BORDER for side in ("top", "right", "bottom")}
    return ipywidgets.Layout(**sides, border_left=EDGE, padding="8px 14px", margin="2px 0")


def button(description: str, action: Callable[[], object], tooltip: str = "") -> ipywidgets.Button:
    """Make a button as wide as its label."""
    made = ipywidgets.Button(description=description, tooltip=tooltip, layout={"width": "auto"})
    made.on_click(lambda _: action())
    return made


class Help(Play):
    """Buttons under a check's feedback: the next hint, and the solution when it is due.

    They have no static form: the feedback says how to ask for help in code.
    """

    def __init__(self, exercise: "ExerciseCheck") -> None:
        self._exercise = exercise
        self._shown = ipywidgets.HTML()
        self._hint = button("", self._show_hint)
        self._solution = button("Show a solution", self._show_solution)
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
        if self._exercise.solution_is_due:
            buttons.append(self._solution)
        self.children = [ipywidgets.HBox(buttons), self._shown] if buttons else []
