"""Checks of lesson 4, aux_data.

python checks/check_04_aux_data.py exercises/04_aux_data_exercises.ipynb
"""

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
    check,
    making,
    prediction_cases,
    random_words,
    shuffled,
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
    if isinstance(value, str):
        return "".join([*value])
    return float(str(value)) if isinstance(value, float) else value


def asked(rng, draw, differ):
    """Draw pairs: some hold equal items, in some the one is what `differ` makes of the other."""
    others = [True, False, *(rng.random(rng.integers(3)) < 0.5)]
    pairs = []
    for is_other in shuffled(rng, others):
        item = draw()
        pairs.append(tuple(shuffled(rng, [item, differ(item) if is_other else again(item)])))
    return pairs


def masked(rng, tree):
    """Draw a mask for a tree, with one True and one False at least where it has two leaves."""
    leaves, structure = jax.tree.flatten(tree)
    drawn = [True, False, *(bool(yes) for yes in rng.random(len(leaves)) < 0.5)][: len(leaves)]
    return structure.unflatten(shuffled(rng, drawn))


def in_two(rng, tree):
    """Return two trees that hold the leaves of a tree between them."""
    leaves, structure = jax.tree.flatten(tree)
    mask = jax.tree.leaves(masked(rng, tree))
    first = [leaf if chosen else None for leaf, chosen in zip(leaves, mask, strict=True)]
    second = [None if chosen else leaf for leaf, chosen in zip(leaves, mask, strict=True)]
    return structure.unflatten(first), structure.unflatten(second)


def few_trees(rng):
    """Draw small trees of several kinds, some of them with a leaf that is false, or an array."""

    def leaf():
        return [number(rng), number(rng) / 4, random_words(rng, 1)[0]][rng.integers(3)]

    first, second = sorted(random_words(rng, 2))
    trees = [
        leaf(),
        [(), {}, []][rng.integers(3)],
        {second: leaf(), first: 0},
        [leaf(), ""],
        (leaf(), 0.0),
        Point(leaf(), False),
        [Point(leaf(), leaf())],
        Duo(leaf(), leaf()),
        {first: jax.device_put(vector(rng)), second: None},
        [{first: leaf()}, {first: leaf()}],
    ]
    return shuffled(rng, trees)


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


ACTIVATIONS = (plus_itself, times_itself, opposite, three_times, one_more)
LAMBDAS = (lambda x: x + x, lambda x: x * x, lambda x: -x)


@check
def old_answer(Model, rng):
    """Each call uses the attributes of that moment, and another `scale` is no new trace."""
    Model = making(Model)

    @own(Model)
    def results(scale, act, x, *settings):
        model = Model(scale, act)
        found = [plain(model.apply(x))]
        for name, value in settings:
            setattr(model, name, value)
            found.append(plain(model.apply(x)))
        return found

    @own(Model)
    def of_two(scale, act, other_scale, other_act, x):
        one, other = Model(scale, act), Model(other_scale, other_act)
        return [plain(model.apply(x)) for model in (one, other, one)]

    def runs(scale, x, *scales):
        def act(y):
            seen.append(isinstance(y, jax.core.Tracer))
            return y + y

        seen = []
        model = Model(scale, act)
        model.apply(x)
        first, found = len(seen), []
        for scale in scales:
            model.scale = scale
            found.append(plain(model.apply(x)))
        again = {"runs again": len(seen) - first, "runs with numbers": seen.count(False)}
        return {"results": found, **again}

    def scales():
        return [float(value) for value in rng.choice(np.arange(2, 60), 4, replace=False)]

    def acts():
        return shuffled(rng, ACTIVATIONS[:4])

    x = vector(rng)
    note = "`apply` is called; then an attribute is set, and `apply` is called again."
    one, other, third, _ = scales()
    first, second, *_ = acts()
    for settings in (
        [("scale", other)],
        [("act", second)],
        [("scale", other), ("scale", one), ("scale", third)],
        [("act", second), ("act", first)],
        shuffled(rng, [("scale", other), ("act", second)]),
    ):
        yield Case(results, one, first, x, *settings, note=note)
    arrays = [vector(rng) + 10 * place for place in range(3)]
    yield Case(results, arrays[0], first, x, *(("scale", each) for each in arrays[1:]), note=note)
    yield Case(results, arrays[0], first, x, ("scale", one), ("scale", arrays[1]), note=note)
    note = "Two models. `apply` of the first is called, then of the second, then of the first."
    for other_act in (first, second):
        yield Case(of_two, one, first, other, other_act, x, note=note)
    note = "`apply` is called; then each of the other scales is set, and `apply` is called again."
    means = {
        "results": "After setting `scale`, the result is not `act(scale * x)` for the new `scale`.",
        "runs again too high": "`act` runs again after another `scale` of the same type was set: "
        "JAX traces again, or nothing is jitted.",
        "runs with numbers": "`act` runs with an array, not with a tracer: it is outside of jit.",
    }
    for several in (scales(), [one, other, one, one], [vector(rng) for _ in range(3)]):
        yield Case(runs, several[0], x, *several[1:], note=note, if_wrong=means)
    example = (2.0, jnp.abs, np.array([-1, 3], np.float32), ("scale", 3.0))
    yield Case(results, *example, note="`apply` is called before and after the attribute is set.")


@check
def dense(Dense, rng):
    """Two leaves, one function in aux_data; the same function is the same program."""
    Dense = making(Dense)

    @own(Dense)
    def value(w, b, activation, x):
        return plain(Dense(w, b, activation)(x))

    @own(Dense)
    def mapped(w, b, activation, x):
        return plain(jax.tree.map(double, Dense(w, b, activation))(x))

    @own(Dense)
    def first_of_two(w, b, activation, other, x):
        layer = Dense(w, b, activation)
        Dense(w, b, other)
        return plain(layer(x))

    def leaves(w, b, activation):
        found = sorted(jax.tree.leaves(Dense(w, b, activation)), key=np.ndim)
        return [plain(leaf) if np.ndim(leaf) else leaf for leaf in found]

    def shapes(w, b, activation):
        layer = jax.tree.map(lambda leaf: str(np.shape(leaf)), Dense(w, b, activation))
        return sorted(jax.tree.leaves(layer))

    def shared(*activations):
        weights = [np.full((2, 2), place, np.float32) for place in range(len(activations))]
        layers = map(Dense, weights, [ONE] * len(weights), activations)
        return traces(lambda layer, x: layer(x), *((layer, ONE) for layer in layers))

    def lopsided():
        w = matrix(rng)
        w[0, 1] = w[1, 0] + number(rng)
        return w

    def inputs():
        return lopsided(), vector(rng), ACTIVATIONS[rng.integers(len(ACTIVATIONS))]

    note = "The layer is called with the last array."
    yield Case(value, np.ones((2, 2)), np.zeros(2), jnp.abs, np.array([1.0, -3.0]), note=note)
    diagonal, zeros = np.diag(vector(rng)), np.zeros(2, np.float32)
    yield Case(value, diagonal, zeros, *inputs()[2:], vector(rng), note=note)
    yield Case(value, diagonal, *inputs()[1:], matrix(rng), note=note)
    for _ in range(rng.integers(3, 5)):
        yield Case(value, *inputs(), vector(rng), note=note)
    note = "Each leaf is doubled with `jax.tree.map`; then the layer is called."
    yield Case(mapped, diagonal, zeros, *inputs()[2:], vector(rng), note=note)
    for _ in range(rng.integers(2, 4)):
        yield Case(mapped, *inputs(), vector(rng), note=note)
    note = "Two layers with these activations are made; then the first one is called."
    for _ in range(2):
        functions = shuffled(rng, ACTIVATIONS)[:2]
        yield Case(first_of_two, *inputs()[:2], *functions, vector(rng), note=note)
    note = "The leaves of the layer, those with fewer axes first."
    means = {"": "The leaves of a layer have to be its two arrays, as they were given."}
    for _ in range(2):
        yield Case(leaves, *inputs(), note=note, if_wrong=means)
    note = "The leaves, after a `jax.tree.map` that makes a string of the shape of each."
    means = {"": "A layer that JAX rebuilds has to keep its two new leaves as they are."}
    for _ in range(2):
        given = (np.zeros((number(rng), 2), np.float32), *inputs()[1:])
        yield Case(shapes, *given, note=note, if_wrong=means)
    note = "How many traces for layers with these activations?"
    means = {
        "too high": "jit traces once more for a layer with the activation of an earlier one: their "
        "aux_data has to be equal.",
        "too low": "jit does not trace again for a layer with another activation: the activation "
        "has to be in aux_data, and two different ones must not be equal there.",
    }
    for pool, more in ((ACTIVATIONS[:2], 2), (ACTIVATIONS, 0), (ACTIVATIONS, 2), (LAMBDAS, 0)):
        yield Case(shared, *drawn_from(rng, pool, more), note=note, if_wrong=means)
    one, other = shuffled(rng, LAMBDAS)[:2]
    for several in ([one], [one] * number(rng, 2, 5), [one, other, one]):
        yield Case(shared, *several, note=note, if_wrong=means)


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

    def shared(*labels):
        states = [(TrainState({"w": ONE}, step, name),) for step, name in labels]
        return traces(lambda state: state.params, *states)

    def arrays(names, shape=2):
        return {name: rng.integers(1, 50, shape).astype(np.float32) for name in names}

    def inputs(count, steps, shape=2):
        """Draw a state and gradients, whose keys are in another order where there are several."""
        names = random_words(rng, count)
        gradients = [arrays([*names[1:], names[0]], shape) for _ in range(steps)]
        return arrays(names, shape), number(rng, 5, 100), random_words(rng, 1)[0], *gradients

    note = "`advance` without jit, with each of the gradients."
    for given in (*((1, 1), (1, 1, (2, 2)), (3, 1), (1, 2), (1, 3)), (number(rng, 2, 4), 1)):
        yield Case(advance, *inputs(*given), note=note)
    note = "`advance` is called. This is the old state afterwards, and the arrays it was made of."
    means = {
        "arrays": "`advance` writes into the arrays of the old state.",
        "params": "`advance` changes the parameters of the old state.",
        "step": "After `advance`, the `step` of the old state is not the int that it was.",
    }
    for count in (1, 2, number(rng, 1, 3)):
        yield Case(old, *inputs(count, 1), note=note, if_wrong=means)
    note = "A jitted function calls `advance`, with each of the gradients. How many traces?"
    means = {
        "traces too high": "jit traces again in the same training. Something in the state that "
        "jit compares, a part of aux_data or the type of a leaf, changes from step to step.",
        "step": "Under jit the counter is wrong after the last step.",
        "params": "Under jit the parameters are wrong after the last step.",
        "name": "Under jit the state does not keep its name.",
    }
    for _ in range(2):  # a name of a parameter is a part of the compiled program
        gradients = [arrays(["w"]) for _ in range(number(rng, 3, 6))]
        given = (arrays(["w"]), number(rng, 5, 100), random_words(rng, 1)[0], *gradients)
        yield Case(train, *given, note=note, if_wrong=means)
    note = "`jax.tree.map` doubles each leaf of the state."
    for count in (1, 2, 3):
        yield Case(rebuilt, *inputs(count, 0), note=note)
    note = "How many traces for states with these steps and names?"
    means = {
        "too high": "jit traces again for a state that differs from an earlier one only in its "
        "step, or in nothing. The step must not be a part of what jit compares.",
        "too low": "jit does not trace again for a state with another name: the name has to be "
        "in aux_data.",
    }
    for most in (2, 3, 4, 5):
        names = drawn_from(rng, random_words(rng, most), 2)
        labels = [(number(rng, 5, 100), name) for name in names]
        yield Case(shared, *labels, (101, names[0]), note=note, if_wrong=means)


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


@check
def lookup_table(Lookup, rng):
    """Any table, one program; and no gradient for the table."""
    Lookup = making(Lookup)

    @own(Lookup)
    def value(table, scale, index):
        return plain(Lookup(jnp.asarray(table), scale)(index))

    @own(Lookup)
    def after_reading(table, scale, index):
        layer = Lookup(jnp.asarray(table), scale)
        jax.jit(lambda index: layer(index)).trace(index)
        return plain(layer(index))

    def leaves(table, scale):
        found = jax.tree.leaves(Lookup(jnp.asarray(table), scale))
        return [plain(leaf) for leaf in sorted(found, key=np.size)]

    def shared(scale, index, *tables):
        layers = [(Lookup(jnp.asarray(table), scale), index) for table in tables]
        return traces(lambda layer, index: layer(index), *layers)

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
        return (rng.integers(1, 100, length) + 0.25).astype(np.float32)

    def index():
        return rng.permutation(4)[:2].astype(np.int32)

    def scale():
        return np.asarray(rng.integers(2, 10), np.float32)

    note = "The layer is called with the last array."
    for given in (
        (table(), scale(), index()),
        (table(), vector(rng), index()),
        (table(), scale(), np.stack([index(), index()])),
        (table(), scale(), index()[0]),
        (table(), vector(rng), index()[0]),
    ):
        yield Case(value, *given, note=note)
    note = "JAX traces a function of the index that reads the layer; then the layer is called."
    for _ in range(2):
        yield Case(after_reading, table(), vector(rng), index(), note=note)
    note = "The leaves of the layer, the smaller one first."
    means = {"": "The leaves of a layer have to be its table and its scale, as they were given."}
    for _ in range(2):
        yield Case(leaves, table(), vector(rng), note=note, if_wrong=means)
    note = "How many traces for layers with these tables?"
    means = {
        "too high": "jit traces again for a table whose shape it has seen: the numbers of the "
        "table, or the object that holds it, are a part of what jit compares.",
        "too low": "jit does not trace again for a table of another shape.",
    }
    same = table()
    many = [4] * number(rng, 2, 5), drawn_from(rng, [4, 6], 2), drawn_from(rng, [4, 6, 8], 1)
    for tables in (
        [same],
        [same, same.copy()],
        *([table(length) for length in lengths] for lengths in many),
    ):
        yield Case(shared, vector(rng), index(), *tables, note=note, if_wrong=means)
    note = "A jitted function looks up these indices in each of the tables."
    for _ in range(2):
        tables = [table() for _ in range(rng.integers(2, 4))]
        yield Case(jitted, vector(rng), index(), *tables, note=note)
    note = "The gradient of the sum."
    means = {
        "table": "The gradient for the table is not zero, or it has another shape.",
        "scale": "The gradient for `scale` is not the true one.",
    }
    for factor, places in ((vector(rng), index()), (vector(rng), index()), (scale(), index())):
        yield Case(gradient, table(), factor, places, note=note, if_wrong=means)
    places = np.stack([index(), index()])
    yield Case(gradient, table(), vector(rng), places, note=note, if_wrong=means)


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

    def start(*shape):
        # The target is a constant of the compiled programs, so it is the same each time.
        target = np.arange(12, 12 + np.prod(shape), dtype=np.float32).reshape(shape)
        return target - rng.integers(2, 10, shape).astype(np.float32), target + np.float32(0.25)

    def fractions(count):
        return (rng.choice(np.arange(1, 80), count, replace=False) / 100).tolist()

    one, other, third = shuffled(rng, [0, 1, 2])
    repeated = fractions(2)
    note = (
        "The loss is the sum of `(w - target) ** 2`; the first array is `w`, then `target`. "
        "How many times more often than for one rate does Python run `loss`, and how many runs get "
        "numbers, for JAX does not trace?"
    )
    means = {
        "losses": "The losses are wrong, or are no list of numbers.",
        "times too high": "Python runs `loss` more often for several rates than for one rate: for "
        "some rate, JAX transforms it anew.",
        "without a trace": "Python runs `loss` with numbers, outside of JAX's transformations.",
    }
    for w_and_target, rates in (
        (start(2), fractions(rng.integers(2, 5))),
        (start(2, 2), fractions(2)),
        (start(2), shuffled(rng, [*repeated, repeated[0]])),
        (start(2), [one, other]),
        (start(2), [one, other, third]),
        (start(2), [one, *fractions(2)]),
        (start(2), [float(other), *fractions(1), other]),
        (start(2), [one, *shuffled(rng, [*repeated, other, one, repeated[0]])]),
    ):
        yield Case(how_often, *w_and_target, rates, note=note, if_wrong=means)
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
        hashed = has_a_hash(jax.tree.structure(net).node_data()[1])
        return {"results": results, "traces": len(done), "with a hash": hashed}

    def shared(w, *options):
        return traces(lambda net: net(ONE), *((Net(w, dict(each)),) for each in options))

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
        means = {"": "A rebuilt net has to have the same options."}
        note = "The options, after a `jax.tree.map` over the net."
        yield Case(rebuilt, vector(rng), given, note=note, if_wrong=means)
    note = "A jitted function is called; then an option is set, or deleted, and it is called again."
    means = {
        "results": "After a change of the options, the jitted function does not use the new ones.",
        "traces too low": "jit does not trace again after a change of the options: what it "
        "compares did not change, or changed on both sides.",
        "traces too high": "jit traces again though the options are those of an earlier call.",
        "with a hash": "The aux_data of a net has no hash.",
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
            [dict(shuffled(rng, options.items())) for options in drawn_from(rng, pool, 2)],
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


@check
def new_optimiser(predictions, rng):
    lines = {
        "A": "`for _ in range(3): f(State(one, sgd))`",
        "B": "`for _ in range(3): f(State(one, optax.sgd(0.1)))`",
        "C": "`for _ in range(3): g(one, optax.sgd(0.1))`",
        "D": "`for rate in [0.1, 0.01, 0.001]: f(optax.adam(rate).init(one))`",
        "E": "`for epoch in range(3): f(State(one, sgd), epoch)`",
        "F": "`for _ in range(3): f(State(one, lambda x: 2 * x))`",
        "G": "`for _ in range(3): f(Partial(step, 0.1))`",
        "H": "`for _ in range(3): f(Partial(lambda x: 2 * x, 0.1))`",
        "I": "`for _ in range(3): f(State(one, jax.jit(step)))`",
        "J": '`for _ in range(3): f(State(one, ("sgd", 0.1)))`',
    }
    return prediction_cases(predictions, lines)


@check
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
        for values in ([nan(), nan(), n], drawn_from(rng, [n, float(n), str(n), n + 1], 2)):
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

    def node(factor="tanh"):
        return Scaled(vector(rng), factor)

    one, two = random_words(rng, 2)
    place = "a key holds the shape and dtype of each leaf in its place"
    name = "the structure holds the metadata of each node"
    note = "Pairs of trees. For which of them does `cache_key` give two equal keys?"
    for draw, differ, text in (
        (lambda: vector(rng), ints, "a key holds the dtype of a leaf, not its value"),
        (lambda: vector(rng), lambda: matrix(rng), "a key holds the shape of a leaf"),
        (
            lambda: [vector(rng)],
            lambda: [np.ones(3, np.float32)],
            "a key holds the shape of a leaf",
        ),
        (lambda: {one: vector(rng), two: ints()}, lambda: {one: ints(), two: vector(rng)}, place),
        (lambda: (number(rng), vector(rng)), lambda: (number(rng), ints()), place),
        (lambda: [number(rng)], lambda: [number(rng) / 4], "a Python number has a dtype too"),
        (lambda: [number(rng), 1], lambda: (number(rng), 1), "the structure knows a list"),
        (lambda: [vector(rng)], lambda: (vector(rng),), "the structure knows a list from a tuple"),
        (lambda: {one: ints()}, lambda: {two: ints()}, "the structure holds the names of a dict"),
        (lambda: [ints()], lambda: [ints(), None], "the structure holds each `None`"),
        (node, lambda: node("sin"), name),
        (lambda: [node(), node()], lambda: [node(), node("sin")], name),
    ):
        means = {
            "True": f"Two trees have equal keys, but `jit` needs a trace for each: {text}.",
            "False": "Two trees have different keys, but `jit` needs one trace: they differ in the "
            "values of leaves only, or in nothing.",
        }
        for _ in range(2):
            tree = draw()
            pairs = [(tree, tree), (tree, draw()), (tree, differ()), (draw(), differ())]
            pairs = shuffled(rng, pairs)[: rng.integers(3, 5)]
            yield Case(equal, *pairs, note=note, if_wrong=means)


@check
def rate_at(answer, rng):
    """Three rates, with the borders where they are; one trace for all steps."""

    @own(answer)
    def rate(step):
        return round(float(answer(step)), 6)

    @own(answer)
    def in_jit(step):
        return round(run_trace(jax.jit(answer), step), 6)

    def number_of_traces(*steps):
        return traces(answer, *((step,) for step in steps))

    steps = [0, 9, 10, 11, 99, 100, 101, 1000, number(rng), 10 * number(rng), 100 * number(rng)]
    steps.append(1000 * number(rng))
    for step in shuffled(rng, steps):
        yield Case(rate, step)
    note = "`jax.jit(rate_at)` is called with this step."
    for step in shuffled(rng, [10, 100, 1000, *shuffled(rng, steps)[:4]]):
        yield Case(in_jit, step, note=note)
    note = "How many traces does `jax.jit(rate_at)` need for these steps?"
    means = {"too high": "jit traces again for another step.", "too low": "jit never traces."}
    yield Case(number_of_traces, *shuffled(rng, steps)[:5], note=note, if_wrong=means)


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

    trees = [*few_trees(rng), {"act": jnp.abs, "name": "in", "weight": jax.device_put(vector(rng))}]
    for tree in trees:
        yield Case(parts, tree, masked(rng, tree))
    note, means = "The tree, after it was split:", {"": "`split` changes the caller's tree."}
    for tree in ({"act": "relu", "weight": vector(rng)}, {"w": number(rng), "b": 1}, [1, [2, 3]]):
        yield Case(tree_afterwards, tree, masked(rng, tree), note=note, if_wrong=means)


@check
def merge(answer, rng):
    """The leaves of both trees, false ones too; `None` where both have none."""

    def trees_afterwards(first, second):
        answer(first, second)
        return first, second

    trees = [*few_trees(rng), {"act": jnp.abs, "name": "in", "weight": jax.device_put(vector(rng))}]
    for tree in trees:
        yield Case(answer, *in_two(rng, tree))
    n, array = number(rng), vector(rng)
    yield Case(answer, [0, "", None], [None, None, n])
    yield Case(answer, {"bias": False, "step": None}, {"bias": None, "step": 0})
    for first, second in (([None, None, n], [None, "", None]), ((None, [None]), (None, [0.5]))):
        yield Case(answer, first, second)
    yield Case(answer, [array, None], [None, n])
    yield Case(answer, {"b": array, "w": None}, {"b": None, "w": array + 1})
    note, means = "Both trees, after they were merged:", {"": "`merge` changes the caller's trees."}
    for tree in ({"w": number(rng), "b": 1}, {"act": "relu", "weight": vector(rng)}):
        yield Case(trees_afterwards, *in_two(rng, tree), note=note, if_wrong=means)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
