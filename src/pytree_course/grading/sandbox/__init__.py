"""The sandbox in which untrusted code runs: one description of it, and two doors into it.

`description` and `system_calls` say what a sandbox may see, reach and use. A warm server forks most
sandboxes (`warm_server`, `fork`); where it cannot, bubblewrap makes each afresh. Who uses this
package does not see which door it was.
"""

# What is imported inside of the functions is for Linux only.

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytree_course.grading.sandbox.kernel import SandboxedKernel


@contextmanager
def class_sandboxes() -> Iterator[Callable[[], socket.socket | None]]:
    """Begin to start what makes sandboxes for all processes that grade a class.

    Yields a function that waits until one sandbox was made, and returns how to ask for more: see
    `use_server`; None says that each is made afresh. Both raise a CourseError that says what to
    install or to switch on.
    """
    from pytree_course.grading.sandbox.requirements import require_programs, require_sandbox

    require_programs()

    from pytree_course.grading.sandbox.description import ENGINE_VARIABLE
    from pytree_course.grading.sandbox.server_process import WarmServer, WarmServerError, say_slow

    server = None if os.environ.get(ENGINE_VARIABLE) == "fresh" else WarmServer()

    def wait() -> socket.socket | None:
        why = ""
        if server is not None:
            try:
                server.require_sandbox()
                return server.requests
            except WarmServerError as error:
                why = str(error)
        require_sandbox()
        if why:
            say_slow(why)
        return None

    try:
        yield wait
    finally:
        if server is not None:
            server.close()


def use_server(requests: socket.socket) -> None:
    """Ask the warm server of another process for this process's sandboxes."""
    from pytree_course.grading.sandbox.server_process import server_of_this_process

    server_of_this_process.use(requests)


def start_kernel(course: Path, environment: Mapping[str, str]) -> "SandboxedKernel":
    """Start a kernel in a sandbox of its own, which sees the files of a folder as the course."""
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

    return SandboxedKernel(course, environment)
