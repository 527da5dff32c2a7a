"""The sandbox: what a learner's code may see and reach, by bubblewrap; see also `limits`."""

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pytree_course
from pytree_course import compiled
from pytree_course.course import CourseError
from pytree_course.grading import limits

ENGINE_VARIABLE = "PYTREE_COURSE_KERNELS"
"""Tests and benchmarks set it to "fresh": sandboxed kernels then start one by one."""

COURSE_INSIDE = "/course"
USER_INSIDE = 1000
FOLDERS_IN_MEMORY = ("/tmp", "/dev/shm")  # those inside that can be written

_TRIAL_SECONDS = 60
_INSTEAD = "To run only your own work, or work that you trust, add --unsandboxed."
_FILTER_FD = "10"  # the file descriptor at which bubblewrap finds the filter of system calls
_PROGRAMS = "/compiled"  # where the author's compiled programs are seen, but cannot be listed

# A process that may write there can have itself kept waiting (`autogroup`), and so use no time.
_READ_ONLY_PROC = ("--remount-ro", "/proc")
_OWN_USER = ("--unshare-user", "--uid", str(USER_INSIDE), "--gid", str(USER_INSIDE))


def require_programs() -> None:
    """Raise a CourseError where the sandbox must not or cannot be tried, with what to do."""
    if sys.platform != "linux":
        raise CourseError(
            "The sandbox needs Linux. On Windows or macOS, grade inside a Linux machine, such as "
            f"WSL, a virtual machine or a container. {_INSTEAD}"
        )
    missing = [name for name in ("bwrap", "prlimit", "setpriv") if shutil.which(name) is None]
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
    """Raise a CourseError with what to install or to switch on, unless the sandbox works."""
    require_programs()
    try:
        trial = subprocess.run(
            sandboxed([sys.executable, "-c", "import pytree_course"], {}),
            env={"PATH": os.environ.get("PATH", os.defpath)},
            capture_output=True,
            text=True,
            timeout=_TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise CourseError(
            f"The sandbox did not start within {_TRIAL_SECONDS} seconds. If this machine is very "
            f"busy, try again later. {_INSTEAD}"
        ) from error
    # It is Python, and not bubblewrap, that speaks of the course's package.
    if "No module named 'pytree_course'" in trial.stderr:
        raise CourseError(
            "The sandbox works, but the course is not installed in the environment of "
            f"{sys.executable}, so the sandbox cannot find it. Start with `python3 course.py`, or "
            f"install it with `pip install --no-deps -e .` in the course's folder. {_INSTEAD}"
        )
    if trial.returncode != 0:
        raise CourseError(
            f"bubblewrap cannot make a sandbox here. It says: {trial.stderr.strip()}\n"
            "It needs user namespaces. Where they are switched off, an administrator allows them "
            "with `sysctl kernel.unprivileged_userns_clone=1` (Debian) or "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu); in a container, "
            f"start it with them allowed. {_INSTEAD}"
        )


def sandboxed(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    shown: Mapping[Path, str] | None = None,
) -> list[str]:
    """Return the command that runs a command inside the sandbox.

    Inside there are the system's programs and libraries, Python, its environment and this package,
    all read-only; a small private /tmp; no network; no process of the outside.

    Parameters
    ----------
    environment
        Environment variables, besides those that Python needs anyway.
    shown
        Folders to be seen, read-only: where they are, and where they appear.
    """
    options = [
        *_view(key_lists(), shown or {}, _folders_in_memory()),
        *(option for name, value in variables(environment).items() for option in _set(name, value)),
    ]
    bounds = [f"--{name}={bound}" for name, bound in process_limits().items()]
    limited = ["prlimit", *bounds, "--", *command]
    unprivileged = [*_OWN_USER, "--disable-userns", "--seccomp", _FILTER_FD]
    launcher = [sys.executable, "-I", "-m", "pytree_course.grading.sandbox_launcher", _FILTER_FD]
    if os.geteuid() != 0:
        return [*launcher, "bwrap", *unprivileged, *options, *_READ_ONLY_PROC, "--", *limited]
    # Root is above the limit on processes, and may write to parts of /proc. So root prepares the
    # view, which only root may be able to see into, and hands it to a user of its own.
    user = str(sandbox_user())
    become = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all"]
    return [
        *(*launcher, "bwrap", *options, "--", *become, "--"),
        *("bwrap", *unprivileged, "--dev-bind", "/", "/", *_READ_ONLY_PROC, "--", *limited),
    ]


def serving(command: Sequence[str], shown: str) -> list[str]:
    """Return the command that runs a server which makes sandboxes out of itself.

    It has the same view, but for what each sandbox has of its own: the folders in memory, those
    one that is shown, and /proc, which it may not mount anew for a sandbox where parts of it are
    covered. It keeps its rights in this view: no code of a learner may run in it.
    """
    folders = [
        option
        for place in (*FOLDERS_IN_MEMORY, shown)
        for option in (*_folders_above(place), "--perms", "0755", "--dir", place)
    ]
    options = [
        *(*_view((), {}, folders), "--cap-add", "ALL"),
        *(option for name, value in variables({}).items() for option in _set(name, value)),
    ]
    return ["bwrap", *([] if os.geteuid() == 0 else _OWN_USER), *options, "--", *command]


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return all environment variables inside, given those besides what Python needs anyway."""
    has_programs = compiled.shown().is_dir()
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": "/tmp",
        "USER": "learner",
        "LANG": "C.UTF-8",
        "JAX_PLATFORMS": "cpu",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **(compiled.kernel_variables(_PROGRAMS) if has_programs else {}),
        **environment,
    }


def process_limits() -> dict[str, int]:
    """Return the limits of each process inside, by the names that `prlimit` has for them."""
    return {
        "data": limits.MEMORY,
        "nproc": limits.PROCESSES,
        "fsize": limits.FILE_BYTES,
        "cpu": limits.CPU_SECONDS,
        "nofile": limits.OPEN_FILES,
        "core": 0,
    }


def key_lists() -> list[str]:
    """Return the files that tell which keys the user has, to each process of the same user."""
    return [file for file in ("/proc/keys", "/proc/key-users") if Path(file).exists()]


def sandbox_user() -> int:
    """Return the user id of the code inside, as the outside sees it."""
    # Root takes another user for each process that grades, so that one sandbox cannot use up the
    # processes or touch the sockets of another.
    return os.geteuid() or 20_000 + os.getpid() % 40_000


def _view(
    covered: Iterable[str], shown: Mapping[Path, str], folders_in_memory: Sequence[str]
) -> list[str]:
    """Return bubblewrap's options that make what is seen and reached inside."""
    binds = {Path("/usr"): "/usr"}
    binds |= {folder: str(folder) for folder in python_folders()} | dict(shown)
    compiled.make_folders()
    binds |= {compiled.shown(): _PROGRAMS} if compiled.shown().is_dir() else {}
    options = [
        *("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session", "--hostname", "sandbox"),
        *("--clearenv", "--proc", "/proc", "--dev", "/dev"),
    ]
    # The teacher's terminal; and what is memory when it is mapped. Terminals of its own it has, for
    # IPython runs `!ls` in one.
    for device in ("/dev/tty", "/dev/zero"):
        options += ["--dev-bind", "/dev/null", device]
    for file in covered:
        options += ["--ro-bind", "/dev/null", file]
    options += folders_in_memory
    for folder in map(Path, ("/bin", "/lib", "/lib64")):
        if folder.is_symlink():
            options += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.exists():
            binds[folder] = str(folder)
    for source, place in binds.items():
        options += [*_folders_above(place), "--ro-bind", str(source), place]
    if compiled.CACHE.is_dir():
        options += ["--tmpfs", str(compiled.CACHE), "--remount-ro", str(compiled.CACHE)]
    options += [*_folders_above("/etc/x"), "--ro-bind-try", *["/etc/ld.so.cache"] * 2]
    # What bubblewrap makes to mount things on is memory without a bound, unless it is read-only.
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]


def _folders_in_memory() -> list[str]:
    size = str(limits.FOLDER_BYTES)
    return [
        option
        for folder in FOLDERS_IN_MEMORY
        for option in ("--perms", "1777", "--size", size, "--tmpfs", folder)
    ]


def _set(name: str, value: str) -> list[str]:
    return ["--setenv", name, value]


def _finds_libseccomp() -> bool:
    try:
        importlib.import_module("pyseccomp")
    except RuntimeError:  # it looks for the library when it is imported
        return False
    return True


def _folders_above(place: str) -> list[str]:
    """Return the options that make the folders above a place, open to every user."""
    return [
        option
        for folder in reversed(Path(place).parents)
        if folder not in map(Path, ("/", "/dev", *FOLDERS_IN_MEMORY))
        for option in ("--perms", "0755", "--dir", str(folder))
    ]


def _private_folders() -> list[Path]:
    """Return folders that the sandbox must not show: the user's own, and a course with sources."""
    course = Path(pytree_course.__file__).resolve().parents[2]
    return [Path.home(), *([course] if (course / "sources").is_dir() else [])]


def python_folders() -> list[Path]:
    """Return the folders of Python, its environment and this package that are not in /usr."""
    package = Path(pytree_course.__file__).resolve().parents[1]
    wanted = {Path(sys.base_prefix), Path(sys.prefix), Path(sys.executable).resolve().parents[1]}
    inside = [*wanted, Path("/usr")]
    if not any(package.is_relative_to(folder) for folder in inside):
        wanted.add(package)
    return sorted(folder for folder in wanted if not folder.is_relative_to("/usr"))
