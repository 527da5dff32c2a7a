"""The lab's first minute: at lesson 1, without prompts, without a word to the outside."""

import pytest

from tests.browser.lab import Visit
from tests.lesson_reads import LESSON_1

pytestmark = pytest.mark.reads(*LESSON_1)


def test_the_lab_opens_at_lesson_1_in_peace(visit: Visit):
    lesson = visit.open_start()
    assert lesson.path == "notebooks/01_leaves.ipynb"
    # Prompts, if there were any, come a moment after the rest.
    visit.page.wait_for_timeout(2000)
    assert visit.page.locator(".jp-Dialog").count() == 0
    assert visit.page.locator(".Toastify__toast").count() == 0
    assert visit.requests > 10
    assert visit.other_hosts == []


def test_lesson_1_runs_to_its_end(visit: Visit):
    lesson = visit.open("notebooks/01_leaves.ipynb")
    lesson.run_all()
    assert lesson.failed() == []
    lesson.write("leaves-of-params", "1 / 0")
    lesson.run("leaves-of-params")
    lesson.output("leaves-of-params").get_by_text("ZeroDivisionError").first.wait_for()
    assert lesson.failed() == ["leaves-of-params"]
    assert visit.other_hosts == []
