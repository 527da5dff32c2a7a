"""Parse untrusted JSON into typed values, and reject everything else.

A learner's kernel reports JSON, a class's board and its learners send it, and a gradebook holds it,
which may have been damaged or edited.
"""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from pytree_course.observing import observations as obs

Count = Annotated[int, Meta(ge=0, lt=2**53)]
"""An integer that every program can count with and plot."""

Measure = Annotated[float, Meta(ge=0, lt=2**53)]
Points = Count | Annotated[float, Meta(ge=0, multiple_of=0.5)]
"""Points of a check are whole; a teacher may give halves."""

Moment = Annotated[datetime, Meta(tz=True)]

_MAX_DEPTH = obs.MAX_DEPTH + 2  # metadata lie deeper than their node


def read_json(kind: Any, text: str | bytes) -> Any:
    """Return untrusted JSON text as a value of a type, or raise ValueError.

    Examples
    --------
    >>> read_json(Number | String, '["number", "int", 3]')
    Number(type='int', value=3)
    """
    try:
        value = msgspec.json.decode(text, type=kind)
        _check(value)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return value


class _Size:
    """The size of one observation."""

    nodes = elements = 0


def _check(value: object, size: _Size | None = None, depth: int = 0) -> None:
    """Raise ValueError if a value breaks a rule that its type cannot express.

    An observation as a whole is bounded, as `observe` bounds it, and its strings are writable.
    """
    match value:
        case str():
            if size is not None and not obs.is_writable(value):
                raise ValueError("a string with unwritable characters")
        case bool() | float():
            pass
        case int():
            if value.bit_length() > obs.MAX_INT_BITS:
                raise ValueError("an integer of too many bits")
        case datetime():
            if not 1970 <= value.year <= 9000:
                raise ValueError("a time that cannot be compared or shown")
        case list() | tuple():
            for item in value:
                _check(item, size, depth)
        case dict():
            for key, item in value.items():
                _check(key, size, depth)
                _check(item, size, depth)
        case msgspec.Struct():
            if isinstance(value, obs.Observed):
                if size is None:  # the root of an observation, wherever it is stored
                    size, depth = _Size(), 0
                size.nodes += 1
                size.elements += len(value.values) if isinstance(value, obs.Array) else 0
                too_many = size.nodes > obs.MAX_NODES or size.elements > obs.MAX_ELEMENTS
                if too_many or depth > _MAX_DEPTH:
                    raise ValueError("an observation larger than any that is made")
            for name in value.__struct_fields__:
                _check(getattr(value, name), size, depth + 1)
