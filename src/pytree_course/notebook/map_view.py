"""Show how `jax.tree.map` pairs the leaves of several trees, side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import jax

from pytree_course.drawing.items import Item, as_lines, items
from pytree_course.drawing.layout import Box
from pytree_course.drawing.picture import drawn, rect
from pytree_course.notebook.base import FRAMES
from pytree_course.notebook.value_texts import brief, error_line, function_name
from pytree_course.observing.observations import Observation, Path, all_parts
from pytree_course.observing.observe import observe
from pytree_course.observing.words import LEAF, outline
from pytree_course.rendering import Feedback, render
from pytree_course.texts import shorten

IsLeaf = Callable[[Any], bool]


@dataclass(frozen=True)
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


@dataclass
class Pairing:
    """A recorded `tree.map`: its result, or a mismatch, a call that raised, or another error."""

    trees: list[Observation]
    calls: list[Call] = field(default_factory=list)
    leaves: int = 0
    result: Observation | None = None
    mismatch: Mismatch | None = None
    failed_call: Call | None = None
    error: str = ""


def map_and_watch(
    function: Callable[..., Any], trees: Sequence[Any], is_leaf: IsLeaf | None = None
) -> Pairing:
    """Run ``jax.tree.map(function, *trees, is_leaf=is_leaf)`` once and record its calls."""
    # Before the calls: the function may change what it is given.
    pairing = Pairing([observe(tree, values=False) for tree in trees])
    try:
        leaves, _ = jax.tree.flatten_with_path(trees[0], is_leaf=is_leaf)
        pairing.leaves = len(leaves)
        watched = partial(_call_and_note, function, pairing)
        mapped = jax.tree.map_with_path(watched, *trees, is_leaf=is_leaf)
    except Exception as error:
        pairing.error = error_line(error)
        if not pairing.calls:
            pairing.mismatch = _first_mismatch(trees, is_leaf)
    else:
        pairing.result = observe(mapped, values=False)
    return pairing


def _call_and_note(
    function: Callable[..., Any], pairing: Pairing, keys: Sequence[Any], *arguments: Any
) -> Any:
    """Call the function for the next leaf, and record the call."""
    path = tuple(jax.tree_util.keystr((key,)) for key in keys)
    # Before the call: the function may change what it is given.
    are_nodes = [not jax.tree_util.all_leaves([argument]) for argument in arguments]
    call = Call(len(pairing.calls) + 1, path, list(map(brief, arguments)), are_nodes)
    pairing.calls.append(call)
    try:
        result = function(*arguments)
    except Exception as error:
        pairing.failed_call = replace(call, result=error_line(error), raised=True)
        pairing.calls[-1] = pairing.failed_call
        raise
    pairing.calls[-1] = replace(call, result=brief(result))
    return result


def _first_mismatch(trees: Sequence[Any], is_leaf: IsLeaf | None) -> Mismatch | None:
    """Return the first place at which another tree does not match the first one."""
    first = observe(trees[0], values=False, is_leaf=is_leaf)
    for position, tree in enumerate(trees[1:], 1):
        partners = dict(all_parts(observe(tree, values=False)))
        for path, part in all_parts(first):
            node = outline(part)
            partner = outline(partners[path]) if path in partners else "nothing"
            # A leaf of the first tree matches anything in the others.
            if node != partner and (node != LEAF or path not in partners):
                return Mismatch(path, position, node, partner)
    return None


BADGE_HEIGHT = 16
MOST_CALLS = 24  # shown


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
    return MapView(function_name(function), map_and_watch(function, trees, is_leaf)).static


@dataclass(eq=False)
class MapView:
    """A view of a pairing, as HTML and text.

    It is not a live widget: style rules link the leaves of a call.
    """

    name: str
    pairing: Pairing

    @property
    def works(self) -> bool:
        """Whether `jax.tree.map` returned a result."""
        return self.pairing.result is not None

    @property
    def calls(self) -> list[Call]:
        """The calls to show: the first ones, and any that raised."""
        return [call for call in self.pairing.calls if call.number <= MOST_CALLS or call.raised]

    @property
    def headline(self) -> str:
        """The call of `tree.map`, in short."""
        trees = ", ".join(f"tree {number}" for number in range(1, len(self.pairing.trees) + 1))
        return f"tree.map({self.name}, {trees})"

    @cached_property
    def sentences(self) -> list[str]:
        """The outcome in words; the first sentence completes the headline."""
        return render("notebook/map_sentences.txt", view=self, where=_where).split("\n")

    @property
    def static(self) -> Feedback:
        """The view as HTML without scripts, and as plain text."""
        svgs = [self._svg(*tree) for tree in self._trees]
        texts = [as_lines(self._items(*tree, numbered=True)) for tree in self._trees]
        frame = FRAMES["good" if self.works else "bad"]
        html = render("notebook/map_view.html", view=self, frame=frame, svgs=svgs)
        return Feedback(html, render("notebook/map_view.txt", view=self, frame=frame, texts=texts))

    @property
    def _trees(self) -> list[tuple[Observation, int | None]]:
        """The trees with their positions, and the result with None."""
        result = [] if self.pairing.result is None else [self.pairing.result]
        positions = [*range(len(self.pairing.trees)), None]
        return list(zip([*self.pairing.trees, *result], positions, strict=False))

    def _items(self, tree: Observation, position: int | None, *, numbered: bool = False) -> Item:
        """Return the items to draw for a tree, with marks and notes."""
        mismatch, failed = self.pairing.mismatch, self.pairing.failed_call
        marked, word = None, ""
        if mismatch is not None:
            marked = mismatch.path
            word = "mismatch" if position in (0, mismatch.position) else ""
        elif failed is not None:
            marked, word = failed.path, f"{self.name} raised"
        root = items(tree, marked)
        for item in root.walk():
            if item.mark == "here" and word:
                item.mark = word
            call = self._call_at.get(item.path) if item.shape != "fold" else None
            if call is None:
                continue
            if position is not None and call.given_whole[position]:
                if item.shape == "none":
                    item.notes.clear()
                item.notes.append("given as it is" if item.shape == "none" else "given whole")
            if numbered:
                item.notes.append(f"#{call.number}")
        return root

    @cached_property
    def _call_at(self) -> dict[Path, Call]:
        return {call.path: call for call in self.calls}

    def _svg(self, tree: Observation, position: int | None) -> str:
        root = self._items(tree, position)
        picture, groups = drawn(root, tree)
        picture.set("overflow", "visible")
        for box, group in groups:
            path = box.item.path
            # An argument of a call is at the call's path, or inside the node there.
            ways = (path[:length] for length in range(len(path) + 1))
            call = next((self._call_at[way] for way in ways if way in self._call_at), None)
            if call is not None and box.item.shape != "fold":
                group.set("data-pair", str(call.number))
                if call.path == path:
                    _add_badge(group, box, call.number)
        return ElementTree.tostring(picture, encoding="unicode")


def _where(path: Path) -> str:
    return shorten("".join(path) or "the root", 80)


def _add_badge(group: Element, box: Box, number: int) -> None:
    """Draw a call's number at the upper right corner of a box."""
    width = max(BADGE_HEIGHT, 7 * len(str(number)) + 8)
    x, y = box.left + box.width - 3, box.y
    badge = SubElement(group, "g", {"class": "pytree-badge"})
    half = BADGE_HEIGHT // 2
    rect(badge, x - width // 2, y - half, width, BADGE_HEIGHT, half)
    words = SubElement(badge, "text", {"x": str(x), "y": str(y + 4), "font-size": "11"})
    words.text = str(number)
