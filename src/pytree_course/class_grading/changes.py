"""Find the marks that have changed since the last report, and why."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pytree_course.class_grading.attempt import Attempt, AttemptState, VerdictRow

NEW_ANSWERS = "new answers"
A_CORRECTION = "a correction"
ANOTHER_CHECK = "the exercise or its check was changed"
NEW_CASES = "new cases"
ANOTHER_ENVIRONMENT = "another environment; before: {environment}"
AGAIN = "graded again"
ANOTHER_HAND_IN = "alone instead of with a group, or the other way round"
NOTHING_COUNTS = "nothing that was handed in counts any more: see the roster's groups"


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


Counting = dict[tuple[str, str], Attempt]
"""The attempts that count, by student and lesson, with the teacher's corrections applied."""


def mark_changes(before: Counting, after: Counting) -> Iterator[MarkChange]:
    """Yield the marks that differ or are gone, and those of which a verdict differs."""
    for pair, old in before.items():
        new = after.get(pair)
        if new is None:
            yield MarkChange(*pair, _mark(old), None, NOTHING_COUNTS)
            continue
        verdicts = list(_verdict_changes(old, new))
        has_other_mark = _mark(old) != _mark(new)
        if verdicts or has_other_mark:
            reasons = [_reason(old, new)] if has_other_mark else []
            if old.student == new.student and old.state == new.state:
                reasons = [verdict.reason for verdict in verdicts] or reasons
            reason = "; ".join(dict.fromkeys(reasons)) or AGAIN
            if has_other_mark or old.answers == new.answers:
                yield MarkChange(*pair, _mark(old), _mark(new), reason, verdicts)


def _mark(attempt: Attempt) -> float | None:
    return None if attempt.state is AttemptState.FAILED else attempt.points


def _reason(old: Attempt, new: Attempt) -> str:
    """Say why the mark of another attempt differs."""
    if old.student != new.student:  # of a group, or of one who is in none any more
        return ANOTHER_HAND_IN
    if old.state != new.state:
        return f"{old.state} before, now {new.state}"
    return NEW_ANSWERS if old.answers != new.answers else AGAIN


def _verdict_changes(old: Attempt, new: Attempt) -> Iterator[VerdictChange]:
    """Yield the verdicts and points that differ between two gradings."""
    earlier = {row.exercise: row for row in old.rows}
    for row in new.rows:
        before = earlier.get(row.exercise, row)  # an exercise that is new: no change
        # Without another run, only the reason of a wrong answer may be another one.
        has_other_verdict = before.kind != row.kind and before.basis != row.basis
        if has_other_verdict or before.points != row.points:
            has_same_answer = old.answers.get(row.exercise) == new.answers.get(row.exercise)
            reason = _reason_for_verdict(before, row) if has_same_answer else NEW_ANSWERS
            was, is_now = _in_short((old, before), (new, row))
            yield VerdictChange(row.exercise, was, is_now, reason)


def _in_short(*gradings: tuple[Attempt, VerdictRow]) -> list[str]:
    """Name what differs of two verdicts: the teacher's points, the verdicts, or the points."""
    rows = [row for _, row in gradings]
    if any(map(_is_teachers, rows)):
        return [
            f"{row.points} by the {'teacher' if _is_teachers(row) else 'check'}" for row in rows
        ]
    if rows[0].kind != rows[1].kind:
        return [row.kind or attempt.state for attempt, row in gradings]
    return [f"{row.points} of {row.exercise_points}" for row in rows]


def _is_teachers(row: VerdictRow) -> bool:
    """Return whether the points are the teacher's."""
    return row.teacher is not None and row.points != row.teacher.points_by_check


def _reason_for_verdict(before: VerdictRow, after: VerdictRow) -> str:
    """Say why the verdict on the same answer differs."""
    old, new = before.basis, after.basis
    if old == new:
        return A_CORRECTION
    if old is None or new is None:
        return AGAIN
    if old.decided_by != new.decided_by:
        return ANOTHER_CHECK
    if old.seed != new.seed:
        return NEW_CASES
    if old.environment != new.environment:
        return ANOTHER_ENVIRONMENT.format(environment=old.environment)
    return AGAIN
