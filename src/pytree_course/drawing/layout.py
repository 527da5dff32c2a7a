"""Lay out a tree picture: parents centred over children, rows aligned, no overlaps.

No font can be measured here, so every letter is taken to be as wide as the widest of the usual
monospace fonts; a box then always holds its text.
"""

import math
from dataclasses import dataclass

from pytree_course.drawing.items import Item

NAME_SIZE, NAME_ADVANCE, NAME_LINE = 13, 8.1, 18
SMALL_SIZE, SMALL_ADVANCE, SMALL_LINE = 12, 7.5, 16
PADDING = 7  # above and below the words of a box
SIDE = 10  # left and right of them
GAP = 10  # between neighbours in a row
LOWEST_CURVE, HIGHEST_CURVE = 22, 52  # height of an edge above its key
STUB = 7  # height of an edge below its key
MARK_GAP = 4  # above the words of a mark
MARGIN = 6  # around the picture, for outlines that stand out

Contour = list[tuple[int, int]]
"""Leftmost and rightmost extent of a subtree, level by level, relative to its root's centre."""


@dataclass
class Box:
    """An item with its place: `x` is its centre, `y` its top."""

    item: Item
    width: int
    height: int
    children: list["Box"]
    x: int = 0
    y: int = 0
    row_bottom: int = 0  # edges go straight down to here, clear of taller neighbours
    key_room: int = 0  # height kept for the keys above its children

    @property
    def left(self) -> int:
        """The left side of the box."""
        return self.x - self.width // 2


def layout(root: Item) -> tuple[list[Box], int, int]:
    """Place all items: return their boxes, level by level, and the picture's width and height."""
    top = _sized(root)
    contour = _spread(top)
    _shift(top, MARGIN - min(left for left, _ in contour))
    boxes, row, y = [], [top], MARGIN
    while row:
        below = [child for box in row for child in box.children]
        keys = STUB + SMALL_LINE if any(child.item.key for child in below) else 0
        bottom = y + max(box.height for box in row)
        for box in row:
            box.y, box.row_bottom, box.key_room = y, bottom, keys
        boxes += row
        y = bottom + _curve(row) + keys
        row = below
    width = max(right for _, right in contour) - min(left for left, _ in contour) + 2 * MARGIN
    return boxes, width, bottom + MARGIN


def _curve(parents: list[Box]) -> int:
    """Height of the edges below a row: the further they reach to the side, the higher."""
    reaches = (abs(child.x - box.x) for box in parents for child in box.children)
    return min(max(LOWEST_CURVE, max(reaches, default=0) // 8), HIGHEST_CURVE)


def small_width(text: str) -> int:
    """Width of a small text, as a whole even number."""
    return 2 * math.ceil(columns(text) * SMALL_ADVANCE / 2)


def mark_words(item: Item) -> str:
    """Words inside a marked box."""
    return f"▲ {item.mark}"


def columns(text: str) -> int:
    """Width of a text in monospace columns; the characters of Asia and emoji take two."""
    # Not from unicodedata: its widths depend on the version of Python, and pictures must not.
    narrow = sum(code < 0x1100 or 0x1E00 <= code < 0x2E80 for code in map(ord, text))
    return 2 * len(text) - narrow


def _sized(item: Item) -> Box:
    widths = [2 * math.ceil(columns(item.name) * NAME_ADVANCE / 2), *map(small_width, item.notes)]
    height = 2 * PADDING + NAME_LINE + SMALL_LINE * len(item.notes)
    if item.mark:
        widths.append(small_width(mark_words(item)) + 12)
        height += MARK_GAP + SMALL_LINE + 1
    return Box(item, max(widths) + 2 * SIDE, height, [_sized(child) for child in item.children])


def _spread(box: Box) -> Contour:
    """Place the children of a box side by side, as close as their subtrees allow."""
    half = max(box.width, small_width(box.item.key)) // 2
    contour: Contour = []
    for child in box.children:
        below = _spread(child)
        shift = max(
            (right - left + GAP for (_, right), (left, _) in zip(contour, below, strict=False)),
            default=0,
        )
        _shift(child, shift)
        moved = [(left + shift, right + shift) for left, right in below]
        shared = min(len(contour), len(moved))
        joined = [(contour[row][0], moved[row][1]) for row in range(shared)]
        contour = joined + contour[shared:] + moved[shared:]
    if box.children:
        middle = (box.children[0].x + box.children[-1].x) // 2
        for child in box.children:
            _shift(child, -middle)
        contour = [(left - middle, right - middle) for left, right in contour]
    return [(-half, half), *contour]


def _shift(box: Box, distance: int) -> None:
    box.x += distance
    for child in box.children:
        _shift(child, distance)
