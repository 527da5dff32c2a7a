# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

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


# %% exercise="scale_and_zero" equivalent="NumPy and JAX multiply alike, and a Python number does not change the dtype of an array."
# with_numpy: np.asarray(leaf) → leaf
# with_numpy: np.float32(factor) → factor


# %% exercise="scale_and_zero" misconception="zero_is_times_zero"
"""Your zeros hold `nan` where the array held `inf` or `nan`. Perhaps you multiply by 0. In floating point, 0 times `inf` is `nan`, and `nan` stays `nan`."""
def scale(tree, factor):
    return jax.tree.map(lambda leaf: leaf * factor, tree)


def zero(tree):
    return jax.tree.map(lambda leaf: leaf * 0, tree)


# %% exercise="scale_and_zero" misconception="only_nan_is_special"
"""Your zeros hold `nan` where the array held `inf`. Perhaps you replace `nan` alone and multiply the rest by 0. Zero times `inf` is `nan` too: zeros should not depend on the old values at all."""
def scale(tree, factor):
    return jax.tree.map(lambda leaf: leaf * factor, tree)


def zero(tree):
    return jax.tree.map(lambda leaf: jnp.where(jnp.isnan(leaf), 0, leaf) * 0, tree)


# %% exercise="scale_and_zero" misconception="zeros_are_float"
"""Your zeros have the right shape, but arrays of whole numbers became floats. A shape does not say the dtype: zeros made from a shape alone are `float32`."""
def scale(tree, factor):
    return jax.tree.map(lambda leaf: leaf * factor, tree)


def zero(tree):
    return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape), tree)


# %% exercise="scale_and_zero" misconception="the_factor_is_a_tree" section="several-trees"
"""Your `scale` fails wherever there is a container. Perhaps you pass the factor to `jax.tree.map` after the tree. JAX takes the factor for a second tree, and this tree has no partner for each leaf."""
def scale(tree, factor):
    return jax.tree.map(jnp.multiply, tree, factor)


def zero(tree):
    return jax.tree.map(jnp.zeros_like, tree)


# %% exercise="scale_and_zero" misconception="zero_is_a_number"
"""Your `zero` puts the Python number 0 where an array was. `jax.tree.map` keeps the tree, but each leaf becomes exactly what your function returns. So the shape and the dtype are gone."""
def scale(tree, factor):
    return jax.tree.map(lambda leaf: leaf * factor, tree)


def zero(tree):
    return jax.tree.map(lambda leaf: 0, tree)


# %% exercise="scale_and_zero" misconception="dicts_and_lists_only"
"""Your functions fail where there is a tuple, a namedtuple or another class of node. Perhaps you walk through dicts and lists yourself. JAX knows more kinds of nodes, so let JAX walk through the tree."""
def scale(tree, factor):
    def walk(node):
        if isinstance(node, dict):
            return {key: walk(child) for key, child in node.items()}
        if isinstance(node, list):
            return [walk(child) for child in node]
        return None if node is None else node * factor

    return walk(tree)


def zero(tree):
    def walk(node):
        if isinstance(node, dict):
            return {key: walk(child) for key, child in node.items()}
        if isinstance(node, list):
            return [walk(child) for child in node]
        return None if node is None else jnp.zeros_like(node)

    return walk(tree)


# %% exercise="scale_and_zero" misconception="a_number_for_none" section="none-in-each-place"
"""Your `scale` puts a number where the tree holds `None`. A `None` is no leaf: there is nothing to scale, and the `None` stays."""
def scale(tree, factor):
    return jax.tree.map(
        lambda leaf: 0.0 if leaf is None else leaf * factor,
        tree,
        is_leaf=lambda node: node is None,
    )


def zero(tree):
    return jax.tree.map(jnp.zeros_like, tree)


# %% exercise="scale_and_zero" misconception="none_is_a_leaf" covers="M1" section="none-in-each-place"
"""Your functions fail where the tree holds `None`. Perhaps `is_leaf` makes JAX pass each `None` to your function. Without `is_leaf`, a `None` is a node without children, and a map does not change it."""
def scale(tree, factor):
    return jax.tree.map(lambda leaf: leaf * factor, tree, is_leaf=lambda node: node is None)


def zero(tree):
    return jax.tree.map(
        lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), tree, is_leaf=lambda node: node is None
    )


# %% exercise="scale_and_zero" misconception="returns_the_leaves"
"""Your functions return a list: the new leaves without their tree. Changing the leaves is half of a map. The other half is to keep the structure around the leaves."""
def scale(tree, factor):
    return [leaf * factor for leaf in jax.tree.leaves(tree)]


def zero(tree):
    return [jnp.zeros_like(leaf) for leaf in jax.tree.leaves(tree)]


# %% exercise="scale_and_zero" misconception="one_dict_only"
"""Your functions work on one dict of arrays, and fail on a bare array, a list or a dict in a dict. A tree can have any form and depth: let JAX walk through it."""
def scale(tree, factor):
    return {name: leaf * factor for name, leaf in tree.items()}


def zero(tree):
    return {name: jnp.zeros_like(leaf) for name, leaf in tree.items()}


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
"""Your parameters move in the direction of the gradient: you add the step. A gradient points to where the function grows, and the task goes down."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: p + rate * g, params, grads)


# %% exercise="sgd_step" misconception="trees_the_wrong_way_round"
"""Your results start from the gradient instead of the parameter. JAX passes the leaves in the order of the trees: a leaf of the first tree is the first argument of your function."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g: p - rate * g, grads, params)


# %% exercise="sgd_step" misconception="trees_are_numbers"
"""Your function is right for bare arrays only, and fails for containers. Python has no arithmetic for dicts: to calculate with trees, you have to reach their leaves."""
def sgd_step(params, grads, rate):
    return params - rate * grads


# %% exercise="sgd_step" misconception="pairs_by_position" section="several-trees"
"""Your function gives a result where the two structures differ. Perhaps you pair two lists of leaves. Such lists have an order only. So a list counts as a tuple, and one key as another, without an error."""
def sgd_step(params, grads, rate):
    leaves, structure = jax.tree.flatten(params)
    pairs = zip(leaves, jax.tree.leaves(grads), strict=True)
    return jax.tree.unflatten(structure, [p - rate * g for p, g in pairs])


# %% exercise="sgd_step" misconception="pairs_what_there_is" section="several-trees"
"""Your function gives a result where the two structures differ, even where one tree has more leaves. Lists of leaves do not know the places of the leaves, and `zip` stops where the shorter list ends."""
def sgd_step(params, grads, rate):
    leaves, structure = jax.tree.flatten(params)
    pairs = zip(leaves, jax.tree.leaves(grads))
    return jax.tree.unflatten(structure, [p - rate * g for p, g in pairs])


# %% exercise="sgd_step" misconception="hides_the_error" section="several-trees"
"""You return the unchanged parameters where the two structures differ. Perhaps you catch the `ValueError`. Then training goes on without a step, and no message says why. Do not catch the error."""
def sgd_step(params, grads, rate):
    try:
        return jax.tree.map(lambda p, g: p - rate * g, params, grads)
    except ValueError:
        return params


# %% exercise="sgd_step" misconception="own_walk" section="several-trees"
"""Your function gives a result where `grads` has other kinds of nodes or more children. Perhaps you walk through both trees yourself. Then it is easy to miss keys and items that only one tree has. `jax.tree.map` compares the two trees."""
def sgd_step(params, grads, rate):
    if params is None:
        return None
    if isinstance(params, dict):
        return {key: sgd_step(params[key], grads[key], rate) for key in params}
    if isinstance(params, (list, tuple)):
        new = [sgd_step(p, g, rate) for p, g in zip(params, grads)]
        return type(params)(*new) if hasattr(params, "_fields") else type(params)(new)
    return params - rate * grads


# %% exercise="sgd_step" misconception="the_rate_is_a_tree" section="several-trees"
"""Your function is right for bare arrays only. Perhaps you pass the rate to `jax.tree.map` as a third tree. A number is a leaf, and a leaf does not fit a container in the first tree."""
def sgd_step(params, grads, rate):
    return jax.tree.map(lambda p, g, r: p - r * g, params, grads, rate)


# %% exercise="sgd_step" misconception="none_matches_anything" covers="M9" section="none-in-each-place"
"""You accept a gradient where the parameters have a `None`. Perhaps you read `None` as "nothing to do". To JAX `None` is a node, and it fits only another `None`."""
def sgd_step(params, grads, rate):
    def step(p, g):
        return p if p is None or g is None else p - rate * g

    return jax.tree.map(step, params, grads, is_leaf=lambda node: node is None)


# %% exercise="sgd_step" misconception="one_dict_only"
"""Your function walks over the keys of one dict, so it fails on other containers, on a dict in a dict and on a bare array. `jax.tree.map` walks through any tree."""
def sgd_step(params, grads, rate):
    return {name: params[name] - rate * grads[name] for name in params}


# %% exercise="global_norm" variant="by_reduce"
def global_norm(tree):
    squares = jax.tree.map(lambda leaf: jnp.sum(jnp.square(leaf)), tree)
    return jnp.sqrt(jax.tree.reduce(lambda a, b: a + b, squares, 0.0))


# %% exercise="global_norm" variant="one_long_vector"
def global_norm(tree):
    parts = [np.zeros(1), *(np.ravel(leaf) for leaf in jax.tree.leaves(tree))]
    return float(np.linalg.norm(np.concatenate(parts)))


# %% exercise="global_norm" variant="norm_of_norms"
def global_norm(tree):
    norms = [np.linalg.norm(leaf) for leaf in jax.tree.leaves(tree)]
    return np.sqrt(sum(norm**2 for norm in norms))


# %% exercise="global_norm" equivalent="A sum needs no tree, only the leaves in any container."
# by_reduce: jax.tree.map(lambda leaf: jnp.sum(jnp.square(leaf)), tree) → list(map(lambda leaf: jnp.sum(jnp.s … are(leaf)), jax.tree.leaves(tree)))
# one_long_vector: [np.zeros(1), *(np.ravel(leaf) for leaf in jax.tree.leaves(tree))] → (np.zeros(1), *(np.ravel(leaf) for leaf in jax.tree.leaves(tree)))


# %% exercise="global_norm" equivalent="Zeros add nothing to a norm, however many they are."
# one_long_vector: np.zeros(1) → np.zeros(2)
# one_long_vector: np.zeros(1) → np.zeros(0)


# %% exercise="global_norm" equivalent="A scalar of NumPy is one number too."
# one_long_vector: float(np.linalg.norm(np.concatenate(parts))) → np.linalg.norm(np.concatenate(parts))


# %% exercise="global_norm" misconception="adds_the_norms"
"""With several leaves your number is too large: you take a root for each leaf and add the roots. But norms do not add up. Add the squares of all leaves, and take one root."""
def global_norm(tree):
    return sum(jnp.sqrt(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(tree))


# %% exercise="global_norm" misconception="no_root"
"""Your numbers are the squares of the norms. Take the root of the sum of squares: a vector with the only entry 3 has length 3, not 9."""
def global_norm(tree):
    return sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(tree))


# %% exercise="global_norm" misconception="no_start" covers="C19"
"""Your function fails on a tree without leaves. Perhaps you reduce without an initial value: then the first leaf is the start, and here there is none."""
def global_norm(tree):
    squares = jax.tree.map(lambda leaf: jnp.sum(leaf**2), tree)
    return jnp.sqrt(jax.tree.reduce(jnp.add, squares))


# %% exercise="global_norm" misconception="python_sum_of_a_matrix"
"""Where there is a matrix, you return an array, and you fail on a single number. Python's `sum` adds the rows of a matrix and stops there; in an array without axes it finds nothing to add."""
def global_norm(tree):
    return jnp.sqrt(sum(sum(leaf**2) for leaf in jax.tree.leaves(tree)))


# %% exercise="global_norm" misconception="nothing_to_join" covers="C19"
"""Your function fails on a tree without leaves. Perhaps you join all leaves to one long vector. `concatenate` raises an error when there is no array to join."""
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


# %% exercise="global_norm" misconception="first_leaf_is_the_total" covers="C19"
"""Your first leaf is added as it is: not squared, not summed. Perhaps you reduce without an initial value. Then the first leaf itself is the start of the total."""
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


# %% exercise="from_shapes" variant="by_type"
def from_shapes(shapes):
    return jax.tree.map(
        lambda shape: jnp.zeros(shape, jnp.float32),
        shapes,
        is_leaf=lambda node: type(node) is tuple,
    )


# %% exercise="from_shapes" variant="by_unflatten"
def from_shapes(shapes):
    leaves, structure = jax.tree.flatten(shapes, is_leaf=lambda x: isinstance(x, tuple))
    return jax.tree.unflatten(structure, [np.zeros(shape, np.float32) for shape in leaves])


# %% exercise="from_shapes" equivalent="All shapes here are plain tuples."
# solution: isinstance(node, tuple) → type(node) is tuple
# by_unflatten: isinstance(x, tuple) → type(x) is tuple


# %% exercise="from_shapes" equivalent="jnp.zeros gives float32 by itself."
# by_type: jnp.zeros(shape, jnp.float32) → jnp.zeros(shape)


# %% exercise="from_shapes" misconception="shapes_are_leaves" covers="M7"
"""Your arrays stand inside the tuples, one for each number. Perhaps you take a shape for a leaf. A tuple is a node: JAX opens it and hands your function one whole number at a time."""
def from_shapes(shapes):
    return jax.tree.map(jnp.zeros, shapes)


# %% exercise="from_shapes" misconception="lists_are_shapes_too"
"""You make an array from a list, or fail on it. A list and a tuple are different kinds of nodes to JAX, and in these trees only tuples are shapes."""
def from_shapes(shapes):
    return jax.tree.map(jnp.zeros, shapes, is_leaf=lambda node: isinstance(node, (tuple, list)))


# %% exercise="from_shapes" misconception="empty_tuple_is_no_shape"
"""Where the shape is `()`, your result has no array. An empty tuple counts as false in a Python test, so it is easy to skip. Here `()` is the shape of a single number."""
def from_shapes(shapes):
    return jax.tree.map(
        jnp.zeros, shapes, is_leaf=lambda node: isinstance(node, tuple) and bool(node)
    )


# %% exercise="from_shapes" misconception="every_shape_has_a_first_number"
"""Your function fails where the shape is `()`. Perhaps your `is_leaf` looks at the first number of a tuple. The empty tuple has none, and it is the shape of a single number."""
def from_shapes(shapes):
    return jax.tree.map(
        jnp.zeros, shapes, is_leaf=lambda node: isinstance(node, tuple) and isinstance(node[0], int)
    )


# %% exercise="from_shapes" misconception="zero_is_no_length"
"""Where a shape holds a 0, your result has no array. Perhaps you test whether the numbers are true or positive. An axis may have length 0: then the array holds no numbers."""
def from_shapes(shapes):
    return jax.tree.map(
        jnp.zeros, shapes, is_leaf=lambda node: isinstance(node, tuple) and all(node)
    )


# %% exercise="from_shapes" misconception="one_argument_for_each_axis"
"""Your function fails on the shape of a matrix. Perhaps you unpack the shape. `jnp.zeros` takes the whole tuple as its first argument; its second argument is the dtype."""
def from_shapes(shapes):
    return jax.tree.map(
        lambda shape: jnp.zeros(*shape), shapes, is_leaf=lambda node: isinstance(node, tuple)
    )


# %% exercise="from_shapes" misconception="own_walk"
"""Your function is right for dicts and lists. But other nodes become plain dicts, or do not change at all. Perhaps you rebuild each node yourself. JAX knows more kinds of nodes, such as `OrderedDict`, and keeps them."""
def from_shapes(shapes):
    if isinstance(shapes, tuple):
        return jnp.zeros(shapes)
    if isinstance(shapes, dict):
        return {name: from_shapes(shape) for name, shape in shapes.items()}
    if isinstance(shapes, list):
        return [from_shapes(shape) for shape in shapes]
    return shapes


# %% exercise="from_shapes" misconception="whole_zeros"
"""Your zeros are whole numbers. The numbers of a shape are whole numbers, but the arrays should hold `float32`."""
def from_shapes(shapes):
    return jax.tree.map(
        lambda shape: jnp.zeros(shape, int), shapes, is_leaf=lambda node: isinstance(node, tuple)
    )


# %% exercise="from_shapes" misconception="a_number_for_none" section="none-in-each-place"
"""You put a zero where a `None` stands. `None` is no shape, not even an empty shape, so the `None` stays."""
def from_shapes(shapes):
    return jax.tree.map(
        lambda shape: jnp.zeros(shape or ()),
        shapes,
        is_leaf=lambda node: node is None or isinstance(node, tuple),
    )


# %% exercise="from_shapes" misconception="none_is_a_shape" section="none-in-each-place"
"""Your function fails where a `None` stands: it reaches `jnp.zeros`. Perhaps your `is_leaf` says yes to `None`. JAX leaves it in its place unless it is told to stop there."""
def from_shapes(shapes):
    return jax.tree.map(
        jnp.zeros, shapes, is_leaf=lambda node: node is None or isinstance(node, tuple)
    )


# %% exercise="from_shapes" misconception="one_dict_only"
"""Your function works for one dict of shapes only. There are shapes within lists and in dicts inside dicts, and a shape may be the whole tree."""
def from_shapes(shapes):
    return {name: jnp.zeros(shape) for name, shape in shapes.items()}


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


# %% exercise="clip" equivalent="The larger and the smaller of two numbers do not depend on their order."
# solution: jnp.maximum(squares, most ** 2) → jnp.maximum(most ** 2, squares), line 9
# solution: jnp.maximum(squares, most ** 2) → jnp.maximum(most ** 2, squares), line 21
# a_little_more_than_zero: jnp.minimum(1.0, most / norm) → jnp.minimum(most / norm, 1.0)


# %% exercise="clip" equivalent="A norm that is exactly `most` is multiplied by 1."
# where_twice: squares > most ** 2 → squares >= most ** 2


# %% exercise="clip" equivalent="The number stands where the result is not taken; it is a constant, so no gradient goes through it."
# where_twice: jnp.where(is_long, squares, 1.0) → jnp.where(is_long, squares, 2.0)
# where_twice: jnp.where(is_long, squares, 1.0) → jnp.where(is_long, squares, 0.0)
# where_twice: jnp.where(is_long, squares, 1.0) → jnp.where(is_long, squares, -1.0)


# %% exercise="clip" equivalent="The tree has at least one leaf, so a sum needs no start."
# where_twice: jax.tree.reduce(jnp.add, jax.tree.m … sum(jnp.square(leaf)), grads), 0.0) → jax.tree.reduce(jnp.add, jax.tree.m …  jnp.sum(jnp.square(leaf)), grads))


# %% exercise="clip" equivalent="A sum needs no tree, only the leaves in any container."
# where_twice: jax.tree.map(lambda leaf: jnp.sum(jnp.square(leaf)), grads) → list(map(lambda leaf: jnp.sum(jnp.s … re(leaf)), jax.tree.leaves(grads)))


# %% exercise="clip" misconception="nan_at_zero" covers="C15"
"""Your clipped trees are right, but a gradient at zero is `nan`. A root has no finite slope at 0. A `minimum` or `where` after the root does not help, because the gradient then multiplies 0 by infinity."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: clip_by_global_norm(leaf, most), grads)


def clip_by_global_norm(grads, most):
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)))
    factor = most / jnp.maximum(norm, most)
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="nan_in_the_global_norm" covers="C15"
"""Your `clip_by_leaf` is safe at zero, but the gradient of `clip_by_global_norm` is `nan` where all leaves are zero. There the global norm is a root of 0 too, and this root has no finite slope."""
def clip_by_leaf(grads, most):
    def shrink(leaf):
        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))

    return jax.tree.map(shrink, grads)


def clip_by_global_norm(grads, most):
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)))
    factor = most / jnp.maximum(norm, most)
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="squares_against_most"
"""You change leaves that are not too long. Perhaps you compare the sum of squares with `most`. The sum of squares is the norm squared, so compare it with `most` squared."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: clip_by_global_norm(leaf, most), grads)


def clip_by_global_norm(grads, most):
    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
    is_long = squares > most
    factor = jnp.where(is_long, most / jnp.sqrt(jnp.where(is_long, squares, 1.0)), 1.0)
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="adds_the_norms" section="counts-and-norms"
"""Your `clip_by_global_norm` shrinks too much where there are several leaves. Perhaps you add the norms of the leaves. Their squares add up to the square of the global norm; the norms themselves do not."""
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


# %% exercise="clip" misconception="a_norm_per_row"
"""Your `clip_by_leaf` is wrong for matrices: each row is clipped by itself. Perhaps your norm goes along one axis. A leaf has one norm, which all its numbers share."""
def clip_by_leaf(grads, most):
    def shrink(leaf):
        squares = jnp.sum(leaf**2, axis=-1, keepdims=True)
        return leaf * (most / jnp.sqrt(jnp.maximum(squares, most**2)))

    return jax.tree.map(shrink, grads)


def clip_by_global_norm(grads, most):
    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
    factor = most / jnp.sqrt(jnp.maximum(squares, most**2))
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="clips_numbers_by_leaf"
"""Your `clip_by_leaf` cuts off each number by itself, as `jnp.clip` does. That bends the direction of the gradient, and the norm of a leaf can still be above `most`."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: jnp.clip(leaf, -most, most), grads)


def clip_by_global_norm(grads, most):
    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
    factor = most / jnp.sqrt(jnp.maximum(squares, most**2))
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="always_rescales_safely"
"""Short gradients grow in your results: you scale everything but zeros to the norm `most`. But `most` is an upper limit. A shorter gradient stays as it is."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: clip_by_global_norm(leaf, most), grads)


def clip_by_global_norm(grads, most):
    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
    factor = most / jnp.sqrt(jnp.where(squares > 0, squares, 1.0))
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="both_by_leaf" covers="C15 C34"
"""Your `clip_by_global_norm` clips leaf by leaf: two clipped leaves of norm 1 have the global norm 1.414. A map sees one leaf at a time, so compute the global norm before you map."""
def clip_by_leaf(grads, most):
    def shrink(leaf):
        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))

    return jax.tree.map(shrink, grads)


def clip_by_global_norm(grads, most):
    return clip_by_leaf(grads, most)


# %% exercise="clip" misconception="both_by_global_norm" covers="C34"
"""Your `clip_by_leaf` uses one factor for the whole tree: a short leaf shrinks because another leaf is long. Here each leaf needs its own norm and its own factor."""
def clip_by_leaf(grads, most):
    return clip_by_global_norm(grads, most)


def clip_by_global_norm(grads, most):
    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
    factor = most / jnp.sqrt(jnp.maximum(squares, most**2))
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="clips_each_number"
"""Your functions cut off each number by itself, as `jnp.clip` does. That bends the direction of the gradient, and the norm of a leaf can still be above `most`."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: jnp.clip(leaf, -most, most), grads)


def clip_by_global_norm(grads, most):
    return jax.tree.map(lambda leaf: jnp.clip(leaf, -most, most), grads)


# %% exercise="clip" misconception="always_rescales"
"""Short gradients grow in your results, and zeros become `nan`: you scale everything to the norm `most`. But `most` is an upper limit. A shorter gradient stays as it is."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: most * leaf / jnp.linalg.norm(leaf), grads)


def clip_by_global_norm(grads, most):
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)))
    return jax.tree.map(lambda leaf: most * leaf / norm, grads)


# %% exercise="clip" misconception="a_constant_under_the_root"
"""You change very short gradients, although they are shorter than `most`. Perhaps you add a constant under the root. A constant that is small beside 1 can be large beside the square of a short gradient."""
def clip_by_leaf(grads, most):
    return jax.tree.map(lambda leaf: clip_by_global_norm(leaf, most), grads)


def clip_by_global_norm(grads, most):
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads)) + 1e-4)
    factor = jnp.minimum(1.0, most / norm)
    return jax.tree.map(lambda leaf: leaf * factor, grads)


# %% exercise="clip" misconception="where_takes_trees" covers="M10" section="trees-that-nearly-fit"
"""One of your functions fails for containers with a `TypeError`. Perhaps you pass whole trees to a function of `jnp`, such as `jnp.where`. These functions take arrays only, not dicts or lists."""
def clip_by_leaf(grads, most):
    def shrink(leaf):
        return leaf * (most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2)))

    return jax.tree.map(shrink, grads)


def clip_by_global_norm(grads, most):
    squares = sum(jnp.sum(leaf**2) for leaf in jax.tree.leaves(grads))
    factor = most / jnp.sqrt(jnp.maximum(squares, most**2))
    shorter = jax.tree.map(lambda leaf: leaf * factor, grads)
    return jnp.where(squares > most**2, shorter, grads)


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


# %% exercise="add_noise" equivalent="Gaussian noise is as likely below 0 as above it."
# solution: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype) → leaf - scale * jax.random.normal(key, leaf.shape, leaf.dtype)
# by_folding_in: leaf + scale * noise → leaf - scale * noise
# key_after_key: leaf + scale * jax.random.normal(subkey, leaf.shape, leaf.dtype) → leaf - scale * jax.random.normal(subkey, leaf.shape, leaf.dtype)


# %% exercise="add_noise" misconception="one_key_for_all"
"""Leaves of the same shape get the same noise from you. The same key and the same shape give the same numbers every time. So each leaf needs its own key."""
def add_noise(key, tree, scale):
    return jax.tree.map(
        lambda leaf: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree
    )


# %% exercise="add_noise" misconception="a_key_for_each_name"
"""Leaves with the same name in two parts get the same noise. Perhaps you make each key from the last entry of the path. This entry is the name of the leaf inside its part, and another part can have the same name."""
def add_noise(key, tree, scale):
    def noisy(path, leaf):
        own = jax.random.fold_in(key, sum(map(ord, str(path[-1:]))))
        return leaf + scale * jax.random.normal(own, leaf.shape, leaf.dtype)

    return jax.tree.map_with_path(noisy, tree)


# %% exercise="add_noise" misconception="a_key_for_each_entry"
"""Your function fails where a leaf is not an entry of the root. Perhaps you split as many keys as the root has entries. Parts can hold several leaves, and each needs a key."""
def add_noise(key, tree, scale):
    keys = iter(jax.random.split(key, len(tree)))
    return jax.tree.map(
        lambda leaf: leaf + scale * jax.random.normal(next(keys), leaf.shape, leaf.dtype), tree
    )


# %% exercise="add_noise" misconception="multiplies_by_noise"
"""Your noise grows with the numbers of the leaf. Perhaps you multiply each number by 1 plus noise. The deviation should be `scale` everywhere, also where a number is large or 0."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
    return jax.tree.map(
        lambda leaf, key: leaf * (1 + scale * jax.random.normal(key, leaf.shape, leaf.dtype)),
        tree,
        keys,
    )


# %% exercise="add_noise" misconception="noise_alone"
"""You return the noise without the leaf: with scale 0 your result is all zeros. Add the noise to the leaf."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
    return jax.tree.map(
        lambda leaf, key: scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
    )


# %% exercise="add_noise" misconception="numpy_keeps_its_own_state"
"""The same key gives different noise at each call. Perhaps you draw from NumPy, or from a generator with a state of its own. In JAX the key alone decides the numbers."""
def add_noise(key, tree, scale):
    return jax.tree.map(
        lambda leaf: (leaf + scale * np.random.normal(size=leaf.shape)).astype(leaf.dtype), tree
    )


# %% exercise="add_noise" misconception="ignores_the_key"
"""Two different keys give you the same noise. Perhaps you make a key of your own with a fixed seed. The caller's `key` is there to decide the numbers."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(jax.random.key(0), len(leaves)))
    return jax.tree.map(
        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype), tree, keys
    )


# %% exercise="add_noise" misconception="one_number_per_leaf"
"""You add one random number to a whole leaf, the same in all places. Without a shape, `normal` draws a single number, and broadcasting adds it everywhere."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
    return jax.tree.map(
        lambda leaf, key: leaf + scale * jax.random.normal(key, (), leaf.dtype), tree, keys
    )


# %% exercise="add_noise" misconception="promotes_the_dtype"
"""A `float16` leaf becomes `float32`. Perhaps you did not pass a dtype to `normal`. Then the noise is `float32`, and a sum takes the wider of two dtypes."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
    return jax.tree.map(
        lambda leaf, key: leaf + scale * jax.random.normal(key, leaf.shape), tree, keys
    )


# %% exercise="add_noise" misconception="scale_is_the_variance"
"""Your noise is too small for large scales, and too large for small scales. Perhaps you take `scale` for the variance. But `scale` is the standard deviation: multiply the numbers by `scale` itself."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
    return jax.tree.map(
        lambda leaf, key: leaf + scale**0.5 * jax.random.normal(key, leaf.shape, leaf.dtype),
        tree,
        keys,
    )


# %% exercise="add_noise" misconception="uniform_noise"
"""Your noise is too small, and its mean is not near 0, as numbers drawn evenly between 0 and 1 would be. Gaussian noise lies on both sides of 0."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
    return jax.tree.map(
        lambda leaf, key: leaf + scale * jax.random.uniform(key, leaf.shape, leaf.dtype),
        tree,
        keys,
    )


# %% exercise="add_noise" misconception="uniform_on_both_sides"
"""Your noise is too small, and none of it lies far from 0. Perhaps you draw uniform numbers from `-scale` to `scale`. Gaussian noise has no limit: about a third of it lies farther from 0 than `scale`."""
def add_noise(key, tree, scale):
    leaves, structure = jax.tree.flatten(tree)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))
    return jax.tree.map(
        lambda leaf, key: leaf
        + scale * jax.random.uniform(key, leaf.shape, leaf.dtype, minval=-1, maxval=1),
        tree,
        keys,
    )


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


# %% exercise="decay_mask" equivalent="What stands beside `in` may be a list or a tuple."
# by_comparing_entries: ([jax.tree_util.DictKey('bias')], [jax.tree_util.GetAttrKey('bias')]) → [[jax.tree_util.DictKey('bias')], [jax.tree_util.GetAttrKey('bias')]]


# %% exercise="decay_mask" equivalent="No class is derived from GetAttrKey."
# by_kind_of_entry: isinstance(path[-1], jax.tree_util.GetAttrKey) → type(path[-1]) is jax.tree_util.GetAttrKey


# %% exercise="decay_mask" misconception="paths_hold_texts" covers="C12"
"""Your function still gives the first result: all `True`. Perhaps you take a path for a tuple of texts. But a path holds objects such as `DictKey(key='bias')`, and such an object never equals a text."""
def decay_mask(params):
    return jax.tree.map_with_path(lambda path, leaf: "bias" not in path, params)


# %% exercise="decay_mask" misconception="bias_somewhere_in_the_text"
"""You give `False` to leaves with longer names, such as `bias_scale`, or to a part called `unbiased`. A search for letters in a text finds them in longer names too."""
def decay_mask(params):
    return jax.tree.map_with_path(
        lambda path, leaf: "bias" not in jax.tree_util.keystr(path), params
    )


# %% exercise="decay_mask" misconception="bias_at_the_end_of_the_text"
"""You give `False` to leaves such as `pre_bias`, whose names only end in `bias`. Perhaps you test the end of a text. Compare the whole name."""
def decay_mask(params):
    return jax.tree.map_with_path(
        lambda path, leaf: not jax.tree_util.keystr(path, simple=True).endswith("bias"), params
    )


# %% exercise="decay_mask" misconception="bias_anywhere_in_the_path"
"""You give `False` to all leaves in a part that is called `bias`. A path has an entry for every part above the leaf. Only the last entry is the name of the leaf."""
def decay_mask(params):
    def decays(path, leaf):
        names = [getattr(entry, "key", getattr(entry, "name", None)) for entry in path]
        return "bias" not in names

    return jax.tree.map_with_path(decays, params)


# %% exercise="decay_mask" misconception="the_path_is_one_text"
"""You give `False` to a leaf whose name only ends in `/bias` or `.bias`. Perhaps you join the path to one text and split the text again. But a key can contain the separator, and then you split inside the key."""
def decay_mask(params):
    def decays(path, leaf):
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        return text.split("/")[-1] != "bias"

    return jax.tree.map_with_path(decays, params)


# %% exercise="decay_mask" misconception="every_leaf_has_a_name"
"""Your function fails on a bare array. A leaf that is the whole tree has an empty path: there is no last entry to look at."""
def decay_mask(params):
    def decays(path, leaf):
        return getattr(path[-1], "key", getattr(path[-1], "name", None)) != "bias"

    return jax.tree.map_with_path(decays, params)


# %% exercise="decay_mask" misconception="every_entry_has_a_key"
"""Your function fails in lists, in namedtuples, and where the path is empty. A dict's entry has a `.key`. A list's entry has an `.idx` instead, and a namedtuple's entry a `.name`."""
def decay_mask(params):
    return jax.tree.map_with_path(lambda path, leaf: path[-1].key != "bias", params)


# %% exercise="decay_mask" misconception="only_dicts_have_names"
"""You are right for dicts, but the field `bias` of a namedtuple decays. Perhaps you look for a `.key` in the path entry. The entry of a field has its name in another attribute."""
def decay_mask(params):
    return jax.tree.map_with_path(
        lambda path, leaf: not path or getattr(path[-1], "key", None) != "bias", params
    )


# %% exercise="decay_mask" misconception="biases_are_vectors"
"""Your mask follows the number of axes: `False` for vectors, `True` for matrices. Often this gives the same mask, but a weight can be a vector too. This exercise asks for the name."""
def decay_mask(params):
    return jax.tree.map(lambda leaf: leaf.ndim > 1, params)


# %% exercise="decay_mask" misconception="mask_of_the_biases"
"""Your mask is the wrong way round: `True` for the biases. In this mask, `True` means that the leaf decays."""
def decay_mask(params):
    return jax.tree.map_with_path(
        lambda path, leaf: jax.tree_util.keystr(path[-1:], simple=True) == "bias", params
    )


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


# %% exercise="rates_by_part" equivalent="A product does not depend on the order of its factors."
# by_broadcast: jax.tree.map(lambda p, g, rate: p - rate * g, params, grads, rates) → jax.tree.map(lambda p, g, rate: p - rate * g, params, rates, grads)


# %% exercise="rates_by_part" misconception="any_tree_may_be_the_prefix" covers="M8"
"""Your function fails as soon as one rate stands for a part with several leaves. Perhaps you put `params` first. The first tree decides where the leaves are, so only the first tree may be the prefix."""
def rates_by_part(rates, params, grads):
    return jax.tree.map(lambda p, g, rate: p - rate * g, params, grads, rates)


# %% exercise="rates_by_part" misconception="only_leaves_arrive"
"""Your function fails with a `TypeError` where one rate stands for a whole part. There, JAX passes the whole part to your function, a dict or a list, and Python cannot calculate with a dict or a list."""
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


# %% exercise="rates_by_part" misconception="zero_is_no_rate"
"""Where a rate is 0, your parameters change. Perhaps a test such as `rate or 1` takes 0 for a missing rate. 0 is a rate like others: with rate 0, the part stays as it is."""
def rates_by_part(rates, params, grads):
    def step(rate, part, grads):
        return jax.tree.map(lambda p, g: p - (rate or 1.0) * g, part, grads)

    return jax.tree.map(step, rates, params, grads)


# %% exercise="rates_by_part" misconception="one_rate_for_all"
"""Every part gets the same rate from you, the first rate. Each number in `rates` is the rate of its own part only."""
def rates_by_part(rates, params, grads):
    rate = jax.tree.leaves(rates)[0]
    return jax.tree.map(lambda p, g: p - rate * g, params, grads)


# %% exercise="rates_by_part" misconception="lengths_do_not_matter" section="several-trees"
"""You accept rates that are no prefix: a list for a tuple, or a list of another length. Perhaps you walk through the trees yourself, and `zip` stops where the shorter list ends. JAX compares kinds and lengths, and raises an error."""
def rates_by_part(rates, params, grads):
    if isinstance(rates, dict):
        if not isinstance(params, dict) or rates.keys() != params.keys():
            raise ValueError("rates is not a prefix of params")
        return {name: rates_by_part(rates[name], params[name], grads[name]) for name in params}
    if isinstance(rates, (list, tuple)):
        if not isinstance(params, (list, tuple)):
            raise ValueError("rates is not a prefix of params")
        parts = [rates_by_part(*each) for each in zip(rates, params, grads)]
        return type(params)(*parts) if hasattr(params, "_fields") else type(params)(parts)
    if not jax.tree_util.all_leaves([rates]):
        step = lambda *parts: rates_by_part(*parts)
        return jax.tree.map(step, rates, params, grads, is_leaf=lambda node: node is not rates)
    return jax.tree.map(lambda p, g: p - rates * g, params, grads)


# %% exercise="rates_by_part" misconception="another_error"
"""Where `rates` is no prefix, your function raises another error than JAX does. Perhaps you catch JAX's `ValueError` and raise your own error. Do not catch it: its type and its text say what is wrong."""
def rates_by_part(rates, params, grads):
    try:
        rates = jax.tree.broadcast(rates, params)
    except ValueError as error:
        raise TypeError("rates must be a prefix of params") from error
    return jax.tree.map(lambda p, g, rate: p - rate * g, params, grads, rates)


# %% exercise="rates_by_part" misconception="list_and_tuple_are_the_same" covers="M12" section="several-trees"
"""You accept a list of rates for a tuple of parameters. In Python both are sequences. But to JAX they are two kinds of nodes, so a list is no prefix of a tuple."""
def rates_by_part(rates, params, grads):
    def step(rate, part, grads):
        return jax.tree.map(lambda p, g: p - rate * g, part, grads)

    if isinstance(rates, list) and isinstance(params, tuple):
        rates = tuple(rates)
    return jax.tree.map(step, rates, params, grads)


# %% exercise="rates_by_part" misconception="none_is_no_step" covers="M9" section="none-in-each-place"
"""You accept a `None` in `rates` where `params` has an array or a part. Perhaps you read `None` as "no step". To JAX `None` is a node, so it fits only a `None` in `params`."""
def rates_by_part(rates, params, grads):
    def step(rate, part, grads):
        if rate is None:
            return part
        return jax.tree.map(lambda p, g: p - rate * g, part, grads)

    return jax.tree.map(step, rates, params, grads, is_leaf=lambda node: node is None)


# %% exercise="rates_by_part" misconception="looks_rates_up" section="the-prefix-rule"
"""You give a result where `rates` is no prefix. Perhaps you look up a rate for each leaf by the start of its path. Then you never see a rate that no leaf needs, so you cannot notice that it does not fit."""
def rates_by_part(rates, params, grads):
    known = jax.tree_util.tree_flatten_with_path(rates)[0]

    def step(path, p, g):
        for start, rate in known:
            if path[: len(start)] == start:
                return p - rate * g
        raise ValueError(f"no rate for {path}")

    return jax.tree.map_with_path(step, params, grads)


# %% exercise="stack_trees" variant="by_numpy"
def stack_trees(trees):
    first, *others = trees
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


# %% exercise="stack_trees" equivalent="All leaves have the same length."
# solution: jax.tree.leaves(tree)[0] → jax.tree.leaves(tree)[-1]
# by_structure: leaves[0] → leaves[-1]


# %% exercise="stack_trees" equivalent="All trees have the same structure, or else it raises the same error."
# by_structure: trees[0] → trees[-1]


# %% exercise="stack_trees" equivalent="The axes that an index does not name stay whole."
# by_structure: (i, ...) → (i,)


# %% exercise="stack_trees" misconception="lists_instead_of_arrays"
"""In your stacked tree each leaf became a list. To JAX a list is a node, so there are as many leaves as before: such a tree is transposed, not stacked."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: list(leaves), *trees)


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="joins_end_to_end"
"""You join your leaves end to end: two vectors of length 2 become one vector of length 4. `concatenate` makes an axis longer. A stack has a new axis."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *trees)


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="rows_below_rows"
"""You are right for vectors only: a matrix gets no new axis, and a single number gets one too many. `vstack` puts rows below rows; what it does depends on how many axes there are."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.vstack(leaves), *trees)


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="two_trees"
"""Your `stack_trees` takes exactly two trees: it fails for one tree, and loses a third tree. With a star, a function takes any number of arguments. So does `jax.tree.map`."""
def stack_trees(trees):
    return jax.tree.map(lambda a, b: jnp.stack([a, b]), trees[0], trees[1])


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="last_axis"
"""Your new axis is the last one, and your trees are taken from there: rows and columns have changed places. The task speaks of the first axis."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves, axis=-1), *trees)


def unstack(tree):
    count = jax.tree.leaves(tree)[0].shape[-1]
    return [jax.tree.map(lambda leaf: leaf[..., i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="maps_over_the_list" section="several-trees"
"""Your result is still a list of trees. To JAX, a list of trees is one tree. So a map over this list takes each leaf alone, and never two leaves together."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), trees)


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="keys_do_not_matter" section="several-trees"
"""You stack trees with different keys without an error. Lists of leaves do not know the place of each leaf, so `w` of one tree is stacked with `v` of another tree."""
def stack_trees(trees):
    columns = zip(*(jax.tree.leaves(tree) for tree in trees))
    structure = jax.tree.structure(trees[0])
    return jax.tree.unflatten(structure, [jnp.stack(column) for column in columns])


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="counts_the_entries"
"""Your `unstack` gives too many or too few trees. Perhaps you take the length of the tree. But `len` of a dict counts its keys. The number of rows is the length of a leaf."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def unstack(tree):
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(len(tree))]


# %% exercise="stack_trees" misconception="rows_in_one_tree"
"""Your `unstack` returns one tree with a list of rows in each place. A map keeps the tree outside and puts its results inside; here the list should be outside."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def unstack(tree):
    return jax.tree.map(list, tree)


# %% exercise="stack_trees" misconception="keeps_the_axis"
"""The arrays in your unstacked trees have one axis too many, of length 1. A slice such as `leaf[0:1]` keeps its axis, where an index takes it away."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i : i + 1], tree) for i in range(count)]


# %% exercise="stack_trees" misconception="squeezes"
"""Your unstacked arrays have lost an axis of length 1 that belongs to them. `squeeze` removes every such axis. Remove only the first axis."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i].squeeze(), tree) for i in range(count)]


# %% exercise="stack_trees" misconception="forgets_the_last_row"
"""Your `unstack` gives one tree too few: the last row is lost. `range(n)` itself already ends with `n - 1`."""
def stack_trees(trees):
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def unstack(tree):
    count = len(jax.tree.leaves(tree)[0])
    return [jax.tree.map(lambda leaf: leaf[i], tree) for i in range(count - 1)]


# %% exercise="perturb" starter=True
def perturb(key, params, scale, most):
    """Return `params` with noise, each leaf clipped, and zeros for fewer than two axes."""
    raise NotImplementedError  # your answer goes here, in place of this line


# %% exercise="perturb" variant="three_functions"
def add_noise(key, params, scale):
    structure = jax.tree.structure(params)
    keys = jax.tree.unflatten(structure, list(jax.random.split(key, structure.num_leaves)))
    return jax.tree.map(lambda p, k: p + scale * jax.random.normal(k, p.shape), params, keys)


def clip_by_leaf(params, most):
    def shrink(leaf):
        return leaf * most / jnp.sqrt(jnp.maximum(jnp.sum(leaf**2), most**2))

    return jax.tree.map(shrink, params)


def zero_biases(params):
    return jax.tree.map(lambda p: p if p.ndim > 1 else 0 * p, params)


@jax.jit
def perturb(key, params, scale, most):
    return zero_biases(clip_by_leaf(add_noise(key, params, scale), most))


# %% exercise="perturb" variant="by_folding_in"
def plain(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    result = []
    for place, leaf in enumerate(leaves):
        if leaf.ndim < 2:
            result.append(jnp.zeros(leaf.shape, leaf.dtype))
            continue
        leaf = leaf + scale * jax.random.normal(jax.random.fold_in(key, place), leaf.shape)
        norm = jnp.linalg.norm(leaf)
        result.append(jnp.where(norm > most, leaf * most / norm, leaf))
    return jax.tree.unflatten(structure, result)


perturb = jax.jit(plain)


# %% exercise="perturb" equivalent="Gaussian noise is as likely below 0 as above it."
# solution: leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype) → leaf - scale * jax.random.normal(key, leaf.shape, leaf.dtype)
# three_functions: p + scale * jax.random.normal(k, p.shape) → p - scale * jax.random.normal(k, p.shape)
# by_folding_in: leaf + scale * jax.random.normal(ja … om.fold_in(key, place), leaf.shape) → leaf - scale * jax.random.normal(ja … om.fold_in(key, place), leaf.shape)


# %% exercise="perturb" equivalent="All leaves are float32, as the noise and the zeros are by themselves."
# solution: jax.random.normal(key, leaf.shape, leaf.dtype) → jax.random.normal(key, leaf.shape)
# by_folding_in: jnp.zeros(leaf.shape, leaf.dtype) → jnp.zeros(leaf.shape)


# %% exercise="perturb" equivalent="The larger and the smaller of two numbers do not depend on their order."
# solution: jnp.minimum(1, most / jnp.linalg.norm(noisy)) → jnp.minimum(most / jnp.linalg.norm(noisy), 1)
# three_functions: jnp.maximum(jnp.sum(leaf ** 2), most ** 2) → jnp.maximum(most ** 2, jnp.sum(leaf ** 2))


# %% exercise="perturb" equivalent="What is unflattened may be any iterable of keys."
# three_functions: list(jax.random.split(key, structure.num_leaves)) → jax.random.split(key, structure.num_leaves)
# three_functions: list(jax.random.split(key, structure.num_leaves)) → tuple(jax.random.split(key, structure.num_leaves))


# %% exercise="perturb" equivalent="A norm that is exactly `most` is multiplied by 1."
# by_folding_in: norm > most → norm >= most


# %% exercise="perturb" misconception="no_jit"
"""Your numbers are right, but your function is not one jitted program. Without `jax.jit`, JAX runs each operation on each leaf by itself."""
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        clipped = noisy * jnp.minimum(1, most / jnp.linalg.norm(noisy))
        return clipped if leaf.ndim >= 2 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params, keys)


# %% exercise="perturb" misconception="a_new_jit_in_each_call" section="inside-jit"
"""Your results are right, but JAX traces every call again. Perhaps you make the jitted function anew in each call. A compiled program belongs to one jitted function, and a new function has no compiled program yet."""
def perturb(key, params, scale, most):
    @jax.jit
    def run(key, params, scale, most):
        leaves, structure = jax.tree.flatten(params)
        keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

        def change(leaf, key):
            noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
            clipped = noisy * jnp.minimum(1, most / jnp.linalg.norm(noisy))
            return clipped if leaf.ndim >= 2 else jnp.zeros_like(leaf)

        return jax.tree.map(change, params, keys)

    return run(key, params, scale, most)


# %% exercise="perturb" misconception="python_if"
"""Every call raises an error about a traced value. Perhaps Python's `if` compares a norm with `most`. While JAX traces, these have no values yet, so Python cannot choose a branch."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        norm = jnp.linalg.norm(noisy)
        if norm > most:
            noisy = noisy * most / norm
        return noisy if leaf.ndim >= 2 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params, keys)


# %% exercise="perturb" misconception="static_numbers"
"""Your numbers are right, but `scale` or `most` is static. So JAX traces and compiles again for each new value, and you cannot call `perturb` with traced values from another jitted function. Both should be ordinary inputs."""
from functools import partial


@partial(jax.jit, static_argnames=("scale", "most"))
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        clipped = noisy * jnp.minimum(1, most / jnp.linalg.norm(noisy))
        return clipped if leaf.ndim >= 2 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params, keys)


# %% exercise="perturb" misconception="one_axis_alone" section="one-tree"
"""Your single numbers are not zeros. A leaf with one axis is a vector. But a single number has no axis at all, and that is fewer than two axes too."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        clipped = noisy * jnp.minimum(1, most / jnp.linalg.norm(noisy))
        return clipped if leaf.ndim != 1 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params, keys)


# %% exercise="perturb" misconception="zeros_by_name" section="one-tree"
"""You go by names: a matrix called `b` becomes zeros, and vectors with other names do not. Here the number of axes decides, whatever a leaf is called."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(path, leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        clipped = noisy * jnp.minimum(1, most / jnp.linalg.norm(noisy))
        is_bias = jax.tree_util.keystr(path[-1:], simple=True) == "b"
        return jnp.zeros_like(leaf) if is_bias else clipped

    return jax.tree.map_with_path(change, params, keys)


# %% exercise="perturb" misconception="divides_zero_by_zero" section="two-ways-to-clip"
"""A matrix of zeros becomes `nan`. Its norm is 0, and 0 divided by 0 is `nan`, whatever you multiply it by afterwards."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        clipped = noisy / jnp.linalg.norm(noisy) * jnp.minimum(jnp.linalg.norm(noisy), most)
        return clipped if leaf.ndim >= 2 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params, keys)


# %% exercise="perturb" misconception="always_rescales" section="two-ways-to-clip"
"""Short matrices grow in your results: you scale each leaf to the norm `most`. But `most` is an upper limit. A shorter leaf stays as it is."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        clipped = noisy * most / jnp.maximum(jnp.linalg.norm(noisy), 1e-12)
        return clipped if leaf.ndim >= 2 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params, keys)


# %% exercise="perturb" misconception="clips_before_the_noise"
"""Your leaves are longer than `most` when there is much noise. The order of the steps matters: add the noise first, and then clip."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        clipped = leaf * jnp.minimum(1, most / jnp.linalg.norm(leaf))
        noisy = clipped + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        return noisy if leaf.ndim >= 2 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params, keys)


# %% exercise="perturb" misconception="one_key_for_all" section="a-key-for-every-leaf"
"""Two matrices of the same shape get the same noise from you. The same key and the same shape give the same numbers, under jit too."""
@jax.jit
def perturb(key, params, scale, most):
    def change(leaf):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        clipped = noisy * jnp.minimum(1, most / jnp.linalg.norm(noisy))
        return clipped if leaf.ndim >= 2 else jnp.zeros_like(leaf)

    return jax.tree.map(change, params)


# %% exercise="perturb" misconception="clips_by_the_global_norm" covers="C34" section="two-ways-to-clip"
"""Your clipped leaves are too short: all of them share one factor, from the norm of the whole tree. Here each leaf is clipped by its own norm."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.random.split(key, len(leaves))
    noisy = [
        leaf + scale * jax.random.normal(k, leaf.shape) for leaf, k in zip(leaves, keys)
    ]
    norm = jnp.sqrt(sum(jnp.sum(leaf**2) for leaf in noisy))
    factor = jnp.minimum(1, most / norm)
    done = [leaf * factor if leaf.ndim >= 2 else jnp.zeros_like(leaf) for leaf in noisy]
    return jax.tree.unflatten(structure, done)


# %% exercise="perturb" misconception="forgets_the_zeros" section="one-tree"
"""Your vectors are noisy and clipped, but they are not zeros. The third step puts zeros in every leaf with fewer than two axes, and a vector has one axis."""
@jax.jit
def perturb(key, params, scale, most):
    leaves, structure = jax.tree.flatten(params)
    keys = jax.tree.unflatten(structure, jax.random.split(key, len(leaves)))

    def change(leaf, key):
        noisy = leaf + scale * jax.random.normal(key, leaf.shape, leaf.dtype)
        return noisy * jnp.minimum(1, most / jnp.linalg.norm(noisy))

    return jax.tree.map(change, params, keys)


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


# %% exercise="fill_missing" misconception="none_is_a_leaf" covers="M1"
"""Your function fails wherever `tree` has a `None` and `defaults` has a value. Perhaps you expect JAX to pass the `None` to your function. To JAX `None` is a node without children, and a value does not fit it."""
def fill_missing(tree, defaults):
    return jax.tree.map(
        lambda value, default: default if value is None else value, tree, defaults
    )


# %% exercise="fill_missing" misconception="zero_is_missing"
"""Your function replaces a 0, and fails on an array. `value or default` tests whether a value is true. 0 is not true, and for an array of several numbers Python cannot say."""
def fill_missing(tree, defaults):
    return jax.tree.map(
        lambda value, default: value or default,
        tree,
        defaults,
        is_leaf=lambda node: node is None,
    )


# %% exercise="fill_missing" misconception="the_deeper_tree_first" covers="M8" section="the-prefix-rule"
"""Your function fails where `defaults` has a whole part in the place of a `None` or of a leaf. Perhaps you put `defaults` first. Only the first tree may be the prefix, and the deeper tree is no prefix."""
def fill_missing(tree, defaults):
    return jax.tree.map(
        lambda default, value: default if value is None else value,
        defaults,
        tree,
        is_leaf=lambda node: node is None,
    )


# %% exercise="fill_missing" misconception="top_level_only"
"""You replace the `None` in the outermost dict only. A `None` can stand at any depth, in lists too, and the whole tree can be `None`."""
def fill_missing(tree, defaults):
    return {
        name: defaults[name] if value is None else value for name, value in tree.items()
    }


# %% exercise="fill_missing" misconception="keys_need_not_agree" section="several-trees"
"""You fill a gap although the two structures differ there: you accept a list for a tuple, or one key for another key. Perhaps you pair lists of leaves. Such lists do not know the places of the leaves."""
def fill_missing(tree, defaults):
    def is_none(node):
        return node is None

    values, structure = jax.tree.flatten(tree, is_leaf=is_none)
    others = jax.tree.leaves(defaults, is_leaf=is_none)
    filled = [other if value is None else value for value, other in zip(values, others)]
    return jax.tree.unflatten(structure, filled)


# %% exercise="fill_missing" misconception="own_walk" section="several-trees"
"""You give a result where the two structures differ. Perhaps you walk through both trees yourself. `get` gives a `None` for a missing key, and `zip` stops where the shorter list ends."""
def fill_missing(tree, defaults):
    if tree is None:
        return defaults
    if isinstance(tree, dict):
        items = {name: fill_missing(value, defaults.get(name)) for name, value in tree.items()}
        return type(tree)(items)
    if isinstance(tree, (list, tuple)):
        parts = [fill_missing(*pair) for pair in zip(tree, defaults)]
        return type(tree)(*parts) if hasattr(tree, "_fields") else type(tree)(parts)
    if jax.tree_util.all_leaves([tree]):
        return tree
    return jax.tree.map(fill_missing, tree, defaults, is_leaf=lambda node: node is not tree)


# %% exercise="fill_missing" misconception="a_leaf_beside_a_leaf" section="the-prefix-rule"
"""Your function fails where `tree` has a leaf and `defaults` a whole part. Perhaps you compare the two structures yourself. By the prefix rule, the second tree may have a whole part in the place of a leaf."""
def fill_missing(tree, defaults):
    def fill(value, default):
        if value is None:
            return default
        if not jax.tree_util.all_leaves([default]):
            raise ValueError("a leaf stands beside a part")
        return value

    return jax.tree.map(fill, tree, defaults, is_leaf=lambda node: node is None)


# %% exercise="fill_missing" misconception="no_default_is_zero"
"""You put a 0 where both trees have a `None`. The exercise asks for what `defaults` has in this place, and that is a `None` again."""
def fill_missing(tree, defaults):
    def fill(value, default):
        return (0 if default is None else default) if value is None else value

    return jax.tree.map(fill, tree, defaults, is_leaf=lambda node: node is None)


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


# %% exercise="batched_apply" equivalent="The parts of `mine` replace those of the same names in `shared`."
# shared_parts_closed_over: name not in batched → True


# %% exercise="batched_apply" misconception="in_axes_without_the_tuple" covers="M11"
"""Every call fails. Perhaps `in_axes` is your dict of axes alone. `function` has two arguments, so `in_axes` is a tuple with two entries."""
def batched_apply(function, params, batched, x):
    axes = {name: 0 if name in batched else None for name in params}
    return jax.vmap(function, in_axes=axes)(params, x)


# %% exercise="batched_apply" misconception="everything_is_batched"
"""You give row `i` of every part to example `i`, of the shared parts too. If a shared part has as many rows as the batch, JAX raises no error, and the result is wrong."""
def batched_apply(function, params, batched, x):
    return jax.vmap(function)(params, x)


# %% exercise="batched_apply" misconception="parameters_are_shared"
"""Every example gets all of `params` in your call. Often that is right for a model. But here the leaves in the batched parts have one row for each example."""
def batched_apply(function, params, batched, x):
    return jax.vmap(function, in_axes=(None, 0))(params, x)


# %% exercise="batched_apply" misconception="zero_means_shared"
"""Batched and shared parts have changed places. In `in_axes` a 0 does not mean "no": it is the number of the axis that runs over the batch."""
def batched_apply(function, params, batched, x):
    axes = {name: None if name in batched else 0 for name in params}
    return jax.vmap(function, in_axes=(axes, 0))(params, x)


# %% exercise="batched_apply" misconception="every_row_with_every_x"
"""Your results have one axis too many, or the call fails: each example gets the whole of `x`. Perhaps your `in_axes` has an axis for `params` only. But `x` has one row for each example too."""
def batched_apply(function, params, batched, x):
    axes = {name: 0 if name in batched else None for name in params}
    return jax.vmap(function, in_axes=(axes, None))(params, x)


# %% exercise="batched_apply" misconception="broadcasting_is_enough"
"""You call the function once, with everything. With single numbers, broadcasting pairs the rows by chance. With a shared vector, it pairs numbers that do not belong together."""
def batched_apply(function, params, batched, x):
    return function(params, x)


# %% exercise="batched_apply" misconception="a_name_within_a_name"
"""You treat a shared part as batched when its name is a piece of a batched part's name. Perhaps you look for the name in a text. In a list, `in` compares whole names; in a text, it finds pieces."""
def batched_apply(function, params, batched, x):
    axes = {name: 0 if name in str(batched) else None for name in params}
    return jax.vmap(function, in_axes=(axes, 0))(params, x)


# %% exercise="batched_apply" misconception="batched_names_alone" section="the-prefix-rule"
"""Your function fails wherever a part is shared. Perhaps your tree of axes has no entry for that part. A prefix needs the same keys as its tree. For a shared part, the entry is `None`."""
def batched_apply(function, params, batched, x):
    return jax.vmap(function, in_axes=({name: 0 for name in batched}, 0))(params, x)


# %% exercise="batched_apply" misconception="a_part_is_one_array"
"""Your function fails, or gives wrong results, where a batched part is a dict. Perhaps you index the part itself. A part is a tree, and only its leaves have rows."""
def batched_apply(function, params, batched, x):
    results = []
    for i in range(len(x)):
        mine = {name: part[i] if name in batched else part for name, part in params.items()}
        results.append(function(mine, x[i]))
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *results)


# %% exercise="batched_apply" misconception="a_result_is_one_array" section="lists-of-trees"
"""Your function fails where the results are trees. Perhaps you pass these trees to `jnp.stack`. But `jnp.stack` takes arrays only, so stack leaf by leaf."""
def batched_apply(function, params, batched, x):
    results = []
    for i in range(len(x)):
        mine = {
            name: jax.tree.map(lambda leaf: leaf[i], part) if name in batched else part
            for name, part in params.items()
        }
        results.append(function(mine, x[i]))
    return jnp.stack(results)


# %% exercise="batched_apply" misconception="every_row_with_every_row"
"""Your results have one axis too many: each row of the batched parts is combined with each row of `x`. Perhaps there is one `vmap` inside another. One `vmap` with an axis for `params` and for `x` combines row `i` with row `i`."""
def batched_apply(function, params, batched, x):
    over_x = jax.vmap(function, in_axes=(None, 0))
    if not batched:
        return over_x(params, x)
    axes = {name: 0 if name in batched else None for name in params}
    return jax.vmap(over_x, in_axes=(axes, None))(params, x)


# %% exercise="batched_apply" misconception="goes_by_the_length"
"""You use rows of shared parts, where these parts are as long as the batch. Perhaps you look at the length of the leaves. Lengths can be equal by chance. Only `batched` says which parts have rows."""
def batched_apply(function, params, batched, x):
    axes = jax.tree.map(lambda leaf: 0 if leaf.ndim and len(leaf) == len(x) else None, params)
    return jax.vmap(function, in_axes=(axes, 0))(params, x)


# %% exercise="batched_apply" misconception="results_in_the_last_axis"
"""Where each example gives a vector, rows and columns have changed places in your result. Perhaps you set `out_axes` to the last axis. Without it, the results are stacked along a new first axis."""
def batched_apply(function, params, batched, x):
    axes = {name: 0 if name in batched else None for name in params}
    return jax.vmap(function, in_axes=(axes, 0), out_axes=-1)(params, x)


# %% exercise="batched_apply" misconception="one_batched_part"
"""Only the first of the names in `batched` has rows in your call. Every part that is named there has a batch as the first axis of its leaves."""
def batched_apply(function, params, batched, x):
    axes = {name: 0 if name in batched[:1] else None for name in params}
    return jax.vmap(function, in_axes=(axes, 0))(params, x)
