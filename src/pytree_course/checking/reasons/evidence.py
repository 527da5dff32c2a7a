"""What is known of one case when a reason is looked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from pytree_course.checking.reported import Line
from pytree_course.observations import Observation
from pytree_course.texts import counted


@dataclass(frozen=True)
class Evidence:
    """One case: what it has, what was expected, and what came."""

    number: int
    features: frozenset[str]  # from the author's run
    inputs: list[Observation]
    expected: Observation
    got: Observation
    failed: bool
    changed: bool  # whether the call changed its inputs
    line: Line | None

    @property
    def raised(self) -> bool:
        """Whether the call raised."""
        return bool(self.got["kind"] == "raised")

    @property
    def should_raise(self) -> bool:
        """Whether the call should raise."""
        return bool(self.expected["kind"] == "raised")


def in_cases(some: Sequence[Evidence]) -> str:
    """Say in how many cases."""
    return f"in {counted(len(some), 'case', 'cases')}"
