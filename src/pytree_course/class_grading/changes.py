"""Find the marks that have changed since the last report, and why."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow

NEW_ANSWERS = "new answers"
A_CORRECTION = "a correction"
ANOTHER_CHECK = "the exercise or its check was changed"
NEW_CASES = "new cases"
ANOTHER_ENVIRONMENT = "another environment; before: {environment}"
AGAIN = "graded again"


@dataclass(frozen=True)
class VerdictChange:
    """A verdict on the same answer, before and after, and why it changed."""

    exercise: str
    before: str
    after: str
    reason: str


@dataclass(frozen=True)
class MarkChange:
    """A student's points in a lesson, before and after, and why they changed."""

    student: str
    lesson: str
    before: float | None  # None if it could not be graded, through no fault of the student
    after: float | None
    reason: str
    verdicts: Sequence[VerdictChange] = field(default_factory=list)  # if the answers are the same


Counting = Mapping[tuple[str, str], Attempt]
"""The attempts that count, by student and lesson, with the teacher's corrections applied."""


def mark_changes(before: Counting, after: Counting) -> Iterator[MarkChange]:
    """Yield the marks that differ, and those of unchanged answers of which a verdict differs."""
    for pair, new in after.items():
        old = before.get(pair)
        if old is None:
            continue
        reason, verdicts = "", []
        if _mark(old) != _mark(new):
            reason = _reason(old, new)
        if old.answers_digest == new.answers_digest:
            verdicts = list(_verdict_changes(old, new))
            reasons = [verdict.reason for verdict in verdicts]
            reason = "; ".join(dict.fromkeys(reasons)) or reason
        if reason:
            yield MarkChange(*pair, _mark(old), _mark(new), reason, verdicts)


def _mark(attempt: Attempt) -> float | None:
    return None if attempt.state is AttemptState.FAILED else attempt.points


def _reason(old: Attempt, new: Attempt) -> str:
    """Say why the mark of another attempt differs."""
    if old.state != new.state:
        return f"{old.state} before, now {new.state}"
    return NEW_ANSWERS if old.answers_digest != new.answers_digest else AGAIN


def _verdict_changes(old: Attempt, new: Attempt) -> Iterator[VerdictChange]:
    """Yield the verdicts and points that differ between two gradings of the same answers."""
    earlier = {row.exercise: row for row in old.rows}
    for row in new.rows:
        before = earlier.get(row.exercise, row)  # an exercise that is new: no change
        # Without another run, only the reason of a wrong answer may be another one.
        has_other_verdict = before.kind != row.kind and before.basis != row.basis
        if has_other_verdict or before.points != row.points:
            yield VerdictChange(
                row.exercise, _in_short(before), _in_short(row), _reason_for_verdict(before, row)
            )


def _in_short(row: VerdictRow) -> str:
    return f"{row.points} by the teacher" if row.teacher else row.kind


def _reason_for_verdict(before: VerdictRow, after: VerdictRow) -> str:
    if before.teacher != after.teacher:
        return A_CORRECTION
    old, new = before.basis, after.basis
    if old is None or new is None:
        return AGAIN
    if old.decided_by != new.decided_by:
        return ANOTHER_CHECK
    if old.seed != new.seed:
        return NEW_CASES
    if old.environment != new.environment:
        return ANOTHER_ENVIRONMENT.format(environment=old.environment)
    return AGAIN
