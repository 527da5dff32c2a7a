"""Reviews ask again: what was mistaken, what is nearly forgotten, then what is new."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from pytree_course.course import Course
from pytree_course.judging.expected import Belief, BuiltLesson, Prediction
from pytree_course.learner.progress import PredictionMade, Progress, ReviewAnswer
from pytree_course.learner.review import MAX_A_DAY, due_questions, next_day
from tests.conftest import ROOT
from tests.learner.test_questions import COUNT, WRONG, A, command, lesson  # noqa: F401

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def progress(reviews=(), tried=(), held=None):
    done = Progress(None, reviews=[*reviews], misconceptions_held=held or {})
    for name in tried:
        done.add("01_mini", name, "correct")
    return done


def names(questions):
    return [question.about.name for question in questions]


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


def test_what_was_wrong_at_the_last_review_comes_first_then_what_is_nearly_forgotten():
    made = [replace(COUNT, name=f"e{place}", question=f"{place}?") for place in range(3)]
    reviews = [
        ReviewAnswer(NOW - timedelta(days), Belief("01_mini", f"e{place}", "a"), "0", is_right)
        for place, days, is_right in ((0, 50, True), (1, 2, False), (2, 200, True))
    ]
    asked = due_questions([lesson(*made)], progress(reviews), NOW)
    assert [question.about.exercise for question in asked] == ["e1", "e2", "e0"]


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


def test_a_terminal_review_gives_reasons_and_repeats_what_was_wrong(command, tmp_path):  # noqa: F811
    file = tmp_path / "progress.jsonl"
    for exercise in ("count_leaves", "leaf_shapes"):
        Progress.load(file).add("01_leaves", exercise, "correct")
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
