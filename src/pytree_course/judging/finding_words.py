"""The words of findings: one table of sentences, for terminal, notebook and reports."""

from collections import defaultdict
from collections.abc import Iterable

from pytree_course.judging.findings import Finding

SENTENCES = {
    # Of a check's own summary, and of predictions.
    "summary": "{sentence}",
    "no dict": "`{variable}` should be a dict, with a prediction for each line: keep the lines as "
    "they were handed out, and replace each `...`.",
    # A misconception that explains most failing cases.
    "near": "{explanation}",
    # What the failing cases share.
    "shared": "The {holds} cases that fail have one thing in common, which no case that passes "
    "has: {feature}.",
    # Errors.
    "error": "{where} raises {raised}: {meaning}.",
    "other error": "The task asks for {a_expected} here, and your code raises {a_raised}.",
    "message": "Your error has the right type, but not the message that the task asks for.",
    "no error": "The task asks for {a_expected} here. Your code raises no error and returns "
    "{instead}.",
    # Results as wholes.
    "none": "Your code returns `None` where the task asks for a result.",
    "given back": "{it} is {argument}, unchanged.",
    "constant": "Your result is the same in every case, whatever the input.",
    # Items, entries and nodes.
    "leaves moved": "Your result has the right leaves, but in each other's places.",
    "lacks": "Your result lacks {what}.",
    "has more": "Your result has {what} that should not be there.",
    # Whole numbers.
    "number of": "Your number is the number of {what}.",
    "too high by": "Your number is too high by the number of {what}.",
    "too low by": "Your number is too low by the number of {what}.",
    # Leaves, or results that are one leaf.
    "leaf given back": "{it} is as it was in {argument}, unchanged.",
    "type": "{it} is {a_got} where the task asks for {a_expected}; the numbers are right.",
    "axes": "{it} has its axes in another order.",
    "axis too many": "{it} has the right numbers, but one axis or more too many.",
    "axis too few": "{it} has the right numbers, but one axis or more too few.",
    "shape": "{it} has the right numbers in another shape.",
    "nan": "{it} has nan where the task asks for numbers.",
    "infinite": "{it} is infinite where it should not be.",
}
"""By kind. `{it}` is what a finding speaks of: a result, or leaves."""

IT = {
    "all": "Your result",
    "wrong": "Each wrong result",
    "every": "Each leaf of your result",
    "some": "Each wrong leaf of your result",
}
ARGUMENTS = {
    str(place): f"the {name} argument"
    for place, name in enumerate(("first", "second", "third", "fourth", "fifth", "sixth"))
}


def sentences(found: Iterable[Finding]) -> list[str]:
    """Return a sentence, or two, for each finding."""
    return [_sentence(each) for each in found if each.kind in SENTENCES]


def _sentence(found: Finding) -> str:
    data = defaultdict(str, found.data)
    named = {
        "holds": str(len(found.holds)),
        "it": IT.get(data["which"], IT["all"]),
        "argument": ARGUMENTS.get(data["argument"], "the input"),
        "where": f"Line {data['number']}, `{data['line']}`," if data["number"] else RESULT_USED,
        **{f"a_{name}": _with_article(data[name]) for name in ("expected", "got", "raised")},
    }
    return SENTENCES[found.kind].format_map(data | named)


RESULT_USED = "A use of your result"


def _with_article(name: str) -> str:
    return f"{'an' if name[:1] in 'aeioAEIO' else 'a'} {name}"
