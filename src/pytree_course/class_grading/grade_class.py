"""Grade a class: run what is new or out of date in parallel, resumably."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from msgspec import structs

from pytree_course.class_grading.attempt import (
    Attempt,
    AttemptState,
    VerdictRow,
    counting_attempts,
    digest,
)
from pytree_course.class_grading.folder import ClassFolder
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.class_grading.graded_rows import explain_again, grade_rows, is_current
from pytree_course.class_grading.reading import Notebook
from pytree_course.class_grading.student_files import LeftOut, shown_path
from pytree_course.course import Course, CourseError
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.lesson_to_grade import (
    LessonToGrade,
    RightResults,
    find_right_results,
    make_run_settings,
    read_lesson,
)
from pytree_course.judging.verdicts import VerdictKind
from pytree_course.texts import join_remarks, printable, truncate

NO_ANSWERS = "it has no answers"
EARLIER_COUNTS = "the notebook that was graded before counts"
OLDER = f"by the file's time, it is older than what was graded before; {EARLIER_COUNTS}"

_MAX_MESSAGE = 500
_ENDED_WELL = {VerdictKind.CORRECT, VerdictKind.INCORRECT}
"""The verdicts on answers that other answers may use."""


@dataclass(frozen=True)
class GradingOptions:
    """The teacher's options."""

    lessons: Sequence[str] = ()  # only these; all, when empty
    force: bool = False  # run also what is up to date
    in_sandbox: bool = True

    def wants(self, lesson: str) -> bool:
        """Return whether a lesson should be graded."""
        return not self.lessons or lesson in self.lessons


@dataclass
class Summary:
    """The outcome of one grading of a class."""

    graded: int = 0
    unchanged: int = 0  # graded before, and not again
    failed: list[tuple[str, str, str]] = field(default_factory=list)  # student, lesson, reason


class Work(NamedTuple):
    """An attempt, and those of its exercises that have to run; it has the rows of the others."""

    attempt: Attempt
    exercises: tuple[str, ...]


Pair = tuple[str, str]
"""A student and a lesson."""

Run = Future[dict[str, ExerciseRun]]
"""A run of a submission's answers: in the end, how each exercise ran."""

ShowProgress = Callable[[int, int], None]
"""Shows the number of submissions that are done, and of all."""


@dataclass
class ClassGrading:
    """A grading of what is new or out of date; it records each attempt as soon as it is graded.

    New is what was handed in and is not in the gradebook. Out of date are rows in the gradebook
    whose exercise, cases or environment have changed: they run again, and only they.
    """

    course: Course
    folder: ClassFolder
    gradebook: Gradebook
    options: GradingOptions
    summary: Summary = field(default_factory=Summary)
    lessons: dict[str, LessonToGrade] = field(default_factory=dict)
    right_results: dict[str, RightResults] = field(default_factory=dict)  # by lesson

    def find_work(self) -> list[Work]:
        """Return what has to run: what is new, and what counts and is out of date.

        What needs no run is recorded here: notebooks that cannot be read, and earlier answers that
        were handed in again.
        """
        attempts = self.gradebook.attempts()
        stems = {files.stem for files in self.course.lessons()}
        before = {
            pair: attempt
            for pair, attempt in counting_attempts(attempts).items()
            if attempt.lesson in stems and self.options.wants(attempt.lesson)
        }
        handed_in = {
            (notebook.student, notebook.lesson): notebook
            for notebook in self.folder.notebooks
            if self.options.wants(notebook.lesson)
        }
        for _, stem in sorted(before.keys() | handed_in.keys()):
            self._lesson(stem)  # raises, before anything is written, if it cannot be graded
        known_rows = {attempt.key: attempt.rows for attempt in attempts if attempt.rows}
        new = self._take_in(handed_in, before, known_rows)
        work = []
        for pair, attempt in (before | new).items():
            is_forced = self.options.force and (pair in handed_in or not handed_in)
            if exercises := self._find_stale(attempt, is_forced=is_forced):
                work.append(Work(attempt, exercises))
            elif attempt.state is AttemptState.GRADED:
                self.summary.unchanged += 1
                if pair in new:  # earlier answers, handed in again
                    self._record(attempt)
        return work

    def _take_in(
        self,
        handed_in: Mapping[Pair, Notebook],
        before: Mapping[Pair, Attempt],
        known_rows: Mapping[tuple[str, str, str], list[VerdictRow]],  # by `Attempt.key`
    ) -> dict[Pair, Attempt]:
        """Return the attempts that count from now on, with the rows that are known of them.

        Those without answers to run are recorded; of files that do not count, the reason is kept.
        """
        new, superseded = {}, []
        for pair, notebook in handed_in.items():
            attempt, earlier = self._new_attempt(notebook), before.get(pair)
            if attempt.state is AttemptState.FAILED:
                self.summary.failed.append((*pair, attempt.reason))
            rows = known_rows.get(attempt.key, [])
            if earlier and (why := _why_earlier_counts(attempt, earlier)):
                if not rows or attempt.state is not AttemptState.GRADED:
                    superseded.append(LeftOut(attempt.student, notebook.name, why))
            elif earlier and not self.options.force and _is_repeated(attempt, earlier):
                continue  # the earlier one keeps the time at which it was handed in
            elif attempt.state is AttemptState.GRADED:
                new[pair] = structs.replace(attempt, rows=rows)
            else:
                self._record_ungraded(attempt, earlier)
        self._remember_files(superseded)
        return new

    def _remember_files(self, superseded: Sequence[LeftOut]) -> None:
        """Remember who handed in what does not count, for later reports on other folders."""
        memory, now = self.gradebook.memory(), [*self.folder.left_out, *superseded]
        read = {
            (notebook.student, name)
            for notebook in self.folder.notebooks
            for name in notebook.candidates
        }
        earlier = [
            file
            for file in memory.left_out
            if file.student and file not in now and (file.student, file.file) not in read
        ]
        submitters = memory.submitters | self.folder.submitters
        self.gradebook.remember(submitters=submitters, left_out=[*earlier, *now])

    def run(
        self,
        work: Iterable[Work],
        pool: Executor,
        authors_pool: Executor,
        show_progress: ShowProgress = lambda done, total: None,
    ) -> None:
        """Grade what has to run: submissions in `pool`, the author's answers in `authors_pool`."""
        groups = _group(work)
        total = sum(map(len, groups))
        done = 0
        show_progress(done, total)
        for group, run in self._finished_runs(groups, pool, authors_pool):
            for one in group:
                self._judge(one, run)
            done += len(group)
            show_progress(done, total)

    def _find_stale(self, attempt: Attempt, *, is_forced: bool) -> tuple[str, ...]:
        """Return the exercises of an attempt that have to run; none if it has no answers to run."""
        lesson = self._lesson(attempt.lesson)
        if attempt.state is not AttemptState.GRADED and not attempt.answers:
            return ()
        bases = {row.exercise: row.basis for row in attempt.rows}
        return tuple(
            name
            for name in lesson.stored.graded
            if is_forced or not is_current(bases.get(name), lesson, name)
        )

    def _finished_runs(
        self, groups: list[list[Work]], pool: Executor, authors_pool: Executor
    ) -> Iterator[tuple[list[Work], Run]]:
        """Run each group once, and yield each run with the group's work when finished.

        Runs that others beside them may have spoilt are repeated at the end, one after another.
        """
        runs = self._start_runs(groups, pool, authors_pool)
        doubtful = []
        for run in as_completed(runs):
            if len(runs) > 1 and _is_doubtful(run):
                doubtful.append(runs[run])
            else:
                yield runs[run], run
        for group in doubtful:
            for run in as_completed(self._start_runs([group], pool, authors_pool)):
                yield group, run

    def _start_runs(
        self, groups: list[list[Work]], pool: Executor, authors_pool: Executor
    ) -> dict[Run, list[Work]]:
        """Start a run of each group's answers; return the runs with their groups."""
        runs: dict[Run, list[Work]] = {}
        for group in groups:
            attempt, exercises = group[0]
            right_results = self._find_right_results(attempt.lesson, authors_pool)
            settings = make_run_settings(
                self._lesson(attempt.lesson), right_results, in_sandbox=self.options.in_sandbox
            )
            answers, helpers = _split_answers(attempt, exercises)
            runs[pool.submit(run_answers, answers, settings, helpers)] = group
        return runs

    def _judge(self, work: Work, run: Run) -> None:
        """Judge a finished run, and record the verdicts, or what went wrong.

        A `CourseError`, such as a full disk, is no submission's fault: it ends the grading.
        """
        attempt, exercises = work
        lesson = self._lesson(attempt.lesson)
        right_results = self.right_results[attempt.lesson]
        try:
            new_rows, results = grade_rows(attempt, exercises, run.result(), lesson, right_results)
            rows = {row.exercise: row for row in attempt.rows} | new_rows
            in_order = [rows[name] for name in lesson.stored.graded]
            graded = structs.replace(attempt, state=AttemptState.GRADED, rows=in_order)
            self._record(graded, results)
            self.summary.graded += 1
        except CourseError:
            raise
        except Exception as error:
            reason = printable(_describe_error(error))
            self.summary.failed.append((attempt.student, attempt.lesson, reason))
            if not attempt.rows:  # otherwise the earlier grade goes on to count
                failed = structs.replace(attempt, state=AttemptState.FAILED, reason=reason)
                self._record_ungraded(failed, None)

    def find_new_reasons(self) -> None:
        """Look for the reasons of stored wrong results again, where misconceptions have changed."""
        for attempt in counting_attempts(self.gradebook.attempts()).values():
            if attempt.lesson in self.lessons:
                stored = self.lessons[attempt.lesson].stored
                rows = [explain_again(row, stored, self.gradebook.results) for row in attempt.rows]
                if rows != attempt.rows:
                    self._record(structs.replace(attempt, rows=rows))

    def _lesson(self, stem: str) -> LessonToGrade:
        """Return a lesson, with the fresh cases that the whole class shares."""
        if stem not in self.lessons:
            self.lessons[stem] = read_lesson(self.course.lesson(stem), self.gradebook.seed(stem))
        return self.lessons[stem]

    def _find_right_results(self, stem: str, authors_pool: Executor) -> RightResults:
        """Return a lesson's right results; the author's answers run when they are first needed."""
        if stem not in self.right_results:
            task = authors_pool.submit(find_right_results, self._lesson(stem))
            try:
                self.right_results[stem] = task.result()
            except Exception as error:
                raise CourseError(
                    f"The course's own answers to {stem} cannot run here: {error}"
                ) from error
        return self.right_results[stem]

    def _new_attempt(self, notebook: Notebook) -> Attempt:
        """Return the attempt that a notebook is, not graded yet."""
        submitter = self.folder.submitters[notebook.student]
        state, reason = AttemptState.GRADED, notebook.remark
        if notebook.problem:
            state = AttemptState.FAILED if notebook.is_failure else AttemptState.UNREADABLE
            reason = join_remarks(notebook.remark, printable(notebook.problem))
        return Attempt(
            student=submitter.id,
            lesson=notebook.lesson,
            handed_in=notebook.handed_in,
            graded_at=_now(),
            state=state,
            reason=reason,
            file=shown_path(notebook.file),
            answers=notebook.submission.answers,
            notes=notebook.submission.notes,
            python=notebook.submission.python,
            name=submitter.name,
            system=submitter.system,
            handed_in_as=notebook.handed_in_as,
        )

    def _record_ungraded(self, attempt: Attempt, before: Attempt | None) -> None:
        """Record an attempt without verdicts; the row of each exercise gives the reason."""
        rows = [
            VerdictRow(name, None, 0, exercise.points, explanation=attempt.reason)
            for name, exercise in self._lesson(attempt.lesson).stored.graded.items()
        ]
        if before is None or before.rows != rows:
            self._record(structs.replace(attempt, rows=rows))

    def _record(self, attempt: Attempt, results: Mapping[str, str] = MappingProxyType({})) -> None:
        """Add an attempt to the gradebook."""
        self.gradebook.record(structs.replace(attempt, graded_at=_now()), results)


def _why_earlier_counts(attempt: Attempt, earlier: Attempt) -> str:
    """Return why an earlier attempt counts instead of this one; "" if it does not."""
    if attempt.state is AttemptState.FAILED:
        is_newer = attempt.handed_in > earlier.handed_in
        if is_newer or earlier.state is not AttemptState.GRADED:
            return ""
        return f"{attempt.reason}; {EARLIER_COUNTS}"
    if earlier.answers and not attempt.answers:
        is_unreadable = attempt.state is AttemptState.UNREADABLE
        return f"{attempt.reason if is_unreadable else NO_ANSWERS}; {EARLIER_COUNTS}"
    has_same_answers = attempt.key == earlier.key and earlier.state is AttemptState.GRADED
    is_first_readable = attempt.answers and earlier.state is AttemptState.UNREADABLE
    if has_same_answers or is_first_readable or attempt.file == earlier.file:
        return ""
    return OLDER if attempt.handed_in < earlier.handed_in else ""


def _is_repeated(attempt: Attempt, earlier: Attempt) -> bool:
    """Return whether the same answers came again, under a name that is not another one."""
    is_renamed = attempt.handed_in_as not in ("", earlier.handed_in_as)
    has_failed = attempt.state is AttemptState.FAILED
    is_graded = earlier.state is AttemptState.GRADED
    return is_graded and attempt.key == earlier.key and not is_renamed and not has_failed


def _group(all_work: Iterable[Work]) -> list[list[Work]]:
    """Group work with equal answers to the same exercises, which runs once."""
    groups = defaultdict(list)
    for work in all_work:
        attempt, exercises = work
        groups[attempt.lesson, digest(attempt.answers), exercises].append(work)
    return list(groups.values())


def _split_answers(
    attempt: Attempt, exercises: Collection[str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the answers to these exercises, and those others that they may use."""
    ended_well = {row.exercise for row in attempt.rows if row.kind in _ENDED_WELL}
    answers, helpers = {}, {}
    for name, code in attempt.answers.items():
        if name in exercises:
            answers[name] = code
        elif name in ended_well:
            helpers[name] = code
    return answers, helpers


def _now() -> datetime:
    return datetime.now().astimezone()


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
