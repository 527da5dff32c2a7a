"""Rules that make the wrong leaves of a result from the right ones, the same for all of them."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from pytree_course.checking.comparison import COARSE_RELATIVE_TOLERANCE, compare
from pytree_course.checking.reasons.places import Place
from pytree_course.observations import Observation
from pytree_course.printable import printable

CLOSE = 1e-3  # relative: a factor is found again in rounded results
LONGEST_TEXT = 60
FEWEST = 3  # wrong numbers that it takes to speak of a rule
NEARLY = 5e-2  # relative: half precision, or a small constant somewhere


def leaf_rule(wrong: Sequence[Place]) -> str:
    """Return a clause on what is wrong with leaves, the same in all these places, or ""."""
    values = {repr(place.got.get("value")) for place in wrong}
    if all(place.expected.get("type") == place.got.get("type") == "bool" for place in wrong):
        return f"`{values.pop()}`, and should not be" if len(values) == 1 else ""
    for rule, clause in _RULES:
        if all(rule(place.expected, place.got) for place in wrong):
            return clause
    if all(place.expected["kind"] == place.got["kind"] == "string" for place in wrong):
        return text_rule([(place.expected["value"], place.got["value"]) for place in wrong])
    return _one_number(wrong)


def text_rule(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a clause on what is wrong with texts, each beside the right one, or ""."""
    texts = {wrong for _, wrong in pairs}
    if len(texts) == 1 and len(pairs) > 1 and 0 < len(min(texts)) <= LONGEST_TEXT:
        return f"“{printable(texts.pop())}”, and should not be"
    for rule, clause in _TEXT_RULES:
        if all(rule(right, wrong) for right, wrong in pairs):
            return clause
    return ""


def numbers(observation: Observation) -> np.ndarray | None:
    """Return the numbers of an array or a number in its shape, or None where there are none."""
    if observation["kind"] == "number":
        values, shape = [observation["value"]], []
    elif observation["kind"] == "array":
        values, shape = observation["values"], observation["shape"]
    else:
        return None
    if not all(map(_is_plain, values)) or math.prod(shape) != len(values):
        return None
    return np.array(list(map(float, values)), np.float64).reshape(shape)


def _is_plain(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("nan", "inf", "-inf")
    return isinstance(value, (bool, float)) or (isinstance(value, int) and abs(value) < 2**53)


def _same(one: np.ndarray, other: np.ndarray, tolerance: float = 1e-5) -> bool:
    return one.shape == other.shape and np.allclose(
        one, other, rtol=tolerance, atol=1e-6, equal_nan=True
    )


def _numeric(
    test: Callable[[np.ndarray, np.ndarray], bool],
) -> Callable[[Observation, Observation], bool]:
    """Make a rule of two observations of a rule of two arrays."""

    def rule(expected: Observation, got: Observation) -> bool:
        right, wrong = numbers(expected), numbers(got)
        with np.errstate(all="ignore"):
            return right is not None and wrong is not None and bool(test(right, wrong))

    return rule


def _only_differs_in(entry: str) -> Callable[[Observation, Observation], bool]:
    def rule(expected: Observation, got: Observation) -> bool:
        same_kind = expected["kind"] == got["kind"]
        return same_kind and not compare(expected, got | {entry: expected.get(entry)})

    return rule


def _is_in_other_dtype(expected: Observation, got: Observation) -> bool:
    right, wrong = numbers(expected), numbers(got)
    return (
        right is not None
        and wrong is not None
        and expected.get("dtype") != got.get("dtype")
        and expected["kind"] == got["kind"] == "array"
        and _same(right, wrong, COARSE_RELATIVE_TOLERANCE)
    )


def _is_scalar_of_other_kind(expected: Observation, got: Observation) -> bool:
    right, wrong = numbers(expected), numbers(got)
    kinds = {expected["kind"], got["kind"]}
    return (
        kinds == {"number", "array"}
        and right is not None
        and wrong is not None
        and right.ndim == wrong.ndim == 0
        and _same(right, wrong)
    )


def _word_characters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _keeps_axis(right: np.ndarray, wrong: np.ndarray) -> bool:
    return wrong.ndim > right.ndim and _same(right.ravel(), wrong.ravel())


def _loses_axis(right: np.ndarray, wrong: np.ndarray) -> bool:
    return wrong.ndim < right.ndim and _same(right.ravel(), wrong.ravel())


def _constant(value: float) -> Callable[[np.ndarray, np.ndarray], bool]:
    return lambda right, wrong: bool(wrong.size) and bool((wrong == value).all())


def _isnan(right: np.ndarray, wrong: np.ndarray) -> bool:
    return bool(np.isnan(wrong).any() and not np.isnan(right).any())


def _isinf(right: np.ndarray, wrong: np.ndarray) -> bool:
    return bool(np.isinf(wrong).any() and not np.isinf(right).any())


_have_equal = _numeric(_same)

_RULES: list[tuple[Callable[[Observation, Observation], bool], str]] = [
    (
        _only_differs_in("library"),
        "an array of the wrong library: a NumPy array where the task asks for a JAX array, or the "
        "other way round",
    ),
    (_is_in_other_dtype, "the right numbers, but in another dtype"),
    (
        _is_scalar_of_other_kind,
        "the right number, but of the other kind: a Python number is not a 0-d array",
    ),
    (
        lambda expected, got: (
            expected.get("dtype") == got.get("dtype") and _have_equal(expected, got)
        ),
        "right except for the last digits: float32 holds every whole number up to 2**24 exactly, "
        "but not every larger number",
    ),
    (_have_equal, "the right numbers, but of another type or dtype"),
    (
        _numeric(lambda right, wrong: right.ndim > 1 and _same(right.T, wrong)),
        "the right array transposed",
    ),
    (_numeric(_keeps_axis), "the right numbers, but in an array with an axis too many"),
    (_numeric(_loses_axis), "the right numbers, but in an array with an axis too few"),
    (
        _numeric(
            lambda right, wrong: right.shape != wrong.shape and _same(right.ravel(), wrong.ravel())
        ),
        "the right numbers in the wrong shape",
    ),
    (
        _numeric(lambda right, wrong: right.size > 0 and _same(-right, wrong)),
        "the right numbers with the other sign",
    ),
    (
        _numeric(lambda right, wrong: wrong.ndim != right.ndim),
        "an array with another number of axes than the task asks for: does your code sum, stack or "
        "map over the right axis?",
    ),
    (
        _numeric(lambda right, wrong: wrong.shape != right.shape),
        "an array of the wrong shape",
    ),
    (_numeric(_isnan), "nan where there should be numbers"),
    (_numeric(_isinf), "infinite where it should not be"),
    (_numeric(_constant(0)), "zero"),
    (_numeric(lambda right, wrong: _same(right**2, wrong)), "the square of what it should be"),
    (
        _numeric(lambda right, wrong: _same(np.maximum(right, 0), wrong)),
        "right, but zero where it should be negative",
    ),
    (
        _numeric(lambda right, wrong: _same(right, np.maximum(wrong, 0))),
        "right, but negative where it should be zero",
    ),
]

_TEXT_RULES: list[tuple[Callable[[str, str], bool], str]] = [
    (
        lambda right, wrong: right.lower() == wrong.lower(),
        "the right text, but upper and lower case differ",
    ),
    (
        lambda right, wrong: _word_characters(right) == _word_characters(wrong),
        "the right words, but with other punctuation (brackets, quotes, dots or separators)",
    ),
    (
        lambda right, wrong: wrong != "" and right.endswith(wrong),
        "only the end of the right text: what comes before it is missing",
    ),
    (
        lambda right, wrong: wrong != "" and right.startswith(wrong),
        "only the beginning of the right text",
    ),
    (lambda right, wrong: right in wrong, "the right text with more text around it"),
    (lambda right, wrong: wrong == "", "an empty text"),
]


def _one_number(wrong: Sequence[Place]) -> str:
    """Return a clause where one factor or one difference is between all numbers, or ""."""
    pairs = list(_number_pairs(wrong))
    if not pairs:
        return ""
    right = np.concatenate([pair[0] for pair in pairs])
    got = np.concatenate([pair[1] for pair in pairs])
    if not (np.isfinite(right).all() and np.isfinite(got).all()):
        return ""
    off = got - right
    if (np.abs(off) > 1e-6).sum() < FEWEST:
        return ""
    if len({round(number, 6) for number in right.tolist()}) > 1:
        if np.ptp(got) == 0:
            return f"always {got[0]:g}"
        if right.all() and np.ptp(got / right) < CLOSE * np.abs(got / right).max():
            return _factor(float((got / right).mean()))
        if np.ptp(off) < CLOSE * np.abs(off).max():
            by = "by one" if math.isclose(abs(off[0]), 1, rel_tol=CLOSE) else "by the same amount"
            return f"too {'high' if off[0] > 0 else 'low'}, everywhere {by}"
    if np.allclose(got, right, rtol=NEARLY, atol=1e-3):
        return "nearly right, but not quite"
    if (off >= 0).all() or (off <= 0).all():
        return f"too {'high' if off.max() > 0 else 'low'}"
    if (np.abs(got) <= np.abs(right)).all():
        return "too near to zero"
    if (np.abs(got) >= np.abs(right)).all():
        return "too far from zero"
    return ""


def _number_pairs(wrong: Sequence[Place]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for place in wrong:
        right, got = numbers(place.expected), numbers(place.got)
        if right is None or got is None or right.shape != got.shape:
            return
        yield right.ravel(), got.ravel()


def _factor(factor: float) -> str:
    named = {2.0: "twice", 0.5: "half of"}
    for value, name in named.items():
        if math.isclose(factor, value, rel_tol=CLOSE):
            return f"{name} what it should be"
    size = "large" if abs(factor) > 1 else "small"
    return f"too {size}, everywhere by the same factor"
