"""What the class report counts, and who it finds behind it."""

import pytest

from pytree_course.classroom.attempt import AttemptState
from pytree_course.classroom.class_grades import Student
from pytree_course.reports.class_statistics import (
    count_exercises,
    find_clusters,
    find_extremes,
    held_misconceptions,
    not_graded,
    points_of_students,
)
from tests.made_grades import made_attempt, made_grades, made_lesson, made_row


def names(found):
    return [student.id for student in found.students]


def one_exercise(*kinds, **values):
    """Make a class in which each student has one of the verdicts on the first exercise."""
    return made_grades(
        [
            made_attempt(f"s{number}", [made_row("count", kind, **values)])
            for number, kind in enumerate(kinds)
        ]
    )


def test_verdicts_are_counted_by_exercise():
    grades = one_exercise(
        *("correct", "correct", "incorrect", "error", "timed out", "crashed", "not attempted")
    )
    count, paths = count_exercises(grades)
    assert (count.correct, count.wrong, count.errors, count.not_attempted) == (2, 1, 3, 1)
    assert (count.all, count.tried) == (7, 6)
    assert count.pass_rate == pytest.approx(2 / 7)
    assert (paths.all, paths.pass_rate, paths.median_seconds) == (0, 0, 0)


def test_what_could_not_be_graded_is_counted_nowhere():
    rows = [made_row("count", "unreadable")]
    broken = made_attempt("eve", rows, state=AttemptState.UNREADABLE, reason="no notebook")
    grades = made_grades([broken, made_attempt("ada", [made_row("count", "correct")])])
    assert count_exercises(grades)[0].all == 1
    assert points_of_students(grades) == [2]
    assert [(student.id, attempt.reason) for student, _, attempt in not_graded(grades)] == [
        ("eve", "no notebook")
    ]


def test_the_seconds_are_those_of_who_tried():
    grades = made_grades(
        [
            made_attempt("a", [made_row("count", "correct", seconds=3)]),
            made_attempt("b", [made_row("count", "error", seconds=1)]),
            made_attempt("c", [made_row("count", "not attempted", seconds=0)]),
        ]
    )
    assert count_exercises(grades)[0].seconds == [1, 3]
    assert count_exercises(grades)[0].median_seconds == 2


def test_misconceptions_are_counted_with_who_holds_them():
    def holding(student, *misconceptions):
        return made_attempt(
            student, [made_row("count", "incorrect", misconceptions=list(misconceptions))]
        )

    grades = made_grades(
        [
            holding("a", "counts_nodes"),
            holding("b", "none_is_a_leaf", "counts_nodes"),
            holding("c", "withdrawn"),
        ]
    )
    first, second, third = held_misconceptions(grades)
    assert (first.name, first.words, names(first)) == (
        "counts_nodes",
        "counts nodes",
        ["a", "b"],
    )
    assert first.explanation == "You count nodes."
    assert (second.name, names(second)) == ("none_is_a_leaf", ["b"])
    assert (third.name, third.explanation) == ("withdrawn", "")


def test_equal_wrong_results_without_a_misconception_are_a_cluster():
    def wrong(student, results, answer="longer answer", seed=7, **values):
        row = made_row("count", "incorrect", results=results, **values)
        return made_attempt(student, [row], answers={"count": answer}, seed=seed)

    grades = made_grades(
        [
            wrong("a", "same"),
            wrong("b", "same", "short"),
            wrong("alone", "other"),
            wrong("known", "same", misconceptions=["counts_nodes"]),
            wrong("on other cases", "same", seed=8),
            made_attempt("right", [made_row("count", "correct")]),
        ]
    )
    (cluster,) = find_clusters(grades)
    assert (cluster.exercise, names(cluster)) == ("count", ["a", "b"])
    assert cluster.answer == "short"
    assert cluster.sample.failure


def test_exercises_that_went_the_same_way_for_all_who_tried():
    kinds = {
        "easy": ["correct", "not attempted"],
        "hard": ["incorrect", "error"],
        "unseen": ["not attempted", "not attempted"],
        "fair": ["correct", "incorrect"],
    }
    attempts = [
        made_attempt(student, [made_row(name, kind[number]) for name, kind in kinds.items()])
        for number, student in enumerate("ab")
    ]
    counts = count_exercises(made_grades(attempts, [made_lesson(exercises=tuple(kinds))]))
    found = find_extremes(counts)
    assert [each.exercise.name for each in found["all_passed"]] == ["easy"]
    assert [each.exercise.name for each in found["nobody_passed"]] == ["hard"]
    assert [each.exercise.name for each in found["nobody_tried"]] == ["unseen"]


def test_a_class_in_which_nobody_handed_in_anything():
    grades = made_grades([], students=[Student("ada")])
    assert [each.all for each in count_exercises(grades)] == [0, 0]
    assert (held_misconceptions(grades), find_clusters(grades)) == ([], [])
    assert points_of_students(grades) == []
