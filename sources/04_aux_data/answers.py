# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="cache_key" variant="shape_and_dtype"
def cache_key(tree):
    leaves, structure = jax.tree.flatten(tree)
    return structure, [(np.shape(leaf), np.asarray(leaf).dtype) for leaf in leaves]


# %% exercise="cache_key" variant="two_tuples"
def cache_key(tree):
    shapes = tuple(map(jnp.shape, jax.tree.leaves(tree)))
    dtypes = tuple(str(jax.typeof(leaf).dtype) for leaf in jax.tree.leaves(tree))
    return jax.tree.structure(tree), shapes, dtypes


# %% exercise="cache_key" misconception="structure_only"
"""Your key does not change when the shape or the dtype of a leaf changes. A program is compiled for given shapes and dtypes, so both belong in the key."""


def cache_key(tree):
    return jax.tree.structure(tree)


# %% exercise="cache_key" misconception="leaves_only"
"""Your key knows the leaves, but not the structure: a list and a tuple get one key, and so do two nodes with different metadata. `jax.tree.flatten` gives the structure too."""


def cache_key(tree):
    return [jax.typeof(leaf) for leaf in jax.tree.leaves(tree)]


# %% exercise="cache_key" misconception="values_in_the_key" changes="solution"
"""Your key holds the values of the leaves: two calls with other numbers have different keys. `jit` would trace for each new number. Only the type of a leaf belongs in the key."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, str(leaves), [jax.typeof(leaf) for leaf in leaves]


# %% exercise="cache_key" misconception="arrays_in_the_key" changes="solution"
"""Comparing two of your keys raises an error, or compares the numbers: your key holds the leaves themselves. For two arrays, `==` gives an array, and not True or False. Put shape and dtype into the key, and not the leaf."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, leaves


# %% exercise="cache_key" misconception="shapes_only" changes="solution"
"""Two leaves of one shape and different dtypes get one key. The dtype belongs in the key as well."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, [jnp.shape(leaf) for leaf in leaves]


# %% exercise="cache_key" misconception="dtypes_only" changes="solution"
"""Two leaves of one dtype and different shapes get one key. The shape belongs in the key as well."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, [jax.typeof(leaf).dtype for leaf in leaves]


# %% exercise="cache_key" misconception="types_in_any_order" changes="solution"
"""Two trees that hold the same types in different places get one key. Keep the order of the leaves: a set, or a sorted list, loses it."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, sorted(str(jax.typeof(leaf)) for leaf in leaves)


# %% exercise="cache_key" misconception="number_of_leaves" changes="solution"
"""Your key has the leaves and their number, but a list and a tuple of two leaves get one key, as do two nodes with different metadata. The structure knows more than the number of leaves."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure.num_leaves, structure.num_nodes, [jax.typeof(leaf) for leaf in leaves]


# %% exercise="cache_key" misconception="leaves_have_a_shape" changes="solution"
"""Your function fails where a leaf is a Python number: it has no `shape` and no `dtype`. For `jit` such a leaf has both. `jax.typeof` takes any leaf."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]


# %% exercise="cache_key" misconception="structure_comes_first" changes="solution"
"""Your function raises `TypeError` for every tree: it goes through the structure as if it were the list. `jax.tree.flatten` returns the leaves first, and then the structure."""
-    leaves, structure = jax.tree.flatten(tree)
+    structure, leaves = jax.tree.flatten(tree)


# %% exercise="cache_key" misconception="one_type_of_the_whole_list" changes="solution"
"""Your function raises `TypeError` for every tree: `jax.typeof` gets the list of leaves. Call it on one leaf after the other."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, jax.typeof(leaves)


# %% exercise="cache_key" misconception="pythons_types" changes="solution"
"""Two leaves of different shapes or dtypes get one key. `type(leaf)` is the class of the object, the same for all arrays. `jax.typeof` gives shape and dtype."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, [type(leaf) for leaf in leaves]


# %% exercise="cache_key" misconception="the_first_leaf_only" changes="solution"
"""Your key looks at the first leaf only. Where another leaf changes its shape or dtype, the key stays the same. `jit` looks at each leaf."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, jax.typeof(leaves[0])


# %% exercise="cache_key" misconception="equal_only_to_itself" changes="solution"
"""No two of your keys are equal, not even for one tree. A `map` and a generator are equal only to themselves, whatever they give. Make a list or a tuple."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    return structure, map(jax.typeof, leaves)


# %% exercise="cache_key" misconception="nothing_returned" changes="solution"
"""All your keys are equal: your function returns `None`. Return the pair."""
-    return structure, [jax.typeof(leaf) for leaf in leaves]
+    key = structure, [jax.typeof(leaf) for leaf in leaves]


# %% exercise="rate_at" variant="from_the_top"
def rate_at(step):
    return jnp.where(step >= 100, 0.001, jnp.where(step >= 10, 0.01, 0.1))


# %% exercise="rate_at" variant="by_index"
def rate_at(step):
    rates = jnp.array([0.1, 0.01, 0.001])
    return rates[(step >= 10) + 1 * (step >= 100)]


# %% exercise="rate_at" variant="by_select"
def rate_at(step):
    return jnp.select([step < 10, step < 100], [0.1, 0.01], 0.001)


# %% exercise="rate_at" misconception="python_if"
"""Your function works with an int, but raises an error under `jit`. A Python `if`, an `and` and `10 <= step < 100` ask the tracer for its value, and it has none. `jnp.where` takes a traced condition."""


def rate_at(step):
    if step < 10:
        return 0.1
    return 0.01 if step < 100 else 0.001


# %% exercise="rate_at" misconception="two_rates"
"""From step 100 on, your rate is too high. It should fall a second time, to 0.001."""


def rate_at(step):
    return jnp.where(step < 10, 0.1, 0.01)


# %% exercise="rate_at" misconception="tracers_are_added"
"""For an int your rates are right. Under `jit` the second fall is missing: `True + True` is 2 in Python, but two boolean arrays, and so two tracers, add up to `True`. `jnp.where` chooses between numbers."""


def rate_at(step):
    falls = (step >= 10) + (step >= 100)
    return 0.1 * 0.1**falls


# %% exercise="rate_at" misconception="rates_the_wrong_way_round"
"""Your early steps get the small rate, and the later ones the large one. `jnp.where(condition, one, other)` gives `one` where the condition is True."""


def rate_at(step):
    return jnp.where(step < 10, 0.001, jnp.where(step < 100, 0.01, 0.1))


# %% exercise="rate_at" misconception="the_wide_condition_first"
"""Below step 10 your rate is 0.01. Step 5 is below 100 too, and the outer `jnp.where` decides first: ask for the smaller range first."""


def rate_at(step):
    return jnp.where(step < 100, 0.01, jnp.where(step < 10, 0.1, 0.001))


# %% exercise="rate_at" misconception="makes_an_int_of_the_step"
"""Your function works with an int, but raises an error under `jit`: a tracer cannot become a Python int. Compute with `step` as it is."""


def rate_at(step):
    return 0.1 ** (1 + (int(step) >= 10) + (int(step) >= 100))


# %% exercise="rate_at" misconception="nothing_returned"
"""Your function returns `None`. Return the rate."""


def rate_at(step):
    jnp.where(step < 10, 0.1, jnp.where(step < 100, 0.01, 0.001))


# %% exercise="rate_at" misconception="late_at_step_100"
"""At step 100 your rate is still 0.01. "From step 100 on" includes step 100: is it `<` or `<=`, `>` or `>=`?"""


def rate_at(step):
    return jnp.where(step < 10, 0.1, jnp.where(step <= 100, 0.01, 0.001))


# %% exercise="rate_at" misconception="late_at_step_10"
"""At step 10 your rate is still 0.1. "From step 10 on" includes step 10: is it `<` or `<=`, `>` or `>=`?"""


def rate_at(step):
    return jnp.where(step <= 10, 0.1, jnp.where(step < 100, 0.01, 0.001))


# %% exercise="rate_at" misconception="goes_on_falling"
"""From step 1000 on, your rate is too small: it falls once more. The rate falls twice, and then stays 0.001."""


def rate_at(step):
    return 0.1 ** (1.0 + (step >= 10) + (step >= 100) + (step >= 1000))


# %% exercise="rate_at" misconception="falls_every_ten_steps"
"""Your rate falls every ten steps, so it is far too small soon. It falls at step 10 and at step 100 only."""


def rate_at(step):
    return 0.1 * 0.1 ** (step // 10)


# %% exercise="rate_at" misconception="falls_at_each_step"
"""Your rate falls a little at each step. Between steps 10 and 100 it should not change: it has three values only."""


def rate_at(step):
    return 0.1 * 0.1 ** (step / 10)


# %% exercise="rate_at" misconception="rates_are_added"
"""Your early rates are sums, such as 0.111. Where step 5 is below 10, it is below 100 too, so two or three parts count. Choose one rate: put one `jnp.where` into the other."""


def rate_at(step):
    return jnp.where(step < 10, 0.1, 0) + jnp.where(step < 100, 0.01, 0) + 0.001


# %% exercise="rate_at" misconception="the_last_two_are_swapped"
"""From step 10 on, your two small rates are swapped. `jnp.where(condition, one, other)` gives `one` where the condition is True."""


def rate_at(step):
    return jnp.where(step < 10, 0.1, jnp.where(step < 100, 0.001, 0.01))


# %% exercise="rate_at" misconception="where_without_an_else"
"""`jnp.where` raises an error: it needs a value for True and one for False. The third argument can be another `jnp.where`."""


def rate_at(step):
    return jnp.where(step < 10, 0.1, jnp.where(step < 100, 0.01))


# %% exercise="rate_at" misconception="numpys_where"
"""Your function works with an int, but raises an error under `jit`. A function of NumPy and an index of a list need a number, and a tracer has none yet. `jnp.where` takes a traced condition."""


def rate_at(step):
    return np.where(step < 10, 0.1, np.where(step < 100, 0.01, 0.001))


# %% exercise="split" variant="by_leaves"
def split(tree, mask):
    leaves, structure = jax.tree.flatten(tree)
    chosen = jax.tree.leaves(mask)
    first = [leaf if yes else None for leaf, yes in zip(leaves, chosen)]
    second = [None if yes else leaf for leaf, yes in zip(leaves, chosen)]
    return jax.tree.unflatten(structure, first), jax.tree.unflatten(structure, second)


# %% exercise="split" variant="twice_the_same_map"
def split(tree, mask):
    def only(wanted):
        return jax.tree.map(lambda leaf, yes: leaf if yes is wanted else None, tree, mask)

    return [only(True), only(False)]


# %% exercise="split" misconception="swapped"
"""Your two trees are swapped. The first should hold the leaves where the mask is True."""


def split(tree, mask):
    first = jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)
    second = jax.tree.map(lambda leaf, yes: None if yes else leaf, tree, mask)
    return second, first


# %% exercise="split" misconception="one_tree"
"""You return one tree, the chosen leaves. The others are needed too, or the model cannot be put together again. Return two trees."""


def split(tree, mask):
    return jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)


# %% exercise="split" misconception="false_in_the_gaps"
"""Your gaps hold `False` instead of `None`. `False` is a leaf: `jit` would trace it, and you could not tell a gap from a leaf."""


def split(tree, mask):
    first = jax.tree.map(lambda leaf, yes: yes and leaf, tree, mask)
    second = jax.tree.map(lambda leaf, yes: not yes and leaf, tree, mask)
    return first, second


# %% exercise="split" misconception="multiplies_by_the_mask"
"""Your gaps hold zeros or empty strings instead of `None`, and some leaves change their type: you multiply by the mask. A product with False is a leaf too. Return the leaf itself, or `None`."""


def split(tree, mask):
    first = jax.tree.map(lambda leaf, yes: leaf * yes, tree, mask)
    second = jax.tree.map(lambda leaf, yes: leaf * (not yes), tree, mask)
    return first, second


# %% exercise="split" misconception="the_whole_tree_as_the_rest"
"""Your second tree still holds the chosen leaves. Put `None` in their places. If you write `~yes`: for a bool of Python that is -1 or -2, which count as true. Use `not yes`."""


def split(tree, mask):
    return jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask), tree


# %% exercise="split" misconception="lists_of_leaves"
"""Your two results are lists of leaves. Without the structure, nobody knows where a leaf belongs. Return two trees like the given one."""


def split(tree, mask):
    pairs = list(zip(jax.tree.leaves(tree), jax.tree.leaves(mask)))
    return [leaf for leaf, yes in pairs if yes], [leaf for leaf, yes in pairs if not yes]


# %% exercise="split" misconception="one_map_for_both"
"""You return one tree, with a pair at each leaf. Two trees need two maps."""


def split(tree, mask):
    return jax.tree.map(lambda leaf, yes: (leaf, None) if yes else (None, leaf), tree, mask)


# %% exercise="split" misconception="asks_the_leaf"
"""Leaves such as `0`, `False` and `""` are missing, and an array raises an error: your code asks whether the leaf itself is true. Only the mask decides."""


def split(tree, mask):
    first = jax.tree.map(lambda leaf, yes: leaf if yes and leaf else None, tree, mask)
    second = jax.tree.map(lambda leaf, yes: leaf if not yes and leaf else None, tree, mask)
    return first, second


# %% exercise="split" misconception="the_first_level_only"
"""Your function works for a flat dict only. Leaves also lie deeper, and in other containers. `jax.tree.map` reaches all of them."""


def split(tree, mask):
    first = {name: leaf if mask[name] else None for name, leaf in tree.items()}
    second = {name: None if mask[name] else leaf for name, leaf in tree.items()}
    return first, second


# %% exercise="split" misconception="the_mask_as_the_function"
"""Your function raises `TypeError` at the first leaf. A mask is a tree: it can neither be called nor be an index. And `jnp.where` takes numbers and arrays, no `None` and no string. Map over the tree and the mask together; a Python `if` can ask the mask."""


def split(tree, mask):
    first = jax.tree.map(lambda leaf: leaf if mask(leaf) else None, tree)
    second = jax.tree.map(lambda leaf: None if mask(leaf) else leaf, tree)
    return first, second


# %% exercise="split" misconception="the_mask_as_an_index"
"""Your function raises `TypeError`. An array can be indexed by a mask, a tree cannot. Map over the tree and the mask together."""


def split(tree, mask):
    return tree[mask], tree[~mask]


# %% exercise="split" misconception="the_mask_as_a_whole" changes="solution"
"""Your first tree has all leaves, and the second has none: you ask the whole mask, and a container with something in it is true. Map over the tree and the mask together, so that each leaf meets its own True or False."""
-    chosen = jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)
-    others = jax.tree.map(lambda leaf, yes: None if yes else leaf, tree, mask)
+    chosen = jax.tree.map(lambda leaf: leaf if mask else None, tree)
+    others = jax.tree.map(lambda leaf: None if mask else leaf, tree)


# %% exercise="split" misconception="arrays_whatever_the_mask" changes="solution"
"""Your first tree has the arrays, whatever the mask says. In our model the mask chooses them; another mask may choose other leaves. Only the mask decides."""
-    chosen = jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)
-    others = jax.tree.map(lambda leaf, yes: None if yes else leaf, tree, mask)
+    chosen = jax.tree.map(lambda leaf: leaf if hasattr(leaf, "shape") else None, tree)
+    others = jax.tree.map(lambda leaf: None if hasattr(leaf, "shape") else leaf, tree)


# %% exercise="split" misconception="zeros_in_the_gaps" changes="solution"
"""Your gaps hold zeros. A zero is a leaf: `jit` would trace it, and you could not tell a gap from a leaf that is 0. `None` is not a leaf."""
-    chosen = jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)
-    others = jax.tree.map(lambda leaf, yes: None if yes else leaf, tree, mask)
+    chosen = jax.tree.map(lambda leaf, yes: leaf if yes else 0, tree, mask)
+    others = jax.tree.map(lambda leaf, yes: 0 if yes else leaf, tree, mask)


# %% exercise="split" misconception="numpys_where" changes="solution"
"""Your trees hold arrays of NumPy in the place of the leaves, also in the gaps: `np.where` makes an array of whatever it gets. Return the leaf itself, or `None`."""
-    chosen = jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)
-    others = jax.tree.map(lambda leaf, yes: None if yes else leaf, tree, mask)
+    chosen = jax.tree.map(lambda leaf, yes: np.where(yes, leaf, None), tree, mask)
+    others = jax.tree.map(lambda leaf, yes: np.where(yes, None, leaf), tree, mask)


# %% exercise="split" misconception="chosen_twice" changes="solution"
"""Both your trees hold the chosen leaves. In the second map the mask has to count the other way round: the leaf where it is False."""
-    others = jax.tree.map(lambda leaf, yes: None if yes else leaf, tree, mask)
+    others = jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)


# %% exercise="split" misconception="the_mask_comes_first" changes="solution"
"""Your trees hold the mask's True and False, or an array raises an error. The function of `jax.tree.map` gets its arguments in the order of the trees: first the leaf of the first tree."""
-    chosen = jax.tree.map(lambda leaf, yes: leaf if yes else None, tree, mask)
-    others = jax.tree.map(lambda leaf, yes: None if yes else leaf, tree, mask)
+    chosen = jax.tree.map(lambda leaf, yes: leaf if yes else None, mask, tree)
+    others = jax.tree.map(lambda leaf, yes: None if yes else leaf, mask, tree)


# %% exercise="split" misconception="writes_into_the_tree"
"""Your function changes the caller's tree, and takes flat dicts only. Python does not copy a dict when you call a function with it. `jax.tree.map` makes a new tree, of any form."""


def split(tree, mask):
    others = dict(tree)
    for name, yes in mask.items():
        if yes:
            others[name] = None
        else:
            tree[name] = None
    return tree, others


# %% exercise="split" misconception="opens_lists_tuples_and_dicts"
"""Your function opens dicts, lists and tuples, but not every node: a namedtuple raises an error, and an object of a registered class counts as a leaf. `jax.tree.map` knows them all."""


def split(tree, mask):
    if isinstance(tree, dict):
        pairs = {name: split(child, mask[name]) for name, child in tree.items()}
        return tuple({name: pair[side] for name, pair in pairs.items()} for side in (0, 1))
    if isinstance(tree, (list, tuple)):
        pairs = [split(child, yes) for child, yes in zip(tree, mask)]
        return tuple(type(tree)([pair[side] for pair in pairs]) for side in (0, 1))
    return (tree, None) if mask else (None, tree)


# %% exercise="split" misconception="keys_are_left_out"
"""Your two trees are flat dicts without the keys of the other tree, and your function fails for trees that are not dicts. Put `None` in the place of a missing leaf: then both trees keep the structure, and can be put together again. `jax.tree.map` works for any tree."""


def split(tree, mask):
    chosen = {key: leaf for key, leaf in tree.items() if mask[key]}
    return chosen, {key: leaf for key, leaf in tree.items() if not mask[key]}


# %% exercise="merge" variant="the_second_first" changes="solution"
-        return other if one is None else one
+        return one if other is None else other


# %% exercise="merge" variant="by_leaves"
def merge(first, second):
    def is_none(node):
        return node is None

    ones, structure = jax.tree.flatten(first, is_leaf=is_none)
    others = jax.tree.leaves(second, is_leaf=is_none)
    leaves = [other if one is None else one for one, other in zip(ones, others)]
    return jax.tree.unflatten(structure, leaves)


# %% exercise="merge" misconception="without_is_leaf" met="patrick-kidger/equinox#753, patrick-kidger/equinox#110"
"""JAX raises an error: a `None` in one tree meets a leaf in the other. For JAX a `None` is a node without children. Tell it with `is_leaf` to stop there."""


def merge(first, second):
    return jax.tree.map(lambda one, other: other if one is None else one, first, second)


# %% exercise="merge" misconception="false_leaves_get_lost"
"""Leaves such as `0`, `False` and `""` get lost, and an array raises an error. `one or other` asks whether the leaf is true. Compare with `is None`."""


def merge(first, second):
    return jax.tree.map(
        lambda one, other: one or other, first, second, is_leaf=lambda node: node is None
    )


# %% exercise="merge" misconception="the_second_on_top"
"""Your result is the second tree: its gaps stay empty. Choose leaf by leaf."""


def merge(first, second):
    return second


# %% exercise="merge" misconception="the_first_only"
"""Your result has the leaves of the first tree only, and its gaps stay empty. Take the other leaf where there is a `None`; and `is_leaf` should be true for `None` only, not for every node."""


def merge(first, second):
    return jax.tree.map(lambda one, other: one, first, second, is_leaf=lambda node: node is None)


# %% exercise="merge" misconception="picks_the_gap" changes="false_leaves_get_lost"
"""Your result has a `None` where there should be a leaf: you take the other leaf where the first is not `None`."""
-        lambda one, other: one or other, first, second, is_leaf=lambda node: node is None
+        lambda one, other: other if one is not None else one,
+        first,
+        second,
+        is_leaf=lambda node: node is None,


# %% exercise="merge" misconception="dicts_only"
"""Your function works for dicts only. A tree may also be a list, a tuple, a bare leaf or a registered class. `jax.tree.map` knows them all."""


def merge(first, second):
    if isinstance(first, dict):
        return {name: merge(first[name], second[name]) for name in first}
    return second if first is None else first


# %% exercise="merge" misconception="adds_the_leaves" changes="solution"
"""Your function raises `TypeError`: you add a leaf and a `None`, and `None` is not a zero. Return the one that is not `None`."""
-        return other if one is None else one
+        return one + other


# %% exercise="merge" misconception="the_first_level_only"
"""Your function works for a flat dict only. Leaves also lie deeper, and in other containers. `jax.tree.map` reaches all of them."""


def merge(first, second):
    return {name: second[name] if leaf is None else leaf for name, leaf in first.items()}


# %% exercise="merge" misconception="dicts_are_joined"
"""Your result has the entries of the second tree, even where they are `None`; trees that are not dicts raise an error. When two dicts are joined, the last one wins. Choose leaf by leaf."""


def merge(first, second):
    return {**first, **second}


# %% exercise="merge" misconception="compared_with_none" changes="solution"
"""An array raises an error: you compare with `== None` or `!= None`. For an array that gives an array, which is neither true nor false. Python has only one `None`, so ask with `is`."""
-        return other if one is None else one
+        return other if one == None else one


# %% exercise="merge" misconception="where_instead_of_if" changes="solution"
"""`jnp.where` raises an error: it takes numbers and arrays, not `None`, and a leaf may be a string. A Python `if` is enough: whether a leaf is `None` is known."""
-        return other if one is None else one
+        return jnp.where(one is None, other, one)


# %% exercise="merge" misconception="leaves_one_after_the_other"
"""Your result has leaves in wrong places: it puts the leaves of both trees one after the other, and then fills the structure with them. A leaf belongs where it stands in its own tree."""


def merge(first, second):
    leaves = jax.tree.leaves(first) + jax.tree.leaves(second)
    structure = jax.tree.structure(first, is_leaf=lambda node: node is None)
    leaves += [None] * (structure.num_leaves - len(leaves))
    return structure.unflatten(leaves)


# %% exercise="merge" misconception="gaps_are_filled_in_order"
"""Where both trees have a `None`, your result has a leaf of another place there: you fill each gap with the next leaf of the second tree. Look at the same place of both trees."""


def merge(first, second):
    others = iter(jax.tree.leaves(second))
    places, structure = jax.tree.flatten(first, is_leaf=lambda node: node is None)
    return structure.unflatten([next(others, None) if one is None else one for one in places])


# %% exercise="merge" misconception="writes_into_the_first"
"""Your function changes the caller's first tree, and takes flat dicts only. Python does not copy a dict when you call a function with it. `jax.tree.map` makes a new tree, of any form."""


def merge(first, second):
    for name, leaf in second.items():
        if first[name] is None:
            first[name] = leaf
    return first


# %% exercise="merge" misconception="only_arrays_count" changes="solution"
"""A leaf of the first tree gets lost where it is no array. In our model the first tree has arrays only; but any tree may be split, by any mask. Ask whether there is a `None`."""
-        return other if one is None else one
+        return one if isinstance(one, (jax.Array, np.ndarray)) else other


# %% exercise="merge" misconception="opens_lists_tuples_and_dicts" changes="dicts_only"
"""Your function opens dicts, lists and tuples, but not every node: a namedtuple raises an error, and an object of a registered class counts as a leaf. `jax.tree.map` knows them all."""
         return {name: merge(first[name], second[name]) for name in first}
+    if isinstance(first, (list, tuple)):
+        return type(first)([merge(one, other) for one, other in zip(first, second)])
     return second if first is None else first


# %% exercise="sort_fields" starter=True
fields = {
    "A": ...,  # weights, a float32 matrix that is trained
    "B": ...,  # the activation, a function such as jax.nn.relu
    "C": ...,  # the learning rate, a float; you want to try fifty of them
    "D": ...,  # the number of blocks, an int; a Python `for` loop runs over range(blocks)
    "E": ...,  # the number of steps so far, an int; each call adds 1
    "F": ...,  # the layer's name, a string
    "G": ...,  # the mean of all batches so far, an array: not trained, new after each call
    "H": ...,  # a table of 1,000 numbers, an array; it never changes
    "I": ...,  # use_bias, a bool; a Python `if` asks for it
    "J": ...,  # a random key, made by jax.random.key
}


# %% exercise="sort_fields" variant="by_sets"
fields = {name: "leaf" if name in "ACEGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" variant="in_capitals"
fields = dict.fromkeys("ACEGHJ", "Leaf") | dict.fromkeys("BDFI", " AUX ")


# %% exercise="sort_fields" misconception="constant_arrays_are_aux" met="patrick-kidger/equinox#798" section="arrays-in-aux-data"
"""An array does not belong in aux_data, even if it never changes. jit compares aux_data with `==`. For two arrays `==` gives an array, and not True or False: a call with another array raises."""
fields = {name: "leaf" if name in "ACEGJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="hyperparameters_are_aux" section="hyperparameters-aux-or-leaf"
"""In aux_data, each of its fifty values is another type of node for jit, and so another trace and another compilation. A hyperparameter need not be a part of the program."""
fields = {name: "leaf" if name in "AEGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="counters_are_aux" section="a-counter-in-aux-data"
"""This is a plain int, and it is not trained. But it is new at each call. A new value in aux_data is a new trace, so training would compile at every step."""
fields = {name: "leaf" if name in "ACGHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="ints_stay_ints" section="ints-under-jit"
"""Under jit, an int that is a leaf does not stay an int: each leaf becomes a tracer. Python's `range` cannot use a tracer, because a tracer has no value yet."""
fields = {name: "aux" if name in "BFI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="bools_stay_bools" met="patrick-kidger/equinox#1036" section="ints-under-jit"
"""Under jit, a bool that is a leaf does not stay a bool: each leaf becomes a tracer. Python's `if` cannot use a tracer, because a tracer is neither True nor False yet."""
fields = {name: "aux" if name in "BDF" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="functions_are_leaves" met="patrick-kidger/equinox#149, patrick-kidger/equinox#361"
"""As a leaf, the activation becomes an argument of a compiled program. Such a program takes arrays and numbers. When a leaf is a function, jit raises `TypeError`."""
fields = {name: "aux" if name in "DFI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="texts_are_leaves" met="jax-ml/jax#3045, pmelchior/scarlet2#131"
"""A string may stand in a tree as a leaf, and `jax.tree.map` takes it. But under jit leaves become arguments of a compiled program, and there a string raises `TypeError`."""
fields = {name: "aux" if name in "BDI" else "leaf" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="statistics_are_aux"
"""It gets no gradient, but it is new after each call. A new value in aux_data is a new trace. A leaf is traced, so its value may change from call to call."""
fields = {name: "leaf" if name in "ACEHJ" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="keys_are_aux"
"""A key looks like a setting. But each draw needs a new key, and a new value in aux_data is a new trace. A key is a JAX array, so it can be a leaf."""
fields = {name: "leaf" if name in "ACEGH" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="only_the_trained_are_leaves" met="patrick-kidger/equinox#214, pmelchior/scarlet2#121, patrick-kidger/equinox#798"
"""A field that no gradient trains can be a leaf all the same: a leaf is traced, so its value may change from call to call."""
fields = {name: "leaf" if name in "AH" else "aux" for name in "ABCDEFGHIJ"}


# %% exercise="sort_fields" misconception="weights_are_aux"
"""In aux_data, the weights would be a part of the program. Then `jax.grad` gives no gradient for the weights, and jit cannot compare arrays with `==`."""
fields = {name: "leaf" if name in "CEGHJ" else "aux" for name in "ABCDEFGHIJ"}


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


# %% exercise="predict_traces" misconception="aux_is_ignored" met="jax-ml/jax#1984, jax-ml/jax#33043" section="part-of-the-type"
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


# %% exercise="predict_traces" misconception="types_in_aux_count" section="equal-but-not-the-same"
"""2 is one trace for each type of the factor. For a leaf, int and float are two dtypes. For JAX, aux_data has no dtype. JAX compares it with Python's `==` only, and in Python `2 == 2.0`."""
predictions = dict(A=1, B=2, C=2, D=2, E=5, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="a_counter_is_harmless" section="a-counter-in-aux-data"
"""1 would be right if the value of the counter did not matter. But each new value in aux_data is another type of node."""
predictions = dict(A=1, B=2, C=2, D=1, E=1, F=3, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="equal_code_is_equal" met="jax-ml/jax#14743" section="functions-in-aux-data"
"""1 would be right if functions that do the same were equal. JAX compares the functions in aux_data with `==`: two functions are equal only if they are the same object, and each run of a `lambda` makes a new one."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=1, G=2, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="nan_equals_nan" section="functions-in-aux-data"
"""1 would be right if the two values were equal. They look the same in print. But JAX compares them with `==`: try `==` in Python."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=1, H=2, I=2, J=1)


# %% exercise="predict_traces" misconception="shapes_do_not_count" section="two-kinds-of-field"
"""1 would be right if the shape did not matter. The values of an array may change, but JAX makes a compiled program for one shape of each leaf."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=1, I=2, J=1)


# %% exercise="predict_traces" misconception="numbers_are_numbers" section="two-kinds-of-field"
"""1 would be right if jit treated all numbers alike. But for jit, a Python number that is a leaf has a dtype, like an array: a float needs another program than a whole number."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=1, J=1)


# %% exercise="predict_traces" misconception="compared_by_identity" section="part-of-the-type"
"""2 would be right if JAX asked whether the tuples are the same object. They are two objects. But JAX compares aux_data with `==`, and two tuples are equal when their items are equal."""
predictions = dict(A=1, B=2, C=2, D=1, E=5, F=3, G=2, H=2, I=2, J=2)


# %% exercise="predict_traces" misconception="the_first_trace_does_not_count" section="part-of-the-type"
"""This is one too few. A new jitted function has an empty cache, so its first call is a trace like any other."""
predictions = dict(A=0, B=1, C=1, D=0, E=4, F=2, G=1, H=1, I=1, J=0)


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


# %% exercise="stale_options" variant="frozen_set" changes="solution"
     """A weight, and options: `scale` is a number, `negate` is True or False."""
-
...
-        return (self.w,), tuple(sorted(self.options.items()))
+        return [self.w], frozenset(self.options.items())
...
-        return cls(*children, dict(aux))
+        return cls(children[0], dict(aux))


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


# %% exercise="stale_options" variant="a_dict_with_a_hash" changes="solution"
+class HashableDict(dict):
+    def __hash__(self):
+        return hash(frozenset(self.items()))
+
+
 @register_pytree_node_class
...
-        return (self.w,), tuple(sorted(self.options.items()))
+        return (self.w,), HashableDict(self.options)
...
-        return cls(*children, dict(aux))
+        return cls(*children, aux)


# %% exercise="stale_options" misconception="the_dict_itself" changes="starter"
"""jit uses the options of its first call again and again. Your aux_data is the net's own dict, or a view of it. jit keeps the aux_data of the first call, and compares the next aux_data with it: a change of the dict changes both, so they are always equal."""
     """A weight, and options: `scale` is a number, `negate` is True or False."""
-


# %% exercise="stale_options" misconception="a_copy_without_hash" section="equality-and-hash" changes="solution"
"""Your aux_data has no hash. A list and a dict have no hash, and a copy of a dict is a dict. JAX's documentation asks for aux_data with a hash, and `static_argnums` fails without it."""
     """A weight, and options: `scale` is a number, `negate` is True or False."""
-
...
-        return (self.w,), tuple(sorted(self.options.items()))
+        return (self.w,), dict(self.options)


# %% exercise="stale_options" misconception="picture_taken_at_the_start" changes="a_copy_without_hash"
"""Your aux_data has a hash, but jit still does not see a change of the options. Either you copy them once, when the net is made; or the aux_data still holds the net's own dict, in a wrapper. What jit keeps and compares has to be a copy that `tree_flatten` makes."""
         self.options = options
+        self.picture = tuple(sorted(options.items()))
...
-        return (self.w,), dict(self.options)
+        return (self.w,), self.picture


# %% exercise="stale_options" misconception="order_of_keys_counts" section="equality-and-hash" changes="a_copy_without_hash"
"""Equal options do not share a trace when their keys were set in another order. Two such dicts are equal, but tuples or strings that keep the order of their items are not."""
-        return (self.w,), dict(self.options)
+        return (self.w,), tuple(self.options.items())


# %% exercise="stale_options" misconception="options_are_leaves" section="ints-under-jit" changes="frozen_set"
"""Your options are leaves now, so jit turns them into tracers, also bools and ints. A Python `if` cannot use a tracer, and a string cannot be an argument of a compiled program."""
-        return [self.w], frozenset(self.options.items())
+        return (self.w, self.options), None
...
-        return cls(children[0], dict(aux))
+        return cls(*children)


# %% exercise="stale_options" misconception="never_equal" section="functions-in-aux-data" changes="frozen_set"
"""jit sees each change, but it also traces at each call where no option has changed. Your flatten makes a new object that is equal only to itself."""
+class Picture:
+    def __init__(self, options):
+        self.options = dict(options)
+
+
 @register_pytree_node_class
...
-        return [self.w], frozenset(self.options.items())
+        return (self.w,), Picture(self.options)
...
-        return cls(children[0], dict(aux))
+        return cls(*children, dict(aux.options))


# %% exercise="stale_options" misconception="options_stay_a_tuple" changes="the_dict_itself"
"""Your nets fail after they are rebuilt: then their options are no dict. jit rebuilds each node before your method runs, and unflatten has to make a dict of the aux_data."""
-        return (self.w,), self.options
+        return (self.w,), tuple(sorted(self.options.items()))


# %% exercise="stale_options" misconception="only_the_two_known_options" changes="frozen_set"
"""Your rebuilt nets have `scale` and `negate` only. An option with another name is lost, and jit does not see its changes. It has to be in aux_data too."""
-        return [self.w], frozenset(self.options.items())
+        return (self.w,), (self.options["scale"], self.options["negate"])
...
-        return cls(children[0], dict(aux))
+        return cls(*children, dict(zip(["scale", "negate"], aux)))


# %% exercise="stale_options" misconception="sorted_by_values" changes="a_copy_without_hash"
"""Your `tree_flatten` fails when the options hold a string and a number: you sort by the values, and Python cannot sort a string and a number. Sort by the keys alone."""
-        return (self.w,), dict(self.options)
+        return (self.w,), tuple(sorted(self.options.items(), key=lambda item: item[1]))


# %% exercise="stale_options" misconception="sorted_apart" changes="frozen_set"
"""In a rebuilt net, values belong to the wrong keys; with a string among the values, flatten fails. You sort the keys and the values separately. A key and its value have to stay together."""
-        return [self.w], frozenset(self.options.items())
+        return (self.w,), (tuple(sorted(self.options)), tuple(sorted(self.options.values())))
...
-        return cls(children[0], dict(aux))
+        return cls(*children, dict(zip(*aux)))


# %% exercise="stale_options" misconception="options_come_first" changes="solution"
"""Your net works until it is rebuilt: then options and `w` have changed places. Unflatten gets the aux_data first, but your constructor takes `w` first."""
     """A weight, and options: `scale` is a number, `negate` is True or False."""
-
...
-        return cls(*children, dict(aux))
+        return cls(dict(aux), *children)


# %% exercise="stale_options" misconception="the_tuple_of_children" changes="options_come_first"
"""In a rebuilt net, `w` is a tuple with the array in it. Unflatten gets the children as a sequence, even where there is one child only: it has to be unpacked."""
-        return cls(dict(aux), *children)
+        return cls(children, dict(aux))


# %% exercise="stale_options" misconception="values_are_not_compared" changes="frozen_set"
"""jit sees when an option is added or deleted, but not when its value changes, although a rebuilt net has the right values. So your aux_data carries the values, and its `==` looks at the names only. jit sees only what `==` compares."""
+class Names(tuple):
+    pass
+
+
 @register_pytree_node_class
...
-        return [self.w], frozenset(self.options.items())
+        names = Names(sorted(self.options))
+        names.values = [self.options[name] for name in names]
+        return (self.w,), names
...
-        return cls(children[0], dict(aux))
+        return cls(*children, dict(zip(aux, aux.values)))


# %% exercise="old_answer" starter=True
class Model:
    """A factor, and a function that is applied to the product.

    >>> model = Model(2.0, jnp.abs)
    >>> model.apply(np.float32([-1, 3])).tolist()
    [2.0, 6.0]
    >>> model.scale = 3.0
    >>> model.apply(np.float32([-1, 3])).tolist()
    [3.0, 9.0]
    """

    def __init__(self, scale, act):
        self.scale = scale
        self.act = act

    @partial(jax.jit, static_argnums=0)
    def apply(self, x):
        return self.act(self.scale * x)


# %% exercise="old_answer" variant="both_are_arguments"
@partial(jax.jit, static_argnums=0)
def run(act, scale, x):
    return act(scale * x)


class Model:
    def __init__(self, scale, act):
        self.scale = scale
        self.act = act

    def apply(self, x):
        return run(self.act, self.scale, x)


# %% exercise="old_answer" variant="by_class_decorator"
@register_pytree_node_class
class Model:
    def __init__(self, scale, act):
        self.scale = scale
        self.act = act

    @jax.jit
    def apply(self, x):
        return self.act(self.scale * x)

    def tree_flatten(self):
        return (self.scale,), self.act

    @classmethod
    def tree_unflatten(cls, aux, children):
        return cls(*children, aux)


# %% exercise="old_answer" variant="only_the_function_is_jitted" changes="both_are_arguments"
-@partial(jax.jit, static_argnums=0)
-def run(act, scale, x):
-    return act(scale * x)
-
-
 class Model:
...
-        return run(self.act, self.scale, x)
+        return jax.jit(self.act)(self.scale * x)


# %% exercise="old_answer" misconception="self_is_static" met="jax-ml/jax#9023, jax-ml/jax#9024" changes="starter"
"""`apply` gives the answer of its first call again and again. jit took your object as a constant: as a static argument, or as a variable outside the function. It is the same object after an attribute was set, so jit finds the old program, also if the class is registered as a node."""
-    @partial(jax.jit, static_argnums=0)
+    @partial(jax.jit, static_argnames="self")


# %% exercise="old_answer" misconception="only_the_scale_is_an_argument" met="jax-ml/jax#9023" changes="both_are_arguments"
"""`apply` sees another `scale`, but not another `act`. jit still finds the old program when only the function in the attribute is another."""
-@partial(jax.jit, static_argnums=0)
-def run(act, scale, x):
-    return act(scale * x)
-
-
 class Model:
...
-        return run(self.act, self.scale, x)
+        return self.run(self.scale, x)
+
+    @partial(jax.jit, static_argnums=0)
+    def run(self, scale, x):
+        return self.act(scale * x)


# %% exercise="old_answer" misconception="only_the_function_is_an_argument" changes="only_the_scale_is_an_argument"
"""`apply` sees another `act`, but not another `scale`. Its value is a constant of the program that jit finds again."""
-        return self.run(self.scale, x)
+        return self.run(self.act, x)
...
-    @partial(jax.jit, static_argnums=0)
-    def run(self, scale, x):
-        return self.act(scale * x)
+    @partial(jax.jit, static_argnums=(0, 1))
+    def run(self, act, x):
+        return act(self.scale * x)


# %% exercise="old_answer" misconception="compared_by_its_values" section="equality-and-hash" changes="starter"
"""`apply` gives old answers, and an array raises an error: you gave the static object an `__eq__` and a `__hash__` of its attributes. The key that jit keeps is this very object: when an attribute is set, the key changes with it, and is equal again."""
+    def __eq__(self, other):
+        return (self.scale, self.act) == (other.scale, other.act)
+
+    def __hash__(self):
+        return hash((self.scale, self.act))
+
     @partial(jax.jit, static_argnums=0)


# %% exercise="old_answer" misconception="arrays_compared_by_values" section="equality-and-hash" changes="compared_by_its_values"
"""`apply` gives old answers, although you gave the static object an `__eq__` and a `__hash__` of its attributes. The key that jit keeps is this very object: when an attribute is set, the key changes with it, and is equal again."""
-        return (self.scale, self.act) == (other.scale, other.act)
+        return self.act == other.act and np.array_equal(self.scale, other.scale)
...
-        return hash((self.scale, self.act))
+        return hash((str(self.scale), self.act))


# %% exercise="old_answer" misconception="always_equal" section="equality-and-hash" changes="compared_by_its_values"
"""Your second model gives the answer of the first one: for jit, all models are equal. An `__eq__` that says so lets jit use a program with other attributes in it."""
-        return (self.scale, self.act) == (other.scale, other.act)
+        return True
...
-        return hash((self.scale, self.act))
+        return 0


# %% exercise="old_answer" misconception="everything_in_aux" section="arrays-in-aux-data" changes="solution"
"""Each `scale` makes a new trace, and where it is an array, a call raises an error: `scale` is in aux_data, or a static argument, and JAX compares its values. A number that only flows through is traced: a child, or an ordinary argument."""
-@partial(register_dataclass, data_fields=["scale"], meta_fields=["act"])
+@partial(register_dataclass, data_fields=[], meta_fields=["scale", "act"])


# %% exercise="old_answer" misconception="the_function_is_a_leaf" section="two-kinds-of-field" changes="solution"
"""The first call raises an error. `act` is a child, so a function is a leaf, and jit takes arrays and numbers only."""
-@partial(register_dataclass, data_fields=["scale"], meta_fields=["act"])
+@partial(register_dataclass, data_fields=["scale", "act"], meta_fields=[])


# %% exercise="old_answer" misconception="not_registered" met="jax-ml/jax#15115" section="two-kinds-of-field" changes="starter"
"""The first call raises an error. `self` is an ordinary argument now, but JAX does not know the class: the whole model is one leaf, and no array."""
-    @partial(jax.jit, static_argnums=0)
+    @jax.jit


# %% exercise="old_answer" misconception="a_dataclass_has_no_hash" section="equality-and-hash" changes="solution"
"""The first call raises an error: a dataclass has an `__eq__`, and therefore no hash, and a static argument needs one. A registered class can be an ordinary argument."""
-    @jax.jit
+    @partial(jax.jit, static_argnums=0)


# %% exercise="old_answer" misconception="nothing_can_be_set" changes="solution"
"""Setting an attribute raises an error. A frozen class cannot give an old answer, but here the user has to be able to set both attributes."""
-@dataclass
+@dataclass(frozen=True)


# %% exercise="old_answer" misconception="a_new_jit_in_each_call" section="functions-in-aux-data" changes="both_are_arguments"
"""The results are right, but each new `scale` makes a new trace. You jit a new function in each call, or whenever an attribute is set, or empty the caches, so jit finds no old program."""
-@partial(jax.jit, static_argnums=0)
-def run(act, scale, x):
-    return act(scale * x)
-
-
 class Model:
...
-        return run(self.act, self.scale, x)
+        return jax.jit(lambda x: self.act(self.scale * x))(x)


# %% exercise="old_answer" misconception="nothing_is_jitted" changes="starter"
"""The results are right, but `act` gets numbers in each call: it runs outside of jit, one operation after the other."""
-    @partial(jax.jit, static_argnums=0)


# %% exercise="old_answer" misconception="a_scale_is_a_float" changes="both_are_arguments"
"""A float works, but a `scale` that is an array raises an error. Pass it on as it is."""
-        return run(self.act, self.scale, x)
+        return run(self.act, float(self.scale), x)


# %% exercise="old_answer" misconception="scaled_after_the_function" changes="solution"
"""`act` is applied to `x`, and its result is multiplied. It has to be applied to the product."""
-        return self.act(self.scale * x)
+        return self.scale * self.act(x)


# %% exercise="old_answer" misconception="fields_change_places" changes="by_class_decorator"
"""A rebuilt model has its function in `scale`, and its number in `act`. Unflatten gets the aux_data first, but the constructor takes `scale` first."""
-        return cls(*children, aux)
+        return cls(aux, *children)


# %% exercise="dense" starter=True
class Dense:
    """A layer: `activation(x @ w + b)`.

    >>> layer = Dense(np.ones((2, 2)), np.zeros(2), jnp.abs)
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


# %% exercise="dense" misconception="the_activation_is_a_leaf" met="patrick-kidger/equinox#149" section="two-kinds-of-field" changes="solution"
"""The activation of your layer is a leaf. Leaves become arguments of the compiled program. When a leaf is a function, jit raises `TypeError`, and `jax.tree.map` treats the function like an array."""
-@partial(register_dataclass, data_fields=["w", "b"], meta_fields=["activation"])
+@partial(register_dataclass, data_fields=["w", "b", "activation"], meta_fields=[])
...
     """
-


# %% exercise="dense" misconception="not_registered" section="two-kinds-of-field" changes="the_activation_is_a_leaf"
"""For JAX your layer is one opaque leaf: `jax.tree.map` calls the function with the whole object, and jit raises an error. A class is not a node until you register it, and a dataclass is no exception."""
-@partial(register_dataclass, data_fields=["w", "b", "activation"], meta_fields=[])


# %% exercise="dense" misconception="arrays_are_aux" section="arrays-in-aux-data" changes="the_activation_is_a_leaf"
"""Your layer has no leaves: its arrays are in aux_data. jit compares aux_data with `==`. For two arrays `==` gives an array, so jit raises an error at the second layer."""
-@partial(register_dataclass, data_fields=["w", "b", "activation"], meta_fields=[])
+@partial(register_dataclass, data_fields=[], meta_fields=["w", "b", "activation"])


# %% exercise="dense" misconception="aux_is_not_unpacked" changes="by_class_decorator"
"""After a rebuild, your layer cannot be called: its activation is no function then. Unflatten gets the aux_data exactly as flatten returned it. If that is a tuple, unflatten has to take the activation out of it."""
-        return self.activation(jnp.dot(x, self.w) + self.b)
+        return self.activation(x @ self.w + self.b)
...
-        return [self.b, self.w], self.activation
+        return (self.w, self.b), (self.activation,)
...
-    def tree_unflatten(cls, activation, children):
-        b, w = children
-        return cls(w, b, activation)
+    def tree_unflatten(cls, aux, children):
+        return cls(*children, aux)


# %% exercise="dense" misconception="a_new_function_each_time" met="patrick-kidger/equinox#686" section="functions-in-aux-data" changes="aux_is_not_unpacked"
"""Two layers with the same activation do not share a trace: your aux_data holds a new object for each layer, such as the layer itself, or a `lambda`, a `partial` or a `jax.jit` around the activation. Such objects are equal only to themselves, even when they do the same."""
-        self.w, self.b, self.activation = w, b, activation
+        self.w, self.b, self.activation = w, b, lambda x: activation(x)
...
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), self.activation


# %% exercise="dense" misconception="activation_is_hidden_from_jit" section="part-of-the-type" changes="aux_is_not_unpacked"
"""Your layers with different activations share one trace, so one layer runs another layer's program. jit compares the aux_data with `==`, and your `==` does not look at the activation."""
+class Same:
+    def __init__(self, function):
+        self.function = function
+
+    def __eq__(self, other):
+        return isinstance(other, Same)
+
+    def __hash__(self):
+        return 0
+
+
 @register_pytree_node_class
...
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), Same(self.activation)
...
-        return cls(*children, aux)
+        return cls(*children, aux.function)


# %% exercise="dense" misconception="bias_after_the_activation" changes="solution"
"""Where `b` is not zero, your result is wrong: you add `b` to the result of the activation. In the formula, `b` is inside the parentheses."""
     """
-
...
-        return self.activation(x @ self.w + self.b)
+        return self.activation(x @ self.w) + self.b


# %% exercise="dense" misconception="the_product_the_other_way_round" changes="bias_after_the_activation"
"""Your result is wrong where `w` is not symmetric, or `x` has several rows. A matrix product depends on the order of its factors. Compare your product with the formula."""
-        return self.activation(x @ self.w) + self.b
+        return self.activation(self.w @ x + self.b)


# %% exercise="dense" misconception="children_change_places" changes="aux_is_not_unpacked"
"""Your layer works until it is rebuilt: then its weights and its bias are swapped. Unflatten gets the children in the order in which flatten gave them."""
-        return (self.w, self.b), (self.activation,)
+        return (self.b, self.w), self.activation
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, activation, children):
+        return cls(*children, activation)


# %% exercise="dense" misconception="the_bias_is_aux" section="arrays-in-aux-data" changes="the_activation_is_a_leaf"
"""Your layer has one leaf, the weights: its bias is not among them. jit compares an array in aux_data with `==`. That gives an array, so jit raises an error at the second layer."""
-@partial(register_dataclass, data_fields=["w", "b", "activation"], meta_fields=[])
+@partial(register_dataclass, data_fields=["w"], meta_fields=["b", "activation"])


# %% exercise="dense" misconception="the_name_of_the_function" section="a-list-in-aux-data" changes="aux_is_not_unpacked"
"""Your layers share a trace when their activations are different but have the same name. So one layer runs the program of another. A name is not the function: all lambdas have the same name. Put the function itself into aux_data."""
+ACTIVATIONS = {}
+
+
 @register_pytree_node_class
...
-        return (self.w, self.b), (self.activation,)
+        name = self.activation.__name__
+        ACTIVATIONS[name] = self.activation
+        return (self.w, self.b), name
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, name, children):
+        return cls(*children, ACTIVATIONS[name])


# %% exercise="dense" misconception="aux_comes_first" changes="aux_is_not_unpacked"
"""Your layer works until it is rebuilt: then a function stands where an array should be. Unflatten gets the aux_data first, but your constructor takes the two arrays first."""
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), self.activation
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, activation, children):
+        return cls(activation, *children)


# %% exercise="dense" misconception="a_name_to_look_up" changes="aux_is_not_unpacked"
"""Your layer raises `AttributeError` when it is rebuilt: unflatten looks the activation up in a module, by its name. A function of the user is in no module of JAX. aux_data need not be a string: it may be the function."""
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), self.activation.__name__
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, name, children):
+        return cls(*children, getattr(jax.nn, name))


# %% exercise="dense" misconception="checks_in_the_constructor" changes="aux_is_not_unpacked"
"""Your layer cannot be rebuilt when its leaves are not arrays: the constructor checks its arguments. JAX calls it too, with whatever the function in `jax.tree.map` returns."""
     def __init__(self, w, b, activation):
+        if w.shape[-1] != b.shape[-1]:
+            raise ValueError("the shapes of w and b do not fit")
...
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), self.activation
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, activation, children):
+        return cls(*children, activation)


# %% exercise="dense" misconception="converted_in_the_constructor" changes="aux_is_not_unpacked"
"""Your layer cannot be rebuilt when its leaves are not arrays: the constructor makes arrays of its arguments. JAX calls it too, with whatever the function in `jax.tree.map` returns."""
-        self.w, self.b, self.activation = w, b, activation
+        self.w, self.b, self.activation = jnp.asarray(w), jnp.asarray(b), activation
...
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), self.activation
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, activation, children):
+        return cls(*children, activation)


# %% exercise="dense" misconception="unflatten_returns_nothing" changes="aux_is_not_unpacked"
"""Your layer works until it is rebuilt: then it is `None`, because unflatten does not return the new object. A Python function without `return` returns `None`."""
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), self.activation
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, activation, children):
+        cls(*children, activation)


# %% exercise="dense" misconception="a_default_activation" changes="aux_is_not_unpacked"
"""Your layer works until it is rebuilt: then it has another activation, the default of its constructor. `tree_unflatten` leaves the activation out. The new object has to get everything that `tree_flatten` returned, the aux_data too."""
-    def __init__(self, w, b, activation):
+    def __init__(self, w, b, activation=jax.nn.relu):
...
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), self.activation
...
-    def tree_unflatten(cls, aux, children):
-        return cls(*children, aux)
+    def tree_unflatten(cls, activation, children):
+        return cls(*children)


# %% exercise="dense" misconception="one_activation_for_all_layers" section="part-of-the-type" changes="aux_is_not_unpacked"
"""A layer uses the activation of the layer that was made last, and under jit layers with different activations share a trace. All your layers share one activation, that of the class or of the module: keep it in `self`, and return it as aux_data."""
-        self.w, self.b, self.activation = w, b, activation
+        self.w, self.b = w, b
+        type(self).activation = staticmethod(activation)
...
-        return (self.w, self.b), (self.activation,)
+        return (self.w, self.b), None
...
-        return cls(*children, aux)
+        layer = object.__new__(cls)
+        layer.w, layer.b = children
+        return layer


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


# %% exercise="step_counter" misconception="counter_in_aux" changes="starter"
"""Your states are right, but each step of a training needs a new trace: the counter is still in aux_data. In aux_data, a new number makes a new type of node."""
     """Parameters, how many steps were made, and a name."""
-


# %% exercise="step_counter" misconception="everything_is_a_leaf" section="two-kinds-of-field" changes="counter_in_aux"
"""jit refuses your state with a `TypeError`: the name is among the leaves. Leaves become inputs of the compiled program, and a string cannot be one."""
-@partial(register_dataclass, data_fields=["params"], meta_fields=["step", "name"])
+@partial(register_dataclass, data_fields=["params", "step", "name"], meta_fields=[])


# %% exercise="step_counter" misconception="counter_is_dropped" section="two-kinds-of-field" changes="by_class_decorator"
"""Under jit your counter starts again from 0 at each step: it is neither a child nor in aux_data, so the rebuilt object does not get it."""
-        params = {key: self.params[key] - grads[key] for key in self.params}
-        return TrainState(params, 1 + self.step, self.name)
+        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
+        return TrainState(params, self.step + 1, self.name)
...
-        return (self.step, self.params), self.name
+        return (self.params,), self.name
...
-        step, params = children
-        return cls(params, step, name)
+        return cls(children[0], 0, name)


# %% exercise="step_counter" misconception="float_counter" section="ints-under-jit" changes="solution"
"""Your counter becomes a float instead of a whole number. This also causes a second trace: the first call gets an int, and all later calls get a float, which is another dtype."""
     """Parameters, how many steps were made, and a name."""
-
...
-        return replace(self, params=params, step=self.step + 1)
+        return replace(self, params=params, step=self.step + 1.0)


# %% exercise="step_counter" misconception="dtype_changes_at_the_first_step" met="pyro-ppl/numpyro#463, google/jaxopt#451, handley-lab/blackjax#60" section="hyperparameters-aux-or-leaf" changes="float_counter"
"""JAX traces your training twice: once for the first step, and once for all others. The counter comes in as a Python int, and goes out as an array with a dtype of your choice. For jit, these are two types."""
-        return replace(self, params=params, step=self.step + 1.0)
+        return replace(self, params=params, step=self.step + np.int32(1))


# %% exercise="step_counter" misconception="int_of_a_tracer" section="ints-under-jit" changes="float_counter"
"""Your `advance` works without jit, and fails under jit: it asks the counter for its value, as `int` does. Under jit the counter is a tracer: it has a dtype, but no value."""
-        return replace(self, params=params, step=self.step + 1.0)
+        return replace(self, params=params, step=int(self.step) + 1)


# %% exercise="step_counter" misconception="counter_is_hidden" section="a-list-in-aux-data" changes="counter_is_dropped"
"""Your training needs one trace, but after several steps the counter has the number of the first step. It is in aux_data, where your `==` does not look at it. So jit uses the first program again, with the number of the first step inside."""
+class Hidden:
+    def __init__(self, step, name):
+        self.step, self.name = step, name
+
+    def __eq__(self, other):
+        return self.name == other.name
+
+    def __hash__(self):
+        return hash(self.name)
+
+
 @register_pytree_node_class
...
-        return (self.params,), self.name
+        return (self.params,), Hidden(self.step, self.name)
...
-    def tree_unflatten(cls, name, children):
-        return cls(children[0], 0, name)
+    def tree_unflatten(cls, aux, children):
+        return cls(children[0], aux.step, aux.name)


# %% exercise="step_counter" misconception="advance_changes_self" changes="float_counter"
"""Your `advance` changes the state on which you call it: afterwards, the old state has the new step. The caller may still need the old state: return a new one, and leave `self` as it is."""
-        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
-        return replace(self, params=params, step=self.step + 1.0)
+        self.params = jax.tree.map(lambda p, g: p - g, self.params, grads)
+        self.step = self.step + 1
+        return self


# %% exercise="step_counter" misconception="arrays_are_changed_in_place" changes="solution"
"""After `advance`, the arrays of the old state are changed. Subtracting in place, as `-=` does, writes into the NumPy array, and both states hold this array. A copy of the dict still has the same leaves."""
     """Parameters, how many steps were made, and a name."""
-
...
-        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
+        params = dict(self.params)
+        for key in params:
+            params[key] -= grads[key]


# %% exercise="step_counter" misconception="paired_by_position" changes="solution"
"""With several parameters, your `advance` subtracts the gradient of another parameter: you pair the two dicts by the order in which their keys were set, and it may differ. JAX sorts the keys of a dict, so that equal keys meet."""
     """Parameters, how many steps were made, and a name."""
-
...
-        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
+        pairs = zip(self.params.items(), grads.values())
+        params = {name: p - g for (name, p), g in pairs}


# %% exercise="step_counter" misconception="the_dict_is_changed" changes="float_counter"
"""After `advance`, the old state has the new parameters, but the arrays themselves are as before: you write the new arrays into the dict of the old state. A copy of a state holds the same dict."""
-        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
-        return replace(self, params=params, step=self.step + 1.0)
+        for key in self.params:
+            self.params[key] = self.params[key] - grads[key]
+        return replace(self, step=self.step + 1)


# %% exercise="step_counter" misconception="gradients_are_added" changes="solution"
"""Your counter is right, but your parameters move to the wrong side: the gradients are added. A step of gradient descent subtracts them."""
     """Parameters, how many steps were made, and a name."""
-
...
-        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
+        params = jax.tree.map(lambda p, g: p + g, self.params, grads)


# %% exercise="step_counter" misconception="the_counter_stands_still" changes="float_counter"
"""Your parameters are right, but `step` never changes. Each `advance` has to pass the next number to the new state."""
-        return replace(self, params=params, step=self.step + 1.0)
+        return replace(self, params=params)


# %% exercise="step_counter" misconception="the_parameters_are_aux" section="arrays-in-aux-data" changes="counter_in_aux"
"""Without jit all is right, but under jit your state fails: its parameters are in aux_data. There JAX compares them and needs their hash, and a dict of arrays allows neither."""
-@partial(register_dataclass, data_fields=["params"], meta_fields=["step", "name"])
+@partial(register_dataclass, data_fields=["step"], meta_fields=["params", "name"])


# %% exercise="step_counter" misconception="not_registered" section="two-kinds-of-field" changes="counter_in_aux"
"""Without jit all is right, but jit does not take your state: for JAX its class is not a node. A dataclass has to be registered before JAX looks inside."""
-@partial(register_dataclass, data_fields=["params"], meta_fields=["step", "name"])


# %% exercise="step_counter" misconception="advance_returns_nothing" changes="float_counter"
"""Your `advance` returns `None`: the caller never gets the state after the step. Under jit a change of `self` is lost, so the new state has to be returned."""
-        params = jax.tree.map(lambda p, g: p - g, self.params, grads)
-        return replace(self, params=params, step=self.step + 1.0)
+        self.params = jax.tree.map(lambda p, g: p - g, self.params, grads)
+        self.step = self.step + 1


# %% exercise="step_counter" misconception="children_change_places" changes="counter_is_dropped"
"""Without jit all is right; a rebuilt state has its counter where the parameters should be. Flatten gives the children in one order, and unflatten takes them in another."""
-        return (self.params,), self.name
+        return (self.step, self.params), self.name
...
-        return cls(children[0], 0, name)
+        return cls(*children, name)


# %% exercise="step_counter" misconception="the_name_has_a_default" section="part-of-the-type" changes="by_class_decorator"
"""A rebuilt state has lost its name, and states with different names share a trace: the name is neither a child nor in aux_data. With a default in the constructor, no error tells you that."""
-    def __init__(self, params, step, name):
+    def __init__(self, params, step=0, name=""):
...
-        return (self.step, self.params), self.name
+        return (self.step, self.params), None
...
-    def tree_unflatten(cls, name, children):
+    def tree_unflatten(cls, aux, children):
         step, params = children
-        return cls(params, step, name)
+        return cls(params, step)


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


# %% exercise="hashable_config" variant="a_list_with_a_hash"
@dataclass(frozen=True)
class Config:
    width: int
    names: list

    def __hash__(self):
        return hash((self.width, tuple(self.names)))


# %% exercise="hashable_config" misconception="compared_by_identity" met="jax-ml/jax#4712" changes="starter"
"""Two of your configs with the same fields are not equal, so jit traces for each of them. Python compares objects of a class without `__eq__` by identity: each object is equal only to itself."""
     """
-


# %% exercise="hashable_config" misconception="a_plain_dataclass" met="jax-ml/jax#3701"
"""Your config has no hash, so jit refuses it as a static argument, and its fields can be set. A plain dataclass writes only `__eq__`, and takes the hash away: a hash and fields that cannot be set come with one more option."""


@dataclass
class Config:
    width: int
    names: list


# %% exercise="hashable_config" misconception="frozen_with_a_list" met="google/flax#4870, genjax-community/genjax#1179" changes="a_plain_dataclass"
"""Your config has no hash. A class that defines `__eq__` and no `__hash__` loses its hash. And a frozen dataclass makes its hash from the hashes of its fields: a list has none, and neither has a copy of it."""
-@dataclass
+@dataclass(frozen=True)


# %% exercise="hashable_config" misconception="frozen_for_itself_too" changes="solution"
"""No config of yours can be made: `FrozenInstanceError`. A frozen dataclass forbids `self.names = ...` everywhere, also in its own `__init__` and `__post_init__`."""
     """
-
...
-        object.__setattr__(self, "names", tuple(self.names))
+        self.names = tuple(self.names)


# %% exercise="hashable_config" misconception="can_be_changed" section="a-list-in-aux-data" changes="frozen_for_itself_too"
"""The fields of your config can be set later. Equality and the hash depend on these fields, and jit's cache and Python's dicts rely on a hash that never changes."""
-@dataclass(frozen=True)
+@dataclass(unsafe_hash=True)


# %% exercise="hashable_config" misconception="names_do_not_count" section="a-list-in-aux-data" changes="solution"
"""In your answer, configs with different names are equal. jit relies on `==`: for the second config it runs the program of the first config, without an error."""
     """
-
...
-    names: tuple
+    names: tuple = field(compare=False)


# %% exercise="hashable_config" misconception="hash_by_identity" changes="by_hand"
"""Your equal configs have different hashes. Dicts and sets compare hashes first, and use `==` only where the hashes are equal. So they do not find an equal config."""
-    def __hash__(self):
-        return hash((self.width, self.names))
+    __hash__ = object.__hash__


# %% exercise="hashable_config" misconception="order_is_lost" changes="frozen_for_itself_too"
"""In your answer, configs with the same names in another order are equal, or their names come back in another order. The order of layers is part of a network, and for equal configs jit uses one trace."""
-        self.names = tuple(self.names)
+        object.__setattr__(self, "names", tuple(sorted(self.names)))


# %% exercise="hashable_config" misconception="names_are_a_set" changes="frozen_with_a_list"
"""In your answer, the order of the names does not matter, and a name that comes twice counts once: you keep the names in a set. In a network, one layer may come twice."""
-    names: list
+    names: frozenset
+
+    def __post_init__(self):
+        object.__setattr__(self, "names", frozenset(self.names))


# %% exercise="hashable_config" misconception="compared_up_to_the_shorter" changes="solution"
"""In your answer, a config is equal to another config that has one more name, so jit would use the trace of one for the other. You compare the names in pairs, and `zip` stops where the shorter list ends."""
     """
-
...
         object.__setattr__(self, "names", tuple(self.names))
+
+    def __eq__(self, other):
+        pairs = zip(self.names, other.names)
+        return self.width == other.width and all(one == other for one, other in pairs)
+
+    def __hash__(self):
+        return hash(self.width)


# %% exercise="hashable_config" misconception="joined_with_a_comma" changes="compared_up_to_the_shorter"
"""In your answer, one name with a comma in it is equal to two names, so jit would use the trace of one for the other: you join the names with a comma before you compare. Compare the names themselves: a name may hold any sign."""
+    def key(self):
+        return self.width, ",".join(self.names)
+
     def __eq__(self, other):
-        pairs = zip(self.names, other.names)
-        return self.width == other.width and all(one == other for one, other in pairs)
+        return self.key() == other.key()

     def __hash__(self):
-        return hash(self.width)
+        return hash(self.key())


# %% exercise="hashable_config" misconception="width_does_not_count" section="a-list-in-aux-data" changes="solution"
"""In your answer, configs with different widths are equal when their names are equal. jit relies on `==`: for the second config it runs the program of the first config, without an error."""
-
-    width: int
+    width: int = field(compare=False)


# %% exercise="hashable_config" misconception="only_the_width_is_protected" changes="compared_by_identity"
"""`width` cannot be set in your config, but `names` can. The tuple cannot change, but the field can get another tuple, and then the config has another hash."""
-        self.width = width
-        self.names = names
+        self.kept = width
+        self.names = tuple(names)
+
+    @property
+    def width(self):
+        return self.kept
+
+    def __eq__(self, other):
+        return (self.width, self.names) == (other.width, other.names)
+
+    def __hash__(self):
+        return hash((self.width, self.names))


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


# %% exercise="lookup_table" misconception="array_in_aux" met="jax-ml/jax#28659, jax-ml/jax#24204, patrick-kidger/equinox#746, gbionics/jaxsim#84, jax-ml/jax#14033" changes="starter"
"""Your table is still in aux_data, as an array of NumPy or of JAX. The first call works, because jit has nothing to compare the table with. At a call with another table, jit compares two arrays with `==`, gets an array, and raises an error."""
     """A table of numbers that is not trained, and a scale that is."""
-


# %% exercise="lookup_table" misconception="tuple_in_aux" met="PlasmaControl/DESC#1582, jax-ml/jax#4572" changes="by_class_decorator"
"""JAX can compare your table now, but the table is not a leaf. So each new table is a new type of node, with a new trace, and a new program that holds all numbers of the table. A large table makes its compilation longer."""
-        return self.scale * jax.lax.stop_gradient(jnp.take(self.table, index))
+        return self.scale * jnp.asarray(self.table)[index]
...
-        return (self.scale, self.table), None
+        return (self.scale,), tuple(np.asarray(self.table).tolist())
...
-        scale, table = children
-        return cls(table, scale)
+        return cls(np.array(aux, np.float32), *children)


# %% exercise="lookup_table" misconception="compared_by_identity" section="functions-in-aux-data" changes="tuple_in_aux"
"""Your table is in a wrapper, so comparing it raises no error. But the wrapper is equal only to itself: even two layers with equal tables do not share a trace."""
+class Wrapped:
+    def __init__(self, table):
+        self.table = table
+
+
 @register_pytree_node_class
...
-        return self.scale * jnp.asarray(self.table)[index]
+        return self.scale * self.table[index]
...
-        return (self.scale,), tuple(np.asarray(self.table).tolist())
+        return (self.scale,), Wrapped(self.table)
...
-        return cls(np.array(aux, np.float32), *children)
+        return cls(aux.table, *children)


# %% exercise="lookup_table" misconception="always_equal" section="a-list-in-aux-data" changes="tuple_in_aux"
"""Your class raises no error any more, and needs one trace. But the second table gives the numbers of the first. Your aux_data is always equal, so jit uses the first program again."""
+class Wrapped:
+    def __init__(self, table):
+        self.table = table
+
+    def __eq__(self, other):
+        return isinstance(other, Wrapped)
+
+    def __hash__(self):
+        return 0
+
+
 @register_pytree_node_class
...
-        return (self.scale,), tuple(np.asarray(self.table).tolist())
+        return (self.scale,), Wrapped(self.table)
...
-        return cls(np.array(aux, np.float32), *children)
+        return cls(aux.table, *children)


# %% exercise="lookup_table" misconception="equal_shapes_are_equal" section="a-list-in-aux-data" changes="tuple_in_aux"
"""Your class raises no error any more, and needs one trace for each shape. But the second table gives the numbers of the first. Your aux_data says that tables of the same shape are equal, so jit uses the first program again."""
+class Wrapped:
+    def __init__(self, table):
+        self.table = table
+
+    def __eq__(self, other):
+        return self.table.shape == other.table.shape
+
+    def __hash__(self):
+        return hash(self.table.shape)
+
+
 @register_pytree_node_class
...
-        return (self.scale,), tuple(np.asarray(self.table).tolist())
+        return (self.scale,), Wrapped(self.table)
...
-        return cls(np.array(aux, np.float32), *children)
+        return cls(aux.table, *children)


# %% exercise="lookup_table" misconception="the_table_is_trained" met="patrick-kidger/equinox#279, patrick-kidger/equinox#710" section="two-kinds-of-field" changes="array_in_aux"
"""Your table is a leaf, and jit accepts it. But the table has a gradient too, so training would change it. Pass the table, not the index, through `jax.lax.stop_gradient` in `__call__`, and use the result: it changes nothing in place."""
-@partial(register_dataclass, data_fields=["scale"], meta_fields=["table"])
+@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])


# %% exercise="lookup_table" misconception="nothing_is_trained" changes="solution"
"""Your gradient is zero for `scale` too. `stop_gradient` stops the gradient of everything that its argument was computed from, and your argument is more than the table."""
     """A table of numbers that is not trained, and a scale that is."""
-
...
-        return self.scale * jax.lax.stop_gradient(self.table)[index]
+        return jax.lax.stop_gradient(self.scale * self.table[index])


# %% exercise="lookup_table" misconception="numpy_reads_a_tracer" section="two-kinds-of-field" changes="nothing_is_trained"
"""Your layer works without jit, and fails under jit and `jax.grad`: something there needs the numbers of the table, such as a NumPy array, a list or a tuple made of it. Under jit the table is a tracer: it has a shape and a dtype, but no numbers."""
-        return jax.lax.stop_gradient(self.scale * self.table[index])
+        return self.scale * jnp.asarray(np.asarray(self.table))[index]


# %% exercise="lookup_table" misconception="the_scale_is_stopped" changes="nothing_is_trained"
"""Your gradients are swapped: the table has a gradient, and `scale` has zeros. The argument of `stop_gradient` gets no gradient; everything outside of it gets one."""
-        return jax.lax.stop_gradient(self.scale * self.table[index])
+        return jax.lax.stop_gradient(self.scale) * self.table[index]


# %% exercise="lookup_table" misconception="the_scale_is_aux" changes="solution"
"""The table is the only leaf of your layer, so `scale` has no gradient. If an array is in aux_data, jit compares it with `==`. That gives an array, and jit raises `ValueError`."""
-@partial(register_dataclass, data_fields=["table", "scale"], meta_fields=[])
+@partial(register_dataclass, data_fields=["table"], meta_fields=["scale"])
...
     """A table of numbers that is not trained, and a scale that is."""
-


# %% exercise="lookup_table" misconception="whole_numbers_have_no_gradient" changes="nothing_is_trained"
"""The gradients are right, but your numbers have lost their decimal places: you turn the table into whole numbers. They have no gradient, but the values change, too."""
-        return jax.lax.stop_gradient(self.scale * self.table[index])
+        return self.scale * jnp.asarray(self.table).astype(int)[index]


# %% exercise="lookup_table" misconception="children_change_places" changes="by_class_decorator"
"""Without jit your numbers are right; in a rebuilt layer, table and scale have changed places: flatten gives the children in another order than the constructor's."""
-        return self.scale * jax.lax.stop_gradient(jnp.take(self.table, index))
+        return self.scale * jax.lax.stop_gradient(self.table)[index]
...
-        scale, table = children
-        return cls(table, scale)
+        return cls(*children)


# %% exercise="lookup_table" misconception="everything_in_aux" changes="array_in_aux"
"""Your layer has no leaves: table and scale are both in aux_data. So `jax.grad` finds nothing to differentiate, and jit would have to compare arrays with `==`."""
-@partial(register_dataclass, data_fields=["scale"], meta_fields=["table"])
+@partial(register_dataclass, data_fields=[], meta_fields=["table", "scale"])


# %% exercise="lookup_table" misconception="multiplied_before_the_index" changes="nothing_is_trained"
"""Your layer is right where `scale` is one number. Where it is an array, your layer fails: you multiply the whole table by `scale`. Look up the numbers first: `scale` fits the numbers that were looked up, not the table."""
-        return jax.lax.stop_gradient(self.scale * self.table[index])
+        return (self.scale * jax.lax.stop_gradient(self.table))[index]


# %% exercise="lookup_table" misconception="written_into_the_layer" changes="nothing_is_trained"
"""After a trace that only reads your layer, the layer raises `UnexpectedTracerError`: `__call__` sets an attribute. While JAX traces, the new value is a tracer, and it stays in the layer when the trace has ended. Keep the result in a local variable."""
-        return jax.lax.stop_gradient(self.scale * self.table[index])
+        self.table = jax.lax.stop_gradient(self.table)
+        return self.scale * self.table[index]


# %% exercise="lookup_table" misconception="one_place_after_the_other" changes="nothing_is_trained"
"""Your layer fails where the index has no axes: a Python loop goes through the index. An array can be indexed by a whole array at once, of any shape."""
-        return jax.lax.stop_gradient(self.scale * self.table[index])
+        table = jax.lax.stop_gradient(self.table)
+        return self.scale * jnp.stack([table[place] for place in index])


# %% exercise="lookup_table" misconception="numpy_at_a_traced_index" section="two-kinds-of-field" changes="nothing_is_trained"
"""Your layer works without jit, and fails where JAX traces: even where only the index is traced. You index a NumPy array, a list or a tuple that you made of the table. Under jit the table is a tracer and has no numbers yet, and NumPy cannot use an index that has none."""
-        return jax.lax.stop_gradient(self.scale * self.table[index])
+        return self.scale * np.asarray(self.table)[index]


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


# %% exercise="sweep" misconception="the_rate_is_static" section="five-places-for-a-constant" changes="solution"
"""Your `loss` is traced again for each different rate: the rate is static. Its value is then a part of jit's cache key, and each new rate compiles a new program."""
-    @jax.jit
+    @partial(jax.jit, static_argnums=1)


# %% exercise="sweep" misconception="a_jit_for_each_rate"
"""Your `loss` is traced for each rate, even for the same rate again. Either you jit a new function in each turn, which has an empty cache; or jit gets the whole loop, and JAX traces each turn of it."""


def sweep(loss, w, rates):
    losses = []
    for rate in rates:
        after_step = jax.jit(lambda w, rate=rate: loss(w - rate * jax.grad(loss)(w)))
        losses.append(float(after_step(w)))
    return losses


# %% exercise="sweep" misconception="the_first_rate_for_all" changes="a_jit_for_each_rate"
"""All your losses belong to the first rate: your jitted function reads the rate from outside. It reads it once, while it is traced; after that the number is a part of the program."""
 def sweep(loss, w, rates):
+    rate = rates[0]
+
+    @jax.jit
+    def after_step(w):
+        return loss(w - rate * jax.grad(loss)(w))
+
...
-        after_step = jax.jit(lambda w, rate=rate: loss(w - rate * jax.grad(loss)(w)))


# %% exercise="sweep" misconception="whole_numbers_trace_again" section="two-kinds-of-field" changes="solution"
"""Your function is traced twice when the rates are mixed. For jit, a Python int and a Python float have two dtypes, so 1 and 0.5 need two programs."""
-    return [float(after_step(w, float(rate))) for rate in rates]
+    return [float(after_step(w, rate)) for rate in rates]


# %% exercise="sweep" misconception="without_jit"
"""Python runs your `loss` once more for each rate: you compute the loss or its gradient outside of `jax.jit`. A `jax.jit` around one of the two does nothing for the other. Without `jax.jit`, JAX keeps no program for the next call."""


def sweep(loss, w, rates):
    gradient = jax.grad(loss)(w)
    return [float(loss(w - rate * gradient)) for rate in rates]


# %% exercise="sweep" misconception="walks_on" changes="solution"
"""Each of your losses depends on the rates before it: each rate starts from the `w` that the previous rate's step returned. To compare rates, all have to start from the same `w`."""
-        return loss(w - rate * jax.grad(loss)(w))
+        w = w - rate * jax.grad(loss)(w)
+        return w, loss(w)
...
-    return [float(after_step(w, float(rate))) for rate in rates]
+    losses = []
+    for rate in rates:
+        w, new = after_step(w, float(rate))
+        losses.append(float(new))
+    return losses


# %% exercise="sweep" misconception="the_loss_before_the_step" changes="solution"
"""Your losses are all the same: they are the loss at the start. `value_and_grad` gives the value at the point where the gradient is taken, which is before the step."""
-        return loss(w - rate * jax.grad(loss)(w))
+        value, gradient = jax.value_and_grad(loss)(w)
+        w = w - rate * gradient
+        return value


# %% exercise="sweep" misconception="a_dict_of_rates" changes="solution"
"""A rate that comes twice has only one loss in your list: a dict has each key once."""
-    def after_step(w, rate):
+    def after_step(rate):
...
-    return [float(after_step(w, float(rate))) for rate in rates]
+    losses = {}
+    for rate in rates:
+        losses[rate] = float(after_step(float(rate)))
+    return list(losses.values())


# %% exercise="sweep" misconception="an_array_of_losses" changes="by_vmap"
"""Your numbers are right, but they are in one array, not in a list. `jax.vmap` stacks its results; an array is one leaf, a list of numbers has one for each."""
-    return list(jax.jit(jax.vmap(after_step))(jnp.asarray(rates, jnp.float32)))
+    return jax.jit(jax.vmap(after_step))(jnp.asarray(rates, jnp.float32))


# %% exercise="sweep" misconception="nothing_is_jitted"
"""Python runs your `loss` again for each rate, and with numbers: your `loss` runs outside of `jax.jit`. Without jit JAX keeps no program, so Python runs `loss` at each call."""


def sweep(loss, w, rates):
    return [float(loss(w - rate * jax.grad(loss)(w))) for rate in rates]


# %% exercise="sweep" misconception="uphill"
"""Your losses are those of a step uphill: the gradient is added. A step of gradient descent goes against the gradient."""


def sweep(loss, w, rates):
    @jax.jit
    def after_step(rate):
        return loss(w + rate * jax.grad(loss)(w))

    return [float(after_step(float(rate))) for rate in rates]


# %% exercise="sweep" misconception="the_new_w"
"""Your list holds the new `w` of each rate: arrays as large as `w`, and no losses. After the step, compute the loss at the new `w`."""


def sweep(loss, w, rates):
    @jax.jit
    def after_step(rate):
        return w - rate * jax.grad(loss)(w)

    return [after_step(float(rate)) for rate in rates]


# %% exercise="sweep" misconception="float_inside_jit" section="ints-under-jit" changes="the_new_w"
"""jit raises an error while it traces your function: `float` stands inside the jitted function. There the loss is a tracer, which has no value yet: `float` is for the result of the call."""
-        return w - rate * jax.grad(loss)(w)
+        return float(loss(w - rate * jax.grad(loss)(w)))


# %% exercise="sweep" misconception="loss_is_an_argument" changes="solution"
"""jit raises `TypeError`, because an argument is a function: you give `loss` to the jitted function. Arguments become inputs of the compiled program, and a function cannot be one. An inner function may use `loss` from outside."""
-    def after_step(w, rate):
+    def after_step(loss, w, rate):
...
-    return [float(after_step(w, float(rate))) for rate in rates]
+    return [float(after_step(loss, w, float(rate))) for rate in rates]


# %% exercise="sweep" misconception="all_rates_in_one_step"
"""Your list has one entry, however many rates there are, or your function fails: you multiply the gradient by an array of all rates. Then each number of `w` gets a rate of its own. Each rate needs a step of its own, from all of `w`."""


def sweep(loss, w, rates):
    @jax.jit
    def after_step(w, rates):
        return loss(w - rates * jax.grad(loss)(w))

    return [after_step(w, jnp.asarray(rates, jnp.float32))]


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


# %% exercise="repeat" misconception="range_of_a_tracer"
"""Your function works without jit, and fails under jit: there the int leaf is a tracer. A tracer has a dtype but no value yet, and Python's `range` needs the value."""


def repeat(layer, x):
    for _ in range(layer["times"]):
        x = layer["w"] * x + layer["b"]
    return x


# %% exercise="repeat" misconception="value_of_a_tracer" changes="range_of_a_tracer"
"""Your function works without jit, and fails under jit: your code needs the value of the leaf, as `int`, `while`, `if` and the `length` of a `scan` do. A tracer has no value: JAX traces once for all values."""
-    for _ in range(layer["times"]):
+    for _ in range(int(layer["times"])):


# %% exercise="repeat" misconception="static_inside_jit" section="five-places-for-a-constant"
"""Your function works without jit, and fails under jit: it calls another jitted function with the leaf as a static argument. Under the outer jit the leaf is already a tracer, and a tracer has no hash."""


@partial(jax.jit, static_argnums=3)
def rounds(w, b, x, times):
    for _ in range(times):
        x = w * x + b
    return x


def repeat(layer, x):
    return rounds(layer["w"], layer["b"], x, layer["times"])


# %% exercise="repeat" misconception="always_from_the_start" changes="solution"
"""From the second round on, your result does not change: the body of your loop always computes with the first `x`, and not with the result of the round before."""
-    def body(_, x):
+    def body(_, value):


# %% exercise="repeat" misconception="as_many_as_ever_needed"
"""Your result is right for a few rounds, and wrong for many: there is a largest number of rounds in your code. `times` is a leaf, and may have any value: the loop has to stop where the leaf says."""


def repeat(layer, x):
    for done in range(16):
        x = jnp.where(done < layer["times"], layer["w"] * x + layer["b"], x)
    return x


# %% exercise="repeat" misconception="at_least_once" changes="solution"
"""Your function makes a round even when `times` is 0: it compares with `times` only after the first round."""
-    return jax.lax.fori_loop(0, layer["times"], body, x)
+    return jax.lax.fori_loop(1, layer["times"], body, body(0, x))


# %% exercise="repeat" misconception="b_only_once"
"""Your result is right for one round only: you raise `w` to a power, and add `b` once. The `b` of the first round is multiplied by `w` in all the rounds after it, too."""


def repeat(layer, x):
    return layer["w"] ** layer["times"] * x + layer["b"]


# %% exercise="repeat" misconception="one_round_too_many" changes="solution"
"""Your function always makes one round too many. A counter that starts at 0 has made all rounds when it is equal to `times`."""
-    return jax.lax.fori_loop(0, layer["times"], body, x)
+    return jax.lax.fori_loop(0, layer["times"] + 1, body, x)


# %% exercise="repeat" misconception="one_round_too_few" changes="solution"
"""Your function makes one round too few, unless `times` is 0. Like `range`, `fori_loop` stops before its `stop`, so a loop that starts at 1 has a round less."""
-    return jax.lax.fori_loop(0, layer["times"], body, x)
+    return jax.lax.fori_loop(1, layer["times"], body, x)


# %% exercise="repeat" misconception="a_formula_for_the_sum"
"""Where `w` is 1, your result is nan: the formula for a geometric sum divides by `w - 1`. A loop has no such special case."""


def repeat(layer, x):
    power = layer["w"] ** layer["times"]
    return power * x + layer["b"] * (power - 1) / (layer["w"] - 1)


# %% exercise="repeat" misconception="the_layer_is_changed"
"""Your function changes the caller's layer. Python does not copy a dict when you call a function with it: `pop` or setting an entry changes the caller's dict. Under jit this does not show, because JAX rebuilds the dict for each call."""


def repeat(layer, x):
    times = layer.pop("times")
    return jax.lax.fori_loop(0, times, lambda _, x: layer["w"] * x + layer["b"], x)


# %% exercise="repeat" misconception="one_round_only"
"""Your result is that of one round, whatever `times` is. Either `times` is not used, or your code returns in the first round."""


def repeat(layer, x):
    return layer["w"] * x + layer["b"]


# %% exercise="repeat" misconception="b_is_multiplied_too" changes="solution"
"""Your result is that of `w * (x + b)` in each round. Python multiplies before it adds, so in the task's formula `b` is not multiplied in its own round."""
-        return layer["w"] * x + layer["b"]
+        return layer["w"] * (x + layer["b"])


# %% exercise="repeat" misconception="the_number_of_the_round" changes="solution"
"""Your function computes with the number of the round instead of `x`. `fori_loop` calls its body with the number of the round first, and then with the value so far."""
-    def body(_, x):
+    def body(x, _):


# %% exercise="repeat" misconception="the_whole_state"
"""You return a tuple: the counter, and then `x`. A `while_loop` returns its whole state; the task asks for `x` alone."""


def repeat(layer, x):
    return jax.lax.while_loop(
        lambda state: state[0] < layer["times"],
        lambda state: (state[0] + 1, layer["w"] * state[1] + layer["b"]),
        (0, x),
    )


# %% exercise="repeat" misconception="the_layer_is_static" section="five-places-for-a-constant" changes="range_of_a_tracer"
"""Your function fails with each layer, because you made the layer a static argument: a dict has no hash. And the caller wants `times` to be traced."""
+@partial(jax.jit, static_argnums=0)
 def repeat(layer, x):


# %% exercise="repeat" misconception="a_product_of_matrices"
"""Your function computes `w @ x`, a product of matrices: it fails where `w` has no axes, and adds up the products elsewhere. The task has `w * x`, which multiplies number by number."""


def repeat(layer, x):
    return jax.lax.fori_loop(0, layer["times"], lambda _, x: layer["w"] @ x + layer["b"], x)


# %% exercise="repeat" misconception="counts_down_in_the_layer"
"""Without jit, the caller's `times` is 0 after the call, unless it was 0 before: you use the entry of the dict as the counter of your loop. The dict belongs to the caller: count in a variable of your own."""


def repeat(layer, x):
    def body(state):
        times, x = state
        return times - 1, layer["w"] * x + layer["b"]

    state = layer["times"], x
    layer["times"], x = jax.lax.while_loop(lambda state: state[0] > 0, body, state)
    return x


# %% exercise="new_optimiser" starter=True
predictions = {
    "A": ...,  # for _ in range(3): f(State(one, sgd))
    "B": ...,  # for _ in range(3): f(State(one, optax.sgd(0.1)))
    "C": ...,  # for _ in range(3): g(one, optax.sgd(0.1))
    "D": ...,  # for rate in [0.1, 0.01, 0.001]: f(optax.adam(rate).init(one))
    "E": ...,  # for epoch in range(3): f(State(one, sgd), epoch)
    "F": ...,  # for _ in range(3): f(State(one, lambda x: 2 * x))
    "G": ...,  # for _ in range(3): f(Partial(step, 0.1))
    "H": ...,  # for _ in range(3): f(Partial(lambda x: 2 * x, 0.1))
    "I": ...,  # for _ in range(3): f(State(one, jax.jit(step)))
    "J": ...,  # for _ in range(3): f(State(one, ("sgd", 0.1)))
}


# %% exercise="new_optimiser" variant="counted_by_running_them"
@partial(register_dataclass, data_fields=["params"], meta_fields=["tx"])
@dataclass
class State:
    params: object
    tx: object


def count(calls, static=None):
    traced = []

    def f(*inputs):
        traced.append(inputs)
        return 0

    jitted = jax.jit(f, static_argnums=static)
    for inputs in calls:
        jitted.trace(*inputs)  # it asks the same cache as a call does, and compiles nothing
    return len(traced)


def step(rate, x):
    return rate * x


one, sgd = np.ones(2), optax.sgd(0.1)
predictions = {
    "A": count([(State(one, sgd),) for _ in range(3)]),
    "B": count([(State(one, optax.sgd(0.1)),) for _ in range(3)]),
    "C": count([(one, optax.sgd(0.1)) for _ in range(3)], static=1),
    "D": count([(optax.adam(rate).init(one),) for rate in [0.1, 0.01, 0.001]]),
    "E": count([(State(one, sgd), epoch) for epoch in range(3)]),
    "F": count([(State(one, lambda x: 2 * x),) for _ in range(3)]),
    "G": count([(Partial(step, 0.1),) for _ in range(3)]),
    "H": count([(Partial(lambda x: 2 * x, 0.1),) for _ in range(3)]),
    "I": count([(State(one, jax.jit(step)),) for _ in range(3)]),
    "J": count([(State(one, ("sgd", 0.1)),) for _ in range(3)]),
}


# %% exercise="new_optimiser" variant="with_numpy_integers"
predictions = dict(zip("ABCDEFGHIJ", np.array([1, 3, 3, 1, 1, 3, 1, 3, 3, 1])))


# %% exercise="new_optimiser" misconception="equal_settings_are_equal" met="google-deepmind/optax#353, google-deepmind/optax#197, google/flax#5548"
"""1 would be right if two optimisers with the same settings were equal. But `optax.sgd(0.1)` makes two new functions each time, and functions are equal only if they are the same object."""
predictions = dict(A=1, B=1, C=3, D=1, E=1, F=3, G=1, H=3, I=3, J=1)


# %% exercise="new_optimiser" misconception="static_arguments_look_inside" met="google-deepmind/optax#353"
"""1 would be right if jit looked for the settings inside a static argument. It compares the argument with `==`, as it does with aux_data. Are two optimisers equal that were made one after the other?"""
predictions = dict(A=1, B=3, C=1, D=1, E=1, F=3, G=1, H=3, I=3, J=1)


# %% exercise="new_optimiser" misconception="equal_code_is_equal" met="jax-ml/jax#14743"
"""1 would be right if JAX compared the code of functions. A `lambda` in a loop makes a new function in each turn, and the new one is not equal to the old one."""
predictions = dict(A=1, B=3, C=3, D=1, E=1, F=1, G=1, H=3, I=3, J=1)


# %% exercise="new_optimiser" misconception="a_partial_is_always_cached" met="jax-ml/jax#14183"
"""1 would be right if the arguments of a `Partial` decided alone. Its function is aux_data, so it is compared too; and here it is made anew in each turn."""
predictions = dict(A=1, B=3, C=3, D=1, E=1, F=3, G=1, H=1, I=3, J=1)


# %% exercise="new_optimiser" misconception="a_partial_is_never_equal"
"""3 would be right for `functools.partial` in aux_data. JAX's `Partial` is a node: its function is aux_data, here the same object each time, and its arguments are leaves."""
predictions = dict(A=1, B=3, C=3, D=1, E=1, F=3, G=3, H=3, I=3, J=1)


# %% exercise="new_optimiser" misconception="jitted_functions_are_equal" met="patrick-kidger/equinox#686"
"""1 would be right if two jitted functions of the same `step` were equal. `jax.jit` returns a new object each time, and aux_data is compared with `==`."""
predictions = dict(A=1, B=3, C=3, D=1, E=1, F=3, G=1, H=3, I=1, J=1)


# %% exercise="new_optimiser" misconception="the_state_keeps_its_maker"
"""3 would be right if an optimiser's state held the optimiser or its rate. `init` returns a tree with a count and arrays like the parameters. Their values, and where they come from, are not compared."""
predictions = dict(A=1, B=3, C=3, D=3, E=1, F=3, G=1, H=3, I=3, J=1)


# %% exercise="new_optimiser" misconception="the_epoch_is_static"
"""3 is one trace for each number of the epoch. A plain int that is an argument is a leaf: JAX traces it, and its value does not count."""
predictions = dict(A=1, B=3, C=3, D=1, E=3, F=3, G=1, H=3, I=3, J=1)


# %% exercise="new_optimiser" misconception="compared_by_identity"
"""3 would be right if aux_data had to be the same object. Each turn makes a new tuple here. But JAX compares with `==`, and tuples with equal items are equal."""
predictions = dict(A=1, B=3, C=3, D=1, E=1, F=3, G=1, H=3, I=3, J=3)


# %% exercise="new_optimiser" misconception="a_new_state_is_a_new_trace"
"""3 would be right if each new `State` needed a trace. Only its structure is compared, with the optimiser in it, and here that is the same object three times."""
predictions = dict(A=3, B=3, C=3, D=1, E=1, F=3, G=1, H=3, I=3, J=1)


# %% exercise="new_optimiser" misconception="each_call_is_traced"
"""This is the number of calls. jit traces once for each key of its cache, and finds the program of an earlier call with an equal key."""
predictions = dict(A=3, B=3, C=3, D=3, E=3, F=3, G=3, H=3, I=3, J=3)


# %% exercise="new_optimiser" misconception="one_trace_for_the_training"
"""1 would be right if the leaves alone decided. In aux_data, in a static argument and in a `Partial`, the function is a part of the key, and a function is equal to no other."""
predictions = dict(A=1, B=1, C=1, D=1, E=1, F=1, G=1, H=1, I=1, J=1)


# %% exercise="new_optimiser" misconception="the_first_trace_does_not_count"
"""This is one too few. A new jitted function has an empty cache, so its first call is a trace like any other."""
predictions = dict(A=0, B=2, C=2, D=0, E=0, F=2, G=0, H=2, I=2, J=0)


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


# %% exercise="static_wrapper" variant="only_floats_can_be_nan" changes="solution"
     """
-
...
-        is_nan = self.value != self.value
+        is_nan = isinstance(self.value, float) and self.value != self.value
...
-        return isinstance(other, Static) and self.key() == other.key()
+        return self.key() == other.key()


# %% exercise="static_wrapper" misconception="plain_equality" section="equality-and-hash"
"""Your `Static` compares values with a bare `==`. So `1 == 1.0 == True`, and jit runs the wrong program without an error. And each `nan` is unequal to every other `nan`, and costs a trace."""


@jax.tree_util.register_static
@dataclass(frozen=True)
class Static:
    value: object


# %% exercise="static_wrapper" misconception="nan_is_forgotten" section="functions-in-aux-data"
"""Your answer tells the types apart. But two `nan` are not equal, so jit makes a new trace for each of them. In Python `nan` is unequal even to itself, and since Python 3.10 its hash depends on the object."""


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


# %% exercise="static_wrapper" misconception="the_hash_of_nan" section="functions-in-aux-data" changes="nan_is_forgotten"
"""In your answer, two `Static` of `nan` are equal, but their hashes differ. Since Python 3.10 the hash of a `nan` depends on the object. Equal values must have equal hashes."""
-        return (
-            isinstance(other, Static)
-            and type(self.value) is type(other.value)
-            and self.value == other.value
-        )
+        if not isinstance(other, Static) or type(self.value) is not type(other.value):
+            return False
+        both_nan = self.value != self.value and other.value != other.value
+        return both_nan or self.value == other.value


# %% exercise="static_wrapper" misconception="isnan_of_anything" changes="the_hash_of_nan"
"""Your `==` fails for two different strings. `math.isnan` and `np.isnan` take numbers only, and the value may be a string."""
+import math
+
+
 @jax.tree_util.register_static
...
-        both_nan = self.value != self.value and other.value != other.value
-        return both_nan or self.value == other.value
+        if self.value == other.value:
+            return True
+        return math.isnan(self.value) and math.isnan(other.value)
...
-        return hash((type(self.value), self.value))
+        return hash(repr(self.value))


# %% exercise="static_wrapper" misconception="the_bare_value_in_aux" section="part-of-the-type" changes="solution"
"""Your `Static` has a good `==`, but jit does not use it: jit compares the aux_data that flatten returned. Your aux_data is the bare value, with the `==` of the value."""
-@jax.tree_util.register_static
+@register_pytree_node_class
...
     """
-
...
-        is_nan = self.value != self.value
-        return type(self.value), "nan" if is_nan else self.value
+        return type(self.value), "nan" if self.value != self.value else self.value
...
         return hash(self.key())
+
+    def tree_flatten(self):
+        return (), self.value
+
+    @classmethod
+    def tree_unflatten(cls, value, children):
+        return cls(value)


# %% exercise="static_wrapper" misconception="a_plain_dataclass" section="equality-and-hash"
"""Your `Static` compares values with a bare `==`, so jit uses the trace for 2 also for 2.0, and it has no hash. A dataclass gets an `__eq__` that compares the fields, and then Python removes its `__hash__`."""


@register_dataclass
@dataclass
class Static:
    value: object = field(metadata=dict(static=True))


# %% exercise="static_wrapper" misconception="types_are_forgotten" section="equal-but-not-the-same" changes="the_hash_of_nan"
"""Your `nan` is right, but numbers of different types are equal: in Python, `2 == 2.0` and `1 == True`. Then jit runs the program for 2 also for 2.0, and the dtype of the result is wrong."""
-        if not isinstance(other, Static) or type(self.value) is not type(other.value):
+        if not isinstance(other, Static):
...
         both_nan = self.value != self.value and other.value != other.value
         return both_nan or self.value == other.value
...
-        return hash((type(self.value), self.value))
+        return hash("nan" if self.value != self.value else self.value)


# %% exercise="static_wrapper" misconception="compared_by_identity" met="patrick-kidger/diffrax#287" section="equality-and-hash"
"""Two of your `Static` with the same value are not equal, so jit traces for each new object. Python compares objects of a class without `__eq__` by identity."""


@jax.tree_util.register_static
class Static:
    def __init__(self, value):
        self.value = value


# %% exercise="static_wrapper" misconception="not_registered" changes="solution"
"""For JAX your `Static` is one opaque leaf, and not a node. jit raises an error, and `jax.tree.map` calls the function with the whole object. You have to register a class, even when it has `__eq__` and `__hash__`."""
-@jax.tree_util.register_static
...
     """
-
...
-        is_nan = self.value != self.value
-        return type(self.value), "nan" if is_nan else self.value
+        return type(self.value), "nan" if self.value != self.value else self.value


# %% exercise="static_wrapper" misconception="the_value_is_a_leaf" section="ints-under-jit" changes="the_bare_value_in_aux"
"""Your `Static` has a leaf. So jit traces the value: a number becomes a tracer, and for a string jit raises an error. `jax.tree.map` changes the value, too."""
-        return (), self.value
+        return (self.value,), None
...
-    def tree_unflatten(cls, value, children):
-        return cls(value)
+    def tree_unflatten(cls, aux, children):
+        return cls(*children)


# %% exercise="static_wrapper" misconception="always_equal" section="a-list-in-aux-data" changes="compared_by_identity"
"""All your `Static` are equal, so jit runs the program with the first value for all of them, without an error. jit does not look at the value, only at the result of `==`."""
         self.value = value
+
+    def __eq__(self, other):
+        return isinstance(other, Static)
+
+    def __hash__(self):
+        return 0


# %% exercise="static_wrapper" misconception="equality_without_hash" section="equality-and-hash" changes="not_registered"
"""Your `Static` has no hash. When a class defines `__eq__` but no `__hash__`, Python removes its hash. jit may work without a hash, but JAX's documentation asks for aux_data with a hash."""
+@jax.tree_util.register_static
 class Static:
...
-
-    def __hash__(self):
-        return hash(self.key())


# %% exercise="static_wrapper" misconception="type_and_text_are_compared" section="equality-and-hash" changes="solution"
"""In your answer, `0.0` and `-0.0` are not equal, but `==` says that they are equal. You compare the strings that `repr` makes of the values, and equal values may look different."""
     """
-
...
-        is_nan = self.value != self.value
-        return type(self.value), "nan" if is_nan else self.value
+        return type(self.value), repr(self.value)


# %% exercise="static_wrapper" misconception="a_subclass_is_the_same_type" section="equality-and-hash" changes="the_hash_of_nan"
"""Your answer depends on the order: `a == b` is True, but `b == a` is False. You use `isinstance` with the types of the two values. For `isinstance`, a bool is an int, but an int is not a bool."""
-        if not isinstance(other, Static) or type(self.value) is not type(other.value):
+        if not isinstance(other, Static) or not isinstance(other.value, type(self.value)):
...
-        return hash((type(self.value), self.value))
+        return hash("nan" if self.value != self.value else self.value)


# %% exercise="static_wrapper" misconception="isnan_of_every_value" changes="the_hash_of_nan"
"""Your `Static` fails for a string, even for two equal ones. `math.isnan` and `np.isnan` take numbers only: ask them last, or compare in another way."""
+import math
+
+
 @jax.tree_util.register_static
...
-        both_nan = self.value != self.value and other.value != other.value
-        return both_nan or self.value == other.value
+        if math.isnan(self.value) and math.isnan(other.value):
+            return True
+        return self.value == other.value
...
-        return hash((type(self.value), self.value))
+        return hash("nan" if math.isnan(self.value) else (type(self.value), self.value))


# %% exercise="static_wrapper" misconception="a_bool_is_an_int" section="equal-but-not-the-same" changes="always_equal"
"""In your answer, `1` and `True` are equal, so jit would use the trace of one for the other. For `isinstance`, and as a number, a bool is an int; but the types of the two values differ."""
-        return isinstance(other, Static)
+        if not isinstance(other, Static):
+            return False
+        one, two = self.value, other.value
+        if not (isinstance(one, type(two)) or isinstance(two, type(one))):
+            return False
+        return one == two or (one != one and two != two)
...
-        return 0
+        return hash("nan" if self.value != self.value else self.value)
