"""What the trace counter promises: it counts what JAX traces, and names what changed."""

from functools import partial

import equinox as eqx
import jax
import numpy as np
import pytest
from markupsafe import escape

from pytree_course import count_traces
from pytree_course.notebook.traces import TraceCounter
from tests.observing.test_observe import Scaled


def log(counter: TraceCounter) -> list[tuple[str, str]]:
    return [(row.outcome[2:], row.why) for row in counter.trace_log.rows]


SAME = ("cached", "same key as call 1")


def test_the_first_calls():
    counter = count_traces(lambda x: x * 2, np.ones, shape=[2, 3, 4])
    assert log(counter) == [("traced", "first call"), SAME, ("traced", "x: f32[2] → f32[3]"), SAME]
    assert counter.values == {"shape": 2}
    heading, _, columns, *_ = repr(counter).splitlines()
    assert heading == "f · 2 traces in 4 calls"
    assert columns == "call  shape  trace     result                  why"


def test_the_chosen_values_are_the_arguments():
    counter = count_traces(lambda x, flip: x, x=[1.0, 2, True], flip=[False])
    assert counter.trace_log.rows[2].why == "x: weak f32[] → weak i32[]"
    # Equal values are told apart.
    counter = count_traces(lambda x: x, x=[1, 1.0, np.float32(1)])
    assert counter.trace_log.rows[2].why == "x: weak i32[] → weak f32[]"


def test_a_jitted_function_is_refused():
    for jit in (jax.jit, eqx.filter_jit):
        with pytest.raises(TypeError, match="it jits it itself"):
            count_traces(jit(lambda x: x))


FLOATS = "; ".join(f"x[{place}]: weak i32[] → weak f32[]" for place in range(3))


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (lambda: np.ones(2), lambda: np.ones(2, int), "x: f32[2] → i32[2]"),
        (lambda: 1.0, lambda: np.float32(1), "x: weak f32[] → f32[]"),
        (lambda: {"a": [1]}, lambda: {"a": (1,)}, "x['a']: list of 1 → tuple of 1"),
        (lambda: {"a": 1}, lambda: {"a": 1, "b": 1}, "x: dict of 1: 'a' → dict of 2: 'a', 'b'"),
        (lambda: [None], lambda: [1], "x[0]: None → weak i32[]"),
        (
            lambda: Scaled(1, "relu"),
            lambda: Scaled(1, "tanh"),
            "x: Scaled of 1, aux_data 'relu' → Scaled of 1, aux_data 'tanh'",
        ),
        (lambda: [1] * 3, lambda: [1.0] * 3, f"{FLOATS}"),
        (lambda: [1] * 5, lambda: [1.0] * 5, f"{FLOATS}; and 2 more changes"),
    ],
)
def test_what_changed_is_named(first, second, reason):
    both = [first, second]
    counter = count_traces(lambda x: 0, lambda n: both[n](), n={"one": 0, "two": 1})
    assert log(counter)[2:4] == [("traced", reason), SAME]


def test_what_is_static_is_a_part_of_the_key_and_equal_aux_data_is_none():
    jit = partial(jax.jit, static_argnames="n")
    [*_, traced, again] = log(count_traces(lambda x, n: x, jit=jit, x=[1], n=[1, 2]))
    static = "nothing else changed, so this is static: a part of the key"
    assert (traced, again) == (("traced", f"n: 1 → 2; {static}"), SAME)
    both = [Scaled(1, 1), Scaled(1, 1.0)]
    [*_, equal, _] = log(count_traces(lambda x: 0, lambda n: both[n], n=[0, 1]))
    reads = "x: Scaled of 1, aux_data 1 → Scaled of 1, aux_data 1.0"
    is_old = "for JAX this is equal to call 1: JAX uses the old trace"
    assert equal == ("cached", f"{reads}, but {is_old}")


@pytest.mark.parametrize(
    ("function", "value", "outcome", "why"),
    [
        (lambda x: 1 if x else 2, 1, "TracerBoolConversionError", "while the function was traced"),
        (lambda x: [][0], 1, "IndexError", "while the function was traced"),
        (lambda x: x, "word", "TypeError", "before any tracing"),
        (lambda x: x, {1: 0, "a": 0}, "ValueError", "before any tracing"),
    ],
)
def test_an_error_is_logged_with_its_message(function, value, outcome, why):
    counter = count_traces(function, lambda: value)
    assert log(counter) == [(outcome, f"raised {why}")] * 2
    message = counter.trace_log.rows[0].message
    assert str(escape(message)) in counter._live.value
    assert str(escape(message)) not in counter.static.html  # it depends on JAX's version
