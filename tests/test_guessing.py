"""No check is passed without an answer: what is public of it does not pass on fresh cases."""

import pytest

from mutation_testing.memoriser import refuses_memoriser
from pytree_course.course import Course
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT

SEEDS = (101, 102, 103)
EXERCISES = [
    pytest.param(sources, name, id=name)
    for sources in map(read_sources, Course(ROOT).lessons())
    for name, exercise in sources.graded.items()
    if not exercise.is_prediction  # its lines are the same for everybody
]


@pytest.mark.slow
@pytest.mark.parametrize(("sources", "name"), EXERCISES)
def test_public_results_do_not_pass_on_fresh_cases(sources, name):
    assert all(refuses_memoriser(sources, name, seed) for seed in SEEDS)
