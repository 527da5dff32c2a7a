"""Count the traces of a jitted function while its arguments change, and say why each happened."""

from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets
import jax

from pytree_course.checking.feedback import Feedback
from pytree_course.drawing.colours import LEAF, MARK
from pytree_course.drawing.vector import FONT
from pytree_course.rendering import render
from pytree_course.texts import counted
from pytree_course.widgets.base import Play, button
from pytree_course.widgets.html import FRAMES
from pytree_course.widgets.trace_log import LoggedCall, TraceLog
from pytree_course.widgets.value_texts import aligned, function_name

MOST_BUTTONS = 6

# Of the plot of traces against calls, whose other measures are in its template.
STEP = 26  # between calls, while they are few
WIDEST = 420
NARROWEST = 160


def count_traces(
    function: Callable[..., Any],
    make_arguments: Callable[..., Any] | None = None,
    /,
    *,
    jit: Callable[..., Any] = jax.jit,
    **controls: Any,
) -> "TraceCounter":
    """Call a function under ``jax.jit`` with sliders and menus, and see when and why JAX traces it.

    At first it is called with the controls' first values, with the same again, and with each
    control one step on and back.

    Parameters
    ----------
    function
        The Python function, not jitted yet: it is jitted here, with a counter inside.
    make_arguments
        Given the controls' values by name, returns the function's arguments: a tuple of them, or
        anything else for a single one. Without it, the controls are the arguments, by name.
    jit
        Used in place of ``jax.jit``, for example
        ``functools.partial(jax.jit, static_argnames="n")`` or ``equinox.filter_jit``.
    **controls
        Short forms of controls, as ``ipywidgets.interact`` takes them: ``(1, 8)`` is a slider,
        a list or a dict is a choice, True or False a box to tick, and a control is itself.

    Examples
    --------
    >>> count_traces(lambda x: x * 2, jax.numpy.ones, shape=[2, 3])
    """
    if hasattr(function, "lower"):
        raise TypeError(
            "count_traces takes the Python function, before jax.jit: it jits it itself, with a "
            "counter inside. Options go into jit=functools.partial(jax.jit, ...)."
        )
    return TraceCounter(TraceLog(function, make_arguments, jit), _controls(controls))


class TraceCounter(Play):
    """Controls, by the names of what they set; a plot of traces against calls; and their log."""

    def __init__(self, log: TraceLog, controls: dict[str, Any]) -> None:
        self.trace_log = log
        self.controls = controls
        self.name = function_name(log.function)
        self._call_first()
        values = {"plot": trace_plot(log.plotted), "frame": FRAMES["good"], "is_live": False}
        html = self._html("widgets/trace_counter.html", log.rows, **values)
        static = Feedback(html, self._text())
        self._headline, self._plot, self._table = (ipywidgets.HTML() for _ in range(3))
        self.again = button("Call again with the same values", self._call)
        self.empty = button("Clear", self._clear, "Empty the log and let JAX forget all traces")
        shown = [control for control in controls.values() if isinstance(control, ipywidgets.Widget)]
        for control in shown:
            # Only the index tells which of two equal values, such as 1 and 1.0, is chosen.
            trait = "index" if _is_choice(control) else "value"
            control.observe(lambda _: self._call(), names=trait)
        buttons = ipywidgets.HBox([self.again, self.empty], layout={"flex_flow": "row wrap"})
        steering = ipywidgets.VBox([*shown, buttons], layout={"justify_content": "center"})
        middle = ipywidgets.HBox(
            [steering, self._plot], layout={"flex_flow": "row wrap", "align_items": "center"}
        )
        super().__init__([self._headline, middle, self._table], static)
        self.add_class("pytree-traces")
        self._update()

    @property
    def values(self) -> dict[str, Any]:
        """The controls' present values."""
        return {
            name: control._options_values[control.index] if _is_choice(control) else control.value
            for name, control in self.controls.items()
        }

    @property
    def headline(self) -> str:
        """How often it was called and traced."""
        traces = counted(self.trace_log.traces, "trace", "traces")
        return f"{traces} in {counted(self.trace_log.calls, 'call', 'calls')}"

    def _call_first(self) -> None:
        """Call twice with the first values, then with each control one step on and back."""
        self.trace_log.call(self.values)
        self.trace_log.call(self.values)
        for control in self.controls.values():
            for trait, value in _step_and_back(control):
                setattr(control, trait, value)
                self.trace_log.call(self.values)

    def _call(self) -> None:
        self.trace_log.call(self.values)
        self._update()

    def _clear(self) -> None:
        self.trace_log.clear()
        self._update()

    def _update(self) -> None:
        rows = self.trace_log.rows[::-1]
        self._headline.value = self._html("widgets/trace_headline.html", rows, is_live=True)
        self._plot.value = trace_plot(self.trace_log.plotted)
        self._table.value = self._html("widgets/trace_table.html", rows, is_live=True)

    def _html(self, template: str, rows: Sequence[LoggedCall], **values: object) -> str:
        return render(template, counter=self, rows=rows, **values)

    def _text(self) -> str:
        table = [["call", *self.controls, "trace", "result", "why"]]
        for row in self.trace_log.rows:
            cells = [*row.controls.values(), row.outcome_words, row.result, row.why]
            table.append([str(row.number), *cells])
        return "\n".join([f"{self.name} · {self.headline}", "", *aligned(table)])


def _controls(abbreviations: dict[str, Any]) -> dict[str, Any]:
    controls = {}
    for name, abbreviation in abbreviations.items():
        if isinstance(abbreviation, (list, dict)):
            control = _choice(name, abbreviation)
        else:
            control = ipywidgets.interactive.widget_from_abbrev(abbreviation)
        if control is None:
            raise ValueError(f"{name}={abbreviation!r} cannot be made into a control")
        if isinstance(control, ipywidgets.Widget):
            control.description = control.description or name
            # The second is ipywidgets 7's name.
            tip = "tooltip" if control.has_trait("tooltip") else "description_tooltip"
            setattr(control, tip, getattr(control, tip) or name)
            if control.has_trait("continuous_update"):
                # A call for each stop of a slider, not for each pixel on its way.
                control.continuous_update = False
        controls[name] = control
    return controls


def _choice(name: str, options: list[Any] | dict[str, Any]) -> Any:
    """Make buttons or a slider to choose with.

    JupyterLab takes the arrow keys away from a dropdown, so that it can't be used by keyboard.
    """
    if len(options) > MOST_BUTTONS:
        return ipywidgets.SelectionSlider(options=options)
    tooltips = [f"{name}: {option}" for option in options]
    return ipywidgets.ToggleButtons(
        options=options, tooltips=tooltips, style={"button_width": "auto"}
    )


def _is_choice(control: Any) -> bool:
    """Whether the control chooses one of several options, and has one chosen already."""
    return isinstance(getattr(control, "index", None), int) and hasattr(control, "_options_values")


def _step_and_back(control: Any) -> list[tuple[str, Any]]:
    """Return what to set to take a control one step on, and then back, if there is a step."""
    if _is_choice(control):
        following = (control.index + 1) % len(control.options)
        return [("index", following), ("index", control.index)] if following else []
    value = control.value
    if isinstance(value, bool):
        return [("value", not value), ("value", value)]
    if isinstance(value, (int, float)) and hasattr(control, "max"):
        up = value + control.step <= control.max
        return [("value", value + control.step if up else value - control.step), ("value", value)]
    return []


def trace_plot(calls: Sequence[LoggedCall]) -> str:
    """Draw how the number of traces grew with the calls, oldest first, as an `<svg>`."""
    step = min(STEP, WIDEST / max(len(calls), 1))
    return render(
        "widgets/trace_plot.html",
        calls=calls,
        step=step,
        width=max(round(step * len(calls)), NARROWEST),
        every=max(1, round(24 / step)),  # a number below each call would not fit
        font=FONT,
        line=LEAF,
        cross=MARK,
    )
