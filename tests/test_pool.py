"""The pool: a process that dies costs its own task only."""

import os

from pytree_course.classroom.pool import local_pool, run_all


def square(number):
    if number == 3 and "PYTREE_COURSE_TEST_DIES" in os.environ:
        os._exit(1)
    if number == 4:
        raise ValueError("four")
    return number**2


def test_a_pools_process_that_dies_costs_its_own_task_only(monkeypatch):
    monkeypatch.setenv("PYTREE_COURSE_TEST_DIES", "1")
    results = dict(run_all(local_pool(2), square, range(6)))
    assert {task: result for task, result in results.items() if task not in (3, 4)} == {
        0: 0,
        1: 1,
        2: 4,
        5: 25,
    }
    assert str(results[4]) == "four"
    assert isinstance(results[3], Exception)
