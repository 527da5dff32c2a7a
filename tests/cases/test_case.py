"""Cases and check scripts; a learner's predictions become cases, one for each line."""

import jax.numpy as jnp
import numpy as np
import pytest

from pytree_course.cases import prediction_cases
from pytree_course.cases.case import load_checks
from pytree_course.course import CourseError
from pytree_course.observing.observations import NOT_A_DICT
from tests.conftest import MINI_COURSE


@pytest.mark.parametrize(
    ("predictions", "seen"),
    [
        ({"A": " Error ", "B": np.int64(2)}, ["error", 2]),
        ({"A": True, "B": jnp.array(0)}, [1, 0]),
        ({"A": 2.0, "B": None}, [2.0, None]),
        ({"A": ..., "C": 1}, [..., ...]),
        ([1, 2], [NOT_A_DICT] * 2),
    ],
)
def test_a_prediction_is_compared_without_its_blanks_capitals_and_library(predictions, seen):
    lines = {"A": "`[1]`", "B": "the second"}
    cases = list(prediction_cases(predictions, lines))
    results = [case.call(*case.inputs) for case in cases]
    assert (results, [*map(type, results)]) == (seen, [*map(type, seen)])
    assert {case.predicted: case.note for case in cases} == lines


def test_a_script_has_the_checks_that_are_marked(tmp_path):
    found = load_checks(MINI_COURSE / "checks" / "check_01_mini.py")
    assert [*found] == ["count_leaves", "first_leaf"]
    with pytest.raises(CourseError, match=r"check_x\.py is missing: fetch the course again"):
        load_checks(tmp_path / "check_x.py")
