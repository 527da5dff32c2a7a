"""An observation is typed data, bounded, and JSON outside; equal values have equal ones."""

import json
from collections import OrderedDict, defaultdict, deque, namedtuple

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.observing import observations as obs
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


ONE, TWO, TEXT = obs.Number("int", 1), obs.Number("int", 2), obs.String("str", "m")
DAYS = ("datetime64[D]", (1,), ("2026-03-02",))


def node(name, *children, aux=None, **kind):
    return obs.Node(type=name, aux=aux, children=children, **kind)


ITEMS = tuple(node("tuple", ("[0]", obs.String("str", key)), ("[1]", ONE)) for key in "mn")
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
        (np.array([0.1], "float32"), obs.Array("numpy", "float32", (1,), (0.1,))),
        (np.array([1 / 3]), obs.Array("numpy", "float64", (1,), (1 / 3,))),
        (np.array([[1, 2], [3, 4]]), obs.Array("numpy", "int64", (2, 2), (1, 2, 3, 4))),
        (np.array(["a\0b"]), obs.Array("numpy", "<U3", (1,), ("a\\x00b",))),
        (np.array([b"a"]), obs.Array("numpy", "|S1", (1,), ("a",))),
        (np.array(["2026-03-02"], "M8[D]"), obs.Array("numpy", *DAYS)),
        (np.array([None]), obs.Object("ndarray", why="it has dtype object")),
        (np.bool_(True), obs.Number("numpy.bool", True)),
        (defaultdict(int, b=1), node("defaultdict", ("['b']", ONE), aux=obs.Object("type", "int"))),
        (frozenset({2, 1}), obs.ContainerLeaf("frozenset", (ONE, TWO))),
        (type("Own", (dict,), {})(n=1, m=1), obs.ContainerLeaf("Own", ITEMS)),
        (jax.ShapeDtypeStruct((2,), "int8"), obs.ShapeStruct("int8", (2,))),
        (jax.tree_util.SequenceKey(1), obs.KeyEntry("SequenceKey", "[1]")),
        (len, obs.Object("builtin_function_or_method", "len")),
    ],
)
def test_what_is_seen_of_a_value(value, seen):
    assert observe(value) == seen


def test_what_only_jax_makes():
    trees = [OrderedDict(a=1), defaultdict(int, a=1), Pair(1, 2), Scaled(1, "m")]
    structures = observe(jax.tree.structure(trees)).tree.children
    assert [(each.type, each.keys, each.aux) for _, each in structures] == [
        ("OrderedDict", ["['a']"], None),
        ("defaultdict", ["['a']"], obs.Object("type", "int")),
        ("Pair", [".x", ".y"], None),
        ("Scaled", ["[0]"], TEXT),
    ]
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


@pytest.mark.parametrize(
    "value",
    [
        [0] * (obs.MAX_NODES - 2),  # with the node, and the dict around it
        grown(obs.MAX_DEPTH - 2, lambda tree: [tree]),
        [np.zeros(obs.MAX_ELEMENTS - 1), np.zeros(1)],
        "a" * obs.MAX_CHARACTERS,
        2**obs.MAX_INT_BITS - 1,
        [shared := [1], shared],
    ],
    ids=["wide", "deep", "arrays", "text", "integer", "shared"],
)
def test_up_to_its_limits_a_value_is_observed_and_read_again(value):
    observation = observe({"result": value})
    assert isinstance(observation, obs.Node)
    assert read_json(obs.Observation, msgspec.json.encode(observation)) == observation


def test_a_picture_needs_no_numbers_and_stops_where_jax_was_told_to():
    drawn = observe({"a": np.zeros(10**6), "b": [None]}, values=False)
    assert drawn.children[0][1] == obs.Array("numpy", "float64", (10**6,), ())
    assert isinstance(observe([0] * obs.MAX_NODES, values=False), obs.Node)
    assert observe([None], is_leaf=lambda part: part is None).children == (("[0]", obs.LEAF_NONE),)
    assert observe({"a": [1]}, is_leaf=lambda part: type(part) is list) == node(
        "dict", ("['a']", obs.ContainerLeaf("list", (ONE,)))
    )


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


def test_leaves_are_listed_in_jaxs_order_with_their_paths():
    tree = observe([{"b": 2, "a": (1, None)}, 3])
    leaves = [(path, obs.integer(leaf)) for path, leaf in obs.all_leaves(tree)]
    assert leaves == [(("[0]", "['a']", "[0]"), 1), (("[0]", "['b']"), 2), (("[1]",), 3)]
    assert [*map(obs.integer, (TEXT, observe(True), observe(1.0)))] == [None] * 3
    assert obs.count_leaves(observe([None], is_leaf=lambda part: part is None)) == 1


def test_what_not_every_file_holds_is_escaped_and_nothing_else():
    assert obs.make_writable("\0" * 9, limit=6) == r"\x00\x"
    assert (obs.is_writable("a\n\t\xa0🌳"), obs.is_writable("\x85")) == (True, False)
    assert obs.make_writable("\x00\x1b[31m\ud800\uffff") == r"\x00\x1b[31m\ud800\uffff"
    assert obs.make_writable("tabs\tand\nlines, é, 漢, 🌳") == "tabs\tand\nlines, é, 漢, 🌳"
