"""Exhaustion: memory, processes, files, messages, each used up as far as it goes."""

from tests.hostile.case import COUNT, SHAPES, Family

family = Family("exhaustion")

family.local(
    {
        ("memory of many processes", "whole_shapes"): """
    import os, time
    def whole_shapes(tree):
        for _ in range(20):
            if os.fork() == 0:
                block = bytearray(b"x") * (400 * 2**20)
                time.sleep(1000)
                os._exit(0)
        time.sleep(20)
    """,
        ("many empty files and folders", "shared_leaves"): """
    import os
    def shared_leaves(tree):
        for number in range(60_000):
            os.mkdir(f"/tmp/d{number}")
            open(f"/dev/shm/f{number}", "w").close()
    """,
    }
)

family.local(
    {
        ("processes without end", "count_leaves"): """
    import os, time
    def count_leaves(tree):
        made = []
        try:
            for _ in range(10_000):
                pid = os.fork()
                if pid == 0:
                    time.sleep(1000)
                    os._exit(0)
                made.append(pid)
        except OSError:
            pass
        return -len(made)
    """,
        ("results that are slow to delete, and to end", "leaf_shapes"): """
    import atexit, threading, time
    atexit.register(time.sleep, 10**6)
    threading.Thread(target=time.sleep, args=(10**6,)).start()
    class Slow:
        def __del__(self):
            time.sleep(0.02)
            raise ValueError("deleted")
        def __repr__(self):
            raise ValueError("no text")
    def leaf_shapes(tree):
        return Slow()
    """,
        ("a tree of ten million nodes", "replace_leaves"): """
    turn = iter([10**7])
    def replace_leaves(tree, new_leaves):
        return [[] for _ in range(next(turn, 1))]
    """,
        ("a text of 500 megabytes", "leaf_at"): """
    turn = iter([500 * 2**20])
    def leaf_at(tree, path_text):
        return "x" * next(turn, 1)
    """,
        ("an integer of a hundred million digits", "whole_shapes"): """
    import sys
    sys.set_int_max_str_digits(0)
    def whole_shapes(tree):
        return 1 << 400_000_000
    """,
        ("a recursion that is not bounded", "leaves_in_layer_order"): """
    import sys
    turn = iter([1])
    def deep(n):
        return [deep(n + 1)]
    def leaves_in_layer_order(tree):
        sys.setrecursionlimit(10**9)
        return next(turn, 0) and deep(0)
    """,
        ("a result that is a cycle, and another nested 100,000 deep", "shared_leaves"): """
    def shared_leaves(tree):
        deep = cycle = []
        cycle.append(cycle)
        for _ in range(100_000):
            deep = [deep]
        return [deep, cycle]
    """,
    }
)
family.local(
    {
        ("300 megabytes printed", "count_nones"): ("print('x' * 300_000_000)"),
        ("ten pictures of 400,000 numbers", "nan_paths"): """
    def nan_paths(params):
        for _ in range(10):
            display({"application/x": [*range(400_000)], "text/plain": "x"}, raw=True)
    """,
        ("small messages without end", "same_structure"): """
    def same_structure(a, b):
        while True:
            display(1)
    """,
    },
    kind="crashed",
)

family.local(
    {
        ("sockets without end", "count_leaves"): """
    import os, socket, time
    def count_leaves(tree):
        kept = []
        for _ in range(20):
            if os.fork() == 0:
                try:
                    while True:
                        pair = socket.socketpair()
                        kept.append(pair)
                        for each in pair:
                            each.setblocking(False)
                            each.send(b"x" * 200_000)
                except OSError:
                    time.sleep(1000)
                    os._exit(0)
        time.sleep(2)
        return -1
    """,
        ("processes that live for a moment", "leaf_shapes"): """
    import os
    def leaf_shapes(tree):
        for _ in range(100):
            pid = os.fork()
            if pid == 0:
                if os.fork() == 0:
                    os.setsid()
                os._exit(0)
            os.waitpid(pid, 0)
        return {}
    """,
        ("a generator without end", "count_nones"): """
    import itertools
    def count_nones(tree):
        return itertools.count()
    """,
        ("an object whose text and length are huge", "nan_paths"): """
    class Huge(dict):
        def __repr__(self): return "x" * 10**8
        __str__ = __repr__
        def __len__(self): return 2**62
        def __iter__(self): return iter(range(10**7))
    turn = iter([Huge()])
    def nan_paths(params):
        raise ValueError("y" * 10**7, next(turn, None))
    """,
        ("an error message of 100 MB and a cause of a cause of it", "same_structure"): """
    def same_structure(a, b):
        error = None
        for _ in range(3_000):
            new = ValueError("z" * 30_000)
            new.__cause__ = error
            error = new
        raise error
    """,
        ("bytes of a huge array", "replace_leaves"): """
    def replace_leaves(tree, new_leaves):
        return np.broadcast_to(np.float32(0), (2**20, 2**20))
    """,
    }
)

# ---- limits that could be switched off

_FIVE_LARGE = """
    for _ in range(5):
        if os.fork() == 0:
            block = bytearray(b"x") * (1200 * 2**20)
            time.sleep(1000)
            os._exit(0)
    time.sleep(20)
"""

family.local(
    {
        ("memory of processes whose name looks like a size", "count_leaves"): f"""
    import ctypes, os, time
    ctypes.CDLL(None).prctl(15, b"x kB", 0, 0, 0)
    {_FIVE_LARGE.strip()}
    """,
        ("memory of processes whose first thread has ended", "leaf_shapes"): """
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
    time.sleep(20)
    """,
        ("memory of many small processes", "count_nones"): """
    import os, time
    for _ in range(120):
        if os.fork() == 0:
            block = bytearray(b"x") * (40 * 2**20)
            time.sleep(1000)
            os._exit(0)
    time.sleep(20)
    """,
    },
    kind="crashed",
    reason="memory",
)
family.local(
    {
        ("empty files of a process whose name looks like a size", "nan_paths"): """
    import ctypes, os, time
    ctypes.CDLL(None).prctl(15, b"x kB", 0, 0, 0)
    for number in range(30_000):
        os.mkdir(f"/tmp/d{number}")
    time.sleep(20)
    """,
    },
    kind="crashed",
    reason="files",
)
family.local(
    {
        ("mappings of many processes", "same_structure"): """
    import ctypes, os, time
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    for _ in range(120):
        if os.fork() == 0:
            for number in range(64_000):
                libc.mmap(None, 4096, number % 2, 0x22, -1, 0)
            time.sleep(1000)
            os._exit(0)
    time.sleep(20)
    """,
    },
    kind="crashed",
    reason="mappings",
)
family.local(
    {
        ("processor time of children that nobody waits for", "replace_leaves"): """
    import ctypes, os, time
    ctypes.CDLL(None).signal(17, 1)
    def replace_leaves(tree, new_leaves):
        end = time.monotonic() + 100
        while time.monotonic() < end:
            child = os.fork()
            if child == 0:
                until = time.monotonic() + 0.05
                while time.monotonic() < until:
                    pass
                os._exit(0)
            try:
                os.waitpid(child, 0)
            except ChildProcessError:
                pass
    """,
    },
    kind="timed out",
)
family.local(
    {
        ("data that waits in connections to itself", "leaf_at"): """
    import socket, time
    def leaf_at(tree, path_text):
        kept = []
        with socket.create_server(("127.0.0.1", 0), backlog=100) as server:
            for _ in range(80):
                pair = socket.create_connection(server.getsockname()), server.accept()[0]
                kept += pair
                for each in pair:
                    each.setblocking(False)
                    try:
                        while True:
                            each.send(b"x" * 100_000)
                    except BlockingIOError:
                        pass
        return open("/proc/net/sockstat").read()
    """,
        ("a message without end, in the grader's memory before it could be counted", "nan_paths"): (
            "from zmq import SNDMORE\nsocket = get_ipython().kernel.iopub_thread.socket\n"
            "while True: socket.send(bytes(2**20), SNDMORE)"
        ),
        ("all processes killed that there are", "leaf_shapes"): (
            "import os; os.kill(1, 9); os.kill(-1, 9)"
        ),
    }
)
# ---- what one answer uses up for the others of its kernel: they run once more, alone

for what, use, need in (
    ("files", "open('/dev/null')", "[open('/dev/null') for _ in range(9)]"),
    ("terminals", "os.openpty()", "!echo hello"),
    (
        "room on the disk",
        "open(f'/tmp/{len(kept)}', 'wb').write(bytes(2**22))",
        "open('/tmp/mine', 'wb').write(bytes(2**20))",
    ),
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
family.case(
    "slow answers beside deadly ones, which run again",
    {
        **{name: "import time\ntime.sleep(5)" for name in ("count_leaves", "count_nones")},
        **{
            name: f"import os\ndef {name}(*of): os._exit(0)"
            for name in ("nan_paths", "same_structure")
        },
    },
    earns=("shared_leaves",),
    kinds={"count_leaves": "error", "count_nones": "error", "same_structure": "crashed"},
)

# ---- the supervisor: it must answer, count and end, whatever reaches it meanwhile

family.case(
    "signals rain on the supervisor, and then the kernel ends",
    {
        "count_leaves": """
    import os, select, signal, time
    end = time.monotonic() + 2
    for number in range(6):
        if os.fork() == 0:
            pipe, watch = os.pipe()[0], select.epoll()
            while time.monotonic() < end:
                try:
                    os.kill(1, signal.SIGCHLD) if number < 3 else watch.register(pipe)
                    watch.unregister(pipe) if number >= 3 else None
                except OSError:
                    pass
            os._exit(0)
    time.sleep(1)
    os._exit(0)
    """
    },
    kinds={"count_leaves": "crashed"},
)
family.case(
    "calls that are counted, interrupted all the time",
    {
        "count_leaves": """
    import os, select, signal
    signal.signal(signal.SIGALRM, lambda *_: None)
    def count_leaves(tree):
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        pipe = os.pipe()[0]
        for _ in range(200):
            try:
                with select.epoll() as watch:
                    watch.register(pipe)
            except OSError:
                pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        return -1
    """
    },
    kinds={"count_leaves": "incorrect"},
)
