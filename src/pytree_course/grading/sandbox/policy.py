"""The sandbox's view: visible files, variables, limits of each process; bubblewrap's command."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytree_course
from pytree_course import compiled, jax_configuration
from pytree_course.grading import limits

USER_INSIDE = 1000
TMP = "/tmp"  # the kernel's working folder, which also has its sockets
CONNECTION_FILE = f"{TMP}/kernel.json"  # the names of its sockets, and its key
COURSE_INSIDE = "/course"
WRITABLE_FOLDERS = (TMP, "/dev/shm")  # in memory
HIDDEN_PROC_FILES = ("/proc/keys", "/proc/key-users")  # they list keys of the grading user
FOLDER_MODE, WRITABLE_FOLDER_MODE = "0755", "1777"  # as options of bubblewrap and of mounts
FILE_MODE = 0o444

# Symbolic links into /usr, except on old distributions, which have folders.
_SYSTEM_FOLDERS = (Path("/bin"), Path("/lib"), Path("/lib64"))
# The user ids of root's sandboxes. No account should have one; containers may have only 65,536.
_FIRST_USER, _USER_COUNT = 20_000, 40_000

# Ours; and, for `require_limits`, how `ulimit` shows the machine's own: its option, its unit.
PROCESS_LIMITS = {
    "RLIMIT_DATA": (limits.MEMORY, "d", 1024),
    "RLIMIT_NPROC": (limits.THREADS, "u", 1),
    "RLIMIT_FSIZE": (limits.FILE_BYTES, "f", 1024),
    "RLIMIT_CPU": (limits.CPU_SECONDS, "t", 1),
    "RLIMIT_NOFILE": (limits.OPEN_FILES, "n", 1),
}
OOM_SCORE = "1000"  # if memory runs short, Linux ends the processes inside before the grading
# IPython runs `!ls` in a terminal, and a machine has a limited number of them.
TERMINAL_OPTIONS = f"newinstance,ptmxmode=0666,mode=620,max={limits.TERMINALS}"


def kernel_command(connection_file: str) -> list[str]:
    """Return the command that starts a kernel of this Python."""
    import ipykernel.kernelspec  # not above: the warm server never needs it

    parts = ipykernel.kernelspec.get_kernel_dict()["argv"]
    return [part.replace("{connection_file}", connection_file) for part in parts]


def visible_folders() -> list[Path]:
    """Return the visible, read-only folders: the system's, Python's and this package's."""
    system = [folder for folder in _SYSTEM_FOLDERS if folder.is_dir() and not folder.is_symlink()]
    return [Path("/usr"), *system, *python_folders()]


def python_folders() -> list[Path]:
    """Return the folders of Python, its environment and this package that are not in /usr."""
    base = Path(sys.executable).resolve().parents[1]
    folders = {Path(sys.base_prefix), Path(sys.prefix), base}
    package = Path(pytree_course.__file__).resolve().parents[1]
    if not any(package.is_relative_to(folder) for folder in folders):
        folders.add(package)
    return sorted(folder for folder in folders if not folder.is_relative_to("/usr"))


def default_variables() -> dict[str, str]:
    """Return the environment variables of every kernel."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": TMP,
        "USER": "learner",
        "LANG": "C.UTF-8",
        **jax_configuration.VARIABLES,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **compiled.kernel_variables(),
    }


def process_limits() -> dict[int, int]:
    """Return the limits of each process inside: ours, or the machine's own where it is lower."""
    import resource  # not above: Windows has none, and plain kernels start there too

    found = {resource.RLIMIT_CORE: 0}
    for name, (value, _, _) in PROCESS_LIMITS.items():
        limit = getattr(resource, name)
        _, most = resource.getrlimit(limit)
        found[limit] = value if most == resource.RLIM_INFINITY else min(value, most)
    return found


def sandbox_user() -> int:
    """Return the user id of the code inside, as the outside sees it."""
    user = os.geteuid()
    if user != 0:
        return user
    # Grading processes hardly ever share a user, so one sandbox cannot use up the processes or
    # touch the sockets of another.
    return _FIRST_USER + os.getpid() % _USER_COUNT


def bwrap_command(command: Sequence[str]) -> list[str]:
    """Wrap a command in bubblewrap: it sees the sandbox's view and has every capability inside it.

    Each sandbox mounts its private parts itself: the writable folders, the course and /proc. No
    part of /proc is covered yet, because Linux would then refuse to mount it again. So learner code
    must not run here before it has entered a sandbox.
    """
    return ["bwrap", *_namespace_options(), *_mount_options(), "--", *command]


def _namespace_options() -> list[str]:
    """Return the options for the namespaces, the user and the environment variables."""
    options = ["--cap-add", "ALL", "--die-with-parent", "--new-session"]
    options += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--hostname", "sandbox"]
    if os.geteuid() != 0:
        options += ["--unshare-user", "--uid", str(USER_INSIDE), "--gid", str(USER_INSIDE)]
    options.append("--clearenv")
    for name, value in default_variables().items():
        options += ["--setenv", name, value]
    return options


def _mount_options() -> list[str]:
    """Return the options for the visible files and folders."""
    options = ["--proc", "/proc", "--dev", "/dev"]
    for path in (*WRITABLE_FOLDERS, COURSE_INSIDE):
        options += [*_parent_options(path), "--perms", FOLDER_MODE, "--dir", path]
    for path in map(str, visible_folders()):
        options += [*_parent_options(path), "--ro-bind", path, path]
    for folder in _SYSTEM_FOLDERS:
        if folder.is_symlink():
            options += ["--symlink", str(folder.readlink()), str(folder)]
    options += [*_parent_options("/etc/ld.so.cache"), "--ro-bind-try"]
    options += ["/etc/ld.so.cache", "/etc/ld.so.cache"]
    # bubblewrap's root is an unbounded tmpfs: nothing may be written there.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", TMP]
    return options


def _parent_options(path: str) -> list[str]:
    """Return the options that make a path's parent folders; bubblewrap's own are private."""
    options: list[str] = []
    for folder in reversed(Path(path).parents):
        options += ["--perms", FOLDER_MODE, "--dir", str(folder)]
    return options
