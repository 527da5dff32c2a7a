"""The verdicts that changed from one grading of unchanged answers to the next, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytree_course.class_grading.attempt import Attempt


@dataclass(frozen=True)
class VerdictChange:
    """The verdict on an unchanged answer, before and after, and why it changed."""

    student: str
    lesson: str
    exercise: str
    before: str
    after: str
    why: str


def verdict_changes(
    before: Mapping[tuple[str, str], Attempt], after: Mapping[tuple[str, str], Attempt]
) -> Iterator[VerdictChange]:
    """Yield the verdicts on unchanged answers that differ before and after a grading."""
    for key, now in after.items():
        old = before.get(key)
        if old is None or old.answers_digest != now.answers_digest:
            continue
        kinds = {row.exercise: row.kind for row in old.rows}
        for row in now.rows:
            if kinds.get(row.exercise, row.kind) != row.kind:
                kind = kinds[row.exercise]
                yield VerdictChange(*key, row.exercise, kind, row.kind, _reason(old, now))


def _reason(old: Attempt, now: Attempt) -> str:
    if old.checks != now.checks:
        return "the exercise or its check was changed"
    if old.environment != now.environment:
        return f"it was graded in another environment: before in {old.environment}"
    return "it was graded again, on other cases"
