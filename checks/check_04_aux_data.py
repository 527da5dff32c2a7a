"""Checks of lesson 4, aux_data.

python checks/check_04_aux_data.py exercises/04_aux_data_exercises.ipynb
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from pytree_course.cases import (
    Case,
    Duo,
    Point,
    as_int,
    check,
    making,
    prediction_cases,
    random_words,
    shuffled,
    varied_trees,
)


@partial(jax.tree_util.register_dataclass, data_fields=["x"], meta_fields=["factor"])
@dataclass
class Scaled:
    """The node of `predict_traces`: `x` is its leaf, `factor` is in aux_data."""

    x: Any
    factor: Any


ONE = np.ones(2, np.float32)


def counted(function):
    """Return `function` as jit is to get it, and a list that has an entry for each trace."""
    traces = []

    def traced(*inputs):
        traces.append("traced")
        return function(*inputs)

    return traced, traces


def traces(function, *calls, static_argnums=None):
    """Return how often jit traces `function` in these calls.

    Nothing is compiled: `trace` asks the same cache as a call does, and takes a tenth of a
    millisecond.
    """
    function, done = counted(function)
    jitted = jax.jit(function, static_argnums=static_argnums)
    for inputs in calls:
        jitted.trace(*inputs)
    return len(done)


def run_trace(jitted, *inputs):
    """Return the array that a jitted function gives, without compiling it.

    What jit's cache holds for these inputs is run, one operation after the other.
    """
    (result,) = jaxpr_as_fun(jitted.trace(*inputs).jaxpr)(*jax.tree.leaves(inputs))
    return plain(result)


def number(rng, low=2, high=10):
    return int(rng.integers(low, high))


def vector(rng):
    return rng.integers(1, 10, 2).astype(np.float32)


def matrix(rng):
    return rng.integers(1, 10, (2, 2)).astype(np.float32)


def own(answer):
    """Mark a function whose result is the answer's own, in another form."""
    return wraps(answer, updated=())


def plain(array):
    """Return an array of any library as NumPy's; without axes, as a float."""
    array = np.asarray(array, np.float32)
    return array if array.ndim else float(array)


def whole(value):
    """Let an integer of any library count as Python's own; leave all else as it is."""
    is_array = isinstance(value, (np.generic, np.ndarray, jax.Array)) and value.ndim == 0
    return value.item() if is_array else value


def has_a_hash(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def drawn_from(rng, pool, more):
    """Draw two or more different items of a pool, some of them several times, in any order."""
    chosen = shuffled(rng, pool)[: rng.integers(2, len(pool) + 1)]
    return shuffled(rng, chosen + [chosen[rng.integers(len(chosen))] for _ in range(more)])


def again(value):
    """Return an equal value that is another object, where there can be one."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(again, value))
    if isinstance(value, str):
        return "".join([*value])
    if isinstance(value, np.generic):
        return value.copy()
    return float(str(value)) if isinstance(value, float) else value


def asked(rng, draw, differ):
    """Draw pairs: some hold equal items, in some the one is what `differ` makes of the other."""
    others = [True, False, *(rng.random(rng.integers(3)) < 0.5)]
    pairs = []
    for is_other in shuffled(rng, others):
        item = draw()
        pairs.append(tuple(shuffled(rng, [item, differ(item) if is_other else again(item)])))
    return pairs


@check
def sort_fields(fields, rng):
    lines = {
        "A": "weights, a float32 matrix that is trained",
        "B": "the activation, a function such as `jax.nn.relu`",
        "C": "the learning rate, a float; you want to try fifty of them",
        "D": "the number of blocks, an int; a Python `for` loop runs over `range(blocks)`",
        "E": "the number of steps so far, an int; each call adds 1",
        "F": "the layer's name, a string",
        "G": "the mean of all batches so far, an array: not trained, new after each call",
        "H": "a table of 1,000 numbers, an array; it never changes",
        "I": "`use_bias`, a bool; a Python `if` asks for it",
        "J": "a random key, made by `jax.random.key`",
    }
    return prediction_cases(fields, lines)


def double(x):
    return x + x


# Their names are in no module of JAX or NumPy.
def plus_itself(x):
    return x + x


def times_itself(x):
    return x * x


def opposite(x):
    return -x


def three_times(x):
    return 3 * x


def one_more(x):
    return x + 1


class Power:
    """Its method is an activation too: another object at each access, and equal to the others."""

    def __init__(self, exponent):
        self.exponent = exponent

    def raised(self, x):
        return x**self.exponent


class Unchanged:
    """Its method can be jitted, but takes no attributes."""

    def given(self, x):
        return x


ACTIVATIONS = (plus_itself, times_itself, opposite, three_times, one_more)
LAMBDAS = (lambda x: x + x, lambda x: x * x, lambda x: -x)


@check
def dense(Dense, rng):
    """Two leaves, one function in aux_data; the same function is the same program."""
    Dense = making(Dense)

    @own(Dense)
    def value(w, b, activation, x):
        return plain(Dense(w, b, activation)(x))

    def leaves(w, b, activation):
        found = sorted(jax.tree.leaves(Dense(w, b, activation)), key=np.ndim)
        return [plain(leaf) if np.ndim(leaf) else leaf for leaf in found]

    @own(Dense)
    def mapped(w, b, activation, x):
        return plain(jax.tree.map(double, Dense(w, b, activation))(x))

    @own(Dense)
    def old(w, b, activation, x):
        layer = Dense(w, b, activation)
        jax.tree.map(double, layer)
        return plain(layer(x))

    @own(Dense)
    def first_of_two(w, b, activation, other, x):
        layer = Dense(w, b, activation)
        Dense(w, b, other)
        return plain(layer(x))

    @own(Dense)
    def after_a_trace(w, b, activation, x):
        layer = Dense(w, b, activation)
        jax.jit(lambda layer, x: layer(x)).trace(layer, x)
        return plain(layer(x))

    def with_texts(w, b, activation):
        layer = jax.tree.map(lambda leaf: str(np.shape(leaf)), Dense(w, b, activation))
        return sorted(jax.tree.leaves(layer))

    def shared(*pairs):
        layers = [Dense(w, np.zeros(2, np.float32), activation) for w, activation in pairs]
        return traces(lambda layer, x: layer(x), *((layer, ONE) for layer in layers))

    def activation():
        return ACTIVATIONS[rng.integers(len(ACTIVATIONS))]

    def diagonal():
        return np.diag(vector(rng))

    def lopsided():
        w = matrix(rng)
        w[0, 1] = w[1, 0] + number(rng)
        return w

    def zeros():
        return np.zeros(2, np.float32)

    def layers(*functions):
        return [(matrix(rng), function) for function in functions]

    called = partial(Case, value, note="The layer is called with the last array.")
    note = "The leaves of the layer, those with fewer axes first."
    flat = partial(
        Case,
        leaves,
        note=note,
        if_wrong={
            "": "The leaves of a layer have to be its two arrays, as they were given, and "
            "nothing else."
        },
    )
    note = "Each leaf is doubled with `jax.tree.map`; then the layer is called."
    doubled = partial(Case, mapped, note=note)
    note = "How many traces for layers with these weights and activations?"
    traced = partial(
        Case,
        shared,
        note=note,
        if_wrong={
            "too high": "jit traces once more for a layer whose aux_data is not equal to that of "
            "an earlier layer. Layers with the same activation have to have equal aux_data.",
            "too low": "jit does not trace again for a layer with another activation: the "
            "activation has to be in aux_data, and two different ones must not be equal there.",
        },
    )

    cases = [
        called(diagonal(), zeros(), activation(), vector(rng)),
        called(diagonal(), zeros(), jnp.abs, 5 - vector(rng)),
    ]
    for w, b, x in (
        (diagonal(), vector(rng), vector(rng)),
        (lopsided(), zeros(), vector(rng)),
        (diagonal(), zeros(), matrix(rng)),
    ):
        cases.append(called(w, b, activation(), x))
    for _ in range(rng.integers(2, 4)):
        cases.append(called(lopsided(), vector(rng), activation(), vector(rng)))
    cases += [flat(lopsided(), vector(rng), activation()) for _ in range(2)]
    note = "The leaves, after a `jax.tree.map` that makes a string of each."
    for _ in range(2):
        given = (np.zeros((number(rng), 2), np.float32), vector(rng), activation())
        means = {"": "A layer that JAX rebuilds has to keep its two new leaves as they are."}
        cases.append(Case(with_texts, *given, note=note, if_wrong=means))
    note = "`jax.tree.map` doubles each leaf in a new layer; then the old layer is called."
    given = (lopsided(), vector(rng), activation(), vector(rng))
    cases.append(Case(old, *given, note=note))
    note = "Two layers with these activations are made; then the first one is called."
    for _ in range(2):
        given = (lopsided(), vector(rng), *shuffled(rng, ACTIVATIONS)[:2], vector(rng))
        cases.append(Case(first_of_two, *given, note=note))
    note = "JAX traces a function of the layer; then the layer is called without jit."
    given = (lopsided(), vector(rng), activation(), vector(rng))
    cases.append(Case(after_a_trace, *given, note=note))
    example = (np.ones((2, 2)), np.zeros(2), jnp.abs)
    cases.append(called(*example, np.array([1.0, -3.0])))
    for _ in range(2):
        cases.append(called(lopsided(), vector(rng), jnp.flip, vector(rng)))
    cases.append(doubled(diagonal(), zeros(), activation(), vector(rng)))
    for _ in range(rng.integers(2, 4)):
        inputs = (lopsided(), vector(rng), activation(), vector(rng))
        cases.append(doubled(*inputs))
    power = Power(number(rng, 2, 4))
    given = (lopsided(), vector(rng), power.raised, vector(rng))
    cases += [called(*given), doubled(*given)]
    for _ in range(2):
        same = layers(*[power.raised for _ in range(2 + rng.integers(2))])
        cases.append(traced(*same))
    one, other = shuffled(rng, ACTIVATIONS)[:2]
    cases.append(traced(*layers(one)))
    same = layers(*[other] * rng.integers(2, 5))
    cases.append(traced(*same))
    for _ in range(rng.integers(2, 5)):
        several = layers(*drawn_from(rng, ACTIVATIONS, rng.integers(1, 4)))
        cases.append(traced(*several))
    for more in (0, rng.integers(1, 4)):
        several = layers(*drawn_from(rng, LAMBDAS, more))
        cases.append(traced(*several))
    yield from shuffled(rng, cases)


@check
def predict_traces(predictions, rng):
    lines = {
        "A": "`f(Scaled(one, 2)); f(Scaled(5 * one, 2))`",
        "B": "`f(Scaled(one, 2)); f(Scaled(one, 3))`",
        "C": "`for factor in [2, 3, 2, 3]: f(Scaled(one, factor))`",
        "D": "`f(Scaled(one, 2)); f(Scaled(one, 2.0))`",
        "E": "`for step in range(5): f(Scaled(one, step))`",
        "F": "`for _ in range(3): f(Scaled(one, lambda x: x + 1))`",
        "G": '`f(Scaled(one, float("nan"))); f(Scaled(one, float("nan")))`',
        "H": "`for n in [2, 3, 2]: f(Scaled(np.ones(n), 2))`",
        "I": "`for x in [1, 2, 2.5]: f(Scaled(x, 2))`",
        "J": "`for n in [3, 3]: f(Scaled(one, tuple(range(n))))`",
    }
    return prediction_cases(predictions, lines)


@check
def step_counter(TrainState, rng):
    """One trace for all steps; the counter counts on; the name stays in aux_data."""
    TrainState = making(TrainState)

    def seen(state):
        params = {name: plain(leaf) for name, leaf in state.params.items()}
        return {"params": params, "step": whole(state.step), "name": state.name}

    @own(TrainState)
    def advance(params, step, name, *gradients):
        state = TrainState(params, step, name)
        for grads in gradients:
            state = state.advance(grads)
        return seen(state)

    def old(params, step, name, grads):
        state = TrainState(dict(params), step, name)
        state.advance(grads)
        arrays = {name: plain(leaf) for name, leaf in params.items()}
        return {**seen(state), "arrays": arrays}

    @own(TrainState)
    def after_a_trace(params, step, name, grads):
        state = TrainState(dict(params), step, name)
        jax.jit(lambda state, grads: state.advance(grads)).trace(state, grads)
        return seen(state.advance(grads))

    @own(TrainState)
    def from_one(params, step, name, *gradients):
        state = TrainState(params, step, name)
        return [seen(state.advance(grads)) for grads in gradients]

    def train(params, step, name, *gradients):
        step_once, done = counted(lambda state, grads: state.advance(grads))
        jitted = jax.jit(step_once)
        state = TrainState(params, step, name)
        for grads in gradients:
            state = jitted(state, grads)
        return {**seen(state), "traces": len(done)}

    @own(TrainState)
    def rebuilt(params, step, name):
        return seen(jax.tree.map(double, TrainState(params, step, name)))

    def count(params, step, name):
        return len(jax.tree.leaves(TrainState(params, step, name)))

    def shared(params, *labels):
        states = [(TrainState(params, step, name),) for step, name in labels]
        return traces(lambda state: state.params, *states)

    def state(count, shape=2, names=None):
        names = random_words(rng, count) if names is None else names
        params = {name: rng.integers(1, 50, shape).astype(np.float32) for name in names}
        return params, number(rng, 5, 100), random_words(rng, 1)[0]

    def grads(params):
        """Return gradients; where there are several, their keys are in another order."""
        names = np.roll([*params], rng.integers(1, max(len(params), 2))).tolist()
        values = [rng.integers(1, 50, params[name].shape) / 4 for name in names]
        return {name: value.astype(np.float32) for name, value in zip(names, values, strict=True)}

    def inputs(count, gradients, shape=2, step=None, names=None):
        params, drawn, name = state(count, shape, names)
        step = drawn if step is None else step
        return params, step, name, *(grads(params) for _ in range(gradients))

    once = partial(Case, advance, note="One step without jit.")
    cases = [
        once(*inputs(1, 1)),
        once(*inputs(1, 1, step=0)),
        once(*inputs(1, 1, step=255)),
        once(*inputs(1, 1, step=2**15 - 1)),
        once(*inputs(1, 1, step=2**16 - 1)),
        once(*inputs(1, 1, shape=(2, 2))),
    ]
    for _ in range(rng.integers(2, 4)):
        cases.append(once(*inputs(rng.integers(2, 4), 1)))
    one, other = random_words(rng, 2)
    for names in (
        [f"{one}/{other}", f"{other}.{one}", "1_0"],
        ["", one],
        [f"({one}+", f"{one}|{other}"],
        [f"{one}{place}" for place in range(12)],
        [],
    ):
        cases.append(once(*inputs(0, 1, shape=2 if len(names) < 5 else (), names=names)))
    for value in (np.nan, np.inf, 3e-5):
        params, step, name, each = inputs(1, 1)
        ((key, array),) = params.items()
        cases.append(once({key: np.array([value, array[1]], np.float32)}, step, name, each))
    cases += [once(*inputs(1, 1, shape=shape)) for shape in ((), (0,))]
    params, step, name, each = inputs(2, 1)
    cases.append(once(dict.fromkeys(params, ONE.copy()), step, name, each))
    note = "JAX traces a step; then `advance` is called without jit, on the same state."
    cases += [Case(after_a_trace, *inputs(1, 1), note=note) for _ in range(2)]
    note = "Several steps without jit, one with each of the gradients."
    often = partial(Case, advance, note=note)
    cases += [often(*inputs(1, rng.integers(2, 5))) for _ in range(2)]
    note = "`advance` is called. This is the old state afterwards, and the arrays it was made of."
    looked_at = partial(
        Case,
        old,
        note=note,
        if_wrong={
            "arrays": "`advance` writes into the arrays of the old state. A new state needs new "
            "arrays.",
            "params": "`advance` changes the parameters of the old state.",
            "step": "`advance` changes the step of the old state.",
            "name": "`advance` changes the name of the old state.",
        },
    )
    cases += [looked_at(*inputs(rng.integers(1, 3), 1)) for _ in range(2)]
    note = "`advance` is called on one state, with each of the gradients: the new states."
    given = inputs(1, rng.integers(2, 4))
    cases.append(Case(from_one, *given, note=note))
    note = "A jitted function calls `advance`, with each of the gradients. How many traces?"
    trained = partial(
        Case,
        train,
        note=note,
        if_wrong={
            "traces too high": "jit traces again in the same training. Something in the state that "
            "jit compares, a part of aux_data or the type of a leaf, changes from step to step.",
            "traces too low": "jit does not trace the training.",
            "step": "Under jit the counter is wrong after the last step.",
            "params": "Under jit the parameters are wrong after the last step.",
            "name": "Under jit the state does not keep its name.",
        },
    )
    # Key paths of results are part of a compiled program, so they are the same each time.
    cases += [trained(*inputs(1, rng.integers(3, 6), names=["w"])) for _ in range(2)]
    means = {
        "too high": "Your state has more leaves than its parameters and its step.",
        "too low": "Your state has fewer leaves than its parameters and its step: something of it "
        "is in aux_data or nowhere, or JAX does not know the class.",
    }
    note = "`jax.tree.map` doubles each leaf of the state."
    for _ in range(2):
        given = inputs(rng.integers(1, 3), 0)
        cases.append(Case(rebuilt, *given, note=note))
    note = "The number of leaves of the state."
    for size in (2, 3):
        given = inputs(size, 0)
        cases.append(Case(count, *given, note=note, if_wrong=means))
    note = "How many traces for states with these steps and names?"
    for _ in range(rng.integers(3, 5)):
        names = drawn_from(rng, random_words(rng, 5), rng.integers(0, 3))
        labels = [(number(rng, 5, 100), name) for name in names]
        labels.append((101, names[0]))
        given = (state(1)[0], *shuffled(rng, labels))
        means = {
            "too high": "jit traces again for a state that differs from an earlier one only in its "
            "step, or in nothing. The step must not be a part of what jit compares.",
            "too low": "jit does not trace again for a state with another name: the name has to be "
            "in aux_data.",
        }
        cases.append(Case(shared, *given, note=note, if_wrong=means))
    yield from shuffled(rng, cases)


@check
def hashable_config(Config, rng):
    """Equality and hash by value; no field can be set; jit's static arguments."""

    def made(configs):
        # A list, for two objects that live at different times may have the same id and hash.
        return [Config(width, list(names)) for width, names in configs]

    def fields_of(config):
        """Return the fields; names of a set in one order, whatever Python's hashes are today."""
        is_set = isinstance(config.names, (set, frozenset))
        names = sorted(config.names) if is_set else list(config.names)
        return {"width": config.width, "names": names}

    @own(Config)
    def fields(width, names):
        return fields_of(*made([(width, names)]))

    def equal(*pairs):
        return [bool(one == other) for one, other in map(made, pairs)]

    def same_hash(*pairs):
        return [hash(one) == hash(other) for one, other in map(made, pairs)]

    def in_a_set(*configs):
        return len(set(made(configs)))

    def set_field(width, names, name, value):
        (config,) = made([(width, names)])
        try:
            setattr(config, name, value)
        except Exception:  # which one, is the learner's choice
            return True
        return False

    def config():
        return number(rng, 10, 100), random_words(rng, rng.integers(2, 5))

    cases = [Case(fields, *config()), Case(fields, number(rng), [])]
    note = "Are the two configs of each pair equal?"
    means = {"False": "Two configs with equal fields are not equal."}
    same = (8, ["in", "out"])
    cases.append(Case(equal, (same, same), note=note, if_wrong=means))
    differences = {
        "another width": lambda one: (one[0] + 1, one[1]),
        "another name": lambda one: (one[0], ["in", *one[1][1:]]),
        "another order": lambda one: (one[0], [*one[1][1:], one[1][0]]),
        "one name fewer": lambda one: (one[0], one[1][:-1]),
        "a name more": lambda one: (one[0], [*one[1], one[1][-1]]),
    }
    for difference, differ in differences.items():
        means = means | {"True": f"Two configs are equal that are not: {difference}."}
        for _ in range(2):
            cases.append(Case(equal, *asked(rng, config, differ), note=note, if_wrong=means))
    means = means | {"True": "One name is equal to two names."}
    for _ in range(2):
        pairs = []
        for separator in ("", ",", " ", "-"):
            width, names = config()
            pairs.append(shuffled(rng, [(width, names), (width, [separator.join(names)])]))
        cases.append(Case(equal, *shuffled(rng, pairs), note=note, if_wrong=means))
    note = "Have the two configs of each pair the same hash?"
    means = {"False": "Two configs with equal fields have different hashes."}
    for _ in range(2):
        pairs = [(one, one) for one in (config() for _ in range(rng.integers(1, 4)))]
        cases.append(Case(same_hash, *pairs, note=note, if_wrong=means))
    note = "How many entries has a set of these configs?"
    cases.append(Case(in_a_set, (8, ["in"]), (8, ["in"]), note=note))
    for _ in range(3):
        one = config()
        pool = [one, *(differ(one) for differ in differences.values())]
        cases.append(Case(in_a_set, *drawn_from(rng, pool, rng.integers(2, 5)), note=note))
    note = "A field is set. Is there an error?"
    means = {"False": "A field can be set without an error."}
    for field in (("width", number(rng)), ("names", random_words(rng, 2))) * 2:
        cases.append(Case(set_field, *config(), *field, note=note, if_wrong=means))
    yield from shuffled(rng, cases)


@check(in_order=True)
def lookup_table(Lookup, rng):
    """Any table, one program; and no gradient for the table."""
    Lookup = making(Lookup)

    @own(Lookup)
    def value(table, scale, index):
        return plain(Lookup(jnp.asarray(table), scale)(index))

    def leaves(table, scale):
        found = jax.tree.leaves(Lookup(jnp.asarray(table), scale))
        return [plain(leaf) for leaf in sorted(found, key=np.size)]

    def shared(scale, index, *tables):
        layers = [(Lookup(jnp.asarray(table), scale), index) for table in tables]
        return traces(lambda layer, index: layer(index), *layers)

    @own(Lookup)
    def after_a_trace(table, scale, index):
        layer = Lookup(jnp.asarray(table), scale)
        jax.jit(jax.grad(lambda layer: jnp.sum(layer(index)))).trace(layer)
        return plain(layer(index))

    @own(Lookup)
    def after_reading(table, scale, index):
        layer = Lookup(jnp.asarray(table), scale)
        jax.jit(lambda index: layer(index)).trace(index)
        return plain(layer(index))

    @own(Lookup)
    def jitted(scale, index, *tables):
        function = jax.jit(lambda layer, index: layer(index))
        layers = [Lookup(jnp.asarray(table), scale) for table in tables]
        return [run_trace(function, layer, index) for layer in layers]

    # One compilation for all cases, where jax.grad alone would make one for each operation.
    derive = jax.jit(jax.grad(lambda layer, index: jnp.sum(layer(index))))

    def gradient(table, scale, index):
        found = jax.tree.leaves(derive(Lookup(jnp.asarray(table), scale), index))
        scale, table = sorted(found, key=np.size)
        return {"table": plain(table), "scale": plain(scale)}

    def table(length=4):
        return rng.integers(1, 100, length).astype(np.float32)

    def quarters():
        return (rng.integers(1, 100, 4) + 0.25).astype(np.float32)

    def index():
        return rng.permutation(4)[:2].astype(np.int32)

    def scale():
        return np.asarray(rng.integers(2, 10), np.float32)

    def tables(*lengths):
        return [table(length) for length in lengths]

    called = partial(Case, value, note="The layer is called with the last array.")
    note = "How many traces for layers with these tables?"
    traced = partial(
        Case,
        shared,
        note=note,
        if_wrong={
            "too high": "jit traces again for a table whose shape it has seen: the numbers of the "
            "table, or the object that holds it, are a part of what jit compares.",
            "too low": "jit does not trace again for a table of another shape.",
        },
    )

    cases = [
        called(table(), scale(), index()),
        called(table(), vector(rng), index()),
        called(quarters(), scale(), index()),
        called(table(), scale(), np.repeat(index()[:1], 2)),
        called(table(), scale(), np.stack([index(), index()])),
    ]
    cases += [called(quarters(), vector(rng), index()) for _ in range(rng.integers(1, 4))]
    for value_at in (np.nan, np.inf, 3e-5):
        given, places = quarters(), index()
        given[places[0]] = value_at
        cases.append(called(given, vector(rng), places))
    cases.append(called(quarters(), scale(), np.zeros(0, np.int32)))
    for draw in (scale, partial(vector, rng)):
        place = np.asarray(rng.integers(4), np.int32)
        cases.append(called(table(), draw(), place))
    note = "JAX traces a gradient; then the layer is called without jit."
    cases.append(Case(after_a_trace, table(), vector(rng), index(), note=note))
    note = "JAX traces a function of the index that reads the layer; then the layer is called "
    note += "without jit."
    for _ in range(2):
        given = (table(), vector(rng), index())
        cases.append(Case(after_reading, *given, note=note))
    note = "The leaves of the layer, the smaller one first."
    for _ in range(2):
        means = {
            "": "The leaves of a layer have to be its table and its scale, as they were given."
        }
        cases.append(Case(leaves, table(), vector(rng), note=note, if_wrong=means))
    cases.append(traced(vector(rng), index(), table()))
    given = (vector(rng), index())
    twice = table()
    cases.append(traced(*given, twice, twice.copy()))
    for _ in range(rng.integers(2, 4)):
        given = (vector(rng), index(), *tables(*[4] * rng.integers(2, 5)))
        cases.append(traced(*given))
    for _ in range(rng.integers(2, 4)):
        lengths = drawn_from(rng, [4, 6, 8, 10], rng.integers(1, 3))
        given = (vector(rng), index(), *tables(*lengths))
        cases.append(traced(*given))
    note = "A jitted function looks up these indices in each of the tables."
    for draw in (table, quarters):
        given = (vector(rng), index(), *(draw() for _ in range(rng.integers(2, 4))))
        cases.append(Case(jitted, *given, note=note))
    note = "The gradient of the sum."
    for given in (
        (table(), vector(rng), index()),
        (quarters(), vector(rng), index()),
        (table(), vector(rng), index()),
        (table(), scale(), index()),
        (quarters(), vector(rng), np.stack([index(), index()])),
    ):
        means = {
            "table": "The gradient for the table is not zero, or it has another shape.",
            "scale": "The gradient for `scale` is not the true one.",
        }
        cases.append(Case(gradient, *given, note=note, if_wrong=means))
    yield from shuffled(rng, cases)


@check
def sweep(answer, rng):
    """Each rate from the same start; one trace for all of them, whole numbers too."""

    def swept(w, target, rates):
        """Return what `answer` does, and how often it runs `loss`."""
        runs = []

        def loss(w):
            runs.append(isinstance(w, jax.core.Tracer))
            return jnp.sum((w - target) ** 2)

        result = answer(loss, w, rates)
        return result, runs

    runs_for_one = 0

    def how_often(w, target, rates):
        """Return the losses, and how many times more often `loss` runs than for one rate."""
        nonlocal runs_for_one
        if not runs_for_one:  # as many for any rate and any `w`, and each try compiles
            runs_for_one = max(len(swept(w.copy(), target, [0.75])[1]), 1)
        result, runs = swept(w, target, list(rates))
        losses = [whole(loss) for loss in result] if isinstance(result, list) else result
        times = len(runs) / runs_for_one
        times = int(times) if times == int(times) else times
        return {"losses": losses, "times": times, "without a trace": runs.count(False)}

    def of_squares(loss, w, rates):
        result = answer(loss, w, rates)
        return [whole(loss) for loss in result] if isinstance(result, list) else result

    def start(shape=2):
        # The target is a constant of the compiled programs, so it is the same each time.
        target = np.arange(12, 12 + np.prod(shape), dtype=np.float32).reshape(shape)
        return target - rng.integers(2, 10, shape).astype(np.float32), target + np.float32(0.25)

    def fractions(count):
        # Hundredths, for half precision cannot hold them.
        return (rng.choice(np.arange(1, 80), count, replace=False) / 100).tolist()

    def whole_numbers(count):
        return rng.choice(np.arange(3), count, replace=False).tolist()

    repeated = fractions(2)
    repeated = shuffled(rng, [*repeated, repeated[0]])
    mixed = [*whole_numbers(1), *fractions(2)]
    one, other = whole_numbers(2)
    rich = [*fractions(rng.integers(2, 4)), other]
    rich = [one, *shuffled(rng, [*rich, one, *rich[: rng.integers(1, 3)]])]
    note = (
        "The loss is the sum of `(w - target) ** 2`; the first array is `w`, then `target`. "
        "How many times more often than for one rate does Python run `loss`, and how many runs get "
        "numbers, for JAX does not trace?"
    )
    means = {
        "losses": "The losses are wrong, or are no list of numbers.",
        "times too high": "Python runs `loss` more often for several rates than for one rate: for "
        "some rate, JAX transforms it anew.",
        "times too low": "Python runs `loss` less often for several rates than for one.",
        "without a trace": "Python runs `loss` with numbers, outside of JAX's transformations.",
    }
    one = number(rng, 1, 3)
    equal = [float(one), *fractions(1), one]
    for given in (
        (*start(), fractions(rng.integers(2, 5))),
        (*start(()), fractions(2)),
        (*start((0,)), fractions(2)),
        (*start(), equal),
        (*start((2, 2)), fractions(2)),
        (*start((3, 2)), fractions(2)),
        (*start(), repeated),
        (*start(), whole_numbers(2)),
        (*start(), whole_numbers(3)),
        (*start(), mixed),
        (*start(), rich),
    ):
        yield Case(how_often, *given, note=note, if_wrong=means)
    note = "The loss is the sum of `w**2`."
    call = own(answer)(of_squares)
    yield Case(call, lambda w: jnp.sum(w**2), jnp.ones(2), [0, 0.5], note=note)


@check
def stale_options(Net, rng):
    """A changed option is seen; equal options share a trace; the aux_data has a hash."""
    Net = making(Net)

    @own(Net)
    def value(w, options, x):
        return plain(Net(w, dict(options))(x))

    def leaves(w, options):
        return [plain(leaf) if np.ndim(leaf) else leaf for leaf in jax.tree.leaves(Net(w, options))]

    def changes(w, options, x, *changes):
        """Call a jitted function before and after each change."""
        function, done = counted(lambda net, x: net(x))
        jitted = jax.jit(function)
        net = Net(w, dict(options))
        results = [run_trace(jitted, net, x)]
        for name, *new in changes:
            if new:
                (net.options[name],) = new
            else:
                del net.options[name]
            results.append(run_trace(jitted, net, x))
        return {"results": results, "traces": len(done)}

    def shared(w, *several):
        return traces(lambda net: net(ONE), *((Net(w, dict(options)),) for options in several))

    def has_hash(w, options):
        return has_a_hash(jax.tree.structure(Net(w, dict(options))).node_data()[1])

    def rebuilt(w, options):
        options = jax.tree.map(double, Net(w, dict(options))).options
        return dict(options) if isinstance(options, dict) else options

    def options(**more):
        return {"scale": number(rng), "negate": bool(rng.integers(2)), **more}

    name, other = shuffled(rng, ["mode", "units"])
    text, new_text = random_words(rng, 2)
    extra = {name: text, other: number(rng) / 4}
    bias = {"bias": number(rng, 20, 30)}
    for given in (options(), options(**extra), options(**bias)):
        yield Case(value, vector(rng), given, vector(rng), note="The net is called with `x`.")
        means = {"": "The array `w` has to be the only leaf of a net."}
        yield Case(leaves, vector(rng), given, note="The leaves of the net.", if_wrong=means)
        note, means = "Has the aux_data a hash?", {"False": "The aux_data of a net has no hash."}
        yield Case(has_hash, vector(rng), given, note=note, if_wrong=means)
        means = {"": "A rebuilt net has to have the same options."}
        note = "The options, after a `jax.tree.map` over the net."
        yield Case(rebuilt, vector(rng), given, note=note, if_wrong=means)
    note = "A jitted function is called; then an option is set, or deleted, and it is called again."
    means = {
        "results": "After a change of the options, the jitted function does not use the new ones.",
        "traces too low": "jit does not trace again after a change of the options: what it "
        "compares did not change, or changed on both sides.",
        "traces too high": "jit traces again though the options are those of an earlier call.",
    }
    first = options()
    negate = ("negate", not first["negate"])
    for given, settings in (
        (options(**bias), [("scale", number(rng, 10, 20))]),
        (first, [("scale", number(rng, 10, 20)), negate, ("scale", first["scale"])]),
        (options(**{name: text}), [(name, new_text), (other, number(rng))]),
        (options(**{name: text}), [(name,), (other, number(rng)), (other,)]),
    ):
        inputs = (vector(rng), given, vector(rng), *settings)
        yield Case(changes, *inputs, note=note, if_wrong=means)
    note = "How many traces for nets with these options?"
    means = {
        "too high": "jit traces again for a net whose options are equal to those of an earlier "
        "one: the aux_data of the two is not equal.",
        "too low": "jit does not trace again for a net with other options.",
    }
    for more in ({}, extra, {other: number(rng)}):
        same = options(**more)
        pool = [same, {**same, "scale": number(rng, 10, 20)}, {**same, name: new_text}]
        for several in (
            [dict(same) for _ in range(rng.integers(2, 4))],
            [same, dict(reversed(same.items()))],
            [dict(shuffled(rng, each.items())) for each in drawn_from(rng, pool, 2)],
        ):
            yield Case(shared, vector(rng), *several, note=note, if_wrong=means)


@check
def repeat(answer, rng):
    """A loop of any length; under jit, one program for all lengths."""

    def once(layer, x):
        return {"x": plain(answer(layer, x)), "layer": layer}

    def jitted(w, b, x, *several):
        function, done = counted(answer)
        function = jax.jit(function)
        results = [plain(function({"w": w, "b": b, "times": times}, x)) for times in several]
        return {"results": results, "traces": len(done)}

    def w(shape):
        values = rng.choice([-1, 0.5, 1, 2], shape)
        return np.asarray(values, np.float32)

    def numbers(shape):
        return np.asarray(rng.integers(1, 10, shape), np.float32)

    note = "Without jit: the last `x`, and the layer afterwards."
    means = {
        "layer": "The caller's layer is not the same after the call.",
        "x": "Without jit, the last `x` is wrong.",
    }
    strange = np.array([np.nan, np.inf], np.float32)
    for shape, times, x in (
        ((2, 2), 0, numbers((2, 2))),
        (2, number(rng, 2, 6), numbers(2)),
        (2, number(rng, 2, 6), strange),
    ):
        layer = {"w": w(shape), "b": numbers(shape), "times": times}
        yield Case(once, layer, x, note=note, if_wrong=means)
    note = "Under jit, with the arrays w, b and x; the numbers are `times` for each call."
    large = 2 * number(rng, 15_000, 25_000)
    for shape, more in (
        ((), []),
        (2, [large]),
        (2, [large + 1, 0]),
    ):
        few = rng.choice(np.arange(1, 8), rng.integers(2, 5), replace=False).tolist()
        factors, b, x = w(shape), numbers(shape), numbers(shape)
        if more:
            # The first entry of the result shows how many rounds there were, where they are many,
            # and the second one whether they were even. Fewer than a thousand all look alike.
            factors[:], b[0], x[0] = (1, -1), 2.0**-28, 0
        given = (factors, b, x, *shuffled(rng, few + more))
        means = {
            "results": "Under jit, the last `x` is wrong.",
            "traces too high": "jit traces again for another `times`.",
            "traces too low": "jit does not trace your function.",
        }
        yield Case(jitted, *given, note=note, if_wrong=means)
    example = (np.array([2], np.float32), np.array([1], np.float32), np.zeros(1, np.float32), 3)
    yield Case(jitted, *example, note=note, if_wrong=means)


@check(in_order=True)
def traces_of(answer, rng):
    """Shapes, dtypes and aux_data make a new trace; values and repeated calls do not."""
    answer = as_int(answer)

    def same(x):
        return x

    def first(x, y):
        return x

    def of_nodes(*pairs):
        """Count the traces for nodes, and add up their factors in each run of the function."""
        factors, traced = [], []

        def run(node, *others):
            factors.append(node.factor)
            traced.append(isinstance(node.x, jax.core.Tracer))
            return node.x

        traces = answer(run, [(Scaled(x, factor), *others) for x, factor, *others in pairs])
        return {"traces": traces, "sum": sum(factors), "runs without a trace": traced.count(False)}

    def twice(function, calls):
        return [answer(function, calls), answer(function, calls)]

    def long(length):
        return rng.integers(1, 10, length).astype(np.float32)

    def calls(kinds, fewest):
        """Draw calls of some of the kinds, each of them once or twice."""
        chosen = shuffled(rng, kinds)[: rng.integers(fewest, len(kinds) + 1)]
        twice = chosen[: rng.integers(1, len(chosen) + 1)]
        return shuffled(rng, [(kind(),) for kind in (*chosen, *twice)])

    vectors = [lambda: vector(rng), lambda: long(3), lambda: long(4)]
    numbers = [lambda: number(rng), lambda: number(rng) / 4, lambda: np.float32(number(rng))]
    cases = [Case(answer, same, [])]
    values = [(vector(rng),) for _ in range(rng.integers(2, 6))]
    cases.append(Case(answer, same, values))
    kinds = [vectors[0], *shuffled(rng, vectors[1:])[: rng.integers(1, 3)]]
    given = calls(kinds, len(kinds))
    cases.append(Case(answer, same, given))
    cases.append(Case(answer, same, calls(numbers, 3)))
    x = vector(rng)
    given = [(x, *each) for each in calls(numbers[:2], 1)]
    cases.append(Case(answer, first, given))
    note = "Your function is used twice."
    for kinds in (vectors[:2], numbers[:2]):
        given = [*calls(kinds, 1), (kinds[0](),)]
        cases.append(Case(own(answer)(twice), same, given, note=note))
    cases.append(Case(answer, lambda x: 2 * x, [(1,), (2,), (0.5,)]))
    method = Unchanged().given
    for kinds in (vectors[:2], numbers[:2]):
        cases.append(Case(answer, method, calls(kinds, 1)))
    nan, one = np.full(2, np.nan, np.float32), number(rng)
    for trees in (
        [nan, nan.copy()],
        [one, float(one), np.float32(one), one],
        [np.zeros(0, np.float32), ONE],
        [ONE.astype(dtype) for dtype in (np.float16, jnp.bfloat16)],
    ):
        cases.append(Case(answer, same, [(tree,) for tree in trees]))
    x, y = vector(rng), vector(rng)
    words = sorted(random_words(rng, 2))
    pair = dict(zip(words, (x, y), strict=True))
    # They stand in a list of calls.
    for trees in (
        [pair, dict(reversed(pair.items())), OrderedDict(pair)],
        [{"1": x}, {1: x}, {0: x}, {"": x}],
        [[x], (x,), Duo(x, ()), Duo(x, None)],
        [Point(x, y), (x, y), x, None, (), None],
        [{f"{words[0]}/{words[1]}": x}, {words[0]: {words[1]: x}}, {f"({words[0]}+": x}],
        [[x] * 12, [y] * 12],
    ):
        given = shuffled(rng, [(tree,) for tree in (*trees, trees[0])])
        cases.append(Case(answer, same, given))
    said = "The first argument is a node of a leaf `x` and a `factor` in aux_data. What is the sum "
    said += "of all factors, when each run of the function adds one? How many runs get arrays, for "
    said += "JAX does not trace?"
    for others in (0, 0, 0, 1, 1, 1, 1):
        factors = rng.choice(np.arange(10, 1000), 2 + rng.integers(2), replace=False).tolist()
        which = [*factors, factors[0], *(each for each in factors if rng.random() < 0.5)]
        pairs = [(vector(rng), factor, *[number(rng)] * others) for factor in which]
        if rng.random() < 0.4:
            pairs.append((long(3), *pairs[0][1:]))
        note = f"{said} A number follows the node." if others else said
        means = {
            "traces too high": "You count more than the traces.",
            "traces too low": "You count fewer than the traces. The first argument is a node, and "
            "each new `factor` in its aux_data needs a trace.",
            "sum too high": "Python runs the function more often than jit traces it.",
            "sum too low": "Python runs the function less often than jit traces it.",
            "runs without a trace": "Python runs the function with numbers or arrays: outside of "
            "jit.",
        }
        given = shuffled(rng, pairs)
        cases.append(Case(of_nodes, *given, note=note, if_wrong=means))
    pool = [(x, 1), (x, 0.5), (x, np.float32(1)), ({"x": x}, 1), (long(3), 1)]
    one, other = random_words(rng, 2)
    given = [(Scaled(x, one), 1), (Scaled(x, other), 1)]
    given += shuffled(rng, pool)[: rng.integers(1, 4)]
    given += [given[rng.integers(len(given))] for _ in range(rng.integers(1, 5))]
    note = "In a node, `x` is the leaf and `factor` is in aux_data."
    cases.append(Case(answer, first, shuffled(rng, given), note=note))
    yield from cases


def is_float(leaf):
    return isinstance(leaf, float)


def is_array(leaf):
    return isinstance(leaf, np.ndarray)


def is_large(leaf):
    return np.sum(leaf) > 3  # a bool of NumPy; it fails for None


@check
def partition(partition, combine, rng):
    """None in the holes, on both sides; false values are values; None stays None."""

    @own(partition)
    def parts(tree, chosen):
        result = partition(tree, chosen)
        return tuple(result) if isinstance(result, list) else result

    def stay(tree, chosen, name):
        """Say whether the two parts stay as they are when the caller changes the tree."""
        result = parts(tree, chosen)
        before = repr(result)
        tree[name] = "changed"
        return repr(result) == before

    def tree_afterwards(tree, chosen):
        partition(tree, chosen)
        return tree

    def leaf():
        return [number(rng), number(rng) / 4, random_words(rng, 1)[0]][rng.integers(3)]

    def few():
        return [number(rng, 0, 7), number(rng, 0, 7) / 2][rng.integers(2)]

    def array():
        return [vector(rng), number(rng), number(rng) / 2][rng.integers(3)]

    def holes(tree):
        """Return two trees that hold the leaves between them."""
        found, structure = jax.tree.flatten(tree)
        sides = rng.random(len(found)) < 0.5
        pairs = list(zip(found, sides, strict=True))
        one = [leaf if side else None for leaf, side in pairs]
        other = [None if side else leaf for leaf, side in pairs]
        return structure.unflatten(one), structure.unflatten(other)

    cases = []
    note = "`is_float` says whether a leaf is a float."
    edges = (0, 0.0, "", False, float("nan"), vector(rng))
    for tree in varied_trees(rng, leaf, edges=edges, rich=0):
        cases.append(Case(parts, tree, is_float, note=note))
    n = number(rng)
    cases.append(Case(parts, shuffled(rng, [n, float(n), n + 1, True, 1.0]), is_float, note=note))
    cases.append(Case(parts, {"w": 1.5, "name": "in"}, is_float, note=note))
    cases.append(Case(parts, number(rng) / 4, is_float, note=note))
    one, other = random_words(rng, 2)
    means = {"": "A part changes when the caller changes the tree later."}
    said = "An entry of the tree is set after `partition`. Do the two parts stay as they were?"
    for tree in ({one: number(rng) / 4, other: 3}, {one: "in", other: number(rng) / 4}):
        cases.append(Case(stay, tree, is_float, one, note=said, if_wrong=means))
    means = {"": "`partition` changes the caller's tree."}
    for tree in ({one: number(rng) / 4, other: [2.5, 3]}, [number(rng) / 4, [2, 2.5]]):
        cases.append(
            Case(tree_afterwards, tree, is_float, note="The tree afterwards.", if_wrong=means)
        )
    note = "`is_array` says whether a leaf is an array of NumPy."
    for _ in range(2):
        words = random_words(rng, 3)
        tree = {words[0]: array(), words[1]: [vector(rng), array()], words[2]: (3, vector(rng))}
        cases.append(Case(parts, tree, is_array, note=note))
    same = vector(rng)
    cases.append(Case(parts, [same, 3, same], is_array, note=note))
    note = "`is_large` is `np.sum(leaf) > 3`, a bool of NumPy."
    for tree in ([1, 5, None], [few() for _ in range(4)], [few(), 3, 4.0, None, few(), 4]):
        cases.append(Case(parts, shuffled(rng, tree), is_large, note=note))
    edges = (0, 0.0, "", False, vector(rng), np.zeros((0, 2), np.float32))
    # What holds for keys and for leaves is seen in the cases of `partition`.
    without = ["keys", "more than ten items"]
    for tree in varied_trees(rng, leaf, edges=edges, values=np.asarray, without=without, rich=0):
        cases.append(Case(combine, *holes(tree)))
    example = {"name": None, "w": 1.5}, {"name": "in", "w": None}
    cases.append(Case(combine, *example))
    cases.append(Case(combine, [None, 0, False], ["", None, None]))
    cases.append(Case(combine, [None, None, number(rng)], [None, 0.5, None]))
    for draw in (leaf, array, array, few):
        one, two, three = random_words(rng, 3)
        given = vector(rng) if draw is array else draw()
        tree = {one: [draw(), None], two: {three: (given, draw())}, three: draw()}
        cases.append(Case(combine, *holes(tree)))
    yield from shuffled(rng, cases)


@check(in_order=True)
def static_wrapper(Static, rng):
    """No leaves; the value comes back; equality by type and value, nan included; hashes agree."""
    Static = making(Static)

    def count(*values):
        return [len(jax.tree.leaves(Static(value))) for value in values]

    @own(Static)
    def mapped(value):
        return jax.tree.map(double, [Static(value), 1])[0].value

    def equal(*pairs):
        return [bool(Static(one) == Static(other)) for one, other in pairs]

    def same_hash(*pairs):
        several = [tuple(map(Static, pair)) for pair in pairs]  # all live, each with an id
        return [hash(one) == hash(other) for one, other in several]

    def in_a_set(*values):
        return len(set(map(Static, values)))

    def dtypes(*values):
        """One jitted function for all of them: the dtype of `x * value` shows which trace ran."""
        function, done = counted(lambda x, static: x * static.value)
        jitted = jax.jit(function)
        x = np.array([1, 2], np.int32)
        seen = [str(jitted.trace(x, Static(value)).out_info.dtype) for value in values]
        return {"dtypes": seen, "traces": len(done)}

    def shared(*values):
        return traces(lambda x, static: x, *((ONE, Static(value)) for value in values))

    integer, nan = partial(number, rng, 2, 100), partial(float, "nan")

    def text():
        return "".join(random_words(rng, 2))  # made anew, so that equal ones are two objects

    cases = []
    note, means = "The numbers of leaves.", {"": "A `Static` has no leaves."}
    for draw in (integer, text, nan):
        values = [draw() for _ in range(rng.integers(1, 4))]
        cases.append(Case(count, *values, note=note, if_wrong=means))
    note = "The value, after a `jax.tree.map` over a tree with it."
    for value in (integer(), integer() / 4, text(), nan(), bool(rng.integers(2))):
        cases.append(Case(mapped, value, note=note))
    note = "Are the two `Static` of each pair equal?"
    for draw, differ, kinds in (
        (integer, lambda value: value + 1, "two ints"),
        (lambda: integer() / 4, lambda value: value + 0.25, "two floats"),
        (text, lambda value: value[1:], "two strings"),
        (integer, float, "an int and a float"),
        (lambda: bool(rng.integers(2)), int, "a bool and an int"),
        (lambda: int(rng.integers(2)), bool, "an int and a bool"),
        (nan, lambda _: integer() / 4, "a nan and a number"),
        (nan, lambda _: "nan", "a nan and a string"),
    ):
        means = {
            "True": f"Two `Static` are equal that are not ({kinds}).",
            "False": "Two `Static` are not equal, though their values have the same type and are "
            "equal, or are both `nan`.",
        }
        for _ in range(2):
            cases.append(Case(equal, *asked(rng, draw, differ), note=note, if_wrong=means))
    for pairs in (
        [(2, 2), (2, 2.0), (1, True), (True, 1), (0.0, -0.0)],
        [(0.0, -0.0), (-0.0, 0.0), (0, False)],
    ):
        cases.append(Case(equal, *shuffled(rng, pairs), note=note))
    note = "Have the two `Static` of each pair the same hash?"
    means = {"False": "Two `Static` that are to be equal have different hashes."}
    for draw in (integer, text, nan):
        pairs = [(value, again(value)) for value in (draw() for _ in range(rng.integers(1, 4)))]
        cases.append(Case(same_hash, *pairs, note=note, if_wrong=means))
    n = integer()
    for harness, note in (
        (in_a_set, "How many entries has a set of `Static` with these values?"),
        (shared, "How many traces for these values?"),
    ):
        for values in ([nan(), nan(), n], drawn_from(rng, [n, float(n), str(n), n + 1, text()], 2)):
            cases.append(Case(harness, *values, note=note))
    note = "A jitted `lambda x, s: x * s.value`, with an int32 array x and each of these values."
    means = {
        "traces too high": "jit traces again for a value that it has seen, of the same type.",
        "traces too low": "jit does not trace again for another value, or another type.",
        "dtypes": "jit runs a program with a value of another type: the dtype is wrong.",
    }
    for pool in ([n, n + 1], [n, float(n), 1, True, 0.5], [1, True, 1.0]):
        cases.append(Case(dtypes, *drawn_from(rng, pool, 2), note=note, if_wrong=means))
    yield from shuffled(rng, cases)


# The exercises that stand in the lesson.


@check
def cache_key(answer, rng):
    """Structures with metadata, shapes and dtypes are in the key; values are not."""

    def equal(*pairs):
        return [bool(answer(one) == answer(other)) for one, other in pairs]

    def ints():
        return rng.integers(1, 10, 2).astype(np.int32)

    def node():
        return Scaled(vector(rng), "tanh")

    one, two = random_words(rng, 2)
    means = {
        "True": "Two trees have equal keys, but `jit` needs a trace for each: {}.",
        "False": "Two trees of one type have different keys, so `jit` would trace twice: {}.",
    }
    for draw, differ, text in (
        (lambda: vector(rng), lambda _: ints(), "a key holds the dtype of a leaf, not its value"),
        (
            lambda: vector(rng),
            lambda _: matrix(rng),
            "a key holds the shape of a leaf, not its value",
        ),
        (
            lambda: {one: vector(rng), two: ints()},
            lambda _: {one: ints(), two: vector(rng)},
            "a key holds the shape and dtype of each leaf in its place",
        ),
        (
            lambda: [vector(rng), vector(rng)],
            lambda tree: tuple(tree),
            "the structure knows a list from a tuple",
        ),
        (
            lambda: {one: vector(rng)},
            lambda tree: {two: tree[one]},
            "the structure holds the names of a dict",
        ),
        (lambda: [vector(rng)], lambda tree: [*tree, None], "the structure holds each `None`"),
        (
            node,
            lambda scaled: Scaled(scaled.x, "sin"),
            "the structure holds the metadata of each node",
        ),
        (
            lambda: [node(), node()],
            lambda pair: [pair[0], Scaled(pair[1].x, "sin")],
            "the structure holds the metadata of each node",
        ),
    ):
        note = "Pairs of trees. For which of them does `cache_key` give two equal keys?"
        told = {name: sentence.format(text) for name, sentence in means.items()}
        for _ in range(2):
            pairs = [(draw(), draw()), (draw(), draw())]
            pairs += [(tree, differ(tree)) for tree in (draw(), draw())]
            cases = shuffled(rng, pairs)[: rng.integers(3, 5)]
            yield Case(equal, *cases, note=note, if_wrong=told)


@check
def rate_at(answer, rng):
    """Three rates, with the borders where they are; one trace for all steps."""
    steps = [0, 9, 10, 11, 99, 100, 101, number(rng), 10 * number(rng), 100 * number(rng)]

    def rate(step):
        return round(float(answer(step)), 6)

    def in_jit(step):
        return round(run_trace(jax.jit(answer), step), 6)

    def number_of_traces(*steps):
        return traces(answer, *((step,) for step in steps))

    rate = own(answer)(rate)
    in_jit = own(answer)(in_jit)
    for step in shuffled(rng, steps):
        yield Case(rate, step)
    note = "`jax.jit(rate_at)` is called with this step."
    for step in shuffled(rng, [10, 100, *shuffled(rng, steps)[:4]]):
        yield Case(in_jit, step, note=note)
    note = "How many traces does `jax.jit(rate_at)` need for these steps?"
    means = {"too high": "jit traces again for another step.", "too low": "jit never traces."}
    yield Case(number_of_traces, *shuffled(rng, steps)[:5], note=note, if_wrong=means)


def masked(rng, tree):
    """Draw a mask for a tree, with one True and one False at least where it has two leaves."""
    found, structure = jax.tree.flatten(tree)
    drawn = [True, False, *(bool(each) for each in rng.random(len(found)) < 0.5)][: len(found)]
    return structure.unflatten(shuffled(rng, drawn))


def some_leaf(rng):
    return [number(rng), number(rng) / 4, random_words(rng, 1)[0]][rng.integers(3)]


@check
def split(answer, rng):
    """Chosen leaves in the first tree, the others in the second, `None` in the gaps."""

    @own(answer)
    def parts(tree, mask):
        result = answer(tree, mask)
        return tuple(result) if isinstance(result, list) else result

    def tree_afterwards(tree, mask):
        answer(tree, mask)
        return tree

    edges = (0, 0.0, "", False, float("nan"), vector(rng))
    draw = partial(some_leaf, rng)
    without = ["keys", "more than ten items"]
    trees = varied_trees(rng, draw, edges=edges, without=without, rich=0)
    trees += [{"act": jnp.abs, "weight": vector(rng)}, [draw(), [draw(), (draw(), None)]]]
    cases = [Case(parts, tree, masked(rng, tree)) for tree in trees]
    note = "The tree, after it was split:"
    for tree in ({"act": "relu", "weight": vector(rng)}, [draw(), [draw(), draw()]]):
        cases.append(Case(tree_afterwards, tree, masked(rng, tree), note=note))
    yield from shuffled(rng, cases)


@check
def merge(answer, rng):
    """The leaves of both trees, false ones too; `None` where both have none."""

    def gaps(tree):
        """Return two trees that hold the leaves of a tree between them."""
        found, structure = jax.tree.flatten(tree)
        mask = jax.tree.leaves(masked(rng, tree))
        first = [leaf if chosen else None for leaf, chosen in zip(found, mask, strict=True)]
        second = [None if chosen else leaf for leaf, chosen in zip(found, mask, strict=True)]
        return structure.unflatten(first), structure.unflatten(second)

    edges = (0, 0.0, "", False, float("nan"), vector(rng))
    draw = partial(some_leaf, rng)
    without = ["keys", "more than ten items"]
    trees = varied_trees(rng, draw, edges=edges, without=without, rich=0)
    trees += [{"act": jnp.abs, "weight": vector(rng)}, [draw(), [draw(), (draw(), None)]]]
    cases = [Case(answer, *gaps(tree)) for tree in trees]
    cases += [Case(answer, [0, "", None], [None, None, number(rng)])]
    cases += [Case(answer, {"bias": False, "step": None}, {"bias": None, "step": 0})]
    yield from shuffled(rng, cases)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
