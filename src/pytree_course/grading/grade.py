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
class LessonToGrade:
    """A lesson that is to be graded: all that is known before any answer runs."""

    files: LessonFiles
    stored: BuiltLesson  # with the misconceptions' results on the public cases
    digest: str  # of the exercises and their checks
    points: dict[str, int]  # by exercise
    starters: dict[str, str]  # by exercise
    on_public_cases: bool  # where there are no sources, whose right answers would run on fresh ones
    seed: int  # of the cases


def read_lesson(files: LessonFiles) -> LessonToGrade:
    """Prepare to grade a lesson: on fresh cases if its sources are there, else on the public ones.

    A learner's copy of the course has no sources.
    """
    stored = BuiltLesson.read(files.expected)
    has_sources = files.sources.exists()
    return LessonToGrade(
        files=files,
        stored=stored,
        digest=files.exercises_digest() if has_sources else stored.sources,
        points={name: exercise.points for name, exercise in stored.graded.items()},
        starters=files.read_starters(),
        on_public_cases=not has_sources,
        seed=secrets.randbits(32) if has_sources else PUBLIC_SEED,
    )


def find_right_results(lesson: LessonToGrade) -> RightResults:
    """Return the right answers' results: stored ones, or on fresh cases by running them here."""
    if lesson.on_public_cases:
        return {name: lesson.stored.expected(name) for name in lesson.points}
    # Imported late: these load JAX, which a process that only judges a class does not need.
    from pytree_course.sources import authors_answers
    from pytree_course.sources.lesson_sources import read_sources

    sources = read_sources(lesson.files)
    return {
        name: authors_answers.run_solution(sources, exercise, lesson.seed)
        for name, exercise in sources.graded.items()
    }


def make_run_settings(
    lesson: LessonToGrade, right_results: RightResults, *, in_sandbox: bool
) -> RunSettings:
    """Return the settings that answers to a lesson run with."""
    # By these, a run finds wrong answers, and runs them on the public cases for their reasons. That
    # is of use only if the graded cases are others, and misconceptions' results are stored for the
    # public ones: after a change of the lesson they are not, until it is built.
    right = {}
    is_built = lesson.digest == lesson.stored.sources
    if is_built and not lesson.on_public_cases:
        right = {name: expected.observations for name, expected in right_results.items()}
    return RunSettings(
        blank=lesson.files.read_blank(),
        course=_make_course_files(lesson),
        seed=lesson.seed,
        in_sandbox=in_sandbox,
        right=right,
    )


def _make_course_files(lesson: LessonToGrade) -> dict[str, str]:
    """Return the files that kernels see, by path, without observations, hints and answers."""
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
    """The verdicts on one notebook."""

    lesson: str
    title: str
    notebook: Path
    seed: int
    verdicts: list[Verdict]
    notes: dict[str, str]  # on unusual answer cells, by exercise

    @property
    def points(self) -> int:
        """Points earned."""
        return sum(verdict.points for verdict in self.verdicts)

    @property
    def all_points(self) -> int:
        """Points that can be earned."""
        return sum(verdict.exercise_points for verdict in self.verdicts)

    @property
    def is_all_correct(self) -> bool:
        """Whether every exercise is correct."""
        return all(verdict.kind is VerdictKind.CORRECT for verdict in self.verdicts)


def grade_notebook(notebook: Path, files: LessonFiles) -> Grade:
    """Grade the user's own notebook, outside of the sandbox."""
    lesson = read_lesson(files)
    right_results = find_right_results(lesson)
    submission = read_submission(notebook, lesson.starters)
    settings = make_run_settings(lesson, right_results, in_sandbox=False)
    runs = run_answers(submission.answers, settings)
    verdicts = judge_submission(lesson, right_results, submission, runs)
    return Grade(files.stem, lesson.stored.title, notebook, lesson.seed, verdicts, submission.notes)


def judge_submission(
    lesson: LessonToGrade,
    right_results: RightResults,
    submission: Submission,
    runs: dict[str, ExerciseRun],
) -> list[Verdict]:
    """Judge every exercise of a lesson by the runs of a submission's answers."""
    verdicts = []
    for name, expected in right_results.items():
        run = runs.get(name)
        if run is None:
            reason = submission.notes.get(name, words.NOT_ATTEMPTED)
            verdicts.append(without_outcomes(expected, VerdictKind.NOT_ATTEMPTED, reason))
            continue
        verdict = _judge_run(expected, run)
        if verdict.failed and run.public_check:
            public_expected = lesson.stored.expected(name)
            verdict = _explained_verdict(verdict, public_expected, run.public_check)
        verdicts.append(verdict)
    return verdicts


def _explained_verdict(
    verdict: Verdict, public_expected: ExpectedExercise, public_check: CellRun
) -> Verdict:
    """Return the verdict that the learner's own check gives a wrong answer, with its reason.

    If the answer passes on the public cases, the verdict on fresh cases stands: it shows the case,
    and no reason.
    """
    if outcomes := _complete_outcomes(public_expected, public_check):
        public_verdict = judge(public_expected, outcomes)
        if public_verdict.failed:
            return public_verdict
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
    return _judge_end(exercise, run)


def _judge_end(exercise: ExpectedExercise, run: ExerciseRun) -> Verdict:
    """Return the verdict on an answer without complete outcomes."""
    check = run.check
    # Asked before FLOODED: how much of a flood is read depends on the machine.
    if check.reports > 1:
        return without_outcomes(exercise, VerdictKind.ERROR, words.SEVERAL_REPORTS)
    has_long_report = check.has_long_message and not check.reports
    if run.end is CellEnd.FLOODED or has_long_report:
        return without_outcomes(exercise, VerdictKind.CRASHED, words.TOO_MUCH_OUTPUT)
    if run.end is CellEnd.OVER_MEMORY:
        return without_outcomes(exercise, VerdictKind.CRASHED, words.OVER_MEMORY)
    if run.end is CellEnd.KERNEL_ENDED:
        return without_outcomes(exercise, VerdictKind.CRASHED, words.KERNEL_DIED)
    reason = _describe_error(exercise, run.answer, check)
    error_type = run.answer.error[0] if run.answer.error else None
    return without_outcomes(exercise, VerdictKind.ERROR, reason, error_type)


def _describe_error(exercise: ExpectedExercise, answer: CellRun, check: CellRun) -> str:
    """Say which error stopped an answer or its check."""
    if answer.error:
        error_type, message = answer.error
        if error_type == "MemoryError":
            return words.OUT_OF_MEMORY
        message = _TEMPORARY_FILE.sub("(line", message)
        return words.ANSWER_CELL_RAISED.format(type=error_type, message=message)
    if check.error:
        error_type, message = check.error
        if error_type == "NameError":
            for name in exercise.answers:
                if f"'{name}'" in message:
                    return words.NOT_DEFINED.format(name=name)
        return words.CHECK_CELL_RAISED.format(type=error_type, message=message)
    return words.NO_REPORT
