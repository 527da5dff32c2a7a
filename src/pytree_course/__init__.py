"""A hands-on course on JAX pytrees: pictures and checks for its notebooks."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytree_course.checking.checks import Checks
    from pytree_course.drawing import draw

__all__ = ["Checks", "draw"]

_HOMES = {
    "Checks": "pytree_course.checking.checks",
    "count_traces": "pytree_course.widgets.trace_counter",
    "draw": "pytree_course.drawing",
    "explore": "pytree_course.widgets.explorer",
    "course_map": "pytree_course.widgets.start_page",
    "figure": "pytree_course.drawing.figures",
    "pair": "pytree_course.widgets.map_view",
    "predict": "pytree_course.widgets.prediction",
    "show_progress": "pytree_course.widgets.header",
    "steps": "pytree_course.widgets.stepper",
}


def __getattr__(name: str) -> Any:
    # Not imported until asked for: the command line and the IPython extension, which every kernel
    # loads, do without JAX.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
