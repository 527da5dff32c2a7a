"""Short words for values, the same on every run: no addresses, no last digits."""

import re
from typing import Any

import jax
import numpy as np

from pytree_course.drawing.labels import expression, shorten, summary, values
from pytree_course.trees import observe

LONGEST_VALUE = 40
LONGEST_MESSAGE = 160
MOST_NUMBERS = 4


def brief(value: Any) -> str:
    """Say what a value is, with its numbers where they are few."""
    if isinstance(value, (jax.Array, np.ndarray)) and not isinstance(value, jax.core.Tracer):
        return _array(value)
    if isinstance(value, float):
        return f"{value:.5g}" if not value.is_integer() else str(value)
    return shorten(expression(observe(value, values=False)), LONGEST_VALUE)


def written(value: Any) -> str:
    """Write metadata, which is worth its `repr` unless that says no more than where it lies."""
    if isinstance(value, (jax.Array, np.ndarray)):
        return brief(value)
    try:
        text = " ".join(repr(value).split())
    except Exception:
        text = " at 0x"
    if re.search(r" at 0x[0-9a-fA-F]+", text):
        text = expression(observe(value, values=False))
    return shorten(text, LONGEST_VALUE)


def _array(array: Any) -> str:
    seen = observe(array, values=array.size <= MOST_NUMBERS)
    if seen["kind"] != "array" or not seen["values"]:
        return summary(seen)
    seen["values"] = [_rounded(number) for number in seen["values"]]
    numbers = values(seen)
    return f"{summary(seen)} {numbers if array.ndim == 0 else f'[{numbers}]'}"


def _rounded(number: Any) -> Any:
    # The last digits of a float differ from machine to machine.
    return float(f"{number:.4g}") if isinstance(number, float) else number
