"""Count the traces of a jitted function as its arguments change, with the reason for each."""

import functools
import inspect
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import ipywidgets
import jax
import numpy as np

from pytree_course.notebook.base import (
    FRAMES,
    Play,
    align,
    describe,
    error_line,
    function_name,
    make_button,
    repr_text,
)
from pytree_course.observing.observations import Array, Path, all_parts
from pytree_course.observing.observe import observe
from pytree_course.observing.words import outline, summary
from pytree_course.rendering import Feedback, render
from pytree_course.texts import counted, shorten

MAX_ROWS = 20
MAX_CHANGES = 3
MAX_PATH = 60  # characters


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


def _buttons(name: str, values: Iterable[Any] | Mapping[str, Any]) -> ipywidgets.ToggleButtons:
    """Make buttons for a choice: JupyterLab takes the arrow keys of a dropdown."""
    if isinstance(values, Mapping):
        options = list(values.items())
    else:
        options = [(str(value), value) for value in values]
    return ipywidgets.ToggleButtons(
        options=options,
        description=name,
        tooltips=[f"{name}: {label}" for label, _ in options],
        style={"button_width": "auto"},
    )


class TraceCounter(Play):
    """The widget: buttons that choose values, and the log of calls."""

    def __init__(self, log: "TraceLog", controls: dict[str, ipywidgets.ToggleButtons]) -> None:
        self.trace_log = log
        self.controls = controls
        self._call_first()
        html = self._html("trace_counter", frame=FRAMES["good"], is_live=False)
        self._live = ipywidgets.HTML()
        self.again = make_button("Call again with the same values", self._call)
        for control in controls.values():
            # Only the index distinguishes equal values, such as 1 and 1.0.
            control.observe(lambda _: self._call(), names="index")
        parts = [*controls.values(), ipywidgets.HBox([self.again]), self._live]
        super().__init__(parts, Feedback(html, self._text()))
        self.add_class("pytree-traces")
        self._update()

    @property
    def values(self) -> dict[str, Any]:
        """The chosen values, by name."""
        return {name: control.options[control.index][1] for name, control in self.controls.items()}

    def _call_first(self) -> None:
        """Call twice with the first values, then move each control one value on and back."""
        self.trace_log.call(self.values)
        self.trace_log.call(self.values)
        for control in self.controls.values():
            if len(control.options) > 1:
                for index in (1, 0):
                    control.index = index
                    self.trace_log.call(self.values)

    def _call(self) -> None:
        self.trace_log.call(self.values)
        self._update()

    def _update(self) -> None:
        self._live.value = self._html("trace_log", is_live=True)

    def _html(self, template: str, **values: object) -> str:
        log, names = self.trace_log, list(self.controls)
        return render(f"notebook/{template}.html", log=log, names=names, **values)

    def _text(self) -> str:
        log = self.trace_log
        table = [["call", *self.controls, "trace", "result", "why"]]
        for row in log.rows:
            table.append([str(row.number), *row.chosen.values(), row.outcome, row.result, row.why])
        return "\n".join([f"{log.name} · {log.headline}", "", *align(table)])


@dataclass(frozen=True)
class LoggedCall:
    """One call: its number, the chosen values, and what came of it."""

    number: int
    chosen: Mapping[str, str]
    outcome: str  # a symbol and a word
    why: str
    result: str = ""
    message: str = ""  # of an error; it depends on the version of JAX, so it is not stored


class TraceLog:
    """Call a function under `jit`, and count how often JAX runs its Python code.

    Without `make_arguments`, the chosen values are the arguments themselves.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        make_arguments: Callable[..., Any] | None,
        jit: Callable[..., Any],
    ) -> None:
        self.name = function_name(function)
        self.calls = 0
        self.traces = 0
        self.rows: deque[LoggedCall] = deque(maxlen=MAX_ROWS)
        self._signature = inspect.signature(function)
        self._make_arguments = make_arguments
        self._keys: dict[int, CacheKey] = {}  # of traced calls, by the number of the call
        self._last_key = 0  # the traced call with the key of the last successful call

        # A jitted function's Python code runs only while JAX traces it.
        @functools.wraps(function)
        def counting(*arguments: Any, **keywords: Any) -> Any:
            self.traces += 1
            return function(*arguments, **keywords)

        self._jitted = jit(counting)

    @property
    def headline(self) -> str:
        """The numbers of traces and calls."""
        traces = counted(self.traces, "trace", "traces")
        return f"{traces} in {counted(self.calls, 'call', 'calls')}"

    def call(self, values: Mapping[str, Any]) -> None:
        """Call the function with the arguments that the chosen values make, and log the call."""
        self.calls += 1
        texts = {name: repr_text(value) for name, value in values.items()}
        self.rows.append(LoggedCall(self.calls, texts, *self._attempt(values)))

    def _attempt(self, values: Mapping[str, Any]) -> tuple[str, ...]:
        """Call the function; return the outcome, why it is so, and the result or the error."""
        try:
            arguments, keywords = self._make_call(values)
        except Exception as error:
            return _report_error(error, "make_arguments raised it; the function was not called")
        traces_before = self.traces
        try:
            by_name = self._signature.bind(*arguments, **keywords).arguments
            key = CacheKey(by_name)  # before the call, which may mutate its arguments
            result = describe(self._jitted(*arguments, **keywords))
        except Exception as error:
            is_traced = self.traces > traces_before
            when = "while the function was traced" if is_traced else "before any tracing"
            return _report_error(error, f"raised {when}")
        traces = self.traces - traces_before
        nearest = self._find_nearest(key)
        if traces:
            self._keys[self.calls] = key
            self._last_key = self.calls
            outcome = "● traced" if traces == 1 else f"● traced {traces} times"
            return outcome, self._why_traced(nearest), result
        if nearest is None:
            return "○ cached", "nothing was traced before", result
        self._last_key = nearest.number
        return "○ cached", _why_cached(nearest), result

    def _make_call(self, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
        """Return the function's arguments, those by position and those by name."""
        if self._make_arguments is None:
            return (), values
        arguments = self._make_arguments(**values)
        return arguments if type(arguments) is tuple else (arguments,), {}

    def _why_traced(self, nearest: "Nearest | None") -> str:
        """Say how a key differs from the most similar earlier key."""
        if nearest is None:
            return "first call" if self.calls == 1 else "nothing was traced before"
        if nearest.changes:
            return _join(nearest.changes)
        if nearest.values:
            values = _join(nearest.values)
            return f"{values}; nothing else changed, so this is static: a part of the key"
        return (
            f"everything reads as in call {nearest.number}, but some of it is not equal (==) to "
            "what it was: aux_data, a static value, or a class that was made again"
        )

    def _find_nearest(self, key: "CacheKey") -> "Nearest | None":
        """Return the traced call with the most similar key, if there is one."""

        def distance(call: Nearest) -> tuple[Any, ...]:
            # Of equally similar keys, take that of the last call, otherwise the latest.
            is_last = call.number == self._last_key
            return not call.is_equal, len(call.changes), len(call.values), not is_last, -call.number

        calls = [key.changed_since(number, earlier) for number, earlier in self._keys.items()]
        return min(calls, key=distance, default=None)


class Nearest(NamedTuple):
    """A traced call, and how a later call's key differs from its own."""

    number: int
    is_equal: bool  # whether JAX takes the structures as equal, metadata included
    changes: list[str]  # the nodes and leaves that changed, topmost first
    values: list[str]  # leaves of the same type with another value: in the key if they are static


def _why_cached(nearest: Nearest) -> str:
    if not nearest.changes:
        return f"same key as call {nearest.number}"
    is_equal = f"for JAX this is equal to call {nearest.number}: JAX uses the old trace"
    return f"{_join(nearest.changes)}, but {is_equal}"


def _report_error(error: Exception, why: str) -> tuple[str, ...]:
    return f"✗ {type(error).__name__}", why, "", error_line(error)


def _join(changes: list[str]) -> str:
    text = "; ".join(changes[:MAX_CHANGES])
    more = len(changes) - MAX_CHANGES
    return f"{text}; and {more} more changes" if more > 0 else text


class CacheKey:
    """The cache key of one call, from its arguments by name."""

    def __init__(self, arguments: Mapping[str, Any]) -> None:
        self.structure: Any = jax.tree.structure(dict(arguments))
        self.parts: dict[Path, str] = {}
        """Each node and leaf in words, as it was at the time of the call, topmost first."""
        self.values: dict[Path, str] = {}
        """The values that JAX compares if an argument is static."""
        for name, argument in arguments.items():
            for path, part in all_parts(observe(argument, values=False)):
                self.parts[name, *path] = outline(part)
            for keys, leaf in jax.tree.leaves_with_path(argument):
                path = (name, *(jax.tree_util.keystr((key,)) for key in keys))
                self.parts[path] = _type_words(leaf)
                if not isinstance(leaf, (jax.Array, np.ndarray)):
                    self.values[path] = repr_text(leaf)

    def changed_since(self, number: int, earlier: "CacheKey") -> Nearest:
        """Compare with the key of an earlier call."""
        try:
            is_equal = bool(self.structure == earlier.structure)
        except Exception:  # == raises for arrays in metadata
            is_equal = False
        same_type = {
            path: text
            for path, text in self.values.items()
            if self.parts[path] == earlier.parts.get(path)
        }
        changes = _changes(self.parts, earlier.parts)
        return Nearest(number, is_equal, changes, _changes(same_type, earlier.values))


def _changes(now: Mapping[Path, str], before: Mapping[Path, str]) -> list[str]:
    changes = []
    for path, words in now.items():
        is_argument = len(path) == 1
        # A change inside a new node is part of the change of the node.
        has_changed = words != before[path] if path in before else is_argument
        if has_changed:
            place = shorten("".join(path), MAX_PATH)
            changes.append(f"{place}: {before.get(path, 'nothing')} → {words}")
    return changes


def _type_words(leaf: Any) -> str:
    """Return a leaf's abstract value, such as `weak f32[2]`, or the name of its type."""
    try:
        aval = jax.typeof(leaf)
    except TypeError:
        return type(leaf).__name__
    array = Array(library="jax", dtype=str(aval.dtype), shape=aval.shape, values=())
    return f"{'weak ' if getattr(aval, 'weak_type', False) else ''}{summary(array)}"
