"""The log of calls to a jitted function: whether JAX traced each of them, and why."""

import functools
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pytree_course.notebook.cache_key import CacheKey, named
from pytree_course.notebook.value_texts import brief, error_line, written

MOST_ROWS = 20
MOST_KEYS = 64
MOST_CHANGES = 3


@dataclass(frozen=True)
class LoggedCall:
    """One call: its number, the values that were chosen, and how it went."""

    number: int
    chosen: Mapping[str, str]
    outcome: str  # a symbol and a word
    why: str
    result: str = ""
    message: str = ""  # of an error: it differs from version to version, and is not stored


class TraceLog:
    """Calls a function under `jit` and counts how often JAX runs its Python code.

    Without `make_arguments`, the chosen values are the arguments themselves.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        make_arguments: Callable[..., Any] | None,
        jit: Callable[..., Any],
    ) -> None:
        self.function, self.make_arguments = function, make_arguments
        self.calls = 0
        self.traces = 0
        self.rows: deque[LoggedCall] = deque(maxlen=MOST_ROWS)
        self._keys: deque[tuple[int, CacheKey]] = deque(maxlen=MOST_KEYS)  # of traced calls
        self._last_key = 0  # the number of the traced call whose key the last successful call had

        # A traced function's Python code runs when it is traced, and only then.
        @functools.wraps(function)
        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.traces += 1
            return function(*arguments, **keywords)

        self._jitted = jit(counted)

    def call(self, values: Mapping[str, Any]) -> None:
        """Call the function with the arguments that the chosen values make, and log the call."""
        self.calls += 1
        chosen = {name: written(value) for name, value in values.items()}
        self.rows.append(LoggedCall(self.calls, chosen, **self._attempt(values)))

    def _attempt(self, values: Mapping[str, Any]) -> dict[str, str]:
        arguments, keywords = (), values
        try:
            if self.make_arguments is not None:
                made = self.make_arguments(**values)
                arguments, keywords = made if type(made) is tuple else (made,), {}
        except Exception as error:
            return _raised(error, "make_arguments raised it; the function was not called")
        before = self.traces
        try:
            # Before the call, which may change what it is given.
            key = CacheKey(named(self.function, arguments, keywords))
            result = brief(self._jitted(*arguments, **keywords))
        except Exception as error:
            when = "while the function was traced" if self.traces > before else "before any tracing"
            return _raised(error, f"raised {when}")
        traces = self.traces - before
        outcome = "● traced" + (f" {traces} times" if traces > 1 else "") if traces else "○ cached"
        why = self._reason(key, is_traced=traces > 0)
        if traces:
            self._keys.append((self.calls, key))
            self._last_key = self.calls
        return {"outcome": outcome, "why": why, "result": result}

    def _reason(self, key: CacheKey, *, is_traced: bool) -> str:
        if not self._keys:
            return "first call" if self.calls == 1 else "nothing was traced before"

        def distance(numbered: tuple[int, CacheKey]) -> tuple[Any, ...]:
            number, old = numbered
            changes, values = key.changes_since(old), key.values_changed_since(old)
            is_last = number == self._last_key
            return not key.equals(old), len(changes), len(values), not is_last, -number

        # Of several equally similar keys: the last call's, otherwise the latest one.
        number, old = min(self._keys, key=distance)
        changes = key.changes_since(old)
        if not is_traced:
            self._last_key = number
            if not changes:
                return f"same key as call {number}"
            is_equal = f"for JAX this is equal to call {number}: JAX uses the old trace"
            return f"{_joined(changes)}, but {is_equal}"
        if changes:
            return _joined(changes)
        if values := key.values_changed_since(old):
            return f"{_joined(values)}; nothing else changed, so this is static: a part of the key"
        return (
            f"everything reads as in call {number}, but some of it is not equal (==) to what it "
            "was: aux_data, a static value, or a class that was made again"
        )


def _raised(error: Exception, why: str) -> dict[str, str]:
    return {"outcome": f"✗ {type(error).__name__}", "why": why, "message": error_line(error)}


def _joined(changes: list[str]) -> str:
    more = len(changes) - MOST_CHANGES
    return "; ".join(changes[:MOST_CHANGES]) + (f"; and {more} more changes" if more > 0 else "")
