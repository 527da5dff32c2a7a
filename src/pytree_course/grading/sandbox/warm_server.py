"""The warm server's own process: import what kernels need, fork a sandbox for each kernel.

No learner's code runs in it, and it does not read the requests: every sandbox has a copy of its
memory. It starts no thread, and nothing of JAX that has threads: a fork has none of them.
"""

import gc
import importlib
import os
import socket
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytree_course
from pytree_course.grading.sandbox import policy
from pytree_course.grading.sandbox.enter import enter_sandbox, leave_namespaces, reporting_failure
from pytree_course.grading.sandbox.request import READY

if TYPE_CHECKING:
    from ipykernel.kernelapp import IPKernelApp

_IMPORTED = (
    # what a kernel imports only when it starts
    *("debugpy.server.api", "faulthandler", "ipykernel.debugger", "ipykernel.kernelapp", "sqlite3"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect"),
    *("IPython.extensions.storemagic", "IPython.terminal.pt_inputhooks", "IPython.utils.wildcard"),
    *("pytree_course.ipython", "tornado.platform.asyncio"),
    # what an exercise notebook's set-up cell imports
    *("jax", "jax.numpy", "numpy"),
)
_LAUNCHER = str(getattr(find_spec("ipykernel_launcher"), "origin", ""))
_COURSE_NAMES = ("Checks", "draw", "show_progress")  # each imports its modules when first used


def main() -> None:
    """Serve on the standard input until it ends; in each sandbox become a kernel."""
    requests = socket.socket(fileno=0)
    for name in _IMPORTED:
        importlib.import_module(name)
    for name in _COURSE_NAMES:
        getattr(pytree_course, name)
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
    with reporting_failure(channel):
        leave_namespaces(channel)
        if os.fork():
            os._exit(0)
        enter_sandbox(channel)
        kernel = _kernel()
        channel.sendall(READY)
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


if __name__ == "__main__":
    # As in a kernel that is started afresh, no module is imported from the current folder.
    del sys.path[0]
    main()
