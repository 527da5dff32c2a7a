"""Reason by the nearest misconception: one that yields the same in most of the failing cases."""

from collections.abc import Sequence

from pytree_course.checking.comparison import compare
from pytree_course.checking.expected import Misconception
from pytree_course.checking.reasons.evidence import Evidence

SHARE = 0.6  # of a misconception's failing cases that must agree
COVER = 0.6  # of the answer's failing cases that must agree
FEWEST = 2  # agreeing results that are no errors


def nearest_misconception(
    cases: Sequence[Evidence], misconceptions: Sequence[Misconception]
) -> Misconception | None:
    """Return the misconception that agrees on most failing cases; on a tie, or on few, none."""
    failing = sum(case.failed for case in cases)
    scores = {}
    for place, misconception in enumerate(misconceptions):
        agreeing = [
            case
            for case in cases
            if case.failed
            and case.number in misconception.observations
            and not compare(misconception.observations[case.number], case.got)
        ]
        results = sum(not case.raised for case in agreeing)
        share = len(agreeing) / max(1, len(misconception.observations))
        cover = len(agreeing) / max(1, failing)
        if share >= SHARE and cover >= COVER and results >= FEWEST:
            scores[place] = share + cover
    best = [place for place, score in scores.items() if score == max(scores.values())]
    return misconceptions[best[0]] if len(best) == 1 else None
