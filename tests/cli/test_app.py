"""The commands of course.py, as they are typed."""

import io
import sys
from datetime import datetime

import pytest

from pytree_course.cli.app import parse_deadline
from pytree_course.course import CourseError
from tests.conftest import edit


def test_a_lesson_has_several_names_and_unknown_ones_are_refused(course):
    names = ("1", "01", "mini", "01_mini")
    assert {course.lesson_named(name).stem for name in names} == {"01_mini"}
    with pytest.raises(CourseError, match=r"no lesson '7'\. The lessons here: 01_mini"):
        course.lesson_named("7")


def test_mistakes_and_missing_files_are_named_without_a_traceback(course_py, mini):
    def told(*command):
        done = course_py(*command)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        return done.stderr

    edit(mini.sources / "exercises.md", 'hints: ["one', 'hint: ["one')
    mistake = told("build", "1")
    assert "`hint`" in mistake
    assert "exercises.md:" in mistake
    mini.expected.unlink()
    mini.blank.unlink()
    for command in (["progress"], ["check", "1"], ["reset", "1"]):
        assert "is missing" in told(*command)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_ticks_shows_the_words(course_py, course, monkeypatch, encoding):
    def shown(*arguments):
        streams = {"stdout": io.BytesIO(), "stderr": io.BytesIO()}
        for name, raw in streams.items():
            monkeypatch.setattr(sys, name, io.TextIOWrapper(raw, encoding=encoding))
        course_py(*arguments)
        sys.stdout.flush()
        sys.stderr.flush()
        return "".join(raw.getvalue().decode(encoding) for raw in streams.values())

    assert "(to earn)" in shown("progress")
    assert "there is no lesson" in shown("check", "nœud").lower()
    assert "is fresh" in shown("reset", "1")
    assert "course.py" in shown("--help")


def test_a_deadline_is_a_time_or_the_end_of_a_day():
    assert parse_deadline("2026-11-30") == datetime(2026, 11, 30, 23, 59, 59, 999_999).astimezone()
    for noon in ("2026-11-30 12:00", "2026-11-30T12:00:00"):
        assert parse_deadline(noon) == datetime(2026, 11, 30, 12).astimezone()
    for invalid in ("30.11.2026", "tomorrow", ""):
        with pytest.raises(CourseError, match="write 2026-11-30, or 2026-11-30 23:59"):
            parse_deadline(invalid)
