"""ipywidgets; or, where it cannot be imported, controls that only hold their values."""

from functools import cache
from types import SimpleNamespace
from typing import Any

from IPython.display import display

from pytree_course.checking.feedback import note

MISSING = (
    "Buttons and sliders need `ipywidgets`, which this Python cannot import. You see a still "
    "picture of their first state; everything else works. To get buttons and sliders, install "
    "`ipywidgets` (in a notebook: `%pip install ipywidgets`), then restart the kernel."
)


@cache
def say_what_is_missing() -> None:
    """Say once why nothing can be pressed."""
    display(note("→", "Still pictures instead of widgets", [MISSING]))


class Still:
    """A control that cannot be pressed."""

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
    """Make a control of a short form that `ipywidgets.interact` takes; of a range, its low end."""
    match abbreviation:
        case Still():
            return abbreviation
        case bool() | str() | int() | float():
            return Still(value=abbreviation)
        case (int() | float() as low, int() | float()) | (int() | float() as low, _, _):
            return Still(value=low)
    return None


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
