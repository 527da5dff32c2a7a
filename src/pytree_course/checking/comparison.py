"""The one comparison: two observations in, the first difference or None out."""

import math
from dataclasses import dataclass
from typing import Any

from pytree_course.trees import Observation, Path

RELATIVE_TOLERANCE = 1e-5
ABSOLUTE_TOLERANCE = 1e-6
COARSE_RELATIVE_TOLERANCE = 1e-2  # for floating dtypes of 16 bits and fewer
COARSE_DTYPES = ("bfloat16", "float16", "float8", "float4")


@dataclass(frozen=True)
class Difference:
    """Where two observations first part, and how, in words.

    Attributes
    ----------
    path
        Key path to the first node or leaf that differs.
    reason
        One clause, such as "expected a tuple here, not a list".
    """

    path: Path
    reason: str


def compare(expected: Observation, got: Observation) -> Difference | None:
    """Return the first difference between two observations, or None when they agree.

    Structures and types are compared exactly, floats with a tolerance, exceptions by their type
    (a subclass is as good) and by what their message mentions. A dict's insertion order does not
    count, for JAX ignores it too.
    """
    return _compare(expected, got, ())


def _compare(expected: Observation, got: Observation, path: Path) -> Difference | None:
    kind = expected["kind"]
    if kind == "raised" and got["kind"] == "object" and got["type"] == expected["type"]:
        return Difference(path, f"the {expected['type']} should be raised, and you returned it")
    if kind != got.get("kind"):
        return Difference(path, f"expected {describe(expected)}, not {describe(got)}")
    match kind:
        case "node":
            return _compare_nodes(expected, got, path)
        case "container leaf":
            return _compare_items(expected, got, path)
        case "treedef":
            if compare(expected["tree"], got["tree"]):
                return Difference(path, "the two tree structures differ")
            return None
        case "array":
            return _compare_arrays(expected, got, path)
        case "number":
            return _compare_numbers(expected, got, path)
        case "raised":
            return _compare_raised(expected, got, path)
        case "string" if expected["type"] == got["type"]:
            if expected["value"] != got["value"]:
                texts = (repr(_shorten(each["value"])) for each in (expected, got))
                return Difference(path, "expected {}, not {}".format(*texts))
        case "string" | "key" | "object" | "shape" | "tracer":
            entries = ("type", "value", "text", "name", "dtype", "shape")
            if any(expected.get(entry) != got.get(entry) for entry in entries):
                return Difference(path, f"expected {describe(expected)}, not {describe(got)}")
    return None


def _compare_nodes(expected: Observation, got: Observation, path: Path) -> Difference | None:
    if expected["type"] != got["type"]:
        return Difference(path, f"expected {describe(expected)}, not {describe(got)}")
    keys, got_keys = ([key for key, _ in node["children"]] for node in (expected, got))
    if keys != got_keys:
        for key in keys:
            if key not in got_keys:
                return Difference((*path, key), f"{key} is missing")
        for key in got_keys:
            if key not in keys:
                return Difference((*path, key), f"{key} should not be there")
        order = f"{', '.join(keys)}; not {', '.join(got_keys)}"
        return Difference(path, f"the children should come in this order: {order}")
    for (key, child), (_, got_child) in zip(expected["children"], got["children"], strict=True):
        if difference := _compare(child, got_child, (*path, key)):
            return difference
    aux, got_aux = expected.get("aux"), got.get("aux")
    if (aux is None) != (got_aux is None):
        return Difference(path, "only one of the two has aux_data")
    if aux is not None and got_aux is not None and compare(aux, got_aux):
        return Difference(path, "its aux_data differs")
    return None


def _compare_items(expected: Observation, got: Observation, path: Path) -> Difference | None:
    items, got_items = expected["items"], got["items"]
    alike = (
        expected["type"] == got["type"]
        and len(items) == len(got_items)
        and not any(compare(*pair) for pair in zip(items, got_items, strict=True))
    )
    if alike:
        return None
    if expected["type"] == got["type"]:
        return Difference(path, f"the items of this {expected['type']} differ")
    return Difference(path, f"expected {describe(expected)}, not {describe(got)}")


def _compare_arrays(expected: Observation, got: Observation, path: Path) -> Difference | None:
    if any(expected[entry] != got[entry] for entry in ("library", "dtype", "shape")):
        return Difference(path, f"expected {describe(expected)}, not {describe(got)}")
    values, got_values = expected["values"], got["values"]
    if len(values) != len(got_values):
        return Difference(path, "the arrays do not hold equally many numbers")
    tolerance = _tolerance(expected["dtype"])
    for place, (value, got_value) in enumerate(zip(values, got_values, strict=True)):
        if not _close(value, got_value, tolerance):
            where = f" at place {place}" if len(values) > 1 else ""
            return Difference(path, f"expected {value}{where}, not {got_value}")
    return None


def _compare_numbers(expected: Observation, got: Observation, path: Path) -> Difference | None:
    if expected["type"] != got["type"]:
        return Difference(path, f"expected {describe(expected)}, not {describe(got)}")
    if not _close(expected["value"], got["value"], _tolerance(expected["type"])):
        return Difference(path, f"expected {expected['value']}, not {got['value']}")
    return None


def _compare_raised(expected: Observation, got: Observation, path: Path) -> Difference | None:
    if expected["type"] not in got["bases"]:
        return Difference(path, f"expected {expected['type']}, not {got['type']}")
    for text, wanted in expected["mentions"].items():
        if wanted and not got["mentions"].get(text):
            return Difference(path, f"the error's message should mention {text!r}")
        if not wanted and got["mentions"].get(text):
            return Difference(path, f"the error's message should not mention {text!r}")
    return None


def without_message(observation: Observation) -> Observation:
    """Leave out what is never compared, and may name an address in memory."""
    return observation | {"message": ""} if observation["kind"] == "raised" else observation


def _tolerance(dtype: str) -> float:
    return COARSE_RELATIVE_TOLERANCE if dtype.endswith(COARSE_DTYPES) else RELATIVE_TOLERANCE


def _close(expected: Any, got: Any, tolerance: float) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(
            expected, got, rel_tol=tolerance, abs_tol=min(ABSOLUTE_TOLERANCE, tolerance)
        )
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return all(_close(*pair, tolerance) for pair in zip(expected, got, strict=True))
    return type(expected) is type(got) and bool(expected == got)


def describe(observation: Observation) -> str:
    """Say in a few words what an observation is, with an article: "a list", "a float32 array"."""
    match observation["kind"]:
        case "node" | "container leaf" | "object":
            name = observation["type"]
        case "none":
            return "None"
        case "array":
            shape = tuple(observation["shape"])
            library = "JAX" if observation["library"] == "jax" else "NumPy"
            name = f"{library} array of {observation['dtype']} with shape {shape}"
        case "number":
            return f"{observation['type']} {observation['value']}"
        case "string":
            return f"{observation['type']} {_shorten(observation['value'])!r}"
        case "treedef":
            name = "tree structure"
        case "star":
            name = "leaf"
        case "key":
            return f"the key path entry {observation['text']}"
        case "shape":
            name = "ShapeDtypeStruct"
        case "tracer":
            name = "tracer (a traced value that left its function)"
        case "raised":
            name = observation["type"]
        case "not attempted":
            return "the placeholder of the starter"
        case _:
            return f"a value too large to compare: {observation.get('why')}"
    article = "an" if name[:1].lower() in "aeiou" or name[:2] == "ND" else "a"
    return f"{article} {name}"


def _shorten(text: str, longest: int = 60) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
