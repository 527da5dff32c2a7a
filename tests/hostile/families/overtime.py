"""Overtime: answers that do not end.

They are one student's, of whom nothing has to run again alone: that would take as long again. The
first ones take what all exercises share, the others 6 seconds each.
"""

from tests.hostile.case import Family

family = Family("overtime")

family.local(
    {
        ("a loop that is not to be interrupted, and prints", "count_leaves"): """
    def count_leaves(tree):
        import signal, time
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        while True:
            try:
                while True:
                    print("still here", flush=True)
                    time.sleep(0.05)
            except BaseException:
                pass
    """,
        ("a loop inside of C", "replace_leaves"): """
    import itertools
    def replace_leaves(tree, new_leaves):
        return sum(itertools.count())
    """,
        ("a regular expression that holds Python's lock", "count_nones"): """
    import re
    def count_nones(tree):
        return re.match("(a+)+$", "a" * 60 + "b")
    """,
        ("threads that never end, and a sleep without end", "nan_paths"): """
    import threading, time
    def spin():
        while True:
            pass
    for _ in range(20):
        threading.Thread(target=spin, daemon=False).start()
    time.sleep(10**6)
    """,
        ("busy for ever, and answers to others", "same_structure"): """
    import time
    kernel = get_ipython().kernel
    while True:
        for state in ("busy", "idle"):
            for parent in (kernel.get_parent(), {"header": {"msg_id": "another"}}, {}):
                if state == "busy" or parent is not kernel.get_parent():
                    kernel.session.send(kernel.iopub_socket, "status",
                                        {"execution_state": "busy"}, parent=parent)
        time.sleep(0.05)
    """,
    },
    kind="timed out",
)
family.local(
    {
        ("all threads and the process itself stopped", "leaf_shapes"): """
    import os, signal
    os.kill(os.getpid(), signal.SIGSTOP)
    """,
    }
)
