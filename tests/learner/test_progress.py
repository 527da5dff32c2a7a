"""Progress is a file that is only ever added to; it says how far a learner is on both ways."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import jax
import pytest

from pytree_course import Checks
from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson, LessonSection
from pytree_course.learner.progress import Progress
from pytree_course.learner.review import due_questions
from pytree_course.learner.standings import lesson_to_go_on_with, standing, unread_sections
from tests.conftest import ROOT


def test_progress_made_in_two_notebooks_at_once_is_kept(tmp_path):
    file = tmp_path / "progress.jsonl"
    progress, other_notebook = Progress.load(file), Progress.load(file)
    for event in ("tried", "hint", "tried", "correct", "tried"):
        progress.add("01_leaves", "count_leaves", event)
    other_notebook.add("02_tree_map", "sgd_step", "correct")
    both = Progress.load(file)
    assert both.in_exercise("02_tree_map", "sgd_step").correct
    again = both.in_exercise("01_leaves", "count_leaves")
    assert (again.correct, again.tries, again.hints) == (True, 2, 1)


def test_progress_that_cannot_be_written_is_told_once_and_written_later(tmp_path):
    file = tmp_path / "progress.jsonl"
    file.mkdir()
    progress = Progress.load(file)
    progress.add("01_leaves", "count_leaves", "correct")
    other = Progress.load(file)
    assert other.in_exercise("01_leaves", "count_leaves").correct
    other.predict("01_leaves", "leaves-4", "A")
    [told] = progress.take_warnings() + other.take_warnings() + progress.take_warnings()
    assert str(file) in told
    file.rmdir()
    progress.add("01_leaves", "leaf_shapes", "correct")
    again = Progress.load(file)
    assert again.exercises == progress.exercises
    assert again.predictions == other.predictions


OF = {"lesson": "01_leaves", "exercise": "count_leaves"}
REVIEWED = {**OF, "event": "reviewed", "name": "x", "case": "", "answer": "right"}
PREDICTED = {"lesson": "01_leaves", "prediction": "p", "choice": "2"}


def test_a_damaged_line_is_counted_and_the_others_are_kept(tmp_path):
    file = tmp_path / "progress.jsonl"
    Progress.load(file).add("01_leaves", "count_leaves", "correct")
    lines = [b'{"lesson": "01_lea', b"\xff", b"[]", b'{"lesson": 1}', b'{"a":' * 100_000]
    times = "0001-01-01T00:00+14:00", "9999-12-31T23:00-12:00", "9999-01-01", "1e9", ""
    events = [event | {"time": time} for time in times for event in (REVIEWED, PREDICTED)]
    events.append({**OF, "event": "reviewed", "held": "y", "time": "2026-03-02T12:00"})
    lines += [json.dumps(event).encode() for event in events]
    with file.open("ab") as stream:
        stream.write(b"\n".join(lines))
    progress = Progress.load(file)
    assert progress.unreadable_lines == len(lines)
    assert progress.in_exercise("01_leaves", "count_leaves").correct
    assert not progress.predictions and not progress.misconceptions_held
    assert due_questions([], progress, datetime.now(UTC)) == []


def test_answers_are_checked_where_progress_cannot_be_written(course, monkeypatch, capsys):
    course.progress_file.mkdir()
    monkeypatch.chdir(course.root / "exercises")
    check = Checks("01_mini")
    check.count_leaves(lambda tree: jax.tree.structure(tree).num_leaves)
    check.count_leaves(len)
    check.first_leaf.hint()
    shown = " ".join(capsys.readouterr().out.split()).replace("- ", "-")  # lines are broken there
    for words in ("✓ Correct", "✗ Not yet", "Hint 1", "Is a directory"):
        assert words in shown
    assert shown.count("The course cannot save your progress to") == 1


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
