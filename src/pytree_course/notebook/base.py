"""The base of all widgets: a live view, a static form as HTML and text, and its style sheet."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from pytree_course.drawing.picture import LEAF
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES, VerdictLook, render
from pytree_course.rendering import Feedback

BORDER = "1px solid var(--jp-border-color1, #8884)"
EDGE = f"4px solid {LEAF}"  # the left side, which feedback has in the colour of its verdict

FRAMES = {
    "good": VerdictLook("✓", "works", "solid", "var(--jp-info-color1, #0288d1)"),
    "bad": VerdictLook("✗", "fails", "dashed", "var(--jp-warn-color1, #d9730d)"),
}


def block(name: str, linking: str = "", *, framed: bool, **values: object) -> str:
    """Fill a template inside an element that has style rules of its own.

    They are those of the same name in the style sheet, where § stands for the element, and those of
    `linking`. A live widget draws its frame around its controls too, and so needs none here.
    """
    inner = render(f"notebook/{name}.html", **values)
    sheet = FEEDBACK_TEMPLATES.environment.get_template("notebook/styles.css").module
    own_style = getattr(sheet, name, str)
    style = f"{sheet.block()}{own_style()}{linking}"  # type: ignore[attr-defined]
    unique = "pt-" + hashlib.sha256((inner + style).encode()).hexdigest()[:8]
    # The class twice outranks the notebook's own rules for tables and code.
    rules = style.replace("§", f".{unique}.{unique}").strip()
    edges = f"border:{BORDER};border-left:{EDGE}" if framed else ""
    return render("notebook/block.html", unique=unique, edges=edges, rules=rules, inner=inner)


WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
"""MIME type of a live widget; without the kernel that made it there is nothing to show."""


class Play(ipywidgets.VBox):
    """A widget with a static form of its first state, which needs no kernel and no script.

    Stored notebooks, print, slides and terminals show that form. It must be the same, byte for
    byte, whenever the same cell is run: stored notebooks are compared with a new run.
    """

    def __init__(
        self, children: Sequence[ipywidgets.Widget], static: Feedback, **traits: Any
    ) -> None:
        self.static = static
        super().__init__(children, **traits)

    # IPython would call ipywidgets 7's own, which knows no static form.
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
    """Return a live widget's frame, the same as that of its static form."""
    sides = {f"border_{side}": BORDER for side in ("top", "right", "bottom")}
    return ipywidgets.Layout(**sides, border_left=EDGE, padding="8px 14px", margin="2px 0")


def button(description: str, action: Callable[[], object], tooltip: str = "") -> ipywidgets.Button:
    """Make a button as wide as its words."""
    made = ipywidgets.Button(description=description, tooltip=tooltip, layout={"width": "auto"})
    made.on_click(lambda _: action())
    return made
