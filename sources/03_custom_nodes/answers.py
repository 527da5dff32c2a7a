# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="register_linear" variant="without_the_constructor"
def register_linear(cls):
    def unflatten(_, children):
        linear = object.__new__(cls)
        for name, child in zip(("weight", "bias"), children):
            object.__setattr__(linear, name, child)  # a frozen dataclass has another __setattr__
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ([linear.weight, linear.bias], ()), unflatten
    )


# %% exercise="register_linear" variant="with_keys"
def register_linear(cls):
    def flatten(linear):
        names = ["weight", "bias"]
        return [(jax.tree_util.GetAttrKey(name), getattr(linear, name)) for name in names], None

    jax.tree_util.register_pytree_with_keys(cls, flatten, lambda _, children: cls(*children))


# %% exercise="register_linear" variant="by_the_names_of_the_fields"
def register_linear(cls):
    jax.tree_util.register_dataclass(cls, data_fields=["weight", "bias"], meta_fields=[])


# %% exercise="register_linear" misconception="sets_the_attributes" section="who-calls-init"
"""Your function fails for a frozen dataclass. Perhaps your unflatten makes an empty object and then sets its attributes. In a frozen dataclass only the constructor can set attributes, and the constructor takes both children."""
def register_linear(cls):
    def unflatten(aux_data, children):
        linear = cls.__new__(cls)
        linear.weight, linear.bias = children
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="methods_are_enough" section="an-opaque-leaf"
"""JAX still sees your object as one leaf. Functions or methods that take the object apart are not enough. JAX opens only objects whose class is in its registry."""
def register_linear(cls):
    cls.tree_flatten = lambda self: ((self.weight, self.bias), None)
    cls.tree_unflatten = classmethod(lambda cls, aux_data, children: cls(*children))


# %% exercise="register_linear" misconception="children_only"
"""JAX uses your weight as the sequence of all children: it raises an error, or the items of the weight become leaves. Perhaps your flatten returns only the two children. JAX reads any pair as (children, aux_data)."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls, lambda linear: (linear.weight, linear.bias), lambda _, children: cls(*children)
    )


# %% exercise="register_linear" misconception="one_container_is_the_child"
"""Your object has one child instead of two. Perhaps this child is a container, such as a tuple, that holds both. For JAX such a container is one more level between your object and its leaves."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: (((linear.weight, linear.bias),), None),
        lambda _, children: cls(*children[0]),
    )


# %% exercise="register_linear" misconception="children_come_first"
"""Flatten works, but unflatten fails. JAX passes two arguments to unflatten: first aux_data, then all children in one sequence. Perhaps your unflatten takes them in the other order, or passes the whole sequence as one argument."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.weight, linear.bias), None),
        lambda children, aux_data: cls(*children),
    )


# %% exercise="register_linear" misconception="bias_first"
"""Your objects survive a map, but their leaves come in the wrong order. Your flatten decides the order of the children. JAX does not look at the names of attributes."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.bias, linear.weight), None),
        lambda _, children: cls(children[1], children[0]),
    )


# %% exercise="register_linear" misconception="swaps_on_the_way_back"
"""After a map, weight and bias have changed places. Unflatten gets the children in the order of flatten, but your unflatten passes them on in another order."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.weight, linear.bias), None),
        lambda _, children: cls(*reversed(children)),
    )


# %% exercise="register_linear" misconception="bias_is_static"
"""Your bias is not a leaf: a map does not change it, or a map over two objects fails. What is in aux_data belongs to the structure, and JAX never computes with it."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.weight,), linear.bias),
        lambda bias, children: cls(*children, bias),
    )


# %% exercise="register_linear" misconception="returns_the_children"
"""A map gives you a plain sequence instead of an object of the class. JAX puts whatever unflatten returns in the place of the node."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.weight, linear.bias), None),
        lambda _, children: tuple(children),
    )


# %% exercise="register_linear" misconception="in_the_order_they_are_stored"
"""Your children come in the order in which the class sets its attributes. Perhaps flatten takes them from `vars`, which lists attributes as they were set. JAX keeps the order that flatten gives."""
def register_linear(cls):
    def flatten(obj):
        names = tuple(vars(obj))
        return tuple(vars(obj).values()), names

    def unflatten(names, children):
        obj = object.__new__(cls)
        for name, child in zip(names, children):
            setattr(obj, name, child)
        return obj

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="values_in_the_structure"
"""Two objects with different numbers have different structures. What is in aux_data belongs to the structure. Do not put the children into aux_data as well."""
def register_linear(cls):
    def flatten(obj):
        return (obj.weight, obj.bias), (obj.weight, obj.bias)

    def unflatten(aux, children):
        return cls(*children)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# solution: (linear.weight, linear.bias) → [linear.weight, linear.bias]
# without_the_constructor: [linear.weight, linear.bias] → (linear.weight, linear.bias)
# without_the_constructor: ([linear.weight, linear.bias], ()) → ([linear.weight, linear.bias], [])
# with_keys: ['weight', 'bias'] → ('weight', 'bias')

# %% exercise="register_linear" equivalent="the prompt asks for no keys, so these may be any"
# with_keys: jax.tree_util.GetAttrKey(name) → name
# with_keys: jax.tree_util.GetAttrKey → jax.tree_util.DictKey


# %% exercise="register_linear" misconception="stored_values"
"""Where the class sets its bias first, weight and bias are swapped; where it has `__slots__`, nothing works. Perhaps you take the children from `vars`. `vars` shows how an object stores its attributes. It does not say what the children are."""
def register_linear(cls):
    def flatten(obj):
        return tuple(vars(obj).values()), None

    def unflatten(_, children):
        return cls(*children)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="none_is_no_child"
"""An object whose bias is `None` cannot be rebuilt. Perhaps your flatten leaves a `None` out. `None` is a child like any other: it has no leaves, but it keeps its place."""
def register_linear(cls):
    def flatten(obj):
        if obj.bias is None:
            return (obj.weight,), None
        return (obj.weight, obj.bias), None

    jax.tree_util.register_pytree_node(cls, flatten, lambda aux, children: cls(*children))


# %% exercise="register_linear" misconception="flattens_to_the_leaves"
"""Your objects work only while weight and bias are single leaves. Perhaps your flatten goes down to the leaves. Flatten describes one level only. A child may be a tree, and JAX flattens this tree by itself."""
def register_linear(cls):
    def flatten(obj):
        return jax.tree.leaves((obj.weight, obj.bias)), None

    def unflatten(aux, leaves):
        weight, bias = leaves
        return cls(weight, bias)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="children_become_arrays" section="leaves-that-are-no-arrays"
"""A rebuilt object holds arrays, whatever was put in, or it cannot be rebuilt at all. Perhaps unflatten converts its children to arrays. But JAX also puts trees, `None` and tracers in the places of the children."""
def register_linear(cls):
    def unflatten(aux, children):
        weight, bias = children
        return cls(jnp.asarray(weight), jnp.asarray(bias))

    jax.tree_util.register_pytree_node(cls, lambda obj: ((obj.weight, obj.bias), None), unflatten)


# %% exercise="model_state" starter=True
class ModelState:
    """The state of a small model: `ModelState(weight, bias, step)`."""

    def __init__(self, weight, bias, step):
        raise NotImplementedError  # write a registered dataclass in place of this class


def zeroed(state):
    """Return `state` with zeros in every leaf."""
    raise NotImplementedError  # your answer goes here, in place of this line


def predict(state, x):
    """Return `x @ weight + bias`."""
    raise NotImplementedError  # your answer goes here, in place of this line


# %% exercise="model_state" variant="register_dataclass_and_jit_later"
@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    leaves, structure = jax.tree.flatten(state)
    return jax.tree.unflatten(structure, [jnp.zeros_like(leaf) for leaf in leaves])


predict = jax.jit(lambda state, x: jnp.dot(x, state.weight) + state.bias)


# %% exercise="model_state" variant="with_keys_and_slots"
@jax.tree_util.register_pytree_with_keys_class
@dataclass(slots=True)
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten_with_keys(self):
        names = [each.name for each in fields(self)]
        return [(jax.tree_util.GetAttrKey(name), getattr(self, name)) for name in names], None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="the_class_is_not_registered"
"""Your state is one leaf. Perhaps no decorator registers the class, or a decorator above it makes another class, as `dataclass(slots=True)` does. The registry contains only the exact class that you registered."""
@dataclass(slots=True)
@jax.tree_util.register_pytree_node_class
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten(self):
        return (self.weight, self.bias, self.step), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="no_classmethod"
"""JAX takes your state apart, but fails to rebuild it. JAX calls `ModelState.tree_unflatten(aux_data, children)` on the class. At this moment there is no object that could be `self`."""
@jax.tree_util.register_pytree_node_class
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten(self):
        return (self.weight, self.bias, self.step), None

    def tree_unflatten(self, aux_data, children):
        return ModelState(*children)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="aux_data_first" section="flatten-and-unflatten"
"""Your state cannot be flattened. `tree_flatten` returns the children first and aux_data second. `tree_unflatten` gets aux_data first and the children second."""
@jax.tree_util.register_pytree_node_class
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten(self):
        return None, (self.weight, self.bias, self.step)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="step_is_static" section="flatten-and-unflatten"
"""Your `step` is not a leaf. In aux_data the `step` belongs to the structure: a map never reaches it, and two states with different steps do not match."""
@jax.tree_util.register_pytree_node_class
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten(self):
        return (self.weight, self.bias), self.step

    @classmethod
    def tree_unflatten(cls, step, children):
        return cls(*children, step)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="step_stays_an_int" section="a-state-with-an-int" covers="C2"
"""In your zeroed state the step is Python's `0`. A `step` of type `int` is a leaf like any other, and `jnp.zeros_like` makes an array of it, even of an int."""
@jax.tree_util.register_pytree_node_class
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten(self):
        return (self.weight, self.bias, self.step), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


def zeroed(state):
    return jax.tree.map(lambda leaf: leaf * 0, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="no_jit" section="methods-under-jit"
"""Your numbers are right, but `predict` is not jitted. Because the class is registered, a jitted function can take a `ModelState`. But registering does not jit a function."""
@jax.tree_util.register_pytree_node_class
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten(self):
        return (self.weight, self.bias, self.step), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="zeroed_makes_a_dict" section="an-opaque-leaf"
"""Your `zeroed` returns an object of another type than the one that it got. A map over a registered node returns a node of the same class, so you need not take the state apart yourself."""
@jax.tree_util.register_pytree_node_class
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int

    def tree_flatten(self):
        return (self.weight, self.bias, self.step), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


def zeroed(state):
    return {
        each.name: jax.tree.map(jnp.zeros_like, getattr(state, each.name)) for each in fields(state)
    }


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="step_is_kept" section="an-opaque-leaf"
"""Your `zeroed` does not change the `step`, or it fails where a field is not an array. Perhaps it sets the fields one by one. A map over the state reaches every leaf, whatever the fields hold."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return replace(
        state, weight=jnp.zeros_like(state.weight), bias=jnp.zeros_like(state.bias)
    )


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="children_are_sorted" section="flatten-and-unflatten"
"""Your leaves come in alphabetical order of the fields. JAX sorts the keys of a dict. For your own node, JAX uses the order that your flatten gives."""
from functools import partial


@partial(
    jax.tree_util.register_dataclass,
    data_fields=["bias", "step", "weight"],
    meta_fields=[],
)
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="weight_times_x" section="methods-under-jit"
"""Your predictions are those of the transposed weight. `x @ weight` and `weight @ x` differ as soon as the weight is not symmetric."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return state.weight @ x + state.bias


# %% exercise="model_state" misconception="a_dataclass_is_enough" section="an-opaque-leaf"
"""Your state is one leaf. `@dataclass` writes a constructor, but it does not tell JAX about the class. JAX opens an object only if its class is registered."""
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return ModelState(
        jnp.zeros_like(state.weight), jnp.zeros_like(state.bias), jnp.zeros_like(state.step)
    )


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="zeros_of_the_shape" section="a-state-with-an-int"
"""Your zeros have the right shapes, but all of them are floats. `jnp.zeros(shape)` does not know the dtype of the leaf."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(lambda leaf: jnp.zeros(jnp.shape(leaf)), state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="the_state_is_static" section="methods-under-jit"
"""Your `predict` fails with every state. Perhaps the state is a static argument of `jax.jit`. JAX uses the hash of a static argument, and it never flattens a static argument."""
from functools import partial


@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@partial(jax.jit, static_argnums=0)
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# solution: (self.weight, self.bias, self.step) → [self.weight, self.bias, self.step]

# %% exercise="model_state" equivalent="the prompt says nothing of frozen classes, slots or keys"
# register_dataclass_and_jit_later: dataclass(frozen=True) → dataclass()
# with_keys_and_slots: jax.tree_util.GetAttrKey(name) → name
# with_keys_and_slots: jax.tree_util.GetAttrKey → jax.tree_util.DictKey
# with_keys_and_slots: dataclass(slots=True) → dataclass()


# %% exercise="model_state" misconception="zeros_of_each_field"
"""`zeroed` fails where a field is `None` or a list. Perhaps it calls `jnp.zeros_like` on each field. A field can be a tree, and then its leaves are deeper."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: jax.Array


def zeroed(state):
    return ModelState(
        weight=jnp.zeros_like(state.weight),
        bias=jnp.zeros_like(state.bias),
        step=jnp.zeros_like(state.step),
    )


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="fields_become_arrays" section="leaves-that-are-no-arrays"
"""Your state holds arrays where something else was put in, and it cannot hold a text or a tree. Perhaps the constructor or `__post_init__` converts the fields to arrays. It runs whenever JAX rebuilds a state, and then a field can be any object."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: jax.Array

    def __post_init__(self):
        self.weight = jnp.asarray(self.weight)
        self.bias = jnp.asarray(self.bias)
        self.step = jnp.asarray(self.step)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="predict_init" starter=True
# Before the lines: total = jax.jit(lambda pair: pair.a + pair.b)
predictions = {
    "A": ...,  # jax.tree.leaves(pair)
    "B": ...,  # jax.tree.structure(pair)
    "C": ...,  # jax.tree.map(abs, pair)
    "D": ...,  # jax.tree.map(abs, [pair, {"one": pair, "two": pair}])
    "E": ...,  # jax.tree.reduce(max, pair)
    "F": ...,  # total(pair)
    "G": ...,  # total(pair), once more
    "H": ...,  # jax.grad(lambda pair: pair.a * pair.b)(pair)
    "I": ...,  # jax.tree.map(abs, quick)
    "J": ...,  # jax.tree.map(abs, data)
}

# %% exercise="predict_init" variant="numpy_integers"
predictions = dict(zip("ABCDEFGHIJ", np.array([0, 0, 1, 3, 0, 1, 0, 2, 0, 1])))

# %% exercise="predict_init" variant="counted_by_running_them"
made = []


class Pair:
    def __init__(self, a, b):
        made.append(self)
        self.a, self.b = a, b


class Quick(Pair):
    pass


@jax.tree_util.register_dataclass
@dataclass
class Data:
    a: float
    b: float

    def __post_init__(self):
        made.append(self)


def flatten(pair):
    return (pair.a, pair.b), None


def quickly(_, children):
    quick = object.__new__(Quick)
    quick.a, quick.b = children
    return quick


jax.tree_util.register_pytree_node(Pair, flatten, lambda _, children: Pair(*children))
jax.tree_util.register_pytree_node(Quick, flatten, quickly)
pair, quick, data = Pair(1.0, 2.0), Quick(1.0, 2.0), Data(1.0, 2.0)
total = jax.jit(lambda pair: pair.a + pair.b)


def count(line, *inputs):
    made.clear()
    line(*inputs)
    return len(made)


predictions = {
    "A": count(jax.tree.leaves, pair),
    "B": count(jax.tree.structure, pair),
    "C": count(jax.tree.map, abs, pair),
    "D": count(jax.tree.map, abs, [pair, {"one": pair, "two": pair}]),
    "E": count(jax.tree.reduce, max, pair),
    "F": count(total, pair),
    "G": count(total, pair),
    "H": count(jax.grad(lambda pair: pair.a * pair.b), pair),
    "I": count(jax.tree.map, abs, quick),
    "J": count(jax.tree.map, abs, data),
}

# %% exercise="predict_init" misconception="init_runs_once" covers="M14 C37"
"""0 would be right if `__init__` ran only where you call the class yourself. But `__init__` runs whenever unflatten calls the class, and so whenever JAX puts a node together."""
predictions = {"A": 0, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0, "G": 0, "H": 0, "I": 0, "J": 0}

# %% exercise="predict_init" misconception="looking_rebuilds"
"""JAX only looks at leaves or at the structure here. To take a node apart, JAX reads its children. This makes no new object."""
predictions = {"A": 1, "B": 1, "C": 1, "D": 3, "E": 1, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="once_per_call"
"""1 would be right if JAX made one object for the whole call, or for the object that is in three places. But JAX puts the tree together node by node, and each node is a new object."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 1, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="every_call_traces" section="methods-under-jit"
"""1 would be right if the second call of the jitted function made an object too. JAX makes the object for the trace. The next call takes the leaves and runs the compiled program."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 1, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="jit_takes_the_object" section="methods-under-jit"
"""0 would be right if a jitted function got your own object. The function gets a copy that JAX puts together from tracers, and this runs `__init__`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 0, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="a_gradient_is_no_node" section="gradients-through-a-node"
"""1 counts one object, but JAX makes more. The function gets a node of tracers. And the gradient is a node of the same class."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 1, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="every_object_is_initialised"
"""1 would be right if every new object ran `__init__`. `object.__new__` makes an object of `Quick` without `__init__`: Python runs `__init__` only when you call the class."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 2, "I": 1, "J": 1}

# %% exercise="predict_init" misconception="dataclasses_are_copied"
"""0 would be right if the dataclass were copied. JAX rebuilds it by calling the class with its fields, and the generated `__init__` ends in `__post_init__`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 0}


# %% exercise="predict_init" misconception="once_for_each_leaf"
"""This is the number of leaves, and of the calls of `abs`. `__init__` runs once for each node that JAX puts together, not once for each child."""
predictions = {"A": 0, "B": 0, "C": 2, "D": 6, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 2}


# %% exercise="register_fields" variant="by_drawing_up_two_lists"
def register_fields(cls, static=()):
    data, meta = [], []
    for each in fields(cls):
        if each.init:
            (meta if each.name in static else data).append(each.name)
    jax.tree_util.register_dataclass(cls, data_fields=data, meta_fields=meta)
    return cls


# %% exercise="register_fields" variant="with_keys"
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in data]
        return children, tuple(getattr(node, name) for name in meta)

    def unflatten(aux_data, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux_data)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="every_field" covers="M18"
"""Registering fails for a class with an `init=False` field. Perhaps you hand over every field. JAX rebuilds a dataclass by calling the class, and the constructor does not take such a field."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls)]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="data_and_meta" covers="M18"
"""Registering fails as soon as something is static. Perhaps a static name is in both lists. A field is either a child or part of the structure. If it is in both lists, JAX raises an error."""
def register_fields(cls, static=()):
    data = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, data, list(static))


# %% exercise="register_fields" misconception="static_fields_are_dropped"
"""A static field is lost when JAX rebuilds the object: the field has its default again, or the constructor raises an error because it is missing. JAX keeps the fields that are in one of the two lists. It does not keep the others."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    return jax.tree_util.register_dataclass(cls, data, [], drop_fields=list(static))


# %% exercise="register_fields" misconception="all_are_children"
"""Your static fields are leaves: a map changes them. A field is not a leaf if its name is among the meta fields."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, names, [])


# %% exercise="register_fields" misconception="jax_finds_the_fields" covers="M18"
"""Your `static` has no effect, or JAX refuses it. Perhaps you hand over the class alone. Then JAX uses all its fields: every field is a child, unless the field itself is marked as static."""
def register_fields(cls, static=()):
    return jax.tree_util.register_dataclass(cls)


# %% exercise="register_fields" misconception="names_are_sorted"
"""Your leaves come in alphabetical order. JAX sorts the keys of a dict. The children of a dataclass come in the order of the names that you give to JAX."""
def register_fields(cls, static=()):
    names = {each.name for each in fields(cls) if each.init}
    meta = set(static)
    return jax.tree_util.register_dataclass(cls, sorted(names - meta), sorted(meta))


# %% exercise="register_fields" misconception="own_fields_only"
"""Registering fails for a class that inherits fields. `__annotations__` of a class lists only the fields in its own body. The constructor takes the inherited fields too."""
def register_fields(cls, static=()):
    own = [name for name in cls.__annotations__ if cls.__dataclass_fields__[name].init]
    data = [name for name in own if name not in static]
    meta = [name for name in own if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="returns_nothing"
"""The class is registered, but your function returns `None`. Used as a decorator, your function would replace the class by `None`."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="children_first_in_the_constructor" section="flatten-and-unflatten"
"""A rebuilt object has its values in the wrong fields, or a keyword-only field raises an error. Perhaps unflatten passes first the children, then the static values, by position. The constructor needs the values in the order of the fields, or with their names."""
def register_fields(cls, static=()):
    names = [f.name for f in fields(cls) if f.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten_with_keys(obj):
        children = [(jax.tree_util.GetAttrKey(n), getattr(obj, n)) for n in data]
        return children, tuple(getattr(obj, n) for n in meta)

    def unflatten(aux, children):
        return cls(*children, *aux)

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten)
    return cls


# %% exercise="register_fields" misconception="computed_fields_are_static" section="fields-of-a-dataclass"
"""After a map, a computed field still has its old value. Perhaps the field is in aux_data. Then JAX keeps the old value, and it replaces the value that `__post_init__` computed."""
def register_fields(cls, static=()):
    data = [f.name for f in fields(cls) if f.init and f.name not in static]
    meta = [f.name for f in fields(cls) if f.name not in data]

    def flatten_with_keys(obj):
        children = [(jax.tree_util.GetAttrKey(n), getattr(obj, n)) for n in data]
        return children, tuple(getattr(obj, n) for n in meta)

    def unflatten(aux, children):
        new = object.__new__(cls)
        for name, value in [*zip(data, children), *zip(meta, aux)]:
            object.__setattr__(new, name, value)
        return new

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten)
    return cls


# %% exercise="register_fields" misconception="computed_fields_are_children" section="fields-of-a-dataclass"
"""A computed field is among your leaves. With `init=False`, `__post_init__` computes the value from the other fields, again in each rebuilt object."""
def register_fields(cls, static=()):
    names = [f.name for f in fields(cls)]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten_with_keys(obj):
        children = [(jax.tree_util.GetAttrKey(n), getattr(obj, n)) for n in data]
        return children, tuple(getattr(obj, n) for n in meta)

    def unflatten(aux, children):
        new = object.__new__(cls)
        for name, value in [*zip(data, children), *zip(meta, aux)]:
            object.__setattr__(new, name, value)
        return new

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten)
    return cls


# %% exercise="register_fields" misconception="computed_fields_are_lost" section="fields-of-a-dataclass"
"""A rebuilt object has no computed field. Perhaps unflatten makes it by `object.__new__`. Then `__post_init__` does not run, and an attribute that it sets is missing."""
def register_fields(cls, static=()):
    names = [f.name for f in fields(cls) if f.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten_with_keys(obj):
        children = [(jax.tree_util.GetAttrKey(n), getattr(obj, n)) for n in data]
        return children, tuple(getattr(obj, n) for n in meta)

    def unflatten(aux, children):
        new = object.__new__(cls)
        for name, value in [*zip(data, children), *zip(meta, aux)]:
            object.__setattr__(new, name, value)
        return new

    jax.tree_util.register_pytree_with_keys(cls, flatten_with_keys, unflatten)
    return cls


# %% exercise="register_fields" misconception="no_keys" section="paths-with-names"
"""Your paths hold numbers, not names. If a class is registered without keys, its children have no names, so JAX numbers them."""
def register_fields(cls, static=()):
    names = [f.name for f in fields(cls) if f.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(obj):
        return [getattr(obj, n) for n in data], tuple(getattr(obj, n) for n in meta)

    def unflatten(aux, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux)))

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# by_drawing_up_two_lists: ([], []) → [[], []]
# with_keys: tuple((getattr(node, name) for name in meta)) → list((getattr(node, name) for name in meta))


# %% exercise="register_fields" misconception="order_of_the_signature"
"""With a keyword-only field, your children come in another order. Perhaps you take the names from the constructor's signature. In the signature, keyword-only fields come last. The fields of the class have another order."""
import inspect


def register_fields(cls, static=()):
    names = list(inspect.signature(cls).parameters)
    return jax.tree_util.register_dataclass(
        cls,
        data_fields=[n for n in names if n not in static],
        meta_fields=[n for n in names if n in static],
    )


# %% exercise="readable_paths" starter=True
@jax.tree_util.register_pytree_node_class
class Layers:
    """Layers by name, in the order in which they are called."""

    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten(self):
        return self.values, self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" variant="by_function"
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)


def with_keys(layers):
    pairs = [(jax.tree_util.DictKey(n), v) for n, v in zip(layers.names, layers.values)]
    return pairs, layers.names


jax.tree_util.register_pytree_with_keys(
    Layers, with_keys, Layers, flatten_func=lambda layers: (layers.values, layers.names)
)


# %% exercise="readable_paths" variant="both_methods"
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten(self):
        return self.values, self.names

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return list(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" variant="own_keys"
class Name:
    """A key that is written as the key of a dict."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"[{self.name!r}]"


@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = list(names)
        self.values = list(values)

    def tree_flatten_with_keys(self):
        return [(Name(n), v) for n, v in zip(self.names, self.values)], tuple(self.names)

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="no_keys"
"""Your paths read `<flat index 0>`. If a class is registered without keys, its children have no names, so JAX numbers them."""
@jax.tree_util.register_pytree_node_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten(self):
        return self.values, self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="decorator_without_keys"
"""JAX looks for a method `tree_flatten` and finds none. Perhaps you still use the old decorator. It registers without keys, and it does not use `tree_flatten_with_keys`."""
@jax.tree_util.register_pytree_node_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="keys_are_texts"
"""Your paths begin with the bare name, without brackets. Perhaps your keys are texts. JAX accepts any object as a key, and `keystr` writes a text without brackets."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        return tuple(zip(self.names, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="keys_of_attributes"
"""Your paths begin with a dot, as if the layers were attributes. Each type of key has its own text. Your type of key is for an attribute, not for the key of a dict."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = [jax.tree_util.GetAttrKey(name) for name in self.names]
        return tuple(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="keys_are_numbers"
"""Your paths hold numbers, like those of a list. The places are right, but the paths do not contain the names of your layers."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.SequenceKey, range(len(self.names)))
        return tuple(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="one_dict_is_the_child"
"""Your layers come in alphabetical order, or the path has one step too many. Perhaps your only child is a dict: JAX sorts the keys of every dict."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        parts = dict(zip(self.names, self.values))
        return ((jax.tree_util.GetAttrKey("values"), parts),), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, [values[0][name] for name in names])


# %% exercise="readable_paths" misconception="sorted_names"
"""Your layers come back in alphabetical order. JAX sorts the keys of a dict. For your own node, JAX uses the order of your flatten, so you need not sort anything."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        pairs = sorted(zip(self.names, self.values), key=lambda pair: pair[0])
        names = tuple(name for name, _ in pairs)
        return [(jax.tree_util.DictKey(name), value) for name, value in pairs], names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="names_are_lost"
"""The paths are right, but a rebuilt object has lost its names. JAX uses the keys for paths only. Unflatten gets the children and aux_data, but never the keys."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), None

    @classmethod
    def tree_unflatten(cls, _, values):
        return cls(range(len(values)), values)


# %% exercise="readable_paths" misconception="child_before_key"
"""Your leaves are keys, and your paths contain layers. Each pair is first a key, then a child."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(self.values, keys)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="brackets_in_the_key"
"""Your paths have brackets and quotes twice. A key object of JAX adds brackets and quotes by itself. Give it the name without them."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = [jax.tree_util.DictKey(f"['{name}']") for name in self.names]
        return list(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="a_dict_around_each_child"
"""Each path has one step too many: it contains the name twice. Perhaps you put each child into a dict. The key already gives the name, so the child needs no dict around it."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        children = [
            (jax.tree_util.DictKey(name), {name: value})
            for name, value in zip(self.names, self.values)
        ]
        return children, self.names

    @classmethod
    def tree_unflatten(cls, names, children):
        return cls(names, [child[name] for name, child in zip(names, children)])


# %% exercise="readable_paths" misconception="names_are_sorted_in_the_structure" section="flatten-and-unflatten"
"""A rebuilt object has its values under other names. The names in your aux_data are sorted, but the children are not. JAX gives aux_data and the children to unflatten as flatten returned them."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), tuple(sorted(self.names))

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" equivalent="any sequence does for children, and any value that compares equal for aux_data; the prompt leaves open what kind of sequence an object holds"
# solution: tuple(names) → names
# solution: tuple(names) → list(names)
# solution: tuple(values) → values
# solution: tuple(values) → list(values)
# solution: tuple(zip(keys, self.values)) → zip(keys, self.values)
# solution: tuple(zip(keys, self.values)) → list(zip(keys, self.values))
# by_function: tuple(names) → names
# by_function: tuple(names) → list(names)
# by_function: tuple(values) → values
# by_function: tuple(values) → list(values)
# both_methods: tuple(names) → names
# both_methods: tuple(names) → list(names)
# both_methods: tuple(values) → values
# both_methods: tuple(values) → list(values)
# both_methods: list(zip(keys, self.values)) → zip(keys, self.values)
# both_methods: list(zip(keys, self.values)) → tuple(zip(keys, self.values))
# own_keys: list(names) → names
# own_keys: list(names) → tuple(names)
# own_keys: list(values) → values
# own_keys: list(values) → tuple(values)
# own_keys: tuple(self.names) → self.names
# own_keys: tuple(self.names) → list(self.names)

# %% exercise="readable_paths" equivalent="JAX drops the keys itself where it is given no way without them"
# by_function: jax.tree_util.register_pytree_with_ … ers: (layers.values, layers.names)) → jax.tree_util.register_pytree_with_keys(Layers, with_keys, Layers)


# %% exercise="normal" starter=True
@jax.tree_util.register_pytree_node_class
class Normal:
    """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""

    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" variant="a_method_that_checks"
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.fill(jnp.asarray(mean), jnp.asarray(std), name)
        self.validate()

    def fill(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        return self

    def validate(self):
        if self.mean.shape != self.std.shape or (self.std <= 0).any():
            raise ValueError(f"not a normal distribution: {self.mean}, {self.std}")

    def tree_flatten(self):
        return [self.mean, self.std], (self.name,)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls.__new__(cls).fill(*children, *aux_data)


# %% exercise="normal" variant="a_flag"
class Normal:
    def __init__(self, mean, std, name, rebuilt=False):
        if not rebuilt:
            mean, std = np.asarray(mean, np.float32), np.asarray(std, np.float32)
            if mean.shape != std.shape or np.any(std <= 0):
                raise ValueError("mean and std do not go together")
        self.mean, self.std, self.name = mean, std, name


jax.tree_util.register_pytree_node(
    Normal,
    lambda normal: ((normal.mean, normal.std), normal.name),
    lambda name, children: Normal(*children, name, rebuilt=True),
)

# %% exercise="normal" misconception="validates_what_jax_puts_in" covers="M13"
"""JAX fails to rebuild your object: the constructor checks or converts what JAX puts in. JAX may put in a negative gradient, a tracer, `None` or any other object. So unflatten must accept every object."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="no_checks_at_all"
"""JAX can rebuild your object, but now every caller can make a wrong one. The constructor must still check what its callers give. Only unflatten must not run these checks."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="checks_arrays_only" covers="M13"
"""Your object is rebuilt from tracers and texts, but a map or a gradient with negative numbers fails. Negative numbers can be real arrays too, although they are not a valid `std`."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        given = (int, float, list, np.ndarray, jax.Array)
        if isinstance(std, given) and not isinstance(std, jax.core.Tracer):
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
            if self.mean.shape != self.std.shape or not (self.std > 0).all():
                raise ValueError("mean and std do not go together")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="lets_tracers_through" covers="M13"
"""Under jit your object is rebuilt, but a map to negative numbers, texts or `None` fails. Perhaps the constructor skips its checks for tracers only. JAX puts in other objects as well."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if not isinstance(std, jax.core.Tracer):
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
            if self.mean.shape != self.std.shape or not (self.std > 0).all():
                raise ValueError("mean and std do not fit")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="converts_what_jax_puts_in" covers="M13"
"""Your rebuilt object converts what JAX put in to arrays. A text or `None` cannot become an array, and a whole number should stay as it is. Unflatten must not convert anything."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = [jnp.asarray(child) for child in children]
        normal.name = name
        return normal


# %% exercise="normal" misconception="catches_the_error" covers="M13"
"""When JAX rebuilds your object, values that pass the checks are converted: a whole number comes back as an array. Perhaps unflatten tries the constructor first. Then the constructor runs at each rebuild."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        try:
            return cls(*children, name)
        except (TypeError, ValueError):
            normal = object.__new__(cls)
            normal.mean, normal.std = children
            normal.name = name
            return normal


# %% exercise="normal" misconception="no_name" section="leaves-that-are-no-arrays"
"""A rebuilt object has no `name`. An object made without `__init__` has only the attributes that unflatten sets. The static values come to unflatten in aux_data."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        return normal


# %% exercise="normal" misconception="a_valid_one_was_seen" covers="M14"
"""Your constructor accepts a wrong `std` if another object was made before. Perhaps the constructor stores in the class that it has done the check. All objects share the class, so later callers are not checked."""
@jax.tree_util.register_pytree_node_class
class Normal:
    checked = False

    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if not Normal.checked:
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
            if self.mean.shape != self.std.shape or not (self.std > 0).all():
                raise ValueError("mean and std do not go together")
            Normal.checked = True

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="stores_only" section="leaves-that-are-no-arrays"
"""Your constructor only stores what it gets: it converts no numbers to arrays, and it accepts wrong values. Callers use the constructor, so it must convert and check. JAX can make an object without the constructor."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="checks_are_switched_off" section="leaves-that-are-no-arrays" covers="M16"
"""Once JAX has rebuilt an object, your constructor accepts wrong numbers. Perhaps unflatten switches the checks off in the class. All objects share the class, so later callers are not checked."""
@jax.tree_util.register_pytree_node_class
class Normal:
    checking = True

    def __init__(self, mean, std, name):
        self.name = name
        if not Normal.checking:
            self.mean, self.std = mean, std
            return
        self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        Normal.checking = False
        return cls(*children, name)


# %% exercise="normal" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# solution: (jnp.asarray(mean), jnp.asarray(std), name) → [jnp.asarray(mean), jnp.asarray(std), name]
# solution: (self.mean, self.std) → [self.mean, self.std]
# a_method_that_checks: (mean, std, name) → [mean, std, name]
# a_method_that_checks: [self.mean, self.std] → (self.mean, self.std)
# a_method_that_checks: (self.name,) → [self.name]
# a_flag: (np.asarray(mean, np.float32), np.asarray(std, np.float32)) → [np.asarray(mean, np.float32), np.asarray(std, np.float32)]
# a_flag: (mean, std, name) → [mean, std, name]
# a_flag: (normal.mean, normal.std) → [normal.mean, normal.std]

# %% exercise="normal" equivalent="JAX keeps one tuple for equal shapes of its arrays"
# solution: self.mean.shape != self.std.shape → self.mean.shape is not self.std.shape
# a_method_that_checks: self.mean.shape != self.std.shape → self.mean.shape is not self.std.shape

# %% exercise="normal" equivalent="the message is free, and JAX makes float32 of NumPy's float64 in the comparison"
# a_method_that_checks: {self.mean} → ''
# a_method_that_checks: {self.std} → ''
# a_flag: np.asarray(mean, np.float32) → np.asarray(mean)
# a_flag: np.asarray(std, np.float32) → np.asarray(std)


# %% exercise="running_mean" starter=True
@jax.tree_util.register_pytree_node_class
class RunningMean:
    """The mean of `function(x)` over all `x` that were added."""

    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @jax.jit
    def add(self, x):
        self.total = self.total + self.function(x)
        self.count = self.count + 1

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" variant="changes_the_copy_and_returns_it"
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @jax.jit
    def add(self, x):
        self.total = self.total + self.function(x)
        self.count = self.count + 1
        return self

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" variant="a_dataclass"
@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class RunningMean:
    function: object = field(metadata={"static": True})
    total: float = 0.0
    count: int = 0

    @jax.jit
    def add(self, x):
        return replace(self, total=self.total + self.function(x), count=self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" variant="a_jitted_helper"
from functools import partial


@partial(jax.jit, static_argnames="function")
def added(function, total, count, x):
    return total + function(x), count + 1


@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    def add(self, x):
        return RunningMean(self.function, *added(self.function, self.total, self.count, x))

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="self_is_changed_under_jit" covers="M15"
"""`add` returns `None`, and the count stays 0. In a jitted method, `self` is a copy that JAX made for the trace: your changes to this copy are lost."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @jax.jit
    def add(self, x):
        self.total = self.total + self.function(x)
        self.count = self.count + 1

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="changes_the_old_one" covers="M15"
"""After `add`, the old object has changed too. Perhaps `add` sets attributes without `jax.jit` around it: then `self` is the caller's own object, not a copy."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    def add(self, x):
        self.total = self.total + self.function(x)
        self.count = self.count + 1
        return self

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="no_jit"
"""Your numbers are right, but Python runs `function` for each number. Perhaps `add` is ordinary Python, without `jax.jit`. Or each call makes a new jitted function. JAX keeps its traces with the jitted function, and a new function has no traces yet."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="count_is_static"
"""Your numbers are right, but each `add` traces anew: `count` is part of the structure. For `jit`, an object with another structure is an argument of another type."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total,), (self.function, self.count)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(aux_data[0], children[0], aux_data[1])

    @jax.jit
    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="self_is_static" covers="M15"
"""Your numbers are right, but each new object is traced anew. Perhaps `self` is a static argument. Then JAX does not flatten `self`: it is a constant, and its numbers become part of the program."""
from functools import partial


@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @partial(jax.jit, static_argnums=0)
    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="function_is_a_child"
"""Every call of `add` fails. Perhaps `function` is one of your children: then `function` is a leaf. `jit` accepts numbers and arrays as leaves, but not functions."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.function, self.total, self.count), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)

    @jax.jit
    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="returns_the_mean"
"""`add` returns a number, and you cannot call `add` on a number again. A jitted method can only pass on what it returns. So `add` should return the whole new state."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @jax.jit
    def add(self, x):
        return (self.total + self.function(x)) / (self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="x_is_static"
"""Python runs `function` for each new number, and a tracer as `x` raises an error. Perhaps `x` is a static argument. Then `x` is a constant of the program, and every number needs a new program."""
from functools import partial


@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @partial(jax.jit, static_argnames="x")
    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="returns_a_tuple"
"""`add` returns a tuple, and you cannot call `add` on a tuple again. The copy under `jit` is lost, so `add` should return a whole `RunningMean`."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @jax.jit
    def add(self, x):
        return self.total + self.function(x), self.count + 1

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# solution: (function, total, count) → [function, total, count]
# solution: (self.total, self.count) → [self.total, self.count]
# changes_the_copy_and_returns_it: (function, total, count) → [function, total, count]
# changes_the_copy_and_returns_it: (self.total, self.count) → [self.total, self.count]
# a_jitted_helper: (total + function(x), count + 1) → [total + function(x), count + 1]
# a_jitted_helper: (function, total, count) → [function, total, count]
# a_jitted_helper: (self.total, self.count) → [self.total, self.count]

# %% exercise="running_mean" equivalent="the prompt says nothing of frozen classes"
# a_dataclass: dataclass(frozen=True) → dataclass()


# %% exercise="train_step" variant="a_gradient_for_the_int_too"
def train_step(loss, state, rate):
    grads = jax.grad(loss, allow_int=True)(state)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads.params)
    return type(state)(params, state.step + 1)


# %% exercise="train_step" variant="all_floating_leaves"
def train_step(loss, state, rate):
    leaves, structure = jax.tree.flatten(state)
    moving = [
        i for i, leaf in enumerate(leaves) if jnp.issubdtype(jnp.result_type(leaf), jnp.floating)
    ]

    def together(values):
        new = list(leaves)
        for i, value in zip(moving, values):
            new[i] = value
        return jax.tree.unflatten(structure, new)

    values = [leaves[i] for i in moving]
    grads = jax.grad(lambda values: loss(together(values)))(values)
    new = together([value - rate * grad for value, grad in zip(values, grads)])
    return replace(new, step=state.step + 1)


# %% exercise="train_step" misconception="gradient_of_the_whole_state" covers="C3"
"""Every call raises a TypeError. Perhaps you take the gradient with respect to the whole state. Its `step` is an int: a leaf without a gradient."""
def train_step(loss, state, rate):
    grads = jax.grad(loss)(state)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads.params)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="the_step_becomes_a_float" covers="C3"
"""Your `step` comes back as a float. Then `jax.grad` accepts the `step`, and your update changes it like a parameter. A count of steps should stay a whole number."""
def train_step(loss, state, rate):
    state = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), state)
    new = jax.tree.map(lambda p, g: p - rate * g, state, jax.grad(loss)(state))
    return replace(new, step=new.step + 1)


# %% exercise="train_step" misconception="the_step_stands_still"
"""The parameters move, but the `step` does not. A map over the parameters does not change the rest of the state."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params)


# %% exercise="train_step" misconception="the_loss_sees_the_new_step"
"""Where the loss uses the step, your parameters are wrong: the loss seems to get the step after the update. Take the gradient at the state that the function was given."""
def train_step(loss, state, rate):
    state = replace(state, step=state.step + 1)
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params)


# %% exercise="train_step" misconception="changes_the_callers_state" section="methods-under-jit"
"""Your result is right, but the old state has changed too. You can set the fields of a dataclass, but the caller has the same object as your function."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    state.params = params
    state.step = state.step + 1
    return state


# %% exercise="train_step" misconception="goes_uphill"
"""Your parameters move away from 0: you add the step. The gradient points in the direction in which the loss grows."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p + rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="returns_the_params"
"""You return the new parameters alone. The next call needs the `step` too, so return the whole state."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return params


# %% exercise="train_step" misconception="the_loss_sees_no_step"
"""Where the loss uses the step, your parameters are wrong, as if the step were 0. The loss should get the old state, with only the parameters replaced."""
def train_step(loss, state, rate):
    make = type(state)

    def loss_of_params(params):
        return loss(make(params=params, step=0))

    grads = jax.grad(loss_of_params)(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return make(params=params, step=state.step + 1)


# %% exercise="train_step" misconception="a_flat_dict_is_expected"
"""Your code works only where `params` is a flat dict of arrays. `params` can be any tree, and `jax.tree.map` works for every tree."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = {name: p - rate * grads[name] for name, p in state.params.items()}
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="a_shallow_copy" section="objects-that-change"
"""The old state's parameters have changed, but its step has not. A copy of the state is another object, but it holds the same containers. If you write into these containers, the old state changes too."""
def train_step(loss, state, rate):
    import copy

    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    new = copy.copy(state)
    if isinstance(new.params, dict):
        for name in new.params:
            new.params[name] = jax.tree.map(
                lambda p, g: p - rate * g, new.params[name], grads[name]
            )
    else:
        new.params = jax.tree.map(lambda p, g: p - rate * g, new.params, grads)
    new.step = state.step + 1
    return new


# %% exercise="train_step" misconception="one_leaf_after_the_other"
"""Where leaves are multiplied by each other, all gradients except the first are wrong. You seem to take the later gradients after the update of the earlier leaves."""
def train_step(loss, state, rate):
    leaves, treedef = jax.tree.flatten(state.params)

    def loss_of_leaves(leaves):
        return loss(replace(state, params=treedef.unflatten(leaves)))

    for place in range(len(leaves)):
        grads = jax.grad(loss_of_leaves)(leaves)
        leaves[place] = leaves[place] - rate * grads[place]
    return replace(state, params=treedef.unflatten(leaves), step=state.step + 1)


# %% exercise="train_step" misconception="the_loss_gets_a_float" covers="C3"
"""The loss gets a float for the `step`. `jax.grad` accepts the state then, but a loss that needs a whole number fails. You can take the gradient with respect to a part of the state."""
def train_step(loss, state, rate):
    grads = jax.grad(loss)(replace(state, step=float(state.step)))
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads.params)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" equivalent="parameters are float32, and the first gradient is taken before the list is changed"
# all_floating_leaves: jnp.floating → jnp.inexact
# all_floating_leaves: list(leaves) → leaves


# %% exercise="history" starter=True
@jax.tree_util.register_pytree_node_class
class History:
    """Room for `len(values)` values, of which the first `used` are filled."""

    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values[: self.used],), len(self.values)

    @classmethod
    def tree_unflatten(cls, size, children):
        (filled,) = children
        values = jnp.zeros(size).at[: len(filled)].set(filled)
        return cls(values, len(filled))


# %% exercise="history" variant="without_the_constructor"
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return [self.values, self.used], ()

    @classmethod
    def tree_unflatten(cls, _, children):
        history = object.__new__(cls)
        history.values, history.used = children
        return history


# %% exercise="history" variant="a_dataclass"
@jax.tree_util.register_dataclass
@dataclass
class History:
    values: jax.Array
    used: int = 0

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)


# %% exercise="history" misconception="flatten_cuts_off" covers="M17"
"""The shape of your leaf, or whether flatten works at all, depends on how full the history is. Flatten also runs on tracers and on other objects, and they have no numbers that flatten could use."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values[: self.used],), len(self.values)

    @classmethod
    def tree_unflatten(cls, size, children):
        (filled,) = children
        values = jnp.zeros(size).at[: len(filled)].set(filled)
        return cls(values, len(filled))


# %% exercise="history" misconception="used_is_static"
"""Your `used` is part of the structure. So for JAX a history with another `used` is of another type: `jax.tree.map` over two such histories fails, and `scan` refuses a state whose type changes."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values,), self.used

    @classmethod
    def tree_unflatten(cls, used, children):
        return cls(*children, used)


# %% exercise="history" misconception="used_is_forgotten"
"""After a rebuild your `used` is 0 again. Unflatten gets only what flatten returned: the children and aux_data. The default of the constructor hides that `used` is missing."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values,), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


# %% exercise="history" misconception="used_is_not_handed_on"
"""After a rebuild your `used` is 0 again, though it is among the leaves. Unflatten gets `used` as a child. If unflatten does not pass it on, the constructor uses its default."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(children[0])


# %% exercise="history" misconception="used_is_guessed" covers="M17"
"""After a rebuild, your `used` is the number of values that are not 0. A filled place may hold a 0. And if a map puts in a text, unflatten cannot count anything."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values,), None

    @classmethod
    def tree_unflatten(cls, _, children):
        (values,) = children
        return cls(values, jnp.count_nonzero(values))


# %% exercise="history" misconception="used_is_made_an_int" section="leaves-that-are-no-arrays" covers="M13"
"""Under jit, or where a map puts in a text, your history cannot be rebuilt. Perhaps unflatten calls `int` on `used`. What JAX puts in need not be a number."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        values, used = children
        return cls(values, int(used))


# %% exercise="history" misconception="one_child_for_each_value" covers="M17"
"""Your leaves are single numbers, as many as places are filled. A node may have any number of children. But this number is part of the structure, so it must not depend on `used`."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return tuple(self.values[: self.used]), len(self.values)

    @classmethod
    def tree_unflatten(cls, size, children):
        values = jnp.zeros(size)
        for place, child in enumerate(children):
            values = values.at[place].set(child)
        return cls(values, len(children))


# %% exercise="history" misconception="used_comes_first"
"""Your leaves come in another order: `used`, then the values. JAX takes the children in the order of your flatten."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.used, self.values), None

    @classmethod
    def tree_unflatten(cls, _, children):
        used, values = children
        return cls(values, used)


# %% exercise="history" misconception="zeros_in_the_empty_places" covers="M17"
"""Your flatten puts zeros into the empty places. The values should not change. And if JAX puts in a text, flatten cannot compute anything."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        filled = jnp.arange(len(self.values)) < self.used
        return (jnp.where(filled, self.values, 0), self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="copied_into_zeros" section="leaves-that-are-no-arrays" covers="M13"
"""Your rebuilt values are computed from those that JAX puts in: whole numbers become floats, and a text fails. Unflatten should store what it gets."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), len(self.values)

    @classmethod
    def tree_unflatten(cls, size, children):
        values, used = children
        return cls(jnp.zeros(size).at[:].set(values), used)


# %% exercise="history" misconception="used_is_static_too"
"""Your leaves are right, but two histories with another `used` have different structures. What is in aux_data is part of the structure, even if the same value is also a child."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), (len(self.values), self.used)

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="still_cut_off" covers="M17"
"""Your `used` is a child now, but the empty places are still cut off. The shape of a leaf may not depend on how full the history is; and under `jit`, `used` is a tracer, so you cannot use it in a slice."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values[: self.used], self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# solution: (values, used) → [values, used]
# solution: (self.values, self.used) → [self.values, self.used]
# without_the_constructor: (values, used) → [values, used]
# without_the_constructor: [self.values, self.used] → (self.values, self.used)
# without_the_constructor: ([self.values, self.used], ()) → ([self.values, self.used], [])


# %% exercise="history" misconception="children_become_arrays" section="leaves-that-are-no-arrays"
"""A rebuilt history holds JAX's arrays, whatever was put in, or it cannot be rebuilt at all. Perhaps unflatten converts its children to arrays. JAX puts in other objects too, such as `None` or a text."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        values, used = children
        return cls(jnp.asarray(values), jnp.asarray(used))


# %% exercise="history" misconception="length_in_the_structure" section="leaves-that-are-no-arrays"
"""If JAX rebuilt a history with a number or `None`, it cannot be flattened again. Perhaps flatten asks for the length of the values. But the value can be any object that JAX put in, and it need not have a length."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), len(self.values)

    @classmethod
    def tree_unflatten(cls, size, children):
        return cls(*children)


# %% exercise="history" misconception="zeros_at_the_rebuild" section="leaves-that-are-no-arrays"
"""A rebuilt history has zeros in its empty places, or it cannot be rebuilt at all. Perhaps unflatten computes these zeros. What JAX puts in need not be a number, and unflatten should not change it."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), None

    @classmethod
    def tree_unflatten(cls, aux, children):
        values, used = children
        places = jnp.arange(len(values))
        return cls(jnp.where(places < used, values, 0), used)


# %% exercise="temperature" starter=True
@jax.tree_util.register_pytree_node_class
class Model:
    """A dict of parameters; a new model has temperature 1.0."""

    def __init__(self, params, name):
        params["temperature"] = 1.0
        self.params = params
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" variant="a_flag_and_a_copy"
import copy


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name, new=True):
        self.params = {**copy.deepcopy(params), "temperature": 1.0} if new else params
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name, new=False)


# %% exercise="temperature" variant="a_plain_constructor_behind_new"
class Model:
    def __new__(cls, params, name):
        leaves, structure = jax.tree.flatten(params)
        return cls.filled(dict(jax.tree.unflatten(structure, leaves), temperature=1.0), name)

    @classmethod
    def filled(cls, params, name):
        model = object.__new__(cls)
        model.params, model.name = params, name
        return model


jax.tree_util.register_pytree_with_keys(
    Model,
    lambda model: ([(jax.tree_util.GetAttrKey("params"), model.params)], model.name),
    lambda name, children: Model.filled(*children, name),
)

# %% exercise="temperature" misconception="init_runs_once" section="the-silent-42" covers="M14 C36"
"""Each map resets the temperature, and the dict of the caller changes. `__init__` runs whenever unflatten calls it, not only when you make a model. And `__init__` writes into the dict that the caller gave."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        params["temperature"] = 1.0
        self.params = params
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="a_copy_at_each_rebuild" section="the-silent-42" covers="M14 C36"
"""The dict of the caller does not change now, but the temperature is still 1.0 after every map. `__init__` runs at each rebuild, and overwrites what JAX put in."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        copied = jax.tree.map(lambda leaf: leaf, params)
        self.params = {**copied, "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="a_flag_without_a_copy" covers="C38 M16"
"""A rebuilt model keeps its temperature, but the dict of the caller changes with the model. You fixed the first bug: *when* the default is written. The second bug is left: into *whose* dict it is written."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name, new=True):
        if new:
            params["temperature"] = 1.0
        self.params = params
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name, new=False)


# %% exercise="temperature" misconception="only_the_factory_sets_it" covers="C38 M16"
"""`Model(...)` makes a model without the temperature, and keeps the caller's own dict. If another function sets the temperature, callers of `Model(...)` still get a model without it."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = params
        self.name = name

    @classmethod
    def create(cls, params, name):
        model = cls(params, name)
        model.params["temperature"] = 1.0
        return model

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="beside_the_params" covers="C39"
"""The temperature is not among the `params` of your model. Perhaps the temperature is another attribute. Then code that reads `params`, or maps over `params`, does not find it."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.temperature = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params, self.temperature), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        model.params, model.temperature = children
        model.name = name
        return model


# %% exercise="temperature" misconception="only_where_it_is_missing" section="the-silent-42" covers="M14"
"""A new model keeps a temperature that the caller's dict has. Perhaps you set it only where it is missing. But a missing temperature does not tell you whether a model is new."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params.setdefault("temperature", 1.0)
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="a_dict_is_expected" section="leaves-that-are-no-arrays" covers="M13"
"""Your model cannot be rebuilt when JAX puts something else in the place of its dict. Perhaps each rebuild copies the dict. What unflatten gets need not be a dict, so unflatten should only store it."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        model.params = dict(children[0])
        model.name = name
        return model


# %% exercise="temperature" misconception="only_the_outer_dict" section="ways-that-hold" covers="C39"
"""The model has a dict of its own, but the dicts and lists inside it are still the caller's. `{**params}` and `dict(params)` make one new dict, but its values are the same objects."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {**params, "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="temperature_is_static" section="flatten-and-unflatten"
"""A map does not change your temperature. Perhaps the temperature is in aux_data. What is in aux_data belongs to the structure, and a map changes leaves only."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        params = dict(self.params)
        temperature = params.pop("temperature")
        return (params,), (self.name, temperature)

    @classmethod
    def tree_unflatten(cls, aux, children):
        model = object.__new__(cls)
        model.name, temperature = aux
        model.params = {**children[0], "temperature": temperature}
        return model


# %% exercise="temperature" misconception="no_name" section="ways-that-hold"
"""A rebuilt model has no `name`. An object made without `__init__` has only the attributes that unflatten sets. The static values come to unflatten in aux_data."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        return model


# %% exercise="temperature" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# solution: (self.params,) → [self.params]
# a_flag_and_a_copy: (self.params,) → [self.params]
# a_plain_constructor_behind_new: (params, name) → [params, name]
# a_plain_constructor_behind_new: [(jax.tree_util.GetAttrKey('params'), model.params)] → ((jax.tree_util.GetAttrKey('params'), model.params),)

# %% exercise="temperature" equivalent="the prompt asks for no keys, so these may be any"
# a_plain_constructor_behind_new: jax.tree_util.GetAttrKey('params') → 'params'
# a_plain_constructor_behind_new: jax.tree_util.GetAttrKey → jax.tree_util.DictKey
# a_plain_constructor_behind_new: jax.tree_util.GetAttrKey('params') → jax.tree_util.GetAttrKey('')


# %% exercise="temperature" misconception="lists_are_shared" section="objects-that-change"
"""Your model has its own dicts, but a list in its `params` is still the caller's. Perhaps you copy dicts only. A tree can hold other containers too."""
def _copy(tree):
    if isinstance(tree, dict):
        return {key: _copy(value) for key, value in tree.items()}
    return tree


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = _copy(params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        model.params, model.name = children[0], name
        return model


# %% exercise="temperature" misconception="puts_it_back" section="leaves-that-are-no-arrays"
"""A map keeps the temperature, but a model cannot be rebuilt when JAX puts something else in the place of its dict. Perhaps unflatten calls the constructor and sets the temperature afterwards. The constructor and this change need a dict."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        (params,) = children
        model = cls(params, name)
        model.params["temperature"] = params["temperature"]
        return model


# %% exercise="fork" starter=True
class Fork:
    """A value, and any number of branches, which are forks too."""

    def __init__(self, value, branches=()):
        raise NotImplementedError  # write a registered class in place of this one

    def grow(self, branch):
        """Add a branch, in place."""
        raise NotImplementedError


# %% exercise="fork" variant="none_and_by_function"
class Fork:
    def __init__(self, value, branches=None):
        self.value = value
        self.branches = [] if branches is None else [*branches]

    def grow(self, branch):
        self.branches = [*self.branches, branch]


def flatten_with_keys(fork):
    keys = [jax.tree_util.GetAttrKey("value")]
    keys += map(jax.tree_util.SequenceKey, range(len(fork.branches)))
    return tuple(zip(keys, [fork.value, *fork.branches])), len(fork.branches)


jax.tree_util.register_pytree_with_keys(
    Fork, flatten_with_keys, lambda _, children: Fork(children[0], children[1:])
)


# %% exercise="fork" variant="without_the_constructor"
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        fork = object.__new__(cls)
        fork.value, *fork.branches = children
        return fork


# %% exercise="fork" misconception="a_default_for_all" section="objects-that-change" covers="M16"
"""A new fork has branches that were added to another fork. Perhaps the default is `branches=[]`. Python makes this list only once, and then all forks without branches share it."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=[]):
        self.value = value
        self.branches = branches

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="keeps_the_callers_list" section="objects-that-change" covers="M16"
"""When your fork grows, the list of the caller grows too. Your fork keeps the caller's own list, so both share it, and a change of one is a change of the other."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=None):
        self.value = value
        self.branches = [] if branches is None else branches

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="branches_have_to_be_forks" section="who-calls-init"
"""Your constructor refuses branches that are not forks. For a caller this may be useful. But JAX also builds forks, with a tracer, a text, a bool or any other object in the place of a whole branch."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        if not all(isinstance(branch, Fork) for branch in branches):
            raise TypeError("branches are forks")
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.SequenceKey, range(len(self.branches)))
        value = (jax.tree_util.GetAttrKey("value"), self.value)
        return [value, *zip(keys, self.branches)], None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="no_keys"
"""Your paths read `<flat index 0>`. If a class is registered without keys, its children have no names, so JAX numbers them."""
@jax.tree_util.register_pytree_node_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten(self):
        return (self.value, *self.branches), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="branches_are_one_child"
"""Your paths have one step too many. Perhaps the list of branches is one child of yours: then JAX adds one step for the list, and another step for the place in the list."""
@jax.tree_util.register_dataclass
@dataclass
class Fork:
    value: object
    branches: list = ()

    def __post_init__(self):
        self.branches = (
            list(self.branches) if isinstance(self.branches, tuple) else [*self.branches]
        )

    def grow(self, branch):
        self.branches.append(branch)


# %% exercise="fork" misconception="flattens_all_levels" section="flatten-and-unflatten"
"""Paths into the branches are too short, or miss the branches. Perhaps your flatten goes down to the leaves. Flatten should return only the node's own children. JAX flattens the children by itself."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        leaves, structure = jax.tree.flatten(self.branches)
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        children += [(jax.tree_util.SequenceKey(i), leaf) for i, leaf in enumerate(leaves)]
        return children, structure

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        value, *leaves = children
        return cls(value, jax.tree.unflatten(aux_data, leaves))


# %% exercise="fork" misconception="at_most_two_branches" section="flatten-and-unflatten"
"""Branches get lost. Perhaps your class has a fixed number of children. Each node may have another number of children. This number is part of the structure."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches[:2]):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="children_stay_a_tuple" section="who-calls-init"
"""A fork that JAX rebuilt cannot grow. Unflatten gets the children in a tuple. If you need a list, make one."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=None):
        self.value = value
        self.branches = [] if branches is None else branches
        if isinstance(branches, list):
            self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(children[0], children[1:])


# %% exercise="fork" misconception="the_value_comes_last" section="flatten-and-unflatten"
"""Your leaves come in another order: the branches, then the value. JAX takes the children in the order of your flatten."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = []
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return [*children, (jax.tree_util.GetAttrKey("value"), self.value)], None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        *branches, value = children
        return cls(value, branches)


# %% exercise="fork" misconception="the_value_is_counted_too"
"""Your branches are numbered from 1. You choose the number in a path: JAX uses the key that you give to each child. The task numbers the branches alone, without the value."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [self.value, *self.branches]
        keys = [jax.tree_util.SequenceKey(place) for place in range(len(children))]
        keys[0] = jax.tree_util.GetAttrKey("value")
        return list(zip(keys, children)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="branches_are_static" section="flatten-and-unflatten"
"""The values of your branches are no leaves. Perhaps the branches are in aux_data: what is in aux_data belongs to the structure, and JAX does not look inside."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        return [(jax.tree_util.GetAttrKey("value"), self.value)], tuple(self.branches)

    @classmethod
    def tree_unflatten(cls, branches, children):
        return cls(children[0], branches)


# %% exercise="fork" misconception="grow_makes_a_new_fork" section="objects-that-change"
"""After `grow`, the fork has no new branch. Perhaps `grow` returns another fork; a caller who still uses the old fork does not see the new branch."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        return Fork(self.value, self.branches + [branch])

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for place, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(place), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="the_list_is_in_aux_data" section="objects-that-change" covers="M16"
"""After a map, the old fork has changed too. Perhaps aux_data holds the list of the old fork, and unflatten writes into this list. JAX does not copy aux_data, so the old and the new fork share the list."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for place, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(place), branch))
        return children, self.branches

    @classmethod
    def tree_unflatten(cls, branches, children):
        fork = cls(children[0])
        fork.branches = branches
        fork.branches[:] = children[1:]
        return fork


# %% exercise="fork" equivalent="any sequence does for children, and any value that compares equal for aux_data"
# none_and_by_function: tuple(zip(keys, [fork.value, *fork.branches])) → zip(keys, [fork.value, *fork.branches])
# none_and_by_function: tuple(zip(keys, [fork.value, *fork.branches])) → list(zip(keys, [fork.value, *fork.branches]))

# %% exercise="fork" equivalent="the key of a dict at a number is written as a place in a list is"
# solution: jax.tree_util.SequenceKey → jax.tree_util.DictKey
# none_and_by_function: jax.tree_util.SequenceKey → jax.tree_util.DictKey
# without_the_constructor: jax.tree_util.SequenceKey → jax.tree_util.DictKey

# %% exercise="fork" equivalent="no list is equal to None"
# none_and_by_function: branches is None → branches == None


# %% exercise="fork" misconception="value_becomes_an_array" section="leaves-that-are-no-arrays"
"""Your fork holds an array where another value was put in, and it cannot hold a tree or `None`. Perhaps the constructor converts its value to an array. JAX puts in other objects too."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = jnp.asarray(value)
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        children += [(jax.tree_util.SequenceKey(i), b) for i, b in enumerate(self.branches)]
        return children, None

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(children[0], children[1:])
