"""The results behind a verdict, which the gradebook keeps for appeals and for later reasons."""

from collections.abc import Sequence

import msgspec
from msgspec import structs, to_builtins

from pytree_course.class_grading.attempt import VerdictRow, digest
from pytree_course.grading.exercise_run import ExerciseRun
from pytree_course.observing.comparison import without_message
from pytree_course.observing.observations import Observation
from pytree_course.observing.reading import read_json
from pytree_course.running.outcomes import report
from pytree_course.texts import text_digest


def add_evidence(
    row: VerdictRow, run: ExerciseRun, expected: Sequence[Observation], results: dict[str, str]
) -> VerdictRow:
    """Add to the row of a wrong answer the keys of its results, and put their texts in `results`.

    `expected` are the right results on the cases that the answer was graded on.
    """
    outcomes = run.check.outcomes or []
    public_outcomes = run.public_check.outcomes if run.public_check else None
    if row.basis and row.basis.on_public_cases:
        public_outcomes = outcomes
    without_messages = [without_message(outcome.observation) for outcome in outcomes]

    def keep(text: str) -> str:
        key = text_digest(text)
        results[key] = text
        return key

    return structs.replace(
        row,
        results=digest(to_builtins(without_messages)),
        outcomes=keep(report(outcomes)),
        public_outcomes=keep(report(public_outcomes)) if public_outcomes else "",
        expected=keep(msgspec.json.encode(expected).decode()),
    )


def read_expected(text: str) -> list[Observation]:
    """Read the right results that `add_evidence` has kept, or raise ValueError."""
    observations: list[Observation] = read_json(list[Observation], text)
    return observations
