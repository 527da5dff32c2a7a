"""The explorer, the map view and the trace counter in the lab, by mouse and by keyboard alone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.browser.accessibility import assert_accessible, tab_to
from tests.browser.lab import Lab, Notebook, Visit
from tests.lesson_reads import BROWSER

pytestmark = pytest.mark.reads(*BROWSER)

CELLS = {
    "setup": """\
import jax.numpy as jnp
from pytree_course import count_traces, explore, pair, predict""",
    "explore": """\
model = {"layer": {"w": jnp.zeros((2, 3)), "b": None}, "sizes": [64, (32, 10)], "speed": 1.5}
explore(model, choose_is_leaf=True)""",
    "works": """\
params = {"dense": {"w": jnp.ones((2, 3)), "b": jnp.zeros(3)}, "scale": 2.0}
grads = {"dense": {"w": jnp.ones((2, 3)), "b": [jnp.ones(3), None]}, "scale": -1.0}
pair(lambda p, g: p, params, grads)""",
    "fails": "pair(lambda p, g: p - g, params, {'dense': {'w': 1.0, 'bias': 2.0}, 'scale': 1.0})",
    "traces": """\
def scaled(x, by):
    return x * by

count_traces(scaled, lambda width, by: (jnp.ones(width), by), width=[4, 5, 6], by=[2, 2.0])""",
    "predicts": 'predict("01_leaves", "a-missing-bias-3")',
}


@pytest.fixture(scope="module")
def notebook(lab: Lab, browser: Browser) -> Iterator[Notebook]:
    """Open a notebook with all widgets, all cells run."""
    lab.start_afresh()
    lab.write("play.ipynb", CELLS)
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    notebook = Visit(lab, context.new_page()).open("play.ipynb")
    notebook.run_all()
    expect(notebook.output("traces").get_by_role("button")).to_have_count(6)
    yield notebook
    context.close()


def stroke(box: Locator) -> str:
    """Return how thick the outline of a box is drawn."""
    return box.locator("rect").first.evaluate("rect => getComputedStyle(rect).strokeWidth")


def test_pointing_at_a_leaf_lights_it_up_everywhere(notebook: Notebook):
    notebook.page.mouse.move(0, 0)
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


def test_the_explorer_with_the_keyboard_alone(notebook: Notebook):
    output, keyboard = notebook.output("explore"), notebook.page.keyboard
    field = output.get_by_label("Tree", exact=True)
    field.focus()
    keyboard.type("[1, model['sizes']]")
    keyboard.press("Enter")
    expect(output.get_by_role("status")).to_contain_text("4 leaves")
    tab_to(notebook.page, output.get_by_role("button", name="tuples are leaves"))
    keyboard.press("Space")
    expect(output.get_by_role("status")).to_contain_text("3 leaves")
    tab_to(notebook.page, output.get_by_role("radio").first)
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    assert stroke(output.locator("g[data-leaf='2']")) == "4px"
    assert output.get_by_role("radio").nth(2).is_checked()

    field.fill("modle")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("Did you mean model?")
    expect(output.get_by_role("status")).to_contain_text("3 leaves")
    assert field.input_value() == "modle"
    assert notebook.visit.other_hosts == []


def line_widths(output: Locator, number: int) -> list[str]:
    """Return how thick the boxes of a pair are drawn, in each tree."""
    boxes = output.locator(f'svg g[data-pair="{number}"] > rect[stroke-width="1.5"]')
    return boxes.evaluate_all("boxes => boxes.map(box => getComputedStyle(box).strokeWidth)")


def test_pointing_at_a_leaf_or_the_tab_key_lights_up_its_partners(notebook: Notebook):
    output = notebook.output("works")
    notebook.page.mouse.move(0, 0)
    assert set(line_widths(output, 1) + line_widths(output, 2)) == {"1.5px"}
    output.locator('svg g[data-pair="1"]').first.hover()
    lit = line_widths(output, 1)
    assert len(lit) == 5 and set(lit) == {"3px"}  # the leaf, the list with both, the result
    assert set(line_widths(output, 2)) == {"1.5px"}
    output.locator("tbody tr").nth(1).hover()
    assert set(line_widths(output, 1)) == {"1.5px"}
    assert set(line_widths(output, 2)) == {"3px"}

    notebook.page.mouse.move(0, 0)
    output.get_by_role("group", name="Calls").focus()
    for number in (1, 2, 3):
        notebook.page.keyboard.press("Tab")
        row = output.locator("tbody tr").nth(number - 1)
        expect(row).to_be_focused()
        assert row.evaluate("row => getComputedStyle(row).outlineStyle") == "solid"
        assert set(line_widths(output, number)) == {"3px"}


def test_the_trace_counter_by_keyboard_alone(notebook: Notebook):
    output, keys = notebook.output("traces"), notebook.page.keyboard
    status = output.get_by_role("status")
    expect(status).to_contain_text("3 traces in 6 calls")

    output.get_by_role("button", name="5").focus()
    keys.press("Space")
    expect(status).to_contain_text("call 7: ○ cached · same key as call 3")
    keys.press("Tab")
    keys.press("Space")
    expect(status).to_contain_text("call 8: ● traced · x: f32[5] → f32[6]")

    keys.press("Tab")
    keys.press("Tab")
    expect(output.get_by_role("button", name="2.0")).to_be_focused()
    keys.press("Space")
    expect(status).to_contain_text("call 9: ● traced · by: weak i32[] → weak f32[]")

    keys.press("Tab")
    keys.press("Space")
    expect(status).to_contain_text("call 10: ○ cached · same key as call 9")
    assert notebook.visit.other_hosts == []


def test_the_outputs_have_no_axe_core_violations(notebook: Notebook):
    assert_accessible(notebook, outputs=4)
