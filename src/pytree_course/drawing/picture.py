"""Draw values and observations as inline SVG, without style sheets, ids or scripts."""

from collections.abc import Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from pytree_course.drawing.items import Item, items, text
from pytree_course.drawing.layout import (
    MARK_GAP,
    NAME_ADVANCE,
    NAME_LINE,
    NAME_SIZE,
    PADDING,
    SMALL_ADVANCE,
    SMALL_LINE,
    SMALL_SIZE,
    STUB,
    Box,
    columns,
    layout,
    mark_words,
    small_width,
)
from pytree_course.observing.observations import Node, Observation, Path, Treedef, count_leaves
from pytree_course.observing.words import summary
from pytree_course.rendering import Feedback, render
from pytree_course.texts import counted, shorten

# Legible on light and dark pages.
INK = "currentColor"
LEAF = "var(--jp-brand-color1, #1976d2)"
MARK = "#c2500c"  # dark enough under white letters, light enough on a black page

FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def svg(observation: Observation, *, marked: Path | None = None) -> str:
    """Draw an observation as one inline SVG, the same text everywhere.

    If the tree has nothing at the marked path, the deepest node on the way is marked, and says
    which key it lacks.
    """
    picture, _ = drawn(items(observation, marked), observation)
    return ElementTree.tostring(picture, encoding="unicode")


def drawn(root: Item, observation: Observation) -> tuple[Element, list[tuple[Box, Element]]]:
    """Draw the items of an observation as an `<svg>` that can still be added to.

    It comes with every box and the box's `<g>`, from the root down, level by level.
    """
    boxes, width, height = layout(root)
    description = _alt_text(observation, [box.item for box in boxes])
    picture = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "role": "img",
            "aria-label": description,
            "width": str(width),
            "height": str(height),
            "viewBox": f"0 0 {width} {height}",
            "color": f"var(--jp-content-font-color1, {INK})",
            "font-family": FONT,
            "font-size": str(NAME_SIZE),
            "text-anchor": "middle",
            # Shrinks to the page, but not so far that small letters become hard to read.
            "style": f"max-width:100%;min-width:{width * 11 // 12}px;height:auto",
        },
    )
    SubElement(picture, "title").text = description
    _edges(picture, boxes)
    return picture, [(box, _box(picture, box)) for box in boxes]


def leaves_attribute(item: Item) -> dict[str, str]:
    """Say where an item's leaves are in the flat list: `data-leaf="3"`, `data-leaves="3-7"`."""
    if not item.leaves:
        return {}
    if item.shape in ("leaf", "notice"):
        return {"data-leaf": str(item.leaves.start)}
    return {"data-leaves": f"{item.leaves.start}-{item.leaves.stop - 1}"}


def _alt_text(observation: Observation, shown: list[Item]) -> str:
    """Describe a picture to readers who cannot see it."""
    tree = observation.tree if isinstance(observation, Treedef) else observation
    description = summary(tree)
    if isinstance(tree, Node):
        children = counted(len(tree.children), "child", "children")
        description = f"{shorten(tree.type, 26)} with {children}"
        description += f", {counted(count_leaves(tree), 'leaf', 'leaves')}"
    for item in shown:
        if item.mark:
            description += f"; marked: {_where(item)} ({item.mark})"
    return f"{'Tree' if tree is observation else 'PyTreeDef'}: {description}"


def _where(item: Item) -> str:
    return shorten("".join(item.path), 120) or "the root"


def _edges(picture: Element, boxes: list[Box]) -> None:
    lines: dict[bool, list[str]] = {False: [], True: []}
    keys = []
    for box in boxes:
        for child in box.children:
            end = child.y - box.key_room
            middle = (box.row_bottom + end) // 2
            line = f"M{box.x} {box.y + box.height}V{box.row_bottom}"
            line += f"C{box.x} {middle} {child.x} {middle} {child.x} {end}"
            if child.item.key:
                line += f"M{child.x} {child.y - STUB}V{child.y}"
                keys.append(child)
            else:
                line += f"V{child.y}"  # past the keys of its neighbours
            lines[child.item.shape == "fold"].append(line)
    style = {"fill": "none", "stroke": INK, "stroke-opacity": ".5", "stroke-width": "1.3"}
    for dotted, parts in lines.items():
        if parts:
            dots = {"stroke-dasharray": "2 3"} if dotted else {}
            SubElement(picture, "path", {"d": "".join(parts), **style, **dots})
    for child in keys:
        key = _words(picture, child.item.key, child.x, child.y - STUB - 4, small=True)
        key.attrib.update(leaves_attribute(child.item))


def _box(picture: Element, box: Box) -> Element:
    item = box.item
    group = SubElement(picture, "g", leaves_attribute(item))
    if item.path:
        SubElement(group, "title").text = _where(item)
    _outline(group, box)
    y = box.y + PADDING + NAME_SIZE
    name = _words(group, item.name, box.x, y)
    if item.shape in ("node", "custom"):
        name.set("font-weight", "600")
    if item.shape == "none":
        name.set("font-style", "italic")
    y += NAME_LINE - 2
    for note in item.notes:
        _words(group, note, box.x, y, small=True)
        y += SMALL_LINE
    if item.mark:
        y += MARK_GAP
        words = mark_words(item)
        width = small_width(words) + 12
        rect(group, box.x - width // 2, y - 11, width, SMALL_LINE, 8, fill=MARK)
        tag = _words(group, words, box.x, y + 1, small=True)
        tag.attrib.update({"fill": "#fff", "fill-opacity": "1", "font-weight": "600"})
    return group


def _outline(group: Element, box: Box) -> None:
    x, y, width, height = box.left, box.y, box.width, box.height
    if box.item.mark:
        _ring(group, box)
    line = {"stroke": INK, "stroke-opacity": ".65", "stroke-width": "1.5"}
    match box.item.shape:
        case "node":
            rect(group, x, y, width, height, 5, fill=INK, fill_opacity=".07", **line)
        case "custom":
            rect(group, x, y, width, height, 7, fill=INK, fill_opacity=".07", **line)
            rect(group, x + 3, y + 3, width - 6, height - 6, 4, fill="none", **line)
        case "none":
            rect(group, x, y, width, height, 5, fill="none", stroke_dasharray="5 4", **line)
        case "leaf":
            line |= {"stroke": LEAF, "stroke-opacity": "1"}
            rect(group, x, y, width, height, 16, fill=LEAF, fill_opacity=".13", **line)
        case "fold":
            rect(group, x, y, width, height, 16, fill="none", stroke_dasharray="2 3", **line)
        case "notice":
            right, bottom, cut = x + width, y + height, 8
            corners = f"M{x + cut} {y}H{right - cut}L{right} {y + cut}V{bottom - cut}"
            corners += f"L{right - cut} {bottom}H{x + cut}L{x} {bottom - cut}V{y + cut}Z"
            SubElement(group, "path", {"d": corners, "fill": "none", **line})


def _ring(group: Element, box: Box) -> None:
    ring = {"fill": "none", "stroke": MARK, "stroke-width": "3"}
    radius = 20 if box.item.shape in ("leaf", "fold") else 8
    rect(group, box.left - 4, box.y - 4, box.width + 8, box.height + 8, radius, **ring)


def rect(
    parent: Element, x: int, y: int, width: int, height: int, radius: int, **paint: str
) -> None:
    """Add a `<rect>` with round corners to an element."""
    place = {"x": x, "y": y, "width": width, "height": height, "rx": radius}
    attributes = {name: str(value) for name, value in place.items()}
    attributes |= {name.replace("_", "-"): value for name, value in paint.items()}
    SubElement(parent, "rect", attributes)


def _words(parent: Element, words: str, x: int, y: int, *, small: bool = False) -> Element:
    element = SubElement(parent, "text", {"x": str(x), "y": str(y), "fill": INK})
    element.text = words
    if small:
        element.attrib.update({"font-size": str(SMALL_SIZE), "fill-opacity": ".8"})
    if not words.replace("…", "").replace("▲", "").isascii():
        # Letters that the monospace font lacks come from another font, of any width.
        advance = SMALL_ADVANCE if small else NAME_ADVANCE
        element.set("textLength", str(round(columns(words) * advance)))
        element.set("lengthAdjust", "spacingAndGlyphs")
    return element


def draw(*values: object, titles: Sequence[str] = ()) -> Feedback:
    """Draw any values as JAX sees them, side by side, under their titles.

    Examples
    --------
    >>> draw({"w": 1.5, "b": None})
    dict
    ├─ ['b']  None  (no leaf)
    └─ ['w']  1.5
    """
    from pytree_course.observing.observe import (
        observe,  # pages, of what others observed, do without JAX
    )

    return side_by_side([observe(value, values=False) for value in values], titles)


def side_by_side(trees: Sequence[Observation], titles: Sequence[str]) -> Feedback:
    """Draw one figure for each tree; a wide one scrolls by itself, with the keyboard too."""
    names = [shorten(title, 120) for title in titles] + [""] * len(trees)  # some have no title
    titled = list(zip(names, trees, strict=False))
    headed = [(f"{title}:\n" if title else "") + text(tree) for title, tree in titled]
    html = render("drawing/picture.html", svgs=[(title, svg(tree)) for title, tree in titled])
    return Feedback(html, "\n\n".join(headed))
