"""Where results differ from what was expected: leaf by leaf."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Observation, Path


@dataclass(frozen=True)
class Place:
    """Two leaves, or two subtrees that are of different kinds, in one place."""

    path: Path
    expected: Observation
    got: Observation
    differs: bool


def children_of(node: Observation) -> list[Observation]:
    """Return a node's children."""
    return [child for _, child in node["children"]]


def is_node(observation: Observation) -> bool:
    """Say whether something was observed that has children."""
    return bool(observation["kind"] == "node")


def places(expected: Observation, got: Observation, path: Path = ()) -> Iterator[Place]:
    """Walk two observations together, down to leaves and to where they are of different kinds."""
    alike = is_node(expected) and is_node(got) and expected["type"] == got["type"]
    if alike and [key for key, _ in expected["children"]] == [key for key, _ in got["children"]]:
        for (key, child), other in zip(expected["children"], children_of(got), strict=True):
            yield from places(child, other, (*path, key))
    else:
        yield Place(path, expected, got, compare(expected, got) is not None)
