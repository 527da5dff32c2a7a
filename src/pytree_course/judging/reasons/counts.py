"""Findings on whole numbers: what the inputs hold exactly as often as a number is off."""

from collections import Counter
from collections.abc import Iterator, Sequence

from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.evidence import Evidence, finding
from pytree_course.observing.observations import (
    Array,
    ContainerLeaf,
    Node,
    NoneValue,
    Number,
    Observation,
    String,
    all_parts,
)

CHILDLESS = "nodes without children (`None` and empty containers)"
FEWEST = 3  # wrong numbers, and right ones, where all are off by the same


def number_findings(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> Iterator[Finding]:
    """Yield a finding on whole numbers that are off by a number of things in the inputs."""
    numbers, offsets = [], []
    for case in cases:
        right, number = _int(case.expected), _int(case.got)
        if right is None or number is None:
            return
        numbers.append(number)
        offsets.append(number - right)
    if name := _only_name(cases, numbers):
        yield finding("number of", "result", wrong, what=name)
    elif min(offsets) >= 0 and (name := _only_name(cases, offsets)):
        yield finding("too high by", "result", wrong, what=name)
    elif max(offsets) <= 0 and (name := _only_name(cases, [-each for each in offsets])):
        yield finding("too low by", "result", wrong, what=name)


def _int(observation: Observation) -> int | None:
    if isinstance(observation, Number) and type(observation.value) is int:
        return observation.value
    return None


def _only_name(cases: Sequence[Evidence], numbers: Sequence[int]) -> str:
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


def _count_parts(inputs: Sequence[Observation]) -> Counter[str]:
    """Count what the inputs hold, under names that fit "the number of"."""
    counts: Counter[str] = Counter()
    for given in inputs:
        for path, part in all_parts(given):
            counts.update(_names(part))
            counts["levels below the top"] = max(counts["levels below the top"], len(path))
        if isinstance(given, Node):
            counts["items at the top"] += len(given.children)
    return counts


def _names(part: Observation) -> list[str]:
    match part:
        case NoneValue():
            return ["`None`s", "nodes, `None` among them", CHILDLESS]
        case Node():
            empty = [] if part.children else ["empty containers", CHILDLESS]
            return [
                "nodes, `None` among them",
                "containers",
                f"nodes of type {part.type}",
                *empty,
            ]
        case Array():
            size = ["arrays without elements"] * (not part.values)
            axes = ["0-d arrays"] * (not part.shape)
            return ["leaves", "leaves that are arrays", *size, *axes]
        case Number():
            return ["leaves", "leaves that are Python's numbers"]
        case String():
            return ["leaves", "leaves that are texts"]
        case ContainerLeaf():
            return ["leaves", "leaves that are containers", f"leaves of type {part.type}"]
        case _:
            return ["leaves"]
