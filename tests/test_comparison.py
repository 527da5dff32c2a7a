"""Compare: structures and types exactly, floats with a tolerance."""

from collections import OrderedDict

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from pytree_course.judging.words import reason
from pytree_course.observing.comparison import compare
from pytree_course.observing.observe import observe, observe_raised
from tests.test_trees import Pair, Scaled, values


@given(values, values)
def test_compare_is_reflexive_and_symmetric_in_whether_there_is_a_difference(one, other):
    assert compare(observe(one), observe(one)) is None
    there, back = compare(observe(one), observe(other)), compare(observe(other), observe(one))
    assert (there is None) == (back is None)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (1, 1.0),
        (1, True),
        (1, np.int64(1)),
        ((1, 2), [1, 2]),
        ((1, 2), Pair(1, 2)),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 1}, {"a": 1, "b": 2}),
        ([None], [0]),
        ([None], []),
        ("a", b"a"),
        ({1}, frozenset({1})),
        (np.zeros(2), jnp.zeros(2)),
        (jnp.zeros(2), jnp.zeros(2, jnp.int32)),
        (jnp.zeros((2, 1)), jnp.zeros((1, 2))),
        (jnp.ones(2), jnp.ones(2) * 1.001),
        (Scaled(1, "m"), Scaled(1, "km")),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (0.0, float("nan")),
    ],
)
def test_these_differ(expected, got):
    difference = compare(observe(expected), observe(got))
    assert difference is not None
    assert reason(difference)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (0.1 + 0.2, 0.3),
        (float("nan"), float("nan")),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (jnp.ones(2), jnp.ones(2) + 1e-7),
        (jnp.ones(1, jnp.bfloat16), jnp.ones(1, jnp.bfloat16) + 0.008),
    ],
)
def test_these_agree(expected, got):
    assert compare(observe(expected), observe(got)) is None


@pytest.mark.parametrize(
    ("got", "path", "words"),
    [
        ({"a": 1, "b": [2, {"c": 4}]}, ("['b']", "[1]", "['c']"), "expected 3, not 4"),
        ({"a": 1}, ("['b']",), "['b'] is missing"),
    ],
)
def test_the_first_difference_is_named_by_key_path(got, path, words):
    difference = compare(observe({"a": 1, "b": [2, {"c": 3}]}), observe(got))
    assert (difference.path, reason(difference)) == (path, words)


def test_of_long_texts_the_part_that_differs_is_shown():
    expected, got = ("equal " * 30 + f"{word} and more " * 9 for word in ("black", "white"))
    words = reason(compare(observe(expected), observe(got)))
    assert words.startswith("expected '…equal equal equal equal equal black and more")
    assert "not '…equal equal equal equal equal white and more" in words
    assert len(words) < 150


@pytest.mark.parametrize(
    ("error", "agrees"),
    [
        (KeyError("2 != 3"), True),  # a subclass is as good, and the wording does not count
        (LookupError("wrong"), False),
        (ValueError("3 leaves, not 2"), False),
    ],
)
def test_an_error_agrees_by_its_type_and_what_its_message_has_to_mention(error, agrees):
    expected = observe_raised(LookupError("3 leaves, not 2"), ("3", "2"))
    assert (compare(expected, observe_raised(error, ("3", "2"))) is None) is agrees
