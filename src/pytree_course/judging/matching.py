"""Match results with misconceptions: the one place that decides which of them a learner holds."""

from collections.abc import Callable, Collection, Iterable, Sequence, Set

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


def is_told_apart(wrong: Sequence[Observation], other: Sequence[Observation]) -> bool:
    """Return whether results of a misconception rule out another one, by an error's message too."""
    all_raise = every_case_raises(other)
    return any(
        contradicts(with_skeleton(one), two, all_raise)
        for one, two in zip(wrong, other, strict=True)
    )


def held_by(
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
    held: Sequence[Misconception], observed: Sequence[Observation], failed: Set[int]
) -> tuple[Misconception, ...]:
    """Return the misconceptions held that explain every failing case together, or none.

    One that explains all of them is returned alone. Failing that, a small set that leaves no case
    unexplained: one that is about a single case, or about errors only, is the last to be taken.
    """
    # A case that passes may fit too, where any exception fits and a more special one is right.
    held = [misconception for misconception in held if misconception.observations.keys() <= failed]
    exact = [misconception for misconception in held if misconception.observations.keys() == failed]
    if exact:  # one that raises any exception fits where another has the very type
        best = _only_best(exact, lambda each: _raises_the_types(each, observed))
        return (best,) if best else ()
    chosen: list[Misconception] = []
    unexplained = set(failed)
    for misconception in sorted(held, key=lambda each: (_is_weak(each), -len(each.observations))):
        if unexplained & misconception.observations.keys():
            chosen.append(misconception)
            unexplained -= misconception.observations.keys()
    return () if unexplained else tuple(chosen)


def nearest(held: Sequence[Misconception], failed: Set[int]) -> Misconception | None:
    """Return the one misconception held that explains most failing cases, if it is near.

    Its explanation is true of the cases that it explains; the answer fails in others too.
    """
    fewest = max(MIN_NEAR, NEAR * len(failed))
    near = [
        misconception
        for misconception in held
        if len(misconception.observations) >= fewest and misconception.observations.keys() <= failed
    ]
    return _only_best(near, lambda each: len(each.observations))


def by_line(
    misconceptions: Sequence[Misconception],
    observed: Sequence[Observation],
    failed: Collection[int],
) -> dict[int, Misconception]:
    """Return for each wrongly predicted line the misconception that predicts the same, if one does.

    The best of several says the same for most of its lines, the more lines the better: it is the
    simplest belief that explains them. Next comes one that is about this line alone.
    """
    alike = {
        misconception.name: {
            case
            for case, wrong in misconception.observations.items()
            if case in failed and not compare(wrong, observed[case])
        }
        for misconception in misconceptions
    }

    def fit(misconception: Misconception) -> tuple[int, int]:
        lines, same = len(misconception.observations), len(alike[misconception.name])
        return (2 if 1 < lines < 2 * same else 1 if lines == 1 else 0), same

    fitting = {
        case: _only_best([each for each in misconceptions if case in alike[each.name]], fit)
        for case in failed
    }
    return {case: misconception for case, misconception in fitting.items() if misconception}


def _only_best(
    fitting: Sequence[Misconception], fit: Callable[[Misconception], bool | int | tuple[int, int]]
) -> Misconception | None:
    """Return the misconception that fits best; where two fit equally well, neither is blamed."""
    best = max(map(fit, fitting), default=None)
    chosen = [misconception for misconception in fitting if fit(misconception) == best]
    return chosen[0] if len(chosen) == 1 else None


def _is_weak(misconception: Misconception) -> bool:
    wrong = misconception.observations.values()
    return len(wrong) == 1 or every_case_raises([*wrong])


def _raises_the_types(misconception: Misconception, observed: Sequence[Observation]) -> bool:
    """Return whether a misconception raises what was raised, and no more general type."""
    pairs = [(wrong, observed[case]) for case, wrong in misconception.observations.items()]
    return all(
        not isinstance(wrong, Raised) or (isinstance(got, Raised) and wrong.type == got.type)
        for wrong, got in pairs
    )
