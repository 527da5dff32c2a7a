"""The warm server: import the modules that kernels need, then fork a sandbox for each kernel.

Every sandbox has a copy of the server's memory, so no learner's code runs in the server, and it
does not read the requests. A fork has no threads, so the server starts none, nor a JAX backend.
"""

import gc
import importlib
import os
import socket
import sys
from importlib.util import find_spec

import numpy as np
from ipykernel.kernelapp import IPKernelApp

import pytree_course
from pytree_course.grading.sandbox import policy
from pytree_course.grading.sandbox.enter import (
    READY,
    enter_sandbox,
    leave_namespaces,
    report_failure,
)

_MODULES = (
    # imported by a kernel when it starts
    *("debugpy.server.api", "faulthandler", "ipykernel.debugger", "ipykernel.kernelapp", "sqlite3"),
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.oinspect"),
    *("IPython.extensions.storemagic", "IPython.terminal.pt_inputhooks", "IPython.utils.wildcard"),
    *("pytree_course.ipython", "tornado.platform.asyncio"),
    # imported by an exercise notebook's set-up cell
    *("jax", "jax.numpy", "numpy"),
)
# What a kernel's `sys.argv` begins with if it was started as usual, by `-m ipykernel_launcher`.
_LAUNCHER = str(getattr(find_spec("ipykernel_launcher"), "origin", ""))
_COURSE_NAMES = ("Checks", "draw", "show_progress")  # each imports its modules when first used


def main() -> None:
    """Serve requests on the standard input until it is closed; in each sandbox, run a kernel."""
    requests = socket.socket(fileno=0)
    for name in _MODULES:
        importlib.import_module(name)
    for name in _COURSE_NAMES:
        getattr(pytree_course, name)
    gc.collect()
    gc.freeze()  # a collection in a sandbox would copy memory that all sandboxes share
    while True:
        _, descriptors, _, _ = socket.recv_fds(requests, 1, 1)
        if not descriptors:
            return  # all processes that could send a request have ended
        _require_forkable()
        channel = socket.socket(fileno=descriptors[0])
        child = os.fork()
        if child == 0:
            requests.detach()  # the next line closes it as a file, and its number is given anew
            _make_kernel_in_sandbox(channel).start()
            return  # only when the kernel has ended
        channel.close()
        os.waitpid(child, 0)


def _require_forkable() -> None:
    """Raise an error if a fork could hang, on a lock held by a thread that it does not have."""
    if len(os.listdir("/proc/self/task")) > 1:  # a JAX backend has some, too
        raise RuntimeError("the warm server has threads")


def _make_kernel_in_sandbox(channel: socket.socket) -> IPKernelApp:
    """Return a kernel in a new sandbox; report its success or failure to the grading process."""
    with report_failure(channel):
        leave_namespaces(channel)
        if os.fork():
            os._exit(0)
        enter_sandbox(channel)
        kernel = _make_kernel()
        channel.sendall(READY)
    channel.close()
    return kernel


def _make_kernel() -> IPKernelApp:
    """Return a kernel like that of a fresh process, not yet started."""
    np.random.seed()  # otherwise equal in every sandbox; a fork reseeds only Python's `random`
    sys.argv = [_LAUNCHER, "-f", policy.CONNECTION_FILE]
    kernel = IPKernelApp.instance()
    kernel.initialize()
    return kernel


if __name__ == "__main__":
    # As in a fresh kernel, no module is imported from the current folder.
    del sys.path[0]
    main()
