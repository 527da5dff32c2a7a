"""The sandbox for untrusted code: what the machine lacks for it, and its warm server for a class.

docs/sandbox.md says what each module here is for.
"""

# Modules that run only on Linux are imported inside functions.

import importlib
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from pytree_course.course import CourseError

_INSTEAD = "To run only your own work, or work that you trust, add --unsandboxed."
_REMEDIES = {
    "bwrap: ": "It needs user namespaces. If they are switched off, an administrator allows them "
    "with `sysctl kernel.unprivileged_userns_clone=1` (Debian) or "
    "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu); in a container, start it "
    "with them allowed, and grade as another user than root, who would need CAP_SYS_ADMIN.",
    "PermissionError": "bubblewrap starts, but the programs that it starts have no rights. On "
    "Ubuntu, its AppArmor profile bwrap-userns-restrict does that: an administrator unloads it "
    "with `apparmor_parser -R /etc/apparmor.d/bwrap-userns-restrict`, and then allows user "
    "namespaces with `sysctl kernel.apparmor_restrict_unprivileged_userns=0`, both until the "
    "machine restarts.",
}
"""What helps, by a part of the error that keeps sandboxes from starting."""


@contextmanager
def class_sandboxes(private: Iterable[Path]) -> Iterator[Callable[[], None]]:
    """Start the warm server for all processes that grade a class.

    Yield the function that each of these processes calls before it makes a sandbox. Raise a
    CourseError if no sandbox can be made, or if a sandbox would show one of the private folders.
    """
    require_programs()
    require_hidden(private)
    require_limits()

    from pytree_course.grading.sandbox.doors import Door, SandboxError, use_server
    from pytree_course.grading.sandbox.kernel import kernel_request

    with closing(Door()) as door:
        _, request = kernel_request({}, {})
        try:
            door.make_sandbox(request).end()
        except SandboxError as error:
            remedies = [remedy for sign, remedy in _REMEDIES.items() if sign in str(error)]
            message = f"A sandbox cannot be made here: {error}\n{' '.join([*remedies, _INSTEAD])}"
            raise CourseError(message) from error
        yield partial(use_server, door.requests)


def require_programs() -> None:
    """Raise a CourseError that says what to install if a program of the sandbox is missing."""
    if sys.platform != "linux":
        raise CourseError(
            "The sandbox needs Linux. On Windows or macOS, grade inside a Linux machine, such as "
            f"WSL, a virtual machine or a container. {_INSTEAD}"
        )
    missing = [] if shutil.which("bwrap") else ["bwrap"]
    try:
        importlib.import_module("pyseccomp")
    except RuntimeError:  # importing it loads the library
        missing.append("libseccomp")
    if missing:
        raise CourseError(
            f"Other people's code runs only in a sandbox, which needs {' and '.join(missing)}. "
            "Install it: `sudo apt install bubblewrap libseccomp2` (Debian, Ubuntu) or "
            f"`sudo dnf install bubblewrap libseccomp` (Fedora). {_INSTEAD}"
        )


def require_hidden(private: Iterable[Path]) -> None:
    """Raise a CourseError if a sandbox would show the user's home or another private folder."""
    from pytree_course.grading.sandbox.policy import visible_folders

    for folder in map(Path.resolve, (Path.home(), *private)):
        for visible in visible_folders():
            if folder.is_relative_to(visible.resolve()):
                raise CourseError(
                    f"{folder} lies in {visible}, which every sandbox shows: the learners' code "
                    f"could read it. Move it to a folder outside of {visible}, for example below "
                    "/home or /srv; or, if it lies in Python's own folder, use an environment in "
                    f"another folder. {_INSTEAD}"
                )


def require_limits() -> None:
    """Raise a CourseError that names the machine's limits with which right answers might fail."""
    import resource

    from pytree_course.grading.sandbox.policy import PROCESS_LIMITS, process_limits

    found = process_limits()
    too_low = [
        f"`ulimit -H{option}` is {most // unit}, and grading needs {value // 2 // unit}"
        for name, (value, option, unit) in PROCESS_LIMITS.items()
        if (most := found[getattr(resource, name)]) < value // 2
    ]
    if too_low:
        raise CourseError(
            f"This machine limits what its users' programs may use: {'; '.join(too_low)}. Ask its "
            f"administrator for more, or grade on another machine. {_INSTEAD}"
        )
