"""JupyterLab at lesson 1: it opens in peace, and runs the lesson whole."""

import nbformat
import pytest
from nbformat.v4 import new_output

from tests.browser.accessibility import assert_accessible
from tests.browser.lab import Lab, Visit
from tests.lesson_reads import LESSON_1

pytestmark = pytest.mark.reads(*LESSON_1)

LESSON = "notebooks/01_leaves.ipynb"
STORED = "ValueError: as stored\n    tree['b']" + " and a long line" * 20


def test_the_lab_opens_at_lesson_1_in_peace_and_runs_it_to_its_end(visit: Visit):
    lesson = visit.open_start()
    assert lesson.path == LESSON
    # Prompts, if there were any, come a moment after the rest.
    visit.page.wait_for_timeout(2000)
    assert visit.page.locator(".jp-Dialog").count() == 0
    assert visit.page.locator(".Toastify__toast").count() == 0
    assert visit.requests > 10
    lesson.run_all()
    assert lesson.failed() == []
    lesson.write("leaves-of-params", "1 / 0")
    lesson.run("leaves-of-params")
    lesson.output("leaves-of-params").get_by_text("ZeroDivisionError").first.wait_for()
    assert lesson.failed() == ["leaves-of-params"]
    assert visit.other_hosts == []


def test_run_all_goes_on_below_a_cell_that_should_raise(lab: Lab, visit: Visit):
    cells = {"raises": "raise ValueError('new')", "below": "print('here', 'too')"}
    lab.write("with_an_error.ipynb", cells)
    written = nbformat.read(lab.root / "with_an_error.ipynb", as_version=4)
    stored = new_output("error", ename="ValueError", evalue="as stored", traceback=[STORED])
    tags = ["raises-exception", "nbval-ignore-output"]  # as the build writes them
    written.cells[0].update(outputs=[stored], metadata={"tags": tags})
    nbformat.write(written, lab.root / "with_an_error.ipynb")
    notebook = visit.open("with_an_error.ipynb")
    shown = notebook.output("raises").locator("[data-mime-type='application/vnd.jupyter.stderr']")
    assert "ValueError: as stored" in shown.inner_text()
    assert_accessible(notebook, outputs=1)
    visit.page.get_by_role("menuitem", name="Run", exact=True).click()
    visit.page.get_by_text("Run All Cells", exact=True).click()
    notebook.output("below").get_by_text("here too").wait_for()
    assert "ValueError: new" in notebook.output_text("raises")
