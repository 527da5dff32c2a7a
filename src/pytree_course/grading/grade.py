"""Grade one submitted notebook: prepare its lesson, run its answers, judge them."""

import re
import secrets
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pytree_course.course import LessonFiles
from pytree_course.grading.cell_run import CellEnd, CellRun, RunSettings
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.submission import Submission, read_submission
from pytree_course.judging import words
from pytree_course.judging.expected import BuiltLesson, ExpectedExercise
from pytree_course.judging.judge import judge, without_outcomes
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.observing.observations import Observation
from pytree_course.running.outcomes import PUBLIC_SEED, Outcome

if TYPE_CHECKING:  # the process that only judges what other ones ran does without
    from pytree_course.sources.lesson_sources import LessonSources

_TEMPORARY_FILE = re.compile(r"\(\d+\.py, line")  # what ipykernel calls a cell


class AuthorsLesson(NamedTuple):
    """A lesson as the process that runs its author's answers knows it."""

    root: Path
    stem: str
    digest: str  # of the exercises
    seed: int  # of the cases


@cache
def right_results(lesson: AuthorsLesson, exercise: str) -> ExpectedExercise:
    """Run the right answer to an exercise, once in this process."""
    from pytree_course.sources import authors_answers

    sources = _read_once(lesson)
    return authors_answers.run_solution(sources, sources.exercises[exercise], lesson.seed)


@cache
def _read_once(lesson: AuthorsLesson) -> "LessonSources":
    from pytree_course.sources.lesson_sources import read_sources

    return read_sources(LessonFiles(lesson.root, lesson.stem))


class GradedLesson:
    """A lesson, ready to grade submissions on the public cases, with what was built of it.

    A learner's copy of the course has nothing else: no right answers, so no other cases.
    """

    on_public_cases = True

    def __init__(self, files: LessonFiles, seed: int = PUBLIC_SEED) -> None:
        self.files, self.seed = files, seed
        self._stored = BuiltLesson.read(files.expected)
        self.title = self._stored.title
        self.digest = self._stored.sources  # of exercises and their checks
        self.points = {name: each.points for name, each in self._stored.graded.items()}
        self.starters = files.read_starters()

    @cached_property
    def _course(self) -> dict[str, str]:
        """The files that kernels see, by their paths: no observations, no hints, no answers."""
        graded = self._stored.graded.items()
        exercises = {name: replace(exercise, hints=[]) for name, exercise in graded}
        bare = replace(self._stored, exercises=exercises, predictions={})
        inside = LessonFiles(Path(), self.files.stem)
        return {
            inside.check_script.as_posix(): self.files.check_script.read_text(encoding="utf-8"),
            inside.expected.as_posix(): bare.to_text(),
        }

    def run_settings(self, *, in_sandbox: bool) -> RunSettings:
        """Return what the answers to this lesson are run with."""
        blank = self.files.read_blank()
        return RunSettings(blank, self._course, self.seed, in_sandbox, self._to_explain())

    def _to_explain(self) -> dict[str, list[Observation]]:
        """Return the right results of the exercises whose wrong answers run on public cases too."""
        return {}

    def right(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields."""
        return self.on_public(exercise)

    def on_public(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer and the misconceptions yield on the public cases."""
        return self._stored.expected(exercise)


class FreshLesson(GradedLesson):
    """A lesson, ready to grade on fresh cases, for which the author's right answers run.

    They run in the pool, or else in this process. Why a wrong answer is wrong is what the learner's
    own check says of it: the results of all misconceptions on the public cases are built.
    """

    on_public_cases = False

    def __init__(
        self, files: LessonFiles, seed: int | None = None, pool: Executor | None = None
    ) -> None:
        super().__init__(files, secrets.randbits(32) if seed is None else seed)
        self._pool = pool
        self._right: dict[str, ExpectedExercise] = {}
        # Reading the sources takes long; what was built from the same sources will do.
        self.digest = files.exercises_digest()
        self._is_built = self.digest == self._stored.sources
        if not self._is_built:
            sources = _read_once(self._authors)
            self.title = sources.title
            self.points = {name: each.points for name, each in sources.graded.items()}

    def right(self, exercise: str) -> ExpectedExercise:
        """Return what the right answer yields; it runs once."""
        if self._pool is None:
            return right_results(self._authors, exercise)
        if exercise not in self._right:
            task = self._pool.submit(right_results, self._authors, exercise)
            self._right[exercise] = task.result()
        return self._right[exercise]

    def _to_explain(self) -> dict[str, list[Observation]]:
        if not self._is_built:
            return {}
        return {exercise: self.right(exercise).observations for exercise in self.points}

    @property
    def _authors(self) -> AuthorsLesson:
        return AuthorsLesson(self.files.root, self.files.stem, self.digest, self.seed)


def graded_lesson(files: LessonFiles, pool: Executor | None = None) -> GradedLesson:
    """Make a lesson ready, on fresh cases where the course's sources are there."""
    return FreshLesson(files, pool=pool) if files.sources.exists() else GradedLesson(files)


@dataclass(frozen=True)
class Grade:
    """The verdicts on one notebook, and notes on answer cells with something odd, by exercise."""

    lesson: str
    title: str
    notebook: Path
    seed: int
    verdicts: list[Verdict]
    notes: dict[str, str]

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def all_points(self) -> int:
        """Points that can be earned."""
        return sum(verdict.exercise_points for verdict in self.verdicts)

    @property
    def all_correct(self) -> bool:
        """Whether every exercise is correct."""
        return all(verdict.kind is VerdictKind.CORRECT for verdict in self.verdicts)


def grade_notebook(notebook: Path, files: LessonFiles) -> Grade:
    """Grade the user's own notebook, outside of the sandbox."""
    lesson = graded_lesson(files)
    submission = read_submission(notebook, lesson.starters)
    runs = run_answers(submission.answers, lesson.run_settings(in_sandbox=False))
    verdicts = judge_submission(lesson, submission, runs)
    return Grade(files.stem, lesson.title, notebook, lesson.seed, verdicts, submission.notes)


def judge_submission(
    lesson: GradedLesson, submission: Submission, runs: dict[str, ExerciseRun]
) -> list[Verdict]:
    """Judge every exercise of a lesson by the runs of a submission's answers."""
    verdicts = []
    for name in lesson.points:
        if name not in runs:
            reason = submission.notes.get(name, words.NOT_ATTEMPTED)
            verdicts.append(without_outcomes(lesson.right(name), VerdictKind.NOT_ATTEMPTED, reason))
            continue
        verdict = _verdict(lesson.right(name), runs[name])
        if verdict.failed and (again := runs[name].on_public_cases):
            verdict = _explained(verdict, lesson.on_public(name), again)
        verdicts.append(verdict)
    return verdicts


def _explained(verdict: Verdict, expected: ExpectedExercise, again: CellRun) -> Verdict:
    """Return what the learner's own check says of a wrong answer; it does not pass either.

    Where it passes there, the verdict on fresh cases stands: it shows the case, and no reason.
    """
    outcomes = _outcomes(expected, again)
    on_public_cases = judge(expected, outcomes) if outcomes else verdict
    return on_public_cases if on_public_cases.failed else verdict


def _outcomes(exercise: ExpectedExercise, check: CellRun) -> list[Outcome] | None:
    """Return what an answer is judged by; None where it did not yield an outcome for each case."""
    outcomes = check.outcomes
    if outcomes is None or len(outcomes) != len(exercise.observations):
        return None
    return outcomes


def _verdict(exercise: ExpectedExercise, run: ExerciseRun) -> Verdict:
    if run.end is CellEnd.TIMED_OUT:
        return without_outcomes(exercise, VerdictKind.TIMED_OUT, words.TIMED_OUT)
    if outcomes := _outcomes(exercise, run.check):
        return judge(exercise, outcomes)
    kind, reason = _failure(exercise, run)
    return without_outcomes(exercise, kind, reason)


def _failure(exercise: ExpectedExercise, run: ExerciseRun) -> tuple[VerdictKind, str]:
    """Return the verdict's kind, and its reason, of an answer that yielded no outcomes in time."""
    check = run.check
    if check.reports > 1:  # before the flood: how much of a flood is read depends on the machine
        return VerdictKind.ERROR, words.SEVERAL_REPORTS
    has_long_report = check.has_bulk and not check.reports
    if run.end is CellEnd.FLOODED or has_long_report:
        return VerdictKind.CRASHED, words.TOO_MUCH_OUTPUT
    if run.used_up:
        return VerdictKind.CRASHED, words.USED_UP.format(what=run.used_up)
    if run.end is CellEnd.KERNEL_ENDED:
        return VerdictKind.CRASHED, words.KERNEL_DIED
    return VerdictKind.ERROR, _error(exercise, run.answer, check)


def _error(exercise: ExpectedExercise, answer: CellRun, check: CellRun) -> str:
    if answer.error:
        kind, message = answer.error
        if kind == "MemoryError":
            return words.OUT_OF_MEMORY
        message = _TEMPORARY_FILE.sub("(line", message)
        return words.ANSWER_CELL_RAISED.format(type=kind, message=message)
    if check.error:
        kind, message = check.error
        for name in exercise.answers if kind == "NameError" else ():
            if f"'{name}'" in message:
                return words.NOT_DEFINED.format(name=name)
        return words.CHECK_CELL_RAISED.format(type=kind, message=message)
    return words.NO_REPORT
