"""Whether cases tell wrong answers from right ones: mutants, a memoriser, a guesser try to pass."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import zip_longest
from queue import Queue
from typing import Any

import numpy as np

from pytree_course.authoring.author_process import AuthorProcess, EndedError
from pytree_course.authoring.authors_answers import (
    AnswerError,
    as_graded,
    define,
    draw_cases,
    run_answer,
)
from pytree_course.authoring.guessing import ENOUGH, bits
from pytree_course.authoring.memoriser import refuses_memoriser
from pytree_course.authoring.mistakes import on_one_case
from pytree_course.authoring.mutants import Mutant, mutants
from pytree_course.authoring.other_inputs import near
from pytree_course.authoring.sources import Answer, Exercise, LessonSources, read_sources
from pytree_course.checking.cases import Case
from pytree_course.checking.comparison import compare
from pytree_course.checking.outcomes import outcomes_of
from pytree_course.checking.reported import PUBLIC_SEED, Outcome
from pytree_course.course import CourseError, LessonFiles

FRESH_SEEDS = tuple(range(101, 121))
SECONDS_FOR_RIGHT = 300
SECONDS_FOR_MUTANT = 10
SECONDS_TO_SEARCH = 5


@dataclass(frozen=True)
class Refusal:
    """Why a check refuses an answer: the first case that tells it from the right one."""

    why: str
    outcome: Outcome | None = None  # in that case; None where it did not come to one

    @property
    def is_recursion(self) -> bool:
        """Whether calls went too deep."""
        raised = self.why if self.outcome is None else self.outcome.observation.get("type")
        return "RecursionError" in str(raised)


@dataclass(frozen=True)
class Survivor:
    """A mutant that passes all public cases, and a fresh one, if found, that it fails."""

    mutant: Mutant
    proposed: Outcome | None
    is_drawn: bool  # by the check, with another seed; otherwise its inputs may not be allowed


@dataclass
class Findings:
    """How well the cases of one exercise tell wrong answers from right ones."""

    exercise: Exercise
    cases: int = 0
    seconds: float = 0.0  # of the check, with the right answer, compiled before
    mutants: int = 0
    equivalent: int = 0
    survivors: list[Survivor] = field(default_factory=list)
    not_equivalent: list[str] = field(default_factory=list)  # refused or gone, but listed
    on_one_case: list[str] = field(default_factory=list)  # misconceptions
    memoriser: int | None = None  # on how many of FRESH_SEEDS it is refused
    bits: float | None = None  # to guess; None where the results are the same for everybody

    @property
    def killed(self) -> int:
        """How many mutants the check refuses."""
        return self.mutants - self.equivalent - len(self.survivors)

    @property
    def is_fine(self) -> bool:
        """Whether nothing is left for the author to do."""
        wrong = self.survivors or self.not_equivalent or self.on_one_case
        return not (wrong or self.is_guessed) and self.memoriser in (None, len(FRESH_SEEDS))

    @property
    def is_guessed(self) -> bool:
        """Whether too few bits have to be guessed of what the check expects."""
        return self.bits is not None and self.bits < ENOUGH


def find_untold_in(files: LessonFiles, exercise: str | None, jobs: int) -> Iterator[Findings]:
    """Try the mutants and the memoriser on one exercise of a lesson, or on all of them in order."""
    sources = read_sources(files)
    if exercise is not None and exercise not in sources.exercises:
        names = ", ".join(sources.exercises)
        raise CourseError(f"{files.stem} has no exercise {exercise!r}. There are: {names}.")
    chosen = list(sources.exercises) if exercise is None else [exercise]
    free: Queue[AuthorProcess] = Queue()
    with ExitStack() as stack:
        for _ in range(min(jobs, len(chosen))):
            free.put(stack.enter_context(closing(AuthorProcess(files))))

        def find(name: str) -> Findings:
            process = free.get()
            try:
                return find_untold(sources, process, name)
            finally:
                free.put(process)

        threads = stack.enter_context(ThreadPoolExecutor(jobs))
        yield from threads.map(find, chosen)


def find_untold(sources: LessonSources, process: AuthorProcess, name: str) -> Findings:
    """Try the mutants and the memoriser on one exercise."""
    exercise = sources.exercises[name]
    found = Findings(exercise)
    found.cases, found.seconds = process.call(SECONDS_FOR_RIGHT, _measured, name)
    found.on_one_case = process.call(SECONDS_FOR_RIGHT, _on_one_case, name)
    if not exercise.is_prediction:
        found.memoriser = sum(
            process.call(SECONDS_FOR_RIGHT, refuses_memoriser, name, seed) for seed in FRESH_SEEDS
        )
        found.bits = process.call(SECONDS_FOR_RIGHT, bits, name)
    listed = {each.name for each in exercise.equivalents}
    seconds = SECONDS_FOR_MUTANT + 10 * found.seconds
    surviving = []
    # A variant of a prediction writes down the same values in another way.
    right_answers = [exercise.solution] if exercise.is_prediction else exercise.right_answers
    for answer in right_answers:
        made = mutants(answer.name, answer.source)
        found.mutants += len(made)
        surviving += _surviving(process, seconds, exercise, made)
    names = {mutant.name for mutant in surviving}
    found.equivalent = len(names & listed)
    found.not_equivalent = sorted(listed - names)
    found.survivors = [
        Survivor(mutant, *_proposed(process, name, mutant.source))
        for mutant in surviving
        if mutant.name not in listed
    ]
    if found.survivors:
        process.restart()  # strange inputs may have left something behind
    return found


def _surviving(
    process: AuthorProcess, seconds: float, exercise: Exercise, tried: list[Mutant]
) -> list[Mutant]:
    """Return the mutants that a check does not refuse.

    Mutants may leave something behind, such as a registered class, so that others after them fail,
    the right answer too. Then each half of them is tried again, in a process of its own.
    """
    surviving = []
    is_spoilt = False
    for mutant in tried:
        try:
            found: Refusal | None = process.call(
                seconds, refusal, exercise.name, mutant.source, PUBLIC_SEED
            )
        except EndedError as error:
            is_spoilt |= not error.is_time_up
        else:
            if found is None:
                surviving.append(mutant)
            elif found.is_recursion:
                process.restart()  # CPython 3.11 goes on counting calls that JAX left this way
    try:
        right = exercise.solution.source
        is_spoilt |= bool(process.call(seconds, refusal, exercise.name, right, PUBLIC_SEED))
    except EndedError:
        is_spoilt = True
    if not is_spoilt:
        return surviving
    process.restart()
    if len(tried) == 1:
        return surviving
    half = len(tried) // 2
    first = _surviving(process, seconds, exercise, tried[:half])
    return first + _surviving(process, seconds, exercise, tried[half:])


def _proposed(process: AuthorProcess, name: str, source: str) -> tuple[Outcome | None, bool]:
    """Look for a case that tells a mutant apart, and say whether the check draws such cases."""
    ends = time.monotonic() + SECONDS_TO_SEARCH
    try:
        for seed in FRESH_SEEDS:
            if (seconds := ends - time.monotonic()) > 0:
                found: Refusal | None = process.call(seconds, refusal, name, source, seed)
                if found is not None and found.outcome is not None:
                    return found.outcome, True
        return process.call(3 * SECONDS_TO_SEARCH, _told_nearby, name, source), False
    except EndedError:
        return None, False


def _told_nearby(sources: LessonSources, name: str, source: str) -> Outcome | None:
    """Try inputs near those of the cases, where all right answers agree; return a telling case."""
    ends = time.monotonic() + SECONDS_TO_SEARCH
    exercise = sources.exercises[name]
    drawn = [
        draw_cases(sources, exercise, answer, PUBLIC_SEED)
        for answer in (*exercise.right_answers, Answer("mutant", source, exercise.cell))
    ]
    known = run_answer(sources, exercise, exercise.solution, PUBLIC_SEED).outcomes
    rng = np.random.default_rng(PUBLIC_SEED)
    for place, inputs in near([case.inputs for case in drawn[0]], rng):
        if time.monotonic() > ends:
            return None
        *right, mutant = (_with_inputs(cases[place], inputs) for cases in drawn)
        wanted = right[0].observation
        # Nobody asked for an error there: the prompt hardly allows these inputs.
        is_strange = wanted["kind"] == "raised" and known[place].observation["kind"] != "raised"
        if is_strange or any(compare(wanted, each.observation) for each in right):
            continue
        if compare(wanted, mutant.observation):
            return mutant
    return None


def _with_inputs(case: Case, inputs: tuple[Any, ...]) -> Outcome:
    """Run a case with copies of other inputs."""

    def check(rng: np.random.Generator) -> Iterator[Case]:
        yield Case(case.call, *deepcopy(inputs), mentions=case.mentions, note=case.note)

    return next(outcomes_of(check, [], PUBLIC_SEED))


def refusal(sources: LessonSources, name: str, source: str, seed: int) -> Refusal | None:
    """Run an answer up to the first case that tells it from the right one."""
    exercise = sources.exercises[name]
    right = run_answer(sources, exercise, exercise.solution, seed).outcomes
    answer = Answer("mutant", source, exercise.cell)
    try:
        with as_graded(sources, seed):
            answers = define(sources, exercise, answer)
        check = sources.files.checks()[name]
        for expected, got in zip_longest(right, outcomes_of(check, answers, seed)):
            if expected is None or got is None:
                return Refusal("it changes how many cases there are")
            if compare(expected.observation, got.observation):
                return Refusal("a case tells it apart", got)
    except AnswerError as error:
        return Refusal(str(error))
    except Exception as error:
        return Refusal(f"the check itself raised {type(error).__name__}")
    return None


def _measured(sources: LessonSources, name: str) -> tuple[int, float]:
    """Return how many cases a check has, and how long they take with the right answer."""
    exercise = sources.exercises[name]
    cases = len(run_answer(sources, exercise, exercise.solution, PUBLIC_SEED).outcomes)
    start = time.perf_counter()
    refusal(sources, name, exercise.solution.source, PUBLIC_SEED)
    return cases, time.perf_counter() - start


def _on_one_case(sources: LessonSources, name: str) -> list[str]:
    return [wrong.name for wrong in on_one_case(sources, sources.exercises[name])]
