"""The sandbox, from inside: what a learner's code cannot see, reach, write or use up."""

import json
import os
import platform
import socket
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from pytree_course.course import Course, CourseError
from pytree_course.grading import limits, sandbox
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.grading.sandbox import bounds, policy, require_sandbox
from tests.conftest import ROOT
from tests.sandboxes import CHILDREN_WITH_MEMORY, needs_sandbox, run_in_sandbox, started, value_in

pytestmark = [pytest.mark.slow, needs_sandbox, pytest.mark.reads("src/pytree_course/grading")]


@pytest.fixture(scope="module", params=["warm", "fresh"])
def engine(request):
    """Run a test in sandboxes that are forked by the warm server, and in those made afresh."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(policy.ENGINE_VARIABLE, request.param)
        yield request.param


# What the grader does outside of it is the same for both.
in_one_engine = pytest.mark.parametrize("engine", ["warm"], indirect=True)


@pytest.fixture(scope="module")
def kernel(engine):
    # What a teacher's own environment may hold.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "hunter2")
        kernel = started()
    yield kernel
    kernel.stop()


@pytest.fixture
def inside(kernel):
    """Run code in the sandbox, and return the value of its variable `result`."""
    return partial(value_in, kernel)


def test_nothing_of_the_teachers_files_is_in_sight(inside, tmp_path):
    (tmp_path / "gradebook.sqlite").touch()
    hidden = [
        *(ROOT / name for name in ("sources", "solutions", "exercises", "checks", ".git")),
        *(tmp_path, Path.home() / ".ssh", Path("/etc/passwd"), Path("/etc/shadow"), Path("/var")),
    ]
    assert (
        inside(f"import os\nresult = [p for p in {[*map(str, hidden)]} if os.path.exists(p)]") == []
    )
    assert set(inside("result = os.listdir('/')")) <= {
        *("bin", "lib", "lib64", "usr", "etc", "dev", "proc", "tmp", "course", "compiled"),
        *(folder.parts[1] for folder in policy.python_folders()),
    }
    assert inside("result = os.listdir('/etc')") == ["ld.so.cache"]
    assert inside("result = os.listdir('/course')") == ["checks"]


def test_no_process_in_sight_has_the_teachers_environment(inside):
    # The processes that made the sandbox have variables of their own.
    readable = inside(
        "import glob\nresult = ''\nfor file in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: result += open(file).read()\n    except PermissionError: pass"
    )
    assert "JAX_PLATFORMS" in readable
    assert "hunter2" not in readable


def test_nothing_of_the_host_is_mounted_to_be_written(inside):
    mounts = [line.split() for line in inside("result = [*open('/proc/self/mountinfo')]")]
    for _, _, _, _, place, options, *rest in mounts:
        kind = rest[rest.index("-") + 1]
        assert "nosuid" in options, place
        assert "ro" in options.split(",") or kind in ("tmpfs", "proc") or place[:5] == "/dev/", (
            place
        )
    assert inside("import os\nresult = sorted(os.listdir('/dev'))") == [
        *("core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin"),
        *("stdout", "tty", "urandom", "zero"),
    ]
    assert inside("import os\nresult = os.listdir('/dev/pts')") == ["ptmx"]


def test_no_open_file_of_the_outside_is_inherited(inside):
    code = (
        "import glob, os\n"
        "links = [os.readlink(fd) for fd in glob.glob('/proc/self/fd/*') if os.path.islink(fd)]\n"
        "result = [link for link in links if link.startswith('/')]"
    )
    own = ("/dev/", "/proc/", "/tmp/ipython/")
    assert [file for file in inside(code) if not file.startswith(own)] == []


def called(*numbers):
    """Return code that makes system calls and has the names of their errors as its result."""
    return (
        "import ctypes, errno\nlibc = ctypes.CDLL(None, use_errno=True)\nresult = set()\n"
        f"for number, *arguments in {[*numbers]}:\n"
        "    done = libc.syscall(*map(ctypes.c_long, [number, *arguments]))\n"
        "    result.add(errno.errorcode[ctypes.get_errno()] if done < 0 else number)"
    )


def number(call):
    from pytree_course.grading.sandbox.system_calls import number_of  # it is for Linux only

    return number_of(call)


NEW_USER, CHILD_ENDED = 0x10000000, 17


def test_a_call_that_no_answer_needs_is_absent(inside):
    # Each would do something, or complain of something else, if it were not refused.
    absent = [
        *([number("keyctl"), 0, -3, 1], [number("keyctl"), 0, -4, 1], [number("keyctl"), 1, 0]),
        *([number("add_key"), 0, 0, 0, 0, -3], [number("request_key"), 0, 0, 0, 0]),
        *([number(name)] for name in ("bpf", "perf_event_open", "userfaultfd", "setns", "mount")),
        *([number(name)] for name in ("ptrace", "process_vm_readv", "open_by_handle_at")),
        *([number(name)] for name in ("kexec_load", "init_module", "swapon", "acct", "quotactl")),
        *([number(name)] for name in ("io_setup", "inotify_init1", "io_uring_setup", "clone3")),
        *([number(name)] for name in ("fsopen", "memfd_create", "shmget", "vmsplice")),
        *([444, 0, 0, 1], [445], [446], [460], [599]),  # Landlock, and the newest
        *([number("unshare"), 0], [number("personality"), 8]),
        *([number("fcntl"), 0, command, 0] for command in (1024, 1026)),  # leases, notices
        *([number("setsockopt"), 0, 1, option, 0, 0] for option in (7, 8, 26, 32, 33)),
        [number("clone"), NEW_USER | CHILD_ENDED, 0, 0, 0, 0],
        [number("clone"), 0, 0, 0, 0, 0],  # a process whose end nobody is told of
        *([number("ioctl"), 0, request] for request in (0x5412, 0x541C, 0x5412 + 2**40)),
        *([number("socket"), family, 1, 0] for family in (10, 17, 38, 40, 1000)),
    ]
    assert inside(called(*absent)) == {"ENOSYS"}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is for x86-64")
def test_a_system_call_of_another_architecture_ends_the_process(inside):
    # mov eax, 20; int 0x80; ret: getpid with 32 bits
    code = (
        "import ctypes, mmap, os\n"
        "page = mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, 7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()\n"
        "    os._exit(0)\n"
        "result = os.WTERMSIG(os.waitpid(child, 0)[1])"
    )
    assert inside(code) == 31  # SIGSYS


def test_processes_and_threads_are_bounded(inside):
    code = (
        "import threading\ndone, result = threading.Event(), ''\ntry:\n"
        f"    for _ in range({limits.PROCESSES}): threading.Thread(target=done.wait).start()\n"
        "except RuntimeError: result = 'no more'\nfinally: done.set()"
    )
    assert inside(code) == "no more"


def test_what_is_said_to_be_bounded_is(inside):
    found = inside(
        "import resource\nresult = {name: resource.getrlimit(getattr(resource, name))"
        " for name in dir(resource) if name.startswith('RLIMIT_')}"
    )
    for name, bound in policy.process_limits().items():
        assert found[f"RLIMIT_{name.upper()}"] == (bound, bound)
    for setting, value in policy.SETTINGS.items():
        assert inside(f"result = open({setting!r}).read().split()") == value.split()
    sizes = "result = [os.statvfs(place) for place in ('/tmp', '/dev/shm')]\n"
    sizes += "result = [size.f_blocks * size.f_frsize for size in result]"
    assert inside(f"import os\n{sizes}") == [limits.FOLDER_BYTES] * 2
    terminals = (
        "import os\nresult = []\ntry:\n    while True: result.append(os.openpty())\n"
        "except OSError: pass\n[os.close(each) for pair in result for each in pair]\n"
        "result = len(result)"
    )
    assert inside(terminals) == limits.TERMINALS


@pytest.fixture
def exceeded(engine, monkeypatch):
    """Run code in a sandbox with a lower limit, and return how it ran."""
    kernel = started()

    def run(code, **lower):
        for name, value in lower.items():
            monkeypatch.setattr(limits, name, value)
        return kernel.run_cell(code)

    yield run
    kernel.stop()


CHILDREN_THAT_SHARE = """\
import os, time
block = b"x" * 100_000_000
children = [os.fork() or (time.sleep(2), os._exit(0)) for _ in range(6)]
for child in children: os.waitpid(child, 0)
"""
MANY_SOCKETS = """\
import socket, time
pairs = [socket.socketpair() for _ in range(60)]
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("code", "lower", "what"),
    [
        (CHILDREN_THAT_SHARE, {"MEMORY": 300 * limits.MIB}, ""),
        (MANY_SOCKETS, {"SOCKETS": 100}, "sockets"),
    ],
)
def test_what_all_processes_use_together_is_bounded(exceeded, code, lower, what):
    assert exceeded(code, **lower).used_up == what


@in_one_engine
def test_what_was_used_up_is_told_though_the_time_ended_first(engine, monkeypatch):
    kernel = started()
    monkeypatch.setattr(limits, "MEMORY", 300 * limits.MIB)
    monkeypatch.setattr(limits, "WATCH_SECONDS", 600.0)  # only the last look is left
    kernel._budget.seconds = 4.0
    run = kernel.run_cell(f"import time; time.sleep(1)\n{CHILDREN_WITH_MEMORY}")
    assert (run.timed_out, run.used_up) == (True, "memory")


@in_one_engine
def test_a_busy_grader_loses_no_message_of_a_cell_that_prints_much(kernel, monkeypatch):
    def slowly(*frames):
        time.sleep(0.001)
        return WatchedKernel._take(kernel, *frames)

    monkeypatch.setattr(kernel, "_take", slowly)
    monkeypatch.setattr(kernel._budget, "seconds", 600.0)  # reading slowly counts as its time
    run = kernel.run_cell("for number in range(4_000): print(number, flush=True)")
    assert (run.flooded, run.is_over) == (False, False)


def test_a_watch_that_fails_ends_the_sandbox(exceeded, monkeypatch):
    monkeypatch.setattr(bounds, "processes", lambda proc: 1 / 0)
    assert exceeded("import time; time.sleep(600)").used_up == "of the machine"


def test_a_kernels_socket_cannot_be_exchanged_for_one_of_the_outside(tmp_path):
    file = tmp_path / "teachers"
    with socket.socket(socket.AF_UNIX) as teachers:
        teachers.bind(str(file))
        teachers.listen()
        kernel = started()
        code = (
            "import glob, os\nfor name in glob.glob('/tmp/kernel-*'):\n"
            f"    os.unlink(name)\n    os.symlink({str(file)!r}, name)\nos._exit(0)"
        )
        assert kernel.run_cell(code).died
        teachers.settimeout(1.0)  # a lost connection is made anew at once
        with pytest.raises(TimeoutError):
            teachers.accept()
        kernel.stop()


def test_an_ordinary_user_has_the_same_sandbox(monkeypatch):
    user = os.getuid() or 65534
    monkeypatch.setattr(os, "geteuid", lambda: user)
    done = run_in_sandbox(["/bin/sh", "-c", "id -u; ls /; ulimit -f; touch /usr/x"], user)
    assert done.stdout.split()[0] == "1000", done.stderr
    assert "home" not in done.stdout
    assert "Read-only file system" in done.stderr


def test_without_its_programs_it_is_said_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "pyseccomp", raising=False)
        with pytest.raises(CourseError, match=r"libseccomp is not here.* libseccomp2 "):
            require_sandbox()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseError, match=r"apt install bubblewrap.*--unsandboxed"):
        require_sandbox()


def test_an_environment_that_holds_the_course_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(ROOT))
    with pytest.raises(CourseError, match="holds the course's solutions"):
        require_sandbox()


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No p.*\\n.*sysctl"),
        ("exec sleep 60", "did not start"),
    ],
)
def test_what_keeps_bubblewrap_from_working_is_said(monkeypatch, tmp_path, script, said):
    broken = tmp_path / "bwrap"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(sandbox, "_TRIAL_SECONDS", 5)
    with pytest.raises(CourseError, match=said):
        require_sandbox()


# What an answer may use besides what the solutions do.
HONEST = [
    """
import matplotlib.pyplot as plt
plt.plot([1, 2, 3])
plt.savefig("/tmp/picture.png")
plt.show()
""",
    """
import shutil, sqlite3, subprocess, sys, tempfile
commands = "sleep 0.1 & wait; echo $(ls | wc -l)", "timeout 5 env", "nice true", "cp -r /course ."
for command in commands:
    subprocess.run(command, shell=True, check=True, capture_output=True)
subprocess.run([sys.executable, "-c", "import jax; jax.numpy.ones(3).sum()"], check=True)
shutil.copytree("/course", tempfile.mkdtemp(), dirs_exist_ok=True)
sqlite3.connect("/tmp/mine.sqlite").execute("CREATE TABLE mine (one)")
""",
    "!sleep 0.1 & wait\n!date; uname -a; ps; id; git --version | head -1",
    "%%bash\nsleep 0.1 & wait\nfor each in a b; do cat <<< $each; done\ntrap 'echo ended' EXIT",
    """
import asyncio, concurrent.futures, multiprocessing, signal, socket, threading
async def shell():
    process = await asyncio.create_subprocess_shell("sleep 0.1 & wait")
    await process.wait()
    return await asyncio.to_thread(len, "abc")
assert await shell() == 3
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(abs, [-1, 2]) == [1, 2]
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert [*pool.map(abs, [-1, 2])] == [1, 2]
signal.signal(signal.SIGALRM, lambda *_: None)
signal.setitimer(signal.ITIMER_REAL, 0.01)
threading.Event().wait(0.05)
with socket.create_server(("127.0.0.1", 0)) as server:
    socket.create_connection(server.getsockname()).close()
""",
    """
import numpy as np
np.linalg.svd(np.ones((200, 200)))
np.save("/tmp/mine.npy", np.ones(3))
np.load("/tmp/mine.npy", mmap_mode="r")
jax.pmap(lambda x: x)(jnp.ones((1, 2)))
jax.pure_callback(np.asarray, jax.ShapeDtypeStruct((), jnp.float32), jnp.float32(1))
jax.debug.print("{}", jax.random.normal(jax.random.key(0), (500, 500)).sum())
""",
]


LESSONS = [files.stem for files in Course(ROOT).lessons()]


@pytest.mark.thorough
@pytest.mark.parametrize("lesson", LESSONS)
def test_no_honest_answer_meets_a_refusal(engine, monkeypatch, lesson):
    """The filter lets pass here what it would refuse, and each such call is reported."""
    from pytree_course.grading.sandbox import server_process, system_calls
    from pytree_course.grading.sandbox.request import Sandbox

    reported, report = set(), Sandbox.reported_calls

    def reported_calls(sandbox):
        reported.update(calls := report(sandbox))
        return calls

    monkeypatch.setattr(
        server_process, "filter_instructions", partial(system_calls.make_filter, True)
    )
    monkeypatch.setattr(Sandbox, "reported_calls", reported_calls)
    files = [*(ROOT / "checks").rglob("*.py"), *(ROOT / "checks").rglob("*.json")]
    kernel = started({str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files})
    kernel.is_set_up = False
    solutions = json.loads(Course(ROOT).lesson(lesson).solutions.read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in solutions["cells"] if cell["cell_type"] == "code"]
    runs = [kernel.run_cell(each) for each in (*code, *(HONEST if lesson == LESSONS[0] else ()))]
    kernel._process.has_begun_process()
    kernel.stop()
    assert [run.error for run in runs if run.error] == []
    assert not any(run.died or run.is_over for run in runs)
    counted = {number(name) for name in ("fork", "vfork", "clone", "epoll_ctl", "fcntl")}
    assert {call for call in reported if call[0] not in counted} == set()
    assert {first for call, first, _ in reported if call == number("clone")} <= {
        *system_calls._PROCESSES
    }
    commands = {second for call, _, second in reported if call == number("fcntl")}
    assert commands <= {*system_calls._LOCKS}
