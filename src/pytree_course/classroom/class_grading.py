"""Grade a class: every submission that is new or changed, once, and resumable at any time."""

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from pytree_course.built import other_version
from pytree_course.classroom.attempt import (
    Attempt,
    AttemptState,
    VerdictRow,
    counting,
    first_tries,
)
from pytree_course.classroom.authors_run import AuthorsRuns, AuthorsTask
from pytree_course.classroom.file_names import printable_path
from pytree_course.classroom.folder import ClassFolder, SubmittedNotebook
from pytree_course.classroom.gradebook import Gradebook
from pytree_course.classroom.judgement import Judgement
from pytree_course.classroom.pool import Pool
from pytree_course.classroom.recorded import digest, environment, in_words, verdict_row
from pytree_course.classroom.submission_run import SubmissionRun, SubmissionTask
from pytree_course.classroom.task_queue import TaskQueue
from pytree_course.classroom.tries import Key, Seeds, Try, admitted, not_run
from pytree_course.classroom.verdict_changes import VerdictChange, verdict_changes
from pytree_course.course import Course, CourseError
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.notebook_run import RunSettings
from pytree_course.grading.regular_file import UnreadableError
from pytree_course.grading.submission import Submission, find_answers, read_notebook
from pytree_course.printable import printable

Step = TypeVar("Step")

_NO_ANSWER_CELLS = (
    "the notebook has none of the answer cells: it belongs to another lesson, or something changed "
    "the ids of its cells"
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
    failed: list[tuple[str, str]] = field(default_factory=list)  # files, each with the reason
    changes: list[VerdictChange] = field(default_factory=list)


ShowProgress = Callable[[int, int], None]
"""Is called with how many submissions are done, of how many."""


def grade_class(
    course: Course,
    folder: ClassFolder,
    gradebook: Gradebook,
    options: GradingOptions,
    pool: Pool,
    show_progress: ShowProgress = lambda done, of: None,
    *,
    authors_pool: Pool | None = None,
) -> Summary:
    """Grade all that is new or changed, and record each attempt as soon as it is graded.

    The author's answers run in `authors_pool`, where that is not the one of the submissions.
    """
    gradebook.introduce(folder.submitters)
    chosen = [each for each in folder.notebooks if options.wants(each.student, each.lesson)]
    before = counting(gradebook.attempts(), options.best)
    grading = _Grading(course, gradebook, options, pool, authors_pool or pool, show_progress)
    grading.grade(chosen)
    gradebook.finish_runs()  # the next grading draws fresh cases
    after = counting(gradebook.attempts(), options.best)
    grading.summary.changes = list(verdict_changes(before, after))
    return grading.summary


class _Grading:
    """One grading of a class, under way."""

    def __init__(
        self,
        course: Course,
        gradebook: Gradebook,
        options: GradingOptions,
        pool: Pool,
        authors_pool: Pool,
        show_progress: ShowProgress,
    ) -> None:
        self.course = course
        self.gradebook = gradebook
        self.options = options
        self.pool = pool
        self.show_progress = show_progress
        self.environment = environment()
        self.summary = Summary()
        self.run_seeds: dict[tuple[str, int], int] = {}
        self.lessons: dict[tuple[str, int], GradedLesson] = {}
        self.queue = TaskQueue()
        self.authors = AuthorsRuns(partial(self.queue.add, pool=authors_pool, soon=True))
        self.tasks: dict[tuple[str, str, int], SubmissionTask] = {}
        self.tries: dict[SubmissionTask, list[Try]] = defaultdict(list)  # with equal answers
        self.waiting: list[Judgement] = []

    def grade(self, notebooks: list[SubmittedNotebook]) -> None:
        """Run what is to be run, and record how."""
        try:
            self._prepare(notebooks)
            to_do = sum(map(len, self.tries.values()))
            self.show_progress(0, to_do)
            for task, result in self.queue.results():
                if isinstance(task, AuthorsTask):
                    self.authors.take(task, result)
                elif isinstance(task, SubmissionTask):
                    self._take(task, result)
                self._judge_what_is_ready()
                self.show_progress(to_do - sum(map(len, self.tries.values())), to_do)
        finally:
            self.queue.close()

    def _prepare(self, notebooks: list[SubmittedNotebook]) -> None:
        """Hand in what has to be run; what cannot be read is recorded at once."""
        attempts = self.gradebook.attempts()
        graded, seeds = first_tries(attempts), Seeds(self._run_seed, attempts)
        done: set[Key] = set()
        if not self.options.force:
            done = {each.key for each in attempts if self._is_current(each)}
        by_student = defaultdict(list)
        for notebook in sorted(notebooks, key=lambda each: (each.handed_in, each.file)):
            by_student[notebook.student, notebook.lesson].append(notebook)
        remarks = {}
        for place, of_student in by_student.items():
            unread = (
                Try(each, Submission(), digest(Submission().answers), each.remark)
                for each in of_student
            )
            read = (self._guarded(each, partial(self._read, each)) for each in unread)
            tries = [each for each in read if each is not None]
            wanted = admitted(tries, graded[place], self.options.best)
            others = set()
            for each in tries:
                if each.key in done:
                    self.summary.unchanged += 1
                elif each.digest in wanted:
                    done.add(each.key)
                    self._have_run(each, seeds.of(each.key))
                else:
                    others.add(each.digest)
            remarks[place] = not_run(len(others), self.options.best) if others else ""
        self.gradebook.note_not_run(remarks)
        if self.options.best:
            for each in self._earlier_tries(attempts, graded):
                if each.key not in done:
                    done.add(each.key)
                    self._have_run(each, seeds.of(each.key))

    def _have_run(self, this: Try, seed: int) -> None:
        """Hand in a try, unless the same answers are there already."""
        lesson = self._lesson(this.notebook.lesson, seed)
        same = (this.notebook.lesson, this.digest, seed)
        if same not in self.tasks:
            self.authors.ask_right(lesson)
            settings = RunSettings(lesson.seed, self.options.in_sandbox)
            answers = this.submission.answers
            task = SubmissionTask(answers, lesson.blank, lesson.kernel_course, settings)
            self.tasks[same] = task
            self.queue.add(task, self.pool)
        self.tries[self.tasks[same]].append(this)

    def _take(self, task: SubmissionTask, result: SubmissionRun | Exception) -> None:
        if isinstance(result, Exception):
            self._give_up(task, result)
            return
        lesson = self._lesson(self.tries[task][0].notebook.lesson, task.settings.seed)
        self.waiting.append(Judgement(task, lesson, result))

    def _judge_what_is_ready(self) -> None:
        waiting, self.waiting = self.waiting, []
        for each in waiting:
            try:
                is_ready = each.is_ready(self.authors)
            except Exception as error:  # its outcomes are untrusted
                self._give_up(each.task, error)
                continue
            if not is_ready:
                self.waiting.append(each)
                continue
            for this in self.tries.pop(each.task):
                self._guarded(this, partial(self._judge, this, each))

    def _give_up(self, task: SubmissionTask, error: Exception) -> None:
        for this in self.tries.pop(task):
            self._record_failure(this, error)

    def _guarded(self, this: Try, step: Callable[[], Step]) -> Step | None:
        """Take a step of one submission's way; whatever goes wrong becomes its row.

        A `CourseError`, such as a full disk, is no submission's fault, and ends the grading.
        """
        try:
            return step()
        except UnreadableError as error:
            reason = "; ".join(filter(None, [this.remark, printable(str(error))]))
            self._record_without_verdicts(this, AttemptState.UNREADABLE, reason)
        except CourseError:
            raise
        except Exception as error:
            self._record_failure(this, error)
        return None

    def _judge(self, this: Try, judged: Judgement) -> None:
        runs = judged.run.exercises
        verdicts = judge_submission(judged.lesson, this.submission, runs)
        rows = [verdict_row(each, this.submission, runs.get(each.exercise)) for each in verdicts]
        graded = AttemptState.GRADED
        self._record(this, judged.lesson, graded, this.remark, rows, judged.run.seconds)
        self.summary.graded += 1

    def _read(self, unread: Try) -> Try:
        notebook = unread.notebook
        content = read_notebook(notebook.file)
        submission = find_answers(content, self._first_lesson(notebook.lesson).starters)
        remarks = (
            notebook.remark,
            "" if submission.has_answer_cells else _NO_ANSWER_CELLS,
            other_version(content, self.course.lesson(notebook.lesson)),
        )
        remark = "; ".join(filter(None, remarks))
        return Try(notebook, submission, digest(submission.answers), remark)

    def _earlier_tries(
        self, attempts: list[Attempt], graded: dict[tuple[str, str], list[str]]
    ) -> Iterator[Try]:
        """Yield tries that may count, from the gradebook: their notebooks may be gone by now."""
        for attempt in attempts:
            student, lesson, digest = attempt.key
            is_graded = attempt.state is AttemptState.GRADED
            is_wanted = self.options.wants(student, lesson) and digest in graded[student, lesson]
            if is_graded and is_wanted:
                notebook = SubmittedNotebook(student, lesson, Path(attempt.file), attempt.handed_in)
                submission = Submission(attempt.answers, release=attempt.release)
                yield Try(notebook, submission, digest, attempt.reason)

    def _run_seed(self, stem: str, at: int) -> int:
        if (stem, at) not in self.run_seeds:
            fresh = secrets.randbits(32)
            self.run_seeds[stem, at] = self.gradebook.seed_of_run(stem, at, fresh)
        return self.run_seeds[stem, at]

    def _first_lesson(self, stem: str) -> GradedLesson:
        return self._lesson(stem, self._run_seed(stem, 0))

    def _lesson(self, stem: str, seed: int) -> GradedLesson:
        if (stem, seed) not in self.lessons:
            first = seed == self._run_seed(stem, 0)
            self.lessons[stem, seed] = (
                GradedLesson(self.course.lesson(stem), seed)
                if first
                else self._first_lesson(stem).on_cases_of(seed)
            )
        return self.lessons[stem, seed]

    def _is_current(self, attempt: Attempt) -> bool:
        return (
            attempt.state is AttemptState.GRADED
            and attempt.environment == self.environment
            and attempt.checks == self._first_lesson(attempt.lesson).digest
        )

    def _record_failure(self, this: Try, error: Exception) -> None:
        reason = printable(in_words(error))
        self.summary.failed.append((str(printable_path(this.notebook.file)), reason))
        self._record_without_verdicts(this, AttemptState.FAILED, reason)

    def _record_without_verdicts(self, this: Try, state: AttemptState, reason: str) -> None:
        lesson = self._first_lesson(this.notebook.lesson)
        rows = [
            VerdictRow(exercise, str(state), 0, points, explanation=reason)
            for exercise, points in lesson.points.items()
        ]
        self._record(this, lesson, state, reason, rows)

    def _record(
        self,
        this: Try,
        lesson: GradedLesson,
        state: AttemptState,
        reason: str,
        rows: list[VerdictRow],
        seconds: float = 0.0,
    ) -> None:
        self.gradebook.record(
            Attempt(
                student=this.notebook.student,
                lesson=this.notebook.lesson,
                file=str(printable_path(this.notebook.file)),
                handed_in=this.notebook.handed_in,
                answers=this.submission.answers,
                answers_digest=this.digest,
                release=this.submission.release,
                checks=lesson.digest,
                environment=self.environment,
                seed=lesson.seed,
                state=state,
                reason=reason,
                seconds=seconds,
                graded_at=datetime.now().astimezone(),
                rows=rows,
            )
        )
