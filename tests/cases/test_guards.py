"""Guards around answers: what counts as the same, and nodes that contain themselves."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pytree_course.cases import as_int, as_jax, is_one_program, making, returning_jax
from pytree_course.cases.case import load_checks
from pytree_course.cases.guards import CyclicTreeError
from pytree_course.course import Course
from pytree_course.observing.observations import MAX_DEPTH, Raised
from pytree_course.observing.observe import observe
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
    deep = 0
    for _ in range(MAX_DEPTH):
        deep = [deep]
    assert as_jax(deep) == deep
    shared = [1]
    assert as_jax([shared, shared]) == [shared, shared]
    for guarded in (as_jax, returning_jax(lambda it: it), making(lambda it: it)):
        for endless in (held, [deep]):
            with pytest.raises(CyclicTreeError, match=r"a (list|int) contains itself"):
                guarded(endless)


@pytest.mark.parametrize(
    ("count", "is_int"),
    [
        (3, True),
        (np.int64(3), True),
        (np.array(3), True),
        (3.0, False),
        (True, False),
        (np.array([3]), False),
        (jnp.array(3), True),
        (jnp.array(3.0), False),
    ],
)
def test_counts_may_be_integer_scalars(count, is_int):
    assert (observe(as_int(lambda: count)()) == observe(3)) is is_int


def test_numpys_arrays_and_scalars_count_as_jaxs():
    tree = returning_jax(lambda *given: [np.ones(2), *given])(np.float32(1), 2, None)
    assert [isinstance(leaf, jax.Array) for leaf in tree] == [True, True, False, False]
    assert observe(tree[0]) == observe(jnp.ones(2))
    assert making(tuple)([1, 2]) == (1, 2)
    assert returning_jax(np.sum).__wrapped__ is np.sum  # feedback names its parameters


@pytest.mark.parametrize(
    ("function", "is_one"),
    [
        (jax.jit(lambda x: x + x * 2), True),
        (lambda x: jax.jit(lambda y: y * 2)(jnp.asarray(x, "float32")), True),
        (lambda x: x * 2, False),
        (lambda x: jax.jit(lambda y: y * 2)(x) + 1, False),
        (lambda x: x, False),
    ],
)
def test_a_call_is_one_program_if_all_of_it_is_jitted(function, is_one):
    assert is_one_program(function, jnp.arange(2)) is is_one
