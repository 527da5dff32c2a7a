"""Pictures and lists whose leaves light up together.

Pointing at a leaf in one place lights it up in all places. Style rules alone do that, so that it
works wherever the HTML is shown, with a kernel or without.
"""

from collections.abc import Iterable

from pytree_course.drawing.colours import LEAF
from pytree_course.drawing.items import Item, items
from pytree_course.drawing.vector import leaves_attribute
from pytree_course.observations import Observation

_LIT = f"{{--pt-stroke:4px;--pt-fill:.35;--pt-weight:700;--pt-outline:2px solid {LEAF}}}"


def linking(observation: Observation, listed: int) -> str:
    """Write the style rules that link a picture with a list of the first `listed` leaves.

    The list has elements with the attribute `data-leaf`, the leaf's place. Pointing at a leaf, or
    choosing it, lights it up in the list and in the picture, with the keys on the way to it;
    pointing at a node lights up all of its leaves.
    """
    drawn = list(items(observation).walk())
    leaves = [item for item in drawn if item.shape in ("leaf", "notice") and item.leaves]
    # The boxes that stand for leaves which are not drawn.
    folded = [item for item in drawn if item.leaves and item not in leaves and not item.children]
    lit = []
    for place in sorted({*range(listed), *(item.leaves.start for item in leaves)}):
        own = f'[data-leaf="{place}"]'
        holding = [_selector(item) for item in folded if place in item.leaves]
        way = [f"text{_selector(item)}" for item in drawn if item.children and place in item.leaves]
        targets = [own, *holding, *way]
        lit.append(_lit(f":has({own}:hover)", targets))
        # A chosen leaf stays lit, unless the mouse points at another one.
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


def _selector(item: Item) -> str:
    [(name, value)] = leaves_attribute(item).items()
    return f'[{name}="{value}"]'


def _lit(condition: str, targets: Iterable[str]) -> str:
    unique = dict.fromkeys(targets)
    return f"§{condition} :is({','.join(unique)})" if unique else ""
