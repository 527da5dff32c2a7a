"""How far a learner is: in the core and in all of a lesson, in minutes, points and badges."""

from dataclasses import replace

import pytest

from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson, LessonSection
from pytree_course.learner.progress import Progress
from pytree_course.learner.standings import (
    CoreMinutes,
    badges,
    describe_beyond_core,
    format_minutes,
    lesson_to_go_on_with,
    standing,
    unread_sections,
)
from tests.conftest import ROOT

SECTIONS = {
    "mini": LessonSection("Mini", 0, 0, False, []),
    "one": LessonSection("One", 2, 0, False, ["one-1", "one-2"]),
    "plain": LessonSection("Plain", 3, 0, False, []),
    "two": LessonSection("Two", 4, 0, False, ["two-1"]),
    "what-you-learned": LessonSection("What you learned", 1, 0, False, []),
    "going-deeper": LessonSection("Going deeper", 0, 0, True, []),
    "words": LessonSection("Words", 5, 0, True, []),
    "asks": LessonSection("Asks", 6, 0, True, ["asks-1"]),
    "last": LessonSection("Last", 7, 0, True, ["last-1"]),
    "more-words": LessonSection("More words", 8, 0, True, []),
}


@pytest.fixture
def built(mini):
    return BuiltLesson.read(mini.expected)


@pytest.fixture
def lesson(built):
    """Return a lesson with a core exercise about `two`, and another about `asks`."""
    exercises = {
        "count_leaves": replace(built.exercises["count_leaves"], section="two", core=True),
        "first_leaf": replace(built.exercises["first_leaf"], section="asks"),
    }
    return replace(built, sections=SECTIONS, exercises=exercises)


@pytest.fixture
def progress():
    return Progress.load(None)


def unread(lesson, progress):
    return [section.title for section in unread_sections(lesson, progress) if section.minutes]


CORE = ["One", "Plain", "Two", "What you learned"]
DEEPER = ["Words", "Asks", "Last", "More words"]


@pytest.mark.parametrize(
    ("predicted", "solved", "left"),
    [
        ([], [], [*CORE, *DEEPER]),
        (["one-1"], [], [*CORE, *DEEPER]),
        (["one-1", "one-2"], [], [*CORE[1:], *DEEPER]),
        # In the core, all above is read.
        (["two-1"], [], ["What you learned", *DEEPER]),
        # Deeper sections are read each for itself.
        (["last-1"], [], [*CORE, "Words", "Asks", "More words"]),
        (["last-1", "asks-1"], [], [*CORE, "Words", "More words"]),
        ([], ["first_leaf"], [*CORE, "Words", "Last", "More words"]),
        # What asks nothing is read with the last exercise.
        ([], ["count_leaves", "first_leaf"], ["Last"]),
        (["a cell of an older edition"], [], [*CORE, *DEEPER]),
    ],
)
def test_a_section_is_read_with_its_last_prediction_or_its_exercise(
    lesson, progress, predicted, solved, left
):
    progress.predict("02_other", "two-1", "A")
    for cell_id in predicted:
        progress.predict(lesson.lesson, cell_id, "A")
    for exercise in solved:
        progress.add(lesson.lesson, exercise, "correct")
    assert unread(lesson, progress) == left


def test_the_core_comes_first_and_is_read_by_solving_it(lesson, progress):
    exercises = {name: lesson.exercises[name] for name in ("first_leaf", "count_leaves")}
    exercises["count_leaves"] = replace(exercises["count_leaves"], section="one")
    lesson = replace(lesson, exercises=exercises)
    now = standing(lesson, progress)
    assert [exercise.name for exercise in now.todo] == ["count_leaves", "first_leaf"]
    progress.add(lesson.lesson, "count_leaves", "correct")
    assert unread(lesson, progress) == DEEPER
    now = standing(lesson, progress)
    assert now.is_core_done
    assert "; core: done. Also here: " in str(now)


def test_a_learner_goes_on_with_the_first_core_not_solved(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTREE_COURSE_PROGRESS", str(tmp_path / "progress.jsonl"))
    course = Course(ROOT)
    for files in course.lessons():
        following = lesson_to_go_on_with(course)
        assert following is not None and following.stem == files.stem
        lesson = BuiltLesson.read(files.expected)
        for exercise in lesson.graded.values():
            if exercise.core:
                Progress.load(course.progress_file).add(files.stem, exercise.name, "correct")
    assert lesson_to_go_on_with(course) is None


STANDINGS = [
    (
        [],
        "0 of 2 exercises, 0 of 3 points, practice 0 of 2; core: 0 of 1 exercises. "
        "Next: Walk (practice, about 5 minutes)",
        "about 18 minutes left (lessons about 15 minutes, exercises about 3 minutes)",
        "",
    ),
    (
        ["walk"],
        "0 of 2 exercises, 0 of 3 points, practice 1 of 2; core: 0 of 1 exercises. "
        "Next: Count the leaves (about 3 minutes)",
        "about 4 minutes left (lessons about 1 minute, exercises about 3 minutes)",
        "",
    ),
    (
        ["walk", "count_leaves", "first_leaf"],
        "2 of 2 exercises, 3 of 3 points, practice 1 of 2; core: done. "
        "Also here: Beyond (practice, about 4 minutes)",
        "done",
        "1 other exercise solved, 1 deeper notebook read",
    ),
    (
        ["walk", "count_leaves", "first_leaf", "beyond"],
        "2 of 2 exercises, 3 of 3 points, practice 2 of 2. All done: well done!",
        "done",
        "2 other exercises solved, 5 deeper notebooks read",
    ),
]


@pytest.mark.parametrize(("solved", "words", "minutes", "beyond"), STANDINGS)
def test_a_standing_in_words(lesson, progress, solved, words, minutes, beyond):
    walk = replace(lesson.exercises["count_leaves"], name="walk", title="Walk", points=0, minutes=5)
    other = replace(walk, name="beyond", title="Beyond", core=False, minutes=4, section="last")
    lesson.exercises.update(walk=walk, beyond=other)
    order = ("beyond", "walk", "count_leaves", "first_leaf")
    lesson = replace(lesson, exercises={name: lesson.exercises[name] for name in order})
    for name in solved:
        progress.add(lesson.lesson, name, "correct")
    now = standing(lesson, progress)
    assert (str(now), str(now.core_minutes)) == (words, minutes)
    assert describe_beyond_core([now]) == beyond
    assert now.core_minutes.in_all == 18
    assert now.are_core_exercises_done == ("count_leaves" in solved)


def test_minutes_are_estimates_and_add_up():
    assert [*map(format_minutes, (1, 59, 60, 67))] == [
        *("about 1 minute", "about 59 minutes", "about 1 h", "about 1 h 7 min"),
    ]
    both = [CoreMinutes(9, 4, 3), CoreMinutes(8, 0, 2)]
    assert CoreMinutes.together(both) == CoreMinutes(17, 4, 5)
    assert str(CoreMinutes(9, 0, 2)) == "about 2 minutes left (exercises about 2 minutes)"


def earned(lessons, progress):
    return {badge.name for badge in badges(lessons, progress) if badge.is_earned}


def test_badges_are_earned_one_by_one_the_last_for_all_lessons_that_there_are(built):
    lessons = [replace(built, lesson=f"{number:02}_mini") for number in range(1, 6)]
    progress = Progress.load(None)
    assert earned(lessons, progress) == set()
    progress.add("01_mini", "count_leaves", "correct")
    assert earned(lessons, progress) == {"First leaf", "First core"}
    progress.add("01_mini", "first_leaf", "correct")
    assert earned(lessons, progress) == {"First leaf", "First core", "Bug hunter", "Whole lesson"}
    for number in range(10):
        progress.predict("01_mini", f"prediction {number}", "A")
    for other in lessons[1:]:
        progress.add(other.lesson, "count_leaves", "correct")
    assert {"Fortune teller", "The core"} <= earned(lessons, progress)
    for other in lessons[1:]:
        assert "Evergreen" not in earned(lessons, progress)
        progress.add(other.lesson, "first_leaf", "correct")
    assert "Evergreen" in earned(lessons, progress)
