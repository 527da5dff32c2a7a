"""Short labels for observations, such as `f32[2,3]` or `dict of 2`."""

import re
from typing import Any

from pytree_course.observing.observations import Observation, count_leaves
from pytree_course.texts import counted, cut_middle, shorten

LONGEST_NAME = 26
_FAMILIES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def summary(observation: Observation) -> str:
    """Say in a few words what was observed: `f32[2,3]`, `3`, `'abc'` or `dict of 2`."""
    return shorten(_summary(observation), LONGEST_NAME)


def _summary(seen: Observation) -> str:
    match seen["kind"]:
        case "node":
            count = len(seen["children"])
            return f"{seen['type']} of {count}" if count else f"empty {seen['type']}"
        case "none":
            return "None"
        case "star":
            return "*"
        case "array":
            return ("np " if seen["library"] == "numpy" else "") + _type_and_shape(seen)
        case "number":
            return _number(seen)
        case "string":
            return _quoted(seen)
        case "treedef":
            return f"PyTreeDef of {counted(count_leaves(seen['tree']), 'leaf', 'leaves')}"
        case "container leaf":
            return f"{seen['type']} of {len(seen['items'])}"
        case "key":
            return f"key {seen['text']}"
        case "shape" | "tracer" as kind:
            return f"{kind} {_type_and_shape(seen)}"
        case "object":
            return _object(seen)
        case "raised":
            return f"raised {seen['type']}"
        case kind:
            return str(kind)


def expression(observation: Observation, depth: int = 2) -> str:
    """Write an observation much as in Python: metadata is to be read in full."""
    kind = observation["kind"]
    if kind not in ("node", "container leaf") or depth == 0:
        return summary(observation)
    name = observation["type"]
    if kind == "node":
        pairs = observation["children"]
    else:
        pairs = [("", item) for item in observation["items"]]
    parts = []
    for key, child in pairs[:6]:
        part = expression(child, depth - 1)
        if key.startswith("."):
            part = f"{key[1:]}={part}"
        elif name in ("dict", "OrderedDict"):
            part = f"{key[1:-1]}: {part}"
        parts.append(part)
    if len(pairs) > 6:
        parts.append("…")
    inside = ", ".join(parts)
    match name:
        case "dict":
            return f"{{{inside}}}"
        case "OrderedDict":
            return f"OrderedDict({{{inside}}})"
        case "list":
            return f"[{inside}]"
        case "tuple":
            return f"({inside},)" if len(pairs) == 1 else f"({inside})"
        case _:
            return f"{name}({inside})"


def values(array: Observation) -> str:
    """Write the first numbers of an array."""
    words = [_plain_number(value) for value in array["values"][:8]]
    return ", ".join(words) + (", …" if len(array["values"]) > 8 else "")


def columns(text: str) -> int:
    """Width of a text in monospace columns; the characters of Asia and emoji take two."""
    # Not from unicodedata: what it says differs from Python to Python, and with it the picture.
    narrow = sum(code < 0x1100 or 0x1E00 <= code < 0x2E80 for code in map(ord, text))
    return 2 * len(text) - narrow


def _type_and_shape(seen: Observation) -> str:
    dtype = str(seen["dtype"])
    if match := re.fullmatch(r"(bfloat|float|uint|int|complex)(\d.*)", dtype):
        dtype = _FAMILIES[match[1]] + match[2]
    return f"{dtype}[{','.join(map(str, seen['shape']))}]"


def _number(seen: Observation) -> str:
    kind, number = seen["type"], _plain_number(seen["value"])
    if kind in ("int", "bool", "float", "complex"):
        return number
    return f"{kind.replace('numpy.', 'np.')}({number})"


def _plain_number(value: Any) -> str:
    if isinstance(value, list) and len(value) == 2:
        real, imaginary = (str(part).removesuffix(".0") for part in value)
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    return str(value)


def _object(seen: Observation) -> str:
    kind = {"type": "class", "builtin_function_or_method": "function"}.get(seen["type"])
    return f"{kind or seen['type']} {seen.get('name') or 'object'}"


def _quoted(seen: Observation) -> str:
    value = cut_middle(str(seen["value"]), 4 * LONGEST_NAME).replace("\\", "\\\\")
    quote = '"' if "'" in value and '"' not in value else "'"
    value = value.replace(quote, "\\" + quote)
    return f"{'b' if seen['type'] == 'bytes' else ''}{quote}{value}{quote}"
