"""Grade one submitted notebook."""

import re
import secrets
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from pytree_course.authoring.reference import expect
from pytree_course.authoring.rendering import answer_id, check_id
from pytree_course.authoring.sources import read_sources
from pytree_course.checking.expected import Expected, ExpectedExercise
from pytree_course.checking.running import PUBLIC_SEED
from pytree_course.checking.verdicts import Verdict, VerdictKind, judge, without_outcomes
from pytree_course.grading.running import CELL_TIMEOUT, CellRun, NotebookRun, run_notebook
from pytree_course.grading.submission import read_submission
from pytree_course.layout import Course, LessonFiles

_TEMPORARY_FILE = re.compile(r"\(\d+\.py, line")  # what ipykernel calls a cell


@dataclass(frozen=True)
class Grade:
    """The verdicts on one submitted notebook.

    Attributes
    ----------
    seed
        What the cases were drawn from; `PUBLIC_SEED` where this copy has no right answers.
    notes
        What was odd about an answer cell, by exercise.
    """

    lesson: str
    notebook: Path
    seed: int
    expected: Expected
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
    notebook: Path, files: LessonFiles, seed: int | None = None, cell_timeout: float = CELL_TIMEOUT
) -> Grade:
    """Put a learner's answers into the course's own notebook, run it, and judge what came out.

    Parameters
    ----------
    notebook
        The learner's notebook.
    files
        The lesson that it belongs to.
    seed
        Draws the cases; a fresh one when not given. Learners have no right answers to run on
        fresh cases: without the folder `sources`, the cases are the public ones.
    cell_timeout
        Seconds that one cell may take.

    Raises
    ------
    UnreadableError
        When the learner's file is no notebook.
    """
    blank = nbformat.reads(files.read_blank(), as_version=4)
    if files.sources.exists():
        seed = secrets.randbits(32) if seed is None else seed
        expected = expect(read_sources(files), seed)
    else:
        seed, expected = PUBLIC_SEED, Expected.read(files.expected)
    cells = {cell.id: cell.source for cell in blank.cells}
    starters = {name: cells[answer_id(name)] for name in expected.exercises}
    submission = read_submission(notebook, starters)

    def run(answers: dict[str, str]) -> NotebookRun:
        return run_notebook(with_answers(blank, answers), Course(files.root), seed, cell_timeout)

    together = run(submission.answers)
    verdicts = []
    for name, exercise in expected.exercises.items():
        if submission.answers.get(name, starters[name]).strip() == starters[name].strip():
            reason = submission.notes.get(name, "not attempted yet")
            verdict = without_outcomes(exercise, VerdictKind.NOT_ATTEMPTED, reason)
        elif together.kernel_died and not _is_settled(name, together):
            # Whose fault that was cannot be told from this run, and it should cost nobody else.
            verdict = _verdict(exercise, run({name: submission.answers[name]}))
        else:
            verdict = _verdict(exercise, together)
        verdicts.append(verdict)
    return Grade(files.stem, notebook, seed, expected, verdicts, submission.notes)


def with_answers(blank: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """Return a copy of the exercise notebook with answers in its answer cells."""
    merged = deepcopy(blank)
    by_cell = {answer_id(name): source for name, source in answers.items()}
    for cell in merged.cells:
        cell.source = by_cell.get(cell.id, cell.source)
    return merged


def _is_settled(exercise: str, run: NotebookRun) -> bool:
    """Say whether a run in which the kernel died nevertheless shows how an exercise went."""
    answer, check = run.cell(answer_id(exercise)), run.cell(check_id(exercise))
    return check.outcomes is not None or answer.timed_out or check.timed_out


def _verdict(exercise: ExpectedExercise, run: NotebookRun) -> Verdict:
    answer, check = run.cell(answer_id(exercise.name)), run.cell(check_id(exercise.name))
    if answer.timed_out or check.timed_out:
        reason = "your code did not come to an end in time: look for a loop without an end"
        return without_outcomes(exercise, VerdictKind.TIMED_OUT, reason)
    if check.outcomes is not None and len(check.outcomes) == len(exercise.observations):
        return judge(exercise, check.outcomes)
    if run.kernel_died:
        reason = "your code ended the Python process that it ran in"
        return without_outcomes(exercise, VerdictKind.CRASHED, reason)
    return without_outcomes(exercise, VerdictKind.ERROR, _error(answer, check))


def _error(answer: CellRun, check: CellRun) -> str:
    if answer.error:
        kind, message = answer.error
        message = _TEMPORARY_FILE.sub("(line", message)
        return f"your answer cell raised {kind}: {message}"
    if check.error:
        kind, message = check.error
        return f"{kind}: {message}: did you rename it, or leave something out?"
    return "the check did not report what it saw"
