"""Findings on a wrong answer that no misconception explains as a whole.

The near misconception speaks first, then the check's own sentences, then the meaning of an error.
Where none of these is sure, nothing is said.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pytree_course.judging import matching
from pytree_course.judging.expected import ExpectedExercise, Misconception
from pytree_course.judging.verdicts import Finding
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Observation, Raised
from pytree_course.running.outcomes import Outcome
from pytree_course.texts import shorten

MAX_SENTENCES = 2  # of a check's author on one answer: more are not read
MAX_LINE = 60  # characters of a learner's line
MAX_TYPE = 40


@dataclass(frozen=True)
class FailingCase:
    """A failing case: its number, the expected result, and what the learner's code did."""

    number: int
    summary: dict[str, str] | None  # what wrong entries mean; None where the result is the answer's
    expected: Observation
    outcome: Outcome

    @property
    def got(self) -> Observation:
        """The learner's result."""
        return self.outcome.observation

    @property
    def error(self) -> Raised | None:
        """The error that the call raised."""
        return self.got if isinstance(self.got, Raised) else None

    @property
    def expected_error(self) -> Raised | None:
        """The error that the call should raise."""
        return self.expected if isinstance(self.expected, Raised) else None


def find(
    expected: ExpectedExercise,
    outcomes: Sequence[Outcome],
    consistent: Sequence[Misconception],
    failed: Set[int],
) -> list[Finding]:
    """Return the findings on an answer that fails in some cases: mostly one, or none."""
    summaries = dict(enumerate(expected.summaries))
    failing = [
        FailingCase(number, summaries.get(number), expected.observations[number], outcomes[number])
        for number in sorted(failed)
    ]
    if any(isinstance(case.got, obs.NotAttempted) for case in failing):
        return []
    if near := matching.nearest(consistent, failed):
        data = {"misconception": near.name, "explanation": near.explanation}
        return [Finding("near", [*near.observations], data)]
    if sentences := _sentences_of_the_check(failing):
        return sentences
    raising = [case for case in failing if case.error]
    explain = _error_finding if _are_most(raising, failing) else _result_finding
    finding = explain(failing)
    return [finding] if finding else []


def _are_most(cases: Sequence[FailingCase], failing: Sequence[FailingCase]) -> bool:
    return 2 * len(cases) > len(failing)


def _sentences_of_the_check(failing: Sequence[FailingCase]) -> list[Finding]:
    """Return the sentences of the check's author on wrong entries of the check's own summary.

    The one that speaks of most cases comes first; another one follows where it adds cases.
    """
    cases_by_sentence: dict[str, list[int]] = defaultdict(list)
    for case in failing:
        if case.summary and not case.error and not case.expected_error:
            true = set(_true_sentences(case.expected, case.got, case.summary))
            for sentence in dict.fromkeys(case.summary.values()):  # of equals, the author's first
                if sentence in true:
                    cases_by_sentence[sentence].append(case.number)
    chosen: list[Finding] = []
    explained: set[int] = set()
    for sentence, cases in sorted(cases_by_sentence.items(), key=lambda item: -len(item[1])):
        if len(chosen) < MAX_SENTENCES and not explained.issuperset(cases):
            chosen.append(Finding("summary", cases, {"sentence": sentence}))
            explained.update(cases)
    return chosen


def _true_sentences(
    expected: Observation, got: Observation, summary: dict[str, str]
) -> Iterator[str]:
    """Yield the sentence on each wrong entry: the narrowest that the author wrote."""
    for path, right, wrong in _wrong_leaves(expected, got):
        keys = [key.strip("[]'\".") for key in path]
        names = [key for key in reversed(keys) if not key.isdigit()]
        mistakes = [*_mistakes(right, wrong), ""]
        entries = [f"{name} {mistake}".strip() for name in (*names, "") for mistake in mistakes]
        sentences = [summary[entry] for entry in entries if entry in summary]
        if sentences:
            yield sentences[0]


def _wrong_leaves(
    expected: Observation, got: Observation, path: obs.Path = ()
) -> Iterator[tuple[obs.Path, Observation, Observation]]:
    """Walk two observations together, down to leaves and to where they are of different kinds."""
    match expected, got:
        case obs.Node(), obs.Node() if (expected.type, expected.keys) == (got.type, got.keys):
            for (key, right), (_, wrong) in zip(expected.children, got.children, strict=True):
                yield from _wrong_leaves(right, wrong, (*path, key))
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


def _result_finding(failing: Sequence[FailingCase]) -> Finding | None:
    """Return a finding where an error is missing in most cases, or every result is `None`."""
    silent = [case for case in failing if case.expected_error and not case.error]
    if _are_most(silent, failing):
        types = {case.expected_error.type for case in silent if case.expected_error}
        if len(types) > 1:
            return None
        instead = "`None`" if _are_none(silent) else "a result"
        return _finding("no error", silent, expected=types.pop(), instead=instead)
    # Of a check's summary only its author speaks.
    wrong = [
        case
        for case in failing
        if case.summary is None and not case.error and not case.expected_error
    ]
    if wrong and _are_none(wrong) and 2 * len(wrong) >= len(failing):
        return _finding("none", wrong)
    return None


def _are_none(cases: Sequence[FailingCase]) -> bool:
    return all(isinstance(case.got, obs.NoneValue) for case in cases)


def _error_finding(failing: Sequence[FailingCase]) -> Finding | None:
    """Return a finding on the error that most failing cases raise, if one can be named."""
    groups = defaultdict(list)
    for case in failing:
        if case.error:
            line = None if case.expected_error else case.outcome.line
            groups[case.error.type, line, bool(case.expected_error)].append(case)
    (raised, line, should_raise), group = max(groups.items(), key=lambda item: len(item[1]))
    if not _are_most(group, failing):
        return None
    if should_raise:
        return _wrong_error_finding(raised, group)
    text = line.text if line else ""
    meanings = {_meaning(case.error, text) for case in group if case.error}
    if len(meanings) > 1 or "" in meanings:
        return None
    data = {"raised": raised, "meaning": meanings.pop()}
    if line:
        code = shorten(text.strip().replace("`", "'"), MAX_LINE)
        data |= {"number": str(line.number), "line": code}
    return _finding("error", group, **data)


def _wrong_error_finding(raised: str, group: Sequence[FailingCase]) -> Finding | None:
    """Return a finding on an error that is not the one that the task asks for."""
    pairs = [(case.expected_error, case.error) for case in group]
    if all(right and got and right.type in got.bases for right, got in pairs):
        return _finding("message", group, raised=raised)
    types = {right.type for right, _ in pairs if right}
    if len(types) > 1:
        return None
    return _finding("other error", group, raised=raised, expected=types.pop())


def _finding(kind: str, failing: Sequence[FailingCase], **data: str) -> Finding:
    return Finding(kind, [case.number for case in failing], data)


def _meaning(error: Raised, line: str) -> str:
    """Return the meaning of an error, or "" where one of several meanings may be true."""
    for types, pattern, on_line, meaning in _meanings():
        if not re.fullmatch(types, error.type):
            continue
        match = re.search(pattern, error.message, re.DOTALL)
        if match and re.search(on_line, line):
            names = {name: _plain_name(text) for name, text in match.groupdict("").items()}
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
    return {"ArrayImpl": "JAX array", "ndarray": "NumPy array"}.get(name, shorten(name, MAX_TYPE))
