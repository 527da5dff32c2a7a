"""The pool: a process that dies or hangs costs its own task only."""

import os
import signal
import sys
from dataclasses import dataclass

import pytest

from pytree_course.classroom import pool
from pytree_course.classroom.pool import Pool, local_pool
from pytree_course.classroom.task_queue import TaskQueue


@dataclass(frozen=True)
class Square:
    """A number to be squared; some end or fail instead."""

    number: int

    def run(self):
        if self.number == 3:
            os._exit(1)
        if self.number == 4:
            raise ValueError("four")
        return self.number**2


def run_all(tasks, in_pool):
    queue = TaskQueue()
    for task in tasks:
        queue.add(task, in_pool)
    results = {task.number: result for task, result in queue.results()}
    queue.close()
    return results


def test_a_pools_process_that_dies_costs_its_own_task_only():
    results = run_all(map(Square, range(60)), local_pool(2))
    assert str(results.pop(4)) == "four"
    assert isinstance(results.pop(3), Exception)
    assert results == {number: number**2 for number in range(60) if number not in (3, 4)}


def test_after_a_process_died_those_that_were_under_way_run_one_by_one_and_then_all_together():
    two, made = local_pool(2), []

    def counted():
        made.append(two.new())
        return made[-1]

    assert len(run_all(map(Square, range(60)), Pool(counted, two.at_once))) == 60
    assert len(made) == 3  # that which broke, that of the suspects, and that of the rest


def test_tasks_that_come_up_meanwhile_run_before_those_that_wait():
    queue, two, order = TaskQueue(), local_pool(1), []
    for number in range(10, 20):
        queue.add(Square(number), two)
    for task, _ in queue.results():
        order.append(task.number)
        if task.number == 10:
            queue.add(Square(0), two, soon=True)
    queue.close()
    assert sorted(order) == [0, *range(10, 20)]
    assert order.index(0) <= 3


@dataclass(frozen=True)
class Hang(Square):
    """The task 1 hangs: Python's own code is never run again."""

    def run(self):
        if self.number == 1:
            signal.pause()
        return self.number


@pytest.mark.skipif(not hasattr(signal, "alarm"), reason="Windows has no alarms")
def test_a_task_that_hangs_ends_and_costs_itself_only(monkeypatch):
    monkeypatch.setattr(pool, "TASK_SECONDS", 1)
    results = run_all(map(Hang, range(4)), local_pool(2))
    assert isinstance(results.pop(1), Exception)
    assert results == {number: number for number in (0, 2, 3)}


@dataclass(frozen=True)
class Look:
    """Looks at the process that it runs in, and at the one that this was forked from."""

    number: int = 0

    def run(self):
        loaded = "jax" in sys.modules and "nbval" in sys.modules
        import jax._src.xla_bridge as bridge

        return loaded, len(bridge._backends), len(os.listdir(f"/proc/{os.getppid()}/task"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no process is forked")
def test_processes_are_forked_from_one_that_has_loaded_jax_but_no_backend_and_has_one_thread():
    assert run_all([Look()], local_pool(1)) == {0: (True, 0, 1)}
