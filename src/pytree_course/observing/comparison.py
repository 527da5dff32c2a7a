"""The one comparison: two observations in, the first difference or None out."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytree_course.observing.observations import Observation, Path

RELATIVE_TOLERANCE = 1e-5
ABSOLUTE_TOLERANCE = 1e-6
COARSE_RELATIVE_TOLERANCE = 1e-2  # for floating dtypes of 16 bits and fewer
COARSE_DTYPES = ("bfloat16", "float16", "float8", "float4")

EXACT_ENTRIES = {
    "node": ("type",),
    "container leaf": ("type",),
    "array": ("library", "dtype", "shape"),
    "number": ("type",),
    "string": ("type",),
    "key": ("type", "text"),
    "object": ("type", "name"),
    "shape": ("dtype", "shape"),
    "tracer": ("dtype", "shape"),
}
"""What must be equal in two observations of a kind, before their contents are compared."""


MAX_SKELETON = 200
_VARYING = re.compile(
    r"""[^\s'"(<`]+\.py(?::\d+)*|'[^']*'|"[^"]*"|`[^`]*`"""
    r"""|[(\[{<][^)\]}>]*[)\]}>]|0x[0-9a-f]+|\d[\d.]*"""
)


@dataclass(frozen=True)
class Difference:
    """Where two observations first differ, and in what; `words.reason` says it in English.

    What is expected and what came are observations, values, texts or keys, as the aspect has it.
    """

    path: Path
    aspect: str  # a key of `words.DIFFERENCES`
    expected: Any = None
    got: Any = None
    place: int | None = None  # in an array of several numbers


def compare(expected: Observation, got: Observation, path: Path = ()) -> Difference | None:
    """Return the first difference between two observations, or None when they agree.

    Structures and types are compared exactly, floats with a tolerance, exceptions by their type
    (a subclass is as good) and by what their message mentions. A dict's insertion order does not
    count, for JAX ignores it too. `path` is where the two are in their trees.
    """
    kind = expected["kind"]
    if kind == "raised" and got["kind"] == "object" and got["type"] == expected["type"]:
        return Difference(path, "returned error", got=got["type"])
    exact = ("kind", *EXACT_ENTRIES.get(kind, ()))
    if any(expected.get(entry) != got.get(entry) for entry in exact):
        return Difference(path, "observation", expected, got)
    match kind:
        case "node":
            return _compare_nodes(expected, got, path)
        case "array":
            return _compare_arrays(expected, got, path)
        case "raised":
            return _compare_raised(expected, got, path)
        case "container leaf" if not agree(expected["items"], got["items"]):
            return Difference(path, "items", expected["type"])
        case "treedef" if compare(expected["tree"], got["tree"]):
            return Difference(path, "structure")
        case "number" if not _close(expected["value"], got["value"], _tolerance(expected["type"])):
            return Difference(path, "value", expected["value"], got["value"])
        case "string" if expected["value"] != got["value"]:
            return Difference(path, "text", expected["value"], got["value"])
    return None


def agree(expected: Sequence[Observation], got: Sequence[Observation]) -> bool:
    """Say whether two series of observations have the same length and no difference."""
    return len(expected) == len(got) and not any(map(compare, expected, got))


def _compare_nodes(expected: Observation, got: Observation, path: Path) -> Difference | None:
    keys, got_keys = ([key for key, _ in node["children"]] for node in (expected, got))
    if keys != got_keys:
        for key in (*keys, *got_keys):
            if key not in got_keys:
                return Difference((*path, key), "missing key", key)
            if key not in keys:
                return Difference((*path, key), "extra key", got=key)
        return Difference(path, "key order", ", ".join(keys), ", ".join(got_keys))
    for (key, child), (_, got_child) in zip(expected["children"], got["children"], strict=True):
        if difference := compare(child, got_child, (*path, key)):
            return difference
    aux, got_aux = expected.get("aux"), got.get("aux")
    if aux is None or got_aux is None:
        return None if aux is got_aux else Difference(path, "presence of aux_data")
    if compare(aux, got_aux):
        return Difference(path, "aux_data")
    return None


def _compare_arrays(expected: Observation, got: Observation, path: Path) -> Difference | None:
    values, got_values = expected["values"], got["values"]
    if len(values) != len(got_values):
        return Difference(path, "array length")
    tolerance = _tolerance(expected["dtype"])
    for place, (value, got_value) in enumerate(zip(values, got_values, strict=True)):
        if not _close(value, got_value, tolerance):
            place_if_many = place if len(values) > 1 else None
            return Difference(path, "value", value, got_value, place_if_many)
    return None


def _compare_raised(expected: Observation, got: Observation, path: Path) -> Difference | None:
    if expected["type"] not in got["bases"]:
        return Difference(path, "value", expected["type"], got["type"])
    for text, is_expected in expected["mentions"].items():
        if bool(is_expected) != bool(got["mentions"].get(text)):
            return Difference(path, "missing mention" if is_expected else "extra mention", text)
    return None


def without_message(observation: Observation) -> Observation:
    """Leave out what is never compared, and may name an address in memory."""
    return observation | {"message": ""} if observation["kind"] == "raised" else observation


def with_skeleton(observation: Observation) -> Observation:
    """Leave of an exception's message what is the same whatever the inputs, and in every run."""
    if observation["kind"] != "raised":
        return observation
    return observation | {"message": skeleton(observation["message"])}


def skeleton(message: str) -> str:
    """Return the first line of a message without what is quoted, numbers, addresses and files."""
    first = message.strip().split("\n", 1)[0][:MAX_SKELETON]
    return " ".join(_VARYING.sub("…", first).split())


def _tolerance(dtype: str) -> float:
    return COARSE_RELATIVE_TOLERANCE if dtype.endswith(COARSE_DTYPES) else RELATIVE_TOLERANCE


def _close(expected: Any, got: Any, tolerance: float) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(expected, got, rel_tol=tolerance, abs_tol=ABSOLUTE_TOLERANCE)
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return all(_close(*pair, tolerance) for pair in zip(expected, got, strict=True))
    return type(expected) is type(got) and bool(expected == got)
