"""The pool: a process that dies or hangs costs its own task only."""

import os
import signal
import sys
from concurrent.futures.process import BrokenProcessPool

import pytest

from pytree_course.class_grading.pool import local_pool

pytestmark = pytest.mark.slow


def square(number):
    if number % 20 == 3:
        os._exit(1)
    if number == 4:
        raise ValueError("four")
    return number**2


def run_all(processes, function, arguments, **options):
    """Return what came of each task, or the exception that it raised."""
    with local_pool(processes, **options) as made:
        futures = {each: made.submit(function, each) for each in arguments}
        return {each: future.exception() or future.result() for each, future in futures.items()}


def test_a_pools_process_that_dies_costs_its_own_task_only():
    results = run_all(2, square, range(60))
    assert str(results.pop(4)) == "four"
    for number in (3, 23, 43):
        assert isinstance(results.pop(number), BrokenProcessPool)
    assert results == {number: number**2 for number in results}


def hang(number):
    """Hang where the number is 1: Python's code is never run again."""
    if number == 1:
        signal.pause()
    return number


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="Windows has no alarms")
def test_a_task_that_hangs_ends_and_costs_itself_only():
    results = run_all(2, hang, range(4), task_seconds=1)
    assert isinstance(results.pop(1), BrokenProcessPool)
    assert results == {number: number for number in (0, 2, 3)}


def look(_):
    """Look at the process that this runs in, and at the one that this was forked from."""
    import jax._src.xla_bridge as bridge

    loaded = "jax" in sys.modules and "nbval" in sys.modules
    return loaded, len(bridge._backends), len(os.listdir(f"/proc/{os.getppid()}/task"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is forked")
def test_processes_fork_from_one_thread_with_jax_but_no_backend():
    assert run_all(1, look, [0]) == {0: (True, 0, 1)}
