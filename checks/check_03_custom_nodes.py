"""Checks of lesson 3: python checks/check_03_custom_nodes.py exercises/03_custom_nodes.ipynb"""

import operator
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr

from pytree_course.checking import (
    Case,
    as_jax,
    check,
    is_one_program,
    matrix,
    prediction_cases,
    random_words,
    vector,
)


@jax.tree_util.register_dataclass
@dataclass
class TrainState:
    """A node with an int leaf, as train states have it."""

    params: Any
    step: int


def number(rng):
    return int(rng.integers(2, 100))


def row(rng):
    """Draw an array of NumPy: a map over it compiles nothing."""
    return rng.integers(1, 10, 2).astype(np.float32)


def plain(value):
    """Let a scalar of any library count as Python's own number; NumPy's arrays count as JAX's."""
    if isinstance(value, (np.generic, np.ndarray, jax.Array)) and value.ndim == 0:
        return value.item() if not isinstance(value, jax.core.Tracer) else value
    return as_jax(value)


def paths(tree, **style):
    return [keystr(path, **style) for path, _ in jax.tree.leaves_with_path(tree)]


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


@check
def register_linear(answer, rng):
    """Two children in order, themselves; the way back, in map, in jit and within other trees."""

    def linear(weight, bias):
        class Linear:
            def __init__(self, weight, bias):
                self.weight, self.bias = weight, bias

        answer(Linear)
        return Linear(weight, bias), Linear

    def leaves(weight, bias):
        return jax.tree.leaves(linear(weight, bias)[0])

    def count_children(weight, bias):
        return len(jax.tree.structure(linear(weight, bias)[0]).children())

    def mapped(weight, bias):
        node, cls = linear(weight, bias)
        return parts(jax.tree.map(triple, node), cls, "weight", "bias")

    def added(weight, bias):
        node, cls = linear(weight, bias)
        return parts(jax.tree.map(operator.add, node, node), cls, "weight", "bias")

    def in_jit(weight, bias):
        node, cls = linear(weight, bias)
        return parts(traced(lambda layer: layer, node), cls, "weight", "bias")

    def in_a_list(weight, bias):
        node, cls = linear(weight, bias)
        first, second = jax.tree.map(triple, [node, cls(bias, weight)])
        return [parts(each, cls, "weight", "bias") for each in (first, second)]

    said = "The inputs are the weight and the bias of an object. "
    note = said + "Its leaves:"
    yield Case(leaves, 1, 2, note=note)
    yield Case(leaves, np.stack([row(rng), row(rng)]), row(rng), note=note)
    yield Case(leaves, {"a": number(rng), "b": number(rng)}, None, note=note)
    yield Case(count_children, 1, 2, note=said + "How many children has it?")
    note = said + "`jax.tree.map` with `lambda leaf: 3 * leaf`, and the attributes of the result:"
    yield Case(mapped, 1, 2, note=note)
    yield Case(mapped, row(rng), None, note=note)
    yield Case(mapped, np.stack([row(rng), row(rng)]), row(rng), note=note)
    note = said + "Every leaf added to itself by `jax.tree.map` over two trees:"
    yield Case(added, 1.5, number(rng), note=note)
    note = said + "What a jitted function that returns the object gives, as shapes:"
    yield Case(in_jit, row(rng), row(rng), note=note)
    note = (
        said + "A map over a list of two such objects; in the second, bias and weight are swapped:"
    )
    yield Case(in_a_list, {"a": number(rng)}, [number(rng), number(rng)], note=note)


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

    def program(x, *fields):
        return is_one_program(predict, cls(*fields), x)

    def same_structure(one, other):
        return jax.tree.structure(cls(*one)) == jax.tree.structure(cls(*other))

    said = "The inputs are the fields of a state. "
    note = said + "Its leaves:"
    yield Case(leaves, 1, 2, 3, note=note)
    yield Case(leaves, matrix(rng), vector(rng), number(rng), note=note)
    yield Case(mapped, 1, 2, 3, note=said + "A map with `lambda leaf: 3 * leaf`:")
    note = said + "What `zeroed` makes of it:"
    yield Case(zeros, vector(rng), None, 3, note=note)
    yield Case(zeros, matrix(rng), vector(rng), number(rng), note=note)
    note = "The inputs are the fields of two states. Do these have the same structure?"
    yield Case(same_structure, (1, 2, 3), (1, 2, 3 + number(rng)), note=note)
    said = "The inputs are `x` and the fields of a state. "
    note = said + "Is `predict` one jitted program?"
    yield Case(program, vector(rng), matrix(rng), vector(rng), 3, note=note)
    note = said + "What `predict` returns:"
    for _ in range(2):
        yield Case(predicted, vector(rng), matrix(rng), vector(rng), number(rng), note=note)


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


# Each call makes a new class, for JAX registers a class once.
def dense_class():
    @dataclass
    class Dense:
        weight: Any
        bias: Any
        activation: str = "relu"

    return Dense


def head_class():
    @dataclass
    class Head(dense_class()):
        classes: Any = ()

    return Head


def scaled_class():
    @dataclass
    class Scaled:
        value: Any
        unit: str
        label: str = field(init=False)

        def __post_init__(self):
            self.label = f"in {self.unit}"

    return Scaled


@check
def register_fields(answer, rng):
    """Each field of the constructor in one list; order, inheritance and defaults; init=False."""

    def registered(make, static):
        cls = make()
        answer(cls, static)
        return cls

    def look(make, static):
        def leaf_paths(*values):
            return paths(registered(make, static)(*values))

        return leaf_paths

    def leaves(make, static):
        return lambda *values: jax.tree.leaves(registered(make, static)(*values))

    def mapped(make, static):
        def attributes(*values):
            cls = registered(make, static)
            node = jax.tree.map(triple, cls(*values))
            return vars(node) if type(node) is cls else node

        return attributes

    def returned(make, static):
        def is_the_class():
            cls = make()
            return answer(cls, static) is cls

        return is_the_class

    def two(make, static):
        def add(one, other):
            cls = registered(make, static)
            node = jax.tree.map(operator.add, cls(1, 2, one), cls(3, 4, other))
            return vars(node) if type(node) is cls else node

        return add

    said = "The fields: `weight`, `bias`, and `activation` with the default `'relu'`. "
    word, other = random_words(rng, 2)
    none: list[str] = []
    yield Case(
        returned(dense_class, none), note="Nothing is static. Does it return the class it got?"
    )
    note = said + "Nothing is static. The paths of an object made of these values:"
    yield Case(look(dense_class, none), 1, 2, 3, note=note)
    note = said + "Only `activation` is static. "
    static = ["activation"]
    yield Case(look(dense_class, static), 1, 2, word, note=note + "The paths:")
    yield Case(leaves(dense_class, static), row(rng), number(rng), word, note=note + "Leaves:")
    note += "The attributes after a map with `lambda leaf: 3 * leaf`:"
    yield Case(mapped(dense_class, static), number(rng), number(rng), word, note=note)
    note = said + "The static ones are `bias` and `activation`, given as a set. The attributes "
    note += "after a map with `lambda leaf: 3 * leaf`:"
    yield Case(mapped(dense_class, {"activation", "bias"}), number(rng), word, other, note=note)
    note = said + "`activation` is static. The map adds two objects, `Dense(1, 2, …)` and "
    note += "`Dense(3, 4, …)`, with these activations:"
    yield Case(two(dense_class, ("activation",)), word, word, note=note)
    yield Case(two(dense_class, ("activation",)), word, other, note=note)
    note = (
        "The class inherits these three fields and adds `classes`. `activation` is static. Paths:"
    )
    yield Case(look(head_class, static), 1, 2, word, [number(rng), 4], note=note)
    note = "The fields: `value`, `unit` (static), and `label` with `init=False`, which "
    note += "`__post_init__` makes of the unit. "
    static = ["unit"]
    yield Case(look(scaled_class, static), {"w": 1}, "metre", note=note + "The paths:")
    note += "The attributes after a map with `lambda leaf: 3 * leaf`:"
    yield Case(mapped(scaled_class, static), {"w": number(rng), "b": 1}, word, note=note)


@check
def readable_paths(cls, rng):
    """Keys as in a dict, in the order given; the names survive and are part of the structure."""

    def path_texts(names, values):
        return paths(cls(names, values))

    def simple_paths(names, values):
        return paths(cls(names, values), simple=True, separator="/")

    def leaves(names, values):
        return jax.tree.leaves(cls(names, values))

    def leaves_with_path(names, values):
        return [leaf for _, leaf in jax.tree.leaves_with_path(cls(names, values))]

    def seen(node):
        if type(node) is not cls:
            return node
        return {"names": list(node.names), "values": list(node.values)}

    def mapped(names, values):
        return seen(jax.tree.map(triple, cls(names, values)))

    def added(names, other):
        return seen(jax.tree.map(operator.add, cls(names, [1, 2]), cls(other, [3, 4])))

    def in_jit(names, values):
        return seen(traced(lambda layers: layers, cls(names, values)))

    one, two, three = random_words(rng, 3)
    yield Case(path_texts, ["stem"], [1], note="The paths:")
    yield Case(path_texts, ["stem", "body"], [{"w": 1}, 2], note="The paths:")
    note = "The paths in the simple style, with `separator='/'`:"
    yield Case(simple_paths, ["stem", "body"], [{"w": 1}, [2, 3]], note=note)
    yield Case(leaves, ["stem", "body"], [1, 2], note="The leaves:")
    yield Case(leaves_with_path, ["stem", "body"], [1, 2], note="The leaves that come with paths:")
    note = "The names and values after a map with `lambda leaf: 3 * leaf`:"
    yield Case(mapped, ["stem", "body"], [1, 2], note=note)
    note = "Layers with these names and the values 1, 2 and 3, 4, added by one map:"
    yield Case(added, ["stem", "body"], ["stem", "body"], note=note)
    yield Case(added, ["stem", "body"], ["stem", "head"], note=note)
    yield Case(mapped, [], [], note="No layers at all: names and values after a map.")
    note = "What a jitted function that returns them gives, as shapes:"
    yield Case(in_jit, [two, one], [vector(rng), {"w": matrix(rng)}], note=note)
    # In descending order, so that sorting never goes unnoticed.
    names = sorted([one, two, three], reverse=True)
    for _ in range(2):
        values = [number(rng), {"w": number(rng), "b": None}, (number(rng), [number(rng)])]
        order = rng.permutation(3)
        shuffled = [values[place] for place in order]
        yield Case(path_texts, names, shuffled, note="The paths:")
        yield Case(mapped, names, shuffled, note=note)


@check
def normal(cls, rng):
    """The caller's values are checked, now and later; what JAX puts in is not."""

    def seen(node):
        return as_jax(parts(node, cls, "mean", "std", "name"))

    def made(mean, std, name):
        return seen(cls(mean, std, name))

    def mapped(function):
        return lambda mean, std, name: seen(jax.tree.map(function, cls(mean, std, name)))

    def made_after_a_map(mean, std, name):
        jax.tree.map(as_text, cls(1.0, 2.0, name))
        return seen(cls(mean, std, name))

    def mapped_to_none(mean, std, name):
        return seen(jax.tree.map(lambda leaf: None, cls(mean, std, name)))

    def in_jit(mean, std, name):
        return seen(traced(lambda node: node, cls(mean, std, name)))

    def added(mean, std, name, other):
        return seen(jax.tree.map(operator.sub, cls(mean, std, name), cls(std, std, other)))

    def ones(leaf):
        return 1

    word, other = random_words(rng, 2)
    note = "What the constructor makes of these:"
    yield Case(made, 1.0, 2.0, "x", note=note)
    yield Case(made, [1.0, 2.0], np.array([0.5, 2.0], np.float32), word, note=note)
    yield Case(made, 1.0, -2.0, "x", note=note)
    yield Case(made, 1.0, 0.0, "x", note=note)
    yield Case(made, vector(rng), 2.0, "x", note=note)
    said = "The attributes after `jax.tree.map` with "
    yield Case(mapped(triple), 1.0, 2.0, "x", note=said + "`lambda leaf: 3 * leaf`:")
    note = said + "`lambda leaf: -leaf`:"
    yield Case(mapped(operator.neg), 1.0, 2.0, "x", note=note)
    yield Case(mapped(operator.neg), vector(rng), vector(rng), word, note=note)
    yield Case(mapped(as_text), 1.0, 2.0, "x", note=said + "`lambda leaf: 'a text'`:")
    yield Case(mapped(ones), 1.0, 2.0, "x", note=said + "`lambda leaf: 1`, a whole number:")
    yield Case(mapped_to_none, 1.0, 2.0, word, note=said + "`lambda leaf: None`:")
    note = "A map that subtracts `Normal(std, std, name)`:"
    yield Case(added, vector(rng), vector(rng), word, word, note=note)
    note = "What a jitted function that returns it gives, as shapes:"
    yield Case(in_jit, vector(rng), vector(rng), word, note=note)
    note = "One was made and mapped to texts before. Now the constructor gets these:"
    yield Case(made_after_a_map, 1.0, -float(number(rng)), other, note=note)


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
