"""Findings on results as wholes: what the answer returned, in every failing case alike."""

from collections.abc import Iterator, Sequence

from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.counts import number_findings
from pytree_course.judging.reasons.evidence import Evidence, finding
from pytree_course.judging.reasons.leaves import leaf_findings, which_results
from pytree_course.judging.reasons.series import series_findings
from pytree_course.observing.comparison import compare
from pytree_course.observing.observations import (
    Array,
    ContainerLeaf,
    Node,
    NoneValue,
    Number,
    Raised,
)

FEWEST = 3  # cases that it takes to speak of all


def result_findings(cases: Sequence[Evidence]) -> list[Finding]:
    """Return findings on wrong results, the most telling first.

    They speak of the results of the answer itself: of a check's summary only its author speaks.
    """
    failing = [case for case in cases if case.failed]
    silent = [case for case in failing if case.should_raise and not case.raised]
    if 2 * len(silent) > len(failing):
        return list(_nothing_raised(silent))
    own = [
        case for case in cases if case.summary is None and not case.raised and not case.should_raise
    ]
    wrong = [case for case in own if case.failed]
    if 2 * len(wrong) < len(failing) or not wrong:
        return []
    for rule in (_whole, series_findings, number_findings, leaf_findings):
        if found := list(rule(own, wrong)):
            return found
    return []


def _nothing_raised(silent: Sequence[Evidence]) -> Iterator[Finding]:
    types = {case.expected.type for case in silent if isinstance(case.expected, Raised)}
    if len(types) == 1:
        instead = "a result"
        if all(isinstance(case.got, NoneValue) for case in silent):
            instead = "`None`"
        elif _given_back(silent) is not None:
            instead = "its input"
        yield finding("no error", "result", silent, expected=types.pop(), instead=instead)


def _whole(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    first = cases[0].got
    if all(isinstance(case.got, NoneValue) for case in wrong):
        yield finding("none", "result", wrong)
    elif (place := _given_back(wrong)) is not None:
        data = {"argument": str(place)} if any(len(case.inputs) > 1 for case in wrong) else {}
        yield finding("given back", "result", wrong, which=which_results(cases, wrong), **data)
    elif (
        len(cases) >= FEWEST
        and not (isinstance(first, Number) and first.type == "bool")
        and not any(compare(first, case.got) for case in cases)
    ):
        yield finding("constant", "result", wrong)


def _given_back(wrong: Sequence[Evidence]) -> int | None:
    """Return the place of the argument that every wrong result is equal to."""
    if not any(isinstance(case.got, Node | Array | ContainerLeaf) for case in wrong):
        return None  # small numbers may be equal to an input by chance
    for place in range(min(len(case.inputs) for case in wrong)):
        if not any(compare(case.inputs[place], case.got) for case in wrong):
            return place
    return None
