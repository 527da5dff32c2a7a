"""A separate process for wrong answers, which may loop for ever or kill the process."""

import multiprocessing
import os
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from tempfile import TemporaryDirectory
from typing import Any

from pytree_course.compiled import use_compiled_programs
from pytree_course.course import LessonFiles
from pytree_course.jax_configuration import drop_shells_settings
from pytree_course.running.outcomes import PUBLIC_SEED, SEED_VARIABLE
from pytree_course.sources.lesson_sources import LessonSources, read_sources

_sources: list[LessonSources] = []
"""In the separate process, the lesson's."""


class EndedError(Exception):
    """A function raised an exception, ended its process, or was ended when its time was up."""

    def __init__(self, why: str, is_time_up: bool = False) -> None:
        super().__init__(why)
        self.is_time_up = is_time_up


class AuthorProcess:
    """Calls functions with a lesson's sources, in a separate process.

    Examples
    --------
    >>> with closing(AuthorProcess(files)) as process:  # doctest: +SKIP
    ...     process.call(10, find_mistakes)
    """

    def __init__(self, files: LessonFiles) -> None:
        drop_shells_settings()
        # Without the check script that this process may have loaded.
        self._files = LessonFiles(files.root, files.stem)
        self._start()

    def call(self, seconds: float, function: Callable[..., Any], *inputs: Any) -> Any:
        """Return what a module's function returns, given the sources and the inputs.

        Raises
        ------
        EndedError
            When it raised an exception or ended the process, or its time was up. The next call
            has a new process.
        """
        asked = self._pool.submit(_call, function, *inputs)
        try:
            return asked.result(max(seconds, 0))
        except TimeoutError:
            ended = EndedError("it does not come to an end", is_time_up=True)
        except BrokenProcessPool:
            ended = EndedError("it ends the process")
        except EndedError as error:
            ended = error
        self.restart()
        raise ended

    def restart(self) -> None:
        """Go on in a new process, without any state that answers left behind."""
        self.close()
        self._start()

    def close(self) -> None:
        """End the process."""
        for child in multiprocessing.active_children():
            if child.pid == self._id:
                child.kill()
        self._pool.shutdown()
        self._folder.cleanup()

    def _start(self) -> None:
        self._folder = TemporaryDirectory()  # what a wrong answer writes, it writes there
        # Not forked: JAX has threads.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(1, context, _prepare, (self._files, self._folder.name))
        self._id = self._pool.submit(os.getpid).result()


def _prepare(files: LessonFiles, folder: str) -> None:
    use_compiled_programs(keep=True)
    _sources.append(read_sources(files))
    os.environ[SEED_VARIABLE] = str(PUBLIC_SEED)
    warnings.simplefilter("ignore")
    for stream in (1, 2):  # answers may print
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    os.chdir(folder)


def _call(function: Callable[..., Any], *inputs: Any) -> Any:
    try:
        return function(*_sources, *inputs)
    except BaseException as error:  # the other process may not know its class
        raise EndedError(f"{type(error).__name__}: {error}") from None
