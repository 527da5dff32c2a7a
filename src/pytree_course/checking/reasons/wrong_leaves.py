"""Which leaves of a result are wrong, and what is the same in all of them."""

from collections.abc import Iterator, Sequence

from pytree_course.checking.comparison import compare
from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.checking.reasons.leaf_rules import leaf_rule
from pytree_course.checking.reasons.places import Place, is_node, kind_of, places
from pytree_course.observations import Observation, Path

FEWEST = 2  # wrong leaves, and right ones, that it takes to name what they share


def leaves_clause(cases: Sequence[Evidence], wrong: Sequence[Evidence]) -> str:
    """Return a clause on the leaves in which results with the right structure differ, or ""."""
    walked = [list(places(case.expected, case.got)) for case in wrong]
    differing = [place for each in walked for place in each if place.differs]
    if not differing:
        return ""
    whole = all(not place.path for place in differing)
    how = _how(wrong, walked)
    if whole:
        return how
    if all(map(_are_exchanged, walked)):
        return "its leaves are right, but at each other's places"
    passing = [list(places(case.expected, case.got)) for case in cases if not case.failed]
    which = _which([*walked, *passing])
    if which and " the task asks for" not in how:
        return f"the wrong leaves, and no other leaves, are {which}" + (
            f": each is {how}" if how else ""
        )
    return f"each wrong leaf in it is {how}" if how else ""


def _how(wrong: Sequence[Evidence], walked: Sequence[Sequence[Place]]) -> str:
    differing = [place for each in walked for place in each if place.differs]
    if _as_in_input(wrong, walked):
        rule = leaf_rule(differing)
        return rule if "dtype" in rule else "as it is in the input, unchanged"
    kinds = {(kind_of(place.expected), kind_of(place.got)) for place in differing}
    if all(expected != got for expected, got in kinds):
        rule = leaf_rule(differing)
        if "right number" in rule:
            return rule
        if len(kinds) == 1:
            ((expected, got),) = kinds
            return f"{got} where the task asks for {expected}"
        if len({got for _, got in kinds}) == 1:
            return f"{next(iter(kinds))[1]} where the task asks for something else"
        return ""
    return leaf_rule(differing)


def _are_exchanged(walked: Sequence[Place]) -> bool:
    differing = [place for place in walked if place.differs]
    if any(place.expected.get("type") == "bool" for place in differing):
        return False  # a few answers of yes and no are exchanged by chance
    right, got = ([getattr(place, side) for place in differing] for side in ("expected", "got"))
    return len(differing) > 1 and sorted(map(repr, right)) == sorted(map(repr, got))


def _as_in_input(wrong: Sequence[Evidence], walked: Sequence[Sequence[Place]]) -> bool:
    for case, pairs in zip(wrong, walked, strict=True):
        for place in pairs:
            if place.differs and not any(
                part is not None and not compare(part, place.got)
                for part in (_part(given, place.path) for given in case.inputs)
            ):
                return False
    return True


def _part(tree: Observation, path: Path) -> Observation | None:
    for key in path:
        if not is_node(tree):
            return None
        child = next((child for name, child in tree["children"] if name == key), None)
        if child is None:
            return None
        tree = child
    return tree


def _which(walked: Sequence[Sequence[Place]]) -> str:
    """Return what all wrong leaves have and no right one has."""
    wrong = [set(_traits(place, each)) for each in walked for place in each if place.differs]
    right = [set(_traits(place, each)) for each in walked for place in each if not place.differs]
    if len(wrong) < FEWEST or len(right) < FEWEST:
        return ""
    shared = set.intersection(*wrong).difference(*right)
    return shared.pop() if len(shared) == 1 else ""


def _traits(place: Place, among: Sequence[Place]) -> Iterator[str]:
    expected = place.expected
    match expected["kind"]:
        case "array":
            yield {
                0: "0-d arrays",
                1: "arrays with one axis",
            }.get(len(expected["shape"]), "arrays with two axes or more")
            yield f"arrays of {expected['dtype']}"
        case "number":
            yield f"numbers of type {expected['type']}"
        case "string":
            yield "texts"
        case "none":
            yield "`None`s"
    if len(among) > 1:
        if place is among[0]:
            yield "the first ones"
        elif place is among[-1]:
            yield "the last ones"
