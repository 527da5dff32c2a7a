"""The warm server, inside: it has imported what kernels need, and forks a sandbox per kernel.

No code of a learner runs in it, and nothing that is asked for is read in it: what it has in memory,
every sandbox has. For the same reason it starts no thread, and nothing of JAX that has threads.
"""

import gc
import importlib
import json
import os
import socket
import sys
import traceback
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from ipykernel.kernelapp import IPKernelApp
from jax._src.xla_bridge import backends_are_initialized

from pytree_course.grading.sandbox_request import READY, SandboxRequest
from pytree_course.grading.warm_sandbox import fork_sandbox

_IMPORTED = (
    # what a kernel imports only when it starts
    *("debugpy.server.api", "ipykernel.debugger", "ipykernel.zmqshell", "sqlite3"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.extensions.storemagic"),
    *("pytree_course.ipython", "tornado.platform.asyncio"),
    # what an exercise notebook's set-up cell imports
    *("jax", "jax.numpy", "numpy", "pytree_course"),
)
_LAUNCHER = str(getattr(find_spec("ipykernel_launcher"), "origin", ""))
_IMPORTED_NAMES = ("Checks", "draw", "show_progress")  # of the course's package


def main() -> None:
    """Serve on the standard input until it ends; in each sandbox become a kernel."""
    course = [importlib.import_module(name) for name in _IMPORTED][-1]
    for name in _IMPORTED_NAMES:
        getattr(course, name)
    channel = _serve(socket.socket(fileno=0))
    if channel is not None:
        _kernel_in_sandbox(channel).start()


def _serve(requests: socket.socket) -> socket.socket | None:
    """Fork a process for each channel that comes in; return in each of them, and in the end."""
    gc.collect()
    gc.freeze()  # a collection in a sandbox would write to memory that all share
    while True:
        _, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
        if not descriptors:
            return None
        _require_forkable()
        channel = socket.socket(fileno=descriptors[0])
        child = os.fork()
        if not child:
            requests.detach()
            return channel
        channel.close()
        os.waitpid(child, 0)


def _require_forkable() -> None:
    """Fail where a fork could hang: threads that hold locks are not there in the child."""
    if len(os.listdir("/proc/self/task")) > 1 or backends_are_initialized():
        raise RuntimeError("the warm server has threads")


def _kernel_in_sandbox(channel: socket.socket) -> IPKernelApp:
    """Make a kernel in a sandbox of its own; outside it is told that it listens, or what failed."""
    try:
        kernel = _kernel(fork_sandbox(channel))
        channel.sendall(READY)
    except BaseException:
        channel.sendall(traceback.format_exc().encode())
        os._exit(1)
    channel.close()
    return kernel


def _kernel(request: SandboxRequest) -> IPKernelApp:
    """Return the kernel that a fresh process would be, not yet started."""
    np.random.seed()  # otherwise the same in every sandbox; Python's own `random` sees to itself
    file = Path("/tmp/kernel.json")
    file.touch(0o600)
    file.write_text(json.dumps(request.connection), encoding="utf-8")
    sys.argv = [_LAUNCHER, "-f", str(file)]
    kernel = IPKernelApp.instance()
    kernel.initialize()
    if "ipywidgets" in sys.modules:  # which looks for a kernel when it is imported
        sys.modules["ipywidgets"].load_ipython_extension(kernel.shell)
    return kernel


if __name__ == "__main__":
    # As the program does that starts a kernel: it is not where modules are looked for.
    del sys.path[0]
    main()
