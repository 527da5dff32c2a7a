"""The reports in a browser: nothing is fetched, nothing runs, and axe-core finds no fault."""

import pytest
from axe_playwright_python.sync_playwright import Axe

from pytree_course.classroom.attempt import AttemptState
from pytree_course.reports.pages import write_pages
from tests.lesson_reads import REPORTS
from tests.made_grades import failure, made_attempt, made_grades, made_lesson, made_row

pytestmark = pytest.mark.reads(*REPORTS)

HOSTILE = "<script>document.title = 'run'</script>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Write the pages of a class with every verdict, and return where they are."""
    kinds = ["correct", "incorrect", "error", "not attempted", "timed out"]
    attempts = []
    for number, kind in enumerate(kinds * 3):
        misconceptions = ["counts_nodes"] if number % 2 and kind == "incorrect" else []
        wrong = failure(printed="printed", line={"number": 1, "text": HOSTILE}, note=HOSTILE)
        paths = made_row("paths", "incorrect", failure=wrong, misconceptions=misconceptions)
        student = f"s{number:02}"
        answers = {"count": HOSTILE, "paths": "long " * 100}
        attempts.append(made_attempt(student, [made_row("count", kind), paths], answers=answers))
        attempts.append(made_attempt(student, [made_row("count", kind)], "02_made"))
    attempts.append(made_attempt("eve", [], state=AttemptState.UNREADABLE, reason=HOSTILE))
    folder = tmp_path_factory.mktemp("pages")
    write_pages(made_grades(attempts, [made_lesson(), made_lesson("02_made")]), folder)
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 700])
@pytest.mark.parametrize("name", ["report.html", "students/s01.html", "students/eve.html"])
def test_a_page_is_accessible_and_keeps_to_itself(browser, pages, name, width, scheme):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True
    )
    page = context.new_page()
    heard, asked = [], []
    page.on("console", lambda message: heard.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((pages / name).as_uri())
    assert page.title() != "run"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    found = Axe().run(page).response["violations"]
    context.close()
    assert not found, "\n".join(f"{each['id']}: {each['nodes'][0]['html'][:300]}" for each in found)
    assert (heard, len(asked)) == ([], 1)


def test_what_is_folded_on_the_screen_is_printed(browser, pages):
    page = browser.new_page()
    page.goto((pages / "report.html").as_uri())
    shown = "element => element.checkVisibility({contentVisibilityAuto: true})"
    folded = page.locator("details table").first
    assert not folded.evaluate(shown)
    page.emulate_media(media="print")
    assert folded.evaluate(shown)
    assert folded.bounding_box()["height"] > 0
    page.close()
