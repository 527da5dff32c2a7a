"""`course.py lab` where the home folder can't be written, as on a full or a locked-down account."""

import json
import shutil

import pytest

from tests.browser.lab import ReadOnlyHome
from tests.lesson_reads import BROWSER
from tests.needs import missing

pytestmark = pytest.mark.reads(*BROWSER, "src/pytree_course/cli")


def test_the_lab_opens_lessons_and_starts_kernels_without_a_home(tmp_path):
    if shutil.which("bwrap") is None:
        missing("bubblewrap, which makes a folder read-only")
    with ReadOnlyHome(tmp_path) as lab:
        lesson = json.loads(lab.request("/api/contents/notebooks/01_leaves.ipynb"))
        cells = lesson["content"]["cells"]
        assert all(cell["metadata"]["trusted"] for cell in cells if cell["cell_type"] == "code")
        wanted = {"name": "python3"}
        asked = {"path": "a", "name": "a", "type": "notebook", "kernel": wanted}
        assert json.loads(lab.request("/api/sessions", "POST", asked))["kernel"]["id"]
        lab.draw_all_cells()  # a setting, which is written
    told = lab.log.read_text("utf-8")
    assert told.count("cannot be written") == 1
    assert "go into a temporary one" in told
    assert {each.name for each in tmp_path.iterdir()} == {"course", "lab.log"}
