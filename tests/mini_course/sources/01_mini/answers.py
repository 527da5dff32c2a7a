# %% exercise="count_leaves" variant="reduce"
def count_leaves(tree):
    return jax.tree.reduce(lambda n, _: n + 1, tree, 0)


# %% exercise="count_leaves" variant="structure"
def count_leaves(tree):
    return jax.tree.structure(tree).num_leaves


# %% exercise="count_leaves" misconception="elements"
"""You counted the container's elements with `len`."""


def count_leaves(tree):
    return len(tree)


# %% exercise="count_leaves" misconception="nodes"
"""You counted nodes."""


def count_leaves(tree):
    return jax.tree.structure(tree).num_nodes


# %% exercise="count_leaves" misconception="none"
"""You think None is a leaf."""


def count_leaves(tree):
    return len(jax.tree.leaves(tree, is_leaf=lambda x: x is None))


# %% exercise="first_leaf" variant="loop"
def first_leaf(tree):
    for leaf in jax.tree.leaves(tree):
        return leaf
    raise ValueError("no leaves here")


# %% exercise="first_leaf" variant="subclass of the error"
class NoLeavesError(ValueError):
    """Raised for a tree without leaves."""


def first_leaf(tree):
    leaves = jax.tree.leaves(tree)
    if not leaves:
        raise NoLeavesError("no leaves")
    return leaves[0]


# %% exercise="first_leaf" misconception="last"
"""You took the leaf at the other end."""


def first_leaf(tree):
    leaves = jax.tree.leaves(tree)
    if not leaves:
        raise ValueError("no leaves")
    return leaves[-1]


# %% exercise="first_leaf" misconception="index error"
"""You let the list speak for you: its error says nothing about trees."""


def first_leaf(tree):
    return jax.tree.leaves(tree)[0]


# %% exercise="first_leaf" misconception="None instead"
"""You returned None where an error was asked for."""


def first_leaf(tree):
    return next(iter(jax.tree.leaves(tree)), None)
