"""What the class report says of the time in class: `grade --classroom`."""

import sqlite3
from contextlib import closing
from datetime import timedelta

import pytest

from pytree_course.board.session import Log
from pytree_course.course import CourseError
from pytree_course.reports.class_statistics import TimeInClass, read_times
from tests.made_grades import NOON, made_attempt, made_grades, made_row
from tests.reports.test_pages import pages_of, visible

LESSON = "01_made"


@pytest.fixture
def session(tmp_path):
    """Return a function that writes the log of a session from `(minute, who, what, data)`."""
    file = tmp_path / "classroom.sqlite"

    def write(*happened):
        log = Log(file)
        log.append("", "opening", "opened", {"code": "K7PM3Q", "token": "secret"})
        for number, (_, who, what, data) in enumerate(happened):
            log.append(who, str(number), what, data)
        log.close()
        with closing(sqlite3.connect(file)) as database, database:
            for number, (minute, *_) in enumerate(happened):
                time = (NOON + timedelta(minutes=minute)).isoformat()
                database.execute("UPDATE entry SET time = ? WHERE key = ?", (time, str(number)))
        return file

    return write


def joined(minute, who):
    return minute, who, "joined", {"name": who}


def checked(minute, who, exercise, *, right=False):
    data = {"lesson": LESSON, "exercise": exercise, "is_right": right, "misconceptions": []}
    return minute, who, "checked", data


def test_time_before_a_check_counts_unless_it_was_a_break(session):
    file = session(
        joined(0, "ada"),
        joined(1, "bob"),
        checked(3, "ada", "count"),
        checked(4, "bob", "count"),
        (6, "", "note", {"text": "Have a break."}),
        checked(10, "ada", "paths", right=True),
        checked(12, "ada", "count", right=True),
        checked(14, "ada", "count"),
        checked(20.5, "bob", "count"),
        (21, "bob", "left", {}),
    )
    assert read_times(file) == {
        (LESSON, "count"): [TimeInClass(5, 2, True), TimeInClass(3, 2, False)],
        (LESSON, "paths"): [TimeInClass(7, 1, True)],
    }


def test_the_report_shows_the_minutes_of_those_who_solved_it(session, tmp_path):
    file = session(
        *(joined(0, who) for who in ("ada", "bob", "cyd", "dan")),
        checked(1, "ada", "count"),
        checked(2, "ada", "count", right=True),
        checked(4, "bob", "count", right=True),
        checked(8, "dan", "count"),
        checked(9, "dan", "count", right=True),
        checked(9, "cyd", "paths"),
        checked(9, "cyd", "not_in_the_gradebook"),
    )
    grades = made_grades([made_attempt("ada", [made_row("count", "correct")])])
    assert "In class" not in visible(pages_of(grades, tmp_path / "pages")["report.html"])
    page = pages_of(grades, tmp_path / "pages", read_times(file))["report.html"]
    time = visible(page).split("In class")[1]
    assert "Exercise count count 3 3 2 4.0 min 9.0 min" in time
    assert "Exercise paths paths 1 0 – – –" in time
    assert "not_in_the_gradebook" not in page


@pytest.mark.slow
def test_the_option_puts_it_into_the_report(quick, session):
    quick.hand_in("ada", {})
    minute, who, what, data = checked(3, "ada", "count_leaves", right=True)
    file = session(joined(0, "ada"), (minute, who, what, {**data, "lesson": "01_mini"}))
    assert quick.run_here("--classroom", str(file)).returncode == 0
    assert "3.0 min" in (quick.into / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("holds", [None, "", "no database\n" * 100])
def test_a_file_that_is_no_session_is_refused(holds, tmp_path):
    file = tmp_path / "session"
    if holds is not None:
        file.write_text(holds, encoding="utf-8")
    with pytest.raises(CourseError, match="session"):
        read_times(file)
