"""The sandbox for untrusted code: one policy, two ways to launch it.

`policy` and `system_calls` say what a sandbox may see, reach and use. A warm server forks most
sandboxes (`warm_server`); where it cannot, bubblewrap makes each afresh. Outside of this package
nothing depends on which way it was.
"""

# What the functions import runs on Linux only.

import importlib
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import pytree_course
from pytree_course.course import CourseError

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

    with closing(WarmServer()) as server:
        requests: socket.socket | None = server.requests
        try:
            server.require_sandbox()
        except WarmServerError as error:
            say_slow(error)
            require_sandbox()
            requests = None
        yield partial(use_server, requests)


def use_server(requests: socket.socket | None) -> None:
    """Get this process's sandboxes from another process's warm server, or else from bubblewrap."""
    from pytree_course.grading.sandbox.server_process import door

    door.choose(requests)


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
    try:
        importlib.import_module("pyseccomp")
    except RuntimeError:  # it looks for the library when it is imported
        missing.append("libseccomp")
    if missing:
        raise CourseError(
            f"Other people's code runs in a sandbox only, and {' and '.join(missing)} is not "
            "here. Install it: `sudo apt install bubblewrap libseccomp2 util-linux` (Debian, "
            "Ubuntu) or `sudo dnf install bubblewrap libseccomp util-linux` (Fedora). "
            f"{_INSTEAD}"
        )
    # The user's own files, and a course with sources, must not be seen.
    course = Path(pytree_course.__file__).resolve().parents[2]
    private = [Path.home(), *([course] if (course / "sources").is_dir() else [])]
    for folder in python_folders():
        if any(each.is_relative_to(folder) for each in private):
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
