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
    matrix,
    random_words,
    returning_jax,
    shuffled,
    small_trees,
    vector,
)

WRONG_NOISE = {
    "deviation too high": "The deviation of your noise is larger than `scale`.",
    "deviation too low": "The deviation of your noise is smaller than `scale`.",
    "mean / scale": "The mean of your noise is not near 0.",
}
OWN_NOISE = "Each leaf needs a key of its own, and each number of a leaf a number of its own."
OTHER_CALLS = {
    "too low": "Two different keys give you the same noise: the caller's key does not decide all "
    "of it.",
    "too high": "The same key gives you another noise in another call: something else than the "
    "key decides it.",
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
    """Return a function that gives these again and again: faster than making new arrays."""
    endless = cycle(arrays)
    return lambda: next(endless)


def vectors(rng):
    return dealing(*(vector(rng) for _ in range(7)))


def like(tree, leaf):
    """Return a tree of the same structure with other leaves."""
    return jax.tree.map(lambda _: leaf(), tree)


def differing_pairs(rng, leaf):
    """Return pairs of trees of different structures, and what differs."""
    first, second, third = sorted(random_words(rng, 3))
    two = {first: leaf(), second: leaf()}
    numbers = [floats(number(rng)), floats(number(rng))]
    return [
        ({first: leaf()}, {second: leaf()}, "The keys differ."),
        ([two], [{first: leaf()}], "The first tree has a key more."),
        (two, {**two, third: leaf()}, "The second tree has a key more."),
        ({first: [leaf()]}, {first: [leaf(), leaf()]}, "The lists have different lengths."),
        ([leaf(), leaf()], [leaf()], "The lists have different lengths."),
        ([leaf(), leaf()], (leaf(), leaf()), "A list and a tuple."),
        ((leaf(), leaf()), Layer(leaf(), leaf()), "A tuple and a namedtuple."),
        (two, {first: numbers, second: leaf()}, "An array stands beside a list of numbers."),
        ([leaf()], [tuple(numbers)], "An array stands beside a tuple of numbers."),
        ([{first: leaf()}], [leaf()], "A dict stands beside an array."),
        (two, {first: {third: leaf()}, second: leaf()}, "An array stands beside a dict."),
        ({first: leaf(), second: None}, two, "A `None` stands beside an array."),
        ([None, leaf()], [leaf(), leaf()], "A `None` stands beside an array."),
        (two, {first: leaf(), second: None}, "An array stands beside a `None`."),
        ([leaf(), leaf()], [None, leaf()], "An array stands beside a `None`."),
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
        lambda new, old: np.asarray(new, float) - np.asarray(old, float), result, tree
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
    leaf = dealing(*(draw(rng) for _ in range(4) for draw in (vector, matrix)))
    endless = floats([np.inf, number(rng)])
    undefined = floats([number(rng), np.nan])
    whole = jax.device_put(rng.integers(1, 10, 2).astype(np.int32))
    ones = floats([1, 1])
    for tree in small_trees(rng, leaf):
        yield Case(scale, tree, fraction(rng))
    yield Case(scale, {"w": ones, "b": None}, 3.0)
    edges = [endless, undefined, whole, floats(number(rng))]
    for tree in small_trees(rng, leaf, edges):
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
    for params in small_trees(rng, leaf):
        yield Case(answer, params, like(params, leaf), fraction(rng))
    yield Case(answer, {"w": floats([1, 2])}, {"w": floats([2, 2])}, 0.5)
    yield Case(answer, [None, leaf()], [None, leaf()], fraction(rng))
    for params, grads, note in shuffled(rng, differing_pairs(rng, leaf)):
        yield Case(refusing(answer), params, grads, fraction(rng), note=note)


@check
def global_norm(answer, rng):
    """One number for the whole tree: all squares, one root; an empty tree has norm 0."""

    def norm(tree):
        result = answer(tree)
        # A scalar of any library and precision is as good; an array is not.
        scalars = (int, float, np.number, np.ndarray, jax.Array)
        is_scalar = isinstance(result, scalars) and np.ndim(result) == 0
        return float(result) if is_scalar else as_jax(result)

    leaf = dealing(vector(rng), -matrix(rng), -vector(rng), matrix(rng), vector(rng))
    single = floats(-number(rng))
    edges = [floats([0, 0]), single]
    for tree in small_trees(rng, leaf, edges):
        yield Case(norm, tree)
    yield Case(norm, {"a": floats([3, 0]), "b": floats([4])})
    yield Case(norm, {}, note="There are no leaves.")
    yield Case(norm, [None, ({},)], note="There are no leaves.")
    yield Case(norm, matrix(rng), note="One matrix.")
    yield Case(norm, [vector(rng), single, vector(rng)])


@check
def clip(by_leaf, by_global_norm, rng):
    """Two norms told apart; short trees stay; zeros stay, and so do their gradients finite."""

    def finite(call):
        def gradients(tree, most):
            def total(tree):
                return sum(jnp.sum(leaf) for leaf in jax.tree.leaves(call(tree, most)))

            return jax.tree.map(lambda leaf: bool(np.isfinite(leaf).all()), jax.grad(total)(tree))

        return gradients

    zeros = floats([0, 0])
    short = floats([rng.integers(1, 4), -rng.integers(1, 4)])
    long = floats([-rng.integers(4, 10), rng.integers(4, 10)])
    real, imaginary = rng.integers(4, 10, 2)
    # Its spectral norm is not nearly its norm, as that of a random matrix may be.
    square = floats([[real, -imaginary], [imaginary, real]])
    # Beside the squares of these numbers, 1e-6 under the root does harm.
    tiny = floats(rng.permutation([0.001, 0.002]) * rng.choice([-1, 1], 2))
    norm, other = np.linalg.norm(short), np.linalg.norm(long)
    both = np.hypot(norm, other)
    first, second = sorted(random_words(rng, 2))
    pair = {first: short, second: long}
    given = [
        (pair, between(rng, 1, norm)),
        (pair, between(rng, norm, other)),
        ({first: long, second: [short, None]}, between(rng, norm, other)),
        ((short, {first: long}), between(rng, other, both)),
        (pair, between(rng, both, 3 * both)),
        (long, between(rng, 1, other)),
        (short, between(rng, norm, norm**2)),
        (square, between(rng, 1, 8)),
        (Duo(square, floats(number(rng))), between(rng, 1, 2)),
        ({first: zeros, second: long}, between(rng, 1, other)),
        (tiny, between(rng, 0.0022, 0.004)),
        (tiny, between(rng, 0.0005, 0.002)),
        ({first: zeros, second: tiny}, between(rng, 0.0005, 0.002)),
        ({"a": floats([3, 0]), "b": floats([0, 4])}, 1.0),
    ]
    if_wrong = {
        "": "The gradient is not finite at zeros. JAX follows each operation backwards, also one "
        "whose value you do not use, and a root has no finite slope at 0."
    }
    for name, call in {"clip_by_leaf": by_leaf, "clip_by_global_norm": by_global_norm}.items():
        for tree, most in shuffled(rng, given):
            yield Case(returning_jax(call), tree, most, note=f"This calls `{name}`.")
        note = f"Is the gradient of the sum of all numbers that `{name}` returns finite?"
        for tree in (zeros, {first: zeros, second: zeros}):
            yield Case(finite(call), tree, fraction(rng), note=note, if_wrong=if_wrong)


@check
def add_noise(answer, rng):
    """Scale 0 changes nothing; every leaf, number and key has a noise of its own, in scale."""
    seeds = [int(each) for each in rng.choice(1000, 4, replace=False)]

    def noise(tree, seed, scale=1.0):
        """Return all numbers that an answer adds, in one vector."""
        numbers = added(answer(jax.random.key(seed), tree, scale), tree)
        return np.concatenate([leaf.ravel() for leaf in jax.tree.leaves(numbers)])

    def unchanged(tree, scale):
        return as_jax(answer(jax.random.key(seeds[0]), tree, scale))

    def alike_numbers(tree, seed):
        return first_alike(noise(tree, seed))

    def alike_calls(tree, seeds):
        return first_alike([noise(tree, each) for each in seeds])

    def sizes(seed, scale):
        numbers = noise(large, seed, scale)
        # There are 6,400: chance never rounds one of the two to another value.
        mean = round(numbers.mean() / scale / 0.2) * 0.2 + 0.0
        return {"deviation": to_a_power(numbers.std()), "mean / scale": mean}

    leaf = vectors(rng)
    half = jax.device_put(rng.integers(1, 10, 2).astype(np.float16))
    note = "The scale is 0: no noise at all."
    for tree in small_trees(rng, leaf, [half, half]):
        yield Case(unchanged, tree, 0.0, note=note)
    note = "The number is the seed of the key. For each number of all leaves, in order: the first, "
    note += "counted from 0, that gets the same noise."
    if_wrong = {"too low": "Some numbers get the same noise. " + OWN_NOISE}
    w, (first, second) = leaf(), random_words(rng, 2)
    alike = [
        {"w": w, "b": leaf()},
        [w] * int(rng.integers(2, 5)),
        {"w": matrix(rng), "b": None},
        [matrix(rng), w, w],
        {first: {"w": leaf(), "b": leaf()}, second: {"w": leaf(), "b": leaf()}},
        {first: [leaf(), leaf()], second: (w, [leaf(), {"w": w}])},
    ]
    for tree in shuffled(rng, alike):
        yield Case(alike_numbers, tree, seeds[rng.integers(4)], note=note, if_wrong=if_wrong)
    note = "The numbers are seeds of keys. For each: the first, from 0, with the same noise."
    for tree in ({"w": w, "b": leaf()}, [leaf()]):
        drawn = [int(each) for each in rng.choice(seeds, 12 + rng.integers(3))]
        yield Case(alike_calls, tree, drawn, note=note, if_wrong=OTHER_CALLS)
    note = (
        "The numbers are the seed of the key, and the scale. The tree has 80 rows of 80 numbers, "
    )
    note += "and the deviation of its noise is rounded to a power of 1.2."
    large = {"w": floats(rng.integers(-9, 10, (80, 80))), "b": None}
    for seed in seeds[:3]:
        scale = to_a_power(np.exp(rng.uniform(-3, 3)))
        yield Case(sizes, seed, scale, note=note, if_wrong=WRONG_NOISE)


@check
def decay_mask(answer, rng):
    """The whole name of the last entry, in dicts and namedtuples; lists and bare arrays."""
    vector, matrix = np.ones(2, np.float32), np.ones((2, 2), np.float32)
    array = dealing(*shuffled(rng, [vector, matrix, vector]))
    names = ("bias", "weight", "bias_scale", "pre_bias", "unbiased", "norm/bias", "b")

    def leaves():
        return {name: array() for name in shuffled(rng, names)[: rng.integers(3, 7)]}

    first, second = random_words(rng, 2)
    small = [
        {"bias": vector},
        {"weight": matrix, "bias": vector},
        {"weight": vector, "bias": matrix},
        {first: {"bias": vector, second: matrix}},
        {"bias": {"weight": matrix}},
        {"bias": {"weight": vector, "bias": matrix}},
        {"bias": [matrix]},
        {"bias": None, "weight": matrix},
        {"bias_scale": vector},
        {"weight": matrix, "unbiased": vector},
        {"pre_bias": vector},
        {"norm/bias": vector},
        [vector, matrix],
        [vector, {"bias": vector}],
        (matrix, None),
        Layer(weight=matrix, bias=vector),
        {second: Layer(weight=vector, bias=matrix)},
        Layer(weight={"bias": vector}, bias=[matrix]),
        {"head": {"weight": np.ones((2, 2)), "bias": np.ones(2)}},
    ]
    for tree in shuffled(rng, small):
        yield Case(answer, tree)
    for bare in (matrix, vector):
        yield Case(answer, bare, note="A bare array: its path is empty.")
    for _ in range(6 + rng.integers(3)):
        parts = [array(), leaves(), Layer(array(), leaves()), {"bias": leaves()}, [leaves()]]
        yield Case(answer, dict(zip(random_words(rng, 5), shuffled(rng, parts), strict=True)))


@check
def rates_by_part(answer, rng):
    """`rates` may stop early, at any depth, and may not go deeper than the parameters."""
    answer = returning_jax(answer)
    leaf = vectors(rng)

    def layer():
        return {"w": leaf(), "b": leaf()}

    def rate():
        return fraction(rng)

    first, second = sorted(random_words(rng, 2))
    two = {first: rate(), second: rate()}
    fitting = [
        (rate(), leaf()),
        (rate(), layer()),
        (rate(), [leaf(), (leaf(), None)]),
        ({second: rate(), first: rate()}, {first: leaf(), second: leaf()}),
        (two, {first: layer(), second: layer()}),
        (two, {first: [leaf(), leaf()], second: Duo(leaf(), None)}),
        ({first: rate(), second: None}, {first: leaf(), second: None}),
        ({first: rate(), second: [rate(), rate()]}, {first: layer(), second: [layer(), leaf()]}),
        ([rate(), rate()], [leaf(), layer()]),
        ([rate(), two], [leaf(), {first: leaf(), second: (layer(), leaf())}]),
        ([rate(), {"w": rate(), "b": rate()}], [[leaf(), None], layer()]),
        ((rate(), rate()), (leaf(), {first: layer()})),
        (Layer(rate(), rate()), Layer([leaf(), leaf()], leaf())),
        ({first: Layer(rate(), [rate()])}, {first: Layer(layer(), [leaf()])}),
        (Duo(rate(), [rate()]), Duo(layer(), [leaf()])),
        (OrderedDict(two), OrderedDict({first: layer(), second: leaf()})),
        ({first: 0.0, second: rate()}, {first: leaf(), second: layer()}),
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
        ([rate(), rate()], [leaf(), leaf(), leaf()], "The lists have different lengths."),
        ({first: [rate(), rate()]}, {first: [layer()]}, "The lists have different lengths."),
    ]
    for rates, params, *note in shuffled(rng, fitting + no_prefix):
        yield Case(answer, rates, params, like(params, leaf), note="".join(note))
    part = {"w": floats([1]), "b": floats([1])}
    given = {"body": part, "head": floats([1])}
    yield Case(answer, {"body": 0.5, "head": 0.0}, given, given)


@check
def stack_trees(stack, unstack, rng):
    """A new first axis in each leaf, the tree around it as before; and the way back."""
    stack, unstack = returning_jax(stack), returning_jax(unstack)
    leaf = vectors(rng)
    square = dealing(*(matrix(rng) for _ in range(5)))
    single = dealing(*(floats(number(rng)) for _ in range(5)))
    column = dealing(*(floats(rng.integers(1, 10, (2, 1))) for _ in "12"))
    row = floats(rng.integers(1, 10, (1, 2)))
    first, second = sorted(random_words(rng, 2))
    for tree in small_trees(rng, leaf):
        yield Case(stack, [like(tree, leaf) for _ in range(rng.integers(2, 4))])
    yield Case(stack, [{"w": floats([1, 2])}, {"w": floats([3, 4])}])
    cases = [
        Case(stack, [{first: leaf(), second: leaf()}], note="A list of one tree."),
        Case(stack, [leaf()], note="A list of one tree."),
        Case(stack, [single(), single()], note="The leaves are single numbers."),
        Case(stack, [{first: single()}, {first: single()}], note="The leaves are single numbers."),
        Case(stack, [square(), square()], note="The leaves are matrices."),
        Case(stack, [{first: square(), second: leaf()}, {first: square(), second: leaf()}]),
    ]
    for one, other, note in differing_pairs(rng, leaf)[:10]:
        trees = [like(one, leaf), one, other][rng.integers(2) :]
        cases.append(Case(refusing(stack), trees, note=note))
    yield from shuffled(rng, cases)
    trees = [
        {second: leaf(), first: leaf()},
        leaf(),
        [None, {first: leaf()}],
        Layer(square(), [leaf(), square()]),
        Duo(leaf(), {first: square(), second: leaf()}),
        {first: square(), second: leaf(), "more": [leaf(), None]},
        {"w": floats([[1, 2], [3, 4]])},
        row,
        [row, row],
        column(),
        {first: column(), second: square()},
    ]
    for tree in shuffled(rng, trees):
        yield Case(unstack, tree)


@check
def model_mask(answer, rng):
    """The name of a parameter in modules of NNX and Equinox, and in plain containers."""
    import equinox as eqx
    import optax
    from flax import nnx

    ones = np.ones((2, 2), np.float32)
    first, second = random_words(rng, 2)
    names = ["weight", "bias", "bias_scale", "kernel", "unbiased", "scale"]

    class NNX(nnx.Module):
        def __init__(self, **fields):
            for name, field in fields.items():
                is_array = isinstance(field, np.ndarray)
                setattr(self, name, nnx.Param(field) if is_array else nnx.data(field))

    class Equinox(eqx.Module):
        weight: Any = None
        bias: Any = None
        bias_scale: Any = None
        value: Any = None

    def drawn():
        return {name: ones for name in ["bias", *shuffled(rng, names)[: rng.integers(1, 4)]]}

    def decaying(model):
        decay = optax.add_decayed_weights(0.5, mask=answer(models[model]))
        zeros = jax.tree.map(np.zeros_like, models[model])
        updates, _ = decay.update(zeros, decay.init(models[model]), models[model])
        return {
            jax.tree_util.keystr(path): bool(np.any(update))
            for path, update in jax.tree.leaves_with_path(updates)
        }

    pair, word = {"weight": ones, "bias": ones}, "dict"
    models = {}
    trees = [
        NNX(kernel=ones, bias=ones),
        NNX(scale=ones, bias_scale=ones, unbiased=ones, in_proj_bias=ones),
        NNX(bias=NNX(kernel=ones), **{second: NNX(bias=ones)}),
        NNX(bias=NNX(kernel=ones, bias=ones), value=NNX(bias=ones, scale=ones)),
        NNX(layers=nnx.List([NNX(**drawn()), NNX(**drawn())])),
        NNX(bias=nnx.List([NNX(**drawn())]), value=NNX(kernel=ones)),
        NNX(**{first: NNX(**drawn()), second: NNX(**drawn()), "bias": NNX(**drawn())}),
        NNX(value=NNX(value=NNX(bias=ones, kernel=ones)), bias=ones),
        Equinox(weight=ones, bias=ones),
        Equinox(weight=Equinox(weight=ones, bias=ones), bias=Equinox(weight=ones)),
        Equinox(bias=Equinox(weight=ones, bias_scale=ones), value=Equinox(ones, ones)),
        Equinox(weight=[ones, ones], bias=(ones, Equinox(bias=ones)), value=pair),
        {first: pair, second: [pair, ones], "value": pair},
        {first: NNX(kernel=ones, bias=ones), "bias": ones, "mlp/bias": ones},
        [NNX(**drawn()), Equinox(weight=ones, bias=ones)],
        {"bias": [ones, ones], second: {"bias": ones}},
        {"bias": {"unbiased": ones, "in_proj_bias": ones}, first: Layer(ones, ones)},
        {"norm/bias": ones, "bias": {"norm/bias": ones}},  # as Haiku's names
    ]
    for tree in shuffled(rng, trees):
        kind = type(tree).__name__
        word = f"{kind} {len(models) + 1}: " + ", ".join(
            jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(tree)
        )
        models[word] = tree
    note = "These are the paths of a model's leaves. Which of them does Optax decay, by your mask?"
    if_wrong = {
        "True": "Decay changes a bias, because your mask is `True` for it.",
        "False": "Decay leaves out a parameter that is no bias.",
    }
    for word in models:
        yield Case(decaying, word, note=note, if_wrong=if_wrong)


@check
def summary(answer, rng):
    """What a Python loop gives, also for negative numbers and one row; and one compiled loop."""

    def call(rows):
        return as_jax(answer(rows))

    def lines(rows):
        return str(jax.make_jaxpr(answer)(rows)).count(" = ")

    def grows(few, many):
        return {"longer with more rows": lines(many) > lines(few)}

    def halves(*shape, sign=1):
        # Halves: a float holds their sums exactly, and whole numbers would not.
        return floats(sign * (rng.integers(1, 40, shape) + 0.5))

    first, second = sorted(random_words(rng, 2))
    signs = floats(rng.permutation([-2.5, 1.5, -0.5, 3.5])[:, None] + [0.0, 10.0])
    trees = [
        {second: halves(4, 2), first: halves(4)},
        {first: halves(4, 2, sign=-1), second: halves(4, sign=-1)},
        [signs, None, (halves(4, sign=-1),)],
        halves(4, 2, sign=-1),
        {first: halves(1, 2, sign=-1), second: halves(1)},
        Duo(halves(3, 2), {first: signs[:3]}),
        {"w": floats([1, 3, 2.5])},
    ]
    for tree in trees:
        yield Case(call, tree)
    note = "Is the program longer for the second tree, which has more rows?"
    if_wrong = {"": "JAX writes your loop out, step by step. `jax.lax.scan` compiles one step."}
    for count in (5, 7):
        yield Case(grows, [halves(3, 2)], [halves(count, 2)], note=note, if_wrong=if_wrong)


@check
def fill_missing(answer, rng):
    """None stands for a whole part; 0 and empty containers are values; the rest must agree."""
    answer = returning_jax(answer)

    def leaf():
        return number(rng)

    first, second, third = sorted(random_words(rng, 3))
    array = np.array([number(rng), 0], np.float32)
    two = {first: leaf(), second: leaf()}
    gap = {first: leaf(), second: None}
    fitting = [
        (None, leaf()),
        (None, [leaf(), {first: leaf()}]),
        (gap, two),
        ([leaf(), None], [leaf(), leaf()]),
        ({first: Layer(None, leaf())}, {first: Layer(leaf(), leaf())}),
        ([Duo(leaf(), None)], [Duo(leaf(), leaf())]),
        (OrderedDict({second: None, first: leaf()}), OrderedDict({second: leaf(), first: leaf()})),
        (gap, {first: leaf(), second: [leaf(), {third: leaf()}]}),
        (gap, {first: leaf(), second: None}),
        ([leaf(), None], [None, leaf()]),
        ({first: leaf(), second: None}, {first: [leaf(), leaf()], second: leaf()}),
        ([leaf()], [{first: leaf()}]),
        ({first: 0, second: None}, two),
        ([0.0, None], [leaf(), leaf()]),
        ({first: array, second: None}, two),
        ([None, array], [leaf(), leaf()]),
        ({first: (), second: None}, {first: (), second: leaf()}),
        ({first: [None, two], second: {third: None}}, {first: [two, two], second: {third: two}}),
        ({"w": 1, "b": None, "more": None}, {"w": 5, "b": 6, "more": [7, 8]}),
    ]
    differing = [
        ({first: (), second: None}, {first: (leaf(),), second: leaf()}),
        ([{}, None], [{first: leaf()}, leaf()]),
        ({first: None, second: leaf()}, {first: leaf(), third: leaf()}),
        (gap, {**two, third: leaf()}),
        (gap, {second: leaf()}),
        ([None, leaf()], (leaf(), leaf())),
        ({first: (None,)}, {first: [leaf()]}),
        ([None, leaf()], [leaf(), leaf(), leaf()]),
        ((None, leaf()), Layer(leaf(), leaf())),
    ]
    note = "Where `tree` has a node, `defaults` has another."
    pairs = [(*pair, "") for pair in fitting] + [(*pair, note) for pair in differing]
    for tree, defaults, note in shuffled(rng, pairs):
        own = jax.tree.map(lambda value: value, tree)  # for an answer that writes into it
        yield Case(answer, own, defaults, note=note)


@check
def batched_apply(answer, rng):
    """An entry for each part of `params`, one for `x`; parts may be trees; same sizes may lie."""
    first, second = random_words(rng, 2)
    longer = f"{first}_2"  # the shorter name is a piece of it
    leaf = vectors(rng)
    single = floats(number(rng))
    p, o = f"p['{first}']", f"p['{longer}']"
    functions = {
        f"lambda p, x: {p} * x + {o}": lambda p, x: p[first] * x + p[longer],
        f"lambda p, x: {{'y': {p}['w'] * x, '{second}': ({o} + x, {p}['b'][0])}}": (
            lambda p, x: {"y": p[first]["w"] * x, second: (p[longer] + x, p[first]["b"][0])}
        ),
        f"lambda p, x: {p} * x + {o}['{first}']": lambda p, x: p[first] * x + p[longer][first],
        "lambda p, x: 2 * x": lambda p, x: 2 * x,
        "lambda p, x: p['w'] * x + p['b']": lambda p, x: p["w"] * x + p["b"],
    }
    plain, nested, same_name_inside, no_parts, example = functions

    def case(function, params, batched, x):
        def call(params, batched, x):
            return as_jax(answer(functions[function], params, batched, x))

        return Case(call, params, batched, x, note=f"The function is `{function}`.")

    both = [first, longer]
    cases = [
        case(plain, {first: leaf(), longer: leaf()}, batched, leaf())
        for batched in (both, both[::-1], [first], [longer], [])
    ]
    cases += [
        case(plain, {first: leaf(), longer: single}, [first], leaf()),
        case(plain, {longer: leaf(), first: single}, [longer], leaf()),
        case(plain, {first: leaf(), longer: matrix(rng)}, [first], leaf()),
        case(plain, {first: matrix(rng), longer: leaf()}, [longer], leaf()),
        case(plain, {first: leaf(), longer: single}, [first], matrix(rng)),
        case(plain, {first: single, longer: leaf()}, [longer], matrix(rng)),
    ]
    for batched in ([first], [longer], both[::-1]):
        params = {first: {"w": leaf(), "b": [leaf()]}, longer: leaf()}
        cases.append(case(nested, params, batched, leaf()))
    for batched, inside in (([first], leaf()), ([first], matrix(rng)), ([longer], leaf())):
        params = {first: leaf(), longer: {first: inside}}
        cases.append(case(same_name_inside, params, batched, leaf()))
    yield from shuffled(rng, cases)
    yield case(no_parts, {}, [], matrix(rng))
    yield case(example, {"w": floats([2, 3]), "b": floats(10)}, ["w"], floats([1, 2]))


MAPPED = {
    "lambda leaf: 2 * leaf": lambda leaf: 2 * leaf,
    'lambda leaf: (leaf, "new")': lambda leaf: (leaf, "new"),
    "lambda *row: row": lambda *row: row,
    "abs": abs,
    "max": max,
}
"""The functions that are mapped, by their code: a case shows the code."""


def mapping(answer):
    return wraps(answer)(lambda *given: answer(MAPPED[given[0]], *given[1:]))


@check
def map_tree(answer, rng):
    """Every leaf goes through the function once; nodes, keys and None stay."""
    answer = mapping(answer)

    def leaf():
        return number(rng)

    first, second = sorted(random_words(rng, 2))
    trees = small_trees(rng, leaf)
    trees += [{second: leaf(), first: leaf()}, [leaf(), [leaf(), {second: leaf(), first: None}]]]
    for tree in shuffled(rng, trees):
        yield Case(answer, "lambda leaf: 2 * leaf", tree, note="`f` doubles a leaf.")
    pairs = [leaf(), [leaf(), (leaf(),)], {first: leaf(), second: None}]
    pairs += [{first: 0, second: leaf()}, [leaf(), "", False]]
    for tree in shuffled(rng, pairs):
        yield Case(answer, 'lambda leaf: (leaf, "new")', tree, note="`f` makes a tuple of a leaf.")
    yield Case(answer, "abs", {"w": [-1, 2], "b": None})


@check
def map_trees(answer, rng):
    """The first tree decides where the leaves are; the others are taken apart up to there."""
    answer = mapping(answer)
    row = "lambda *row: row"

    def leaf():
        return number(rng)

    for tree in small_trees(rng, leaf):
        yield Case(answer, row, tree, like(tree, leaf))
    first, second = sorted(random_words(rng, 2))
    two = {second: leaf(), first: [leaf(), None]}
    for count in (0, 1, 2, 3):
        yield Case(answer, row, two, *(like(two, leaf) for _ in range(count)))
    deeper = [
        ({first: leaf(), second: leaf()}, {first: {"w": leaf(), "b": leaf()}, second: leaf()}),
        ([leaf(), leaf()], [(leaf(), leaf()), [leaf()]]),
        (leaf(), {first: leaf(), second: [leaf()]}),
        ([leaf(), leaf()], [leaf(), None]),
        ({first: leaf(), second: leaf()}, {first: None, second: leaf()}),
    ]
    for trees in shuffled(rng, deeper):
        yield Case(answer, row, *trees, note="The second tree goes on below a leaf of the first.")
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

    def draw_pair():
        one = {name: array(*shuffled(rng, shapes)[0]) for name in random_words(rng, 3)}
        other = {name: array(9) for name in [*one][: rng.integers(2)]}
        return one, twin(one) | other

    first, second = sorted(random_words(rng, 2))
    pairs = [
        ({first: array(2)}, {first: array(2, 1)}),
        ({first: array(2, 3)}, {first: array(3, 2)}),
        ({first: array(2), second: array(2)}, {first: array(2), second: array(3)}),
        ({first: array(2), second: array(3)}, {first: array(3), second: array(2)}),
        ([array(2, 3), (array(3, 2),)], [array(3, 2), (array(2, 3),)]),
        ([array(2, 3), array()], [array(2), array(3)]),
        ({first: array(2), second: array(3, 1)}, {first: array(2, 3), second: array(1)}),
        ([array(3), [array(2)]], [array(3), [array(2, 1)]]),
        ([array(2), [array(3)]], [array(1), [array(3)]]),
        ([array(2)], [array(2, dtype=np.int32)]),
        ({first: array(2, 3)}, {first: array(2, 3, dtype=np.float16)}),
        (array(), array(1)),
    ]
    for pair in pairs:
        yield Case(says, *pair)
    for tree in small_trees(rng, lambda: array(2)):
        yield Case(says, tree, twin(tree))
    for _ in range(rng.integers(4, 7)):
        drawn = [draw_pair() for _ in range(8)]
        yield Case(says_all, drawn, note="Your function is called with each pair.")


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
