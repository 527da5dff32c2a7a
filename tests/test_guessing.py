"""No check is passed without an answer: its results hold bits that only an answer computes."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import Any

import msgspec
import pytest

from mutation_testing.memoriser import called
from pytree_course.cases.random_inputs import WORDS
from pytree_course.course import Course
from pytree_course.sources.authors_answers import draw_cases, run_answer
from pytree_course.sources.lesson_sources import LessonSources, read_sources
from tests.conftest import ROOT

ENOUGH = 30.0  # right by chance in less than one try of a billion
MOST_WHOLES = 8  # of the inputs, that are added, subtracted and multiplied
FEW, MANY = range(101, 113), range(101, 141)  # seeds: few show fewer bits than there are
OFTEN = 8  # a form of inputs, or a place in results, that comes so often has entries of its own
KNOWN = {"kind", "type", "library", "dtype", "shape", "message", "bases", "why"}
DRAWN_WORD = re.compile(rf"(?<=\[')\w+|{'|'.join(WORDS)}")
NUMBER = re.compile(r"\d+(\.\d+)?")


def forged(sources: LessonSources, name: str, seeds: range) -> tuple[float, int]:
    """Return how many bits of an exercise's results a forger has to guess, on average over seeds.

    The forger has no answer. It replaces `run_check`, knows the check and its results on all the
    seeds, and fills in a table with an entry for each place in the results of each form of inputs.
    An entry is a constant, "the same as the one before", or what can be computed from the inputs:
    what stands at a place of them, a length, a size, or the sum, difference or product of two of
    their whole numbers. The best entry counts, by the share of results in which it is right.
    Structure, types, dtypes and shapes cost nothing, and nothing counts twice in one seed.

    Return too how many of the seeds would earn points: those on which every entry is right.
    """
    by_seed = [list(_results(sources, name, seed)) for seed in seeds]
    forms = Counter(form for cases in by_seed for form, _ in cases)
    right: defaultdict[Hashable, Counter[Any]] = defaultdict(Counter)
    samples: Counter[Hashable] = Counter()
    held: list[list[tuple[Hashable, Hashable, set]]] = [[] for _ in seeds]  # by each seed's results
    for cases, atoms_of_seed in zip(by_seed, held, strict=True):
        for form, atoms in cases:
            known = form if forms[form] >= OFTEN else form[0]
            for place, ways in atoms:
                entries = (known, place), (known, "*", _anywhere(place))
                atoms_of_seed.append((*entries, ways))
                for entry in entries:
                    right[entry].update(ways)
                    samples[entry] += 1
    best = {entry: max(ways, key=ways.__getitem__) for entry, ways in right.items()}

    def used(exact: Hashable, anywhere: Hashable) -> Hashable:
        return exact if samples[exact] >= OFTEN else anywhere

    def cost(entry: Hashable) -> float:
        return -math.log2((right[entry][best[entry]] + 1) / (samples[entry] + 1))

    guessed = sum(cost(used(*entries)) for atoms in held for *entries, _ in atoms) / len(held)
    earned = sum(all(best[used(*entries)] in ways for *entries, ways in atoms) for atoms in held)
    return guessed, earned


def _results(sources: LessonSources, name: str, seed: int) -> Iterator[tuple[Any, list]]:
    """Yield for each case its form, and what its result holds, with all ways to write that down."""
    exercise = sources.exercises[name]
    drawn, _ = draw_cases(sources, exercise, seed)
    outcomes = run_answer(sources, exercise, exercise.solution, seed)
    seen, large = set(), set()
    for case, outcome in zip(drawn, outcomes, strict=True):
        note = NUMBER.sub("0", DRAWN_WORD.sub("w", case.note))
        given = [*map(_entries, outcome.inputs), {"kind": "string", "value": case.note}]
        text = json.dumps([called(case.call), note, given])
        if text in seen:
            continue
        seen.add(text)
        words: dict[str, str] = {}
        form = DRAWN_WORD.sub(lambda word: words.setdefault(word[0], f"w{len(words)}"), text)  # noqa: B023
        inputs = defaultdict(set)
        for place, atom in _atoms(given):
            inputs[atom].add(place)
        computed = _computed(given)
        atoms: list[Any] = []
        before: dict[Any, Any] = {}
        for place, atom in _atoms(_entries(outcome.observation)):
            if isinstance(atom, float) and abs(atom) > 100 and atom not in inputs:
                if atom in large:
                    continue
                large.add(atom)
            ways: set[Any] = {("constant", atom)}
            ways |= {("input", _beyond(place, each)) for each in inputs[atom]} | computed[atom]
            if before.get(_anywhere(place)) == atom:
                ways.add("as before")
            before[_anywhere(place)] = atom
            atoms.append((place, ways))
        yield ((called(case.call), note), NUMBER.sub("0", form)), atoms


def _entries(part: Any) -> Any:
    """Write an observation, or a part of one, as JSON that names the fields."""
    if isinstance(part, msgspec.Struct):
        told = {"kind": part.__struct_config__.tag}
        for field in msgspec.structs.fields(part):
            if (value := getattr(part, field.name)) != field.default:
                told[field.name] = _entries(value)
        return told
    return tuple(map(_entries, part)) if isinstance(part, tuple) else part


def _computed(given: list[dict]) -> defaultdict[Any, set]:
    """Return what can be reckoned from inputs without an answer, and all ways to do so."""
    ways: defaultdict[Any, set] = defaultdict(set)
    wholes: list[tuple[tuple, int]] = []

    def walk(observed: Any, place: tuple) -> None:
        if isinstance(observed, dict):
            for at, size in enumerate(observed.get("shape", ())):
                ways[float(size)].add(("size", place, at))
            for key, each in observed.items():
                walk(each, (*place, key))
        elif isinstance(observed, (list, tuple)):
            ways[float(len(observed))].add(("length", place))
            for at, each in enumerate(observed):
                walk(each, (*place, at))
        elif type(observed) is int and len(wholes) < MOST_WHOLES:
            wholes.append((place, observed))

    walk(given, ())
    for (place, one), (other, two) in combinations(wholes, 2):
        results = {"+": one + two, "-": one - two, "from": two - one, "*": one * two}
        for operation, result in results.items():
            ways[float(result)].add((operation, place, other))
    return ways


def _anywhere(place: tuple) -> tuple:
    """Return a place among all that differ from it in their indices alone."""
    return tuple("*" if isinstance(step, int) else step for step in place)


def _beyond(place: tuple, other: tuple) -> tuple:
    """Say where in the inputs something stands: below which of their places, in the same order."""
    same = 0
    while same < min(len(place), len(other)) and place[-same - 1] == other[-same - 1]:
        same += 1
    return place[: len(place) - same], other[: len(other) - same]


def _atoms(observed: Any, place: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """Yield the numbers, words, errors and Nones that an observation holds, each with its place."""
    if isinstance(observed, dict):
        kind = observed.get("kind", "")
        yield (*place, "kind"), kind if kind in ("raised", "none") else "something"
        for key in sorted(observed.keys() - KNOWN):
            yield from _atoms(observed[key], (*place, f"{kind}.{key}"))
    elif isinstance(observed, (list, tuple)):
        is_child = place[-2:-1] == ("node.children",)
        for at, each in enumerate(observed):
            if not (is_child and at == 0):  # a key, which is structure
                yield from _atoms(each, (*place, at))
    elif isinstance(observed, str):
        for at, word in enumerate(re.findall(r"\w+", observed)):
            yield (*place, "word", at), float(word) if word.isdecimal() else word
    elif isinstance(observed, (int, float)) and not isinstance(observed, bool):
        yield place, float(f"{observed:.4g}")
    else:
        yield place, str(observed)


EXERCISES = [
    pytest.param(sources, name, id=name)
    for sources in map(read_sources, Course(ROOT).lessons())
    for name, exercise in sources.graded.items()
    if not exercise.is_prediction  # its lines are the same for everybody
]


@pytest.mark.slow
@pytest.mark.parametrize(("sources", "name"), EXERCISES)
def test_the_results_of_fresh_cases_cannot_be_guessed(sources, name):
    tries = (forged(sources, name, seeds) for seeds in (FEW, MANY))
    assert any(guessed >= ENOUGH and not earned for guessed, earned in tries)
