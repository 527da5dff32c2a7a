"""Protocol: what a kernel says and how it ends, when the learner's code decides it."""

from textwrap import dedent

from tests.hostile.case import COUNT, Family

family = Family("protocol")

WRONG = "\ndef count_leaves(tree):\n    return 10**6\n"
SEND = """
import os, signal, time
kernel = get_ipython().kernel
session, iopub = kernel.session, kernel.iopub_socket
def send(kind, content, parent=None):
    session.send(iopub, kind, content, parent=parent or kernel.get_parent())
"""
TALK = {
    "idle, and the reply, before the cell has ended": """
    send("status", {"execution_state": "idle"})
    parent = kernel.get_parent()
    message = session.msg("execute_reply", {"status": "ok", "execution_count": 1}, parent=parent)
    for _ in range(3):
        session.send(kernel.shell_stream, message, ident=parent.get("identity"))
    """,
    "messages that are not Jupyter's, and signed ones of strange forms": """
    mark, empty = b"<IDS|MSG>", [b"{}"] * 4
    for frames in ([b""], [b"x"] * 7, [mark], [mark, b"", b"{", *empty[1:]],
                   [mark, b"forged", *empty], [b"\\xff" * 1000] * 200):
        kernel.iopub_thread.send_multipart(frames)
    for content in ({}, {"execution_state": []}, {"data": 7}, {"ename": None, "evalue": {}}):
        for kind in ("status", "display_data", "execute_result", "error", "stream", ""):
            send(kind, content)
    pack = session.pack
    session.pack = lambda value: b"[" * 5_000 + b"]" * 5_000
    send("display_data", {})
    session.pack = pack
    """,
    "all files closed": "os.closerange(0, 200)",
    "it kills all that it can, above all the sandbox's first process": """
    for target in (os.getppid(), 1, 2, 0, -1):
        for kind in (signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
            try:
                os.kill(target, kind)
            except OSError:
                pass
    """,
    "a fork that lives on in its place": """
    if os.fork():
        os._exit(0)
    """,
    "messages signed with another key": "session.key = b'forged'",
}
for name, code in TALK.items():
    family.case(name, {"count_leaves": SEND + dedent(code) + WRONG})

ENDED = "os._exit(0)"
family.case("it ends itself", {"count_leaves": SEND + ENDED}, kinds={"count_leaves": "crashed"})

# Fewer messages than ZeroMQ keeps for a slow reader: of a flood, the cell's own may be lost.
GUESSED = """
import uuid
outcomes = {"application/vnd.pytree-course.outcomes+json": "[]"}
for number in range(100):
    for mine in (uuid.uuid4().hex, f"{session.session}_{number}", None):
        parent = {"header": {"msg_id": mine}}
        send("display_data", {"data": outcomes, "metadata": {}}, parent)
        send("status", {"execution_state": "idle"}, parent)
"""
family.case(
    "reports under the headers of cells to come",
    {"count_leaves": SEND + GUESSED + WRONG},
    kinds={"count_leaves": "incorrect"},
)
HONEST = """
import sys
sys.stdout.close()
sys.__stdout__ = sys.__stderr__ = sys.stdin = sys.excepthook = None
for number in {*signal.valid_signals()} - {9, 19}:
    signal.signal(number, signal.SIG_IGN)
"""
family.case(
    "output closed and signals ignored, by a right answer",
    {"count_leaves": SEND + HONEST + COUNT},
    earns=("count_leaves",),
)

# ---- what is said in the place of the check's report: one kernel for all

REPORT = """
import json
said_{name} = []
def {name}(*inputs):
    def outcome(observation, **more):
        return {"inputs": [], "written": [], "observation": observation, "printed": "",
                "line": None, "note": "", "predicted": "", **more}
    if not said_{name}:
        said_{name}.append(1)
        for reported in {reports}:
            display({"application/vnd.pytree-course.outcomes+json": json.dumps(reported)}, raw=True)
    return -1
"""
SEVERAL = "reported results instead of the check"
for name, exercise, reports, reason in (
    # Fewer than ZeroMQ keeps for a reader that the machine holds up: it drops what is beyond 1,000.
    ("a report a hundred times", "count_leaves", "[[]] * 100", SEVERAL),
    (
        "a report with characters of no text",
        "same_structure",
        r"[[outcome(['string', '\ud800\x00\uffff\u202e\x1b[2J', ''], note='\ud800\x1b[2J')]]",
        "",
    ),
    # What is longer than any report is not read, and the check's own report counts.
    ("a report of 25 MB", "whole_shapes", "[[outcome(['star'], note='x' * 25 * 10**6)]]", ""),
):
    code = REPORT.replace("{name}", exercise).replace("{reports}", reports)
    family.local({(name, exercise): code}, reason=reason)
