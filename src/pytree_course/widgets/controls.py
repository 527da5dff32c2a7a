"""ipywidgets; or, where it cannot be imported, controls that only hold their values."""

from functools import cache
from types import SimpleNamespace
from typing import Any

from IPython.display import display

from pytree_course.checking.feedback import note

MISSING = (
    "Buttons and sliders need `ipywidgets`, which cannot be imported here, so you see their "
    "first state. All the rest works. To have them, install `ipywidgets` (in a notebook: "
    "`%pip install ipywidgets`), then restart the kernel."
)


@cache
def say_what_is_missing() -> None:
    """Say once why nothing can be pressed."""
    display(note("→", "Still pictures instead of widgets", [MISSING]))


class Still:
    """A control that nobody can press."""

    comm = None
    description = tooltip = ""

    def __init__(self, children: object = (), **values: Any) -> None:
        say_what_is_missing()
        vars(self).update(values, children=children)

    def observe(self, *_: object, **__: object) -> None:
        """Take what is called after a change: nothing is changed by hand."""

    add_class = on_click = observe

    def has_trait(self, name: str) -> bool:
        """Return whether there is a value of this name."""
        return hasattr(self, name)


class StillChoice(Still):
    """One of several options: the first."""

    def __init__(self, options: Any, **values: Any) -> None:
        pairs = options.items() if isinstance(options, dict) else options
        named = [pair if isinstance(pair, tuple) else (str(pair), pair) for pair in pairs]
        self._options_values = tuple(value for _, value in named)
        super().__init__(**{"value": self._options_values[0], **values}, index=0, options=named)


def still_control(abbreviation: Any) -> Still | None:
    """Make the control that `ipywidgets.interact` makes of a short form."""
    match abbreviation:
        case Still():
            return abbreviation
        case bool() | str():
            return Still(value=abbreviation)
        case int() | float():
            low, high = sorted((-abbreviation, 3 * abbreviation)) if abbreviation else (0, 1)
            return _slider(low, high, value=abbreviation)
        case (int() | float(), int() | float()) | (int() | float(), int() | float(), _):
            return _slider(*abbreviation)
    return None


def _slider(low: float, high: float, step: float = 0, value: float | None = None) -> Still:
    whole = isinstance(low + high + step, int)
    middle = low + ((high - low) // 2 if whole else (high - low) / 2)
    if step:
        middle = low + int((middle - low) / step) * step
    start = middle if value is None else value
    return Still(min=low, max=high, step=step or (1 if whole else 0.1), value=start)


try:
    import ipywidgets as ipywidgets
except ImportError:
    plain = dict.fromkeys(
        ("BoundedIntText", "Button", "HBox", "HTML", "Layout", "Text", "VBox", "Widget"), Still
    )
    choices = dict.fromkeys(("SelectionSlider", "ToggleButtons"), StillChoice)
    interactive = SimpleNamespace(widget_from_abbrev=still_control)
    ipywidgets = SimpleNamespace(**plain, **choices, interactive=interactive)

can_be_pressed = ipywidgets.Widget is not Still
