"""Match results with misconceptions: the one place that decides which of them a learner holds."""

from collections.abc import Callable, Collection, Iterable, Sequence, Set
from typing import Any

from pytree_course.judging.expected import Misconception
from pytree_course.observing.comparison import compare, skeleton, with_skeleton
from pytree_course.observing.observations import Observation, Raised

NEAR = 0.75
"""The share of the failing cases that a misconception explains if it is near."""
MIN_NEAR = 3  # failing cases that a near misconception explains


def every_case_raises(observed: Sequence[Observation]) -> bool:
    """Return whether every case raises, so that messages have to be alike too."""
    return all(isinstance(observation, Raised) for observation in observed)


def contradicts(wrong: Observation, got: Observation, all_raise: bool) -> bool:
    """Return whether a result rules out a misconception that yields `wrong` in the same case.

    Where every case raises, the messages have to be alike too: an error that comes before all else
    is the same for many mistakes.
    """
    if compare(wrong, got):
        return True
    if all_raise and isinstance(wrong, Raised) and isinstance(got, Raised):
        return (wrong.type, wrong.message) != (got.type, skeleton(got.message))
    return False


def is_told_apart(results: Sequence[Observation], others: Sequence[Observation]) -> bool:
    """Return whether results of a misconception rule out another one, by an error's message too."""
    all_raise = every_case_raises(others)
    return any(
        contradicts(with_skeleton(result), other, all_raise)
        for result, other in zip(results, others, strict=True)
    )


def consistent_with(
    observed: Sequence[Observation], misconceptions: Iterable[Misconception]
) -> list[Misconception]:
    """Return the misconceptions that yield these results wherever theirs are wrong."""
    all_raise = every_case_raises(observed)
    return [
        misconception
        for misconception in misconceptions
        if misconception.observations
        and not any(
            contradicts(wrong, observed[case], all_raise)
            for case, wrong in misconception.observations.items()
        )
    ]


def explaining(
    consistent: Sequence[Misconception], observed: Sequence[Observation], failed: Set[int]
) -> tuple[Misconception, ...]:
    """Return the misconceptions that explain every failing case together, or none.

    One that explains all of them is returned alone. Failing that, the strongest ones that leave no
    case unexplained.
    """
    # A case that passes may fit too, where any exception fits and a more special one is right.
    candidates = [
        misconception for misconception in consistent if misconception.observations.keys() <= failed
    ]
    exact = [
        misconception for misconception in candidates if misconception.observations.keys() == failed
    ]
    if exact:  # one that raises any exception fits where another has the very type
        best = _only_best(exact, lambda misconception: _raises_the_types(misconception, observed))
        return (best,) if best else ()
    chosen: list[Misconception] = []
    unexplained = set(failed)
    for misconception in sorted(candidates, key=_strength, reverse=True):
        if unexplained & misconception.observations.keys():
            chosen.append(misconception)
            unexplained -= misconception.observations.keys()
    return () if unexplained else tuple(chosen)


def _strength(misconception: Misconception) -> tuple[bool, int]:
    """Rank a misconception by its cases; one of a single case, or of errors only, comes last."""
    wrong = [*misconception.observations.values()]
    return len(wrong) > 1 and not every_case_raises(wrong), len(wrong)


def nearest(consistent: Sequence[Misconception], failed: Set[int]) -> Misconception | None:
    """Return the one misconception that explains most failing cases, if it is near.

    Its explanation is true of the cases that it explains; the answer fails in others too.
    """
    enough = max(MIN_NEAR, NEAR * len(failed))
    near = [
        misconception
        for misconception in consistent
        if len(misconception.observations) >= enough and misconception.observations.keys() <= failed
    ]
    return _only_best(near, lambda misconception: len(misconception.observations))


def by_line(
    misconceptions: Sequence[Misconception],
    observed: Sequence[Observation],
    failed: Collection[int],
) -> dict[int, Misconception]:
    """Return for each wrongly predicted line the misconception that predicts the same, if one does.

    The best of several says the same for most of its lines, the more lines the better: it is the
    simplest belief that explains them. Next comes one that is about this line alone.
    """
    same_lines = {
        misconception.name: {
            case
            for case, wrong in misconception.observations.items()
            if case in failed and not compare(wrong, observed[case])
        }
        for misconception in misconceptions
    }

    def fit(misconception: Misconception) -> tuple[bool, bool, int]:
        lines, same = len(misconception.observations), len(same_lines[misconception.name])
        is_mostly_the_same = lines > 1 and 2 * same > lines
        return is_mostly_the_same, lines == 1, same

    best = {}
    for case in failed:
        fitting = [
            misconception
            for misconception in misconceptions
            if case in same_lines[misconception.name]
        ]
        if misconception := _only_best(fitting, fit):
            best[case] = misconception
    return best


def _only_best(
    fitting: Sequence[Misconception], fit: Callable[[Misconception], Any]
) -> Misconception | None:
    """Return the misconception that fits best; where two fit equally well, neither is blamed."""
    best = max(map(fit, fitting), default=None)
    chosen = [misconception for misconception in fitting if fit(misconception) == best]
    return chosen[0] if len(chosen) == 1 else None


def _raises_the_types(misconception: Misconception, observed: Sequence[Observation]) -> bool:
    """Return whether a misconception raises what was raised, and no more general type."""
    pairs = [(wrong, observed[case]) for case, wrong in misconception.observations.items()]
    return all(
        not isinstance(wrong, Raised) or (isinstance(got, Raised) and wrong.type == got.type)
        for wrong, got in pairs
    )
