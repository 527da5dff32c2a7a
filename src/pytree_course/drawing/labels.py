"""Short labels for observations, such as `f32[2,3]` or `dict of 2`."""

import re
from collections.abc import Sequence

from pytree_course.observing.observations import (
    Array,
    ContainerLeaf,
    KeyEntry,
    Node,
    NoneValue,
    NotAttempted,
    Number,
    Object,
    Observation,
    Raised,
    Scalar,
    ShapeStruct,
    Star,
    String,
    Tracer,
    Treedef,
    Unbounded,
    count_leaves,
)
from pytree_course.texts import counted, cut_middle, shorten

LONGEST_NAME = 26
_FAMILIES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def summary(observation: Observation) -> str:
    """Say in a few words what was observed: `f32[2,3]`, `3`, `'abc'` or `dict of 2`."""
    return shorten(_summary(observation), LONGEST_NAME)


def _summary(observation: Observation) -> str:
    match observation:
        case Node(type=name, children=children):
            return f"{name} of {len(children)}" if children else f"empty {name}"
        case NoneValue():
            return "None"
        case Star():
            return "*"
        case Array():
            library = "np " if observation.library == "numpy" else ""
            return library + _type_and_shape(observation)
        case Number():
            return _number(observation)
        case String():
            return _quoted(observation)
        case Treedef():
            return f"PyTreeDef of {counted(count_leaves(observation.tree), 'leaf', 'leaves')}"
        case ContainerLeaf(type=name, items=items):
            return f"{name} of {len(items)}"
        case KeyEntry():
            return f"key {observation.text}"
        case ShapeStruct():
            return f"shape {_type_and_shape(observation)}"
        case Tracer():
            return f"tracer {_type_and_shape(observation)}"
        case Object():
            return _object(observation)
        case Raised():
            return f"raised {observation.type}"
        case NotAttempted():
            return "not attempted"
        case Unbounded():
            return "unbounded"


def expression(observation: Observation, depth: int = 2) -> str:
    """Write an observation much as in Python: metadata is to be read in full."""
    match observation:
        case Node(type=name, children=pairs) if depth:
            pass
        case ContainerLeaf(type=name, items=items) if depth:
            pairs = tuple([("", item) for item in items])
        case _:
            return summary(observation)
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


def values(numbers: Sequence[Scalar]) -> str:
    """Write the first numbers of an array."""
    return ", ".join(map(_plain_number, numbers[:8])) + (", …" if len(numbers) > 8 else "")


def columns(text: str) -> int:
    """Width of a text in monospace columns; the characters of Asia and emoji take two."""
    # Not from unicodedata: what it says differs from Python to Python, and with it the picture.
    narrow = sum(code < 0x1100 or 0x1E00 <= code < 0x2E80 for code in map(ord, text))
    return 2 * len(text) - narrow


def _type_and_shape(seen: Array | ShapeStruct | Tracer) -> str:
    dtype = seen.dtype
    if match := re.fullmatch(r"(bfloat|float|uint|int|complex)(\d.*)", dtype):
        dtype = _FAMILIES[match[1]] + match[2]
    return f"{dtype}[{','.join(map(str, seen.shape))}]"


def _number(seen: Number) -> str:
    kind, number = seen.type, _plain_number(seen.value)
    if kind in ("int", "bool", "float", "complex"):
        return number
    return f"{kind.replace('numpy.', 'np.')}({number})"


def _plain_number(value: Scalar) -> str:
    if isinstance(value, tuple):
        real, imaginary = (str(part).removesuffix(".0") for part in value)
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    return str(value)


def _object(seen: Object) -> str:
    kind = {"type": "class", "builtin_function_or_method": "function"}.get(seen.type)
    return f"{kind or seen.type} {seen.name or 'object'}"


def _quoted(seen: String) -> str:
    value = cut_middle(seen.value, 4 * LONGEST_NAME).replace("\\", "\\\\")
    quote = '"' if "'" in value and '"' not in value else "'"
    value = value.replace(quote, "\\" + quote)
    return f"{'b' if seen.type == 'bytes' else ''}{quote}{value}{quote}"
