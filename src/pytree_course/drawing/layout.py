"""Lay out a tree picture: parents centred over children, rows aligned, no overlaps.

No font can be measured here, so every letter is taken to be as wide as the widest of the usual
monospace fonts; a box then always holds its text.
"""

import math

from pytree_course.drawing.items import Item

NAME_SIZE, NAME_ADVANCE, NAME_LINE = 13, 8.1, 18
SMALL_SIZE, SMALL_ADVANCE, SMALL_LINE = 12, 7.5, 16
PADDING = 7  # above and below the words of a box
SIDE = 10  # left and right of them
GAP = 10  # between neighbours in a row
MIN_CURVE, MAX_CURVE = 22, 52  # height of an edge above its key
STUB = 7  # height of an edge below its key
MARK_GAP = 4  # above the words of a mark
MARGIN = 6  # around the picture, for outlines that stand out

Contour = list[tuple[int, int]]
"""Leftmost and rightmost extent of a subtree, level by level, relative to its root's centre."""


def lay_out(root: Item) -> tuple[list[Item], int, int]:
    """Place all items: return them, level by level, and the picture's width and height."""
    for item in root.walk():
        _measure(item)
    contour = _spread(root)
    _shift(root, MARGIN - min(left for left, _ in contour))
    placed, row, y = [], [root], MARGIN
    while row:
        below = [child for item in row for child in item.children]
        key_room = STUB + SMALL_LINE if any(child.key for child in below) else 0
        bottom = y + max(item.height for item in row)
        for item in row:
            item.y, item.row_bottom, item.key_room = y, bottom, key_room
        placed += row
        # The further the edges reach to the side, the higher they are.
        reach = max((abs(child.x - item.x) for item in row for child in item.children), default=0)
        y = bottom + min(max(MIN_CURVE, reach // 8), MAX_CURVE) + key_room
        row = below
    width = max(right for _, right in contour) - min(left for left, _ in contour) + 2 * MARGIN
    return placed, width, bottom + MARGIN


def small_width(text: str) -> int:
    """Return the width of a small text, as a whole even number."""
    return 2 * math.ceil(columns(text) * SMALL_ADVANCE / 2)


def text_width(text: str, *, small: bool) -> int:
    """Return the width of a text."""
    return round(columns(text) * (SMALL_ADVANCE if small else NAME_ADVANCE))


def is_monospace(text: str) -> bool:
    """Return whether a monospace font has all of a text's characters."""
    return text.replace("…", "").replace("▲", "").isascii()


def columns(text: str) -> int:
    """Return the width of a text in monospace columns; letters of Asia and emoji take two."""
    # Not from unicodedata: its widths depend on the version of Python, and pictures must not.
    narrow = sum(code < 0x1100 or 0x1E00 <= code < 0x2E80 for code in map(ord, text))
    return 2 * len(text) - narrow


def _measure(item: Item) -> None:
    notes = item.note_lines
    widths = [2 * math.ceil(columns(item.name) * NAME_ADVANCE / 2), *map(small_width, notes)]
    item.height = 2 * PADDING + NAME_LINE + SMALL_LINE * len(notes)
    if item.mark:
        widths.append(small_width(item.mark_words) + 12)
        item.height += MARK_GAP + SMALL_LINE + 1
    item.width = max(widths) + 2 * SIDE


def _spread(item: Item) -> Contour:
    """Place the children of an item side by side, as close as their subtrees allow."""
    half = max(item.width, small_width(item.key)) // 2
    contour: Contour = []
    for child in item.children:
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
    if item.children:
        middle = (item.children[0].x + item.children[-1].x) // 2
        for child in item.children:
            _shift(child, -middle)
        contour = [(left - middle, right - middle) for left, right in contour]
    return [(-half, half), *contour]


def _shift(root: Item, distance: int) -> None:
    for item in root.walk():
        item.x += distance
