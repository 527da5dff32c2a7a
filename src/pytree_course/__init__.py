"""A hands-on course on JAX pytrees: pictures and checks for its notebooks."""

import importlib
from typing import TYPE_CHECKING, Any

from pytree_course.notebook import NAMES

if TYPE_CHECKING:
    from pytree_course.drawing import draw
    from pytree_course.notebook.checks import Checks

__all__ = ["Checks", "draw"]


def __getattr__(name: str) -> Any:
    # Not imported until asked for: the command line and the IPython extension, which every kernel
    # loads, do without JAX.
    if name in NAMES:
        return getattr(importlib.import_module(NAMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
