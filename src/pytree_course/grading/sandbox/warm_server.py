"""The warm server's own process: import what kernels need, fork a sandbox for each kernel.

No learner's code runs in it, and it does not read the requests: every sandbox has a copy of its
memory. It starts no thread, and nothing of JAX that has threads: a fork has none of them.
"""

import fcntl
import gc
import importlib
import os
import resource
import socket
import struct
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pytree_course.grading import limits
from pytree_course.grading.sandbox import linux, policy
from pytree_course.grading.sandbox.policy import COURSE_INSIDE, FOLDERS_IN_MEMORY, USER_INSIDE
from pytree_course.grading.sandbox.request import CALL, FAILED, READY, SandboxRequest
from pytree_course.grading.sandbox.supervisor import confine

if TYPE_CHECKING:
    from ipykernel.kernelapp import IPKernelApp

_IMPORTED = (
    # what a kernel imports only when it starts
    *("debugpy.server.api", "faulthandler", "ipykernel.debugger", "ipykernel.kernelapp", "sqlite3"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect"),
    *("IPython.extensions.storemagic", "IPython.terminal.pt_inputhooks", "IPython.utils.wildcard"),
    *("pytree_course.ipython", "tornado.platform.asyncio"),
    # what an exercise notebook's set-up cell imports
    *("jax", "jax.numpy", "numpy", "pytree_course"),
)
_LAUNCHER = str(getattr(find_spec("ipykernel_launcher"), "origin", ""))
_IMPORTED_NAMES = ("Checks", "draw", "show_progress")  # of the course's package

_UP = 1  # of a network interface
_GET_FLAGS, _SET_FLAGS = 0x8913, 0x8914  # of ioctl
_FILE = linux.NO_SETUID | linux.NO_DEVICES  # how file systems are mounted


def main() -> None:
    """Serve on the standard input until it ends; in each sandbox become a kernel."""
    requests = socket.socket(fileno=0)
    course = [importlib.import_module(name) for name in _IMPORTED][-1]
    for name in _IMPORTED_NAMES:
        getattr(course, name)
    gc.collect()
    gc.freeze()  # a collection in a sandbox would write to memory that all share
    while True:
        _, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
        if not descriptors:
            return  # no process that could ask is left
        _require_forkable()
        channel = socket.socket(fileno=descriptors[0])
        child = os.fork()
        if not child:
            requests.detach()
            _kernel_in_sandbox(channel).start()
            return
        channel.close()
        os.waitpid(child, 0)


def _require_forkable() -> None:
    """Fail where a fork could hang: threads that hold locks are not there in the child."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    has_backend = bridge is not None and bridge.backends_are_initialized()
    if len(os.listdir("/proc/self/task")) > 1 or has_backend:
        raise RuntimeError("the warm server has threads")


def _kernel_in_sandbox(channel: socket.socket) -> "IPKernelApp":
    """Return a kernel in a new sandbox; tell the grading process so, or what failed."""
    try:
        fork_sandbox(channel)
        kernel = _kernel()
        channel.sendall(CALL.pack(READY, 0, 0))
    except BaseException:
        channel.sendall(CALL.pack(FAILED, 0, 0) + traceback.format_exc().encode())
        os._exit(1)
    channel.close()
    return kernel


def _kernel() -> "IPKernelApp":
    """Return the kernel that a fresh process would be, not yet started."""
    import numpy as np
    from ipykernel.kernelapp import IPKernelApp

    np.random.seed()  # otherwise the same in every sandbox; Python's own `random` sees to itself
    sys.argv = [_LAUNCHER, "-f", policy.CONNECTION_FILE]
    kernel = IPKernelApp.instance()
    kernel.initialize()
    if "ipywidgets" in sys.modules:  # which looks for a kernel when it is imported
        sys.modules["ipywidgets"].load_ipython_extension(kernel.shell)
    return kernel


def fork_sandbox(channel: socket.socket) -> None:
    """Make a sandbox, and return in the process that may run untrusted code.

    The calling process exits as soon as the sandbox's init process has started. The request comes
    over the channel, and a pidfd of the init process goes back. The sandbox ends when its kernel
    does, or when the grading process closes its end of the channel.
    """
    _keep_open_only(channel.fileno())
    Path("/proc/self/oom_score_adj").write_text(policy.ENDED_FIRST, encoding="ascii")
    is_root = os.geteuid() == 0
    user, group = os.geteuid(), os.getegid()
    linux.unshare(sum(linux.NEW_NAMESPACES) | (0 if is_root else linux.NEW_USER))
    if not is_root:
        linux.map_user(USER_INSIDE, user, group)
    if os.fork():
        os._exit(0)  # only what it starts from now on is in the new process namespace
    os.setsid()
    process = os.pidfd_open(os.getpid())
    socket.send_fds(channel, [b"\0"], [process])
    os.close(process)
    request = SandboxRequest.received(channel)
    _make_view(request)
    _start_loopback()
    for setting, value in policy.SETTINGS.items():
        Path(setting).write_text(value, encoding="ascii")
    if is_root:
        _become(request.user)
    Path("/proc/sys/user/max_user_namespaces").write_text("0", encoding="ascii")
    linux.make_read_only("/proc")
    for name, bound in policy.process_limits().items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name.upper()}"), (bound, bound))
    linux.drop_privileges()
    linux.set_dumpable(True)  # as a program is that has just been started
    # The first process is not the kernel itself: signals that it sends itself would be ignored.
    confine(bytes.fromhex(request.call_filter), channel)
    os.chdir(FOLDERS_IN_MEMORY[0])
    os.environ.update(request.variables)


def _keep_open_only(kept: int) -> None:
    """Close all other files, and point the standard streams to /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in range(3):
        os.dup2(nowhere, standard)
    last = max(map(int, os.listdir("/proc/self/fd")))
    os.closerange(3, kept)
    os.closerange(kept + 1, last + 1)


def _make_view(request: SandboxRequest) -> None:
    """Mount what is private to each sandbox; the server's view already has the rest."""
    linux.mounts_are_own()
    linux.mount("proc", "/proc", _FILE | linux.NO_PROGRAMS)
    for place in FOLDERS_IN_MEMORY:
        _mount_memory(place)
    terminals = linux.NO_SETUID | linux.NO_PROGRAMS
    linux.mount("devpts", "/dev/pts", terminals, policy.TERMINALS)
    for place in policy.covered_files():
        linux.cover(place)
    linux.mount("tmpfs", COURSE_INSIDE, _FILE, f"mode={policy.FOLDER_MODE}")
    for place, text in request.files.items():
        file = Path(place)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        file.chmod(int(policy.FILE_MODE, 8))
    linux.make_read_only(COURSE_INSIDE)


def _mount_memory(place: str) -> None:
    """Mount a tmpfs, and keep the parts of Python below it visible."""
    folders = policy.python_folders()
    shown = [folder for folder in folders if folder.is_relative_to(place)]
    opened = [os.open(folder, os.O_PATH | os.O_DIRECTORY) for folder in shown]
    linux.mount("tmpfs", place, _FILE, f"mode={policy.OPEN_MODE},size={limits.FOLDER_BYTES}")
    for folder, descriptor in zip(shown, opened, strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        linux.bind(f"/proc/self/fd/{descriptor}", str(folder))
        os.close(descriptor)


def _start_loopback() -> None:
    """Switch on the new network's loopback interface, as bubblewrap does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        named = struct.pack("16sh14x", b"lo", 0)
        _, flags = struct.unpack("16sh14x", fcntl.ioctl(any_socket, _GET_FLAGS, named))
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))


def _become(user: int) -> None:
    """As root, become an unprivileged user in a user namespace of its own."""
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    linux.set_dumpable(True)
    linux.unshare(linux.NEW_USER | linux.NEW_MOUNTS)
    linux.map_user(USER_INSIDE, user, user)


if __name__ == "__main__":
    # As the program does that starts a kernel: it is not where modules are looked for.
    del sys.path[0]
    main()
