"""Run the author's own answers: the right ones for the expected results, and the wrong ones.

The author's code is trusted: it runs in the calling process. A learner's code never does.
"""

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import fields, replace
from functools import cache
from typing import Any, TypeVar
from unittest.mock import patch

import jax
import numpy as np

from pytree_course import compiled
from pytree_course.cases.case import Case, Check
from pytree_course.judging.expected import (
    BuiltLesson,
    ExerciseFacts,
    ExpectedExercise,
    Given,
    Misconception,
)
from pytree_course.observing.comparison import compare, with_skeleton
from pytree_course.observing.observations import ContainerLeaf, Node, Observation, all_parts
from pytree_course.running.outcomes import PUBLIC_SEED, SEED_VARIABLE, Outcome
from pytree_course.running.run_cases import results_of, run_check
from pytree_course.sources.exercises import Answer, Exercise
from pytree_course.sources.lesson_sources import LessonSources

MAX_GIVEN = 90  # characters that are read at one glance
SEEDS = (PUBLIC_SEED, 11)
"""Every rule about cases has to hold on fresh cases too, which the other seed stands for."""


class AnswerError(Exception):
    """An author's answer cannot be run at all."""


_RUNS: dict[tuple[str, ...], list[Any]] = {}
"""What this process's runs yielded."""

_Yielded = TypeVar("_Yielded")


def run_answer(
    sources: LessonSources, exercise: Exercise, answer: Answer, seed: int
) -> list[Outcome]:
    """Run the set-up cell, an answer, and the check on it; return the outcomes, which are cached.

    Raises
    ------
    AnswerError
        When the code does not run, or does not define what the check needs.
    """
    return _run_once(run_check, sources, exercise, answer, seed)


def results_of_answer(
    sources: LessonSources, exercise: Exercise, answer: Answer, seed: int
) -> list[Observation]:
    """Run an answer as `run_answer` does; return its results alone, which takes less time."""
    return _run_once(results_of, sources, exercise, answer, seed)


def _run_once(
    run: Callable[[Check, list[Any], int], list[_Yielded]],
    sources: LessonSources,
    exercise: Exercise,
    answer: Answer,
    seed: int,
) -> list[_Yielded]:
    key = (run.__name__, *_key(sources, exercise, answer, seed))
    if key not in _RUNS:
        compiled.use_compiled_programs(keep=seed in SEEDS)
        with as_graded(sources, seed):
            defined = define(exercise, answer)
            check = sources.checks[exercise.name]
            try:
                _RUNS[key] = run(check, defined, seed)
            except Exception as error:
                raise AnswerError(f"the check itself raised {type(error).__name__}") from error
    return [*_RUNS[key]]


def compile_for_kernels(sources: LessonSources, exercise: Exercise) -> None:
    """Keep the right answer's compiled programs, on the public cases, for kernels.

    If that has been done on this machine, return at once. Fresh cases differ from the public ones
    in their values, hardly ever in their programs.
    """
    marker = compiled.marker(*_key(sources, exercise, exercise.solution, PUBLIC_SEED))
    if os.access(marker.parent, os.W_OK) and not marker.exists():
        # JAX would not write what this process has compiled already.
        jax.clear_caches()  # type: ignore[no-untyped-call]
        run_answer(sources, exercise, exercise.solution, PUBLIC_SEED)
        marker.touch()


def _key(sources: LessonSources, exercise: Exercise, answer: Answer, seed: int) -> tuple[str, ...]:
    script = sources.files.check_script.read_text(encoding="utf-8")
    return (script, exercise.setup, exercise.name, *exercise.answers, answer.source, str(seed))


@contextmanager
def as_graded(sources: LessonSources, seed: int) -> Iterator[None]:
    """Make this process look like grading: the set-up cell finds the course, and shows nothing."""
    in_grading = patch.dict(os.environ, {SEED_VARIABLE: str(seed)})
    # Wrong answers may well warn.
    with in_grading, chdir(sources.files.sources), warnings.catch_warnings(action="ignore"):
        yield


def draw_cases(
    sources: LessonSources, exercise: Exercise, seed: int
) -> tuple[list[Case], list[Any]]:
    """Return the cases of a check, without running them, and the right answers that they call."""
    with as_graded(sources, seed):
        answers = define(exercise, exercise.solution)
        check = sources.checks[exercise.name]
        return list(check(*answers, rng=np.random.default_rng(seed))), answers


def _called(case: Case, answers: list[Any]) -> Any:
    """Return the answer that a case calls; None where it calls a function of the check."""
    call: Any = case.call
    while call is not None and not any(call is answer for answer in answers):
        call = getattr(call, "__wrapped__", getattr(call, "func", None))
    return call


def _is_own(case: Case, answers: list[Any]) -> bool:
    """Return whether a case yields the answer's own result; a note tells of anything else."""
    return _called(case, answers) is not None or not (case.note or case.if_wrong)


def _given(
    exercise: Exercise, cases: list[Case], outcomes: list[Outcome], answers: list[Any]
) -> dict[int, Given]:
    """Return the code and inputs that a question shows, of each case that is short enough."""
    if exercise.is_prediction:
        return {place: Given("", note=each.note) for place, each in enumerate(outcomes)}
    given = {}
    for place, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
        code, called = " ".join(", ".join(outcome.written).split()), _called(case, answers)
        if called is not None and (len(answers) > 1 or len(outcome.written) > 1):
            code = f"{called.__name__}({code})"
        # Of several answers, a question has to say which is called.
        is_clear = called is not None if len(answers) > 1 else _is_own(case, answers)
        if is_clear and len(code) <= MAX_GIVEN and _says_all(code, outcome.inputs):
            given[place] = Given(code, outcome.inputs, outcome.note)
    return given


def _says_all(code: str, inputs: Sequence[Observation]) -> bool:
    """Say whether code is whole, and names all types but those that Python has signs for.

    A subclass of a dict may be written as a dict is.
    """
    parts = [part for given in inputs for _, part in all_parts(given)]
    types = {part.type for part in parts if isinstance(part, Node | ContainerLeaf)}
    named = all(f"{name}(" in code for name in types - {"dict", "list", "tuple"})
    return named and not re.search("[<…]", code)


@cache
def _set_up(setup: str) -> dict[str, Any]:
    """Run a set-up cell, and return the names that it defines."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(setup, "<set-up cell>", "exec"), namespace)
    return namespace


def define(exercise: Exercise, answer: Answer) -> list[Any]:
    """Run the set-up cell and an answer, `as_graded`; return the arguments of the check.

    Raises
    ------
    AnswerError
        When the code does not run, or does not define what the check needs.
    """
    try:
        namespace = dict(_set_up(exercise.setup))
        exec(compile(answer.source, f"<{exercise.name}: {answer.name}>", "exec"), namespace)
    except Exception as error:
        raise AnswerError(f"{type(error).__name__}: {error}") from error
    missing = [name for name in exercise.answers if name not in namespace]
    if missing:
        raise AnswerError(f"it does not define {', '.join(missing)}")
    return [namespace[name] for name in exercise.answers]


def run_solution(sources: LessonSources, exercise: Exercise, seed: int) -> ExpectedExercise:
    """Run the right answer, and return the results that are expected, without anything else."""
    if not exercise.is_practice:
        compile_for_kernels(sources, exercise)
    right = run_answer(sources, exercise, exercise.solution, seed)
    with as_graded(sources, seed):
        answers = define(exercise, exercise.solution)
    return ExpectedExercise(
        **{fact.name: getattr(exercise, fact.name) for fact in fields(ExerciseFacts)},
        functions=all(map(callable, answers)),
        observations=[outcome.observation for outcome in right],
        misconceptions=[],
        lines={each.predicted: each.note for each in right if each.predicted},
    )


def expect_exercise(sources: LessonSources, exercise: Exercise, seed: int) -> ExpectedExercise:
    """Return an exercise's expected results with what is known of its cases.

    Misconceptions are missing.
    """
    expected = run_solution(sources, exercise, seed)
    right = run_answer(sources, exercise, exercise.solution, seed)
    cases, answers = draw_cases(sources, exercise, seed)
    return replace(
        expected,
        summaries=[None if _is_own(each, answers) else each.if_wrong for each in cases],
        given=_given(exercise, cases, right, answers) if exercise.question else {},
    )


def with_misconceptions(
    expected: ExpectedExercise, sources: LessonSources, seed: int
) -> ExpectedExercise:
    """Run the misconceptions too, and add their results that differ from the expected ones."""
    exercise = sources.exercises[expected.name]
    misconceptions = []
    for wrong in exercise.misconceptions:
        differing = {
            case: with_skeleton(result)
            for case, result in enumerate(results_of_answer(sources, exercise, wrong, seed))
            if compare(expected.observations[case], result)
        }
        misconceptions.append(
            Misconception(wrong.name, wrong.explanation, wrong.section, differing)
        )
    return replace(expected, misconceptions=misconceptions)


def expect(sources: LessonSources, seed: int) -> BuiltLesson:
    """Run a lesson's answers, and return the built lesson with results on the cases of `seed`."""
    exercises: dict[str, ExerciseFacts] = {}
    for name, exercise in sources.exercises.items():
        right = expect_exercise(sources, exercise, seed)
        exercises[name] = with_misconceptions(right, sources, seed)
    return BuiltLesson(
        lesson=sources.files.stem,
        title=sources.title,
        sections=sources.sections,
        predictions=sources.predictions,
        exercises=exercises,
        sources=sources.exercises_digest,
        practice=sources.practice_digest,
    )
