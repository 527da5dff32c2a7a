"""Where all sandboxes of a class come from: one warm server, which is tried out; or bubblewrap."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytree_course.grading.sandbox import ENGINE_VARIABLE, require_programs, require_sandbox

if TYPE_CHECKING:
    from pytree_course.grading.warm_process import WarmServer


class ClassSandboxes:
    """What makes sandboxes for all processes that grade a class, while it is open."""

    def __init__(self, server: "WarmServer | None") -> None:
        self._server = server

    def require(self) -> socket.socket | None:
        """Wait until one sandbox was made, and return how to ask for more; see `local_pool`.

        None says that they are made one by one. A CourseError says what to install or to switch on.
        """
        if self._server is None:
            require_sandbox()
            return None
        from pytree_course.grading.warm_process import WarmServerError, say_slow

        try:
            self._server.require_sandbox()
        except WarmServerError as error:
            require_sandbox()
            say_slow(str(error))
            return None
        return self._server.requests


@contextmanager
def class_sandboxes() -> Iterator[ClassSandboxes]:
    """Begin to start what makes sandboxes; a CourseError says what there is not."""
    require_programs()
    if os.environ.get(ENGINE_VARIABLE) == "fresh":
        yield ClassSandboxes(None)
        return
    from pytree_course.grading.warm_process import WarmServer  # needs Linux, and libseccomp

    server = WarmServer()
    try:
        yield ClassSandboxes(server)
    finally:
        server.close()
