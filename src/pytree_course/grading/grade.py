"""Judge how a submission's answers ran; grade the user's own notebook."""

import platform
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytree_course.built import strip_machine_details
from pytree_course.course import LessonFiles
from pytree_course.grading.cell_run import CellEnd, CellRun
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.lesson_to_grade import (
    LessonToGrade,
    RightResults,
    find_right_results,
    make_run_settings,
    read_lesson,
)
from pytree_course.grading.submission import Submission, read_submission
from pytree_course.judging import words
from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.judge import judge, without_outcomes
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.running.outcomes import SEED_BITS, Outcome

_TEMPORARY_FILE = re.compile(r"\(\d+\.py, line")  # ipykernel's name for a cell
_ERRORS_OF_OLDER_PYTHON = {"SyntaxError", "ImportError", "ModuleNotFoundError", "AttributeError"}

_OVER_TIME = {
    CellEnd.TIMED_OUT: words.TIMED_OUT,
    CellEnd.WAITED: words.WAITED,
    CellEnd.NO_TIME_LEFT: words.NO_TIME_LEFT,
}
_CRASHED = {
    CellEnd.OVER_PROCESSES: words.OVER_PROCESSES,
    CellEnd.OVER_MEMORY: words.OVER_MEMORY,
    CellEnd.KERNEL_ENDED: words.KERNEL_DIED,
}


@dataclass(frozen=True)
class Grade:
    """The verdicts on one notebook."""

    lesson: str
    title: str
    notebook: Path
    seed: int
    verdicts: list[Verdict]

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
    lesson = read_lesson(files, secrets.randbits(SEED_BITS))
    right_results = find_right_results(lesson)
    submission = read_submission(notebook, files.read_starters())
    settings = make_run_settings(lesson, right_results, in_sandbox=False)
    runs = run_answers(submission.answers, settings)
    verdicts = judge_submission(lesson, right_results, submission, runs)
    return Grade(files.stem, lesson.stored.title, notebook, lesson.seed, verdicts)


def judge_submission(
    lesson: LessonToGrade,
    right_results: RightResults,
    submission: Submission,
    runs: Mapping[str, ExerciseRun],
) -> list[Verdict]:
    """Judge every exercise of a lesson by the runs of a submission's answers."""
    verdicts = []
    for name, expected in right_results.items():
        run, note = runs.get(name), submission.notes.get(name, "")
        if run is None:
            reason = note or words.NOT_ATTEMPTED
            verdict = without_outcomes(expected, VerdictKind.NOT_ATTEMPTED, reason)
        else:
            verdict = _judge_run(expected, run)
            if verdict.failed and run.public_check:
                public_expected = lesson.stored.expected(name)
                verdict = _explained_verdict(verdict, public_expected, run.public_check)
            verdict = _name_older_python(verdict, submission.python)
        verdicts.append(replace(verdict, note=note))
    return verdicts


def _name_older_python(verdict: Verdict, there: str) -> Verdict:
    """Name both versions of Python if an error may come from a newer one's code."""
    here = ".".join(platform.python_version_tuple()[:2])
    is_newer = [*map(int, there.split("."))] > [*map(int, here.split("."))] if there else False
    if verdict.error_type not in _ERRORS_OF_OLDER_PYTHON or not is_newer:
        return verdict
    reason = words.OLDER_PYTHON.format(reason=verdict.reason, here=here, there=there)
    return replace(verdict, reason=reason)


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
    if run.end in _OVER_TIME:
        return without_outcomes(exercise, VerdictKind.TIMED_OUT, _OVER_TIME[run.end])
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
    if run.end in _CRASHED:
        return without_outcomes(exercise, VerdictKind.CRASHED, _CRASHED[run.end])
    reason = _describe_error(exercise, run.answer, check)
    error_type = run.answer.error[0] if run.answer.error else None
    return without_outcomes(exercise, VerdictKind.ERROR, reason, error_type)


def _describe_error(exercise: ExpectedExercise, answer: CellRun, check: CellRun) -> str:
    """Say which error stopped an answer or its check."""
    if answer.error:
        error_type, message = answer.error
        if error_type == "MemoryError":
            return words.OUT_OF_MEMORY
        message = strip_machine_details(_TEMPORARY_FILE.sub("(line", message))
        return words.ANSWER_CELL_RAISED.format(type=error_type, message=message)
    if check.error:
        error_type, message = check.error
        if error_type == "NameError":
            for name in exercise.answers:
                if f"'{name}'" in message:
                    return words.NOT_DEFINED.format(name=name)
        message = strip_machine_details(message)
        return words.CHECK_CELL_RAISED.format(type=error_type, message=message)
    return words.NO_REPORT
