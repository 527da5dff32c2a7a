"""No check can be passed by guessing: its results hold bits that have to be computed."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from typing import Any

import msgspec
import pytest

from mutation_testing.memoriser import called
from pytree_course.cases.case import WORDS
from pytree_course.course import Course
from pytree_course.sources.authors_answers import draw_cases, run_answer
from pytree_course.sources.lesson_sources import LessonSources, read_sources
from tests.conftest import ROOT
from tests.lesson_reads import lesson_reads

ENOUGH = 30.0  # right by chance in less than one try of a billion
FEW, MANY = range(101, 113), range(101, 141)  # seeds: few show fewer bits than there are
OFTEN = 8  # a form of inputs, or a place in results, that comes so often has entries of its own
KNOWN = {"kind", "type", "library", "dtype", "shape", "message", "bases", "why"}
DRAWN_WORD = re.compile(rf"(?<=\[')\w+|{'|'.join(WORDS)}")
NUMBER = re.compile(r"\d+(\.\d+)?")


def bits(sources: LessonSources, name: str, seeds: range) -> float:
    """Return how many bits of an exercise's results have to be guessed, on average over seeds.

    The guesser knows the check and its results on all the seeds, but computes nothing: it fills in
    a table with an entry for each place in the results of each form of inputs. An entry is a
    constant, "the same as the one before", or "what stands at that place of the inputs". The best
    entry counts, by the share of results in which it is right. Structure, types, dtypes and shapes
    cost nothing, and nothing counts twice in one seed.
    """
    by_seed = [list(_results(sources, name, seed)) for seed in seeds]
    forms = Counter(form for cases in by_seed for form, _ in cases)
    right: defaultdict[Hashable, Counter[Any]] = defaultdict(Counter)
    samples: Counter[Hashable] = Counter()
    held: list[list[tuple[Hashable, Hashable]]] = [[] for _ in seeds]  # by each seed's results
    for cases, entries in zip(by_seed, held, strict=True):
        for form, atoms in cases:
            known = form if forms[form] >= OFTEN else form[0]
            for place, ways in atoms:
                entries.append(((known, place), (known, "*", _anywhere(place))))
                for entry in entries[-1]:
                    right[entry].update(ways)
                    samples[entry] += 1

    def cost(exact: Hashable, anywhere: Hashable) -> float:
        entry = exact if samples[exact] >= OFTEN else anywhere
        return -math.log2((max(right[entry].values()) + 1) / (samples[entry] + 1))

    return sum(cost(*each) for entries in held for each in entries) / len(held)


def _results(sources: LessonSources, name: str, seed: int) -> Iterator[tuple[Any, list]]:
    """Yield for each case its form, and what its result holds, with all ways to write that down."""
    exercise = sources.exercises[name]
    drawn, _ = draw_cases(sources, exercise, seed)
    outcomes = run_answer(sources, exercise, exercise.solution, seed)
    seen, large = set(), set()
    for case, outcome in zip(drawn, outcomes, strict=True):
        note = NUMBER.sub("0", DRAWN_WORD.sub("w", case.note))
        given = [*map(msgspec.to_builtins, outcome.inputs), {"kind": "string", "value": case.note}]
        text = json.dumps([called(case.call), note, given])
        if text in seen:
            continue
        seen.add(text)
        words: dict[str, str] = {}
        form = DRAWN_WORD.sub(lambda word: words.setdefault(word[0], f"w{len(words)}"), text)  # noqa: B023
        inputs = defaultdict(set)
        for place, atom in _atoms(given):
            inputs[atom].add(place)
        atoms: list[Any] = []
        before: dict[Any, Any] = {}
        for place, atom in _atoms(msgspec.to_builtins(outcome.observation)):
            if isinstance(atom, float) and abs(atom) > 100 and atom not in inputs:
                if atom in large:
                    continue
                large.add(atom)
            ways: set[Any] = {("constant", atom)}
            ways |= {("input", _beyond(place, each)) for each in inputs[atom]}
            if before.get(_anywhere(place)) == atom:
                ways.add("as before")
            before[_anywhere(place)] = atom
            atoms.append((place, ways))
        yield ((called(case.call), note), NUMBER.sub("0", form)), atoms


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
    pytest.param(files, name, marks=lesson_reads(ROOT, files.stem), id=name)
    for files in Course(ROOT).lessons()
    for name, exercise in read_sources(files).graded.items()
    if not exercise.is_prediction  # its lines are the same for everybody
]


@pytest.mark.slow
@pytest.mark.parametrize(("files", "name"), EXERCISES)
def test_the_results_of_fresh_cases_cannot_be_guessed(files, name):
    sources = read_sources(files)
    assert any(bits(sources, name, seeds) >= ENOUGH for seeds in (FEW, MANY))
