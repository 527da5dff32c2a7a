"""What all widgets share: a live view, and a static form as HTML and as text."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets

from pytree_course.notebook.html import BORDER, EDGE
from pytree_course.rendering import Feedback

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
