"""Checks of lesson 5, an MLP from scratch: python checks/check_05_mlp.py exercises/05_mlp.ipynb"""

import copy
import functools
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.checking import (
    Case,
    as_jax,
    check,
    matrix,
    random_words,
    returning_jax,
    vector,
)


class Layer(NamedTuple):
    """A node, as all named tuples are."""

    w: Any
    b: Any


def number(rng):
    return int(rng.integers(2, 10))


def array(values, dtype=np.float32):
    return jnp.asarray(np.array(values, dtype))


def signed(rng, *shape):
    """Numbers of both signs, and no zeros."""
    return array(rng.choice([-3, -2, -1, 1, 2, 3], shape))


def coarse(tree):
    """Round to float16: what comes after its three digits is a matter of how one calculates."""
    with np.errstate(over="ignore"):
        return jax.tree.map(lambda leaf: np.asarray(leaf).astype(np.float16), tree)


def model(rng):
    """Draw a tree of several kinds of nodes."""
    first, second, third = random_words(rng, 3)
    return {first: [vector(rng), None], second: Layer(matrix(rng), vector(rng)), third: ()}


def like(rng, tree):
    """Draw numbers of both signs for each leaf of a tree."""
    return jax.tree.map(lambda leaf: signed(rng, *leaf.shape), tree)


def as_scalar(result):
    """Let a number count as an array without axes: it does not matter here which it is."""
    is_number = isinstance(result, (float, np.number, np.ndarray, jax.Array))
    return float(result) if is_number and np.ndim(result) == 0 else as_jax(result)


def as_count(result):
    """Let any whole number count as an int."""
    is_number = isinstance(result, (int, float, np.number, np.ndarray, jax.Array))
    return int(result) if is_number and np.ndim(result) == 0 and result == int(result) else result


def kinds(tree):
    """Put a text in place of each array: its dtype and shape."""
    return jax.tree.map(lambda leaf: f"{getattr(leaf, 'dtype', '?')} {np.shape(leaf)}", tree)


def alike(one, two):
    """Whether two trees have the same structure and the same numbers."""
    leaves, others = jax.tree.leaves(one), jax.tree.leaves(two)
    return jax.tree.structure(one) == jax.tree.structure(two) and all(
        np.shape(leaf) == np.shape(other) and np.allclose(leaf, other, equal_nan=True)
        for leaf, other in zip(leaves, others, strict=True)
    )


@check
def init_mlp(answer, rng):
    """Properties of what was drawn: shapes, spread, mean, and no two layers alike."""

    def shapes(sizes, seed):
        return kinds(answer(jax.random.key(seed), sizes))

    def biases(sizes, seed):
        return [as_jax(layer["b"]) for layer in answer(jax.random.key(seed), sizes)]

    def judge(weights, inputs):
        weights = np.asarray(weights, np.float64)
        spread = weights.std() / np.sqrt(2 / inputs)
        # Far beyond what chance does to 1,600 numbers and more.
        limits = {0.14: "a tenth or less", 0.35: "a quarter", 0.83: "too small", 1.2: "right"}
        said = next((said for most, said in limits.items() if spread < most), "too large")
        lies_around_0 = abs(weights.mean()) < 0.25 * np.sqrt(2 / inputs)
        return {"spread": said, "mean": "near 0" if lies_around_0 else "not near 0"}

    def size(sizes, seed):
        layers = answer(jax.random.key(seed), sizes)
        return [judge(layer["w"], n) for layer, n in zip(layers, sizes[:-1], strict=True)]

    def proportional(sizes, seed):
        layers = answer(jax.random.key(seed), sizes)
        flat = [np.asarray(layer["w"], np.float64).ravel() for layer in layers]
        pairs = [(one, two) for at, one in enumerate(flat) for two in flat[:at]]
        return any(abs(np.corrcoef(*pair)[0, 1]) > 0.5 for pair in pairs)

    def same(sizes, seed, other):
        one, two = (answer(jax.random.key(each), sizes)[0]["w"] for each in (seed, other))
        return bool(np.allclose(one, two))

    seed, other = (int(each) for each in rng.choice(1000, 2, replace=False))
    drawn = [int(size) for size in rng.choice(np.arange(2, 9), 3, replace=False)]
    note = "The number after the widths is the seed of the key. "
    yield Case(shapes, drawn, seed, note=note + "This looks at dtypes and shapes.")
    yield Case(biases, drawn, other, note=note + "This looks at the biases.")
    yield Case(shapes, [40, 40], seed, note=note + "One layer.")
    said = "Are the weights of the right size?"
    yield Case(size, [160, 40, 40], seed, note=note + said)
    said = "Are two layers proportional to each other, or nearly so?"
    yield Case(proportional, [40, 40, 40], seed, note=note + said)
    note = "The two numbers are the seeds of two keys. Are the weights the same?"
    yield Case(same, [40, 40], seed, seed, note=note)
    yield Case(same, [40, 40], seed, other, note=note)


@check
def forward(one, batch, rng):
    """ReLU between layers and not at the end; x has an axis of examples, the parameters do not."""

    def layer(inputs=2, outputs=2):
        return {"w": signed(rng, inputs, outputs), "b": signed(rng, outputs)}

    one, batch = returning_jax(one), returning_jax(batch)

    def twice(params, x):
        return [one(params, x) for _ in range(2)]

    first, second = "This calls `forward`.", "This calls `forward_batch`."
    # One layer whose outputs have both signs, under every seed.
    fixed = {"w": array([[1, -1], [2, -1]]), "b": array([3, -4])}
    yield Case(one, [fixed], array([1, 2]), note=first)
    yield Case(one, [fixed, fixed], array([1, 2]), note=first)
    yield Case(one, [layer(), layer(2, 3)], signed(rng, 2), note=first)
    yield Case(one, [layer(), layer(), layer()], signed(rng, 2), note=first)
    note = "This calls `forward` twice, with the same layers."
    yield Case(twice, [fixed, layer()], array([1, 2]), note=note)
    yield Case(batch, [fixed], array([[1, 2], [-2, 5]]), note=second)
    yield Case(batch, [fixed, layer()], signed(rng, 2, 2), note=second)
    yield Case(batch, [layer(), layer(2, 3)], signed(rng, 4, 2), note=second)
    yield Case(batch, [layer(), layer()], signed(rng, 1, 2), note=second)


@check
def cross_entropy(answer, rng):
    """One logit of each row, by its label; a mean; right for large logits, its gradient too."""

    def loss(logits, labels):
        return as_scalar(answer(logits, labels))

    def large_loss(logits, labels):
        result = answer(logits, labels)
        # Of numbers near 10,000, float32 keeps three digits after the point.
        return coarse(result) if np.ndim(result) == 0 else as_jax(result)

    def gradient(logits, labels):
        return jax.grad(lambda logits: jnp.sum(answer(logits, labels)))(logits)

    def batch(shift=0.0):
        # Two rows have the same label, and no row has its largest logit at its label.
        logits = rng.integers(-8, 9, (3, 3)) / 4
        labels = rng.permutation([0, 1, 2])
        labels[0] = labels[1]
        logits[np.arange(3), labels] = -3 - rng.integers(1, 5, 3) / 4
        return array(logits + shift), array(labels, np.int32)

    seen = "This looks at the gradient with respect to the logits."
    yield Case(loss, array([[0, 0]]), array([0], np.int32))
    yield Case(loss, array([[0, 2]]), array([0], np.int32))
    yield Case(loss, array([[0, 2]]), array([1], np.int32))
    yield Case(loss, *batch())
    yield Case(loss, *batch())
    yield Case(gradient, *batch(), note=seen)
    large = batch(shift=number(rng) * 100)
    yield Case(large_loss, *large, note="All logits are large, by the same amount.")
    yield Case(large_loss, array([[10000, 0]]), array([0], np.int32))
    yield Case(large_loss, array([[10000, 0]]), array([1], np.int32))
    yield Case(large_loss, array([[-10000, -10002]]), array([1], np.int32))
    yield Case(loss, array([[0, -2], [10000, 0]]), array([1, 0], np.int32))
    yield Case(gradient, array([[10000, 0]]), array([1], np.int32), note=seen)
    yield Case(gradient, array([[-10000, -10000]]), array([0], np.int32), note=seen)


@check
def make_step(answer, rng):
    """The step's numbers; rates that change; and how often Python runs the loss function."""
    name, other = random_words(rng, 2)

    def loss(params, x, y):
        return jnp.sum((params[name] * x + params[other][0] - y) ** 2)

    def draw():
        params = {name: vector(rng), other: [vector(rng), None]}
        return params, vector(rng), vector(rng)

    def steps(params, x, y, *rates):
        """Return what each of several steps gives, one after the other."""
        step = answer(loss)
        if not callable(step):
            return step
        seen = []
        for rate in rates:
            result = step(params, x, y, rate)
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                return result
            params, value = result
            # A copy: a step may donate the parameters that it gets.
            seen.append({"params": as_jax(copy.deepcopy(params)), "loss": as_scalar(value)})
        return seen

    def later_runs(params, x, y, *rates):
        """Return how often each call after the first one runs the loss function in Python."""
        runs = 0

        def counted(params, x, y):
            nonlocal runs
            runs += 1
            return loss(params, x, y)

        step = answer(counted)
        seen = []
        for rate in rates:
            runs = 0
            step(copy.deepcopy(params), x, y, rate)
            seen.append("once or more" if runs else "not at all")
        return seen[1:]

    one, two, three = (int(each) / 64 for each in rng.choice(np.arange(1, 9), 3, replace=False))
    note = f"The loss is `sum((p[{name!r}] * x + p[{other!r}][0] - y) ** 2)`. "
    after = "Each number is the rate of one step; the steps follow one another."
    yield Case(steps, *draw(), one, note=note + "One step, with this rate.")
    yield Case(steps, *draw(), 0.0, note=note + "The rate is 0.")
    yield Case(steps, *draw(), one, two, note=note + after)
    count = "Does Python run the loss function again, in the second and the third call?"
    yield Case(later_runs, *draw(), one, one, one, note=note + count)
    yield Case(later_runs, *draw(), one, two, three, note=note + count)


@check
def decayed_step(answer, rng):
    """Weights by the last key alone; decay beside the direction; one direction for the tree."""

    def follow(grads):
        return grads

    def signs(grads):
        return jax.tree.map(jnp.sign, grads)

    def shortened(grads):
        """Divide by the largest number in the whole tree."""
        largest = max(float(np.abs(leaf).max()) for leaf in jax.tree.leaves(grads))
        return jax.tree.map(lambda leaf: leaf / largest, grads)

    said = {
        follow: "The direction is the gradient itself.",
        signs: "The direction is the sign of each number.",
        shortened: "The direction is the gradient over the largest number in the whole tree.",
    }

    def case(direction, params, rate, decay):
        leaves, structure = jax.tree.flatten(params)
        # Each leaf has larger numbers than the one before, so that their own largest ones differ.
        drawn = (signed(rng, *leaf.shape) for leaf in leaves)
        scaled = [array(np.asarray(g) * 4**place) for place, g in enumerate(drawn)]
        grads = jax.tree.unflatten(structure, scaled)

        def call(params, grads, rate, decay):
            return as_jax(answer(params, grads, direction, rate, decay))

        return Case(call, params, grads, rate, decay, note=said[direction])

    rate, decay = number(rng) / 16, number(rng) / 16
    yield case(follow, {"w": vector(rng)}, 0.5, 0.25)
    yield case(follow, {"b": vector(rng)}, 0.5, 0.25)
    yield case(follow, {"w": matrix(rng), "b": vector(rng)}, rate, 0.0)
    yield case(signs, {"w": matrix(rng), "b": vector(rng)}, rate, decay)
    yield case(shortened, [{"w": matrix(rng), "b": matrix(rng)}, None], rate, decay)
    yield case(follow, {"w": {"scale": vector(rng)}, "b": {"w": vector(rng)}}, rate, decay)
    yield case(follow, {"raw": vector(rng), "wide": vector(rng), "w": vector(rng)}, rate, decay)
    for direction in (signs, shortened):
        first, second, third = random_words(rng, 3)
        layers = [{"w": vector(rng), "b": matrix(rng)}, (matrix(rng), vector(rng))]
        yield case(direction, {first: layers, second: {"w": matrix(rng)}, third: None}, rate, decay)


@check
def momentum(start, step, rng):
    """The new velocity moves the parameters; it is remembered, with no rate in it."""

    def one_step(params, grads, velocity, rate, beta):
        params, velocity = step(params, grads, velocity, rate, beta)
        return {"params": as_jax(params), "velocity": as_jax(velocity)}

    def many_steps(params, grads, rate, beta):
        velocity = start(params)
        for each in grads:
            params, velocity = step(params, each, velocity, rate, beta)
        return {"params": as_jax(params), "velocity": as_jax(velocity)}

    params, rate, beta = vector(rng), number(rng) / 16, number(rng) / 16
    first = "This calls `start`."
    yield Case(returning_jax(start), params, note=first)
    yield Case(returning_jax(start), model(rng), note=first)
    note = "This calls `momentum_step`."
    yield Case(one_step, params, like(rng, params), array([0, 0]), 0.5, 0.5, note=note)
    yield Case(one_step, params, like(rng, params), like(rng, params), 0.5, 0.5, note=note)
    yield Case(one_step, params, array([0, 0]), like(rng, params), rate, beta, note=note)
    note = "From the first velocity on, a step for each of the three gradients."
    grads = [like(rng, params) for _ in range(3)]
    yield Case(many_steps, params, grads, rate, beta, note=note)
    for _ in range(2):
        params = model(rng)
        grads = [like(rng, params) for _ in range(3)]
        yield Case(many_steps, params, grads, rate, beta, note=note)


@check
def adam(start, step, rng):
    """Where the correction and the tiny number show: first steps, gradients that stay 0."""

    def seen(before, after, state, rate):
        moved = jax.tree.map(
            lambda old, new: (np.asarray(old, np.float64) - np.asarray(new)) / rate, before, after
        )
        averages = coarse({"m": state["m"], "v": state["v"]})
        return {"steps in rates": coarse(moved), **averages, "t": as_count(state["t"])}

    def first_state(params):
        state = start(params)
        return {**as_jax({"m": state["m"], "v": state["v"]}), "t": as_count(state["t"])}

    def many_steps(params, grads, rate):
        now, state = params, start(params)
        for each in grads:
            now, state = step(now, each, state, rate)
        return seen(params, now, state, rate)

    def under_jit(params, grads, rate):
        jitted = jax.jit(step)
        now, state = params, start(params)
        for each in grads:
            now, state = jitted(now, each, state, rate)
        return seen(params, now, state, rate)

    params, rate = vector(rng), number(rng) / 16
    note = "This calls `adam_start`."
    yield Case(first_state, params, note=note)
    yield Case(first_state, model(rng), note=note)
    note = "A step for each gradient. `steps in rates`: how far the parameters came, over the rate."
    yield Case(many_steps, params, [like(rng, params)], 0.5, note=note)
    yield Case(many_steps, params, [array([0, number(rng)])], 0.5, note=note)
    yield Case(many_steps, params, [array([1e-4, number(rng)])], 0.5, note=note)
    yield Case(many_steps, params, [array([3, 2]), array([-2, 3])], rate, note=note)
    yield Case(many_steps, params, [like(rng, params) for _ in range(4)], rate, note=note)
    params = model(rng)
    yield Case(many_steps, params, [like(rng, params) for _ in range(3)], rate, note=note)
    params = vector(rng)
    note += " `adam_step` runs under `jax.jit`."
    yield Case(under_jit, params, [like(rng, params) for _ in range(3)], rate, note=note)


@check
def freeze(label_tree, step, rng):
    """Paths as whole entries, from the start; frozen leaves stay, whatever their gradient is."""

    def layer():
        return {"w": vector(rng), "b": vector(rng)}

    def case(params, labels, rate, spoiled=False):
        def gradient(label, leaf):
            is_spoiled = spoiled and label == "frozen"
            return array([np.nan, np.inf]) if is_spoiled else signed(rng, *leaf.shape)

        grads = jax.tree.map(gradient, labels, params)
        note = "This calls `frozen_step`."
        return Case(returning_jax(step), params, grads, labels, rate, note=note)

    def jitted(params, grads, labels, rate):
        run = jax.jit(lambda params, grads: step(params, grads, labels, rate))
        return as_jax(run(params, grads))

    first = "This calls `label_tree`."
    yield Case(label_tree, {"a": vector(rng), "b": vector(rng)}, [], note=first)
    yield Case(label_tree, {"a": vector(rng), "b": vector(rng)}, ["a"], note=first)
    yield Case(label_tree, {"body": [layer(), None], "head": layer()}, ["body"], note=first)
    yield Case(label_tree, [layer(), (layer(),)], ["0/w", "1"], note=first)
    many = {"body": [vector(rng) for _ in range(11)], "body2": vector(rng)}
    yield Case(label_tree, many, ["body/1"], note=first)
    yield Case(label_tree, many, ["body"], note=first)
    nested = {"head": vector(rng), "body": {"head": vector(rng), "more": [vector(rng)]}}
    yield Case(label_tree, nested, ["head"], note=first)
    yield Case(label_tree, nested, ["body/head"], note=first)
    names = random_words(rng, 3)
    drawn = {name: [layer(), Layer(vector(rng), None)] for name in names}
    yield Case(label_tree, drawn, [f"{names[0]}/1", names[1], f"{names[2]}/0/b"], note=first)

    pair = {"a": "train", "b": "frozen"}
    rate = number(rng) / 4
    yield case({"a": vector(rng), "b": vector(rng)}, pair, 0.5)
    yield case({"a": vector(rng), "b": vector(rng)}, pair, 0.5, spoiled=True)
    yield case({"w": vector(rng), "b": None}, {"w": "train", "b": None}, rate)
    labels = {names[0]: ["frozen", ("train",)], names[1]: Layer("train", "frozen"), names[2]: []}
    params = jax.tree.map(lambda _: vector(rng), labels)
    yield case(params, labels, rate, spoiled=True)
    grads = jax.tree.map(lambda _: signed(rng, 2), labels)
    note = "This calls `frozen_step` under `jax.jit`; labels and rate do not pass through jit."
    yield Case(jitted, params, grads, labels, rate, note=note)


@check
def moving_average(start, step, rng):
    """float32 for bfloat16 leaves, so that small steps count; whole numbers are copied."""

    def run(params, later, decay, times):
        average = start(params)
        for _ in range(times):
            average = step(average, later, decay)
        return as_jax(average)

    def half(rng):
        return vector(rng, jnp.bfloat16)

    def model(leaf, count):
        return {names[0]: [leaf(rng), None], names[1]: Layer(vector(rng), leaf(rng)), "step": count}

    names = random_words(rng, 3)
    first = "This calls `average_start`."
    # With these decays, 1 - decay is a power of 2: to multiply by it loses no digits.
    short, long = 0.75, 1 - 1 / 1024
    yield Case(returning_jax(start), vector(rng), note=first)
    yield Case(returning_jax(start), {"w": half(rng), "step": array(3, np.int32)}, note=first)
    note = "The average starts with the first tree; then come steps with the second one. "
    note += "The last two inputs are the decay, and the number of steps."
    yield Case(run, vector(rng), vector(rng), short, 1, note=note)
    yield Case(run, array([1, 5]), array([5, 1]), short, 3, note=note)
    yield Case(run, array(7, np.int32), array(8, np.int32), short, 1, note=note)
    small, large = array([2, 3], jnp.bfloat16), array([4, 8], jnp.bfloat16)
    yield Case(run, small, large, short, 1, note=note)
    yield Case(run, small, large, long, 4, note=note)
    for decay, times in ((0.5, 2), (long, 3)):
        count = int(rng.integers(100, 1000))
        before, after = (model(half, array(count + more, np.int32)) for more in (0, times))
        yield Case(run, before, after, decay, times, note=note)


@check
def save_and_load(save, load, rng):
    """Names by path, no pickle, dtypes; parts of a model; what is missing or has another shape."""

    def saved(tree):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.npz"
            save(str(file), tree)
            with np.load(file, allow_pickle=True) as arrays:
                pickled = any(arrays[name].dtype.hasobject for name in arrays.files)
                return {"names": sorted(arrays.files), "pickled": pickled}

    def loaded(tree, like):
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "model.npz")
            save(file, tree)
            return as_jax(load(file, like))

    def zeros(tree):
        return jax.tree.map(lambda leaf: jnp.asarray(np.zeros(leaf.shape, leaf.dtype)), tree)

    def layer():
        return {"w": matrix(rng), "b": vector(rng)}

    names = random_words(rng, 3)
    note = "This looks at the names in the file, and whether something in it was pickled."
    yield Case(saved, {"w": vector(rng)}, note=note)
    yield Case(saved, [layer(), (layer(), None)], note=note)
    yield Case(saved, {names[0]: [vector(rng)], names[1]: Layer(vector(rng), None)}, note=note)
    note = "The first tree is saved. The second one is `like`. "
    tree = {"w": vector(rng)}
    yield Case(loaded, tree, zeros(tree), note=note)
    tree = [layer(), (layer(), None), layer()]
    yield Case(loaded, tree, zeros(tree), note=note)
    tree = {"step": array(7, np.int32), "mask": array([True, False], bool), "w": vector(rng)}
    yield Case(loaded, tree, zeros(tree), note=note)
    tree = {"w": vector(rng, jnp.bfloat16), "b": vector(rng)}
    yield Case(loaded, tree, zeros(tree), note=note + "`w` is bfloat16.")
    tree = {names[0]: layer(), names[1]: [layer(), vector(rng, jnp.bfloat16)]}
    like = {names[1]: zeros(tree[names[1]])}
    yield Case(loaded, tree, like, note=note + "It asks for a part only.")
    tree = {"a": vector(rng), "w": vector(rng)}
    like = zeros({"a": tree["a"], "v": tree["w"]})
    yield Case(loaded, tree, like, mentions=("v",), note=note + "`v` is not in the file.")
    like = zeros({"a": tree["a"], "w": matrix(rng)})
    yield Case(loaded, tree, like, note=note + "The shapes of `w` differ.")
    tree = {names[2]: Layer([vector(rng) for _ in range(11)], array(number(rng))), "none": None}
    yield Case(loaded, tree, zeros(tree), note=note)


@check
def deep_forward(answer, rng):
    """Each layer takes what the one before gave; all outputs in order; one traced layer."""

    def stacked(layers):
        return {"w": signed(rng, layers, 2, 2), "b": signed(rng, layers, 2)}

    @functools.cache
    def compiled():
        """Return one function for all cases, so that each number of layers is compiled once."""
        return jax.jit(answer)

    def call(stacked, x):
        last, every = compiled()(stacked, x)
        return {"last": as_jax(last), "every": as_jax(every)}

    def lengths(few, many, x):
        """Whether the program is as long for many layers as for few."""
        few, many = (str(jax.make_jaxpr(answer)(each, x)).count("\n") for each in (few, many))
        return "as long" if few == many else "longer"

    turn = {"w": array([[[1, -1], [2, 1]]]), "b": array([[1, -2]])}
    yield Case(call, turn, array([1, 2]), note="One layer.")
    yield Case(call, turn, array([2, -3]), note="One layer.")
    yield Case(call, turn, signed(rng, 2), note="One layer.")
    grow = {"w": array([[[1, 2], [0, 1]], [[1, 1], [-3, 1]]]), "b": array([[1, 0], [0, 1]])}
    yield Case(call, grow, array([1, 1]), note="Two layers.")
    climb = {"w": array([[[1, 0], [2, 1]]] * 5), "b": array([[n, 1] for n in range(5)])}
    yield Case(call, climb, vector(rng), note="Five layers.")
    for _ in range(3):
        yield Case(call, stacked(5), signed(rng, 2), note="Five layers.")
    note = "For nine layers, is the traced program as long as for three?"
    yield Case(lengths, stacked(3), stacked(9), vector(rng), note=note)


BATCH, TRAINING, STEPS = 100, 1_200, 600


@check
def capstone(init, update, rng):
    """What every good optimiser shares, and what it reaches on digits that are drawn anew."""
    from sklearn.datasets import load_digits  # a second the first time, for this exercise alone

    def one_step(params, grads):
        return kinds(update(grads, init(params), params)[0])

    def small_step(params, grads):
        """One step changes large parameters little, so that they are the same in hundreds."""
        new = update(grads, init(params), params)[0]
        return jax.tree.map(lambda leaf: (np.asarray(leaf) / 100).round().astype(int).tolist(), new)

    def stable_state(params, grads):
        """Whether the state after a step could take the place of the one before."""

        def shapes(tree):
            shaped = jax.eval_shape(lambda: tree)
            return jax.tree.map(lambda leaf: (leaf.shape, str(leaf.dtype)), shaped)

        before = init(params)
        after = jax.eval_shape(update, grads, before, params)[1]
        after = jax.tree.map(lambda leaf: (leaf.shape, str(leaf.dtype)), after)
        return "the same form" if shapes(before) == after else "another form"

    def memory(params, grads, others):
        """Whether the state depends on the gradients that were seen."""
        one, two = (update(each, init(params), params)[1] for each in (grads, others))
        return "no" if alike(one, two) else "yes"

    def purity(params, grads):
        names, state = ("grads", "state", "params"), init(params)
        for _ in range(2):
            params, state = update(grads, state, params)
        kept = copy.deepcopy((grads, state, params))
        one = update(grads, state, params)
        seen = {
            name: "as before" if alike(was, now) else "changed"
            for name, was, now in zip(names, kept, (grads, state, params), strict=True)
        }
        return seen | {"same again": alike(one, update(*kept))}

    def learned(classes, seed):
        """Train on digits, and return for each digit what the network most often says."""
        draw = np.random.default_rng(seed)
        digits = load_digits()
        order = draw.permutation(len(digits.target))
        x = (digits.data[order] / 16).astype(np.float32)
        digit = digits.target[order]
        y = np.array(classes)[digit].astype(np.int32)
        params = []
        for inputs, outputs in ((64, 32), (32, 10)):
            w = draw.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)
            params.append({"w": array(w), "b": array(np.zeros(outputs))})

        def loss(params, x, y):
            hidden = jax.nn.relu(x @ params[0]["w"] + params[0]["b"])
            log_p = jax.nn.log_softmax(hidden @ params[1]["w"] + params[1]["b"])
            return -jnp.mean(jnp.take_along_axis(log_p, y[:, None], 1))

        @jax.jit
        def step(params, state, x, y):
            return update(jax.grad(loss)(params, x, y), state, params)

        state = init(params)
        for at in range(STEPS):
            rows = slice(at * BATCH % TRAINING, at * BATCH % TRAINING + BATCH)
            params, state = step(params, state, x[rows], y[rows])

        first, second = jax.tree.map(np.asarray, params)
        hidden = np.maximum(x[TRAINING:] @ first["w"] + first["b"], 0)
        said = (hidden @ second["w"] + second["b"]).argmax(axis=1)
        accuracy = float((said == y[TRAINING:]).mean())
        print(f"accuracy on digits not seen in training: {accuracy:.1%}")
        if not accuracy >= 0.9:
            return {"accuracy": "below 90 %"}
        votes = [np.bincount(said[digit[TRAINING:] == each]).argmax() for each in range(10)]
        return {"accuracy": "90 % or more", "said of 0 to 9": [int(vote) for vote in votes]}

    small = {"w": vector(rng)}
    note = "One step on a small tree: which dtypes and shapes do the new parameters have?"
    yield Case(one_step, small, like(rng, small), note=note)
    tree = model(rng)
    yield Case(one_step, tree, like(rng, tree), note=note)
    note = "The parameters after one step, in hundreds: are they near the old ones?"
    hundreds = {"w": array(100 * rng.integers(1, 10, 2))}
    yield Case(small_step, hundreds, like(rng, hundreds), note=note)
    note = "After a step, has the state the form (structure, shapes, dtypes) that it had before?"
    yield Case(stable_state, small, like(rng, small), note=note)
    tree = model(rng)
    yield Case(stable_state, tree, like(rng, tree), note=note)
    note = "Does the state remember gradients? It is compared after one step with each of these."
    yield Case(memory, small, {"w": array([1, -2])}, {"w": array([-3, 4])}, note=note)
    note = "Are the inputs as before, and do the same inputs give the same results again?"
    yield Case(purity, small, like(rng, small), note=note)
    classes = [int(each) for each in rng.permutation(10)]
    note = "The training. The list is the class of each digit, 0 to 9. Then comes a seed."
    yield Case(learned, classes, int(rng.integers(1000)), note=note)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
