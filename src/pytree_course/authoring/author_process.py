"""A separate process for wrong answers, which may loop for ever or kill the process."""

import multiprocessing
import os
import tempfile
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from pytree_course.authoring.sources import LessonSources, read_sources
from pytree_course.checking.reported import PUBLIC_SEED, SEED_VARIABLE
from pytree_course.compiled import use_compiled_programs
from pytree_course.course import LessonFiles

SECONDS_TO_START = 120


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
        is_time_up = False
        try:
            self._connection.send((function, inputs))
            if self._connection.poll(max(seconds, 0)):
                returned, raised = self._connection.recv()
                if not raised:
                    return returned
                why = raised
            else:
                why, is_time_up = "it does not come to an end", True
        except (EOFError, ConnectionError):
            why = "it ends the process"
        self.restart()
        raise EndedError(why, is_time_up)

    def restart(self) -> None:
        """Go on in a new process, without any state that answers left behind."""
        self.close()
        self._start()

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()

    def _start(self) -> None:
        # Not forked: JAX has threads.
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._files), daemon=True)
        self._process.start()
        theirs.close()
        if not self._connection.poll(SECONDS_TO_START):
            self.close()
            raise TimeoutError("the process for the answers did not start")
        self._connection.recv()


def _serve(connection: Connection, files: LessonFiles) -> None:
    """Call what is asked for, until the other side has gone."""
    use_compiled_programs(keep=True)
    sources: LessonSources = read_sources(files)
    os.environ[SEED_VARIABLE] = str(PUBLIC_SEED)
    warnings.simplefilter("ignore")
    for stream in (1, 2):  # answers may print
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    connection.send("ready")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # what a wrong answer writes, it writes there
        while True:
            try:
                function, inputs = connection.recv()
            except EOFError:
                return
            try:
                reply = (function(sources, *inputs), "")
            except Exception as error:
                reply = (None, f"{type(error).__name__}: {error}")
            connection.send(reply)
