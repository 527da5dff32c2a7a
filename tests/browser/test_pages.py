"""The reports in a browser: nothing is fetched, nothing runs, and axe-core finds no fault."""

import csv
from io import StringIO

import pytest

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.reports.pages import write_pages
from tests.browser.accessibility import assert_page_accessible
from tests.made_grades import (
    failure,
    made_attempt,
    made_grades,
    made_lesson,
    made_row,
)

RUN = "document.title='run'"
HOSTILE = f"</pre></code><script>{RUN}</script><img src=x onerror={RUN}>' onclick='{RUN}"


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


@pytest.mark.parametrize(
    "name", ["report.html", "students/s01.html", "students/eve.html", "answers/01_made-count.html"]
)
def test_a_page_is_accessible_and_keeps_to_itself(browser, pages, name):
    for scheme, width in (("light", 1280), ("dark", 700)):
        assert assert_page_accessible(browser, pages / name, scheme, width, "details") == []


def test_what_a_teacher_types_beside_answers_becomes_lines_for_corrections(browser, pages):
    page = browser.new_page()
    page.goto((pages / "answers" / "01_made-count.html").as_uri())
    page.locator('[data-student="s01"] input').fill("1")
    comment = page.locator('[data-student="s02"] textarea')
    comment.fill('Nearly: "len"\nis not it')
    assert comment.evaluate("field => field.scrollHeight <= field.clientHeight"), "all is shown"
    lines = csv.reader(StringIO(page.locator("#lines").input_value()))
    assert [*lines] == [
        ["s01", "01_made", "count", "1", ""],
        ["s02", "01_made", "count", "", 'Nearly: "len"\nis not it'],
    ]
    assert page.title() == "Answers to Exercise count"
    page.close()
