"""A learner's way through exercises, the start page, a deeper section and a review."""

from datetime import UTC, datetime, timedelta

from playwright.sync_api import expect

from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.learner.review import due_questions
from tests.browser.accessibility import assert_accessible
from tests.browser.lab import ROOT, Visit, active_cell, expect_landed

EXERCISES = "exercises/01_leaves_exercises.ipynb"
ANSWER, CHECK = "count_leaves-answer", "count_leaves-check"
WRONG = "def count_leaves(tree):\n    return len(tree)"
RIGHT = "def count_leaves(tree):\n    return len(jax.tree.leaves(tree))"
# On a busy computer, an explanation comes a second after the options are disabled.
SLOW_REVIEW = """\
import time
from pytree_course import review
from pytree_course.learner.review import Review
explain = Review.answer
Review.answer = lambda *answered: (time.sleep(1), explain(*answered))[1]
review()"""


def test_an_exercise_from_a_wrong_answer_to_a_right_one(visit: Visit):
    page = visit.page
    lesson = BuiltLesson.read(ROOT / "checks/expected/01_leaves.json")
    core = [exercise for exercise in lesson.graded.values() if exercise.core]
    visit.lab.draw_all_cells()
    exercises = visit.open(EXERCISES)
    header, shown = exercises.output("setup"), exercises.output(CHECK)
    exercises.write(ANSWER, WRONG)
    exercises.write("same_structure-answer", "def same_structure(a, b):\n    return a.same")
    exercises.run(
        "setup",
        ANSWER,
        "same_structure-answer",
        "same_structure-check",
        "leaf_shapes-answer",
        "leaf_shapes-check",
    )
    header.get_by_text(f"0 of {len(lesson.graded)} exercises").wait_for()
    expect(header.get_by_role("progressbar")).to_have_attribute("aria-valuenow", "0")

    # The verdict and its reason stay on the screen, though the next cell is active.
    exercises.run_by_keyboard(CHECK)
    for text in ("Not yet", "Your results are those of"):
        expect(shown.get_by_text(text).first).to_be_in_viewport(ratio=1)
    assert active_cell(page) != CHECK
    shown.get_by_role("button", name="Hint (2 left)").press("Enter")
    shown.get_by_text("Hint 1 of 2").wait_for()
    expect(shown.get_by_role("button", name="Hint (1 left)")).to_be_focused()
    assert_accessible(exercises, 4)  # wrong, an error, not attempted, and the progress

    changed = page.locator(".pytree-answer.jp-mod-dirty")
    expect(changed).to_have_count(0)
    exercises.write(ANSWER, WRONG.replace("len(tree)", "3"))
    expect(changed).to_have_count(1)
    said = "element => getComputedStyle(element, '::after').content"
    assert "Changed since it ran" in changed.evaluate(said)

    # An answer that was written and not run is not "not attempted".
    unattempted = exercises.output("leaf_shapes-check").locator(".pytree-not-attempted")
    said = "element => getComputedStyle(element, '::before').content"
    assert unattempted.evaluate(said) == "none"
    exercises.write("leaf_shapes-answer", "def leaf_shapes(tree):\n    return {}")
    expect(unattempted.get_by_text("Write your answer")).to_be_hidden()
    assert "Written, but not run yet" in unattempted.evaluate(said)

    exercises.restart()
    cut_off = shown.locator(".jupyter-widgets-disconnected")
    cut_off.first.wait_for()
    said = "them => them.map(each => getComputedStyle(each, '::before').content)"
    [told] = [content for content in cut_off.evaluate_all(said) if content != "none"]
    assert told == '"The kernel was restarted: run the cells again, from the top."'

    shown.get_by_role("link", name="How many leaves?").click()
    expect_landed(page, "How many leaves?")

    exercises.write(ANSWER, RIGHT)
    exercises.run("setup", ANSWER, CHECK)
    header.get_by_text(f"1 of {len(lesson.graded)} exercises").wait_for()
    header.get_by_role("link", name=core[-1].title).click()
    expect_landed(page, core[-1].title)

    progress = Progress.load(visit.lab.root / "progress.jsonl")
    for name, exercise in lesson.exercises.items():
        if exercise.core:  # the steps in the lesson, too
            progress.add("01_leaves", name, "correct")
    exercises.run("setup")
    following = BuiltLesson.read(ROOT / "checks/expected/02_tree_map.json").title
    exercises.run(ANSWER, CHECK)
    for place in (header, shown):  # the verdict says it, too
        place.get_by_text("The core of this lesson is done").wait_for()
        expect(place.get_by_role("link", name=following)).to_be_visible()
    header.get_by_role("link", name="Going deeper").click()
    expect_landed(page, "Going deeper")


def test_the_start_page_shows_what_is_earned_and_leads_to_a_section_and_deeper(visit: Visit):
    progress = Progress.load(visit.lab.root / "progress.jsonl")
    progress.add("01_leaves", "count_leaves", "correct")
    start = visit.open("notebooks/00_start_here.ipynb")
    course_map = start.output("course-map")
    start.run("course-map")
    course_map.get_by_text("First leaf (earned)").first.wait_for()
    assert_accessible(start, 2)
    course_map.get_by_role("link", name="Write leaves_of").click()
    expect_landed(visit.page, "What JAX sees")
    visit.page.get_by_role("tab", name="00_start_here.ipynb").click()
    course_map.get_by_text("Going deeper").nth(1).click()
    course_map.get_by_role("link", name="None as a mark").click()
    expect(visit.page.get_by_role("heading", name="None as a mark", exact=True)).to_be_in_viewport()


NOTE_SCROLLING = """() => {
    window.scrolled = [];
    Element.prototype.scrollIntoView = function () { window.scrolled.push(this.outerHTML); };
}"""


def test_a_deeper_section_runs_on_below_a_meant_error_and_takes_typed_predictions(visit: Visit):
    visit.lab.draw_all_cells()
    section = visit.open("notebooks/deeper/01_leaves/working-with-structures.ipynb")
    asked, raises = "working-with-structures-3", "working-with-structures-8"
    error = section.output(raises).locator("[data-mime-type='application/vnd.jupyter.stderr']")
    # The front end keeps what is read in sight, but "Run All" leaves a reader where they went.
    visit.page.evaluate(NOTE_SCROLLING)
    section.run_all(reading="setup-1")
    assert section.failed() == []
    expect(error).to_contain_text("ValueError")
    assert_accessible(section, 4)
    assert active_cell(visit.page) == "setup-1"
    assert visit.page.evaluate("window.scrolled") == []

    section.run(f"{asked}-predict")
    shown = section.output(f"{asked}-predict")
    expect(shown.get_by_role("textbox")).to_be_focused()
    for key in ("Escape", "Enter", "7", "Enter"):  # to the keys of JupyterLab, and back
        visit.page.keyboard.press(key)
    shown.get_by_text("You predict 7. Now run the next cell").wait_for()
    assert active_cell(visit.page) == asked
    visit.page.keyboard.press("Shift+Enter")
    section.output(asked).get_by_text("You predicted 7").wait_for()
    assert active_cell(visit.page) != asked


def test_a_review_by_keyboard_explains_a_wrong_answer_and_leads_to_its_section(visit: Visit):
    page = visit.page
    file = visit.lab.root / "progress.jsonl"
    progress = Progress.load(file)
    progress.add("01_leaves", "count_leaves", "tried", ["counts_the_top_level"])
    lesson = BuiltLesson.read(ROOT / "checks/expected/01_leaves.json")
    for name in lesson.graded:
        progress.add("01_leaves", name, "correct")
    # What was wrong today is asked on another day.
    today, earlier = datetime.now(UTC), datetime.now(UTC) - timedelta(days=2)
    lines = file.read_text("utf-8")
    file.write_text(lines.replace(f"{today:%Y-%m-%dT}", f"{earlier:%Y-%m-%dT}"), "utf-8")
    first, *_ = due_questions([lesson], Progress.load(file), today)  # about the mistake
    page.set_viewport_size({"width": 1280, "height": 560})
    review = visit.open("notebooks/review.ipynb")
    review.write("review", SLOW_REVIEW)
    review.run("review")
    shown = review.output("review")
    wrong, following = shown.get_by_text("Not this."), shown.get_by_role("button", name="Next")
    expect(shown.locator(".pytree-choice")).to_be_focused()
    page.keyboard.press(next(letter for letter in first.options if not first.is_right(letter)))
    for needed in (wrong, following):
        expect(needed).to_be_in_viewport(ratio=1)
    kept = Progress.load(file)
    assert (len(kept.reviews), kept.unreadable_lines) == (1, 0)
    assert kept.reviews[0].about.name == "counts_the_top_level"
    assert_accessible(review, 1)
    expect(following).to_be_focused()
    page.keyboard.press("x")  # it cuts no cell
    page.set_viewport_size({"width": 480, "height": 900})
    page.keyboard.press("Control+b")  # the list of files leaves no room
    shown.get_by_role("link").click()
    path = "() => jupyterapp.shell.currentWidget.context.path === 'notebooks/01_leaves.ipynb'"
    page.wait_for_function(path)
    page.get_by_role("tab", name="review.ipynb").click()
    following.press("Enter")
    shown.get_by_text("Question 2 of ").wait_for()
    expect(shown.locator(".pytree-choice")).to_be_focused()
