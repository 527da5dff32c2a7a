"""One node of a tree at a time, as JAX's registry sees it."""

from typing import Any

import jax


class Level:
    """A node and its children; of a leaf, the leaf alone."""

    def __init__(self, value: Any) -> None:
        first = iter([False])
        # JAX asks about the root first: everything after it is to stay whole.
        pairs, self.treedef = jax.tree.flatten_with_path(value, is_leaf=lambda _: next(first, True))
        self.keys = [jax.tree_util.keystr(path) for path, _ in pairs]
        self.children = [child for _, child in pairs]
        self.data = self.treedef.node_data()
        self.type_name = type(value).__name__
