"""Where results differ from what was expected: narrowed to one entry, and leaf by leaf."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pytree_course.checking.comparison import compare
from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.observations import Observation, Path


@dataclass(frozen=True)
class Place:
    """Two leaves, or two subtrees that are of different kinds, in one place."""

    path: Path
    expected: Observation
    got: Observation
    differs: bool


def keys_of(node: Observation) -> list[str]:
    """Return the texts of a node's keys."""
    return [key for key, _ in node["children"]]


def children_of(node: Observation) -> list[Observation]:
    """Return a node's children."""
    return [child for _, child in node["children"]]


def are_alike(expected: Observation, got: Observation) -> bool:
    """Say whether two observations are nodes of the same kind with the same keys."""
    return (
        expected["kind"] == got["kind"] == "node"
        and expected["type"] == got["type"]
        and keys_of(expected) == keys_of(got)
    )


def places(expected: Observation, got: Observation, path: Path = ()) -> Iterator[Place]:
    """Walk two observations together, down to leaves and to where they are of different kinds."""
    if are_alike(expected, got):
        pairs = zip(expected["children"], children_of(got), strict=True)
        for (key, child), got_child in pairs:
            yield from places(child, got_child, (*path, key))
    else:
        yield Place(path, expected, got, compare(expected, got) is not None)


def narrowed(cases: Sequence[Evidence]) -> tuple[list[Evidence], str]:
    """Go down to the one entry that is wrong in every case, and return its name, or an empty text.

    Only names that the check gives its results are returned, never keys of a case's input.
    """
    cases, name = list(cases), ""
    while all(are_alike(case.expected, case.got) for case in cases):
        wrong = {key for case in cases for key in differing_keys(case)}
        if len(wrong) != 1 or cases[0].expected["type"] != "dict":
            break
        (key,) = wrong
        if any(key in keys_of(given) for case in cases for given in case.inputs if is_node(given)):
            break
        cases, name = [_below(case, key) for case in cases], key.strip("[]'\"")
    return cases, name


def differing_keys(case: Evidence) -> list[str]:
    """Return the keys of the children that differ in two nodes that are alike."""
    pairs = zip(case.expected["children"], children_of(case.got), strict=True)
    return [key for (key, child), got in pairs if compare(child, got)]


def is_node(observation: Observation) -> bool:
    """Say whether something was observed that has children."""
    return bool(observation["kind"] == "node")


def _below(case: Evidence, key: str) -> Evidence:
    expected, got = (dict(node["children"])[key] for node in (case.expected, case.got))
    return replace(case, expected=expected, got=got)


def kind_of(observation: Observation) -> str:
    """Say what kind of thing was observed, and not which."""
    match observation["kind"]:
        case "node" | "container leaf" | "object":
            name = observation["type"].replace("`", "'")
            named = "a leaf of type" if observation["kind"] == "container leaf" else "a"
            if named == "a" and name[:1].lower() in "aeiou":
                named = "an"
            return f"{named} {name}"
        case "none":
            return "`None`"
        case "array":
            return "an array"
        case "number":
            name = observation["type"]
            return {"bool": "a bool", "int": "an int", "float": "a float"}.get(name, f"a {name}")
        case "string":
            return "a text"
        case "treedef":
            return "a tree structure"
        case "tracer":
            return "a tracer, which left its function"
        case "key":
            return "an entry of a key path"
        case "shape":
            return "a ShapeDtypeStruct"
        case "unbounded":
            return "something too large to compare"
    return "something else"
