"""Grade a class: every submission that is new or changed, once, and resumable at any time."""

import hashlib
import json
import platform
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from pytree_course.built import other_version
from pytree_course.checking.comparison import without_message
from pytree_course.checking.verdicts import Verdict
from pytree_course.checking.words import explanation
from pytree_course.classroom.attempt import Attempt, AttemptState, VerdictRow, counting
from pytree_course.classroom.folder import ClassFolder, SubmittedNotebook
from pytree_course.classroom.gradebook import Gradebook
from pytree_course.classroom.pool import NewPool, run_all
from pytree_course.classroom.submission_run import SubmissionRun, SubmissionTask
from pytree_course.classroom.verdict_changes import VerdictChange, verdict_changes
from pytree_course.course import Course
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.notebook_run import RunSettings
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
    """What a teacher chooses."""

    lessons: Sequence[str] = ()  # only these; all, when empty
    students: Sequence[str] = ()  # only these; all, when empty
    force: bool = False  # run also what has not changed since it was graded
    best: bool = False  # the best attempt counts, and not the last one
    in_sandbox: bool = True

    def wants(self, student: str, lesson: str) -> bool:
        """Say whether this is to be graded."""
        return (not self.students or student in self.students) and (
            not self.lessons or lesson in self.lessons
        )


@dataclass
class Summary:
    """What one grading of a class did."""

    graded: int = 0
    unchanged: int = 0  # graded before, and not again
    failed: list[tuple[SubmittedNotebook, str]] = field(default_factory=list)  # with the reason
    changes: list[VerdictChange] = field(default_factory=list)


ShowProgress = Callable[[int, int], None]
"""Is called with how many submissions are done, of how many."""


def grade_class(
    course: Course,
    folder: ClassFolder,
    gradebook: Gradebook,
    options: GradingOptions,
    new_pool: NewPool,
    show_progress: ShowProgress = lambda done, of: None,
) -> Summary:
    """Grade all that is new or changed, and record each attempt as soon as it is graded."""
    gradebook.introduce(folder.submitters)
    chosen = [each for each in folder.notebooks if options.wants(each.student, each.lesson)]
    before = counting(gradebook.attempts(), options.best)
    grading = _Grading(course, gradebook, options)
    tasks = list(grading.prepare(chosen))
    show_progress(0, len(tasks))
    for done, (task, result) in enumerate(run_all(new_pool, SubmissionTask.run, tasks), 1):
        grading.finish(task, result)
        show_progress(done, len(tasks))
    gradebook.finish_runs()  # the next grading draws fresh cases
    after = counting(gradebook.attempts(), options.best)
    grading.summary.changes = list(verdict_changes(before, after))
    return grading.summary


class _Grading:
    """One grading of a class, under way."""

    def __init__(self, course: Course, gradebook: Gradebook, options: GradingOptions) -> None:
        self.course = course
        self.gradebook = gradebook
        self.options = options
        self.environment = _environment()
        self.summary = Summary()
        self.lessons: dict[str, GradedLesson] = {}

    def prepare(self, notebooks: list[SubmittedNotebook]) -> Iterator[SubmissionTask]:
        """Yield what has to be run; what cannot be read is recorded at once."""
        done = set()
        if not self.options.force:
            done = {each.key for each in self.gradebook.attempts() if self._is_current(each)}
        for notebook in notebooks:
            try:
                content = read_notebook(notebook.file)
            except UnreadableError as error:
                reason = "; ".join(filter(None, [notebook.remark, str(error)]))
                self._record(self._task(notebook, Submission()), AttemptState.UNREADABLE, reason)
                continue
            submission = find_answers(content, self._lesson(notebook.lesson).starters)
            key = notebook.student, notebook.lesson, _digest(submission.answers)
            if key in done:
                self.summary.unchanged += 1
                continue
            done.add(key)
            remarks = (
                notebook.remark,
                "" if submission.has_answer_cells else _NO_ANSWER_CELLS,
                other_version(content, self.course.lesson(notebook.lesson)),
            )
            yield self._task(notebook, submission, "; ".join(filter(None, remarks)))
        if self.options.best:
            yield from self._earlier_attempts(done)

    def _earlier_attempts(self, done: set[tuple[str, str, str]]) -> Iterator[SubmissionTask]:
        """Yield attempts whose notebooks are gone by now, where their checks have changed."""
        for attempt in self.gradebook.attempts():
            key = student, lesson, _ = attempt.key
            is_wanted = self.options.wants(student, lesson)
            if key in done or not is_wanted or attempt.state is not AttemptState.GRADED:
                continue
            done.add(key)
            notebook = SubmittedNotebook(student, lesson, Path(attempt.file), attempt.handed_in)
            submission = Submission(attempt.answers, release=attempt.release)
            yield self._task(notebook, submission, attempt.reason)

    def finish(self, task: SubmissionTask, result: SubmissionRun | Exception) -> None:
        """Judge how a task ran, and record the attempt."""
        if isinstance(result, Exception):
            reason = f"{type(result).__name__}: {result}"
            self.summary.failed.append((task.notebook, reason))
            self._record(task, AttemptState.FAILED, reason)
        else:
            self.summary.graded += 1
            self._record(task, AttemptState.GRADED, task.remark, result)

    def _lesson(self, stem: str) -> GradedLesson:
        if stem not in self.lessons:
            seed = self.gradebook.seed_of_run(stem, fresh=secrets.randbits(32))
            self.lessons[stem] = GradedLesson(self.course.lesson(stem), seed)
        return self.lessons[stem]

    def _task(
        self, notebook: SubmittedNotebook, submission: Submission, remark: str = ""
    ) -> SubmissionTask:
        lesson = self._lesson(notebook.lesson)
        settings = RunSettings(lesson.seed, self.options.in_sandbox)
        return SubmissionTask(
            notebook, submission, remark, lesson.blank, lesson.kernel_course, settings
        )

    def _is_current(self, attempt: Attempt) -> bool:
        return (
            attempt.state is AttemptState.GRADED
            and attempt.environment == self.environment
            and attempt.checks == self._lesson(attempt.lesson).digest
        )

    def _record(
        self,
        task: SubmissionTask,
        state: AttemptState,
        reason: str,
        run: SubmissionRun | None = None,
    ) -> None:
        notebook, submission = task.notebook, task.submission
        lesson = self._lesson(notebook.lesson)
        if run is not None:
            verdicts = judge_submission(lesson, submission, run.exercises)
            rows = [_row(each, submission, run.exercises.get(each.exercise)) for each in verdicts]
        else:  # all exercises share the attempt's state
            rows = [
                VerdictRow(exercise, str(state), 0, points, explanation=reason)
                for exercise, points in lesson.points.items()
            ]
        self.gradebook.record(
            Attempt(
                student=notebook.student,
                lesson=notebook.lesson,
                file=str(notebook.file),
                handed_in=notebook.handed_in,
                answers=submission.answers,
                answers_digest=_digest(submission.answers),
                release=submission.release,
                checks=lesson.digest,
                environment=self.environment,
                seed=lesson.seed,
                state=state,
                reason=reason,
                seconds=run.seconds if run else 0.0,
                graded_at=datetime.now().astimezone(),
                rows=rows,
            )
        )


def _environment() -> str:
    """Name what decides the results: the versions of Python and of the libraries."""
    names = [f"python {platform.python_version()}"]
    return ", ".join([*names, *(f"{name} {version(name)}" for name in _LIBRARIES)])


def _digest(data: object) -> str:
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _row(verdict: Verdict, submission: Submission, run: ExerciseRun | None) -> VerdictRow:
    """Return what the gradebook stores of a verdict: nothing that was expected in a fresh case."""
    failure, results = None, None
    if verdict.failure is not None:
        failure = asdict(verdict.failure)
        del failure["expected"], failure["difference"]
    if verdict.failed and run is not None:
        outcomes = run.check.outcomes or []
        results = _digest([without_message(outcome.observation) for outcome in outcomes])
    return VerdictRow(
        exercise=verdict.exercise,
        kind=str(verdict.kind),
        points=verdict.points,
        exercise_points=verdict.exercise_points,
        passed=verdict.passed,
        cases=verdict.cases,
        seconds=run.seconds if run else 0.0,
        explanation=explanation(verdict, submission.notes, reveal=False),
        misconceptions=[misconception.name for misconception in verdict.misconceptions],
        failure=failure,
        results=results,
        reasons=list(verdict.reasons),
        lines=[asdict(line) for line in verdict.lines],
        failed=list(verdict.failed),
    )
