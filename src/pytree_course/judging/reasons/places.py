"""Where results differ from what was expected: leaf by leaf."""

from collections.abc import Iterator
from dataclasses import dataclass

from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Node, Observation, Path


@dataclass(frozen=True)
class Place:
    """Two leaves, or two subtrees that are of different kinds, in one place."""

    path: Path
    expected: Observation
    got: Observation
    differs: bool


def children_of(node: Node) -> list[Observation]:
    """Return a node's children."""
    return [child for _, child in node.children]


def places(expected: Observation, got: Observation, path: Path = ()) -> Iterator[Place]:
    """Walk two observations together, down to leaves and to where they are of different kinds."""
    if isinstance(expected, Node) and isinstance(got, Node) and _are_alike(expected, got):
        for (key, child), other in zip(expected.children, children_of(got), strict=True):
            yield from places(child, other, (*path, key))
    else:
        yield Place(path, expected, got, compare(expected, got) is not None)


def _are_alike(expected: Node, got: Node) -> bool:
    keys, got_keys = ([key for key, _ in node.children] for node in (expected, got))
    return expected.type == got.type and keys == got_keys
