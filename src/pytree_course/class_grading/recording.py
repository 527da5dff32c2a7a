"""What the gradebook stores of a run: the verdicts, the environment, or what went wrong."""

import platform
from concurrent.futures.process import BrokenProcessPool
from importlib.metadata import version

from msgspec import to_builtins

from pytree_course.class_grading.attempt import VerdictRow, digest
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.grading.submission import Submission
from pytree_course.judging.verdicts import FailedCase, Verdict, VerdictKind
from pytree_course.judging.words import explanation
from pytree_course.observing.comparison import without_message
from pytree_course.texts import truncate

_MAX_MESSAGE = 500
_LIBRARIES = ("jax", "jaxlib", "numpy", "equinox", "flax", "optax", "chex", "nbval", "ipykernel")


def verdict_row(verdict: Verdict, run: ExerciseRun | None, submission: Submission) -> VerdictRow:
    """Return what the gradebook stores of a verdict: nothing that was expected in a fresh case."""
    results = None
    if verdict.failed and run is not None:
        outcomes = run.check.outcomes or []
        results = digest(
            to_builtins([without_message(outcome.observation) for outcome in outcomes])
        )
    failure = None
    if verdict.failure:
        kept = {name: getattr(verdict.failure, name) for name in FailedCase.__struct_fields__}
        failure = FailedCase(**kept)
    notes = {} if verdict.kind is VerdictKind.CORRECT else submission.notes  # a remark has them
    return VerdictRow(
        exercise=verdict.exercise,
        kind=str(verdict.kind),
        points=verdict.points,
        exercise_points=verdict.exercise_points,
        passed=verdict.passed,
        cases=verdict.cases,
        seconds=run.seconds if run else 0.0,
        explanation=explanation(verdict, notes, reveal=False),
        misconceptions=[misconception.name for misconception in verdict.misconceptions],
        failure=failure,
        results=results,
        findings=list(verdict.findings),
        lines=list(verdict.lines),
        failed=list(verdict.failed),
    )


def environment() -> str:
    """Name what decides the results: the versions of Python and of the libraries."""
    names = [f"python {platform.python_version()}"]
    return ", ".join([*names, *(f"{name} {version(name)}" for name in _LIBRARIES)])


def in_words(error: Exception) -> str:
    """Describe an error in grading a submission, and what to do about it."""
    if isinstance(error, BrokenProcessPool):
        what = "the process that ran the notebook was ended, probably because the memory was full"
        return f"{what}: grade it again with `--jobs 1`."
    if isinstance(error, MemoryError):
        return "There was not enough memory for the notebook: grade it again with `--jobs 1`."
    message = truncate(str(error), _MAX_MESSAGE)
    return (
        f"{type(error).__name__}: {message}. If this happens again, look at the notebook yourself, "
        "and tell the course's authors."
    )
