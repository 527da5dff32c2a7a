"""A sandbox that is forked by the warm server is the same inside as one that is made afresh."""

import ast
import hashlib
import multiprocessing
import pickle
import time
from types import SimpleNamespace

import psutil
import pytest

from pytree_course.grading.sandbox import class_sandboxes, policy, server_process, use_server
from pytree_course.grading.sandbox import kernel as sandboxed_kernel
from tests import sandboxes
from tests.sandboxes import needs_sandbox, value_in

pytestmark = [pytest.mark.slow, needs_sandbox, pytest.mark.reads("src/pytree_course/grading")]

SET_UP = """\
import jax
import jax.numpy as jnp
import numpy as np

from pytree_course import Checks, draw, show_progress
"""
PROBE = """\
import atexit, glob, locale, os, platform, random, re, resource, signal, socket, stat, subprocess
import sys, tempfile, threading, warnings, logging, gc, multiprocessing, pathlib


def status(*names):
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return {name: lines[name].strip() for name in names}


def mounts():
    found = {}
    for line in open("/proc/self/mountinfo"):
        before, after = line.split(" - ")
        place, options = before.split()[4:6]
        kind, _, of_all = after.split()
        sizes = [each for each in of_all.split(",") if each.startswith(("size", "nr_", "mode"))]
        if place != "/course" and "/kernel-" not in place:  # files of the outside, or in memory
            found[place] = (kind, sorted(options.split(",")), sizes)
    return dict(sorted(found.items()))


def files(folder):
    kept = {}
    for name in sorted(os.listdir(folder)):
        about = os.lstat(os.path.join(folder, name))
        if name == "pts":
            continue  # an ordinary user's belongs to another user who has no name there
        kept[name] = (stat.filemode(about.st_mode), about.st_uid, about.st_gid, about.st_rdev)
    return kept


def descriptors():
    kinds = {}
    for file in os.listdir("/proc/self/fd"):
        try:
            link = os.readlink(f"/proc/self/fd/{file}")
        except OSError:
            continue
        if link.startswith(("pipe:", "anon_inode:")) or file == "0":
            continue  # the standard input is empty either way; ZeroMQ has more or fewer
        kind = re.sub(r"\\d+|kernel-\\w+", "N", link)
        kinds[kind] = kinds.get(kind, 0) + 1
    return dict(sorted(kinds.items()))


def named(value):
    return str(getattr(value, "__name__", value))


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
folders = ["/", "/tmp", "/dev", "/dev/shm", "/etc", "/proc", "/usr", "/course", "/proc/sys/user"]
result = {
    "ids": [os.getresuid(), os.getresgid(), os.getgroups()],
    "session": [os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid(), os.getpriority(0, 0)],
    "status": status(
        *("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"),
        *("Seccomp_filters", "SigBlk", "SigIgn", "SigCgt", "Umask", "Threads", "CoreDumping"),
    ),
    "oom": open("/proc/self/oom_score_adj").read(),
    "limits": {name: resource.getrlimit(getattr(resource, name)) for name in limits},
    "variables": {name: os.environ[name] for name in sorted(os.environ)},
    "in a child": run(sys.executable, "-c", "import os, sys; print(sorted(os.environ), sys.path)"),
    "mounts": mounts(),
    "folders": {name: files(name) for name in ("/", "/dev", "/dev/shm", "/etc", "/course")},
    "writable": [name for name in folders if os.access(name, os.W_OK)],
    "sizes": {name: os.statvfs(name).f_blocks for name in ("/tmp", "/dev/shm")},
    "descriptors": descriptors(),
    "host": [socket.gethostname(), platform.node(), sorted(os.listdir("/sys"))
             if os.path.exists("/sys") else []],
    "network": [socket.if_nameindex(), open("/proc/net/route").read()],
    "maps": [open(f"/proc/self/{name}").read().split()[::2] for name in ("uid_map", "gid_map")],
    "controls": open("/proc/self/cgroup").read(),
    "path": sys.path,
    "arguments": [sys.argv[1:2], os.path.basename(sys.argv[0]), sys.flags, sys.warnoptions],
    "cwd": os.getcwd(),
    "signals": {name.name: named(signal.getsignal(name)) for name in signal.valid_signals()
                if hasattr(name, "name")},
    "threads": sorted(re.sub(r"\\d+", "N", each.name) for each in threading.enumerate()),
    "temporary": tempfile.gettempdir(),
    "text": [locale.getlocale(), sys.getfilesystemencoding(), locale.getpreferredencoding()],
    "JAX": jax.config.values,
    "devices": str(jax.devices()),
    "numpy": [np.geterr(), np.get_printoptions()],
    "filters": sorted(str(each) for each in warnings.filters),
    "collector": [gc.isenabled(), gc.get_threshold()],
    "recursion": sys.getrecursionlimit(),
    "multiprocessing": multiprocessing.get_start_method(),
    "registered": sorted(map(str, jax.tree_util._registry)) if hasattr(
        jax.tree_util, "_registry") else [],
    "displayhook": [named(type(sys.displayhook)), named(sys.excepthook), named(type(sys.stdout))],
    "streams": [sys.stdin and sys.stdin.encoding, sys.stdout.encoding, sys.__stdout__.name],
    "loggers": [logging.root.level, len(logging.root.handlers)],
    "extensions": sorted(get_ipython().extension_manager.loaded),
    "names": sorted(name for name in get_ipython().user_ns if not name.startswith("_")),
    "dumpable": os.stat("/proc/self").st_uid,
    "seen": sorted(name for name in os.listdir("/proc") if not name.isdigit()),
    "keys": [os.access(name, os.R_OK) for name in ("/proc/keys", "/proc/key-users")],
    "terminal": get_ipython().getoutput("ls -d /tmp; tty; id -u; ulimit -n"),
    "modules": sorted(set(sys.modules)),
    "display formatters": sorted(get_ipython().display_formatter.formatters),
    "comms": sorted(getattr(get_ipython().kernel, "comm_manager", None).targets),
    "affinity": sorted(os.sched_getaffinity(0)),
    "at exit": atexit._ncallbacks() > 0,
}
"""


@pytest.fixture
def started(monkeypatch):
    """Start a kernel of an engine; all are stopped in the end."""
    running = []

    def start(engine="warm"):
        monkeypatch.setenv(policy.ENGINE_VARIABLE, engine)
        running.append(sandboxes.started({"checks/check.py": "text = 'ä'"}, GIVEN="1"))
        return running[-1]

    yield start
    for kernel in running:
        kernel.stop()


EVERYTHING = "{name: repr(value) for name, value in result.items()}"


def test_both_engines_are_the_same_inside(started):
    warm, fresh = (
        value_in(started(engine), SET_UP + PROBE, EVERYTHING) for engine in ("warm", "fresh")
    )
    modules = [set(ast.literal_eval(inside.pop("modules"))) for inside in (warm, fresh)]
    assert warm == fresh
    assert not modules[1] - modules[0]
    # How the sandbox was made. Nothing of it is secret.
    more = {name for name in modules[0] - modules[1] if "pytree_course.grading" not in name}
    assert more <= {"pytree_course.compiled", "pytree_course.built", "rfc3987_syntax"}


def test_no_two_sandboxes_draw_the_same_numbers(started):
    draw = (
        "import random, numpy as np, uuid\n"
        "result = [random.random(), np.random.rand(), uuid.uuid4().hex]"
    )
    first, second = (value_in(started(), draw) for _ in range(2))
    assert not set(first) & set(second)


# Looks through a sandbox's own memory, where the server's is too, for a key of which it knows the
# beginning and the digest: the search itself does not hold what it looks for.
SEARCH = """\
import hashlib, re
head, digest = {head!r}, {digest!r}
result = 0
with open("/proc/self/mem", "rb", 0) as memory:
    for line in open("/proc/self/maps"):
        start, end = (int(each, 16) for each in line.split()[0].split("-"))
        if "rw-p" in line:
            memory.seek(start)
            block = memory.read(end - start) or b""
            for found in re.finditer(re.escape(head), block):
                key = block[found.start() : found.start() + 64]
                result += hashlib.sha256(key).hexdigest() == digest
"""


def test_a_sandbox_has_nothing_in_memory_that_another_was_given(started):
    first, second = started(), started()
    key = first.kc.session.key
    search = SEARCH.format(head=key[:16], digest=hashlib.sha256(key).hexdigest())
    assert value_in(first, search) > 0
    assert value_in(second, search) == 0


def test_processes_and_files_do_not_pile_up(started):
    own = psutil.Process()

    def used():
        time.sleep(1)  # until the server's view has taken notice of the last ends
        return own.num_fds(), own.num_threads(), len(own.children(recursive=True))

    started().stop()
    before = used()
    for _ in range(5):
        started().stop()
    assert used() == before


@pytest.mark.parametrize("in_class", [False, True])
def test_where_no_server_can_start_kernels_start_one_by_one(started, monkeypatch, capfd, in_class):
    door = server_process.Door()
    for module in (server_process, sandboxed_kernel):
        monkeypatch.setattr(module, "door", door)
    monkeypatch.setattr(server_process, "serving", lambda *_: ["sh", "-c", "echo broken >&2"])
    if in_class:
        with class_sandboxes() as begin:
            pickle.loads(pickle.dumps(begin))()  # in a process of the pool, which tries none itself
    for _ in range(2):
        assert value_in(started(), "result = 1") == 1
    assert capfd.readouterr().err.count("broken") == 1  # and not for each kernel


def test_the_last_words_of_a_server_that_fails_late_are_said(started, monkeypatch, capfd, tmp_path):
    monkeypatch.setattr(sandboxed_kernel, "door", server_process.Door())
    spoken = tmp_path / "spoken"
    late = ["sh", "-c", f"echo broken late >&2; touch {spoken}; exec sleep 600"]
    monkeypatch.setattr(server_process, "serving", lambda *_: late)
    trials = iter([SimpleNamespace(end=lambda: None)])

    def ask(*_):
        for first in trials:
            while not spoken.exists():
                time.sleep(0.01)
            return first
        raise server_process.WarmServerError("no answer:")

    monkeypatch.setattr(server_process, "ask", ask)
    assert value_in(started(), "result = 1") == 1
    assert "no answer: broken late" in capfd.readouterr().err
    assert "sleep" not in [each.name() for each in psutil.Process().children()]


def test_when_the_server_is_killed_its_kernels_end_and_others_start(started, monkeypatch):
    monkeypatch.setattr(sandboxed_kernel, "door", server_process.Door())
    before = {*psutil.Process().children()}
    kernel = started()
    (server,) = {*psutil.Process().children()} - before
    server.kill()
    kernel.run_cell("import time; time.sleep(600)")
    assert not kernel.is_alive()
    assert value_in(started(), "result = 1") == 1


def test_a_sandbox_ends_with_the_process_that_asked_for_it_though_the_server_goes_on():
    ours, theirs = multiprocessing.Pipe()
    server = server_process.WarmServer()
    server.require_sandbox()
    context = multiprocessing.get_context("spawn")
    asking = context.Process(target=ask_and_wait, args=(server.requests, theirs))
    asking.start()
    sandbox = psutil.Process(ours.recv())
    inside = [sandbox, *sandbox.children(recursive=True)]
    assert len(inside) > 1
    asking.kill()
    assert not psutil.wait_procs(inside, timeout=60)[1]
    server.require_sandbox()
    server.close()


def ask_and_wait(requests, tell):
    use_server(requests)
    kernel = sandboxed_kernel.SandboxedKernel({}, {})
    tell.send(kernel.sandbox.pid)
    time.sleep(60)
