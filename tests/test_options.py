"""What the commands' options mean."""

from datetime import datetime

import pytest

from pytree_course.cli.app import last_moment
from pytree_course.course import CourseError


@pytest.mark.parametrize(
    ("due", "moment"),
    [
        ("2026-11-30", (2026, 11, 30, 23, 59, 59, 999_999)),
        ("2026-11-30 12:00", (2026, 11, 30, 12, 0)),
        ("2026-11-30T23:59:00", (2026, 11, 30, 23, 59)),
    ],
)
def test_work_is_due_at_a_time_or_at_the_end_of_a_day(due, moment):
    assert last_moment(due) == datetime(*moment).astimezone()


@pytest.mark.parametrize("due", ["30.11.2026", "tomorrow", ""])
def test_what_is_no_time_is_refused_with_an_example(due):
    with pytest.raises(CourseError, match="write 2026-11-30, or 2026-11-30 23:59"):
        last_moment(due)
