"""The sandbox's view: visible files, variables, process limits, and how bubblewrap makes it.

The limits on what it may use are in `limits`, the system calls that it may make in `system_calls`.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytree_course
from pytree_course import compiled
from pytree_course.grading import limits

USER_INSIDE = 1000
HOST_NAME = "sandbox"
TMP = "/tmp"  # where the kernel works and has its sockets
CONNECTION_FILE = f"{TMP}/kernel.json"  # the names of its sockets, and its key
HOSTS_FILE, HOSTS = f"{TMP}/hosts", "127.0.0.1 localhost\n"  # what /etc/hosts links to
COURSE_INSIDE = "/course"
FOLDERS_IN_MEMORY = (TMP, "/dev/shm")  # the only ones that can be written
KEY_LISTS = ("/proc/keys", "/proc/key-users")  # which keys the teacher has: they are covered
FOLDER_MODE, FOLDER_IN_MEMORY_MODE, FILE_MODE = "0755", "1777", 0o444
_SYSTEM = (Path("/bin"), Path("/lib"), Path("/lib64"))  # links into /usr, but on old systems

# If memory runs short, Linux ends the processes inside first, and not the grading.
OOM_SCORE = "1000"
# IPython runs `!ls` in a terminal. A machine has only so many.
TERMINAL_OPTIONS = f"newinstance,ptmxmode=0666,mode=620,max={limits.TERMINALS}"


def kernel_command(connection_file: str) -> list[str]:
    """Return the command that starts a kernel of this Python."""
    import ipykernel.kernelspec  # which the warm server does without

    parts = ipykernel.kernelspec.get_kernel_dict()["argv"]
    return [part.replace("{connection_file}", connection_file) for part in parts]


def visible_folders() -> list[Path]:
    """Return the folders that are visible, read-only: the system's, Python's, this package's."""
    old = [folder for folder in _SYSTEM if folder.exists() and not folder.is_symlink()]
    return [Path("/usr"), *old, *python_folders()]


def visible_links() -> dict[str, str]:
    """Return the targets of the visible links, by path."""
    links = {str(folder): str(folder.readlink()) for folder in _SYSTEM if folder.is_symlink()}
    return {**links, "/etc/hosts": HOSTS_FILE}


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return all environment variables inside: these, and those that every kernel needs."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": TMP,
        "USER": "learner",
        "LANG": "C.UTF-8",
        "JAX_PLATFORMS": "cpu",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **compiled.kernel_variables(),
        **environment,
    }


def process_limits() -> dict[int, int]:
    """Return the limits of each process inside."""
    import resource  # not above: Windows has none, and plain kernels start there too

    return {
        resource.RLIMIT_DATA: limits.MEMORY,
        resource.RLIMIT_NPROC: limits.PROCESSES,
        resource.RLIMIT_FSIZE: limits.FILE_BYTES,
        resource.RLIMIT_CPU: limits.CPU_SECONDS,
        resource.RLIMIT_NOFILE: limits.OPEN_FILES,
        resource.RLIMIT_CORE: 0,
    }


def sandbox_user() -> int:
    """Return the user id of the code inside, as the outside sees it."""
    # As root, each process that grades takes another user, so that one sandbox cannot use up the
    # processes or touch the sockets of another.
    return os.geteuid() or 20_000 + os.getpid() % 40_000


def python_folders() -> list[Path]:
    """Return the folders of Python, its environment and this package that are not in /usr."""
    base = Path(sys.executable).resolve().parents[1]
    folders = {Path(sys.base_prefix), Path(sys.prefix), base}
    package = Path(pytree_course.__file__).resolve().parents[1]
    if not any(package.is_relative_to(folder) for folder in folders):
        folders.add(package)
    return sorted(folder for folder in folders if not folder.is_relative_to("/usr"))


def in_view(command: Sequence[str]) -> list[str]:
    """Return the command that runs a command in the view of a sandbox, with all rights in there.

    The view lacks what is private to each sandbox: the folders in memory, the course, and /proc,
    which may not be mounted again where parts of it are covered. No code of a learner may run in
    the view before it has entered a sandbox.
    """
    options = ["--cap-add", "ALL", "--die-with-parent", "--new-session"]
    options += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--hostname", HOST_NAME]
    if os.geteuid() != 0:
        options += ["--unshare-user", "--uid", str(USER_INSIDE), "--gid", str(USER_INSIDE)]
    options += ["--clearenv", "--proc", "/proc", "--dev", "/dev"]
    for name, value in variables({}).items():
        options += ["--setenv", name, value]
    for place in (*FOLDERS_IN_MEMORY, COURSE_INSIDE):
        options += [*_folders_above(place), "--perms", FOLDER_MODE, "--dir", place]
    for place, target in visible_links().items():
        options += [*_folders_above(place), "--symlink", target, place]
    for folder in map(str, visible_folders()):
        options += [*_folders_above(folder), "--ro-bind", folder, folder]
    options += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    # The file system that bubblewrap mounts things on is memory without a bound, unless it is
    # read-only.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", TMP]
    return ["bwrap", *options, "--", *command]


def _folders_above(place: str) -> list[str]:
    """Return the options that make the folders above a place, open to every user."""
    made_anyway = {Path(folder) for folder in ("/", "/dev", *FOLDERS_IN_MEMORY)}
    options: list[str] = []
    for folder in reversed(Path(place).parents):
        if folder not in made_anyway:
            options += ["--perms", FOLDER_MODE, "--dir", str(folder)]
    return options
