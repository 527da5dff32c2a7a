"""A node that contains itself: the check says so, and what comes after it in the kernel runs."""

import jax
import pytest

from pytree_course.cases import as_jax
from pytree_course.cases.case import load_checks
from pytree_course.cases.guards import CyclicTreeError
from pytree_course.course import Course
from pytree_course.observing.observations import Raised
from pytree_course.running.run_cases import run_check
from pytree_course.sources.lesson_sources import read_sources
from tests.conftest import ROOT

CHECKS = load_checks(Course(ROOT).lesson("03_custom_nodes").check_script)


def calls_that_are_left():
    """Count how deep calls may still go: in CPython 3.11 an endless flatten leaves hardly any."""
    try:
        return 1 + calls_that_are_left()
    except RecursionError:
        return 1


def branching_into_itself():
    wrong = read_sources(Course(ROOT).lesson("03_custom_nodes")).exercises["fork"].misconceptions
    shared = next(answer for answer in wrong if answer.name == "the_default_list_is_filled")
    names = {"jax": jax}
    exec(shared.source, names)
    return names["Fork"]


def test_an_answer_whose_nodes_contain_themselves_costs_its_exercise_alone():
    before = calls_that_are_left()
    seen = run_check(CHECKS["fork"], [branching_into_itself()], seed=0)
    raised = [each.observation for each in seen if isinstance(each.observation, Raised)]
    assert any("contains itself" in each.message for each in raised)
    assert "RecursionError" not in {each.type for each in raised}
    assert calls_that_are_left() == before


def test_what_an_answer_returns_is_looked_at_before_jax_sees_it():
    held = [1]
    held.append({"again": held})
    with pytest.raises(CyclicTreeError, match="a list contains itself"):
        as_jax(held)
