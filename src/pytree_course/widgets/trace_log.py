"""Calls of a jitted function, each with whether JAX traced it, and why."""

import functools
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax

from pytree_course.widgets.cache_key import CacheKey, named
from pytree_course.widgets.pairing import error_words
from pytree_course.widgets.words import brief, written

MOST_ROWS = 20
MOST_PLOTTED = 40
MOST_KEYS = 64
MOST_CHANGES = 3

Outcome = Literal["traced", "cached", "raised"]
Values = Mapping[str, Any]


@dataclass(frozen=True)
class LoggedCall:
    """One call."""

    number: int
    controls: dict[str, str]
    outcome: Outcome
    why: str
    result: str
    traces: int
    error: str = ""  # type only
    message: str = ""  # differs from version to version of JAX: not for stored pages

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


class TraceLog:
    """Calls a function under `jit` and counts how often JAX runs its Python code.

    Parameters
    ----------
    function
        The Python function, not jitted yet.
    make_arguments
        Makes the arguments from the controls' values; without it they are the arguments themselves.
    jit
        What makes the function a jitted one.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        make_arguments: Callable[..., Any] | None,
        jit: Callable[..., Any],
    ) -> None:
        self.function = function
        self.make_arguments = make_arguments
        self.jit = jit
        self.clear()

    def clear(self) -> None:
        """Forget the calls, and with a newly jitted function the traces as well."""
        self.calls = 0
        self.traces = 0
        self.rows: deque[LoggedCall] = deque(maxlen=MOST_ROWS)
        self.totals: deque[tuple[int, Outcome, int]] = deque(maxlen=MOST_PLOTTED)
        self._keys: deque[tuple[int, CacheKey]] = deque(maxlen=MOST_KEYS)

        # A traced function's Python code runs when it is traced, and only then.
        @functools.wraps(self.function)
        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.traces += 1
            return self.function(*arguments, **keywords)

        self._jitted = self.jit(counted)

    def call(self, values: Values) -> LoggedCall:
        """Call the function with what the controls' values make."""
        self.calls += 1
        shown = {name: written(value) for name, value in values.items()}
        traces, key = self.traces, None
        outcome: Outcome
        result = error = message = ""
        try:
            arguments, keywords = self._arguments(values)
        except Exception as raised:
            outcome, error, message = "raised", type(raised).__name__, error_words(raised)
            why = "The arguments could not be made: make_arguments raised this."
        else:
            try:
                key = CacheKey(named(self.function, arguments, keywords))
            except Exception:
                key = None  # a node that cannot be flattened: the call raises this as well
            try:
                result = brief(jax.block_until_ready(self._jitted(*arguments, **keywords)))
            except Exception as raised:
                outcome, error, message = "raised", type(raised).__name__, error_words(raised)
                why = self._explained(raised, key, is_traced=self.traces > traces)
            else:
                outcome = "traced" if self.traces > traces else "cached"
                why = self._reason(key, outcome)
        if key is not None and outcome == "traced":
            self._keys.append((self.calls, key))
        row = LoggedCall(
            self.calls, shown, outcome, why, result, self.traces - traces, error, message
        )
        self.rows.append(row)
        self.totals.append((self.calls, outcome, self.traces))
        return row

    def _arguments(self, values: Values) -> tuple[Sequence[Any], Values]:
        if self.make_arguments is None:
            return (), values
        made = self.make_arguments(**values)
        return (made if type(made) is tuple else (made,)), {}

    def _reason(self, key: CacheKey | None, outcome: Outcome) -> str:
        if key is None:
            return "The arguments could not be looked into."
        compared = [(key.changes_since(old), number, old) for number, old in reversed(self._keys)]
        # Of equally near ones, the latest.
        nearest = min(
            compared,
            key=lambda item: (sum(not change.of_value for change in item[0]), len(item[0])),
            default=None,
        )
        if nearest is None:
            return "first call" if outcome == "traced" else "equal for JAX to an earlier call"
        changes, number, old = nearest
        in_key = [change.words for change in changes if not change.of_value]
        of_values = [change.words for change in changes if change.of_value]
        if outcome == "cached":
            if in_key:
                return "equal for JAX to an earlier call"
            stale = key.aux_read_otherwise(old)
            if stale:
                return (
                    f"{stale}, but JAX finds it equal to that of call {number}: "
                    "the old trace is used"
                )
            return f"same key as call {number}"
        if in_key:
            return _joined(in_key)
        if of_values:
            return f"{_joined(of_values)}; nothing else changed, so this value is in the key: static"
        return f"no change seen in structure, shapes and dtypes since call {number}"

    def _explained(self, error: Exception, key: CacheKey | None, *, is_traced: bool) -> str:
        if is_traced:
            if isinstance(error, _NEEDS_VALUES):
                return (
                    "While it was traced, the function asked for a value. "
                    "A tracer has a shape and a dtype, and no value."
                )
            return "Raised while the function was traced; nothing is cached."
        if key is None:
            return "The arguments could not be flattened."
        if any(key.cannot_be_compared_with(old) for _, old in self._keys):
            return (
                "To look for a trace, JAX compares aux_data with ==. Here that raises: arrays "
                "answer with an array, not with one yes or no."
            )
        if isinstance(error, (TypeError, ValueError)) and "hashable" in str(error):
            return "To look for a trace, JAX hashes static arguments. This one cannot be hashed."
        odd = key.untraceable()
        if odd is not None:
            return (
                f"{odd[0]} is of type {odd[1]}: neither an array nor a number. "
                "It could only be static."
            )
        return "Raised before the function was traced or run."


_NEEDS_VALUES = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)


def _joined(changes: list[str]) -> str:
    more = len(changes) - MOST_CHANGES
    return "; ".join(changes[:MOST_CHANGES]) + (f"; and {more} more changes" if more > 0 else "")
