"""Run one submission's answers: together, and where that tells nothing, each on its own."""

from copy import deepcopy
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from pytree_course.course import answer_id, check_id
from pytree_course.grading.notebook_run import CellRun, NotebookRun, RunSettings, run_notebook
from pytree_course.grading.runtime import CheckRuntime


@dataclass(frozen=True)
class AnswerRun:
    """How one exercise's answer cell and check cell ran.

    Attributes
    ----------
    kernel_died
        Whether the answer ended the process that it ran in.
    """

    answer: CellRun
    check: CellRun
    kernel_died: bool

    @property
    def seconds(self) -> float:
        """Seconds that both cells took."""
        return self.answer.seconds + self.check.seconds


def run_answers(
    answers: dict[str, str], blank: str, runtime: CheckRuntime, settings: RunSettings
) -> dict[str, AnswerRun]:
    """Put answers into the exercise notebook as it was handed out, run it, and see what came out.

    Parameters
    ----------
    answers
        Source of the answer cells, by exercise.
    blank
        The exercise notebook as it was handed out.
    runtime
        What the kernel finds of the course.
    settings
        The cases' seed, the sandbox and the time.

    Returns
    -------
    dict
        How each exercise in `answers` went.

    Raises
    ------
    RuntimeError
        When the notebook could not be run at all, which is not the answers' fault.
    """
    if not answers:
        return {}  # nobody need start a kernel for a notebook that nobody worked in
    notebook = nbformat.reads(blank, as_version=4)

    def run(some: dict[str, str]) -> NotebookRun:
        return run_notebook(with_answers(notebook, some), runtime, settings)

    together = run(answers)
    runs = {}
    disturbed = False
    for name, source in answers.items():
        answer, check = together.cell(answer_id(name)), together.cell(check_id(name))
        # A kernel that is gone, or has no memory left to say what went wrong.
        is_silent = check.outcomes is None and check.error is None and not check.timed_out
        disturbs = _disturbs(answer) or _disturbs(check)
        is_settled = check.outcomes is not None and not disturbs
        # Whose fault it was cannot be told from this run, and it should cost nobody else.
        if not is_settled and (disturbed or is_silent):
            alone = run({name: source})
            answer, check = alone.cell(answer_id(name)), alone.cell(check_id(name))
            runs[name] = AnswerRun(answer, check, alone.kernel_died)
        else:
            runs[name] = AnswerRun(answer, check, together.kernel_died)
        disturbed |= disturbs or is_silent
    return runs


def with_answers(blank: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    """Return a copy of the exercise notebook with answers in its answer cells."""
    merged = deepcopy(blank)
    by_cell = {answer_id(name): source for name, source in answers.items()}
    for cell in merged.cells:
        cell.source = by_cell.get(cell.id, cell.source)
    return merged


def _disturbs(cell: CellRun) -> bool:
    """Say whether a cell may have left its kernel unfit for the cells after it."""
    errors = [cell.error[0]] if cell.error else []
    errors += [str(outcome.observation.get("type")) for outcome in cell.outcomes or ()]
    return cell.timed_out or cell.flooded or "MemoryError" in errors
