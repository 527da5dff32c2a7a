"""Checks of lesson 1, leaves: python checks/check_01_leaves.py exercises/01_leaves.ipynb"""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import numpy as np

from pytree_course.checking import (
    Case,
    as_int,
    check,
    prediction_cases,
    random_model,
    random_tree,
    random_words,
)


class Layer(NamedTuple):
    """A node, as all named tuples are."""

    w: Any
    b: Any


class Config(dict):
    """A leaf: JAX does not know this subclass of dict."""


def point_class():
    return namedtuple("Point", ["x", "y"])


Point, OtherPoint = point_class(), point_class()


@jax.tree_util.register_dataclass
@dataclass
class Duo:
    """A node, because it is registered."""

    left: Any
    right: Any


def number(rng):
    return int(rng.integers(1, 1000))


def array(rng, *shape):
    # NumPy's own arrays as leaves: nothing here makes JAX compile.
    return rng.integers(0, 100, shape).astype(np.float32)


def model(rng, leaf):
    return random_model(rng, leaf, lambda: Layer(leaf(), leaf()), lambda: Duo(None, [leaf()]))


@check
def count_leaves(answer, rng):
    """Leaves are neither items of the top level, nor elements of arrays, nor nodes, nor None."""
    answer = as_int(answer)
    yield Case(answer, {})
    yield Case(answer, [1, None])
    yield Case(answer, ((), [], {}))
    yield Case(answer, np.ones((2, 3)))
    yield Case(answer, [1, (2, [3])])
    yield Case(answer, {"w": np.ones((2, 3)), "b": np.zeros(3)})
    yield Case(answer, {"config": Config(a=1, b=2), "names": {"x", "y"}})
    yield Case(answer, OrderedDict(first=Layer(1, 2), second=Duo(3, [4, "five"])))
    for extra in rng.permutation(6)[:4].tolist():
        config = Config(zip(random_words(rng, 2), (1, 2), strict=True))
        yield Case(answer, [random_tree(rng), config, array(rng, 3), (1,) * extra])


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
    yield Case(answer, {})
    yield Case(answer, np.zeros(3))
    yield Case(answer, {"w": np.zeros((2, 3))})
    yield Case(answer, {"w": np.zeros(2), "b": None})
    yield Case(answer, [np.zeros(()), (np.zeros(1),)])
    yield Case(answer, {12: np.zeros(1), 3: np.zeros(2)})
    yield Case(answer, [Layer(np.zeros((3, 2)), None), OrderedDict(z=np.zeros(2), a=np.zeros(1))])
    layers = [{"w": np.zeros((4, 3)), "b": np.zeros(3)}, {"w": np.zeros((3, 1)), "b": np.zeros(1)}]
    yield Case(answer, {"layers": layers})
    for _ in range(4):
        yield Case(answer, model(rng, lambda: array(rng, *rng.integers(1, 4, rng.integers(3)))))


@check
def count_nones(answer, rng):
    """Nones are not among the leaves, and not everything without leaves is a None."""
    answer = as_int(answer)
    yield Case(answer, {})
    yield Case(answer, None)
    yield Case(answer, [1, None])
    yield Case(answer, (None, (), [None]))
    yield Case(answer, [0, False, "", "None"])
    yield Case(answer, {"None": 1, "x": None})
    yield Case(answer, {"w": np.ones(3), "b": None})
    yield Case(answer, [Config(a=None), {None, 1}])
    yield Case(answer, OrderedDict(first=Layer(1, None), second=Duo(None, None)))
    for extra in rng.permutation(6)[:4].tolist():
        tree = model(rng, lambda: [None, number(rng), array(rng, 2)][rng.integers(3)])
        yield Case(answer, [tree, (None,) * extra])


@check
def nan_paths(answer, rng):
    """Names go with their own leaves: unsorted keys, None, nested dicts and lists."""
    # Pictures show the value of a float, but not those of an array: floats in the small cases.
    good, bad = 0.5, float("nan")
    arrays = [np.array([1.0, 2.0]), np.array([np.nan, 2.0]), np.array([[2.0], [np.nan]])]
    yield Case(answer, {})
    yield Case(answer, {"w": bad, "b": good})
    yield Case(answer, {"w": bad, "b": bad})
    yield Case(answer, {"w": good, "b": arrays[1]})
    yield Case(answer, {"a": None, "b": bad, "c": good})
    yield Case(answer, {10: bad, 9: good, 2: bad})
    yield Case(answer, {"head": {"w": good, "b": bad}, "body": [good, bad]})
    yield Case(answer, [bad, Layer(good, bad), None, OrderedDict(z=bad, a=bad)])
    for _ in range(4):
        pool = [number(rng) / 2, bad, *arrays]
        tree = model(rng, lambda pool=pool: pool[rng.integers(len(pool))])
        yield Case(answer, {**tree, random_words(rng, 1)[0]: {"w": bad, "b": good}})


@check
def same_structure(answer, rng):
    """Kinds of nodes, keys, None and empty containers count; leaves do not."""
    yield Case(answer, [1], (1,))
    yield Case(answer, 1, [2, 3])
    yield Case(answer, [1, ()], [1])
    yield Case(answer, [1, None], [1, 2])
    yield Case(answer, {"a": 1}, {"b": 1})
    yield Case(answer, {"a": 1, "b": 2}, {"b": 3, "a": 4})
    yield Case(answer, Layer(1, 2), (1, 2))
    yield Case(answer, OrderedDict(a=1, b=2), {"a": 1, "b": 2})
    yield Case(answer, {"w": np.zeros(2)}, {"w": np.zeros((2, 3))})
    note = "These are two different namedtuple classes. Both are called `Point`."
    yield Case(answer, Point(1, 2), OtherPoint(1, 2), note=note)
    yield Case(answer, [Point(3, 4)], [OtherPoint(5, 6)], note=note)
    yield Case(answer, [Point(1, 2)], [Point(3, 4)], note="Both hold the same class, `Point`.")
    for is_same in rng.permutation([True, True, True, False, False, False]):
        tree = random_tree(rng, depth=2)
        other = jax.tree.map(lambda _: number(rng), tree)
        first, second = random_words(rng, 2)
        differing = [
            ((tree, 1), [other, 1]),
            ({first: tree}, {second: other}),
            ([tree, None], [other, 0]),
            ([1, tree], [[2], other]),
        ]
        equal = [
            (tree, other),
            ({first: tree, second: 1}, {second: 2, first: other}),
        ]
        pairs = equal if is_same else differing
        yield Case(answer, *pairs[rng.integers(len(pairs))])


@check
def replace_leaves(answer, rng):
    """The structure stays, items go in whole, and a wrong number is told with both numbers."""

    def both(tree, new_leaves):
        return {"result": answer(tree, new_leaves), "tree afterwards": tree}

    yield Case(answer, {}, [])
    yield Case(answer, 1, [2])
    yield Case(answer, [1, None], [2])
    yield Case(answer, [1, 2], [3, 4, 5], mentions=("2", "3"))
    yield Case(answer, [1, 2, 3], [4], mentions=("3", "1"))
    yield Case(answer, {"a": None, "b": [1, 2]}, [3, 4, 5, 6], mentions=("2", "4"))
    yield Case(answer, {"w": 1, "b": 2}, [3, 4])
    yield Case(answer, [1, 2], [(3, 4), None])
    yield Case(answer, {"z": [1, {"y": 2, "x": 3}], "a": 4}, [5, 6, 7, 8])
    yield Case(answer, Layer(1, OrderedDict(z=2, a=Duo(None, 3))), ["one", "two", "three"])
    yield Case(both, {"w": 1, "b": [2]}, [3, 4])
    for change in (0, 0, 1, -1):
        tree = {"w": [number(rng), number(rng)], "more": random_tree(rng)}
        count = len(jax.tree.leaves(tree))
        new_leaves = [number(rng) for _ in range(count + change)]
        mentions = (str(count), str(count + change)) if change else ()
        yield Case(answer, tree, new_leaves, mentions=mentions)


@check
def leaf_at(answer, rng):
    """A text is not a list of keys; containers and None are no leaves; KeyError says the path."""
    yield Case(answer, {"a": 1}, "a")
    yield Case(answer, {"a": 1}, "b", mentions=("b",))
    yield Case(answer, 5, "")
    yield Case(answer, [10, 20], "1")
    yield Case(answer, {7: 1, 0: 2}, "0")
    yield Case(answer, {"0": 1, "1": 2}, "1")
    yield Case(answer, {"b": None}, "b", mentions=("b",))
    yield Case(answer, {"a": [1, 2]}, "a", mentions=("a",))
    yield Case(answer, {"a": {"b": 1}}, "b", mentions=("b",))
    yield Case(answer, {"a/b": 1, "c": Layer(2, Duo(3, 4))}, "a/b")
    yield Case(answer, {"a/b": 1, "c": Layer(2, Duo(3, 4))}, "c/b/right")
    for _ in range(2):
        tree = model(rng, lambda: number(rng))
        paths = [
            jax.tree_util.keystr(path, simple=True, separator="/")
            for path, _ in jax.tree.leaves_with_path(tree)
        ]
        yield Case(answer, tree, str(rng.choice(paths)))
        missing = f"{rng.choice(paths)}/{random_words(rng, 1)[0]}"
        yield Case(answer, tree, missing, mentions=(missing,))


@check
def whole_shapes(answer, rng):
    """Lists of ints stay whole; other lists, tuples and other leaves are as usual."""

    def shape():
        return [int(length) for length in rng.integers(1, 100, rng.integers(1, 4))]

    def part():
        match rng.integers(6):
            case 0:
                return [shape(), shape()]
            case 1:
                return {"dtype": "float32", "shape": shape()}
            case 2:
                return (number(rng), [])
            case 3:
                return [number(rng), "same"]
            case 4:
                return None
            case _:
                return shape()

    yield Case(answer, {})
    yield Case(answer, [2, 3])
    yield Case(answer, (2, 3))
    yield Case(answer, [2, "same"])
    yield Case(answer, [[2, 3], [4]])
    yield Case(answer, [5, [6, 7], None])
    yield Case(answer, {"w": [784, 10], "b": [10]})
    yield Case(answer, {"shape": [3, 3], "dtype": "float32"})
    yield Case(answer, {"scale": [], "w": [4]})
    yield Case(answer, ({}, ([], "none")))
    for _ in range(4):
        yield Case(answer, {name: part() for name in random_words(rng, 3)})


@check
def leaves_in_layer_order(answer, rng):
    """Numbers in the names count, at every depth; nothing else changes its place."""

    def layers(leaf):
        numbers = [*rng.permutation(range(1, 10))[:2], *rng.permutation(range(10, 130))[:2]]
        return {f"layer{n}": leaf() for n in rng.permutation(numbers)}

    def part():
        return {"w": number(rng), "b": number(rng)} if rng.random() < 0.5 else number(rng)

    yield Case(answer, {})
    yield Case(answer, 1)
    yield Case(answer, {"layer2": 1, "layer10": 2})
    yield Case(answer, {"layer10": 1, "layer2": 2})
    yield Case(answer, {"layer9": 1, "layer100": 2, "layer21": None, "layer20": 4})
    yield Case(answer, {"layer1": {"w": 1, "b": 2}, "layer0": [3, 4]})
    yield Case(answer, [{"layer10": 1, "layer9": 2}, 3])
    yield Case(answer, {"layer3": {"layer11": 1, "layer4": 2}, "layer12": 3})
    yield Case(answer, {"net": {"layer2": 1, "layer10": 2}, "aux": {"layer1": 3, "layer10": 4}})
    yield Case(answer, {"layernorm": 1})
    yield Case(answer, {"block10": 1, "block2": 2})
    yield Case(answer, Layer(w=1, b=2))
    yield Case(answer, OrderedDict(w=1, b=2))
    yield Case(answer, OrderedDict(layer10=1, layer2=2))
    for _ in range(3):
        first, second = random_words(rng, 2)
        yield Case(answer, {first: [layers(part), part()], second: layers(part)})
    yield Case(answer, layers(lambda: layers(part) if rng.random() < 0.3 else part()))


@check
def shared_leaves(answer, rng):
    """The same array, not an equal one, a view of it, a number or a text; all its paths, once."""

    # No picture shows which arrays are one object, so a sentence beside it says it.
    def case(tree, note):
        return Case(answer, tree, note=note)

    table, other = array(rng, 2, 2), array(rng, 2) + 0.5
    text, small = random_words(rng, 1)[0], number(rng)
    yield Case(answer, {})
    yield Case(answer, table)
    yield Case(answer, {"a": None, "b": None})
    yield case({"a": small, "b": small, "c": [text, text]}, "There are no arrays here.")
    yield case({"a": other, "b": other}, "`a` and `b` are the same array.")
    yield case({"a": other, "b": other.copy()}, "`b` is a copy of `a`.")
    yield case({"a": other, "b": other[:]}, "`b` is a view of `a`.")
    yield case([other, other, other], "All three are the same array.")
    tree = {"z": other, "b": table, "a": [other, table, small]}
    yield case(tree, "`a` holds the same arrays as `z` and `b`.")
    part = {"w": table, "b": other}
    yield case({"encoder": part, "decoder": part}, "`encoder` and `decoder` are the same dict.")
    tree = {"head": table.T, "embed": table, "tail": Layer(table, table.copy())}
    yield case(tree, "`embed` is also the `w` of `tail`; its `b` is a copy, and `head` is a view.")
    for _ in range(4):
        one, two = array(rng, 2), array(rng, 2) + 0.5
        pool = [one, one, two, two, one.copy(), two[:], number(rng), None]
        tree = model(rng, lambda pool=pool: pool[rng.integers(len(pool))])
        note = "Some arrays may be copies or views of others."
        yield case([one, tree, one], note)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
