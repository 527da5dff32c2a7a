"""What is decided of an exercise: its verdict, and the case that failed."""

from dataclasses import dataclass
from enum import StrEnum

from pytree_course.checking.comparison import Difference
from pytree_course.checking.expected import Misconception
from pytree_course.checking.outcomes import Line
from pytree_course.trees import Observation


class VerdictKind(StrEnum):
    """How an exercise ended."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_ATTEMPTED = "not attempted"
    ERROR = "error"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"


@dataclass(frozen=True)
class Failure:
    """The smallest case that failed, by its number from 0; its outcome, and what was expected.

    The gradebook stores it, but for `expected` and `difference`.
    """

    case: int
    inputs: list[Observation]
    written: list[str]
    expected: Observation
    got: Observation
    difference: Difference
    printed: str
    line: Line | None
    note: str


@dataclass(frozen=True)
class Verdict:
    """The judgement of one exercise.

    Attributes
    ----------
    exercise
        The exercise's name.
    exercise_points
        Points to be earned, all or none.
    reason
        One sentence for a table.
    passed, cases
        How many cases passed, of how many.
    """

    exercise: str
    kind: VerdictKind
    exercise_points: int
    reason: str
    passed: int = 0
    cases: int = 0
    failure: Failure | None = None
    misconceptions: tuple[Misconception, ...] = ()

    @property
    def points(self) -> int:
        """Points earned."""
        return self.exercise_points if self.kind is VerdictKind.CORRECT else 0
