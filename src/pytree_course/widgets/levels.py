"""One node of a tree at a time, as JAX's registry sees it."""

from typing import Any

import jax


class Level:
    """A node and its children; of a leaf, the leaf alone."""

    def __init__(self, value: Any) -> None:
        first = iter([False])
        # JAX asks about the root first: everything after it is to stay whole.
        flat: tuple[list[Any], Any] = jax.tree.flatten_with_path(
            value, is_leaf=lambda _: next(first, True)
        )
        pairs, self.treedef = flat
        self.keys = [jax.tree_util.keystr(path) for path, _ in pairs]
        self.children = [child for _, child in pairs]
        self.data: Any = self.treedef.node_data()  # None for a leaf, else node type and metadata
        self.type_name = type(value).__name__
