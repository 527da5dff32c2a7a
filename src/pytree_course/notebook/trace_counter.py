"""Count the traces of a jitted function as its arguments change, with the reason for each."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets
import jax

from pytree_course.notebook.base import FRAMES, Play, button
from pytree_course.notebook.trace_log import TraceLog
from pytree_course.notebook.value_texts import aligned, function_name
from pytree_course.rendering import Feedback, render
from pytree_course.texts import counted


def count_traces(
    function: Callable[..., Any],
    make_arguments: Callable[..., Any] | None = None,
    /,
    *,
    jit: Callable[..., Any] = jax.jit,
    **choices: Iterable[Any] | Mapping[str, Any],
) -> "TraceCounter":
    """Call a function under ``jax.jit`` with chosen values, and show when and why JAX traces it.

    It starts with two calls with the first value of each choice; then it moves each choice one
    value on and back.

    Parameters
    ----------
    function
        The Python function, not jitted yet: it is jitted here, with a counter inside.
    make_arguments
        Takes the chosen values by name and returns the function's arguments: a tuple of them, or
        a single one. By default, the chosen values are the arguments, by name.
    jit
        A replacement for ``jax.jit``, for example
        ``functools.partial(jax.jit, static_argnames="n")`` or ``equinox.filter_jit``.
    **choices
        For each argument, the values to choose from, or a dict from labels to values.

    Examples
    --------
    >>> count_traces(lambda x: x * 2, jax.numpy.ones, shape=[2, 3])
    """
    if hasattr(function, "lower"):
        raise TypeError(
            "count_traces takes the Python function, before jax.jit: it jits it itself, with a "
            "counter inside. Options go into jit=functools.partial(jax.jit, ...)."
        )
    controls = {name: _buttons(name, values) for name, values in choices.items()}
    return TraceCounter(TraceLog(function, make_arguments, jit), controls)


class TraceCounter(Play):
    """The widget: buttons that choose values, and the log of calls."""

    def __init__(self, log: TraceLog, controls: dict[str, ipywidgets.ToggleButtons]) -> None:
        self.trace_log = log
        self.controls = controls
        self.name = function_name(log.function)
        self._call_first()
        html = self._html("trace_counter", frame=FRAMES["good"], is_live=False)
        self._live = ipywidgets.HTML()
        self.again = button("Call again with the same values", self._call)
        for control in controls.values():
            # Only the index distinguishes equal values, such as 1 and 1.0.
            control.observe(lambda _: self._call(), names="index")
        shown = [*controls.values(), ipywidgets.HBox([self.again]), self._live]
        super().__init__(shown, Feedback(html, self._text()))
        self.add_class("pytree-traces")
        self._update()

    @property
    def values(self) -> dict[str, Any]:
        """The chosen values, by name."""
        return {name: control.options[control.index][1] for name, control in self.controls.items()}

    @property
    def headline(self) -> str:
        """The numbers of traces and calls."""
        traces = counted(self.trace_log.traces, "trace", "traces")
        return f"{traces} in {counted(self.trace_log.calls, 'call', 'calls')}"

    def _call_first(self) -> None:
        """Call twice with the first values, then move each control one value on and back."""
        self.trace_log.call(self.values)
        self.trace_log.call(self.values)
        for control in self.controls.values():
            for step in (1, 0) if len(control.options) > 1 else ():
                control.index = step
                self.trace_log.call(self.values)

    def _call(self) -> None:
        self.trace_log.call(self.values)
        self._update()

    def _update(self) -> None:
        self._live.value = self._html("trace_log", is_live=True)

    def _html(self, template: str, **values: object) -> str:
        rows = list(self.trace_log.rows)
        return render(f"notebook/{template}.html", counter=self, rows=rows, **values)

    def _text(self) -> str:
        table = [["call", *self.controls, "trace", "result", "why"]]
        for row in self.trace_log.rows:
            table.append([str(row.number), *row.chosen.values(), row.outcome, row.result, row.why])
        return "\n".join([f"{self.name} · {self.headline}", "", *aligned(table)])


def _buttons(name: str, values: Iterable[Any] | Mapping[str, Any]) -> ipywidgets.ToggleButtons:
    """Make buttons for a choice: JupyterLab takes the arrow keys of a dropdown."""
    by_label = values.items() if isinstance(values, Mapping) else [(str(v), v) for v in values]
    options = list(by_label)
    return ipywidgets.ToggleButtons(
        options=options,
        description=name,
        tooltips=[f"{name}: {label}" for label, _ in options],
        style={"button_width": "auto"},
    )
