"""Short, reproducible texts for values and errors: no addresses, rounded floats."""

import re
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from pytree_course.observing.observations import Array
from pytree_course.observing.observe import observe
from pytree_course.observing.words import expression, summary, values
from pytree_course.texts import shorten

MAX_VALUE = 40
MAX_ERROR = 160
MAX_NUMBERS = 4
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def brief(value: Any) -> str:
    """Describe a value, with its numbers if they are few."""
    if isinstance(value, (jax.Array, np.ndarray)) and not isinstance(value, jax.core.Tracer):
        return _array(value)
    if isinstance(value, float):
        return f"{value:.5g}" if not value.is_integer() else str(value)
    return shorten(expression(observe(value, values=False)), MAX_VALUE)


def repr_text(value: Any) -> str:
    """Return the `repr` of metadata, or a description if that contains an address."""
    if isinstance(value, (jax.Array, np.ndarray)):
        return brief(value)
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = ""
    if not text or _ADDRESS.search(text):
        text = expression(observe(value, values=False))
    return shorten(text, MAX_VALUE)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align rows of cells: each column is as wide as its widest cell."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def without_addresses(text: str) -> str:
    """Remove memory addresses, which differ in each run."""
    return _ADDRESS.sub("", text)


def function_name(function: object) -> str:
    """Return a function's name, or "f" for a lambda and other nameless callables."""
    name = getattr(function, "__name__", None)
    return shorten(name, MAX_VALUE) if isinstance(name, str) and name.isidentifier() else "f"


def error_words(error: BaseException) -> str:
    """Return an error's type and message, as in the last line of a traceback."""
    try:
        message = error.msg if isinstance(error, SyntaxError) else str(error).strip()
    except Exception:
        message = "(its message cannot be shown)"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def error_line(error: BaseException) -> str:
    """Return an error's type and the first line of its message."""
    return shorten(error_words(error).partition("\n")[0], MAX_ERROR)


def _array(array: Any) -> str:
    observed = observe(array, values=array.size <= MAX_NUMBERS)
    if not isinstance(observed, Array) or not observed.values:
        return summary(observed)
    # The last digits of a float depend on the machine.
    numbers = values(
        [float(f"{item:.4g}") if isinstance(item, float) else item for item in observed.values]
    )
    return f"{summary(observed)} {numbers if array.ndim == 0 else f'[{numbers}]'}"
