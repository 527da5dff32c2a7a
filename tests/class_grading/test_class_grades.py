"""The grades of a class as they stand: who has what, what is missing, and what is late."""

from dataclasses import replace
from datetime import timedelta

import pytest
from msgspec import structs

from pytree_course.class_grading.attempt import AppliedCorrection
from pytree_course.class_grading.class_grades import (
    NOT_HANDED_IN,
    NOT_READ,
    NOT_YET_GRADED,
    ClassGrades,
)
from pytree_course.class_grading.downloads import CANVAS
from pytree_course.class_grading.gradebook import Memory
from pytree_course.class_grading.roster import Student
from pytree_course.class_grading.student_files import LeftOut
from tests.made_grades import BASIS, NOON, made_attempt, made_grades, made_lesson, made_row

RIGHT, WRONG = made_row("count", "correct"), made_row("count", "incorrect")


def test_points_of_all_lessons_are_added_up():
    lessons = [made_lesson(), made_lesson("02_made")]
    attempts = [made_attempt("ada", [RIGHT]), made_attempt("ada", [RIGHT, WRONG], "02_made")]
    attempts.append(made_attempt("cyd", [RIGHT], "02_made"))
    students = [Student("ada", "Ada"), Student("bob"), Student("cyd")]
    grades = made_grades(attempts, lessons, students)
    ada, bob, cyd = students
    assert (grades.points(ada), grades.points(bob), grades.all_points) == (4, 0, 8)
    assert [*map(grades.has_attempt, (ada, bob, cyd))] == [True, False, True]
    assert [attempt for _, _, attempt in grades.all_attempts()] == attempts
    assert (grades.label("ada"), grades.label("gus")) == ("Ada (ada)", "gus")


@pytest.mark.parametrize(
    ("handed_in", "late"),
    [(0, None), (0.5, 0), (90.5, 90)],
)
def test_an_attempt_is_late_by_whole_seconds_after_its_deadline(handed_in, late):
    attempt = made_attempt("ada", [RIGHT], handed_in=NOON + timedelta(seconds=handed_in))
    grades = made_grades([attempt], due=NOON)
    assert grades.late_by(attempt) == (None if late is None else timedelta(seconds=late))
    assert grades.late_by(structs.replace(attempt, system=CANVAS)) is None  # has no time
    assert made_grades([attempt]).late_by(attempt) is None


def test_it_is_said_why_a_student_has_no_attempt():
    students = [Student("ada"), Student("bob", group="Team", group_id="team"), Student("cyd")]
    students += [Student("dan", group="Two", group_id="two")]
    lesson, left_out = made_lesson(), [LeftOut("cyd", "a.pdf", "a PDF"), LeftOut("", "b", "?")]
    left_out.append(LeftOut("two", "c.pdf", "a PDF"))
    waiting = frozenset({("team", "01_made"), ("ada", "02_made")})
    memory = Memory(left_out=left_out)
    grades = replace(made_grades([], [lesson], students), memory=memory, waiting=waiting)
    why = [grades.explain_missing(student, lesson) for student in students]
    assert why == [NOT_HANDED_IN, NOT_YET_GRADED, NOT_READ, NOT_READ]
    assert [len(grades.files_left_out(student)) for student in students] == [0, 0, 1, 1]


def test_points_for_an_earlier_answer_are_named_if_the_check_gives_others():
    def corrected(exercise, by_check, is_for_this):
        teacher = AppliedCorrection("", by_check, is_for_this)
        return made_row(exercise, "correct", teacher=teacher)  # two points

    rows = [corrected("count", 0, False), corrected("paths", 2, False), corrected("third", 0, True)]
    grades = made_grades([made_attempt("ada", [*rows, RIGHT])])
    assert [row.exercise for _, _, row in grades.outdated_corrections] == ["count"]


def test_lessons_on_public_cases_are_named():
    public = structs.replace(RIGHT, basis=structs.replace(BASIS, on_public_cases=True))
    attempts = [made_attempt("ada", [RIGHT]), made_attempt("ada", [public], "02_made")]
    lessons = [made_lesson(), made_lesson("02_made")]
    assert made_grades(attempts, lessons).lessons_on_public_cases == ["02_made"]


def test_a_withdrawn_exercise_and_a_class_of_unread_files_are_shown(quick):
    with quick.gradebook() as gradebook:
        assert ClassGrades.combine(quick.course, gradebook).lessons == []
        gradebook.remember(left_out=[LeftOut("ada", "a.pdf", "a PDF")])
        (lesson,) = ClassGrades.combine(quick.course, gradebook).lessons
        gone = made_row("gone", "incorrect", misconceptions=["nodes"])
        known = structs.replace(gone, exercise="count_leaves")
        gradebook.record(made_attempt("ada", [gone, known], "01_mini"))
        grades = ClassGrades.combine(quick.course, gradebook)
    said = [row.explanation for row in grades.counting["ada", "01_mini"].rows]
    assert said == ["It is incorrect.", "You counted nodes."]
    assert lesson.lesson == "01_mini"
