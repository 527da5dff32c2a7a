"""Exhaustion: time, memory, processes, files, messages, each used up as far as it goes."""

from tests.hostile.case import COUNT, SHAPES, Family

family = Family("exhaustion")

family.local(
    {
        ("a tree of ten million nodes", "differences"): """
    turn = iter([10**7])
    def differences(a, b):
        return [[] for _ in range(next(turn, 1))]
    """,
        ("a text of 500 megabytes", "leaf_shapes"): """
    turn = iter([500 * 2**20])
    def leaf_shapes(tree):
        return "x" * next(turn, 1)
    """,
        ("300 megabytes printed", "nan_paths"): "print('x' * 300_000_000)",
        ("a recursion that is not bounded", "leaves_in_layer_order"): """
    import sys
    def deep(n):
        return [deep(n + 1)]
    def leaves_in_layer_order(tree):
        sys.setrecursionlimit(10**9)
        return deep(0)
    """,
    }
)

# ---- each ends its kernel

ENDS = {
    ("memory of many processes, whose first threads have ended", "crashed", "memory"): """
    import ctypes, os, threading, time
    libc = ctypes.CDLL(None)
    end_of_thread = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
    def grow():
        time.sleep(0.2)
        block = bytearray(b"x") * (1200 * 2**20)
        time.sleep(1000)
    for _ in range(5):
        if os.fork() == 0:
            libc.prctl(15, b"x kB", 0, 0, 0)
            threading.Thread(target=grow).start()
            libc.syscall(end_of_thread, 0)
    time.sleep(1000)
    """,
    ("processes without end, each in a session of its own", "crashed", "processes"): """
    import os, time
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
                while True: pass
        except OSError:
            time.sleep(1)
    """,
    ("sleep without end, and no signal ends it", "timed out", "waited"): """
    import signal, time
    for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1000)
    """,
    ("small messages without end", "crashed", ""): "while True: display(1)",
    ("one message without end, in the grader's memory before it is counted", "", ""): """
    from zmq import SNDMORE
    socket = get_ipython().kernel.iopub_thread.socket
    while True: socket.send(bytes(2**20), SNDMORE)
    """,
    ("a loop that is not to be interrupted, and prints", "timed out", ""): """
    import signal
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            print("still here", flush=True)
            sum(range(10**6))
        except BaseException:
            pass
    """,
    ("processor time of children", "timed out", ""): """
    import os, time
    for _ in range(2):
        if os.fork() == 0:
            while True: pass
    time.sleep(1000)
    """,
    ("memory of one process", "error", ""): "kept = [bytearray(2**28) for _ in range(100)]",
}
for (name, kind, reason), code in ENDS.items():
    kinds = {"count_leaves": kind} if kind else {}
    family.case(name, {"count_leaves": code}, kinds=kinds, reason=reason)

# ---- what one answer uses up for the others of its kernel: they run once more, alone

for what, use, need in (
    ("files", "open('/dev/null')", "[open('/dev/null') for _ in range(9)]"),
    ("terminals", "os.openpty()", "!echo hello"),
):
    family.case(
        f"an answer that leaves no {what} to those after it",
        {
            "count_leaves": "import os\nkept = []\ntry:\n    while True:\n"
            f"        kept.append({use})\nexcept OSError:\n    del kept[-6:]\n{COUNT}",
            "leaf_shapes": f"{need}\n{SHAPES}",
        },
        earns=("count_leaves", "leaf_shapes"),
    )
