"""Attempts: graded submissions as the gradebook stores them, and which one counts."""

import hashlib
import json
import platform
from collections.abc import Iterable
from enum import StrEnum
from importlib.metadata import version

from msgspec import Struct, field, to_builtins

from pytree_course.class_grading.downloads import Submitter
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.grading.submission import Submission
from pytree_course.judging.verdicts import (
    FailedCase,
    Failure,
    Finding,
    Verdict,
    VerdictKind,
    WrongLine,
)
from pytree_course.judging.words import explain_verdict
from pytree_course.observing.comparison import without_message
from pytree_course.observing.reading import Count, Measure, Moment

_LIBRARIES = ("jax", "jaxlib", "numpy", "equinox", "flax", "optax", "chex", "nbval", "ipykernel")


class AttemptState(StrEnum):
    """How grading a submission ended."""

    GRADED = "graded"
    UNREADABLE = "unreadable"
    FAILED = "failed"
    """Through no fault of the student: the next grading tries again."""


class AppliedCorrection(Struct, frozen=True, forbid_unknown_fields=True):
    """A teacher's correction of a verdict: the row has the corrected points."""

    comment: str
    points_by_check: Count  # before the correction
    is_for_this_answer: bool  # False if the answer has changed since


class VerdictRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise's verdict."""

    exercise: str
    kind: str  # a `VerdictKind`; or the attempt's state, if it was not graded
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
    teacher: AppliedCorrection | None = None


class Attempt(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One graded submission.

    While `answers_digest`, `checks` and `environment` are the same, it need not run again.
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
    on_public_cases: bool = False  # which every learner has: the course's sources were not there
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


def verdict_row(verdict: Verdict, run: ExerciseRun | None, submission: Submission) -> VerdictRow:
    """Return what the gradebook stores of a verdict: no expected result of a fresh case."""
    results = None
    if verdict.failed and run is not None:
        outcomes = run.check.outcomes or []
        results = digest(
            to_builtins([without_message(outcome.observation) for outcome in outcomes])
        )
    # A correct answer needs no explanation, and the attempt's remark has the notes on its cell.
    notes = {} if verdict.kind is VerdictKind.CORRECT else submission.notes
    return VerdictRow(
        exercise=verdict.exercise,
        kind=str(verdict.kind),
        points=verdict.points,
        exercise_points=verdict.exercise_points,
        passed=verdict.passed,
        cases=verdict.cases,
        seconds=run.seconds if run else 0.0,
        explanation=explain_verdict(verdict, notes, reveal=False),
        misconceptions=[misconception.name for misconception in verdict.misconceptions],
        failure=_without_expected(verdict.failure) if verdict.failure else None,
        results=results,
        findings=list(verdict.findings),
        lines=list(verdict.lines),
        failed=list(verdict.failed),
    )


def _without_expected(failure: Failure) -> FailedCase:
    """Return the fields of a failure that a learner may see."""
    fields = {name: getattr(failure, name) for name in FailedCase.__struct_fields__}
    return FailedCase(**fields)


def current_environment() -> str:
    """Return the versions that results may depend on: of Python and of the libraries."""
    names = [f"python {platform.python_version()}"]
    return ", ".join([*names, *(f"{name} {version(name)}" for name in _LIBRARIES)])


def counting_attempts(attempts: Iterable[Attempt]) -> dict[tuple[str, str], Attempt]:
    """Return the attempt that counts for each student and lesson: the one handed in last.

    Of attempts handed in at the same time, such as one that at first could not be read, the one
    graded last counts.
    """
    in_order = sorted(attempts, key=lambda attempt: (attempt.handed_in, attempt.graded_at))
    return {(attempt.student, attempt.lesson): attempt for attempt in in_order}


def digest(data: object) -> str:
    """Return a digest of data that JSON can hold."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
