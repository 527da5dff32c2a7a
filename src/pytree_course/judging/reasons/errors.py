"""Findings on errors: what raised, at the learner's line, and what that means in JAX."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.evidence import Evidence, finding
from pytree_course.observing.observations import Raised
from pytree_course.texts import shorten

LONGEST_LINE = 60


def error_findings(cases: Sequence[Evidence]) -> list[Finding]:
    """Return a finding on the error that most failing cases raise, if one can be named."""
    failing = [case for case in cases if case.failed]
    groups = defaultdict(list)
    for case in failing:
        if isinstance(case.got, Raised):
            line = None if case.should_raise else case.line
            groups[case.got.type, line, case.should_raise].append((case, case.got))
    (raised, line, should_raise), raising = max(groups.items(), key=lambda item: len(item[1]))
    group = [case for case, _ in raising]
    if 2 * len(group) <= len(failing):
        return []
    if should_raise:
        pairs = [(each.expected, got) for each, got in raising if isinstance(each.expected, Raised)]
        types = {expected.type for expected, _ in pairs}
        if all(expected.type in got.bases for expected, got in pairs):
            return [finding("message", "error", group, raised=raised)]
        named = {"raised": raised, "expected": types.pop()}
        return [] if types else [finding("other error", "error", group, **named)]
    where = {} if line is None else {"number": str(line.number), "line": _shown(line.text)}
    text = line.text if line else ""
    meanings = {_meaning(raised, got.message, text) for _, got in raising}
    if len(meanings) > 1 or "" in meanings:
        return []
    return [finding("error", "line", group, raised=raised, meaning=meanings.pop(), **where)]


def _shown(line: str) -> str:
    return shorten(line.strip().replace("`", "'"), LONGEST_LINE)


def _meaning(raised: str, message: str, line: str) -> str:
    """Return what an error means, or an empty text where one of several meanings may be true."""
    for types, pattern, on_line, meaning in _meanings():
        found = re.search(pattern, message, re.DOTALL) if re.fullmatch(types, raised) else None
        if found and re.search(on_line, line):
            named = {name: _plain_name(text) for name, text in found.groupdict("").items()}
            return re.sub(r"\ba (?=[aeioAEIO])", "an ", meaning.format(**named))
    return ""


@cache
def _meanings() -> list[list[str]]:
    rows: list[list[str]] = tomllib.loads(
        (Path(__file__).parent / "meanings.toml").read_text("utf-8")
    )["rows"]
    return rows


def _plain_name(text: str) -> str:
    """Write a type's name as the course does."""
    name = text.rsplit(".", 1)[-1].replace("`", "'")
    if name.endswith("Tracer"):
        return "tracer"
    return {"ArrayImpl": "JAX array", "ndarray": "NumPy array"}.get(name, shorten(name, 40))
