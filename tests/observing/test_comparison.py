"""Two observations agree, or part at a first place, which is said in words."""

from collections import OrderedDict, deque

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given

from pytree_course.judging.words import describe_failure
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare, skeleton, without_message
from pytree_course.observing.observe import observe, observe_raised
from tests.observing.test_observe import TEXT, Pair, Scaled, node, values


@given(values, values)
def test_compare_is_reflexive_and_symmetric_in_whether_there_is_a_difference(one, other):
    assert compare(observe(one), observe(one)) is None
    there, back = compare(observe(one), observe(other)), compare(observe(other), observe(one))
    assert (there is None) == (back is None)


def seen(value):
    return value if isinstance(value, obs.Observed) else observe(value)


MENTIONS = observe_raised(KeyError("layer2"), ["layer2"])
MENTIONS_NOT = observe_raised(KeyError("layer3"), ["layer2"])
ORDER = "the children should be in this order: ['a'], ['b']; not in this order: ['b'], ['a']"
LONG = "…" + "equal " * 4 + "equal"


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        (1, 1.0, "expected int 1, not float 1.0"),
        (1, True, "expected int 1, not bool True"),
        (None, 1, "expected None, not int 1"),
        ((1, 2), [1, 2], "expected a tuple, not a list"),
        ((1, 2), Pair(1, 2), "expected a tuple, not a Pair"),
        ({"a": 1}, OrderedDict(a=1), "expected a dict, not an OrderedDict"),
        ({"a": 1}, {"a": 1, "b": 2}, "at ['b'], the result should not have ['b']"),
        ({"a": 1, "b": 2}, {"a": 1}, "at ['b'], ['b'] is missing"),
        ({"a": [2, {"c": 3}]}, {"a": [2, {"c": 4}]}, "at ['a'][1]['c'], expected 3, not 4"),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1), ORDER),
        ("a", b"a", "expected str 'a', not bytes 'a'"),
        ("a", "b", "expected 'a', not 'b'"),
        (np.zeros(2), jnp.zeros(2), "expected a NumPy array of float64 with shape (2,), not a JAX"),
        (jnp.zeros(2), jnp.zeros(2, int), "expected a JAX array of float32 with shape (2,), not a"),
        (jnp.zeros((2, 1)), jnp.zeros((1, 2)), "expected a JAX array of float32 with shape (2, 1)"),
        (jnp.ones(2), jnp.ones(2) * 1.001, "expected 1.0 at index 0, not 1.001"),
        (jnp.arange(3), jnp.array([0, 1, 5]), "expected 2 at index 2, not 5"),
        (jnp.ones(1), jnp.zeros(1), "expected 1.0, not 0.0"),
        (
            obs.Array("", "", (2,), (1,)),
            obs.Array("", "", (2,), ()),
            "the arrays have different nu",
        ),
        (1.0, 1.00002, "expected 1.0, not 1.00002"),
        (0.0, 2e-6, "expected 0.0, not 2e-06"),
        (0.0, float("nan"), "expected 0.0, not nan"),
        (float("nan"), 0.0, "expected nan, not 0.0"),
        (np.float16(1), np.float16(1.02), "expected 1.0, not 1.01953125"),
        (1 + 2j, 1 + 2.1j, "expected 1+2j, not 1+2.1j"),
        (Scaled(1, "m"), Scaled(1, "km"), "the node has different aux_data"),
        (node("A"), node("A", aux=TEXT), "one of the two results has aux_data, and the other has"),
        (jax.tree.structure([1]), jax.tree.structure((1,)), "the two tree structures differ"),
        ({1, 2}, {1, 2, 3}, "the items of this set differ"),
        (deque([1, 2]), deque([1]), "the items of this deque differ"),
        (print, len, "expected a builtin"),
        (MENTIONS, MENTIONS_NOT, "the error's message should mention 'layer2'"),
        (MENTIONS_NOT, MENTIONS, "the error's message should not mention 'layer2'"),
        (MENTIONS, observe_raised(ValueError("layer2")), "expected KeyError, not ValueError"),
        (MENTIONS, KeyError(), "your code returned the KeyError; it should raise the KeyError"),
        # Of long texts, the part that differs is shown.
        ("equal " * 99 + "black", "equal " * 99 + "white", f"expected '{LONG} black', not '{LONG}"),
    ],
)
def test_a_difference_is_named_with_its_place(expected, got, said):
    difference = compare(seen(expected), seen(got))
    assert describe_failure("", difference).startswith(f": {said}")


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (float("nan"), float("nan")),
        (1.0, 1.000005),
        (0.0, 5e-7),
        (1 + 2j, 1 + 2.000001j),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (jnp.ones(2), jnp.ones(2) + 1e-7),
        (jnp.ones(1, jnp.bfloat16), jnp.ones(1, jnp.bfloat16) + 0.008),
        (np.float16(1), np.float16(1.009)),
        (obs.NoneValue(), obs.LEAF_NONE),
        ("a" * 10**6, [0] * 10**6),  # both without end
        (obs.Object("Own", why="looking into it raised"), obs.Object("Own")),
        # A subclass is as good, and the wording does not count.
        (observe_raised(LookupError("3, not 2"), "23"), observe_raised(KeyError("2 != 3"), "23")),
        (MENTIONS, without_message(MENTIONS)),
    ],
)
def test_these_agree(expected, got):
    assert compare(seen(expected), seen(got)) is None


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("got 'a' and it's 2\n\nmore", "got … and it's …"),
        ("<f> at 0x12ab in /tmp/x.py:3, `y` or (z) [1] {2}", "… at … in …, … or … … …"),
        (" in x.py:3:4, 3.5", "in …, …"),
        ("word " * 300, "word " * 40),
    ],
)
def test_of_a_message_what_varies_is_left_out(message, kept):
    assert skeleton(message) == kept
    assert without_message(MENTIONS).message == ""
