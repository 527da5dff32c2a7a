"""An observation is typed data, bounded, and JSON outside; equal values have equal ones."""

import json
from collections import OrderedDict, deque, namedtuple

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.judging.words import describe_difference
from pytree_course.observing import observations as obs
from pytree_course.observing.comparison import compare
from pytree_course.observing.observe import observe, observe_raised
from pytree_course.observing.reading import read_json

Pair = namedtuple("Pair", ["x", "y"])


@jax.tree_util.register_pytree_node_class
class Scaled:
    """A custom node with one child and aux_data."""

    def __init__(self, value, unit):
        self.value, self.unit = value, unit

    def tree_flatten(self):
        return (self.value,), self.unit

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


ONE, TEXT = obs.Number("int", 1), obs.String("str", "m")


def node(name, *children, aux=None, **kind):
    return obs.Node(type=name, aux=aux, children=children, **kind)


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.complex_numbers()
arrays = st.builds(np.zeros, st.sampled_from([(), (0,), (2,), (2, 3)]))
values = st.recursive(
    scalars | arrays | st.sampled_from(["a", "a/b", "['a']"]),
    lambda children: (
        st.lists(children, max_size=4)
        | st.lists(children, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=4), children, max_size=4)
        | st.tuples(children, children).map(lambda pair: Pair(*pair))
        | children.map(lambda child: Scaled(child, "m"))
        | st.frozensets(st.integers(), max_size=3)
    ),
    max_leaves=20,
)


@given(values)
def test_an_observation_has_the_leaves_that_jax_sees_is_valid_and_survives_json(value):
    observation = observe(value)
    text = json.dumps(msgspec.to_builtins(observation), allow_nan=False)
    assert read_json(obs.Observation, text) == observation
    encoded = msgspec.json.encode(observation)
    assert msgspec.json.decode(encoded, type=obs.Observation) == observation
    pairs = jax.tree.leaves_with_path(value)
    assert obs.count_leaves(observation) == len(pairs)
    if not isinstance(observation, obs.Unbounded):
        paths = {tuple(jax.tree_util.keystr((key,)) for key in path) for path, _ in pairs}
        assert paths <= {path for path, _ in obs.all_parts(observation)}


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, obs.NoneValue()),
        (..., obs.NotAttempted()),
        (OrderedDict(b=1), node("OrderedDict", ("['b']", ONE))),
        (Pair(1, 1), node("Pair", (".x", ONE), (".y", ONE), is_namedtuple=True)),
        (Scaled(1, "m"), node("Scaled", ("[<flat index 0>]", ONE), aux=TEXT, is_custom=True)),
        ({1}, obs.ContainerLeaf("set", (ONE,))),
        (deque([1]), obs.ContainerLeaf("deque", (ONE,))),
        (True, obs.Number("bool", True)),
        (np.float32(1), obs.Number("numpy.float32", 1.0)),
        (b"bytes", obs.String("bytes", "bytes")),
        (object(), obs.Object("object")),
        (float("nan"), obs.Number("float", "nan")),
        ("\ud800", obs.String("str", "\\ud800")),  # half a character can be written
        (1 + 2j, obs.Number("complex", (1.0, 2.0))),
        (np.array([np.inf, 1]), obs.Array("numpy", "float64", (2,), ("inf", 1.0))),
        (jnp.ones((2, 1), "bool"), obs.Array("jax", "bool", (2, 1), (True, True))),
        (jnp.ones(1, "int4"), obs.Array("jax", "int4", (1,), (1,))),
        (jnp.ones(1, "float8_e4m3fn"), obs.Array("jax", "float8_e4m3fn", (1,), (1.0,))),
    ],
)
def test_what_is_seen_of_a_value(value, seen):
    assert observe(value) == seen


def test_what_only_jax_makes():
    structure = observe(jax.tree.structure({"a": 1, "b": (None, 2)}))
    (key_a, star), (key_b, pair) = structure.tree.children
    assert (key_a, star, key_b) == ("['a']", obs.Star(), "['b']")
    assert [child for _, child in pair.children] == [obs.NoneValue(), obs.Star()]
    one, other = observe(jax.random.key(8)), observe(jax.random.key(7))
    assert (one.dtype, one.shape) == ("key<fry>", ())
    assert one != other
    leaked = []
    jax.jit(lambda x: leaked.append(x) or x)(1.0)
    assert isinstance(observe(leaked[0]), obs.Tracer)
    array = jnp.ones(2)
    array.delete()
    assert "deleted" in observe(array).why  # and its values are not read


def cyclic_list():
    tree = [1]
    tree.append(tree)
    return tree


def grown(times, grow):
    tree = [1]
    for _ in range(times):
        tree = grow(tree)
    return tree


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (cyclic_list(), "contains itself"),
        ([0] * (obs.MAX_NODES + 1), "nodes and leaves"),
        (grown(40, lambda tree: [tree, tree]), "nodes and leaves"),
        (grown(500, lambda tree: [tree]), "deep"),
        (np.zeros(10**6), "numbers"),
        ("a" * 10**6, "characters"),
        ([10**5000], "bits"),
    ],
    ids=["cycle", "wide", "shared", "deep", "array", "text", "integer"],
)
def test_values_without_end_become_one_clear_observation(value, why):
    observation = observe({"result": value})
    assert isinstance(observation, obs.Unbounded)
    assert why in observation.why


def test_a_hostile_object_is_observed_all_the_same():
    class Hostile:
        def __getattribute__(self, name):
            raise AssertionError(f"{name} was looked up")

        def __eq__(self, other):
            return True

        __hash__ = object.__hash__

    assert observe({1: "a", "1": "b"}).has_failed  # its keys cannot be sorted
    [(_, observation)] = observe([Hostile()]).children
    why = "looking into it raised AssertionError"
    assert observation == obs.Object("Hostile", why=why, has_failed=True)


def test_exceptions_are_seen_by_type_and_mentions():
    observation = observe_raised(KeyError("layer2"), mentions=("layer2", "layer3"))
    assert observation == obs.Raised(
        type="KeyError",
        bases=("KeyError", "LookupError", "Exception", "BaseException"),
        mentions={"layer2": True, "layer3": False},
        message="'layer2'",
    )


def test_a_static_object_is_a_node_without_children_and_its_own_aux_data():
    @jax.tree_util.register_static
    class Config:
        pass

    node = obs.Node(type="Config", is_custom=True, aux=obs.Object("Config"), children=())
    assert observe([Config(), 1]).children[0] == ("[0]", node)
    assert observe(jax.tree.structure(Config())).tree.aux == node


def test_what_not_every_file_holds_is_escaped_and_nothing_else():
    assert obs.make_writable("\x00\x1b[31m\ud800\uffff") == r"\x00\x1b[31m\ud800\uffff"
    assert obs.make_writable("tabs\tand\nlines, é, 漢, 🌳") == "tabs\tand\nlines, é, 漢, 🌳"


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
        ((1, 2), [1, 2]),
        ((1, 2), Pair(1, 2)),
        ({"a": 1}, OrderedDict(a=1)),
        ({"a": 1}, {"a": 1, "b": 2}),
        ("a", b"a"),
        (np.zeros(2), jnp.zeros(2)),
        (jnp.zeros(2), jnp.zeros(2, jnp.int32)),
        (jnp.zeros((2, 1)), jnp.zeros((1, 2))),
        (jnp.ones(2), jnp.ones(2) * 1.001),
        (Scaled(1, "m"), Scaled(1, "km")),
        (OrderedDict(a=1, b=2), OrderedDict(b=2, a=1)),
        (0.0, float("nan")),
        ({1, 2}, {1, 2, 3}),
        (deque([1, 2]), deque([1])),
    ],
)
def test_these_differ(expected, got):
    difference = compare(observe(expected), observe(got))
    assert difference is not None
    assert describe_difference(difference)


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (float("nan"), float("nan")),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (jnp.ones(2), jnp.ones(2) + 1e-7),
        (jnp.ones(1, jnp.bfloat16), jnp.ones(1, jnp.bfloat16) + 0.008),
    ],
)
def test_these_agree(expected, got):
    assert compare(observe(expected), observe(got)) is None


def test_the_first_difference_is_named_by_key_path():
    expected = observe({"a": 1, "b": [2, {"c": 3}]})
    difference = compare(expected, observe({"a": 1, "b": [2, {"c": 4}]}))
    assert (difference.path, describe_difference(difference)) == (
        ("['b']", "[1]", "['c']"),
        "expected 3, not 4",
    )
    assert describe_difference(compare(expected, observe({"a": 1}))) == "['b'] is missing"


def test_of_long_texts_the_part_that_differs_is_shown():
    expected, got = ("equal " * 30 + f"{word} and more " * 9 for word in ("black", "white"))
    words = describe_difference(compare(observe(expected), observe(got)))
    assert words.startswith("expected '…equal equal equal equal equal black and more")
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
