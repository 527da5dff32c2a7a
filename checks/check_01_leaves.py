"""Checks of lesson 1, leaves.

python checks/check_01_leaves.py exercises/01_leaves_exercises.ipynb
"""

from collections import OrderedDict, defaultdict, deque, namedtuple
from functools import wraps
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
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
    varied_trees,
    vector,
)

NAN, INF = float("nan"), float("inf")

CHANGED = {
    "tree afterwards": "After the call, the tree that your function was given has changed.",
    "list afterwards": "After the call, the list that your function was given has changed.",
}


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


def model(rng, leaf):
    return random_model(rng, leaf, lambda: Layer(leaf(), leaf()), lambda: Duo(None, [leaf()]))


def wide_tree(rng, leaf):
    """Draw a rich tree: what is counted in it is never the same."""
    return [model(rng, leaf), random_tree(rng, 2), tuple(leaf() for _ in range(rng.integers(24)))]


def odd_keys(rng, leaf):
    """Draw dicts with keys that are easily misread in a path text."""
    first, second = sorted(random_words(rng, 2))
    return [
        {f"/{first}": leaf(), f"{second}/": leaf()},
        {f"//{second}": {first: leaf()}, first: leaf()},
        {f"{first}.{second}": leaf(), f"{first}-1": leaf()},
        {f"[{first}]": leaf(), f"{second} {first}": leaf()},
        {f"{first}/{second}": leaf(), second: leaf()},
        {first.upper(): leaf(), second: leaf()},
        {f"{first}'s": leaf(), f'"{second}"': leaf()},
        {first: {f"{number(rng)}": leaf()}},
    ]


def path_texts(tree):
    return [
        jax.tree_util.keystr(path, simple=True, separator="/")
        for path, _ in jax.tree.leaves_with_path(tree)
    ]


@check
def count_leaves(answer, rng):
    """Leaves are neither items of the top level, nor elements of arrays, nor nodes, nor None."""
    answer = as_int(answer)

    def leaf():
        return one_of(rng, number(rng), array(rng, 2), Config(a=1))

    edges = (0, "", False, "text", array(rng, 2, 3), array(rng, 3, 0), {1, 2}, deque([3, 4]))
    edges += (None, one_of(rng, (), [], {}), Config(), Config(a=1, b=2))
    trees = varied_trees(rng, lambda: number(rng), edges=edges, values=np.asarray)
    first, second = random_words(rng, 2)
    trees += [
        {f"{first}/{second}": leaf(), first: {second: leaf()}},  # two leaves of one path text
        {f"{first}*": leaf(), second: ["*"]},  # a printed structure has a star for each leaf
        {"*": leaf(), first: {"**": leaf()}},
        [{f"{first}/0": leaf(), first: [leaf()]}, leaf()],
        falsy(rng),
        None,
        array(rng, 2, 3),
        [(), {}, [None]],
        defaultdict(list, a=[1, 2]),
        [leaf()] * 3,
        [array(rng, 2)] * 2,
        [8, 8.0, np.int64(8)],
        {"w": np.ones((2, 3)), "b": None},
    ]
    trees += [wide_tree(rng, leaf) for _ in range(rng.integers(8, 11))]
    for tree in shuffled(rng, trees):
        yield Case(answer, tree)


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

    scalar, empty = array(rng), array(rng, 3, 0)
    edges = (scalar, empty, array(rng, 0), None, array(rng, 1, 2, 3), np.float16([1, 2]))
    without = ["paths of one text"]
    trees = varied_trees(rng, leaf, edges=edges, values=np.asarray, without=without, rich=1)
    trees += odd_keys(rng, leaf)
    first, second, third = random_words(rng, 3)
    trees += [
        [scalar, (leaf(),)],
        array(rng, 2, 2),
        [None, array(rng, 2)],
        {first: [None, array(rng, 3)], second: None},
        {first: [{second: leaf()}, {second: leaf()}]},
        {first: {second: {third: leaf()}, third: {third: leaf()}}},
        {third: [Layer(leaf(), Duo(leaf(), None))]},
        {"w": np.ones((2, 3)), "more": [np.zeros(4), None]},
    ]
    for tree in shuffled(rng, trees):
        yield Case(answer, tree)


@check
def count_nones(answer, rng):
    """Nones are not among the leaves, and not everything without leaves is a None."""
    answer = as_int(answer)

    def leaf():
        return one_of(rng, None, None, None, number(rng), array(rng, 2), Config(a=None))

    def count_each(trees):
        return [answer(tree) for tree in trees]

    edges = (0, False, "", "None", NAN, array(rng, 2), array(rng, 2, 3), array(rng, 0))
    edges += ({None, 1}, deque([None]), Config(a=None), one_of(rng, (), [], {}))
    edges += (np.array([None, 1]), np.array([[None], [None]]))
    trees = varied_trees(rng, lambda: number(rng), edges=edges, values=np.asarray)
    word = random_words(rng, 1)[0]
    trees += [
        None,
        [None] * int(rng.integers(2, 5)),
        (number(rng), None),
        Layer(number(rng), None),
        Duo(None, number(rng)),
        OrderedDict({word: None}),
        {word: [(), None]},
        {"None": number(rng), word: None},
        {f"{word}None": number(rng)},
        {f"{word}/0": None, word: [None]},
        {word: None, "array": array(rng, 2)},
        [array(rng, 2)] * 2,
        [8, 8.0, None],
        {"w": np.ones(2), "b": None, "more": [None, ()]},
    ]
    trees += [wide_tree(rng, leaf) for _ in range(rng.integers(6, 9))]
    few = [None, None, *([leaf() for _ in range(rng.integers(9))] for _ in range(9))]
    cases = [Case(answer, tree) for tree in trees]
    cases.append(
        Case(
            count_each,
            shuffled(rng, few),
            note="Your function is called with each item of this list.",
        )
    )
    yield from shuffled(rng, cases)


@check
def nan_paths(answer, rng):
    """Names go with their own leaves: unsorted keys, None, nested dicts and lists."""

    # Pictures show the value of a float, but not those of an array: floats in the small cases.
    def float_leaf():
        return one_of(rng, NAN, NAN, number(rng) / 2)

    def leaf():
        value = number(rng) / 2
        arrays = np.array([value, 2]), np.array([NAN, value]), np.array([[value], [NAN]])
        return one_of(rng, value, NAN, *arrays)

    edges = (INF, -INF, 0.0, np.array([INF, -INF]), np.array([[INF], [-INF]]), np.array(NAN))
    edges += (np.zeros(0), np.zeros((0, 3)), np.array([1.0, NAN]), np.array([NAN, NAN]))
    edges += (np.array([[1, 2], [NAN, 3]]), array(rng, 2), np.float16([NAN, 1]))
    # What is given fails at a tree that is no container: the smallest cases show its silent bug.
    tables = array(rng, 7, 7) / 2, array(rng, 8, 6) / 2
    for table in tables:
        table[rng.integers(6), rng.integers(6)] = NAN
    without = ["bare leaf", "no leaves", "paths of one text", "bfloat16"]
    trees = varied_trees(rng, float_leaf, edges=edges, values=np.asarray, without=without, rich=0)
    trees += [*tables, one_of(rng, {}, [], ()), *odd_keys(rng, float_leaf)]
    first, second = sorted(random_words(rng, 2))
    trees += [
        {second: NAN, first: number(rng) / 2},
        {second: NAN, first: NAN},
        {first: None, second: NAN},
        {f"/{first}": NAN, second: float_leaf()},
        {f"//{second}": {first: NAN}},
        {10: NAN, 9: float_leaf(), 2: NAN},
        [np.array([NAN, 1])] * 2,
        {"w": np.zeros(2), "b": np.array([1.0, NAN]), "scale": None},
        [float_leaf() for _ in range(10)] + [NAN, NAN],
        [Layer(NAN, NAN), OrderedDict(z=NAN, a=float_leaf())],
        {second: {"w": NAN}, first: [float_leaf(), NAN]},
    ]
    for _ in range(rng.integers(4, 7)):
        trees.append([leaf(), model(rng, leaf), {second: leaf(), first: leaf()}])
    for tree in shuffled(rng, trees):
        yield Case(answer, tree)


def alike_pairs(rng):
    """Draw pairs of trees whose structures differ in one thing; and pairs of equal structure."""

    def leaf():
        return number(rng)

    first, second, third = sorted(random_words(rng, 3))
    differing = [
        ([leaf()], (leaf(),)),
        ({first: [leaf()]}, {first: (leaf(),)}),
        (leaf(), [leaf(), leaf()]),
        ([leaf()], leaf()),
        ({first: leaf()}, {first: (leaf(),)}),
        ([leaf(), leaf()], [leaf(), {second: leaf()}]),
        ([leaf(), {second: leaf()}], [leaf(), leaf()]),
        ([leaf(), leaf()], [leaf(), leaf(), leaf()]),
        ([leaf(), one_of(rng, (), [], {})], [leaf()]),
        ({first: leaf(), second: ()}, {first: leaf()}),
        ([leaf(), None], [leaf(), leaf()]),
        ({first: leaf()}, {first: None}),
        ([None], [()]),
        ({first: leaf()}, {second: leaf()}),
        ({first: leaf(), second: leaf()}, {first: leaf(), third: leaf()}),
        ((leaf(), leaf()), Layer(leaf(), leaf())),
        ((0, 1), Layer(0, 1)),
        (OrderedDict({first: 1}), {first: 1}),
        ([Layer(leaf(), leaf())], [(leaf(), leaf())]),
        (Duo(leaf(), leaf()), [leaf(), leaf()]),
        ({first: leaf(), second: leaf()}, OrderedDict({first: leaf(), second: leaf()})),
        ([OrderedDict({first: leaf()})], [{first: leaf()}]),
        (OrderedDict({first: 1, second: leaf()}), OrderedDict({second: leaf(), first: 1})),
        ([OrderedDict({third: 1, first: leaf()})], [OrderedDict({first: leaf(), third: 1})]),
        (Duo(leaf(), [leaf()]), Duo(leaf(), leaf())),
        ({first: leaf()}, Config({first: leaf()})),
        ({first: {1: leaf()}, second: {"1": 1}}, {first: {"1": leaf()}, second: {1: 1}}),
        ({first: {second: leaf()}}, {f"{first}/{second}": leaf()}),
        ([{0: leaf()}], [{"": leaf()}]),
        (Duo(Duo(leaf(), 1), leaf()), Duo(leaf(), Duo(1, leaf()))),
        ([leaf() for _ in range(12)], [leaf() for _ in range(13)]),
    ]
    tree = random_tree(rng, depth=2)
    equal = [
        (tree, jax.tree.map(lambda _: leaf(), tree)),
        (leaf(), one_of(rng, "text", Config({first: 1}), {1, 2}, array(rng, 2))),
        ([leaf(), Config({first: 1})], [Config({second: [1]}), leaf()]),
        ([Config({first: leaf()})], [Config({second: leaf()})]),
        ({first: Config({first: leaf()})}, {first: Config({first: [leaf(), leaf()]})}),
        ([], []),
        ({first: leaf(), second: leaf()}, {second: leaf(), first: leaf()}),
        ({first: [leaf(), None]}, {first: [leaf(), None]}),
        ([leaf()], [one_of(rng, 0, "", False)]),
        ([array(rng, 2)], [array(rng, 2, 3)]),
        ({first: array(rng, 3)}, {first: array(rng, 3, 2)}),
        ({first: array(rng, 3)}, {first: leaf()}),
        ({first: "one"}, {first: array(rng, 2)}),
        ([Layer(leaf(), leaf())], [Layer(leaf(), leaf())]),
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
    equal += [
        (tree, jax.tree.map(lambda _: number(rng), tree))
        for tree in varied_trees(rng, lambda: number(rng), values=np.asarray, rich=0)
    ]
    equal += [([array(rng, 2)] * 2, [array(rng, 2), 8]), ([8, 8.0], [8, 8])]
    equal.append(({"x": 1, "y": [2]}, {"y": ["two"], "x": np.ones(3)}))
    differing.append(([1, 2], (1, 2)))
    cases = [Case(says, *pair) for pair in differing + equal]
    note = "These are two different namedtuple classes. Both are called `Point`."
    for first, second in ((Point, OtherPoint), (OtherPoint, Point)):
        cases.append(Case(says, first(1, number(rng)), second(1, number(rng)), note=note))
        cases.append(Case(says, [first(1, number(rng))], [second(2, number(rng))], note=note))
    note = "Both hold the same class, `Point`."
    cases.append(Case(says, [Point(1, number(rng))], [Point(3, number(rng))], note=note))
    for _ in range(rng.integers(4, 7)):
        differing, equal = alike_pairs(rng)
        pairs = [one_of(rng, *one_of(rng, differing, equal)) for _ in range(10)]
        cases.append(Case(say_all, pairs, note="Your function is called with each pair."))
    yield from shuffled(rng, cases)


@check
def replace_leaves(answer, rng):
    """The structure stays, items go in whole, and a wrong number is told with both numbers."""

    def then_look(tree, new_leaves):
        return [answer(tree, new_leaves), {"tree afterwards": tree, "list afterwards": new_leaves}]

    def then_change(tree, new_leaves):
        result = answer(tree, new_leaves)
        for given in (tree, new_leaves):
            given[0] = "changed"
            given.append("added")
        return result

    def type_of_error(tree, new_leaves):
        try:
            answer(tree, new_leaves)
        except NotImplementedError:
            raise
        except Exception as error:
            fits = isinstance(error, ValueError)
            return {"ValueError": fits, "subclass": fits and type(error) is not ValueError}
        return {"ValueError": False, "subclass": False}

    def last_of_a_list(many, last):
        new = answer([0] * many, [*range(many - 1), last])
        return new[-3:] if isinstance(new, list) else new

    def numbers(count):
        return [number(rng) for _ in range(count)]

    def count(tree):
        return len(jax.tree.leaves(tree))

    edges = (0, "", None, array(rng, 2))
    trees = varied_trees(rng, lambda: number(rng), edges=edges, values=np.asarray)
    trees += [[array(rng, 2)] * 2, [8, 8.0, (8,)]]
    cases = [Case(answer, tree, numbers(count(tree))) for tree in [falsy(rng), *trees]]
    first, second = sorted(random_words(rng, 2))
    empty = one_of(rng, (), [], {})
    for item in ((1, 2), None, empty, [3, 4], {first: 5}, 0, "", "text", array(rng, 2)):
        tree = {first: number(rng), second: number(rng)}
        cases.append(Case(answer, tree, shuffled(rng, [item, number(rng)])))
    cases.append(Case(answer, [1, 2, 3], [None, number(rng), None]))
    cases.append(Case(answer, {"w": 1, "b": [2, None]}, [10, 20]))
    note = "The caller changes the tree and the list after the call. Your result stays as it was."
    for tree in ([1, 2, 3], [number(rng), 4], [number(rng), None, {first: 2}]):
        later = Case(
            then_change,
            tree,
            numbers(count(tree)),
            note=note,
            if_wrong={
                "changed": "What the caller changes after the call changes your result too. Your "
                "result has to be a tree of its own."
            },
        )
        cases.append(later)
    tree = {second: [number(rng), {"y": 2, "x": 3}], first: OrderedDict(z=Duo(None, 4), a=5)}
    cases.append(Case(answer, tree, [*numbers(4), (None, number(rng))]))
    for tree in (
        {second: 1, first: 2},
        {first: 1, second: [2]},
        [1, {first: 2}, 3],
        [number(rng), [number(rng)]],
    ):
        look = Case(then_look, tree, numbers(count(tree)), if_wrong=CHANGED)
        cases.append(look)
    for change in (1, 1, 1, 2, 3, -1, -1, -2):
        tree = one_of(rng, [*numbers(2), None], {first: numbers(2), second: 1}, (1, [2, (3, 4)]))
        needed, given = count(tree), count(tree) + change
        cases.append(Case(answer, tree, numbers(given), mentions=(str(needed), str(given))))
    note = "Your function is given a list of so many numbers, and so many new ones."
    for many in 257 + rng.permutation(200)[:2]:
        case = Case(last_of_a_list, int(many), number(rng), note=note)
        cases.append(case)
    note = "Does your function raise a `ValueError`, and not a subclass of it?"
    if_wrong = {
        "ValueError False": "For a wrong number, your function raises no `ValueError`.",
        "subclass True": "For a wrong number, your function raises an error of a subclass of "
        "`ValueError`. The task asks for a `ValueError` itself.",
    }
    for change in (1, -1):
        tree = [number(rng), {first: number(rng)}]
        new_leaves = numbers(2 + change)
        case = Case(type_of_error, tree, new_leaves, note=note, if_wrong=if_wrong)
        cases.append(case)
    cases.append(Case(answer, {}, numbers(1), mentions=("0", "1")))
    cases.append(Case(answer, {first: 1, second: [2]}, [], mentions=("2", "0")))
    cases.append(Case(answer, number(rng), [], mentions=("1", "0")))
    for _ in range(rng.integers(3, 6)):
        tree = {first: random_tree(rng), second: model(rng, lambda: number(rng))}
        cases.append(Case(answer, tree, numbers(count(tree))))
    yield from shuffled(rng, cases)


@check
def leaf_at(answer, rng):
    """A text is not a list of keys; containers and None are no leaves; KeyError says the path."""

    def leaf():
        return number(rng)

    def each_path(tree, paths):
        return [answer(tree, path) for path in paths]

    first, second, third = sorted(random_words(rng, 3))
    without = ["no leaves", "paths of one text"]
    trees = varied_trees(rng, leaf, values=np.asarray, without=without, rich=4)
    trees += [
        *odd_keys(rng, leaf),
        [array(rng, 2)] * 2,
        {"0": leaf(), "1": leaf()},
        {3: leaf(), 0: leaf()},
        [{number(rng): leaf()}, leaf()],
        [{first: {"2": leaf()}}, leaf()],
    ]
    trees += [{first: [Layer(leaf(), Duo(leaf(), leaf()))]}, {first: {second: {third: leaf()}}}]
    trees += [{f"{first}/{second}": leaf()}, [{f"{first}/0": leaf()}]]
    cases = [Case(answer, tree, one_of(rng, *path_texts(tree))) for tree in trees]
    cases.append(Case(answer, falsy(rng), ""))
    cases.append(Case(answer, {first: 8, second: 8.0}, second))
    cases.append(Case(answer, {"layers": [{"w": 5, "b": 6}]}, "layers/0/w"))
    for edge in (0, "", False, NAN, INF, array(rng, 2)):
        cases.append(Case(answer, {first: edge, second: leaf()}, first))
    missing = [
        ({first: leaf()}, second),
        ({first: leaf()}, first.upper()),
        ({first: leaf()}, first[:2]),
        ({first: leaf()}, f"{first}/"),
        ({first: leaf()}, f"/{first}"),
        ([leaf(), leaf()], "1/"),
        ({first: {second: leaf()}}, f"{first}/{second.upper()}"),
        ({first: leaf()}, f"{first}/{second}"),
        ({first: [leaf(), leaf()]}, first),
        ({first: {second: leaf()}}, first),
        ([Layer(leaf(), leaf())], "0"),
        ({first: None, second: leaf()}, first),
        ([leaf(), None], "1"),
        ({first: {second: leaf()}}, second),
        ([{second: leaf()}], second),
        ({first: {second: {third: leaf()}}}, f"{second}/{third}"),
        ([leaf(), leaf()], "2"),
        ([leaf(), leaf()], "-1"),
        ((leaf(), leaf(), leaf()), "-2"),
        ((leaf(), leaf()), third),
        (one_of(rng, {}, [], None), first),
        ({first: leaf()}, ""),
        ([leaf(), leaf()], ""),
    ]
    for tree in (model(rng, leaf) for _ in range(rng.integers(2, 5))):
        missing.append((tree, f"{one_of(rng, *path_texts(tree))}/{second}"))
    cases += [Case(answer, tree, text, mentions=(text,)) for tree, text in missing]
    note = "Your function is called with each of these paths."
    for _ in range(2):
        tree = {first: model(rng, leaf), second: [leaf(), (leaf(), {third: leaf()})]}
        paths = shuffled(rng, path_texts(tree))[: rng.integers(6, 9)]
        cases.append(Case(each_path, tree, paths, note=note))
    yield from shuffled(rng, cases)


@check
def whole_shapes(answer, rng):
    """Lists of ints stay whole; other lists, tuples and other leaves are as usual."""

    def shape():
        return [number(rng) for _ in range(rng.integers(1, 4))]

    def leaf():
        return one_of(rng, shape(), shape(), number(rng), "same", [])

    size = number(rng)
    edges = ([], [0], [-size], [size, -2], [size], [size, 2, 3], size, 0, 0.5, "float32", "", False)
    edges += ((), (size, 2), (size,), Layer(size, 2), [size, "same"], ["same", size])
    edges += ([size, 0.5], [0.5, 1.5], [size, None], [None], [size, [2]], [[size], 2], [[size]])
    edges += ([[3, size], [5, 6]], [(size, 2)], [{"w": size}], [size, ()])
    edges += (NAN, [size, NAN], INF, 1e-5, [size, float(size)])
    trees = [*varied_trees(rng, shape, edges=edges, rich=0), falsy(rng), [], [[]], (), [size, 2.5]]
    trees += [size, {"w": [784, 10], "more": [[3, 3], []], "dtype": "float32"}]
    for _ in range(rng.integers(2, 5)):
        trees.append([model(rng, leaf), {name: [leaf(), leaf()] for name in random_words(rng, 2)}])
    for tree in shuffled(rng, trees):
        yield Case(answer, tree)


@check
def leaves_in_layer_order(answer, rng):
    """Numbers in the names count, at every depth; nothing else changes its place."""

    def leaf():
        return number(rng)

    def numbered(name, child=leaf):
        """Draw a dict whose order depends on whether its numbers are read as numbers."""
        drawn = [rng.integers(2, 10), 10 * rng.integers(1, 10), rng.integers(100, 200)]
        return {name.format(each): child() for each in shuffled(rng, drawn)}

    def layers(child=leaf):
        return numbered("layer{}", child)

    def part():
        return one_of(rng, leaf(), {"w": leaf(), "b": leaf()}, Layer(leaf(), leaf()), layers())

    def falling(digits):
        """Draw layers 9, 80, 700, ...: in order only if numbers of any length are compared."""
        return {f"layer{9 - zeros}{'0' * zeros}": leaf() for zeros in rng.permutation(digits)}

    first, second = random_words(rng, 2)
    edges = (None, 0, "", "layer2", array(rng, 2))
    trees = varied_trees(rng, layers, edges=edges, values=np.asarray, rich=0)
    trees += [
        leaf(),
        [leaf()],
        {"w": leaf(), "b": leaf()},
        Layer(leaf(), leaf()),
        {10: leaf(), 9: leaf()},
    ]
    names = ("layernorm{}", "block{}", "Layer{}", "layer{}b", "layer_{}", "layer{}.5", "{}layer3")
    names += ("LAYER{}", "sublayer{}", "my_layer{}", "layer{}/w", "layers{}", "layer{}_0")
    names += ("layer{}_1",)
    trees += [numbered(name) for name in names]
    trees += [
        falsy(rng),
        {"layernorm": leaf()},
        {"layer": leaf(), "layers": leaf()},
        {"layer10": leaf(), "layer2": leaf()},
        {"layer2": leaf(), "layer10": leaf()},
        {"layer1": leaf(), "layer0": leaf()},
        [array(rng, 2)] * 2,
        [8, layers(), 8.0],
        [{first: {second: leaf()}, f"{first}/{second}": leaf()}, layers()],
        {"layer10": {"w": 5, "b": 4}, "layer2": {"w": 3, "b": 2}},
        {"layer17": leaf(), "layer9": leaf(), "layer12": leaf()},
        falling(5),
        [falling(9)],
        {"layer10": None, "layer9": leaf(), "layer30": ()},
        {"layer2": {"layer11": leaf(), "layer4": leaf()}, "layer12": leaf()},
        {number(rng): layers(), 0: leaf()},
        OrderedDict(layer10=leaf(), layer2=leaf(), layer9=leaf()),
        [OrderedDict(layer10=layers(), layer9=leaf())],
        defaultdict(int, layer2=leaf(), layer10=leaf()),
        {first: Duo(layers(), None), second: OrderedDict(z=layers(), a=leaf())},
        layers(layers),
        layers(lambda: {second: (leaf(), layers()), first: leaf()}),
    ]
    for _ in range(rng.integers(3, 6)):
        trees.append({second: [layers(part), part()], first: one_of(rng, layers(part), part())})
    for tree in shuffled(rng, trees):
        yield Case(answer, tree)


@check
def shared_leaves(answer, rng):
    """The same array, not an equal one, a view of it, a number or a text; all its paths, once."""
    cases = []

    # No picture shows which arrays are one object, so a sentence beside it says it.
    def add(note, *trees):
        cases.extend(Case(answer, tree, note=note) for tree in trees)

    one, two, square = array(rng, 2), array(rng, 2) + 0.5, array(rng, 2, 2)
    first, second, third = sorted(random_words(rng, 3))
    size, thing = number(rng), one_of(rng, 0.5, "float32")
    part, of_jax = {second: one, first: two}, vector(rng)
    bfloat16 = np.array([1.5, 2], jnp.bfloat16)
    single, square_less = np.array(size), array(rng, 3, 0)
    long = [number(rng) for _ in range(12)]
    long[2] = long[10 + rng.integers(2)] = one
    note = "No array stands at two places."
    add(note, {}, one, [one, two], {first: None, second: None})
    numbers = (np.float32(size),) * 2, Duo(*[np.float64(size)] * 2)
    add("There are no arrays here.", {first: size, second: size}, [thing, thing], *numbers)
    add("There are no arrays here.", [8, 8.0])
    note = "One array of JAX stands at two places. There are no other arrays."
    add(note, [of_jax, of_jax], {second: of_jax, first: (of_jax,)})
    note = "These arrays are equal, but no two are the same object."
    copies = {first: one, second: one.copy()}, [two.copy(), two.copy(), {third: two.copy()}]
    add(note, *copies)
    note = "These arrays use the same memory, but no two are the same object."
    views = {first: one, second: one[:]}, [square, square.T], (two, two[::-1])
    add(note, *views)
    note = "One array stands at each of these places."
    add(
        note,
        *varied_trees(rng, lambda: one, without=["paths of one text", "repeated leaf"], rich=0),
    )
    for each in ([NAN, 2], [INF, -INF], [3e-5], np.float16([1.5, 2]), np.array(2.5), bfloat16):
        values = np.asarray(each)
        add(note, [values, values])
    nans = np.array([NAN, 1])
    add("These arrays are equal, but no two are the same object.", [nans, nans.copy()])
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
        long,
        {first: [{second: one}, size], third: one},
        [one, one, one],
        {third: two, first: two, second: (two, two)},
        {first: two, second: two.copy(), third: two},
        [one, one[:], one],
        OrderedDict({second: square, first: square}),
        [array(rng, 0)] * 2,
        {first: square_less, second: [square_less]},
        [single, single],
        {third: single, second: size, first: (one, single)},
        *odd_keys(rng, lambda: two)[:7],
    )
    add(
        "Two arrays stand at several places each.",
        [one, two, one, two],
        [one, two, two, one],
        {third: two, second: [one, one, two]},
        {third: part, first: part},
        Duo((square, two), {first: two, second: square}),
    )
    square_copy = square.copy()

    def leaf():
        return one_of(rng, one, one, two, two, square, square_copy, one.copy(), two[:], size, None)

    rich = ([one, model(rng, leaf), leaf(), (leaf(), one)] for _ in range(rng.integers(4, 7)))
    add("Some arrays may be copies or views of others.", *rich)
    yield from shuffled(rng, cases)


PLAIN = ["namedtuple", "namedtuple in a list", "namedtuple below the top", "OrderedDict"]
PLAIN += ["registered class", "registered class below the top", "class in itself"]
"""Features that plain containers do not have."""


def plain_leaf(rng):
    return one_of(rng, number(rng), number(rng) / 2, array(rng, 2), array(rng, 2, 2), "text")


@check
def leaves_of(answer, rng):
    """Dicts as written, lists and tuples, at every depth; all else is a leaf."""

    def leaf():
        return number(rng)

    edges = (array(rng, 3), array(rng, 2, 2), "text", number(rng) / 2)
    trees = varied_trees(rng, leaf, edges=edges, without=[*PLAIN, "None", "no leaves"])
    first, second = sorted(random_words(rng, 2))
    trees += [
        one_of(rng, (), [], {}),
        [[], {first: ((), {})}],
        array(rng, 2),
        {second: array(rng, 2), first: [leaf(), "text"]},
        [[leaf(), [leaf(), leaf()]], leaf()],
        (leaf(), {second: (leaf(),), first: [leaf(), {first: leaf()}]}),
        {"b": [1, (2, 3)], "a": 4},
        5,
    ]
    for _ in range(rng.integers(2, 5)):
        trees.append({second: [plain_leaf(rng), {first: plain_leaf(rng)}], first: plain_leaf(rng)})
    for tree in shuffled(rng, trees):
        yield Case(answer, tree)


@check
def leaves_by_type(answer, rng):
    """Four types are nodes; of other types, subclasses too, each object is one leaf."""

    def leaf():
        return number(rng)

    edges = (array(rng, 3), "text", {1, 2}, deque([3, 4]), Config(a=1, b=2))
    trees = varied_trees(rng, leaf, edges=edges)
    first, second = sorted(random_words(rng, 2))
    trees += [
        None,
        one_of(rng, (), [], {}),
        [(), {}, [None]],
        array(rng, 2),
        [Config({second: leaf(), first: leaf()}), leaf()],
        {second: [leaf(), {second: leaf(), first: leaf()}], first: leaf()},
        [8, 8.0],
    ]
    for _ in range(rng.integers(2, 5)):
        trees.append({second: [plain_leaf(rng), None], first: Layer(plain_leaf(rng), leaf())})
    for tree in shuffled(rng, trees):
        yield Case(answer, tree)


@check
def rebuild(answer, rng):
    """The same containers and keys, with the new leaves in JAX's order."""

    @wraps(answer)
    def with_new(tree, new_leaves):
        return answer(tree, iter(new_leaves))

    def leaf():
        return number(rng)

    trees = varied_trees(rng, leaf, edges=(array(rng, 3), "text"), without=PLAIN)
    first, second = sorted(random_words(rng, 2))
    trees += [
        None,
        one_of(rng, (), [], {}),
        [(), {}, [None]],
        [None, leaf(), (None, leaf())],
        {second: leaf(), first: [leaf(), {second: (leaf(),), first: leaf()}]},
        ([leaf()], (leaf(), leaf())),
    ]
    note = "The second input is given to your function as an iterator."
    for tree in shuffled(rng, trees):
        new_leaves = [number(rng) for _ in jax.tree.leaves(tree)]
        yield Case(with_new, tree, new_leaves, note=note)
    yield Case(with_new, {"b": 1, "a": (2, None)}, [10, 20], note=note)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
