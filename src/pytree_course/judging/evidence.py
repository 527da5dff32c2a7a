"""The evidence for findings: one record per case, and where two results differ."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pytree_course.judging.verdicts import Finding
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Node, Observation, Path, Raised
from pytree_course.running.outcomes import Line


@dataclass(frozen=True)
class Evidence:
    """One case: its features and inputs, the expected result, and the learner's."""

    number: int
    features: frozenset[str]  # from the author's run
    summary: dict[str, str] | None  # what wrong entries mean; None where the result is the answer's
    inputs: Sequence[Observation]
    expected: Observation
    got: Observation
    failed: bool
    line: Line | None

    @property
    def raised(self) -> bool:
        """Whether the call raised."""
        return isinstance(self.got, Raised)

    @property
    def should_raise(self) -> bool:
        """Whether the call should raise."""
        return isinstance(self.expected, Raised)


def finding(kind: str, failing: Sequence[Evidence], **data: str) -> Finding:
    """Make a finding that is true of these cases."""
    return Finding(kind, [case.number for case in failing], data)


@dataclass(frozen=True)
class Place:
    """Two leaves, or two subtrees of different kinds, at the same path of two results."""

    path: Path
    expected: Observation
    got: Observation
    differs: bool


def places(expected: Observation, got: Observation, path: Path = ()) -> Iterator[Place]:
    """Walk two observations together, down to leaves and to where they are of different kinds."""
    if isinstance(expected, Node) and isinstance(got, Node) and _are_alike(expected, got):
        for (key, child), (_, got_child) in zip(expected.children, got.children, strict=True):
            yield from places(child, got_child, (*path, key))
    else:
        yield Place(path, expected, got, compare(expected, got) is not None)


def _are_alike(expected: Node, got: Node) -> bool:
    keys, got_keys = ([key for key, _ in node.children] for node in (expected, got))
    return expected.type == got.type and keys == got_keys
