"""Checks of lesson 3.

python checks/check_03_custom_nodes.py exercises/03_custom_nodes_exercises.ipynb
"""

import operator
import re
from collections import OrderedDict, deque
from dataclasses import dataclass, field, is_dataclass, make_dataclass
from functools import partial
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
    random_model,
    random_words,
    shuffled,
    varied_trees,
    vector,
)
from pytree_course.cases.random_inputs import VALUES

TRIPLED = "`lambda leaf: 3 * leaf`"


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


def varied(rng, without=(), values=np.asarray):
    """Draw small trees of numbers that have one feature each, and some larger ones."""
    return varied_trees(rng, lambda: number(rng), without=without, values=values, rich=1)


def mixed(rng, same, other, count=10):
    """Draw values, each from `same` or from `other`, and from each of them at least one."""
    draws = [same, other, *(same if like else other for like in rng.random(count - 2) < 0.5)]
    return [draw() for draw in shuffled(rng, draws)]


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


# The gradient of a jitted function takes half the time, and compiles once.
dot = jax.jit(jnp.vdot)


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


def linear_class_with_slots():
    class Linear:
        __slots__ = ("bias", "weight")

        def __init__(self, weight, bias):
            self.weight, self.bias = weight, bias

    return Linear


def linear_class_with_a_default():
    class Linear:
        def __init__(self, weight, bias=None):
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
    """Two children in order, themselves; the way back, in map, in jit and within other trees."""

    def registered(make):
        cls = make()
        answer(cls)
        return cls

    def leaves(make, weight, bias):
        return jax.tree.leaves(acyclic(registered(make)(weight, bias)))

    def leaves_below(make, weight, bias):
        children = jax.tree.structure(acyclic(registered(make)(weight, bias))).children()
        return [child.num_leaves for child in children]

    def mapped(make, weight, bias):
        cls = registered(make)
        return parts(jax.tree.map(triple, acyclic(cls(weight, bias))), cls, "weight", "bias")

    def mapped_to_text(make, weight, bias):
        cls = registered(make)
        return parts(jax.tree.map(as_text, acyclic(cls(weight, bias))), cls, "weight", "bias")

    def after_a_map(make, weight, bias):
        node = registered(make)(weight, bias)
        jax.tree.map(triple, acyclic(node))
        return parts(node, type(node), "weight", "bias")

    def within_itself(make, weight, bias):
        cls = registered(make)
        node = jax.tree.map(triple, acyclic(cls(cls(weight, bias), bias)))
        inner = parts(node.weight, cls, "weight", "bias") if type(node) is cls else None
        return {"inner": inner, "bias": node.bias} if inner else parts(node, cls)

    def added(make, one, other):
        cls = registered(make)
        node = jax.tree.map(operator.add, acyclic(cls(*one)), acyclic(cls(*other)))
        return parts(node, cls, "weight", "bias")

    def same_structures(make, one, others):
        cls = registered(make)
        structure = jax.tree.structure(acyclic(cls(*one)))
        return [jax.tree.structure(acyclic(cls(*other))) == structure for other in others]

    def in_jit(make, weight, bias):
        cls = registered(make)
        return parts(traced(lambda layer: layer, acyclic(cls(weight, bias))), cls, "weight", "bias")

    def in_a_list(make, weight, bias):
        cls = registered(make)
        both = jax.tree.map(triple, [acyclic(cls(weight, bias)), acyclic(cls(bias, weight))])
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
    for each in (
        pair(),
        ({one: number(rng), two: pair()}, number(rng)),
        (pair(), None),
        (number(rng), None),
        (None, number(rng)),
    ):
        cases.append(Case(partial(leaves_below, linear_class), *each, note=note))
    note = said + "Its class sets `self.bias` before `self.weight`. "
    make = linear_class_with_the_bias_set_first
    for call, more in ((leaves, "Its leaves:"), (leaves, "Its leaves:"), (mapped, tripled)):
        more = more.removeprefix(said)
        cases.append(Case(partial(call, make), *pair(), note=note + more))
    note = said + "Its class has `__slots__`, so no `__dict__`. "
    for each in (pair(), (number(rng), [row(rng)])):
        for call, more in ((leaves, "Its leaves:"), (mapped, tripled.removeprefix(said))):
            call = partial(call, linear_class_with_slots)
            cases.append(Case(call, *each, note=note + more))
    note = said + "Its class is a frozen dataclass: no attribute can be set. "
    for each in (pair(), (number(rng), [row(rng)])):
        told = note + tripled.removeprefix(said)
        cases.append(Case(partial(mapped, read_only_linear_class), *each, note=told))
    for make, more in (
        (linear_class_with_a_default, "Its bias has the default `None`. "),
        (
            linear_class_with_properties,
            "`weight` and `bias` are read-only properties; the object stores them in a dict. ",
        ),
    ):
        note = said + more
        for each in (pair(), (number(rng), [row(rng)])):
            for call, text in ((leaves, "Its leaves:"), (mapped, tripled.removeprefix(said))):
                call = partial(call, make)
                cases.append(Case(call, *each, note=note + text))
    for tree in varied(rng):
        cases.append(Case(partial(mapped, linear_class), tree, number(rng), note=tripled))
    note = said + "A map with `lambda leaf: 'a text'`, and its attributes:"
    call = partial(mapped_to_text, linear_class)
    for each in (pair(), (None, number(rng))):
        cases.append(Case(call, *each, note=note))
    note = said + f"The object itself, after a map with {TRIPLED} made another one of it:"
    for each in (pair(), (number(rng), [number(rng)])):
        cases.append(Case(partial(after_a_map, linear_class), *each, note=note))
    note = said + "The weight of a second object is this first one, and its bias is the same. The "
    note += f"second after a map with {TRIPLED}, with its weight as `inner`:"
    for each in (pair(), (None, number(rng))):
        cases.append(Case(partial(within_itself, linear_class), *each, note=note))
    note = "The inputs are the weights and biases of two objects. A map adds them:"
    for one_pair, other in ((pair(), pair()), ((rows(rng), row(rng)), (rows(rng), row(rng)))):
        cases.append(Case(partial(added, linear_class), one_pair, other, note=note))
    others = mixed(rng, pair, lambda: [(number(rng), None), (pair(), 1)][rng.integers(2)])
    note = "The inputs are the weights and biases of one object, and of others. Which of the "
    note += "others have the same structure as the first?"
    cases.append(Case(partial(same_structures, linear_class), pair(), others, note=note))
    note = said + "What a jitted function that returns the object gives, as shapes:"
    for each in ((row(rng), row(rng)), (rows(rng), {one: row(rng)})):
        cases.append(Case(partial(in_jit, linear_class), *each, note=note))
    note = f"{said}A map with {TRIPLED} over a list of two such objects; in the second, bias and "
    note += "weight are swapped:"
    for each in (pair(), ({one: number(rng)}, pair())):
        cases.append(Case(partial(in_a_list, linear_class), *each, note=note))
    yield from shuffled(rng, cases)


CLASS_OF_ITS_OWN = {
    "default field": "the learner's class",
    "read-only properties": "the learner's class",
}


@check
def model_state(cls, zeroed, predict, rng):
    """Three children; an int that becomes an array; one jitted program for every step."""
    new = making(cls)

    def leaves(*fields):
        return jax.tree.leaves(new(*fields))

    def mapped(*fields):
        node = jax.tree.map(triple, new(*fields))
        return parts(node, cls, "weight", "bias", "step")

    def zeros(*fields):
        return parts(zeroed(new(*fields)), cls, "weight", "bias", "step")

    def state_after_zeroed(*fields):
        state = new(*fields)
        zeroed(state)
        return parts(state, cls, "weight", "bias", "step")

    def is_of_a_dataclass(*fields):
        return is_dataclass(new(*fields))

    def is_the_same(*fields):
        state = new(*fields)
        return zeroed(state) is state

    def mapped_to_text(*fields):
        return parts(jax.tree.map(as_text, new(*fields)), cls, "weight", "bias", "step")

    def predicted(x, *fields):
        return as_jax(predict(new(*fields), x))

    def is_jitted(x, *fields):
        # With `inline=True` a program leaves no trace in another; a jitted function can be lowered.
        if hasattr(predict, "lower"):
            return {"one program": True, "the same in two calls": True}
        twice = jax.make_jaxpr(lambda state, x: [predict(state, x) for _ in range(2)])
        programs = [each.params.get("jaxpr") for each in twice(new(*fields), x).eqns]
        return {
            "one program": len(programs) == 2 and None not in programs,
            "the same in two calls": programs[0] is programs[-1] is not None,
        }

    def same_structures(one, others):
        structure = jax.tree.structure(new(*one))
        return [jax.tree.structure(new(*other)) == structure for other in others]

    def weight():
        """Draw a matrix that is not symmetric."""
        drawn = rows(rng)
        drawn[0, 1] = drawn[1, 0] + 1
        return jax.device_put(drawn)

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
    for tree in varied(rng):
        cases.append(Case(mapped, tree, number(rng), number(rng), note=note))
    note = said + "A map with `lambda leaf: 'a text'`:"
    for each in (fields(), (number(rng), None, number(rng))):
        cases.append(Case(mapped_to_text, *each, note=note))
    note = said + "What `zeroed` makes of it:"
    for each in (
        (jax.device_put(VALUES["bfloat16"]), jax.device_put(VALUES["nan"]), number(rng)),
        (jax.device_put(VALUES["no elements"]), jax.device_put(VALUES["0-d array"]), number(rng)),
        (vector(rng), vector(rng), number(rng)),
        (matrix(rng), vector(rng), 0),
        (vector(rng), None, number(rng)),
        (vector(rng, np.int32), [vector(rng)], number(rng)),
        (TrainState(vector(rng), number(rng)), None, number(rng)),
        (vector(rng), [TrainState(vector(rng), None)], number(rng)),
    ):
        cases.append(Case(zeros, *each, note=note))
    note = said + "The state itself, after `zeroed` was called with it:"
    for each in ((number(rng), vector(rng), number(rng)), ([number(rng)], None, number(rng))):
        cases.append(Case(state_after_zeroed, *each, note=note))
    note = said + "Is what `zeroed` returns the state that it was given?"
    call = partial(
        Case,
        is_the_same,
        note=note,
        if_wrong={"": "`zeroed` returns the state that it was given, and not a new one."},
    )
    cases += [call(*fields()), call(vector(rng), None, number(rng))]
    note = said + "Is the state an object of a dataclass?"
    wrong = {"": "`ModelState` is no dataclass."}
    for each in (fields(), (number(rng), None, number(rng))):
        cases.append(Case(is_of_a_dataclass, *each, note=note, if_wrong=wrong))
    others = mixed(rng, fields, lambda: [[1, None, 2], [1, [2], 3]][rng.integers(2)])
    note = "The inputs are the fields of one state, and of others. Which of the others have the "
    note += "same structure as the first?"
    cases.append(Case(same_structures, fields(), others, note=note))
    said = "The inputs are `x` and the fields of a state. "
    for x in (vector(rng), matrix(rng)):
        note = said + "Is `predict` one jitted program, and the same one when it is called again?"
        cases.append(
            Case(
                is_jitted,
                x,
                weight(),
                vector(rng),
                number(rng),
                note=note,
                if_wrong={
                    "one program": "`predict` runs as ordinary Python, step by step. It is not one "
                    "jitted function.",
                    "the same in two calls": "Two calls of `predict` do not use one jitted "
                    "function: JAX has nothing that it could use again.",
                },
            )
        )
    note = said + "What `predict` returns:"
    # Of two shapes, for `predict` is compiled for each.
    for x in (*(vector(rng) for _ in range(3 + rng.integers(2))), matrix(rng), matrix(rng)):
        cases.append(Case(predicted, x, weight(), vector(rng), number(rng), note=note))
    for _ in range(2):
        x, weights = jnp.stack([matrix(rng)] * 2), jnp.stack([weight(), weight()])
        cases.append(Case(predicted, x, weights, vector(rng), number(rng), note=note))
    yield from shuffled(rng, cases)


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
        return acyclic(cls(**dict(zip(names, values, strict=True))))

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

    def within_itself(make, names, static, values):
        """Look at an object whose first field holds another object of its class."""
        cls = registered(make, names, static)
        outer = node_of(cls, [node_of(cls, values), *values[1:]])
        inner = getattr(jax.tree.map(triple, outer), names[0])
        return {"paths": paths(outer), "inner": seen(inner, cls)}

    def mapped_to_text(make, names, static, values):
        cls = registered(make, names, static)
        return seen(jax.tree.map(as_text, node_of(cls, values)), cls)

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
    word, other, third = random_words(rng, 3)
    cases = []

    def look(make, names, static, values, note="", calls=(path_texts, mapped)):
        for call in calls:
            told = f"{note} {looks[call]}".strip()
            cases.append(Case(partial(call, make), names, static, values, note=told))

    def falling():
        return falling_words(rng, 3)

    every = (path_texts, leaves, mapped)
    names = sorted_words(rng, 2)
    look(plain_fields, names, [], numbers(rng, 2), calls=every)
    names = falling()
    look(plain_fields, names, [], numbers(rng, 3), calls=every)
    two = numbers(rng, 2)
    for place in range(3):
        names, values = falling(), [*two[:place], word, *two[place:]]
        look(plain_fields, names, [names[place]], values)
    names = falling()
    values = [word, number(rng), other]
    look(plain_fields, names, [names[2], names[0]], values, calls=(mapped,))
    names = falling()
    look(plain_fields, names, {names[1]}, [number(rng), word, None], calls=(leaves, mapped))
    names = falling()
    look(plain_fields, names, tuple(names[:2]), [word, 2, row(rng)], calls=(leaves,))
    names = falling()
    look(plain_fields, names, names, [word, other, third], calls=(mapped,))
    names = falling()
    look(plain_fields, names, [], [{"b": number(rng), "a": [0]}, "", None], calls=every)
    note = "All fields but the last are inherited."
    for static in ([], names[:1]):
        look(inherited_fields, names, static, [word if static else 1, *two], note)
    note = "The first field has `init=False`: `__post_init__` makes a list of the others' values."
    names = falling()
    look(first_computed, names, [], two, note)
    look(first_computed, names, [names[1]], [word, number(rng)], note)
    note = "The second field is keyword-only."
    for _ in range(2):
        look(keyword_only_field, falling(), [], numbers(rng, 3), note, every)
    names = falling()
    look(keyword_only_field, names, [names[1]], [two[0], word, two[1]], note)
    note = "The last field has the default `'default'`."
    look(default_for_the_last, names, [names[2]], [*two, word], note, (mapped,))
    look(default_for_the_last, names, [names[0]], [word, *two], note)
    look(plain_fields, ["weight", "activation"], ["activation"], [1.5, "relu"], calls=(leaves,))
    for tree in varied(rng):
        call, inputs = partial(mapped, plain_fields), ([names[0]], [word, tree, number(rng)])
        cases.append(Case(call, names, *inputs, note=looks[mapped]))
    note = looks[mapped].replace(TRIPLED, "`lambda leaf: 'a text'`")
    call = partial(mapped_to_text, plain_fields)
    for values in ([word, *two], [word, {third: two[0]}, None]):
        cases.append(Case(call, names, [names[0]], values, note=note))
    look(frozen_fields, names, [names[0]], [word, *two], "It is frozen.", (mapped,))
    for place in (0, 1):
        names = [names[0], f"{names[0]}_{names[1]}", names[2]]
        names = names[::-1] if place else names
        look(plain_fields, names, [names[1]], [two[0], word, two[1]])
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
        call = partial(is_returned, plain_fields)
        wrong = {"": "Your function does not return the class that it was given."}
        cases.append(Case(call, names, static, note=note, if_wrong=wrong))
    values = [two[0], word, two[1]]
    note = said + "the values of an object. A second object holds this one in its first field. Its "
    note += f"paths, and the attributes of the inner object after a map with {TRIPLED}:"
    for make, static in ((plain_fields, names[1:2]), (frozen_fields, [])):
        call = partial(within_itself, make)
        cases.append(Case(call, names, static, [two[0], 3, two[1]], note=note))
    note = said + "the values of an object. One of them is a registered dataclass. "
    for call in (path_texts, mapped):
        inputs = names, names[1:2], [Duo(*two), word, two[1]]
        told = note + looks[call].removeprefix(said + "the values of an object. ")
        cases.append(Case(partial(call, plain_fields), *inputs, note=told))
    note = said + "the values of an object. Its class is what the call returned. Its leaves:"
    call = partial(as_decorator, plain_fields)
    cases.append(Case(call, names, names[1:2], values, note=note))
    note = "The inputs are the names of a dataclass's fields and the values of an object. `static` "
    note += f"is not given. Its attributes after a map with {TRIPLED}:"
    cases.append(Case(partial(without_static, plain_fields), names, [*values[::2], 1], note=note))
    note = said + f"the values of an object. What a jitted map with {TRIPLED} gives, as shapes:"
    values = [row(rng), word, row(rng)]
    call = partial(in_jit, plain_fields)
    cases.append(Case(call, names, names[1:2], values, note=note))

    def alike():
        return [number(rng), word, number(rng)]

    def unlike():
        return [number(rng), other, number(rng)] if rng.random() < 0.5 else [1, word, None]

    note = said + "the values of an object, and of others. Which of the others have the same "
    note += "structure as the first?"
    call = partial(same_structures, plain_fields)
    for _ in range(2):
        others = mixed(rng, alike, unlike)
        cases.append(Case(call, names, names[1:2], alike(), others, note=note))
    yield from shuffled(rng, cases)


@check
def readable_paths(cls, rng):
    """Keys as in a dict, in the order given; the names survive and are part of the structure."""
    new = making(cls)

    def path_texts(names, values):
        return paths(new(names, values))

    def leaves(names, values):
        return jax.tree.leaves(new(names, values))

    def leaves_with_path(names, values):
        return [leaf for _, leaf in jax.tree.leaves_with_path(new(names, values))]

    def seen(node):
        if type(node) is not cls:
            return node
        return {"names": list(node.names), "values": [seen(value) for value in node.values]}

    def mapped(names, values):
        return seen(jax.tree.map(triple, new(names, values)))

    def mapped_to_text(names, values):
        return seen(jax.tree.map(as_text, new(names, values)))

    def added(names, values, other_names, other_values):
        both = new(names, values), new(other_names, other_values)
        return seen(jax.tree.map(operator.add, *both))

    def same_structures(names, others):
        structure = jax.tree.structure(new(names, [1, 2]))
        return [jax.tree.structure(new(other, values)) == structure for other, values in others]

    def in_jit(names, values):
        return seen(traced(lambda layers: jax.tree.map(triple, layers), new(names, values)))

    def nested(look):
        return lambda outer, names, values: look(outer, [new(names, values), values[0]])

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
    for tree in varied(rng):
        # A wrong answer takes it for a key, whose text differs between versions of Python.
        ordered = isinstance(tree, OrderedDict)
        for call in (mapped,) if ordered else (path_texts, mapped):
            cases.append(Case(call, falling(), [tree, number(rng)], note=looks[call]))
    for names in (
        [f"['{one}']", f"{two} {one}", '"'],
        [f"{one}'s", two],
        [f"{two}|{one}", f"({one}+"],
        [two, ""],
        [f"{one}/{two}", one],
        [f"{letter}{letter}" for letter in "zyxwvutsrqpo"],
    ):
        for call in (path_texts, mapped):
            inputs = names, numbers(rng, len(names))
            cases.append(Case(call, *inputs, note=looks[call]))
    note = "The names and values after a map with `lambda leaf: 'a text'`:"
    for values in (pair(), [{one: number(rng)}, None]):
        cases.append(Case(mapped_to_text, falling(), values, note=note))
    cases.append(Case(mapped, [], [], note="No layers at all. " + looks[mapped]))
    for tree in rich_trees(rng):
        values = shuffled(rng, [tree, number(rng), (number(rng), [number(rng)])])
        for call in (path_texts, mapped):
            cases.append(Case(call, falling(3), values, note=looks[call]))
    note = "The first of these layers holds such layers too, with the names and values that follow."
    for call in (path_texts, mapped):
        inputs = (falling(), falling(), pair())
        cases.append(Case(nested(call), *inputs, note=f"{note} {looks[call]}"))
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
        cases.append(Case(in_jit, falling(), values, note=note))
    yield from shuffled(rng, cases)


@check(in_order=True)
def normal(cls, rng):
    """The caller's values are checked, now and later; what JAX puts in is not."""
    new = making(cls)

    def attributes(node):
        return parts(node, cls, "mean", "std", "name")

    def made(mean, std, name):
        return as_jax(attributes(new(mean, std, name)))

    def raises(error, mean, std):
        try:
            new(mean, std, "x")
        except error:
            return True
        return False

    def refused(pairs):
        return [raises(ValueError, mean, std) for mean, std in pairs]

    def failing(pairs):
        return [raises(Exception, mean, std) for mean, std in pairs]

    def rebuilt(first, second, name):
        structure = jax.tree.structure(new(1.0, 2.0, name))
        return attributes(jax.tree.unflatten(structure, [first, second]))

    def mapped(function):
        return lambda mean, std, name: as_jax(
            attributes(jax.tree.map(function, new(mean, std, name)))
        )

    def afterwards(before):
        def then_made(mean, std, name):
            before(new(1.0, 2.0, "first"))
            return made(mean, std, name)

        def then_refused(pairs):
            before(new(1.0, 2.0, "first"))
            return refused(pairs)

        return then_made, then_refused

    def mapped_to_texts(node):
        jax.tree.map(as_text, node)

    def passed_through_jit(node):
        traced(lambda node: node, node)

    def in_jit(mean, std, name):
        return attributes(traced(lambda node: node, new(mean, std, name)))

    def in_grad(mean, std, name):
        slope = jax.grad(lambda node: dot(node.mean, node.std))
        return attributes(traced(slope, new(mean, std, name)))

    def same_structures(name, others):
        structure = jax.tree.structure(new(1.0, 2.0, name))
        return [jax.tree.structure(new(*other)) == structure for other in others]

    def real():
        return float(number(rng))

    def fair():
        return [-real() if rng.random() < 0.5 else real(), real()]

    def with_one(wrong):
        return np.array([real(), wrong], np.float32)[:: rng.choice([-1, 1])]

    nan = float("nan")

    unfair = (
        lambda: [real(), -real()],
        lambda: [real(), 0.0],
        lambda: [row(rng), real()],
        lambda: [real(), row(rng)],
        lambda: [row(rng), with_one(-real())],
        lambda: [real(), nan],
        lambda: [row(rng), with_one(nan)],
    )

    def pairs():
        return mixed(rng, fair, lambda: unfair[rng.integers(7)](), 8)

    word, other = random_words(rng, 2)
    note = "What the constructor makes of `mean`, `std` and `name`:"
    cases = [
        Case(made, *fair(), word, note=note),
        Case(made, [real(), -real()], row(rng), word, note=note),
        Case(made, *numbers(rng, 2), word, note=note),
        Case(made, numbers(rng, 2), numbers(rng, 2), word, note=note),
        Case(made, vector(rng), vector(rng), word, note=note),
        Case(made, real(), -real(), word, note=note),
        Case(made, real(), 0.0, word, note=note),
        Case(made, real(), nan, word, note=note),
        Case(made, row(rng), with_one(-real()), word, note=note),
        Case(made, row(rng), with_one(nan), word, note=note),
        Case(made, row(rng), real(), word, note=note),
    ]
    note = "Pairs of `mean` and `std`. For which of them does the constructor raise ValueError?"
    cases.append(Case(refused, pairs(), note=note))
    note = "What the constructor makes of `mean`, `std` and `name`:"
    for name in ("infinity", "tiny number", "no elements", "0-d array", "float16", "bfloat16"):
        cases.append(Case(made, VALUES[name], np.abs(VALUES[name]), word, note=note))
    note = "Pairs of `mean` and `std` from a caller. For which of them does the constructor raise "
    note += "an error, of whatever type?"
    no_numbers = (lambda: [None, real()], lambda: [real(), None], lambda: [real(), word])
    for _ in range(2):
        each = mixed(rng, fair, lambda: no_numbers[rng.integers(3)](), 6)
        cases.append(Case(failing, each, note=note))
    note = "Pairs of `mean` and `std`. For which of them does the constructor raise ValueError?"
    # An object is made, then others, and none was rebuilt yet: so it shows what these two change.
    yield cases[0]
    yield from shuffled(rng, cases[1:])
    cases = []
    for before, text in (
        (mapped_to_texts, "A `Normal` was made, and mapped to texts."),
        (passed_through_jit, "A `Normal` was made, and passed through jit."),
    ):
        then_made, then_refused = afterwards(before)
        cases.append(Case(then_refused, pairs(), note=f"{text} {note}"))
        told = f"{text} Then the constructor gets these:"
        cases.append(Case(then_made, *fair(), other, note=told))
        cases.append(Case(then_made, real(), -real(), other, note=told))
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
        *((tree, number(rng)) for tree in varied(rng, values=jax.device_put)),
    ):
        cases.append(Case(rebuilt, first, second, word, note=note))
    said = "The attributes after `jax.tree.map` with "
    note = said + "`lambda leaf: -leaf`:"
    for _ in range(1 + rng.integers(3)):
        cases.append(Case(mapped(operator.neg), vector(rng), vector(rng), word, note=note))
    note = said + "`lambda leaf: None`:"
    cases.append(Case(mapped(lambda leaf: None), *fair(), word, note=note))
    note = "What a jitted function that returns it gives, as shapes:"
    cases.append(Case(in_jit, vector(rng), vector(rng), word, note=note))
    note = "The gradient of a function of it, as shapes:"
    cases.append(Case(in_grad, vector(rng), vector(rng), word, note=note))
    others = mixed(rng, lambda: [*fair(), word], lambda: [*fair(), other], 6)
    note = "The name of one, then `mean`, `std` and `name` of others. Which of the others have the "
    note += "same structure as the first?"
    cases.append(Case(same_structures, word, others, note=note))
    yield from shuffled(rng, cases)


def double_and_one(x):
    return 2 * x + 1


def squared(x):
    return x * x


AVERAGED = {
    "lambda x: 2 * x + 1": double_and_one,
    "lambda x: x * x": squared,
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
        return [float(start.add(each).mean()) for each in numbers]

    def in_turn(one, other, numbers):
        nodes = new(one), new(other)
        for x in numbers:
            nodes = nodes[0].add(x), nodes[1].add(x)
        return [float(node.mean()) for node in nodes]

    def type_of_result(function, x):
        return type(new(function).add(x)).__name__

    def runs_when_added(numbers, more, *, to_the_same=False, again=False):
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

    def same_structures(function, others):
        structure = jax.tree.structure(new(function))
        nodes = []
        for other, times in others:
            nodes.append(new(other))
            for _ in range(times):
                nodes[-1] = nodes[-1].add(1.0)
        return [jax.tree.structure(node) == structure for node in nodes]

    def after_a_trace(function, numbers):
        node = new(function)
        traced(lambda node: node.add(1.0), node)
        for x in numbers:
            node = node.add(x)
        return {"count": plain(node.count), "mean": float(node.mean())}

    def is_the_same(function, x):
        node = new(function)
        return node.add(x) is node

    def in_jit(function, numbers):
        def add_all(node, numbers):
            for x in numbers:
                node = node.add(x)
            return node, node.mean()

        node, mean = traced(add_all, new(function), numbers)
        return {"class": type(node).__name__, "count": node.count.shape, "mean": mean.shape}

    def floats(count):
        return [float(each) for each in rng.permutation(np.arange(-60, 100))[:count] / 2]

    # Each function makes `add` compile anew, so there are two.
    names = shuffled(rng, list(AVERAGED))
    one, other = (AVERAGED[name] for name in names)
    repeated = floats(1)[0]
    said = f"The function is `{names[0]}`. "
    note = said + "These numbers are added. The means and counts of the objects at the end, the "
    note += "one without numbers first (it has no mean):"
    cases = [
        Case(partial(means_and_counts, one), each, note=note)
        for each in (
            floats(1),
            floats(2),
            [repeated, repeated, *floats(1)],
            [0.0, *floats(1)],
            floats(3 + rng.integers(3)),
            [float("nan"), *floats(1)],
            [float("inf")],
            [-float("inf"), *floats(1)],
            [3e-5],
        )
    ]
    told = note.replace(names[0], names[1])
    cases.append(Case(partial(means_and_counts, other), floats(3), note=told))
    note = f"The function is `jax.tree_util.Partial({names[0]})`, a callable node. "
    note += "The means and counts:"
    made_of = jax.tree_util.Partial(one)
    for count in (1, 2):
        cases.append(Case(partial(means_and_counts, made_of), floats(count), note=note))
    note = said + "The first number is added. Then each of the others is added to this same "
    note += "object, and not to one another. The means:"
    for count in (2, 2 + rng.integers(4)):
        cases.append(Case(partial(beside, one), *floats(1), floats(count), note=note))
    note = f"Two objects, of `{names[0]}` and of `{names[1]}`. The numbers are added to the one "
    note += "and the other in turn. Their means:"
    for _ in range(2):
        cases.append(Case(partial(in_turn, one, other), floats(3), note=note))
    note = (
        said + "An object of it was given to a jitted function that adds a number. Then these are "
    )
    note += "added to the object itself. Its count and mean:"
    for count in (1, 2):
        cases.append(Case(partial(after_a_trace, one), floats(count), note=note))
    note = said + "Does `add` return the object to which the number is added?"
    wrong = {"": "`add` returns the old object, and not a new one."}
    for _ in range(2):
        call = partial(is_the_same, one)
        cases.append(Case(call, *floats(1), note=note, if_wrong=wrong))
    note = said + "The type of what `add` returns:"
    cases.append(Case(partial(type_of_result, one), *floats(1), note=note))
    note = "The first numbers are added, then the others. How often does Python run `function` "
    for how, text in (
        ({}, "for the others?"),
        ({"again": True}, "for the others, when they are added to a new object of it?"),
        ({"to_the_same": True}, "for the others, when each is added to the same object?"),
    ):
        for _ in range(2):
            inputs = floats(3), floats(2 + rng.integers(4))
            call = partial(runs_when_added, **how)
            cases.append(Case(call, *inputs, note=note + text, if_wrong=RUNS))
    which = mixed(rng, lambda: names[0], lambda: names[1], 5)
    others = [[name, int(rng.integers(3))] for name in which]
    note = said + "Which of these have the structure of a new object of it? Each is given by its "
    note += "function, and by how many numbers were added:"

    def of_named(others):
        return same_structures(one, [(AVERAGED[name], times) for name, times in others])

    cases.append(Case(of_named, others, note=note))
    new_ones = [[name, 0] for name in mixed(rng, lambda: names[0], lambda: names[1], 4)]
    cases.append(Case(of_named, new_ones, note=note))
    note = (
        said + "What comes out of a jitted function that is given a new object and adds these: its "
    )
    note += "class, and the shapes of count and mean:"
    for count in (1, 2):
        numbers_then = [np.float32(each) for each in floats(count)]
        call = partial(in_jit, one)
        cases.append(Case(call, numbers_then, note=note))
    yield from shuffled(rng, cases)


RUNS = {
    "too high": "Python runs `function` again for numbers that come later, so JAX traces again or "
    "does not trace at all. JAX traces again when a static value or the structure of an argument "
    "has changed, or when the jitted function is a new one.",
    "too low": "Python does not run `function` for these numbers, though it has not seen them.",
}


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
        def call(params, step, rate):
            return seen(answer(loss, cls(params=params, step=step), rate))

        return call

    def twice(params, step, rate):
        state = answer(squares_by_step, TrainState(params, step), rate)
        return seen(answer(squares_by_step, state, rate))

    def old_state(params, step, rate):
        state = TrainState(params, step)
        answer(squares, state, rate)
        return seen(state)

    def is_the_same(params, step, rate):
        state = TrainState(params, step)
        return answer(squares, state, rate) is state

    def step():
        return int(rng.integers(1, 9))

    def rate():
        return number(rng) / 8

    one, two = sorted_words(rng, 2)
    said = "The inputs are `params`, `step` and `rate`. "
    sums = said + "The loss is the sum of all squares."
    cases = []
    for params in (
        {two: row(rng), one: row(rng)},
        {},
        [row(rng), None],
        row(rng),
        {one: {two: row(rng)}},
        Point(row(rng), None),
        [Duo((), row(rng))],
    ):
        cases.append(Case(run(squares), params, step() - 1, rate(), note=sums))
    cases.append(Case(run(squares), {"w": jnp.array([1.0, 2.0])}, 3, 0.5, note=sums))
    half_precision = ("float16", "bfloat16")
    for params in varied_trees(
        rng, lambda: row(rng), values=np.asarray, without=half_precision, rich=1
    ):
        cases.append(Case(run(squares), params, step(), rate(), note=sums))
    note = said + "The class of the state has the field `step` before `params`."
    for params in ({one: row(rng)}, [row(rng), None]):
        cases.append(Case(run(squares, StepFirst), params, step(), rate(), note=note))
    note = said + "The `step` is an array of `int32`."
    for params in ({one: row(rng)}, row(rng)):
        inputs = params, jnp.int32(step()), rate()
        cases.append(Case(run(squares), *inputs, note=note))
    note = said + "Is what your function returns the old state?"
    wrong = {"": "Your function returns the old state itself, and not a new one."}
    for params in ({one: row(rng)}, [row(rng)]):
        inputs = params, step(), rate()
        cases.append(Case(is_the_same, *inputs, note=note, if_wrong=wrong))
    note = said + "The loss adds the products of neighbouring leaves, of the last and first too."
    for params in ({one: row(rng), two: row(rng)}, [row(rng), row(rng), row(rng)]):
        cases.append(Case(run(neighbours), params, step(), rate(), note=note))
    note = said + "The loss is the sum of all squares, divided by `step + 1`."
    for params in shuffled(rng, [{one: row(rng)}, [row(rng)], row(rng)])[: 2 + rng.integers(2)]:
        cases.append(Case(run(squares_by_step), params, step(), rate(), note=note))
    note = said + "The loss is the sum of all squares, divided by `1 << step`, which is 2 ** step."
    for params in ({one: row(rng)}, [row(rng)]):
        cases.append(Case(run(squares_by_power), params, step(), rate(), note=note))
    note = said + "Two steps, one after the other, of a loss divided by `step + 1`:"
    cases.append(Case(twice, {one: row(rng)}, step(), rate(), note=note))
    note = said + "The old state after the call:"
    for params in ({one: row(rng)}, [row(rng)], {one: {two: row(rng)}}, {two: [row(rng)]}):
        cases.append(Case(old_state, params, step(), rate(), note=note))
    yield from shuffled(rng, cases)


@check(in_order=True)
def history(cls, rng):
    """One structure and one set of shapes, however full; nothing is computed on the way."""
    new = making(cls)

    def seen(node):
        if type(node) is not cls:
            return node
        return {"values": node.values, "used": plain(node.used)}

    def leaves(*fields):
        return [plain(leaf) for leaf in jax.tree.leaves(new(*fields))]

    def mapped(*fields):
        return seen(jax.tree.map(triple, new(*fields)))

    def rebuilt(first, second):
        structure = jax.tree.structure(new(array(1, 2), 1))
        return seen(jax.tree.unflatten(structure, [first, second]))

    def leaves_below(*fields):
        return [each.num_leaves for each in jax.tree.structure(new(*fields)).children()]

    def leaves_of_rebuilt(first, second):
        structure = jax.tree.structure(new(array(1, 2), 1))
        return jax.tree.leaves(jax.tree.unflatten(structure, [first, second]))

    def same_structures(values, used):
        structure = jax.tree.structure(new(values, 0))
        return [jax.tree.structure(new(values, each)) == structure for each in used]

    def added(values, used, other_values, other_used):
        both = new(values, used), new(other_values, other_used)
        return seen(jax.tree.map(operator.add, *both))

    def mapped_to_text(values, used):
        return seen(jax.tree.map(as_text, new(values, used)))

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
    rooms = [
        room(2),
        room(1, 1),
        room(0, 2),
        room(1, more),
        room(more),
        (array(number(rng), 0), 2),
        (array(0, number(rng), 0), 2),
        room(1, 0, [number(rng)]),
        room(0, 0, numbers(rng, 2)),
        (np.array([number(rng), 0], np.int32), 1),
    ]
    said = "The inputs are `values` and `used`. "
    cases = [Case(leaves, *each, note=said + "The leaves:") for each in rooms]
    note = said + f"They are after a map with {TRIPLED}:"
    cases += [Case(mapped, *each, note=note) for each in rooms]
    note = said + "How many leaves are below each child?"
    for each in (room(1, 1), room(0, 2), room(2)):
        cases.append(Case(leaves_below, *each, note=note))
    for name in ("nan", "infinity", "tiny number", "no elements", "float16", "bfloat16"):
        values, used = VALUES[name], min(1, len(VALUES[name]))
        note = said + f"They are after a map with {TRIPLED}:"
        cases.append(Case(mapped, values, used, note=note))
    note = "`used` is not given. The leaves:"
    cases.append(Case(leaves, array(*numbers(rng, 2)), note=note))
    note = "JAX rebuilds a history with these two in the places of `values` and `used`:"
    for first, second in (
        (room(1, 1)[0], number(rng)),
        (np.arange(more), number(rng)),
        ("a text", "another"),
        (None, number(rng)),
        (number(rng), None),
        ([number(rng)], array(number(rng))),
        *((tree, number(rng)) for tree in varied(rng, values=None)),
    ):
        cases.append(Case(rebuilt, first, second, note=note))
    note = "JAX rebuilds a history with these two in the places of `values` and `used`, and takes "
    note += "it apart again. The leaves:"
    for first, second in ((number(rng), number(rng)), (None, number(rng)), (number(rng), None)):
        cases.append(Case(leaves_of_rebuilt, first, second, note=note))
    note = "Do histories of these values, with these numbers for `used`, have the structure of an "
    note += "empty one?"
    for values in (room(1, 1)[0], room(more)[0]):
        used = rng.integers(0, len(values) + 1, 3 + rng.integers(4)).tolist()
        cases.append(Case(same_structures, values, [*used, 1], note=note))
    note = "Values and `used` of two histories. One map adds the two:"
    for one, other in ((room(1, 1), room(2)), (room(2), room(2)), (room(1, 1), room(0, 2))):
        cases.append(Case(added, *one, *other, note=note))
    note = said + "They are texts after a map with `lambda leaf: 'a text'`:"
    for each in (room(2), room(1, 1)):
        cases.append(Case(mapped_to_text, *each, note=note))
    note = "`values` and `used`, and what `push` puts in, without jit:"
    for each, pushes in ((room(1, 1), 1), (room(0, 2), 1), (room(0, 2), 2)):
        values = [float(each) for each in numbers(rng, pushes)]
        cases.append(Case(pushed, *each, *values, note=note))
    note = "`push` under jit, as shapes:"
    for each in (room(1, 1), room(0, 2)):
        inputs = jax.device_put(each[0]), each[1], float(number(rng))
        cases.append(Case(push_in_jit, *inputs, note=note))
    note = "`jax.lax.scan` that pushes these numbers, as shapes:"
    inputs = jax.device_put(array(0, 0)), jax.device_put(row(rng))
    cases.append(Case(scanned, *inputs, note=note))
    yield from shuffled(rng, cases)


@check
def temperature(cls, rng):
    """1 at the start, and only there; dicts of the model's own; anything JAX puts in."""
    new = making(cls)

    def seen(model):
        if type(model) is not cls:
            return {"class": type(model).__name__}
        return {"params": jax.tree.map(plain, model.params), "name": model.name}

    def made(params, name):
        return seen(new(params, name))

    def leaves(params, name):
        return jax.tree.leaves(new(params, name))

    def mapped(function, times=1):
        def attributes(params, name):
            model = new(params, name)
            for _ in range(times):
                model = jax.tree.map(function, model)
            return seen(model)

        return attributes

    def callers_dict(params, name):
        cls(params, name)
        return params

    def callers_dict_after_a_map(params, name):
        jax.tree.map(triple, new(params, name))
        return params

    def change_all(tree, text):
        """Put a text into each dict and list of a tree, and in the place of each leaf in them."""
        if isinstance(tree, (tuple, Duo)):
            for child in tree if isinstance(tree, tuple) else (tree.left, tree.right):
                change_all(child, text)
        elif isinstance(tree, (dict, list)):
            for key, child in list(tree.items() if isinstance(tree, dict) else enumerate(tree)):
                change_all(child, text)
                if not isinstance(child, (dict, list, tuple, Duo)):
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

    def two_models(params, name):
        one, other = new(params, name), new(params, name)
        change_all(one.params, "changed in the first model")
        return seen(other)

    def rebuilt(params, name, child):
        structure = jax.tree.structure(new(params, name), is_leaf=lambda x: isinstance(x, dict))
        return seen(jax.tree.unflatten(structure, [child]))

    def is_kept(params, name, child):
        structure = jax.tree.structure(new(params, name), is_leaf=lambda x: isinstance(x, dict))
        return jax.tree.unflatten(structure, [child]).params is child

    def in_jit(params, name):
        model = traced(lambda model: jax.tree.map(triple, model), new(params, name))
        return {"params": model.params, "name": model.name}

    def same_structures(params, name, others):
        structure = jax.tree.structure(new(params, name))
        return [jax.tree.structure(new(*other)) == structure for other in others]

    def draw(**more):
        return {name: number(rng) for name in falling_words(rng, 2)} | more

    word, other = random_words(rng, 2)
    said = "The inputs are `params` and `name`. "

    def simple():
        """Draw a plain dict, and dicts that differ from it in one feature each."""
        first, second = sorted_words(rng, 2)
        temperature = number(rng) / 2
        return [
            {first: number(rng), second: number(rng)},
            {},
            draw(temperature=temperature),
            {first: {second: number(rng)}},
            {first: [{second: number(rng)}]},
        ]

    note = said + "The attributes of a new model:"
    cases = [Case(made, each, word, note=note) for each in simple()]
    one = sorted_words(rng, 1)[0]
    inner = {one: {"temperature": number(rng) / 2}}
    cases.append(Case(made, inner, word, note=note))
    cases.append(Case(made, {one: None, "z": 0, "y": ""}, word, note=note))
    note = said + "The leaves of a new model:"
    for each in (draw(), {"zero": number(rng)}, {other: draw()}):
        cases.append(Case(leaves, each, word, note=note))
    note = said + f"The attributes after a map with {TRIPLED}:"
    trees = rich_trees(rng)
    for each in (*simple(), *trees, *({other: tree} for tree in varied(rng))):
        cases.append(Case(mapped(triple), each, word, note=note))
    note = note[:-1] + ", twice:"
    for each in (draw(), {other: [number(rng)]}):
        cases.append(Case(mapped(triple, 2), each, word, note=note))
    note = said + "The attributes after a map with `lambda leaf: 'a text'`:"
    cases.append(Case(mapped(as_text), draw(), word, note=note))
    note = said + "The dict of the caller, after a model was made of it:"
    cases += [Case(callers_dict, each, word, note=note) for each in simple()]
    note = said + "The dict of the caller, after a model was made and mapped:"
    cases += [
        Case(callers_dict_after_a_map, each, word, note=note) for each in (draw(), {other: draw()})
    ]
    for call, text in (
        (changed_by_the_caller, "The model, after the caller changed everything in its own dicts:"),
        (changed_in_the_model, "The caller's dict, after everything in the model's was changed:"),
        (two_models, "Two models of one dict. The second, after all in the first was changed:"),
    ):
        for each in (
            draw(),
            {other: draw()},
            {other: {"w": draw()}},
            {other: [draw()]},
            {other: (draw(), number(rng))},
            {other: Point(number(rng), [number(rng)])},
            {other: Duo(draw(), number(rng))},
        ):
            cases.append(Case(call, each, word, note=said + text))
    note = "The inputs are `params` and `name`, and what JAX puts in the place of the whole dict "
    note += "when it rebuilds the model:"
    for child in ("a text", number(rng), None, [number(rng)], (number(rng),)):
        cases.append(Case(rebuilt, draw(), word, child, note=note))
    note = "The inputs are `params` and `name`, and what JAX puts in the place of the whole dict "
    note += "when it rebuilds the model. Does the model hold this very object?"
    wrong = {"": "A rebuilt model holds a copy of what JAX put in, and not the object itself."}
    for child in ([number(rng)], {one: [number(rng)]}):
        inputs = draw(), word, child
        cases.append(Case(is_kept, *inputs, note=note, if_wrong=wrong))
    note = said + "What a jitted map gives, as shapes:"
    for each in ({other: row(rng)}, {other: {"w": row(rng)}}):
        cases.append(Case(in_jit, each, word, note=note))
    note = said[:-2] + " of one model, and of others. Which of the others have the same structure?"
    params = draw()

    def unlike():
        return [params, other] if rng.random() < 0.5 else [{"w": number(rng)}, word]

    others = mixed(rng, lambda: [{name: number(rng) for name in params}, word], unlike)
    cases.append(Case(same_structures, params, word, others, note=note))
    yield from shuffled(rng, cases)


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

    def path_texts(*tree):
        return paths(grown(tree))

    def leaves(*tree):
        return jax.tree.leaves(grown(tree))

    def mapped(*tree):
        return seen(acyclic(jax.tree.map(triple, grown(tree))))

    def added(tree, other):
        return seen(acyclic(jax.tree.map(operator.add, grown(tree), grown(other))))

    def same_structures(tree, others):
        # A map over two that differ raises; what it raises differs between releases of JAX.
        structure = jax.tree.structure(grown(tree))
        return [jax.tree.structure(grown(other)) == structure for other in others]

    def in_jit(*tree):
        # JAX flattens the result, and would never come to the end of a fork that holds itself.
        return seen(traced(acyclic, grown(tree)))

    def in_a_fork(look):
        """Look at a fork whose value is a fork."""
        return lambda value, *branches: look(grown(value), *branches)

    def rebuilt(put):
        def one_level(*tree):
            # One level alone: each branch is replaced as a whole.
            node = grown(tree)
            return seen(acyclic(jax.tree.map(put, node, is_leaf=lambda child: child is not node)))

        return one_level

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

    def list_that_changes(value, *branches):
        given = [cls(branch) for branch in branches]
        node = cls(value, given)
        given.append(cls(0))
        return values(node)

    def grows(tree, branch):
        node = grown(tree)
        node.grow(grown(branch))
        return seen(acyclic(node))

    def paths_after_growing(tree, branch):
        node = grown(tree)
        node.grow(grown(branch))
        return paths(node)

    def grows_after_a_map(tree, branch):
        node = grown(tree)
        new = jax.tree.map(triple, node)
        new.grow(grown(branch))
        return {"mapped and grown": values(new), "the old one": values(node)}

    def are_lists(value, branch):
        new, growing = cls(value), cls(value, [cls(branch)])
        growing.grow(cls(branch))
        acyclic([new, growing])
        forks = new, growing, jax.tree.map(triple, new), jax.tree.map(triple, growing)
        return [isinstance(each.branches, list) for each in forks]

    def nested(depth):
        """Draw a tree of tuples."""
        count = int(rng.integers(1, 3)) if depth else 0
        return (number(rng), *(nested(depth - 1) for _ in range(count)))

    def leaf():
        return (number(rng),)

    one, two = sorted_words(rng, 2)
    said = "Forks are written as tuples here: (value, branch, branch, …). "
    same = leaf()
    trees = [
        (number(rng), leaf()),
        leaf(),
        (number(rng), leaf(), leaf()),
        (number(rng), leaf(), leaf(), leaf(), leaf()),
        (number(rng), (number(rng), leaf())),
        ({two: number(rng), one: number(rng)}, leaf()),
        (None, leaf()),
        (None, leaf(), leaf()),
        (0, ("",)),
        ([number(rng), number(rng)], ((),)),
        (number(rng), same, same),
    ]
    trees += [(number(rng), nested(2), nested(1)) for _ in range(2 + rng.integers(3))]
    cases = []
    for call, text in (
        (path_texts, "The paths:"),
        (leaves, "The leaves:"),
        (mapped, f"A map with {TRIPLED}:"),
    ):
        some = trees if call is not leaves else trees[:6]
        cases += [Case(call, *tree, note=said + text) for tree in some]
    for tree in varied(rng):
        note = said + f"A map with {TRIPLED}:"
        cases.append(Case(mapped, tree, leaf(), note=note))
    note = said + "The value of this fork is a fork itself. "
    for call, text in ((path_texts, "The paths:"), (mapped, f"A map with {TRIPLED}:")):
        for tree in ((leaf(),), ((number(rng), leaf()), leaf())):
            cases.append(Case(in_a_fork(call), *tree, note=note + text))
    note = said + "One map adds these two:"
    for pair in (
        ((number(rng), leaf()), (number(rng), leaf())),
        ((number(rng), (number(rng), leaf())), (number(rng), (number(rng), leaf()))),
    ):
        cases.append(Case(added, *pair, note=note))
    note = said + "Which of the others have the same structure as the first?"
    unlike = (leaf, lambda: (1, leaf(), leaf()), lambda: (1, (2, leaf())), lambda: (None, leaf()))
    others = mixed(rng, lambda: (number(rng), leaf()), lambda: unlike[rng.integers(4)]())
    cases.append(Case(same_structures, (number(rng), leaf()), others, note=note))
    note = "Two new forks of the first two values. The first grows branches of the other values. "
    note += "Then a third fork is made. The values of their branches:"
    for count in (1, 2):
        branches = numbers(rng, count)
        cases.append(Case(two_growing, *numbers(rng, 2), branches, note=note))
    note = "`Fork(value, branches)` gets a value and a list of branches with the other values. "
    grow = "Then the fork grows a branch of value 0. What the list and the fork hold:"
    append = "Then the caller puts one more into the list. What the fork holds:"
    for call, text in ((callers_list, grow), (list_that_changes, append)):
        for count in (2, 3):
            inputs = numbers(rng, count)
            cases.append(Case(call, *inputs, note=note + text))
    note = said + "The first fork grows the second as a branch. "
    for call, text in ((grows, "Then it is:"), (paths_after_growing, "Its paths:")):
        for tree in ((number(rng), leaf()), (number(rng), (number(rng), leaf()), leaf())):
            inputs = tree, nested(1)
            cases.append(Case(call, *inputs, note=note + text))
    note = said + f"A map with {TRIPLED} over the first; what it gives grows the second as a "
    note += "branch. The values of the branches:"
    for tree in ((number(rng), leaf()), leaf(), (number(rng), leaf(), leaf())):
        cases.append(Case(grows_after_a_map, tree, leaf(), note=note))
    note = "A fork of the first value, and one with a branch of the second that grows another. Are "
    note += f"their branches a list? And those of what a map with {TRIPLED} gives?"
    for _ in range(2):
        cases.append(Case(are_lists, *numbers(rng, 2), note=note))
    for put, text in ((as_text, "a text"), (lambda _: None, "`None`")):
        note = said + f"JAX rebuilds the fork with {text} in the place of each child:"
        for tree in ((number(rng), leaf()), (number(rng), leaf(), (number(rng), leaf()))):
            cases.append(Case(rebuilt(put), *tree, note=note))
    note = said + "What a jitted function that returns it gives, as shapes:"
    for tree in ((row(rng), (row(rng),)), (row(rng),)):
        cases.append(Case(in_jit, *tree, note=note))
    yield from shuffled(rng, cases)


# The exercises that stand in the lesson.


@check
def affine(cls, rng):
    """Two children in order; `act` in aux_data, and back from there."""
    new = making(cls)

    def leaves(weight, bias, act):
        return jax.tree.leaves(new(weight, bias, act))

    def children(weight, bias, act):
        layer = new(weight, bias, act)
        return jax.tree.leaves(layer, is_leaf=lambda node: node is not layer)

    def attributes(node):
        return parts(node, cls, "weight", "bias", "act")

    def mapped(weight, bias, act):
        return attributes(jax.tree.map(triple, new(weight, bias, act)))

    def rebuilt(first, second, act):
        structure = jax.tree.structure(new(1, 2, act))
        return attributes(jax.tree.unflatten(structure, [first, second]))

    def same_structures(act, others):
        structure = jax.tree.structure(new(1, 2, act))
        return [jax.tree.structure(new(*other)) == structure for other in others]

    word, other = random_words(rng, 2)
    layers = [
        numbers(rng, 2),
        (rows(rng), row(rng)),
        (number(rng), None),
        (number(rng), [row(rng)]),
    ]
    note = "The inputs are `weight`, `bias` and `act`. The leaves of the layer:"
    cases = [Case(leaves, *each, word, note=note) for each in layers]
    note = "The inputs are `weight`, `bias` and `act`. The children of the layer:"
    cases += [Case(children, *each, word, note=note) for each in layers]
    note = f"The inputs are `weight`, `bias` and `act`. The layer after a map with {TRIPLED}:"
    cases += [Case(mapped, *each, word, note=note) for each in layers]
    cases += [Case(mapped, tree, number(rng), other, note=note) for tree in varied(rng)]
    note = "JAX rebuilds a layer with this `act`, and puts these two in as `weight` and `bias`:"
    for pair in (numbers(rng, 2), (word, None), ([number(rng)], (number(rng), {}))):
        cases.append(Case(rebuilt, *pair, other, note=note))
    note = "The `act` of a layer, then `weight`, `bias` and `act` of other layers. Which of them "
    note += "have the same structure as the first?"
    for _ in range(2):
        others = mixed(rng, lambda: [*numbers(rng, 2), word], lambda: [*numbers(rng, 2), other], 5)
        cases.append(Case(same_structures, word, others, note=note))
    yield from shuffled(rng, cases)


@check
def deque_node(flatten, unflatten, rng):
    """The items in order as children; `maxlen` in aux_data; a new deque from the two."""

    def children(items, maxlen):
        return list(flatten(deque(items, maxlen))[0])

    def attributes(made):
        if type(made) is not deque:
            return {"class": type(made).__name__}
        return {"items": list(made), "maxlen": made.maxlen}

    def rebuild(given, function):
        parts, aux_data = flatten(given)
        return unflatten(aux_data, tuple(function(child) for child in parts))

    def mapped(items, maxlen):
        return attributes(rebuild(deque(items, maxlen), triple))

    def grown(items, maxlen, more):
        made = rebuild(deque(items, maxlen), triple)
        made.append(more)
        return attributes(made)

    def afterwards(items, maxlen):
        given = deque(items, maxlen)
        rebuild(given, triple)
        return attributes(given)

    def same_aux_data(maxlen, others):
        _, aux_data = flatten(deque([1, 2], maxlen))
        return [flatten(deque(items, length))[1] == aux_data for items, length in others]

    sizes = [(2, 3), (3, 3), (1, None), (0, 2), (4, None)]
    deques = [(numbers(rng, count), maxlen) for count, maxlen in shuffled(rng, sizes)]
    said = "The inputs are the items and `maxlen` of a deque. "
    cases = [Case(children, *each, note=said + "Its children:") for each in deques]
    note = said + "The deque that unflatten makes of three times each child:"
    cases += [Case(mapped, *each, note=note) for each in deques]
    note = said + "The same, after an append of the last input to the new deque:"
    for count, maxlen in ((3, 3), (2, 2), (2, None)):
        cases.append(Case(grown, numbers(rng, count), maxlen, number(rng), note=note))
    note = said + "The deque itself, after it was flattened:"
    cases += [Case(afterwards, *each, note=note) for each in deques[:2]]
    note = (
        "The `maxlen` of a deque, then items and `maxlen` of others. Which of them have the same "
    )
    note += "aux_data?"
    for _ in range(2):
        others = mixed(rng, lambda: [numbers(rng, 2), 3], lambda: [numbers(rng, 2), 4], 5)
        cases.append(Case(same_aux_data, 3, others, note=note))
    yield from shuffled(rng, cases)


@check
def span(cls, rng):
    """A caller's values are checked, before and after a rebuild; what JAX puts in is not."""
    new = making(cls)

    def attributes(node):
        return parts(node, cls, "low", "high")

    def made(low, high):
        return attributes(new(low, high))

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

    def rebuilt(first, second):
        structure = jax.tree.structure(new(1, 2))
        return attributes(jax.tree.unflatten(structure, [first, second]))

    def mapped(low, high):
        return attributes(jax.tree.map(operator.neg, new(low, high)))

    def in_jit(low, high):
        return attributes(traced(lambda node: node, new(low, high)))

    def in_grad(low, high):
        return attributes(traced(jax.grad(lambda node: node.low), new(low, high)))

    def rising():
        return sorted(numbers(rng, 2))

    def falling():
        return rising()[::-1]

    note = "The inputs are `low` and `high`. The attributes of the new span:"
    cases = [Case(made, *rising(), note=note), Case(made, *falling(), note=note)]
    note = "Pairs of `low` and `high`. For which of them does `Span(low, high)` raise ValueError?"
    cases += [Case(refused, mixed(rng, rising, falling, 5), note=note) for _ in range(2)]
    note = "A span was mapped to strings. " + note
    cases.append(Case(refused_afterwards, mixed(rng, rising, falling, 5), note=note))
    note = "The inputs are `low` and `high`. The span after a map with `lambda leaf: -leaf`:"
    cases += [Case(mapped, *rising(), note=note) for _ in range(2)]
    note = "JAX rebuilds a span with these two. Its `low` and `high`:"
    word, other = random_words(rng, 2)
    pairs = [rising(), falling(), (word, other), (None, number(rng)), (number(rng), None)]
    pairs += [(tree, number(rng)) for tree in varied(rng)]
    for pair in pairs:
        cases.append(Case(rebuilt, *pair, note=note))
    note = "What a jitted function that returns the span gives, as shapes:"
    cases.append(Case(in_jit, *map(float, rising()), note=note))
    note = "The gradient of `low`, as shapes:"
    cases.append(Case(in_grad, *map(float, rising()), note=note))
    # Nothing was rebuilt before the first case, so it shows what a rebuild changes for the others.
    yield cases.pop(2)
    yield from shuffled(rng, cases)


@check
def count(cls, rng):
    """A new state, one step on, made by one jitted method; the old one as it was."""

    def attributes(node):
        if type(node) is not cls:
            return {"class": type(node).__name__}
        return as_jax({"params": node.params, "step": plain(node.step)})

    def counted(params, step):
        return attributes(cls(params, step).count())

    def counted_twice(params, step):
        return attributes(cls(params, step).count().count())

    def old_state(params, step):
        state = cls(params, step)
        state.count()
        return attributes(state)

    def jitted(params, step):
        return is_one_program(lambda state: state.count(), cls(params, step))

    cases = []
    for call, text in (
        (counted, "The state that `count()` returns:"),
        (counted_twice, "The state that `count().count()` returns:"),
        (old_state, "The old state, after `state.count()`:"),
    ):
        note = "The inputs are `params` and `step`. " + text
        for step in (0, number(rng)):
            cases.append(Case(call, {"w": row(rng)}, step, note=note))
    means = {"": "`count` is not jitted any more. Keep `@jax.jit` above it."}
    note = "Is `count` one jitted method?"
    for _ in range(2):
        cases.append(Case(jitted, {"w": row(rng)}, number(rng), note=note, if_wrong=means))
    yield from shuffled(rng, cases)


if __name__ == "__main__":
    from pytree_course.cli.check_script import main

    main(__file__)
