"""Write observations in words: labels, Python expressions, and phrases for sentences."""

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
from pytree_course.texts import counted, cut_middle, shorten, truncate

LONGEST_NAME = 26  # characters
LONGEST_VALUE = 40
LONGEST_KEYS = 60
LONGEST_TEXT = 60
LEAF = "a leaf"
_DICTS = ("dict", "OrderedDict", "defaultdict")
_FAMILIES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def summary(observation: Observation) -> str:
    """Label an observation: `f32[2,3]`, `3`, `'abc'` or `dict of 2`."""
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
    """Write an observation as a Python expression, `depth` levels of it."""
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
    return ", ".join(map(number_text, numbers[:8])) + (", …" if len(numbers) > 8 else "")


def outline(observation: Observation) -> str:
    """Name a node without its contents: `dict of 2: 'b', 'w'`; every leaf is `a leaf`."""
    if not isinstance(observation, Node):
        return "None" if observation == NoneValue() else LEAF
    words = summary(observation)
    if observation.children and observation.type in _DICTS:
        keys = ", ".join(key[1:-1] for key, _ in observation.children)
        words += f": {shorten(keys, LONGEST_KEYS)}"
    if observation.aux is not None:
        words += f", aux_data {shorten(expression(observation.aux), LONGEST_VALUE)}"
    return words


def describe(observation: Observation) -> str:
    """Describe an observation within a sentence: `a tuple`, `an array of ...`, `int 3`."""
    match observation:
        case NoneValue():
            return "None"
        case Number(type=name, value=value):
            return f"{name} {number_text(value)}"
        case String(type=name, value=text):
            return f"{name} {truncate(text, LONGEST_TEXT)!r}"
        case Array(dtype=dtype, shape=shape):
            library = "JAX" if observation.library == "jax" else "NumPy"
            return f"a {library} array of {dtype} with shape {shape}"
        case Treedef():
            return "a tree structure"
        case Star():
            return "a leaf"
        case KeyEntry(text=text):
            return f"the key path entry {text}"
        case ShapeStruct():
            return "a ShapeDtypeStruct"
        case Tracer():
            return "a tracer (a value of the trace that left its function)"
        case NotAttempted():
            return "the placeholder of the starter"
        case Unbounded(why=why):
            return f"a value too large to compare: {why}"
        case Node(type=name) | ContainerLeaf(type=name) | Object(type=name) | Raised(type=name):
            article = "an" if name[:1].lower() in "aeiou" or name[:2] == "ND" else "a"
            return f"{article} {name}"


def _type_and_shape(seen: Array | ShapeStruct | Tracer) -> str:
    dtype = seen.dtype
    if match := re.fullmatch(r"(bfloat|float|uint|int|complex)(\d.*)", dtype):
        dtype = _FAMILIES[match[1]] + match[2]
    return f"{dtype}[{','.join(map(str, seen.shape))}]"


def _number(seen: Number) -> str:
    kind, number = seen.type, number_text(seen.value)
    if kind in ("int", "bool", "float", "complex"):
        return number
    return f"{kind.replace('numpy.', 'np.')}({number})"


def number_text(value: Scalar) -> str:
    """Write a number: `2`, `1.5`, `nan`, `1+2j`."""
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
