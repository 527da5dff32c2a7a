"""A random generator that repeats its draws: to draw a check's inputs again takes half the time."""

from collections.abc import Callable
from typing import Any

import numpy as np


class Draws:
    """The values that a generator of one seed has drawn, in order."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.values: list[Any] = []


def _replayed(method: str) -> Callable[..., Any]:
    def draw(self: "ReplayedDraws", *arguments: Any, **named: Any) -> Any:
        values, place = self._draws.values, self._place
        if place == len(values):
            values.append(getattr(self._draws.rng, method)(*arguments, **named))
        self._place = place + 1
        value = values[place]
        return value.copy() if type(value) is np.ndarray else value

    return draw


class ReplayedDraws:
    """In place of a generator: gives the values of `draws` again, from the first one on.

    The arguments count for new draws only: a check asks for the same, whatever the answers are.
    """

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._place = 0

    # Not `shuffle`, for it changes its argument in place.
    choice = _replayed("choice")
    integers = _replayed("integers")
    normal = _replayed("normal")
    permutation = _replayed("permutation")
    random = _replayed("random")
    uniform = _replayed("uniform")
