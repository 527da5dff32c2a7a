"""Checks of lesson 3: python checks/check_03_custom_nodes.py exercises/03_custom_nodes.ipynb"""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, make_dataclass
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr

from pytree_course.checking import (
    Case,
    Duo,
    Point,
    as_jax,
    check,
    is_one_program,
    matrix,
    prediction_cases,
    random_model,
    random_words,
    vector,
)

TRIPLED = "`lambda leaf: 3 * leaf`"


@jax.tree_util.register_dataclass
@dataclass
class TrainState:
    """A node with an int leaf, as train states have it."""

    params: Any
    step: int


def numbers(rng, count):
    """Draw different whole numbers above 1, so that a change of place shows."""
    return [int(each) for each in 2 + rng.permutation(98)[:count]]


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


def rich_trees(rng, least=2):
    """Draw some trees of a few levels, of NumPy's arrays and numbers."""
    draws = (lambda: number(rng), lambda: row(rng))
    more = (lambda: Point(number(rng), row(rng)), lambda: Duo(number(rng), [number(rng)]))
    count = least + rng.integers(3)
    return [random_model(rng, draws[rng.integers(2)], *more) for _ in range(count)]


def shuffled(rng, cases):
    return [cases[place] for place in rng.permutation(len(cases))]


def mixed(rng, same, other, count=10):
    """Draw values, each from `same` or from `other`, and from each of them at least one."""
    draws = [same, other, *(same if like else other for like in rng.random(count - 2) < 0.5)]
    return [draw() for draw in shuffled(rng, draws)]


def plain(value):
    """Let a scalar of any library count as Python's own number; NumPy's arrays count as JAX's."""
    if isinstance(value, (np.generic, np.ndarray, jax.Array)) and value.ndim == 0:
        return value.item() if not isinstance(value, jax.core.Tracer) else value
    return as_jax(value)


def paths(tree):
    return [keystr(path) for path, _ in jax.tree.leaves_with_path(tree)]


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


# Each call makes a new class, for JAX registers a class once.
def linear_class():
    class Linear:
        def __init__(self, weight, bias):
            self.weight, self.bias = weight, bias

    return Linear


def linear_class_with_the_bias_set_first():
    class Linear:
        def __init__(self, weight, bias):
            self.bias, self.weight = bias, weight

    return Linear


@check
def register_linear(answer, rng):
    """Two children in order, themselves; the way back, in map, in jit and within other trees."""

    def registered(make):
        cls = make()
        answer(cls)
        return cls

    def leaves(make, weight, bias):
        return jax.tree.leaves(registered(make)(weight, bias))

    def leaves_below(make, weight, bias):
        children = jax.tree.structure(registered(make)(weight, bias)).children()
        return [child.num_leaves for child in children]

    def mapped(make, weight, bias):
        cls = registered(make)
        return parts(jax.tree.map(triple, cls(weight, bias)), cls, "weight", "bias")

    def added(make, one, other):
        cls = registered(make)
        node = jax.tree.map(operator.add, cls(*one), cls(*other))
        return parts(node, cls, "weight", "bias")

    def same_structures(make, one, others):
        cls = registered(make)
        structure = jax.tree.structure(cls(*one))
        return [jax.tree.structure(cls(*other)) == structure for other in others]

    def in_jit(make, weight, bias):
        cls = registered(make)
        return parts(traced(lambda layer: layer, cls(weight, bias)), cls, "weight", "bias")

    def in_a_list(make, weight, bias):
        cls = registered(make)
        both = jax.tree.map(triple, [cls(weight, bias), cls(bias, weight)])
        return [parts(each, cls, "weight", "bias") for each in both]

    one, two = sorted_words(rng, 2)
    pair = partial(numbers, rng, 2)
    same = number(rng)
    said = "The inputs are the weight and the bias of an object. "
    looked, tripled = said + "Its leaves:", said + f"A map with {TRIPLED}, and its attributes:"
    simple = [
        pair(),
        (rows(rng), row(rng)),
        (number(rng), None),
        ({two: number(rng), one: number(rng)}, number(rng)),
        (Point(*pair()), [number(rng)]),
        (0, ["", False][rng.integers(2)]),
        (same, same),
    ]
    cases = [Case(partial(leaves, linear_class), *each, note=looked) for each in simple]
    simple += [(tree, number(rng)) for tree in rich_trees(rng)]
    cases += [Case(partial(mapped, linear_class), *each, note=tripled) for each in simple]
    note = said + "It has two children. How many leaves are below each of them?"
    for each in (pair(), ({one: number(rng), two: pair()}, number(rng)), (pair(), None)):
        cases.append(Case(partial(leaves_below, linear_class), *each, note=note))
    tags = ("a class that sets its bias before its weight",)
    note = said + "Its class sets `self.bias` before `self.weight`. "
    make = linear_class_with_the_bias_set_first
    for call, more in ((leaves, "Its leaves:"), (leaves, "Its leaves:"), (mapped, tripled)):
        more = more.removeprefix(said)
        cases.append(Case(partial(call, make), *pair(), note=note + more, tags=tags))
    note = "The inputs are the weights and biases of two objects. A map adds them:"
    for one_pair, other in ((pair(), pair()), ((rows(rng), row(rng)), (rows(rng), row(rng)))):
        cases.append(Case(partial(added, linear_class), one_pair, other, note=note))
    others = mixed(rng, pair, lambda: [(number(rng), None), (pair(), 1)][rng.integers(2)])
    note = "The inputs are the weights and biases of one object, and of others. Which of the "
    note += "others have the same structure as the first?"
    cases.append(Case(partial(same_structures, linear_class), pair(), others, note=note))
    note = said + "What a jitted function that returns the object gives, as shapes:"
    for each in ((row(rng), row(rng)), (rows(rng), {one: row(rng)})):
        cases.append(Case(partial(in_jit, linear_class), *each, note=note, tags=("under jit",)))
    note = f"{said}A map with {TRIPLED} over a list of two such objects; in the second, bias and "
    note += "weight are swapped:"
    for each in (pair(), ({one: number(rng)}, pair())):
        cases.append(Case(partial(in_a_list, linear_class), *each, note=note))
    yield from shuffled(rng, cases)


@check
def model_state(cls, zeroed, predict, rng):
    """Three children; an int that becomes an array; one jitted program for every step."""

    def leaves(*fields):
        return jax.tree.leaves(cls(*fields))

    def mapped(*fields):
        node = jax.tree.map(triple, cls(*fields))
        return parts(node, cls, "weight", "bias", "step")

    def zeros(*fields):
        return as_jax(parts(zeroed(cls(*fields)), cls, "weight", "bias", "step"))

    def predicted(x, *fields):
        return as_jax(predict(cls(*fields), x))

    def is_jitted(x, *fields):
        # With `inline=True` a program leaves no trace in another; a jitted function can be lowered.
        return hasattr(predict, "lower") or is_one_program(predict, cls(*fields), x)

    def same_structures(one, others):
        structure = jax.tree.structure(cls(*one))
        return [jax.tree.structure(cls(*other)) == structure for other in others]

    def weight():
        """Draw a matrix that is not symmetric."""
        drawn = rows(rng)
        drawn[0, 1] = drawn[1, 0] + 1
        return jnp.asarray(drawn)

    fields = partial(numbers, rng, 3)
    said = "The inputs are the fields of a state. "
    simple = [
        fields(),
        (rows(rng), row(rng), number(rng)),
        (number(rng), number(rng), 0),
        (number(rng), None, number(rng)),
        (numbers(rng, 2), number(rng), number(rng)),
    ]
    cases = [Case(leaves, *each, note=said + "Its leaves:") for each in simple]
    note = said + f"A map with {TRIPLED}:"
    simple += [(tree, number(rng), number(rng)) for tree in rich_trees(rng)]
    cases += [Case(mapped, *each, note=note) for each in simple]
    note = said + "What `zeroed` makes of it:"
    for each in (
        (vector(rng), vector(rng), number(rng)),
        (matrix(rng), vector(rng), 0),
        (vector(rng), None, number(rng)),
        (vector(rng, np.int32), [vector(rng)], number(rng)),
    ):
        cases.append(Case(zeros, *each, note=note))
    others = mixed(rng, fields, lambda: [[1, None, 2], [1, [2], 3]][rng.integers(2)])
    note = "The inputs are the fields of one state, and of others. Which of the others have the "
    note += "same structure as the first?"
    cases.append(Case(same_structures, fields(), others, note=note))
    said = "The inputs are `x` and the fields of a state. "
    for x in (vector(rng), matrix(rng)):
        note = said + "Is `predict` jitted?"
        cases.append(Case(is_jitted, x, weight(), vector(rng), number(rng), note=note))
    note = said + "What `predict` returns:"
    for x in (vector(rng), vector(rng), matrix(rng)):
        cases.append(Case(predicted, x, weight(), vector(rng), number(rng), note=note))
    yield from shuffled(rng, cases)


@cache
def count_inits():
    """Run the lines of the prediction exercise, and return how often each makes an object."""
    made = []

    class Pair:
        def __init__(self, a, b):
            made.append(1)
            self.a, self.b = a, b

    class Quick(Pair):
        pass

    @jax.tree_util.register_dataclass
    @dataclass
    class Data:
        a: float
        b: float

        def __post_init__(self):
            made.append(1)

    def quickly(_, children):
        quick = object.__new__(Quick)
        quick.a, quick.b = children
        return quick

    def flatten(pair):
        return (pair.a, pair.b), None

    jax.tree_util.register_pytree_node(Pair, flatten, lambda _, children: Pair(*children))
    jax.tree_util.register_pytree_node(Quick, flatten, quickly)
    pair, quick, data = Pair(1.0, 2.0), Quick(1.0, 2.0), Data(1.0, 2.0)
    total = jax.jit(lambda pair: pair.a + pair.b)
    lines = {
        "A": lambda: jax.tree.leaves(pair),
        "B": lambda: jax.tree.structure(pair),
        "C": lambda: jax.tree.map(abs, pair),
        "D": lambda: jax.tree.map(abs, [pair, {"one": pair, "two": pair}]),
        "E": lambda: jax.tree.reduce(max, pair),
        "F": lambda: total(pair),
        "G": lambda: total(pair),
        "H": lambda: jax.grad(lambda pair: pair.a * pair.b)(pair),
        "I": lambda: jax.tree.map(abs, quick),
        "J": lambda: jax.tree.map(abs, data),
    }
    counts = {}
    for name, line in lines.items():
        made.clear()
        line()
        counts[name] = len(made)
    return counts


INIT_LINES = {
    "A": "jax.tree.leaves(pair)",
    "B": "jax.tree.structure(pair)",
    "C": "jax.tree.map(abs, pair)",
    "D": 'jax.tree.map(abs, [pair, {"one": pair, "two": pair}])',
    "E": "jax.tree.reduce(max, pair)",
    "F": "total(pair)",
    "G": "total(pair), once more",
    "H": "jax.grad(lambda pair: pair.a * pair.b)(pair)",
    "I": "jax.tree.map(abs, quick)",
    "J": "jax.tree.map(abs, data)",
}


@check
def predict_init(predictions, rng):
    return prediction_cases(
        predictions,
        {name: f"Line {name} is `{line}`" for name, line in INIT_LINES.items()},
        lambda name: count_inits()[name],
        rng,
        too_large="too often",
        too_small="not often enough",
    )


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


def frozen_fields(names):
    return new_class(names, frozen=True)


@check
def register_fields(answer, rng):
    """Each field of the constructor in one list; order, inheritance and defaults; init=False."""

    def registered(make, names, static):
        cls = make(names)
        answer(cls, static)
        return cls

    def node_of(cls, values):
        names = [each.name for each in cls.__dataclass_fields__.values() if each.init]
        return cls(**dict(zip(names, values, strict=True)))

    def seen(node, cls):
        return dict(vars(node)) if type(node) is cls else {"class": type(node).__name__}

    def path_texts(make, names, static, values):
        return paths(node_of(registered(make, names, static), values))

    def leaves(make, names, static, values):
        return jax.tree.leaves(node_of(registered(make, names, static), values))

    def mapped(make, names, static, values):
        cls = registered(make, names, static)
        return seen(jax.tree.map(triple, node_of(cls, values)), cls)

    def in_jit(make, names, static, values):
        cls = registered(make, names, static)
        return seen(traced(lambda node: jax.tree.map(triple, node), node_of(cls, values)), cls)

    def is_returned(make, names, static):
        cls = make(names)
        return answer(cls, static) is cls

    def as_decorator(make, names, static, values):
        return jax.tree.leaves(node_of(answer(make(names), static), values))

    def without_static(make, names, values):
        cls = make(names)
        answer(cls)
        return seen(jax.tree.map(triple, node_of(cls, values)), cls)

    def same_structures(make, names, static, values, others):
        cls = registered(make, names, static)
        structure = jax.tree.structure(node_of(cls, values))
        return [jax.tree.structure(node_of(cls, other)) == structure for other in others]

    said = "The inputs are the names of a dataclass's fields, `static`, and "
    looks = {
        path_texts: said + "the values of an object. Its paths:",
        leaves: said + "the values of an object. Its leaves:",
        mapped: said + f"the values of an object. Its attributes after a map with {TRIPLED}:",
    }
    word, other, tag = random_words(rng, 3)
    cases = []

    def look(make, names, static, values, note="", tags=(), calls=(path_texts, mapped)):
        for call in calls:
            told = f"{note} {looks[call]}".strip()
            cases.append(Case(partial(call, make), names, static, values, note=told, tags=tags))

    def falling():
        return falling_words(rng, 3)

    every = (path_texts, leaves, mapped)
    names = sorted_words(rng, 2)
    look(plain_fields, names, [], numbers(rng, 2), calls=every)
    names = falling()
    look(plain_fields, names, [], numbers(rng, 3), calls=every)
    two = numbers(rng, 2)
    for place, text in ((0, "first"), (1, "in the middle"), (2, "last")):
        names, values = falling(), [*two[:place], word, *two[place:]]
        look(plain_fields, names, [names[place]], values, tags=(f"a static field that is {text}",))
    names = falling()
    tags = ("two static fields",)
    look(plain_fields, names, [names[2], names[0]], [word, number(rng), other], tags=tags)
    names = falling()
    look(plain_fields, names, {names[1]}, [number(rng), word, None], calls=every)
    names = falling()
    look(plain_fields, names, tuple(names[:2]), [word, 2, row(rng)], calls=(leaves, mapped))
    names = falling()
    look(plain_fields, names, names, [word, other, tag], tags=("static fields only",))
    names = falling()
    look(plain_fields, names, [], [{"b": number(rng), "a": [0]}, "", None], calls=every)
    note, tags = "All fields but the last are inherited.", ("inherited fields",)
    for static in ([], names[:1]):
        look(inherited_fields, names, static, [word if static else 1, *two], note, tags)
    note = "The first field has `init=False`: `__post_init__` makes a list of the others' values."
    tags = ("a field that is computed",)
    names = falling()
    look(first_computed, names, [], two, note, tags)
    look(first_computed, names, [names[1]], [word, number(rng)], note, tags, every)
    note, tags = "The second field is keyword-only.", ("a keyword-only field",)
    names = falling()
    look(keyword_only_field, names, [], numbers(rng, 3), note, tags)
    look(keyword_only_field, names, [names[1]], [two[0], word, two[1]], note, tags)
    note, tags = "The last field has the default `'default'`.", ("a field with a default",)
    look(default_for_the_last, names, [names[2]], [*two, word], note, tags)
    look(frozen_fields, names, [names[0]], [word, *two], "It is frozen.", ("a frozen class",))
    kinds = (plain_fields, plain_fields, inherited_fields, frozen_fields)
    for _ in range(2 + rng.integers(3)):
        names, values = random_words(rng, 5), numbers(rng, 5)
        static = [name for name in names if rng.random() < 0.5]
        values[rng.integers(5)] = {"b": number(rng), "a": (number(rng), None)}
        values = [
            word if name in static else value for name, value in zip(names, values, strict=True)
        ]
        look(kinds[rng.integers(4)], names, static, values)

    names = falling()
    note = "The inputs are the names of a dataclass's fields and `static`. Is the class returned?"
    for static in ([], names[1:2]):
        cases.append(Case(partial(is_returned, plain_fields), names, static, note=note))
    values = [two[0], word, two[1]]
    note = said + "the values of an object. Its class is what the call returned. Its leaves:"
    call = partial(as_decorator, plain_fields)
    cases.append(Case(call, names, names[1:2], values, note=note, tags=("a decorator",)))
    note = "The inputs are the names of a dataclass's fields and the values of an object. `static` "
    note += f"is not given. Its attributes after a map with {TRIPLED}:"
    tags = ("no argument `static`",)
    cases.append(Case(partial(without_static, plain_fields), names, values[::2] + [1], note=note))
    note = said + f"the values of an object. What a jitted map with {TRIPLED} gives, as shapes:"
    values = [row(rng), word, row(rng)]
    call = partial(in_jit, plain_fields)
    cases.append(Case(call, names, names[1:2], values, note=note, tags=("under jit",)))

    def alike():
        return [number(rng), word, number(rng)]

    def unlike():
        return [number(rng), other, number(rng)] if rng.random() < 0.5 else [1, word, None]

    note = said + "the values of an object, and of others. Which of the others have the same "
    note += "structure as the first?"
    others = mixed(rng, alike, unlike)
    call = partial(same_structures, plain_fields)
    cases.append(Case(call, names, names[1:2], alike(), others, note=note))
    yield from shuffled(rng, cases)


@check
def readable_paths(cls, rng):
    """Keys as in a dict, in the order given; the names survive and are part of the structure."""

    def path_texts(names, values):
        return paths(cls(names, values))

    def leaves(names, values):
        return jax.tree.leaves(cls(names, values))

    def leaves_with_path(names, values):
        return [leaf for _, leaf in jax.tree.leaves_with_path(cls(names, values))]

    def seen(node):
        if type(node) is not cls:
            return node
        return {"names": list(node.names), "values": [seen(value) for value in node.values]}

    def mapped(names, values):
        return seen(jax.tree.map(triple, cls(names, values)))

    def added(names, values, other_names, other_values):
        both = cls(names, values), cls(other_names, other_values)
        return seen(jax.tree.map(operator.add, *both))

    def same_structures(names, others):
        structure = jax.tree.structure(cls(names, [1, 2]))
        return [jax.tree.structure(cls(other, values)) == structure for other, values in others]

    def in_jit(names, values):
        return seen(traced(lambda layers: jax.tree.map(triple, layers), cls(names, values)))

    def nested(look):
        return lambda outer, names, values: look(outer, [cls(names, values), values[0]])

    looks = {
        path_texts: "The paths:",
        leaves: "The leaves:",
        leaves_with_path: "The leaves that come with paths:",
        mapped: f"The names and values after a map with {TRIPLED}:",
    }

    def falling(count=2):
        return falling_words(rng, count)

    one, two = sorted_words(rng, 2)
    pair = partial(numbers, rng, 2)
    simple = [
        (sorted_words(rng, 2), pair()),
        (falling(), pair()),
        (falling(1), numbers(rng, 1)),
        (falling(3), numbers(rng, 3)),
        ([one.title(), two.upper()], pair()),
        ([f"{two}/{one}", f"{one}.{two}"], pair()),
        (sorted_words(rng, 2), [{one: number(rng)}, number(rng)]),
        (sorted_words(rng, 2), [number(rng), [number(rng)]]),
        (sorted_words(rng, 2), [None, number(rng)]),
        (sorted_words(rng, 2), [0, ""]),
        (sorted_words(rng, 2), [two_of_one := {one: number(rng)}, two_of_one]),
    ]
    cases = [Case(path_texts, *each, note=looks[path_texts]) for each in simple]
    cases += [Case(mapped, *each, note=looks[mapped]) for each in simple]
    for call in (leaves, leaves_with_path):
        cases += [Case(call, *each, note=looks[call]) for each in simple[:2] + simple[6:8]]
    cases.append(Case(mapped, [], [], note="No layers at all. " + looks[mapped]))
    for tree in rich_trees(rng):
        values = shuffled(rng, [tree, number(rng), (number(rng), [number(rng)])])
        for call in (path_texts, mapped):
            cases.append(Case(call, falling(3), values, note=looks[call]))
    note = "The first of these layers holds such layers too, with the names and values that follow."
    for call in (path_texts, mapped):
        inputs = (falling(), falling(), pair())
        tags = ("layers within layers",)
        cases.append(Case(nested(call), *inputs, note=f"{note} {looks[call]}", tags=tags))
    note = "Names and values, twice. One map adds the two:"
    names = falling()
    for other in (names, names, [names[0], "other"], names[::-1]):
        cases.append(Case(added, names, pair(), other, pair(), note=note))
    note = "The names of two layers, then names and values of others. Which of the others have the "
    note += "same structure, with two numbers as values?"
    unlike = (
        lambda: [names[::-1], pair()],
        lambda: [[names[0], "other"], pair()],
        lambda: [names, [None, number(rng)]],
    )
    others = mixed(rng, lambda: [names, pair()], lambda: unlike[rng.integers(3)]())
    cases.append(Case(same_structures, names, others, note=note))
    note = f"What a jitted map with {TRIPLED} gives, as shapes:"
    for values in ([row(rng), row(rng)], [rows(rng), {one: row(rng)}]):
        cases.append(Case(in_jit, falling(), values, note=note, tags=("under jit",)))
    yield from shuffled(rng, cases)


@check
def normal(cls, rng):
    """The caller's values are checked, now and later; what JAX puts in is not."""

    def attributes(node):
        return parts(node, cls, "mean", "std", "name")

    def made(mean, std, name):
        return as_jax(attributes(cls(mean, std, name)))

    def refuses(mean, std):
        try:
            cls(mean, std, "x")
        except ValueError:
            return True
        return False

    def refused(pairs):
        return [refuses(mean, std) for mean, std in pairs]

    def rebuilt(first, second, name):
        structure = jax.tree.structure(cls(1.0, 2.0, name))
        return attributes(jax.tree.unflatten(structure, [first, second]))

    def mapped(function):
        return lambda mean, std, name: as_jax(
            attributes(jax.tree.map(function, cls(mean, std, name)))
        )

    def afterwards(before):
        def then_made(mean, std, name):
            before(cls(1.0, 2.0, "first"))
            return made(mean, std, name)

        def then_refused(pairs):
            before(cls(1.0, 2.0, "first"))
            return refused(pairs)

        return then_made, then_refused

    def mapped_to_texts(node):
        jax.tree.map(as_text, node)

    def passed_through_jit(node):
        traced(lambda node: node, node)

    def in_jit(mean, std, name):
        return attributes(traced(lambda node: node, cls(mean, std, name)))

    def in_grad(mean, std, name):
        def slope(node):
            return jnp.sum(-node.std)

        return attributes(traced(jax.grad(slope), cls(mean, std, name)))

    def same_structures(name, others):
        structure = jax.tree.structure(cls(1.0, 2.0, name))
        return [jax.tree.structure(cls(*other)) == structure for other in others]

    def real():
        return float(number(rng))

    def fair():
        return [-real() if rng.random() < 0.5 else real(), real()]

    def with_one_below_0():
        return np.array([real(), -real()], np.float32)[:: rng.choice([-1, 1])]

    unfair = (
        lambda: [real(), -real()],
        lambda: [real(), 0.0],
        lambda: [row(rng), real()],
        lambda: [real(), row(rng)],
        lambda: [row(rng), with_one_below_0()],
    )

    def pairs():
        return mixed(rng, fair, lambda: unfair[rng.integers(5)](), 8)

    word, other = random_words(rng, 2)
    note = "What the constructor makes of `mean`, `std` and `name`:"
    cases = [
        Case(made, *fair(), word, note=note),
        Case(made, [real(), -real()], row(rng), word, note=note),
        Case(made, vector(rng), vector(rng), word, note=note),
        Case(made, real(), -real(), word, note=note),
        Case(made, real(), 0.0, word, note=note),
        Case(made, row(rng), with_one_below_0(), word, note=note),
        Case(made, row(rng), real(), word, note=note),
    ]
    note = "Pairs of `mean` and `std`. For which of them does the constructor raise ValueError?"
    cases.append(Case(refused, pairs(), note=note))
    for before, text, tag in (
        (mapped_to_texts, "A `Normal` was made, and mapped to texts.", "an earlier map"),
        (passed_through_jit, "A `Normal` was made, and passed through jit.", "an earlier trace"),
    ):
        then_made, then_refused = afterwards(before)
        cases.append(Case(then_refused, pairs(), note=f"{text} {note}", tags=(tag,)))
        told = f"{text} Then the constructor gets these:"
        cases.append(Case(then_made, *fair(), other, note=told, tags=(tag,)))
        cases.append(Case(then_made, real(), -real(), other, note=told, tags=(tag,)))
    note = "JAX rebuilds a `Normal` of this name with these two children in the places of `mean` "
    note += "and `std`. Its attributes:"
    for first, second in (
        (real(), real()),
        (real(), -real()),
        (0.0, 0.0),
        tuple(numbers(rng, 2)),
        (word, other),
        (None, real()),
        (real(), None),
        (row(rng), row(rng)),
        (row(rng), real()),
        (True, [word, number(rng)]),
    ):
        cases.append(Case(rebuilt, first, second, word, note=note))
    said = "The attributes after `jax.tree.map` with "
    note = said + "`lambda leaf: -leaf`:"
    for _ in range(1 + rng.integers(3)):
        cases.append(Case(mapped(operator.neg), vector(rng), vector(rng), word, note=note))
    note = said + "`lambda leaf: None`:"
    cases.append(Case(mapped(lambda leaf: None), *fair(), word, note=note))
    note = "What a jitted function that returns it gives, as shapes:"
    cases.append(Case(in_jit, vector(rng), vector(rng), word, note=note, tags=("under jit",)))
    note = "The gradient of a function of it, as shapes:"
    cases.append(Case(in_grad, vector(rng), vector(rng), word, note=note, tags=("under grad",)))
    others = mixed(rng, lambda: [*fair(), word], lambda: [*fair(), other], 6)
    note = "The name of one, then `mean`, `std` and `name` of others. Which of the others have the "
    note += "same structure as the first?"
    cases.append(Case(same_structures, word, others, note=note))
    yield from shuffled(rng, cases)


@check
def running_mean(cls, rng):
    """New objects, old ones unchanged, and one trace however many numbers come."""

    def twice_plus_one(x):
        return 2 * x + 1

    # One function for nearly all cases: so jit compiles `add` once.
    def after(numbers):
        node = cls(twice_plus_one)
        for x in numbers:
            node = node.add(x)
        return {"mean": float(node.mean()), "count": plain(node.count)}

    def before_and_after(x):
        first = cls(twice_plus_one)
        second = first.add(x)
        return {"the old count": plain(first.count), "the new count": plain(second.count)}

    def traces(numbers):
        runs = []

        def function(x):
            runs.append(x)
            return x

        node = cls(function)
        for x in numbers:
            node = node.add(x)
        # A first call may start from Python's own 0 and the next one from an array.
        return "traced once or twice" if len(runs) <= 2 else "run again for most of the numbers"

    def program(x):
        return is_one_program(lambda node, x: node.add(x), cls(twice_plus_one), x)

    def result(x):
        new = cls(twice_plus_one).add(x)
        return "None" if new is None else "a RunningMean" if type(new) is cls else "something else"

    def same_structure(x):
        first = cls(twice_plus_one)
        return jax.tree.structure(first) == jax.tree.structure(first.add(x))

    numbers = [float(each) for each in rng.integers(1, 100, 5)]
    note = "The mean of `lambda x: 2 * x + 1` over these numbers, and their count:"
    yield Case(after, [2.0], note=note)
    yield Case(after, [1.0, 4.0, 7.0], note=note)
    yield Case(result, 2.0, note="What does `add` return?")
    yield Case(before_and_after, 2.0, note="One number is added to a new `RunningMean`.")
    said = "Does it have the same structure before and after `add`?"
    yield Case(same_structure, 2.0, note=said)
    yield Case(program, 2.0, note="Is `add` one jitted program?")
    said = "How often does Python run `function` while these numbers are added?"
    yield Case(traces, numbers, note=said)
    yield Case(after, numbers[:4], note=note)


@check
def train_step(answer, rng):
    """Only params move; the step counts; the loss sees the old step; the old state stays."""

    # A loss is a float, of no parameters too: `jax.grad` refuses an int.
    def total(tree):
        return sum((leaf @ leaf for leaf in jax.tree.leaves(tree)), 0.0)

    def squares(state):
        return total(state.params)

    def squares_by_step(state):
        return total(state.params) / (state.step + 1)

    def seen(state):
        if type(state).__name__ != "TrainState":
            return as_jax(state)
        return {"params": as_jax(state.params), "step": plain(state.step)}

    def run(loss):
        return lambda params, step, rate: seen(answer(loss, TrainState(params, step), rate))

    def old_state(params, step, rate):
        state = TrainState(params, step)
        answer(squares, state, rate)
        return seen(state)

    note = "The inputs are `params`, `step` and `rate`. The loss is the sum of all squares."
    yield Case(run(squares), {}, 3, 0.5, note=note)
    yield Case(run(squares), {"w": vector(rng)}, 1, 0.5, note=note)
    yield Case(run(squares), [vector(rng), None], 0, 0.25, note=note)
    yield Case(run(squares), {"w": vector(rng), "b": vector(rng)}, 3, 0.75, note=note)
    said = "The inputs are `params`, `step` and `rate`. "
    note = said + "The old state after the call:"
    yield Case(old_state, {"w": vector(rng)}, 3, 0.25, note=note)
    note = said + "The loss is the sum of all squares, divided by `step + 1`."
    yield Case(run(squares_by_step), {"w": vector(rng)}, 1, 0.25, note=note)
    for _ in range(2):
        names = random_words(rng, 2)
        params = {names[0]: [vector(rng), vector(rng)], names[1]: {"w": vector(rng)}}
        step = 1 + number(rng) // 10
        yield Case(run(squares_by_step), params, step, number(rng) / 8, note=note)


@check
def history(cls, rng):
    """One structure and one set of shapes, however full; nothing is computed on the way."""

    def seen(node):
        if type(node) is not cls:
            return node
        return {"values": as_jax(node.values), "used": plain(node.used)}

    def leaves(values, used):
        return [plain(leaf) for leaf in jax.tree.leaves(cls(values, used))]

    def same(values, used):
        return seen(jax.tree.map(lambda leaf: leaf, cls(values, used)))

    def same_structure(values, used, other_used):
        one, other = cls(values, used), cls(values, other_used)
        return jax.tree.structure(one) == jax.tree.structure(other)

    def added(values, used, other_used):
        return seen(jax.tree.map(operator.add, cls(values, used), cls(values, other_used)))

    def mapped_to_text(values, used):
        return seen(jax.tree.map(as_text, cls(values, used)))

    def leaves_of_texts(values, used):
        return jax.tree.leaves(jax.tree.map(as_text, cls(values, used)))

    def pushed(values, used, value):
        return seen(cls(values, used).push(value))

    def push_in_jit(values, used, value):
        return seen(traced(lambda node, value: node.push(value), cls(values, used), value))

    def scanned(values, numbers):
        def step(node, value):
            return node.push(value), None

        # As a program would do it; only its shapes are computed here.
        return seen(traced(lambda node: jax.lax.scan(step, node, numbers)[0], cls(values, 0)))

    def array(*values):
        return np.array(values, np.float32)

    full, empty = array(5, 7), array(0, 0)
    note = "The inputs are `values` and `used`. The leaves:"
    yield Case(leaves, full, 2, note=note)
    yield Case(leaves, array(5, 0), 1, note=note)
    yield Case(leaves, empty, 0, note=note)
    note = "`values` and `used` after a map that changes nothing:"
    yield Case(same, array(5, 0), 1, note=note)
    yield Case(same, array(number(rng), 0), 2, note=note + " (the second value is a 0)")
    note = "Do two histories of these values, with these two `used`, have the same structure?"
    yield Case(same_structure, array(5, 0), 1, 2, note=note)
    note = "One map adds two histories of these values, with these two `used`:"
    yield Case(added, array(5, 0), 1, 2, note=note)
    yield Case(mapped_to_text, full, 2, note="A map with `lambda leaf: 'a text'`:")
    yield Case(leaves_of_texts, full, 2, note="The leaves after such a map:")
    some = jnp.asarray(array(number(rng), 0))
    yield Case(pushed, some, 1, float(number(rng)), note="`push`, without jit:")
    note = "`push` under jit, as shapes:"
    yield Case(push_in_jit, some, 1, 7.0, note=note)
    note = "`jax.lax.scan` that pushes these numbers, as shapes:"
    yield Case(scanned, jnp.asarray(empty), vector(rng), note=note)


@check
def temperature(cls, rng):
    """1 at the start, and only there; a dict of the model's own; anything JAX puts in."""

    def seen(model):
        return parts(model, cls, "params", "name")

    def made(params, name):
        return seen(cls(params, name))

    def mapped(function):
        return lambda params, name: seen(jax.tree.map(function, cls(params, name)))

    def mapped_twice(params, name):
        return seen(jax.tree.map(triple, jax.tree.map(triple, cls(params, name))))

    def callers_dict(params, name):
        cls(params, name)
        return params

    def callers_dict_after_a_map(params, name):
        jax.tree.map(triple, cls(params, name))
        return params

    def changed_later(params, name):
        model = cls(params, name)
        params["w"] = "changed by the caller"
        params["temperature"] = "changed by the caller"
        return seen(model)

    def two_models(params, name):
        one, other = cls(params, name), cls(params, name)
        one.params["w"] = "changed in the first model"
        return seen(other)

    def rebuilt_with_texts(params, name):
        def is_dict(node):
            return isinstance(node, dict)

        structure = jax.tree.structure(cls(params, name), is_leaf=is_dict)
        model = jax.tree.unflatten(structure, ["a text"] * structure.num_leaves)
        return "a model" if type(model) is cls else "something else"

    def in_jit(params, name):
        return seen(traced(lambda model: jax.tree.map(triple, model), cls(params, name)))

    def draw(**more):
        return {"w": number(rng), **more}

    word, other = random_words(rng, 2)
    said = "The inputs are `params` and `name`. "
    note = said + "The attributes of a new model:"
    yield Case(made, {}, "x", note=note)
    yield Case(made, draw(), word, note=note)
    yield Case(made, draw(temperature=5.0), word, note=note)
    note = said + "The attributes after a map with `lambda leaf: 3 * leaf`:"
    yield Case(mapped(triple), {}, "x", note=note)
    yield Case(mapped(triple), draw(), word, note=note)
    yield Case(mapped_twice, draw(**{other: [number(rng)]}), word, note=note[:-1] + ", twice:")
    note = said + "The attributes after a map with `lambda leaf: 'a text'`:"
    yield Case(mapped(as_text), draw(), word, note=note)
    note = said + "The dict of the caller, after a model was made of it:"
    yield Case(callers_dict, draw(), word, note=note)
    yield Case(callers_dict, draw(temperature=5.0), word, note=note)
    note = said + "The dict of the caller, after a model was made and mapped:"
    yield Case(callers_dict_after_a_map, draw(), word, note=note)
    note = said + "The model, after the caller put other things into that dict:"
    yield Case(changed_later, draw(**{other: number(rng)}), word, note=note)
    note = said + "Two models of one dict. The second, after a change to the first:"
    yield Case(two_models, draw(), word, note=note)
    note = said + "What JAX rebuilds with a text in the place of the whole dict:"
    yield Case(rebuilt_with_texts, draw(), word, note=note)
    note = said + "What a jitted map gives, as shapes:"
    yield Case(in_jit, {"w": vector(rng)}, word, note=note)


@check
def fork(cls, rng):
    """Any number of branches, one level at a time; each fork has a list of its own."""

    def grown(tree):
        """Make a fork of nested tuples: (value, branch, branch, …)."""
        value, *branches = tree
        return cls(value, [grown(branch) for branch in branches])

    def seen(node):
        if type(node) is not cls:
            return node
        return (node.value, *(seen(branch) for branch in node.branches))

    def path_texts(*tree):
        return paths(grown(tree))

    def leaves(*tree):
        return jax.tree.leaves(grown(tree))

    def mapped(*tree):
        return seen(jax.tree.map(triple, grown(tree)))

    def added(tree, other):
        return seen(jax.tree.map(operator.add, grown(tree), grown(other)))

    def same_structure(tree, other):
        # A map over these two raises; what it raises differs between releases of JAX.
        return jax.tree.structure(grown(tree)) == jax.tree.structure(grown(other))

    def in_jit(*tree):
        return seen(traced(lambda fork: fork, grown(tree)))

    # Only one level is looked at here: with a shared list, a fork would hold itself.
    def values(node):
        return [branch.value for branch in node.branches]

    def two_growing(value, other, branch):
        one, two = cls(value), cls(other)
        one.grow(cls(branch))
        return {"the first": values(one), "the second": values(two), "a third": values(cls(value))}

    def callers_list(value, *branches):
        given = [cls(branch) for branch in branches]
        node = cls(value, given)
        node.grow(cls(0))
        return {"the list": [branch.value for branch in given], "the fork": values(node)}

    def grows_after_a_map(*tree):
        node = grown(tree)
        new = jax.tree.map(triple, node)
        new.grow(cls(0))
        return {"mapped and grown": values(new), "the old one": values(node)}

    def nested(depth):
        """Draw a tree of tuples."""
        count = int(rng.integers(1, 3)) if depth else 0
        return (number(rng), *(nested(depth - 1) for _ in range(count)))

    said = "Forks are written as tuples here: (value, branch, branch, …). "
    yield Case(path_texts, 1, note=said + "The paths:")
    yield Case(path_texts, 1, (2,), note=said + "The paths:")
    yield Case(path_texts, 1, (2, (3,), (4,)), (5,), note=said + "The paths:")
    yield Case(path_texts, {"w": 1}, ([2],), note=said + "The paths:")
    yield Case(leaves, 1, (2, (3,), (4,)), (5,), note=said + "The leaves:")
    note = said + "A map with `lambda leaf: 3 * leaf`:"
    yield Case(mapped, 1, note=note)
    yield Case(mapped, 1, (2,), (3,), note=note)
    yield Case(mapped, None, (2,), (3,), (4, (5,)), note=note)
    note = said + "One map adds these two:"
    yield Case(added, (1, (2,)), (3, (number(rng),)), note=note)
    note = said + "Do these two have the same structure?"
    yield Case(same_structure, (1, (2,)), (3, (4,)), note=note)
    yield Case(same_structure, (1, (2,)), (3, (4,), (5,)), note=note)
    note = "Two new forks of the first two values; the first grows a branch of the third value. "
    note += "Then a third fork is made. The values of their branches:"
    yield Case(two_growing, 1, 2, number(rng), note=note)
    note = (
        "`Fork(value, branches)` gets a value and a list of branches with the other values. Then "
    )
    note += "the fork grows a branch of value 0. What the list and the fork hold:"
    yield Case(callers_list, 1, 2, number(rng), note=note)
    note = (
        said + "A map with `lambda leaf: 3 * leaf`; then the new fork grows a branch of value 0. "
    )
    note += "The values of the branches:"
    yield Case(grows_after_a_map, 1, (2,), note=note)
    note = said + "What a jitted function that returns it gives, as shapes:"
    yield Case(in_jit, vector(rng), (vector(rng),), note=note)
    for _ in range(2):
        tree = (number(rng), nested(2), nested(1))
        yield Case(path_texts, *tree, note=said + "The paths:")
        yield Case(mapped, *tree, note=said + "A map with `lambda leaf: 3 * leaf`:")


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
