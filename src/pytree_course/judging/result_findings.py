"""Findings on wrong results: as wholes, on their items, and on integers.

An integer that is off is explained by something that occurs just as often in the inputs.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from pytree_course.judging.leaf_findings import leaf_findings, leaf_pairs, which_results
from pytree_course.judging.verdicts import Evidence, Finding, finding
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare

FEWEST = 3  # cases, or wrong numbers and right ones, that it takes to speak of all
CHILDLESS = "nodes without children (`None` and empty containers)"


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
    if wrong and 2 * len(wrong) >= len(failing):
        for rule in (_whole_findings, _item_findings, _number_findings, leaf_findings):
            if findings := list(rule(own, wrong)):
                return findings
    return []


def _nothing_raised(silent: Sequence[Evidence]) -> Iterator[Finding]:
    types = {case.expected.type for case in silent if isinstance(case.expected, obs.Raised)}
    if len(types) == 1:
        instead = "a result"
        if all(isinstance(case.got, obs.NoneValue) for case in silent):
            instead = "`None`"
        elif _given_back(silent) is not None:
            instead = "its input"
        yield finding("no error", silent, expected=types.pop(), instead=instead)


def _whole_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    first = cases[0].got
    if all(isinstance(case.got, obs.NoneValue) for case in wrong):
        yield finding("none", wrong)
    elif (index := _given_back(wrong)) is not None:
        argument = {"argument": str(index)} if any(len(case.inputs) > 1 for case in wrong) else {}
        yield finding("given back", wrong, which=which_results(cases, wrong), **argument)
    elif (
        len(cases) >= FEWEST
        and not _is_bool(first)
        and not any(compare(first, case.got) for case in cases)
    ):
        yield finding("constant", wrong)


def _given_back(wrong: Sequence[Evidence]) -> int | None:
    """Return the index of the argument that every wrong result is equal to."""
    if not any(isinstance(case.got, obs.Node | obs.Array | obs.ContainerLeaf) for case in wrong):
        return None  # small numbers may be equal to an input by chance
    for index in range(min(len(case.inputs) for case in wrong)):
        if not any(compare(case.inputs[index], case.got) for case in wrong):
            return index
    return None


def _is_bool(observation: obs.Observation) -> bool:
    return isinstance(observation, obs.Number) and observation.type == "bool"


def _item_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield the mistakes that the items or leaves of all wrong results have in common."""
    pairs = [(_items(case.expected), _items(case.got)) for case in wrong]
    known = [(right, got) for right, got in pairs if right is not None and got is not None]
    if len(known) == len(pairs):
        lost = [_left_over(right, got) for right, got in known]
        more = [_left_over(got, right) for right, got in known]
        passing = [case.expected for case in cases if not case.failed]
        kept = {
            _plural(item)
            for node in passing
            if isinstance(node, obs.Node)
            for _, item in node.children
        }
        if all(lost) and not any(more) and (kind := _only_kind(lost)) and kind not in kept:
            yield finding("lacks", wrong, what=kind)
        if all(more) and not any(lost) and (kind := _only_kind(more)):
            yield finding("has more", wrong, what=kind)
    if all(_are_moved(case) for case in wrong):
        yield finding("leaves moved", wrong)


def _items(observation: obs.Observation) -> list[obs.Observation] | None:
    """Return the items of a list or tuple."""
    if isinstance(observation, obs.Node) and observation.type in ("list", "tuple"):
        return [child for _, child in observation.children]
    return None


def _are_moved(case: Evidence) -> bool:
    """Return whether a result has the right structure and leaves, but in the wrong order."""
    pairs = list(leaf_pairs(case.expected, case.got))
    right, got = [pair.expected for pair in pairs], [pair.got for pair in pairs]
    # What is no leaf, or equal to another by chance, tells nothing.
    is_known = not any(
        _is_bool(part) or isinstance(part, obs.Node | obs.NoneValue) for part in right + got
    )
    return len(right) > 1 and is_known and not _left_over(right, got)


def _only_kind(series: Sequence[Sequence[obs.Observation]]) -> str:
    """Return the kind of items in words, if all are of one kind."""
    kinds = {_plural(item) for items in series for item in items}
    return kinds.pop() if len(kinds) == 1 else ""


def _plural(item: obs.Observation) -> str:
    match item:
        case obs.NoneValue():
            return "`None`s"
        case obs.Array():
            size = "arrays" if item.values else "arrays without elements"
            return size if item.shape else "0-d arrays"
        case obs.String():
            return "texts"
        case obs.Number():
            return f"numbers of type {item.type}"
        case obs.Node():
            return f"nodes of type {item.type}" if item.children else "empty containers"
    return ""


def _left_over(
    some: Sequence[obs.Observation], others: Sequence[obs.Observation]
) -> list[obs.Observation]:
    """Return the items of one series that are not in the other, each item counted."""
    left = list(others)
    over = []
    for item in some:
        index = next((at for at, other in enumerate(left) if not compare(other, item)), None)
        if index is None:
            over.append(item)
        else:
            del left[index]
    return over


def _number_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield a finding on integers that are off by a number of things in the inputs."""
    pairs = [(obs.integer(case.expected), obs.integer(case.got)) for case in cases]
    known = [(right, got) for right, got in pairs if right is not None and got is not None]
    if len(known) < len(pairs):
        return
    offsets = [got - right for right, got in known]
    if name := _only_name(cases, [got for _, got in known]):
        yield finding("number of", wrong, what=name)
    elif min(offsets) >= 0 and (name := _only_name(cases, offsets)):
        yield finding("too high by", wrong, what=name)
    elif max(offsets) <= 0 and (name := _only_name(cases, [-offset for offset in offsets])):
        yield finding("too low by", wrong, what=name)


def _only_name(cases: Sequence[Evidence], numbers: Sequence[int]) -> str:
    """Return the name of the only things that occur this often in each case's inputs."""
    off = sum(number != 0 for number in numbers)
    if len(set(numbers) - {0}) < 2 and min(off, len(numbers) - off) < FEWEST:
        return ""  # one number would fit many counts
    counts = [_count_parts(case.inputs) for case in cases]
    fitting = [
        name
        for name in set().union(*counts)
        if all(count[name] == number for count, number in zip(counts, numbers, strict=True))
    ]
    return fitting[0] if len(fitting) == 1 else ""


def _count_parts(inputs: Sequence[obs.Observation]) -> Counter[str]:
    """Count the parts of the inputs, under names that fit "the number of"."""
    counts: Counter[str] = Counter()
    for given in inputs:
        for path, part in obs.all_parts(given):
            counts.update(_names(part))
            counts["levels below the top"] = max(counts["levels below the top"], len(path))
        if isinstance(given, obs.Node):
            counts["items at the top"] += len(given.children)
    return counts


def _names(part: obs.Observation) -> list[str]:
    match part:
        case obs.NoneValue():
            return ["`None`s", "nodes, `None` among them", CHILDLESS]
        case obs.Node():
            empty = [] if part.children else ["empty containers", CHILDLESS]
            return [
                "nodes, `None` among them",
                "containers",
                f"nodes of type {part.type}",
                *empty,
            ]
        case obs.Array():
            size = ["arrays without elements"] * (not part.values)
            axes = ["0-d arrays"] * (not part.shape)
            return ["leaves", "leaves that are arrays", *size, *axes]
        case obs.Number():
            return ["leaves", "leaves that are Python's numbers"]
        case obs.String():
            return ["leaves", "leaves that are texts"]
        case obs.ContainerLeaf():
            return ["leaves", "leaves that are containers", f"leaves of type {part.type}"]
        case _:
            return ["leaves"]
