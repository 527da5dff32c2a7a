"""The gradebook: what is recorded stays, whole, and one attempt of a student counts."""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.classroom.attempt import (
    MOST_TRIES,
    Attempt,
    AttemptState,
    VerdictRow,
    counting,
)
from pytree_course.classroom.downloads import Submitter
from pytree_course.classroom.gradebook import Gradebook
from pytree_course.course import CourseError

MONDAY = datetime(2026, 11, 16, 12, tzinfo=UTC)
ROW = VerdictRow(
    exercise="count_leaves",
    kind="incorrect",
    points=0,
    exercise_points=2,
    passed=1,
    cases=3,
    seconds=0.25,
    explanation="“No” — it’s <not> so.",
    misconceptions=["elements"],
    failure={"inputs": [{"kind": "none"}], "written": ["None"]},
    results="abc",
)
ATTEMPT = Attempt(
    student="ada",
    lesson="01_mini",
    file="ada/01_mini.ipynb",
    handed_in=MONDAY,
    answers={"count_leaves": "def count_leaves(tree): return 0"},
    answers_digest="first",
    release=None,
    checks="checks",
    environment="python",
    seed=2**32 - 1,
    state=AttemptState.GRADED,
    reason="",
    seconds=1.5,
    graded_at=MONDAY,
    rows=[ROW, replace(ROW, exercise="first_leaf", kind="correct", points=2, failure=None)],
)


@pytest.fixture
def gradebook(tmp_path):
    with Gradebook(tmp_path / "grades" / "gradebook.sqlite") as book:
        yield book


def test_what_is_recorded_is_there_when_the_file_is_opened_again(gradebook):
    gradebook.record(ATTEMPT)
    assert Gradebook(gradebook.file).attempts() == [ATTEMPT]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(tmp_path_factory, text):
    attempt = replace(ATTEMPT, student=text, reason=text, answers={text: text})
    with Gradebook(tmp_path_factory.mktemp("book") / "gradebook.sqlite") as book:
        book.record(attempt)
        assert book.attempts() == [attempt]


def test_an_attempt_with_the_same_key_is_replaced_and_another_is_added(gradebook):
    gradebook.record(ATTEMPT)
    again = replace(ATTEMPT, seed=7, rows=ATTEMPT.rows[:1])
    gradebook.record(again)
    assert gradebook.attempts() == [again]
    gradebook.record(replace(again, answers_digest="second"))
    assert len(gradebook.attempts()) == 2


def test_an_attempt_is_recorded_whole_or_not_at_all(gradebook):
    gradebook.record(ATTEMPT)
    broken = replace(ATTEMPT, seed=7, rows=[ROW, ROW])  # the same exercise twice
    with pytest.raises(sqlite3.IntegrityError):
        gradebook.record(broken)
    assert gradebook.attempts() == [ATTEMPT]


def test_what_is_no_gradebook_is_refused_and_left_as_it_is(tmp_path):
    file = tmp_path / "gradebook.sqlite"
    file.write_text("my notes" * 1000)
    with pytest.raises(CourseError, match="cannot be used"):
        Gradebook(file)
    assert file.read_text() == "my notes" * 1000
    other = tmp_path / "other.sqlite"
    database = sqlite3.connect(other)
    database.execute("CREATE TABLE mine (x)")
    database.close()
    with pytest.raises(CourseError, match="another folder"):
        Gradebook(other)


OLD_TABLES = """
CREATE TABLE attempt (
    id INTEGER PRIMARY KEY,
    student TEXT NOT NULL,
    lesson TEXT NOT NULL,
    file TEXT NOT NULL,
    handed_in TEXT NOT NULL,
    answers TEXT NOT NULL,
    answers_digest TEXT NOT NULL,
    release TEXT,
    checks TEXT NOT NULL,
    environment TEXT NOT NULL,
    seed INTEGER NOT NULL,
    state TEXT NOT NULL,
    reason TEXT NOT NULL,
    seconds REAL NOT NULL,
    graded_at TEXT NOT NULL,
    UNIQUE (student, lesson, answers_digest, checks, environment)
) STRICT;
CREATE TABLE run (
    lesson TEXT PRIMARY KEY,
    seed INTEGER NOT NULL
) STRICT;
CREATE TABLE verdict (
    attempt INTEGER NOT NULL REFERENCES attempt ON DELETE CASCADE,
    position INTEGER NOT NULL,
    exercise TEXT NOT NULL,
    kind TEXT NOT NULL,
    points INTEGER NOT NULL,
    exercise_points INTEGER NOT NULL,
    passed INTEGER NOT NULL,
    cases INTEGER NOT NULL,
    seconds REAL NOT NULL,
    explanation TEXT NOT NULL,
    misconceptions TEXT NOT NULL,
    failure TEXT,
    results TEXT,
    PRIMARY KEY (attempt, exercise)
) STRICT, WITHOUT ROWID;
INSERT INTO attempt VALUES (1, 'ada', '01_mini', 'ada/01_mini.ipynb', '2026-11-16T12:00:00+00:00',
    '{"count_leaves": "def count_leaves(tree): return 0"}', 'first', NULL, 'checks', 'python',
    4294967295, 'graded', '', 1.5, '2026-11-16T12:00:00+00:00');
INSERT INTO verdict VALUES (1, 0, 'count_leaves', 'incorrect', 0, 2, 1, 3, 0.25,
    '“No” — it’s <not> so.', '["elements"]',
    '{"inputs": [{"kind": "none"}], "written": ["None"]}', 'abc');
INSERT INTO verdict VALUES (1, 1, 'first_leaf', 'correct', 2, 2, 1, 3, 0.25,
    '“No” — it’s <not> so.', '["elements"]', NULL, 'abc');
PRAGMA user_version = 1;
"""
"""A gradebook of version 1, as the first code that had this version wrote it."""


def columns(file, table):
    with sqlite3.connect(file) as database:
        return database.execute(f"PRAGMA table_info({table})").fetchall()


def test_an_older_gradebook_of_the_same_version_opens_and_its_columns_are_todays(
    tmp_path, gradebook
):
    file = tmp_path / "gradebook.sqlite"
    with sqlite3.connect(file) as database:
        database.executescript(OLD_TABLES)
    with Gradebook(file) as old:
        assert old.attempts() == [ATTEMPT]
        old.record(replace(ATTEMPT, seed=7))
        assert old.attempts() == [replace(ATTEMPT, seed=7)]
    for table in ("attempt", "run", "verdict"):
        assert columns(file, table) == columns(gradebook.file, table)


def test_a_gradebook_that_cannot_be_made_or_written_is_said(tmp_path, gradebook):
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(CourseError, match="cannot be made"):
        Gradebook(file / "gradebook.sqlite")
    with pytest.raises(CourseError, match="cannot be used"):
        Gradebook(tmp_path)
    gradebook._database.execute("PRAGMA query_only = ON")  # as where the disk is read-only
    with pytest.raises(CourseError, match="cannot be written"):
        gradebook.record(ATTEMPT)


def test_a_resumed_grading_goes_on_with_its_seeds_and_the_next_one_draws_others(gradebook):
    assert [gradebook.seed_of_run("01_mini", at, 5 + at) for at in range(2)] == [5, 6]
    again = Gradebook(gradebook.file)
    assert [again.seed_of_run("01_mini", at, 7) for at in range(3)] == [5, 6, 7]
    gradebook.finish_runs()
    assert gradebook.seed_of_run("01_mini", 0, 8) == 8


def test_a_grading_that_an_earlier_gradebook_holds_unfinished_goes_on_with_its_seed(tmp_path):
    file = tmp_path / "gradebook.sqlite"
    with sqlite3.connect(file) as database:
        database.executescript(OLD_TABLES)
        database.execute("INSERT INTO run VALUES ('01_mini', 5)")
    with Gradebook(file) as old:
        assert [old.seed_of_run("01_mini", at, 6) for at in range(2)] == [5, 6]


def test_halves_of_characters_are_replaced_wherever_they_are(gradebook):
    row = replace(ROW, explanation="\ud800", failure={"got": ["\udfff"]}, reasons=["\udc80"])
    gradebook.record(replace(ATTEMPT, student="\udcff", reason="\ud800", rows=[row]))
    gradebook.introduce([Submitter("\udcff")])
    whole = replace(ROW, explanation="?", failure={"got": ["?"]}, reasons=["?"])
    assert gradebook.attempts() == [replace(ATTEMPT, student="?", reason="?", rows=[whole])]
    assert gradebook.submitters().keys() == {"?"}


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("attempt", "handed_in", "'soon'"),
        ("attempt", "state", "'lost'"),
        ("attempt", "answers", "'{'"),
        ("attempt", "answers", "replace(hex(zeroblob(50000)), '00', '[')"),
        ("verdict", "failure", "'{\"inputs\": '"),
        ("verdict", "failed", "'" + "9" * 5_000 + "'"),
    ],
)
def test_an_attempt_that_cannot_be_read_costs_no_other_and_is_graded_again(
    gradebook, table, column, value
):
    gradebook.record(replace(ATTEMPT, student="bob"))
    gradebook._database.execute(f"UPDATE {table} SET {column} = {value}")
    gradebook.record(ATTEMPT)
    attempts = {each.student: each for each in gradebook.attempts()}
    assert attempts["ada"] == ATTEMPT
    bob = attempts["bob"]
    assert (bob.state, bob.points) == (AttemptState.FAILED, 0)
    assert f"cannot be read ({column})" in bob.reason
    assert [row.kind for row in bob.rows] == ["failed", "failed"]
    gradebook.record(replace(ATTEMPT, student="bob"))
    assert gradebook.attempts() == [ATTEMPT, replace(ATTEMPT, student="bob")]


def test_bytes_that_are_no_text_are_read_all_the_same(gradebook):
    gradebook.record(ATTEMPT)
    gradebook._database.execute("UPDATE attempt SET reason = CAST(x'61ff' AS TEXT)")
    assert gradebook.attempts()[0].reason == "a\ufffd"


def test_what_was_not_run_is_remembered_until_it_is_said_otherwise(gradebook):
    ada, bob = ("ada", "01_mini"), ("bob", "01_mini")
    gradebook.note_not_run({ada: "1 other", bob: ""})
    gradebook.note_not_run({bob: "2 others"})
    assert gradebook.not_run() == {ada: "1 other", bob: "2 others"}
    gradebook.note_not_run({ada: ""})
    assert gradebook.not_run() == {bob: "2 others"}


def attempt(digest, points, days=0, graded=0, student="ada"):
    return replace(
        ATTEMPT,
        student=student,
        answers_digest=digest,
        handed_in=MONDAY + timedelta(days=days),
        graded_at=MONDAY + timedelta(days=graded),
        checks=f"checks {graded}",
        rows=[replace(ROW, points=points)],
    )


def test_the_last_attempt_counts_or_the_best():
    attempts = [attempt("a", 1), attempt("b", 3, days=1), attempt("c", 2, days=2)]
    key = ("ada", "01_mini")
    assert counting(attempts, best=False)[key].points == 2
    assert counting(attempts, best=True)[key].points == 3


def test_of_the_same_answers_the_last_grading_counts_even_when_it_is_worse():
    attempts = [attempt("a", 3, graded=1), attempt("a", 0, graded=2), attempt("b", 1, days=-1)]
    assert counting(attempts, best=False)["ada", "01_mini"].points == 0
    assert counting(attempts, best=True)["ada", "01_mini"].points == 1


def test_the_best_of_the_first_tries_counts_however_many_there_are():
    attempts = [attempt(f"{number}", 0, days=number) for number in range(MOST_TRIES)]
    late = attempt("lucky", 3, days=MOST_TRIES)
    key = ("ada", "01_mini")
    assert counting([*attempts, late], best=True)[key].points == 0
    assert counting([*attempts, late], best=False)[key].points == 3
    assert counting([*attempts[1:], late], best=True)[key].points == 3


def test_whom_a_download_named_is_remembered_also_in_a_gradebook_made_before_there_were_any(
    gradebook,
):
    ada = Submitter("12345", "lovelaceada", "Canvas", "12345")
    assert gradebook.submitters() == {}
    gradebook.introduce([ada, Submitter("bob")])
    gradebook.introduce([replace(ada, name="byronada")])
    assert Gradebook(gradebook.file).submitters() == {
        "12345": replace(ada, name="byronada"),
        "bob": Submitter("bob"),
    }
