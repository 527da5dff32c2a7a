"""Write observations in words: labels, Python expressions, and phrases for sentences."""

import re
from collections.abc import Sequence

from pytree_course.observing import observations as obs
from pytree_course.texts import counted, cut_middle, shorten, truncate, with_article

MAX_NAME = 26  # characters
MAX_VALUE = 40
MAX_KEYS = 60
MAX_TEXT = 60
MAX_CHILDREN = 6  # of a node in an expression
MAX_NUMBERS = 8  # of an array
A_LEAF = "a leaf"
_DICTS = ("dict", "OrderedDict", "defaultdict")
_FAMILIES = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c"}


def summary(observation: obs.Observation) -> str:
    """Label an observation: `f32[2,3]`, `3`, `'abc'` or `dict of 2`."""
    return shorten(_summary(observation), MAX_NAME)


def _summary(observation: obs.Observation) -> str:
    match observation:
        case obs.Node(type=name, children=children):
            return f"{name} of {len(children)}" if children else f"empty {name}"
        case obs.NoneValue():
            return "None"
        case obs.Star():
            return "*"
        case obs.Array():
            library = "np " if observation.library == "numpy" else ""
            return library + _type_and_shape(observation)
        case obs.Number():
            return _number(observation)
        case obs.String():
            return _quoted(observation)
        case obs.Treedef():
            return f"PyTreeDef of {counted(obs.count_leaves(observation.tree), 'leaf', 'leaves')}"
        case obs.ContainerLeaf(type=name, items=items):
            return f"{name} of {len(items)}"
        case obs.KeyEntry():
            return f"key {observation.text}"
        case obs.ShapeStruct():
            return f"shape {_type_and_shape(observation)}"
        case obs.Tracer():
            return f"tracer {_type_and_shape(observation)}"
        case obs.Object():
            kinds = {"type": "class", "builtin_function_or_method": "function"}
            kind = kinds.get(observation.type, observation.type)
            return f"{kind} {observation.name or 'object'}"
        case obs.Raised():
            return f"raised {observation.type}"
        case obs.NotAttempted():
            return "not attempted"
        case obs.Unbounded():
            return "unbounded"


def expression(observation: obs.Observation, depth: int = 2) -> str:
    """Write an observation as a Python expression, `depth` levels of it."""
    match observation:
        case obs.Node(type=name, children=pairs) if depth:
            pass
        case obs.ContainerLeaf(type=name, items=items) if depth:
            pairs = tuple([("", item) for item in items])
        case _:
            return summary(observation)
    parts = []
    for key, child in pairs[:MAX_CHILDREN]:
        part = expression(child, depth - 1)
        if key.startswith("."):
            part = f"{key[1:]}={part}"
        elif name in ("dict", "OrderedDict"):
            part = f"{key[1:-1]}: {part}"
        parts.append(part)
    if len(pairs) > MAX_CHILDREN:
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


def first_numbers(numbers: Sequence[obs.Scalar]) -> str:
    """Write the first numbers of an array."""
    more = ", …" if len(numbers) > MAX_NUMBERS else ""
    return ", ".join(map(number_text, numbers[:MAX_NUMBERS])) + more


def outline(observation: obs.Observation) -> str:
    """Name a node without its contents: `dict of 2: 'b', 'w'`; every leaf is `a leaf`."""
    if not isinstance(observation, obs.Node):
        return "None" if observation == obs.NoneValue() else A_LEAF
    words = summary(observation)
    if observation.children and observation.type in _DICTS:
        keys = ", ".join(key[1:-1] for key in observation.keys)
        words += f": {shorten(keys, MAX_KEYS)}"
    if observation.aux is not None:
        words += f", aux_data {shorten(expression(observation.aux), MAX_VALUE)}"
    return words


def describe(observation: obs.Observation) -> str:
    """Describe an observation within a sentence: `a tuple`, `an array of ...`, `int 3`."""
    match observation:
        case obs.NoneValue():
            return "None"
        case obs.Number(type=name, value=value):
            return f"{name} {number_text(value)}"
        case obs.String(type=name, value=text):
            return f"{name} {truncate(text, MAX_TEXT)!r}"
        case obs.Array(dtype=dtype, shape=shape):
            library = "JAX" if observation.library == "jax" else "NumPy"
            return f"a {library} array of {dtype} with shape {shape}"
        case obs.Treedef():
            return "a tree structure"
        case obs.Star():
            return A_LEAF
        case obs.KeyEntry(text=text):
            return f"the key path entry {text}"
        case obs.ShapeStruct():
            return f"a ShapeDtypeStruct of {observation.dtype} with shape {observation.shape}"
        case obs.Tracer():
            return "a tracer (a value of the trace that left its function)"
        case obs.NotAttempted():
            return "the placeholder of the starter"
        case obs.Unbounded(why=why):
            return f"a value too large to compare: {why}"
        case _:
            return with_article(observation.type)


def _type_and_shape(array: obs.Array | obs.ShapeStruct | obs.Tracer) -> str:
    dtype = array.dtype
    if match := re.fullmatch(r"(bfloat|float|uint|int|complex)(\d.*)", dtype):
        dtype = _FAMILIES[match[1]] + match[2]
    return f"{dtype}[{','.join(map(str, array.shape))}]"


def _number(scalar: obs.Number) -> str:
    kind, number = scalar.type, number_text(scalar.value)
    if kind in ("int", "bool", "float", "complex"):
        return number
    return f"{kind.replace('numpy.', 'np.')}({number})"


def number_text(value: obs.Scalar) -> str:
    """Write a number: `2`, `1.5`, `nan`, `1+2j`."""
    if isinstance(value, tuple):
        real, imaginary = (str(part).removesuffix(".0") for part in value)
        return f"{real}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    return str(value)


def _quoted(string: obs.String) -> str:
    value = cut_middle(string.value, 4 * MAX_NAME).replace("\\", "\\\\")
    quote = '"' if "'" in value and '"' not in value else "'"
    value = value.replace(quote, "\\" + quote)
    return f"{'b' if string.type == 'bytes' else ''}{quote}{value}{quote}"
