"""The tree explorer: linked views of a tree's picture, its leaves and its structure."""

import difflib
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

import ipywidgets
import jax
from IPython.core.getipython import get_ipython

from pytree_course import drawing
from pytree_course.drawing.items import Item, items
from pytree_course.drawing.picture import LEAF
from pytree_course.judging.feedback import FEEDBACK_TEMPLATES
from pytree_course.notebook.base import (
    BORDER,
    EDGE,
    Play,
    align,
    error_words,
    frame_layout,
    make_button,
    remove_addresses,
)
from pytree_course.observing import observations as obs
from pytree_course.observing.observe import observe
from pytree_course.observing.words import summary
from pytree_course.rendering import Feedback
from pytree_course.texts import counted, shorten

MAX_ROWS = 40
MAX_NAME = 120  # characters, as below
MAX_PATH = 60
MAX_STRUCTURE = 600
MAX_MESSAGE = 300
HIGHLIGHT = f"{{--pt-stroke:4px;--pt-fill:.35;--pt-weight:700;--pt-outline:2px solid {LEAF}}}"


class CannotShowError(Exception):
    """A reason why a tree cannot be shown, and advice; backticks mark code."""

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(reason)
        self.reason = remove_addresses(shorten(reason, MAX_MESSAGE))
        self.advice = advice

    def text(self) -> str:
        """Return reason and advice as plain text."""
        return f"{self.reason}\n{self.advice}".strip()


def evaluate(expression: str) -> Any:
    """Evaluate an expression in the notebook's namespace; raise `CannotShowError` if it fails."""
    shell = get_ipython()
    names = {} if shell is None else shell.user_ns
    try:
        return eval(expression.strip(), names)
    except (Exception, SystemExit) as error:
        raise CannotShowError(error_words(error), _advice(error, expression, names)) from None


def flattening_advice(observation: obs.Observation) -> str:
    """Explain from a tree's observation why JAX could not flatten it."""
    for path, part in obs.all_parts(observation):
        if isinstance(part, obs.Object) and part.has_failed:
            where = f"`{''.join(path)}`" if path else "the root"
            if part.type in ("dict", "defaultdict"):
                return (
                    f"JAX sorts the keys of a dict, but cannot sort the keys of the {part.type} at "
                    f"{where}. Use keys of one kind: all strings, or all integers."
                )
            return (
                f"JAX called the flatten function of the `{part.type}` at {where}, and the "
                "function failed. Fix the function and register the class again. If you run the "
                "cell of a class again, this makes a new class of the same name."
            )
    return ""


def _advice(error: BaseException, expression: str, names: dict[str, Any]) -> str:
    match error:
        case SyntaxError() if re.match(r"\s*(import|from|def|class|for|if|with|del)\b", expression):
            return "This field shows an expression only. Write other statements into a cell."
        case SyntaxError() if re.match(r"\s*\w+\s*=[^=]", expression):
            return "Leave out the `=` and the name before it. To name a tree, use a cell."
        case SyntaxError():
            return "Look at the brackets, quotes and commas."
        case NameError(name=str(name)):
            public = [known for known in names if not known.startswith("_")]
            near = difflib.get_close_matches(name, public, 1)
            run = f"Did you mean `{near[0]}`? If not, run" if near else "Run"
            return f"{run} the cell that makes `{name}`, then press Show."
        case KeyError() | IndexError():
            return (
                "The tree has nothing at this place. Show the whole tree first, and read its paths."
            )
        case _:
            return "The expression itself failed, before JAX saw a tree."


PRESETS = {
    "as JAX does it": "None",
    "None is a leaf": "lambda x: x is None",
    "lists are leaves": "lambda x: isinstance(x, list)",
    "tuples are leaves": "lambda x: isinstance(x, tuple)",
    "dicts of leaves are leaves": (
        "lambda x: isinstance(x, dict) and jax.tree_util.all_leaves(x.values())"
    ),
}
"""The choices for `is_leaf`: by label, the code that is run and shown."""


def explore(tree: object, *, choose_is_leaf: bool = False) -> "Explorer":
    """Explore a tree: its picture, its leaves in order with their paths, and its structure.

    The tree is any value, or a string with a Python expression, which is evaluated in the notebook;
    a text field takes the next expression. Pointing at a leaf, with the mouse or the keyboard,
    highlights it in picture and list. With `choose_is_leaf`, buttons choose where JAX stops.

    Examples
    --------
    >>> explore([1, {"b": None, "a": 2}])
    """
    return Explorer(tree, choose_is_leaf)


@dataclass(frozen=True)
class Exploration:
    """A tree as the explorer shows it."""

    name: str
    is_code: bool  # whether the name is an expression
    is_leaf: str  # one of `PRESETS`
    observation: obs.Observation
    structure: str
    leaves: int
    nodes: int

    def text(self) -> str:
        """Return picture, leaves and structure as plain text."""
        rows = self.rows()
        digits = len(str(len(rows) - 1))
        listed = align([(f"{index:{digits}}", path, leaf) for index, path, leaf in rows])
        leaves = counted(self.leaves, "leaf", "leaves")
        nodes = f"{self.nodes:,} nodes and leaves (num_nodes)"
        headline = f"{self.name}: {leaves} (num_leaves), {nodes}"
        lines = [headline, drawing.text(self.observation), *listed, self.more, self.structure]
        return "\n".join(filter(None, lines))

    def rows(self) -> list[tuple[int, str, str]]:
        """Return index, path and summary of the first leaves."""
        first = islice(obs.all_leaves(self.observation), MAX_ROWS)
        return [
            (index, shorten("".join(path), MAX_PATH), summary(leaf))
            for index, (path, leaf) in enumerate(first)
        ]

    @property
    def more(self) -> str:
        """How many leaves the list leaves out, in words."""
        left = self.leaves - MAX_ROWS
        return f"… {counted(left, 'more leaf', 'more leaves')}" if left > 0 else ""


def flatten(tree: object, is_leaf: str, name: str, *, is_code: bool) -> Exploration:
    """Flatten a tree as JAX does; raise `CannotShowError` if that fails or it is too large."""
    stop = eval(PRESETS[is_leaf])
    observation = observe(tree, values=False, is_leaf=stop)
    if isinstance(observation, obs.Unbounded):
        raise CannotShowError(
            f"This tree cannot be shown: {observation.why}.", "Show a part of it."
        )
    try:
        structure: Any = jax.tree.structure(tree, is_leaf=stop)
        words = shorten(remove_addresses(str(structure)), MAX_STRUCTURE)
    except Exception as error:
        raise CannotShowError(error_words(error), flattening_advice(observation)) from None
    return Exploration(
        name=shorten(name, MAX_NAME),
        is_code=is_code,
        is_leaf=is_leaf,
        observation=observation,
        structure=words,
        leaves=structure.num_leaves,
        nodes=structure.num_nodes,
    )


class Explorer(Play):
    """The explorer's widget: a field for an expression, buttons for `is_leaf`, and the views."""

    def __init__(self, tree: object, choose_is_leaf: bool) -> None:
        self._passed = tree
        self._first_expression = tree if isinstance(tree, str) else ""
        self._exploration: Exploration | None = None
        self.expression = ipywidgets.Text(
            value=self._first_expression,
            description="Tree",
            placeholder="a Python expression, then Enter",
            continuous_update=False,
            style={"description_width": "initial"},
            layout={"flex": "1 1 20em", "width": "auto"},
        )
        show = make_button("Show", self._show, "Evaluate the expression again")
        # Buttons instead of a menu: JupyterLab takes a menu's arrow keys.
        self.is_leaf = ipywidgets.ToggleButtons(
            options=list(PRESETS),
            description="is_leaf",
            style={"description_width": "initial", "button_width": "auto"},
        )
        self.view = ipywidgets.HTML()
        line = ipywidgets.HBox([self.expression, show])
        problem = self._show()
        shown = self._exploration or problem
        text = shown.text() if shown else ""
        static = Feedback(_html(self._exploration, problem, framed=True), text)
        choice = [self.is_leaf] if choose_is_leaf else []
        super().__init__([line, *choice, self.view], static, layout=frame_layout())
        for control in (self.expression, self.is_leaf):
            control.observe(lambda _: self._show(), names="value")

    def _show(self) -> CannotShowError | None:
        """Show the tree of the expression, or the one that was passed.

        If it cannot be shown, return why, and show that above the last tree that could be.
        """
        expression = self.expression.value.strip() or self._first_expression
        problem = None
        try:
            tree, name = self._passed, "the tree you passed"
            if expression:
                tree, name = evaluate(expression), expression
            self._exploration = flatten(tree, self.is_leaf.value, name, is_code=bool(expression))
        except CannotShowError as reason:
            problem = reason
        self.view.value = _html(self._exploration, problem, framed=False)
        return problem


def _html(exploration: Exploration | None, problem: CannotShowError | None, *, framed: bool) -> str:
    """Render the views inside an element with its own style rules, in which § stands for it.

    The live widget draws its frame around its controls as well, so its view needs none.
    """
    if exploration is None:
        return FEEDBACK_TEMPLATES.render("notebook/problem.html", problem=problem)
    is_leaf, svg = PRESETS[exploration.is_leaf], drawing.svg(exploration.observation)
    views = FEEDBACK_TEMPLATES.render(
        "notebook/explorer.html", exploration=exploration, is_leaf=is_leaf, svg=svg, problem=problem
    )
    styles: Any = FEEDBACK_TEMPLATES.environment.get_template("notebook/styles.css").module
    rules = styles.explorer() + _link_leaves(exploration)
    unique = "pt-" + hashlib.sha256((views + rules).encode()).hexdigest()[:8]
    # Doubling the class outranks the notebook's own rules for tables and code.
    rules = rules.replace("§", f".{unique}.{unique}").strip()
    edges = f"border:{BORDER};border-left:{EDGE}" if framed else ""
    return FEEDBACK_TEMPLATES.render(
        "notebook/block.html", unique=unique, edges=edges, rules=rules, inner=views
    )


def _link_leaves(exploration: Exploration) -> str:
    """Return the style rules that link a picture with the list of its first leaves.

    The list's elements have the attribute `data-leaf`, the leaf's index. Pointing at a leaf, or
    choosing it, highlights it in list and picture, with the keys of its path; pointing at a node
    highlights all of its leaves. It takes style rules only, so it works without a kernel.
    """
    listed = min(exploration.leaves, MAX_ROWS)
    drawn = list(items(exploration.observation).walk())
    leaves = [item for item in drawn if item.shape in ("leaf", "notice") and item.leaves]
    # The boxes that stand for leaves not drawn.
    folded = [item for item in drawn if item.leaves and item not in leaves and not item.children]
    selectors: list[str] = []
    for index in sorted({*range(listed), *(item.leaves.start for item in leaves)}):
        leaf = f'[data-leaf="{index}"]'
        boxes = [_selector(item) for item in folded if index in item.leaves]
        above = [item for item in drawn if item.children and index in item.leaves]
        targets = [leaf, *boxes, *(f"text{_selector(item)}" for item in above)]
        selectors.append(_highlight(f":has({leaf}:hover)", targets))
        # A chosen leaf stays highlighted, unless the mouse points at another one.
        chosen = f":not(:has([data-leaf]:hover)):has({leaf} :is(:checked,:focus-visible))"
        selectors.append(_highlight(chosen, targets))
    for node in drawn:
        if not node.leaves or node in leaves:
            continue
        ends = [item for item in drawn if item is not node and not item.children and item.leaves]
        inside = [_selector(item) for item in ends if item.leaves[0] in node.leaves]
        rows = [f'[data-leaf="{index}"]' for index in node.leaves if index < listed]
        if inside or rows:
            condition = f":has(g{_selector(node)}:hover)"
            selectors.append(_highlight(condition, [*inside, *rows]))
    unique = dict.fromkeys(selectors)
    return f"{','.join(unique)} {HIGHLIGHT}\n" if unique else ""


def _selector(item: Item) -> str:
    return f"[{item.leaves_attribute}]"


def _highlight(condition: str, targets: Iterable[str]) -> str:
    """Return the selector of elements to highlight; § stands for the element around them."""
    return f"§{condition} :is({','.join(dict.fromkeys(targets))})"
