"""Run a submission's answers together in one kernel; those it did not get to, in a fresh one."""

import json
from dataclasses import dataclass

from pytree_course.course import answer_id, check_id
from pytree_course.grading.budget import SubmissionBudget
from pytree_course.grading.cell_run import OF_THE_MACHINE, CellRun
from pytree_course.grading.kernel_course import KernelCourse, RunSettings


@dataclass(frozen=True)
class ExerciseRun:
    """How one exercise's answer cell and check cell ran."""

    answer: CellRun
    check: CellRun

    @property
    def timed_out(self) -> bool:
        """Whether it took too much time."""
        return self.answer.timed_out or self.check.timed_out

    @property
    def kernel_died(self) -> bool:
        """Whether its kernel ended while it ran."""
        return self.answer.died or self.check.died

    @property
    def ran_short(self) -> bool:
        """Whether it met an error for lack of some resource of the machine."""
        return self.answer.ran_short or self.check.ran_short

    @property
    def is_settled(self) -> bool:
        """Whether its result is its own doing, whatever ran before it or beside it."""
        return self.answer.is_over or not (self.check.is_silent or self.ran_short)

    @property
    def is_doubtful(self) -> bool:
        """Whether it may have ended as it did because of what ran beside it on the machine.

        It ran short of something or ended without a report, though no limit of its own was reached.
        """
        cells = (self.answer, self.check)
        if self.ran_short or any(cell.is_out_of_memory for cell in cells):
            return True
        has_no_cause = all(cell.used_up in ("", OF_THE_MACHINE) for cell in cells)
        return self.check.is_silent and not self.answer.is_over and has_no_cause

    @property
    def is_fit(self) -> bool:
        """Whether it may run again in a fresh kernel, for later answers that may use it."""
        both = (self.answer, self.check)
        return not any(each.is_over or each.died or each.is_out_of_memory for each in both)

    @property
    def seconds(self) -> float:
        """Seconds that both cells took."""
        return self.answer.seconds + self.check.seconds


def run_answers(
    answers: dict[str, str], blank: str, course: KernelCourse, settings: RunSettings
) -> dict[str, ExerciseRun]:
    """Run answers in `blank`, the text of the exercise notebook as it was handed out."""
    if not answers:
        return {}  # a blank notebook needs no kernel
    return _Runner(blank, course, settings, SubmissionBudget(answers)).run(answers)


@dataclass(frozen=True)
class _Runner:
    """Runs the answers of one submission, in as few kernels as will do."""

    blank: str
    course: KernelCourse
    settings: RunSettings
    budget: SubmissionBudget

    def run(self, answers: dict[str, str]) -> dict[str, ExerciseRun]:
        """Run all answers; one that was over its budget does not run again."""
        runs: dict[str, ExerciseRun] = {}
        waiting, earlier = dict(answers), dict[str, str]()
        while waiting:
            together = self._run(waiting, earlier)
            had_turn = [name for name in waiting if answer_id(name) in together]
            is_alone = len(had_turn) == 1 and not earlier
            if not had_turn:
                earlier = {}  # one of them ended this kernel, though it did not end the first
            for name in had_turn:
                source = waiting.pop(name)
                run = runs[name] = _exercise(name, together)
                if run.ran_short or not (run.is_settled or is_alone):
                    # The cause may be an earlier answer or, where the machine ran short, another
                    # submission. Only the exercise that caused it may suffer.
                    runs[name] = _exercise(name, self._run({name: source}, {}))
                    earlier = {} if runs[name].is_settled else earlier
                elif run.is_fit:
                    earlier[name] = source
        return runs

    def _run(self, answers: dict[str, str], earlier: dict[str, str]) -> dict[str, CellRun]:
        """Run answers with their checks, after earlier answers without theirs.

        Return how each cell ran, by its id, up to the one that ended the kernel.
        """
        # nbval takes long to load, and a process that only judges does not need it.
        from pytree_course.grading.nbval_run import run_notebook

        notebook = json.loads(self.blank)
        sources = {answer_id(name): source for name, source in (answers | earlier).items()}
        checks = set(map(check_id, answers))
        notebook["cells"] = [
            cell
            for cell in notebook["cells"]
            if not cell["id"].endswith(check_id("")) or cell["id"] in checks
        ]
        for cell in notebook["cells"]:
            cell["source"] = sources.get(cell["id"], cell["source"])
        names = (*earlier, *answers)
        return run_notebook(notebook, names, self.course, self.settings, self.budget)


def _exercise(name: str, run: dict[str, CellRun]) -> ExerciseRun:
    cells = (run.get(cell, CellRun()) for cell in (answer_id(name), check_id(name)))
    return ExerciseRun(*cells)
