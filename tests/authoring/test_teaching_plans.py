"""Plans for teachers: made of the lessons' minutes, and adding up."""

import re
from itertools import pairwise

from pytree_course.authoring.teaching_plans import PAGE, SESSION_MINUTES, plans
from pytree_course.course import Course
from pytree_course.judging.expected import BuiltLesson
from pytree_course.learner.progress import Progress
from pytree_course.learner.standings import CoreMinutes, standing
from tests.conftest import ROOT


def tables(text):
    """Return the steps of each table that has times: where it begins, and how long it takes."""
    found = [[]]
    for line in text.splitlines():
        if row := re.match(r"\| (\d+):(\d\d) \| (\d* ?)\|", line):
            found[-1].append((60 * int(row[1]) + int(row[2]), int(row[3].strip() or 0)))
        elif found[-1]:
            found.append([])
    return [rows for rows in found if rows]


def assert_times_add_up(text):
    for rows in tables(text):
        for (begun, minutes), (next_begun, _) in pairwise(rows):
            assert begun + minutes == next_begun


# The course's own


def test_the_course_has_a_plan_for_each_time_made_of_its_sources():
    text = plans(Course(ROOT))
    assert (ROOT / PAGE).read_text(encoding="utf-8") == text, "run: python3 course.py build"
    assert_times_add_up(text)
    one, *sessions = tables(text)
    assert one[-1][0] == SESSION_MINUTES
    assert len(sessions) == len(Course(ROOT).lessons())


def test_the_readme_has_the_minutes_that_the_start_page_has():
    built = [BuiltLesson.read(files.expected) for files in Course(ROOT).lessons()]
    cores = [standing(lesson, Progress.load(None)).core_minutes for lesson in built]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| (\d+) minutes \| (\d+) minutes \|", text)
    assert rows == [(f"{core.lessons_left}", f"{core.exercises_left}") for core in cores]
    total = re.search(r"The core, (about [\w ]+)\*\*", text)
    assert str(CoreMinutes.together(cores)).startswith(f"{total[1]} left")


# A small course


def test_a_small_course_is_planned_each_exercise_after_the_section_that_it_is_about(course):
    text = plans(course)
    assert_times_add_up(text)
    found = re.findall(r"\| (you show|they do) \| .*?\[(.+?)\]", text)
    assert found[:3] == [
        ("you show", "Leaves are not elements"),
        ("they do", "Count the leaves"),
        ("you show", "What you learned"),
    ]
    one, session = tables(text)
    assert one == [(0, 5), (5, 1), (6, 3), (9, 1), (10, 80), (90, 0)]
    assert session[-1] == (15, 0)
    assert "Lesson 1" not in text
    assert "At home: 4 min. The first leaf (4)" in text
    assert "at the end: 2 notebooks, 3 min in all." in text
