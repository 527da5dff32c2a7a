"""Run a submission's answers together; where that leaves a doubt, run the answer alone."""

from copy import deepcopy
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode

from pytree_course.course import answer_id, check_id
from pytree_course.grading.kernel_course import KernelCourse
from pytree_course.grading.notebook_run import CellRun, NotebookRun, RunSettings, run_notebook


@dataclass(frozen=True)
class ExerciseRun:
    """How one exercise's answer cell and check cell ran."""

    answer: CellRun
    check: CellRun
    kernel_died: bool

    @property
    def seconds(self) -> float:
        """Seconds that both cells took."""
        return self.answer.seconds + self.check.seconds


def run_answers(
    answers: dict[str, str], blank: str, course: KernelCourse, settings: RunSettings
) -> dict[str, ExerciseRun]:
    """Put answers into `blank`, the exercise notebook as it was handed out, and run it."""
    if not answers:
        return {}  # a blank notebook needs no kernel
    notebook = nbformat.reads(blank, as_version=4)
    together = run_notebook(_with_answers(notebook, answers), course, settings)
    runs = {}
    disturbed = False
    for name, source in answers.items():
        run = _exercise(name, together)
        disturbs = run.answer.disturbs or run.check.disturbs
        is_settled = run.check.outcomes is not None and not disturbs
        # An earlier answer may be to blame, and only that answer's exercise may suffer.
        if not is_settled and (disturbed or run.check.is_silent):
            alone = run_notebook(_with_answers(notebook, {name: source}), course, settings)
            runs[name] = _exercise(name, alone)
        else:
            runs[name] = run
        disturbed |= disturbs or run.check.is_silent
    return runs


def _with_answers(blank: NotebookNode, answers: dict[str, str]) -> NotebookNode:
    merged = deepcopy(blank)
    by_cell = {answer_id(name): source for name, source in answers.items()}
    for cell in merged.cells:
        cell.source = by_cell.get(cell.id, cell.source)
    return merged


def _exercise(name: str, run: NotebookRun) -> ExerciseRun:
    return ExerciseRun(run.cell(answer_id(name)), run.cell(check_id(name)), run.kernel_died)
