"""JupyterLab at lesson 1: it opens in peace, and runs the lesson whole."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.browser.accessibility import assert_accessible
from tests.browser.lab import Lab, Visit
from tests.lesson_reads import LESSON_1

pytestmark = pytest.mark.reads(*LESSON_1)

LESSON = "notebooks/01_leaves.ipynb"
STORED = "ValueError: as stored\n    tree['b']" + " and a long line" * 20


def test_the_lab_opens_at_lesson_1_in_peace(visit: Visit):
    lesson = visit.open_start()
    assert lesson.path == LESSON
    # Prompts, if there were any, come a moment after the rest.
    visit.page.wait_for_timeout(2000)
    assert visit.page.locator(".jp-Dialog").count() == 0
    assert visit.page.locator(".Toastify__toast").count() == 0
    assert visit.requests > 10
    assert visit.other_hosts == []


def test_lesson_1_runs_to_its_end(visit: Visit):
    lesson = visit.open(LESSON)
    lesson.run_all()
    assert lesson.failed() == []
    lesson.write("leaves-of-params", "1 / 0")
    lesson.run("leaves-of-params")
    lesson.output("leaves-of-params").get_by_text("ZeroDivisionError").first.wait_for()
    assert lesson.failed() == ["leaves-of-params"]
    assert visit.other_hosts == []


def test_run_all_goes_on_below_a_cell_that_should_raise(lab: Lab, visit: Visit):
    stored = new_output("error", ename="ValueError", evalue="as stored", traceback=[STORED])
    tags = {"tags": ["raises-exception", "nbval-ignore-output"]}  # as the build writes them
    raising = new_code_cell("raise ValueError('new')", id="raises", outputs=[stored], metadata=tags)
    below = new_code_cell("print('here', 'too')", id="below")
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    written = new_notebook(cells=[raising, below], metadata={"kernelspec": kernel})
    nbformat.write(written, lab.root / "notebooks" / "with_an_error.ipynb")
    notebook = visit.open("notebooks/with_an_error.ipynb")
    shown = notebook.output("raises").locator("[data-mime-type='application/vnd.jupyter.stderr']")
    assert "ValueError: as stored" in shown.inner_text()
    assert_accessible(notebook, outputs=1)
    visit.page.get_by_role("menuitem", name="Run", exact=True).click()
    visit.page.get_by_text("Run All Cells", exact=True).click()
    notebook.output("below").get_by_text("here too").wait_for()
    assert "ValueError: new" in notebook.output_text("raises")
