"""Where nothing else is known: which cases pass, which fail, and how the smallest differs."""

import json
from collections.abc import Sequence

from pytree_course.checking.comparison import Difference, compare
from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.checking.reasons.spectrum import TOO_COMMON, WEAK

MOST_FEATURES = 2
FEWEST = 2  # cases that it takes to name a feature
COVER = 0.7  # of the cases that the named features must be in
NOTE = "the note"

SMALLEST = {
    "value": "a value is another one",
    "text": "a text is another one",
    "missing key": "an entry is missing",
    "extra key": "there is an entry too many",
    "key order": "the children are in another order",
    "presence of aux_data": "one of the two results has aux_data, and the other has none",
    "aux_data": "the node has different aux_data",
    "items": "a container has different items",
    "structure": "the tree structure is different",
    "array length": "an array has another length",
    "returned error": "your code returns an error and does not raise it",
    "missing mention": "the error's message leaves something out",
    "extra mention": "the error's message says too much",
    "observation": "something is of another kind",
}


def last_reason(cases: Sequence[Evidence]) -> str:
    """Return a sentence that is true of any wrong answer: what fails has, or how it differs."""
    if known := where_wrong(cases):
        return known
    failing = [case for case in cases if case.failed]
    smallest = min(failing, key=lambda case: len(json.dumps(case.inputs)))
    difference = compare(smallest.expected, smallest.got)
    assert isinstance(difference, Difference)
    what = SMALLEST[difference.aspect]
    if len(failing) > 1:
        return f"In the smallest of {len(failing)} cases that fail, {what}."
    others = set().union(*(case.features for case in cases if not case.failed))
    alone = sorted(smallest.features - others - TOO_COMMON)
    has = f" Only this case has {alone[0]}." if len(alone) == 1 else ""
    return f"In the one case that fails, {what}.{has}"


def where_wrong(cases: Sequence[Evidence], said: str = "") -> str:
    """Return a sentence on features that only failing cases have, or only passing ones, or "".

    What is said already is not repeated.
    """
    failing = [case for case in cases if case.failed]
    passing = [case for case in cases if not case.failed]
    if fail := _only_in(failing, passing, said):
        return f"Your results are always wrong with {fail}."
    if not said and len(failing) >= FEWEST and (right := _only_in(passing, failing, said)):
        return f"Your results are right with {right}; none of the cases that fail has this."
    return ""


def _only_in(some: Sequence[Evidence], others: Sequence[Evidence], said: str) -> str:
    """Name the features that only these cases have, where they are most of these cases."""
    if not others:
        return ""  # where every case fails, no feature tells why
    places: dict[str, set[int]] = {}
    for case in some:
        for feature in case.features - TOO_COMMON - WEAK:
            places.setdefault(feature, set()).add(case.number)
    for feature in set().union(*(case.features for case in others)) & set(places):
        del places[feature]
    named: list[str] = []
    covered: set[int] = set()
    for feature in sorted(places, key=lambda name: (-len(places[name]), NOTE in name, name)):
        if len(places[feature]) >= FEWEST and places[feature] - covered:
            named.append(f"{feature} ({len(places[feature])})")
            covered |= places[feature]
            if feature in said:
                return ""
        if len(named) == MOST_FEATURES:
            break
    return " or ".join(named) if len(covered) >= COVER * len(some) else ""
