"""The verdict on an exercise: the case that failed, wrong lines, findings."""

from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct, field

from pytree_course.judging.expected import Misconception
from pytree_course.observing.comparison import Difference
from pytree_course.observing.observations import Observation
from pytree_course.observing.reading import Count
from pytree_course.running.outcomes import Line


class VerdictKind(StrEnum):
    """How an exercise ended."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_ATTEMPTED = "not attempted"
    ERROR = "error"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"


class FailedCase(Struct, frozen=True, forbid_unknown_fields=True):
    """A failed case without its expected result, which no learner may see."""

    case: Count  # from 0
    inputs: tuple[Observation, ...]
    written: tuple[str, ...]  # the inputs as Python writes them, shortened
    got: Observation
    printed: str
    line: Line | None
    note: str

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.written):  # in a record that somebody edited
            raise ValueError("not every input is written")


class Failure(FailedCase, frozen=True):
    """The smallest case that failed; the gradebook stores it as a `FailedCase`."""

    expected: Observation
    difference: Difference


class WrongLine(Struct, frozen=True, forbid_unknown_fields=True):
    """A wrongly predicted line, without the right prediction."""

    name: str
    text: str  # the code of the line, between backticks, or its words
    said: str  # the learner's prediction, shortened; empty if there is none
    why: str  # a key of `words.WRONG_LINES`
    data: dict[str, str]  # fills its words
    misconception: str = ""  # its name


class Finding(Struct, frozen=True):
    """A true statement about some failing cases of a wrong answer.

    It contains no expected result: fresh cases stay secret.
    """

    kind: str  # a key of `words.FINDINGS`
    holds: list[Count]  # those failing cases, from 0
    data: dict[str, str] = field(default_factory=dict)  # fills its words


@dataclass(frozen=True)
class Verdict:
    """The judgement of one exercise."""

    exercise: str
    kind: VerdictKind
    exercise_points: int  # to be earned, all or none
    reason: str  # a clause for a table
    passed: int = 0
    cases: int = 0
    score: str = ""  # both numbers in words, if all cases ran
    error_type: str | None = None  # of the answer's error that the reason names
    failure: Failure | None = None
    misconceptions: tuple[Misconception, ...] = ()
    findings: tuple[Finding, ...] = ()  # none if a misconception explains the failure
    lines: tuple[WrongLine, ...] = ()  # of an exercise with predictions, which has no failure
    failed: tuple[int, ...] = ()  # the cases that failed, from 0
    title: str = ""  # of the exercise
    note: str = ""  # on an unusual answer cell

    @property
    def points(self) -> int:
        """Points earned."""
        return self.exercise_points if self.kind is VerdictKind.CORRECT else 0
