"""What tests of the sandbox share: the programs it needs, and values out of a kernel inside it."""

import ast
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import pytest

from pytree_course.grading.budget import SubmissionBudget
from pytree_course.grading.kernels import WatchedKernel

needs_sandbox = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("bwrap") is None,
    reason="bubblewrap is not here; .ci/run installs it",
)


# In each of some children a hundred megabytes, of which none is too much.
CHILDREN_WITH_MEMORY = """\
import os, time
for _ in range(6):
    if os.fork() == 0:
        block = b"x" * 100_000_000
        time.sleep(600)
time.sleep(600)
"""
COURSE = {"checks/check_01_mini.py": ""}


def started(course: Mapping[str, str] = COURSE, **variables: str) -> WatchedKernel:
    """Start a kernel in a sandbox that sees these files as the course."""
    budget = SubmissionBudget(())
    return WatchedKernel(Path(), course, variables, in_sandbox=True, budget=budget)


def value_in(kernel: WatchedKernel, code: str, expression: str = "result") -> Any:
    """Run code in a kernel, and return the value that an expression has there afterwards."""
    wanted = {"value": f"repr({expression})"}  # IPython shortens what is long, but no text
    request, deadline = kernel.kc.execute(code, user_expressions=wanted), time.monotonic() + 60
    reply: dict[str, Any] = {"status": "no reply"}
    while reply["status"] == "no reply" and time.monotonic() < deadline and kernel.is_alive():
        with suppress(Empty):
            message = kernel.kc.get_shell_msg(timeout=1)
            if message["parent_header"].get("msg_id") == request:
                reply = message["content"]
    assert reply["status"] == "ok", reply
    return ast.literal_eval(
        ast.literal_eval(reply["user_expressions"]["value"]["data"]["text/plain"])
    )


def run_in_sandbox(command: Sequence[str], user: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command in a sandbox that bubblewrap makes, as another user where one is given."""
    # They need Linux.
    from pytree_course.grading.sandbox import policy
    from pytree_course.grading.sandbox.bubblewrap import in_memory, sandboxed
    from pytree_course.grading.sandbox.system_calls import filter_instructions

    become = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    call_filter = in_memory(filter_instructions())
    ours, theirs = socket.socketpair()
    with ours, theirs, open(call_filter, "rb"):
        done = subprocess.run(
            [*become, *sandboxed(command, policy.variables({}), call_filter, theirs.fileno())],
            capture_output=True,
            text=True,
            cwd="/",
            pass_fds=[call_filter, theirs.fileno()],
        )
    if "Can't find source path" in done.stderr:
        pytest.skip("another user may not read this Python")
    return done
