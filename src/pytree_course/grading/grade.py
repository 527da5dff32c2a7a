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
from pytree_course.grading.submission import Submission, read_submission
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
    blank = nbformat.read(files.blank, as_version=4)
    if files.sources.exists():
        seed = secrets.randbits(32) if seed is None else seed
        expected = expect(read_sources(files), seed)
    else:
        seed, expected = PUBLIC_SEED, Expected.read(files.expected)
    cells = {cell.id: cell.source for cell in blank.cells}
    starters = {name: cells[answer_id(name)] for name in expected.exercises}
    submission = read_submission(notebook, starters)

    answers = dict(submission.answers)
    verdicts: dict[str, Verdict] = {}
    while len(verdicts) < len(expected.exercises):
        merged = with_answers(blank, answers)
        run = run_notebook(merged, Course(files.root), seed, cell_timeout)
        culprit = None
        for name, exercise in expected.exercises.items():
            if name in verdicts:
                continue
            verdict = _verdict(exercise, run, submission)
            if verdict is not None:
                verdicts[name] = verdict
            if _ended_the_kernel(name, run):
                culprit = name
                break
        if culprit is None:
            break
        # The rest is run again without the answer that took the kernel down.
        answers[culprit] = starters[culprit]
    for name in expected.exercises.keys() - verdicts.keys():
        reason = "the Python process ended before this exercise had its turn"
        verdicts[name] = without_outcomes(expected.exercises[name], VerdictKind.CRASHED, reason)
    ordered = [verdicts[name] for name in expected.exercises]
    return Grade(files.stem, notebook, seed, expected, ordered, submission.notes)


def with_answers(blank: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """Return a copy of the exercise notebook with answers in its answer cells."""
    merged = deepcopy(blank)
    by_cell = {answer_id(name): source for name, source in answers.items()}
    for cell in merged.cells:
        cell.source = by_cell.get(cell.id, cell.source)
    return merged


def _ended_the_kernel(exercise: str, run: NotebookRun) -> bool:
    cells = (run.cell(answer_id(exercise)), run.cell(check_id(exercise)))
    return any(cell.killed_kernel for cell in cells)


def _verdict(
    exercise: ExpectedExercise, run: NotebookRun, submission: Submission
) -> Verdict | None:
    """Judge one exercise, or return None when its cells did not get their turn."""
    answer, check = run.cell(answer_id(exercise.name)), run.cell(check_id(exercise.name))
    if exercise.name not in submission.answers:
        reason = submission.notes[exercise.name]
        return without_outcomes(exercise, VerdictKind.NOT_ATTEMPTED, reason)
    for cell in (answer, check):
        if cell.timed_out:
            reason = "your code did not come to an end in time: look for a loop without an end"
            return without_outcomes(exercise, VerdictKind.TIMED_OUT, reason)
        if cell.killed_kernel:
            reason = "your code ended the Python process that it ran in"
            return without_outcomes(exercise, VerdictKind.CRASHED, reason)
    if not check.ran:
        return None
    if check.outcomes is not None and len(check.outcomes) == len(exercise.observations):
        return judge(exercise, check.outcomes)
    return without_outcomes(exercise, VerdictKind.ERROR, _error(answer, check))


def _error(answer: CellRun, check: CellRun) -> str:
    if answer.error:
        kind, message = answer.error
        message = _TEMPORARY_FILE.sub("(line", message)
        return f"your answer cell raised {kind}: {message}"
    if check.error:
        kind, message = check.error
        return f"{kind}: {message} (is the answer cell complete?)"
    return "the check did not report what it saw"
