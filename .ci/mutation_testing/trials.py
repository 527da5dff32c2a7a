"""Run mutants and the memoriser on a lesson's checks, and report those that pass."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from mutation_testing.author_process import AuthorProcess, EndedError
from mutation_testing.memoriser import refuses_memoriser
from mutation_testing.mutants import Mutant, mutants
from pytree_course.course import CourseError, LessonFiles
from pytree_course.observing.comparison import compare
from pytree_course.observing.words import describe
from pytree_course.running.outcomes import PUBLIC_SEED
from pytree_course.running.run_cases import run_case
from pytree_course.sources.authors_answers import AnswerError, as_graded, define, run_answer
from pytree_course.sources.exercises import Answer, Exercise
from pytree_course.sources.lesson_sources import LessonSources, read_sources

FRESH_SEEDS = tuple(range(101, 121))
SECONDS_FOR_RIGHT = 300
SECONDS_FOR_MUTANT = 10


@dataclass
class Findings:
    """The results of one exercise: which wrong answers pass its check."""

    exercise: Exercise
    cases: int = 0
    seconds: float = 0.0  # of the check, with the right answer, compiled before
    mutants: int = 0
    survivors: list[str] = field(default_factory=list)  # mutants that pass
    memoriser: int | None = None  # the number of FRESH_SEEDS on which it is refused


def try_wrong_answers(
    files: LessonFiles, exercises: Sequence[str], jobs: int
) -> Iterator[Findings]:
    """Yield the findings for these exercises of a lesson, or for all if none is named."""
    sources = read_sources(files)
    names = ", ".join(sources.exercises)
    for name in exercises:
        if name not in sources.exercises:
            raise CourseError(f"{files.stem} has no exercise {name!r}. There are: {names}.")
    chosen = exercises or list(sources.exercises)

    def try_on(name: str) -> Findings:
        with closing(AuthorProcess(files)) as process:
            return _findings(sources, process, name)

    with ThreadPoolExecutor(jobs) as threads:
        yield from threads.map(try_on, chosen)


def _findings(sources: LessonSources, process: AuthorProcess, name: str) -> Findings:
    exercise = sources.exercises[name]
    found = Findings(exercise)
    found.cases, found.seconds = process.call(SECONDS_FOR_RIGHT, _measured, name)
    if not exercise.is_prediction:
        found.memoriser = sum(
            process.call(SECONDS_FOR_RIGHT, refuses_memoriser, name, seed) for seed in FRESH_SEEDS
        )
    seconds = SECONDS_FOR_MUTANT + 10 * found.seconds
    # A variant of a prediction writes down the same values in another way.
    right_answers = [exercise.solution]
    if not exercise.is_prediction:
        right_answers += exercise.variants
    for answer in right_answers:
        made = mutants(answer.name, answer.source)
        found.mutants += len(made)
        found.survivors += [each.name for each in _surviving(process, seconds, exercise, made)]
    return found


def _surviving(
    process: AuthorProcess, seconds: float, exercise: Exercise, tried: list[Mutant]
) -> list[Mutant]:
    """Return the mutants that a check does not refuse.

    A mutant may change global state, such as a registered class, so that later answers fail, even
    the right one. Then each half of the mutants is run again in a fresh process.
    """
    surviving = []
    is_spoilt = False
    for mutant in tried:
        try:
            refused = process.call(seconds, refusal, exercise.name, mutant.source, PUBLIC_SEED)
        except EndedError as error:
            is_spoilt |= not error.is_time_up
        else:
            if refused is None:
                surviving.append(mutant)
            elif "RecursionError" in refused:
                process.restart()  # CPython 3.11 miscounts the recursion depth afterwards
    try:
        right = exercise.solution.source
        is_spoilt |= bool(process.call(seconds, refusal, exercise.name, right, PUBLIC_SEED))
    except EndedError:
        is_spoilt = True
    if not is_spoilt:
        return surviving
    process.restart()
    if len(tried) <= 1:
        return surviving
    half = len(tried) // 2
    first = _surviving(process, seconds, exercise, tried[:half])
    return first + _surviving(process, seconds, exercise, tried[half:])


def refusal(sources: LessonSources, name: str, source: str, seed: int) -> str | None:
    """Run an answer up to the first failing case; return the reason, or None if it passes."""
    exercise = sources.exercises[name]
    right = run_answer(sources, exercise, exercise.solution, seed)
    answer = Answer("mutant", source, exercise.cell)
    try:
        with as_graded(sources, seed):
            answers = define(exercise, answer)
        check = sources.checks[name]
        cases = check(*answers, rng=np.random.default_rng(seed))
        for expected, case in zip_longest(right, cases):
            if expected is None or case is None:
                return "it changes how many cases there are"
            got = run_case(case)
            if compare(expected.observation, got.observation):
                return f"on {', '.join(got.written)} it yields {describe(got.observation)}"
    except AnswerError as error:
        return str(error)
    except Exception as error:
        return f"the check itself raised {type(error).__name__}"
    return None


def _measured(sources: LessonSources, name: str) -> tuple[int, float]:
    """Return a check's number of cases, and the seconds that they take with the right answer."""
    exercise = sources.exercises[name]
    cases = len(run_answer(sources, exercise, exercise.solution, PUBLIC_SEED))
    start = time.perf_counter()
    refusal(sources, name, exercise.solution.source, PUBLIC_SEED)
    return cases, time.perf_counter() - start
