"""The pool that runs submissions: processes of this machine, or a Dask cluster."""

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from typing import ParamSpec, TypeVar

from pytree_course.course import CourseError

Task = TypeVar("Task")
Result = TypeVar("Result")
P = ParamSpec("P")

NewPool = Callable[[], Executor]

TASK_SECONDS = 3_600
"""Far more than the limits on kernels let a submission take."""

_CONNECT_SECONDS = 10
_SUSPECTS = (os.cpu_count() or 1) + 1  # a process each, and a task that waits for the next one


def local_pool(processes: int) -> NewPool:
    """Return what makes a pool of processes of this machine."""

    def new() -> Executor:
        # A forked process would share JAX's threads, and hang.
        spawn = multiprocessing.get_context("spawn")
        return _BoundedPool(processes, mp_context=spawn, initializer=_end_with_parent)

    return new


class _BoundedPool(ProcessPoolExecutor):
    """A pool of processes that no task keeps for ever."""

    def submit(
        self, function: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[Result]:
        call = partial(function, *args, **kwargs)
        return super().submit(_bounded, TASK_SECONDS, call)


def _bounded(seconds: int, call: Callable[[], Result]) -> Result:
    """Call a function; the operating system ends this process where it takes too long.

    Python may be unable to: what hangs may be outside of Python's own code.
    """
    alarm = getattr(signal, "alarm", lambda seconds: None)  # not on Windows
    alarm(seconds)
    try:
        return call()
    finally:
        alarm(0)


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

    When a process of the pool dies, it cannot be told which task's fault it was. The first ones
    that are unfinished then run one by one, each in a pool of its own, until one of them does it
    again; the others go on together. Function, tasks and results have to be picklable.
    """
    waiting = [*tasks]
    while waiting:
        unfinished: list[Task] = []
        yield from _run_together(new_pool, function, waiting, unfinished)
        suspects = deque(unfinished[:_SUSPECTS])
        waiting = unfinished[_SUSPECTS:]
        while suspects:
            task = suspects.popleft()
            with new_pool() as own:
                try:
                    yield task, own.submit(function, task).result()
                except BrokenProcessPool as error:
                    yield task, error
                    waiting = [*suspects, *waiting]
                    break
                except Exception as error:
                    yield task, error


def _run_together(
    new_pool: NewPool,
    function: Callable[[Task], Result],
    tasks: Sequence[Task],
    unfinished: list[Task],
) -> Iterator[tuple[Task, Result | Exception]]:
    """Run tasks in one pool; where it breaks, put the unfinished ones into a list, in order."""
    pool = new_pool()
    futures: dict[Future[Result], Task] = {}
    broken: list[Task] = []
    not_submitted = deque(tasks)
    try:
        with suppress(BrokenProcessPool):  # some may run, and end their process, by now
            while not_submitted:
                futures[pool.submit(function, not_submitted[0])] = not_submitted[0]
                not_submitted.popleft()
        for future in as_completed([*futures]):
            task = futures.pop(future)  # a result is large: it is not kept
            try:
                yield task, future.result()
            except BrokenProcessPool:
                broken.append(task)
            except Exception as error:
                yield task, error
    finally:
        for future in futures:  # Dask's pool cannot be told to do it when it shuts down
            future.cancel()
        pool.shutdown(wait=False)
    unfinished += [*sorted(broken, key=tasks.index), *not_submitted]
