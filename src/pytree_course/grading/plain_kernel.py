"""A kernel outside of the sandbox, for the user's own work."""

import contextlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import ipykernel.kernelspec
import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_client.launcher import launch_kernel

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading.usage import ProcessTree

LONGEST_SOCKET = 100  # bytes of a path; systems allow 104 or more, and a number comes behind it


def kernel_command(connection_file: str) -> list[str]:
    """Return the command that starts a kernel of this Python."""
    parts = ipykernel.kernelspec.get_kernel_dict()["argv"]
    return [part.replace("{connection_file}", connection_file) for part in parts]


class PlainKernel:
    """A running kernel, with all of the user's own rights."""

    exceeded = ""  # what it uses is not watched

    def __init__(self, cwd: Path, course: Path, environment: Mapping[str, str]) -> None:
        """Start one in the private folder `cwd`, which sees the folder `course` as the course."""
        # By files where the system can: a port that is free now may be taken a moment later.
        way, ip = "ipc", str(cwd / "socket")
        if os.name == "nt" or len(os.fsencode(ip)) > LONGEST_SOCKET:
            way, ip = "tcp", ""
        file, self._connection = write_connection_file(f"{cwd}/kernel.json", ip=ip, transport=way)
        # No personal start-up files.
        own = {COURSE_VARIABLE: str(course), "IPYTHONDIR": str(cwd / "ipython")}
        self._process = launch_kernel(
            kernel_command(file),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment, **own},
            cwd=str(cwd),
        )
        self.processes = ProcessTree.below(self._process.pid)

    def client(self) -> BlockingKernelClient:
        """Return a client, not yet connected."""
        client = BlockingKernelClient()
        client.load_connection_info(self._connection)
        return client

    def connected(self) -> None:
        """Do nothing: any process that can connect has the same rights."""

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it at once, with all that it has started."""
        with contextlib.suppress(psutil.NoSuchProcess):
            kernel = psutil.Process(self._process.pid)
            for process in (*kernel.children(recursive=True), kernel):
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
        self._process.wait()
