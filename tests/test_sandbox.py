"""The sandbox, from inside: what a learner's code cannot see, reach, write or use up."""

import ast
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pytree_course.checking.outcomes import OUTCOMES_MIME
from pytree_course.course import Course, CourseError
from pytree_course.grading import limits, sandbox
from pytree_course.grading.exercise_run import run_answers
from pytree_course.grading.grade import judge_submission
from pytree_course.grading.kernels import WatchedKernel
from pytree_course.grading.lesson import GradedLesson
from pytree_course.grading.notebook_run import RunSettings
from pytree_course.grading.sandbox import require_sandbox, sandboxed
from pytree_course.grading.submission import Submission
from tests.conftest import ROOT

RIGHT_FIRST = """\
def first_leaf(tree):
    for leaf in jax.tree.leaves(tree):
        return leaf
    raise ValueError("no leaves")
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or shutil.which("bwrap") is None,
        reason="bubblewrap is not here; .ci/run installs it",
    ),
]


def started(tmp_path):
    (tmp_path / "course" / "checks").mkdir(parents=True)
    return WatchedKernel(tmp_path, tmp_path / "course", {"GIVEN": "1"}, in_sandbox=True)


@pytest.fixture(scope="module")
def kernel(tmp_path_factory):
    # What a teacher's own environment may hold.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET_TOKEN", "hunter2")
        kernel = started(tmp_path_factory.mktemp("kernel"))
    yield kernel
    kernel.stop()


@pytest.fixture
def inside(kernel):
    """Run code in the sandbox, and return the value of its variable `result`."""

    def run(code):
        wanted = {"result": "result"}
        reply = kernel.kc.execute(code, user_expressions=wanted, reply=True, timeout=300)
        content = reply["content"]
        assert content["status"] == "ok", content
        return ast.literal_eval(content["user_expressions"]["result"]["data"]["text/plain"])

    return run


@pytest.fixture
def outcome(inside):
    """Run a statement in the sandbox, and return the name of what it raised, or "nothing"."""

    def run(code):
        lines = "\n    ".join(code.splitlines())
        return inside(
            f"try:\n    {lines}\n    result = 'nothing'\n"
            "except BaseException as error:\n    result = type(error).__name__"
        )

    return run


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
        *("bin", "lib", "lib64", "usr", "etc", "dev", "proc", "tmp", "course"),
        *(folder.parts[1] for folder in sandbox._python_folders()),
    }
    assert inside("result = os.listdir('/etc')") == ["ld.so.cache"]
    assert inside("result = os.listdir('/course')") == ["checks"]


def test_the_environment_holds_what_was_given_only(inside):
    names = inside("import os\nresult = [*os.environ]")
    assert "GIVEN" in names
    assert "SECRET_TOKEN" not in names
    # The processes that made the sandbox have variables of their own.
    readable = (
        "import glob\nresult = ''\nfor file in glob.glob('/proc/[0-9]*/environ'):\n"
        "    try: result += open(file).read()\n    except PermissionError: pass"
    )
    assert "GIVEN" in inside(readable)
    assert "hunter2" not in inside(readable)


def test_there_is_no_network(inside, outcome):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        connect = f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 2)"
        assert outcome(connect) == "ConnectionRefusedError"
    assert outcome("socket.create_connection(('192.0.2.1', 80), 2)") == "OSError"
    assert inside("result = [name for _, name in socket.if_nameindex()]") == ["lo"]


def test_no_process_of_the_outside_can_be_seen_or_signalled(inside, outcome):
    seen = inside("import os\nresult = [int(p) for p in os.listdir('/proc') if p.isdigit()]")
    assert max(seen) < 10  # the sandbox's own, which are counted from 1
    assert outcome(f"os.kill({os.getpid()}, 0)") == "ProcessLookupError"
    assert inside("result = [os.getuid(), os.geteuid()]") == [1000, 1000]
    assert "CapEff:\t0000000000000000" in inside("result = open('/proc/self/status').read()")


@pytest.mark.parametrize(
    "file",
    [
        "/x",
        "/usr/x",
        "/etc/x",
        "/dev/x",
        "/course/x",
        "/course/checks/check_01_mini.py",
        "/proc/sys/kernel/core_pattern",
        f"{sys.prefix}/x",
        f"{sys.base_prefix}/x",
        f"{ROOT}/src/pytree_course/trees.py",
    ],
)
def test_nothing_outside_can_be_written(outcome, file):
    assert outcome(f"open({file!r}, 'a')") in ("OSError", "PermissionError", "FileNotFoundError")


def test_a_new_user_namespace_cannot_be_made(inside):
    code = "import ctypes\nresult = ctypes.CDLL(None).unshare(0x10000000)"  # CLONE_NEWUSER
    assert inside(code) == -1


def test_memory_is_bounded(outcome):
    assert outcome(f"bytearray({limits.MEMORY})") == "MemoryError"


def test_processes_and_threads_are_bounded(outcome):
    code = (
        "import threading\n"
        "done = threading.Event()\n"
        "try:\n"
        f"    for _ in range({limits.PROCESSES}): threading.Thread(target=done.wait).start()\n"
        "finally: done.set()"
    )
    assert outcome(code) == "RuntimeError"


@pytest.mark.parametrize("folder", ["/tmp", "/dev/shm"])
def test_files_are_bounded_each_and_together(inside, outcome, folder):
    one_too_large = (
        f"with open('{folder}/large', 'wb', 0) as file:\n"
        f"    while True: file.write(bytes({limits.FILE_BYTES // 2 + 1}))"
    )
    assert outcome(one_too_large) == "OSError"
    too_many = (
        f"for number in range(1 + {limits.FOLDER_BYTES} // 2**24):\n"
        f"    with open(f'{folder}/{{number}}', 'wb') as file: file.write(bytes(2**24))"
    )
    assert outcome(too_many) == "OSError"
    inside(
        f"import os\nfor name in os.listdir('{folder}'):\n"
        f"    if name.isdigit() or name == 'large': os.remove('{folder}/' + name)\nresult = 0"
    )


def test_time_is_bounded(inside):
    limit = inside("import resource\nresult = resource.getrlimit(resource.RLIMIT_CPU)")
    assert limit == (limits.CPU_SECONDS, limits.CPU_SECONDS)


def test_a_kernel_that_fills_the_folder_of_its_sockets_is_ended(tmp_path):
    kernel = started(tmp_path)
    folder = Path(kernel.km.connection_file).parent
    flood = (
        f"import time\nopen({str(folder / 'flood')!r}, 'wb').write(bytes(2**24))\ntime.sleep(600)"
    )
    run = kernel.run_cell(flood)
    assert run.flooded
    assert not folder.exists()
    kernel.stop()


@pytest.fixture(scope="module")
def lesson(built_course):
    return GradedLesson(Course(built_course).lesson("01_mini"), seed=5)


def graded(lesson, answers, seconds):
    settings = RunSettings(lesson.seed, in_sandbox=True, seconds=seconds)
    runs = run_answers(answers, lesson.blank, lesson.kernel_course, settings)
    return judge_submission(lesson, Submission(answers), runs)


def grade_first(lesson, code, seconds=18):
    """Grade one answer beside a right one, which has to stay right; return the verdict on it."""
    answers = {"count_leaves": code, "first_leaf": RIGHT_FIRST}
    first, second = graded(lesson, answers, seconds)
    assert str(second.kind) == "correct"
    return first


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        ("def count_leaves(tree): return len(jax.tree.leaves(tree))", "correct", "all"),
        ("print('x' * 300_000_000)", "crashed", "far too much"),
        (
            "publish = get_ipython().display_pub.publish\n"
            f"for _ in range(28): publish({{{OUTCOMES_MIME!r}: 'x' * 10**7}})",
            "crashed",
            "far too much",
        ),
        ("import os; os._exit(0)", "crashed", "ended the Python process"),
    ],
)
def test_what_one_answer_does_costs_no_other_exercise(lesson, code, kind, reason):
    verdict = grade_first(lesson, code)
    assert str(verdict.kind) == kind
    assert reason in verdict.reason


@pytest.mark.parametrize(
    "code",
    [
        "import os; os.kill(1, 9); os.kill(-1, 9)",
        "get_ipython().kernel.session.key = b'forged'",
        "get_ipython().display_pub.publish = lambda *_, **__: None",
        "get_ipython().kernel.iopub_socket.send_multipart([b'no', b'message'])",
    ],
)
def test_an_attack_earns_nothing_and_costs_no_other_exercise(lesson, code):
    assert grade_first(lesson, code).points == 0


# These never end by themselves. Other exercises' cells need far less than the time that they have.
KERNEL = "import time\nfrom zmq import SNDMORE\nkernel = get_ipython().kernel\n"
BUSY = "kernel.session.send(kernel.iopub_socket, 'status', {'execution_state': 'busy'}, {})"
FOREIGN_REPLY = (
    "kernel.session.send(kernel.iopub_socket, 'execute_reply', {'status': 'ok'}, {'msg_id': 'x'})"
)


@pytest.mark.parametrize(
    ("code", "kind", "reason"),
    [
        ("import time\nwhile True: print('x' * 10_000); time.sleep(0.01)", "timed out", "loop"),
        (
            "import time\ndef count_leaves(tree):\n    while True: time.sleep(1)",
            "timed out",
            "loop",
        ),
        (
            "import time\nwhile True:\n    try:\n        while True: print('x'); time.sleep(0.1)\n"
            "    except BaseException: pass",
            "timed out",
            "loop",
        ),
        (f"{KERNEL}while True: {BUSY}; time.sleep(0.05)", "timed out", "loop"),
        (f"{KERNEL}while True: {FOREIGN_REPLY}", "crashed", "far too much"),
        (
            f"{KERNEL}while True: kernel.iopub_thread.socket.send(bytes(2**20), SNDMORE)",
            "crashed",
            "far too much",
        ),
        ("import os, time\nwhile True: os.fork(); time.sleep(0.1)", "", ""),
        ("x = []\nwhile True: x.append(bytes(10**8))", "", ""),  # no memory is left to report it
    ],
)
def test_a_loop_costs_no_other_exercise(lesson, code, kind, reason):
    verdict = grade_first(lesson, code, seconds=6)
    assert verdict.points == 0
    assert kind in str(verdict.kind)
    assert reason in verdict.reason


def test_an_ordinary_user_has_the_same_sandbox(monkeypatch):
    # This Python may lie where only root can read it; the system's own programs do not.
    monkeypatch.setattr(sandbox, "_python_folders", lambda: [])
    monkeypatch.setattr(os, "geteuid", lambda: 65534)
    is_root = os.getuid() == 0
    command = sandboxed(["/bin/sh", "-c", "id -u; ls /; ulimit -f; touch /usr/x"], {})
    as_user = {"user": "nobody", "cwd": "/"} if is_root else {}
    done = subprocess.run(command, capture_output=True, text=True, check=False, **as_user)
    assert done.stdout.split()[0] == "1000", done.stderr
    assert "home" not in done.stdout
    assert "Read-only file system" in done.stderr


def test_without_bubblewrap_it_is_said_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CourseError, match="apt install bubblewrap") as refused:
        require_sandbox()
    assert "--unsandboxed" in str(refused.value)


def test_where_namespaces_are_off_it_is_said_what_to_switch_on(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text(
        "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n"
    )
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(CourseError, match="No permissions to create new namespace") as refused:
        require_sandbox()
    assert "sysctl" in str(refused.value)


def test_where_the_course_is_not_installed_it_is_not_put_down_to_namespaces(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho \"No module named 'pytree_course'\" >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(CourseError, match="is not installed") as refused:
        require_sandbox()
    assert "sysctl" not in str(refused.value)


def test_a_sandbox_that_does_not_start_in_time_is_said(monkeypatch, tmp_path):
    slow = tmp_path / "bwrap"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(sandbox, "_TRIAL_SECONDS", 0.1)
    with pytest.raises(CourseError, match="did not start"):
        require_sandbox()
