"""Checks of lesson 2, tree.map: python checks/check_02_tree_map.py exercises/02_tree_map.ipynb"""

from collections import OrderedDict
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.checking import (
    Case,
    as_jax,
    check,
    is_one_program,
    matrix,
    random_model,
    random_words,
    returning_jax,
    vector,
)


class Layer(NamedTuple):
    """A node, as all named tuples are."""

    weight: Any
    bias: Any


def number(rng):
    return int(rng.integers(2, 100))


def model(rng, leaf):
    return random_model(rng, leaf, lambda: Layer(leaf(), leaf()))


def float64(leaf):
    return np.asarray(leaf).astype(np.float64)


@check
def scale_and_zero(scale, zero, rng):
    """Same structure, shapes and dtypes; nested parts; None; zero times inf is not zero."""
    scale, zero = returning_jax(scale), returning_jax(zero)
    factor = number(rng) / 2
    two = jnp.asarray(np.array([1, 2], np.float32))
    step = jnp.asarray(np.array([3, 4], np.int32))
    endless = jnp.asarray(np.array([np.inf, np.nan], np.float32))
    yield Case(scale, {}, 2.0)
    yield Case(scale, two, 2.0)
    yield Case(zero, two)
    yield Case(scale, {"w": two, "b": None}, 3.0)
    yield Case(zero, {"w": two, "b": None})
    yield Case(zero, {"w": two, "step": step}, note="`step` holds whole numbers (int32).")
    yield Case(zero, [two, endless], note="The second array holds `inf` and `nan`.")
    yield Case(scale, [two, (matrix(rng), None)], factor)
    for _ in range(2):
        tree = model(rng, lambda: [vector(rng), matrix(rng)][rng.integers(2)])
        yield Case(scale, {**tree, "more": [vector(rng)]}, factor)
        yield Case(zero, {**tree, "more": [vector(rng)]})


@check
def sgd_step(answer, rng):
    """Leaves are paired by structure: same kinds of nodes, same keys, None beside None."""
    answer = returning_jax(answer)
    rate = number(rng) / 4
    w, b = vector(rng), vector(rng)
    dw, db = vector(rng), vector(rng)
    yield Case(answer, {}, {}, 0.5)
    yield Case(answer, w, dw, 0.5)
    yield Case(answer, {"w": w, "b": b}, {"b": db, "w": dw}, rate)
    yield Case(answer, {"w": w, "b": None}, {"w": dw, "b": None}, rate)
    yield Case(answer, {"w": w}, {"v": dw}, rate, note="The keys differ.")
    yield Case(answer, {"w": w, "b": b}, {"w": dw}, rate)
    yield Case(answer, [w, b], (dw, db), rate, note="A list and a tuple.")
    yield Case(answer, (w, b), Layer(dw, db), rate, note="A tuple and a namedtuple.")
    yield Case(answer, {"w": w, "b": None}, {"w": dw, "b": db}, rate)
    yield Case(answer, [w, {"b": b}], [dw, {"b": db}], rate)
    for _ in range(2):
        params = {**model(rng, lambda: vector(rng)), "more": [w, {"b": b}]}
        grads = jax.tree.map(lambda _: vector(rng), params)
        yield Case(answer, params, grads, rate)


@check
def global_norm(answer, rng):
    """One number for the whole tree: all squares, one root; an empty tree has norm 0."""

    def norm(tree):
        result = answer(tree)
        # A scalar of any library and precision is as good; an array is not.
        is_scalar = isinstance(result, (int, float, np.number)) or (
            isinstance(result, (np.ndarray, jax.Array)) and result.ndim == 0
        )
        return float(result) if is_scalar else as_jax(result)

    three, four = (jnp.asarray(np.array(pair, np.float32)) for pair in ([3, 0], [0, 4]))
    yield Case(norm, {}, note="There are no leaves.")
    yield Case(norm, three)
    yield Case(norm, -four)
    yield Case(norm, {"a": three, "b": four})
    yield Case(norm, [three, None, (three, [four])])
    yield Case(norm, {"w": matrix(rng), "b": vector(rng)})
    for _ in range(3):
        tree = model(rng, lambda: [vector(rng), -matrix(rng)][rng.integers(2)])
        yield Case(norm, [tree, (matrix(rng), vector(rng))])


@check
def from_shapes(answer, rng):
    """A shape is a tuple and stays whole; the empty tuple too; lists, dicts and None are nodes."""
    answer = returning_jax(answer)

    def shape():
        return [(), (2,), (2, 2)][rng.integers(3)]

    yield Case(answer, {})
    yield Case(answer, (2, 2))
    yield Case(answer, ())
    yield Case(answer, {"w": (2, 2), "b": (2,)})
    yield Case(answer, {"scale": (), "w": (2,)})
    yield Case(answer, [(2,), None])
    yield Case(answer, {"layers": [{"w": (2, 2), "b": None}, {"w": (2,), "b": ()}]})
    yield Case(answer, OrderedDict(w=(2, 2), b=[(2,), []]))
    for _ in range(3):
        first, second, third = random_words(rng, 3)
        yield Case(answer, {first: shape(), second: [shape(), {"w": shape()}], third: (2, 2)})


@check
def clip(by_leaf, by_global_norm, rng):
    """Two norms told apart; short trees stay; zeros stay, and so do their gradients finite."""

    calls = {"clip_by_leaf": by_leaf, "clip_by_global_norm": by_global_norm}

    def case(name, tree, most):
        return Case(returning_jax(calls[name]), tree, most, note=f"This calls `{name}`.")

    def gradient_case(name, tree, most):
        def finite(tree, most):
            def total(tree):
                return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(calls[name](tree, most)))

            gradient = jax.grad(total)(tree)
            return jax.tree.map(lambda leaf: bool(np.isfinite(leaf).all()), gradient)

        note = f"This asks whether the gradient of `{name}` is finite, leaf by leaf."
        return Case(finite, tree, most, note=note)

    zeros = jnp.asarray(np.zeros(2, np.float32))
    three, four = (jnp.asarray(np.array(pair, np.float32)) for pair in ([3, 0], [0, 4]))
    for name in calls:
        yield case(name, three, 1.0)
        yield case(name, {"a": three, "b": four}, 1.0)
        yield case(name, {"a": three, "b": four}, 4.5)
        yield case(name, [three, None, four], 10.0)
        yield case(name, {"a": zeros, "b": three}, 1.0)
    for name in calls:
        yield gradient_case(name, {"a": three, "b": four}, 1.0)
        yield gradient_case(name, {"a": zeros, "b": three}, 1.0)
        yield gradient_case(name, [zeros, zeros], 1.0)
    for name in calls:
        tree = model(rng, lambda: [vector(rng), -matrix(rng)][rng.integers(2)])
        yield case(name, [tree, vector(rng)], number(rng) / 10)


@check
def add_noise(answer, rng):
    """Where the same random numbers show: between leaves, between keys, between calls."""

    def noise(tree, seed, scale=1.0):
        result = answer(jax.random.key(seed), tree, scale)
        return jax.tree.map(lambda new, old: float64(new) - float64(old), result, tree)

    def unchanged(tree, scale):
        return as_jax(answer(jax.random.key(3), tree, scale))

    def kinds(tree, seed):
        result = answer(jax.random.key(seed), tree, 1.0)
        return jax.tree.map(lambda leaf: f"{getattr(leaf, 'dtype', '?')} {np.shape(leaf)}", result)

    def every_number_changes(tree, seed):
        return jax.tree.map(lambda added: bool((added != 0).all()), noise(tree, seed))

    def leaves_differ(tree, seed):
        leaves = jax.tree.leaves(noise(tree, seed))
        pairs = [(one, two) for one in leaves for two in leaves if one is not two]
        return not any(np.allclose(one, two, rtol=1e-3) for one, two in pairs)

    def numbers_differ(tree, seed):
        """Whether the noise differs from place to place in a leaf."""
        return jax.tree.map(lambda added: bool(np.ptp(added) > 1e-5), noise(tree, seed))

    def same(tree, seed, other_seed):
        one, two = (jax.tree.leaves(noise(tree, each)) for each in (seed, other_seed))
        return all(np.allclose(*pair) for pair in zip(one, two, strict=True))

    def size(tree, seed, scale):
        def judge(added):
            spread, mean = added.std() / scale, added.mean() / scale
            # Far beyond what chance does to 1,600 numbers.
            said = "too small" if spread < 0.85 else "too large" if spread > 1.15 else "right"
            return {"spread": said, "mean": "near 0" if abs(mean) < 0.2 else "not near 0"}

        return jax.tree.map(judge, noise(tree, seed, scale))

    seed, other = (int(each) for each in rng.choice(1000, 2, replace=False))
    w, b = vector(rng), vector(rng)
    half = jnp.asarray(np.array([1, 2], np.float16))
    large = {"w": jnp.asarray(np.zeros((40, 40), np.float32)), "b": None}
    yield Case(unchanged, {"w": w, "b": None}, 0.0, note="The scale is 0: no noise at all.")
    note = "The second number is the seed of the key. "
    yield Case(kinds, {"w": w, "b": None}, seed, note=note + "This looks at dtypes and shapes.")
    yield Case(kinds, [half, {"w": w}], seed, note=note + "The first array is float16.")
    said = "Does every number change?"
    yield Case(every_number_changes, {"w": w, "b": b}, seed, note=note + said)
    said = "Is the noise different from place to place within each leaf?"
    yield Case(numbers_differ, {"w": w, "b": b}, seed, note=note + said)
    said = "Is the noise different in any two leaves?"
    yield Case(leaves_differ, {"w": w, "b": b}, seed, note=note + said)
    yield Case(leaves_differ, {"a": w, "b": [w, (w,)]}, other, note=note + said)
    note = "The numbers are the seeds of two keys. Is the noise the same?"
    yield Case(same, {"w": w, "b": b}, seed, seed, note=note)
    yield Case(same, {"w": w, "b": b}, seed, other, note=note)
    note = "The numbers are the seed of the key, and the scale. Is the noise of the right size?"
    yield Case(size, large, seed, 4.0, note=note)
    yield Case(size, large, other, 0.25, note=note)


@check
def decay_mask(answer, rng):
    """The whole name of the last entry, in dicts and namedtuples; lists and bare arrays."""

    def array():
        return np.ones([(2,), (2, 2)][rng.integers(2)], np.float32)

    one, two = np.ones(2, np.float32), np.ones((2, 2), np.float32)
    yield Case(answer, {})
    yield Case(answer, {"bias": one})
    yield Case(answer, {"weight": two, "bias": one})
    yield Case(answer, {"weight": one, "bias": two})
    yield Case(answer, {"head": {"weight": two, "bias": None}, "bias": one})
    yield Case(answer, {"bias_scale": one, "unbiased": {"weight": two}})
    yield Case(answer, {"prebias": one, "bias": one})
    yield Case(answer, {"bias": {"weight": two}, "more": [{"bias": one}]})
    yield Case(answer, Layer(weight=two, bias=one))
    yield Case(answer, [one, (two, {"bias": one})])
    yield Case(answer, two, note="A bare array: its path is empty.")
    for _ in range(3):
        first, second, third = random_words(rng, 3)
        parts = [
            {"weight": array(), "bias": array()},
            Layer(array(), array()),
            [array(), {"bias": array()}],
            {"bias": {second: array(), "bias": array()}},
        ]
        order = rng.permutation(len(parts))
        yield Case(answer, {first: parts[order[0]], second: array(), third: parts[order[1]]})


@check
def rates_by_part(answer, rng):
    """`rates` may stop early, at any depth, and may not go deeper than the parameters."""
    answer = returning_jax(answer)

    def layer():
        return {"w": vector(rng), "b": vector(rng)}

    def grads(params):
        return jax.tree.map(lambda _: vector(rng), params)

    def case(rates, params):
        return Case(answer, rates, params, grads(params))

    yield case(0.5, vector(rng))
    yield case(0.5, layer())
    yield case({"w": 0.5, "b": 2.0}, layer())
    yield case({"body": 0.25, "head": 2.0}, {"body": layer(), "head": layer()})
    yield case({"body": 0.25, "head": [2.0, 3.0]}, {"body": layer(), "head": [layer(), layer()]})
    yield case([0.5, {"w": 1.5, "b": 0.0}], [[vector(rng), None], layer()])
    yield case({"w": {"v": 0.5}}, {"w": vector(rng)})
    yield case([0.5, 2.0], (vector(rng), vector(rng)))
    for _ in range(2):
        first, second = random_words(rng, 2)
        rates = {first: number(rng) / 4, second: {"w": number(rng) / 4, "b": number(rng) / 4}}
        yield case(rates, {first: [layer(), vector(rng)], second: layer()})


@check
def stack_trees(stack, unstack, rng):
    """A new first axis in each leaf, the tree around it as before; and the way back."""
    stack, unstack = returning_jax(stack), returning_jax(unstack)

    def layer():
        return {"w": vector(rng), "b": vector(rng)}

    first, second = random_words(rng, 2)

    def model():
        return {first: [vector(rng), None], second: Layer(vector(rng), (vector(rng),))}

    yield Case(stack, [vector(rng), vector(rng)])
    yield Case(stack, [layer()], note="A list of one tree.")
    yield Case(stack, [layer(), layer(), layer()])
    yield Case(stack, [[vector(rng), None], [vector(rng), None]])
    yield Case(stack, [{"w": vector(rng)}, {"v": vector(rng)}], note="The keys differ.")
    yield Case(unstack, matrix(rng))
    yield Case(unstack, {"w": matrix(rng), "b": None})
    yield Case(unstack, {"w": matrix(rng), "b": vector(rng)})
    yield Case(unstack, [jnp.asarray(np.array([[1, 2]], np.float32))])
    yield Case(unstack, [matrix(rng)], note="One leaf of two rows.")
    yield Case(unstack, {"w": matrix(rng), "b": vector(rng), "more": [vector(rng), None]})
    for _ in range(2):
        yield Case(stack, [model(), model()])
        yield Case(unstack, {first: [matrix(rng), None], second: Layer(matrix(rng), vector(rng))})


@check
def perturb(answer, rng):
    """Noise, then clip, then zero; one program, for every scale and every `most`."""
    seed = int(rng.integers(1000))
    params = {"w": [matrix(rng), matrix(rng)], "b": vector(rng), "none": None}

    def run(scale, most):
        return answer(jax.random.key(seed), params, scale, most)

    def exact(scale, most):
        return as_jax(run(scale, most))

    def norms(scale, most):
        return jax.tree.map(lambda leaf: float(np.linalg.norm(leaf)), run(scale, most))

    def noise(scale, most):
        one, two = run(scale, most)["w"]
        added = float64(one) - float64(params["w"][0]), float64(two) - float64(params["w"][1])
        differ = not np.allclose(*added, rtol=1e-2)
        return {"added": bool((added[0] != 0).all()), "different in each leaf": differ}

    def programs(scale, most):
        """Whether a call is one jitted program, with `scale` and `most` among its inputs."""
        key = jax.random.key(seed)
        return is_one_program(lambda scale, most: answer(key, params, scale, most), scale, most)

    shown = "`params` is `{'w': [matrix, matrix], 'b': vector, 'none': None}`. "
    note = shown + "Without noise:"
    yield Case(exact, 0.0, 1e6, note=note + " nothing is clipped.")
    yield Case(exact, 0.0, 1.5, note=note + " all is clipped.")
    yield Case(exact, 0.0, number(rng) / 16, note=note + " some may be clipped.")
    yield Case(norms, 1000.0, 2.0, note=shown + "The norms of the leaves, after much noise.")
    yield Case(noise, 1.0, 1e6, note=shown + "What was added to the two matrices.")
    yield Case(programs, 1.0, 2.0, note=shown + "Is the whole call one jitted program?")


@check
def fill_missing(answer, rng):
    """None stands for a whole part; 0 and empty containers are values; the rest must agree."""

    def part():
        match rng.integers(4):
            case 0:
                return {"w": number(rng), "b": number(rng)}
            case 1:
                return [number(rng), number(rng)]
            case 2:
                return (number(rng),)
            case _:
                return number(rng)

    yield Case(answer, 1, 2)
    yield Case(answer, None, 2)
    yield Case(answer, {"a": 1, "b": None}, {"a": 3, "b": 4})
    yield Case(answer, {"a": 0, "b": None}, {"a": 3, "b": 4})
    yield Case(answer, [None, {"a": None, "b": 1}], [2, {"a": 3, "b": 4}])
    yield Case(answer, {"a": None, "b": 1}, {"a": {"w": 2, "v": [3]}, "b": 4})
    yield Case(answer, {"a": (), "b": None}, {"a": (), "b": 4})
    yield Case(answer, {"a": (), "b": None}, {"a": (3,), "b": 4})
    yield Case(answer, [1, None], [None, 2])
    yield Case(answer, [5, None], [[1, 2], None])
    yield Case(answer, {"a": None}, {"b": 1})
    yield Case(answer, [None, 1], (2, 3))
    yield Case(answer, {"w": np.ones(2, np.float32), "b": None}, {"w": 1, "b": 2})
    for _ in range(4):
        names = random_words(rng, 3)
        defaults = {name: {"x": part(), "y": number(rng)} for name in names}
        tree = jax.tree.map(lambda _: number(rng), defaults)
        tree[names[0]]["x"] = None
        tree[names[1]] = None
        yield Case(answer, tree, defaults)


@check
def batched_apply(answer, rng):
    """An entry for each part of `params`, one for `x`; parts may be trees; same sizes may lie."""

    def plain(params, x):
        return params["a"] * x + params["b"]

    def nested(params, x):
        return {"y": params["a"]["w"] * x + params["a"]["b"], "b": params["b"] + x}

    # A part that is not batched is one number here and there, and a vector elsewhere.
    def call(function):
        return lambda params, mapped, x: as_jax(answer(function, params, mapped, x))

    note = "The function is `lambda p, x: p['a'] * x + p['b']`."
    tree = "The function returns `{'y': p['a']['w'] * x + p['a']['b'], 'b': p['b'] + x}`."
    one = jnp.asarray(np.float32(number(rng)))
    for mapped in (["a", "b"], ["a"], ["b"], []):
        params = {"a": vector(rng), "b": vector(rng)}
        yield Case(call(plain), params, mapped, vector(rng), note=note)
    yield Case(call(plain), {"a": vector(rng), "b": one}, ["a"], vector(rng), note=note)
    yield Case(call(plain), {"b": vector(rng), "a": one}, ["b"], vector(rng), note=note)
    for mapped in (["a"], ["b"], ["b", "a"]):
        params = {"a": {"w": vector(rng), "b": vector(rng)}, "b": vector(rng)}
        yield Case(call(nested), params, mapped, vector(rng), note=tree)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
