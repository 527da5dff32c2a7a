"""The reports in a browser: nothing is fetched, nothing runs, and axe-core finds no fault."""

import csv

import pytest
from playwright.sync_api import expect

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.reports.pages import write_pages
from tests.browser.accessibility import assert_page_accessible, assert_shown_accessible
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
    write_pages(made_grades(attempts, [made_lesson(), made_lesson("02_made")]), folder, {})
    return folder


@pytest.mark.parametrize(
    "name", ["report.html", "students/s01.html", "students/eve.html", "answers.html"]
)
def test_a_page_is_accessible_and_keeps_to_itself(browser, pages, name):
    for scheme, width in (("light", 1280), ("dark", 700)):
        assert assert_page_accessible(browser, pages / name, scheme, width, "details") == []


def test_students_can_be_sorted_with_the_keyboard(browser, pages):
    page = browser.new_page()
    page.goto((pages / "report.html").as_uri())
    first = page.locator(".sortable tbody tr").first
    heading = page.locator(".sortable").get_by_role("columnheader", name="Points")
    for order, student in (("descending", "s00"), ("ascending", "eve")):
        heading.get_by_role("button").press("Enter")
        expect(heading).to_have_attribute("aria-sort", order)
        expect(first).to_contain_text(student)
    page.close()


def test_what_a_teacher_types_beside_answers_of_several_exercises_is_one_file(browser, pages):
    page = browser.new_page()
    page.goto(f"{(pages / 'answers.html').as_uri()}#01_made-count-s01.html")
    page.locator('[data-student="s01"][data-exercise="count"] input').first.fill("1")
    page.locator("summary").nth(1).press("Enter")
    comment = page.locator('[data-student="s02"][data-exercise="paths"] textarea')
    comment.fill('Nearly: "len"\nis not it')
    assert comment.evaluate("field => field.scrollHeight <= field.clientHeight"), "all is shown"
    assert page.locator("#collected tbody tr").count() == 2
    assert_shown_accessible(page)
    assert saved(page) == [
        ["student", "lesson", "exercise", "points", "comment"],
        ["s01", "01_made", "count", "1", ""],
        ["s02", "01_made", "paths", "", 'Nearly: "len"\nis not it'],
    ]
    assert page.title() == "Answers, points and comments"
    page.close()


def saved(page):
    with page.expect_download() as download:
        page.get_by_role("button", name="Save").press("Enter")
    with open(download.value.path(), encoding="utf-8", newline="") as lines:
        return [*csv.reader(lines)]


def test_an_earlier_file_comes_back_and_equal_results_get_the_same_half_points(
    browser, pages, tmp_path
):
    heading = "student,lesson,exercise,points,comment\n"
    earlier = tmp_path / "corrections.csv"
    earlier.write_text(heading + "s06,1,count,1,'=As said\n'=1+1,made,count,\"1,5\",Who?\n")
    page = browser.new_page()
    page.goto((pages / "answers.html").as_uri())
    page.get_by_label("Load an earlier file").set_input_files(earlier)
    expect(page.locator("#loaded")).to_contain_text("1 of 2 lines filled in. 1 fit no answer here")
    page.locator("summary").first.press("Enter")
    box = page.locator('[data-student="s01"][data-exercise="count"]').first
    box.get_by_label("Points").fill("0.5")
    box.get_by_label("The same for 5 other answers with this result").press("Space")
    assert page.locator("#collected tbody tr").count() == 7
    assert_shown_accessible(page)
    equal = {student: ["0.5", ""] for student in ("s01", "s02", "s07", "s11", "s12")}
    kept = {"'=1+1": ["1,5", "Who?"]}  # no spreadsheet calculates it
    found = {student: said for student, _, _, *said in saved(page)[1:]}
    assert found == equal | kept | {"s06": ["1", "'=As said"]}
    page.close()
