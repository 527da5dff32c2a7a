"""Observations as code: small results in full, as Python writes them; None for all others."""

import math

import numpy as np

from pytree_course.observations import Observation

LONGEST = 90
"""Characters that are read at one glance."""

_BRACKETS = {"list": "[]", "tuple": "()", "dict": "{}"}


def code(observation: Observation) -> str | None:
    """Write an observation as code of at most 90 characters, or return None."""
    try:
        text = _code(observation)
    except ValueError:
        return None
    return text if len(text) <= LONGEST else None


def _code(seen: Observation) -> str:
    match seen["kind"]:
        case "none":
            return "None"
        case "number" if not isinstance(seen["value"], list):  # a complex number
            text = _number(seen["value"])
            kind = str(seen["type"]).replace("numpy.", "np.")
            return f"{kind}({text})" if kind.startswith("np.") else text
        case "string":
            return f"{'b' if seen['type'] == 'bytes' else ''}{seen['value']!r}"
        case "array" if len(seen["values"]) == math.prod(seen["shape"]):
            return _array(seen)
        case "node" | "container leaf":
            return _container(seen)
    raise ValueError(seen["kind"])


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) and not value.is_integer() else str(value)


def _array(seen: Observation) -> str:
    if not seen["dtype"].startswith(("float", "int", "uint", "bool")):
        raise ValueError(seen["dtype"])
    kind = float if seen["dtype"].startswith("float") else int  # "nan" is a text
    numbers = np.array([kind(value) for value in seen["values"]], seen["dtype"])
    text = " ".join(repr(numbers.reshape(seen["shape"])).split())
    return text.replace("array", "Array", 1) if seen["library"] == "jax" else text


def _container(seen: Observation) -> str:
    name = seen["type"]
    if seen.get("aux") is not None or (seen["kind"] == "container leaf" and name in _BRACKETS):
        raise ValueError(name)  # a list that is one leaf is written like one that is a node
    pairs = seen["children"] if seen["kind"] == "node" else [["", each] for each in seen["items"]]
    parts = []
    for key, child in pairs:
        part = _code(child)
        if key.startswith("."):
            part = f"{key[1:]}={part}"
        elif name in ("dict", "OrderedDict"):
            part = f"{key[1:-1]}: {part}"
        parts.append(part)
    inside = ", ".join(parts) + ("," if name == "tuple" and len(parts) == 1 else "")
    if name == "OrderedDict":
        return f"OrderedDict({{{inside}}})"
    first, last = _BRACKETS.get(name, (f"{name}(", ")"))
    return f"{first}{inside}{last}"
