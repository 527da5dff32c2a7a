"""An observation is plain JSON, equal for equal values, and always bounded."""

import json
import sys
import unicodedata
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.observing.observations import MAX_NODES, writable
from pytree_course.observing.observe import observe, observe_raised
from pytree_course.observing.untrusted import validate

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


@jax.tree_util.register_pytree_node_class
class Broken:
    """A custom node that cannot be flattened."""

    def tree_flatten(self):
        raise RuntimeError("no")

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls()


class SubclassOfDict(dict):
    """A leaf to JAX, whatever it holds."""


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
def test_every_observation_is_valid_and_survives_json(value):
    observation = observe(value)
    text = json.dumps(observation, allow_nan=False)
    assert validate(json.loads(text)) == observation


@given(values)
def test_an_observation_has_the_leaves_that_jax_sees(value):
    def leaves(observation):
        if observation["kind"] == "node":
            return sum(leaves(child) for _, child in observation["children"])
        return 0 if observation["kind"] == "none" else 1

    assert leaves(observe(value)) == len(jax.tree.leaves(value))


@given(st.dictionaries(st.text(max_size=3), scalars))
def test_key_paths_are_those_of_jax(tree):
    keys = [key for key, _ in observe(tree)["children"]]
    assert keys == [jax.tree_util.keystr((jax.tree_util.DictKey(key),)) for key in sorted(tree)]


@pytest.mark.parametrize(
    ("value", "kind", "type_name"),
    [
        ({}, "node", "dict"),
        ([], "node", "list"),
        ((), "node", "tuple"),
        (OrderedDict(b=1), "node", "OrderedDict"),
        (defaultdict(list), "node", "defaultdict"),
        (Pair(1, 2), "node", "Pair"),
        (Scaled(1, "m"), "node", "Scaled"),
        (SubclassOfDict(a=1), "container leaf", "SubclassOfDict"),
        (Counter("aab"), "container leaf", "Counter"),
        ({1, 2}, "container leaf", "set"),
        (deque([1]), "container leaf", "deque"),
        (True, "number", "bool"),
        (1, "number", "int"),
        (1.0, "number", "float"),
        (np.float32(1), "number", "numpy.float32"),
        ("text", "string", "str"),
        (b"bytes", "string", "bytes"),
        (object(), "object", "object"),
        (print, "object", "builtin_function_or_method"),
        ({1: "a", "1": "b"}, "object", "dict"),  # keys that cannot be sorted
    ],
)
def test_kinds_and_types(value, kind, type_name):
    observation = observe(value)
    assert (observation["kind"], observation["type"]) == (kind, type_name)


def test_namedtuple_children_have_their_fields_names():
    assert [key for key, _ in observe(Pair(1, 2))["children"]] == [".x", ".y"]


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        (None, {"kind": "none"}),
        (..., {"kind": "not attempted"}),
        (Scaled(1.0, "m"), {"aux": {"kind": "string", "type": "str", "value": "m"}}),
        (np.zeros(1), {"library": "numpy"}),
        (jnp.zeros(1), {"library": "jax"}),
        (np.zeros(1, ml_dtypes.bfloat16), {"dtype": "bfloat16"}),
        (jax.random.key(7), {"dtype": "key<fry>", "shape": []}),
        (float("nan"), {"value": "nan"}),
        (np.array([np.inf, 1]), {"values": ["inf", 1.0]}),
        (1 + 2j, {"value": [1.0, 2.0]}),
    ],
)
def test_what_is_seen_of_a_value(value, seen):
    observation = observe(value)
    assert observation == observation | seen
    assert seen.get("kind") is None or observation == seen


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int4", "int8", "uint32", "float16", "bfloat16", "float8_e4m3fn", "float32"],
)
def test_arrays_of_every_dtype(dtype):
    observation = observe(jnp.asarray(np.ones((2, 1)), dtype))
    assert (observation["dtype"], observation["shape"]) == (dtype, [2, 1])
    assert observation["values"] == [1, 1]


def test_random_keys_differ_by_their_values():
    assert observe(jax.random.key(8)) != observe(jax.random.key(7))


def test_half_a_character_can_be_written():
    json.dumps(observe("\ud800"), allow_nan=False).encode()


def test_structures_are_observed_with_stars_for_leaves():
    observation = observe(jax.tree.structure({"a": 1, "b": (None, 2)}))
    (key_a, star), (key_b, pair) = observation["tree"]["children"]
    assert (key_a, star, key_b) == ("['a']", {"kind": "star"}, "['b']")
    assert [child["kind"] for _, child in pair["children"]] == ["none", "star"]


def test_a_tracer_that_left_its_function():
    leaked = []
    jax.jit(lambda x: leaked.append(x) or x)(1.0)
    assert observe(leaked[0])["kind"] == "tracer"


def test_a_donated_array_is_not_read():
    array = jnp.ones(2)
    array.delete()
    assert "deleted" in observe(array)["why"]


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
        ([0] * (MAX_NODES + 1), "nodes and leaves"),
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
    assert observation["kind"] == "unbounded"
    assert why in observation["why"]


def test_a_hostile_object_is_observed_all_the_same():
    class Hostile:
        def __getattribute__(self, name):
            raise AssertionError(f"{name} was looked up")

        def __eq__(self, other):
            return True

        __hash__ = object.__hash__

    [(_, observation)] = observe([Hostile()])["children"]
    assert (observation["kind"], observation["type"]) == ("object", "Hostile")


def test_a_node_whose_flatten_fails_is_said_to_fail():
    assert "RuntimeError" in observe(Broken())["why"]


def test_exceptions_are_seen_by_type_and_mentions():
    observation = observe_raised(KeyError("layer2"), mentions=("layer2", "layer3"))
    assert observation["type"] == "KeyError"
    assert "LookupError" in observation["bases"]
    assert observation["mentions"] == {"layer2": True, "layer3": False}


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"kind": "unheard of"},
        {"kind": "node", "type": "dict"},
        {"kind": "node", "type": "dict", "children": [["a"]]},
        {"kind": "array", "library": "jax", "dtype": "float32", "shape": ["2"], "values": []},
        {"kind": "number", "type": "int"},
    ],
)
def test_what_is_no_observation_is_refused(data):
    with pytest.raises(ValueError, match=r"."):
        validate(data)


def test_a_static_object_is_a_node_without_children_and_its_own_aux_data():
    @jax.tree_util.register_static
    class Config:
        pass

    static = {"kind": "object", "type": "Config"}
    node = {"kind": "node", "type": "Config", "custom": True, "aux": static, "children": []}
    assert observe(Config()) == node
    assert observe([Config(), 1])["children"][0] == ["[0]", node]
    structure = observe(jax.tree.structure(Config()))
    assert structure["tree"]["aux"] == node


def test_every_character_that_not_every_file_holds_is_escaped_and_no_other():
    every = set(map(chr, range(sys.maxunicode + 1)))
    controls = {character for character in every if unicodedata.category(character) == "Cc"}
    surrogates = {character for character in every if unicodedata.category(character) == "Cs"}
    escaped = {character for character in every if writable(character) != character}
    assert escaped == (controls - {"\t", "\n"}) | surrogates | {"\ufffe", "\uffff"}
