"""The items of a tree picture: their words, which parts are folded, and the picture as text.

Both the SVG and the text are made from these items, so that they always show the same.
"""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from textwrap import wrap
from typing import Literal

from pytree_course.observing import observations as obs
from pytree_course.observing.words import MAX_NAME, expression, first_numbers, summary
from pytree_course.texts import shorten

MAX_ITEMS = 48
MAX_LEVELS = 8
MAX_SIBLINGS = 16
SIBLINGS_BEFORE_FOLD = 12
MAX_KEY = 18
MAX_NOTE = 34
MAX_LINE = 44  # of a message: two such boxes fit side by side
MAX_PATH = 120

BoxShape = Literal["node", "custom", "none", "leaf", "fold", "notice"]


@dataclass
class Item:
    """A box of the picture: a node, a leaf, or a placeholder for several folded ones."""

    shape: BoxShape
    name: str
    notes: list[str] = field(default_factory=list)
    key: str = ""
    path: obs.Path = ()
    mark: str = ""
    leaves: range = range(0)  # indices of its leaves in the flat list
    children: list["Item"] = field(default_factory=list)
    # Set by a view of a `tree.map`:
    call: int = 0  # the number of the call that it takes part in
    badge: int = 0  # that number, if it is one of the call's arguments or its result
    # Set by `layout`:
    width: int = 0
    height: int = 0
    x: int = 0  # its centre
    y: int = 0  # its top
    row_bottom: int = 0  # edges go straight down to here, clear of taller neighbours
    key_room: int = 0  # height kept for the keys above its children

    @property
    def left(self) -> int:
        """The left side of the box."""
        return self.x - self.width // 2

    @property
    def where(self) -> str:
        """Its path in words."""
        return shorten("".join(self.path), MAX_PATH) or "the root"

    @property
    def note_lines(self) -> list[str]:
        """Its notes as they are drawn: an error's message takes several lines."""
        return [line for note in self.notes for line in wrap(note, MAX_LINE)]

    @property
    def mark_words(self) -> str:
        """The words inside a marked box."""
        return f"▲ {self.mark}"

    @property
    def leaves_attribute(self) -> str:
        """The indices of its leaves in the flat list: `data-leaf="3"` or `data-leaves="3-7"`."""
        if self.shape in ("leaf", "notice"):
            return f'data-leaf="{self.leaves.start}"'
        return f'data-leaves="{self.leaves.start}-{self.leaves.stop - 1}"'

    def walk(self) -> Iterator["Item"]:
        """Yield this item and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def items(observation: obs.Observation, marked: obs.Path | None = None) -> Item:
    """Choose the items to draw: return the root, with at most about 50 items in 8 levels.

    It goes level by level, so that a large tree loses its deepest levels first. The item at the
    marked path is drawn even if its siblings are folded.
    """
    tree = observation.tree if isinstance(observation, obs.Treedef) else observation
    root = _item(tree)
    if tree is not observation:
        root.notes.insert(0, "PyTreeDef")
    room = MAX_ITEMS - 1
    # Each with its level and the rest of the marked path, or None if that leads elsewhere.
    waiting = deque([(root, tree, marked, 1)])
    while waiting:
        item, part, path_left, level = waiting.popleft()
        children = part.children if isinstance(part, obs.Node) else ()
        keys = [key for key, _ in children]
        marked_child = keys.index(path_left[0]) if path_left and path_left[0] in keys else None
        if path_left is not None and marked_child is None:
            _mark(item, part, path_left)
        drawn = _children_to_draw(len(children), marked_child, room) if level < MAX_LEVELS else ()
        if children and not drawn:
            item.notes.append(_fold_note([child for _, child in children], more=""))
            if marked_child is not None:
                item.mark = "in here"
            room = 0  # a smaller node further down would fit, but stand there alone
            continue
        for index, child_item in _add_children(item, children, drawn).items():
            child_path = path_left[1:] if path_left and index == marked_child else None
            waiting.append((child_item, children[index][1], child_path, level + 1))
        room -= len(item.children)
    return root


def _mark(item: Item, part: obs.Observation, path_left: obs.Path) -> None:
    """Mark the item at the end of a path, or the deepest one on the way to it."""
    item.mark = shorten(f"no {path_left[0]} here", MAX_NAME) if path_left else "here"
    if isinstance(part, obs.Array):
        item.notes.append(f"[{shorten(first_numbers(part.values), MAX_NOTE)}]")


def _children_to_draw(child_count: int, marked_child: int | None, room: int) -> Collection[int]:
    """Return the indices of the children to draw, with the marked one; none if room is short."""
    has_fold = child_count > MAX_SIBLINGS
    drawn = SIBLINGS_BEFORE_FOLD if has_fold else child_count
    if drawn + has_fold > room:
        drawn = 0
    if marked_child is not None and marked_child >= drawn:
        return {*range(drawn - 1), marked_child}
    return range(drawn)


def _add_children(
    item: Item, children: Sequence[tuple[str, obs.Observation]], drawn: Collection[int]
) -> dict[int, Item]:
    """Add an item for each drawn child, and one for each run of others; return the drawn ones."""
    added: dict[int, Item] = {}
    first_leaf = item.leaves.start
    for is_drawn, run in groupby(range(len(children)), lambda index: index in drawn):
        if is_drawn:
            for index in run:
                key, child = children[index]
                added[index] = _item(child, key, (*item.path, key), first_leaf)
                item.children.append(added[index])
                first_leaf = added[index].leaves.stop
        else:
            hidden = [children[index][1] for index in run]
            leaves = range(first_leaf, first_leaf + sum(map(obs.count_leaves, hidden)))
            item.children.append(Item("fold", _fold_note(hidden), leaves=leaves))
            first_leaf = leaves.stop
    return added


def _item(part: obs.Observation, key: str = "", path: obs.Path = (), first_leaf: int = 0) -> Item:
    name, notes = summary(part), []
    shape: BoxShape = "leaf"
    match part:
        case obs.Node(aux=aux):
            shape = "custom" if part.is_custom else "node"
            name = shorten(part.type, MAX_NAME)
            if aux is not None:
                notes.append(f"aux {expression(aux)}")
            if not part.children:
                notes.append("no children")
        case obs.NoneValue(is_leaf=False):
            shape, notes = "none", ["no leaf"]
        case obs.NoneValue() | obs.ContainerLeaf():
            notes = ["one leaf"]
        case obs.Tracer():
            notes = ["leaked, holds no value"]
        case obs.Object(why=why) if why:
            notes = [why]
        case obs.Raised(message=message, mentions=mentions):
            shape = "notice"
            notes = [message] if message else []
            for text, is_there in list(mentions.items())[:4]:
                notes.append(f"{'mentions' if is_there else 'does not mention'} {text}")
        case obs.NotAttempted():
            shape = "notice"
        case obs.Unbounded():
            shape, name, notes = "notice", "cannot be drawn", [part.why]
    max_note = 3 * MAX_LINE if shape == "notice" else MAX_NOTE
    notes = [shorten(" ".join(note.split()), max_note) for note in notes]
    leaves = range(first_leaf, first_leaf + obs.count_leaves(part))
    return Item(shape, name, notes, shorten(key, MAX_KEY), path, leaves=leaves)


def _fold_note(hidden: list[obs.Observation], more: str = " more") -> str:
    leaves = sum(map(obs.count_leaves, hidden))
    if not leaves:
        return f"… {len(hidden)}{more} without leaves"
    return f"… {leaves}{more} {'leaf' if leaves == 1 else 'leaves'}"


def text(observation: obs.Observation, *, marked: obs.Path | None = None) -> str:
    """Draw an observation as text, one line per node and leaf; `marked` as for `svg`."""
    return as_lines(items(observation, marked))


def as_lines(root: Item) -> str:
    """Write an item and those below it, one line for each."""
    return "\n".join([_line(root), *_lines(root, "")])


def _lines(item: Item, indent: str) -> list[str]:
    lines = []
    for child in item.children:
        branch, below = ("└─ ", "   ") if child is item.children[-1] else ("├─ ", "│  ")
        lines.append(f"{indent}{branch}{_line(child)}")
        lines += _lines(child, indent + below)
    return lines


def _line(item: Item) -> str:
    words = f"{item.key}  {item.name}" if item.key else item.name
    notes = [*item.notes, f"#{item.badge}"] if item.badge else item.notes
    if notes:
        words += f"  ({'; '.join(notes)})"
    return f"{words}  ◀ {item.mark}" if item.mark else words
