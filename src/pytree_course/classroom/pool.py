"""The pool that runs submissions: processes of this machine, or a Dask cluster."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TypeVar

from pytree_course.course import CourseError

Task = TypeVar("Task")
Result = TypeVar("Result")

NewPool = Callable[[], Executor]

_CONNECT_SECONDS = 10


def local_pool(processes: int) -> NewPool:
    """Return what makes a pool of processes of this machine."""

    def new() -> Executor:
        # A forked process would share JAX's threads, and hang.
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(processes, mp_context=spawn, initializer=_end_with_parent)

    return new


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, even by `kill -9`.

    The pool's processes hold one another's pipes open, so that none sees the writing end close.
    """
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def dask_cluster(address: str) -> Iterator[NewPool]:
    """Connect to a Dask scheduler, such as "tcp://10.0.0.1:8786".

    A worker that dies costs nothing: Dask runs its tasks elsewhere.
    """
    try:
        from distributed import Client
    except ImportError:
        raise CourseError(
            "Dask is not installed here. Install it into the course's environment: "
            ".venv/bin/python -m pip install distributed"
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise CourseError(
            f"No Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`, "
            "and workers with `dask worker ADDRESS`, in the course's environment."
        ) from error
    with client:
        # Not pure: equal answers of two students are two tasks.
        yield lambda: client.get_executor(pure=False, retries=1)


def run_all(
    new_pool: NewPool, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[tuple[Task, Result | Exception]]:
    """Call a function on every task in a pool, and yield each result, or what was raised.

    When a process of the pool dies, it cannot be told which task's fault it was: those that are
    unfinished then run one by one, each in a pool of its own. Function, tasks and results have to
    be picklable.
    """
    unfinished: list[Task] = []
    pool = new_pool()
    futures: dict[Future[Result], Task] = {}
    try:
        futures |= {pool.submit(function, task): task for task in tasks}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                unfinished.append(futures[future])
            except Exception as error:
                yield futures[future], error
    finally:
        for future in futures:  # Dask's pool cannot be told to do it when it shuts down
            future.cancel()
        pool.shutdown(wait=False)
    for task in unfinished:
        with new_pool() as own:
            try:
                yield task, own.submit(function, task).result()
            except Exception as error:
                yield task, error
