"""The explorer, the map view and the trace counter in the lab, by mouse and by keyboard alone."""

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.accessibility import assert_accessible, tab_to
from tests.browser.lab import Notebook, Visit

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
def notebook(long_visit: Visit) -> Notebook:
    """Return a notebook with all widgets, all cells run."""
    long_visit.lab.write("play.ipynb", CELLS)
    notebook = long_visit.open("play.ipynb")
    notebook.run_all()
    return notebook


def expect_lit(boxes: Locator, width: str) -> None:
    """Expect boxes to have an outline of this width."""
    for box in boxes.all():
        expect(box).to_have_css("stroke-width", width)


def test_the_outputs_have_no_axe_core_violations(notebook: Notebook):
    expect(notebook.output("traces").get_by_role("button")).to_have_count(6)
    assert_accessible(notebook, outputs=5)


def test_the_explorer_by_mouse_and_by_keyboard(notebook: Notebook):
    output, page = notebook.output("explore"), notebook.page
    leaf, row = output.locator("g[data-leaf='2']"), output.locator("tr[data-leaf='2']")
    box = leaf.locator("rect").first
    page.mouse.move(0, 0)
    expect_lit(box, "1.5px")
    row.hover()  # pointing at a leaf lights it up in picture and list
    expect_lit(box, "4px")
    expect_lit(output.locator("g[data-leaf='1'] rect").first, "1.5px")
    leaf.hover()
    expect(row).to_have_css("font-weight", "700")
    expect(row).to_have_css("outline-style", "solid")
    page.mouse.move(0, 0)
    expect_lit(box, "1.5px")

    field, keyboard = output.get_by_label("Tree", exact=True), page.keyboard
    said = output.get_by_role("status")
    field.focus()
    keyboard.type("[1, model['sizes']]")
    keyboard.press("Enter")
    expect(said).to_contain_text("4 leaves")
    tab_to(page, output.get_by_role("button", name="tuples are leaves"))
    keyboard.press("Space")
    expect(said).to_contain_text("3 leaves")
    tab_to(page, output.get_by_role("radio").first)
    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    expect(output.get_by_role("radio").nth(2)).to_be_checked()
    expect_lit(box, "4px")
    field.fill("modle")
    keyboard.press("Enter")
    expect(output.get_by_role("alert")).to_contain_text("Did you mean model?")
    expect(said).to_contain_text("3 leaves")
    expect(field).to_have_value("modle")


def test_pointing_at_a_leaf_or_the_tab_key_lights_up_its_partners(notebook: Notebook):
    output, page = notebook.output("works"), notebook.page
    first, second, third = (
        output.locator(f'svg g[data-pair="{number}"] > rect[stroke-width="1.5"]')
        for number in (1, 2, 3)
    )
    page.mouse.move(0, 0)
    expect(first).to_have_count(5)  # the leaf, the list with both, the result
    expect_lit(first, "1.5px")
    output.locator('svg g[data-pair="1"]').first.hover()
    expect_lit(first, "3px")
    expect_lit(second, "1.5px")
    page.mouse.move(0, 0)
    output.get_by_role("group", name="Calls").focus()
    for row, boxes in zip(output.locator("tbody tr").all(), (first, second, third), strict=True):
        page.keyboard.press("Tab")
        expect(row).to_be_focused()
        expect(row).to_have_css("outline-style", "solid")
        expect_lit(boxes, "3px")


def test_the_trace_counter_by_keyboard_alone(notebook: Notebook):
    output, keys = notebook.output("traces"), notebook.page.keyboard
    status = output.get_by_role("status")
    expect(status).to_contain_text("3 traces in 6 calls")
    output.get_by_role("button", name="5").focus()
    for presses, says in (
        (["Space"], "call 7: ○ cached · same key as call 3"),
        (["Tab", "Space"], "call 8: ● traced · x: f32[5] → f32[6]"),
        (["Tab", "Tab", "Space"], "call 9: ● traced · by: weak i32[] → weak f32[]"),
        (["Tab", "Space"], "call 10: ○ cached · same key as call 9"),  # "Call again"
    ):
        for key in presses:
            keys.press(key)
        expect(status).to_contain_text(says)
