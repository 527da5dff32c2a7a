"""Frames for what is played with, and pictures and lists whose leaves light up together.

Pointing at a leaf in one place lights it up in all places. Style rules alone do that, so that it
works wherever the HTML is shown, with a kernel or without.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from html import escape

import ipywidgets

from pytree_course.drawing.colours import LEAF
from pytree_course.drawing.items import Item, items
from pytree_course.drawing.vector import leaves_attribute
from pytree_course.trees import Observation

BORDER = "1px solid var(--jp-border-color1, #8884)"
EDGE = f"4px solid {LEAF}"  # the left side, which feedback has in the colour of its verdict

_STYLE = """
§ {contain:inline-size;line-height:1.5;color:var(--jp-content-font-color1,currentColor)}
§ p {margin:6px 0}
§ figure {margin:0;min-width:0;max-width:100%;overflow-x:auto}
§ code {overflow-wrap:anywhere;background:none;padding:0;color:inherit;font-size:.95em}
§ .pt-quiet {opacity:.85;font-size:.9em}
§ .pt-columns {display:flex;flex-wrap:wrap;gap:8px 28px;align-items:flex-start;margin:8px 0}
§ [data-leaf] rect[stroke-opacity],§ [data-leaves] rect[stroke-opacity] \
{stroke-width:var(--pt-stroke,1.5px)}
§ g[data-leaf] rect[stroke-opacity] {fill-opacity:var(--pt-fill,.13)}
§ text:not([font-weight]) {font-weight:var(--pt-weight,400)}
§ tr[data-leaf],§ li[data-leaf] \
{outline:var(--pt-outline,none);outline-offset:-2px;font-weight:var(--pt-weight,400)}
"""
_LIT = f"{{--pt-stroke:4px;--pt-fill:.35;--pt-weight:700;--pt-outline:2px solid {LEAF}}}"


def block(inner: str, style: str = "", *, framed: bool) -> str:
    """Put HTML into an element with style rules of its own.

    Parameters
    ----------
    inner
        HTML.
    style
        Style rules in which § stands for the element.
    framed
        Whether to draw a frame; a live widget has one around its controls too.
    """
    style = _STYLE + style
    name = "pt-" + hashlib.sha256((inner + style).encode()).hexdigest()[:8]
    # The name twice outranks the notebook's own rules for tables and code.
    rules = style.replace("§", f".{name}.{name}").strip()
    frame = f"border:{BORDER};border-left:{EDGE};border-radius:4px;padding:8px 14px;margin:2px 0"
    outer = f' style="{frame}"' if framed else ""
    return f'<div class="{name}"{outer}><style>{rules}</style>{inner}</div>'


def frame() -> ipywidgets.Layout:
    """Return a live widget's frame, the same as that of its static form."""
    sides = {f"border_{side}": BORDER for side in ("top", "right", "bottom")}
    return ipywidgets.Layout(**sides, border_left=EDGE, padding="8px 14px", margin="2px 0")


def with_code(text: str) -> str:
    """Write plain text as HTML, what is between backticks as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def linking(observation: Observation, listed: int) -> str:
    """Write the style rules that link a picture with a list of leaves.

    In the list, each leaf is an element with the attribute `data-leaf`, its place. Pointing at a
    leaf, or choosing it, lights it up in the list and in the picture, with the keys on the way to
    it; pointing at a node lights up all of its leaves.

    Parameters
    ----------
    observation
        What is drawn.
    listed
        How many leaves the list has, from the first on.
    """
    drawn = list(_drawn(items(observation)))
    leaves = [item for item in drawn if item.shape in ("leaf", "notice") and item.leaves]
    # What stands for leaves that are not drawn themselves.
    folded = [item for item in drawn if item.leaves and item not in leaves and not item.children]
    lit = []
    for place in sorted({*range(listed), *(item.leaves.start for item in leaves)}):
        own = f'[data-leaf="{place}"]'
        holding = [_selector(item) for item in folded if place in item.leaves]
        way = [f"text{_selector(item)}" for item in drawn if item.children and place in item.leaves]
        targets = [own, *holding, *way]
        lit.append(_lit(f":has({own}:hover)", targets))
        # What is chosen stays lit, but gives way to what the mouse points at.
        chosen = f":not(:has([data-leaf]:hover)):has({own} :is(:checked,:focus-visible))"
        lit.append(_lit(chosen, targets))
    for item in drawn:
        if item.leaves and item not in leaves:
            ends = [each for each in drawn if each is not item and not each.children]
            inside = [each for each in ends if each.leaves and each.leaves[0] in item.leaves]
            rows = [f'[data-leaf="{place}"]' for place in item.leaves if place < listed]
            targets = [*map(_selector, inside), *rows]
            lit.append(_lit(f":has(g{_selector(item)}:hover)", targets))
    selectors = [selector for selector in dict.fromkeys(lit) if selector]
    return f"{','.join(selectors)} {_LIT}\n" if selectors else ""


def _drawn(item: Item) -> Iterator[Item]:
    yield item
    for child in item.children:
        yield from _drawn(child)


def _selector(item: Item) -> str:
    [(name, value)] = leaves_attribute(item).items()
    return f'[{name}="{value}"]'


def _lit(condition: str, targets: Iterable[str]) -> str:
    unique = dict.fromkeys(targets)
    return f"§{condition} :is({','.join(unique)})" if unique else ""
