"""What a kernel's processes use: their time is counted once, and waiting is told from sleeping."""

import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from pytree_course.grading import budget
from pytree_course.grading.budget import CellBudget, OverOutputError, ProcessTree

SLEEPS = "import time; time.sleep(600)"
BUSY = "while True: pass"
BUSY_FOR_A_WHILE = "import time\nwhile time.process_time() < 0.5: pass"
BUSY_CHILD = f"""\
import subprocess, sys
subprocess.run([sys.executable, "-c", {BUSY_FOR_A_WHILE!r}])
print("ended", flush=True)
{SLEEPS}
"""


@pytest.fixture
def started():
    """Start programs, and end them with all that they start."""
    processes = []

    def start(code, *before):
        command = [*before, sys.executable, "-c", code]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return processes[-1]

    yield start
    for process in processes:
        for each in [*psutil.Process(process.pid).children(recursive=True), process]:
            each.kill()
        process.communicate()


def test_of_a_process_that_has_ended_nothing_is_found():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    assert ProcessTree.below(process.pid).look() == (0.0, 0.0)


def test_time_of_children_is_counted_once(started):
    process = started(BUSY_CHILD)
    tree = ProcessTree.below(process.pid)
    while tree.look()[0] < 0.2:
        time.sleep(0.05)
    assert process.stdout.readline() == "ended\n"  # its parent has the time of its child now
    used, _ = tree.look()
    now = psutil.Process(process.pid).cpu_times()
    all_of_them = now.user + now.system + now.children_user + now.children_system
    assert used == pytest.approx(all_of_them, abs=0.05)
    assert tree.used() == pytest.approx(used, abs=0.05)


BUSY_GRANDCHILD = f"""\
import subprocess, sys
code = "import subprocess, sys\\nsubprocess.run([sys.executable, '-c', {BUSY!r}])"
subprocess.Popen([sys.executable, "-c", code])
{SLEEPS}
"""
BUSY_THREAD_OF_A_CHILD = f"""\
import subprocess, sys
code = "import threading, time\\ndef spin():\\n  while True: pass\\n"
subprocess.Popen([sys.executable, "-c", code + "threading.Thread(target=spin).start()"])
{SLEEPS}
"""


@pytest.mark.parametrize("code", [BUSY_GRANDCHILD, BUSY_THREAD_OF_A_CHILD])
def test_time_of_grandchildren_and_of_threads_is_counted(started, code):
    tree, deadline = ProcessTree.below(started(code).pid), time.monotonic() + 60
    while tree.look()[0] < 0.5:
        assert time.monotonic() < deadline
        time.sleep(0.05)


TWO_THREADS = "import threading\ndef spin():\n    while True: pass\n" + (
    "for _ in range(2): threading.Thread(target=spin).start()"
)


@pytest.mark.skipif(not psutil.LINUX, reason="only Linux tells it")
def test_the_waits_of_threads_are_counted_and_their_sleep_is_not(started):
    asleep = started(f"print('ready', flush=True); {SLEEPS}")
    assert asleep.stdout.readline() == "ready\n"
    tree = ProcessTree.below(asleep.pid)
    tree.look()
    assert tree.look()[1] < 0.01
    # What one thread has, the other one of the same process waits for: the first has ended.
    tree = ProcessTree.below(started(f"import _thread\n{TWO_THREADS}", "taskset", "-c", "0").pid)
    other = started(BUSY, "taskset", "-c", "0")
    waited, deadline = 0.0, time.monotonic() + 60
    while waited < 0.1:
        waited += tree.look()[1]
        assert other.poll() is None
        assert time.monotonic() < deadline


def test_many_processors_at_once_cost_a_cell_no_more_than_the_time_on_the_clock():
    class ManyProcessors(ProcessTree):
        seconds = 0.0

        def used(self):
            return self.seconds

    processes, start = ManyProcessors("/proc"), time.monotonic()
    cell = CellBudget(processes, seconds=18.0, ends=start + 600.0)
    processes.seconds = 1_000.0
    cell.end_within(5.0)
    assert 0 < cell.seconds <= time.monotonic() - start


@pytest.mark.parametrize(("silence", "waited"), [(6.0, 6.0), (4.0, 20.0)])
def test_a_cell_that_has_ended_has_five_seconds_for_each_message_and_no_more_than_its_own(
    monkeypatch, silence, waited
):
    class Idle(ProcessTree):
        def used(self):
            return 0.0

        def look(self):
            return 0.0, 0.0

    now = [0.0]
    monkeypatch.setattr(budget, "time", SimpleNamespace(monotonic=lambda: now[0]))
    cell = CellBudget(Idle("/proc"), seconds=18.0, ends=600.0)
    cell.end_within(5.0)
    with pytest.raises(OverOutputError):
        while now[0] < 100:
            cell.look()
            cell.expect_message()
            cell.charge(1)
            now[0] += silence
    assert now[0] == waited
