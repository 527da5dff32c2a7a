"""The sandbox for untrusted code: one policy, two ways to launch it.

`policy` and `system_calls` say what a sandbox may see, reach and use. A warm server forks most
sandboxes (`warm_server`, `fork`); where it cannot, bubblewrap makes each afresh. Outside of this
package nothing depends on which door it was.
"""

# What the functions import runs on Linux only.

import importlib
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytree_course
from pytree_course.course import CourseError

if TYPE_CHECKING:
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

_TRIAL_SECONDS = 60
_INSTEAD = "To run only your own work, or work that you trust, add --unsandboxed."


@contextmanager
def class_sandboxes() -> Iterator[Callable[[], None]]:
    """Start the warm server for all processes that grade a class.

    Yields what each of these processes calls before it makes a sandbox. A CourseError says what to
    install or to switch on, where no sandbox can be made.
    """
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


def require_programs() -> None:
    """Raise a CourseError that says what to do, where no sandbox can or may be tried."""
    from pytree_course.grading.sandbox.policy import python_folders

    if sys.platform != "linux":
        raise CourseError(
            "The sandbox needs Linux. On Windows or macOS, grade inside a Linux machine, such as "
            f"WSL, a virtual machine or a container. {_INSTEAD}"
        )
    programs = ("bwrap", "mount", "prlimit", "setpriv")
    missing = [name for name in programs if shutil.which(name) is None]
    missing += [] if _finds_libseccomp() else ["libseccomp"]
    if missing:
        raise CourseError(
            f"Other people's code runs in a sandbox only, and {' and '.join(missing)} is not "
            "here. Install it: `sudo apt install bubblewrap libseccomp2 util-linux` (Debian, "
            "Ubuntu) or `sudo dnf install bubblewrap libseccomp util-linux` (Fedora). "
            f"{_INSTEAD}"
        )
    for folder in python_folders():
        if any(private.is_relative_to(folder) for private in _private_folders()):
            raise CourseError(
                f"Python is installed in {folder}, which holds the course's solutions or your own "
                "files too, and the sandbox has to show it. Use an environment in a folder of its "
                f"own: start with `python3 course.py`. {_INSTEAD}"
            )


def require_sandbox() -> None:
    """Raise a CourseError that says what to install or to switch on, unless the sandbox works."""
    require_programs()

    from pytree_course.grading.sandbox.bubblewrap import try_sandbox

    try:
        trial = try_sandbox([sys.executable, "-c", "import pytree_course"], _TRIAL_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise CourseError(
            f"The sandbox did not start within {_TRIAL_SECONDS} seconds. If this machine is very "
            f"busy, try again later. {_INSTEAD}"
        ) from error
    if trial.returncode != 0:
        raise CourseError(
            f"A sandbox cannot be made here: {trial.stderr.strip()}\n"
            "It needs user namespaces. Where they are switched off, an administrator allows them "
            "with `sysctl kernel.unprivileged_userns_clone=1` (Debian) or "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu); in a container, "
            f"start it with them allowed. {_INSTEAD}"
        )


def _finds_libseccomp() -> bool:
    try:
        importlib.import_module("pyseccomp")
    except RuntimeError:  # it looks for the library when it is imported
        return False
    return True


def _private_folders() -> list[Path]:
    """Return folders that the sandbox must not show: the user's own, and a course with sources."""
    course = Path(pytree_course.__file__).resolve().parents[2]
    return [Path.home(), *([course] if (course / "sources").is_dir() else [])]
