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

MAX_SENTENCES = 2
"""Sentences of a check's author on one answer: more are not read."""
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
    def raised(self) -> bool:
        """Whether the call raised."""
        return isinstance(self.got, Raised)

    @property
    def should_raise(self) -> bool:
        """Whether the call should raise."""
        return isinstance(self.expected, Raised)


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
    if 2 * sum(case.raised for case in failing) > len(failing):
        return [*_error_findings(failing)]
    return [*_result_findings(failing)]


def _sentences_of_the_check(failing: Sequence[FailingCase]) -> list[Finding]:
    """Return the sentences of the check's author on wrong entries of the check's own summary.

    The one that speaks of most cases comes first; another one follows where it adds cases.
    """
    numbers: dict[str, list[int]] = defaultdict(list)  # of the cases, by sentence
    for case in failing:
        if case.summary and not case.raised and not case.should_raise:
            true = set(_true_sentences(case.expected, case.got, case.summary))
            for sentence in dict.fromkeys(case.summary.values()):  # of equals, the author's first
                if sentence in true:
                    numbers[sentence].append(case.number)
    chosen: list[Finding] = []
    explained: set[int] = set()
    for sentence, holds in sorted(numbers.items(), key=lambda item: -len(item[1])):
        if len(chosen) < MAX_SENTENCES and not explained.issuperset(holds):
            chosen.append(Finding("summary", holds, {"sentence": sentence}))
            explained.update(holds)
    return chosen


def _true_sentences(
    expected: Observation, got: Observation, summary: dict[str, str]
) -> Iterator[str]:
    """Yield the sentence on each wrong entry: the narrowest that the author wrote."""
    for path, right, wrong in _wrong_leaves(expected, got):
        keys = [key.strip("[]'\".") for key in path]
        names = [key for key in reversed(keys) if not key.isdigit()]
        ways = [*_ways(right, wrong), ""]
        entries = [f"{name} {way}".strip() for name in (*names, "") for way in ways]
        yield from [summary[entry] for entry in entries if entry in summary][:1]


def _wrong_leaves(
    expected: Observation, got: Observation, path: obs.Path = ()
) -> Iterator[tuple[obs.Path, Observation, Observation]]:
    """Walk two observations together, down to leaves and to where they are of different kinds."""
    if (
        isinstance(expected, obs.Node)
        and isinstance(got, obs.Node)
        and _have_the_same_keys(expected, got)
    ):
        for (key, right), (_, wrong) in zip(expected.children, got.children, strict=True):
            yield from _wrong_leaves(right, wrong, (*path, key))
    elif compare(expected, got):
        yield path, expected, got


def _have_the_same_keys(expected: obs.Node, got: obs.Node) -> bool:
    keys, got_keys = ([key for key, _ in node.children] for node in (expected, got))
    return expected.type == got.type and keys == got_keys


def _ways(expected: Observation, got: Observation) -> Iterator[str]:
    """Yield the ways in which an entry is wrong, the narrowest first."""
    match expected, got:
        case obs.String(), obs.String(value=wrong):
            yield wrong
        case obs.Number(value=right), obs.Number(value=wrong):
            yield str(wrong)
            if isinstance(right, int | float) and isinstance(wrong, int | float) and wrong != right:
                yield "too high" if wrong > right else "too low"


def _result_findings(failing: Sequence[FailingCase]) -> Iterator[Finding]:
    """Yield a finding where an error is missing in most cases, or every result is `None`."""
    silent = [case for case in failing if case.should_raise and not case.raised]
    if 2 * len(silent) > len(failing):
        expected = {case.expected.type for case in silent if isinstance(case.expected, Raised)}
        if len(expected) == 1:
            is_none = all(isinstance(case.got, obs.NoneValue) for case in silent)
            instead = "`None`" if is_none else "a result"
            yield _finding("no error", silent, expected=expected.pop(), instead=instead)
        return
    # Of a check's summary only its author speaks.
    wrong = [
        case
        for case in failing
        if case.summary is None and not case.raised and not case.should_raise
    ]
    is_none = all(isinstance(case.got, obs.NoneValue) for case in wrong)
    if is_none and wrong and 2 * len(wrong) >= len(failing):
        yield _finding("none", wrong)


def _error_findings(failing: Sequence[FailingCase]) -> Iterator[Finding]:
    """Yield a finding on the error that most failing cases raise, if one can be named."""
    groups = defaultdict(list)
    for case in failing:
        if isinstance(case.got, Raised):
            line = None if case.should_raise else case.outcome.line
            groups[case.got.type, line, case.should_raise].append((case, case.got))
    (raised, line, should_raise), raising = max(groups.items(), key=lambda item: len(item[1]))
    group = [case for case, _ in raising]
    if 2 * len(group) <= len(failing):
        return
    if should_raise:
        pairs = [(case.expected, got) for case, got in raising if isinstance(case.expected, Raised)]
        expected = {right.type for right, _ in pairs}
        if all(right.type in got.bases for right, got in pairs):
            yield _finding("message", group, raised=raised)
        elif len(expected) == 1:
            yield _finding("other error", group, raised=raised, expected=expected.pop())
        return
    text = line.text if line else ""
    shown = shorten(text.strip().replace("`", "'"), MAX_LINE)
    at = {} if line is None else {"number": str(line.number), "line": shown}
    meanings = {_meaning(raised, got.message, text) for _, got in raising}
    if len(meanings) == 1 and "" not in meanings:
        yield _finding("error", group, raised=raised, meaning=meanings.pop(), **at)


def _finding(kind: str, failing: Sequence[FailingCase], **data: str) -> Finding:
    return Finding(kind, [case.number for case in failing], data)


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
    return {"ArrayImpl": "JAX array", "ndarray": "NumPy array"}.get(name, shorten(name, MAX_TYPE))
