"""Grade a class: every notebook that was handed in, once, whatever happens in between."""

import hashlib
import json
import platform
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from pytree_course.built import other_version
from pytree_course.checking.comparison import without_message
from pytree_course.checking.verdicts import Verdict
from pytree_course.checking.words import explanation
from pytree_course.classroom.folder import ClassFolder, HandedIn
from pytree_course.classroom.gradebook import (
    Attempt,
    AttemptState,
    ExerciseRow,
    Gradebook,
    counting,
)
from pytree_course.classroom.pool import NewExecutor, run_all
from pytree_course.course import Course
from pytree_course.grading.answers import AnswerRun, run_answers
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.notebook_run import RunSettings
from pytree_course.grading.runtime import CheckRuntime
from pytree_course.grading.submission import (
    Submission,
    UnreadableError,
    find_answers,
    read_notebook,
)

_LIBRARIES = ("jax", "jaxlib", "numpy", "equinox", "flax", "optax", "chex", "nbval", "ipykernel")
_NO_ANSWER_CELLS = (
    "none of the answer cells is in it: it is another lesson's, or something changed its cells' ids"
)


@dataclass(frozen=True)
class GradingOptions:
    """What a teacher chooses.

    Attributes
    ----------
    lessons, students
        Grade only these; all, when empty.
    force
        Run also what has not changed since it was graded.
    best
        Whether a student's best attempt counts; otherwise it is the last one.
    in_sandbox
        Whether the answers run in the sandbox.
    """

    lessons: Sequence[str] = ()
    students: Sequence[str] = ()
    force: bool = False
    best: bool = False
    in_sandbox: bool = True

    def wants(self, student: str, lesson: str) -> bool:
        """Say whether this is to be graded."""
        return (not self.students or student in self.students) and (
            not self.lessons or lesson in self.lessons
        )


@dataclass(frozen=True)
class Job:
    """One attempt to be run, with all that a process needs for it, wherever that is.

    Attributes
    ----------
    remark
        What the teacher should know of the notebook besides; often nothing.
    """

    handed_in: HandedIn
    submission: Submission
    remark: str
    blank: str
    runtime: CheckRuntime
    settings: RunSettings


@dataclass(frozen=True)
class JobResult:
    """How the answers of a job went, and how many seconds it took."""

    runs: dict[str, AnswerRun]
    seconds: float


@dataclass(frozen=True)
class Change:
    """A student's points that a changed check or environment has changed."""

    student: str
    lesson: str
    exercise: str
    before: str
    after: str
    why: str


@dataclass
class Summary:
    """What one grading of a class did.

    Attributes
    ----------
    graded, unchanged
        How many attempts were graded, and how many had been before.
    failed
        Attempts that could not be graded, through no fault of the student, with the reason.
    changes
        Verdicts that are others than before, on the same answers.
    """

    graded: int = 0
    unchanged: int = 0
    failed: list[tuple[HandedIn, str]] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


Progress = Callable[[int, int], None]
"""Told how many attempts are done, of how many."""


def grade_class(
    course: Course,
    folder: ClassFolder,
    gradebook: Gradebook,
    options: GradingOptions,
    new_executor: NewExecutor,
    progress: Progress = lambda done, of: None,
) -> Summary:
    """Grade all that is new or changed, and keep each attempt as soon as it is graded.

    Parameters
    ----------
    course
        The teacher's copy of the course.
    folder
        What the class handed in.
    gradebook
        Where the grades go.
    options
        What the teacher chose.
    new_executor
        Makes the pool of processes that runs the answers.
    progress
        Is told how far it is.
    """
    chosen = [each for each in folder.notebooks if options.wants(each.student, each.lesson)]
    before = counting(gradebook.attempts(), options.best)
    grading = _Grading(course, gradebook, options, environment())
    jobs = list(grading.prepare(chosen))
    total = len(jobs)
    progress(0, total)
    for done, (job, result) in enumerate(run_all(new_executor, run_job, jobs), 1):
        grading.finish(job, result)
        progress(done, total)
    grading.close()
    after = counting(gradebook.attempts(), options.best)
    grading.summary.changes = list(_changes(before, after))
    return grading.summary


def run_job(job: Job) -> JobResult:
    """Run a job; this is what happens in the processes of the pool."""
    start = time.perf_counter()
    runs = run_answers(job.submission.answers, job.blank, job.runtime, job.settings)
    return JobResult(runs, time.perf_counter() - start)


def environment() -> str:
    """Name what the answers run in: Python, and the libraries that decide what comes out."""
    names = [f"python {platform.python_version()}"]
    return ", ".join([*names, *(f"{name} {version(name)}" for name in _LIBRARIES)])


class _Grading:
    """One grading of a class, on its way."""

    def __init__(
        self, course: Course, gradebook: Gradebook, options: GradingOptions, environment: str
    ) -> None:
        self.course = course
        self.gradebook = gradebook
        self.options = options
        self.environment = environment
        self.summary = Summary()
        self.lessons: dict[str, GradedLesson] = {}

    def prepare(self, notebooks: list[HandedIn]) -> Iterator[Job]:
        """Yield what has to be run; what cannot be read is recorded at once."""
        done = set()
        if not self.options.force:
            done = {_key(each) for each in self.gradebook.attempts() if self._is_current(each)}
        for handed_in in notebooks:
            try:
                notebook = read_notebook(handed_in.file)
            except UnreadableError as error:
                self._record(handed_in, Submission(), AttemptState.UNREADABLE, reason=str(error))
                continue
            submission = find_answers(notebook, self._lesson(handed_in.lesson).starters)
            key = handed_in.student, handed_in.lesson, digest(submission.answers)
            if key in done:
                self.summary.unchanged += 1
                continue
            done.add(key)
            remark = other_version(notebook, self.course.lesson(handed_in.lesson)) or ""
            if not submission.has_answer_cells:
                remark = "; ".join(filter(None, [_NO_ANSWER_CELLS, remark]))
            yield self._job(handed_in, submission, remark)
        if self.options.best:
            yield from self._earlier_attempts(done)

    def _earlier_attempts(self, done: set[tuple[str, str, str]]) -> Iterator[Job]:
        """Yield attempts whose notebooks are gone by now, where their checks have changed."""
        for attempt in self.gradebook.attempts():
            if (
                _key(attempt) in done
                or not self.options.wants(attempt.student, attempt.lesson)
                or attempt.state is not AttemptState.GRADED
            ):
                continue
            done.add(_key(attempt))
            file = Path(attempt.file)
            handed_in = HandedIn(attempt.student, attempt.lesson, file, attempt.handed_in)
            submission = Submission(attempt.answers, release=attempt.release)
            yield self._job(handed_in, submission, attempt.reason)

    def finish(self, job: Job, result: JobResult | Exception) -> None:
        """Judge how a job went, and keep the grade."""
        if isinstance(result, Exception):
            reason = f"{type(result).__name__}: {result}"
            self.summary.failed.append((job.handed_in, reason))
            self._record(job.handed_in, job.submission, AttemptState.FAILED, reason=reason)
            return
        lesson = self._lesson(job.handed_in.lesson)
        rows = [
            _row(verdict, job.submission, result.runs.get(verdict.exercise))
            for verdict in judge_submission(lesson, job.submission, result.runs)
        ]
        self._record(
            job.handed_in, job.submission, AttemptState.GRADED, rows, job.remark, result.seconds
        )
        self.summary.graded += 1

    def close(self) -> None:
        """Say that this grading came to its end: the next one draws fresh cases."""
        self.gradebook.finish_runs()

    def _lesson(self, stem: str) -> GradedLesson:
        if stem not in self.lessons:
            files = self.course.lesson(stem)
            drawn = secrets.randbits(32)
            seed = self.gradebook.seed_of_run(stem, drawn)
            self.lessons[stem] = GradedLesson(files, seed)
        return self.lessons[stem]

    def _job(self, handed_in: HandedIn, submission: Submission, remark: str) -> Job:
        lesson = self._lesson(handed_in.lesson)
        settings = RunSettings(lesson.seed, self.options.in_sandbox)
        return Job(handed_in, submission, remark, lesson.blank, lesson.runtime, settings)

    def _is_current(self, attempt: Attempt) -> bool:
        return (
            attempt.state is AttemptState.GRADED
            and attempt.environment == self.environment
            and attempt.checks == self._lesson(attempt.lesson).checks
        )

    def _record(
        self,
        handed_in: HandedIn,
        submission: Submission,
        state: AttemptState,
        rows: list[ExerciseRow] | None = None,
        reason: str = "",
        seconds: float = 0.0,
    ) -> None:
        lesson = self._lesson(handed_in.lesson)
        if rows is None:  # then all exercises share the attempt's fate
            rows = [
                ExerciseRow(name, str(state), points, explanation=reason)
                for name, points in lesson.points.items()
            ]
        self.gradebook.record(
            Attempt(
                student=handed_in.student,
                lesson=handed_in.lesson,
                file=str(handed_in.file),
                handed_in=handed_in.at,
                answers=submission.answers,
                answers_digest=digest(submission.answers),
                release=submission.release,
                checks=lesson.checks,
                environment=self.environment,
                seed=lesson.seed,
                state=state,
                reason=reason,
                seconds=seconds,
                graded_at=datetime.now().astimezone(),
                rows=rows,
            )
        )


def digest(data: object) -> str:
    """Return a digest of plain data."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _key(attempt: Attempt) -> tuple[str, str, str]:
    return attempt.student, attempt.lesson, attempt.answers_digest


def _row(verdict: Verdict, submission: Submission, run: AnswerRun | None) -> ExerciseRow:
    """Return what the gradebook keeps of a verdict: nothing that was expected in a fresh case."""
    failure, results = None, None
    if verdict.failure is not None and run is not None:
        failure = asdict(verdict.failure)
        del failure["expected"], failure["difference"]
        outcomes = run.check.outcomes or []
        results = digest([without_message(outcome.observation) for outcome in outcomes])
    return ExerciseRow(
        exercise=verdict.exercise,
        kind=str(verdict.kind),
        exercise_points=verdict.exercise_points,
        points=verdict.points,
        passed=verdict.passed,
        cases=verdict.cases,
        seconds=run.seconds if run else 0.0,
        explanation=explanation(verdict, submission.notes, reveal=False),
        misconceptions=[misconception.name for misconception in verdict.misconceptions],
        failure=failure,
        results=results,
    )


def _changes(
    before: dict[tuple[str, str], Attempt], after: dict[tuple[str, str], Attempt]
) -> Iterator[Change]:
    """Yield what became of verdicts on answers that are the same as before."""
    for key, now in after.items():
        old = before.get(key)
        if old is None or old.answers_digest != now.answers_digest:
            continue
        why = "the exercise or its check was changed"
        if old.checks == now.checks:
            why = f"it was graded in another environment: before in {old.environment}"
        if old.checks == now.checks and old.environment == now.environment:
            why = "it was graded again, on other cases"
        kinds = {row.exercise: row.kind for row in old.rows}
        for row in now.rows:
            if kinds.get(row.exercise, row.kind) != row.kind:
                yield Change(*key, row.exercise, kinds[row.exercise], row.kind, why)
