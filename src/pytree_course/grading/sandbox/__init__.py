"""The sandbox for untrusted code: one policy, two ways to launch it.

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
def class_sandboxes() -> Iterator[Callable[[], None]]:
    """Start the warm server for all processes that grade a class.

    Yields what each of these processes calls before it makes a sandbox. A CourseError says what to
    install or to switch on, where no sandbox can be made.
    """
    from pytree_course.grading.sandbox.requirements import require_programs, require_sandbox

    require_programs()

    from pytree_course.grading.sandbox.server_process import WarmServer, WarmServerError, say_slow

    server = WarmServer()
    requests: socket.socket | None = server.requests
    try:
        try:
            server.require_sandbox()
        except WarmServerError as error:
            say_slow(error)
            require_sandbox()
            requests = None
        yield partial(use_server, requests)
    finally:
        server.close()


def use_server(requests: socket.socket | None) -> None:
    """Get this process's sandboxes from another process's warm server, or else from bubblewrap."""
    from pytree_course.grading.sandbox.server_process import door

    door.choose(requests)


def start_kernel(course: Path, environment: Mapping[str, str]) -> "SandboxedKernel":
    """Start a kernel in a sandbox of its own, which sees the files of a folder as the course."""
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

    return SandboxedKernel(course, environment)
