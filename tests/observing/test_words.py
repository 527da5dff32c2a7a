"""Observations in words: labels in a picture, expressions in a question, phrases in feedback."""

from collections import OrderedDict, defaultdict

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytree_course.observing import observations as obs
from pytree_course.observing.words import describe, expression, first_numbers, outline, summary
from tests.observing.test_comparison import seen
from tests.observing.test_observe import Pair, Scaled

LEAKED = "a tracer (a value of the trace that left its function)"


@pytest.mark.parametrize(
    ("value", "label", "code", "outlined"),
    [
        ({"b": 1.5, "a": [None]}, "dict of 2", "{'a': [None], 'b': 1.5}", "dict of 2: 'a', 'b'"),
        ((1,), "tuple of 1", "(1,)", "tuple of 1"),
        ((1, 2), "tuple of 2", "(1, 2)", "tuple of 2"),
        ([], "empty list", "[]", "empty list"),
        ([0] * 6, "list of 6", "[0, 0, 0, 0, 0, 0]", "list of 6"),
        ([0] * 7, "list of 7", "[0, 0, 0, 0, 0, 0, …]", "list of 7"),
        ([[[1]]], "list of 1", "[[list of 1]]", "list of 1"),
        (Pair(1, "x"), "Pair of 2", "Pair(x=1, y='x')", "Pair of 2"),
        (OrderedDict(a=1), "OrderedDict of 1", "OrderedDict({'a': 1})", "OrderedDict of 1: 'a'"),
        (defaultdict(int), "empty defaultdict", "defaultdict()", ", aux_data class int"),
        (Scaled(1, "m"), "Scaled of 1", "Scaled(1)", "Scaled of 1, aux_data 'm'"),
        (None, "None", "None", "None"),
        ({1, 2}, "set of 2", "set(1, 2)", "a leaf"),
    ],
)
def test_a_container_has_a_label_an_expression_and_an_outline(value, label, code, outlined):
    observation = seen(value)
    assert (summary(observation), expression(observation)) == (label, code)
    assert outline(observation).endswith(outlined)


@pytest.mark.parametrize(
    ("value", "label", "phrase"),
    [
        (True, "True", "bool True"),
        (np.float32(0.5), "np.float32(0.5)", "numpy.float32 0.5"),
        (1 - 2.5j, "1-2.5j", "complex 1-2.5j"),
        ("it's\n", '"it\'s\\n"', 'str "it\'s\\n"'),
        ("'\"", "'\\'\"'", "str '\\'\"'"),
        (b"a\\b", r"b'a\\b'", r"bytes 'a\\b'"),
        ("x" * 100, f"'{'x' * 12}…{'x' * 11}'", f"str '{'x' * 59}…'"),
        (np.zeros((2, 3), "int8"), "np i8[2,3]", "a NumPy array of int8 with shape (2, 3)"),
        (jnp.ones(2, "bfloat16"), "bf16[2]", "a JAX array of bfloat16 with shape (2,)"),
        (jnp.ones((), "bool"), "bool[]", "a JAX array of bool with shape ()"),
        (jax.tree.structure([1, 2]), "PyTreeDef of 2 leaves", "a tree structure"),
        (jax.tree_util.DictKey("a"), "key ['a']", "the key path entry ['a']"),
        (
            jax.ShapeDtypeStruct((4,), "uint8"),
            "shape u8[4]",
            "a ShapeDtypeStruct of uint8 with shape (4,)",
        ),
        (obs.Tracer("complex64", (2,)), "tracer c64[2]", LEAKED),
        (obs.Star(), "*", "a leaf"),
        (len, "function len", "a builtin_function_or_method"),
        (int, "class int", "a type"),
        (object(), "object object", "an object"),
        (..., "not attempted", "the placeholder of the starter"),
        ([0] * 10**6, "unbounded", "a value too large to compare: it has more than 20,000 nodes"),
        (obs.Raised("KeyError", (), {}, ""), "raised KeyError", "a KeyError"),
    ],
)
def test_a_leaf_has_a_label_and_a_phrase(value, label, phrase):
    assert summary(seen(value)) == label
    assert describe(seen(value)).startswith(phrase)


def test_of_many_numbers_the_first_are_written():
    assert first_numbers([*range(8)]) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert first_numbers([0.5, *range(8)]) == "0.5, 0, 1, 2, 3, 4, 5, 6, …"
