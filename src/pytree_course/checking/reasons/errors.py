"""Reason by error: what raised, at the learner's line, and what that means in JAX."""

import re
from collections import defaultdict
from collections.abc import Sequence

from pytree_course.checking.comparison import skeleton
from pytree_course.checking.reasons.evidence import Evidence, in_cases
from pytree_course.checking.reasons.meanings import MEANINGS
from pytree_course.drawing.labels import shorten

LONGEST_LINE = 60
_OWN_ERROR = re.compile(r"\s*(raise|assert)\b")


def error_reason(cases: Sequence[Evidence]) -> str:
    """Return a sentence on the error that most failing cases share, or an empty text."""
    groups = defaultdict(list)
    for case in cases:
        if case.failed and case.raised:
            number = case.line.number if case.line else None
            key = (case.got["type"], skeleton(case.got["message"]), number, case.should_raise)
            groups[key].append(case)
    if not groups:
        return ""
    group = max(groups.values(), key=len)
    first = group[0]
    raised = first.got["type"]
    if first.should_raise:
        if first.expected["type"] in first.got["bases"]:
            return (
                f"The right type of error is raised {in_cases(group)}, but its message is not what "
                "the task asks for: look at what it has to mention, and exactly how."
            )
        where = f"{_place(first)} raises {raised}" if first.line else f"{raised} is raised"
        own = "" if _is_own(first) else _meaning(group)
        return f"{where} {in_cases(group)} in which an error of another type is asked for{own}."
    if _is_own(first):
        return f"{_place(first)} is reached {in_cases(group)} in which a result is asked for."
    where = f"{_place(first)} raises" if first.line else "What you wrote raises"
    return f"{where} {raised} {in_cases(group)}{_meaning(group)}."


def _place(case: Evidence) -> str:
    assert case.line is not None
    text = shorten(case.line.text.strip().replace("`", "'"), LONGEST_LINE)
    return f"Line {case.line.number}, `{text}`,"


def _is_own(case: Evidence) -> bool:
    return case.line is not None and _OWN_ERROR.match(case.line.text) is not None


def _meaning(group: Sequence[Evidence]) -> str:
    """Return what an error means, as the end of a sentence."""
    raised, message = group[0].got["type"], group[0].got["message"]
    for types, pattern, meaning in MEANINGS:
        if re.search(types, raised) and (match := re.search(pattern, message, re.DOTALL)):
            named = {name: shorten(text, 40) for name, text in match.groupdict("").items()}
            return f": {meaning.format(**named)}"
    return ""
