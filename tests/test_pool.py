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


def die_once(file):
    """End the process the first time, as where the system needs its memory for another one."""
    if not file.exists():
        file.touch()
        os._exit(1)
    return "done"


def test_a_task_whose_process_died_runs_once_more(tmp_path):
    assert run_all(1, die_once, [tmp_path / "begun"]) == {tmp_path / "begun": "done"}


def hang(task):
    """Say that it has begun, and hang where the number is 1: Python's code is never run again."""
    number, file = task
    with file.open("a") as begun:
        begun.write("begun\n")
    if number == 1:
        signal.pause()
    return number


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="Windows has no alarms")
def test_a_task_that_hangs_ends_costs_itself_only_and_does_not_run_again(tmp_path):
    tasks = [(number, tmp_path / str(number)) for number in range(4)]
    results = run_all(2, hang, tasks, task_seconds=1)
    assert isinstance(results.pop(tasks[1]), BrokenProcessPool)
    assert results == {task: task[0] for task in tasks if task[0] != 1}
    assert (tmp_path / "1").read_text() == "begun\n"


def look(_):
    """Look at the process that this runs in, and at the one that this was forked from."""
    import jax._src.xla_bridge as bridge

    loaded = "jax" in sys.modules and "nbval" in sys.modules
    return loaded, len(bridge._backends), len(os.listdir(f"/proc/{os.getppid()}/task"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is forked")
def test_processes_are_forked_from_one_that_has_loaded_jax_but_no_backend_and_has_one_thread():
    assert run_all(1, look, [0]) == {0: (True, 0, 1)}
