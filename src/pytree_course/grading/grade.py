"""Grade one submitted notebook."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytree_course.course import LessonFiles
from pytree_course.grading.exercise_run import CellRun, ExerciseRun, RunSettings, run_answers
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.submission import Submission, read_submission
from pytree_course.judging import words
from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.judge import judge, without_outcomes
from pytree_course.judging.verdicts import Verdict, VerdictKind
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import NotAttempted, Observation
from pytree_course.running.outcomes import Outcome

_TEMPORARY_FILE = re.compile(r"\(\d+\.py, line")  # what ipykernel calls a cell


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
    lesson = GradedLesson(files)
    submission = read_submission(notebook, lesson.starters)
    settings = RunSettings(lesson.seed, in_sandbox=False)
    runs = run_answers(submission.answers, lesson.blank, lesson.kernel_course, settings)
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
        exercise = lesson.right(name)
        observed = [each.observation for each in _outcomes(exercise, runs[name]) or ()]
        if _is_wrong(exercise, observed):
            exercise = lesson.explained(name, observed)
        verdicts.append(_verdict(exercise, runs[name]))
    return verdicts


def _is_wrong(exercise: ExpectedExercise, observed: Sequence[Observation]) -> bool:
    """Say whether an answer was attempted, and yielded some wrong results."""
    is_attempted = any(not isinstance(each, NotAttempted) for each in observed)
    return is_attempted and any(map(compare, exercise.observations, observed))


def _outcomes(exercise: ExpectedExercise, run: ExerciseRun) -> list[Outcome] | None:
    """Return what an answer is judged by; None where it did not yield an outcome for each case."""
    outcomes = run.check.outcomes
    if run.timed_out or outcomes is None or len(outcomes) != len(exercise.observations):
        return None
    return outcomes


def _verdict(exercise: ExpectedExercise, run: ExerciseRun) -> Verdict:
    answer, check = run.answer, run.check
    used_up = answer.used_up or check.used_up
    if run.timed_out and not used_up:
        return without_outcomes(exercise, VerdictKind.TIMED_OUT, words.TIMED_OUT)
    if outcomes := _outcomes(exercise, run):
        return judge(exercise, outcomes)
    if check.reports > 1:  # before the flood: how much of a flood is read depends on the machine
        return without_outcomes(exercise, VerdictKind.ERROR, words.SEVERAL_REPORTS)
    if answer.flooded or check.flooded or (check.has_bulk and not check.reports):
        return without_outcomes(exercise, VerdictKind.CRASHED, words.TOO_MUCH_OUTPUT)
    if used_up:
        reason = words.USED_UP.format(what=used_up)
        return without_outcomes(exercise, VerdictKind.CRASHED, reason)
    if answer.died or check.died:
        return without_outcomes(exercise, VerdictKind.CRASHED, words.KERNEL_DIED)
    return without_outcomes(exercise, VerdictKind.ERROR, _error(exercise, answer, check))


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
