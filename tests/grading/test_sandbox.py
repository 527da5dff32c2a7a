"""The sandbox: what a learner's code cannot see, reach, write or use up, by either door."""

import hashlib
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import psutil
import pytest

from pytree_course.course import CourseError
from pytree_course.grading import limits
from pytree_course.grading.cell_run import CellEnd
from pytree_course.grading.sandbox import class_sandboxes, policy, require_hidden
from tests import sandboxes
from tests.conftest import ROOT
from tests.sandboxes import needs_sandbox, value_in

if sys.platform == "linux":
    from pytree_course.grading.sandbox import doors
    from pytree_course.grading.sandbox import kernel as sandboxed_kernel
    from pytree_course.grading.sandbox.policy import _parent_options

pytestmark = [pytest.mark.slow, needs_sandbox]

DOORS = ("warm", "fresh")


@pytest.fixture
def started(monkeypatch):
    """Start a kernel by a door; all are stopped in the end."""
    running = []

    def start(way_in="warm"):
        with monkeypatch.context() as patch:
            if way_in == "fresh":
                patch.setattr(doors.door, "make_sandbox", doors.fresh_sandbox)
            running.append(sandboxes.started({"checks/check.py": "text = 'ä'"}, GIVEN="1"))
        return running[-1]

    yield start
    for kernel in running:
        kernel.stop()


@pytest.fixture(scope="module")
def kernel():
    # What a teacher's own environment may hold.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "hunter2")
        kernel = sandboxes.started()
    yield kernel
    kernel.stop()


@pytest.fixture
def inside(kernel):
    """Run code in the sandbox, and return the value of its variable `result`."""
    return partial(value_in, kernel)


def test_nothing_of_the_teachers_is_in_sight(inside, tmp_path):
    hidden = [
        *(ROOT / name for name in ("sources", "solutions", "exercises", "checks", ".git")),
        *(tmp_path, Path.home() / ".ssh", Path("/etc/passwd"), Path("/etc/shadow"), Path("/var")),
    ]
    assert inside(f"import os\nresult = [*filter(os.path.exists, {[*map(str, hidden)]})]") == []
    assert set(inside("result = os.listdir('/')")) <= {
        *("bin", "lib", "lib64", "usr", "etc", "dev", "proc", "tmp", "course"),
        *(folder.parts[1] for folder in policy.python_folders()),
    }
    assert inside("result = os.listdir('/etc')") == ["ld.so.cache"]
    assert inside("result = os.listdir('/course')") == ["checks"]
    # The processes that made the sandbox have variables of their own.
    readable = inside(
        "import glob\nresult = ''\nfor file in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: result += open(file).read()\n    except PermissionError: pass"
    )
    assert "JAX_PLATFORMS" in readable
    assert "hunter2" not in readable


def test_nothing_of_the_host_is_open_or_mounted_to_be_written(inside):
    mounts = [line.split() for line in inside("result = [*open('/proc/self/mountinfo')]")]
    for _, _, _, _, place, options, *rest in mounts:
        kind = rest[rest.index("-") + 1]
        is_own = kind in ("tmpfs", "proc") or place.startswith("/dev/")
        assert "nosuid" in options and ("ro" in options.split(",") or is_own), place
    assert inside("import os\nresult = sorted(os.listdir('/dev'))") == [
        *("core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin"),
        *("stdout", "tty", "urandom", "zero"),
    ]
    assert inside("result = os.listdir('/dev/pts')") == ["ptmx"]
    opened = inside(
        "import glob\nlinks = [os.readlink(file) for file in glob.glob('/proc/self/fd/*') "
        "if os.path.islink(file)]\nresult = [link for link in links if link.startswith('/')]"
    )
    inside_only = ("/dev/", "/proc/", "/tmp/ipython/")
    assert [file for file in opened if not file.startswith(inside_only)] == []


# Each adds to `reached` what it should not.
ATTEMPTS = {
    "the network": """
    for address in [("127.0.0.1", 22), ("1.1.1.1", 80), ("169.254.169.254", 80)]:
        attempt(lambda: socket.create_connection(address, 1))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        attempt(lambda: datagrams.sendto(b"x", ("1.1.1.1", 53)))
    attempt(lambda: socket.getaddrinfo("example.org", 80))
    for family, kind, protocol in [(2, 3, 1), (17, 3, 768), (10, 1, 0), (38, 5, 0), (40, 1, 0)]:
        attempt(lambda: socket.socket(family, kind, protocol))
    for place in ["/run/dbus/system_bus_socket", "/var/run/docker.sock", chr(0) + "snapd"]:
        attempt(lambda: socket.socket(socket.AF_UNIX).connect(place) or "connected")
    """,
    "other processes": """
    for pid in {*map(int, filter(str.isdigit, os.listdir("/proc")))} - {os.getpid()}:
        attempt(lambda: os.listdir(f"/proc/{pid}/fd"))
        attempt(lambda: open(f"/proc/{pid}/mem").read(1))
    """,
    "visible folders, to write to them": """
    folders = [os.path.dirname(os.__file__), sys.prefix, "/course", "/usr/bin", "/", "/etc", "/dev"]
    for place in folders + [place for place in sys.path if os.path.isdir(place)]:
        if not place.startswith("/tmp"):
            attempt(lambda: os.mkdir(os.path.join(place, "x")) or "made")
    attempt(lambda: open("/course/checks/check.py", "a"))
    attempt(lambda: os.rename("/course", "/course2") or "renamed")
    for name in ("sys/kernel/core_pattern", "self/uid_map", "self/oom_score_adj", "self/autogroup"):
        attempt(lambda: os.write(os.open(f"/proc/{name}", os.O_WRONLY), b"-1000"))
    """,
    "rights and limits": """
    attempt(lambda: os.setuid(0) or "root")
    attempt(lambda: os.setgroups([0]) or "a group")
    shutil.copy("/usr/bin/id", "/tmp/id")
    os.chmod("/tmp/id", 0o6777)
    attempt(lambda: "euid=0" in subprocess.check_output(["/tmp/id"], text=True))
    attempt(lambda: os.mknod("/tmp/zero", 0o20666, os.makedev(1, 5)) or "a device")
    for name in ("NPROC", "FSIZE", "DATA", "CPU", "NOFILE", "CORE"):
        limit = getattr(resource, f"RLIMIT_{name}")
        more = resource.getrlimit(limit)[1] + 1
        attempt(lambda: resource.setrlimit(limit, (more, more)) or "raised")
    for nice in (-20, 19):  # or kept waiting without using time
        attempt(lambda: os.setpriority(0, 0, nice) or "other priority")
    for kind in (os.SCHED_IDLE, os.SCHED_BATCH, os.SCHED_FIFO):
        attempt(lambda: os.sched_setscheduler(0, kind, os.sched_param(0)) or "other kind")
    """,
    "devices": """
    for place in ("/dev/console", "/dev/pts/0", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/dev/kvm"):
        attempt(lambda: os.open(place, os.O_RDWR | os.O_NONBLOCK))
    terminal = os.openpty()
    attempt(lambda: fcntl.ioctl(terminal[0], 0x5412, b"x"))
    for end in terminal:
        os.close(end)
    """,
    "compiled programs": """
    place = os.environ["JAX_COMPILATION_CACHE_DIR"]
    folder = os.open(place, os.O_PATH)
    for way in (place, f"/proc/self/fd/{folder}", f"/proc/self/root{place}"):
        attempt(lambda: os.listdir(way))
    attempt(lambda: os.chmod(place, 0o777) or "allowed")
    attempt(lambda: os.symlink("/tmp", f"{place}/jit_poisoned-0-cache") or "linked")
    attempt(lambda: os.rename(place, "/tmp/programs") or "moved")
    """,
}
ATTEMPT = """
import fcntl, os, resource, shutil, socket, subprocess, sys
reached = []
def attempt(call):
    try:
        reached.extend(filter(None, [call()]))
    except (OSError, ValueError):
        pass
if True:
{code}
result = [*map(str, reached)]
"""


@pytest.mark.parametrize("code", ATTEMPTS.values(), ids=ATTEMPTS)
def test_out_of_reach_is(inside, code):
    assert inside(ATTEMPT.replace("{code}", code)) == []


NEW_USER, CHILD_ENDED = 0x10000000, 17


def test_a_call_that_no_answer_needs_is_absent(inside):
    import pyseccomp

    def number(name):
        return int(pyseccomp.resolve_syscall(pyseccomp.Arch.NATIVE, name))

    # Each would do something, or complain of something else, if it were not refused.
    absent = [
        *([number("keyctl"), 0, -3, 1], [number("add_key"), 0, 0, 0, 0, -3]),
        *([number(name)] for name in ("bpf", "perf_event_open", "userfaultfd", "setns", "mount")),
        *([number(name)] for name in ("ptrace", "process_vm_readv", "open_by_handle_at", "fsopen")),
        *([number(name)] for name in ("kexec_load", "init_module", "io_setup", "inotify_init1")),
        *([number(name)] for name in ("io_uring_setup", "clone3", "memfd_create", "shmget")),
        *([444, 0, 0, 1], [445], [446], [460], [599]),  # Landlock, and the newest
        *([number("unshare"), 0], [number("personality"), 8]),
        *([number("fcntl"), 0, command, 0] for command in (1024, 1026)),
        [number("clone"), NEW_USER | CHILD_ENDED, 0, 0, 0, 0],
        *([number("ioctl"), 0, request] for request in (0x5412, 0x541C, 0x5412 + 2**40)),
        *([number("socket"), family, 1, 0] for family in (10, 17, 38, 40, 1000)),
    ]
    called = (
        "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\nresult = set()\n"
        f"for number, *arguments in {absent}:\n"
        "    done = libc.syscall(*map(ctypes.c_long, [number, *arguments]))\n"
        "    result.add(errno.errorcode[ctypes.get_errno()] if done < 0 else number)"
    )
    assert inside(called) == {"ENOSYS"}


def test_what_is_said_to_be_bounded_is(inside):
    process_limits = inside(
        "import os, resource\nnames = [name for name in dir(resource) if name[:7] == 'RLIMIT_']\n"
        "numbers = [getattr(resource, name) for name in names]\n"
        "result = {number: resource.getrlimit(number) for number in numbers}"
    )
    for limit, bound in policy.process_limits().items():
        assert process_limits[limit] == (bound, bound)
    sizes = "result = [os.statvfs(place) for place in ('/tmp', '/dev/shm')]\n"
    sizes += "result = [(size.f_blocks * size.f_frsize, size.f_files) for size in result]"
    assert inside(sizes) == [(limits.FOLDER_BYTES, limits.FILES)] * 2
    terminals = (
        "result = []\ntry:\n    while True: result.append(os.openpty())\n"
        "except OSError: pass\n[os.close(file) for pair in result for file in pair]\n"
        "result = len(result)"
    )
    assert inside(terminals) == limits.TERMINALS
    threads = (
        "import threading\ndone, result = threading.Event(), ''\ntry:\n"
        f"    for _ in range({limits.THREADS}): threading.Thread(target=done.wait).start()\n"
        "except RuntimeError: result = 'no more'\nfinally: done.set()"
    )
    assert inside(threads) == "no more"


CHILDREN = """
import os, time
block = b"x" * 100_000_000
children = []
for _ in range(8):
    if (child := os.fork()) == 0:
        time.sleep(2)
        os._exit(0)
    children.append(child)
for child in children: os.waitpid(child, 0)
"""


def test_memory_that_processes_share_counts_once(started, monkeypatch):
    kernel = started()
    monkeypatch.setattr(limits, "MEMORY", 600 * limits.MIB)
    assert kernel.run_cell(CHILDREN).end is CellEnd.FINISHED


def test_a_watch_that_fails_ends_the_sandbox(started, monkeypatch):
    kernel = started()
    monkeypatch.setattr(kernel._kernel, "_exceeded_limit", lambda: 1 / 0)
    assert kernel.run_cell("import time; time.sleep(600)").end is CellEnd.KERNEL_ENDED


def test_a_kernels_socket_cannot_be_exchanged_for_one_of_the_outside(started, tmp_path):
    import socket

    with socket.socket(socket.AF_UNIX) as teachers:
        teachers.bind(str(tmp_path / "teachers"))
        teachers.listen()
        code = (
            "import glob, os\nfor name in glob.glob('/tmp/kernel-*'):\n    os.unlink(name)\n"
            f"    os.symlink({str(tmp_path / 'teachers')!r}, name)\nos._exit(0)"
        )
        assert started().run_cell(code).end is CellEnd.KERNEL_ENDED
        teachers.settimeout(1.0)  # a lost connection is made anew at once
        with pytest.raises(TimeoutError):
            teachers.accept()


# What an answer may use besides what the solutions do.
HONEST = {
    "a plot": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('/tmp/x.png')",
    "programs": """
import shutil, sqlite3, subprocess, sys, tempfile
for command in "sleep 0.1 & wait; ls | wc -l", "timeout 50 env", "nice true", "cp -r /course .":
    subprocess.run(command, shell=True, check=True, capture_output=True)
subprocess.run([sys.executable, "-c", "import jax; jax.numpy.ones(3).sum()"], check=True)
shutil.copytree("/course", tempfile.mkdtemp(), dirs_exist_ok=True)
sqlite3.connect("/tmp/mine.sqlite").execute("CREATE TABLE mine (one)")
""",
    "shells": "!sleep 0.1 & wait\n!date; uname -a; ps; id\n!echo hi > notes.txt",
    "a shell's cell": "%%bash\nsleep 0.1 & wait\nfor each in a b; do cat <<< $each; done",
    "processes and threads": """
import asyncio, concurrent.futures, fcntl, multiprocessing, os, select, signal, threading
process = await asyncio.create_subprocess_shell("sleep 0.1 & wait")
await process.wait()
assert await asyncio.to_thread(len, "abc") == 3
with multiprocessing.get_context("fork").Pool(os.cpu_count() + 8) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert [*pool.map(abs, [-1, 2])] == [1, 2]
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
with open("/tmp/locked", "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
""",
    "arrays": """
import jax, jax.numpy as jnp, numpy as np
np.linalg.svd(np.ones((200, 200)))
np.save("/tmp/mine.npy", np.ones(3))
np.load("/tmp/mine.npy", mmap_mode="r")
jax.pmap(lambda x: x)(jnp.ones((1, 2)))
jax.pure_callback(np.asarray, jax.ShapeDtypeStruct((), jnp.float32), jnp.float32(1))
jax.debug.print("{}", jax.random.normal(jax.random.key(0), (500, 500)).sum())
""",
}


@pytest.mark.parametrize("code", HONEST.values(), ids=HONEST)
def test_honest_code_runs(kernel, code):
    kernel.start_exercise()
    run = kernel.run_cell(code)
    assert (run.error, run.end) == (None, CellEnd.FINISHED)


# ---- the doors

PROBE = """
import jax, jax.numpy as jnp, numpy as np
from pytree_course import Checks, draw, show_progress
import contextlib, os, re, resource, signal, sys, threading

def named(value):
    return str(getattr(value, "__name__", value))

status = dict(line.split(":", 1) for line in open("/proc/self/status"))
told = ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters", "SigBlk", "SigCgt")
mounts = [line.split() for line in open("/proc/self/mountinfo")]
opened = []
for name in os.listdir("/proc/self/fd"):
    with contextlib.suppress(FileNotFoundError):  # a thread of the kernel has closed it
        opened.append(os.readlink(f"/proc/self/fd/{name}"))
result = {
    "ids": [os.getresuid(), os.getresgid(), os.getgroups()],
    "session": [os.getsid(0) == os.getpid(), os.getppid(), os.getpriority(0, 0)],
    "status": [status[name].strip() for name in (*told, "Umask", "Threads")],
    "limits": [resource.getrlimit(number) for number in range(16)],
    "mounts": sorted((mount[4], mount[5]) for mount in mounts),
    "files": [sorted(os.listdir(place)) for place in ("/", "/dev", "/dev/shm", "/etc", "/course")],
    "open": sorted({re.sub(r"\\d+|kernel-\\w+", "N", name) for name in opened}),
    "environment": sorted(os.environ.items()),
    "folder": os.getcwd(),
    "path": [sys.path, sys.executable, sys.argv, sys.flags],
    "signals": [named(signal.getsignal(kind)) for kind in signal.Signals],
    "threads": sorted(re.sub(r"\\d+", "N", thread.name) for thread in threading.enumerate()),
    "extensions": sorted(get_ipython().extension_manager.loaded),
    "names": sorted(name for name in get_ipython().user_ns if not name.startswith("_")),
}
"""
EVERYTHING = "{name: repr(value) for name, value in result.items()}"


def test_both_doors_lead_to_the_same_inside(started):
    warm, fresh = (value_in(started(way_in), PROBE, EVERYTHING) for way_in in DOORS)
    assert warm == fresh


AS_ANOTHER_USER = """
import json, os
from tests.sandboxes import started, value_in
from pytree_course.grading.sandbox.doors import use_server
for way_in in ("warm", "fresh"):
    if way_in == "fresh":
        use_server(None)
    kernel = started()
    print(json.dumps(value_in(kernel, '''
import os
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
result = os.getuid(), status["CapEff"].strip(), sorted(os.listdir("/")), os.access("/usr", os.W_OK)
''')))
    kernel.stop()
"""


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="needs root, to become another")
def test_an_ordinary_user_has_the_same_sandboxes(kernel):
    # Root's home, where Python may lie, is closed to others: they are shown that part of it alone.
    folders = [str(folder) for folder in (*policy.python_folders(), ROOT)]
    binds = []
    for folder in folders:
        binds += [*_parent_options(folder), "--ro-bind", folder, folder]
    home = ["--perms", "0755", "--tmpfs", str(Path.home())]
    become = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run(
        [
            *("bwrap", "--dev-bind", "/", "/", *home, *binds, "--chdir", str(ROOT), *become),
            *("env", "HOME=/nowhere", sys.executable, "-c", AS_ANOTHER_USER),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "slowly" not in done.stderr  # by the door that was asked for
    roots = sorted(value_in(kernel, "import os\nresult = os.listdir('/')"))
    values = [json.loads(line) for line in done.stdout.splitlines()]
    assert values == [[1000, "0" * 16, roots, False]] * 2


# Looks through a sandbox's own memory, where the server's is too, for a key of which it knows the
# beginning and the digest: the search itself does not hold what it looks for.
SEARCH = """\
import hashlib, re
head, digest = {head!r}, {digest!r}
result = 0
with open("/proc/self/mem", "rb", 0) as memory:
    for line in open("/proc/self/maps"):
        start, end = (int(address, 16) for address in line.split()[0].split("-"))
        if "rw-p" in line:
            memory.seek(start)
            block = memory.read(end - start) or b""
            for match in re.finditer(re.escape(head), block):
                key = block[match.start() : match.start() + 64]
                result += hashlib.sha256(key).hexdigest() == digest
"""
MARK = """
import os, random, uuid, numpy as np
result = [random.random(), np.random.rand(), uuid.uuid4().hex]
for place in ("/tmp", "/dev/shm"):
    result += [name for name in os.listdir(place) if name.startswith("left-")]
    open(f"{place}/left-{uuid.uuid4().hex}", "w").close()
"""


def test_a_sandbox_shares_no_numbers_no_memory_and_no_files_with_another(started):
    first, second = started(), started()
    assert not {*value_in(first, MARK)} & {*(drawn := value_in(second, MARK))}
    assert len(drawn) == 3
    key = first.kc.session.key
    search = SEARCH.format(head=key[:16], digest=hashlib.sha256(key).hexdigest())
    assert value_in(first, search) > 0
    assert value_in(second, search) == 0


@pytest.mark.parametrize("way_in", DOORS)
def test_processes_and_files_do_not_pile_up(started, way_in):
    grader = psutil.Process()

    def used():
        return grader.num_fds() + grader.num_threads() + len(grader.children(recursive=True))

    started(way_in).stop()
    before, deadline = used(), time.monotonic() + 60
    for _ in range(3):
        started(way_in).stop()
    while (after := used()) > before and time.monotonic() < deadline:
        time.sleep(0.1)  # a server notes the last end later
    assert after <= before


@pytest.fixture
def own_door(monkeypatch):
    """Let this process choose its door again; servers that are started meanwhile are ended."""
    monkeypatch.setattr(doors, "door", doors.Door())
    monkeypatch.setattr(sandboxed_kernel, "door", doors.door)
    before = {*psutil.Process().children()}
    yield
    for process in {*psutil.Process().children()} - before:
        process.kill()


@pytest.mark.parametrize("in_class", [False, True])
def test_where_no_server_can_start_kernels_start_one_by_one(
    own_door, started, monkeypatch, capfd, in_class
):
    start = doors._start
    monkeypatch.setattr(
        doors,
        "_start",
        lambda module, *rest: start("broken" if module == "warm_server" else module, *rest),
    )
    if in_class:
        with class_sandboxes([]) as begin:
            pickle.loads(pickle.dumps(begin))()  # in a process of the pool, which tries none itself
    for _ in range(2):
        assert value_in(started(), "result = 1") == 1
    assert capfd.readouterr().err.count("slowly: ") == 1  # and not for each kernel


def test_when_the_server_is_killed_its_kernels_end_and_others_start(own_door, started, capfd):
    before = {*psutil.Process().children()}
    kernel = started()
    (server,) = {*psutil.Process().children()} - before
    server.kill()
    assert kernel.run_cell("import time; time.sleep(600)").end is CellEnd.KERNEL_ENDED
    assert value_in(started(), "result = 1") == 1
    assert "slowly: " in capfd.readouterr().err


@pytest.mark.parametrize("way_in", DOORS)
def test_a_sandbox_ends_with_the_process_that_asked_for_it(way_in):
    ours, theirs = multiprocessing.Pipe()
    door = doors.Door()
    door.make_sandbox(sandboxed_kernel.kernel_request({}, {})[1]).end()
    requests = door.requests if way_in == "warm" else None
    context = multiprocessing.get_context("spawn")
    asking = context.Process(target=ask_and_wait, args=(requests, theirs))
    asking.start()
    first = psutil.Process(ours.recv())
    processes = [first, *first.children(recursive=True)]
    assert len(processes) > 1
    asking.kill()
    assert not psutil.wait_procs(processes, timeout=60)[1]
    door.make_sandbox(sandboxed_kernel.kernel_request({}, {})[1]).end()
    assert door.requests is not None  # still by the server
    door.close()


def ask_and_wait(requests, tell):
    doors.use_server(requests)
    kernel = sandboxed_kernel.SandboxedKernel({}, {})
    tell.send(kernel.sandbox.pid)
    time.sleep(600)


# ---- where there is no sandbox


def test_without_its_programs_it_is_said_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    message = r"needs bwrap and libseccomp\. Install it.*bubblewrap libseccomp2`.*--unsand"
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "pyseccomp", raising=False)
        with pytest.raises(CourseError, match=message), class_sandboxes([]):
            pass


@pytest.mark.parametrize("folder", policy.visible_folders() if sys.platform == "linux" else [])
def test_nothing_private_may_lie_in_any_folder_that_is_shown(folder):
    with pytest.raises(CourseError, match=r"class lies in .*, which every sandbox shows.* Move it"):
        require_hidden([folder / "class"])


def test_a_home_that_links_to_a_folder_that_is_shown_is_refused(monkeypatch, tmp_path):
    require_hidden([tmp_path])
    (tmp_path / "link").symlink_to(sys.prefix)
    monkeypatch.setenv("HOME", str(tmp_path / "link" / "teacher"))
    with pytest.raises(CourseError, match="teacher lies in"):
        require_hidden([tmp_path])


@pytest.mark.parametrize(
    ("script", "message"),
    [
        (
            "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
            "No p.*\\n.*than root",
        ),
        (
            "echo 'PermissionError: mount /: ...' >&2; exit 1",
            "\\n.*apparmor_parser",
        ),
        ("exec sleep 600", "did not start"),
    ],
)
def test_what_keeps_bubblewrap_from_working_is_said(monkeypatch, tmp_path, script, message):
    broken = tmp_path / "bwrap"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(limits, "START_SECONDS", 2.0)
    with pytest.raises(CourseError, match=message), class_sandboxes([]):
        pass


def test_a_lower_limit_of_the_machine_holds_inside():
    code = (
        "from tests.sandboxes import started, value_in\nkernel = started()\n"
        "code = 'import resource\\nresult = resource.getrlimit(resource.RLIMIT_NOFILE)'\n"
        "print(value_in(kernel, code))\nkernel.stop()"
    )
    command = ["prlimit", "--nofile=200:200", sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "(200, 200)\n", done.stderr


def test_a_limit_of_the_machine_that_is_too_low_is_named(monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda limit: (60, 60))
    message = r"`ulimit -Hu` is 60, and grading needs \d+;.*`ulimit -Ht` is 60"
    with pytest.raises(CourseError, match=message), class_sandboxes([]):
        pass
