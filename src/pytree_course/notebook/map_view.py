"""Show how `jax.tree.map` pairs the leaves of several trees, side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import jax

from pytree_course.drawing.items import Item, as_lines, items
from pytree_course.drawing.picture import svg_of_items
from pytree_course.notebook.base import FRAMES, describe, error_line, function_name
from pytree_course.observing.observations import Observation, Path, all_parts
from pytree_course.observing.observe import observe
from pytree_course.observing.words import A_LEAF, outline
from pytree_course.rendering import Feedback, render
from pytree_course.texts import shorten

IsLeaf = Callable[[Any], bool]
MAX_CALLS = 24  # shown
MAX_PLACE = 80  # characters


@dataclass
class Call:
    """One call of the mapped function."""

    number: int
    path: Path
    arguments: list[str]
    given_whole: list[bool]  # for each argument: whether it is a node instead of a leaf
    result: str = ""
    raised: bool = False


@dataclass(frozen=True)
class Mismatch:
    """The first place at which a tree's structure differs from that of the first tree."""

    path: Path
    position: int  # of the other tree, counted from 0
    node: str  # what the first tree has there, in words
    partner: str  # what the other tree has there


def map_and_watch(
    function: Callable[..., Any], trees: Sequence[Any], is_leaf: IsLeaf | None = None
) -> "MapView":
    """Run ``jax.tree.map(function, *trees, is_leaf=is_leaf)`` once and record its calls."""
    # Before the calls: the function may change what it is given.
    view = MapView(function_name(function), [observe(tree, values=False) for tree in trees])
    try:
        leaves, _ = jax.tree.flatten_with_path(trees[0], is_leaf=is_leaf)
        view.leaves = len(leaves)
        watched = partial(_call_and_note, function, view)
        mapped = jax.tree.map_with_path(watched, *trees, is_leaf=is_leaf)
    except Exception as error:
        view.error = error_line(error)
        if not view.calls:
            view.mismatch = _first_mismatch(trees, is_leaf)
    else:
        view.result = observe(mapped, values=False)
    return view


def _call_and_note(
    function: Callable[..., Any], view: "MapView", keys: Sequence[Any], *arguments: Any
) -> Any:
    """Call the function for the next leaf, and record the call."""
    path = tuple(jax.tree_util.keystr((key,)) for key in keys)
    # Before the call: the function may change what it is given.
    are_nodes = [not jax.tree_util.all_leaves([argument]) for argument in arguments]
    call = Call(len(view.calls) + 1, path, list(map(describe, arguments)), are_nodes)
    view.calls.append(call)
    try:
        result = function(*arguments)
    except Exception as error:
        call.result, call.raised = error_line(error), True
        raise
    call.result = describe(result)
    return result


def _first_mismatch(trees: Sequence[Any], is_leaf: IsLeaf | None) -> Mismatch | None:
    """Return the first place at which another tree does not match the first one."""
    first = observe(trees[0], values=False, is_leaf=is_leaf)
    for position, tree in enumerate(trees[1:], 1):
        partners = dict(all_parts(observe(tree, values=False)))
        for path, part in all_parts(first):
            node = outline(part)
            if path not in partners:
                return Mismatch(path, position, node, "nothing")
            partner = outline(partners[path])
            # A leaf of the first tree matches anything in the others.
            if node not in (partner, A_LEAF):
                return Mismatch(path, position, node, partner)
    return None


def pair(function: Callable[..., Any], *trees: Any, is_leaf: IsLeaf | None = None) -> Feedback:
    """Show how ``jax.tree.map(function, *trees, is_leaf=is_leaf)`` pairs the leaves of trees.

    The function is called exactly once for each leaf of the first tree. The view shows the trees,
    with a number on each leaf that names its call; the calls; and the result, or the error.

    Examples
    --------
    >>> pair(lambda x, y: x + y, [1, 2], [10, 20])
    """
    if not trees:
        raise TypeError("pair takes a function and at least one tree")
    return map_and_watch(function, trees, is_leaf).static


@dataclass(eq=False)
class MapView:
    """A recorded `tree.map`, and how it is shown as HTML and text.

    It has a result, or a mismatch, a call that raised, or another error. It is not a live widget:
    style rules link the leaves of a call.
    """

    name: str  # of the function
    trees: list[Observation]
    calls: list[Call] = field(default_factory=list)
    leaves: int = 0
    result: Observation | None = None
    mismatch: Mismatch | None = None
    error: str = ""

    @property
    def works(self) -> bool:
        """Whether `jax.tree.map` returned a result."""
        return self.result is not None

    @property
    def failed_call(self) -> Call | None:
        """The call that raised: no other came after it."""
        return self.calls[-1] if self.calls and self.calls[-1].raised else None

    @property
    def shown_calls(self) -> list[Call]:
        """The calls to show: the first ones, and any that raised."""
        return [call for call in self.calls if call.number <= MAX_CALLS or call.raised]

    @property
    def headline(self) -> str:
        """The call of `tree.map`, in short."""
        trees = ", ".join(f"tree {number}" for number in range(1, len(self.trees) + 1))
        return f"tree.map({self.name}, {trees})"

    @cached_property
    def sentences(self) -> list[str]:
        """The outcome in words; the first sentence completes the headline."""
        return render("notebook/map_sentences.txt", view=self, where=_where).split("\n")

    @property
    def static(self) -> Feedback:
        """The view as HTML without scripts, and as plain text."""
        trees = [*self.trees]
        roots = [self._items(tree, position) for position, tree in enumerate(trees)]
        if self.result is not None:
            trees.append(self.result)
            roots.append(self._items(self.result, None))
        frame = FRAMES["good" if self.works else "bad"]
        drawn = zip(roots, trees, strict=True)
        svgs = [svg_of_items(root, tree, with_calls=True) for root, tree in drawn]
        html = render("notebook/map_view.html", view=self, frame=frame, svgs=svgs)
        texts = [as_lines(root) for root in roots]
        return Feedback(html, render("notebook/map_view.txt", view=self, frame=frame, texts=texts))

    def _items(self, tree: Observation, position: int | None) -> Item:
        """Return the items to draw for a tree, or for the result, with marks, notes and calls."""
        marked_path, word = self._mark(position)
        root = items(tree, marked_path)
        calls = {call.path: call for call in self.shown_calls}
        for item in root.walk():
            if item.mark == "here" and word:
                item.mark = word
            # An argument of a call is at the call's path, or inside the node there.
            beginnings = [item.path[:length] for length in range(len(item.path) + 1)]
            call = next((calls[path] for path in beginnings if path in calls), None)
            if call is None or item.shape == "fold":
                continue
            item.call = call.number
            if item.path == call.path:
                item.badge = call.number
                if position is not None and call.given_whole[position]:
                    if item.shape == "none":
                        item.notes[:] = ["given as it is"]
                    else:
                        item.notes.append("given whole")
        return root

    def _mark(self, position: int | None) -> tuple[Path | None, str]:
        """Return the path to mark in a tree, and the word for it."""
        if self.mismatch is not None:
            is_concerned = position in (0, self.mismatch.position)
            return self.mismatch.path, "mismatch" if is_concerned else ""
        if self.failed_call is not None:
            return self.failed_call.path, f"{self.name} raised"
        return None, ""


def _where(path: Path) -> str:
    return shorten("".join(path) or "the root", MAX_PLACE)
