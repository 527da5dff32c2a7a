"""Launch a sandbox with bubblewrap, or the warm server's restricted view."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytree_course.grading import limits
from pytree_course.grading.sandbox import policy
from pytree_course.grading.sandbox.bounds import new_group
from pytree_course.grading.sandbox.request import Sandbox, SandboxRequest
from pytree_course.grading.sandbox.system_calls import filter_instructions

_LAUNCHER = f'echo {policy.ENDED_FIRST} > /proc/self/oom_score_adj && echo 0 > "$0" && exec "$@"'
# What bubblewrap itself cannot set.
_SET = [
    f"mount -n -t devpts -o remount,nosuid,noexec,{policy.TERMINALS} devpts /dev/pts",
    *(f"echo {value} > {setting}" for setting, value in policy.SETTINGS.items()),
]


def make_sandbox(request: SandboxRequest) -> Sandbox:
    """Start a kernel in a new sandbox; it ends with the thread that called this."""
    channel, theirs = socket.socketpair()
    channel.setblocking(False)
    opened = {place: in_memory(text.encode()) for place, text in request.files.items()}
    call_filter = in_memory(bytes.fromhex(request.call_filter))
    group = new_group()
    nowhere = subprocess.DEVNULL
    inherited = (*opened.values(), call_filter, theirs.fileno())
    try:
        process = subprocess.Popen(
            sandboxed(
                policy.kernel_command(policy.CONNECTION_FILE),
                request.variables,
                call_filter,
                theirs.fileno(),
                opened,
                str(group.members) if group else os.devnull,
            ),
            env=own_variables(),
            stdin=nowhere,
            stdout=nowhere,
            stderr=nowhere,
            pass_fds=inherited,
            start_new_session=True,
        )
    finally:
        theirs.close()
        for file in (*opened.values(), call_filter):
            os.close(file)
    return Sandbox(process.pid, os.pidfd_open(process.pid), channel, process.wait, group)


def try_sandbox(command: Sequence[str], seconds: float) -> subprocess.CompletedProcess[str]:
    """Run a command in a sandbox until it ends."""
    call_filter = in_memory(filter_instructions())
    ours, theirs = socket.socketpair()
    with ours, theirs, open(call_filter, "rb"):
        return subprocess.run(
            sandboxed(command, policy.variables({}), call_filter, theirs.fileno()),
            env=own_variables(),
            pass_fds=[call_filter, theirs.fileno()],
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )


def own_variables() -> dict[str, str]:
    """Return bubblewrap's own environment variables: code inside can read them in /proc."""
    return {"PATH": os.environ.get("PATH", os.defpath)}


def sandboxed(
    command: Sequence[str],
    variables: Mapping[str, str],
    call_filter: int,
    channel: int,
    files: Mapping[str, int] | None = None,
    members: str = os.devnull,
) -> list[str]:
    """Return the command that runs a command inside a sandbox.

    The filter of system calls, and the files that are to be seen, are given as file descriptors;
    `channel` is where the supervisor reports calls, and `members` the file by which a process joins
    the sandbox's group.
    """
    own: list[str] = []
    for covered in policy.covered_files():
        own += ["--ro-bind", os.devnull, covered]
    for folder in policy.FOLDERS_IN_MEMORY:
        own += ["--perms", policy.OPEN_MODE, "--size", str(limits.FOLDER_BYTES), "--tmpfs", folder]
    for place, file in (files or {}).items():
        own += [*_folders_above(place), "--perms", policy.FILE_MODE, "--file", str(file), place]
    # Root is above the limit on processes, and may write to parts of /proc. So root, here or of a
    # namespace of its own, prepares the view, and hands it to a user without any rights.
    user = str(policy.sandbox_user())
    become = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--inh-caps=-all"]
    inside = str(policy.USER_INSIDE)
    bounds = [f"--{name}={bound}" for name, bound in policy.process_limits().items()]
    return [
        *("sh", "-c", _LAUNCHER, members, "bwrap", *_view(own, variables, "0"), "--"),
        *("sh", "-c", " && ".join((*_SET, 'exec "$@"')), "sh"),
        *((*become, "--") if os.geteuid() == 0 else ()),
        *("bwrap", "--unshare-user", "--uid", inside, "--gid", inside, "--cap-drop", "ALL"),
        *("--disable-userns", "--dev-bind", "/", "/"),
        # A process that may write there can have itself kept waiting (`autogroup`), and so use no
        # time.
        *("--remount-ro", "/proc", "--", "prlimit", *bounds, "--"),
        *(sys.executable, "-m", "pytree_course.grading.sandbox.supervisor"),
        *(str(call_filter), str(channel), *command),
    ]


def serving(command: Sequence[str]) -> list[str]:
    """Return the command that runs a server which makes sandboxes out of itself.

    It has the same view, but for what each sandbox has of its own: the folders in memory, the
    course, and /proc, which it may not mount anew for a sandbox where parts of it are covered. It
    keeps its rights in this view: no code of a learner may run in it.
    """
    own = [
        part
        for place in (*policy.FOLDERS_IN_MEMORY, policy.COURSE_INSIDE)
        for part in (*_folders_above(place), "--perms", policy.FOLDER_MODE, "--dir", place)
    ]
    user = str(policy.USER_INSIDE)
    return ["bwrap", *_view(own, policy.variables({}), user), "--", *command]


def _view(own: Sequence[str], variables: Mapping[str, str], user: str) -> list[str]:
    """Return the options that make what is seen and reached inside, all rights in there kept.

    `own` makes what each sandbox has of its own; `user` is who an ordinary user is inside.
    """
    options = [
        *(() if os.geteuid() == 0 else ("--unshare-user", "--uid", user, "--gid", user)),
        *("--cap-add", "ALL", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--new-session"),
        *("--hostname", policy.HOST_NAME, "--clearenv", "--proc", "/proc", "--dev", "/dev"),
    ]
    for name, value in variables.items():
        options += ["--setenv", name, value]
    for device in policy.COVERED_DEVICES:
        options += ["--dev-bind", os.devnull, device]
    options += own
    for place, target in policy.shown_links().items():
        options += ["--symlink", target, place]
    for source, place in policy.shown_folders().items():
        options += [*_folders_above(place), "--ro-bind", str(source), place]
    for folder in policy.covered_folders():
        options += ["--tmpfs", folder, "--remount-ro", folder]
    options += [*_folders_above("/etc/x"), "--ro-bind-try", *["/etc/ld.so.cache"] * 2]
    # What bubblewrap makes to mount things on is memory without a bound, unless it is read-only.
    return [*options, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]


def _folders_above(place: str) -> list[str]:
    """Return the options that make the folders above a place, open to every user."""
    return [
        option
        for folder in reversed(Path(place).parents)
        if folder not in map(Path, ("/", "/dev", *policy.FOLDERS_IN_MEMORY))
        for option in ("--perms", policy.FOLDER_MODE, "--dir", str(folder))
    ]


def in_memory(content: bytes) -> int:
    """Return a content as an open file that is in no folder."""
    file = os.memfd_create("shown")
    with open(file, "wb", closefd=False) as writing:
        writing.write(content)
    os.lseek(file, 0, os.SEEK_SET)
    return file
