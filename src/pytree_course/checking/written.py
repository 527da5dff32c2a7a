"""A bounded `repr`: inputs as Python writes them, as far as they are shown."""

from collections.abc import Iterator
from typing import Any

from pytree_course.texts import truncate


def written(value: object, most: int) -> str:
    """Return `repr(value)`, or its first characters where there are more than `most`.

    Of a large tree only the arrays at its beginning are written: each takes a tenth of a
    millisecond, and a check writes the inputs of all its cases.
    """
    pieces, length = [], 0
    for piece in _pieces(value, frozenset()):
        pieces.append(piece)
        length += len(piece)
        if length > most:
            break
    return truncate("".join(pieces), most)


def _pieces(value: Any, within: frozenset[int]) -> Iterator[str]:
    """Yield what `repr` writes: of built-in containers item by item, for subclasses differ."""
    kind = type(value)
    if not (kind is dict or kind is list or kind is tuple):
        yield repr(value)
        return
    first, last = "{}" if kind is dict else "[]" if kind is list else "()"
    if id(value) in within:
        yield f"{first}...{last}"
        return
    within |= {id(value)}
    yield first
    for place, item in enumerate(value.items() if kind is dict else value):
        if place:
            yield ", "
        if kind is dict:
            key, item = item
            yield f"{key!r}: "
        yield from _pieces(item, within)
    yield f",{last}" if kind is tuple and len(value) == 1 else last
