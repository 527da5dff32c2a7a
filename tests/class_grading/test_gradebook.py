"""The gradebook: what is recorded stays, whole, and the last attempt of a student counts."""

import json
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pytree_course.class_grading.attempt import VerdictRow
from pytree_course.class_grading.gradebook import Gradebook
from pytree_course.class_grading.roster import RosterEntry
from pytree_course.course import CourseError
from pytree_course.judging.verdicts import FailedCase, Finding, VerdictKind, WrongLine
from pytree_course.observing.observations import MAX_DEPTH, NoneValue
from pytree_course.observing.observe import observe
from pytree_course.running.outcomes import Line
from tests.made_grades import BASIS, NOON, made_attempt

ADA = RosterEntry("ada", "Ada Lovelace")
NONE = NoneValue()
ROW = VerdictRow(
    exercise="count_leaves",
    kind=VerdictKind.INCORRECT,
    points=0,
    exercise_points=2,
    passed=1,
    cases=3,
    seconds=0.25,
    explanation="“No” — it’s <not> so.",
    misconceptions=["elements"],
    failure=FailedCase(1, (NONE,), ("None",), NONE, "printed", Line(2, "1 / 0"), "a note"),
    results="abc",
    findings=[Finding("constant", [1, 2], {"which": "all"})],
    lines=[WrongLine("A", "`[1]`", "2", "belief", {"explanation": "It is so."}, "a_belief")],
    basis=BASIS,
)
ATTEMPT = made_attempt(
    "ada",
    [ROW, replace(ROW, exercise="first_leaf", kind="correct", points=2, failure=None)],
    "01_mini",
    answers={"count_leaves": "def count_leaves(tree):\r\n\f    return 0"},
)


@pytest.fixture
def gradebook(tmp_path):
    with Gradebook(tmp_path / "grades" / "gradebook.sqlite") as book:
        yield book


def test_attempts_are_kept_in_order_and_never_replaced(gradebook):
    again = replace(ATTEMPT, rows=ATTEMPT.rows[:1])
    gradebook.record(ATTEMPT)
    gradebook.record(again)
    assert Gradebook(gradebook.file).attempts() == [ATTEMPT, again]


def test_what_is_remembered_changes_field_by_field_and_a_report_is_told_of_all(gradebook):
    gradebook.remember(roster=[ADA])
    gradebook.remember(due={"01_mini": NOON})
    for _ in range(2):
        gradebook.record(ATTEMPT, {"digest": "[1]"})
    gradebook.remember_report()
    book = Gradebook(gradebook.file)
    memory = book.memory()
    assert (memory.roster, memory.due) == ([ADA], {"01_mini": NOON})
    assert (memory.reported_attempts, memory.reported_roster) == (2, [ADA])
    assert (book.results("digest"), book.results("another")) == ("[1]", "")
    assert gradebook.file.stat().st_mode & 0o077 == 0  # nobody else reads it


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_survives(tmp_path_factory, text):
    attempt = replace(ATTEMPT, student=text, reason=text, answers={text: text})
    with Gradebook(tmp_path_factory.mktemp("book") / "gradebook.sqlite") as book:
        book.record(attempt)
        assert book.attempts() == [attempt]


def test_a_lesson_has_one_seed_until_another_is_drawn(gradebook):
    seed = gradebook.seed("01_mini")
    assert Gradebook(gradebook.file).seed("01_mini") == seed
    gradebook.draw_seed("01_mini")
    assert gradebook.seed("01_mini") != seed


@pytest.mark.parametrize("statement", ["CREATE TABLE mine (x)", "PRAGMA user_version = 1"])
def test_a_gradebook_of_another_version_is_refused_with_what_to_do(tmp_path, statement):
    file = tmp_path / "other.sqlite"
    database = sqlite3.connect(file)
    database.execute(statement)
    database.close()
    before = file.read_bytes()
    with pytest.raises(CourseError, match=r"another version.*Grade into another folder"):
        Gradebook(file)
    assert file.read_bytes() == before


def test_an_unusable_gradebook_is_refused_and_left_alone(tmp_path, gradebook):
    file = tmp_path / "notes.txt"
    file.write_text("my notes" * 1000)
    for wrong in (file, file / "gradebook.sqlite", tmp_path):
        with pytest.raises(CourseError, match="cannot be used"):
            Gradebook(wrong)
    assert file.read_text() == "my notes" * 1000
    gradebook._database.execute("PRAGMA query_only = ON")  # as where the disk is read-only
    with pytest.raises(CourseError, match="cannot be written"):
        gradebook.record(ATTEMPT)


def test_a_file_that_is_damaged_is_said_with_what_to_do(gradebook):
    for number in range(100):
        gradebook.record(replace(ATTEMPT, student=str(number)))
    data = gradebook.file.read_bytes()
    gradebook.file.write_bytes(data[:8192] + b"\xff" * (len(data) - 8192))
    with pytest.raises(CourseError, match=r"is damaged.*grade into another folder"):
        Gradebook(gradebook.file).attempts()


def edited(change):

    def edit(record):
        entries = json.loads(record)
        change(entries)
        return json.dumps(entries)

    return edit


UNREADABLE = {
    "a list": lambda _: "[]",
    "no state": edited(lambda record: record.pop("state")),
    "an unknown state": edited(lambda record: record.update(state="lost")),
    "a time without a zone": edited(
        lambda record: record["rows"][0]["basis"].update(graded_at="2026-11-16")
    ),
    "a long number": lambda record: record.replace('"cases": 3', f'"cases": {"9" * 5_000}'),
    "an unknown node": edited(lambda record: record["rows"][0]["failure"].update(got=["knot"])),
    "inputs without words": edited(lambda record: record["rows"][0]["failure"].update(written=[])),
}


@pytest.mark.parametrize("edit", UNREADABLE.values(), ids=UNREADABLE)
def test_a_record_that_cannot_be_read_is_said_with_what_to_do(gradebook, edit):
    gradebook.record(ATTEMPT)
    ((record,),) = gradebook._database.execute("SELECT record FROM attempt")
    gradebook._database.execute("UPDATE attempt SET record = ?", [edit(record)])
    with pytest.raises(CourseError, match=r"is damaged .*grade into another folder, with --corr"):
        gradebook.attempts()


def test_what_could_not_be_read_again_is_not_recorded(gradebook):
    gradebook.record(ATTEMPT)
    with pytest.raises(ValueError, match="a time that"):
        gradebook.record(replace(ATTEMPT, student="bob", handed_in=NOON.replace(year=1969)))
    assert gradebook.attempts() == [ATTEMPT]


def test_the_deepest_result_that_can_be_observed_is_read_again(gradebook):
    tree = 1
    for _ in range(MAX_DEPTH):
        tree = [tree]
    row = replace(ROW, failure=replace(ROW.failure, got=observe(tree)))
    gradebook.record(replace(ATTEMPT, rows=[row]))
    assert gradebook.attempts()[0].rows == [row]
