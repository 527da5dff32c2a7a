"""What is drawn of an observation: which boxes with which words, and what is folded away.

Both the SVG and the text are made from these items, so that they always show the same.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from pytree_course.drawing.labels import (
    LONGEST_NAME,
    count_leaves,
    counted,
    expression,
    shorten,
    summary,
    values,
)
from pytree_course.trees import Observation, Path

MOST_ITEMS = 60
MOST_LEVELS = 8
MOST_SIBLINGS = 16
SIBLINGS_BEFORE_FOLD = 12
LONGEST_KEY = 18
LONGEST_NOTE = 34

Shape = Literal["node", "custom", "none", "leaf", "fold", "notice"]


@dataclass
class Item:
    """One drawn box: a node, a leaf, or what stands for several folded ones."""

    shape: Shape
    name: str
    notes: list[str] = field(default_factory=list)
    key: str = ""
    path: Path = ()
    mark: str = ""
    children: list["Item"] = field(default_factory=list)


def items(observation: Observation, marked: Path | None = None) -> Item:
    """Choose what to draw, level by level, so that large trees lose their depths first.

    Parameters
    ----------
    observation
        What to draw.
    marked
        Path of the node or leaf to mark; it is drawn even where its siblings are folded.

    Returns
    -------
    Item
        The root, with at most about 60 items in 8 levels below it.
    """
    seen = observation["tree"] if observation["kind"] == "treedef" else observation
    root = _item(seen)
    if seen is not observation:
        root.notes.insert(0, "PyTreeDef")
    left = MOST_ITEMS - 1 - _needs_fold(seen)  # always keeps one item per unopened node
    waiting = deque([(root, seen, marked, 1)])
    while waiting:
        item, seen, way, level = waiting.popleft()
        children = _children(seen)
        on_way = _step(children, way)
        if way is not None and on_way is None:
            item.mark = "here" if not way else shorten(f"no {way[0]} here", LONGEST_NAME)
            if seen["kind"] == "array":
                item.notes.append(shorten(values(seen), LONGEST_NOTE))
        if not children:
            continue
        if level == MOST_LEVELS:
            fold = _fold([child for _, child in children])
            fold.mark = "in here" if on_way is not None else ""
            item.children.append(fold)
            continue
        shown = _shown(children, on_way, left + 1)
        hidden: list[Observation] = []
        for index, (key, child) in enumerate(children):
            if index not in shown:
                hidden.append(child)
                continue
            if hidden:
                item.children.append(_fold(hidden))
                hidden = []
            drawn = _item(child, key, (*item.path, key))
            item.children.append(drawn)
            rest = way[1:] if way is not None and index == on_way else None
            waiting.append((drawn, child, rest, level + 1))
            left -= _needs_fold(child)
        if hidden:
            item.children.append(_fold(hidden))
        left -= len(item.children) - 1
    return root


def _item(seen: Observation, key: str = "", path: Path = ()) -> Item:
    kind, name, notes = seen["kind"], summary(seen), []
    shape: Shape = "leaf"
    match kind:
        case "node":
            shape = "custom" if seen.get("custom") else "node"
            name = shorten(seen["type"], LONGEST_NAME)
            if seen.get("aux") is not None:
                notes.append(f"aux {expression(seen['aux'])}")
            if not seen["children"]:
                notes.append("no children")
        case "none":
            shape, notes = "none", ["no leaf"]
        case "container leaf":
            notes = ["one leaf"]
        case "tracer":
            notes = ["leaked, holds no value"]
        case "object":
            notes = [seen["why"]] if "why" in seen else []
        case "raised":
            shape = "notice"
            said = {True: "mentions", False: "does not mention"}
            notes = [
                f"{said[bool(is_there)]} {text}" for text, is_there in seen["mentions"].items()
            ]
            notes = [seen["message"]] * bool(seen["message"]) + notes[:4]
        case "not attempted":
            shape = "notice"
        case "unbounded":
            shape, name, notes = "notice", "cannot be drawn", [seen["why"]]
    longest = 2 * LONGEST_NOTE if shape == "notice" else LONGEST_NOTE
    notes = [shorten(note, longest) for note in notes]
    return Item(shape, name, notes, shorten(key, LONGEST_KEY), path)


def _children(seen: Observation) -> list[tuple[str, Observation]]:
    return [(key, child) for key, child in seen["children"]] if seen["kind"] == "node" else []


def _needs_fold(seen: Observation) -> bool:
    return bool(_children(seen))


def _step(children: list[tuple[str, Observation]], way: Path | None) -> int | None:
    """Index of the child that the marked path goes through next, if there is one."""
    if not way:
        return None
    return next((index for index, (key, _) in enumerate(children) if key == way[0]), None)


def _shown(children: list[tuple[str, Observation]], on_way: int | None, room: int) -> set[int]:
    """Choose the indices of the children to draw, the marked one always among them."""
    cost = [1 + _needs_fold(child) for _, child in children]
    if len(children) <= MOST_SIBLINGS and sum(cost) <= room:
        return set(range(len(children)))
    shown = {on_way} if on_way is not None else set()
    room -= 2 + sum(cost[index] for index in shown)  # a fold before and one after the marked child
    for index in range(min(SIBLINGS_BEFORE_FOLD, len(children))):
        if index not in shown:
            room -= cost[index]
            if room < 0 or len(shown) == SIBLINGS_BEFORE_FOLD:
                break
            shown.add(index)
    return shown


def _fold(hidden: list[Observation]) -> Item:
    leaves = sum(map(count_leaves, hidden))
    if not leaves:
        return Item("fold", f"… {len(hidden)} more without leaves")
    return Item("fold", f"… {counted(leaves, 'more leaf', 'more leaves')}")
