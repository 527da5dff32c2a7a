"""What the trace counter promises: it counts what JAX traces, and names what changed."""

import functools
from typing import Any
from xml.etree import ElementTree

import equinox as eqx
import ipywidgets
import jax
import numpy as np
import pytest

from pytree_course import count_traces
from pytree_course.widgets.trace_counter import TraceCounter
from pytree_course.widgets.trace_log import MOST_ROWS


def dense_class():
    """Return a new class: JAX remembers the metadata it has seen of an old one."""

    @jax.tree_util.register_pytree_node_class
    class Dense:
        def __init__(self, w: Any, aux: Any) -> None:
            self.w = w
            self.aux = aux

        def tree_flatten(self):
            return (self.w,), self.aux

        @classmethod
        def tree_unflatten(cls, aux, children):
            return cls(children[0], aux)

    return Dense


def log(counter: TraceCounter) -> list[tuple[str, str]]:
    return [(row.outcome_words[2:], row.why) for row in counter.trace_log.rows]


def changes(function, first, second, **options) -> list[str]:
    """Return the reasons of calls with the first arguments, the second, and the first again."""
    both = [first, second]
    counter = count_traces(function, lambda n: both[n](), n={"one": 0, "two": 1}, **options)
    counter.controls["n"].value = 1
    return [why for _, why in log(counter)][2:4]


SAME = ("cached", "same key as call 1")


# Counting


def test_the_first_calls():
    counter = count_traces(lambda x: x * 2, np.ones, shape=(1, 4))
    assert log(counter) == [
        ("traced", "first call"),
        SAME,
        ("traced", "shape of x: [2] → [3]"),
        SAME,
    ]
    assert counter.headline == "2 traces in 4 calls"
    assert counter.values == {"shape": 2}


def test_it_counts_what_really_ran():
    ran: list[Any] = []

    def noisy(x):
        ran.append(x)
        return x

    counter = count_traces(noisy, np.ones, shape=[1, 2, 3])
    for value in (3, 2, 1, 3):
        counter.controls["shape"].value = value
    assert counter.trace_log.traces == len(ran) == 3


def test_controls_alone_are_the_arguments():
    counter = count_traces(lambda x, flip: x, x=[1.0, 2, True], flip=False)
    counter.controls["x"].index = 2
    assert counter.trace_log.rows[-1].why == "dtype of x: weak f32[] → bool[]"
    assert counter.trace_log.rows[2].why == "dtype of x: weak f32[] → weak i32[]"


def test_equal_values_of_a_choice_are_told_apart():
    counter = count_traces(lambda x: x, x=[1, 1.0, np.float32(1)])
    assert counter.trace_log.rows[2].why == "dtype of x: weak i32[] → weak f32[]"
    counter.controls["x"].index = 1
    counter.controls["x"].index = 2
    assert counter.trace_log.rows[-1].why == "weak type of x: weak f32[] → f32[]"


def test_a_tuple_is_the_arguments_and_anything_else_one_argument():
    assert log(count_traces(lambda x, y: x, lambda: (1, 2))) == [("traced", "first call"), SAME]
    assert log(count_traces(lambda x: x[0], lambda: [1, 2]))[1] == SAME


def test_a_jitted_function_is_refused():
    with pytest.raises(TypeError, match="it jits it itself"):
        count_traces(jax.jit(lambda x: x))
    with pytest.raises(TypeError, match="it jits it itself"):
        count_traces(eqx.filter_jit(lambda x: x))


def test_an_impossible_control_is_refused():
    with pytest.raises(ValueError, match="cannot be made into a control"):
        count_traces(lambda x: x, x=object())


# Reasons


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (lambda: np.ones(2), lambda: np.ones(2, int), "dtype of x: f32[2] → i32[2]"),
        (lambda: np.ones(2), lambda: np.ones((2, 3)), "shape of x: [2] → [2, 3]"),
        (lambda: np.ones(2), lambda: 1, "shape and dtype of x: f32[2] → weak i32[]"),
        (lambda: 1.0, lambda: np.float32(1), "weak type of x: weak f32[] → f32[]"),
        (lambda: {"a": [1]}, lambda: {"a": (1,)}, "type of x['a']: a list → a tuple"),
        (lambda: {"a": [1]}, lambda: {"a": [1, 2]}, "number of children of x['a']: 1 → 2"),
        (lambda: {"a": 1}, lambda: {"a": 1, "b": 1}, "keys of x: 'a' → 'a', 'b'"),
        (lambda: [None], lambda: [1], "x[0]: None → a leaf"),
        (lambda: [{}], lambda: [1], "x[0]: a dict → a leaf"),
        (
            lambda: [1, 1, 1, 1],
            lambda: [1.0, 1.0, 1.0, 1.0],
            "dtype of x[0]: weak i32[] → weak f32[]; dtype of x[1]: weak i32[] → weak f32[]; "
            "dtype of x[2]: weak i32[] → weak f32[]; and 1 more changes",
        ),
    ],
)
def test_what_changed_is_named(first, second, reason):
    assert changes(lambda x: 0, first, second) == [reason, "same key as call 1"]


def test_metadata_that_changed_is_named():
    Dense = dense_class()
    assert changes(lambda d: d.w, lambda: Dense(1, "relu"), lambda: Dense(1, "tanh")) == [
        "aux_data of d (Dense): 'relu' → 'tanh'",
        "same key as call 1",
    ]


def test_fresh_objects_in_metadata_are_traced_each_time():
    Dense = dense_class()
    counter = count_traces(lambda d: d.w, lambda: Dense(1, lambda x: x))
    assert log(counter)[1] == (
        "traced",
        "aux_data of d (Dense): another function <lambda>, not equal to the earlier one",
    )


def test_arrays_in_metadata_raise_and_the_log_goes_on():
    Dense = dense_class()
    counter = count_traces(lambda d: d.w, lambda: Dense(np.ones(2), np.arange(3)))
    assert [outcome for outcome, _ in log(counter)] == ["traced", "ValueError"]
    assert "JAX compares aux_data with ==" in log(counter)[1][1]
    counter.again.click()
    assert log(counter)[2] == log(counter)[1]


def test_metadata_changed_in_place_gives_a_stale_answer_and_is_said_so():
    Dense = dense_class()
    shared = [0]

    def make(step):
        shared[0] = step
        return Dense(np.ones(2), shared)

    counter = count_traces(lambda d: d.w.sum() * d.aux[0], make, step=(1, 3))
    row = counter.trace_log.rows[2]
    assert (row.outcome, row.result) == ("cached", "f32[] 4.0")
    assert row.why.startswith("aux_data of d (Dense): [2] → [3], but for JAX it is equal")


def test_a_static_value_is_found_out():
    jit = functools.partial(jax.jit, static_argnames="n")
    counter = count_traces(lambda x, n: x * n, x=[1.0, 5.0], n=[2, 3], jit=jit)
    assert [outcome for outcome, _ in log(counter)] == [
        *("traced", "cached", "cached", "cached", "traced", "cached")
    ]
    assert log(counter)[4][1].startswith("value of n: 2 → 3; nothing else changed")


def test_unhashable_static_arguments_are_explained():
    jit = functools.partial(jax.jit, static_argnames="n")
    counter = count_traces(lambda n: 0, lambda n: (n,), n={"one": 1, "list": [1]}, jit=jit)
    assert log(counter)[2][0] == "ValueError"
    assert "JAX hashes static arguments" in log(counter)[2][1]


def test_another_jit_counts_as_well():
    counter = count_traces(lambda x: x, x=[1.0, 2.0], jit=eqx.filter_jit)
    assert log(counter)[2] == (
        "traced",
        "value of x: 1.0 → 2.0; nothing else changed, so this value is static: a part of the key",
    )


# Errors


@pytest.mark.parametrize(
    ("function", "value", "outcome", "why"),
    [
        (lambda x: 1 if x else 2, 1, "TracerBoolConversionError", "asked for a value"),
        (lambda x: [][0], 1, "IndexError", "raised while the function was traced"),
        (lambda x: x, "word", "TypeError", "x is of type str: neither an array nor a number"),
        (lambda x: x, {1: 0, "a": 0}, "ValueError", "raised before any tracing"),
    ],
)
def test_errors_are_explained(function, value, outcome, why):
    first, second = log(count_traces(function, lambda: value))
    assert first == second
    assert first[0] == outcome and why in first[1]


def test_a_failing_make_arguments_is_said_so():
    counter = count_traces(lambda x: x, lambda n: 1 // n, n=[1, 0])
    assert [outcome for outcome, _ in log(counter)] == [
        *("traced", "cached", "ZeroDivisionError", "cached")
    ]
    assert "division" in counter._table.value and "division" not in counter.static.html


# Playing


def test_a_change_of_a_control_is_a_call():
    counter = count_traces(lambda x: x, np.ones, shape=(1, 8))
    counter.controls["shape"].value = 7
    assert "5" in counter.headline
    assert "shape of x: [4] → [7]" in counter._headline.value
    assert counter._table.value.index("[7]") < counter._table.value.index("first call")


def test_call_again_and_clear():
    counter = count_traces(lambda x: x, np.ones, shape=(1, 8))
    counter.again.click()
    assert log(counter)[-1] == SAME
    counter.empty.click()
    assert counter.headline == "0 traces in 0 calls"
    assert "No calls yet" in counter._plot.value
    counter.again.click()
    assert log(counter) == [("traced", "first call")]


def test_the_log_is_bounded():
    counter = count_traces(lambda x: x, lambda n: [1] * (n % 100), n=(0, 1000))
    for _ in range(150):
        counter.controls["n"].value += 1
    assert len(counter.trace_log.rows) == MOST_ROWS
    assert f"The last {MOST_ROWS} of 154 calls." in counter._table.value
    ElementTree.fromstring(counter._plot.value)


def test_choices_can_be_made_by_keyboard():
    counter = count_traces(lambda few, many: 0, few=[1, 2], many={str(n): n for n in range(9)})
    assert isinstance(counter.controls["few"], ipywidgets.ToggleButtons)
    assert isinstance(counter.controls["many"], ipywidgets.SelectionSlider)
    counter.controls["many"].index = 8
    assert counter.values == {"few": 1, "many": 8}


def test_controls_are_labelled_and_calm():
    slider = ipywidgets.FloatSlider(value=1, description="mine")
    counter = count_traces(lambda x, y, z: x, x=(1, 8), y=slider, z=ipywidgets.fixed(3))
    assert counter.controls["x"].description == "x"
    assert counter.controls["y"].description == "mine"
    assert counter.controls["x"].continuous_update is False
    assert counter.values["z"] == 3


# The static form


def test_the_plot_has_a_text():
    counter = count_traces(lambda x: x, lambda n: {1: n}, n=["a", 1])
    page = ElementTree.fromstring(counter.static.html)
    assert len(page.findall(".//table/tbody/tr")) == 4
    assert page.find(".//{http://www.w3.org/2000/svg}svg").get("aria-label") == (
        "Traces against calls: 1 trace after 4 calls; traced in call 3; raised in calls 1, 2, 4."
    )


def test_text_is_a_table():
    counter = count_traces(lambda x: x * 2, np.ones, shape=[2, 3])
    assert repr(counter).splitlines()[:3] == [
        "f · 2 traces in 4 calls",
        "",
        "call  shape  trace     result                  why",
    ]
