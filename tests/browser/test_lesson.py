"""A lesson in JupyterLab: it opens in peace, asks for predictions, and runs to its end."""

import json

import nbformat
import pytest
from playwright.sync_api import expect

from pytree_course.judging.expected import BuiltLesson
from tests.browser.accessibility import assert_accessible
from tests.browser.lab import ROOT, Notebook, Visit, active_cell, expect_landed

LESSON = "notebooks/01_leaves.ipynb"
IMPORTS = "lesson-1-leaves-what-does-jax-see-when-i-hand-it-thi-3"
PARAMS = "a-program-that-reads-digits-2"


@pytest.fixture(scope="module")
def lesson(long_visit: Visit) -> Notebook:
    """Return what JupyterLab opens by itself: lesson 1, which nobody has run."""
    long_visit.lab.draw_all_cells()
    return long_visit.open_start()


def test_it_opens_lesson_1_without_prompts_and_with_nothing_to_save(lesson: Notebook):
    page, lab = lesson.page, lesson.visit.lab
    assert lesson.path == LESSON
    assert page.locator(".jp-Dialog, .Toastify__toast").count() == 0
    # What would ask a moment later.
    prompts = lab.request("/lab/api/settings/@jupyterlab/apputils-extension:notification")
    asked = json.loads(prompts)["schema"]["properties"]
    assert asked["fetchNews"]["default"] == "false"
    assert asked["checkForUpdates"]["default"] is False
    model = "jupyterapp.shell.currentWidget.context.model"
    page.wait_for_function(f"() => {model}.getMetadata('language_info')?.version")
    page.wait_for_function(f"() => !{model}.dirty")
    # Browsers may not keep the front end of an earlier version.
    script = page.locator("script[src*='pytree-course.js']").first.get_attribute("src")
    assert page.request.get(f"{lab.url}{script}").headers["cache-control"] == "no-cache"


def test_its_stored_outputs_are_shown_and_accessible_before_anything_is_run(lesson: Notebook):
    cells = nbformat.read(ROOT / LESSON, as_version=4).cells
    stored = next(cell.id for cell in cells if cell.get("outputs"))
    expect(lesson.output(stored)).to_be_visible()
    assert_accessible(lesson, sum(len(cell.get("outputs", ())) for cell in cells))


def test_a_prediction_is_made_by_keyboard_and_revealed_by_the_next_cell(lesson: Notebook):
    page, name = lesson.page, "what-jax-sees-order"
    built = BuiltLesson.read(ROOT / "checks/expected/01_leaves.json")
    asked = built.predictions[name]
    assert asked.options.keys() == {*"ABC"}
    assert asked.answer != "B"
    assert lesson.output_text(name) == ""
    lesson.run(IMPORTS, PARAMS)
    lesson.choose(f"{name}-predict")
    cells = "jupyterapp.shell.currentWidget.content.widgets.length"
    before = page.evaluate(cells)
    page.keyboard.press("b")  # the question is not asked yet: it is now, and no cell is added
    question = lesson.output(f"{name}-predict")
    buttons = [question.get_by_role("button", name=letter, exact=True) for letter in "ABC"]
    choice = question.locator(".pytree-choice")
    expect(choice).to_be_focused()  # no option looks chosen
    # Its source is folded, and the arrows of JupyterLab reach it all the same.
    for key in ("Escape", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    assert active_cell(page) == f"{name}-predict"
    page.keyboard.press("Enter")
    expect(choice).to_be_focused()
    for key, focused in (
        ("Tab", 0),
        ("Tab", 1),
        ("ArrowRight", 2),
        ("ArrowRight", 0),
        ("ArrowUp", 2),
    ):
        page.keyboard.press(key)
        expect(buttons[focused]).to_be_focused()
    page.keyboard.press("Tab")  # past the last option: on to the cell that answers
    assert active_cell(page) == name
    for key in ("ArrowUp", "Enter"):
        page.keyboard.press(key)
    expect(choice).to_be_focused()
    for key in "xac":  # `a` is a new cell to JupyterLab, `x` cuts one
        page.keyboard.press(key)
    question.get_by_text("You predict C.").wait_for()
    assert active_cell(page) == name
    page.keyboard.press("b")  # another choice, from the cell below
    question.get_by_text("You predict B.").wait_for()
    # No key that chose or moved has reached JupyterLab.
    assert page.evaluate(cells) == before
    assert active_cell(page) == name
    below = page.locator('[data-cell-id="what-jax-sees-5"]')
    why = below.locator("details")
    assert why.get_attribute("open") is None
    expect(question).to_be_in_viewport()
    expect(below).not_to_be_in_viewport()  # it would tell the answer
    lesson.run(name)
    answer = lesson.output(name).get_by_text(f"✗ You predicted B. It is {asked.answer}.")
    expect(answer).to_be_in_viewport()
    expect(below).to_be_in_viewport()
    assert lesson.output_text(name).startswith("[(32,), (64, 32)")
    expect(why).to_have_attribute("open", "")
    expect(why.get_by_text("sorts the keys", exact=False)).to_be_visible()


def test_run_all_reaches_the_end(lesson: Notebook):
    lesson.run_all()
    assert lesson.failed() == []


def test_a_link_lands_in_the_glossary_or_at_the_heading_of_its_own_notebook(lesson: Notebook):
    page = lesson.page
    page.locator("a[href*='glossary.ipynb'][href$='#registry']").first.click()
    expect_landed(page, "registry")
    remembered = "Object.keys(localStorage).filter(key => key.startsWith('pytree'))"
    assert page.evaluate(remembered) == []
    page.evaluate(
        "void jupyterapp.commands.execute('docmanager:open', {path: 'notebooks/02_tree_map.ipynb'})"
    )
    page.get_by_role("tab", name="02_tree_map.ipynb").wait_for()
    page.locator(".jp-Notebook:visible a[href='#Going-deeper']").first.click()
    expect_landed(page, "Going deeper")  # lesson 1, which is open too, has one as well
    path = "jupyterapp.shell.currentWidget.context.path"
    assert page.evaluate(path) == "notebooks/02_tree_map.ipynb"
