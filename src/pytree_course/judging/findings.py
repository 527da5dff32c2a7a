"""Findings on a wrong answer that no misconception explains as a whole.

The check's own sentences come first, then the meaning of an error, or that one is missing. If none
of these is certain, nothing is said.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.verdicts import Finding
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Observation, Raised
from pytree_course.running.outcomes import Outcome
from pytree_course.texts import shorten, with_article

MAX_SENTENCES = 2  # of a check's author on one answer: learners do not read more
MAX_LINE = 60  # characters of a learner's line
MAX_TYPE = 40


Failing = Mapping[int, tuple[Observation, Observation]]
"""The failing cases: the expected result and the learner's, by the case's number."""


def find(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: Sequence[int]
) -> list[Finding]:
    """Return the findings on an answer that fails in some cases: mostly one, or none."""
    failing = {case: (expected.observations[case], outcomes[case].observation) for case in failed}
    if any(isinstance(got, obs.NotAttempted) for _, got in failing.values()):
        return []
    if findings := _sentences_of_the_check(failing, expected):
        return findings
    finding = _unexpected_error(failing, outcomes) or _missing_error(failing)
    return [finding] if finding else []


def _are_most(cases: Sequence[object], failing: Failing) -> bool:
    return 2 * len(cases) > len(failing)


def _sentences_of_the_check(failing: Failing, expected: ExpectedExercise) -> list[Finding]:
    """Return the author's sentences that apply to results which the check composed.

    The sentence that applies to most cases comes first; another one follows if it adds cases.
    """
    summaries = dict(enumerate(expected.summaries))  # none of fresh cases
    cases_by_sentence: dict[str, list[int]] = defaultdict(list)
    for case, (right, got) in failing.items():
        sentences = summaries.get(case)
        if sentences and not isinstance(right, Raised) and not isinstance(got, Raised):
            applicable = set(_applicable_sentences(right, got, sentences))
            for sentence in dict.fromkeys(sentences.values()):  # in the author's order
                if sentence in applicable:
                    cases_by_sentence[sentence].append(case)
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


def _unexpected_error(failing: Failing, outcomes: Sequence[Outcome]) -> Finding | None:
    """Return a finding on an error that one line raises in most failing cases."""
    groups = defaultdict(list)
    for case, (expected, got) in failing.items():
        if isinstance(got, Raised) and not isinstance(expected, Raised):
            groups[got.type, outcomes[case].line].append((case, got))
    for (error_type, line), group in groups.items():
        code = line.text if line else ""
        meanings = {_meaning(error, code) for _, error in group}
        if _are_most(group, failing) and len(meanings) == 1 and "" not in meanings:
            data = {"raised": error_type, "meaning": meanings.pop()}
            if line:
                data["number"] = str(line.number)
                data["line"] = shorten(code.strip().replace("`", "'"), MAX_LINE)
            return Finding("error", [case for case, _ in group], data)
    return None


def _missing_error(failing: Failing) -> Finding | None:
    """Return a finding if most failing cases return a result instead of raising an error."""
    cases, expected_types, results = [], set(), []
    for case, (expected, got) in failing.items():
        if isinstance(expected, Raised) and not isinstance(got, Raised):
            cases.append(case)
            expected_types.add(expected.type)
            results.append(got)
    if not _are_most(cases, failing) or len(expected_types) > 1:
        return None
    are_none = all(isinstance(got, obs.NoneValue) for got in results)
    data = {"expected": expected_types.pop(), "instead": "`None`" if are_none else "a result"}
    return Finding("no error", cases, data)


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
