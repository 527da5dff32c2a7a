"""Predictions, the progress header, help at the press of a button, and the start page."""

from dataclasses import replace

import jax
import pytest
from IPython.core.interactiveshell import InteractiveShell

from pytree_course import Checks, course_map, predict, show_progress
from pytree_course.judging.expected import Prediction
from pytree_course.learner.progress import Progress
from pytree_course.notebook.base import Help
from pytree_course.notebook.prediction import Predict, _reveal_by_answer

CHOICE = Prediction("How many?", {"A": "one", "B": "two"}, "B")
FREE = Prediction("Which two numbers?", {}, "3 and 7")


@pytest.fixture
def in_course(course, monkeypatch):
    """Work in the small course's exercise folder."""
    monkeypatch.chdir(course.root / "exercises")
    return course


@pytest.fixture
def check(in_course):
    return Checks("01_mini")


def said(widget):
    return widget.children[-1].value


def test_a_choice_is_remembered_and_revealed():
    remembered = []
    widget = Predict(CHOICE)
    widget.remember = remembered.append
    widget.entry.value = "A"
    widget.entry.value = "B"
    assert remembered == ["A", "B"]
    assert "You predict B" in said(widget)
    assert str(widget.reveal()) == "✓ You predicted B, and so it is."
    assert "You predicted B." in said(widget)
    assert widget.entry.disabled
    written = Predict(FREE)
    written.entry.value = "<script>"
    assert "&lt;script&gt;" in said(written)


@pytest.mark.parametrize(
    ("prediction", "choice", "words"),
    [
        (CHOICE, "A", "✗ You predicted A. It is B."),
        (CHOICE, "B", "✓ You predicted B, and so it is."),
        (FREE, "3, 7", "✓ You predicted 3, 7, and so it is."),
        (FREE, "7 3", "✗ You predicted 7 3. It is 3 and 7."),
        (replace(FREE, answer="2.30"), "2.3", "✓ You predicted 2.3, and so it is."),
        (replace(FREE, answer="2048"), "2,048", "✓ You predicted 2,048, and so it is."),
        (replace(FREE, answer="13"), "6 + 6 + 1", "✗ You predicted 6 + 6 + 1. It is 13."),
    ],
)
def test_what_the_predicted_cell_says(prediction, choice, words):
    assert str(Predict(prediction, choice).reveal()) == words


def test_who_predicted_nothing_is_invited_to_guess():
    for choice in (None, "Z"):  # Z is remembered from an earlier edition
        widget = Predict(CHOICE, choice)
        assert widget.reveal() is None
        assert "guess first" in said(widget)


ANSWER = 'print(jax.tree.leaves({2: "number", "a": "letter"}))'


@pytest.mark.parametrize(
    "before",
    [
        [(None, "'the cell that asks'"), (None, "1 / 0"), (None, ANSWER)],  # `jax` is not imported
        [("two-predict", "'the cell that asks'"), ("scratch", "2"), ("two", "1 / 0")],
    ],
)
def test_the_cell_that_shows_the_answer_reveals(before):
    """Run cells of lesson 1 below a prediction: its answer is an error, raised on purpose."""
    shell = InteractiveShell()
    widget = Predict(CHOICE, "B")
    _reveal_by_answer(widget, "two", shell)
    for cell_id, source in before:
        shell.run_cell(source, cell_id=cell_id)
        assert not widget.is_revealed
    shell.user_ns["jax"] = jax
    shell.run_cell(ANSWER, cell_id=before[-1][0])
    assert widget.is_revealed


def test_a_question_that_is_asked_anew_is_answered_once():
    shell = InteractiveShell()
    earlier, latest = Predict(CHOICE, "B"), Predict(CHOICE, "B")
    for widget in (earlier, latest):
        _reveal_by_answer(widget, "two", shell)
        shell.run_cell("'the cell that asks'", cell_id="two-predict")
    shell.run_cell("2", cell_id="two")
    assert (earlier.is_revealed, latest.is_revealed) == (False, True)


def test_the_standing_knows_what_another_notebook_has_recorded(in_course):
    check = Checks("01_mini")
    assert "core: 0 of 1 exercises" in check.standing().text
    Progress.load(in_course.progress_file).add("01_mini", "count_leaves", "correct")
    assert "core: done" in check.standing().text
    assert "Next lesson" not in check.standing().text  # this is the last one


def test_progress_is_shown_to_a_learner_at_work_alone(in_course, monkeypatch, capsys):
    show_progress(Checks("01_mini"))
    assert "0 of 2 exercises" in capsys.readouterr().out
    for variable in ("PYTREE_COURSE_SEED", "NBGRADER_EXECUTION"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "1")
            check = Checks("01_mini")
        assert not check.is_own_work
        show_progress(check)
    monkeypatch.chdir(in_course.root / "solutions")
    assert not Checks("01_mini").is_own_work
    show_progress(Checks("01_mini"))
    assert capsys.readouterr().out == ""


def test_a_check_that_is_called_wrongly_says_how_to_call_it(check, capsys):
    for name, said in (("first_leave", "mean 'first_leaf'"), ("x", "count_leaves', 'first_leaf'")):
        with pytest.raises(AttributeError, match=said):
            getattr(check, name)
    assert dir(check) == ["count_leaves", "first_leaf"]
    assert "check.first_leaf(first_leaf)" in repr(check.first_leaf)
    with pytest.raises(TypeError, match=r"takes 1 answer.*run check\.first_leaf"):
        check.first_leaf()
    check.first_leaf(3)
    assert "Give the check first_leaf itself" in capsys.readouterr().out
    assert check.progress.exercises == {}  # which is no try


def test_predictions_are_kept_with_the_progress(in_course):
    predict("01_mini", "leaves-are-not-elements-4").entry.value = "A"
    again = predict("01_mini", "leaves-are-not-elements-4")
    assert "Last time you predicted A." in said(again)
    assert str(again.reveal()).startswith("✗ You predicted A.")
    kept = Progress.load(in_course.progress_file).predictions
    assert kept["01_mini", "leaves-are-not-elements-4"].choice == "A"
    with pytest.raises(LookupError, match="no prediction"):
        predict("01_mini", "elsewhere")
    in_course.progress_file.unlink()
    in_course.progress_file.mkdir()
    unsaved = predict("01_mini", "leaves-are-not-elements-4")
    for choice in "AB":  # the warning stays
        unsaved.entry.value = choice
        assert "The course cannot save your progress" in said(unsaved)


def test_hints_and_then_the_solution_come_at_the_press_of_a_button(check, in_course):
    for _ in range(3):
        check.progress.add("01_mini", "count_leaves", "tried")
    buttons = Help(check.count_leaves)
    hint, solution = buttons.children[0].children
    assert hint.description == "Hint (3 left)"
    for number in (1, 2, 3):
        hint.click()
        assert f"Hint {number} of 3" in buttons.children[1].value
    assert "  return len(...)</pre>" in buttons.children[1].value
    assert hint.description == "Show the hints again"
    solution.click()
    assert "return len(jax.tree.leaves(tree))" in buttons.children[1].value
    assert check.progress.in_exercise("01_mini", "count_leaves").saw_solution
    check.progress.add("01_mini", "count_leaves", "correct")
    (button,) = Help(check.count_leaves).children[0].children
    assert button.description == "Show a solution"  # to compare
    in_course.lesson("01_mini").solutions.unlink()
    assert Help(check.count_leaves).children == ()


def test_the_start_page_shows_the_time_left_in_the_core_and_what_was_done_beyond(
    in_course, monkeypatch
):
    page = course_map()
    assert "Going deeper: 2 notebooks to choose from" in page.html
    core = "about 6 minutes left (lessons about 3 minutes, exercises about 3 minutes)"
    assert f"The core of all lessons: {core}" in page.text
    progress = Progress.load(in_course.progress_file)
    progress.predict("01_mini", "leaves-are-not-elements-4", "A")
    assert course_map().html.count("About 4 minutes left") == 2  # of the lesson, and of all
    progress.add("01_mini", "count_leaves", "correct")
    page = course_map()
    for form, counts in ((page.html, "1 of 1 exercises"), (page.text, "1 of 2 exercises")):
        assert counts in form
        assert form.count("(earned)") == 2
    assert "The core of all lessons: done" in page.text
    assert "The core is done." in page.html
    progress.add("01_mini", "first_leaf", "correct")
    page = course_map()
    for form in (page.html, page.text):
        assert "to choose from: 1 other exercise solved, 1 deeper notebook read so far" in form
    monkeypatch.setenv("PYTREE_COURSE_NOBODY", "1")  # as a build does
    assert "(earned)" not in course_map().html
