"""The gradebook: what is recorded stays, whole, and one attempt of a student counts."""

import sqlite3
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytree_course.classroom.gradebook import (
    Attempt,
    AttemptState,
    ExerciseRow,
    Gradebook,
    counting,
)
from pytree_course.course import CourseError

MONDAY = datetime(2026, 11, 16, 12, tzinfo=UTC)
ROW = ExerciseRow(
    exercise="count_leaves",
    kind="incorrect",
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
    book = Gradebook(tmp_path / "grades" / "gradebook.sqlite")
    yield book
    book.close()


def test_what_is_recorded_is_there_when_the_file_is_opened_again(gradebook):
    gradebook.record(ATTEMPT)
    assert Gradebook(gradebook.file).attempts() == [ATTEMPT]


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(tmp_path_factory, text):
    book = Gradebook(tmp_path_factory.mktemp("book") / "gradebook.sqlite")
    attempt = replace(ATTEMPT, student=text, reason=text, answers={text: text})
    book.record(attempt)
    assert book.attempts() == [attempt]
    book.close()


def test_an_attempt_with_the_same_key_is_replaced_and_another_is_added(gradebook):
    gradebook.record(ATTEMPT)
    again = replace(ATTEMPT, seed=7, rows=ATTEMPT.rows[:1])
    gradebook.record(again)
    assert gradebook.attempts() == [again]
    gradebook.record(replace(again, answers_digest="second"))
    assert len(gradebook.attempts()) == 2
    assert gradebook.attempts(student="bob") == gradebook.attempts(lesson="02_other") == []


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


def test_a_resumed_grading_goes_on_with_its_seed_and_the_next_one_draws_another(gradebook):
    assert gradebook.seed_of_run("01_mini", 5) == 5
    assert Gradebook(gradebook.file).seed_of_run("01_mini", 6) == 5
    gradebook.finish_runs()
    assert gradebook.seed_of_run("01_mini", 7) == 7


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
