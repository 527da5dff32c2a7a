# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="affine" variant="from_the_parts" changes="solution"
-        return (self.weight, self.bias), self.act
+        return [self.weight, self.bias], {"act": self.act}
...
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(*children, **aux_data)


# %% exercise="affine" variant="without_init" changes="from_the_parts"
-        return [self.weight, self.bias], {"act": self.act}
+        children = self.weight, self.bias
+        return children, (self.act,)
...
-        return cls(*children, **aux_data)
+        layer = object.__new__(cls)
+        layer.weight, layer.bias = children
+        (layer.act,) = aux_data
+        return layer


# %% exercise="affine" misconception="act_is_a_child" changes="solution"
"""Your layer has three children: `act` is a leaf too, so a map computes with the string. Return two children, and `act` as aux_data."""
-        return (self.weight, self.bias), self.act
+        return (self.weight, self.bias, self.act), None
...
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(*children)


# %% exercise="affine" misconception="act_gets_lost" met="kokabsc/gwkokab#463" changes="solution"
"""A rebuilt layer always has the default `act`, whatever the old layer had. JAX passes the old layer's `act` to unflatten, as its aux_data: use it."""
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(*children)


# %% exercise="affine" misconception="act_is_not_in_the_structure" changes="act_is_a_child"
"""A rebuilt layer always has the default `act`, and two layers with different `act` count as the same structure. Return `act` as aux_data: JAX keeps it in the structure and passes it to unflatten."""
-        return (self.weight, self.bias, self.act), None
+        return (self.weight, self.bias), None


# %% exercise="affine" misconception="children_swapped_on_the_way_back" changes="solution"
"""In a rebuilt layer, `weight` and `bias` are swapped. Unflatten gets the children in the order in which flatten returns them."""
-        weight, bias = children
+        bias, weight = children


# %% exercise="affine" misconception="bias_first" changes="solution"
"""Your layer survives a map, but the bias comes first among its leaves. The exercise asks for `weight`, then `bias`: JAX keeps the order of your flatten."""
-        return (self.weight, self.bias), self.act
+        return (self.bias, self.weight), self.act
...
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(children[1], children[0], aux_data)


# %% exercise="affine" misconception="aux_data_comes_first" changes="solution"
"""JAX cannot flatten your layer, or its leaves are the letters of `act`. Flatten returns first the children, then the aux_data. Only the arguments of unflatten come the other way round."""
-        return (self.weight, self.bias), self.act
+        return self.act, (self.weight, self.bias)
...
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(*aux_data, children)


# %% exercise="affine" misconception="the_pair_is_swapped" changes="solution"
"""Flatten returns the aux_data first, so unflatten gets the letters of `act` as its children, and they are not two. Flatten returns first the children, then the aux_data. Only the arguments of unflatten come the other way round."""
-        return (self.weight, self.bias), self.act
+        return self.act, (self.weight, self.bias)


# %% exercise="affine" misconception="one_container_as_the_only_child" changes="solution"
"""A rebuilt layer holds both parts in its `weight`, or cannot be made: your only child is a container of `weight` and `bias`. Return the two as two children."""
-        return (self.weight, self.bias), self.act
+        return ((self.weight, self.bias),), self.act
...
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(*children, aux_data)


# %% exercise="affine" misconception="children_not_unpacked" changes="solution"
"""A rebuilt layer holds all children in its `weight`, and `act` in its `bias`. Unflatten gets the children as one sequence: unpack it."""
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(children, aux_data)


# %% exercise="affine" misconception="one_argument_for_all_children" changes="solution"
"""A rebuild raises a TypeError: the class gets too few arguments. It takes `weight` and `bias` as two arguments, and unflatten gets the children as one sequence: unpack it, and pass `act` too."""
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(children)


# %% exercise="affine" misconception="unflatten_returns_nothing" changes="solution"
"""A map gives `None` instead of a layer. JAX takes what unflatten returns, and a function without `return` returns `None`."""
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        cls(*children, aux_data)


# %% exercise="affine" misconception="returns_the_parts" changes="solution"
"""A map gives a tuple instead of a layer. Unflatten has to call the class, here `cls`, with the parts."""
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return (*children, aux_data)


# %% exercise="affine" misconception="children_only" changes="solution"
"""JAX takes your weight for the sequence of all children: it raises an error, or the items of the weight become leaves. Flatten returns a pair: a tuple of the children, then the aux_data."""
-        return (self.weight, self.bias), self.act
+        return self.weight, self.bias


# %% exercise="affine" misconception="children_only_and_the_default" changes="children_only"
"""JAX takes your weight for the sequence of all children: it raises an error, or the items of the weight become leaves. Flatten returns a pair: a tuple of the children, then the aux_data. And a rebuilt layer has the default `act`."""
-        return cls(weight, bias, aux_data)
+        return cls(weight, bias)


# %% exercise="affine" misconception="three_parts" changes="one_container_as_the_only_child"
"""JAX cannot flatten your layer: it expects a pair from flatten, and yours returns three things. Put the two children into a tuple of their own."""
-        return ((self.weight, self.bias),), self.act
+        return self.weight, self.bias, self.act


# %% exercise="affine" misconception="children_are_the_leaves" changes="solution"
"""Your layer works only while `weight` and `bias` are single arrays or numbers: your flatten goes down to the leaves. It goes one level deep only: a child may be a tree or `None`, and JAX flattens it by itself."""
-        return (self.weight, self.bias), self.act
+        return jax.tree.leaves((self.weight, self.bias)), self.act


# %% exercise="affine" misconception="converts_the_children" changes="solution"
"""A rebuilt layer holds arrays where JAX put something else, or cannot be made: your unflatten converts its children. JAX puts in strings, `None` and whole trees too. Store what comes."""
-        return cls(weight, bias, aux_data)
+        return cls(jnp.asarray(weight), jnp.asarray(bias), aux_data)


# %% exercise="affine" misconception="act_is_passed_first" changes="solution"
"""In a rebuilt layer, `weight` holds the name, `bias` the old weight, and `act` the old bias. Unflatten gets aux_data first, but `cls` takes the fields in their own order: `weight`, `bias`, `act`."""
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(aux_data, *children)


# %% exercise="affine" misconception="children_come_first" changes="solution"
"""Flatten works, but unflatten fails, or builds its layer from the letters of `act`: JAX passes first aux_data, then the children."""
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, children, aux_data):


# %% exercise="affine" misconception="children_in_a_dict" changes="solution"
"""The children of your layer are the strings `weight` and `bias`: JAX loops over the children, and a loop over a dict gives its keys. Return them in a tuple."""
-        return (self.weight, self.bias), self.act
+        return {"weight": self.weight, "bias": self.bias}, self.act
...
-        weight, bias = children
-        return cls(weight, bias, aux_data)
+        return cls(**children, act=aux_data)


# %% exercise="affine" misconception="the_layer_in_aux_data" changes="solution"
"""Two layers with the same `act` but other numbers have different structures: aux_data holds the numbers too, or the whole layer. Return only `act` there."""
-        return (self.weight, self.bias), self.act
+        return (self.weight, self.bias), self
...
-        return cls(weight, bias, aux_data)
+        return replace(aux_data, weight=weight, bias=bias)


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


# %% exercise="deque_node" misconception="maxlen_gets_lost" changes="solution"
"""A rebuilt deque has no limit: `maxlen` is `None`, and after some appends it holds more than the old one would. Nothing raises an error. The limit belongs in aux_data, and back into the new deque."""
-    return tuple(d), d.maxlen
+    return tuple(d), None
...
-    return deque(children, aux_data)
+    return deque(children)


# %% exercise="deque_node" misconception="unflatten_ignores_maxlen" changes="solution"
"""Your aux_data distinguishes deques with different limits, but a rebuilt deque has no limit. Pass the limit to the new deque."""
-    return deque(children, aux_data)
+    return deque(children)


# %% exercise="deque_node" misconception="as_long_as_it_is_now" changes="solution"
"""The limit of a rebuilt deque is the number of items that it holds, so there is never room for more. The limit is `d.maxlen`, not `len(d)`: it goes from flatten to unflatten in aux_data."""
-    return tuple(d), d.maxlen
+    return tuple(d), len(d)


# %% exercise="deque_node" misconception="a_limit_for_all" changes="solution"
"""A deque without a limit comes back with one: its number of items. A `maxlen` of `None` means that there is no limit, and `deque(items, None)` accepts it: aux_data may hold `None`."""
-    return tuple(d), d.maxlen
+    return tuple(d), d.maxlen or len(d)


# %% exercise="deque_node" misconception="returns_the_children" changes="solution"
"""Unflatten gives a plain sequence instead of a deque. JAX takes what unflatten returns, so it has to make a new deque."""
-    return deque(children, aux_data)
+    return children


# %% exercise="deque_node" misconception="unflatten_returns_nothing" changes="solution"
"""Unflatten gives `None`. JAX takes what unflatten returns, and a function without `return` returns `None`."""
-    return deque(children, aux_data)
+    deque(children, aux_data)


# %% exercise="deque_node" misconception="children_come_first" changes="solution"
"""Flatten works, but unflatten fails. Its first argument is the aux_data, its second the sequence of children. `deque(items, maxlen)` takes them the other way round."""
-def unflatten_deque(aux_data, children):
+def unflatten_deque(children, aux_data):


# %% exercise="deque_node" misconception="aux_data_first" changes="solution"
"""Your flatten returns the limit where the children should be. Return a pair: first the children, then the aux_data."""
-    return tuple(d), d.maxlen
+    return d.maxlen, tuple(d)
...
-    return deque(children, aux_data)
+    return deque(aux_data, children)


# %% exercise="deque_node" misconception="children_only" changes="solution"
"""Your flatten returns the children alone. JAX, and this check, read the result as a pair: the children, then the aux_data."""
-    return tuple(d), d.maxlen
+    return tuple(d)


# %% exercise="deque_node" misconception="one_container_as_the_only_child" changes="solution"
"""Your node has one child, a container with all items. Each item should be a child of its own."""
-    return tuple(d), d.maxlen
+    return (tuple(d),), d.maxlen
...
-    return deque(children, aux_data)
+    return deque(children[0], aux_data)


# %% exercise="deque_node" misconception="one_list_as_the_only_child" changes="solution"
"""Your node has one child, a list with all items, so each path is one step too long. Each item should be a child of its own."""
-    return tuple(d), d.maxlen
+    return [list(d)], d.maxlen
...
-    return deque(children, aux_data)
+    return deque(children[0], aux_data)


# %% exercise="deque_node" misconception="the_items_in_aux_data" changes="solution"
"""Two deques with different items have different aux_data. Then a map over both fails, and `jit` traces again for each new item. Only the limit belongs in aux_data."""
-    return tuple(d), d.maxlen
+    return tuple(d), (tuple(d), d.maxlen)
...
-    return deque(children, aux_data)
+    return deque(children, aux_data[1])


# %% exercise="deque_node" misconception="the_old_items_come_back" changes="solution"
"""A rebuilt deque holds the old items: it is made of what aux_data holds. The new items are in `children`."""
-    return tuple(d), d.maxlen
+    return tuple(d), d
...
-    return deque(children, aux_data)
+    return aux_data


# %% exercise="deque_node" misconception="empties_the_old_deque" changes="solution"
"""Flatten takes the items out of the deque: it is empty afterwards. JAX flattens an object often, and its owner still needs it. Copy the items."""
-    return tuple(d), d.maxlen
+    return [d.popleft() for _ in range(len(d))], d.maxlen


# %% exercise="deque_node" misconception="in_reverse" changes="solution"
"""A rebuilt deque has its items in reverse order. JAX gives unflatten the children in the order in which flatten returned them. `appendleft` puts each before the others, `append` after them."""
-    return deque(children, aux_data)
+    d = deque(maxlen=aux_data)
+    for child in children:
+        d.appendleft(child)
+    return d


# %% exercise="deque_node" misconception="items_unpacked" changes="solution"
"""A rebuild raises a TypeError, unless the deque is empty. JAX gives unflatten all children in one sequence, and `deque` takes one sequence, not each item as an argument."""
-    return deque(children, aux_data)
+    return deque(*children, maxlen=aux_data)


# %% exercise="deque_node" misconception="three_is_the_limit" changes="solution"
"""A rebuilt deque holds three items at most, whatever the limit of the old one was. The limit belongs in aux_data, and comes back from there."""
-    return tuple(d), d.maxlen
+    return tuple(d), None
...
-    return deque(children, aux_data)
+    return deque(children, 3)


# %% exercise="deque_node" misconception="the_limit_is_set_afterwards" changes="solution"
"""Every rebuild raises an AttributeError: the `maxlen` of a deque cannot be set later. Unflatten has the limit in aux_data: pass it when you make the deque."""
-    return deque(children, aux_data)
+    d = deque(children)
+    d.maxlen = aux_data
+    return d


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


# %% exercise="span" variant="by_vars" changes="solution"
-        span = object.__new__(cls)
-        span.low, span.high = children
+        span = cls.__new__(cls)
+        vars(span).update(low=children[0], high=children[1])


# %% exercise="span" variant="a_valid_span_first" changes="solution"
-        span = object.__new__(cls)
+        span = cls(0, 1)


# %% exercise="span" misconception="still_calls_init" met="jax-ml/jax#12319, jax-ml/jax#13619" changes="starter"
"""The check still runs when JAX rebuilds a span, so your class fails for a negative map, for strings, under `jit` and under `grad`. Make an empty object, without `__init__`."""
-        return cls(*children)  # change this line
+        low, high = children
+        return cls(low, high)


# %% exercise="span" misconception="no_check_any_more" changes="starter"
"""JAX can build any span now, but so can a caller: `Span(5.0, 1.0)` raises nothing. The check in `__init__` was right. Only unflatten should get around it."""
-        if low > high:
-            raise ValueError("low > high")
...
-        return cls(*children)  # change this line
+        return cls(*children)


# %% exercise="span" misconception="puts_them_in_order" changes="starter"
"""A rebuilt span holds other values than JAX put in: it sorts them, or it fails where they cannot be sorted. Unflatten stores what it gets, where it belongs."""
-        return cls(*children)  # change this line
+        return cls(*sorted(children))


# %% exercise="span" misconception="swapped" changes="solution"
"""In a rebuilt span, `low` and `high` are swapped. Unflatten gets the children in the order in which flatten returns them."""
-        span.low, span.high = children
+        span.high, span.low = children


# %% exercise="span" misconception="left_empty" changes="starter"
"""A rebuilt span has no `low` and no `high`: `object.__new__` sets no attributes. Set both from `children`."""
-        return cls(*children)  # change this line
+        return object.__new__(cls)


# %% exercise="span" misconception="unflatten_returns_nothing" changes="solution"
"""A map gives `None` instead of a span. JAX takes what unflatten returns, and a function without `return` returns `None`."""
-        return span


# %% exercise="span" misconception="numbers_only" changes="solution"
"""Your class works for numbers that JAX puts in, but not for strings, `None` or containers: it computes with the children. Store what comes."""
-        if low > high:
+        if isinstance(low, (int, float)) and low > high:
...
-        self.low, self.high = low, high
+        self.low, self.high = float(low), float(high)
...
-        span.low, span.high = children
+        span.low, span.high = map(float, children)


# %% exercise="span" misconception="the_check_is_off_after_a_rebuild" changes="starter"
"""After JAX has rebuilt one span, `Span(5.0, 1.0)` raises nothing any more: a rebuild switches the check off for the whole class. An object made without `__init__` needs no switch."""
 class Span:
+    checks = True
+
...
-        if low > high:
+        if self.checks and low > high:
...
-        return cls(*children)  # change this line
+        cls.checks = False
+        return cls(*children)


# %% exercise="span" misconception="numbers_are_checked_only" changes="no_check_any_more"
"""JAX can put in strings and tracers now, but numbers that it puts in are still checked: a map with `-x` fails. The check belongs to callers, not to a rebuild."""
     def __init__(self, low, high):
+        if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low > high:
+            raise ValueError("low > high")


# %% exercise="span" misconception="the_ends_in_the_class" changes="solution"
"""All rebuilt spans have the ends of the last one: `low` and `high` are set on the class, which all spans share. Each rebuild makes a new object: set the children on it."""
-        span = object.__new__(cls)
-        span.low, span.high = children
+        cls.low, cls.high = children
+        span = object.__new__(cls)


# %% exercise="span" misconception="returns_the_children" changes="starter"
"""A map gives a plain sequence instead of a span. JAX takes what unflatten returns, so it has to make a span."""
-        return cls(*children)  # change this line
+        return children


# %% exercise="span" misconception="catches_value_errors_only" changes="left_empty"
"""A map to negative numbers works now, but strings beside `None`, trees and tracers still fail: a rebuild still runs the check, and catches only some of its errors. Make the object without `__init__`."""
-        return object.__new__(cls)
+        try:
+            return cls(*children)
+        except ValueError:
+            span = object.__new__(cls)
+            span.low, span.high = children
+            return span


# %% exercise="span" misconception="an_empty_call" changes="solution"
"""Every rebuild raises a TypeError. Do you call `cls()`, or unpack aux_data? The class needs two values that it can compare, and aux_data is `None`. `object.__new__(cls)` makes an empty object; the two values are in `children`."""
-        span = object.__new__(cls)
+        span = cls()


# %% exercise="span" misconception="lets_tracers_through" changes="starter"
"""Under `jit` and `grad` your span can be built, but a map to negative numbers, or to `None`, still fails: only tracers get around the check. JAX puts in other objects too. Make the object without `__init__`."""
-        if low > high:
+        if not isinstance(low, jax.core.Tracer) and low > high:
...
-        return cls(*children)  # change this line
+        return cls(*children)


# %% exercise="count" variant="calls_the_class" changes="solution"
-        return replace(self, step=self.step + 1)
+        return TrainState(self.params, self.step + 1)


# %% exercise="count" variant="changes_the_new_state" changes="solution"
-        return replace(self, step=self.step + 1)
+        self.step = self.step + 1
+        return self


# %% exercise="count" misconception="changes_self" met="jax-ml/jax#15817" changes="solution"
"""`count` returns a number, or nothing, and not a state. An attribute that you set inside `jit` is set on a copy, and JAX throws this copy away unless you return it."""
-        return replace(self, step=self.step + 1)
+        self.step = self.step + 1
+        return self.step


# %% exercise="count" misconception="returns_nothing" changes="solution"
"""`count` returns `None`. What a method changes inside `jit` is lost unless it returns it: return the new state."""
-        return replace(self, step=self.step + 1)
+        replace(self, step=self.step + 1)


# %% exercise="count" misconception="without_jit" changes="solution"
"""Your state counts, but `count` is no longer one jitted program. Keep `@jax.jit` above it."""
-    @jax.jit


# %% exercise="count" misconception="without_jit_in_place" changes="changes_the_new_state"
"""Without `@jax.jit`, `count` changes the old state. The exercise asks for a jitted method that returns a new state, and leaves the old one as it is."""
-    @jax.jit


# %% exercise="count" misconception="always_one" changes="solution"
"""Your new step is 1, whatever the old step was. Add 1 to the step of `self`."""
-        return replace(self, step=self.step + 1)
+        return replace(self, step=1)


# %% exercise="count" misconception="counts_the_parameters" changes="solution"
"""Your method adds 1 to the parameters as well: they are leaves of the state, as the `step` is. `replace` needs only the field that changes."""
-        return replace(self, step=self.step + 1)
+        return jax.tree.map(lambda leaf: leaf + 1, self)


# %% exercise="count" misconception="the_same_state" changes="solution"
"""Your new state has the old step. `replace` leaves alone each field that you do not name, and it changes no state in place."""
-        return replace(self, step=self.step + 1)
+        replace(self, step=self.step + 1)
+        return self


# %% exercise="count" misconception="the_step_is_made_an_int" changes="solution"
"""`count` raises an error: it asks for the number of the step, as `int` does. Under `jit` the step is a tracer, which has no number, but you can add 1 to it."""
-        return replace(self, step=self.step + 1)
+        return replace(self, step=int(self.step) + 1)


# %% exercise="count" misconception="fields_swapped" changes="calls_the_class"
"""In the new state, `params` and `step` have changed places. The class takes its fields in the order in which it lists them; `replace` takes them by name."""
-        return TrainState(self.params, self.step + 1)
+        return TrainState(self.step + 1, self.params)


# %% exercise="count" misconception="replace_without_a_name" changes="solution"
"""`count` raises a TypeError. `replace` takes the whole state, then the new fields with their names: `replace(state, step=5)`."""
-        return replace(self, step=self.step + 1)
+        return replace(self, self.step + 1)


# %% exercise="count" misconception="counts_twice" changes="solution"
"""Your new step is two higher: `self.step` is set first, and then the new state adds 1 again. Do not assign to `self.step`."""
-        return replace(self, step=self.step + 1)
+        self.step = self.step + 1
+        return replace(self, step=self.step + 1)


# %% exercise="count" misconception="returns_the_parts" changes="solution"
"""`count` returns a tuple, and not a state. A tuple may have the same leaves, but the next `count()` is not yours any more. Return a `TrainState`."""
-        return replace(self, step=self.step + 1)
+        return self.params, self.step + 1


# %% exercise="count" misconception="self_is_static" changes="solution"
"""`count` raises an error: `self` is a static argument. JAX uses the hash of a static argument, and a dataclass whose fields change has none. A registered class needs no more than `@jax.jit`."""
+from functools import partial
+
+
 @register_dataclass
...
-    @jax.jit
+    @partial(jax.jit, static_argnums=0)


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


# %% exercise="register_fields" misconception="every_field" changes="solution"
"""Registering fails for a class with an `init=False` field: you hand over this field too. JAX rebuilds a dataclass by calling the class, and the constructor does not take such a field."""
-    names = [each.name for each in fields(cls) if each.init]
+    names = [each.name for each in fields(cls)]


# %% exercise="register_fields" misconception="data_and_meta"
"""Registering fails as soon as something is static. Is a static name in both lists? A field is either a child or part of the structure. If it is in both lists, JAX raises an error."""
def register_fields(cls, static=()):
    data = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, data, list(static))


# %% exercise="register_fields" misconception="static_fields_are_dropped" met="kokabsc/gwkokab#463" changes="solution"
"""A static field is lost when JAX rebuilds the object: the field has its default again, or the constructor raises an error because it is missing. JAX keeps what is among the children or in aux_data (for `register_dataclass`: in one of the two lists), and nothing else."""
-    meta = [name for name in names if name in static]
-    return jax.tree_util.register_dataclass(cls, data, meta)
+    return jax.tree_util.register_dataclass(cls, data, [], drop_fields=list(static))


# %% exercise="register_fields" misconception="all_are_children"
"""Your static fields are leaves: a map changes them. A field is not a leaf if its name is among the meta fields."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init]
    return jax.tree_util.register_dataclass(cls, names, [])


# %% exercise="register_fields" misconception="jax_finds_the_fields"
"""Your `static` does not reach JAX, or JAX refuses it. From the class alone, JAX makes every field a child, unless the field itself is marked as static. Hand over the names of the fields too."""
def register_fields(cls, static=()):
    return jax.tree_util.register_dataclass(cls)


# %% exercise="register_fields" misconception="names_are_sorted"
"""Your leaves come in alphabetical order. JAX sorts the keys of a dict. The children of a dataclass come in the order of the names that you give to JAX."""
def register_fields(cls, static=()):
    names = {each.name for each in fields(cls) if each.init}
    meta = set(static)
    return jax.tree_util.register_dataclass(cls, sorted(names - meta), sorted(meta))


# %% exercise="register_fields" misconception="own_fields_only" met="cgarciae/simple-pytree#8"
"""Registering fails for a class that inherits fields. `__annotations__` of a class lists only the fields in its own body. The constructor takes the inherited fields too, and an inherited field may be static."""
def register_fields(cls, static=()):
    own = [name for name in cls.__annotations__ if cls.__dataclass_fields__[name].init]
    data = [name for name in own if name not in static]
    meta = [name for name in own if name in static]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="returns_nothing" changes="solution"
"""The class is registered, but your function returns `None`. Used as a decorator, your function would replace the class by `None`."""
-    return jax.tree_util.register_dataclass(cls, data, meta)
+    jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="children_first_in_the_constructor" section="flatten-and-unflatten"
"""Your unflatten calls the constructor with the children first and the static values after them. The constructor takes values in the order of the fields, so they land in wrong fields, and a keyword-only field raises an error."""
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


# %% exercise="register_fields" misconception="computed_fields_are_static" met="brentyi/jax_dataclasses#3" section="fields-of-a-dataclass" changes="children_first_in_the_constructor"
"""After a map, a computed field still has its old value: a rebuild copies it. Leave this field out, and call the constructor with the other fields: `__post_init__` then computes it from the new children."""
-    names = [f.name for f in fields(cls) if f.init]
-    data = [name for name in names if name not in static]
-    meta = [name for name in names if name in static]
+    data = [f.name for f in fields(cls) if f.init and f.name not in static]
+    meta = [f.name for f in fields(cls) if f.name not in data]
...
-        return cls(*children, *aux)
+        new = object.__new__(cls)
+        for name, value in [*zip(data, children), *zip(meta, aux)]:
+            object.__setattr__(new, name, value)
+        return new


# %% exercise="register_fields" misconception="computed_fields_are_children" section="fields-of-a-dataclass" changes="computed_fields_are_static"
"""A computed field is among your leaves. With `init=False`, `__post_init__` computes the value from the other fields, again in each rebuilt object."""
-    data = [f.name for f in fields(cls) if f.init and f.name not in static]
-    meta = [f.name for f in fields(cls) if f.name not in data]
+    names = [f.name for f in fields(cls)]
+    data = [name for name in names if name not in static]
+    meta = [name for name in names if name in static]


# %% exercise="register_fields" misconception="computed_fields_are_lost" section="fields-of-a-dataclass" changes="children_first_in_the_constructor"
"""An object that JAX rebuilt has no computed field: your unflatten makes it without `__post_init__`, as `object.__new__` does. Call the constructor."""
-        return cls(*children, *aux)
+        new = object.__new__(cls)
+        for name, value in [*zip(data, children), *zip(meta, aux)]:
+            object.__setattr__(new, name, value)
+        return new


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
"""With a keyword-only field, your children come in the order of the constructor's signature, where keyword-only fields come last. The fields of the class have another order."""
import inspect


def register_fields(cls, static=()):
    names = list(inspect.signature(cls).parameters)
    return jax.tree_util.register_dataclass(
        cls,
        data_fields=[n for n in names if n not in static],
        meta_fields=[n for n in names if n in static],
    )


# %% exercise="register_fields" misconception="keys_of_a_dict" section="paths-with-names" changes="with_keys"
"""Your paths read `['weight']`, as in a dict. `keystr` writes each type of key in its own way. The fields of a dataclass are attributes, and the paths of attributes begin with a dot."""
-        children = [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in data]
+        children = [(jax.tree_util.DictKey(name), getattr(node, name)) for name in data]


# %% exercise="register_fields" misconception="keys_are_texts" section="paths-with-names" changes="with_keys"
"""Your paths hold the bare names, without a dot: your keys are strings. JAX accepts any object as a key, and `keystr` writes a string as it is."""
-        children = [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in data]
+        children = [(name, getattr(node, name)) for name in data]


# %% exercise="register_fields" misconception="fields_with_a_default_are_static" section="fields-of-a-dataclass"
"""A field with a default is not a leaf, though its name is not in `static`. A default says what the constructor takes where no value is given. It does not say what a field is for JAX."""
from dataclasses import MISSING


def register_fields(cls, static=()):
    given = [each for each in fields(cls) if each.init]
    meta = [each.name for each in given if each.name in static or each.default is not MISSING]
    data = [each.name for each in given if each.name not in meta]
    return jax.tree_util.register_dataclass(cls, data, meta)


# %% exercise="register_fields" misconception="children_as_a_dict" section="flatten-and-unflatten" changes="with_keys"
"""Where a field holds another dataclass, your leaf is right but its path or the rebuilt value is not: the inner object has become a dict. `asdict` goes down through all levels and turns every dataclass into a dict. Flatten describes one level only."""
+from dataclasses import asdict
+
+
 def register_fields(cls, static=()):
...
-        children = [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in data]
-        return children, tuple(getattr(node, name) for name in meta)
+        values = asdict(node)
+        children = [(jax.tree_util.GetAttrKey(name), values[name]) for name in data]
+        return children, tuple(values[name] for name in meta)


# %% exercise="register_fields" misconception="static_names_are_the_children" changes="solution"
"""The roles are swapped: your static fields are leaves, and the other fields are not. `register_dataclass` takes first the data fields, which are the children, then the meta fields."""
-    return jax.tree_util.register_dataclass(cls, data, meta)
+    return jax.tree_util.register_dataclass(cls, meta, data)


# %% exercise="register_fields" misconception="nothing_is_registered"
"""Your object is one leaf, without paths and children: its class is not in the registry. Marks on its fields are not enough, and code below a `return` does not run. JAX opens an object only if its class is in its registry."""
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


# %% exercise="register_fields" misconception="the_object_in_aux_data" section="flatten-and-unflatten"
"""Two objects with equal static fields but other children have different structures: aux_data holds the values of the children too, or the whole old object. Put only the values of the static fields into aux_data."""
def register_fields(cls, static=()):
    names = [each.name for each in fields(cls) if each.init and each.name not in static]

    def flatten(node):
        return [(jax.tree_util.GetAttrKey(name), getattr(node, name)) for name in names], node

    def unflatten(old, children):
        return replace(old, **dict(zip(names, children)))

    jax.tree_util.register_pytree_with_keys(cls, flatten, unflatten)
    return cls


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


# %% exercise="normal" misconception="validates_what_jax_puts_in" met="jax-ml/jax#12319, jax-ml/jax#4673, jax-ml/jax#10366, jax-ml/jax#24676, patrick-kidger/jaxtyping#277, cusp-ai-oss/kUPS#290" changes="starter"
"""JAX fails to rebuild your object: the constructor checks or converts what JAX puts in. JAX may put in a negative gradient, a tracer, `None` or any other object. So unflatten must accept every object."""
     """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""
-


# %% exercise="normal" misconception="no_checks_at_all" changes="solution"
"""JAX can rebuild your object, but now every caller can make a wrong one. The constructor must still check what its callers give. Only unflatten must not run these checks."""
     """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""
-
...
-        if self.mean.shape != self.std.shape:
-            raise ValueError("mean and std differ in shape")
-        if not (self.std > 0).all():
-            raise ValueError("std should be positive")


# %% exercise="normal" misconception="checks_arrays_only" changes="validates_what_jax_puts_in"
"""Your object is rebuilt from tracers and strings, but a map or a gradient with negative numbers fails. Negative numbers can be real arrays too, although they are not a valid `std`."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
-        if self.mean.shape != self.std.shape:
-            raise ValueError("mean and std differ in shape")
-        if not (self.std > 0).all():
-            raise ValueError("std should be positive")
+        self.mean, self.std, self.name = mean, std, name
+        given = (int, float, list, np.ndarray, jax.Array)
+        if isinstance(std, given) and not isinstance(std, jax.core.Tracer):
+            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
+            if self.mean.shape != self.std.shape or not (self.std > 0).all():
+                raise ValueError("mean and std do not go together")


# %% exercise="normal" misconception="lets_tracers_through" changes="validates_what_jax_puts_in"
"""Under jit your object is rebuilt, but a map to negative numbers, strings or `None` fails: only tracers get around your checks. JAX puts in other objects as well."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
-        if self.mean.shape != self.std.shape:
-            raise ValueError("mean and std differ in shape")
-        if not (self.std > 0).all():
-            raise ValueError("std should be positive")
+        self.mean, self.std, self.name = mean, std, name
+        if not isinstance(std, jax.core.Tracer):
+            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
+            if self.mean.shape != self.std.shape or not (self.std > 0).all():
+                raise ValueError("mean and std do not fit")


# %% exercise="normal" misconception="converts_what_jax_puts_in" changes="solution"
"""Your rebuilt object converts what JAX put in to arrays. A string or `None` cannot become an array, and a whole number should stay as it is. Unflatten must not convert anything."""
     """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""
-
...
-        normal.mean, normal.std = children
+        normal.mean, normal.std = [jnp.asarray(child) for child in children]


# %% exercise="normal" misconception="catches_the_error" changes="validates_what_jax_puts_in"
"""When JAX rebuilds your object, values that pass the checks are converted: a whole number comes back as an array. So the constructor runs at each rebuild, and only its errors are caught. Make the object without it."""
-        return cls(*children, name)
+        try:
+            return cls(*children, name)
+        except (TypeError, ValueError):
+            normal = object.__new__(cls)
+            normal.mean, normal.std = children
+            normal.name = name
+            return normal


# %% exercise="normal" misconception="no_name" section="leaves-that-are-no-arrays" changes="solution"
"""A rebuilt object has no `name`. An object made without `__init__` has only the attributes that unflatten sets. The static values come to unflatten in aux_data."""
     """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""
-
...
-        normal.name = name


# %% exercise="normal" misconception="stores_only" section="leaves-that-are-no-arrays" changes="validates_what_jax_puts_in"
"""Your constructor only stores what it gets: it converts no numbers to arrays, and it accepts wrong values. Callers use the constructor, so it must convert and check. JAX can make an object without the constructor."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
-        if self.mean.shape != self.std.shape:
-            raise ValueError("mean and std differ in shape")
-        if not (self.std > 0).all():
-            raise ValueError("std should be positive")
+        self.mean, self.std, self.name = mean, std, name


# %% exercise="normal" misconception="checks_are_switched_off" section="leaves-that-are-no-arrays" changes="starter"
"""Once JAX has rebuilt an object, your constructor accepts wrong numbers: a rebuild switches the checks off for the whole class. All objects share the class, so later callers are not checked."""
     """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""
+    checking = True
...
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        self.name = name
+        if not Normal.checking:
+            self.mean, self.std = mean, std
+            return
+        self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
...
     def tree_unflatten(cls, name, children):
+        Normal.checking = False


# %% exercise="normal" misconception="numbers_have_no_shape" changes="no_checks_at_all"
"""Your constructor fails with plain numbers and lists: they have no `.shape`. It has to convert what its callers give. What JAX puts in should not be converted, and need not come through the constructor."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        self.mean, self.std, self.name = mean, std, name
+        if mean.shape != std.shape:
+            raise ValueError("mean and std differ in shape")
+        if not (std > 0).all():
+            raise ValueError("std should be positive")


# %% exercise="normal" misconception="callers_values_are_only_stored" changes="no_checks_at_all"
"""Your constructor checks what its callers give, but it stores numbers and lists as they are. A caller always gets arrays. Only what JAX puts in stays as it is."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        self.mean, self.std, self.name = mean, std, name
+        if jnp.shape(mean) != jnp.shape(std):
+            raise ValueError("mean and std differ in shape")
+        if not (jnp.asarray(std) > 0).all():
+            raise ValueError("std should be positive")


# %% exercise="normal" misconception="asserts" changes="no_checks_at_all"
"""Your constructor raises an AssertionError where its callers expect a ValueError. Code that catches a ValueError would not catch it, and `python -O` removes every `assert`."""
         self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        assert self.mean.shape == self.std.shape, "mean and std differ in shape"
+        assert (self.std > 0).all(), "std should be positive"


# %% exercise="normal" misconception="zero_is_accepted" changes="no_checks_at_all"
"""Your constructor accepts a `std` of 0, which is not positive. The checks for callers stay as they were."""
         self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        if self.mean.shape != self.std.shape or (self.std < 0).any():
+            raise ValueError("mean and std do not go together")


# %% exercise="normal" misconception="nan_is_no_wrong_number" changes="no_checks_at_all"
"""Your constructor accepts `nan` for `std`. Both `nan <= 0` and `nan > 0` are false. So `std <= 0` does not find it, and `not std > 0` does."""
         self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        if self.mean.shape != self.std.shape or (self.std <= 0).any():
+            raise ValueError("mean and std do not go together")


# %% exercise="normal" misconception="all_numbers_become_floats" changes="solution"
"""A caller's whole numbers become floats in your object. Before, `jnp.asarray` kept them whole. The task asks for the same arrays as before."""
     """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""
-
...
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        self.mean, self.std = jnp.asarray(mean, jnp.float32), jnp.asarray(std, jnp.float32)
+        self.name = name


# %% exercise="normal" misconception="unflatten_returns_nothing" section="flatten-and-unflatten" changes="solution"
"""A rebuild gives `None` in the place of your object. JAX puts whatever unflatten returns in the place of the node, and a function without `return` returns `None`."""
     """A normal distribution: `mean` and `std` have one shape, and `std` is positive."""
-
...
-        return normal


# %% exercise="normal" misconception="only_real_arrays_are_checked" section="leaves-that-are-no-arrays" changes="validates_what_jax_puts_in"
"""Your object is rebuilt from tracers, strings and `None`, but negative numbers fail, and whole numbers become arrays: the constructor still runs at a rebuild, and lets through what it cannot convert. JAX also puts in numbers that break the rules, and they should stay as they are."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
-        if self.mean.shape != self.std.shape:
-            raise ValueError("mean and std differ in shape")
-        if not (self.std > 0).all():
-            raise ValueError("std should be positive")
+        try:
+            mean, std = jnp.asarray(mean), jnp.asarray(std)
+        except (TypeError, ValueError):
+            pass
+        self.mean, self.std, self.name = mean, std, name
+        if isinstance(std, jax.Array) and not isinstance(std, jax.core.Tracer):
+            if self.mean.shape != self.std.shape or not (self.std > 0).all():
+                raise ValueError("mean and std do not go together")


# %% exercise="normal" misconception="only_the_mean_is_looked_at" section="leaves-that-are-no-arrays" changes="validates_what_jax_puts_in"
"""Your constructor lets `object()` and `None` through, but only in the place of `mean`, and it still refuses tracers, strings and negative numbers. You cannot list every object that JAX may put in: let unflatten make the object without the constructor."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
-        if self.mean.shape != self.std.shape:
-            raise ValueError("mean and std differ in shape")
-        if not (self.std > 0).all():
-            raise ValueError("std should be positive")
+        self.mean, self.std, self.name = mean, std, name
+        if type(mean) is not object and mean is not None:
+            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
+            if self.mean.shape != self.std.shape:
+                raise ValueError("mean and std differ in shape")
+            if not (self.std > 0).all():
+                raise ValueError("std should be positive")


# %% exercise="normal" misconception="what_is_no_array_is_let_through" section="leaves-that-are-no-arrays" changes="validates_what_jax_puts_in"
"""Your constructor catches the error of what cannot become an array, such as a string or a tracer. Negative numbers and `None` still raise an error when JAX puts them in, and whole numbers become arrays. Let unflatten make the object without the constructor."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        self.name = name
+        try:
+            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
+            is_positive = bool((self.std > 0).all())
+        except (TypeError, jax.errors.TracerBoolConversionError):
+            self.mean, self.std = mean, std
+            return
...
-        if not (self.std > 0).all():
+        if not is_positive:


# %% exercise="normal" misconception="other_types_are_not_checked" section="who-calls-init" changes="no_checks_at_all"
"""Your constructor checks numbers and lists, but it accepts anything else from a caller: an array with a wrong `std`, `None`, a string. A caller always gets the same checks. Your unflatten does not call the constructor, so nothing has to be let through for JAX."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
+        self.mean, self.std, self.name = mean, std, name
+        if isinstance(std, (int, float, list, np.ndarray)):
+            self.mean, self.std = jnp.asarray(mean), jnp.asarray(std)
+            if self.mean.shape != self.std.shape:
+                raise ValueError("mean and std differ in shape")
+            if not (self.std > 0).all():
+                raise ValueError("std should be positive")


# %% exercise="normal" misconception="a_valid_one_is_built_first" section="leaves-that-are-no-arrays" changes="no_name"
"""Your object is rebuilt outside `jit`, but not inside: a rebuild still runs the constructor, with numbers that pass the checks. Under `jit`, the constructor's arrays are tracers too, and `not` needs their values. Make the object without the constructor."""
-        normal = object.__new__(cls)
+        normal = cls(1.0, 1.0, name)


# %% exercise="normal" misconception="not_registered" section="a-class-of-your-own"
"""Your constructor does what it should, but for JAX a `Normal` is one leaf: a map calls its function with the whole object, and `jit` refuses it. The class is not in the registry. Its decorator puts it there."""
class Normal:
    def __init__(self, mean, std, name):
        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
        if self.mean.shape != self.std.shape:
            raise ValueError("mean and std differ in shape")
        if not (self.std > 0).all():
            raise ValueError("std should be positive")


# %% exercise="normal" misconception="only_given_arrays_are_checked" section="leaves-that-are-no-arrays" changes="validates_what_jax_puts_in"
"""Your constructor checks arrays only: numbers and lists of a caller are neither converted nor checked. And a rebuild still fails for negative arrays and for tracers, because a tracer is a `jax.Array` too. Callers should get arrays and all checks, and unflatten should make the object without the constructor."""
-        self.mean, self.std, self.name = jnp.asarray(mean), jnp.asarray(std), name
-        if self.mean.shape != self.std.shape:
-            raise ValueError("mean and std differ in shape")
-        if not (self.std > 0).all():
-            raise ValueError("std should be positive")
+        self.mean, self.std, self.name = mean, std, name
+        if all(isinstance(each, (jax.Array, np.ndarray)) for each in (mean, std)):
+            if mean.shape != std.shape:
+                raise ValueError("mean and std differ in shape")
+            if not (std > 0).all():
+                raise ValueError("std should be positive")


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


# %% exercise="train_step" misconception="the_step_has_a_gradient_too" met="jax-ml/jax#2215"
"""Every call raises an error at the update of the `step`. If you let `jax.grad` accept the int, its gradient has the type `float0`, and you cannot compute with it."""
def train_step(loss, state, rate):
    grads = jax.grad(loss, allow_int=True)(state)
    state = jax.tree.map(lambda p, g: p - rate * g, state, grads)
    return replace(state, step=state.step + 1)


# %% exercise="train_step" misconception="gradient_of_the_whole_state" met="deepmodeling/DMFF#82"
"""Every call raises a TypeError: you take the gradient with respect to the whole state. Its `step` is an int, a leaf without a gradient. (`argnums` names an argument too, and every leaf of it has to be a float.)"""
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
"""The parameters move, but the `step` does not. A map over the parameters changes their leaves, and no other leaf of the state."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return replace(state, params=params)


# %% exercise="train_step" misconception="the_loss_sees_the_new_step" changes="the_step_stands_still"
"""Where the loss uses the step, your parameters are wrong: the loss gets the step after the update. Take the gradient at the state that the function was given."""
 def train_step(loss, state, rate):
+    state = replace(state, step=state.step + 1)


# %% exercise="train_step" misconception="changes_the_callers_state" section="methods-under-jit" changes="the_step_stands_still"
"""Your result is right, but the old state has changed too: the caller has the same object as your function. `jax.tree.map` never changes a tree that it gets. Do the same: return a new state."""
-    return replace(state, params=params)
+    state.params = params
+    state.step = state.step + 1
+    return state


# %% exercise="train_step" misconception="goes_uphill"
"""Your parameters go uphill: you add `rate` times the gradient. The gradient points in the direction in which the loss grows, so subtract it."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    params = jax.tree.map(lambda p, g: p + rate * g, state.params, grads)
    return replace(state, params=params, step=state.step + 1)


# %% exercise="train_step" misconception="returns_the_params" changes="the_step_stands_still"
"""You return the new parameters alone. The next call needs a tree like the one that this call got, with the `step`: return the whole state."""
-    return replace(state, params=params)
+    return params


# %% exercise="train_step" misconception="a_flat_dict_is_expected" changes="goes_uphill"
"""Your code works only where `params` is a flat dict of arrays. `params` can be any tree, and `jax.tree.map` works for every tree."""
-    params = jax.tree.map(lambda p, g: p + rate * g, state.params, grads)
+    params = {name: p - rate * grads[name] for name, p in state.params.items()}


# %% exercise="train_step" misconception="one_leaf_after_the_other"
"""Where leaves are multiplied by each other, all gradients except the first are wrong: you take the later gradients after the update of the earlier leaves."""
def train_step(loss, state, rate):
    leaves, treedef = jax.tree.flatten(state.params)

    def loss_of_leaves(leaves):
        return loss(replace(state, params=treedef.unflatten(leaves)))

    for place in range(len(leaves)):
        grads = jax.grad(loss_of_leaves)(leaves)
        leaves[place] = leaves[place] - rate * grads[place]
    return replace(state, params=treedef.unflatten(leaves), step=state.step + 1)


# %% exercise="train_step" misconception="the_loss_gets_a_float" changes="gradient_of_the_whole_state"
"""The loss gets a float for the `step`. `jax.grad` accepts the state then, but a loss that needs a whole number fails. You can take the gradient with respect to a part of the state."""
-    grads = jax.grad(loss)(state)
+    grads = jax.grad(loss)(replace(state, step=float(state.step)))


# %% exercise="train_step" variant="jitted_as_a_whole"
def train_step(loss, state, rate):
    @jax.jit
    def step(state):
        grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
        params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
        return replace(state, params=params, step=state.step + 1)

    return step(state)


# %% exercise="train_step" misconception="the_loss_gets_the_params"
"""Every call raises an error, or the loss does not find what it looks for: you give it the parameters alone. `loss` takes a whole state, so a function around it has to make one."""
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
"""Every call raises a NameError. Do you name the class of the example? `state` may be of any registered dataclass: take its own class, or a copy of it with some fields replaced."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(TrainState(params, state.step)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return TrainState(params, state.step + 1)


# %% exercise="train_step" misconception="the_loss_does_not_depend_on_the_params" changes="the_loss_gets_the_params"
"""Your parameters do not move. Either all gradients are 0, because your function of the parameters calls the loss with the old state, or the new parameters are not in the state that you return."""
-    grads = jax.grad(loss)(state.params)
+    grads = jax.grad(lambda params: loss(state))(state.params)


# %% exercise="train_step" misconception="returns_params_and_step" changes="the_step_stands_still"
"""You return a tuple of parameters and step. To JAX it is another structure than the state, and the next call needs a state: return an object of the same class."""
-    return replace(state, params=params)
+    return params, state.step + 1


# %% exercise="train_step" misconception="counts_in_the_old_state" section="objects-that-change" changes="the_step_stands_still"
"""The result is right, but the `step` of the old state has changed too. `state.step += 1` sets the field of the caller's own object."""
     params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
+    state.step += 1


# %% exercise="train_step" misconception="writes_into_a_flat_dict" section="objects-that-change" changes="goes_uphill"
"""Your code writes the new arrays into the old state's own dict, and fails where `params` is not a flat dict. A copy of the state still holds the same dict. A map makes a new tree, for every tree."""
-    params = jax.tree.map(lambda p, g: p + rate * g, state.params, grads)
+    params = state.params
+    for name in params:
+        params[name] = params[name] - rate * grads[name]


# %% exercise="train_step" misconception="tracers_left_in_the_old_state" met="gbionics/jaxsim#43" section="methods-under-jit"
"""Your result is right, but the old state holds tracers afterwards: the function that you differentiate writes its argument into `state`. Give the loss a copy with other parameters: `replace(state, params=params)`."""
def train_step(loss, state, rate):
    params = state.params

    def loss_of_params(traced):
        state.params = traced
        return loss(state)

    grads = jax.grad(loss_of_params)(params)
    moved = jax.tree.map(lambda p, g: p - rate * g, params, grads)
    return replace(state, params=moved, step=state.step + 1)


# %% exercise="train_step" misconception="fields_by_position"
"""Your function fails, or the fields change places, where the class has `step` before `params`: it relies on the order of the fields, or of the leaves of the state. The class decides that order: take the fields by their names, as `replace` does."""
def train_step(loss, state, rate):
    cls = type(state)
    grads = jax.grad(lambda params: loss(cls(params, state.step)))(state.params)
    params = jax.tree.map(lambda p, g: p - rate * g, state.params, grads)
    return cls(params, state.step + 1)


# %% exercise="train_step" misconception="the_new_state_by_position" changes="the_step_stands_still"
"""Where the class has `step` before `params`, the two have changed places in your new state: you call the class with both values by position. The class decides the order of its fields: pass the values by name, as `replace` does."""
-    return replace(state, params=params)
+    return type(state)(params, state.step + 1)


# %% exercise="train_step" misconception="the_step_is_an_int"
"""Your function fails, or the `step` does not count, where the `step` is an `int32` array: your code knows the `step` by its type. A whole number can be an array too: take the field by its name."""
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


# %% exercise="train_step" misconception="writes_into_a_dict_by_its_items" section="objects-that-change"
"""Your code writes the new arrays into the old state's own dict, and fails where `params` is not a dict of arrays. `params` may also be a list, a node of a class or one array. `jax.tree.map` takes any tree, and makes a new one."""
def train_step(loss, state, rate):
    grads = jax.grad(lambda params: loss(replace(state, params=params)))(state.params)
    for name, grad in grads.items():
        state.params[name] = state.params[name] - rate * grad
    return replace(state, step=state.step + 1)


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
"""Your function fails only where `weight` and `bias` are read-only properties: a rebuild sets both attributes. A property without a setter cannot be set, not even by `object.__setattr__`. Call the constructor, which works for every class here."""
def register_linear(cls):
    def unflatten(_, children):
        linear = object.__new__(cls)
        for name, child in zip(("weight", "bias"), children):
            object.__setattr__(linear, name, child)
        return linear

    jax.tree_util.register_pytree_node(
        cls, lambda linear: ((linear.weight, linear.bias), None), unflatten
    )


# %% exercise="register_linear" misconception="sets_the_attributes" section="who-calls-init" changes="sets_the_attributes_past_the_class"
"""Your function fails where attributes cannot be set, for a frozen dataclass and for read-only properties: a rebuild sets both attributes. The constructor works for every class here, and it takes both children."""
-    def unflatten(_, children):
-        linear = object.__new__(cls)
-        for name, child in zip(("weight", "bias"), children):
-            object.__setattr__(linear, name, child)
+    def unflatten(aux_data, children):
+        linear = cls.__new__(cls)
+        linear.weight, linear.bias = children


# %% exercise="register_linear" misconception="methods_are_enough" section="a-class-of-your-own"
"""JAX still sees your object as one leaf. Functions or methods that take the object apart are not enough. JAX opens only objects whose class is in its registry."""
def register_linear(cls):
    cls.tree_flatten = lambda self: ((self.weight, self.bias), None)
    cls.tree_unflatten = classmethod(lambda cls, aux_data, children: cls(*children))


# %% exercise="register_linear" misconception="children_only"
"""JAX uses your weight as the sequence of all children: it raises an error, or the items of the weight become leaves. JAX reads what flatten returns as the pair (children, aux_data), and yours is the pair of the two children."""
def register_linear(cls):
    jax.tree_util.register_pytree_node(
        cls, lambda linear: (linear.weight, linear.bias), lambda _, children: cls(*children)
    )


# %% exercise="register_linear" misconception="one_container_is_the_child" changes="children_only"
"""Your object has one child instead of two: a container that holds both. For JAX, this container is one more level between your object and its leaves."""
-        cls, lambda linear: (linear.weight, linear.bias), lambda _, children: cls(*children)
+        cls,
+        lambda linear: (((linear.weight, linear.bias),), None),
+        lambda _, children: cls(*children[0]),


# %% exercise="register_linear" misconception="children_come_first" changes="one_container_is_the_child"
"""Flatten works, but unflatten fails. JAX passes two arguments to unflatten: first aux_data, then all children in one sequence. Does yours take them in this order, and does it unpack the sequence?"""
-        lambda linear: (((linear.weight, linear.bias),), None),
-        lambda _, children: cls(*children[0]),
+        lambda linear: ((linear.weight, linear.bias), None),
+        lambda children, aux_data: cls(*children),


# %% exercise="register_linear" misconception="bias_first" changes="one_container_is_the_child"
"""Your objects survive a map, but their leaves come in the wrong order. Your flatten decides the order of the children. JAX does not look at the names of attributes."""
-        lambda linear: (((linear.weight, linear.bias),), None),
-        lambda _, children: cls(*children[0]),
+        lambda linear: ((linear.bias, linear.weight), None),
+        lambda _, children: cls(children[1], children[0]),


# %% exercise="register_linear" misconception="swaps_on_the_way_back" changes="children_only"
"""After a map, weight and bias have changed places. Unflatten gets the children in the order of flatten, but your unflatten passes them on in another order."""
-        cls, lambda linear: (linear.weight, linear.bias), lambda _, children: cls(*children)
+        cls,
+        lambda linear: ((linear.weight, linear.bias), None),
+        lambda _, children: cls(*reversed(children)),


# %% exercise="register_linear" misconception="bias_is_static" changes="one_container_is_the_child"
"""Your bias is not a leaf: a map does not change it, or a map over two objects fails. What is in aux_data belongs to the structure, and JAX never computes with it."""
-        lambda linear: (((linear.weight, linear.bias),), None),
-        lambda _, children: cls(*children[0]),
+        lambda linear: ((linear.weight,), linear.bias),
+        lambda bias, children: cls(*children, bias),


# %% exercise="register_linear" misconception="values_in_the_structure" changes="solution"
"""Two objects with different numbers have different structures. What is in aux_data belongs to the structure. Do not put the children into aux_data as well."""
-    def flatten(linear):
-        return (linear.weight, linear.bias), None
+    def flatten(obj):
+        return (obj.weight, obj.bias), (obj.weight, obj.bias)
...
-    def unflatten(aux_data, children):
+    def unflatten(aux, children):


# %% exercise="register_linear" misconception="stored_values" changes="solution"
"""Weight and bias are swapped, and where the class has `__slots__`, nothing works: you take the children from the object's `__dict__`, as `vars` does. It shows how an object stores its attributes. It does not say what the children are."""
-    def flatten(linear):
-        return (linear.weight, linear.bias), None
+    def flatten(obj):
+        return tuple(vars(obj).values()), None
...
-    def unflatten(aux_data, children):
+    def unflatten(_, children):


# %% exercise="register_linear" misconception="none_is_no_child"
"""An object that holds `None` cannot be rebuilt: your flatten leaves the `None` out. `None` is a child like any other: it has no leaves, but it keeps its place."""
def register_linear(cls):
    def flatten(obj):
        return [each for each in (obj.weight, obj.bias) if each is not None], None

    jax.tree_util.register_pytree_node(cls, flatten, lambda aux, children: cls(*children))


# %% exercise="register_linear" misconception="children_become_arrays" section="leaves-that-are-no-arrays"
"""A rebuilt object holds arrays, whatever was put in, or it cannot be rebuilt at all: your unflatten converts its children. JAX also puts strings, trees and `None` in the places of the children."""
def register_linear(cls):
    def unflatten(aux, children):
        weight, bias = children
        return cls(jnp.asarray(weight), jnp.asarray(bias))

    jax.tree_util.register_pytree_node(cls, lambda obj: ((obj.weight, obj.bias), None), unflatten)


# %% exercise="register_linear" misconception="aux_data_first" changes="one_container_is_the_child"
"""JAX cannot take your object apart, or finds no child in it. Flatten returns first the children, then aux_data. Unflatten gets the two the other way round: first aux_data, then the children."""
-        lambda linear: (((linear.weight, linear.bias),), None),
-        lambda _, children: cls(*children[0]),
+        lambda linear: (None, (linear.weight, linear.bias)),
+        lambda aux_data, children: cls(*children),


# %% exercise="register_linear" misconception="leaves_through_the_constructor"
"""Your objects survive a map only while they have two leaves in all: each leaf becomes an argument of the constructor. Flatten describes one level only: a child may be a tree, and JAX flattens this tree by itself."""
def register_linear(cls):
    def flatten(linear):
        return jax.tree.leaves([linear.weight, linear.bias]), None

    jax.tree_util.register_pytree_node(cls, flatten, lambda _, children: cls(*children))


# %% exercise="register_linear" misconception="leaves_are_the_children" changes="solution"
"""Your objects survive a map, but they have as many children as leaves: your flatten goes down to the leaves. The children are the weight and the bias themselves, and JAX flattens what is inside them."""
-        return (linear.weight, linear.bias), None
+        return jax.tree.flatten((linear.weight, linear.bias))
...
-    def unflatten(aux_data, children):
-        return cls(*children)
+    def unflatten(structure, leaves):
+        return cls(*jax.tree.unflatten(structure, leaves))


# %% exercise="register_linear" misconception="the_decorator_brings_the_methods" section="ways-to-register"
"""JAX looks for methods such as `tree_flatten` in the class, and does not find them. The class decorator does not write these methods. It only tells JAX to call them."""
def register_linear(cls):
    jax.tree_util.register_pytree_node_class(cls)


# %% exercise="register_linear" misconception="unflatten_returns_nothing" changes="swaps_on_the_way_back"
"""A map gives `None` in the place of your object. JAX puts whatever unflatten returns in the place of the node, and a function without `return` returns `None`."""
-        lambda _, children: cls(*reversed(children)),
+        lambda _, children: cls(*children) and None,


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


# %% exercise="model_state" misconception="the_class_is_not_registered" met="jax-ml/jax#2371" changes="solution"
"""Your state is one leaf: its class is not in the registry. The registry contains only the exact class that you registered. A decorator above the registration can make another class, as `dataclass(slots=True)` does."""
+@dataclass(slots=True)
 @jax.tree_util.register_pytree_node_class
...
     """The state of a small model: `ModelState(weight, bias, step)`."""
-


# %% exercise="model_state" misconception="no_classmethod" changes="solution"
"""JAX takes your state apart, but fails to rebuild it. JAX calls `ModelState.tree_unflatten(aux_data, children)` on the class. At this moment there is no object that could be `self`."""
     """The state of a small model: `ModelState(weight, bias, step)`."""
-
...
-    @classmethod
-    def tree_unflatten(cls, aux_data, children):
-        return cls(*children)
+    def tree_unflatten(self, aux_data, children):
+        return ModelState(*children)


# %% exercise="model_state" misconception="step_is_static" section="flatten-and-unflatten" changes="solution"
"""Your `step` is not a leaf. In aux_data the `step` belongs to the structure: a map never reaches it, and two states with different steps do not match."""
     """The state of a small model: `ModelState(weight, bias, step)`."""
-
...
-        return (self.weight, self.bias, self.step), None
+        return (self.weight, self.bias), self.step
...
-    def tree_unflatten(cls, aux_data, children):
-        return cls(*children)
+    def tree_unflatten(cls, step, children):
+        return cls(*children, step)


# %% exercise="model_state" misconception="step_stays_an_int" section="a-state-with-an-int" changes="solution"
"""Your `zeroed` keeps `nan` as `nan`, and turns an int into Python's `0`: you compute with the leaves. For `nan`, `leaf * 0` and `leaf - leaf` are `nan`. `jnp.zeros_like` looks only at the shape and the dtype, and always makes an array."""
     """The state of a small model: `ModelState(weight, bias, step)`."""
-
...
-    return jax.tree.map(jnp.zeros_like, state)
+    return jax.tree.map(lambda leaf: leaf * 0, state)


# %% exercise="model_state" misconception="no_jit" section="methods-under-jit" changes="solution"
"""Your numbers are right, but `predict` is not jitted. Because the class is registered, a jitted function can take a `ModelState`. But registering does not jit a function."""
     """The state of a small model: `ModelState(weight, bias, step)`."""
-
...
-@jax.jit


# %% exercise="model_state" misconception="children_are_sorted" section="flatten-and-unflatten" changes="no_classmethod"
"""Your leaves come in alphabetical order of the fields. JAX sorts the keys of a dict. For your own node, JAX uses the order that your flatten gives."""
-@jax.tree_util.register_pytree_node_class
+from functools import partial
+
+
+@partial(
+    jax.tree_util.register_dataclass,
+    data_fields=["bias", "step", "weight"],
+    meta_fields=[],
+)
...
-
-    def tree_flatten(self):
-        return (self.weight, self.bias, self.step), None
-
-    def tree_unflatten(self, aux_data, children):
-        return ModelState(*children)


# %% exercise="model_state" misconception="weight_times_x" section="methods-under-jit" changes="register_dataclass_and_jit_later"
"""Your predictions are those of `weight @ x`. `x @ weight` is a different product: the two differ where the weight is not symmetric."""
-@dataclass(frozen=True)
+@dataclass
...
-    leaves, structure = jax.tree.flatten(state)
-    return jax.tree.unflatten(structure, [jnp.zeros_like(leaf) for leaf in leaves])
+    return jax.tree.map(jnp.zeros_like, state)
...
-predict = jax.jit(lambda state, x: jnp.matmul(x, state.weight) + state.bias)
+@jax.jit
+def predict(state, x):
+    return state.weight @ x + state.bias


# %% exercise="model_state" misconception="zeros_of_the_shape" section="a-state-with-an-int" changes="weight_times_x"
"""Your zeros have the right shapes, but all of them are floats. `jnp.zeros(shape)` does not know the dtype of the leaf."""
-    return jax.tree.map(jnp.zeros_like, state)
+    return jax.tree.map(lambda leaf: jnp.zeros(jnp.shape(leaf)), state)
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="the_state_is_static" section="methods-under-jit" changes="no_classmethod"
"""Your `predict` fails with every state. Is the state a static argument of `jax.jit`? JAX uses the hash of a static argument, and it never flattens a static argument."""
-@jax.tree_util.register_pytree_node_class
+from functools import partial
+
+
+@jax.tree_util.register_dataclass
...
-    def tree_flatten(self):
-        return (self.weight, self.bias, self.step), None
-
-    def tree_unflatten(self, aux_data, children):
-        return ModelState(*children)
-
...
-@jax.jit
+@partial(jax.jit, static_argnums=0)


# %% exercise="model_state" misconception="zeros_of_each_field" changes="weight_times_x"
"""`zeroed` fails where a field is `None` or a list: it hands each field to a function of arrays. A field can be a tree, and then its leaves are deeper."""
-    step: int
+    step: jax.Array
...
-    return jax.tree.map(jnp.zeros_like, state)
+    return ModelState(
+        weight=jnp.zeros_like(state.weight),
+        bias=jnp.zeros_like(state.bias),
+        step=jnp.zeros_like(state.step),
+    )
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="fields_become_arrays" section="leaves-that-are-no-arrays" changes="weight_times_x"
"""Your state holds arrays where something else was put in, and it cannot hold a string or a tree: its class converts the fields. This happens whenever JAX rebuilds a state, and then a field can be any object."""
-    step: int
+    step: jax.Array
+
+    def __post_init__(self):
+        self.weight = jnp.asarray(self.weight)
+        self.bias = jnp.asarray(self.bias)
+        self.step = jnp.asarray(self.step)
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


# %% exercise="model_state" variant="an_equinox_module" changes="weight_times_x"
-@jax.tree_util.register_dataclass
-@dataclass
-class ModelState:
+import equinox as eqx
+
+
+class ModelState(eqx.Module):
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


# %% exercise="model_state" variant="predict_calls_a_jitted_function" changes="weight_times_x"
-    return jax.tree.map(jnp.zeros_like, state)
+    return jax.tree.map(lambda leaf: jnp.zeros_like(leaf), state)
...
 @jax.jit
+def _predict(weight, bias, x):
+    return x @ weight + bias
+
+
...
-    return state.weight @ x + state.bias
+    return _predict(state.weight, state.bias, x)


# %% exercise="model_state" misconception="zeroed_fills_the_given_state" section="objects-that-change" changes="weight_times_x"
"""After `zeroed`, the state that it was given holds zeros as well: the caller has the same object as your function. A map over a tree makes a new tree, and leaves the old one as it is: do the same."""
-    return jax.tree.map(jnp.zeros_like, state)
+    for each in fields(state):
+        setattr(state, each.name, jax.tree.map(jnp.zeros_like, getattr(state, each.name)))
+    return state
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="a_new_jit_in_each_call" section="methods-under-jit" changes="weight_times_x"
"""Your numbers are right, but each call of `predict` makes a new jitted function. JAX keeps its traces with the jitted function, and a new one has no traces yet."""
-@jax.jit
...
-    return state.weight @ x + state.bias
+    @jax.jit
+    def jitted(state, x):
+        return x @ state.weight + state.bias
+
+    return jitted(state, x)


# %% exercise="model_state" misconception="asdict_opens_inner_dataclasses" section="a-class-of-your-own" changes="weight_times_x"
"""Where a field holds another dataclass, your `zeroed` makes a dict of it. `dataclasses.asdict` opens dataclasses at every depth. A map over the state keeps the type of each node."""
+from dataclasses import asdict
+
+
 @jax.tree_util.register_dataclass
...
-    return jax.tree.map(jnp.zeros_like, state)
+    return ModelState(**jax.tree.map(jnp.zeros_like, asdict(state)))
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="the_step_alone_is_kept" section="a-state-with-an-int" changes="weight_times_x"
"""Your `zeroed` leaves the field `step` as it was. An int is a leaf of the state like any array. One map over the whole state reaches all three fields."""
-    return jax.tree.map(jnp.zeros_like, state)
+    def zeros(tree):
+        return jax.tree.map(jnp.zeros_like, tree)
+
+    return replace(state, weight=zeros(state.weight), bias=zeros(state.bias))
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


# %% exercise="model_state" misconception="another_kind_of_class" section="ways-to-register"
"""Your state works as a node, but its class is not a dataclass. A namedtuple, for example, is a node without any registration. The task asks for a dataclass that you register."""
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


# %% exercise="model_state" misconception="fields_by_keyword_only" section="ways-to-register" changes="weight_times_x"
"""`ModelState(weight, bias, step)` raises an error. The task gives the three values by position, as a dataclass of Python takes them. A `chex.dataclass`, for example, takes its fields by keyword only."""
-@jax.tree_util.register_dataclass
-@dataclass
+import chex
+
+
+@chex.dataclass
...
-    return state.weight @ x + state.bias
+    return x @ state.weight + state.bias


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
"""1 would be right if every new object ran `__init__`. JAX calls unflatten, and that of `Quick` makes an object with `object.__new__`: Python runs `__init__` only when you call the class."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 2, "I": 1, "J": 1}


# %% exercise="predict_init" misconception="dataclasses_are_copied"
"""0 would be right if the dataclass were copied. JAX rebuilds it by calling the class with its fields, and the generated `__init__` ends in `__post_init__`."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 0}


# %% exercise="predict_init" misconception="once_for_each_leaf"
"""This is the number of leaves, and of the calls of `abs`. `__init__` runs once for each node that JAX puts together, not once for each child."""
predictions = {"A": 0, "B": 0, "C": 2, "D": 6, "E": 0, "F": 1, "G": 0, "H": 2, "I": 0, "J": 2}


# %% exercise="predict_init" misconception="in_and_out_of_jit" section="methods-under-jit"
"""2 would be right if the result of `total` were a `Pair` too. The function gets one `Pair` of tracers, and `pair.a + pair.b` is a number."""
predictions = {"A": 0, "B": 0, "C": 1, "D": 3, "E": 0, "F": 2, "G": 0, "H": 2, "I": 0, "J": 1}


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


# %% exercise="readable_paths" variant="both_methods" changes="starter"
-@jax.tree_util.register_pytree_node_class
+@jax.tree_util.register_pytree_with_keys_class
...
     """Layers by name, in the order in which they are called."""
-
...
+    def tree_flatten_with_keys(self):
+        keys = map(jax.tree_util.DictKey, self.names)
+        return list(zip(keys, self.values)), self.names
+
     @classmethod


# %% exercise="readable_paths" misconception="no_keys" changes="starter"
"""Your paths read `<flat index 0>`. If a class is registered without keys, its children have no names, so JAX numbers them. A method `tree_flatten_with_keys` helps only with the decorator that looks for it."""
     """Layers by name, in the order in which they are called."""
-


# %% exercise="readable_paths" misconception="decorator_without_keys" changes="no_keys"
"""JAX looks for a method `tree_flatten` and finds none. The old decorator registers without keys, and it does not use `tree_flatten_with_keys`."""
-    def tree_flatten(self):
-        return self.values, self.names
+    def tree_flatten_with_keys(self):
+        keys = map(jax.tree_util.DictKey, self.names)
+        return tuple(zip(keys, self.values)), self.names


# %% exercise="readable_paths" misconception="keys_are_texts" changes="solution"
"""Your paths begin with the bare name, without brackets: your keys are strings. JAX accepts any object as a key, and `keystr` writes a string without brackets."""
     """Layers by name, in the order in which they are called."""
-
...
-        keys = [jax.tree_util.DictKey(name) for name in self.names]
-        return tuple(zip(keys, self.values)), self.names
+        return tuple(zip(self.names, self.values)), self.names


# %% exercise="readable_paths" misconception="keys_of_attributes" changes="solution"
"""Your paths begin with a dot, as if the layers were attributes. `keystr` writes each type of key in its own way. Your type of key is for an attribute, not for the key of a dict."""
     """Layers by name, in the order in which they are called."""
-
...
-        keys = [jax.tree_util.DictKey(name) for name in self.names]
+        keys = [jax.tree_util.GetAttrKey(name) for name in self.names]


# %% exercise="readable_paths" misconception="keys_are_numbers" changes="keys_of_attributes"
"""Your paths hold numbers, like those of a list. The places are right, but the paths do not contain the names of your layers."""
-        keys = [jax.tree_util.GetAttrKey(name) for name in self.names]
+        keys = map(jax.tree_util.SequenceKey, range(len(self.names)))


# %% exercise="readable_paths" misconception="one_dict_is_the_child" changes="keys_are_texts"
"""Your layers come in alphabetical order, or the path has one step too many: your only child is a dict. JAX sorts the keys of every dict."""
-        return tuple(zip(self.names, self.values)), self.names
+        parts = dict(zip(self.names, self.values))
+        return ((jax.tree_util.GetAttrKey("values"), parts),), self.names
...
-        return cls(names, values)
+        return cls(names, [values[0][name] for name in names])


# %% exercise="readable_paths" misconception="sorted_names" changes="keys_are_texts"
"""Your layers come back in alphabetical order. JAX sorts the keys of a dict. For your own node, JAX uses the order of your flatten, so you need not sort anything."""
-        return tuple(zip(self.names, self.values)), self.names
+        pairs = sorted(zip(self.names, self.values), key=lambda pair: pair[0])
+        names = tuple(name for name, _ in pairs)
+        return [(jax.tree_util.DictKey(name), value) for name, value in pairs], names


# %% exercise="readable_paths" misconception="names_are_lost" changes="keys_are_texts"
"""The paths are right, but a rebuilt object has lost its names. JAX uses the keys for paths only. Unflatten gets the children and aux_data, but never the keys."""
-        return tuple(zip(self.names, self.values)), self.names
+        keys = map(jax.tree_util.DictKey, self.names)
+        return tuple(zip(keys, self.values)), None
...
-    def tree_unflatten(cls, names, values):
-        return cls(names, values)
+    def tree_unflatten(cls, _, values):
+        return cls(range(len(values)), values)


# %% exercise="readable_paths" misconception="child_before_key" changes="keys_are_texts"
"""Your leaves are keys, and your paths contain layers. Each pair is first a key, then a child."""
-        return tuple(zip(self.names, self.values)), self.names
+        keys = map(jax.tree_util.DictKey, self.names)
+        return tuple(zip(self.values, keys)), self.names


# %% exercise="readable_paths" misconception="brackets_in_the_key" changes="keys_are_texts"
"""Your paths have brackets and quotes twice. A key object of JAX adds brackets and quotes by itself. Give it the name without them."""
-        return tuple(zip(self.names, self.values)), self.names
+        keys = [jax.tree_util.DictKey(f"['{name}']") for name in self.names]
+        return list(zip(keys, self.values)), self.names


# %% exercise="readable_paths" misconception="one_dict_without_keys" changes="no_keys"
"""Each path begins with `<flat index 0>`, and then comes a name: your only child is a dict, and the class is registered without keys. JAX sorts the keys of this dict, and counts it as one more level."""
-        return self.values, self.names
+        return (dict(zip(self.names, self.values)),), self.names
...
-    def tree_unflatten(cls, names, values):
-        return cls(names, values)
+    def tree_unflatten(cls, names, children):
+        return cls(names, [children[0][name] for name in names])


# %% exercise="readable_paths" misconception="only_the_keys_are_sorted" changes="both_methods"
"""Your paths, and the leaves beside them, come in alphabetical order, and `jax.tree.leaves` gives the leaves in the order of the layers: your two flatten methods do not agree. Both have to give the children in the order in which the model calls them."""
-        keys = map(jax.tree_util.DictKey, self.names)
-        return list(zip(keys, self.values)), self.names
+        pairs = sorted(zip(self.names, self.values), key=lambda pair: pair[0])
+        return [(jax.tree_util.DictKey(name), value) for name, value in pairs], self.names


# %% exercise="readable_paths" misconception="unflatten_gets_pairs" changes="solution"
"""JAX can take your object apart, but not rebuild it. Unflatten gets no pairs of a key and a child, but the children alone; the names come to it in aux_data, if flatten puts them there."""
     """Layers by name, in the order in which they are called."""
-
...
-        return tuple(zip(keys, self.values)), self.names
+        return list(zip(keys, self.values)), None
...
-    def tree_unflatten(cls, names, values):
-        return cls(names, values)
+    def tree_unflatten(cls, _, pairs):
+        return cls([key.key for key, _ in pairs], [value for _, value in pairs])


# %% exercise="readable_paths" misconception="each_layer_is_a_dict" changes="keys_are_texts"
"""Your flatten fails at a layer that is not a dict. A layer can be any tree: a number, an array, a list. Return the layer itself as the child. JAX opens it, and adds its keys to the path."""
-        return tuple(zip(self.names, self.values)), self.names
+        children = [
+            (jax.tree_util.DictKey(name), dict(value.items()))
+            for name, value in zip(self.names, self.values)
+        ]
+        return children, self.names


# %% exercise="readable_paths" misconception="quotes_in_the_keys" changes="keys_are_texts"
"""The names in your paths have quotes twice. `DictKey` adds brackets and quotes by itself: give it the name without them."""
-        return tuple(zip(self.names, self.values)), self.names
+        keys = [jax.tree_util.DictKey(f"'{name}'") for name in self.names]
+        return list(zip(keys, self.values)), self.names


# %% exercise="readable_paths" misconception="not_registered" section="a-class-of-your-own" changes="keys_are_texts"
"""For JAX your `Layers` is one leaf: there are no paths inside it, and a map calls its function with the whole object. A method such as `tree_flatten_with_keys` alone is not enough. JAX opens an object only if its class is in its registry."""
-@jax.tree_util.register_pytree_with_keys_class
...
-        return tuple(zip(self.names, self.values)), self.names
+        return [(jax.tree_util.DictKey(n), v) for n, v in zip(self.names, self.values)], self.names


# %% exercise="readable_paths" misconception="numbers_become_the_names" changes="keys_are_texts"
"""The paths are right, but in a rebuilt object the names are numbers, written as strings. JAX uses the keys for paths only, and never passes them to unflatten: the names belong in aux_data."""
-        return tuple(zip(self.names, self.values)), self.names
+        keys = map(jax.tree_util.DictKey, self.names)
+        return tuple(zip(keys, self.values)), len(self.names)
...
-    def tree_unflatten(cls, names, values):
-        return cls(names, values)
+    def tree_unflatten(cls, count, values):
+        return cls(map(str, range(count)), values)


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


# %% exercise="running_mean" variant="changes_the_copy_and_returns_it" changes="solution"
     """The mean of `function(x)` over all `x` that were added."""
-
...
-        return RunningMean(self.function, self.total + self.function(x), self.count + 1)
+        self.total = self.total + self.function(x)
+        self.count = self.count + 1
+        return self


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


# %% exercise="running_mean" variant="a_jitted_helper" changes="changes_the_copy_and_returns_it"
+from functools import partial
+
+
+@partial(jax.jit, static_argnames="function")
+def added(function, total, count, x):
+    return total + function(x), count + 1
+
+
 @jax.tree_util.register_pytree_node_class
...
-    @jax.jit
...
-        self.total = self.total + self.function(x)
-        self.count = self.count + 1
-        return self
+        return RunningMean(self.function, *added(self.function, self.total, self.count, x))


# %% exercise="running_mean" misconception="self_is_changed_under_jit" met="jax-ml/jax#15817" changes="changes_the_copy_and_returns_it"
"""`add` returns `None`, so there is no new object to go on with. What a jitted method does not return is lost: its `self` is a copy that JAX made for the trace, and a change of this copy does not reach the caller's object."""
-        return self


# %% exercise="running_mean" misconception="changes_the_old_one" changes="changes_the_copy_and_returns_it"
"""After `add`, the old object has changed too: `add` sets attributes without `jax.jit` around it, so `self` is the caller's own object, not a copy."""
-    @jax.jit


# %% exercise="running_mean" misconception="no_jit" changes="solution"
"""Your numbers are right, but Python runs `function` for each number. Is there a `jax.jit` around `add`? Does each call make a new jitted function? It has no traces yet. Is a number static? Then each new number needs a new trace."""
     """The mean of `function(x)` over all `x` that were added."""
-
...
-    @jax.jit


# %% exercise="running_mean" misconception="count_is_static" changes="solution"
"""Your numbers are right, but `add` is traced again for each new `count`, because `count` is part of the structure. For `jit`, an object with another structure is an argument of another type."""
     """The mean of `function(x)` over all `x` that were added."""
-
...
-        return (self.total, self.count), self.function
+        return (self.total,), (self.function, self.count)
...
-    def tree_unflatten(cls, function, children):
-        return cls(function, *children)
+    def tree_unflatten(cls, aux_data, children):
+        return cls(aux_data[0], children[0], aux_data[1])


# %% exercise="running_mean" misconception="self_is_static" changes="no_jit"
"""Your numbers are right, but JAX traces again for each new object. Is `self` a static argument, or has each object a jitted function of its own? A static argument is a constant, so its numbers become part of the program."""
+from functools import partial
+
+
 @jax.tree_util.register_pytree_node_class
...
+    @partial(jax.jit, static_argnums=0)
     def add(self, x):


# %% exercise="running_mean" misconception="count_is_made_an_int" changes="solution"
"""Every `add` raises an error: your code asks for the number itself, as `int` and `float` do. While JAX traces, `total` and `count` are tracers: they stand for any number, and have no number of their own."""
     """The mean of `function(x)` over all `x` that were added."""
-
...
-        return RunningMean(self.function, self.total + self.function(x), self.count + 1)
+        count = int(self.count) + 1
+        return RunningMean(self.function, self.total + self.function(x), count)


# %% exercise="running_mean" misconception="function_is_a_child" changes="count_is_static"
"""Every call of `add` fails, and objects of different functions have one structure: `function` is not in aux_data. A function belongs there, because `jit` accepts numbers and arrays as leaves, but neither functions nor objects of a class that is not registered."""
-        return (self.total,), (self.function, self.count)
+        return (self.function, self.total, self.count), None
...
-        return cls(aux_data[0], children[0], aux_data[1])
+        return cls(*children)


# %% exercise="running_mean" misconception="returns_the_mean" changes="solution"
"""`add` returns a number, and you cannot call `add` on a number again. A jitted method can only pass on what it returns. So `add` should return the whole new state."""
     """The mean of `function(x)` over all `x` that were added."""
-
...
-        return RunningMean(self.function, self.total + self.function(x), self.count + 1)
+        return (self.total + self.function(x)) / (self.count + 1)


# %% exercise="running_mean" misconception="x_is_static" changes="no_jit"
"""Python runs `function` for each new number, and a tracer as `x` raises an error: `x` is a static argument. Then `x` is a constant of the program, and every number needs a new program."""
+from functools import partial
+
+
 @jax.tree_util.register_pytree_node_class
...
         return cls(function, *children)

+    @partial(jax.jit, static_argnames="x")


# %% exercise="running_mean" misconception="returns_a_tuple" changes="returns_the_mean"
"""`add` returns a tuple. To JAX that is another kind of node, and you cannot call `add` on it again. The task asks for a new `RunningMean`."""
-        return (self.total + self.function(x)) / (self.count + 1)
+        return self.total + self.function(x), self.count + 1


# %% exercise="running_mean" misconception="a_jitted_helper_and_a_changed_self" section="objects-that-change" changes="no_jit"
"""After `add`, the old object has changed too, although your helper is jitted. A method without `jit` around it gets the caller's own object as `self`, and setting its attributes changes this object."""
+from functools import partial
+
+
+@partial(jax.jit, static_argnums=0)
+def added(function, total, count, x):
+    return total + function(x), count + 1
+
+
 @jax.tree_util.register_pytree_node_class
...
-        return RunningMean(self.function, self.total + self.function(x), self.count + 1)
+        self.total, self.count = added(self.function, self.total, self.count, x)
+        return self


# %% exercise="running_mean" misconception="a_new_function_in_each_object" changes="returns_the_mean"
"""Your numbers are right, but Python runs `function` for each object again: the object that `add` returns holds another function. For JAX, two function objects are different, even with equal code."""
-        return (self.total + self.function(x)) / (self.count + 1)
+        function = self.function
+        return RunningMean(lambda x: function(x), self.total + function(x), self.count + 1)


# %% exercise="running_mean" misconception="the_count_is_not_handed_on" section="flatten-and-unflatten" changes="returns_the_mean"
"""The `count` of a new object is 0 again, so its mean is not a number. The new object gets only what you pass to its constructor; the default hides that the count is missing."""
-        return (self.total + self.function(x)) / (self.count + 1)
+        return RunningMean(self.function, self.total + self.function(x))


# %% exercise="running_mean" misconception="the_total_starts_again" changes="returns_the_mean"
"""Your mean knows only the last number, divided by the count of all. The new total has to hold the old one as well."""
-        return (self.total + self.function(x)) / (self.count + 1)
+        return RunningMean(self.function, self.function(x), self.count + 1)


# %% exercise="running_mean" misconception="numbers_in_aux_data" changes="count_is_static"
"""Every `add` raises an error. Are `total` and `count` in aux_data? Under `jit` the new numbers are tracers, and the structure of a result may not hold tracers. What changes in each call belongs among the children."""
-        return (self.total,), (self.function, self.count)
+        return (), (self.function, self.total, self.count)
...
-        return cls(aux_data[0], children[0], aux_data[1])
+        return cls(*aux_data)


# %% exercise="running_mean" misconception="the_function_is_an_argument" changes="no_jit"
"""Every `add` raises an error. Do you hand `function` to a jitted function as an ordinary argument? `jit` takes arrays and numbers as leaves; a function has to be static."""
+@jax.jit
+def added(function, total, count, x):
+    return total + function(x), count + 1
+
+
 @jax.tree_util.register_pytree_node_class
...
-        return RunningMean(self.function, self.total + self.function(x), self.count + 1)
+        return RunningMean(self.function, *added(self.function, self.total, self.count, x))


# %% exercise="running_mean" misconception="a_partial_in_each_object" met="jax-ml/jax#14183" changes="solution"
"""Your numbers are right, but two new objects of one function have different structures, so Python runs the function again: the constructor wraps it, for example with `functools.partial`, and each wrapper is another object. Keep the function as it is."""
+from functools import partial
+
+
 @jax.tree_util.register_pytree_node_class
...
     """The mean of `function(x)` over all `x` that were added."""
-
...
-        self.function, self.total, self.count = function, total, count
+        self.function, self.total, self.count = partial(function), total, count


# %% exercise="running_mean" misconception="no_node_any_more" section="a-class-of-your-own"
"""Your means are right, but JAX no longer sees a node: a whole `RunningMean` is one leaf, and a jitted function refuses it. The class is not in the registry. The task asks for a node, even where your own jitted function gets only numbers."""
from functools import partial


@partial(jax.jit, static_argnums=0)
def added(function, total, count, x):
    return total + function(x), count + 1


class RunningMean:
    """The mean of `function(x)` over all `x` that were added."""
    def __init__(self, function, total=0.0, count=0):
        self.function, self.total, self.count = function, total, count

    def add(self, x):
        return RunningMean(self.function, *added(self.function, self.total, self.count, x))

    def mean(self):
        return self.total / self.count


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


# %% exercise="history" misconception="flatten_cuts_off" met="jax-ml/jax#16170" changes="starter"
"""The shape of your leaf, or whether flatten works at all, depends on how full the history is. Flatten also runs on tracers and on other objects, and they have no numbers that flatten could use."""
-    """Room for `len(values)` values, of which the first `used` are filled."""
-


# %% exercise="history" misconception="used_is_static" changes="solution"
"""Your `used` is part of the structure. So for JAX a history with another `used` is of another type: `jax.tree.map` over two such histories fails, and `scan` refuses a state whose type changes."""
-    """Room for `len(values)` values, of which the first `used` are filled."""
-
...
-        return (self.values, self.used), None
+        return (self.values,), self.used
...
-    def tree_unflatten(cls, aux_data, children):
-        return cls(*children)
+    def tree_unflatten(cls, used, children):
+        return cls(*children, used)


# %% exercise="history" misconception="used_is_forgotten" changes="solution"
"""After a rebuild your `used` is 0 again. Unflatten gets only what flatten returned: the children and aux_data. The default of the constructor hides that `used` is missing."""
-    """Room for `len(values)` values, of which the first `used` are filled."""
-
...
-        return (self.values, self.used), None
+        return (self.values,), None


# %% exercise="history" misconception="used_is_not_handed_on" changes="solution"
"""After a rebuild your `used` is 0 again, though it is among the leaves. Unflatten gets `used` as a child. If unflatten does not pass it on, the constructor uses its default."""
-    """Room for `len(values)` values, of which the first `used` are filled."""
-
...
-    def tree_unflatten(cls, aux_data, children):
-        return cls(*children)
+    def tree_unflatten(cls, _, children):
+        return cls(children[0])


# %% exercise="history" misconception="used_is_guessed" changes="used_is_forgotten"
"""After a rebuild, your `used` is the number of values that are not 0. A filled place may hold a 0. And if a map puts in a string, unflatten cannot count anything."""
-    def tree_unflatten(cls, aux_data, children):
-        return cls(*children)
+    def tree_unflatten(cls, _, children):
+        (values,) = children
+        return cls(values, jnp.count_nonzero(values))


# %% exercise="history" misconception="used_is_made_an_int" section="leaves-that-are-no-arrays" changes="solution"
"""Under jit, or where a map puts in a string, your history cannot be rebuilt: your unflatten converts `used`. What JAX puts in need not be a number."""
-    """Room for `len(values)` values, of which the first `used` are filled."""
-
...
-        return cls(*children)
+        values, used = children
+        return cls(values, int(used))


# %% exercise="history" misconception="one_child_for_each_value" changes="flatten_cuts_off"
"""Your leaves are single numbers, as many as places are filled. A node may have any number of children. But this number is part of the structure, so it must not depend on `used`."""
-        return (self.values[: self.used],), len(self.values)
+        return tuple(self.values[: self.used]), len(self.values)
...
-        (filled,) = children
-        values = jnp.zeros(size).at[: len(filled)].set(filled)
-        return cls(values, len(filled))
+        values = jnp.zeros(size)
+        for place, child in enumerate(children):
+            values = values.at[place].set(child)
+        return cls(values, len(children))


# %% exercise="history" misconception="used_comes_first" changes="used_is_not_handed_on"
"""Your leaves come in another order: `used`, then the values. JAX takes the children in the order of your flatten."""
-        return (self.values, self.used), None
+        return (self.used, self.values), None
...
-        return cls(children[0])
+        used, values = children
+        return cls(values, used)


# %% exercise="history" misconception="zeros_in_the_empty_places" changes="used_is_forgotten"
"""Your flatten puts zeros into the empty places. The values should not change. And if JAX puts in a string, flatten cannot compute anything."""
-        return (self.values,), None
+        filled = jnp.arange(len(self.values)) < self.used
+        return (jnp.where(filled, self.values, 0), self.used), None
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="history" misconception="copied_into_zeros" section="leaves-that-are-no-arrays" changes="used_is_made_an_int"
"""Your rebuilt values are computed from those that JAX puts in: whole numbers become floats, and a string fails. Unflatten should store what it gets."""
-        return (self.values, self.used), None
+        return (self.values, self.used), len(self.values)
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, size, children):
...
-        return cls(values, int(used))
+        return cls(jnp.zeros(size).at[:].set(values), used)


# %% exercise="history" misconception="still_cut_off" changes="used_is_forgotten"
"""Your `used` is a child now, but the empty places are still cut off. The shape of a leaf may not depend on how full the history is; and under `jit`, `used` is a tracer, so you cannot use it in a slice."""
-        return (self.values,), None
+        return (self.values[: self.used], self.used), None
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="history" misconception="length_in_the_structure" section="leaves-that-are-no-arrays" changes="used_is_forgotten"
"""If JAX rebuilt a history with a number or `None`, it cannot be flattened again: your flatten asks for the length of the values. The value can be any object that JAX put in, and it need not have a length."""
-        return (self.values,), None
+        return (self.values, self.used), len(self.values)
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, size, children):


# %% exercise="history" misconception="each_place_is_a_child" changes="used_is_not_handed_on"
"""Your leaves are single numbers, one for each place, and then `used`. The task asks for two children: the whole array is one of them. A leaf need not be a single number: a whole array is one leaf."""
-        return (self.values, self.used), None
+        return (*self.values, self.used), None
...
-        return cls(children[0])
+        *values, used = children
+        return cls(jnp.stack(values), used)


# %% exercise="history" misconception="one_container_is_the_child" changes="used_is_not_handed_on"
"""A history has one child instead of two: a container that holds both. For JAX, this container is one more level between your object and its leaves."""
-        return (self.values, self.used), None
+        return ((self.values, self.used),), None
...
-        return cls(children[0])
+        return cls(*children[0])


# %% exercise="history" misconception="the_array_is_converted" section="leaves-that-are-no-arrays" changes="used_is_not_handed_on"
"""A rebuilt history cannot hold a string or `None` in the place of the array, or NumPy's array becomes one of JAX. Unflatten should store what it gets."""
-        return cls(children[0])
+        values, used = children
+        return cls(jnp.asarray(values), used)


# %% exercise="history" misconception="both_children_become_arrays" section="leaves-that-are-no-arrays" changes="used_is_not_handed_on"
"""A rebuilt history holds JAX's arrays, whatever was put in, or it cannot be rebuilt at all: your unflatten makes an array of each child. JAX puts in other objects too, such as `None` or a string: store what comes."""
-        return cls(children[0])
+        values, used = children
+        return cls(jnp.asarray(values), jnp.asarray(used, dtype=jnp.int32))


# %% exercise="history" misconception="shape_and_dtype_in_the_structure" section="leaves-that-are-no-arrays" changes="used_is_forgotten"
"""Your flatten fails where JAX has put something else than an array into a history: it asks for an attribute that only arrays have, such as `shape` or `dtype`. An array brings its shape and its dtype with it; the structure need not."""
-        return (self.values,), None
+        return (self.values, self.used), (self.values.shape, str(self.values.dtype))
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="history" misconception="an_array_of_used" section="leaves-that-are-no-arrays" changes="used_is_forgotten"
"""Your flatten makes an array of `used`. JAX may put a string or `None` in its place, and then take the history apart again: flatten should return what the object holds."""
-        return (self.values,), None
+        return (self.values, jnp.asarray(self.used)), None
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="history" misconception="zeros_beyond_the_used_places" changes="used_is_forgotten"
"""Your flatten puts zeros into the empty places. The values should not change, even where they are not used. And JAX may put in a number or a string, which has no shape: flatten cannot compute with it."""
-        return (self.values,), None
+        places = jnp.arange(self.values.shape[0])
+        return (jnp.where(places < self.used, self.values, 0), self.used), None
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="history" misconception="used_is_made_an_int_outside_jit" section="leaves-that-are-no-arrays" changes="used_is_not_handed_on"
"""Your history cannot be rebuilt where JAX puts a string or `None` in the place of `used`: your unflatten converts everything that is not a tracer. JAX may put in any object, outside `jit` too, so unflatten should store what it gets."""
-        return cls(children[0])
+        values, used = children
+        return cls(values, used if isinstance(used, jax.core.Tracer) else int(used))


# %% exercise="clipped" starter=True
@jax.custom_vjp
def clipped(tree, bounds):
    """Return `tree`; the gradient that comes back is clipped."""
    return tree


def forward(tree, bounds):
    return tree, bounds


def backward(bounds, g):
    low, high = bounds
    return jnp.clip(g, low, high), None, None


clipped.defvjp(forward, backward)


# %% exercise="clipped" variant="leaves_and_unflatten" changes="solution"
-    def clip(leaf):
-        return None if leaf.dtype == jax.dtypes.float0 else jnp.clip(leaf, *bounds)
-
-    return jax.tree.map(clip, g), None
+    leaves, structure = jax.tree.flatten(g)
+    leaves = [g if g.dtype == jax.float0 else g.clip(*bounds) for g in leaves]
+    return jax.tree.unflatten(structure, leaves), (0.0, 0.0)


# %% exercise="clipped" variant="leaf_by_leaf"
@jax.custom_vjp
def clipped_leaf(leaf, bounds):
    return leaf


def clipped_leaf_backward(bounds, g):
    return jnp.clip(g, *bounds), None


clipped_leaf.defvjp(lambda leaf, bounds: (leaf, bounds), clipped_leaf_backward)


def clipped(tree, bounds):
    def one(leaf):
        is_float = jnp.issubdtype(jnp.result_type(leaf), jnp.floating)
        return clipped_leaf(leaf, bounds) if is_float else leaf

    return jax.tree.map(one, tree)


# %% exercise="clipped" variant="by_the_tree"
@jax.custom_vjp
def clipped(tree, bounds):
    return tree


def clipped_forward(tree, bounds):
    return clipped(tree, bounds), (tree, *bounds)


def clipped_backward(residuals, g):
    tree, low, high = residuals

    def clip(leaf, g):
        if jnp.issubdtype(jnp.result_type(leaf), jnp.integer):
            return jnp.zeros_like(leaf)
        return jnp.where(g < low, low, jnp.where(g > high, high, g))

    return [jax.tree.map(clip, tree, g), (None, None)]


clipped.defvjp(clipped_forward, clipped_backward)


# %% exercise="clipped" misconception="an_entry_for_each_bound" met="jax-ml/jax#8356" changes="solution"
"""JAX refuses what your rule returns. It needs a tuple with one entry for each argument of `clipped`, so two. `bounds` is one argument, although it is a tuple. Its entry is a tuple of two, or one `None`."""
-    return jax.tree.map(clip, g), None
+    return jax.tree.map(clip, g), None, None


# %% exercise="clipped" misconception="g_is_one_array" changes="starter"
"""Your rule works where `tree` is one array or one number, and fails for a container. `g` has the structure of what `clipped` returns: here it is a tree like `tree`."""
-    return jnp.clip(g, low, high), None, None
+    return jnp.clip(g, low, high), None


# %% exercise="clipped" misconception="ints_are_clipped_too" changes="g_is_one_array"
"""Your rule works for trees of floats, and fails where a leaf is an int. An int has no slope, so its gradient has the dtype `float0`, and JAX computes nothing with that. Your rule has to leave such leaves out."""
-    return jnp.clip(g, low, high), None
+    return jax.tree.map(lambda leaf: jnp.clip(leaf, low, high), g), None


# %% exercise="clipped" misconception="only_float32_is_clipped" changes="solution"
"""Your gradients of `float16` leaves are not clipped: what is no `float32` is an int for your rule. There are other floats, such as `float16` and `bfloat16`; what has no gradient is `float0`."""
-        return None if leaf.dtype == jax.dtypes.float0 else jnp.clip(leaf, *bounds)
+        return leaf if leaf.dtype != jnp.float32 else jnp.clip(leaf, *bounds)


# %% exercise="clipped" misconception="a_list_of_leaves" changes="solution"
"""Your rule works where `tree` is a flat list, and JAX refuses it for other trees. The entry for `tree` needs the structure of `tree`: the same classes, and the same keys."""
-    return jax.tree.map(clip, g), None
+    return [clip(leaf) for leaf in jax.tree.leaves(g)], None


# %% exercise="clipped" misconception="none_for_a_tree_with_ints" changes="solution"
"""As soon as one leaf is an int, the gradient of the whole tree is zero in your answer. In a rule, `None` means zero for everything in its place. Only the int leaf has no gradient: the floats beside it have one."""
-    return jax.tree.map(clip, g), None
+    ints = any(leaf.dtype == jax.dtypes.float0 for leaf in jax.tree.leaves(g))
+    return None if ints else jax.tree.map(clip, g), None


# %% exercise="clipped" misconception="none_for_the_tree" changes="solution"
"""All your gradients are zero, and no line raises an error. In a rule, `None` means zero, for the whole argument. The entry for `tree` comes from `g`."""
-    return jax.tree.map(clip, g), None
+    return None, None


# %% exercise="clipped" misconception="g_comes_back_as_it_is" changes="solution"
"""Your gradient for `tree` is not clipped: it is `g` itself. The structure is right, but numbers outside the bounds are still in it."""
-    return jax.tree.map(clip, g), None
+    return g, None


# %% exercise="clipped" misconception="the_values_are_clipped" changes="solution"
"""Your result changes: the values of `tree` are clipped, and the gradient is not. `clipped` returns `tree` as it is. The bounds are for the gradient on its way back."""
-    return tree, bounds
+    return jax.tree.map(lambda leaf: jnp.clip(leaf, *bounds), tree), bounds
...
-    return jax.tree.map(clip, g), None
+    return g, None


# %% exercise="clipped" misconception="values_and_gradient" changes="solution"
"""Your result changes: you clip the values of `tree`, too. `clipped` returns `tree` as it is. The bounds are for the gradient on its way back."""
-    return tree, bounds
+    return jax.tree.map(lambda leaf: jnp.clip(leaf, *bounds), tree), bounds


# %% exercise="clipped" misconception="from_minus_high" changes="solution"
"""You clip from `-high` to `high`, as `optax.clip` does with its one number. The rule has two bounds: each number below `low` becomes `low`."""
-        return None if leaf.dtype == jax.dtypes.float0 else jnp.clip(leaf, *bounds)
+        return None if leaf.dtype == jax.dtypes.float0 else jnp.clip(leaf, -bounds[1], bounds[1])


# %% exercise="clipped" misconception="the_tree_in_place_of_g" changes="by_the_tree"
"""Your gradient holds the values of `tree`, clipped. The rule should clip `g`, the gradient that comes back. The residuals are only what the forward rule saved."""
-    return [jax.tree.map(clip, tree, g), (None, None)]
+    return [jax.tree.map(clip, tree, tree), (None, None)]


# %% exercise="clipped" misconception="bounds_are_their_own_gradient" changes="solution"
"""The gradient for `bounds` is `bounds` itself in your answer. What a rule returns is taken as the gradient, and the prompt asks for 0."""
-    return jax.tree.map(clip, g), None
+    return jax.tree.map(clip, g), bounds


# %% exercise="clipped" misconception="bounds_are_not_differentiable" changes="solution"
"""Your rule works only while JAX does not trace `bounds`: not in the gradient for them, nor as an argument of a jitted function. JAX refuses tracers in the place of an argument of `nondiff_argnums`. Such an argument is for what is no number at all."""
-@jax.custom_vjp
+from functools import partial
+
+
+@partial(jax.custom_vjp, nondiff_argnums=(1,))
...
-    return tree, bounds
+    return tree, None
...
-def backward(bounds, g):
+def backward(bounds, residuals, g):
...
-    return jax.tree.map(clip, g), None
+    return (jax.tree.map(clip, g),)


# %% exercise="clipped" misconception="numpy_clips" changes="solution"
"""Your rule works, but not under `jit`. There, the numbers in `g` and `bounds` are tracers, which NumPy and Python's `if`, `min` and `max` cannot read. Functions of `jax.numpy` can."""
-        return None if leaf.dtype == jax.dtypes.float0 else jnp.clip(leaf, *bounds)
+        return None if leaf.dtype == jax.dtypes.float0 else np.clip(np.asarray(leaf), *bounds)


# %% exercise="clipped" misconception="only_the_upper_bound" changes="solution"
"""Numbers below `low` are not clipped in the gradients that you return. There are two bounds, and each cuts one side."""
-        return None if leaf.dtype == jax.dtypes.float0 else jnp.clip(leaf, *bounds)
+        return None if leaf.dtype == jax.dtypes.float0 else jnp.minimum(leaf, bounds[1])


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


# %% exercise="temperature" misconception="init_runs_once" section="who-calls-init" changes="starter"
"""Each map resets the temperature, and the dict of the caller changes. `__init__` runs whenever unflatten calls it, not only when you make a model. And `__init__` writes into the dict that the caller gave."""
     """A dict of parameters; a new model has temperature 1.0."""
-


# %% exercise="temperature" misconception="a_copy_at_each_rebuild" section="who-calls-init" changes="init_runs_once"
"""The dict of the caller does not change now, but the temperature is still 1.0 after every map. It is set again at each rebuild, in `__init__` or in unflatten, and overwrites what JAX put in."""
-        params["temperature"] = 1.0
-        self.params = params
+        copied = jax.tree.map(lambda leaf: leaf, params)
+        self.params = {**copied, "temperature": 1.0}


# %% exercise="temperature" misconception="a_flag_without_a_copy" changes="a_flag_and_a_copy"
"""A rebuilt model keeps its temperature, but the dict of the caller changes with the model. You fixed when the default is written. The second bug is left: it is still written into the caller's dict."""
-import copy
-
-
...
-        self.params = {**copy.deepcopy(params), "temperature": 1.0} if new else params
+        if new:
+            params["temperature"] = 1.0
+        self.params = params


# %% exercise="temperature" misconception="only_the_factory_sets_it" changes="init_runs_once"
"""`Model(...)` makes a model without the temperature, and keeps the caller's own dict. If another function sets the temperature, callers of `Model(...)` still get a model without it."""
-        params["temperature"] = 1.0
...
         self.name = name
+
+    @classmethod
+    def create(cls, params, name):
+        model = cls(params, name)
+        model.params["temperature"] = 1.0
+        return model


# %% exercise="temperature" misconception="beside_the_params" changes="solution"
"""The temperature is not among the `params` of your model. Code that reads `params`, or maps over `params`, does not find it elsewhere."""
     """A dict of parameters; a new model has temperature 1.0."""
-
...
-        copied = jax.tree.map(lambda leaf: leaf, params)
-        self.params = {**copied, "temperature": 1.0}
+        self.params = jax.tree.map(lambda leaf: leaf, params)
+        self.temperature = 1.0
...
-        return (self.params,), self.name
+        return (self.params, self.temperature), self.name
...
-        (model.params,) = children
+        model.params, model.temperature = children


# %% exercise="temperature" misconception="only_where_it_is_missing" section="who-calls-init" changes="init_runs_once"
"""A new model keeps a temperature that the caller's dict has, and a rebuild fails where JAX puts in `None`: you set the temperature only where it is missing, and each rebuild does this too. Unflatten should only store what it gets, which need not be a dict."""
-        params["temperature"] = 1.0
-        self.params = params
+        self.params = jax.tree.map(lambda leaf: leaf, params)
+        self.params.setdefault("temperature", 1.0)


# %% exercise="temperature" misconception="a_dict_is_expected" section="leaves-that-are-no-arrays" changes="solution"
"""Your model cannot be rebuilt when JAX puts something else in the place of its dict: a rebuild still uses it as a dict. Unflatten should only store what it gets."""
     """A dict of parameters; a new model has temperature 1.0."""
-
...
-        copied = jax.tree.map(lambda leaf: leaf, params)
-        self.params = {**copied, "temperature": 1.0}
+        self.params = jax.tree.map(lambda leaf: leaf, params)
+        self.params["temperature"] = 1.0
...
-        (model.params,) = children
+        model.params = dict(children[0])


# %% exercise="temperature" misconception="only_the_outer_dict" section="who-calls-init" changes="solution"
"""The model has a dict of its own, but the dicts and lists inside it are still the caller's. `{**params}` and `dict(params)` copy only the outermost dict of the tree: its children are the same objects."""
     """A dict of parameters; a new model has temperature 1.0."""
-
...
-        copied = jax.tree.map(lambda leaf: leaf, params)
-        self.params = {**copied, "temperature": 1.0}
+        self.params = {**params, "temperature": 1.0}


# %% exercise="temperature" misconception="temperature_is_static" section="flatten-and-unflatten" changes="a_dict_is_expected"
"""Your temperature is not a leaf, so a map does not change it. What is in aux_data belongs to the structure, and a map changes leaves only."""
-        return (self.params,), self.name
+        params = dict(self.params)
+        temperature = params.pop("temperature")
+        return (params,), (self.name, temperature)
...
-    def tree_unflatten(cls, name, children):
+    def tree_unflatten(cls, aux, children):
...
-        model.params = dict(children[0])
-        model.name = name
+        model.name, temperature = aux
+        model.params = {**children[0], "temperature": temperature}


# %% exercise="temperature" misconception="no_name" section="who-calls-init" changes="a_dict_is_expected"
"""A rebuilt model has no `name`. An object made without `__init__` has only the attributes that unflatten sets. The static values come to unflatten in aux_data."""
-        model.params = dict(children[0])
-        model.name = name
+        (model.params,) = children


# %% exercise="temperature" misconception="puts_it_back" section="leaves-that-are-no-arrays" changes="a_dict_is_expected"
"""After a map, the temperature is right, but a model cannot be rebuilt when JAX puts something else in the place of its dict: your unflatten takes the temperature out of the dict, or calls the constructor and puts it back. Unflatten should store what it gets."""
-        model = object.__new__(cls)
-        model.params = dict(children[0])
-        model.name = name
+        (params,) = children
+        model = cls(params, name)
+        model.params["temperature"] = params["temperature"]


# %% exercise="temperature" misconception="the_callers_temperature_wins" changes="solution"
"""A new model keeps a temperature that the caller's dict has. A new model starts at 1.0, whatever `params` says. In `{**one, **other}`, and in `setdefault`, it matters which of the two comes last or is there already."""
     """A dict of parameters; a new model has temperature 1.0."""
-
...
-        self.params = {**copied, "temperature": 1.0}
+        self.params = {"temperature": 1.0, **copied}


# %% exercise="temperature" misconception="copied_after_the_change" changes="only_the_outer_dict"
"""The caller's dict still gets a temperature: the copy is made after the entry was written. First copy, then write into the copy."""
-        self.params = {**params, "temperature": 1.0}
+        params["temperature"] = 1.0
+        self.params = jax.tree.map(lambda leaf: leaf, params)


# %% exercise="temperature" misconception="the_temperature_is_made_a_float" section="leaves-that-are-no-arrays" changes="init_runs_once"
"""Your model cannot be rebuilt with a tracer, a string or something else in the place of its dict or its temperature: a rebuild makes a float of the old temperature. Unflatten should store what it gets."""
-    def __init__(self, params, name):
-        params["temperature"] = 1.0
-        self.params = params
+    def __init__(self, params, name, temperature=1.0):
+        self.params = jax.tree.map(lambda leaf: leaf, params)
+        self.params["temperature"] = float(temperature)
...
-        return cls(*children, name)
+        (params,) = children
+        return cls(params, name, params["temperature"])


# %% exercise="temperature" misconception="resets_every_dict" changes="init_runs_once"
"""Your model can be rebuilt with anything, but after a map its temperature is 1.0 again: it is set wherever a dict comes. JAX puts in a dict too: the one with the new leaves."""
-        params["temperature"] = 1.0
-        self.params = params
-        self.name = name
+        self.params, self.name = params, name
+        if isinstance(params, dict):
+            self.params = jax.tree.map(lambda leaf: leaf, params)
+            self.params["temperature"] = 1.0


# %% exercise="temperature" misconception="tuples_are_not_opened" section="objects-that-change" changes="only_the_outer_dict"
"""Your copy opens only dicts and lists. So what is inside a tuple is still the caller's: a tuple cannot change, but the dicts in it can. `jax.tree.map` opens every container that JAX knows, and keeps its type."""
+def copied(tree):
+    if isinstance(tree, dict):
+        return {key: copied(child) for key, child in tree.items()}
+    if isinstance(tree, list):
+        return [copied(child) for child in tree]
+    return tree
+
+
 @jax.tree_util.register_pytree_node_class
...
-        self.params = {**params, "temperature": 1.0}
+        self.params = copied(params)
+        self.params["temperature"] = 1.0


# %% exercise="temperature" misconception="lists_are_not_opened" section="objects-that-change" changes="only_the_outer_dict"
"""Your copy does not go into lists and tuples: what stands inside them is still the caller's. `jax.tree.map` opens every container that JAX knows, and keeps its type."""
+def copied(tree):
+    if isinstance(tree, dict):
+        return {key: copied(child) for key, child in tree.items()}
+    return tree
+
+
 @jax.tree_util.register_pytree_node_class
...
-        self.params = {**params, "temperature": 1.0}
+        self.params = {**copied(params), "temperature": 1.0}


# %% exercise="temperature" misconception="the_children_are_not_unpacked" section="flatten-and-unflatten" changes="solution"
"""In a rebuilt model, `params` is a tuple with the object that JAX put in. Unflatten gets all children in one sequence, even where there is only one: unpack it."""
     """A dict of parameters; a new model has temperature 1.0."""
-
...
-        (model.params,) = children
+        model.params = children


# %% exercise="temperature" misconception="namedtuples_become_tuples" section="objects-that-change" changes="only_the_outer_dict"
"""In your model a namedtuple has become a plain tuple: `tuple(...)` does not keep the type of what it copies. `jax.tree.map` keeps the type of every node."""
+def copied(tree):
+    if isinstance(tree, dict):
+        return {key: copied(child) for key, child in tree.items()}
+    if isinstance(tree, list):
+        return [copied(child) for child in tree]
+    if isinstance(tree, tuple):
+        return tuple(copied(child) for child in tree)
+    return tree
+
+
 @jax.tree_util.register_pytree_node_class
...
-        self.params = {**params, "temperature": 1.0}
+        self.params = copied(params)
+        self.params["temperature"] = 1.0


# %% exercise="temperature" misconception="a_namedtuple_takes_a_list" section="objects-that-change" changes="only_the_outer_dict"
"""Your constructor fails where `params` holds a namedtuple. A tuple takes one sequence, a namedtuple one argument for each field. `jax.tree.map` copies every kind of node, and keeps its type."""
+def copied(tree):
+    if isinstance(tree, dict):
+        return {key: copied(child) for key, child in tree.items()}
+    if isinstance(tree, (list, tuple)):
+        return type(tree)(copied(child) for child in tree)
+    return jax.tree.map(lambda leaf: leaf, tree)
+
+
 @jax.tree_util.register_pytree_node_class
...
-        self.params = {**params, "temperature": 1.0}
+        self.params = {**copied(params), "temperature": 1.0}


# %% exercise="temperature" misconception="each_rebuild_copies" changes="only_the_outer_dict"
"""A rebuilt model does not hold the very object that JAX put in, but a copy of it, or a container around it. Copy only what a caller passes in. Unflatten should store the object that it gets."""
+from copy import deepcopy
+
+
 @jax.tree_util.register_pytree_node_class
...
-        self.params = {**params, "temperature": 1.0}
+        self.params = {**deepcopy(params), "temperature": 1.0}
...
-        (model.params,) = children
-        model.name = name
+        model.params, model.name = deepcopy(children[0]), name


# %% exercise="temperature" misconception="one_level_more_with_lists" section="objects-that-change" changes="only_the_outer_dict"
"""Your model has its own copies of the dicts and lists directly in `params`, but a dict or list further inside is still the caller's. A copy such as `.copy()` makes one new container with the same contents. `jax.tree.map` goes down through every level."""
-        self.params = {**params, "temperature": 1.0}
+        self.params = {
+            key: child.copy() if isinstance(child, (dict, list)) else child
+            for key, child in params.items()
+        }
+        self.params["temperature"] = 1.0


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


# %% exercise="fork" variant="without_the_constructor" changes="solution"
     """A value, and any number of branches, which are forks too."""
-
...
-        value, *branches = children
-        return cls(value, branches)
+        fork = object.__new__(cls)
+        fork.value, *fork.branches = children
+        return fork


# %% exercise="fork" misconception="a_default_for_all" section="objects-that-change" changes="solution"
"""A new fork has branches that were added to another fork: all forks without branches share one list. Python makes a default such as `branches=[]` only once, so the forks are not separate trees."""
-
-    def __init__(self, value, branches=()):
+    def __init__(self, value, branches=[]):
...
-        self.branches = list(branches)
+        self.branches = branches


# %% exercise="fork" misconception="the_default_list_is_filled" section="objects-that-change" changes="a_default_for_all"
"""After a rebuild, your forks contain themselves. Your unflatten fills a list that other forks share, such as the default of `branches=[]`, which Python makes only once. Give each fork a list of its own: make a new list in the constructor."""
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):
...
-        return cls(value, branches)
+        fork = cls(value)
+        for branch in branches:
+            fork.grow(branch)
+        return fork


# %% exercise="fork" misconception="keeps_the_callers_list" met="extropic-ai/torx#17" section="objects-that-change" changes="solution"
"""When your fork grows, the list of the caller grows too. Your fork keeps the caller's own list, so a change of one changes the other, and the fork's children with it."""
-
-    def __init__(self, value, branches=()):
+    def __init__(self, value, branches=None):
...
-        self.branches = list(branches)
+        self.branches = [] if branches is None else branches


# %% exercise="fork" misconception="branches_have_to_be_forks" section="who-calls-init" changes="solution"
"""Your constructor refuses branches that are not forks. For a caller this may be useful. But JAX also builds forks, with a tracer, a string, a bool or any other object in the place of a whole branch."""
     """A value, and any number of branches, which are forks too."""
-
...
     def __init__(self, value, branches=()):
+        if not all(isinstance(branch, Fork) for branch in branches):
+            raise TypeError("branches are forks")
...
-        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
-        for i, branch in enumerate(self.branches):
-            children.append((jax.tree_util.SequenceKey(i), branch))
-        return children, None
+        keys = map(jax.tree_util.SequenceKey, range(len(self.branches)))
+        value = (jax.tree_util.GetAttrKey("value"), self.value)
+        return [value, *zip(keys, self.branches)], None


# %% exercise="fork" misconception="no_keys" changes="solution"
"""Your paths read `<flat index 0>`. If a class is registered without keys, its children have no names, so JAX numbers them."""
-@jax.tree_util.register_pytree_with_keys_class
+@jax.tree_util.register_pytree_node_class
...
     """A value, and any number of branches, which are forks too."""
-
...
-    def tree_flatten_with_keys(self):
-        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
-        for i, branch in enumerate(self.branches):
-            children.append((jax.tree_util.SequenceKey(i), branch))
-        return children, None
+    def tree_flatten(self):
+        return (self.value, *self.branches), None


# %% exercise="fork" misconception="branches_are_one_child"
"""Your paths have one step too many: the list of branches is one child of yours. So JAX adds one step for the list, and another step for the place in the list."""
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


# %% exercise="fork" misconception="flattens_all_levels" met="google-deepmind/chex#62, jax-ml/jax#26053" section="flatten-and-unflatten" changes="without_the_constructor"
"""Paths into the branches are too short, or miss the branches: your flatten goes down to the leaves. Flatten should return only the node's own children. JAX flattens the children by itself."""
     def tree_flatten_with_keys(self):
+        leaves, structure = jax.tree.flatten(self.branches)
...
-        for i, branch in enumerate(self.branches):
-            children.append((jax.tree_util.SequenceKey(i), branch))
-        return children, None
+        children += [(jax.tree_util.SequenceKey(i), leaf) for i, leaf in enumerate(leaves)]
+        return children, structure
...
-        fork = object.__new__(cls)
-        fork.value, *fork.branches = children
-        return fork
+        value, *leaves = children
+        return cls(value, jax.tree.unflatten(aux_data, leaves))


# %% exercise="fork" misconception="children_stay_a_tuple" section="who-calls-init" changes="keeps_the_callers_list"
"""A fork that JAX rebuilt cannot grow. Unflatten gets the children in a tuple. If you need a list, make one."""
         self.branches = [] if branches is None else branches
+        if isinstance(branches, list):
+            self.branches = list(branches)
...
-        value, *branches = children
-        return cls(value, branches)
+        return cls(children[0], children[1:])


# %% exercise="fork" misconception="the_value_is_counted_too" changes="solution"
"""Your branches are numbered from 1. You choose the number in a path: JAX uses the key that you give to each child. The task numbers the branches alone, without the value."""
     """A value, and any number of branches, which are forks too."""
-
...
-        children = [(jax.tree_util.GetAttrKey("value"), self.value)]
-        for i, branch in enumerate(self.branches):
-            children.append((jax.tree_util.SequenceKey(i), branch))
-        return children, None
+        children = [self.value, *self.branches]
+        keys = [jax.tree_util.SequenceKey(place) for place in range(len(children))]
+        keys[0] = jax.tree_util.GetAttrKey("value")
+        return list(zip(keys, children)), None
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="fork" misconception="branches_are_static" met="joeryjoery/jit_env#18" section="flatten-and-unflatten" changes="the_value_is_counted_too"
"""The values of your branches are not leaves: the branches are not among your children. What is in aux_data belongs to the structure, and JAX does not look inside."""
-        children = [self.value, *self.branches]
-        keys = [jax.tree_util.SequenceKey(place) for place in range(len(children))]
-        keys[0] = jax.tree_util.GetAttrKey("value")
-        return list(zip(keys, children)), None
+        return [(jax.tree_util.GetAttrKey("value"), self.value)], tuple(self.branches)
...
-    def tree_unflatten(cls, _, children):
-        value, *branches = children
-        return cls(value, branches)
+    def tree_unflatten(cls, branches, children):
+        return cls(children[0], branches)


# %% exercise="fork" misconception="grow_makes_a_new_fork" section="objects-that-change" changes="solution"
"""After `grow`, the fork has no new branch. A fork or a list that `grow` makes is another object: `grow` should change the fork itself."""
     """A value, and any number of branches, which are forks too."""
-
...
-        self.branches.append(branch)
+        return Fork(self.value, self.branches + [branch])
...
-        for i, branch in enumerate(self.branches):
-            children.append((jax.tree_util.SequenceKey(i), branch))
+        for place, branch in enumerate(self.branches):
+            children.append((jax.tree_util.SequenceKey(place), branch))
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="fork" misconception="the_list_is_in_aux_data" section="objects-that-change" changes="without_the_constructor"
"""After a map, the old fork has changed too: the two forks share one list, by way of aux_data. JAX does not copy aux_data."""
-        for i, branch in enumerate(self.branches):
-            children.append((jax.tree_util.SequenceKey(i), branch))
-        return children, None
+        for place, branch in enumerate(self.branches):
+            children.append((jax.tree_util.SequenceKey(place), branch))
+        return children, self.branches
...
-    def tree_unflatten(cls, aux_data, children):
-        fork = object.__new__(cls)
-        fork.value, *fork.branches = children
+    def tree_unflatten(cls, branches, children):
+        fork = cls(children[0])
+        fork.branches = branches
+        fork.branches[:] = children[1:]


# %% exercise="fork" misconception="value_becomes_an_array" section="leaves-that-are-no-arrays" changes="without_the_constructor"
"""Your fork holds an array where another value was put in, and it cannot hold a tree or `None`: the value is converted to an array. JAX puts in other objects too."""
-        self.value = value
+        self.value = jnp.asarray(value)
...
-        for i, branch in enumerate(self.branches):
-            children.append((jax.tree_util.SequenceKey(i), branch))
+        children += [(jax.tree_util.SequenceKey(i), b) for i, b in enumerate(self.branches)]
...
-    def tree_unflatten(cls, aux_data, children):
-        fork = object.__new__(cls)
-        fork.value, *fork.branches = children
-        return fork
+    def tree_unflatten(cls, aux, children):
+        return cls(children[0], children[1:])


# %% exercise="fork" misconception="one_list_in_the_class" section="objects-that-change" changes="solution"
"""A new fork has branches that were added to another fork: all forks share one list. What stands in the body of the class belongs to the class, unless `__init__` gives each fork its own."""
     """A value, and any number of branches, which are forks too."""
+    branches = []
...
-    def __init__(self, value, branches=()):
+    def __init__(self, value, branches=None):
...
-        self.branches = list(branches)
+        if branches is not None:
+            self.branches = list(branches)
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="fork" misconception="the_value_is_static" section="flatten-and-unflatten" changes="branches_have_to_be_forks"
"""Your value is not a leaf: a map does not change it, and a value that is a tree is not opened. It is not among the children. What is in aux_data belongs to the structure."""
-        if not all(isinstance(branch, Fork) for branch in branches):
-            raise TypeError("branches are forks")
...
-        value = (jax.tree_util.GetAttrKey("value"), self.value)
-        return [value, *zip(keys, self.branches)], None
+        return list(zip(keys, self.branches)), self.value
...
-    def tree_unflatten(cls, aux_data, children):
-        value, *branches = children
-        return cls(value, branches)
+    def tree_unflatten(cls, value, children):
+        return cls(value, children)


# %% exercise="fork" misconception="none_for_a_value_is_left_out" section="flatten-and-unflatten" changes="the_value_is_counted_too"
"""A fork with the value `None` loses it: after a map, its first branch is its value. Your flatten leaves out a value that is `None`. `None` has no leaves, but it is a child like any other, and unflatten takes the first child for the value."""
-        children = [self.value, *self.branches]
-        keys = [jax.tree_util.SequenceKey(place) for place in range(len(children))]
-        keys[0] = jax.tree_util.GetAttrKey("value")
-        return list(zip(keys, children)), None
+        children = [
+            (jax.tree_util.SequenceKey(i), branch) for i, branch in enumerate(self.branches)
+        ]
+        if self.value is not None:
+            children.insert(0, (jax.tree_util.GetAttrKey("value"), self.value))
+        return children, None
...
-        value, *branches = children
+        value, *branches = children or [None]


# %% exercise="fork" misconception="other_objects_are_values" section="flatten-and-unflatten" changes="without_the_constructor"
"""Your fork goes wrong where its value is a fork too, or where JAX puts another object in the place of a branch: your unflatten tells value and branches apart by their class. The first child is the value, whatever it is."""
-    def tree_unflatten(cls, aux_data, children):
-        fork = object.__new__(cls)
-        fork.value, *fork.branches = children
-        return fork
+    def tree_unflatten(cls, _, children):
+        values = [child for child in children if not isinstance(child, Fork)]
+        branches = [child for child in children if isinstance(child, Fork)]
+        return cls(values[0] if values else None, branches)


# %% exercise="fork" misconception="the_list_of_the_class_is_filled" section="objects-that-change" changes="solution"
"""Your forks contain themselves, so they are no trees: they fill one list that all of them share. Does `branches = []` stand in the body of the class? This list belongs to the class. Give each fork a list of its own: `self.branches = []` in `__init__`."""
     """A value, and any number of branches, which are forks too."""
+    branches = []
...
-        self.branches = list(branches)
+        for branch in branches:
+            self.grow(branch)
...
-    def tree_unflatten(cls, aux_data, children):
+    def tree_unflatten(cls, _, children):


# %% exercise="fork" misconception="none_is_no_branch" section="flatten-and-unflatten" changes="solution"
"""A branch gets lost where JAX puts `None` in its place: your code leaves out branches that are `None`. `None` is a child like any other: it has no leaves, but it keeps its place."""
     """A value, and any number of branches, which are forks too."""
-
...
-        self.branches = list(branches)
+        self.branches = [branch for branch in branches if branch is not None]


# %% exercise="fork" misconception="flatten_fills_the_branches" section="objects-that-change" changes="the_value_is_counted_too"
"""Each flatten puts the value into the fork's own `branches`, so the next one finds a branch too many. `children = self.branches` is no copy but the same list. `[self.value, *self.branches]` makes a new one."""
-    """A value, and any number of branches, which are forks too."""
...
     def grow(self, branch):
+        """Add a branch, in place."""
...
-        children = [self.value, *self.branches]
-        keys = [jax.tree_util.SequenceKey(place) for place in range(len(children))]
-        keys[0] = jax.tree_util.GetAttrKey("value")
+        keys = [jax.tree_util.GetAttrKey("value")]
+        keys += [jax.tree_util.SequenceKey(i) for i in range(len(self.branches))]
+        children = self.branches
+        children.insert(0, self.value)
...
-        value, *branches = children
-        return cls(value, branches)
+        return cls(children[0], children[1:])
