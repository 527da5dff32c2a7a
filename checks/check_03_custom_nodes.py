"""Checks of lesson 3.

python checks/check_03_custom_nodes.py exercises/03_custom_nodes_exercises.ipynb
"""

import operator
import re
from collections import deque
from dataclasses import dataclass, field, is_dataclass, make_dataclass
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr

from pytree_course.cases import (
    Case,
    Duo,
    Point,
    acyclic,
    as_jax,
    check,
    is_one_program,
    making,
    matrix,
    prediction_cases,
    random_words,
    shuffled,
    vector,
)

TRIPLED = "a map with `lambda leaf: 3 * leaf`"
TO_TEXT = "a map with `lambda leaf: 'a text'`"
SAME_STRUCTURE = "Which of the others have the same structure as the first?"


def numbers(rng, count):
    """Draw different whole numbers above 1, so that a change of place shows."""
    return [int(drawn) for drawn in 2 + rng.permutation(98)[:count]]


def number(rng):
    return numbers(rng, 1)[0]


def row(rng):
    """Draw an array of NumPy: a map over it compiles nothing."""
    return rng.integers(1, 10, 2).astype(np.float32)


def rows(rng):
    return np.stack([row(rng), row(rng)])


def sorted_words(rng, count):
    return sorted(random_words(rng, count))


def falling_words(rng, count):
    """Draw names in descending order, so that sorting never goes unnoticed."""
    return sorted_words(rng, count)[::-1]


def small_trees(rng, draw=number):
    """Draw a tree of each kind, one of them without leaves; `draw` draws the leaves."""
    one, two = sorted_words(rng, 2)

    def leaf():
        return draw(rng)

    return [
        {two: leaf(), one: leaf()},
        {one: {two: leaf()}},
        [leaf(), {one: leaf()}],
        (leaf(), None),
        Point(leaf(), leaf()),
        Duo(leaf(), [leaf()]),
        [None, (), {}][rng.integers(3)],
    ]


def mixed(rng, same, other, count=6):
    """Draw values, each from `same` or from `other`, and from each of them at least one."""
    draws = [same, other, *(same if like else other for like in rng.random(count - 2) < 0.5)]
    return [draw() for draw in shuffled(rng, draws)]


def cases(call, note, inputs, **more):
    """Return a case for each tuple of inputs."""
    return [Case(call, *given, note=note, **more) for given in inputs]


def of(new, look):
    """Return `look` at what `new` makes, as a function of what `new` takes."""

    @wraps(new)
    def call(*fields):
        return look(new(*fields))

    return call


def plain(value):
    """Let a scalar of any library count as Python's own number."""
    if isinstance(value, (np.generic, np.ndarray, jax.Array)) and value.ndim == 0:
        return value.item() if not isinstance(value, jax.core.Tracer) else value
    return value


def paths(tree):
    # A key whose text is that of an object names an address, another one in each run.
    texts = [keystr(path) for path, _ in jax.tree.leaves_with_path(acyclic(tree))]
    return [re.sub(" at 0x[0-9a-f]+", "", text) for text in texts]


def parts(node, cls, *names):
    """Return a node's class and attributes; of what is no such node, only the class."""
    if type(node) is not cls:
        return {"class": type(node).__name__}
    return {"class": cls.__name__, **{name: getattr(node, name) for name in names}}


def triple(leaf):
    return 3 * leaf


def as_text(leaf):
    return "a text"


def traced(function, *inputs):
    """Return what `function` yields under jit, as shapes: nothing is compiled."""
    return jax.eval_shape(function, *inputs)


def passed_through_jit(node):
    return traced(lambda node: node, node)


def same_structures(new, first, others):
    structure = jax.tree.structure(new(*first))
    return [jax.tree.structure(new(*other)) == structure for other in others]


def rebuilt(node, *children):
    """Return a node of the same structure with other children, as JAX makes it."""
    structure = jax.tree.structure(node, is_leaf=lambda child: child is not node)
    return jax.tree.unflatten(structure, children)


# The gradient of a jitted function takes half the time, and compiles once.
dot = jax.jit(jnp.vdot)


# Each call makes a new class, for JAX registers a class once.
def linear_class():
    class Linear:
        def __init__(self, weight, bias):
            self.bias, self.weight = bias, weight

    return Linear


def linear_class_with_slots():
    class Linear:
        __slots__ = ("bias", "weight")

        def __init__(self, weight, bias):
            self.weight, self.bias = weight, bias

    return Linear


def linear_class_with_properties():
    class Linear:
        def __init__(self, weight, bias):
            self._both = {"bias": bias, "weight": weight}

        weight = property(lambda self: self._both["weight"])
        bias = property(lambda self: self._both["bias"])

    return Linear


def read_only_linear_class():
    return make_dataclass("Linear", ["weight", "bias"], frozen=True)


@check
def register_linear(answer, rng):
    """Two children in order, themselves; the way back, however the class stores them."""

    def registered(make):
        cls = make()
        answer(cls)
        return cls

    def looking(look, make=linear_class):
        """Return `look` at an object of a new class, as a function of weight and bias."""

        def call(weight, bias):
            cls = registered(make)
            return look(cls, acyclic(cls(weight, bias)))

        return call

    def leaves(_, node):
        return jax.tree.leaves(node)

    def leaves_below(_, node):
        return [child.num_leaves for child in jax.tree.structure(node).children()]

    def mapped(function):
        return lambda cls, node: parts(jax.tree.map(function, node), cls, "weight", "bias")

    def in_jit(cls, node):
        return parts(passed_through_jit(node), cls, "weight", "bias")

    def added(one, other):
        cls = registered(linear_class)
        both = [acyclic(cls(*fields)) for fields in (one, other)]
        return parts(jax.tree.map(operator.add, *both), cls, "weight", "bias")

    def alike(first, others):
        cls = registered(linear_class)
        return same_structures(lambda *fields: acyclic(cls(*fields)), first, others)

    pair = partial(numbers, rng, 2)
    said = "An object with this weight and bias"
    objects = [(1.0, 2.0), (rows(rng), row(rng)), (number(rng), None), (number(rng), pair())]
    found = cases(looking(leaves), f"{said}: its leaves.", objects)
    trees = [(tree, number(rng)) for tree in small_trees(rng)]
    found += cases(looking(mapped(triple)), f"{said}, after {TRIPLED}.", [*objects, *trees])
    found += cases(looking(mapped(as_text)), f"{said}, after {TO_TEXT}.", [pair(), objects[2]])
    note = f"{said}. It has two children. How many leaves are below each of them?"
    found += cases(looking(leaves_below), note, [pair(), *objects[2:], (None, number(rng))])
    for make, text in (
        (linear_class_with_slots, "has `__slots__`, so no `__dict__`"),
        (read_only_linear_class, "is a frozen dataclass"),
        (linear_class_with_properties, "has `weight` and `bias` as read-only properties"),
    ):
        note = f"{said}, after {TRIPLED}. Its class {text}."
        given = [pair(), (number(rng), [row(rng)])]
        found += cases(looking(mapped(triple), make), note, given)
    note = f"{said}, returned by a jitted function, as shapes."
    found += cases(looking(in_jit), note, [(row(rng), row(rng))])
    note = "The weights and biases of two objects. A map adds them:"
    found += cases(added, note, [(pair(), pair()), ((rows(rng), row(rng)), (rows(rng), row(rng)))])
    note = f"Weight and bias of one object, and of others. {SAME_STRUCTURE}"
    others = mixed(rng, pair, lambda: [(number(rng), None), (pair(), 1)][rng.integers(2)])
    found += cases(alike, note, [(pair(), others)])
    yield from shuffled(rng, found)


@check
def model_state(cls, zeroed, predict, rng):
    """Three children; zeros of each leaf's dtype; one jitted program."""
    new = making(cls)

    def seen(node):
        return parts(node, cls, "weight", "bias", "step")

    def after_zeroed(state):
        zeroed(state)
        return seen(state)

    def predicted(x, *fields):
        return as_jax(predict(new(*fields), x))

    def is_jitted(x, *fields):
        # With `inline=True` a program leaves no trace in another; a jitted function can be lowered.
        if hasattr(predict, "lower"):
            return {"one program": True, "the same in two calls": True}
        twice = jax.make_jaxpr(lambda state, x: [predict(state, x) for _ in range(2)])
        programs = [call.params.get("jaxpr") for call in twice(new(*fields), x).eqns]
        return {
            "one program": len(programs) == 2 and None not in programs,
            "the same in two calls": programs[0] is programs[-1] is not None,
        }

    def weight():
        """Draw a matrix that is not symmetric."""
        drawn = rows(rng)
        drawn[0, 1] = drawn[1, 0] + 1
        return jax.device_put(drawn)

    fields = partial(numbers, rng, 3)
    said = "A state with these fields"
    trees = [(tree, number(rng), number(rng)) for tree in small_trees(rng)]
    found = cases(of(new, jax.tree.leaves), f"{said}: its leaves.", [fields(), *trees[:2]])
    call = of(new, lambda state: seen(jax.tree.map(triple, state)))
    found += cases(call, f"{said}, after {TRIPLED}.", [fields(), *trees])
    call = of(new, lambda state: seen(jax.tree.map(as_text, state)))
    found += cases(call, f"{said}, after {TO_TEXT}.", [fields(), (number(rng), None, number(rng))])
    whole = vector(rng, np.int32)
    zeros = [
        (vector(rng, jnp.bfloat16), jnp.array([jnp.nan, number(rng)]), number(rng)),
        (matrix(rng), vector(rng), 0),
        (whole, None, number(rng)),
        (vector(rng), [vector(rng)], number(rng)),
        (Duo(vector(rng), number(rng)), whole, number(rng)),
        (vector(rng), [Duo(vector(rng), None)], number(rng)),
    ]
    found += cases(of(new, lambda state: seen(zeroed(state))), f"{said}, after `zeroed`.", zeros)
    note = f"{said}: the state itself, after `zeroed(state)` was called."
    found += cases(of(new, after_zeroed), note, [fields(), (number(rng), vector(rng), 0)])
    means = {"": "`ModelState` is not a dataclass."}
    note = f"{said}: is it an object of a dataclass?"
    found += cases(of(new, is_dataclass), note, [fields(), fields()], if_wrong=means)
    others = mixed(rng, fields, lambda: [[1, None, 2], [1, [2], 3]][rng.integers(2)])
    note = f"The fields of one state, and of others. {SAME_STRUCTURE}"
    found += cases(partial(same_structures, new), note, [(fields(), others)])
    said = "`x`, and the fields of a state. "
    given = [(x, weight(), vector(rng), number(rng)) for x in (vector(rng), matrix(rng))]
    note = said + "Is `predict` one jitted program, and the same one when it is called again?"
    one_program = {
        "one program": "`predict` runs as ordinary Python, step by step. It is not one jitted "
        "function.",
        "the same in two calls": "Two calls of `predict` do not use one jitted function: JAX has "
        "nothing that it could use again.",
    }
    found += cases(is_jitted, note, given, if_wrong=one_program)
    # Of two shapes, for `predict` is compiled for each.
    given += [(vector(rng), weight(), vector(rng), number(rng)) for _ in range(2)]
    found += cases(predicted, said + "What `predict` returns:", given)
    yield from shuffled(rng, found)


@check
def predict_init(predictions, rng):
    lines = {
        "A": "`jax.tree.leaves(pair)`",
        "B": "`jax.tree.structure(pair)`",
        "C": "`jax.tree.map(abs, pair)`",
        "D": '`jax.tree.map(abs, [pair, {"one": pair, "two": pair}])`',
        "E": "`jax.tree.reduce(max, pair)`",
        "F": "`total(pair)`",
        "G": "`total(pair)`, once more",
        "H": "`jax.grad(lambda pair: pair.a * pair.b)(pair)`",
        "I": "`jax.tree.map(abs, quick)`",
        "J": "`jax.tree.map(abs, data)`",
    }
    return prediction_cases(predictions, lines)


# Nothing needs their `repr` and `==`, and classes without them are made in a third of the time.
new_class = partial(make_dataclass, "Layer", repr=False, eq=False)


def plain_fields(names):
    return new_class(names)


def inherited_fields(names):
    """Make a class that inherits all fields but the last."""
    return new_class(names[-1:], bases=(new_class(names[:-1]),))


def first_computed(names):
    """Make a class whose first field is a list of the others, without `init`."""

    def compute(self):
        setattr(self, names[0], [getattr(self, name) for name in names[1:]])

    computed = (names[0], Any, field(init=False))
    return new_class([computed, *names[1:]], namespace={"__post_init__": compute})


def keyword_only_field(names):
    """Make a class whose second field has to be given by name."""
    return new_class([names[0], (names[1], Any, field(kw_only=True)), *names[2:]])


def default_for_the_last(names):
    return new_class([*names[:-1], (names[-1], Any, field(default="default"))])


@check
def register_fields(answer, rng):
    """Each field of the constructor in one list; order, inheritance and defaults; init=False."""

    def node_of(cls, values):
        names = [name for name, kind in cls.__dataclass_fields__.items() if kind.init]
        return acyclic(cls(**dict(zip(names, values, strict=True))))

    def registered(make, names, static):
        cls = make(names)
        answer(cls, static)
        return cls

    def looking(look, make):
        """Return `look` at an object of a class that the answer registers."""

        def call(names, static, values):
            cls = registered(make, names, static)
            return look(cls, node_of(cls, values))

        return call

    def seen(cls, node):
        return dict(vars(node)) if type(node) is cls else {"class": type(node).__name__}

    def path_texts(_, node):
        return paths(node)

    def tripled(cls, node):
        return seen(cls, jax.tree.map(triple, node))

    def is_returned(names, static):
        cls = plain_fields(names)
        return answer(cls, static) is cls

    def alike(names, static, first, others):
        new = partial(node_of, registered(plain_fields, names, static))
        return same_structures(new, [first], [[other] for other in others])

    found = []
    said = "The names of a dataclass's fields, `static`, and the values of an object"

    def look(static, values, make=plain_fields, note="", looks=(path_texts, tripled)):
        """Add cases for fields whose names are in descending order; `static` has places."""
        names = falling_words(rng, 3)
        static = [names[place] for place in static]
        for what in looks:
            text = ": its paths." if what is path_texts else f". Its attributes after {TRIPLED}:"
            call = looking(what, make)
            found.append(Case(call, names, static, values, note=f"{note} {said}{text}".strip()))

    word, other = random_words(rng, 2)
    for static, values in (
        ([], numbers(rng, 3)),
        ([0], [word, *numbers(rng, 2)]),
        ([1], [number(rng), word, number(rng)]),
        ([2], [*numbers(rng, 2), word]),
        ([2, 0], [word, number(rng), other]),
        ([1], [Duo(*numbers(rng, 2)), word, number(rng)]),
        ([0], [word, {other: number(rng), "b": [row(rng)]}, None]),
    ):
        look(static, values)
    note = "All fields but the last are inherited."
    for static in ([], [0]):
        look(static, [word if static else 1, *numbers(rng, 2)], inherited_fields, note, [tripled])
    note = "The first field has `init=False`: `__post_init__` makes a list of the others' values."
    look([], numbers(rng, 2), first_computed, note)
    look([1], [word, number(rng)], first_computed, note)
    note = "The second field is keyword-only."
    for _ in range(2):
        look([], numbers(rng, 3), keyword_only_field, note, [path_texts])
    look([1], [number(rng), word, number(rng)], keyword_only_field, note)
    note = "The last field has the default `'default'`."
    look([], numbers(rng, 3), default_for_the_last, note, [tripled])
    look([0], [word, *numbers(rng, 2)], default_for_the_last, note, [tripled])
    names = falling_words(rng, 3)
    example = ["weight", "activation"], ["activation"], [1.5, "relu"]
    call = looking(lambda _, node: jax.tree.leaves(node), plain_fields)
    found += cases(call, f"{said}: its leaves.", [example])
    note = "The names of a dataclass's fields, and `static`. Is the class returned?"
    wrong = {"": "Your function does not return the class that it was given."}
    found += cases(is_returned, note, [(names, []), (names, names[1:2])], if_wrong=wrong)
    note = f"{said}, and of others. {SAME_STRUCTURE}"
    for _ in range(2):
        others = mixed(rng, lambda: [number(rng), word, 1], lambda: [number(rng), other, 1])
        found += cases(alike, note, [(names, names[1:2], [number(rng), word, 1], others)])
    yield from shuffled(rng, found)


@check
def readable_paths(cls, rng):
    """Keys as in a dict, in the order given; the names survive and are part of the structure."""
    new = making(cls)

    def seen(node):
        if type(node) is not cls:
            return node
        return {"names": list(node.names), "values": list(node.values)}

    def leaves_with_path(node):
        return [leaf for _, leaf in jax.tree.leaves_with_path(node)]

    def tripled(node):
        return seen(jax.tree.map(triple, node))

    def added(names, values, other_names, other_values):
        both = new(names, values), new(other_names, other_values)
        return seen(jax.tree.map(operator.add, *both))

    falling = partial(falling_words, rng)
    pair = partial(numbers, rng, 2)
    layers = [
        (sorted_words(rng, 2), pair()),
        (falling(2), pair()),
        (falling(1), numbers(rng, 1)),
        (falling(3), numbers(rng, 3)),
        (falling(2), [{"w": number(rng)}, {"w": number(rng)}]),
    ]
    layers += [(falling(2), [tree, number(rng)]) for tree in small_trees(rng)]
    said = "Names and values of layers"
    found = cases(of(new, paths), f"{said}: their paths.", layers)
    found += cases(of(new, tripled), f"{said}. Both, after {TRIPLED}:", layers)
    found += cases(of(new, jax.tree.leaves), f"{said}: their leaves.", layers[:4])
    note = f"{said}: the leaves that come with paths."
    found += cases(of(new, leaves_with_path), note, layers[:4])
    call = of(new, lambda node: seen(jax.tree.map(as_text, node)))
    found += cases(call, f"{said}. Both, after {TO_TEXT}:", [(falling(2), pair())])
    names = falling(2)
    given = [(names, pair(), other, pair()) for other in (names, names, names[::-1])]
    found += cases(added, "Names and values, twice. One map adds the two:", given)
    unlike = (
        lambda: [names[::-1], pair()],
        lambda: [[names[0], "other"], pair()],
        lambda: [names, [None, number(rng)]],
    )
    note = f"{said}, and of others. {SAME_STRUCTURE}"
    for _ in range(2):
        others = mixed(rng, lambda: [names, pair()], lambda: unlike[rng.integers(3)]())
        found += cases(partial(same_structures, new), note, [([names, pair()], others)])
    call = of(new, lambda node: seen(passed_through_jit(node)))
    note = f"{said}. Both, returned by a jitted function, as shapes:"
    found += cases(call, note, [(falling(2), [row(rng), row(rng)])])
    yield from shuffled(rng, found)


@check
def normal(cls, rng):
    """The caller's values are checked, now and later; what JAX puts in is not."""
    new = making(cls)

    def seen(node):
        return parts(node, cls, "mean", "std", "name")

    def made(mean, std, name):
        return as_jax(seen(new(mean, std, name)))

    def raised(pair):
        try:
            new(*pair, "x")
        except Exception as error:
            return error
        return None

    def refused(pairs):
        return [isinstance(raised(pair), ValueError) for pair in pairs]

    def failing(pairs):
        return [raised(pair) is not None for pair in pairs]

    def later(call):
        """Return `call`, made after JAX has rebuilt another object."""

        @wraps(call)
        def after_a_rebuild(*inputs):
            jax.tree.map(as_text, new(1.0, 2.0, "first"))
            return call(*inputs)

        return after_a_rebuild

    def built_by_jax(name, mean, std):
        return seen(rebuilt(new(1.0, 2.0, name), mean, std))

    def real():
        return float(number(rng))

    def fair():
        return [-real() if rng.random() < 0.5 else real(), real()]

    def with_one(wrong):
        return np.array([real(), wrong], np.float32)[:: rng.choice([-1, 1])]

    def unfair():
        wrong = [-real(), 0.0, np.nan][rng.integers(3)]
        return [[real(), wrong], [row(rng), with_one(wrong)], [row(rng), real()]][rng.integers(3)]

    def pairs():
        return mixed(rng, fair, unfair, 8)

    word, other = random_words(rng, 2)
    note = "What the constructor makes of `mean`, `std` and `name`:"
    given = [numbers(rng, 2), (numbers(rng, 2), numbers(rng, 2)), (vector(rng), row(rng))]
    given += [(real(), -real()), (real(), 0.0), (real(), np.nan), (row(rng), real())]
    given += [(row(rng), with_one(-real())), (row(rng), with_one(np.nan))]
    # An object is made, then others, and none was rebuilt yet: so it shows what these two change.
    yield Case(made, *fair(), word, note=note)
    found = cases(made, note, [(*values, word) for values in given])
    asked = "The constructor gets these pairs of `mean` and `std`. `True`: it raises ValueError."
    found += cases(refused, asked, [[pairs()]])
    note = asked.replace("ValueError", "an error, of whatever type")
    no_numbers = (lambda: [None, real()], lambda: [real(), None], lambda: [real(), word])
    strange = [[mixed(rng, fair, lambda: no_numbers[rng.integers(3)]())] for _ in range(2)]
    found += cases(failing, note, strange)
    yield from shuffled(rng, found)
    told = "First, `jax.tree.map` puts strings into a `Normal`. "
    found = cases(later(refused), told + asked, [[pairs()], [pairs()]])
    note = f"{told}Then the constructor gets these:"
    found += cases(later(made), note, [(*fair(), other), (real(), -real(), other)])
    note = "JAX rebuilds a `Normal` of this name, and puts these two in as `mean` and `std`:"
    given = [(real(), real()), (real(), -real()), numbers(rng, 2), (word, other), (None, real())]
    given += [(real(), None), (row(rng), row(rng)), (row(rng), real())]
    given += [(tree, number(rng)) for tree in small_trees(rng)[:5]]
    found += cases(built_by_jax, note, [(word, *children) for children in given])
    slope = jax.grad(lambda node: dot(node.mean, node.std))
    for look, text in (
        (lambda node: as_jax(seen(jax.tree.map(operator.neg, node))), "a map with `-leaf`"),
        (lambda node: seen(jax.tree.map(lambda leaf: None, node)), "a map to `None`"),
        (lambda node: seen(passed_through_jit(node)), "a jitted function, as shapes"),
        (lambda node: seen(traced(slope, node)), "`jax.grad` of a function of it, as shapes"),
    ):
        note = f"What comes out of {text}:"
        found += cases(of(new, look), note, [(vector(rng), vector(rng), word)])
    others = mixed(rng, lambda: [*fair(), word], lambda: [*fair(), other])
    note = f"`mean`, `std` and `name` of one, and of others. {SAME_STRUCTURE}"
    found += cases(partial(same_structures, new), note, [([*fair(), word], others)])
    yield from shuffled(rng, found)


def double_and_one(x):
    return 2 * x + 1


def squared(x):
    return x * x


AVERAGED = {
    "lambda x: 2 * x + 1": double_and_one,
    "lambda x: x * x": squared,
}

RUNS = {
    "too high": "Python runs `function` again for numbers that come later, so JAX traces again or "
    "does not trace at all. JAX traces again when a static value or the structure of an argument "
    "has changed, or when the jitted function is a new one.",
    "too low": "Python does not run `function` for these numbers, though it has not seen them.",
}


@check
def running_mean(cls, rng):
    """New objects, old ones unchanged, and one trace however many numbers come."""
    new = making(cls)

    def means_and_counts(function, numbers):
        """Return what each object holds at the end, the first one left out: it has no mean."""
        nodes = [new(function)]
        for x in numbers:
            nodes.append(nodes[-1].add(x))
        return {
            "counts": [plain(node.count) for node in nodes],
            "means": [float(node.mean()) for node in nodes[1:]],
        }

    def beside(function, x, numbers):
        start = new(function).add(x)
        return [float(start.add(another).mean()) for another in numbers]

    def runs_when_added(numbers, more, again, to_the_same):
        runs = []

        def function(x):
            runs.append(x)
            return x

        def add_all():
            node = new(function)
            for x in numbers:
                node = node.add(x)
            runs.clear()
            if again:
                node = new(function)
            for x in more:
                added = node.add(x)
                node = node if to_the_same else added
            return len(runs)

        # Within a trace `add` is traced as ever, and nothing is compiled.
        counts = []
        traced(lambda: counts.append(add_all()))
        return counts[0]

    def type_of_result(x):
        return type(new(one).add(x)).__name__

    def in_jit(function, numbers):
        def add_all(node, numbers):
            for x in numbers:
                node = node.add(x)
            return node, node.mean()

        node, mean = traced(add_all, new(function), numbers)
        return {"class": type(node).__name__, "count": node.count.shape, "mean": mean.shape}

    def of_named(others):
        structure = jax.tree.structure(new(one))
        return [jax.tree.structure(new(AVERAGED[name])) == structure for name in others]

    def floats(count):
        return [float(drawn) for drawn in rng.permutation(np.arange(-60, 100))[:count] / 2]

    # Each function makes `add` compile anew, so there are two.
    names = shuffled(rng, list(AVERAGED))
    one, other = (AVERAGED[name] for name in names)
    said = f"The function is `{names[0]}`. "
    note = "These numbers are added. The means and counts of the objects at the end, the one "
    note += "without numbers first (it has no mean):"
    given = [[floats(count)] for count in (1, 2, 2, 3, 3 + rng.integers(3))]
    found = cases(partial(means_and_counts, one), said + note, given)
    note = said.replace(names[0], names[1]) + note
    found += cases(partial(means_and_counts, other), note, [[floats(3)]])
    note = said + "The first number is added. Then each of the others is added to this same "
    note += "object, and not to one another. The means:"
    given = [(*floats(1), floats(count)) for count in (2, 2 + rng.integers(4))]
    found += cases(partial(beside, one), note, given)
    note = "`numbers` are added, then `more`: with `again` to a new object, with `to_the_same` "
    note += "each to one and the same object. How often does Python run `function` for `more`?"
    ways = [(False, False), (True, False), (False, True)] * 2
    given = [(floats(3), floats(2 + rng.integers(4)), *way) for way in ways]
    found += cases(runs_when_added, note, given, if_wrong=RUNS)
    found += cases(type_of_result, said + "The type of what `add` returns:", [floats(1), floats(1)])
    note = said + "Which of these functions give an object of the same structure?"
    given = [[mixed(rng, lambda: names[0], lambda: names[1])] for _ in range(2)]
    found += cases(of_named, note, given)
    note = said + "What comes out of a jitted function that is given a new object and adds these: "
    note += "its class, and the shapes of count and mean:"
    given = [[[np.float32(x) for x in floats(count)]] for count in (1, 2)]
    found += cases(partial(in_jit, one), note, given)
    yield from shuffled(rng, found)


@jax.tree_util.register_dataclass
@dataclass
class TrainState:
    """A node with an int leaf, as train states have it."""

    params: Any
    step: int


def train_state_with_the_step_first():
    @jax.tree_util.register_dataclass
    @dataclass
    class TrainState:
        step: int
        params: Any

    return TrainState


StepFirst = train_state_with_the_step_first()


@jax.jit
def dot_by_step(leaf, step):
    return leaf @ leaf / (step + 1)


@jax.jit
def dot_by_power(leaf, step):
    return leaf @ leaf / (1 << step)


def total(products):
    """Add them; of none, return a float too: `jax.grad` refuses an int."""
    return sum(products[1:], products[0]) if products else 0.0


@check
def train_step(answer, rng):
    """Only params move; the step counts; the loss sees the old step; the old state stays."""

    def squares(state):
        return total([dot(leaf, leaf) for leaf in jax.tree.leaves(state.params)])

    def neighbours(state):
        leaves = jax.tree.leaves(state.params)
        return total(list(map(dot, leaves, leaves[1:] + leaves[:1])))

    def squares_by_step(state):
        return total([dot_by_step(leaf, state.step) for leaf in jax.tree.leaves(state.params)])

    def squares_by_power(state):
        return total([dot_by_power(leaf, state.step) for leaf in jax.tree.leaves(state.params)])

    def seen(state):
        if type(state).__name__ != "TrainState":
            return as_jax(state)
        return {"class": "TrainState", "params": as_jax(state.params), "step": plain(state.step)}

    def run(loss, cls=TrainState):
        return lambda params, step, rate: seen(answer(loss, cls(params=params, step=step), rate))

    def twice(params, step, rate):
        state = answer(squares_by_step, TrainState(params, step), rate)
        return seen(answer(squares_by_step, state, rate))

    def old_state(params, step, rate):
        state = TrainState(params, step)
        answer(squares, state, rate)
        return seen(state)

    def drawn(*trees):
        return [(params, int(rng.integers(1, 9)), number(rng) / 8) for params in trees]

    one, two = sorted_words(rng, 2)
    said = "The inputs are `params`, `step` and `rate`. "
    sums = said + "The loss is the sum of all squares."
    found = cases(run(squares), sums, [({"w": jnp.array([1.0, 2.0])}, 3, 0.5)])
    found += cases(run(squares), sums, drawn(row(rng), *small_trees(rng, row)))
    note = said + "The class of the state has the field `step` before `params`."
    found += cases(run(squares, StepFirst), note, drawn({one: row(rng)}, [row(rng), None]))
    note = said + "The `step` is an array of `int32`."
    given = [
        (params, jnp.int32(step), rate) for params, step, rate in drawn({one: row(rng)}, row(rng))
    ]
    found += cases(run(squares), note, given)
    note = said + "The loss adds the products of neighbouring leaves, of the last and first too."
    given = drawn({one: row(rng), two: row(rng)}, [row(rng), row(rng), row(rng)])
    found += cases(run(neighbours), note, given)
    note = said + "The loss is the sum of all squares, divided by `step + 1`."
    found += cases(run(squares_by_step), note, drawn({one: row(rng)}, [row(rng)]))
    note = said + "The loss is the sum of all squares, divided by `1 << step`, which is 2 ** step."
    found += cases(run(squares_by_power), note, drawn({one: row(rng)}, [row(rng)]))
    note = said + "Two steps, one after the other, of a loss divided by `step + 1`:"
    found += cases(twice, note, drawn({one: row(rng)}))
    note = said + "The old state after the call:"
    given = drawn({one: row(rng)}, [row(rng)], {one: {two: row(rng)}}, {two: [row(rng)]})
    found += cases(old_state, note, given)
    yield from shuffled(rng, found)


@check
def history(cls, rng):
    """One structure and one set of shapes, however full; nothing is computed on the way."""
    new = making(cls)

    def seen(node):
        if type(node) is not cls:
            return node
        return {"values": node.values, "used": plain(node.used)}

    def leaves(node):
        return [plain(leaf) for leaf in jax.tree.leaves(node)]

    def leaves_below(node):
        return [child.num_leaves for child in jax.tree.structure(node).children()]

    def built_by_jax(values, used):
        return rebuilt(new(array(1, 2), 1), values, used)

    def alike(values, used):
        return same_structures(partial(new, values), [0], [[count] for count in used])

    def added(values, used, other_values, other_used):
        both = new(values, used), new(other_values, other_used)
        return seen(jax.tree.map(operator.add, *both))

    def pushed(values, used, *pushes):
        node = new(jax.device_put(values), used)
        for value in pushes:
            node = node.push(value)
        return seen(node)

    def push_in_jit(values, used, value):
        return seen(traced(lambda node, value: node.push(value), new(values, used), value))

    def scanned(values, numbers):
        def step(node, value):
            return node.push(value), None

        # As a program would do it; only its shapes are computed here.
        return seen(traced(lambda node: jax.lax.scan(step, node, numbers)[0], new(values, 0)))

    def array(*values):
        return np.array(values, np.float32)

    def room(filled, empty=0, stale=()):
        """Draw values, and how many are filled; the rest is 0 or what was there before."""
        return array(*numbers(rng, filled), *[0] * empty, *stale), filled

    more = int(rng.integers(2, 5))
    rooms = [room(2), room(1, 1), room(0, 2), room(1, more), room(1, 0, [number(rng)])]
    rooms += [room(0, 0, numbers(rng, 2)), (np.array([number(rng), 0], np.int32), 1)]
    said = "`values` and `used` of a history"
    found = cases(of(new, leaves), f"{said}: its leaves.", rooms)
    call = of(new, lambda node: seen(jax.tree.map(triple, node)))
    found += cases(call, f"{said}. Both, after {TRIPLED}:", rooms)
    note = f"{said}. How many leaves are below each child?"
    found += cases(of(new, leaves_below), note, [room(1, 1), room(2)])
    note = "JAX rebuilds a history with these two as `values` and `used`:"
    objects = [("a text", "another"), (None, number(rng)), (number(rng), None)]
    given = [*objects, room(1, 1), *((tree, number(rng)) for tree in small_trees(rng)[:4])]
    found += cases(of(built_by_jax, seen), note, given)
    found += cases(of(built_by_jax, jax.tree.leaves), f"{note[:-1]}. Its leaves:", objects)
    note = "Do histories of these values, with these numbers for `used`, have the structure of an "
    note += "empty one?"
    given = [(room(1, 1)[0], [0, *shuffled(rng, range(3))]), (room(more)[0], [1, more, 0])]
    found += cases(alike, note, given)
    note = "Values and `used` of two histories. One map adds the two:"
    given = [(*room(1, 1), *room(2)), (*room(1, 1), *room(0, 2)), (*room(2), *room(2))]
    found += cases(added, note, given)
    note = "`values` and `used`, and what `push` puts in, without jit:"
    given = [(*room(1, 1), float(number(rng))), (*room(0, 2), *map(float, numbers(rng, 2)))]
    found += cases(pushed, note, given)
    given = [(jax.device_put(array(5, 0)), used, float(number(rng))) for used in (0, 1)]
    found += cases(push_in_jit, "`push` under jit, as shapes:", given)
    given = [(jax.device_put(array(0, 0)), jax.device_put(row(rng)))]
    found += cases(scanned, "`jax.lax.scan` that pushes these numbers, as shapes:", given)
    yield from shuffled(rng, found)


@check
def clipped(answer, rng):
    """Both gradients have their argument's structure, and the ints stay out of it."""

    def loss(tree, bounds, factors):
        leaves = jax.tree.leaves(acyclic(answer(tree, bounds)))
        products = [dot(*both) for both in zip(leaves, jax.tree.leaves(factors), strict=True)]
        return 1.0 * total(products)

    def named(leaf):
        return "float0" if getattr(leaf, "dtype", None) == jax.dtypes.float0 else plain(leaf)

    def seen(grads):
        return as_jax(jax.tree.map(named, grads))

    def result(tree, bounds):
        # A leaf may come back as it was, or as the array that a rule makes of it.
        return seen(jax.tree.map(jnp.asarray, acyclic(answer(tree, bounds))))

    def for_both(tree, bounds, factors):
        grad = jax.value_and_grad(loss, argnums=(0, 1), allow_int=True)
        value, grads = grad(tree, bounds, factors)
        return {"loss": plain(value), **dict(zip(("tree", "bounds"), seen(grads), strict=True))}

    def for_the_tree(tree, bounds, factors):
        return seen(jax.grad(loss, allow_int=True)(tree, bounds, factors))

    def in_jit(tree, bounds, factors):
        return seen(traced(jax.grad(loss, (0, 1), allow_int=True), tree, bounds, factors))

    def drawn(tree):
        """Draw bounds, and a factor for each number: below, between or above them."""
        low, between, high = sorted(numbers(rng, 3))
        low, high = float(low - 50), float(high - 50)
        sides = [low - number(rng), between - 50.0, high + number(rng)]

        def factor(leaf):
            if isinstance(leaf, int):
                return number(rng)
            chosen = shuffled(rng, sides)[: np.size(leaf)]
            return np.array(chosen, np.float32) if np.ndim(leaf) else chosen[0]

        return tree, (low, high), jax.tree.map(factor, tree)

    def real():
        return number(rng) / 2

    one, two = sorted_words(rng, 2)
    note = "The loss adds the products of `factors` and the leaves of `clipped(tree, bounds)`. "
    half = row(rng).astype(np.float16)
    floats = [row(rng), real(), [real(), row(rng)], *small_trees(rng, row), half]
    ints = [number(rng), {one: half, two: number(rng)}, [number(rng), row(rng), number(rng)]]
    ints += [{two: (real(), None), one: Duo(real(), [number(rng)])}]
    given = [drawn(tree) for tree in (*floats, *ints)]
    found = cases(for_both, note + "It, and its gradients for both:", given)
    found += cases(for_the_tree, note + "Its gradient for `tree`:", given[:2] + given[-2:])
    found += cases(in_jit, note + "Its gradients under `jit`, as shapes:", given[:1] + given[-2:])
    yield from found + cases(result, "The result:", [each[:2] for each in given[2:3] + given[-2:]])


@check
def temperature(cls, rng):
    """1 at the start, and only there; dicts of the model's own; anything JAX puts in."""
    new = making(cls)

    def seen(model):
        if type(model) is not cls:
            return {"class": type(model).__name__}
        return {"params": jax.tree.map(plain, model.params), "name": model.name}

    def callers_dict(params, name):
        cls(params, name)
        return params

    def change_all(tree, text):
        """Put a text into each dict and list of a tree, in the place of each leaf in them."""
        children = tree.items() if isinstance(tree, dict) else enumerate(tree)
        for key, child in list(children):
            if isinstance(child, (dict, list, tuple)):
                change_all(child, text)
            elif not isinstance(tree, tuple):
                tree[key] = text

    def changed_by_the_caller(params, name):
        theirs = jax.tree.map(lambda leaf: leaf, params)  # the case's own input stays
        model = new(theirs, name)
        change_all(theirs, "changed by the caller")
        return seen(model)

    def changed_in_the_model(params, name):
        model = new(params, name)
        change_all(model.params, "changed in the model")
        return params

    def built_by_jax(params, name, child):
        return rebuilt(new(params, name), child)

    def is_kept(params, name, child):
        return built_by_jax(params, name, child).params is child

    def draw(**more):
        return {name: number(rng) for name in falling_words(rng, 2)} | more

    word, other = random_words(rng, 2)
    said = "`params` and `name` of a new model"
    simple = [draw(), {}, draw(temperature=number(rng) / 2), {other: [draw()]}]
    found = cases(of(new, seen), f"{said}: its attributes.", [(params, word) for params in simple])
    trees = [(params, word) for params in (*simple, *({other: tree} for tree in small_trees(rng)))]
    call = of(new, lambda model: seen(jax.tree.map(triple, model)))
    found += cases(call, f"{said}. Its attributes after {TRIPLED}:", trees)
    call = of(new, lambda model: seen(jax.tree.map(as_text, model)))
    found += cases(call, f"{said}. Its attributes after {TO_TEXT}:", [(draw(), word)])
    found += cases(of(new, jax.tree.leaves), f"{said}: its leaves.", [(draw(), word)])
    note = f"{said}. The dict of the caller, after the model was made of it:"
    found += cases(callers_dict, note, [(params, word) for params in (draw(), {})])
    for call, text in (
        (changed_by_the_caller, "The model, after the caller changed everything in its own dicts:"),
        (changed_in_the_model, "The caller's dict, after everything in the model's was changed:"),
    ):
        given = [draw(), {other: draw()}, {other: {"w": draw()}}, {other: [draw()]}]
        given += [{other: (draw(), number(rng))}, {other: Point(number(rng), [number(rng)])}]
        found += cases(call, f"{said}. {text}", [(params, word) for params in given])
    note = f"{said}, and what JAX puts in the place of the whole dict when it rebuilds the model"
    children = ["a text", number(rng), None, [number(rng)], (number(rng),)]
    found += cases(
        of(built_by_jax, seen), f"{note}:", [(draw(), word, child) for child in children]
    )
    wrong = {"": "The `params` of a rebuilt model are not the object itself that JAX put in."}
    given = [(draw(), word, child) for child in ([number(rng)], {other: [number(rng)]})]
    note += ". Does the model hold this very object?"
    found += cases(is_kept, note, given, if_wrong=wrong)
    call = of(new, lambda model: seen(passed_through_jit(model)))
    note = f"{said}. The model, returned by a jitted function, as shapes:"
    found += cases(call, note, [({other: row(rng)}, word)])
    params = draw()
    others = mixed(
        rng,
        lambda: [{name: number(rng) for name in params}, word],
        lambda: [[params, other], [{"w": number(rng)}, word]][rng.integers(2)],
    )
    note = f"`params` and `name` of one model, and of others. {SAME_STRUCTURE}"
    found += cases(partial(same_structures, new), note, [([params, word], others)])
    yield from shuffled(rng, found)


@check
def fork(cls, rng):
    """Any number of branches, one level at a time; each fork has a list of its own."""

    def grown(tree):
        """Make a fork of nested tuples: (value, branch, branch, …)."""
        value, *branches = tree
        return acyclic(cls(value, [grown(branch) for branch in branches]))

    def seen(node):
        if type(node) is not cls:
            return node
        return (seen(node.value), *(seen(branch) for branch in node.branches))

    def looking(look):
        return lambda *tree: look(grown(tree))

    def tripled(node):
        return seen(acyclic(jax.tree.map(triple, node)))

    def put_in(function):
        """Look at a fork in which JAX has replaced the value and each branch as a whole."""

        def replaced(node):
            return jax.tree.map(function, node, is_leaf=lambda child: child is not node)

        return looking(lambda node: seen(acyclic(replaced(node))))

    # Only one level is looked at here: with a shared list, a fork would hold itself.
    def values(node):
        return [branch.value for branch in node.branches]

    def two_growing(value, other, branches):
        one, two = cls(value), cls(other)
        for branch in branches:
            one.grow(cls(branch))
        held = {"the first": values(one), "the second": values(two), "a third": values(cls(value))}
        if isinstance(one.branches, list):
            one.branches.clear()  # a list that all forks share would spoil the cases that follow
        return held

    def callers_list(value, *branches):
        given = [cls(branch) for branch in branches]
        node = cls(value, given)
        node.grow(cls(0))
        return {"the list": [branch.value for branch in given], "the fork": values(node)}

    def grows_after_a_map(tree, branch):
        node = grown(tree)
        new = jax.tree.map(triple, node)
        new.grow(grown(branch))
        return {"mapped and grown": values(new), "the old one": values(node)}

    def leaf():
        return (number(rng),)

    said = "Forks are written as tuples here: (value, branch, branch, …). "
    trees = [
        leaf(),
        (number(rng), leaf()),
        (number(rng), leaf(), leaf()),
        (number(rng), (number(rng), leaf()), leaf()),
        (number(rng), (number(rng), (number(rng), leaf(), leaf()))),
        (None, leaf(), leaf()),
        (None, leaf()),
    ]
    found = cases(looking(paths), said + "The paths:", trees)
    trees += [(tree, leaf()) for tree in small_trees(rng)[:5]]
    found += cases(looking(tripled), f"{said}After {TRIPLED}:", trees)
    note = "Two new forks of the first two values. The first grows branches of the other values. "
    note += "Then a third fork is made. The values of their branches:"
    given = [(*numbers(rng, 2), numbers(rng, count)) for count in (1, 2)]
    found += cases(two_growing, note, given)
    note = (
        "`Fork(value, branches)` gets a value and a list of branches with the other values. Then "
    )
    note += "the fork grows a branch of value 0. What the list and the fork hold:"
    found += cases(callers_list, note, [numbers(rng, 2), numbers(rng, 3)])
    note = f"{said}The first fork, after {TRIPLED}, grows the second as a branch. The values of "
    note += "the branches:"
    found += cases(grows_after_a_map, note, [(tree, leaf()) for tree in trees[:3]])
    for function, text in ((as_text, "a text"), (lambda _: None, "`None`")):
        note = said + f"JAX rebuilds the fork with {text} in the place of each child:"
        found += cases(put_in(function), note, trees[1:3])
    # JAX flattens the result, and would never come to the end of a fork that holds itself.
    call = looking(lambda node: seen(traced(acyclic, node)))
    note = said + "Returned by a jitted function, as shapes:"
    found += cases(call, note, [(row(rng), (row(rng),))])
    yield from shuffled(rng, found)


# The exercises that stand in the lesson.


@check
def affine(cls, rng):
    """Two children in order; `act` in aux_data, and back from there."""
    new = making(cls)

    def seen(node):
        return parts(node, cls, "weight", "bias", "act")

    def children(layer):
        return jax.tree.leaves(layer, is_leaf=lambda node: node is not layer)

    def built_by_jax(weight, bias, act):
        return seen(rebuilt(new(1, 2, act), weight, bias))

    word, other = random_words(rng, 2)
    layers = [(*numbers(rng, 2), word), (rows(rng), row(rng), word), (number(rng), None, word)]
    layers += [(tree, number(rng), other) for tree in small_trees(rng)]
    said = "`weight`, `bias` and `act` of a layer"
    found = cases(of(new, jax.tree.leaves), f"{said}: its leaves.", layers[:4])
    found += cases(of(new, children), f"{said}: its children.", layers[:5])
    call = of(new, lambda layer: seen(jax.tree.map(triple, layer)))
    found += cases(call, f"{said}. The layer after {TRIPLED}:", layers)
    note = "JAX rebuilds a layer with this `act`, and puts these two in as `weight` and `bias`:"
    pairs = [numbers(rng, 2), (word, None), ([number(rng)], (number(rng), {}))]
    found += cases(built_by_jax, note, [(*pair, other) for pair in pairs])
    note = f"`weight`, `bias` and `act` of a layer, and of others. {SAME_STRUCTURE}"
    for _ in range(2):
        others = mixed(rng, lambda: [*numbers(rng, 2), word], lambda: [*numbers(rng, 2), other])
        found += cases(partial(same_structures, new), note, [([*numbers(rng, 2), word], others)])
    yield from shuffled(rng, found)


@check
def deque_node(flatten, unflatten, rng):
    """The items in order as children; `maxlen` in aux_data; a new deque from the two."""

    def children(items, maxlen):
        return list(flatten(deque(items, maxlen))[0])

    def seen(made):
        if type(made) is not deque:
            return {"class": type(made).__name__}
        return {"items": list(made), "maxlen": made.maxlen}

    def rebuild(given):
        items, aux_data = flatten(given)
        return unflatten(aux_data, [triple(item) for item in items])

    def tripled(items, maxlen):
        return seen(rebuild(deque(items, maxlen)))

    def grown(items, maxlen, more):
        made = rebuild(deque(items, maxlen))
        made.append(more)
        return seen(made)

    def afterwards(items, maxlen):
        given = deque(items, maxlen)
        made = rebuild(given)
        if type(made) is deque:
            made.append(0)
        return seen(given)

    def same_aux_data(maxlen, others):
        _, aux_data = flatten(deque([1, 2], maxlen))
        return [flatten(deque(items, length))[1] == aux_data for items, length in others]

    sizes = [(2, 3), (3, 3), (1, None), (0, 2), (4, None)]
    deques = [(numbers(rng, count), maxlen) for count, maxlen in shuffled(rng, sizes)]
    said = "Items and `maxlen` of a deque"
    found = cases(children, f"{said}: its children.", deques)
    note = f"{said}. The deque that unflatten makes of three times each child:"
    found += cases(tripled, note, [*deques, (numbers(rng, 3), 5)])
    note = f"{note[:-1]}, after an append of the last input to the new deque:"
    given = [
        (numbers(rng, count), maxlen, number(rng)) for count, maxlen in ((3, 3), (2, 2), (2, None))
    ]
    found += cases(grown, note, given)
    note = f"{said}. The deque itself, after a new one was made of it and appended to:"
    found += cases(afterwards, note, deques[:3])
    note = (
        "The `maxlen` of a deque, then items and `maxlen` of others. Which of them have the same "
    )
    note += "aux_data?"
    for _ in range(3):
        others = mixed(rng, lambda: [numbers(rng, 2), 3], lambda: [numbers(rng, 2), 4])
        found += cases(same_aux_data, note, [(3, others)])
    yield from shuffled(rng, found)


@check
def span(cls, rng):
    """A caller's values are checked, before and after a rebuild; what JAX puts in is not."""
    new = making(cls)

    def seen(node):
        return parts(node, cls, "low", "high")

    def refused(pairs):
        return [raises_value_error(pair) for pair in pairs]

    def raises_value_error(pair):
        try:
            new(*pair)
        except ValueError:
            return True
        return False

    def refused_afterwards(pairs):
        jax.tree.map(as_text, new(1, 2))
        return refused(pairs)

    def built_by_jax(low, high):
        return seen(rebuilt(new(1, 2), low, high))

    def two_spans(one, other):
        spans = [jax.tree.map(operator.neg, new(*pair)) for pair in (one, other)]
        return [seen(node) for node in spans]

    def rising():
        return sorted(numbers(rng, 2))

    def falling():
        return rising()[::-1]

    note = "Pairs of `low` and `high`. For which of them does `Span(low, high)` raise ValueError?"
    # Nothing was rebuilt before the first case, so it shows what a rebuild changes for the others.
    yield Case(refused, mixed(rng, rising, falling), note=note)
    told = "A span was mapped to strings. " + note
    found = cases(refused_afterwards, told, [[mixed(rng, rising, falling)] for _ in range(2)])
    found += cases(of(new, seen), "`low` and `high` of a new span:", [rising(), falling()])
    note = "`low` and `high` of a span. The span after a map with `lambda leaf: -leaf`:"
    call = of(new, lambda span: seen(jax.tree.map(operator.neg, span)))
    found += cases(call, note, [rising() for _ in range(3)])
    note = "`low` and `high` of two spans. Both after a map with `lambda leaf: -leaf`:"
    found += cases(two_spans, note, [(rising(), rising()) for _ in range(3)])
    note = "JAX rebuilds a span with these two. Its `low` and `high`:"
    word, other = random_words(rng, 2)
    pairs = [rising(), falling(), (word, other), (None, number(rng)), (number(rng), None)]
    pairs += [(tree, number(rng)) for tree in small_trees(rng)]
    found += cases(built_by_jax, note, pairs)
    note = "What a jitted function that returns the span gives, as shapes:"
    found += cases(of(new, lambda span: seen(passed_through_jit(span))), note, [(1.0, 5.0)])
    call = of(new, lambda span: seen(traced(jax.grad(lambda node: node.low), span)))
    found += cases(call, "The gradient of `low`, as shapes:", [(1.0, 5.0)])
    yield from shuffled(rng, found)


@check
def count(cls, rng):
    """A new state, one step on, made by one jitted method; the old one as it was."""
    new = making(cls)

    def seen(node):
        if type(node) is not cls:
            return {"class": type(node).__name__}
        return as_jax({"params": node.params, "step": plain(node.step)})

    def old_state(state):
        state.count()
        return seen(state)

    def traces(params, step):
        return is_one_program(lambda state: state.count(), new(params, step))

    def draw():
        return {"w": row(rng)}, number(rng)

    given = [({"w": row(rng)}, 0), draw(), draw(), draw(), ([number(rng)], number(rng))]
    said = "`params` and `step` of a state"
    found = cases(of(new, lambda state: seen(state.count())), f"{said}. `count()` returns:", given)
    call = of(new, lambda state: seen(state.count().count()))
    found += cases(call, f"{said}. `count().count()` returns:", given)
    call = of(new, lambda state: seen(state.count().count().count()))
    found += cases(call, f"{said}. `count().count().count()` returns:", given[:2])
    found += cases(of(new, old_state), f"{said}. The old state, after `state.count()`:", given)
    means = {"": "`count` is not jitted any more. Keep `@jax.jit` above it."}
    found += cases(
        traces, "Is `count` one jitted method?", [draw() for _ in range(3)], if_wrong=means
    )
    yield from shuffled(rng, found)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
