"""Checks of lesson 5, an MLP from scratch.

python checks/check_05_mlp.py exercises/05_mlp_exercises.ipynb
"""

import functools
import itertools
import shutil
import tempfile
import weakref
from functools import partial
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
    shuffled,
    varied_trees,
    vector,
)


class Layer(NamedTuple):
    """A node, as all named tuples are."""

    w: Any
    b: Any


def number(rng):
    return int(rng.integers(2, 10))


def share(rng):
    """Draw a number between 0 and 1 that float32 holds exactly."""
    return int(rng.integers(1, 16)) / 16


def array(values, dtype=np.float32):
    return jax.device_put(np.array(values, dtype))  # quicker than jnp.asarray


def signed(rng, *shape):
    """Numbers of both signs, and no zeros."""
    return array(rng.choice([-3, -2, -1, 1, 2, 3], shape))


def either(rng):
    """Draw a vector or a matrix."""
    return matrix(rng) if rng.random() < 0.5 else vector(rng)


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


def several(rng, tree, fewest=2):
    """Draw a list of trees like this one; the seed decides how many."""
    return [like(rng, tree) for _ in range(fewest + rng.integers(3))]


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
    """Whether two trees have the same structure and the very same numbers."""
    leaves, others = jax.tree.leaves(one), jax.tree.leaves(two)
    return jax.tree.structure(one) == jax.tree.structure(two) and all(
        np.array_equal(np.asarray(leaf), np.asarray(other), equal_nan=True)
        for leaf, other in zip(leaves, others, strict=True)
    )


def equations(program):
    """Count the equations of a traced program, and of the programs within it."""
    return len(program.eqns) + sum(
        equations(inner)
        for equation in program.eqns
        for inner in jax.tree.leaves(equation.params)
        if hasattr(inner, "eqns")
    )


def after(answer, called, *inputs):
    """Make a case that looks at the inputs once more, when the answer was called with them."""

    def look(*given):
        return ... if answer(*given) is ... else given

    note = f"This calls `{called}`, and then looks at what it was given: it has not changed."
    return Case(look, *inputs, note=note, tags=("a look at the inputs after the call",))


@check
def init_mlp(answer, rng):
    """Properties of what was drawn: shapes, spread, mean, no two layers alike, and the key."""

    def layers(sizes, seed):
        return answer(jax.random.key(seed), sizes)

    def form(sizes, seed):
        params = layers(sizes, seed)
        biases = [sorted(set(np.asarray(layer["b"]).tolist())) for layer in params]
        return {"layers": kinds(params), "numbers in the biases": biases}

    def spread(layer):
        w = np.asarray(layer["w"], np.float64)
        # To the nearest of 1, 0.89, 0.79, 0.71, ...: chance does far less to 4,000 numbers.
        deviation = float(2 ** (np.round(6 * np.log2(w.std())) / 6)) if w.std() else 0.0
        different = {"rows": len(np.unique(w, axis=0)), "columns": len(np.unique(w, axis=1).T)}
        mean = round(abs(float(w.mean())), 1)
        return {"deviation": round(deviation, 3), "mean": mean, "different": different}

    def spreads(sizes, seed):
        return [spread(layer) for layer in layers(sizes, seed)]

    def proportional(sizes, seed):
        flat = [np.asarray(layer["w"], np.float64).ravel()[:1024] for layer in layers(sizes, seed)]
        pairs = [(one, two) for two in range(len(flat)) for one in range(two)]
        return [pair for pair in pairs if abs(np.corrcoef(*(flat[at] for at in pair))[0, 1]) > 0.5]

    def first_alike(sizes, seeds):
        drawn = [[np.asarray(layer["w"]) for layer in layers(sizes, seed)] for seed in seeds]
        return [
            [next(at for at, one in enumerate(drawn) if np.array_equal(one[place], w))]
            for layers_ in drawn
            for place, w in enumerate(layers_)
        ]

    def seed():
        return int(rng.integers(1000))

    def widths(count):
        return [int(rng.choice([32, 128])) for _ in range(count)]

    def seeds():
        few = rng.choice(1000, 5, replace=False)
        return [int(each) for each in rng.permutation([*few, *rng.choice(few, 11)])]

    many = [32, 128, *widths(rng.integers(1, 4)), 128]
    large = [128, *[32, 128, 128, 32, 128][: rng.integers(2, 6)]]
    note = "The number after the widths is the seed of the key. "
    looked = note + "This looks at the form of the layers, and at the biases."
    measured = note + "This measures the weights: their deviation is rounded."
    compared = note + "Which pairs of layers are proportional to each other, or nearly so?"
    keys = "The numbers are the seeds of keys. For each key, layer by layer: "
    keys += "which key of this list is the first to give the same weights?"
    yield from shuffled(
        rng,
        [
            Case(form, [32, 128], seed(), note=looked),
            Case(form, [128, 32], seed(), note=looked),
            Case(form, many, seed(), note=looked),
            Case(spreads, [32, 128], seed(), note=measured),
            Case(spreads, [128, 32], seed(), note=measured),
            Case(spreads, large, seed(), note=measured),
            Case(proportional, [32, 128], seed(), note=compared),
            Case(proportional, [32, 32, 32], seed(), note=compared),
            Case(proportional, [128, 32, 128, 32, *widths(2)], seed(), note=compared),
            Case(first_alike, [32, 32], seeds(), note=keys),
            Case(first_alike, [32, 128, 32], seeds(), note=keys),
        ],
    )


@check
def forward(one, batch, rng):
    """ReLU between layers and not at the end; x has an axis of examples, the parameters do not."""
    one, batch = returning_jax(one), returning_jax(batch)

    def both_signs(rows, outputs=2):
        """Draw a layer of which some outputs are large and some negative, where x fits `rows`."""
        signs = [1, -1, 1][:outputs] if rng.random() < 0.5 else [-1, 1, -1][:outputs]
        w = rng.choice(np.arange(2, 10), 2 * outputs, replace=False).reshape(2, outputs)
        return {"w": array(w * np.outer(rows, signs)), "b": array(rng.choice([-2, -1, 1], outputs))}

    def network(rows, layers, outputs=2):
        sizes = [2] * (layers - 1) + [outputs]
        # What comes from a layer before is never negative.
        return [both_signs((1, 1) if at else rows, size) for at, size in enumerate(sizes)]

    def example(rows):
        return rng.integers(1, 10, 2) * rows

    def examples(rows, count):
        return array([example(rows) * rng.choice([1, -1]) for _ in range(count)])

    def twice(params, x):
        return [one(params, x) for _ in range(2)]

    def case(call, layers, outputs=2, batch=None, **said):
        rows = np.array([1, -1] if rng.random() < 0.5 else [-1, 1])
        x = array(example(rows)) if batch is None else examples(rows, batch)
        return Case(call, network(rows, layers, outputs), x, **said)

    def near_zero():
        """Draw a case whose hidden numbers are small, of both signs, and only so by the bias."""
        x, w = rng.integers(1, 10, 2), rng.choice([-3, -2, 2, 3], (2, 2))
        small = {"w": array(w), "b": array(rng.permutation([0.5, -0.5]) - x @ w)}
        return Case(one, [small, *network((1, 1), 1)], array(x), **first)

    def with_one_layer_twice(call, *shape):
        layer = both_signs((1, 1))
        note = "One dict stands in the list twice."
        tags = ("one dict in the list twice",)
        x = array(rng.integers(1, 10, (*shape, 2)))
        return Case(call, [layer, *network((1, 1), 1), layer], x, note=note, tags=tags)

    first = {"note": "This calls `forward`."}
    again = {"note": "This calls `forward` twice, with the same layers.", "tags": ("second call",)}
    second = {"note": "This calls `forward_batch`.", "tags": ("`forward_batch`",)}
    yield from shuffled(
        rng,
        [
            case(one, 1, **first),
            case(one, 2, **first),
            case(one, 3, **first),
            case(one, 2, 3, **first),
            case(one, 4 + rng.integers(3), 3, **first),
            near_zero(),
            near_zero(),
            case(twice, 2, **again),
            case(twice, 3, **again),
            with_one_layer_twice(one),
            with_one_layer_twice(one),
            with_one_layer_twice(batch, 2),
            case(batch, 1, batch=2, **second),
            case(batch, 2, batch=2, **second),
            case(batch, 2, batch=1, **second),
            case(batch, 2, 3, batch=4, **second),
            case(batch, 3 + rng.integers(3), 3, batch=2, **second),
        ],
    )


@check
def cross_entropy(answer, rng):
    """One logit of each row, by its label; a mean; right for large logits, its gradient too."""

    def loss(logits, labels):
        result = answer(logits, labels)
        # Of numbers near 10,000, float32 keeps three digits after the point.
        return coarse(result) if np.ndim(result) == 0 else as_jax(result)

    def gradient(logits, labels):
        return coarse(jax.grad(lambda logits: jnp.sum(answer(logits, labels)))(logits))

    def row(label, gap, shift=0.0):
        """Draw two logits, of which the one at the label is smaller by `gap`."""
        logits = np.full(2, shift)
        logits[label] -= gap
        return logits

    def one(gap, shift=0.0):
        label = rng.integers(2)
        return array([row(label, gap, shift)]), array([label], np.int32)

    def rows(*shifts):
        """Draw a row for each shift: no row has its largest logit at its label."""
        logits = rng.integers(-8, 9, (len(shifts), 3)) / 4
        labels = rng.integers(0, 3, len(shifts))
        logits[np.arange(len(shifts)), labels] = -3 - rng.integers(1, 5, len(shifts)) / 4
        return array(logits + np.array(shifts)[:, None]), array(labels, np.int32)

    def size(most=10):
        return 1000.0 * rng.integers(1, most + 1)

    seen = "This looks at the gradient with respect to the logits."
    same, large = "All logits are large, by the same amount.", ("large logits",)
    looked = {"note": seen, "tags": ("gradient of large logits",)}
    order = [0.0, size()] if rng.random() < 0.5 else [size(), 0.0]
    yield from shuffled(
        rng,
        [
            Case(loss, *one(0)),
            Case(loss, *one(rng.integers(1, 5))),
            Case(loss, *one(-rng.integers(1, 5))),
            Case(loss, *rows(0.0, 0.0)),
            Case(loss, *rows(0.0, 0.0)),
            Case(gradient, *rows(0.0, 0.0), note=seen),
            Case(loss, *rows(*[100.0 * number(rng)] * 2), note=same, tags=large),
            Case(loss, *rows(*[-size()] * 2), note=same, tags=large),
            Case(loss, *one(rng.integers(1, 5), -size()), tags=large),
            Case(loss, *one(size()), tags=large),
            Case(loss, *one(-size()), tags=large),
            Case(loss, *one(size(5), -size(5)), tags=large),
            Case(loss, *rows(*order), tags=("rows of very different size",)),
            Case(loss, *rows(*order[::-1]), tags=("rows of very different size",)),
            Case(gradient, *one(size()), **looked),
            Case(gradient, *one(size(5), -size(5)), **looked),
            Case(gradient, *rows(-size(), size()), **looked),
        ],
    )


@check
def make_step(answer, rng):
    """The step's numbers; rates that change; when Python runs the loss; what is outside of jit."""

    def loss(params, x, y):
        return sum(jnp.sum((leaf * x - y) ** 2) for leaf in jax.tree.leaves(params))

    def steps(params, x, y, *rates):
        """Return what each of several steps gives, and whether Python ran the loss in it."""
        runs = 0

        def counted(params, x, y):
            nonlocal runs
            runs += 1
            return loss(params, x, y)

        step = answer(counted)
        if not callable(step):
            return step
        seen = []
        for place, rate in enumerate(rates):
            runs = 0
            result = step(params, x, y, rate)
            if not isinstance(result, (tuple, list)) or len(result) != 2:
                return result
            params, value = result
            # Copies: a step may donate the parameters that it gets.
            copied = jax.tree.map(np.array, params)
            seen.append({"params": as_jax(copied), "loss": as_scalar(value)})
            if place > 0:
                seen[-1]["runs of the loss in Python"] = runs
        return seen

    def outside(params, x, y, rate):
        """Return the shapes of what is computed outside of jit, and how many programs there are."""
        step = answer(loss)
        if not callable(step):
            return step
        jaxpr = jax.make_jaxpr(lambda *inputs: step(*inputs, rate))(params, x, y)
        jitted = [each.primitive.name in ("jit", "pjit") for each in jaxpr.eqns]
        eager = [each for each, is_jit in zip(jaxpr.eqns, jitted, strict=True) if not is_jit]
        shapes = [str(out.aval.shape) for each in eager for out in each.outvars]
        return {"programs": sum(jitted), "outside": [shape for shape in shapes if shape != "()"]}

    def draw(tree):
        params = jax.tree.map(lambda _: vector(rng), tree)
        return params, vector(rng), vector(rng)

    def rates(count):
        return [int(each) / 1000 for each in rng.choice(np.arange(11, 130), count, replace=False)]

    # Key paths of results are part of a compiled program, so they are the same each time.
    flat, nested = {"scale": 0}, {"table": [0, None], "scale": Layer((0,), {})}
    rate = rates(1)[0]
    many = rates(2 + rng.integers(3))
    many.insert(int(rng.integers(1, len(many))), 0.0)
    note = "The loss is the sum of `(leaf * x - y) ** 2`, over all leaves. "
    after = note + "Each number is the rate of one step; the steps follow one another."
    only_shapes = note + "Which arrays are computed outside of `jax.jit`?"
    tags = ("rates that change",)
    yield from shuffled(
        rng,
        [
            Case(steps, *draw(flat), rate, note=note + "One step, with this rate."),
            Case(steps, *draw(nested), *[rate] * (2 + rng.integers(3)), note=after),
            Case(steps, *draw(0), *rates(2), note=after, tags=tags),
            Case(steps, *draw([0, 0]), *many, note=after, tags=tags),
            Case(outside, *draw(flat), rate, note=only_shapes, tags=("a look at the program",)),
            Case(outside, *draw(nested), rate, note=only_shapes, tags=("a look at the program",)),
        ],
    )


@check
def decayed_step(answer, rng):
    """Weights by the last key alone; decay beside the direction; one direction for the tree."""

    def follow(grads):
        return grads

    def signs(grads):
        return jax.tree.map(jnp.sign, grads)

    def shortened(grads):
        """Divide by the largest number in the whole tree."""
        largest = max((float(np.abs(leaf).max()) for leaf in jax.tree.leaves(grads)), default=1.0)
        return jax.tree.map(lambda leaf: leaf / largest, grads)

    said = {
        follow: ("The direction is the gradient itself.", ()),
        signs: ("The direction is the sign of each number.", ("a direction of signs",)),
        shortened: (
            "The direction is the gradient over the largest number in the whole tree.",
            ("a direction that looks at the whole tree",),
        ),
    }

    def gradients(params):
        leaves, structure = jax.tree.flatten(params)
        # Each leaf has larger numbers than the one before, so that their own largest ones differ.
        drawn = (signed(rng, *leaf.shape) for leaf in leaves)
        scaled = [array(np.asarray(g) * 4.0**place) for place, g in enumerate(drawn)]
        return jax.tree.unflatten(structure, scaled)

    def with_direction(direction):
        return lambda params, grads, *numbers: answer(params, grads, direction, *numbers)

    def kept(params):
        inputs = params, gradients(params), share(rng), share(rng)
        return after(with_direction(follow), "decayed_step", *inputs)

    def case(params, direction=follow, decay=None):
        call, grads = returning_jax(with_direction(direction)), gradients(params)
        note, tags = said[direction]
        decay = share(rng) if decay is None else decay
        return Case(call, params, grads, share(rng), decay, note=note, tags=tags)

    def leaf():
        return either(rng)

    def layer():
        return {"w": leaf(), "b": leaf()}

    def rich():
        first, second, third = random_words(rng, 3)
        layers = [{"w": vector(rng), "b": matrix(rng)}, (matrix(rng), vector(rng))]
        return {first: layers, second: {"w": matrix(rng), "W": leaf()}, third: None}

    ends = ["raw", "view", "new", "follow"]
    begins = ["wide", "weight", "w2", "w_in"]
    names = [str(each) for each in (*rng.choice(ends, 2, False), *rng.choice(begins, 2, False))]
    several_axes = {"w": vector(rng), "b": matrix(rng)}
    cases = [
        case({"w": leaf()}),
        case({"b": leaf()}),
        case({"W": leaf()}),
        case(leaf()),
        case([leaf(), leaf()]),
        case((leaf(), layer())),
        case([layer(), None]),
        case({"w": matrix(rng), "b": vector(rng)}, decay=0.0),
        case(several_axes),
        case([several_axes]),
        case({number(rng): leaf(), 10: {"w": leaf()}}),
        case({"b": {"w": leaf(), "b": leaf()}}),
        case({"w": {"w": leaf(), "scale": leaf()}}),
        case({"w": [leaf(), leaf()]}),
        case({"w": leaf(), names[0]: leaf()}),
        case({"b": leaf(), names[1]: leaf()}),
        case({"w": leaf(), names[2]: leaf()}),
        case({"b": leaf(), names[3]: leaf()}),
        kept(layer()),
        kept([{"w": leaf()}, leaf()]),
    ]
    for direction in (signs, shortened):
        cases += [case(layer(), direction), case([layer(), None], direction)]
        cases += [case(rich(), direction) for _ in range(1 + rng.integers(2))]
    yield from shuffled(rng, cases)


@check
def momentum(start, step, rng):
    """The new velocity moves the parameters; it is remembered, with no rate in it."""

    def one_step(params, grads, velocity, rate, beta):
        params, velocity = step(params, grads, velocity, rate, beta)
        return {"params": as_jax(params), "velocity": as_jax(velocity)}

    def many_steps(params, grads, rates, beta):
        velocity = start(params)
        for each, rate in zip(grads, rates, strict=True):
            params, velocity = step(params, each, velocity, rate, beta)
        return {"params": as_jax(params), "velocity": as_jax(velocity)}

    def steps(params, fewest=2):
        grads = several(rng, params, fewest)
        rates = [share(rng) for _ in grads]
        return Case(many_steps, params, grads, rates, share(rng), note=note)

    def given(params, velocity):
        return params, like(rng, params), velocity, share(rng), share(rng)

    def from_given(*state):
        return Case(one_step, *given(*state), note="This calls `momentum_step`.")

    def kept(params):
        return after(step, "momentum_step", *given(params, like(rng, params)))

    first = "This calls `start`."
    note = "From the first velocity on, a step for each gradient, each with a rate of its own."
    cases = [
        Case(returning_jax(start), vector(rng), note=first),
        Case(returning_jax(start), {"w": matrix(rng), "b": vector(rng)}, note=first),
        Case(returning_jax(start), model(rng), note=first),
        from_given(vector(rng), array([0, 0])),
    ]
    params = {"w": vector(rng), "b": vector(rng)}
    cases += [from_given(params, like(rng, params)) for _ in range(2)]
    cases += [kept(params), kept({"w": [matrix(rng), None], "b": vector(rng)})]
    # To turn a tree of pairs inside out, JAX needs a leaf in it.
    zero = array(rng.permutation([0, number(rng)]))
    trees = varied_trees(rng, lambda: either(rng), edges=[zero], without=["no leaves"])
    cases += [steps(params, 1 + rng.integers(2)) for params in trees]
    yield from shuffled(rng, cases)


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

    def many_steps(params, grads, rate, step=step):
        now, state = params, start(params)
        for each in grads:
            now, state = step(now, each, state, rate)
        return seen(params, now, state, rate)

    def one_step(params, grads, state, rate):
        return seen(params, *step(params, grads, state, rate), rate)

    def under_jit(params, grads, rate):
        return many_steps(params, grads, rate, jax.jit(step))

    def steps(params, fewest=1, call=many_steps, **said):
        said = {"note": note} | said
        return Case(call, params, several(rng, params, fewest), number(rng) / 16, **said)

    def with_gradient(small, times):
        """Draw a vector's case in which one place has a small gradient in each step."""
        place = rng.integers(2)
        grads = [np.array(signed(rng, 2)) for _ in range(times)]
        for each in grads:
            each[place] = small
        return Case(many_steps, vector(rng), list(map(array, grads)), number(rng) / 16, note=note)

    def given(params):
        m = jax.tree.map(lambda leaf: leaf / 4, like(rng, params))
        v = jax.tree.map(lambda leaf: array(np.asarray(leaf) ** 2 / 16), like(rng, params))
        state = {"m": m, "v": v, "t": int(rng.integers(2, 30))}
        return params, like(rng, params), state, number(rng) / 16

    def later(params):
        middle = "One step, from a state in the middle of a training."
        return Case(one_step, *given(params), note=middle)

    first = "This calls `adam_start`."
    note = "A step for each gradient. `steps in rates`: how far the parameters came, over the rate."
    jitted = note + " `adam_step` runs under `jax.jit`."
    two = {"w": vector(rng), "b": vector(rng)}
    yield from shuffled(
        rng,
        [
            Case(first_state, vector(rng), note=first),
            Case(first_state, model(rng), note=first),
            Case(many_steps, vector(rng), [signed(rng, 2)], number(rng) / 16, note=note),
            Case(many_steps, two, [like(rng, two)], number(rng) / 16, note=note),
            with_gradient(0.0, 1),
            with_gradient(0.0, 2),
            with_gradient(float(rng.choice([1e-7, 2e-7])), 1),
            with_gradient(float(rng.choice([-1e-7, -2e-7])), 2),
            steps(vector(rng), 2),
            steps(two, 2),
            steps(model(rng), 2),
            later(vector(rng)),
            later(two),
            after(step, "adam_step", *given(two)),
            after(step, "adam_step", *given([vector(rng), {"b": vector(rng)}])),
            steps(vector(rng), 1, under_jit, note=jitted, tags=("under jit",)),
            steps(vector(rng), 3, under_jit, note=jitted, tags=("under jit",)),
            # In so many steps `v` shrinks by more than a rounding hides.
            Case(
                under_jit,
                vector(rng),
                [signed(rng, 2), *[array([0, 0])] * int(rng.integers(40, 60))],
                number(rng) / 16,
                note=jitted,
                tags=("under jit", "many steps"),
            ),
        ],
    )


@check
def freeze(label_tree, step, rng):
    """Paths as whole entries, from the start; frozen leaves stay, whatever their gradient is."""

    def leaf():
        return vector(rng)

    def layer():
        return {"w": leaf(), "b": leaf()}

    def label(params, *frozen):
        return Case(label_tree, params, list(frozen), note="This calls `label_tree`.")

    def train(labels, spoiled=False):
        """Draw parameters, and gradients that are no numbers where a leaf is frozen."""

        def gradient(label, leaf):
            is_spoiled = spoiled and label == "frozen"
            return array(rng.permutation([np.nan, np.inf])) if is_spoiled else signed(rng, 2)

        params = jax.tree.map(lambda _: leaf(), labels)
        grads = jax.tree.map(gradient, labels, params)
        note, tags = "This calls `frozen_step`.", ()
        if spoiled:
            tags = ("a frozen leaf whose gradient is nan",)
        call = returning_jax(step)
        return Case(call, params, grads, labels, share(rng), note=note, tags=tags)

    def some(params):
        """Choose leaves and parts of a tree, by their paths."""
        ways = [path[:end] for path, _ in jax.tree.leaves_with_path(params) for end in (1, 2, 3)]
        texts = {jax.tree_util.keystr(way, simple=True, separator="/") for way in ways if way}
        count = min(len(texts), 1 + int(rng.integers(3)))
        return [str(text) for text in rng.choice(sorted(texts), count, replace=False)]

    one, two, three = random_words(rng, 3)
    digit = int(rng.integers(1, 3))
    many = {one: [leaf() for _ in range(24)], f"{one}2": leaf(), f"{one}_{two}": layer()}
    deep = {two: leaf(), one: {two: leaf(), three: [leaf(), {two: layer()}]}}
    cases = [
        label({"a": leaf(), "b": leaf()}),
        label({"a": leaf(), "b": leaf()}, str(rng.choice(["a", "b"]))),
        label({one: [layer(), None], two: layer()}, one),
        label([layer(), (layer(),)], "0/w", "1"),
        label(many, f"{one}/{digit}"),
        label(many, one),
        label(many, f"{one}/{digit}", f"{one}/{digit + 1}", f"{one}_{two}/b"),
        label(deep, two),
        label(deep, f"{one}/{two}"),
        label(deep, one),
        label(deep, f"{one}/{three}/1"),
        label([[leaf(), layer(), leaf()], leaf(), leaf()], str(digit)),
        label([[leaf(), {"w": [leaf()] * 3}], leaf(), leaf()], str(digit), "0/1"),
    ]
    trees = varied_trees(rng, leaf, without=("bare leaf", "no leaves"))
    cases += [label(params, *some(params)) for params in trees]

    cases += [after(label_tree, "label_tree", params, [one]) for params in ({one: leaf()}, deep)]

    names = ["train", "frozen"]
    for _ in range(2):
        params, rate = {"a": leaf(), "b": [leaf()]}, share(rng)
        labels = {"a": "train", "b": [str(rng.choice(names))]}
        cases += [after(step, "frozen_step", params, like(rng, params), labels, rate)]
    for spoiled in (False, False, True, True):
        drawn = [str(each) for each in rng.choice(names, 4)]
        labels = {one: [drawn[0], (drawn[1],)], two: Layer(*drawn[2:]), three: []}
        a, b = rng.permutation(names)
        cases += [train({"a": str(a), "b": str(b)}, spoiled), train([names, labels], spoiled)]
    cases += [train("frozen"), train("train"), train({"w": "train", "b": None})]
    yield from shuffled(rng, cases)


@check
def save_and_load(save, load, rng):
    """Names by path, no pickle, dtypes; parts of a model; what is missing or has another shape."""
    folder, files = tempfile.mkdtemp(), {}

    def file_of(*trees):
        """Save trees to one file, one after the other; only once for all cases with these trees."""
        key = tuple(map(id, trees))
        if key not in files:
            file = str(Path(folder) / f"model{len(files)}.npz")
            for tree in trees:
                save(file, tree)
            files[key] = file, trees  # with the trees, so that no other ones get their ids
        return files[key][0]

    # The cases may be called when this function has ended, so no `with`.
    weakref.finalize(file_of, shutil.rmtree, folder, ignore_errors=True)

    def saved(*trees):
        with np.load(file_of(*trees), allow_pickle=True) as arrays:
            objects = [name for name in arrays.files if arrays[name].dtype.hasobject]
            return {"names": sorted(arrays.files), "pickled": objects}

    def loaded(like, *trees):
        return as_jax(load(file_of(*trees), like))

    def used(like, layers, x):
        """Apply layers that were saved and loaded."""
        x = np.asarray(x)
        for layer in load(file_of(layers), like):
            x = x @ np.asarray(layer["w"]) + np.asarray(layer["b"])
        return x.tolist()

    def looked_at_again(like, tree):
        load(file_of(tree), like)
        return like, tree

    @functools.cache
    def zero(shape, dtype):
        return array(np.zeros(shape), dtype)

    def zeros(tree, dtype=None):
        return jax.tree.map(lambda leaf: zero(leaf.shape, dtype or leaf.dtype), tree)

    def layer():
        return {"w": matrix(rng), "b": vector(rng)}

    def fine():
        """Draw numbers that need all digits of float32, and a size that float16 has not."""
        return array(rng.permutation([rng.random() / 3, 1e6 * rng.random() + 1e5]))

    def count():
        """Draw a whole number that float32 does not hold."""
        return array(2**24 + 1 + 2 * rng.integers(1, 1000), np.int32)

    def mask():
        return array(rng.random(2) < 0.5, bool)

    def look(*trees, **said):
        note = "This looks at the names in the file, and for what was pickled."
        return Case(saved, *trees, note=note, **said)

    def back(tree, like=None, more="", **said):
        note = "The first tree is `like`; the second one is saved, and then loaded."
        like = zeros(tree) if like is None else like
        return Case(loaded, like, tree, note=f"{note} {more}".strip(), **said)

    def applied(layers):
        note = "The layers are saved and loaded. Then they are applied to the vector, one by one."
        return Case(used, zeros(layers), layers, vector(rng), note=note, tags=("loaded layers",))

    def part(tree, name):
        tags = ("a `like` that asks for a part only",)
        return back(tree, zeros({name: tree[name]}), "It asks for a part only.", tags=tags)

    def missing(tree, like, path):
        return back(tree, zeros(like), "`like` asks for more.", mentions=(path,))

    def reshaped(tree, like):
        return back(tree, zeros(like), "A shape differs.", tags=("another shape",))

    def cast(tree, dtype):
        return back(tree, zeros(tree, dtype), "A dtype differs.", tags=("another dtype",))

    def kept(tree):
        note = (
            "The second tree is saved and loaded. Then this looks at both: they have not changed."
        )
        tags = ("a look at the inputs after the call",)
        return Case(looked_at_again, zeros(tree), tree, note=note, tags=tags)

    one, two, three = random_words(rng, 3)
    plain, nested = {one: vector(rng)}, [layer(), (layer(), None)]
    named = {one: [fine()], two: Layer(count(), None)}
    digits_, whole = {two: fine(), one: fine()}, [count(), mask()]
    # Its places 9 and 10 are in another order as texts.
    deep = {three: Layer([None] * 9 + [vector(rng), vector(rng)], array(number(rng)))}
    rich = {one: layer(), two: [fine(), (count(), mask())]}
    short, long = {one: vector(rng)}, {one: vector(rng), two: vector(rng)}
    both = [[short, long], [long, short]][rng.integers(2)]
    scalar = {one: array(number(rng))}
    last = max(one, two)  # so that other arrays come before it in the file
    overwritten = "The first tree is `like`. The others are saved to one file, one after the other."
    cases = [
        look(plain),
        look(nested),
        look(named),
        look(*both, tags=("two saves",)),
        back(plain),
        back(nested),
        back(digits_),
        back(whole),
        back(deep),
        back(rich),
        back({one: array(np.zeros((0, 2))), two: array(number(rng))}),
        part(rich, last),
        part(long, last),
        Case(loaded, zeros(short), *both, note=overwritten, tags=("two saves",)),
        cast(whole, np.float32),
        cast([count(), (mask(), None)], np.float32),
        cast({one: {two: count()}}, np.float32),
        cast({one: mask(), two: mask()}, np.int32),
        cast([[mask()], mask()], np.int32),
        missing(plain, {two: vector(rng)}, two),
        missing(plain, {one: vector(rng), three: vector(rng)}, three),
        missing(nested, [{**nested[0], two: vector(rng)}], f"0/{two}"),
        reshaped(plain, {one: matrix(rng)}),
        reshaped(plain, {one: array(1)}),
        reshaped(scalar, plain),
        reshaped({one: matrix(rng)}, {one: array([[1, 2, 3, 4]])}),
        reshaped({one: matrix(rng)}, {one: array([[1], [2], [3], [4]])}),
        *[applied([layer()]) for _ in range(2)],
        *[applied([layer(), layer()]) for _ in range(2 + rng.integers(2))],
        kept(plain),
        kept(whole),
    ]
    yield from shuffled(rng, cases)


@check
def deep_forward(answer, rng):
    """Each layer takes what the one before gave; all outputs in order; one traced layer."""

    def stacked(layers):
        """Draw layers of which, for a vector that is not negative, one output is cut off."""
        w = np.array([rng.choice(np.arange(2, 10), 4, False).reshape(2, 2) for _ in range(layers)])
        signs = np.array([rng.permutation([1, -1]) for _ in range(layers)])
        b = rng.choice([-2, -1, 1], (layers, 2))
        return {"w": array(w * signs[:, None]), "b": array(b)}

    @functools.cache
    def compiled():
        """Return one function for all cases, so that each number of layers is compiled once."""
        return jax.jit(answer)

    def call(stacked, x):
        last, every = compiled()(stacked, x)
        return {"last": as_jax(last), "every": as_jax(every)}

    def grows(few, many, x):
        """Say whether the program has more equations for many layers than for few."""
        few, many = (equations(jax.make_jaxpr(answer)(each, x)) for each in (few, many))
        return many > few

    def case(layers, x):
        note = {1: "One layer.", 2: "Two layers.", 5: "Five layers."}[layers]
        return Case(call, stacked(layers), x, note=note, tags=(note[0].lower() + note[1:-1],))

    def longer(few):
        more = few + int(rng.integers(2, 5))
        note = "Is the traced program longer for the second tree, which has more layers?"
        inputs = (stacked(few), stacked(more), vector(rng))
        return Case(grows, *inputs, note=note, tags=("a look at the program",))

    cases = [case(layers, vector(rng)) for layers in (1, 1, 2, 2, 5, 5)]
    cases += [case(layers, signed(rng, 2)) for layers in (1, 2)]
    cases += [case(5, signed(rng, 2)) for _ in range(1 + rng.integers(3))]
    yield from shuffled(rng, [*cases, longer(2), longer(int(rng.integers(3, 6)))])


@check
def moving_average(start, step, rng):
    """float32 for bfloat16 leaves, so that small steps count; whole numbers are copied."""

    def run(before, later, decay, times):
        average = start(before)
        for _ in range(times):
            average = step(average, later, decay)
        return as_jax(average)

    def kept(*trees):
        return after(step, "average_step", *trees, share(rng))

    def half():
        """Draw numbers that need all digits of bfloat16, of a size that float16 has not."""
        return array((2 * rng.integers(64, 128, 2) + 1) * 2.0**16, jnp.bfloat16)

    def full():
        """Draw numbers that need more digits than half precision has."""
        return array(1 + rng.random(2))

    def counter():
        """Draw a whole number that float32 does not hold."""
        return array(2**24 + 1 + 2 * rng.integers(1, 1000), np.int32)

    def layers(leaf):
        one, two = names
        return {one: [leaf(), None], two: Layer(full(), leaf()), "step": counter()}

    def case(draw, decay=None, fewest=1, **said):
        # It has several digits: half precision does not hold them.
        decay = int(rng.integers(201, 900)) / 1000 if decay is None else decay
        times = int(fewest + rng.integers(3))
        return Case(run, draw(), draw(), decay, times, **({"note": note} | said))

    names = random_words(rng, 2)
    slow = 1 - 1 / 1024
    first = {"note": "This calls `average_start`."}
    note = "The average starts with the first tree; then come steps with the second one. "
    note += "The last two inputs are the decay, and the number of steps."
    both = {"note": note, "tags": ("bfloat16",)}
    begin = returning_jax(start)
    yield from shuffled(
        rng,
        [
            Case(begin, full(), **first),
            Case(begin, {"w": full(), "b": half()}, **first, tags=("bfloat16",)),
            Case(begin, [half(), counter()], **first, tags=("bfloat16",)),
            Case(begin, {"w": full(), "step": counter()}, **first),
            case(lambda: full()),
            case(lambda: {"w": full(), "b": full()}, fewest=2),
            case(counter),
            case(lambda: {"w": full(), "step": counter()}, fewest=2),
            case(half, **both),
            case(lambda: {"w": half(), "b": full()}, **both),
            case(lambda: (half(), half()), slow, fewest=2, **both),
            case(lambda: [half()], slow, fewest=3, **both),
            case(lambda: layers(half), fewest=2, **both),
            case(lambda: layers(half), slow, fewest=2, **both),
            case(lambda: layers(full)),
            kept({"w": full(), "b": full()}, {"w": full(), "b": half()}),
            kept([full(), counter()], [half(), counter()]),
        ],
    )


@check
def resume(save, load, rng):
    """A moved file, other states in between, and steps that need every part of the state."""
    folder, places = tempfile.mkdtemp(), itertools.count()

    def stored(*states):
        """Save states to one file, one after the other, and move it to a folder of its own."""
        file = Path(folder, "state.npz")
        for state in states:
            save(str(file), state)
        place = Path(folder, str(next(places)))
        place.mkdir()
        return str(file.rename(place / "moved.npz"))

    # The cases may be called when this function has ended, so no `with`.
    weakref.finalize(stored, shutil.rmtree, folder, ignore_errors=True)

    def loaded(file, like):
        return as_jax(load(file, like))

    def trained(state, steps):
        """Train on: every entry of the state has a part in each step."""
        params, optimiser = jax.tree.map(np.asarray, (state["params"], state["optimiser"]))
        data, step = np.asarray(jax.random.key_data(state["key"])).tolist(), state["step"]
        for _ in range(steps):
            optimiser = jax.tree.map(remembered, optimiser)
            speed = sum(float(leaf.sum()) for leaf in jax.tree.leaves(optimiser)) % 64
            noise, rate = np.random.default_rng([*data, int(step)]), 1 / (4 + int(step) % 4)
            move = partial(moved, speed=speed, noise=noise, rate=rate)
            params, step = jax.tree.map(move, params), step + 1
        params, optimiser = jax.tree.map(jax.device_put, (params, optimiser))
        return {**state, "params": params, "optimiser": optimiser, "step": step}

    def remembered(leaf):
        is_count = leaf.dtype == np.int32
        return np.asarray(leaf + 1 if is_count else leaf / 2, leaf.dtype)

    def moved(leaf, speed, noise, rate):
        return np.asarray(leaf - rate * (speed + noise.integers(1, 100, leaf.shape)), leaf.dtype)

    def resumed(state, like, steps):
        return trained(loaded(stored(state), like), steps)

    def in_turn(one, other, like, other_like, steps):
        files = stored(one), stored(other)
        states = loaded(files[0], like), loaded(files[1], other_like)
        return [trained(state, steps) for state in states]

    def replaced(one, other, like, steps):
        return trained(loaded(stored(one, other), like), steps)

    def looked_at_again(state, like):
        load(stored(state), like)
        return state, like

    def pickled(state):
        with np.load(stored(state), allow_pickle=True) as arrays:
            return [name for name in arrays.files if arrays[name].dtype.hasobject]

    def key(fresh):
        first = 0 if fresh else int(rng.integers(1, 2**32))
        data = array([first, int(rng.integers(2, 2**31 if fresh else 2**32))], np.uint32)
        return jax.random.wrap_key_data(data)

    def count():
        """Draw a whole number that float32 does not hold."""
        return array(2**24 + 1 + 2 * rng.integers(1, 1000), np.int32)

    def fine():
        """Draw numbers that need all digits of float32."""
        return array(rng.integers(1, 10, 2) + rng.random(2))

    def state_of(params, optimiser, fresh=False):
        entries = {"params": params, "optimiser": optimiser, "step": int(rng.integers(10, 10**6))}
        entries["key"] = key(fresh)
        return {name: entries[name] for name in shuffled(rng, entries)}

    def start_of(state):
        """Draw a state of the same form, with other numbers in every entry."""

        def other(leaf):
            return array(rng.integers(1, 10, leaf.shape), leaf.dtype)

        params, optimiser = jax.tree.map(other, (state["params"], state["optimiser"]))
        start = {"params": params, "optimiser": optimiser, "step": 0, "key": key(fresh=True)}
        return {name: start[name] for name in shuffled(rng, start)}

    def few():
        return int(rng.integers(1, 4))

    def go_on(state, **said):
        note = "The first state is saved, the file is moved, and `like` serves to load it. "
        note += "Then training goes on from there: the number says for how many steps."
        return Case(resumed, state, start_of(state), few(), note=note, **said)

    def alternate(one, other):
        note = "Both states are saved, each to its own file. Then both files are loaded, "
        note += "and training goes on from each state."
        inputs = one, other, start_of(one), start_of(other), few()
        return Case(in_turn, *inputs, note=note, tags=("two files",))

    def twice(one, other):
        note = "Both states are saved to one file, one after the other; then it is loaded."
        inputs = one, other, start_of(other), few()
        return Case(replaced, *inputs, note=note, tags=("a file that was there already",))

    def kept(state):
        note = "The first state is saved and loaded. Then this looks at both: have they changed?"
        tags = ("a look at the inputs after the call",)
        return Case(looked_at_again, state, start_of(state), note=note, tags=tags)

    def look(state):
        note = "What in the file was pickled?"
        return Case(pickled, state, note=note, tags=("a look at the file",))

    def flat(fresh=False):
        one, two = random_words(rng, 2)
        return state_of({one: fine(), two: vector(rng)}, {one: vector(rng), two: fine()}, fresh)

    def counted():
        one, two = random_words(rng, 2)
        params = [{one: vector(rng), two: vector(rng)}, (fine(), None)]
        return state_of(params, (like(rng, params), count()))

    def nested():
        one, two, three = random_words(rng, 3)
        params = {one: Layer(vector(rng), fine()), two: [vector(rng), {three: ()}], three: None}
        return state_of(params, Layer(like(rng, params), {two: count(), one: fine()}))

    def deep():
        """Draw many layers: as texts, their numbers are in another order."""
        params = [vector(rng) for _ in range(11 + rng.integers(2))]
        return state_of(params, [vector(rng)])

    def without_optimiser():
        return state_of({random_words(rng, 1)[0]: fine()}, [(), None][rng.integers(2)])

    split, fresh = {"tags": ("a key that `split` made",)}, {"tags": ("a key from a seed",)}
    cases = [
        *[go_on(flat(True), **fresh) for _ in range(2)],
        *[go_on(flat(), **split) for _ in range(1 + rng.integers(2))],
        *[go_on(counted(), **split) for _ in range(1 + rng.integers(2))],
        go_on(nested(), **split),
        go_on(deep(), **split),
        go_on(deep(), **split),
        go_on(without_optimiser(), **split),
        alternate(flat(), counted()),
        alternate(nested(), counted()),
        twice(flat(), flat()),
        twice(counted(), nested()),
        kept(flat()),
        kept(nested()),
        look(counted()),
        look(nested()),
    ]
    yield from shuffled(rng, cases)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
