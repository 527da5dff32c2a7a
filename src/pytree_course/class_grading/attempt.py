"""Attempts: graded submissions as the gradebook stores them, and which one counts."""

import json
import platform
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from importlib.metadata import version

from msgspec import Struct, field, structs

from pytree_course.judging.verdicts import (
    FailedCase,
    Failure,
    Finding,
    Verdict,
    VerdictKind,
    WrongLine,
)
from pytree_course.judging.words import (
    explain_lines,
    explained_line,
    finding_sentences,
    reason_sentence,
    remarks,
)
from pytree_course.observing.reading import Count, Measure, Moment, Points
from pytree_course.texts import text_digest

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
    points_by_check: Points  # before the correction
    is_for_this_answer: bool  # False if the answer has changed since


class Basis(Struct, frozen=True, forbid_unknown_fields=True):
    """What a verdict was made with: on the same basis, an answer gets the same verdict again."""

    graded_at: Moment
    course: str  # the version
    environment: str
    decided_by: str  # a digest of the exercise: its set-up, starter, solution and check
    seed: Count
    on_public_cases: bool = False  # which every learner has: the course's sources were not there

    @property
    def check_version(self) -> str:
        """The beginning of the digest, by which people tell versions apart."""
        return self.decided_by.removeprefix("sha256:")[:8]


class VerdictRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise's verdict.

    The gradebook stores names of misconceptions; `in_words` adds the sentences.
    """

    exercise: str
    kind: VerdictKind | None  # None if it was not graded: the attempt's state says why
    points: Points
    exercise_points: Count
    passed: Count = 0
    cases: Count = 0
    seconds: Measure = 0.0
    explanation: str = ""
    remarks: list[str] = field(default_factory=list)
    misconceptions: list[str] = field(default_factory=list)
    failure: FailedCase | None = None
    results: str | None = None  # a digest of wrong results, to find equal ones on equal cases
    findings: list[Finding] = field(default_factory=list)
    lines: list[WrongLine] = field(default_factory=list)
    basis: Basis | None = None  # None if it was not graded
    outcomes: str = ""  # of a wrong answer: a key of the gradebook's `results`, as the next two
    public_outcomes: str = ""  # on the public cases, which give the reason
    expected: str = ""  # the right results on the cases that decided
    reasons: str = ""  # a digest of the misconceptions' results that the reason was found by
    teacher: AppliedCorrection | None = None


class Attempt(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A submission as it was graded at some time; a later grading adds another attempt."""

    student: str  # the id of a `Submitter`
    lesson: str
    handed_in: Moment
    graded_at: Moment
    state: AttemptState
    reason: str = ""  # why it was not graded; or a remark for the teacher and the student
    rows: list[VerdictRow] = field(default_factory=list)
    file: str = ""
    answers: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)  # on unusual answer cells, by exercise
    python: str = ""  # that the notebook was made with; "" if unknown
    name: str = ""  # of the student; it and what follows are from a download
    system: str = ""
    handed_in_as: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.student, self.lesson, digest(self.answers)

    @property
    def points(self) -> float:
        """Points earned."""
        return add_points(row.points for row in self.rows)

    @property
    def seconds(self) -> float:
        """Seconds that the answers and their checks took."""
        return sum(row.seconds for row in self.rows)

    @property
    def on_public_cases(self) -> bool:
        """Whether some of it was graded on the public cases."""
        return any(row.basis.on_public_cases for row in self.rows if row.basis)


def add_points(points: Iterable[float]) -> float:
    """Return a sum of points; a whole one is an `int`, so that it is shown as 7, and not as 7.0."""
    total = sum(points)
    return total if total % 1 else int(total)


def verdict_row(verdict: Verdict) -> VerdictRow:
    """Return what the gradebook stores of a verdict: no expected result of a fresh case."""
    return VerdictRow(
        exercise=verdict.exercise,
        kind=verdict.kind,
        points=verdict.points,
        exercise_points=verdict.exercise_points,
        passed=verdict.passed,
        cases=verdict.cases,
        explanation=reason_sentence(verdict, reveal=False),
        # Of a correct answer, the attempt's remark has the note on its cell.
        remarks=[] if verdict.kind is VerdictKind.CORRECT else remarks(verdict),
        misconceptions=[misconception.name for misconception in verdict.misconceptions],
        failure=_without_expected(verdict.failure) if verdict.failure else None,
        findings=list(verdict.findings),
        lines=[explained_line(line, {}) for line in verdict.lines],
    )


_FIELDS_OF_REASON = (
    *("kind", "passed", "cases", "explanation", "misconceptions", "failure", "findings", "lines"),
)


def with_reason_of(row: VerdictRow, other: VerdictRow) -> VerdictRow:
    """Return a row with the reason of another row for the same wrong answer."""
    return structs.replace(row, **{name: getattr(other, name) for name in _FIELDS_OF_REASON})


def _without_expected(failure: Failure) -> FailedCase:
    """Return the fields of a failure that a learner may see."""
    fields = {name: getattr(failure, name) for name in FailedCase.__struct_fields__}
    return FailedCase(**fields)


def in_words(row: VerdictRow, explanations: Mapping[str, str]) -> VerdictRow:
    """Add the sentences to a stored row, with the explanations of misconceptions by name."""
    lines = [explained_line(line, explanations) for line in row.lines]
    beliefs = [explanations[name] for name in row.misconceptions if name in explanations]
    sentences = explain_lines(lines) or beliefs or finding_sentences(row.findings)
    sentences = sentences or [row.explanation]
    explanation = " ".join([*sentences, *row.remarks])
    return structs.replace(row, explanation=explanation, lines=lines)


@cache
def current_environment() -> str:
    """Return the versions that results may depend on: of Python and of the libraries."""
    names = [f"python {platform.python_version()}"]
    return ", ".join([*names, *(f"{name} {version(name)}" for name in _LIBRARIES)])


def counting_attempts(attempts: Iterable[Attempt]) -> dict[tuple[str, str], Attempt]:
    """Return the attempt that counts for each student and lesson: the one recorded last."""
    return {(attempt.student, attempt.lesson): attempt for attempt in attempts}


def digest(data: object) -> str:
    """Return a digest of data that JSON can hold."""
    return text_digest(json.dumps(data, sort_keys=True))
