"""The sandbox in which untrusted code runs: one policy, and two doors into it.

`policy` and `system_calls` say what a sandbox may see, reach and use. A warm server forks most
sandboxes (`warm_server`, `fork`); where it cannot, bubblewrap makes each afresh. Outside of this
package nothing depends on which door it was.
"""

# What the functions import runs on Linux only.

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
    """Start the warm server for all processes that grade a class, without waiting for it.

    Yields a function that waits until a first sandbox was made, and returns what other processes
    give to `use_server`; or None, where there is no such server. Entering
    this, and that function, raise a CourseError that says what to install or to switch on.
    """
    from pytree_course.grading.sandbox.requirements import require_programs, require_sandbox

    require_programs()

    from pytree_course.grading.sandbox.policy import ENGINE_VARIABLE
    from pytree_course.grading.sandbox.server_process import WarmServer, WarmServerError, say_slow

    server = None if os.environ.get(ENGINE_VARIABLE) == "fresh" else WarmServer()

    def wait() -> socket.socket | None:
        if server is None:
            require_sandbox()
            return None
        try:
            server.require_sandbox()
        except WarmServerError as error:
            require_sandbox()
            say_slow(error)
            return None
        return server.requests

    try:
        yield wait
    finally:
        if server is not None:
            server.close()


def use_server(requests: socket.socket) -> None:
    """Get this process's sandboxes from another process's warm server."""
    from pytree_course.grading.sandbox.server_process import door

    door.choose(requests)


def start_kernel(course: Path, environment: Mapping[str, str]) -> "SandboxedKernel":
    """Start a kernel in a sandbox of its own, which sees the files of a folder as the course."""
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

    return SandboxedKernel(course, environment)
