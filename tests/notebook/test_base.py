"""Short texts in widgets: the same on every run and machine."""

import jax.numpy as jnp
import numpy as np
import pytest

from pytree_course.notebook.base import (
    align,
    describe,
    error_line,
    error_words,
    function_name,
    repr_text,
)


class Long:
    def __repr__(self):
        return "Long(\n" + "x" * 99


@pytest.mark.parametrize(
    ("value", "described", "written"),
    [
        (2.0, "2.0", "2.0"),
        (1 / 3, "0.33333", "0.3333333333333333"),
        (jnp.array(1 / 3), "f32[] 0.3333", "f32[] 0.3333"),
        (np.arange(4), "np i64[4] [0, 1, 2, 3]", "np i64[4] [0, 1, 2, 3]"),
        (np.arange(5), "np i64[5]", "np i64[5]"),
        (jnp.zeros((0, 2)), "f32[0,2]", "f32[0,2]"),
        ({"a": [1]}, "{'a': [1]}", "{'a': [1]}"),
        (len, "function len", "<built-in function len>"),
        (Long, "class Long", "<class 'tests.notebook.test_base.Long'>"),
        ([object()], "[object object]", "[object object]"),
        (Long(), "Long object", "Long( xxxxxxxxxxxxxx…xxxxxxxxxxxxxxxxxxx"),
    ],
)
def test_a_value_is_described_and_written(value, described, written):
    assert (describe(value), repr_text(value)) == (described, written)


def test_errors_functions_and_rows_in_short():
    assert error_words(ValueError(" no\nmore ")) == "ValueError: no\nmore"
    assert error_line(ValueError("no\nmore")) == "ValueError: no"
    assert error_words(KeyError()) == "KeyError"
    assert error_words(SyntaxError("bad", ("<cell>", 1, 1, "x"))) == "SyntaxError: bad"
    assert [*map(function_name, (len, lambda: 0, object(), Long()))] == ["len", *"fff"]
    assert align([("a", "bb", ""), ("ccc", "d", "e")]) == ["a    bb", "ccc  d   e"]
