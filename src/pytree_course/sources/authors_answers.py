"""Run the author's answers, right and wrong, for the expected results of a lesson.

The author's code is trusted: it runs in the calling process. A learner's code never does.
"""

import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import chdir, contextmanager
from dataclasses import replace
from traceback import format_exception_only
from typing import Any
from unittest.mock import patch

import jax
import numpy as np

from pytree_course import compiled
from pytree_course.cases.case import Case
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
from pytree_course.running.run_cases import run_check
from pytree_course.sources.exercises import Answer, Exercise
from pytree_course.sources.lesson_sources import LessonSources

MAX_CODE_CHARACTERS = 90  # of a question, to be read at one glance
SEEDS = (PUBLIC_SEED, 11)
"""The build tries the answers on the public cases, and on fresh ones from the second seed."""


class AnswerError(Exception):
    """An author's answer cannot be run at all."""


_RUNS: dict[tuple[str, ...], list[Outcome]] = {}
"""The outcomes of the runs in this process."""


def run_answer(
    sources: LessonSources, exercise: Exercise, answer: Answer, seed: int
) -> list[Outcome]:
    """Run the set-up cell, an answer, and the check on it; return the outcomes, which are cached.

    Raise AnswerError if the code does not run, or does not define what the check needs.
    """
    key = _key(sources, exercise, answer, seed)
    if key not in _RUNS:
        compiled.use_compiled_programs(keep=seed in SEEDS)
        with as_graded(sources, seed):
            defined = define(exercise, answer)
            try:
                _RUNS[key] = run_check(sources.checks[exercise.name], defined, seed)
            except Exception as error:
                message = "".join(format_exception_only(error)).strip()
                raise AnswerError(f"the check itself raised {message}") from error
    return [*_RUNS[key]]


def results_of(
    sources: LessonSources, exercise: Exercise, answer: Answer, seed: int
) -> list[Observation]:
    """Run an answer as `run_answer` does; return the observation of each case."""
    return [outcome.observation for outcome in run_answer(sources, exercise, answer, seed)]


def compile_for_kernels(sources: LessonSources, exercise: Exercise) -> None:
    """Compile the programs of the right answer once per machine, for the kernels that grade.

    The public cases are enough: fresh cases differ in values, hardly ever in their programs.
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
    """Imitate the environment of grading: the set-up cell finds the course, and shows nothing."""
    in_grading = patch.dict(os.environ, {SEED_VARIABLE: str(seed)})
    # Wrong answers may well warn.
    with in_grading, chdir(sources.files.sources), warnings.catch_warnings(action="ignore"):
        yield


def define(exercise: Exercise, answer: Answer) -> list[Any]:
    """Run the set-up cell and an answer within `as_graded`; return the arguments of the check.

    Each answer has a set-up of its own: it may change what that defines. Raise AnswerError if the
    code does not run, or does not define what the check needs.
    """
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(exercise.setup, "<set-up cell>", "exec"), namespace)
        exec(compile(answer.source, f"<{exercise.name}: {answer.name}>", "exec"), namespace)
    except Exception as error:
        raise AnswerError(f"{type(error).__name__}: {error}") from error
    missing = [name for name in exercise.answers if name not in namespace]
    if missing:
        raise AnswerError(f"it does not define {', '.join(missing)}")
    return [namespace[name] for name in exercise.answers]


def draw_cases(
    sources: LessonSources, exercise: Exercise, seed: int
) -> tuple[list[Case], list[Any]]:
    """Return the cases of a check, not yet run, and the right answers that they call."""
    with as_graded(sources, seed):
        answers = define(exercise, exercise.solution)
        check = sources.checks[exercise.name]
        return list(check(*answers, rng=np.random.default_rng(seed))), answers


def run_solution(sources: LessonSources, exercise: Exercise, seed: int) -> ExpectedExercise:
    """Run the right answer; return its results, without misconceptions and questions."""
    if not exercise.is_practice:
        compile_for_kernels(sources, exercise)
    right = run_answer(sources, exercise, exercise.solution, seed)
    return ExpectedExercise(
        **exercise.facts(),
        functions=not exercise.is_prediction,
        observations=[outcome.observation for outcome in right],
        misconceptions=[],
        lines={outcome.predicted: outcome.note for outcome in right if outcome.predicted},
    )


def expect_lesson(sources: LessonSources) -> BuiltLesson:
    """Run a lesson's answers; return the built lesson with the results on the public cases."""
    exercises: dict[str, ExerciseFacts] = {
        name: expect_exercise(sources, exercise, PUBLIC_SEED)
        for name, exercise in sources.exercises.items()
    }
    return BuiltLesson(
        lesson=sources.files.stem,
        title=sources.title,
        sections=sources.sections,
        predictions=sources.predictions,
        exercises=exercises,
        sources=sources.files.exercises_digest(),
        practice=sources.practice_digest,
        deciding=sources.deciding_digests,
    )


def expect_exercise(sources: LessonSources, exercise: Exercise, seed: int) -> ExpectedExercise:
    """Run an exercise's right answer and misconceptions; return all of its expected results."""
    expected = run_solution(sources, exercise, seed)
    cases, answers = draw_cases(sources, exercise, seed)
    summaries = [None if _is_own_result(case, answers) else case.if_wrong for case in cases]
    right = run_answer(sources, exercise, exercise.solution, seed)
    given = _given(exercise, cases, right, answers) if exercise.question else {}
    misconceptions = []
    for wrong in exercise.misconceptions:
        results = results_of(sources, exercise, wrong, seed)
        differing = {
            number: with_skeleton(result)
            for number, result in enumerate(results)
            if compare(expected.observations[number], result)
        }
        misconceptions.append(
            Misconception(wrong.name, wrong.explanation, wrong.section, differing, wrong.met)
        )
    return replace(expected, summaries=summaries, given=given, misconceptions=misconceptions)


def _given(
    exercise: Exercise, cases: list[Case], outcomes: list[Outcome], answers: list[Any]
) -> dict[int, Given]:
    """Return the code and inputs that a question shows, by case; only for short, clear cases."""
    if exercise.is_prediction:
        return {number: Given("", note=outcome.note) for number, outcome in enumerate(outcomes)}
    given = {}
    for number, (case, outcome) in enumerate(zip(cases, outcomes, strict=True)):
        called = _called_answer(case, answers)
        code = " ".join(", ".join(outcome.written).split())
        if called is not None and (len(answers) > 1 or len(outcome.written) > 1):
            code = f"{called.__name__}({code})"
        # If there are several answers, the question has to say which one is called.
        says_which = len(answers) == 1 or called is not None
        is_clear = says_which and _is_own_result(case, answers)
        if is_clear and len(code) <= MAX_CODE_CHARACTERS and _is_complete(code, outcome.inputs):
            given[number] = Given(code, outcome.inputs, outcome.note)
    return given


def _called_answer(case: Case, answers: list[Any]) -> Any:
    """Return the answer that a case calls; None if it calls a function of the check."""
    call: Any = case.call
    while call is not None and not any(call is answer for answer in answers):
        call = getattr(call, "__wrapped__", getattr(call, "func", None))
    return call


def _is_own_result(case: Case, answers: list[Any]) -> bool:
    """Return whether a case's result is an answer's, and not made from it by the check."""
    return _called_answer(case, answers) is not None or not (case.note or case.if_wrong)


def _is_complete(code: str, inputs: Sequence[Observation]) -> bool:
    """Return whether code is not abbreviated, and shows the types of its inputs.

    Types without a syntax have to be named: a subclass of dict may be printed like a dict.
    """
    parts = [part for observation in inputs for _, part in all_parts(observation)]
    types = {part.type for part in parts if isinstance(part, Node | ContainerLeaf)}
    types_without_syntax = types - {"dict", "list", "tuple"}
    is_whole = re.search("[<…]", code) is None
    return is_whole and all(f"{name}(" in code for name in types_without_syntax)
