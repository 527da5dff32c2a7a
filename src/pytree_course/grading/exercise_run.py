"""Run a submission's answers and record how each cell and exercise ran."""

import errno
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pytree_course.built import answer_id, check_id
from pytree_course.grading.budget import SubmissionBudget
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Observation, Raised, writable
from pytree_course.running.outcomes import OUTCOMES_MIME, Outcome, read_report

READ_MESSAGES = ("error", "display_data", "execute_result")
"""The types of the messages that `CellRun.take` reads."""

OF_THE_MACHINE = "of the machine"
"""What a sandbox used too much of if its use could not be measured."""

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_SHORTAGES = (errno.EAGAIN, errno.ENOMEM, errno.ENFILE, errno.EMFILE, errno.ENOSPC)
_RAN_SHORT = re.compile(
    rf"\[Errno ({'|'.join(map(str, _SHORTAGES))})\]|out of pty devices|can't start new thread"
)
_MAX_NAME = 200
_MAX_MESSAGE = 2_000


@dataclass
class CellRun:
    """How one cell ran."""

    outcomes: list[Outcome] | None = None  # of a check cell that sent one valid report
    reports: int = 0
    error: tuple[str, str] | None = None  # type and message of the exception that ended it
    timed_out: bool = False
    flooded: bool = False  # it sent more than is received
    has_bulk: bool = False  # it sent a message too long to be read
    died: bool = False  # its kernel ended, or sent what is no message
    used_up: str = ""  # what the kernel's processes used too much of, so that it was ended
    seconds: float = 0.0
    is_wrong: bool = False  # some of the outcomes are known not to be right

    @property
    def is_silent(self) -> bool:
        """Whether nothing came of it: its kernel ended, or had no memory left to report."""
        reported = self.outcomes is not None or self.error is not None or self.has_bulk
        return not (reported or self.is_over)

    @property
    def is_over(self) -> bool:
        """Whether it used up its budget; its kernel was ended then."""
        return self.timed_out or self.flooded

    @property
    def is_out_of_memory(self) -> bool:
        """Whether it met a MemoryError: its kernel may be unfit for the cells after it."""
        return any(kind == "MemoryError" for kind, _ in self._errors())

    @property
    def ran_short(self) -> bool:
        """Whether it met an error for lack of some resource of the machine."""
        return any(_RAN_SHORT.search(message) for _, message in self._errors())

    def _errors(self) -> Iterator[tuple[str, str]]:
        """Yield type and message of each exception that was reported."""
        if self.error is not None:
            yield self.error
        for outcome in self.outcomes or ():
            if isinstance(outcome.observation, Raised):
                yield outcome.observation.type, outcome.observation.message

    def take(self, kind: str, content: dict[str, Any]) -> None:
        """Record the parts of a cell's message that grading needs."""
        if kind == "error":
            name, message = (str(content[entry]) for entry in ("ename", "evalue"))
            message = _ANSI.sub("", message[: 2 * _MAX_MESSAGE])
            self.error = writable(name, _MAX_NAME), writable(message, _MAX_MESSAGE)
        elif OUTCOMES_MIME in content["data"]:
            # A check reports once. Where something else reports too, neither is believed.
            self.reports += 1
            try:
                report = content["data"][OUTCOMES_MIME]
                self.outcomes = read_report(report) if self.reports == 1 else None
            except ValueError:  # it is forged
                self.outcomes = None


@dataclass(frozen=True)
class RunSettings:
    """What answers to a lesson are run with, as data that can be sent to another machine."""

    blank: str  # the exercise notebook, as it was handed out
    course: dict[str, str]  # the files that a kernel sees as the course, by their paths in it
    seed: int  # of the cases
    in_sandbox: bool
    right: dict[str, list[Observation]]  # the right results of exercises to explain, if wrong

    def is_wrong(self, exercise: str, check: CellRun) -> bool:
        """Say whether a check's results are known to be wrong: the public cases tell why."""
        right, outcomes = self.right.get(exercise), check.outcomes
        if right is None or outcomes is None or len(right) != len(outcomes):
            return False
        return any(map(compare, right, [outcome.observation for outcome in outcomes]))


@dataclass(frozen=True)
class ExerciseRun:
    """How one exercise's answer cell and check cell ran."""

    answer: CellRun
    check: CellRun
    on_public_cases: CellRun | None = None  # of a wrong answer: the check again, for the reason

    @property
    def cells(self) -> tuple[CellRun, CellRun]:
        """Both runs, in order."""
        return self.answer, self.check

    @property
    def timed_out(self) -> bool:
        """Whether it took too much time."""
        return any(cell.timed_out for cell in self.cells)

    @property
    def ran_short(self) -> bool:
        """Whether it met an error for lack of some resource of the machine."""
        return any(cell.ran_short for cell in self.cells)

    @property
    def is_settled(self) -> bool:
        """Whether the exercise itself caused its result, not an earlier one or a neighbour."""
        return self.answer.is_over or not (self.check.is_silent or self.ran_short)

    @property
    def is_doubtful(self) -> bool:
        """Whether it may have ended as it did because of what ran beside it on the machine.

        It ran short of something or ended without a report, though no limit of its own was reached.
        """
        if self.ran_short or any(cell.is_out_of_memory for cell in self.cells):
            return True
        has_no_cause = all(cell.used_up in ("", OF_THE_MACHINE) for cell in self.cells)
        return self.check.is_silent and not self.answer.is_over and has_no_cause

    @property
    def is_fit(self) -> bool:
        """Whether it may run again in a fresh kernel, for later answers that may use it."""
        return not any(cell.is_over or cell.died or cell.is_out_of_memory for cell in self.cells)

    @property
    def seconds(self) -> float:
        """Seconds that both cells took."""
        return sum(cell.seconds for cell in self.cells)


def run_answers(answers: dict[str, str], settings: RunSettings) -> dict[str, ExerciseRun]:
    """Run answers, by exercise, with their checks, in as few kernels as will do.

    One that was over its budget does not run again. A blank notebook needs no kernel.
    """
    budget = SubmissionBudget(answers)
    runs: dict[str, ExerciseRun] = {}
    waiting, earlier = dict(answers), dict[str, str]()
    while waiting:
        together = _run_together(waiting, earlier, settings, budget)
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
                runs[name] = _exercise(name, _run_together({name: source}, {}, settings, budget))
                earlier = {} if runs[name].is_settled else earlier
            elif run.is_fit:
                earlier[name] = source
    unexplained = {
        name: answers[name]
        for name, run in runs.items()
        if run.check.is_wrong and run.on_public_cases is None
    }
    if unexplained:  # another answer ended their kernel too early
        others = {name: source for name, source in earlier.items() if name not in unexplained}
        together = _run_together(unexplained, others, settings, budget)
        for name in unexplained:
            public = _exercise(name, together).on_public_cases
            runs[name] = replace(runs[name], on_public_cases=public)
    return runs


def _run_together(
    answers: dict[str, str],
    earlier: dict[str, str],
    settings: RunSettings,
    budget: SubmissionBudget,
) -> dict[str, CellRun]:
    """Run answers with their checks in one kernel, after earlier answers without theirs.

    Wrong answers run once more at the end, with their checks on the public cases: whatever happens
    then changes no mark. Return how each cell ran, by its id, up to the one that ended the kernel.
    """
    # nbval takes long to load, and a process that only judges does not need it.
    from pytree_course.grading.nbval_run import run_notebook

    notebook = json.loads(settings.blank)
    sources = {answer_id(name): source for name, source in (answers | earlier).items()}
    checks = set(map(check_id, answers))
    notebook["cells"] = [
        cell
        for cell in notebook["cells"]
        if not cell["id"].endswith(check_id("")) or cell["id"] in checks
    ]
    for cell in notebook["cells"]:
        cell["source"] = sources.get(cell["id"], cell["source"])
    return run_notebook(notebook, (*earlier, *answers), settings, budget)


def again_id(check: str) -> str:
    """Return what a check cell is called where it runs once more, on the public cases."""
    return f"{check}-again"


def _exercise(name: str, run: dict[str, CellRun]) -> ExerciseRun:
    answer, check = (run.get(cell, CellRun()) for cell in (answer_id(name), check_id(name)))
    return ExerciseRun(answer, check, run.get(again_id(check_id(name))))
