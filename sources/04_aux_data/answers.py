# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---


# %% exercise="sort_fields" starter=True
fields = {
    "A": ...,  # weights, a float32 matrix that is trained
    "B": ...,  # the activation, a function such as jax.nn.relu
    "C": ...,  # the learning rate, a float; you want to try fifty of them
    "D": ...,  # the number of blocks, an int; a Python `for` loop runs over range(blocks)
    "E": ...,  # the number of steps so far, an int; each call adds 1
    "F": ...,  # the layer's name, a text
    "G": ...,  # the mean of all batches so far, an array: not trained, new after each call
    "H": ...,  # a table of 1,000 numbers, an array; it never changes
    "I": ...,  # use_bias, a bool; a Python `if` asks for it
    "J": ...,  # a random key, made by jax.random.key
}


# %% exercise="sort_fields" variant="by_sets"
fields = {name: "leaf" if name in "ACEGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" variant="in_capitals"
fields = dict.fromkeys("ACEGHJ", "Leaf") | dict.fromkeys("BDFI", " AUX ")


# %% exercise="sort_fields" misconception="constant_arrays_are_aux" covers="M19" section="arrays-in-aux-data"
"""That an array never changes does not make it fit for aux_data. jit compares aux_data with `==`, and for two arrays Python gives an array, not True or False: the second call raises."""
fields = {name: "leaf" if name in "ACEGJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="hyperparameters_are_aux" covers="M22" section="hyperparameters-aux-or-leaf"
"""In aux_data, each of its fifty values is another type of node to jit, and so another trace and another compilation. A hyperparameter need not be a part of the program."""
fields = {name: "leaf" if name in "AEGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="counters_are_aux" covers="M22" section="a-counter-in-aux-data"
"""A plain int that is not trained, but new at each call. A new value in aux_data is a new trace, so training would compile at every step."""
fields = {name: "leaf" if name in "ACGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="ints_stay_ints" covers="M23" section="ints-that-become-tracers"
"""As a leaf, an int does not go through jit as it is. Each leaf becomes a tracer there, and Python's `range` cannot use a tracer: it has no value yet."""
fields = {name: "aux" if name in "BFI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="bools_stay_bools" covers="M23" section="ints-that-become-tracers"
"""As a leaf, a bool does not go through jit as it is. Each leaf becomes a tracer there, and a tracer is neither true nor false while Python's `if` asks for it."""
fields = {name: "aux" if name in "BDF" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="functions_are_leaves"
"""Line B: as a leaf, the activation becomes an argument of a compiled program. Such a program takes arrays and numbers; for a function among the leaves, jit raises `TypeError`."""
fields = {name: "aux" if name in "DFI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="texts_are_leaves"
"""Line F: a text may stand in a tree as a leaf, and `jax.tree.map` takes it. But under jit leaves become arguments of a compiled program, and there a text raises `TypeError`."""
fields = {name: "aux" if name in "BDI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="statistics_are_aux"
"""It gets no gradient, but it is new after each call, and a new value in aux_data is a new trace. Being a leaf means being traced, so that the value may be another one at each call."""
fields = {name: "leaf" if name in "ACEHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="keys_are_aux"
"""A key looks like a setting, but JAX holds it as an array, and it should be a new one for each draw. In aux_data, arrays cannot be compared."""
fields = {name: "leaf" if name in "ACEGH" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="only_the_trained_are_leaves"
"""It is not trained by gradients, but being a leaf does not mean being trained: it means being traced, so that the value may be another one at each call."""
fields = {name: "leaf" if name in "AH" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="weights_are_aux"
"""In aux_data the weights would be a part of the program: `jax.grad` gives no gradient for them, and jit cannot compare arrays with `==`."""
fields = {name: "leaf" if name in "CEGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="dense" starter=True
class Dense:
    """A layer: `activation(x @ w + b)`.

    >>> layer = Dense(np.ones((2, 2)), np.zeros(2), np.abs)
    >>> layer(np.array([1.0, -3.0])).tolist()
    [2.0, 2.0]
    >>> len(jax.tree.leaves(layer))
    2
    """

    def __init__(self, w, b, activation):
        raise NotImplementedError  # your answer goes here, in place of this line


# %% exercise="dense" variant="by_class_decorator"
@register_pytree_node_class
class Dense:
    def __init__(self, w, b, activation):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(jnp.dot(x, self.w) + self.b)

    def tree_flatten(self):
        return [self.b, self.w], self.activation

    @classmethod
    def tree_unflatten(cls, activation, children):
        b, w = children
        return cls(w, b, activation)


# %% exercise="dense" variant="static_fields"
@register_dataclass
@dataclass(frozen=True)
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object = field(metadata=dict(static=True))

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" variant="with_equinox"
import equinox as eqx


class Dense(eqx.Module):
    w: jax.Array
    b: jax.Array
    activation: object = eqx.field(static=True)

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="the_activation_is_a_leaf" section="two-kinds-of-field"
"""Your layer hands its activation over as a leaf. Leaves become arguments of the compiled program: jit raises `TypeError` for a function among them, and `jax.tree.map` changes it like an array."""
@partial(register_dataclass, data_fields=["w", "b", "activation"], meta_fields=[])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="not_registered" section="two-kinds-of-field"
"""To JAX your layer is one opaque leaf: it hands the whole object to the function that you map, and jit refuses it. A dataclass alone says nothing to JAX."""
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="arrays_are_aux" covers="M19" section="arrays-in-aux-data"
"""Your layer has too few leaves: an array seems to be in aux_data. jit compares aux_data with `==`, which for arrays gives an array, so a second layer makes it raise."""
@partial(register_dataclass, data_fields=[], meta_fields=["w", "b", "activation"])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="aux_is_lost"
"""Your layer works until it is rebuilt: after `jax.tree.map` its activation is gone. What is neither among the children nor in aux_data does not reach the new object."""
@register_pytree_node_class
class Dense:
    def __init__(self, w, b, activation=lambda x: x):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)

    def tree_flatten(self):
        return (self.w, self.b), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# %% exercise="dense" misconception="aux_is_not_unpacked"
"""After a rebuild, your layer fails with a `TypeError`. Perhaps its activation is a tuple then. Unflatten gets first the aux_data, then the children, just as flatten returned them: a tuple stays a tuple until you take it apart."""
@register_pytree_node_class
class Dense:
    def __init__(self, w, b, activation):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)

    def tree_flatten(self):
        return (self.w, self.b), (self.activation,)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


# %% exercise="dense" misconception="a_new_function_each_time" section="never-equal"
"""Two layers with the same activation do not share a trace. Perhaps your aux_data holds a function that is made anew. Functions are equal only if they are one object, whatever they do."""
@register_pytree_node_class
class Dense:
    def __init__(self, w, b, activation):
        self.w, self.b, self.activation = w, b, lambda x: activation(x)

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)

    def tree_flatten(self):
        return (self.w, self.b), self.activation

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


# %% exercise="dense" misconception="activation_is_hidden_from_jit" section="part-of-the-type"
"""Layers with different activations share one trace with you, so one of them runs the other's program. jit tells nodes apart by the aux_data and by its `==`, and yours looks the same."""
class Same:
    def __init__(self, function):
        self.function = function

    def __eq__(self, other):
        return isinstance(other, Same)

    def __hash__(self):
        return 0


@register_pytree_node_class
class Dense:
    def __init__(self, w, b, activation):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)

    def tree_flatten(self):
        return (self.w, self.b), Same(self.activation)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux.function)


# %% exercise="dense" misconception="bias_after_the_activation"
"""Wherever `b` is not zero, your result is wrong. Perhaps you add it to what the activation gives. In the formula, it is inside of the parentheses."""
@partial(register_dataclass, data_fields=["w", "b"], meta_fields=["activation"])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w) + self.b


# %% exercise="dense" misconception="the_product_the_other_way_round"
"""Your result is wrong where `w` is not symmetric, or `x` has several rows. A product of matrices depends on the order of its two sides. Compare yours with the formula."""
@partial(register_dataclass, data_fields=["w", "b"], meta_fields=["activation"])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(self.w @ x + self.b)


# %% exercise="dense" misconception="children_change_places"
"""Your layer works until it is rebuilt: then its weights and its bias have changed places. Unflatten gets the children in the order in which flatten gave them."""
@register_pytree_node_class
class Dense:
    def __init__(self, w, b, activation):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)

    def tree_flatten(self):
        return (self.b, self.w), self.activation

    @classmethod
    def tree_unflatten(cls, activation, children):
        return cls(*children, activation)


# %% exercise="dense" misconception="the_bias_is_aux" covers="M19" section="arrays-in-aux-data"
"""Your layer has one leaf, the weights: its bias is not among them. An array in aux_data is compared with `==`, which gives an array, so a second layer makes jit raise."""
@partial(register_dataclass, data_fields=["w"], meta_fields=["b", "activation"])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="the_name_of_the_function" section="a-stale-answer"
"""Layers with two different activations of the same name share a trace with you, so one of them runs the other's program. Perhaps your aux_data holds the name. A name is not the function: each lambda has the same one."""
ACTIVATIONS = {}


@register_pytree_node_class
class Dense:
    def __init__(self, w, b, activation):
        self.w, self.b, self.activation = w, b, activation

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)

    def tree_flatten(self):
        name = self.activation.__name__
        ACTIVATIONS[name] = self.activation
        return (self.w, self.b), name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, ACTIVATIONS[name])


# %% exercise="dense" equivalent="a list of children, or of names to unpack, is as good as a tuple"
# by_class_decorator: (w, b, activation) → [w, b, activation]
# by_class_decorator: [self.b, self.w] → (self.b, self.w)


# %% exercise="dense" equivalent="the prompt does not ask for a frozen class"
# static_fields: dataclass(frozen=True) → dataclass()


# %% exercise="predict_traces" starter=True
predictions = {
    "A": ...,  # f(Scaled(one, 2)); f(Scaled(5 * one, 2))
    "B": ...,  # f(Scaled(one, 2)); f(Scaled(one, 3))
    "C": ...,  # for factor in [2, 3, 2, 3]: f(Scaled(one, factor))
    "D": ...,  # f(Scaled(one, 2)); f(Scaled(one, 2.0))
    "E": ...,  # for step in range(5): f(Scaled(one, step))
    "F": ...,  # for _ in range(3): f(Scaled(one, lambda x: x + 1))
    "G": ...,  # f(Scaled(one, float("nan"))); f(Scaled(one, float("nan")))
    "H": ...,  # for n in [2, 3, 2]: f(Scaled(np.ones(n), 2))
    "I": ...,  # for x in [1, 2, 2.5]: f(Scaled(x, 2))
    "J": ...,  # for n in [3, 3]: f(Scaled(one, tuple(range(n))))
}


# %% exercise="predict_traces" variant="counted_by_running_them"
@partial(register_dataclass, data_fields=["x"], meta_fields=["factor"])
@dataclass
class Scaled:
    x: object
    factor: object


def count(nodes):
    traced = []

    def f(node):
        traced.append(node)
        return node.x

    jitted = jax.jit(f)
    for node in nodes:
        jitted.trace(node)  # it asks the same cache as a call does, and compiles nothing
    return len(traced)


one = np.ones(2)
predictions = {
    "A": count([Scaled(one, 2), Scaled(5 * one, 2)]),
    "B": count([Scaled(one, 2), Scaled(one, 3)]),
    "C": count([Scaled(one, factor) for factor in [2, 3, 2, 3]]),
    "D": count([Scaled(one, 2), Scaled(one, 2.0)]),
    "E": count([Scaled(one, step) for step in range(5)]),
    "F": count([Scaled(one, lambda x: x + 1) for _ in range(3)]),
    "G": count([Scaled(one, float("nan")), Scaled(one, float("nan"))]),
    "H": count([Scaled(np.ones(n), 2) for n in [2, 3, 2]]),
    "I": count([Scaled(x, 2) for x in [1, 2, 2.5]]),
    "J": count([Scaled(one, tuple(range(n))) for n in [3, 3]]),
}


# %% exercise="predict_traces" variant="with_numpy_integers"
predictions = dict(zip("ABCDEFGHIJ", np.array([1, 2, 2, 1, 5, 3, 2, 2, 2, 1])))


# %% exercise="predict_traces" misconception="each_value_is_traced" section="two-kinds-of-field"
"""2 is one trace for each value of the leaf. The program is made for a shape and a dtype; the values are its input."""
predictions = dict(A=2, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="python_numbers_are_static" section="hyperparameters-aux-or-leaf"
"""3 is one trace for each value of `x`. A plain Python number is traced as an array is, when it is a leaf: its type counts, its value does not."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=3, J=1)


# %% exercise="predict_traces" misconception="aux_is_ignored" section="part-of-the-type"
"""1 would be right if only the leaf counted. But aux_data is a part of the node's structure, and the structure is a part of the key under which jit keeps its programs."""
predictions = dict(A=1, B=1, C=1, D=1, E=1, F=1, G=1, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="only_the_last_trace_is_kept" section="part-of-the-type"
"""4 would be right if a new trace replaced the old one. jit keeps them all: a factor that was seen before needs no trace."""
predictions = dict(A=1, B=2, C=4, D=1, E=5, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="old_shapes_are_forgotten" section="part-of-the-type"
"""3 would be right if jit had only its last trace at hand. It keeps them all: a shape that was seen before needs no trace."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=3, I=2, J=1)


# %% exercise="predict_traces" misconception="each_call_is_traced" section="part-of-the-type"
"""This is the number of calls. jit traces once for each key of its cache, and a call with a key that it has seen before uses the old trace."""
predictions = dict(A=2, B=2, C=4, D=2, E=5, F=3, G=2, H=3, I=3, J=2)


# %% exercise="predict_traces" misconception="types_in_aux_count" section="equality-and-hash"
"""2 is one trace for each type of the factor. For a leaf, int and float are two dtypes. aux_data has no dtype for JAX: it asks Python's `==` alone, and what that says about 2 and 2.0 counts."""
predictions = dict(A=1, B=2, C=2, D=2, E=5, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="a_counter_is_harmless" covers="M22" section="a-counter-in-aux-data"
"""1 would be right if the value of the counter did not count. In aux_data it is another type of node at each step."""
predictions = dict(A=1, B=2, C=2, D=1, E=1, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="equal_code_is_equal"
"""1 would be right if functions that do the same were equal. Python compares functions by identity, and each run of a `lambda` makes another object."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=1, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="nan_equals_nan"
"""1 would be right if the two were equal. They look the same in print, but ask Python's `==` about them, which is what JAX does."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=1, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="shapes_do_not_count" section="two-kinds-of-field"
"""1 would be right if the shape did not count. The values in an array may change freely, but a compiled program is made for one shape of each leaf."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=1, I=2, J=1)


# %% exercise="predict_traces" misconception="numbers_are_numbers" section="two-kinds-of-field"
"""1 would be right if all numbers were alike. A Python number as a leaf has a dtype for jit, as an array has: a program for whole numbers is no program for floats."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=1, J=1)


# %% exercise="predict_traces" misconception="compared_by_identity" section="equality-and-hash"
"""2 would be right if JAX asked whether the tuples are the same object. They are two, but JAX compares aux_data with `==`, and tuples are equal when their items are."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=2, J=2)


# %% exercise="step_counter" starter=True
@partial(register_dataclass, data_fields=["params"], meta_fields=["step", "name"])
@dataclass
class TrainState:
    """Parameters, how many steps were made, and a name."""

    params: dict
    step: int
    name: str

    def advance(self, grads):
        """Return the state after one step: each parameter minus its gradient."""
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return replace(self, params=params, step=self.step + 1)


# %% exercise="step_counter" variant="by_class_decorator"
@register_pytree_node_class
class TrainState:
    def __init__(self, params, step, name):
        self.params, self.step, self.name = params, step, name

    def advance(self, grads):
        params = {key: self.params[key] - grads[key] for key in self.params}
        return TrainState(params, 1 + self.step, self.name)

    def tree_flatten(self):
        return (self.step, self.params), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        step, params = children
        return cls(params, step, name)


# %% exercise="step_counter" variant="with_flax"
from flax import struct


@struct.dataclass
class TrainState:
    params: dict
    step: int
    name: str = struct.field(pytree_node=False)

    def advance(self, grads):
        params = jax.tree.map(jnp.subtract, self.params, grads)
        return self.replace(params=params, step=self.step + 1)


# %% exercise="step_counter" misconception="counter_in_aux" covers="M22"
"""Your states are right, but each step of a training is a trace of its own: the counter is still in aux_data. There a new number makes a new type of node."""
@partial(register_dataclass, data_fields=["params"], meta_fields=["step", "name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return replace(self, params=params, step=self.step + 1)


# %% exercise="step_counter" misconception="everything_is_a_leaf" section="two-kinds-of-field"
"""jit refuses your state with a `TypeError`. Perhaps all its fields are leaves now. Leaves become inputs of the compiled program, and a text cannot be one."""
@partial(register_dataclass, data_fields=["params", "step", "name"], meta_fields=[])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return replace(self, params=params, step=self.step + 1)


# %% exercise="step_counter" misconception="counter_is_dropped" section="two-kinds-of-field"
"""Under jit your counter starts again from 0 at each step. Perhaps it is neither a child nor in aux_data: then nothing carries it into the rebuilt object."""
@register_pytree_node_class
class TrainState:
    def __init__(self, params, step, name):
        self.params, self.step, self.name = params, step, name

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return TrainState(params, self.step + 1, self.name)

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(children[0], 0, name)


# %% exercise="step_counter" misconception="float_counter" section="ints-that-become-tracers"
"""Your counter turns into a float. Besides not being a whole number, it costs a second trace: the first call gets an int, all later ones get a float, which is another dtype."""
@partial(register_dataclass, data_fields=["params", "step"], meta_fields=["name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return replace(self, params=params, step=self.step + 1.0)


# %% exercise="step_counter" misconception="dtype_changes_at_the_first_step" section="hyperparameters-aux-or-leaf"
"""Your training is traced twice: once for its first step, once for all others. Perhaps the counter comes in as a Python int, and goes out with a fixed dtype of its own: to jit, two types."""
@partial(register_dataclass, data_fields=["params", "step"], meta_fields=["name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return replace(self, params=params, step=self.step + np.int32(1))


# %% exercise="step_counter" misconception="int_of_a_tracer" covers="M23" section="ints-that-become-tracers"
"""Your `advance` works without jit, and fails under it. Perhaps it makes a Python int of the counter. Under jit the counter is a tracer: it has a dtype, but no value that `int` could read."""
@partial(register_dataclass, data_fields=["params", "step"], meta_fields=["name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return replace(self, params=params, step=int(self.step) + 1)


# %% exercise="step_counter" misconception="name_is_dropped" section="part-of-the-type"
"""To jit, your states with two different names are the same, and share a trace. Perhaps the name is neither a child nor in aux_data: then nothing carries it into the rebuilt object."""
@register_pytree_node_class
class TrainState:
    def __init__(self, params, step, name="net"):
        self.params, self.step, self.name = params, step, name

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return TrainState(params, self.step + 1, self.name)

    def tree_flatten(self):
        return (self.params, self.step), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# %% exercise="step_counter" misconception="counter_is_hidden" covers="M21" section="a-stale-answer"
"""Your training needs one trace, but the counter does not count on. Perhaps its aux_data says it is equal to any other: then jit uses the first program again, with the first step inside."""
class Hidden:
    def __init__(self, step, name):
        self.step, self.name = step, name

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


@register_pytree_node_class
class TrainState:
    def __init__(self, params, step, name):
        self.params, self.step, self.name = params, step, name

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return TrainState(params, self.step + 1, self.name)

    def tree_flatten(self):
        return (self.params,), Hidden(self.step, self.name)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(children[0], aux.step, aux.name)


# %% exercise="step_counter" misconception="advance_changes_self"
"""Your `advance` changes the state that it is called on: after it, the old state has the new step. Under jit such a change is made to a copy, and lost."""
@partial(register_dataclass, data_fields=["params", "step"], meta_fields=["name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        self.params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        self.step = self.step + 1
        return self


# %% exercise="step_counter" misconception="arrays_are_changed_in_place"
"""After `advance`, the parameters in the old state are changed. Perhaps you subtract with `-=`: that writes into NumPy's array itself, and both states hold this array. A copy of the dict does not copy its arrays."""
@partial(register_dataclass, data_fields=["params", "step"], meta_fields=["name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        params = dict(self.params)
        for key in params:
            params[key] -= grads[key]
        return replace(self, params=params, step=self.step + 1)


# %% exercise="step_counter" misconception="starts_again_at_1"
"""After each step your counter is 1, whatever it was before. A new state does not know the old one's counter by itself."""
@partial(register_dataclass, data_fields=["params", "step"], meta_fields=["name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
        return TrainState(params, 1, self.name)


# %% exercise="step_counter" misconception="paired_by_position"
"""With several parameters, your `advance` subtracts the gradient of another one. Perhaps you go through the values of both dicts side by side. A dict keeps the order in which its keys were set, and equal keys may be in two orders."""
@partial(register_dataclass, data_fields=["params", "step"], meta_fields=["name"])
@dataclass
class TrainState:
    params: dict
    step: int
    name: str

    def advance(self, grads):
        pairs = zip(self.params.items(), grads.values())
        params = {name: p - g for (name, p), g in pairs}
        return replace(self, params=params, step=self.step + 1)


# %% exercise="step_counter" equivalent="a list of children, or of values to unpack, is as good as a tuple"
# by_class_decorator: (params, step, name) → [params, step, name]
# by_class_decorator: (self.step, self.params) → [self.step, self.params]


# %% exercise="hashable_config" starter=True
class Config:
    """How wide a network is, and the names of its layers.

    >>> Config(8, ["in", "out"]) == Config(8, ["in", "out"])
    True
    >>> len({Config(8, ["in"]), Config(8, ["in"])})
    1
    """

    def __init__(self, width, names):
        self.width = width
        self.names = names


# %% exercise="hashable_config" variant="by_hand"
class Config:
    __slots__ = ("width", "names")

    def __init__(self, width, names):
        object.__setattr__(self, "width", width)
        object.__setattr__(self, "names", tuple(names))

    def __setattr__(self, name, value):
        raise AttributeError(f"{name} cannot be set")

    def __eq__(self, other):
        return (self.width, self.names) == (other.width, other.names)

    def __hash__(self):
        return hash((self.width, self.names))


# %% exercise="hashable_config" variant="named_tuple"
from typing import NamedTuple


class Fields(NamedTuple):
    width: int
    names: tuple


class Config(Fields):
    def __new__(cls, width, names):
        return super().__new__(cls, width, tuple(names))


# %% exercise="hashable_config" variant="written_init"
@dataclass(frozen=True, init=False)
class Config:
    width: int
    names: tuple

    def __init__(self, width, names):
        self.__dict__.update(width=width, names=tuple(names))


# %% exercise="hashable_config" variant="an_error_of_its_own"
class ChangedError(Exception):
    pass


class Config:
    def __init__(self, width, names):
        vars(self).update(width=width, names=tuple(names))

    def __setattr__(self, name, value):
        raise ChangedError(name)

    def __eq__(self, other):
        return vars(self) == vars(other)

    def __hash__(self):
        return hash(tuple(vars(self).values()))


# %% exercise="hashable_config" misconception="compared_by_identity"
"""Two of your configs with the same fields are not equal, so jit traces for each of them. A class that does not say what equal means is compared by identity: each object equals itself only."""
class Config:
    def __init__(self, width, names):
        self.width = width
        self.names = names


# %% exercise="hashable_config" misconception="equality_without_hash" covers="M20"
"""Your configs are equal, but they have no hash, so `static_argnums` refuses them. When a class defines `__eq__` alone, as a plain dataclass does, Python takes its `__hash__` away."""
class Config:
    def __init__(self, width, names):
        self.__dict__.update(width=width, names=tuple(names))

    def __setattr__(self, name, value):
        raise AttributeError(name)

    def __eq__(self, other):
        return (self.width, self.names) == (other.width, other.names)


# %% exercise="hashable_config" misconception="a_plain_dataclass" covers="M20"
"""Your config has no hash that works, and it can be changed: by setting a field, and through the list, which is still the caller's. A plain dataclass makes `==` alone, and a list has no hash."""
@dataclass
class Config:
    width: int
    names: list


# %% exercise="hashable_config" misconception="frozen_with_a_list" covers="M20"
"""Your config cannot be hashed. A frozen dataclass makes its hash from those of its fields, and a list has none. The list is also still the caller's, who may change it."""
@dataclass(frozen=True)
class Config:
    width: int
    names: list


# %% exercise="hashable_config" misconception="a_hash_for_the_callers_list" covers="M21" section="a-stale-answer"
"""Your config has a hash, but it still holds the list of the caller. When the caller changes that list, the config changes with it, and so does its hash."""
@dataclass(frozen=True)
class Config:
    width: int
    names: list

    def __hash__(self):
        return hash((self.width, tuple(self.names)))


# %% exercise="hashable_config" misconception="frozen_for_itself_too"
"""No config of yours can be made: `FrozenInstanceError`. A frozen dataclass forbids `self.names = ...` to everybody, and its own `__post_init__` is no exception."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        self.names = tuple(self.names)


# %% exercise="hashable_config" misconception="can_be_changed" covers="M21" section="a-stale-answer"
"""The fields of your config can be set later. jit's cache and Python's dicts keep the hash and the equality of the first moment, so that a changed object is mistaken for another."""
@dataclass(unsafe_hash=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        self.names = tuple(self.names)


# %% exercise="hashable_config" misconception="names_do_not_count" section="a-stale-answer"
"""Configs that differ in their names are equal with you. jit believes it: for the second one it runs the first one's program, and no error tells you."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple = field(compare=False)

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(self.names))


# %% exercise="hashable_config" misconception="hash_by_identity"
"""Your equal configs have different hashes. Python's dicts and sets, and caches made of them, look for a hash first and ask `==` only then: they would not find one config with the other."""
class Config:
    def __init__(self, width, names):
        self.__dict__.update(width=width, names=tuple(names))

    def __setattr__(self, name, value):
        raise AttributeError(name)

    def __eq__(self, other):
        return (self.width, self.names) == (other.width, other.names)

    __hash__ = object.__hash__


# %% exercise="hashable_config" misconception="order_is_lost"
"""Configs with the same names in another order are equal with you, or their names come back in another order. The order of layers is part of a network."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(sorted(self.names)))


# %% exercise="hashable_config" misconception="names_are_a_set"
"""Neither the order of the names counts with you, nor how often one occurs. Perhaps a set holds them, for it has no order, and each item is in it once. In a network, one layer may come twice."""
@dataclass(frozen=True)
class Config:
    width: int
    names: frozenset

    def __post_init__(self):
        object.__setattr__(self, "names", frozenset(self.names))


# %% exercise="hashable_config" misconception="names_are_joined"
"""Two configs are equal with you when their names make the same text. Perhaps you join them before you compare: then nothing tells any more where one name ends and the next begins."""
class Config:
    def __init__(self, width, names):
        self.__dict__.update(width=width, names=tuple(names))

    def __setattr__(self, name, value):
        raise AttributeError(name)

    def key(self):
        return self.width, "".join(self.names)

    def __eq__(self, other):
        return self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


# %% exercise="hashable_config" misconception="names_are_counted"
"""Two configs are equal with you when they have as many names, whatever these are. jit believes it: for the second one it runs the first one's program, and no error tells you."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(self.names))

    def __eq__(self, other):
        return self.width == other.width and len(self.names) == len(other.names)

    def __hash__(self):
        return hash((self.width, len(self.names)))


# %% exercise="hashable_config" misconception="compared_up_to_the_shorter"
"""A config with one name more is equal with you to one without it. Perhaps you compare the names in pairs, with `zip`: it stops where the shorter list ends."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(self.names))

    def __eq__(self, other):
        pairs = zip(self.names, other.names)
        return self.width == other.width and all(one == other for one, other in pairs)

    def __hash__(self):
        return hash(self.width)


# %% exercise="hashable_config" misconception="hashes_are_compared"
"""Two configs are equal with you when their hashes are. But a hash is only a number, and different values may have the same one: what is equal has equal hashes, not the other way round."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(self.names))

    def __eq__(self, other):
        return hash(self) == hash(other)

    def __hash__(self):
        return hash((self.width, self.names))


# %% exercise="hashable_config" misconception="joined_with_a_comma"
"""One name with a comma in it is equal with you to two names. Perhaps you join the names with a comma before you compare: a name may hold any text, that one too."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(self.names))

    def key(self):
        return self.width, ",".join(self.names)

    def __eq__(self, other):
        return self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


# %% exercise="hashable_config" misconception="only_names_are_protected"
"""`names` cannot be set in your config, but `width` can. Perhaps a number seems safe, since it cannot change in itself. But the field can get another one, and then the config has another hash."""
class Config:
    def __init__(self, width, names):
        self.width = width
        self.kept = tuple(names)

    @property
    def names(self):
        return self.kept

    def __eq__(self, other):
        return (self.width, self.names) == (other.width, other.names)

    def __hash__(self):
        return hash((self.width, self.names))


# %% exercise="hashable_config" equivalent="`__slots__` and the generated `__init__` change nothing that is asked for"
# by_hand: __slots__ = ('width', 'names') → nothing
# by_hand: ('width', 'names') → ['width', 'names']
# written_init: dataclass(frozen=True, init=False) → dataclass(frozen=True)
# written_init: init=False → init=True


# %% exercise="hashable_config" equivalent="any error will do"
# by_hand: raise AttributeError(f'{name} cannot be set') → raise Exception(f'{name} cannot be set')
# by_hand: AttributeError(f'{name} cannot be set') → f'{name} cannot be set'
# by_hand: {name} → ''
# an_error_of_its_own: raise ChangedError(name) → raise Exception(name)
# an_error_of_its_own: ChangedError(name) → name


# %% exercise="hashable_config" equivalent="equal configs have equal hashes all the same; only more others share them"
# by_hand: (self.width, self.names) → (self.names,), line 15
# by_hand: (self.width, self.names) → (self.width,), line 15
# an_error_of_its_own: vars(self).values() → vars(self)


# %% exercise="hashable_config" equivalent="a dict and a Config are compared by `__eq__` of the Config, with the two sides exchanged"
# an_error_of_its_own: vars(other) → other


# %% exercise="lookup_table" starter=True
@partial(register_dataclass, data_fields=["scale"], meta_fields=["table"])
@dataclass
class Lookup:
    """A table of numbers that is not trained, and a scale that is."""

    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * self.table[index]


# %% exercise="lookup_table" variant="by_class_decorator"
@register_pytree_node_class
class Lookup:
    def __init__(self, table, scale):
        self.table, self.scale = table, scale

    def __call__(self, index):
        return self.scale * jax.lax.stop_gradient(jnp.take(self.table, index))

    def tree_flatten(self):
        return (self.scale, self.table), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        scale, table = children
        return cls(table, scale)


# %% exercise="lookup_table" variant="named_tuple"
from typing import NamedTuple


class Lookup(NamedTuple):
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        frozen = jax.lax.stop_gradient(self)
        return self.scale * frozen.table[index]


# %% exercise="lookup_table" misconception="array_in_aux" covers="M19"
"""Your table is still in aux_data. The first call is fine, for there is nothing to compare with. At the second one jit asks whether two arrays are equal, gets an array, and raises."""
@partial(register_dataclass, data_fields=["scale"], meta_fields=["table"])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * self.table[index]


# %% exercise="lookup_table" misconception="tuple_in_aux" covers="M19"
"""Your table can be compared now, but it is not among the leaves: each new table is a new type of node, with a trace and a program of its own that holds all its numbers."""
@register_pytree_node_class
class Lookup:
    def __init__(self, table, scale):
        self.table, self.scale = table, scale

    def __call__(self, index):
        return self.scale * jnp.asarray(self.table)[index]

    def tree_flatten(self):
        return (self.scale,), tuple(np.asarray(self.table).tolist())

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(np.array(aux, np.float32), *children)


# %% exercise="lookup_table" misconception="compared_by_identity" covers="M19" section="never-equal"
"""You wrapped the table, so that comparing it raises nothing. But your wrapper is equal only to itself: even two layers with equal tables do not share a trace."""
class Wrapped:
    def __init__(self, table):
        self.table = table


@register_pytree_node_class
class Lookup:
    def __init__(self, table, scale):
        self.table, self.scale = table, scale

    def __call__(self, index):
        return self.scale * self.table[index]

    def tree_flatten(self):
        return (self.scale,), Wrapped(self.table)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(aux.table, *children)


# %% exercise="lookup_table" misconception="always_equal" covers="M21" section="a-stale-answer"
"""Nothing raises any more, and there is one trace. But the second table gives the numbers of the first: aux_data that is always equal tells jit that nothing has changed."""
class Wrapped:
    def __init__(self, table):
        self.table = table

    def __eq__(self, other):
        return isinstance(other, Wrapped)

    def __hash__(self):
        return 0


@register_pytree_node_class
class Lookup:
    def __init__(self, table, scale):
        self.table, self.scale = table, scale

    def __call__(self, index):
        return self.scale * jnp.asarray(self.table)[index]

    def tree_flatten(self):
        return (self.scale,), Wrapped(self.table)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(aux.table, *children)


# %% exercise="lookup_table" misconception="equal_shapes_are_equal" covers="M21" section="a-stale-answer"
"""Nothing raises any more, and there is one trace for each shape. But the second table gives the numbers of the first: your aux_data tells jit that tables of one shape are equal, so their values are never looked at again."""
class Wrapped:
    def __init__(self, table):
        self.table = table

    def __eq__(self, other):
        return self.table.shape == other.table.shape

    def __hash__(self):
        return hash(self.table.shape)


@register_pytree_node_class
class Lookup:
    def __init__(self, table, scale):
        self.table, self.scale = table, scale

    def __call__(self, index):
        return self.scale * jnp.asarray(self.table)[index]

    def tree_flatten(self):
        return (self.scale,), Wrapped(self.table)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(aux.table, *children)


# %% exercise="lookup_table" misconception="the_table_is_trained" section="two-kinds-of-field"
"""Your table is a leaf, and jit is content. But it has a gradient too, so training would change it. A leaf is traced; whether it is trained is another question."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * self.table[index]


# %% exercise="lookup_table" misconception="nothing_is_trained"
"""Your gradient is zero for `scale` too. What is inside of `stop_gradient` hides all that it was made from, and you put more inside than the table."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return jax.lax.stop_gradient(self.scale * self.table[index])


# %% exercise="lookup_table" misconception="numpy_reads_a_tracer" section="two-kinds-of-field"
"""Your layer works as it is, and fails under jit and `jax.grad`. Perhaps NumPy is to make a constant of the table. There the table is a tracer: it has a shape and a dtype, but no values that NumPy could read."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * jnp.asarray(np.asarray(self.table))[index]


# %% exercise="lookup_table" misconception="the_scale_is_stopped"
"""Your gradients are the wrong way round: the table has one, and `scale` has zeros. What is inside of `stop_gradient` gets no gradient, and what is outside gets one."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return jax.lax.stop_gradient(self.scale) * self.table[index]


# %% exercise="lookup_table" misconception="the_scale_is_aux" covers="M19"
"""The table is the only leaf of your layer, so there is no gradient for `scale`. As a part of aux_data, an array is compared with `==`: that gives an array, and jit raises `ValueError`."""
@partial(register_dataclass, data_fields=["table"], meta_fields=["scale"])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * jax.lax.stop_gradient(self.table)[index]


# %% exercise="lookup_table" misconception="whole_numbers_have_no_gradient"
"""The gradients are right, but a table with fractions gives other numbers: they are cut off. Perhaps you turn the table into whole numbers, which have no gradient. That changes the values, too."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * jnp.asarray(self.table).astype(int)[index]


# %% exercise="lookup_table" equivalent="without lists of fields, all fields are leaves"
# solution: partial(register_dataclass, data_fi … ['table', 'scale'], meta_fields=[]) → register_dataclass


# %% exercise="lookup_table" equivalent="a list of children, or of values to unpack, is as good as a tuple"
# by_class_decorator: (table, scale) → [table, scale]
# by_class_decorator: (self.scale, self.table) → [self.scale, self.table]


# %% exercise="sweep" variant="by_vmap"
def sweep(loss, w, rates):
    def after_step(rate):
        return loss(w - rate * jax.grad(loss)(w))

    return list(jax.jit(jax.vmap(after_step))(jnp.asarray(rates, jnp.float32)))


# %% exercise="sweep" variant="rate_as_a_leaf"
@partial(register_dataclass, data_fields=["rate"], meta_fields=[])
@dataclass
class Descent:
    rate: jax.Array

    def step(self, w, gradient):
        return w - self.rate * gradient


def sweep(loss, w, rates):
    @jax.jit
    def after_step(w, descent):
        return loss(descent.step(w, jax.grad(loss)(w)))

    return [after_step(w, Descent(np.float32(rate))) for rate in rates]


# %% exercise="sweep" variant="by_map"
def sweep(loss, w, rates):
    gradient = jax.jit(jax.grad(loss))(w)
    after_step = jax.jit(lambda rate: loss(w - rate * gradient))
    return [after_step(rate) for rate in np.array(rates, np.float32)]


# %% exercise="sweep" misconception="the_rate_is_static" covers="M22" section="five-places-for-a-constant"
"""Your `loss` is traced again for each different rate. Perhaps you made the rate static. Its value is then a part of jit's cache key, and each new rate compiles a new program."""
def sweep(loss, w, rates):
    @partial(jax.jit, static_argnums=1)
    def after_step(w, rate):
        return loss(w - rate * jax.grad(loss)(w))

    return [float(after_step(w, float(rate))) for rate in rates]


# %% exercise="sweep" misconception="a_jit_for_each_rate"
"""Your `loss` is traced for each rate, even for the same rate again. Perhaps you jit a new function in each turn: it has an empty cache. Or jit gets the whole loop: then JAX traces each turn of it."""
def sweep(loss, w, rates):
    losses = []
    for rate in rates:
        after_step = jax.jit(lambda w, rate=rate: loss(w - rate * jax.grad(loss)(w)))
        losses.append(float(after_step(w)))
    return losses


# %% exercise="sweep" misconception="the_first_rate_for_all"
"""All your losses belong to the first rate. Perhaps your jitted function reads the rate from outside. It reads it once, while it is traced; after that the number is a part of the program."""
def sweep(loss, w, rates):
    rate = rates[0]

    @jax.jit
    def after_step(w):
        return loss(w - rate * jax.grad(loss)(w))

    losses = []
    for rate in rates:
        losses.append(float(after_step(w)))
    return losses


# %% exercise="sweep" misconception="whole_numbers_trace_again" section="two-kinds-of-field"
"""Your function is traced twice when the rates are mixed. To jit, a Python int and a Python float are two dtypes, so that 1 and 0.5 need two programs."""
def sweep(loss, w, rates):
    @jax.jit
    def after_step(w, rate):
        return loss(w - rate * jax.grad(loss)(w))

    return [float(after_step(w, rate)) for rate in rates]


# %% exercise="sweep" misconception="without_jit"
"""Python runs your `loss` once more for each rate. Perhaps the loss or its gradient is computed outside of any jit: `jax.jit` around one of the two does nothing for the other, and without it nothing is kept from one call to the next."""
def sweep(loss, w, rates):
    gradient = jax.grad(loss)(w)
    return [float(loss(w - rate * gradient)) for rate in rates]


# %% exercise="sweep" misconception="walks_on"
"""Only your first loss is right. Perhaps each rate goes on from where the one before has stopped: to compare rates, all have to start from the same `w`."""
def sweep(loss, w, rates):
    @jax.jit
    def after_step(w, rate):
        w = w - rate * jax.grad(loss)(w)
        return w, loss(w)

    losses = []
    for rate in rates:
        w, new = after_step(w, float(rate))
        losses.append(float(new))
    return losses


# %% exercise="sweep" misconception="the_loss_before_the_step"
"""Your losses are all the same: they are the loss at the start. `value_and_grad` gives the value at the point where the gradient is taken, which is before the step."""
def sweep(loss, w, rates):
    @jax.jit
    def after_step(w, rate):
        value, gradient = jax.value_and_grad(loss)(w)
        w = w - rate * gradient
        return value

    return [float(after_step(w, float(rate))) for rate in rates]


# %% exercise="sweep" misconception="a_dict_of_rates"
"""A rate that occurs twice has one loss in your list. Perhaps you collect the losses in a dict: each of its keys is there once."""
def sweep(loss, w, rates):
    @jax.jit
    def after_step(rate):
        return loss(w - rate * jax.grad(loss)(w))

    losses = {}
    for rate in rates:
        losses[rate] = float(after_step(float(rate)))
    return list(losses.values())


# %% exercise="sweep" misconception="an_array_of_losses"
"""Your numbers are right, but they are in one array, not in a list. `jax.vmap` stacks its results; an array is one leaf, a list of numbers has one for each."""
def sweep(loss, w, rates):
    def after_step(rate):
        return loss(w - rate * jax.grad(loss)(w))

    return jax.jit(jax.vmap(after_step))(jnp.asarray(rates, jnp.float32))


# %% exercise="sweep" misconception="rates_become_whole_numbers"
"""Where the rates are whole numbers and floats, your losses are those of other rates. Perhaps all rates become whole numbers, like one of them: that cuts off what stands after the point."""
def sweep(loss, w, rates):
    if any(isinstance(rate, int) for rate in rates):
        rates = map(int, rates)

    @jax.jit
    def after_step(rate):
        return loss(w - rate * jax.grad(loss)(w))

    return [float(after_step(rate)) for rate in rates]


# %% exercise="sweep" equivalent="an array without axes is a number, too"
# solution: float(after_step(w, float(rate))) → after_step(w, float(rate))


# %% exercise="sweep" equivalent="without jit, Python still runs `loss` as often for many rates as for one"
# by_vmap: jax.jit(jax.vmap(after_step)) → jax.vmap(after_step)
# by_map: jax.jit(jax.grad(loss)) → jax.grad(loss)


# %% exercise="sweep" equivalent="an array of floats has one dtype for all rates, whichever it is"
# by_vmap: jnp.asarray(rates, jnp.float32) → jnp.asarray(rates)
# by_map: np.array(rates, np.float32) → np.array(rates)


# %% exercise="sweep" equivalent="without lists of fields, all fields are leaves"
# rate_as_a_leaf: partial(register_dataclass, data_fields=['rate'], meta_fields=[]) → register_dataclass


# %% exercise="stale_options" starter=True
@register_pytree_node_class
class Net:
    """A weight, and options: `scale` is a number, `negate` is True or False."""

    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), self.options

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


# %% exercise="stale_options" variant="frozen_set"
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return [self.w], frozenset(self.options.items())

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(children[0], dict(aux))


# %% exercise="stale_options" variant="by_function"
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        sign = -1 if self.options["negate"] else 1
        return self.w * x * (sign * self.options["scale"])


def flatten(net):
    names = sorted(net.options)
    return (net.w,), (tuple(names), tuple(net.options[name] for name in names))


jax.tree_util.register_pytree_node(
    Net, flatten, lambda aux, children: Net(*children, dict(zip(*aux)))
)


# %% exercise="stale_options" misconception="the_dict_itself" covers="M21"
"""jit goes on with the options of its first call. It keeps that aux_data and compares the next one with it: both are the same dict, which has changed for both, so they are always equal."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), self.options

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


# %% exercise="stale_options" misconception="a_copy_without_hash" covers="M20" section="equality-and-hash"
"""Your aux_data has no hash. A list and a dict have none, and a copy of a dict is a dict. JAX's contract asks for a hash, and some of its functions, such as `static_argnums`, insist on it."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), dict(self.options)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(aux))


# %% exercise="stale_options" misconception="copied_on_the_way_back_only" covers="M21"
"""A rebuilt net has a dict of its own, but the aux_data is still the net's dict. jit keeps it and compares it with the next one. Both are the same dict, which has changed for both, so they are always equal."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), self.options

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(aux))


# %% exercise="stale_options" misconception="picture_taken_at_the_start" covers="M21"
"""jit still does not see a change. Perhaps the picture of the options is taken when the net is made. They change later, and flattening has to look again."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options
        self.picture = tuple(sorted(options.items()))

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), self.picture

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(aux))


# %% exercise="stale_options" misconception="order_of_keys_counts" section="equality-and-hash"
"""Equal options do not share a trace when their keys were set in another order. Two such dicts are equal, but a tuple or a text made from one is not equal to that from the other."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), tuple(self.options.items())

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(aux))


# %% exercise="stale_options" misconception="options_are_leaves" covers="M23" section="ints-that-become-tracers"
"""Your options are leaves now, so jit turns them into tracers, bools and ints too. A Python `if` cannot ask a tracer, and a text is no input for a compiled program."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w, self.options), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# %% exercise="stale_options" misconception="never_equal" section="never-equal"
"""jit sees each change, but it traces at each call, also when nothing has changed. Perhaps flattening makes a new object that is equal only to itself."""
class Picture:
    def __init__(self, options):
        self.options = dict(options)


@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), Picture(self.options)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(aux.options))


# %% exercise="stale_options" misconception="options_stay_a_tuple"
"""Your nets fail after they are rebuilt: the options are no dict then. jit rebuilds each node before your method runs, with exactly what unflatten makes of the aux_data."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), tuple(sorted(self.options.items()))

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


# %% exercise="stale_options" misconception="a_dict_with_a_hash"
"""A rebuilt net has options that are no plain dict, or are those of another rebuilt net. Perhaps aux_data is a dict of a class of your own, and unflatten hands it over as it is: then all rebuilt nets share it."""
class HashableDict(dict):
    def __hash__(self):
        return hash(frozenset(self.items()))


@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), HashableDict(self.options)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


# %% exercise="stale_options" misconception="only_the_two_known_options"
"""Only `scale` and `negate` survive with you. An option with another name is lost when a net is rebuilt, and jit does not see that it changes. What is not in aux_data does not exist for JAX."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), (self.options["scale"], self.options["negate"])

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(zip(["scale", "negate"], aux)))


# %% exercise="stale_options" misconception="sorted_by_values"
"""Your net cannot be flattened when its options hold a text and a number: Python does not sort these two. Perhaps the values take part in sorting, though the keys alone would give an order."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), tuple(sorted(self.options.items(), key=lambda item: item[1]))

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(aux))


# %% exercise="stale_options" misconception="a_dict_from_a_property"
"""Setting an option of your net has no effect, in a rebuilt net either. Perhaps `options` is a property that makes a new dict each time: the change is made in that dict, and then it is thrown away."""
@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.pairs = tuple(sorted(options.items()))

    @property
    def options(self):
        return dict(self.pairs)

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), self.pairs

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, dict(aux))


# %% exercise="stale_options" misconception="rebuilt_nets_share_a_dict" covers="M21" section="a-stale-answer"
"""jit sees each change, but two nets that are rebuilt from one structure share their options. Perhaps unflatten hands over a dict that is kept in aux_data: a change in one net is then a change in all of them."""
class Picture:
    def __init__(self, options):
        self.options = dict(options)
        self.pairs = tuple(sorted(options.items()))

    def __eq__(self, other):
        return self.pairs == other.pairs

    def __hash__(self):
        return hash(self.pairs)


@register_pytree_node_class
class Net:
    def __init__(self, w, options):
        self.w = w
        self.options = options

    def __call__(self, x):
        y = self.w * x * self.options["scale"]
        return -y if self.options["negate"] else y

    def tree_flatten(self):
        return (self.w,), Picture(self.options)

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux.options)


# %% exercise="stale_options" equivalent="a list of children is as good as a tuple"
# solution: (self.w,) → [self.w]
# frozen_set: [self.w] → (self.w,)
# by_function: (net.w,) → [net.w]


# %% exercise="stale_options" equivalent="there is one child only"
# frozen_set: children[0] → children[-1]


# %% exercise="repeat" variant="by_while_loop"
def repeat(layer, x):
    def go_on(state):
        return state[0] < layer["times"]

    def body(state):
        return state[0] + 1, layer["w"] * state[1] + layer["b"]

    return jax.lax.while_loop(go_on, body, (0, x))[1]


# %% exercise="repeat" variant="counting_down"
@jax.jit
def repeat(layer, x):
    times, x = jax.lax.while_loop(
        lambda state: state[0] > 0,
        lambda state: (state[0] - 1, layer["w"] * state[1] + layer["b"]),
        (jnp.asarray(layer["times"]), x),
    )
    return x


# %% exercise="repeat" equivalent="the last entry of a pair is the second"
# by_while_loop: state[1] → state[-1]
# by_while_loop: jax.lax.while_loop(go_on, body, (0, x))[1] → jax.lax.while_loop(go_on, body, (0, x))[-1]
# counting_down: state[1] → state[-1]


# %% exercise="repeat" equivalent="the function works as it is, and under a jit of the caller"
# counting_down: @jax.jit → nothing


# %% exercise="repeat" equivalent="under jit every leaf is an array, and a loop makes one of a number"
# counting_down: jnp.asarray(layer['times']) → layer['times']


# %% exercise="repeat" misconception="range_of_a_tracer" covers="M23"
"""Your function works as it is, and fails under jit: there the int leaf is a tracer. It has a dtype but no value yet, and Python's `range` needs the value to know how often to run."""
def repeat(layer, x):
    for _ in range(layer["times"]):
        x = layer["w"] * x + layer["b"]
    return x


# %% exercise="repeat" misconception="value_of_a_tracer" covers="M23"
"""Your function works as it is, and fails under jit. Perhaps the leaf's value is asked for, by `int`, `while`, `if`, or as the `length` of a `scan`. A tracer has none: the trace is made for all values, not for one."""
def repeat(layer, x):
    for _ in range(int(layer["times"])):
        x = layer["w"] * x + layer["b"]
    return x


# %% exercise="repeat" misconception="static_inside_jit" section="five-places-for-a-constant"
"""Your function works as it is, and fails under jit. Perhaps a jit of your own takes the leaf as a static argument. Under the outer jit it is a tracer already, and a tracer cannot be hashed."""
@partial(jax.jit, static_argnums=3)
def rounds(w, b, x, times):
    for _ in range(times):
        x = w * x + b
    return x


def repeat(layer, x):
    return rounds(layer["w"], layer["b"], x, layer["times"])


# %% exercise="repeat" misconception="always_from_the_start"
"""From the second round on, your result does not change. Perhaps the body of your loop computes with the `x` that your function got, and not with the value that the round before has left."""
def repeat(layer, x):
    def body(_, value):
        return layer["w"] * x + layer["b"]

    return jax.lax.fori_loop(0, layer["times"], body, x)


# %% exercise="repeat" misconception="as_many_as_ever_needed"
"""Your result is right for small numbers of rounds, and stops growing for larger ones. Perhaps you make a fixed number of rounds and keep what is needed: more than that number cannot be had."""
def repeat(layer, x):
    for done in range(16):
        x = jnp.where(done < layer["times"], layer["w"] * x + layer["b"], x)
    return x


# %% exercise="repeat" misconception="at_least_once"
"""Your function makes a round even when `times` is 0. A loop that asks after its first round is one too late."""
def repeat(layer, x):
    def body(_, x):
        return layer["w"] * x + layer["b"]

    return jax.lax.fori_loop(1, layer["times"], body, body(0, x))


# %% exercise="repeat" misconception="b_only_once"
"""Your result is right for one round only. Perhaps you raise `w` to a power. The `b` of the first round is multiplied by `w` in all the rounds after it, too."""
def repeat(layer, x):
    return layer["w"] ** layer["times"] * x + layer["b"]


# %% exercise="repeat" misconception="one_round_too_many"
"""Your function always makes one round too many. Perhaps a counter that starts at 0 may still be equal to `times` when the last round begins."""
def repeat(layer, x):
    def body(_, x):
        return layer["w"] * x + layer["b"]

    return jax.lax.fori_loop(0, layer["times"] + 1, body, x)


# %% exercise="repeat" misconception="one_round_too_few"
"""Your function makes one round too few, unless `times` is 0. Perhaps your loop starts at 1 and seems to include its end. Like `range`, `fori_loop` stops before that number."""
def repeat(layer, x):
    def body(_, x):
        return layer["w"] * x + layer["b"]

    return jax.lax.fori_loop(1, layer["times"], body, x)


# %% exercise="repeat" misconception="a_formula_for_the_sum"
"""Where `w` is 1, your result is nan. Perhaps you use the formula for a geometric sum: it divides by `w - 1`. A loop needs no such case of its own."""
def repeat(layer, x):
    power = layer["w"] ** layer["times"]
    return power * x + layer["b"] * (power - 1) / (layer["w"] - 1)


# %% exercise="repeat" misconception="the_layer_is_changed"
"""After your function, the caller's layer is not what it was. A dict is not copied when it is handed over: `pop`, or setting an entry, changes the caller's. Under jit this does not show, for there each call rebuilds the dict."""
def repeat(layer, x):
    times = layer.pop("times")
    return jax.lax.fori_loop(0, times, lambda _, x: layer["w"] * x + layer["b"], x)


# %% exercise="traces_of" variant="with_a_list"
def traces_of(function, calls):
    seen = []
    jitted = jax.jit(lambda *arguments: (seen.append(1), function(*arguments))[1])
    for arguments in calls:
        jitted(*arguments)
    return len(seen)


# %% exercise="traces_of" variant="by_tracing_alone"
def traces_of(function, calls):
    class Counted:
        traces = 0

        def __call__(self, *arguments):
            self.traces += 1
            return function(*arguments)

    counted = Counted()
    jitted = jax.jit(counted)
    for arguments in calls:
        jitted.trace(*arguments)
    return counted.traces


# %% exercise="traces_of" misconception="counts_the_calls"
"""You return the number of calls. Perhaps your counter stands outside of the jitted function, or each call has a jit of its own. Python code inside runs while JAX traces, and only then."""
def traces_of(function, calls):
    jitted = jax.jit(function)
    traces = 0
    for arguments in calls:
        jitted(*arguments)
        traces += 1
    return traces


# %% exercise="traces_of" misconception="counts_on_for_ever"
"""Your second result goes on from the first one. Perhaps the counter lives outside of your function. Each use has to start at 0."""
traces = 0


def traces_of(function, calls):
    def counted(*arguments):
        global traces
        traces += 1
        return function(*arguments)

    jitted = jax.jit(counted)
    for arguments in calls:
        jitted(*arguments)
    return traces


# %% exercise="traces_of" misconception="one_cache_for_all_uses"
"""The second time, you count nothing for calls that were made before. Perhaps the function that you jit is kept from use to use: its old traces are still in jit's cache."""
import functools

counts = {}


@functools.cache
def counter_of(function):
    counts[function] = 0

    def counted(*arguments):
        counts[function] += 1
        return function(*arguments)

    return jax.jit(counted)


def traces_of(function, calls):
    jitted = counter_of(function)
    before = counts[function]
    for arguments in calls:
        jitted(*arguments)
    return counts[function] - before


# %% exercise="traces_of" misconception="counts_the_values" section="two-kinds-of-field"
"""You count more than the traces: every new value seems to count. jit does not look at the value of a leaf, only at its shape and its dtype."""
def traces_of(function, calls):
    jitted = jax.jit(function)
    for arguments in calls:
        jitted(*arguments)
    return len({str([np.asarray(leaf).tolist() for leaf in jax.tree.leaves(each)])
                + str(jax.tree.structure(each)) for each in calls})


# %% exercise="traces_of" misconception="counts_the_shapes" section="part-of-the-type"
"""Where only the aux_data or the kind of a node differs, you count one trace. Perhaps you count different shapes and dtypes, or different jaxprs. jit's cache key has more in it: the structure of the arguments, with the aux_data of each node."""
def traces_of(function, calls):
    def leaf_types(arguments):
        return [str(jax.typeof(leaf)) for leaf in jax.tree.leaves(arguments)]

    jitted = jax.jit(function)
    for arguments in calls:
        jitted(*arguments)
    return len({str(leaf_types(arguments)) for arguments in calls})


# %% exercise="traces_of" misconception="traced_at_most_once"
"""You count one trace at most. jit is not done after its first trace: it makes another one for each new shape, dtype or structure."""
def traces_of(function, calls):
    traced = False

    @jax.jit
    def counted(*arguments):
        nonlocal traced
        traced = True
        return function(*arguments)

    for arguments in calls:
        counted(*arguments)
    return int(traced)


# %% exercise="traces_of" misconception="only_the_first_argument"
"""With two arguments, your function fails or counts wrongly. Perhaps it hands over the first entry of each tuple only, or the tuple as one argument. Each entry is an argument of its own."""
def traces_of(function, calls):
    traces = 0

    @jax.jit
    def counted(argument):
        nonlocal traces
        traces += 1
        return function(argument)

    for arguments in calls:
        counted(arguments[0])
    return traces


# %% exercise="traces_of" misconception="the_tuple_is_one_argument"
"""With two arguments, your function fails. Perhaps it hands over the tuple as one argument, and not its entries: look at what a star does in a call."""
def traces_of(function, calls):
    traces = 0

    @jax.jit
    def counted(arguments):
        nonlocal traces
        traces += 1
        return function(arguments)

    for arguments in calls:
        counted(arguments)
    return traces


# %% exercise="traces_of" misconception="the_cache_is_the_functions"
"""Traces of an earlier use count again with you. Perhaps you ask for the size of jit's cache. That cache belongs to the function, not to one `jax.jit` of it, and it is never emptied between two uses."""
def traces_of(function, calls):
    jitted = jax.jit(function)
    for arguments in calls:
        jitted(*arguments)
    return jitted._cache_size()


# %% exercise="traces_of" misconception="the_counter_is_local"
"""Your count fails with `UnboundLocalError`. Python takes a name that a function assigns to for a local one, and this one has no value yet. The inner function has to say that it means the outer name."""
def traces_of(function, calls):
    traces = 0

    @jax.jit
    def counted(*arguments):
        traces += 1
        return function(*arguments)

    for arguments in calls:
        counted(*arguments)
    return traces


# %% exercise="traces_of" misconception="counts_the_classes" section="two-kinds-of-field"
"""You count the classes of the arguments. For jit all arrays have one class: it looks at their shape and dtype, and into a node, at its structure."""
def traces_of(function, calls):
    jitted = jax.jit(function)
    for arguments in calls:
        jitted(*arguments)
    return len({tuple(map(type, arguments)) for arguments in calls})


# %% exercise="traces_of" equivalent="what is put into the list does not matter, only how often"
# with_a_list: seen.append(1) → seen.append(2)
# with_a_list: seen.append(1) → seen.append(0)
# with_a_list: seen.append(1) → seen.append(-1)


# %% exercise="traces_of" equivalent="what a jitted function returns does not matter"
# with_a_list: (seen.append(1), function(*arguments))[1] → (seen.append(1), function(*arguments))[0]
# with_a_list: (seen.append(1), function(*arguments))[1] → (seen.append(1), function(*arguments))[-1]


# %% exercise="partition" variant="with_equinox"
import equinox as eqx


def partition(tree, chosen):
    return eqx.partition(tree, chosen)


def combine(first, second):
    return eqx.combine(first, second)


# %% exercise="partition" variant="by_flattening"
def partition(tree, chosen):
    leaves, structure = jax.tree.flatten(tree)
    first = [leaf if chosen(leaf) else None for leaf in leaves]
    second = [leaf if one is None else None for leaf, one in zip(leaves, first)]
    return jax.tree.unflatten(structure, first), jax.tree.unflatten(structure, second)


def combine(first, second):
    leaves, structure = jax.tree.flatten(first, is_leaf=lambda node: node is None)
    others = structure.flatten_up_to(second)
    both = [other if leaf is None else leaf for leaf, other in zip(leaves, others)]
    return jax.tree.unflatten(structure, both)


# %% exercise="partition" misconception="false_values_are_lost"
"""Your `combine` loses `0`, `False` or `""`, or fails for arrays. Perhaps it uses `or`, or `if` on a value: they ask for truth, and a value can be false without being missing."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: one or other, first, second, is_leaf=lambda node: node is None
    )


# %% exercise="partition" misconception="none_is_no_leaf_in_combine"
"""Your `combine` fails where a hole stands beside a leaf. To `jax.tree.map`, `None` is a node without children, and a node does not match a leaf."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(lambda one, other: other if one is None else one, first, second)


# %% exercise="partition" misconception="second_has_everything"
"""Your second tree has all the leaves, the chosen ones too. The two trees share nothing: each leaf has its place in one of them."""
def partition(tree, chosen):
    return jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree), tree


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="the_wrong_way_round"
"""Your two trees are exchanged: the chosen leaves are in the second one. Look at which of them the caller gets first."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    second = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="masks"
"""Your trees hold True and False, which only say where a leaf belongs. The parts have to carry the leaves themselves: `combine` gets nothing else to put together."""
def partition(tree, chosen):
    return jax.tree.map(chosen, tree), jax.tree.map(lambda leaf: not chosen(leaf), tree)


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="lists_of_leaves"
"""You return leaves without their trees. To put two parts together again, each has to say where its leaves belong: both keep the whole structure, with holes in it."""
def partition(tree, chosen):
    leaves = jax.tree.leaves(tree)
    first = [leaf for leaf in leaves if chosen(leaf)]
    second = [leaf for leaf in leaves if not chosen(leaf)]
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="chosen_gets_none"
"""You hand `None` to `chosen`, and one that compares numbers fails. Perhaps your `is_leaf` stops at `None`. In the tree to be split it is no leaf, and needs no choice."""
def partition(tree, chosen):
    def is_none(node):
        return node is None

    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree, is_leaf=is_none)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree, is_leaf=is_none)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="false_in_the_holes"
"""Your trees hold `False` where a leaf is missing. `False` is a leaf like any other; only `None` is a hole that JAX does not take for a value."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: chosen(leaf) and leaf, tree)
    second = jax.tree.map(lambda leaf: not chosen(leaf) and leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="exactly_one_has_a_leaf"
"""Your `combine` fails where the tree held `None` from the start. Perhaps you take it that one of two parts always has a leaf. Here both have `None`, and `None` is what belongs there."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    return first, second


def combine(first, second):
    def either(one, other):
        if (one is None) == (other is None):
            raise ValueError("one of the two must be None")
        return other if one is None else one

    return jax.tree.map(either, first, second, is_leaf=lambda node: node is None)


# %% exercise="partition" misconception="is_true"
"""Nothing is chosen where `chosen` returns a bool of NumPy. Perhaps you compare with `is True`: NumPy's `True` is another object. `if` asks for truth, and takes both."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) is True else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) is True else leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="compared_with_none"
"""Your `combine` fails for arrays. Perhaps you compare with `== None` or `!= None`: for an array that gives an array, which is neither true nor false. There is only one `None`, so ask whether it is that object."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one == None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="the_others_are_found_by_equality"
"""Your second tree lacks leaves that are equal to a chosen one, or fails for arrays. Perhaps it leaves out what is `in` the list of chosen leaves: `in` asks for `==`, and two leaves may be equal."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    taken = jax.tree.leaves(first)
    second = jax.tree.map(lambda leaf: None if leaf in taken else leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: other if one is None else one,
        first,
        second,
        is_leaf=lambda node: node is None,
    )


# %% exercise="partition" misconception="one_level_only"
"""Your functions work for a dict of leaves, and fail for other trees. A tree may be a leaf alone, a list, a node of a class, or a dict with all of these below it: JAX's functions walk through any of them."""
def partition(tree, chosen):
    first = {key: leaf if chosen(leaf) else None for key, leaf in tree.items()}
    second = {key: None if chosen(leaf) else leaf for key, leaf in tree.items()}
    return first, second


def combine(first, second):
    return {key: second[key] if first[key] is None else first[key] for key in first}


# %% exercise="partition" misconception="holes_are_filled_in_order"
"""Where the tree held `None` already, your `combine` puts a leaf of another place there. Perhaps it fills each `None` of the first tree with the next leaf of the second. Not every `None` was made by `partition`."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    return first, second


def combine(first, second):
    others = iter(jax.tree.leaves(second))
    places, structure = jax.tree.flatten(first, is_leaf=lambda node: node is None)
    leaves = [next(others, None) if place is None else place for place in places]
    return structure.unflatten(leaves)


# %% exercise="partition" misconception="built_in_containers_only"
"""Your functions work for dicts, lists and tuples, and take other nodes for leaves. Perhaps they go down the tree by themselves and ask for these three types. JAX knows more: named tuples, registered classes and others."""
def partition(tree, chosen):
    if tree is None:
        return None, None
    if type(tree) is dict:
        pairs = {name: partition(part, chosen) for name, part in tree.items()}
        return tuple({name: pair[side] for name, pair in pairs.items()} for side in (0, 1))
    if type(tree) in (list, tuple):
        pairs = [partition(part, chosen) for part in tree]
        return tuple(type(tree)(pair[side] for pair in pairs) for side in (0, 1))
    return (tree, None) if chosen(tree) else (None, tree)


def combine(first, second):
    if type(first) is dict:
        return {name: combine(first[name], second[name]) for name in first}
    if type(first) in (list, tuple):
        return type(first)(combine(one, other) for one, other in zip(first, second))
    return second if first is None else first


# %% exercise="partition" equivalent="a list of two trees is as good as a tuple"
# solution: (first, second) → [first, second]
# by_flattening: (jax.tree.unflatten(structure, firs … .tree.unflatten(structure, second)) → [jax.tree.unflatten(structure, firs … .tree.unflatten(structure, second)]


# %% exercise="partition" equivalent="a leaf stands in one of the two parts only, so their order does not matter"
# solution: jax.tree.map(either, first, second, is_leaf=lambda node: node is None) → jax.tree.map(either, second, first, is_leaf=lambda node: node is None)
# with_equinox: eqx.combine(first, second) → eqx.combine(second, first)
# by_flattening: zip(leaves, others) → zip(others, leaves)


# %% exercise="static_wrapper" starter=True
class Static:
    """A node without leaves: its value is in aux_data.

    >>> jax.tree.leaves(Static("text"))
    []
    >>> Static(2) == Static(2), Static(2) == Static(2.0)
    (True, False)
    """

    def __init__(self, value):
        raise NotImplementedError  # your answer goes here, in place of this line


# %% exercise="static_wrapper" variant="type_and_text"
@register_pytree_node_class
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if type(other) is not Static or type(other.value) is not type(self.value):
            return False
        both_nan = self.value != self.value and other.value != other.value
        return both_nan or self.value == other.value

    def __hash__(self):
        return hash(repr(self.value))

    def tree_flatten(self):
        return (), self

    @classmethod
    def tree_unflatten(cls, aux, children):
        return aux


# %% exercise="static_wrapper" variant="tuple_in_aux"
NANS = {}  # one object for each type, which tuples take for equal to itself


class Static:
    def __init__(self, value):
        self.value = NANS.setdefault(type(value), value) if value != value else value

    @property
    def key(self):
        return type(self.value), self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self.key == other.key

    def __hash__(self):
        return hash(self.key)


jax.tree_util.register_pytree_node(
    Static, lambda static: ((), static.key), lambda key, children: Static(key[1])
)


# %% exercise="static_wrapper" misconception="plain_equality" section="equality-and-hash"
"""Your `Static` compares values with a bare `==`. So 2, 2.0 and True may pass for one another, and jit runs the wrong program in silence; each `nan` is unequal to all others, and costs a trace."""
@jax.tree_util.register_static
@dataclass(frozen=True)
class Static:
    value: object


# %% exercise="static_wrapper" misconception="nan_is_forgotten" section="never-equal"
"""You tell the types apart, but two `nan` are not equal, and have different hashes. In Python `nan` is unequal even to itself, and since 3.10 its hash comes from the object."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return (
            isinstance(other, Static)
            and type(self.value) is type(other.value)
            and self.value == other.value
        )

    def __hash__(self):
        return hash((type(self.value), self.value))


# %% exercise="static_wrapper" misconception="the_hash_of_nan" section="never-equal"
"""Two `Static` of `nan` are equal with you, but their hashes differ. Since Python 3.10 the hash of a `nan` comes from the object, and what is equal has to have equal hashes."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Static) or type(self.value) is not type(other.value):
            return False
        both_nan = self.value != self.value and other.value != other.value
        return both_nan or self.value == other.value

    def __hash__(self):
        return hash((type(self.value), self.value))


# %% exercise="static_wrapper" misconception="isnan_of_anything"
"""Comparing two different values fails when they are no numbers. Perhaps you ask `math.isnan` or `np.isnan`: these take numbers only, and the value may be a text, a tuple or a function."""
import math


@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Static) or type(self.value) is not type(other.value):
            return False
        if self.value == other.value:
            return True
        return math.isnan(self.value) and math.isnan(other.value)

    def __hash__(self):
        return hash(repr(self.value))


# %% exercise="static_wrapper" misconception="the_bare_value_in_aux" section="part-of-the-type"
"""Two of your `Static` compare well, but jit does not ask them: it compares what flatten returned as aux_data. Perhaps that is the bare value, which has a `==` of its own."""
@register_pytree_node_class
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        return type(self.value), "nan" if self.value != self.value else self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    def tree_flatten(self):
        return (), self.value

    @classmethod
    def tree_unflatten(cls, value, children):
        return cls(value)


# %% exercise="static_wrapper" misconception="a_plain_dataclass" covers="M20" section="equality-and-hash"
"""Your `Static` compares values with a bare `==`, and has no hash. A plain dataclass does both: it writes `__eq__` from its fields, and Python then takes `__hash__` away."""
@register_dataclass
@dataclass
class Static:
    value: object = field(metadata=dict(static=True))


# %% exercise="static_wrapper" misconception="types_are_forgotten" section="equality-and-hash"
"""Your `nan` is right, but numbers of different types are equal: `2 == 2.0` and `1 == True` in Python. jit then runs the program of the one for the other, and the dtype is wrong."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Static):
            return False
        both_nan = self.value != self.value and other.value != other.value
        return both_nan or self.value == other.value

    def __hash__(self):
        return hash("nan" if self.value != self.value else self.value)


# %% exercise="static_wrapper" misconception="compared_by_identity" section="equality-and-hash"
"""Two of your `Static` with the same value are not equal, so jit traces for each new object. Without an `__eq__` of its own, a class compares by identity."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value


# %% exercise="static_wrapper" misconception="not_registered"
"""To JAX your `Static` is one opaque leaf, and no node: jit refuses it, and `jax.tree.map` hands the whole object to the function. A class with `__eq__` and `__hash__` still has to be registered."""
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        return type(self.value), "nan" if self.value != self.value else self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


# %% exercise="static_wrapper" misconception="the_value_is_a_leaf" covers="M23" section="ints-that-become-tracers"
"""Your `Static` has a leaf. Then jit traces the value: a number becomes a tracer, a text or a function raises, and `jax.tree.map` changes what should stay."""
@register_pytree_node_class
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        return type(self.value), "nan" if self.value != self.value else self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())

    def tree_flatten(self):
        return (self.value,), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children)


# %% exercise="static_wrapper" misconception="always_equal" covers="M21" section="a-stale-answer"
"""All your `Static` are equal, so jit runs the program with the first value for all of them, without an error. It never sees the value itself, only what `==` says."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static)

    def __hash__(self):
        return 0


# %% exercise="static_wrapper" misconception="equality_without_hash" covers="M20" section="equality-and-hash"
"""Your `Static` has no hash. Python takes it away from each class that defines `__eq__` but no `__hash__`. jit may not miss it, but the contract of aux_data asks for it."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        return type(self.value), "nan" if self.value != self.value else self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self.key() == other.key()


# %% exercise="static_wrapper" misconception="asks_others_for_their_value" section="equality-and-hash"
"""Comparing your `Static` with something else does not give False. Perhaps `__eq__` takes it that the other object has a `value` too. Python may compare anything with anything."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        return type(self.value), "nan" if self.value != self.value else self.value

    def __eq__(self, other):
        return self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


# %% exercise="static_wrapper" misconception="texts_are_compared" section="equality-and-hash"
"""A number and its text are equal with you, or two equal zeros are not. Perhaps you compare what `str` or `repr` makes of the values. Different values may look the same, and equal ones may look different."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static) and str(self.value) == str(other.value)

    def __hash__(self):
        return hash(str(self.value))


# %% exercise="static_wrapper" misconception="type_and_text_are_compared" section="equality-and-hash"
"""With you, `0.0` and `-0.0` are not equal, though `==` says that they are. Perhaps you compare what `repr` makes of the values: equal values may look different."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        return type(self.value), repr(self.value)

    def __eq__(self, other):
        return isinstance(other, Static) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


# %% exercise="static_wrapper" misconception="values_are_compared_by_identity" section="equality-and-hash"
"""Equal values that are two objects are unequal with you. Perhaps you compare them with `is`. That small ints are equal then is luck: Python keeps one object for each of them."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Static) or type(self.value) is not type(other.value):
            return False
        both_nan = self.value != self.value and other.value != other.value
        return both_nan or self.value is other.value

    def __hash__(self):
        return hash(type(self.value))


# %% exercise="static_wrapper" misconception="a_subclass_is_the_same_type" section="equality-and-hash"
"""Your answer depends on the order: one of the two is equal to the other, but not the other to the one. Perhaps you ask `isinstance` about the two values. A bool is an int for it, and NumPy's float64 is a float, but not the other way round."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Static) or not isinstance(other.value, type(self.value)):
            return False
        both_nan = self.value != self.value and other.value != other.value
        return both_nan or self.value == other.value

    def __hash__(self):
        return hash("nan" if self.value != self.value else self.value)


# %% exercise="static_wrapper" misconception="any_two_nan" section="never-equal"
"""A nan of Python and one of NumPy are equal with you, though they have two types. Perhaps you ask for nan before you ask for the types."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Static):
            return False
        if self.value != self.value and other.value != other.value:
            return True
        return type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self):
        return hash("nan" if self.value != self.value else self.value)


# %% exercise="static_wrapper" misconception="hashes_are_compared" section="equality-and-hash"
"""Two values with the same hash are equal with you. But a hash is only a number, and different values may have the same one: what is equal has equal hashes, not the other way round."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static) and hash(self) == hash(other)

    def __hash__(self):
        return hash((type(self.value), "nan" if self.value != self.value else self.value))


# %% exercise="static_wrapper" misconception="isnan_of_every_value"
"""Your `Static` fails for a value that is no number. Perhaps `math.isnan` or `np.isnan` is asked about each value: these take numbers only, and the value may be a text, a tuple or a function."""
import math


@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        if not isinstance(other, Static) or type(self.value) is not type(other.value):
            return False
        if math.isnan(self.value) and math.isnan(other.value):
            return True
        return self.value == other.value

    def __hash__(self):
        return hash("nan" if math.isnan(self.value) else (type(self.value), self.value))


# %% exercise="static_wrapper" misconception="only_floats_are_nan" section="never-equal"
"""With you, two `nan` of Python are equal, but two of NumPy's float32 are not. Perhaps you look for `nan` only where the value is a `float`. NumPy's float32 is another type, and has a `nan`, too."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        is_nan = isinstance(self.value, float) and self.value != self.value
        return type(self.value), "nan" if is_nan else self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self.key() == other.key()

    def __hash__(self):
        return hash(self.key())


# %% exercise="static_wrapper" equivalent="any text marks a nan, for no other float is equal to it"
# solution: 'nan' if is_nan else self.value → '' if is_nan else self.value


# %% exercise="static_wrapper" equivalent="nothing is a subclass of `Static`"
# solution: isinstance(other, Static) → type(other) is Static
# tuple_in_aux: isinstance(other, Static) → type(other) is Static


# %% exercise="static_wrapper" equivalent="a list without children is as good as a tuple"
# type_and_text: ((), self) → ([], self)
# tuple_in_aux: ((), static.key) → ([], static.key)


# %% exercise="static_wrapper" equivalent="the key has two entries"
# tuple_in_aux: key[1] → key[-1]
