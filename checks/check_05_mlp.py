"""Checks of lesson 5, an MLP from scratch.

python checks/check_05_mlp.py exercises/05_mlp_exercises.ipynb
"""

import functools
import inspect
import itertools
import shutil
import tempfile
import weakref
from collections import namedtuple
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from pytree_course.cases import (
    Case,
    as_jax,
    check,
    matrix,
    prediction_cases,
    random_words,
    returning_jax,
    shuffled,
    vector,
)


class Layer(NamedTuple):
    """A node, as all named tuples are."""

    w: Any
    b: Any


class Cell(eqx.Module):
    """A layer that holds more than parameters."""

    weight: Any
    activation: Any
    rate: Any = None
    table: Any = None


@jax.tree_util.register_dataclass
@dataclass
class Data:
    """A model that cannot be called."""

    body: Any
    body2: Any
    head: Any


class Model(eqx.Module):
    """A model that can be called: its labels can be called too."""

    body: Any
    body2: Any
    head: Any

    def __call__(self, x):
        return (self.head @ x) * self.body2


OPTIMISERS = {
    "sgd": optax.sgd(0.25),
    "momentum": optax.sgd(0.25, momentum=0.5),
    "decay": optax.chain(optax.add_decayed_weights(0.5), optax.sgd(0.25, momentum=0.5)),
    "MultiSteps": optax.MultiSteps(optax.sgd(0.25), 2),
}


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


def count(rng):
    """Draw a whole number that float32 does not hold."""
    return array(2**24 + 1 + 2 * rng.integers(1, 1000), np.int32)


def small_trees(rng):
    """Draw trees of the kinds with which answers differ."""
    one, two = random_words(rng, 2)
    a, b, c = (partial(vector, rng) for _ in range(3))
    return [
        a(),
        {one: a()},
        [a(), b()],
        (a(), b()),
        Layer(a(), b()),
        {one: {two: a()}, two: b()},
        [{one: a(), two: b()}, {one: c()}],
        {one: Layer(a(), b()), two: None},
        {one: [a(), (b(),)], two: {}},
        {one: matrix(rng), two: array(number(rng))},
    ]


def like(rng, tree):
    """Draw numbers of both signs for each leaf of a tree."""
    return jax.tree.map(lambda leaf: signed(rng, *leaf.shape).astype(leaf.dtype), tree)


def coarse(tree):
    """Round to float16: what comes after its three digits is a matter of how one calculates."""
    with np.errstate(over="ignore"):
        return jax.tree.map(lambda leaf: np.asarray(leaf).astype(np.float16), tree)


def as_scalar(result):
    """Let a number count as an array without axes: it does not matter here which it is."""
    is_number = isinstance(result, (float, np.number, np.ndarray, jax.Array))
    return float(result) if is_number and np.ndim(result) == 0 else as_jax(result)


def as_count(result):
    """Let any whole number count as an int."""
    is_number = isinstance(result, (int, float, np.number, np.ndarray, jax.Array))
    return int(result) if is_number and np.ndim(result) == 0 and result == int(result) else result


def as_state(result):
    """Let a state's arrays be NumPy's or JAX's, and its count an int or an array."""
    if not isinstance(result, dict) or "step" not in result:
        return as_jax(result)
    return {**as_jax(result), "step": as_count(result["step"])}


def keeping_width(tree):
    """Let NumPy's arrays of 32 bits count as JAX's; those of 64 bits are seen as they are."""
    is_wide = any(getattr(leaf, "dtype", None) == np.float64 for leaf in jax.tree.leaves(tree))
    return tree if is_wide else as_jax(tree)


def by_path(tree):
    """Return the leaves by their paths, with names for functions: no class says how it is made."""

    def seen(leaf):
        return f"function {getattr(leaf, '__name__', '')}" if callable(leaf) else leaf

    leaves = jax.tree.leaves_with_path(as_jax(tree))
    return {jax.tree_util.keystr(path): seen(leaf) for path, leaf in leaves}


def is_pair(result):
    return isinstance(result, (tuple, list)) and len(result) == 2


def named(result, **looks):
    """Name the two things in the tuple that an answer returned; anything else is seen as it is."""
    if not is_pair(result):
        return as_jax(result)
    parts = [look(part) for look, part in zip(looks.values(), result, strict=True)]
    return namedtuple("tuple", looks)(*parts)


def own(answer, call):
    """Say that what a call returns is the answer's own result, in another form."""
    call.__signature__ = inspect.signature(call)  # its inputs keep the names that they have here
    call.__wrapped__ = answer
    return call


def after(answer, called, *inputs):
    """Make a case that looks at the inputs once more, when the answer was called with them."""

    def look(*given):
        return ... if answer(*given) is ... else given

    note = f"This calls `{called}`, and then looks at what it was given: it has not changed."
    changed = f"Your `{called}` has changed what it was given. Its arguments belong to the caller: "
    changed += "return new dicts and lists."
    return Case(look, *inputs, note=note, if_wrong={"": changed})


def files_of(save):
    """Return a function that saves trees to one new file, one after the other."""
    folder, places = tempfile.mkdtemp(), itertools.count()

    def saved(*trees):
        file = Path(folder, f"{next(places)}.npz")
        for tree in trees:
            save(str(file), tree)
        return str(file)

    # The cases may be called when the check has ended, so no `with`.
    weakref.finalize(saved, shutil.rmtree, folder, ignore_errors=True)
    return saved


def pickled_in(file):
    """Return the names of a file's arrays that NumPy had to pickle."""
    with np.load(file, allow_pickle=True) as arrays:
        return [name for name in arrays.files if arrays[name].dtype.hasobject]


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

        step, seen = answer(counted), []
        if not callable(step):
            return step
        for place, rate in enumerate(rates):
            runs = 0
            result = step(params, x, y, rate)
            if not is_pair(result):
                return result
            params = result[0]
            # Copies: a step may donate the parameters that it gets.
            copied = jax.tree.map(np.array, params)
            seen += [{"params": as_jax(copied), "loss": as_scalar(result[1])}]
            if place > 0:
                seen[-1]["runs of the loss in Python"] = runs
        return seen

    def outside(params, x, y, rate):
        """Count the programs, and the arrays that are computed outside of them."""
        step = answer(loss)
        if not callable(step):
            return step
        jaxpr = jax.make_jaxpr(lambda *inputs: step(*inputs, rate))(params, x, y)
        jitted = [each.primitive.name in ("jit", "pjit") for each in jaxpr.eqns]
        eager = [each for each, is_jit in zip(jaxpr.eqns, jitted, strict=True) if not is_jit]
        arrays = [out for each in eager for out in each.outvars if out.aval.shape]
        return {"programs": sum(jitted), "arrays outside": len(arrays)}

    def draw(tree):
        params = jax.tree.map(lambda _: vector(rng), tree)
        return params, vector(rng), vector(rng)

    # Key paths of results are part of a compiled program, so they are the same each time.
    flat, nested = {"scale": 0}, {"table": [0, None], "scale": Layer((0,), {})}
    rate, *rates = (int(each) / 1000 for each in rng.choice(np.arange(11, 130), 5, replace=False))
    note = "The loss is the sum of `(leaf * x - y) ** 2`, over all leaves. "
    each = note + "Each number is the rate of one step; the steps follow one another."
    parts_note = note + "How much is computed outside of `jax.jit`?"
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
        "arrays outside": "Your step computes arrays outside of `jax.jit`.",
        "": two,
    }
    several = [(nested, rate, rate), (0, *rates[:2]), ([0, 0], rates[2], 0.0, rates[3])]
    cases = [Case(steps, {"w": array(1)}, array(1), array(3), 0.25, note=each, if_wrong=one)]
    cases += [Case(steps, *draw(flat), rate, note=each, if_wrong=one) for _ in range(2)]
    for tree, *rates in several:
        cases += [Case(steps, *draw(tree), *rates, note=each, if_wrong=said)]
    for tree in (flat, nested):
        cases += [Case(outside, *draw(tree), rate, note=parts_note, if_wrong=parts)]
    yield from shuffled(rng, cases)


@check
def momentum(start, step, rng):
    """The new velocity moves the parameters; it is remembered, with no rate in it."""

    def first_velocity(params):
        return keeping_width(start(params))

    def one_step(params, grads, velocity, rate, beta):
        result = step(params, grads, velocity, rate, beta)
        return named(result, params=as_jax, velocity=as_jax)

    def many_steps(params, grads, rates, beta):
        velocity = start(params)
        for each, rate in zip(grads, rates, strict=True):
            result = step(params, each, velocity, rate, beta)
            if not is_pair(result):
                return as_jax(result)
            params, velocity = result
        return named(result, params=as_jax, velocity=as_jax)

    def twice(*inputs):
        one_step(*inputs)
        return one_step(*inputs)

    def given(params):
        return params, like(rng, params), like(rng, params), share(rng), share(rng)

    def from_given(params, call=one_step, note="This calls `momentum_step`."):
        return Case(call, *given(params), note=note, if_wrong=said)

    def steps(params):
        note = "From the first velocity on, a step for each gradient, each with a rate of its own."
        inputs = [like(rng, params) for _ in range(2)], [share(rng) for _ in range(2)], share(rng)
        return Case(many_steps, params, *inputs, note=note, if_wrong=said)

    own(start, first_velocity)
    said = {
        "velocity": "Your new velocity is not `beta * velocity + gradient`, leaf by leaf.",
        "params": "Your new parameters are not `params - rate * velocity`, leaf by leaf, with the "
        "new velocity.",
        "": "`momentum_step` returns two things: the new parameters, and the new velocity.",
    }
    first = "This calls `start`."
    again = "This calls `momentum_step` twice with these arguments. The second result:"
    example = array(5), array(1), array(2), 0.5, 0.5
    starts = [{"w": array([1, 2])}, vector(rng), {"w": matrix(rng), "b": vector(rng)}]
    starts += [[Layer(matrix(rng), None), {"b": (vector(rng),)}], (vector(rng), None)]
    starts += [array(rng.permutation([np.nan, 1])), [vector(rng), array([np.nan])]]
    cases = [Case(first_velocity, params, note=first) for params in starts]
    cases += [Case(one_step, *example, note="This calls `momentum_step`.", if_wrong=said)]
    # No two cases share an array: an answer may donate what it gets, and so delete it.
    cases += [from_given({"w": vector(rng), "b": vector(rng)}) for _ in range(2)]
    cases += [from_given(tree, twice, again) for tree in ({"w": vector(rng)}, {"b": vector(rng)})]
    for params in ({"w": vector(rng)}, {"w": [matrix(rng), None], "b": vector(rng)}):
        cases += [after(step, "momentum_step", *given(params))]
    others = [tree for tree in small_trees(rng) if not isinstance(tree, dict)]
    cases += [steps(params) for params in others]
    yield from shuffled(rng, cases)


@check
def train_step(start, step, rng):
    """Arrays of floats are trained, all else comes back; the state keeps its structure."""

    def loss(model):
        leaves = jax.tree.leaves(model)
        numbers = [jnp.asarray(leaf, jnp.float32) for leaf in leaves if eqx.is_array_like(leaf)]
        return sum(jnp.sum(each**2) for each in numbers) * len(leaves)

    def kinds(tree):
        """Return what `scan` compares: the structure, and the shape and dtype of each leaf."""
        leaves, structure = jax.tree.flatten(tree)
        return structure, [(np.shape(leaf), getattr(leaf, "dtype", None)) for leaf in leaves]

    def steps(model, optimiser, times):
        tool = OPTIMISERS[optimiser]
        state = start(model, tool)
        first = kinds(state)
        for _ in range(times):
            result = step(model, state, tool, loss)
            if not is_pair(result):
                return as_jax(result)
            model, state = result
        return {"model": by_path(model), "state kept": kinds(state) == first}

    def case(model, optimiser, times=None):
        inputs = model, optimiser, times or 2 + int(rng.integers(2))
        return Case(steps, *inputs, note=note, if_wrong=wrong)

    def table():
        return array(rng.integers(1, 9, 2), np.int32)

    def cell(**more):
        return Cell(vector(rng), (jax.nn.relu, jax.nn.tanh)[rng.integers(2)], **more)

    note = "The optimiser is `optax.sgd`, with what the second input says. The third one says how "
    note += "many steps are made. The loss is the sum of all squares, times the number of leaves."
    wrong = {
        "state kept False": "The state that your `train_step` returns has another structure, "
        "or other dtypes, than the one that it got: `scan` could not carry it.",
        "model": "In your new model, not all leaves are right: floating-point arrays move, and "
        "every other leaf comes back.",
        "": "`train_step` returns two things: the new model, and the new state.",
    }
    one, two = random_words(rng, 2)
    shown = {"f": jax.nn.relu, "w": array([4])}
    mlp = eqx.nn.MLP(2, 2, 2, 1, key=jax.random.key(0))
    mlp = jax.tree.map(lambda leaf: signed(rng, *leaf.shape) if eqx.is_array(leaf) else leaf, mlp)
    cases = [case(shown, "sgd", 1), case(shown, "momentum"), case(mlp, "momentum", 2)]
    cases += [case({one: vector(rng), two: vector(rng)}, way) for way in ("momentum", "decay")]
    cases += [case({one: vector(rng), two: table()}, way) for way in ("sgd", "momentum")]
    cases += [case([vector(rng), share(rng)], way) for way in ("sgd", "decay")]
    half = vector(rng).astype(jnp.float16)
    cases += [case({one: vector(rng), two: half}, way, 1) for way in ("sgd", "decay")]
    cases += [case([{one: vector(rng), two: "relu"}, None], way) for way in ("sgd", "momentum")]
    cases += [case(cell(rate=share(rng), table=table()), way) for way in OPTIMISERS]
    cases += [case(cell(rate=share(rng), table=table()), "MultiSteps")]
    cases += [case({one: cell(), two: cell()}, "decay")]
    cases += [case((vector(rng), [number(rng)]), way) for way in ("sgd", "momentum")]
    yield from shuffled(rng, cases)


@check
def freeze_part(answer, rng):
    """One field stays, with any optimiser, also in a model that can be called."""

    def steps(model, part, optimiser, grads):
        """Return the model after a step for each gradient."""
        tool = answer(model, part, OPTIMISERS[optimiser])
        if not (hasattr(tool, "init") and hasattr(tool, "update")):
            return tool
        state = tool.init(model)
        for each in grads:
            updates, state = tool.update(each, state, model)
            model = eqx.apply_updates(model, updates)
        return by_path(model)

    def case(model, part, optimiser, times=None):
        grads = [like(rng, model) for _ in range(times or 1 + int(rng.integers(2)))]
        return Case(steps, model, part, optimiser, grads, note=note)

    def linear(inputs=1, outputs=2):
        return like(rng, eqx.nn.Linear(inputs, outputs, key=jax.random.key(0)))

    def nested(kind):
        return kind({"head": leaf(), "w": [leaf()]}, leaf(), {"body": leaf(), "b": (leaf(), None)})

    leaf = partial(vector, rng)
    own(answer, steps)
    note = "The model after a step for each gradient, leaf by leaf. The optimiser is `optax.sgd`, "
    note += "with what the third input says."
    first, other = (str(part) for part in rng.permutation(["weight", "bias"]))
    part, last = (str(part) for part in rng.permutation(["body", "head"]))
    pair, one = Model(Model(leaf(), [leaf()], None), None, Data(leaf(), leaf(), ())), leaf()
    cases = [case(linear(), "weight", "sgd", 1), case(linear(2, 1), first, "momentum")]
    cases += [case(Data(leaf(), leaf(), leaf()), part, way) for way in ("sgd", "decay")]
    cases += [case(nested(Data), each, "decay") for each in (last, "body2")]
    cases += [
        case(Model(leaf(), leaf(), leaf()), each, "sgd") for each in ("body", "body2", "head")
    ]
    cases += [case(nested(Model), part, way) for way in ("momentum", "decay")]
    cases += [case(linear(), other, "decay"), case(pair, part, "momentum")]
    cases += [case(kind(one, leaf(), one), part, "sgd") for kind in (Data, Model)]
    cases += [case(Data({"head": leaf()}, None, []), part, "sgd"), case(pair, last, "decay")]
    yield from shuffled(rng, cases)


@check
def adam(start, step, rng):
    """Where the correction and the tiny number show: first steps, gradients that stay 0."""

    def numbers(tree, params):
        """Put the numbers of all leaves into one array, of a tree with this structure."""
        if jax.tree.structure(tree) != jax.tree.structure(params):
            return as_jax(tree)
        return coarse(np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(tree)]))

    def seen(params, result, rate):
        is_state = is_pair(result) and isinstance(result[1], dict)
        if not is_state or not {"m", "v", "t"} <= result[1].keys():
            return as_jax(result)
        new, state = result
        if jax.tree.structure(new) == jax.tree.structure(params):
            new = jax.tree.map(lambda old, new: (old - np.asarray(new)) / rate, params, new)
        trees = {"steps in rates": new, "m": state["m"], "v": state["v"]}
        found = {name: numbers(tree, params) for name, tree in trees.items()}
        return {**found, "t": as_count(state["t"])}

    def first_state(params):
        state = start(params)
        if not isinstance(state, dict) or not {"m", "v", "t"} <= state.keys():
            return as_jax(state)
        return {**keeping_width(state), "t": as_count(state["t"])}

    def one_step(params, grads, state, rate):
        return seen(params, step(params, grads, state, rate), rate)

    def many_steps(params, grads, rate, step=step):
        now, state = params, start(params)
        for each in grads:
            result = step(now, each, state, rate)
            if not is_pair(result):
                return as_jax(result)
            now, state = result
        return seen(params, result, rate)

    def under_jit(params, grads, rate):
        return many_steps(params, grads, rate, jax.jit(step))

    def steps(params, times=2, call=many_steps, small=None):
        """Draw a case; one number of each gradient may be a small one."""
        grads = [like(rng, params) for _ in range(times)]
        if small is not None:
            grads = [array(rng.permutation([small, number(rng)])) for _ in grads]
        more = " `adam_step` runs under `jax.jit`." if call is under_jit else ""
        inputs = params, grads, number(rng) / 16
        return Case(call, *inputs, note=note + more, if_wrong=meaning)

    def given(params):
        m = jax.tree.map(lambda leaf: leaf / 4, like(rng, params))
        v = jax.tree.map(lambda leaf: leaf**2 / 16, like(rng, params))
        return params, like(rng, params), {"m": m, "v": v, "t": number(rng)}, number(rng) / 16

    meaning = {
        "t": "Your `t` is not the number of steps.",
        "m": "Your new `m` is not `0.9 * m + 0.1 * g`, from zeros at the start.",
        "v": "Your new `v` is not `0.999 * v + 0.001 * g²`, from zeros at the start.",
        "steps in rates": "Your parameters do not move as the last line of the formula says.",
        "": "`adam_step` returns the new parameters, and a state with `m`, `v` and `t`.",
    }
    note = "A step for each gradient. `steps in rates`: how far the parameters came, over the "
    note += "rate. Each array holds the numbers of all leaves."
    later = "One step, from a state in the middle of a training. Each array holds the numbers "
    later += "of all leaves."
    example = {"w": array([1, 2])}, [{"w": array([3, 0])}], 0.25
    cases = [Case(many_steps, *example, note=note, if_wrong=meaning)]
    for params in (vector(rng), {"w": [matrix(rng), None], "b": Layer(vector(rng), ())}):
        cases += [Case(own(start, first_state), params, note="This calls `adam_start`.")]
    for small, times in ((0.0, 1), (0.0, 2), (1e-7, 1), (-2e-7, 2)):
        cases += [steps(vector(rng), times, small=small)]
    for params in (vector(rng), {"w": vector(rng), "b": vector(rng)}):
        cases += [Case(one_step, *given(params), note=later, if_wrong=meaning)]
        cases += [steps(params, call=under_jit), after(step, "adam_step", *given(params))]
    cases += [steps(params) for params in small_trees(rng)[::2]]
    yield from shuffled(rng, cases)


@check
def freeze(label_tree, step, rng):
    """Paths as whole entries, from the start; frozen leaves stay, whatever their gradient is."""

    def leaf():
        return vector(rng)

    def layer():
        return {"w": leaf(), "b": leaf()}

    def label(params, *frozen):
        return Case(label_tree, params, list(frozen), note="This calls `label_tree`.")

    def some(params):
        """Choose leaves and parts of a tree, by their paths."""
        ways = [path[:end] for path, _ in jax.tree.leaves_with_path(params) for end in (1, 2)]
        texts = {jax.tree_util.keystr(way, simple=True, separator="/") for way in ways}
        return [str(text) for text in rng.choice(sorted(texts), min(2, len(texts)), replace=False)]

    def train(labels, spoiled=""):
        """Draw parameters, and gradients that are no numbers where a leaf has this label."""

        def gradient(label):
            is_spoiled = label == spoiled
            return array(rng.permutation([np.nan, np.inf])) if is_spoiled else signed(rng, 2)

        params, grads = jax.tree.map(lambda _: leaf(), labels), jax.tree.map(gradient, labels)
        inputs = params, grads, labels, share(rng)
        return Case(returning_jax(step), *inputs, note="This calls `frozen_step`.")

    def either():
        return str(rng.choice(["train", "frozen"]))

    one, two, three = random_words(rng, 3)
    at = int(rng.integers(1, 3))
    many = {one: [leaf() for _ in range(10 * at + 2)], f"{one}2": leaf(), f"{one}_{two}": layer()}
    deep = {two: leaf(), one: {two: leaf(), three: [leaf(), {two: layer()}]}}
    cases = [
        label({"body": [array([1, 1])] * 2, "head": array([1, 1])}, "body/0"),
        label({"a": leaf(), "b": leaf()}),
        label({one: [layer(), None], two: layer()}, one),
        label([layer(), (layer(),)], "0/w", "1"),
        label(many, f"{one}/{at}"),
        label(many, one),
        label(many, f"{one}/{at}", f"{one}/{at + 1}", f"{one}_{two}/b"),
        *[label(deep, part) for part in (two, one, f"{one}/{two}", f"{one}/{three}/1")],
        label([[leaf(), {"w": [leaf()] * 3}], leaf(), leaf()], str(at), "0/1"),
        label({f"{one}.{two}": leaf(), f"{one}_{two}": leaf()}, f"{one}.{two}"),
        label({f"({one}": leaf(), two: layer()}, f"({one}"),
        *[label(tree, *some(tree)) for tree in small_trees(rng)[3:]],
        *[after(label_tree, "label_tree", tree, [one]) for tree in ({one: layer()}, deep)],
    ]
    example = [{"a": array(each), "b": array(each)} for each in (4, 2)]
    example += [{"a": "train", "b": "frozen"}, 0.5]
    cases += [Case(returning_jax(step), *example, note="This calls `frozen_step`.")]
    for spoiled in ("", "frozen"):
        a, b = (str(each) for each in rng.permutation(["train", "frozen"]))
        cases += [train({"a": a, "b": b}, spoiled), train([{"a": a}, (b, None)], spoiled)]
        cases += [train({one: [a, (either(),)], two: Layer(b, either()), three: []}, spoiled)]
    cases += [train("frozen"), train("train"), train({"a": "train", "b": either()}, "train")]
    cases += [train([either(), ("train",)], "train")]
    for labels in ({"a": "train", "b": [either()]}, {"a": {"b": "train"}, "c": either()}):
        params, grads = (jax.tree.map(lambda _: leaf(), labels) for _ in range(2))
        cases += [after(step, "frozen_step", params, grads, labels, share(rng))]
    yield from shuffled(rng, cases)


@check
def save_and_load(save, load, rng):
    """Names by path, no pickle, dtypes; parts of a model; what is missing or has another shape."""
    file_of = files_of(save)

    def names(*trees):
        file = file_of(*trees)
        with np.load(file, allow_pickle=True) as arrays:
            return {"pickled": pickled_in(file), "names": sorted(arrays.files)}

    def loaded(like, *trees):
        return as_jax(load(file_of(*trees), like))

    def looked_at_again(like, tree):
        load(file_of(tree), like)
        return like, tree

    def zeros(tree):
        return jax.tree.map(lambda leaf: array(np.zeros(leaf.shape), leaf.dtype), tree)

    def look(*trees):
        note = "The names in the file. Trees are saved to it one after the other."
        return Case(names, *trees, note=note, if_wrong=said)

    def back(tree, like=None, more=""):
        note = "The first tree is `like`; the second one is saved, and then loaded."
        return Case(loaded, zeros(like or tree), tree, note=f"{note} {more}".strip())

    def kept(tree):
        note = "The second tree is saved and loaded. Have the two trees changed?"
        wrong = {"": "Your `save` or your `load` has changed a tree that it was given."}
        return Case(looked_at_again, zeros(tree), tree, note=note, if_wrong=wrong)

    own(load, loaded)
    said = {
        "pickled": "NumPy had to pickle something for your file: it was no array of numbers.",
        "names": "The names in your file are not the paths of the leaves of the last tree.",
    }
    one, two, three = random_words(rng, 3)
    layers = [{"w": matrix(rng), "b": vector(rng)} for _ in range(2)]
    plain, nested = {one: vector(rng)}, [layers[0], (layers[1], None)]
    # Its places 9 and 10 are in another order as texts.
    deep = {three: Layer([None] * 9 + [vector(rng), vector(rng)], array(number(rng)))}
    rich = {one: layers[0], two: [array([rng.random() / 3, 1e6]), (count(rng), vector(rng))]}
    short, long = {one: vector(rng)}, {one: vector(rng), two: vector(rng)}
    both = [[short, long], [long, short]][rng.integers(2)]
    last = max(one, two)  # so that other arrays come before it in the file
    fewer, other = "It asks for a part only.", "A shape differs."
    square = {one: matrix(rng)}
    example = {"layers": [{"w": array([1, 1])}]}
    cases = [
        look(example),
        back(example),
        look(plain),
        look(nested),
        look(*both),
        look(long, plain),
    ]
    cases += [
        look({one: Layer(vector(rng), ()), two: (vector(rng),)}),
        look(rich),
        look(rich, plain),
    ]
    cases += [back(tree) for tree in (plain, nested, deep, rich, [count(rng), {one: count(rng)}])]
    cases += [back(tree) for tree in small_trees(rng)[1:]]
    cases += [back(tree, {last: tree[last]}, fewer) for tree in (rich, long)]
    cases += [back(nested, [{"w": matrix(rng)}], fewer)]
    for tree, lacks in ((plain, {two: vector(rng)}), (short, long), (nested, nested[:1] * 3)):
        cases += [back(tree, lacks, "`like` asks for more.")]
    for like in ([[1, 2, 3, 4]], [[1], [2], [3], [4]], [[1, 2, 3], [4, 5, 6]], [1, 2, 3, 4]):
        cases += [back(square, {one: array(like)}, other)]
    cases += [back(plain, {one: array(like)}, other) for like in (1, [[1, 2], [3, 4]])]
    cases += [back({one: array(number(rng))}, plain, other), kept(plain), kept(nested)]
    yield from shuffled(rng, cases)


@check
def deep_forward(answer, rng):
    """Each layer takes what the one before gave; all outputs in order; one traced layer."""

    def stacked(layers):
        """Draw layers of which, for a vector that is not negative, one output is cut off."""
        w = np.array([rng.choice(np.arange(2, 10), 4, False).reshape(2, 2) for _ in range(layers)])
        signs = np.array([rng.permutation([1, -1]) for _ in range(layers)])
        return {
            "weight": array(w * signs[:, None]),
            "bias": array(rng.choice([-2, 1], (layers, 2))),
        }

    @functools.cache
    def compiled():
        """Return one function for all cases, so that each number of layers is compiled once."""
        return jax.jit(answer)

    def call(stacked, x):
        return named(compiled()(stacked, x), last=as_jax, every=as_jax)

    def plainly(stacked, x):
        result = answer(stacked, x)
        return list(map(as_jax, result)) if is_pair(result) else as_jax(result)

    def equations(program):
        """Count the equations of a traced program, and of the programs within it."""
        parts = [part for each in program.eqns for part in jax.tree.leaves(each.params)]
        inner = [part for part in parts if hasattr(part, "eqns")]
        return len(program.eqns) + sum(map(equations, inner))

    def grows(few, many, x):
        """Say whether the program has more equations for many layers than for few."""
        few, many = (equations(jax.make_jaxpr(answer)(each, x)) for each in (few, many))
        return many > few

    said = {
        "last": "Your first result is not the output of the last layer.",
        "every": "Your second result is not an array with the output of each layer as a row.",
        "": "`deep_forward` returns two arrays: the last layer's output, and all layers' outputs.",
    }
    longer = "Is the traced program longer for the second tree, which has more layers?"
    wrong = {"": "Your program is longer for more layers: JAX traces more than one of them."}
    example = {"weight": array([[[2]], [[3]]]), "bias": array([[0], [1]])}
    cases = [Case(own(answer, plainly), example, array([1]), note="Two layers.")]
    for layers in (1, 2, 5):
        note = {1: "One layer.", 2: "Two layers.", 5: "Five layers."}[layers]
        drawn = [vector(rng) for _ in range(3)] + [signed(rng, 2) for _ in range(3)]
        cases += [Case(call, stacked(layers), x, note=note, if_wrong=said) for x in drawn]
    for few in (2, int(rng.integers(3, 6))):
        inputs = stacked(few), stacked(few + int(rng.integers(2, 5))), vector(rng)
        cases += [Case(grows, *inputs, note=longer, if_wrong=wrong)]
    yield from shuffled(rng, cases)


@check
def moving_average(start, step, rng):
    """float32 for bfloat16 leaves, so that small steps count; whole numbers are copied."""

    def run(before, later, decay, times):
        average = start(before)
        for _ in range(times):
            average = step(average, later, decay)
        return as_jax(average)

    def half(dtype=jnp.bfloat16):
        """Draw numbers that need all digits of bfloat16, of a size that float16 has not."""
        return array((2 * rng.integers(64, 128, 2) + 1) * 2.0**16, jnp.bfloat16)

    def small():
        """Draw numbers that need all digits of float16."""
        return array((2 * rng.integers(512, 1024, 2) + 1) / 1024, np.float16)

    def full():
        """Draw numbers that need more digits than half precision has."""
        return array(1 + rng.random(2))

    def case(draw, decay=None, fewest=1):
        # It has several digits: half precision does not hold them.
        decay = int(rng.integers(201, 900)) / 1000 if decay is None else decay
        return Case(run, draw(), draw(), decay, int(fewest + rng.integers(3)), note=note)

    def steps(tree):
        return case(lambda: jax.tree.map(lambda leaf: array(leaf + rng.random(leaf.shape)), tree))

    def layers(leaf):
        names = one, two
        return {names[0]: [leaf(), None], names[1]: Layer(full(), leaf()), "step": count(rng)}

    one, two = random_words(rng, 2)
    slow = 1 - 1 / 1024
    note = "The average starts with the first tree; then come steps with the second one. "
    note += "The last two inputs are the decay, and the number of steps."
    starts = [full(), {"w": full(), "b": half()}, [half(), count(rng)], [small(), full()]]
    starts += [{"w": full(), "step": count(rng)}]
    begin = returning_jax(start)
    cases = [Case(begin, params, note="This calls `average_start`.") for params in starts]
    cases += [case(full), case(half), case(partial(count, rng)), case(lambda: layers(full))]
    for draw in (full, partial(count, rng), lambda: array(1 + rng.random())):
        cases += [case(lambda draw=draw: {"w": full(), "more": draw()}, fewest=2)]
    cases += [case(lambda: {"w": half(), "b": full()}), case(lambda: {"w": small(), "b": full()})]
    cases += [case(lambda: (half(), half()), slow, 2), case(lambda: [half()], slow, 3)]
    cases += [case(lambda: [small()], slow, 3), case(lambda: layers(half), slow, 2)]
    cases += [steps(tree) for tree in small_trees(rng)[3:]]
    for trees in (({"w": full()}, {"w": full()}), ([full(), count(rng)], [half(), count(rng)])):
        cases += [after(step, "average_step", *trees, share(rng))]
    yield from shuffled(rng, cases)


@check
def target_network(first_state, synced, rng):
    """Each array in one place, so that steps may donate it; the caller's arrays stay."""
    entries = {"online": 1.0, "target": 0.0, "mean": 2.0, "square": 4.0}  # what a step adds

    @functools.cache
    def donating():
        """Return one function for all cases, so that each structure is compiled once."""

        def step(state):
            moved = {n: jax.tree.map(partial(jnp.add, by), state[n]) for n, by in entries.items()}
            return {**state, **moved}

        return jax.jit(step, donate_argnums=0)

    def shared(state):
        """Return which entries have an array in common."""
        places = {}
        for name in entries:
            for leaf in jax.tree.leaves(state[name]):
                if isinstance(leaf, jax.Array):
                    places.setdefault(id(leaf), []).append(name)
        return sorted({" and ".join(names) for names in places.values() if len(names) > 1})

    def after_steps(state, times):
        """Make steps that donate the state; return their result, and whether all was donated."""
        if not isinstance(state, dict) or not {*entries} <= state.keys():
            return as_jax(state), False
        for _ in range(times):
            twice = shared(state)
            if twice:
                return {"one array in": twice}, False
            state = donating()(state)
        return keeping_width(state), True

    def steps(params, times):
        state, is_donated = after_steps(first_state(params), times)
        if not is_donated:
            return state
        is_gone = any(leaf.is_deleted() for leaf in jax.tree.leaves(params))
        return {**state, "params": "gone" if is_gone else "still there"}

    def with_sync(params, before, later):
        state, is_donated = after_steps(first_state(params), before)
        return after_steps(synced(state), later)[0] if is_donated else state

    def case(call, params, *times):
        where = ": before `synced`, and after it." if call is with_sync else "."
        note = f"The numbers say how many steps donate the state{where}"
        return Case(call, params, *times, note=note, if_wrong=said)

    def state_of(tree):
        return {name: like(rng, tree) for name in entries} | {"step": int(rng.integers(100))}

    said = {
        "one array in": "The next step cannot donate this state: one array lies in two places.",
        "params gone": "The caller's `params` are gone: a step donated their arrays.",
        "online": "Your online network does not have the numbers that it should have.",
        "target": "Your target does not have the numbers that it should have.",
        "": "A state is a dict with four trees like `params`, and what else was in it.",
    }
    one, two = random_words(rng, 2)
    flat, more = {one: vector(rng)}, {one: [vector(rng), None], two: (matrix(rng),)}
    cases = [case(steps, tree, 0) for tree in (flat, more)]
    cases += [case(steps, like(rng, tree), times) for tree in (flat, more) for times in (1, 2)]
    cases += [case(steps, like(rng, flat[one]), 1)]
    cases += [
        case(with_sync, like(rng, tree), before, later)
        for tree, before, later in ((flat, 1, 0), (flat, 2, 1), (more, 1, 1), (more, 1, 2))
    ]
    direct = "This calls `synced`."
    cases += [Case(returning_jax(synced), state_of(tree), note=direct) for tree in (flat, more)]
    cases += [after(synced, "synced", state_of(tree)) for tree in (flat, more)]
    yield from shuffled(rng, cases)


@check
def resume(save, load, rng):
    """A moved file, and another state in between: every entry comes back."""
    file_of = files_of(save)

    def moved(state):
        """Save a state, and move the file to a folder of its own."""
        file = Path(file_of(state))
        file.with_suffix("").mkdir()
        return str(file.rename(file.with_suffix("") / "moved.npz"))

    def loaded(state, like):
        return as_jax(load(moved(state), like))

    def in_turn(state, other, like):
        """Load the state that was not saved last, and has another structure than the last one."""
        file, _ = moved(state), moved(other)
        return as_jax(load(file, like))

    def looked_at_again(state, like):
        load(moved(state), like)
        return state, like

    def key(is_fresh=False):
        """Draw a key as a seed makes it, or a split."""
        first = 0 if is_fresh else int(rng.integers(1, 2**32))
        return jax.random.wrap_key_data(array([first, int(rng.integers(2, 2**31))], np.uint32))

    def state_of(params, optimiser=None, is_fresh=False):
        optimiser = like(rng, params) if optimiser is None else optimiser
        entries = {"params": params, "optimiser": optimiser, "step": int(rng.integers(10, 10**6))}
        entries["key"] = key(is_fresh)
        return {name: entries[name] for name in shuffled(rng, entries)}

    def start_of(state):
        """Draw a state of the same form, with other numbers in every entry."""
        params, optimiser = (like(rng, state[name]) for name in ("params", "optimiser"))
        return {"params": params, "optimiser": optimiser, "step": 0, "key": key(is_fresh=True)}

    def case(state):
        return Case(loaded, state, start_of(state), note=note, if_wrong=meaning)

    def alternate(state):
        other = "Two states are saved, each to a file of its own. The first one is loaded."
        inputs = state, start_of(state_of([vector(rng)])), start_of(state)
        return Case(in_turn, *inputs, note=other, if_wrong=meaning)

    def kept(state):
        again = "The first state is saved and loaded. Have the state and `like` changed?"
        wrong = {"": "Your functions have changed `state` or `like`: make new dicts."}
        return Case(looked_at_again, state, start_of(state), note=again, if_wrong=wrong)

    def look(state):
        wrong = {"": "NumPy had to pickle something for your file: it was no array of numbers."}
        call = lambda state: pickled_in(moved(state))  # noqa: E731
        return Case(call, state, note="What in the file was pickled?", if_wrong=wrong)

    meaning = {
        "key": "Your key does not come back as the key that was saved.",
        "step": "Your step does not come back as the Python int that was saved.",
        "optimiser": "Your optimiser state does not come back as it was saved.",
        "params": "Your parameters do not come back as they were saved.",
    }
    note = "The first state is saved, the file is moved, and `like` serves to load it."
    one, two = random_words(rng, 2)
    flat = {one: array(rng.random(2)), two: vector(rng)}
    nested = {one: Layer(vector(rng), flat), two: [vector(rng), {"x": ()}], "y": None}
    # As texts, the numbers of many layers are in another order.
    many = [[array(number(rng)) for _ in range(11 + rng.integers(2))] for _ in range(2)]
    # Some paths have one name, if their entries are only joined.
    alike = [{one: {two: vector(rng)}, f"{one}_{two}": vector(rng)} for _ in range(2)]
    example = [{"params": {"w": array([each, each])}, "optimiser": ()} for each in (1, 0)]
    example[0] |= {"step": 3, "key": jax.random.key(0)}
    example[1] |= {"step": 0, "key": jax.random.key(1)}
    cases = [Case(loaded, *example, note=note, if_wrong=meaning)]
    cases += [case(state_of(flat, is_fresh=True)) for _ in range(2)]
    cases += [case(state_of(params)) for params in (flat, nested, *alike)]
    cases += [case(state_of(params, ())) for params in many]
    optimisers = [optax.adam(0.1), optax.sgd(0.1, momentum=0.9)]
    cases += [case(state_of(flat, like(rng, each.init(flat)))) for each in optimisers]
    cases += [case(state_of(tree)) for tree in small_trees(rng)[4::2]]
    cases += [draw(state_of(tree)) for draw in (alternate, kept, look) for tree in (flat, nested)]
    yield from shuffled(rng, cases)


@check
def predict_restored(predictions, rng):
    lines = {
        "A": '`{"w": (a, a)}`: the type of `back["w"]`',
        "B": "`{0: a, 1: a}`: the type of the keys of `back`",
        "C": '`{"w": Layer(a, a)}`: the type of `back["w"]`',
        "D": '`{"w": Net(a, a)}`: the type of `back["w"]`',
        "E": '`{"w": a, "b": None}`: how many keys `back` has',
        "F": '`{"step": 3}`: the type of `back["step"]`',
        "G": '`optax.adam(0.1).init({"w": a})`: the type of `back`',
        "H": '`{"w": (a, a)}`, restored as `{"w": (a, a)}`: the type of `back["w"]`',
        "I": '`{"w": jnp.array([1, 2])}`, restored as `{"w": a}`: the dtype of `back["w"]`',
        "J": "a state of `optax.sgd`, restored as one of `optax.adam`: the type of `back`",
    }
    return prediction_cases(predictions, lines)


@check
def next_batch(answer, rng):
    """Several batches, each with the key of the last call: the rows, and the last key."""

    def is_key(result):
        dtype = getattr(result, "dtype", np.dtype(int))
        return jnp.issubdtype(dtype, jax.dtypes.prng_key) and np.shape(result) == ()

    def kind(leaf):
        return f"{getattr(leaf, 'dtype', type(leaf).__name__)} {np.shape(leaf)}"

    def batches(seed, count, size, times):
        """Draw batches as a training does."""
        key, rows = jax.random.key(seed), []
        for _ in range(times):
            result = answer(key, count, size)
            if not is_pair(result) or not is_key(result[1]):
                return result if result is ... else jax.tree.map(kind, result)
            rows += [np.asarray(result[0], np.int32)]
            key = result[1]
        return {"rows": rows, "last key": np.asarray(jax.random.key_data(key)).tolist()}

    note = "The numbers are the seed of the first key, `count`, `size`, and how many batches there "
    note += "are. Each batch is drawn with the key that the last call returned."
    said = {
        "rows": "Your row numbers are not the first `size` numbers of the permutation that the "
        "second key of the split draws.",
        "last key": "The key that you return is not the first key of the split.",
        "": "`next_batch` returns two things: an array of row numbers, and one key.",
    }
    sizes = [(rng.integers(3, 6), rng.integers(4, 20), times) for times in (1, 1, 2, 2, 3, 3, 4, 4)]
    sizes += [(rng.integers(4, 8), 0, 3) for _ in range(2)] + [(1, rng.integers(8, 20), 4)]
    cases = []
    for size, more, times in sizes:
        inputs = int(rng.integers(1000)), int(size + more), int(size), times
        cases += [Case(batches, *inputs, note=note, if_wrong=said)]
    yield from shuffled(rng, cases)


@check
def updated(answer, rng):
    """The new velocity moves the parameters and comes back; steps are counted; the rest stays."""

    def one_step(state, grads, rate, beta):
        return as_state(answer(state, grads, rate, beta))

    def by_default(state, grads, rate):
        return as_state(answer(state, grads, rate))

    def steps(state, grads, rates, beta):
        for each, rate in zip(grads, rates, strict=True):
            state = answer(state, each, rate, beta)
            if not isinstance(state, dict):
                return as_jax(state)
        return as_state(state)

    def inputs(params, **more):
        state = {"params": params, "velocity": like(rng, params), "step": int(rng.integers(100))}
        return state | more, like(rng, params), share(rng)

    def several(params, **more):
        note = "A step for each gradient, each with a rate of its own."
        state, first, rate = inputs(params, **more)
        later = [first, like(rng, params)], [rate, share(rng)], share(rng)
        return Case(steps, state, *later, note=note, if_wrong=said)

    own(answer, one_step)
    own(answer, by_default)
    said = {
        "velocity": "Your new velocity is not `beta * velocity + gradient`, leaf by leaf.",
        "params": "Your new parameters are not `params - rate * velocity`, leaf by leaf, with the "
        "new velocity.",
        "step": 'Your `"step"` does not grow by 1 in each step.',
        "": "`updated` returns a new state, a dict with all entries of the old one.",
    }
    one, two = random_words(rng, 2)
    flat = {one: vector(rng), two: vector(rng)}
    extra = {f"{one}s": vector(rng)}, {"key": jax.random.key(number(rng))}
    cases = [Case(one_step, *inputs(flat), share(rng)) for _ in range(2)]
    cases += [Case(one_step, *inputs(flat, **more), share(rng)) for more in extra]
    cases += [Case(by_default, *inputs(flat), note="This calls `updated` without `beta`.")]
    cases += [Case(by_default, *inputs([flat]), note="This calls `updated` without `beta`.")]
    cases += [several(flat), several(flat, **{f"{two}s": [vector(rng)]})]
    cases += [several(params) for params in small_trees(rng)[::2]]
    for params in (flat, {one: [matrix(rng), None], two: vector(rng)}):
        cases += [after(answer, "updated", *inputs(params), share(rng))]
    yield from shuffled(rng, cases)


@check
def make_warm_step(answer, rng):
    """The rate of each step, by the state's count; the loss; when Python runs it."""

    def steps(state, x, labels, rate_at, times, counts=1):
        """Return what each of several steps gives, and how often Python ran what in it."""
        runs = []

        def loss(params, x, labels):
            runs.append("loss")
            return sum(jnp.sum((leaf * x - labels) ** 2) for leaf in jax.tree.leaves(params))

        def updated(state, grads, rate):
            runs.append("updated")
            params = jax.tree.map(lambda p, g: p - rate * g, state["params"], grads)
            return {**state, "params": params, "rate": rate, "step": state["step"] + counts}

        step, seen = answer(loss, updated, rate_at), []
        if not callable(step):
            return step
        for place in range(times):
            runs.clear()
            result = step(state, x, labels)
            if not is_pair(result) or not isinstance(result[0], dict):
                return as_jax(result)
            state, value = result
            entries = as_state(state) | {"rate": as_scalar(state["rate"])}
            seen += [entries | {"loss": as_scalar(value)}]
            if place > 0:
                seen[-1]["runs of the loss in Python"] = runs.count("loss")
                seen[-1]["runs of `updated` in Python"] = runs.count("updated")
        return seen

    def warming_up(state, x, labels, top, times):
        def rate_at(done):
            return top * jnp.minimum(1, (done + 1) / 100)

        return steps(state, x, labels, rate_at, times)

    def standing_still(state, x, labels, rate, times):
        return steps(state, x, labels, lambda done: jnp.float32(rate), times, counts=0)

    def much_later(state, x, labels, top, limit, times):
        def rate_at(done):
            return jnp.where(done < limit, jnp.float32(top), jnp.float32(top / 2))

        return steps(state, x, labels, rate_at, times)

    def given(tree, begin):
        params = jax.tree.map(lambda _: vector(rng), tree)
        state = {"params": params, "rate": array(0), "step": array(begin, np.int32)}
        return state, vector(rng), vector(rng), int(rng.integers(11, 130)) / 200

    of_loss = "The loss is the sum of `(leaf * x - labels) ** 2`, over all leaves. "
    of_update = "`updated` subtracts `rate` times the gradient, and puts the rate into the state."
    note = of_loss + "The rate grows for 100 steps, up to `top`. `times` says how many steps are "
    note += "made. " + of_update
    halving = of_loss + "The rate is `top`, and half of it after `limit` steps. `times` says how "
    halving += "many steps are made. " + of_update
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
    nested, cases = {"table": [0, None], "scale": Layer((0,), {})}, []
    starts = (({"scale": 0}, 0), (nested, 0), (0, int(rng.integers(5, 95))), ([0, 0], 40))
    for tree, begin in starts:
        inputs = *given(tree, begin), 2 + int(rng.integers(3))
        cases += [Case(warming_up, *inputs, note=note, if_wrong=said)]
    still = f"{of_loss}{of_update} This time it does not count. `times` says how many steps "
    still += "are made."
    for tree in (0, [0, 0]):
        cases += [Case(standing_still, *given(tree, 0), 3, note=still, if_wrong=said)]
    for tree in (0, {"scale": 0}):
        limit = int(rng.integers(20_000, 60_000))  # more steps than a table would have
        inputs = *given(tree, limit - 1), limit, 2 + int(rng.integers(2))
        cases += [Case(much_later, *inputs, note=halving, if_wrong=said)]
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

    labels = rng.permutation(np.arange(1, 9))
    cases = [case(label, 2) for label in (0, 9, *labels[:5])]
    cases += [case(label, 3, 2) for label in (0, *labels[5:])]
    yield from shuffled(rng, cases)


@check
def step(answer, rng):
    """Against the gradient, by the rate; the loss before the step; the old parameters stay."""

    def call(params, batch, rate):
        return named(answer(params, batch, rate), params=as_jax, loss=as_scalar)

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
        "params": "Your parameters are not the old ones plus the updates of `momentum`.",
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
        case([{two: second}, {one: first, two: second}]),
    ]
    for _ in range(2):
        trees = [{one: vector(rng), two: vector(rng)} for _ in range(2)]
        cases += [after(answer, "keep_frozen", {one: first, two: second}, *trees)]
    yield from shuffled(rng, cases)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
