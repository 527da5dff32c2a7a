"""The log of calls to a jitted function: whether JAX traced each of them, and why."""

import functools
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import jax

from pytree_course.widgets.cache_key import CacheKey, named
from pytree_course.widgets.value_texts import brief, error_line, written

MOST_ROWS = 20
MOST_PLOTTED = 40
MOST_KEYS = 64
MOST_CHANGES = 3

CallOutcome = Literal["traced", "cached", "raised"]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class LoggedCall:
    """One call: how it went, its number and the controls' values."""

    outcome: CallOutcome
    why: str
    result: str = ""
    error: str = ""  # its type
    message: str = ""  # differs from version to version of JAX: not for stored pages
    number: int = 0
    controls: Mapping[str, str] = field(default_factory=dict)
    traces: int = 0  # in this call
    all_traces: int = 0  # up to and with this call

    @property
    def outcome_words(self) -> str:
        """The outcome with a symbol."""
        match self.outcome:
            case "traced":
                return "● traced" + (f" {self.traces} times" if self.traces > 1 else "")
            case "cached":
                return "○ cached"
            case _:
                return f"✗ {self.error}"


@dataclass(eq=False)
class TraceLog:
    """Calls a function under `jit` and counts how often JAX runs its Python code.

    Without `make_arguments`, the controls' values are the arguments themselves.
    """

    function: Callable[..., Any]
    make_arguments: Callable[..., Any] | None
    jit: Callable[..., Any]

    def __post_init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget the calls, and with a newly jitted function the traces as well."""
        self.calls = 0
        self.traces = 0
        self.plotted: deque[LoggedCall] = deque(maxlen=MOST_PLOTTED)
        self._keys: deque[tuple[int, CacheKey]] = deque(maxlen=MOST_KEYS)
        self._last_key = 0  # the number of the traced call whose key the last successful call had

        # A traced function's Python code runs when it is traced, and only then.
        @functools.wraps(self.function)
        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.traces += 1
            return self.function(*arguments, **keywords)

        self._jitted = self.jit(counted)

    @property
    def rows(self) -> list[LoggedCall]:
        """The last calls, oldest first."""
        return list(self.plotted)[-MOST_ROWS:]

    def call(self, values: Values) -> None:
        """Call the function with the arguments that the controls' values make, and log the call."""
        self.calls += 1
        controls = {name: written(value) for name, value in values.items()}
        before = self.traces
        logged = replace(self._attempt(values), number=self.calls, controls=controls)
        traces = self.traces - before
        self.plotted.append(replace(logged, traces=traces, all_traces=self.traces))

    def _attempt(self, values: Values) -> LoggedCall:
        arguments, keywords = (), values
        try:
            if self.make_arguments is not None:
                made = self.make_arguments(**values)
                arguments, keywords = made if type(made) is tuple else (made,), {}
        except Exception as error:
            return _raised(error, "make_arguments raised it; the function was not called", own=True)
        try:
            key = CacheKey(named(self.function, arguments, keywords))
        except Exception:
            key = None  # a node that cannot be flattened: the call raises this as well
        before = self.traces
        try:
            result = brief(self._jitted(*arguments, **keywords))
        except Exception as error:
            is_traced = self.traces > before
            if why := self._explained(error, key, is_traced=is_traced):
                return _raised(error, why)
            when = "while the function was traced" if is_traced else "before any tracing"
            return _raised(error, f"raised {when}", own=True)
        outcome: CallOutcome = "traced" if self.traces > before else "cached"
        why = self._reason(key, outcome)
        if key is not None and outcome == "traced":
            self._keys.append((self.calls, key))
            self._last_key = self.calls
        return LoggedCall(outcome, why, result)

    def _reason(self, key: CacheKey | None, outcome: CallOutcome) -> str:
        if key is None:
            return "The course could not read the arguments."
        compared = [(key.changes_since(old), number, old) for number, old in reversed(self._keys)]
        if not compared:
            if outcome == "cached":
                return "for JAX, this call is equal to an earlier call"
            return "first call" if self.calls == 1 else "nothing was traced before"
        # Of several equally similar keys: the last call's, otherwise the latest one.
        changes, number, old = min(
            compared, key=lambda item: (item[0].distance, item[1] != self._last_key)
        )
        if outcome == "cached":
            if changes.in_key:
                return "for JAX, this call is equal to an earlier call"
            self._last_key = number
            stale = key.aux_read_otherwise(old)
            if stale:
                found_equal = f"for JAX it is equal to that of call {number}"
                return f"{stale}, but {found_equal}: JAX uses the old trace"
            return f"same key as call {number}"
        if changes.in_key:
            return _joined(changes.in_key)
        if changes.of_values:
            changed = _joined(changes.of_values)
            return f"{changed}; nothing else changed, so this value is static: a part of the key"
        return f"no change seen in structure, shapes and dtypes since call {number}"

    def _explained(self, error: Exception, key: CacheKey | None, *, is_traced: bool) -> str:
        if is_traced and isinstance(error, _NEEDS_VALUES):
            return (
                "while JAX traced the function, the function asked for a value; "
                "a tracer has a shape and a dtype, but no value"
            )
        if is_traced or key is None:
            return ""
        # JAX also compares with arguments of other functions, of which only its message tells.
        if isinstance(error, ValueError) and (
            "checking equality" in str(error)
            or any(key.cannot_be_compared_with(old) for _, old in self._keys)
        ):
            return (
                "to find an earlier trace, JAX compares aux_data with ==, and this comparison "
                "raises: == of arrays gives an array, not True or False"
            )
        if isinstance(error, (TypeError, ValueError)) and "hashable" in str(error):
            return (
                "to find an earlier trace, JAX hashes static arguments; this argument has no hash"
            )
        odd = key.untraceable()
        if odd is not None and all(old.untraceable() != odd for _, old in self._keys):
            is_odd = f"{odd[0]} is of type {odd[1]}: neither an array nor a number"
            return f"{is_odd}; jit can take it as a static argument only"
        return ""


_NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


def _raised(error: Exception, why: str, *, own: bool = False) -> LoggedCall:
    """Return the entry for an error, with its message if it came from the learner's own code."""
    message = error_line(error) if own else ""
    return LoggedCall("raised", why, error=type(error).__name__, message=message)


def _joined(changes: list[str]) -> str:
    more = len(changes) - MOST_CHANGES
    return "; ".join(changes[:MOST_CHANGES]) + (f"; and {more} more changes" if more > 0 else "")
