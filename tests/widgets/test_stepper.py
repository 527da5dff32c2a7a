"""The stepper without a browser: its steps are those of JAX."""

import re
from collections import OrderedDict, defaultdict, namedtuple

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course import steps
from pytree_course.widgets.stepper import MOST_NODES
from pytree_course.widgets.walking import walk

Pair = namedtuple("Pair", ["x", "y"])
calls: list = []


@jax.tree_util.register_pytree_node_class
class Starred:
    """A custom node whose aux_data looks like leaves, and which notes its calls."""

    def __init__(self, child, aux="[*, *])"):
        self.child, self.aux = child, aux

    def tree_flatten(self):
        calls.append("flatten")
        return (self.child,), self.aux

    @classmethod
    def tree_unflatten(cls, aux, children):
        calls.append(("unflatten", aux, children))
        return cls(*children, aux)


@jax.tree_util.register_pytree_node_class
class Forgetful(Starred):
    """Loses its aux_data on the way back."""

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, "forgotten")


@jax.tree_util.register_pytree_node_class
class Broken(Starred):
    """Cannot be put together again."""

    @classmethod
    def tree_unflatten(cls, aux, children):
        raise KeyError("no way back")


class Closed:
    """Cannot be taken apart."""


def fail(value):
    raise RuntimeError("no way in")


jax.tree_util.register_pytree_node(Closed, fail, lambda aux, children: Closed())

leaves = st.none() | st.integers() | st.text(max_size=3)
trees = st.recursive(
    leaves,
    lambda children: (
        st.lists(children, max_size=4)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from(["*", "a", "b, *"]), children, max_size=3)
        | st.dictionaries(st.sampled_from("ba"), children).map(OrderedDict)
        | st.dictionaries(st.sampled_from("ba"), children).map(lambda d: defaultdict(list, d))
        | st.tuples(children, children).map(lambda pair: Pair(*pair))
        | children.map(Starred)
    ),
    max_leaves=12,
)


@given(trees)
def test_the_steps_lead_to_what_jax_makes_of_the_tree(tree):
    flat, structure = jax.tree.flatten(tree)
    way = walk(tree)
    down = [step for step in way if step.half == "flatten"]
    assert down[-1].structure == str(structure)
    assert len(down[-1].leaves) == len(flat)
    assert len(way) == 2 * structure.num_nodes + 3
    assert way[-1].title == "The tree is whole again."
    assert [len(step.leaves) for step in down] == sorted(len(step.leaves) for step in down)
    assert way[-1].used == len(flat)


def test_a_custom_nodes_own_functions_are_called():
    calls.clear()
    stepper = steps({"in": Starred(1, "unit")})
    assert ("unflatten", "unit", (1,)) in calls
    text = stepper.static.text
    assert "the flatten function of the class returns" in text
    assert "comes out: Starred(1) with aux_data 'unit'" in text


def test_exceptions_are_the_last_step():
    for tree, what in ((Closed(), "RuntimeError: no way in"), (Broken(1), "no way back")):
        stepper = steps([1, tree])
        last = stepper.steps[-1]
        assert last.failed
        assert what in dict(last.facts)["It raised"]
        stepper.last.click()
        assert what in stepper.view.value
        assert what in stepper.static.html


def test_functions_that_do_not_fit_together_are_noticed():
    assert "do not fit together" in walk(Forgetful(1, "kept"))[-1].title


def test_keys_that_cannot_be_sorted_are_told():
    assert "It raised" in steps({1: 1, "a": 2}).static.text


def test_forward_and_back():
    stepper = steps([1, 2])
    count = len(stepper.steps)
    seen = [stepper.number.value]
    for button in ("forward", "forward", "back", "last", "forward", "first", "back"):
        getattr(stepper, button).click()
        seen.append(stepper.number.value)
    assert seen == [1, 2, 3, 2, count, count, 1, 1]
    stepper.number.value = 3
    assert f"step 3 of {count}" in stepper.view.value


def test_what_is_in_pieces_is_pale_and_the_present_place_has_a_ring():
    stepper = steps([1, 2])
    pale, rings = [], []
    for number in range(1, len(stepper.steps) + 1):
        stepper.number.value = number
        pale.append(len(re.findall("<g[^>]* opacity=", stepper.view.value)))
        rings.append(stepper.view.value.count('stroke="#c2500c"'))
    assert pale == [0, 0, 1, 2, 3, 2, 1, 0, 0]
    assert rings == [0, 1, 1, 1, 0, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("tree", "words"),
    [
        ([0] * MOST_NODES, f"has {MOST_NODES + 1} nodes and leaves"),
        ([0] * 50_000, "more than 40,000"),
    ],
)
def test_large_trees_are_refused(tree, words):
    stepper = steps(tree)
    assert stepper.steps == []
    assert words in stepper.view.value
    assert words in stepper.static.html
    assert words in stepper.static.text


def test_the_static_form_lists_all_steps():
    stepper = steps({"s": [1, None]})
    assert len(re.findall("<li><p>", stepper.static.html)) == len(stepper.steps)
