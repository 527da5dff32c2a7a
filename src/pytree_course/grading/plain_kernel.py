"""A kernel outside of the sandbox, for one's own work: jupyter_client starts it."""

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipykernel.kernelspec
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading.process_tree import ProcessTree

_KERNEL_NAME = "pytree-course-grading"


class _SpecManager(KernelSpecManager):
    """Knows one kernel: this Python's."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        described = ipykernel.kernelspec.get_kernel_dict()
        return KernelSpec(resource_dir=ipykernel.kernelspec.RESOURCES, **described)


class PlainKernel:
    """A running kernel, with all of the user's own rights.

    Attributes
    ----------
    pid
        Its process.
    processes
        It, and all that it starts.
    exceeded
        Nothing: what it uses up is not watched.
    """

    exceeded = ""

    def __init__(self, cwd: Path, course: Path, environment: Mapping[str, str]) -> None:
        """Start one in the folder `cwd`, which sees the folder `course` as the course."""
        self._folder = tempfile.TemporaryDirectory(prefix="kernel-", dir=cwd)
        # No personal start-up files.
        own = {COURSE_VARIABLE: str(course), "IPYTHONDIR": str(cwd / "ipython")}
        self._manager = KernelManager(
            kernel_name=_KERNEL_NAME,
            kernel_spec_manager=_SpecManager(),
            connection_file=str(Path(self._folder.name) / "kernel.json"),
        )
        try:
            with open(os.devnull, "w") as nowhere:
                self._manager.start_kernel(
                    stderr=nowhere,
                    stdout=nowhere,
                    cwd=str(cwd),
                    env={**os.environ, **environment, **own},
                )
        except BaseException:
            self.end()
            raise
        provisioner: Any = self._manager.provisioner
        self.pid = int(provisioner.pid)
        self.processes = ProcessTree.below(self.pid)

    def client(self) -> BlockingKernelClient:
        """Return a client, not yet connected."""
        return self._manager.client()

    def connected(self) -> None:
        """Do nothing: who else may connect to it has the same rights."""

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return bool(self._manager.has_kernel and self._manager.is_alive())

    def end(self) -> None:
        """End it at once."""
        if self._manager.has_kernel:
            self._manager.shutdown_kernel(now=True)
        # Whoever wrote into it may have made what cannot be removed; it is swept some other time.
        with contextlib.suppress(OSError, RecursionError):
            self._folder.cleanup()
