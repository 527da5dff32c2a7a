"""Worker pools: processes of this machine, or a Dask cluster."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import ParamSpec, TypeVar

from pytree_course.course import CourseError

Result = TypeVar("Result")
P = ParamSpec("P")

TASK_SECONDS = 3_600
"""Far more than any submission takes that does not try to take long."""

_CONNECT_SECONDS = 10
_IS_FORKED = sys.platform == "linux"
_LOADED_BEFORE = [
    "pytree_course.grading.exercise_run",
    "pytree_course.sources.authors_answers",
    "pytree_course.grading.nbval_run",
    "pytree_course.class_grading.reading",
]
"""What the pool's processes need: loaded once, in the process that they are forked from."""


def prepare_processes() -> None:
    """Begin to load what the processes of local pools need, while this process does other things.

    On Linux they are forked from one that has loaded it; elsewhere each loads it itself.
    """
    if _IS_FORKED:
        # JAX may be forked only while it has no threads; NumPy would make some right away.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        multiprocessing.set_forkserver_preload(_LOADED_BEFORE)
        from multiprocessing.forkserver import ensure_running

        ensure_running()


@contextmanager
def local_pool(
    processes: int, begin: Callable[[], None] | None = None, task_seconds: float = TASK_SECONDS
) -> Iterator[Executor]:
    """Make a pool of processes of this machine; at its end, what has not begun is cancelled.

    Each process calls `begin` before its first task, if it is given, and ends in a task that takes
    too long.
    """
    executor = _ProcessForEachThread(processes, begin, task_seconds)
    try:
        yield executor
    finally:
        executor.shutdown(wait=False, cancel_futures=True)


class _ProcessForEachThread(ThreadPoolExecutor):
    """A pool of threads, each with a process of its own: one that dies costs its own task only."""

    def __init__(
        self, processes: int, begin: Callable[[], None] | None, task_seconds: float
    ) -> None:
        super().__init__(processes)
        self._begin = begin
        self._task_seconds = task_seconds
        self._local = threading.local()

    def submit(
        self, function: Callable[P, Result], /, *args: P.args, **kwargs: P.kwargs
    ) -> Future[Result]:
        return super().submit(self._run, partial(function, *args, **kwargs))

    def _run(self, call: Callable[[], Result]) -> Result:
        try:
            return self._process().submit(_bounded, self._task_seconds, call).result()
        except BrokenProcessPool:
            del self._local.process  # the thread's next task starts another one
            raise

    def _process(self) -> ProcessPoolExecutor:
        if not hasattr(self._local, "process"):
            prepare_processes()
            # Never forked from this process: it has threads.
            context = multiprocessing.get_context("forkserver" if _IS_FORKED else "spawn")
            self._local.process = ProcessPoolExecutor(
                1, context, initializer=_begin_process, initargs=(self._begin,)
            )
        return self._local.process


def _begin_process(begin: Callable[[], None] | None) -> None:
    """Prepare a process of the pool, before its first task."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.freeze()  # what was loaded stays: looking through it for garbage takes a quarter of a second
    if begin is not None:
        begin()


def _bounded(seconds: float, call: Callable[[], Result]) -> Result:
    """Call a function; the operating system ends this process where it takes too long.

    Python itself may be unable to: what hangs may be compiled code.
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

    It would not notice otherwise: the pool's processes hold one another's pipes open.
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
