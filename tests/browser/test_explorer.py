"""The explorer in JupyterLab, used with the mouse and with the keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.accessibility import assert_accessible
from tests.browser.lab import Lab, Notebook, Visit
from tests.lesson_reads import BROWSER

pytestmark = pytest.mark.reads(*BROWSER)

SETUP = """\
import jax
import jax.numpy as jnp
from pytree_course import explore

@jax.tree_util.register_pytree_node_class
class Scaled:
    def __init__(self, value, unit):
        self.value, self.unit = value, unit
    def tree_flatten(self):
        return (self.value,), self.unit
    @classmethod
    def tree_unflatten(cls, unit, children):
        return cls(*children, unit)

params = {"layer": {"w": jnp.zeros((2, 3)), "b": None}, "sizes": [64, (32, 10)],
          "speed": Scaled(1.5, "m/s")}"""
EXPLORE = "explore(params, choose_is_leaf=True)"
CELLS = {"setup": SETUP, "explore": EXPLORE}


@pytest.fixture(scope="module")
def opened(lab: Lab, browser: Browser) -> Iterator[Notebook]:
    """Open a notebook with an explorer."""
    lab.start_afresh()
    lab.write("notebooks/play.ipynb", CELLS)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    notebook = Visit(lab, context.new_page()).open("notebooks/play.ipynb")
    notebook.run("setup")
    yield notebook
    context.close()


@pytest.fixture
def notebook(opened: Notebook) -> Notebook:
    """Make the explorer anew, with the mouse away from them."""
    opened.run("explore")
    opened.page.mouse.move(0, 0)
    return opened


def stroke(box: Locator) -> str:
    """Return how thick the outline of a box is drawn."""
    return box.locator("rect").first.evaluate("rect => getComputedStyle(rect).strokeWidth")


def test_pointing_at_a_leaf_lights_it_up_everywhere(notebook: Notebook):
    output = notebook.output("explore")
    box, row = output.locator("g[data-leaf='2']"), output.locator("tr[data-leaf='2']")
    assert stroke(box) == "1.5px"
    row.hover()
    assert stroke(box) == "4px"
    assert stroke(output.locator("g[data-leaf='1']")) == "1.5px"
    notebook.page.mouse.move(0, 0)
    assert stroke(box) == "1.5px"
    box.hover()
    expect(row).to_have_css("font-weight", "700")
    expect(row).to_have_css("outline-style", "solid")


def tab_to(notebook: Notebook, target: Locator) -> None:
    """Press Tab until something has the focus."""
    for _ in range(10):
        notebook.page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"Tab does not lead to {target}")


def test_the_explorer_with_the_keyboard_alone(notebook: Notebook):
    output, keyboard = notebook.output("explore"), notebook.page.keyboard
    field = output.get_by_label("Tree", exact=True)
    field.focus()
    keyboard.type("[1, params['sizes']]")
    keyboard.press("Enter")
    expect(output.get_by_role("status")).to_contain_text("4 leaves")
    tab_to(notebook, output.get_by_role("button", name="tuples are leaves"))
    keyboard.press("Space")
    expect(output.get_by_role("status")).to_contain_text("3 leaves")
    tab_to(notebook, output.get_by_role("radio").first)
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    assert stroke(output.locator("g[data-leaf='2']")) == "4px"
    assert output.get_by_role("radio").nth(2).is_checked()

    field.focus()
    field.fill("{'b': parms, 1: 2")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("SyntaxError")
    field.fill("parms")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("Did you mean params?")
    expect(output.get_by_role("status")).to_contain_text("3 leaves")
    assert field.input_value() == "parms"
    assert notebook.visit.other_hosts == []


def test_the_outputs_have_no_axe_core_violations(notebook: Notebook):
    assert_accessible(notebook, outputs=1)
