"""What tests of the sandbox share: the programs it needs, and values out of a kernel inside it."""

import ast
import shutil
import sys
from typing import Any

import pytest

from pytree_course.grading.kernels import WatchedKernel

needs_sandbox = pytest.mark.skipif(
    sys.platform != "linux" or shutil.which("bwrap") is None,
    reason="bubblewrap is not here; .ci/run installs it",
)


def value_in(kernel: WatchedKernel, code: str, expression: str = "result") -> Any:
    """Run code in a kernel, and return the value that an expression has there afterwards."""
    wanted = {"value": f"repr({expression})"}  # IPython shortens what is long, but no text
    reply = kernel.kc.execute(code, user_expressions=wanted, reply=True, timeout=300)["content"]
    assert reply["status"] == "ok", reply
    return ast.literal_eval(
        ast.literal_eval(reply["user_expressions"]["value"]["data"]["text/plain"])
    )
