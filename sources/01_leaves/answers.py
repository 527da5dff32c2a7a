# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="count_leaves" variant="by_structure"
def count_leaves(tree):
    return jax.tree.structure(tree).num_leaves


# %% exercise="count_leaves" variant="by_reduce"
def count_leaves(tree):
    return jax.tree.reduce(lambda count, leaf: count + 1, tree, 0)


# %% exercise="count_leaves" variant="by_paths"
def count_leaves(tree):
    return sum(1 for path, leaf in jax.tree.leaves_with_path(tree))


# %% exercise="count_leaves" variant="by_recursion"
def count_leaves(tree):
    level = jax.tree_util.default_registry.flatten_one_level(tree)
    if level is None:
        return 1
    children, _ = level
    return sum(count_leaves(child) for child in children)


# %% exercise="count_leaves" misconception="counts_the_top_level"
"""Your results are those of `len`: the items of the outermost container, or the rows of an array. JAX also opens every container inside, but it opens no array. It counts only what it cannot open."""
def count_leaves(tree):
    return len(tree)


# %% exercise="count_leaves" misconception="counts_array_elements"
"""Your numbers grow with the sizes of the arrays. JAX does not open an array: whatever its shape is, an array is one leaf."""
def count_leaves(tree):
    return sum(np.size(leaf) for leaf in jax.tree.leaves(tree))


# %% exercise="count_leaves" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""Your number is too high by one for each `None`. For JAX `None` is a node without children, like an empty tuple: `None` has a place in the structure, but it adds no leaf."""
def count_leaves(tree):
    return len(jax.tree.leaves(tree, is_leaf=lambda node: node is None))


# %% exercise="count_leaves" misconception="counts_all_nodes" section="structure-is-a-value"
"""Your numbers include everything in the tree, also the containers and each `None`, as `num_nodes` does. A container is a node, not a leaf."""
def count_leaves(tree):
    return jax.tree.structure(tree).num_nodes


# %% exercise="count_leaves" misconception="subclasses_are_nodes" covers="M4" section="the-registry-goes-by-exact-type"
"""Your result is right for Python's own containers, and wrong for other classes. Code that uses `isinstance` gives such results. JAX looks for the exact type in its registry: it does not open an unregistered subclass of `dict`, and it opens every registered class."""
def count_leaves(tree):
    if tree is None:
        return 0
    if isinstance(tree, dict):
        return sum(count_leaves(child) for child in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(count_leaves(child) for child in tree)
    return 1


# %% exercise="count_leaves" misconception="prints_it"
"""Your function returns `None`: a Python function without `return` returns `None`. Printing a number only shows it. Other code gets the value after `return`."""
def count_leaves(tree):
    print(len(jax.tree.leaves(tree)))


# %% exercise="count_leaves" misconception="empty_containers_are_leaves"
"""Your number is too high by one for each empty container. An empty container has nothing inside, but for JAX it is a node and not a leaf."""
def count_leaves(tree):
    def is_empty(node):
        return isinstance(node, (dict, list, tuple)) and len(node) == 0

    return len(jax.tree.leaves(tree, is_leaf=is_empty))


# %% exercise="count_leaves" misconception="one_object_is_one_leaf" section="there-and-back"
"""Your number is too low where one object is at several places. A tree does not know that it is one object: JAX counts each place."""
def count_leaves(tree):
    return len({id(leaf) for leaf in jax.tree.leaves(tree)})


# %% exercise="count_leaves" misconception="containers_inside_are_leaves" section="structure-is-a-value"
"""Your numbers include the containers inside the outermost one, and each `None` too. These are nodes. Only what JAX cannot open is a leaf."""
def count_leaves(tree):
    return jax.tree.structure(tree).num_nodes - 1


# %% exercise="count_leaves" equivalent="a level is None or a tuple"
# by_recursion: level is None → level == None


# %% exercise="count_leaves" misconception="falsy_is_no_leaf" section="none-is-a-node-without-children"
"""Your number leaves out `0`, `False` and empty texts. In an `if`, Python treats these values as false. But each of them is a value, and for JAX a leaf."""
def count_leaves(tree):
    return len([leaf for leaf in jax.tree.leaves(tree) if np.any(leaf)])


# %% exercise="count_leaves" misconception="all_but_the_root" section="structure-is-a-value"
"""Your number is right for a flat container, and too high where there are containers inside, or a `None`. Perhaps you count every node except the outermost as a leaf. Inner containers are nodes as well."""
def count_leaves(tree):
    structure = jax.tree.structure(tree)
    return max(structure.num_nodes - 1, 1)


# %% exercise="count_leaves" misconception="one_leaf_for_each_path_text" section="key-paths"
"""Two leaves with the same path text count as one. Perhaps you collect the texts in a dict or a set. A text such as `a/b` can be one key, or two steps."""
def count_leaves(tree):
    by_path = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        by_path[jax.tree_util.keystr(path, simple=True, separator="/")] = leaf
    return len(by_path)


# %% exercise="predict_leaf_counts" starter=True
predictions = {
    "A": ...,  # {"w": np.ones((2, 3)), "b": np.zeros(3)}
    "B": ...,  # [1, None, (2, None)]
    "C": ...,  # [(), {}, [[]]]
    "D": ...,  # {"name": "abc", "point": (1.5, 2)}
    "E": ...,  # OrderedDict(a=1, b=(2, 3))
    "F": ...,  # [{1, 2, 3}, deque([4, 5])]
    "G": ...,  # Config(a=1, b=2)
    "H": ...,  # {1: "a", "b": 2}
}


# %% exercise="predict_leaf_counts" variant="counted_by_running_them"
from collections import OrderedDict, deque


class Config(dict):
    pass


def count(tree):
    try:
        return len(jax.tree.leaves(tree))
    except ValueError:
        return "error"


predictions = {
    "A": count({"w": np.ones((2, 3)), "b": np.zeros(3)}),
    "B": count([1, None, (2, None)]),
    "C": count([(), {}, [[]]]),
    "D": count({"name": "abc", "point": (1.5, 2)}),
    "E": count(OrderedDict(a=1, b=(2, 3))),
    "F": count([{1, 2, 3}, deque([4, 5])]),
    "G": count(Config(a=1, b=2)),
    "H": count({1: "a", "b": 2}),
}


# %% exercise="predict_leaf_counts" variant="with_numpy_integers"
predictions = dict(zip("ABCDEFG", np.array([2, 2, 0, 3, 3, 2, 1])))
predictions["H"] = "error"


# %% exercise="predict_leaf_counts" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""You get 4 if you count each `None`. For JAX, `None` is a node without children, so it adds no leaf."""
predictions = dict(A=2, B=4, C=0, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="arrays_are_opened" section="leaves-are-not-elements"
"""9 is the number of elements in the two arrays. JAX does not open an array, whatever its shape is: an array is one leaf."""
predictions = dict(A=9, B=2, C=0, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="empty_containers_are_leaves" section="leaves-are-not-elements"
"""3 is the number of empty containers, and of items in the outer list. For JAX an empty container is a node that holds nothing, so it adds no leaf."""
predictions = dict(A=2, B=2, C=3, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="strings_are_opened" section="leaves-are-not-elements"
"""You get 5 if you count each letter of the text. Python can loop over a text, but that does not matter to JAX: `str` is not in JAX's registry, so JAX does not look inside."""
predictions = dict(A=2, B=2, C=0, D=5, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="only_plain_dicts_are_nodes" covers="C22"
"""1 would be right if the `OrderedDict` were a leaf. Beside `dict`, some relatives have their own entry in the registry: `OrderedDict`, `defaultdict` and namedtuples. JAX opens them, and also what is inside them."""
predictions = dict(A=2, B=2, C=0, D=3, E=1, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="subclasses_are_nodes" covers="M4 C22"
"""2 is the number of values in the `Config`. `Config` is a kind of `dict`, but JAX looks for the exact type in the registry, not for its parent class. So JAX does not open the `Config`."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=2, G=2, H="error")


# %% exercise="predict_leaf_counts" misconception="sets_and_deques_are_nodes" covers="C22"
"""5 is the number of items in the set and the deque. JAX does not open everything that holds items: the type must be in the registry, and `set` and `deque` are not."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=5, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="any_keys_work" covers="M3" section="dict-keys-are-sorted"
"""2 is the number of values in the dict. A Python dict accepts any keys, but JAX sorts the keys of a dict. What does `sorted` do with the keys of this dict?"""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=2, G=1, H=2)


# %% exercise="predict_leaf_counts" misconception="only_the_outer_container_is_opened" section="leaves-are-not-elements"
"""This is the number of items in the outer container. JAX goes deeper: it also opens every node inside."""
predictions = dict(A=2, B=3, C=3, D=2, E=2, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="nodes_are_counted" section="leaves-are-not-elements"
"""This number includes the containers. A container that JAX opens is a node. Only what JAX does not open is a leaf."""
predictions = dict(A=3, B=2, C=5, D=5, E=5, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="sets_are_nodes" covers="C22"
"""You get 4 if you open the set, but not the deque. A set holds items, but that is not enough for JAX: the type must be in the registry."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=4, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="deques_are_nodes" covers="C22"
"""You get 3 if you open the deque, but not the set. A deque holds items, but that is not enough for JAX: the type must be in the registry."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=3, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="unknown_types_raise"
"""JAX raises no error for a type that it does not know. JAX does not look inside: the whole object is one leaf."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F="error", G="error", H="error")


# %% exercise="predict_leaf_counts" misconception="unknown_types_add_nothing"
"""JAX does not leave out an object of a type that it does not know. JAX does not look inside: the whole object is one leaf."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=0, G=0, H="error")


# %% exercise="predict_leaf_counts" misconception="empty_containers_raise" section="leaves-are-not-elements"
"""JAX raises no error for empty containers: they are nodes like other containers, and a tree may consist of them alone."""
predictions = dict(A=2, B=2, C="error", D=3, E=3, F=2, G=1, H="error")


# %% exercise="leaf_shapes" variant="by_flatten_with_path"
from jax.tree_util import keystr


def leaf_shapes(tree):
    pairs, _ = jax.tree.flatten_with_path(tree)
    shapes = {}
    for path, leaf in pairs:
        shapes[keystr(path, simple=True, separator="/")] = np.shape(leaf)
    return shapes


# %% exercise="leaf_shapes" variant="by_map_with_path"
def leaf_shapes(tree):
    shapes = {}

    def note(path, leaf):
        shapes[jax.tree_util.keystr(path, simple=True, separator="/")] = jnp.shape(leaf)

    jax.tree.map_with_path(note, tree)
    return shapes


# %% exercise="leaf_shapes" variant="by_recursion"
def leaf_shapes(tree, before=()):
    if hasattr(tree, "shape"):
        return {jax.tree_util.keystr(before, simple=True, separator="/"): tree.shape}
    shapes = {}
    for path, child in jax.tree.leaves_with_path(tree, is_leaf=lambda node: node is not tree):
        shapes |= leaf_shapes(child, before + path)
    return shapes


# %% exercise="leaf_shapes" misconception="default_keystr"
"""Your texts look like Python code: `['w'][0]`. That is the default style of `keystr`. The task asks for the simple style, with a separator between the steps."""
def leaf_shapes(tree):
    return {
        jax.tree_util.keystr(path): leaf.shape for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="str_of_each_entry"
"""Each step in your texts has brackets and perhaps quotes: `['w']/[0]`. A step is an object of JAX, such as a `DictKey` or a `SequenceKey`, and `str` turns it into such a text."""
def leaf_shapes(tree):
    return {
        "/".join(str(entry) for entry in path): leaf.shape
        for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="only_the_last_step"
"""Your names are the last steps of the paths. Two layers may both have a `w`. Then the second one replaces the first in your dict. Only the whole path belongs to exactly one leaf."""
def leaf_shapes(tree):
    return {
        jax.tree_util.keystr(path[-1:], simple=True, separator="/"): leaf.shape
        for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="shapes_are_leaves" covers="M7"
"""Your result has paths to single lengths, such as `w/0`. A shape is a tuple, and a tuple is a node. If you turn the leaves into shapes before you make the paths, JAX opens the shapes as well."""
def leaf_shapes(tree):
    shapes = jax.tree.map(lambda leaf: leaf.shape, tree)
    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): shape
        for path, shape in jax.tree.leaves_with_path(shapes)
    }


# %% exercise="leaf_shapes" misconception="shapes_are_lists" section="structure-is-a-value"
"""Your shapes are lists. NumPy and JAX give a shape as a tuple, and the task asks for one. For JAX a list and a tuple are different kinds of nodes, so such results do not match."""
def leaf_shapes(tree):
    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): list(leaf.shape)
        for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""In your result `None` has an entry too, with the shape of a single number. For JAX `None` is a node without children: it is no leaf, and it has no shape."""
def leaf_shapes(tree):
    pairs = jax.tree.leaves_with_path(tree, is_leaf=lambda node: node is None)
    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): np.shape(leaf)
        for path, leaf in pairs
    }


# %% exercise="leaf_shapes" misconception="only_the_top_level" section="leaves-are-not-elements"
"""Your function works for one dict whose values are all arrays. A tree may be nested, it may be a list or a single array, and it may hold `None`. Let JAX find the leaves for you."""
def leaf_shapes(tree):
    return {name: leaf.shape for name, leaf in tree.items()}


# %% exercise="leaf_shapes" misconception="separator_at_the_front"
"""Your texts begin with the separator. The separator belongs between two steps only. So a path of one step is just that step, and the path of a single array is empty."""
def leaf_shapes(tree):
    return {
        "".join("/" + jax.tree_util.keystr((entry,), simple=True) for entry in path): leaf.shape
        for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="scalars_have_no_shape" section="leaves-are-not-elements"
"""Arrays that hold a single number without any axis are missing from your result. Their shape is the empty tuple `()`. In an `if`, Python treats an empty tuple as false, but `()` is a shape like any other."""
def leaf_shapes(tree):
    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
        for path, leaf in jax.tree.leaves_with_path(tree)
        if leaf.shape
    }


# %% exercise="leaf_shapes" misconception="subclasses_are_nodes" covers="M4" section="the-registry-goes-by-exact-type"
"""Your result is right for Python's own containers. In a namedtuple your steps are positions, but JAX uses the names of the fields. And you do not open registered classes. Code that uses `isinstance` gives such results; JAX asks its registry."""
def leaf_shapes(tree, before=()):
    if tree is None:
        return {}
    if isinstance(tree, dict):
        pairs = tree.items()
    elif isinstance(tree, (list, tuple)):
        pairs = enumerate(tree)
    else:
        return {"/".join(before): tree.shape}
    shapes = {}
    for key, child in pairs:
        shapes |= leaf_shapes(child, (*before, str(key)))
    return shapes


# %% exercise="leaf_shapes" misconception="fields_have_no_names" section="the-registry-goes-by-exact-type"
"""Your function fails at the fields of namedtuples and registered classes. An entry of a path has `.key` only for a dict and `.idx` only for a list or a tuple; for a field it is of another kind."""
def leaf_shapes(tree):
    def text(entry):
        return str(entry.idx if hasattr(entry, "idx") else entry.key)

    return {
        "/".join(map(text, path)): leaf.shape for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="last_two_steps"
"""In long paths your names lack the first steps. Two paths of a deep tree may have the same end. Then the second one replaces the first in your dict. Only the whole path belongs to exactly one leaf."""
def leaf_shapes(tree):
    return {
        jax.tree_util.keystr(path[-2:], simple=True, separator="/"): leaf.shape
        for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="none_has_a_path" covers="M1" section="none-is-a-node-without-children"
"""After a `None`, your paths have shapes of other leaves. Your paths count `None` as a leaf, your shapes do not. For JAX `None` is a node without children. Take each path together with its leaf."""
def leaf_shapes(tree):
    pairs = jax.tree.leaves_with_path(tree, is_leaf=lambda node: node is None)
    paths = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs]
    return dict(zip(paths, [leaf.shape for leaf in jax.tree.leaves(tree)]))


# %% exercise="leaf_shapes" equivalent="without is_leaf the paths of the leaves come out at once, and whole"
# by_recursion: jax.tree.leaves_with_path(tree, is_leaf=lambda node: node is not tree) → jax.tree.leaves_with_path(tree)


# %% exercise="count_nones" variant="by_difference"
def count_nones(tree):
    with_nones = jax.tree.leaves(tree, is_leaf=lambda node: node is None)
    return len(with_nones) - len(jax.tree.leaves(tree))


# %% exercise="count_nones" variant="by_map"
def count_nones(tree):
    marks = jax.tree.map(lambda leaf: leaf is None, tree, is_leaf=lambda node: node is None)
    return sum(jax.tree.leaves(marks))


# %% exercise="count_nones" variant="by_reduce"
def count_nones(tree):
    return jax.tree.reduce(
        lambda count, leaf: count + (leaf is None), tree, 0, is_leaf=lambda node: node is None
    )


# %% exercise="count_nones" variant="by_recursion"
def count_nones(tree):
    if tree is None:
        return 1
    level = jax.tree_util.default_registry.flatten_one_level(tree)
    return 0 if level is None else sum(count_nones(child) for child in level[0])


# %% exercise="count_nones" misconception="none_is_a_leaf" covers="M1"
"""Your count is always 0. Perhaps you look among the leaves, but `None` is never there: for JAX `None` is a node without children, so `jax.tree.leaves` does not list it."""
def count_nones(tree):
    return sum(leaf is None for leaf in jax.tree.leaves(tree))


# %% exercise="count_nones" misconception="counts_every_leaf" section="where-to-stop"
"""Your number includes the ordinary leaves as well as each `None`. It is right to let JAX stop at `None`. But `is_leaf` only adds places to stop: the ordinary leaves are still in the list."""
def count_nones(tree):
    return len(jax.tree.leaves(tree, is_leaf=lambda node: node is None))


# %% exercise="count_nones" misconception="every_node_is_a_none" section="structure-is-a-value"
"""Your number includes each dict, list and tuple, full or empty, as `num_nodes` does. Not every node is a `None`."""
def count_nones(tree):
    structure = jax.tree.structure(tree)
    return structure.num_nodes - structure.num_leaves


# %% exercise="count_nones" misconception="reads_the_text" section="structure-is-a-value"
"""Your number is too high where the text contains the word None, but the tree has no `None` there. In a printed structure, a dict key can be `"None"`, and a custom node shows its own data. Look at the tree, not at its text."""
def count_nones(tree):
    return str(jax.tree.structure(tree)).count("None")


# %% exercise="count_nones" misconception="equal_to_none"
"""Your function fails where it compares an array with `== None`. NumPy compares each element and returns an array, and Python cannot use an array as one yes or no. There is only one `None`, so compare with `is`."""
def count_nones(tree):
    leaves = jax.tree.leaves(tree, is_leaf=lambda node: node == None)
    return sum(bool(leaf == None) for leaf in leaves)


# %% exercise="count_nones" misconception="counts_among_the_leaves"
"""You find no `None`, and an array raises an error. `jax.tree.leaves` does not list `None`. And `count` of a list compares with `==`: for an array, NumPy then compares each element."""
def count_nones(tree):
    return jax.tree.leaves(tree).count(None)


# %% exercise="count_nones" misconception="adds_comparisons_of_leaves"
"""You find no `None`, and with arrays you return an array. `jax.tree.leaves` does not list `None`. And `== None` on an array compares each element, so the result is an array."""
def count_nones(tree):
    return sum(leaf == None for leaf in jax.tree.leaves(tree))


# %% exercise="count_nones" misconception="adds_comparisons"
"""Your count is right until the tree holds an array; then your count becomes an array. `== None` on an array compares each element. There is only one `None`, so compare with `is`."""
def count_nones(tree):
    leaves = jax.tree.leaves(tree, is_leaf=lambda node: node is None)
    return sum(leaf == None for leaf in leaves)


# %% exercise="count_nones" misconception="subclasses_are_nodes" covers="M4" section="the-registry-goes-by-exact-type"
"""Your result is right for Python's own containers, and wrong for other classes. Code that uses `isinstance` gives such results. JAX looks for the exact type: it does not open an unregistered subclass of `dict`, and it opens every registered class."""
def count_nones(tree):
    if isinstance(tree, dict):
        return sum(count_nones(child) for child in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(count_nones(child) for child in tree)
    return int(tree is None)


# %% exercise="count_nones" misconception="empty_is_none"
"""Your number includes empty containers. Each of them is a node without children, as `None` is. But an empty container is not `None`, and the structure shows the difference."""
def count_nones(tree):
    def is_empty(node):
        return node is None or (isinstance(node, (dict, list, tuple)) and len(node) == 0)

    return sum(is_empty(leaf) for leaf in jax.tree.leaves(tree, is_leaf=is_empty))


# %% exercise="count_nones" variant="by_structure"
def count_nones(tree):
    def count(structure):
        data = structure.node_data()
        is_none = data is not None and data[0] is type(None)
        return is_none + sum(map(count, structure.children()))

    return count(jax.tree.structure(tree))


# %% exercise="count_nones" variant="by_visiting"
def count_nones(tree):
    visited = []

    def visit(node):
        visited.append(node)  # and returns None, so that JAX goes on

    jax.tree.leaves(tree, is_leaf=visit)
    return len([node for node in visited if node is None])


# %% exercise="count_nones" misconception="falsy_is_none"
"""Your number includes `0`, `False` and empty texts. In an `if`, Python treats these as false, just like `None`. But each of them is a value. Ask whether an object is `None`, not whether it is true."""
def count_nones(tree):
    leaves = jax.tree.leaves(tree, is_leaf=lambda node: node is None)
    return sum(not isinstance(leaf, np.ndarray) and not leaf for leaf in leaves)


# %% exercise="count_nones" misconception="a_tree_is_a_container" section="leaves-are-not-elements"
"""Your function is right, except for the tree that is just `None`. A tree need not be a container: a single value is a tree too, and so is `None`."""
def count_nones(tree):
    if tree is None:
        return 0
    leaves = jax.tree.leaves(tree, is_leaf=lambda node: node is None)
    return sum(leaf is None for leaf in leaves)


# %% exercise="count_nones" equivalent="a level and the data of a node are None or a tuple"
# by_recursion: level is None → level == None
# by_structure: data is not None → data != None


# %% exercise="count_nones" equivalent="only the sum of the marks counts"
# by_map: jax.tree.map(lambda leaf: leaf is N …  is_leaf=lambda node: node is None) → list(map(lambda leaf: leaf is None, … s_leaf=lambda node: node is None)))


# %% exercise="nan_paths" starter=True
def nan_paths(params):
    """Return the path texts of the leaves with a nan in them, in JAX's order.

    >>> nan_paths({"w": np.zeros(2), "b": np.array([1.0, np.nan]), "scale": None})
    ['b']
    """
    names = list(params)
    leaves = jax.tree.leaves(params)
    return [name for name, leaf in zip(names, leaves) if np.isnan(leaf).any()]


# %% exercise="nan_paths" variant="by_loop"
def nan_paths(params):
    found = []
    for path, leaf in jax.tree.flatten_with_path(params)[0]:
        if np.count_nonzero(np.isnan(leaf)) > 0:
            found.append(jax.tree_util.keystr(path, simple=True, separator="/"))
    return found


# %% exercise="nan_paths" variant="by_map_with_path"
def nan_paths(params):
    def name_if_broken(path, leaf):
        if np.isnan(leaf).any():
            return jax.tree_util.keystr(path, simple=True, separator="/")

    return jax.tree.leaves(jax.tree.map_with_path(name_if_broken, params))


# %% exercise="nan_paths" misconception="dicts_keep_their_order" covers="M2"
"""Your function still returns the same as before. Compare two orders for `{"w": 1, "b": 2}`: that of `list(params)`, and that of `jax.tree.leaves(params)`. Then compare how many there are when a value is `None`."""
def nan_paths(params):
    names = list(params)
    leaves = jax.tree.leaves(params)
    return [name for name, leaf in zip(names, leaves) if np.isnan(leaf).any()]


# %% exercise="nan_paths" misconception="sorts_the_names" section="none-is-a-node-without-children"
"""Your result is right for a flat dict in which each key holds one leaf. A `None` or a nested dict changes the number of leaves. After this place, each name stands beside the wrong leaf."""
def nan_paths(params):
    leaves = jax.tree.leaves(params)
    return [name for name, leaf in zip(sorted(params), leaves) if np.isnan(leaf).any()]


# %% exercise="nan_paths" misconception="one_level_only" section="leaves-are-not-elements"
"""Your function works for one dict of arrays or numbers, and its result is in the order as written. But a dict may hold further dicts or lists, and `None`, which NumPy cannot test. And JAX sorts the keys."""
def nan_paths(params):
    return [name for name, leaf in params.items() if np.isnan(leaf).any()]


# %% exercise="nan_paths" misconception="nan_equals_nan" section="key-paths"
"""You find nothing. Perhaps you compare with `np.nan`: a nan is not equal to anything, not even to itself, so such a test is never true."""
def nan_paths(params):
    return [
        jax.tree_util.keystr(path, simple=True, separator="/")
        for path, leaf in jax.tree.leaves_with_path(params)
        if np.any(leaf == np.nan)
    ]


# %% exercise="nan_paths" misconception="sorts_the_texts" section="key-paths"
"""You find the right paths, in the order of their texts: `10` before `2`, letter by letter. JAX sorts the keys themselves, and it does not sort lists or namedtuples at all."""
def nan_paths(params):
    return sorted(
        jax.tree_util.keystr(path, simple=True, separator="/")
        for path, leaf in jax.tree.leaves_with_path(params)
        if np.isnan(leaf).any()
    )


# %% exercise="nan_paths" misconception="default_keystr" section="key-paths"
"""You find the right leaves, but their paths look like Python code: `['w'][0]`. That is the default style of `keystr`. The task asks for the simple style, with a separator."""
def nan_paths(params):
    return [
        jax.tree_util.keystr(path)
        for path, leaf in jax.tree.leaves_with_path(params)
        if np.isnan(leaf).any()
    ]


# %% exercise="nan_paths" misconception="every_element_is_nan" section="leaves-are-not-elements"
"""You miss arrays in which only some numbers are nan, and you include arrays without elements. `all` is true when every element is nan, and also when there are no elements. Here one nan is enough."""
def nan_paths(params):
    return [
        jax.tree_util.keystr(path, simple=True, separator="/")
        for path, leaf in jax.tree.leaves_with_path(params)
        if np.isnan(leaf).all()
    ]


# %% exercise="nan_paths" misconception="a_sum_is_enough" section="leaves-are-not-elements"
"""Your list includes arrays without nan that hold both `inf` and `-inf`. The sum of `inf` and `-inf` is nan, although neither number is nan. Look at the numbers themselves."""
def nan_paths(params):
    return [
        jax.tree_util.keystr(path, simple=True, separator="/")
        for path, leaf in jax.tree.leaves_with_path(params)
        if np.isnan(np.sum(leaf))
    ]


# %% exercise="nan_paths" misconception="finite_or_nan" section="leaves-are-not-elements"
"""Your list includes leaves that hold `inf`. An infinite number is not finite, but it is not nan either: nan means "not a number"."""
def nan_paths(params):
    return [
        jax.tree_util.keystr(path, simple=True, separator="/")
        for path, leaf in jax.tree.leaves_with_path(params)
        if not np.isfinite(leaf).all()
    ]


# %% exercise="nan_paths" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""Your result is right up to the first `None`. After it, each path stands beside the wrong leaf. Your paths count `None` as a leaf, but your leaves do not. For JAX `None` is a node without children."""
def nan_paths(params):
    pairs = jax.tree.leaves_with_path(params, is_leaf=lambda node: node is None)
    paths = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs]
    leaves = jax.tree.leaves(params)
    return [path for path, leaf in zip(paths, leaves) if np.isnan(leaf).any()]


# %% exercise="nan_paths" misconception="floats_are_arrays" section="leaves-are-not-elements"
"""Your function fails at a Python float. A float is a leaf like an array, but it has no methods such as `any`, and its comparisons have none either. NumPy's functions accept floats and arrays."""
def nan_paths(params):
    return [
        jax.tree_util.keystr(path, simple=True, separator="/")
        for path, leaf in jax.tree.leaves_with_path(params)
        if (leaf != leaf).any()
    ]


# %% exercise="same_structure" variant="by_flatten"
def same_structure(a, b):
    _, structure_a = jax.tree.flatten(a)
    _, structure_b = jax.tree.flatten(b)
    return structure_a == structure_b


# %% exercise="same_structure" variant="by_prefix_both_ways"
def same_structure(a, b):
    try:
        jax.tree.map(lambda x, y: None, a, b)
        jax.tree.map(lambda x, y: None, b, a)
    except ValueError:
        return False
    return True


# %% exercise="same_structure" misconception="counts_leaves"
"""You say `True` whenever both trees have the same number of leaves. But structures can differ all the same: the same leaves can be in a list, in a tuple, or under other keys."""
def same_structure(a, b):
    return len(jax.tree.leaves(a)) == len(jax.tree.leaves(b))


# %% exercise="same_structure" misconception="compares_paths" section="key-paths"
"""You see no difference between a list and a tuple, and you miss an extra `None` or empty container. The paths of the leaves do not show these. The structure does."""
def same_structure(a, b):
    def paths(tree):
        return [
            jax.tree_util.keystr(path, simple=True, separator="/")
            for path, _ in jax.tree.leaves_with_path(tree)
        ]

    return paths(a) == paths(b)


# %% exercise="same_structure" misconception="python_equality" covers="M12" section="the-registry-goes-by-exact-type"
"""You see no difference between a namedtuple and a tuple, or between an `OrderedDict` and a dict. Python's `==` sees none either. For JAX these are different kinds of nodes."""
def same_structure(a, b):
    def zeros(tree):
        return jax.tree.map(lambda leaf: 0, tree)

    return zeros(a) == zeros(b)


# %% exercise="same_structure" misconception="map_would_complain" section="there-and-back"
"""You say `True` where the first tree has a leaf and the second tree has a whole subtree. `jax.tree.map` accepts such trees without an error, although their structures differ."""
def same_structure(a, b):
    try:
        jax.tree.map(lambda x, y: None, a, b)
    except ValueError:
        return False
    return True


# %% exercise="same_structure" misconception="shapes_matter"
"""You say `False` when the leaves have different shapes. The structure is what remains when the leaves are taken out: it does not know whether a leaf is a number, a text or an array of some shape."""
def same_structure(a, b):
    def shapes(tree):
        return [np.shape(leaf) for leaf in jax.tree.leaves(tree)]

    return jax.tree.structure(a) == jax.tree.structure(b) and shapes(a) == shapes(b)


# %% exercise="same_structure" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""You say `True` where one tree has `None` and the other has a value, as if `None` were a leaf. For JAX `None` is a kind of node, so the structures differ."""
def same_structure(a, b):
    def structure(tree):
        return jax.tree.structure(tree, is_leaf=lambda node: node is None)

    return structure(a) == structure(b)


# %% exercise="same_structure" misconception="compares_the_text"
"""You say `True` for two classes that have only their name in common. A printed structure shows a class by its name, so the texts are equal although the structures are not."""
def same_structure(a, b):
    return str(jax.tree.structure(a)) == str(jax.tree.structure(b))


# %% exercise="same_structure" misconception="equal_trees"
"""Your answer depends on the leaves: other values make a `False`, and arrays may raise an error. That is how `==` works on whole trees. The structure is what remains when the leaves are taken out."""
def same_structure(a, b):
    return a == b


# %% exercise="same_structure" variant="by_flatten_up_to"
def same_structure(a, b):
    def fits(tree, other):
        try:
            jax.tree.structure(tree).flatten_up_to(other)
        except ValueError:
            return False
        return True

    return fits(a, b) and fits(b, a)


# %% exercise="same_structure" variant="by_recursion"
def same_structure(a, b):
    def same(one, other):
        if one.node_data() != other.node_data():
            return False
        children = one.children()
        others = other.children()
        return len(children) == len(others) and all(map(same, children, others))

    return same(jax.tree.structure(a), jax.tree.structure(b))


# %% exercise="same_structure" misconception="shapes_of_arrays_matter"
"""You say `False` when two arrays have different shapes. The structure is what remains when the leaves are taken out: it does not know the shape of an array, nor whether there is an array at all."""
def same_structure(a, b):
    def differ(leaf, other):
        return hasattr(leaf, "shape") and hasattr(other, "shape") and leaf.shape != other.shape

    if jax.tree.structure(a) != jax.tree.structure(b):
        return False
    return not any(map(differ, jax.tree.leaves(a), jax.tree.leaves(b)))


# %% exercise="same_structure" misconception="lets_the_error_through" section="there-and-back"
"""For trees that differ you raise an error, as `jax.tree.map` does with two of them. The question is: the same or not? A difference is an answer, not an error."""
def same_structure(a, b):
    jax.tree.map(lambda x, y: True, a, b)
    return jax.tree.structure(a) == jax.tree.structure(b)


# %% exercise="same_structure" misconception="counts_leaves_and_looks_at_the_top"
"""You say `True` where the outermost nodes are of one kind and the numbers of leaves are equal. Deeper in the tree, other kinds of nodes, other keys or a `None` are differences too."""
def same_structure(a, b):
    return type(a) is type(b) and len(jax.tree.leaves(a)) == len(jax.tree.leaves(b))


# %% exercise="same_structure" equivalent="to be the same goes both ways"
# by_recursion: map(same, children, others) → map(same, others, children)
# by_recursion: same(jax.tree.structure(a), jax.tree.structure(b)) → same(jax.tree.structure(b), jax.tree.structure(a))


# %% exercise="same_structure" misconception="walks_by_isinstance" section="the-registry-goes-by-exact-type"
"""You look into an unregistered subclass of `dict`, and miss that an `OrderedDict` has an order. Perhaps you go through the containers yourself, with `isinstance`. JAX looks for the exact type: an object of a class that JAX does not know is one leaf."""
def same_structure(a, b):
    if type(a) is type(b) and isinstance(a, dict):
        return a.keys() == b.keys() and all(same_structure(a[k], b[k]) for k in a)
    if type(a) is type(b) and isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same_structure(x, y) for x, y in zip(a, b))
    containers = (dict, list, tuple, type(None))
    return (a is None and b is None) or not (isinstance(a, containers) or isinstance(b, containers))


# %% exercise="same_structure" misconception="types_of_leaves_matter"
"""You say `False` where only the types of the leaves differ. The structure does not contain the leaves: an int, a text or an array may be at the same place."""
def same_structure(a, b):
    leaves_a, def_a = jax.tree.flatten(a)
    leaves_b, def_b = jax.tree.flatten(b)
    return def_a == def_b and all(type(x) == type(y) for x, y in zip(leaves_a, leaves_b))


# %% exercise="replace_leaves" variant="by_flatten"
def replace_leaves(tree, new_leaves):
    old_leaves, structure = jax.tree.flatten(tree)
    needed = len(old_leaves)
    given = len(new_leaves)
    if needed != given:
        raise ValueError(f"The tree has {needed} leaves, but the list has {given} items.")
    return structure.unflatten(new_leaves)


# %% exercise="replace_leaves" variant="by_map"
def replace_leaves(tree, new_leaves):
    count = len(jax.tree.leaves(tree))
    if count != len(new_leaves):
        raise ValueError(f"needs {count}, got {len(new_leaves)}")
    rest = iter(new_leaves)
    return jax.tree.map(lambda leaf: next(rest), tree)


# %% exercise="replace_leaves" misconception="jax_says_it_all"
"""For some wrong numbers, your message does not say how many leaves were given. JAX's own `ValueError` has this gap too. The task asks for both numbers, always."""
def replace_leaves(tree, new_leaves):
    return jax.tree.unflatten(jax.tree.structure(tree), new_leaves)


# %% exercise="replace_leaves" misconception="leaves_run_out" section="there-and-back"
"""Too many new leaves: the last ones are dropped without an error. Too few: the error does not say the numbers. This happens if you take the leaves one by one, and do not count them first."""
def replace_leaves(tree, new_leaves):
    rest = iter(new_leaves)
    return jax.tree.map(lambda leaf: next(rest), tree)


# %% exercise="replace_leaves" misconception="opens_the_new_leaves"
"""A tuple among the new leaves is opened, and a `None` disappears, as if you had flattened the list of new leaves too. In a rebuilt tree, any object may take the place of a leaf."""
def replace_leaves(tree, new_leaves):
    structure = jax.tree.structure(tree)
    flat = jax.tree.leaves(new_leaves)
    if structure.num_leaves != len(flat):
        raise ValueError(f"{structure.num_leaves} leaves needed, {len(flat)} given")
    return jax.tree.unflatten(structure, flat)


# %% exercise="replace_leaves" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""Your function wants a new leaf for each `None` as well. For JAX `None` is a node without children: it belongs to the structure and needs no new leaf."""
def replace_leaves(tree, new_leaves):
    structure = jax.tree.structure(tree, is_leaf=lambda node: node is None)
    if structure.num_leaves != len(new_leaves):
        raise ValueError(f"{structure.num_leaves} leaves needed, {len(new_leaves)} given")
    return jax.tree.unflatten(structure, new_leaves)


# %% exercise="replace_leaves" misconception="dicts_keep_their_order" covers="M2" section="dict-keys-are-sorted"
"""Your new leaves go into a dict in the order in which its keys were written. JAX sorts the keys of a dict, so the first leaf belongs to the first key in sorted order, not to the key that was written first."""
def replace_leaves(tree, new_leaves):
    needed = len(jax.tree.leaves(tree))
    if needed != len(new_leaves):
        raise ValueError(f"{needed} leaves needed, {len(new_leaves)} given")
    rest = iter(new_leaves)

    def is_dict(node):
        return type(node) is dict

    def fill(node):
        if is_dict(node):
            return {key: jax.tree.map(fill, child, is_leaf=is_dict) for key, child in node.items()}
        return next(rest)

    return jax.tree.map(fill, tree, is_leaf=is_dict)


# %% exercise="replace_leaves" misconception="counts_the_top_level" section="leaves-are-not-elements"
"""Your function wants as many new leaves as there are items at the top. The number of leaves can be larger, because JAX opens the containers inside, or smaller, because of `None`."""
def replace_leaves(tree, new_leaves):
    if len(tree) != len(new_leaves):
        raise ValueError(f"{len(tree)} leaves needed, {len(new_leaves)} given")
    return jax.tree.unflatten(jax.tree.structure(tree), new_leaves)


# %% exercise="replace_leaves" misconception="asserts_the_number"
"""For a wrong number you raise an `AssertionError`, as `assert` does. An `AssertionError` means that the program itself has a mistake. For a wrong argument, Python has another type of error; the task names it."""
def replace_leaves(tree, new_leaves):
    structure = jax.tree.structure(tree)
    needed, given = structure.num_leaves, len(new_leaves)
    assert needed == given, f"{needed} leaves needed, {given} given"
    return jax.tree.unflatten(structure, new_leaves)


# %% exercise="replace_leaves" variant="by_numbered_leaves"
def replace_leaves(tree, new_leaves):
    structure = jax.tree.structure(tree)
    needed = structure.num_leaves
    given = len(new_leaves)
    if needed != given:
        raise ValueError(f"expected {needed} leaves but the list has {given}")
    numbered = jax.tree.unflatten(structure, range(needed))
    return jax.tree.map(lambda place: new_leaves[place], numbered)


# %% exercise="replace_leaves" misconception="only_too_few"
"""Too few new leaves: an error, as it should be. Too many: the last ones are dropped without an error. Too many is a wrong number, too."""
def replace_leaves(tree, new_leaves):
    needed, given = jax.tree.structure(tree).num_leaves, len(new_leaves)
    if given < needed:
        raise ValueError(f"{needed} leaves needed, {given} given")
    rest = iter(new_leaves)
    return jax.tree.map(lambda leaf: next(rest), tree)


# %% exercise="replace_leaves" misconception="writes_into_the_tree" section="there-and-back"
"""The new leaves are right, but you also put them into the dict that your function was given. JAX's functions build a new tree and do not change the old one. The caller of your function may still need the old tree."""
def replace_leaves(tree, new_leaves):
    structure = jax.tree.structure(tree)
    if structure.num_leaves != len(new_leaves):
        raise ValueError(f"{structure.num_leaves} leaves needed, {len(new_leaves)} given")
    result = jax.tree.unflatten(structure, new_leaves)
    if type(tree) is dict:
        tree.update(result)
        return tree
    return result


# %% exercise="replace_leaves" misconception="uses_up_the_list" section="there-and-back"
"""The tree is right, but afterwards the list of new leaves is empty: `pop` takes items out of the caller's list."""
def replace_leaves(tree, new_leaves):
    needed = jax.tree.structure(tree).num_leaves
    if needed != len(new_leaves):
        raise ValueError(f"{needed} leaves needed, {len(new_leaves)} given")
    return jax.tree.map(lambda leaf: new_leaves.pop(0), tree)


# %% exercise="replace_leaves" misconception="none_keeps_the_old_leaf" section="none-is-a-node-without-children"
"""Where a new leaf is `None`, the old leaf stays in your result. In other functions `None` can mean "no change". Here `None` is an item like any other."""
def replace_leaves(tree, new_leaves):
    leaves, structure = jax.tree.flatten(tree)
    if len(leaves) != len(new_leaves):
        raise ValueError(f"{len(leaves)} leaves needed, {len(new_leaves)} given")
    pairs = zip(leaves, new_leaves)
    return jax.tree.unflatten(structure, [old if new is None else new for old, new in pairs])


# %% exercise="replace_leaves" misconception="counts_the_new_tree" section="none-is-a-node-without-children"
"""You raise an error where an item is a tuple or `None`, though the number of items is right. Perhaps you count the leaves of the new tree. An item becomes one leaf of the new tree. But if you flatten the new tree, JAX opens the item."""
def replace_leaves(tree, new_leaves):
    needed = jax.tree.structure(tree).num_leaves
    items = iter(new_leaves)
    result = jax.tree.map(lambda old: next(items, None), tree)
    if jax.tree.structure(result).num_leaves != needed or len(new_leaves) != needed:
        raise ValueError(f"{needed} leaves needed, {len(new_leaves)} given")
    return result


# %% exercise="replace_leaves" misconception="walks_plain_containers_only" section="the-registry-goes-by-exact-type"
"""You fill a dict in the order in which it was written. And you treat a namedtuple or a registered class as one leaf, or rebuild it wrongly. Perhaps you go through the containers yourself. JAX sorts the keys of a dict, and opens every class that it knows."""
def replace_leaves(tree, new_leaves):
    needed = len(jax.tree.leaves(tree))
    if needed != len(new_leaves):
        raise ValueError(f"{needed} leaves needed, {len(new_leaves)} given")
    items = iter(new_leaves)

    def build(node):
        if node is None:
            return None
        if type(node) is dict:
            return {k: build(v) for k, v in node.items()}
        if type(node) in (list, tuple):
            return type(node)([build(v) for v in node])
        return next(items)

    return build(tree)


# %% exercise="leaf_at" variant="by_loop"
def leaf_at(tree, path_text):
    for path, leaf in jax.tree.leaves_with_path(tree):
        if jax.tree_util.keystr(path, simple=True, separator="/") == path_text:
            return leaf
    raise KeyError(f"there is no leaf at {path_text}")


# %% exercise="leaf_at" variant="by_map_with_path"
def leaf_at(tree, path_text):
    found = []

    def look(path, leaf):
        if jax.tree_util.keystr(path, simple=True, separator="/") == path_text:
            found.append(leaf)

    jax.tree.map_with_path(look, tree)
    if not found:
        raise KeyError(path_text)
    return found[0]


# %% exercise="leaf_at" misconception="every_step_is_a_key"
"""Your function works only where all keys are texts. Perhaps you use each part of the text as a key. But a list needs a number, a key of a dict may be a number too, and a tree that is one leaf has no steps."""
def leaf_at(tree, path_text):
    for step in path_text.split("/"):
        tree = tree[step]
    return tree


# %% exercise="leaf_at" misconception="digits_are_positions"
"""You treat every part made of digits as a number. But a key of a dict can be the text `"0"`. And a part of the path can be the field of a namedtuple."""
def leaf_at(tree, path_text):
    for step in path_text.split("/") if path_text else []:
        try:
            tree = tree[int(step) if step.isdigit() else step]
        except (IndexError, KeyError, TypeError):
            raise KeyError(path_text) from None
    if len(jax.tree.leaves(tree)) != 1 or jax.tree.leaves(tree)[0] is not tree:
        raise KeyError(path_text)
    return tree


# %% exercise="leaf_at" misconception="returns_containers" section="leaves-are-not-elements"
"""You return whatever is at the path, a container or `None` too. Containers and `None` are nodes; only what JAX does not open is a leaf."""
def leaf_at(tree, path_text):
    for path, node in all_nodes(tree):
        if jax.tree_util.keystr(path, simple=True, separator="/") == path_text:
            return node
    raise KeyError(path_text)


def all_nodes(tree, before=()):
    yield before, tree
    for path, child in jax.tree.leaves_with_path(tree, is_leaf=lambda node: node is not tree):
        if path:
            yield from all_nodes(child, before + path)


# %% exercise="leaf_at" misconception="silent_none"
"""For a path that does not exist, you return `None` and raise no error. Then a typing mistake in a path causes an error much later, in another part of the program."""
def leaf_at(tree, path_text):
    for path, leaf in jax.tree.leaves_with_path(tree):
        if jax.tree_util.keystr(path, simple=True, separator="/") == path_text:
            return leaf


# %% exercise="leaf_at" misconception="end_of_the_path"
"""You accept a leaf when its path only ends with the text. `b` then finds `layers/0/b` too. A path text names every step, from the top of the tree to the leaf."""
def leaf_at(tree, path_text):
    for path, leaf in jax.tree.leaves_with_path(tree):
        if jax.tree_util.keystr(path, simple=True, separator="/").endswith(path_text):
            return leaf
    raise KeyError(path_text)


# %% exercise="leaf_at" misconception="default_keystr"
"""You find nearly nothing. Perhaps you compare with the default style of `keystr`, such as `['layers'][0]['w']`. The texts that come in are in the simple style."""
def leaf_at(tree, path_text):
    leaves = {jax.tree_util.keystr(path): leaf for path, leaf in jax.tree.leaves_with_path(tree)}
    return leaves[path_text]


# %% exercise="leaf_at" misconception="next_without_an_end"
"""You find the leaves, but for a missing path you raise `StopIteration`, as `next` does. Inside a `map`, a `StopIteration` ends the loop, and you see no error. The task names another type of error."""
def leaf_at(tree, path_text):
    return next(
        leaf
        for path, leaf in jax.tree.leaves_with_path(tree)
        if jax.tree_util.keystr(path, simple=True, separator="/") == path_text
    )


# %% exercise="leaf_at" variant="by_list"
class NoLeaf(KeyError):
    pass


def leaf_at(tree, path_text):
    pairs = jax.tree_util.tree_leaves_with_path(tree)
    texts = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs]
    if path_text not in texts:
        raise NoLeaf(f"no leaf at {path_text!r}")
    return pairs[texts.index(path_text)][1]


# %% exercise="leaf_at" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""At the path of a `None` you return `None`. For JAX `None` is a node without children, not a leaf. So no leaf has this path."""
def leaf_at(tree, path_text):
    leaves = {
        jax.tree_util.keystr(path, simple=True, separator="/"): leaf
        for path, leaf in jax.tree.leaves_with_path(tree, is_leaf=lambda node: node is None)
    }
    return leaves[path_text]


# %% exercise="leaf_at" misconception="start_of_the_path"
"""You accept a leaf when its path only begins with the text. Then the path of a container gives its first leaf, and the beginning of a key is enough. A path text names every step."""
def leaf_at(tree, path_text):
    for path, leaf in jax.tree.leaves_with_path(tree):
        if jax.tree_util.keystr(path, simple=True, separator="/").startswith(path_text):
            return leaf
    raise KeyError(path_text)


# %% exercise="leaf_at" misconception="falsy_is_missing" section="none-is-a-node-without-children"
"""You raise a `KeyError` where the leaf is `0`, `False` or an empty text. In an `if`, Python treats these as false, but they are leaves. Ask whether you found a leaf, not whether the leaf is true."""
def leaf_at(tree, path_text):
    leaves = {
        jax.tree_util.keystr(path, simple=True, separator="/"): leaf
        for path, leaf in jax.tree.leaves_with_path(tree)
    }
    found = leaves.get(path_text)
    if isinstance(found, np.ndarray) or found:
        return found
    raise KeyError(path_text)


# %% exercise="leaf_at" misconception="error_of_a_list"
"""For a missing path you raise a `ValueError`, as a list's `index` does. Here a path works like the key of a dict. For a missing key Python has another type of error, and the task names it."""
def leaf_at(tree, path_text):
    pairs = jax.tree.leaves_with_path(tree)
    texts = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs]
    return pairs[texts.index(path_text)][1]


# %% exercise="leaf_at" misconception="does_not_say_which"
"""For a missing path you raise the right error, but its message does not say which path. Without the path, the reader of the message cannot find the mistake."""
def leaf_at(tree, path_text):
    for path, leaf in jax.tree.leaves_with_path(tree):
        if jax.tree_util.keystr(path, simple=True, separator="/") == path_text:
            return leaf
    raise KeyError("there is no such leaf")


# %% exercise="leaf_at" equivalent="no two leaves have the same path text"
# by_map_with_path: found[0] → found[-1]


# %% exercise="leaf_at" equivalent="a pair has two items"
# by_list: pairs[texts.index(path_text)][1] → pairs[texts.index(path_text)][-1]


# %% exercise="leaf_at" misconception="empty_path_is_the_tree" section="leaves-are-not-elements"
"""For the path `""` you return every tree, containers too. This is the path of a leaf only where the whole tree is one leaf."""
def leaf_at(tree, path_text):
    if path_text == "":
        return tree
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if jax.tree_util.keystr(path, simple=True, separator="/") == path_text:
            return leaf
    raise KeyError(path_text)


# %% exercise="leaf_at" misconception="walks_by_index"
"""You accept the path of a container, and you do not find the fields of a namedtuple or a class. Perhaps you go down with `tree[step]`. But a step can be the name of a field, and a step can lead to a node that is not a leaf."""
def leaf_at(tree, path_text):
    node = tree
    if path_text == "":
        return node
    for step in path_text.split("/"):
        try:
            node = node[int(step)] if isinstance(node, (list, tuple)) else node[step]
        except (KeyError, IndexError, TypeError, ValueError):
            raise KeyError(f"no leaf at {path_text}")
    return node


# %% exercise="whole_shapes" variant="by_flatten"
def is_shape(node):
    if not isinstance(node, list):
        return False
    for item in node:
        if type(item) is not int:
            return False
    return True


def whole_shapes(tree):
    return jax.tree.flatten(tree, is_leaf=is_shape)[0]


# %% exercise="whole_shapes" variant="by_paths"
def whole_shapes(tree):
    def is_shape(node):
        return type(node) is list and {type(item) for item in node} <= {int}

    return [leaf for path, leaf in jax.tree.leaves_with_path(tree, is_leaf=is_shape)]


# %% exercise="whole_shapes" variant="by_recursion"
def whole_shapes(tree):
    if isinstance(tree, list) and all(isinstance(item, int) for item in tree):
        return [tree]
    level = jax.tree_util.default_registry.flatten_one_level(tree)
    if level is None:
        return [tree]
    return sum((whole_shapes(child) for child in level[0]), [])


# %% exercise="whole_shapes" misconception="lists_are_never_leaves"
"""Each length is a leaf of its own in your result, because a list is a node for JAX. You can tell JAX where to stop. Then a list can be one leaf."""
def whole_shapes(tree):
    return jax.tree.leaves(tree)


# %% exercise="whole_shapes" misconception="only_by_wrapping" covers="M5"
"""Your shapes come back as arrays. JAX does not open arrays. But a list can stay whole without becoming an array, and the result should hold the lists themselves."""
def whole_shapes(tree):
    def pack(node):
        if isinstance(node, list) and all(isinstance(item, int) for item in node):
            return np.array(node, dtype=int)
        if isinstance(node, dict):
            return {key: pack(child) for key, child in node.items()}
        if type(node) in (list, tuple):
            return type(node)(pack(child) for child in node)
        return node

    return jax.tree.leaves(pack(tree))


# %% exercise="whole_shapes" misconception="stops_at_every_list"
"""Every list stays whole in your result. JAX asks your function from the top of the tree down. Where your function says yes, JAX does not open the list: so a list of shapes becomes one leaf."""
def whole_shapes(tree):
    return jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, list))


# %% exercise="whole_shapes" misconception="is_leaf_is_a_filter"
"""Only shapes are in your result. `is_leaf` adds places to stop; it is no filter, and the other leaves, such as texts, belong to the result too."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, list) and all(isinstance(item, int) for item in node)

    return [leaf for leaf in jax.tree.leaves(tree, is_leaf=is_shape) if is_shape(leaf)]


# %% exercise="whole_shapes" misconception="empty_lists_vanish"
"""Empty lists are missing from your result. The empty list is the shape of a single number. If JAX does not stop there, the empty list is a node without children, and it adds no leaf."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, list) and node != [] and all(isinstance(item, int) for item in node)

    return jax.tree.leaves(tree, is_leaf=is_shape)


# %% exercise="whole_shapes" misconception="tuples_too" section="the-registry-goes-by-exact-type"
"""Tuples stay whole in your result. To JAX a list and a tuple are different kinds of nodes, and in these trees only lists are shapes. JAX should open a tuple as usual."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, (list, tuple)) and all(isinstance(item, int) for item in node)

    return jax.tree.leaves(tree, is_leaf=is_shape)


# %% exercise="whole_shapes" misconception="looks_at_one_item"
"""A list that begins with a number stays whole in your result, whatever comes after it. If a text or another list follows, the list is not a shape, and JAX should open it."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, list) and (len(node) == 0 or isinstance(node[0], int))

    return jax.tree.leaves(tree, is_leaf=is_shape)


# %% exercise="whole_shapes" misconception="floats_are_ints"
"""Lists with floats in them stay whole in your result. Each length in a shape is an `int`: `[0.5, 2]` is a list of numbers, but not a shape."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, list) and all(isinstance(item, (int, float)) for item in node)

    return jax.tree.leaves(tree, is_leaf=is_shape)


# %% exercise="whole_shapes" misconception="any_flat_list"
"""Lists of texts, floats or mixed things stay whole in your result, if no list is inside. A shape is flat, but not every flat list is a shape: look at the items."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, list) and not any(isinstance(item, list) for item in node)

    return jax.tree.leaves(tree, is_leaf=is_shape)


# %% exercise="whole_shapes" misconception="none_is_a_leaf" covers="M1" section="none-is-a-node-without-children"
"""Each `None` is in your result. The task asks for JAX's leaves, with shapes kept whole; `None` is a node without children, so it is not a leaf."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, list) and all(isinstance(item, int) for item in node)

    return jax.tree.leaves(tree, is_leaf=lambda node: node is None or is_shape(node))


# %% exercise="whole_shapes" misconception="two_lengths_or_more"
"""A list of one number is taken apart in your result. The shape of a vector has a single length: `[10]` is a shape, too."""
def whole_shapes(tree):
    def is_shape(node):
        return isinstance(node, list) and len(node) != 1 and all(type(item) is int for item in node)

    return jax.tree.leaves(tree, is_leaf=is_shape)


# %% exercise="whole_shapes" equivalent="a list of a subclass is a leaf for JAX in any case"
# solution: isinstance(node, list) → type(node) is list
# by_flatten: isinstance(node, list) → type(node) is list
# by_recursion: isinstance(tree, list) → type(tree) is list


# %% exercise="whole_shapes" equivalent="no list holds True or False, as the task says"
# solution: isinstance(item, int) → type(item) is int
# by_recursion: isinstance(item, int) → type(item) is int


# %% exercise="whole_shapes" equivalent="a level is None or a tuple"
# by_recursion: level is None → level == None


# %% exercise="whole_shapes" misconception="walks_plain_containers_only" section="the-registry-goes-by-exact-type"
"""You list a dict in the order in which it was written, and you do not open registered classes. Perhaps you go through the containers yourself. JAX sorts the keys of a dict, and opens every class that it knows."""
def whole_shapes(tree):
    if tree is None:
        return []
    if isinstance(tree, list) and all(isinstance(i, int) for i in tree):
        return [tree]
    if isinstance(tree, dict):
        return [leaf for v in tree.values() for leaf in whole_shapes(v)]
    if isinstance(tree, (list, tuple)):
        return [leaf for v in tree for leaf in whole_shapes(v)]
    return [tree]


# %% exercise="leaves_in_layer_order" variant="by_length_of_the_name"
def leaves_in_layer_order(tree):
    def is_layers(node):
        return type(node) is dict and all(
            isinstance(key, str) and key[:5] == "layer" and key[5:].isdigit() for key in node
        )

    leaves = []
    for item in jax.tree.flatten(tree, is_leaf=is_layers)[0]:
        if is_layers(item):
            for name in sorted(item, key=lambda name: (len(name), name)):
                leaves.extend(leaves_in_layer_order(item[name]))
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" variant="by_new_keys"
import re


def leaves_in_layer_order(tree):
    return jax.tree.leaves(with_numbers(tree))


def is_layers(node):
    return type(node) is dict and all(re.fullmatch(r"layer\d+", str(key)) for key in node)


def with_numbers(node):
    """Rename layer12 to 12: JAX sorts numbers as numbers."""
    if is_layers(node):
        return {int(name[5:]): with_numbers(child) for name, child in node.items()}
    return jax.tree.map(
        lambda part: with_numbers(part) if is_layers(part) else part, node, is_leaf=is_layers
    )


# %% exercise="leaves_in_layer_order" variant="by_recursion"
def leaves_in_layer_order(tree):
    level = jax.tree_util.default_registry.flatten_one_level_with_keys(tree)
    if level is None:
        return [tree]
    pairs = list(level[0])
    if type(tree) is dict:
        names = [str(key) for key in tree]
        if all(name.startswith("layer") and name[5:].isdecimal() for name in names):
            pairs.sort(key=lambda pair: int(pair[0].key[5:]))
    return [leaf for _, child in pairs for leaf in leaves_in_layer_order(child)]


# %% exercise="leaves_in_layer_order" misconception="dicts_keep_their_order" covers="M2"
"""Your result is JAX's own order: letter by letter, `layer10` before `layer2`. A new dict with its keys in the right order does not change that, because JAX sorts the keys of every dict by itself."""
def leaves_in_layer_order(tree):
    def number(name):
        return int("".join(letter for letter in str(name) if letter.isdigit()) or 0)

    if type(tree) is dict:
        tree = {name: tree[name] for name in sorted(tree, key=number)}
    return jax.tree.leaves(tree)


# %% exercise="leaves_in_layer_order" misconception="order_of_writing"
"""Your layers come in the order in which they were written into the dict. That is often right, but not always. Use the numbers in the names to find the order."""
def leaves_in_layer_order(tree):
    def is_layers(node):
        return type(node) is dict and all(
            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
        )

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_layers):
        if is_layers(item):
            for child in item.values():
                leaves += leaves_in_layer_order(child)
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="last_digit"
"""In your result `layer10` comes first, as if its number were 0. A number may have several digits: read everything after the word `layer`, not only the last digit."""
def leaves_in_layer_order(tree):
    def is_layers(node):
        return type(node) is dict and all(
            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
        )

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_layers):
        if is_layers(item):
            for name in sorted(item, key=lambda name: int(name[-1])):
                leaves += leaves_in_layer_order(item[name])
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="top_level_only"
"""You put only the layers of the outermost dict in order. Dicts of layers can also be deeper, under another name or inside a list, and JAX sorts their keys letter by letter."""
def leaves_in_layer_order(tree):
    def is_layer(key):
        return str(key)[:5] == "layer" and str(key)[5:].isdigit()

    if type(tree) is dict and all(is_layer(key) for key in tree):
        names = sorted(tree, key=lambda name: int(name[5:]))
        return [leaf for name in names for leaf in jax.tree.leaves(tree[name])]
    return jax.tree.leaves(tree)


# %% exercise="leaves_in_layer_order" misconception="one_number_for_all" section="key-paths"
"""Your result mixes layers from different parts of the tree, because you sort all leaves by the numbers in their paths. Positions in lists are such numbers, too. Use the numbers only inside one dict of layers."""
def leaves_in_layer_order(tree):
    def numbers(pair):
        text = jax.tree_util.keystr(pair[0], simple=True, separator="/")
        return [int(d) for d in "".join(c if c.isdigit() else " " for c in text).split()]

    return [leaf for _, leaf in sorted(jax.tree.leaves_with_path(tree), key=numbers)]


# %% exercise="leaves_in_layer_order" misconception="every_dict_has_layers"
"""Your function fails on a key such as `layernorm`: it begins with `layer`, but no number follows. Look at the rest of the name before you read a number from it."""
def leaves_in_layer_order(tree):
    def is_layers(node):
        return type(node) is dict and all(str(key).startswith("layer") for key in node)

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_layers):
        if is_layers(item):
            for name in sorted(item, key=lambda name: int(name.removeprefix("layer"))):
                leaves += leaves_in_layer_order(item[name])
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="relatives_of_dict_too" section="the-registry-goes-by-exact-type"
"""You put an `OrderedDict` of layers in order too, as `isinstance(node, dict)` does. For JAX an `OrderedDict` is another kind of node, which keeps its own order. The task is about plain dicts only."""
def leaves_in_layer_order(tree):
    def is_layers(node):
        return isinstance(node, dict) and all(
            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
        )

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_layers):
        if is_layers(item):
            for name in sorted(item, key=lambda name: int(name[5:])):
                leaves += leaves_in_layer_order(item[name])
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="sorts_whole_paths" section="key-paths"
"""You put more in order than layers: `block2` comes before `block10`, and `b` before `w` in a namedtuple. This happens if you sort all leaves by their path texts. Only dicts of layers change their order. Everything else keeps JAX's order."""
import re


def leaves_in_layer_order(tree):
    def by_numbers(pair):
        text = jax.tree_util.keystr(pair[0], simple=True, separator="/")
        return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]

    return [leaf for _, leaf in sorted(jax.tree.leaves_with_path(tree), key=by_numbers)]


# %% exercise="leaves_in_layer_order" variant="by_a_stack"
def leaves_in_layer_order(tree):
    leaves = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        children = jax.tree.leaves(node, is_leaf=lambda part: part is not node)
        if len(children) == 1 and children[0] is node:
            leaves.append(node)
            continue
        if type(node) is dict and all(
            isinstance(key, str) and key[:5] == "layer" and key[5:].isdigit() for key in node
        ):
            children = [node[key] for key in sorted(node, key=lambda key: int(key[5:]))]
        waiting += reversed(children)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="outer_layers_only"
"""Layers inside a layer keep JAX's order in your result. The value of a layer key is a tree again, and this tree may hold more dicts of layers."""
def leaves_in_layer_order(tree):
    def is_layers(node):
        return type(node) is dict and all(
            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
        )

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_layers):
        if is_layers(item):
            for name in sorted(item, key=lambda name: int(name[5:])):
                leaves += jax.tree.leaves(item[name])
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="keys_are_texts"
"""Your function fails at a dict whose keys are whole numbers. A key of a dict need not be a text; only a text can begin with `layer`."""
def leaves_in_layer_order(tree):
    def is_layers(node):
        return type(node) is dict and all(
            key.startswith("layer") and key[5:].isdigit() for key in node
        )

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_layers):
        if is_layers(item):
            for name in sorted(item, key=lambda name: int(name[5:])):
                leaves += leaves_in_layer_order(item[name])
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="keys_fit_a_pattern"
"""Your function fails at a dict whose keys are whole numbers. A key of a dict need not be a text; only a text can be searched for `layer` by a pattern."""
import re


def leaves_in_layer_order(tree):
    def is_layers(node):
        return type(node) is dict and all(re.fullmatch("layer[0-9]+", key) for key in node)

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_layers):
        if is_layers(item):
            for name in sorted(item, key=lambda name: int(name[5:])):
                leaves += leaves_in_layer_order(item[name])
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="walks_plain_containers_only" section="the-registry-goes-by-exact-type"
"""Layers inside an `OrderedDict` or a registered class keep JAX's order in your result; in dicts, lists and tuples yours is right. Other kinds of nodes hold subtrees too. Let JAX open those nodes."""
def leaves_in_layer_order(tree):
    if type(tree) is dict:
        keys = sorted(tree)
        if all(isinstance(key, str) and key[:5] == "layer" and key[5:].isdigit() for key in keys):
            keys.sort(key=lambda key: int(key[5:]))
        return [leaf for key in keys for leaf in leaves_in_layer_order(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for child in tree for leaf in leaves_in_layer_order(child)]
    return jax.tree.leaves(tree)


# %% exercise="leaves_in_layer_order" equivalent="no dict mixes layer keys with others, as the task says"
# solution: all((str(key).startswith('layer') a … ey)[5:].isdigit() for key in node)) → any((str(key).startswith('layer') a … ey)[5:].isdigit() for key in node))
# by_length_of_the_name: all((isinstance(key, str) and key[: … key[5:].isdigit() for key in node)) → any((isinstance(key, str) and key[: … key[5:].isdigit() for key in node))
# by_new_keys: all((re.fullmatch('layer\\d+', str(key)) for key in node)) → any((re.fullmatch('layer\\d+', str(key)) for key in node))
# by_recursion: all((name.startswith('layer') and n … 5:].isdecimal() for name in names)) → any((name.startswith('layer') and n … 5:].isdecimal() for name in names))
# by_a_stack: all((isinstance(key, str) and key[: … key[5:].isdigit() for key in node)) → any((isinstance(key, str) and key[: … key[5:].isdigit() for key in node))


# %% exercise="leaves_in_layer_order" equivalent="keys are texts or ints, not of a subclass; the text of an int begins with no letter"
# solution: str(key) → key, line 12, 2
# by_length_of_the_name: isinstance(key, str) → type(key) is str
# by_a_stack: isinstance(key, str) → type(key) is str


# %% exercise="leaves_in_layer_order" equivalent="lists are sorted as tuples are"
# by_length_of_the_name: (len(name), name) → [len(name), name]


# %% exercise="leaves_in_layer_order" equivalent="only the leaves of what is made count, and their order"
# by_new_keys: jax.tree.map(lambda part: with_numb … else part, node, is_leaf=is_layers) → list(map(lambda part: with_numbers( … e.leaves(node, is_leaf=is_layers)))


# %% exercise="leaves_in_layer_order" equivalent="a level is None or a tuple"
# by_recursion: level is None → level == None


# %% exercise="leaves_in_layer_order" equivalent="there is one child"
# by_a_stack: children[0] → children[-1]


# %% exercise="shared_leaves" variant="by_comparing"
def shared_leaves(tree):
    arrays = []
    groups = []
    for path, leaf in jax.tree.leaves_with_path(tree):
        if not isinstance(leaf, np.ndarray):
            continue
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        for array, group in zip(arrays, groups):
            if array is leaf:
                group.append(text)
                break
        else:
            arrays.append(leaf)
            groups.append([text])
    return [group for group in groups if len(group) > 1]


# %% exercise="shared_leaves" variant="by_two_passes"
def shared_leaves(tree):
    pairs = [
        (jax.tree_util.keystr(path, simple=True, separator="/"), leaf)
        for path, leaf in jax.tree.flatten_with_path(tree)[0]
        if isinstance(leaf, np.ndarray)
    ]
    groups = [[text for text, other in pairs if other is leaf] for _, leaf in pairs]
    return [
        group
        for place, group in enumerate(groups)
        if len(group) > 1 and group not in groups[:place]
    ]


# %% exercise="shared_leaves" misconception="equal_values"
"""Arrays with equal numbers share a group in your result. Two arrays can be equal today and different after the next training step. The task asks for one object at several places."""
def shared_leaves(tree):
    paths = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            paths.setdefault((leaf.shape, leaf.tobytes()), []).append(text)
    return [group for group in paths.values() if len(group) > 1]


# %% exercise="shared_leaves" misconception="sharing_survives" covers="M6"
"""You find nothing shared. Perhaps you look at the result of `jax.tree.map`: a map makes a new leaf at each path, so nothing is shared in its result. Look at the leaves of `tree` itself."""
def shared_leaves(tree):
    arrays = jax.tree.map(np.array, tree)
    paths = {}
    for path, leaf in jax.tree.leaves_with_path(arrays):
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        paths.setdefault(id(leaf), []).append(text)
    return [group for group in paths.values() if len(group) > 1]


# %% exercise="shared_leaves" misconception="numbers_count_too"
"""Numbers or texts are in your groups. Python often uses one object for equal small numbers and for equal texts. This is not sharing in the sense of the task. Only arrays count here."""
def shared_leaves(tree):
    paths = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        text = jax.tree_util.keystr(path, simple=True, separator="/")
        paths.setdefault(id(leaf), []).append(text)
    return [group for group in paths.values() if len(group) > 1]


# %% exercise="shared_leaves" misconception="only_the_repeats" section="key-paths"
"""In your groups the first place is missing. Perhaps you add a path only when its array appears again. A group contains all places of a shared array, also the first."""
def shared_leaves(tree):
    seen = set()
    repeats = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            if id(leaf) in seen:
                text = jax.tree_util.keystr(path, simple=True, separator="/")
                repeats.setdefault(id(leaf), []).append(text)
            seen.add(id(leaf))
    return list(repeats.values())


# %% exercise="shared_leaves" misconception="views_are_the_same"
"""A view is together with its array in your groups. A view, such as `a[:]` or `a.T`, uses the same memory, but it is another object with its own shape. The task asks for the same object."""
def shared_leaves(tree):
    arrays = []
    groups = []
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            for array, group in zip(arrays, groups):
                if array is leaf or np.shares_memory(array, leaf):
                    group.append(text)
                    break
            else:
                arrays.append(leaf)
                groups.append([text])
    return [group for group in groups if len(group) > 1]


# %% exercise="shared_leaves" misconception="groups_by_memory"
"""Your groups go by memory: a view joins its array, and an array without elements is missing. A view uses the same memory, but it is another object. An array without elements has no memory to share, not even with itself."""
def shared_leaves(tree):
    arrays = []
    groups = []
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            for array, group in zip(arrays, groups):
                if np.shares_memory(array, leaf):
                    group.append(text)
                    break
            else:
                arrays.append(leaf)
                groups.append([text])
    return [group for group in groups if len(group) > 1]


# %% exercise="shared_leaves" misconception="pairs_only"
"""Your groups are pairs of paths. An array can be at three places or more. Then you return several pairs for one object. Each object should have one group."""
def shared_leaves(tree):
    arrays = [
        (jax.tree_util.keystr(path, simple=True, separator="/"), leaf)
        for path, leaf in jax.tree.leaves_with_path(tree)
        if isinstance(leaf, np.ndarray)
    ]
    return [
        [text, later]
        for place, (text, leaf) in enumerate(arrays)
        for later, other in arrays[place + 1 :]
        if other is leaf
    ]


# %% exercise="shared_leaves" misconception="default_keystr" section="key-paths"
"""You find the right leaves, but their paths look like Python code: `['w'][0]`. That is the default style of `keystr`. Use the simple style, with a separator, as in `leaf_shapes`."""
def shared_leaves(tree):
    paths = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            paths.setdefault(id(leaf), []).append(jax.tree_util.keystr(path))
    return [group for group in paths.values() if len(group) > 1]


# %% exercise="shared_leaves" misconception="groups_are_tuples" section="structure-is-a-value"
"""Your groups are tuples. The task asks for a list of lists, and to JAX a list and a tuple are different kinds of nodes: such results do not have the same structure."""
def shared_leaves(tree):
    paths = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            paths.setdefault(id(leaf), []).append(text)
    return [tuple(group) for group in paths.values() if len(group) > 1]


# %% exercise="shared_leaves" variant="by_a_key_of_identity"
class Same:
    def __init__(self, array):
        self.array = array

    def __hash__(self):
        return id(self.array)

    def __eq__(self, other):
        return self.array is other.array


def shared_leaves(tree):
    groups = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            groups.setdefault(Same(leaf), []).append(text)
    return [group for group in groups.values() if group[1:]]


# %% exercise="shared_leaves" misconception="order_of_second_places" section="key-paths"
"""Your groups are right, but not their order: your first group is the array that appears a second time first. Order the groups by their first paths."""
def shared_leaves(tree):
    first, groups = {}, {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            if id(leaf) in first:
                groups.setdefault(id(leaf), [first[id(leaf)]]).append(text)
            else:
                first[id(leaf)] = text
    return list(groups.values())


# %% exercise="shared_leaves" misconception="sorts_the_texts" section="key-paths"
"""Your paths are right, but they come in the order of their texts: `10` before `2`, letter by letter. JAX goes by positions and keys, and keeps the order of fields."""
def shared_leaves(tree):
    paths = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if isinstance(leaf, np.ndarray):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            paths.setdefault(id(leaf), []).append(text)
    return sorted(sorted(group) for group in paths.values() if len(group) > 1)


# %% exercise="shared_leaves" misconception="one_group_for_all"
"""The paths of all shared arrays are in one group. Such a group says which leaves are shared, but not which of them are the same array. Make one group for each array."""
def shared_leaves(tree):
    pairs = [
        (jax.tree_util.keystr(path, simple=True, separator="/"), id(leaf))
        for path, leaf in jax.tree.leaves_with_path(tree)
        if isinstance(leaf, np.ndarray)
    ]
    ids = [each for _, each in pairs]
    shared = [text for text, each in pairs if ids.count(each) > 1]
    return [shared] if shared else []


# %% exercise="shared_leaves" misconception="what_has_a_shape" section="leaves-are-not-elements"
"""NumPy's numbers, such as `np.float32(1)`, are in your groups. They have a shape and a dtype, as arrays have, but they are numbers, not arrays."""
def shared_leaves(tree):
    paths = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        if hasattr(leaf, "shape"):
            text = jax.tree_util.keystr(path, simple=True, separator="/")
            paths.setdefault(id(leaf), []).append(text)
    return [group for group in paths.values() if len(group) > 1]


# %% exercise="shared_leaves" equivalent="the arrays are of no subclass: whether such a one counts is left open"
# solution: isinstance(leaf, np.ndarray) → type(leaf) is np.ndarray
# by_comparing: isinstance(leaf, np.ndarray) → type(leaf) is np.ndarray
# by_two_passes: isinstance(leaf, np.ndarray) → type(leaf) is np.ndarray
# by_a_key_of_identity: isinstance(leaf, np.ndarray) → type(leaf) is np.ndarray


# %% exercise="shared_leaves" equivalent="a pair is only taken apart"
# by_two_passes: (jax.tree_util.keystr(path, simple=True, separator='/'), leaf) → [jax.tree_util.keystr(path, simple=True, separator='/'), leaf]


# %% exercise="shared_leaves" misconception="scalars_are_numbers" section="leaves-are-not-elements"
"""Arrays of shape `()` are missing in your groups. Such an array has no dimensions and holds one number. But it is an array, and it can be at two places."""
def shared_leaves(tree):
    groups = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if np.ndim(leaf) == 0:
            continue
        if not isinstance(leaf, np.ndarray):
            continue
        name = jax.tree_util.keystr(path, simple=True, separator="/")
        groups.setdefault(id(leaf), []).append(name)
    return [names for names in groups.values() if len(names) > 1]
