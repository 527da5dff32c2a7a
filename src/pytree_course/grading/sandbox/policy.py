"""The sandbox's view: visible files, variables, process limits, and how bubblewrap makes it.

How much it may use up is in `limits`, and what it may ask of the operating system in
`system_calls`.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytree_course
from pytree_course import compiled
from pytree_course.grading import limits

ENGINE_VARIABLE = "PYTREE_COURSE_KERNELS"
"""Tests and benchmarks set it to "fresh": each sandbox is then made of a fresh process."""

USER_INSIDE = 1000
HOST_NAME = "sandbox"
COURSE_INSIDE = "/course"
CONNECTION_FILE = "/tmp/kernel.json"  # where the kernel finds the names of its sockets, and its key
TMP = "/tmp"  # where the kernel works and has its sockets
FOLDERS_IN_MEMORY = (TMP, "/dev/shm")  # those that can be written; nothing else can
_SYSTEM = (Path("/bin"), Path("/lib"), Path("/lib64"))  # links into /usr, but on old systems
_PROGRAMS = "/compiled"  # where the author's compiled programs are seen, but cannot be listed

# Where memory is short, Linux ends what runs inside, and not the grading.
ENDED_FIRST = "1000"
FOLDER_MODE, OPEN_MODE, FILE_MODE = "0755", "1777", 0o444  # the second, of folders in memory
HOSTS = {"/tmp/hosts": "127.0.0.1 localhost\n"}  # what /etc/hosts leads to
COVERED_DEVICES = ("/dev/tty", "/dev/zero")  # the teacher's; and what is memory once it is mapped
# What waits in the sockets of its own, empty network is memory.
SETTINGS = {
    "/proc/sys/net/ipv4/tcp_rmem": "4096 65536 131072",
    "/proc/sys/net/ipv4/tcp_wmem": "4096 16384 131072",
}
# IPython runs `!ls` in a terminal. A machine has only so many.
TERMINALS = f"newinstance,ptmxmode=0666,mode=620,max={limits.TERMINALS}"


def kernel_command(connection_file: str) -> list[str]:
    """Return the command that starts a kernel of this Python."""
    import ipykernel.kernelspec  # which the warm server does without

    parts = ipykernel.kernelspec.get_kernel_dict()["argv"]
    return [part.replace("{connection_file}", connection_file) for part in parts]


def shown_folders() -> dict[Path, str]:
    """Return the folders that are seen, read-only, and where: the system's, Python's, this code."""
    programs = {compiled.visible_programs(): _PROGRAMS} if _has_programs() else {}
    own = {folder: str(folder) for folder in python_folders()}
    old = [folder for folder in _SYSTEM if not folder.is_symlink() and folder.exists()]
    return {Path("/usr"): "/usr", **own, **programs, **{folder: str(folder) for folder in old}}


def shown_links() -> dict[str, str]:
    """Return the links to be seen, each with what it leads to."""
    links = {str(folder): str(folder.readlink()) for folder in _SYSTEM if folder.is_symlink()}
    return {**links, "/etc/hosts": next(iter(HOSTS))}


def covered_files() -> list[str]:
    """Return the files that tell which keys the user has, to each process of the same user."""
    return [file for file in ("/proc/keys", "/proc/key-users") if Path(file).exists()]


def covered_folders() -> list[str]:
    """Return the folders that are seen empty, though they lie in one that is shown."""
    return [str(compiled.CACHE)] if compiled.CACHE.is_dir() else []


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return all environment variables inside, given those besides what Python needs anyway."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": "/tmp",
        "USER": "learner",
        "LANG": "C.UTF-8",
        "JAX_PLATFORMS": "cpu",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        **(compiled.kernel_variables(_PROGRAMS) if _has_programs() else {}),
        **environment,
    }


def _has_programs() -> bool:
    compiled.make_folders()
    return compiled.visible_programs().is_dir()


def process_limits() -> dict[int, int]:
    """Return the limits of each process inside."""
    import resource  # which is not everywhere that kernels start

    return {
        resource.RLIMIT_DATA: limits.MEMORY,
        resource.RLIMIT_NPROC: limits.PROCESSES,
        resource.RLIMIT_FSIZE: limits.FILE_BYTES,
        resource.RLIMIT_CPU: limits.CPU_SECONDS,
        resource.RLIMIT_NOFILE: limits.OPEN_FILES,
        resource.RLIMIT_SIGPENDING: limits.SIGNALS,
        resource.RLIMIT_CORE: 0,
    }


def sandbox_user() -> int:
    """Return the user id of the code inside, as the outside sees it."""
    # Root takes another user for each process that grades, so that one sandbox cannot use up the
    # processes or touch the sockets of another.
    return os.geteuid() or 20_000 + os.getpid() % 40_000


def python_folders() -> list[Path]:
    """Return the folders of Python, its environment and this package that are not in /usr."""
    package = Path(pytree_course.__file__).resolve().parents[1]
    wanted = {Path(sys.base_prefix), Path(sys.prefix), Path(sys.executable).resolve().parents[1]}
    inside = [*wanted, Path("/usr")]
    if not any(package.is_relative_to(folder) for folder in inside):
        wanted.add(package)
    return sorted(folder for folder in wanted if not folder.is_relative_to("/usr"))


def in_view(command: Sequence[str]) -> list[str]:
    """Return the command that runs a command in the view of a sandbox, all rights in there kept.

    The view lacks what each sandbox has of its own (the folders in memory, the course, and /proc,
    which may not be mounted again where parts of it are covered). No code of a learner may run in
    it before it has entered a sandbox.
    """
    user = str(USER_INSIDE)
    options = [
        *(() if os.geteuid() == 0 else ("--unshare-user", "--uid", user, "--gid", user)),
        *("--cap-add", "ALL", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
        *("--hostname", HOST_NAME, "--clearenv", "--proc", "/proc", "--dev", "/dev"),
    ]
    for name, value in variables({}).items():
        options += ["--setenv", name, value]
    for device in COVERED_DEVICES:
        options += ["--dev-bind", os.devnull, device]
    for place in (*FOLDERS_IN_MEMORY, COURSE_INSIDE):
        options += [*_folders_above(place), "--perms", FOLDER_MODE, "--dir", place]
    for place, target in shown_links().items():
        options += [*_folders_above(place), "--symlink", target, place]
    for source, place in shown_folders().items():
        options += [*_folders_above(place), "--ro-bind", str(source), place]
    for folder in covered_folders():
        options += ["--tmpfs", folder, "--remount-ro", folder]
    options += ["--ro-bind-try", *["/etc/ld.so.cache"] * 2]
    # What bubblewrap makes to mount things on is memory without a bound, unless it is read-only.
    options += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
    return ["bwrap", *options, "--", *command]


def _folders_above(place: str) -> list[str]:
    """Return the options that make the folders above a place, open to every user."""
    return [
        option
        for folder in reversed(Path(place).parents)
        if folder not in map(Path, ("/", "/dev", *FOLDERS_IN_MEMORY))
        for option in ("--perms", FOLDER_MODE, "--dir", str(folder))
    ]
