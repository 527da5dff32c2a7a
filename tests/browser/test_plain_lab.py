"""A JupyterLab that course.py did not start: on a hub, on Binder, or by `jupyter lab`."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.lab import PlainLab, Visit
from tests.lesson_reads import BROWSER

pytestmark = pytest.mark.reads(*BROWSER)

LESSON = "notebooks/01_leaves.ipynb"


def test_a_lesson_shows_its_pictures_before_it_is_run(browser: Browser, tmp_path: Path):
    with PlainLab(tmp_path) as lab:
        cells = json.loads((lab.root / LESSON).read_text("utf-8"))["cells"]
        first = next(cell["id"] for cell in cells if "<svg" in json.dumps(cell.get("outputs")))
        page = browser.new_page()
        output = Visit(lab, page).open(LESSON).output(first)
        output.get_by_text("weight").first.wait_for()
        assert output.locator("svg").count() == 1
        page.close()
