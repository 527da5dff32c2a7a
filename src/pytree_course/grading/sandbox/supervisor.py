"""Confine a process by the seccomp filter, and count the calls that need counting.

The operating system's kernel keeps something for certain calls that no watch from outside can see:
`system_calls` names them. The filter hands each of them to a supervisor, the parent of the confined
process, which lets a fixed number pass. It is also told of every process that begins.
"""

import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress

from pytree_course.grading import limits
from pytree_course.grading.sandbox import linux
from pytree_course.grading.sandbox.request import CALL

_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV, SECCOMP_IOCTL_NOTIF_SEND
_NOTIFICATION = struct.Struct("<QIIiIQ6Q")  # struct seccomp_notif
_RESPONSE = struct.Struct("<QqiI")  # struct seccomp_notif_resp
_CONTINUE = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE
_LOWER_HALF = 0xFFFFFFFF


def confine(instructions: bytes, channel: socket.socket) -> None:
    """Fork, and return in the child, confined; the parent supervises until the child has ended.

    The channel leads to the grading process, which is told of each counted call. The parent also
    ends when that process closes its end.
    """
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child:
        theirs.close()
        with ours:
            _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
        _supervise(child, listener, channel)
    ours.close()
    with theirs:
        listener = linux.install_filter(instructions)
        socket.send_fds(theirs, [b"\0"], [listener])
    os.close(listener)


def _supervise(child: int, listener: int, channel: socket.socket) -> None:
    """Answer counted calls and wait for orphans, until the child or the grading process has ended.

    As the first process of a sandbox, it ends all others with it.
    """
    linux.set_dumpable(False)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    ended = os.pidfd_open(child)
    events = select.poll()
    events.register(channel, 0)  # only that the other end is closed counts
    for file in (ended, woken, listener):
        events.register(file, select.POLLIN)
    counted = 0
    while True:
        happened = dict(events.poll())
        if happened.keys() & {ended, channel.fileno()}:
            os._exit(0)
        # An error, as when a signal comes while Linux looks, is no call: to wait for one would be
        # to miss the child's end.
        if happened.get(listener, 0) & select.POLLIN:
            counted += _answer(listener, channel, counted < limits.COUNTED_CALLS)
        if woken in happened:
            os.read(woken, 4096)
            # Their processor time is added to that of this process, and so counted.
            with suppress(ChildProcessError):  # the confined one was the last
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass


def _answer(listener: int, channel: socket.socket, may_pass: bool) -> bool:
    """Let one call pass, or have it fail as if the machine had no more of it.

    Return False if there is no call any more: its thread was killed or interrupted meanwhile.
    """
    received = bytearray(_NOTIFICATION.size)
    try:
        fcntl.ioctl(listener, _RECEIVE, received)
    except (FileNotFoundError, InterruptedError):  # the latter may be asked for again
        return False
    identity, _, _, number, _, _, first, second, *_ = _NOTIFICATION.unpack(received)
    with suppress(BlockingIOError):  # full: the grading process has not read the last ones
        call = CALL.pack(number, first & _LOWER_HALF, second & _LOWER_HALF)
        channel.send(call, socket.MSG_DONTWAIT)
    error, flags = (0, _CONTINUE) if may_pass else (-errno.EAGAIN, 0)
    response, is_sent = bytearray(_RESPONSE.pack(identity, 0, error, flags)), False
    while not is_sent:
        with suppress(InterruptedError):  # unlike other calls, Python does not repeat ioctl
            with suppress(FileNotFoundError):
                fcntl.ioctl(listener, _SEND, response)
            is_sent = True
    return True


def main() -> None:
    """Run a program confined; its command follows two descriptors, the filter's and the channel."""
    _, call_filter, channel, *command = sys.argv
    with open(int(call_filter), "rb") as file:
        instructions = file.read()
    with socket.socket(fileno=int(channel)) as grader:
        confine(instructions, grader)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
