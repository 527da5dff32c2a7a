"""Log calls to a jitted function: whether JAX traced each, and what changed in the cache key."""

import functools
import inspect
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from pytree_course.notebook.value_texts import brief, error_line, repr_text
from pytree_course.observing.observations import Array, Path, all_parts
from pytree_course.observing.observe import observe
from pytree_course.observing.words import outline, summary
from pytree_course.texts import shorten


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

    def compare(self, old: "CacheKey") -> tuple[bool, list[str], list[str]]:
        """Compare with an earlier key.

        Return whether JAX takes the structures as equal, metadata included; the nodes and leaves
        that changed, topmost first, in words; and leaves of the same type with another value, of
        which only static ones are in the key.
        """
        try:
            is_equal = bool(self.structure == old.structure)
        except Exception:  # == raises for arrays in metadata
            is_equal = False
        same = {
            path: text
            for path, text in self.values.items()
            if self.parts[path] == old.parts.get(path)
        }
        return is_equal, _changes(self.parts, old.parts), _changes(same, old.values)


def arguments_by_name(
    function: Callable[..., Any], arguments: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a call's arguments by the names of the function's parameters."""
    try:
        return dict(inspect.signature(function).bind(*arguments, **keywords).arguments)
    except (TypeError, ValueError):
        numbered = {f"argument {place}": value for place, value in enumerate(arguments, 1)}
        return numbered | dict(keywords)


def _changes(now: Mapping[Path, str], before: Mapping[Path, str]) -> list[str]:
    return [
        f"{shorten(''.join(path), 60)}: {before.get(path, 'nothing')} → {words}"
        for path, words in now.items()
        # A change inside a new node is part of the change of the node.
        if words != before.get(path, words if len(path) > 1 else None)
    ]


def _type_words(leaf: Any) -> str:
    """Return a leaf's abstract value, such as `weak f32[2]`, or the name of its type."""
    try:
        aval = jax.typeof(leaf)
    except TypeError:
        return type(leaf).__name__
    array = Array(library="jax", dtype=str(aval.dtype), shape=aval.shape, values=())
    return f"{'weak ' if getattr(aval, 'weak_type', False) else ''}{summary(array)}"


MAX_ROWS = 20
MAX_KEYS = 64
MAX_CHANGES = 3


@dataclass(frozen=True)
class LoggedCall:
    """One call: its number, the chosen values, and its outcome."""

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
        self.function, self.make_arguments = function, make_arguments
        self.calls = 0
        self.traces = 0
        self.rows: deque[LoggedCall] = deque(maxlen=MAX_ROWS)
        self._keys: deque[tuple[int, CacheKey]] = deque(maxlen=MAX_KEYS)  # of traced calls
        self._last_key = 0  # the traced call with the key of the last successful call

        # A jitted function's Python code runs only while JAX traces it.
        @functools.wraps(function)
        def counted(*arguments: Any, **keywords: Any) -> Any:
            self.traces += 1
            return function(*arguments, **keywords)

        self._jitted = jit(counted)

    def call(self, values: Mapping[str, Any]) -> None:
        """Call the function with the arguments that the chosen values make, and log the call."""
        self.calls += 1
        chosen = {name: repr_text(value) for name, value in values.items()}
        self.rows.append(LoggedCall(self.calls, chosen, **self._attempt(values)))

    def _attempt(self, values: Mapping[str, Any]) -> dict[str, str]:
        arguments, keywords = (), values
        try:
            if self.make_arguments is not None:
                returned = self.make_arguments(**values)
                arguments = returned if type(returned) is tuple else (returned,)
                keywords = {}
        except Exception as error:
            return _raised(error, "make_arguments raised it; the function was not called")
        before = self.traces
        try:
            # Before the call, which may mutate its arguments.
            key = CacheKey(arguments_by_name(self.function, arguments, keywords))
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

        def distance(entry: tuple[int, bool, list[str], list[str]]) -> tuple[Any, ...]:
            number, is_equal, changes, values = entry
            return not is_equal, len(changes), len(values), number != self._last_key, -number

        # Of equally similar keys, take that of the last call, otherwise the latest.
        compared = [(number, *key.compare(old)) for number, old in self._keys]
        number, _, changes, values = min(compared, key=distance)
        if not is_traced:
            self._last_key = number
            if not changes:
                return f"same key as call {number}"
            is_equal = f"for JAX this is equal to call {number}: JAX uses the old trace"
            return f"{_joined(changes)}, but {is_equal}"
        if changes:
            return _joined(changes)
        if values:
            return f"{_joined(values)}; nothing else changed, so this is static: a part of the key"
        return (
            f"everything reads as in call {number}, but some of it is not equal (==) to what it "
            "was: aux_data, a static value, or a class that was made again"
        )


def _raised(error: Exception, why: str) -> dict[str, str]:
    return {"outcome": f"✗ {type(error).__name__}", "why": why, "message": error_line(error)}


def _joined(changes: list[str]) -> str:
    more = len(changes) - MAX_CHANGES
    return "; ".join(changes[:MAX_CHANGES]) + (f"; and {more} more changes" if more > 0 else "")
