"""Compare two observations: return the first difference, or None."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from msgspec import structs

from pytree_course.observing import observations as obs

RELATIVE_TOLERANCE = 1e-5
ABSOLUTE_TOLERANCE = 1e-6
COARSE_RELATIVE_TOLERANCE = 1e-2  # for floating dtypes of 16 bits and fewer
COARSE_DTYPES = ("bfloat16", "float16")

MAX_SKELETON = 200
MAX_FIRST_LINE = 1_000
_VARYING = re.compile(
    r"""(?<![^\s'"(<`])[^\s'"(<`]+\.py(?::\d+)*|'[^']*'|"[^"]*"|`[^`]*`"""
    r"""|[(\[{<][^)\]}>]*[)\]}>]|0x[0-9a-f]+|\d[\d.]*"""
)


@dataclass(frozen=True)
class Difference:
    """The first difference between two observations: its path and its aspect.

    `expected` and `got` are observations, values, strings or keys, depending on the aspect.
    """

    path: obs.Path
    aspect: str  # a key of `words.DIFFERENCES`
    expected: Any = None
    got: Any = None
    index: int | None = None  # of a number in an array of several, row by row


def compare(
    expected: obs.Observation, got: obs.Observation, path: obs.Path = ()
) -> Difference | None:
    """Return the first difference between two observations, or None if they agree.

    Structures and types are compared exactly, floats with a tolerance, exceptions by their type
    (a subclass is as good) and by what their message mentions. A dict's insertion order does not
    count, because JAX ignores it too. `path` is the path of both in their trees.
    """
    match expected, got:
        case obs.Node(), obs.Node() if expected.type == got.type:
            return _compare_nodes(expected, got, path)
        case obs.Array(), obs.Array() if _array_type(expected) == _array_type(got):
            return _compare_arrays(expected, got, path)
        case obs.Number(), obs.Number() if expected.type == got.type:
            if not _close(expected.value, got.value, _tolerance(expected.type)):
                return Difference(path, "value", expected.value, got.value)
        case obs.String(), obs.String() if expected.type == got.type:
            if expected.value != got.value:
                return Difference(path, "text", expected.value, got.value)
        case obs.Raised(), obs.Raised():
            return _compare_raised(expected, got, path)
        case obs.Raised(), obs.Object() if expected.type == got.type:
            return Difference(path, "returned error", got=got.type)
        case obs.ContainerLeaf(), obs.ContainerLeaf() if expected.type == got.type:
            if not agree(expected.items, got.items):
                return Difference(path, "items", expected.type)
        case obs.Treedef(), obs.Treedef():
            if compare(expected.tree, got.tree):
                return Difference(path, "structure")
        case obs.Object(), obs.Object() if (expected.type, expected.name) == (got.type, got.name):
            pass
        case (obs.NoneValue(), obs.NoneValue()) | (obs.Unbounded(), obs.Unbounded()):
            pass
        case _ if expected != got:
            return Difference(path, "observation", expected, got)
    return None


def agree(expected: Sequence[obs.Observation], got: Sequence[obs.Observation]) -> bool:
    """Return whether two sequences of observations have the same length and no difference."""
    return len(expected) == len(got) and not any(map(compare, expected, got))


def _compare_nodes(expected: obs.Node, got: obs.Node, path: obs.Path) -> Difference | None:
    keys, got_keys = expected.keys, got.keys
    if keys != got_keys:
        for key in keys:
            if key not in got_keys:
                return Difference((*path, key), "missing key", key)
        for key in got_keys:
            if key not in keys:
                return Difference((*path, key), "extra key", got=key)
        return Difference(path, "key order", ", ".join(keys), ", ".join(got_keys))
    for (key, child), (_, got_child) in zip(expected.children, got.children, strict=True):
        if difference := compare(child, got_child, (*path, key)):
            return difference
    if expected.aux is None or got.aux is None:
        return None if expected.aux is got.aux else Difference(path, "presence of aux_data")
    if compare(expected.aux, got.aux):
        return Difference(path, "aux_data")
    return None


def _array_type(array: obs.Array) -> tuple[str, str, obs.Shape]:
    return array.library, array.dtype, array.shape


def _compare_arrays(expected: obs.Array, got: obs.Array, path: obs.Path) -> Difference | None:
    if len(expected.values) != len(got.values):
        return Difference(path, "array length")
    tolerance = _tolerance(expected.dtype)
    for index, (value, got_value) in enumerate(zip(expected.values, got.values, strict=True)):
        if not _close(value, got_value, tolerance):
            index_if_many = index if len(expected.values) > 1 else None
            return Difference(path, "value", value, got_value, index_if_many)
    return None


def _compare_raised(expected: obs.Raised, got: obs.Raised, path: obs.Path) -> Difference | None:
    if expected.type not in got.bases:
        return Difference(path, "value", expected.type, got.type)
    for text, is_expected in expected.mentions.items():
        if is_expected != got.mentions.get(text, False):
            return Difference(path, "missing mention" if is_expected else "extra mention", text)
    return None


def without_message(observation: obs.Observation) -> obs.Observation:
    """Drop an exception's message: it is never compared, and may contain a memory address."""
    is_raised = isinstance(observation, obs.Raised)
    return structs.replace(observation, message="") if is_raised else observation


def with_skeleton(observation: obs.Observation) -> obs.Observation:
    """Reduce an exception's message to the part that does not depend on the inputs or the run."""
    if not isinstance(observation, obs.Raised):
        return observation
    return structs.replace(observation, message=skeleton(observation.message))


@lru_cache(1_000)  # called for each misconception that raises
def skeleton(message: str) -> str:
    """Return the first line of a message without quotations, numbers, addresses and files.

    It is shortened last: the length of a file's path depends on the machine.
    """
    first = message.strip().split("\n", 1)[0][:MAX_FIRST_LINE]
    return " ".join(_VARYING.sub("…", first).split())[:MAX_SKELETON]


def _tolerance(dtype: str) -> float:
    return COARSE_RELATIVE_TOLERANCE if dtype.endswith(COARSE_DTYPES) else RELATIVE_TOLERANCE


def _close(expected: obs.Scalar, got: obs.Scalar, tolerance: float) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        return math.isclose(expected, got, rel_tol=tolerance, abs_tol=ABSOLUTE_TOLERANCE)
    if isinstance(expected, tuple) and isinstance(got, tuple):
        return all(_close(*pair, tolerance) for pair in zip(expected, got, strict=True))
    return type(expected) is type(got) and expected == got
