"""Reason by error: what raised, at the learner's line, and what that means in JAX."""

import re
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from pytree_course.checking.comparison import skeleton
from pytree_course.checking.reasons.evidence import Evidence, in_cases
from pytree_course.checking.reasons.spectrum import only_here
from pytree_course.texts import shorten

LONGEST_LINE = 60
_OWN_ERROR = re.compile(r"\s*(raise|assert)\b")


def error_reason(cases: Sequence[Evidence]) -> str:
    """Return a sentence on the error that most failing cases share, or an empty text."""
    group = _largest_group(cases)
    if not group:
        return ""
    said, end = _said(group), only_here(group, cases)
    return said + (end.removeprefix(".") if said.endswith("?") else end)


def _largest_group(cases: Sequence[Evidence]) -> list[Evidence]:
    groups = defaultdict(list)
    for case in cases:
        if case.failed and case.raised:
            number = case.line.number if case.line else None
            key = (case.got["type"], skeleton(case.got["message"]), number, case.should_raise)
            groups[key].append(case)
    return max(groups.values(), key=len, default=[])


def _said(group: Sequence[Evidence]) -> str:
    first = group[0]
    raised = first.got["type"]
    if first.should_raise:
        if first.expected["type"] in first.got["bases"]:
            return (
                f"Your code raises the right type of error {in_cases(group)}, but not with the "
                "message that the task asks for: look at what the message has to mention, and "
                "exactly how"
            )
        where = f"{_place(first)} raises {raised}" if first.line else f"Your code raises {raised}"
        own = "" if _is_own(first) else _meaning(group)
        return f"{where} {in_cases(group)} in which the task asks for another type of error{own}"
    if _is_own(first):
        return f"{_place(first)} runs {in_cases(group)} in which the task asks for a result"
    where = f"{_place(first)} raises" if first.line else "A use of your result raises"
    return f"{where} {raised} {in_cases(group)}{_meaning(group)}"


def _place(case: Evidence) -> str:
    assert case.line is not None
    text = shorten(case.line.text.strip().replace("`", "'"), LONGEST_LINE)
    return f"Line {case.line.number}, `{text}`,"


def _is_own(case: Evidence) -> bool:
    return case.line is not None and _OWN_ERROR.match(case.line.text) is not None


def _meaning(group: Sequence[Evidence]) -> str:
    """Return what an error means, as the end of a sentence."""
    raised, message = group[0].got["type"], group[0].got["message"]
    for types, pattern, meaning in _meanings():
        if re.search(types, raised) and (match := re.search(pattern, message, re.DOTALL)):
            named = {name: _plain_name(text) for name, text in match.groupdict("").items()}
            text = meaning.format(**named).removesuffix(": ")
            return ": " + re.sub(r"\ba (?=[aeioAEIO])", "an ", text)
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
