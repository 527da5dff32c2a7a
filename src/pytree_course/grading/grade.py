"""Grade one submitted notebook."""

import re
from dataclasses import dataclass
from pathlib import Path

from pytree_course.checking import words
from pytree_course.checking.comparison import compare
from pytree_course.checking.expected import ExpectedExercise
from pytree_course.checking.judging import judge, without_outcomes
from pytree_course.checking.verdicts import Verdict, VerdictKind
from pytree_course.course import LessonFiles
from pytree_course.grading.cell_run import CellRun
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.notebook_run import RunSettings
from pytree_course.grading.submission import Submission, read_submission

_TEMPORARY_FILE = re.compile(r"\(\d+\.py, line")  # what ipykernel calls a cell


@dataclass(frozen=True)
class Grade:
    """The verdicts on one notebook, and by exercise what was odd about its answer cell."""

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
        """Points to be had."""
        return sum(verdict.exercise_points for verdict in self.verdicts)

    @property
    def all_correct(self) -> bool:
        """Whether every exercise is correct."""
        return all(verdict.kind is VerdictKind.CORRECT for verdict in self.verdicts)


def grade_notebook(notebook: Path, files: LessonFiles, seed: int | None = None) -> Grade:
    """Grade one's own notebook: it runs outside of the sandbox."""
    lesson = GradedLesson(files, seed)
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
        fails = _fails(lesson.right(name), runs[name])
        exercise = lesson.explained(name) if fails else lesson.right(name)
        verdicts.append(_guarded(exercise, runs[name]))
    return verdicts


def failed_exercises(lesson: GradedLesson, runs: dict[str, ExerciseRun]) -> list[str]:
    """Return the exercises that are judged by what wrong answers yield: those that fail."""
    return [
        name for name in lesson.points if name in runs and _fails(lesson.right(name), runs[name])
    ]


def _fails(exercise: ExpectedExercise, run: ExerciseRun) -> bool:
    """Say whether an answer was run to its end and is wrong somewhere: then it is explained."""
    outcomes = run.check.outcomes or []
    if run.answer.timed_out or run.check.timed_out or len(outcomes) != len(exercise.observations):
        return False
    try:
        return not all(each.observation["kind"] == "not attempted" for each in outcomes) and any(
            compare(right, each.observation)
            for right, each in zip(exercise.observations, outcomes, strict=True)
        )
    except Exception:
        return False  # it cannot be judged, which its verdict will say


def _guarded(exercise: ExpectedExercise, run: ExerciseRun) -> Verdict:
    """Judge one exercise; whatever its outcomes are, they cost no other one its verdict."""
    try:
        return _verdict(exercise, run)
    except Exception as error:
        reason = words.NOT_JUDGED.format(type=type(error).__name__)
        return without_outcomes(exercise, VerdictKind.ERROR, reason)


def _verdict(exercise: ExpectedExercise, run: ExerciseRun) -> Verdict:
    answer, check = run.answer, run.check
    if answer.timed_out or check.timed_out:
        return without_outcomes(exercise, VerdictKind.TIMED_OUT, words.TIMED_OUT)
    if check.outcomes is not None and len(check.outcomes) == len(exercise.observations):
        return judge(exercise, check.outcomes)
    if check.reports > 1:  # before the flood: how much of a flood is read depends on the machine
        return without_outcomes(exercise, VerdictKind.ERROR, words.SEVERAL_REPORTS)
    if answer.flooded or check.flooded or (check.has_bulk and not check.reports):
        return without_outcomes(exercise, VerdictKind.CRASHED, words.TOO_MUCH_OUTPUT)
    if used_up := answer.used_up or check.used_up:
        reason = words.USED_UP.format(what=used_up)
        return without_outcomes(exercise, VerdictKind.CRASHED, reason)
    if run.kernel_died:
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
