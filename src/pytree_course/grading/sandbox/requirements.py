"""Check that this machine can run sandboxes, and say what to install if not."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytree_course
from pytree_course.course import CourseError
from pytree_course.grading.sandbox.policy import python_folders

_TRIAL_SECONDS = 60
_INSTEAD = "To run only your own work, or work that you trust, add --unsandboxed."


def require_programs() -> None:
    """Raise a CourseError that says what to do, where no sandbox can or may be tried."""
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
