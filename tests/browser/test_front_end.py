"""What `jupyter/lab_extension.js` does, in JupyterLab and in Notebook: one click, one look."""

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version

import pytest
from playwright.sync_api import Browser, Page, expect

from pytree_course.judging.expected import BuiltLesson
from tests.browser.conftest import new_visit
from tests.browser.lab import PATIENCE, Notebook7, Visit
from tests.lesson_reads import LESSON_1
from tests.needs import missing

pytestmark = pytest.mark.reads(*LESSON_1)

LESSON, EXERCISES = "notebooks/01_leaves.ipynb", "exercises/01_leaves_exercises.ipynb"
DEEPER = "notebooks/deeper/01_leaves/working-with-structures.ipynb"
WRONG = "def count_leaves(tree):\n    return len(tree)"
IMPORTS = "lesson-1-leaves-what-does-jax-see-when-i-hand-it-thi-3"
PARAMS = "a-program-that-reads-digits-2"
ANSWER, CHECK = "count_leaves-answer", "count_leaves-check"


@pytest.fixture(scope="module")
def notebook_7(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook7]:
    """Start the Notebook that belongs to this JupyterLab: 7.6 to 4.6."""
    folder = tmp_path_factory.mktemp("notebook")
    minor = version("jupyterlab").split(".")[1]
    install = (sys.executable, "-m", "uv", "pip", "install", "--no-deps", "--target", folder / "it")
    if subprocess.run([*install, f"notebook==7.{minor}.*"], capture_output=True).returncode:
        missing("Notebook 7, from the package index")
    with Notebook7(folder, folder / "it") as running:
        yield running


@pytest.fixture
def visit_to_notebook(notebook_7: Notebook7, browser: Browser) -> Iterator[Visit]:
    yield from new_visit(notebook_7, browser)


def expect_landed(page: Page, heading: str) -> None:
    """Expect a heading at the top of the window, in the cell that Shift+Enter would run.

    What ends a notebook is as far up as the notebook can be scrolled.
    """
    active = page.locator(".jp-Notebook-cell.jp-mod-active").filter(visible=True)
    landed = active.get_by_role("heading", name=heading, exact=True)
    expect(landed).to_be_in_viewport(timeout=PATIENCE)
    page.wait_for_function(
        """heading => {
            let pane = heading.parentElement;
            while (pane.scrollHeight <= pane.clientHeight + 1) pane = pane.parentElement;
            const is_at_end = pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 2;
            return heading.getBoundingClientRect().top < 200 || is_at_end;
        }""",
        arg=landed.element_handle(),
    )


def active_cell(visit: Visit) -> str:
    return visit.page.evaluate("jupyterapp.shell.currentWidget.content.activeCell.model.id")


def test_the_map_leads_to_a_section_and_to_the_deeper_notebooks(visit: Visit):
    page = visit.open("notebooks/00_start_here.ipynb")
    course_map = page.output("course-map")
    course_map.get_by_role("link", name="Write leaves_of").click()
    expect_landed(visit.page, "What JAX sees")
    page = visit.open("notebooks/00_start_here.ipynb")
    course_map.get_by_text("Going deeper").nth(1).click()
    course_map.get_by_role("link", name="None as a mark").click()
    expect(visit.page.get_by_role("heading", name="None as a mark", exact=True)).to_be_in_viewport(
        timeout=PATIENCE
    )


def test_a_lesson_leads_to_the_glossary(visit: Visit):
    visit.open(LESSON)
    visit.page.locator("a[href*='glossary.ipynb'][href$='#registry']").first.click()
    expect_landed(visit.page, "registry")
    remembered = "Object.keys(localStorage).filter(key => key.startsWith('pytree'))"
    assert visit.page.evaluate(remembered) == []


def test_a_link_inside_a_notebook_lands_although_another_has_the_same_heading(visit: Visit):
    visit.open(LESSON)
    visit.page.evaluate(
        "void jupyterapp.commands.execute('docmanager:open', {path: 'notebooks/02_tree_map.ipynb'})"
    )
    visit.page.get_by_role("tab", name="02_tree_map.ipynb").wait_for()
    visit.page.locator(".jp-Notebook:visible a[href='#Going-deeper']").first.click()
    expect_landed(visit.page, "Going deeper")
    path = "jupyterapp.shell.currentWidget.context.path"
    assert visit.page.evaluate(path) == "notebooks/02_tree_map.ipynb"


def run_by_keyboard(visit: Visit, cell_id: str) -> None:
    """Choose a cell and press Shift+Enter, after which JupyterLab goes on to the next cell."""
    visit.page.evaluate(
        """id => {
            const notebook = jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = notebook.widgets.findIndex(cell => cell.model.id === id);
            notebook.mode = "command";
            notebook.activate();
        }""",
        cell_id,
    )
    visit.page.keyboard.press("Shift+Enter")


def test_a_wrong_answer_from_its_verdict_to_what_to_reread(visit: Visit):
    exercises = visit.open(EXERCISES)
    exercises.write(ANSWER, WRONG)
    exercises.run("setup", ANSWER)
    run_by_keyboard(visit, CHECK)
    exercises.wait_until_idle()
    # The verdict and its reason stay on the screen, though the next cell is active.
    assert active_cell(visit) != CHECK
    for text in ("Not yet", "Your results are those of"):
        expect(exercises.output(CHECK).get_by_text(text).first).to_be_in_viewport(ratio=1)

    changed = visit.page.locator(".pytree-answer.jp-mod-dirty")
    expect(changed).to_have_count(0)
    exercises.write(ANSWER, WRONG.replace("len(tree)", "3"))
    expect(changed).to_have_count(1)
    said = "element => getComputedStyle(element, '::after').content"
    assert "Changed since it ran" in changed.evaluate(said)

    exercises.output(CHECK).get_by_role("button", name="Hint").wait_for()
    visit.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    cut_off = exercises.output(CHECK).locator(".jupyter-widgets-disconnected")
    cut_off.first.wait_for()
    said = "them => them.map(each => getComputedStyle(each, '::before').content)"
    [told] = [each for each in cut_off.evaluate_all(said) if each != "none"]
    assert told == '"The kernel was restarted: run the cells again, from the top."'

    exercises.output(CHECK).get_by_role("link", name="How many leaves?").click()
    expect_landed(visit.page, "How many leaves?")


def test_run_all_leaves_a_reader_at_the_cell_of_their_choice(visit: Visit):
    lesson = visit.open(LESSON)
    visit.page.evaluate("void jupyterapp.commands.execute('notebook:run-all-cells')")
    lesson.cell("leaves-of-params").locator(".jp-InputPrompt").click()
    lesson.output("one-tree-all-rules-3-predict").get_by_role("button").first.wait_for()
    lesson.wait_until_idle()
    visit.page.wait_for_timeout(1000)  # what moves the reader does so a moment after the rest
    assert active_cell(visit) == "leaves-of-params"


def test_a_prediction_is_made_by_keyboard_and_revealed_by_the_next_cell(visit: Visit):
    lesson, name = visit.open(LESSON), "what-jax-sees-order"
    asked = BuiltLesson.read(visit.lab.root / "checks/expected/01_leaves.json").predictions[name]
    assert asked.options.keys() == {*"ABC"}
    assert asked.answer != "B"
    assert lesson.output_text(name) == ""
    picture = visit.page.locator("svg[role=img]").first  # stored, before anything is run
    picture.scroll_into_view_if_needed()
    assert picture.is_visible() and picture.get_attribute("aria-label")
    lesson.run(IMPORTS, PARAMS)
    run_by_keyboard(visit, f"{name}-predict")
    question = lesson.output(f"{name}-predict")
    buttons = [question.get_by_role("button", name=letter, exact=True) for letter in "ABC"]
    expect(buttons[0]).to_be_focused()
    for key, focused in (("Tab", 1), ("Tab", 2), ("ArrowRight", 0), ("ArrowUp", 2)):
        visit.page.keyboard.press(key)
        expect(buttons[focused]).to_be_focused()
    cells = "jupyterapp.shell.currentWidget.content.widgets.length"
    before = visit.page.evaluate(cells)
    visit.page.keyboard.press("b")
    question.get_by_text("You predict B.").wait_for()
    # No key that chose or moved has reached JupyterLab, to which `b` is a new cell.
    assert visit.page.evaluate(cells) == before
    assert active_cell(visit) == name
    why = lesson.cell("what-jax-sees-5").locator("details")
    assert why.get_attribute("open") is None
    lesson.run(name)
    lesson.output(name).get_by_text(f"✗ You predicted B. It is {asked.answer}.").wait_for()
    assert lesson.output_text(name).startswith("[(32,), (64, 32)")
    expect(why).to_have_attribute("open", "")
    expect(why.get_by_text("sorts the keys", exact=False)).to_be_visible()
    assert visit.other_hosts == []


def test_notebook_7_opens_a_page_of_its_own_at_the_section(visit_to_notebook: Visit):
    visit_to_notebook.open("notebooks/00_start_here.ipynb")
    page = visit_to_notebook.page
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Write leaves_of").click()
    expect_landed(opened.value, "What JAX sees")


def test_the_answer_to_a_prediction_stays_on_the_screen(visit_to_notebook: Visit):
    lesson, name = visit_to_notebook.open(LESSON), "dict-keys-are-sorted-mixed"  # an error
    lesson.run(IMPORTS)
    run_by_keyboard(visit_to_notebook, f"{name}-predict")
    visit_to_notebook.page.get_by_text("Choose by a click or by typing the letter").wait_for()
    for key, *answers in (
        ("b", "You predict B."),
        ("Shift+Enter", "You predicted B, and so it is.", "Python cannot compare"),
    ):
        visit_to_notebook.page.keyboard.press(key)
        for text in answers:
            shown = visit_to_notebook.page.get_by_text(text).last
            expect(shown).to_be_in_viewport(timeout=PATIENCE)


def test_a_prediction_that_was_typed_leads_on_to_its_cell(visit: Visit):
    lesson, name = visit.open(DEEPER), "working-with-structures-3"
    lesson.run("imports", "setup-1", f"{name}-predict")
    shown = lesson.output(f"{name}-predict")
    shown.get_by_role("textbox").fill("6")
    visit.page.keyboard.press("Enter")
    shown.get_by_text("You predict 6. Now run the next cell").wait_for()
    assert active_cell(visit) == name
    visit.page.keyboard.press("Shift+Enter")
    lesson.wait_until_idle()
    assert active_cell(visit) != name


def test_a_browser_does_not_keep_the_front_end_of_an_earlier_version(visit: Visit):
    with visit.page.expect_response("**/pytree-course.js*") as loaded:
        visit.open(LESSON)
    assert loaded.value.headers["cache-control"] == "no-cache"


def test_a_lesson_that_is_opened_has_nothing_to_save(visit: Visit):
    visit.open(LESSON)
    is_dirty = "() => jupyterapp.shell.currentWidget.context.model.dirty"
    has_language = (
        "() => jupyterapp.shell.currentWidget.context.model.getMetadata('language_info').version"
    )
    visit.page.wait_for_function(has_language)
    assert visit.page.evaluate(is_dirty) is False
