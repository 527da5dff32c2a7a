"""Where nothing else is known: which cases pass, which fail, and how the smallest differs."""

import json
from collections import Counter
from collections.abc import Sequence

from pytree_course.checking.comparison import Difference, compare
from pytree_course.checking.reasons.evidence import Evidence
from pytree_course.checking.reasons.spectrum import TOO_COMMON, WEAK

MOST_FEATURES = 2
FEWEST = 3  # cases that it takes to name a feature

SMALLEST = {
    "value": "a value is another one",
    "text": "a text is another one",
    "missing key": "an entry is missing",
    "extra key": "there is an entry too many",
    "key order": "the children come in another order",
    "presence of aux_data": "only one of the two has aux_data",
    "aux_data": "the aux_data is another one",
    "items": "the items of a container are other ones",
    "structure": "the tree structure is another one",
    "array length": "an array has another length",
    "returned error": "an error is returned and not raised",
    "missing mention": "the error's message leaves something out",
    "extra mention": "the error's message says too much",
    "observation": "something is of another kind",
}


def last_reason(cases: Sequence[Evidence]) -> list[str]:
    """Return sentences that are true of any wrong answer."""
    failing = [case for case in cases if case.failed]
    passing = [case for case in cases if not case.failed]
    sentences = []
    if fail := _only_in(failing, passing):
        sentences.append(f"Your results are always wrong with {fail}.")
    elif len(failing) >= FEWEST and (right := _only_in(passing, failing)):
        sentences.append(f"Your results are right with {right}; what fails has none of that.")
    smallest = min(failing, key=lambda case: len(json.dumps(case.inputs)))
    difference = compare(smallest.expected, smallest.got)
    assert isinstance(difference, Difference)
    what = SMALLEST[difference.aspect]
    if len(failing) == 1:
        sentences.append(f"In the one case that fails, {what}.")
    else:
        sentences.append(f"In the smallest of {len(failing)} cases that fail, {what}.")
    return sentences


def _only_in(some: Sequence[Evidence], others: Sequence[Evidence]) -> str:
    """Name the features that only these cases have, the most frequent ones first."""
    counts = Counter(feature for case in some for feature in case.features)
    for case in others:
        for feature in case.features:
            del counts[feature]
    named = [
        f"{feature} ({count})"
        for feature, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if count >= FEWEST and feature not in TOO_COMMON | WEAK
    ]
    return " or ".join(named[:MOST_FEATURES])
