"""The pool: a process that dies or hangs costs its own task only."""

import os
import signal

import pytest

from pytree_course.classroom import pool
from pytree_course.classroom.pool import local_pool, run_all


def square(number):
    if number == 3 and "PYTREE_COURSE_TEST_DIES" in os.environ:
        os._exit(1)
    if number == 4:
        raise ValueError("four")
    return number**2


def test_a_pools_process_that_dies_costs_its_own_task_only(monkeypatch):
    monkeypatch.setenv("PYTREE_COURSE_TEST_DIES", "1")
    results = dict(run_all(local_pool(2), square, range(60)))
    assert str(results.pop(4)) == "four"
    assert isinstance(results.pop(3), Exception)
    assert results == {number: number**2 for number in range(60) if number not in (3, 4)}


def test_after_a_process_died_the_tasks_that_cannot_be_to_blame_run_together_again(monkeypatch):
    monkeypatch.setenv("PYTREE_COURSE_TEST_DIES", "1")
    new_pool, made = local_pool(2), []

    def counted():
        made.append(new_pool())
        return made[-1]

    assert len(dict(run_all(counted, square, range(60)))) == 60
    assert len(made) <= 2 + pool._SUSPECTS


def hang(number):
    if number == 1:
        signal.pause()  # Python's own code is never run again
    return number


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="Windows has no alarms")
def test_a_task_that_hangs_ends_and_costs_itself_only(monkeypatch):
    monkeypatch.setattr(pool, "TASK_SECONDS", 1)
    results = dict(run_all(local_pool(2), hang, range(4)))
    assert isinstance(results.pop(1), Exception)
    assert results == {number: number for number in (0, 2, 3)}
