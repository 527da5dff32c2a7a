"""General findings on a wrong answer that no misconception explains.

A rule speaks where what it says holds in every case that fails and in none that passes. Here are
the rules on a check's summary, on errors and on the inputs; those on results are in
`result_findings` and `leaf_findings`.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from functools import cache
from pathlib import Path

from pytree_course.judging.expected import ExpectedExercise
from pytree_course.judging.leaf_findings import leaf_pairs
from pytree_course.judging.result_findings import result_findings
from pytree_course.judging.verdicts import Evidence, Finding, finding
from pytree_course.observing.observations import Number, Observation, Raised, String
from pytree_course.observing.words import NOTE
from pytree_course.running.outcomes import Outcome
from pytree_course.texts import shorten

MOST = 2
"""Findings on one answer: more are not read."""
LONGEST_LINE = 60  # characters of a learner's line
LONGEST_TYPE = 40
FEWEST_PAIRS = 3  # pairs of cases that differ in a feature alone, so that it is blamed
FEWEST_FAILING = 2  # cases that share it

COMPANIONS = {"one child only", "a bare leaf instead of a container", "a tuple", "a list"}
"""Features that come with others: they are never blamed, and a pair of cases may differ in them."""


def general_findings(
    expected: ExpectedExercise, outcomes: Sequence[Outcome], failed: Container[int]
) -> list[Finding]:
    """Return the findings on an answer that fails in some cases: mostly one, or none."""
    cases = [
        Evidence(
            number=number,
            features=frozenset(expected.features[number] if expected.features else ()),
            summary=expected.summaries[number] if expected.summaries else None,
            inputs=outcome.inputs,
            expected=expected.observations[number],
            got=outcome.observation,
            failed=number in failed,
            line=outcome.line,
        )
        for number, outcome in enumerate(outcomes)
    ]
    findings = _summary_findings(cases)
    if not findings:
        failing = [case for case in cases if case.failed]
        errors = sum(case.raised for case in failing)
        rules = _error_findings if 2 * errors > len(failing) else result_findings
        findings = list(rules(cases))[:1]
    return [*findings, *_shared_feature(cases)][:MOST]


def _summary_findings(cases: Sequence[Evidence]) -> list[Finding]:
    """Return the sentences of the check's author on wrong entries of the check's own summary.

    The one that speaks of most cases comes first; another one follows where it adds cases.
    """
    numbers: dict[str, list[int]] = defaultdict(list)  # of the cases, by sentence
    for case in cases:
        if case.failed and case.summary and not case.raised and not case.should_raise:
            true = set(_sentences(case, case.summary))
            for sentence in dict.fromkeys(case.summary.values()):  # of equals, the author's first
                if sentence in true:
                    numbers[sentence].append(case.number)
    chosen: list[Finding] = []
    explained: set[int] = set()
    for sentence, holds in sorted(numbers.items(), key=lambda item: -len(item[1])):
        if len(chosen) < MOST and not explained.issuperset(holds):
            chosen.append(Finding("summary", holds, {"sentence": sentence}))
            explained.update(holds)
    return chosen


def _sentences(case: Evidence, summary: dict[str, str]) -> Iterator[str]:
    """Yield the sentence on each wrong entry: the narrowest that the author wrote."""
    for pair in leaf_pairs(case.expected, case.got):
        if pair.differs:
            keys = [key.strip("[]'\".") for key in pair.path]
            names = [key for key in reversed(keys) if not key.isdigit()]
            ways = [*_ways(pair.expected, pair.got), ""]
            entries = [f"{name} {way}".strip() for name in (*names, "") for way in ways]
            yield from [summary[entry] for entry in entries if entry in summary][:1]


def _ways(expected: Observation, got: Observation) -> Iterator[str]:
    """Yield the ways in which an entry is wrong, the narrowest first."""
    match expected, got:
        case String(), String(value=wrong):
            yield wrong
        case Number(value=right), Number(value=wrong):
            yield str(wrong)
            if isinstance(right, int | float) and isinstance(wrong, int | float) and wrong != right:
                yield "too high" if wrong > right else "too low"


def _error_findings(cases: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield a finding on the error that most failing cases raise, if one can be named."""
    groups = defaultdict(list)
    for case in cases:
        if case.failed and isinstance(case.got, Raised):
            line = None if case.should_raise else case.line
            groups[case.got.type, line, case.should_raise].append((case, case.got))
    (raised, line, should_raise), raising = max(groups.items(), key=lambda item: len(item[1]))
    group = [case for case, _ in raising]
    if 2 * len(group) <= sum(case.failed for case in cases):
        return
    if should_raise:
        pairs = [(case.expected, got) for case, got in raising if isinstance(case.expected, Raised)]
        expected = {right.type for right, _ in pairs}
        if all(right.type in got.bases for right, got in pairs):
            yield finding("message", group, raised=raised)
        elif len(expected) == 1:
            yield finding("other error", group, raised=raised, expected=expected.pop())
        return
    text = line.text if line else ""
    shown = shorten(text.strip().replace("`", "'"), LONGEST_LINE)
    at = {} if line is None else {"number": str(line.number), "line": shown}
    meanings = {_meaning(raised, got.message, text) for _, got in raising}
    if len(meanings) == 1 and "" not in meanings:
        yield finding("error", group, raised=raised, meaning=meanings.pop(), **at)


def _meaning(raised: str, message: str, line: str) -> str:
    """Return the meaning of an error, or "" where one of several meanings may be true."""
    for types, pattern, on_line, meaning in _meanings():
        matched = re.search(pattern, message, re.DOTALL) if re.fullmatch(types, raised) else None
        if matched and re.search(on_line, line):
            names = {name: _plain_name(text) for name, text in matched.groupdict("").items()}
            return re.sub(r"\ba (?=[aeioAEIO])", "an ", meaning.format(**names))
    return ""


@cache
def _meanings() -> list[list[str]]:
    text = (Path(__file__).parent / "meanings.toml").read_text("utf-8")
    rows: list[list[str]] = tomllib.loads(text)["rows"]
    return rows


def _plain_name(text: str) -> str:
    """Write a type's name as the course does."""
    name = text.rsplit(".", 1)[-1].replace("`", "'")
    if name.endswith("Tracer"):
        return "tracer"
    return {"ArrayImpl": "JAX array", "ndarray": "NumPy array"}.get(
        name, shorten(name, LONGEST_TYPE)
    )


def _shared_feature(cases: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield a finding on the one feature that every failing case has and no passing case.

    Pairs of cases that differ only in that feature have to confirm it.
    """
    failing = [case for case in cases if case.failed]
    passing = [case.features for case in cases if not case.failed]
    shared = frozenset.intersection(*(case.features for case in failing)).difference(*passing)
    shared -= COMPANIONS
    # A note says what the check does: it is the same for all cases of a kind.
    is_note = any(feature.startswith(NOTE) for feature in shared)
    if len(failing) >= FEWEST_FAILING and len(shared) == 1 and not is_note:
        pairs = sum(
            case.features - shared - COMPANIONS == features - COMPANIONS
            for case in failing
            for features in passing
        )
        if pairs >= FEWEST_PAIRS:
            yield finding("shared", failing, feature=next(iter(shared)))
