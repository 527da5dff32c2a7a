"""Protocol: what a kernel says and how it ends, when the learner's code decides it."""

from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from tests.hostile.case import COUNT, Family

family = Family("protocol")

WRONG = "\ndef count_leaves(tree):\n    return 10**6\n"
SEND = """
import os, signal, threading, time
kernel = get_ipython().kernel
session, iopub = kernel.session, kernel.iopub_socket
def send(kind, content, parent=None, **more):
    session.send(iopub, kind, content, parent=parent or kernel.get_parent(), **more)
"""


def talk(codes: Mapping[str, str], after: str = WRONG, **more: Any) -> None:
    """Add cases that talk in their answer cell, and have a wrong answer."""
    for name, code in codes.items():
        family.case(name, {"count_leaves": SEND + dedent(code) + after}, **more)


# ---- each is soon over, and has a kernel of its own

talk(
    {
        "idle and the reply before the cell has ended": """
    send("status", {"execution_state": "idle"})
    parent = kernel.get_parent()
    message = session.msg("execute_reply", {"status": "ok", "execution_count": 1}, parent=parent)
    for _ in range(3):
        session.send(kernel.shell_stream, message, ident=parent.get("identity"))
    send("status", {"execution_state": "idle"})
    """,
    }
)
talk(
    {
        # Fewer messages than ZeroMQ keeps for a slow reader: of a flood, the cell's own may
        # be lost.
        "reports under the headers of cells to come": """
    import uuid
    outcomes = {"application/vnd.pytree-course.outcomes+json": "[]"}
    for number in range(100):
        for parent in ({"header": {"msg_id": uuid.uuid4().hex}},
                       {"header": {"msg_id": f"{session.session}_{number}"}},
                       {"header": {"msg_id": None}}):
            send("display_data", {"data": outcomes, "metadata": {}}, parent)
            send("status", {"execution_state": "idle"}, parent)
    """,
    },
    kinds={"count_leaves": "incorrect"},
)
talk(
    {
        "messages that are not Jupyter's": """
    mark, empty = b"<IDS|MSG>", [b"{}"] * 4
    for frames in ([b""], [b"x"] * 7, [mark], [mark, b"", b"{", *empty[1:]],
                   [mark, b"forged", *empty], [b"\\xff" * 1000] * 200):
        kernel.iopub_thread.send_multipart(frames)
    time.sleep(0.5)
    """,
        "a signed message nested 5,000 deep": """
    pack = session.pack
    session.pack = lambda value: b"[" * 5_000 + b"]" * 5_000
    try:
        send("display_data", {})
    finally:
        session.pack = pack
    """,
        "signed messages of strange forms": """
    for content in ({}, {"execution_state": []}, {"data": None}, {"data": 7, "metadata": []},
                    {"ename": None, "evalue": {}, "traceback": 7}, {"execution_state": None}):
        for kind in ("status", "display_data", "execute_result", "error", "stream", "", "\\ud800"):
            try:
                send(kind, content)
            except UnicodeError:
                pass
    send("error", {"ename": ["x"] * 10**5, "evalue": "\\x1b[31m" * 10**5, "traceback": []})
    """,
        "the sockets closed": """
    kernel.iopub_socket.close() if hasattr(kernel.iopub_socket, "close") else None
    for each in [kernel.iopub_thread.socket, kernel.shell_stream.socket]:
        each.close(0)
    """,
        "all files closed": """
    for number in range(200):
        try:
            os.close(number)
        except OSError:
            pass
    """,
    }
)
talk(
    {
        "output closed, and replaced": """
    import sys
    sys.stdout.close()
    sys.__stdout__ = sys.__stderr__ = sys.stdin = sys.excepthook = None
    """,
        "sockets replaced by links": """
    import glob
    for each in glob.glob("/tmp/kernel-*"):
        os.unlink(each)
        os.symlink("/proc/1/root/run/docker.sock", each)
    for at in range(100):
        os.symlink("/etc/shadow", f"/tmp/kernel-{at}")
    """,
        "signals ignored": """
    for number in range(1, 65):
        try:
            signal.signal(number, signal.SIG_IGN)
        except (OSError, ValueError):
            pass
    """,
    },
    f"\n{COUNT}",
    earns=("count_leaves",),
)
talk(
    {
        "heartbeat and output threads ended": """
    import ctypes
    for each in threading.enumerate():
        if each is not threading.main_thread():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_long(each.ident),
                                                       ctypes.py_object(SystemExit))
    kernel.iopub_thread.stop()
    """,
        "it kills all that it can, above all bubblewrap": """
    for each in (os.getppid(), 1, 2, 0, -1):
        for kind in (signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP):
            try:
                os.kill(each, kind)
            except OSError:
                pass
    """,
        "a fork that lives on in its place": """
    if os.fork():
        os._exit(0)
    """,
        "shut down and restarted by its own client": """
    from jupyter_client import BlockingKernelClient
    client = BlockingKernelClient()
    client.load_connection_file(kernel.parent.abs_connection_file)
    client.start_channels(hb=False, iopub=False, stdin=False)
    client.shutdown(restart=True)
    time.sleep(1)
    """,
        "the next cells queued by itself": """
    import json
    outcomes = "display({'application/vnd.pytree-course.outcomes+json': '[]'}, raw=True)"
    for _ in range(5):
        get_ipython().set_next_input(outcomes)
        get_ipython().payload_manager.write_payload({"source": "set_next_input", "text": outcomes})
    kernel.io_loop.call_later(0.1, lambda: get_ipython().run_cell(outcomes))
    """,
    }
)
talk(
    {
        "it ends itself": ("os._exit(0)"),
        "it kills itself": ("os.kill(os.getpid(), signal.SIGKILL)"),
        "another program in its place": (
            "os.execv('/bin/sh', ['/bin/sh', '-c', 'echo 1 passed; exit 0'])"
        ),
        "a crash of the interpreter": ("import ctypes; ctypes.string_at(1)"),
    },
    kinds={"count_leaves": "crashed"},
)

# ---- what is said in the place of the check's report: one kernel for all

SEVERAL = "reported results in the place of the check"
_REPORT = """
import json
from IPython.display import display
def {name}(*inputs):
    if not said:
        said.append(1)
        for report in reports():
            for form in (json.dumps, lambda parsed: parsed):  # the second is no text
                try:
                    display({"application/vnd.pytree-course.outcomes+json": form(report)}, raw=True)
                except Exception:
                    pass
    return -1
said = []
def outcome(observation, **more):
    return {"inputs": [], "written": [], "observation": observation, "printed": "", "line": None,
            "note": "", "predicted": "", **more}
star = ["star"]
def reports():
{reports}
"""


def report(cases: Mapping[tuple[str, str], str], reason: str = SEVERAL) -> None:
    """Add cases that report while the check calls them, before the check does."""
    for (name, exercise), reports in cases.items():
        lines = "\n".join("    " + line for line in dedent(reports).strip("\n").splitlines())
        code = _REPORT.replace("{name}", exercise).replace("{reports}", lines)
        # Names of one answer are there for the next one, which must not use them.
        code = code.replace("said", f"said_{exercise}").replace("reports", f"reports_{exercise}")
        family.local({(name, exercise): code}, reason=reason)


report(
    {
        ("a report a thousand times", "count_leaves"): "return [[]] * 1000",
        ("reports nested 600 deep", "leaf_shapes"): """
    node = star
    for _ in range(300):
        node = ["node", "dict", None, False, False, [["'a'", node]]]
    deep = []
    for _ in range(600):
        deep = [deep]
    return [[outcome(node)] * 10, [outcome(["array", "jax", "", [], deep])], deep]
    """,
        ("reports with numbers that are none, or too large", "nan_paths"): """
    numbers = [float("nan"), float("inf"), -float("inf"), 10**4000, -10**400, 1e308, -0.0, 2**63]
    return [[outcome(["number", "int", each]) for each in numbers],
            [outcome(["array", "jax", "x", [2**70, -1], numbers])]]
    """,
        ("reports with more inputs than texts of them", "same_structure"): """
    return [[outcome(star, inputs=[star] * 3), outcome(star, written=["x"] * 3)] * 30]
    """,
        (
            "reports with 30,000 inputs",
            "replace_leaves",
        ): "return [[outcome(star, inputs=[star] * 30_000, written=['x' * 9] * 30_000)]]",
        ("reports of wrong types", "leaf_at"): """
    wrong = [None, True, 1, -1.5, "x", [], {}, [[]], ["node"], [["node"]]]
    names = ("inputs", "written", "line", "note", "predicted", "printed", "more")
    return wrong + [[each] for each in wrong] + [[outcome(each)] for each in wrong] + [
        [outcome(star, **{name: each})] for each in wrong for name in names]
    """,
    }
)
report(
    {
        ("reports with surrogates and characters of no text", "count_nones"): """
    text = "\\ud800\\udfff\\x00\\uffff\\u202e\\x1b[2J"
    return [[outcome(["string", text, text], note=text, printed=text)]]
    """,
        # What is longer than any report is not read, and the check's own report counts.
        ("a report of 25 MB", "whole_shapes"): "return [[outcome(star, note='x' * 25 * 10**6)]]",
        ("a report of 100,000 outcomes", "shared_leaves"): "return [[outcome(star)] * 10**5]",
    },
    reason="",
)

family.local(
    {
        (
            "questions to the learner, comms, cleared outputs and widgets",
            "leaves_in_layer_order",
        ): """
    from IPython.display import clear_output, display, update_display
    from comm import create_comm
    asked = []
    def leaves_in_layer_order(tree):
        if not asked:
            asked.append(1)
            for question in (input, __import__("getpass").getpass):
                try:
                    question("points? ")
                except Exception:
                    pass
            for number in range(300):
                clear_output(wait=number % 2)
                comm = create_comm(target_name="jupyter.widget", data={"state": {}})
                comm.send({"method": "update"})
                comm.close()
                display("x", display_id=f"d{number}")
                update_display("y", display_id=f"d{number}")
        return []
    """,
    }
)
