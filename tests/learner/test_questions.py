"""A question is a case, its right result, and what misconceptions yield; reviews ask it again."""

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from datetime import UTC, datetime, timedelta

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
from pytree_course.learner.progress import PredictionMade, Progress, ReviewAnswer
from pytree_course.learner.questions import RAISES, for_class, questions
from pytree_course.learner.review import MAX_A_DAY, due_questions, next_day
from pytree_course.observing.observe import observe, observe_raised
from tests.conftest import ROOT
from tests.made_grades import made_exercise

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
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
        ("We run `f(1)`.", "It runs. Does it matter?\n\nA longer loop:", "We run `f(1)`."),
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


def progress(reviews=(), tried=(), held=None):
    done = Progress(None, reviews=[*reviews], misconceptions_held=held or {})
    for name in tried:
        done.add("01_mini", name, "correct")
    return done


def names(questions):
    return [question.about.name for question in questions]


WRONG = {"a": {0: 3, 1: 3}, "b": {0: 4, 1: 4}, "c": {0: 5, 1: 5}}
COUNT = exercise([2, 2], WRONG)


def test_new_questions_are_about_what_was_begun_or_read_of_the_core():
    guess = {"guess": Prediction("?", {"A": "one", "B": "two"}, "B", alone=None)}
    beyond = replace(COUNT, name="beyond", core=False, question="How many there?")
    lessons = [lesson(COUNT, beyond, predictions=guess, stem=stem) for stem in ("01_mini", "02")]

    def asked(done):
        return {question.about[:2] for question in due_questions(lessons, done, NOW)}

    done = progress()
    assert asked(done) == set()
    done.add("01_mini", "beyond", "tried")
    assert asked(done) == {("01_mini", "beyond")}
    done.predict("02", "guess", "A")
    assert asked(done) == {("01_mini", "beyond"), ("02", "count")}


def test_what_was_mistaken_comes_first_the_next_day():
    guess = Prediction("?", {"A": "one", "B": "two"}, "B")
    lessons = [lesson(COUNT, predictions={"guess": guess})]
    done = progress(tried=["count"], held={Belief("01_mini", "count", "c"): NOW})
    assert due_questions(lessons, done, NOW)[0].about.exercise == "count"
    assert names(due_questions(lessons, done, NOW + timedelta(days=1)))[0] == "c"
    done.predictions["01_mini", "guess"] = PredictionMade(NOW - timedelta(days=1), "A")
    assert due_questions(lessons, done, NOW)[0].about == Belief("01_mini", "guess")


def test_lessons_take_turns_and_a_set_up_comes_once():
    yes = {"A": "one", "B": "two"}
    alike = "tree = [1]\nlen(tree)", "tree = [1]\nsum(tree)"
    guesses = {
        f"guess{number}": Prediction(f"{number}?", yes, "B", alone=code)
        for number, code in enumerate((*alike, "print(2)", "print(3)"))
    }
    lessons = [lesson(COUNT), lesson(predictions=guesses, stem="02_mini")]
    done = progress(tried=["count"], held={A: NOW})
    for name in lessons[1].predictions:
        done.predictions["02_mini", name] = PredictionMade(NOW, "A")
    asked = due_questions(lessons, done, NOW + timedelta(days=1))
    assert len(asked) == 4
    assert {question.about.lesson for question in asked[:2]} == {"01_mini", "02_mini"}
    assert sum("tree" in question.given.code for question in asked if not question.about.name) == 1
    assert asked == due_questions(lessons, done, NOW + timedelta(days=1))


def test_the_next_day_with_questions_is_said():
    assert next_day([lesson(COUNT)], progress(), NOW) is None
    assert next_day([lesson(COUNT)], progress(tried=["count"]), NOW) == "tomorrow"
    beliefs = [Belief("01_mini", "count", name) for name in WRONG]
    done = progress([ReviewAnswer(NOW, about, "0", True) for about in beliefs], tried=["count"])
    assert next_day([lesson(COUNT)], done, NOW) == "on Thursday, 5 March"


def test_a_question_comes_again_later_in_another_case_and_order():
    first = due_questions([lesson(COUNT)], progress(tried=["count"]), NOW)[0]
    orders = {tuple(first.rotated(times).options.values()) for times in range(6)}
    assert len(orders) > 1
    assert all(sorted(order) == sorted(first.options.values()) for order in orders)
    done = progress([ReviewAnswer(NOW, A, first.case, True)], tried=["count"])
    assert "a" not in names(due_questions([lesson(COUNT)], done, NOW))
    later = due_questions([lesson(COUNT)], done, NOW + timedelta(days=30))
    again = next(each for each in later if each.about == A)
    assert again.case != first.case


def test_ten_questions_a_day_each_of_another_exercise_and_wording():
    words = ["?", "?", *(f"How many {number}?" for number in range(20))]
    made = [replace(COUNT, name=f"e{at}", question=text) for at, text in enumerate(words)]
    beliefs = [Belief("01_mini", each.name, name) for each in made for name in WRONG]
    done = progress([ReviewAnswer(NOW, about, "0", True) for about in beliefs])
    month = NOW + timedelta(days=60)
    asked = due_questions([lesson(*made)], done, month)
    assert len({question.text for question in asked}) == len(asked) == MAX_A_DAY
    done.reviews += [ReviewAnswer(month, question.about, "1", True) for question in asked[:4]]
    rest = due_questions([lesson(*made)], done, month)
    assert len(rest) == MAX_A_DAY - 4
    assert len({question.about.exercise for question in [*asked[:4], *rest]}) == MAX_A_DAY


# --- in files for a class, and in a terminal


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


def test_a_terminal_review_gives_reasons_and_repeats_what_was_wrong(command, tmp_path):
    file = tmp_path / "progress.jsonl"
    Progress.load(file).add("01_leaves", "count_leaves", "correct")
    lessons = [BuiltLesson.read(files.expected) for files in Course(ROOT).lessons()]
    asked = due_questions(lessons, Progress.load(file), datetime.now(UTC))
    letters = [question.letter for question in asked]  # the order depends on the day
    mistaken = "B" if letters[-1] == "A" else "A"
    run = command("review", input="\n".join([*letters[:-1], mistaken, "A"]) + "\n")
    assert run.exit_code == 0, run.output
    reviews = Progress.load(file).reviews
    wrong = sum(not review.is_right for review in reviews)
    assert f"Question {len(reviews)} of {len(reviews)}" in run.output
    assert run.output.count("Once more · ") == run.output.count("once more at the end") == wrong > 0
    assert "✓ Right.\n\nWhy " in run.output
    right = len(reviews) - wrong
    assert f"{right} of {len(reviews)} right at the first try." in " ".join(run.output.split())
    assert "Nothing is due today. The next questions are due " in command("review").output
