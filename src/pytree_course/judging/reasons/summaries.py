"""What wrong entries of a check's own summary mean, in the sentences of the check's author."""

from collections.abc import Iterator, Sequence

from pytree_course.judging.findings import Finding
from pytree_course.judging.reasons.evidence import Evidence
from pytree_course.judging.reasons.places import places
from pytree_course.observing.observations import Number, Observation, String

MOST = 2  # sentences


def summary_findings(cases: Sequence[Evidence]) -> list[Finding]:
    """Return the author's sentences on wrong summaries.

    The one that speaks of most cases comes first; another one follows where it adds cases.
    """
    said: dict[str, list[int]] = {}
    for case in cases:
        if case.failed and case.summary and not case.raised and not case.should_raise:
            true = set(_sentences(case, case.summary))
            for sentence in dict.fromkeys(case.summary.values()):  # of equals, the author's first
                if sentence in true:
                    said.setdefault(sentence, []).append(case.number)
    chosen: list[Finding] = []
    explained: set[int] = set()
    for sentence, numbers in sorted(said.items(), key=lambda item: -len(item[1])):
        if len(chosen) < MOST and not explained.issuperset(numbers):
            others = [case.number for case in cases if case.failed and case.number not in numbers]
            chosen.append(Finding("summary", "result", numbers, others, {"sentence": sentence}))
            explained.update(numbers)
    return chosen


def _sentences(case: Evidence, summary: dict[str, str]) -> Iterator[str]:
    for place in places(case.expected, case.got):
        if place.differs:
            keys = [key.strip("[]'\".") for key in place.path]
            names = [key for key in reversed(keys) if not key.isdigit()]
            ways = list(_ways(place.expected, place.got))
            entries = [f"{name} {way}".strip() for name in (*names, "") for way in (*ways, "")]
            yield from [summary[entry] for entry in entries if entry in summary][:1]


def _ways(expected: Observation, got: Observation) -> Iterator[str]:
    """Yield the ways in which an entry is wrong, the narrowest first."""
    match expected, got:
        case String(), String(value=wrong):
            yield wrong
        case Number(value=right), Number(value=wrong):
            yield str(wrong)
            if isinstance(right, int | float) and isinstance(wrong, int | float) and wrong != right:
                yield "too high" if wrong > right else "too low"
