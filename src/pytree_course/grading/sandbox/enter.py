"""Enter a sandbox: new namespaces, private mounts, no privileges, limits, the system-call filter.

This runs in the view that bubblewrap has made, before any untrusted code, in three processes, each
a fork of the one before: a process of the view calls `leave_namespaces`; the sandbox's first one
calls `enter_sandbox`, which sets up the sandbox and waits for its end; in the kernel, that returns.
Run as a program, this makes one sandbox, and its kernel's process becomes another program.
"""

import json
import os
import resource
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from pytree_course import compiled
from pytree_course.grading import limits
from pytree_course.grading.sandbox import linux, policy

READY = b"+"
"""What a new sandbox sends on its channel; anything else is the text of an error."""

_UNLISTABLE = 0o311
_MOUNT_FLAGS = linux.MS_NOSUID | linux.MS_NODEV


@dataclass(frozen=True)
class SandboxRequest:
    """A launch request. The warm server does not read it; the new sandbox does."""

    user: int  # the user id of its processes, as the outside sees it
    call_filter: str  # seccomp instructions in hexadecimal: libseccomp cannot be loaded inside
    variables: dict[str, str]  # added to the default environment variables, or overriding them
    files: dict[str, str]  # texts of read-only files, by path

    def to_bytes(self) -> bytes:
        """Encode it for the channel."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def receive(cls, channel: socket.socket) -> "SandboxRequest":
        """Read a request from a channel up to its end."""
        with channel.makefile("rb") as file:
            return cls(**json.load(file))


def leave_namespaces(channel: socket.socket) -> None:
    """Leave the outside's namespaces, and close all files except the channel.

    Only processes that this one forks from now on are in the new process namespace.
    """
    _close_files_except(channel.fileno())
    Path("/proc/self/oom_score_adj").write_text(policy.OOM_SCORE, encoding="ascii")
    user, group = os.geteuid(), os.getegid()
    namespaces = linux.CLONE_NEWNS | linux.CLONE_NEWCGROUP | linux.CLONE_NEWUTS
    namespaces |= linux.CLONE_NEWIPC | linux.CLONE_NEWPID | linux.CLONE_NEWNET
    if user == 0:
        linux.unshare(namespaces)
    else:
        linux.unshare(namespaces | linux.CLONE_NEWUSER)  # Linux makes the user namespace first
        linux.map_user(policy.USER_INSIDE, user, group)


def enter_sandbox(channel: socket.socket) -> None:
    """Turn the new namespaces into a sandbox; return in the process that may run untrusted code.

    Send a pidfd of the sandbox's first process over the channel, and receive the request. The
    sandbox ends when the returning process does, or when the grading process closes its end of the
    channel.
    """
    os.setsid()
    pidfd = os.pidfd_open(os.getpid())
    socket.send_fds(channel, [b"\0"], [pidfd])
    os.close(pidfd)
    request = SandboxRequest.receive(channel)
    _mount_private_parts(request)
    if os.geteuid() == 0:
        _become_unprivileged(request.user)
    # No code inside makes a user namespace, in which it would have every capability.
    Path("/proc/sys/user/max_user_namespaces").write_text("0", encoding="ascii")
    linux.make_read_only("/proc")
    for limit, value in policy.process_limits().items():
        resource.setrlimit(limit, (value, value))
    linux.drop_privileges()
    linux.set_dumpable(True)  # as in a program that has just been started
    # Linux ignores signals that a namespace's first process sends itself, so the kernel is another.
    kernel_pid = os.fork()
    if kernel_pid:
        _exit_with(kernel_pid, channel)
    linux.install_filter(bytes.fromhex(request.call_filter))
    os.chdir(policy.TMP)
    os.environ.update(request.variables)


@contextmanager
def report_failure(channel: socket.socket) -> Iterator[None]:
    """Send the text of an exception to the grading process, and exit."""
    try:
        yield
    except BaseException as error:
        channel.sendall("".join(traceback.format_exception_only(error)).encode())
        os._exit(1)


def _exit_with(kernel_pid: int, channel: socket.socket) -> NoReturn:
    """Exit as soon as the kernel or the grading process has ended.

    This is the sandbox's first process: all others end with it.
    """
    linux.set_dumpable(False)  # code inside cannot inspect this process
    ended = select.poll()
    ended.register(channel, 0)  # no events: only the closing of its other end is reported
    ended.register(os.pidfd_open(kernel_pid), select.POLLIN)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # unhandled, code inside cannot send it here
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans that end leave no zombies
    ended.poll()
    os._exit(0)


def _close_files_except(file: int) -> None:
    """Close all other files, and point the standard streams to /dev/null."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard_stream in range(3):
        os.dup2(null, standard_stream)
    last = max(map(int, os.listdir("/proc/self/fd")))
    os.closerange(3, file)
    os.closerange(file + 1, last + 1)


def _mount_private_parts(request: SandboxRequest) -> None:
    """Mount the parts of the view that bubblewrap left out, because each sandbox has its own."""
    linux.make_mounts_private()
    linux.mount("proc", "/proc", _MOUNT_FLAGS | linux.MS_NOEXEC)
    for path in policy.WRITABLE_FOLDERS:
        _mount_folder_in_memory(path)
    _make_programs_unlistable()
    linux.mount("devpts", "/dev/pts", linux.MS_NOSUID | linux.MS_NOEXEC, policy.TERMINAL_OPTIONS)
    for path in policy.HIDDEN_PROC_FILES:
        if os.path.exists(path):
            linux.cover(path)
    linux.mount("tmpfs", policy.COURSE_INSIDE, _MOUNT_FLAGS, f"mode={policy.FOLDER_MODE}")
    for path, text in request.files.items():
        file = Path(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(policy.FILE_MODE)
    linux.make_read_only(policy.COURSE_INSIDE)


def _mount_folder_in_memory(path: str) -> None:
    """Mount a tmpfs, and keep the parts of Python below it visible."""
    hidden = [folder for folder in policy.python_folders() if folder.is_relative_to(path)]
    descriptors = {folder: os.open(folder, os.O_PATH | os.O_DIRECTORY) for folder in hidden}
    options = f"mode={policy.WRITABLE_FOLDER_MODE},size={limits.FOLDER_BYTES}"
    linux.mount("tmpfs", path, _MOUNT_FLAGS, f"{options},nr_inodes={limits.FILES}")
    for folder, descriptor in descriptors.items():
        folder.mkdir(parents=True, exist_ok=True)
        linux.bind(f"/proc/self/fd/{descriptor}", str(folder))
        os.close(descriptor)


def _make_programs_unlistable() -> None:
    """Cover the folder of compiled programs with one that has the same files and cannot be listed.

    Its mode outside would not do: code inside runs as the owner, who has to list it to delete it.
    """
    folder = Path(os.environ.get(compiled.FOLDER_VARIABLE, ""))
    if not folder.is_absolute():
        return  # there are none
    all_kinds = folder.parent  # of processors
    programs = os.open(folder, os.O_PATH) if folder.is_dir() else None
    linux.mount("tmpfs", str(all_kinds), _MOUNT_FLAGS, f"mode={policy.FOLDER_MODE}")
    folder.mkdir()
    folder.chmod(_UNLISTABLE)
    linux.make_read_only(str(all_kinds))
    if programs is not None:
        _show_files_of(programs, folder)
        os.close(programs)


def _show_files_of(hidden: int, folder: Path) -> None:
    """Show the files of a hidden folder, opened before, in an empty one, which keeps its mode."""
    empty = os.open(folder, os.O_PATH)
    # Before Linux 5.11, only root may do this: others' kernels find an empty folder, and compile.
    with suppress(OSError):
        layers = f"lowerdir=/proc/self/fd/{empty}:/proc/self/fd/{hidden}"  # the first has the mode
        linux.mount("overlay", str(folder), _MOUNT_FLAGS | linux.MS_RDONLY, layers)
    os.close(empty)


def _become_unprivileged(user: int) -> None:
    """As root, become another user in a new user namespace."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWNS)
    linux.map_user(policy.USER_INSIDE, user, user)


def main() -> None:
    """Make a sandbox, and become the given command inside it."""
    _, *command = sys.argv
    channel = socket.socket(fileno=os.dup(0))
    with report_failure(channel):
        leave_namespaces(channel)
        first_inside = os.fork()
        if first_inside:
            os.waitpid(first_inside, 0)  # bubblewrap's view ends with this process
            os._exit(0)
        enter_sandbox(channel)
        channel.sendall(READY)
        os.execv(command[0], command)


if __name__ == "__main__":
    main()
