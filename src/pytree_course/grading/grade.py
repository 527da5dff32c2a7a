"""Grade one submitted notebook: prepare its lesson, run its answers, judge them."""

import re
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from pytree_course.course import LessonFiles
from pytree_course.grading.cell_run import CellEnd, CellRun, RunSettings
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.submission import Submission, read_submission
from pytree_course.judging import words
from pytree_course.judging.expected import BuiltLesson, ExpectedExercise
from pytree_course.judging.judge import judge, without_outcomes
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.running.outcomes import PUBLIC_SEED, Outcome

_TEMPORARY_FILE = re.compile(r"\(\d+\.py, line")  # ipykernel's name for a cell

RightResults = dict[str, ExpectedExercise]
"""The results of a lesson's right answers on the cases of a grading, by exercise."""


@dataclass(frozen=True)
class GradedLesson:
    """A lesson to be graded, as far as it is known before any answer runs."""

    files: LessonFiles
    stored: BuiltLesson  # with the misconceptions' results on the public cases
    digest: str  # of the exercises and their checks
    points: dict[str, int]  # by exercise
    starters: dict[str, str]  # by exercise
    on_public_cases: bool  # not on fresh ones, as there are no right answers to run
    seed: int  # of the cases


def read_lesson(files: LessonFiles) -> GradedLesson:
    """Prepare to grade a lesson: on fresh cases where its sources are, else on the public cases.

    A learner's copy of the course has no sources.
    """
    stored = BuiltLesson.read(files.expected)
    has_sources = files.sources.exists()
    return GradedLesson(
        files=files,
        stored=stored,
        digest=files.exercises_digest() if has_sources else stored.sources,
        points={name: exercise.points for name, exercise in stored.graded.items()},
        starters=files.read_starters(),
        on_public_cases=not has_sources,
        seed=secrets.randbits(32) if has_sources else PUBLIC_SEED,
    )


def right_results(lesson: GradedLesson) -> RightResults:
    """Return the results of the right answers. On fresh cases, they run, in this process."""
    if lesson.on_public_cases:
        return {name: lesson.stored.expected(name) for name in lesson.points}
    # These load JAX, and the process that judges a class does without: others run the answers.
    from pytree_course.sources import authors_answers
    from pytree_course.sources.lesson_sources import read_sources

    sources = read_sources(lesson.files)
    return {
        name: authors_answers.run_solution(sources, exercise, lesson.seed)
        for name, exercise in sources.graded.items()
    }


def make_run_settings(
    lesson: GradedLesson, right: RightResults, *, in_sandbox: bool
) -> RunSettings:
    """Return the settings that answers to a lesson run with."""
    to_explain = {}
    # Until a changed lesson is built, no misconceptions' results on its public cases are stored.
    is_built = lesson.digest == lesson.stored.sources
    if is_built and not lesson.on_public_cases:
        to_explain = {name: expected.observations for name, expected in right.items()}
    return RunSettings(
        blank=lesson.files.read_blank(),
        course=_make_course_files(lesson),
        seed=lesson.seed,
        in_sandbox=in_sandbox,
        right=to_explain,
    )


def _make_course_files(lesson: GradedLesson) -> dict[str, str]:
    """Return the files that kernels see, by their paths: no observations, no hints, no answers."""
    graded = lesson.stored.graded.items()
    exercises = {name: replace(exercise, hints=[]) for name, exercise in graded}
    bare = replace(lesson.stored, exercises=exercises, predictions={})
    kernel_files = LessonFiles(Path(), lesson.files.stem)
    check_script = lesson.files.check_script.read_text(encoding="utf-8")
    return {
        kernel_files.check_script.as_posix(): check_script,
        kernel_files.expected.as_posix(): bare.to_text(),
    }


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
    lesson = read_lesson(files)
    right = right_results(lesson)
    submission = read_submission(notebook, lesson.starters)
    runs = run_answers(submission.answers, make_run_settings(lesson, right, in_sandbox=False))
    verdicts = judge_submission(lesson, right, submission, runs)
    return Grade(files.stem, lesson.stored.title, notebook, lesson.seed, verdicts, submission.notes)


def judge_submission(
    lesson: GradedLesson,
    right: RightResults,
    submission: Submission,
    runs: dict[str, ExerciseRun],
) -> list[Verdict]:
    """Judge every exercise of a lesson by the runs of a submission's answers."""
    verdicts = []
    for name, expected in right.items():
        run = runs.get(name)
        if run is None:
            reason = submission.notes.get(name, words.NOT_ATTEMPTED)
            verdict = without_outcomes(expected, VerdictKind.NOT_ATTEMPTED, reason)
        else:
            verdict = _judge_run(expected, run)
            if verdict.failed and run.on_public_cases:
                verdict = _explain(verdict, lesson.stored.expected(name), run.on_public_cases)
        verdicts.append(verdict)
    return verdicts


def _explain(verdict: Verdict, expected: ExpectedExercise, check: CellRun) -> Verdict:
    """Return the verdict of the learner's own check on a wrong answer.

    If that check passes, the verdict on fresh cases stands: it shows the case, and no reason.
    """
    if outcomes := _complete_outcomes(expected, check):
        on_public_cases = judge(expected, outcomes)
        if on_public_cases.failed:
            return on_public_cases
    return verdict


def _complete_outcomes(exercise: ExpectedExercise, check: CellRun) -> list[Outcome] | None:
    """Return the outcomes that an answer is judged by; None unless there is one for each case."""
    outcomes = check.outcomes
    if outcomes is None or len(outcomes) != len(exercise.observations):
        return None
    return outcomes


def _judge_run(exercise: ExpectedExercise, run: ExerciseRun) -> Verdict:
    """Judge how an answer ran on the cases that it is graded on."""
    if run.end is CellEnd.TIMED_OUT:
        return without_outcomes(exercise, VerdictKind.TIMED_OUT, words.TIMED_OUT)
    if outcomes := _complete_outcomes(exercise, run.check):
        return judge(exercise, outcomes)
    kind, reason = _explain_end(exercise, run)
    return without_outcomes(exercise, kind, reason)


def _explain_end(exercise: ExpectedExercise, run: ExerciseRun) -> tuple[VerdictKind, str]:
    """Return the verdict's kind, and its reason, of an answer that yielded no outcomes in time."""
    check = run.check
    if check.reports > 1:  # before the flood: how much of a flood is read depends on the machine
        return VerdictKind.ERROR, words.SEVERAL_REPORTS
    has_long_report = check.has_long_message and not check.reports
    if run.end is CellEnd.FLOODED or has_long_report:
        return VerdictKind.CRASHED, words.TOO_MUCH_OUTPUT
    if run.end is CellEnd.OVER_MEMORY:
        return VerdictKind.CRASHED, words.OVER_MEMORY
    if run.end is CellEnd.KERNEL_ENDED:
        return VerdictKind.CRASHED, words.KERNEL_DIED
    return VerdictKind.ERROR, _describe_error(exercise, run.answer, check)


def _describe_error(exercise: ExpectedExercise, answer: CellRun, check: CellRun) -> str:
    """Say which error kept an answer or its check from running to its end."""
    if answer.error:
        kind, message = answer.error
        if kind == "MemoryError":
            return words.OUT_OF_MEMORY
        message = _TEMPORARY_FILE.sub("(line", message)
        return words.ANSWER_CELL_RAISED.format(type=kind, message=message)
    if check.error:
        kind, message = check.error
        if kind == "NameError":
            for name in exercise.answers:
                if f"'{name}'" in message:
                    return words.NOT_DEFINED.format(name=name)
        return words.CHECK_CELL_RAISED.format(type=kind, message=message)
    return words.NO_REPORT
