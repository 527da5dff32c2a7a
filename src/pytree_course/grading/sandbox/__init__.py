"""The sandbox in which untrusted code runs: one policy, and two doors into it.

`policy` and `system_calls` say what a sandbox may see, reach and use. A warm server forks most
sandboxes (`warm_server`, `fork`); where it cannot, bubblewrap makes each afresh. Outside of this
package nothing depends on which door it was.
"""

# What the functions import runs on Linux only.

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytree_course.grading.sandbox.kernel import SandboxedKernel


@contextmanager
def class_sandboxes() -> Iterator[Callable[[], Callable[[], None]]]:
    """Start the warm server for all processes that grade a class, without waiting for it.

    Yields a function that waits until a first sandbox was made, and returns what the other
    processes call before they make any. Entering this, and that function, raise a CourseError that
    says what to install or to switch on.
    """
    from pytree_course.grading.sandbox.requirements import require_programs, require_sandbox

    require_programs()

    from pytree_course.grading.sandbox.policy import without_server
    from pytree_course.grading.sandbox.server_process import WarmServer, WarmServerError, say_slow

    server = None if without_server() else WarmServer()

    def wait() -> Callable[[], None]:
        requests = None
        if server is not None:
            try:
                server.require_sandbox()
                requests = server.requests
            except WarmServerError as error:
                say_slow(error)
        if requests is None:
            require_sandbox()
        return partial(use_server, requests)

    try:
        yield wait
    finally:
        if server is not None:
            server.close()


def use_server(requests: socket.socket | None) -> None:
    """Get this process's sandboxes from another process's warm server, or else from bubblewrap."""
    from pytree_course.grading.sandbox.server_process import door

    door.choose(requests)


def start_kernel(course: Path, environment: Mapping[str, str]) -> "SandboxedKernel":
    """Start a kernel in a sandbox of its own, which sees the files of a folder as the course."""
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

    return SandboxedKernel(course, environment)
