"""TCP ports for kernels and servers that tests start, which no other program is given meanwhile.

A port is chosen first and bound a second later. In between, the system may give it to any program
that asks for a free one, which comes from its own range (32768 and above on Linux). So these lie
below it, and each process of a run has its own part.
"""

import os
import socket
from itertools import count

from jupyter_client.connect import LocalPortCache

_FIRST, _PORTS_OF_A_WORKER = 10_000, 5_000
_worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
# A worker and the servers that it starts are processes of their own, far from one another.
_numbers = count(os.getpid() * 97)


def free_port() -> int:
    """Return a port of this process that nothing listens on."""
    for number in _numbers:
        port = _FIRST + _PORTS_OF_A_WORKER * (_worker % 4) + number % _PORTS_OF_A_WORKER
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) != 0:
                return port
    raise AssertionError("the numbers do not end")


class _Ports(LocalPortCache):
    """Where jupyter_client looks for the ports of a kernel."""

    def find_available_port(self, ip: str) -> int:
        return free_port()


def give_kernels_such_ports() -> None:
    """Have every kernel that this process starts use them."""
    _Ports.instance()  # and so it is the instance of the class above, too
