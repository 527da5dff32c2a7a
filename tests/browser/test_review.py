"""A review in JupyterLab: by keyboard, in both themes, on a narrow page."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from pytree_course.learner.progress import Progress
from tests.browser.accessibility import assert_accessible
from tests.browser.lab import Notebook, Visit
from tests.lesson_reads import LESSON_1

pytestmark = pytest.mark.reads(*LESSON_1)

CELL = "review"


def begin(visit: Visit) -> Notebook:
    """Open the review of somebody who solved an exercise, and once counted items for leaves."""
    file = visit.lab.root / "progress.jsonl"
    progress = Progress.load(file)
    progress.add("01_leaves", "count_leaves", "tried", ["counts_the_top_level"])
    progress.add("01_leaves", "count_leaves", "correct")
    # What was wrong today is asked on another day.
    today, earlier = datetime.now(UTC), datetime.now(UTC) - timedelta(days=2)
    lines = file.read_text("utf-8")
    file.write_text(lines.replace(f"{today:%Y-%m-%dT}", f"{earlier:%Y-%m-%dT}"), "utf-8")
    review = visit.open("notebooks/review.ipynb")
    review.run(CELL)
    return review


def test_questions_are_answered_by_keyboard_and_explained(visit: Visit):
    review = begin(visit)
    shown = review.output(CELL)
    shown.get_by_text("Question 1 of 10").wait_for()
    shown.get_by_text("How many leaves does JAX see here?").wait_for()
    shown.get_by_role("button", name="A", exact=True).press("Space")
    following = shown.get_by_role("button", name="Next")
    following.wait_for()
    for _ in range(10):  # past the picture and the link of a wrong answer
        visit.page.keyboard.press("Tab")
        if following.evaluate("button => button === document.activeElement"):
            break
    visit.page.keyboard.press("Enter")
    shown.get_by_text("Question 2 of 10").wait_for()
    file = visit.lab.root / "progress.jsonl"
    event = json.loads(file.read_text().splitlines()[-1])
    assert (event["event"], event["name"]) == ("reviewed", "counts_the_top_level")
    assert Progress.load(file).unreadable_lines == 0


def test_a_wrong_answer_shows_the_case_and_leads_to_the_section(visit: Visit):
    visit.page.set_viewport_size({"width": 1280, "height": 560})
    review = begin(visit)
    shown = review.output(CELL)
    wrong = shown.get_by_text("Not this.")
    right = shown.get_by_text("Right.", exact=True)
    for number in range(1, 11):
        shown.get_by_text(f"Question {number} of 10").wait_for()
        shown.get_by_role("button", name="A", exact=True).press("Space")
        expect(wrong.or_(right)).to_be_visible()
        if wrong.is_visible() and shown.locator("svg").count():
            break
        shown.get_by_role("button", name="Next").press("Enter")
    for needed in (wrong, shown.get_by_role("button", name="Next")):
        expect(needed).to_be_in_viewport(ratio=1)
    assert_accessible(review, 1)
    visit.page.set_viewport_size({"width": 480, "height": 900})
    visit.page.keyboard.press("Control+b")  # the list of files leaves no room
    shown.get_by_text("Not this.").scroll_into_view_if_needed()
    shown.get_by_role("link").click()
    visit.page.wait_for_function(
        "() => jupyterapp.shell.currentWidget.context.path === 'notebooks/01_leaves.ipynb'"
    )


def test_where_nothing_is_due_it_says_so(visit: Visit):
    review = visit.open("notebooks/review.ipynb")
    review.run(CELL)
    review.output(CELL).get_by_text("Nothing is due today.").wait_for()
