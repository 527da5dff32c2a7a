"""Grade a class: run new and changed submissions in parallel, resumably."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import structs

from pytree_course.class_grading.attempt import (
    Attempt,
    AttemptState,
    VerdictRow,
    counting_attempts,
    current_environment,
    verdict_row,
)
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.class_grading.reading import Notebook
from pytree_course.class_grading.student_files import join_remarks, shown_path
from pytree_course.course import Course, CourseError
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.lesson_to_grade import (
    LessonToGrade,
    RightResults,
    find_right_results,
    make_run_settings,
    read_lesson,
)
from pytree_course.texts import printable, truncate

_MAX_MESSAGE = 500


@dataclass(frozen=True)
class GradingOptions:
    """The teacher's options."""

    lessons: Sequence[str] = ()  # only these; all, when empty
    force: bool = False  # run also what has not changed since it was graded
    in_sandbox: bool = True

    def wants(self, notebook: Notebook) -> bool:
        """Return whether a notebook should be graded."""
        return not self.lessons or notebook.lesson in self.lessons


@dataclass(frozen=True)
class VerdictChange:
    """The verdict on an unchanged answer, before and after, and why it changed."""

    student: str
    lesson: str
    exercise: str
    before: str
    after: str
    reason: str


@dataclass
class Summary:
    """The outcome of one grading of a class."""

    graded: int = 0
    unchanged: int = 0  # graded before, and not again
    failed: list[tuple[str, str]] = field(default_factory=list)  # files, each with the reason
    changes: list[VerdictChange] = field(default_factory=list)


Run = Future[dict[str, ExerciseRun]]
"""A run of a submission's answers: in the end, how each exercise ran."""

ShowProgress = Callable[[int, int], None]
"""Shows the number of submissions that are done, and of all."""


@dataclass
class ClassGrading:
    """A grading of what is new or changed; it records each attempt as soon as it is graded.

    Submissions run in `pool`; the author's answers, by which they are judged, in `authors_pool`.
    """

    course: Course
    folder: ClassFolder
    gradebook: Gradebook
    options: GradingOptions
    pool: Executor
    authors_pool: Executor
    environment: str = field(default_factory=current_environment)
    summary: Summary = field(default_factory=Summary)
    lessons: dict[str, LessonToGrade] = field(default_factory=dict)
    right_results: dict[str, RightResults] = field(default_factory=dict)  # by lesson

    def run(self, show_progress: ShowProgress = lambda done, total: None) -> Summary:
        """Grade the class."""
        attempts = self.gradebook.attempts()
        groups = self._group_what_has_to_run(attempts)
        total = sum(map(len, groups))
        done = 0
        show_progress(done, total)
        for notebooks, run in self._finished_runs(groups):
            for notebook in notebooks:
                self._judge(notebook, run)
            done += len(notebooks)
            show_progress(done, total)
        before = counting_attempts(attempts)
        after = counting_attempts(self.gradebook.attempts())
        self.summary.changes = list(verdict_changes(before, after))
        return self.summary

    def _group_what_has_to_run(self, attempts: list[Attempt]) -> list[list[Notebook]]:
        """Return the notebooks that have to run, in groups with equal answers to a lesson.

        The others are recorded here: those that cannot be read, and those graded before.
        """
        notebooks = [notebook for notebook in self.folder.notebooks if self.options.wants(notebook)]
        lessons = {notebook.lesson for notebook in notebooks}
        counting_keys = {attempt.key for attempt in counting_attempts(attempts).values()}
        current_attempts = {
            attempt.key: attempt
            for attempt in attempts
            if attempt.lesson in lessons and self._is_current(attempt)
        }
        groups = defaultdict(list)
        for notebook in notebooks:
            if notebook.problem:
                reason = join_remarks(notebook.remark, printable(notebook.problem))
                self._record_ungraded(notebook, AttemptState.UNREADABLE, reason)
            elif self.options.force or notebook.key not in current_attempts:
                groups[notebook.lesson, notebook.digest].append(notebook)
            else:
                self.summary.unchanged += 1
                if notebook.key not in counting_keys:
                    self._record_again(current_attempts[notebook.key], notebook)
        return list(groups.values())

    def _record_again(self, earlier: Attempt, notebook: Notebook) -> None:
        """Make an earlier attempt count again: its answers were handed in again after others."""
        now = datetime.now().astimezone()
        again = structs.replace(earlier, handed_in=notebook.handed_in, graded_at=now)
        self.gradebook.record(again)

    def _finished_runs(self, groups: list[list[Notebook]]) -> Iterator[tuple[list[Notebook], Run]]:
        """Run the answers of each group once, and yield each run with its notebooks when finished.

        Runs that others beside them may have spoilt are repeated at the end, one after another.
        """
        runs = self._start_runs(groups)
        doubtful = []
        for run in as_completed(runs):
            if len(runs) > 1 and _is_doubtful(run):
                doubtful.append(runs[run])
            else:
                yield runs[run], run
        for notebooks in doubtful:
            for run in as_completed(self._start_runs([notebooks])):
                yield notebooks, run

    def _start_runs(self, groups: list[list[Notebook]]) -> dict[Run, list[Notebook]]:
        """Start a run of each group's answers; return the group of each run that could start."""
        runs: dict[Run, list[Notebook]] = {}
        for notebooks in groups:
            with self._recording_failure(notebooks):
                stem = notebooks[0].lesson
                lesson, right_results = self._lesson(stem), self._right_results(stem)
                settings = make_run_settings(
                    lesson, right_results, in_sandbox=self.options.in_sandbox
                )
                answers = notebooks[0].submission.answers
                runs[self.pool.submit(run_answers, answers, settings)] = notebooks
        return runs

    @contextmanager
    def _recording_failure(self, notebooks: Sequence[Notebook]) -> Iterator[None]:
        """Record an exception as the outcome of these notebooks.

        A `CourseError`, such as a full disk, is no submission's fault: it ends the grading.
        """
        try:
            yield
        except CourseError:
            raise
        except Exception as error:
            reason = printable(_describe_error(error))
            for notebook in notebooks:
                self.summary.failed.append((shown_path(notebook.file), reason))
                self._record_ungraded(notebook, AttemptState.FAILED, reason)

    def _judge(self, notebook: Notebook, run: Run) -> None:
        """Judge a finished run, and record the verdicts for a student who handed it in."""
        with self._recording_failure([notebook]):
            exercise_runs = run.result()
            lesson = self._lesson(notebook.lesson)
            right_results = self._right_results(notebook.lesson)
            submission = notebook.submission
            rows = [
                verdict_row(verdict, exercise_runs.get(verdict.exercise), submission)
                for verdict in judge_submission(lesson, right_results, submission, exercise_runs)
            ]
            self._record(notebook, AttemptState.GRADED, notebook.remark, rows)
            self.summary.graded += 1

    def _lesson(self, stem: str) -> LessonToGrade:
        """Return a lesson, with the fresh cases that all submissions of this grading share."""
        if stem not in self.lessons:
            self.lessons[stem] = read_lesson(self.course.lesson(stem))
        return self.lessons[stem]

    def _right_results(self, stem: str) -> RightResults:
        """Return a lesson's right results; the author's answers run when they are first needed."""
        if stem not in self.right_results:
            task = self.authors_pool.submit(find_right_results, self._lesson(stem))
            self.right_results[stem] = task.result()
        return self.right_results[stem]

    def _is_current(self, attempt: Attempt) -> bool:
        """Return whether grading the same answers again could give no other result.

        Grading on fresh cases is better than the same on public ones, if the lesson now has them.
        """
        lesson = self._lesson(attempt.lesson)
        return (
            attempt.state is AttemptState.GRADED
            and attempt.environment == self.environment
            and attempt.checks == lesson.digest
            and (lesson.on_public_cases or not attempt.on_public_cases)
        )

    def _record_ungraded(self, notebook: Notebook, state: AttemptState, reason: str) -> None:
        """Record an attempt without verdicts; the row of each exercise gives the reason."""
        rows = [
            VerdictRow(exercise, str(state), 0, points, explanation=reason)
            for exercise, points in self._lesson(notebook.lesson).points.items()
        ]
        self._record(notebook, state, reason, rows)

    def _record(
        self, notebook: Notebook, state: AttemptState, reason: str, rows: list[VerdictRow]
    ) -> None:
        """Record an attempt; `reason` is also a remark on one that was graded."""
        lesson = self._lesson(notebook.lesson)
        submitter = self.folder.submitters[notebook.student]
        self.gradebook.record(
            Attempt(
                student=submitter.id,
                lesson=notebook.lesson,
                answers_digest=notebook.digest,
                checks=lesson.digest,
                environment=self.environment,
                handed_in=notebook.handed_in,
                graded_at=datetime.now().astimezone(),
                state=state,
                reason=reason,
                rows=rows,
                seconds=sum(row.seconds for row in rows),
                seed=lesson.seed,
                on_public_cases=lesson.on_public_cases,
                file=shown_path(notebook.file),
                answers=notebook.submission.answers,
                name=submitter.name,
                system=submitter.system,
                canvas_id=submitter.canvas_id,
            )
        )


def _is_doubtful(run: Run) -> bool:
    """Return whether runs beside a finished one may have caused how it ended."""
    if error := run.exception():
        return not isinstance(error, CourseError)
    return any(exercise.is_doubtful for exercise in run.result().values())


def _describe_error(error: Exception) -> str:
    """Describe an error in grading a submission, and what to do about it."""
    if isinstance(error, BrokenProcessPool | MemoryError):
        return (
            "The process that ran the notebook was ended, probably because the memory was full: "
            "grade it again with `--jobs 1`."
        )
    message = truncate(str(error), _MAX_MESSAGE)
    return (
        f"{type(error).__name__}: {message}. If this happens again, look at the notebook yourself, "
        "and tell the course's authors."
    )


def verdict_changes(
    before: Mapping[tuple[str, str], Attempt], after: Mapping[tuple[str, str], Attempt]
) -> Iterator[VerdictChange]:
    """Yield the verdicts on unchanged answers that differ before and after a grading."""
    for (student, lesson), new in after.items():
        old = before.get((student, lesson))
        if old is None or old.answers_digest != new.answers_digest:
            continue
        old_kinds = {row.exercise: row.kind for row in old.rows}
        for row in new.rows:
            old_kind = old_kinds.get(row.exercise, row.kind)  # an exercise that is new: no change
            if old_kind != row.kind:
                reason = _reason_for_change(old, new)
                yield VerdictChange(student, lesson, row.exercise, old_kind, row.kind, reason)


def _reason_for_change(old: Attempt, new: Attempt) -> str:
    if old.checks != new.checks:
        return "the exercise or its check was changed"
    if old.environment != new.environment:
        return f"it was graded in another environment: before in {old.environment}"
    return "it was graded again, on other cases"
