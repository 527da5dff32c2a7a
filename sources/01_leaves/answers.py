# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
# ---

# %% exercise="leaves_of" variant="by_a_loop"
def leaves_of(tree):
    if isinstance(tree, dict):
        items = tree.values()
    elif isinstance(tree, (list, tuple)):
        items = tree
    else:
        return [tree]
    result = []
    for item in items:
        result += leaves_of(item)
    return result


# %% exercise="leaves_of" variant="by_exact_type"
def leaves_of(tree):
    if type(tree) is dict:
        return leaves_of(list(tree.values()))
    if type(tree) in (list, tuple):
        return sum(map(leaves_of, tree), [])
    return [tree]


# %% exercise="leaves_of" variant="by_a_generator"
def leaves_of(tree):
    def walk(node):
        if isinstance(node, dict):
            node = tuple(node.values())
        if isinstance(node, (list, tuple)):
            for item in node:
                yield from walk(item)
        else:
            yield node

    return list(walk(tree))


# %% exercise="leaves_of" variant="by_a_stack"
def leaves_of(tree):
    found, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            node = list(node.values())
        if isinstance(node, (list, tuple)):
            waiting.extend(reversed(node))
        else:
            found.append(node)
    return found


# %% exercise="leaves_of" misconception="opens_one_level" changes="solution"
"""Your list still holds containers: you open only the outermost one. Let the function call itself on each item."""
-        tree = list(tree.values())
+        return list(tree.values())
...
-        return [leaf for item in tree for leaf in leaves_of(item)]
+        return list(tree)


# %% exercise="leaves_of" misconception="lists_in_lists" changes="solution"
"""Your leaves are in nested lists. Each call returns a list: join these lists into one, instead of putting them into another list."""
-        return [leaf for item in tree for leaf in leaves_of(item)]
+        return [leaves_of(item) for item in tree]


# %% exercise="leaves_of" misconception="a_leaf_without_its_list" changes="solution"
"""For a leaf, your function returns the leaf itself instead of a list that holds it. So the caller cannot join it with other lists. `leaves_of(5)` should be `[5]`."""
-    return [tree]
+    return tree


# %% exercise="leaves_of" misconception="adds_a_leaf_without_its_list" changes="by_a_loop"
"""For a leaf, your function returns the leaf itself instead of a list that holds it. So the caller cannot add it to a list: `+=` needs items. `leaves_of(5)` should be `[5]`."""
-        return [tree]
+        return tree


# %% exercise="leaves_of" misconception="takes_the_keys"
"""Your list holds the keys of the dicts. A loop over a dict gives its keys; the items of a tree are its values."""
def leaves_of(tree):
    if isinstance(tree, (dict, list, tuple)):
        return [leaf for item in tree for leaf in leaves_of(item)]
    return [tree]


# %% exercise="leaves_of" misconception="a_tuple_is_a_leaf" changes="solution"
"""Your list still holds tuples. A tuple is a container too: look into it as into a list."""
-    if isinstance(tree, (list, tuple)):
+    if isinstance(tree, list):


# %% exercise="leaves_of" misconception="opens_dicts_only"
"""Your list still holds lists and tuples. They are containers as dicts are: look into them too."""
def leaves_of(tree):
    if isinstance(tree, dict):
        return [leaf for item in tree.values() for leaf in leaves_of(item)]
    return [tree]


# %% exercise="leaves_of" misconception="opens_arrays" changes="solution"
"""Your list holds the rows or numbers of the arrays. An array is one leaf, whatever its shape is."""
-    if isinstance(tree, (list, tuple)):
+    if isinstance(tree, (list, tuple, np.ndarray)):


# %% exercise="leaves_of" misconception="sorts_the_keys" met="jax-ml/jax#4085"
"""Your leaves come in the order of the sorted keys. That is what JAX does, and the lesson comes to it in a minute. Here, keep the order in which each dict was written."""
def leaves_of(tree):
    return jax.tree.leaves(tree)


# %% exercise="leaves_of" misconception="forgets_the_result" changes="solution"
"""Your list is empty for every container: what the calls on the items return is not in it. Add the list that each call returns to your own."""
     """Return the leaves of a tree of dicts, lists and tuples, in a list."""
+    result = []
...
-        return [leaf for item in tree for leaf in leaves_of(item)]
+        for item in tree:
+            leaves_of(item)
+        return result


# %% exercise="leaves_of" misconception="takes_all_for_dicts"
"""You call `.values()` on every tree, but only a dict has this method. You can loop over a list or a tuple directly, and a leaf has no items."""
def leaves_of(tree):
    return list(tree.values())


# %% exercise="leaves_of" misconception="values_are_no_list" changes="solution"
"""Your list holds `dict_values` objects. `tree.values()` is neither a list nor a tuple, so your function takes it for a leaf. `list(tree.values())` makes a list of it."""
-        tree = list(tree.values())
+        return leaves_of(tree.values())


# %% exercise="leaves_of" misconception="keys_and_values" changes="solution"
"""Your list holds the keys of the dicts beside their values. `tree.items()` gives pairs, and a pair is a tuple, so both parts become leaves. The items of a dict are its values alone."""
-        tree = list(tree.values())
+        tree = list(tree.items())


# %% exercise="leaves_of" misconception="whatever_has_items_is_opened"
"""You open everything that Python can loop over. That takes arrays apart into numbers; and each letter of a string is a string again, so at a string the function calls itself without an end. Arrays and strings are leaves: open dicts, lists and tuples only."""
def leaves_of(tree):
    if isinstance(tree, dict):
        return leaves_of(list(tree.values()))
    if hasattr(tree, "__iter__"):
        return [leaf for item in tree for leaf in leaves_of(item)]
    return [tree]


# %% exercise="leaves_of" misconception="only_the_first" changes="solution"
"""Your list ends after the leaves of the first item: a `return` in a loop ends the loop. Collect the leaves of all items, and return them after the loop."""
-        return [leaf for item in tree for leaf in leaves_of(item)]
+        for item in tree:
+            return leaves_of(item)
+        return []


# %% exercise="leaves_of" misconception="only_the_last" changes="solution"
"""Your list holds the leaves of the last item only: those of the items before are replaced. Add the leaves of each item to those that you have: `+=` instead of `=`."""
     """Return the leaves of a tree of dicts, lists and tuples, in a list."""
+    result = []
...
-        return [leaf for item in tree for leaf in leaves_of(item)]
+        for item in tree:
+            result = leaves_of(item)
+        return result


# %% exercise="leaves_of" misconception="falsy_is_no_leaf" changes="solution"
"""Your list leaves out `0`, `False` and empty strings, and a test of an array raises an error: in an `if`, Python takes such values for false, and an array of several numbers is neither true nor false. Every leaf counts, whatever its value is."""
     """Return the leaves of a tree of dicts, lists and tuples, in a list."""
+    if not tree:
+        return []


# %% exercise="leaves_of" misconception="empty_is_a_leaf" met="jax-ml/jax#11425" changes="by_a_loop"
"""Your list holds empty containers. A container without items is a container all the same: it adds no leaf."""
-    if isinstance(tree, dict):
+    if isinstance(tree, dict) and tree:
...
-    elif isinstance(tree, (list, tuple)):
+    elif isinstance(tree, (list, tuple)) and tree:


# %% exercise="leaves_of" misconception="the_list_stays" changes="solution"
"""Your list still holds the leaves of earlier calls. A default value such as `result=[]` is made only once, so all calls add to one list. Make a new list in each call."""
-def leaves_of(tree):
+def leaves_of(tree, result=[]):
...
     if isinstance(tree, dict):
         tree = list(tree.values())
     if isinstance(tree, (list, tuple)):
-        return [leaf for item in tree for leaf in leaves_of(item)]
-    return [tree]
+        for item in tree:
+            leaves_of(item)
+    else:
+        result.append(tree)
+    return list(result)


# %% exercise="leaves_of" misconception="returns_a_generator" changes="solution"
"""Your function returns a generator: that is what a function with `yield` returns, and so is `(... for ...)`. The task asks for a list; `list(...)` makes one."""
-        return [leaf for item in tree for leaf in leaves_of(item)]
-    return [tree]
+        return (leaf for item in tree for leaf in leaves_of(item))
+    return (leaf for leaf in [tree])


# %% exercise="leaves_by_type" misconception="lists_the_keys" changes="solution"
"""Your list holds the keys of the dicts: `list` of a dict gives its keys. The children are the values, in the order of the sorted keys."""
-registry[dict] = lambda node: [node[key] for key in sorted(node)]
+registry[dict] = list


# %% exercise="leaves_by_type" variant="by_a_loop"
registry = {list: list, tuple: list, type(None): lambda node: []}


def sorted_values(node):
    return [value for key, value in sorted(node.items(), key=lambda item: item[0])]


registry[dict] = sorted_values


def leaves_by_type(tree):
    children = registry.get(type(tree))
    if children is None:
        return [tree]
    result = []
    for child in children(tree):
        result.extend(leaves_by_type(child))
    return result


# %% exercise="leaves_by_type" variant="by_a_map"
registry = {list: list, tuple: list, type(None): lambda node: []}
registry[dict] = lambda node: map(node.get, sorted(node))


def leaves_by_type(tree):
    if type(tree) in registry:
        return sum(map(leaves_by_type, registry[type(tree)](tree)), [])
    return [tree]


# %% exercise="leaves_by_type" misconception="parent_class" met="jax-ml/jax#506" changes="solution"
"""You open objects of a subclass too, such as an `OrderedDict`: `isinstance` is true for each class below `dict`. JAX asks for the exact type, as `type(tree) in registry` does, and these types are not in your registry."""
-    if type(tree) not in registry:
-        return [tree]
-    children = registry[type(tree)](tree)
-    return [leaf for child in children for leaf in leaves_by_type(child)]
+    for cls, children in registry.items():
+        if isinstance(tree, cls):
+            return [leaf for child in children(tree) for leaf in leaves_by_type(child)]
+    return [tree]


# %% exercise="leaves_by_type" misconception="as_written" met="jax-ml/jax#4085" changes="solution"
"""Your leaves come in the order in which a dict was written. JAX takes the values in the order of the sorted keys."""
-registry[dict] = lambda node: [node[key] for key in sorted(node)]
+registry[dict] = lambda node: list(node.values())


# %% exercise="leaves_by_type" misconception="takes_the_keys" changes="solution"
"""Your list holds the keys of the dicts. `sorted(node)` gives the sorted keys: the children are the values at these keys, `node[key]`."""
-registry[dict] = lambda node: [node[key] for key in sorted(node)]
+registry[dict] = sorted


# %% exercise="leaves_by_type" misconception="keys_and_values" changes="solution"
"""Your list holds each key beside its value. `node.items()` gives pairs, and a pair is a tuple, so both parts become leaves. The children are the values alone."""
-registry[dict] = lambda node: [node[key] for key in sorted(node)]
+registry[dict] = lambda node: sorted(node.items(), key=lambda item: item[0])


# %% exercise="leaves_by_type" misconception="opens_one_level" changes="solution"
"""Your list still holds containers: it is the list of the children of `tree`. Let the function call itself on each child, and join the lists that it returns."""
-    children = registry[type(tree)](tree)
-    return [leaf for child in children for leaf in leaves_by_type(child)]
+    return registry[type(tree)](tree)


# %% exercise="leaves_by_type" misconception="lists_in_lists" changes="solution"
"""Your leaves are in nested lists. Each call returns a list: join these lists into one."""
-    children = registry[type(tree)](tree)
-    return [leaf for child in children for leaf in leaves_by_type(child)]
+    return [leaves_by_type(child) for child in registry[type(tree)](tree)]


# %% exercise="leaves_by_type" misconception="no_children_means_leaf" changes="solution"
"""Your list holds `None` and empty containers. They have no children, but they are nodes all the same: their types are in the registry. An object is a leaf only if its type is not in the registry."""
-    if type(tree) not in registry:
+    children = registry[type(tree)](tree) if type(tree) in registry else []
+    if not children:
...
-    children = registry[type(tree)](tree)


# %% exercise="leaves_by_type" misconception="none_is_a_leaf" changes="solution"
"""Your list holds each `None`. The registry has the type of `None`, with a function that lists no children. So `None` adds no leaf."""
-registry = {list: list, tuple: list, type(None): lambda node: []}
+registry = {list: list, tuple: list}


# %% exercise="leaves_by_type" misconception="opens_what_jax_opens" changes="solution"
"""You open everything that JAX opens. But your registry holds four types only, fewer than JAX's: to your search, an `OrderedDict` is a leaf."""
-    if type(tree) not in registry:
-        return [tree]
-    children = registry[type(tree)](tree)
-    return [leaf for child in children for leaf in leaves_by_type(child)]
+    return jax.tree.leaves(tree)


# %% exercise="leaves_by_type" misconception="a_dict_is_a_leaf" changes="solution"
"""Your list still holds dicts. As long as `registry` has no entry for `dict`, each dict is one leaf: add one, `registry[dict] = ...`."""
-registry[dict] = lambda node: [node[key] for key in sorted(node)]


# %% exercise="leaves_by_type" misconception="a_leaf_without_its_list" changes="solution"
"""For a leaf, you return the leaf itself instead of a list that holds it. So its parent cannot join it with other lists: an int has no items, and a string falls apart into letters. Return `[tree]`."""
-        return [tree]
+        return tree


# %% exercise="leaves_by_type" misconception="sorts_the_values" changes="solution"
"""You sort the values of a dict, and fail where Python cannot compare them. JAX sorts the keys: the children are the values in the order of their keys."""
-registry[dict] = lambda node: [node[key] for key in sorted(node)]
+registry[dict] = lambda node: sorted(node.values())


# %% exercise="leaves_by_type" misconception="asks_for_the_object" changes="solution"
"""You look for the object itself in the registry. Its keys are types, so ask for `type(tree)`. A dict, a list or an array cannot be looked up at all: it has no hash."""
-    if type(tree) not in registry:
+    if tree not in registry:


# %% exercise="leaves_by_type" misconception="asks_for_the_parent_first" changes="solution"
"""Your function fails at an object of a subclass, such as an `OrderedDict`. `isinstance` is true for it, but `registry` has no entry for its type. Ask whether `type(tree)` is in the registry."""
-    if type(tree) not in registry:
+    if not isinstance(tree, tuple(registry)):


# %% exercise="leaves_by_type" misconception="only_the_first" changes="solution"
"""Your list ends after the leaves of the first child: a `return` in a loop ends the loop. Collect the leaves of all children, and return them after the loop."""
-    return [leaf for child in children for leaf in leaves_by_type(child)]
+    for child in children:
+        return leaves_by_type(child)
+    return []


# %% exercise="leaves_by_type" misconception="forgets_the_result" changes="solution"
"""Your list is empty for every node: what the calls on the children return is not in it. Add the list that each call returns to your own."""
-    return [leaf for child in children for leaf in leaves_by_type(child)]
+    for child in children:
+        leaves_by_type(child)
+    return []


# %% exercise="leaves_by_type" misconception="no_function_for_dict" changes="solution"
"""Your function fails at a dict: what `registry` has for `dict` cannot be called. As `list` for a list, it has to be a function of one dict, for example a `lambda`."""
-registry[dict] = lambda node: [node[key] for key in sorted(node)]
+registry[dict] = ...


# %% exercise="leaves_by_type" misconception="opens_the_item_without_its_function" changes="solution"
"""Your list holds keys of the dicts, and your function fails at `None`: you loop over the node itself. `registry[type(tree)]` is the function that lists its children; call it."""
-    children = registry[type(tree)](tree)
-    return [leaf for child in children for leaf in leaves_by_type(child)]
+    return [leaf for child in tree for leaf in leaves_by_type(child)]


# %% exercise="leaves_by_type" starter=True
registry = {list: list, tuple: list, type(None): lambda node: []}
registry[dict] = ...  # a function of one dict


def leaves_by_type(tree):
    raise NotImplementedError  # your answer goes here, in place of this line


# %% exercise="rebuild" variant="by_unflatten"
def rebuild(tree, leaves):
    return jax.tree.unflatten(jax.tree.structure(tree), leaves)


# %% exercise="rebuild" variant="by_map"
def rebuild(tree, leaves):
    return jax.tree.map(lambda _: next(leaves), tree)


# %% exercise="rebuild" variant="by_loops"
def rebuild(tree, leaves):
    if isinstance(tree, dict):
        result = {}
        for key in sorted(tree):
            result[key] = rebuild(tree[key], leaves)
        return result
    if isinstance(tree, list):
        return [rebuild(item, leaves) for item in tree]
    if isinstance(tree, tuple):
        return tuple([rebuild(item, leaves) for item in tree])
    return None if tree is None else next(leaves)


# %% exercise="rebuild" misconception="as_written" met="jax-ml/jax#4085" changes="solution"
"""Your tree has the right structure, but you fill each dict in the order in which its keys were written. JAX goes through the keys in sorted order."""
-        return {key: rebuild(tree[key], leaves) for key in sorted(tree)}
+        return {key: rebuild(item, leaves) for key, item in tree.items()}


# %% exercise="rebuild" misconception="tuples_become_lists" changes="solution"
"""Your tree has lists where `tree` has tuples. Put the new items into a container of the same type."""
-        return type(tree)(rebuild(item, leaves) for item in tree)
+        return [rebuild(item, leaves) for item in tree]


# %% exercise="rebuild" misconception="none_takes_a_leaf" changes="solution"
"""Your function takes a leaf from the iterator for each `None`, so the iterator is empty too early. `None` is not a leaf: it stays as it is."""
-    if tree is None:
-        return None
...
-    return next(leaves)
+    for leaf in leaves:
+        return leaf
+    raise Exception("whatever the error is")


# %% exercise="rebuild" misconception="returns_a_list"
"""Your result is the list of the new leaves. It should have the structure of `tree`, with the new leaves in it."""
def rebuild(tree, leaves):
    return list(leaves)


# %% exercise="rebuild" misconception="keeps_the_old_leaves" changes="solution"
"""Your result still has the leaves of `tree`. Where you come to a leaf, return the next one of `leaves` instead."""
-    return next(leaves)
+    return tree


# %% exercise="rebuild" misconception="replaces_one_level" changes="solution"
"""Your result has leaves where `tree` has containers: you replace each item of the outermost container by one leaf. Let the function call itself on each item."""
-        return {key: rebuild(tree[key], leaves) for key in sorted(tree)}
+        return {key: next(leaves) for key in sorted(tree)}
...
-        return type(tree)(rebuild(item, leaves) for item in tree)
+        return type(tree)([next(leaves) for item in tree])


# %% exercise="rebuild" misconception="loses_the_keys" changes="solution"
"""Your result has lists where `tree` has dicts. A dict becomes a dict again, with the same keys."""
-        return {key: rebuild(tree[key], leaves) for key in sorted(tree)}
+        return [rebuild(tree[key], leaves) for key in sorted(tree)]


# %% exercise="rebuild" misconception="takes_leaves_for_a_list" changes="solution"
"""You use `leaves` as a list. It is an iterator: it has no `pop`. `next(leaves)` gives the next leaf, and the iterator remembers where it is."""
-    return next(leaves)
+    return leaves.pop(0)


# %% exercise="rebuild" misconception="counts_in_leaves" changes="solution"
"""You use `leaves` as a list, as in `leaves[0]` or `len(leaves)`. It is an iterator: it has neither an index nor a length. `next(leaves)` gives the next leaf."""
-    return next(leaves)
+    return leaves[0]


# %% exercise="rebuild" misconception="writes_into_the_tree"
"""After the call, the tree that your function was given has changed: you write the new leaves into its dicts and lists. Build a new container in each call, and leave `tree` as it is."""
def rebuild(tree, leaves):
    if isinstance(tree, tuple):
        return tuple([rebuild(item, leaves) for item in tree])
    if isinstance(tree, (dict, list)):
        for key in sorted(tree) if isinstance(tree, dict) else range(len(tree)):
            tree[key] = rebuild(tree[key], leaves)
        return tree
    return None if tree is None else next(leaves)


# %% exercise="rebuild" misconception="a_tuple_cannot_be_written" changes="writes_into_the_tree"
"""You write the new leaves into `tree`. That changes the caller's tree, and fails at a tuple, whose items cannot be replaced. Build a new container in each call."""
-    if isinstance(tree, tuple):
-        return tuple([rebuild(item, leaves) for item in tree])
-    if isinstance(tree, (dict, list)):
+    if isinstance(tree, (dict, list, tuple)):


# %% exercise="rebuild" misconception="each_call_begins_again" changes="solution"
"""Your result has the first leaf at every place. A list made of `leaves` in each call, or a new iterator, begins with the first leaf again. Pass the same iterator on, and take the next leaf from it."""
+    leaves = list(leaves)
     if tree is None:
...
-    return next(leaves)
+    return leaves[0]


# %% exercise="rebuild" misconception="a_generator_for_a_tuple" changes="solution"
"""Your tree has generators where `tree` has tuples: `(... for ...)` makes a generator. `tuple(...)` makes a tuple of its items."""
-        return type(tree)(rebuild(item, leaves) for item in tree)
+        result = (rebuild(item, leaves) for item in tree)
+        return list(result) if isinstance(tree, list) else result


# %% exercise="rebuild" misconception="tuples_take_a_leaf" changes="solution"
"""You put one leaf in the place of each tuple. A tuple is a container too: go into it as into a list, and make a tuple again."""
-    if isinstance(tree, (list, tuple)):
+    if isinstance(tree, list):


# %% exercise="rebuild" misconception="falsy_stays" changes="solution"
"""Where `tree` has `0`, `False` or an empty string, your result still has it, and a test of an array raises an error: in an `if`, Python takes such values for false. Each of them is a leaf. Only `None` and empty containers stay as they are."""
-    if tree is None:
-        return None
+    if not tree:
+        return tree


# %% exercise="rebuild" misconception="the_tree_is_its_structure"
"""Your function fails whatever the tree is. `jax.tree.unflatten` takes a structure, as `jax.tree.structure` makes it, and the leaves. A tree is no structure."""
def rebuild(tree, leaves):
    return jax.tree.unflatten(tree, leaves)


# %% exercise="rebuild" misconception="the_iterator_is_the_leaf" changes="solution"
"""Your tree holds the iterator itself at each leaf. `next(leaves)` takes the next leaf from it."""
-    return next(leaves)
+    return leaves


# %% exercise="rebuild" misconception="drops_the_nones" changes="solution"
"""Each `None` is missing from your result. It is no leaf, but it belongs to the structure: put a `None` in its place."""
-        return {key: rebuild(tree[key], leaves) for key in sorted(tree)}
+        return {key: rebuild(tree[key], leaves) for key in sorted(tree) if tree[key] is not None}
...
-        return type(tree)(rebuild(item, leaves) for item in tree)
+        return type(tree)(rebuild(item, leaves) for item in tree if item is not None)


# %% exercise="rebuild" misconception="a_dict_is_made_of_its_keys" changes="solution"
"""Your function fails at a dict. A loop over a dict gives its keys, and `dict(...)` needs pairs of a key and a value. The children of a dict are its values: rebuild each of them, and put it under its key."""
-    if isinstance(tree, dict):
-        return {key: rebuild(tree[key], leaves) for key in sorted(tree)}
-    if isinstance(tree, (list, tuple)):
+    if isinstance(tree, (dict, list, tuple)):


# %% exercise="rebuild" misconception="a_list_is_such_a_tree"
"""Your function works only where `tree` is itself a list of leaves, or has none. `jax.tree.map` takes further trees of the same structure, and a flat list seldom has the structure of `tree`."""
def rebuild(tree, leaves):
    return jax.tree.map(lambda old, new: new, tree, list(leaves))


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


# %% exercise="predict_leaf_counts" misconception="none_is_a_leaf" section="a-missing-bias"
"""You get 4 if you count each `None`. For JAX, `None` is a node without children, so it adds no leaf."""
predictions = dict(A=2, B=4, C=0, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="arrays_are_opened" section="how-many-leaves"
"""9 is the number of elements in the two arrays. JAX does not open an array, whatever its shape is: an array is one leaf."""
predictions = dict(A=9, B=2, C=0, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="empty_containers_are_leaves" met="jax-ml/jax#11425" section="how-many-leaves"
"""3 is the number of empty containers, and of items in the outer list. For JAX an empty container is a node that holds nothing, so it adds no leaf."""
predictions = dict(A=2, B=2, C=3, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="strings_are_opened" section="how-many-leaves"
"""You get 5 if you count each letter of the string. Python can loop over a string, but that does not matter to JAX: `str` is not in JAX's registry, so JAX does not look inside."""
predictions = dict(A=2, B=2, C=0, D=5, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="only_plain_dicts_are_nodes"
"""1 would be right if the `OrderedDict` were a leaf. But `OrderedDict` has its own entry in the registry, as `dict` has. So JAX opens it, and also the tuple inside it."""
predictions = dict(A=2, B=2, C=0, D=3, E=1, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="subclasses_are_nodes" met="jax-ml/jax#506"
"""2 is the number of values in the `Config`. `Config` is a kind of `dict`, but JAX looks for the exact type in the registry, not for its parent class. So JAX does not open the `Config`."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=2, G=2, H="error")


# %% exercise="predict_leaf_counts" misconception="sets_and_deques_are_nodes" met="jax-ml/jax#40517"
"""5 is the number of items in the set and the deque. JAX does not open everything that holds items: the type must be in the registry, and `set` and `deque` are not. (Nor is a `frozendict`, unless its library registers it.)"""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=5, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="any_keys_work" met="jax-ml/jax#15358, jax-ml/jax#40026" section="dict-keys-are-sorted"
"""2 is the number of values in the dict. A Python dict accepts any keys, but JAX sorts the keys of a dict. What does `sorted` do with the keys of this dict?"""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=2, G=1, H=2)


# %% exercise="predict_leaf_counts" misconception="only_the_outer_container_is_opened" section="how-many-leaves"
"""This is the number of items in the outer container. JAX goes deeper: it also opens every node inside."""
predictions = dict(A=2, B=3, C=3, D=2, E=2, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="nodes_are_counted" section="how-many-leaves"
"""This number includes the containers, and each `None` too. What JAX opens is a node, and `None` is one as well. Only what JAX does not open is a leaf."""
predictions = dict(A=3, B=6, C=5, D=5, E=5, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="sets_are_nodes"
"""You get 4 if you open the set, but not the deque. A set holds items, but that is not enough for JAX: the type must be in the registry."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=4, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="deques_are_nodes"
"""You get 3 if you open the deque, but not the set. A deque holds items, but that is not enough for JAX: the type must be in the registry."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=3, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="unknown_types_raise" met="jax-ml/jax#2749"
"""JAX raises no error for a type that it does not know. JAX does not look inside: the whole object is one leaf."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F="error", G="error", H="error")


# %% exercise="predict_leaf_counts" misconception="unknown_types_add_nothing"
"""JAX does not leave out an object of a type that it does not know. JAX does not look inside: the whole object is one leaf."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=0, G=0, H="error")


# %% exercise="predict_leaf_counts" misconception="empty_containers_raise" section="how-many-leaves"
"""JAX raises no error for empty containers: they are nodes like other containers, and a tree may consist of them alone."""
predictions = dict(A=2, B=2, C="error", D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="tuples_are_leaves" section="how-many-leaves"
"""You get this number if you count the tuple as one leaf. A tuple cannot change, but that does not matter to JAX: for JAX a tuple is a node, as a list is."""
predictions = dict(A=2, B=2, C=1, D=2, E=2, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="keys_are_leaves" section="how-many-leaves"
"""You get this number if you count the keys of the dict as well. Keys belong to the structure: only the values can be leaves, or hold leaves."""
predictions = dict(A=4, B=2, C=0, D=5, E=5, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="keys_count_everywhere" section="the-registry"
"""You get 4 if you count keys and values. Keys are no leaves. And before JAX comes to the values it needs more: an exact type that it knows, and keys that it can sort."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=2, G=4, H=4)


# %% exercise="predict_leaf_counts" misconception="texts_raise" section="how-many-leaves"
"""JAX raises no error for a string. A leaf may be any object: as long as JAX only flattens a tree, it does not look into the leaves."""
predictions = dict(A=2, B=2, C=0, D="error", E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="none_raises" section="a-missing-bias"
"""JAX raises no error for `None`. `None` has its own entry in the registry: it is a node without children."""
predictions = dict(A=2, B="error", C=0, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="relatives_of_dict_raise"
"""JAX raises no error for an `OrderedDict`: it has its own entry in the registry. And for a type without an entry JAX raises no error either."""
predictions = dict(A=2, B=2, C=0, D=3, E="error", F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="inner_containers_are_leaves" section="how-many-leaves"
"""You get this number if you count everything below the outermost container, also the containers inside, and `None`. These are nodes. Only what JAX does not open is a leaf."""
predictions = dict(A=2, B=5, C=4, D=4, E=4, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="rows_are_leaves" section="how-many-leaves"
"""You get 5 if you count the rows of the first array, and the elements of the second. JAX does not open an array, whatever its shape is: an array is one leaf."""
predictions = dict(A=5, B=2, C=0, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="a_tree_has_a_leaf" section="how-many-leaves"
"""Nothing in this tree is a leaf: each of its containers is a node, and in the end they hold nothing. A tree may have no leaves at all."""
predictions = dict(A=2, B=2, C=1, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="some_empty_ones_are_leaves" section="how-many-leaves"
"""Each container here is a node, an empty one too: a tuple, a dict, and the lists. None of them is a leaf, and there is nothing else in this tree."""
predictions = dict(A=2, B=2, C=2, D=3, E=3, F=2, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="one_of_two_counts"
"""The set and the deque are treated alike: JAX knows neither of the two types, and each object is one leaf."""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=1, G=1, H="error")


# %% exercise="predict_leaf_counts" misconception="unsortable_is_a_leaf" section="dict-keys-are-sorted"
"""You get 1 if JAX does not open this dict. But JAX opens every plain dict. First it sorts the keys, and what does `sorted` do with a number and a string?"""
predictions = dict(A=2, B=2, C=0, D=3, E=3, F=2, G=1, H=1)


# %% exercise="predict_leaf_counts" misconception="only_arrays_are_leaves" section="how-many-leaves"
"""You get 0 if only arrays are leaves. A leaf need not be an array: every object that JAX does not open is a leaf, a number and a string too."""
predictions = dict(A=2, B=0, C=0, D=0, E=0, F=2, G=1, H="error")


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


# %% exercise="nan_paths" misconception="dicts_keep_their_order" met="nuclear-multimessenger-astronomy/jester#36"
"""Your names and leaves come in two orders: `list(params)` has the keys as they were written, and `jax.tree.leaves(params)` sorts them. And a `None` has a name, but is no leaf."""
def nan_paths(params):
    names = list(params)
    leaves = jax.tree.leaves(params)
    return [name for name, leaf in zip(names, leaves) if np.isnan(leaf).any()]


# %% exercise="nan_paths" misconception="sorts_the_names" section="a-missing-bias" changes="starter"
"""Your names are `sorted(params)`. Of a list or a tuple, these are its items, if Python can sort them at all. Of a dict, a `None` has a name and is no leaf, and a container under one name may have several leaves: names and leaves do not belong together."""
-    names = list(params)
+    names = sorted(params)


# %% exercise="nan_paths" misconception="nan_equals_nan" section="key-paths" changes="solution"
"""You find nothing. A comparison with `np.nan` is never true: a nan is not equal to anything, not even to itself."""
-        if np.isnan(leaf).any()
+        if np.any(leaf == np.nan)


# %% exercise="nan_paths" misconception="sorts_the_texts" section="key-paths" changes="solution"
"""You find the right paths, in the order of their strings: `10` before `2`, letter by letter. JAX sorts the keys of a plain dict themselves, and keeps the order of lists, namedtuples and an `OrderedDict`."""
-    return [
+    return sorted(
...
-    ]
+    )


# %% exercise="nan_paths" misconception="default_keystr" section="key-paths" changes="solution"
"""You find the right leaves, but their paths look like Python code: `['w'][0]`. That is the default style of `keystr`. The task asks for the simple style, with a separator."""
-        jax.tree_util.keystr(path, simple=True, separator="/")
+        jax.tree_util.keystr(path)


# %% exercise="nan_paths" misconception="every_element_is_nan" section="how-many-leaves" changes="solution"
"""You miss arrays in which only some numbers are nan, and you include arrays without elements. `all` is true when every element is nan, and also when there are no elements. Here one nan in a leaf is enough."""
-        if np.isnan(leaf).any()
+        if np.isnan(leaf).all()


# %% exercise="nan_paths" misconception="a_sum_is_enough" section="how-many-leaves" changes="solution"
"""Your list includes arrays without nan that hold both `inf` and `-inf`. The sum of `inf` and `-inf` is nan, although neither number is nan. Look at the numbers themselves."""
-        if np.isnan(leaf).any()
+        if np.isnan(np.sum(leaf))


# %% exercise="nan_paths" misconception="finite_or_nan" section="how-many-leaves" changes="solution"
"""Your list includes leaves that hold `inf`. An infinite number is not finite, but it is not nan either: nan means "not a number"."""
-        if np.isnan(leaf).any()
+        if not np.isfinite(leaf).all()


# %% exercise="nan_paths" misconception="none_is_a_leaf" section="a-missing-bias"
"""Your result is right up to the first `None`. After it, each path stands beside the wrong leaf. Your paths count `None` as a leaf, but your leaves do not. For JAX `None` is a node without children."""
def nan_paths(params):
    pairs = jax.tree.leaves_with_path(params, is_leaf=lambda node: node is None)
    paths = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in pairs]
    leaves = jax.tree.leaves(params)
    return [path for path, leaf in zip(paths, leaves) if np.isnan(leaf).any()]


# %% exercise="nan_paths" misconception="floats_are_arrays" section="how-many-leaves" changes="solution"
"""Your function fails at a Python float. A float is a leaf, as an array is, but neither a float nor the result of comparing it has array methods such as `.any()`. NumPy's functions accept floats and arrays."""
-        if np.isnan(leaf).any()
+        if (leaf != leaf).any()


# %% exercise="nan_paths" misconception="the_largest_is_enough" section="how-many-leaves" changes="solution"
"""Your function fails at an array without elements: such an array has no largest number, and no smallest one. It holds no nan either."""
-        if np.isnan(leaf).any()
+        if np.isnan(np.max(leaf))


# %% exercise="nan_paths" misconception="only_arrays_are_leaves" section="how-many-leaves" changes="solution"
"""You miss each nan that is a Python float. A leaf need not be an array: a number is a leaf too."""
-        if np.isnan(leaf).any()
+        if isinstance(leaf, np.ndarray) and np.isnan(leaf).any()


# %% exercise="nan_paths" misconception="only_floats_are_leaves" section="how-many-leaves" changes="solution"
"""You find a nan only where the leaf is a single number, and miss those in arrays. An array may hold nan among its elements."""
-        if np.isnan(leaf).any()
+        if isinstance(leaf, float) and leaf != leaf


# %% exercise="nan_paths" misconception="one_level_without_none" section="how-many-leaves"
"""Your function works for one dict of arrays or numbers, and its result is in the order as written. But a tree may be a list or a single leaf, a dict may hold further containers, and JAX sorts the keys."""
def nan_paths(params):
    return [
        name for name, leaf in params.items() if leaf is not None and np.isnan(leaf).any()
    ]


# %% exercise="nan_paths" misconception="tests_none_for_nan" section="a-missing-bias" changes="solution"
"""Your function fails where the tree holds `None`: NumPy cannot test it for nan. For JAX `None` is no leaf, so there is nothing to test."""
     """
+    pairs = jax.tree.leaves_with_path(params, is_leaf=lambda node: node is None)
...
-        for path, leaf in jax.tree.leaves_with_path(params)
+        for path, leaf in pairs


# %% exercise="nan_paths" misconception="one_nan_for_each_leaf" section="how-many-leaves" changes="solution"
"""Your function fails at an array of several numbers, or of none. A test of an array gives one answer for each element, and an `if` needs a single one."""
-        if np.isnan(leaf).any()
+        if leaf != leaf


# %% exercise="nan_paths" misconception="python_tests_arrays" section="how-many-leaves" changes="solution"
"""Your function fails at an array of several numbers or of none, as `math.isnan` does: it takes a single number. NumPy's functions accept numbers and arrays."""
     """
+    import math
+
...
-        if np.isnan(leaf).any()
+        if math.isnan(leaf)


# %% exercise="nan_paths" misconception="returns_the_leaves" changes="solution"
"""You return the broken leaves themselves. The task asks for their paths, as strings."""
-        jax.tree_util.keystr(path, simple=True, separator="/")
+        leaf


# %% exercise="nan_paths" misconception="paths_without_text" changes="solution"
"""You return the paths themselves: tuples of entries such as `DictKey`. The task asks for their strings."""
-        jax.tree_util.keystr(path, simple=True, separator="/")
+        path


# %% exercise="nan_paths" misconception="only_the_first"
"""Your list ends after the first broken leaf. A `return` or a `break` ends the loop; there may be more leaves with a nan."""
def nan_paths(params):
    for path, leaf in jax.tree.leaves_with_path(params):
        if np.isnan(leaf).any():
            return [jax.tree_util.keystr(path, simple=True, separator="/")]
    return []


# %% exercise="nan_paths" misconception="the_healthy_ones" changes="solution"
"""Your list holds the leaves without nan. The task asks for those with a nan."""
-        if np.isnan(leaf).any()
+        if not np.isnan(leaf).any()


# %% exercise="nan_paths" misconception="only_the_last_step" changes="solution"
"""Your strings are the last steps of the paths. Two layers may both have a `w`; only the whole path says which one is broken."""
-        jax.tree_util.keystr(path, simple=True, separator="/")
+        jax.tree_util.keystr(path[-1:], simple=True, separator="/")


# %% exercise="nan_paths" misconception="no_separator" changes="solution"
"""You find the right leaves, but the steps of their paths stand together without a separator. `simple=True` only leaves out brackets and quotes; the separator is an option of its own."""
-        jax.tree_util.keystr(path, simple=True, separator="/")
+        jax.tree_util.keystr(path, simple=True)


# %% exercise="nan_paths" misconception="separator_alone" changes="solution"
"""You find the right leaves, but each step of a path has brackets and perhaps quotes, as in `['w']/[0]`. The separator alone does not change that; the simple style is an option of its own."""
-        jax.tree_util.keystr(path, simple=True, separator="/")
+        jax.tree_util.keystr(path, separator="/")


# %% exercise="nan_paths" misconception="every_entry_has_a_key" changes="solution"
"""Your function fails where a path goes through anything but a dict: a list, a tuple, a namedtuple or a registered class. The entry of a dict's key has `.key`, but that of a position has `.idx`, and that of a field `.name`."""
-        jax.tree_util.keystr(path, simple=True, separator="/")
+        "/".join(str(entry.key) for entry in path)


# %% exercise="nan_paths" misconception="fields_are_named_keys_are_not_sorted" section="dict-keys-are-sorted"
"""You list a dict in the order in which it was written, and your function fails at a registered class. JAX sorts the keys of a dict, and opens every class in its registry: leave the walk to JAX."""
def nan_paths(params, before=()):
    if params is None:
        return []
    if isinstance(params, dict):
        pairs = params.items()
    elif hasattr(params, "_fields"):
        pairs = zip(params._fields, params)
    elif isinstance(params, (list, tuple)):
        pairs = enumerate(params)
    else:
        return ["/".join(before)] if np.isnan(params).any() else []
    return [text for key, child in pairs for text in nan_paths(child, (*before, str(key)))]


# %% exercise="nan_paths" misconception="loops_over_each_leaf" section="how-many-leaves" changes="solution"
"""You loop over each leaf, and your function fails where a leaf is a single number, or has more than one axis: then the loop has nothing to go over, or its items are rows. `np.isnan` takes an array of any shape, and a number too."""
     """
+    def has_nan(leaf):
+        if np.ndim(leaf) != 1 and np.size(leaf):
+            raise Exception("whatever the error is")
+        return np.isnan(leaf).any()
+
...
-        if np.isnan(leaf).any()
+        if has_nan(leaf)


# %% exercise="nan_paths" misconception="a_tree_of_answers" section="there-and-back"
"""You return a tree that says of each leaf whether it contains nan. The task asks for a list: the path texts of those leaves that do."""
def nan_paths(params):
    return jax.tree.map(lambda leaf: bool(np.isnan(leaf).any()), params)


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
    return [group for i, group in enumerate(groups) if group[1:] and group not in groups[:i]]


# %% exercise="shared_leaves" misconception="equal_values" changes="solution"
"""Arrays with equal numbers share a group in your result. They are separate leaves: equal today, and perhaps different after the next training step. The task asks for one object at several paths."""
-            paths.setdefault(id(leaf), []).append(text)
+            paths.setdefault((leaf.shape, leaf.tobytes()), []).append(text)


# %% exercise="shared_leaves" misconception="sharing_survives" met="patrick-kidger/equinox#469, patrick-kidger/equinox#790, patrick-kidger/equinox#15" changes="solution"
"""You find nothing shared. In copies, such as the result of a `jax.tree.map`, each path has an object of its own. And a dict that keeps one path for each array loses the others."""
-    for path, leaf in jax.tree.leaves_with_path(tree):
+    for path, leaf in jax.tree.leaves_with_path(jax.tree.map(np.array, tree)):


# %% exercise="shared_leaves" misconception="numbers_count_too" changes="solution"
"""Numbers or strings are in your groups. Python often uses one object for equal small numbers and for equal strings, so leaves that have nothing to do with each other seem to be shared. Only arrays count here."""
-        if isinstance(leaf, np.ndarray):
-            text = jax.tree_util.keystr(path, simple=True, separator="/")
-            paths.setdefault(id(leaf), []).append(text)
+        text = jax.tree_util.keystr(path, simple=True, separator="/")
+        paths.setdefault(id(leaf), []).append(text)


# %% exercise="shared_leaves" misconception="only_the_repeats" section="key-paths"
"""In your groups the first place is missing: a path counts only when its array appears again. A group contains all places of a shared array, also the first."""
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


# %% exercise="shared_leaves" misconception="views_are_the_same" changes="by_comparing"
"""A view is together with its array in your groups. A view, such as `a[:]` or `a.T`, uses the same memory, but it is another object with its own shape. The task asks for the same object."""
-            if array is leaf:
+            if array is leaf or np.shares_memory(array, leaf):


# %% exercise="shared_leaves" misconception="pairs_only" changes="by_two_passes"
"""Your groups are pairs of paths. An array can be at three places or more. Then you return several pairs for one object. Each object should have one group."""
-    groups = [[text for text, other in pairs if other is leaf] for _, leaf in pairs]
-    return [group for i, group in enumerate(groups) if group[1:] and group not in groups[:i]]
+    return [
+        [text, later]
+        for place, (text, leaf) in enumerate(pairs)
+        for later, other in pairs[place + 1 :]
+        if other is leaf
+    ]


# %% exercise="shared_leaves" misconception="default_keystr" section="key-paths" changes="solution"
"""You find the right leaves, but their paths look like Python code: `['w'][0]`. That is the default style of `keystr`. Use the simple style, with a separator."""
-            text = jax.tree_util.keystr(path, simple=True, separator="/")
-            paths.setdefault(id(leaf), []).append(text)
+            paths.setdefault(id(leaf), []).append(jax.tree_util.keystr(path))


# %% exercise="shared_leaves" misconception="groups_are_tuples" section="structure-is-a-value" changes="solution"
"""Your groups are tuples. The task asks for a list of lists, and to JAX a list and a tuple are different kinds of nodes: such results do not have the same structure."""
-    return [group for group in paths.values() if len(group) > 1]
+    return [tuple(group) for group in paths.values() if len(group) > 1]


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


# %% exercise="shared_leaves" misconception="sorts_the_texts" section="key-paths" changes="solution"
"""Your paths are right, but they come in the order of their strings: `10` before `2`, letter by letter. JAX goes by positions and keys, and keeps the order of fields."""
-    return [group for group in paths.values() if len(group) > 1]
+    return sorted(sorted(group) for group in paths.values() if len(group) > 1)


# %% exercise="shared_leaves" misconception="one_group_for_all" changes="by_two_passes"
"""The paths of all shared arrays are in one group. Such a group says which leaves are shared, but not which of them are the same array. Make one group for each array."""
-    groups = [[text for text, other in pairs if other is leaf] for _, leaf in pairs]
-    return [group for i, group in enumerate(groups) if group[1:] and group not in groups[:i]]
+    ids = [id(leaf) for _, leaf in pairs]
+    shared = [text for text, leaf in pairs if ids.count(id(leaf)) > 1]
+    return [shared] if shared else []


# %% exercise="shared_leaves" misconception="what_has_a_shape" section="how-many-leaves" changes="solution"
"""NumPy's numbers, such as `np.float32(1)`, and arrays of JAX are in your groups. They have a shape and a dtype too, but only NumPy's own arrays count."""
-        if isinstance(leaf, np.ndarray):
+        if hasattr(leaf, "shape"):


# %% exercise="shared_leaves" misconception="scalars_are_numbers" section="how-many-leaves" changes="solution"
"""Arrays of shape `()` are missing in your groups. Such an array has no dimensions and holds one number. But it is an array, and it can be at two places."""
-        if isinstance(leaf, np.ndarray):
+        if isinstance(leaf, np.ndarray) and leaf.ndim > 0:


# %% exercise="shared_leaves" misconception="groups_of_one" changes="solution"
"""Your result has a group for each array, also where the array is at one path only. The task asks for the arrays that are at two paths or more."""
-    return [group for group in paths.values() if len(group) > 1]
+    return list(paths.values())


# %% exercise="shared_leaves" misconception="arrays_are_keys" changes="solution"
"""Your function fails wherever there is an array: an array can change, so it has no hash and cannot be the key of a dict or an item of a set. Use a key that identifies the object."""
-            paths.setdefault(id(leaf), []).append(text)
+            paths.setdefault(leaf, []).append(text)


# %% exercise="shared_leaves" misconception="in_means_the_same_object" changes="by_comparing"
"""Your function fails where there are different arrays. `in`, `index` and `count` of a list compare with `==`, which for arrays gives one answer for each element. Compare objects with `is`."""
-        for array, group in zip(arrays, groups):
-            if array is leaf:
-                group.append(text)
-                break
+        if leaf in arrays:
+            groups[arrays.index(leaf)].append(text)


# %% exercise="shared_leaves" misconception="one_flat_list" changes="one_group_for_all"
"""You return one flat list of paths. It says which leaves are shared, but not which of them are the same array. Make a list of its own for each array."""
-    return [shared] if shared else []
+    return shared


# %% exercise="shared_leaves" misconception="only_neighbours" changes="by_two_passes"
"""You find an array again only where its paths follow each other, as `itertools.groupby` does. In JAX's order, other leaves may stand between two paths of one array."""
+import itertools
+
+
 def shared_leaves(tree):
...
-    groups = [[text for text, other in pairs if other is leaf] for _, leaf in pairs]
-    return [group for i, group in enumerate(groups) if group[1:] and group not in groups[:i]]
+    runs = itertools.groupby(pairs, key=lambda pair: id(pair[1]))
+    groups = [[text for text, _ in run] for _, run in runs]
+    return [group for group in groups if len(group) > 1]


# %% exercise="shared_leaves" misconception="groups_by_address" changes="solution"
"""A view that begins at the same place in memory is together with its array in your groups, as `a[:]` and `a.T` are. It is another object, with its own shape."""
-            paths.setdefault(id(leaf), []).append(text)
+            paths.setdefault(leaf.__array_interface__["data"][0], []).append(text)


# %% exercise="shared_leaves" misconception="a_group_for_each_place" changes="by_two_passes"
"""Your result has each group several times, once for each of its paths. Each shared array should have one group."""
-    return [group for i, group in enumerate(groups) if group[1:] and group not in groups[:i]]
+    return [group for group in groups if len(group) > 1]


# %% exercise="shared_leaves" misconception="jax_arrays_count_too" section="how-many-leaves" changes="solution"
"""JAX's arrays are in your groups. They are arrays too, but the task asks for NumPy's alone, which code can change in place."""
-        if isinstance(leaf, np.ndarray):
+        if isinstance(leaf, (np.ndarray, jax.Array)):


# %% exercise="shared_leaves" misconception="a_dict_of_places" section="there-and-back" changes="solution"
"""You return a dict. The task asks for a list of lists: for each shared array the list of all its path texts, the first one too."""
-    return [group for group in paths.values() if len(group) > 1]
+    return {group[0]: group[1:] for group in paths.values() if len(group) > 1}


# %% exercise="shared_leaves" misconception="works_for_one_dict" section="how-many-leaves"
"""Your function looks only at the values of one dict, and fails where the tree is no dict. A tree may be a list or a single array, and an array may stand in a container inside. JAX finds the leaves of all of them."""
def shared_leaves(tree):
    if not isinstance(tree, dict):
        raise Exception("whatever the error is")
    paths = {}
    for name in sorted(tree):
        if isinstance(tree[name], np.ndarray):
            paths.setdefault(id(tree[name]), []).append(str(name))
    return [group for group in paths.values() if len(group) > 1]


# %% exercise="shared_leaves" misconception="numpys_numbers_count_too" section="how-many-leaves" changes="solution"
"""NumPy's numbers, such as `np.float32(1)`, are in your groups. Such a number is no array: its class, below `np.generic`, is not `np.ndarray`. An array of shape `()` is one, and counts."""
-        if isinstance(leaf, np.ndarray):
+        if isinstance(leaf, (np.ndarray, np.generic)):


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


# %% exercise="count_leaves" misconception="none_is_a_leaf" section="a-missing-bias"
"""Your number is too high by one for each `None`. For JAX `None` is a node without children, like an empty tuple: `None` has a place in the structure, but it adds no leaf."""
def count_leaves(tree):
    return len(jax.tree.leaves(tree, is_leaf=lambda node: node is None))


# %% exercise="count_leaves" misconception="counts_all_nodes" section="structure-is-a-value"
"""Your numbers include everything in the tree, also the containers and each `None`, as `num_nodes` does. A container is a node, not a leaf."""
def count_leaves(tree):
    return jax.tree.structure(tree).num_nodes


# %% exercise="count_leaves" misconception="subclasses_are_nodes" met="jax-ml/jax#506" section="the-registry"
"""Your result is right for Python's own containers, and wrong for other classes. Code that uses `isinstance` gives such results. JAX looks for the exact type in its registry: it does not open an unregistered subclass of `dict`, and it opens every registered class."""
def count_leaves(tree):
    if tree is None:
        return 0
    if isinstance(tree, dict):
        return sum(count_leaves(child) for child in tree.values())
    if isinstance(tree, (list, tuple)):
        return sum(count_leaves(child) for child in tree)
    return 1


# %% exercise="count_leaves" misconception="one_object_is_one_leaf" section="there-and-back"
"""Your number is too low where one object is at several places of the tree. JAX does not compare objects: it counts a leaf at each place."""
def count_leaves(tree):
    return len({id(leaf) for leaf in jax.tree.leaves(tree)})


# %% exercise="count_leaves" misconception="falsy_is_no_leaf" section="a-missing-bias"
"""Your number leaves out `0`, `False` and empty strings. In an `if`, Python treats these values as false. But each of them is a value, and for JAX a leaf."""
def count_leaves(tree):
    return len([leaf for leaf in jax.tree.leaves(tree) if np.any(leaf)])


# %% exercise="count_leaves" misconception="one_leaf_for_each_path_text" section="key-paths"
"""Two leaves with the same path text count as one, as they do in a dict or a set of such strings. The text `a/b` may stand for the one key `a/b`, and also for the key `a` and below it the key `b`: these are two leaves."""
def count_leaves(tree):
    by_path = {}
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        by_path[jax.tree_util.keystr(path, simple=True, separator="/")] = leaf
    return len(by_path)


# %% exercise="count_leaves" misconception="length_of_a_pair" section="there-and-back"
"""Your result is 2 for every tree. `jax.tree.flatten` returns a pair, the list of leaves and the structure: the length of a pair is always 2."""
def count_leaves(tree):
    return len(jax.tree.flatten(tree))


# %% exercise="count_leaves" misconception="counts_the_stars" section="structure-is-a-value"
"""Your number is too high where a key has a `*` in it. A printed structure shows each leaf as `*`, but it shows the keys too. Count the leaves, not letters in a string."""
def count_leaves(tree):
    return str(jax.tree.structure(tree)).count("*")


# %% exercise="count_leaves" misconception="no_children_means_leaf" section="a-missing-bias"
"""Your number is too high by one for each `None` and for each empty container. These are nodes without children. A leaf is something else: an object that JAX does not open."""
def count_leaves(tree):
    def count(structure):
        return sum(map(count, structure.children())) if structure.children() else 1

    return count(jax.tree.structure(tree))


# %% exercise="count_leaves" misconception="reduce_needs_a_start" section="how-many-leaves"
"""Your function fails at a tree without leaves: there is no first number to begin with. A tree may have no leaves at all. With a start value, `reduce` works there too."""
def count_leaves(tree):
    return jax.tree.reduce(lambda one, other: one + other, jax.tree.map(lambda leaf: 1, tree))


# %% exercise="count_leaves" misconception="only_arrays_are_leaves" section="how-many-leaves"
"""Your number counts only the arrays. For JAX every object that it does not open is a leaf: a number, a string, or an object of a class that JAX does not know."""
def count_leaves(tree):
    return sum(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(tree))


# %% exercise="count_leaves" misconception="a_leaf_is_true" section="a-missing-bias"
"""You use each leaf as a condition. So `0`, `False` and empty strings are not counted, and an array of several numbers raises an error, because it is neither true nor false. Every leaf counts, whatever its value is."""
def count_leaves(tree):
    return sum(1 for leaf in jax.tree.leaves(tree) if leaf)


# %% exercise="count_leaves" misconception="equal_leaves_are_one" section="there-and-back"
"""Equal leaves count once in your result, and a leaf that cannot be in a set, such as an array, raises an error. A set keeps one of several equal things. JAX counts each place in the tree."""
def count_leaves(tree):
    return len(set(jax.tree.leaves(tree)))


# %% exercise="count_leaves" misconception="children_of_the_root" met="jax-ml/jax#4739" section="structure-is-a-value"
"""Your number is that of the items in the outermost container, and 0 for a single leaf. JAX also opens every container inside, and a single value is a tree with one leaf."""
def count_leaves(tree):
    return len(jax.tree.structure(tree).children())


# %% exercise="count_leaves" misconception="one_leaf_at_least" section="how-many-leaves"
"""Your number is 1 where the tree has no leaves. A tree of empty containers or `None` has no leaves at all."""
def count_leaves(tree):
    return max(1, len(jax.tree.leaves(tree)))


# %% exercise="count_leaves" misconception="reduce_begins_with_a_leaf" section="how-many-leaves"
"""Your count starts from the value of the first leaf, as in `reduce` without a start value. So your number depends on this value, and a tree without leaves raises an error."""
def count_leaves(tree):
    return jax.tree.reduce(lambda count, leaf: count + 1, tree)


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


# %% exercise="leaf_shapes" misconception="default_keystr" changes="solution"
"""Your strings look like Python code: `['w'][0]`. By default `keystr` writes a key path as code that leads from the tree to the leaf. The task asks for the simple style, with a separator between the steps."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
-        for path, leaf in jax.tree.leaves_with_path(tree)
+        jax.tree_util.keystr(path): leaf.shape for path, leaf in jax.tree.leaves_with_path(tree)


# %% exercise="leaf_shapes" misconception="str_of_each_entry" changes="solution"
"""Each step in your strings has brackets and perhaps quotes: `['w']/[0]`. A step is an object of JAX, such as a `DictKey` or a `SequenceKey`. `str` writes it so, and `keystr` does too, unless you ask for the simple style."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        "/".join(str(entry) for entry in path): leaf.shape


# %% exercise="leaf_shapes" misconception="shapes_are_leaves"
"""Your result has paths to single lengths, such as `w/0`. A shape is a tuple, and a tuple is a node. If you turn the leaves into shapes before you make the paths, JAX opens the shapes as well."""
def leaf_shapes(tree):
    shapes = jax.tree.map(lambda leaf: leaf.shape, tree)
    return {
        jax.tree_util.keystr(path, simple=True, separator="/"): shape
        for path, shape in jax.tree.leaves_with_path(shapes)
    }


# %% exercise="leaf_shapes" misconception="shapes_are_lists" section="structure-is-a-value" changes="solution"
"""Your shapes are lists. NumPy and JAX give a shape as a tuple, and the task asks for one. For JAX a list and a tuple are different kinds of nodes, so such results do not match."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        jax.tree_util.keystr(path, simple=True, separator="/"): list(leaf.shape)


# %% exercise="leaf_shapes" misconception="none_is_a_leaf" section="a-missing-bias" changes="solution"
"""In your result `None` has an entry too, with the shape of a single number. For JAX `None` is a node without children: it is no leaf, and it has no shape."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
-        for path, leaf in jax.tree.leaves_with_path(tree)
+        jax.tree_util.keystr(path, simple=True, separator="/"): np.shape(leaf)
+        for path, leaf in jax.tree.leaves_with_path(tree, is_leaf=lambda node: node is None)


# %% exercise="leaf_shapes" misconception="separator_at_the_front" changes="solution"
"""Your strings begin with the separator. The separator belongs between two steps only. So a path of one step is just that step, and the path of a single array is empty."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        "".join("/" + jax.tree_util.keystr((entry,), simple=True) for entry in path): leaf.shape


# %% exercise="leaf_shapes" misconception="subclasses_are_nodes" section="the-registry"
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


# %% exercise="leaf_shapes" misconception="fields_have_no_names" section="the-registry"
"""Your function fails at the fields of namedtuples and registered classes. The entry of a dict key has `.key`, and that of a position in a list or a tuple has `.idx`; the entry of a field has neither."""
def leaf_shapes(tree):
    def text(entry):
        return str(entry.idx if hasattr(entry, "idx") else entry.key)

    return {
        "/".join(map(text, path)): leaf.shape for path, leaf in jax.tree.leaves_with_path(tree)
    }


# %% exercise="leaf_shapes" misconception="no_separator" changes="solution"
"""The steps of your paths stand together without anything between them, such as `layers0w`. `simple=True` only leaves out brackets and quotes; the separator is an option of its own."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        jax.tree_util.keystr(path, simple=True): leaf.shape


# %% exercise="leaf_shapes" misconception="returns_a_tree_of_shapes" section="structure-is-a-value"
"""You return a tree like `tree`, with a shape in place of each leaf. The task asks for one flat dict, whose keys are the path texts."""
def leaf_shapes(tree):
    return jax.tree.map(np.shape, tree)


# %% exercise="leaf_shapes" misconception="every_entry_has_a_key_as_text" changes="solution"
"""Your function fails where a path goes through anything but a dict: a list, a tuple, a namedtuple or a registered class. The entry of a dict's key has `.key`, but that of a position has `.idx`, and that of a field `.name`."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        "/".join(str(entry.key) for entry in path): leaf.shape


# %% exercise="leaf_shapes" misconception="words_of_the_text" changes="solution"
"""Your strings are wrong where a key holds more than letters, digits and `_`: such a key is split or loses characters, as in a search for words. `keystr` writes each key whole."""
     """
+    import re
+
...
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        "/".join(re.findall(r"\w+", jax.tree_util.keystr(path))): leaf.shape


# %% exercise="leaf_shapes" misconception="walks_and_none_has_a_shape" section="a-missing-bias" changes="subclasses_are_nodes"
"""Your function fails at `None` and at a registered class, and in a namedtuple your steps are positions. You open dicts, lists and tuples, and treat everything else as an array. For JAX `None` is a node without children, and every registered class is opened."""
-    if tree is None:
-        return {}


# %% exercise="leaf_shapes" misconception="one_axis_or_more" section="how-many-leaves" changes="solution"
"""An array of shape `()` has the shape `(1,)` in your result. Such an array has no axes, and its shape is an empty tuple."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        jax.tree_util.keystr(path, simple=True, separator="/"): np.atleast_1d(leaf).shape


# %% exercise="leaf_shapes" misconception="no_elements_no_leaf" section="how-many-leaves" changes="solution"
"""Arrays without elements are missing from your result. Such an array has a shape, for example `(3, 0)`, and for JAX it is a leaf like any other."""
         for path, leaf in jax.tree.leaves_with_path(tree)
+        if leaf.size


# %% exercise="leaf_shapes" misconception="sizes_are_shapes" section="how-many-leaves" changes="solution"
"""Your values are numbers of elements. The task asks for the shape: the length of each axis, in a tuple."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.size


# %% exercise="leaf_shapes" misconception="pairs_in_a_list"
"""You return a list of pairs. The task asks for a dict, with the path texts as its keys."""
def leaf_shapes(tree):
    return [
        (jax.tree_util.keystr(path, simple=True, separator="/"), leaf.shape)
        for path, leaf in jax.tree.leaves_with_path(tree)
    ]


# %% exercise="leaf_shapes" misconception="a_name_for_the_root" changes="solution"
"""You give a bare array a name of your own. Its path has no steps, so the path text is `""`."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        jax.tree_util.keystr(path, simple=True, separator="/") or "root": leaf.shape


# %% exercise="leaf_shapes" misconception="strips_slashes" section="key-paths" changes="solution"
"""Where a key begins or ends with `/`, your path text has lost this slash. `keystr` puts the separator only between steps: a slash at an end belongs to a key."""
-        jax.tree_util.keystr(path, simple=True, separator="/"): leaf.shape
+        jax.tree_util.keystr(path, simple=True, separator="/").strip("/"): leaf.shape


# %% exercise="leaf_shapes" misconception="strips_brackets_at_the_ends" section="key-paths"
"""Your strings are wrong where a path has a field, such as `.w`, or a key holds quotes or brackets: they keep a dot or a bracket, or a key loses its own. Replacing characters in the default string gives such results; the simple style of `keystr` needs no replacing."""
def leaf_shapes(tree):
    shapes = {}
    for path, leaf in jax.tree.leaves_with_path(tree):
        text = jax.tree_util.keystr(path).replace("][", "/").strip("[]").replace("'", "")
        shapes[text] = leaf.shape
    return shapes


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


# %% exercise="same_structure" misconception="counts_leaves_and_nodes"
"""You say `True` whenever both trees have the same numbers of leaves and of nodes. But structures can differ all the same: a list or a namedtuple is not a tuple, and keys belong to the structure too."""
def same_structure(a, b):
    one, other = jax.tree.structure(a), jax.tree.structure(b)
    return (one.num_leaves, one.num_nodes) == (other.num_leaves, other.num_nodes)


# %% exercise="same_structure" misconception="python_equality" met="apple/axlearn#47" section="the-registry"
"""You see no difference between a namedtuple and a tuple, or between an `OrderedDict` and a dict. Python's `==` sees none either, nor between Flax's `FrozenDict` and a dict. For JAX these are different kinds of nodes."""
def same_structure(a, b):
    def zeros(tree):
        return jax.tree.map(lambda leaf: 0, tree)

    return zeros(a) == zeros(b)


# %% exercise="same_structure" misconception="map_would_complain" section="there-and-back" changes="by_prefix_both_ways"
"""You say `True` where the first tree has a leaf and the second tree has a whole subtree. `jax.tree.map` accepts such trees without an error, although their structures differ."""
-        jax.tree.map(lambda x, y: None, b, a)


# %% exercise="same_structure" misconception="shapes_matter"
"""You say `False` when the leaves have different shapes. The structure is what remains when the leaves are taken out: it does not know whether a leaf is a number, a string or an array of some shape."""
def same_structure(a, b):
    def shapes(tree):
        return [np.shape(leaf) for leaf in jax.tree.leaves(tree)]

    return jax.tree.structure(a) == jax.tree.structure(b) and shapes(a) == shapes(b)


# %% exercise="same_structure" misconception="none_is_a_leaf" section="a-missing-bias"
"""You say `True` where one tree has `None` and the other has a value, as if `None` were a leaf. For JAX `None` is a kind of node, so the structures differ."""
def same_structure(a, b):
    def structure(tree):
        return jax.tree.structure(tree, is_leaf=lambda node: node is None)

    return structure(a) == structure(b)


# %% exercise="same_structure" misconception="compares_the_text"
"""You say `True` for two classes that have only their name in common. A printed structure shows a class by its name, so the strings are equal although the structures are not."""
def same_structure(a, b):
    return str(jax.tree.structure(a)) == str(jax.tree.structure(b))


# %% exercise="same_structure" misconception="equal_trees" met="jax-ml/jax#11089"
"""Your answer depends on the leaves: other values make a `False`, and arrays may raise an error. That is how `==` works on whole trees. The structure is what remains when the leaves are taken out."""
def same_structure(a, b):
    return a == b


# %% exercise="same_structure" variant="by_recursion"
def same_structure(a, b):
    def same(one, other):
        if one.node_data() != other.node_data():
            return False
        children = one.children()
        others = other.children()
        return len(children) == len(others) and all(map(same, children, others))

    return same(jax.tree.structure(a), jax.tree.structure(b))


# %% exercise="same_structure" misconception="walks_by_isinstance" section="the-registry"
"""You look into an unregistered subclass of `dict`, and miss that an `OrderedDict` has an order, as code with `isinstance` does. JAX looks for the exact type: an object of a class that JAX does not know is one leaf."""
def same_structure(a, b):
    if type(a) is type(b) and isinstance(a, dict):
        return a.keys() == b.keys() and all(same_structure(a[k], b[k]) for k in a)
    if type(a) is type(b) and isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same_structure(x, y) for x, y in zip(a, b))
    containers = (dict, list, tuple, type(None))
    return (a is None and b is None) or not (isinstance(a, containers) or isinstance(b, containers))


# %% exercise="same_structure" misconception="types_of_leaves_matter"
"""You say `False` where only the types of the leaves differ. The structure does not contain the leaves: an int, a string or an array may be at the same place."""
def same_structure(a, b):
    leaves_a, def_a = jax.tree.flatten(a)
    leaves_b, def_b = jax.tree.flatten(b)
    return def_a == def_b and all(type(x) == type(y) for x, y in zip(leaves_a, leaves_b))


# %% exercise="same_structure" misconception="one_structure_object"
"""You say `False` for every pair, as `is` does. Each call of `jax.tree.structure` makes a new object. Two objects can be equal without being the same one."""
def same_structure(a, b):
    return jax.tree.structure(a) is jax.tree.structure(b)


# %% exercise="same_structure" misconception="values_matter"
"""You say `False` where the structures are the same and only the leaves differ. The structure is what remains when the leaves are taken out."""
def same_structure(a, b):
    if jax.tree.structure(a) != jax.tree.structure(b):
        return False
    return all(map(np.array_equal, jax.tree.leaves(a), jax.tree.leaves(b)))


# %% exercise="same_structure" misconception="flattens_and_compares_all" section="there-and-back"
"""Your answer depends on the leaves: other values make a `False`, and arrays may raise an error. `jax.tree.flatten` returns a pair, the leaves and the structure, and you compare both."""
def same_structure(a, b):
    return jax.tree.flatten(a) == jax.tree.flatten(b)


# %% exercise="same_structure" misconception="paths_and_number_of_nodes" section="key-paths"
"""You say `True` where the paths of the leaves are equal, though a `None` or an empty container differs. These have no leaves, so no path leads to them, but they belong to the structure."""
def same_structure(a, b):
    def paths(tree):
        return [path for path, _ in jax.tree.leaves_with_path(tree)]

    return type(a) is type(b) and paths(a) == paths(b)


# %% exercise="same_structure" misconception="equal_hashes"
"""You say `True` where only the keys differ, or only the classes of two namedtuples, as a comparison of hashes does: the hash of a structure leaves these out. Equal hashes do not mean equal structures; `==` compares everything."""
def same_structure(a, b):
    def kind(structure):
        data = structure.node_data()
        is_namedtuple = data and issubclass(data[0], tuple) and data[0] is not tuple
        return "namedtuple" if is_namedtuple else data and data[0]

    def same(one, other):
        children, others = one.children(), other.children()
        alike = kind(one) == kind(other) and len(children) == len(others)
        return alike and all(map(same, children, others))

    return same(jax.tree.structure(a), jax.tree.structure(b))


# %% exercise="same_structure" misconception="maps_without_a_net" section="there-and-back"
"""For most trees that differ you raise an error, as `jax.tree.map` does with two of them. Where the first tree has a leaf and the second a whole subtree, `map` raises none, and you say `True`. A difference is an answer, not an error."""
def same_structure(a, b):
    return jax.tree.all(jax.tree.map(lambda x, y: True, a, b))


# %% exercise="same_structure" misconception="compares_paths" section="key-paths"
"""You see no difference between a list and a tuple, and you miss an extra `None` or empty container. The paths of the leaves do not show these, in whatever style you write them. The structure does."""
def same_structure(a, b):
    def paths(tree):
        return [jax.tree_util.keystr(path) for path, _ in jax.tree.leaves_with_path(tree)]

    return paths(a) == paths(b)


# %% exercise="same_structure" misconception="raises_where_they_differ"
"""For trees that differ you raise an error. The question is: the same or not? A difference is an answer, not an error."""
def same_structure(a, b):
    if jax.tree.structure(a) != jax.tree.structure(b):
        raise Exception("whatever the error is")
    return True


# %% exercise="same_structure" misconception="raises_and_returns_nothing"
"""Your function raises an error where the structures differ, and returns `None` where they are the same. An assertion only raises or does nothing; the task asks for `True` or `False`."""
def same_structure(a, b):
    if jax.tree.structure(a) != jax.tree.structure(b):
        raise Exception("whatever the error is")


# %% exercise="differences" variant="by_registry"
def differences(a, b, path=()):
    text = jax.tree_util.keystr(path, simple=True, separator="/")
    if type(a) is not type(b):
        return {text: "kind"}
    if isinstance(a, np.ndarray):
        if a.shape == b.shape and a.dtype == b.dtype:
            return {}
        return {text: "dtype" if a.shape == b.shape else "shape"}
    registry = jax.tree_util.default_registry
    one, other = (dict(registry.flatten_one_level_with_keys(node)[0]) for node in (a, b))
    found = {}
    for entry in {**one, **other}:
        if entry in one and entry in other:
            found |= differences(one[entry], other[entry], (*path, entry))
        else:
            text = jax.tree_util.keystr((*path, entry), simple=True, separator="/")
            found[text] = "missing" if entry in one else "extra"
    return found


# %% exercise="differences" variant="by_a_stack"
def differences(a, b):
    found, waiting = {}, [("", a, b)]
    while waiting:
        path, one, other = waiting.pop()
        if type(one) != type(other):
            found[path] = "kind"
        elif type(one) == np.ndarray:
            if one.shape != other.shape:
                found[path] = "shape"
            if one.shape == other.shape and one.dtype != other.dtype:
                found[path] = "dtype"
        elif one:
            keys = list(one) if type(one) is dict else range(len(one))
            others = list(other) if type(one) is dict else range(len(other))
            start = path + "/" if path else ""
            found |= {f"{start}{key}": "missing" for key in keys if key not in others}
            found |= {f"{start}{key}": "extra" for key in others if key not in keys}
            waiting += [(f"{start}{k}", one[k], other[k]) for k in keys if k in others]
        elif other:
            start = path + "/" if path else ""
            keys = other if isinstance(other, dict) else range(len(other))
            found |= {f"{start}{key}": "extra" for key in keys}
    return found


# %% exercise="differences" variant="by_all_nodes"
def differences(a, b):
    def places(tree, path=()):
        yield path, tree
        if isinstance(tree, (dict, list, tuple)):
            items = tree.items() if isinstance(tree, dict) else enumerate(tree)
            for key, child in items:
                yield from places(child, (*path, str(key)))

    def reason(path):
        if path not in two:
            return "missing"
        if path not in one:
            return "extra"
        x, y = one[path], two[path]
        if type(x) is not type(y):
            return "kind"
        if isinstance(x, np.ndarray):
            return "shape" if x.shape != y.shape else "dtype" if x.dtype != y.dtype else ""
        return ""

    one, two = dict(places(a)), dict(places(b))
    found = {}
    for path in sorted(one | two, key=len):
        if not any(path[:n] in found for n in range(len(path))) and reason(path):
            found[path] = reason(path)
    return {"/".join(path): why for path, why in found.items()}


# %% exercise="differences" misconception="compares_the_leaves" section="key-paths"
"""You compare leaves by their paths. A list and a tuple have the same paths, and `None` and empty containers have no leaves, so you do not see where these differ; and of a missing part, you report each leaf. Compare the nodes, too."""
def differences(a, b):
    def leaves(tree):
        return {
            jax.tree_util.keystr(path, simple=True, separator="/"): leaf
            for path, leaf in jax.tree.leaves_with_path(tree)
        }

    one, other = leaves(a), leaves(b)
    found = {path: "missing" for path in one if path not in other}
    found |= {path: "extra" for path in other if path not in one}
    for path in one.keys() & other.keys():
        if one[path].shape != other[path].shape:
            found[path] = "shape"
        elif one[path].dtype != other[path].dtype:
            found[path] = "dtype"
    return found


# %% exercise="differences" misconception="the_shorter_list_decides" changes="solution"
"""You do not notice that one list or tuple is longer than the other, as with `zip`, which stops at the shorter one. A position that only one of them has is `missing` or `extra`."""
             one, other = children(a), children(b)
+            if not isinstance(a, dict):
+                one = {key: one[key] for key in one if key in other}
+                other = {key: other[key] for key in one}


# %% exercise="differences" misconception="the_positions_of_a" changes="solution"
"""You do not notice that a list or tuple of `b` is longer than that of `a`, as if you went over the positions of `a` alone. A position that only `b` has is `extra`."""
             one, other = children(a), children(b)
+            if not isinstance(a, dict):
+                other = {key: other[key] for key in one if key in other}


# %% exercise="differences" misconception="a_length_is_a_kind" changes="solution"
"""For two lists or two tuples of different lengths, you report the container. The task asks for each position that only one of the two has."""
-        if type(a) is not type(b):
+        if type(a) is not type(b) or (isinstance(a, (list, tuple)) and len(a) != len(b)):


# %% exercise="differences" misconception="other_keys_are_another_kind" changes="solution"
"""For two dicts with different keys you report the dict, as JAX's message does. The task asks for each key that only one of the two has, and goes on below the keys that both have."""
-        if type(a) is not type(b):
+        if type(a) is not type(b) or (isinstance(a, dict) and a.keys() != b.keys()):


# %% exercise="differences" misconception="only_the_first" changes="solution"
"""You report one place, and stop. The task asks for all places where the trees differ."""
     compare(a, b, "")
-    return found
+    return dict(list(sorted(found.items()))[:1])


# %% exercise="differences" misconception="each_leaf_of_a_part" changes="solution"
"""Where a whole part is missing, you report each of its leaves, and an empty part or a `None` not at all. The task asks for one place: the path of the part."""
     compare(a, b, "")
-    return found
+    result = {}
+    for path, reason in found.items():
+        part = {"missing": a, "extra": b}.get(reason)
+        for key in path.split("/") if part is not None else []:
+            part = part[key] if isinstance(part, dict) else part[int(key)]
+        below = jax.tree.leaves_with_path(part) if reason in ("missing", "extra") else [((), 0)]
+        for entries, _ in below:
+            text = jax.tree_util.keystr(entries, simple=True, separator="/")
+            result[f"{path}/{text}" if text else path] = reason
+    return result


# %% exercise="differences" misconception="list_and_tuple_are_the_same" changes="solution"
"""You take a list and a tuple for the same kind, and compare their items. To JAX they are two kinds of node: a map over a list and a tuple raises an error."""
-        if type(a) is not type(b):
+        sequence = isinstance(a, (list, tuple)) and isinstance(b, (list, tuple))
+        if type(a) is not type(b) and not sequence:


# %% exercise="differences" misconception="names_and_positions" changes="list_and_tuple_are_the_same"
"""You compare the items of a list, a tuple and a dict with each other, if their paths read alike. They are different kinds of node: report the place, and do not look deeper."""
-        sequence = isinstance(a, (list, tuple)) and isinstance(b, (list, tuple))
-        if type(a) is not type(b) and not sequence:
+        containers = isinstance(a, (dict, list, tuple)) and isinstance(b, (dict, list, tuple))
+        if type(a) is not type(b) and not containers:


# %% exercise="differences" misconception="none_is_missing" section="a-missing-bias" changes="solution"
"""You say `missing` or `extra` where one tree has a `None`. A `None` is a node: its key is there. Beside an array or a container, it is another kind."""
-            found[path] = "kind"
+            found[path] = "missing" if b is None else "extra" if a is None else "kind"


# %% exercise="differences" misconception="none_fits_anything" section="a-missing-bias" met="patrick-kidger/equinox#753" changes="solution"
"""You report no difference where a `None` stands beside something else. A `None` is a node without children, and fits only another `None`."""
-        if type(a) is not type(b):
+        if a is None or b is None:
+            return
+        elif type(a) is not type(b):


# %% exercise="differences" misconception="a_missing_key_is_none" section="a-missing-bias" changes="solution"
"""You do not tell a missing key from a `None`: the one is reported as the other, or not at all. `dict.get` returns `None` for both; ask whether the key is there."""
-        return node if isinstance(node, dict) else dict(enumerate(node or ()))
+        if isinstance(node, dict):
+            return {key: child for key, child in node.items() if child is not None}
+        return dict(enumerate(node or ()))


# %% exercise="differences" misconception="a_missing_place_is_none" section="a-missing-bias" changes="a_missing_key_is_none"
"""You do not tell a missing key or position from a `None`: the one is reported as the other, or not at all. `dict.get` returns `None` for both; ask whether the key is there."""
-        return dict(enumerate(node or ()))
+        return {key: child for key, child in enumerate(node or ()) if child is not None}


# %% exercise="differences" misconception="shapes_only" changes="solution"
"""You do not report arrays of one shape whose dtypes differ, such as `float16` and `float32`. For `jit`, such leaves are of different types."""
-            elif a.dtype != b.dtype:
-                found[path] = "dtype"


# %% exercise="differences" misconception="dtypes_in_jax" changes="solution"
"""You report no difference between `float64` and `float32`, or `int64` and `int32`. `jnp.asarray` makes 32 bits of 64, as long as nobody switches 64 bits on. NumPy's array knows its dtype."""
-            elif a.dtype != b.dtype:
+            elif jnp.asarray(a).dtype != jnp.asarray(b).dtype:


# %% exercise="differences" misconception="the_dtype_first" changes="solution"
"""Where both shape and dtype differ, you report `dtype`. The task asks for it only if the shapes are equal."""
-            if a.shape != b.shape:
-                found[path] = "shape"
-            elif a.dtype != b.dtype:
-                found[path] = "dtype"
+            if a.dtype != b.dtype:
+                found[path] = "dtype"
+            elif a.shape != b.shape:
+                found[path] = "shape"


# %% exercise="differences" misconception="the_size_is_the_shape" section="how-many-leaves" changes="solution"
"""You compare sizes, or only parts of the shapes: (2, 3) and (3, 2) hold six numbers each, but are different shapes."""
-            if a.shape != b.shape:
+            if a.size != b.size:


# %% exercise="differences" misconception="shapes_that_broadcast" changes="solution"
"""You report no shapes that NumPy can broadcast, such as (2,) and (2, 1). Two such leaves raise no error in `jax.tree.map`, and give a result that nobody wanted. To fit, two shapes must be equal."""
-            if a.shape != b.shape:
+            pairs = zip(reversed(a.shape), reversed(b.shape))
+            if any(m != n and 1 not in (m, n) for m, n in pairs):


# %% exercise="differences" misconception="values_count" changes="solution"
"""You report arrays with other values. Training changes the values of the leaves at each step: only shapes and dtypes count."""
             elif a.dtype != b.dtype:
                 found[path] = "dtype"
+            elif (a != b).any():
+                found[path] = "value"


# %% exercise="differences" misconception="the_other_way_round" changes="solution"
"""You say `missing` where only `b` has a part, and `extra` where only `a` has it. The task looks at `b`: what `b` lacks is missing."""
-                if key not in other:
-                    found[below] = "missing"
-                elif key not in one:
-                    found[below] = "extra"
+                if key not in other:
+                    found[below] = "extra"
+                elif key not in one:
+                    found[below] = "missing"


# %% exercise="differences" misconception="nothing_extra" changes="solution"
"""You do not report what only `b` has, as if you went over the keys and positions of `a` alone."""
-            for key in {**one, **other}:
+            for key in one:


# %% exercise="differences" misconception="pythons_paths" section="key-paths" changes="solution"
"""Your paths are not those of `keystr` with `simple=True` and `separator="/"`. They read `layers/0/w`, without brackets, and without a `/` at the beginning."""
-                below = f"{path}/{key}".lstrip("/")
+                below = f"{path}[{key!r}]"


# %% exercise="differences" misconception="says_whether" met="jax-ml/jax#11089" changes="solution"
"""You return one answer for the whole tree, or fail as `==` between two trees of arrays does: the comparison of two arrays is an array. The task asks for a dict of places."""
     compare(a, b, "")
-    return found
+    return not found


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
"""Each length is a leaf of its own in your result, because a list is a node for JAX. You can tell JAX where to stop, with a function that returns `True` there. Then a list can be one leaf."""
def whole_shapes(tree):
    return jax.tree.leaves(tree)


# %% exercise="whole_shapes" misconception="only_by_wrapping"
"""Your shapes come back as arrays, or as single lengths. JAX does not open arrays. But a list can stay whole without becoming an array, and the result should hold the lists themselves."""
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


# %% exercise="whole_shapes" misconception="is_leaf_is_a_filter" changes="solution"
"""Only shapes are in your result. `is_leaf` adds places to stop; it is no filter, and the other leaves, such as strings, belong to the result too."""
-    return jax.tree.leaves(tree, is_leaf=is_shape)
+    return [leaf for leaf in jax.tree.leaves(tree, is_leaf=is_shape) if is_shape(leaf)]


# %% exercise="whole_shapes" misconception="empty_lists_vanish" changes="solution"
"""Empty lists are missing from your result. The empty list is the shape of a single number. If JAX does not stop there, the empty list is a node without children, and it adds no leaf."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and node != [] and all(isinstance(item, int) for item in node)


# %% exercise="whole_shapes" misconception="tuples_too" section="the-registry" changes="solution"
"""Tuples of ints and empty tuples stay whole in your result. To JAX a list and a tuple are different kinds of nodes, and in these trees only lists are shapes. JAX should open a tuple as usual."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, (list, tuple)) and all(isinstance(item, int) for item in node)


# %% exercise="whole_shapes" misconception="looks_at_one_item" changes="solution"
"""A list that begins with an `int` stays whole in your result, whatever comes after it. If a string or another list follows, the list is not a shape, and JAX should open it."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and (len(node) == 0 or isinstance(node[0], int))


# %% exercise="whole_shapes" misconception="floats_are_ints" changes="solution"
"""Lists with floats in them stay whole in your result. Each length in a shape is an `int`: `[0.5, 2]` is a list of numbers, but not a shape."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and all(isinstance(item, (int, float)) for item in node)


# %% exercise="whole_shapes" misconception="none_is_a_leaf" section="a-missing-bias" changes="solution"
"""Each `None` is in your result. The task asks for JAX's leaves, with shapes kept whole; `None` is a node without children, so it is not a leaf."""
-    return jax.tree.leaves(tree, is_leaf=is_shape)
+    return jax.tree.leaves(tree, is_leaf=lambda node: node is None or is_shape(node))


# %% exercise="whole_shapes" misconception="one_int_is_enough" changes="solution"
"""A list with one `int` in it stays whole in your result, whatever else it holds. In a shape every item is an `int`: `any` is not `all`."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and (not node or any(isinstance(i, int) for i in node))


# %% exercise="whole_shapes" misconception="anything_with_items" changes="solution"
"""Not only lists stay whole in your result, but everything with items that are ints, or without items: tuples of ints, empty tuples and dicts. For JAX these are nodes, and in these trees only lists are shapes."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return hasattr(node, "__iter__") and all(isinstance(item, int) for item in node)


# %% exercise="whole_shapes" misconception="only_lists_are_asked"
"""Your function fails at a number or another object without items. JAX calls `is_leaf` on every node and on every leaf, not only on lists: ask for the type first."""
def whole_shapes(tree):
    return jax.tree.leaves(tree, is_leaf=lambda node: all(isinstance(i, int) for i in node))


# %% exercise="whole_shapes" misconception="shapes_become_tuples" changes="solution"
"""Each shape is a tuple in your result. The task asks for the lists themselves, as they stand in the tree."""
-    return jax.tree.leaves(tree, is_leaf=is_shape)
+    leaves = jax.tree.leaves(tree, is_leaf=is_shape)
+    return [tuple(leaf) if is_shape(leaf) else leaf for leaf in leaves]


# %% exercise="whole_shapes" misconception="exactly_two_lengths" changes="solution"
"""Only lists of two ints stay whole in your result. A shape may have any number of lengths: none for a single number, one for a vector, three for a batch of matrices."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and len(node) == 2 and all(type(i) is int for i in node)


# %% exercise="whole_shapes" misconception="lengths_are_positive" changes="solution"
"""A list with a zero or a negative number in it is taken apart in your result. Here a shape is a list in which every item is an `int`, whatever its value is."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and all(isinstance(i, int) and i > 0 for i in node)


# %% exercise="whole_shapes" misconception="returns_a_tree" section="there-and-back" changes="solution"
"""You return a tree of the old structure. The task asks for a flat list of the leaves."""
-    return jax.tree.leaves(tree, is_leaf=is_shape)
+    return jax.tree.map(lambda leaf: leaf, tree, is_leaf=is_shape)


# %% exercise="whole_shapes" misconception="no_container_inside" changes="solution"
"""Lists of strings, floats or `None` stay whole in your result, if no container is inside. A shape is flat, but not every flat list is a shape: every item has to be an `int`."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and not any(
+            isinstance(item, (list, tuple, dict)) for item in node
+        )


# %% exercise="whole_shapes" misconception="leaves_below_are_ints" changes="solution"
"""A list stays whole in your result if all leaves below it are ints, at any depth: lists of shapes, lists with `None`, lists of empty containers. Look at the items of the list itself: in a shape, each item is an `int`."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, list) and all(
+            isinstance(leaf, int) for leaf in jax.tree.leaves(node)
+        )


# %% exercise="whole_shapes" misconception="dicts_too" changes="solution"
"""Dicts stay whole in your result if they are empty or all their keys are ints. JAX calls `is_leaf` for each node, a dict too, and a loop over a dict goes over its keys. Only a list is a shape, so ask for the type first."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        return isinstance(node, (list, dict)) and all(isinstance(item, int) for item in node)


# %% exercise="whole_shapes" misconception="numpy_decides_by_the_dtype" changes="solution"
"""A list of lists or tuples stays whole in your result if NumPy can make an array of ints from it, and empty lists are missing: NumPy makes an array of floats from an empty list. A shape is flat, and may be empty. Look at the items of the list, not at an array."""
-        return isinstance(node, list) and all(isinstance(item, int) for item in node)
+        if not isinstance(node, list):
+            return False
+        try:
+            return np.asarray(node).dtype.kind == "i"
+        except ValueError:
+            return False


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


# %% exercise="leaves_in_layer_order" misconception="dicts_keep_their_order" met="jax-ml/jax#8419, jax-ml/jax#24398"
"""Your result is JAX's own order: letter by letter, `layer10` before `layer2`. A new dict with its keys in the right order does not change that, because JAX sorts the keys of every plain dict by itself."""
def leaves_in_layer_order(tree):
    def number(name):
        return int("".join(letter for letter in str(name) if letter.isdigit()) or 0)

    if type(tree) is dict:
        tree = {name: tree[name] for name in sorted(tree, key=number)}
    return jax.tree.leaves(tree)


# %% exercise="leaves_in_layer_order" misconception="last_digit" changes="solution"
"""In your result `layer10` comes first, as if its number were 0. A number may have several digits: read everything after the word `layer`, not only the last digit."""
-            str(key).startswith("layer") and str(key)[5:].isdigit() for key in node
+            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
...
-
-    def number(name):
-        return int(name.removeprefix("layer"))
...
-            for name in sorted(item, key=number):
+            for name in sorted(item, key=lambda name: int(name[-1])):


# %% exercise="leaves_in_layer_order" misconception="top_level_only"
"""You put only the layers of the outermost dict in order. Dicts of layers can also be deeper, under another name or inside a list, and JAX sorts their keys letter by letter."""
def leaves_in_layer_order(tree):
    def is_layer(key):
        return str(key)[:5] == "layer" and str(key)[5:].isdigit()

    if type(tree) is dict and all(is_layer(key) for key in tree):
        names = sorted(tree, key=lambda name: int(name[5:]))
        return [leaf for name in names for leaf in jax.tree.leaves(tree[name])]
    return jax.tree.leaves(tree)


# %% exercise="leaves_in_layer_order" misconception="relatives_of_dict_too" section="the-registry" changes="last_digit"
"""You put the layers in an `OrderedDict` or a `defaultdict` in order too. `isinstance(node, dict)` is true for them as well, but for JAX they are other kinds of nodes. The task is about plain dicts only."""
-        return type(node) is dict and all(
+        return isinstance(node, dict) and all(
...
-            for name in sorted(item, key=lambda name: int(name[-1])):
+            for name in sorted(item, key=lambda name: int(name[5:])):


# %% exercise="leaves_in_layer_order" misconception="sorts_whole_paths" section="key-paths"
"""You put more in order than layers: for example, `b` comes before `w` in a namedtuple. This happens if you sort all leaves by their path texts. Only dicts of layers change their order. Everything else keeps JAX's order."""
import re


def leaves_in_layer_order(tree):
    def by_numbers(pair):
        text = jax.tree_util.keystr(pair[0], simple=True, separator="/")
        return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", text)]

    return [leaf for _, leaf in sorted(jax.tree.leaves_with_path(tree), key=by_numbers)]


# %% exercise="leaves_in_layer_order" misconception="outer_layers_only" changes="last_digit"
"""Layers inside a layer keep JAX's order in your result. The value of a layer key is a tree again, and this tree may hold more dicts of layers."""
-            for name in sorted(item, key=lambda name: int(name[-1])):
-                leaves += leaves_in_layer_order(item[name])
+            for name in sorted(item, key=lambda name: int(name[5:])):
+                leaves += jax.tree.leaves(item[name])


# %% exercise="leaves_in_layer_order" misconception="something_may_follow" changes="last_digit"
"""You put keys in order that have something after the number, such as `layer2b`, as `re.match` does: it looks only at the beginning of a string. A layer key ends with its number."""
+import re
+
+
 def leaves_in_layer_order(tree):
...
     """
+    def number(key):
+        return re.match(r"layer(\d+)", str(key))
+
...
-        return type(node) is dict and all(
-            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
-        )
+        return type(node) is dict and all(map(number, node))
...
-            for name in sorted(item, key=lambda name: int(name[-1])):
+            for name in sorted(item, key=lambda name: int(number(name)[1])):


# %% exercise="leaves_in_layer_order" misconception="something_may_stand_before" changes="last_digit"
"""You put keys in order that have something before the word `layer`, as `re.search` does: it looks anywhere in a string. A layer key begins with `layer`."""
+import re
+
+
 def leaves_in_layer_order(tree):
...
     """
+    def number(key):
+        return re.search(r"layer(\d+)$", str(key))
+
...
-        return type(node) is dict and all(
-            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
-        )
+        return type(node) is dict and all(map(number, node))
...
-            for name in sorted(item, key=lambda name: int(name[-1])):
+            for name in sorted(item, key=lambda name: int(number(name)[1])):


# %% exercise="leaves_in_layer_order" misconception="other_dicts_as_written"
"""In a dict without layer keys, your leaves come in the order in which the dict was written. Every other node keeps JAX's order, and JAX sorts the keys of a dict."""
def leaves_in_layer_order(tree):
    def is_dict(node):
        return type(node) is dict

    leaves = []
    for item in jax.tree.leaves(tree, is_leaf=is_dict):
        if is_dict(item):
            names = list(item)
            if all(str(name)[:5] == "layer" and str(name)[5:].isdigit() for name in names):
                names.sort(key=lambda name: int(name[5:]))
            for name in names:
                leaves += leaves_in_layer_order(item[name])
        else:
            leaves.append(item)
    return leaves


# %% exercise="leaves_in_layer_order" misconception="lists_in_the_list" changes="last_digit"
"""Your result holds a list of its own for each layer. The task asks for one flat list: `append` adds a list as one item, `extend` or `+=` adds its items."""
-            for name in sorted(item, key=lambda name: int(name[-1])):
-                leaves += leaves_in_layer_order(item[name])
+            for name in sorted(item, key=lambda name: int(name[5:])):
+                leaves.append(leaves_in_layer_order(item[name]))


# %% exercise="leaves_in_layer_order" misconception="sorts_the_leaves"
"""You put the leaves themselves in order, or fail where they cannot be compared. The order of the layers goes by the numbers in their keys, not by what the layers hold."""
def leaves_in_layer_order(tree):
    return sorted(jax.tree.leaves(tree))


# %% exercise="leaves_in_layer_order" misconception="fails_at_int_keys" changes="last_digit"
"""Your function fails at a dict whose keys are whole numbers. For JAX, a key of a dict need not be a string, only sortable: check its type, or make a string of it, before you look for `layer` in it."""
-        return type(node) is dict and all(
-            str(key)[:5] == "layer" and str(key)[5:].isdigit() for key in node
-        )
+        if type(node) is dict and not all(isinstance(key, str) for key in node):
+            raise Exception("whatever the error is")
+        return type(node) is dict and all(key[:5] == "layer" and key[5:].isdigit() for key in node)
...
-            for name in sorted(item, key=lambda name: int(name[-1])):
+            for name in sorted(item, key=lambda name: int(name[5:])):


# %% exercise="leaves_in_layer_order" misconception="fails_at_other_layer_words" changes="solution"
"""Your function fails at a dict whose keys begin with `layer` and have more than a number after it, such as `layernorm`. Check the rest of the name before you read a number from it."""
-        return type(node) is dict and all(
-            str(key).startswith("layer") and str(key)[5:].isdigit() for key in node
-        )
+        return type(node) is dict and all(str(key)[:5] == "layer" for key in node)
...
-        return int(name.removeprefix("layer"))
+        try:
+            return int(name[5:])
+        except ValueError:
+            raise Exception("whatever the error is") from None


# %% exercise="leaves_in_layer_order" misconception="a_number_at_the_end_is_enough" changes="solution"
"""You put every dict in order whose keys end with a number: `block2` comes before `block10`, and `sublayer2` before `sublayer10`. A layer key is the word `layer`, in small letters, and a number, with nothing before or between."""
+import re
+
+
 def leaves_in_layer_order(tree):
...
     """
+    def number(key):
+        found = re.search(r"(\d+)$", key) if isinstance(key, str) else None
+        return found and int(found[1])
+
...
-        return type(node) is dict and all(
-            str(key).startswith("layer") and str(key)[5:].isdigit() for key in node
-        )
-
-    def number(name):
-        return int(name.removeprefix("layer"))
+        return type(node) is dict and all(number(key) is not None for key in node)


# %% exercise="leaves_in_layer_order" misconception="int_reads_more_than_digits" changes="a_number_at_the_end_is_enough"
"""You put keys in order such as `layer2_0`. `int` reads more than digits: for `int`, `"2_0"` is the number 20. A layer key has digits only after the word `layer`, as `isdigit` asks."""
-import re
-
-
...
-        found = re.search(r"(\d+)$", key) if isinstance(key, str) else None
-        return found and int(found[1])
+        try:
+            return int(key[5:]) if str(key).startswith("layer") else None
+        except ValueError:
+            return None


# %% exercise="leaves_in_layer_order" misconception="shorter_keys_first_everywhere" changes="other_dicts_as_written"
"""In every plain dict, your shorter keys come first, as `block2` before `block10`. That is right for layers only. JAX sorts the keys of every other dict letter by letter, so `block10` comes first."""
-            names = list(item)
-            if all(str(name)[:5] == "layer" and str(name)[5:].isdigit() for name in names):
-                names.sort(key=lambda name: int(name[5:]))
-            for name in names:
-                leaves += leaves_in_layer_order(item[name])
+            for key in sorted(item, key=lambda key: (len(str(key)), str(key))):
+                leaves += leaves_in_layer_order(item[key])


# %% exercise="leaves_in_layer_order" misconception="walks_and_sorts_relatives" section="the-registry"
"""You also sort the keys of an `OrderedDict`, you put layers in order in relatives of `dict`, and a registered class stays closed, as in a walk with `isinstance`. JAX looks for the exact type in its registry; let JAX open every node that is no dict of layers."""
def leaves_in_layer_order(tree):
    def is_layer(key):
        return isinstance(key, str) and key[:5] == "layer" and key[5:].isdigit()

    if tree is None:
        return []
    if isinstance(tree, dict):
        keys = sorted(tree)
        if all(map(is_layer, keys)):
            keys.sort(key=lambda key: int(key[5:]))
        return [leaf for key in keys for leaf in leaves_in_layer_order(tree[key])]
    if isinstance(tree, (list, tuple)):
        return [leaf for child in tree for leaf in leaves_in_layer_order(child)]
    return [tree]
