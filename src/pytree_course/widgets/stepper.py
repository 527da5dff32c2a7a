"""Flatten and unflatten step by step: one node at a time, forward and back."""

import ipywidgets

from pytree_course import drawing
from pytree_course.observations import Observation, all_parts
from pytree_course.rendering import Feedback, render
from pytree_course.trees import observe
from pytree_course.widgets.base import Play, button, frame_layout
from pytree_course.widgets.html import block
from pytree_course.widgets.linked import linking
from pytree_course.widgets.walking import Step, walk

MOST_NODES = 60
MOST_OPEN = 16  # steps; a longer list waits to be opened


def steps(tree: object) -> "Stepper":
    """Flatten a tree and unflatten it again, one node at a time.

    The tree may have up to 60 nodes and leaves. A custom node's own flatten and unflatten functions
    are called, and their arguments and results are shown. Buttons go forward and back, while the
    list of leaves grows and the treedef becomes known.
    """
    return Stepper(tree)


class Stepper(Play):
    """A tree being flattened and unflattened, with buttons to go forward and back."""

    def __init__(self, tree: object) -> None:
        self._observation = observe(tree, values=False)
        self._refusal = _refusal(self._observation)
        self.steps: list[Step] = [] if self._refusal else walk(tree)
        self.view = ipywidgets.HTML()
        static = Feedback(self._html(framed=True), self._text())
        super().__init__([self.view], static, layout=frame_layout())
        if self._refusal:
            self.view.value = self._html(framed=False)
            return
        # A field and no slider: ipywidgets gives a slider's handle no name to be read out.
        self.number = ipywidgets.BoundedIntText(
            value=1,
            min=1,
            max=len(self.steps),
            description="Step",
            style={"description_width": "initial"},
            layout={"width": "8em"},
        )
        # Never disabled: a button that is loses the keyboard's focus.
        self.first = button("⇤ First", lambda: self._go(1), "To the first step")
        self.back = button("← Back", lambda: self._go(self.number.value - 1), "One step back")
        self.forward = button(
            "Forward →", lambda: self._go(self.number.value + 1), "One step forward"
        )
        self.last = button("Last ⇥", lambda: self._go(len(self.steps)), "To the last step")
        self.number.observe(lambda _: self._show(), names="value")
        buttons = ipywidgets.HBox([self.first, self.back, self.forward, self.last])
        controls = ipywidgets.HBox([buttons, self.number], layout={"flex_flow": "row wrap"})
        self.children = [controls, self.view]
        self._show()

    def _go(self, number: int) -> None:
        self.number.value = min(max(1, number), len(self.steps))

    def _show(self) -> None:
        self.view.value = self._html(self.number.value, framed=False)

    def _text(self) -> str:
        """Write the picture and all steps as text."""
        return render(
            "widgets/stepper.txt",
            picture=drawing.text(self._observation),
            refusal=self._refusal,
            steps=self.steps,
            flattened=self._half("flatten"),
        )

    def _html(self, number: int | None = None, *, framed: bool) -> str:
        """Write one step; without a number all of them, or why there are none."""
        tree = self._observation
        if self._refusal:
            svg = drawing.svg(tree)
            return block("stepper", linking(tree, 0), framed=framed, refusal=self._refusal, svg=svg)
        step = self.steps[-1] if number is None else self.steps[number - 1]
        pictured = self.steps[0] if number is None and not step.failed else step
        return block(
            "stepper",
            linking(tree, len(step.leaves)),
            framed=framed,
            refusal="",
            svg=drawing.svg(tree, current=pictured.path, faded=pictured.faded),
            number=number,
            step=step,
            count=len(self.steps),
            down=self._half("flatten"),
            up=self._half("unflatten"),
            is_open=len(self.steps) <= MOST_OPEN,
        )

    def _half(self, half: str) -> list[Step]:
        return [step for step in self.steps if step.half == half]


def _refusal(observation: Observation) -> str:
    """Say why a tree is not stepped through, or nothing."""
    if observation["kind"] == "unbounded":
        return f"This tree cannot be stepped through: {observation['why']}."
    count = sum(1 for _ in all_parts(observation))
    if count <= MOST_NODES:
        return ""
    return (
        f"This tree has {count:,} nodes and leaves. Steps are shown for up to {MOST_NODES}: "
        "take a part of it."
    )
