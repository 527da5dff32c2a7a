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
        linear.weight, linear.bias = children
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


# %% exercise="register_linear" misconception="methods_are_enough" section="an-opaque-leaf"
"""JAX still sees your object as one leaf. Functions or methods that take it apart do nothing by themselves: what JAX looks into is what its registry holds."""
def register_linear(cls):
    cls.tree_flatten = lambda self: ((self.weight, self.bias), None)
    cls.tree_unflatten = classmethod(lambda cls, aux_data, children: cls(*children))


# %% exercise="register_linear" misconception="children_only"
"""Perhaps your flatten returns the two children alone. JAX takes any pair for the children and aux_data. With numbers that raises an error; with arrays, the rows of the weight become the leaves in silence."""
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
"""Taking apart works, putting together fails. Perhaps your unflatten takes the children as its first argument. JAX hands over aux_data first, and here that is `None`."""
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
"""Your numbers are right, but `predict` is not one jitted program. Being a registered node lets a class pass through `jax.jit`; it does not jit anything by itself."""
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
"""Your paths read `.stem`, as if the layers were attributes. Each type of key writes itself in its own way: this one stands for an attribute, not for the key of a dict."""
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
    def tree_unflatten(cls, aux_data, values):
        return cls([str(i) for i in range(len(values))], values)


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
"""Whatever passes the checks by luck is still converted when JAX rebuilds: a whole number comes back as an array. To try the constructor first is to run it at each rebuild."""
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
"""Your numbers are right, but Python runs `function` for each number. Without `jax.jit`, nothing is traced once and kept: `add` is ordinary Python."""
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
"""Your numbers are right, but each new object is traced anew. A static `self` is never taken apart: it is a constant, and its numbers become part of the program."""
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


# %% exercise="history" misconception="used_is_guessed" covers="M17"
"""Perhaps your rebuilt history counts the values that are not 0. A filled place may hold a 0; and while JAX traces, or maps to texts, there is nothing to count."""
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
        (values,) = children
        return cls(values, int(jnp.count_nonzero(values)))


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
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name, new=True):
        self.params = {**params, "temperature": 1.0} if new else params
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name, new=False)


# %% exercise="temperature" variant="a_plain_constructor_behind_new"
class Model:
    def __new__(cls, params, name):
        return cls.filled(dict(params, temperature=1.0), name)

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
        self.params = {**params, "temperature": 1.0}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name)


# %% exercise="temperature" misconception="a_flag_without_a_copy" covers="C38 M16"
"""A rebuilt model keeps its temperature, but the dict of the caller changes with the model. The flag says when to write; it does not say into whose dict."""
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
"""`Model(...)` makes a model without the temperature, and keeps the caller's own dict. Perhaps another function sets the temperature: that helps only those who call it."""
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
"""The temperature is not among the `params` of your model. Perhaps it is an attribute beside them. Then it is no leaf, no map reaches it, and each rebuild sets it anew."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = dict(params)
        self.name = name
        self.temperature = 1.0

    def tree_flatten(self):
        return (self.params,), (self.name, self.temperature)

    @classmethod
    def tree_unflatten(cls, aux_data, children):
        return cls(*children, aux_data[0])


# %% exercise="temperature" misconception="only_where_it_is_missing" section="the-silent-42" covers="M14"
"""A new model keeps a temperature that the caller's dict has. Perhaps you set it only where it is missing: this guesses from the contents whether the model is new."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name):
        self.params = {"temperature": 1.0, **params}
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        model = object.__new__(cls)
        (model.params,) = children
        model.name = name
        return model


# %% exercise="temperature" misconception="a_dict_is_expected" section="leaves-that-are-no-arrays" covers="M13"
"""Your model cannot be rebuilt when JAX puts something else in the place of its dict. Perhaps each rebuild copies the dict. What unflatten gets need not be a dict, so it only stores."""
@jax.tree_util.register_pytree_node_class
class Model:
    def __init__(self, params, name, new=True):
        self.params = dict(params)
        if new:
            self.params["temperature"] = 1.0
        self.name = name

    def tree_flatten(self):
        return (self.params,), self.name

    @classmethod
    def tree_unflatten(cls, name, children):
        return cls(*children, name, new=False)


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
