"""Run tasks in pools as they come up; a process that dies costs its own task only."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from queue import SimpleQueue
from typing import Any, Protocol

from pytree_course.classroom.pool import Pool


class Task(Protocol):
    """What a pool runs; it and what it returns have to be picklable."""

    def run(self) -> Any:
        """Do the work, in whatever process, and return what came of it."""


class TaskQueue:
    """Tasks that run in pools; more can be added while the results of others come in."""

    def __init__(self) -> None:
        self._lanes: dict[Pool, _Lane] = {}
        self._ended: SimpleQueue[tuple[_Lane, Future[Any]]] = SimpleQueue()

    def add(self, task: Task, pool: Pool, *, soon: bool = False) -> None:
        """Have a task run in a pool, after those that wait there; or `soon`, before these."""
        if pool not in self._lanes:
            self._lanes[pool] = _Lane(pool, self._ended)
        self._lanes[pool].add(task, soon)

    def results(self) -> Iterator[tuple[Task, Any]]:
        """Yield each task with what it returned, or what it raised, until none is left."""
        while any(lane.is_busy for lane in self._lanes.values()):
            lane, future = self._ended.get()
            came = lane.take(future)
            lane.hand_out()
            if came is not None:
                yield came

    def close(self) -> None:
        """Give up what has not run."""
        for lane in self._lanes.values():
            lane.close()


def _run(task: Task) -> Any:
    return task.run()


class _Lane:
    """The tasks of one pool: no more of them are handed to it than it can begin with.

    When a process of the pool dies, it cannot be told which task's fault it was. Those that were
    under way then run one by one, until one of them does it again; after that all go on together.
    """

    def __init__(self, pool: Pool, ended: "SimpleQueue[tuple[_Lane, Future[Any]]]") -> None:
        self._pool = pool
        self._ended = ended
        self._executor: Executor | None = None
        self._urgent: deque[Task] = deque()
        self._waiting: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._running: dict[Future[Any], Task] = {}
        self._alone: Future[Any] | None = None  # that of a suspect

    @property
    def is_busy(self) -> bool:
        """Whether results are still to come."""
        return bool(self._running or self._suspects or self._urgent or self._waiting)

    def add(self, task: Task, soon: bool) -> None:
        """Have a task run when it is its turn."""
        (self._urgent if soon else self._waiting).append(task)
        self.hand_out()

    def hand_out(self) -> None:
        """Hand tasks to the pool, as many as it has use for."""
        if self._suspects:
            if not self._running:
                self._alone = self._submit(self._suspects)
            return
        # A suspect is alone to the end.
        while self._alone is None and len(self._running) < self._pool.at_once:
            tasks = self._urgent or self._waiting
            if not tasks or self._submit(tasks) is None:
                return

    def _submit(self, tasks: deque[Task]) -> Future[Any] | None:
        """Hand the first task to the pool; or leave it there, where the pool has just broken."""
        self._executor = self._executor or self._pool.new()
        try:
            future = self._executor.submit(_run, tasks[0])
        except BrokenProcessPool:
            if not self._running:
                raise  # it cannot even begin
            return None  # those that run will say so too
        self._running[future] = tasks.popleft()
        future.add_done_callback(lambda ended: self._ended.put((self, ended)))
        return future

    def take(self, future: Future[Any]) -> tuple[Task, Any] | None:
        """Return a task with what came of it; or None when it will run again."""
        task, was_alone = self._running.pop(future), future is self._alone
        if was_alone:
            self._alone = None
        try:
            return task, future.result()
        except BrokenProcessPool as error:
            self._end_pool()
            if not was_alone:
                self._suspects.append(task)
                return None
            self._urgent.extendleft(reversed(self._suspects))  # cleared of it
            self._suspects.clear()
            return task, error
        except Exception as error:
            return task, error

    def _end_pool(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False)
            self._executor = None

    def close(self) -> None:
        """Give up what has not run."""
        for future in self._running:  # Dask's pool cannot be told to do it when it shuts down
            future.cancel()
        self._end_pool()
