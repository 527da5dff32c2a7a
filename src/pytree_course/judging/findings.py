"""Findings on a wrong answer that no misconception explains as a whole.

The check's own sentences come first, then the meaning of an error, or that one is missing. If none
of these is certain, nothing is said.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.verdicts import Finding
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Observation, Raised
from pytree_course.running.outcomes import Line, Outcome
from pytree_course.texts import shorten, with_article

MAX_SENTENCES = 2  # of a check's author on one answer: learners do not read more
MAX_LINE = 60  # characters of a learner's line
MAX_TYPE = 40


@dataclass(frozen=True)
class FailingCase:
    """A failing case: its number, the expected result, and the learner's result."""

    number: int
    sentences: dict[str, str] | None
    """The sentences of the check's author, by what is wrong with an entry of the result: "traces
    too high", "traces", "too high", or "" for the rest. None if the result is the answer's own,
    and not composed by the check."""
    expected: Observation
    got: Observation
    line: Line | None  # the learner's line that raised


def find(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: Sequence[int]
) -> list[Finding]:
    """Return the findings on an answer that fails in some cases: mostly one, or none."""
    summaries = dict(enumerate(expected.summaries))  # none of fresh cases
    failing = [
        FailingCase(
            number,
            summaries.get(number),
            expected.observations[number],
            outcomes[number].observation,
            outcomes[number].line,
        )
        for number in failed
    ]
    if any(isinstance(case.got, obs.NotAttempted) for case in failing):
        return []
    if findings := _sentences_of_the_check(failing):
        return findings
    finding = _unexpected_error(failing) or _missing_error(failing)
    return [finding] if finding else []


def _are_most(cases: Sequence[object], failing: Sequence[FailingCase]) -> bool:
    return 2 * len(cases) > len(failing)


def _sentences_of_the_check(failing: Sequence[FailingCase]) -> list[Finding]:
    """Return the author's sentences that apply to results which the check composed.

    The sentence that applies to most cases comes first; another one follows if it adds cases.
    """
    cases_by_sentence: dict[str, list[int]] = defaultdict(list)
    for case in failing:
        is_error = isinstance(case.expected, Raised) or isinstance(case.got, Raised)
        if case.sentences and not is_error:
            applicable = set(_applicable_sentences(case.expected, case.got, case.sentences))
            for sentence in dict.fromkeys(case.sentences.values()):  # in the author's order
                if sentence in applicable:
                    cases_by_sentence[sentence].append(case.number)
    chosen: list[Finding] = []
    explained: set[int] = set()
    for sentence, cases in sorted(cases_by_sentence.items(), key=lambda item: -len(item[1])):
        if len(chosen) < MAX_SENTENCES and not explained.issuperset(cases):
            chosen.append(Finding("summary", cases, {"sentence": sentence}))
            explained.update(cases)
    return chosen


def _applicable_sentences(
    expected: Observation, got: Observation, sentences: dict[str, str]
) -> Iterator[str]:
    """Yield the narrowest sentence on each wrong entry.

    For `{"traces": 3}` instead of 1, it is the first of "traces 3", "traces too high", "traces",
    "3", "too high" and "" that the author wrote.
    """
    for path, expected_entry, got_entry in _wrong_entries(expected, got):
        names = [key.strip("[]'\".") for key in reversed(path)]
        names = [name for name in names if not name.isdigit()]
        mistakes = [*_mistakes(expected_entry, got_entry), ""]
        keys = [f"{name} {mistake}".strip() for name in (*names, "") for mistake in mistakes]
        written = [sentences[key] for key in keys if key in sentences]
        if written:
            yield written[0]


def _wrong_entries(
    expected: Observation, got: Observation, path: obs.Path = ()
) -> Iterator[tuple[obs.Path, Observation, Observation]]:
    """Walk two observations together, down to leaves and to nodes of different kinds."""
    match expected, got:
        case obs.Node(), obs.Node() if (expected.type, expected.keys) == (got.type, got.keys):
            for (key, child), (_, got_child) in zip(expected.children, got.children, strict=True):
                yield from _wrong_entries(child, got_child, (*path, key))
        case _ if compare(expected, got):
            yield path, expected, got


def _mistakes(expected: Observation, got: Observation) -> Iterator[str]:
    """Yield the ways in which an entry is wrong, the narrowest first."""
    match expected, got:
        case obs.String(), obs.String(value=wrong):
            yield wrong
        case obs.Number(value=right), obs.Number(value=wrong):
            yield str(wrong)
            if isinstance(right, int | float) and isinstance(wrong, int | float) and wrong != right:
                yield "too high" if wrong > right else "too low"


def _unexpected_error(failing: Sequence[FailingCase]) -> Finding | None:
    """Return a finding on an error that one line raises in most failing cases."""
    groups = defaultdict(list)
    for case in failing:
        if isinstance(case.got, Raised) and not isinstance(case.expected, Raised):
            groups[case.got.type, case.line].append((case.number, case.got))
    for (error_type, line), group in groups.items():
        code = line.text if line else ""
        meanings = {_meaning(error, code) for _, error in group}
        if _are_most(group, failing) and len(meanings) == 1 and "" not in meanings:
            data = {"raised": error_type, "meaning": meanings.pop()}
            if line:
                data["number"] = str(line.number)
                data["line"] = shorten(code.strip().replace("`", "'"), MAX_LINE)
            return Finding("error", [number for number, _ in group], data)
    return None


def _missing_error(failing: Sequence[FailingCase]) -> Finding | None:
    """Return a finding if most failing cases return a result instead of raising an error."""
    silent = [
        (case, case.expected.type)
        for case in failing
        if isinstance(case.expected, Raised) and not isinstance(case.got, Raised)
    ]
    expected_types = {expected_type for _, expected_type in silent}
    if not _are_most(silent, failing) or len(expected_types) > 1:
        return None
    cases = [case for case, _ in silent]
    are_none = all(isinstance(case.got, obs.NoneValue) for case in cases)
    data = {"expected": expected_types.pop(), "instead": "`None`" if are_none else "a result"}
    return Finding("no error", [case.number for case in cases], data)


class Meaning(NamedTuple):
    """A row of `meanings.toml`: three patterns, and what an error that matches them means."""

    types: str
    message: str
    line: str
    text: str


def _meaning(error: Raised, line: str) -> str:
    """Return the meaning of an error, or "" if it is unknown or not certain."""
    for meaning in _meanings():
        if not re.fullmatch(meaning.types, error.type):
            continue
        match = re.search(meaning.message, error.message, re.DOTALL)
        if match and re.search(meaning.line, line):
            names = {name: _plain_name(text) for name, text in match.groupdict("").items()}
            names |= {f"a_{name}": with_article(text) for name, text in names.items()}
            return meaning.text.format(**names)
    return ""


@cache
def _meanings() -> list[Meaning]:
    text = (Path(__file__).parent / "meanings.toml").read_text("utf-8")
    return [Meaning(*row) for row in tomllib.loads(text)["rows"]]


def _plain_name(text: str) -> str:
    """Write a type's name as the course does."""
    name = text.rsplit(".", 1)[-1].replace("`", "'")
    if name.endswith("Tracer"):
        return "tracer"
    return {"ArrayImpl": "JAX array", "ndarray": "NumPy array"}.get(name, shorten(name, MAX_TYPE))
