"""Checks of lesson 2, tree.map.

python checks/check_02_tree_map.py exercises/02_tree_map_exercises.ipynb
"""

from collections import OrderedDict
from functools import wraps
from itertools import cycle
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.cases import (
    Case,
    Duo,
    as_jax,
    check,
    is_one_program,
    matrix,
    random_words,
    returning_jax,
    shuffled,
    varied_trees,
    vector,
)

SAME_NOISE = (
    "The numbers are seeds of keys. For each: the first, counted from 0, with the same noise."
)


HALF = ("float16", "bfloat16")


WRONG_NOISE = {
    "deviation too high": "The deviation of your noise is larger than `scale`.",
    "deviation too low": "The deviation of your noise is smaller than `scale`.",
    "mean / scale": "The mean of your noise is not near 0.",
    "share beyond 1.04 * scale": "Your noise is not Gaussian: another share of it lies far from 0.",
}


WRONG_CALLS = {
    "first with the same noise too low": "Two different keys give you the same noise: the caller's "
    "key does not decide all of it.",
    "first with the same noise too high": "The same key gives you another noise in another call.",
    "different numbers, first key": "Some numbers of the two matrices get the same noise: each "
    "number needs its own, and each leaf its own key.",
    "deviation too high": "The deviation of your noise is larger than `scale`.",
    "deviation too low": "The deviation of your noise is smaller than `scale`.",
}


class Layer(NamedTuple):
    """A node, as all named tuples are."""

    weight: Any
    bias: Any


def number(rng):
    return int(rng.integers(2, 100))


def fraction(rng):
    """Draw a number that is never whole."""
    return round(float(rng.integers(10) + rng.uniform(0.1, 0.9)), 3)


def floats(values):
    """Return an array of JAX, `float32`."""
    return jax.device_put(np.asarray(values, np.float32))


def between(rng, low, high):
    """Draw a number that is near neither end."""
    return round(float(low + (high - low) * rng.uniform(0.3, 0.7)), 4)


def dealing(*arrays):
    """Return a function that gives one array after the other, and then begins again.

    To make an array takes longer than most answers take to use it.
    """
    endless = cycle(arrays)
    return lambda: next(endless)


def vectors(rng):
    return dealing(*(vector(rng) for _ in range(7)))


def vectors_and_matrices(rng):
    return dealing(*(draw(rng) for _ in range(4) for draw in (vector, matrix)))


def like(tree, leaf):
    """Return a tree of the same structure with other leaves."""
    return jax.tree.map(lambda _: leaf(), tree)


def fitting(tree, leaf):
    """Return a tree of the same structure, with other leaves where `leaf` has the shape for it."""
    return jax.tree.map(lambda old: leaf() if old.shape == (2,) else old, tree)


def differing_pairs(rng, leaf):
    """Return pairs of trees of different structures, and what differs."""
    first, second, third = sorted(random_words(rng, 3))
    two = {first: leaf(), second: leaf()}
    numbers = [floats(number(rng)), floats(number(rng))]
    return [
        ({first: leaf()}, {second: leaf()}, "The keys differ."),
        (two, {first: leaf(), third: leaf()}, "One key differs."),
        ([two], [{first: leaf()}], "The first tree has a key more."),
        (two, {**two, third: leaf()}, "The second tree has a key more."),
        ({first: [leaf()]}, {first: [leaf(), leaf()]}, "The lists have different lengths."),
        ([leaf(), leaf()], [leaf()], "The lists have different lengths."),
        ([leaf(), leaf()], (leaf(), leaf()), "A list and a tuple."),
        ({first: (leaf(),)}, {first: [leaf()]}, "A tuple and a list."),
        ((leaf(), leaf()), Layer(leaf(), leaf()), "A tuple and a namedtuple."),
        ({first: leaf(), second: None}, two, "A `None` stands beside an array."),
        ([None, leaf()], [leaf(), leaf()], "A `None` stands beside an array."),
        (two, {first: leaf(), second: None}, "An array stands beside a `None`."),
        ([leaf(), leaf()], [None, leaf()], "An array stands beside a `None`."),
        (two, {first: {third: leaf()}, second: leaf()}, "An array stands beside a dict."),
        (two, {first: numbers, second: leaf()}, "An array stands beside a list of numbers."),
        ([leaf()], [tuple(numbers)], "An array stands beside a tuple of numbers."),
        ([{first: leaf()}], [leaf()], "A dict stands beside an array."),
    ]


def refusing(answer):
    """Let every error count as JAX's ValueError: what is done with two leaves raises others."""

    @wraps(answer)
    def call(*inputs):
        try:
            return answer(*inputs)
        except NotImplementedError:
            raise
        except Exception as error:
            raise ValueError(str(error)).with_traceback(error.__traceback__) from None

    return call


def added(result, tree):
    """Return what an answer added to each leaf, as NumPy's float64."""
    return jax.tree.map(
        lambda new, old: np.asarray(new).astype(float) - np.asarray(old).astype(float),
        result,
        tree,
    )


def first_alike(arrays):
    """Return for each array which one, counted from 0, is the first that is close to it.

    No closer than rounding: numbers that are drawn may come near each other by chance.
    """
    return [
        next(i for i, other in enumerate(arrays) if np.allclose(each, other, rtol=1e-5, atol=4e-6))
        for each in arrays
    ]


def to_a_power(deviation, base=1.2):
    """Round a positive number to a power of `base`."""
    return round(base ** round(np.log(deviation) / np.log(base)), 3) if deviation > 1e-4 else 0.0


def keeping_float64(answer):
    """Let NumPy's arrays count as JAX's, but none of float64: JAX would make them float32."""

    def call(*inputs):
        result = answer(*inputs)
        dtypes = [getattr(leaf, "dtype", None) for leaf in jax.tree.leaves(result)]
        return result if np.float64 in dtypes else as_jax(result)

    return call


@check
def scale_and_zero(scale, zero, rng):
    """Same structure, shapes and dtypes; nested parts; None; zero times inf is not zero."""
    scale, zero = returning_jax(scale), keeping_float64(zero)
    leaf = vectors_and_matrices(rng)
    endless = floats([np.inf, number(rng)])
    undefined = floats([number(rng), np.nan])
    whole = jax.device_put(rng.integers(1, 10, 2).astype(np.int32))
    single = floats(number(rng))
    ones = floats([1, 1])
    for tree in varied_trees(rng, leaf, values=jax.device_put, without=HALF, rich=1):
        yield Case(scale, tree, fraction(rng))
    yield Case(scale, {"w": ones, "b": None}, 3.0)
    yield Case(scale, {"w": leaf()}, float(number(rng)), note="The factor is a whole number.")
    yield Case(scale, [None, {"b": None, "w": leaf()}], fraction(rng))
    few = ("unsorted keys", "OrderedDict", "int keys", "repeated leaf", "dict in a list", "list")
    edges = [endless, undefined, whole, single]
    for tree in varied_trees(rng, leaf, edges=edges, values=jax.device_put, without=few, rich=1):
        yield Case(zero, tree)
    yield Case(zero, [ones, jnp.arange(3)])
    yield Case(zero, [None, {"b": None, "w": leaf()}])
    yield Case(zero, whole, note="An array of whole numbers (int32).")
    yield Case(zero, [endless, leaf()], note="The first array holds `inf`.")
    yield Case(zero, [undefined, leaf()], note="The first array holds `nan`.")


@check
def sgd_step(answer, rng):
    """Leaves are paired by structure: same kinds of nodes, same keys, None beside None."""
    answer = returning_jax(answer)
    leaf = vectors(rng)
    for params in varied_trees(rng, leaf, values=jax.device_put, without=HALF, rich=1):
        yield Case(answer, params, fitting(params, leaf), fraction(rng))
    yield Case(answer, {"w": floats([1, 2])}, {"w": floats([2, 2])}, 0.5)
    yield Case(answer, [None, {"w": leaf()}], [None, {"w": leaf()}], fraction(rng))
    first, second = sorted(random_words(rng, 2))
    one, other = ({first: leaf(), second: leaf()} for _ in range(2))
    yield Case(answer, one, {second: other[second], first: other[first]}, fraction(rng))
    for params, grads, note in shuffled(rng, differing_pairs(rng, leaf)):
        yield Case(refusing(answer), params, grads, fraction(rng), note=note)


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

    leaf = dealing(vector(rng), -matrix(rng), -vector(rng), matrix(rng), vector(rng))
    zeros = floats([0, 0])
    single = floats(-number(rng))
    without = ["no leaves", *HALF]
    edges = [zeros, single]
    for tree in varied_trees(rng, leaf, edges=edges, values=jax.device_put, without=without):
        yield Case(norm, tree)
    yield Case(norm, {"a": floats([3, 0]), "b": floats([4])})
    yield Case(norm, {}, note="There are no leaves.")
    yield Case(norm, [None, ({},)], note="There are no leaves.")
    yield Case(norm, {"w": matrix(rng)}, note="One matrix.")
    yield Case(norm, matrix(rng), note="One matrix.")
    yield Case(norm, [vector(rng), single, vector(rng)])


@check
def from_shapes(answer, rng):
    """A shape is a tuple and stays whole; the empty tuple too; lists, dicts and None are nodes."""
    answer = keeping_float64(answer)
    deal = dealing((2,), (2, 2), (), (0, 2), (1, 2))

    def shape():
        for _ in range(rng.integers(1, 4)):
            drawn = deal()
        return drawn

    def tree(depth=2):
        kind = rng.random()
        if depth == 0 or kind < 0.3:
            return shape()
        if kind < 0.4:
            return None
        names = random_words(rng, 2)
        children = [tree(depth - 1) for _ in names]
        named = dict(zip(names, children, strict=True))
        return [named, children, OrderedDict(named), Duo(*children)][rng.integers(4)]

    def sizes(shapes):
        """Say how large the arrays are; no array is made."""
        return jax.tree.map(lambda leaf: leaf.size, jax.eval_shape(lambda: answer(shapes)))

    first, second = random_words(rng, 2)
    small = [
        {},
        (2, 2),
        (),
        (0, 2),
        {first: (2,), second: (2, 2)},
        {first: (), second: (2,)},
        {first: [(), (2,)]},
        {first: (2, 2), second: (0, 2)},
        {first: (2,), second: None},
        [(2, 2), None],
        [(2,), (2, 2)],
        {first: [(2,), (2, 2)]},
        [(2,)],
        {first: (2,), second: []},
        {first: {second: (2, 2)}},
        [{first: (2,)}],
        Duo((2,), (2, 2)),
        {first: Duo((2,), (2, 2))},
        OrderedDict({first: (2,), second: (2, 2)}),
        [OrderedDict({second: (2,)})],
        {"w": (1, 2), "scale": ()},
        {10: (2,), 9: (2, 2)},
        {second: (2,), first: (2, 2)},
        {f"{first}/{second}": (2,), f"['{first}']": (), f"{second}.{first}": (2, 2)},
        {first: {0: (2,)}, second: {"": (2, 2)}},
        {first: {1: (2,)}, second: {"1": (2, 2)}},
        {first: {second: (2,)}, f"{first}/{second}": (2, 2)},
        {f"{first}|{second}": (2,), f"({second}+": (2, 2)},
        Duo(Duo((2,), (2, 2)), ()),
        [deal() for _ in range(12)],
    ]
    for shapes in shuffled(rng, small):
        yield Case(answer, shapes)
    for _ in range(2 + rng.integers(2)):
        yield Case(answer, {name: tree() for name in random_words(rng, 4)})
    note = "How many numbers does each array hold? `jax.eval_shape` asks, so no array is made."
    for _ in range(3):
        one, two, three = map(tuple, rng.integers(2, 30, (3, 3)).tolist())
        shapes = shuffled(rng, [one, {first: two, second: three}])
        too_many = (
            "Your arrays hold more or fewer numbers than their shapes say: an array of shape "
            "`(2, 3)` holds 2 * 3 = 6 numbers."
        )
        if_wrong = {"too high": too_many, "too low": too_many}
        yield Case(sizes, shapes, note=note, if_wrong=if_wrong)


@check
def clip(by_leaf, by_global_norm, rng):
    """Two norms told apart; short trees stay; zeros stay, and so do their gradients finite."""

    calls = {"clip_by_leaf": by_leaf, "clip_by_global_norm": by_global_norm}

    def case(name, tree, most):
        return Case(returning_jax(calls[name]), tree, most, note=f"This calls `{name}`.")

    def gradient_case(name, tree):
        def gradient(tree, most):
            def total(tree):
                return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(calls[name](tree, most)))

            gradients = jax.grad(total)(tree)
            return jax.tree.map(lambda leaf: bool(np.isfinite(leaf).all()), gradients)

        note = f"Is the gradient of the sum of all numbers that `{name}` returns finite?"
        if_wrong = {
            "": f"The gradient through your `{name}` is not finite at zeros. JAX follows each "
            "operation backwards, also one whose value you do not use, and a root has no finite "
            "slope at 0."
        }
        return Case(gradient, tree, fraction(rng), note=note, if_wrong=if_wrong)

    zeros = floats([0, 0])
    short = floats([rng.integers(1, 4), -rng.integers(1, 4)])
    long = floats([-rng.integers(4, 10), rng.integers(4, 10)])
    square = floats(rng.integers(4, 10, (2, 2)))
    # Beside the squares of these numbers, 1e-6 under the root does harm.
    tiny = floats(rng.permutation([0.001, 0.002]) * rng.choice([-1, 1], 2))
    leaf = dealing(short, long, square)
    simple = ("no leaves", "int keys", "unsorted keys", "OrderedDict", "repeated leaf")
    simple += ("nan", "infinity", *HALF)
    norm, other = np.linalg.norm(short), np.linalg.norm(long)
    both = np.hypot(norm, other)
    for name in calls:
        first, second = sorted(random_words(rng, 2))
        pair = {first: short, second: long}
        cases = [
            case(name, pair, between(rng, 0, 1)),
            case(name, pair, between(rng, 1, norm)),
            case(name, pair, between(rng, norm, other)),
            case(name, {first: long, second: short}, between(rng, norm, other)),
            case(name, pair, between(rng, other, both)),
            case(name, [short, long], between(rng, other, both)),
            case(name, pair, between(rng, both, 3 * both)),
            case(name, long, between(rng, 1, other)),
            case(name, short, between(rng, norm, norm**2)),
            case(name, square, between(rng, 1, 8)),
            case(name, {first: zeros, second: long}, between(rng, 1, other)),
            case(name, [zeros], fraction(rng)),
            case(name, tiny, between(rng, 0.0022, 0.004)),
            case(name, {first: zeros, second: tiny}, between(rng, 0.0022, 0.004)),
            case(name, tiny, between(rng, 0.0005, 0.002)),
            case(name, {first: zeros, second: tiny}, between(rng, 0.0005, 0.002)),
        ]
        cases.append(case(name, {"a": floats([3, 0]), "b": floats([0, 4])}, 1.0))
        trees = varied_trees(rng, leaf, values=jax.device_put, without=simple, rich=1)
        cases += [case(name, tree, fraction(rng)) for tree in trees]
        yield from shuffled(rng, cases)
        yield gradient_case(name, zeros)
        yield gradient_case(name, {first: zeros, second: zeros})
    yield gradient_case("clip_by_leaf", {"a": zeros, "b": long})


@check
def add_noise(answer, rng):
    """Where the same random numbers show: between leaves, between keys, between calls."""
    numbers = [int(each) for each in rng.choice(1000, 4, replace=False)]
    seed = numbers[0]

    def noise(tree, seed, scale=1.0):
        key = jax.random.key(seed) if isinstance(seed, int) else seed
        return added(answer(key, tree, scale), tree)

    def unchanged(tree, scale):
        return as_jax(answer(jax.random.key(seed), tree, scale))

    def different_numbers(tree, seed):
        return jax.tree.map(lambda each: len(set(first_alike(each.ravel()))), noise(tree, seed))

    def changed_numbers(tree, seed):
        return jax.tree.map(lambda each: int((each != 0).sum()), noise(tree, seed))

    def alike_leaves(tree, seed):
        return first_alike(jax.tree.leaves(noise(tree, seed)))

    def alike_calls(tree, seeds):
        return first_alike([np.concatenate(jax.tree.leaves(noise(tree, each))) for each in seeds])

    def sizes(seed, scale):
        def measure(each):
            # With 6,400 numbers, chance never rounds any of the three to another value.
            return {
                "deviation": to_a_power(each.std()),
                "mean / scale": round(each.mean() / scale / 0.2) * 0.2 + 0.0,
                "share beyond 1.04 * scale": round(float((abs(each) > 1.0364 * scale).mean()), 1),
            }

        return jax.tree.map(measure, noise(large, seed, scale))

    leaf = vectors(rng)
    w, b = leaf(), leaf()
    half = jax.device_put(rng.integers(1, 10, 2).astype(np.float16))
    few = ("no leaves", "unsorted keys", "int keys", "OrderedDict")
    note = "The scale is 0: no noise at all."
    kept = varied_trees(rng, leaf, edges=[half], values=jax.device_put, without=few, rich=0)
    for tree in kept:
        yield Case(unchanged, tree, 0.0, note=note)
    note = "The second number is the seed of the key. "
    said = "Counted in each leaf: the numbers that change."
    kept = "Some numbers of a leaf get no noise. Every number of every leaf gets its own."
    yield Case(
        changed_numbers, {"w": w, "b": b}, seed, note=note + said, if_wrong={"too low": kept}
    )
    yield Case(
        lambda tree, seed: changed_numbers(tree, jax.random.key(seed, impl="rbg")),
        {"w": w, "b": [b]},
        seed,
        note=note + said + " The key is of another kind, `rbg`.",
        if_wrong={"too low": kept},
    )
    said = "Counted in each leaf: how many different numbers the noise has."
    for tree in ({"w": w, "b": [b]}, matrix(rng), {"w": matrix(rng), "b": None}):
        few_numbers = (
            "Within a leaf, some numbers get the same noise. Draw a number for each place."
        )
        if_wrong = {"too low": few_numbers}
        yield Case(different_numbers, tree, seed, note=note + said, if_wrong=if_wrong)
    said = "For each leaf: the first leaf, counted from 0, that gets the same noise."
    first, second, third = random_words(rng, 3)
    alike = [
        {"w": w, "b": b},
        [w] * int(rng.integers(2, 5)),
        {first: {"w": leaf(), "b": leaf()}, second: {"w": leaf(), "b": leaf()}},
        {first: [leaf(), leaf()], third: (w, [leaf(), {"w": w}])},
    ]
    for tree in shuffled(rng, alike):
        drawn = numbers[rng.integers(4)]
        if_wrong = {"too low": "Some leaves get the same noise: their keys are equal."}
        yield Case(alike_leaves, tree, drawn, note=note + said, if_wrong=if_wrong)
    for tree in ({"w": w, "b": b}, [b]):
        seeds = [int(each) for each in rng.choice(numbers, 12 + rng.integers(3))]
        if_wrong = {
            "too low": "Two different keys give you the same noise: the caller's key does not "
            "decide all of it.",
            "too high": "The same key gives you another noise in another call: something else than "
            "the key decides it.",
        }
        yield Case(alike_calls, tree, seeds, note=SAME_NOISE, if_wrong=if_wrong)
    note = (
        "The numbers are the seed of the key, and the scale. The tree is "
        "`{'w': 80 rows of 80 numbers, 'b': None}`, and the deviation of its noise is rounded to a "
        "power of 1.2."
    )
    large = {"w": floats(rng.integers(-9, 10, (80, 80))), "b": None}
    for seed in numbers[:3]:
        scale = to_a_power(np.exp(rng.uniform(-3, 3)))
        yield Case(sizes, seed, scale, note=note, if_wrong=WRONG_NOISE)


@check
def decay_mask(answer, rng):
    """The whole name of the last entry, in dicts and namedtuples; lists and bare arrays."""
    array = dealing(*(np.ones([(2,), (2, 2)][kind], np.float32) for kind in rng.permutation(2)))
    names = ("bias", "weight", "bias_scale", "pre_bias", "Bias", "norm/bias", "norm.bias", "b")

    def skip():
        for _ in range(rng.integers(1, 3)):
            drawn = array()
        return drawn

    def leaves():
        drawn = {str(name): skip() for name in rng.permutation(names)[: rng.integers(2, 6)]}
        return {**drawn, "bias": skip()} if rng.random() < 0.6 else drawn

    def part():
        parts = [leaves, leaves, lambda: Layer(skip(), skip()), lambda: {"bias": leaves()}]
        parts += [lambda: [skip(), leaves()], lambda: {"bias": [skip(), leaves()]}]
        return parts[rng.integers(len(parts))]()

    first, second = random_words(rng, 2)
    vector, matrix = np.ones(2, np.float32), np.ones((2, 2), np.float32)
    small = [
        {},
        {"bias": vector},
        {"weight": matrix, "bias": vector},
        {"weight": vector, "bias": matrix},
        {first: {"bias": vector}},
        {"bias": {"weight": matrix}},
        {"bias": {"weight": vector, "bias": matrix}},
        {"bias": [matrix]},
        {"bias": None, "weight": matrix},
        {"bias_scale": vector},
        {"weight": matrix, "unbiased": vector},
        {"pre_bias": vector},
        {first: {"prebias": matrix}},
        {"Bias": vector},
        {"norm/bias": vector},
        {first: {"norm/bias": matrix, "norm.bias": vector}},
        {int(rng.integers(9)): vector, 10: matrix},
        [vector, matrix],
        [vector, {"bias": vector}],
        (matrix, None),
        Layer(weight=matrix, bias=vector),
        {second: Layer(weight=vector, bias=matrix)},
        Layer(weight={"bias": vector}, bias=[matrix]),
        {"head": {"weight": np.ones((2, 2)), "bias": np.ones(2)}},
        {".bias": vector, "weight": matrix},
        {first: {"['bias']": matrix, "bias'": vector}},
        {"[bias]": matrix},
        {0: vector, 1: {"": matrix, "bias": vector}},
    ]
    classes = ["registered class", "class in itself", "registered class below the top"]
    small += varied_trees(rng, array, without=classes, rich=0)
    for tree in shuffled(rng, small):
        yield Case(answer, tree)
    for bare in (matrix, vector):
        yield Case(answer, bare, note="A bare array: its path is empty.")
    for _ in range(5 + rng.integers(3)):
        yield Case(answer, {name: part() for name in random_words(rng, 5)})


@check
def rates_by_part(answer, rng):
    """`rates` may stop early, at any depth, and may not go deeper than the parameters."""
    answer = returning_jax(answer)
    leaf = vectors(rng)

    def layer():
        return {"w": leaf(), "b": leaf()}

    def rate():
        return fraction(rng)

    def shortened(tree):
        """Draw a prefix: numbers in the place of some parts."""

        def is_cut(node):
            return node is not tree and rng.random() < 0.5

        return jax.tree.map(lambda _: rate(), tree, is_leaf=is_cut)

    def case(rates, params, note=""):
        return Case(answer, rates, params, fitting(params, leaf), note=note)

    first, second = sorted(random_words(rng, 2))
    without = HALF
    for params in varied_trees(rng, leaf, values=jax.device_put, without=without, rich=2):
        yield case(shortened(params), params)
    part, single = {"w": floats([1]), "b": floats([1])}, floats([1])
    given = {"body": part, "head": single}
    yield Case(answer, {"body": 0.5, "head": 0.0}, given, given)
    small = [
        (rate(), layer()),
        (rate(), [leaf(), (leaf(), None)]),
        ({"w": rate(), "b": rate()}, layer()),
        ({first: rate(), second: rate()}, {first: layer(), second: layer()}),
        ({first: rate(), second: [rate(), rate()]}, {first: layer(), second: [layer(), leaf()]}),
        ({first: rate(), second: rate()}, {first: leaf(), second: layer()}),
        ([rate(), {"w": rate(), "b": rate()}], [[leaf(), None], layer()]),
        ({first: 0.0, second: rate()}, {first: leaf(), second: layer()}),
        (0.0, layer()),
        (number(rng), layer()),
    ]
    beside = "In `rates`, a `None` stands beside an array or a part."
    no_prefix = [
        ({"w": {"v": rate()}}, {"w": leaf()}, "`rates` goes deeper."),
        ([rate(), [rate()]], [layer(), leaf()], "`rates` goes deeper."),
        ({first: rate(), second: (rate(), rate())}, layer(), "The keys differ."),
        ({first: rate()}, {first: layer(), second: leaf()}, "`rates` has a key less."),
        ({first: rate(), second: rate()}, {first: leaf()}, "`rates` has a key more."),
        ([rate(), rate()], (leaf(), leaf()), "A list and a tuple."),
        ([rate()], (layer(),), "A list and a tuple."),
        ({first: rate(), second: None}, {first: leaf(), second: leaf()}, beside),
        ({first: None, second: rate()}, {first: layer(), second: leaf()}, beside),
        ([rate(), {"w": rate(), "b": None}], [leaf(), layer()], beside),
        (None, leaf(), beside),
        ([[rate()], rate()], [(layer(),), leaf()], "A list and a tuple."),
        ([rate(), rate()], [leaf(), leaf(), leaf()], "The lists have different lengths."),
        ({first: [rate(), rate()]}, {first: [layer()]}, "The lists have different lengths."),
    ]
    for each in shuffled(rng, small + no_prefix):
        yield case(*each)


@check
def stack_trees(stack, unstack, rng):
    """A new first axis in each leaf, the tree around it as before; and the way back."""
    stack, unstack = returning_jax(stack), returning_jax(unstack)
    leaf = vectors(rng)
    square = dealing(*(matrix(rng) for _ in range(5)))
    single = dealing(*(floats(number(rng)) for _ in range(5)))
    row = floats(rng.integers(1, 10, (1, 2)))
    column = dealing(*(floats(rng.integers(1, 10, (2, 1))) for _ in "12"))

    def several(tree):
        return [like(tree, leaf) for _ in range(rng.integers(2, 4))]

    def averaged(trees):
        return jax.tree.map(lambda leaf: np.asarray(leaf, np.float64).mean(axis=0), stack(trees))

    for tree in varied_trees(rng, leaf, rich=1):
        yield Case(stack, several(tree))
    for tree in varied_trees(rng, leaf, values=jax.device_put, without=["trees"], rich=0):
        yield Case(stack, [tree, tree])
    yield Case(stack, [{"w": floats([1, 2])}, {"w": floats([3, 4])}])
    first, second = sorted(random_words(rng, 2))
    cases = [
        Case(stack, [{first: leaf(), second: leaf()}], note="A list of one tree."),
        Case(stack, [leaf()], note="A list of one tree."),
        Case(stack, [single(), single()], note="The leaves are single numbers."),
        Case(stack, [{first: single()}, {first: single()}], note="The leaves are single numbers."),
        Case(stack, [square(), square()], note="The leaves are matrices."),
        Case(stack, [{first: square(), second: leaf()}, {first: square(), second: leaf()}]),
    ]
    for one, other, note in differing_pairs(rng, leaf):
        trees = [like(one, leaf), one, other][rng.integers(2) :]
        cases.append(Case(refusing(stack), trees, note=note))
    note = "The trees are stacked, and each leaf is averaged over its first axis."
    for tree in ({first: leaf(), second: leaf()}, [leaf(), None, {second: leaf()}], leaf()):
        trees = [like(tree, lambda: vector(rng)) for _ in range(3)]
        if_wrong = {
            "": "The average over the first axis of your leaves is not the average of the trees: "
            "the rows along this axis have to be the leaves of the trees."
        }
        cases.append(Case(averaged, trees, note=note, if_wrong=if_wrong))
    yield from shuffled(rng, cases)

    few = ("no leaves", "one leaf", "repeated leaf", "empty container", "int keys")
    few += ("unsorted keys", "tuple", "dict in a dict", "registered class")
    trees = varied_trees(rng, [leaf, square][rng.integers(2)], without=few, rich=1)
    trees += [
        {first: square(), second: leaf(), "more": [leaf(), None]},
        {first: square()},
        {"w": floats([[1, 2], [3, 4]])},
        row,
        [row, row],
        column(),
        {first: column(), second: square()},
    ]
    for tree in shuffled(rng, trees):
        yield Case(unstack, tree)


@jax.tree_util.register_pytree_with_keys_class
class Watched:
    """A node that counts how often it is opened while JAX traces."""

    opened = 0

    def __init__(self, weights, single):
        self.weights, self.single = weights, single

    def __repr__(self):
        return f"Watched({self.weights!r}, {self.single!r})"

    def tree_flatten_with_keys(self):
        Watched.opened += isinstance(self.single, jax.core.Tracer)
        names = ("weights", "single")
        return [(jax.tree_util.GetAttrKey(name), getattr(self, name)) for name in names], None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


@check
def perturb(answer, rng):
    """Noise, then clip, then zero; one program, for every scale and every `most`."""
    seeds = [int(each) for each in rng.choice(1000, 12, replace=False)]

    # Nearly all cases share one structure and one set of shapes: they need one program. They are
    # few, for an answer without a `jax.jit` that lasts compiles in each call.
    def params(one, other, bias):
        weights = Watched([other], floats(number(rng)))
        return {"a": bias, "b": one, "c": None, "d": weights}

    given = params(matrix(rng), -matrix(rng), vector(rng))
    zeros, no_bias = (floats(np.zeros(shape)) for shape in ((2, 2), 2))

    def run(params, scale, most):
        return answer(jax.random.key(seeds[0]), params, scale, most)

    def exact(params, scale, most):
        return as_jax(run(params, scale, most))

    def norms(params, scale, most):
        result = run(params, scale, most)
        return jax.tree.map(lambda leaf: float(np.linalg.norm(leaf)), result)

    @jax.jit
    def for_each_key(params, scale, seeds):
        # In one program, for an answer that compiles in each call.
        def call(seed):
            return answer(jax.random.key(seed), params, scale, 1e6)

        return jax.lax.map(call, seeds)

    def noise(params, scale, seeds):
        batch = added(for_each_key(params, scale, np.asarray(seeds)), params)
        matrices = [leaf for leaf in jax.tree.leaves(batch) if leaf.ndim == 3]
        by_key = np.concatenate(matrices, axis=1).reshape(len(seeds), -1)
        alike = first_alike(by_key)
        return {
            "first with the same noise": alike,
            "different numbers, first key": len(set(first_alike(by_key[0]))),
            # The deviation of 96 numbers is far from where it would be rounded otherwise; that of
            # the 8 numbers of one key is anywhere.
            "deviation": to_a_power(by_key.std(), 2.5) if len(set(alike)) > 6 else None,
        }

    def traced_again(params, scales):
        def traces(scale):
            before = Watched.opened
            run(params, scale, 2 * scale)
            return Watched.opened > before

        # A first call may have to trace.
        return [traces(scale) for scale in (1.0, *scales)][1:]

    def shapes(tree):
        """Look at shapes and dtypes alone, which costs no compilation."""
        return jax.eval_shape(answer, jax.random.key(0), tree, 1.0, 1.0)

    def is_one(tree, scale, most):
        """Whether a call is one jitted program, with `scale` and `most` among its inputs."""
        key = jax.random.key(seeds[0])
        return is_one_program(lambda scale, most: answer(key, tree, scale, most), scale, most)

    some = [float(np.linalg.norm(leaf)) for leaf in jax.tree.leaves(given) if leaf.ndim == 2]
    low, high = sorted(some)
    one_zero = params(zeros, matrix(rng), vector(rng))
    exactly = [
        (given, between(rng, high, 99), "Nothing is clipped."),
        (given, between(rng, low, high), "One matrix is clipped."),
        (one_zero, fraction(rng), "A matrix is all zeros."),
        (params(zeros, zeros, no_bias), fraction(rng), "Both matrices and the vector are zeros."),
    ]
    cases = [Case(exact, tree, 0.0, most, note="Without noise. " + n) for tree, most, n in exactly]
    note = "The norms of the leaves, after much noise."
    cases += [Case(norms, given, 1000.0, fraction(rng), note=note) for _ in range(2)]
    note = (
        "The numbers are seeds of keys. A jitted function calls yours with one key after another, "
        "and looks at what is added to the two matrices. For each key: the first, counted from 0, "
        "with the same noise. For the first key: how many different numbers. For all keys: the "
        "deviation, rounded to a power of 2.5."
    )
    for _ in range(2):
        scale = to_a_power(np.exp(rng.uniform(2, 7)), 2.5)
        drawn = rng.permutation([*seeds, *rng.choice(seeds, 6)]).tolist()
        cases.append(Case(noise, given, scale, drawn, note=note, if_wrong=WRONG_CALLS))
    yield from shuffled(rng, cases)
    note = "Each number is a `scale`, and twice that is `most`. Which calls need a new trace?"
    for count in rng.permutation(2):
        scales = [fraction(rng) for _ in range(count + 1)]
        if_wrong = {
            "True": "JAX traces your function again for a new `scale` and `most`: make one jitted "
            "function, once, and pass both to it as ordinary arguments.",
        }
        yield Case(traced_again, given, scales, note=note, if_wrong=if_wrong)
    note = "Only shapes and dtypes are looked at."
    small = ("no leaves", "unsorted keys", "int keys", "OrderedDict", "empty container", "one leaf")
    for tree in shuffled(rng, varied_trees(rng, lambda: zeros, without=small, rich=0))[:3]:
        yield Case(shapes, tree, note=note)
    note = "Is the whole call one jitted program?"
    for tree in (given, {"w": matrix(rng)}):
        numbers = fraction(rng), fraction(rng)
        if_wrong = {
            "": "A call of your `perturb` is not one jitted program: some operations stand outside "
            "of the `jax.jit`, or there are several jitted functions."
        }
        yield Case(is_one, tree, *numbers, note=note, if_wrong=if_wrong)


@check
def fill_missing(answer, rng):
    """None stands for a whole part; 0 and empty containers are values; the rest must agree."""

    def leaf():
        return number(rng)

    def part():
        parts = [leaf, lambda: {"w": leaf(), "b": leaf()}, lambda: [leaf(), leaf()]]
        parts += [lambda: (leaf(),), lambda: Layer(leaf(), [leaf()]), lambda: None]
        return parts[rng.integers(len(parts))]()

    def with_gaps(defaults):
        """Draw a tree for these defaults: None in the place of some leaves, and of some parts."""

        def is_cut(node):
            return node is not defaults and rng.random() < 0.2

        def leaf_or_none(_):
            return None if rng.random() < 0.5 else leaf()

        return jax.tree.map(leaf_or_none, defaults, is_leaf=is_cut)

    first, second, third = sorted(random_words(rng, 3))
    array = np.array([number(rng), 0], np.float32)
    two = {first: leaf(), second: leaf()}
    gap = {first: leaf(), second: None}
    small = [
        (None, leaf()),
        (leaf(), leaf()),
        (None, [leaf(), {first: leaf()}]),
        (gap, two),
        ({first: None, second: leaf()}, two),
        ([leaf(), None], [leaf(), leaf()]),
        ((None, leaf()), (leaf(), leaf())),
        (Layer(None, leaf()), Layer(leaf(), leaf())),
        ([Duo(leaf(), None)], [Duo(leaf(), leaf())]),
        ({first: Layer(None, None)}, {first: Layer(leaf(), leaf())}),
        (OrderedDict({second: None, first: leaf()}), OrderedDict({second: leaf(), first: leaf()})),
        ([{first: None}, None], [{first: leaf()}, leaf()]),
        ({first: {second: None}}, {first: {second: leaf()}}),
        (gap, {first: leaf(), second: [leaf(), {third: leaf()}]}),
        ([None, leaf()], [{first: leaf()}, leaf()]),
        (gap, {first: leaf(), second: None}),
        ([None, leaf()], [None, leaf()]),
        ([leaf(), None], [None, leaf()]),
        ({first: leaf()}, {first: None}),
        ({first: leaf(), second: None}, {first: [leaf(), leaf()], second: leaf()}),
        ([leaf()], [{first: leaf()}]),
        ([leaf()], [()]),
        ({first: 0, second: None}, two),
        ([0.0, None], [leaf(), leaf()]),
        ([False, leaf()], [leaf(), leaf()]),
        ({first: array, second: None}, two),
        ([None, array], [leaf(), leaf()]),
        ([None, leaf()], [array, array]),
        ([None, leaf()], [0, leaf()]),
        ({first: (), second: None}, {first: (), second: leaf()}),
        ([{}, None], [{}, leaf()]),
        ({"w": 1, "b": None, "more": None}, {"w": 5, "b": 6, "more": [7, 8]}),
        ([8, None, None], [1, 8.0, np.int64(8)]),
    ]
    drawn = varied_trees(rng, leaf, values=np.asarray, rich=0)
    small += [(with_gaps(defaults), defaults) for defaults in drawn]
    differing = [
        ({first: (), second: None}, {first: (leaf(),), second: leaf()}),
        ([{}, None], [{first: leaf()}, leaf()]),
        ({first: None}, {second: leaf()}),
        ({first: None, second: leaf()}, {first: leaf(), third: leaf()}),
        (gap, {**two, third: leaf()}),
        (gap, {second: leaf()}),
        ([None, leaf()], (leaf(), leaf())),
        ({first: (None,)}, {first: [leaf()]}),
        ([None, leaf()], [leaf(), leaf(), leaf()]),
        ([None, leaf()], [leaf()]),
        ((None, leaf()), Layer(leaf(), leaf())),
    ]
    note = "Where `tree` has a node, `defaults` has another."
    pairs = [(*pair, "") for pair in small] + [(*pair, note) for pair in differing]
    # Each tree has containers of its own, for an answer that writes into them.
    cases = [
        Case(answer, jax.tree.map(lambda each: each, tree), defaults, note=note)
        for tree, defaults, note in pairs
    ]
    yield from shuffled(rng, cases)
    for _ in range(4 + rng.integers(3)):
        names = random_words(rng, 5)
        defaults = {name: {"x": part(), "y": [leaf(), part()]} for name in names}
        yield Case(answer, with_gaps(defaults), defaults)


@check
def batched_apply(answer, rng):
    """An entry for each part of `params`, one for `x`; parts may be trees; same sizes may lie."""
    first, second = random_words(rng, 2)
    longer = f"{first}_2"  # the shorter name is a piece of it

    def plain(params, x):
        return params[first] * x + params[longer]

    def nested(params, x):
        part, other = params[first], params[longer]
        return {"y": part["w"] * x + part["b"][0], second: (other + x, part["b"][0])}

    def wide(params, x):
        return params[longer]["w"] * x - params[first]

    def same_name_inside(params, x):
        return params[first] * x + params[longer][first]

    def case(function, params, batched, note, x=None):
        def call(params, batched, x):
            return as_jax(answer(function, params, batched, x))

        return Case(call, params, batched, leaf() if x is None else x, note=note)

    leaf = vectors(rng)
    single = floats(number(rng))
    p = f"p['{first}']"
    o = f"p['{longer}']"
    note = f"The function is `lambda p, x: {p} * x + {o}`."
    both = [first, longer]
    cases = [
        case(plain, {first: leaf(), longer: leaf()}, batched, note)
        for batched in (both, both[::-1], [first], [longer], [])
    ]
    cases += [
        case(plain, {first: leaf(), longer: single}, [first], note),
        case(plain, {longer: leaf(), first: single}, [longer], note),
        case(plain, {longer: single, first: single}, [], note),
        case(plain, {first: leaf(), longer: matrix(rng)}, [first], note),
        case(plain, {first: matrix(rng), longer: leaf()}, [longer], note),
        case(plain, {first: leaf(), longer: single}, [first], note, matrix(rng)),
        case(plain, {first: single, longer: leaf()}, [longer], note, matrix(rng)),
    ]
    y = f"{p}['w'] * x + {p}['b'][0]"
    note = f"The function returns `{{'y': {y}, '{second}': ({o} + x, {p}['b'][0])}}`."
    for batched in ([first], [longer], both[::-1]):
        part = {"w": leaf(), "b": [leaf()]}
        cases.append(case(nested, {first: part, longer: leaf()}, batched, note))
    note = f"The function is `lambda p, x: {o}['w'] * x - {p}`."
    for batched in ([longer], [first], both):
        params = {first: leaf(), longer: {"w": [leaf, lambda: matrix(rng)][longer in batched]()}}
        cases.append(case(wide, params, batched, note))
    note = f"The function is `lambda p, x: {p} * x + {o}['{first}']`."
    for batched, inside in (([first], leaf()), ([first], matrix(rng)), ([longer], leaf())):
        params = {first: leaf(), longer: {first: inside}}
        cases.append(case(same_name_inside, params, batched, note))
    yield from shuffled(rng, cases)
    for x in (leaf(), matrix(rng)):
        note = "There are no parts. The function is `lambda p, x: 2 * x`."
        yield case(lambda p, x: 2 * x, {}, [], note, x)
    parts = {"w": floats([2, 3]), "b": floats(10)}
    note = "The function is `lambda p, x: p['w'] * x + p['b']`."
    yield case(lambda p, x: p["w"] * x + p["b"], parts, ["w"], note, floats([1, 2]))


MAPPED = {
    "lambda leaf: 2 * leaf": lambda leaf: 2 * leaf,
    'lambda leaf: (leaf, "new")': lambda leaf: (leaf, "new"),
    "lambda *row: row": lambda *row: row,
    "lambda a, *rest: a - sum(rest)": lambda a, *rest: a - sum(rest),
    "abs": abs,
    "max": max,
}
"""The functions that are mapped, by their code: a case shows the code."""


def mapping(answer):
    return wraps(answer)(lambda f, *trees: answer(MAPPED[f], *trees))


@check
def map_tree(answer, rng):
    """Every leaf goes through the function once; nodes, keys and None stay."""
    answer = mapping(answer)

    def leaf():
        return number(rng)

    trees = varied_trees(rng, leaf)
    first, second = sorted(random_words(rng, 2))
    trees += [[leaf(), [leaf(), {second: leaf(), first: None}]], {first: Duo(leaf(), [leaf()])}]
    for tree in shuffled(rng, trees):
        yield Case(answer, "lambda leaf: 2 * leaf", tree)
    for tree in shuffled(rng, [leaf(), [leaf(), (leaf(),)], {first: leaf(), second: None}]):
        yield Case(answer, 'lambda leaf: (leaf, "new")', tree)
    yield Case(answer, "abs", {"w": [-1, 2], "b": None})


@check
def map_trees(answer, rng):
    """The first tree decides where the leaves are; the others are taken apart up to there."""
    answer = mapping(answer)
    row = "lambda *row: row"

    def leaf():
        return number(rng)

    for tree in varied_trees(rng, leaf, rich=1):
        yield Case(answer, row, tree, like(tree, leaf))
    first, second = sorted(random_words(rng, 2))
    two = {second: leaf(), first: [leaf(), None]}
    for count in (0, 1, 2, 3):
        trees = [two, *(like(two, leaf) for _ in range(count))]
        yield Case(answer, "lambda a, *rest: a - sum(rest)", *trees)
    deeper = [
        ({first: leaf(), second: leaf()}, {first: {"w": leaf(), "b": leaf()}, second: leaf()}),
        ([leaf(), leaf()], [(leaf(), leaf()), [leaf()]]),
        (leaf(), {first: leaf(), second: [leaf()]}),
        ({first: leaf()}, {first: [None, leaf()]}),
        ([leaf(), leaf()], [leaf(), None]),
        ({first: leaf(), second: leaf()}, {first: None, second: leaf()}),
    ]
    for trees in shuffled(rng, deeper):
        yield Case(answer, row, *trees, note="The second tree goes on below a leaf of the first.")
    yield Case(answer, row, {first: leaf()}, {first: leaf()}, {first: (leaf(), leaf())})
    for one, other, note in differing_pairs(rng, leaf):
        yield Case(refusing(answer), row, one, other, note=note)
    yield Case(answer, "max", [1, 5], [3, 4])


@check
def same_shapes(answer, rng):
    """Shapes count; values, dtypes and structures do not."""

    @wraps(answer)
    def says(a, b):
        result = answer(a, b)
        return bool(result) if isinstance(result, np.bool_ | jax.Array) else result

    def says_all(pairs):
        return [says(*pair) for pair in pairs]

    def array(*shape, dtype=np.float32):
        return rng.integers(2, 100, shape).astype(dtype)

    def twin(tree):
        return jax.tree.map(lambda leaf: array(*leaf.shape), tree)

    shapes = [(2,), (2, 1), (1, 2), (3,), (2, 3), (3, 2), (), (6,), (1,), (2, 3, 1)]

    def other(shape):
        return array(*shuffled(rng, [each for each in shapes if each != shape])[0])

    def draw_pair(alike):
        first, second = sorted(random_words(rng, 2))
        one = {second: array(*shuffled(rng, shapes)[0]), first: [array(2), array(2, 3)]}
        two = twin(one)
        if not alike:
            place = [(two, second), (two[first], 0), (two[first], 1)][rng.integers(3)]
            place[0][place[1]] = other(place[0][place[1]].shape)
        return one, two

    first, second = sorted(random_words(rng, 2))
    yield Case(says, {first: array(2)}, {first: array(2, 1)})
    yield Case(says, {first: array(2, 3)}, {first: array(3, 2)})
    yield Case(says, {first: array(6)}, {first: array(2, 3)})
    yield Case(says, {first: array(2), second: array(2)}, {first: array(2), second: array(3)})
    yield Case(says, [array(3), [array(2)]], [array(3), [array(2, 1)]])
    yield Case(says, [array(2), [array(3)]], [array(1), [array(3)]])
    yield Case(says, [array(2)], [array(2, dtype=np.int32)])
    yield Case(says, {first: array(2, 3)}, {first: array(2, 3, dtype=np.float16)})
    yield Case(says, array(), array(1))
    yield Case(says, array(0), array(0, 2))
    for tree in varied_trees(rng, lambda: array(2), rich=1):
        yield Case(says, tree, twin(tree))
    for _ in range(rng.integers(4, 7)):
        pairs = [draw_pair(bool(rng.integers(2))) for _ in range(8)]
        yield Case(says_all, pairs, note="Your function is called with each pair.")


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
