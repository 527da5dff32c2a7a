"""Kernels that start as programs of their own: plainly, or in a sandbox that is made for each."""

import contextlib
import os
import tempfile
from pathlib import Path
from typing import Any

import ipykernel.kernelspec
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.sandbox import COURSE_INSIDE, sandbox_user
from pytree_course.grading.sandbox_provisioner import PROVISIONER
from pytree_course.grading.sandbox_sockets import SandboxSockets

_KERNEL_NAME = "pytree-course-grading"


class _SpecManager(KernelSpecManager):
    """Knows one kernel: this Python's, started by the sandbox's provisioner or plainly."""

    provisioner: dict[str, Any] | None = None

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        metadata = {"kernel_provisioner": self.provisioner} if self.provisioner else {}
        described = {**ipykernel.kernelspec.get_kernel_dict(), "metadata": metadata}
        # No signal reaches into the sandbox: the kernel is asked to interrupt itself.
        described["interrupt_mode"] = "message" if self.provisioner else "signal"
        return KernelSpec(resource_dir=ipykernel.kernelspec.RESOURCES, **described)


class LaunchedKernel:
    """A kernel that jupyter_client has started.

    Attributes
    ----------
    pid
        Its process; in a sandbox, the one that all others were started by.
    sockets
        The way to its sockets; None where it has no sandbox.
    """

    def __init__(
        self, cwd: Path, course: Path, environment: dict[str, str], in_sandbox: bool
    ) -> None:
        """Start one in the folder `cwd`, which sees the folder `course` as the course."""
        self.sockets = SandboxSockets() if in_sandbox else None
        self._folder = tempfile.TemporaryDirectory(prefix="kernel-", dir=cwd)
        specs = _SpecManager()
        if in_sandbox:
            os.chown(self._folder.name, sandbox_user(), -1)
            config = {"course": str(course)}
            specs.provisioner = {"provisioner_name": PROVISIONER, "config": config}
            own = {COURSE_VARIABLE: COURSE_INSIDE, "IPYTHONDIR": "/tmp/ipython"}
            variables = {**environment, **own}
        else:
            # No personal start-up files.
            own = {COURSE_VARIABLE: str(course), "IPYTHONDIR": str(cwd / "ipython")}
            variables = {**os.environ, **environment, **own}
        self._manager = KernelManager(
            kernel_name=_KERNEL_NAME,
            kernel_spec_manager=specs,
            transport="ipc" if in_sandbox else "tcp",  # no network reaches into the sandbox
            connection_file=str(Path(self._folder.name) / "kernel.json"),
        )
        if self.sockets is not None:
            self._manager.ip = self.sockets.inside
        try:
            with open(os.devnull, "w") as nowhere:
                self._manager.start_kernel(
                    stderr=nowhere, stdout=nowhere, cwd=str(cwd), env=variables
                )
            if self.sockets is not None:
                self.sockets.open(self.pid, self._manager.ports, limits.START_SECONDS)
                self._manager.ip = self.sockets.outside
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        """Its process, as this process sees it."""
        provisioner: Any = self._manager.provisioner
        return int(provisioner.pid)

    def client(self) -> BlockingKernelClient:
        """Return a client, not yet connected."""
        return self._manager.client()

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return bool(self._manager.has_kernel and self._manager.is_alive())

    def end(self) -> None:
        """End it at once, with all processes of its sandbox."""
        if self._manager.has_kernel:
            self._manager.shutdown_kernel(now=True)
        # Whoever wrote into it may have made what cannot be removed; it is swept some other time.
        with contextlib.suppress(OSError, RecursionError):
            self._folder.cleanup()
