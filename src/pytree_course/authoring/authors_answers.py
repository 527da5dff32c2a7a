"""Run the author's own answers: what the checks expect, and what every wrong answer yields.

This code runs in the process that calls it, for the author wrote it. A learner's answers never do.
"""

import contextlib
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pytree_course.authoring.sources import Answer, Exercise, LessonSources
from pytree_course.checking.cases import Check
from pytree_course.checking.comparison import compare, without_message
from pytree_course.checking.expected import Expected, ExpectedExercise, Misconception
from pytree_course.checking.outcomes import SEED_VARIABLE, Outcome, run_check


class AnswerError(Exception):
    """An author's answer cannot be run at all."""


def run_answer(
    sources: LessonSources, exercise: Exercise, answer: Answer, check: Check, seed: int
) -> list[Outcome]:
    """Run the set-up cell and one answer in a fresh namespace, and the check on what it defines.

    Raises
    ------
    AnswerError
        When the code does not run, or does not define what the check needs.
    """
    with _as_in_grading(sources, seed):
        answers = _define(sources, exercise, answer)
        try:
            return run_check(check, answers, seed)
        except Exception as error:
            raise AnswerError(f"the check itself raised {type(error).__name__}") from error


def _define(sources: LessonSources, exercise: Exercise, answer: Answer) -> list[Any]:
    """Run the set-up cell and an answer, and return what the check is to be given."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(sources.setup, "<set-up cell>", "exec"), namespace)
        exec(compile(answer.source, f"<{exercise.name}: {answer.name}>", "exec"), namespace)
        return [namespace[name] for name in exercise.answers]
    except Exception as error:
        raise AnswerError(f"{type(error).__name__}: {error}") from error


@contextlib.contextmanager
def _as_in_grading(sources: LessonSources, seed: int) -> Iterator[None]:
    """Let the set-up cell find the course, and show nothing."""
    before = os.environ.get(SEED_VARIABLE)
    os.environ[SEED_VARIABLE] = str(seed)
    try:
        with contextlib.chdir(sources.files.sources):
            yield
    finally:
        os.environ.pop(SEED_VARIABLE)
        if before is not None:
            os.environ[SEED_VARIABLE] = before


def expect_exercise(
    sources: LessonSources, exercise: Exercise, check: Check, seed: int
) -> ExpectedExercise:
    """Run the right answer, and return what is expected of one exercise, without misconceptions."""
    with _as_in_grading(sources, seed):
        functions = all(map(callable, _define(sources, exercise, exercise.solution)))
    right = run_answer(sources, exercise, exercise.solution, check, seed)
    return ExpectedExercise(
        name=exercise.name,
        title=exercise.title,
        answers=exercise.answers,
        points=exercise.points,
        minutes=exercise.minutes,
        stars=exercise.stars,
        section=exercise.section,
        hints=exercise.hints,
        silent_bug=exercise.silent_bug,
        functions=functions,
        observations=[outcome.observation for outcome in right],
        misconceptions=[],
    )


def with_misconceptions(
    expected: ExpectedExercise, sources: LessonSources, check: Check, seed: int
) -> ExpectedExercise:
    """Run the misconceptions too, and add how each differs from what is expected."""
    exercise = sources.exercises[expected.name]
    misconceptions = []
    for wrong in exercise.misconceptions:
        outcomes = run_answer(sources, exercise, wrong, check, seed)
        differing = {
            case: without_message(outcome.observation)
            for case, outcome in enumerate(outcomes)
            if compare(expected.observations[case], outcome.observation)
        }
        misconceptions.append(
            Misconception(wrong.name, wrong.explanation, wrong.section, differing)
        )
    return replace(expected, misconceptions=misconceptions)


def expect(sources: LessonSources, seed: int) -> Expected:
    """Run a lesson's answers, and return what its checks expect on the cases of `seed`."""
    checks = sources.files.checks()
    exercises = {}
    for name, exercise in sources.exercises.items():
        expected = expect_exercise(sources, exercise, checks[name], seed)
        exercises[name] = with_misconceptions(expected, sources, checks[name], seed)
    return Expected(
        lesson=sources.files.stem,
        title=sources.title,
        sections=sources.sections,
        predictions=sources.predictions,
        exercises=exercises,
        sources=sources.exercises_digest,
    )
