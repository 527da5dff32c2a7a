"""An attempt: one graded submission, as the gradebook stores it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

MOST_TRIES = 10
"""So many different answers of a student to a lesson are run."""


class AttemptState(StrEnum):
    """How grading a submission ended."""

    GRADED = "graded"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """Through no fault of the student: it will be tried again."""


@dataclass(frozen=True)
class VerdictRow:
    """One exercise's verdict; every field is a column of the gradebook.

    The failure is a `checking.verdicts.Failure` without what was expected: it may be a case that
    no learner has seen.
    """

    exercise: str
    kind: str  # a `VerdictKind`; or the attempt's state, where it was not graded
    points: int
    exercise_points: int
    passed: int = 0
    cases: int = 0
    seconds: float = 0.0
    explanation: str = ""
    misconceptions: list[str] = field(default_factory=list)
    failure: dict[str, Any] | None = None
    results: str | None = None  # a digest: equal where wrong results on the same cases are equal
    reasons: list[str] = field(default_factory=list)
    lines: list[dict[str, str]] = field(default_factory=list)  # as `checking.verdicts.WrongLine`
    failed: list[int] = field(default_factory=list)  # the cases that failed, from 0


@dataclass(frozen=True)
class Attempt:
    """One graded submission; every field but `rows` is a column of the gradebook.

    What is equal in `answers_digest`, `checks` and `environment` need not be run again.
    """

    student: str
    lesson: str
    file: str
    handed_in: datetime
    answers: dict[str, str]
    answers_digest: str
    release: str | None
    checks: str  # a digest
    environment: str
    seed: int
    state: AttemptState
    reason: str
    seconds: float
    graded_at: datetime
    rows: list[VerdictRow] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.student, self.lesson, self.answers_digest

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(row.points for row in self.rows)


def first_tries(attempts: Iterable[Attempt]) -> dict[tuple[str, str], list[str]]:
    """Return the answers' digests of each student's first tries, by student and lesson."""
    tries: dict[tuple[str, str], list[str]] = defaultdict(list)
    for attempt in sorted(attempts, key=lambda each: each.handed_in):
        digests = tries[attempt.student, attempt.lesson]
        is_new = attempt.answers_digest not in digests and len(digests) < MOST_TRIES
        if is_new and attempt.state is AttemptState.GRADED:
            digests.append(attempt.answers_digest)
    return tries


def counting(attempts: Iterable[Attempt], best: bool) -> dict[tuple[str, str], Attempt]:
    """Choose the attempt that counts, by student and lesson: the last one, or the best.

    Of attempts with the same answers, the last grading counts. The best is one of the first tries:
    whoever hands in often enough has luck at some time.
    """
    by_grading = sorted(attempts, key=lambda each: each.graded_at)
    regraded = {attempt.key: attempt for attempt in by_grading}
    tries = first_tries(by_grading)
    chosen: dict[tuple[str, str], Attempt] = {}
    for attempt in sorted(regraded.values(), key=lambda each: each.handed_in):
        key = attempt.student, attempt.lesson
        is_graded = attempt.state is AttemptState.GRADED
        if best and is_graded and attempt.answers_digest not in tries[key]:
            continue
        if not best or key not in chosen or attempt.points >= chosen[key].points:
            chosen[key] = attempt
    return chosen
