"""Findings on the items and leaves of results: too many, missing, or in other places."""

from collections.abc import Iterator, Sequence
from typing import TypeGuard

from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.evidence import Evidence, finding
from pytree_course.judging.reasons.places import children_of, places
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import Array, Node, NoneValue, Number, Observation, String


def series_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield what is wrong in the same way with the items or leaves of all wrong results."""
    items = [
        (children_of(case.expected), children_of(case.got))
        for case in wrong
        if _is_series(case.expected) and _is_series(case.got)
    ]
    if len(items) == len(wrong):
        lost = [_left_over(right, got) for right, got in items]
        more = [_left_over(got, right) for right, got in items]
        passing = [case.expected for case in cases if not case.failed]
        kept = {
            _plural(item)
            for each in passing
            if isinstance(each, Node)
            for item in children_of(each)
        }
        if all(lost) and not any(more) and (what := _what(lost)) and what not in kept:
            yield finding("lacks", "result", wrong, what=what)
        if all(more) and not any(lost) and (what := _what(more)):
            yield finding("has more", "result", wrong, what=what)
    if _are_moved(wrong):
        yield finding("leaves moved", "result", wrong)


def _is_series(observation: Observation) -> TypeGuard[Node]:
    return isinstance(observation, Node) and observation.type in ("list", "tuple")


def _are_moved(wrong: Sequence[Evidence]) -> bool:
    """Say whether all results have the right structure and leaves, but in other places."""
    for case in wrong:
        known = list(places(case.expected, case.got))
        right, got = [place.expected for place in known], [place.got for place in known]
        if len(right) < 2 or any(map(_may_be_equal, (*right, *got))) or _left_over(right, got):
            return False
    return True


def _may_be_equal(part: Observation) -> bool:
    """Say whether a part is no leaf, or one that is equal to another by chance."""
    is_bool = isinstance(part, Number) and part.type == "bool"
    return is_bool or isinstance(part, Node | NoneValue)


def _what(series: Sequence[Sequence[Observation]]) -> str:
    """Say what items are, where all are of one kind."""
    kinds = {_plural(item) for items in series for item in items}
    return kinds.pop() if len(kinds) == 1 else ""


def _plural(item: Observation) -> str:
    match item:
        case NoneValue():
            return "`None`s"
        case Array():
            size = "arrays" if item.values else "arrays without elements"
            return size if item.shape else "0-d arrays"
        case String():
            return "texts"
        case Number():
            return f"numbers of type {item.type}"
        case Node():
            return f"nodes of type {item.type}" if item.children else "empty containers"
    return ""


def _left_over(some: Sequence[Observation], others: Sequence[Observation]) -> list[Observation]:
    """Return what is in one series and not in the other, each item counted."""
    left = list(others)
    over = []
    for item in some:
        place = next((at for at, other in enumerate(left) if not compare(other, item)), None)
        if place is None:
            over.append(item)
        else:
            del left[place]
    return over
