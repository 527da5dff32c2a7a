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
"""An array does not belong in aux_data, even if it never changes. jit compares aux_data with `==`. For two arrays `==` gives an array, and not True or False: the second call raises."""
fields = {name: "leaf" if name in "ACEGJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="hyperparameters_are_aux" covers="M22" section="hyperparameters-aux-or-leaf"
"""In aux_data, each of its fifty values is another type of node for jit, and so another trace and another compilation. A hyperparameter need not be a part of the program."""
fields = {name: "leaf" if name in "AEGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="counters_are_aux" covers="M22" section="a-counter-in-aux-data"
"""This is a plain int, and it is not trained. But it is new at each call. A new value in aux_data is a new trace, so training would compile at every step."""
fields = {name: "leaf" if name in "ACGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="ints_stay_ints" covers="M23" section="ints-that-become-tracers"
"""Under jit, an int that is a leaf does not stay an int: each leaf becomes a tracer. Python's `range` cannot use a tracer, because a tracer has no value yet."""
fields = {name: "aux" if name in "BFI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="bools_stay_bools" covers="M23" section="ints-that-become-tracers"
"""Under jit, a bool that is a leaf does not stay a bool: each leaf becomes a tracer. Python's `if` cannot use a tracer, because a tracer is neither True nor False yet."""
fields = {name: "aux" if name in "BDF" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="functions_are_leaves"
"""Line B: as a leaf, the activation becomes an argument of a compiled program. Such a program takes arrays and numbers. When a leaf is a function, jit raises `TypeError`."""
fields = {name: "aux" if name in "DFI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="texts_are_leaves"
"""Line F: a text may stand in a tree as a leaf, and `jax.tree.map` takes it. But under jit leaves become arguments of a compiled program, and there a text raises `TypeError`."""
fields = {name: "aux" if name in "BDI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="statistics_are_aux"
"""It gets no gradient, but it is new after each call. A new value in aux_data is a new trace. A leaf is traced, so its value may be another one at each call."""
fields = {name: "leaf" if name in "ACEHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="keys_are_aux"
"""A key looks like a setting. But for JAX a key is an array, and each draw needs a new key. JAX cannot compare arrays in aux_data."""
fields = {name: "leaf" if name in "ACEGH" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="only_the_trained_are_leaves"
"""It is not trained by gradients. But a leaf need not be trained. A leaf is traced, so its value may be another one at each call."""
fields = {name: "leaf" if name in "AH" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="weights_are_aux"
"""In aux_data, the weights would be a part of the program. Then `jax.grad` gives no gradient for the weights, and jit cannot compare arrays with `==`."""
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
"""The activation of your layer is a leaf. Leaves become arguments of the compiled program. When a leaf is a function, jit raises `TypeError`, and `jax.tree.map` treats the function like an array."""
@partial(register_dataclass, data_fields=["w", "b", "activation"], meta_fields=[])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="not_registered" section="two-kinds-of-field"
"""For JAX your layer is one opaque leaf: `jax.tree.map` calls the function with the whole object, and jit raises an error. A dataclass is no node until you register it."""
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="arrays_are_aux" covers="M19" section="arrays-in-aux-data"
"""Your layer has too few leaves: an array seems to be in aux_data. jit compares aux_data with `==`. For two arrays `==` gives an array, so jit raises an error at the second layer."""
@partial(register_dataclass, data_fields=[], meta_fields=["w", "b", "activation"])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="aux_is_lost"
"""Your layer works until it is rebuilt: after `jax.tree.map` its activation is gone. A field that is neither a child nor in aux_data does not reach the new object."""
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
"""After a rebuild, your layer fails with a `TypeError`. Perhaps its activation is a tuple then. Unflatten gets first the aux_data, and then the children, exactly as flatten returned them. If the aux_data is a tuple, you have to take the activation out of it."""
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
"""Two layers with the same activation do not share a trace. Perhaps your aux_data holds a new function for each layer. Two functions are equal only if they are the same object, also when they do the same."""
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
"""Your layers with different activations share one trace, so one layer runs the program of another. jit compares the aux_data with `==`, and the aux_data of your layers is equal."""
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
"""Where `b` is not zero, your result is wrong. Perhaps you add `b` to the result of the activation. In the formula, `b` is inside the parentheses."""
@partial(register_dataclass, data_fields=["w", "b"], meta_fields=["activation"])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w) + self.b


# %% exercise="dense" misconception="the_product_the_other_way_round"
"""Your result is wrong where `w` is not symmetric, or `x` has several rows. A product of matrices depends on the order of its two sides. Compare your product with the formula."""
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
"""Your layer has one leaf, the weights: its bias is not among them. jit compares an array in aux_data with `==`. That gives an array, so jit raises an error at the second layer."""
@partial(register_dataclass, data_fields=["w"], meta_fields=["b", "activation"])
@dataclass
class Dense:
    w: jax.Array
    b: jax.Array
    activation: object

    def __call__(self, x):
        return self.activation(x @ self.w + self.b)


# %% exercise="dense" misconception="the_name_of_the_function" section="a-stale-answer"
"""Your layers share a trace when their activations are different but have the same name. So one layer runs the program of another. Perhaps your aux_data holds the name of the function. A name is not the function: all lambdas have the same name."""
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
"""2 is one trace for each value of the leaf. But JAX makes a program for a shape and a dtype; the values are its input."""
predictions = dict(A=2, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="python_numbers_are_static" section="hyperparameters-aux-or-leaf"
"""3 is one trace for each value of `x`. When a plain Python number is a leaf, JAX traces it like an array: its type counts, and its value does not."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=3, J=1)


# %% exercise="predict_traces" misconception="aux_is_ignored" section="part-of-the-type"
"""1 would be right if only the leaf counted. But aux_data is a part of the node's structure, and the structure is a part of the key under which jit keeps its programs."""
predictions = dict(A=1, B=1, C=1, D=1, E=1, F=1, G=1, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="only_the_last_trace_is_kept" section="part-of-the-type"
"""4 would be right if a new trace replaced the old trace. jit keeps all traces: a factor that it has seen before needs no new trace."""
predictions = dict(A=1, B=2, C=4, D=1, E=5, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="old_shapes_are_forgotten" section="part-of-the-type"
"""3 would be right if jit kept only its last trace. jit keeps all traces: a shape that it has seen before needs no new trace."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=3, I=2, J=1)


# %% exercise="predict_traces" misconception="each_call_is_traced" section="part-of-the-type"
"""This is the number of calls. jit traces once for each key of its cache. A call with a key that it has seen before uses the old trace."""
predictions = dict(A=2, B=2, C=4, D=2, E=5, F=3, G=2, H=3, I=3, J=2)


# %% exercise="predict_traces" misconception="types_in_aux_count" section="equality-and-hash"
"""2 is one trace for each type of the factor. For a leaf, int and float are two dtypes. For JAX, aux_data has no dtype. JAX compares it with Python's `==` only, and in Python `2 == 2.0`."""
predictions = dict(A=1, B=2, C=2, D=2, E=5, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="a_counter_is_harmless" covers="M22" section="a-counter-in-aux-data"
"""1 would be right if the value of the counter did not matter. But each new value in aux_data is another type of node."""
predictions = dict(A=1, B=2, C=2, D=1, E=1, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="equal_code_is_equal"
"""1 would be right if functions that do the same were equal. But two functions are equal only if they are the same object, and each run of a `lambda` makes a new object."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=1, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="nan_equals_nan"
"""1 would be right if the two values were equal. They look the same in print. But JAX compares them with `==`: try `==` in Python."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=1, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="shapes_do_not_count" section="two-kinds-of-field"
"""1 would be right if the shape did not matter. The values of an array may change, but JAX makes a compiled program for one shape of each leaf."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=1, I=2, J=1)


# %% exercise="predict_traces" misconception="numbers_are_numbers" section="two-kinds-of-field"
"""1 would be right if jit treated all numbers alike. But for jit, a Python number that is a leaf has a dtype, like an array: a float needs another program than a whole number."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=1, J=1)


# %% exercise="predict_traces" misconception="compared_by_identity" section="equality-and-hash"
"""2 would be right if JAX asked whether the tuples are the same object. They are two objects. But JAX compares aux_data with `==`, and two tuples are equal when their items are equal."""
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
"""Your states are right, but each step of a training needs a new trace: the counter is still in aux_data. In aux_data, a new number makes a new type of node."""
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
"""Under jit your counter starts again from 0 at each step. Perhaps the counter is neither a child nor in aux_data. Then the rebuilt object does not get it."""
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
"""Your counter becomes a float, and no longer is a whole number. It also costs a second trace: the first call gets an int, and all later calls get a float, which is another dtype."""
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
"""JAX traces your training twice: once for the first step, and once for all others. Perhaps the counter comes in as a Python int, and goes out as an array with a dtype of your choice. For jit, these are two types."""
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
"""Your `advance` works without jit, and fails under jit. Perhaps it makes a Python int of the counter. Under jit the counter is a tracer: it has a dtype, but no value that `int` could read."""
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
"""For jit, your states with two different names are the same, and share a trace. Perhaps the name is neither a child nor in aux_data: then nothing carries it into the rebuilt object."""
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
"""Your training needs one trace, but the counter does not count on. Perhaps its aux_data is equal to any other aux_data. Then jit uses the first program again, with the number of the first step inside."""
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
"""Your `advance` changes the state on which you call it: afterwards, the old state has the new step. Under jit, the change is made in a copy, and it is lost."""
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
"""After `advance`, the parameters in the old state are changed. Perhaps you subtract with `-=`. That writes into the NumPy array, and both states hold this array. A copy of the dict does not copy its arrays."""
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
"""After each step your counter is 1, whatever it was before. A new state does not know the counter of the old state by itself."""
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
"""With several parameters, your `advance` subtracts the gradient of another parameter. Perhaps you go through the values of both dicts together. A dict keeps the order in which its keys were set, and the two dicts may have two orders."""
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
"""Two of your configs with the same fields are not equal, so jit traces for each of them. Python compares objects of a class without `__eq__` by identity: each object is equal only to itself."""
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
"""Your config has no hash that works. It can also change: a field can be set, and the caller can change the list. A plain dataclass writes only `__eq__`, and a list has no hash."""
@dataclass
class Config:
    width: int
    names: list


# %% exercise="hashable_config" misconception="frozen_with_a_list" covers="M20"
"""Your config has no hash. A frozen dataclass computes its hash from the hashes of its fields, and a list has no hash. The caller may also change this list later."""
@dataclass(frozen=True)
class Config:
    width: int
    names: list


# %% exercise="hashable_config" misconception="a_hash_for_the_callers_list" covers="M21" section="a-stale-answer"
"""Your config has a hash, but it still holds the caller's list. When the caller changes this list, the config changes too, and so does its hash."""
@dataclass(frozen=True)
class Config:
    width: int
    names: list

    def __hash__(self):
        return hash((self.width, tuple(self.names)))


# %% exercise="hashable_config" misconception="frozen_for_itself_too"
"""No config of yours can be made: `FrozenInstanceError`. A frozen dataclass forbids `self.names = ...` everywhere, also in its own `__post_init__`."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        self.names = tuple(self.names)


# %% exercise="hashable_config" misconception="can_be_changed" covers="M21" section="a-stale-answer"
"""The fields of your config can be set later. jit's cache and Python's dicts keep the first hash of an object. When the object changes later, they take it for another one."""
@dataclass(unsafe_hash=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        self.names = tuple(self.names)


# %% exercise="hashable_config" misconception="names_do_not_count" section="a-stale-answer"
"""In your answer, configs with different names are equal. jit believes `==`: for the second config it runs the program of the first config, and no error tells you."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple = field(compare=False)

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(self.names))


# %% exercise="hashable_config" misconception="hash_by_identity"
"""Your equal configs have different hashes. Python's dicts and sets look for the hash first, and compare with `==` only then. So they do not find one config when you ask for an equal one."""
class Config:
    def __init__(self, width, names):
        self.__dict__.update(width=width, names=tuple(names))

    def __setattr__(self, name, value):
        raise AttributeError(name)

    def __eq__(self, other):
        return (self.width, self.names) == (other.width, other.names)

    __hash__ = object.__hash__


# %% exercise="hashable_config" misconception="order_is_lost"
"""In your answer, configs with the same names in another order are equal, or their names come back in another order. The order of layers is part of a network."""
@dataclass(frozen=True)
class Config:
    width: int
    names: tuple

    def __post_init__(self):
        object.__setattr__(self, "names", tuple(sorted(self.names)))


# %% exercise="hashable_config" misconception="names_are_a_set"
"""In your answer, the order of the names does not matter, and a name that comes twice counts once. Perhaps you keep the names in a set. A set has no order, and has each item once. In a network, one layer may come twice."""
@dataclass(frozen=True)
class Config:
    width: int
    names: frozenset

    def __post_init__(self):
        object.__setattr__(self, "names", frozenset(self.names))


# %% exercise="hashable_config" misconception="names_are_joined"
"""In your answer, two configs are equal when their names make the same text. Perhaps you join the names before you compare. Then you cannot see where one name ends and the next begins."""
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
"""In your answer, two configs are equal when they have the same number of names, whatever the names are. jit believes `==`: for the second config it runs the program of the first config, and no error tells you."""
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
"""In your answer, a config is equal to another config that has one more name. Perhaps you compare the names in pairs, with `zip`. `zip` stops where the shorter list ends."""
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
"""In your answer, two configs are equal when their hashes are equal. But a hash is only a number, and different values may have the same hash. Equal values have equal hashes; values with equal hashes need not be equal."""
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
"""In your answer, one name with a comma in it is equal to two names. Perhaps you join the names with a comma before you compare. A name may have any characters, also a comma."""
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
"""`names` cannot be set in your config, but `width` can. A number cannot change, but the field can get another number, and then the config has another hash."""
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
"""Your table is still in aux_data. The first call works, because jit has nothing to compare it with. At the second call jit compares two arrays with `==`, gets an array, and raises an error."""
@partial(register_dataclass, data_fields=["scale"], meta_fields=["table"])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * self.table[index]


# %% exercise="lookup_table" misconception="tuple_in_aux" covers="M19"
"""JAX can compare your table now, but the table is no leaf. So each new table is a new type of node, with a new trace, and a new program that holds all numbers of the table."""
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
"""Your table is in a wrapper, so to compare it raises no error. But the wrapper is equal only to itself: even two layers with equal tables do not share a trace."""
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
"""Your class raises no error any more, and needs one trace. But the second table gives the numbers of the first. Your aux_data is always equal, so jit uses the first program again."""
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
"""Your class raises no error any more, and needs one trace for each shape. But the second table gives the numbers of the first. Your aux_data says that tables of the same shape are equal, so jit uses the first program again."""
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
"""Your table is a leaf, and jit accepts it. But the table has a gradient too, so training would change it. Each leaf is traced, but you decide whether a leaf is trained."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * self.table[index]


# %% exercise="lookup_table" misconception="nothing_is_trained"
"""Your gradient is zero for `scale` too. `stop_gradient` stops the gradient of everything that its argument was computed from, and your argument is more than the table."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return jax.lax.stop_gradient(self.scale * self.table[index])


# %% exercise="lookup_table" misconception="numpy_reads_a_tracer" section="two-kinds-of-field"
"""Your layer works without jit, and fails under jit and `jax.grad`. Perhaps you make a NumPy array of the table. Under jit the table is a tracer: it has a shape and a dtype, but no values that NumPy could read."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * jnp.asarray(np.asarray(self.table))[index]


# %% exercise="lookup_table" misconception="the_scale_is_stopped"
"""Your gradients have changed places: the table has a gradient, and `scale` has zeros. The argument of `stop_gradient` gets no gradient; everything outside of it gets one."""
@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return jax.lax.stop_gradient(self.scale) * self.table[index]


# %% exercise="lookup_table" misconception="the_scale_is_aux" covers="M19"
"""The table is the only leaf of your layer, so `scale` has no gradient. If an array is in aux_data, jit compares it with `==`. That gives an array, and jit raises `ValueError`."""
@partial(register_dataclass, data_fields=["table"], meta_fields=["scale"])
@dataclass
class Lookup:
    table: jax.Array
    scale: jax.Array

    def __call__(self, index):
        return self.scale * jax.lax.stop_gradient(self.table)[index]


# %% exercise="lookup_table" misconception="whole_numbers_have_no_gradient"
"""The gradients are right, but for a table with fractions your numbers are wrong: the digits after the point are missing. Perhaps you turn the table into whole numbers, which have no gradient. That changes the values, too."""
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
"""Your function is traced twice when the rates are mixed. For jit, a Python int and a Python float have two dtypes, so 1 and 0.5 need two programs."""
def sweep(loss, w, rates):
    @jax.jit
    def after_step(w, rate):
        return loss(w - rate * jax.grad(loss)(w))

    return [float(after_step(w, rate)) for rate in rates]


# %% exercise="sweep" misconception="without_jit"
"""Python runs your `loss` once more for each rate. Perhaps you compute the loss or its gradient outside of `jax.jit`. A `jax.jit` around one of the two does nothing for the other. Without `jax.jit`, JAX keeps no program for the next call."""
def sweep(loss, w, rates):
    gradient = jax.grad(loss)(w)
    return [float(loss(w - rate * gradient)) for rate in rates]


# %% exercise="sweep" misconception="walks_on"
"""Only your first loss is right. Perhaps each rate starts from the `w` after the step of the rate before. To compare rates, all have to start from the same `w`."""
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
"""A rate that comes twice has only one loss in your list. Perhaps you collect the losses in a dict: a dict has each key once."""
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
"""Where the rates are whole numbers and floats, your losses are those of other rates. Perhaps all rates become whole numbers. That cuts off the digits after the point."""
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
"""jit uses the options of its first call again and again. It keeps the aux_data of the first call, and compares the next aux_data with it. Both are the same dict, so a change changes both, and they are always equal."""
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
"""Your aux_data has no hash. A list and a dict have no hash, and a copy of a dict is a dict. JAX's documentation asks for aux_data with a hash, and `static_argnums` fails without it."""
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
"""A rebuilt net has a dict of its own, but the aux_data is still the dict of the net. jit keeps this dict, and compares the next aux_data with it. Both are the same dict, so a change changes both, and they are always equal."""
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
"""jit still does not see a change. Perhaps you copy the options when the net is made. The options change later, so `tree_flatten` has to copy them."""
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
"""Equal options do not share a trace when their keys were set in another order. Two such dicts are equal. But if you make a tuple or a text of each dict, the two tuples or texts are not equal."""
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
"""Your options are leaves now, so jit turns them into tracers, also bools and ints. A Python `if` cannot use a tracer, and a text cannot be an argument of a compiled program."""
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
"""jit sees each change, but it also traces at each call where no option has changed. Perhaps flatten makes a new object that is equal only to itself."""
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
"""Your nets fail after they are rebuilt: then their options are no dict. jit rebuilds each node before your method runs, and unflatten has to make a dict of the aux_data."""
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
"""The options of a rebuilt net are no plain dict, or another rebuilt net has the same dict. Perhaps aux_data is a dict of a class of your own, and unflatten uses this dict without a copy. Then all rebuilt nets share it."""
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
"""Your rebuilt nets have `scale` and `negate` only. An option with another name is lost, and jit does not see its changes. It has to be in aux_data too."""
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
"""Your `tree_flatten` fails when the options hold a text and a number: Python cannot sort a text and a number. Perhaps you sort by the values. You can sort by the keys alone."""
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
"""Setting an option of your net has no effect, in a rebuilt net either. Perhaps `options` is a property that makes a new dict each time. The change is made in this new dict, and then the dict is lost."""
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
"""jit sees each change, but two nets that are rebuilt from one structure share their options. Perhaps unflatten uses a dict that is kept in aux_data. Then a change in one net is a change in all of them."""
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
"""Your function works without jit, and fails under jit: there the int leaf is a tracer. A tracer has a dtype but no value yet, and Python's `range` needs the value."""
def repeat(layer, x):
    for _ in range(layer["times"]):
        x = layer["w"] * x + layer["b"]
    return x


# %% exercise="repeat" misconception="value_of_a_tracer" covers="M23"
"""Your function works without jit, and fails under jit. Perhaps your code needs the value of the leaf: in `int`, `while`, `if`, or as the `length` of a `scan`. A tracer has no value: JAX traces once for all values."""
def repeat(layer, x):
    for _ in range(int(layer["times"])):
        x = layer["w"] * x + layer["b"]
    return x


# %% exercise="repeat" misconception="static_inside_jit" section="five-places-for-a-constant"
"""Your function works without jit, and fails under jit. Perhaps you call another jitted function with the leaf as a static argument. Under the outer jit the leaf is already a tracer, and a tracer has no hash."""
@partial(jax.jit, static_argnums=3)
def rounds(w, b, x, times):
    for _ in range(times):
        x = w * x + b
    return x


def repeat(layer, x):
    return rounds(layer["w"], layer["b"], x, layer["times"])


# %% exercise="repeat" misconception="always_from_the_start"
"""From the second round on, your result does not change. Perhaps the body of your loop always computes with the first `x`, and not with the result of the round before."""
def repeat(layer, x):
    def body(_, value):
        return layer["w"] * x + layer["b"]

    return jax.lax.fori_loop(0, layer["times"], body, x)


# %% exercise="repeat" misconception="as_many_as_ever_needed"
"""Your result is right for a few rounds, and wrong for many. Perhaps you always make a fixed number of rounds, and take the result of one of them. `times` may be larger than your number."""
def repeat(layer, x):
    for done in range(16):
        x = jnp.where(done < layer["times"], layer["w"] * x + layer["b"], x)
    return x


# %% exercise="repeat" misconception="at_least_once"
"""Your function makes a round even when `times` is 0. Perhaps your loop looks at `times` only after its first round."""
def repeat(layer, x):
    def body(_, x):
        return layer["w"] * x + layer["b"]

    return jax.lax.fori_loop(1, layer["times"], body, body(0, x))


# %% exercise="repeat" misconception="b_only_once"
"""Your result is right for one round only. Perhaps you raise `w` to a power. The `b` of the first round is multiplied by `w` in all the rounds after it, too."""
def repeat(layer, x):
    return layer["w"] ** layer["times"] * x + layer["b"]


# %% exercise="repeat" misconception="one_round_too_many"
"""Your function always makes one round too many. Perhaps your counter starts at 0, and you make a last round when the counter is equal to `times`."""
def repeat(layer, x):
    def body(_, x):
        return layer["w"] * x + layer["b"]

    return jax.lax.fori_loop(0, layer["times"] + 1, body, x)


# %% exercise="repeat" misconception="one_round_too_few"
"""Your function makes one round too few, unless `times` is 0. Perhaps your loop starts at 1. Like `range`, `fori_loop` stops before its `stop`."""
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
"""Your function changes the caller's layer. Python does not copy a dict when you call a function with it: `pop`, or to set an entry, changes the caller's dict. Under jit this does not show, because JAX rebuilds the dict for each call."""
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
"""You return the number of calls. Perhaps you count outside of the jitted function, or you call `jax.jit` anew for each call. The Python code inside a jitted function runs only while JAX traces."""
def traces_of(function, calls):
    jitted = jax.jit(function)
    traces = 0
    for arguments in calls:
        jitted(*arguments)
        traces += 1
    return traces


# %% exercise="traces_of" misconception="counts_on_for_ever"
"""Your second result counts on from the first. Perhaps the counter is a variable outside of your function. Each use has to start at 0."""
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
"""In a second use, you do not count calls that were made in the first use. Perhaps you jit the same function again: its old traces are still in jit's cache."""
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
"""Where only the aux_data or the kind of a node differs, you count one trace. Perhaps you count different shapes and dtypes, or different jaxprs. The key of jit's cache has more: the structure of the arguments, with the aux_data of each node."""
def traces_of(function, calls):
    def leaf_types(arguments):
        return [str(jax.typeof(leaf)) for leaf in jax.tree.leaves(arguments)]

    jitted = jax.jit(function)
    for arguments in calls:
        jitted(*arguments)
    return len({str(leaf_types(arguments)) for arguments in calls})


# %% exercise="traces_of" misconception="traced_at_most_once"
"""You count one trace at most. jit traces again for each new shape, dtype or structure."""
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
"""With two arguments, your function fails or counts wrongly. Perhaps you call it with the first entry of each tuple only, or with the tuple as one argument. Each entry is an argument."""
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
"""With two arguments, your function fails. Perhaps you use the tuple as one argument, and not its entries. Look up what `*` does in a call."""
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
"""In a later use, you count the traces of an earlier use again. Perhaps you ask for the size of jit's cache. This cache belongs to the function, and not to one `jax.jit` of it, and keeps all traces between two uses."""
def traces_of(function, calls):
    jitted = jax.jit(function)
    for arguments in calls:
        jitted(*arguments)
    return jitted._cache_size()


# %% exercise="traces_of" misconception="the_counter_is_local"
"""Your count fails with `UnboundLocalError`. When a function assigns to a name, the name is local for Python, and here it has no value yet. The inner function has to say that it means the outer name."""
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
"""You count the classes of the arguments. All arrays have one class, but jit looks at their shape and dtype. In a node, jit looks at the structure."""
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
"""Your `combine` loses `0`, `False` or `""`, or fails for arrays. Perhaps you use `or`, or `if` with a leaf. They ask whether the leaf is true, and a leaf may be false without being missing."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(
        lambda one, other: one or other, first, second, is_leaf=lambda node: node is None
    )


# %% exercise="partition" misconception="none_is_no_leaf_in_combine"
"""Your `combine` fails where a `None` meets a leaf. For `jax.tree.map`, `None` is a node without children, and a node does not match a leaf."""
def partition(tree, chosen):
    first = jax.tree.map(lambda leaf: leaf if chosen(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if chosen(leaf) else leaf, tree)
    return first, second


def combine(first, second):
    return jax.tree.map(lambda one, other: other if one is None else one, first, second)


# %% exercise="partition" misconception="second_has_everything"
"""Your second tree has all leaves, also the chosen ones. Each leaf belongs in one of the two trees only."""
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
"""Your two trees have changed places: the chosen leaves are in the second tree. The caller gets the tree of the chosen leaves first."""
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
"""Your trees hold True and False, which say only where a leaf belongs. The two trees have to hold the leaves themselves: `combine` gets nothing else."""
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
"""You return leaves without their trees. `combine` has to know where each leaf belongs. So both trees keep the whole structure, with `None` in the empty places."""
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
"""You call `chosen` with `None`. A `chosen` that compares numbers then fails. Perhaps you use `is_leaf` to stop at `None`. In `partition`, `None` is no leaf, and needs no choice."""
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
"""Your trees hold `False` where a leaf is missing. `False` is a leaf like any other leaf. Only `None` is no leaf for JAX."""
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
"""Your `combine` fails where the tree held `None` from the start. Perhaps you expect that one of the two trees always has a leaf. Here both trees have `None`, and the result has `None` too."""
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
"""Nothing is chosen where `chosen` returns a bool of NumPy. Perhaps you compare with `is True`. NumPy's `True` is another object than Python's `True`. A plain `if` accepts both."""
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
"""Your `combine` fails for arrays. Perhaps you compare with `== None` or `!= None`. For an array that gives an array, which is neither true nor false. Python has only one `None`, so ask with `is`."""
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
"""In your second tree, leaves are missing that are equal to a chosen leaf; or your function fails for arrays. Perhaps you leave out a leaf that is `in` the list of chosen leaves. `in` compares with `==`, and two leaves may be equal."""
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
"""Your functions work for a dict of leaves, and fail for other trees. A tree may be one leaf, a list, a node of a registered class, or a dict that contains all of these. JAX's functions work for any of them."""
def partition(tree, chosen):
    first = {key: leaf if chosen(leaf) else None for key, leaf in tree.items()}
    second = {key: None if chosen(leaf) else leaf for key, leaf in tree.items()}
    return first, second


def combine(first, second):
    return {key: second[key] if first[key] is None else first[key] for key in first}


# %% exercise="partition" misconception="holes_are_filled_in_order"
"""Where the tree already had a `None`, your `combine` puts a leaf of another place there. Perhaps it fills each `None` of the first tree with the next leaf of the second. Not every `None` was made by `partition`."""
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
"""Your functions work for dicts, lists and tuples, and take other nodes for leaves. Perhaps they look for these three types only. JAX knows more types of nodes: namedtuples, registered classes and others."""
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
"""Your `Static` compares values with a bare `==`. So `1 == 1.0 == True`, and jit runs the wrong program without an error. And each `nan` is unequal to every other `nan`, and costs a trace."""
@jax.tree_util.register_static
@dataclass(frozen=True)
class Static:
    value: object


# %% exercise="static_wrapper" misconception="nan_is_forgotten" section="never-equal"
"""Your answer tells the types apart. But two `nan` are not equal, and have different hashes. In Python `nan` is unequal even to itself, and since Python 3.10 its hash depends on the object."""
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
"""In your answer, two `Static` of `nan` are equal, but their hashes differ. Since Python 3.10 the hash of a `nan` depends on the object. Equal values must have equal hashes."""
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
"""Your `==` fails for two different values that are no numbers. Perhaps you call `math.isnan` or `np.isnan`. They take numbers only, and the value may be a text, a tuple or a function."""
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
"""Your `Static` has a good `==`, but jit does not use it: jit compares the aux_data that flatten returned. Perhaps your aux_data is the bare value, with the `==` of the value."""
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
"""Your `Static` compares values with a bare `==`, and has no hash. Perhaps it is a plain dataclass. A dataclass gets an `__eq__` that compares the fields, and then Python removes its `__hash__`."""
@register_dataclass
@dataclass
class Static:
    value: object = field(metadata=dict(static=True))


# %% exercise="static_wrapper" misconception="types_are_forgotten" section="equality-and-hash"
"""Your `nan` is right, but numbers of different types are equal: in Python, `2 == 2.0` and `1 == True`. Then jit runs the program for 2 also for 2.0, and the dtype of the result is wrong."""
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
"""Two of your `Static` with the same value are not equal, so jit traces for each new object. Python compares objects of a class without `__eq__` by identity."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value


# %% exercise="static_wrapper" misconception="not_registered"
"""For JAX your `Static` is one opaque leaf, and no node. jit raises an error, and `jax.tree.map` calls the function with the whole object. You have to register a class, also when it has `__eq__` and `__hash__`."""
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
"""Your `Static` has a leaf. So jit traces the value: a number becomes a tracer, and for a text or a function jit raises an error. `jax.tree.map` changes the value, too."""
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
"""All your `Static` are equal, so jit runs the program with the first value for all of them, without an error. jit does not look at the value, only at the result of `==`."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static)

    def __hash__(self):
        return 0


# %% exercise="static_wrapper" misconception="equality_without_hash" covers="M20" section="equality-and-hash"
"""Your `Static` has no hash. When a class defines `__eq__` but no `__hash__`, Python removes its hash. jit may work without a hash, but JAX's documentation asks for aux_data with a hash."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def key(self):
        return type(self.value), "nan" if self.value != self.value else self.value

    def __eq__(self, other):
        return isinstance(other, Static) and self.key() == other.key()


# %% exercise="static_wrapper" misconception="asks_others_for_their_value" section="equality-and-hash"
"""Comparing your `Static` with something else does not give False. Perhaps your `__eq__` expects that the other object has a `value` too. Python may compare your object with any other object."""
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
"""In your answer, a number and its text are equal, or two equal zeros are not equal. Perhaps you compare the texts that `str` or `repr` makes of the values. Different values may look the same, and equal values may look different."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static) and str(self.value) == str(other.value)

    def __hash__(self):
        return hash(str(self.value))


# %% exercise="static_wrapper" misconception="type_and_text_are_compared" section="equality-and-hash"
"""In your answer, `0.0` and `-0.0` are not equal, but `==` says that they are equal. Perhaps you compare the texts that `repr` makes of the values. Equal values may look different."""
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
"""In your answer, equal values are unequal when they are two objects. Perhaps you compare them with `is`. For small ints `is` works by luck: Python keeps one object for each small int."""
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
"""Your answer depends on the order: `a == b` is True, but `b == a` is False. Perhaps you use `isinstance` with the types of the two values. For `isinstance`, a bool is an int, and NumPy's float64 is a float, but an int is no bool."""
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
"""In your answer, a `nan` of Python and a `nan` of NumPy are equal, but they have two types. Perhaps you look for `nan` before you compare the types."""
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
"""In your answer, two values with the same hash are equal. But a hash is only a number, and different values may have the same hash. Equal values have equal hashes; values with equal hashes need not be equal."""
@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static) and hash(self) == hash(other)

    def __hash__(self):
        return hash((type(self.value), "nan" if self.value != self.value else self.value))


# %% exercise="static_wrapper" misconception="isnan_of_every_value"
"""Your `Static` fails for a value that is no number. Perhaps you call `math.isnan` or `np.isnan` with each value. They take numbers only, and the value may be a text, a tuple or a function."""
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
"""In your answer, two `nan` of Python are equal, but two `nan` of NumPy's float32 are not. Perhaps you look for `nan` only where the value is a `float`. NumPy's float32 is another type, and has a `nan`, too."""
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
