"""Flatten and unflatten as a film: one node at a time, forward and back."""

from collections.abc import Callable
from html import escape

import ipywidgets

from pytree_course import drawing
from pytree_course.trees import Observation, observe
from pytree_course.widgets.base import Play
from pytree_course.widgets.linked import block, frame, linking, with_code
from pytree_course.widgets.walking import Step, walk

MOST_NODES = 60
MOST_OPEN = 16  # steps; a longer list waits to be opened

_STYLE = """
§ dl {margin:0;display:grid;grid-template-columns:6em 1fr;gap:2px 12px;align-content:start}
§ dt {font-weight:400;opacity:.85;float:none;width:auto;white-space:nowrap}
§ dd {margin:0}
§ .pt-now {flex:1 1 18em;min-width:min(18em,100%)}
§ .pt-facts {min-height:5em;margin-bottom:8px}
§ .pt-list {display:flex;flex-wrap:wrap;gap:4px 6px;list-style:none;margin:0;padding:0}
§ .pt-list li {border:1.5px solid var(--jp-brand-color1,#1976d2);border-radius:12px;margin:0;\
padding:0 9px;font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.9em}
§ .pt-list li.pt-used {border-style:dashed;opacity:.7}
§ .pt-steps {margin:4px 0;padding-left:2em}
§ .pt-steps p {margin:0}
§ summary {cursor:pointer}
"""


def steps(tree: object) -> "Stepper":
    """Flatten a tree and unflatten it again, one node at a time.

    Parameters
    ----------
    tree
        A tree of up to 60 nodes and leaves. Custom nodes are welcome: their own functions are
        called, and what these give and are given is shown.

    Returns
    -------
    Stepper
        The picture, the list of leaves as it grows, and the treedef as it becomes known; with
        buttons to go forward and back.
    """
    return Stepper(tree)


class Stepper(Play):
    """A tree being flattened and unflattened, with buttons to go forward and back.

    Parameters
    ----------
    tree
        Any value.
    """

    def __init__(self, tree: object) -> None:
        self._observation = observe(tree, values=False)
        self._refusal = _refusal(self._observation)
        self.steps: list[Step] = [] if self._refusal else walk(tree)
        self.view = ipywidgets.HTML()
        if not self.steps:
            self.view.value = self._refused_html(framed=False)
            super().__init__([self.view], layout=frame())
            return
        last = len(self.steps)
        # A field and no slider: ipywidgets gives a slider's handle no name to be read out.
        self.number = ipywidgets.BoundedIntText(
            value=1,
            min=1,
            max=last,
            description="Step",
            style={"description_width": "initial"},
            layout={"width": "8em"},
        )
        self.first = self._button("⇤ First", "To the first step", lambda now: 1)
        self.back = self._button("← Back", "One step back", lambda now: now - 1)
        self.forward = self._button("Forward →", "One step forward", lambda now: now + 1)
        self.last = self._button("Last ⇥", "To the last step", lambda now: last)
        self.number.observe(lambda _: self._show(), names="value")
        buttons = ipywidgets.HBox([self.first, self.back, self.forward, self.last])
        controls = ipywidgets.HBox([buttons, self.number], layout={"flex_flow": "row wrap"})
        super().__init__([controls, self.view], layout=frame())
        self._show()

    def _button(self, name: str, tooltip: str, to: Callable[[int], int]) -> ipywidgets.Button:
        # Never disabled: a button that is loses the keyboard's focus.
        button = ipywidgets.Button(description=name, tooltip=tooltip, layout={"width": "auto"})

        def go(_: ipywidgets.Button) -> None:
            self.number.value = min(max(1, to(self.number.value)), len(self.steps))

        button.on_click(go)
        return button

    def _show(self) -> None:
        number = self.number.value
        step = self.steps[number - 1]
        what = "Unflatten" if step.half == "unflatten" else "Flatten"
        inner = (
            f'<div role="status" aria-live="polite"><strong>{what}, step {number} of '
            f"{len(self.steps)}</strong> · {with_code(step.title)}</div>"
            f'<div class="pt-columns">{self._figure(step)}'
            f'<div class="pt-now"><div class="pt-facts">{_facts(step)}</div>{_results(step)}'
            "</div></div>"
        )
        self.view.value = self._block(inner, len(step.leaves), framed=False)

    def static_html(self) -> str:
        """Return the picture, what flatten makes of the tree, and all steps as a list."""
        if not self.steps:
            return self._refused_html(framed=True)
        end = self.steps[-1]
        pictured = end if end.failed else self.steps[0]
        inner = (
            f'<div class="pt-columns">{self._figure(pictured)}'
            f'<div class="pt-now">{_results(_flattened(self.steps))}</div></div>'
            f"{_listed(self.steps)}"
        )
        return self._block(inner, len(end.leaves), framed=True)

    def static_text(self) -> str:
        """Return the picture and all steps as text."""
        lines = [drawing.text(self._observation)]
        if not self.steps:
            return "\n".join([*lines, self._refusal])
        for number, step in enumerate(self.steps, 1):
            lines.append(f"{number}. {step.half}: {step.title.replace('`', '')}")
            lines += [f"   {label}: {code}" for label, code in step.facts]
        done = _flattened(self.steps)
        leaves = ", ".join(f"{place}: {leaf}" for place, leaf in enumerate(done.leaves))
        return "\n".join([*lines, f"leaves  {leaves or 'none'}", f"treedef {done.structure}"])

    def _figure(self, step: Step) -> str:
        picture = drawing.svg(self._observation, current=step.path, faded=step.faded)
        return f'<figure role="group" tabindex="0" aria-label="The tree">{picture}</figure>'

    def _refused_html(self, *, framed: bool) -> str:
        picture = drawing.svg(self._observation)
        inner = (
            f'<p role="status">{escape(self._refusal)}</p>'
            f'<figure role="group" tabindex="0" aria-label="The tree">{picture}</figure>'
        )
        return self._block(inner, 0, framed=framed)

    def _block(self, inner: str, listed: int, *, framed: bool) -> str:
        return block(inner, _STYLE + linking(self._observation, listed), framed=framed)


def _refusal(observation: Observation) -> str:
    """Say why a tree is not stepped through, or nothing."""
    if observation["kind"] == "unbounded":
        return f"This tree cannot be stepped through: {observation['why']}."
    count = _count(observation)
    if count <= MOST_NODES:
        return ""
    return (
        f"This tree has {count:,} nodes and leaves. Steps are shown for up to {MOST_NODES}: "
        "take a part of it."
    )


def _count(observation: Observation) -> int:
    waiting, count = [observation], 0
    while waiting:
        seen = waiting.pop()
        count += 1
        waiting.extend(child for _, child in seen.get("children", ()))
    return count


def _flattened(all_steps: list[Step]) -> Step:
    """Return the last step of the way down."""
    return [step for step in all_steps if step.half == "flatten"][-1]


def _facts(step: Step) -> str:
    if not step.facts:
        return ""
    facts = "".join(
        f"<dt>{escape(label)}</dt><dd><code>{escape(code)}</code></dd>"
        for label, code in step.facts
    )
    return f"<dl>{facts}</dl>"


def _results(step: Step) -> str:
    items = "".join(
        f'<li data-leaf="{place}"{" class=pt-used" if place < step.used else ""}>'
        f"{place}: {escape(leaf)}{' ✓' if place < step.used else ''}</li>"
        for place, leaf in enumerate(step.leaves)
    )
    leaves = f'<ol class="pt-list" aria-label="Leaves">{items}</ol>' if items else "none"
    return (
        f"<dl><dt>leaves</dt><dd>{leaves}</dd>"
        f"<dt>treedef</dt><dd><code>{escape(step.structure)}</code></dd></dl>"
    )


def _listed(all_steps: list[Step]) -> str:
    lists = []
    is_open = " open" if len(all_steps) <= MOST_OPEN else ""
    start = 1
    for half, title in (("flatten", "Flatten"), ("unflatten", "Unflatten")):
        part = [step for step in all_steps if step.half == half]
        items = "".join(f"<li><p>{with_code(each.title)}</p>{_facts(each)}</li>" for each in part)
        if part:
            lists.append(
                f"<details{is_open}><summary>{title}: {len(part)} steps</summary>"
                f'<ol class="pt-steps" start="{start}">{items}</ol></details>'
            )
        start += len(part)
    return "".join(lists)
