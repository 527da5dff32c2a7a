"""The memoriser: a wrong answer that knows only the public cases and their results."""

from functools import partial
from typing import Any

from pytree_course.observing.comparison import compare
from pytree_course.running.outcomes import PUBLIC_SEED, Outcome
from pytree_course.sources.authors_answers import draw_cases, run_answer
from pytree_course.sources.exercises import Exercise
from pytree_course.sources.lesson_sources import LessonSources

Seen = list[tuple[str, Outcome]]
"""For each case, the called function and the outcome of the right answer."""


def refuses_memoriser(sources: LessonSources, name: str, seed: int) -> bool:
    """Return whether a check refuses the results of the most similar public cases on fresh ones."""
    exercise = sources.exercises[name]
    public, fresh = (_seen(sources, exercise, each) for each in (PUBLIC_SEED, seed))
    for called, outcome in fresh:
        memorised = max(public, key=lambda known: _similarity(known, (called, outcome)))[1]
        if compare(outcome.observation, memorised.observation):
            return True
    return False


def _seen(sources: LessonSources, exercise: Exercise, seed: int) -> Seen:
    outcomes = run_answer(sources, exercise, exercise.solution, seed)
    cases, _ = draw_cases(sources, exercise, seed)
    return [(called(case.call), outcome) for case, outcome in zip(cases, outcomes, strict=True)]


def called(function: Any) -> str:
    """Return the name of the function that a case calls."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__qualname__", type(function).__qualname__)


def _similarity(known: tuple[str, Outcome], asked: tuple[str, Outcome]) -> tuple[bool, bool, float]:
    """Return how similar two cases are: in the called function, their notes and their inputs."""
    (called, outcome), (other_called, other) = known, asked
    parts, other_parts = _parts(outcome.inputs), _parts(other.inputs)
    common = len(parts & other_parts) / max(len(parts | other_parts), 1)
    return called == other_called, outcome.note == other.note, common


def _parts(observed: Any, path: tuple[Any, ...] = ()) -> set[tuple[Any, ...]]:
    """Return all scalars in plain JSON, each with its path."""
    if isinstance(observed, dict):
        observed = list(observed.items())
    if not isinstance(observed, (list, tuple)):
        return {(*path, observed)}
    return {part for at, each in enumerate(observed) for part in _parts(each, (*path, at))}
