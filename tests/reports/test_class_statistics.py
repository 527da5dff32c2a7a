"""What the class report counts, and who it finds behind it."""

import pytest
from msgspec import structs

from pytree_course.class_grading.attempt import AttemptState
from pytree_course.class_grading.roster import Student
from pytree_course.grading.submission import LATER_CELL
from pytree_course.reports.class_statistics import (
    Need,
    count_by_points,
    count_exercises,
    count_students,
    find_clusters,
    find_misconceptions,
    find_ungraded,
)
from tests.made_grades import BASIS, made_attempt, made_grades, made_lesson, made_row


def names(found):
    return [student.id for student in found.students]


def wrong(student, seed=7, answer="longer answer", **values):
    """Make an attempt with a wrong answer to the first exercise."""
    row = made_row("count", "incorrect", **values)
    row = structs.replace(row, basis=structs.replace(BASIS, seed=seed))
    return made_attempt(student, [row], answers={"count": answer})


def test_verdicts_are_counted_by_exercise():
    kinds = "correct", "correct", "incorrect", "error", "timed out", "crashed", "not attempted"
    attempts = [
        made_attempt(f"s{n}", [made_row("count", kind, seconds=7 - n)])
        for n, kind in enumerate(kinds)
    ]
    count, paths = count_exercises(made_grades(attempts), {})
    assert (count.correct, count.wrong, count.errors, count.not_attempted) == (2, 1, 3, 1)
    assert (count.graded, count.tried) == (7, 6)
    assert count.seconds == [2, 3, 4, 5, 6, 7]  # those of who tried
    assert count.pass_rate == pytest.approx(2 / 7)
    assert (paths.graded, paths.pass_rate) == (0, 0)


def test_what_could_not_be_graded_is_counted_nowhere():
    rows = [made_row("count", None)]
    broken = made_attempt("eve", rows, state=AttemptState.UNREADABLE, reason="no notebook")
    grades = made_grades([broken, made_attempt("ada", [made_row("count", "correct")])])
    assert count_exercises(grades, {})[0].graded == 1
    assert [(student.id, attempt.reason) for student, _, attempt in find_ungraded(grades)] == [
        ("eve", "no notebook")
    ]


def test_students_who_tried_and_failed_come_first():
    kinds = {
        "a": [None],
        "b": ["not attempted", "not attempted"],
        "c": ["correct", "incorrect"],
        "d": ["error", "incorrect"],
        "g": ["correct", "not attempted", "not attempted"],
    }
    beside = made_row("count", "incorrect", explanation=f"Wrong. Note: {LATER_CELL}.")
    attempts = [made_attempt("e", [beside])] + [
        made_attempt(
            student,
            list(map(made_row, ("count", "paths", "third"), of_student)),
            state=AttemptState.UNREADABLE if student == "a" else AttemptState.GRADED,
        )
        for student, of_student in kinds.items()
    ]
    found = count_students(made_grades(attempts, students=[*map(Student, "abcdefg")]))
    assert [
        (each.student.id, each.need, each.right, each.wrong, each.untried, each.misplaced)
        for each in found
    ] == [
        *(("d", Need.FAILED, 0, 2, 0, 0), ("e", Need.FAILED, 0, 1, 0, 1)),
        *(("b", Need.BLANK, 0, 0, 2, 0), ("a", Need.NOTHING_READ, 0, 0, 2, 0)),
        *(("f", Need.NOTHING_READ, 0, 0, 2, 0), ("g", Need.LITTLE_TRIED, 1, 0, 2, 0)),
        ("c", Need.NONE, 1, 1, 0, 0),
    ]


def test_a_missing_and_a_blank_lesson_beside_a_good_one_are_named():
    rows = [made_row("count", "not attempted"), made_row("paths", "not attempted")]
    good = made_attempt("a", [made_row("count", "correct"), made_row("paths", "not attempted")])
    lessons = [*map(made_lesson, ("01_made", "02_made", "03_made"))]
    (found,) = count_students(made_grades([good, made_attempt("a", rows, "02_made")], lessons))
    assert (found.untried, found.blank) == (5, ["02_made"])
    assert found.missing == {"03_made": "not handed in"}


def test_misconceptions_are_counted_with_who_holds_them():
    in_paths = made_row("paths", "incorrect", misconceptions=["none_is_a_leaf"])
    grades = made_grades(
        [
            wrong("a", misconceptions=["counts_nodes"]),
            wrong("b", misconceptions=["none_is_a_leaf", "counts_nodes"]),
            wrong("c", misconceptions=["counts_nodes"]),
            *(made_attempt(each, [made_row("count", "correct"), in_paths]) for each in "de"),
            wrong("f"),
        ]
    )
    first, second = find_misconceptions(grades)
    assert len(first.tried) == 6  # of who answered `count` or `paths`
    assert (first.name, names(first)) == ("none_is_a_leaf", ["b", "d", "e"])
    asked = "Exercise paths", "Exercise count"  # where most hold it first
    assert [*first.explanations.items()] == [(each, "You count `None`.") for each in asked]
    # As many students, in fewer exercises.
    assert (second.name, names(second)) == ("counts_nodes", ["a", "b", "c"])
    assert len(second.tried) == 6


def test_equal_wrong_results_without_a_misconception_are_a_cluster():
    grades = made_grades(
        [
            wrong("a", results="same"),
            wrong("b", results="same", answer="short"),
            wrong("Alone", results="other"),
            wrong("known", results="same", misconceptions=["counts_nodes"]),
            wrong("on other cases", results="same", seed=8),
            made_attempt("right", [made_row("count", "correct")]),
        ]
    )
    (cluster,) = find_clusters(grades)
    assert (cluster.exercise.name, names(cluster)) == ("count", ["a", "b"])
    assert cluster.code == "short"
    assert cluster.sample.failure
    assert cluster.cell.startswith('# %% exercise="count" misconception="name_it"\n"""')
    assert cluster.cell.endswith('"""\nshort\n')
    assert [names(each) for each in find_clusters(grades, min_students=1)] == [
        ["a", "b"],
        ["Alone"],
        ["on other cases"],
    ]


def test_a_histogram_has_as_many_bars_as_its_students_need():
    assert count_by_points([0, 2, 2], 2) == [("0", 1), ("1", 0), ("2", 2)]
    few = count_by_points([0, 3, 4, 62], 62)
    assert few == [("0–20", 3), ("21–41", 0), ("42–62", 1)]
    halves = count_by_points([7, 7.5, 8], 15)
    assert halves == [("0–5.5", 0), ("6–11.5", 3), ("12–15", 0)]
    many = count_by_points([*range(63)] * 8, 62)
    assert len(many) == 9
    assert sum(students for _, students in many) == 63 * 8
