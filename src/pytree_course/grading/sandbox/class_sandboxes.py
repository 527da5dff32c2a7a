"""Where all sandboxes of a class come from: one warm server, which is tried out; or bubblewrap."""

import os
import socket

from pytree_course.grading.sandbox.description import ENGINE_VARIABLE
from pytree_course.grading.sandbox.requirements import require_sandbox
from pytree_course.grading.sandbox.server_process import WarmServer, WarmServerError, say_slow


class ClassSandboxes:
    """What makes sandboxes for all processes that grade a class, until it is closed."""

    def __init__(self) -> None:
        self._server = None if os.environ.get(ENGINE_VARIABLE) == "fresh" else WarmServer()

    def require(self) -> socket.socket | None:
        """Wait until one sandbox was made, and return how to ask for more; see `use_server`.

        None says that they are made one by one. A CourseError says what to install or to switch on.
        """
        if self._server is None:
            require_sandbox()
            return None
        try:
            self._server.require_sandbox()
        except WarmServerError as error:
            require_sandbox()
            say_slow(str(error))
            return None
        return self._server.requests

    def close(self) -> None:
        """End the server, and with it all sandboxes that it has forked."""
        if self._server is not None:
            self._server.close()
