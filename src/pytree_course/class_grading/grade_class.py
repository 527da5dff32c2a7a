"""Grade a class: run new and changed submissions in parallel, resumably."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from msgspec import structs

from pytree_course.class_grading.attempt import (
    Attempt,
    AttemptState,
    VerdictChange,
    VerdictRow,
    counting,
    environment,
    in_words,
    verdict_changes,
    verdict_row,
)
from pytree_course.class_grading.downloads import Submitter
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.class_grading.student_files import (
    OVER_READING_BUDGET,
    ReadNotebook,
    SubmittedNotebook,
    joined,
    newest_first,
    printable_path,
    read_newest,
)
from pytree_course.course import Course, CourseError
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.grade import GradedLesson, graded_lesson, judge_submission
from pytree_course.texts import printable


@dataclass(frozen=True)
class GradingOptions:
    """The teacher's options."""

    lessons: Sequence[str] = ()  # only these; all, when empty
    force: bool = False  # run also what has not changed since it was graded
    in_sandbox: bool = True

    def wants(self, notebook: SubmittedNotebook) -> bool:
        """Return whether a notebook should be graded."""
        return not self.lessons or notebook.lesson in self.lessons


@dataclass
class Summary:
    """The outcome of one grading of a class."""

    graded: int = 0
    unchanged: int = 0  # graded before, and not again
    failed: list[tuple[str, str]] = field(default_factory=list)  # files, each with the reason
    changes: list[VerdictChange] = field(default_factory=list)


Run = Future[dict[str, ExerciseRun]]
"""Answers that run once, however many students handed them in: how each exercise ran."""

ShowProgress = Callable[[int, int], None]
"""What is called with the number of submissions that are done, and of all."""


def _is_doubtful(run: Run) -> bool:
    """Say whether what ran beside a finished run may have decided how it ended."""
    if error := run.exception():
        return not isinstance(error, CourseError)
    return any(exercise.is_doubtful for exercise in run.result().values())


@dataclass
class ClassGrading:
    """A grading of all that is new or changed, which records each attempt as soon as it is graded.

    Submissions run in `pool`; the author's answers, by which they are judged, in `authors_pool`.
    The notebooks are read in `reading_pool`, whose processes have to see their files.
    """

    course: Course
    folder: ClassFolder
    gradebook: Gradebook
    options: GradingOptions
    pool: Executor
    authors_pool: Executor
    reading_pool: Executor
    environment: str = field(default_factory=environment)
    summary: Summary = field(default_factory=Summary)
    lessons: dict[str, GradedLesson] = field(default_factory=dict)
    handed_in: dict[Run, list[ReadNotebook]] = field(default_factory=lambda: defaultdict(list))

    def run(self, show_progress: ShowProgress = lambda done, of: None) -> Summary:
        """Grade the class."""
        attempts = self.gradebook.attempts()
        before = counting(attempts)
        self._begin(attempts)
        to_do = sum(map(len, self.handed_in.values()))
        show_progress(0, to_do)
        for run in self._finished_runs():
            self._judge(run)
            show_progress(to_do - sum(map(len, self.handed_in.values())), to_do)
        after = counting(self.gradebook.attempts())
        self.summary.changes = list(verdict_changes(before, after))
        return self.summary

    def _begin(self, attempts: list[Attempt]) -> None:
        """Start the runs that are needed; record unreadable notebooks at once."""
        notebooks = [each for each in self.folder.notebooks if self.options.wants(each)]
        counts = {attempt.key for attempt in counting(attempts).values()}
        lessons = {notebook.lesson for notebook in notebooks}
        current = {
            each.key: each for each in attempts if each.lesson in lessons and self._is_current(each)
        }
        alike: dict[tuple[str, str], Run] = {}
        for newest, reading in self._begin_reading(notebooks, attempts):
            with self._guarded(ReadNotebook(newest)):
                read = reading.result()
                if read.problem:
                    reason = joined(read.notebook.remark, printable(read.problem))
                    self._record(read, AttemptState.UNREADABLE, reason)
                    continue
                if self.options.force or read.key not in current:
                    answers = read.notebook.lesson, read.digest
                    if answers not in alike:
                        alike[answers] = self._run(read)
                    self.handed_in[alike[answers]].append(read)
                    continue
                self.summary.unchanged += 1
                earlier = current[read.key]
                if read.key not in counts:
                    # Handed in again after other answers, or readable again: now it is the last.
                    now = datetime.now().astimezone()
                    self.gradebook.record(
                        structs.replace(earlier, handed_in=read.notebook.handed_in, graded_at=now)
                    )

    def _begin_reading(
        self, notebooks: list[SubmittedNotebook], attempts: list[Attempt]
    ) -> list[tuple[SubmittedNotebook, Future[ReadNotebook]]]:
        """Begin to read what each student handed in for each lesson; give the newest with it.

        What was over its budget before, and has not changed, is not read again.
        """
        begun = []
        not_again = {
            (each.student, each.lesson, each.handed_in)
            for each in attempts
            if OVER_READING_BUDGET in each.reason and not self.options.force
        }
        for of_one in newest_first(notebooks):
            newest = of_one[0]
            if (newest.student, newest.lesson, newest.handed_in) in not_again:
                self.summary.unchanged += 1
                continue
            starters = self._lesson(newest.lesson).starters
            begun.append((newest, self.reading_pool.submit(read_newest, of_one, starters)))
        return begun

    def _finished_runs(self) -> Iterator[Run]:
        """Yield each run once it is finished.

        Those that other submissions may have spoilt run again, one after another, at the end.
        """
        doubtful: list[Run] = []
        ran_beside_others = len(self.handed_in) > 1
        for run in as_completed(self.handed_in):
            if ran_beside_others and _is_doubtful(run):
                doubtful.append(run)
            else:
                yield run
        for run in doubtful:
            reads = self.handed_in.pop(run)
            again = self._run(reads[0])
            self.handed_in[again] = reads
            wait([again])
            yield again

    def _run(self, read: ReadNotebook) -> Run:
        lesson = self._lesson(read.notebook.lesson)
        lesson.begin(read.submission.answers)
        settings = lesson.run_settings(in_sandbox=self.options.in_sandbox)
        return self.pool.submit(run_answers, read.submission.answers, settings)

    @contextmanager
    def _guarded(self, read: ReadNotebook) -> Iterator[None]:
        """Record whatever goes wrong with one submission as its row.

        A `CourseError`, such as a full disk, is no submission's fault, and ends the grading.
        """
        try:
            yield
        except CourseError:
            raise
        except Exception as error:
            reason = printable(in_words(error))
            self.summary.failed.append((str(printable_path(read.notebook.file)), reason))
            self._record(read, AttemptState.FAILED, reason)

    def _judge(self, run: Run) -> None:
        """Judge a finished run, and record it for each student who handed it in."""
        for read in self.handed_in.pop(run):
            with self._guarded(read):
                ran, lesson = run.result(), self._lesson(read.notebook.lesson)
                rows = [
                    verdict_row(verdict, ran.get(verdict.exercise), read.submission)
                    for verdict in judge_submission(lesson, read.submission, ran)
                ]
                self._record(read, AttemptState.GRADED, read.notebook.remark, rows)
                self.summary.graded += 1

    @cached_property
    def _submitters(self) -> dict[str, Submitter]:
        return {each.id: each for each in self.folder.submitters}

    def _lesson(self, stem: str) -> GradedLesson:
        """Return a lesson, on fresh cases that all submissions of this grading share."""
        if stem not in self.lessons:
            self.lessons[stem] = graded_lesson(self.course.lesson(stem), self.authors_pool)
        return self.lessons[stem]

    def _is_current(self, attempt: Attempt) -> bool:
        lesson = self._lesson(attempt.lesson)
        return (
            attempt.state is AttemptState.GRADED
            and attempt.environment == self.environment
            and attempt.checks == lesson.digest
            and (lesson.on_public_cases or not attempt.on_public_cases)
        )

    def _record(
        self,
        read: ReadNotebook,
        state: AttemptState,
        reason: str,
        rows: list[VerdictRow] | None = None,
    ) -> None:
        """Record an attempt; without verdicts, each exercise's row says why there are none."""
        notebook, submission = read.notebook, read.submission
        lesson, who = self._lesson(notebook.lesson), self._submitters[notebook.student]
        if rows is None:
            points = lesson.points.items()
            rows = [VerdictRow(name, str(state), 0, of, explanation=reason) for name, of in points]
        self.gradebook.record(
            Attempt(
                student=who.id,
                lesson=notebook.lesson,
                answers_digest=read.digest,
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
                file=str(printable_path(notebook.file)),
                answers=submission.answers,
                name=who.name,
                system=who.system,
                canvas_id=who.canvas_id,
            )
        )
