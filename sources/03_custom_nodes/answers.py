# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="register_linear" variant="the_class_in_aux_data"
def register_linear(cls):
    def unflatten(aux_data, children):
        (made_of,) = aux_data
        weight, bias = children
        return made_of(weight=weight, bias=bias)

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ([linear.weight, linear.bias], (type(linear),)), unflatten
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


# %% exercise="register_linear" misconception="sets_the_attributes_past_the_class" section="who-calls-init"
"""Your function fails only where `weight` and `bias` are read-only properties. Perhaps your unflatten makes an empty object and sets both by `object.__setattr__`. A property without a setter cannot be set at all. Call the constructor, which works for every class here."""
def register_linear(cls):
    def unflatten(_, children):
        linear = object.__new__(cls)
        for name, child in zip(("weight", "bias"), children):
            object.__setattr__(linear, name, child)
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="sets_the_attributes" section="who-calls-init"
"""Your function fails where attributes cannot be set: for a frozen dataclass and for read-only properties. Perhaps your unflatten makes an empty object and then sets its attributes. The constructor works for every class here, and it takes both children."""
def register_linear(cls):
    def unflatten(aux_data, children):
        linear = cls.__new__(cls)
        linear.weight, linear.bias = children
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="methods_are_enough" section="a-class-of-your-own"
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


# %% exercise="register_linear" misconception="stored_values"
"""Where the class sets its bias first, weight and bias are swapped; where it has `__slots__`, nothing works. Perhaps you take the children from `vars`. `vars` shows how an object stores its attributes. It does not say what the children are."""
def register_linear(cls):
    def flatten(obj):
        return tuple(vars(obj).values()), None

    def unflatten(_, children):
        return cls(*children)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="none_is_no_child"
"""An object that holds `None` cannot be rebuilt. Perhaps your flatten leaves a `None` out. `None` is a child like any other: it has no leaves, but it keeps its place."""
def register_linear(cls):
    def flatten(obj):
        return [each for each in (obj.weight, obj.bias) if each is not None], None

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


# %% exercise="register_linear" misconception="aux_data_first"
"""JAX cannot take your object apart, or finds no child in it. Flatten returns first the children, then aux_data. Unflatten gets the two the other way round: first aux_data, then the children."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: (None, (linear.weight, linear.bias)),
        lambda aux_data, children: cls(*children),
    )


# %% exercise="register_linear" misconception="leaves_through_the_constructor"
"""Your objects survive a map only while they have two leaves in all. Perhaps your flatten goes down to the leaves, and unflatten passes each leaf to the constructor. Flatten describes one level only: a child may be a tree, and JAX flattens this tree by itself."""
def register_linear(cls):
    def flatten(linear):
        return jax.tree.leaves([linear.weight, linear.bias]), None

    jax.tree_util.register_pytree_node(cls, flatten, lambda _, children: cls(*children))


# %% exercise="register_linear" misconception="leaves_are_the_children"
"""Your objects survive a map, but they have another number of children than two as soon as weight or bias is a tree or `None`. Perhaps your flatten goes down to the leaves. The children are the weight and the bias themselves, and JAX flattens what is inside them."""
def register_linear(cls):
    def flatten(linear):
        return jax.tree.flatten((linear.weight, linear.bias))

    def unflatten(structure, leaves):
        return cls(*jax.tree.unflatten(structure, leaves))

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="a_dict_of_children"
"""Your leaves are the strings `'weight'` and `'bias'`. Perhaps flatten returns a dict as the children. JAX takes the children one by one as a loop does, and a loop over a dict gives its keys."""
def register_linear(cls):
    def flatten(linear):
        return {"weight": linear.weight, "bias": linear.bias}, None

    jax.tree_util.register_pytree_node(cls, flatten, lambda _, children: cls(*children))


# %% exercise="register_linear" misconception="vars_are_the_children"
"""Your leaves are the names of the attributes, and an object with `__slots__` raises an error. Perhaps flatten returns `vars(obj)`, or its keys. A loop over this dict gives the names, not the values; and not every object has such a dict."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls, lambda linear: (vars(linear), None), lambda _, children: cls(*children)
    )


# %% exercise="register_linear" misconception="the_class_of_the_example" section="who-calls-init"
"""Flatten works, but a rebuild raises a NameError. Perhaps your unflatten names the class of the example. The class to rebuild is the one that your function was given."""
def register_linear(cls):
    def unflatten(aux_data, children):
        return Linear(*children)

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="everything_is_static" section="ways-to-register"
"""Your object has no leaves at all, so a map changes nothing. Perhaps the class is registered as static, or flatten puts both into aux_data. What is static or in aux_data belongs to the structure, and JAX does not look inside."""
def register_linear(cls):
    jax.tree_util.register_static(cls)


# %% exercise="register_linear" misconception="a_dataclass_is_expected" section="ways-to-register"
"""Your function works for a frozen dataclass, but not for the other classes. `register_dataclass` without names, and `fields`, ask a dataclass for its fields. A class that is not a dataclass has none to list."""
def register_linear(cls):
    jax.tree_util.register_dataclass(cls)


# %% exercise="register_linear" misconception="the_decorator_brings_the_methods" section="ways-to-register"
"""JAX looks for methods such as `tree_flatten` in the class, and does not find them. The class decorator does not write these methods. It only tells JAX to call them."""
def register_linear(cls):
    jax.tree_util.register_pytree_node_class(cls)


# %% exercise="register_linear" misconception="unflatten_returns_nothing"
"""A map gives `None` in the place of your object. JAX puts whatever unflatten returns in the place of the node, and a function without `return` returns `None`."""
def register_linear(cls):
    def unflatten(_, children):
        cls(*children)

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="through_the_dict" section="who-calls-init"
"""A rebuild fails where the class has `__slots__` or properties. Perhaps unflatten writes into the object's `__dict__`. Only the class decides how its objects store their attributes. Call the constructor."""
def register_linear(cls):
    def unflatten(_, children):
        linear = object.__new__(cls)
        linear.__dict__.update(zip(("weight", "bias"), children))
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="the_object_in_aux_data" section="objects-that-change"
"""After a map, the old object has changed, or no two objects have the same structure. Perhaps aux_data holds the object itself, and unflatten writes into it. JAX does not copy aux_data, so it is still the caller's object."""
def register_linear(cls):
    def unflatten(linear, children):
        linear.weight, linear.bias = children
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), linear), unflatten
    )


# %% exercise="register_linear" misconception="names_beside_the_children" section="paths-with-names"
"""The names `'weight'` and `'bias'` are among your leaves. A function that registers without keys takes everything in the sequence as a child, and a pair of name and value is one child with two leaves."""
def register_linear(cls):
    def flatten(linear):
        return (("weight", linear.weight), ("bias", linear.bias)), None

    def unflatten(_, pairs):
        return cls(*[child for _, child in pairs])

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="keys_are_missing" section="paths-with-names"
"""Every flatten fails, unless weight and bias happen to be pairs. Perhaps you register with keys. Then each item that flatten returns has to be a pair of a key and a child."""
def register_linear(cls):
    jax.tree_util.register_pytree_with_keys(
        cls,
        lambda linear: ((linear.weight, linear.bias), None),
        lambda _, children: cls(*children),
    )


# %% exercise="register_linear" misconception="arrays_are_children_the_rest_is_static"
"""Only arrays are leaves in your object; a number, a tree or `None` is not changed by a map. Perhaps you put everything that is not an array into aux_data. A child may be any object: a number is a leaf, and JAX opens a tree."""
def register_linear(cls):
    def is_array(value):
        return isinstance(value, (jax.Array, np.ndarray))

    def flatten(linear):
        values = [linear.weight, linear.bias]
        rest = tuple(None if is_array(value) else value for value in values)
        places = tuple(place for place, value in enumerate(values) if is_array(value))
        return [values[place] for place in places], (places, rest)

    def unflatten(aux_data, children):
        places, rest = aux_data
        values = list(rest)
        for place, child in zip(places, children):
            values[place] = child
        return cls(*values)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


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


predict = jax.jit(lambda state, x: jnp.matmul(x, state.weight) + state.bias)


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


# %% exercise="model_state" misconception="step_stays_an_int" section="a-state-with-an-int"
"""Your `zeroed` keeps `nan` as `nan`, and turns an int into Python's `0`. Perhaps you multiply each leaf by 0, or subtract it from itself: both give `nan` for `nan`. `jnp.zeros_like` looks only at the shape and the dtype, and always makes an array."""
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


# %% exercise="model_state" misconception="zeroed_makes_a_dict" section="a-class-of-your-own"
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


# %% exercise="model_state" misconception="step_is_kept" section="a-class-of-your-own"
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
"""Your predictions are those of `weight @ x`. `x @ weight` is a different product: the two differ where the weight is not symmetric."""
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


# %% exercise="model_state" misconception="a_dataclass_is_enough" section="a-class-of-your-own"
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
"""Your state holds arrays where something else was put in, and it cannot hold a string or a tree. Perhaps the constructor or `__post_init__` converts the fields to arrays. It runs whenever JAX rebuilds a state, and then a field can be any object."""
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


# %% exercise="model_state" variant="an_equinox_module"
import equinox as eqx


class ModelState(eqx.Module):
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" variant="predict_calls_a_jitted_function"
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(lambda leaf: jnp.zeros_like(leaf), state)


@jax.jit
def _predict(weight, bias, x):
    return x @ weight + bias


def predict(state, x):
    return _predict(state.weight, state.bias, x)


# %% exercise="model_state" misconception="zeroed_fills_the_given_state" section="objects-that-change"
"""After `zeroed`, the state that it was given holds zeros as well. Perhaps `zeroed` sets the fields of this state. The caller has the same object as your function, so make a new one."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    for each in fields(state):
        setattr(state, each.name, jax.tree.map(jnp.zeros_like, getattr(state, each.name)))
    return state


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="zeroed_fills_each_field" section="objects-that-change"
"""After `zeroed`, the state that it was given has changed, and a field that is `None` or a list fails. Perhaps `zeroed` sets the fields of the given state one by one. That state belongs to the caller, and a field can be a tree with its leaves deeper."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    state.weight = jnp.zeros_like(state.weight)
    state.bias = jnp.zeros_like(state.bias)
    state.step = jnp.zeros_like(state.step)
    return state


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="zeroed_returns_the_leaves" section="a-class-of-your-own"
"""Your `zeroed` returns a list of zeros. A list of leaves is no `ModelState`: its structure is lost. A map over the state keeps it."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return [jnp.zeros_like(leaf) for leaf in jax.tree.leaves(state)]


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="zeroed_returns_nothing" section="a-class-of-your-own"
"""Your `zeroed` returns `None`. A map makes a new state and does not change the old one, so the new state has to be returned."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="zeros_like_of_the_state" section="a-state-with-an-int"
"""Your `zeroed` raises an error for every state. Perhaps it hands the whole state to `jnp.zeros_like`. Functions of `jax.numpy` take arrays and numbers; a function of `jax.tree` takes them through a tree."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jnp.zeros_like(state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="only_arrays_are_zeroed" section="a-state-with-an-int"
"""Your `zeroed` leaves the `step` as it was. A Python number is a leaf of the state like any array, and `jnp.zeros_like` makes an array of it."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    def zeros(leaf):
        return jnp.zeros_like(leaf) if isinstance(leaf, jax.Array) else leaf

    return jax.tree.map(zeros, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="a_plain_zero_for_each_leaf" section="a-state-with-an-int"
"""Every leaf of your zeroed state is Python's number 0. `jnp.zeros_like` makes an array that has the shape and the dtype of the leaf."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(lambda leaf: 0, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="zeros_of_numpy" section="a-state-with-an-int"
"""Your zeros are NumPy arrays, and NumPy turns an int into an int64. `jnp.zeros_like` makes JAX arrays, and turns an int into an int32."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(np.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="step_comes_first" section="flatten-and-unflatten"
"""In your state the `step` is the first field. `ModelState(weight, bias, step)` gives its values to the fields in their order, and so their places in the class decide."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    step: int
    weight: jax.Array
    bias: jax.Array


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="everything_is_static" section="flatten-and-unflatten" in_order=True
"""Your state has no leaves, so a map changes nothing. In a static class all fields belong to the structure, and `jit` needs a hash of them."""
@jax.tree_util.register_static
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


# %% exercise="model_state" misconception="the_step_is_made_an_array" section="leaves-that-are-no-arrays"
"""Your state holds an array where another `step` was put in, or it cannot be built at all. Perhaps the constructor or `__post_init__` makes an array of the `step`. It runs whenever JAX rebuilds a state, and then the `step` can be any object."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: jax.Array

    def __post_init__(self):
        self.step = jnp.asarray(self.step)


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="transposed_weight_times_x" section="methods-under-jit"
"""Your predictions are right for a vector `x`, but not for a matrix. `weight.T @ x` equals `x @ weight` for vectors only; with several rows in `x`, the two differ."""
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
    return state.weight.T @ x + state.bias


# %% exercise="model_state" misconception="element_by_element" section="methods-under-jit"
"""Your predictions are those of a product element by element. `*` multiplies arrays place by place, and `@` is the product of matrices."""
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
    return x * state.weight + state.bias


# %% exercise="model_state" misconception="a_new_jit_in_each_call" section="methods-under-jit"
"""Your numbers are right, but each call of `predict` makes a new jitted function. JAX keeps its traces with the jitted function, and a new one has no traces yet."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


def predict(state, x):
    @jax.jit
    def jitted(state, x):
        return x @ state.weight + state.bias

    return jitted(state, x)


# %% exercise="model_state" misconception="dot_is_no_matmul" section="methods-under-jit"
"""Your predictions are those of `jnp.dot`. For vectors and matrices it is the same as `@`. Where both have three axes it is not: `@` multiplies matrix `i` by matrix `i`; `dot` multiplies each matrix of `x` by each matrix of `weight`."""
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
    return jnp.dot(x, state.weight) + state.bias


# %% exercise="model_state" misconception="asdict_opens_inner_dataclasses" section="a-class-of-your-own"
"""Where a field holds another dataclass, your `zeroed` makes a dict of it. `dataclasses.asdict` opens dataclasses at every depth. A map over the state keeps the type of each node."""
from dataclasses import asdict


@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return ModelState(**jax.tree.map(jnp.zeros_like, asdict(state)))


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="the_step_alone_is_kept" section="a-state-with-an-int"
"""Your `zeroed` leaves the field `step` as it was. An int is a leaf of the state like any array. One map over the whole state reaches all three fields."""
@jax.tree_util.register_dataclass
@dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    def zeros(tree):
        return jax.tree.map(jnp.zeros_like, tree)

    return replace(state, weight=zeros(state.weight), bias=zeros(state.bias))


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

# %% exercise="predict_init" misconception="init_runs_once"
"""0 would be right if `__init__` ran only where you call the class yourself. But `__init__` runs whenever unflatten calls the class, and so whenever JAX puts a node together."""
predictions = {"A": 0, "B": 0, "C": 0, "D": 0, "E": 0, "F": 0, "G": 0, "H": 0, "I": 0, "J": 0}

# %% exercise="predict_init" misconception="looking_rebuilds"
"""JAX only looks at leaves or at the structure here, and the result holds no `Pair`. To take a node apart, JAX reads its children. This makes no new object."""
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


# %% exercise="predict_init" misconception="reading_makes_a_copy_of_each_leaf"
"""2 is the number of leaves. This line only reads the leaves or the structure, and its result holds no `Pair`. So JAX puts no node together."""
predictions = {"A": 2, "B": 2, "C": 1, "D": 3, "E": 2, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="in_and_out_of_jit" section="methods-under-jit"
"""2 would be right if the result of `total` were a `Pair` too. The function gets one `Pair` of tracers, and `pair.a + pair.b` is a number."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 2, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="in_and_out_of_jit_each_time" section="methods-under-jit"
"""2 would be right if this call made objects on the way in and on the way out. JAX has traced `total` already: this call only takes the leaves out of `pair`, and the result is a number."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 2, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="forward_backward_and_the_result" section="gradients-through-a-node"
"""3 would be right if the backward pass ran your function again. JAX runs it once, on one `Pair` of tracers, and goes back by what it recorded. The gradient is the second `Pair`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 3, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="a_gradient_for_each_child" section="gradients-through-a-node"
"""4 counts two objects too many. JAX runs your function once for all children together: one `Pair` of tracers goes in, and one `Pair` of gradients comes out."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 4, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="one_for_each_item_of_the_list"
"""2 is the number of items in the list. The second item is a dict, and JAX puts together each `Pair` inside it as well."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 2, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="containers_count_too"
"""This number is too high. JAX puts the list and the dict together as well, but they are no `Pair`: they do not run its `__init__`. Count the places that hold a `Pair`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 5, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="the_dict_counts_too"
"""4 is one too many. JAX puts the dict together as well, but it is no `Pair` and does not run its `__init__`. Count the places that hold a `Pair`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 4, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 1}

# %% exercise="predict_init" misconception="quick_is_initialised_for_each_leaf"
"""2 is the number of leaves, but `Quick` never runs `__init__` here. Its unflatten calls `object.__new__`, and Python runs `__init__` only when you call the class."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 2, "I": 2, "J": 1}


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


# %% exercise="register_fields" misconception="every_field"
"""Registering fails for a class with an `init=False` field. Perhaps you hand over every field. JAX rebuilds a dataclass by calling the class, and the constructor does not take such a field."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls)]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="data_and_meta"
"""Registering fails as soon as something is static. Perhaps a static name is in both lists. A field is either a child or part of the structure. If it is in both lists, JAX raises an error."""
def register_fields(cls, static=()):
    data = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, data, list(static))


# %% exercise="register_fields" misconception="static_fields_are_dropped"
"""A static field is lost when JAX rebuilds the object: the field has its default again, or the constructor raises an error because it is missing. JAX keeps what is among the children or in aux_data (for `register_dataclass`: in one of the two lists), and nothing else."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    return jax.tree_util.register_dataclass(cls, data, [], drop_fields=list(static))


# %% exercise="register_fields" misconception="all_are_children"
"""Your static fields are leaves: a map changes them. A field is not a leaf if its name is among the meta fields."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, names, [])


# %% exercise="register_fields" misconception="jax_finds_the_fields"
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
"""After a map, a computed field still has its old value. Perhaps the field is in aux_data, so the rebuilt object gets the old value. Leave it out, and call the constructor with the other fields: `__post_init__` then computes it from the new children."""
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


# %% exercise="register_fields" misconception="keys_of_a_dict" section="paths-with-names"
"""Your paths read `['weight']`, as in a dict. `keystr` writes each type of key in its own way. The fields of a dataclass are attributes, and the paths of attributes begin with a dot."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(jax.tree_util.DictKey(name), getattr(node, name)) for name in data]
        return children, tuple(getattr(node, name) for name in meta)

    def unflatten(aux_data, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux_data)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="keys_are_texts" section="paths-with-names"
"""Your paths hold the bare names, without a dot. Perhaps your keys are strings. JAX accepts any object as a key, and `keystr` writes a string as it is."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(name, getattr(node, name)) for name in data]
        return children, tuple(getattr(node, name) for name in meta)

    def unflatten(aux_data, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux_data)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="a_dot_in_the_key" section="paths-with-names"
"""Your paths have two dots before each name. The key of an attribute adds the dot by itself."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(jax.tree_util.GetAttrKey(f".{name}"), getattr(node, name)) for name in data]
        return children, tuple(getattr(node, name) for name in meta)

    def unflatten(aux_data, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux_data)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="keys_are_numbers" section="paths-with-names"
"""Your paths hold numbers in brackets, as in a list. You choose the key of each child, and this type of key has no name in it."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(jax.tree_util.SequenceKey(data.index(name)), getattr(node, name)) for name in data]
        return children, tuple(getattr(node, name) for name in meta)

    def unflatten(aux_data, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux_data)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="static_first_in_the_constructor" section="flatten-and-unflatten"
"""A rebuilt object has its values in the wrong fields, or a keyword-only field raises an error. Perhaps unflatten passes first the static values, then the children, by position. The constructor needs the values in the order of the fields, or with their names."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in data]
        return children, tuple(getattr(node, name) for name in meta)

    def unflatten(aux_data, children):
        return cls(*aux_data, *children)

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="static_values_by_position" section="flatten-and-unflatten"
"""A rebuilt object has a static value in the wrong field, or the constructor gets a field twice. Perhaps unflatten passes the children by name and the static values by position. Python gives values without names to the first fields."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in data]
        return children, tuple(getattr(node, name) for name in meta)

    def unflatten(aux_data, children):
        return cls(*aux_data, **dict(zip(data, children)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="names_for_values" section="flatten-and-unflatten"
"""After a rebuild, a static field holds its own name. Perhaps aux_data has the names of the static fields, and not their values. JAX keeps what flatten returns, and nothing else."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        children = [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in data]
        return children, tuple(meta)

    def unflatten(aux_data, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux_data)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="fields_with_a_default_are_left_out" section="fields-of-a-dataclass"
"""Registering fails for a class in which a field has a default. Perhaps you leave such a field out of both lists. The constructor takes this field too, so it belongs in one of them."""
from dataclasses import MISSING


def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init and each.default is MISSING]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="fields_with_a_default_are_static" section="fields-of-a-dataclass"
"""A field with a default is not a leaf, though its name is not in `static`. A default says what the constructor takes where no value is given. It does not say what a field is for JAX."""
from dataclasses import MISSING


def register_fields(cls, static=()):
    given = [each for each in fields(cls) if each.init]
    meta = [each.name for each in given if each.name in static or each.default is not MISSING]
    data = [each.name for each in given if each.name not in meta]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="keyword_only_fields_are_left_out" section="fields-of-a-dataclass"
"""Registering fails for a class with a keyword-only field. Perhaps you leave this field out of both lists. The constructor takes it too, so it is a child or static."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init and not each.kw_only]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="part_of_a_name_is_enough"
"""A field becomes static when its name is a part of a static field's name, or contains one. With a string on its right, `in` looks for a substring."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    meta = [name for name in names if name in " ".join(static)]
    data = [name for name in names if name not in meta]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="children_as_a_dict" section="flatten-and-unflatten"
"""Where a field holds another dataclass, your leaf is right but its path or the rebuilt value is not: the inner object has become a dict. `asdict` goes down through all levels and turns every dataclass into a dict. Flatten describes one level only."""
from dataclasses import asdict


def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(node):
        values = asdict(node)
        children = [(jax.tree_util.GetAttrKey(name), values[name]) for name in data]
        return children, tuple(values[name] for name in meta)

    def unflatten(aux_data, children):
        return cls(**dict(zip(data, children)), **dict(zip(meta, aux_data)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="register_fields" misconception="static_names_are_the_children"
"""The roles are swapped: your static fields are leaves, and the other fields are not. `register_dataclass` takes first the data fields, which are the children, then the meta fields."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]
    return jax.tree_util.register_dataclass(cls, meta, data)


# %% exercise="register_fields" misconception="nothing_is_registered"
"""Your object is one leaf, without paths and children. Perhaps the class is returned before it is registered, or only its fields are marked. JAX opens an object only if its class is in its registry."""
def register_fields(cls, static=()):
    for each in fields(cls):
        each.metadata = {"static": each.name in static}
    return cls


# %% exercise="register_fields" misconception="metadata_is_written_afterwards"
"""Your function fails as soon as something is static: the metadata of a field cannot be changed after the class was made. Give `register_dataclass` the names instead, as two lists."""
def register_fields(cls, static=()):
    for each in fields(cls):
        if each.name in static:
            each.metadata["static"] = True
    return jax.tree_util.register_dataclass(cls)


# %% exercise="register_fields" misconception="a_field_with_a_default_is_dropped"
"""A field with a default has this default again when JAX rebuilds the object: you leave the field out, as if it were optional. A default says what the constructor takes if the caller gives nothing. The field is a child or static like any other."""
import dataclasses


def register_fields(cls, static=()):
    data, dropped = [], []
    for each in fields(cls):
        if each.name not in static:
            is_optional = each.default is not dataclasses.MISSING or not each.init
            (dropped if is_optional else data).append(each.name)
    return jax.tree_util.register_dataclass(cls, data, list(static), drop_fields=dropped)


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
"""Your paths read `<flat index 0>`. If a class is registered without keys, its children have no names, so JAX numbers them. A method `tree_flatten_with_keys` helps only with the decorator that looks for it."""
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
"""Your paths begin with the bare name, without brackets. Perhaps your keys are strings. JAX accepts any object as a key, and `keystr` writes a string without brackets."""
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
"""Your paths begin with a dot, as if the layers were attributes. `keystr` writes each type of key in its own way. Your type of key is for an attribute, not for the key of a dict."""
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
"""A rebuilt object has its values under other names. The names in your aux_data are sorted or in a set, but the children keep their order. JAX gives aux_data and the children to unflatten as flatten returned them."""
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


# %% exercise="readable_paths" misconception="one_dict_without_keys"
"""Each path begins with `<flat index 0>`, and then comes a name. Perhaps your only child is a dict, and the class is registered without keys. JAX sorts the keys of this dict, and counts it as one more level."""
@jax.tree_util.register_pytree_node_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten(self):
        return (dict(zip(self.names, self.values)),), self.names

    @classmethod
    def tree_unflatten(cls, names, children):
        return cls(names, [children[0][name] for name in names])


# %% exercise="readable_paths" misconception="the_values_are_one_child"
"""Your paths go through `.values` and a number. Perhaps the sequence of all values is one child. Then JAX adds a step for the sequence and one for the place in it, and neither is a name of a layer."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        return [(jax.tree_util.GetAttrKey("values"), self.values)], self.names

    @classmethod
    def tree_unflatten(cls, names, children):
        return cls(names, *children)


# %% exercise="readable_paths" misconception="children_are_sorted"
"""Your leaves come in alphabetical order of the layers, although a rebuilt object has its own order. JAX sorts the keys of a dict only. For your own node, JAX keeps the order of your flatten."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        layers = dict(zip(self.names, self.values))
        pairs = [(jax.tree_util.DictKey(name), layers[name]) for name in sorted(layers)]
        return pairs, self.names

    @classmethod
    def tree_unflatten(cls, names, children):
        layers = dict(zip(sorted(names), children))
        return cls(names, [layers[name] for name in names])


# %% exercise="readable_paths" misconception="the_keys_keep_the_names"
"""The paths are right, but an object cannot be rebuilt. Perhaps aux_data is `None`, and unflatten expects the names in it. JAX uses the keys for paths only, and does not pass them to unflatten."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), None

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="a_name_in_the_flat_index"
"""Every flatten fails, or the paths still say `flat index`. Perhaps you put the name into a key that takes a number, such as `SequenceKey` or `FlattenedIndexKey`. A dict's entries have another type of key, and that one takes a name."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.FlattenedIndexKey, self.names)
        return tuple(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="values_come_first"
"""A rebuilt object has its values in the place of the names, or cannot be rebuilt. Unflatten gets first aux_data, which holds the names here, then the children."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, values, names):
        return cls(names, values)


# %% exercise="readable_paths" misconception="no_classmethod" section="ways-to-register"
"""JAX takes your layers apart, but fails to rebuild them. JAX calls `Layers.tree_unflatten(aux_data, children)` on the class. At this moment there is no object that could be `self`."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), self.names

    def tree_unflatten(self, names, values):
        return Layers(names, values)


# %% exercise="readable_paths" misconception="a_dict_of_keys_and_children"
"""Every flatten fails. Perhaps you return a dict from key to child. JAX takes the pairs one by one as a loop does, and a loop over a dict gives its keys alone."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return dict(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="keys_and_children_apart"
"""Your flatten fails, or it mixes up keys and layers. Perhaps you return all keys, then all children. JAX expects one pair for each child: its key, then the child."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = list(map(jax.tree_util.DictKey, self.names))
        return (keys, list(self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="still_without_the_method"
"""Leaves are right, but every look at a path fails: JAX does not find `tree_flatten_with_keys`. The decorator with keys only calls this method. You have to write it."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten(self):
        return self.values, self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="child_before_key_for_paths_only"
"""Your leaves are right, but where JAX asks for paths, keys and layers have changed places. Each pair is first a key, then a child."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten(self):
        return self.values, self.names

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(self.values, keys)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="values_as_arrays" section="leaves-that-are-no-arrays"
"""Your rebuilt layers hold arrays where something else was put in, or cannot be rebuilt. Perhaps the constructor or unflatten converts the layers. JAX puts in trees, `None` and other objects too."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, [jnp.asarray(value) for value in values])


# %% exercise="readable_paths" misconception="only_the_keys_are_sorted"
"""Your paths, and the leaves beside them, come in alphabetical order, and `jax.tree.leaves` gives the leaves in the order of the layers: your two flatten methods do not agree. Both have to give the children in the order in which the model calls them."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten(self):
        return self.values, self.names

    def tree_flatten_with_keys(self):
        pairs = sorted(zip(self.names, self.values), key=lambda pair: pair[0])
        return [(jax.tree_util.DictKey(name), value) for name, value in pairs], self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="unflatten_gets_pairs"
"""JAX can take your object apart, but not rebuild it. Perhaps unflatten expects pairs of a key and a child. It gets the children alone; the names come to it in aux_data, if flatten puts them there."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = [jax.tree_util.DictKey(name) for name in self.names]
        return list(zip(keys, self.values)), None

    @classmethod
    def tree_unflatten(cls, _, pairs):
        return cls([key.key for key, _ in pairs], [value for _, value in pairs])


# %% exercise="readable_paths" misconception="each_layer_is_a_dict"
"""Your flatten fails at a layer that is not a dict. A layer can be any tree: a number, an array, a list. Return the layer itself as the child. JAX opens it, and adds its keys to the path."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        children = [
            (jax.tree_util.DictKey(name), dict(value.items()))
            for name, value in zip(self.names, self.values)
        ]
        return children, self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="readable_paths" misconception="quotes_in_the_keys"
"""The names in your paths have quotes twice. `DictKey` adds brackets and quotes by itself: give it the name without them."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = [jax.tree_util.DictKey(f"'{name}'") for name in self.names]
        return list(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


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
        if self.mean.shape != self.std.shape or ~(self.std > 0).all():
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
            mean, std = jnp.asarray(mean), jnp.asarray(std)
            if mean.shape != std.shape or not jnp.all(std > 0):
                raise ValueError("mean and std do not go together")
        self.mean, self.std, self.name = mean, std, name


jax.tree_util.register_pytree_node(
    Normal,
    lambda normal: ((normal.mean, normal.std), normal.name),
    lambda name, children: Normal(*children, name, rebuilt=True),
)

# %% exercise="normal" misconception="validates_what_jax_puts_in"
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


# %% exercise="normal" misconception="checks_arrays_only"
"""Your object is rebuilt from tracers and strings, but a map or a gradient with negative numbers fails. Negative numbers can be real arrays too, although they are not a valid `std`."""
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


# %% exercise="normal" misconception="lets_tracers_through"
"""Under jit your object is rebuilt, but a map to negative numbers, strings or `None` fails. Perhaps the constructor skips its checks for tracers only. JAX puts in other objects as well."""
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


# %% exercise="normal" misconception="converts_what_jax_puts_in"
"""Your rebuilt object converts what JAX put in to arrays. A string or `None` cannot become an array, and a whole number should stay as it is. Unflatten must not convert anything."""
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


# %% exercise="normal" misconception="catches_the_error"
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


# %% exercise="normal" misconception="a_valid_one_was_seen"
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


# %% exercise="normal" misconception="checks_are_switched_off" section="leaves-that-are-no-arrays"
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


# %% exercise="normal" misconception="nan_in_place_of_an_error" section="leaves-that-are-no-arrays"
"""A wrong `std` raises no error: your object holds `nan` in its place. `jnp.where` can choose between values, also under `jit`, but it cannot raise an error. A caller should get the ValueError, so the check stays in the constructor, and unflatten makes the object without it."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        mean, std = jnp.asarray(mean), jnp.asarray(std)
        if mean.shape != std.shape:
            raise ValueError("mean and std differ in shape")
        self.mean, self.std, self.name = mean, jnp.where(std > 0, std, jnp.nan), name

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="nan_in_place_of_an_error_for_callers"
"""JAX can rebuild your object, but a caller's wrong `std` raises no error: it becomes `nan` or another number. The constructor should raise the same ValueError as before."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        mean, std = jnp.asarray(mean), jnp.asarray(std)
        if mean.shape != std.shape:
            raise ValueError("mean and std differ in shape")
        self.mean, self.std, self.name = mean, jnp.where(std > 0, std, jnp.nan), name

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="numbers_have_no_shape"
"""Your constructor fails with plain numbers and lists: they have no `.shape`. It has to convert what its callers give. What JAX puts in should not be converted, and need not come through the constructor."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if mean.shape != std.shape:
            raise ValueError("mean and std differ in shape")
        if not (std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="callers_values_are_only_stored"
"""Your constructor checks what its callers give, but it stores numbers and lists as they are. A caller always gets arrays. Only what JAX puts in stays as it is."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if jnp.shape(mean) != jnp.shape(std):
            raise ValueError("mean and std differ in shape")
        if not (jnp.asarray(std) > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="children_change_places" section="flatten-and-unflatten"
"""In a rebuilt object, mean and std have changed places. Unflatten gets the children in the order in which flatten returned them."""
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
        normal.std, normal.mean = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="asserts"
"""Your constructor raises an AssertionError where its callers expect a ValueError. Code that catches a ValueError would not catch it, and `python -O` removes every `assert`."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        assert self.mean.shape == self.std.shape, "mean and std differ in shape"
        assert (self.std > 0).all(), "std should be positive"

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="raises_a_type_error"
"""Your constructor refuses wrong values with a TypeError. A value of the right type that is out of range is a ValueError, and that is what callers got before."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape or not (self.std > 0).all():
            raise TypeError("mean and std do not go together")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="shapes_are_not_checked"
"""Your constructor accepts a mean and a std of different shapes. The checks for callers stay as they were, all of them."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="only_shapes_are_checked"
"""Your constructor accepts a `std` that is not positive. The checks for callers stay as they were, all of them."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="zero_is_accepted"
"""Your constructor accepts a `std` of 0, which is not positive. The checks for callers stay as they were."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape or (self.std < 0).any():
            raise ValueError("mean and std do not go together")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="one_positive_is_enough"
"""Your constructor accepts an array for `std` of which only a part is positive. `any` is true as soon as one number is; the task asks for all of them."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape or not (self.std > 0).any():
            raise ValueError("mean and std do not go together")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="nan_is_no_wrong_number"
"""Your constructor accepts `nan` for `std`. Both `nan <= 0` and `nan > 0` are false. So `std <= 0` does not find it, and `not std > 0` does."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape or (self.std <= 0).any():
            raise ValueError("mean and std do not go together")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="all_numbers_become_floats"
"""A caller's whole numbers become floats in your object. Before, `jnp.asarray` kept them whole. The task asks for the same arrays as before."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std = jnp.asarray(mean, jnp.float32), jnp.asarray(std, jnp.float32)
        self.name = name
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
        normal.name = name
        return normal


# %% exercise="normal" misconception="none_and_object_are_let_through" section="leaves-that-are-no-arrays"
"""Your constructor lets `None` and `object()` through, but it still converts or refuses other things that JAX puts in: strings, tracers, negative numbers. You cannot list every object that JAX may put in: let unflatten make the object without the constructor."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if type(mean) is not object and mean is not None and type(std) is not object and std is not None:
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
            if self.mean.shape != self.std.shape:
                raise ValueError("mean and std differ in shape")
            if not (self.std > 0).all():
                raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="texts_and_none_are_let_through" section="leaves-that-are-no-arrays"
"""Your object is rebuilt from strings and `None`, but negative numbers or tracers fail, and whole numbers become arrays. Perhaps the constructor lets through anything that cannot become an array. JAX also puts in arrays that break the rules, and tracers, on which `if` fails."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        try:
            self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        except (TypeError, ValueError):
            self.mean, self.std, self.name = mean, std, name
            return
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="the_name_is_a_child" section="flatten-and-unflatten"
"""Your name is among the leaves: a map changes it, or fails on it. A string is a leaf like any object. What JAX should not compute with belongs in aux_data."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std, self.name), None

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std, normal.name = children
        return normal


# %% exercise="normal" misconception="unflatten_returns_nothing" section="flatten-and-unflatten"
"""A rebuild gives `None` in the place of your object. JAX puts whatever unflatten returns in the place of the node, and a function without `return` returns `None`."""
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
        normal.name = name


# %% exercise="normal" misconception="the_checks_move_to_unflatten"
"""JAX's objects are checked, and those of your callers are not. It should be the other way round: a caller's mistake raises a ValueError, and JAX may put in anything."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        mean, std = children
        if jnp.shape(mean) != jnp.shape(std) or not (jnp.asarray(std) > 0).all():
            raise ValueError("mean and std do not go together")
        return cls(mean, std, name)


# %% exercise="normal" misconception="the_checks_move_to_flatten"
"""A wrong `std` raises its error when JAX takes the object apart, not when a caller makes it. JAX flattens objects that it has rebuilt too, and they may hold anything."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name

    def tree_flatten(self):
        if jnp.shape(self.mean) != jnp.shape(self.std) or not (self.std > 0).all():
            raise ValueError("mean and std do not go together")
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        normal = object.__new__(cls)
        normal.mean, normal.std = children
        normal.name = name
        return normal


# %% exercise="normal" misconception="only_real_arrays_are_checked" section="leaves-that-are-no-arrays"
"""Your object is rebuilt from tracers, strings and `None`, but negative numbers fail, and whole numbers become arrays. Perhaps the constructor converts what it can and checks what is an array then. JAX also puts in numbers that break the rules, and they should stay as they are."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        try:
            mean, std = jnp.asarray(mean), jnp.asarray(std)
        except (TypeError, ValueError):
            pass
        self.mean, self.std, self.name = mean, std, name
        if isinstance(std, jax.Array) and not isinstance(std, jax.core.Tracer):
            if self.mean.shape != self.std.shape or not (self.std > 0).all():
                raise ValueError("mean and std do not go together")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="callers_are_not_converted_nor_refused" section="leaves-that-are-no-arrays"
"""Your constructor converts and checks numbers and arrays, but it accepts other things from a caller, such as `None` or a string. A caller gets the same errors as before. Unflatten can make the object without the constructor."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        try:
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
        except (TypeError, ValueError):
            return
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
        normal.name = name
        return normal


# %% exercise="normal" misconception="only_the_mean_is_looked_at" section="leaves-that-are-no-arrays"
"""Your constructor lets `object()` and `None` through, but only in the place of `mean`, and it still refuses tracers, strings and negative numbers. You cannot list every object that JAX may put in: let unflatten make the object without the constructor."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if type(mean) is not object and mean is not None:
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
            if self.mean.shape != self.std.shape:
                raise ValueError("mean and std differ in shape")
            if not (self.std > 0).all():
                raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="what_is_no_array_is_let_through" section="leaves-that-are-no-arrays"
"""Your constructor catches the error of what cannot become an array, such as a string or a tracer. Negative numbers and `None` still raise an error when JAX puts them in, and whole numbers become arrays. Let unflatten make the object without the constructor."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.name = name
        try:
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
            is_positive = bool((self.std > 0).all())
        except (TypeError, jax.errors.TracerBoolConversionError):
            self.mean, self.std = mean, std
            return
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not is_positive:
            raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="normal" misconception="other_types_are_not_checked" section="who-calls-init"
"""Your constructor checks numbers and lists, but it accepts anything else from a caller: an array with a wrong `std`, `None`, a string. A caller always gets the same checks. Your unflatten does not call the constructor, so nothing has to be let through for JAX."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if isinstance(std, (int, float, list, np.ndarray)):
            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
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
        normal.name = name
        return normal


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


# %% exercise="running_mean" misconception="self_is_changed_under_jit"
"""`add` returns `None`, so there is no new object to go on with. What a jitted method does not return is lost: its `self` is a copy that JAX made for the trace, and a change of this copy does not reach the caller's object."""
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


# %% exercise="running_mean" misconception="changes_the_old_one"
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
"""Your numbers are right, but Python runs `function` for each number. Perhaps `add` calls `function` outside the jitted code, or nothing is jitted. Or each call makes a new jitted function. JAX keeps its traces with the jitted function, and a new one has no traces yet."""
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
"""Your numbers are right, but `add` is traced again for each new `count`, because `count` is part of the structure. For `jit`, an object with another structure is an argument of another type."""
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


# %% exercise="running_mean" misconception="self_is_static"
"""Your numbers are right, but JAX traces again for each new object. Is `self` a static argument? Then JAX does not flatten it: it is a constant, and its numbers become part of the program."""
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


# %% exercise="running_mean" misconception="count_is_made_an_int"
"""Every `add` raises an error. Perhaps your code asks for the number itself, by `int` or `float`. While JAX traces, `total` and `count` are tracers: they stand for any number, and have no number of their own."""
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
        count = int(self.count) + 1
        return RunningMean(self.function, self.total + self.function(x), count)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="function_is_a_child"
"""Every call of `add` fails, and objects of different functions have one structure. Perhaps `function` is one of your children, or missing in what flatten returns, or the class is no longer registered. `jit` accepts numbers and arrays as leaves, but neither functions nor objects of your own. A function belongs in aux_data."""
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
"""`add` returns a tuple, and you cannot call `add` on a tuple again. The task asks for a new `RunningMean`."""
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


# %% exercise="running_mean" misconception="a_jitted_helper_and_a_changed_self" section="objects-that-change"
"""After `add`, the old object has changed too, although your helper is jitted. A method without `jit` around it gets the caller's own object as `self`, and setting its attributes changes this object."""
from functools import partial


@partial(jax.jit, static_argnums=0)
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
        self.total, self.count = added(self.function, self.total, self.count, x)
        return self

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="a_new_function_in_each_object"
"""Your numbers are right, but Python runs `function` for each object again, and a new object has another structure. Perhaps the new object holds a function that `add` has made. For JAX, two function objects are different, even with equal code."""
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
        function = self.function
        return RunningMean(lambda x: function(x), self.total + function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="the_function_is_not_used"
"""Your means are those of the numbers themselves. Each number has to go through `function` first."""
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
        return RunningMean(self.function, self.total + x, self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="the_count_is_not_handed_on" section="flatten-and-unflatten"
"""The `count` of a new object is 0 again, so its mean is not a number. The new object gets only what you pass to its constructor; the default hides that the count is missing."""
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
        return RunningMean(self.function, self.total + self.function(x))

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="the_total_starts_again"
"""Your mean knows only the last number, divided by the count of all. The new total has to hold the old one as well."""
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
        return RunningMean(self.function, self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="the_sum_goes_through_the_function"
"""Your means are wrong from the second number on, or even before. Perhaps `function` gets the sum of the numbers. The mean of `function(x)` needs each number to go through `function` alone."""
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
        return RunningMean(self.function, self.function(self.total + x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="total_is_the_mean"
"""Your means are too small from the second number on. Perhaps the total is divided by the count already in `add`, and `mean` divides once more."""
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
        total = (self.total * self.count + self.function(x)) / (self.count + 1)
        return RunningMean(self.function, total, self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="mean_of_the_last_two"
"""Your means are wrong from the second number on. Half of the old value and half of the new one is the mean of two numbers only. Keep the total and the count, and divide at the end."""
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
        value = self.function(x)
        total = jnp.where(self.count == 0, value, (self.total / self.count + value) / 2 * (self.count + 1))
        return RunningMean(self.function, total, self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="numbers_in_aux_data"
"""Every `add` raises an error. Perhaps `total` and `count` are in aux_data. Under `jit` the new numbers are tracers, and the structure of a result may not hold tracers. What changes in each call belongs among the children."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (), (self.function, self.total, self.count)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*aux_data)

    @jax.jit
    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="the_function_is_an_argument"
"""Every `add` raises an error. Perhaps you hand `function` to a jitted function as an ordinary argument. `jit` takes arrays and numbers as leaves; a function has to be static."""
@jax.jit
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


# %% exercise="running_mean" misconception="returns_a_dict"
"""`add` returns a dict, and you cannot call `add` on a dict again. JAX can return any registered node from a jitted function, so return a whole `RunningMean`."""
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
        return {"total": self.total + self.function(x), "count": self.count + 1}

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="children_change_places"
"""Total and count have changed places in the new object. Unflatten gets the children in the order of flatten; the constructor takes first the total, then the count."""
@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def tree_flatten(self):
        return (self.count, self.total), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @jax.jit
    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="add_returns_its_own_copy_unchanged"
"""`add` gives back an object without the new number: its count and its mean are the old ones. An expression such as `self.total + …` computes a new number, but does not change the object."""
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
        self.total + self.function(x)
        self.count + 1
        return self

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="a_partial_in_each_object"
"""Your numbers are right, but Python runs `function` again for each new object. Perhaps the constructor wraps the function, for example with `functools.partial`: each wrapper is another object, so each `RunningMean` has another structure. Keep the function as it is."""
from functools import partial


@jax.tree_util.register_pytree_node_class
class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = partial(function), total, count

    def tree_flatten(self):
        return (self.total, self.count), self.function

    @classmethod
    def tree_unflatten(cls, function, children):
        return cls(function, *children)

    @jax.jit
    def add(self, x):
        return RunningMean(self.function, self.total + self.function(x), self.count + 1)

    def mean(self):
        return self.total / self.count


# %% exercise="train_step" variant="a_gradient_for_the_int_too"
def train_step(loss, state, rate):
    grads = jax.grad(loss, allow_int=True)(state)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads.params)
    return type(state)(params=params, step=state.step + 1)


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


# %% exercise="train_step" misconception="the_step_has_a_gradient_too"
"""Every call raises an error at the update. Perhaps you let `jax.grad` accept the int and then update the whole state. The gradient of an int has the type `float0`, and you cannot compute with it."""
def train_step(loss, state, rate):
    grads = jax.grad(loss, allow_int=True)(state)
    state = jax.tree.map(lambda p, g: p - rate * g, state, grads)
    return replace(state, step=state.step + 1)


# %% exercise="train_step" misconception="gradient_of_the_whole_state"
"""Every call raises a TypeError. Perhaps you take the gradient with respect to the whole state. Its `step` is an int: a leaf without a gradient."""
def train_step(loss, state, rate):
    grads = jax.grad(loss)(state)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads.params)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="the_step_becomes_a_float"
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
"""Your parameters go uphill: you add `rate` times the gradient. The gradient points in the direction in which the loss grows, so subtract it."""
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


# %% exercise="train_step" misconception="the_loss_gets_a_float"
"""The loss gets a float for the `step`. `jax.grad` accepts the state then, but a loss that needs a whole number fails. You can take the gradient with respect to a part of the state."""
def train_step(loss, state, rate):
    grads = jax.grad(loss)(replace(state, step=float(state.step)))
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads.params)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" variant="jitted_as_a_whole"
def train_step(loss, state, rate):
    @jax.jit
    def step(state):
        grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
        params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
        return replace(state, params=params, step=state.step + 1)

    return step(state)


# %% exercise="train_step" misconception="the_loss_gets_the_params"
"""Every call raises an error, or the loss does not find what it looks for. Perhaps you give it the parameters alone. `loss` takes a whole state, so a function around it has to make one."""
def train_step(loss, state, rate):
    grads = jax.grad(loss)(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="trees_as_arrays"
"""Your code works only where `params` is one array. Python's `*` and `-` do not go into a dict or a node; `jax.tree.map` does, and takes the matching leaves of both trees."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    return replace(state, params=state.params - rate * grads, step=state.step + 1)


# %% exercise="train_step" misconception="the_class_of_the_example"
"""Every call raises a NameError. Perhaps you name the class of the example. `state` may be of any registered dataclass: take its own class, or a copy of it with some fields replaced."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(TrainState(params, state.step)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return TrainState(params, state.step + 1)


# %% exercise="train_step" misconception="the_rate_is_forgotten"
"""Your parameters move by the whole gradient, whatever the rate is."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="divides_by_the_rate"
"""Your parameters move by the gradient divided by the rate. A higher rate should make a longer step."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - g / rate, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="the_update_alone"
"""Your `params` hold only the step, `-rate` times the gradient. Add it to the old parameters."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda g: -rate * g, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="the_loss_does_not_depend_on_the_params"
"""Your parameters do not move: all gradients are 0. Perhaps your function of the parameters calls the loss with the old state. The gradient sees only what is computed from the argument."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(state))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="returns_params_and_step"
"""You return a tuple of parameters and step. The next call needs a state, so return an object of the same class."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return params, state.step + 1


# %% exercise="train_step" misconception="returns_a_dict"
"""You return a dict. The next call reads the fields of a state, so return an object of the same class."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return {"params": params, "step": state.step + 1}


# %% exercise="train_step" misconception="returns_nothing"
"""You return `None`. A new state has to be made and returned; the old one stays as it was."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="counts_in_the_old_state" section="objects-that-change"
"""The result is right, but the `step` of the old state has changed too. `state.step += 1` sets the field of the caller's own object."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    state.step += 1
    return replace(state, params=params)


# %% exercise="train_step" misconception="changes_the_old_state_and_returns_nothing" section="objects-that-change"
"""You return `None`, and the caller's state has changed. The task asks for a new state, and for an old one that stays as it was."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    state.params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    state.step = state.step + 1


# %% exercise="train_step" misconception="params_become_a_list"
"""Your `params` are a list of leaves, whatever tree they were. Leaves alone do not know their structure; `jax.tree.map` keeps it."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    leaves, slopes = jax.tree.leaves(state.params), jax.tree.leaves(grads)
    params = [p - rate * g for p, g in zip(leaves, slopes)]
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="writes_into_a_flat_dict" section="objects-that-change"
"""Your code writes the new arrays into the old state's own dict, and fails where `params` is not a flat dict. A copy of the state still holds the same dict. A map makes a new tree, for every tree."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = state.params
    for name in params:
        params[name] = params[name] - rate * grads[name]
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="dicts_of_dicts_only"
"""Your code works only where `params` is made of dicts. A tree may also be a list, a tuple, a node of a class or one array, and `jax.tree.map` goes through them all."""
def train_step(loss, state, rate):
    def moved(params, grads):
        if isinstance(params, dict):
            return {name: moved(params[name], grads[name]) for name in params}
        return params - rate * grads

    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    return replace(state, params=moved(state.params, grads), step=state.step + 1)


# %% exercise="train_step" misconception="the_step_is_a_float"
"""The new `step` is a float. A count of steps should stay a whole number."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1.0)


# %% exercise="train_step" misconception="value_and_gradient_swapped"
"""Every call raises an error. `jax.value_and_grad` returns a pair: first the value of the loss, then the gradient. Only the second has the structure of the parameters."""
def train_step(loss, state, rate):
    grads, _ = jax.value_and_grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="tracers_left_in_the_old_state" section="methods-under-jit"
"""Your result is right, but the old state holds tracers afterwards. Perhaps the function that you differentiate writes its argument into `state`. Give the loss a copy with other parameters: `replace(state, params=params)`."""
def train_step(loss, state, rate):
    params = state.params

    def loss_of_params(traced):
        state.params = traced
        return loss(state)

    grads = jax.grad(loss_of_params)(params)
    moved = jax.tree.map(lambda p, g: p - rate * g, params, grads)
    return replace(state, params=moved, step=state.step + 1)


# %% exercise="train_step" misconception="fields_by_position"
"""Your function fails, or the fields change places, where the class has `step` before `params`. Do you rely on the order of the fields, or of the leaves of the state? The class decides that order: take the fields by their names, as `replace` does."""
def train_step(loss, state, rate):
    cls = type(state)
    grads = jax.grad(lambda params: loss(cls(params, state.step)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return cls(params, state.step + 1)


# %% exercise="train_step" misconception="the_new_state_by_position"
"""Where the class has `step` before `params`, the two have changed places in your new state. Perhaps you call the class with both values by position. The class decides the order of its fields: pass the values by name, as `replace` does."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return type(state)(params, state.step + 1)


# %% exercise="train_step" misconception="the_step_is_an_int"
"""Your function fails, or the `step` does not count, where the `step` is an `int32` array. Perhaps you tell the `step` from the parameters by its type. A whole number can be an array too: take the field by its name."""
def train_step(loss, state, rate):
    leaves, structure = jax.tree.flatten(state)
    place = [isinstance(leaf, int) for leaf in leaves]

    def loss_of_floats(floats):
        floats = iter(floats)
        both = [leaf if is_int else next(floats) for leaf, is_int in zip(leaves, place)]
        return loss(jax.tree.unflatten(structure, both))

    floats = [leaf for leaf, is_int in zip(leaves, place) if not is_int]
    moved = iter([p - rate * g for p, g in zip(floats, jax.grad(loss_of_floats)(floats))])
    new = [leaf + 1 if is_int else next(moved) for leaf, is_int in zip(leaves, place)]
    return jax.tree.unflatten(structure, new)


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


# %% exercise="history" misconception="flatten_cuts_off"
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


# %% exercise="history" misconception="used_is_guessed"
"""After a rebuild, your `used` is the number of values that are not 0. A filled place may hold a 0. And if a map puts in a string, unflatten cannot count anything."""
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


# %% exercise="history" misconception="used_is_made_an_int" section="leaves-that-are-no-arrays"
"""Under jit, or where a map puts in a string, your history cannot be rebuilt. Perhaps unflatten calls `int` on `used`. What JAX puts in need not be a number."""
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


# %% exercise="history" misconception="one_child_for_each_value"
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


# %% exercise="history" misconception="zeros_in_the_empty_places"
"""Your flatten puts zeros into the empty places. The values should not change. And if JAX puts in a string, flatten cannot compute anything."""
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


# %% exercise="history" misconception="copied_into_zeros" section="leaves-that-are-no-arrays"
"""Your rebuilt values are computed from those that JAX puts in: whole numbers become floats, and a string fails. Unflatten should store what it gets."""
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


# %% exercise="history" misconception="still_cut_off"
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


# %% exercise="history" misconception="children_become_arrays" section="leaves-that-are-no-arrays"
"""A rebuilt history holds JAX's arrays, whatever was put in, or it cannot be rebuilt at all. Perhaps unflatten converts its children to arrays. JAX puts in other objects too, such as `None` or a string."""
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


# %% exercise="history" misconception="all_children_in_one_argument"
"""After a rebuild, `values` holds a tuple of both children, and `used` is 0. Unflatten gets all children in one sequence; the constructor takes them one by one."""
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
        return cls(children)


# %% exercise="history" misconception="used_in_both"
"""Your leaves are right, but two histories with another `used` have different structures. Perhaps `used` is in aux_data too. What is in aux_data is part of the structure, even if the same value is also a child."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), self.used

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="each_place_is_a_child"
"""Your leaves are single numbers, one for each place, and then `used`. The task asks for two children: the whole array is one of them. A leaf need not be a single number: a whole array is one leaf."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (*self.values, self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        *values, used = children
        return cls(jnp.stack(values), used)


# %% exercise="history" misconception="values_are_static"
"""Your array is not a leaf: a map does not reach it, and two histories cannot be compared. Perhaps it is in aux_data. What is in aux_data belongs to the structure, and JAX never computes with it."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.used,), self.values

    @classmethod
    def tree_unflatten(cls, values, children):
        return cls(values, *children)


# %% exercise="history" misconception="a_slice_of_a_traced_size"
"""The shape of your leaf still depends on `used`, and fails under `jit`. Perhaps `lax.dynamic_slice` cuts off the empty places: its start may be a tracer, but not its size."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        filled = jax.lax.dynamic_slice(self.values, (0,), (self.used,))
        return (filled, self.used), len(self.values)

    @classmethod
    def tree_unflatten(cls, size, children):
        filled, used = children
        return cls(jnp.zeros(size).at[:used].set(filled), used)


# %% exercise="history" misconception="still_cut_off_and_filled_up"
"""Your `used` is a child now, but the empty places are still cut off. The shape of a leaf may not depend on how full the history is; and under `jit`, `used` is a tracer, so you cannot use it in a slice."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values[: self.used], self.used), len(self.values)

    @classmethod
    def tree_unflatten(cls, size, children):
        filled, used = children
        return cls(jnp.zeros(size).at[: len(filled)].set(filled), used)


# %% exercise="history" misconception="zeros_of_another_type"
"""Your flatten puts zeros into the empty places, and makes floats of whole numbers. The values should not change. And JAX also puts in objects that flatten cannot compute with."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        filled = jnp.arange(len(self.values)) < self.used
        return (jnp.where(filled, self.values, 0.0), self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="zeros_for_arrays_only"
"""Your flatten puts zeros into the empty places where it can. The empty places belong to the array too: flatten should return it as it is."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        values = self.values
        if hasattr(values, "shape"):
            values = jnp.where(jnp.arange(len(values)) < self.used, values, 0)
        return (values, self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="children_change_places"
"""After a rebuild, `values` and `used` have changed places. Unflatten gets the children in the order in which flatten returned them."""
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
        used, values = children
        return cls(values, used)


# %% exercise="history" misconception="one_container_is_the_child"
"""A history has one child instead of two. Perhaps this child is a tuple that holds both. For JAX such a container is one more level between your object and its leaves."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return ((self.values, self.used),), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children[0])


# %% exercise="history" misconception="a_dict_is_the_child"
"""A history has one child, and `used` comes first. Perhaps this child is a dict. A dict is one more level, and JAX sorts its keys."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return ({"values": self.values, "used": self.used},), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(**children[0])


# %% exercise="history" misconception="flatten_makes_arrays" section="leaves-that-are-no-arrays"
"""Your flatten converts the children to arrays. JAX may put in a string or `None`, and then takes the history apart again: flatten should return what the object holds."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (jnp.asarray(self.values), jnp.asarray(self.used)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="the_constructor_makes_arrays" section="leaves-that-are-no-arrays"
"""Your history cannot hold every object that JAX puts in. Perhaps the constructor converts its arguments to arrays, and unflatten calls it. The task leaves the constructor as it is."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = jnp.asarray(values), jnp.asarray(used)

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="the_array_is_converted" section="leaves-that-are-no-arrays"
"""A rebuilt history cannot hold a string or `None` in the place of the array, or NumPy's array becomes one of JAX. Unflatten should store what it gets."""
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
        values, used = children
        return cls(jnp.asarray(values), used)


# %% exercise="history" misconception="used_becomes_an_array" section="leaves-that-are-no-arrays"
"""A rebuilt history cannot hold a string or `None` in the place of `used`. Perhaps unflatten makes an array of it. What JAX puts in need not be a number."""
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
        values, used = children
        return cls(values, jnp.asarray(used))


# %% exercise="history" misconception="the_size_is_a_child_too"
"""Your histories have a third leaf, the number of places. The array knows its own length. The task asks for two children."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used, len(self.values)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children[:2])


# %% exercise="history" misconception="a_mask_in_place_of_used"
"""Your second leaf is an array of truth values. The task asks for `used` itself, the number of filled places."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, jnp.arange(len(self.values)) < self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        values, filled = children
        return cls(values, jnp.sum(filled))


# %% exercise="history" misconception="no_aux_data" section="flatten-and-unflatten"
"""JAX takes the array and `used` for a pair of children and aux_data, so flatten fails or loses `used`. Flatten returns two things: a sequence of all children, and aux_data."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return self.values, self.used

    @classmethod
    def tree_unflatten(cls, used, children):
        return cls(children, used)


# %% exercise="history" misconception="everything_is_static"
"""Your history has no leaves. Perhaps both attributes are in aux_data. What is in aux_data belongs to the structure: a map does not reach it, and two histories that differ in it do not fit together."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (), (self.values, self.used)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*aux_data)


# %% exercise="history" misconception="unflatten_returns_nothing"
"""A rebuild gives `None` in the place of your history. JAX puts whatever unflatten returns in the place of the node, and a function without `return` returns `None`."""
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
        cls(*children)


# %% exercise="history" misconception="both_children_become_arrays" section="leaves-that-are-no-arrays"
"""A rebuilt history holds JAX's arrays, whatever was put in, or it cannot be rebuilt at all. Perhaps unflatten makes an array of each child, and gives `used` a dtype. JAX puts in other objects too, such as `None` or a string: store what comes."""
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
        values, used = children
        return cls(jnp.asarray(values), jnp.asarray(used, dtype=jnp.int32))


# %% exercise="history" misconception="shape_and_dtype_in_the_structure" section="leaves-that-are-no-arrays"
"""Your flatten fails where JAX has put something else than an array into a history: a number, a string or `None` has no shape and no dtype. Perhaps you keep one of these in aux_data. An array brings its shape and its dtype with it; the structure need not."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, self.used), (self.values.shape, str(self.values.dtype))

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


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

# %% exercise="temperature" misconception="init_runs_once" section="who-calls-init"
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


# %% exercise="temperature" misconception="a_copy_at_each_rebuild" section="who-calls-init"
"""The dict of the caller does not change now, but the temperature is still 1.0 after every map. It is set again at each rebuild, in `__init__` or in unflatten, and overwrites what JAX put in."""
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


# %% exercise="temperature" misconception="a_flag_without_a_copy"
"""A rebuilt model keeps its temperature, but the dict of the caller changes with the model. You fixed *when* the default is written. The second bug is left: it is still written into the caller's dict."""
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


# %% exercise="temperature" misconception="only_the_factory_sets_it"
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


# %% exercise="temperature" misconception="beside_the_params"
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


# %% exercise="temperature" misconception="only_where_it_is_missing" section="who-calls-init"
"""A new model keeps a temperature that the caller's dict has, and a rebuild fails where JAX puts in `None`. Perhaps you set the temperature only where it is missing, and each rebuild does this too. Unflatten should only store what it gets, which need not be a dict."""
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


# %% exercise="temperature" misconception="a_dict_is_expected" section="leaves-that-are-no-arrays"
"""Your model cannot be rebuilt when JAX puts something else in the place of its dict. Perhaps each rebuild copies the dict, or runs the constructor. What unflatten gets need not be a dict, so unflatten should only store it."""
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


# %% exercise="temperature" misconception="only_the_outer_dict" section="who-calls-init"
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


# %% exercise="temperature" misconception="no_name" section="who-calls-init"
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


# %% exercise="temperature" misconception="lists_are_shared" section="objects-that-change"
"""Your model has its own dicts, but a list in its `params` is still the caller's, and an `OrderedDict` became a `dict`. Perhaps you copy dicts only. A tree can hold other containers too: `jax.tree.map` copies all of them, and keeps their types."""
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
"""After a map, the temperature is right, but a model cannot be rebuilt when JAX puts something else in the place of its dict. Perhaps unflatten reads the temperature out of the dict, calls the constructor, and hands the temperature over or sets it afterwards. All of this needs a dict. Unflatten should store what it gets."""
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


# %% exercise="temperature" misconception="the_callers_temperature_wins"
"""A new model keeps a temperature that the caller's dict has. A new model starts at 1.0, whatever `params` says. In `{**one, **other}`, and in `setdefault`, it matters which of the two comes last or is there already."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        copied = jax.tree.map(lambda leaf: leaf, params)
        self.params = {"temperature": 1.0, **copied}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="copied_after_the_change"
"""The caller's dict still gets a temperature. Perhaps the copy is made after the entry was written. First copy, then write into the copy."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        params["temperature"] = 1.0
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="copied_after_the_change_at_each_rebuild"
"""The temperature is 1.0 after every map, and the caller's dict still gets one. The constructor runs at each rebuild; and your copy is made after the entry was written."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        params["temperature"] = 1.0
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="the_outer_dict_at_each_rebuild"
"""The temperature is 1.0 after every map, and the dicts inside `params` are still the caller's. `{**params}` and `dict(params)` copy one dict only; and the constructor runs at each rebuild."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {**params, "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="missing_in_the_outer_dict"
"""A new model keeps a temperature that the caller's dict has, and the dicts inside `params` are still the caller's. A missing temperature does not tell you whether a model is new; and a copy of one dict holds the same inner dicts."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = dict(params)
        self.params.setdefault("temperature", 1.0)
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="missing_in_the_callers_dict"
"""A new model keeps a temperature that the caller's dict has, and writes one into this dict where it is missing. A missing temperature does not tell you whether a model is new; and the dict belongs to the caller."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        params.setdefault("temperature", 1.0)
        self.params = params
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="a_false_temperature_is_replaced" section="leaves-that-are-no-arrays"
"""A new model keeps a temperature that the caller's dict has, and a rebuilt one cannot hold everything. Perhaps `or` chooses between the old temperature and 1.0. The values of `params` do not say whether a model is new."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = self.params.get("temperature") or 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="the_temperature_is_made_a_float" section="leaves-that-are-no-arrays"
"""Your model cannot be rebuilt with a tracer, a string or something else in the place of its dict. Perhaps unflatten hands the old temperature to the constructor, which makes a float of it or needs a dict. Unflatten should store what it gets."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name, temperature=1.0):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = float(temperature)
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        (params,) = children
        return cls(params, name, params["temperature"])


# %% exercise="temperature" misconception="resets_every_dict"
"""Your model can be rebuilt with anything, but after a map its temperature is 1.0 again. Perhaps the constructor sets it wherever it gets a dict. JAX puts in a dict too: the one with the new leaves."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params, self.name = params, name
        if isinstance(params, dict):
            self.params = jax.tree.map(lambda leaf: leaf, params)
            self.params["temperature"] = 1.0

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="the_temperature_gets_lost" section="flatten-and-unflatten"
"""After a map, the temperature is missing. Perhaps flatten leaves it out. A rebuilt model holds only what flatten returned."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        params = {key: value for key, value in self.params.items() if key != "temperature"}
        return (params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="the_name_is_a_child" section="flatten-and-unflatten"
"""Your name is among the leaves: a map changes it. A string is a leaf like any object. What JAX should not compute with belongs in aux_data."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params, self.name), None

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        model.params, model.name = children
        return model


# %% exercise="temperature" misconception="tuples_are_not_opened" section="objects-that-change"
"""Your copy opens only dicts and lists. So what is inside a tuple or another node is still the caller's: a tuple cannot change, but the dicts in it can. And an `OrderedDict` becomes a plain dict. `jax.tree.map` opens every container that JAX knows, and keeps its type."""
def copied(tree):
    if isinstance(tree, dict):
        return {key: copied(child) for key, child in tree.items()}
    if isinstance(tree, list):
        return [copied(child) for child in tree]
    return tree


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = copied(params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="other_nodes_are_not_opened" section="objects-that-change"
"""Your model copies dicts, lists and tuples alone: an `OrderedDict` becomes a `dict`, a namedtuple fails or becomes another tuple, and what is inside a node of another class is still the caller's. `jax.tree.map` copies every kind of node, and keeps its type."""
def copied(tree):
    if isinstance(tree, dict):
        return {key: copied(child) for key, child in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([copied(child) for child in tree])
    return tree


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = copied(params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="namedtuples_become_tuples" section="objects-that-change"
"""In your model a namedtuple has become a plain tuple, or a node of a class is still the caller's. Perhaps you copy tuples by `tuple(...)`. `jax.tree.map` keeps the type of every node."""
def copied(tree):
    if isinstance(tree, dict):
        return {key: copied(child) for key, child in tree.items()}
    if isinstance(tree, list):
        return [copied(child) for child in tree]
    if isinstance(tree, tuple):
        return tuple(copied(child) for child in tree)
    return tree


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = copied(params)
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="one_level_more" section="objects-that-change"
"""Your model has its own dicts on two levels, but deeper ones are still the caller's. A copy has to go down through every level."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {
            key: dict(child) if isinstance(child, dict) else child for key, child in params.items()
        }
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="an_int_for_the_temperature"
"""Your temperature is the whole number 1, and the task asks for 1.0. For JAX, an int and a float are leaves of different types."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = jax.tree.map(lambda leaf: leaf, params)
        self.params["temperature"] = 1
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="unflatten_returns_nothing"
"""A rebuild gives `None` in the place of your model. JAX puts whatever unflatten returns in the place of the node, and a function without `return` returns `None`."""
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
        model.name = name


# %% exercise="temperature" misconception="all_children_are_the_params" section="flatten-and-unflatten"
"""After a map, `params` is a tuple or a list that holds your dict. Unflatten gets all children in one sequence, even when there is only one."""
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
        model.params, model.name = children, name
        return model


# %% exercise="temperature" misconception="both_beside_the_params"
"""The temperature is not among the `params` of your model, and the dict of your model is still the caller's. Code that reads `params`, or maps over it, does not find the temperature."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params, self.temperature, self.name = params, 1.0, name

    def tree_flatten(self):
        return (self.params, self.temperature), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        model.params, model.temperature = children
        model.name = name
        return model


# %% exercise="temperature" misconception="puts_it_back_in_a_shallow_copy" section="objects-that-change"
"""After a map, the temperature is right, but the dicts and lists inside `params` are still the caller's, and a model cannot be rebuilt when JAX puts something else in the place of its dict. `dict(params)` and `{**params}` copy one dict only; and what unflatten gets need not be a dict."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {**params, "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        (params,) = children
        model = cls(params, name)
        model.params["temperature"] = params["temperature"]
        return model


# %% exercise="temperature" misconception="a_shallow_copy_at_both_ends" section="objects-that-change"
"""The dicts and lists inside `params` are still the caller's, and a model cannot be rebuilt when JAX puts something else in the place of its dict. `dict(params)` copies one dict only; and unflatten should store what it gets."""
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
        model.params = dict(children[0])
        model.name = name
        return model


# %% exercise="temperature" misconception="a_shallow_copy_and_a_static_temperature" section="flatten-and-unflatten"
"""A map does not change your temperature, and the dicts and lists inside `params` are still the caller's. What is in aux_data belongs to the structure, and a map changes leaves only; and `dict(params)` copies one dict."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {**params, "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        params = dict(self.params)
        temperature = params.pop("temperature")
        return (params,), (self.name, temperature)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        model = object.__new__(cls)
        model.name, temperature = aux_data
        model.params = {**children[0], "temperature": temperature}
        return model


# %% exercise="temperature" misconception="beside_a_shallow_copy"
"""The temperature is not among the `params` of your model, and the dicts and lists inside `params` are still the caller's. Code that reads `params` does not find another attribute; and `dict(params)` copies one dict only."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params, self.temperature, self.name = dict(params), 1.0, name

    def tree_flatten(self):
        return (self.params, self.temperature), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        model.params, model.temperature = children
        model.name = name
        return model


# %% exercise="temperature" misconception="a_namedtuple_takes_a_list" section="objects-that-change"
"""Your constructor fails where `params` holds a namedtuple. Perhaps you copy tuples by `type(tree)(...)`. A namedtuple takes one argument for each field. `jax.tree.map` copies every kind of node, and keeps its type."""
def copied(tree):
    if isinstance(tree, dict):
        return {key: copied(child) for key, child in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(copied(child) for child in tree)
    return jax.tree.map(lambda leaf: leaf, tree)


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {**copied(params), "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="each_rebuild_copies"
"""A rebuilt model holds a copy of what JAX put in, and not the object itself. Perhaps unflatten copies it, or calls a constructor that copies its argument. Copy only what a caller passes in. Unflatten should store the object that it gets."""
from copy import deepcopy


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {**deepcopy(params), "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        model.params, model.name = deepcopy(children[0]), name
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


# %% exercise="fork" misconception="a_default_for_all" section="objects-that-change"
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


# %% exercise="fork" misconception="the_default_list_is_filled" section="objects-that-change"
"""After a rebuild, your forks contain themselves. Your unflatten fills a list that other forks share, such as the default of `branches=[]`, which Python makes only once. Give each fork a list of its own: make a new list in the constructor."""
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
    def tree_unflatten(cls, _, children):
        value, *branches = children
        fork = cls(value)
        for branch in branches:
            fork.grow(branch)
        return fork


# %% exercise="fork" misconception="keeps_the_callers_list" section="objects-that-change"
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
"""Your constructor refuses branches that are not forks. For a caller this may be useful. But JAX also builds forks, with a tracer, a string, a bool or any other object in the place of a whole branch."""
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
"""Branches get lost. Perhaps your class has a fixed number of children. Nodes of one class may have different numbers of children: the number is part of the structure."""
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
"""The values of your branches are not leaves. Perhaps the branches are in aux_data: what is in aux_data belongs to the structure, and JAX does not look inside."""
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


# %% exercise="fork" misconception="the_list_is_in_aux_data" section="objects-that-change"
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


# %% exercise="fork" misconception="each_branch_is_an_argument" section="flatten-and-unflatten"
"""A fork with branches cannot be rebuilt, or its branch is taken apart. Perhaps unflatten passes each child as an argument of its own. The constructor takes all branches in one list."""
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
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="fork" misconception="branches_are_attributes"
"""Your paths name a branch by a dot and its number. `keystr` writes each type of key in its own way. The place in a list has another type of key than an attribute."""
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
            children.append((jax.tree_util.GetAttrKey(str(i)), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="the_value_is_an_item"
"""Your paths begin with `['value']`, as in a dict. `keystr` writes each type of key in its own way. An attribute has another type of key than the entry of a dict."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.DictKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="keys_are_texts_and_numbers"
"""Your paths hold the bare name and bare numbers, without a dot or brackets. JAX accepts any object as a key, and `keystr` writes it as it is. The key types of `jax.tree_util` add dots and brackets."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [("value", self.value)]
        for i, branch in enumerate(self.branches):
            children.append((i, branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="dot_and_brackets_in_the_keys"
"""Your paths have dots, brackets or quotes twice. The key objects of JAX add them by themselves. Give them the name and the number alone."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey(".value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.DictKey(f"[{i}]"), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="one_list_in_the_class" section="objects-that-change"
"""A new fork has branches that were added to another fork. Perhaps the list stands in the body of the class. All forks share what belongs to the class, unless `__init__` gives each its own."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    branches = []

    def __init__(self, value, branches=None):
        self.value = value
        if branches is not None:
            self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="no_branches_become_none" section="who-calls-init"
"""A fork without branches that JAX rebuilt has `None` in the place of its list, so it cannot grow. `rest or None` gives `None` for an empty list. A fork without branches has an empty list."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches or ()):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        fork = object.__new__(cls)
        fork.value, fork.branches = value, branches or None
        return fork


# %% exercise="fork" misconception="none_stays_none" section="objects-that-change"
"""A fork that was made without branches has no list, so it cannot grow or be taken apart. Where `branches` is `None`, the constructor has to make a new list."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=None):
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
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="the_default_tuple_is_kept" section="objects-that-change"
"""A fork that was made without branches holds a tuple, so it cannot grow; and a list that the caller gives is kept. Make a new list of whatever comes."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
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
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="branches_are_a_tuple"
"""Your `branches` are a tuple, and the task asks for a list. A fork can have a list of its own if the constructor makes one."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = tuple(branches)

    def grow(self, branch):
        self.branches = (*self.branches, branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="grow_wraps_the_branch"
"""When your fork grows, the new branch is one level too deep. Perhaps `grow` makes a fork of the branch. The branch is a fork already."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(Fork(branch))

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="the_constructor_wraps_the_branches" section="who-calls-init"
"""Where JAX puts another object in the place of a branch, your rebuilt fork holds a new fork around this object. Perhaps the constructor wraps every branch that is not a fork. JAX may put in a string, a tracer or `None`: keep each object as it is."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = [branch if isinstance(branch, Fork) else Fork(branch) for branch in branches]

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="grow_adds_many"
"""`grow` fails, or adds the wrong thing. Perhaps it adds all items of the branch, as `extend` and `+=` do. A branch is one new item."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches += branch

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="grow_puts_it_first"
"""After `grow`, the new branch comes first. The others keep their numbers only if the new one comes last."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.insert(0, branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="the_value_is_static" section="flatten-and-unflatten"
"""Your value is not a leaf: a map does not change it, and a value that is a tree is not opened. Perhaps it is in aux_data. What is in aux_data belongs to the structure."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.SequenceKey, range(len(self.branches)))
        return list(zip(keys, self.branches)), self.value

    @classmethod
    def tree_unflatten(cls, value, children):
        return cls(value, children)


# %% exercise="fork" misconception="branches_get_lost" section="flatten-and-unflatten"
"""After a map, a fork has no branches. Unflatten gets the value and all branches in one sequence, and the default of the constructor hides that the branches are missing."""
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
    def tree_unflatten(cls, _, children):
        return cls(children[0])


# %% exercise="fork" misconception="the_values_of_the_branches" section="flatten-and-unflatten"
"""A rebuilt fork has values in the place of its branches, or the paths into the branches are too short. Perhaps flatten takes the values of the branches. The children are the branches themselves; JAX opens them, for their class is registered."""
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
            children.append((jax.tree_util.SequenceKey(i), branch.value))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="each_branch_hands_up_its_children" section="flatten-and-unflatten"
"""Branches of branches have moved up one or more levels. Perhaps your flatten calls the flatten of its branches. Flatten should return only the node's own children. JAX flattens the children by itself."""
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
            below, _ = branch.tree_flatten_with_keys()
            children += [(jax.tree_util.SequenceKey(i), child) for _, child in below]
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="one_place_for_all"
"""All your branches have the same number in their paths. Each branch needs the number of its own place."""
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
            children.append((jax.tree_util.SequenceKey(0), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="the_value_is_flattened" section="flatten-and-unflatten"
"""Your fork works only while its value is one leaf. Perhaps flatten takes the leaves of the value as children. The value is one child, and JAX opens it."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), leaf) for leaf in jax.tree.leaves(self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="no_classmethod" section="flatten-and-unflatten"
"""Your fork can be taken apart, but not rebuilt. JAX calls `Fork.tree_unflatten(aux_data, children)` on the class. A method without `@classmethod`, or one that takes the children first, gets other arguments than it expects."""
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

    def tree_unflatten(self, _, children):
        value, *branches = children
        return Fork(value, branches)


# %% exercise="fork" misconception="a_fork_for_a_value_is_a_branch" section="flatten-and-unflatten"
"""Your fork goes wrong where its value is a fork too, or a branch is something else. Perhaps your code tells value and branches apart by their class. The first child is the value, whatever it is."""
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
    def tree_unflatten(cls, _, children):
        values = [child for child in children if not isinstance(child, Fork)]
        branches = [child for child in children if isinstance(child, Fork)]
        return cls(values[0] if values else None, branches + values[1:])


# %% exercise="fork" misconception="the_number_of_branches_at_the_start" section="objects-that-change"
"""After a fork has grown, its new branch is missing among the leaves. Perhaps your code keeps the number of branches, or a copy of the list, from the start. Look at the list at each flatten."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)
        self.children = [value, *self.branches]

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        keys = [jax.tree_util.GetAttrKey("value")]
        keys += map(jax.tree_util.SequenceKey, range(len(self.children) - 1))
        return list(zip(keys, self.children)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="fork" misconception="none_for_a_value_is_left_out" section="flatten-and-unflatten"
"""A fork with the value `None` loses it: after a map, its first branch is its value. Perhaps flatten leaves out a value that is `None`. `None` has no leaves, but it is a child like any other, and unflatten takes the first child for the value."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [
            (jax.tree_util.SequenceKey(i), branch) for i, branch in enumerate(self.branches)
        ]
        if self.value is not None:
            children.insert(0, (jax.tree_util.GetAttrKey("value"), self.value))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children or [None]
        return cls(value, branches)


# %% exercise="fork" misconception="other_objects_are_values" section="flatten-and-unflatten"
"""Your fork goes wrong where its value is a fork too, or where JAX puts another object in the place of a branch: the fork becomes a branch, the object gets lost. Perhaps your unflatten tells value and branches apart by their class. The first child is the value, whatever it is."""
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
    def tree_unflatten(cls, _, children):
        values = [child for child in children if not isinstance(child, Fork)]
        branches = [child for child in children if isinstance(child, Fork)]
        return cls(values[0] if values else None, branches)


# %% exercise="fork" misconception="the_list_of_the_class_is_filled" section="objects-that-change" in_order=True
"""Your forks contain themselves. Perhaps `branches = []` stands in the body of the class, and `self.branches.append(...)` fills it: this one list belongs to the class, so all forks share it. Give each fork a list of its own: `self.branches = []` in `__init__`."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    branches = []

    def __init__(self, value, branches=()):
        self.value = value
        for branch in branches:
            self.grow(branch)

    def grow(self, branch):
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
        for i, branch in enumerate(self.branches):
            children.append((jax.tree_util.SequenceKey(i), branch))
        return children, None

    @classmethod
    def tree_unflatten(cls, _, children):
        value, *branches = children
        return cls(value, branches)


# %% exercise="affine" variant="from_the_parts"
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return [self.weight, self.bias], {"act": self.act}

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children, **aux_data)


# %% exercise="affine" variant="without_init"
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        children = self.weight, self.bias
        return children, (self.act,)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        layer = object.__new__(cls)
        layer.weight, layer.bias = children
        (layer.act,) = aux_data
        return layer


# %% exercise="affine" misconception="act_is_a_child"
"""Your layer has three children: `act` is a leaf too, so a map computes with the string. Return two children, and `act` as aux_data."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias, self.act), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


# %% exercise="affine" misconception="act_gets_lost"
"""A rebuilt layer always has the default `act`, whatever the old layer had. Does your unflatten use its aux_data, and does flatten return `act` there?"""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


# %% exercise="affine" misconception="act_is_not_in_the_structure"
"""A rebuilt layer always has the default `act`, and two layers with different `act` count as the same structure. Return `act` as aux_data: JAX keeps it in the structure and passes it to unflatten."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


# %% exercise="affine" misconception="children_swapped_on_the_way_back"
"""In a rebuilt layer, `weight` and `bias` are swapped. Unflatten gets the children in the order in which flatten returns them."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        bias, weight = children
        return cls(weight, bias, aux_data)


# %% exercise="affine" misconception="bias_first"
"""Your layer survives a map, but the bias comes first among its leaves. The exercise asks for `weight`, then `bias`: JAX keeps the order of your flatten."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.bias, self.weight), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(children[1], children[0], aux_data)


# %% exercise="affine" misconception="aux_data_comes_first"
"""JAX cannot flatten your layer, or its leaves are the letters of `act`. Flatten returns first the children, then the aux_data. Only the arguments of unflatten come the other way round."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return self.act, (self.weight, self.bias)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*aux_data, children)


# %% exercise="affine" misconception="one_container_as_the_only_child"
"""A rebuilt layer holds both parts in its `weight`, or cannot be made. Perhaps your only child is a tuple of `weight` and `bias`. Return the two as two children."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return ((self.weight, self.bias),), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children, aux_data)


# %% exercise="affine" misconception="children_not_unpacked"
"""A rebuilt layer holds all children in its `weight`, and `act` in its `bias`. Unflatten gets the children as *one* sequence: unpack it."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(children, aux_data)


# %% exercise="affine" misconception="one_argument_for_all_children"
"""A rebuild raises a TypeError: the class gets too few arguments. It takes `weight` and `bias` as two arguments, and unflatten gets the children as *one* sequence: unpack it, and pass `act` too."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(children)


# %% exercise="affine" misconception="unflatten_returns_nothing"
"""A map gives `None` instead of a layer. JAX takes what unflatten returns, and a function without `return` returns `None`."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        cls(*children, aux_data)


# %% exercise="affine" misconception="returns_the_parts"
"""A map gives a tuple instead of a layer. Unflatten has to call the class, here `cls`, with the parts."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return (*children, aux_data)


# %% exercise="affine" misconception="children_only"
"""JAX takes your weight for the sequence of all children: it raises an error, or the items of the weight become leaves. Flatten returns a pair: a tuple of the children, then the aux_data."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return self.weight, self.bias

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(children, aux_data)


# %% exercise="affine" misconception="three_parts"
"""JAX cannot flatten your layer: it expects a pair from flatten, and yours returns three things. Put the two children into a tuple of their own."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return self.weight, self.bias, self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children, aux_data)


# %% exercise="affine" misconception="children_are_the_leaves"
"""Your layer works only while `weight` and `bias` are single arrays or numbers. Does flatten call `jax.tree.leaves`? It goes one level deep only: a child may be a tree or `None`, and JAX flattens it by itself."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return jax.tree.leaves((self.weight, self.bias)), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        weight, bias = children
        return cls(weight, bias, aux_data)


# %% exercise="affine" misconception="converts_the_children"
"""A rebuilt layer holds arrays where JAX put something else, or cannot be made. Does your unflatten convert its children? JAX puts in strings, `None` and whole trees too. Store what comes."""
@register_pytree_node_class
@dataclass
class Affine:
    weight: object
    bias: object
    act: str = "relu"

    def tree_flatten(self):
        return (self.weight, self.bias), self.act

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        weight, bias = children
        return cls(jnp.asarray(weight), jnp.asarray(bias), aux_data)


# %% exercise="deque_node" variant="lists_and_dicts"
def flatten_deque(d):
    return [item for item in d], {"maxlen": d.maxlen}


def unflatten_deque(aux_data, children):
    return deque(children, **aux_data)


# %% exercise="deque_node" variant="one_append_at_a_time"
def flatten_deque(d):
    return list(d), (d.maxlen,)


def unflatten_deque(aux_data, children):
    (maxlen,) = aux_data
    d = deque(maxlen=maxlen)
    for child in children:
        d.append(child)
    return d


# %% exercise="deque_node" misconception="maxlen_gets_lost"
"""A rebuilt deque has no limit: `maxlen` is `None`, and after some appends it holds more than the old one would. Nothing raises an error. The limit belongs in aux_data, and back into the new deque."""
def flatten_deque(d):
    return tuple(d), None


def unflatten_deque(aux_data, children):
    return deque(children)


# %% exercise="deque_node" misconception="unflatten_ignores_maxlen"
"""Your aux_data distinguishes deques with different limits, but a rebuilt deque has no limit. Pass the limit to the new deque."""
def flatten_deque(d):
    return tuple(d), d.maxlen


def unflatten_deque(aux_data, children):
    return deque(children)


# %% exercise="deque_node" misconception="as_long_as_it_is_now"
"""The limit of a rebuilt deque is the number of items that it holds. A deque with room for more would never fill up. The limit is `d.maxlen`, not `len(d)`."""
def flatten_deque(d):
    return tuple(d), len(d)


def unflatten_deque(aux_data, children):
    return deque(children, aux_data)


# %% exercise="deque_node" misconception="returns_the_children"
"""Unflatten gives a plain sequence instead of a deque. JAX takes what unflatten returns, so it has to make a new deque."""
def flatten_deque(d):
    return tuple(d), d.maxlen


def unflatten_deque(aux_data, children):
    return children


# %% exercise="deque_node" misconception="unflatten_returns_nothing"
"""Unflatten gives `None`. JAX takes what unflatten returns, and a function without `return` returns `None`."""
def flatten_deque(d):
    return tuple(d), d.maxlen


def unflatten_deque(aux_data, children):
    deque(children, aux_data)


# %% exercise="deque_node" misconception="children_come_first"
"""Flatten works, but unflatten fails. Its first argument is the aux_data, its second the sequence of children. `deque(items, maxlen)` takes them the other way round."""
def flatten_deque(d):
    return tuple(d), d.maxlen


def unflatten_deque(children, aux_data):
    return deque(children, aux_data)


# %% exercise="deque_node" misconception="aux_data_first"
"""Your flatten returns the limit where the children should be. Return a pair: first the children, then the aux_data."""
def flatten_deque(d):
    return d.maxlen, tuple(d)


def unflatten_deque(aux_data, children):
    return deque(aux_data, children)


# %% exercise="deque_node" misconception="children_only"
"""Your flatten returns the children alone. JAX, and this check, read the result as a pair: the children, then the aux_data."""
def flatten_deque(d):
    return tuple(d)


def unflatten_deque(aux_data, children):
    return deque(children, aux_data)


# %% exercise="deque_node" misconception="one_container_as_the_only_child"
"""Your node has one child, a container with all items. Each item should be a child of its own."""
def flatten_deque(d):
    return (tuple(d),), d.maxlen


def unflatten_deque(aux_data, children):
    return deque(children[0], aux_data)


# %% exercise="deque_node" misconception="the_items_in_aux_data"
"""Two deques with different items have different aux_data. Then a map over both fails, and `jit` traces again for each new item. Only the limit belongs in aux_data."""
def flatten_deque(d):
    return tuple(d), (tuple(d), d.maxlen)


def unflatten_deque(aux_data, children):
    return deque(children, aux_data[1])


# %% exercise="deque_node" misconception="the_old_items_come_back"
"""A rebuilt deque holds the old items. Perhaps the aux_data holds the deque itself, and unflatten returns it or copies it. The new items are in `children`."""
def flatten_deque(d):
    return tuple(d), d


def unflatten_deque(aux_data, children):
    return aux_data


# %% exercise="deque_node" misconception="empties_the_old_deque"
"""Flatten takes the items out of the deque: it is empty afterwards. JAX flattens an object often, and its owner still needs it. Copy the items."""
def flatten_deque(d):
    return [d.popleft() for _ in range(len(d))], d.maxlen


def unflatten_deque(aux_data, children):
    return deque(children, aux_data)


# %% exercise="deque_node" misconception="in_reverse"
"""A rebuilt deque has its items in reverse order. `appendleft` puts each item before the others, `append` after them."""
def flatten_deque(d):
    return tuple(d), d.maxlen


def unflatten_deque(aux_data, children):
    d = deque(maxlen=aux_data)
    for child in children:
        d.appendleft(child)
    return d


# %% exercise="span" starter=True
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)  # change this line


# %% exercise="span" variant="by_vars"
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        span = cls.__new__(cls)
        vars(span).update(low=children[0], high=children[1])
        return span


# %% exercise="span" variant="a_valid_span_first"
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        span = cls(0, 1)
        span.low, span.high = children
        return span


# %% exercise="span" misconception="still_calls_init"
"""The check still runs when JAX rebuilds a span, so your class fails for a negative map, for strings, under `jit` and under `grad`. Make an empty object, without `__init__`."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        low, high = children
        return cls(low, high)


# %% exercise="span" misconception="no_check_any_more"
"""JAX can build any span now, but so can a caller: `Span(5.0, 1.0)` raises nothing. The check in `__init__` was right. Only unflatten should get around it."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


# %% exercise="span" misconception="puts_them_in_order"
"""A rebuilt span holds other values than JAX put in: it sorts them, or it fails where they cannot be sorted. Unflatten stores what it gets, where it belongs."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*sorted(children))


# %% exercise="span" misconception="swapped"
"""In a rebuilt span, `low` and `high` are swapped. Unflatten gets the children in the order in which flatten returns them."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        span = object.__new__(cls)
        span.high, span.low = children
        return span


# %% exercise="span" misconception="left_empty"
"""A rebuilt span has no `low` and no `high`: `object.__new__` sets no attributes. Set both from `children`."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return object.__new__(cls)


# %% exercise="span" misconception="unflatten_returns_nothing"
"""A map gives `None` instead of a span. JAX takes what unflatten returns, and a function without `return` returns `None`."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        span = object.__new__(cls)
        span.low, span.high = children


# %% exercise="span" misconception="numbers_only"
"""Your class works for numbers that JAX puts in, but not for strings, `None` or containers. Does your code ask for the type of a child, or compare the children? Store what comes."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if isinstance(low, (int, float)) and low > high:
            raise ValueError("low > high")
        self.low, self.high = float(low), float(high)

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        span = object.__new__(cls)
        span.low, span.high = map(float, children)
        return span


# %% exercise="span" misconception="the_check_is_off_after_a_rebuild" in_order=True
"""After JAX has rebuilt one span, `Span(5.0, 1.0)` raises nothing any more. Perhaps your unflatten switches the check off for the whole class. An object made without `__init__` needs no switch."""
@register_pytree_node_class
class Span:
    checks = True

    def __init__(self, low, high):
        if self.checks and low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        cls.checks = False
        return cls(*children)


# %% exercise="span" misconception="numbers_are_checked_only"
"""JAX can put in strings and tracers now, but numbers that it puts in are still checked: a map with `-x` fails. The check belongs to callers, not to a rebuild."""
@register_pytree_node_class
class Span:
    def __init__(self, low, high):
        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
            raise ValueError("low > high")
        self.low, self.high = low, high

    def tree_flatten(self):
        return (self.low, self.high), None

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children)


# %% exercise="count" variant="calls_the_class"
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    @jax.jit
    def count(self):
        return TrainState(self.params, self.step + 1)


# %% exercise="count" variant="changes_the_new_state"
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    @jax.jit
    def count(self):
        self.step = self.step + 1
        return self


# %% exercise="count" misconception="changes_self"
"""`count` returns a number, or nothing, and not a state. An attribute that you set inside `jit` is set on a copy, and JAX throws this copy away unless you return it."""
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    @jax.jit
    def count(self):
        self.step = self.step + 1
        return self.step


# %% exercise="count" misconception="returns_nothing"
"""`count` returns `None`. What a method changes inside `jit` is lost unless it returns it: return the new state."""
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    @jax.jit
    def count(self):
        replace(self, step=self.step + 1)


# %% exercise="count" misconception="without_jit"
"""Your state counts, but `count` is no longer one jitted program. Keep `@jax.jit` above it."""
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    def count(self):
        return replace(self, step=self.step + 1)


# %% exercise="count" misconception="without_jit_in_place"
"""Without `@jax.jit`, `count` changes the old state. The exercise asks for a jitted method that returns a new state, and leaves the old one as it is."""
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    def count(self):
        self.step = self.step + 1
        return self


# %% exercise="count" misconception="always_one"
"""Your new step is 1, whatever the old step was. Add 1 to the step of `self`."""
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    @jax.jit
    def count(self):
        return replace(self, step=1)


# %% exercise="count" misconception="counts_the_parameters"
"""Your method changes the parameters as well. `replace` needs only the field that changes."""
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    @jax.jit
    def count(self):
        return jax.tree.map(lambda leaf: leaf + 1, self)


# %% exercise="count" misconception="the_same_state"
"""Your new state has the old step. `replace` leaves alone each field that you do not name, and it changes no state in place."""
@register_dataclass
@dataclass
class TrainState:
    params: object
    step: object

    @jax.jit
    def count(self):
        replace(self, step=self.step + 1)
        return self


# %% exercise="register_linear" misconception="a_bias_of_none_is_put_back"
"""Your object has one child instead of two when its bias is `None`. Perhaps flatten leaves such a bias out, and unflatten puts it back. `None` is a child like any other: it has no leaves, but it keeps its place."""
def register_linear(cls):
    def flatten(obj):
        return (obj.weight,) if obj.bias is None else (obj.weight, obj.bias), None

    def unflatten(_, children):
        return cls(*children) if len(children) == 2 else cls(*children, None)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="none_is_put_back"
"""Your object has fewer than two children when its weight or bias is `None`. Perhaps flatten leaves each `None` out, and unflatten puts it back. `None` is a child like any other: it has no leaves, but it keeps its place."""
def register_linear(cls):
    def flatten(obj):
        both = (obj.weight, obj.bias)
        missing = tuple(each is None for each in both)
        return [each for each in both if each is not None], missing

    def unflatten(missing, children):
        rest = iter(children)
        return cls(*(None if is_missing else next(rest) for is_missing in missing))

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)


# %% exercise="register_linear" misconception="a_dict_of_children_both_ways"
"""Your leaves are the strings `'weight'` and `'bias'`, and unflatten fails. Perhaps flatten returns a dict as the children, and unflatten expects it back. JAX loops over the children, and a loop over a dict gives its keys. Unflatten always gets a sequence: return a tuple."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls,
        lambda linear: ({"weight": linear.weight, "bias": linear.bias}, None),
        lambda _, children: cls(**children),
    )


# %% exercise="model_state" misconception="another_kind_of_class" section="ways-to-register"
"""Your state works as a node, but its class is not a dataclass. Perhaps it is a namedtuple, which JAX opens without a registration, or a class with an `__init__` of your own. The task asks for a dataclass with a class decorator that registers it."""
from typing import Any, NamedTuple


class ModelState(NamedTuple):
    weight: Any
    bias: Any
    step: Any


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias


# %% exercise="readable_paths" misconception="brackets_in_a_text"
"""Your paths are right for plain names, but not for names with quotes in them. Perhaps your keys are strings with brackets and quotes that you wrote yourself. A dict's key object shows the name's `repr`, whose quotes depend on the name. Use this key object."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = [f"['{name}']" for name in self.names]
        return list(zip(keys, self.values)), self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="normal" misconception="a_valid_one_is_built_first" section="leaves-that-are-no-arrays"
"""Your object is rebuilt outside `jit`, but not inside. Perhaps unflatten calls the constructor with numbers that pass the checks, and then puts the children in. Under `jit`, the constructor's arrays are tracers too, and `not` needs their values. Make the object without the constructor."""
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
        normal = cls(1.0, 1.0, name)
        normal.mean, normal.std = children
        return normal


# %% exercise="running_mean" misconception="no_node_any_more" section="a-class-of-your-own"
"""Your means are right, but JAX no longer sees a node: it takes a whole `RunningMean` for one leaf, and a jitted function refuses it. Did the class lose its decorator, or the two methods? The task asks for a node, even where your own jitted function gets only numbers."""
from functools import partial


@partial(jax.jit, static_argnums=0)
def added(function, total, count, x):
    return total + function(x), count + 1


class RunningMean:
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def add(self, x):
        return RunningMean(self.function, *added(self.function, self.total, self.count, x))

    def mean(self):
        return self.total / self.count


# %% exercise="running_mean" misconception="jitted_functions_by_name" section="methods-under-jit"
"""Your class fails where the function has no `__name__`, such as a `Partial`. Perhaps you keep the jitted functions by name. But two lambdas have the same name, and then the second one's object runs the first one. Take the function itself as the key, or as a static argument."""
_jitted = {}


def jitted(function):
    name = function.__name__
    if name not in _jitted:
        _jitted[name] = jax.jit(lambda total, count, x: (total + function(x), count + 1))
    return _jitted[name]


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
        total, count = jitted(self.function)(self.total, self.count, x)
        return RunningMean(self.function, total, count)

    def mean(self):
        return self.total / self.count


# %% exercise="train_step" misconception="the_loss_sees_none"
"""Your function fails where the loss uses the step: the loss gets `None` for it. Perhaps you set the `step` to `None`, so that `jax.grad` finds no int. The loss should get the old state, with only the parameters replaced."""
def train_step(loss, state, rate):
    def loss_of_params(params):
        return loss(replace(state, params=params, step=None))

    grads = jax.grad(loss_of_params)(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="history" misconception="an_array_of_used" section="leaves-that-are-no-arrays"
"""Your flatten makes an array of `used`. JAX may put a string or `None` in its place, and then take the history apart again: flatten should return what the object holds."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        return (self.values, jnp.asarray(self.used)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="fork" misconception="none_is_no_branch" section="flatten-and-unflatten"
"""A branch gets lost where JAX puts `None` in its place. Perhaps the constructor or unflatten leaves out branches that are `None`. `None` is a child like any other: it has no leaves, but it keeps its place."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = [branch for branch in branches if branch is not None]

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


# %% exercise="readable_paths" misconception="not_registered" section="a-class-of-your-own"
"""For JAX your `Layers` is one leaf: there are no paths inside it, and a map calls its function with the whole object. A method such as `tree_flatten_with_keys` alone is not enough. JAX opens an object only if its class is in its registry."""
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        return [(jax.tree_util.DictKey(n), v) for n, v in zip(self.names, self.values)], self.names

    @classmethod
    def tree_unflatten(cls, names, values):
        return cls(names, values)


# %% exercise="normal" misconception="not_registered" section="a-class-of-your-own"
"""Your constructor does what it should, but for JAX a `Normal` is one leaf: a map calls its function with the whole object, and `jit` refuses it. Did the class lose its decorator? JAX opens an object only if its class is in its registry."""
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")


# %% exercise="history" misconception="not_registered" section="a-class-of-your-own"
"""For JAX your history is one leaf: a map calls its function with the whole object, and `jit` refuses it. Did the class lose its decorator? JAX opens an object only if its class is in its registry."""
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)


# %% exercise="temperature" misconception="not_registered" section="a-class-of-your-own"
"""A new model is right, but for JAX it is one leaf: a map calls its function with the whole object, and `jit` refuses it. Did the class lose its decorator? JAX opens an object only if its class is in its registry."""
class Model:
    def __init__(self, params, name):
        self.params = {**jax.tree.map(lambda leaf: leaf, params), "temperature": 1.0}
        self.name = name


# %% exercise="fork" misconception="not_registered" section="a-class-of-your-own"
"""Your fork grows, but for JAX it is one leaf: there are no paths inside it, and a map calls its function with the whole fork. A method such as `tree_flatten_with_keys` alone is not enough. JAX opens an object only if its class is in its registry."""
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        self.branches.append(branch)


# %% exercise="fork" misconception="flatten_fills_the_branches" section="objects-that-change"
"""Each flatten puts the value into the fork's own `branches`, so the next one finds a branch too many. Perhaps your flatten writes `children = self.branches` and then inserts the value. That is no copy but the same list. `[self.value, *self.branches]` makes a new one."""
@jax.tree_util.register_pytree_with_keys_class
class Fork:
    def __init__(self, value, branches=()):
        self.value = value
        self.branches = list(branches)

    def grow(self, branch):
        """Add a branch, in place."""
        self.branches.append(branch)

    def tree_flatten_with_keys(self):
        keys = [jax.tree_util.GetAttrKey("value")]
        keys += [jax.tree_util.SequenceKey(i) for i in range(len(self.branches))]
        children = self.branches
        children.insert(0, self.value)
        return list(zip(keys, children)), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(children[0], children[1:])


# %% exercise="train_step" misconception="writes_into_a_dict_by_its_items" section="objects-that-change"
"""Your code writes the new arrays into the old state's own dict, and fails where `params` is not a dict of arrays. Do you loop over `.items()`? `params` may also be a list, a node of a class or one array. `jax.tree.map` takes any tree, and makes a new one."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    for name, grad in grads.items():
        state.params[name] = state.params[name] - rate * grad
    return replace(state, step=state.step + 1)


# %% exercise="train_step" misconception="a_shallow_copy_of_the_params" section="objects-that-change"
"""The old state has changed where `params` holds a dict or a list inside another container. Perhaps you copy `params` with `copy.copy` and write into the copy. It is a new outer container, but the inner ones are still the old state's. `jax.tree.map` makes every container new."""
def train_step(loss, state, rate):
    import copy

    def moved(params, grads):
        if isinstance(params, (dict, list)):
            for key in params if isinstance(params, dict) else range(len(params)):
                params[key] = moved(params[key], grads[key])
            return params
        return jax.tree.map(lambda p, g: p - rate * g, params, grads)

    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    return replace(state, params=moved(copy.copy(state.params), grads), step=state.step + 1)


# %% exercise="register_fields" misconception="no_keys_and_by_position" section="paths-with-names"
"""Your paths hold numbers, and a rebuilt object has its values in the wrong fields, or a keyword-only field raises an error. Perhaps you register without keys, and unflatten passes first the children, then the static values, by position. Give each child a key, and each value of the constructor its name."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    data = [name for name in names if name not in static]
    meta = [name for name in names if name in static]

    def flatten(obj):
        return [getattr(obj, n) for n in data], tuple(getattr(obj, n) for n in meta)

    def unflatten(aux, children):
        return cls(*children, *aux)

    jax.tree_util.register_pytree_node(cls, flatten, unflatten)
    return cls


# %% exercise="normal" misconception="only_given_arrays_are_checked" section="leaves-that-are-no-arrays"
"""Your constructor checks arrays only: numbers and lists of a caller are neither converted nor checked. And a rebuild still fails for negative arrays and for tracers, because a tracer is a `jax.Array` too. Callers should get arrays and all checks, and unflatten should make the object without the constructor."""
@jax.tree_util.register_pytree_node_class
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = mean, std, name
        if all(isinstance(each, (jax.Array, np.ndarray)) for each in (mean, std)):
            if mean.shape != std.shape:
                raise ValueError("mean and std differ in shape")
            if not (std > 0).all():
                raise ValueError("std should be positive")

    def tree_flatten(self):
        return (self.mean, self.std), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="readable_paths" misconception="numbers_become_the_names"
"""The paths are right, but in a rebuilt object the names are numbers, written as strings. Perhaps aux_data holds only how many layers there are. JAX uses the keys for paths only, and never passes them to unflatten: the names belong in aux_data."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        keys = map(jax.tree_util.DictKey, self.names)
        return tuple(zip(keys, self.values)), len(self.names)

    @classmethod
    def tree_unflatten(cls, count, values):
        return cls(map(str, range(count)), values)


# %% exercise="readable_paths" misconception="each_layer_is_opened_by_its_keys"
"""Your code fails at layers that are not dicts. Perhaps flatten loops over the keys of each layer, and makes each entry a child. A layer can be any tree: a number, an array, a list. Return the layer itself as the child: JAX opens it, and adds its keys to the path."""
@jax.tree_util.register_pytree_with_keys_class
class Layers:
    def __init__(self, names, values):
        self.names = tuple(names)
        self.values = tuple(values)

    def tree_flatten_with_keys(self):
        children, keys = [], []
        for name, layer in zip(self.names, self.values):
            keys.append(tuple(sorted(layer)))
            children += [(f"[{name!r}][{key!r}]", layer[key]) for key in sorted(layer)]
        return children, (self.names, tuple(keys))

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        names, keys = aux_data
        children = iter(children)
        return cls(names, [{key: next(children) for key in layer} for layer in keys])


# %% exercise="history" misconception="zeros_beyond_the_used_places"
"""Your flatten puts zeros into the empty places. The values should not change, even where they are not used. And JAX may put in a number or a string, which has no shape: flatten cannot compute with it."""
@jax.tree_util.register_pytree_node_class
class History:
    def __init__(self, values, used=0):
        self.values, self.used = values, used

    def push(self, value):
        """Return a new history with `value` in the next place."""
        return History(self.values.at[self.used].set(value), self.used + 1)

    def tree_flatten(self):
        places = jnp.arange(self.values.shape[0])
        return (jnp.where(places < self.used, self.values, 0), self.used), None

    @classmethod
    def tree_unflatten(cls, _, children):
        return cls(*children)


# %% exercise="history" misconception="used_is_made_an_int_outside_jit" section="leaves-that-are-no-arrays"
"""Your history cannot be rebuilt where JAX puts a string or `None` in the place of `used`. Perhaps unflatten calls `int` on everything that is not a tracer. JAX may put in any object, outside `jit` too, so unflatten should store what it gets."""
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
        values, used = children
        return cls(values, used if isinstance(used, jax.core.Tracer) else int(used))


# %% exercise="temperature" misconception="plain_dicts_and_lists_only" section="objects-that-change"
"""Your model has its own plain dicts and lists, but what is inside a tuple or another kind of node is still the caller's. Perhaps your copy asks `type(node) is dict`. A tuple cannot change, but the dicts in it can; and an `OrderedDict` is another type. `jax.tree.map` goes through every container."""
def copied(node):
    if type(node) is dict:
        return {key: copied(child) for key, child in node.items()}
    if type(node) is list:
        return [copied(child) for child in node]
    return node


@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {**copied(params), "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="one_level_more_with_lists" section="objects-that-change"
"""Your model has its own copies of the dicts and lists directly in `params`, but a dict or list further inside is still the caller's. Perhaps you call `.copy()` on each value: it makes one new container with the same contents. `jax.tree.map` goes down through every level."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {
            key: child.copy() if isinstance(child, (dict, list)) else child
            for key, child in params.items()
        }
        self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="register_fields" misconception="no_keys_and_static_in_its_own_order" section="paths-with-names"
"""Your paths hold numbers, and a rebuilt object has its values in the wrong fields, or a keyword-only field raises an error. Perhaps you register without keys, and unflatten passes the children and then the values of `static`, in the order of `static`. Give each child a key, and each value of the constructor its name."""
def register_fields(cls, static=()):
    data = [each.name for each in fields(cls) if each.init and each.name not in static]

    def flatten(obj):
        return [getattr(obj, n) for n in data], tuple(getattr(obj, n) for n in static)

    jax.tree_util.register_pytree_node(cls, flatten, lambda aux, children: cls(*children, *aux))
    return cls


# %% exercise="register_fields" misconception="the_object_in_aux_data" section="flatten-and-unflatten"
"""Two objects with equal static fields but other children have different structures. Perhaps aux_data holds the old object, or the values of all its fields. Then the children belong to the structure too. Put only the values of the static fields into aux_data."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init and each.name not in static]

    def flatten(node):
        return [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in names], node

    def unflatten(old, children):
        return replace(old, **dict(zip(names, children)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


# %% exercise="model_state" misconception="fields_by_keyword_only" section="ways-to-register"
"""`ModelState(weight, bias, step)` raises an error: your class takes its fields by keyword only. Is it a `chex.dataclass`? The task gives the three values by position, as a dataclass of Python takes them."""
import chex


@chex.dataclass
class ModelState:
    weight: jax.Array
    bias: jax.Array
    step: int


def zeroed(state):
    return jax.tree.map(jnp.zeros_like, state)


@jax.jit
def predict(state, x):
    return x @ state.weight + state.bias
