"""Many tries: each has cases of its own, no more than ten are run, and the rest is said."""

import os

import pytest

from pytree_course.classroom.attempt import MOST_TRIES
from pytree_course.classroom.class_grading import GradingOptions
from pytree_course.grading.lesson import GradedLesson
from tests.made_submissions import RIGHT, SAME_PROCESS, MadeClass

pytestmark = pytest.mark.slow

LAST = GradingOptions(in_sandbox=False)
BEST = GradingOptions(in_sandbox=False, best=True)


@pytest.fixture
def made(course, tmp_path, monkeypatch):
    """Return a class whose answers run in this process."""
    made = MadeClass(course, tmp_path)
    made.run_without_kernels(monkeypatch)
    return made


def hand_in(made, student, number, answers=None):
    """Hand in the try that is the `number`th by its time."""
    wrong = {"count_leaves": f"def count_leaves(tree):\n    return -1 - {number}"}
    code = wrong if answers is None else answers
    file = made.hand_in(student, code, f"01_mini-{number}.ipynb")
    os.utime(file, (1_000_000 + number, 1_000_000 + number))
    return file


def graded(made):
    """Return which tries were run."""
    return {int(each.file.rpartition("-")[2].removesuffix(".ipynb")) for each in made.attempts()}


def test_each_of_a_students_tries_has_a_seed_of_its_own_and_students_share_them(made):
    for number in range(3):
        hand_in(made, "ada", number)
        hand_in(made, "bob", number)
    made.grade(BEST)
    seeds = {(each.student, each.handed_in): each.seed for each in made.attempts()}
    by_student = {
        who: [seed for (student, _), seed in sorted(seeds.items()) if student == who]
        for who in ("ada", "bob")
    }
    assert len({*by_student["ada"]}) == 3
    assert by_student["ada"] == by_student["bob"]


def test_a_further_try_and_a_resumed_grading_repeat_no_seed_of_the_student(made, monkeypatch):
    hand_in(made, "ada", 0)
    hand_in(made, "ada", 2)
    monkeypatch.setattr("pytree_course.classroom.gradebook.Gradebook.finish_runs", lambda _: None)
    made.grade(BEST)  # as if it were stopped before its end
    first = {each.key: each.seed for each in made.attempts()}
    hand_in(made, "ada", 1)
    made.grade(BEST)
    after = {each.key: each.seed for each in made.attempts()}
    assert first.items() < after.items()
    assert len({*after.values()}) == 3


def test_the_cases_of_two_seeds_differ_and_what_they_share_is_read_once(course):
    lesson = GradedLesson(course.lesson("01_mini"), 1)
    other = lesson.on_cases_of(2)
    assert (lesson.seed, other.seed) == (1, 2)
    assert lesson.right("count_leaves") != other.right("count_leaves")
    assert other.blank is lesson.blank
    assert other.right("count_leaves") == GradedLesson(course.lesson("01_mini"), 2).right(
        "count_leaves"
    )


def test_with_best_the_first_ten_tries_are_run_over_all_gradings(made):
    for number in range(MOST_TRIES - 1):
        hand_in(made, "ada", number)
    made.grade(BEST)
    for number in (MOST_TRIES, MOST_TRIES + 1):
        hand_in(made, "ada", number, RIGHT if number > MOST_TRIES else None)
    made.grade(BEST)
    assert graded(made) == {*range(MOST_TRIES - 1), MOST_TRIES}
    hand_in(made, "ada", -1, RIGHT)  # whatever time it says it has
    assert made.grade(BEST).graded == 0
    assert made.points(best=True) == {"ada": 0}
    assert made.points(best=False) == {"ada": 0}


def test_without_best_the_newest_ten_tries_are_run_and_the_newest_counts(made):
    for number in range(MOST_TRIES + 5):
        hand_in(made, "ada", number, RIGHT if number == MOST_TRIES + 4 else None)
    hand_in(made, "bob", 0)
    assert made.grade(LAST).graded == MOST_TRIES + 1
    assert graded(made) == {0, *range(5, MOST_TRIES + 5)}
    assert made.points() == {"ada": 3, "bob": 0}


def test_equal_tries_are_one(made):
    for number in range(MOST_TRIES + 5):
        hand_in(made, "ada", number, {})
    hand_in(made, "ada", MOST_TRIES + 5, RIGHT)
    assert made.grade(BEST).graded == 2
    assert made.points(best=True) == {"ada": 3}


@pytest.mark.parametrize("best", [(), ("--best",)])
def test_what_was_not_run_is_said_where_the_grade_is(made, monkeypatch, capsys, best):
    monkeypatch.setattr("pytree_course.classroom.pool.local_pool", lambda *_: SAME_PROCESS)
    monkeypatch.setenv("COLUMNS", "200")
    for number in range(MOST_TRIES + 2):
        hand_in(made, "ada", number)
    hand_in(made, "bob", 0)
    which = "first" if best else "newest"
    said = f"2 other notebooks were not run: only the {which} {MOST_TRIES} different notebooks run"
    for student in ((), ("--student", "bob")):
        assert made.run_here(monkeypatch, "--unsandboxed", *best, *student) == 0
        assert f"ada: 01_mini: {said}" in " ".join(capsys.readouterr().out.split())
        report = (made.into / "report.html").read_text()
        assert said in report
    for number in range(2):
        (made.folder / "ada" / f"01_mini-{number}.ipynb").unlink()
    made.grade(GradingOptions(in_sandbox=False, best=bool(best)))
    with made.gradebook() as gradebook:
        assert bool(gradebook.not_run()) == bool(best)
