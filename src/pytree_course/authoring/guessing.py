"""Guessing: how many bits of a check's results are not in the words of their own inputs."""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from pytree_course.authoring.authors_answers import draw_cases, run_answer
from pytree_course.authoring.memoriser import called
from pytree_course.authoring.sources import LessonSources
from pytree_course.checking.cases import WORDS
from pytree_course.checking.reported import Outcome
from pytree_course.observations import Observation

SEEDS = tuple(range(101, 141))
ENOUGH = 30.0
"""So many bits are right by chance in less than one try of a billion."""

OFTEN = 16  # a form of inputs, or a place in results, that comes so often is an entry of its own
MOST_PLACES = 100  # that a text or number is looked for at
LARGE = 100  # two equal numbers beyond this are hardly a coincidence
NEVER_COUNTED = {"kind", "type", "library", "dtype", "shape", "message", "bases", "why"}
"""A result's structure, types and shapes are thought to be known, and messages are not compared."""

Place = tuple[Any, ...]
Way = tuple[Any, ...]
"""A way to write an atom down: as itself, as the one before, as an atom of the inputs."""

_WORD = re.compile(r"[^\W\d]+")
_DRAWN = re.compile(rf"\d+(\.\d+)?|{'|'.join(WORDS)}")


@dataclass(frozen=True)
class _Atom:
    """A number, a word or a kind in an observation, and all ways to write it down."""

    place: Place
    ways: frozenset[Way]


@dataclass
class _Case:
    """What the guesser sees of a case, and what it has to write down."""

    seen: Hashable
    form: str
    atoms: list[_Atom]


def bits(sources: LessonSources, name: str) -> float:
    """Return how many bits of an exercise's results have to be guessed, on the seed with fewest.

    The guesser knows everything about the check but the seed, and computes nothing. It has seen
    the right results on all of `SEEDS`, and fills in a table with an entry for each place of each
    kind of result. An entry is a constant ("frozen", True, 3), "the same as the one before", or
    "what stands in the inputs at this place, or below it in the same order". So a leaf that stays
    as it is costs nothing. The structure of a result, its keys, types, dtypes and shapes cost
    nothing at all: only numbers, words, None and errors do.

    Cases are of one kind where what is called, their tags and their note are alike, and the form
    of their inputs (all but the numbers, and but which words they hold), if that form comes often.
    Of a form that comes seldom, the guesser knows what is usual among all such cases.

    Each entry is the best one: it is right in the largest share of the samples. A number or word
    costs the logarithm of that share, a result the sum over what it holds. Nothing counts twice: a
    large number that an earlier result of the same seed has costs nothing, and so does a case that
    came before. The figure is too low rather than too high, for few samples cannot show a small
    share: one alone costs nothing, forty that differ cost 4.4 bits each, though there may be
    millions to choose from. Where a place has few samples, all places count together that differ
    in their indices alone. One thing it does not see: a question that is asked twice in one case.
    """
    by_seed = [_cases(sources, name, seed) for seed in SEEDS]
    forms = Counter((case.seen, case.form) for cases in by_seed for case in cases)
    shares: defaultdict[Hashable, Counter[Way]] = defaultdict(Counter)
    for cases in by_seed:
        for case in cases:
            if forms[case.seen, case.form] < OFTEN:
                case.form = "seldom"
            for atom in case.atoms:
                for entry in _entries(case, atom):
                    shares[entry].update(atom.ways)
                    shares[entry][()] += 1  # how many there are
    costs = {entry: _cost(counted) for entry, counted in shares.items()}
    few = {entry for entry, counted in shares.items() if counted[()] < OFTEN}

    def cost(case: _Case, atom: _Atom) -> float:
        exact, anywhere = _entries(case, atom)
        return costs[anywhere if exact in few else exact]

    return min(sum(cost(case, atom) for case in cases for atom in case.atoms) for cases in by_seed)


def _cost(counted: Counter[Way]) -> float:
    samples = counted[()]
    best = max(count for way, count in counted.items() if way)
    return -math.log2((best + 1) / (samples + 1))


def _entries(case: _Case, atom: _Atom) -> tuple[Hashable, Hashable]:
    """Return the entries that an atom counts for: its exact place, and its place somewhere."""
    exact = case.seen, case.form, atom.place
    return exact, (case.seen, case.form, "*", _anywhere(atom.place))


def _anywhere(place: Place) -> Place:
    return tuple("*" if isinstance(step, int) else step for step in place)


def _cases(sources: LessonSources, name: str, seed: int) -> list[_Case]:
    """Run the right answer, and write its results down."""
    exercise = sources.exercises[name]
    outcomes = run_answer(sources, exercise, exercise.solution, seed).outcomes
    drawn = draw_cases(sources, exercise, exercise.solution, seed)
    cases, inputs, known = [], set(), set[float]()
    for case, outcome in zip(drawn, outcomes, strict=True):
        seen = called(case.call), tuple(case.tags), _DRAWN.sub("…", case.note)
        form, given = _form(outcome), json.dumps([seen, outcome.inputs, outcome.note])
        atoms = [] if given in inputs else _written(outcome, known)
        cases.append(_Case(seen, form, atoms))
        inputs.add(given)
    return cases


def _written(outcome: Outcome, known: set[float]) -> list[_Atom]:
    """Write a result down in all ways, but for large numbers that are known already."""
    places: defaultdict[Any, list[Place]] = defaultdict(list)
    for at, given in enumerate([*outcome.inputs, {"kind": "string", "value": outcome.note}]):
        for place, atom in _atoms(given, ("input", at)):
            if len(places[atom]) < MOST_PLACES:
                places[atom].append(place)
    atoms: list[_Atom] = []
    before: dict[Place, Any] = {}
    for place, atom in _counted(outcome.observation):
        if isinstance(atom, float) and not (atom.is_integer() and abs(atom) < LARGE):
            if atom in known and atom not in places:
                continue
            known.add(atom)
        ways: set[Way] = {("constant", atom)}
        ways |= {_in_the_inputs(place, other) for other in places[atom]}
        if before.get(anywhere := _anywhere(place)) == atom:
            ways.add(("as before",))
        before[anywhere] = atom
        atoms.append(_Atom(place, frozenset(ways)))
    return atoms


def _in_the_inputs(place: Place, other: Place) -> Way:
    """Say where in the inputs an atom stands: below which of their places, and in which order."""
    same = 0
    while same < min(len(place), len(other)) and place[-same - 1] == other[-same - 1]:
        same += 1
    return "input", place[: len(place) - same], other[: len(other) - same]


def _atoms(observed: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Yield the numbers and words that plain JSON holds, each with its place.

    A number is the same atom whatever its type, and in a text too.
    """
    if isinstance(observed, dict):
        kind = observed.get("kind", "")
        if kind:
            yield (*place, "kind"), kind if kind in ("raised", "none") else "something"
        for key in sorted(observed.keys() - NEVER_COUNTED):
            yield from _atoms(observed[key], (*place, f"{kind}.{key}"))
    elif isinstance(observed, (list, tuple)):
        for at, each in enumerate(observed):
            yield from _atoms(each, (*place, at))
    elif isinstance(observed, str):
        for at, word in enumerate(re.findall(r"\w+", observed)):
            yield (*place, "word", at), float(word) if word.isdecimal() else word
    elif isinstance(observed, (int, float)) and not isinstance(observed, bool):
        yield place, float(f"{observed:.4g}")
    else:
        yield place, str(observed)  # in Python, True is 1


def _counted(observation: Observation) -> Iterator[tuple[Place, Any]]:
    """Yield the atoms that count as results: no keys, and none of a structure."""
    for place, atom in _atoms(observation):
        is_key = place[-5:-4] == ("node.children",) and place[-3:-1] == (0, "word")
        if not is_key:
            yield place, atom


def _form(outcome: Outcome) -> str:
    """Return the inputs without numbers, and with each word as its number among all words."""
    words: dict[str, str] = {}

    def number_of(word: re.Match[str]) -> str:
        return words.setdefault(word[0], f"w{len(words)}")

    def blank(observed: Any, key: str = "") -> Any:
        if isinstance(observed, dict):
            return {entry: blank(each, entry) for entry, each in observed.items()}
        if isinstance(observed, list):
            return [blank(each, key) for each in observed]
        if isinstance(observed, str) and key in ("children", "value", "text"):
            return _WORD.sub(number_of, re.sub(r"\d+", "0", observed))
        if isinstance(observed, (int, float)) and not isinstance(observed, bool) and key != "shape":
            return 0
        return observed

    return json.dumps([blank(each) for each in outcome.inputs])
