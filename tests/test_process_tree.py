"""What a kernel's processes use: all of them are found, and their time is counted once."""

import subprocess
import sys
import time

import psutil
import pytest

from pytree_course.grading import process_tree
from pytree_course.grading.process_tree import ProcessTree, descendants

SLEEPS = "import time; time.sleep(600)"
A_THREAD_STARTS_IT = f"""\
import subprocess, sys, threading
start = lambda: subprocess.Popen([sys.executable, "-c", {SLEEPS!r}])
threading.Thread(target=start).start()
print("started", flush=True)
{SLEEPS}
"""
ITS_CHILD_STARTS_IT = f"""\
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {A_THREAD_STARTS_IT!r}])
{SLEEPS}
"""
BUSY = "while True: pass"
BUSY_CHILD = f"""\
import subprocess, sys
try: subprocess.run([sys.executable, "-c", {BUSY!r}], timeout=1.0)
except subprocess.TimeoutExpired: print("ended", flush=True)
{SLEEPS}
"""


@pytest.fixture
def started():
    """Start programs, and end them with all that they start."""
    processes = []

    def start(code):
        command = [sys.executable, "-c", code]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return processes[-1]

    yield start
    for process in processes:
        for each in [*psutil.Process(process.pid).children(recursive=True), process]:
            each.kill()
        process.communicate()


@pytest.fixture(params=["by parent", "among all"])
def way(request, monkeypatch):
    """Both ways in which a process's children are found."""
    if request.param == "among all":
        monkeypatch.setattr(process_tree, "_tells_children", lambda: False)


@pytest.mark.usefixtures("way")
def test_what_threads_and_children_start_is_found(started):
    process = started(ITS_CHILD_STARTS_IT)
    assert process.stdout.readline() == "started\n"
    deadline = time.monotonic() + 60
    while len(descendants(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    children = psutil.Process(process.pid).children(recursive=True)
    assert descendants(process.pid) == [child.pid for child in children]
    assert len(children) == 2


@pytest.mark.usefixtures("way")
def test_of_a_process_that_has_ended_nothing_is_found():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert descendants(process.pid) == []
    assert ProcessTree(process.pid).look() == (0.0, False)


def test_time_of_children_is_counted_once(started):
    process = started(BUSY_CHILD)
    tree = ProcessTree(process.pid)
    while process.poll() is None and tree.look()[0] < 0.2:
        time.sleep(0.05)
    assert process.stdout.readline() == "ended\n"  # its parent has the time of its child now
    used, _ = tree.look()
    now = psutil.Process(process.pid).cpu_times()
    all_of_them = now.user + now.system + now.children_user + now.children_system
    # What a child used is counted again where it ends between two looks.
    assert all_of_them - 0.05 <= used <= 2 * all_of_them + 0.05
    assert tree.used() - used < 0.05


@pytest.mark.skipif(not psutil.LINUX, reason="only Linux tells it")
def test_who_waits_for_a_processor_is_told_from_who_sleeps(started):
    asleep = started(f"print('ready', flush=True); {SLEEPS}")
    assert asleep.stdout.readline() == "ready\n"
    time.sleep(0.5)
    assert not ProcessTree(asleep.pid).look()[1]
    assert ProcessTree(started(BUSY).pid).look()[1]
