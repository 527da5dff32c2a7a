"""A JupyterLab that course.py did not start: on a hub, on Binder, or by `jupyter lab`."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import new_visit
from tests.browser.lab import PlainLab, Visit
from tests.lesson_reads import BROWSER

pytestmark = pytest.mark.reads(*BROWSER)

LESSON = "notebooks/01_leaves.ipynb"


@pytest.fixture(scope="module")
def plain_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PlainLab]:
    """Start JupyterLab in a fresh account, on a copy of the course."""
    with PlainLab(tmp_path_factory.mktemp("home")) as lab:
        yield lab


@pytest.fixture
def visit(plain_lab: PlainLab, browser: Browser) -> Iterator[Visit]:
    """Open a page of a browser there."""
    yield from new_visit(plain_lab, browser)


def pictures(visit: Visit, cell: str) -> int:
    """Open lesson 1 and return how many pictures an output has, whose words are there."""
    output = visit.open(LESSON).output(cell)
    output.get_by_text("weight").first.wait_for()
    return output.locator("svg").count()


def test_a_lesson_shows_its_pictures_before_it_is_run_until_somebody_changes_it(visit: Visit):
    file = visit.lab.root / LESSON
    notebook = json.loads(file.read_text("utf-8"))
    cell, output = next(
        (cell["id"], output)
        for cell in notebook["cells"]
        for output in cell.get("outputs", ())
        if "<svg" in json.dumps(output)
    )
    assert pictures(visit, cell) == 1
    script = "<img src='none' onerror='document.body.dataset.ran = 1'>"
    output["data"]["text/html"] = [script, *output["data"]["text/html"]]
    file.write_text(json.dumps(notebook), "utf-8")
    assert pictures(visit, cell) == 0
    assert visit.page.locator("body[data-ran]").count() == 0
