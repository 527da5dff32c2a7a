"""Where submissions are run: processes of this machine, or a Dask cluster."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from pytree_course.course import CourseError

Task = TypeVar("Task")
Result = TypeVar("Result")

NewExecutor = Callable[[], Executor]


def local_processes(jobs: int) -> NewExecutor:
    """Return what makes a pool of processes of this machine."""

    def new() -> Executor:
        # A forked process would share JAX's threads, and hang.
        spawn = multiprocessing.get_context("spawn")
        return ProcessPoolExecutor(jobs, mp_context=spawn, initializer=_end_with_parent)

    return new


def _end_with_parent() -> None:
    """See to it that this process ends when the one that started it is gone, even by `kill -9`.

    The pool's processes hold one another's pipes open: none would ever see that nobody writes.
    """
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def dask_cluster(address: str) -> Iterator[NewExecutor]:
    """Connect to a Dask scheduler, such as "tcp://10.0.0.1:8786".

    A worker that dies costs nothing: Dask runs its tasks elsewhere.

    Raises
    ------
    CourseError
        When Dask is not installed, or nobody answers at the address.
    """
    try:
        from distributed import Client
    except ImportError:
        raise CourseError(
            "Dask is not installed here. Install it into the course's environment: "
            ".venv/bin/python -m pip install distributed"
        ) from None
    try:
        client = Client(address, timeout="10s")
    except (OSError, ValueError) as error:
        raise CourseError(
            f"No Dask scheduler answers at {address} ({error}). Start one with `dask scheduler`, "
            "and workers with `dask worker ADDRESS`, in the course's environment."
        ) from error
    with client:
        # Not pure: equal answers of two students are two tasks.
        yield lambda: client.get_executor(pure=False, retries=1)


def run_all(
    new_executor: NewExecutor, function: Callable[[Task], Result], tasks: Iterable[Task]
) -> Iterator[tuple[Task, Result | Exception]]:
    """Run a function on every task, and yield each result as it comes, or what it raised.

    When a process of the pool dies, it cannot be told whose fault it was: what was unfinished then
    is run one by one, each in a pool of its own.

    Parameters
    ----------
    new_executor
        Makes the pool.
    function
        Is called in the pool's processes: it, its task and its result have to be picklable.
    tasks
        What to call it with.
    """
    unfinished: list[Task] = []
    executor = new_executor()
    futures: dict[Any, Task] = {}
    try:
        futures |= {executor.submit(function, task): task for task in tasks}
        for future in as_completed(futures):
            try:
                yield futures[future], future.result()
            except BrokenProcessPool:
                unfinished.append(futures[future])
            except Exception as error:
                yield futures[future], error
    finally:
        for future in futures:  # Dask's executor cannot be told to do it when it shuts down
            future.cancel()
        executor.shutdown(wait=False)
    for task in unfinished:
        with new_executor() as own:
            try:
                yield task, own.submit(function, task).result()
            except Exception as error:
                yield task, error
