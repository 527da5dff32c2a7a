"""Progress is a file that is only ever added to: what is kept of it, and what if it cannot be."""

import json
from datetime import UTC, datetime

import jax

from pytree_course import Checks
from pytree_course.judging.expected import Belief
from pytree_course.learner.progress import Progress
from pytree_course.learner.review import due_questions


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
    assert f"to {file}: Is a directory. Unless" in told
    file.rmdir()
    progress.add("01_leaves", "leaf_shapes", "correct")
    again = Progress.load(file)
    assert again.exercises == progress.exercises
    assert again.predictions == other.predictions


def test_what_is_recorded_is_read_again_and_told_to_watchers(tmp_path):
    progress, told = Progress.load(tmp_path / "new" / "progress.jsonl"), []
    progress.watchers.append(lambda: told.append(len(progress.exercises)))
    about = Belief("01_leaves", "count_leaves", "none")
    progress.add("01_leaves", "count_leaves", "tried", ["none", "nodes"])
    progress.add("01_leaves", "leaf_shapes", "hint")
    progress.predict("01_leaves", "p", "A")
    progress.predict("01_leaves", "p", "B")
    progress.review(about, "3", is_right=False, held=["elements"])
    progress.review(about._replace(name=""), "", is_right=True, held=[])
    assert told == [1, 2, 2, 2, 2, 2]
    again = Progress.load(progress.file)
    assert again.unreadable_lines == 0
    assert (again.exercises, again.predictions) == (progress.exercises, progress.predictions)
    assert again.predictions["01_leaves", "p"].choice == "B"
    assert again.reviews == progress.reviews
    assert [(each.about.name, each.case, each.is_right) for each in again.reviews] == [
        ("none", "3", False),
        ("", "", True),
    ]
    assert {held.name for held in again.misconceptions_held} == {"none", "nodes", "elements"}
    assert not again.in_exercise("01_leaves", "unknown").correct


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
    progress.add("01_leaves", "leaf_shapes", "solution")  # on a line of its own
    assert Progress.load(file).in_exercise("01_leaves", "leaf_shapes").saw_solution


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
