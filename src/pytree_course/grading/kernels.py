"""Kernels for grading: nbval's, watched, and in the sandbox where the code is untrusted."""

import json
import os
import tempfile
from math import inf
from pathlib import Path
from queue import Empty
from typing import Any

import ipykernel.kernelspec
import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager
from nbval.kernel import RunningKernel

from pytree_course.checking.outcomes import OUTCOMES_MIME
from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.sandbox import sandbox_user
from pytree_course.grading.sandbox_provisioner import COURSE_INSIDE, PROVISIONER
from pytree_course.grading.sandbox_sockets import SandboxSockets
from pytree_course.grading.usage import UsageWatch

_ALIVE_CHECK_SECONDS = 0.5

_KERNEL_NAME = "pytree-course-grading"


class KernelDiedError(RuntimeError):
    """The kernel's process ended."""


class _SpecManager(KernelSpecManager):
    """Knows one kernel: this Python's, started by the sandbox's provisioner or plainly."""

    provisioner: dict[str, Any] | None = None

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        metadata = {"kernel_provisioner": self.provisioner} if self.provisioner else {}
        described = {**ipykernel.kernelspec.get_kernel_dict(), "metadata": metadata}
        # No signal reaches into the sandbox: the kernel is asked to interrupt itself.
        described["interrupt_mode"] = "message" if self.provisioner else "signal"
        return KernelSpec(resource_dir=ipykernel.kernelspec.RESOURCES, **described)


class WatchedKernel(RunningKernel):
    """nbval's kernel, watched: its death ends the wait, and so does too much use of the machine.

    It starts in the folder `cwd`, and sees the folder `course` as the course.
    """

    def __init__(
        self, cwd: Path, course: Path, environment: dict[str, str], in_sandbox: bool
    ) -> None:
        self.interrupted = False
        self.watch: UsageWatch | None = None
        self._sockets = SandboxSockets()
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
        self.km = KernelManager(
            kernel_name=_KERNEL_NAME,
            kernel_spec_manager=specs,
            transport="ipc" if in_sandbox else "tcp",  # no network reaches into the sandbox
            connection_file=str(Path(self._folder.name) / "kernel.json"),
        )
        if in_sandbox:
            self.km.ip = self._sockets.inside
        try:
            with open(os.devnull, "w") as nowhere:
                self.km.start_kernel(stderr=nowhere, stdout=nowhere, cwd=str(cwd), env=variables)
            if in_sandbox:
                provisioner: Any = self.km.provisioner
                sandbox = provisioner.process.pid
                self._sockets.open(sandbox, self.km.ports, limits.START_SECONDS)
                self.km.ip = self._sockets.outside
                self.watch = UsageWatch(sandbox, self._sockets.folders)
                self.watch.start()
            self.kc = self.km.client()
            # A longer message is not received at all: it ends the connection, not our memory.
            self.kc.context.setsockopt(zmq.MAXMSGSIZE, limits.MESSAGE_BYTES)
            self.kc.start_channels()
            self.kc.wait_for_ready(timeout=limits.START_SECONDS)
            self._ensure_iopub_up()
        except BaseException:
            self.stop()
            raise

    def get_message(self, stream: str, timeout: float | None = None) -> Any:
        """Return the next message, or raise KernelDiedError when none can come any more."""
        waited = 0.0
        while True:
            left = min(_ALIVE_CHECK_SECONDS, inf if timeout is None else timeout - waited)
            try:
                return _lightened(super().get_message(stream, timeout=max(left, 0.0)))
            except Empty:
                waited += _ALIVE_CHECK_SECONDS
                if not self.is_alive():
                    raise KernelDiedError from None
                if timeout is not None and waited >= timeout:
                    raise
            except Exception:
                # What comes is no message of Jupyter's: the kernel cannot be trusted any more.
                self.stop()
                raise KernelDiedError from None

    def interrupt(self) -> None:
        """Interrupt the cell that runs, and remember it."""
        self.interrupted = True
        super().interrupt()

    def stop(self) -> None:
        """End the kernel at once."""
        if hasattr(self, "kc"):
            self.kc.stop_channels()
        if self.watch is not None:
            self.watch.stop()
        if self.km.has_kernel:
            self.km.shutdown_kernel(now=True)
        self._sockets.close()
        self._folder.cleanup()


def _lightened(message: Any) -> Any:
    """Take out of a message what grading does not read: it may be large, and nbval stores it."""
    content = message["content"]
    match message["msg_type"]:
        case "stream":
            content["text"] = ""
        case "display_data" | "execute_result":
            data = content["data"]
            content["data"] = {key: data[key] for key in (OUTCOMES_MIME,) if key in data}
        case "error":
            content["traceback"] = []
    # Half a surrogate pair is text to JSON and to Python, but to no file and no database.
    text = json.dumps(content, ensure_ascii=False, default=str).encode("utf-8", "replace")
    message["content"] = json.loads(text)
    return message
