"""Checks of lesson 5, an MLP from scratch.

python checks/check_05_mlp.py exercises/05_mlp_exercises.ipynb
"""

import functools
import inspect
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

from pytree_course.cases import (
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

HALF = ("float16", "bfloat16")
NO_CLASSES = [
    "namedtuple",
    "namedtuple below the top",
    "namedtuple in a list",
    "registered class",
    "registered class below the top",
    "class in itself",
    "OrderedDict",
]
"""What a tree of dicts, lists and tuples has not."""


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


def keeping_width(tree):
    """Let NumPy's arrays of 32 bits count as JAX's; those of 64 bits are seen as they are."""
    is_wide = any(getattr(leaf, "dtype", None) == np.float64 for leaf in jax.tree.leaves(tree))
    return tree if is_wide else as_jax(tree)


def is_pair(result):
    """Whether an answer returned two things: the check looks at anything else as it is."""
    return isinstance(result, (tuple, list)) and len(result) == 2


def numbers_of(tree):
    """Put the numbers of all leaves into one array: where only the numbers matter, it is short."""
    leaves = [np.ravel(np.asarray(leaf)) for leaf in jax.tree.leaves(tree)]
    return np.concatenate(leaves) if leaves else tree


def numbers_if_like(tree, like):
    """Return the numbers of a tree; or the tree, if it has not the structure of the other one."""
    return numbers_of(tree) if jax.tree.structure(tree) == jax.tree.structure(like) else tree


def directions(before, after):
    """Say of every number whether it became smaller (1), became larger (-1) or stayed (0).

    Cases of many trees look only at this: wrong numbers are for the cases of plain trees.
    """

    def direction(old, new):
        with np.errstate(invalid="ignore"):  # inf - inf
            return np.sign(np.asarray(old, np.float32) - np.asarray(new, np.float32))

    if jax.tree.structure(before) != jax.tree.structure(after):
        return as_jax(after)
    return numbers_of(jax.tree.map(direction, before, after))


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


def own(answer, call):
    """Say that what a call returns is the answer's own result, in another form."""
    call.__signature__ = inspect.signature(call)  # its inputs keep the names that they have here
    call.__wrapped__ = answer
    return call


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
    changed = f"Your `{called}` has changed what it was given. Do you write into one of the "
    changed += "caller's dicts or lists? Return new ones."
    return Case(look, *inputs, note=note, if_wrong={"": changed})


@check
def init_mlp(answer, rng):
    """The numbers themselves: they follow from the key, for any widths."""

    def layers(seed, sizes):
        return keeping_width(answer(jax.random.key(seed), sizes))

    def shapes(key, sizes):
        params = answer(key, sizes)
        is_list = isinstance(params, list) and all(isinstance(layer, dict) for layer in params)
        if not is_list or not all("weight" in layer for layer in params):
            return params if params is ... else kinds(params)
        return [np.shape(layer["weight"]) for layer in params]

    def widths(count):
        """Draw widths, neighbours different from each other."""
        start = int(rng.integers(3))
        return [1 + (start + at) % 3 for at in range(count)]

    def case(*sizes):
        return Case(own(answer, layers), int(rng.integers(1000)), list(sizes), note=note)

    note = "The number before the widths is the seed of the key."
    one, two = (int(each) for each in rng.permutation([2, 3]))
    yield from shuffled(
        rng,
        [
            Case(shapes, jax.random.key(0), [64, 32, 10], note="The shapes of `weight`."),
            case(one, two),
            case(two, one),
            case(one, one),
            case(one, 1),
            case(one, two, one),
            case(1, 1, 1),
            case(one, 1, one, 1),
            case(*widths(4)),
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
        return {
            "weight": array(w * np.outer(rows, signs)),
            "bias": array(rng.choice([-2, -1, 1], outputs)),
        }

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

    own(one, twice)

    def case(call, layers, outputs=2, batch=None, **said):
        rows = np.array([1, -1] if rng.random() < 0.5 else [-1, 1])
        x = array(example(rows)) if batch is None else examples(rows, batch)
        return Case(call, network(rows, layers, outputs), x, **said)

    def near_zero():
        """Draw a case whose hidden numbers are small, of both signs, and only so by the bias."""
        x, w = rng.integers(1, 10, 2), rng.choice([-3, -2, 2, 3], (2, 2))
        small = {"weight": array(w), "bias": array(rng.permutation([0.5, -0.5]) - x @ w)}
        return Case(one, [small, *network((1, 1), 1)], array(x), note=first)

    def with_one_hidden_number():
        """Draw a case whose only hidden number is positive, so that Python can take its sign."""
        positive = {"weight": array(rng.integers(1, 10, (2, 1))), "bias": array([1])}
        outputs = {"weight": signed(rng, 1, 2), "bias": signed(rng, 2)}
        return Case(one, [positive, outputs], array(rng.integers(1, 10, 2)), note=first)

    def with_one_layer_twice(call, *shape):
        layer = both_signs((1, 1))
        note = "One dict stands in the list twice."
        x = array(rng.integers(1, 10, (*shape, 2)))
        return Case(call, [layer, *network((1, 1), 1), layer], x, note=note)

    shown = [{"weight": array([[1], [1]]), "bias": array([0.5])}]
    first = "This calls `forward`."
    again = "This calls `forward` twice, with the same layers."
    second = "This calls `forward_batch`."
    yield from shuffled(
        rng,
        [
            case(one, 1, note=first),
            case(one, 2, note=first),
            case(one, 3, note=first),
            case(one, 2, 3, note=first),
            case(one, 4 + rng.integers(3), 3, note=first),
            Case(one, shown, array([1, -2]), note=first),
            Case(batch, shown, array([[1, -2], [1, 1]]), note=second),
            case(one, 1, 1, note=first),
            case(one, 2, 1, note=first),
            near_zero(),
            near_zero(),
            with_one_hidden_number(),
            case(twice, 2, note=again),
            case(twice, 3, note=again),
            with_one_layer_twice(one),
            with_one_layer_twice(one),
            with_one_layer_twice(batch, 2),
            case(batch, 1, batch=2, note=second),
            case(batch, 2, batch=2, note=second),
            case(batch, 2, batch=1, note=second),
            case(batch, 2, 3, batch=4, note=second),
            case(batch, 2, 1, batch=1, note=second),
            case(batch, 2, 1, batch=2, note=second),
            case(batch, 3 + rng.integers(3), 3, batch=2, note=second),
        ],
    )


@check
def cross_entropy(answer, rng):
    """One logit of each row, by its label; a mean; right for large logits, its gradient too."""

    def loss(logits, labels):
        result = answer(logits, labels)
        if np.ndim(result) != 0:
            return as_jax(result)
        # No case has a loss of such sizes. They are what limits and small numbers of the learner's
        # own make of the large losses, whatever these limits are.
        if isinstance(result, (np.ndarray, np.number, jax.Array)):
            if 10 < result < 500:
                return "between 10 and 500"
            if 60_000 < result < np.inf:
                return "a finite number above 60,000"
        # Of numbers near 10,000, float32 keeps three digits after the point.
        return coarse(result)

    own(answer, loss)

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
    same = "All logits are large, by the same amount."
    wrong = {"": "The gradient of your loss with respect to the logits is wrong."}
    looked = {"note": seen, "if_wrong": wrong}
    order = [0.0, size()] if rng.random() < 0.5 else [size(), 0.0]
    yield from shuffled(
        rng,
        [
            Case(loss, *one(0)),
            Case(loss, *one(rng.integers(1, 5))),
            Case(loss, *one(-rng.integers(1, 5))),
            Case(loss, array([[0, 0], [0, 10_000]]), array([1, 1], np.int32)),
            Case(loss, *rows(0.0, 0.0)),
            Case(loss, *rows(0.0, 0.0)),
            Case(gradient, *rows(0.0, 0.0), note=seen, if_wrong=wrong),
            Case(loss, *rows(*[100.0 * number(rng)] * 2), note=same),
            Case(loss, *rows(*[-size()] * 2), note=same),
            Case(loss, *one(rng.integers(1, 5), -size())),
            Case(loss, *one(size())),
            Case(loss, *one(-size())),
            Case(loss, *one(size(5), -size(5))),
            Case(loss, *rows(*order)),
            Case(loss, *rows(*order[::-1])),
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
            if not is_pair(result):
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
    many = rates(2)
    many.insert(int(rng.integers(1, len(many))), 0.0)
    note = "The loss is the sum of `(leaf * x - y) ** 2`, over all leaves. "
    after = note + "Each number is the rate of one step; the steps follow one another."
    only_shapes = note + "Which arrays are computed outside of `jax.jit`?"
    two = "`make_step` returns a function. This function returns two things: the new parameters, "
    two += "and the loss at the old ones."
    said = {
        "runs of the loss in Python too high": "Python runs your loss function in a later call "
        "too, not only in the first: JAX traces again, or nothing is jitted.",
        "params": "Your new parameters are not those of a step of gradient descent with this rate.",
        "": two,
    }
    # Where the parameters are wrong, the losses of later steps are so too.
    one = said | {"loss": "Your loss is not the loss at the old parameters."}
    parts = {
        "programs 0": "Nothing in your step is a jitted program.",
        "programs": "Your step is not one jitted program, but several.",
        "outside": "Your step computes arrays outside of `jax.jit`.",
        "": two,
    }
    yield from shuffled(
        rng,
        [
            Case(steps, {"w": array(1)}, array(1), array(3), 0.25, note=after, if_wrong=one),
            Case(steps, *draw(flat), rate, note=note + "One step, with this rate.", if_wrong=one),
            Case(steps, *draw(nested), *[rate] * (2 + rng.integers(2)), note=after, if_wrong=said),
            Case(steps, *draw(0), *rates(2), note=after, if_wrong=said),
            Case(steps, *draw([0, 0]), *many, note=after, if_wrong=said),
            Case(outside, *draw(flat), rate, note=only_shapes, if_wrong=parts),
            Case(outside, *draw(nested), rate, note=only_shapes, if_wrong=parts),
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
        follow: "The direction is the gradient itself.",
        signs: "The direction is the sign of each number.",
        shortened: "The direction is the gradient over the largest number in the whole tree.",
    }

    def gradients(params):
        leaves, structure = jax.tree.flatten(params)
        # Each leaf has larger numbers than the one before, so that their own largest ones differ.
        drawn = (signed(rng, *leaf.shape) for leaf in leaves)
        scaled = [array(np.asarray(g) * 4.0**place) for place, g in enumerate(drawn)]
        return jax.tree.unflatten(structure, scaled)

    def with_direction(direction):
        def step(params, grads, rate, decay):
            return answer(params, grads, direction, rate, decay)

        return own(answer, step)

    def kept(params):
        inputs = params, gradients(params), share(rng), share(rng)
        return after(with_direction(follow), "decayed_step", *inputs)

    def case(params, direction=follow, decay=None):
        call, grads = returning_jax(with_direction(direction)), gradients(params)
        note = said[direction]
        decay = share(rng) if decay is None else decay
        return Case(call, params, grads, share(rng), decay, note=note)

    def moved(params, grads, rate, decay):
        return directions(params, answer(params, grads, follow, rate, decay))

    def ways(params):
        note = f"{said[follow]} For each number of the parameters: 1 if it became smaller, "
        note += "-1 if it became larger, 0 if it is as it was."
        wrong = {"": "In this tree, your parameters do not move against the direction."}
        inputs = params, gradients(params), share(rng), share(rng)
        return Case(moved, *inputs, note=note, if_wrong=wrong)

    def leaf():
        return either(rng)

    def layer():
        return {"w": leaf(), "b": leaf()}

    def rich():
        first, second, third = random_words(rng, 3)
        layers = [{"w": vector(rng), "b": vector(rng)}, (vector(rng),)]
        return {first: layers, second: {"w": vector(rng), "W": vector(rng)}, third: None}

    ends = ["raw", "view", "new", "follow"]
    begins = ["wide", "weight", "w2", "w_in"]
    names = [str(each) for each in (*rng.choice(ends, 2, False), *rng.choice(begins, 2, False))]
    several_axes = {"w": vector(rng), "b": matrix(rng)}
    cases = [
        case({"w": leaf()}),
        case({"b": leaf()}),
        case({"W": leaf()}),
        case(leaf()),
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
        case({"a/w": leaf(), "b": leaf()}),
        case({"b.w": leaf(), "b": leaf()}),
        case([{"w": leaf(), "b.w": leaf(), "b/w": leaf()}]),
        case({" w": leaf(), "b": leaf()}),
        case({"w ": leaf(), "w": leaf()}),
        case([{"w": vector(rng), "b": vector(rng)}, {"w": vector(rng)}]),
        kept(layer()),
        kept([{"w": leaf()}, leaf()]),
    ]
    ones = {name: array([4]) for name in ("w", "b")}, {name: array([2]) for name in ("w", "b")}
    call = returning_jax(with_direction(signs))
    cases += [Case(call, *ones, 0.5, 0.25, note=said[signs])]
    # The decay may be 0, and 0 times infinity is no number.
    without, leaf = [*NO_CLASSES, *HALF, "infinity"], partial(vector, rng)
    trees = varied_trees(rng, leaf, values=jax.device_put, without=without, rich=0)
    cases += [ways(tree) for tree in trees]
    for direction in (signs, shortened):
        cases += [case(layer(), direction), case([layer(), None], direction)]
        cases += [case(rich(), direction)]
    yield from shuffled(rng, cases)


@check
def momentum(start, step, rng):
    """The new velocity moves the parameters; it is remembered, with no rate in it."""

    def one_step(params, grads, velocity, rate, beta):
        result = step(params, grads, velocity, rate, beta)
        if not is_pair(result):
            return as_jax(result)
        return {"params": as_jax(result[0]), "velocity": as_jax(result[1])}

    def first_velocity(params):
        return keeping_width(start(params))

    own(start, first_velocity)

    def many_steps(params, grads, rates, beta):
        velocity = start(params)
        for each, rate in zip(grads, rates, strict=True):
            result = step(params, each, velocity, rate, beta)
            if not is_pair(result):
                return as_jax(result)
            params, velocity = result
        return {"params": as_jax(params), "velocity": as_jax(velocity)}

    def moved(params, *inputs):
        result = many_steps(params, *inputs)
        is_seen = isinstance(result, dict) and "params" in result
        return directions(params, result["params"]) if is_seen else result

    def steps(params):
        grads = [like(rng, params) for _ in range(2)]
        rates = [share(rng) for _ in grads]
        return Case(many_steps, params, grads, rates, share(rng), note=note, if_wrong=later)

    def two_steps(params):
        """Draw a case of two steps with the same gradients: each number moves one way."""
        grads, rates = [like(rng, params)] * 2, [share(rng) for _ in range(2)]
        return Case(moved, params, grads, rates, share(rng), note=ways, if_wrong=wrong_way)

    def given(params, velocity):
        return params, like(rng, params), velocity, share(rng), share(rng)

    def from_given(*state):
        return Case(one_step, *given(*state), note="This calls `momentum_step`.", if_wrong=said)

    def kept(params):
        return after(step, "momentum_step", *given(params, like(rng, params)))

    def twice(*inputs):
        one_step(*inputs)
        return one_step(*inputs)

    two = {"": "`momentum_step` returns two things: the new parameters, and the new velocity."}
    said = {
        "velocity": "Your new velocity is not `beta * velocity + gradient`, leaf by leaf.",
        "params": "Your new parameters are not `params - rate * velocity`, leaf by leaf, with the "
        "new velocity.",
        **two,
    }
    later = {
        "velocity": "Your velocity is not `beta * velocity + gradient` in each step, leaf by leaf, "
        "from zeros on.",
        "params": "Your new parameters are not `params - rate * velocity`, leaf by leaf, in each "
        "step.",
        **two,
    }
    ways = (
        "Two steps with one gradient. For each number of the parameters: 1 if it became smaller, "
    )
    ways += "-1 if it became larger, 0 if it is as it was."
    wrong_way = {"": "In this tree, your parameters do not move against the gradients."}
    first = "This calls `start`."
    note = "From the first velocity on, a step for each gradient, each with a rate of its own."
    cases = [
        Case(first_velocity, vector(rng), note=first),
        Case(first_velocity, {"w": matrix(rng), "b": vector(rng)}, note=first),
        Case(first_velocity, model(rng), note=first),
        Case(first_velocity, array(rng.permutation([np.nan, np.inf])), note=first),
        Case(first_velocity, [vector(rng), array(rng.permutation([-np.inf, 1]))], note=first),
        from_given(vector(rng), array([0, 0])),
        Case(first_velocity, {"w": array([1, 2])}, note=first),
    ]
    (one,) = random_words(rng, 1)
    example = array(5), array(1), array(2), 0.5, 0.5
    cases += [Case(one_step, *example, note="This calls `momentum_step`.", if_wrong=said)]
    # No two cases share an array: an answer may donate what it gets, and so delete it.
    for _ in range(2):
        params = {"w": vector(rng), "b": vector(rng)}
        cases += [from_given(params, like(rng, params))]
    again = "This calls `momentum_step` twice with these arguments. The second result:"
    for params in ({one: vector(rng)}, [vector(rng), None]):
        inputs = given(params, like(rng, params))
        cases += [Case(twice, *inputs, note=again, if_wrong=said)]
    cases += [kept({"w": vector(rng)}), kept({"w": [matrix(rng), None], "b": vector(rng)})]
    # To turn a tree of pairs inside out, JAX needs a leaf in it.
    zero = array(rng.permutation([0, number(rng)]))
    without = ["no leaves", *HALF]
    leaf = partial(vector, rng)
    trees = varied_trees(rng, leaf, edges=[zero], values=jax.device_put, without=without, rich=0)
    cases += [steps(params) for params in ({"w": vector(rng)}, [vector(rng), vector(rng)])]
    cases += [two_steps(params) for params in trees]
    yield from shuffled(rng, cases)


@check
def adam(start, step, rng):
    """Where the correction and the tiny number show: first steps, gradients that stay 0."""

    def seen(before, after, state, rate):
        def move(old, new):
            with np.errstate(all="ignore"):  # inf - inf
                return (np.asarray(old, np.float64) - np.asarray(new)) / rate

        is_like = jax.tree.structure(before) == jax.tree.structure(after)
        moved = jax.tree.map(move, before, after) if is_like else after
        trees = {"steps in rates": moved, "m": state["m"], "v": state["v"]}
        numbers = {name: numbers_if_like(coarse(tree), before) for name, tree in trees.items()}
        return {**numbers, "t": as_count(state["t"])}

    def first_state(params):
        state = start(params)
        return {**keeping_width({"m": state["m"], "v": state["v"]}), "t": as_count(state["t"])}

    def after_steps(look, params, grads, rate, step):
        now, state = params, start(params)
        for each in grads:
            result = step(now, each, state, rate)
            if not is_new_state(result):
                return as_jax(result)
            now, state = result
        return look(params, now, state, rate)

    def many_steps(params, grads, rate, step=step):
        return after_steps(seen, params, grads, rate, step)

    def one_step(params, grads, state, rate):
        result = step(params, grads, state, rate)
        return seen(params, *result, rate) if is_new_state(result) else as_jax(result)

    def is_new_state(result):
        """Whether a step returned parameters and a state: all else is seen as it is."""
        is_state = is_pair(result) and isinstance(result[1], dict)
        return is_state and {"m", "v", "t"} <= result[1].keys()

    def under_jit(params, grads, rate):
        return many_steps(params, grads, rate, jax.jit(step))

    def moved_under_jit(params, grads, rate):
        return moved(params, grads, rate, jax.jit(step))

    def moved(params, grads, rate, step=step):
        return after_steps(lambda *trees: directions(*trees[:2]), params, grads, rate, step)

    def two_steps(tree, call=moved, more=""):
        """Draw a case of two steps with the same gradients: each number moves one way."""
        note = "Two steps with one gradient. For each number of the parameters: 1 if it became "
        note += "smaller, -1 if it became larger, 0 if it is as it was."
        wrong = {"": "In this tree, your parameters do not move against the gradients."}
        inputs = tree, [like(rng, tree)] * 2, number(rng) / 16
        return Case(call, *inputs, note=note + more, if_wrong=wrong)

    def steps(params, fewest=1):
        inputs = params, several(rng, params, fewest), number(rng) / 16
        return Case(many_steps, *inputs, note=note, if_wrong=meaning)

    def with_gradient(small, times):
        """Draw a vector's case in which one place has a small gradient in each step."""
        place = rng.integers(2)
        grads = [np.array(signed(rng, 2)) for _ in range(times)]
        for each in grads:
            each[place] = small
        inputs = vector(rng), list(map(array, grads)), number(rng) / 16
        return Case(many_steps, *inputs, note=note, if_wrong=meaning)

    def given(params, done=None):
        m = jax.tree.map(lambda leaf: leaf / 4, like(rng, params))
        v = jax.tree.map(lambda leaf: array(np.asarray(leaf) ** 2 / 16), like(rng, params))
        state = {"m": m, "v": v, "t": int(rng.integers(2, 30)) if done is None else done}
        return params, like(rng, params), state, number(rng) / 16

    def later(params, done=None):
        middle = "One step, from a state in the middle of a training. Each array holds the numbers "
        middle += "of all leaves."
        return Case(one_step, *given(params, done), note=middle, if_wrong=meaning)

    first = "This calls `adam_start`."
    at_first = {
        "t": "Your first count is not 0.",
        "m": "Your first `m` is not a tree of zeros like the parameters.",
        "v": "Your first `v` is not a tree of zeros like the parameters.",
    }
    meaning = {
        "t": "Your `t` is not the number of steps.",
        "m": "Your new `m` is not `0.9 * m + 0.1 * g`, from zeros at the start.",
        "v": "Your new `v` is not `0.999 * v + 0.001 * g²`, from zeros at the start.",
        "steps in rates": "Your parameters do not move as the last line of the formula says.",
        "": "`adam_step` returns the new parameters, and a state with `m`, `v` and `t`.",
    }
    note = (
        "A step for each gradient. `steps in rates`: how far the parameters came, over the rate. "
    )
    note += "Each array holds the numbers of all leaves."
    in_jit = " `adam_step` runs under `jax.jit`."
    jitted = note + in_jit

    def two():
        return {"w": vector(rng), "b": vector(rng)}

    example = {"w": array([1, 2])}, [{"w": array([3, 0])}], 0.25
    without = ["no leaves", *HALF]
    trees = varied_trees(rng, lambda: vector(rng), values=jax.device_put, without=without, rich=0)
    yield from shuffled(
        rng,
        [
            *[two_steps(tree) for tree in (*trees, model(rng))],
            Case(many_steps, *example, note=note, if_wrong=meaning),
            Case(first_state, vector(rng), note=first, if_wrong=at_first),
            Case(first_state, model(rng), note=first, if_wrong=at_first),
            Case(
                first_state,
                {"w": array(rng.permutation([np.nan, np.inf]))},
                note=first,
                if_wrong=at_first,
            ),
            Case(
                first_state,
                [vector(rng), array(rng.permutation([-np.inf, 1]))],
                note=first,
                if_wrong=at_first,
            ),
            with_gradient(0.0, 1),
            with_gradient(0.0, 2),
            with_gradient(float(rng.choice([1e-7, 2e-7])), 1),
            with_gradient(float(rng.choice([-1e-7, -2e-7])), 2),
            steps(vector(rng), 2),
            steps(two(), 2),
            later(vector(rng)),
            later(two(), 255),
            later(vector(rng), int(rng.integers(300, 1000))),
            after(step, "adam_step", *given(two())),
            after(step, "adam_step", *given([vector(rng), {"b": vector(rng)}])),
            *[two_steps(tree, moved_under_jit, in_jit) for tree in (vector(rng), two())],
            # In so many steps `v` shrinks by more than a rounding hides.
            Case(
                under_jit,
                vector(rng),
                [signed(rng, 2), *[array([0, 0])] * int(rng.integers(40, 60))],
                number(rng) / 16,
                note=jitted,
                if_wrong=meaning,
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

    def paths(params, frozen):
        """Return the paths of the frozen leaves; or the labels, if they are no such tree."""
        labels = label_tree(params, frozen)
        found, structure = jax.tree.flatten_with_path(labels)
        is_like = structure == jax.tree.structure(params)
        if not is_like or any(label not in ("frozen", "train") for _, label in found):
            return labels
        texts = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in found]
        return ", ".join(
            text for text, (_, label) in zip(texts, found, strict=True) if label == "frozen"
        )

    def freeze_in(params, *frozen):
        wrong = {"": "`label_tree` labels other leaves with `frozen` than those that are listed."}
        return Case(paths, params, list(frozen), note=which, if_wrong=wrong)

    which = "This calls `label_tree`. The paths of the leaves that have the label `frozen`:"

    def train(labels, spoiled=""):
        """Draw parameters, and gradients that are no numbers where a leaf has this label."""

        def gradient(label, leaf):
            is_spoiled = label == spoiled
            return array(rng.permutation([np.nan, np.inf])) if is_spoiled else signed(rng, 2)

        params = jax.tree.map(lambda _: leaf(), labels)
        grads = jax.tree.map(gradient, labels, params)
        note = "This calls `frozen_step`."
        call = returning_jax(step)
        return Case(call, params, grads, labels, share(rng), note=note)

    def some(params):
        """Choose leaves and parts of a tree, by their paths."""
        ways = [path[:end] for path, _ in jax.tree.leaves_with_path(params) for end in (1, 2, 3)]
        texts = {jax.tree_util.keystr(way, simple=True, separator="/") for way in ways} - {""}
        count = min(len(texts), 1 + int(rng.integers(3)))
        return [str(text) for text in rng.choice(sorted(texts), count, replace=False)]

    one, two, three = random_words(rng, 3)
    digit = int(rng.integers(1, 3))
    many = {
        one: [array(number(rng)) for _ in range(10 * digit + 2)],
        f"{one}2": leaf(),
        f"{one}_{two}": layer(),
    }
    deep = {two: leaf(), one: {two: leaf(), three: [leaf(), {two: layer()}]}}
    cases = [
        label({"a": leaf(), "b": leaf()}),
        label({"a": leaf(), "b": leaf()}, str(rng.choice(["a", "b"]))),
        label({one: [layer(), None], two: layer()}, one),
        label([layer(), (layer(),)], "0/w", "1"),
        freeze_in(many, f"{one}/{digit}"),
        freeze_in(many, one),
        freeze_in(many, f"{one}/{digit}", f"{one}/{digit + 1}", f"{one}_{two}/b"),
        freeze_in(deep, two),
        freeze_in(deep, f"{one}/{two}"),
        freeze_in(deep, one),
        freeze_in(deep, f"{one}/{three}/1"),
        freeze_in([[leaf(), layer(), leaf()], leaf(), leaf()], str(digit)),
        freeze_in([[leaf(), {"w": [leaf()] * 3}], leaf(), leaf()], str(digit), "0/1"),
    ]
    cases += [
        label({one: {".": leaf(), "w": leaf()}, two: leaf()}, f"{one}/."),
        label({".": {"w": leaf()}, "w": leaf()}, "w"),
    ]
    without = ("bare leaf", "no leaves", "slashed keys", "paths of one text", *HALF)
    trees = varied_trees(rng, leaf, values=jax.device_put, without=without, rich=0)
    cases += [freeze_in(params, *some(params)) for params in trees]
    cases += [label({"body": [array([1, 1])] * 2, "head": array([1, 1])}, "body/0")]

    cases += [after(label_tree, "label_tree", params, [one]) for params in ({one: leaf()}, deep)]

    names = ["train", "frozen"]
    for _ in range(2):
        params, rate = {"a": leaf(), "b": [leaf()]}, share(rng)
        labels = {"a": "train", "b": [str(rng.choice(names))]}
        cases += [after(step, "frozen_step", params, like(rng, params), labels, rate)]
    for spoiled in ("", "", "frozen", "frozen"):
        a, b = rng.permutation(names)
        cases += [train({"a": str(a), "b": str(b)}, spoiled)]
    for spoiled in ("", "frozen"):
        drawn = [str(each) for each in rng.choice(names, 4)]
        labels = {one: [drawn[0], (drawn[1],)], two: Layer(*drawn[2:]), three: []}
        cases += [train([names, labels], spoiled)]
    trees = varied_trees(rng, leaf, values=jax.device_put, without=without, rich=0)
    for params in trees[:10]:
        labels = jax.tree.map(lambda _: str(rng.choice(names)), params)
        step_of_tree = params, like(rng, params), labels, share(rng)
        cases += [Case(returning_jax(step), *step_of_tree, note="This calls `frozen_step`.")]
    example = [{"a": array(each), "b": array(each)} for each in (4, 2)]
    example += [{"a": "train", "b": "frozen"}, 0.5]
    cases += [Case(returning_jax(step), *example, note="This calls `frozen_step`.")]
    cases += [train("frozen"), train("train"), train({"w": "train", "b": None})]
    cases += [train({"a": "train", "b": str(rng.choice(names))}, "train")]
    cases += [train([str(rng.choice(names)), ("train",)], "train")]
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
            pickled = any(arrays[name].dtype.hasobject for name in arrays.files)
            return {"pickled": pickled, "names": [] if pickled else sorted(arrays.files)}

    def loaded(like, *trees):
        return as_jax(load(file_of(*trees), like))

    own(load, loaded)

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

    def look(*trees):
        note = "The names in the file, unless something was pickled."
        wrong = {
            "pickled": "NumPy had to pickle something for your file: it was no array of numbers.",
            "names": "The names in your file are not the paths of the leaves of the last tree.",
        }
        return Case(saved, *trees, note=note, if_wrong=wrong)

    def back(tree, like=None, more="", **said):
        note = "The first tree is `like`; the second one is saved, and then loaded."
        like = zeros(tree) if like is None else like
        return Case(loaded, like, tree, note=f"{note} {more}".strip(), **said)

    def applied(layers):
        note = "The layers are saved and loaded. Then they are applied to the vector, one by one."
        inputs = zeros(layers), layers, vector(rng)
        wrong = {"": "Some leaf comes back with other numbers than it was saved with."}
        return Case(used, *inputs, note=note, if_wrong=wrong)

    def part(tree, name):
        return back(tree, zeros({name: tree[name]}), "It asks for a part only.")

    def missing(tree, like, path):
        return back(tree, zeros(like), "`like` asks for more.", mentions=(path,))

    def reshaped(tree, like):
        return back(tree, zeros(like), "A shape differs.")

    def cast(tree, dtype):
        return back(tree, zeros(tree, dtype), "A dtype differs.")

    def kept(tree):
        note = (
            "The second tree is saved and loaded. Then this looks at both: they have not changed."
        )
        wrong = {"": "Your `save` or your `load` has changed a tree that it was given."}
        return Case(looked_at_again, zeros(tree), tree, note=note, if_wrong=wrong)

    one, two, three = random_words(rng, 3)
    plain, nested = {one: vector(rng)}, [layer(), (layer(), None)]
    named = {one: [fine()], two: Layer(count(), None)}
    digits_, whole = {two: fine(), one: fine()}, [count(), mask()]
    # Its places 9 and 10 are in another order as texts.
    deep = {three: Layer([None] * 9 + [vector(rng), vector(rng)], array(number(rng)))}
    rich = {one: layer(), two: [fine(), (count(), mask())]}
    short, long = {one: vector(rng)}, {one: vector(rng), two: vector(rng)}
    both = [[short, long], [long, short]][rng.integers(2)]
    others = [long, {three: vector(rng)}], [[vector(rng)] * 2, [vector(rng)]]
    scalar = {one: array(number(rng))}
    last = max(one, two)  # so that other arrays come before it in the file
    overwritten = "The first tree is `like`. The others are saved to one file, one after the other."
    cases = [
        look(plain),
        look(nested),
        look(named),
        look(*both),
        *[look(*each) for each in others],
        back(plain),
        back(nested),
        back(digits_),
        back(whole),
        back(deep),
        back(rich),
        back({one: array(np.zeros((0, 2))), two: array(number(rng))}),
        part(rich, last),
        part(long, last),
        Case(loaded, zeros(short), *both, note=overwritten),
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
        reshaped({one: matrix(rng)}, {one: array([[1, 2, 3], [4, 5, 6]])}),
        reshaped({one: matrix(rng)}, {one: array([1, 2, 3, 4])}),
        *[applied([layer()]) for _ in range(2)],
        *[applied([layer(), layer()]) for _ in range(2 + rng.integers(2))],
        kept(plain),
        kept(whole),
        look({"layers": [{"w": array([1, 1])}]}),
        back({"layers": [{"w": array([1, 1])}]}),
    ]
    without = ["bare leaf", "paths of one text", *HALF]
    trees = varied_trees(rng, lambda: vector(rng), values=jax.device_put, without=without, rich=0)
    for tree in trees:
        cases += [look(tree)] if rng.random() < 0.5 else [back(tree)]
    yield from shuffled(rng, cases)


@check
def deep_forward(answer, rng):
    """Each layer takes what the one before gave; all outputs in order; one traced layer."""

    def stacked(layers):
        """Draw layers of which, for a vector that is not negative, one output is cut off."""
        w = np.array([rng.choice(np.arange(2, 10), 4, False).reshape(2, 2) for _ in range(layers)])
        signs = np.array([rng.permutation([1, -1]) for _ in range(layers)])
        b = rng.choice([-2, -1, 1], (layers, 2))
        return {"weight": array(w * signs[:, None]), "bias": array(b)}

    @functools.cache
    def compiled():
        """Return one function for all cases, so that each number of layers is compiled once."""
        return jax.jit(answer)

    def call(stacked, x):
        result = compiled()(stacked, x)
        if not is_pair(result):
            return as_jax(result)
        return {"last": as_jax(result[0]), "every": as_jax(result[1])}

    def plainly(stacked, x):
        result = answer(stacked, x)
        return list(map(as_jax, result)) if is_pair(result) else as_jax(result)

    own(answer, plainly)

    def grows(few, many, x):
        """Say whether the program has more equations for many layers than for few."""
        few, many = (equations(jax.make_jaxpr(answer)(each, x)) for each in (few, many))
        return many > few

    def case(layers, x):
        note = {1: "One layer.", 2: "Two layers.", 5: "Five layers."}[layers]
        return Case(call, stacked(layers), x, note=note, if_wrong=said)

    def longer(few):
        more = few + int(rng.integers(2, 5))
        note = "Is the traced program longer for the second tree, which has more layers?"
        inputs = (stacked(few), stacked(more), vector(rng))
        wrong = {"": "Your program is longer for more layers: JAX traces more than one of them."}
        return Case(grows, *inputs, note=note, if_wrong=wrong)

    said = {
        "last": "Your first result is not the output of the last layer.",
        "every": "Your second result is not an array with the output of each layer as a row.",
        "": "`deep_forward` returns two arrays: the last layer's output, and all layers' outputs.",
    }
    cases = [case(layers, vector(rng)) for layers in (1, 1, 2, 2, 5, 5)]
    example = {"weight": array([[[2]], [[3]]]), "bias": array([[0], [1]])}
    cases += [Case(plainly, example, array([1]), note="Two layers.")]
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

    def stays(params, name):
        """Say whether the average stays as it is when the caller changes the parameters."""
        average = start(params)
        before = kinds(average)
        params[name] = None
        return kinds(average) == before

    def apart(**params):
        note = "This calls `average_start`; then the caller sets an entry of the parameters. Does "
        note += "the average stay as it was?"
        wrong = {"": "The average changes when the caller changes the parameters later."}
        return Case(stays, params, next(iter(params)), note=note, if_wrong=wrong)

    def half():
        """Draw numbers that need all digits of bfloat16, of a size that float16 has not."""
        return array((2 * rng.integers(64, 128, 2) + 1) * 2.0**16, jnp.bfloat16)

    def small():
        """Draw numbers that need all digits of float16."""
        return array((2 * rng.integers(512, 1024, 2) + 1) / 1024, np.float16)

    def full():
        """Draw numbers that need more digits than half precision has."""
        return array(1 + rng.random(2))

    def counter():
        """Draw a whole number that float32 does not hold."""
        return array(2**24 + 1 + 2 * rng.integers(1, 1000), np.int32)

    def without_axes():
        return array(1 + rng.random())

    def counters():
        return array(2**24 + 1 + 2 * rng.integers(1, 1000, 2), np.int32)

    def layers(leaf):
        one, two = names
        return {one: [leaf(), None], two: Layer(full(), leaf()), "step": counter()}

    def case(draw, decay=None, fewest=1):
        # It has several digits: half precision does not hold them.
        decay = int(rng.integers(201, 900)) / 1000 if decay is None else decay
        times = int(fewest + rng.integers(3))
        return Case(run, draw(), draw(), decay, times, note=note)

    names = random_words(rng, 2)
    slow = 1 - 1 / 1024
    first = "This calls `average_start`."
    note = "The average starts with the first tree; then come steps with the second one. "
    note += "The last two inputs are the decay, and the number of steps."
    begin = returning_jax(start)
    trees = varied_trees(rng, full, values=jax.device_put, without=["infinity"], rich=0)
    yield from shuffled(
        rng,
        [
            *[case(lambda tree=tree: tree) for tree in trees],
            Case(begin, full(), note=first),
            Case(begin, {"w": full(), "b": half()}, note=first),
            Case(begin, [half(), counter()], note=first),
            Case(begin, {"w": full(), "step": counter()}, note=first),
            case(lambda: full()),
            case(lambda: {"w": full(), "b": full()}, fewest=2),
            case(counter),
            case(lambda: {"w": full(), "step": counter()}, fewest=2),
            case(lambda: {"w": full(), "scale": without_axes()}, fewest=2),
            case(lambda: {"w": full(), "steps": counters()}, fewest=2),
            case(half),
            case(lambda: {"w": half(), "b": full()}),
            case(lambda: (half(), half()), slow, fewest=2),
            case(lambda: [half()], slow, fewest=3),
            case(lambda: layers(half), fewest=2),
            case(lambda: layers(half), slow, fewest=2),
            case(lambda: layers(full)),
            Case(begin, [small(), full()], note=first),
            case(lambda: {"w": small(), "b": full()}),
            case(lambda: [small()], slow, fewest=3),
            kept({"w": full(), "b": full()}, {"w": full(), "b": half()}),
            kept([full(), counter()], [half(), counter()]),
            apart(**{names[0]: full()}),
            apart(**{names[1]: full(), "step": counter()}),
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

    def params_of(*inputs):
        """Every entry of the state has a part in the parameters of the next step."""
        return numbers_of(resumed(*inputs)["params"])

    def in_turn(one, other, like, other_like, steps):
        files = stored(one), stored(other)
        states = loaded(files[0], like), loaded(files[1], other_like)
        return [numbers_of(trained(state, steps)["params"]) for state in states]

    def replaced(one, other, like, steps):
        return trained(loaded(stored(one, other), like), steps)

    def replaced_params(*inputs):
        return numbers_of(replaced(*inputs)["params"])

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

    def go_on(state):
        note = "The first state is saved, the file is moved, and `like` serves to load it. "
        note += "Then training goes on from there: the number says for how many steps."
        return Case(resumed, state, start_of(state), few(), note=note, if_wrong=meaning)

    def same_way(state):
        note = "The first state is saved, the file is moved, and `like` serves to load it. "
        note += "Then training goes on from there. These are the numbers of all parameters."
        wrong = {"": "Training goes on to other parameters than without the stop."}
        inputs = state, start_of(state), 1
        return Case(params_of, *inputs, note=note, if_wrong=wrong)

    def alternate(one, other):
        note = "Both states are saved, each to its own file. Then both files are loaded, "
        note += "and training goes on from each state. These are the numbers of all parameters."
        said = {"": meaning["params"]}
        inputs = one, other, start_of(one), start_of(other), few()
        return Case(in_turn, *inputs, note=note, if_wrong=said)

    def twice(one, other, call=replaced):
        note = "Both states are saved to one file, one after the other; then it is loaded."
        said = meaning
        if call is replaced_params:
            note += " These are the numbers of all parameters, after training went on."
            said = {"": meaning["params"]}
        inputs = one, other, start_of(other), few()
        return Case(call, *inputs, note=note, if_wrong=said)

    def kept(state):
        note = "The first state is saved and loaded. Then this looks at both: have they changed?"
        wrong = {"": "Your functions have changed `state` or `like`: make new dicts."}
        return Case(looked_at_again, state, start_of(state), note=note, if_wrong=wrong)

    def look(state):
        note = "What in the file was pickled?"
        wrong = {"": "NumPy had to pickle something for your file: it was no array of numbers."}
        return Case(pickled, state, note=note, if_wrong=wrong)

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
        params = [array(number(rng)) for _ in range(11 + rng.integers(2))]
        return state_of(params, [vector(rng)])

    def colliding():
        """Draw a state of which some paths have one name, if the entries are only joined."""
        one, two = random_words(rng, 2)
        names = [f"{one}{sign}{two}" for sign in ("_", ".", "-", "")]
        params = {one: {two: vector(rng)}, **{name: vector(rng) for name in names}}
        return state_of(params, (array(number(rng)),))

    def without_optimiser():
        return state_of({random_words(rng, 1)[0]: fine()}, [(), None][rng.integers(2)])

    meaning = {
        "key": "Your key does not come back as the key that was saved.",
        "step": "Your step does not come back as the Python int that was saved.",
        "optimiser": "Your optimiser state does not come back as it was saved.",
        "params": "Training goes on to other parameters than without the stop.",
    }
    without = ["slashed keys", "paths of one text"]
    trees = varied_trees(rng, lambda: vector(rng), without=without, rich=0)
    half = len(trees) // 2
    state = {"params": {"w": array([1, 1])}, "optimiser": (), "step": 3, "key": jax.random.key(0)}
    other = {"params": {"w": array([0, 0])}, "optimiser": (), "step": 0, "key": jax.random.key(1)}
    note = "The first state is saved, the file is moved, and `like` serves to load it."
    cases = [
        *[go_on(flat(True)) for _ in range(2)],
        *[go_on(flat()) for _ in range(1 + rng.integers(2))],
        go_on(counted()),
        go_on(nested()),
        *[same_way(draw()) for draw in (deep, deep, colliding, colliding)],
        go_on(without_optimiser()),
        *[
            same_way(state_of(*pair))
            for pair in zip(trees[: len(trees) - half], trees[half:], strict=True)
        ],
        Case(resumed, state, other, few(), note=note, if_wrong=meaning),
        *[alternate(draw(), counted()) for draw in (flat, nested)],
        twice(flat(), flat()),
        twice(counted(), nested(), replaced_params),
        kept(flat()),
        kept(nested()),
        look(counted()),
        look(nested()),
    ]
    yield from shuffled(rng, cases)


@check
def next_batch(answer, rng):
    """Several batches, each with the key of the last call: the rows, and the last key."""

    def other_form(result):
        """Return what is seen of a result that is not row numbers and one key."""
        if not is_pair(result):
            return type(result).__name__
        rows, key = (str(getattr(each, "dtype", type(each).__name__)) for each in result)
        is_right = key.startswith("key") and np.shape(result[1]) == () and "int" in rows
        return None if is_right else {"rows": rows, "key": f"{key} {np.shape(result[1])}"}

    def batches(seed, count, size, times):
        """Draw batches as a training does."""
        key, rows = jax.random.key(seed), []
        for _ in range(times):
            result = answer(key, count, size)
            if result is ... or (seen := other_form(result)) is not None:
                return ... if result is ... else seen
            rows.append(np.asarray(result[0], np.int32))
            key = result[1]
        return {"rows": rows, "last key": np.asarray(jax.random.key_data(key)).tolist()}

    def again(seed, count, size):
        """Draw a batch twice with one key."""
        results = [answer(jax.random.key(seed), count, size) for _ in range(2)]
        for result in results:
            if result is ... or (seen := other_form(result)) is not None:
                return ... if result is ... else seen
        (rows, key), (other_rows, other_key) = results
        return {
            "equal rows": np.array_equal(rows, other_rows),
            "equal keys": bool(key == other_key),
        }

    def case(size, more, times):
        inputs = int(rng.integers(1000)), int(size + more), int(size), int(times)
        return Case(batches, *inputs, note=note, if_wrong=said)

    def twice(size, more):
        inputs = int(rng.integers(1000)), int(size + more), int(size)
        return Case(again, *inputs, note=one_key, if_wrong=decides)

    note = "The numbers are the seed of the first key, `count`, `size`, and how many batches there "
    note += "are. Each batch is drawn with the key that the last call returned."
    said = {
        "rows": "Your row numbers are not the first `size` numbers of the permutation that the "
        "second key of the split draws.",
        "last key": "The key that you return is not the first key of the split.",
        "": "`next_batch` returns two things: an array of row numbers, and one key.",
    }
    one_key = "The numbers are the seed of a key, `count` and `size`. Two batches are drawn, both "
    one_key += "with this key: are they equal?"
    decides = {
        "equal rows": "Two calls with the same key give different rows. Does your function keep "
        "something from call to call, or draw with NumPy? The caller's key has to decide the rows.",
        "equal keys": "Two calls with the same key return different keys. Does your function keep "
        "something from call to call? The caller's key has to decide both results.",
        "": said[""],
    }
    yield from shuffled(
        rng,
        [
            *[case(rng.integers(3, 6), rng.integers(4, 20), 1) for _ in range(2)],
            *[case(rng.integers(3, 6), rng.integers(4, 20), rng.integers(2, 5)) for _ in range(6)],
            *[case(rng.integers(4, 8), 0, 3) for _ in range(2)],
            case(1, rng.integers(8, 20), 4),
            *[twice(rng.integers(4, 8), rng.integers(8, 20)) for _ in range(2)],
        ],
    )


@check
def updated(answer, rng):
    """The new velocity moves the parameters and comes back; steps are counted; the rest stays."""

    def seen(state):
        """Return what is seen of a state: it does not matter who made its arrays."""
        if not isinstance(state, dict):
            return as_jax(state)
        return {**as_jax(state), **({"step": as_count(state["step"])} if "step" in state else {})}

    def one_step(state, grads, rate, beta):
        result = answer(state, grads, rate, beta)
        return ... if result is ... else seen(result)

    def by_default(state, grads, rate):
        result = answer(state, grads, rate)
        return ... if result is ... else seen(result)

    def steps(state, grads, rates, beta):
        for each, rate in zip(grads, rates, strict=True):
            state = answer(state, each, rate, beta)
            if not isinstance(state, dict):
                return state if state is ... else as_jax(state)
        return seen(state)

    def moved(before, *inputs):
        state = steps(before, *inputs)
        is_seen = isinstance(state, dict) and "params" in state
        return directions(before["params"], state["params"]) if is_seen else state

    own(answer, one_step)
    own(answer, by_default)

    def state_of(params, velocity=None, **more):
        velocity = jax.tree.map(jnp.zeros_like, params) if velocity is None else velocity
        return {"params": params, "velocity": velocity, "step": int(rng.integers(100)), **more}

    def from_given(params, **more):
        state = state_of(params, like(rng, params), **more)
        return Case(one_step, state, like(rng, params), share(rng), share(rng))

    def many(params, **more):
        grads = [like(rng, params) for _ in range(2)]
        rates = [share(rng) for _ in grads]
        note = "A step for each gradient, each with a rate of its own."
        inputs = state_of(params, **more), grads, rates, share(rng)
        return Case(steps, *inputs, note=note, if_wrong=said)

    def two_steps(params):
        """Draw a case of two steps with the same gradients: each number moves one way."""
        grads, rates = [like(rng, params)] * 2, [share(rng) for _ in range(2)]
        inputs = state_of(params), grads, rates, share(rng)
        return Case(moved, *inputs, note=ways, if_wrong=wrong_way)

    said = {
        "velocity": "Your new velocity is not `beta * velocity + gradient`, leaf by leaf.",
        "params": "Your new parameters are not `params - rate * velocity`, leaf by leaf, with the "
        "new velocity.",
        "step": 'Your `"step"` does not grow by 1 in each step.',
        "": "`updated` returns a new state, a dict with all entries of the old one.",
    }
    ways = "Two steps with one gradient. For each number of the parameters: 1 if it became "
    ways += "smaller, -1 if it became larger, 0 if it is as it was."
    wrong_way = {"": "In this tree, your parameters do not move against the gradients."}
    nine = "This calls `updated` without `beta`."
    one, two = random_words(rng, 2)

    def flat():
        return {one: vector(rng), two: vector(rng)}

    def by_nine():
        params = flat()
        inputs = state_of(params, like(rng, params)), like(rng, params), share(rng)
        return Case(by_default, *inputs, note=nine)

    # No two cases share an array: an answer may donate what it gets, and so delete it.
    cases = [
        *[from_given(flat()) for _ in range(2)],
        from_given(flat(), **{f"{one}s": vector(rng)}),
        many(flat(), **{f"{two}s": [vector(rng)]}),
        *[by_nine() for _ in range(2)],
        *[
            after(answer, "updated", state_of(tree), like(rng, tree), share(rng), share(rng))
            for tree in (flat(), {one: [matrix(rng), None], two: vector(rng)})
        ],
    ]
    without = ["infinity", *HALF]
    leaf = partial(vector, rng)
    trees = varied_trees(rng, leaf, values=jax.device_put, without=without, rich=0)
    cases += [two_steps(params) for params in trees]
    yield from shuffled(rng, cases)


@check
def make_warm_step(answer, rng):
    """The rate of each step, by the state's count; the loss; when Python runs it."""

    def loss(params, x, labels):
        return sum(jnp.sum((leaf * x - labels) ** 2) for leaf in jax.tree.leaves(params))

    def noting(rate_at):
        """Return the learner's step, and what Python ran so far: the loss, or `updated`."""
        runs = []

        def noted(params, x, labels):
            runs.append("loss")
            return loss(params, x, labels)

        def updated(state, grads, rate):
            runs.append("updated")
            params = jax.tree.map(lambda p, g: p - rate * g, state["params"], grads)
            return {**state, "params": params, "rate": rate, "step": state["step"] + 1}

        return answer(noted, updated, rate_at), runs

    def counted(runs):
        loss, update = (runs.count(name) for name in ("loss", "updated"))
        return {"runs of the loss in Python": loss, "runs of `updated` in Python": update}

    def steps(state, x, labels, rate_at, times):
        """Return what each of several steps gives, and how often Python ran the loss in it."""
        step, runs = noting(rate_at)
        if not callable(step):
            return step
        seen = []
        for place in range(times):
            runs.clear()
            result = step(state, x, labels)
            if not is_pair(result) or not isinstance(result[0], dict):
                return as_jax(result)
            state, value = result
            entries = {"rate": as_scalar(state["rate"]), "step": as_count(state["step"])}
            entries["params"] = as_jax(state["params"])
            seen.append(entries | {"loss": as_scalar(value)})
            if place > 0:
                seen[-1] |= counted(runs)
        return seen

    def again(state, x, labels, top):
        """Make one step twice, from the same state: what does Python run in the second call?"""
        step, runs = noting(partial(warm, top))
        if not callable(step):
            return step
        first = step(state, x, labels)
        if not is_pair(first):
            return as_jax(first)
        runs.clear()
        value = step(state, x, labels)[1]
        return {"loss": as_scalar(value)} | counted(runs)

    def warm(top, done):
        return top * jnp.minimum(1, (done + 1) / 100)

    def halved(top, limit, done):
        return jnp.where(done < limit, jnp.float32(top), jnp.float32(top / 2))

    def warming_up(state, x, labels, top, times):
        return steps(state, x, labels, partial(warm, top), times)

    def much_later(state, x, labels, top, limit, times):
        return steps(state, x, labels, partial(halved, top, limit), times)

    def given(tree, begin):
        params = jax.tree.map(lambda _: vector(rng), tree)
        state = {"params": params, "rate": array(0), "step": array(begin, np.int32)}
        return state, vector(rng), vector(rng), int(rng.integers(11, 130)) / 200

    def training(tree, begin):
        inputs = *given(tree, begin), 2 + int(rng.integers(3))
        return Case(warming_up, *inputs, note=note, if_wrong=said)

    def long_training(tree):
        """Draw a case in which the rate changes after more steps than a table would have."""
        limit = int(rng.integers(20_000, 60_000))
        inputs = *given(tree, limit - 1), limit, 2 + int(rng.integers(2))
        return Case(much_later, *inputs, note=halving, if_wrong=said)

    of_loss = "The loss is the sum of `(leaf * x - labels) ** 2`, over all leaves. "
    of_update = "`updated` subtracts `rate` times the gradient, and puts the rate into the state."
    note = of_loss + "The rate grows for 100 steps, up to the first number. The second number says "
    note += "how many steps are made. " + of_update
    halving = of_loss + "The rate is the first number, and half of it after as many steps as the "
    halving += "second number says. The third number says how many steps are made. " + of_update
    said = {
        "runs of the loss in Python too high": "Python runs the loss function in a later call "
        "too, not only in the first.",
        "runs of `updated` in Python too high": "Python runs `updated` in a later call too: it is "
        "not a part of the jitted step.",
        "rate": "Your rate is not `rate_at` of the number of steps before.",
        "step": 'Your `"step"` does not grow by 1 in each step.',
        "params": "Your parameters are not those that `updated` returns.",
        "loss": "Your loss is not the loss at the old parameters.",
        "": "`make_warm_step` returns a function. This function returns two things: the new state, "
        "and the loss at the old parameters.",
    }
    nested = {"table": [0, None], "scale": Layer((0,), {})}
    cases = [training(tree, 0) for tree in ({"scale": 0}, nested)]
    cases += [training(tree, int(rng.integers(5, 95))) for tree in (0, {"scale": 0})]
    cases += [long_training(tree) for tree in (0, {"scale": 0})]
    twice = note.replace(
        "The second number says how many steps are made.", "The step is made twice."
    )
    cases += [Case(again, *given([0, 0], int(rng.integers(95))), note=twice, if_wrong=said)]
    yield from shuffled(rng, cases)


# What the reader writes in the lesson itself.


def network(rng, *sizes):
    """Draw a small network with ten outputs."""
    widths = [*sizes, 10]
    return [
        {
            "weight": array(rng.integers(-4, 5, pair) / 4),
            "bias": array(rng.integers(-4, 5, pair[1]) / 4),
        }
        for pair in itertools.pairwise(widths)
    ]


def pictures(rng, width, count):
    """Draw a batch: some pictures and their labels, no two of which are equal."""
    labels = rng.choice(10, count, replace=False)
    return array(rng.integers(0, 5, (count, width)) / 4), array(labels, np.int32)


@check
def loss_of_one(answer, rng):
    """A single number for any width, any label, of a network that is sure or not."""

    def call(params, x, label):
        return as_scalar(answer(params, x, label))

    def case(label, *sizes):
        x = array(rng.integers(0, 5, sizes[0]) / 4)
        return Case(own(answer, call), network(rng, *sizes), x, int(label))

    labels = rng.permutation(np.arange(1, 9))[:4]
    cases = [case(label, 2) for label in labels[:2]]
    cases += [case(label, 3, 2) for label in labels[2:]]
    cases += [case(0, 2), case(9, 2), case(0, 2, 2)]
    yield from shuffled(rng, cases)


@check
def step(answer, rng):
    """Against the gradient, by the rate; the loss before the step; the old parameters stay."""

    def call(params, batch, rate):
        result = answer(params, batch, rate)
        if not is_pair(result):
            return as_jax(result)
        return {"params": as_jax(result[0]), "loss": as_scalar(result[1])}

    def inputs(*sizes):
        return network(rng, *sizes), pictures(rng, sizes[0], 1 + int(rng.integers(3))), share(rng)

    said = {
        "params": "Your new parameters are not `p - rate * g`, with `g` the gradient of the loss.",
        "loss": "Your second result is not the loss at the old parameters.",
        "": "`step` returns two things: the new parameters, and the loss at the old ones.",
    }
    cases = [Case(call, *inputs(*sizes), if_wrong=said) for sizes in ([1], [2], [2], [2, 1])]
    cases += [Case(call, *inputs(*sizes), if_wrong=said) for sizes in ([1], [1, 2])]
    # Larger than other cases: of those that fail, the smallest one is shown.
    cases += [after(answer, "step", *inputs(2, 2)) for _ in range(2)]
    yield from shuffled(rng, cases)


@check
def momentum_step(answer, rng):
    """One step or several; the velocity moves the parameters and comes back; steps are counted."""

    def seen(state):
        if not isinstance(state, dict):
            return as_jax(state)
        return {**as_jax(state), **({"step": as_count(state["step"])} if "step" in state else {})}

    def one_step(state, batch, rate):
        return seen(answer(state, batch, rate))

    def many_steps(state, batch, rates):
        for rate in rates:
            state = answer(state, batch, rate)
            if not isinstance(state, dict):
                return as_jax(state)
        return seen(state)

    def inputs(*sizes):
        params = network(rng, *sizes)
        state = {"params": params, "velocity": like(rng, params), "step": int(rng.integers(100))}
        return state, pictures(rng, sizes[0], 1 + int(rng.integers(3)))

    def several_rates():
        return [share(rng) for _ in range(2 + rng.integers(2))]

    said = {
        "params": "Your parameters do not move by the updates that `momentum` returns.",
        "velocity": "Your velocity is not the one that `momentum` returns.",
        "step": 'Your `"step"` does not grow by 1 in each step.',
        "": "`momentum_step` returns one state: a dict with the same three entries.",
    }
    more = "Several steps with one batch, each with a rate of its own."
    cases = [Case(one_step, *inputs(*sizes), share(rng), if_wrong=said) for sizes in ([1], [2, 1])]
    cases += [
        Case(many_steps, *inputs(*sizes), several_rates(), note=more, if_wrong=said)
        for sizes in ([1], [1], [1, 1])
    ]
    # Larger than other cases: of those that fail, the smallest one is shown.
    cases += [after(answer, "momentum_step", *inputs(2), share(rng)) for _ in range(2)]
    yield from shuffled(rng, cases)


@check
def keep_frozen(answer, rng):
    """The old leaf for one label and the new one for the other, in any tree."""

    def case(roles):
        trees = [jax.tree.map(lambda _: vector(rng), roles) for _ in range(2)]
        return Case(returning_jax(answer), roles, *trees)

    def either_role():
        return str(rng.choice(["frozen", "train"]))

    one, two = random_words(rng, 2)
    first, second = (str(role) for role in rng.permutation(["frozen", "train"]))
    cases = [
        case({one: first, two: second}),
        case([first, second]),
        case([{"bias": first, "weight": first}, {"bias": second, "weight": second}]),
        case([{"bias": second, "weight": first}, {"bias": either_role(), "weight": second}]),
        case({one: [first, (second, first)], two: either_role()}),
        case({one: "frozen", two: "frozen"}),
        case(["frozen", ["frozen"]]),
        case({one: "train", two: "train"}),
        case(["train", {one: "train"}]),
    ]
    yield from shuffled(rng, cases)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
