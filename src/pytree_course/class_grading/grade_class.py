"""Grade a class: each new or changed submission once; an interrupted grading can be resumed."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from msgspec import structs

from pytree_course.class_grading.attempt import (
    Attempt,
    AttemptState,
    VerdictChange,
    VerdictRow,
    counting,
    verdict_changes,
)
from pytree_course.class_grading.downloads import Submitter
from pytree_course.class_grading.folder import ClassFolder, SubmittedNotebook
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.class_grading.student_files import joined, printable_path
from pytree_course.class_grading.verdict_rows import digest, environment, in_words, verdict_row
from pytree_course.course import Course, CourseError
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.kernel_course import RunSettings
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.regular_file import UnreadableError
from pytree_course.grading.submission import Submission, find_answers, read_notebook
from pytree_course.texts import printable

_NO_ANSWER_CELLS = (
    "the notebook has none of the answer cells: it belongs to another lesson, or something changed "
    "the ids of its cells"
)


@dataclass(frozen=True)
class GradingOptions:
    """What a teacher chooses."""

    lessons: Sequence[str] = ()  # only these; all, when empty
    force: bool = False  # run also what has not changed since it was graded
    in_sandbox: bool = True

    def wants(self, notebook: SubmittedNotebook) -> bool:
        """Say whether a notebook is to be graded."""
        return not self.lessons or notebook.lesson in self.lessons


@dataclass
class Summary:
    """What one grading of a class did."""

    graded: int = 0
    unchanged: int = 0  # graded before, and not again
    failed: list[tuple[str, str]] = field(default_factory=list)  # files, each with the reason
    changes: list[VerdictChange] = field(default_factory=list)


Run = Future[dict[str, ExerciseRun]]
"""Answers that run once, however many students handed them in: how each exercise ran."""

ShowProgress = Callable[[int, int], None]
"""What is called with the number of submissions that are done, and of all."""


def grade_class(
    course: Course,
    folder: ClassFolder,
    gradebook: Gradebook,
    options: GradingOptions,
    pool: Executor,
    authors_pool: Executor,
    show_progress: ShowProgress = lambda done, of: None,
) -> Summary:
    """Grade all that is new or changed, and record each attempt as soon as it is graded.

    Submissions run in `pool`; the author's answers, by which they are judged, in `authors_pool`.
    """
    submitters = {each.id: each for each in folder.submitters}
    grading = _Grading(course, gradebook, submitters, options, pool, authors_pool)
    before = counting(gradebook.attempts())
    grading.begin([each for each in grading.last_handed_in(folder) if options.wants(each)])
    to_do = sum(map(len, grading.handed_in.values()))
    show_progress(0, to_do)
    for run in as_completed(grading.handed_in):
        grading.judge(run)
        show_progress(to_do - sum(map(len, grading.handed_in.values())), to_do)
    after = counting(gradebook.attempts())
    grading.summary.changes = list(verdict_changes(before, after))
    return grading.summary


@dataclass(frozen=True)
class _ReadNotebook:
    """A notebook that was handed in, and what is in it."""

    notebook: SubmittedNotebook
    submission: Submission = field(default_factory=Submission)

    @property
    def digest(self) -> str:
        """A digest of the answers."""
        return digest(self.submission.answers)

    @property
    def key(self) -> tuple[str, str, str]:
        """The student, the lesson, and a digest of the answers."""
        return self.notebook.student, self.notebook.lesson, self.digest


@dataclass
class _Grading:
    """One grading of a class, under way."""

    course: Course
    gradebook: Gradebook
    submitters: dict[str, Submitter]
    options: GradingOptions
    pool: Executor
    authors_pool: Executor
    environment: str = field(default_factory=environment)
    summary: Summary = field(default_factory=Summary)
    lessons: dict[str, GradedLesson] = field(default_factory=dict)
    handed_in: dict[Run, list[_ReadNotebook]] = field(default_factory=lambda: defaultdict(list))

    def last_handed_in(self, folder: ClassFolder) -> list[SubmittedNotebook]:
        """Return the notebook that each student handed in last for each lesson.

        Of several, those without any answer cell are none, as the lesson's own notebook is.
        """
        by_place = defaultdict(list)
        for each in sorted(folder.notebooks, key=lambda each: (each.handed_in, each.file)):
            by_place[each.student, each.lesson].append(each)
        last = []
        for all_of_one in by_place.values():
            several = [each for each in all_of_one if self._may_have_answers(each, all_of_one)]
            notebook = (several or all_of_one)[-1]
            name = printable(notebook.file.name)
            said = f"of {len(several)} notebooks, the last counts: {name}" if several[1:] else ""
            last.append(replace(notebook, remark=joined(notebook.remark, said)))
        return last

    def _may_have_answers(
        self, notebook: SubmittedNotebook, all_of_one: list[SubmittedNotebook]
    ) -> bool:
        """Say whether a notebook has an answer cell; one that cannot be read may have."""
        if len(all_of_one) == 1:
            return True
        try:
            return self._read(notebook).submission.has_answer_cells
        except Exception:  # why not is said if it is the last one, and so has its turn
            return True

    def begin(self, notebooks: list[SubmittedNotebook]) -> None:
        """Find out what has to be run, and begin; what cannot be read is recorded at once."""
        attempts = self.gradebook.attempts()
        counts = {attempt.key for attempt in counting(attempts).values()}
        lessons = {notebook.lesson for notebook in notebooks}
        current = {
            each.key: each for each in attempts if each.lesson in lessons and self._is_current(each)
        }
        alike: dict[tuple[str, str], Run] = {}
        for notebook in notebooks:
            with self._guarded(_ReadNotebook(notebook)):
                read = self._read(notebook)
                if self.options.force or read.key not in current:
                    answers = notebook.lesson, read.digest
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
                        structs.replace(earlier, handed_in=notebook.handed_in, graded_at=now)
                    )

    def _run(self, read: _ReadNotebook) -> Run:
        lesson = self._lesson(read.notebook.lesson)
        lesson.begin(read.submission.answers)
        settings = RunSettings(lesson.seed, self.options.in_sandbox)
        return self.pool.submit(
            run_answers, read.submission.answers, lesson.blank, lesson.kernel_course, settings
        )

    @contextmanager
    def _guarded(self, read: _ReadNotebook) -> Iterator[None]:
        """Record whatever goes wrong with one submission as its row.

        A `CourseError`, such as a full disk, is no submission's fault, and ends the grading.
        """
        try:
            yield
        except UnreadableError as error:
            reason = joined(read.notebook.remark, printable(str(error)))
            self._record(read, AttemptState.UNREADABLE, reason)
        except CourseError:
            raise
        except Exception as error:
            reason = printable(in_words(error))
            self.summary.failed.append((str(printable_path(read.notebook.file)), reason))
            self._record(read, AttemptState.FAILED, reason)

    def judge(self, run: Run) -> None:
        """Judge a run that is finished, and record it for each student who handed it in."""
        for read in self.handed_in.pop(run):
            with self._guarded(read):
                ran, lesson = run.result(), self._lesson(read.notebook.lesson)
                rows = [
                    verdict_row(verdict, ran.get(verdict.exercise), read.submission)
                    for verdict in judge_submission(lesson, read.submission, ran)
                ]
                self._record(read, AttemptState.GRADED, read.notebook.remark, rows)
                self.summary.graded += 1

    def _read(self, notebook: SubmittedNotebook) -> _ReadNotebook:
        starters = self._lesson(notebook.lesson).starters
        submission = find_answers(read_notebook(notebook.file), starters)
        said = "" if submission.has_answer_cells else _NO_ANSWER_CELLS
        remark = joined(notebook.remark, said)
        return _ReadNotebook(replace(notebook, remark=remark), submission)

    def _lesson(self, stem: str) -> GradedLesson:
        """Return a lesson, on fresh cases that all submissions of this grading share."""
        if stem not in self.lessons:
            self.lessons[stem] = GradedLesson(self.course.lesson(stem), pool=self.authors_pool)
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
        read: _ReadNotebook,
        state: AttemptState,
        reason: str,
        rows: list[VerdictRow] | None = None,
    ) -> None:
        """Record an attempt; without verdicts, each exercise's row says why there are none."""
        notebook, submission = read.notebook, read.submission
        lesson, who = self._lesson(notebook.lesson), self.submitters[notebook.student]
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
