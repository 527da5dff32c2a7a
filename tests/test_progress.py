"""Progress is one file that is only ever added to."""

import json
from contextlib import contextmanager
from datetime import UTC, datetime

import jax
import pytest

from pytree_course import Checks
from pytree_course.learner.progress import Progress
from pytree_course.learner.review import due


def test_what_is_added_in_two_notebooks_at_once_is_there_after_a_restart(tmp_path):
    file = tmp_path / "progress.jsonl"
    progress, other_notebook = Progress.load(file), Progress.load(file)
    for event in ("tried", "hint", "tried", "correct", "tried"):
        progress.add("01_leaves", "count_leaves", event)
    other_notebook.add("02_tree_map", "sgd_step", "correct")
    both = Progress.load(file)
    assert both.of("02_tree_map", "sgd_step").correct
    again = both.of("01_leaves", "count_leaves")
    assert again == progress.of("01_leaves", "count_leaves")
    assert (again.correct, again.tries, again.hints) == (True, 2, 1)


OF = {"lesson": "01_leaves", "exercise": "count_leaves"}
REVIEWED = {**OF, "event": "reviewed", "name": "x", "case": "", "answer": "right"}
PREDICTED = {"lesson": "01_leaves", "prediction": "p", "choice": "2"}


def test_a_damaged_line_is_counted_and_the_others_are_kept(tmp_path):
    file = tmp_path / "progress.jsonl"
    Progress.load(file).add("01_leaves", "count_leaves", "correct")
    lines = [b'{"lesson": "01_lea', b"\xff", b"[]", b'{"lesson": 1}', b'{"a":' * 100_000]
    times = "0001-01-01T00:00+14:00", "9999-12-31T23:00-12:00", "9999-01-01", "1e9", ""
    events = (event | {"time": time} for time in times for event in (REVIEWED, PREDICTED))
    lines += [json.dumps(event).encode() for event in events]
    with file.open("ab") as stream:
        stream.write(b"\n".join(lines))
    progress = Progress.load(file)
    assert progress.unreadable_lines == len(lines)
    assert progress.of("01_leaves", "count_leaves").correct
    assert not progress.predictions
    assert due([], progress, datetime.now(UTC)) == []


@contextmanager
def disk_full_at(size):
    """Let no file grow beyond a size: as on a full disk, what still fits is written."""
    resource = pytest.importorskip("resource", reason="a limit of POSIX systems")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_what_a_full_disk_refuses_is_written_later_in_order(tmp_path):
    file = tmp_path / "progress.jsonl"
    progress = Progress.load(file)
    progress.add("01_leaves", "count_leaves", "tried")
    size = file.stat().st_size
    with disk_full_at(size + 20):
        progress.add("01_leaves", "count_leaves", "hint")
        assert file.stat().st_size == size + 20  # a line was cut off
        # Another widget of this notebook knows of it, and fails as well.
        other = Progress.load(file)
        assert other.of("01_leaves", "count_leaves").hints == 1
        other.predict("01_leaves", "leaves-4", "A")
        assert len(progress.news() + other.news() + progress.news()) == 1
    progress.add("01_leaves", "count_leaves", "correct")
    assert file.read_text().count("time") == 5  # with what was cut off
    again = Progress.load(file)
    assert again.unreadable_lines == 1
    assert again.exercises == progress.exercises
    assert again.predictions == other.predictions


def test_where_nothing_can_be_read_or_written_progress_is_kept_in_memory(tmp_path):
    file = tmp_path / "progress.jsonl"
    file.mkdir()
    progress = Progress.load(file)
    progress.add("01_leaves", "count_leaves", "correct")
    assert progress.of("01_leaves", "count_leaves").correct
    [told] = progress.news()
    assert str(file) in told
    assert progress.trouble is not None and progress.trouble.strerror in told
    file.rmdir()
    progress.add("01_leaves", "leaf_at", "correct")
    assert Progress.load(file).exercises == progress.exercises


def test_a_right_answer_is_right_where_progress_cannot_be_written(course, monkeypatch, capsys):
    course.progress_file.mkdir()
    monkeypatch.chdir(course.root / "exercises")
    check = Checks("01_mini")
    check.count_leaves(lambda tree: jax.tree.structure(tree).num_leaves)
    check.count_leaves(len)
    check.first_leaf.hint()
    shown = " ".join(capsys.readouterr().out.split()).replace("- ", "-")  # lines are broken there
    for words in ("✓ Correct", "✗ Not yet", "Hint 1", "Is a directory"):
        assert words in shown
    assert shown.count("The course cannot write your progress into") == 1
