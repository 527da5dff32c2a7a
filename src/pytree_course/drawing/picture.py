"""Draw values and observations as inline SVG, which the template `tree.html` writes."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

from markupsafe import Markup

from pytree_course.drawing import layout
from pytree_course.drawing.items import Item, items, text
from pytree_course.observing import observations as obs
from pytree_course.observing.words import summary
from pytree_course.rendering import TEMPLATES, Feedback
from pytree_course.texts import counted, shorten

# Legible on light and dark pages.
INK = "currentColor"
LEAF = "var(--jp-brand-color1, #1976d2)"
MARK = "#c2500c"  # dark enough under white letters, light enough on a black page

FONT = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"

_TEMPLATES = TEMPLATES.extended(
    # Stored pictures hold quotation marks as they are.
    {"xml": lambda text: Markup(escape(text))},
    layout=layout,
    INK=INK,
    LEAF=LEAF,
    MARK=MARK,
    FONT=FONT,
)


def svg(observation: obs.Observation, *, marked: obs.Path | None = None) -> str:
    """Draw an observation as one inline SVG, the same text everywhere.

    If the tree has nothing at the marked path, the deepest node on the way is marked, and says
    which key it lacks.
    """
    return svg_of_items(items(observation, marked), observation)


def svg_in_view(observation: obs.Observation, *, marked: obs.Path | None = None) -> str:
    """Draw an observation for a frame that scrolls, which begins with the mark in its middle."""
    root = items(observation, marked)
    picture = svg_of_items(root, observation)
    spot = next((item for item in root.walk() if item.mark), root)
    return _TEMPLATES.render("drawing/in_view.html", picture=picture, spot=spot)


def size(observation: obs.Observation, *, marked: obs.Path | None = None) -> tuple[int, int]:
    """Return the width and height of a picture, in pixels."""
    return layout.lay_out(items(observation, marked))[1:]


def svg_of_items(root: Item, observation: obs.Observation, *, with_calls: bool = False) -> str:
    """Draw the items of an observation, with the calls that they take part in if asked."""
    boxes, width, height = layout.lay_out(root)
    description = _alt_text(observation, boxes)
    drawn = _TEMPLATES.render(
        "drawing/tree.html",
        boxes=boxes,
        width=width,
        height=height,
        description=description,
        label=Markup(escape(description, {'"': "&quot;"})),
        with_calls=with_calls,
    )
    return drawn.replace("\n", "")


def _alt_text(observation: obs.Observation, boxes: list[Item]) -> str:
    """Describe a picture to readers who cannot see it."""
    tree = observation.tree if isinstance(observation, obs.Treedef) else observation
    description = summary(tree)
    if isinstance(tree, obs.Node):
        children = counted(len(tree.children), "child", "children")
        description = f"{shorten(tree.type, 26)} with {children}"
        description += f", {counted(obs.count_leaves(tree), 'leaf', 'leaves')}"
    for item in boxes:
        if item.mark:
            description += f"; marked: {item.where} ({item.mark})"
    return f"{'Tree' if tree is observation else 'PyTreeDef'}: {description}"


def draw(*values: object, titles: Sequence[str] = ()) -> Feedback:
    """Draw any values as JAX sees them, side by side, under their titles.

    A wide picture scrolls by itself, with the keyboard too.

    Examples
    --------
    >>> draw({"w": 1.5, "b": None})
    dict
    ├─ ['b']  None  (no leaf)
    └─ ['w']  1.5
    """
    # Imported late: pages draw stored observations, and do not load JAX.
    from pytree_course.observing.observe import observe

    trees = [observe(value, values=False) for value in values]
    names = [shorten(title, 120) for title in titles[: len(trees)]]
    names += [""] * (len(trees) - len(names))
    titled = list(zip(names, trees, strict=True))
    html = _TEMPLATES.render(
        "drawing/picture.html", svgs=[(title, svg(tree)) for title, tree in titled]
    )
    texts = [f"{title}:\n{text(tree)}" if title else text(tree) for title, tree in titled]
    return Feedback(html, "\n\n".join(texts))
