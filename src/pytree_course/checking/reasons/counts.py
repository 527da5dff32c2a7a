"""What can be counted in an input: a wrong number is often off by one of these counts."""

from collections import Counter
from collections.abc import Sequence

from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.observations import Observation, all_parts

FEWEST = 3  # wrong numbers, and right ones, that it takes where all are off by the same
FALSE = "leaves that are false for Python (0, `False`, an empty text"
ENDS = (")", ", an array of zeros)", ", an array of zeros, an empty set)")


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
            zeros = [] if any(part["values"]) else [f"{FALSE}{end}" for end in ENDS[1:]]
            return ["leaves", "leaves that are arrays", *size, *axes, *zeros]
        case "number" | "string":
            which = "texts" if part["kind"] == "string" else "Python's numbers"
            zeros = [] if part["value"] else [f"{FALSE}{end}" for end in ENDS]
            return ["leaves", f"leaves that are {which}", *zeros]
        case "container leaf":
            empty = [] if part["items"] else [f"{FALSE}{ENDS[2]}"]
            return [
                "leaves",
                "leaves that are containers",
                f"leaves of type {part['type']}",
                *empty,
            ]
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
    off = sum(number != 0 for number in numbers)
    if len(set(numbers) - {0}) < 2 and min(off, len(numbers) - off) < FEWEST:
        return ""  # one number would fit many counts
    counts = [count_parts(case.inputs) for case in cases]
    names = set().union(*counts)
    fitting = [
        name
        for name in names
        if all(count[name] == number for count, number in zip(counts, numbers, strict=True))
    ]
    alike = len({name.split(" (")[0] for name in fitting}) == 1
    return min(fitting, key=len) if alike else ""


def direction(offsets: Sequence[int]) -> str:
    """Say on which side numbers are wrong, where it is one side."""
    if all(offset >= 0 for offset in offsets):
        return "too high"
    return "too low" if all(offset <= 0 for offset in offsets) else ""
