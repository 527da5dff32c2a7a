"""A cell that is meant to raise: it looks like an error, and the cells below it run."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from tests.browser.accessibility import assert_accessible
from tests.browser.lab import Lab, Visit
from tests.lesson_reads import BROWSER

pytestmark = pytest.mark.reads(*BROWSER)

RAISES = 'raise ValueError("Dict key mismatch")'
STORED = "ValueError: as stored\n    tree['b']" + " and a long line" * 20


def with_an_error(folder: Path) -> None:
    """Write a notebook as the build writes it, with a cell that raises."""
    stored = new_output("error", ename="ValueError", evalue="as stored", traceback=[STORED])
    raising = new_code_cell(
        RAISES,
        id="raises",
        outputs=[stored],
        execution_count=1,
        metadata={"tags": ["raises-exception", "nbval-ignore-output"]},
    )
    below = new_code_cell("print('here', 'too')", id="below")
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook = new_notebook(cells=[raising, below], metadata={"kernelspec": kernel})
    nbformat.write(notebook, folder / "with_an_error.ipynb")


def test_run_all_goes_on_below_a_cell_that_should_raise(lab: Lab, visit: Visit):
    with_an_error(lab.root / "notebooks")
    notebook = visit.open("notebooks/with_an_error.ipynb")
    shown = notebook.output("raises").locator("[data-mime-type='application/vnd.jupyter.stderr']")
    assert "ValueError: as stored" in shown.inner_text()
    assert_accessible(notebook, outputs=1)
    visit.page.get_by_role("menuitem", name="Run", exact=True).click()
    visit.page.get_by_text("Run All Cells", exact=True).click()
    notebook.output("below").get_by_text("here too").wait_for()
    assert "Dict key mismatch" in notebook.output_text("raises")
