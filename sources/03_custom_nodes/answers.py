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
"""Your function fails for a frozen dataclass. Perhaps your unflatten makes an empty object and then sets its attributes. Such a class allows that to its constructor alone, and the constructor takes both children."""
def register_linear(cls):
    def unflatten(aux_data, children):
        linear = cls.__new__(cls)
        linear.weight, linear.bias = children
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="methods_are_enough" section="an-opaque-leaf"
"""JAX still sees your object as one leaf. Functions or methods that take it apart do nothing by themselves: what JAX looks into is what its registry holds."""
def register_linear(cls):
    cls.tree_flatten = lambda self: ((self.weight, self.bias), None)
    cls.tree_unflatten = classmethod(lambda cls, aux_data, children: cls(*children))


# %% exercise="register_linear" misconception="children_only"
"""JAX takes your weight for all of the children: it raises an error, or makes leaves of what is in it. Perhaps your flatten returns the two children alone. JAX takes any pair for the children and aux_data."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls, lambda linear: (linear.weight, linear.bias), lambda _, children: cls(*children)
    )


# %% exercise="register_linear" misconception="one_container_is_the_child"
"""Your object has one child instead of two. Perhaps this child is a container, such as a tuple, that holds both: to JAX, that is a level of its own between your object and its leaves."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: (((linear.weight, linear.bias),), None),
        lambda _, children: cls(*children[0]),
    )


# %% exercise="register_linear" misconception="children_come_first"
"""Taking apart works, putting together fails. JAX hands two things to unflatten: first aux_data, then all children in one sequence. Perhaps yours takes them in the other order, or passes the sequence on as one argument."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.weight, linear.bias), None),
        lambda children, aux_data: cls(*children),
    )


# %% exercise="register_linear" misconception="bias_first"
"""Your objects survive a map, but their leaves come in the wrong order. The order of the children is what your flatten says; JAX does not look at the names of attributes."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.bias, linear.weight), None),
        lambda _, children: cls(children[1], children[0]),
    )


# %% exercise="register_linear" misconception="swaps_on_the_way_back"
"""After a map, weight and bias have changed places. Unflatten gets the children in the order in which flatten gave them, and yours hands them over in another."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.weight, linear.bias), None),
        lambda _, children: cls(*reversed(children)),
    )


# %% exercise="register_linear" misconception="bias_is_static"
"""Your bias is no leaf: a map leaves it as it is, or refuses two objects. What is in aux_data belongs to the structure, and JAX never computes with it."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ((linear.weight,), linear.bias),
        lambda bias, children: cls(*children, bias),
    )


# %% exercise="register_linear" misconception="returns_the_children"
"""A map gives you a plain sequence instead of an object of the class. Whatever unflatten returns is what takes the place of the node; JAX adds nothing to it."""
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
"""Two objects with different numbers have different structures. What is in aux_data belongs to the structure; the children need not be there too."""
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
"""Where the class sets its bias first, weight and bias are swapped; where it has `__slots__`, nothing works. Perhaps you take the children from `vars`. That tells how a class stores its attributes, not which children you mean."""
def register_linear(cls):
    def flatten(obj):
        return tuple(vars(obj).values()), None

    def unflatten(_, children):
        return cls(*children)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="none_is_no_child"
"""An object whose bias is `None` cannot be rebuilt. Perhaps your flatten leaves a `None` out. `None` is a child like any other: it has no leaves below it, but it keeps its place."""
def register_linear(cls):
    def flatten(obj):
        if obj.bias is None:
            return (obj.weight,), None
        return (obj.weight, obj.bias), None

    jax.tree_util.register_pytree_node(cls, flatten, lambda aux, children: cls(*children))


# %% exercise="register_linear" misconception="flattens_to_the_leaves"
"""Your objects work only while weight and bias are single leaves. Perhaps your flatten goes down to the leaves. It describes one level: a child may be a tree, and JAX takes it apart by itself."""
def register_linear(cls):
    def flatten(obj):
        return jax.tree.leaves((obj.weight, obj.bias)), None

    def unflatten(aux, leaves):
        weight, bias = leaves
        return cls(weight, bias)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="children_become_arrays" section="leaves-that-are-no-arrays"
"""A rebuilt object holds arrays, whatever was put in, or it cannot be rebuilt at all. Perhaps unflatten makes arrays of its children. JAX also puts trees, `None` and tracers in their places."""
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
"""Your state is one leaf. Perhaps no decorator registers the class, or a decorator above it makes another class, as `dataclass(slots=True)` does: the registry knows this exact type only."""
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
"""JAX takes your state apart, but fails to rebuild it. It calls `ModelState.tree_unflatten(aux_data, children)` on the class, when there is no object yet that could be `self`."""
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
"""Your state cannot be flattened. `tree_flatten` returns the children first and aux_data second; `tree_unflatten` gets them the other way round."""
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
"""Your `step` is no leaf. In aux_data it belongs to the structure: a map never reaches it, and two states with different steps do not match."""
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


# %% exercise="model_state" misconception="step_stays_an_int" section="gradients-through-a-node" covers="C2"
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
"""Your numbers are right, but `predict` is not jitted. Being a registered node lets a class pass through `jax.jit`; it does not jit anything by itself."""
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
"""Your `zeroed` returns another container than the one that it got. A map over a registered node gives a node of the same class, and nothing has to be taken apart by hand."""
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
"""Your `zeroed` leaves the `step` as it was, or fails where a field is no array. It sets the fields one by one; a map over the state reaches every leaf, whatever the fields hold."""
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
"""Your leaves come in alphabetical order of the fields. JAX sorts the keys of a dict; for your own node, the order is the one that you give."""
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
"""Your state is one leaf. `@dataclass` writes a constructor, but it does not tell JAX about the class. JAX looks into a node only when its type is registered."""
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


# %% exercise="model_state" misconception="zeros_of_the_shape" section="gradients-through-a-node"
"""Your zeros have the right shapes, but all of them are floats. `jnp.zeros` of a shape knows nothing of the leaf's dtype."""
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
"""Your `predict` fails with every state. Perhaps the state is a static argument of `jax.jit`. JAX looks a static argument up by its hash, and it never takes it apart."""
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
"""`zeroed` fails where a field is `None` or a list. Perhaps it calls `jnp.zeros_like` on each field. A field can be a tree; its leaves are deeper."""
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
"""Your state holds arrays where something else was put in, and it cannot hold a text or a tree. Perhaps the constructor or `__post_init__` makes arrays of the fields. It runs whenever JAX rebuilds a state, with anything as a field."""
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
"""0 would be right if `__init__` ran only where you call the class yourself. It runs wherever unflatten calls it: whenever JAX puts a node together."""
predictions = {"A": 0, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0, "G": 0, "H": 0, "I": 0, "J": 0}

# %% exercise="predict_init" misconception="looking_rebuilds"
"""JAX only looks at leaves or at the structure here. To take a node apart it reads the children; that makes no new object."""
predictions = {"A": 1, "B": 1, "C": 1, "D": 3, "E": 1, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="once_per_call"
"""1 is one `__init__` for the call, or for the object that stands in three places. JAX puts the tree together node by node, and each node is an object of its own."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 1, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="every_call_traces" section="methods-under-jit"
"""1 would be right if the second call of the jitted function made an object too. The object is there for the trace; the next call reads the leaves and runs the compiled program."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 1, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="jit_takes_the_object" section="methods-under-jit"
"""0 would be right if a jitted function got your own object. It gets a copy, put together from tracers, and putting it together runs `__init__`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 0, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="a_gradient_is_no_node" section="gradients-through-a-node"
"""1 counts one object, and there are more. The function gets a node, built from tracers, and the gradient that comes back is a node of the same class."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 1, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="every_object_is_initialised"
"""1 would be right if each new object were initialised. `object.__new__` makes an object of `Quick` without it; Python runs `__init__` only when the class is called."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 2, "I": 1, "J": 1}

# %% exercise="predict_init" misconception="dataclasses_are_copied"
"""0 would be right if the dataclass were copied. JAX rebuilds it by calling the class with its fields, and the generated `__init__` ends in `__post_init__`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 0}


# %% exercise="predict_init" misconception="once_for_each_leaf"
"""This is the number of leaves, and of the calls of `abs`. `__init__` runs for each node that JAX puts together, not for each of its children."""
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
"""Registering fails for a class with an `init=False` field. Perhaps you hand over every field. JAX rebuilds a dataclass by calling it, and the constructor does not take such a field."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls)]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="data_and_meta" covers="M18"
"""Registering fails as soon as something is static. Perhaps a static name is in both lists. A field is either a child or part of the structure, and JAX refuses one that is both."""
def register_fields(cls, static=()):
    data = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, data, list(static))


# %% exercise="register_fields" misconception="static_fields_are_dropped"
"""A static field is lost when JAX rebuilds the object: it has its default again, or the constructor misses it. Dropped fields are not kept anywhere; meta fields are."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    return jax.tree_util.register_dataclass(cls, data, [], drop_fields=list(static))


# %% exercise="register_fields" misconception="all_are_children"
"""Your static fields are leaves: a map changes them. A field is kept out of the leaves when its name is among the meta fields."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, names, [])


# %% exercise="register_fields" misconception="jax_finds_the_fields" covers="M18"
"""Your `static` has no effect, or JAX refuses it. Perhaps you hand over the class alone. Then JAX takes all its fields: a child is each one that does not itself say that it is static."""
def register_fields(cls, static=()):
    return jax.tree_util.register_dataclass(cls)


# %% exercise="register_fields" misconception="names_are_sorted"
"""Your leaves come in alphabetical order. A dict's keys are sorted by JAX; the children of a dataclass come in the order of the names that you hand over."""
def register_fields(cls, static=()):
    names = {each.name for each in fields(cls) if each.init}
    meta = set(static)
    return jax.tree_util.register_dataclass(cls, sorted(names - meta), sorted(meta))


# %% exercise="register_fields" misconception="own_fields_only"
"""Registering fails for a class that inherits fields. `__annotations__` of a class lists what its own body says; the constructor takes the inherited fields too."""
def register_fields(cls, static=()):
    own = [name for name in cls.__annotations__ if cls.__dataclass_fields__[name].init]
    data = [name for name in own if name not in static]
    meta = [name for name in own if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="returns_nothing"
"""The class is registered, but your function returns `None`. As a decorator it would put this `None` in the place of the class."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="children_first_in_the_constructor" section="flatten-and-unflatten"
"""A rebuilt object has its values in the wrong fields, or a keyword-only field raises an error. Perhaps unflatten hands over the children, then the static values, by position. The constructor wants the order of the fields, or their names."""
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


# %% exercise="register_fields" misconception="computed_fields_are_static" section="who-calls-init"
"""After a map, a computed field still has its old value. Perhaps it is in aux_data: then JAX keeps the old value, and what `__post_init__` made of the new ones is overwritten."""
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


# %% exercise="register_fields" misconception="computed_fields_are_children"
"""A computed field is among your leaves. Where `init=False`, the value follows from the other fields, and `__post_init__` computes it again in each rebuilt object."""
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


# %% exercise="register_fields" misconception="computed_fields_are_lost" section="who-calls-init"
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
"""Your paths hold numbers, not names. A class that is registered without keys gives JAX children without names, so JAX can only number them."""
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
"""With a keyword-only field, your children come in another order. Perhaps you take the names from the constructor's signature. There, keyword-only fields come last; the order of the fields is that of the class."""
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
"""Your paths read `<flat index 0>`. A class that is registered without keys gives JAX children without names, so JAX can only number them."""
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
"""JAX looks for a method `tree_flatten` and finds none. Perhaps the decorator is still the one that you found. It registers without keys, and knows nothing of `tree_flatten_with_keys`."""
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
"""Your paths begin with the bare name, without brackets. Perhaps your keys are texts. JAX takes any object for a key; `keystr` writes it as it is."""
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
"""Your paths begin with a dot, as if the layers were attributes. Each type of key writes itself in its own way: this one stands for an attribute, not for the key of a dict."""
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
"""Your paths hold numbers, like those of a list. The places are right, but the names of your layers do not show."""
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
"""Your layers come in alphabetical order, or the path has one step too many. Perhaps your only child is a dict: JAX sorts its keys, as those of every dict."""
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
"""Your layers come back in alphabetical order. JAX sorts the keys of a dict, but asks your own node for its order; nothing has to be sorted here."""
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
"""The paths are right, but a rebuilt object has lost its names. Keys are there for paths only: unflatten gets the children and aux_data, never the keys."""
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
"""Your leaves are keys, and your paths are made of layers. Each pair is a key and a child, in this order, and JAX takes the second one for the child."""
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
"""Your paths have brackets and quotes twice. A key of JAX writes these itself; it needs the name as it is."""
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
"""Each path has one step too many: the name stands there twice. Perhaps your children are dicts as well. The key names a child, so the child needs no dict around it."""
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
"""A rebuilt object has its values under other names. The names in your aux_data are sorted, but the children are not. JAX gives both back as they were."""
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
"""JAX fails to rebuild your object: the constructor checks or converts what JAX puts in. That can be a negative gradient, a tracer, `None` or any other object, so unflatten has to take everything."""
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
"""JAX can rebuild your object, but now everybody can make a wrong one. The checks of the constructor are for its callers; only the way from unflatten has to be free of them."""
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
"""Your object is rebuilt from tracers and texts, but a map or a gradient with negative numbers fails. These are real arrays, and still they need not be a valid `std`."""
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
"""Under jit your object is rebuilt, but a map to negative numbers, texts or `None` fails. Perhaps the constructor makes an exception for tracers. JAX puts in other things as well."""
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
"""Your rebuilt object makes arrays of what JAX put in. A text or `None` is none, and a whole number should come out as it went in. Unflatten is no place to convert."""
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
"""Whatever passes the checks by luck is still converted when JAX rebuilds: a whole number comes back as an array. Perhaps unflatten tries the constructor first; then it runs at each rebuild."""
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


# %% exercise="normal" misconception="no_name" section="remedies"
"""A rebuilt object has no `name`. An object that is made without `__init__` has only the attributes that unflatten sets; aux_data is there to bring the static ones."""
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
"""Your constructor accepts a wrong `std` once another object was made before. Perhaps it notes in the class that the check was done. All objects share the class, so later callers are not checked."""
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


# %% exercise="normal" misconception="stores_only" section="remedies"
"""Your constructor stores what it gets: a caller's numbers are no arrays, and wrong ones are not refused. The constructor is for callers, and JAX can go another way to make an object."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="checks_are_switched_off" section="remedies" covers="M16"
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
"""`add` returns `None`, and the count stays 0. In a jitted method, `self` is a copy that JAX made for the trace: what you do to it is lost."""
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
"""After `add`, the old object has changed too. Perhaps `add` sets attributes without `jax.jit` around it: then `self` is the caller's own object, and no copy."""
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
"""Your numbers are right, but Python runs `function` for each number. Perhaps `add` is ordinary Python, without `jax.jit`. Or each call makes a jitted function of its own: what JAX traced is kept with the jitted function, and a new one starts with nothing."""
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
"""Your numbers are right, but each `add` traces anew: `count` is part of the structure. For jit, an object with another structure is another type of argument."""
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
"""Your numbers are right, but each new object is traced anew. Perhaps `self` is a static argument. Then it is never taken apart: it is a constant, and its numbers become part of the program."""
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
"""Every call of `add` fails. Perhaps `function` is one of your children: then it is a leaf, and jit takes numbers and arrays for leaves, but no functions."""
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
"""`add` returns a number, so nothing more can be added to it. All that leaves a jitted method is what it returns; here that should be the whole new state."""
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
"""Python runs `function` for each new number, and a traced number is refused. Perhaps `x` is a static argument: a constant of the program, so that every number needs a program of its own."""
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
"""`add` returns a tuple, so nothing more can be added to it. The copy under jit is lost; what `add` returns should be a whole `RunningMean`."""
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
"""Every call raises a TypeError. Perhaps you take the gradient by the whole state. Its `step` is an int: a leaf, but one that has no gradient."""
def train_step(loss, state, rate):
    grads = jax.grad(loss)(state)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads.params)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="the_step_becomes_a_float" covers="C3"
"""Your `step` comes back as a float. Then `jax.grad` accepts it, and moves it down the slope like a parameter. A count of steps should stay a whole number."""
def train_step(loss, state, rate):
    state = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), state)
    new = jax.tree.map(lambda p, g: p - rate * g, state, jax.grad(loss)(state))
    return replace(new, step=new.step + 1)


# %% exercise="train_step" misconception="the_step_stands_still"
"""The parameters move, but the `step` does not. A map over the parameters leaves the rest of the state as it was."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params)


# %% exercise="train_step" misconception="the_loss_sees_the_new_step"
"""Where the loss uses the step, your parameters are off: it seems to see the step after the update. The gradient belongs to the state that came in."""
def train_step(loss, state, rate):
    state = replace(state, step=state.step + 1)
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params)


# %% exercise="train_step" misconception="changes_the_callers_state" section="methods-under-jit"
"""Your result is right, but the old state has changed with it. A dataclass can be set in place, and the caller holds the same object as you do."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    state.params = params
    state.step = state.step + 1
    return state


# %% exercise="train_step" misconception="goes_uphill"
"""Your parameters move away from 0: you add the step. A gradient points to where the loss grows."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p + rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="returns_the_params"
"""You return the new parameters without their state. Whoever calls this again needs the step too, so the whole state has to come back."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return params


# %% exercise="train_step" misconception="the_loss_sees_no_step"
"""Where the loss uses the step, your parameters are off, as if the step were 0. The state that the loss gets is the old one, with other parameters."""
def train_step(loss, state, rate):
    make = type(state)

    def loss_of_params(params):
        return loss(make(params=params, step=0))

    grads = jax.grad(loss_of_params)(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return make(params=params, step=state.step + 1)


# %% exercise="train_step" misconception="a_flat_dict_is_expected"
"""Your code works only where `params` is a flat dict of arrays. It can be any tree: `jax.tree.map` goes through each of them."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = {name: p - rate * grads[name] for name, p in state.params.items()}
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="a_shallow_copy" section="remedies"
"""The old state's parameters have changed, but its step has not. A copy of the state is another object, and yet it holds the same containers: what is written into these, both states see."""
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
"""Where leaves are multiplied by each other, all but the first come out wrong. It seems that the later gradients are taken after the earlier leaves have moved."""
def train_step(loss, state, rate):
    leaves, treedef = jax.tree.flatten(state.params)

    def loss_of_leaves(leaves):
        return loss(replace(state, params=treedef.unflatten(leaves)))

    for place in range(len(leaves)):
        grads = jax.grad(loss_of_leaves)(leaves)
        leaves[place] = leaves[place] - rate * grads[place]
    return replace(state, params=treedef.unflatten(leaves), step=state.step + 1)


# %% exercise="train_step" misconception="the_loss_gets_a_float" covers="C3"
"""The loss gets a float for the `step`. `jax.grad` accepts the state then, but a loss that needs a whole number fails. The gradient can be taken by a part of the state."""
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
"""The shape of your leaf, or whether flatten works at all, depends on how full the history is. Flatten also runs on tracers and on any other object, and cannot ask them for numbers."""
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
"""Your `used` is part of the structure. So a fuller history is another type to JAX: two of them cannot be mapped together, and `scan` refuses a state whose type changes."""
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
"""After a rebuild your `used` is 0 again. Unflatten knows only what flatten gave away: the children and aux_data. A default of the constructor hides what is missing."""
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
"""After a rebuild your `used` is 0 again, though it is among the leaves. Unflatten gets it as a child; what it does not hand on, the constructor fills with its default."""
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
"""After a rebuild, your `used` is the number of values that are not 0. A filled place may hold a 0; and where a map puts in a text, there is nothing to count."""
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
"""Under jit, or where a map puts in a text, your history cannot be rebuilt. Perhaps unflatten calls `int` on `used`. What JAX puts in need not be a number yet."""
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
"""Your leaves are single numbers, as many as places are filled. A list of children may have any length, but its length is part of the structure, and so it may not depend on `used`."""
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
"""Your flatten puts zeros into the empty places. All values are to come out as they are; and where JAX puts in a text, nothing can be computed."""
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
"""Your leaves are right, but two histories with another `used` have different structures. What is in aux_data is part of the structure, even if it is a child as well."""
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
"""Your `used` is a child now, but the empty places are still cut off. The shape of a leaf may not depend on how full the history is; and under jit, `used` is no number to cut at."""
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
"""A rebuilt history holds JAX's arrays, whatever was put in, or it cannot be rebuilt at all. Perhaps unflatten makes arrays of its children. JAX puts in other things too, such as `None` or a text."""
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
"""A history that JAX rebuilt with a number or `None` cannot be taken apart again. Perhaps flatten asks the values for their length. It meets whatever JAX put in, and that need not have a length."""
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
"""A rebuilt history has zeros in its empty places, or it cannot be rebuilt at all. Perhaps unflatten computes these zeros. What JAX puts in need not be a number, and should come out as it is."""
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
"""Each map resets the temperature, and the dict of the caller changes. `__init__` runs whenever unflatten calls it, not once in the life of a model, and it writes into the dict it was given."""
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
"""The dict of the caller is safe now, but the temperature still comes back at every map. `__init__` runs at each rebuild, and overwrites what JAX put in."""
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
"""A rebuilt model keeps its temperature, but the dict of the caller changes with the model. When the default is written is right now; into whose dict it goes is the other half."""
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
"""`Model(...)` makes a model without the temperature, and keeps the caller's own dict. If another function sets the temperature, that helps only those who call it."""
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
"""The temperature is not among the `params` of your model. Perhaps it is an attribute beside them: whoever reads `params`, or maps over them alone, does not find it."""
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
"""A new model keeps a temperature that the caller's dict has. Perhaps you set it only where it is missing: this guesses from the contents whether the model is new."""
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
"""Your model cannot be rebuilt when JAX puts something else in the place of its dict. Perhaps each rebuild copies the dict. What unflatten gets need not be a dict, so it only stores."""
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


# %% exercise="temperature" misconception="only_the_outer_dict" section="remedies" covers="C39"
"""The model has a dict of its own, but the dicts and lists inside it are still the caller's. `{**params}` and `dict(params)` make one new dict, and put the same values into it."""
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
"""A map leaves your temperature as it is. Perhaps it is kept in aux_data: what is there belongs to the structure, and a map goes over leaves only."""
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


# %% exercise="temperature" misconception="no_name" section="remedies"
"""A rebuilt model has no `name`. An object that is made without `__init__` has only the attributes that unflatten sets; aux_data is there to bring the static ones."""
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


# %% exercise="temperature" misconception="lists_are_shared" section="remedies"
"""The dicts in your model are its own, but a list among its `params` is still the caller's. Perhaps your copy goes through dicts only. A tree has other containers too."""
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
"""A map keeps the temperature, but a model cannot be rebuilt when JAX puts something else in the place of its dict. Perhaps unflatten calls the constructor and sets the temperature afterwards. Both need a dict."""
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


# %% exercise="fork" misconception="a_default_for_all" section="remedies" covers="M16"
"""A new fork has branches that another one grew. Perhaps the default is `branches=[]`. Python makes it once, and every fork without branches then holds this same list."""
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


# %% exercise="fork" misconception="keeps_the_callers_list" section="remedies" covers="M16"
"""When your fork grows, the list of the caller grows too. To keep what was handed over is to share it: a change through one name shows through the other."""
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
"""Your constructor refuses branches that are no forks. That is right for what a caller gives, but JAX builds nodes as well: with a tracer, a text, a bool or anything else in the place of a whole branch."""
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
"""Your paths read `<flat index 0>`. A class that is registered without keys gives JAX children without names, so JAX can only number them."""
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
"""Your paths have one step too many. Perhaps the list of branches is one child of yours: then JAX adds a step for the list, and another one within it."""
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
"""Paths into the branches are too short, or miss the branches. Perhaps your flatten goes down to the leaves by itself. A node gives its own children only; JAX flattens these in turn."""
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
"""Branches get lost. Perhaps your class has a fixed number of children. A node may have any number, another one in each object; it becomes part of the structure."""
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
"""A fork that JAX rebuilt cannot grow. The children come to unflatten as JAX collected them, in a tuple; what was a list before is a list only if you make one."""
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
"""Your leaves come in another order: the branches, then the value. JAX takes the children in the order of your flatten, and goes through each of them before the next."""
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
"""Your branches are numbered from 1. The number in a path is yours to choose: JAX takes the key that you give to each child, and the branches count among themselves."""
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
"""The values of your branches are no leaves. Perhaps the branches are in aux_data: there they belong to the structure, and JAX does not look into them."""
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


# %% exercise="fork" misconception="grow_makes_a_new_fork" section="remedies"
"""After `grow`, the fork has no new branch. Perhaps `grow` returns another fork; a caller who goes on with the old one sees nothing of it."""
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


# %% exercise="fork" misconception="the_list_is_in_aux_data" section="remedies" covers="M16"
"""After a map, the old fork has changed too. Perhaps aux_data holds the very list of the old fork, and unflatten fills it again. What is in aux_data is not copied: both forks hold it."""
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
"""Your fork holds an array where another value was put in, and it cannot hold a tree or `None`. Perhaps the constructor makes an array of its value. JAX puts in other things too."""
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
