# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="map_tree" variant="by_map"
def map_tree(f, tree):
    return jax.tree.map(f, tree)


# %% exercise="map_tree" variant="by_a_loop"
def map_tree(f, tree):
    leaves, structure = jax.tree.flatten(tree)
    results = []
    for leaf in leaves:
        results.append(f(leaf))
    return structure.unflatten(results)


# %% exercise="map_tree" variant="by_two_calls"
def map_tree(f, tree):
    return jax.tree.unflatten(jax.tree.structure(tree), map(f, jax.tree.leaves(tree)))


# %% exercise="map_tree" misconception="returns_a_list" changes="solution"
"""Your result is a list of results, without the structure of the tree. Put them together again: `jax.tree.unflatten(structure, results)`."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    return [f(leaf) for leaf in leaves]


# %% exercise="map_tree" misconception="calls_it_on_the_tree"
"""You call `f` with the whole tree. `f` is a function of one leaf: call it once for each."""
def map_tree(f, tree):
    return f(tree)


# %% exercise="map_tree" misconception="forgets_the_function" changes="solution"
"""Your result has the old leaves. In a round trip of flatten and unflatten, the leaves in between should go through `f`; and in a loop, `leaf = f(leaf)` gives a name a new value, not the tree."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    return jax.tree.unflatten(structure, leaves)


# %% exercise="map_tree" misconception="swapped_arguments" changes="solution"
"""`jax.tree.unflatten` takes the structure first, then the leaves. What you give it first is no structure: that is the second result of `jax.tree.flatten`, and neither the tree nor a list."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    return jax.tree.unflatten([f(leaf) for leaf in leaves], structure)


# %% exercise="map_tree" misconception="none_is_a_leaf"
"""You call `f` with each `None`. `None` is a node without children: it stays where it is, and `f` never sees it."""
def map_tree(f, tree):
    return jax.tree.map(f, tree, is_leaf=lambda node: node is None)


# %% exercise="map_tree" misconception="top_level"
"""You call `f` with the items of the outermost container, and some of these are containers themselves. `jax.tree.flatten` finds the leaves at every depth."""
def map_tree(f, tree):
    if isinstance(tree, dict):
        return {key: f(item) for key, item in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)([f(item) for item in tree])
    return f(tree)


# %% exercise="map_tree" misconception="walks_plain_containers"
"""Your function is right for dicts, lists and tuples, and for no other node. JAX's registry has more of them. Let `jax.tree.flatten` take the tree apart, and `jax.tree.unflatten` rebuild it."""
def map_tree(f, tree):
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: map_tree(f, item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [map_tree(f, item) for item in tree]
    if isinstance(tree, tuple):
        return tuple([map_tree(f, item) for item in tree])
    return f(tree)


# %% exercise="map_tree" misconception="unpacks_the_leaves" changes="solution"
"""Your call of `f` gets all leaves at once. `f` is a function of one leaf: call it once for each."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    return jax.tree.unflatten(structure, f(leaves))


# %% exercise="map_tree" misconception="skips_what_is_false" changes="solution"
"""You leave leaves such as 0, `False` and the empty string as they are. They count as false in a Python test, and are leaves like any other: `f` is called for each of them."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    return jax.tree.unflatten(structure, [f(leaf) if leaf else leaf for leaf in leaves])


# %% exercise="map_tree" misconception="returns_nothing" changes="solution"
"""Your function returns `None`. Build the tree of the new leaves, and `return` it."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])


# %% exercise="map_tree" misconception="returns_an_iterator" changes="solution"
"""Your result is an iterator, as Python's `map` returns: it computes nothing until somebody goes through it, and it has no structure. Put the new leaves together: `jax.tree.unflatten(structure, results)`."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    return map(f, leaves)


# %% exercise="map_tree" misconception="a_pair_is_the_leaves"
"""Your call of `f` gets what `jax.tree.flatten` returns: first the whole list of leaves, and then the structure. `jax.tree.flatten` returns two things; give each of them a name of its own."""
def map_tree(f, tree):
    return [f(leaf) for leaf in jax.tree.flatten(tree)]


# %% exercise="map_tree" misconception="one_array_of_leaves" changes="solution"
"""Your call of `f` gets an array of all leaves, or your results are NumPy's numbers. The leaves of a tree may be anything, and of any shapes: call `f` once for each, with the leaf as it is."""
-    return jax.tree.unflatten(structure, [f(leaf) for leaf in leaves])
+    return jax.tree.unflatten(structure, f(np.array(leaves)))


# %% exercise="map_tree" misconception="items_of_one_dict"
"""Your function is right for one dict of leaves only: it asks the tree for its `.items()`, and calls `f` with whatever stands there, a container too. A tree may be a list or a single leaf; `jax.tree.flatten` finds the leaves of any tree."""
def map_tree(f, tree):
    return {name: f(item) for name, item in tree.items()}


# %% exercise="map_tree" misconception="only_dicts_are_nodes"
"""You go into dicts only: everything else reaches `f`, a list, a tuple or a `None` too. JAX's registry has more nodes. Let `jax.tree.flatten` take the tree apart."""
def map_tree(f, tree):
    if isinstance(tree, dict):
        return {key: map_tree(f, item) for key, item in tree.items()}
    return f(tree)


# %% exercise="map_tree" misconception="dicts_and_lists_are_nodes"
"""You go into dicts and lists: everything else reaches `f`, a tuple or a `None` too. JAX's registry has more nodes. Let `jax.tree.flatten` take the tree apart."""
def map_tree(f, tree):
    if isinstance(tree, dict):
        return {key: map_tree(f, item) for key, item in tree.items()}
    if isinstance(tree, list):
        return [map_tree(f, item) for item in tree]
    return f(tree)


# %% exercise="map_tree" misconception="rebuilds_by_type"
"""You walk through dicts, lists and tuples yourself, and rebuild each with its type: this fails for a namedtuple, which takes its fields one by one, and other nodes reach `f`. `jax.tree.unflatten` rebuilds every node."""
def map_tree(f, tree):
    if tree is None:
        return None
    if isinstance(tree, dict):
        return {key: map_tree(f, item) for key, item in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(map_tree(f, item) for item in tree)
    return f(tree)


# %% exercise="map_tree" misconception="every_sequence_becomes_a_list" changes="rebuilds_by_type"
"""Your result has a list in the place of a tuple or namedtuple. A map keeps the type of every node. `jax.tree.unflatten` rebuilds each node as it was."""
-        return type(tree)(map_tree(f, item) for item in tree)
+        return [map_tree(f, item) for item in tree]


# %% exercise="map_tree" misconception="rebuilds_by_type_without_none" changes="rebuilds_by_type"
"""You walk through dicts, lists and tuples yourself: other nodes reach `f`, `None` too, and a namedtuple cannot be rebuilt from one list. `jax.tree.flatten` knows all nodes, and `jax.tree.unflatten` rebuilds them."""
-    if tree is None:
-        return None


# %% exercise="map_tree" misconception="writes_into_the_tree"
"""You write the results into the caller's dict, at its top level only, and fail where the tree is no dict. Leave the caller's tree as it is, and build a new one with `jax.tree.unflatten`."""
def map_tree(f, tree):
    for key in tree:
        tree[key] = f(tree[key])
    return tree


# %% exercise="map_trees" variant="by_map"
def map_trees(f, first, *others):
    return jax.tree.map(f, first, *others)


# %% exercise="map_trees" variant="by_places"
def map_trees(f, first, *others):
    leaves, structure = jax.tree.flatten(first)
    lists = [leaves, *[structure.flatten_up_to(other) for other in others]]
    results = []
    for place in range(len(leaves)):
        results.append(f(*[items[place] for items in lists]))
    return structure.unflatten(results)


# %% exercise="map_trees" variant="by_python_map"
def map_trees(f, first, *others):
    structure = jax.tree.structure(first)
    lists = map(structure.flatten_up_to, [first, *others])
    return jax.tree.unflatten(structure, map(f, *lists))


# %% exercise="map_trees" misconception="pairs_in_order"
"""You flatten the other trees all the way down, and pair their leaves with those of `first` in order. This is right only where the structures are equal. `structure.flatten_up_to(other)` stops where `first` has a leaf, and raises an error where a tree does not fit."""
def map_trees(f, first, *others):
    leaves, structure = jax.tree.flatten(first)
    lists = [jax.tree.leaves(other) for other in others]
    return jax.tree.unflatten(structure, [f(*row) for row in zip(leaves, *lists)])


# %% exercise="map_trees" misconception="returns_a_list" changes="solution"
"""Your result is a list of results, without the structure of `first`. Put them together again with `jax.tree.unflatten`."""
-    results = [f(*row) for row in zip(leaves, *lists)]
-    return jax.tree.unflatten(structure, results)
+    return [f(*row) for row in zip(leaves, *lists)]


# %% exercise="map_trees" misconception="a_row_is_one_argument" changes="solution"
"""Your call of `f` gets one argument, a tuple. `jax.tree.map` calls its function with one argument for each tree: with a star, `f(*row)`, each item of the row is an argument of its own."""
-    results = [f(*row) for row in zip(leaves, *lists)]
-    return jax.tree.unflatten(structure, results)
+    return jax.tree.unflatten(structure, [f(row) for row in zip(leaves, *lists)])


# %% exercise="map_trees" misconception="one_other_only"
"""Your function is right for two trees only. `others` is a tuple of any length, also an empty one: make a list for each of them."""
def map_trees(f, first, *others):
    leaves, structure = jax.tree.flatten(first)
    items = structure.flatten_up_to(others[0])
    return jax.tree.unflatten(structure, [f(*row) for row in zip(leaves, items)])


# %% exercise="map_trees" misconception="leaves_out_the_first" changes="solution"
"""Your call of `f` gets leaves and parts of the other trees, but not the leaf of `first`, which should be its first argument."""
-    results = [f(*row) for row in zip(leaves, *lists)]
-    return jax.tree.unflatten(structure, results)
+    return jax.tree.unflatten(structure, [f(*row) for row in zip(*lists)])


# %% exercise="map_trees" misconception="the_first_comes_last" changes="solution"
"""Your call of `f` gets the leaf of `first` as its last argument. The arguments come in the order of the trees."""
-    results = [f(*row) for row in zip(leaves, *lists)]
-    return jax.tree.unflatten(structure, results)
+    return jax.tree.unflatten(structure, [f(*row) for row in zip(*lists, leaves)])


# %% exercise="map_trees" misconception="equal_structures_only" changes="pairs_in_order"
"""You ask for equal structures. But another tree may go on where `first` has a leaf: then `f` gets the whole subtree, or a `None`, that it has there."""
     leaves, structure = jax.tree.flatten(first)
+    if any(jax.tree.structure(other) != structure for other in others):
+        raise ValueError("the structures differ")


# %% exercise="map_trees" misconception="copies_the_first" met="jax-ml/jax#35996"
"""Where another tree goes on below a leaf of `first`, you call `f` once for each leaf there. `f` is called once for each leaf of `first`, and gets the whole subtree."""
def map_trees(f, first, *others):
    def call(leaf, *parts):
        return jax.tree.map(lambda *row: f(leaf, *row), *parts) if parts else f(leaf)

    return jax.tree.map(call, first, *others)


# %% exercise="map_trees" misconception="none_is_a_leaf" met="patrick-kidger/equinox#753"
"""You take `None` in `first` for a leaf, and call `f` there. `None` is a node without children: `f` is not called, and the other trees must have a `None` there too."""
def map_trees(f, first, *others):
    return jax.tree.map(f, first, *others, is_leaf=lambda node: node is None)


# %% exercise="map_trees" misconception="forgets_the_star" changes="solution"
"""Your rows are wrong: `zip(leaves, lists)` pairs a leaf with a whole list, and stops when there is no list left. With a star, `zip(leaves, *lists)` goes through all lists together."""
-    results = [f(*row) for row in zip(leaves, *lists)]
+    results = [f(*row) for row in zip(leaves, lists)]


# %% exercise="map_trees" misconception="the_others_are_one_tree" met="jax-ml/jax#20451" changes="solution"
"""You hand the tuple `others` to `flatten_up_to` as if it were one tree, so that JAX raises an error nearly everywhere. Each tree in `others` has a list of its own."""
-    lists = [structure.flatten_up_to(other) for other in others]
+    lists = [structure.flatten_up_to(others)]


# %% exercise="map_trees" misconception="f_of_the_trees"
"""You call `f` with the whole trees. `f` is called once for each leaf of `first`, with this leaf and what the others have at its place."""
def map_trees(f, first, *others):
    return f(first, *others)


# %% exercise="map_trees" misconception="each_tree_alone"
"""You map `f` over one tree after the other, so each call gets one argument. A call needs the leaf of `first` together with what the others have at its place."""
def map_trees(f, first, *others):
    return [jax.tree.map(f, tree) for tree in (first, *others)]


# %% exercise="map_trees" misconception="two_trees_at_a_time"
"""You take in one tree after the other, so `f` gets two arguments at a time, and none for `first` alone. One call of `f` gets everything at a place: as many arguments as there are trees."""
def map_trees(f, first, *others):
    for other in others:
        first = jax.tree.map(f, first, other)
    return first


# %% exercise="map_trees" misconception="one_tree_after_the_other"
"""You call `f` with two leaves at a time, and its result goes into the next call. `f` gets a leaf of every tree in one call: as many arguments as there are trees. With a function such as `max` both are the same."""


def map_trees(f, first, *others):
    leaves, structure = jax.tree.flatten(first)
    for other in others:
        pairs = zip(leaves, structure.flatten_up_to(other), strict=True)
        leaves = [f(leaf, part) for leaf, part in pairs]
    return jax.tree.unflatten(structure, leaves)


# %% exercise="map_trees" misconception="walks_plain_containers"
"""You walk through dicts, lists and tuples yourself: what differs in another tree goes unnoticed, and other nodes, `None` too, reach `f`. `structure.flatten_up_to(other)` knows all nodes, and raises an error where a tree does not fit."""
def map_trees(f, first, *others):
    if isinstance(first, dict):
        return {key: map_trees(f, *[tree[key] for tree in (first, *others)]) for key in first}
    if isinstance(first, (list, tuple)):
        return type(first)([map_trees(f, *row) for row in zip(first, *others)])
    return f(first, *others)


# %% exercise="map_trees" misconception="walks_and_keeps_none" changes="walks_plain_containers"
"""You walk through dicts, lists and tuples yourself: what differs in another tree goes unnoticed, and other nodes reach `f` or cannot be rebuilt. `structure.flatten_up_to(other)` knows all nodes, and raises an error where a tree does not fit."""
+    if first is None:
+        return None
     if isinstance(first, dict):


# %% exercise="map_trees" misconception="walks_dicts" changes="walks_plain_containers"
"""You go into dicts only, so lists, tuples and `None` reach `f`, and what differs in another tree goes unnoticed. `structure.flatten_up_to(other)` knows all nodes."""
-    if isinstance(first, (list, tuple)):
-        return type(first)([map_trees(f, *row) for row in zip(first, *others)])


# %% exercise="map_trees" misconception="the_rest_is_one_argument" changes="solution"
"""Your call of `f` gets the leaf of `first`, and a list of everything else. Each item of a row is an argument of its own: `f(*row)`."""
-    results = [f(*row) for row in zip(leaves, *lists)]
+    results = [f(leaf, rest) for leaf, *rest in zip(leaves, *lists)]


# %% exercise="map_trees" misconception="whole_lists_for_a_leaf" changes="solution"
"""Each call of `f` gets whole lists: all that another tree has, not what it has at this place. `zip(leaves, *lists)` goes through all lists together."""
-    results = [f(*row) for row in zip(leaves, *lists)]
+    results = [f(leaf, *lists) for leaf in leaves]


# %% exercise="same_shapes" variant="by_python"
def same_shapes(a, b):
    pairs = zip(jax.tree.leaves(a), jax.tree.leaves(b))
    return all(x.shape == y.shape for x, y in pairs)


# %% exercise="same_shapes" variant="by_lists_of_shapes"
def same_shapes(a, b):
    return [x.shape for x in jax.tree.leaves(a)] == [y.shape for y in jax.tree.leaves(b)]


# %% exercise="same_shapes" variant="by_trees_of_shapes"
def same_shapes(a, b):
    return jax.tree.map(np.shape, a) == jax.tree.map(np.shape, b)


# %% exercise="same_shapes" misconception="returns_a_tree"
"""Your result is a tree of `True` and `False`, one for each place. Make one answer of it: `jax.tree.all` asks whether all leaves of a tree are true."""
def same_shapes(a, b):
    return jax.tree.map(lambda x, y: x.shape == y.shape, a, b)


# %% exercise="same_shapes" misconception="compares_sizes"
"""Your answer is `True` for two arrays with the same number of elements. Arrays of shape (2,) and (2, 1) have the same size, and another shape."""
def same_shapes(a, b):
    return jax.tree.all(jax.tree.map(lambda x, y: x.size == y.size, a, b))


# %% exercise="same_shapes" misconception="counts_axes"
"""Your answer is `True` for two arrays with the same number of axes. Shapes are equal if each axis has the same length."""
def same_shapes(a, b):
    return jax.tree.all(jax.tree.map(lambda x, y: x.ndim == y.ndim, a, b))


# %% exercise="same_shapes" misconception="compares_structures"
"""Your answer is `True` for all trees of the same structure. A structure knows nothing of shapes: look at the leaves."""
def same_shapes(a, b):
    return jax.tree.structure(a) == jax.tree.structure(b)


# %% exercise="same_shapes" misconception="compares_values"
"""Your answer is `False` where shapes are equal and numbers differ. Only the shapes are asked for."""
def same_shapes(a, b):
    return jax.tree.all(jax.tree.map(np.array_equal, a, b))


# %% exercise="same_shapes" misconception="compares_dtypes_too"
"""Your answer is `False` where shapes are equal and dtypes differ. Only the shapes are asked for."""
def same_shapes(a, b):
    return jax.tree.all(jax.tree.map(lambda x, y: (x.shape, x.dtype) == (y.shape, y.dtype), a, b))


# %% exercise="same_shapes" misconception="first_leaf_only" changes="by_python"
"""Your answer depends on the first leaf only. Compare the shapes at every place."""
-    return all(x.shape == y.shape for x, y in pairs)
+    return next((x.shape == y.shape for x, y in pairs), True)


# %% exercise="same_shapes" misconception="one_place_is_enough" changes="by_python"
"""Your answer is `True` as soon as the shapes are equal at one place. They have to be equal at every place."""
-    return all(x.shape == y.shape for x, y in pairs)
+    return any([x.shape == y.shape for x, y in pairs])


# %% exercise="same_shapes" misconception="fits_by_broadcasting"
"""Your answer is `True` where NumPy can broadcast one array to the other. That is the very bug that this function should find: shapes such as (2,) and (2, 1) differ."""
def same_shapes(a, b):
    def fits(x, y):
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return False
        return True

    return jax.tree.all(jax.tree.map(fits, a, b))


# %% exercise="same_shapes" misconception="all_asks_the_container" changes="solution"
"""Python's `all` goes through the outermost container only: a non-empty container inside, or a string key, counts as true. `jax.tree.all` asks the leaves."""
-    return jax.tree.all(same)
+    return same if isinstance(same, bool) else all(same or ())


# %% exercise="same_shapes" misconception="compares_lengths"
"""You compare the lengths of the arrays, that is their first axes. An array may have more axes, or none: its `shape` has them all."""
def same_shapes(a, b):
    return jax.tree.all(jax.tree.map(lambda x, y: len(x) == len(y), a, b))


# %% exercise="same_shapes" misconception="shapes_flow_together"
"""Your answer is `True` if the numbers of all shapes, one after the other, are the same. A shape is a tuple, so JAX opens it: (2, 3) and () have the same numbers as (2,) and (3,). Compare one whole shape with another."""
def same_shapes(a, b):
    return jax.tree.leaves(jax.tree.map(np.shape, a)) == jax.tree.leaves(jax.tree.map(np.shape, b))


# %% exercise="same_shapes" misconception="in_any_order"
"""Your answer is `True` if both trees have the same shapes, at whatever places. Sorted lists and sets forget the places: compare two arrays at the same place."""
def same_shapes(a, b):
    return sorted(x.shape for x in jax.tree.leaves(a)) == sorted(x.shape for x in jax.tree.leaves(b))


# %% exercise="same_shapes" misconception="adds_up_the_sizes"
"""Your answer is `True` if both trees hold as many numbers in all. Compare the shapes at each place."""
def same_shapes(a, b):
    return sum(x.size for x in jax.tree.leaves(a)) == sum(x.size for x in jax.tree.leaves(b))


# %% exercise="same_shapes" misconception="a_tree_has_a_shape"
"""You ask a tree for its `.shape`: only arrays have one, and your function is right for two bare arrays only. Map a function of two leaves over both trees."""
def same_shapes(a, b):
    return a.shape == b.shape


# %% exercise="same_shapes" misconception="values_of_one_dict"
"""Your function is right for one dict of arrays only: it fails at a list, a bare array or a dict in a dict. `jax.tree.map` goes through any tree."""
def same_shapes(a, b):
    return all(a[name].shape == b[name].shape for name in a.keys())


# %% exercise="same_shapes" misconception="shapes_are_leaves"
"""Your function raises an error where two arrays differ in the number of axes. A shape is a tuple, so in a tree of shapes JAX opens it, and the two structures differ. Compare the shapes of two arrays in one function of two leaves."""
def same_shapes(a, b):
    one, other = jax.tree.map(np.shape, a), jax.tree.map(np.shape, b)
    return jax.tree.all(jax.tree.map(lambda x, y: x == y, one, other))


# %% exercise="same_shapes" misconception="last_leaf_only" changes="by_python"
"""Your answer depends on the last leaf only: in a loop, each comparison replaces the one before. The shapes have to be equal at every place."""
-    return all(x.shape == y.shape for x, y in pairs)
+    return [True, *(x.shape == y.shape for x, y in pairs)][-1]


# %% exercise="same_shapes" misconception="the_wrong_way_round"
"""Your answer is the wrong way round: `True` if the shapes differ at every place. Ask whether they are equal."""
def same_shapes(a, b):
    return jax.tree.all(jax.tree.map(lambda x, y: x.shape != y.shape, a, b))


# %% exercise="same_shapes" misconception="equal_trees"
"""You compare the two trees with `==`. Python then compares the arrays in them number by number, which fails, or gives an array. Only the shapes are asked for: map over both trees."""
def same_shapes(a, b):
    return a == b


# %% exercise="rates_by_part" variant="by_broadcast"
def rates_by_part(rates, params, grads):
    rates = jax.tree.broadcast(rates, params)
    return jax.tree.map(lambda p, g, rate: p - rate * g, params, grads, rates)


# %% exercise="rates_by_part" variant="steps_first"
def rates_by_part(rates, params, grads):
    steps = jax.tree.map(
        lambda rate, part: jax.tree.map(lambda g: rate * g, part), rates, grads
    )
    return jax.tree.map(lambda p, step: p - step, params, steps)


# %% exercise="rates_by_part" misconception="any_tree_may_be_the_prefix" changes="by_broadcast"
"""Your function fails as soon as one rate stands for a part with several leaves: `params` comes first in your map. The first tree decides where the leaves are, so only the first tree may be the prefix."""
-    rates = jax.tree.broadcast(rates, params)


# %% exercise="rates_by_part" misconception="only_leaves_arrive" met="jax-ml/jax#35996"
"""Your function fails with a `TypeError` where one rate stands for a whole part. There, JAX passes the whole part to your function, a dict or a list, and Python cannot multiply a dict or a list by a rate."""
def rates_by_part(rates, params, grads):
    return jax.tree.map(lambda rate, p, g: p - rate * g, rates, params, grads)


# %% exercise="rates_by_part" misconception="pairs_by_position"
"""Your function pairs rates and leaves by their positions in two lists. One rate can stand for several leaves, so the positions do not fit. Some leaves are lost, or get a wrong rate."""
def rates_by_part(rates, params, grads):
    leaves, structure = jax.tree.flatten(params)
    new = [
        p - rate * g for rate, p, g in zip(jax.tree.leaves(rates), leaves, jax.tree.leaves(grads))
    ]
    return jax.tree.unflatten(structure, new)


# %% exercise="rates_by_part" misconception="one_level_of_rates"
"""Your function takes the rates from the outermost dict only. A prefix can stop at any depth: it may be one number for the whole tree, or stop deeper, in a list or a dict."""
def rates_by_part(rates, params, grads):
    return {
        name: jax.tree.map(lambda p, g: p - rates[name] * g, params[name], grads[name])
        for name in params
    }


# %% exercise="rates_by_part" misconception="zero_is_no_rate" changes="solution"
"""Where a rate is 0, your parameters change: a test such as `rate or 1` takes 0 for a missing rate. 0 is a rate like others: with rate 0, the part stays as it is."""
-        return jax.tree.map(lambda p, g: p - rate * g, part, grads)
+        return jax.tree.map(lambda p, g: p - (rate or 1.0) * g, part, grads)


# %% exercise="rates_by_part" misconception="one_rate_for_all"
"""Every part gets the first rate in your function. `rates` is a prefix of `params`: each number stands for the part of the tree at its own place."""
def rates_by_part(rates, params, grads):
    rate = jax.tree.leaves(rates)[0]
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


# %% exercise="rates_by_part" misconception="list_and_tuple_are_the_same" section="several-trees" changes="solution"
"""You accept a list of rates for a tuple of parameters. In Python both are sequences. But to JAX they are two kinds of nodes, so a list is no prefix of a tuple."""
+    if isinstance(rates, list) and isinstance(params, tuple):
+        rates = tuple(rates)
     return jax.tree.map(step, rates, params, grads)


# %% exercise="rates_by_part" misconception="none_is_no_step" section="none-in-each-place" changes="solution"
"""You accept a `None` in `rates` where `params` has an array or a part, as if it said "no step". To JAX `None` is a node, so it fits only a `None` in `params`."""
     def step(rate, part, grads):
+        if rate is None:
+            return part
...
-    return jax.tree.map(step, rates, params, grads)
+    return jax.tree.map(step, rates, params, grads, is_leaf=lambda node: node is None)


# %% exercise="rates_by_part" misconception="items_of_the_rates" section="the-prefix-rule"
"""You are right for a dict of rates only, and lose the parameters of a key that `rates` does not have: you go over `rates.items()`. A prefix may be a number, a list or another node, and may stop deeper."""
def rates_by_part(rates, params, grads):
    return {
        name: jax.tree.map(lambda p, g: p - rate * g, params[name], grads[name])
        for name, rate in rates.items()
    }


# %% exercise="rates_by_part" misconception="no_prefix_no_step" changes="solution"
"""Where `rates` is no prefix, you return the unchanged parameters. Then training goes on without a step, and no message says why. Do not catch the error."""
-    return jax.tree.map(step, rates, params, grads)
+    try:
+        return jax.tree.map(step, rates, params, grads)
+    except ValueError:
+        return params


# %% exercise="rates_by_part" misconception="goes_uphill" changes="solution"
"""You add the step instead of subtracting it. A gradient points in the direction in which the function grows fastest, so your step goes uphill."""
-        return jax.tree.map(lambda p, g: p - rate * g, part, grads)
+        return jax.tree.map(lambda p, g: p + rate * g, part, grads)


# %% exercise="rates_by_part" misconception="the_step_alone" changes="solution"
"""You return the rates times the gradients, without the parameters. The task asks for the parameters after the step."""
-        return jax.tree.map(lambda p, g: p - rate * g, part, grads)
+        return jax.tree.map(lambda p, g: rate * g, part, grads)


# %% exercise="rates_by_part" misconception="the_rates_are_lost" changes="solution"
"""You subtract the whole gradient, as if every rate were 1. Multiply each gradient by the rate of its part."""
-        return jax.tree.map(lambda p, g: p - rate * g, part, grads)
+        return jax.tree.map(lambda p, g: p - g, part, grads)


# %% exercise="rates_by_part" misconception="all_the_gradients_for_a_part" section="several-trees"
"""Your function fails as soon as `rates` has parts: the map over a part takes the whole of `grads`. A part of `params` goes with the same part of `grads`: pass both trees to the outer map."""
def rates_by_part(rates, params, grads):
    def step(rate, part):
        return jax.tree.map(lambda p, g: p - rate * g, part, grads)

    return jax.tree.map(step, rates, params)


# %% exercise="rates_by_part" misconception="a_rate_for_each_leaf" section="the-prefix-rule"
"""You refuse every prefix that is shorter than `params`: you ask for two equal structures. A prefix need not have the same structure: one number may stand for a whole part."""
def rates_by_part(rates, params, grads):
    if jax.tree.structure(rates) != jax.tree.structure(params):
        raise ValueError("rates and params have different structures")
    return jax.tree.map(lambda rate, p, g: p - rate * g, rates, params, grads)


# %% exercise="rates_by_part" misconception="dicts_alone_are_parts" section="the-prefix-rule"
"""Your function goes down into dicts of rates only. Where `rates` has a list, a tuple or another node, it fails, or raises another error than JAX's. A map with `rates` first knows all kinds of nodes."""
def rates_by_part(rates, params, grads):
    if isinstance(rates, dict):
        return {name: rates_by_part(rates[name], params[name], grads[name]) for name in params}
    return jax.tree.map(lambda p, g: p - rates * g, params, grads)


# %% exercise="rates_by_part" misconception="returns_the_parts" changes="by_broadcast"
"""You return a list of leaves. The tree around them is lost: parameters keep their structure in a step."""
-    return jax.tree.map(lambda p, g, rate: p - rate * g, params, grads, rates)
+    return jax.tree.leaves(jax.tree.map(lambda p, g, rate: p - rate * g, params, grads, rates))


# %% exercise="rates_by_part" misconception="goes_down_dicts_of_rates" section="the-prefix-rule" changes="dicts_alone_are_parts"
"""Your function goes down into dicts of rates only, key by key. Where `rates` has a list, a tuple or another node, it fails; and a key that is missing in `rates` is missing in your result. A map with `rates` first knows all kinds of nodes, and compares the keys."""
-        return {name: rates_by_part(rates[name], params[name], grads[name]) for name in params}
+        return {name: rates_by_part(rates[name], params[name], grads[name]) for name in rates}


# %% exercise="rates_by_part" misconception="a_key_too_many_is_ignored" section="the-prefix-rule"
"""You go down the dicts of `params` yourself, key by key: a key that only `rates` has goes unnoticed, and a rate that cannot be multiplied, such as `None`, raises another error than JAX's. A map with `rates` first compares the structures."""
def rates_by_part(rates, params, grads):
    if isinstance(rates, dict) and isinstance(params, dict):
        return {name: rates_by_part(rates[name], params[name], grads[name]) for name in params}
    if isinstance(rates, (list, tuple)):
        return jax.tree.map(
            rates_by_part, rates, params, grads, is_leaf=lambda node: node is not rates
        )
    return jax.tree.map(lambda p, g: p - rates * g, params, grads)


# %% exercise="rates_by_part" misconception="each_part_becomes_a_list" changes="solution"
"""Where one rate stands for a part, your result has a list of its leaves; a single array becomes a list too. The part keeps its structure: map over the two parts, instead of listing their leaves."""
-        return jax.tree.map(lambda p, g: p - rate * g, part, grads)
+        pairs = zip(jax.tree.leaves(part), jax.tree.leaves(grads))
+        return [p - rate * g for p, g in pairs]


# %% exercise="rates_by_part" misconception="follows_the_path_with_a_default" section="the-prefix-rule"
"""You follow the path of each leaf through `rates`, with 0 where a key is missing. So you give a result where `rates` is no prefix, or raise another error than JAX's. A map with `rates` first compares the structures."""
def rates_by_part(rates, params, grads):
    def step(path, p, g):
        rate = rates
        for entry in path:
            if isinstance(rate, dict):
                rate = rate.get(entry.key, 0.0)
            elif isinstance(rate, (list, tuple)):
                rate = rate[entry.idx if hasattr(entry, "idx") else entry.name]
            else:
                break
        return p - rate * g

    return jax.tree.map_with_path(step, params, grads)


# %% exercise="decay_mask" starter=True
def decay_mask(params):
    """Return a tree like `params`: False for each leaf named `bias`, True for the others.

    >>> decay_mask({"head": {"weight": np.ones((2, 2)), "bias": np.ones(2)}})
    {'head': {'bias': False, 'weight': True}}
    """
    return jax.tree.map_with_path(lambda path, leaf: "bias" not in path, params)


# %% exercise="decay_mask" variant="by_comparing_entries"
def decay_mask(params):
    biases = [jax.tree_util.DictKey("bias")], [jax.tree_util.GetAttrKey("bias")]
    return jax.tree.map_with_path(lambda path, leaf: list(path[-1:]) not in biases, params)


# %% exercise="decay_mask" variant="by_kind_of_entry"
def decay_mask(params):
    def name(path):
        if not path:
            return None
        if isinstance(path[-1], jax.tree_util.GetAttrKey):
            return path[-1].name
        return getattr(path[-1], "key", None)

    pairs, structure = jax.tree.flatten_with_path(params)
    return jax.tree.unflatten(structure, [name(path) != "bias" for path, _ in pairs])


# %% exercise="decay_mask" misconception="paths_hold_texts" met="huggingface/transformers#11936"
"""All of your mask is `True`. A path is no tuple of strings: it holds objects such as `DictKey(key='bias')`, and such an object never equals a string."""
def decay_mask(params):
    return jax.tree.map_with_path(lambda path, leaf: "bias" not in path, params)


# %% exercise="decay_mask" misconception="bias_somewhere_in_the_text"
"""You give `False` to leaves with longer names, such as `bias_scale`, or to a part called `unbiased`. A search for letters in a string finds them in longer names too."""
def decay_mask(params):
    return jax.tree.map_with_path(
        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
    )


# %% exercise="decay_mask" misconception="bias_at_the_end_of_the_text" changes="bias_somewhere_in_the_text"
"""You give `False` to leaves such as `pre_bias`, whose names only end in `bias`. Compare the whole name, not the end of a string."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: not jax.tree_util.keystr(path, simple=True).endswith("bias"), params


# %% exercise="decay_mask" misconception="bias_anywhere_in_the_path" changes="solution"
"""You give `False` to all leaves in a part that is called `bias`. A path has an entry for every part above the leaf. Only the last entry is the name of the leaf."""
-        return keystr(path[-1:], simple=True) != "bias"
+        names = [getattr(entry, "key", getattr(entry, "name", None)) for entry in path]
+        return "bias" not in names


# %% exercise="decay_mask" misconception="the_path_is_one_text" changes="solution"
"""You give `False` to a leaf whose name only ends in `/bias`: you join the path to one string and split the string again. But a key can contain the separator, and then you split inside the key."""
-        return keystr(path[-1:], simple=True) != "bias"
+        text = jax.tree_util.keystr(path, simple=True, separator="/")
+        return text.split("/")[-1] != "bias"


# %% exercise="decay_mask" misconception="every_leaf_has_a_name" changes="solution"
"""Your function fails on a bare array. A leaf that is the whole tree has an empty path: there is no last entry to look at."""
-        return keystr(path[-1:], simple=True) != "bias"
+        return getattr(path[-1], "key", getattr(path[-1], "name", None)) != "bias"


# %% exercise="decay_mask" misconception="every_entry_has_a_key"
"""Your function fails in lists, in namedtuples, and where the path is empty. A dict's entry has a `.key`. A list's entry has an `.idx` instead, and a namedtuple's entry a `.name`."""
def decay_mask(params):
    return jax.tree.map_with_path(lambda path, leaf: path[-1].key != "bias", params)


# %% exercise="decay_mask" misconception="only_dicts_have_names" changes="bias_somewhere_in_the_text"
"""You are right for dicts, but the field `bias` of a namedtuple decays. In a path, only the entry of a dict has a `.key`: the entry of a field has its name in another attribute."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: not path or getattr(path[-1], "key", None) != "bias", params


# %% exercise="decay_mask" misconception="biases_are_vectors" met="google-deepmind/optax#25, salesforce/jaxformer#28"
"""Your mask follows the number of axes: `False` for vectors, `True` for matrices. Often this gives the same mask, but a weight can be a vector too. This exercise asks for the name."""
def decay_mask(params):
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)


# %% exercise="decay_mask" misconception="mask_of_the_biases" met="huggingface/transformers#11936" changes="bias_somewhere_in_the_text"
"""Your mask is the wrong way round: `True` for the biases. In this mask, `True` means that the leaf decays."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: jax.tree_util.keystr(path[-1:], simple=True) == "bias", params


# %% exercise="decay_mask" misconception="a_piece_of_the_last_name" changes="bias_somewhere_in_the_text"
"""You give `False` to leaves with longer names, such as `bias_scale` or `unbiased`. You look at the right entry of the path, and then for `bias` within its string. Compare the whole name."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: "bias" not in jax.tree_util.keystr(path[-1:], simple=True), params


# %% exercise="decay_mask" misconception="the_first_entry" changes="bias_somewhere_in_the_text"
"""You look at the beginning of the path: every leaf in a part called `bias` gets `False`, and a bias inside another part decays. The name of a leaf is the last entry of its path."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: jax.tree_util.keystr(path[:1], simple=True) != "bias", params


# %% exercise="decay_mask" misconception="the_path_is_one_name" changes="bias_somewhere_in_the_text"
"""You find a bias in the outermost dict or namedtuple only; inside a part, the bias decays: you compare the string of the whole path. For a leaf inside a part, this string begins with the name of the part."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: jax.tree_util.keystr(path, simple=True) != "bias", params


# %% exercise="decay_mask" misconception="one_level_of_names"
"""You put one bool in the place of a whole part, and fail on a list or a bare array, which has no `.items`: you go over the outermost dict only. A mask has a bool for each leaf, at any depth."""
def decay_mask(params):
    return {name: name != "bias" for name, part in params.items()}


# %% exercise="decay_mask" misconception="dicts_and_lists_only"
"""You put one bool in the place of a namedtuple or a tuple, or a bool where there is a `None`: you go into dicts and lists only. JAX knows more nodes, and `None` is one without children."""
def decay_mask(params, name=None):
    if isinstance(params, dict):
        return {key: decay_mask(value, key) for key, value in params.items()}
    if isinstance(params, list):
        return [decay_mask(value) for value in params]
    return name != "bias"


# %% exercise="decay_mask" misconception="none_gets_a_bool" section="none-in-each-place" changes="bias_somewhere_in_the_text"
"""You put a bool where the tree holds `None`. A `None` is no leaf: there is nothing to decay, and the `None` stays, unless `is_leaf` makes JAX pass it to your function."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: jax.tree_util.keystr(path[-1:], simple=True) != "bias",
+        params,
+        is_leaf=lambda node: node is None,


# %% exercise="decay_mask" misconception="a_list_of_bools"
"""You return a list of bools, one for each leaf. A mask is a tree of the same structure as `params`, so that it can be mapped together with them."""
def decay_mask(params):
    pairs, _ = jax.tree.flatten_with_path(params)
    return [jax.tree_util.keystr(path[-1:], simple=True) != "bias" for path, _ in pairs]


# %% exercise="decay_mask" misconception="the_decayed_parameters" changes="solution"
"""You return the parameters, or zeros in the place of the biases. The task asks for a mask: `True` or `False` for each leaf."""
-        return keystr(path[-1:], simple=True) != "bias"
+        return leaf if jax.tree_util.keystr(path[-1:], simple=True) != "bias" else leaf * 0


# %% exercise="decay_mask" misconception="everything_but_the_weights" changes="bias_somewhere_in_the_text"
"""You give `True` only to leaves called `weight`. The mask is `False` for biases alone: a leaf with any other name decays, and so does one in a list."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: jax.tree_util.keystr(path[-1:], simple=True) == "weight", params


# %% exercise="decay_mask" misconception="the_entry_is_a_text"
"""Your mask is `True` everywhere, and a bare array raises an error: you compare the last entry with the string `bias`. An entry is an object such as `DictKey(key='bias')`, and never equals a string; and an empty path has no last entry."""
def decay_mask(params):
    return jax.tree.map_with_path(lambda path, leaf: path[-1] != "bias", params)


# %% exercise="decay_mask" misconception="all_but_the_empty_path_have_keys" changes="bias_somewhere_in_the_text"
"""Your function fails where the last entry of a path belongs to a list, a tuple or a namedtuple. Only some entries have a `.key`: a list's entry has an `.idx`, and a namedtuple's field has a `.name`. `keystr` writes every kind of entry."""
-        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
+        lambda path, leaf: not path or path[-1].key != "bias", params


# %% exercise="decay_mask" misconception="the_last_name_counts" changes="solution"
"""You give `False` to arrays in a list or a tuple that is called `bias`. The last entry of such a path is a position, such as 1, and a position is not `bias`. Only the last entry counts, whatever its kind is; do not skip entries without a name."""
-        return keystr(path[-1:], simple=True) != "bias"
+        names = [
+            getattr(entry, "key", getattr(entry, "name", None))
+            for entry in path
+            if not isinstance(entry, jax.tree_util.SequenceKey)
+        ]
+        return names[-1:] != ["bias"]


# %% exercise="stack_trees" variant="by_numpy"
def stack_trees(trees):
    first, *others = trees
    for other in others:
        jax.tree.map(lambda *_: None, other, first)  # where `first` stops earlier, it raises
    return jax.tree.map(lambda *leaves: np.stack(leaves), first, *others)


def unstack(tree):
    leaves, structure = jax.tree.flatten(tree)
    return [jax.tree.unflatten(structure, rows) for rows in zip(*leaves)]


# %% exercise="stack_trees" variant="by_structure"
def stack_trees(trees):
    structure = jax.tree.structure(trees[0])
    for tree in trees:
        if jax.tree.structure(tree) != structure:
            raise ValueError("the trees have different structures")
    columns = zip(*(jax.tree.leaves(tree) for tree in trees))
    return jax.tree.unflatten(structure, [jnp.array(column) for column in columns])


def unstack(tree):
    leaves = jax.tree.leaves(tree)
    return [jax.tree.map(lambda leaf: leaf[i, ...], tree) for i in range(leaves[0].shape[0])]


# %% exercise="stack_trees" misconception="lists_instead_of_arrays" changes="solution"
"""In your stacked tree each leaf became a list. To JAX a list is a node, so there are as many leaves as before: such a tree is transposed, not stacked."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(lambda *leaves: list(leaves), *trees)


# %% exercise="stack_trees" misconception="joins_end_to_end" changes="solution"
"""You join your leaves end to end: two vectors of length 2 become one vector of length 4. `concatenate` makes an axis longer. A stack has a new axis."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees)


# %% exercise="stack_trees" misconception="rows_below_rows" changes="solution"
"""You are right for vectors only: a matrix gets no new axis, and a single number gets one too many. `vstack` puts rows below rows; what it does depends on how many axes there are."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(lambda *leaves: jnp.vstack(leaves), *trees)


# %% exercise="stack_trees" misconception="two_trees" changes="solution"
"""Your `stack_trees` takes exactly two trees: it fails for one tree, and loses a third tree. With a star, a function takes any number of arguments. So does `jax.tree.map`."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(lambda a, b: jnp.stack([a, b]), trees[0], trees[1])


# %% exercise="stack_trees" misconception="last_axis"
"""Both your functions use the last axis, so rows and columns are swapped. The task asks for the first axis: one row for each tree."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves, axis=-1), *trees)


def unstack(tree):
    count = jax.tree.leaves(tree)[0].shape[-1]
    return [jax.tree.map(lambda leaf: leaf[..., i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="maps_over_the_list" met="patrick-kidger/equinox#397, google-deepmind/jraph#10" section="several-trees" changes="solution"
"""Your result is still a list of trees. To JAX, a list of trees is one tree. So a map over this list takes each leaf alone, and never two leaves together. (`jax.vmap` does not go through the list either: it runs along an axis of each leaf.)"""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(lambda *leaves: jnp.stack(leaves), trees)


# %% exercise="stack_trees" misconception="keys_do_not_matter" section="several-trees" changes="solution"
"""You stack trees with different keys without an error. Lists of leaves do not know the place of each leaf, so `w` of one tree is stacked with `v` of another tree."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    columns = zip(*(jax.tree.leaves(tree) for tree in trees))
+    structure = jax.tree.structure(trees[0])
+    return jax.tree.unflatten(structure, [jnp.stack(column) for column in columns])


# %% exercise="stack_trees" misconception="counts_the_entries" changes="solution"
"""Your `unstack` gives too many or too few trees: `len` of a tree is the number of entries of its outermost container, such as the keys of a dict. The number of rows is the length of a leaf."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(len(tree))]


# %% exercise="stack_trees" misconception="rows_in_one_tree" changes="solution"
"""Your `unstack` returns one tree with a list of rows in each place. A map keeps the tree outside and puts its results inside; here the list should be outside."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    return jax.tree.map(list, tree)


# %% exercise="stack_trees" misconception="keeps_the_axis" changes="solution"
"""The arrays in your unstacked trees have one axis too many, of length 1. A slice such as `leaf[0:1]` keeps its axis, where an index takes it away."""
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    return [jax.tree.map(lambda leaf: leaf[i : i + 1], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="squeezes" changes="solution"
"""Your unstacked arrays have lost an axis of length 1 that belongs to them. `squeeze` removes every such axis. Remove only the first axis."""
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    return [jax.tree.map(lambda leaf: leaf[i].squeeze(), tree) for i in range(count)]


# %% exercise="stack_trees" misconception="stack_takes_the_leaves" section="several-trees" changes="solution"
"""Your `stack_trees` fails for two trees and more, and returns the leaves of a single tree as they are: `jnp.stack` itself is called by the map. The map passes one leaf of each tree, each as an argument of its own, and `jnp.stack` takes all arrays in one list."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(jnp.stack, *trees)


# %% exercise="stack_trees" misconception="stacks_along_the_last_axis" changes="solution"
"""Your `stack_trees` puts the new axis last, so rows and columns are swapped. The new axis comes first, one row for each tree."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(lambda *leaves: jnp.stack(leaves, axis=-1), *trees)


# %% exercise="stack_trees" misconception="unstacks_along_the_last_axis" changes="solution"
"""Your `unstack` takes the trees from the last axis: you get columns, not rows. The trees were stacked along the first axis."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    count = jax.tree.leaves(tree)[0].shape[-1]
+    return [jax.tree.map(lambda leaf: leaf[..., i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="keys_of_the_first_dict" section="several-trees" changes="solution"
"""Your `stack_trees` is right for dicts of arrays only, and does not notice a key that another tree has and the first has not. `jax.tree.map` knows all nodes, and compares the structures."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return {name: jnp.stack([tree[name] for tree in trees]) for name in trees[0]}


# %% exercise="stack_trees" misconception="a_generator_is_a_list" changes="solution"
"""Your `unstack` returns a generator. It can be used once, and JAX takes it for a single leaf, not for a list of trees. The task asks for a list."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    for i in range(len(jax.tree.leaves(tree)[0])):
+        yield jax.tree.map(lambda leaf: leaf[i], tree)


# %% exercise="stack_trees" misconception="rows_without_their_trees" changes="solution"
"""Your `unstack` returns tuples of rows: each has the leaves of one tree, and the tree around them is lost. Put each of them back into the structure."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    return list(zip(*jax.tree.leaves(tree)))


# %% exercise="stack_trees" misconception="lists_of_rows" changes="solution"
"""Your `unstack` returns lists of rows: each has the leaves of one tree, and the tree around them is lost. Put each of them back into the structure."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    leaves = jax.tree.leaves(tree)
+    return [[leaf[i] for leaf in leaves] for i in range(len(leaves[0]))]


# %% exercise="stack_trees" misconception="counts_the_leaves" changes="solution"
"""Your `unstack` gives as many trees as there are leaves. Each tree has a row of every leaf, so their number is the number of rows in any one leaf."""
-    count = len(jax.tree.leaves(tree)[0])
+    count = len(jax.tree.leaves(tree))


# %% exercise="stack_trees" misconception="unstacks_one_dict" changes="solution"
"""Your `unstack` is right for one dict of arrays only: it asks the tree for its `.items()` or `.values()`. A tree may be a list, a bare array or a dict in a dict."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    count = len(next(iter(tree.values())))
+    return [{name: leaf[i] for name, leaf in tree.items()} for i in range(count)]


# %% exercise="stack_trees" misconception="the_list_is_one_argument" changes="solution"
"""Your `stack_trees` fails everywhere: it gives whole trees to `jnp.stack`, which takes arrays only. Stack leaf by leaf."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jnp.stack(trees)


# %% exercise="stack_trees" misconception="a_tree_is_an_array" changes="solution"
"""Your `unstack` is right for a bare array only. An index on a dict asks for a key, and on a list for an item: take the rows leaf by leaf."""
-    count = len(jax.tree.leaves(tree)[0])
-    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]
+    return [tree[i] for i in range(len(tree))]


# %% exercise="stack_trees" misconception="a_list_is_an_array" changes="solution"
"""Your `stack_trees` gives a result where one tree has an array and another has a list or a tuple of numbers. `np.stack` and `jnp.array` make an array of any list of numbers, so the difference of the structures goes unnoticed."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)
+    return jax.tree.map(lambda *leaves: jnp.asarray(np.stack(leaves)), *trees)


# %% exercise="stack_trees" misconception="counts_the_first_value" changes="solution"
"""Your `unstack` takes the first value of a dict for an array: it fails where the tree is a list or a bare array, or where this value is a container. `jax.tree.leaves(tree)[0]` is the first leaf of any tree."""
-    count = len(jax.tree.leaves(tree)[0])
+    count = next(iter(tree.values())).shape[0]


# %% exercise="scale_and_zero" variant="by_unflatten"
def scale(tree, factor):
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, [factor * leaf for leaf in leaves])


def zero(tree):
    leaves, structure = jax.tree.flatten(tree)
    return jax.tree.unflatten(structure, [jnp.zeros(leaf.shape, leaf.dtype) for leaf in leaves])


# %% exercise="scale_and_zero" variant="with_numpy"
def scale(tree, factor):
    return jax.tree.map(lambda leaf: np.asarray(leaf) * np.float32(factor), tree)


def zero(tree):
    return jax.tree.map(np.zeros_like, tree)


# %% exercise="scale_and_zero" misconception="zero_is_times_zero" changes="solution"
"""Your zeros hold `nan` where the array held `inf` or `nan`: you compute with the old numbers. In floating point, `inf` times 0 and `inf` minus `inf` are `nan`, and `nan` stays `nan`."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(lambda leaf: leaf * 0, tree)


# %% exercise="scale_and_zero" misconception="only_nan_is_special" changes="solution"
"""Your zeros hold `nan` where the array held `inf`. Zero times `inf` is `nan`, and replacing each `nan` first does not change that: zeros should not depend on the old values at all."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(lambda leaf: jnp.where(jnp.isnan(leaf), 0, leaf) * 0, tree)


# %% exercise="scale_and_zero" misconception="zeros_are_float" changes="solution"
"""Your zeros have the right shape, but arrays of whole numbers became floats. A shape does not say the dtype: zeros made from a shape alone are `float32`."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), tree)


# %% exercise="scale_and_zero" misconception="the_factor_is_a_tree" section="several-trees" changes="solution"
"""Your `scale` raises a `ValueError` wherever there is a container: `jax.tree.map` takes a factor behind the tree for a second tree, and a number does not fit a container."""
-    return jax.tree.map(lambda leaf: leaf * factor, tree)
+    return jax.tree.map(jnp.multiply, tree, factor)


# %% exercise="scale_and_zero" misconception="zero_is_a_number" changes="solution"
"""Your `zero` puts the Python number 0 where an array was. `jax.tree.map` keeps the tree, but each leaf becomes exactly what your function returns. So the shape and the dtype are gone."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(lambda leaf: 0, tree)


# %% exercise="scale_and_zero" misconception="returns_the_leaves" changes="solution"
"""Your functions return a list: the new leaves without their tree. Changing the leaves is half of a map. The other half is to keep the structure around the leaves."""
-    return jax.tree.map(lambda leaf: leaf * factor, tree)
+    return [leaf * factor for leaf in jax.tree.leaves(tree)]
...
-    return jax.tree.map(jnp.zeros_like, tree)
+    return [jnp.zeros_like(leaf) for leaf in jax.tree.leaves(tree)]


# %% exercise="scale_and_zero" misconception="one_dict_only" changes="solution"
"""Your functions work on one dict of arrays, and fail on a bare array, a list or a dict in a dict. A tree can have any form and depth: let JAX walk through it."""
-    return jax.tree.map(lambda leaf: leaf * factor, tree)
+    return {name: leaf * factor for name, leaf in tree.items()}
...
-    return jax.tree.map(jnp.zeros_like, tree)
+    return {name: jnp.zeros_like(leaf) for name, leaf in tree.items()}


# %% exercise="scale_and_zero" misconception="zeros_of_an_array" changes="solution"
"""Your `zero` fails on nearly every array: `jnp.zeros` takes a shape, and reads the numbers of an array as the lengths of axes."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(jnp.zeros, tree)


# %% exercise="scale_and_zero" misconception="none_needs_is_leaf" section="none-in-each-place" changes="solution"
"""Your functions raise a `TypeError` where the tree holds `None`: the `None` reaches your arithmetic. It is a node without children, and a map keeps it without being told; `is_leaf` is not needed."""
-    return jax.tree.map(lambda leaf: leaf * factor, tree)
+    return jax.tree.map(lambda leaf: leaf * factor, tree, is_leaf=lambda node: node is None)
...
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(jnp.zeros_like, tree, is_leaf=lambda node: node is None)


# %% exercise="scale_and_zero" misconception="a_length_is_no_shape" changes="solution"
"""Your zeros for a matrix have one axis only, or your `zero` fails on a single number. `len` of an array is the length of its first axis; its shape has all of them."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(lambda leaf: jnp.zeros(len(leaf), leaf.dtype), tree)


# %% exercise="scale_and_zero" misconception="numpys_zeros_are_float64" changes="solution"
"""Your zeros are `float64`, whatever the array was. `np.zeros` with a shape alone makes `float64`; the dtype of the old array has to be asked for."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(lambda leaf: np.zeros(leaf.shape), tree)


# %% exercise="scale_and_zero" misconception="one_zero_for_a_tree" changes="solution"
"""Your `zero` works on a bare array only. `jnp.zeros_like` takes one array, not a tree: it has to be called for every leaf."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jnp.zeros_like(tree)


# %% exercise="scale_and_zero" misconception="an_array_for_none" section="none-in-each-place" changes="solution"
"""Your `zero` puts an array where the tree holds `None`. A `None` is no leaf: there is no array to make zeros of, and a map keeps the `None` without being told."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(
+        lambda leaf: jnp.zeros(()) if leaf is None else jnp.zeros_like(leaf),
+        tree,
+        is_leaf=lambda node: node is None,
+    )


# %% exercise="scale_and_zero" misconception="one_number_for_an_array" changes="solution"
"""Your `zero` puts the number 0 in the place of each array: shape and dtype are lost. Each leaf becomes exactly what your function returns, so return an array of zeros."""
-    return jax.tree.map(jnp.zeros_like, tree)
+    return jax.tree.map(lambda leaf: 0.0, tree)


# %% exercise="scale_and_zero" misconception="a_loop_changes_nothing" changes="solution"
"""Both functions return the tree unchanged. In a loop such as `for leaf in leaves: leaf = ...`, the name gets a new value; the tree still holds the old arrays, and JAX's arrays cannot be changed. Return a new tree: `jax.tree.map` builds it."""
-    return jax.tree.map(lambda leaf: leaf * factor, tree)
+    for leaf in jax.tree.leaves(tree):
+        leaf = leaf * factor
+    return tree
...
-    return jax.tree.map(jnp.zeros_like, tree)
+    for leaf in jax.tree.leaves(tree):
+        leaf = jnp.zeros_like(leaf)
+    return tree


# %% exercise="sgd_step" variant="in_two_maps"
def sgd_step(params, grads, rate):
    steps = jax.tree.map(lambda g: rate * g, grads)
    return jax.tree.map(jnp.subtract, params, steps)


# %% exercise="sgd_step" variant="by_structure"
def sgd_step(params, grads, rate):
    leaves, structure = jax.tree.flatten(params)
    if jax.tree.structure(grads) != structure:
        raise ValueError("params and grads have different structures")
    new = [p - rate * g for p, g in zip(leaves, jax.tree.leaves(grads))]
    return jax.tree.unflatten(structure, new)


# %% exercise="sgd_step" misconception="goes_uphill" section="several-trees"
"""You add the step instead of subtracting it. A gradient points in the direction in which the function grows fastest, so your step goes uphill."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: p + rate * g, params, grads)


# %% exercise="sgd_step" misconception="trees_the_wrong_way_round"
"""Your results start from the gradient instead of the parameter. JAX passes the leaves in the order of the trees: a leaf of the first tree is the first argument of your function."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: p - rate * g, grads, params)


# %% exercise="sgd_step" misconception="trees_are_numbers"
"""Your function is right for bare arrays only, and fails for containers. Python has no arithmetic for dicts: to compute with trees, you have to reach their leaves."""
def sgd_step(params, grads, rate):
    return params - rate * grads


# %% exercise="sgd_step" misconception="pairs_by_position" section="several-trees"
"""Your function gives a result where the structures differ, if both trees have the same number of leaves: it pairs them in their order alone. So a list counts as a tuple, and one key as another, without an error."""
def sgd_step(params, grads, rate):
    leaves, structure = jax.tree.flatten(params)
    pairs = zip(leaves, jax.tree.leaves(grads), strict=True)
    return jax.tree.unflatten(structure, [p - rate * g for p, g in pairs])


# %% exercise="sgd_step" misconception="pairs_what_there_is" section="several-trees"
"""Your function gives a result where the two structures differ, if `grads` has as many leaves as `params` or more. Lists of leaves do not know the places of the leaves, and `zip` stops where the shorter list ends."""
def sgd_step(params, grads, rate):
    leaves, structure = jax.tree.flatten(params)
    pairs = zip(leaves, jax.tree.leaves(grads))
    return jax.tree.unflatten(structure, [p - rate * g for p, g in pairs])


# %% exercise="sgd_step" misconception="hides_the_error" section="several-trees"
"""You return the unchanged parameters where the two structures differ. Then training goes on without a step, and no message says why. Do not catch the error."""
def sgd_step(params, grads, rate):
    try:
        return jax.tree.map(lambda p, g: p - rate * g, params, grads)
    except ValueError:
        return params


# %% exercise="sgd_step" misconception="the_rate_is_a_tree" section="several-trees"
"""Your function is right for bare arrays only: `jax.tree.map` takes the rate for a third tree. A number is a leaf, and a leaf does not fit a container in the first tree."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g, r: p - r * g, params, grads, rate)


# %% exercise="sgd_step" misconception="none_matches_anything" section="none-in-each-place"
"""You accept a `None` in one of the two trees beside an array in the other, as if it said "nothing to do". To JAX `None` is a node, and it fits only another `None`."""
def sgd_step(params, grads, rate):
    def step(p, g):
        return p if p is None or g is None else p - rate * g

    return jax.tree.map(step, params, grads, is_leaf=lambda node: node is None)


# %% exercise="sgd_step" misconception="one_dict_only"
"""Your function walks over the keys of one dict, so it fails on other containers, on a dict in a dict and on a bare array. `jax.tree.map` walks through any tree."""
def sgd_step(params, grads, rate):
    return {name: params[name] - rate * grads[name] for name in params}


# %% exercise="sgd_step" variant="gradients_first"
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda g, p: p - rate * g, grads, params)


# %% exercise="sgd_step" misconception="no_rate"
"""You subtract the whole gradient: your results are those of the rate 1. The rate says how much of the gradient is one step."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: p - g, params, grads)


# %% exercise="sgd_step" misconception="the_step_alone"
"""You return the step, the rate times the gradient, without the parameters. The task asks for the parameters after this step."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: rate * g, params, grads)


# %% exercise="sgd_step" misconception="returns_the_leaves"
"""You return a list of the new leaves. The tree around them is lost: parameters keep their structure in a step."""
def sgd_step(params, grads, rate):
    return jax.tree.leaves(jax.tree.map(lambda p, g: p - rate * g, params, grads))


# %% exercise="sgd_step" misconception="none_is_a_leaf" section="none-in-each-place"
"""Your function fails where both trees have a `None`: it reaches your arithmetic. To JAX a `None` is a node without children, and a map keeps it without being told; `is_leaf` is not needed."""
def sgd_step(params, grads, rate):
    return jax.tree.map(
        lambda p, g: p - rate * g, params, grads, is_leaf=lambda node: node is None
    )


# %% exercise="sgd_step" misconception="a_leaf_may_be_missing" section="none-in-each-place"
"""You give a result where `grads` has a `None` beside an array of `params`, as if it said "no gradient, no step". Here the structures differ, and that should be an error."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: p if g is None else p - rate * g, params, grads)


# %% exercise="sgd_step" misconception="nothing_on_error"
"""You return `None` where the two structures differ. Then the next step fails far away from the mistake: do not catch the error."""
def sgd_step(params, grads, rate):
    try:
        return jax.tree.map(lambda p, g: p - rate * g, params, grads)
    except (TypeError, ValueError):
        return None


# %% exercise="sgd_step" misconception="no_parameter_no_step" section="none-in-each-place"
"""You give a result where `params` has a `None` and `grads` an array. Where `is_leaf` makes a `None` a leaf, JAX no longer compares what stands beside it. A map keeps each `None` without being told."""
def sgd_step(params, grads, rate):
    return jax.tree.map(
        lambda p, g: None if p is None else p - rate * g,
        params,
        grads,
        is_leaf=lambda node: node is None,
    )


# %% exercise="sgd_step" misconception="a_list_is_an_array"
"""You give a result where `params` has an array and `grads` has a list or a tuple of numbers. Such a container becomes an array, in `jnp.asarray` for example, and the difference of the two structures goes unnoticed."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: p - rate * jnp.asarray(g), params, grads)


# %% exercise="model_mask" starter=True
from flax import nnx  # to try it


def model_mask(model):
    """Return a mask like `model`: False for each parameter named `bias`, True for the others.

    >>> jax.tree.leaves(model_mask(nnx.LayerNorm(2, rngs=nnx.Rngs(0))))  # bias, scale
    [False, True]
    """
    def decays(path, leaf):
        return keystr(path[-1:], simple=True) != "bias"

    return jax.tree.map_with_path(decays, model)


# %% exercise="model_mask" variant="stops_at_parameters"
def model_mask(model):
    from flax import nnx

    def is_param(node):
        return isinstance(node, nnx.Variable)

    def decays(path, leaf):
        is_bias = keystr(path[-1:], simple=True) == "bias"
        return jax.tree.map(lambda _: not is_bias, leaf)

    return jax.tree.map_with_path(decays, model, is_leaf=is_param)


# %% exercise="model_mask" variant="by_whole_paths"
def model_mask(model):
    paths = [path for path, _ in jax.tree.leaves_with_path(model)]
    texts = [keystr(path).removesuffix(".value") for path in paths]
    mask = [not text.endswith(("['bias']", ".bias")) for text in texts]
    return jax.tree.unflatten(jax.tree.structure(model), mask)


# %% exercise="model_mask" variant="the_last_name_that_is_not_value"
def model_mask(model):
    def decays(path, leaf):
        last = getattr(path[-1], "name", None)
        return keystr(path[-2:-1] if last == "value" else path[-1:], simple=True) != "bias"

    return jax.tree.map_with_path(decays, model)


# %% exercise="model_mask" misconception="the_last_entry_is_the_name"
"""Every bias of an NNX model decays, as with the given function. There, the last entry of each path is `.value`: it leads from the `nnx.Param` to its array, and is no name."""
def model_mask(model):
    return jax.tree.map_with_path(
        lambda path, leaf: keystr(path[-1:], simple=True) != "bias", model
    )


# %% exercise="model_mask" misconception="always_the_entry_before" changes="the_last_entry_is_the_name"
"""You look at the entry before the last one, in every model. Only in NNX does the path go on inside of a parameter; in Equinox and in a dict, the last entry is the name."""
-        lambda path, leaf: keystr(path[-1:], simple=True) != "bias", model
+        lambda path, leaf: keystr(path[-2:-1], simple=True) != "bias", model


# %% exercise="model_mask" misconception="one_of_the_last_two" changes="the_last_entry_is_the_name"
"""In Equinox modules and dicts you leave out the parameters of a part that is called `bias`: you look at the last two entries together. Which of the two is the name depends on the last one."""
-        lambda path, leaf: keystr(path[-1:], simple=True) != "bias", model
+        lambda path, leaf: "bias" not in [keystr((e,), simple=True) for e in path[-2:]], model


# %% exercise="model_mask" misconception="anywhere_in_the_path" changes="the_last_entry_is_the_name"
"""You leave out every parameter in a part that is called `bias`. The name of a parameter is one entry of its path; those before it are the parts around it."""
-        lambda path, leaf: keystr(path[-1:], simple=True) != "bias", model
+        lambda path, leaf: "bias" not in [keystr((e,), simple=True) for e in path], model


# %% exercise="model_mask" misconception="letters_in_the_path" changes="the_last_entry_is_the_name"
"""You leave out parameters such as `bias_scale` or `unbiased`: you search the whole path for the letters. Compare one whole name."""
-        lambda path, leaf: keystr(path[-1:], simple=True) != "bias", model
+        lambda path, leaf: "bias" not in keystr(path), model


# %% exercise="model_mask" misconception="letters_at_the_end" changes="the_last_entry_is_the_name"
"""You leave out parameters whose names only end in `bias`, or begin so. A name is one whole entry of the path: compare all of it."""
-        lambda path, leaf: keystr(path[-1:], simple=True) != "bias", model
+        lambda path, leaf: "bias" not in keystr(path[-2:-1] if keystr(path[-1:]) == ".value" else path[-1:]), model


# %% exercise="model_mask" misconception="the_text_ends_in_bias" changes="the_last_entry_is_the_name"
"""You leave out parameters such as `in_proj_bias`: you ask how a text ends. A name is one whole entry of the path: compare all of it."""
-        lambda path, leaf: keystr(path[-1:], simple=True) != "bias", model
+        lambda path, leaf: not keystr(path).strip("]'").removesuffix(".value").endswith("bias"), model


# %% exercise="model_mask" misconception="the_text_is_split" changes="by_whole_paths"
"""You look for a separator in a path's text. A key such as `norm/bias` is one entry, and in the text it looks like two. Compare the entry itself."""
-    texts = [keystr(path).removesuffix(".value") for path in paths]
-    mask = [not text.endswith(("['bias']", ".bias")) for text in texts]
+    texts = [keystr(path, simple=True, separator="/") for path in paths]
+    mask = [text.removesuffix("/value").split("/")[-1] != "bias" for text in texts]


# %% exercise="model_mask" misconception="every_value_is_skipped" changes="solution"
"""You skip `value` and positions wherever they are, until you meet a name. So an array in a list that is called `bias` seems to be a bias. Skip one `value`, at the end."""
-        if names[-1] == "value":
-            names.pop()
+        while names[-1] == "value" or names[-1].isdigit():
+            names.pop()


# %% exercise="model_mask" misconception="only_flax"
"""Your function is right for NNX modules only. It should go on working for Equinox modules and for plain dicts and lists, whose leaves are arrays and no `nnx.Param`."""
def model_mask(model):
    from flax import nnx

    if not isinstance(model, nnx.Module):
        raise TypeError("only for NNX")
    return jax.tree.map_with_path(
        lambda path, leaf: keystr(path[-2:-1], simple=True) != "bias", model
    )


# %% exercise="model_mask" misconception="one_kind_for_the_whole_model" changes="only_flax"
"""Your mask is right for an NNX module, and for a model without one, but not for a dict or a list in which there is one. You ask once, of what class the whole model is. Each leaf's own path says where its name stands."""
-    if not isinstance(model, nnx.Module):
-        raise TypeError("only for NNX")
+    name = slice(-2, -1) if isinstance(model, nnx.Module) else slice(-1, None)
     return jax.tree.map_with_path(
-        lambda path, leaf: keystr(path[-2:-1], simple=True) != "bias", model
+        lambda path, leaf: keystr(path[name], simple=True) != "bias", model


# %% exercise="model_mask" misconception="biases_are_vectors" met="google-deepmind/optax#25, salesforce/jaxformer#28"
"""Your mask follows the number of axes. Here, every parameter is a matrix, the biases too, as in a stack of layers. The task asks for the name."""
def model_mask(model):
    return jax.tree.map(lambda leaf: leaf.ndim > 1, model)


# %% exercise="model_mask" misconception="the_wrong_way_round" met="huggingface/transformers#11936" changes="solution"
"""Your mask is the wrong way round: with it, Optax decays the biases alone. `True` means that a parameter decays."""
-        return names[-1] != "bias"
+        return names[-1] == "bias"


# %% exercise="model_mask" misconception="names_are_keys"
"""Your function fails at modules. In a path, only the entry of a dict has a `.key`. A field's entry has a `.name`, a list's an `.idx`. `keystr` writes every kind."""
def model_mask(model):
    return jax.tree.map_with_path(lambda path, leaf: path[-1].key != "bias", model)


# %% exercise="model_mask" misconception="a_dict_of_bools" changes="solution"
"""You return a mask of another structure than the model, such as a dict of paths or a list, and Optax cannot map over both. Build the mask like `model`."""
-    return jax.tree.map_with_path(decays, model)
+    return {keystr(path): decays(path, leaf) for path, leaf in jax.tree.leaves_with_path(model)}


# %% exercise="model_mask" misconception="the_state_is_the_model" changes="the_last_entry_is_the_name"
"""Optax refuses your mask of an NNX module, and where a module lies inside a dict or a list, its biases decay. `nnx.state` returns a `State`: it has the names of the module, but is another kind of node, so Optax cannot map over both."""
 def model_mask(model):
+    from flax import nnx
+
+    if isinstance(model, nnx.Module):
+        return nnx.map_state(lambda path, _: path[-1] != "bias", nnx.state(model))


# %% exercise="model_mask" misconception="only_weights_and_kernels" met="huggingface/transformers#18273" changes="solution"
"""In your mask only certain names decay, such as `kernel` and `weight`. Each library and each model has names of its own: all but the biases should decay."""
-        return names[-1] != "bias"
+        return names[-1] in ("kernel", "weight")


# %% exercise="model_mask" misconception="the_masked_model" changes="solution"
"""You return the model itself, or a copy of it. The task asks for a mask: `True` or `False` for each parameter."""
-        return names[-1] != "bias"
+        return leaf if names[-1] != "bias" else leaf * 0


# %% exercise="add_noise" variant="by_folding_in"
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    noisy = []
    for place, leaf in enumerate(leaves):
        noise = jax.random.normal(jax.random.fold_in(key, place), leaf.shape)
        noisy.append((leaf + scale * noise).astype(leaf.dtype))
    return jax.tree.unflatten(structure, noisy)


# %% exercise="add_noise" variant="key_after_key"
def add_noise(key, tree, scale):
    def noisy(leaf):
        nonlocal key
        key, subkey = jax.random.split(key)
        return leaf + scale * jax.random.normal(subkey, leaf.shape, leaf.dtype)

    return jax.tree.map(noisy, tree)


# %% exercise="add_noise" misconception="one_key_for_all" met="google-deepmind/optax#1063"
"""Leaves of the same shape and dtype get the same noise. The same key, shape and dtype give the same numbers every time, so each leaf needs its own key."""
def add_noise(key, tree, scale):
    return jax.tree.map(
        lambda leaf: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree
    )


# %% exercise="add_noise" misconception="a_key_for_each_name"
"""Leaves with the same name in two parts get the same noise: you make each key from the last entry of the path. This entry is the name of the leaf inside its part, and another part can have the same name."""
def add_noise(key, tree, scale):
    def noisy(path, leaf):
        own = jax.random.fold_in(key, sum(map(ord, str(path[-1:]))))
        return leaf + scale * jax.random.normal(own, leaf.shape, leaf.dtype)

    return jax.tree.map_with_path(noisy, tree)


# %% exercise="add_noise" misconception="multiplies_by_noise" changes="solution"
"""Your noise grows with the numbers of the leaf: you multiply by it. The deviation should be `scale` everywhere, also where a number is large or 0."""
-        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
+        lambda leaf, key: leaf * (1 + scale * jax.random.normal(key, leaf.shape, leaf.dtype)),
+        tree,
+        keys,


# %% exercise="add_noise" misconception="noise_alone" changes="solution"
"""You return the noise without the leaf: with scale 0 your result is all zeros. Add the noise to the leaf."""
-        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
+        lambda leaf, key: scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys


# %% exercise="add_noise" misconception="numpy_keeps_its_own_state" changes="one_key_for_all"
"""The same key gives different noise at each call: your numbers come from a generator with a state of its own, such as NumPy's. In JAX the key alone decides the numbers."""
-        lambda leaf: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree
+        lambda leaf: (leaf + scale * np.random.normal(size=leaf.shape)).astype(leaf.dtype), tree


# %% exercise="add_noise" misconception="ignores_the_key" changes="solution"
"""Two different keys give you the same noise: it comes from a fixed seed. The caller's `key` is there to decide the numbers."""
-    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
+    keys = jax.tree.unflatten(structure, jax.random.split(jax.random.key(0), len(leaves)))


# %% exercise="add_noise" misconception="one_number_per_leaf" changes="solution"
"""You add one random number to a whole leaf, the same in all places. Without a shape, `normal` draws a single number, and broadcasting adds it everywhere."""
-        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
+        lambda leaf, key: leaf + scale * jax.random.normal(key, (), leaf.dtype), tree, keys


# %% exercise="add_noise" misconception="promotes_the_dtype" changes="solution"
"""A `float16` leaf becomes `float32`: a sum or a product takes the wider of two dtypes. `normal` without a dtype makes `float32`, and so does an array made of `scale`. A Python number takes the dtype of the array beside it."""
-        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
+        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape), tree, keys


# %% exercise="add_noise" misconception="scale_is_the_variance" changes="solution"
"""Your noise is too small for large scales, and too large for small scales: you take `scale` for the variance. But `scale` is the standard deviation: multiply the numbers by `scale` itself."""
-        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
+        lambda leaf, key: leaf + scale**0.5 * jax.random.normal(key, leaf.shape, leaf.dtype),
+        tree,
+        keys,


# %% exercise="add_noise" misconception="uniform_noise" changes="solution"
"""Your noise is too small, and its mean is not near 0, as uniform numbers between 0 and 1 are. Gaussian noise lies on both sides of 0."""
-        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
+        lambda leaf, key: leaf + scale * jax.random.uniform(key, leaf.shape, leaf.dtype),
+        tree,
+        keys,


# %% exercise="add_noise" variant="one_draw_for_all"
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    sizes = [leaf.size for leaf in leaves]
    noise = scale * jax.random.normal(key, (sum(sizes),))
    pieces = jnp.split(noise, np.cumsum(sizes)[:-1])
    noisy = [
        (leaf + piece.reshape(leaf.shape)).astype(leaf.dtype)
        for leaf, piece in zip(leaves, pieces)
    ]
    return jax.tree.unflatten(structure, noisy)


# %% exercise="add_noise" misconception="the_key_moves_on_by_itself" changes="key_after_key"
"""Every call raises an `UnboundLocalError`: a function that assigns to `key` has a local name `key`, which has no value yet where you read it."""
-        nonlocal key


# %% exercise="add_noise" misconception="a_list_of_keys_fits_any_tree" section="several-trees" changes="solution"
"""You get a `ValueError` about the structure nearly everywhere: a list or an array of keys does not fit the tree. The second tree of `jax.tree.map` has to fit the first one, so the keys need its structure too."""
-    leaves, structure = jax.tree.flatten(tree)
-    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
+    keys = list(jax.random.split(key, len(jax.tree.leaves(tree))))


# %% exercise="add_noise" misconception="len_counts_the_leaves" section="noise-for-every-leaf"
"""Your function fails where the tree has more leaves than its outermost node has children: `len(tree)` is the number of these children, so there are too few keys. Count the leaves: parts can hold several."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.random.split(key, len(tree))
    return jax.tree.unflatten(
        structure,
        [
            leaf + scale * jax.random.normal(k, leaf.shape, leaf.dtype)
            for leaf, k in zip(leaves, keys)
        ],
    )


# %% exercise="add_noise" misconception="keys_are_numbers"
"""Your function fails everywhere: it adds a number to a key. A key is no number: new keys come from `jax.random.split` or `jax.random.fold_in`."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    noisy = [
        leaf + scale * jax.random.normal(key + i, leaf.shape, leaf.dtype)
        for i, leaf in enumerate(leaves)
    ]
    return jax.tree.unflatten(structure, noisy)


# %% exercise="add_noise" misconception="no_scale" changes="solution"
"""Your noise is the same for every `scale`, also for 0: its deviation is always 1. `jax.random.normal` knows nothing of `scale`; multiply its numbers."""
-        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
+        lambda leaf, key: leaf + jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys


# %% exercise="add_noise" misconception="one_dict_only"
"""You are right for one dict of arrays only: you ask the tree for its `.items()`. A tree may be a list, a bare array or a dict in a dict."""
def add_noise(key, tree, scale):
    keys = jax.random.split(key, len(tree))
    return {
        name: leaf + scale * jax.random.normal(own, leaf.shape, leaf.dtype)
        for (name, leaf), own in zip(tree.items(), keys)
    }


# %% exercise="add_noise" misconception="a_key_for_each_size" changes="solution"
"""Leaves of the same size get the same noise: the number that makes each key comes from the size or the shape. Two leaves can have one shape; number the leaves instead."""
-    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
+    keys = [jax.random.fold_in(key, leaf.size) for leaf in leaves]
+    keys = jax.tree.unflatten(structure, keys)


# %% exercise="add_noise" misconception="returns_the_leaves"
"""You return a list of the noisy leaves. The tree around them is lost: flattening is half of the way, and `jax.tree.unflatten` goes back."""
def add_noise(key, tree, scale):
    leaves = jax.tree.leaves(tree)
    keys = jax.random.split(key, len(leaves))
    return [
        leaf + scale * jax.random.normal(own, leaf.shape, leaf.dtype)
        for leaf, own in zip(leaves, keys)
    ]


# %% exercise="global_norm" variant="by_reduce"
def global_norm(tree):
    squares = jax.tree.map(lambda leaf: jnp.sum(jnp.square(leaf)), tree)
    return jnp.sqrt(jax.tree.reduce(lambda a, b: a + b, squares, 0.0))


# %% exercise="global_norm" variant="one_long_vector"
def global_norm(tree):
    parts = [np.zeros(1), *(np.ravel(leaf) for leaf in jax.tree.leaves(tree))]
    return float(np.linalg.norm(np.concatenate(parts)))


# %% exercise="global_norm" misconception="adds_the_norms"
"""With several leaves your number is too large: you take a root for each leaf and add the roots. But norms do not add up. Add the squares of all leaves, and take one root."""
def global_norm(tree):
    return sum(jnp.sqrt(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(tree))


# %% exercise="global_norm" misconception="no_root"
"""Your numbers are the squares of the norms. Take the root of the sum of squares: a vector with the only entry 3 has length 3, not 9."""
def global_norm(tree):
    return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))


# %% exercise="global_norm" misconception="no_start"
"""Your function fails on a tree without leaves: a reduction without an initial value starts with the first leaf, and here there is none."""
def global_norm(tree):
    squares = jax.tree.map(lambda leaf: jnp.sum(leaf**2), tree)
    return jnp.sqrt(jax.tree.reduce(jnp.add, squares))


# %% exercise="global_norm" misconception="python_sum_of_a_matrix"
"""Where there is a matrix, you return an array, and your function fails on a single number. Python's `sum` adds the rows of a matrix and stops there; in an array without axes it finds nothing to add."""
def global_norm(tree):
    return jnp.sqrt(sum(sum(leaf**2) for leaf in jax.tree.leaves(tree)))


# %% exercise="global_norm" misconception="nothing_to_join"
"""Your function fails on a tree without leaves: `concatenate` raises an error when there is no array to join."""
def global_norm(tree):
    return jnp.linalg.norm(jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(tree)]))


# %% exercise="global_norm" misconception="mean_instead_of_sum"
"""Your numbers are too small: in each leaf you take the mean of the squares. Take the sum: a norm grows with every number that is not 0."""
def global_norm(tree):
    return jnp.sqrt(sum(jnp.mean(leaf**2) for leaf in jax.tree.leaves(tree)))


# %% exercise="global_norm" misconception="spectral_norm"
"""Where there is a matrix, your number is too small. For a matrix `ord=2` is another norm: how far the matrix stretches a vector at most. Here all its numbers count, as in a vector."""
def global_norm(tree):
    norms = [
        jnp.linalg.norm(leaf, ord=2) if leaf.ndim else leaf for leaf in jax.tree.leaves(tree)
    ]
    return jnp.sqrt(sum(norm**2 for norm in norms))


# %% exercise="global_norm" misconception="a_norm_per_leaf"
"""You return a tree with a norm in each place. A map gives one result for each leaf and keeps the tree; to get one number, the results have to be put together."""
def global_norm(tree):
    return jax.tree.map(jnp.linalg.norm, tree)


# %% exercise="global_norm" misconception="first_leaf_is_the_total"
"""Your first leaf is added as it is: not squared, not summed. A reduction without an initial value starts with the first leaf itself as the total."""
def global_norm(tree):
    return jnp.sqrt(jax.tree.reduce(lambda total, leaf: total + jnp.sum(leaf**2), tree))


# %% exercise="global_norm" misconception="adds_the_arrays"
"""You return an array for most trees. `reduce` hands your function whole leaves, and adding arrays adds them place by place, stretching the smaller one: no sum is taken within a leaf."""
def global_norm(tree):
    return jnp.sqrt(jax.tree.reduce(lambda total, leaf: total + leaf**2, tree, 0.0))


# %% exercise="global_norm" misconception="longest_leaf"
"""Your number is the norm of the longest leaf alone. The global norm counts all leaves together, so every other leaf makes it larger."""
def global_norm(tree):
    return max((jnp.linalg.norm(leaf) for leaf in jax.tree.leaves(tree)), default=0.0)


# %% exercise="global_norm" misconception="square_of_the_sum"
"""Your number is too large or too small wherever a leaf holds several numbers: you add the numbers of a leaf first, and square the sum. Square each number before adding: 3 and 4 have the squares 9 and 16, but their sum has the square 49."""
def global_norm(tree):
    return jnp.sqrt(sum(jnp.sum(leaf) ** 2 for leaf in jax.tree.leaves(tree)))


# %% exercise="global_norm" misconception="joins_what_does_not_fit"
"""Your function fails where a leaf is a matrix or a single number beside a vector, and where there is no leaf. `concatenate` joins arrays of the same number of axes: first make a vector of each leaf."""
def global_norm(tree):
    vector = jnp.concatenate(jax.tree.leaves(tree))
    return jnp.sqrt(jnp.sum(vector**2))


# %% exercise="global_norm" misconception="values_of_a_dict"
"""You are right for one dict of arrays only: you ask the tree for its `.values()`. A tree may be a list, a bare array or a dict in a dict; `jax.tree.leaves` finds the leaves of them all."""
def global_norm(tree):
    return jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in tree.values()))


# %% exercise="global_norm" misconception="root_of_the_mean"
"""You take the root of the mean of all squares, so your number is too small wherever there are several numbers. A norm is the root of their sum."""
def global_norm(tree):
    leaves = jax.tree.leaves(tree)
    squares = sum(jnp.sum(leaf**2) for leaf in leaves)
    return jnp.sqrt(squares / max(1, sum(leaf.size for leaf in leaves)))


# %% exercise="global_norm" misconception="norm_takes_one_array"
"""You are right for a bare array only. Python's arithmetic and the functions of `jnp` take arrays, not trees: get the leaves of the tree first."""
def global_norm(tree):
    return jnp.linalg.norm(tree)


# %% exercise="global_norm" misconception="norm_of_a_list"
"""Your function fails for nearly every tree. A function of `jnp` takes one array, not a list of leaves: first take one number from each leaf, or join the leaves."""
def global_norm(tree):
    return jnp.linalg.norm(jax.tree.leaves(tree))


# %% exercise="global_norm" misconception="a_tree_is_a_condition" changes="solution"
"""Your function fails where the tree is one array of several numbers. In a condition such as `if tree:`, it is neither true nor false; and a container can be true without any leaf in it."""
     """
+    if isinstance(tree, jax.Array) and tree.size > 1:
+        raise Exception("whatever the error is")


# %% exercise="global_norm" misconception="squares_the_total"
"""With several leaves, your number is wrong: the total so far is squared again with each new leaf. It holds squares already; only the new leaf is to be squared."""
def global_norm(tree):
    total = 0.0
    for leaf in jax.tree.leaves(tree):
        total = total**2 + jnp.sum(leaf**2)
    return jnp.sqrt(total)


# %% exercise="clip" variant="where_twice"
def factor(squares, most):
    is_long = squares > most**2
    norm = jnp.sqrt(jnp.where(is_long, squares, 1.0))
    return jnp.where(is_long, most / norm, 1.0)


def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: leaf * factor(jnp.sum(jnp.square(leaf)), most), grads)


def clip_by_global_norm(grads, most):
    squares = jax.tree.reduce(
        jnp.add, jax.tree.map(lambda leaf: jnp.sum(jnp.square(leaf)), grads), 0.0
    )
    return jax.tree.map(lambda leaf: leaf * factor(squares, most), grads)


# %% exercise="clip" variant="a_little_more_than_zero"
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: clip_by_global_norm(leaf, most), grads)


def clip_by_global_norm(grads, most):
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)) + 1e-12)
    factor = jnp.minimum(1.0, most / norm)
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="nan_at_zero" changes="a_little_more_than_zero"
"""A gradient at zero is `nan`. A root has no finite slope at 0. A `minimum` or `where` after the root does not help, because the gradient then multiplies 0 by infinity."""
-    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)) + 1e-12)
-    factor = jnp.minimum(1.0, most / norm)
+    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)))
+    factor = most / jnp.maximum(norm, most)


# %% exercise="clip" misconception="nan_in_the_global_norm" changes="nan_at_zero"
"""Your `clip_by_leaf` is safe at zero, but the gradient of `clip_by_global_norm` is `nan` where all leaves are zero. There the global norm is a root of 0 too, and this root has no finite slope."""
-    return jax.tree.map(lambda leaf: clip_by_global_norm(leaf, most), grads)
+    def shrink(leaf):
+        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))
+
+    return jax.tree.map(shrink, grads)


# %% exercise="clip" misconception="squares_against_most" changes="a_little_more_than_zero"
"""You change leaves that are not too long: you compare the sum of squares with `most`. The sum of squares is the norm squared, so compare it with `most` squared."""
-    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)) + 1e-12)
-    factor = jnp.minimum(1.0, most / norm)
+    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
+    is_long = squares > most
+    factor = jnp.where(is_long, most / jnp.sqrt(jnp.where(is_long, squares, 1.0)), 1.0)


# %% exercise="clip" misconception="adds_the_norms" section="counts-and-norms"
"""Your `clip_by_global_norm` shrinks too much where there are several leaves: you add the norms of the leaves. Their squares add up to the square of the global norm; the norms themselves do not."""


def clip_by_leaf(grads, most):
    def shrink(leaf):
        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))

    return jax.tree.map(shrink, grads)


def clip_by_global_norm(grads, most):
    def length(leaf):
        squares = jnp.sum(leaf**2)
        return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)

    norm = sum(length(leaf) for leaf in jax.tree.leaves(grads))
    return jax.tree.map(lambda leaf: leaf * (most / jnp.maximum(norm, most)), grads)


# %% exercise="clip" misconception="a_norm_per_row" changes="solution"
"""Your `clip_by_leaf` is wrong for matrices, whose rows are clipped one by one, and fails on a single number: your norm goes along one axis. A leaf has one norm, which all its numbers share."""
-        squares = jnp.sum(leaf**2)
+        squares = jnp.sum(leaf**2, axis=-1, keepdims=True)


# %% exercise="clip" misconception="clips_numbers_by_leaf" changes="solution"
"""Your `clip_by_leaf` cuts off each number by itself, as `jnp.clip` does. That changes the direction of the gradient, and the norm of a leaf can still be above `most`."""
-    def shrink(leaf):
-        squares = jnp.sum(leaf**2)
-        return leaf * (most / jnp.sqrt(jnp.maximum(squares, most**2)))
-
-    return jax.tree.map(shrink, grads)
+    return jax.tree.map(lambda leaf: jnp.clip(leaf, -most, most), grads)


# %% exercise="clip" misconception="both_by_leaf" changes="adds_the_norms"
"""Your `clip_by_global_norm` clips leaf by leaf: two clipped leaves of norm 1 have the global norm 1.414. A map sees one leaf at a time, so compute the global norm before you map."""
-    def length(leaf):
-        squares = jnp.sum(leaf**2)
-        return jnp.where(squares > 0, jnp.sqrt(jnp.where(squares > 0, squares, 1.0)), 0.0)
-
-    norm = sum(length(leaf) for leaf in jax.tree.leaves(grads))
-    return jax.tree.map(lambda leaf: leaf * (most / jnp.maximum(norm, most)), grads)
+    return clip_by_leaf(grads, most)


# %% exercise="clip" misconception="both_by_global_norm" changes="clips_numbers_by_leaf"
"""Your `clip_by_leaf` uses one factor for the whole tree: a short leaf shrinks because another leaf is long. Here each leaf needs its own norm and its own factor."""
-    return jax.tree.map(lambda leaf: jnp.clip(leaf, -most, most), grads)
+    return clip_by_global_norm(grads, most)


# %% exercise="clip" misconception="clips_each_number" changes="clips_numbers_by_leaf"
"""Your functions cut off each number by itself, as `jnp.clip` does. That changes the direction of the gradient, and the norm of a leaf can still be above `most`."""
-    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
-    factor = most / jnp.sqrt(jnp.maximum(squares, most**2))
-    return jax.tree.map(lambda leaf: leaf * factor, grads)
+    return jax.tree.map(lambda leaf: jnp.clip(leaf, -most, most), grads)


# %% exercise="clip" misconception="always_rescales"
"""Short gradients grow in your results, and zeros become `nan`: you scale everything to the norm `most`. But `most` is an upper limit. A shorter gradient stays as it is."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: most * leaf / jnp.linalg.norm(leaf), grads)


def clip_by_global_norm(grads, most):
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)))
    return jax.tree.map(lambda leaf: most * leaf / norm, grads)


# %% exercise="clip" misconception="where_takes_trees" met="jax-ml/jax#9349" section="trees-that-should-fit" changes="solution"
"""One of your functions fails for containers with a `TypeError`: it passes whole trees to a function of `jnp`, such as `jnp.where`. These functions take arrays only, not dicts or lists."""
-        squares = jnp.sum(leaf**2)
-        return leaf * (most / jnp.sqrt(jnp.maximum(squares, most**2)))
+        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))
...
-    return jax.tree.map(lambda leaf: leaf * factor, grads)
+    shorter = jax.tree.map(lambda leaf: leaf * factor, grads)
+    return jnp.where(squares > most**2, shorter, grads)


# %% exercise="clip" misconception="a_tiny_constant_under_the_root" changes="a_little_more_than_zero"
"""A clipped gradient of yours is too short where it and `most` are very small: you add a small number under the root, such as 0.000001. It is no longer small beside the square of such a gradient."""
-    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)) + 1e-12)
-    factor = jnp.minimum(1.0, most / norm)
-    return jax.tree.map(lambda leaf: leaf * factor, grads)
+    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)) + 1e-6)
+    return jax.tree.map(lambda leaf: leaf * jnp.minimum(1.0, most / norm), grads)


# %% exercise="clip" misconception="each_leaf_decides" changes="where_takes_trees"
"""Your `clip_by_global_norm` leaves short leaves as they are beside a long one: each leaf is compared with `most` by itself. Where the global norm is above `most`, all leaves shrink by the same factor."""
-    shorter = jax.tree.map(lambda leaf: leaf * factor, grads)
-    return jnp.where(squares > most**2, shorter, grads)
+    return jax.tree.map(
+        lambda leaf: jnp.where(jnp.sum(leaf**2) > most**2, leaf * factor, leaf), grads
+    )


# %% exercise="clip" misconception="the_longest_leaf_decides" section="counts-and-norms" changes="solution"
"""Your `clip_by_global_norm` shrinks too little where there are several leaves: it takes the norm of the longest leaf. The squares of all leaves count for the global norm."""
-        squares = jnp.sum(leaf**2)
-        return leaf * (most / jnp.sqrt(jnp.maximum(squares, most**2)))
+        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))
...
-    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
+    squares = jnp.max(jnp.stack([jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)]))


# %% exercise="clip" misconception="the_two_are_swapped"
"""Your two functions are swapped: `clip_by_leaf` has one factor for the whole tree, and `clip_by_global_norm` one for each leaf."""
def clip_by_leaf(grads, most):
    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
    factor = most / jnp.sqrt(jnp.maximum(squares, most**2))
    return jax.tree.map(lambda leaf: leaf * factor, grads)


def clip_by_global_norm(grads, most):
    def shrink(leaf):
        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))

    return jax.tree.map(shrink, grads)


# %% exercise="clip" misconception="spectral_norm" section="counts-and-norms" changes="solution"
"""Where a leaf is a matrix, your `clip_by_leaf` shrinks too little: for a matrix, `norm` with `ord=2` is another norm. Here all its numbers count, as in a vector."""
-        squares = jnp.sum(leaf**2)
-        return leaf * (most / jnp.sqrt(jnp.maximum(squares, most**2)))
+        matrix = leaf.reshape(leaf.shape[0] if leaf.ndim > 1 else 1, -1)
+        squares = jnp.linalg.eigvalsh(matrix @ matrix.T)[-1]
+        is_long = squares > most**2
+        return leaf * jnp.where(is_long, most / jnp.sqrt(jnp.where(is_long, squares, 1.0)), 1.0)


# %% exercise="clip" misconception="mean_of_a_leaf_with_nan" changes="solution"
"""Your `clip_by_leaf` leaves gradients too long: it compares the root of the mean of the squares with `most`. The norm is the root of their sum. And a gradient through it is not finite at zeros, because a root has no finite slope at 0."""
-        squares = jnp.sum(leaf**2)
-        return leaf * (most / jnp.sqrt(jnp.maximum(squares, most**2)))
+        return leaf / jnp.maximum(1.0, jnp.sqrt(jnp.mean(leaf**2)) / most)


# %% exercise="summary" starter=True
def summary(rows):
    """Return how many rows there are, the sum of all numbers, the largest ones, and notes.

    >>> summary({"w": jnp.array([1.0, 3.0, 2.5])})
    {'info': {'total': Array(2.5, dtype=float32)}, 'largest': {'w': Array(3., dtype=float32)},
     'steps': Array(3, dtype=int32), 'sum': Array(6.5, dtype=float32)}
    """
    def step(state, row):
        total = sum(jnp.sum(leaf) for leaf in jax.tree.leaves(row))
        largest = state["largest"]
        return {
            "steps": state["steps"] + 1,
            "sum": state["sum"] + total,
            "largest": row if largest is None else jax.tree.map(jnp.maximum, largest, row),
            "info": state["info"] | {"total": total},
        }

    state = {"steps": jnp.int32(0), "sum": jnp.int32(0), "largest": None, "info": {}}
    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]


# %% exercise="summary" variant="the_first_row_outside" changes="solution"
-    state = {
-        "steps": jnp.int32(0),
-        "sum": jnp.float32(0),
-        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -jnp.inf), rows),
-        "info": {"total": jnp.float32(0)},
-    }
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+    state = {"steps": jnp.int32(0), "sum": jnp.int32(0), "largest": None, "info": {}}
+    state = step(state, jax.tree.map(lambda leaf: leaf[0], rows))
+    rest = jax.tree.map(lambda leaf: leaf[1:], rows)
+    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rest)[0]


# %% exercise="summary" variant="by_a_loop_over_numbers" changes="solution"
-        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -jnp.inf), rows),
-        "info": {"total": jnp.float32(0)},
-    }
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+        "largest": jax.tree.map(lambda leaf: leaf[0], rows),
+        "info": {"total": 0.0},
+    }
+
+    def at(i, state):
+        return step(state, jax.tree.map(lambda leaf: leaf[i], rows))
+
+    return jax.lax.fori_loop(0, len(jax.tree.leaves(rows)[0]), at, state)


# %% exercise="summary" variant="by_eval_shape" changes="the_first_row_outside"
-    state = step(state, jax.tree.map(lambda leaf: leaf[0], rows))
-    rest = jax.tree.map(lambda leaf: leaf[1:], rows)
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rest)[0]
+    after = jax.eval_shape(step, state, jax.tree.map(lambda leaf: leaf[0], rows))
+    state = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), after)
+    state["largest"] = jax.tree.map(lambda leaf: leaf - jnp.inf, state["largest"])
+    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]


# %% exercise="summary" misconception="it_still_changes" met="jax-md/jax-md#99, google/brax#160, jax-ml/jax#1534"
"""JAX still refuses the carry: after a step, something in it has another structure, shape or dtype than before. An int became a float, a key came in, or a `None` became a tree; the message names each place."""
def summary(rows):
    def step(state, row):
        total = sum(jnp.sum(leaf) for leaf in jax.tree.leaves(row))
        largest = row if state["largest"] is None else state["largest"]
        return {**state, "sum": state["sum"] + total, "largest": largest}, None

    state = {"steps": jnp.int32(0), "sum": jnp.int32(0), "largest": None, "info": {}}
    return jax.lax.scan(step, state, rows)[0]


# %% exercise="summary" misconception="zeros_are_small" section="loops" changes="solution"
"""Your `largest` is 0 where all numbers are negative: in the first carry it is zeros. Zeros are right for a sum; a maximum needs a start that no number is below, or the first row."""
-        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -jnp.inf), rows),
+        "largest": jax.tree.map(lambda leaf: jnp.zeros_like(leaf[0]), rows),


# %% exercise="summary" misconception="rounded_in_each_step" met="jax-md/jax-md#99" changes="solution"
"""Your `sum` is an int: it is made an int again in each step, and loses the part after the point. Then the carry closes, but the result is wrong. Start with a float."""
+    plain = step
+
+    def step(state, row):
+        after = plain(state, row)
+        return after | {"sum": after["sum"].astype(int)}
+
     state = {
         "steps": jnp.int32(0),
-        "sum": jnp.float32(0),
+        "sum": jnp.int32(0),


# %% exercise="summary" misconception="everything_is_a_float" changes="solution"
"""Your `steps` is a float. An entry of the carry has to start with the dtype that a step gives it: a sum of floats is a float, but a count of steps stays an int."""
-        "steps": jnp.int32(0),
+        "steps": jnp.float32(0),


# %% exercise="summary" misconception="none_stays_none" met="jax-ml/jax#1534" changes="solution"
"""Your `largest` is `None`: the carry keeps the `None` that it starts with. It should start as a tree like one row."""
-        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -jnp.inf), rows),
+        "largest": None,
...
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+    return jax.lax.scan(
+        lambda state, row: (step(state, row) | {"largest": None}, None), state, rows
+    )[0]


# %% exercise="summary" misconception="no_new_key" met="google/brax#160" changes="solution"
"""Your `info` is empty: the step adds no key any more. Let the carry have the key from the start."""
-        "info": {"total": jnp.float32(0)},
+        "info": {},
...
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+    return jax.lax.scan(
+        lambda state, row: (step(state, row) | {"info": {}}, None), state, rows
+    )[0]


# %% exercise="summary" misconception="all_the_totals" changes="no_new_key"
"""Your `info` has the totals of all steps, stacked: they came out beside the carry. After a Python loop, `info` holds the last one."""
-    return jax.lax.scan(
-        lambda state, row: (step(state, row) | {"info": {}}, None), state, rows
-    )[0]
+    def one(state, row):
+        after = step(state, row)
+        return after | {"info": {}}, after["info"]
+
+    state, info = jax.lax.scan(one, state, rows)
+    return state | {"info": info}


# %% exercise="summary" misconception="pythons_loop" section="inside-jit" changes="starter"
"""Your result is right, but the program has a step for each row. JAX writes Python's loops out; `jax.lax.scan` compiles one step for all rows."""
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+    for i in range(len(jax.tree.leaves(rows)[0])):
+        state = step(state, jax.tree.map(lambda leaf: leaf[i], rows))
+    return state


# %% exercise="summary" misconception="the_first_row_twice" changes="the_first_row_outside"
"""You count the first row twice: it goes through `step` before the loop, and again in it. Pass the other rows to the loop."""
-    rest = jax.tree.map(lambda leaf: leaf[1:], rows)
+    rest = rows


# %% exercise="summary" misconception="the_first_row_is_lost" changes="the_first_row_outside"
"""You leave out the first row: it gives the carry its form, but is not counted, or not added."""
-    state = step(state, jax.tree.map(lambda leaf: leaf[0], rows))
+    state["sum"] = jnp.float32(0)
+    state["info"] = {"total": jnp.float32(0)}
+    state["largest"] = jax.tree.map(lambda leaf: leaf[0], rows)


# %% exercise="summary" misconception="a_start_with_all_rows" changes="solution"
"""Your `largest` has a row for each row: it starts with the shapes of `rows`, and broadcasting hides it. The carry is like *one* row, without the first axis."""
-        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -jnp.inf), rows),
+        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf, -jnp.inf), rows),


# %% exercise="summary" misconception="nothing_is_larger" changes="solution"
"""Your `largest` is infinite everywhere: in the first carry it is `+inf`, and nothing is larger."""
-        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -jnp.inf), rows),
+        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], jnp.inf), rows),


# %% exercise="summary" misconception="largest_is_a_list" section="one-tree" changes="solution"
"""Your `largest` is a list of leaves. A Python loop would give a tree like one row of `rows`."""
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+    state = jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+    return state | {"largest": jax.tree.leaves(state["largest"])}


# %% exercise="summary" misconception="the_pair_of_scan" changes="solution"
"""You return what `scan` returns: a pair of the last carry and the stacked outputs. The task asks for the carry."""
-    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)[0]
+    return jax.lax.scan(lambda state, row: (step(state, row), None), state, rows)


# %% exercise="summary" misconception="a_dict_of_rows" section="loops" changes="solution"
"""Your function fails on a list or a bare array: it goes over the items of a dict. `rows` is any tree; a map makes the start for each."""
-        "largest": jax.tree.map(lambda leaf: jnp.full_like(leaf[0], -jnp.inf), rows),
+        "largest": {name: jnp.full_like(leaf[0], -jnp.inf) for name, leaf in rows.items()},


# %% exercise="fill_missing" variant="by_flattening"
def fill_missing(tree, defaults):
    values, structure = jax.tree.flatten(tree, is_leaf=lambda node: node is None)
    parts = structure.flatten_up_to(defaults)
    filled = [part if value is None else value for value, part in zip(values, parts)]
    return jax.tree.unflatten(structure, filled)


# %% exercise="fill_missing" variant="with_a_mark"
def fill_missing(tree, defaults):
    missing = object()
    marked = jax.tree.map(
        lambda value: missing if value is None else value, tree, is_leaf=lambda x: x is None
    )
    return jax.tree.map(
        lambda value, default: default if value is missing else value, marked, defaults
    )


# %% exercise="fill_missing" misconception="none_is_a_leaf" met="patrick-kidger/equinox#753"
"""Your function fails wherever `tree` has a `None` and `defaults` has a value. JAX does not pass the `None` to your function: to JAX it is a node without children, and a value does not fit it."""
def fill_missing(tree, defaults):
    return jax.tree.map(
        lambda value, default: default if value is None else value, tree, defaults
    )


# %% exercise="fill_missing" misconception="zero_is_missing" changes="none_is_a_leaf"
"""Your function replaces a 0, and fails on an array. `value or default` tests whether a value is true. 0 is not true, and for an array of several numbers Python cannot say. Only `None` marks what is missing in this tree."""
-        lambda value, default: default if value is None else value, tree, defaults
+        lambda value, default: value or default,
+        tree,
+        defaults,
+        is_leaf=lambda node: node is None,


# %% exercise="fill_missing" misconception="the_deeper_tree_first" section="the-prefix-rule" changes="zero_is_missing"
"""Your function fails where `defaults` has a whole part in the place of a `None` or of a leaf: `defaults` comes first in your map, or you ask for two equal structures. By the prefix rule the first tree may stop earlier, and the deeper tree comes after it."""
-        lambda value, default: value or default,
+        lambda default, value: default if value is None else value,
+        defaults,
...
-        defaults,


# %% exercise="fill_missing" misconception="top_level_only"
"""You replace the `None` in the outermost dict only, and compare no structures. A `None` can stand at any depth, in lists too, and the whole tree can be `None`."""
def fill_missing(tree, defaults):
    return {
        name: defaults[name] if value is None else value for name, value in tree.items()
    }


# %% exercise="fill_missing" misconception="keys_need_not_agree" section="several-trees"
"""Your result is wrong where `defaults` has a whole part for a gap, and you accept two structures that differ, such as a list and a tuple: you pair two lists of leaves. Such lists do not know the places of the leaves: a part gives as many of them as it has."""
def fill_missing(tree, defaults):
    def is_none(node):
        return node is None

    values, structure = jax.tree.flatten(tree, is_leaf=is_none)
    others = jax.tree.leaves(defaults, is_leaf=is_none)
    filled = [other if value is None else value for value, other in zip(values, others)]
    return jax.tree.unflatten(structure, filled)


# %% exercise="fill_missing" misconception="a_leaf_beside_a_leaf" section="the-prefix-rule" changes="solution"
"""Your function fails where `tree` has a leaf and `defaults` a whole part or a `None`: you ask for equal structures there. By the prefix rule, the second tree may have a whole part in the place of a leaf."""
-        return default if value is None else value
+        if value is None:
+            return default
+        if not jax.tree_util.all_leaves([default]):
+            raise ValueError("a leaf stands beside a part")
+        return value


# %% exercise="fill_missing" misconception="empty_is_missing"
"""You fill an empty container as well, where the two structures differ. `()` or `{}` says "there is nothing to hold"; only `None` says "nothing here yet"."""
def fill_missing(tree, defaults):
    def is_gap(node):
        return node is None or (isinstance(node, (tuple, list, dict)) and len(node) == 0)

    return jax.tree.map(
        lambda value, default: default if is_gap(value) else value,
        tree,
        defaults,
        is_leaf=is_gap,
    )


# %% exercise="fill_missing" misconception="equal_to_none" changes="zero_is_missing"
"""Your function fails where a leaf is an array: a comparison with `== None` compares each of its numbers, so the answer is an array, which `if` cannot use."""
-        lambda value, default: value or default,
+        lambda value, default: default if value == None else value,  # noqa: E711


# %% exercise="fill_missing" misconception="dicts_alone_are_nodes"
"""You fill gaps in dicts only: a `None` in a list, a tuple or another node stays, and keys are not compared. `jax.tree.map` knows all nodes, and compares the structures."""
def fill_missing(tree, defaults):
    if tree is None:
        return defaults
    if isinstance(tree, dict):
        return {name: fill_missing(value, defaults.get(name)) for name, value in tree.items()}
    return tree


# %% exercise="fill_missing" misconception="what_is_false_is_a_leaf" changes="zero_is_missing"
"""Your function fails on an array, and gives a result where `tree` has an empty container and `defaults` has a full one: `is_leaf` is true for everything that counts as false in Python. An empty dict counts as false too, and an array of several numbers is neither true nor false. Test for `None` only."""
-        lambda value, default: value or default,
+        lambda value, default: default if value is None else value,
...
-        is_leaf=lambda node: node is None,
+        is_leaf=lambda node: not node,


# %% exercise="fill_missing" misconception="hides_the_error" section="several-trees"
"""Where the structures differ, you return `tree` with its gaps. Then a gap goes on into the program, and no message says why: do not catch the error."""
def fill_missing(tree, defaults):
    try:
        return jax.tree.map(
            lambda value, default: default if value is None else value,
            tree,
            defaults,
            is_leaf=lambda node: node is None,
        )
    except ValueError:
        return tree


# %% exercise="fill_missing" misconception="a_leaf_for_a_gap" section="the-prefix-rule" changes="zero_is_missing"
"""You keep the `None` where `defaults` has a whole part. By the prefix rule, a whole part can stand where the first tree has a leaf, and here it fills the gap."""
-        lambda value, default: value or default,
+        lambda value, default: default
+        if value is None and jax.tree_util.all_leaves([default])
+        else value,


# %% exercise="fill_missing" misconception="nothing_to_fill"
"""You return `tree` with its gaps: JAX does not call a function for a `None` unless `is_leaf` tells it to."""
def fill_missing(tree, defaults):
    jax.tree.map(lambda *_: None, tree, defaults, is_leaf=lambda node: node is None)
    return jax.tree.map(lambda value: defaults if value is None else value, tree)


# %% exercise="fill_missing" misconception="the_tree_overwrites"
"""You merge two dicts: a `None` of `tree` replaces the default, a key that only `defaults` has comes into your result, and other nodes raise an error. A `None` is to be replaced, at any depth and in every kind of node."""
def fill_missing(tree, defaults):
    return {**defaults, **tree}


# %% exercise="fill_missing" misconception="walks_without_comparing" section="several-trees" changes="dicts_alone_are_nodes"
"""You go through dicts, lists and tuples yourself. So an `OrderedDict` becomes a plain dict, a `None` in a registered class stays, and JAX's `ValueError` is missing where the structures differ. `jax.tree.map` knows all nodes, and compares the structures."""
-        return {name: fill_missing(value, defaults.get(name)) for name, value in tree.items()}
+        return {name: fill_missing(value, defaults[name]) for name, value in tree.items()}
+    if isinstance(tree, (list, tuple)):
+        parts = [fill_missing(*pair) for pair in zip(tree, defaults)]
+        if isinstance(tree, list):
+            return parts
+        return type(tree)(*parts) if hasattr(tree, "_fields") else tuple(parts)


# %% exercise="fill_missing" misconception="a_leaf_is_spread_over_a_part" section="the-prefix-rule"
"""Where `tree` has a leaf and `defaults` a whole part or a `None`, your result has the form of `defaults`. A leaf of `tree` stays as it is, whatever stands beside it."""
def fill_missing(tree, defaults):
    def is_none(node):
        return node is None

    full = jax.tree.broadcast(tree, defaults, is_leaf=is_none)
    return jax.tree.map(
        lambda value, default: default if value is None else value,
        full,
        defaults,
        is_leaf=is_none,
    )


# %% exercise="fill_missing" misconception="the_defaults_on_an_error" section="several-trees" changes="hides_the_error"
"""Where the structures differ, you return `defaults`. Then the leaves of `tree` are lost, and no message says why: do not catch the error."""
-        return tree
+        return defaults


# %% exercise="fill_missing" misconception="zeros_like_the_defaults" changes="zero_is_missing"
"""You put zeros into each gap. A gap gets what `defaults` has in its place: the leaf or the part itself."""
-        lambda value, default: value or default,
+        lambda value, default: jax.tree.map(jnp.zeros_like, default) if value is None else value,


# %% exercise="fill_missing" misconception="merges_dicts_at_every_depth" changes="dicts_alone_are_nodes"
"""You merge dicts at every depth: a key that only one of the two has comes into your result, and an `OrderedDict` becomes a plain dict. A `None` in another kind of node stays. `jax.tree.map` knows all nodes, and raises a `ValueError` where the structures differ."""
-    if isinstance(tree, dict):
-        return {name: fill_missing(value, defaults.get(name)) for name, value in tree.items()}
+    if isinstance(tree, dict) and isinstance(defaults, dict):
+        names = {**defaults, **tree}
+        return {name: fill_missing(tree.get(name), defaults.get(name)) for name in names}


# %% exercise="batched_apply" variant="without_vmap"
def batched_apply(function, params, batched, x):
    results = []
    for i in range(len(x)):
        mine = {
            name: jax.tree.map(lambda leaf: leaf[i], part) if name in batched else part
            for name, part in params.items()
        }
        results.append(function(mine, x[i]))
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *results)


# %% exercise="batched_apply" variant="an_axis_for_each_leaf"
def batched_apply(function, params, batched, x):
    axes = {
        name: jax.tree.map(lambda _: 0 if name in batched else None, part)
        for name, part in params.items()
    }
    return jax.vmap(function, (axes, 0))(params, x)


# %% exercise="batched_apply" variant="shared_parts_closed_over"
def batched_apply(function, params, batched, x):
    own = {name: params[name] for name in params if name in batched}
    shared = {name: params[name] for name in params if name not in batched}
    return jax.vmap(lambda mine, each: function({**shared, **mine}, each))(own, x)


# %% exercise="batched_apply" misconception="in_axes_without_the_tuple" met="jax-ml/jax#18548, patrick-kidger/equinox#952" changes="solution"
"""Every call fails: for `vmap`, `in_axes` is a prefix of the tuple of arguments, with an entry for each. `function` has two arguments, so it is a tuple with two entries; a dict of axes alone is only one of them."""
-    return jax.vmap(function, in_axes=(axes, 0))(params, x)
+    return jax.vmap(function, in_axes=axes)(params, x)


# %% exercise="batched_apply" misconception="everything_is_batched"
"""You give row `i` of every part to example `i`, of the shared parts too. If a shared part has as many rows as the batch, JAX raises no error, and the result is wrong."""
def batched_apply(function, params, batched, x):
    return jax.vmap(function)(params, x)


# %% exercise="batched_apply" misconception="parameters_are_shared"
"""Every example gets all of `params` in your call, with the whole batch of each batched part. Example `i` needs row `i` of its leaves. If you merge two dicts, as in `{**rows, **params}`, the later one wins."""
def batched_apply(function, params, batched, x):
    return jax.vmap(function, in_axes=(None, 0))(params, x)


# %% exercise="batched_apply" misconception="zero_means_shared" changes="solution"
"""You swap batched and shared parts. In `in_axes` a 0 does not mean "no": it is the number of the axis that runs over the batch."""
-    axes = {name: 0 if name in batched else None for name in params}
+    axes = {name: None if name in batched else 0 for name in params}


# %% exercise="batched_apply" misconception="every_row_with_every_x" changes="solution"
"""Your results have one axis too many, or the call fails: each example gets the whole of `x`. In `in_axes`, `x` needs an axis as well as `params`: it has one row for each example too."""
-    return jax.vmap(function, in_axes=(axes, 0))(params, x)
+    return jax.vmap(function, in_axes=(axes, None))(params, x)


# %% exercise="batched_apply" misconception="broadcasting_is_enough"
"""You call the function once, with everything, and broadcasting decides which numbers meet. For single numbers that happens to be right; a shared vector meets numbers of other examples. `vmap` computes as if each example had a call of its own."""
def batched_apply(function, params, batched, x):
    return function(params, x)


# %% exercise="batched_apply" misconception="a_name_within_a_name" changes="solution"
"""You treat a shared part as batched when its name is a piece of a batched part's name: you look for the name in a string. In a list, `in` compares whole names; in a string, it finds pieces."""
-    axes = {name: 0 if name in batched else None for name in params}
+    axes = {name: 0 if name in str(batched) else None for name in params}


# %% exercise="batched_apply" misconception="batched_names_alone" section="the-prefix-rule"
"""Your function fails wherever a part is shared: your tree of axes has no entry for that part. A prefix needs the same keys as its tree. For a shared part, the entry is `None`."""
def batched_apply(function, params, batched, x):
    return jax.vmap(function, in_axes=({name: 0 for name in batched}, 0))(params, x)


# %% exercise="batched_apply" misconception="a_part_is_one_array" changes="without_vmap"
"""Your function fails, or gives wrong results, where a batched part is a dict: you index the part itself. A part is a tree, and only its leaves have rows."""
-        mine = {
-            name: jax.tree.map(lambda leaf: leaf[i], part) if name in batched else part
-            for name, part in params.items()
-        }
+        mine = {name: part[i] if name in batched else part for name, part in params.items()}


# %% exercise="batched_apply" misconception="a_result_is_one_array" section="lists-of-trees" changes="without_vmap"
"""Your function fails where the results are trees: `jnp.stack` takes arrays only, so stack leaf by leaf."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *results)
+    return jnp.stack(results)


# %% exercise="batched_apply" misconception="goes_by_the_length" changes="solution"
"""You use rows of shared parts, where these parts are as long as the batch: you go by the length of the leaves. Lengths can be equal by chance. Only `batched` says which parts have rows."""
-    axes = {name: 0 if name in batched else None for name in params}
+    axes = jax.tree.map(lambda leaf: 0 if leaf.ndim and len(leaf) == len(x) else None, params)


# %% exercise="batched_apply" misconception="true_and_false_are_axes" changes="solution"
"""Every call fails with a `TypeError`: an entry of `in_axes` is the number of an axis, or `None` for a shared part, and not `True` or `False`."""
-    axes = {name: 0 if name in batched else None for name in params}
+    axes = {name: name in batched for name in params}


# %% exercise="batched_apply" misconception="a_second_name_is_a_copy" changes="a_part_is_one_array"
"""The first example is right, and then your function fails or takes rows of rows: you write into the caller's dict. `p = params` gives the same dict a second name, and its batched parts are gone after the first example."""
-        mine = {name: part[i] if name in batched else part for name, part in params.items()}
+        mine = params
+        for name in batched:
+            mine[name] = jax.tree.map(lambda leaf: leaf[i], params[name])


# %% exercise="batched_apply" misconception="a_list_of_results" section="lists-of-trees" changes="without_vmap"
"""You return a list with one result for each example. `jax.vmap` stacks them: one tree, whose leaves have a new first axis."""
-    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *results)
+    return results


# %% exercise="batched_apply" misconception="minus_one_is_no_axis" changes="solution"
"""Your function fails on a single number, and of a shared vector each example gets one number only: the axis of a shared part is -1 in your tree of axes. That is the last axis; "no axis" is `None`."""
-    axes = {name: 0 if name in batched else None for name in params}
+    axes = {name: 0 if name in batched else -1 for name in params}


# %% exercise="batched_apply" misconception="axes_in_a_list" section="the-prefix-rule" changes="solution"
"""Every call fails: a list or a tuple of axes, one for each part, is no prefix of `params`. `params` is a dict, so its prefix is a dict with the same names."""
-    axes = {name: 0 if name in batched else None for name in params}
+    axes = [0 if name in batched else None for name in params]


# %% exercise="batched_apply" misconception="only_the_batched_parts"
"""Your function fails with a `KeyError` wherever a part is shared: it passes on the batched parts alone. `function` needs the whole tree, in which shared parts are the same for each example."""
def batched_apply(function, params, batched, x):
    own = {name: params[name] for name in batched}
    return jax.vmap(function)(own, x)


# %% exercise="batched_apply" misconception="a_name_anywhere_in_the_path" section="the-prefix-rule" changes="solution"
"""You take rows of a leaf in a shared part if a key inside that part is also the name of a batched part: you look for the names anywhere in the leaf's path. `batched` names parts, and only the first entry of a path is the part's name."""
-    axes = {name: 0 if name in batched else None for name in params}
+    def axis(path, leaf):
+        return 0 if any(getattr(entry, "key", None) in batched for entry in path) else None
+
+    axes = jax.tree.map_with_path(axis, params)


# %% exercise="batched_apply" misconception="the_whole_of_x" changes="without_vmap"
"""Your results have one axis too many, or the call fails: each example gets the whole of `x`. `x` has one row for each example, so example `i` gets row `i`."""
-        results.append(function(mine, x[i]))
+        results.append(function(mine, x))


# %% exercise="batched_apply" misconception="a_vmap_for_each_part"
"""Your results have an axis too many for each batched part, as with one `vmap` around another: each row of the one meets each row of the other. One `vmap` whose `in_axes` names all batched parts and `x` goes through their rows together."""
def batched_apply(function, params, batched, x):
    apply = jax.vmap(function, in_axes=(None, 0))
    for name in batched:
        axes = {key: 0 if key == name else None for key in params}
        apply = jax.vmap(apply, in_axes=(axes, None))
    return apply(params, x)
