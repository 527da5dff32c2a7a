"""A question is a case, its right result, and what misconceptions yield."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import nbformat
import pytest
from typer.testing import CliRunner

from pytree_course.cases.random_inputs import Duo, Point
from pytree_course.cli.app import app
from pytree_course.course import Course
from pytree_course.judging.expected import (
    Belief,
    BuiltLesson,
    Given,
    LessonSection,
    Misconception,
    Prediction,
)
from pytree_course.learner.questions import RAISES, for_class, questions
from pytree_course.observing.observe import observe, observe_raised
from tests.conftest import ROOT
from tests.made_grades import made_exercise

A = Belief("01_mini", "count", "a")
SECTION = LessonSection("Leaves", 5, 1, False, ["guess"])


def exercise(right, wrong, **said):
    """Make an exercise of a right result for each case, and those of each misconception."""
    misconceptions = []
    for belief, results in wrong.items():
        observations = {case: seen(result) for case, result in results.items()}
        misconceptions.append(Misconception(belief, f"You hold {belief}.", "leaves", observations))
    shown = {case: Given(f"tree {case}") for case in range(len(right))}
    facts = {"core": True, "question": "How many?", "given": shown, **said}
    return made_exercise([*map(observe, right)], misconceptions=misconceptions, **facts)


def seen(result):
    return observe_raised(result) if isinstance(result, Exception) else observe(result)


def lesson(*exercises, predictions=None, stem="01_mini"):
    made = {each.name: each for each in exercises}
    section = replace(SECTION, predictions=[*(predictions or {})])
    return BuiltLesson(stem, "Mini", {"leaves": section}, predictions or {}, made, "")


WRONG = {"a": {0: 3, 1: 3}, "b": {0: 4, 1: 4}, "c": {0: 5, 1: 5}}
COUNT = exercise([2, 2], WRONG)
ERROR, THREE = "It raises an error.", ["`2`", "`3`", "`5`"]


@pytest.mark.parametrize(
    ("right", "wrong", "options"),
    [
        (2, {"none": 3, "nodes": 5}, {"none": THREE, "nodes": THREE}),
        # What looks like the right result is no option, and neither is the right one.
        ([1, 2], {"tuple": (1, 2), "same": [1, 2], "one": [1]}, {"tuple", "one"}),
        # Errors are one option, and nothing is asked about them.
        (2, {"a": ValueError("x"), "b": TypeError("y"), "c": 3}, {"c": [ERROR, "`2`", "`3`"]}),
        # A result of another kind, or too long to compare, is no option.
        (2, {"none": None, "text": "2", "yes": True, "long": 10**99}, {}),
        # Two options are enough for yes or no alone.
        (2, {"one": 3}, {}),
        (True, {"one": False}, {"one": ["`False`", "`True`"]}),
        # An option has leaves of the same kind, and no long decimals.
        (["a", "b"], {"leaf": [1], "one": ["a"], "two": ["b"]}, {"one", "two"}),
        (5.0, {"long": 16.633249, "tiny": 1e-05, "one": 25.0, "two": 7.0}, {"one", "two"}),
    ],
)
def test_options_are_the_right_result_and_wrong_ones_like_it(right, wrong, options):
    made = exercise([right], {name: {0: result} for name, result in wrong.items()})
    asked = {
        about.name: sorted(question.options.values())
        for about, [question] in questions(lesson(made)).items()
    }
    assert asked.keys() == {*options}
    assert not isinstance(options, dict) or asked == options


def test_an_option_is_explained_by_all_beliefs_that_lead_to_it():
    same = exercise([2, 2], {"a": {0: 3, 1: 3}, "b": {0: 3, 1: 4}, "c": {0: 5, 1: 5}})
    [alone, shared] = questions(lesson(same))[A]  # a result of few beliefs comes first
    assert (alone.case, shared.case) == ("1", "0")
    assert [each.name for each in shared.misconceptions["`3`"]] == ["a", "b"]
    assert [each.explanation for each in shared.misconceptions["`5`"]] == ["You hold c."]


def test_an_explanation_is_shown_with_a_case_that_it_speaks_of():
    wrong = {"order": {0: 3, 1: 0}, "nothing": {1: 0, 2: 0}, "also": {1: 5, 2: 0}}
    asked = questions(lesson(exercise([2, 2, 2], wrong)), min_options=2)
    cases = {about.name: [each.case for each in candidates] for about, candidates in asked.items()}
    assert cases == {"order": ["0"], "nothing": ["1", "2"], "also": ["1"]}
    [question] = asked[Belief("01_mini", "count", "also")]
    assert [each.name for each in question.misconceptions["`0`"]] == ["nothing"]
    given = {0: Given("{'gate': 1}"), 1: Given("{'key': 1}")}
    named = exercise([2, 2], {"`key`": {0: 3, 1: 3}, "b": {0: 4, 1: 4}}, given=given)
    asked = questions(lesson(named), min_options=2)
    assert [each.case for each in asked[Belief("01_mini", "count", "`key`")]] == ["1"]


def test_the_classes_of_the_inputs_are_explained():
    tree = {"a": Point(1, 2), "b": Duo(3, 4)}
    two = exercise([2], {"a": {0: 3}, "b": {0: 4}}, given={0: Given("tree", (observe(tree),))})
    [question] = questions(lesson(two))[A]
    assert question.given.note == "`Point` is a namedtuple. `Duo` is a registered class."


def test_an_aside_about_a_name_not_shown_is_left_out():
    text = "How many? (`Config` is a class of ours.)"
    given = {0: Given("Config(1)"), 1: Given("[1]")}
    two = exercise([2, 2], {"a": {0: 3, 1: 3}, "b": {0: 4, 1: 4}}, question=text, given=given)
    [first, second] = questions(lesson(two))[A]
    assert (first.text, second.text) == (text, "How many?")
    unasked = exercise([True], {"one": {0: False}}, given={})  # no line of code to ask about
    assert questions(lesson(unasked)) == {}


def test_a_prediction_is_asked_again_with_its_code():
    text, options = "A *wrong* [guess](x.ipynb#a)?", {"A": "one", "B": "two"}
    guess = Prediction(text, options, "B", alone="draw(1)", why="**B.** Two, not one (A).")
    made = lesson(predictions={"guess": guess})
    [question] = questions(made)[Belief("01_mini", "guess")]
    assert (question.text, question.given.code) == ("A wrong guess?", "draw(1)")
    # In another order than in the lesson.
    assert question.options == {"A": "two", "B": "one"}
    assert question.why == ["A. Two, not one (B)."]
    assert [question.is_right(letter) for letter in "AB"] == [True, False]
    of_three = replace(guess, options=options | {"C": "three"})
    asked = questions(lesson(predictions={"guess": of_three}))[Belief("01_mini", "guess")]
    assert [question.letter for question in asked] == ["A", "C"]


@pytest.mark.parametrize(
    ("text", "why", "asked"),
    [
        ("Now we run `f(1)`.", "Like your `leaves`, it runs. See below.", "We run `f(1)`."),
        ("We run `f(1)`.", "A.\n\nIt runs. Does it matter?\n\nA longer loop:", "We run `f(1)`."),
        ("Does the same call work?", "It does.", None),
        ("Is it `kept_here`?", "It is.", None),
        ("Is it so?", "Read the word *it* in the message: it has two letters.", None),
    ],
)
def test_what_only_the_lesson_shows_is_not_mentioned_or_not_asked(text, why, asked):
    guess = Prediction(text, {"A": "one", "B": "two, as `leaves` does"}, "B", alone="f(1)", why=why)
    found = questions(lesson(predictions={"guess": guess})).get(Belief("01_mini", "guess"), [])
    assert [question.text for question in found] == ([asked] if asked else [])
    for question in found:
        assert question.options == {"A": "two", "B": "one"}
        assert question.why == ["It runs."]


def test_every_question_of_the_course_has_one_right_option():
    for each in (BuiltLesson.read(files.expected) for files in Course(ROOT).lessons()):
        for question in (one for asked in questions(each, min_options=2).values() for one in asked):
            texts = [*question.options.values()]
            if about := question.about.name:
                assert about in {same[0].name for same in question.misconceptions.values()}
                assert question.misconceptions.keys() == {*texts} - {question.answer}
            assert texts.count(question.answer) == bool(texts)
            assert len({*texts}) == len(texts) <= 4
            assert all(texts) and texts.count(RAISES) <= 1
            assert question.section in each.sections
            for belief in (belief for held in question.misconceptions.values() for belief in held):
                assert belief.explanation


def test_a_class_is_asked_about_each_case_once():
    asked = for_class(questions(lesson(COUNT)))
    assert [(question.about.name, question.case) for question in asked] == [("a", "0"), ("b", "1")]


# --- in files for a class


@pytest.fixture
def command(monkeypatch, tmp_path):
    """Return a function that runs a command in the course, in this process."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYTREE_COURSE_PROGRESS", str(tmp_path))
    return lambda *words, **given: CliRunner().invoke(app, [*map(str, words)], **given)


@pytest.fixture
def written(tmp_path, command):
    """Return a function that writes the questions of lesson 1 in one form, for their text."""

    def write(ending):
        run = command("questions", "1", "--into", tmp_path / f"questions{ending}")
        return run.exception or (tmp_path / f"questions{ending}").read_text(encoding="utf-8")

    return write


def test_answers_come_after_the_questions_and_slides_uncover_them(written):
    asked, _, answers = written(".md").partition("\n# Answers\n")
    assert "How many leaves does JAX see here?" in asked
    assert "Your list ends after the first broken leaf." in answers
    assert "Your list ends" not in asked
    assert asked.count("## Question ") == answers.count(".**\n")
    assert "should end in .md, .ipynb (slides) or .xml (Moodle)" in str(written(".doc"))
    slides = nbformat.reads(written(".ipynb"), as_version=4)
    kinds = [cell.metadata.slideshow.slide_type for cell in slides.cells[1:]]
    assert kinds == ["slide", "fragment"] * (len(kinds) // 2)


def test_moodle_gets_feedback_on_each_wrong_answer(written):
    asked = ElementTree.fromstring(written(".xml")).findall("question[@type='multichoice']")
    assert len(asked) > 50
    for question in asked:
        answers = question.findall("answer")
        right = [answer for answer in answers if answer.get("fraction") == "100"]
        assert len(right) == 1 and 2 <= len(answers) <= 4
        for answer in answers:
            assert answer.findtext("text")
            assert bool(answer.findtext("feedback/text")) == (answer not in right)
