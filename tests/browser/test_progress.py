"""Progress and hints, used as a learner uses them: by mouse and by keyboard."""

import pytest
from playwright.sync_api import expect

from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from tests.browser.lab import PATIENCE, Visit
from tests.lesson_reads import LESSON_1

pytestmark = pytest.mark.reads(*LESSON_1)

RIGHT = "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))"


def test_the_header_follows_and_leads_to_the_core_exercises_and_on_from_them(visit: Visit):
    lesson = BuiltLesson.read(visit.lab.root / "checks" / "expected" / "01_leaves.json")
    core = [exercise for exercise in lesson.graded.values() if exercise.core]
    exercises = visit.open("exercises/01_leaves_exercises.ipynb")
    shown, check = exercises.output("setup"), exercises.output("count_leaves-check")
    exercises.run("setup", "count_leaves-answer", "count_leaves-check")
    shown.get_by_text(f"0 of {len(lesson.graded)} exercises").wait_for()
    check.get_by_role("button", name="Hint (2 left)").press("Enter")
    check.get_by_text("Hint 1 of 2").wait_for()
    exercises.write("count_leaves-answer", RIGHT)
    exercises.run("count_leaves-answer", "count_leaves-check")
    shown.get_by_text(f"1 of {len(lesson.graded)} exercises").wait_for()
    shown.get_by_role("link", name=core[-1].title).click()
    expect(visit.page.get_by_role("heading", name=core[-1].title)).to_be_in_viewport()

    progress = Progress.load(visit.lab.root / "progress.jsonl")
    for name, exercise in lesson.exercises.items():
        if exercise.core:  # the steps in the lesson, too
            progress.add("01_leaves", name, "correct")
    exercises.run("setup")
    shown.get_by_text("The core of this lesson is done").wait_for()
    shown.get_by_role("link", name="Going deeper").click()
    deeper = visit.page.get_by_role("heading", name="Going deeper", exact=True)
    expect(deeper).to_be_in_viewport(timeout=PATIENCE)
    page = visit.open("notebooks/00_start_here.ipynb")
    page.run("course-map")
    page.output("course-map").get_by_text("The core is done.").wait_for()
    assert "First leaf (earned)" in page.output_text("course-map")
