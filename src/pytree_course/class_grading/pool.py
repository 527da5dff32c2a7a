"""Worker pools: processes of this machine, or a Dask cluster."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from pytree_course.course import CourseError

TASK_SECONDS = 3_600
"""Far longer than any honest submission takes."""

_CONNECT_SECONDS = 10
_IS_FORKED = sys.platform == "linux"
_PRELOADED_MODULES = [
    "pytree_course.grading.exercise_run",
    "pytree_course.sources.authors_answers",
    "pytree_course.grading.nbval_run",
    "pytree_course.class_grading.reading",
]
"""Loaded once, in the process that the pool's processes are forked from."""


def prepare_processes() -> None:
    """Start to load the modules that local pools need, while this process does other things.

    On Linux the pools' processes are forked from one that has loaded them. Elsewhere each process
    loads them itself.
    """
    if _IS_FORKED:
        # JAX may be forked only while it has no threads; NumPy would make some right away.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        multiprocessing.set_forkserver_preload(_PRELOADED_MODULES)
        from multiprocessing.forkserver import ensure_running

        ensure_running()


@contextmanager
def local_pool(
    processes: int,
    initializer: Callable[[], None] | None = None,
    task_seconds: float = TASK_SECONDS,
) -> Iterator[Executor]:
    """Make a pool of processes of this machine; at its end, tasks that wait are cancelled.

    Each process calls `initializer`, if it is given, before its first task. It is ended if a task
    takes more than `task_seconds`: then the task raises a `BrokenProcessPool`.
    """
    executor = _ProcessForEachThread(processes, initializer, task_seconds)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


class _ProcessForEachThread(ThreadPoolExecutor):
    """A pool of threads, each with a process of its own.

    If a process of a `ProcessPoolExecutor` dies, all its tasks fail; here, only its own task. And
    it may print an error or wait for ever when Python ends: it is ended while threads use it.
    """

    def __init__(
        self, processes: int, initializer: Callable[[], None] | None, task_seconds: float
    ) -> None:
        super().__init__(processes)
        self._initializer = initializer
        self._task_seconds = task_seconds
        self._local = threading.local()

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(self._run, partial(function, *args, **kwargs))

    def _run(self, call: Callable[[], Any]) -> Any:
        try:
            connection = self._connection()
            connection.send(call)
            result, failure = connection.recv()
        except (EOFError, ConnectionError):
            del self._local.connection  # the thread's next task starts another process
            raise BrokenProcessPool("A process of the pool has ended.") from None
        if failure is not None:
            raise failure
        return result

    def _connection(self) -> Connection:
        """Return the connection to this thread's process, which ends with the thread."""
        if not hasattr(self._local, "connection"):
            prepare_processes()
            # Not forked from this process, which has threads.
            method = get_context("forkserver") if _IS_FORKED else get_context("spawn")
            self._local.connection, of_process = multiprocessing.Pipe()
            arguments = (of_process, self._initializer, self._task_seconds)
            method.Process(target=_run_tasks, args=arguments, daemon=True).start()
            of_process.close()  # so that this end notices when the process is gone
        return self._local.connection


def _run_tasks(
    connection: Connection, initializer: Callable[[], None] | None, task_seconds: float
) -> None:
    """Run tasks in a process of the pool, and send each one's result, or its error."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()  # of what was loaded, nothing becomes garbage: to search it takes 0.25 seconds
    if initializer is not None:
        initializer()
    try:
        while True:
            call = connection.recv()
            result, failure = None, None
            try:
                result = _call_within(task_seconds, call)
            except Exception as error:
                failure = error
            connection.send((result, failure))
    except (EOFError, KeyboardInterrupt):  # the thread has ended, or Ctrl-C ends the grading
        return


def _call_within(seconds: float, call: Callable[[], Any]) -> Any:
    """Call a function; if it takes too long, SIGALRM ends this process.

    The signal has no handler: Python could not run one while compiled code hangs.
    """
    if not hasattr(signal, "setitimer"):  # on Windows
        return call()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        return call()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _end_with_parent() -> None:
    """Exit when the parent process is gone, even by `kill -9`.

    A process that runs a task would not notice otherwise.
    """
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


@contextmanager
def dask_cluster(address: str) -> Iterator[Executor]:
    """Connect to a Dask scheduler, such as "tcp://10.0.0.1:8786".

    If a worker dies, Dask reruns its tasks on another one.
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
        # Dask would run equal pure calls once only.
        yield client.get_executor(pure=False, retries=1)
