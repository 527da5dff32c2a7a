"""Checks of lesson 4, aux_data: python checks/check_04_aux_data.py exercises/04_aux_data.ipynb"""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.checking import Case, as_int, check, prediction_cases, random_words


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


def number(rng, low=2, high=10):
    return int(rng.integers(low, high))


def vector(rng):
    return rng.integers(1, 10, 2).astype(np.float32)


def matrix(rng):
    return rng.integers(1, 10, (2, 2)).astype(np.float32)


def plain(array):
    """Return an array of any library as a list of Python's numbers."""
    return np.asarray(array, np.float64).tolist()


def whole(value):
    """Let an integer of any library count as Python's own; leave all else as it is."""
    is_array = isinstance(value, (np.generic, np.ndarray, jax.Array)) and value.ndim == 0
    return value.item() if is_array else value


@check
def sort_fields(fields, rng):
    lines = {
        "A": "weights, a float32 matrix that is trained",
        "B": "the activation, a function such as `jax.nn.relu`",
        "C": "the learning rate, a float; you want to try fifty of them",
        "D": "the number of blocks, an int; a Python `for` loop runs over `range(blocks)`",
        "E": "the number of steps so far, an int; each call adds 1",
        "F": "the layer's name, a text",
        "G": "the mean of all batches so far, an array: not trained, new after each call",
        "H": "a table of 1,000 numbers, an array; it never changes",
        "I": "`use_bias`, a bool; a Python `if` asks for it",
        "J": "a random key, made by `jax.random.key`",
    }
    return prediction_cases(fields, lines)


def double(x):
    return x + x


def square(x):
    return x * x


def negate(x):
    return -x


@check
def dense(Dense, rng):
    """Two leaves, one function in aux_data; the same function is the same program."""

    def call(layer, x):
        return layer(x)

    def value(w, b, activation, x):
        return plain(Dense(w, b, activation)(x))

    def leaves(w, b, activation):
        found = jax.tree.leaves(Dense(w, b, activation))
        arrays = [np.asarray(leaf) for leaf in found if isinstance(leaf, (np.ndarray, jax.Array))]
        others = [leaf for leaf in found if not isinstance(leaf, (np.ndarray, jax.Array))]
        return {"arrays": sorted(map(plain, arrays), key=repr), "others": others}

    def mapped(w, b, activation, x):
        return plain(jax.tree.map(negate, Dense(w, b, activation))(x))

    def shared(*pairs):
        x = np.ones(2, np.float32)
        layers = [Dense(w, np.zeros(2, np.float32), activation) for w, activation in pairs]
        return traces(call, *((layer, x) for layer in layers))

    identity, zeros = np.eye(2, dtype=np.float32), np.zeros(2, np.float32)
    x, b = np.array([1, -3], np.float32), np.array([1, 2], np.float32)
    yield Case(value, identity, zeros, negate, x, note="The layer is called with the last array.")
    yield Case(value, identity, b, double, x)
    yield Case(value, matrix(rng), vector(rng), square, vector(rng))
    yield Case(leaves, identity, b, negate, note="The leaves of the layer.")
    note = "Each leaf is replaced by its negative with `jax.tree.map`; then the layer is called."
    yield Case(mapped, identity, b, square, x, note=note)
    yield Case(mapped, matrix(rng), vector(rng), double, vector(rng), note=note)
    note = "How many traces for layers with these weights and activations?"
    yield Case(shared, (identity, negate), note=note)
    yield Case(shared, (identity, negate), (2 * identity, negate), note=note)
    yield Case(shared, (identity, negate), (identity, double), note=note)
    pairs = [(matrix(rng), (negate, double, square)[rng.integers(3)]) for _ in range(5)]
    yield Case(shared, *pairs, note=note)


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

    def seen(state):
        params = {name: plain(leaf) for name, leaf in state.params.items()}
        return {"params": params, "step": whole(state.step), "name": state.name}

    def advance(params, step, name):
        return seen(TrainState(params, step, name).advance(params))

    def old(params, step, name):
        state = TrainState(params, step, name)
        state.advance(params)
        return seen(state)

    def train(params, step, name, calls):
        step_once, done = counted(lambda state, grads: state.advance(grads))
        jitted = jax.jit(step_once)
        grads = {"w": params["w"] / 4}
        state = TrainState(params, step, name)
        for _ in range(calls):
            state = jitted(state, grads)
        return {**seen(state), "traces": len(done)}

    def named(params, *names):
        states = [(TrainState(params, 0, name),) for name in names]
        return traces(lambda state: state.params, *states)

    def w():
        """Return new parameters, for an answer may change those that it gets."""
        return {"w": np.array([4, 8], np.float32)}

    name = random_words(rng, 1)[0]
    note = "One step without jit: the gradients are the parameters."
    yield Case(advance, w(), 0, "net", note=note)
    yield Case(advance, {"w": vector(rng), "b": vector(rng)}, number(rng, 5, 100), name)
    yield Case(old, w(), 3, "net", note="`advance` is called. This is the old state afterwards.")
    note = "The last number says how often a jitted function calls `advance`."
    yield Case(train, w(), 0, "net", 3, note=note)
    yield Case(train, {"w": vector(rng)}, number(rng, 5, 100), name, 3, note=note)
    note = "How many traces for states with these names?"
    yield Case(named, w(), "net", "net", note=note)
    yield Case(named, w(), "net", "other", note=note)


@check
def hashable_config(Config, rng):
    """Equality and hash by value; nothing can be changed later; jit's static arguments."""

    def fields(width, names):
        config = Config(width, list(names))
        return {"width": config.width, "names": list(config.names)}

    def configs(*several):
        # A list, for two objects that live at different times may have the same id and hash.
        return [Config(width, list(names)) for width, names in several]

    def equal(*pair):
        one, other = configs(*pair)
        return bool(one == other)

    def same_hash(*pair):
        one, other = configs(*pair)
        return hash(one) == hash(other)

    def set_field(name, value):
        config = Config(8, ["in", "out"])
        try:
            setattr(config, name, value)
        except Exception:  # which one, is the learner's choice
            return "an error"
        return "no error"

    def callers_list(names):
        given = list(names)
        config = Config(8, given)
        given.append("more")
        return list(config.names)

    def static(*several):
        made = configs(*several)
        if any(one == made[0] and hash(one) != hash(made[0]) for one in made):
            return "equal configs have different hashes"  # what jit does then is not defined
        calls = [(config, ONE) for config in made]
        return traces(lambda config, x: x * config.width, *calls, static_argnums=0)

    names = random_words(rng, 3)
    config = (number(rng, 10, 100), names)
    yield Case(fields, 8, ["in", "out"])
    yield Case(fields, *config)
    note = "Are the two configs equal?"
    yield Case(equal, (8, ["in"]), (8, ["in"]), note=note)
    yield Case(equal, (8, ["in"]), (9, ["in"]), note=note)
    yield Case(equal, (8, ["in"]), (8, ["out"]), note=note)
    yield Case(equal, (8, ["in", "out"]), (8, ["out", "in"]), note=note)
    note = "Have the two configs the same hash?"
    yield Case(same_hash, (8, ["in"]), (8, ["in"]), note=note)
    yield Case(same_hash, config, config, note=note)
    note = "This field is set to this value. Is there an error?"
    yield Case(set_field, "width", 9, note=note)
    yield Case(set_field, "names", ["more"], note=note)
    note = "The list is given to a Config, then a name is added to it. The names of the Config:"
    yield Case(callers_list, ["in", "out"], note=note)
    note = "How many traces, with these configs as static arguments?"
    yield Case(static, (8, ["in"]), (8, ["in"]), note=note)
    yield Case(static, (8, ["in"]), (9, ["in"]), (8, ["out"]), note=note)
    drawn = [
        (number(rng, 2, 5), [[names[0], names[1]], names[:1]][rng.integers(2)]) for _ in "abcd"
    ]
    yield Case(static, *drawn, *drawn[:2], note=note)


@check
def lookup_table(Lookup, rng):
    """Any table, one program; and no gradient for the table."""
    index = np.array([0, 2], np.int32)

    def look(layer):
        return layer(index)

    def value(table, scale):
        return plain(look(Lookup(table, scale)))

    def leaves(table, scale):
        found = [np.asarray(leaf).shape for leaf in jax.tree.leaves(Lookup(table, scale))]
        return {"number of leaves": len(found)}

    def shared(*tables):
        scale = np.array([1, 2], np.float32)
        return traces(look, *((Lookup(table, scale),) for table in tables))

    def jitted(*tables):
        function = jax.jit(lambda layer: layer(index))
        scale = np.array([1, 2], np.float32)
        return [plain(function(Lookup(table, scale))) for table in tables]

    def gradient(table, scale):
        # One compilation, where jax.grad alone would make one for each operation.
        found = jax.jit(jax.grad(lambda layer: jnp.sum(layer(index))))(Lookup(table, scale))
        return {"table": plain(found.table), "scale": plain(found.scale)}

    def table():
        return rng.integers(1, 100, 4).astype(np.float32)

    first, scale = np.array([5, 6, 7, 8], np.float32), np.array([1, 10], np.float32)
    note = "The layer is called with the index [0, 2]."
    yield Case(value, first, scale, note=note)
    yield Case(value, table(), vector(rng), note=note)
    yield Case(leaves, first, scale, note="The leaves of the layer.")
    note = "How many traces for layers with these tables?"
    yield Case(shared, first, first.copy(), note=note)
    yield Case(shared, first, first + 1, note=note)
    yield Case(shared, table(), table(), table(), note=note)
    note = "A jitted function looks up [0, 2] in each of these tables."
    yield Case(jitted, first, first + 1, note=note)
    yield Case(jitted, table(), table(), note=note)
    note = "The gradient of the sum, for the index [0, 2]."
    yield Case(gradient, table(), vector(rng), note=note)


@check
def sweep(answer, rng):
    """Each rate from the same start; one trace for all of them, whole numbers too."""

    def watched(target):
        calls = []

        def loss(w):
            calls.append(isinstance(w, jax.core.Tracer))
            return jnp.sum((w - target) ** 2)

        return loss, calls

    def losses(w, target, rates):
        result = answer(watched(target)[0], w, list(rates))
        return [float(loss) for loss in result]

    @cache
    def calls_for_one_rate():
        loss, calls = watched(target)
        answer(loss, w, [0.75])
        return max(len(calls), 1)

    def how_often(w, target, rates):
        """How many times more often `loss` runs than for one rate alone."""
        loss, calls = watched(target)
        answer(loss, w, list(rates))
        times = len(calls) / calls_for_one_rate()
        return {"times": int(times) if times == int(times) else times, "traced": all(calls)}

    w, target = np.array([1, 2], np.float32), np.array([3, 5], np.float32)
    note = "The loss is the sum of `(w - target) ** 2`. The first array is `w`, then `target`."
    yield Case(losses, w, target, [0.25, 0.5], note=note)
    yield Case(losses, w, target, [1, 0.125, 0], note=note)
    rates = (rng.permutation(16)[:3] / 16).tolist()
    yield Case(losses, vector(rng), vector(rng) + 10, rates, note=note)
    note = "How often does Python run `loss`, compared with one rate? Always while JAX traces?"
    yield Case(how_often, w, target, [0.25, 0.25], note=note)
    yield Case(how_often, w, target, [0.25, 0.5, 0.125], note=note)
    yield Case(how_often, w, target, [1, 0.5, 2], note=note)


@check
def stale_options(Net, rng):
    """A changed option is seen; equal options share a trace; nothing is shared by two nets."""
    x = np.array([1, 2], np.float32)
    w = np.array([1, 3], np.float32)

    def options(scale, negated=False):
        return {"scale": scale, "negate": negated}

    def value(w, options):
        return plain(Net(w, dict(options))(x))

    def leaves(w, options):
        return [whole(leaf) for leaf in jax.tree.leaves(Net(w, dict(options)))]

    def changes(options, *changes):
        """Call a jitted function before and after each change."""
        function, done = counted(lambda net: net(x))
        jitted = jax.jit(function)
        net = Net(w, dict(options))
        results = [plain(jitted(net))]
        for name, new in changes:
            net.options[name] = new
            results.append(plain(jitted(net)))
        return {"results": results, "traces": len(done)}

    def shared(*several):
        return traces(lambda net: net(x), *((Net(w, dict(options)),) for options in several))

    def have_hashes(*several):
        for options in several:
            node = jax.tree.structure(Net(w, dict(options))).node_data()
            try:
                hash(node[1])
            except TypeError:
                return False
        return True

    def rebuilt(options, name, new):
        net = Net(w, dict(options))
        copy = jax.tree.map(lambda leaf: leaf, net)
        before = copy.options
        copy.options[name] = new
        is_dict = type(before) is dict
        return {"a dict": is_dict, "copy": dict(copy.options), "net": dict(net.options)}

    yield Case(value, w, options(2))
    yield Case(value, vector(rng), options(number(rng), True))
    yield Case(leaves, w, options(2), note="The leaves of the net.")
    note = "A jitted function is called; then an option is set and it is called again."
    yield Case(changes, options(2), ("scale", 3), note=note)
    steps = [("negate", True), ("scale", number(rng, 5, 100)), ("negate", False), ("scale", 3)]
    yield Case(changes, options(3), *steps[:1], *steps[2:], note=note)
    note = "How many traces for nets with these options?"
    yield Case(shared, options(2), options(2), note=note)
    yield Case(shared, options(2), {"negate": False, "scale": 2}, note=note)
    yield Case(shared, options(2), options(2, True), options(3), note=note)
    name = random_words(rng, 1)[0]
    yield Case(shared, {**options(2), name: "a"}, {name: "a", **options(2)}, options(2), note=note)
    # Two nets: feedback shows the smallest case that failed, and a stale result says more.
    yield Case(have_hashes, options(2), options(3), note="Has the aux_data of each net a hash?")
    note = "`jax.tree.map` makes a copy of the net. Then an option of the copy is set."
    yield Case(rebuilt, options(2), "scale", 5, note=note)


@check
def repeat(answer, rng):
    """A loop of any length; under jit, one program for all lengths."""

    def once(layer, x):
        return plain(answer(layer, x))

    def jitted(w, b, x, *several):
        function, done = counted(answer)
        function = jax.jit(function)
        results = [plain(function({"w": w, "b": b, "times": times}, x)) for times in several]
        return {"results": results, "traces": len(done)}

    w, b, x = (np.array(pair, np.float32) for pair in ([2, 0.5], [1, 3], [0, 4]))
    for times in (0, 1, number(rng, 3, 6)):
        yield Case(once, {"w": w, "b": b, "times": times}, x.copy(), note="Without jit.")
    note = "Under jit, with the arrays w, b and x; the numbers are `times` for each call."
    yield Case(jitted, w, b, x, 1, 0, 3, note=note)
    numbers = rng.permutation(12)[:3].tolist()
    yield Case(jitted, np.array([1, 0.5], np.float32), vector(rng), x, *numbers, 40, note=note)


@check
def traces_of(answer, rng):
    """Shapes, dtypes and aux_data make a new trace; values and repeated calls do not."""
    answer = as_int(answer)

    def same(x):
        return x

    def twice(function, calls):
        return [answer(function, calls), answer(function, calls)]

    def nodes(*pairs):
        calls = [(Scaled(x, factor),) for x, factor in pairs]
        return answer(lambda node: node.x, calls)

    one, longer = np.ones(2, np.float32), np.ones(3, np.float32)
    yield Case(answer, same, [])
    yield Case(answer, same, [(one,), (2 * one,)])
    yield Case(answer, same, [(one,), (longer,), (one,)])
    yield Case(answer, same, [(1,), (2,), (0.5,)])
    note = "Each pair is a node: the first is its leaf, the second is in aux_data."
    yield Case(nodes, (one, "a"), (one, "b"), (2 * one, "a"), note=note)
    yield Case(twice, same, [(one,), (2 * one,)], note="Your function is used twice.")
    drawn = [[one, longer, 1, 0.5][place] for place in rng.integers(4, size=6)]
    yield Case(answer, same, [(each,) for each in drawn])


@check
def partition(partition, combine, rng):
    """None in the holes, on both sides; false values are values; None stays None."""

    def is_float(leaf):
        return isinstance(leaf, float)

    def is_array(leaf):
        return isinstance(leaf, np.ndarray)

    def is_large(leaf):
        return leaf > 3  # it fails for None

    def parts(tree, chosen):
        result = partition(tree, chosen)
        return tuple(result) if isinstance(result, list) else result

    def there_and_back(tree, chosen):
        return combine(*partition(tree, chosen))

    def leaf():
        return [number(rng), number(rng) / 4, random_words(rng, 1)[0]][rng.integers(3)]

    a = np.array([1, 2], np.float32)
    yield Case(parts, 1.5, is_float)
    yield Case(parts, "in", is_float)
    yield Case(parts, {"w": 1.5, "name": "in"}, is_float)
    yield Case(parts, [1, 5, None], is_large)
    yield Case(parts, {"w": [a, {"b": a}], "f": negate, "n": (3, None)}, is_array)
    yield Case(combine, None, "in")
    yield Case(combine, {"w": 1.5, "name": None}, {"w": None, "name": "in"})
    yield Case(combine, [0, None, False], [None, "", None])
    yield Case(combine, [None, (1, None)], [None, (None, 2.5)])
    yield Case(combine, {"w": a, "n": None}, {"w": None, "n": a})
    for _ in range(3):
        one, two, three = random_words(rng, 3)
        tree = {one: [leaf(), None, 0.5], two: {three: (leaf(), "x")}, three: 0}
        yield Case(parts, tree, is_float)
        yield Case(there_and_back, tree, is_float, note="Partition, then combine.")


@check
def static_wrapper(Static, rng):
    """No leaves; the value comes back; equality by type and value, nan included; hashes agree."""

    def count(value):
        return len(jax.tree.leaves(Static(value)))

    def mapped(value):
        return jax.tree.map(double, [Static(value), 1])[0].value

    def equal(one, other):
        return bool(Static(one) == Static(other))

    def other_type(value):
        return bool(Static(value) == value)

    def same_hash(*pair):
        one, other = map(Static, pair)  # both live, so that they cannot have the same id
        return hash(one) == hash(other)

    def dtypes(*values):
        """One jitted function for all of them: the dtype of `x * value` shows which trace ran."""
        function, done = counted(lambda x, static: x * static.value)
        jitted = jax.jit(function)
        x = np.array([1, 2], np.int32)
        seen = [str(jitted.trace(x, Static(value)).out_info.dtype) for value in values]
        return {"dtypes": seen, "traces": len(done)}

    def shared(*values):
        return traces(lambda x, static: x, *((ONE, Static(value)) for value in values))

    def nan():
        return float("nan")

    n = number(rng, 20, 100)
    words = random_words(rng, 3)
    for value in (2, "text", negate):
        yield Case(count, value, note="The number of leaves.")
    for value in (n, "text", negate, tuple(words)):
        yield Case(mapped, value, note="The value, after a `jax.tree.map` over a tree with it.")
    note = "Are the two `Static` equal?"
    yield Case(equal, 2, 2, note=note)
    yield Case(equal, 2, 3, note=note)
    yield Case(equal, 2, 2.0, note=note)
    yield Case(equal, 1, True, note=note)
    yield Case(equal, float(n), float(n), note=note)
    yield Case(equal, nan(), nan(), note=note)
    yield Case(equal, nan(), "nan", note=note)
    yield Case(equal, tuple(words), tuple(words[:2]), note=note)
    yield Case(other_type, 2, note="Is `Static(2)` equal to the bare number?")
    note = "Have the two `Static` the same hash?"
    yield Case(same_hash, n, n, note=note)
    yield Case(same_hash, nan(), nan(), note=note)
    note = "A jitted `lambda x, s: x * s.value`, with an int32 array x and each of these values."
    yield Case(dtypes, 2, 2, 3, note=note)
    yield Case(dtypes, 2, 2.0, note=note)
    yield Case(dtypes, n, float(n), n, 0.5, note=note)
    note = "How many traces for these values?"
    yield Case(shared, nan(), nan(), note=note)
    yield Case(shared, negate, double, negate, note=note)
    yield Case(shared, tuple(words), tuple([*words]), words[0], note=note)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
