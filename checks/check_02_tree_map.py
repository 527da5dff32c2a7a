"""Checks of lesson 2, tree.map.

python checks/check_02_tree_map.py exercises/02_tree_map_exercises.ipynb
"""

from collections import OrderedDict
from itertools import cycle
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from pytree_course.checking import (
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
    return jnp.asarray(np.asarray(values, np.float32))


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


def differing_pairs(rng, leaf):
    """Return pairs of trees of different structures, and what differs."""
    first, second, third = sorted(random_words(rng, 3))
    two = {first: leaf(), second: leaf()}
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
    ]


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
    whole = jnp.asarray(rng.integers(1, 10, 2).astype(np.int32))
    single = floats(number(rng))
    for tree in varied_trees(rng, leaf, edges=[single], rich=1):
        yield Case(scale, tree, fraction(rng))
    yield Case(scale, {"w": leaf()}, float(number(rng)), note="The factor is a whole number.")
    yield Case(scale, [None, {"b": None, "w": leaf()}], fraction(rng))
    few = ("unsorted keys", "OrderedDict", "int keys", "repeated leaf", "dict in a list", "list")
    edges = [endless, undefined, whole, single]
    for tree in varied_trees(rng, leaf, edges=edges, without=few, rich=1):
        yield Case(zero, tree)
    yield Case(zero, whole, note="An array of whole numbers (int32).")
    yield Case(zero, [endless, leaf()], note="The first array holds `inf`.")
    yield Case(zero, [undefined, leaf()], note="The first array holds `nan`.")


@check
def sgd_step(answer, rng):
    """Leaves are paired by structure: same kinds of nodes, same keys, None beside None."""
    answer = returning_jax(answer)
    leaf = vectors(rng)
    for params in varied_trees(rng, leaf, rich=1):
        yield Case(answer, params, like(params, leaf), fraction(rng))
    first, second = sorted(random_words(rng, 2))
    one, other = ({first: leaf(), second: leaf()} for _ in range(2))
    yield Case(answer, one, {second: other[second], first: other[first]}, fraction(rng))
    for params, grads, note in shuffled(rng, differing_pairs(rng, leaf)):
        yield Case(answer, params, grads, fraction(rng), note=note)


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
    for tree in varied_trees(rng, leaf, edges=[zeros, single], without=["no leaves"]):
        yield Case(norm, tree)
    yield Case(norm, {}, note="There are no leaves.")
    yield Case(norm, [None, ({},)], note="There are no leaves.")
    yield Case(norm, {"w": matrix(rng)}, note="One matrix.")
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
    ]
    for shapes in shuffled(rng, small):
        yield Case(answer, shapes)
    for _ in range(2 + rng.integers(2)):
        yield Case(answer, {name: tree() for name in random_words(rng, 4)})
    note = "How many numbers does each array hold? `jax.eval_shape` asks, so no array is made."
    for _ in range(3):
        two, three = rng.integers(2, 100, (2, 2)).tolist(), rng.integers(2, 20, 3).tolist()
        shapes = shuffled(rng, [tuple(two[0]), {first: tuple(two[1]), second: tuple(three)}])
        yield Case(sizes, shapes, note=note, tags=("under `jax.eval_shape`",))


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

            return as_jax(jax.grad(total)(tree))

        note = f"This is the gradient of the sum of all numbers that `{name}` returns."
        return Case(gradient, tree, fraction(rng), note=note, tags=("its gradient",))

    zeros = floats([0, 0])
    short = floats([rng.integers(1, 4), -rng.integers(1, 4)])
    long = floats([-rng.integers(4, 10), rng.integers(4, 10)])
    square = floats(rng.integers(4, 10, (2, 2)))
    # Beside the squares of these numbers, 1e-6 under the root does no harm; 1e-5 does.
    tiny = floats(rng.permutation([0.001, 0.002]) * rng.choice([-1, 1], 2))
    leaf = dealing(short, long, square)
    simple = ("no leaves", "int keys", "unsorted keys", "OrderedDict", "repeated leaf", "one leaf")
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
        ]
        trees = varied_trees(rng, leaf, without=simple, rich=1)
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
        return added(answer(jax.random.key(seed), tree, scale), tree)

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
    half = jnp.asarray(rng.integers(1, 10, 2).astype(np.float16))
    few = ("no leaves", "unsorted keys", "int keys", "OrderedDict", "one leaf", "empty container")
    note = "The scale is 0: no noise at all."
    for tree in varied_trees(rng, leaf, edges=[half, half], without=few, rich=0):
        yield Case(unchanged, tree, 0.0, note=note)
    note = "The second number is the seed of the key. "
    said = "Counted in each leaf: the numbers that change."
    yield Case(changed_numbers, {"w": w, "b": b}, seed, note=note + said)
    said = "Counted in each leaf: how many different numbers the noise has."
    for tree in ({"w": w, "b": [b]}, matrix(rng), {"w": matrix(rng), "b": None}):
        yield Case(different_numbers, tree, seed, note=note + said)
    said = "For each leaf: the first leaf, counted from 0, that gets the same noise."
    first, second, third = random_words(rng, 3)
    alike = [
        {"w": w, "b": b},
        [w] * int(rng.integers(2, 5)),
        {first: {"w": leaf(), "b": leaf()}, second: {"w": leaf(), "b": leaf()}},
        {first: [leaf(), leaf()], third: (w, [leaf(), {"w": w}])},
    ]
    for tree in shuffled(rng, alike):
        yield Case(alike_leaves, tree, numbers[rng.integers(4)], note=note + said)
    for tree in ({"w": w, "b": b}, [b]):
        seeds = [int(each) for each in rng.choice(numbers, 12 + rng.integers(3))]
        yield Case(alike_calls, tree, seeds, note=SAME_NOISE)
    note = (
        "The numbers are the seed of the key, and the scale. The tree is "
        "`{'w': 80 rows of 80 numbers, 'b': None}`, and the deviation of its noise is rounded to a "
        "power of 1.2."
    )
    large = {"w": floats(rng.integers(-9, 10, (80, 80))), "b": None}
    for seed in numbers[:3]:
        yield Case(sizes, seed, to_a_power(np.exp(rng.uniform(-3, 3))), note=note)


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
    ]
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
        return Case(answer, rates, params, like(params, leaf), note=note)

    first, second = sorted(random_words(rng, 2))
    few = ("one leaf", "repeated leaf", "empty container")
    for params in varied_trees(rng, leaf, without=few, rich=2):
        yield case(shortened(params), params)
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

    few = ("no leaves", "one leaf", "repeated leaf", "empty container")
    for tree in varied_trees(rng, leaf, without=few, rich=1):
        yield Case(stack, several(tree))
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
        cases.append(Case(stack, trees, note=note))
    note = "The trees are stacked, and each leaf is averaged over its first axis."
    for tree in ({first: leaf(), second: leaf()}, [leaf(), None, {second: leaf()}], leaf()):
        trees = [like(tree, lambda: vector(rng)) for _ in range(3)]
        cases.append(Case(averaged, trees, note=note, tags=("an average",)))
    yield from shuffled(rng, cases)

    few += ("int keys", "unsorted keys", "tuple", "dict in a dict", "registered class")
    trees = varied_trees(rng, [leaf, square][rng.integers(2)], without=few, rich=1)
    trees += [
        {first: square(), second: leaf(), "more": [leaf(), None]},
        {first: square()},
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
        return {
            "first with the same noise": first_alike(by_key),
            "different numbers, first key": len(set(first_alike(by_key[0]))),
            # The deviation of 96 numbers is far from where it would be rounded otherwise.
            "deviation": to_a_power(by_key.std(), 2.5),
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
        cases.append(Case(noise, given, scale, drawn, note=note, tags=("under jit",)))
    yield from shuffled(rng, cases)
    note = "Each number is a `scale`, and twice that is `most`. Which calls need a new trace?"
    for count in rng.permutation(2):
        scales = [fraction(rng) for _ in range(count + 1)]
        yield Case(traced_again, given, scales, note=note, tags=("several calls",))
    note = "Only shapes and dtypes are looked at."
    small = ("no leaves", "unsorted keys", "int keys", "OrderedDict", "empty container", "one leaf")
    for tree in shuffled(rng, varied_trees(rng, lambda: zeros, without=small, rich=0))[:3]:
        yield Case(shapes, tree, note=note, tags=("shapes alone",))
    note = "Is the whole call one jitted program?"
    for tree in (given, {"w": matrix(rng)}):
        yield Case(is_one, tree, fraction(rng), fraction(rng), note=note)


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
    ]
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
    cases = [Case(answer, *pair) for pair in small]
    note = "Where `tree` has a node, `defaults` has another."
    cases += [Case(answer, *pair, note=note) for pair in differing]
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
    yield from shuffled(rng, cases)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
