"""A sandboxed kernel: start it, connect to its sockets, watch what it uses up, end it."""

import json
import os
import re
import secrets
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

from jupyter_client.connect import port_names

from pytree_course.course import COURSE_VARIABLE
from pytree_course.grading import limits
from pytree_course.grading.budget import list_folder, read_file, read_queue_seconds
from pytree_course.grading.cell_run import CellEnd
from pytree_course.grading.sandbox import policy
from pytree_course.grading.sandbox.doors import door
from pytree_course.grading.sandbox.enter import SandboxRequest
from pytree_course.grading.sandbox.system_calls import filter_instructions

# Each process has a part of the pages that it shares with others. Files on disk do not count.
_MEMORY_ROW = re.compile(r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+) kB$", re.MULTILINE)


def kernel_request(
    environment: Mapping[str, str], files: Mapping[str, str]
) -> tuple[dict[str, Any], SandboxRequest]:
    """Return a new kernel's connection information, and the request for its sandbox."""
    connection: dict[str, Any] = {
        "transport": "ipc",  # no network reaches into the sandbox
        "ip": f"{policy.TMP}/kernel-{secrets.token_hex(8)}",
        "key": secrets.token_hex(32),
        "signature_scheme": "hmac-sha256",
        **{name: number for number, name in enumerate(port_names, start=1)},
    }
    return connection, SandboxRequest(
        user=policy.sandbox_user(),
        call_filter=filter_instructions().hex(),
        variables=dict(environment),
        files={**files, policy.CONNECTION_FILE: json.dumps(connection)},
    )


class SandboxedKernel:
    """A running kernel in a sandbox of its own.

    No folder is shared with the sandbox: its sockets, memory and processes are reached through its
    folders, which are opened from outside.
    """

    def __init__(self, course: Mapping[str, str], environment: Mapping[str, str]) -> None:
        """Start one that sees the texts of `course` as the course's files, by their paths."""
        self.ended_for: CellEnd | None = None  # set by the watch
        files = {f"{policy.COURSE_INSIDE}/{name}": text for name, text in course.items()}
        variables = dict(environment)
        variables[COURSE_VARIABLE] = policy.COURSE_INSIDE
        variables["IPYTHONDIR"] = f"{policy.TMP}/ipython"
        connection, request = kernel_request(variables, files)
        with ExitStack() as cleanup:  # in reverse order, also if this raises an exception
            self.sandbox = door.make_sandbox(request)
            cleanup.callback(self.sandbox.end)
            self._open_folders(cleanup)
            # The "ip" of an ipc connection is a path, to which its client appends the ports.
            name = os.path.basename(connection["ip"])
            ip = f"/proc/self/fd/{self._socket_folder}/{name}"
            self.connection: Any = {**connection, "ip": ip}
            self._start_watch(cleanup)
            self._cleanup = cleanup.pop_all()

    def _open_folders(self, cleanup: ExitStack) -> None:
        """Open the sandbox's folders from outside."""
        root = f"/proc/{self.sandbox.pid}/root"
        self._folders = [_open(f"{root}{folder}", cleanup) for folder in policy.WRITABLE_FOLDERS]
        # The sandbox's own /proc lists only its processes.
        self._proc = f"/proc/self/fd/{_open(f'{root}/proc', cleanup)}"
        self._until_connected = cleanup.enter_context(ExitStack())
        self._socket_folder = _open(f"{root}{policy.TMP}", self._until_connected)

    def _start_watch(self, cleanup: ExitStack) -> None:
        self._stopped = threading.Event()
        watch = threading.Thread(target=self._watch, name="sandbox watch", daemon=True)
        watch.start()
        cleanup.callback(watch.join)
        cleanup.callback(self._stopped.set)

    def on_connected(self) -> None:
        """Close the path to its sockets.

        ZeroMQ would reconnect by path, and the kernel could have replaced its socket with a link to
        one outside of the sandbox.
        """
        self._until_connected.close()

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor time of each process, and of the children it has waited for."""
        return {process: _processor_seconds(process) for process in self._processes()}

    def queue_seconds(self) -> dict[str, float]:
        """Return how long each thread has been ready to run, without a processor."""
        return read_queue_seconds(self._processes())

    def is_alive(self) -> bool:
        """Return whether it still runs."""
        return self.sandbox.is_alive()

    def end(self) -> None:
        """End it at once, with all processes of its sandbox, and close what was opened."""
        self._cleanup.close()

    def _watch(self) -> None:
        """End the sandbox when it exceeds a limit, or when that cannot be measured.

        The operating system limits each process; this limits all of them together.
        """
        with suppress(Exception):
            while self.ended_for is None and not self._stopped.wait(limits.WATCH_SECONDS):
                self.ended_for = self._exceeded_limit()
        self.sandbox.kill()  # if `_stopped` is set, too: then it is about to be ended anyway

    def _exceeded_limit(self) -> CellEnd | None:
        """Say whether its processes are too many, or use too much memory with its folders."""
        sizes = [os.fstatvfs(folder) for folder in self._folders]
        memory = sum((size.f_blocks - size.f_bfree) * size.f_frsize for size in sizes)
        for process in self._processes():
            # Asked each time: while many processes compete, it takes long to measure them.
            if len(self._processes()) > limits.PROCESSES:
                return CellEnd.OVER_PROCESSES
            memory += _process_memory(process)
        return CellEnd.OVER_MEMORY if memory > limits.MEMORY else None

    def _processes(self) -> list[str]:
        """Return the folders of all its processes; none once the sandbox has ended."""
        return [f"{self._proc}/{name}" for name in list_folder(self._proc) if name.isdigit()]


def _processor_seconds(process: str) -> float:
    # The program's name, in parentheses, may contain any character. Of the fields after it, these
    # are utime, stime, cutime and cstime.
    _, _, text = read_file(f"{process}/stat").rpartition(")")
    return sum(map(int, text.split()[11:15])) / os.sysconf("SC_CLK_TCK")


def _process_memory(process: str) -> int:
    """Return the bytes of memory that a process uses."""
    for thread in list_folder(f"{process}/task"):
        # The first thread may have ended before the others: its file is empty then.
        if rows := _MEMORY_ROW.findall(read_file(f"{process}/task/{thread}/smaps_rollup")):
            return 1024 * sum(map(int, rows))
    return 0


def _open(folder: str, cleanup: ExitStack) -> int:
    """Open a folder; it is closed with the stack."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    cleanup.callback(os.close, file)
    return file
