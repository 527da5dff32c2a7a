"""What tests of the sandbox share: what it needs, and values out of a kernel inside it."""

import ast
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytree_course.grading.kernels import WatchedKernel

needs_sandbox = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("bwrap") is None,
    reason="bubblewrap is not here; .ci/run installs it",
)
_SECONDS = 300


def started(course: Mapping[str, str] | None = None, **variables: str) -> WatchedKernel:
    """Start a kernel in a sandbox that sees these files as the course."""
    course = {"checks/check_01_mini.py": ""} if course is None else course
    return WatchedKernel(Path(), course, variables, in_sandbox=True)


def value_in(kernel: WatchedKernel, code: str, expression: str = "result") -> Any:
    """Run code in a kernel, and return the value that an expression has there afterwards."""
    wanted = {"value": f"repr({expression})"}  # IPython shortens what is long, but no text
    reply = kernel.kc.execute_interactive(
        code,
        user_expressions=wanted,
        allow_stdin=False,
        timeout=_SECONDS,
        output_hook=lambda message: None,
    )["content"]
    assert reply["status"] == "ok", reply
    return ast.literal_eval(
        ast.literal_eval(reply["user_expressions"]["value"]["data"]["text/plain"])
    )
