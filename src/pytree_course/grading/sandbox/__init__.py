"""The sandbox in which untrusted code runs: one description of it, and two doors into it.

`description` and `system_calls` say what a sandbox may see, reach and use. A warm server forks most
sandboxes (`warm_server`, `fork`); where it cannot, bubblewrap makes each afresh. Who uses this
package does not see which door it was.
"""

# What is imported inside of the functions is for Linux only.

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytree_course.grading.sandbox.class_sandboxes import ClassSandboxes
    from pytree_course.grading.sandbox.kernel import SandboxedKernel


@contextmanager
def class_sandboxes() -> Iterator["ClassSandboxes"]:
    """Begin to start what makes sandboxes for a class; a CourseError says what is not there."""
    from pytree_course.grading.sandbox.requirements import require_programs

    require_programs()

    from pytree_course.grading.sandbox.class_sandboxes import ClassSandboxes

    sandboxes = ClassSandboxes()
    try:
        yield sandboxes
    finally:
        sandboxes.close()


def use_server(requests: socket.socket) -> None:
    """Ask the warm server of another process for this process's sandboxes."""
    from pytree_course.grading.sandbox.server_process import server_of_this_process

    server_of_this_process.use(requests)


def start_kernel(course: Path, environment: Mapping[str, str]) -> "SandboxedKernel":
    """Start a kernel in a sandbox of its own, which sees the files of a folder as the course."""
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

    return SandboxedKernel(course, environment)
