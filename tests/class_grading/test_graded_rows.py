"""The rows of graded answers: when they are out of date, and how they are explained again."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from pytree_course.class_grading.attempt import current_environment
from pytree_course.class_grading.graded_rows import explain_again, is_current
from pytree_course.judging.expected import BuiltLesson
from tests.made_grades import BASIS
from tests.made_submissions import ELEMENTS

NOW = replace(BASIS, environment=current_environment())


@pytest.mark.parametrize(
    ("basis", "on_public_cases", "expected"),
    [
        (NOW, False, True),
        (replace(NOW, course="0.0.1"), False, True),
        (None, False, False),
        (replace(NOW, environment="python 2.7"), False, False),
        (replace(NOW, decided_by="another"), False, False),
        (replace(NOW, seed=8), False, False),
        (replace(NOW, seed=8), True, True),  # fresh cases are better
    ],
)
def test_a_row_is_current_if_the_answer_would_get_the_same_verdict(
    basis, on_public_cases, expected
):
    stored = SimpleNamespace(deciding={"count": "digest"})
    lesson = SimpleNamespace(stored=stored, seed=7, on_public_cases=on_public_cases)
    assert is_current(basis, lesson, "count") == expected


def test_a_stored_result_is_explained_again_where_misconceptions_have_changed(quick, mini):
    quick.hand_in("bob", ELEMENTS)
    quick.grade()
    ((wrong, blank),) = (attempt.rows for attempt in quick.attempts())
    stored = BuiltLesson.read(mini.expected)
    with quick.gradebook() as gradebook:

        def again(row):
            return explain_again(row, stored, gradebook.results)

        unexplained = replace(wrong, misconceptions=[], reasons="of an earlier build")
        assert again(unexplained) == wrong
        for unchanged in (blank, replace(unexplained, reasons=wrong.reasons)):
            assert again(unchanged) == unchanged
        (attempt,) = gradebook.attempts()
        gradebook.record(replace(attempt, rows=[unexplained, blank]))
    assert quick.grade().graded == 0
    assert [each.rows for each in quick.attempts()][-1] == [wrong, blank]
