"""Checks of lesson 1, leaves.

python checks/check_01_leaves.py exercises/01_leaves_exercises.ipynb
"""

from collections import OrderedDict, defaultdict, deque, namedtuple
from functools import partial, wraps
from typing import Any, NamedTuple

import jax
import numpy as np

from pytree_course.cases import (
    Case,
    Duo,
    as_int,
    check,
    prediction_cases,
    random_model,
    random_tree,
    random_words,
    shuffled,
    vector,
)

NAN, INF = float("nan"), float("inf")


class Layer(NamedTuple):
    """A node, as all named tuples are; its fields are not in sorted order."""

    w: Any
    b: Any


class Config(dict):
    """A leaf: JAX does not know this subclass of dict."""


def point_class():
    return namedtuple("Point", ["x", "y"])


Point, OtherPoint = point_class(), point_class()


def number(rng):
    return int(rng.integers(1, 1000))


def array(rng, *shape):
    # NumPy's own arrays as leaves: nothing here makes JAX compile.
    return rng.integers(0, 100, shape)


def one_of(rng, *things):
    return things[rng.integers(len(things))]


def falsy(rng):
    """Draw a leaf that Python takes for false."""
    return one_of(rng, 0, "", False, 0.0)


def no_leaves(rng):
    return one_of(rng, (), [], {}, None)


def model(rng, leaf):
    return random_model(rng, leaf, lambda: Layer(leaf(), leaf()), lambda: Duo(None, [leaf()]))


def plain_trees(rng, leaf):
    """Draw small trees of dicts, lists and tuples."""
    first, second = sorted(random_words(rng, 2))
    return [
        {second: leaf(), first: leaf()},
        {10: leaf(), 9: leaf()},
        [leaf(), leaf()],
        (leaf(), [leaf()], ()),
        [leaf() for _ in range(12)],
        {first: [leaf(), {second: leaf(), first: leaf()}], second: {first: leaf()}},
        [(leaf(), {second: (leaf(),), first: [[leaf()], leaf()]}), leaf()],
    ]


def small_trees(rng, leaf):
    """Draw small trees: one at least for each kind of node."""
    first, second = sorted(random_words(rng, 2))
    return [
        *plain_trees(rng, leaf),
        {first: None, second: leaf()},
        [leaf(), None, (leaf(), None)],
        Layer(leaf(), leaf()),
        [Layer(leaf(), Duo(leaf(), None))],
        Duo([leaf()], Duo(leaf(), leaf())),
        OrderedDict({second: leaf(), first: leaf()}),
    ]


def wide_tree(rng, leaf):
    """Draw a rich tree: what is counted in it is never the same."""
    return [model(rng, leaf), random_tree(rng, 2), tuple(leaf() for _ in range(rng.integers(24)))]


def odd_keys(rng, leaf):
    """Draw dicts with keys that are easily misread in a path text."""
    first, second = sorted(random_words(rng, 2))
    return [
        {f"/{first}": leaf(), f"{second}/": leaf()},
        {f"{first}/{second}": leaf(), second: leaf()},
        {f"{first}.{second}": leaf(), f"[{second}]": leaf()},
        {f"{first}'s": leaf(), f'"{second}"': leaf()},
    ]


@check
def count_leaves(answer, rng):
    """Leaves are neither items of the top level, nor elements of arrays, nor nodes, nor None."""
    answer = as_int(answer)

    def leaf():
        return one_of(rng, number(rng), array(rng, 2), Config(a=1))

    first, second = random_words(rng, 2)
    trees = [
        *small_trees(rng, leaf),
        leaf(),
        no_leaves(rng),
        [(), {}, [None]],
        falsy(rng),
        {first: falsy(rng), second: number(rng)},
        array(rng, 2, 3),
        Config(a=1, b=2),
        {second: {1, 2}, first: deque([3, 4])},
        [number(rng)] * 3,
        [array(rng, 2)] * 2,
        [8, 8.0, np.int64(8)],
        {f"{first}/{second}": leaf(), first: {second: leaf()}},  # two leaves of one path text
        [{f"{first}/0": leaf(), first: [leaf()]}, leaf()],
        {f"{first}*": leaf(), second: ["*"]},  # a printed structure has a star for each leaf
        {"*": leaf(), first: {"**": leaf()}},
        {"w": np.ones((2, 3)), "b": None},
    ]
    trees += [wide_tree(rng, leaf) for _ in range(rng.integers(4, 7))]
    yield from (Case(answer, tree) for tree in shuffled(rng, trees))


@check
def predict_leaf_counts(predictions, rng):
    lines = {
        "A": '`{"w": np.ones((2, 3)), "b": np.zeros(3)}`',
        "B": "`[1, None, (2, None)]`",
        "C": "`[(), {}, [[]]]`",
        "D": '`{"name": "abc", "point": (1.5, 2)}`',
        "E": "`OrderedDict(a=1, b=(2, 3))`",
        "F": "`[{1, 2, 3}, deque([4, 5])]`",
        "G": "`Config(a=1, b=2)`",
        "H": '`{1: "a", "b": 2}`',
    }
    return prediction_cases(predictions, lines)


@check
def leaf_shapes(answer, rng):
    """Whole paths in the simple style; shapes stay tuples, and None has no entry."""

    def leaf():
        return array(rng, *rng.integers(1, 4, rng.integers(1, 3)))

    first, second = random_words(rng, 2)
    scalar, empty = array(rng), array(rng, 3, 0)
    trees = [
        *small_trees(rng, leaf),
        *odd_keys(rng, leaf),
        leaf(),
        array(rng, 2, 2),
        no_leaves(rng),
        {f"{first}/": leaf()},
        [scalar, (leaf(),)],
        {first: scalar, second: array(rng, 1, 2, 3)},
        {first: empty, second: [leaf()]},
        [array(rng, 0), leaf()],
        {"w": np.ones((2, 3)), "more": [np.zeros(4), None]},
    ]
    trees += [model(rng, leaf) for _ in range(rng.integers(2, 5))]
    yield from (Case(answer, tree) for tree in shuffled(rng, trees))


@check
def nan_paths(answer, rng):
    """Names go with their own leaves: unsorted keys, None, nested dicts and lists."""

    # Pictures show the value of a float, but not those of an array.
    def leaf():
        return one_of(rng, NAN, NAN, number(rng) / 2)

    first, second = sorted(random_words(rng, 2))
    table = array(rng, 7, 7) / 2
    table[rng.integers(6), rng.integers(6)] = NAN
    # What is given fails at a tree that is no container: the smallest cases show its silent bug.
    trees = [
        *small_trees(rng, leaf),
        table,
        one_of(rng, {}, [], ()),
        {second: NAN, first: number(rng) / 2},
        {second: NAN, first: NAN},
        {first: None, second: NAN},
        {second: {"w": NAN}, first: [leaf(), NAN]},
        {"w": np.zeros(2), "b": np.array([1.0, NAN]), "scale": None},
        {first: array(rng, 2), second: np.array([[1, 2], [NAN, 3]])},
        [np.array(NAN), np.array([NAN, NAN])],
        {first: np.zeros(0), second: leaf()},
        [np.zeros((0, 3)), NAN],
        {first: INF, second: np.array([INF, -INF])},
        [np.array([[INF], [-INF]]), NAN],
    ]
    trees += [[leaf(), model(rng, leaf), leaf()] for _ in range(rng.integers(4, 7))]
    yield from (Case(answer, tree) for tree in shuffled(rng, trees))


def alike_pairs(rng):
    """Draw pairs of trees whose structures differ in one thing; and pairs of equal structure."""
    leaf = partial(number, rng)
    first, second, third = sorted(random_words(rng, 3))
    differing = [
        ([leaf()], (leaf(),)),
        ([leaf()], leaf()),
        (leaf(), [leaf(), leaf()]),
        ([leaf(), leaf()], [leaf(), {second: leaf()}]),
        ([leaf(), one_of(rng, (), [], {})], [leaf()]),
        ({first: leaf(), second: ()}, {first: leaf()}),
        ([leaf(), None], [leaf(), leaf()]),
        ({first: leaf()}, {first: None}),
        ({first: leaf()}, {second: leaf()}),
        ({first: leaf(), second: leaf()}, {first: leaf(), third: leaf()}),
        ((0, 1), Layer(0, 1)),
        ([Layer(leaf(), leaf())], [(leaf(), leaf())]),
        (OrderedDict({first: 1}), {first: 1}),
        (OrderedDict({first: 1, second: leaf()}), OrderedDict({second: leaf(), first: 1})),
        (Duo(leaf(), [leaf()]), Duo(leaf(), leaf())),
        ({first: leaf()}, Config({first: leaf()})),
    ]
    tree = random_tree(rng, depth=2)
    equal = [
        (tree, jax.tree.map(lambda _: leaf(), tree)),
        (leaf(), one_of(rng, "text", Config({first: 1}), {1, 2}, array(rng, 2))),
        ([Config({first: leaf()})], [Config({second: [leaf()]})]),
        ({first: leaf(), second: leaf()}, {second: leaf(), first: leaf()}),
        ({first: [1, None]}, {first: [1, None]}),
        ([leaf()], [falsy(rng)]),
        ([array(rng, 2)], [array(rng, 2, 3)]),
        ({first: "one"}, {first: array(rng, 2)}),
        (Duo(leaf(), [leaf()]), Duo(leaf(), [leaf()])),
        (OrderedDict({second: leaf(), first: leaf()}), OrderedDict({second: 0, first: leaf()})),
    ]
    return differing, equal


@check
def same_structure(answer, rng):
    """Kinds of nodes, keys, None and empty containers count; leaves do not."""

    @wraps(answer)
    def says(*trees):
        result = answer(*trees)
        return bool(result) if isinstance(result, np.bool_) else result

    def say_all(pairs):
        return [says(*pair) for pair in pairs]

    differing, equal = alike_pairs(rng)
    equal.append(({"x": 1, "y": [2]}, {"y": ["two"], "x": np.ones(3)}))
    differing.append(([1, 2], (1, 2)))
    cases = [Case(says, *pair) for pair in differing + equal]
    note = "These are two different namedtuple classes. Both are called `Point`."
    one, other = shuffled(rng, [Point, OtherPoint])
    cases.append(Case(says, one(1, number(rng)), other(1, number(rng)), note=note))
    cases.append(Case(says, [one(1, number(rng))], [other(2, number(rng))], note=note))
    for _ in range(rng.integers(3, 6)):
        differing, equal = alike_pairs(rng)
        pairs = [one_of(rng, *one_of(rng, differing, equal)) for _ in range(10)]
        cases.append(Case(say_all, pairs, note="Your function is called with each pair."))
    yield from shuffled(rng, cases)


@check
def differences(answer, rng):
    """Every place, once, with one reason; missing parts and other kinds are not opened."""

    def leaf(*shape, dtype=np.float32):
        return rng.integers(1, 100, shape or (2,)).astype(dtype)

    first, second, third = sorted(random_words(rng, 3))
    layer = {"w": leaf(2, 3), "b": leaf(3)}
    one, two = leaf(), {second: leaf(), first: leaf()}
    # Each of these pairs is a case in both orders.
    pairs = [
        (two, {first: leaf()}),
        (two, {first: leaf(), third: leaf()}),
        ({first: two, second: leaf()}, {first: {second: leaf()}, second: leaf()}),
        ({first: layer, second: leaf()}, {second: leaf()}),
        ({first: [layer, (leaf(), None)], second: one}, {}),
        ([leaf(), leaf(), leaf()], [leaf()]),
        ({first: (leaf(), leaf())}, {first: (leaf(),)}),
        ([[leaf()], layer], [[leaf()]]),
        ([leaf()], (leaf(),)),
        ({first: (leaf(), leaf(3))}, {first: [leaf(3)]}),
        (leaf(), [leaf()]),
        ({first: layer}, {first: leaf()}),
        ({first: [leaf(), leaf()]}, {first: {"0": leaf(), "1": leaf()}}),
        ({first: None, second: leaf()}, {first: leaf(), second: leaf()}),
        ({first: None, second: leaf()}, {second: leaf()}),
        ([leaf(), None], [leaf(), leaf()]),
        ([leaf(), None], [leaf()]),
        (None, one_of(rng, (), [], {})),
        ({first: ()}, {first: []}),
        ({first: {}, second: leaf()}, {second: leaf()}),
        ({first: leaf(2, 1)}, {first: leaf()}),
        (leaf(2, 3), leaf(3, 2)),
        ([leaf(4), leaf(3)], [leaf(3), leaf(4)]),
        ({first: leaf(1)}, {first: leaf()}),
        ({first: leaf(dtype=np.float16)}, {first: leaf()}),
        ([leaf(dtype=np.int32), leaf()], [leaf(), leaf()]),
        ({first: leaf(3, dtype=np.int32)}, {first: leaf()}),
        ({first: leaf(dtype=np.float64)}, {first: leaf()}),
        ([leaf(dtype=np.int64), leaf()], [leaf(dtype=np.int32), leaf()]),
        ({first: [layer, leaf()]}, {first: [{**layer, "b": leaf(4)}, (leaf(),)]}),
        ({first: [two, leaf()]}, {first: [{second: leaf()}, leaf()]}),
        ({first: [leaf(), {}]}, {first: [leaf(), two]}),
        ([{first: ()}, leaf()], [{first: (leaf(), leaf())}, leaf(4)]),
        (
            {first: leaf(3), second: (leaf(), [leaf()]), third: layer},
            {first: leaf(2), second: [leaf()], third: {**layer, "scale": leaf()}},
        ),
    ]
    cases = [Case(answer, *pair) for pair in pairs]
    cases += [Case(answer, *reversed(pair)) for pair in pairs]
    for tree in (*plain_trees(rng, leaf)[2:], one, None, [], two, {first: None, second: [()]}):
        equal = jax.tree.map(lambda each: leaf(*each.shape), tree)
        cases.append(Case(answer, tree, equal, note="Only values differ."))
    old = {"w": np.ones(2), "b": [np.ones(3)]}
    new = {"w": np.ones((2, 1)), "b": [], "c": {"d": None}}
    yield from shuffled(rng, [*cases, Case(answer, old, new)])


@check
def whole_shapes(answer, rng):
    """Lists of ints stay whole; other lists, tuples and other leaves are as usual."""

    def shape():
        return [number(rng) for _ in range(rng.integers(1, 4))]

    def leaf():
        return one_of(rng, shape(), shape(), number(rng), "same", [])

    size = number(rng)
    parts = [[], [0], [-size, 2], [size], [size, 2, 3], size, (), (size, 2), Layer(size, 2)]
    parts += [{1: 2}, {}, [size, "same"], ["same", size], [size, 0.5], [0.5, 1.5], [size, None]]
    parts += [[None], [[size], 2], [[3, size], [5, 6]], [(size, 2)], [{"w": size}], [size, ()]]
    words = random_words(rng, 2)
    trees = [dict(zip(words, shuffled(rng, [part, shape()]), strict=True)) for part in parts]
    trees += [[], [[]], shape(), size, falsy(rng), Duo(shape(), [shape(), None])]
    trees += [{"w": [784, 10], "more": [[3, 3], []], "dtype": "float32"}]
    for _ in range(rng.integers(4, 7)):
        trees.append([model(rng, leaf), {name: [leaf(), leaf()] for name in words}])
    yield from (Case(answer, tree) for tree in shuffled(rng, trees))


@check
def leaves_in_layer_order(answer, rng):
    """Numbers in the names count, at every depth; nothing else changes its place."""
    leaf = partial(number, rng)

    def numbered(name, child=leaf):
        """Draw a dict whose order depends on whether its numbers are read as numbers."""
        drawn = [rng.integers(2, 10), 10 * rng.integers(1, 10), rng.integers(100, 200)]
        return {name.format(each): child() for each in shuffled(rng, drawn)}

    def layers(child=leaf):
        return numbered("layer{}", child)

    def part():
        return one_of(rng, leaf(), {"w": leaf(), "b": leaf()}, Layer(leaf(), leaf()), layers())

    first, second = random_words(rng, 2)
    names = ("layernorm{}", "block{}", "Layer{}", "layer{}b", "layer_{}")
    names += ("layer{}_0", "layer{}_1", "sublayer{}", "my_layer{}")
    trees = [numbered(name) for name in names]
    trees += [
        *small_trees(rng, leaf),
        leaf(),
        layers(),
        {"layer10": leaf(), "layer2": leaf()},
        {"layer10": {"w": 5, "b": 4}, "layer2": {"w": 3, "b": 2}},
        {"layer10": None, "layer9": "relu", "layer30": ()},
        {first: layers(), second: [layers()]},
        Duo(Layer(layers(), None), leaf()),
        layers(layers),
        {"layer12": leaf(), "layer2": [{"layer11": leaf(), "layer4": leaf()}]},
        {number(rng): layers(), 0: leaf()},
        OrderedDict(layer10=leaf(), layer2=leaf(), layer9=leaf()),
        [OrderedDict(layer10=layers(), layer9=leaf())],
        defaultdict(int, layer2=leaf(), layer10=leaf()),
    ]
    for _ in range(rng.integers(3, 6)):
        trees.append({second: [layers(part), part()], first: one_of(rng, layers(part), part())})
    yield from (Case(answer, tree) for tree in shuffled(rng, trees))


@check
def shared_leaves(answer, rng):
    """The same array, not an equal one, a view of it, a number or a text; all its paths, once."""
    cases = []

    # No picture shows which arrays are one object, so a sentence beside it says it.
    def add(note, *trees):
        cases.extend(Case(answer, tree, note=note) for tree in trees)

    one, two, square = array(rng, 2), array(rng, 2) + 0.5, array(rng, 2, 2)
    first, second, third = sorted(random_words(rng, 3))
    size, thing, single = number(rng), one_of(rng, 0.5, "float32"), np.array(number(rng))
    part, of_jax = {second: one, first: two}, vector(rng)
    add("No array stands at two places.", {}, one, [one, two], {first: None, second: two})
    numbers = (np.float32(size),) * 2, Duo(*[np.float64(size)] * 2)
    add("There are no arrays here.", {first: size, second: size}, [thing, thing], *numbers)
    note = "One array of JAX stands at two places. There are no other arrays."
    add(note, [of_jax, of_jax], {second: of_jax, first: (of_jax,)})
    note = "These arrays are equal, but no two are the same object."
    add(note, {first: one, second: one.copy()}, [two.copy(), two.copy(), {third: two.copy()}])
    note = "These arrays use the same memory, but no two are the same object."
    add(note, {first: one, second: one[:]}, [square, square.T], (two, two[::-1]))
    table = np.ones((2, 3))
    add(
        "One array stands at several places. Others may be copies or views of it.",
        {second: two, first: two},
        [one, one],
        (square, None, square),
        {"embed": table, "head": [table, np.ones((2, 3))]},
        Duo(one, [one]),
        Layer(two, two),
        {10: one, 9: one},
        {first: [{second: one}, size], third: one},
        [one, one, one],
        {third: two, first: two, second: (two, two)},
        {first: two, second: two.copy(), third: two},
        [one, one[:], one],
        OrderedDict({second: square, first: square}),
        [single, single],
        {third: single, second: size, first: (one, single)},
    )
    add(
        "Two arrays stand at several places each.",
        [one, two, one, two],
        [one, two, two, one],
        Duo((square, two), {first: two, second: square}),
        {third: two, second: [one, one, two]},
        {third: part, first: part},
    )
    yield from shuffled(rng, cases)


@check
def leaves_of(answer, rng):
    """Dicts as written, lists and tuples, at every depth; all else is a leaf."""

    def leaf():
        return one_of(rng, number(rng), number(rng) / 2, array(rng, 2), array(rng, 2, 2), "text")

    first, second = sorted(random_words(rng, 2))
    trees = [
        *plain_trees(rng, partial(number, rng)),
        *plain_trees(rng, leaf),
        5,
        {"b": [1, (2, 3)], "a": 4},
        array(rng, 2),
        "text",
        one_of(rng, (), [], {}),
        [[], {first: ((), {})}],
        {first: falsy(rng), second: number(rng)},
        [number(rng), falsy(rng)],
    ]
    for _ in range(rng.integers(2, 5)):
        trees.append({second: [leaf(), {first: leaf()}], first: leaf()})
    yield from (Case(answer, tree) for tree in shuffled(rng, trees))


@check
def leaves_by_type(answer, rng):
    """Four types are nodes; of other types, subclasses too, each object is one leaf."""

    def leaf():
        return one_of(rng, number(rng), number(rng) / 2, "text")

    first, second = sorted(random_words(rng, 2))
    trees = [
        *plain_trees(rng, partial(number, rng)),
        {second: leaf(), first: "text"},
        {first: None, second: leaf()},
        [leaf(), None, (leaf(), None)],
        OrderedDict({second: number(rng), first: number(rng)}),
        [OrderedDict({second: number(rng), first: number(rng)}), number(rng)],
        array(rng, 2),
        None,
        one_of(rng, (), [], {}),
        [(), {}, [None]],
        (1, 2),
        [{1, 2}, deque([3, 4])],
        Config({second: number(rng), first: number(rng)}),
        [Config(a=1, b=2), number(rng)],
    ]
    for _ in range(rng.integers(2, 5)):
        trees.append({second: [leaf(), None], first: (leaf(), number(rng))})
    yield from (Case(answer, tree) for tree in shuffled(rng, trees))


@check
def rebuild(answer, rng):
    """A new tree of the same containers and keys, with the new leaves in JAX's order."""

    @wraps(answer)
    def with_new(tree, new_leaves):
        return answer(tree, iter(new_leaves))

    @wraps(answer)
    def then_look(tree, new_leaves):
        return {"result": answer(tree, iter(new_leaves)), "tree afterwards": tree}

    leaf = partial(number, rng)
    first, second = sorted(random_words(rng, 2))
    trees = [
        *plain_trees(rng, leaf),
        leaf(),
        None,
        one_of(rng, (), [], {}),
        [(), {}, [None]],
        {first: None, second: leaf()},
        [None, leaf(), (None, leaf())],
        {first: "text", second: [array(rng, 2)]},
        {first: falsy(rng), second: leaf()},
        [leaf(), falsy(rng)],
    ]
    trees += [random_model(rng, leaf) for _ in range(rng.integers(2, 5))]
    note = "The second input is given to your function as an iterator."
    cases = [Case(with_new, {"b": 1, "a": (2, None)}, [10, 20], note=note)]
    for tree in trees:
        new_leaves = [leaf() for _ in jax.tree.leaves(tree)]
        cases.append(Case(with_new, tree, new_leaves, note=note))
    changed = "After the call, the tree that your function was given has changed. Build a new one."
    for tree in ({second: leaf(), first: leaf()}, [leaf(), {first: leaf()}]):
        new_leaves = [leaf(), leaf()]
        if_wrong = {"tree afterwards": changed}
        cases.append(Case(then_look, tree, new_leaves, note=note, if_wrong=if_wrong))
    yield from shuffled(rng, cases)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
