"""Grade one submitted notebook."""

import re
from dataclasses import dataclass
from pathlib import Path

from pytree_course.checking.expected import ExpectedExercise
from pytree_course.checking.judging import judge, without_outcomes
from pytree_course.checking.verdicts import Verdict, VerdictKind
from pytree_course.course import LessonFiles
from pytree_course.grading.exercise_run import ExerciseRun, run_answers
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.limits import CELL_SECONDS
from pytree_course.grading.notebook_run import CellRun, RunSettings
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


def grade_notebook(
    notebook: Path, files: LessonFiles, seed: int | None = None, cell_timeout: float = CELL_SECONDS
) -> Grade:
    """Grade one's own notebook: it runs outside of the sandbox."""
    lesson = GradedLesson(files, seed)
    submission = read_submission(notebook, lesson.starters)
    settings = RunSettings(lesson.seed, in_sandbox=False, cell_timeout=cell_timeout)
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
            reason = submission.notes.get(name, "not attempted yet")
            verdicts.append(without_outcomes(lesson.right(name), VerdictKind.NOT_ATTEMPTED, reason))
            continue
        verdict = _verdict(lesson.right(name), runs[name])
        if verdict.kind is VerdictKind.INCORRECT:
            verdict = _verdict(lesson.explained(name), runs[name])
        verdicts.append(verdict)
    return verdicts


def _verdict(exercise: ExpectedExercise, run: ExerciseRun) -> Verdict:
    answer, check = run.answer, run.check
    if answer.timed_out or check.timed_out:
        reason = "your code did not come to an end in time: look for a loop without an end"
        return without_outcomes(exercise, VerdictKind.TIMED_OUT, reason)
    if check.outcomes is not None and len(check.outcomes) == len(exercise.observations):
        return judge(exercise, check.outcomes)
    if answer.flooded or check.flooded:
        reason = "your code printed or showed far too much: look for a print inside a loop"
        return without_outcomes(exercise, VerdictKind.CRASHED, reason)
    if run.kernel_died:
        reason = "your code ended the Python process that it ran in"
        return without_outcomes(exercise, VerdictKind.CRASHED, reason)
    return without_outcomes(exercise, VerdictKind.ERROR, _error(answer, check))


def _error(answer: CellRun, check: CellRun) -> str:
    if answer.error:
        kind, message = answer.error
        message = _TEMPORARY_FILE.sub("(line", message)
        if kind == "MemoryError":
            return "your answer cell used more memory than there is: look for a loop without an end"
        return f"your answer cell raised {kind}: {message}"
    if check.error:
        kind, message = check.error
        return f"{kind}: {message}: did you rename it, or leave something out?"
    return "your code left the check unable to report: perhaps it used up all memory"
