"""The kernel that nbval drives: budgeted, and sandboxed if the code is untrusted."""

import contextlib
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
    CellBudget,
    OverOutputError,
    OverTimeError,
    ProcessTree,
    SubmissionBudget,
)
from pytree_course.grading.exercise_run import READ_MESSAGES, CellRun
from pytree_course.grading.sandbox.policy import kernel_command

if TYPE_CHECKING:
    from pytree_course.grading.sandbox.kernel import SandboxedKernel

_POLL_MILLISECONDS = 250
_LATE_SECONDS = 5.0  # from one message of a cell that has ended to the next
_RUN = "run"
_LONGEST_SOCKET = 100  # bytes of a path; systems allow 104 or more, and a number comes behind it
_SUBSCRIBED_SECONDS = 0.05  # a message on IOPub arrives sooner, once we are subscribed to it


class PlainKernel:
    """A running kernel, with all of the user's own rights."""

    exceeded = ""  # what it uses is not watched

    def __init__(
        self, cwd: Path, course: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        """Start one in the private folder `cwd`, with the course's files in a folder there."""
        for name, text in course.items():
            copy = cwd / "course" / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(text, encoding="utf-8")
        # By files where the system can: a port that is free now may be taken a moment later.
        way, ip = "ipc", str(cwd / "socket")
        if os.name == "nt" or len(os.fsencode(ip)) > _LONGEST_SOCKET:
            way, ip = "tcp", ""
        file, self._connection = write_connection_file(f"{cwd}/kernel.json", ip=ip, transport=way)
        # No personal start-up files.
        own = {COURSE_VARIABLE: str(cwd / "course"), "IPYTHONDIR": str(cwd / "ipython")}
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


class WatchedKernel:
    """A kernel that runs one cell after another, each within a budget; nbval drives it.

    It starts in the private folder `cwd`, and sees the texts of `course` as the course's files, by
    their paths. A cell that exceeds its budget ends it.
    """

    def __init__(
        self,
        cwd: Path,
        course: Mapping[str, str],
        environment: dict[str, str],
        in_sandbox: bool,
        budget: SubmissionBudget,
    ) -> None:
        self.last_run = CellRun()
        self.is_set_up = True  # otherwise the course's own cells run, at no cost to the submission
        self._budget = budget
        self._process: PlainKernel | SandboxedKernel
        if in_sandbox:
            from pytree_course.grading.sandbox import kernel  # it is for Linux only

            self._process = kernel.SandboxedKernel(course, environment)
        else:
            self._process = PlainKernel(cwd, course, environment)
        self.kc: Any = self._process.client()
        try:
            # A longer message is not received at all: it ends the connection, not our memory.
            self.kc.context.setsockopt(zmq.MAXMSGSIZE, limits.CELL_BYTES)
            # IOPub drops what its reader has no room for: the last message too, on a busy machine.
            self.kc.context.setsockopt(zmq.RCVHWM, limits.CELL_MESSAGES)
            # What comes on any other channel would pile up in our memory, unread.
            self.kc.start_channels(stdin=False, hb=False, control=False)
            self._wait_until_ready()
            self._process.connected()
        except BaseException:
            self.stop()
            raise

    def _wait_until_ready(self) -> None:
        """Wait until the kernel has answered on both channels."""
        deadline = time.monotonic() + limits.START_SECONDS
        while time.monotonic() < deadline and self.is_alive():
            request = self.kc.kernel_info()
            try:
                self.kc.get_shell_msg(timeout=1)
                # What it publishes is lost until it knows that we have subscribed.
                while True:
                    message = self.kc.get_iopub_msg(timeout=_SUBSCRIBED_SECONDS)
                    if message["parent_header"].get("msg_id") == request:
                        return
            except Empty:
                pass
        raise RuntimeError("the kernel did not get ready")

    def is_alive(self) -> bool:
        """Say whether it still runs."""
        return self._process.is_alive()

    def run_cell(self, source: str) -> CellRun:
        """Run a cell and return how it ran; one that exceeds its budget ends the kernel."""
        run = CellRun()
        seconds, ends = self._budget.seconds, self._budget.ends
        if not self.is_set_up:
            seconds, ends = limits.START_SECONDS, time.monotonic() + limits.WALL_SECONDS
        budget = CellBudget(self._process.processes, seconds, ends)
        try:
            self._run(source, run, budget)
        except OverTimeError:
            run.timed_out = True
        except OverOutputError:
            run.flooded = True
        except Exception:
            # It has ended, or its messages are lost, or are none of Jupyter's.
            run.died = True
        run.used_up = self._process.exceeded
        if run.is_over or run.died:
            self.stop()
        run.seconds = budget.seconds
        if self.is_set_up:
            self._budget.spend(run.seconds)
        return run

    def _run(self, source: str, run: CellRun, budget: CellBudget) -> None:
        request = self._request(source)
        poller = zmq.Poller()
        for channel in (self.kc.shell_channel, self.kc.iopub_channel):
            # Those of older clients are asyncio's, whose `recv_multipart` has to be awaited.
            poller.register(zmq.Socket.shadow(channel.socket), zmq.POLLIN)
        awaited = {"execute_reply", "idle"}
        while awaited:
            ready = poller.poll(_POLL_MILLISECONDS)
            if not ready:
                # Before the next look: this process itself may have been held up since the last.
                budget.expect_message()
            for socket, _ in ready:
                frames = socket.recv_multipart()
                budget.charge(sum(map(len, frames)))
                try:
                    came = self._take(frames, request, run)
                except RecursionError:  # it is nested too deep to be read
                    run.has_bulk, came = True, ""
                if came == "execute_reply" and came in awaited:
                    budget.end_within(_LATE_SECONDS)
                awaited.discard(came)
            budget.look()
            if not ready and not self.is_alive():
                raise RuntimeError("the kernel ended")

    def _request(self, source: str) -> str:
        """Send a cell; return the request's id, which cannot be guessed: its messages name it."""
        wanted = {"code": source, "silent": False, "store_history": False, "allow_stdin": False}
        wanted |= {"user_expressions": {}, "stop_on_error": False}
        message = self.kc.session.msg("execute_request", wanted)
        message["header"]["msg_id"] = message["msg_id"] = uuid4().hex
        self.kc.shell_channel.send(message)
        return str(message["msg_id"])

    def _take(self, frames: list[bytes], request: str, run: CellRun) -> str:
        """Read a message into its cell's run; return its type or status ("" if not this run's)."""
        session = self.kc.session
        _, parts = session.feed_identities(frames)
        if sum(map(len, parts)) > limits.REPORT_BYTES:
            run.has_bulk = True  # and its content is not even parsed
            return ""
        message = session.deserialize(parts, content=False)
        kind = str(message["msg_type"])
        if message["parent_header"].get("msg_id") != request:
            return ""
        if kind == "status":
            return str(session.unpack(message["content"])["execution_state"])
        if kind in READ_MESSAGES:
            run.take(kind, session.unpack(message["content"]))
        return kind

    # What nbval's cells call: a cell has run once it was sent, and the kernel is idle.

    def execute_cell_input(self, source: str, allow_stdin: bool | None = None) -> str:
        """Run a cell."""
        self.last_run = self.run_cell(source)
        return _RUN

    def await_reply(self, message_id: str, timeout: float | None = None) -> None:
        """Return at once: the cell has run."""

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """Return the message that the cell has run."""
        content = {"execution_state": "idle"}
        return {"msg_type": "status", "content": content, "parent_header": {"msg_id": _RUN}}

    def stop(self) -> None:
        """End the kernel at once."""
        self.kc.stop_channels()
        self._process.end()
