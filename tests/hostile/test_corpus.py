"""Every case of the corpus gets its verdict, and honest students beside it lose nothing."""

import pytest

from tests.hostile.case import NOTHING, Case
from tests.hostile.families import all_cases, everyday_cases
from tests.hostile.secrets_kept import VICTIM
from tests.lesson_reads import CLASS

pytestmark = [pytest.mark.slow, pytest.mark.reads("tests/hostile", *CLASS)]

CASES = all_cases()
EVERYDAY = [case.id for case in everyday_cases()]
each_case = pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, marks=[] if case.id in EVERYDAY else pytest.mark.thorough, id=case.id)
        for case in CASES
    ],
)
MOST_MEMORY = 2_000 * 2**20  # most of it is what JAX compiled of the authors' answers


def test_no_two_cases_are_called_alike():
    ids = [case.id for case in CASES]
    assert sorted(set(ids)) == sorted(ids)


@each_case
def test_a_case_gets_its_verdict(graded, case: Case):
    student = graded.student_of(case)
    attempt = graded.attempt(student)
    assert (NOTHING if attempt is None else str(attempt.state)) == case.state
    rows = [] if attempt is None else attempt.rows
    if case.is_local:
        rows = [row for row in rows if row.exercise in case.answers]
    points = {row.exercise: row.points for row in rows}
    earned = {
        row.exercise: row.exercise_points if row.exercise in case.earns else 0 for row in rows
    }
    assert points == earned, {row.exercise: row.explanation for row in rows}
    assert points.keys() >= set(case.earns)
    kinds = {row.exercise: row.kind for row in rows}
    assert {**kinds, **case.kinds} == kinds
    said = [attempt.reason] if attempt is not None else []
    errors = [getattr(row.failure.got, "message", "") for row in rows if row.failure is not None]
    assert case.reason in "\n".join([*said, *(row.explanation for row in rows), *errors])
    assert case.said in graded.done.said


@each_case
def test_a_case_costs_no_right_answer_beside_it(graded, case: Case):
    student = graded.student_of(case)
    rows = {name: graded.row(student, name) for name in student.beside}
    lost = {name: row.explanation for name, row in rows.items() if row.points < row.exercise_points}
    assert not lost


@each_case
def test_a_case_reads_no_secret(graded, case: Case):
    assert not [*graded.secrets.in_texts(graded.texts_about(graded.student_of(case)))]


def test_nothing_that_is_written_of_the_class_holds_a_secret(graded):
    assert not [*graded.secrets.in_texts(graded.texts_about_all())]


def test_honest_students_have_all_points(graded):
    for student in graded.honest:
        rows = [graded.row(student, name) for name in student.beside]
        lost = {row.exercise: row.explanation for row in rows if row.points < row.exercise_points}
        assert not lost, student


def test_the_grading_came_to_its_end_and_the_victim_has_its_points(graded):
    assert graded.done.returncode == 0, graded.done.stderr[-2000:]
    assert graded.attempts[VICTIM, "01_leaves"].points == 1


def test_no_process_and_no_temporary_file_is_left(graded):
    assert not graded.done.left_processes
    assert not graded.done.left_files


def test_the_grader_itself_stays_small(graded):
    assert graded.done.peak_memory < MOST_MEMORY
