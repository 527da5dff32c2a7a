"""What the build writes of a lesson is what learners and grading read."""

import json
from dataclasses import replace

import pytest

from pytree_course.course import Course, CourseError
from pytree_course.judging.expected import (
    Belief,
    BuiltLesson,
    Given,
    LessonSection,
    Misconception,
    Prediction,
    with_letters,
)
from pytree_course.observing.observe import observe
from tests.made_grades import made_exercise

ONE, TWO, MANY = map(observe, (1, 2, [1, "a", None]))
BELIEFS = [
    Misconception("none", "You hold it.", "leaves", {0: TWO, 1: MANY}, ["jax-ml/jax#2348"]),
    Misconception("nodes", "You do.", "leaves", {1: MANY}),
]
COUNT = made_exercise(
    [ONE, TWO],
    misconceptions=BELIEFS,
    summaries=[{"": "Something else."}, None],
    given={1: Given("[1]", (MANY,), "It is short.")},
)
LESSON = BuiltLesson(
    lesson="01_made",
    title="Made",
    sections={
        "leaves": LessonSection("Leaves are ends", 5, 2, False, ["p"]),
        "more": LessonSection("More", 3, 0, True, []),
    },
    predictions={"p": Prediction("How many?", {"A": "1", "B": "2"}, "B", None, "**B.** Two.")},
    exercises={"count": COUNT, "walk": made_exercise([ONE], name="walk", points=0)},
    sources="digest",
)


def test_a_lesson_that_is_written_is_read_again_each_result_when_it_is_needed(tmp_path):
    file = tmp_path / "01_made.json"
    assert replace(LESSON, exercises={**LESSON.exercises, "gone": COUNT}).write(file)
    assert LESSON.write(file)
    assert not LESSON.write(file)
    assert {each.name for each in (tmp_path / "01_made").iterdir()} == {"count.json", "walk.json"}
    read = BuiltLesson.read(file)
    assert [read.expected(name) for name in read.exercises] == [*LESSON.exercises.values()]
    assert replace(read, results="", reasons={}) == LESSON
    assert (read.points, [*read.graded], [*read.deeper]) == (2, ["count"], ["more"])
    stored = tmp_path / "01_made" / "count.json"
    assert len(json.loads(stored.read_text("utf-8"))["wrong"]) == 2  # one of the three is shared
    assert read.digest_of_results_on_disk() == read.results != ""
    stored.unlink()
    assert read.digest_of_results_on_disk() == ""
    with pytest.raises(CourseError, match="is missing"):
        BuiltLesson.read(file).expected("count")


def test_the_reasons_of_wrong_answers_change_with_their_results_and_not_with_words(tmp_path):
    def reasons(*beliefs, observations=(ONE, TWO)):
        made = replace(COUNT, misconceptions=[*beliefs], observations=[*observations])
        replace(LESSON, exercises={"count": made}).write(tmp_path / "made.json")
        return BuiltLesson.read(tmp_path / "made.json").reasons

    first, second = BELIEFS
    assert reasons(replace(first, explanation="Said anew.", met=[]), second) == reasons(*BELIEFS)
    assert reasons(replace(first, observations={0: MANY}), second) != reasons(*BELIEFS)
    assert reasons(first) != reasons(*BELIEFS) != reasons(*BELIEFS, observations=(TWO, TWO))


def test_facts_of_a_lesson():
    assert COUNT.call == "check.count(count)"
    assert replace(COUNT, answers=["one", "two"]).call == "check.count(one, two)"
    assert [Belief("01", "count", name).is_prediction for name in ("", "none")] == [True, False]
    files, leaves = (
        Course(tmp := Course.installed().root).lesson("01_made"),
        LESSON.sections["leaves"],
    )
    assert leaves.link_target(files, "leaves") == (
        tmp / "notebooks/01_made.ipynb",
        "Leaves are ends",
    )
    assert LESSON.sections["more"].link_target(files, "more") == (files.deeper("more"), "")
    assert leaves.all_minutes == 7


@pytest.mark.parametrize(
    ("text", "shuffled"),
    [
        ("**A.** Not (B), nor (A, C).", "**B.** Not (C), nor (A, B)."),
        (
            "A is a word, (D) no option, **Ada.** neither",
            "A is a word, (D) no option, **Ada.** neither",
        ),
    ],
)
def test_letters_of_options_follow_their_options(text, shuffled):
    assert with_letters(text, {"A": "B", "B": "C", "C": "A"}) == shuffled
    asked = Prediction("?", {"A": "one", "B": "two", "C": "three"}, "A", why=text)
    moved = asked.reordered(["C", "A", "B"])
    assert (moved.options, moved.answer) == ({"A": "three", "B": "one", "C": "two"}, "B")
    assert moved.why == shuffled
    assert Prediction("?", {}, "3 and 7").reordered([]).answer == "3 and 7"
