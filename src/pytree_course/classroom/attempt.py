"""An attempt: one graded submission, as the gradebook stores it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from pytree_course.checking.reported import Line
from pytree_course.checking.verdicts import WrongLine
from pytree_course.classroom.downloads import Submitter
from pytree_course.observations import Observation


class AttemptState(StrEnum):
    """How grading a submission ended."""

    GRADED = "graded"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """Through no fault of the student: it will be tried again."""


@dataclass(frozen=True)
class FailedCase:
    """The smallest case that failed, as a `checking.verdicts.Failure` has it.

    What was expected is left out: it may be a case that no learner has seen.
    """

    case: int  # from 0
    inputs: list[Observation]
    written: list[str]  # the inputs as Python writes them, shortened
    got: Observation
    printed: str
    line: Line | None
    note: str

    def __post_init__(self) -> None:
        if len(self.inputs) != len(self.written):  # in a record that somebody edited
            raise ValueError("not every input is written")


@dataclass(frozen=True)
class VerdictRow:
    """One exercise's verdict."""

    exercise: str
    kind: str  # a `VerdictKind`; or the attempt's state, where it was not graded
    points: int
    exercise_points: int
    passed: int = 0
    cases: int = 0
    seconds: float = 0.0
    explanation: str = ""
    misconceptions: list[str] = field(default_factory=list)
    failure: FailedCase | None = None
    results: str | None = None  # a digest: equal where wrong results on the same cases are equal
    reasons: list[str] = field(default_factory=list)
    lines: list[WrongLine] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)  # the cases that failed, from 0


@dataclass(frozen=True)
class Attempt:
    """One graded submission.

    What is equal in `answers_digest`, `checks` and `environment` need not be run again.
    """

    student: str  # the id of a `Submitter`
    lesson: str
    answers_digest: str
    checks: str  # a digest
    environment: str
    handed_in: datetime
    graded_at: datetime
    state: AttemptState
    reason: str = ""
    rows: list[VerdictRow] = field(default_factory=list)
    seconds: float = 0.0
    seed: int = 0
    on_public_cases: bool = False  # which every learner has: the course's sources were not there
    file: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    release: str | None = None
    name: str = ""  # of the student, and what follows: as a download said it
    system: str = ""
    canvas_id: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.student, self.lesson, self.answers_digest

    @property
    def submitter(self) -> Submitter:
        """Who handed it in."""
        return Submitter(self.student, self.name, self.system, self.canvas_id)

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(row.points for row in self.rows)


def counting(attempts: Iterable[Attempt]) -> dict[tuple[str, str], Attempt]:
    """Choose the attempt that counts, by student and lesson: the one handed in last.

    Of attempts with the same answers, the last grading counts.
    """
    by_grading = sorted(attempts, key=lambda each: each.graded_at)
    regraded = {attempt.key: attempt for attempt in by_grading}
    in_order = sorted(regraded.values(), key=lambda each: each.handed_in)
    return {(attempt.student, attempt.lesson): attempt for attempt in in_order}
