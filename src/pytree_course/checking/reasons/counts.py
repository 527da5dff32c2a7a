"""What can be counted in an input: a wrong number is often off by one of these counts."""

from collections import Counter
from collections.abc import Sequence

from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.drawing.labels import all_parts
from pytree_course.trees import Observation


def count_parts(inputs: Sequence[Observation]) -> Counter[str]:
    """Count what the inputs hold, under names that fit "the number of"."""
    counts: Counter[str] = Counter()
    for given in inputs:
        leaves: Counter[str] = Counter()
        for path, part in all_parts(given):
            counts.update(_names(part))
            counts["levels below the top"] = max(counts["levels below the top"], len(path))
            if part["kind"] in ("array", "number", "string"):
                leaves[repr(part)] += 1
        counts["leaves that are equal to an earlier one"] += leaves.total() - len(leaves)
        if given["kind"] == "node":
            counts["items at the top"] += len(given["children"])
    return counts


def _names(part: Observation) -> list[str]:
    match part["kind"]:
        case "none":
            return ["`None`s", "nodes, `None` among them"]
        case "node":
            names = ["nodes, `None` among them", "containers", f"nodes of type {part['type']}"]
            if not part["children"]:
                names.append("empty containers")
            elif all(child["kind"] != "node" for _, child in part["children"]):
                names.append("innermost containers")
            return names
        case "array":
            size = ["arrays without elements"] * (not part["values"])
            axes = ["0-d arrays"] * (not part["shape"])
            return ["leaves", "leaves that are arrays", *size, *axes]
        case "number":
            return ["leaves", "leaves that are Python's numbers"]
        case "string":
            return ["leaves", "leaves that are texts"]
        case "container leaf":
            return ["leaves", "leaves that are containers", f"leaves of type {part['type']}"]
        case _:
            return ["leaves"]


def name_of_offset(cases: Sequence[Evidence], offsets: Sequence[int]) -> str:
    """Return what the inputs hold exactly as often as each number is off, or an empty text."""
    size = [abs(offset) for offset in offsets]
    return _only_name(cases, size) if sum(map(bool, size)) > 1 else ""


def name_of_count(cases: Sequence[Evidence], numbers: Sequence[int]) -> str:
    """Return what the inputs hold exactly as often as the numbers say, or an empty text."""
    return _only_name(cases, numbers) if len(cases) > 2 else ""


def _only_name(cases: Sequence[Evidence], numbers: Sequence[int]) -> str:
    if len(set(numbers) - {0}) < 2:  # one number would fit many counts
        return ""
    counts = [count_parts(case.inputs) for case in cases]
    names = set().union(*counts)
    fitting = [
        name
        for name in names
        if all(count[name] == number for count, number in zip(counts, numbers, strict=True))
    ]
    return fitting[0] if len(fitting) == 1 else ""


def direction(offsets: Sequence[int]) -> str:
    """Say on which side numbers are wrong, where it is one side."""
    if all(offset >= 0 for offset in offsets):
        return "too high"
    return "too low" if all(offset <= 0 for offset in offsets) else ""
