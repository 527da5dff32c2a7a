"""Match results with misconceptions: the one place that decides which of them a learner holds."""

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from typing import Any

from pytree_course.judging.expected import Misconception
from pytree_course.observing.comparison import compare, skeleton, with_skeleton
from pytree_course.observing.observations import Observation, Raised


def _every_case_raises(observed: Sequence[Observation]) -> bool:
    """Return whether every case raises, so that messages have to match too."""
    return all(isinstance(observation, Raised) for observation in observed)


def _contradicts(wrong: Observation, got: Observation, all_raise: bool) -> bool:
    """Return whether a result rules out a misconception that yields `wrong` in the same case.

    If every case raises, the messages have to match too: many mistakes raise an error of the same
    type before anything else happens.
    """
    if compare(wrong, got):
        return True
    if all_raise and isinstance(wrong, Raised) and isinstance(got, Raised):
        return (wrong.type, wrong.message) != (got.type, skeleton(got.message))
    return False


def is_told_apart(results: Sequence[Observation], others: Sequence[Observation]) -> bool:
    """Return whether the results of one misconception rule out another one with other results."""
    all_raise = _every_case_raises(others)
    return any(
        _contradicts(with_skeleton(result), other, all_raise)
        for result, other in zip(results, others, strict=True)
    )


def find_explaining(
    misconceptions: Iterable[Misconception], observed: Sequence[Observation], failed: Set[int]
) -> tuple[Misconception, ...]:
    """Return the misconceptions that explain every failing case together, or none.

    Each yields these results in all cases that it gets wrong. If one explains all of them, it is
    returned alone; otherwise the strongest ones that leave no case unexplained.
    """
    all_raise = _every_case_raises(observed)
    candidates = [
        misconception
        for misconception in misconceptions
        # One that raises a base class of the right exception agrees with a case that passes.
        if misconception.observations.keys() <= failed
        and not any(
            _contradicts(wrong, observed[case], all_raise)
            for case, wrong in misconception.observations.items()
        )
    ]
    exact = [
        misconception for misconception in candidates if misconception.observations.keys() == failed
    ]
    if exact:  # one that raises the exact types fits better than one that raises base classes
        best = _single_best(exact, lambda misconception: _raises_the_types(misconception, observed))
        return (best,) if best else ()
    chosen: list[Misconception] = []
    unexplained = set(failed)
    for misconception in sorted(candidates, key=_strength, reverse=True):
        if unexplained & misconception.observations.keys():
            chosen.append(misconception)
            unexplained -= misconception.observations.keys()
    return () if unexplained else tuple(chosen)


def _strength(misconception: Misconception) -> tuple[bool, int]:
    """Rank a misconception by its cases; last come those of a single case, or of errors only."""
    wrong = [*misconception.observations.values()]
    return len(wrong) > 1 and not _every_case_raises(wrong), len(wrong)


def match_lines(
    misconceptions: Sequence[Misconception],
    observed: Sequence[Observation],
    failed: Collection[int],
) -> dict[int, Misconception]:
    """Return the misconception that predicts the same, for each wrongly predicted line with one.

    The best of several agrees on most of its lines, the more lines the better: it is the simplest
    belief that explains them. Next best is one that concerns only this line.
    """
    matching_lines = {
        misconception.name: {
            case
            for case, wrong in misconception.observations.items()
            if case in failed and not compare(wrong, observed[case])
        }
        for misconception in misconceptions
    }

    def fit(misconception: Misconception) -> tuple[bool, bool, int]:
        lines, matches = len(misconception.observations), len(matching_lines[misconception.name])
        has_mostly_matches = lines > 1 and 2 * matches > lines
        return has_mostly_matches, lines == 1, matches

    best = {}
    for case in failed:
        fitting = [
            misconception
            for misconception in misconceptions
            if case in matching_lines[misconception.name]
        ]
        if misconception := _single_best(fitting, fit):
            best[case] = misconception
    return best


def _single_best(
    fitting: Sequence[Misconception], fit: Callable[[Misconception], Any]
) -> Misconception | None:
    """Return the misconception that fits best; if two fit equally well, neither is blamed."""
    best = max(map(fit, fitting), default=None)
    chosen = [misconception for misconception in fitting if fit(misconception) == best]
    return chosen[0] if len(chosen) == 1 else None


def _raises_the_types(misconception: Misconception, observed: Sequence[Observation]) -> bool:
    """Return whether a misconception raises the observed types of errors, and not base classes."""
    pairs = [(wrong, observed[case]) for case, wrong in misconception.observations.items()]
    return all(
        not isinstance(wrong, Raised) or (isinstance(got, Raised) and wrong.type == got.type)
        for wrong, got in pairs
    )
