"""The kernel that runs a submission: budgeted, and sandboxed if the code is untrusted."""

import contextlib
import math
import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psutil
import zmq
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_client.launcher import launch_kernel

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.budget import (
    Budget,
    OverBudgetError,
    SubmissionTime,
    read_queue_seconds,
)
from pytree_course.grading.cell_run import READ_MESSAGES, CellEnd, CellRun
from pytree_course.grading.sandbox.policy import kernel_command

if TYPE_CHECKING:  # it is for Linux only
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

_POLL_MILLISECONDS = 250
_LATE_SECONDS = 30.0  # for the last messages of a cell that has ended, on a busy machine
_MAX_SOCKET = 100  # bytes of a path; systems allow 104 or more, and "-1" to "-5" are appended
_SUBSCRIBED_SECONDS = 0.05  # a message on IOPub arrives sooner, once we are subscribed to it


class PlainKernel:
    """A running kernel with all of the user's rights, for the user's own code."""

    ended_for: CellEnd | None = None  # it is not watched

    def __init__(
        self, cwd: Path, course: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        """Start one in the private folder `cwd`, with the course's files in a folder there."""
        for name, text in course.items():
            copy = cwd / "course" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")
        # Sockets in files where possible: a port that is free now may be taken a moment later.
        transport, ip = "ipc", str(cwd / "socket")
        if os.name == "nt" or len(os.fsencode(ip)) > _MAX_SOCKET:
            transport, ip = "tcp", ""
        file = f"{cwd}/kernel.json"
        _, self.connection = write_connection_file(file, ip=ip, transport=transport)
        # An IPYTHONDIR of its own: no personal start-up files.
        variables = {COURSE_VARIABLE: str(cwd / "course"), "IPYTHONDIR": str(cwd / "ipython")}
        self._process = launch_kernel(
            kernel_command(file),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **environment, **variables},
            cwd=str(cwd),
        )

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor time of each process, and of the children it has waited for."""
        return processor_seconds(process_tree(self._process.pid))

    def queue_seconds(self) -> dict[str, float]:
        """Return how long each thread has been ready to run, without a processor."""
        return read_queue_seconds(
            f"/proc/{process.pid}" for process in process_tree(self._process.pid)
        )

    def on_connected(self) -> None:
        """Do nothing: any process that can connect has the same rights."""

    def is_alive(self) -> bool:
        """Return whether it still runs."""
        return self._process.poll() is None

    def end(self) -> None:
        """End it at once, with all processes that it has started."""
        for process in process_tree(self._process.pid):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self._process.wait()


def process_tree(pid: int) -> list[psutil.Process]:
    """Return a process, after all that it has started; nothing if it has ended."""
    try:
        process = psutil.Process(pid)
        return [*process.children(recursive=True), process]
    except psutil.NoSuchProcess:
        return []


def processor_seconds(processes: list[psutil.Process]) -> dict[str, float]:
    """Return the processor time of each process, and of the children it has waited for."""
    seconds = {}
    for process in processes:
        with contextlib.suppress(psutil.Error):  # it has ended: its parent has its time now
            times = process.cpu_times()
            of_children = times.children_user + times.children_system
            seconds[str(process.pid)] = times.user + times.system + of_children
    return seconds


class WatchedKernel:
    """A kernel that runs one cell after another within a budget.

    It starts in the private folder `cwd`, and sees the texts of `course` as the course's files, by
    their paths. A cell that exceeds the budget ends it.
    """

    def __init__(
        self,
        cwd: Path,
        course: Mapping[str, str],
        environment: Mapping[str, str],
        in_sandbox: bool,
        submission: SubmissionTime | None = None,
    ) -> None:
        self._submission = submission or SubmissionTime()
        self._kernel: PlainKernel | SandboxedKernel
        if in_sandbox:
            from pytree_course.grading.sandbox import kernel

            self._kernel = kernel.SandboxedKernel(course, environment)
        else:
            self._kernel = PlainKernel(cwd, course, environment)
        self.kc: Any = BlockingKernelClient()
        self.kc.load_connection_info(self._kernel.connection)
        try:
            self._connect()
            # For the cells before the first exercise: the course's own, and earlier answers.
            self._budget = Budget(self._kernel, limits.START_SECONDS, self._submission)
        except BaseException:
            self.stop()
            raise

    def _connect(self) -> None:
        """Connect to the kernel, with limits on what is received from it."""
        # A longer message is not received at all: it ends the connection, not our memory.
        self.kc.context.setsockopt(zmq.MAXMSGSIZE, limits.EXERCISE_BYTES)
        # IOPub drops what its reader has no room for: the last message too, on a busy machine.
        self.kc.context.setsockopt(zmq.RCVHWM, limits.EXERCISE_MESSAGES)
        # Messages on any other channel would pile up in our memory, unread.
        self.kc.start_channels(stdin=False, hb=False, control=False)
        self._wait_until_ready()
        self._kernel.on_connected()

    def _wait_until_ready(self) -> None:
        """Wait until the kernel has answered on both channels."""
        deadline = time.monotonic() + limits.START_SECONDS
        while time.monotonic() < deadline and self.is_alive():
            request = self.kc.kernel_info()
            try:
                self.kc.get_shell_msg(timeout=1)
                # Until the kernel knows that we have subscribed, what it publishes is lost.
                while True:
                    message = self.kc.get_iopub_msg(timeout=_SUBSCRIBED_SECONDS)
                    if message["parent_header"].get("msg_id") == request:
                        return
            except Empty:
                pass
        raise RuntimeError("the kernel did not get ready")

    def is_alive(self) -> bool:
        """Return whether it still runs."""
        return self._kernel.is_alive()

    def start_exercise(self) -> None:
        """Give the cells from now on the budget of an exercise."""
        self._budget = Budget(self._kernel, limits.EXERCISE_SECONDS, self._submission)

    def run_cell(self, source: str) -> CellRun:
        """Run a cell and return how it ran; one that exceeds the budget ends the kernel."""
        run = CellRun()
        used_before = self._budget.seconds
        try:
            self._budget.count_processor_time()  # between two cells, nothing waits
            self._run(source, run)
            self._budget.count_processor_time()
        except OverBudgetError as over:
            run.end = over.end
        except Exception:
            # Whatever else fails here was caused by what the kernel sent, or by its end.
            run.end = CellEnd.KERNEL_ENDED
        if self._kernel.ended_for is not None:
            run.end = self._kernel.ended_for
        run.seconds = self._budget.seconds - used_before
        if run.end is not CellEnd.FINISHED:
            self.stop()
        return run

    def _run(self, source: str, run: CellRun) -> None:
        """Run a cell to its end; record its messages in `run`."""
        request = self._request(source)
        poller = zmq.Poller()
        for channel in (self.kc.shell_channel, self.kc.iopub_channel):
            # In older jupyter_clients they are asyncio's, whose `recv_multipart` has to be awaited.
            poller.register(zmq.Socket.shadow(channel.socket), zmq.POLLIN)
        awaited = {"execute_reply", "idle"}  # in either order, from the two channels
        deadline = math.inf  # for the last message, set when the reply arrives
        while awaited:
            ready = poller.poll(_POLL_MILLISECONDS)
            for socket, _ in ready:
                frames = socket.recv_multipart()
                self._budget.charge_message(sum(map(len, frames)))
                event = self._read_message(frames, request, run)
                awaited.discard(event)
                if event == "execute_reply":
                    deadline = time.monotonic() + _LATE_SECONDS
            self._budget.count_time_if_due()
            if ready:
                continue
            if not self.is_alive():
                raise RuntimeError("the kernel ended")
            if time.monotonic() > deadline:
                raise RuntimeError("the kernel's last messages are lost")

    def _request(self, source: str) -> str:
        """Send a cell; return the request's id, by which its messages are known."""
        self.kc.session.session = uuid4().hex  # the id's first part: no cell can guess the next one
        options = {"store_history": False, "allow_stdin": False, "stop_on_error": False}
        return str(self.kc.execute(source, **options))

    def _read_message(self, frames: list[bytes], request: str, run: CellRun) -> str:
        """Record a message in the run it belongs to.

        Return its type, or for a status the state ("busy", "idle"); "" if it is not of this run.
        """
        session = self.kc.session
        _, parts = session.feed_identities(frames)
        if sum(map(len, parts)) > limits.REPORT_BYTES:
            run.has_long_message = True  # its content is not even parsed
            return ""
        message = session.deserialize(parts, content=False)
        kind = str(message["msg_type"])
        if message["parent_header"].get("msg_id") != request:
            return ""
        if kind == "status":
            return str(session.unpack(message["content"])["execution_state"])
        if kind in READ_MESSAGES:
            run.record_message(kind, session.unpack(message["content"]))
        return kind

    def stop(self) -> None:
        """End the kernel at once, if it has not been ended."""
        self.kc.stop_channels()
        self._kernel.end()
