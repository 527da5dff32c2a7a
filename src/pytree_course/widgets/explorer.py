"""A tree to look into: its picture, its leaves in order and its structure, all linked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets
import jax

from pytree_course import drawing
from pytree_course.drawing.labels import counted, shorten
from pytree_course.trees import Observation, observe
from pytree_course.widgets.base import Play
from pytree_course.widgets.linked import block, frame, linking
from pytree_course.widgets.trouble import (
    Trouble,
    evaluate,
    flattening_advice,
    said,
    without_addresses,
)

EXAMPLE = "{'w': [1.5, 2.5], 'b': None, 'act': 'relu'}"
MOST_ROWS = 40
LONGEST_PATH = 60
LONGEST_STRUCTURE = 600

IsLeaf = Callable[[Any], bool]

PRESETS: dict[str, tuple[str, IsLeaf | None]] = {
    "as JAX does it": ("", None),
    "None is a leaf": ("lambda x: x is None", lambda x: x is None),
    "lists are leaves": ("lambda x: isinstance(x, list)", lambda x: isinstance(x, list)),
    "tuples are leaves": ("lambda x: isinstance(x, tuple)", lambda x: isinstance(x, tuple)),
    "dicts of leaves are leaves": (
        "lambda x: isinstance(x, dict) and jax.tree_util.all_leaves(x.values())",
        lambda x: isinstance(x, dict) and jax.tree_util.all_leaves(x.values()),
    ),
}
"""What `is_leaf` can be: its code, and itself, by the name that the learner chooses."""

_STYLE = """
§ .pt-leaves {max-height:19em;overflow:auto;flex:0 1 auto;min-width:15em}
§ table {border-collapse:collapse;margin:0;font-size:.95em;border:0}
§ thead th {text-align:left;font-weight:400;opacity:.85;padding:0 12px 2px 6px}
§ tr {position:relative;background:none;border:0}
§ td {text-align:left;padding:1px 12px 1px 6px;border:0;font-family:ui-monospace,Menlo,Consolas,\
'DejaVu Sans Mono',monospace;overflow-wrap:anywhere;white-space:normal;max-width:24em}
§ label::after {content:"";position:absolute;inset:0;cursor:pointer}
§ input {margin:0 4px 0 0;vertical-align:-1px;accent-color:var(--jp-brand-color1,#1976d2)}
§ .pt-structure {max-height:7em;overflow:auto;margin:6px 0 0}
"""


def explore(tree: object = EXAMPLE) -> "Explorer":
    """Show a tree to look into, and a field for the next one.

    Parameters
    ----------
    tree
        Any value; or, as a string, a Python expression, which is evaluated in the notebook.

    Returns
    -------
    Explorer
        The picture, the leaves in order with their paths, and the structure. Pointing at a leaf,
        with the mouse or the keyboard, lights it up in the picture and in the list.

    Examples
    --------
    >>> explore([1, {"b": None, "a": 2}])
    the tree you passed: 2 leaves (num_leaves), 5 nodes and leaves (num_nodes)
    list
    ├─ [0]  1
    └─ [1]  dict
       ├─ ['a']  2
       └─ ['b']  None  (no leaf)
    0  [0]       1
    1  [1]['a']  2
    PyTreeDef([*, {'a': *, 'b': None}])
    """
    return Explorer(tree)


@dataclass(frozen=True)
class Look:
    """What there is to see of a tree."""

    name: str
    is_code: bool
    is_leaf: str
    observation: Observation
    structure: str
    leaves: int
    nodes: int

    def html(self, *, framed: bool, trouble: str = "") -> str:
        """Return picture, leaves and structure as HTML, below what went wrong since."""
        name = f"<code>{escape(self.name)}</code>" if self.is_code else escape(self.name)
        counts = (
            f"<strong>{counted(self.leaves, 'leaf', 'leaves')}</strong> (<code>num_leaves</code>) "
            f"· {self.nodes:,} nodes and leaves (<code>num_nodes</code>)"
        )
        code = PRESETS[self.is_leaf][0]
        stop = f" · <code>is_leaf={escape(code)}</code>" if code else ""
        inner = (
            f'{trouble}<div role="status" aria-live="polite">{name}: {counts}{stop}</div>'
            '<div class="pt-columns">'
            '<figure role="group" tabindex="0" aria-label="Picture of the tree">'
            f"{drawing.svg(self.observation)}</figure>{self._table()}</div>"
            '<div class="pt-structure" tabindex="0" role="group" aria-label="Structure">'
            f"<code>{escape(self.structure)}</code></div>"
        )
        listed = min(self.leaves, MOST_ROWS)
        return block(inner, _STYLE + linking(self.observation, listed), framed=framed)

    def text(self) -> str:
        """Return the same as plain text."""
        rows = [(str(place), path, what) for place, path, what in self.rows()]
        widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
        listed = [f"{row[0]:>{widths[0]}}  {row[1]:{widths[1]}}  {row[2]}" for row in rows]
        counts = (
            f"{counted(self.leaves, 'leaf', 'leaves')} (num_leaves), "
            f"{self.nodes:,} nodes and leaves (num_nodes)"
        )
        lines = [f"{self.name}: {counts}", drawing.text(self.observation), *listed]
        return "\n".join([*lines, *([self._more] if self._more else []), self.structure])

    def rows(self) -> list[tuple[int, str, str]]:
        """Return place, path and summary of the first leaves."""
        found = []
        for place, (path, leaf) in enumerate(_leaves(self.observation)):
            if place == MOST_ROWS:
                break
            found.append((place, shorten(path, LONGEST_PATH), drawing.summary(leaf)))
        return found

    @property
    def _more(self) -> str:
        left = self.leaves - MOST_ROWS
        return f"… {left:,} more {'leaf' if left == 1 else 'leaves'}" if left > 0 else ""

    def _table(self) -> str:
        if not self.leaves:
            return "<p>No leaves: the list is empty.</p>"
        # Without the notebook's shortcuts, so that the arrow keys choose.
        rows = "".join(
            f'<tr data-leaf="{place}"><td><label>'
            f'<input type="radio" name="leaf" data-lm-suppress-shortcuts="true" '
            f'aria-label="{escape(f"{place} {path} {what}")}">'
            f"{place}</label></td><td>{escape(path) or '(the root)'}</td>"
            f"<td>{escape(what)}</td></tr>"
            for place, path, what in self.rows()
        )
        more = f'<tr><td colspan="3">{self._more}</td></tr>' if self._more else ""
        head = "".join(f'<th scope="col">{each}</th>' for each in ("place", "path", "leaf"))
        # In a form, so that the choice is this list's own.
        return (
            '<div role="group" aria-label="Leaves"><form class="pt-leaves">'
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}{more}</tbody></table></form></div>"
        )


def look(tree: object, name: str, is_code: bool, is_leaf: str) -> Look:
    """Take a tree apart as JAX does.

    Parameters
    ----------
    tree
        Any value.
    name
        What to call it.
    is_code
        Whether the name is an expression.
    is_leaf
        One of `PRESETS`.

    Raises
    ------
    Trouble
        When JAX cannot flatten it, or nobody could look at it all.
    """
    stop = PRESETS[is_leaf][1]
    observation = observe(tree, values=False, is_leaf=stop)
    if observation["kind"] == "unbounded":
        raise Trouble(f"This tree cannot be shown: {observation['why']}.", "Show a part of it.")
    try:
        structure: Any = jax.tree.structure(tree, is_leaf=stop)
        words = without_addresses(str(structure))
    except Exception as error:
        raise Trouble(said(error), flattening_advice(observation)) from None
    return Look(
        shorten(name, 120),
        is_code,
        is_leaf,
        observation,
        shorten(words, LONGEST_STRUCTURE),
        structure.num_leaves,
        structure.num_nodes,
    )


class Explorer(Play):
    """A field for an expression, a choice of `is_leaf`, and what there is to see.

    Parameters
    ----------
    tree
        A value, or an expression as a string.
    """

    def __init__(self, tree: object = EXAMPLE) -> None:
        is_expression = isinstance(tree, str)
        self._passed = None if is_expression else [tree]
        self._seen: Look | None = None
        self._trouble: Trouble | None = None
        self._tree: tuple[object, str, bool] | None = None
        self.expression = ipywidgets.Text(
            value=tree if is_expression else "",
            description="Tree",
            placeholder="a Python expression, then Enter",
            continuous_update=False,
            style={"description_width": "initial"},
            layout={"flex": "1 1 20em", "width": "auto"},
        )
        self.show = ipywidgets.Button(
            description="Show", tooltip="Evaluate the expression again", layout={"width": "auto"}
        )
        # Buttons and no menu: JupyterLab keeps the arrow keys from a menu.
        self.is_leaf = ipywidgets.ToggleButtons(
            options=list(PRESETS),
            description="is_leaf",
            style={"description_width": "initial", "button_width": "auto"},
        )
        self.view = ipywidgets.HTML()
        line = ipywidgets.HBox([self.expression, self.show])
        super().__init__([line, self.is_leaf, self.view], layout=frame())
        self._evaluate()
        self._first = self._seen, self._trouble
        self.expression.observe(lambda _: self._evaluate(), names="value")
        self.show.on_click(lambda _: self._evaluate())
        self.is_leaf.observe(lambda _: self._look(), names="value")

    def _evaluate(self) -> None:
        """Take the tree that is asked for, and look at it."""
        expression = self.expression.value.strip()
        if not expression and self._passed is not None:
            self._tree = self._passed[0], "the tree you passed", False
        else:
            try:
                self._tree = evaluate(expression or EXAMPLE), expression or EXAMPLE, True
            except Trouble as trouble:
                self._say(trouble)
                return
        self._look()

    def _look(self) -> None:
        if self._tree is None:
            return
        try:
            self._seen = look(*self._tree, self.is_leaf.value)
        except Trouble as trouble:
            self._say(trouble)
        else:
            self.view.value = self._seen.html(framed=False)

    def _say(self, trouble: Trouble) -> None:
        """Say what went wrong, above the last tree that could be shown."""
        self._trouble = trouble
        if self._seen is None:
            self.view.value = block(trouble.html(), framed=False)
        else:
            last = '<p class="pt-quiet">Below is the last tree that could be shown.</p>'
            self.view.value = self._seen.html(framed=False, trouble=trouble.html() + last)

    def static_html(self) -> str:
        """Return picture, leaves and structure of the tree that was passed."""
        seen, trouble = self._first
        said = trouble.html() if trouble else ""
        return seen.html(framed=True) if seen else block(said, framed=True)

    def static_text(self) -> str:
        """Return picture, leaves and structure of the tree that was passed, as text."""
        seen, trouble = self._first
        return seen.text() if seen else trouble.text() if trouble else ""


def _leaves(observation: Observation) -> Iterator[tuple[str, Observation]]:
    """List the leaves in JAX's order, each with its path."""
    waiting = [("", observation)]
    while waiting:
        path, seen = waiting.pop()
        if seen["kind"] == "node":
            waiting.extend((path + key, child) for key, child in reversed(seen["children"]))
        elif seen["kind"] != "none" or seen.get("leaf"):
            yield path, seen
