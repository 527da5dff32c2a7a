"""Attempts: graded submissions as the gradebook stores them, and which one counts."""

import hashlib
import json
from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct, field

from pytree_course.class_grading.downloads import Submitter
from pytree_course.judging.verdicts import FailedCase, Finding, WrongLine
from pytree_course.observing.reading import Count, Measure, Moment


class AttemptState(StrEnum):
    """How grading a submission ended."""

    GRADED = "graded"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """Through no fault of the student: the next grading tries again."""


class TeachersWord(Struct, frozen=True, forbid_unknown_fields=True):
    """A teacher's correction of a verdict."""

    comment: str
    points_by_check: Count  # which the row's own points replace
    on_this_answer: bool  # False where the answer has changed since


class VerdictRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise's verdict."""

    exercise: str
    kind: str  # a `VerdictKind`; or the attempt's state, where it was not graded
    points: Count
    exercise_points: Count
    passed: Count = 0
    cases: Count = 0
    seconds: Measure = 0.0
    explanation: str = ""
    misconceptions: list[str] = field(default_factory=list)
    failure: FailedCase | None = None
    results: str | None = None  # a digest of wrong results, to find equal ones on equal cases
    findings: list[Finding] = field(default_factory=list)
    lines: list[WrongLine] = field(default_factory=list)
    failed: list[Count] = field(default_factory=list)  # the cases that failed, from 0
    teacher: TeachersWord | None = None


class Attempt(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One graded submission.

    Where `answers_digest`, `checks` and `environment` are unchanged, it need not run again.
    """

    student: str  # the id of a `Submitter`
    lesson: str
    answers_digest: str
    checks: str  # a digest
    environment: str
    handed_in: Moment
    graded_at: Moment
    state: AttemptState
    reason: str = ""
    rows: list[VerdictRow] = field(default_factory=list)
    seconds: Measure = 0.0
    seed: Count
    on_public_cases: bool = False  # which every learner has, for want of the course's sources
    file: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    name: str = ""  # of the student; it and the next two are from a download
    system: str = ""
    canvas_id: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.student, self.lesson, self.answers_digest

    @property
    def submitter(self) -> Submitter:
        """The student who handed it in."""
        return Submitter(self.student, self.name, self.system, self.canvas_id)

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(row.points for row in self.rows)


def counting(attempts: Iterable[Attempt]) -> dict[tuple[str, str], Attempt]:
    """Return the attempt that counts for each student and lesson: the one handed in last.

    Of those handed in at one time, such as one that could not be read at first, the last grading
    counts.
    """
    in_order = sorted(attempts, key=lambda attempt: (attempt.handed_in, attempt.graded_at))
    return {(attempt.student, attempt.lesson): attempt for attempt in in_order}


def digest(data: object) -> str:
    """Return a digest of what can be written as JSON."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
