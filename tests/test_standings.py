"""How far a learner is on both ways, and which sections count as read."""

from dataclasses import replace

import pytest

from pytree_course.judging.expected import BuiltLesson, LessonSection
from pytree_course.learner.progress import Progress
from pytree_course.learner.standings import Way, hours, standing, unread_sections

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
def lesson(mini):
    """Return a lesson with a core exercise about `two`, and another about `asks`."""
    expected = BuiltLesson.read(mini.expected)
    exercises = {
        "count_leaves": replace(expected.exercises["count_leaves"], section="two", core=True),
        "first_leaf": replace(expected.exercises["first_leaf"], section="asks"),
    }
    return replace(expected, sections=SECTIONS, exercises=exercises)


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


def test_who_solves_all_core_exercises_has_read_the_core(lesson, progress):
    about_one = replace(lesson.exercises["count_leaves"], section="one")
    lesson = replace(lesson, exercises=lesson.exercises | {"count_leaves": about_one})
    progress.add(lesson.lesson, "count_leaves", "correct")
    assert unread(lesson, progress) == DEEPER
    now = standing(lesson, progress)
    assert now.core_is_done
    assert "; core: done. Next: first_leaf" in str(now)


def test_core_exercises_come_next_wherever_they_stand(lesson, progress):
    names = ("first_leaf", "count_leaves")
    lesson = replace(lesson, exercises={name: lesson.exercises[name] for name in names})
    now = standing(lesson, progress)
    assert now.everything.todo[0].name == "first_leaf"
    assert now.next.name == "count_leaves"


def test_a_lesson_without_a_core_has_one_way(lesson, progress):
    exercises = {name: replace(each, core=False) for name, each in lesson.exercises.items()}
    now = standing(replace(lesson, exercises=exercises), progress)
    assert not now.core_is_done
    assert "core" not in str(now)


def test_ways_add_up(lesson, progress):
    now = standing(lesson, progress)
    assert (now.core.minutes, now.core.reading_left, now.core.exercises_left) == (13, 10, 3)
    assert (now.everything.minutes, now.everything.minutes_left) == (43, 43)
    both = Way.together([now.core, now.everything])
    assert (both.exercises, both.minutes, both.minutes_left) == (3, 56, 56)
    progress.add(lesson.lesson, "count_leaves", "correct")
    progress.add(lesson.lesson, "first_leaf", "correct")
    progress.predict(lesson.lesson, "last-1", "A")
    now = standing(lesson, progress)
    assert str(Way.together([now.core, now.everything])) == "done"
    assert now.next is None


@pytest.mark.parametrize(
    ("minutes", "said"), [(0, "0 min"), (25, "25 min"), (60, "1 h"), (135, "2 h 15 min")]
)
def test_minutes_are_written_as_people_say_them(minutes, said):
    assert hours(minutes) == said
