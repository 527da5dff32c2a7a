"""Run a submission's answers, each with its check, and record how each exercise ran."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytree_course.built import CHECK_ENDING, answer_id, check_id
from pytree_course.grading.budget import SubmissionTime
from pytree_course.grading.cell_run import CellEnd, CellRun
from pytree_course.grading.lesson_to_grade import RunSettings
from pytree_course.running.outcomes import CHECKS_VARIABLE, PUBLIC_SEED

if TYPE_CHECKING:  # a process that only judges runs none
    from pytree_course.grading.kernels import WatchedKernel

_LIMITS_OF_ITS_OWN = (CellEnd.TIMED_OUT, CellEnd.WAITED, CellEnd.NO_TIME_LEFT, CellEnd.FLOODED)
_LIMITS_OF_ITS_KERNEL = (CellEnd.OVER_MEMORY, CellEnd.OVER_PROCESSES)
_ON_PUBLIC_CASES = f"{CHECKS_VARIABLE}.seed_of_grading = {PUBLIC_SEED}\n"


@dataclass(frozen=True)
class ExerciseRun:
    """How one exercise's answer cell and check cell ran."""

    answer: CellRun
    check: CellRun
    public_check: CellRun | None = None  # of a wrong answer, on the public cases: for the reason

    @property
    def end(self) -> CellEnd:
        """How it ended: if its answer cell did not finish, its check cell did not run."""
        if self.answer.end is CellEnd.FINISHED:
            return self.check.end
        return self.answer.end

    @property
    def has_memory_error(self) -> bool:
        """Whether it met a MemoryError."""
        return self.answer.has_memory_error or self.check.has_memory_error

    @property
    def is_settled(self) -> bool:
        """Whether the exercise itself caused its result, not an earlier one or a neighbour."""
        if self.end in _LIMITS_OF_ITS_OWN:
            return True
        if self.answer.has_resource_error or self.check.has_resource_error:
            return False
        return self.check.has_result

    @property
    def is_doubtful(self) -> bool:
        """Whether it may have ended as it did because of what ran beside it on the machine.

        It waited, ran short of something or ended without a report, though it reached no limit on
        what it used itself.
        """
        has_cause = self.is_settled or self.end in _LIMITS_OF_ITS_KERNEL
        return self.has_memory_error or self.end is CellEnd.WAITED or not has_cause

    @property
    def is_fit(self) -> bool:
        """Whether it may run again in a fresh kernel, for later answers that may use it."""
        return self.answer.is_fit and self.check.is_fit

    @property
    def seconds(self) -> float:
        """Seconds that both cells took."""
        return self.answer.seconds + self.check.seconds


NOT_RUN = ExerciseRun(CellRun(CellEnd.NO_TIME_LEFT), CellRun())


def run_answers(
    answers: dict[str, str], settings: RunSettings, helpers: Mapping[str, str] | None = None
) -> dict[str, ExerciseRun]:
    """Run answers, by exercise, with their checks, in as few kernels as will do.

    `helpers` are answers to other exercises, which run without their checks: the answers may use
    them. An exercise whose end may have another cause runs again in a kernel of its own, so that
    only the one that caused it suffers. A blank notebook needs no kernel. When the submission has
    used up its time, the other exercises are not run.
    """
    time = SubmissionTime()
    runs: dict[str, ExerciseRun] = {}
    waiting = dict(answers)
    earlier = dict(helpers or {})  # answers that have run, and that later ones may use
    while waiting and not time.is_over:
        new_runs = _run_together(waiting, earlier, settings, time)
        is_alone = len(new_runs) == 1 and not earlier
        if not new_runs:
            earlier = {}  # one of them ended this kernel, though it did not end the first
        for name, run in new_runs.items():
            source = waiting.pop(name)
            if run.is_settled or is_alone:
                runs[name] = run
                if run.is_fit:
                    earlier[name] = source
                continue
            # The cause may be an earlier answer or, if the machine ran short, another submission.
            runs[name] = _run_together({name: source}, {}, settings, time).get(name, NOT_RUN)
            if runs[name].is_settled:
                earlier = {}
    runs |= dict.fromkeys(waiting, NOT_RUN)
    if not time.is_over:
        runs |= _run_on_public_cases(runs, answers, earlier, settings, time)
    return runs


def _run_on_public_cases(
    runs: Mapping[str, ExerciseRun],
    answers: Mapping[str, str],
    earlier: Mapping[str, str],
    settings: RunSettings,
    time: SubmissionTime,
) -> dict[str, ExerciseRun]:
    """Return the runs of wrong answers, with the public cases, before which their kernel ended."""
    unexplained = {
        name: answers[name]
        for name, run in runs.items()
        if run.public_check is None and settings.is_wrong(name, run.check)
    }
    if not unexplained:
        return {}
    others = {name: code for name, code in earlier.items() if name not in unexplained}
    new_runs = _run_together(unexplained, others, settings, time)
    return {
        name: replace(runs[name], public_check=run.public_check) for name, run in new_runs.items()
    }


def _run_together(
    answers: dict[str, str],
    earlier: dict[str, str],
    settings: RunSettings,
    time: SubmissionTime,
) -> dict[str, ExerciseRun]:
    """Run answers with their checks in one kernel, after earlier answers without theirs.

    Return how each one ran, up to the one that ended the kernel.
    """
    # Imported late: nbval takes long to load, and a process that only judges does not need it.
    from pytree_course.grading.nbval_run import run_notebook

    plan = _Plan(answers, settings)
    run_notebook(_make_notebook(answers, earlier, settings.blank), plan.run_cell, settings, time)
    runs = {
        name: plan.exercise_run(name) for name in answers if answer_id(name) in plan.runs_so_far
    }
    if not runs and not earlier and not time.is_over:
        raise RuntimeError("the notebook's set-up cells did not finish")
    return runs


class _Plan:
    """Runs the cells of one kernel.

    First all answers with their checks, each with a budget of its own; then, with one budget for
    all of them, wrong answers again, with their checks on the public cases: for the reason alone,
    so nothing that happens then changes a mark.
    """

    def __init__(self, answers: Collection[str], settings: RunSettings) -> None:
        self.runs_so_far: dict[str, CellRun] = {}  # by the id of the cell
        self._settings = settings
        self._is_over = False
        self._answers = {answer_id(name) for name in answers}
        self._checks = {check_id(name) for name in answers}
        self._again = {again: name for name in answers for again in again_ids(name)}

    def run_cell(self, kernel: "WatchedKernel", cell: Any) -> None:
        """Run a cell, but not in a kernel that is unfit, nor a right answer again."""
        starts_budget = cell.id in self._answers
        if again := self._again.get(cell.id):
            check = self.runs_so_far.get(check_id(again))
            if check is None or not self._settings.is_wrong(again, check):
                return
            starts_budget = not self._again.keys() & self.runs_so_far.keys()
        if self._is_over:
            return
        if starts_budget:
            kernel.start_exercise()
        run = kernel.run_cell(cell.source)
        self.runs_so_far[cell.id] = run
        self._is_over = not run.is_fit or (cell.id in self._checks and not run.has_result)

    def exercise_run(self, name: str) -> ExerciseRun:
        """Return how an answer ran that has run."""
        runs = self.runs_so_far
        answer_again, check_again = map(runs.get, again_ids(name))
        # If an answer that runs again ends the kernel, that is the end of its check as well.
        public_check = check_again or answer_again
        return ExerciseRun(runs[answer_id(name)], runs.get(check_id(name), CellRun()), public_check)


def again_ids(name: str) -> tuple[str, str]:
    """Return the ids of an exercise's cells where they run again, on the public cases."""
    return f"{answer_id(name)}-again", f"{check_id(name)}-again"


def _make_notebook(answers: dict[str, str], earlier: dict[str, str], blank: str) -> dict[str, Any]:
    """Return the exercise notebook with these answers, and the checks of `answers` alone.

    At its end, each of `answers` stands again with its check, on the public cases. The answer has
    to run again too: a later one may have defined a function of the same name.
    """
    notebook: dict[str, Any] = json.loads(blank)
    sources = {answer_id(name): code for name, code in (*earlier.items(), *answers.items())}
    checks = [check_id(name) for name in answers]
    notebook["cells"] = [
        cell
        for cell in notebook["cells"]
        if not cell["id"].endswith(CHECK_ENDING) or cell["id"] in checks
    ]
    for cell in notebook["cells"]:
        cell["source"] = sources.get(cell["id"], cell["source"])
    by_id = {cell["id"]: cell for cell in notebook["cells"]}
    for name, code in answers.items():
        check = by_id[check_id(name)]
        again = (code, _ON_PUBLIC_CASES + "".join(check["source"]))
        for new_id, source in zip(again_ids(name), again, strict=True):
            notebook["cells"].append({**check, "id": new_id, "source": source})
    return notebook
